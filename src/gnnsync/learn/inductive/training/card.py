"""The model card: what a weights file holds, how it was made, how well it does, its limits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_TEMPLATE = """\
# GNNSync inductive network

Estimates k sets of angles from pairwise offsets with outliers. It was trained once on simulated
graphs with known angles and solves new graphs without further training. Noise level and share of
outliers are estimated by the network.

- {parameters} parameters, float32; file `weights.safetensors` (no pickle).
- All settings of the training are in `config.yaml` beside this file, the overrides of its command
  in `result.json`; seed {seed}.
- {steps} optimizer steps, processes: {processes}, {hours:.2f} hours{resumed}, torch {torch}.

## Training data

```json
{stream}
```

## Validation

Graphs from seeds that the training does not use; mean over the graphs of a cell. The initial MSE
is that of the spectral method the network starts from. The MSE is 4 - 4|mean e^{{i(r - t)}}|, best
over rotations and the order of the groups.

| cell | graphs | initial MSE | MSE | loss |
|---|---|---|---|---|
{rows}

## Limits

- Angles have 32 bins: without a final fit, exact inliers do not give exact angles.
- Confidences are calibrated on graphs like those of the training data; other noise may need its
  own calibration.
- Graphs far outside the ranges above (size, degree, share of outliers) were not trained on.
"""


def model_card(facts: Mapping[str, Any], table: Mapping[str, Mapping[str, float]]) -> str:
    """The card as Markdown, from the facts of the training and the validation table."""
    rows = [
        f"| {cell} | {row['graphs']:.0f} | {row['mse_start']:.4f} | {row['mse']:.4f} "
        f"| {row['loss']:.3f} |"
        for cell, row in table.items()
    ]
    filled = dict(facts)
    filled["hours"] = facts["seconds"] / 3600
    filled["resumed"] = " since it was last resumed" if facts["resumed"] else ""
    filled["stream"] = json.dumps(facts["stream"], indent=1)
    return _TEMPLATE.format(**filled, rows="\n".join(rows))
