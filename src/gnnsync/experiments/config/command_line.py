"""Adding an override to the arguments of `gnnsync run`. This module loads nothing."""

from __future__ import annotations


def with_override(arguments: list[str], override: str) -> list[str]:
    """The arguments with one more override, beside the others: Hydra takes them in one block."""
    places = [i for i, text in enumerate(arguments) if "=" in text and not text.startswith("-")]
    place = places[-1] + 1 if places else len(arguments)
    return [*arguments[:place], override, *arguments[place:]]
