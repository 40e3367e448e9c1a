"""The arguments of `gnnsync run`: its help, and checks that need no config to be composed."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator
from pathlib import Path

from gnnsync.errors import ConfigError
from gnnsync.experiments.config.groups import Groups

# Hydra's options, and ours. The value says whether a word may follow.
OPTIONS = {
    "--help": False,
    "-h": False,
    "--hydra-help": False,
    "--version": False,
    "--cfg": True,
    "-c": True,
    "--resolve": False,
    "--package": True,
    "-p": True,
    "--run": False,
    "-r": False,
    "--multirun": False,
    "-m": False,
    "--shell-completion": False,
    "-sc": False,
    "--config-path": True,
    "-cp": True,
    "--config-name": True,
    "-cn": True,
    "--config-dir": True,
    "-cd": True,
    "--experimental-rerun": True,
    "--info": True,
    "-i": True,
    "--verbose": False,
    "-v": False,
}
# Of these Hydra takes one.
_MODES = (("-m", "--multirun"), ("--run", "-r"), ("--cfg", "-c"), ("--info", "-i"))
_WIDTH = 100

_HEADER = """\
usage: gnnsync run [-m] [-v] [GROUP=CHOICE ...] [KEY=VALUE ...]

Runs the job that the config describes: data, method, result row. -m runs every combination of
comma-separated values as a sweep; -v prints the whole config of a job.

  gnnsync run data=rggo data.p=0.15 data.eta=0.3 data.k=3 loss=cycle
  gnnsync run -m method=gnnsync,irls,gpm data.eta=0.2,0.4,0.6,0.8 sweep=first
  gnnsync run -m experiment=paper/main_k1 hydra/launcher=joblib

Groups and their choices:
"""
_FOOTER = """
`gnnsync run --cfg job` prints every key of the config; `gnnsync run --hydra-help` lists the
options of Hydra. `gnnsync list` and `gnnsync show RUN` show what has been run."""


def help_text(arguments: list[str]) -> str:
    """What `gnnsync run --help` prints: usage, groups and choices, also those of `--config-dir`."""
    groups = Groups.of(config_dirs(arguments)).choices
    lines = [
        textwrap.fill(
            f"{group}: {', '.join(choices)}",
            _WIDTH,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for group, choices in groups.items()
        if not group.startswith("hydra/") or group == "hydra/launcher"
    ]
    return "\n".join([_HEADER, *lines, _FOOTER])


def asks_for_help(arguments: list[str]) -> bool:
    """Whether `--help` is among the arguments."""
    return any(text in ("--help", "-h") for text in arguments)


def check_arguments(arguments: list[str]) -> None:
    """Refuse unknown options, words that are no override, and groups written with dots."""
    groups: Groups | None = None
    _check_exclusive(arguments)
    for kind, text in _classified(arguments):
        if kind == "option":
            _check_option(text)
        if kind != "override":
            continue
        key, equals, value = text.partition("=")
        if not equals and not key.startswith("~"):
            groups = groups or Groups.of(config_dirs(arguments))
            raise ConfigError(_no_override(text, groups))
        if "." in key and value.replace("_", "").isalnum():
            groups = groups or Groups.of(config_dirs(arguments))
            group = key.lstrip("+").replace(".", "/")
            if value in groups.choices.get(group, ()):
                raise ConfigError(
                    f"{text}: a choice of a group has a slash: did you mean {group}={value}?"
                )


def config_dirs(arguments: list[str]) -> list[Path]:
    """The folder given with `--config-dir FOLDER` or `--config-dir=FOLDER`, if there is one."""
    given = option_value(arguments, "--config-dir", "-cd")
    return [] if given is None else [Path(given)]


def option_value(arguments: list[str], *names: str) -> str | None:
    """The value of an option, as `--option VALUE` or `--option=VALUE`; None if it is not there."""
    for place, option in enumerate(arguments):
        name, equals, value = option.partition("=")
        if name in names:
            return value if equals else "".join(arguments[place + 1 : place + 2])
    return None


def overrides_in(arguments: list[str]) -> list[str]:
    """The arguments that are overrides."""
    return [text for kind, text in _classified(arguments) if kind == "override"]


def in_order(arguments: list[str]) -> list[str]:
    """Options and their values before the overrides, which Hydra takes in one block only."""
    kinds = list(_classified(arguments))
    options = [text for kind, text in kinds if kind != "override"]
    return options + [text for kind, text in kinds if kind == "override"]


def _classified(arguments: list[str]) -> Iterator[tuple[str, str]]:
    """Every argument as `option`, `value` (of the option before it) or `override`."""
    takes_value = False
    for text in arguments:
        if text.startswith("-"):
            takes_value = OPTIONS.get(text, False)
            yield "option", text
        elif takes_value and "=" not in text:
            takes_value = False
            yield "value", text
        else:
            takes_value = False
            yield "override", text


def _check_exclusive(arguments: list[str]) -> None:
    given = [text.partition("=")[0] for text in arguments]
    modes = [names[0] for names in _MODES if any(name in given for name in names)]
    if len(modes) > 1:
        raise ConfigError(f"{modes[0]} and {modes[1]}: give one of them")


def _check_option(text: str) -> None:
    name = text.partition("=")[0]
    # Hydra accepts the beginning of a long option.
    known = name in OPTIONS or (
        name.startswith("--") and sum(option.startswith(name) for option in OPTIONS) == 1
    )
    if not known:
        near = difflib.get_close_matches(name, OPTIONS, n=1)
        hint = f"did you mean {near[0]}?" if near else "`gnnsync run --hydra-help` lists them"
        raise ConfigError(f"{name}: no such option; {hint}")


def _no_override(text: str, groups: Groups) -> str:
    meant = [name for name in groups.having(text) if not name.startswith("hydra/")]
    hint = f"; did you mean {meant[0]}?" if meant else ""
    return f"{text}: must be GROUP=CHOICE or KEY=VALUE{hint}"
