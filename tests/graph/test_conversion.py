import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData

from gnnsync import MeasurementGraph
from gnnsync.errors import GraphError

EDGES = torch.tensor([[0, 1, 2], [1, 2, 0]])
OFFSETS = torch.tensor([0.5, 1.0, 4.0], dtype=torch.float64)


def test_the_offsets_may_have_another_name():
    data = Data(edge_index=EDGES, edge_attr=torch.rand(3, 2), phase=OFFSETS[:, None], num_nodes=4)
    graph = MeasurementGraph.from_pyg(data, offset="phase")
    assert graph.offset.tolist() == OFFSETS.tolist()
    assert graph.num_nodes == 4


def test_a_batch_is_one_graph_with_several_components():
    one = Data(edge_index=EDGES, edge_attr=OFFSETS, num_nodes=3)
    graph = MeasurementGraph.from_pyg(Batch.from_data_list([one, one]))
    assert graph.num_nodes == 6
    assert graph.num_components == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(edge_attr=OFFSETS, num_nodes=3), "data.edge_index is missing"),
        (Data(edge_index=EDGES, num_nodes=3), "data.edge_attr is missing.*offset='NAME'"),
        (HeteroData(), "data.edge_index is missing"),
        (
            Data(edge_index=EDGES, edge_attr=torch.rand(3, 2), num_nodes=3),
            r"data.edge_attr has shape \(3, 2\): must be one offset per edge",
        ),
        (
            Data(edge_index=EDGES, edge_attr=OFFSETS, y=torch.tensor([0, 1, 1]), num_nodes=3),
            "data.y has type int64, as class labels have",
        ),
    ],
    ids=["no edges", "no offsets", "heterogeneous", "two columns", "labels"],
)
def test_data_without_offsets_or_with_labels_are_refused(data, message):
    with pytest.raises(GraphError, match=message):
        MeasurementGraph.from_pyg(data)
