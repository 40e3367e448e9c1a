"""The finished cells of the study under one protocol: means, one column per variant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from benchmarks.reproduction.store import Store

# What makes a cell: one data set, on which variants are compared.
CELL = ["graph", "angles", "p", "eta", "k", "n"]


class NotRunError(Exception):
    """The cells that a claim is about are not finished."""


@dataclass(frozen=True)
class Evidence:
    """What the study has found under one protocol.

    Args:
        replicas: one line per replica, as `Store.replicas` makes them, of this protocol.
        jobs: the jobs of this protocol, finished or not.
        protocol: its name.
    """

    replicas: pd.DataFrame
    jobs: pd.DataFrame
    protocol: str

    @classmethod
    def of(cls, store: Store, protocol: str) -> Evidence:
        """The parts that are finished under a protocol.

        Rows of an unfinished part are left out: a verdict on its first cells would be by chance.
        """
        replicas, jobs = store.replicas(), store.jobs
        jobs = jobs[jobs["protocol"] == protocol]
        done = jobs["job_hash"].isin(store.finished).groupby(jobs["part"]).all()
        finished = replicas["part"].isin(done.index[done.astype(bool)])
        return cls(replicas[(replicas["protocol"] == protocol) & finished], jobs, protocol)

    def means(self, parts: Sequence[str], by: str, metric: str = "mse") -> pd.DataFrame:
        """Mean of a metric, a line per cell and a column per variant; missing cells are NaN.

        Args:
            parts: names of parts; a job that several of them have counts once.
            by: the column that tells the variants apart: `method`, or an option of the network such
                as `loss`; classical methods are then columns of their own name.
            metric: a column of the kept rows.
        """
        rows = self._rows(parts)
        values = rows.assign(variant=variants(rows, by))
        if metric not in values:
            return pd.DataFrame()
        values = values.dropna(subset=[metric])
        table = values.groupby([*CELL, "variant"])[metric].mean().unstack("variant")
        return table.astype(float)

    def compared(
        self, parts: Sequence[str], by: str, needed: Sequence[str], metric: str = "mse"
    ) -> pd.DataFrame:
        """The cells in which every needed variant is finished; `NotRunError` if there is none."""
        table = self.means(parts, by, metric)
        if not set(needed) <= set(table.columns):
            raise NotRunError
        whole = table.dropna(subset=list(needed))
        if whole.empty:
            raise NotRunError
        return whole

    def planned(self, parts: Sequence[str]) -> int:
        """Number of cells of the parts, finished or not."""
        own = self.jobs[self.jobs["part"].isin(parts)]
        return len(own.drop_duplicates(CELL))

    def _rows(self, parts: Sequence[str]) -> pd.DataFrame:
        own = self.replicas[self.replicas["part"].isin(parts)]
        # A map has no p and no n: a key that a group can be made of.
        own = own.assign(p=own["p"].fillna(0.0), n=own["n"].fillna(0.0))
        return own.drop_duplicates(["job_hash", "network_seed", "trial"])


def variants(rows: pd.DataFrame, by: str) -> pd.Series:
    """The value of `by` where a network has one, otherwise the name of the method."""
    if by == "method":
        return rows["method"].astype(str)
    return rows[by].where(rows[by].notna(), rows["method"]).astype(str)


def level(table: pd.DataFrame, name: str) -> pd.Series:
    """A column of the cell, as a series beside the table."""
    return table.index.to_frame()[name]
