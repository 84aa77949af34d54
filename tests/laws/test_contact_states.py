"""Forces and losses of contacts at a state are those of very short steps, of the interactions that are in them."""

from __future__ import annotations

import numpy as np
import pytest

from discretization.contact.search import candidates
from discretization.contact.table import FIRST, Pair, Rod, contacts_of
from discretization.contact.table import Sphere as Surface
from discretization.contact.windows import losses_of, windows_of
from discretization.interaction_table import groups_of
from rigid import quaternions
from rigid.system import State
from rodsim.results.contact_forces import Patches, touching
from rodsim.results.contact_rows import _listed
from tests.support.contacts import dual

H = 1e-7


def loss(**change: float) -> np.ndarray:
    """b, c, rest speed, static, kinetic, k_t, drill, roll, forth, back, side."""
    names = ("b", "c", "rest", "static", "kinetic", "k", "drill", "roll", "forth", "back", "side")
    given = dict.fromkeys(names, 0.0) | {"rest": 1e-3, "k": 1e4, "forth": 1.0, "back": 0.6, "side": 0.8}
    return np.array(list((given | change).values()))


@pytest.mark.parametrize("part", ["rod", "sphere"])
@pytest.mark.parametrize("sliding", [0.0, 1.0])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_of_a_short_step_all_of_it(part, sliding, way):
    """Unequal radii, all losses at once, friction forth and back, held by the static or the kinetic coefficient."""
    rng = np.random.default_rng(4)
    r = np.zeros((6, 3))
    r[1:3] = (0.1, -0.2, 0.22), (0.15, 0.5, 0.24)
    r[3:6] = (-0.2, 0, 0), (0.2, 0.02, 0), (0.6, 0, 0.02)
    quat = quaternions.normalize(rng.normal(size=(6, 4)))
    v, Omega = rng.normal(size=(2, 6, 3))
    v[1:3, 2] -= 3.0
    state = State(r, quat, v, Omega, *(np.zeros(0),) * 4)
    one = Rod([1, 2], [0.7], 0.2) if part == "rod" else Surface(1, (0.05, 0.2, -0.01), 0.2)
    if part == "sphere":
        r[1] -= quaternions.rotate(quat[1], one.X) - [0, 0.2, 0]
    given = loss(b=0.3, c=0.02, static=0.5, kinetic=0.3, drill=0.02, roll=0.03)
    pair = Pair(0, 1, (0, 3e3, 1, 0), given, stations=4, side=FIRST)
    contacts = contacts_of([one, Rod([3, 4, 5], [0.4, 0.4], 0.1)], [pair])
    points = r[contacts.frames] + quaternions.rotate(quat[contacts.frames], contacts.X)
    pairs = candidates(contacts, points, 0.5)
    windows = windows_of(contacts, pairs)
    others, stiffness = losses_of(contacts, windows)
    ((kind, frames, numbers, _),) = groups_of(others, np.arange(len(windows)))
    assert len(windows) == 1
    zeta = quaternions.rotate(quaternions.conjugate(quat[1]), np.array([0.004, 0.02 * way, 0.0]))
    numbers[0, -4:] = *zeta, sliding
    listed = _listed(contacts, pairs)
    patches = Patches(given[None], stiffness, zeta[None], np.array([sliding]), listed.first, listed.part)
    found = touching(listed.rows, patches, state)
    ends = []
    for h in (-0.5 * H, 0.5 * H):
        of_turn = quaternions.from_rotation_vector(h * Omega[frames[0]])
        R = quaternions.to_matrix(quaternions.multiply(quat[frames[0]], of_turn))
        ends.append(np.concatenate([(r + h * v)[frames[0], None], np.swapaxes(R, 1, 2)], axis=1))
    f = dual(kind, *ends, numbers[0], 1 / H).real
    lost, law = np.zeros((6, 3)), np.zeros((6, 3))
    without = patches._replace(loss=loss()[None], stiffness=0.0 * stiffness)
    np.add.at(lost, listed.rows.frames, found.force - touching(listed.rows, without, state).force)
    np.subtract.at(law, frames[0], f[:, 0])
    size = np.abs(law).max()
    assert size > 1.0
    assert found.normal[0] > 0.0
    if part == "rod":  # whose nodes have moments besides, of their forces at the places of contact
        assert lost == pytest.approx(law, abs=1e-5 * size)
    else:
        assert lost.sum(axis=0) == pytest.approx(law.sum(axis=0), abs=1e-5 * size)
    if sliding:
        work = np.sum(f * (ends[1] - ends[0])) / H
        assert found.lost[0] == pytest.approx(work, rel=1e-5)
        assert found.tangential[0] @ found.slip[0] != 0.0
