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
    if (state.kept && line) tip.append(copyButton(line, "copy the command"));
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

