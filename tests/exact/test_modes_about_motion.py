"""Modes about prestressed shapes and motions of jointed models, against closed forms."""

import numpy as np
import pytest

from discretization.time.stepper import Stepper
from rigid import quaternions
from rodsim import MassProperties, Model, ModelError, Section, linearise, modes, steady_rotation

EA, GA, GJ, EI, RHO, INERTIA, LENGTH = 4e3, 1.5e3, 50.0, 80.0, 2.0, (0.9, 0.5, 0.5), 2.0
SECTION = Section.from_stiffness(EA=EA, GA=GA, GJ=GJ, EI=EI, mass_per_length=RHO, inertia_per_length=INERTIA)


def pinned(T, n=32, element="relative(4)"):
    """A rod between two pins that stretch it with the force T."""
    model = Model("string")
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (LENGTH * (1 + T / EA), 0, 0)],
        SECTION,
        n,
        element=element,
        mass="consistent",
        stress_free=[(0, 0, 0), (LENGTH, 0, 0)],
    )
    for name, anchor in (("left", rod.start), ("right", rod.end)):
        model.add_joint(name, "spherical", model.ground, anchor)
    return model


@pytest.mark.parametrize("T", [0.0, 300.0, 1500.0, -80.0])
def test_axial_force_shifts_frequencies_as_in_reissners_theory(T):
    """With a = 1 + T/EA, Q = GA (w' - a theta): rho w'' = Q' + T theta', rho I theta'' = EI theta'' + (a - T/GA) Q."""
    a = 1 + T / EA
    expected = []
    for k in np.pi / LENGTH * np.arange(1, 4):
        c = k * (a * GA - T)
        K = np.array([[GA * k * k, -c], [-c, EI * k * k + a * (a * GA - T)]])
        expected.append(np.sqrt(np.linalg.eigvals(np.diag([1 / RHO, 1 / INERTIA[2]]) @ K).min()))
    result = modes(pinned(T), 24)
    for w in expected:  # in both planes
        assert np.sum(np.abs(result.omega / w - 1) < 1e-6) == 2


def flapping(e=0.3, speed=7.0, extra=None, origin=(0, 0, 0)):
    """A hub that rotates freely about z, and a rigid blade on a flap hinge at the distance e."""
    model = Model("rotor")
    spin = (0, 0, speed)
    hub = model.add_body("hub", MassProperties(3.0, np.diag([3.0, 3.0, 5.0])), origin, angular_velocity=spin)
    at, inertia = np.array([e + 0.5, 0, 0]), MassProperties(1.2, np.diag([0.01, 0.1, 0.11]))
    velocity = np.cross(spin, at)
    blade = model.add_body("blade", inertia, origin + at, velocity=velocity, angular_velocity=spin)
    model.add_joint("shaft", "revolute", model.ground, hub, at=origin, axis=(0, 0, 1))
    model.add_joint("hinge", "revolute", hub, blade, at=origin + np.array([e, 0, 0]), axis=(0, 1, 0))
    if extra:
        extra(model, hub, blade)
    return model


@pytest.mark.parametrize("origin", [(0, 0, 0), (1, 2, 3)])
def test_flap_frequency_exceeds_the_spin_by_the_hinge_offset(origin):
    """w^2 = W^2 ((J_lag - J_axial + m l^2 + m e l)/(J_flap + m l^2)): centrifugal moments of body and hinge, no spring."""
    m, l, e, W = 1.2, 0.5, 0.3, 7.0

    def stay(model, hub, blade):
        """Add a spring between two points of the axis, one of them on the ground."""
        model.add_spring("stay", model.ground.at(np.add(origin, (0, 0, 2))), hub.at((0, 0, 0.1)), 30.0)

    result = modes(flapping(e, W, stay, origin), 3)
    flap = result.omega[np.array(result.kinds) == "oscillates"]
    expected = W * np.sqrt((0.11 - 0.01 + m * l * l + m * e * l) / (0.1 + m * l * l))
    assert flap == pytest.approx([expected], rel=1e-9)
    assert pytest.approx([0, 0, W]) == result.linear.motion.W
    assert result.kinds.count("rigid") == 1  # rotation of the hub


def test_spring_to_the_ground_off_the_axis_has_no_steady_rotation():
    def tie(model, hub, blade):
        model.add_spring("tie", model.ground.at((0, 2, 0)), blade.at((0, 0, 0)), 30.0)

    with pytest.raises(ModelError, match=r"changes? during the motion.*give `spin=`"):
        linearise(flapping(extra=tie))


def test_gravity_across_the_axis_of_a_rotation_is_rejected():
    model = flapping()
    model.gravity[:] = (0, -9.81, 0)
    with pytest.raises(ModelError, match="gravity is not along the axis"):
        linearise(model)


@pytest.mark.parametrize("tilt", [0.4, 1.2, 2.0])
def test_top_nutates_at_the_frequency_of_its_effective_potential(tilt):
    """V_eff = (p_phi - p_psi cos)^2/(2 A sin^2) + m g l cos; axes rotate with the precession, the top spins in them."""
    m, g, l, A, C, speed = 1.0, 9.81, 0.3, 0.03, 0.05, 60.0  # A about the centre of mass
    A0 = A + m * l * l
    # steady: A0 W^2 cos - C w3 W + m g l = 0
    W = (C * speed - np.sqrt((C * speed) ** 2 - 4 * A0 * np.cos(tilt) * m * g * l)) / (2 * A0 * np.cos(tilt))
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    omega = W * np.array([0, 0, 1.0]) + (speed - W * np.cos(tilt)) * axis
    half = 0.5 * tilt
    model = Model("top", gravity=(0, 0, -g))
    body = model.add_body(
        "top",
        MassProperties(m, np.diag([A, A, C])),
        l * axis,
        (np.cos(half), 0, np.sin(half), 0),
        velocity=np.cross(omega, l * axis),
        angular_velocity=omega,
    )
    model.add_joint("tip", "spherical", model.ground, body, at=(0, 0, 0))
    result = modes(model, 3, spin=(0, 0, W))
    p_psi = C * speed
    p_phi = A0 * W * np.sin(tilt) ** 2 + p_psi * np.cos(tilt)

    def potential(x):
        return (p_phi - p_psi * np.cos(x)) ** 2 / (2 * A0 * np.sin(x) ** 2) + m * g * l * np.cos(x)

    h = 1e-3
    curvature = np.polyfit(np.arange(-3, 4) * h, [potential(tilt + k * h) for k in range(-3, 4)], 4)[2] * 2
    nods = result.omega[np.array(result.kinds) == "oscillates"]
    assert np.abs(nods / np.sqrt(curvature / A0) - 1).min() < 1e-6
    assert result.stable


def test_velocities_relative_to_the_rotating_axes_are_named():
    with pytest.raises(ModelError, match=r"body 'blade' moves with .* m/s against axes"):
        linearise(flapping(speed=7.0), spin=(0, 0, 3.0))


def hanging(element):
    """A heavy rod on a hinged body, with a slider, a bar, a spring and a coil: joints, weight and stress everywhere."""
    model = Model("hanging", gravity=(0.2, 0.1, -9.81))
    arm = model.add_body("arm", MassProperties(3.0, np.diag([0.3, 0.25, 0.1])), position=(0.1, 0, -0.5))
    model.add_joint("hinge", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0.2, 1, 0))
    rod = model.add_rod("rod", [(0.1, 0, -1), (0.1, 0.4, -2)], SECTION, 6, element=element, mass="consistent")
    model.add_joint("weld", "weld", arm, rod.start)
    bob = model.add_body("bob", MassProperties(1.0, np.diag([0.02, 0.03, 0.04])), position=(0.1, 0.4, -2.2))
    model.add_joint("rail", "prismatic", rod.end, bob, axis=(0, 0.3, 1))
    model.add_spring("stop", rod.end, bob.at((0, 0, 0)), stiffness=400.0, length=0.25)
    ball = model.add_body("ball", MassProperties(0.7, np.eye(3) * 0.01), position=(0.15, 0.25, -1.9))
    model.add_joint("bar", "distance", rod.at(0.5), ball.at((0, 0.02, 0.1)))
    model.add_spring("coil", model.ground, arm, 20.0, along="rotation", axis=(0.2, 1, 0), angle=0.4)
    return model.build()


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
@pytest.mark.parametrize("mode", [1, 3, 7])
def test_em_run_started_in_a_mode_follows_it(element, mode):
    """x = size phi sin(w t): the midpoint rule of em rotates a linear oscillation by 2 atan(w h/2) per step."""
    built = hanging(element)
    reference = steady_rotation(built, (0, 0, 0)).state
    result = modes(built, 8, reference)
    assert result.kinds == ("rigid",) + 7 * ("oscillates",)  # rotation of the ball about its bar
    w, phi, size, steps = result.omega[mode], result.shapes[mode], 1e-6, 24
    h = 2 * np.tan(np.pi / steps) / w
    turning = quaternions.rotate(quaternions.conjugate(reference.quat), size * w * phi[:, 3:])
    state = reference._replace(v=size * w * phi[:, :3], Omega=turning, lam=result.linear.lam.copy())
    stepper = Stepper(built.system, h, 2, built.load_values)
    for k in range(1, steps + 1):
        state, _ = stepper.advance(state, k - 1, 1)
        expected = size * phi[:, :3] * np.sin(2 * np.pi * k / steps)
        assert np.abs(state.r - reference.r - expected).max() < 1e-4 * size * np.abs(phi[:, :3]).max()
