from __future__ import annotations

import csv
import io

from gnnsync.report.tables import save_table, tables
from gnnsync.results.collect import collect


def only(folder):
    (table,) = tables(collect([folder]).rows)
    return table


def test_best_is_bold_and_second_best_underlined(results, tmp_path):
    results(method="spectral", mse=[0.2, 0.4])
    results(method="gnnsync", mse=[0.1, 0.1])
    results(method="trivial", mse=[2.0, 2.0])
    table = only(tmp_path)
    assert table.name == "mse_k1_ERO"
    assert "mean ± standard deviation over 2 runs" in table.caption
    *_, row = table.markdown().splitlines()
    assert row == "| 0.4 | **0.100 ± 0.000** | <ins>0.300 ± 0.100</ins> | 2.000 ± 0.000 |"
    assert (
        r"0.4 & \textbf{0.100 $\pm$ 0.000} & \underline{0.300 $\pm$ 0.100} & 2.000 $\pm$ 0.000 \\"
        in table.latex()
    )
    lines = list(csv.DictReader(io.StringIO(table.csv())))
    assert [(line["variant"], line["rank"], line["runs"]) for line in lines] == [
        ("gnnsync", "1", "2"),
        ("spectral", "2", "2"),
        ("trivial", "3", "2"),
    ]
    assert float(lines[1]["mean"]) == 0.30000000000000004


def test_equal_figures_share_their_rank_and_a_missing_run_is_empty(results, tmp_path):
    for method in ("gpm", "spectral"):
        results(method=method, mse=[0.00001, 0.0], **{"data.eta": 0.0})
    results(method="gpm", mse=[0.5], **{"data.eta": 0.5})
    table = only(tmp_path)
    exact, noisy = table.markdown().splitlines()[-2:]
    assert exact.count("**0.000 ± 0.000**") == 2
    assert noisy == "| 0.5 |  | **0.500 ± 0.000** |"
    assert "over 1 to 2 runs" in table.caption


def test_names_are_escaped(results, tmp_path):
    results(method="a_b", variant="a_b|<i>&50% $x^2 {y} \\z #1~*`")
    table = only(tmp_path)
    assert r"a\_b\|&lt;i&gt;&amp;50% $x^2 \{y\} \\z \#1\~\*\`" in table.markdown()
    assert (
        r"a\_b\textbar{}\textless{}i\textgreater{}\&50\% \$x\textasciicircum{}2 \{y\} "
        r"\textbackslash{}z \#1\textasciitilde{}*`" in table.latex()
    )
    assert table.csv().splitlines()[1].startswith("0.4,a_b|<i>&50% $x^2")


def test_a_table_for_each_graph_and_metric(results, tmp_path):
    results(**{"data.graph": "random_geometric", "data.p": 0.1})
    results(**{"data.graph": "random_geometric", "data.p": 0.2})
    cloud = {"data.graph": "PACM", "data.p": None, "ane": 0.1}
    results(**cloud)
    found = {table.name: table for table in tables(collect([tmp_path]).rows)}
    assert set(found) == {"mse_k1_RGGO", "mse_k1_PACM", "ane_k1_PACM"}
    assert found["mse_k1_RGGO"].markdown().splitlines()[2] == "| p | η | Spectral |"


def test_files(results, tmp_path):
    results()
    paths = save_table(only(tmp_path), tmp_path)
    assert sorted(path.suffix for path in paths) == [".csv", ".md", ".tex"]
    assert all(path.stat().st_size for path in paths)
