"""The architecture: layers, cycles, and which library may be imported where.

Every import statement of the package is read from its source, those inside functions included;
imports under `if TYPE_CHECKING:` are for the type checker and do not count. The Hydra plugins
beside the package are read as well for private modules and for imports without a reason.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import gnnsync

PACKAGE = Path(gnnsync.__file__).parent
SOURCES = PACKAGE.parent
LAYERS = {
    1: "errors angles typing units work anchors graph pose_graph topology linalg solution metrics "
    "noise_law limits rigidity distance_network positions position_tables position_limits "
    "plots io",
    2: "methods learn data localization solve locate",
    3: "results experiments report cli",
}
LAYER = {room: layer for layer, rooms in LAYERS.items() for room in rooms.split()}
# The lowest layer that may import these.
LOWEST = {"hydra": 3, "omegaconf": 3, "wandb": 3, "hydra_plugins": 3}
LIGHTNING = {"pytorch_lightning", "lightning", "lightning_fabric"}
# The logger of W&B extends Lightning's, and cannot be below layer 3, where W&B may be imported.
LIGHTNING_MODULES = (
    "learn.",
    "data.datamodules.",
    "data.stream.datamodule.",
    "experiments.tracking.wandb_logger.",
)
MODULES = sorted(PACKAGE.rglob("*.py"))
PLUGINS = sorted((SOURCES / "hydra_plugins" / "hydra_gnnsync").rglob("*.py"))
# Private modules of other packages that are imported all the same; the reason is beside the import.
PRIVATE = {"ray_launcher.py": "hydra_plugins.hydra_ray_launcher._launcher_util"}
REASON = re.compile(r"# (?!noqa|type:)")


def name_of(path: Path) -> str:
    """Dotted name of a module below the package: `methods.auto`; the package itself is ``""``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


KNOWN = {name_of(path) for path in MODULES}


def imported(source: str) -> Iterator[tuple[str, bool]]:
    """Dotted names that the import statements of a source name, and whether inside a function."""
    tree = ast.parse(source)
    skipped: set[int] = set()
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            skipped |= {id(child) for child in ast.walk(node)}
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside |= {id(child) for child in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports are not used"
            yield from ((f"{node.module}.{alias.name}", id(node) in inside) for alias in node.names)


def own(name: str) -> str | None:
    """The module of the package that a dotted name is, or is in; None for other packages."""
    first, _, rest = name.partition(".")
    if first != "gnnsync":
        return None
    while rest and rest not in KNOWN:
        rest = rest.rpartition(".")[0]
    return rest


def room(module: str) -> str:
    return module.partition(".")[0]


def edges(*, at_import_only: bool = False) -> dict[str, set[str]]:
    """Which module of the package imports which."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in MODULES:
        for name, inside in imported(path.read_text(encoding="utf-8")):
            target = own(name)
            if target and not (at_import_only and inside):
                found[name_of(path)].add(target)
    return found


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """The nodes of one cycle; empty if there is none."""
    state: dict[str, int] = {}

    def visit(node: str, way: list[str]) -> list[str]:
        state[node] = 1
        for other in sorted(graph.get(node, ())):
            if state.get(other) == 1:
                return [*way[way.index(other) :], other] if other in way else [other]
            if other not in state and (found := visit(other, [*way, other])):
                return found
        state[node] = 2
        return []

    for node in sorted(graph):
        if node not in state and (found := visit(node, [node])):
            return found
    return []


def test_every_room_has_a_layer():
    assert {room(name) for name in KNOWN} - {""} == set(LAYER)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_is_imported_upward_or_where_it_is_forbidden(path):
    here = room(name_of(path))
    layer = LAYER.get(here, 3)
    for name, _ in imported(path.read_text(encoding="utf-8")):
        target, library = own(name), name.partition(".")[0]
        if target:
            assert LAYER[room(target)] <= layer, f"{here} (layer {layer}) imports {target}"
        assert LOWEST.get(library, 1) <= layer, f"{here} (layer {layer}) imports {library}"
        if library in LIGHTNING:
            assert f"{name_of(path)}.".startswith(LIGHTNING_MODULES), f"{here} imports {library}"


def private(name: str) -> bool:
    """Whether a dotted name is, or is in, a private module or is a private name of one."""
    parts = name.split(".")
    return any(part.startswith("_") and not part.startswith("__") for part in parts)


@pytest.mark.parametrize(
    "path", [*MODULES, *PLUGINS], ids=lambda path: str(path.relative_to(SOURCES))
)
def test_nothing_private_is_imported(path):
    allowed = PRIVATE.get(path.name, "-")
    for name, _ in imported(path.read_text(encoding="utf-8")):
        assert not private(name) or name.startswith(f"{allowed}."), f"{name} is private"


def unexplained(source: str) -> list[int]:
    """Lines with an import inside a function and no reason beside it.

    A reason is a comment on the line of the import, or above the run of imports that it is in, or
    a comment of the whole module that speaks of imports.
    """
    lines = source.splitlines()
    module_comments = " ".join(line for line in lines if line.startswith("#"))
    if "imported where it is used" in module_comments:
        return []
    tree = ast.parse(source)
    found = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for block in blocks(function):
            explained = False
            for previous, node in zip([None, *block], block, strict=False):
                if not isinstance(node, ast.Import | ast.ImportFrom):
                    continue
                follows = isinstance(previous, ast.Import | ast.ImportFrom)
                above = lines[node.lineno - 2].strip().startswith("#")
                beside = any(
                    REASON.search(line) for line in lines[node.lineno - 1 : node.end_lineno]
                )
                explained = above or beside or (follows and explained)
                if not explained:
                    found.add(node.lineno)
    return sorted(found)


def blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """All lists of statements within a function."""
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield block


@pytest.mark.parametrize(
    "path", [*MODULES, *PLUGINS], ids=lambda path: str(path.relative_to(SOURCES))
)
def test_an_import_inside_a_function_has_a_reason(path):
    assert unexplained(path.read_text(encoding="utf-8")) == []


def test_the_check_sees_what_has_no_reason():
    source = "def f():\n    import a\n    import b  # slow\n    import c\n    x = 1\n    import d\n"
    assert unexplained(source) == [2, 6]
    assert unexplained("def f():\n    if x:\n        # Slow.\n        from a import b\n") == []
    assert unexplained("def f():\n    import a  # noqa: F401\n") == [2]
    assert private("hydra._internal.utils")
    assert private("a.b._c")
    assert not private("gnnsync.__version__")


def test_no_cycle_between_rooms():
    rooms: dict[str, set[str]] = defaultdict(set)
    for module, targets in edges().items():
        rooms[room(module)] |= {room(t) for t in targets if room(t) != room(module)}
    rooms.pop("", None)  # the package's own face imports whatever it shows
    # `Solution.plot` draws itself; `plots` knows of solutions by type only.
    assert cycle_in(rooms) == []


def test_no_cycle_between_modules():
    """A package's `__init__` names what is in it, and is left out; everything else has an order."""
    packages = {name_of(path) for path in MODULES if path.name == "__init__.py"}
    modules = {a: {b for b in bs if b not in packages} for a, bs in edges().items()}
    assert cycle_in({a: bs for a, bs in modules.items() if a not in packages}) == []


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"a": {"b"}, "b": {"c"}}, False),
        ({"a": {"b"}, "b": {"a"}}, True),
        ({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": {"c"}}, True),
    ],
)
def test_the_check_sees_cycles(graph, found):
    assert bool(cycle_in(graph)) == found


def test_the_check_sees_every_form_of_import():
    source = "import hydra\ndef f():\n    import wandb.sdk\n    from gnnsync.graph import x\n"
    source += "if TYPE_CHECKING:\n    from gnnsync.cli import main\n"
    names = dict(imported(source))
    assert names == {"hydra": False, "wandb.sdk": True, "gnnsync.graph.x": True}
    assert own("gnnsync.graph.x") == "graph"
    assert own("hydra") is None
