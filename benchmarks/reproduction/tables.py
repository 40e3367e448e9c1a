"""The tables of a section: our errors, and the published ones beside them."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from benchmarks.reproduction.evidence import CELL, variants
from benchmarks.reproduction.sections import Section
from benchmarks.reproduction.store import Store
from benchmarks.reproduction.study import FOLDER, PROTOCOLS

PUBLISHED = FOLDER / "published.csv"
_GRAPHS = {"ero": "ERO", "bao": "BAO", "rggo": "RGGO", "us_cities": "US map", "pacm": "PACM"}
_NOT_RUN = "not run"
_ORDER = ("cycle", "upset", "sum", "gnnsync", "projected_gradient", "dimpa")


def tables(store: Store, section: Section) -> Iterator[str]:
    """Markdown tables of a section, with a line of heading each."""
    for protocol in PROTOCOLS:
        jobs = store.jobs[
            (store.jobs["part"] == section.parts[0]) & (store.jobs["protocol"] == protocol)
        ]
        if jobs.empty:
            continue
        rows = jobs.merge(store.replicas()[["part", "protocol", "job_hash", *_METRICS]], how="left")
        rows = rows.assign(variant=variants(rows, section.by))
        yield f"MSE under `protocol={protocol}`:\n\n" + _errors(rows, section)
        if section.parts[0] in ("us_cities", "pacm"):
            yield f"ANE (the paper's formula) under `protocol={protocol}`:\n\n" + _map(
                rows, "ane_paper"
            )


_METRICS = [
    "mse",
    "mse_features",
    "mse_untrained",
    "ane_paper",
    "set_agreement",
    "set_agreement_true",
]


def _errors(rows: pd.DataFrame, section: Section) -> str:
    if section.parts[0] in ("us_cities", "pacm"):
        return _map(rows, "mse")
    names = _in_order(rows["variant"])
    learned = rows[rows["method"].str.startswith("gnnsync")]
    by_features = section.by == "features"
    lines = []
    for cell, own in rows.groupby(
        [name for name in CELL if name in rows], dropna=False, sort=False
    ):
        network = learned.loc[learned.index.intersection(own.index)]
        line = {"cell": cell_name(dict(zip(CELL, cell, strict=True)))}
        if section.starts and not by_features:
            for loss, part in network.groupby(section.by, sort=False):
                prefix = "" if section.by == "method" else f"{loss} "
                line[f"{prefix}untrained"] = _cell(part["mse_untrained"])
            line["features"] = _cell(network["mse_features"])
        for name in names:
            part = own[own["variant"] == name]
            line[title(name)] = _cell(part["mse"]) if len(part) else "–"
            if by_features and len(part):
                line[f"{title(name)} itself"] = _cell(part["mse_features"])
        if section.starts and network["set_agreement"].notna().any():
            for loss, part in network.groupby("loss", sort=False):
                line[f"{loss}: set agreement"] = _cell(part["set_agreement"])
            line["true set agreement"] = _cell(network["set_agreement_true"])
        lines.append(line)
    return markdown(pd.DataFrame(lines).fillna("–"))


def _map(rows: pd.DataFrame, metric: str) -> str:
    """Methods down, noise levels across: ours, and the published figure in brackets."""
    published = pd.read_csv(PUBLISHED)
    published = published[
        (published["dataset"] == rows["graph"].iloc[0])
        & (published["metric"] == metric.removesuffix("_paper"))
        & (published["angle_option"] == 1)
    ]
    lines = []
    for name in _in_order(rows["variant"]):
        line = {"method": title(name)}
        for eta, own in rows[rows["variant"] == name].groupby("eta"):
            there = published[(published["method"] == title(name)) & (published["noise"] == eta)]
            pairs = zip(there["mean"], there["std"], strict=True)
            beside = "".join(f" ({mean:.3f} ± {std:.3f})" for mean, std in pairs)
            line[f"η = {eta:g}, ours (published)"] = _cell(own[metric]) + beside
        lines.append(line)
    return markdown(pd.DataFrame(lines).fillna("–"))


def cell_name(cell: dict[str, object]) -> str:
    """`ERO p=.15 η=.8`, with the angles and n where they are not the usual ones."""
    words = [_GRAPHS.get(str(cell["graph"]), str(cell["graph"]))]
    if cell["p"] == cell["p"]:
        words.append(f"p={cell['p']:g}")
    words.append(f"η={cell['eta']:g}")
    if cell["n"] == cell["n"] and cell["n"] != 360:
        words.append(f"n={cell['n']:g}")
    return " ".join(words)


def title(name: str) -> str:
    """The paper's name of a method, fine-tuned or not; other variants by their own name."""
    plain = name.removeprefix("refined/")
    known = _TITLES.get(plain, plain)
    return f"{known}, fine-tuned" if plain != name else known


_TITLES = {
    "gnnsync": "GNNSync",
    "spectral": "Spectral",
    "spectral_rn": "Spectral_RN",
    "gpm": "GPM",
    "transync": "TranSync",
    "cemp_gcw": "CEMP_GCW",
    "cemp_mst": "CEMP_MST",
    "tas": "TAS",
    "trivial": "Trivial",
    "sdp": "SDP",
    "digcn": "inception block",
    "dimpa": "DIMPA",
}


def _in_order(names: pd.Series) -> list[str]:
    found = list(dict.fromkeys(names))
    return sorted(found, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


def _cell(values: pd.Series) -> str:
    values = values.dropna()
    return f"{values.mean():.3f} ± {values.std(ddof=0):.3f}" if len(values) else _NOT_RUN


def markdown(table: pd.DataFrame) -> str:
    """A Markdown table."""
    lines = [list(table.columns), *table.itertuples(index=False)]
    texts = ["| " + " | ".join(escaped(str(value)) for value in line) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "---|" * len(table.columns), *texts[1:]])


def escaped(text: str) -> str:
    """The text with underscores and bars escaped, where it is no code."""
    parts = text.split("`")
    parts[::2] = [part.replace("_", r"\_").replace("|", r"\|") for part in parts[::2]]
    return "`".join(parts)
