"""The API reference: one page per package, made from the names that it exports.

The source is read, not imported, so that the site can be built without PyTorch.
"""

from __future__ import annotations

import ast
from pathlib import Path

# Page of the site → its title and the packages and modules that it shows.
PAGES = {
    "api/gnnsync.md": ("gnnsync", ["gnnsync"]),
    "api/base.md": (
        "Metrics, limits, errors",
        ["gnnsync.metrics", "gnnsync.limits", "gnnsync.topology", "gnnsync.errors"],
    ),
    "api/data.md": ("Data", ["gnnsync.data"]),
    "api/methods.md": ("Methods", ["gnnsync.methods"]),
    "api/learn.md": ("Learned methods", ["gnnsync.learn"]),
    "api/io.md": ("Files", ["gnnsync.io"]),
    "api/plots.md": ("Plots", ["gnnsync.plots"]),
}


def api_pages(package: Path) -> dict[str, str]:
    """Markdown of every API page; sub-packages that export names follow their parent."""
    return {name: _page(package, *shown) for name, shown in PAGES.items()}


def exported(init: Path) -> list[str]:
    """The public names in `__all__` of a package, in their order; none without `__all__`."""
    for node in ast.parse(init.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.Assign):
            continue
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            names = ast.literal_eval(node.value)
            return [name for name in names if not name.startswith("_")]
    return []


def _page(package: Path, title: str, shown: list[str]) -> str:
    lines = [f"# {title}", ""]
    for name in shown:
        for item in _items(package, name):
            lines += [f"::: {item}", ""]
    return "\n".join(lines)


def _items(package: Path, name: str) -> list[str]:
    """What a page shows of a module or package: its exported names; without any, its modules."""
    path = package.joinpath(*name.split(".")[1:])
    if not path.is_dir():
        return [name]
    found = [f"{name}.{item}" for item in exported(path / "__init__.py")]
    if name == "gnnsync":
        return found
    for inner in sorted(path.glob("*/__init__.py")):
        found += [f"{name}.{inner.parent.name}.{item}" for item in exported(inner)]
    return found or [f"{name}.{p.stem}" for p in sorted(path.glob("*.py")) if p.stem[0] != "_"]
