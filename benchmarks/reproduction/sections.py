"""The sections of the page: which figures and tables of the paper each part answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """Figures or tables of the paper that show the same thing.

    Args:
        title: heading.
        items: figures and tables, numbered in the order of the paper's source.
        parts: names of the parts of the study that answer them.
        by: the column that tells the variants apart.
        starts: whether the tables show the network's features and the untrained network.
        note: what is left out, or differs.
    """

    title: str
    items: str
    parts: tuple[str, ...]
    by: str
    starts: bool = False
    note: str = ""


_WIDE = (
    "The tables have the cells of `scale=quick` (option 1); the figures also those of the larger "
    "part (all graphs and densities, options 1 and 2). Left out of both: {left}."
)
_PRIORS = "options 3 and 4 of the angles, and η = {eta}"

SECTIONS = (
    Section(
        "One group of angles",
        "Figures 3, 6, 7 and 8",
        ("main_k1", "main_k1_wide"),
        "method",
        starts=True,
        note=_WIDE.format(left=_PRIORS.format(eta="0, .1, .3, .5, .7")),
    ),
    *(
        Section(
            f"{word} groups of angles",
            f"Figures 4, {figures}",
            (f"main_k{k}", f"main_k{k}_wide"),
            "loss",
            starts=True,
            note=_WIDE.format(left=_PRIORS.format(eta=".1, .3, .5, .7")),
        )
        for k, word, figures in ((2, "Two", "9, 10 and 11"), (3, "Three", "12, 13 and 14"))
    ),
    Section(
        "Four groups of angles",
        "Figures 4, 15, 16 and 17",
        ("main_k4",),
        "loss",
        starts=True,
        note="Left out: BAO, p = .05 and .1, options 2 to 4 of the angles, and η = .1, .3, .5, .7.",
    ),
    Section(
        "Localization: US map",
        "Figures 1 and 18 to 25, Tables 1 and 2",
        ("us_cities",),
        "method",
        note="The points are not the authors' (see [localization](localization.md)), so errors "
        "differ in size; what can be compared is which method is ahead. Left out: η = 0, .1 and "
        ".2, and options 2 to 4 of the angles.",
    ),
    Section(
        "Localization: PACM point cloud",
        "Figures 26 and 27, Tables 3 and 4",
        ("pacm",),
        "method",
        note="The points are drawn from letter outlines, not the authors' file. Left out: η = 0, "
        ".1 and .2, and options 2 to 4 of the angles.",
    ),
    Section(
        "Projected gradient steps, one group",
        "Figure 28",
        ("ablation_k1",),
        "steps",
        note="Left out: BAO, p = .1, options 2 to 4 of the angles, and η = 0, .1, .3, .5, .7, .9.",
    ),
    Section(
        "Projected gradient steps, two groups",
        "Figure 29",
        ("ablation_k2",),
        "steps",
        note="Left out: BAO and RGGO, p = .05 and .1, options 2 to 4, and η = .1, .3, .5, .7.",
    ),
    Section(
        "Baselines as input features, one group",
        "Figures 30, 31 and 32",
        ("features_k1",),
        "features",
        starts=True,
        note="Left out: BAO, p = .05 and .1, options 2 to 4, and η = 0, .1, .3, .5, .7.",
    ),
    Section(
        "Baselines as input features, two groups",
        "named in Appendix C.2, without a figure",
        ("features_k2",),
        "features",
        starts=True,
        note="`spectral_disentangled` and `random` are not in the paper.",
    ),
    Section(
        "The loss cycle + τ · upset",
        "Figure 33",
        ("linear_k2",),
        "tau",
        note="Left out: BAO and RGGO, p = .05 and .1, options 2 to 4, η = .1, .3, .5, .7, and six "
        "of ten τ.",
    ),
    Section(
        "Fine-tuned baselines, one group",
        "Figure 34",
        ("refined_k1",),
        "method",
        note="Left out: BAO, p = .1, options 2 to 4 of the angles, and η = 0, .1, .3, .5, .7, .9.",
    ),
    Section(
        "Fine-tuned baselines, two groups",
        "Figure 35",
        ("refined_k2",),
        "loss",
        note="Left out: BAO, p = .05 and .1, options 2 to 4, η = .1, .3, .5, .7, and the sum of "
        "both losses.",
    ),
    Section("Another encoder", "a statement of Appendix C.1", ("encoders",), "encoder"),
    Section("Other numbers of nodes", "a statement of Appendix B.1", ("sizes",), "method"),
    Section("Semidefinite relaxation", "a statement of Appendix C.3", ("sdp",), "method"),
)
