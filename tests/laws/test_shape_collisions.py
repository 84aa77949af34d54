"""Impacts of bodies of any shape, rods and planes, with all contact laws, with and without dissipation.

Invariants: the sum of energy and dissipation, momentum and angular momentum are constant; dissipation
never decreases; the reported force changes the momentum, and the dissipation rate the energy. An impact
without dissipation is reversed if its velocities are. The pairs of shapes are those of `COLLISIONS` in
tests/support/solids.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from rodsim import ContactBegins, Friction, audit
from tests.support.solids import BARRIER, COLLISIONS, CONSERVATIVE, DISSIPATIVE, RUBBER, change, rotation, run

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for name in COLLISIONS for way in COLLISIONS[name].ways]
)
def test_collision_conserves_momenta_and_accounts_for_losses(name, way):
    collision = COLLISIONS[name]
    result = collision.run(way)
    energy, lost, contact = result.energy["total"], result.dissipation, result.contact("c")
    assert contact.energy.max() > collision.part * energy[0]
    assert (contact.force @ collision.v).max() > 1.0  # the force on the first body, exerted by the second
    assert np.diff(lost).min() > -1e-15
    if way == DISSIPATIVE:
        assert lost[-1] > collision.part * energy[0]
    else:
        assert lost[-1] == 0.0
    assert change(energy + lost) < collision.balance * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    if way != DISSIPATIVE or collision.audits:
        assert audit(result).ok

    distance = result.distance("b", "a")
    near = contact.gap < 0.0
    assert near.any() == (way != BARRIER)
    if collision.other == "rod":  # its gap is that of the close stations
        assert distance[near] == pytest.approx(contact.gap[near], abs=1e-9)
        assert (distance <= contact.gap + 1e-9).all()
    else:
        assert distance == pytest.approx(contact.gap, abs=1e-9)
        assert contact.energy == pytest.approx(energy - result.energy["kinetic"], abs=1e-13)
    if way != BARRIER:
        assert contact.gap.min() == pytest.approx(-contact.depth.max(), abs=1e-12)


def contact_laws(k: float) -> list[dict]:
    """Contact laws of this stiffness, N/m, or N/m^2 for rods."""
    return [
        {"stiffness": k},
        {"stiffness": 7 * k, "exponent": 1.5},
        {"law": f"{k}*depth - {2 * k}*depth**2 + {13 * k}*depth**3"},
        {"law": "barrier", "stiffness": 0.3 * k, "reach": 0.02},
    ]


FRICTION = Friction(0.3, static=0.4, tangential_stiffness=1e8)
SLIDES = {"friction": FRICTION, "restitution": 0.6, "rest_speed": 0.1}
STICKS = {"friction": replace(FRICTION, tangential_stiffness=1e3), "damping": 0.1, "rest_speed": 10}

MORE = {"rod": {"anisotropy": (1.5, 0.6, 0.8)}, "sphere": {"rolling": 0.02, "drilling": 0.03}}


def momentum(collision, model, result):
    """Momentum (T, 3), kg m/s, of the second surface."""
    if collision.other == "rod":
        mass, v = RUBBER.mass_per_length * np.linalg.norm(np.subtract(*collision.place)), result.rod("b").v
        return 0.5 * mass * (v[:, 1:] + v[:, :-1]).mean(axis=1)
    body, center = result.body("b"), model.bodies["b"].properties.center
    return collision.mass * (body.v + np.cross(body.omega, rotation(body.quat).apply(center)))


@cache
def run_past_contact(name):
    """Run until 0.1 ms after the first contact."""
    collision = COLLISIONS[name]
    touch = run(collision.model(), collision.t_end, 1e-4, events=[ContactBegins()])
    return run(collision.model(), touch.t[-1] + 1e-4, 1e-4)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("name", COLLISIONS)
def test_contact_force_changes_momentum_and_its_loss_the_energy(name, smooth):
    """Steps of a microsecond, with the trapezoidal rule, soon after the first contact; laws and losses in turn."""
    collision, k, h = COLLISIONS[name], list(COLLISIONS).index(name), 1e-6
    options_by_law = contact_laws(2e6 if collision.other == "rod" else 3e4)
    law, losses = (
        (options_by_law[k % 4], {}) if smooth else (options_by_law[(k + 1) % 3], (SLIDES, STICKS)[k % 2])
    )
    if losses:
        losses = losses | {"friction": replace(losses["friction"], **MORE.get(collision.other, {}))}
    start = run_past_contact(name)
    begins = max(0.0, start.t[-1] - 6e-3) if "reach" in law else start.t[-1]
    model = collision.model(**law, **losses)
    result = run(model, 20 * h, h, start=start, start_time=begins)
    contact, late = result.contact("c"), slice(10, None)
    force = 0.5 * (contact.force[1:] + contact.force[:-1])[late]
    size = np.abs(force).max()
    changed = np.diff(momentum(collision, model, result), axis=0)[late] / h
    lost = np.diff(result.dissipation)[late] / h
    assert size > 0.01
    assert -force == pytest.approx(changed, abs=2e-4 * size)
    assert contact.energy == pytest.approx(result.energy["spring"], rel=1e-10, abs=1e-18)
    assert bool(contact.sliding[-1]) == ("restitution" in losses)
    if losses:
        assert lost.min() > 0.0
        assert 0.5 * (contact.loss_rate[1:] + contact.loss_rate[:-1])[late] == pytest.approx(lost, rel=0.02)


@pytest.mark.parametrize(
    ("name", "t_end", "tolerance"),
    [
        ("box on box, corner first", 0.03, 1e-7),
        ("box on box, edge on edge", 0.03, 1e-7),
        *((name, 0.1, 1e-8) for name in COLLISIONS if name.startswith("capsule on capsule")),
    ],
)
def test_collision_is_time_reversible(name, t_end, tolerance):
    collision = COLLISIONS[name]
    forward = collision.run(CONSERVATIVE, t_end)
    ends = [
        (one.r[-1], one.quat[-1], -one.v[-1], -rotation(one.quat[-1]).apply(one.Omega[-1]))
        for one in map(forward.body, "ab")
    ]
    back = collision.run(CONSERVATIVE, t_end, ends)
    assert forward.contact("c").energy.max() > collision.part * forward.energy["total"][0]
    for body in "ab":
        one, first = back.body(body), forward.body(body)
        assert np.abs(one.r[-1] - first.r[0]).max() < 1e-9
        assert np.abs(one.v[-1] + first.v[0]).max() < tolerance
        assert np.abs(first.v[-1]).max() > 0.1
