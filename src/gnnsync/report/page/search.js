  // ---- searches of hyper-parameters: jobs in the order of finishing, and each parameter by itself

  const searchState = { at: 0, sort: { key: "mse", down: false } };

  const search = () => {
    byId("search").hidden = !data.searches.length;
    if (!data.searches.length) return;
    const found = data.searches[searchState.at];
    const controls = byId("search-controls");
    controls.replaceChildren();
    if (data.searches.length > 1) {
      const label = make("label", { class: "field" }, "search"), select = make("select", { id: "control-search" });
      data.searches.forEach((one, i) => select.append(make("option", { value: i }, one.sweep)));
      select.value = searchState.at;
      select.addEventListener("change", () => { searchState.at = Number(select.value); search(); byId("control-search").focus(); });
      label.append(select);
      controls.append(label);
    }
    const best = found.trials.reduce((a, b, i) => (b.mse < found.trials[a].mse ? i : a), 0);
    byId("search-best").textContent = `${found.sweep}: ${plural(found.trials.length, "job")}, lowest MSE ${number(found.trials[best].mse)} `
      + `in job ${best + 1}: ${found.parameters.map((key, i) => `${key}=${found.trials[best].values[i]}`).join(" ")}`;
    history(found, best);
    slices(found, best);
    trials(found, best);
  };

  const errors = (found) => {
    const mse = found.trials.map((t) => t.mse), low = Math.min(...mse), high = Math.max(...mse), log = low > 0;
    return { y: [low, high], logY: log, yTicks: texts(high / low > 5 && log ? powers(low, high) : niceSteps(low, high)), yTitle: "MSE" };
  };
  const dots = (svg, found, best, X, Y, place) => found.trials.forEach((t, i) => {
    const dot = draw("circle", { class: "trial", cx: X(place(t, i)), cy: Y(t.mse), r: i === best ? 6 : 4,
      fill: i === best ? "var(--warn)" : "var(--accent)", "fill-opacity": 0.8 });
    dot.append(draw("title", {}, `job ${i + 1}: MSE ${number(t.mse)}\n${found.parameters.map((key, k) => `${key}=${t.values[k]}`).join("\n")}`));
    svg.append(dot);
  });

  const history = (found, best) => {
    const box = byId("search-history"), n = found.trials.length;
    const { svg, X, Y } = axesOf(box, { ...errors(found), x: [1, Math.max(n, 2)],
      xTicks: texts(niceSteps(1, n).filter((v) => v >= 1 && Number.isInteger(v))), xTitle: "job, in the order of finishing" });
    let least = Infinity, path = "";
    found.trials.forEach((t, i) => {
      path += path ? `H${X(i + 1)}` : "";
      least = Math.min(least, t.mse);
      path += `${path ? "V" : `M${X(i + 1)} `}${Y(least)}`;
    });
    svg.append(draw("path", { id: "lowest", d: path, fill: "none", stroke: "var(--warn)", "stroke-width": 2 }));
    dots(svg, found, best, X, Y, (_, i) => i + 1);
    box.replaceChildren(svg);
  };

  // The MSE against one parameter: numbers on an axis, other values side by side.
  const slices = (found, best) => {
    const room = byId("search-slices");
    const boxes = found.parameters.map(() => make("div", { class: "slice" }));
    room.replaceChildren(...boxes);
    found.parameters.forEach((key, k) => {
      const values = found.trials.map((t) => t.values[k]), numeric = values.every((v) => v !== "" && Number.isFinite(Number(v)));
      const names = [...new Set(values)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      const at = numeric ? Number : (v) => names.indexOf(v);
      const xs = values.map(at), low = Math.min(...xs), high = Math.max(...xs);
      const logX = numeric && low > 0 && high / low > 10;
      const xTicks = !numeric ? names.map((name, i) => [i, name]) : texts(logX ? powers(low, high) : niceSteps(low, high));
      const { svg, X, Y } = axesOf(boxes[k], { ...errors(found), x: [low, high], logX, xTicks, xTitle: key });
      dots(svg, found, best, X, Y, (t) => at(t.values[k]));
      boxes[k].replaceChildren(svg);
    });
  };

  const trials = (found, best) => {
    const table = byId("trials");
    const numbered = found.trials.map((t, i) => ({ ...t, job: i + 1 }));
    const columns = [
      { key: "job", title: "job", number: true, get: (t) => t.job },
      { key: "mse", title: "MSE", number: true, get: (t) => t.mse },
      { key: "std", title: "std", number: true, get: (t) => t.std },
      ...found.parameters.map((key, k) => ({ key: `parameter ${k}`, title: key, get: (t) => t.values[k] })),
      { key: "line", title: "command", get: (t) => t.line },
    ];
    const own = columns.find((c) => c.key === searchState.sort.key) || columns[1];
    headed(table, columns, searchState.sort, () => trials(found, best));
    numbered.sort((a, b) => (searchState.sort.down ? -1 : 1) * compare(own.get(a), own.get(b)) || a.job - b.job);
    table.tBodies[0].replaceChildren(...numbered.map((t) => {
      const row = make("tr"), mark = t.job === best + 1 ? "number best" : "number";
      const short = (v) => (v !== "" && Number.isFinite(Number(v)) ? String(Number(Number(v).toPrecision(4))) : v);
      row.append(make("td", { class: "number" }, String(t.job)), make("td", { class: mark }, number(t.mse)),
        make("td", { class: "number" }, number(t.std)), ...t.values.map((v) => make("td", { title: v }, short(v))),
        commandCell(t.line ? `gnnsync run ${t.line}` : ""));
      return row;
    }));
  };
