"""Loggers that raise errors with their key in the message; jobs import them by name."""

from __future__ import annotations

from typing import Any

from pytorch_lightning.loggers import Logger


class LeakingLogger(Logger):
    """Fails when it is used, or, with `early`, when it is made.

    Args:
        save_dir: not used.
        api_key: repeated in errors, in print and in a chained traceback.
        early: fail at once.
    """

    def __init__(self, save_dir: str, api_key: str, early: bool = False) -> None:
        super().__init__()
        self.api_key = api_key
        if early:
            raise ValueError(f"bad key {api_key}")

    @property
    def name(self) -> str:
        return "leaking"

    @property
    def version(self) -> str:
        return "0"

    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        print(f"connecting with {self.api_key}")
        try:
            raise ConnectionError(f"401 for {self.api_key}")
        except ConnectionError as error:
            raise RuntimeError(f"no access: {self.api_key}") from error

    def log_metrics(self, metrics: Any, step: int | None = None) -> None:
        """Nothing."""
