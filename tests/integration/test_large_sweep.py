"""Large sweeps: the time to plan them and to recognise what is done."""

from __future__ import annotations

import json
import time

import pytest

from gnnsync.experiments.config.composing import hydra_configs
from gnnsync.experiments.sweep.command import Command
from gnnsync.experiments.sweep.plan import Plan

# Most seconds of processor time; 9 and 6 were measured on a machine of two cores.
PLANNING, RECOGNISING = 60.0, 20.0
# About the size of a real result: 10 replicas with 40 columns, and the config.
ROWS = [{f"column {i}": 0.123456789 for i in range(40)} for _ in range(10)]
CONFIG = {f"key {i}": {"_target_": "some.module.Class", "value": i} for i in range(60)}


@pytest.mark.slow
def test_a_study_of_3240_jobs_is_planned_and_recognised_in_time(tmp_path):
    overrides = ["experiment=paper/main_k1", "scale=paper", f"output_dir={tmp_path}"]
    with hydra_configs():
        start = time.process_time()
        plan = Plan.of(Command.of(overrides).check().grids)
        planned = time.process_time() - start
        assert str(plan) == "3240 jobs: 0 done, 0 failed before, 3240 new"
        for job in plan.jobs[:2000]:
            job.folder.mkdir(parents=True)
            content = {"status": "success", "job_hash": job.digest, "rows": ROWS, "config": CONFIG}
            (job.folder / "result.json").write_text(json.dumps(content, indent=1))
        start = time.process_time()
        again = Plan.of(Command.of(overrides).check().grids)
        recognised = time.process_time() - start
    print(f"planned in {planned:.1f} s, 2,000 finished jobs recognised in {recognised:.1f} s")
    assert str(again) == "3240 jobs: 2000 done, 0 failed before, 1240 new"
    assert planned < PLANNING
    assert recognised < RECOGNISING
