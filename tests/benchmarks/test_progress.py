"""The benchmark of the time left, on its smallest network."""

import pytest

from benchmarks.progress import Record, measure
from gnnsync.work import Work, advance, watched


def test_predictions_and_stages_are_recorded(capsys):
    seconds, record = measure("geometric, n = 360", "auto")
    assert seconds > 0
    assert "geometric, n = 360" in capsys.readouterr().out
    times = record.seconds()
    assert ("final angles",) in times
    assert times["gnc", "fit"] <= times[("gnc",)]
    assert 0.05 < record.ratio(1 / 3, seconds) < 20.0


def test_ratio_is_that_of_the_last_prediction_before():
    record = Record()
    with watched(Work(on_change=record.add)) as work:
        work.began -= 10.0
        advance(0.5)
    assert record.ratio(1.0, 20.0) == pytest.approx(1.0, rel=0.01)
