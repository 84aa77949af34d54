"""Dry friction: sticking, sliding, rolling and their consequences, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import Cone, Cylinder, Friction, MassProperties, Material, Model, Section, signals, simulate
from rodsim.validation import contacts

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")
G = contacts.G


def balance(run) -> float:
    """Energy, dissipation and work."""
    total = run.energy["total"] + run.dissipation - run.work
    return float(np.abs(total - total[0]).max())


def block(force, t_end: float, static: float = 0.8, kinetic: float = 0.4):
    """1 kg on a floor, pulled at the height of the friction force."""
    model, depth = Model("block", gravity=(0.0, 0.0, -G)), G / 1e5
    body = model.add_body("block", MassProperties(1.0, np.ones(3)))
    foot = model.add_sphere("foot", body.at((0.0, 0.0, 0.05 - depth)), 0.05)
    floor = model.add_plane("floor", model.ground.at((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0))
    rubs = Friction(kinetic, static=static, tangential_stiffness=1e6)
    model.add_contact("rubs", foot, floor, 1e5, friction=rubs)
    model.add_force("pulls", body.at((0.0, 0.0, 0.0)), force)
    return simulate(model, t_end, 1e-3, output_every=1, progress=False)


@pytest.mark.parametrize("part", [0.5, 0.99])
def test_block_pulled_below_the_static_limit_sticks(part):
    """At the equilibrium of its bristle, without creep, for any time."""
    run = block(signals.SmoothStep(part * 0.8 * G, 0.0, 0.1).along((1, 0, 0)), 1.0)
    x = run.body("block").r[:, 0]
    assert x[-1] == pytest.approx(part * 0.8 * G / 1e6, rel=1e-6)
    assert np.ptp(x[-500:]) < 1e-12


def test_block_pulled_above_the_static_limit_slides_kinetically():
    run = block(signals.SmoothStep(1.01 * 0.8 * G, 0.0, 0.1).along((1, 0, 0)), 0.3)
    v = run.body("block").v[:, 0]
    assert np.diff(v[-150:]) / 1e-3 == pytest.approx((1.01 * 0.8 - 0.4) * G, rel=1e-9)
    assert balance(run) < 1e-12


def cylinder(slope: float = 0.0, v: float = 0.0, t_end: float = 0.3):
    """A rod of 10 cm, 1 kg and 5 cm as a cylinder, mu = 0.2; gravity is rotated by `slope`."""
    radius, length = 0.05, 0.1
    z = radius - G * np.cos(slope) / (1e7 * length)
    model = Model("cylinder", gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    density = 1.0 / (np.pi * radius**2 * length)
    section = Section.circular(radius, Material(E=1e8, nu=0.3, density=density))
    velocity = {"velocity": (v, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 0.0)} if v else {}
    rod = model.add_rod("rod", [(0, 0, z), (0, length, z)], section, 1, **velocity)
    floor = model.add_plane("floor", model.ground.at((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0))
    model.add_contact("rolls", rod, floor, 1e7, friction=0.2)
    return simulate(model, t_end, 1e-3, output_every=1, progress=False)


def test_sliding_cylinder_starts_to_roll():
    """2/3 m/s: of 1/2 J it keeps 2/9 J and 1/9 J of rotation, and rolls from v/(3 mu g) on.

    The angular momentum about its contact line is conserved.
    """
    run = cylinder(v=1.0, t_end=0.6)
    v = run.rod("rod").v[:, :, 0].mean(axis=1)
    spin = np.abs(run.rod("rod").Omega[-1, :, 0])
    assert v[-1] == pytest.approx(2.0 / 3.0, rel=1e-3)  # its arm is shorter by a depth of 1e-5 m
    assert 0.05 * spin == pytest.approx(2.0 / 3.0, rel=1e-3)
    kinetic = run.energy["kinetic"][-1]
    assert kinetic == pytest.approx(2.0 / 9.0 + 1.0 / 9.0, rel=1e-3)
    assert run.dissipation[-1] == pytest.approx(1.0 / 6.0, rel=1e-3)
    x = run.rod("rod").r[-1, :, 0].mean()
    assert 2.0 * (x - 0.6 * v[-1]) / (1.0 - v[-1]) == pytest.approx(1.0 / (0.6 * G), rel=2e-3)
    L = run.angular_momentum[:, 1]
    assert np.ptp(L) < 1e-11 * L[0]
    assert balance(run) < 1e-12


@pytest.mark.parametrize("part", [0.9, 1.1, 1.5])
def test_a_cylinder_on_an_incline_rolls_up_to_three_times_mu(part):
    slope = np.arctan(part * 3.0 * 0.2)
    run = cylinder(slope=slope)
    v = run.rod("rod").v[:, :, 0].mean(axis=1)
    acceleration = (v[-1] - v[150]) / 0.15
    rolls, slides = 2.0 / 3.0 * G * np.sin(slope), G * (np.sin(slope) - 0.2 * np.cos(slope))
    assert (
        acceleration == pytest.approx(rolls, rel=3e-3)
        if part < 1.0
        else acceleration == pytest.approx(slides, rel=1e-9)
    )
    assert balance(run) < 1e-12


def rolling_ball(t_end: float, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), **loses):
    """A ball of 1 kg and 5 cm on a floor, and the arm about which it rolls."""
    model, arm = Model("ball", gravity=(0.0, 0.0, -G)), 0.05 - G / 1e6
    ball = MassProperties(1.0, np.full(3, 0.4 * 0.05**2))
    body = model.add_body("ball", ball, (0, 0, arm), velocity=velocity, angular_velocity=spin)
    floor = model.add_plane("floor", model.ground.at((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0))
    model.add_contact("rests", model.add_sphere("ball", body, 0.05), floor, 1e6, **loses)
    return simulate(model, t_end, 1e-3, output_every=1, progress=False), arm


def test_rolling_resistance_stops_a_ball_at_the_exact_distance():
    """The moment N l about the line of contact gives m (1 + 2/5 r^2/a^2) a dv/dt = -N l, a the arm; the ball
    never slips.
    """
    length, v = 0.005, 0.5
    arm = 0.05 - G / 1e6
    run, _ = rolling_ball(0.85, (v, 0, 0), (0, v / arm, 0), friction=Friction(0.3, rolling=length))
    slows = G * length / (arm * (1.0 + 0.4 * 0.05**2 / arm**2))
    x, speed = run.body("ball").r[:, 0], run.body("ball").v[:, 0]
    k = len(x) // 2
    assert speed[k] == pytest.approx(v - slows * run.t[k], rel=1e-4)
    assert x[-1] - x[0] == pytest.approx(v**2 / (2.0 * slows), rel=1e-4)
    assert np.abs(speed[-50:]).max() < 5e-3 * arm  # below about 1e-3 rad/s the moment fades
    assert run.dissipation[-1] == pytest.approx(run.energy["kinetic"][0], rel=1e-6)
    assert balance(run) < 1e-13


def test_drilling_friction_stops_a_ball_at_the_exact_time():
    """I omega/(N l)."""
    length, spin = 0.005, 20.0
    run, _ = rolling_ball(0.45, spin=(0, 0, spin), friction=Friction(0.3, drilling=length))
    stops = 0.4 * 0.05**2 * spin / (G * length)
    rate = run.body("ball").Omega[:, 2]
    turns = run.t < 0.99 * stops
    assert rate[turns] == pytest.approx(spin * (1.0 - run.t[turns] / stops), abs=1e-6 * spin)
    assert np.abs(rate[run.t > stops + 0.01]).max() < 5e-3  # below about 1e-3 rad/s the moment fades
    assert run.dissipation[-1] == pytest.approx(run.energy["kinetic"][0], rel=1e-6)
    assert np.abs(run.body("ball").r - run.body("ball").r[0]).max() < 1e-12
    assert balance(run) < 1e-13


def spinning(shape, height: float, **friction):
    """A body at 10 rad/s on a floor, as deep as its weight presses it."""
    model = Model("spins", gravity=(0.0, 0.0, -G))
    body = model.add_body("it", shape, (0.0, 0.0, height), angular_velocity=(0.0, 0.0, 10.0))
    floor = model.add_plane("floor", model.ground.at((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0))
    model.add_contact("rubs", model.add_solid("it", body), floor, 1e6, friction=Friction(0.3, **friction))
    return simulate(model, 0.1, 1e-3, progress=False)


@pytest.mark.parametrize(("drilling", "length"), [("friction", 2.0 / 3.0 * 0.3 * 0.1), (0.01, 0.01)])
def test_disc_spinning_on_its_face_is_braked_by_friction(drilling, length):
    """alpha = m g l/(m R^2/2); even pressure under a face of radius R has l = 2/3 mu R, with the kinetic mu."""
    run = spinning(Cylinder(0.1, 0.06, mass=1.0), 0.03 - G / 1e6, static=0.4, drilling=drilling)
    exact = 10.0 - 2.0 * G * length / 0.1**2 * run.t
    assert run.body("it").Omega[:, 2] == pytest.approx(exact, rel=1e-6)
    assert balance(run) < 1e-13


def test_cone_spinning_on_its_tip_is_not_braked_by_friction():
    """A tip touches in a point: if `drilling` follows from friction it is zero."""
    run = spinning(Cone(0.05, 0.1, mass=1.0), -G / 5e5, drilling="friction")
    assert run.body("it").Omega[20, 2] == pytest.approx(10.0, rel=1e-12)


def test_stick_slip_on_a_belt_has_the_exact_times():
    """Periods from falling to rising through half the velocity of the belt, and on to falling.

    Order 1: sliding is detected at the end of a step.
    """
    half, errors = 0.5 * contacts.BELT, []
    largest = np.hypot(contacts.BELT, (contacts.BREAKS - contacts.RESTS) * contacts.W)
    slips = 2.0 / contacts.W * (np.pi - np.arccos(half / largest))
    for h in (1e-3, 2.5e-4):
        run = contacts.on_belt(h, 4.4)
        t, v = run.t, run.body("block").v[:, 0] - half
        falls, rises = (np.flatnonzero(w) for w in ((v[:-1] > 0) & (v[1:] <= 0), (v[:-1] <= 0) & (v[1:] > 0)))
        falls, rises = (t[i] + h * v[i] / (v[i] - v[i + 1]) for i in (falls, rises))
        rises = rises[rises > falls[-2]]
        other = contacts.STICKS + contacts.SLIPS - slips
        errors.append([(rises[0] - falls[-2]) / slips - 1.0, (falls[-1] - rises[0]) / other - 1.0])
        assert balance(run) < 1e-11
        assert np.diff(run.dissipation).min() > -1e-15
    errors = np.abs(errors)
    assert np.all(errors[1] < 2e-3)
    assert np.all(errors[1] < 0.6 * errors[0])
