"""Claims about sensor network localization."""

from __future__ import annotations

from functools import partial

from benchmarks.reproduction.claims.finding import (
    FAILS,
    HOLDS,
    IN_PART,
    Claim,
    Finding,
    not_worse,
    number,
    share_finding,
)
from benchmarks.reproduction.claims.one_group import BASELINES, SPECTRAL
from benchmarks.reproduction.evidence import Evidence, level

NAMES = {"us_cities": "US map", "pacm": "PACM"}


def recovers(evidence: Evidence, part: str) -> Finding:
    """Error of the recovered coordinates against that of the trivial answer."""
    table = evidence.compared([part], "method", ["gnnsync", "trivial"], "ane_paper")
    lines = [
        f"{number(row['gnnsync'])} at η = {eta:g} (Trivial {number(row['trivial'])})"
        for eta, (_, row) in zip(level(table, "eta"), table.iterrows(), strict=True)
    ]
    share = float((table["gnnsync"] < 0.25 * table["trivial"]).mean())
    verdict = HOLDS if share == 1.0 else IN_PART if share else FAILS
    return Finding(verdict, f"ANE {', '.join(lines)}.")


def competitive(evidence: Evidence, part: str) -> Finding:
    """GNNSync against all baselines, at every noise level."""
    table = evidence.compared([part], "method", ["gnnsync", *BASELINES])
    rival = table[list(BASELINES)].min(axis=1)
    near = table["gnnsync"] <= 1.1 * rival + 0.005
    lines = [
        f"{number(row['gnnsync'])} against {number(row[list(BASELINES)].min())} "
        f"({row[list(BASELINES)].idxmin()})"
        for _, row in table.iterrows()
    ]
    return share_finding(near, "within 10 % of the best", f"MSE {'; '.join(lines)}.")


def robust(evidence: Evidence, part: str) -> Finding:
    """GNNSync against all baselines at the two largest noise levels run."""
    table = evidence.compared([part], "method", ["gnnsync", *BASELINES])
    noisy = table[level(table, "eta") >= 0.15]
    noisy = table if noisy.empty else noisy
    spectral = not_worse(noisy["gnnsync"], noisy[list(SPECTRAL)].min(axis=1))
    return share_finding(
        not_worse(noisy["gnnsync"], noisy[list(BASELINES)].min(axis=1)),
        "best or equal to the best at η ≥ 0.15",
        f"Against Spectral, Spectral_RN and GPM alone in {int(spectral.sum())} of {len(noisy)}.",
    )


CLAIMS = tuple(
    claim
    for part, name in NAMES.items()
    for claim in (
        Claim(
            f"GNNSync recovers the map: {name}",
            "Sec. 6.3, App. D.1, Fig. 1, 18 to 27",
            "GNNSync aligns the patches and recovers the coordinates effectively.",
            partial(recovers, part=part),
            criterion="ANE below a quarter of Trivial's at every η; in part if at some",
        ),
        Claim(
            f"Competitive errors: {name}",
            "Sec. 6.3, Tab. 1 to 4",
            "GNNSync has competitive MSE and ANE.",
            partial(competitive, part=part),
            criterion="MSE within 10 % + .005 of the best in ≥ 75 % of the cells, in part from "
            "25 % on",
        ),
        Claim(
            f"More robust to noise: {name}",
            "Sec. 6.3, App. D.1",
            "GNNSync is more robust to noise of the patches than the baselines.",
            partial(robust, part=part),
            criterion="best or equal at η ≥ 0.15 in ≥ 75 % of the cells, in part from 25 % on",
        ),
    )
)
