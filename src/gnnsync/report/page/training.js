  // ---- training curves: each is the data columns, noise, variant, steps, training and evaluation loss

  const CURVE = { columns: 0, noise: 1, variant: 2, steps: 3, train: 4, evaluation: 5 };
  const trainingChoice = { noise: null, variant: -1 };

  const niceSteps = (low, high) => {
    const raw = (high - low) / 5 || 1, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((s) => s * power).find((s) => s >= raw * 0.999);
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, i) => (first + i) * step);
  };

  // Axes with a grid for a small plot; `ticks` are pairs of a value and its text.
  const axesOf = (box, { x, y, xTicks, yTicks, xTitle, yTitle, logX = false, logY = false }) => {
    const width = Math.max(280, box.clientWidth), height = Math.min(300, Math.round(width * 0.45) + 40);
    const left = 60, right = 14, top = 10, bottom = 42;
    const scale = (range, log, from, to) => {
      const f = log ? Math.log10 : (v) => v;
      const [a, b] = [f(range[0]), f(range[1])], room = (b - a || 1) * 0.04;
      return (v) => from + (f(v) - a + room) / ((b - a || 1) + 2 * room) * (to - from);
    };
    const X = scale(x, logX, left, width - right), Y = scale(y, logY, height - bottom, top);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${yTitle} against ${xTitle}` });
    for (const [value, text] of yTicks) {
      svg.append(draw("line", { x1: left, x2: width - right, y1: Y(value), y2: Y(value), stroke: "var(--grid)" }));
      svg.append(draw("text", { x: left - 8, y: Y(value) + 4, "text-anchor": "end" }, text));
    }
    for (const [value, text] of xTicks) {
      svg.append(draw("line", { x1: X(value), x2: X(value), y1: top, y2: height - bottom, stroke: "var(--grid)" }));
      svg.append(draw("text", { x: X(value), y: height - bottom + 17, "text-anchor": "middle" }, text));
    }
    svg.append(draw("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, stroke: "var(--quiet)" }));
    svg.append(draw("text", { class: "title", x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, xTitle));
    svg.append(draw("text", { class: "title", transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, yTitle));
    return { svg, X, Y };
  };
  const texts = (values) => values.map((v) => [v, String(Number(v.toPrecision(6)))]);
  const powers = (low, high) => {
    const found = [];
    for (let e = Math.floor(Math.log10(low)) - 1; e <= Math.ceil(Math.log10(high)); e += 1) {
      for (const m of high / low > 30 ? [1] : [1, 2, 5]) if (m * 10 ** e >= low * 0.97 && m * 10 ** e <= high * 1.03) found.push(m * 10 ** e);
    }
    return found;
  };

  const training = () => {
    const here = data.curves.filter((c) => c[CURVE.columns].every((v, i) => v === state.columns[i]));
    byId("training").hidden = !here.length;
    if (!here.length) return;
    const levels = [...new Set(here.map((c) => c[CURVE.noise]))].sort((a, b) => a - b);
    if (!levels.includes(trainingChoice.noise)) trainingChoice.noise = levels[levels.length - 1];
    const variants = [...new Set(here.map((c) => c[CURVE.variant]))].sort((a, b) => a - b);
    if (!variants.includes(trainingChoice.variant)) trainingChoice.variant = -1;
    const choice = (key, title, options) => {
      const label = make("label", { class: "field" }, title), select = make("select", { id: `control-training-${key}` });
      for (const [value, text] of options) select.append(make("option", { value }, text));
      select.value = trainingChoice[key];
      select.addEventListener("change", () => { trainingChoice[key] = Number(select.value); training(); byId(select.id).focus(); });
      label.append(select);
      return label;
    };
    byId("training-controls").replaceChildren(choice("noise", noiseTitle(), levels.map((v) => [v, String(v)])),
      choice("variant", "method", [[-1, "all chosen"], ...variants.map((v) => [v, data.variants[v].label])]));
    const box = byId("training-canvas"), only = trainingChoice.variant;
    const shown = here.filter((c) => c[CURVE.noise] === trainingChoice.noise
      && (only === -1 ? !state.off.has(c[CURVE.variant]) : c[CURVE.variant] === only));
    if (!shown.length) {
      box.replaceChildren(make("p", { class: "empty" }, "No method that trains is chosen."));
      return;
    }
    const losses = shown.flatMap((c) => [...c[CURVE.train], ...c[CURVE.evaluation]]);
    const range = [Math.min(...losses), Math.max(...losses)];
    const last = Math.max(...shown.map((c) => c[CURVE.steps][c[CURVE.steps].length - 1]));
    const { svg, X, Y } = axesOf(box, { x: [0, last], y: range, xTicks: texts(niceSteps(0, last)),
      yTicks: texts(niceSteps(...range)), xTitle: "optimizer step", yTitle: "loss" });
    for (const curve of shown) {
      const look = data.variants[curve[CURVE.variant]];
      const line = (key, attributes) => draw("polyline", { fill: "none", stroke: look.colour, ...attributes,
        points: curve[CURVE.steps].map((s, i) => `${X(s)},${Y(curve[key][i])}`).join(" ") });
      const group = draw("g", { class: "training-curve", "data-variant": look.label });
      group.append(draw("title", {}, look.label), line(CURVE.train, { "stroke-width": 1, "stroke-opacity": 0.45 }),
        line(CURVE.evaluation, { "stroke-width": 2 }));
      svg.append(group);
    }
    box.replaceChildren(svg);
  };
