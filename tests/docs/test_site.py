"""The documentation site: builds without a warning, and its references are complete."""

import ast
import html
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
GROUPS = sorted({path.parent.relative_to(CONF).as_posix() for path in CONF.rglob("*.yaml")} - {"."})
PACKAGES = ("methods", "learn", "data")
TOOLS = ("mkdocs", "material", "mkdocstrings")
needs_mkdocs = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in TOOLS),
    reason="MkDocs, its theme or mkdocstrings is not installed",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def identifiers(page: Path) -> set[str]:
    return {html.unescape(name) for name in re.findall(r'\bid="([^"]+)"', page.read_text("utf-8"))}


def public_classes(package: str) -> list[str]:
    """Classes among the names that a package and its sub-packages export, by their own names."""
    folder = ROOT / "src/gnnsync" / package
    classes = {
        node.name
        for path in folder.rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    names = []
    for init in (folder / "__init__.py", *sorted(folder.glob("*/__init__.py"))):
        home = ".".join(["gnnsync", *init.parent.relative_to(ROOT / "src/gnnsync").parts])
        text = re.search(r"^__all__ = (\[.*?\])", init.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        names += (
            [f"{home}.{n}" for n in ast.literal_eval(text.group(1)) if n in classes] if text else []
        )
    return names


@needs_mkdocs
def test_every_guide_is_a_page_of_the_site(site):
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert {page for page in pages if not (site / page / "index.html").is_file()} == set()
    assert {"contributing", "changelog", "benchmarks"} <= {path.name for path in site.iterdir()}
    assert "Angular synchronization" in (site / "index.html").read_text("utf-8")


@needs_mkdocs
def test_the_configuration_reference_has_every_group_choice_and_key(site):
    page = site / "reference/config/index.html"
    found = identifiers(page)
    assert {group for group in GROUPS if group.replace("/", "") not in found} == set()
    text = page.read_text("utf-8")
    headings = set(re.findall(r'<h3 id="[^"]+">([^<]+)<', text))
    assert {path.stem for path in CONF.rglob("*/*.yaml")} <= headings
    assert "<code>data.eta</code>" in text
    assert "<code>trials</code>" in text
    assert "independent trainings per network" in text


@needs_mkdocs
@pytest.mark.parametrize("package", PACKAGES)
def test_the_api_reference_has_every_public_class(site, package):
    found = identifiers(site / f"api/{package}/index.html")
    classes = public_classes(package)
    assert classes
    assert {name for name in classes if name not in found} == set()


@needs_mkdocs
def test_links_that_leave_the_docs_lead_to_pages_or_become_text(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/site")
    relink = importlib.import_module("hooks").relink
    assert relink("[a](docs/files.md#x)", "README.md", "index.md") == "[a](files.md#x)"
    assert relink("[a](../README.md)", "docs/files.md", "files.md") == "[a](index.md)"
    assert relink("[a](LICENSE)", "README.md", "index.md") == "a"
    assert relink("![a](speed.png)", "benchmarks/results/README.md", "benchmarks.md") == (
        "![a](figures/speed.png)"
    )
    untouched = "[a](https://example.org) [b](#c)\n```text\n[a](LICENSE)\n```\n"
    assert relink(untouched, "README.md", "index.md") == untouched


@needs_mkdocs
def test_formulas_are_not_shown_as_source(site):
    pages = [path.read_text("utf-8") for path in (site / "api").rglob("*.html")]
    assert not [page for page in pages if ".. math" in page or ":math:" in page]
    assert any("<math" in page or "<code>z \\leftarrow" in page for page in pages)


@needs_mkdocs
def test_pages_load_nothing_from_other_servers(site):
    """The site can be read offline."""
    loads = re.compile(r"""<(?:script|img|iframe|source)[^>]*?\bsrc=["']?(?:https?:)?//[^\s"'>]+""")
    styles = re.compile(r"""<link[^>]*rel=["']?stylesheet[^>]*href=["']?(?:https?:)?//[^\s"'>]+""")
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert loads.findall(text) + styles.findall(text) == [], page
