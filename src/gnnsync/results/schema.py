"""The shape of `result.json`: its entries and the kinds of its columns. Loads no library."""

from __future__ import annotations

from typing import Any

from gnnsync.results.reading import is_number

# Columns of a row that are averaged over the replicas of a job.
METRICS = (
    "mse",
    "geodesic_mse",
    "upset",
    "cycle_inconsistency",
    "ane",
    "rmse_localizable",
    "rmse_from_truth",
    "rmse_limit",
    "set_agreement",
    "set_agreement_true",
    "mse_features",
    "mse_untrained",
    "mse_trivial",
    "limit_oracle",
    "limit_certifiable",
    "steps",
    "seconds_train",
)
_DATA = tuple(f"data.{name}" for name in ("eta", "p", "k", "n", "inlier_noise"))
_NUMBERS = frozenset((*METRICS, *_DATA, "ane_paper", "seconds_setup", "network_seed", "trial"))
_TEXTS = frozenset(("job_hash", "sweep", "method", "variant", "status"))


def is_result(content: Any) -> bool:
    """Whether the content of a `result.json` is that of a job that has succeeded.

    Rows are flat, their numbers finite, and the columns that are computed with are numbers.
    """
    if not isinstance(content, dict) or content.get("status") != "success":
        return False
    rows, overrides = content.get("rows"), content.get("overrides")
    return (
        isinstance(content.get("job_hash"), str)
        and isinstance(rows, list)
        and bool(rows)
        and all(_is_row(row) for row in rows)
        and (content.get("seconds") is None or is_number(content["seconds"]))
        and (overrides is None or _all_texts(overrides))
        and isinstance(content.get("config", {}), dict)
    )


def _is_row(row: Any) -> bool:
    return isinstance(row, dict) and all(_fits(name, value) for name, value in row.items())


def _fits(column: str, value: Any) -> bool:
    if value is None:
        return True
    if column in _TEXTS:
        return isinstance(value, str)
    return is_number(value) or (column not in _NUMBERS and isinstance(value, str | bool))


def _all_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(text, str) for text in values)
