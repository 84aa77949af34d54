"""Events: times found within a step, balances through releases and impulses, and runs that are resumed."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipk, ellipkinc

from rigid.errors import ConvergenceError, ModelError
from rodsim import (
    Adaptive,
    Box,
    Cylinder,
    Model,
    Result,
    Section,
    Sphere,
    audit,
    controllers,
    equilibrium,
    measures,
    signals,
    simulate,
    simulate_many,
)
from rodsim.warnings import ModelCheckWarning

Z = (0, 0, 1)


def balance(result: Result) -> np.ndarray:
    """Energy minus work plus losses, from its initial value, relative to the largest kinetic energy."""
    total = result.audit_column("total") - result.audit_column("work") + result.audit_column("dissipation")
    total = total + result.algorithmic
    return np.asarray(total - total[0]) / max(result.audit_column("kinetic").max(), 1e-3)


def run(model: Model, t_end: float, dt: float, **settings: object) -> Result:
    """Simulate with an output after each step, and check the audit and the balance of energy."""
    result = simulate(model, t_end, dt, progress=False, output_every=1, **settings)
    report = audit(result)
    assert report.ok, report.text()
    assert np.abs(balance(result)).max() < 1e-11
    return result


def arm(drive: bool = True) -> Model:
    """A bar of 1 m on a hinge, horizontal at t = 0."""
    model = Model("arm", gravity=(0, 0, -9.81))
    bar = model.add_body("bar", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
    hinge = model.add_joint("hinge", "revolute", "ground", bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_sensor("phi", measures.angle("ground", bar, axis=(0, 1, 0)))
    if drive:
        model.add_drive("lock", hinge, signals.Constant(0.0))
    return model


def moment_of_inertia(model: Model, name: str, axis: int) -> float:
    return float(np.array(model.bodies[name].properties.inertia)[axis, axis])


def time_of_fall(angle: float) -> float:
    """Time in which the bar of `arm` falls by an angle, by elliptic integrals."""
    inertia = moment_of_inertia(arm(), "bar", 1) + 0.25
    k = np.sin(np.pi / 4)
    amplitude = np.arcsin(np.sin((np.pi / 2 - angle) / 2) / k)
    return float((ellipk(k * k) - ellipkinc(amplitude, k * k)) / np.sqrt(9.81 * 0.5 / inertia))


# --- times


def test_pendulum_stops_at_an_angle_at_the_time_of_the_elliptic_integral() -> None:
    errors = []
    for dt in (0.02, 0.01, 0.005):
        model = arm(drive=False)
        model.add_event("end", "phi >= 1.2", stop=True)
        result = run(model, 2.0, dt)
        assert result.ended_by == ("end",)
        assert 0.0 <= result.sensor("phi").value[-1] - 1.2 < 1e-10
        assert result.t[-1] == result.event("end").times[0]
        assert (result.step[-1] - 1) * dt < result.t[-1] < result.step[-1] * dt
        errors.append(abs(result.t[-1] - time_of_fall(1.2)))
    assert errors[2] < 2e-5
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(2.0, abs=0.1)


def test_stop_with_adaptive_steps_has_their_accuracy() -> None:
    model = arm(drive=False)
    model.add_event("end", "phi >= 1.2", stop=True)
    result = simulate(model, 2.0, Adaptive(1e-6), progress=False)
    assert audit(result).ok
    assert result.t[-1] == pytest.approx(time_of_fall(1.2), abs=1e-6)


@pytest.mark.parametrize("t", [0.0512345, 0.05, 0.05 + 1e-10, 0.06 - 1e-10])
def test_event_at_a_time_happens_at_that_time(t: float) -> None:
    model = arm()
    model.add_event("go", f"t >= {t}", release="lock")
    result = run(model, 0.1, 0.01)
    assert result.event("go").times == pytest.approx([t], abs=1e-8)
    assert result.event("go").count[-1] == 1
    inertia = moment_of_inertia(model, "bar", 1) + 0.25
    assert result.body("bar").omega[-1, 1] == pytest.approx(9.81 * 0.5 / inertia * (0.1 - t), rel=1e-3)


def test_joint_breaks_at_a_force_at_a_time_of_order_two() -> None:
    limits, errors = (4.4, 4.7, 5.0, 5.3), np.zeros((3, 4))
    for (i, dt), (k, limit) in itertools.product(enumerate((0.008, 0.004, 0.002)), enumerate(limits)):
        model = Model("sling")
        bar = model.add_body("bar", Box(0.5, 0.1, 0.1, mass=1.0), position=(0.25, 0, 0))
        model.add_joint("pin", "revolute", "ground", bar, at=(0, 0, 0), axis=Z)
        model.add_moment("motor", bar, (0, 0, 1.0))
        for name, axis in (("fx", (1, 0, 0)), ("fy", (0, 1, 0))):
            model.add_sensor(name, measures.joint_force("pin", "force", axis=axis))
        model.add_event("break", f"sqrt(fx**2 + fy**2) > {limit}", release="pin")
        result = run(model, 0.5, dt)
        alpha = 1.0 / (moment_of_inertia(model, "bar", 2) + 0.0625)
        rate = (((limit / 0.25) ** 2 - alpha**2) ** 0.5) ** 0.5  # m r sqrt(w^4 + alpha^2) is the limit
        errors[i, k] = abs(result.event("break").times[0] - rate / alpha)
        loose = ~result.joint("pin").acts
        assert np.ptp(result.body("bar").v[loose], axis=0).max() < 1e-12
        assert np.abs(result.joint("pin").force[loose][1:]).max() == 0.0
    assert (
        errors / np.array([[0.008], [0.004], [0.002]]) ** 2
    ).max() < 2.0  # a line through two forces is off by 0.4 h^2/t


@pytest.mark.parametrize("t", [0.0512, 0.05])
@pytest.mark.parametrize("limit", [3.5, 2.5])
def test_force_that_jumps_is_not_extrapolated(t: float, limit: float) -> None:
    """An event sets a force of 3 N on a block that a joint holds: the joint breaks at 2.5 N, not at 3.5 N."""
    model = Model("block")
    block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0))
    model.add_joint("glue", "weld", "ground", block, at=(0, 0, 0))
    hand = model.add_controller("hand", controllers.External())
    model.add_force("pull", block, hand.output().along((1, 0, 0)))
    model.add_sensor("f", measures.joint_force("glue", "force", axis=(-1, 0, 0)))
    model.add_event("pulls", f"t >= {t}", set={"hand.u": 3.0})
    model.add_event("breaks", f"f > {limit}", release="glue")
    result = run(model, 0.2, 0.01)
    assert len(result.event("breaks").times) == (limit < 3.0)
    assert limit > 3.0 or t <= result.event("breaks").times[0] < t + 0.021


@pytest.mark.parametrize(("integrator", "late"), [("em", 2e-3), ("em-ggl", 1e-5)])
def test_force_in_steps_that_are_split_does_not_break_a_joint(integrator: str, late: float) -> None:
    """The force on a pendulum grows to 2.5 m g below; a load of zero with corners splits steps on the way."""

    def nothing(t: float) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0 * t

    times = []
    for corners in ((), (0.1234, 0.1266, 0.2051, 0.3003)):
        nothing.corners = corners
        model = arm(drive=False)
        model.add_force("nothing", "bar", nothing)
        model.add_sensor("f", measures.joint_force("hinge", "force", axis=(0, 0, 1)))
        model.add_event("breaks", "abs(f) > 20", release="hinge")
        times += run(model, 0.6, 0.01, integrator=integrator).event("breaks").times.tolist()
    assert len(times) == 2
    assert times[0] == pytest.approx(times[1], abs=late)


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_part_of_a_model_that_is_let_go_does_not_move_in_another_plane(solver: str) -> None:
    """At rest, a free bar with a load along y is symmetric about the plane across x, in which it does not move later."""
    model = arm(drive=False)
    model.add_force("aside", "bar", (0, 0.1, 0))
    model.add_event("let go", "t >= 0.2", release="hinge")
    result = run(model, 0.4, 0.01, solver=solver)
    v, r, free = result.body("bar").v, result.body("bar").r, result.t >= 0.2
    assert np.abs(v[free][0, 0]) > 0.1
    assert np.diff(r[free], axis=0)[:, 0] == pytest.approx(0.01 * v[free][0, 0], rel=1e-9)
    assert np.diff(v[free], axis=0) == pytest.approx(
        np.tile([0, 1e-3, -0.0981], (int(free.sum()) - 1, 1)), abs=1e-12
    )


def test_force_in_a_short_part_of_a_step_does_not_break_a_joint() -> None:
    """`em` reflects velocities that violate joints in each step, however short: these impulses do not break them."""
    times = []
    for other in ("t > 9", "t >= 0.300002", "t >= 0.30500001"):
        model = arm(drive=False)
        hand = model.add_controller("hand", controllers.External())
        model.add_force("push", "bar", hand.output().along((0, 1e-9, 0)))
        model.add_sensor("f", measures.joint_force("hinge", "force", axis=(0, 0, 1)))
        model.add_event("other", other, set={"hand.u": 1.0})
        model.add_event("breaks", "abs(f) > 20", release="hinge")
        result = run(model, 0.6, 0.01)
        times += result.event("breaks").times.tolist()
    assert len(times) == 3
    assert times == pytest.approx([times[0]] * 3, abs=2e-3)


# --- releases


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em4", "em-d(0.8)"])
@pytest.mark.parametrize("solver", ["auto", "general"])
def test_energy_is_conserved_through_a_release_of_a_rod(integrator: str, solver: str) -> None:
    model = Model("rope", gravity=(0, 0, -9.81))
    section = Section.from_stiffness(
        EA=1e4, GA=1e4, GJ=1e-3, EI=1e-3, mass_per_length=0.1, inertia_per_length=1e-6
    )
    rod = model.add_rod("rope", [(0, 0, 0), (1, 0, 0)], section, 8)
    model.add_joint("left", "spherical", model.ground, rod.start)
    model.add_joint("right", "spherical", model.ground, rod.end)
    model.add_event("let go", "t >= 0.0212345", release=["left", "right"])
    result = run(model, 0.06, 2e-3, integrator=integrator, solver=solver)
    assert result.event("let go").times == pytest.approx([0.0212345], abs=1e-12)
    assert result.event("let go").loss[-1] == 0.0
    free = result.t > 0.0222
    fallen = result.linear_momentum[free] + np.outer(result.t[free], (0, 0, 0.981))
    assert np.abs(fallen - fallen[0]).max() < 1e-13


def test_end_of_a_folded_chain_falls_faster_than_a_free_body() -> None:
    """Published: the tip of a folded chain accelerates beyond g. Energy and the horizontal momentum are conserved."""
    model, n, length = Model("chain", gravity=(0, 0, -9.81)), 40, 0.025
    places = [(0.0, -length * (k + 0.5)) for k in range(n // 2)]
    places += [(0.01, -length * (n // 2 - k - 0.5)) for k in range(n // 2)]
    links = [
        model.add_body(f"link {k}", Box(0.01, 0.01, length, mass=0.025), (x, 0, z))
        for k, (x, z) in enumerate(places)
    ]
    ends = [(0.0, 0.0)] + [(0.0, -length * (k + 1)) for k in range(n // 2)]
    ends += [(0.01, -length * (n // 2 - k - 1)) for k in range(n // 2)]
    turn = n // 2
    for k in range(1, n):
        x, z = ends[k] if k != turn else (0.005, -length * turn)
        model.add_joint(f"pin {k}", "revolute", links[k - 1], links[k], at=(x, 0, z), axis=(0, 1, 0))
    model.add_joint("support", "revolute", "ground", links[0], at=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("hand", "revolute", "ground", links[-1], at=(0.01, 0, 0), axis=(0, 1, 0))
    model.add_event("let go", "t >= 0.0101", release="hand")
    result = run(model, 0.3, 0.001)
    tip = result.body(f"link {n - 1}").r[:, 2]
    fallen = tip[0] - tip
    assert fallen[-1] > 0.5 * 9.81 * (0.3 - 0.0101) ** 2 + 0.005
    assert result.constraint_residual.max() < 1e-12


# --- impulses


@pytest.mark.parametrize(("integrator", "solver"), [("em", "auto"), ("em", "general"), ("em-ggl", "auto")])
def test_latch_of_two_discs_has_the_impulse_of_the_closed_form(integrator: str, solver: str) -> None:
    model = Model("discs")
    a = model.add_body("a", Cylinder(0.2, 0.05, mass=2.0), angular_velocity=(0, 0, 3.0))
    b = model.add_body(
        "b", Cylinder(0.3, 0.05, mass=1.0), position=(0, 0, 0.2), angular_velocity=(0, 0, -1.0)
    )
    model.add_joint("axle", "revolute", "ground", a, at=(0, 0, 0), axis=Z)
    model.add_joint("clutch", "revolute", a, b, at=(0, 0, 0.1), axis=Z)
    model.add_drive("latch", "clutch", signals.Constant(0.0))
    model.add_sensor("phi", measures.angle(a, b, axis=Z))
    model.add_event("catch", "phi <= -1", engage="latch")
    result = run(model, 0.5, 0.01, integrator=integrator, solver=solver)
    Ia, Ib = (moment_of_inertia(model, name, 2) for name in "ab")
    together = (3.0 * Ia - Ib) / (Ia + Ib)
    loss = 0.5 * Ia * Ib / (Ia + Ib) * 4.0**2
    for name in "ab":
        assert result.body(name).omega[-1, 2] == pytest.approx(together, rel=1e-12)
    assert result.event("catch").loss[-1] == pytest.approx(loss, rel=1e-12)
    assert result.audit_column("dissipation")[-1] == pytest.approx(loss, rel=1e-12)
    assert np.ptp(result.angular_momentum[:, 2]) < 1e-14
    assert result.sensor("phi").value[-1] == pytest.approx(-1.0, abs=1e-9)
    assert not result.audit_column("work").any()


def test_engaged_drive_does_the_work_of_its_impulse() -> None:
    """A flywheel at rest is coupled to a motor of constant rate: half of the work of the impulse is lost."""
    model = Model("motor")
    wheel = model.add_body("wheel", Cylinder(0.2, 0.05, mass=2.0))
    model.add_joint("axle", "revolute", "ground", wheel, at=(0, 0, 0), axis=Z)
    model.add_drive("motor", "axle", signals.Steady(5.0))
    model.add_event("start", "t >= 0.0333", engage="motor")
    model.add_event("end", "t >= 0.0777", release="motor")
    result = run(model, 0.1, 0.01)
    energy = 0.5 * moment_of_inertia(model, "wheel", 2) * 5.0**2
    assert result.audit_column("work")[-1] == pytest.approx(2.0 * energy, rel=1e-3)
    assert result.event("start").loss[-1] == pytest.approx(energy, rel=1e-12)
    assert result.body("wheel").omega[-1, 2] == pytest.approx(5.0, rel=1e-3)


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_impulse_on_a_driven_frame_and_a_drive_counts_their_work(integrator: str) -> None:
    """A shaken frame and a motor drive two bodies that are locked to them one after the other."""
    model = Model("shaken", gravity=(0, 0, -9.81))
    shaker = model.add_driven("shaker", displacement=signals.Sine(0.02, 5.0).along((0, 0.6, 0.8)))
    one, two = (
        model.add_body(name, Box(0.5, 0.3, 0.2, mass=3.0), position=(x, 0, 0))
        for name, x in (("one", 0.3), ("two", 0.8))
    )
    model.add_joint("hinge", "revolute", shaker, one, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("pin", "revolute", one, two, at=(0.55, 0, 0), axis=(0, 1, 0))
    model.add_drive("lock", "hinge", signals.Constant(0.0))
    model.add_drive("motor", "pin", signals.Steady(1.0))
    model.add_event("locked", "t >= 0.0312", engage="lock")
    model.add_event("driven", "t >= 0.0512", engage="motor")
    model.add_event("free", "t >= 0.0733", release=["lock", "hinge"])
    result = run(model, 0.12, 0.002, integrator=integrator)
    first, second, last = (result.event(name).loss[-1] for name in result.event_names)
    assert first > 1e-3
    assert second > 1e-3
    assert last == 0.0
    total = sum(result.drive_work(name)[-1] for name in ("lock", "motor", "shaker"))
    assert total == pytest.approx(result.audit_column("work")[-1], rel=1e-12)


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_string_that_becomes_taut_takes_the_radial_energy(solver: str) -> None:
    """A ball on a string is thrown: it flies along a parabola until the string is taut."""
    errors, g = [], np.array([0, 0, -9.81])
    p0, v0 = np.array([0.3, 0.0, 0.2]), np.array([-0.2, 0.0, 0.3]) * 0.5
    length = float(np.linalg.norm(p0))
    for dt in (0.01, 0.005):
        model = Model("string", gravity=g)
        ball = model.add_body("ball", Sphere(0.02, mass=1.0), position=p0, velocity=v0)
        model.add_joint("string", "distance", "ground@0,0,0", ball.at((0, 0, 0)))
        model.add_sensor("d", measures.distance("ground@0,0,0", ball))
        model.add_event("taut", f"d >= {length * (1 - 1e-12)!r} and t > 0.01", engage="string")
        result = run(model, 0.5, dt, integrator="em-ggl", solver=solver)
        t = brentq(lambda t: np.linalg.norm(p0 + v0 * t + 0.5 * g * t * t) - length, 0.02, 0.5)
        position, velocity = p0 + v0 * t + 0.5 * g * t * t, v0 + g * t
        errors.append(abs(result.event("taut").times[0] - t))
        assert result.event("taut").loss[-1] == pytest.approx(
            0.5 * (velocity @ position / length) ** 2, rel=1e-3
        )
        assert result.event("taut").count[-1] == 1
        assert result.sensor("d").value.max() <= length * (1 + 1e-9)
    assert max(errors) < 1e-9  # em is exact for a parabola


def test_angle_of_a_ratchet_only_grows() -> None:
    model = arm()
    model.add_moment("push", "bar", ["0", "4*sin(2*pi*t)", "0"])
    model.add_sensor("pawl", measures.joint_force("lock", "moment"))
    model.add_event("hold", "phi.rate < 0", engage="lock")
    model.add_event("go", "pawl < 0", release="lock")
    result = run(model, 2.0, 0.005, integrator="em-ggl")
    assert np.diff(result.sensor("phi").value).min() > -1e-10
    assert result.event("hold").count[-1] >= 2
    assert result.event("hold").loss[-1] < 1e-8
    locked = result.joint("lock").acts
    assert 20 < locked.sum() < len(locked) - 20


def random_chain(seed: int) -> Model:
    """A chain of bodies on joints of several kinds, some locked or driven; events release and engage them."""
    random = np.random.default_rng(seed)
    model, last, parts = Model("chain", gravity=(0.5 * (seed % 2), 0, -9.81)), "ground", []
    for k in range(4):
        body = model.add_body(
            f"body {k}", Box(1.0, 0.2, 0.3, mass=1.0 + random.random()), position=(k + 0.5, 0, 0)
        )
        kind, axis = ("revolute", "prismatic", "spherical", "weld")[random.integers(4)], random.normal(size=3)
        if seed % 2:  # in a plane
            kind, axis = ("revolute", "prismatic")[random.integers(2)], np.array([0.0, 1.0, 0.0])
            axis = axis if kind == "revolute" else np.array([1.0, 0.0, 0.0])
        has_axis = kind in ("revolute", "prismatic")
        model.add_joint(f"joint {k}", kind, last, body, at=(k, 0, 0), axis=axis if has_axis else None)
        parts.append([f"joint {k}"])
        if has_axis and random.random() < 0.7:
            model.add_drive(
                f"drive {k}",
                f"joint {k}",
                signals.Steady(random.normal()) if k % 2 else signals.Constant(0.0),
            )
            parts[-1].append(f"drive {k}")
        last = body
    for k, t in enumerate(random.uniform(0.01, 0.09, 4)):
        drives = [drive for _, *drive in parts if drive]
        if drives and k < 2:
            model.add_event(f"engage {k}", f"t > {t:.5f}", engage=drives[random.integers(len(drives))])
        else:
            model.add_event(f"release {k}", f"t > {t:.5f}", release=parts[random.integers(4)])
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
@pytest.mark.parametrize("seed", range(6))
def test_solvers_agree_through_events_of_random_chains(seed: int, integrator: str) -> None:
    one, other = (
        run(random_chain(seed), 0.1, 0.005, integrator=integrator, solver=solver)
        for solver in ("auto", "general")
    )
    for field in ("r", "quat", "v", "Omega"):
        a, b = (getattr(result.states(slice(None)), field) for result in (one, other))
        assert a == pytest.approx(b, abs=1e-9)
    assert min(one.event(name).loss.min() for name in one.event_names) > -1e-12


# --- several events


def test_events_at_one_time_happen_together() -> None:
    model = arm()
    hand = model.add_controller("hand", controllers.External(2.0))
    model.add_force("push", "bar", hand.output().along((1, 0, 0)))
    model.add_event("one", "t >= 0.0234", release="lock")
    model.add_event("two", "0.0234 <= t", set={"hand.u": 0.0})
    result = run(model, 0.1, 0.01)
    assert result.event("one").times == result.event("two").times == pytest.approx([0.0234])
    assert result.controller("hand").output()[-1] == 0.0


def test_output_is_set_where_a_body_passes() -> None:
    model = Model("track")
    block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0))
    hand = model.add_controller("hand", controllers.External([1.0, 2.0]), outputs=["a", "b"])
    model.add_force("push", block, hand.output("b").along((1, 0, 0)))
    model.add_sensor("x", measures.coordinate(block, axis=(1, 0, 0)))
    model.add_event("coast", "x >= 0.5", set={"hand.b": 0.0})
    result = run(model, 1.0, 0.01)
    assert result.event("coast").times == pytest.approx([np.sqrt(0.5)], abs=1e-9)
    assert result.body("block").v[-1, 0] == pytest.approx(np.sqrt(2.0), abs=1e-9)
    assert result.controller("hand").output("a")[-1] == 1.0


def pair_with_a_spring_that_breaks(by: str) -> Model:
    """Two bodies that fly apart along x; a spring or a tendon between them lets go at 10 N."""
    model = Model("pair")
    for name, x, v, mass in (("a", 0.0, -1.0, 1.0), ("b", 1.0, 2.0, 3.0)):
        model.add_body(name, Box(0.1, 0.1, 0.1, mass=mass), position=(x, 0, 0), velocity=(v, 0, 0))
    model.add_sensor("d", measures.distance("a", "b"))
    start, end = {"stiffness": (50.0, 0.0), "length": (1.0, 1e3)}[by]
    number = model.add_controller("number", controllers.External(start))
    if by == "stiffness":
        model.add_spring("between", "a", "b", stiffness=number.output(), length=1.0)
    else:
        model.add_tendon("between", ["a", "b"], stiffness=50.0, length=number.output())
    model.add_event("breaks", "50*(d - 1) > 10", set={"number.u": end})
    return model


@pytest.mark.parametrize("by", ["stiffness", "length"])
def test_spring_that_breaks_takes_its_energy_out_and_keeps_the_momentum(by: str, tmp_path: Path) -> None:
    """Closed form: the relative motion is harmonic with the reduced mass 0.75 kg up to the break, and steady after it."""
    omega = np.sqrt(50.0 / 0.75)
    exact, speed = np.arcsin(0.2 * omega / 3.0) / omega, np.sqrt(9.0 - (0.2 * omega) ** 2)
    errors = []
    for dt in (0.01, 0.005):
        result = run(pair_with_a_spring_that_breaks(by), 0.4, dt)
        errors.append(result.event("breaks").times[0] - exact)
        relative = result.body("b").v[-1, 0] - result.body("a").v[-1, 0]
        assert relative == pytest.approx(speed, abs=1e-8)
        assert result.work[-1] == pytest.approx(-0.5 * 50.0 * 0.2**2, abs=1e-9)
        assert np.abs(result.linear_momentum[:, 0] - 5.0).max() < 1e-13
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.1)
    whole = simulate(pair_with_a_spring_that_breaks(by), 0.4, 0.01, progress=False)
    for t_end, resume in ((0.2, False), (0.4, True)):
        settings = {"output": tmp_path / "pair.vtkhdf", "resume": resume, "progress": False}
        resumed = simulate(pair_with_a_spring_that_breaks(by), t_end, 0.01, **settings)
    assert np.array_equal(resumed.body("b").r[-1], whole.body("b").r[-1])


def test_event_happens_again_when_its_condition_becomes_true_again() -> None:
    model = arm()
    model.add_event("hold", "phi > 1 and t < 0.5", engage="lock")
    model.add_event("go", "0.6 <= t or t >= 3", release="lock")
    model.add_event("again", "1.2 < t < 1.3 or phi > 2.5", engage="lock")
    result = run(model, 1.4, 0.01)
    assert [int(result.event(name).count[-1]) for name in result.event_names] == [1, 1, 1]
    assert np.isnan(result.event("again").time[0])
    assert set(result.event("go").table()) == {"count", "time", "loss"}


def test_condition_that_becomes_false_in_a_step_with_an_event_can_become_true_again() -> None:
    model = arm()
    hand = model.add_controller("hand", controllers.External())
    model.add_force("push", "bar", hand.output().along((1, 0, 0)))
    model.add_event("other", "t >= 0.0512", set={"hand.u": 1.0})
    model.add_event("twice", "0.032 < t < 0.055 or t > 0.062", set={"hand.u": 2.0})
    result = run(model, 0.1, 0.01)
    assert result.event("twice").times == pytest.approx([0.032, 0.062])
    assert result.controller("hand").output()[[5, 6, 7]].tolist() == [2.0, 1.0, 2.0]


def test_condition_that_holds_at_the_start_is_reported_and_waits() -> None:
    model = arm(drive=False)
    model.add_event("end", "phi < 1.0", stop=True)
    with pytest.warns(ModelCheckWarning, match="event 'end': its condition phi < 1.0 holds at the start"):
        result = simulate(model, 2.5, 0.01, progress=False, output_every=1)
    assert result.t[-1] > 1.3  # on the way back
    assert result.sensor("phi").value[-1] == pytest.approx(1.0, abs=1e-10)


def test_events_that_undo_each_other_are_reported() -> None:
    model = arm(drive=False)
    for name, rate in (("up", 1.0), ("down", -1.0)):
        model.add_drive(name, "hinge", signals.Steady(rate))
    model.add_event("turn", "t > 0.0123 and phi.rate > 0.5", engage="down", release="up")
    model.add_event("return", "phi.rate < -0.5", engage="up", release="down")
    with pytest.raises(
        ConvergenceError, match=r"event '\w+' \(.*\) has happened with others 100 times in the step"
    ) as error:
        simulate(model, 1.0, 0.01, progress=False)
    assert error.value.result.n_outputs >= 1


def test_output_that_is_set_before_the_first_sample_keeps_its_value() -> None:
    model = Model("block")
    block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0))
    hand = model.add_controller("hand", controllers.External(5.0))
    model.add_force("push", block, hand.output().along((1, 0, 0)))
    model.add_event("at once", "t > 0", set={"hand.u": 1.0})
    assert run(model, 0.1, 0.01).body("block").v[-1, 0] == pytest.approx(0.1)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize("solver", ["auto", "general"])
def test_door_on_two_hinges_is_caught(solver: str) -> None:
    """Joints that are redundant in each phase."""
    model = Model("door")
    door = model.add_body(
        "door", Box(0.8, 0.04, 2.0, mass=10.0), position=(0.4, 0, 0), angular_velocity=(0, 0, 1.0)
    )
    for k, z in enumerate((-0.8, 0.8)):
        model.add_joint(f"hinge {k}", "revolute", "ground", door, at=(0, 0, z), axis=Z)
    model.add_drive("latch", "hinge 0", signals.Constant(0.0))
    model.add_sensor("phi", measures.angle("ground", door, axis=Z))
    model.add_event("catch", "phi > 0.5", engage="latch")
    model.add_event("lost", "t > 0.8", release="hinge 1")
    result = run(model, 1.0, 0.01, solver=solver)
    assert result.sensor("phi").value[-1] == pytest.approx(0.5, abs=1e-9)
    assert result.event("catch").loss[-1] == pytest.approx(0.5 * (moment_of_inertia(model, "door", 2) + 1.6))


def test_joint_that_does_not_fit_is_reported() -> None:
    model = arm(drive=False)
    model.add_joint("weld", "weld", "ground", "bar", at=(0, 0, 0))
    model.add_event("catch", "phi > 1", engage="weld")
    with pytest.raises(
        ConvergenceError, match=r"event 'catch' at t = .* engages 'weld', whose points or axes are .* apart"
    ):
        simulate(model, 1.0, 0.01, progress=False)


# --- runs


def cycle() -> Model:
    """The bar falls, is caught, lets go again, and stops."""
    model = arm()
    model.add_event("catch", "phi > 1", engage="lock")
    model.add_event("go", "t >= 0.5432", release="lock")
    model.add_event("end", "phi > 2", stop=True)
    return model


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_run_with_events_is_resumed_bit_identically(tmp_path: Path, solver: str) -> None:
    whole = run(cycle(), 2.0, 0.01, solver=solver)
    assert whole.ended_by == ("end",)
    for k, t_end in enumerate((0.3, 0.37, 0.38, 0.54, 0.55, 0.9)):
        path = tmp_path / f"{k}.vtkhdf"
        settings = {"progress": False, "output_every": 1, "output": path, "solver": solver}
        simulate(cycle(), t_end, 0.01, **settings)
        resumed = simulate(cycle(), 2.0, 0.01, resume=True, **settings)
        assert np.array_equal(resumed.t, whole.t)
        for one, other in zip(resumed.states(slice(None)), whole.states(slice(None)), strict=True):
            assert np.array_equal(one, other)
        assert simulate(cycle(), 2.0, 0.01, resume=True, **settings).n_outputs == whole.n_outputs
        loaded = Result.load(path)
        assert audit(loaded).ok, audit(loaded).text()
        assert loaded.ended_by == ("end",)


def thrower() -> Model:
    """A bar falls and throws a ball; a spring pulls it back, whose stiffness an event sets to zero."""
    model = arm(drive=False)
    ball = model.add_body("ball", Box(0.1, 0.1, 0.1, mass=0.2), position=(1.0, 0, 0))
    model.add_joint("grip", "weld", "bar", ball, at=(1.0, 0, 0))
    hand = model.add_controller("hand", controllers.External(5.0))
    model.add_spring("back", "ground@0,0,0.5", ball, stiffness=hand.output(), length=0.5)
    model.add_event("breaks", "phi > 0.5", set={"hand.u": 0.0})
    model.add_event("throw", "phi > 1.5", release="grip")
    return model


def falling_ball() -> Model:
    """A ball is let go and falls on a floor with friction."""
    model = Model("drop", gravity=(0, 0, -9.81))
    ball = model.add_body("ball", Sphere(0.1, mass=1.0), position=(0, 0, 0.3))
    model.add_joint("hold", "weld", "ground", ball, at=(0, 0, 0.3))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("bounce", model.add_solid("skin", ball), floor, stiffness=1e3, friction=0.3)
    model.add_event("go", "t >= 0.0523", release="hold")
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em4"])
@pytest.mark.parametrize("solver", ["auto", "general"])
def test_audit_of_a_file_repeats_the_steps_between_events(
    tmp_path: Path, integrator: str, solver: str
) -> None:
    path = tmp_path / "thrower.vtkhdf"
    settings = {"output_every": 1, "integrator": integrator, "solver": solver, "progress": False}
    result = simulate(thrower(), 0.6, 0.01, output=path, **settings)
    assert [result.event(name).count[-1] for name in ("breaks", "throw")] == [1, 1]
    repeated = audit(Result.load(path)).step_recomputation
    assert repeated.steps == 58  # all but those with an event
    assert not repeated.differences


@pytest.mark.parametrize("output", [10, 59])
def test_audit_of_a_file_with_events_finds_a_joint_force_that_was_changed(
    tmp_path: Path, output: int
) -> None:
    path = tmp_path / "thrower.vtkhdf"
    result = simulate(thrower(), 0.6, 0.01, output=path, output_every=1, progress=False)
    assert bool(result.joint("grip").acts[output]) == (output == 10)
    with h5py.File(path, "r+") as file:
        file["rodsim/lam"][output, 0] *= 1.0 + 1e-7
    (difference,) = audit(Result.load(path)).step_recomputation.differences
    assert (difference.what.partition(",")[0], difference.output) == ("lam", output)


def test_audit_of_a_file_with_contacts_repeats_the_steps_between_events(tmp_path: Path) -> None:
    path = tmp_path / "drop.vtkhdf"
    simulate(falling_ball(), 0.3, 0.005, output=path, output_every=1, progress=False)
    loaded = Result.load(path)
    assert loaded.contact("bounce").normal_force.max() > 10.0
    assert audit(loaded).step_recomputation.steps == 59


def test_audit_says_that_an_event_happens_in_all_steps_or_that_a_drive_is_unknown(tmp_path: Path) -> None:
    for model, t_end, every, words in (
        (thrower(), 0.6, 60, "an event happens in all steps"),
        (cycle(), 0.3, 1, "does not store the motions of its drives"),
    ):
        path = tmp_path / f"{model.name} {every}.vtkhdf"
        simulate(model, t_end, 0.01, output=path, output_every=every, progress=False)
        audited = audit(Result.load(path))
        assert audited.ok
        assert words in audited.text()


def test_run_continues_from_the_stop_of_another(tmp_path: Path) -> None:
    model = cycle()
    first = simulate(model, 2.0, 0.01, progress=False, output=tmp_path / "first.vtkhdf")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelCheckWarning)  # that the condition of the stop holds is known
        second = simulate(model, 0.1, 0.01, progress=False, output_every=1, start=tmp_path / "first.vtkhdf")
    assert second.event("catch").count[-1] == second.event("catch").loss[-1] == 0
    assert second.t[-1] == pytest.approx(0.1)
    assert np.array_equal(second.state(0).v, first.state(-1).v)
    assert second.joint("lock").acts.sum() == 0
    assert audit(second).ok


def test_many_runs_are_those_of_simulate() -> None:
    prepared = cycle().prepare(t_end=1.0, dt=0.01)
    many = simulate_many(prepared, [{"gravity": (0, 0, z)} for z in (-9.81, -5.0)], progress=False)
    alone = simulate(cycle(), 1.0, 0.01, progress=False)
    assert np.array_equal(many[0].states(slice(None)).r, alone.states(slice(None)).r)
    assert many[1].event("catch").times > alone.event("catch").times


def test_runner_refuses_events_that_stop_and_takes_others() -> None:
    with pytest.raises(ModelError, match="runner: event 'end' stops the run"):
        cycle().prepare(dt=0.01).runner()
    model = arm()
    model.add_event("catch", "phi > 1", engage="lock")
    runner = model.prepare(dt=0.01).runner()
    runner.advance(60)
    assert runner.sensor("phi") == pytest.approx(1.0, abs=1e-9)


def test_ball_that_is_let_go_bounces() -> None:
    model = Model("ball", gravity=(0, 0, -9.81))
    ball = model.add_body("ball", Sphere(0.1, mass=1.0), position=(0, 0, 0.3))
    model.add_joint("hand", "weld", "ground", ball, at=(0, 0, 0.3))
    model.add_contact(
        "on floor",
        model.add_sphere("skin", ball, 0.1),
        model.add_plane("floor", "ground@0,0,0", Z),
        stiffness=1e4,
    )
    model.add_event("let go", "t >= 0.0123", release="hand")
    result = run(model, 0.4, 0.001)
    assert result.body("ball").r[0, 2] == pytest.approx(0.3)
    assert 0.07 < result.body("ball").r[:, 2].min() < 0.09
    assert result.body("ball").v[-1, 2] > -2.0
    assert result.contact("on floor").first_contact == pytest.approx(0.0123 + np.sqrt(0.4 / 9.81), abs=2e-3)


def test_sensor_of_a_controller_reads_a_joint_that_lets_go() -> None:
    model = Model("held", gravity=(0, 0, -9.81))
    model.add_body("bar", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
    model.add_joint("stop", "distance", "ground@1,0,1", "bar@0.5,0,0")
    model.add_joint("hinge", "revolute", "ground", "bar", at=(0, 0, 0), axis=(0, 1, 0))
    for name in ("stop", "hinge"):
        pull = model.add_sensor(name, measures.joint_force(name, "force", axis=Z))
        model.add_controller(f"copy of {name}", controllers.StateFeedback([[-1.0]]), [pull], period=0.01)
    model.add_event("let go", "t >= 0.105", release="stop")
    result = run(model, 0.2, 0.01)
    copies = [result.controller(f"copy of {name}").output() for name in ("stop", "hinge")]
    assert np.abs(copies[0][2:10]).min() > 1.0
    assert np.abs(copies[0][12:]).max() == 0.0
    assert copies[1][1:] == pytest.approx(result.sensor("hinge").value[:-1], abs=1e-12)
    assert np.abs(copies[1][12:]).min() > 1.0


def test_statics_and_modes_refuse_parts_that_do_not_act() -> None:
    with pytest.raises(
        ModelError, match="equilibrium: 'lock', which events of model 'arm' switch, does not act here"
    ):
        equilibrium(cycle())
    released = arm()
    released.add_event("go", "t >= 0.01", release="lock")
    assert np.abs(equilibrium(released).body("bar").r[-1] - (0.5, 0, 0)).max() < 1e-12
    end = simulate(released, 0.05, 0.01, progress=False)
    with pytest.raises(ModelError, match="does not act here"):
        equilibrium(released, start=end)


def test_model_with_events_is_saved_and_loaded(tmp_path: Path) -> None:
    model = cycle()
    hand = model.add_controller("hand", controllers.External())
    model.add_force("push", "bar", hand.output().along((1, 0, 0)))
    model.add_event("all", "1 < t and abs(phi.rate) < pi", engage=["lock", "hinge"], set={"hand.u": 1.5})
    loaded = Model.load(model.save(tmp_path / "model.yaml"))
    for name, event in model.events.items():
        assert loaded.events[name].described() == event.described()
    assert loaded.events["all"].engage == ("lock", "hinge")


def test_chart_integrators_refuse_events_by_name() -> None:
    with pytest.raises(
        ModelError,
        match="integrator 'GGL-EM' does not find events, which model 'arm' has; use 'em' or 'em-ggl'",
    ):
        simulate(cycle(), 1.0, 0.01, "GGL-EM", progress=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"when": "phi > 1"}, "event 'e': does nothing. Give stop=True, release=, engage= or set="),
        ({"when": 3, "stop": True}, "when = 3 is not a condition"),
        ({"when": "phi >", "stop": True}, "cannot be read"),
        ({"when": "psi > 1", "stop": True}, "'psi' is neither t nor a sensor of this model"),
        ({"when": "phi == 1", "stop": True}, "is not a comparison"),
        ({"when": "phi", "stop": True}, "is not a comparison"),
        ({"when": "not phi > 1", "stop": True}, "is not a comparison"),
        ({"when": "open(phi) > 1", "stop": True}, "cannot stand in an expression"),
        ({"when": "M.rate > 1", "stop": True}, "is measured by value alone"),
        ({"when": "phi > 1", "release": "nothing"}, "release = 'nothing' is neither a joint nor a drive"),
        ({"when": "phi > 1", "release": ["hinge", "hinge"]}, "distinct joints or drives"),
        (
            {"when": "phi > 1", "release": "hinge", "engage": ["hinge"]},
            "releases and engages 'hinge' at once",
        ),
        ({"when": "phi > 1", "set": {"motor.u": 1.0}}, "set = 'motor.u' is not an output"),
        ({"when": "phi > 1", "set": {"hand.u": float("nan")}}, "set 'hand.u'"),
        ({"when": "phi > 1", "set": {}}, "expected values by name"),
        ({"when": "phi > 1", "release": "winch"}, "a driven distance takes the place of its joint"),
    ],
)
def test_invalid_events_are_reported(arguments: dict, message: str) -> None:
    model = arm()
    model.add_controller("hand", controllers.External())
    model.add_sensor("M", measures.joint_force("hinge", "moment"))
    model.add_joint("rope", "distance", "ground@0,0,2", "bar@0,0,0")
    model.add_drive("winch", "rope", signals.Steady(0.1))
    with pytest.raises(ModelError) as error:
        model.add_event("e", **arguments)
    assert message in str(error.value)
    assert "event 'e'" in str(error.value)
    assert not model.events


# --- start= with other joints


def discs(*joints: str) -> Model:
    model = Model("discs")
    model.add_body("a", Cylinder(0.2, 0.05, mass=2.0), angular_velocity=(0, 0, 3.0))
    model.add_body("b", Cylinder(0.3, 0.05, mass=1.0), position=(0, 0, 0.2), angular_velocity=(0, 0, -1.0))
    for name, (one, other, z) in {"axle": ("ground", "a", 0.0), "clutch": ("a", "b", 0.1)}.items():
        if name in joints:
            model.add_joint(name, "revolute", one, other, at=(0, 0, z), axis=Z)
    if "latch" in joints:
        model.add_drive("latch", "clutch", signals.Constant(0.0))
    return model


def test_start_accepts_other_joints_and_states_the_impulse() -> None:
    first = simulate(discs("axle", "clutch"), 0.1, 0.01, progress=False)
    locked = simulate(discs("axle", "clutch", "latch"), 0.1, 0.01, progress=False, start=first)
    Ia, Ib = (moment_of_inertia(discs(), name, 2) for name in "ab")
    assert locked.body("a").omega[-1, 2] == pytest.approx((3 * Ia - Ib) / (Ia + Ib), rel=1e-12)
    changes = locked.description["start"]["changes"]
    assert f"the kinetic energy changes by {-8 * Ia * Ib / (Ia + Ib):.6g} J" in changes[-1]
    free = simulate(discs(), 0.1, 0.01, progress=False, start=locked)
    assert np.array_equal(free.state(0).v, locked.state(-1).v)
    assert free.description["start"]["changes"][:2] == ["joint 'axle' is gone", "joint 'clutch' is gone"]
    for result in (locked, free):
        assert audit(result).ok, audit(result).text()


def test_start_finds_parts_by_name() -> None:
    first = simulate(discs("axle", "clutch"), 0.1, 0.01, progress=False)
    model = Model("one")
    model.add_body("b", Cylinder(0.3, 0.05, mass=1.0))
    result = simulate(model, 0.1, 0.01, progress=False, start=first)
    assert np.array_equal(result.body("b").r[0], first.body("b").r[-1])
    assert result.body("b").omega[-1, 2] == pytest.approx(-1.0)
    model.add_body("c", Cylinder(0.3, 0.05, mass=1.0))
    with pytest.raises(
        ModelError,
        match="start: the result of 'discs' has no body 'c', which model 'one' has; it has 'a', 'b'",
    ):
        simulate(model, 0.1, 0.01, progress=False, start=first)


def test_start_refuses_a_new_joint_that_does_not_fit() -> None:
    first = simulate(discs("axle", "clutch"), 0.1, 0.01, progress=False)
    model = discs("axle", "clutch")
    model.add_joint("weld", "weld", "a", "b", at=(0, 0, 0.1))
    with pytest.raises(
        ModelError, match=r"weld joint 'weld': \|g\| = 0.389 at the stored state, which its points or axes"
    ):
        simulate(model, 0.1, 0.01, progress=False, start=first)


def test_start_with_an_open_joint_equals_an_event() -> None:
    """A rope at rest on two pins is let go by an event, or by a model without one pin."""

    def rope(pinned: bool) -> Model:
        model = Model("rope", gravity=(0, 0, -9.81))
        section = Section.from_stiffness(
            EA=1e3, GA=1e3, GJ=1e-2, EI=1e-2, mass_per_length=0.1, inertia_per_length=1e-6
        )
        rod = model.add_rod("rope", [(0, 0, 0), (1, 0, 0)], section, 8)
        model.add_joint("left", "spherical", model.ground, rod.start)
        if pinned:
            model.add_joint("right", "spherical", model.ground, rod.end)
        return model

    at_rest = equilibrium(rope(True))
    opened = simulate(rope(False), 0.1, 1e-3, progress=False, output_every=1, start=at_rest)
    model = rope(True)
    model.add_event("let go", "t >= 1e-9", release="right")
    event = run(model, 0.1, 1e-3, start=at_rest)
    assert np.abs(event.rod("rope").r - opened.rod("rope").r).max() < 1e-7
    assert audit(opened).ok
    assert np.array_equal(opened.state(0).lam, at_rest.state().lam[:3])
    assert np.abs(opened.state(0).lam).max() > 0.1


def test_histories_of_events_are_in_datasets() -> None:
    pytest.importorskip("xarray")
    result = run(cycle(), 1.0, 0.01)
    data = result.to_xarray()
    assert float(data["catch.loss"][-1]) == result.event("catch").loss[-1] > 0.0
    assert [name for name, _ in itertools.groupby(result.event_names)] == ["catch", "go", "end"]
