"""Runs in which surfaces touch: what is conserved, what does not depend on how the run is cut, what cannot pass."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from discretization.contact.table import contacts_of
from discretization.groups import Role, groups_of
from discretization.state_measures import energies
from discretization.system import fingerprint
from discretization.time.contact_stepper import ContactStepper
from discretization.time.stepper import Stepper
from rigid.errors import ConvergenceError, ModelError
from rodsim import Model, Result, Sphere, audit, simulate
from tests.support.touching_models import (
    CROSSING,
    NEARLY_PARALLEL,
    PARALLEL,
    balls,
    carried,
    clamped,
    exchanging,
    two_rods,
    yarns,
)

H = 5e-4


def run(model: Model, t_end: float, dt: float = H, integrator: str = "em", **more) -> Result:
    return simulate(model, t_end, dt, integrator, progress=False, **{"output_every": 1, **more})


def drift(values: np.ndarray) -> float:
    """Of rows, of their largest."""
    return float(np.abs(values - values[0]).max() / np.abs(values[0]).max())


def same(a: Result, b: Result) -> bool:
    """All that the last states hold, to the bit."""
    return all(np.array_equal(x, y) for x, y in zip(a.state(-1), b.state(-1), strict=True))


def stepper_of(model: Model, h: float) -> ContactStepper:
    return ContactStepper(model.build().system, h, lambda system: Stepper(system, h))


@pytest.mark.parametrize("direction", [CROSSING, NEARLY_PARALLEL, PARALLEL])
@pytest.mark.parametrize("dt", [1e-3, 2.5e-4])
def test_rods_that_touch_keep_energy_and_momenta(direction: tuple[float, float, float], dt: float) -> None:
    result = run(two_rods(direction), 0.02, dt)
    assert result.audit_column("spring").max() > 1e-2  # J: they did touch
    assert drift(result.energy["total"]) < 5e-14
    assert drift(result.linear_momentum) < 3e-15
    assert drift(result.angular_momentum) < 5e-14
    assert result.newton_iterations[1:].mean() < 5.0
    assert result.halvings.sum() == 0


def test_audits_of_contacts_take_the_steps_again(tmp_path: Path) -> None:
    result = run(two_rods(), 0.02, output=tmp_path / "rods.vtkhdf", output_every=4)
    found = audit(result)
    assert found.ok
    assert found.retaken.steps == 40
    assert found.recomputed


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em-d(0.8)", "em4"])
def test_a_run_does_not_depend_on_its_outputs_nor_on_being_stopped(integrator: str, tmp_path: Path) -> None:
    file = tmp_path / "balls.vtkhdf"
    whole = run(balls(), 0.2, 1e-3, integrator, output_every=10)
    run(balls(), 0.11, 1e-3, integrator, output_every=10, output=file)
    resumed = run(balls(), 0.2, 1e-3, integrator, output_every=10, output=file, resume=True)
    assert same(whole, resumed)
    assert np.array_equal(whole.newton_iterations, resumed.newton_iterations)
    every = run(balls(), 0.2, 1e-3, integrator)
    assert same(whole, every)
    assert same(whole, run(balls(), 0.2, 1e-3, integrator, output_every=7))
    # lists were made anew on the way
    parts = [every.layout.memory.parts(every.state(k).memory)["reference"] for k in range(every.n_outputs)]
    assert len(np.unique(parts, axis=0)) > 3
    assert every.audit_column("spring").max() > 0.1 * every.energy["total"][0]


def test_rods_of_a_run_that_was_stopped_go_on_to_the_bit(tmp_path: Path) -> None:
    file = tmp_path / "rods.vtkhdf"
    whole = run(two_rods(n=6, m=3), 0.02, output_every=5)
    run(two_rods(n=6, m=3), 0.0075, output_every=5, output=file)
    assert same(whole, run(two_rods(n=6, m=3), 0.02, output_every=5, output=file, resume=True))


def test_schemes_agree(tmp_path: Path) -> None:
    """`em` and GGL-EM in quaternions are the same scheme of free rods; so is `em-ggl`."""
    em = run(two_rods(n=4, m=3, lumped=True), 0.02, output_every=8)
    for integrator, chart in (("em-ggl", None), ("GGL-EM", "quaternion-alpha")):
        other = run(two_rods(n=4, m=3, lumped=True), 0.02, integrator=integrator, chart=chart, output_every=8)
        assert other.rod("other").r[-1] == pytest.approx(em.rod("other").r[-1], abs=1e-13)
        assert drift(other.energy["total"]) < 5e-14
    assert same(
        other, run(two_rods(n=4, m=3, lumped=True), 0.02, integrator="GGL-EM", chart=chart, output_every=3)
    )


def test_parallel_rods_exchange_their_velocities() -> None:
    result = run(exchanging(), 0.8, 1e-3, output_every=100)
    one, other = (result.state(-1).v[rod.frames].mean(axis=0) for rod in result.layout.rods)
    # places known to 5e-16 m are strains of 1e-14 in elements of 10 cm, which go along at sqrt(E/rho) = 13 m/s
    assert np.abs(one).max() < 1.3e-13
    assert other == pytest.approx([0, 0.05, 0], abs=1.3e-13)
    assert drift(result.energy["total"]) < 5e-14
    assert result.newton_iterations.max() < 2.5


def test_a_ball_goes_along_a_rod_as_if_it_had_no_nodes() -> None:
    """So heavy that in a second it does not leave the ridge, where it is in balance as a pencil on its tip."""
    result = run(carried(density=1e6), 1.0, 1e-3, output_every=10)
    ball = result.layout.bodies[0].frame
    r, v = (
        np.array([getattr(result.state(k), x)[ball] for k in range(result.n_outputs)]) for x in ("r", "v")
    )
    assert r[-1, 0] - r[0, 0] == pytest.approx(0.7, abs=1e-9)  # past four nodes
    assert np.abs(r[:, 2] - r[0, 2]).max() < 1e-10
    assert np.abs(v - v[0]).max() < 1e-10


@pytest.mark.parametrize("steps_across", [0.2, 1.0])
def test_fast_yarns_do_not_pass(steps_across: float) -> None:
    """At 10 m/s in steps of one or five radii sums."""
    h = 2e-5 / steps_across
    model = yarns()
    stepper = stepper_of(model, h)
    state, n = stepper.start(model.build().state), round(6e-4 / h)
    one, other = model.build().layout.rods
    nearest = np.inf
    total = energies(stepper.system, state).total
    counted = []
    for k in range(n):
        state, report = stepper.advance(state, k, 1)
        counted.append(report)
        nearest = min(nearest, state.r[other.frames[2], 2] - state.r[one.frames[2], 2])
    assert nearest > 0.0  # none is on the other side
    assert state.v[other.frames, 2].mean() > -9.0  # m/s, they did touch
    assert energies(stepper.system, state).total == pytest.approx(total, rel=1e-11)
    if steps_across < 1.0:
        assert sum(each.halvings for each in counted) > 0
        assert sum(each.passings for each in counted) > 0
    assert sum(each.lists for each in counted) > 0


def test_without_the_question_whether_they_passed_yarns_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ContactStepper, "_accepted", lambda self, state, ends, listed: (len(ends.r), None))
    model = yarns()
    stepper = stepper_of(model, 1e-4)
    state, _ = stepper.advance(stepper.start(model.build().state), 0, 6)
    one, other = model.build().layout.rods
    assert (state.r[other.frames, 2] < state.r[one.frames, 2] - 1e-3).all()


@pytest.mark.parametrize(("m", "words"), [(1, r"their axes are .* touch at 0.02 m.*`stations`"), (6, "")])
def test_what_goes_through_between_stations_is_said(m: int, words: str) -> None:
    """Stations at the nodes alone, of which none is near: shorter steps cure nothing."""
    if not words:
        simulate(two_rods(n=9, m=m), 0.02, 1e-3, progress=False)
        return
    with pytest.raises(ConvergenceError, match=words):
        simulate(two_rods(n=9, m=m), 0.02, 1e-3, progress=False)


def test_the_batch_changes_nothing() -> None:
    model = two_rods(n=4, m=3)
    begun = stepper_of(model, H).start(model.build().state)
    whole, report = stepper_of(model, H).advance(begun, 0, 30)
    single, state, cost = stepper_of(model, H), begun, None
    for k in range(30):
        state, each = single.advance(state, k, 1)
        cost = each if cost is None else cost.plus(each)
    assert all(np.array_equal(a, b) for a, b in zip(whole, state, strict=True))
    assert cost == report
    assert report.lists > 0


def test_a_list_that_a_state_has_left_is_made_anew() -> None:
    """A state may be given other poses than it had: no pair is missed."""
    model = two_rods(n=4, m=3)
    stepper = stepper_of(model, H)
    state = stepper.start(model.build().state)
    rod = model.build().layout.rods[1]
    state.r[rod.frames, 2] -= 0.012
    moved, report = stepper.advance(state, 0, 1)
    assert report.lists == 1
    assert energies(stepper.system, moved).spring > 0.0


def test_energies_and_groups_are_those_of_the_state() -> None:
    model = two_rods(n=4, m=3)
    system, state = model.build().system, model.build().state
    assert energies(system, state).spring == 0.0
    assert [own for own in groups_of(system, state) if own.table == "contacts"] == []
    rod = model.build().layout.rods[1]
    near = state._replace(r=state.r.copy())
    near.r[rod.frames, 2] -= 0.015
    acting = [own for own in groups_of(system, near) if own.table == "contacts"]
    assert [own.role for own in acting] == [Role.ENERGY]
    assert energies(system, near).spring > 0.0
    both = type(state)(*(np.stack(arrays) for arrays in zip(state, near, strict=True)))
    assert np.array_equal(energies(system, both).spring, [0.0, energies(system, near).spring])


def test_energies_of_many_states_are_those_of_each_to_the_bit() -> None:
    for model in (balls(), two_rods(n=4, m=3)):
        result = run(model, 0.02 if model.rods else 0.3, H if model.rods else 1e-3, output_every=2)
        states = [result.state(k) for k in range(result.n_outputs)]
        many = type(states[0])(*(np.stack(arrays) for arrays in zip(*states, strict=True)))
        system = model.build().system
        each = [energies(system, state).spring for state in states]
        assert np.array_equal(energies(system, many).spring, each)
        assert np.count_nonzero(each) > 0


def test_files_have_contacts_where_there_are_some(tmp_path: Path) -> None:
    model, plain = balls(), balls()
    system = model.build().system
    run(model, 0.01, 1e-3, output=tmp_path / "balls.vtkhdf")
    stored = Result.load(tmp_path / "balls.vtkhdf").layout.system
    assert stored is not None
    assert all(np.array_equal(a, b) for a, b in zip(stored.contacts, system.contacts, strict=True))
    assert fingerprint(stored) == fingerprint(system) != fingerprint(system._replace(contacts=contacts_of()))
    plain.build().layout.system = bare = system._replace(contacts=contacts_of())
    built = plain.build()._replace(system=bare)
    plain.build = lambda: built  # type: ignore[method-assign]
    run(plain, 0.01, 1e-3, output=tmp_path / "plain.vtkhdf")
    with h5py.File(tmp_path / "plain.vtkhdf") as file:
        assert "contacts" not in file["rodsim/layout/system"]
        assert "n_points" not in file["rodsim/layout"].attrs
        assert not {"reference", "skin"} & set(file["rodsim"])


def test_what_cannot_take_contacts_says_so() -> None:
    with pytest.raises(
        ModelError, match="does not know contacts between surfaces, of which the model has 1 pairs"
    ):
        clamped().mechanical_system()


def test_a_large_surface_does_not_widen_the_lists_of_small_ones() -> None:
    """Balls above a bowl of 30 m: of 28 pairs among themselves those that are near are listed, as without it."""
    skins = []
    for bowl in (False, True):
        model = Model("bowl", gravity=(0, 0, -9.81))
        balls = []
        for k in range(8):
            body = model.add_body(f"{k}", Sphere(0.05, mass=0.1), (0.3 * k, 0, 0.2), velocity=(0, 0, -1.0))
            balls.append(model.add_sphere(f"{k}", body, 0.05))
        model.add_contact("balls", balls, stiffness=1e4)
        if bowl:
            large = model.add_sphere("bowl", model.ground.at((1.0, 0, -30.0)), 30.0)
            model.add_contact("lie", balls, large, stiffness=1e4)
        stepper = stepper_of(model, 1e-3)
        skins.append(stepper.start(model.build().state).memory[-1])
    assert skins[0] == skins[1] < 0.2
