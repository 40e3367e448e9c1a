"""What `import gnnsync` and the light commands load: nothing heavy before it is used."""

import subprocess
import sys

import pytest

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


def test_the_check_sees_what_is_loaded():
    assert loaded_by("import networkx") == {"networkx"}


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
