"""What `import gnnsync` and the light commands load: nothing heavy before it is used."""

import os
import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
import pytest

GNNSYNC = ["-m", "gnnsync.cli"]
ATTEMPTS = 3
HEAVY = ("torch", "pytorch_lightning", "hydra", "wandb", "pandas", "matplotlib", "networkx")


def loaded_by(code: str) -> set[str]:
    """The heavy libraries that are loaded once `code` has run in a new interpreter."""
    code += f"\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import gnnsync",
        "import gnnsync; gnnsync.MeasurementGraph, gnnsync.Solution, gnnsync.read",
        "import gnnsync.methods",
        "import gnnsync.data",
        "import gnnsync.cli.main",
        "import gnnsync\n"
        "graph = gnnsync.MeasurementGraph([[0, 1, 2], [1, 2, 0]], [0.1, 0.2, -0.3], 3)\n"
        "gnnsync.solve(graph, 'gpm')",
    ],
)
def test_nothing_heavy_is_loaded(code):
    assert loaded_by(code) == set()


def test_no_classical_method_loads_torch():
    """Nor does reading a file, a warm start, anchors or more edges."""
    code = """
import warnings
import numpy as np
import gnnsync
from gnnsync.methods import METHODS
warnings.simplefilter("ignore")
pairs = np.array([(i, j) for i in range(8) for j in range(i)])
angles = np.arange(8.0)
graph = gnnsync.as_graph((*pairs.T, angles[pairs[:, 0]] - angles[pairs[:, 1]]))
for name in METHODS:
    gnnsync.solve(graph, name)
solution = gnnsync.solve(graph, "auto", anchors={0: 1.0}, start=angles)
gnnsync.solve(graph.with_edges([8], [0], [0.5]), "irls", start=solution)
"""
    assert loaded_by(code) == set()


def test_the_check_sees_what_is_loaded():
    assert loaded_by("import networkx") == {"networkx"}


def seconds_of(arguments: list[str], code: int | None = 0) -> float:
    """Processor time of Python with these arguments: the least of a few runs.

    Processor time, with one thread, hardly depends on what else the machine is doing.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    times = []
    for _ in range(ATTEMPTS):
        before = getrusage(RUSAGE_CHILDREN)
        run = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True)
        assert code is None or run.returncode == code, run.stderr
        after = getrusage(RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [(["-c", "import gnnsync"], 1.0), ([*GNNSYNC, "--help"], 0.5)],
    ids=["import gnnsync", "gnnsync --help"],
)
def test_a_start_is_fast(arguments, limit):
    assert seconds_of(arguments) < limit


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [
        (["--help"], 0.6),
        (["--halp"], 0.6),
        (["dta.p=0.1"], 2.0),
        (["experiment=main_k1"], 2.0),
        (["data.p=2"], 2.0),
        (["-m", "data.q=1,2"], 2.0),
        (["loss.norm=foo"], 3.5),
    ],
    ids=str,
)
def test_run_answers_fast(arguments, limit, tmp_path, monkeypatch):
    """Help and typos without torch; a value that only a part of the network can judge without
    Lightning, which takes two seconds more."""
    monkeypatch.chdir(tmp_path)
    assert seconds_of([*GNNSYNC, "run", *arguments], code=None) < limit
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["--help"], ["dta.p=0.1"], ["-m", "data.q=1,2"]])
def test_a_typo_loads_nothing_heavy(arguments):
    code = f"import sys\nsys.argv[1:] = {arguments}\nfrom gnnsync.cli.run import main\nmain()"
    assert loaded_by(code) <= {"hydra"}


def test_a_small_file_is_solved_fast(tmp_path):
    nodes = np.arange(100)
    offsets = np.random.default_rng(0).uniform(0, 2 * np.pi, 100)
    table = np.column_stack([nodes, (nodes + 1) % 100, offsets])
    path, output = tmp_path / "offsets.csv", tmp_path / "angles.csv"
    np.savetxt(path, table, fmt=["%d", "%d", "%.6f"], delimiter=",")
    command = ["solve", str(path), "--method", "gpm", "--output", str(output)]
    assert seconds_of([*GNNSYNC, *command]) < 2.0
    assert output.exists()


def test_public_names_are_there_and_no_others():
    import gnnsync

    for name in gnnsync.__all__:
        assert getattr(gnnsync, name) is not None
    assert dir(gnnsync) == sorted(gnnsync.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        gnnsync.nothing  # noqa: B018


def test_solve_stays_the_function_whatever_is_imported():
    code = "import gnnsync\nfrom gnnsync.solve import find_method\nassert callable(gnnsync.solve)"
    subprocess.run([sys.executable, "-c", code], check=True)
