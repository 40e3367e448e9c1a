"""Tables in Markdown files that a command renews."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gnnsync.io.files import write_text


def renew(path: Path, texts: Mapping[str, str]) -> None:
    """Put each text between the comments of its mark, where the file has them."""
    page = path.read_text(encoding="utf-8")
    for mark, text in texts.items():
        if f"<!-- {mark} -->" in page:
            page = inserted(page, mark, text)
    write_text(path, page)


def inserted(page: str, mark: str, text: str) -> str:
    """The page with the text between `<!-- MARK -->` and `<!-- end of MARK -->`."""
    first, last = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    if page.count(first) != 1 or page.count(last) != 1:
        raise SystemExit(f"the page has not one {first} and one {last}")
    before, _, rest = page.partition(first)
    return before + f"{first}\n\n{text}\n\n{last}" + rest.partition(last)[2]
