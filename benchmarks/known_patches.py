"""Maps whose patches are known: `python -m benchmarks.known_patches --help`.

On the networks of `data=us_cities`, `us_cities_uneven` and `pacm` it measures, for several noise
levels: `auto` from the offsets alone, generalised Procrustes from its angles with isotropic noise
and by maximum likelihood, the bound, and the published errors. Prints a table per error.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path

# Before NumPy is imported: it reads these once.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from gnnsync.data import PatchNetworks  # noqa: E402
from gnnsync.data.known_patches import fit_patches  # noqa: E402
from gnnsync.data.patch_limits import patch_limit  # noqa: E402
from gnnsync.data.points import Letters, PointSource, USCities  # noqa: E402
from gnnsync.data.priors import GammaAngles  # noqa: E402
from gnnsync.methods import Auto  # noqa: E402
from gnnsync.metrics import angular_mse, average_normalized_error  # noqa: E402
from gnnsync.positions import rigid_motion  # noqa: E402

PUBLISHED = Path(__file__).resolve().parents[1] / "docs" / "reproduction" / "published.csv"
MAPS: dict[str, PointSource] = {
    "us_cities": USCities(),
    "us_cities_uneven": USCities(evenness=0.35),
    "pacm": Letters(),
}
COLUMNS = ("auto", "isotropic", "likelihood", "bound", "centre", "centre bound")


def main() -> None:
    options = _options()
    mse, ane = ["| map | η | paper | " + " | ".join(COLUMNS) + " | likelihood / bound |"], []
    mse.append("|---" * (len(COLUMNS) + 4) + "|")
    ane += ["| map | η | paper | auto | likelihood | bound | seconds |", "|---" * 7 + "|"]
    for name in options.maps:
        for eta in options.eta:
            seeds = [10 * (i + 1) for i in range(options.networks)]
            data = PatchNetworks(MAPS[name], GammaAngles(), eta=eta, seeds=seeds)
            rows = [_measure(data, i) for i in range(options.networks)]
            error = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
            limits = _limits(data)
            ratio = error["likelihood"] / limits["bound"]
            shown = [{**error, **limits}[key] for key in COLUMNS]
            paper = _published(name, "mse", eta)
            mse.append(f"| {name} | {eta:g} | {paper} | {_figures(shown)} | {ratio:.3f} |")
            of_points = [error["ane auto"], error["ane"], limits["ane bound"]]
            paper, seconds = _published(name, "ane", eta), error["seconds"]
            ane.append(f"| {name} | {eta:g} | {paper} | {_figures(of_points)} | {seconds:.1f} |")
            worst = max(row["likelihood"] / row["auto"] for row in rows)
            print(mse[-1], f"of auto's at most {worst:.2f}", flush=True)
    print("\nMSE of the angles\n", *mse, "\nANE of the points\n", *ane, sep="\n")


def _measure(data: PatchNetworks, network: int) -> dict[str, float]:
    """Errors of one network, and the processor time of the fit by maximum likelihood."""
    graph = data.graphs[network]
    _, rotated, truth = data.patches(data.seeds[network])
    solution = Auto()(graph)
    angles = solution.angles[:, 0]
    start = time.process_time()
    best = fit_patches(rotated, angles)
    seconds = time.process_time() - start
    if not best.converged:
        raise RuntimeError(f"no convergence at seed {data.seeds[network]}")
    others = {
        "isotropic": fit_patches(rotated, angles, noise="isotropic"),
        "likelihood": best,
        "centre": fit_patches(rotated, angles, translations=False),
    }
    turn, shift = rigid_motion(best.points, data.points)
    return {
        "auto": angular_mse(angles[:, None], truth[:, None]),
        **{k: angular_mse(f.angles[:, None], truth[:, None]) for k, f in others.items()},
        "ane auto": average_normalized_error(data.recover(network, solution), data.points),
        "ane": average_normalized_error(best.points @ turn.T + shift, data.points),
        "seconds": seconds,
    }


def _limits(data: PatchNetworks) -> dict[str, float]:
    known = patch_limit(data.exact_patches, data.eta * data.points.std(axis=0), translations=False)
    size = float(np.linalg.norm(data.points.std(axis=0)))
    return {"bound": data.limit.mse, "centre bound": known.mse, "ane bound": data.limit.rmse / size}


def _published(name: str, metric: str, eta: float) -> str:
    """The paper's error of GNNSync and the least of all its methods, angle option 1."""
    with PUBLISHED.open(encoding="utf-8") as file:
        found = {
            row["method"]: float(row["mean"])
            for row in csv.DictReader(file)
            if row["dataset"] == name.removesuffix("_uneven")
            and row["metric"] == metric
            and row["angle_option"] == "1"
            and float(row["noise"]) == eta
        }
    return f"{found['GNNSync']:.3f} ({min(found.values()):.3f})" if found else "–"


def _figures(values: list[float]) -> str:
    return " | ".join(f"{value:.5f}" for value in values)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--maps", nargs="+", choices=MAPS, default=list(MAPS))
    parser.add_argument("--eta", nargs="+", type=float, default=[0.1, 0.15, 0.2, 0.25])
    parser.add_argument("--networks", type=int, default=5, help="seeds 10, 20, ...")
    return parser.parse_args()


if __name__ == "__main__":
    main()
