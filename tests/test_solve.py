import numpy as np
import pytest

import gnnsync
from gnnsync.errors import ParameterError
from gnnsync.methods import Spectral, refined
from gnnsync.metrics import angular_mse
from gnnsync.solve import method_names
from tests.methods.poses.worlds import manhattan


def test_graph_path_name_and_object_agree(tmp_path, make_multigraph):
    graph = make_multigraph(0, connected=True)
    gnnsync.write(graph, tmp_path / "g.csv")
    by_name = gnnsync.solve(graph, "spectral")
    for solution in (
        gnnsync.solve(tmp_path / "g.csv", "spectral"),
        gnnsync.solve(str(tmp_path / "g.csv"), method=Spectral()),
    ):
        assert np.array_equal(solution.angles, by_name.angles)
    assert angular_mse(gnnsync.solve(graph, refined(Spectral(), 3)).angles, graph.angles) < 1e-12


def test_the_default_solves_an_exact_graph(make_multigraph):
    graph = make_multigraph(1, connected=True)
    assert angular_mse(gnnsync.solve(graph).angles, graph.angles) < 1e-6


def test_an_unknown_method_lists_the_names(make_multigraph):
    with pytest.raises(ParameterError, match=r"method = 'spectrl': must be one of .*spectral_rn"):
        gnnsync.solve(make_multigraph(0), "spectrl")
    with pytest.raises(ParameterError, match="name or a method object"):
        gnnsync.solve(make_multigraph(0), Spectral)
    assert {"gnnsync", "gnnsync_plus", "auto", "spectral"} <= set(method_names())
    assert len(set(method_names())) == len(method_names())


def test_seed_and_k_reach_the_method(make_multigraph):
    calls = []

    def method(graph, k=1, *, seed=0):
        calls.append((k, seed))
        return Spectral()(graph, k, seed=seed)

    gnnsync.solve(make_multigraph(0, connected=True), method, 2, seed=7)
    assert calls == [(2, 7)]


def test_poses_of_a_file_a_graph_and_a_named_method_agree(tmp_path):
    graph, truth = manhattan(60, 1, noise=(0, 0, 0))
    gnnsync.write_poses(graph, tmp_path / "g.g2o")
    solutions = [
        gnnsync.solve_poses(graph),
        gnnsync.solve_poses(tmp_path / "g.g2o"),
        gnnsync.solve_poses(graph, "spectral_rn", trust="none"),
        gnnsync.solve_poses(graph, Spectral(), seed=3),
    ]
    for solution in solutions:
        assert np.abs(solution.poses[:, :2] - truth[:, :2]).max() < 1e-6
        assert angular_mse(solution.headings.angles, truth[:, 2:]) < 1e-12
    with pytest.raises(ParameterError, match="trust = 'all'"):
        gnnsync.solve_poses(graph, trust="all")
    with pytest.raises(ParameterError, match="seed = -1"):
        gnnsync.solve_poses(graph, seed=-1)


def test_the_wrong_kind_of_graph_is_refused():
    graph = manhattan(20, 1)[0]
    with pytest.raises(ParameterError, match=r"graph = .*: must be a PoseGraph or the name of"):
        gnnsync.solve_poses(graph.rotations)
    with pytest.raises(
        ParameterError, match=r"graph = .*: must be a MeasurementGraph; solve_poses"
    ):
        gnnsync.solve(graph)


def test_time_limit_returns_the_best_so_far(make_multigraph):
    graph = make_multigraph(0, connected=True)
    solution = gnnsync.solve(graph, "gpm", time_limit=1e-9)
    assert solution.stop_reason == "time limit of 1e-09 s: angles along a spanning tree"
    assert not solution.converged
    assert gnnsync.solve(graph, "gpm", time_limit=60).converged


@pytest.mark.parametrize("value", [0, -2, float("nan"), "5"])
def test_time_limit_must_be_positive(make_multigraph, value):
    with pytest.raises(ParameterError, match="time_limit"):
        gnnsync.solve(make_multigraph(0), time_limit=value)


def test_a_method_that_cannot_stop_early_refuses_a_time_limit(make_multigraph):
    def method(graph, k=1, *, seed=0):
        raise AssertionError("not called")

    with pytest.raises(ParameterError, match=r"time_limit = 5: must be left out.*stops_early"):
        gnnsync.solve(make_multigraph(0), method, time_limit=5)
    assert refined(Spectral(), 2).stops_early


def test_poses_with_a_time_limit():
    graph, _ = manhattan(60, 1)
    found = gnnsync.solve_poses(graph, time_limit=1e-9)
    assert found.stop_reason.startswith("time limit of 1e-09 s: best of ")
    assert not found.converged
    assert np.isfinite(found.poses).all()
    by_headings = gnnsync.solve_poses(graph, "gpm", trust="none", time_limit=1e-9)
    assert np.isfinite(by_headings.poses).all()
    whole = gnnsync.solve_poses(graph, time_limit=60)
    assert whole.converged
    assert whole.stop_reason == "the accepted edges came to rest"
    with pytest.raises(ParameterError, match="time_limit"):
        gnnsync.solve_poses(graph, time_limit=0)
