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
    svg.append(draw("text", { class: "title", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, noiseTitle()));
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

