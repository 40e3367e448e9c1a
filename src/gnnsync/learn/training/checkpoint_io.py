"""Checkpoint files that are always whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from pytorch_lightning.plugins.io import TorchCheckpointIO

from gnnsync.io.files import atomic_output


class AtomicCheckpointIO(TorchCheckpointIO):
    """Write a checkpoint beside its place under a unique name, then rename it.

    A run that is killed while it saves leaves the previous checkpoint intact. Used by every
    checkpoint callback, Lightning's own included. Paths with a protocol (`s3://...`) are written by
    Lightning as usual.
    """

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any | None = None
    ) -> None:
        """Save to `path`."""
        if "://" in str(path):
            super().save_checkpoint(checkpoint, path, storage_options)
            return
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with atomic_output(path, "wb") as handle:
            torch.save(checkpoint, handle)
