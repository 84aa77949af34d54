"""Fixed planes that a list of contacts leaves out: they act nowhere while it holds, and nothing of the balance goes with them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.heaps import RADIUS, heap
from discretization.contact.fixed_planes import FixedPlanes, far_away, fixed_planes
from discretization.contact.table import points_of
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import groups_of
from discretization.own_variables import first_settled
from discretization.state_measures import energies
from discretization.system import System
from discretization.time import contact_stepper
from rigid.interactions.contact.friction import OWN, SIZE, STIFFNESS
from rigid.interactions.contact.losses import PLANE_ROD_LOSS
from rigid.interactions.contact.planes import PLANE_ROD, PLANE_SPHERE
from rigid.interactions.evaluation import values
from rodsim import Material, Model, Section
from rodsim import Sphere as Ball

SKIN = 0.03  # m


def model() -> Model:
    """A rod and a ball that may touch, above a fixed floor and beside a wall of a body."""
    found, section = (
        Model("planes", gravity=(0, 0, -9.81)),
        Section.circular(RADIUS, Material(E=1e6, nu=0.3, density=1e3)),
    )
    body, wall = (
        found.add_body(name, Ball(0.02, density=1e3), position=at)
        for name, at in (("b", (0, 0, 0.1)), ("w", (1, 0, 0)))
    )
    ball = found.add_sphere("ball", body.at((0.0, 0.0, 0.1)), 0.02)
    rod = found.add_rod("rod", [(0.1, 0, 0.03), (0.3, 0, 0.09)], section, 4)
    floor = found.add_plane("floor", found.ground.at((0.0, 0.0, 0.0)), (0, 0, 1))
    side = found.add_plane("side", wall.at((0.0, 0.0, 0.0)), (-1, 0, 0))
    for name, own in (("rod", rod), ("ball", ball)):
        found.add_contact(f"{name} on the floor", own, floor, stiffness=1e5)
        found.add_contact(f"{name} at the side", own, side, stiffness=1e5)
    found.add_contact("both", rod, ball, stiffness=1e5)
    return found


def planes_of(system: System) -> FixedPlanes:
    return fixed_planes(system.contacts, system.others, system.frames.fixed == 1)


def test_what_is_left_out_acts_nowhere_within_half_the_skin_and_what_is_not_could() -> None:
    built = model().build()
    system, state = built.system, built.state
    planes, others = planes_of(system), system.others
    kinds = [INTERACTIONS.index(kind) for kind in (PLANE_ROD, PLANE_SPHERE)]
    assert len(planes.use) == 5  # of the floor; the wall moves
    points = points_of(system.contacts, state.r, state.quat)
    far = far_away(planes, len(others.kind), state, points, SKIN)
    lowest = np.array([0.03, 0.045, 0.06, 0.075]) - RADIUS  # the ball's centre is at 0.2
    of_rod = [k for k in planes.use if others.kind[k] == kinds[0]]
    assert far[of_rod].tolist() == (lowest > 0.5 * SKIN).tolist() == [True] * 4
    near = far_away(planes, len(others.kind), state, points, 2.0 * lowest[1] + 1e-9)
    assert near[of_rod].tolist() == [False, False, True, True]
    assert set(np.flatnonzero(far)) == set(planes.use)
    lower = state._replace(r=state.r.copy())
    lower.r[1:, 2] -= 0.5 * SKIN
    left = groups_of(others, np.flatnonzero(far))
    assert not values(left, lower.r[None], lower.quat[None]).any()
    lower.r[1:, 2] -= 0.01
    assert values(left, lower.r[None], lower.quat[None]).any()


def test_what_no_list_limits_the_way_of_is_never_left_out() -> None:
    """The ball has no contact with the rod here, so that no list looks where it goes."""
    own = model()
    del own.contacts["both"]
    assert len(planes_of(own.build().system).use) == 0


@pytest.mark.parametrize("rubbing", [False, True])
def test_leaving_planes_out_changes_nothing(rubbing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    own, ends = heap(3, 2, rubbing), []
    for leaving in (True, False):
        if not leaving:
            monkeypatch.setattr(contact_stepper, "far_away", lambda _, others, *__: np.zeros(others, bool))
        stepper = own.stepper()
        state, _ = stepper.advance(stepper.start(own.state), 0, 100)
        assert stepper._list_of(state).far.any() == leaving
        ends.append(state)
    assert ends[0].r == pytest.approx(ends[1].r, abs=1e-12)
    assert ends[0].own == pytest.approx(ends[1].own, abs=1e-12)
    assert ends[0].totals == pytest.approx(ends[1].totals, abs=1e-12)
    assert not rubbing or ends[0].own.any()


def test_what_a_bristle_keeps_is_lost_where_its_plane_is_left_out() -> None:
    own = heap(3, 2, rubbing=True)
    stepper = own.stepper()
    state = stepper.start(own.state)
    far, others = stepper._list_of(state).far, own.system.others
    which = int(np.flatnonzero(far & (others.kind == INTERACTIONS.index(PLANE_ROD_LOSS)))[1])
    first, zeta = first_settled(own.system)[which], np.array([1e-4, -2e-4, 2e-4])
    state.own[first : first + 3] = zeta
    k = others.numbers[others.first[which + 1] - SIZE + STIFFNESS]
    after = stepper._with_list(state)
    assert k > 0.0
    assert not after.own[first : first + OWN].any()
    assert after.totals[1] - state.totals[1] == pytest.approx(0.5 * k * 9e-8, rel=1e-14)
    before, now = (energies(own.system, each).total + each.totals[1] for each in (state, after))
    assert now == pytest.approx(before, rel=1e-14)
