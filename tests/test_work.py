import logging
import time

import pytest

from gnnsync import work
from gnnsync.errors import ParameterError
from gnnsync.work import (
    TimeUp,
    Work,
    advance,
    advance_towards,
    check_time,
    current,
    expect,
    iteration_limit,
    limited,
    loop,
    plan,
    reached_time_limit,
    skip,
    stage,
    time_is_up,
    watched,
)


def test_nothing_is_watched_outside():
    assert current() is None
    plan({"a": 1.0})
    skip("a")
    advance(0.5)
    with stage("a"), loop("b"):
        assert not time_is_up()
    check_time()
    assert reached_time_limit() is None


def test_fraction_follows_the_costs_of_the_plan():
    with watched(Work()) as seen:
        plan({"start": 1.0, "sweeps": 3.0})
        assert seen.fraction == 0.0
        with stage("start"):
            advance(0.5)
            assert seen.fraction == pytest.approx(0.125)
            assert seen.stages == ["start"]
        assert seen.fraction == pytest.approx(0.25)
        with stage("sweeps"):
            plan({"one": 1.0, "two": 1.0})
            with loop("one"):
                pass
            with loop("two"):
                advance(0.5)
                assert seen.stages == ["sweeps", "two"]
                assert seen.fraction == pytest.approx(0.25 + 0.75 * 0.75)
        assert seen.fraction == 1.0


def test_stages_that_are_left_out_leave_the_plan():
    with watched(Work()) as seen:
        plan({"a": 1.0, "b": 8.0, "c": 1.0})
        with stage("a"):
            pass
        assert seen.fraction == pytest.approx(0.1)
        skip("b", "never planned")
        assert seen.fraction == pytest.approx(0.5)


def test_a_stage_that_is_not_planned_changes_nothing_and_the_fraction_never_falls():
    with watched(Work()) as seen:
        plan({"a": 1.0, "b": 1.0})
        with stage("other"):
            advance(0.9)
            assert seen.fraction == 0.0
        with stage("a"):
            pass
        plan({"b": 9.0})
        assert seen.fraction == 0.5


def test_an_iteration_that_falls_geometrically_advances_evenly():
    with watched(Work()) as seen:
        advance_towards(1e-6, 1.0, 1e-3)
        assert seen.fraction == pytest.approx(0.5)
        advance_towards(1e-6, 1.0, 1e-9)
        assert seen.fraction == 1.0


def test_time_left_follows_the_speed_so_far():
    with watched(Work()) as seen:
        assert seen.seconds_left is None
        seen.began -= 10.0
        advance(0.25)
        assert seen.seconds_left == pytest.approx(30.0, rel=0.01)


def test_the_time_limit_bounds_the_time_left():
    with watched(Work(time_limit=5.0)) as seen:
        seen.began -= 10.0
        advance(0.1)
        assert 4.9 < seen.seconds_left <= 5.0


def test_time_limit():
    with limited(1e-9):
        time.sleep(1e-6)
        assert reached_time_limit() is None  # no one has been told yet
        assert iteration_limit(3) == "iteration limit"
        assert time_is_up()
        assert reached_time_limit() == 1e-9
        assert iteration_limit(3) == "best of 3 iterations"
        with pytest.raises(TimeUp):
            check_time()
    assert not time_is_up()


def test_a_limit_within_watched_work_ends_with_its_block():
    with watched(Work()) as seen:
        with limited(1e-9):
            assert time_is_up()
            assert seen.time_limit == 1e-9
        assert seen.time_limit is None
        assert not time_is_up()
        with limited(None):
            assert seen.time_limit is None


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "5", True])
def test_a_time_limit_is_a_positive_number(value):
    with pytest.raises(ParameterError, match="time_limit"):
        Work(value)


def test_every_change_is_reported():
    seen = []
    with watched(Work(on_change=lambda w: seen.append((w.stages, round(w.fraction, 2))))):
        plan({"a": 1.0})
        with stage("a"):
            advance(0.5)
    assert seen == [([], 0.0), (["a"], 0.0), (["a"], 0.5), ([], 1.0)]


def test_an_error_ends_its_stages():
    with watched(Work()) as seen:
        with pytest.raises(ZeroDivisionError), stage("a"), loop("b"):
            raise ZeroDivisionError
        assert seen.stages == []


def test_long_stages_are_logged_at_info(caplog, monkeypatch):
    monkeypatch.setattr(work, "LONG_SECONDS", 0.0)
    with caplog.at_level(logging.INFO, logger="gnnsync.work"), stage("sweeps"), loop("inner"):
        pass
    assert [record.message[:8] for record in caplog.records] == ["sweeps: "]


def test_the_cost_of_a_stage_is_corrected_once_it_is_known():
    with watched(Work()) as seen:
        plan({"a": 1.0, "b": 1.0})
        with stage("a"):
            pass
        expect("b", 3.0)
        expect("not planned", 100.0)
        with stage("b"):
            advance(1 / 3)
            assert seen._done() == pytest.approx(0.5)
    expect("b", 1.0)  # nothing is watched
