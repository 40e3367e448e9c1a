"""The claims of the paper's text that the rows can test, in the order of the page."""

from benchmarks.reproduction.claims import choices, cost, groups, maps, one_group
from benchmarks.reproduction.claims.finding import NOT_RUN, USUAL, VERDICTS, Claim, Finding

CLAIMS: tuple[Claim, ...] = (
    *one_group.CLAIMS,
    *groups.CLAIMS,
    *maps.CLAIMS,
    *choices.CLAIMS,
    *cost.CLAIMS,
)

__all__ = ["CLAIMS", "NOT_RUN", "USUAL", "VERDICTS", "Claim", "Finding"]
