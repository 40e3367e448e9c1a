import io
import re

from rich.console import Console

from gnnsync.cli.terminal import bar as module
from gnnsync.cli.terminal.bar import Bar
from gnnsync.work import Work, advance, plan, stage, watched


def text_of(bar):
    """What the bar shows now, without colours."""
    console = Console(file=io.StringIO(), width=120, force_terminal=True, color_system=None)
    console.print(bar._bars.get_renderable())
    return console.file.getvalue()


def test_shows_stage_part_done_and_time_left():
    bar = Bar("solving 10 edges")
    assert "solving 10 edges" in text_of(bar)
    with watched(Work(on_change=bar.show_work)) as work:
        plan({"network": 3.0, "fit": 1.0})
        work.began -= 30.0
        with stage("network"), stage("sweeps"):
            assert "solving 10 edges: network, sweeps" in text_of(bar)
            assert "left" not in text_of(bar)
        assert re.search(r"75%.*about 10 s left", text_of(bar))


def test_time_left_goes_down_between_reports(monkeypatch):
    bar = Bar("solving")
    with watched(Work(on_change=bar.show_work)) as work:
        work.began -= 30.0
        advance(0.5)
        now = module.time.monotonic()
        monkeypatch.setattr(module.time, "monotonic", lambda: now + 12.0)
        assert "about 18 s left" in text_of(bar)


def test_counts_bytes():
    with Bar("reading") as bar:
        bar.show_count(50, 200)
        assert "25%" in text_of(bar)
        bar.show_count(50, 0)  # a pipe has no size
