"""Contact and friction of other programs' examples with the parameters of their files. PE: PyElastica's
examples.

Stiffnesses there are per pair of elements (N/m); here those of lines are per length, so they are divided by
the length of
such an element: k/l for each of the elements in contact.
"""

import numpy as np
import pytest

from benchmarks.rod_contacts import (
    add_cylinder,
    bounce,
    bouncing_ball,
    elastic,
    on_the_ground,
    rod_at_cylinder,
    two_rods,
)
from examples.contact import plectoneme, snake
from rodsim import Cylinder, Friction, Model, Section, Sphere, audit, modes, signals, simulate

G = 9.80665


# --- PE/SphereBouncingOnPlane


def bouncing(steps):
    return simulate(bouncing_ball(), 2.0, 2.0 / steps, output_every=steps // 500, progress=False)


def test_pyelastica_bouncing_sphere_rises_to_the_height_of_its_energy():
    """Two impacts in 2 s, each of 23 ms and 3.2 cm deep; the height between them is that of the start."""
    errors = []
    for steps in (2000, 4000):
        result = bouncing(steps)
        assert audit(result).ok
        energy = result.energy["total"]
        assert np.ptp(energy) < 1e-11 * energy[0]  # round-off of free fall, for any contact
        y = result.body("ball").r[:, 1]
        exact = np.array([bounce(t) for t in result.t])
        errors.append(np.abs(y - exact).max())
        assert y[result.t > 1].max() == pytest.approx(1.0 + 0.5 / G, abs=1e-5)
    assert errors[1] < errors[0] / 3


# --- PE/RodRodContact


def test_pyelastica_parallel_rods_exchange_their_velocities():
    """A collision of two lines: 3n - 2 = 148 pairs of 1 kN/m of its n = 50 elements interact."""
    k = 148e3 / 0.5
    model = two_rods(10, 0.0, 0.18, k)
    result = simulate(model, 10.0, 0.01, progress=False)
    assert audit(result).ok
    omega = np.sqrt(2 * 0.5 * k / (1750 * np.pi * 1e-4 * 0.5))
    assert result.rod("one").r[-1, :, 2] == pytest.approx(0.02 - 0.025 * np.pi / omega, abs=2e-4)
    for name, v in (("one", 0.0), ("two", -0.05)):
        assert np.abs(result.rod(name).v[-1] - (0, 0, v)).max() < 5e-13


def test_pyelastica_inclined_rods_meet_with_their_ends_and_again():
    """The ends touch, 30 degrees apart; velocities of the second rod after 1.6 s are those of refined
    PyElastica.

    Elements of 1, 0.5 cm there: 10.3, 11.35 mm/s down and 4.04, 4.16 mm/s along. A pair of elements of 1 cm:
    1 kN/m.
    """
    result = simulate(two_rods(25, 30.0, 0.01, 1e5), 1.6, 2e-3, progress=False)
    assert audit(result).ok
    energy = result.energy["total"]
    assert np.ptp(energy) < 1e-11 * energy[0]
    assert np.ptp(result.linear_momentum, axis=0).max() < 1e-13 * np.abs(result.linear_momentum).max()
    assert np.ptp(result.angular_momentum, axis=0).max() < 1e-13 * np.abs(result.angular_momentum).max()
    v = result.rod("two").v[-1]
    mean = (v[1:] + v[:-1]).mean(axis=0) / 2  # nodes at the ends have half the mass
    assert mean[2] == pytest.approx(-11.0e-3, rel=0.05)
    assert mean[1] == pytest.approx(4.0e-3, rel=0.06)


# --- PE/RigidBodyRigidBodyContact, PE/RodRigidBodyContact: cylinders, whose contact there is that of their axis segments


def test_pyelastica_parallel_cylinders_exchange_their_velocities():
    """If both ends of both are next to each other, their stiffness is twice that of a pair: 1 kN/m for half a
    period.
    """
    model = Model("cylinders", gravity=(0, 0, 0))
    one = add_cylinder(model, "one", (0, 0, 0.25), (-0.2, 0, 0))
    two = add_cylinder(model, "two", (-1, 0, 0.25))
    model.add_contact("meet", one, two, stiffness=500.0)
    result = simulate(model, 20.0, 0.01, progress=False)
    assert audit(result).ok
    lasts = np.pi / np.sqrt(2 * 1e3 / (1750 * np.pi * 0.1**2 * 0.5))
    assert result.body("one").r[-1] == pytest.approx([-0.8 - 0.1 * lasts, 0, 0.25], abs=1e-4)
    for name, v in (("one", 0.0), ("two", -0.2)):
        assert np.abs(result.body(name).v[-1] - (v, 0, 0)).max() < 1e-12


def test_pyelastica_rod_stops_at_a_cylinder_that_moves_on():
    """Parallel, with its damper of the rod: 0.19219 m/s there, -2.13662 m after 10 s, the rod at -0.7996 m."""
    result = simulate(rod_at_cylinder(), 10.0, 5e-3, progress=False)
    assert audit(result).ok
    assert result.body("cylinder").v[-1] == pytest.approx([-0.19219, 0, 0], abs=3e-4)
    assert result.body("cylinder").r[-1] == pytest.approx([-2.13662, 0, 0.25], abs=4e-3)
    assert result.rod("rod").r[-1].mean(axis=0) == pytest.approx([-0.7996, 0, 0.25], abs=4e-3)


# --- PE/RodRigidBodyContact, rod and sphere


def pressed_sphere(n, dt):
    """Motion after 0.1 s of a ball that starts 2 mm inside a thick rod, clamped at both ends.

    Forces k gamma of elements of length l, along a crossing of the depth d: k/l (4/3) sqrt(2 rho) d^(3/2),
    rho both radii.
    """
    model = Model("pressed")
    rod = model.add_rod("rod", [(0, 0, 0), (0, 0.5, 0)], elastic(0.1, 1000.0, 3e5, 1e5), n, mass="lumped")
    model.add_joint("begin", "clamp", rod.start)
    model.add_joint("end", "clamp", rod.end)
    model.add_mass_damping("damper", rod, 0.1, rotation=0.1 * 4 / 0.1**2)
    body = model.add_body("ball", Sphere(0.1, density=1000.0), (0.198, 0.25, 0))
    ball = model.add_sphere("ball", body, 0.1)
    model.add_contact("meet", ball, rod, stiffness=3e4 / 0.01 * 4 / 3 * np.sqrt(0.4), exponent=1.5)
    return simulate(model, 0.1, dt, progress=False)


def test_pyelastica_sphere_is_ejected_by_a_rod():
    """0.1898, 0.1774, 0.1718 m/s there with 50, 100, 200 elements: 0.166 in the limit.

    Here the force acts at one point, there on 5.6 cm of a rod that shears, so the speed is somewhat lower
    here.
    """
    speeds = []
    for n in (10, 20):
        result = pressed_sphere(n, 5e-4)
        assert audit(result).ok
        assert result.body("ball").r[-1, 0] > 0.2
        v = result.body("ball").v[-1]
        assert np.abs(v[1:]).max() < 1e-9  # round-off determines on which side of the node it touches
        speeds.append(v[0])
    assert speeds[1] == pytest.approx(speeds[0], rel=0.05)
    assert speeds[1] == pytest.approx(0.166, rel=0.08)


# --- PE/FrictionValidationCases


def energies_of(model, t_end, dt=1e-3):
    """Energy of translation and of rotation about the axis, of 1 kg."""
    result = simulate(model, t_end, dt, progress=False)
    assert audit(result).ok
    rod = result.rod("rod")
    v, spin = rod.v[-1].mean(axis=0), rod.Omega[-1, :, 0].mean()
    return v @ v / 2, 0.025**2 / 2 * spin**2 / 2, result


@pytest.mark.parametrize("force", [9.0, -9.0, 6.0, -3.0])
def test_pyelastica_axial_friction_holds_or_lets_slide(force):
    """Static 0.8 and kinetic 0.4 forwards, half of it backwards.

    The static case is pulled with a force that grows for 0.1 s: a sudden one would make a bristle overshoot
    to twice the force.
    """
    contact = {"stiffness": 1e4, "damping": 20.0, "friction": (0.8, 0.4), "anisotropy": (1.0, 0.5, 0.5)}
    model, rod = on_the_ground(10, E=1e5, bristle=1e7, **contact)
    slides = abs(force) > (0.8 * G if force > 0 else 0.4 * G)
    pull = np.array([0, 0, force])
    model.add_distributed_load("pull", rod, pull if slides else signals.Ramp(1.0, 0.0, 0.1).along(pull))
    translation, turning, _ = energies_of(model, 0.25)
    kinetic = 0.4 * G if force > 0 else 0.2 * G
    if slides:
        assert translation == pytest.approx(0.25**2 / 2 * (abs(force) - kinetic) ** 2, rel=0.01)
    else:
        assert translation < 1e-9
    assert turning < 1e-12


@pytest.mark.parametrize("part", [0.15, 0.3])
def test_pyelastica_rod_rolls_or_slides_down_a_plane(part):
    """At 0.15 pi it rolls, at 0.3 pi friction is too small for rolling."""
    slope, t = part * np.pi, 0.5
    model, _ = on_the_ground(4, slope=slope, friction=(0.4, 0.2))
    translation, turning, _ = energies_of(model, t)
    down, across = G * np.sin(slope), G * np.cos(slope)
    if part == 0.15:
        assert translation == pytest.approx(2 * (down * t) ** 2 / 9, rel=2e-3)
        assert turning == pytest.approx((down * t) ** 2 / 9, rel=2e-3)
    else:
        assert translation == pytest.approx(((down - 0.2 * across) * t) ** 2 / 2, rel=2e-3)
        assert turning == pytest.approx((0.2 * across * t) ** 2, rel=1e-2)


@pytest.mark.parametrize("couple", [0.1, 0.17])
def test_pyelastica_rod_is_rolled_by_a_couple_or_spins(couple):
    model, rod = on_the_ground(4, friction=(0.4, 0.2))
    model.add_distributed_load("couple", rod, signals.Ramp(couple, 0.0, 0.1).along((0, 0, 1)), kind="moment")
    translation, turning, _ = energies_of(model, 1.0)
    if couple == 0.1:
        assert translation == pytest.approx(2 * (0.95 * couple / 0.075) ** 2, rel=5e-3)
        assert turning == pytest.approx((0.95 * couple / 0.075) ** 2, rel=5e-3)
        return
    slides = 0.1 * 0.4 * G * 0.0375 / couple  # from when 2 C/(3 r) is the static limit
    assert translation == pytest.approx((0.2 * G * (1 - slides) + 0.2 * G * slides) ** 2 / 2, rel=0.02)
    assert turning == pytest.approx((0.95 * couple / 0.025 - 0.2 * G) ** 2, rel=0.02)


@pytest.mark.parametrize("factor", [0.4, 1.9])
def test_pyelastica_sliding_rod_starts_to_roll(factor):
    """Moments of inertia times a factor; 1 m/s sideways at first.

    The rolling rod also vibrates on its bristles: means of 0.3 s are compared.
    """
    model, _ = on_the_ground(4, inertia=factor, speed=1.0, friction=(0.4, 0.2))
    _, _, result = energies_of(model, 2.0)
    rod, ratio, late = result.rod("rod"), factor / 2, result.t > 1.7
    v, spin = rod.v[..., 0].mean(axis=1), rod.Omega[..., 0].mean(axis=1)
    assert v[late].mean() == pytest.approx(1 / (1 + ratio), rel=1e-3)
    assert 0.025 * spin[late].mean() == pytest.approx(-1 / (1 + ratio), rel=1e-3)
    about_the_line = v - 0.025 * ratio * spin
    assert np.abs(about_the_line - 1.0).max() < 4e-4  # the lever is shorter by the depth
    assert result.dissipation[-1] == pytest.approx(0.5 * ratio / (1 + ratio), rel=1e-3)


# --- EX/generalContactFrictionTests


def test_exudyn_sphere_slips_on_another_above_the_friction_limit():
    """Two spheres of 5 cm and 1 kN/m, 1 mm inside each other, centres fixed.

    A torque grows to three times that of friction in 0.3 s. The sphere slips from a third of it on, is
    fastest when the torque
    ends, and comes to rest again.
    """
    radius, mass, k, mu = 0.05, 0.025, 1e3, 0.8
    model = Model("spheres")
    body = model.add_body("ball", Sphere(radius, mass=mass), (0, 2 * radius - 1e-3, 0))
    model.add_joint("centre", "spherical", body, model.ground, at=(0, 2 * radius - 1e-3, 0))
    fixed = model.add_sphere("fixed", model.ground.at((0, 0, 0)), radius)
    ball = model.add_sphere("ball", body, radius)
    model.add_contact("rubs", ball, fixed, stiffness=k / 2, friction=Friction(mu, tangential_stiffness=k))
    limit = mu * k / 2 * 1e-3 * radius
    model.add_moment("torque", body, lambda t: (10 * t * limit if t < 0.3 else 0.0, 0, 0))
    result = simulate(model, 0.8, 5e-4, progress=False)
    assert audit(result).ok
    J, lever = 0.4 * mass * radius**2, 0.99  # both surfaces meet half a millimetre inside
    slips = 0.1 * lever
    fastest = limit / J * (5 * (0.3**2 - slips**2) - lever * (0.3 - slips))
    spin = result.body("ball").omega[:, 0]
    assert spin.max() == pytest.approx(fastest, rel=5e-3)
    stop_time = 0.3 + fastest * J / (limit * lever)
    assert np.interp(0.5 * (0.3 + stop_time), result.t, spin) == pytest.approx(fastest / 2, rel=1e-2)
    assert np.abs(spin[result.t > stop_time + 0.01]).max() < 0.05 * fastest


# --- EX/ANCFgeneralContactCircle


def along_belt(s, R=0.5, spacing=2.0):
    """Position at the arc length s of a belt on two wheels, from the lowest point of the first on, clockwise."""
    x = s * (2 * np.pi * R + 2 * spacing)
    on_wheel = np.pi * R
    if x < on_wheel:
        return -R * np.sin(x / R), -R * np.cos(x / R), 0.0
    if x < on_wheel + spacing:
        return x - on_wheel, R, 0.0
    if x < 2 * on_wheel + spacing:
        angle = (x - on_wheel - spacing) / R
        return spacing + R * np.sin(angle), R * np.cos(angle), 0.0
    return 2 * on_wheel + 2 * spacing - x, -R, 0.0


def belt_drive(n, R=0.5, spacing=2.0, thick=0.05):
    """A belt whose axis is at R, with a radius much larger than the sagitta of its chords; both wheels have
    the inertia of the file.
    """
    model, length = Model("belt", gravity=(0, -9.81, 0)), 2 * np.pi * R + 2 * spacing
    EI = 1e10 * 0.002**4 / 12
    inertia = {"mass_per_length": 4e-3, "inertia_per_length": 1e-9}
    section = Section.from_stiffness(EA=4e4, GA=1e4, GJ=EI, EI=EI, damping_time=1e-2, radius=thick, **inertia)
    straight = [(0, 0, 0), (0.998 * length, 0, 0)]  # stretched by 0.002
    free = {"stress_free": straight, "stress_free_closed": False}
    belt = model.add_rod("belt", along_belt, section, n, closed=True, **free)
    wheels = []
    for k in range(2):
        at, inside = (spacing * k, 0, 0), R - thick
        wheel = model.add_body(f"wheel {k}", Cylinder(inside, 0.05, mass=2.0 * (R / inside) ** 2), at)
        model.add_joint(f"axle {k}", "revolute", model.ground, wheel, at=at, axis=(0, 0, 1))
        wheels.append(model.add_solid(f"wheel {k}", wheel))
    model.add_moment("motor", model.bodies["wheel 0"], (0, 0, -20.0))
    model.add_joint_damping("brake", model.joints["axle 1"], turning=1.0)
    model.add_contact("wound", belt, wheels, stiffness=1e5, friction=0.5, damping=1.0, stations=1)
    return model


def test_exudyn_belt_drives_its_second_wheel():
    """The motion is that of one body of both inertias and the belt, decelerated by the brake.

    The first node is 2 mm behind that of its own test, 0.0923 m aside, where friction is viscous up to 1 m/s;
    here it is
    Coulomb's from the start.
    """
    result = simulate(belt_drive(54), 0.1, 5e-3, progress=False)
    assert audit(result).ok
    inertia = 2 * 0.25 + 4e-3 * (np.pi + 4) * 0.25
    fast = 20.0 * (1 - np.exp(-0.1 / inertia))
    for k in range(2):
        assert -result.body(f"wheel {k}").omega[-1, 2] == pytest.approx(fast, rel=1e-2)
    assert result.rod("belt").r[-1, 0] == pytest.approx([-0.0922746, -0.48937754, 0.0], abs=2.5e-3)


# --- PE/RodContactCase/RodSelfContact


def test_a_rod_twisted_by_107_hundredths_of_a_turn_buckles():
    """Greenhill's rod, both ends fixed in direction: 8.987 EI/(2 pi GJ) turns, where its lowest frequency is zero."""

    def lowest(turns):
        model = Model("twisted")
        line = [(0, 0, 0), (0, 1, 0)]
        twist = {"twist": 2 * np.pi * turns, "stress_free": line, "stress_free_twist": 0.0}
        rod = model.add_rod("rod", line, plectoneme.SECTION, 20, mass="lumped", **twist)
        model.add_joint("held", "clamp", rod.start)
        model.add_joint("turned", "prismatic", model.ground, rod.end, at=(0, 1, 0), axis=(0, 1, 0))
        return -(modes(model, 1).values[0] ** 2).real

    before, after = lowest(1.06), lowest(1.08)
    assert 1.06 + 0.02 * before / (before - after) == pytest.approx(plectoneme.BUCKLES, rel=2e-3)


@pytest.mark.slow
def test_pyelastica_plectoneme_touches_itself_and_conserves_its_turns():
    """The first 2 of its 10 turns: straight for 8 s, then it throws a loop, whose strands touch each other.

    Twist and writhe add up to the turns of the end, which would change by 2 if strands passed through each
    other.
    """
    result = plectoneme.run(2.0, 20, progress=False)
    assert audit(result).ok
    rod = result.rod("rod")
    assert np.abs(rod.link - 0.2 * result.t).max() < 1e-12
    assert abs(rod.writhe[result.index_at(5.0)]) < 1e-3
    assert rod.writhe[-1] > 0.85
    assert rod.r[-1, -1, 1] < 0.25  # PyElastica, of 50 elements: 0.247 with a link of 2.18, 0.192 with 2.90
    assert 0.96 < plectoneme.strands(result) < 1.05
    assert result.energy["spring"][-1] > 1e-3


# --- PE/ContinuumSnakeCase


def test_pyelastica_snake_crawls_at_the_reference_speed():
    """Second period: 27.04 mm/s there with 25 elements, 27.18 with 50.

    The refined value is 27.2, where a damper keeps it on the ground.
    """
    coarse, fine = (snake.speed(snake.run(2, 0.02, n, 1e-6, progress=False)) for n in (20, 40))
    assert fine == pytest.approx(27.2e-3, rel=0.015)
    assert fine + (fine - coarse) / 3 == pytest.approx(27.2e-3, rel=0.005)
