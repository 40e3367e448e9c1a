"""Statements about the inductive network that a run confirms or refutes."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.section import Section


@dataclass(frozen=True)
class Check:
    """A measured figure and its upper bound.

    Args:
        statement: what is compared.
        figure: what was measured.
        bound: the largest figure with which the statement holds.
    """

    statement: str
    figure: float
    bound: float

    @property
    def holds(self) -> bool:
        return bool(self.figure <= self.bound)

    def row(self) -> list[str]:
        verdict = "PASS" if self.holds else "FAIL"
        return [self.statement, f"{self.figure:.4g}", f"≤ {self.bound:.4g}", verdict]


def checks_section(title: str, checks: list[Check]) -> Section:
    """The checks as a table."""
    header = ("statement", "measured", "bound", "")
    return Section(title, header, [check.row() for check in checks])
