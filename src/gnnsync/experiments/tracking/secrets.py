"""Keys of tracking services: found in the config, and masked by value wherever text is written.

Secrets are values under `logger` whose name says so (`api_key`, `token`, ...), that come from the
environment (`${oc.env:...}`), that look like a key or are a password or token in an address;
values of the plainest such names anywhere in the config; and variables of the environment with
such names.
They are masked in messages, tracebacks, printed configs and log files; configs and override lines
that are stored leave out `logger` altogether.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

MASK = "***"
# Names of keys under `logger`, and of keys anywhere.
_NAMED = re.compile(r"key|token|secret|passw|credential|auth|private|dsn", re.IGNORECASE)
_PLAIN = re.compile(r"api_?key|token$|secret|password|credential", re.IGNORECASE)
# Without spaces and slashes, with a digit and a letter, and long: no name of a project.
_LIKE_A_KEY = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[^\s/\\]{20,}")
# https://user:password@host, https://token@host and https://host/path?token=value
_IN_ADDRESS = re.compile(
    r"://[^\s/@:]*:([^\s/@]+)@"
    r"|://([^\s/@:]{16,})@"
    r"|[?&][^\s=&]*(?:key|token|secret|passw|auth|sig)[^\s=&]*=([^\s&#'\"]+)",
    re.IGNORECASE,
)
# Shorter values would be found inside ordinary words: they are masked beside their name only.
_SHORTEST = 6
_NO_SECRETS = ("null", "None", "true", "false", "True", "False", "???", MASK)
# A key and its value within a dictionary on the command line.
_ENTRY = re.compile(r"([\w-]+)['\"]?\s*:\s*['\"]?([^,{}\[\]\s'\"]+)")


@dataclass(frozen=True)
class Secrets:
    """The secrets of a job or a command.

    Args:
        values: the texts to mask, the longest first.
        short: texts that are masked where they follow their name: (name, value).
    """

    values: tuple[str, ...] = ()
    short: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, cfg: DictConfig) -> Secrets:
        """Those of a composed config, and of the environment."""
        raw = OmegaConf.to_container(cfg, resolve=False)
        return cls._sorted([*_in_config(cfg, raw), *_in_environment()])

    @classmethod
    def in_arguments(cls, arguments: Iterable[str]) -> Secrets:
        """Those of a command line, which need not be right, and of the environment."""
        found = [pair for text in arguments for pair in _in_override(text)]
        return cls._sorted([*found, *_in_environment()])

    @classmethod
    def _sorted(cls, found: Iterable[tuple[str, str]]) -> Secrets:
        pairs = {(name, value) for name, value in found if value and value not in _NO_SECRETS}
        long = {value for _, value in pairs if len(value) >= _SHORTEST}
        short = {pair for pair in pairs if len(pair[1]) < _SHORTEST}
        return cls(
            tuple(sorted(long, key=lambda value: (-len(value), value))),
            tuple(sorted(short, key=lambda pair: (-len(pair[1]), pair))),
        )

    def __or__(self, other: Secrets) -> Secrets:
        long = [("", value) for value in (*self.values, *other.values)]
        return Secrets._sorted([*long, *self.short, *other.short])

    def masked(self, text: str) -> str:
        """The text with every secret replaced."""
        for value in self.values:
            if value in text:
                text = text.replace(value, MASK)
            elif len(words := value.split()) > 1:  # YAML breaks long lines
                text = re.sub(r"\s+".join(map(re.escape, words)), MASK, text)
        for name, value in self.short:
            beside = rf"({re.escape(name)}['\"]?\s*[:=]\s*['\"]?){re.escape(value)}(?!\w)"
            text = re.sub(beside, rf"\g<1>{MASK}", text)
        return text

    def traceback(self, error: BaseException) -> str | None:
        """The traceback of an error, masked, chained ones included; None if it has no secret."""
        text = "".join(traceback.format_exception(error))
        masked = self.masked(text)
        return None if masked == text else masked


class MaskingFilter(logging.Filter):
    """Masks secrets in the messages and tracebacks of log records."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self.secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        """Change a record that has a secret; none is dropped."""
        message = record.getMessage()
        if (masked := self.secrets.masked(message)) != message:
            record.msg, record.args = masked, None
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and (text := self.secrets.traceback(error)) is not None:
            record.exc_text = text.rstrip()
        return True


class ArgumentsFilter(MaskingFilter):
    """Masks what the command line and the environment hold; for Hydra's own messages."""

    def __init__(self) -> None:
        super().__init__(Secrets.in_arguments(sys.argv[1:]))


class MaskedStream:
    """A text file in which secrets are masked, for what is printed.

    Args:
        file: where the text goes.
        secrets: those to mask.
    """

    def __init__(self, file: TextIO, secrets: Secrets) -> None:
        self.file, self.secrets = file, secrets

    def write(self, text: str) -> int:
        """Write the masked text."""
        self.file.write(self.secrets.masked(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def masked_arguments(arguments: list[str], secrets: Secrets) -> list[str]:
    """Arguments of a command without the secrets in them."""
    hidden = secrets | Secrets.in_arguments(arguments)
    return [hidden.masked(text) for text in arguments]


def _is_named(name: str, *, inside: bool) -> bool:
    return bool((_NAMED if inside else _PLAIN).search(name))


def _in_override(text: str) -> Iterator[tuple[str, str]]:
    """Names and values of one override that are secrets."""
    key, equals, value = text.partition("=")
    parts = re.split(r"[./@]", key.lstrip("+~"))
    if not equals:
        return
    inside, name = parts[0] == "logger", parts[-1]
    if any(_is_named(part, inside=inside) for part in parts[inside:]):
        yield name, value.strip()
        for one in value.split(","):
            yield name, one.strip().strip("'\"")
    for entry in _ENTRY.finditer(value):
        if _is_named(entry[1], inside=inside):
            yield entry[1], entry[2]
    if inside:
        for word in re.split(r"[,{}\[\]'\"]", value):
            yield from ((name, found) for found in _recognised(word.rpartition(":")[2].strip()))
        yield from ((name, found) for found in _in_addresses(value))


def _recognised(value: str) -> list[str]:
    """The parts of a value under `logger` that are secret by their look."""
    look = [value] if _LIKE_A_KEY.fullmatch(value) and not value.startswith("${") else []
    return look + _in_addresses(value)


def _in_addresses(value: str) -> list[str]:
    """Passwords and tokens in addresses."""
    return [found[found.lastindex or 0] for found in _IN_ADDRESS.finditer(value)]


def _in_config(
    cfg: DictConfig, node: Any, place: str = "", *, inside: bool = False, secret: bool = False
) -> Iterator[tuple[str, str]]:
    """Names and values below a key of the unresolved config that are secrets."""
    if isinstance(node, dict):
        for name, child in node.items():
            below = f"{place}.{name}" if place else str(name)
            under = inside or below == "logger"
            named = secret or (below != "logger" and _is_named(str(name), inside=under))
            yield from _in_config(cfg, child, below, inside=under, secret=named)
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield from _in_config(cfg, child, f"{place}[{index}]", inside=inside, secret=secret)
    elif isinstance(node, str | int) and not isinstance(node, bool) and (secret or inside):
        secret = secret or "oc.env" in str(node)
        try:
            value = str(OmegaConf.select(cfg, place))
        except OmegaConfBaseException:
            return
        name = place.rpartition(".")[2]
        yield from ((name, text) for text in ([value] if secret else _recognised(value)))


def _in_environment() -> Iterator[tuple[str, str]]:
    for name, value in os.environ.items():
        if re.search(r"API_?KEY|TOKEN|SECRET|PASSWORD", name) and len(value) >= _SHORTEST:
            yield name, value
