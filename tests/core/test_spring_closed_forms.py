"""Closed forms that `em` uses next to the duals: springs against their duals, selection of a form by number."""

import numpy as np
import pytest

from discretization.interaction_kinds import INTERACTIONS
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.closed_forms import dispatch_by_number
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.kinds import has_closed_forms
from rigid.interactions.spring import SPRING, force_of_step
from rigid.interactions.torsion_spring import BRANCH, TORSION_SPRING, angle_of, torque_of_step
from rigid.linear_algebra import dot
from rodsim import Box, Model, simulate
from tests.support.interactions import dual, names, numbers, poses

ANGLES = [(0.0, 1e-9), (1e-3, 0.1), (1.0, 1.2), (0.3, 2.4)]


def test_bend_of_a_tendon_is_the_change_of_its_gradient():
    kind = next(kind for kind in INTERACTIONS if kind.name == "inextensible tendon of 3 frames")
    rng = np.random.default_rng(3)
    X, y, z = rng.normal(size=19), rng.normal(size=(3, 4, 3)), rng.normal(size=(3, 4, 3))
    on, gradient, bend = (np.zeros((3, 4, 3), complex) for _ in range(3))
    on[...] = y + 1e-60j * z
    kind.dual(on, on, X, np.ones(1, complex), gradient)
    kind.bend(y.astype(complex), z.astype(complex), X, np.ones(1, complex), bend)
    assert np.abs(bend).max() > 0.1
    assert bend.real == pytest.approx(gradient.imag / 1e-60, abs=1e-13)


def place(y, X):
    return y[:, 0] + np.einsum("ai,aij->aj", X, y[:, 1:])


@pytest.mark.parametrize("angles", ANGLES)
def test_spring_force_equals_its_dual(angles):
    rng = np.random.default_rng(1)
    X = numbers(SPRING, rng)[:8]
    y0, y1 = (poses(rng, angle)[0] for angle in angles)
    d0, d1 = (np.diff(place(y, X[:6].reshape(2, 3)), axis=0)[0] for y in (y0, y1))
    sigma, _, dissipated = force_of_step((X[6], 0.0, X[7]), 0.1, tuple(d0), tuple(d1))
    assert dissipated == 0.0
    expected = dual(SPRING, y0, y1, X, [1.0])[1, 0].real
    assert sigma * (d0 + d1) / 2 == pytest.approx(expected, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("angles", ANGLES)
def test_torsion_spring_torque_equals_its_dual(angles):
    rng = np.random.default_rng(2)
    X = numbers(TORSION_SPRING, rng)
    y0, y1 = (poses(rng, angle)[0] for angle in angles)
    at = [tuple(map(tuple, (X[0:3] @ y[0, 1:], X[3:6] @ y[0, 1:], X[6:9] @ y[1, 1:]))) for y in (y0, y1)]
    (u, w, b), branch = at[0], X[BRANCH]
    start = angle_of(complex(np.dot(u, b)), complex(np.dot(w, b)), branch).real
    _, dissipated, torque, _, _ = torque_of_step((X[9], 0.0, X[10]), 0.1, start, *at)
    assert dissipated == 0.0
    f = dual(TORSION_SPRING, y0, y1, X, [1.0]).real
    torques = np.cross((y0 + y1)[:, 1:] / 2, f[:, 1:]).sum(axis=1)
    size = np.abs(torques).max()
    assert np.array(torque) == pytest.approx(torques[0], abs=1e-14 * (1 + size))
    assert np.array(torque) == pytest.approx(-torques[1], abs=1e-14 * (1 + size))


@pytest.mark.parametrize("damping", [0.0, 0.4])
@pytest.mark.parametrize(
    "how", [{"along": "distance"}, {"along": "rotation", "axis": (0.0, 0.6, 0.8)}], ids=str
)
def test_springs_conserve_the_energy_balance(how, damping):
    model = Model("two")
    a = model.add_body(
        "a", Box(1.0, 0.5, 0.3, density=20.0), velocity=(0.3, 0, 0), angular_velocity=(1.0, 2.0, 14.0)
    )
    b = model.add_body("b", Box(0.6, 0.8, 0.4, density=20.0), (1.0, 0.4, 0), velocity=(0, 0.2, -0.1))
    ends = (a.at((0, 0.2, 0)), b.at((0.1, 0, 0.3))) if how["along"] == "distance" else (a, b)
    model.add_spring("spring", *ends, 30.0, damping=damping, **how)
    result = simulate(model, 1.0, 0.02, output_every=1, progress=False)
    total = result.energy["total"]
    assert (result.dissipation[-1] > 1e-3) == (damping > 0)
    assert np.abs(total + result.dissipation - total[0]).max() < 1e-13 * (1 + total[0])


@inline_kernel
def first_of(a, b):
    return a[0]


def test_closed_form_is_selected_by_its_number():
    a, b = (1.0, 2.0, 3.0), (0.5, -1.0, 4.0)
    choose = dispatch_by_number("tested", [dot, None, first_of])
    assert choose(0, a, b) == 10.5
    assert choose(2, a, b) == 1.0


@pytest.mark.parametrize("kind", list(filter(has_closed_forms, CONSTRAINTS)), ids=names)
def test_constraints_satisfy_their_declared_properties(kind):
    """Directions alone exert no force on points; a quadratic constraint pulls along d; no resultant moment remains."""
    d = (
        (0.0, 0.0, 0.0) if kind.constant else (1.0, 1.5, -0.5)
    )  # forces at two points: collinear only if these coincide
    pair = (1.0, 2.0, 3.0), (0.5, -1.0, 4.0), (0.3, 0.1, 0.2), (0.7, -0.2, 0.4), d
    force, torque_a, torque_b = kind.closed.pull((1.0, 0.0, 0.0), pair)
    assert (np.abs(force).max() == 0.0) == kind.turns
    assert (force == d) == kind.quadratic
    arm = np.add(d, pair[2]) - pair[3]  # r_b - r_a
    assert np.abs(np.add(torque_a, torque_b) + np.cross(arm, force)).max() < 1e-14
