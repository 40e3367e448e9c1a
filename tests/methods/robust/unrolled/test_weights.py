"""Weights of the network as NumPy arrays."""

import subprocess
import sys

import numpy as np
import torch

from gnnsync.learn.inductive.network import Perceptron as TorchPerceptron
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.weights import save_weights
from gnnsync.methods.robust.unrolled.weights import read_weights, shipped_file, shipped_weights


def test_a_perceptron_agrees_with_torch(tmp_path):
    torch.manual_seed(0)
    network = UnrolledPropagation(layers=2, hidden=5)
    layer = network.layers[1].of_arc
    assert isinstance(layer, TorchPerceptron)
    torch.nn.init.normal_(layer.outer.weight)
    save_weights(tmp_path / "two.safetensors", network)
    weights = read_weights(tmp_path / "two.safetensors")
    assert (weights.num_layers, weights.bins, len(weights.of_arc)) == (2, 32, 2)
    inputs = torch.randn(7, layer.inner.in_features)
    expected = layer(inputs).detach().numpy()
    found = weights.of_arc[1](inputs.numpy().T)
    np.testing.assert_allclose(found.T, expected, atol=1e-5)


def test_the_weights_that_come_with_the_package():
    assert shipped_file().is_file()
    weights = shipped_weights()
    assert weights is shipped_weights()
    assert all(np.isfinite(layer.inner).all() for layer in weights.of_graph + weights.of_arc)


def test_auto_with_the_network_does_not_load_torch():
    code = (
        "import sys; import numpy as np; from gnnsync.graph import MeasurementGraph;"
        "from gnnsync.methods.auto import Auto;"
        "rng = np.random.default_rng(0); pairs = np.stack(np.triu_indices(40, 1));"
        "graph = MeasurementGraph(pairs, rng.uniform(0, 6, pairs.shape[1]), 40);"
        "reason = Auto(without='cycles+gnc+cemp')(graph).stop_reason;"
        "assert reason.startswith('network'), reason;"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
