"""Jobs as processes on this machine."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from hydra.core.utils import JobReturn
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

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run the jobs.

        A worker whose memory has grown, as it does when a large job follows a small one, is
        replaced after its job. Nothing is lost, and joblib's warning of it would only alarm.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            returned: Sequence[JobReturn] = super().launch(job_overrides, initial_job_idx)
        return returned
