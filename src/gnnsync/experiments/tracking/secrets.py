"""Keys of tracking services: found in the config, and masked by value wherever text is written.

Secrets are values under `logger` whose name says so (`api_key`, `token`, ...), that come from the
environment (`${oc.env:...}`) or that look like a key, and variables of the environment with such
names. They are masked in messages, tracebacks and log files; configs and override lines that are
stored leave out `logger` altogether.
"""

from __future__ import annotations

import logging
import os
import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

MASK = "***"
_NAMED = re.compile(r"key|token|secret|passw|credential|auth|private|dsn", re.IGNORECASE)
# Without spaces and slashes, with a digit and a letter, and long: no name of a project.
_LIKE_A_KEY = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[^\s/\\]{20,}")
# Shorter values would be found inside ordinary words.
_SHORTEST = 6


@dataclass(frozen=True)
class Secrets:
    """The secrets of a job.

    Args:
        values: the texts to mask, the longest first.
    """

    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, cfg: DictConfig) -> Secrets:
        """Those of a composed config, and of the environment."""
        raw = OmegaConf.to_container(cfg, resolve=False)
        logger = raw.get("logger") if isinstance(raw, dict) else None
        found = {*_in_config(cfg, logger, "logger", secret=False), *_in_environment()}
        return cls(tuple(sorted(found, key=lambda value: (-len(value), value))))

    def masked(self, text: str) -> str:
        """The text with every secret replaced."""
        for value in self.values:
            text = text.replace(value, MASK)
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
    """Arguments of a command without the secrets in them, and without values of named keys."""
    return [secrets.masked(_without_value(text)) for text in arguments]


def _without_value(text: str) -> str:
    key, equals, _ = text.partition("=")
    inside = key.lstrip("+").startswith("logger.")
    return f"{key}={MASK}" if equals and inside and _NAMED.search(key) else text


def _in_config(cfg: DictConfig, node: Any, place: str, *, secret: bool) -> Iterator[str]:
    """Texts below a key of the unresolved config that are secrets."""
    if isinstance(node, dict):
        for name, child in node.items():
            named = secret or bool(_NAMED.search(str(name)))
            yield from _in_config(cfg, child, f"{place}.{name}", secret=named)
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield from _in_config(cfg, child, f"{place}[{index}]", secret=secret)
    elif isinstance(node, str | int) and not isinstance(node, bool):
        secret = secret or "oc.env" in str(node)
        try:
            value = str(OmegaConf.select(cfg, place))
        except OmegaConfBaseException:
            return
        if len(value) >= _SHORTEST and (secret or _LIKE_A_KEY.fullmatch(value)):
            yield value


def _in_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if re.search(r"API_?KEY|TOKEN|SECRET|PASSWORD", name) and len(value) >= _SHORTEST:
            yield value
