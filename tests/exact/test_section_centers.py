"""Sections with centres of mass and stiffness off the rod's curve, and with rotated inertia."""

import numpy as np
import pytest

from discretization.state_measures import element_states
from rodsim import Model, ModelError, Section, audit, equilibrium, simulate

PLAIN = Section.from_stiffness(
    EA=3e3,
    GA=(2e3, 1.5e3),
    GJ=5,
    EI=(8, 6),
    mass_per_length=2.0,
    inertia_per_length=(0.05, 0.03, 0.02),
    damping_time=1e-3,
)
C = np.array([0.0, 0.07, -0.04])


def clamped_rod(section, curve, **settings):
    model = Model("rod", gravity=(0, 2.0, -9.81))
    rod = model.add_rod("rod", curve, section, 6, up=(0, 0, 1), **settings)
    model.add_joint("clamp", "clamp", rod.start)
    return model, rod


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_both_centers_off_the_curve_equal_a_shifted_curve(element):
    """Anchors and start velocities remain those of the curve."""
    d2, d3 = np.array([0, 1.0, 0]), np.array([0, 0, 1.0])
    shift = C[1] * d2 + C[2] * d3
    off_center, rod = clamped_rod(PLAIN.with_centers(C[1:], C[1:]), [(0, 0, 0), (1, 0, 0)], element=element)
    off_center.add_force("pull", rod.at(1.0, (0.01, 0.02, 0.03)), (0, 0, 4.0))
    moved, other = clamped_rod(PLAIN, [tuple(shift), (1, *shift[1:])], element=element)
    moved.add_force("pull", other.at(1.0, (0.01, 0.02 - C[1], 0.03 - C[2])), (0, 0, 4.0))
    one, two = (simulate(model, 0.3, 0.01) for model in (off_center, moved))
    assert np.abs(one.rod("rod").r - two.rod("rod").r).max() < 1e-10
    assert np.ptp(one.rod("rod").r[:, -1], axis=0).max() > 0.1
    assert audit(one).energy_balance < 1e-11


def test_a_pull_off_the_center_of_stiffness_bends():
    """By F e/EI per length; damping brings it to rest."""
    stiff = Section.from_stiffness(
        EA=3e3,
        GA=2e3,
        GJ=5,
        EI=(8, 6),
        mass_per_length=0.2,
        inertia_per_length=0.01,
        D=np.diag([9.0, 9, 9, 1, 1, 1]),
    )
    model = Model("pulled")
    rod = model.add_rod(
        "rod", [(0, 0, 0), (1, 0, 0)], stiff.with_centers(stiffness=(0.1, 0.0)), 4, up=(0, 0, 1)
    )
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("pull", rod.end, (0.02, 0, 0))
    result = simulate(model, 20.0, 0.05)
    strain = element_states(model.build().system, result.state())[0]
    assert strain[:, 5] == pytest.approx(
        np.full(4, 0.02 * 0.1 / 6), rel=3e-3
    )  # towards the axis of stiffness
    # the axis of stiffness is stretched by F/EA
    assert strain[:, 0] - 0.1 * strain[:, 5] == pytest.approx(np.full(4, 0.02 / 3e3), rel=1e-2)


def test_damping_is_proportional_to_the_shifted_stiffness():
    section = PLAIN.with_centers(stiffness=C[1:])
    assert np.abs(section.stiffness[0, 4:]).min() > 10.0
    assert section.damping == pytest.approx(1e-3 * section.stiffness, rel=1e-12)


def test_product_of_inertia_equals_principal_axes_rotated():
    """Round stiffness, so that rotated sections differ in their inertia alone."""

    def section(moments, J23=None):
        result = Section.from_stiffness(
            EA=3e3, GA=2e3, GJ=5, EI=7, mass_per_length=2.0, inertia_per_length=moments
        )
        return result if J23 is None else result.with_centers(product_of_inertia=J23)

    angle = 0.4
    c, s = np.cos(angle), np.sin(angle)
    J = np.array([[c, -s], [s, c]]) @ np.diag([0.3, 0.1]) @ np.array([[c, s], [-s, c]])
    one, _ = clamped_rod(section((0.4, J[0, 0], J[1, 1]), J[0, 1]), [(0, 0, 0), (1, 0.2, 0)])
    other, _ = clamped_rod(section((0.4, 0.3, 0.1)), [(0, 0, 0), (1, 0.2, 0)], twist=lambda x: angle)
    plain, _ = clamped_rod(section((0.4, J[0, 0], J[1, 1])), [(0, 0, 0), (1, 0.2, 0)])
    ends = [simulate(model, 0.4, 0.01).rod("rod").r[-1] for model in (one, other, plain)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-10 < 1e-6 < np.abs(ends[0] - ends[2]).max()


def test_velocities_of_a_rod_are_those_of_its_curve():
    model = Model("thrown")
    section = PLAIN.with_centers(C[1:], C[1:])
    omega = np.array([0.3, 1.0, 2.0])
    model.add_rod(
        "rod",
        [(0, 0, 0), (1, 0, 0)],
        section,
        4,
        up=(0, 0, 1),
        velocity=lambda x: np.cross(omega, [x, 0, 0]),
        angular_velocity=omega,
    )
    state = model.build().state
    assert state.v[1:] == pytest.approx(np.cross(omega, state.r[1:]), abs=1e-14)


def swept(s):
    """Centres of mass on a curve that leaves the rod, centres of stiffness on the rod."""
    return PLAIN.with_centers((0.2 * s**2, -0.1 * s))


@pytest.mark.parametrize(
    ("element", "n", "within"), [("se3", 4, 1e-11), ("relative(2)", 8, 1e-8), ("lagrange(2)", 8, 1e-11)]
)
def test_moving_centers_of_mass_do_not_change_statics(element, n, within):
    """Under forces at the ends: points of the rod's curve move as those of the rod without offsets."""
    tips = []
    for section in (PLAIN, swept):
        model = Model("blade")
        rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, n, up=(0, 0, 1), element=element)
        model.add_joint("clamp", "clamp", rod.start)
        model.add_force("pull", rod.end, (0.3, 0.2, -0.1))
        model.add_moment("turn", rod.end, (0.1, 0.0, 0.2))
        model.add_actuation("muscle", rod, "K3", 0.3)
        result = equilibrium(model, linear=True)
        tips.append(np.append(result.displacement(rod.end), result.rod("rod").rotation[-1]))
    assert tips[1] == pytest.approx(tips[0], rel=within, abs=within * np.abs(tips[0]).max())


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_weight_acts_at_moving_centers(element):
    """Moments of the clamp: integrals of the weight per length times x, and times the offset across gravity."""
    model = Model("blade", gravity=(0, 0, -10.0))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], swept, 32, up=(0, 0, 1), element=element)
    model.add_joint("clamp", "weld", model.ground, rod.start)
    moment = equilibrium(model, linear=True).reactions["clamp"].moment
    assert moment == pytest.approx([20.0 * 0.2 / 3, -20.0 / 2, 0.0], rel=1e-3, abs=1e-9)


def test_motion_with_moving_centers_keeps_energy():
    model, _ = clamped_rod(swept, [(0, 0, 0), (1, 0, 0)], element="relative(2)")
    assert audit(simulate(model, 0.2, 0.01)).energy_balance < 1e-11


def test_impossible_centers_are_rejected():
    with pytest.raises(
        ModelError, match=r"product_of_inertia = 0.03 is too large for the moments 0.03 and 0.02"
    ):
        PLAIN.with_centers(product_of_inertia=0.03)
    with pytest.raises(ModelError, match=r"has its centres on the curve"):
        PLAIN.with_law("stiffening", strain=0.1).with_centers((0.1, 0))
    model = Model("m")
    pieces = [(0.5, PLAIN), (1.0, PLAIN.with_centers((0.1, 0)))]
    model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], pieces, 4)
    with pytest.raises(ModelError, match=r"not in the same place in all pieces"):
        model.build()
