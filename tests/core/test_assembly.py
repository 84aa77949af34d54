"""The assembled equations: analytic tangent against differences, band against sparse, energy of every
interaction.
"""

from functools import partial

import numpy as np
import pytest

from discretization.assembly import velocity_constraints as hidden_assembly
from discretization.assembly.constraint_rows import add_constraint_noise, has_only_common_constraints
from discretization.assembly.numbering import number_unknowns
from discretization.assembly.workspace import workspace
from discretization.consistent_velocities import project_velocities
from discretization.time import stepper
from discretization.time.newton import (
    _bare_equations,
    _common_equations,
    correct,
    factor_as,
    has_blocks_beyond_band,
    solve_as,
)
from discretization.time.stepper import Stepper
from rigid.interactions.coincident_points import COINCIDENT_POINTS
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.kinds import has_closed_forms
from rigid.system import Constraints
from rodsim import Box, Model
from tests.support.array_systems import make_state, make_system
from tests.support.assembly import BAND, SPARSE, dense, mid_iteration
from tests.support.completeness import SOFT, inflated, submerged
from tests.support.newton_iterations import ADD, BEGIN, MOVE, assembled_workspace, done, iterate
from tests.support.tendons import ropes

H = 0.05


@pytest.mark.parametrize(
    ("band_limit", "coupled"), [(BAND, None), (SPARSE, None), (BAND, "stiffness"), (BAND, "damping")]
)
def test_tangent_of_all_interactions_is_the_derivative_of_the_residual(band_limit, coupled):
    system, numbering, state, work, loads = mid_iteration(band_limit, coupled)
    assert (numbering.band < 0) == (band_limit == SPARSE)
    iterate(system, numbering, state, work, H, loads)
    K = dense(numbering, work.values)
    saved = [array.copy() for array in (work.dr, work.psi, work.lam)]
    size, columns = 1e-6, []
    for j in range(numbering.size):
        residual = []
        for sign in (1, -1):
            for array, value in zip((work.dr, work.psi, work.lam), saved, strict=True):
                array[...] = value
            work.rhs[:] = 0.0
            work.rhs[j] = sign * size
            correct(system, numbering, work)
            iterate(system, numbering, state, work, H, loads, tangent=False)
            residual.append(work.residual[: numbering.size].copy())
        columns.append((residual[0] - residual[1]) / (2 * size))
    assert np.abs(K - np.array(columns).T).max() < 1e-8 * np.abs(K).max()


def differences_of_residual(system, numbering, state, work, unknowns):
    """Central differences (k, k) of the residual of a step along its unknowns."""
    saved, size, differences = [array.copy() for array in (work.dr, work.psi, work.lam)], 1e-6, []
    for unknown in unknowns:
        residual = []
        for sign in (1, -1):
            for array, value in zip((work.dr, work.psi, work.lam), saved, strict=True):
                array[...] = value
            work.rhs[:] = 0.0
            work.rhs[unknown] = sign * size
            correct(system, numbering, work)
            assert done(MOVE | ADD, system, numbering, state, work, H, tangent=False) == 0
            residual.append(work.residual[unknowns].copy())
        differences.append((residual[0] - residual[1]) / (2 * size))
    return np.array(differences).T


@pytest.mark.parametrize("border", [True, False])
@pytest.mark.parametrize(
    ("make", "count", "change"), [(ropes, 8, 0.02), (inflated, 5, 0.02), (inflated, 5, 1e-6)]
)
def test_tangent_of_tendons_and_chambers_is_the_derivative_of_the_residual(make, count, change, border):
    """The unknown of an elastic tendon in the border, of the factorisation alone, is eliminated here."""
    built = make().build()
    system, state, numbering = built.system, built.state, number_unknowns(built.system, border=border)
    assert numbering.border.rows == count * border
    work = assembled_workspace(built, numbering, H, np.random.default_rng(4), change)
    work.lam[:] = np.random.default_rng(5).normal(size=len(work.lam))
    assert done(MOVE | ADD, system, numbering, state, work, H) == 0
    K = dense(numbering, work.values)
    unknowns = np.concatenate([(numbering.frame[1:, None] + np.arange(6)).ravel(), work.impulses.unknown])
    rest = np.setdiff1d(np.arange(numbering.size), unknowns)
    inner, columns, rows = (K[np.ix_(*x)] for x in ((rest, rest), (rest, unknowns), (unknowns, rest)))
    K = K[np.ix_(unknowns, unknowns)] - rows @ np.linalg.solve(inner, columns)
    differences = differences_of_residual(system, numbering, state, work, unknowns)
    assert np.abs(K - differences).max() < 1e-8 * np.abs(K).max()


def test_tangent_of_parts_in_fluids_is_the_derivative_of_the_residual():
    built = submerged().build()
    system, state, numbering = built.system, built.state, number_unknowns(built.system)
    work = assembled_workspace(built, numbering, H, np.random.default_rng(4), 0.1)
    work.lam[:] = np.random.default_rng(5).normal(size=len(work.lam))
    assert done(MOVE | ADD, system, numbering, state, work, H) == 0
    K, unknowns = dense(numbering, work.values), np.arange(numbering.size)
    differences = differences_of_residual(system, numbering, state, work, unknowns)
    assert np.abs(K - differences).max() < 1e-8 * np.abs(K).max()


def two_bodies(**interactions):
    inertia = np.array([np.diag([0.4, 0.5, 0.7]), np.diag([0.3, 0.2, 0.4])])
    system = make_system(np.array([1.0, 2.0]), inertia, **interactions)
    v, Omega = np.array([[0.3, 0, 0], [0, 0.2, -0.1]]), np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 1.0]])
    return system, lambda angle=(): make_state(
        system, [[0, 0, 0], [1.0, 0.4, 0]], v=v, Omega=Omega, angle=angle
    )


def x(*rows):
    return np.array(rows, dtype=float)


def test_closed_forms_equal_the_assembled_duals():
    """Closed forms and duals with complex steps give one residual and one matrix, for every kind of constraint."""
    system, numbering, state, work, loads = mid_iteration(BAND)
    generic_groups = workspace(system, numbering, closed=False)
    assert len(work.facts.closed) == len(system.constraints.kind) > len(generic_groups.facts.closed)
    closed = {k for k, kind in enumerate(CONSTRAINTS) if has_closed_forms(kind) and not kind.driven}
    assert set(system.constraints.kind) == closed  # every kind with closed forms is present
    generic_groups.dr[:], generic_groups.psi[:], generic_groups.lam[:] = work.dr, work.psi, work.lam
    for variant in (work, generic_groups):
        iterate(system, numbering, state, variant, H, loads)
    n = numbering.size
    for expected, actual in (
        (work.residual[:n], generic_groups.residual[:n]),
        (dense(numbering, work.values), dense(numbering, generic_groups.values)),
        (work.noise[:n], generic_groups.noise[:n]),
    ):
        assert np.abs(actual - expected).max() < 1e-14 * np.abs(expected).max()


@pytest.mark.parametrize("hidden", [False, True], ids=["em", "em-ggl"])
def test_motion_by_duals_equals_motion_by_closed_forms(monkeypatch, hidden):
    """Bodies on a slider, a hinge and a massless rod, as with a new kind of constraint that has no closed forms yet."""
    model = Model("all", gravity=(0.5, 0.2, -9.81))
    a = model.add_body("a", Box(1, 0.3, 0.2, density=100), (0.5, 0, 0), angular_velocity=(0.3, 0, 0.4))
    b = model.add_body("b", Box(0.8, 0.2, 0.4, density=120), (1.4, 0.1, 0.1))
    c = model.add_body("c", Box(0.6, 0.5, 0.2, density=80), (2, 0.4, 0.3))
    model.add_joint("pin", "revolute", model.ground, a, at=(0, 0, 0), axis=(0.3, 1, 0.2))
    model.add_joint("rail", "prismatic", a, b, at=(1, 0, 0), axis=(1, 0.2, 0.1))
    model.add_joint("rod", "distance", b, c.at((0, 0.1, 0)))
    built = model.build()
    start = project_velocities(built.system, built.state)[0]
    ends = []
    for closed in (True, False):
        monkeypatch.setattr(stepper, "workspace", partial(workspace, closed=closed))
        if not closed:
            without = [kind._replace(closed=None) for kind in CONSTRAINTS]
            monkeypatch.setattr(hidden_assembly, "CONSTRAINTS", without)
        ends.append(Stepper(built.system, 0.01, hidden=hidden).advance(start, 0, 40))
    (one, cost), (other, cost_by_duals) = ends
    assert hidden or cost == cost_by_duals
    assert np.abs(one.r - start.r).max() > 0.1
    for name in ("r", "quat", "v", "Omega", "lam"):
        expected, actual = getattr(one, name), getattr(other, name)
        assert np.abs(actual - expected).max() < 1e-10 * (1 + np.abs(expected).max()), name


@pytest.mark.parametrize("kind", range(len(CONSTRAINTS)))
def test_impulse_round_off_reaches_moments_through_the_lever(kind):
    """Two points at the centres of their bodies: the force has no moment only if they coincide."""
    none = np.zeros((1, 3))
    one = Constraints(
        np.array([kind]), np.array([[1, 2]]), none, none, x([1, 0, 0]), x([0, 1, 0]), np.array([0.5]), np.zeros(1, np.int64),
        x([0, 0, 1]), x([0, 0, 1]),
    )  # fmt: skip
    system, _ = two_bodies(constraints=one)
    numbering = number_unknowns(system)
    work = workspace(system, numbering)
    work.lam[:] = 1.0
    add_constraint_noise(numbering, work)
    at = numbering.frame[1:]
    assert work.noise[at].min() > 0.0
    assert (work.noise[at + 3].max() > 0.0) == (CONSTRAINTS[kind] is not COINCIDENT_POINTS)


def hanging_body(joint, **settings):
    """A rod on a ball joint, with a body at its end."""
    model = Model("hung", gravity=(1.0, 2.0, -9.0))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.2, 0.1)], SOFT, 4)
    bob = model.add_body("bob", Box(0.2, 0.1, 0.1, density=100), position=(1, 0.2, 0.1))
    model.add_joint("pin", "spherical", model.ground.at((0, 0, 0)), rod.start)
    model.add_joint("hinge", joint, rod.end, bob, **settings)
    return model


def test_common_joints_have_bitwise_the_general_equations_and_solution():
    equations = []
    for equations_kind, beyond in ((_bare_equations, None), (_common_equations, True)):
        built = hanging_body("revolute", axis=(0.0, 1.0, 0.5)).build()
        system, numbering = built.system, number_unknowns(built.system)
        assert has_only_common_constraints(system)
        assert has_blocks_beyond_band(numbering) is None
        work, rng = workspace(system, numbering), np.random.default_rng(3)
        work.dr[1:], work.psi[1:] = 0.1 * rng.standard_normal((2, len(work.dr) - 1, 3))
        work.lam[:] = rng.standard_normal(len(work.lam))
        assert done(BEGIN | MOVE | ADD, system, numbering, built.state, work, H, which=equations_kind) == 0
        equations.append([work.residual.copy(), work.values.copy()])
        assert factor_as(beyond, numbering, work) == 0
        work.rhs[:] = work.residual[: numbering.size]
        assert solve_as(beyond, numbering, work) == 0
        equations[-1] += [work.values, work.rhs]
    for one, other in zip(*equations, strict=True):
        assert one.tobytes() == other.tobytes()
        assert one.any()
