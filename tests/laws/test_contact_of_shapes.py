"""Two bodies of any shapes that collide, without losses, with losses and with a barrier.

The laws: the sum of energy and losses, the momentum and the angular momentum do not change; losses
never decrease; a collision without losses comes back when its velocities are reversed. The pairs of
shapes are those of `COLLISIONS` in tests/support/solids.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import audit
from tests.support.solids import BARRIER, COLLISIONS, KEPT, LOST, change, rotation

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")


@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for name, own in COLLISIONS.items() for way in own.ways]
)
def test_a_collision_keeps_energy_and_momenta_and_counts_its_losses(name, way):
    collision = COLLISIONS[name]
    result = collision.run(way)
    energy, lost, contact = result.energy["total"], result.dissipation, result.contact("c")
    assert contact.energy.max() > collision.part * energy[0]
    assert (contact.force @ collision.v).max() > 1.0  # the force on the first body, pushed by the second
    assert np.diff(lost).min() > -1e-15
    if way == LOST:
        assert lost[-1] > collision.part * energy[0]
    else:
        assert lost[-1] == 0.0
    assert change(energy + lost) < collision.balance * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    if way != LOST or collision.audits:
        assert audit(result).ok

    distance = result.distance("b", "a")
    near = contact.gap < 0.0
    assert near.any() == (way != BARRIER)
    if collision.other == "rod":  # its gap is that of the stations which are near
        assert distance[near] == pytest.approx(contact.gap[near], abs=1e-9)
        assert (distance <= contact.gap + 1e-9).all()
    else:
        assert distance == pytest.approx(contact.gap, abs=1e-9)
        assert contact.energy == pytest.approx(energy - result.energy["kinetic"], abs=1e-13)
    if way != BARRIER:
        assert contact.gap.min() == pytest.approx(-contact.depth.max(), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "t_end", "tolerance"),
    [
        ("box on box, corner first", 0.03, 1e-7),
        ("box on box, edge on edge", 0.03, 1e-7),
        *((name, 0.1, 1e-8) for name in COLLISIONS if name.startswith("capsule on capsule")),
    ],
)
def test_a_collision_comes_back_when_all_velocities_are_reversed(name, t_end, tolerance):
    collision = COLLISIONS[name]
    there = collision.run(KEPT, t_end)
    ends = [
        (one.r[-1], one.quat[-1], -one.v[-1], -rotation(one.quat[-1]).apply(one.Omega[-1]))
        for one in map(there.body, "ab")
    ]
    back = collision.run(KEPT, t_end, ends)
    assert there.contact("c").energy.max() > collision.part * there.energy["total"][0]
    for body in "ab":
        one, first = back.body(body), there.body(body)
        assert np.abs(one.r[-1] - first.r[0]).max() < 1e-9
        assert np.abs(one.v[-1] + first.v[0]).max() < tolerance
        assert np.abs(first.v[-1]).max() > 0.1
