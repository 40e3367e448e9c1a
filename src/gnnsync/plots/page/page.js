"use strict";
// Tables that sort by a click on a title, filter by text, and show 100 rows at a time.
(function () {
  const SHOWN = 100;
  const home = document.getElementById("tables");
  const data = JSON.parse(document.getElementById("data").textContent);

  function element(kind, className, text) {
    const found = document.createElement(kind);
    if (className) found.className = className;
    if (text !== undefined) found.textContent = text;
    return found;
  }

  // Numbers by size, then text; what is unknown (null) comes last in either direction.
  function compare(a, b, direction) {
    if (a === null || b === null) return (a === null) - (b === null);
    const numbers = typeof a === "number" && typeof b === "number";
    if (numbers) return direction * (a - b);
    if (typeof a !== typeof b) return typeof a === "number" ? -direction : direction;
    return direction * String(a).localeCompare(String(b), undefined, { numeric: true });
  }

  // `name` finds rows with that text in a cell; `residual>0.5`, `confidence<=0.1`, `src=A` compare.
  function test(content, query) {
    const words = query.trim().split(/\s+/).filter(Boolean);
    const checks = words.map(function (word) {
      const parts = /^([^<>=]+)(<=|>=|<|>|=)(.+)$/.exec(word);
      const column = parts ? content.titles.findIndex((t) => t.split(" ")[0] === parts[1]) : -1;
      if (column < 0) {
        const wanted = word.toLowerCase();
        return (row) => row.some((v) => v !== null && String(v).toLowerCase().includes(wanted));
      }
      const value = Number(parts[3]);
      const sign = parts[2];
      return function (row) {
        const cell = row[column];
        if (sign === "=") return cell === null ? parts[3] === "unknown" : String(cell) === parts[3];
        if (typeof cell !== "number" || Number.isNaN(value)) return false;
        if (sign === "<") return cell < value;
        if (sign === ">") return cell > value;
        return sign === "<=" ? cell <= value : cell >= value;
      };
    });
    return (row) => checks.every((check) => check(row));
  }

  function show(content) {
    const state = { column: -1, direction: 1, page: 0, rows: content.rows };
    const isText = content.titles.map((_, i) => content.rows.some((r) => typeof r[i] === "string"));
    const section = element("section");
    section.id = content.name;
    section.append(element("h2", "", content.name));
    if (content.note) section.append(element("p", "note", content.note));
    const bar = element("div", "bar");
    const filter = element("input");
    filter.type = "search";
    filter.placeholder = "name, or confidence<0.5";
    filter.setAttribute("aria-label", "filter " + content.name);
    const back = element("button", "", "‹ previous");
    const next = element("button", "", "next ›");
    const count = element("span", "note count");
    bar.append(filter, back, next, count);
    const scroll = element("div", "scroll");
    const table = element("table");
    const head = element("tr");
    content.titles.forEach(function (title, column) {
      const cell = element("th", isText[column] ? "text" : "");
      cell.scope = "col";
      const button = element("button", "", title);
      button.addEventListener("click", function () {
        state.direction = state.column === column ? -state.direction : 1;
        state.column = column;
        update();
      });
      cell.append(button);
      head.append(cell);
    });
    const top = element("thead");
    top.append(head);
    const body = element("tbody");
    table.append(top, body);
    scroll.append(table);
    section.append(bar, scroll);
    home.append(section);

    function update() {
      state.rows = content.rows.filter(test(content, filter.value));
      if (state.column >= 0) {
        const c = state.column;
        state.rows.sort((a, b) => compare(a[c], b[c], state.direction));
      }
      Array.from(head.children).forEach(function (cell, column) {
        const mark = state.column !== column ? "" : state.direction > 0 ? " ▲" : " ▼";
        cell.firstChild.textContent = content.titles[column] + mark;
        const order = state.direction > 0 ? "ascending" : "descending";
        cell.setAttribute("aria-sort", mark ? order : "none");
      });
      state.page = 0;
      draw();
    }

    function draw() {
      const first = state.page * SHOWN;
      const rows = state.rows.slice(first, first + SHOWN);
      body.replaceChildren(
        ...rows.map(function (row) {
          const line = element("tr");
          row.forEach(function (value, column) {
            const kind = value === null ? "unknown" : isText[column] ? "text" : "";
            line.append(element("td", kind, value === null ? "unknown" : String(value)));
          });
          return line;
        })
      );
      const total = state.rows.length;
      const last = Math.min(first + SHOWN, total);
      count.textContent = total ? first + 1 + "–" + last + " of " + total : "none";
      back.disabled = state.page === 0;
      next.disabled = last >= total;
    }

    filter.addEventListener("input", update);
    back.addEventListener("click", function () { state.page -= 1; draw(); });
    next.addEventListener("click", function () { state.page += 1; draw(); });
    update();
  }

  data.forEach(show);
})();
