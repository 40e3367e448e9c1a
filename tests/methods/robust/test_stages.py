"""Progress by stage."""

from gnnsync.methods.robust import stages
from gnnsync.methods.robust.stages import stage


def test_short_stages_are_reported_for_debugging_only(caplog):
    with caplog.at_level("DEBUG"), stage("cycles"):
        pass
    assert [record.levelname for record in caplog.records] == ["DEBUG", "DEBUG"]
    assert caplog.records[-1].getMessage() == "cycles: 0.00 s"


def test_long_stages_are_reported(caplog, monkeypatch):
    monkeypatch.setattr(stages, "_LONG_SECONDS", -1.0)
    with caplog.at_level("INFO"), stage("cycles"):
        pass
    assert [record.levelname for record in caplog.records] == ["INFO"]
