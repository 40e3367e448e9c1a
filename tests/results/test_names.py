from __future__ import annotations

import pytest

from gnnsync.methods import METHODS as CLASSICAL
from gnnsync.results.names import METHODS, method_of, noise_title, variant_name


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        ("gnnsync", "GNNSync"),
        ("gnnsync loss=linear tau=0.3", "GNNSync loss=linear tau=0.3"),
        ("cemp_gcw", "CEMP_GCW"),
        ("refined/spectral_rn", "Spectral_RN, fine-tuned"),
        ("mine width=3", "mine width=3"),
        ("", ""),
    ],
)
def test_a_variant_has_the_paper_s_name_of_its_method(variant, name):
    assert variant_name(variant) == name


def test_the_method_of_a_variant():
    assert method_of("refined/gpm rounds=3") == "gpm"


def test_names_are_those_of_methods_that_exist():
    learned = {"gnnsync", "gnnsync_plus", "gnnsync_inductive"}
    assert set(METHODS) <= set(CLASSICAL) | learned
    assert len(set(METHODS.values())) == len(METHODS)


def test_eta():
    assert noise_title(outliers=True) == "outlier fraction η"
    assert noise_title(outliers=False) == "noise level η"
