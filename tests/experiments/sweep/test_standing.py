from __future__ import annotations

import pytest

from gnnsync.experiments.sweep.standing import Pace, Standing, duration


def test_counts_and_the_best_job():
    standing = Standing(10, done=2)
    standing.offer(0.5, "earlier")
    standing.finish("gpm", 1.0, 0.2, "method=gpm")
    standing.finish("file", 1.0, None, "no truth")
    standing.finish("gpm", 1.0, 0.3, "worse")
    standing.failed, standing.running = 1, 2
    assert standing.counts() == "5 of 10 jobs done, 2 running, 1 failed, 2 left"
    assert str(standing.best) == "best MSE 0.2: method=gpm"


def test_a_search_has_no_total():
    standing = Standing(None)
    standing.finish("gpm", 1.0, 0.2, "a")
    assert standing.left is None
    assert standing.counts() == "1 jobs done, 0 running, 0 failed"


def test_the_time_left_counts_slow_methods_as_slow():
    pace = Pace()
    assert pace.left(["gnnsync"], [], 1.0) is None
    for _ in range(5):
        pace.add("spectral", 1.0)
    pace.add("gnnsync", 45.0)
    # Two at once: 50 seconds of jobs in 25.
    assert pace.left(["gnnsync"] * 2 + ["spectral"] * 10, [], 25.0) == pytest.approx(50.0)
    assert pace.left([], ["gnnsync"], 25.0) == pytest.approx(11.25)
    assert pace.left(["unknown"], [], 25.0) == pytest.approx(50 / 6 / 2)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"),
        (89, "89 s"),
        (90, "2 min"),
        (3 * 60 + 10, "3 min"),
        (3600, "1 h"),
        (7800, "2 h 10 min"),
        (3 * 86400 + 4 * 3600, "3 d 4 h"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
