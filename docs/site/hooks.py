"""MkDocs hook: pages that are made from files elsewhere in the repository.

The front page is the README; the guide for contributors, the changelog and the benchmark tables are
shown as they are; the configuration reference is made from `conf/`, the API reference from the
names that the packages export. All are virtual files: nothing is written into `docs/`.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from api_reference import api_pages
from config_reference import config_page
from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# Files outside docs/ that are pages of the site: where they are, and the page they become.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/results/README.md": "benchmarks.md",
}
# Images outside docs/ that those pages show.
IMAGES = {"benchmarks/results/speed.png": "figures/speed.png"}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and images that do not live in `docs/`."""
    for source, page in PAGES.items():
        text = relink((ROOT / source).read_text(encoding="utf-8"), source, page)
        files.append(File.generated(config, page, content=text))
    for source, image in IMAGES.items():
        files.append(File.generated(config, image, abs_src_path=str(ROOT / source)))
    pages = {"reference/config.md": config_page(ROOT / "conf"), **api_pages(ROOT / "src/gnnsync")}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links that leave `docs/` at the pages of the site."""
    if page.file.generated_by:
        return markdown
    uri = page.file.src_uri
    return relink(markdown, f"docs/{uri}", uri)


def relink(markdown: str, source: str, page: str) -> str:
    """Links of the file `source` (relative to the repository) as links of the page `page`.

    A link to a file that the site does not show becomes plain text.
    """
    folder, here = posixpath.dirname(source), posixpath.dirname(page)

    def changed(match: re.Match[str]) -> str:
        image, text, target = match.groups()
        path, mark, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not path:
            return match.group(0)
        goal = _page_of(posixpath.normpath(posixpath.join(folder, path)))
        if goal is None:
            return text
        return f"{image}[{text}]({posixpath.relpath(goal, here or '.')}{mark}{anchor})"

    parts = _CODE.split(markdown)
    return "".join(p if _CODE.fullmatch(p) else _LINK.sub(changed, p) for p in parts)


def _page_of(path: str) -> str | None:
    """The page or image of the site that shows a file of the repository."""
    if path in PAGES or path in IMAGES:
        return PAGES.get(path) or IMAGES[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else None
