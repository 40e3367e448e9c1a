"""Folders of results as jobs write them, without running any."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

OLD_NAME = "{digest}"
CELL = {
    "data.graph": "erdos_renyi",
    "data.angles": "GammaAngles",
    "data.n": 360,
    "data.p": 0.05,
    "data.eta": 0.4,
    "data.k": 1,
    "data.inlier_noise": 0.0,
}


def write_job(
    folder: Path,
    sweep: str = "study",
    *,
    seeds: int = 3,
    name: str = "job-{short}",
    **changes: Any,
) -> Path:
    """One finished job below `folder/sweep`; `mse` may be a list, one value per seed.

    `name` is the folder's name, with `{short}` for 8 digits of the job hash and `{digest}` for
    all 16: `OLD_NAME` gives the folders of version 0.1.
    """
    changes = {"method": "spectral", **changes}
    changes.setdefault("variant", changes["method"])
    digest = hashlib.sha256(repr(sorted(changes.items(), key=str)).encode()).hexdigest()[:16]
    mse = changes.pop("mse", [0.1 * (seed + 1) for seed in range(seeds)])
    rows = [
        {
            "job_hash": digest,
            "sweep": sweep,
            **CELL,
            **changes,
            "network_seed": seed,
            "trial": 0,
            "mse": value,
            "upset": 0.5,
            "limit_oracle": 0.0,
            "limit_certifiable": 0.05,
        }
        for seed, value in enumerate(mse)
    ]
    job = folder / sweep / name.format(digest=digest, short=digest[:8])
    job.mkdir(parents=True)
    line = [f"method={changes['method']}", f"data.eta={changes.get('data.eta', 0.4)}"]
    content = {"status": "success", "job_hash": digest, "rows": rows, "overrides": line}
    (job / "result.json").write_text(json.dumps(content))
    (job / "config.yaml").write_text("data: {}\n")
    return job


@pytest.fixture
def results(tmp_path) -> Callable[..., Path]:
    """Make finished jobs in one folder of outputs."""

    def make(*args: Any, **changes: Any) -> Path:
        return write_job(tmp_path / "outputs", *args, **changes)

    return make
