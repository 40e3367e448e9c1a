"""Weights & Biases: one run per job, nothing of the machine in it, closed by the job itself."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from argparse import Namespace
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from pytorch_lightning import loggers

from gnnsync.errors import check_bool, check_choice, first_line
from gnnsync.learn.callbacks import FINAL_CHECKPOINT

log = logging.getLogger(__name__)

MODES = ("online", "offline")
# Longest waits: for an answer of the server, for a run to open, for it to be uploaded.
_REACH_SECONDS, _START_SECONDS, _FINISH_SECONDS = 5.0, 30.0, 60.0
# The longest texts that the service accepts.
_LONGEST_NAME, _LONGEST_WORD = 128, 64


class WandbLogger(loggers.WandbLogger):
    """Lightning's logger for Weights & Biases with a run that belongs to one job.

    What it adds to its parent:

    * Runs never merge: each has an id of its own whatever the environment sets, and a run that is
      still open in this process is left alone.
    * Nothing about the machine, the user, the environment, the command line or the code is
      recorded.
    * Without a login or a network the job is logged offline after one warning; nothing is asked.
    * The run stays open until the job ends, and ends as failed if the job does.

    The run is opened, in the background, by `log_hyperparams`: name, group, job type and tags come
    from its entry `job`.

    Args:
        save_dir: the job's folder; the run is kept in `wandb/` below it.
        project: where runs are collected.
        entity: user or team; null for the default of the login.
        mode: `online` or `offline`; the variable WANDB_MODE may turn online into offline, and
            both into `disabled`.
        tags: added to those of the job.
        checkpoint: also keep the trained parameters, as an artifact.
    """

    def __init__(
        self,
        save_dir: str,
        project: str = "gnnsync",
        entity: str | None = None,
        mode: str = "online",
        tags: Sequence[str] = (),
        checkpoint: bool = False,
    ) -> None:
        self.mode = check_choice("logger.wandb.mode", mode, MODES)
        self.checkpoint = check_bool("logger.wandb.checkpoint", checkpoint)
        self.run_id = secrets.token_hex(8)
        super().__init__(save_dir=save_dir, project=project, id=self.run_id)
        self.folder, self.project, self.entity, self.tags = save_dir, project, entity, tuple(tags)
        self._job: dict[str, Any] = {}
        self._opening: Future[Any] | None = None

    @property
    def experiment(self) -> Any:
        """The run; waits until it is open. It swallows everything if none could be opened."""
        if self._opening is None:
            self.log_hyperparams({})
        assert self._opening is not None
        return self._opening.result()

    def log_hyperparams(self, params: dict[str, Any] | Namespace) -> None:
        """Open the run with this config while the job goes on: loading the package takes seconds.

        Further calls update the config.
        """
        config = dict(vars(params)) if isinstance(params, Namespace) else dict(params)
        if self._opening is not None:
            self.experiment.config.update(config, allow_val_change=True)
            return
        self._job = dict(config.pop("job", {}))
        pool = ThreadPoolExecutor(1, "wandb")
        self._opening = pool.submit(self._connect, config)
        pool.shutdown(wait=False)

    def finalize(self, status: str) -> None:
        """Nothing: the Trainer calls this after each of fit, test and predict."""

    def close(self, status: str) -> None:
        """End the run as `success` or `failed`; with success keep the checkpoint if asked to."""
        if self._opening is None:
            return
        run, self._opening = self.experiment, None
        final = Path(self.folder) / FINAL_CHECKPOINT
        if status == "success" and self.checkpoint and final.exists():
            import wandb  # loaded by now

            artifact = wandb.Artifact(f"model-{self._job.get('hash', run.id)}", type="model")
            artifact.add_file(str(final), policy="immutable", skip_cache=True)
            run.log_artifact(artifact)
        run.finish(exit_code=0 if status == "success" else 1)

    def _connect(self, config: Mapping[str, Any]) -> Any:
        """A new run, online if that is possible."""
        import wandb  # takes seconds; in a thread of its own

        wandb.setup(settings=wandb.Settings(silent=True))
        if os.environ.get("WANDB_MODE") == "disabled":
            return self._open(config, "disabled")
        obstacle = "" if self.mode == "offline" else self._obstacle()
        if self.mode == "online" and not obstacle:
            try:
                return self._open(config, "online")
            except (wandb.Error, OSError, ValueError) as error:
                obstacle = f"no run could be opened ({first_line(error)})"
        if obstacle:
            log.warning(
                "Weights & Biases: %s; this job is tracked offline, and `wandb sync` uploads %s",
                obstacle,
                f"{self.folder}/wandb/offline-run-* later",
            )
        try:
            return self._open(config, "offline")
        except (wandb.Error, OSError, ValueError) as error:
            message = "Weights & Biases: no run could be opened (%s); this job is not tracked"
            log.warning(message, first_line(error))
            return _NoRun()

    def _open(self, config: Mapping[str, Any], mode: str) -> Any:
        import wandb  # loaded by now

        job = self._job
        run = wandb.init(
            id=self.run_id,
            project=self.project,
            entity=self.entity,
            dir=self.folder,
            mode=mode,  # type: ignore[arg-type]
            reinit="create_new",
            resume="never",
            name=str(job.get("name", ""))[:_LONGEST_NAME] or None,
            group=str(job.get("group", ""))[:_LONGEST_NAME] or None,
            job_type=str(job.get("method", ""))[:_LONGEST_WORD] or None,
            tags=[t[:_LONGEST_WORD] for t in dict.fromkeys([*job.get("tags", ()), *self.tags])],
            config={**config, "job_hash": job.get("hash")},
            settings=wandb.Settings(**_PRIVATE, **_QUIET),
        )
        # The x-axis of Lightning's loggers: true optimizer steps.
        run.define_metric("trainer/global_step")
        run.define_metric("*", step_metric="trainer/global_step", step_sync=True)
        return run

    def _obstacle(self) -> str:
        """Why a run cannot be online, in words; empty if it can. Never asks, never hangs."""
        import wandb  # loaded by now

        if os.environ.get("WANDB_MODE", "online") != "online":
            return f"WANDB_MODE is {os.environ['WANDB_MODE']}"
        try:
            if not wandb.login(prompt=False, verify=False):
                return "no login found (run `wandb login` once, or set WANDB_API_KEY)"
        except (wandb.Error, ValueError):
            return "the login is not valid (run `wandb login` again)"
        address = urlsplit(str(wandb.setup().settings.base_url))
        if not getproxies():
            port = address.port or (80 if address.scheme == "http" else 443)
            try:
                socket.create_connection((address.hostname or "", port), _REACH_SECONDS).close()
            except OSError:
                return f"{address.hostname} cannot be reached"
        return ""


class _NoRun:
    """Takes the calls to a run that could not be opened."""

    id = "none"

    @property
    def config(self) -> _NoRun:
        """Takes updates, and keeps none."""
        return self

    def log(self, *_: Any, **__: Any) -> None:
        """Nothing."""

    log_artifact = finish = update = log


# Nothing of the machine, the user, the code or the console goes into a run.
_PRIVATE: dict[str, Any] = {
    "console": "off",
    "disable_code": True,
    "disable_git": True,
    "disable_job_creation": True,
    "save_code": False,
    "host": "-",
    "username": "-",
    "email": "-",
    "program": "-",
    "x_disable_machine_info": True,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_save_requirements": False,
}
_QUIET: dict[str, Any] = {
    "silent": True,
    "symlink": False,
    "init_timeout": _START_SECONDS,
    "finish_timeout": _FINISH_SECONDS,
}
