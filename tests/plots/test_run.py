import numpy as np
import pytest

from gnnsync.plots.run import RunAngles, angle_figure, loss_figure
from tests.plots.images import image


def test_loss_is_the_mean_over_replicas_and_skips_what_is_not_finite():
    train = np.array([[3.0, 1.0], [2.0, np.nan], [1.0, np.inf]])
    figure = loss_figure({"train": train, "eval": train / 2})
    (axes,) = figure.axes
    first, second = axes.lines
    assert np.allclose(first.get_ydata(), [2, 2, 1])
    assert np.allclose(second.get_ydata(), [1, 1, 0.5])
    assert np.array_equal(first.get_xdata(), [1, 2, 3])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["train", "eval"]
    assert image(figure).std() > 0


@pytest.mark.parametrize(("k", "stages"), [(1, 1), (2, 2)])
def test_angles_of_every_run_against_the_truth_after_alignment(rng, k, stages):
    truth = rng.uniform(0, 2 * np.pi, (30, k))
    features = {"input": truth + rng.normal(size=truth.shape)} if stages == 2 else {}
    runs = [RunAngles(f"network {i}", truth, {**features, "GPM": truth + i}) for i in range(3)]
    figure = angle_figure(runs)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 3 * stages
    for i, axes in enumerate(shown[-3:]):
        assert axes.get_title().splitlines()[0] == f"network {i}"
        assert axes.get_title().splitlines()[1].startswith("GPM: MSE ")
        assert len(axes.collections) == k
        for group in axes.collections:
            points = group.get_offsets()
            assert np.abs(points[:, 0] - points[:, 1]).max() < 1e-9
    assert image(figure).std() > 0


def test_many_runs_take_several_rows_and_the_heading_names_those_left_out(rng):
    truth = rng.uniform(0, 2 * np.pi, (5, 1))
    figure = angle_figure([RunAngles(str(i), truth, {"GPM": truth}) for i in range(23)])
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 20
    assert len({axes.get_position().y0 for axes in shown}) == 4
    assert "the first 20 of 23 runs" in figure.get_suptitle()
    partial = angle_figure([RunAngles(str(i), truth, {"GPM": truth}) for i in range(7)])
    assert sum(axes.get_visible() for axes in partial.axes) == 7
