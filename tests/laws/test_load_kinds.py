"""Loads as interactions: a new kind is a dual and an entry, and closed forms agree with duals."""

import cmath
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    FIRST_LOAD,
    Interaction,
)
from discretization.solver_selection import select_stepper
from rigid.interactions.kinds import Kind, dual_function, frame, no_bend, store
from rigid.interactions.loads import LOADS
from rigid.interactions.pressure import nothing
from rigid.kinematics.poses import ZERO
from rigid.linear_algebra import average, dot, minus, times
from rodsim import Box, Model, Section, audit, equilibrium, modes, simulate
from rodsim import measures as measured
from rodsim.components.base import ExternalValues, InteractionComponent
from tests.support.new_kinds import registered

H, DT = 0.02, 0.01


@dual_function
def thrust_dual(y0, y1, X, lam, out):
    """Minus the first parameter along the mean of d_1, at the origin of the frame."""
    F = times(-lam[0] * X[0], average(frame(y0, 0)[1], frame(y1, 0)[1]))
    store((F, ZERO, ZERO, ZERO), out, 0)


THRUSTER = Kind("thruster of a test", 1, 0, nothing, thrust_dual, no_bend, works=True, signal=0)


@dataclass(frozen=True, eq=False)
class Thruster(InteractionComponent):
    """A load kind defined here only: it pushes a body along its first axis."""

    name: str
    part: Any
    thrust: Callable

    @property
    def kind(self):
        return THRUSTER.name

    def make_interactions(self, poses):
        return [Interaction(THRUSTER, (poses.frame_of(self.part),), np.zeros(3), (0.0, 0.0))]

    def external_values(self, poses):
        return [ExternalValues(1, self.values, self.thrust)]

    def values(self, times):
        return np.array([[(self.thrust(t), 0.0, 0.0)] for t in times]).reshape(-1, 1, 3)

    def described(self):
        return {"kind": self.kind}


def body_with_thruster(new: bool, spin=(1, 2, 0)) -> Model:
    """A body on a bushing, pushed by a thruster or the equal follower force, and by a dead force."""
    model = Model("thrown", gravity=(0.0, 0.0, -9.81))
    body = model.add_body(
        "body", Box(0.3, 0.2, 0.1, density=100), position=(0.1, 0.2, 0), angular_velocity=spin
    )
    model.add_bushing("mount", model.ground, body, 300.0, at=(0.1, 0.2, 0.3), damping=2.0)
    model.add_force("dead", body.at((0.1, 0, 0)), (0.0, 2.0, 1.0))
    if new:
        model.others["jet"] = Thruster("jet", body, lambda t: 5.0 + 20.0 * t)
    else:
        model.add_force("jet", body.at((0, 0, 0)), lambda t: (5.0 + 20.0 * t, 0.0, 0.0), following=True)
    return model


@pytest.mark.parametrize(
    "run",
    [
        partial(simulate, t_end=0.1, dt=0.01),
        partial(simulate, t_end=0.1, dt=0.01, integrator="em-d(0.8)"),
        partial(simulate, t_end=0.1, dt=0.01, integrator="EML"),
        partial(simulate, t_end=0.1, dt=0.01, integrator="EM-G", chart="director"),
        equilibrium,
    ],
    ids=["em", "em-d", "EML", "EM-G", "equilibrium"],
)
def test_new_load_needs_only_a_dual_and_an_entry(run):
    """No code outside this file knows the kind; its parameters come from its entry."""
    ends = []
    with registered(THRUSTER):
        for new in (True, False):
            result = (
                run(body_with_thruster(new), progress=False)
                if run is not equilibrium
                else run(body_with_thruster(new))
            )
            ends.append(result.state(-1))
    for name in ("r", "quat", "v", "Omega", "totals"):
        one, other = (getattr(end, name) for end in ends)
        np.testing.assert_allclose(one, other, atol=1e-10, err_msg=name)


def test_modes_support_a_new_load_by_its_dual():
    with registered(THRUSTER):
        models = [body_with_thruster(new, spin=None) for new in (True, False)]
        values = [np.sort_complex(modes(model, 3, anyway=True).values) for model in models]
    np.testing.assert_allclose(*values, atol=1e-9)


@dual_function
def push_dual(y0, y1, X, lam, out):
    """Minus the first parameter times the discrete derivative of the distance of the origins of both frames."""
    d0, d1 = minus(frame(y0, 1)[0], frame(y0, 0)[0]), minus(frame(y1, 1)[0], frame(y1, 0)[0])
    f = times(-2.0 * lam[0] * X[0] / (cmath.sqrt(dot(d0, d0)) + cmath.sqrt(dot(d1, d1))), average(d0, d1))
    store((f, ZERO, ZERO, ZERO), out, 1)
    store((times(-1.0, f), ZERO, ZERO, ZERO), out, 0)


PUSH = Kind("push of a test", 2, 0, nothing, push_dual, no_bend, works=True, signal=0)


@dataclass(frozen=True, eq=False)
class Push(Thruster):
    """A force along the line between two bodies."""

    def make_interactions(self, poses):
        frames = [poses.frame_of(part) for part in self.part]
        return [Interaction(PUSH, frames, np.zeros(3), (1.0, 0.0))]


def thrust(t):
    return 4.0 + 3.0 * np.sin(9.0 * t)


def two_bodies(supported: bool) -> Model:
    """Two bodies that are pushed apart, free or each on a ball joint."""
    model = Model("pushed", gravity=(0.0, 0.0, -9.81) if supported else (0.0, 0.0, 0.0))
    a = model.add_body(
        "a", Box(0.3, 0.2, 0.1, density=100), angular_velocity=None if supported else (1, 2, 0)
    )
    b = model.add_body("b", Box(0.2, 0.3, 0.1, density=100), position=(0.9, 0.1, 0.2))
    if supported:
        model.add_joint("ball of a", "spherical", model.ground, a, at=(-0.1, 0.1, 0.2))
        model.add_joint("ball of b", "spherical", model.ground, b, at=(1.0, 0.3, 0.1))
    model.others["push"] = Push("push", (a, b), thrust)
    model.add_sensor("distance", measured.distance(a, b))
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_load_between_two_frames_does_the_work_of_its_distance(integrator):
    with registered(PUSH):
        result = simulate(two_bodies(True), 0.3, DT, integrator, output_every=1, progress=False)
        assert audit(result).ok
    gain = np.diff(result.energy["total"])
    change = np.diff(result.sensor("distance").value)
    assert gain == pytest.approx(thrust(result.t[:-1] + DT / 2) * change, abs=1e-13)


@pytest.mark.parametrize(
    "settings", [{}, {"integrator": "em-d(0.5)"}, {"integrator": "EM-G", "chart": "director"}]
)
def test_load_between_two_frames_conserves_momenta(settings):
    with registered(PUSH):
        result = simulate(two_bodies(False), 0.2, DT, output_every=1, progress=False, **settings)
        momenta = result.linear_momentum, result.angular_momentum
    assert all(np.abs(momentum - momentum[0]).max() < 1e-12 for momentum in momenta)


def test_load_between_two_frames_is_the_same_in_the_fast_and_the_general_solver():
    with registered(PUSH):
        fast, general = (
            simulate(two_bodies(True), 0.3, DT, solver=solver, progress=False)
            for solver in ("auto", "general")
        )
    assert fast.description["run"]["solver"].startswith("tree")
    assert np.abs(fast.state().r - general.state().r).max() < 1e-13


def on_bushings(model: Model) -> Model:
    """Support both bodies by bushings."""
    for name, x in (("a", 0.0), ("b", 0.9)):
        model.add_bushing(name, model.ground, model.bodies[name], 30.0, at=(x, 0.1, 0.3))
    return model


def test_equilibrium_with_a_load_between_two_frames_is_that_with_an_equal_spring():
    with registered(PUSH):
        pushed = equilibrium(on_bushings(two_bodies(False)), load_time=0.05)
        state, model = pushed.state(), on_bushings(two_bodies(False))
        stiffness, length = 50.0, float(np.linalg.norm(state.r[2] - state.r[1]))
        del model.others["push"]
        model.add_spring("spring", "a", "b", stiffness, length=length + thrust(0.05) / stiffness)
        sprung = equilibrium(model)
    assert np.abs(sprung.state().r - state.r).max() < 1e-9


@contextmanager
def use_duals(closed):
    """Evaluate loads by their duals, unless `closed`."""
    use = slice(FIRST_LOAD, FIRST_LOAD + len(LOADS))
    INTERACTIONS[use] = LOADS if closed else [kind._replace(loop=0) for kind in LOADS]
    yield
    INTERACTIONS[use] = LOADS


def pushed_rod():
    """A free rod with a body and one load of each kind."""
    model = Model("rod")
    section = Section.from_stiffness(
        EA=300.0, GA=200.0, GJ=5.0, EI=8.0, mass_per_length=2.0, inertia_per_length=(0.05, 0.06, 0.07)
    )
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.2, 0)], section, n_elements=3, mass="lumped")
    body = model.add_body("body", Box(0.3, 0.2, 0.1, density=100), position=(1.1, 0.2, 0))
    model.add_joint("weld", "weld", rod.end, body)
    for name, following in (("dead", False), ("following", True)):
        model.add_force(f"{name} force", body.at((0.1, 0.05, 0)), (2.0, 1.0, 3.0), following=following)
        model.add_moment(
            f"{name} moment", rod.start, lambda t: (0.3, np.cos(9 * t), 0.2), following=following
        )
    return model.build()


@pytest.mark.parametrize("damped", [{}, {"rho": 0.8}])
def test_run_by_duals_equals_run_by_closed_forms(damped):
    built, ends = pushed_rod(), []
    for closed in (True, False):
        with use_duals(closed):
            stepper = select_stepper(built.system, H, 2, built.load_values, shortcut=False, **damped)
        end, _ = stepper.advance(stepper.start(built.state), 0, 10)
        ends.append(end)
    assert abs(ends[0].totals[0]) > 1e-3
    for name in ("r", "quat", "v", "Omega", "totals"):
        one, other = (getattr(end, name) for end in ends)
        np.testing.assert_allclose(one, other, atol=1e-11, rtol=1e-11, err_msg=name)
