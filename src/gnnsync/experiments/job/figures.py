"""The figures in a job's folder: angles against the truth, losses, and those of the data."""

from __future__ import annotations

from pathlib import Path

from gnnsync.data.base import Networks
from gnnsync.data.maps import Reconstruction
from gnnsync.io.figure_file import write_figure
from gnnsync.plots.run import RunAngles, angle_figure, loss_figure
from gnnsync.results.outcome import Outcome

# Dots per inch of a job's figures, which people look at closely.
_DPI = 150


def draw_job(
    outcome: Outcome, data: Networks, found: Reconstruction | None, directory: Path, name: str
) -> dict[str, Path]:
    """Draw what these data and this method allow; returns the files by title.

    Args:
        outcome: all replicas of the job.
        data: the networks they solved.
        found: what the data make of the first replica, such as a map; None if nothing.
        directory: the job's folder.
        name: the method as it is shown.
    """
    figures = {}
    runs = run_angles(outcome, data, name)
    if runs:
        figures["angles"] = angle_figure(runs)
    if outcome.history and len(outcome.history["train"]):
        figures["loss"] = loss_figure(outcome.history)
    if found is not None:
        figures |= found.figures()
    paths = {title: directory / f"{title}.png" for title in figures}
    for title, figure in figures.items():
        write_figure(figure, paths[title], dpi=_DPI)
    return paths


def run_angles(outcome: Outcome, data: Networks, name: str) -> list[RunAngles]:
    """The replicas on networks whose true angles are known, with the features if there are any."""
    trials = len({replica.trial for replica in outcome.replicas})
    runs = []
    for replica in outcome.replicas:
        truth = data.graphs[replica.network].angles
        if truth is None:
            continue
        stages = {} if replica.features is None else {"input": replica.features}
        stages[name] = replica.solution.angles
        trial = f", trial {replica.trial + 1}" if trials > 1 else ""
        runs.append(RunAngles(f"network {replica.network_seed}{trial}", truth, stages))
    return runs
