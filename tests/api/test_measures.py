"""Measures of a state.

Rates compared with differences, stacked states compared with single ones, the stored system.
"""

import numpy as np
import pytest

from discretization.state_measures import (
    constraint_residual,
    element_states,
    energies,
    momenta,
    translational_momenta,
    velocity_residual,
)
from discretization.system import fingerprint
from rigid import quaternions
from rigid.system import ALONG, COINCIDENT, DISTANCE, PERPENDICULAR, Constraints, State
from rodsim import Result, simulate
from tests.support.array_systems import everything, free_rod, make_state, make_system
from tests.support.completeness import DT, MODELS


def constrained(kind):
    """Two bodies in a general position, their points well apart, with one constraint that is not satisfied."""
    rng = np.random.default_rng(7)
    one = Constraints(
        np.array([kind]),
        np.array([[1, 2]]),
        *rng.standard_normal((4, 1, 3)),
        np.array([0.3]),
        np.zeros(1, np.int64),
    )
    system = make_system(np.ones(2), np.tile(np.eye(3), (2, 1, 1)), constraints=one)
    quat = quaternions.normalize(rng.standard_normal((2, 4)))
    return system, make_state(system, rng.standard_normal((2, 3)), quat, *rng.standard_normal((2, 2, 3)))


def moved(state, t):
    """The frames after t seconds at constant velocities of `state`."""
    rotation = quaternions.from_rotation_vector(t * quaternions.rotate(state.quat, state.Omega))
    return state._replace(r=state.r + t * state.v, quat=quaternions.multiply(rotation, state.quat))


@pytest.mark.parametrize("kind", [COINCIDENT, PERPENDICULAR, ALONG, DISTANCE])
def test_velocity_residual_is_the_rate_of_unsatisfied_constraints(kind):
    system, state = constrained(kind)
    h = 1e-5
    ahead, behind = (constraint_residual(system, moved(state, t)) for t in (h, -h))
    slope = (ahead - behind) / (2 * h)
    assert np.abs(slope).min() > 0.1  # zeros would test nothing
    assert velocity_residual(system, state) == pytest.approx(slope, rel=1e-8)


def stacked(states):
    return State(*(np.stack(arrays) for arrays in zip(*states, strict=True)))


@pytest.mark.parametrize("make", [everything, free_rod])
@pytest.mark.parametrize(
    "measure",
    [element_states, energies, momenta, translational_momenta, constraint_residual, velocity_residual],
)
def test_measures_of_stacked_states_equal_those_of_single_states(make, measure):
    system, state = make()
    states = [moved(state, 0.1 * k)._replace(v=state.v * k) for k in range(3)]
    together = measure(system, stacked(states))
    separate = [measure(system, one) for one in states]
    if not isinstance(together, tuple):
        together, separate = (together,), [(one,) for one in separate]
    for field, of_each in zip(together, zip(*separate, strict=True), strict=True):
        np.testing.assert_allclose(field, of_each, rtol=1e-13, atol=1e-13)


def test_momentum_of_a_rod_with_consistent_mass_is_the_sum_over_frames():
    system, state = free_rod()
    p = translational_momenta(system, state)[1:]
    assert p.sum(axis=0) == pytest.approx(system.frames.mass[1:] @ state.v[1:])
    assert np.abs(p - system.frames.mass[1:, None] * state.v[1:]).max() > 1e-3  # the mass is not lumped
    kinetic = energies(system, state._replace(Omega=np.zeros_like(state.Omega))).kinetic
    assert np.sum(p * state.v[1:]) == pytest.approx(2 * kinetic)  # p = dT/dv
    spin = quaternions.rotate(state.quat, np.einsum("nij,nj->ni", system.frames.inertia, state.Omega))[1:]
    assert momenta(system, state)[1] == pytest.approx((np.cross(state.r[1:], p) + spin).sum(axis=0))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", MODELS)
def test_result_stores_its_system_bitwise(name, tmp_path):
    built = MODELS[name]().build().system
    for output in (None, tmp_path / "a.vtkhdf"):
        result = simulate(MODELS[name](), 2 * DT, DT, output=output)
        stored = (Result.load(output) if output else result).layout.system
        assert fingerprint(stored) == fingerprint(built) == result.description["fingerprint"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_table_of_a_system_is_filled_in_some_model():
    systems = [make().build().system for make in MODELS.values()]
    for kind in systems[0]._fields:
        assert any(np.size(getattr(system, kind)[0]) > 0 for system in systems), kind
