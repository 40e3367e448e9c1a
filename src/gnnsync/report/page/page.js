"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  // A point is an array: sweep, values of the data columns, noise, variant, line, jobs, the two
  // limits, then mean, standard deviation and number of runs for every metric.
  const C = data.columns.length;
  const AT = { sweep: 0, column: (i) => 1 + i, noise: 1 + C, variant: 2 + C, line: 3 + C,
    jobs: 4 + C, low: 5 + C, high: 6 + C, metric: (i) => 7 + C + 3 * i };
  const state = { sweep: 0, columns: data.columns.map(() => 0), metric: 0, scale: "log",
    off: new Set(), band: true, sort: { key: "noise", down: false }, at: null, kept: false };
  let drawn = [];  // points on screen, with their positions

  const make = (name, attributes = {}, text = null) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== null) node.textContent = text;
    return node;
  };
  const draw = (name, attributes = {}, text = null) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== null) node.textContent = text;
    return node;
  };
  const number = (value) => {
    if (value === null) return "–";
    if (value !== 0 && Math.abs(value) < 5e-4) return value.toExponential(1);
    return Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(4);
  };
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

  // ---- selection

  const matches = (point, skip = -1) => point[AT.sweep] === state.sweep
    && state.columns.every((value, i) => i === skip || point[AT.column(i)] === value);
  const selected = () => data.points.filter((p) => matches(p) && p[AT.metric(state.metric)] !== null);
  const visible = () => selected().filter((p) => !state.off.has(p[AT.variant]));

  // A choice without data moves the other controls to the nearest choice that has some.
  const moveToData = (fixed) => {
    if (selected().length) return;
    let best = null, score = -1;
    for (const point of data.points) {
      if (point[AT.metric(state.metric)] === null && fixed === "metric") continue;
      if (fixed === "sweep" && point[AT.sweep] !== state.sweep) continue;
      if (typeof fixed === "number" && point[AT.column(fixed)] !== state.columns[fixed]) continue;
      let same = point[AT.sweep] === state.sweep ? 2 : 0;
      state.columns.forEach((value, i) => { same += point[AT.column(i)] === value ? 1 : 0; });
      if (point[AT.metric(state.metric)] !== null) same += 0.5;
      if (same > score) { best = point; score = same; }
    }
    if (!best) return;
    state.sweep = best[AT.sweep];
    state.columns = state.columns.map((_, i) => best[AT.column(i)]);
    if (best[AT.metric(state.metric)] === null) {
      state.metric = data.metrics.findIndex((_, i) => best[AT.metric(i)] !== null);
    }
  };

  const field = (name, title, options, value, change) => {
    const label = make("label", { class: "field" }, title);
    const select = make("select", { id: `control-${name}` });
    options.forEach((text, i) => select.append(make("option", { value: i }, text)));
    select.value = value;
    select.addEventListener("change", () => { state.at = null; state.kept = false; change(Number(select.value)); show(); });
    label.append(select);
    byId("controls").append(label);
    return select;
  };

  const controls = () => {
    byId("controls").replaceChildren();
    if (data.sweeps.length > 1) {
      field("sweep", "sweep", data.sweeps, state.sweep, (v) => { state.sweep = v; moveToData("sweep"); });
    }
    data.columns.forEach((column, i) => field(column.key, column.title, column.values,
      state.columns[i], (v) => { state.columns[i] = v; moveToData(i); }));
    if (data.metrics.length > 1) {
      field("metric", "metric", data.metrics.map((m) => m.title), state.metric, (v) => {
        state.metric = v; state.scale = data.metrics[v].scale; moveToData("metric");
      });
    }
    const scales = ["log", "linear"];
    field("scale", "vertical axis", ["logarithmic", "linear"], scales.indexOf(state.scale),
      (v) => { state.scale = scales[v]; });
  };

  const marker = (kind, x, y, colour, size = 4) => {
    const r = size;
    const shapes = {
      circle: () => draw("circle", { cx: x, cy: y, r }),
      square: () => draw("rect", { x: x - r * 0.9, y: y - r * 0.9, width: 1.8 * r, height: 1.8 * r }),
      diamond: () => draw("path", { d: `M${x} ${y - 1.25 * r}L${x + 1.25 * r} ${y}L${x} ${y + 1.25 * r}L${x - 1.25 * r} ${y}Z` }),
      up: () => draw("path", { d: `M${x} ${y - 1.15 * r}L${x + 1.1 * r} ${y + r}L${x - 1.1 * r} ${y + r}Z` }),
      down: () => draw("path", { d: `M${x} ${y + 1.15 * r}L${x + 1.1 * r} ${y - r}L${x - 1.1 * r} ${y - r}Z` }),
    };
    const node = shapes[kind]();
    node.setAttribute("fill", colour);
    return node;
  };

  const chips = () => {
    const present = [...new Set(selected().map((p) => p[AT.variant]))].sort((a, b) => a - b);
    const box = byId("chips");
    const focused = document.activeElement && document.activeElement.id;
    box.replaceChildren();
    const chip = (id, text, checked, change, swatch) => {
      const label = make("label", { class: "chip" });
      const input = make("input", { type: "checkbox", id });
      input.checked = checked;
      input.addEventListener("change", () => { change(input.checked); show(); });
      label.append(input, swatch, make("span", {}, text));
      box.append(label);
    };
    for (const v of present) {
      const look = data.variants[v];
      const swatch = draw("svg", { width: 26, height: 12, "aria-hidden": "true" });
      swatch.append(draw("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke: look.colour,
        "stroke-width": 2, "stroke-dasharray": look.dashed ? "5 3" : "none" }));
      swatch.append(marker(look.marker, 13, 6, look.colour, 3.5));
      chip(`variant-${v}`, look.label, !state.off.has(v),
        (on) => { if (on) state.off.delete(v); else state.off.add(v); }, swatch);
    }
    if (data.metrics[state.metric].band && selected().some((p) => p[AT.low] !== null)) {
      const swatch = draw("svg", { width: 26, height: 12, "aria-hidden": "true" });
      swatch.append(draw("rect", { width: 26, height: 12, rx: 3, fill: "var(--band)" }));
      chip("band", "limit: oracle to certifiable", state.band, (on) => { state.band = on; }, swatch);
    }
    if (focused && byId(focused)) byId(focused).focus();
    byId("every").onclick = () => { state.off.clear(); show(); };
    byId("none").onclick = () => { present.forEach((v) => state.off.add(v)); show(); };
  };

  // ---- the plot

  // Linear up to 0.01, where the errors of exact methods lie, and logarithmic above.
  const KNEE = 0.01;
  const bend = (v) => (v <= KNEE ? 0.5 * v / KNEE : 0.5 + Math.log10(v / KNEE));
  const steps = (top) => {
    const raw = top / 5, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((s) => s * power).find((s) => s >= raw);
    return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, i) => i * step);
  };

  const limits = (points) => {
    const sums = new Map();
    for (const p of points) {
      if (p[AT.low] === null || p[AT.high] === null) continue;
      const sum = sums.get(p[AT.noise]) || [0, 0, 0];
      sums.set(p[AT.noise], [sum[0] + p[AT.low], sum[1] + p[AT.high], sum[2] + 1]);
    }
    return [...sums].map(([x, [low, high, n]]) => [x, low / n, Math.max(low, high) / n])
      .sort((a, b) => a[0] - b[0]);
  };

  const plot = () => {
    const canvas = byId("canvas"), all = selected(), shown = visible();
    const metric = data.metrics[state.metric], m = AT.metric(state.metric);
    drawn = [];
    const facts = data.columns.map((c, i) => [c.prefix, c.values[state.columns[i]]])
      .filter(([, value]) => value !== "–").map((pair) => pair.join(""));
    byId("selection").textContent = `${metric.title}: ${facts.join(", ")}`;
    if (!shown.length) {
      canvas.replaceChildren(make("p", { class: "empty" },
        all.length ? "No method is chosen." : "No finished runs for this choice."));
      return;
    }
    const width = Math.max(300, canvas.clientWidth), narrow = width < 520;
    const height = narrow ? 330 : Math.min(520, Math.round(width * 0.5));
    const left = 52, right = 12, top = 12, bottom = 44;
    const xs = all.map((p) => p[AT.noise]);
    let [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    if (x0 === x1) [x0, x1] = [x0 - 0.05, x1 + 0.05];
    const pad = (x1 - x0) * 0.03;
    const X = (v) => left + (v - x0 + pad) / (x1 - x0 + 2 * pad) * (width - left - right);
    const peak = Math.max(...shown.map((p) => p[m] + p[m + 1]), 1e-9) * 1.04;
    const log = state.scale === "log", warp = log ? bend : (v) => v;
    const Y = (v) => height - bottom - warp(Math.min(Math.max(v, 0), peak)) / warp(peak) * (height - top - bottom);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });

    const ticks = log ? [0, 0.001, 0.01, 0.1, 1, 10, 100, 1000, 1e4].filter((t) => t <= peak && (t !== 0.001 || peak < KNEE)) : steps(peak);
    for (const t of ticks) {
      svg.append(draw("line", { x1: left, x2: width - right, y1: Y(t), y2: Y(t), stroke: "var(--grid)" }));
      svg.append(draw("text", { x: left - 8, y: Y(t) + 4, "text-anchor": "end" }, String(Number(t.toPrecision(6)))));
    }
    const across = [...new Set(xs)].sort((a, b) => a - b);
    const every = Math.max(1, Math.ceil(across.length / (narrow ? 6 : 12)));
    across.forEach((v, i) => {
      svg.append(draw("line", { x1: X(v), x2: X(v), y1: top, y2: height - bottom, stroke: "var(--grid)" }));
      if (i % every === 0) svg.append(draw("text", { x: X(v), y: height - bottom + 18, "text-anchor": "middle" }, String(Number(v.toPrecision(6)))));
    });
    if (state.band && metric.band) {
      const band = limits(all);
      if (band.length > 1) {
        const edge = [...band.map((b) => [b[0], b[2]]), ...band.slice().reverse().map((b) => [b[0], b[1]])];
        svg.append(draw("polygon", { id: "limit-band", points: edge.map(([x, y]) => `${X(x)},${Y(y)}`).join(" "), fill: "var(--band)", opacity: 0.8 }));
      }
    }
    svg.append(draw("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, stroke: "var(--quiet)" }));
    svg.append(draw("text", { class: "title", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "noise level η"));
    svg.append(draw("text", { class: "title", transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, metric.title));

    const lines = new Map();
    for (const p of shown) lines.set(p[AT.variant], [...(lines.get(p[AT.variant]) || []), p]);
    for (const [v, points] of [...lines].sort((a, b) => b[0] - a[0])) {
      const look = data.variants[v], group = draw("g", { class: "curve", "data-variant": look.label });
      points.sort((a, b) => a[AT.noise] - b[AT.noise]);
      const places = points.map((p) => [X(p[AT.noise]), Y(p[m])]);
      points.forEach((p, i) => {
        const [x] = places[i];
        group.append(draw("line", { x1: x, x2: x, y1: Y(p[m] - p[m + 1]), y2: Y(p[m] + p[m + 1]), stroke: look.colour, "stroke-opacity": 0.65, "stroke-width": 1.4 }));
      });
      group.append(draw("polyline", { points: places.map((p) => p.join(",")).join(" "), fill: "none", stroke: look.colour, "stroke-width": 2, "stroke-dasharray": look.dashed ? "7 4" : "none" }));
      points.forEach((p, i) => {
        group.append(marker(look.marker, places[i][0], places[i][1], look.colour));
        drawn.push({ point: p, x: places[i][0], y: places[i][1] });
      });
      svg.append(group);
    }
    svg.append(draw("circle", { id: "ring", r: 8, fill: "none", stroke: "var(--ink)", "stroke-width": 1.6, visibility: "hidden" }));
    svg.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse" && !state.kept) point(near(svg, event)); });
    svg.addEventListener("pointerleave", () => { if (!state.kept) point(null); });
    svg.addEventListener("click", (event) => {
      const found = near(svg, event);
      state.kept = found !== null;
      point(found);
    });
    canvas.replaceChildren(svg);
  };

  const near = (svg, event) => {
    const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    const x = (event.clientX - box.left) / scale, y = (event.clientY - box.top) / scale;
    let best = null, least = 32 ** 2;
    for (const place of drawn) {
      const distance = (place.x - x) ** 2 + (place.y - y) ** 2;
      if (distance < least) { best = place; least = distance; }
    }
    return best;
  };

  // ---- one point

  const command = (p) => data.lines[p[AT.line]] ? `gnnsync run ${data.lines[p[AT.line]]}` : "";

  const point = (place) => {
    const tip = byId("tip"), ring = byId("ring");
    state.at = place;
    tip.hidden = place === null;
    tip.classList.toggle("kept", state.kept);
    if (ring) ring.setAttribute("visibility", place ? "visible" : "hidden");
    if (!place) return;
    ring.setAttribute("cx", place.x);
    ring.setAttribute("cy", place.y);
    const p = place.point, m = AT.metric(state.metric), look = data.variants[p[AT.variant]];
    const title = make("strong"), list = make("dl");
    title.append(make("span", { class: "dot", style: `background:${look.colour}` }), document.createTextNode(look.label));
    const facts = [["η", String(p[AT.noise])], ["mean", number(p[m])], ["std", number(p[m + 1])], ["runs", String(p[m + 2])]];
    if (data.metrics[state.metric].band && p[AT.low] !== null) facts.push(["limit", `${number(p[AT.low])} to ${number(Math.max(p[AT.low], p[AT.high]))}`]);
    for (const [key, value] of facts) list.append(make("dt", {}, key), make("dd", {}, value));
    tip.replaceChildren(title, list);
    const line = command(p);
    tip.append(line ? make("code", {}, line) : make("span", {}, "The command of this point is not known."));
    if (p[AT.jobs] > 1) tip.append(make("div", {}, `and ${plural(p[AT.jobs] - 1, "more job")}`));
    if (state.kept && line) {
      const copy = make("button", { type: "button" }, "copy the command");
      copy.addEventListener("click", async () => {
        try { await navigator.clipboard.writeText(line); copy.textContent = "copied"; }
        catch { getSelection().selectAllChildren(tip.querySelector("code")); copy.textContent = "selected: press Ctrl-C"; }
      });
      tip.append(copy);
    }
    byId("announcement").textContent = `${look.label}, ${facts.map((f) => f.join(" ")).join(", ")}`;
    const canvas = byId("canvas"), section = byId("plot");
    const x = canvas.offsetLeft + place.x, y = canvas.offsetTop + place.y;
    const reach = Math.min(400, section.clientWidth - 16);
    tip.style.left = `${Math.max(8, Math.min(x + 14, section.clientWidth - Math.min(reach, tip.offsetWidth) - 8))}px`;
    tip.style.top = `${y + 16}px`;
  };

  byId("canvas").addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Escape") { state.kept = false; point(null); return; }
    if (event.key === "Enter" && state.at) { state.kept = !state.kept; point(state.at); return; }
    if (!(event.key in moves) || !drawn.length) return;
    event.preventDefault();
    const [dx, dy] = moves[event.key];
    if (!state.at || !drawn.includes(state.at)) { point(drawn[drawn.length - 1]); return; }
    const here = state.at, x = here.point[AT.noise], v = here.point[AT.variant];
    const along = drawn.filter((d) => (dx ? d.point[AT.variant] === v : d.point[AT.noise] === x))
      .sort((a, b) => (dx ? a.x - b.x : a.y - b.y || a.point[AT.variant] - b.point[AT.variant]));
    const next = along[along.indexOf(here) + dx + dy];
    if (next) point(next);
  });

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
      const line = make("td", { class: "line" });
      line.append(make("code", { title: command(p) }, command(p)));
      row.append(make("td", { class: "number" }, String(p[AT.noise])), name,
        make("td", { class: p[m] === best.get(p[AT.noise]) ? "number best" : "number" }, number(p[m])),
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
      const row = make("tr"), line = make("td", { class: "line" }), digest = make("td", { class: "job" });
      const text = `gnnsync run ${job.command}`;
      if (job.command) line.append(make("code", { title: text }, text));
      digest.append(make("code", {}, job.job));
      row.append(make("td", { class: "state" }, job.state), make("td", {}, job.sweep), make("td", { class: "reason" }, job.reason), line, digest);
      return row;
    }));
    byId("more").hidden = all || jobs.length <= FIRST;
    byId("more").textContent = `show all ${jobs.length.toLocaleString("en")}`;
    byId("more").onclick = () => absent(true);
  };

  // ---- start

  const show = () => {
    const focused = document.activeElement && document.activeElement.id;
    controls();
    if (focused && byId(focused)) byId(focused).focus();
    chips();
    plot();
    state.kept = false;
    point(null);
    numbers();
  };
  const counts = byId("counts");
  counts.append(`${plural(data.rows, "run")} of ${plural(data.jobs, "job")}`);
  if (data.absent.length) {
    counts.append("; ", make("a", { href: "#absent" }, `${plural(data.absent.length, "job")} without a result`));
  }
  state.scale = data.metrics[0].scale;
  moveToData("start");
  show();
  absent();
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => { plot(); state.kept = false; point(null); }, 100); });
})();
