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
    training();
  };
  const counts = byId("counts");
  counts.append(`${plural(data.rows, "run")} of ${plural(data.jobs, "job")}`);
  if (data.absent.length) {
    counts.append("; ", make("a", { href: "#absent" }, `${plural(data.absent.length, "job")} without a result`));
  }
  state.scale = data.metrics[0].scale;
  openOnRichest();
  moveToData("start");
  show();
  search();
  figures();
  tables();
  absent();
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => {
    plot(); state.kept = false; point(null); training(); search();
  }, 100); });
