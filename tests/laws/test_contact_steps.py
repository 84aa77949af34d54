"""Contact in `em`: a ball that bounces, bodies that meet, what is kept and what is lost."""

import numpy as np
import pytest

from discretization.interaction_table import Interaction, table_of
from discretization.state_measures import energies, momenta
from discretization.time.stepper import Stepper
from rigid.interactions.contact.losses import PLANE_SPHERE_LOSS
from rigid.interactions.contact.planes import PLANE_SPHERE
from rigid.interactions.kinds import Condensed
from rigid.system import State
from tests.support.arrays import make_system
from tests.support.contacts import LINEAR, RODS, SPHERES, turned
from tests.support.new_kinds import registered

R, K, G = 0.05, 1e4, 9.80665
M = 1000.0 * 4 / 3 * np.pi * R**3
FLOOR = np.concatenate([[0.0, K, 1.0, 0.0], [R], [0.0, 0.0, 1.0], np.zeros(6)])
WITHOUT_OWN = PLANE_SPHERE_LOSS._replace(
    name="loss without friction", own=0, condensed=Condensed()
)  # has no bristle to carry


def state_of(r, v, Omega=0.0, own=0):
    """Of bodies at r (n, 3), the ground before them."""
    n = len(r) + 1
    quat = np.tile([1.0, 0, 0, 0], (n, 1))
    at, moving, spin = np.zeros((3, n, 3))
    at[1:], moving[1:], spin[1:] = r, v, Omega
    return State(at, quat, moving, spin, np.zeros(0), np.zeros(own), np.zeros(0), np.zeros(2))


def ball(*more):
    """A ball over a floor, thrown upwards."""
    each = [Interaction(PLANE_SPHERE, (0, 1), FLOOR, (1.0, 1.0)), *more]
    inertia = 0.4 * M * R * R * np.eye(3)
    system = make_system([M], inertia[None], gravity=(0, 0, -G), more=table_of(each))
    return system, state_of([(0.1, 0.2, 1.0)], [(0.0, 0.0, 1.0)])


def history(system, state, h, count):
    stepper, states = Stepper(system, h), [state]
    state = stepper.start(state)
    for k in range(count):
        state, _ = stepper.advance(state, k, 1)
        states.append(state)
    return states


def test_a_ball_bounces_to_the_same_height_every_time():
    """The top that each step of the flight leads to is 1 + v^2/(2 g); in the steps that touch energy is kept to round-off."""
    system, state = ball()
    states = history(system, state, 1e-3, 2000)
    energy = np.array([energies(system, own).total for own in states])
    z, v = (np.array([getattr(own, name)[1, 2] for own in states]) for name in ("r", "v"))
    flies = z > R
    touches = ~(flies[1:] & flies[:-1])
    assert np.sum(touches) > 40
    assert np.abs(np.cumsum(np.diff(energy)[touches])).max() < 1e-14 * energy[0]
    assert np.abs(energy - energy[0]).max() < 1e-11 * energy[0]  # that of the flight
    tops = (z + v * v / (2 * G))[flies]
    assert tops == pytest.approx(1.0 + 1.0 / (2 * G), rel=1e-11)
    assert max(z) == pytest.approx(1.05099, abs=5e-6)
    assert not np.any(states[-1].Omega)


def test_it_is_as_deep_and_touches_as_long_as_the_oscillator():
    system, state = ball()
    h = 2e-4
    states = history(system, state, h, 3000)
    z = np.array([own.r[1, 2] for own in states])
    w, v = np.sqrt(K / M), np.sqrt(2 * G * (1.0 + 1 / (2 * G) - R))
    deepest = G / w**2 + np.hypot(v / w, G / w**2)
    assert deepest == pytest.approx(0.0326, abs=5e-5)
    assert R - z.min() == pytest.approx(deepest, rel=2e-4)
    lasts = (np.pi + 2 * np.arctan(G / (v * w))) / w
    assert lasts == pytest.approx(0.02296, abs=5e-6)
    assert np.sum(z < R) * h == pytest.approx(lasts, abs=h)


def test_between_two_walls_each_speed_is_e_of_the_one_before():
    """10, 7, 4.9, 3.43 m/s; what was lost is counted."""
    e, m = 0.7, 1.6
    loss = [(1 - e * e) / (1 + e * e), 0.0, 1e-4, *np.zeros(5), 1, 1, 1, *np.zeros(4)]
    law = [0.0, 1e6, 1.0, 0.0]
    walls = [
        np.concatenate([law, [R], [0, 0, side], [0, 0, at], np.zeros(3)]) for side, at in ((1, 0), (-1, 0.13))
    ]
    with registered(WITHOUT_OWN):
        each = [Interaction(PLANE_SPHERE, (0, 1), own, (1e5, 1.0)) for own in walls]
        each += [Interaction(WITHOUT_OWN, (0, 1), np.concatenate([own, loss]), (0.0, 0.0)) for own in walls]
        system = make_system([m], 0.01 * np.eye(3)[None], more=table_of(each))
        states = history(system, state_of([(0, 0, 0.06)], [(0, 0, -10.0)]), 2e-5, 1600)
        energy = np.array([energies(system, own).total for own in states[::8]])
    z, v = (np.array([getattr(own, name)[1, 2] for own in states]) for name in ("r", "v"))
    flies = (z > R) & (z < 0.13 - R)
    speeds = np.unique(np.round(np.abs(v[flies]), 3))[::-1]
    assert speeds == pytest.approx([10.0, 7.0, 4.9, 3.43][: len(speeds)], rel=2e-3)
    assert len(speeds) == 4
    lost = np.array([own.totals[1] for own in states])
    assert np.diff(lost).min() >= 0.0
    assert energy + lost[::8] == pytest.approx(energy[0], rel=1e-12)
    assert lost[-1] == pytest.approx(0.5 * m * (100.0 - speeds[-1] ** 2), rel=1e-4)


def test_a_ball_slides_until_it_rolls():
    """With 5/7 of its speed, after 2 v/(7 mu g); a seventh of m v^2 is lost, and the balance closes."""
    mu, v, k = 0.2, 1.0, 1e6
    numbers = np.concatenate([[0.0, k, 1.0, 0.0], FLOOR[4:]])
    loss = [0.0, 0.0, 1e-3, mu, mu, 1e5, *np.zeros(2), 1, 1, 1, *np.zeros(4)]
    each = [
        Interaction(PLANE_SPHERE, (0, 1), numbers, (10.0, 1.0)),
        Interaction(PLANE_SPHERE_LOSS, (0, 1), np.concatenate([numbers, loss]), (0.0, 0.0)),
    ]
    inertia = 0.4 * M * R * R * np.eye(3)
    system = make_system([M], inertia[None], gravity=(0, 0, -G), more=table_of(each))
    state = state_of([(0, 0, R - M * G / k)], [(v, 0, 0)], own=4)
    h = 1e-3
    states = history(system, state, h, 250)
    speed = np.array([own.v[1, 0] for own in states])
    spin = np.array([own.Omega[1, 1] for own in states])
    energy = np.array([energies(system, own).total for own in states])
    lost = np.array([own.totals[1] for own in states])
    slides = np.array([own.own[3] for own in states])
    # the bristle swings on, with sqrt(7 k/(2 m)): nothing damps it
    assert speed[180:].mean() == pytest.approx(5 / 7, rel=1e-3)
    assert spin[180:].mean() * (R - M * G / k) == pytest.approx(5 / 7, rel=1e-3)
    rolls = h * np.flatnonzero(slides).max()
    assert rolls == pytest.approx(2 * v / (7 * mu * G), abs=3 * h)
    sliding = slice(10, 120)
    assert np.diff(speed[sliding]) == pytest.approx(-mu * G * h, rel=1e-6)
    assert np.diff(lost).min() > -1e-16
    assert lost[-1] == pytest.approx(M * v * v / 7, rel=2e-3)
    assert energy + lost == pytest.approx(energy[0], rel=1e-13)


def test_bodies_that_meet_keep_energy_and_both_momenta():
    """Four bodies as nodes of two rods without a rod between, crossing and nearly parallel, and two more as spheres."""
    rng = np.random.default_rng(3)
    block = np.concatenate([LINEAR, [0.3]])
    rods = np.concatenate([block, [5.0, 1.0, 0.0]])
    levers = np.array([0.05, 0.02, -0.03, -0.02, 0.06, 0.01])
    each = [
        Interaction(RODS, (1, 2, 3, 4), rods, (1.0, 1.0)),
        Interaction(RODS, (3, 4, 1, 2), rods, (1.0, 1.0)),
        Interaction(SPHERES, (1, 5), np.concatenate([block, levers]), (1.0, 1.0)),
    ]
    inertia = np.array(
        [turned(rng, 1.0).T @ np.diag([0.02, 0.03, 0.04]) @ turned(rng, 0.0) for _ in range(5)]
    )
    inertia = 0.5 * (inertia + inertia.swapaxes(1, 2)) + 0.02 * np.eye(3)
    system = make_system(np.full(5, 0.5), inertia, more=table_of(each))
    r = [(-0.5, 0.02, 0.35), (0.5, -0.03, 0.36), (-0.6, 0, 0), (0.4, 0, 0), (-0.5, 0.3, 0.6)]
    v = [(0.3, 0, -2.0), (0.3, 0.1, -2.0), (0, 0, 0), (0, 0.2, 0), (0, -1.0, -3.0)]
    state = state_of(r, v, rng.normal(size=(5, 3)))
    states = history(system, state, 1e-3, 300)
    energy = [energies(system, own) for own in states]
    total = np.array([own.total for own in energy])
    assert np.ptp([own.spring for own in energy]) > 0.1
    assert np.abs(total - total[0]).max() < 1e-13 * total[0]
    for found in zip(*(momenta(system, own) for own in states), strict=True):
        found = np.array(found)
        assert np.abs(found - found[0]).max() < 1e-13 * np.abs(found).max()


@pytest.mark.parametrize("lifted", [0.0, 1.0])
def test_what_rests_asks_for_no_matrix_and_what_moves_then_goes_the_same_way(lifted):
    """The residual alone is looked at first where the step before needed no more; bits of what moves do not hang on that: of what
    is pushed on the floor, and of what flies as it is predicted to.
    """
    system, _ = ball()
    rests = state_of([(0.1, 0.2, R - M * G / K)], [(0.0, 0.0, 0.0)])
    known, other, thrown = (Stepper(system, 1e-3) for _ in range(3))
    rests, _ = known.advance(known.start(rests), 0, 20)
    known.work.values[:] = np.nan
    rests, _ = known.advance(rests, 20, 20)
    assert np.isnan(known.work.values).all()
    moves = state_of([(0.1, 0.2, R + lifted)], [(1 / 3, 1 / 7, 0.1)])
    moves, _ = thrown.advance(thrown.start(moves), 0, 1)
    ends = [own.advance(own.start(moves), 1, 30)[0] for own in (known, other)]
    for name in ("r", "quat", "v", "Omega"):
        assert np.array_equal(getattr(ends[0], name), getattr(ends[1], name))
