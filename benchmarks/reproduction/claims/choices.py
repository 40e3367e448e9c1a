"""Claims about the choices of the model: steps, features, loss weights, fine-tuned baselines."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from benchmarks.reproduction.claims.finding import (
    FAILS,
    HOLDS,
    IN_PART,
    Claim,
    Finding,
    better,
    not_worse,
    number,
    share_finding,
)
from benchmarks.reproduction.claims.one_group import BASELINES
from benchmarks.reproduction.evidence import CELL, Evidence, NotRunError, level

USUAL = "projected_gradient"
# Standard errors by which a mean must be larger to count as significantly worse.
_SIGNIFICANT = 2.0


def _steps(evidence: Evidence, k: int, other: str) -> tuple[pd.Series, pd.Series, str]:
    table = evidence.compared([f"ablation_k{k}"], "steps", [USUAL, other])
    means = f"Mean MSE {number(table[USUAL].mean())} against {number(table[other].mean())}."
    return table[USUAL], table[other], means


def steps_help(evidence: Evidence, k: int) -> Finding:
    """With the projected gradient steps against without."""
    usual, none, means = _steps(evidence, k, "none")
    loss = evidence.compared([f"ablation_k{k}"], "steps", [USUAL, "none"], "upset")
    lower = int((loss[USUAL] < loss["none"]).sum())
    means += f" The residuals of the measurements (upset) are lower in {lower} of {len(loss)}."
    return share_finding(better(usual, none), "better than without", means)


def end_to_end(evidence: Evidence, k: int) -> Finding:
    """Steps in training against steps after training."""
    usual, after, means = _steps(evidence, k, "after_training")
    return share_finding(not_worse(usual, after), "comparable or better", means)


def trainable(evidence: Evidence, k: int) -> Finding:
    """Trainable step sizes against fixed ones."""
    usual, trained, means = _steps(evidence, k, "trainable")
    return share_finding(not_worse(usual, trained), "fixed sizes not worse", means)


def separate(evidence: Evidence) -> Finding:
    """A matrix H per estimated group against one for all."""
    usual, apart, means = _steps(evidence, 2, "separate")
    return share_finding(better(usual, apart), "one H better", means)


def features_improve(evidence: Evidence, k: int) -> Finding:
    """The network against the baseline that its features come from."""
    both = _features(evidence, k)
    gain = better(both["mse"], both["mse_features"])
    lines = [
        f"{name} {int(gain[own.index].sum())}/{len(own)}"
        f" ({number(own['mse_features'].mean())} → {number(own['mse'].mean())})"
        for name, own in both.groupby(both["features"])
    ]
    cells = gain.set_axis(pd.MultiIndex.from_frame(both[CELL]))
    return share_finding(cells, "better than its features", f"By features: {', '.join(lines)}.")


def never_worse(evidence: Evidence, k: int) -> Finding:
    """Cells in which the network is significantly worse than its features."""
    both = _features(evidence, k)
    lost = both["mse"] - both["mse_features"] > _SIGNIFICANT * both["error"] + 0.005
    count = int(lost.sum())
    excused = int((lost & (both["mse_features"] > both["mse_trivial"])).sum())
    worst = both.assign(loss=both["mse"] - both["mse_features"]).nlargest(3, "loss")
    named = "; ".join(
        f"{row.features}, {str(row.graph).upper()} η = {row.eta:g}: "
        f"{number(row.mse_features)} → {number(row.mse)}"
        for row in worst.itertuples()
    )
    verdict = HOLDS if not count else IN_PART if count <= 0.1 * len(both) else FAILS
    return Finding(
        verdict,
        f"Significantly worse in {count} of {len(both)} cells, in {excused} of these the features "
        f"are behind Trivial. The largest losses: {named}.",
    )


def _features(evidence: Evidence, k: int) -> pd.DataFrame:
    """A line per cell and kind of features: mean MSE of both, and the error of their difference."""
    rows = evidence.replicas[evidence.replicas["part"] == f"features_k{k}"]
    rows = rows[rows["features"].notna()].dropna(subset=["mse", "mse_features"])
    if rows.empty:
        raise NotRunError
    rows = rows.assign(difference=rows["mse"] - rows["mse_features"])
    grouped = rows.groupby([*CELL, "features"], dropna=False)
    both = grouped[["mse", "mse_features", "mse_trivial"]].mean()
    # Trials of a network share its features: networks are the independent samples.
    networks = rows.groupby([*CELL, "features", "network_seed"], dropna=False)["difference"].mean()
    spread = networks.groupby([*CELL, "features"], dropna=False)
    both["error"] = spread.std().fillna(0.0) / np.sqrt(spread.count())
    return both.reset_index()


def tau_hardly_matters(evidence: Evidence) -> Finding:
    """The error over the values of τ, in units of its deviation over replicas."""
    table = _tau(evidence)
    rows = evidence.replicas[evidence.replicas["part"] == "linear_k2"]
    deviation = rows.groupby([*CELL, "tau"], dropna=False)["mse"].std(ddof=0)
    deviation = deviation.groupby(CELL, dropna=False).mean().reindex(table.index)
    spread = table.max(axis=1) - table.min(axis=1)
    lines = [
        f"η = {i[3]:g}: {number(row.min())} to {number(row.max())}" for i, row in table.iterrows()
    ]
    return share_finding(
        spread <= deviation,
        "range over τ within one standard deviation of the replicas",
        f"MSE over τ: {'; '.join(lines)}.",
    )


def smaller_tau_when_harder(evidence: Evidence) -> Finding:
    """The best τ as η grows."""
    table = _tau(evidence)
    best = table.idxmin(axis=1).astype(float)
    eta = level(table, "eta").to_numpy()
    means = best.groupby(eta).mean()
    if len(means) < 2:
        raise NotRunError
    falls = means.iloc[-1] < means.iloc[0]
    steady = bool((np.diff(means.to_numpy()) <= 0).all())
    listed = ", ".join(f"{value:g} at η = {eta:g}" for eta, value in means.items())
    return Finding(HOLDS if falls and steady else IN_PART if falls else FAILS, f"Best τ: {listed}.")


def _tau(evidence: Evidence) -> pd.DataFrame:
    table = evidence.means(["linear_k2"], "tau").dropna()
    if table.shape[1] < 2 or table.empty:
        raise NotRunError
    return table


def fine_tuned(evidence: Evidence, k: int) -> Finding:
    """GNNSync against baselines that take the same projected gradient steps."""
    names = BASELINES if k == 1 else ("spectral", "spectral_rn")
    rivals = [f"refined/{name}" for name in names]
    own = ["gnnsync"] if k == 1 else ["cycle", "upset"]
    by = "method" if k == 1 else "loss"
    table = evidence.compared([f"refined_k{k}"], by, [*own, *rivals])
    best = table[own].min(axis=1)
    each = ", ".join(
        f"{name.removeprefix('refined/')} {int(not_worse(best, table[name]).sum())}"
        for name in rivals
    )
    return share_finding(
        not_worse(best, table[rivals].min(axis=1)),
        "best or equal to the best",
        f"Not worse than each one alone, of {len(table)}: {each}.",
    )


def _both_k(name: str, where: str, text: str, test: object) -> tuple[Claim, ...]:
    return tuple(
        Claim(f"{name}, k = {k}", where, text, partial(test, k=k))  # type: ignore[arg-type]
        for k in (1, 2)
    )


CLAIMS = (
    *_both_k(
        "Projected gradient steps help",
        "Sec. 6.4, Fig. 28, 29",
        "The projected gradient steps lead to lower losses and lower errors.",
        steps_help,
    ),
    *_both_k(
        "End-to-end training",
        "Sec. 6.4",
        "Training through the steps is usually comparable to or better than applying them after "
        "training.",
        end_to_end,
    ),
    *_both_k(
        "Trainable step sizes",
        "Sec. 5.3, 6.4",
        "Trainable step sizes do not improve the performance much.",
        trainable,
    ),
    Claim(
        "One matrix H for all groups",
        "Sec. 5.3, 6.4",
        "Separate matrices per estimated group harm the performance (k = 2).",
        separate,
    ),
    *_both_k(
        "GNNSync improves its features",
        "Sec. 6.4, App. D.2, Fig. 30 to 32",
        "With a baseline's answer as features GNNSync usually improves on that baseline.",
        features_improve,
    ),
    *(
        Claim(
            f"Never significantly worse than its features, k = {k}",
            "Sec. 6.4, App. D.2",
            "GNNSync is never significantly worse than the baseline its features come from, or "
            "only where the methods are behind Trivial.",
            partial(never_worse, k=k),
            criterion="no cell worse by more than 2 standard errors + .005; in part up to 10 % of "
            "the cells",
        )
        for k in (1, 2)
    ),
    *_both_k(
        "Better than fine-tuned baselines",
        "Sec. 6.4, App. D.2, Fig. 34, 35",
        "Baselines that take the same projected gradient steps are usually beaten.",
        fine_tuned,
    ),
    Claim(
        "The weight τ hardly matters",
        "App. D.2, Fig. 33",
        "With the loss cycle + τ · upset the performance hardly varies with τ (k = 2).",
        tau_hardly_matters,
        criterion="range over τ within one standard deviation in ≥ 75 % of the cells, in part from "
        "25 % on",
    ),
    Claim(
        "Smaller τ for harder problems",
        "App. D.2, Fig. 33",
        "As η grows, a smaller weight of the upset loss is better (k = 2).",
        smaller_tau_when_harder,
        criterion="the best τ falls from the smallest to the largest η; in part if not steadily",
    ),
)
