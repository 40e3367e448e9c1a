"""Config groups and their choices, read from the folders of configs without loading Hydra."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from gnnsync.experiments.paths import conf_dir

_ENDING = ".yaml"


@dataclass(frozen=True)
class Groups:
    """The groups of some folders.

    A folder with configs is a group. The folders inside it hold further choices of the same group
    (`experiment=paper/main_k1`), unless the defaults of `config.yaml` name them (`data/angles`).

    Args:
        choices: by group, such as `model/encoder`, in alphabetical order.
    """

    choices: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, folders: Iterable[Path] = ()) -> Groups:
        """The groups of the package and of further folders, such as that of `--config-dir`."""
        named = _named_in_defaults()
        found: dict[str, set[str]] = {}
        for root in (conf_dir(), *folders):
            for path in _configs(root):
                if (place := _place(path, named)) is not None:
                    found.setdefault(place[0], set()).add(place[1])
        return cls({group: tuple(sorted(found[group])) for group in sorted(found)})

    def split(self, path: str) -> tuple[str, str]:
        """Group and choice of a path: `experiment` and `paper/main_k1`; any folder may be one."""
        parts = path.split("/")
        for length in range(len(parts) - 1, 0, -1):
            if (group := "/".join(parts[:length])) in self.choices:
                return group, "/".join(parts[length:])
        group, _, choice = path.rpartition("/")
        return group, choice

    def called(self, name: str) -> list[str]:
        """Groups whose last word is this name: `model/encoder` for `encoder`."""
        return [group for group in self.choices if group.rpartition("/")[2] == name]

    def having(self, choice: str) -> list[str]:
        """Every `GROUP=CHOICE` with this choice, or with one that ends in it after a slash."""
        return [
            f"{group}={other}"
            for group, choices in self.choices.items()
            for other in choices
            if other == choice or other.endswith(f"/{choice}")
        ]

    def suggestion(self, group: str, choice: str) -> str | None:
        """What was probably meant by `GROUP=CHOICE`, which does not exist."""
        inside = [text for text in self.having(choice) if text.startswith(f"{group}=")]
        below = [text for text in self.having(choice) if text.startswith(f"{group}/")]
        near = difflib.get_close_matches(choice, self.choices.get(group, ()), n=1)
        others = [text for text in self.having(choice) if not text.startswith("hydra/")]
        return next(iter([*inside, *below, *(f"{group}={c}" for c in near), *others]), None)


def _named_in_defaults() -> set[str]:
    content = yaml.safe_load((conf_dir() / "config.yaml").read_text(encoding="utf-8"))
    return {key for entry in content["defaults"] if isinstance(entry, dict) for key in entry}


def _configs(root: Path) -> Iterator[list[str]]:
    """The configs in a folder, each as the words of its path without the ending."""
    for path in sorted(root.rglob(f"*{_ENDING}")):
        yield list(path.relative_to(root).with_suffix("").parts)


def _place(path: list[str], named: set[str]) -> tuple[str, str] | None:
    """Group and choice of a config; None for those that are no choices, such as `config.yaml`."""
    if len(path) < 2 or (path[0] == "hydra" and len(path) < 3):
        return None
    # `model` and `hydra` hold no configs themselves: their groups are one level deeper.
    depth = 2 if path[0] in ("model", "hydra") else 1
    for length in range(len(path) - 1, depth, -1):
        if "/".join(path[:length]) in named:
            depth = length
            break
    return "/".join(path[:depth]), "/".join(path[depth:])
