  // ---- tables

  const headed = (table, columns, sort, again) => {
    const row = make("tr");
    for (const column of columns) {
      const cell = make("th", { scope: "col", class: column.number ? "number" : "" });
      cell.setAttribute("aria-sort", sort.key !== column.key ? "none" : sort.down ? "descending" : "ascending");
      const button = make("button", { type: "button" }, column.title);
      button.addEventListener("click", () => {
        sort.down = sort.key === column.key ? !sort.down : false;
        sort.key = column.key;
        again();
        [...table.querySelectorAll("th button")].find((b) => b.textContent === column.title).focus();
      });
      cell.append(button);
      row.append(cell);
    }
    table.tHead.replaceChildren(row);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b
    : String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true }));

  const numbers = () => {
    const m = AT.metric(state.metric), table = byId("numbers");
    const columns = [
      { key: "noise", title: "η", number: true, get: (p) => p[AT.noise] },
      { key: "variant", title: "method", get: (p) => data.variants[p[AT.variant]].label },
      { key: "mean", title: data.metrics[state.metric].title, number: true, get: (p) => p[m] },
      { key: "std", title: "std", number: true, get: (p) => p[m + 1] },
      { key: "runs", title: "runs", number: true, get: (p) => p[m + 2] },
      { key: "line", title: "command", get: command },
    ];
    headed(table, columns, state.sort, numbers);
    const key = columns.find((c) => c.key === state.sort.key).get;
    const points = visible().sort((a, b) => (state.sort.down ? -1 : 1) * compare(key(a), key(b))
      || a[AT.noise] - b[AT.noise] || a[AT.variant] - b[AT.variant]);
    const best = new Map();
    for (const p of points) best.set(p[AT.noise], Math.min(p[m], best.get(p[AT.noise]) ?? Infinity));
    table.tBodies[0].replaceChildren(...points.map((p) => {
      const row = make("tr"), look = data.variants[p[AT.variant]];
      const name = make("td");
      name.append(make("span", { class: "dot", style: `background:${look.colour}` }), document.createTextNode(look.label));
      const line = commandCell(command(p));
      row.append(make("td", { class: "number" }, String(p[AT.noise])), name,
        make("td", { class: data.metrics[state.metric].ranked && p[m] === best.get(p[AT.noise]) ? "number best" : "number" }, number(p[m])),
        make("td", { class: "number" }, number(p[m + 1])), make("td", { class: "number" }, String(p[m + 2])), line);
      return row;
    }));
  };

  const FIRST = 200;
  const absentSort = { key: "state", down: false };
  const absent = (all = false) => {
    byId("absent").hidden = !data.absent.length;
    if (!data.absent.length) return;
    const counts = ["failed", "unfinished", "missing"].map((s) => [s, data.absent.filter((j) => j.state === s).length]);
    byId("absent-counts").textContent = counts.filter((c) => c[1]).map(([s, n]) => `${n.toLocaleString("en")} ${s}`).join(", ");
    const columns = ["state", "sweep", "reason", "command", "job"].map((key) => ({ key, title: key, get: (j) => j[key] }));
    const table = byId("jobs");
    headed(table, columns, absentSort, () => absent(all));
    const jobs = data.absent.slice().sort((a, b) => (absentSort.down ? -1 : 1) * compare(a[absentSort.key], b[absentSort.key]));
    table.tBodies[0].replaceChildren(...jobs.slice(0, all ? jobs.length : FIRST).map((job) => {
      const row = make("tr"), digest = make("td", { class: "job" });
      const line = commandCell(job.command ? `gnnsync run ${job.command}` : "");
      digest.append(make("code", {}, job.job));
      row.append(make("td", { class: "state" }, job.state), make("td", {}, job.sweep), make("td", { class: "reason" }, job.reason), line, digest);
      return row;
    }));
    byId("more").hidden = all || jobs.length <= FIRST;
    byId("more").textContent = `show all ${jobs.length.toLocaleString("en")}`;
    byId("more").onclick = () => absent(true);
  };

