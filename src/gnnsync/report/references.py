"""What the variants are compared with: the network before its training, and the true sets."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from gnnsync.report.aggregation import LABEL, labelled
from gnnsync.results.names import TRUTH, UNTRAINED, method_of

# Untrained networks shown in one sweep: more, as in studies of features, would hide the rest.
_MOST_UNTRAINED = 3
_DIGITS = 9  # decimals by which two untrained networks are the same


def with_references(rows: pd.DataFrame) -> pd.DataFrame:
    """The labelled rows, and below them those of references, which are shown like variants.

    `VARIANT untrained` has the MSE of the network before its training; variants of a method with
    the same untrained network (they differ in their loss) share one. `truth` has the set agreement
    of the true angles. A reference has no other metric. Rows that have labels already are returned
    as they are.
    """
    if LABEL in rows:
        return rows
    rows = labelled(rows)
    found = [part for part in (*_untrained(rows), *_truth(rows)) if len(part)]
    # Columns of references are those of the rows, so that types are kept.
    return pd.concat([rows, *found], ignore_index=True) if found else rows


def _untrained(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    if not {"mse_untrained", "mse"} <= set(rows):
        return
    learned = rows[rows["mse_untrained"].notna() & rows["mse"].notna()]
    sweeps = learned.groupby("sweep", dropna=False) if "sweep" in rows else [("", learned)]
    for _, own in sweeps:
        shared = _shared(own)
        if len(set(shared.values())) <= _MOST_UNTRAINED:
            label = own[LABEL].map(shared)
            part = _bare(own).assign(mse=own["mse_untrained"], **{LABEL: label})
            yield part.drop_duplicates([*_place(own), LABEL])


def _truth(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    if not {"set_agreement_true", "set_agreement"} <= set(rows):
        return
    own = rows[rows["set_agreement_true"].notna()]
    part = _bare(own).assign(set_agreement=own["set_agreement_true"], **{LABEL: TRUTH})
    place = [name for name in _place(own) if name != "trial"]
    yield part.drop_duplicates([*place, *(["sweep"] if "sweep" in own else [])])


def _bare(rows: pd.DataFrame) -> pd.DataFrame:
    """Only what says which data and which job the rows are of."""
    return rows[[*_place(rows), *(c for c in ("job_hash", "sweep", "method") if c in rows)]]


def _place(rows: pd.DataFrame) -> list[str]:
    """Columns of the network and the trial."""
    data = [str(name) for name in rows if str(name).startswith("data.")]
    return [*data, *(name for name in ("network_seed", "trial") if name in rows)]


def _shared(rows: pd.DataFrame) -> dict[str, str]:
    """Label of the untrained network of every label; equal networks have the words in common."""
    columns = [*_place(rows), "mse_untrained"]
    groups: dict[tuple[str, int], list[str]] = {}
    for label, own in rows.groupby(LABEL, sort=False):
        # As text, in which missing values (data sets differ in their columns) are equal.
        values = own[columns].round(_DIGITS).drop_duplicates().itertuples(index=False, name=None)
        found = frozenset(map(str, values))
        groups.setdefault((method_of(label), hash(found)), []).append(str(label))
    shared: dict[str, str] = {}
    for labels in groups.values():
        words = [w for w in labels[0].split(" ") if all(w in o.split(" ") for o in labels)]
        shared |= dict.fromkeys(labels, " ".join([*words, UNTRAINED]))
    return shared
