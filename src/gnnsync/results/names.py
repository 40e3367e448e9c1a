"""Names shown to people: methods, graphs, priors and the noise level, as the paper writes them."""

from __future__ import annotations

# In the order of the paper. Names not listed here are shown as they are, after these.
METHODS = {
    "gnnsync": "GNNSync",
    "gnnsync_plus": "GNNSync-plus",
    "gnnsync_inductive": "GNNSync-inductive",
    "spectral": "Spectral",
    "spectral_rn": "Spectral_RN",
    "gpm": "GPM",
    "transync": "TranSync",
    "cemp_gcw": "CEMP_GCW",
    "cemp_mst": "CEMP_MST",
    "tas": "TAS",
    "irls": "IRLS",
    "trivial": "Trivial",
    "gnc": "GNC",
    "ppe": "PPE",
    "sdp": "SDP",
}
GRAPHS = {"erdos_renyi": "ERO", "barabasi_albert": "BAO", "random_geometric": "RGGO"}
PRIORS = {
    "GammaAngles": "1: gamma",
    "NormalRankOneAngles": "2: normal, rank 1",
    "NormalIIDAngles": "3: normal, iid",
    "NormalBlockAngles": "4: normal, blocks",
    "UniformAngles": "uniform",
}
_REFINED = "refined/"
# Names of what variants are compared with: last word of the first, the whole of the second.
UNTRAINED, TRUTH = "untrained", "truth"


def method_of(variant: str) -> str:
    """The method of a variant: `gpm` of `gpm restarts=3` and of `refined/gpm`."""
    return variant.split(" ")[0].removeprefix(_REFINED)


def is_reference(label: str) -> bool:
    """Whether the name is that of an untrained network or of the truth."""
    return label == TRUTH or label.endswith(f" {UNTRAINED}")


def variant_name(variant: str) -> str:
    """A variant with the paper's name of its method: `GNNSync loss=cycle`, `GPM, fine-tuned`."""
    first, space, options = variant.partition(" ")
    method = method_of(variant)
    refined = ", fine-tuned" if first.startswith(_REFINED) else ""
    return f"{METHODS.get(method, method)}{refined}{space}{options}"


def noise_title(*, outliers: bool) -> str:
    """The name of η: the outlier fraction of random graphs, otherwise a noise level of the data."""
    return "outlier fraction η" if outliers else "noise level η"
