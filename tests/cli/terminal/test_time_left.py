import pytest

from gnnsync.cli.terminal.time_left import duration, progress_text
from gnnsync.work import Work, advance, watched


def test_text_of_the_progress():
    with watched(Work()) as work:
        assert progress_text(work) == "0 %"
        work.began -= 30.0
        advance(0.75)
        assert progress_text(work) == "75 %, about 10 s left"


@pytest.mark.parametrize(
    ("seconds", "text"), [(7.6, "8 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
