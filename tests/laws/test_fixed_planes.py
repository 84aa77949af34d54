"""Fixed planes that a contact list omits: motion and energy balance are unchanged."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.heaps import heap
from discretization.interaction_kinds import INTERACTIONS
from discretization.internal_variables import first_history_variable
from discretization.state_measures import energies
from discretization.time import contact_stepper
from rigid.interactions.contact.friction import N_INTERNAL, SIZE, STIFFNESS
from rigid.interactions.contact.sphere_rod_dissipation import PLANE_ROD_DISSIPATION
from rodsim import Model, simulate
from rodsim import Sphere as Ball


@pytest.mark.parametrize("rubbing", [False, True])
def test_omitting_inactive_planes_changes_nothing(rubbing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model_heap, ends = heap(3, 2, rubbing), []
    for leaving in (True, False):
        if not leaving:
            monkeypatch.setattr(contact_stepper, "are_inactive", lambda _, count, *__: np.zeros(count, bool))
        stepper = model_heap.stepper()
        state, _ = stepper.advance(stepper.start(model_heap.state), 0, 100)
        assert stepper._list_of(state).far.any() == leaving
        ends.append(state)
    assert ends[0].r == pytest.approx(ends[1].r, abs=1e-12)
    assert ends[0].internal == pytest.approx(ends[1].internal, abs=1e-12)
    assert ends[0].totals == pytest.approx(ends[1].totals, abs=1e-12)
    assert not rubbing or ends[0].internal.any()


def test_bristle_energy_is_dissipated_if_its_plane_is_omitted() -> None:
    model_heap = heap(3, 2, rubbing=True)
    stepper = model_heap.stepper()
    state = stepper.start(model_heap.state)
    far, interactions = stepper._list_of(state).far, model_heap.system.others
    which = int(np.flatnonzero(far & (interactions.kind == INTERACTIONS.index(PLANE_ROD_DISSIPATION)))[1])
    first, zeta = first_history_variable(model_heap.system)[which], np.array([1e-4, -2e-4, 2e-4])
    state.internal[first : first + 3] = zeta
    k = interactions.numbers[interactions.first[which + 1] - SIZE + STIFFNESS]
    after = stepper._with_new_list(state)
    assert k > 0.0
    assert not after.internal[first : first + N_INTERNAL].any()
    assert after.totals[1] - state.totals[1] == pytest.approx(0.5 * k * 9e-8, rel=1e-14)
    before, now = (energies(model_heap.system, s).total + s.totals[1] for s in (state, after))
    assert now == pytest.approx(before, rel=1e-14)


def test_ball_outside_all_contact_lists_lands_on_its_floor() -> None:
    """Bodies outside all lists are never omitted, because no list follows their motion."""
    model = Model("apart", gravity=(0.0, 0.0, 0.0))
    balls = []
    for k, place in enumerate(((0, 0, 0.3), (5, 0, 9), (5, 0, 9.3))):
        body = model.add_body(
            f"body {k}", Ball(0.1, density=1e3), place, velocity=(0, 0, -1.0 if k == 0 else 0.0)
        )
        balls.append(model.add_sphere(f"ball {k}", body, 0.1))
    floor = model.add_plane("floor", model.ground.at((0.0, 0.0, 0.0)), (0, 0, 1))
    model.add_contact("landing", balls[0], floor, stiffness=1e6)
    model.add_contact("pair", balls[1], balls[2], stiffness=1e6)
    height = simulate(model, 0.5, 2e-3, output_every=1).body("body 0").r[:, 2]
    assert 0.05 < height.min() < 0.1 < height[-1]
