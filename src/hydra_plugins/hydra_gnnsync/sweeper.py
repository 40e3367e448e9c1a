"""Sweepers for `gnnsync run -m`. Hydra loads this module at every start: the work is elsewhere.

`SystemExit` is the one exception that Hydra passes on without a message of its own.
"""

from __future__ import annotations

from typing import Any

from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from gnnsync.experiments.exit_codes import FAILED


class CheckedSweeper(Sweeper):
    """What both sweepers share; abstract, so that Hydra does not offer it."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what a sweep needs."""
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config


class GnnsyncSweeper(CheckedSweeper):
    """Run every combination of the given values that has no result yet.

    Args:
        max_batch_size: number of jobs per launch; None: all at once.
        params: keys that a preset sweeps, and their values as on the command line.
    """

    def __init__(self, max_batch_size: int | None, params: DictConfig | None) -> None:
        # Hydra passes every key of the sweeper's config. A sweep reads them from the configs that
        # it composes, since several presets in one command may each set their own.
        self.max_batch_size, self.params = max_batch_size, params

    def sweep(self, arguments: list[str]) -> None:
        """Plan the jobs, launch those that are left and summarise all of them.

        Args:
            arguments: required by Hydra; the config has the same overrides, and lists those of
                Hydra apart.
        """
        # Loads the numerical libraries, which a start without a sweep does not need.
        from gnnsync.experiments.sweep.run import run_sweep

        if not run_sweep(self.hydra_context, self.task_function, self.config):
            raise SystemExit(FAILED)


class SearchSweeper(CheckedSweeper):
    """hydra-optuna-sweeper, with the checks, the summary and the exit code of `GnnsyncSweeper`.

    `n_trials` is the total of a search, also of one that is started again with a storage.

    Args:
        parameters: those of hydra-optuna-sweeper.
    """

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters

    def sweep(self, arguments: list[str]) -> None:
        """Search, then summarise the jobs.

        Args:
            arguments: the overrides, for Optuna's sweeper.
        """
        # Loads the numerical libraries, which a start without a sweep does not need.
        from gnnsync.experiments.sweep.run import run_search

        def search(config: DictConfig, further: list[str]) -> None:
            # Optuna is an extra, and slow to load.
            from hydra_plugins.hydra_optuna_sweeper.optuna_sweeper import OptunaSweeper
            from optuna.samplers import BaseSampler

            # Hydra 1.4 leaves objects within a plugin's config to the plugin.
            sampler = self.parameters["sampler"]
            made = instantiate(sampler) if OmegaConf.is_config(sampler) else sampler
            if (finished := _finished(self.parameters)) and isinstance(made, BaseSampler):
                made.reseed_rng()  # with its seed it would propose the first trials once more
            left = max(int(self.parameters["n_trials"]) - finished, 0)
            optuna = OptunaSweeper(**{**self.parameters, "sampler": made, "n_trials": left})
            optuna.setup(
                hydra_context=self.hydra_context,
                task_function=self.task_function,
                config=config,
            )
            optuna.sweep([*arguments, *further])

        if not run_search(search, self.config):
            raise SystemExit(FAILED)


def _finished(parameters: dict[str, Any]) -> int:
    """The trials that the storage of a search, if it has one, has finished before."""
    storage, name = parameters.get("storage"), parameters.get("study_name")
    if not isinstance(storage, str) or name is None:
        return 0
    import optuna  # as above

    if name not in [study.study_name for study in optuna.get_all_study_summaries(storage)]:
        return 0
    study = optuna.load_study(study_name=name, storage=storage)
    return len(study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,)))
