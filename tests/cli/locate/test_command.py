import csv
import io
import json

import numpy as np
import pytest

from gnnsync.cli.locate.command import main
from tests.localization.peers.networks import disc_network

N = 25


@pytest.fixture
def measured(tmp_path):
    """A network, the file of its distances, and one of three anchors."""
    network = disc_network(N, 12.0)
    lines = (
        f"p{i},p{j},{d!r}"
        for (i, j), d in zip(network.pairs.T.tolist(), network.distance.tolist(), strict=True)
    )
    (tmp_path / "d.csv").write_text("i,j,distance\n" + "\n".join(lines))
    best = np.argsort(-network.degree)[[0, 1, 2]].tolist()
    anchors = "".join(f"p{i},{x!r},{y!r}\n" for i in best for x, y in [network.points[i].tolist()])
    (tmp_path / "anchors.csv").write_text("name,x,y\n" + anchors)
    return network, str(tmp_path / "d.csv"), str(tmp_path / "anchors.csv")


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_points_distances_map_and_page(measured, tmp_path, capsys):
    network, path, anchors = measured
    names = {"output": "points.csv", "edges": "edges.csv", "plot": "map.png", "html": "map.html"}
    written = {key: tmp_path / name for key, name in names.items()}
    options = [word for key, file in written.items() for word in (f"--{key}", str(file))]
    assert main([path, "--anchors", anchors, *options]) == 0
    text = capsys.readouterr().out
    for words in (f"points      {N}, ", "frame       that of the anchors", "method      auto"):
        assert words in text
    rows = table(written["output"].read_text())
    assert list(rows[0]) == [
        *("name", "x", "y", "deviation_x", "deviation_y", "correlation", "localizable"),
        "component",
    ]
    sure = [row for row in rows if row["localizable"] == "1"]
    assert len(sure) > 0.6 * N
    for row in sure:
        true = network.points[int(row["name"][1:])]
        np.testing.assert_allclose([float(row["x"]), float(row["y"])], true, atol=1e-5)
    lines = table(written["edges"].read_text())
    assert list(lines[0]) == ["i", "j", "distance", "residual", "confidence"]
    assert len(lines) == network.num_edges
    assert written["plot"].read_bytes()[:4] == b"\x89PNG"
    page = written["html"].read_text()
    assert "gnnsync locate" in page
    assert "deviation_x" in page


def test_csv_on_standard_output_and_the_summary_beside_it(measured, capsys):
    assert main([measured[1], "--output", "-"]) == 0
    printed = capsys.readouterr()
    assert len(table(printed.out)) == N
    assert f"points      {N}" in printed.err


def test_one_json_object(measured, tmp_path, capsys):
    out = tmp_path / "points.json"
    assert main([measured[1], "--json", "--method", "spectral", "-o", str(out)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["points"], summary["method"]) == (N, "spectral")
    assert summary["rejected"] == 0
    assert json.loads(out.read_text())["summary"]["points"] == N


def test_the_same_seed_gives_the_same_points(measured, tmp_path):
    files = [tmp_path / f"{k}.csv" for k in range(2)]
    for file in files:
        main([measured[1], "--seed", "3", "--output", str(file)])
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "gpn"], "did you mean gpm"),
        (["--seed", "-1"], "--seed = -1"),
        (["--time-limit", "0"], "--time-limit"),
        (["--columns", "i=a,k=b"], "columns"),
        (["--anchors", "none.csv"], "no such file"),
    ],
)
def test_wrong_options_are_answered_in_one_line(measured, options, words, capsys):
    assert main([measured[1], *options]) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert words in error[-1]
