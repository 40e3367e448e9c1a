  // ---- data and helpers

  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
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

  // A marker of Matplotlib as an SVG path about 1 wide: the same shape as in the figures.
  const marker = (path, x, y, colour, size = 8) => draw("path", { d: path, fill: colour, stroke: colour,
    "stroke-width": 0.2, "stroke-linejoin": "miter", transform: `translate(${x} ${y}) scale(${size})` });

  const copyButton = (text, title = "copy") => {
    const button = make("button", { type: "button", class: "copy", title: "copy the command" }, title);
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); button.textContent = "copied"; }
      catch {
        getSelection().selectAllChildren(button.parentElement.querySelector("code"));
        button.textContent = "selected: press Ctrl-C";
      }
      setTimeout(() => { button.textContent = title; }, 2000);
    });
    return button;
  };
  const commandCell = (text) => {
    const cell = make("td", { class: "line" });
    if (text) cell.append(copyButton(text), make("code", {}, text));
    return cell;
  };

