"""Modes of mechanisms: redundant joints, torsion springs, parts of nearly zero mass."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rodsim import Box, MassProperties, Model, Section, modes
from rodsim.linear import ForceInput, MotionOutput, state_space


def four_bars(rotation=None, gravity=0.0, loops=1):
    """Parallelograms of parallel hinges in a row, rotated: each has three redundant equations; gravity: along
    its cranks.
    """
    rotation = Rotation.identity() if rotation is None else rotation
    model, axis = Model("four bars", gravity=rotation.apply((0, gravity, 0))), rotation.apply((0, 0, 1))

    def bar(name, start, end):
        middle = rotation.apply(0.5 * np.add(start, end))
        return model.add_body(name, Box(1, 0.1, 0.1, mass=1.0), middle, rotation.as_quat(scalar_first=True))

    def hinge(k, corner, *bars):
        model.add_joint(f"hinge {k}", "revolute", *bars, at=rotation.apply(corner), axis=axis)

    cranks = [bar(f"crank {k}", (1.5 * k, 0, 0), (1.5 * k, 1, 0)) for k in range(loops + 1)]
    for k, crank in enumerate(cranks):
        hinge(f"{k} below", (1.5 * k, 0, 0), model.ground, crank)
    for k in range(loops):
        coupler = bar(f"coupler {k}", (1.5 * k, 1, 0), (1.5 * k + 1.5, 1, 0))
        hinge(f"{k} left", (1.5 * k, 1, 0), cranks[k], coupler)
        hinge(f"{k} right", (1.5 * k + 1.5, 1, 0), coupler, cranks[k + 1])
    return model


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_redundant_joints_remove_no_freedom():
    """The one motion of a planar four-bar exists with hinges; with a spring it oscillates as without redundancy."""
    model = four_bars()
    assert modes(model, 5).kinds == ("rigid",)
    model.add_spring("spring", model.ground, model.bodies["crank 0"], 7.0, along="rotation", axis=(0, 0, 1))
    push = [ForceInput(model.bodies["coupler 0"].at((0, 0, 0)), (1, 0, 0))]
    probe = [MotionOutput(model.bodies["crank 0"].at((0, 0, 0)), (0, 0, 1), "turn")]
    cranks = 2 * ((1 + 0.01) / 12 + 0.25)  # about their hinges; the coupler moves in a circle of radius 1
    assert modes(model, 5).omega == pytest.approx([np.sqrt(7.0 / (cranks + 1.0))], rel=1e-12)
    A = state_space(model, push, probe).A
    assert np.abs(np.linalg.eigvals(A).imag) == pytest.approx([np.sqrt(7.0 / (cranks + 1.0))] * 2, rel=1e-9)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize("loops", [1, 25])
@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_hanging_four_bars_have_equal_frequencies_in_any_orientation(seed, loops):
    """Joints carry weight, which stiffens them; the equations for these forces are singular, or nearly so."""
    rotation = None if seed is None else Rotation.random(random_state=seed)
    result = modes(four_bars(rotation, 9.81, loops), 5)
    inertia = (loops + 1) * ((1 + 0.01) / 12 + 0.25) + loops
    assert result.omega == pytest.approx([np.sqrt((1.5 * loops + 0.5) * 9.81 / inertia)], rel=1e-8)
    assert np.abs(result.linear.lam).max() < 40.0  # N, for a weight of 9.81 N per bar


def test_free_rotations_are_rigid_modes_next_to_torsion_springs():
    model = Model("arm")
    arm = model.add_body("arm", Box(1, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
    model.add_joint(
        "pin", "universal", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), second_axis=(0, 0, 1)
    )
    model.add_spring("spring", model.ground, arm, 10.0, along="rotation", axis=(0, 1, 0))
    result = modes(model, 5)
    assert result.kinds == ("rigid", "oscillates")
    assert result.omega[1] == pytest.approx(np.sqrt(10.0 / (1.01 / 12 + 0.25)), rel=1e-12)


@pytest.mark.parametrize("speed", [0.0, 100.0, 300.0])
def test_disc_on_a_nearly_massless_shaft_whirls_at_the_closed_form(speed):
    """Overhung, free to spin: frequencies of 2 x 2 matrices, though those of the shaft are at least 1e7 times
    higher.
    """
    length, EI, mass, J, polar = 0.5, 2000.0, 10.0, 0.1, 0.18
    section = Section.from_stiffness(
        EA=1e9, GA=1e9, GJ=1e7, EI=EI, mass_per_length=1e-5, inertia_per_length=1e-9
    )
    spin = (speed, 0, 0)
    model = Model("rotor")
    shaft = model.add_rod(
        "shaft", [(0, 0, 0), (length, 0, 0)], section, 4, element="relative(4)", angular_velocity=spin
    )
    disc = model.add_body(
        "disc", MassProperties(mass, (polar, J, J)), position=(length, 0, 0), angular_velocity=spin
    )
    model.add_joint("bearing", "revolute", model.ground, shaft.start, axis=(1, 0, 0))
    model.add_joint("seat", "weld", shaft.end, disc)
    result = modes(model, 5)
    stiffness = EI * np.array([[12 / length**3, -6 / length**2], [-6 / length**2, 4 / length]])
    A = np.zeros((4, 4), complex)
    A[:2, 2:] = np.eye(2)
    inverse = np.diag([1 / mass, 1 / J])
    A[2:, :2], A[2:, 2:] = -inverse @ stiffness, 1j * speed * inverse @ np.diag([0.0, polar])
    exact = np.sort(np.abs(np.linalg.eigvals(A).imag))
    assert result.kinds[0] == "rigid"
    assert np.sort(result.omega[1:]) == pytest.approx(exact, rel=1e-4)  # effect of shear of the shaft
