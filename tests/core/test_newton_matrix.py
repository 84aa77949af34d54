"""Newton's matrix of the integrators: elimination within blocks, and second derivatives of energies."""

import numpy as np
import pytest
from scipy.sparse import csc_matrix

from discretization.linear.static_condensation import panels_of
from rigid.charts.stiffness import energy_entries, fill_energy_tangents
from rigid.mechanics.mechanical_system import call
from rodsim import Box, Model, Section
from tests.support.block_rings import OUTER, WIDTHS, factored, ring


def test_coupling_within_a_block_does_not_widen_the_band():
    matrix, block = ring(np.random.default_rng(0))
    panels = panels_of(csc_matrix(matrix), block, np.arange(len(WIDTHS)))
    assert panels.size <= sum(OUTER)
    assert panels.interior.sum() == len(block) - panels.size


def test_factors_store_no_zeros_and_every_diagonal():
    matrix, block = ring(np.random.default_rng(0))
    _, panels, factors, _ = factored(matrix, block, np.arange(len(WIDTHS)))
    stored = factors.panels[: factors.first[-1]]
    assert 0 < len(stored) < panels.start[-1]
    assert np.all(stored != 0.0)
    for b, inner in enumerate(panels.interior):
        first, at = panels.first_row[b], panels.first_column[b]
        diagonals = factors.where[factors.upper[first : first + inner]]
        assert np.array_equal(diagonals, panels.columns[at : at + inner])


@pytest.mark.parametrize("inner", [True, False])
def test_singular_matrix_is_reported(inner):
    matrix, block = ring(np.random.default_rng(1))
    columns = np.flatnonzero(block == (3 if inner else 5))
    matrix[:, columns[-1]] = matrix[:, columns[-2]]  # a block with interior columns, one without
    assert factored(matrix, block, np.arange(len(WIDTHS)))[0] == 1


def swing():
    """A heavy rod and a body with springs of both kinds."""
    model = Model("swing", gravity=(0, 1, -9.81))
    section = Section.from_stiffness(
        EA=30, GA=20, GJ=5, EI=(8, 6), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
    )
    rod = model.add_rod("rod", [(0, 0, 0), (0.7, 0.2, 0.1), (1.0, 0.9, 0)], section, 2, mass="lumped")
    ball = model.add_body("ball", Box(0.2, 0.3, 0.4, density=50), position=(1.3, 1.1, 0.2))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_spring("cord", model.ground.at((2, 0, 1)), ball.at((0.1, 0, 0.1)), stiffness=40.0, length=1.0)
    model.add_spring("coil", model.ground, ball, 3.0, along="rotation", axis=(0, 1, 0.5), angle=0.2)
    return model


@pytest.mark.parametrize("chart", ["quaternion", "director"])
@pytest.mark.parametrize("between", [True, False])
def test_second_derivatives_of_energies_are_those_of_the_gradient(chart, between):
    """Compare, column by column, with derivatives of the discrete derivative (by its second argument) and of
    the gradient.
    """
    rng = np.random.default_rng(3)
    system = swing().mechanical_system(chart)
    q0, q1 = (system.q0 + 0.1 * rng.normal(size=(2, system.n))).astype(complex)
    rows, columns = energy_entries(system)
    out = np.zeros(len(rows))
    fill_energy_tangents(q0, q1, between, system.data, np.ones(system.n, complex), out)
    hessian = np.zeros((system.n, system.n))
    np.add.at(hessian, (rows, columns), out)
    exact = np.zeros_like(hessian)
    for j in range(system.n):
        moved, column = q1.copy(), np.zeros(system.n, complex)
        moved[j] += 1e-60j
        if between:
            call(system.functions.discrete_gradient, (q0, moved, system.data, column))
        else:
            call(system.functions.gradient, (moved, system.data, column))
        exact[:, j] = column.imag / 1e-60
    assert np.abs(exact).max() > 10.0
    assert np.abs(hessian - exact).max() < 1e-13 * np.abs(exact).max()
    assert not np.any(q1.imag)
