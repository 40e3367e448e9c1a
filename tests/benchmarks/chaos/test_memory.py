"""The benchmark of many jobs in one process notices memory and files that are kept."""

from __future__ import annotations

import pytest

from benchmarks.chaos.memory import SWEEPS, WARM, Sample, growth, watch


def looks(megabytes: float, files: float, jobs: int = 1000) -> list[Sample]:
    """Looks at a process that loads its libraries, then keeps so much per job, then sums up."""
    found = [Sample(i, 3.0 * i, 5) for i in range(WARM)]
    for i in range(jobs):
        for under_way in (0, 1):  # a job that runs needs 4 MB and two files
            kept = 60.0 + megabytes * i + 4.0 * under_way
            found.append(Sample(WARM + i, kept, 5 + int(files * i) + 2 * under_way))
    return [*found, Sample(WARM + jobs, 200.0, 5)]


def test_what_jobs_keep_is_found():
    assert growth(looks(0.0, 0.0)) == (0.0, 0)
    more, files = growth(looks(0.3, 0.02))
    assert more == pytest.approx(300, rel=0.1)
    assert files == pytest.approx(20, abs=3)


def test_a_sweep_that_was_not_seen_is_no_success():
    with pytest.raises(RuntimeError, match="before its memory was seen"):
        growth([Sample(0, 10.0, 5), Sample(WARM, 10.0, 5)])


@pytest.mark.slow
@pytest.mark.parametrize("name", SWEEPS)
def test_a_hundred_jobs_keep_less_than_their_share_of_20_megabytes(name):
    more, files = growth(watch(SWEEPS[name], WARM + 100))
    assert more < 8, "figures and the allocator's own vary by some megabytes"
    assert files == 0
