"""Weights & Biases: one run per job, nothing of the machine in it, closed by the job itself."""

from __future__ import annotations

import importlib.util
import logging
import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from gnnsync.errors import check_bool, check_choice, first_line
from gnnsync.experiments.loggers import Card, Findings, missing_package

log = logging.getLogger(__name__)

MODES = ("online", "offline")
_REACH_SECONDS, _START_SECONDS, _FINISH_SECONDS = 5.0, 30.0, 60.0


class WandbTracker:
    """A run of Weights & Biases that belongs to one job.

    Runs never merge: each has an id of its own whatever the environment says, and a run that is
    still open in this process is left alone. Nothing about the machine, the user, the environment,
    the command line or the code is recorded. Without a login or a network the job is tracked
    offline, and says so.

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
        if importlib.util.find_spec("wandb") is None:
            raise missing_package("wandb", "wandb")
        self.save_dir, self.project, self.entity = save_dir, project, entity
        self.mode = check_choice("logger.mode", mode, MODES)
        self.checkpoint = check_bool("logger.checkpoint", checkpoint)
        self.tags = tuple(tags)
        self._opening: Future[Any] | None = None

    def start(self, card: Card) -> None:
        """Open the run while the job goes on: loading the package alone takes seconds."""
        pool = ThreadPoolExecutor(1, "wandb")
        self._opening = pool.submit(self._connect, card)
        pool.shutdown(wait=False)

    @property
    def run(self) -> Any:
        """The open run, as soon as it is; None once it is closed, or if there can be none."""
        return None if self._opening is None else self._opening.result()

    def _connect(self, card: Card) -> Any:
        """A new run, online if that is possible."""
        import wandb

        wandb.setup(settings=wandb.Settings(silent=True))
        if os.environ.get("WANDB_MODE") == "disabled":
            return self._open(card, "disabled")
        obstacle = "" if self.mode == "offline" else self._obstacle()
        if self.mode == "online" and not obstacle:
            try:
                return self._open(card, "online")
            except (wandb.Error, OSError, ValueError) as error:
                obstacle = f"no run could be opened ({first_line(error)})"
        if obstacle:
            log.warning(
                "Weights & Biases: %s; this job is tracked offline, and `wandb sync` uploads %s",
                obstacle,
                f"{self.save_dir}/wandb/offline-run-* later",
            )
        try:
            return self._open(card, "offline")
        except (wandb.Error, OSError, ValueError) as error:
            told = "Weights & Biases: no run could be opened (%s); this job is not tracked"
            log.warning(told, first_line(error))
            return None

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Losses at a step."""
        if self.run is not None:
            self.run.log(dict(values), step=step)

    def finish(self, findings: Findings) -> None:
        """Pictures, the table of replicas, the summary and the checkpoint; then close."""
        if self.run is None:
            return
        import wandb

        columns: list[str | int] = list(dict.fromkeys(k for row in findings.rows for k in row))
        table = [[row.get(str(name)) for name in columns] for row in findings.rows]
        pictures = {f"figures/{k}": wandb.Image(str(p)) for k, p in findings.figures.items()}
        self.run.log({"replicas": wandb.Table(columns=columns, data=table), **pictures})
        self.run.summary.update(dict(findings.metrics))
        if self.checkpoint and findings.checkpoint is not None:
            artifact = wandb.Artifact(f"model-{findings.rows[0]['job_hash']}", type="model")
            artifact.add_file(str(findings.checkpoint), policy="immutable", skip_cache=True)
            self.run.log_artifact(artifact)
        self._close(0)

    def fail(self) -> None:
        """Close the run as failed."""
        self._close(1)

    def _close(self, code: int) -> None:
        run, self._opening = self.run, None
        if run is not None:
            run.finish(exit_code=code)

    def _open(self, card: Card, mode: str) -> Any:
        import wandb

        return wandb.init(
            id=secrets.token_hex(8),
            project=self.project,
            entity=self.entity,
            dir=self.save_dir,
            mode=mode,  # type: ignore[arg-type]
            reinit="create_new",
            resume="never",
            name=card.name[:128],
            group=card.group[:128],
            job_type=card.job_type[:64],
            tags=[tag[:64] for tag in dict.fromkeys([*card.tags, *self.tags])],
            config={**card.config, "job_hash": card.job_hash},
            settings=wandb.Settings(**_PRIVATE, **_QUIET),
        )

    def _obstacle(self) -> str:
        """Why a run cannot be online, in words; empty if it can. Never asks, never hangs."""
        import wandb

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
