  // ---- figures and tables of the report, with links to their files

  const ending = (path) => path.slice(path.lastIndexOf(".") + 1).toUpperCase();
  const link = (path, text) => make("a", { href: path.split("/").map(encodeURIComponent).join("/") }, text);
  const links = (paths) => {
    const list = make("span", { class: "links" });
    paths.forEach((path) => list.append(link(path, ending(path)), " "));
    return list;
  };
  const titled = (entry, text) => (entry.set ? `${entry.set}: ${text}` : text);

  const figures = () => {
    byId("figures").hidden = !data.figures.length;
    byId("gallery").replaceChildren(...data.figures.map((entry) => {
      const figure = make("figure"), caption = make("figcaption", {}, `${titled(entry, entry.heading)} `);
      if (entry.preview) {
        const open = link(entry.files[0], "");
        open.append(make("img", { src: entry.preview, alt: titled(entry, entry.heading) }));
        figure.append(open);
      }
      caption.append(links(entry.files));
      figure.append(caption);
      if (entry.panels.length) {
        const box = make("details"), list = make("ul");
        box.append(make("summary", {}, "single panels and legend"));
        const names = [...new Set(entry.panels.map((path) => path.slice(0, path.lastIndexOf("."))))];
        for (const name of names) {
          const item = make("li", {}, `${name.slice(name.lastIndexOf("/") + 1)} `);
          item.append(links(entry.panels.filter((path) => path.slice(0, path.lastIndexOf(".")) === name)));
          list.append(item);
        }
        box.append(list);
        figure.append(box);
      }
      return figure;
    }));
  };

  const tables = () => {
    byId("tables").hidden = !data.tables.length;
    byId("table-list").replaceChildren(...data.tables.map((entry) => {
      const box = make("details", { class: "table" }), scroll = make("div", { class: "scroll" });
      const summary = make("summary", {}, `${titled(entry, entry.caption)} `);
      summary.append(links(entry.files));
      box.append(summary, scroll);
      // Filled when it is opened: a large study has many tables.
      box.addEventListener("toggle", () => { if (box.open && !scroll.firstChild) scroll.append(content(entry)); });
      return box;
    }));
  };

  const content = (entry) => {
    const table = make("table"), head = make("tr"), body = make("tbody");
    entry.head.forEach((text, i) => head.append(make("th", { scope: "col", class: i < entry.data ? "" : "number" }, text)));
    for (const cells of entry.rows) {
      const row = make("tr");
      cells.forEach((cell, i) => {
        if (i < entry.data) { row.append(make("td", {}, cell)); return; }
        const mark = cell && { 1: " best", 2: " second" }[cell[1]];
        row.append(make("td", { class: `number${mark || ""}` }, cell ? cell[0] : ""));
      });
      body.append(row);
    }
    const top = make("thead");
    top.append(head);
    table.append(top, body);
    return table;
  };
