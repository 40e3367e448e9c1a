from __future__ import annotations

import pandas as pd
import pytest

from gnnsync.io.files import OutputError
from gnnsync.report.build import PAGE, ROWS, write_report
from gnnsync.results.collect import ReportError


def test_one_set_of_figures_per_sweep_or_for_all(results, tmp_path):
    for sweep in ("a", "b"):
        for eta in (0.1, 0.2):
            results(sweep, method=sweep, **{"data.eta": eta})
    apart = write_report([tmp_path / "outputs"], tmp_path / "apart")
    assert {path.parent.name for path in apart.figures} == {"a", "b"}
    together = write_report([tmp_path / "outputs"], tmp_path / "together", together=True)
    assert {path.parent.name for path in together.figures} == {"figures"}
    assert len(pd.read_parquet(together.folder / ROWS)) == 12


def test_the_report_is_in_the_folder_read_and_is_not_read_itself(results, tmp_path):
    results()
    for _ in range(2):
        report = write_report([tmp_path / "outputs"])
        assert report.folder == tmp_path / "outputs" / "report"
        assert (report.folder / PAGE).is_file()
        assert len(report.collection.rows) == 3


def test_errors(results, tmp_path):
    with pytest.raises(ReportError, match="no results found"):
        write_report([tmp_path])
    results()
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="choose another with --output FOLDER"):
        write_report([tmp_path / "outputs"], tmp_path / "file")
