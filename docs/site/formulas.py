"""Griffe extension: formulas in docstrings as MathML, which browsers show without a script.

Docstrings write formulas as in reStructuredText: a block `.. math::` or a role `:math:`. Without
the package latex2mathml they are shown as code.
"""

from __future__ import annotations

import html
import re
from typing import Any

import griffe

try:
    from latex2mathml.converter import convert
except ImportError:
    convert = None

_BLOCK = re.compile(r"^([ \t]*)\.\. math::(.*(?:\n\1[ \t]+\S.*|\n[ \t]*(?=\n\1[ \t]+\S))*)", re.M)
_INLINE = re.compile(r":math:`([^`]+)`")


class Formulas(griffe.Extension):
    """Rewrite the formulas of every docstring when its object has been read."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Replace the docstring's text; it is parsed later."""
        if obj.docstring is not None:
            obj.docstring.value = with_formulas(obj.docstring.value)


def with_formulas(text: str) -> str:
    """A docstring whose formulas are HTML."""
    text = _BLOCK.sub(lambda m: f"{m[1]}<p>{_formula(m[2], display='block')}</p>\n", text)
    # Markdown takes `<math>` at the start of a line for a block of its own.
    return _INLINE.sub(lambda m: f"<span>{_formula(m[1], display='inline')}</span>", text)


def _formula(source: str, display: str) -> str:
    source = " ".join(source.split())
    if convert is None:
        return f"<code>{html.escape(source)}</code>"
    return " ".join(convert(source, display=display).split())
