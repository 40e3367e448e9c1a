import json

from gnnsync.cli.main import main
from tests.distances import disc_network


def written(tmp_path):
    network = disc_network(n=30, degree=12.0)
    rows = zip(*network.pairs.tolist(), network.distance.tolist(), strict=True)
    text = "\n".join(f"{i},{j},{d!r}" for i, j, d in rows)
    path = tmp_path / "distances.csv"
    path.write_text(f"i,j,distance\n{text}\n")
    return network, path


def test_points_are_written_and_summarised(tmp_path, capsys):
    _, path = written(tmp_path)
    points, page = tmp_path / "points.csv", tmp_path / "page.html"
    call = ["locate", str(path), "--method", "spectral", "--output", str(points), "--json"]
    assert main([*call, "--html", str(page)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["points"] == 30
    assert summary["noise"] < 1e-6
    assert len(points.read_text().splitlines()) == 31
    assert "<html" in page.read_text()


def test_bad_input_is_one_line(tmp_path, capsys):
    path = tmp_path / "bad.csv"
    path.write_text("i,j,distance\na,b,-1\n")
    assert main(["locate", str(path)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "distance -1 must be greater than 0" in line
