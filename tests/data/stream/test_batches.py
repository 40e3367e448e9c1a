import itertools

import numpy as np
import pytest
import torch

from gnnsync.data.stream import Cell, GraphLaw, numbered_graph
from gnnsync.data.stream.batches import BatchStream, NumberedBatches, held_out_batches
from gnnsync.errors import ParameterError

LAW = GraphLaw(nodes=(20, 40), degree=(4, 12), max_edges=1000)


def batches(**options):
    return NumberedBatches(LAW, **{"seed": 3, "batch_size": 2, **options})


def assert_same(first, second):
    for name in ("ends", "residual", "start", "weight", "trusted", "known", "truth", "group"):
        torch.testing.assert_close(
            getattr(first, name), getattr(second, name), rtol=0, atol=0, equal_nan=True
        )


def test_a_batch_holds_its_graphs_with_the_groups_of_its_number():
    data = batches(batch_size=3)
    for number in range(6):
        k = data.groups(number)
        for place, graph in enumerate(data.graphs(number)):
            expected = numbered_graph(LAW, 3, 3 * number + place, k)
            np.testing.assert_array_equal(graph.offset, expected.offset)
        batch = data.batch(number)
        assert (batch.num_graphs, batch.k) == (3, k)


def test_groups_have_the_weights_of_the_law():
    data = batches()
    drawn = [data.groups(number) for number in range(1000)]
    for k, weight in LAW.groups.items():
        assert drawn.count(k) / 1000 == pytest.approx(weight, abs=4 * np.sqrt(0.25 / 1000))


@pytest.mark.parametrize("world_size", [2, 3])
def test_several_processes_see_what_one_with_a_larger_batch_sees(world_size):
    one = batches(batch_size=2 * world_size)
    parts = [batches(rank=rank, world_size=world_size) for rank in range(world_size)]
    for number in (0, 1, 7):
        together = [graph for part in parts for graph in part.graphs(number)]
        for first, second in zip(one.graphs(number), together, strict=True):
            np.testing.assert_array_equal(first.offset, second.offset)
        whole = one.batch(number)
        starts = torch.cat([part.batch(number).start for part in parts])
        torch.testing.assert_close(whole.start, starts, rtol=0, atol=0)


@pytest.mark.parametrize("num_workers", [1, 2])
def test_the_order_does_not_depend_on_the_number_of_workers(num_workers):
    stream = BatchStream(batches(first=4), 3, num_workers)
    # The second epoch comes from the same workers.
    found = [*stream, *stream]
    stream.close()
    assert stream.position == 10
    for number, batch in enumerate(found, 4):
        assert_same(batch, batches().batch(number))


def test_what_workers_draw_ahead_does_not_count():
    stream = BatchStream(batches(), 100, num_workers=2)
    for _ in itertools.islice(stream, 3):
        pass
    assert stream.position == 3
    stream.close()
    assert_same(next(iter(stream)), batches().batch(3))
    stream.close()


def test_a_loader_continues_at_a_loaded_position():
    stream = BatchStream(batches(), 2)
    next(iter(stream))
    stream.load_state_dict({"position": 5})
    assert_same(next(iter(stream)), batches().batch(5))
    assert stream.state_dict() == {"position": 6}


def test_some_graphs_have_anchors():
    law = GraphLaw(nodes=(20, 40), degree=(4, 12), groups={1: 1})
    data = NumberedBatches(law, 0, 20, anchored=0.5)
    batch = data.batch(0)
    held = batch.known[:, 0] == 1
    graphs = len(set(batch.node_graph[held].tolist()))
    assert 4 <= graphs <= 16
    difference = batch.start[held].float() - batch.truth[held]
    torch.testing.assert_close(torch.cos(difference), torch.ones_like(difference))
    assert not NumberedBatches(law, 0, 20).batch(0).known.any()


def test_held_out_batches_name_the_cells_of_their_graphs():
    cells = [
        Cell("a", "erdos_renyi", 30, 8, 0.2, 0.1, networks=2),
        Cell("b", "erdos_renyi", 30, 12, 0.1, 0.1, k=2, networks=3),
    ]
    loader = held_out_batches(cells)
    assert len(loader) == 2
    assert [(batch.num_graphs, batch.k, names) for batch, names in loader] == [
        (2, 1, ["a"] * 2),
        (3, 2, ["b"] * 3),
    ]


def test_errors_name_the_field():
    with pytest.raises(ParameterError, match="rank = 2"):
        batches(rank=2, world_size=2)
    with pytest.raises(ParameterError, match="num_workers = -1"):
        BatchStream(batches(), 3, -1)
