"""Jobs as processes on this machine."""

from __future__ import annotations

from typing import Any

from hydra_plugins.hydra_joblib_launcher.joblib_launcher import JoblibLauncher

from gnnsync.experiments.signals import end_with_parent


class ProcessLauncher(JoblibLauncher):
    """hydra-joblib-launcher, except that its workers end when the sweep is killed.

    Args:
        parameters: those of `joblib.Parallel`.
    """

    def __init__(self, **parameters: Any) -> None:
        # `Parallel` hands what it does not know to its backend, which starts workers with it.
        super().__init__(**parameters, initializer=end_with_parent)
