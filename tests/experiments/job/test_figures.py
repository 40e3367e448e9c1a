"""The figures of a job show all of its runs."""

from __future__ import annotations

import numpy as np

from gnnsync import MeasurementGraph
from gnnsync.data.base import Networks
from gnnsync.experiments.job.figures import draw_job, run_angles
from gnnsync.results.outcome import Outcome, Replica
from gnnsync.solution import Solution


class Ring(Networks):
    """Five nodes on a ring; the angles of network 30 are not known."""

    def make_graph(self, seed):
        angles = np.random.default_rng(seed).uniform(0, 6, (5, 1))
        edges = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
        offset = (angles[edges[0]] - angles[edges[1]])[:, 0]
        return MeasurementGraph(edges, offset, 5, angles=None if seed == 30 else angles)


def outcome(data: Networks, trials: int) -> Outcome:
    places = [(i, s, t) for i, s in enumerate(data.seeds) for t in range(trials)]
    replicas = [
        Replica(*place, Solution.from_angles(data.graphs[place[0]], np.zeros((5, 1))), "finished")
        for place in places
    ]
    return Outcome(replicas, 0.0, 0.0)


def test_every_run_with_a_known_truth_is_shown():
    data = Ring(seeds=[10, 20, 30])
    runs = run_angles(outcome(data, trials=2), data, "GPM")
    assert [run.title for run in runs] == [
        f"network {seed}, trial {trial}" for seed in (10, 20) for trial in (1, 2)
    ]
    assert [list(run.stages) for run in runs] == [["GPM"]] * 4
    assert np.array_equal(runs[2].truth, data.graphs[1].angles)


def test_features_come_before_the_answer():
    data = Ring(seeds=[10])
    found = outcome(data, trials=1)
    found.replicas[0].features = np.ones((5, 1))
    (run,) = run_angles(found, data, "GNNSync")
    assert run.title == "network 10"
    assert list(run.stages) == ["input", "GNNSync"]


def test_nothing_is_drawn_without_a_truth(tmp_path):
    data = Ring(seeds=[30])
    assert draw_job(outcome(data, trials=1), data, None, tmp_path, "GPM") == {}
    assert list(tmp_path.iterdir()) == []
