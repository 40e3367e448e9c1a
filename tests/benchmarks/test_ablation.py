"""Parts of `auto` switched off."""

from benchmarks.ablation import WHOLE, cells, measure, table
from gnnsync.methods.auto import PARTS
from tests.methods.networks import synthetic


def test_table_of_one_network():
    graph = synthetic(0.3, 0.1)
    rows = [
        {"family": "k = 1, noisy", "cell": "one", "without": part} | measure([graph], 1, part)
        for part in (WHOLE, "gnc", "posterior")
    ]
    lines = table(rows).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["nothing", "gnc", "posterior"]
    assert {"gnc", "posterior"} <= set(PARTS)


def test_cells_come_in_families():
    family, name, k, networks = next(cells([13], None))
    assert (family, name, k) == ("k = 1, exact", "ero k=1 p=0.05 η=0.6 σ=0", 1)
    assert networks[0].num_nodes == 360
