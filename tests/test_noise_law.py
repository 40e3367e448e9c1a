import numpy as np
import pytest

from gnnsync.noise_law import LAPLACE, law_density, law_name


@pytest.mark.parametrize("dof", [np.inf, 4.0, 1.0, LAPLACE])
def test_densities_are_relative_to_uniform(dof):
    grid = np.linspace(-np.pi, np.pi, 200_001)
    assert np.trapezoid(law_density(grid, 0.1, dof), grid) == pytest.approx(2 * np.pi, rel=1e-4)


def test_names():
    assert law_name(np.inf) == "normal"
    assert law_name(LAPLACE) == "Laplace"
    assert law_name(4.0) == "Student's t, ν = 4"
