import json

import numpy as np
import pytest

import gnnsync
from gnnsync.angles import wrap
from gnnsync.cli.solve.command import main


@pytest.fixture
def noisy(tmp_path):
    """A ring of six named nodes measured twice, and a pair of nodes of its own."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, 8)
    src = np.array([*range(6), *range(6), 6, 6])
    dst = np.array([*(1, 2, 3, 4, 5, 0) * 2, 7, 7])
    offset = wrap(angles[src] - angles[dst] + 0.02 * rng.standard_normal(14))
    names = ["a", "b", "c", "d", "e", "f,1", "x", "y"]
    graph = gnnsync.MeasurementGraph.from_edges(
        [names[i] for i in src], [names[i] for i in dst], offset
    )
    gnnsync.write(graph, tmp_path / "graph.npz")
    return graph, str(tmp_path / "graph.npz"), dict(zip(names, angles, strict=True))


@pytest.mark.filterwarnings("ignore::gnnsync.methods.base.DisconnectedGraphWarning")
def test_the_difference_of_two_nodes_has_a_deviation(noisy, capsys):
    graph, path, truth = noisy
    arguments = [path, "--between", "a,d", "--between", "c,f,1", "--between", "a,x", "--json"]
    assert main(arguments) == 0
    near, comma, apart = json.loads(capsys.readouterr().out)["between"]
    assert near["nodes"] == ["a", "d"]
    assert wrap(near["difference"][0] - (truth["a"] - truth["d"])) == pytest.approx(0, abs=0.1)
    # Three edges either way, each measured twice: 1.5 σ² / 2.
    assert near["deviation"][0] == pytest.approx(0.02 * np.sqrt(0.75), rel=0.7)
    assert comma["nodes"] == ["c", "f,1"]
    assert apart["difference"] is None
    solution = gnnsync.solve(graph)
    assert solution.deviation_between("a", "d") == pytest.approx(near["deviation"])
    assert solution.deviation_between(0, 3) == pytest.approx(near["deviation"])
    assert np.isnan(solution.deviation_between("a", "x")).all()


@pytest.mark.filterwarnings("ignore::gnnsync.methods.base.DisconnectedGraphWarning")
def test_text_and_wrong_names(noisy, capsys):
    _, path, _ = noisy
    assert main([path, "--between", "a,d", "--output-degrees"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("a - d: ")
    assert "±" in line
    assert "°; both right with probability" in line
    for wrong in ("a,a", "a", "a,z"):
        assert main([path, "--between", wrong]) == 2
        assert "must be the names of two different nodes" in capsys.readouterr().err
