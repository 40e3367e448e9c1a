  // A point is an array: sweep, values of the data columns, noise, variant, line, jobs, the two
  // limits, then mean, standard deviation and number of runs for every metric.
  const C = data.columns.length;
  const AT = { sweep: 0, column: (i) => 1 + i, noise: 1 + C, variant: 2 + C, line: 3 + C,
    jobs: 4 + C, low: 5 + C, high: 6 + C, metric: (i) => 7 + C + 3 * i };
  const state = { sweep: 0, columns: data.columns.map(() => 0), metric: 0, scale: "log",
    off: new Set(), band: true, sort: { key: "noise", down: false }, at: null, kept: false };
  let drawn = [];  // points on screen, with their positions

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

  // The page opens on the choice with the most points, in which the most can be compared.
  const openOnRichest = () => {
    const found = new Map();
    for (const point of data.points) {
      if (point[AT.sweep] !== 0 || point[AT.metric(0)] === null) continue;
      const columns = data.columns.map((_, i) => point[AT.column(i)]), key = columns.join();
      if (!found.has(key)) found.set(key, { columns, size: 0 });
      found.get(key).size += 1;
    }
    // Among equal ones the first values of the controls.
    const first = (a, b) => a.columns.map((v, i) => v - b.columns[i]).find((d) => d) || 0;
    const [best] = [...found.values()].sort((a, b) => b.size - a.size || first(a, b));
    if (best) state.columns = best.columns;
  };

  // The name of η depends on the data: random graphs have a density p and outliers.
  const density = data.columns.findIndex((column) => column.key === "data.p");
  const noiseTitle = () => {
    const random = density >= 0 && data.columns[density].values[state.columns[density]] !== "–";
    return data.noise[random ? 0 : 1];
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
      swatch.append(marker(look.marker, 13, 6, look.colour, 7));
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

