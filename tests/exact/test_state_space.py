"""State-space models and frequency responses against closed forms, each other and runs."""

import numpy as np
import pytest
from scipy.signal import lsim

from benchmarks.modes import beam_model, steel
from rigid.errors import RedundantJointsWarning
from rodsim import MassProperties, Model, ModelError, Section, modes, simulate
from rodsim.linear import ForceInput, JointForceOutput, MotionOutput, frequency_response, state_space

MASS, DAMPING, STIFFNESS = 2.0, 3.0, 50.0


def oscillator():
    model = Model("oscillator")
    mass = model.add_body("mass", MassProperties(MASS, np.eye(3)), position=(1, 0, 0))
    model.add_joint("rail", "prismatic", model.ground, mass, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", model.ground.at((0, 0, 0)), mass, STIFFNESS, damping=DAMPING)
    return model, mass


def test_an_oscillator_has_its_transfer_function():
    model, mass = oscillator()
    push, probes = (
        ForceInput(mass.at((0, 0.3, 0)), (1, 0, 0)),
        [MotionOutput(mass.at((0, 0, 0)), (2, 0, 0), w) for w in ("position", "velocity")],
    )
    omega = np.array([0.0, 1.0, 5.0, 20.0])
    expected = 1 / (STIFFNESS + 1j * omega * DAMPING - MASS * omega**2)
    response = frequency_response(model, [push], probes, omega)
    assert response[:, 0, 0] == pytest.approx(expected, rel=1e-12)
    assert response[:, 1, 0] == pytest.approx(1j * omega * expected, rel=1e-12)
    name = mass.name
    by_name = (
        [ForceInput(f"{name}@0,0.3,0", (1, 0, 0))],
        [MotionOutput(name, (2, 0, 0)), MotionOutput(mass, (2, 0, 0), "velocity")],
    )
    assert np.array_equal(frequency_response(model, *by_name, omega), response)
    system = state_space(model, [push], probes)
    assert system.A.shape == (2, 2)  # five of the six degrees of freedom are eliminated
    assert np.sort_complex(np.linalg.eigvals(system.A)) == pytest.approx(
        np.sort_complex(np.roots([MASS, DAMPING, STIFFNESS])), rel=1e-12
    )
    assert _transfer(system, omega)[:, :, 0] == pytest.approx(response[:, :, 0], rel=1e-10)


def _transfer(system, omega):
    identity = np.eye(len(system.A))
    return np.array([system.C @ np.linalg.solve(1j * w * identity - system.A, system.B) for w in omega])


G, ARM = 9.81, 0.7


@pytest.mark.parametrize("flipped", [False, True])
def test_hinge_force_response_is_that_of_a_pendulum(flipped):
    """Sideways force on b: m l theta'' - u; (J + m l^2) theta'' + m g l theta = l u."""
    J = 0.4
    model = Model("pendulum", gravity=(0, -G, 0))
    bob = model.add_body("bob", MassProperties(MASS, (J, J, J)), position=(0, -ARM, 0))
    sides = (bob, model.ground) if flipped else (model.ground, bob)
    model.add_joint("hinge", "revolute", *sides, at=(0, 0, 0), axis=(0, 0, 1))
    push = ForceInput(bob.at((0, 0, 0)), (1, 0, 0))
    outputs = [
        JointForceOutput("hinge", (1, 0, 0)),
        JointForceOutput("hinge", (0, 1, 0)),
        JointForceOutput("hinge", (0, 0, 1), moment=True),
    ]
    omega = np.array([0.0, 1.0, 3.0, 20.0])
    theta = ARM / (MASS * G * ARM - (J + MASS * ARM**2) * omega**2)
    expected = (-MASS * ARM * omega**2 * theta - 1.0) * (-1.0 if flipped else 1.0)
    response = frequency_response(model, [push], outputs, omega)
    assert response[:, 0, 0] == pytest.approx(expected, rel=1e-11)
    assert np.abs(response[:, 1:, 0]).max() < 1e-11
    system = state_space(model, [push], outputs)
    assert _transfer(system, omega)[:, :, 0] + system.D[:, 0] == pytest.approx(
        response[:, :, 0], rel=1e-10, abs=1e-10
    )


def test_strut_force_rotates_with_the_strut():
    """The force in a pendulum's rod changes by its direction: -m g x/l."""
    model = Model("strut", gravity=(0, -G, 0))
    bob = model.add_body("bob", MassProperties(MASS, np.eye(3)), position=(0, -ARM, 0))
    model.add_joint("strut", "distance", model.ground.at((0, 0, 0)), bob.at((0, 0, 0)))
    omega = np.array([0.5, 2.0])
    response = frequency_response(
        model, [ForceInput(bob.at((0, 0, 0)), (1, 0, 0))], [JointForceOutput("strut", (1, 0, 0))], omega
    )
    stiffness = MASS * G / ARM
    assert response[:, 0, 0] == pytest.approx(-stiffness / (stiffness - MASS * omega**2), rel=1e-11)


def test_rail_moment_is_taken_about_its_point_on_b():
    model = Model("rail", gravity=(0, -G, 0))
    mass = model.add_body("mass", MassProperties(MASS, np.eye(3)), position=(1, 0, 0))
    model.add_joint("rail", "prismatic", mass, model.ground, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", model.ground.at((0, 0, 0)), mass, STIFFNESS, damping=DAMPING)
    push, output = (
        ForceInput(mass.at((0, 0.3, 0)), (1, 0, 0)),
        JointForceOutput("rail", (0, 0, 1), moment=True),
    )
    omega = np.array([0.0, 4.0])
    x = 1.0 / (STIFFNESS + 1j * omega * DAMPING - MASS * omega**2)
    expected = -0.3 - MASS * G * x  # on the ground: the weight has moved outwards
    response = frequency_response(model, [push], [output], omega)[:, 0, 0]
    assert response == pytest.approx(expected, rel=1e-11)
    system = state_space(model, [push], [output])
    assert (_transfer(system, omega) + system.D)[:, 0, 0] == pytest.approx(expected, rel=1e-10)


def test_missing_or_undetermined_reactions_are_rejected():
    model, mass = oscillator()
    push = ForceInput(mass.at((0, 0, 0)), (1, 0, 0))
    with pytest.raises(ModelError, match="output 0: there is no joint 'rale'; the joints are rail"):
        state_space(model, [push], [JointForceOutput("rale", (1, 0, 0))])
    model.add_joint("again", "prismatic", model.ground, mass, at=(0, 0, 0), axis=(1, 0, 0))
    with (
        pytest.warns(RedundantJointsWarning),
        pytest.raises(ModelError, match="joint 'rail' repeats what other joints fix"),
    ):
        state_space(model, [push], [JointForceOutput("rail", (0, 1, 0))])


def viscous_beam(n=12, element="se3"):
    section = steel(0.1)
    viscous = Section(
        section.stiffness, section.mass_per_length, section.inertia_per_length, 1e-5 * section.stiffness
    )
    model = beam_model(viscous, "CF", element, "mean", n)
    return model, model.rods["rod"]


def test_a_beam_has_the_same_response_by_matrices_and_by_solves_and_the_exact_stiffness():
    model, rod = viscous_beam()
    inputs = [ForceInput(rod.end, (0, 1, 0)), ForceInput(rod.at(0.5), (0, 0, 1), moment=True)]
    outputs = [
        MotionOutput(rod.end, (0, 1, 0)),
        MotionOutput(rod.at(0.5), (0, 0, 1), "angular velocity"),
        MotionOutput(rod.end, (0, 0, 1), "turn"),
    ]
    omega = np.array([0.0, 300.0, 520.0, 4000.0])
    solved = frequency_response(model, inputs, outputs, omega)
    system = state_space(model, inputs, outputs)
    assert _transfer(system, omega) == pytest.approx(solved, rel=1e-6, abs=1e-9 * np.abs(solved).max())
    EI, GA = rod.section.stiffness[5, 5], rod.section.stiffness[1, 1]
    # se3 is exact in bending under end moments; under a force as one-point integration
    assert solved[0, 0, 0].real == pytest.approx(1 / (3 * EI) + 1 / GA, rel=2e-3)
    assert solved[0, 2, 1].real == pytest.approx(0.5 / EI, rel=1e-9)
    assert solved[0, 0, 1] == pytest.approx(0.5 / EI * (1 - 0.25), rel=1e-9)


def test_force_off_the_axis_twists_and_the_twist_moves_points_off_the_axis():
    model, rod = viscous_beam(4)
    arm = 0.2
    off_axis = frequency_response(
        model,
        [ForceInput(rod.at(1.0, (0, arm, 0)), (0, 0, 1))],
        [MotionOutput(rod.end, (1, 0, 0), "turn")],
        [0.0],
    )
    GJ = rod.section.stiffness[3, 3]
    assert off_axis[0, 0, 0] == pytest.approx(arm / GJ, rel=1e-9)
    reciprocal = frequency_response(
        model,
        [ForceInput(rod.end, (1, 0, 0), moment=True)],
        [MotionOutput(rod.at(1.0, (0, arm, 0)), (0, 0, 1))],
        [0.0],
    )
    assert reciprocal[0, 0, 0] == pytest.approx(off_axis[0, 0, 0], rel=1e-12)  # Maxwell and Betti


def test_few_modes_are_enough_near_the_lowest_resonance():
    model, rod = viscous_beam()
    push, probe = [ForceInput(rod.end, (0, 1, 0))], [MotionOutput(rod.end, (0, 1, 0))]
    w = modes(model, 1, undamped=True).omega[0]
    reduced = state_space(model, push, probe, n_modes=8)
    assert reduced.A.shape == (16, 16)
    omega = np.array([w * 0.99, w])
    assert _transfer(reduced, omega) == pytest.approx(frequency_response(model, push, probe, omega), rel=2e-3)


def test_the_linear_response_to_a_small_load_is_that_of_a_run():
    model, rod = viscous_beam(4)
    system = state_space(model, [ForceInput(rod.end, (0, 1, 0))], [MotionOutput(rod.end, (0, 1, 0))])
    size, h, steps = 1.0, 2e-6, 2000
    model.add_force("pull", rod.end, (0, size, 0))
    result = simulate(model, steps * h, h, output_every=20, progress=False)
    run = result.rod("rod").r[:, -1, 1]
    t = h * np.arange(0, steps + 1, 20)
    _, linear, _ = lsim(system, size * np.ones_like(t), t)
    assert run == pytest.approx(linear, abs=2e-4 * np.abs(linear).max())


def test_invalid_inputs_and_large_models_are_rejected():
    model, _mass = oscillator()
    with pytest.raises(ModelError, match="input 0: the ground does not move"):
        frequency_response(model, [ForceInput(model.ground.at((0, 0, 0)), (1, 0, 0))], [], [1.0])
    with pytest.raises(ModelError, match=r"output 0: .* is not a point"):
        state_space(model, [], [MotionOutput(3, (1, 0, 0))])
    with pytest.raises(ModelError, match=r"output 0: .*'wheel'"):
        state_space(model, [], [MotionOutput("wheel", (1, 0, 0))])
    big, rod = viscous_beam(400)
    with pytest.raises(ModelError, match="give n_modes="):
        state_space(big, [ForceInput(rod.end, (0, 1, 0))], [])
