"""Newton's method of the integrators on chains of bars: matrices, sparsity pattern and convergence."""

import numpy as np
import pytest

from discretization.time.ggl import add_discrete_hidden, hidden_constraint
from discretization.time.integrate import March, initial, solver_for
from discretization.time.integrators import parse
from discretization.time.scheme import Step
from rodsim import Box, Model
from tests.support.newton_matrices import H

SCHEMES = [("EML-kappa", "quaternion"), ("GGL-EM", "director"), ("GL-SPARK(2)", "director")]


def chain(bars, chart):
    """Bars in a row on spherical joints, fixed at the first one."""
    model = Model("chain", gravity=(0, 0, -9.81))
    last = model.ground.at((0, 0, 0))
    for i in range(bars):
        bar = model.add_body(f"bar{i}", Box(1.0, 0.1, 0.1, density=1000), position=(i + 0.5, 0, 0))
        model.add_joint(f"joint{i}", "spherical", last, bar.at((-0.5, 0, 0)))
        last = bar.at((0.5, 0, 0))
    return model.mechanical_system(chart)


@pytest.mark.parametrize(("integrator", "chart"), SCHEMES)
def test_newton_matrix_pattern_repeats_for_every_bar(integrator, chart):
    sizes = []
    for bars in (8, 16, 24):
        solver, _ = solver_for(parse(integrator), chain(bars, chart))
        pattern = solver.pattern
        grow = len(pattern.rows), pattern.panels.size, pattern.panels.start[-1]
        sizes.append((len(pattern.colours.start), pattern.band, *grow))
    short, middle, long = np.array(sizes)
    assert np.array_equal(short[:2], long[:2])
    assert np.array_equal(middle - short, long - middle)


@pytest.mark.parametrize("bars", [4, 48])
@pytest.mark.parametrize(("integrator", "chart"), SCHEMES)
def test_step_assembles_one_matrix_for_any_chain_length(integrator, chart, bars):
    """One matrix per step once multipliers are predicted; the first steps from rest, without prediction, take two."""
    system = chain(bars, chart)
    march, start = March(system, parse(integrator)), initial(system)
    for first, steps, limit in ((0, 5, 2), (5, 10, 1)):
        before = march.matrices
        run, failure = march.run(H, H * np.arange(first, first + steps + 1), start)
        assert failure is None
        assert march.matrices - before <= limit * steps
        assert run.iterations[1:].max() <= 12
        start = run.at(-1)


def test_every_iteration_with_a_tolerance_assembles_a_matrix():
    system = chain(4, "quaternion")
    march = March(system, parse("EML-kappa"), tolerance=1e-8)
    run, _ = march.run(H, H * np.arange(4), initial(system))
    assert march.matrices == run.iterations.sum() > 3


def test_hidden_constraints_of_directors_match_their_discrete_derivatives():
    """gam . (g_v(q1, p1) - g_v(q0, p0)) = A_q . (q1 - q0) + A_p . (p1 - p0) at any states."""
    rng = np.random.default_rng(4)
    system = chain(2, "director")
    _, work = solver_for(parse("GGL-EM"), system)
    q0, q1, p0, p1, A_q, A_p = rng.normal(size=(6, system.n)).astype(complex)
    gam, before, after = rng.normal(size=(3, system.m)).astype(complex)
    known = system.functions, system.data
    A_q[:], A_p[:] = 0.0, 0.0
    step = Step(2.0, q0, p0, np.zeros_like(q0), np.zeros((1, 1)), np.zeros(1))
    add_discrete_hidden(*known, step, work, q1, p1, gam, A_q, A_p)
    hidden_constraint(*known, q0, p0, work, before)
    hidden_constraint(*known, q1, p1, work, after)
    change = gam @ (after - before)
    assert abs(change) > 1e-3
    assert A_q @ (q1 - q0) + A_p @ (p1 - p0) == pytest.approx(2.0 * change, rel=1e-12)
    assert min(np.abs(A_q).max(), np.abs(A_p).max()) > 1e-3
