"""The device of a job: one per job, and one that this machine has."""

from __future__ import annotations

from typing import Any

from omegaconf import DictConfig, OmegaConf

from gnnsync.errors import ConfigError

# Arguments of the Trainer that could ask for more than one device, and the values that do not.
_ONE_DEVICE: dict[str, tuple[Any, ...]] = {
    "strategy": ("auto", "single_device"),
    "devices": (1, "1"),
    "num_nodes": (1,),
}
# Strategies of Lightning that start processes for a training alone; others start the whole command
# again in each process.
_OWN_PROCESSES = ("ddp_spawn", "ddp_fork")


def check_device_count(cfg: DictConfig, *, several: bool) -> None:
    """Refuse several devices per job, but for a method whose training can use them.

    The replicas of all others already train side by side on one device.
    """
    options = OmegaConf.select(cfg, "method.trainer") or {}
    strategy = options.get("strategy", "auto")
    for name, harmless in _ONE_DEVICE.items():
        value = options.get(name, harmless[0])
        if value in harmless or (several and name != "num_nodes" and strategy in _OWN_PROCESSES):
            continue
        if several:
            raise ConfigError(
                f"trainer.{name} = {value}: several devices of one machine need trainer=ddp "
                f"(trainer.strategy={' or '.join(_OWN_PROCESSES)}), since other strategies start "
                "the whole command again in each process"
            )
        raise ConfigError(
            f"trainer.{name} = {value}: a job trains on one device, since DDP starts "
            "the whole command again in each process, and with -m the whole sweep; for "
            "several GPUs run one job on each: -m hydra/launcher=ray_gpu trainer=gpu"
        )


def check_gpu_here(cfg: DictConfig) -> None:
    """Refuse a training on a GPU if this machine has none; to be called where the job will run.

    It loads torch, and only if a GPU is asked for; Lightning would say so much later.
    """
    accelerator = OmegaConf.select(cfg, "method.trainer.accelerator")
    if accelerator not in ("gpu", "cuda", "mps") or gpu_count(accelerator):
        return
    raise ConfigError(
        f"trainer.accelerator = {accelerator}: PyTorch finds no GPU on this machine: use "
        "trainer=cpu, or run it where there is one (hydra/launcher=ray_gpu or slurm)"
    )


def gpu_count(accelerator: str = "cuda") -> int:
    """The GPUs that PyTorch finds on this machine.

    Args:
        accelerator: `cuda` (which ROCm is too), `mps`, or `gpu` for either.
    """
    import torch  # loaded only where a GPU is asked for

    apple = int(torch.backends.mps.is_available()) if accelerator in ("gpu", "mps") else 0
    return apple if accelerator == "mps" else torch.cuda.device_count() or apple
