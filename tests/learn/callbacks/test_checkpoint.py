import pytest
import torch

from gnnsync.learn import GNNSync, Run
from gnnsync.learn.training.checkpoint_io import AtomicCheckpointIO


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(tmp_path):
    path, plugin = tmp_path / "a.ckpt", AtomicCheckpointIO()
    plugin.save_checkpoint({"step": 1}, path)

    class Unpicklable:
        def __reduce__(self):
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        plugin.save_checkpoint({"step": 2, "bad": Unpicklable()}, path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.ckpt"]
    assert torch.load(path) == {"step": 1}


def test_checkpoints_hold_true_steps_and_the_final_one_the_best_state(make_graph, quick, tmp_path):
    graphs = [make_graph(0, n=16, p=0.4), make_graph(1, n=16, p=0.6)]
    method = GNNSync(training=quick(max_steps=45))
    fitted = method.fit(graphs, seeds=[1, 2], run=Run(tmp_path, checkpoint_every=20))
    last, final = (torch.load(tmp_path / f"{name}.ckpt") for name in ("last", "final"))
    assert last["global_step"] == 40
    assert final["global_step"] == 45
    best = final["callbacks"]["BestState"]["parameters"]
    for name, value in best.items():
        assert torch.equal(final["state_dict"][name], value), name
    assert final["callbacks"]["History"]["train"].shape == (45, 2)
    assert fitted.steps == [45, 45]


def test_none_are_written_without_a_folder(make_graph, quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    GNNSync(training=quick(max_steps=5))(make_graph(0))
    assert not list(tmp_path.iterdir())
