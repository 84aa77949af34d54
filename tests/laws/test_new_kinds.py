"""Kinds registered in this file work everywhere without changes elsewhere: constraints and an energy of three frames,
and an energy with an internal variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from discretization.interaction_table import Interaction, table_of
from discretization.multipliers import multipliers_of
from discretization.redundancy import constraint_jacobian, redundancy
from discretization.state_measures import constraint_residual, momenta, velocity_residual
from rigid import quaternions
from rigid.errors import ModelError, RedundantJointsWarning
from rodsim import Model, audit, equilibrium, modes, simulate
from tests.support.completeness import BRICK, DT, MODELS, T_END
from tests.support.consumers import CONSUMERS
from tests.support.new_kinds import (
    COIL,
    HALFWAY,
    ROPE,
    STRAIGHT,
    Coil,
    ThreePoints,
    registered,
    three_points,
)

pytestmark = pytest.mark.filterwarnings("ignore::rigid.errors.InitialVelocityWarning")


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(MODELS, "three_points", three_points)
    with registered(HALFWAY, ROPE, STRAIGHT, COIL):
        yield


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_kind_registered_in_a_test_passes_every_consumer(consumer: str, tmp_path: Path) -> None:
    CONSUMERS[consumer]("three_points", tmp_path)


def free_bodies() -> Model:
    """Bodies connected only by the three kinds, thrown and spinning."""
    model = Model("free", gravity=(0.0, 0.0, 0.0))
    bodies = [
        model.add_body(f"body {k}", BRICK, position=(k, 0.2 * k * k, 0.1 * k), velocity=(0.1, k - 1.5, 0.3))
        for k in range(4)
    ]
    a, b, c, d = (body.at((0.1, 0.05, -0.1)) for body in bodies)
    middle = bodies[1].at((0.1, 0.25, -0.1))  # between a and c
    model.others["half"] = ThreePoints("half", a, middle, c, HALFWAY, 0.5)
    model.others["rope"] = ThreePoints("rope", a, d, b, ROPE)
    model.others["line"] = ThreePoints("line", b, c, d, STRAIGHT, 20.0)
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "EML-kappa", "GGL-EM"])
def test_new_constraints_are_satisfied_and_conserve_energy_and_momenta(integrator: str) -> None:
    result = simulate(free_bodies(), T_END, DT, integrator, output_every=1, progress=False)
    system, states = result.layout.system, result.states(slice(None))
    assert system is not None
    total = result.energy["total"]
    if integrator != "EML-kappa":  # its energy is generalised
        assert np.abs(total - total[0]).max() < 1e-12 * abs(total[0])
    assert np.abs(constraint_residual(system, states)).max() < 1e-13
    if integrator in ("em-ggl", "GGL-EM"):
        assert np.abs(velocity_residual(system, states)).max() < 1e-11
    if integrator.startswith("em"):
        for momentum in momenta(system, states):
            assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert np.abs(states.lam[1:]).min(axis=0).max() > 0.1  # the constraint forces are nonzero


def test_all_schemes_agree_in_motion_and_forces() -> None:
    runs = [
        simulate(free_bodies(), 0.05, 1e-3, name, progress=False).state()
        for name in ("em", "em-ggl", "GGL-EM")
    ]
    for other in runs[1:]:
        assert other.r == pytest.approx(runs[0].r, abs=2e-5)


def test_new_constraint_rows_have_the_right_jacobian() -> None:
    built = free_bodies().build()
    system, state = built.system, built.state
    rng = np.random.default_rng(3)
    v, Omega = rng.normal(size=(2, *state.v.shape))
    moving = state._replace(
        v=v * (np.arange(len(v)) > 0)[:, None], Omega=Omega * (np.arange(len(v)) > 0)[:, None]
    )
    velocity = np.hstack([moving.v, quaternions.rotate(moving.quat, moving.Omega)]).ravel()
    rate = velocity_residual(system, moving)
    assert np.abs(rate).min() > 1e-3
    assert constraint_jacobian(system, moving) @ velocity == pytest.approx(rate, rel=1e-12)


def test_redundant_new_constraint_is_detected_and_solved() -> None:
    def twice() -> Model:
        model = three_points()
        model.others["again"] = ThreePoints("again", *(getattr(model.others["rope"], x) for x in "abc"), ROPE)  # type: ignore[misc]
        return model

    with pytest.warns(RedundantJointsWarning, match="rope 'rope'.*rope 'again'"):
        built = twice().build()
    multipliers = multipliers_of(built.system)
    assert multipliers.repeats.tolist()[-3:] == [False, True, True]
    assert redundancy(built.system, built.state).excess == 1  # type: ignore[union-attr]
    with pytest.warns(RedundantJointsWarning):
        computed = simulate(twice(), T_END, DT, progress=False).state()
    one = simulate(three_points(), T_END, DT, progress=False).state()
    assert computed.r == pytest.approx(one.r, abs=1e-9)
    assert computed.lam[-2:].sum() == pytest.approx(one.lam[-1], rel=1e-6)


def test_constraint_violated_at_the_start_is_named() -> None:
    model = three_points()
    half = model.others["half"]
    model.others["half"] = ThreePoints("half", half.a, half.b, half.c, HALFWAY, 0.4)  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match=r"halfway 'half': \|g\| = 0.2"):
        model.build()


def test_constraint_without_a_size_is_rejected() -> None:
    with pytest.raises(ModelError, match=r"rope: gradient sizes .* are not positive"):
        table_of([Interaction(ROPE, (0, 1, 2), np.zeros(10), (0.0, 0.0))])


def wound_shafts(new: bool) -> Model:
    """Two bodies on shafts that a coil rotates by more than one turn, as a torsion spring or as a user kind."""
    model = Model("wound", gravity=(0.0, 0.0, 0.0))
    for k in range(2):
        body = model.add_body(f"body {k}", BRICK, position=(0.1, k, 0.2), angular_velocity=(0, 0, 40.0))
        model.add_joint(f"shaft {k}", "revolute", model.ground, body, at=(0.1, k, 0.2), axis=(0, 0, 1))
        if new:
            model.others[f"coil {k}"] = Coil(f"coil {k}", model.ground, body, (0, 0, 1), 0.5, 0.3 * k)
        else:
            model.add_spring(
                f"coil {k}", model.ground, body, 0.5, along="rotation", axis=(0, 0, 1), angle=0.3 * k
            )
    return model


@pytest.mark.parametrize("integrator", ["em", "EML"])
def test_counted_angle_of_a_new_kind_equals_that_of_a_torsion_spring(integrator: str) -> None:
    one, other = (
        simulate(wound_shafts(new), 0.4, 0.01, integrator, output_every=4, progress=False)
        for new in (False, True)
    )
    a, b = one.states(slice(None)), other.states(slice(None))
    assert a.internal.max() > 4 * np.pi
    assert b.internal == pytest.approx(a.internal, abs=1e-11)
    assert b.quat == pytest.approx(a.quat, abs=1e-11)
    assert other.energy["spring"] == pytest.approx(one.energy["spring"], abs=1e-10)
    assert audit(other).ok, audit(other).text()


def test_equilibria_and_modes_use_the_counted_angles() -> None:
    results = []
    for new in (False, True):
        model = wound_shafts(new)
        for k in range(2):
            model.add_moment(f"moment {k}", model.bodies[f"body {k}"], (0.0, 0.0, 3.9 + k))
        static_solution = equilibrium(model)
        results.append(
            (
                static_solution.state().internal,
                np.sort(np.abs(modes(model, 2, static_solution.state()).values)),
            )
        )
    assert results[0][0] == pytest.approx([7.8, 10.1], abs=1e-9)
    for one, other in zip(*results, strict=True):
        assert other == pytest.approx(one, rel=1e-9)


def test_kind_of_too_many_frames_is_rejected() -> None:
    wide = ROPE._replace(name="net", arity=65)
    with pytest.raises(
        ModelError, match="net: 65 frames, 1 rows and 0 internal variables; the limits are 64"
    ):
        table_of([Interaction(wide, range(65), np.zeros(66), (1.0, 0.0))])
