"""HTML pages that load nothing: style, script, images and data are within the file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any


def self_contained(package: str, title: str, script: str, parts: Mapping[str, str]) -> str:
    """The template `page.html` of a package with its style `page.css`, the script and the parts.

    The template has places @@TITLE@@, @@STYLE@@, @@SCRIPT@@, @@HASH@@ and @@NAME@@ for each part.
    Its content security policy allows the script of this hash alone.

    Args:
        package: where both files are.
        title: heading of the page, as plain text.
        script: JavaScript.
        parts: HTML or JSON by the name of its place; escaped already.
    """
    files = resources.files(package)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    texts = {
        "HASH": f"sha256-{digest}",
        "TITLE": html.escape(title),
        "STYLE": files.joinpath("page.css").read_text(encoding="utf-8"),
        "SCRIPT": script,
        **parts,
    }
    # Split once: a place within a part stays what it is.
    pieces = files.joinpath("page.html").read_text(encoding="utf-8").split("@@")
    return "".join(texts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def script_text(package: str, *names: str) -> str:
    """The scripts `NAME.js` of a package, one after the other."""
    files = resources.files(package)
    return "".join(files.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in names)


def script_json(content: Any) -> str:
    """JSON in which nothing can end the script element that holds it."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    for mark in "&<>":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def image_address(png: bytes) -> str:
    """The address of an image that is within the page."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
