"""The configuration reference: every group, choice and key of `conf/`, with its comment.

The comments are read from the YAML files themselves, so the page cannot differ from the configs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

INTRODUCTION = """\
# Configuration

`gnnsync run` composes one config from the groups below with Hydra. `GROUP=CHOICE` selects a choice,
`KEY=VALUE` sets a key, and `-m` accepts several values separated by commas. `gnnsync run --help`
lists the groups and choices of the installed version.

This page is made from the comments in `conf/`.
"""
# Keys that say how an object is built rather than what it is.
_STRUCTURE = ("_target_", "_partial_", "_convert_")


@dataclass
class Choice:
    """One YAML file: its opening comment, the configs it builds on, and its keys."""

    name: str
    about: str = ""
    package: str = ""
    target: str = ""
    defaults: list[tuple[str, str]] = field(default_factory=list)
    keys: list[tuple[str, str, str]] = field(default_factory=list)


def config_page(folder: Path) -> str:
    """The reference page of a folder of configs, as Markdown."""
    groups: dict[str, list[Choice]] = {}
    for path in sorted(folder.rglob("*.yaml")):
        group = path.parent.relative_to(folder).as_posix()
        groups.setdefault(group, []).append(read_choice(path, group))
    (main,) = groups.pop(".")
    lines = [
        INTRODUCTION,
        "## Defaults",
        "",
        "| group | default | what it chooses |",
        "|---|---|---|",
    ]
    for name, comment in main.defaults:
        group, _, choice = name.partition(": ")
        if choice and not group.startswith("override"):
            lines.append(f"| {_link(group, groups)} | `{choice}` | {_cell(comment)} |")
    lines += ["", *_table(main.keys), ""]
    for group, choices in groups.items():
        lines += [f"## {group}", ""]
        for choice in choices:
            lines += _section(choice)
    return "\n".join(lines)


def read_choice(path: Path, group: str) -> Choice:
    """Read one YAML file with its comments."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    package = re.search(r"^# @package (\S+)", text, re.MULTILINE)
    prefix = package.group(1) if package else group.replace("/", ".").strip(".")
    prefix = "" if prefix == "_global_" else prefix
    choice = Choice(path.stem, about=_about(lines), package=prefix)
    root = yaml.compose(text)
    if not isinstance(root, yaml.MappingNode):
        return choice
    for key, value in root.value:
        if key.value == "defaults":
            choice.defaults = [(_plain(item), _beside(lines, item)) for item in value.value]
        elif key.value == "_target_":
            choice.target = value.value
        else:
            choice.keys += _keys(key, value, prefix, lines)
    return choice


def _keys(
    key: yaml.Node, value: yaml.Node, prefix: str, lines: list[str]
) -> Iterator[tuple[str, str, str]]:
    """Dotted name, default and comment of a key and of those below it."""
    name = f"{prefix}.{key.value}".strip(".")
    if isinstance(value, yaml.MappingNode) and value.value:
        for inner, below in value.value:
            if inner.value == "_target_":
                yield name, below.value, _beside(lines, key) or _beside(lines, below)
            elif inner.value not in _STRUCTURE:
                yield from _keys(inner, below, name, lines)
    elif key.value not in _STRUCTURE:
        comment = _beside(lines, value) if value.value else _beside(lines, key)
        yield name, _plain(value), comment or _above(lines, key)


def _plain(node: yaml.Node) -> str:
    """The value as it is written in one line of YAML."""
    if isinstance(node, yaml.ScalarNode):
        return " ".join(str(node.value).split()) or "null"
    if isinstance(node, yaml.SequenceNode):
        return f"[{', '.join(_plain(item) for item in node.value)}]"
    return ", ".join(f"{_plain(key)}: {_plain(value)}" for key, value in node.value) or "{}"


def _beside(lines: list[str], node: yaml.Node) -> str:
    """The comment on the line on which a node ends (on which it starts, if it is a block)."""
    mark = node.start_mark if isinstance(node, yaml.CollectionNode) else node.end_mark
    line = lines[mark.line] if mark.line < len(lines) else ""
    comment = re.search(r"(?:^|\s)#\s*(.*)$", line[mark.column :])
    return comment.group(1).strip() if comment else ""


def _above(lines: list[str], node: yaml.Node) -> str:
    """The comment lines directly above a node; the file's opening comment is not one of them."""
    end = node.start_mark.line
    start = end
    while start and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return " ".join(line.lstrip(" #") for line in lines[start:end]) if start else ""


def _about(lines: list[str]) -> str:
    """The opening comment: its sentences, and the indented commands in it as code."""
    found: list[str] = []
    for line in lines:
        if not line.startswith("#"):
            break
        text = line.removeprefix("#").removeprefix(" ")
        if not text.startswith("@package"):
            found.append(f"`{text.strip()}`" if text.startswith("  ") else text)
    return " ".join(found)


def _section(choice: Choice) -> list[str]:
    lines = [f"### {choice.name}", ""]
    if choice.about:
        lines += [choice.about, ""]
    if choice.target:
        lines += [f"Builds `{choice.target}`.", ""]
    base = [name for name, _ in choice.defaults if name != "_self_"]
    if base:
        lines += ["Based on " + ", ".join(f"`{name}`" for name in base) + ".", ""]
    return lines + _table(choice.keys)


def _table(keys: list[tuple[str, str, str]]) -> list[str]:
    if not keys:
        return []
    rows = [f"| `{name}` | `{_cell(value)}` | {_cell(comment)} |" for name, value, comment in keys]
    return ["| key | default | meaning |", "|---|---|---|", *rows, ""]


def _link(group: str, groups: dict[str, list[Choice]]) -> str:
    return f"[`{group}`](#{group.replace('/', '')})" if group in groups else f"`{group}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
