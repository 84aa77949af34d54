"""Prescribed motion: driven joints and driven frames, their motion compared with known ones, and their work."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from rigid import quaternions
from rodsim import Box, Material, Model, ModelError, Section, audit, simulate
from rodsim.signals import Constant, Ramp, Sine, SmoothStep, SmoothTable, SpinUp, Steady

EXACT = 1e-11  # of an energy balance, relative to the energy exchanged
X, Y, Z = np.eye(3)
SMOOTH = (
    Constant(2.0),
    Sine(0.7, 1.3, 0.4, 0.1),
    Steady(2.0, 0.3),
    SmoothStep(1.5, 0.2, 0.9),
    SpinUp(6.0, 0.8),
    SmoothTable([0.0, 0.3, 0.5, 1.0], [0.0, 1.0, 0.5, 2.0]),
)


@pytest.mark.parametrize("signal", SMOOTH, ids=lambda s: type(s).__name__)
def test_signal_rate_is_its_derivative(signal):
    t = np.linspace(0.013, 1.2, 41)
    difference = (signal(t + 1e-6) - signal(t - 1e-6)) / 2e-6
    assert signal.rate(t) == pytest.approx(difference, abs=1e-7)


START = quaternions.normalize(np.array([1.0, 0.4, -0.3, 0.2]))
AXIS = np.array([0.6, 0.0, 0.8])


def attitude(t):
    sign = -1.0 if int(5e4 * t) % 2 else 1.0  # both describe the same rotation
    return sign * quaternions.multiply(quaternions.from_rotation_vector(1.3 * np.sin(2 * t) * AXIS), START)


TURNED = {
    "turn": {"turn": lambda t: 1.3 * np.sin(2 * t), "axis": AXIS},
    "turn and its rate": {
        "turn": (lambda t: 1.3 * np.sin(2 * t), lambda t: 2.6 * np.cos(2 * t)),
        "axis": AXIS,
    },
    "attitude": {"attitude": attitude},
}
MOVED = {
    "function": (lambda t: (t, t**2, np.exp(t)), (0.3, 0.09, np.exp(0.3)), (1.0, 0.6, np.exp(0.3))),
    "signals": (
        [Sine(0.3, 0.5).along(X), Steady(2.0).along(Y)],
        (0.3 * np.sin(0.3 * np.pi), 0.6, 0.0),
        (0.3 * np.pi * np.cos(0.3 * np.pi), 2.0, 0.0),
    ),
}


@pytest.mark.parametrize("moved", MOVED)
@pytest.mark.parametrize("turned", TURNED)
def test_driven_frame_rates_are_derivatives_of_its_pose(turned, moved):
    """For functions of time they are computed by differences."""
    displacement, way, rate = MOVED[moved]
    driven = Model("m").add_driven("d", (1, 2, 3), START, displacement, **TURNED[turned])
    t, e = np.array([0.3]), 1e-5
    (r, quat, v, Omega), (r0, q0, _, _), (r1, q1, _, _) = (driven.motion(s) for s in (t, t - e, t + e))
    assert r[0] == pytest.approx(np.add((1, 2, 3), way))
    assert v[0] == pytest.approx(rate, rel=1e-10, abs=1e-10)
    assert v == pytest.approx((r1 - r0) / (2 * e), abs=1e-9)
    assert np.abs(quat[0] @ attitude(0.3)) == pytest.approx(1.0, rel=1e-14)
    q0, q1 = (np.where(np.sum(q * quat) < 0.0, -q, q) for q in (q0, q1))
    of_pose = 2 * quaternions.multiply(quaternions.conjugate(quat), (q1 - q0) / (2 * e))[:, 1:]
    assert Omega == pytest.approx(of_pose, abs=1e-8)


def audit_of(result, work=True):
    """Return the audit of a run whose drive work is accounted for to round-off."""
    audit_report = audit(result)
    assert audit_report.ok, audit_report.text()
    assert audit_report.energy_balance < EXACT
    assert audit_report.constraint < 1e-11
    if work:
        assert np.abs(result.drive_work()).max() > 1e-3 * audit_report.energy_scale
        assert result.drive_work() == pytest.approx(result.work, abs=1e-12 * audit_report.energy_scale)
    if str(audit_report.integrator).endswith("ggl"):
        assert audit_report.velocity_constraint < 1e-10
    return audit_report


def arm(value):
    """A box on a hinge to the ground with driven angle."""
    model = Model("arm", gravity=(0, -9.81, 0))
    body = model.add_body("arm", Box(1.0, 0.1, 0.2, density=100), position=(0.5, 0, 0))
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_drive("motor", "hinge", value)
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em4-ggl"])
def test_driven_hinge_follows_its_drive_and_work_is_accounted_for(integrator):
    angle = SmoothStep(4.0, 0.1, 0.9)
    result = simulate(arm(value=angle), 1.2, 0.02, integrator, output_every=1)
    audit_of(result)
    x, y, _ = result.body("arm").r.T
    assert np.unwrap(np.arctan2(y, x)) == pytest.approx(angle(result.t), abs=1e-11)
    # the mean moment of the drive over a step equals that of the motion at its midpoint
    m, J = 2.0, 2.0 * (1 + 0.01) / 12 + 2.0 / 4
    middle = result.t[1:] - 0.01
    acceleration = (angle.rate(middle + 1e-5) - angle.rate(middle - 1e-5)) / 2e-5
    expected = J * acceleration + m * 9.81 * 0.5 * np.cos(angle(middle))
    torque = -result.joint("motor").step_multipliers[1:, 0]  # on the arm
    if integrator == "em-ggl":
        assert np.abs(torque - expected).max() < 0.005 * np.abs(expected).max()  # h^2: 0.12 of 33.6
        means = 0.5 * (torque[1:] + torque[:-1])
        assert result.joint("motor").moment[1:-1, 2] == pytest.approx(means, abs=1e-9)
        assert np.mean(result.joint("motor").force ** 2) == 0.0


def hanging(displacement=None, turn=None, axis=None, **moving):
    """A box on a driven frame."""
    model = Model("hanging", gravity=(0, -9.81, 0))
    clamp = model.add_driven("clamp", displacement=displacement, turn=turn, axis=axis)
    body = model.add_body("bob", Box(0.1, 1.0, 0.2, density=100), position=(0, -0.5, 0), **moving)
    return model, clamp, body


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_pendulum_on_a_moving_point_solves_its_equation(integrator):
    """Compare with scipy, to order 2; a spherical joint prescribes the position of a point."""
    a, w = 0.25, 2 * np.pi * 0.8
    J, m, l = 2.0 * (0.01 + 1.0) / 12 + 2.0 * 0.25, 2.0, 0.5

    def rate(t, y):
        acceleration = -a * w * w * np.sin(w * t)
        return [y[1], -(m * 9.81 * l * np.sin(y[0]) + m * l * acceleration * np.cos(y[0])) / J]

    # the bob starts without rotation: its point moves with a w
    exact = solve_ivp(rate, (0, 1.0), [0.0, 0.0], rtol=1e-11, atol=1e-12, max_step=0.01).y[0, -1]
    errors = []
    for h in (0.02, 0.01, 0.005):
        start = {"velocity": (a * w, 0, 0), "angular_velocity": (0, 0, 0)}
        model, clamp, body = hanging(Sine(a, 0.8).along(X), **start)
        model.add_joint("hinge", "revolute", clamp, body, at=(0, 0, 0), axis=(0, 0, 1))
        result = simulate(model, 1.0, h, integrator)
        audit_of(result)
        x, y, _ = result.body("bob").r[-1] - [a * np.sin(w * 1.0), 0, 0]
        errors.append(abs(np.arctan2(x, -y) - exact))
    assert errors[-1] < 2e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em4", "em4-ggl"])
def test_body_welded_to_a_driven_frame_follows_and_takes_its_energy(integrator):
    model, clamp, body = hanging(
        [Sine(0.3, 0.7).along(X), Sine(0.1, 1.1).along(Z)], SmoothStep(3.0, 0.0, 0.8), (0, 0.6, 0.8)
    )
    model.add_joint("glue", "weld", clamp, body, at=(0, -0.2, 0))
    result = simulate(model, 1.0, 0.02, integrator, output_every=1)
    audit_of(result)
    motion = model.driven["clamp"].motion
    r, quat, _, _ = motion(result.t)
    expected = r + quaternions.rotate(quat, np.tile([0, -0.5, 0.0], (len(r), 1)))
    assert np.abs(result.body("bob").r - expected).max() < 1e-11
    alignment = np.abs(np.sum(result.body("bob").quat * quat, axis=1))
    assert alignment == pytest.approx(np.ones(len(alignment)), abs=1e-12)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_bead_on_a_rotating_rail_follows_the_exact_solution(integrator, swapped):
    """x = x0 cosh(w t); the rail may be either part of the joint, and the drive supplies all of the energy."""
    w, errors = 2.0, []
    for h in (0.04, 0.02):
        model = Model("rail")
        # a constant velocity, initially across the rail, changes nothing along it
        rail = model.add_driven("rail", displacement=Steady(1.0).along((0, 0.3, 0)), turn=Steady(w), axis=Z)
        bead = model.add_body("bead", Box(0.1, 0.2, 0.1, mass=2.0), position=(0.5, 0, 0))
        ends = (bead, rail) if swapped else (rail, bead)
        model.add_joint("slider", "prismatic", *ends, at=(0.5, 0, 0), axis=X)
        result = simulate(model, 0.8, h, integrator, output_every=1)
        audit_of(result)
        errors.append(abs(np.linalg.norm(result.body("bead").r[-1] - [0, 0.24, 0]) - 0.5 * np.cosh(w * 0.8)))
    assert errors[1] < 2e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("damping_time", [0.0, 0.01])
@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_rod_on_an_oscillating_clamp_keeps_the_energy_balance(integrator, damping_time):
    model = Model("whip", gravity=(0, 0, -9.81))
    clamp = model.add_driven(
        "clamp", displacement=Sine(0.05, 3.0).along(Z), turn=Sine(0.4, 2.0), axis=(0, 1, 0)
    )
    material = Material(E=2e7, nu=0.4, density=1200, damping_time=damping_time)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], Section.circular(0.02, material), 8)
    model.add_joint("root", "weld", clamp, rod.start, at=(0, 0, 0))
    result = simulate(model, 0.5, 2.5e-3, integrator)
    audit_of(result)
    assert (result.dissipation[-1] > 1e-3) == (damping_time > 0.0)


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_rod_between_two_driven_frames_takes_the_work_of_both(integrator):
    """The ends are rotated and pushed against each other; each drive does a part of the work."""
    model = Model("twisted")
    section = Section.from_stiffness(
        EA=300, GA=200, GJ=2, EI=1, mass_per_length=0.5, inertia_per_length=0.01, damping_time=0.02
    )
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 6)
    left = model.add_driven("left", turn=SmoothStep(2.0, 0.0, 0.5), axis=X)
    right = model.add_driven("right", (1, 0, 0), displacement=SmoothStep(0.2, 0.1, 0.6).along((-1, 0.1, 0)))
    model.add_joint("a", "weld", left, rod.start, at=(0, 0, 0))
    model.add_joint("b", "weld", right, rod.end, at=(1, 0, 0))
    result = simulate(model, 0.6, 0.01, integrator)
    audit_of(result)
    shares = np.array([result.drive_work(name) for name in result.drives])
    assert shares.sum(axis=0) == pytest.approx(result.work, abs=1e-12)
    assert np.abs(shares).max(axis=1).min() > 0.05 * np.abs(result.work).max()
    with pytest.raises(Exception, match=r"no drive 'middle'; there are left, right"):
        result.drive_work("middle")
    # forces on the driven frames do the work: their mean over a step times the displacement
    fine = simulate(model, 0.2, 0.01, integrator, output_every=1)
    displacements, joint = np.diff(right.motion(fine.t)[0], axis=0), fine.joint("b")
    power = -joint.step_multipliers[1:, :3] * displacements
    exact = (
        1e-12 if integrator == "em" else 1e-5
    )  # with em-ggl the second multipliers contribute a small part
    assert fine.drive_work("right")[1:] == pytest.approx(np.cumsum(power.sum(axis=1)), abs=exact)
    # forces at outputs give the work to order 2
    power = 0.5 * (joint.force[1:] + joint.force[:-1]) * displacements
    assert fine.drive_work("right")[1:] == pytest.approx(np.cumsum(power.sum(axis=1)), abs=2e-3)


def slider_crank(speed):
    """A crank of length 0.3 driven at its hinge, a rod of length 0.8 with ball joints at both ends, a slider along x."""
    model = Model("slider-crank", gravity=(0, -9.81, 0))
    crank = model.add_body("crank", Box(0.3, 0.05, 0.05, density=1000), position=(0.15, 0, 0))
    rod = model.add_body("rod", Box(0.8, 0.04, 0.04, density=1000), position=(0.7, 0, 0))
    slider = model.add_body("slider", Box(0.1, 0.1, 0.1, density=2000), position=(1.1, 0, 0))
    pin = model.add_joint("pin", "revolute", model.ground, crank, at=(0, 0, 0), axis=Z)
    model.add_joint("big end", "spherical", crank, rod, at=(0.3, 0, 0))
    model.add_joint("little end", "spherical", rod, slider, at=(1.1, 0, 0))
    model.add_joint("guide", "prismatic", model.ground, slider, at=(1.1, 0, 0), axis=X)
    model.add_spring("spring", model.ground.at((2, 0, 0)), slider.at((0, 0, 0)), 80.0, damping=5.0)
    model.add_force("push", slider.at((0, 0, 0)), Sine(20.0, 2.0).along(X))
    model.add_drive("motor", pin, Steady(speed))
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_slider_crank_with_motor_damper_and_load_keeps_the_balance(integrator):
    result = simulate(slider_crank(4.0), 1.0, 0.01, integrator, output_every=1)
    audit_report = audit(result)
    assert audit_report.ok
    assert audit_report.energy_balance < EXACT
    assert audit_report.dissipation > 1e-2 * audit_report.energy_scale
    assert np.abs(result.work - result.drive_work("motor")).max() > 1e-3 * audit_report.energy_scale
    phi = 4.0 * result.t
    x = 0.3 * np.cos(phi) + np.sqrt(0.8**2 - (0.3 * np.sin(phi)) ** 2)
    assert result.body("slider").r[:, 0] == pytest.approx(x, abs=1e-11)


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda m: m.add_drive("d", "none", Steady(1.0)), r"drive 'd': 'none' is not a joint of this model"),
        (
            lambda m: m.add_drive("d", "ball", Steady(1.0)),
            r"spherical joint 'ball' has no coordinate to drive",
        ),
        (
            lambda m: m.add_drive("d", "hinge", Steady(1.0), of="displacement"),
            r"has no displacement; drive its angle",
        ),
        (lambda m: m.add_drive("d", "hinge", 3.0), r"3.0 is not a function of time"),
        (
            lambda m: m.add_drive("d", "hinge", Ramp(1.0, 0.0, 1.0)),
            r"drive 'd': Ramp: has kinks or jumps.*use SmoothStep",
        ),
        (lambda m: m.add_driven("d", turn=Steady(1.0)), r"`turn` and `axis` belong together"),
        (lambda m: m.add_driven("d", attitude=(1, 0, 0, 0)), r"attitude = \(1, 0, 0, 0\) is not a function"),
        (
            lambda m: m.add_driven("d", attitude=attitude, turn=Steady(1.0), axis=Z),
            "has both turn and attitude",
        ),
        (lambda m: m.add_driven("d", displacement=Steady(1.0)), r"Steady is a scalar; say which way"),
        (
            lambda m: m.add_force("f", m.driven["table"].at((0, 0, 0)), X),
            r"acts on driven 'table', which no force moves",
        ),
        (lambda m: m.add_driven("arm"), r"there is already a body 'arm'"),
    ],
)
def test_invalid_drives_are_rejected(add, message):
    model = arm(value=Steady(1.0))
    model.add_driven("table")
    model.add_joint("ball", "spherical", model.bodies["arm"], model.ground, at=(1, 0, 0))
    with pytest.raises(ModelError, match=message):
        add(model)


def joint_driven_twice():
    model = arm(value=Sine(0.5, 1.0))
    model.add_drive("second", "hinge", Steady(1.0))
    return model


def frame_held_twice(other):
    model, clamp, body = hanging(Sine(0.1, 1.0).along(X))
    model.add_joint("one", "weld", clamp, body, at=(0, 0, 0))
    if other == "table":
        table = model.add_driven("table", displacement=Sine(0.2, 1.0).along(X))
        model.add_joint("two", "spherical", table, body, at=(0, -1, 0))
    else:
        model.add_joint("two", "clamp", body, at=(0, -1, 0))
    return model


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            joint_driven_twice,
            r"drive 'motor' of joint 'hinge' and drive 'second' of joint 'hinge' drive against each other",
        ),
        (lambda: frame_held_twice("table"), r"driven 'clamp' and driven 'table' drive against each other"),
        (lambda: frame_held_twice("ground"), r"driven 'clamp' prescribes what joints fix already"),
    ],
)
def test_motion_prescribed_twice_is_named(model, message):
    with pytest.raises(ModelError, match=message):
        model().build()
