"""Bushings with and without a free axis, compared with known solutions beyond one turn; rotation limits and the names in their
errors.
"""

import re

import numpy as np
import pytest

from discretization.interaction_groups import groups_of
from rigid import quaternions
from rigid.errors import ConvergenceError
from rodsim import Box, Material, Model, Section, audit, equilibrium, simulate
from rodsim.building.rotation_limits import describe_largest_rotation

EXACT = 1e-11
ASKEW = np.array([2.0, -1.0, 2.0]) / 3
BRICK = Box(0.5, 0.2, 0.3, density=200)


def bearing(axis, radial, tilting):
    """Stiffness (6, 6) in world axes that leaves the rotation about an axis free, equal along and across it."""
    n = np.asarray(axis, float)
    C = np.zeros((6, 6))
    C[:3, :3] = radial * np.eye(3)
    C[3:, 3:] = tilting * (np.eye(3) - np.outer(n, n))
    return C


def angles_about(axis, quat):
    """Angles (k,) about an axis of orientations (k, 4) that start from zero, counted through turns."""
    return np.unwrap(2 * np.arctan2(quat[:, 1:] @ axis, quat[:, 0]), period=2 * np.pi)


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em-d(0.5)"])
def test_body_rotates_freely_about_the_free_axis(integrator):
    """Force and moment stay at round-off through many turns. The body spins about its axis of largest inertia: about the
    intermediate axis a misalignment of 1e-15 would grow.
    """

    def spun(with_bushing):
        model = Model("spun")
        body = model.add_body("body", Box(0.5, 0.3, 0.2, density=200), angular_velocity=(0, 0, 9.0))
        if with_bushing:
            model.add_bushing("mount", model.ground, body, [1e3, 2e3, 3e3, 50, 60, 0], at=(0, 0, 0))
        return simulate(model, 4.0, 0.02, integrator).body("body").quat

    one, other = spun(True), spun(False)
    assert angles_about(np.array([0, 0, 1.0]), one)[-1] > 10 * np.pi
    assert np.abs(one - other).max() < 1e-10


def test_stiff_bushing_acts_like_a_hinge():
    """A pendulum that passes the top, about an oblique axis: the difference falls as 1/stiffness."""

    def swung(hold):
        model = Model("swing", gravity=(0, 0, -9.81))
        arm = np.cross(ASKEW, [0, 0, 1.0])
        arm *= 0.3 / np.linalg.norm(arm)
        spin = 14.0 * ASKEW
        body = model.add_body("body", BRICK, arm, velocity=np.cross(spin, arm), angular_velocity=spin)
        hold(model, body)
        return simulate(model, 1.2, 0.002).body("body")

    hinge = swung(
        lambda model, body: model.add_joint("pin", "revolute", model.ground, body, at=(0, 0, 0), axis=ASKEW)
    )
    gaps = []
    for stiff in (1e6, 1e7):
        C = bearing(ASKEW, stiff, stiff)
        bushed = swung(
            lambda model, body, C=C: model.add_bushing("mount", model.ground, body, C, C / 1e3, at=(0, 0, 0))
        )
        assert angles_about(ASKEW, bushed.quat)[-1] > 2 * np.pi
        gaps.append(np.abs(bushed.r - hinge.r).max())
    assert gaps[0] < 0.02
    assert gaps[1] == pytest.approx(0.1 * gaps[0], rel=0.3)


def pair(stiffness, damping=0.0, swapped=False, spin=15.0 * ASKEW):
    """Two free bodies that rotate against each other about the axis of the bushing between them, fast or slowly."""
    model = Model("pair")
    orientation = quaternions.from_rotation_vector([0.3, -0.4, 0.5])
    a = model.add_body(
        "a", Box(0.3, 0.4, 0.5, density=100), velocity=(0.1, 0, 0.3), angular_velocity=(0.4, -0.3, 0.2)
    )
    b = model.add_body("b", BRICK, (0.5, 0.3, -0.2), orientation, velocity=(0, 0.5, 0), angular_velocity=spin)
    sides = (b, a) if swapped else (a, b)
    model.add_bushing(
        "mount", *sides, stiffness, damping, at=(0.4, 0.2, -0.1), rest=(0.02, 0, -0.01, 0.1, 0.2, -0.05)
    )
    return model


def full(seed, size, free=None):
    """Random symmetric positive definite matrix without resistance to rotation about `free`."""
    B = np.random.default_rng(seed).standard_normal((6, 6))
    if free is not None:
        B[:, 3:] -= np.outer(B[:, 3:] @ free, free)
        return size * (B.T @ B + 0.3 * np.diag([1.0, 1, 1, 0, 0, 0]) + 0.3 * bearing(free, 0.0, 1.0))
    return size * (B @ B.T + 0.1 * np.eye(6))


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
@pytest.mark.parametrize("damping", [0.0, 1.0])
@pytest.mark.parametrize(
    ("free", "spin", "resisting"), [(None, (1.0, 2.0, -0.5), 15.0), (ASKEW, 15.0 * ASKEW, 0.004)]
)
def test_bushing_keeps_energy_balance_and_both_momenta(free, spin, resisting, damping, integrator):
    """The matrices are full and a free axis is oblique; rotations exceed one turn and the damping resists all of them."""
    made = pair(full(1, 200.0, free), full(2, damping * resisting), spin=spin)
    result = simulate(made, 1.5, 0.005, integrator)
    audit_report = audit(result)
    assert audit_report.ok
    assert audit_report.energy_balance < EXACT
    assert max(audit_report.linear_momentum_drift, audit_report.angular_momentum_drift) < EXACT
    assert (result.dissipation[-1] > 1e-3 * audit_report.energy_scale) == (damping > 0.0)
    assert np.ptp(result.energy["spring"]) > 0.01 * audit_report.energy_scale
    assert audit_report.newton_mean < 6.0
    between = quaternions.multiply(quaternions.conjugate(result.body("a").quat), result.body("b").quat)
    assert free is None or np.abs(angles_about(ASKEW, between)).max() > 2 * np.pi


@pytest.mark.parametrize(("free", "spin"), [(None, (1.0, 2.0, -0.5)), (ASKEW, 15.0 * ASKEW)])
def test_bushing_motion_is_equal_in_every_chart(free, spin):
    made = pair(full(1, 100.0, free), spin=spin)
    em, other = (simulate(made, 0.5, 2.5e-3, name).body("b").r for name in ("em", "EM-G"))
    assert np.abs(other - em).max() < 2e-3 < np.ptp(em, axis=0).max()


ALL_AXES = np.eye(6)
SORTS = [
    (np.eye(6), 0.0 * ALL_AXES, False),
    (bearing(ASKEW, 1.0, 3.0), 0.0 * ALL_AXES, True),
    (
        np.diag([1.0, 1, 1, 0, 5, 0]),
        0.0 * ALL_AXES,
        False,
    ),  # with two free axes tilt and rotation cannot be distinguished
    (np.diag([1.0, 1, 1, 0, 0, 0]), 0.0 * ALL_AXES, True),
    (np.diag([1.0, 1, 1, 0, 0, 0]), ALL_AXES, False),  # the damping needs the full rotation
    (
        np.diag([1.0, 1, 1, 5, 5, 5e-9]),
        0.0 * ALL_AXES,
        False,
    ),  # 1e-9 of the other stiffnesses does not count as free
]


@pytest.mark.parametrize(("stiffness", "damping", "free"), SORTS)
def test_axis_without_rotational_stiffness_or_damping_is_free(stiffness, damping, free):
    built = pair(stiffness, damping).build()
    names = {acting.group.kind.name for acting in groups_of(built.system, built.state)}
    assert {"bushing with a free axis" in name for name in names} == {free}


def test_isotropic_stiffness_is_symmetric_in_markers():
    """The motions agree up to terms of the order of the step."""
    gaps = []
    for h in (0.005, 0.0025):
        ends = []
        for swapped in (False, True):
            made = pair(bearing(ASKEW, 300.0, 20.0), swapped=swapped)
            made.others["mount"].rest[:] = 0.0
            ends.append(simulate(made, 1.0, h).state().r)
        gaps.append(np.abs(ends[0] - ends[1]).max())
    assert gaps[0] < 1e-3
    assert gaps[0] / gaps[1] == pytest.approx(4.0, rel=0.1)


def test_anisotropic_stiffness_follows_marker_a():
    """A shaft rotated by 2 rad in its housing is pushed: displacements are C^-1 F in the axes of the housing."""
    model = Model("housing")
    body = model.add_body("body", BRICK, orientation=quaternions.from_rotation_vector([0, 0, 0.7]))
    stop = model.add_body("stop", BRICK, (0, 0, 1))
    model.add_joint("clamp", "weld", model.ground, stop, at=(0, 0, 1))
    k = np.array([400.0, 500.0, 600.0])
    model.add_bushing("mount", model.ground, body, [*k, 50, 60, 0], at=(0, 0, 0))
    model.add_spring("coil", model.ground, body, 3.0, along="rotation", axis=(0, 0, 1), angle=2.0)
    F = np.array([3.0, -4.0, 5.0])
    model.add_force("push", body.at((0, 0, 0)), F)
    state = equilibrium(model).body("body")
    assert angles_about(np.array([0, 0, 1.0]), state.quat)[-1] - 0.7 == pytest.approx(2.0, abs=1e-9)
    assert state.r[-1] == pytest.approx(F / k, abs=1e-9)


def test_damping_about_the_free_axis_slows_the_rotation():
    """J dw/dt = -d w: w halves every ln 2 J/d, through more than one turn."""
    model = Model("slowed")
    body = model.add_body("body", BRICK, angular_velocity=(0, 20.0, 0))
    J, d = body.properties.inertia[1, 1], 0.2
    model.add_bushing(
        "mount", model.ground, body, [1e3, 1e3, 1e3, 50, 0, 50], [0, 0, 0, 0, d, 0], at=(0, 0, 0)
    )
    t_end = np.log(2) * J / d
    h = t_end / 200
    result = simulate(model, 200 * h, h)
    assert angles_about(np.array([0, 1.0, 0]), result.body("body").quat)[-1] > 2 * np.pi
    assert result.state().Omega[1, 1] == pytest.approx(10.0, rel=5e-4)  # (w h)^2/6
    assert result.dissipation[-1] == pytest.approx(
        0.5 * J * (20.0**2 - result.state().Omega[1, 1] ** 2), rel=1e-9
    )


@pytest.mark.parametrize("axis", [(0, 0, 1), (0.6, 0, 0.8)])
def test_bushing_about_a_hinge_acts_like_a_torsion_spring(axis):
    """The bushing rotation is the hinge angle itself, so the motion agrees to round-off."""

    def swung(add_support):
        model = Model("swing", gravity=(0, -9.81, 0))
        body = model.add_body("body", Box(0.2, 1.0, 0.1, density=300), position=(0, -0.5, 0))
        model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=axis)
        add_support(model, body)
        return simulate(model, 1.5, 0.01).body("body").r

    def torsion(model, body):
        model.add_spring(
            "coil", model.ground, body, 60.0, damping=2.0, along="rotation", axis=axis, angle=1.0
        )

    n = np.array(axis, float)

    def bushing(model, body):
        # 60 N m/rad along the axis; across it and in translation only what the hinge prevents
        C, D = np.zeros((2, 6, 6))
        C[3:, 3:] = 60.0 * np.outer(n, n) + 7.0 * (np.eye(3) - np.outer(n, n))
        D[3:, 3:] = 2.0 * np.outer(n, n)
        C[:3, :3] = 1e3 * np.eye(3)
        at = model.ground.at((0, 0, 0))
        model.add_bushing("mount", at, body.at((0, 0.5, 0)), C, D, rest=(0, 0, 0, *n))

    one, other = swung(torsion), swung(bushing)
    assert np.ptp(one, axis=0).max() > 0.3
    assert np.abs(one - other).max() < 1e-9


def test_bushing_force_acts_in_its_own_axes():
    """Under static forces the displacements are C^-1 F; the equilibrium is reached by a strongly damped fall."""
    model = Model("mount", gravity=(1.0, -2.0, 3.0))
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=2.0))
    axes = quaternions.to_matrix(quaternions.from_rotation_vector(np.array([0.3, 0.2, -0.5])))
    k = np.array([400.0, 500.0, 600.0])
    model.add_bushing(
        "mount", model.ground.at((0, 0, 0)), body, [*k, 50, 50, 50], [*(50 * np.ones(3)), 1, 1, 1], axes=axes
    )
    end = simulate(model, 8.0, 0.02).body("body").r[-1]
    expected = axes @ (axes.T @ (2.0 * np.array([1.0, -2.0, 3.0])) / k)
    # forces that are not along the displacement rotate the body slightly
    assert end == pytest.approx(expected, rel=1e-3)


def body_on_bushing(stiffness, **moving):
    """A body on a bushing."""
    model = Model("held")
    body = model.add_body("body", BRICK, **moving)
    model.add_bushing("mount", model.ground, body, stiffness, at=(0, 0, 0))
    return model


def test_bushing_without_rotational_stiffness_may_rotate_past_pi():
    """A body on a point other than its centre, free to rotate in all directions."""
    result = simulate(body_on_bushing([1e3, 1e3, 1e3, 0, 0, 0], angular_velocity=(0, 2.0, 0)), 4.0, 0.02)
    assert angles_about(np.array([0, 1.0, 0]), result.body("body").quat)[-1] > 2 * np.pi
    assert np.abs(result.state().Omega[1] - [0, 2.0, 0]).max() < 1e-11


# -- rotation limits ---------------------------------------------------------------------------------------------------


def test_bushing_at_its_rotation_limit_is_named_with_angle_and_remedy():
    """The axis is nearly free, but all rotations are resisted."""
    model = Model("spun")
    body = model.add_body("body", BRICK, angular_velocity=(0.3, 0.1, 9.0))
    model.add_body("other", BRICK, (3, 0, 0))
    model.add_bushing("gentle", model.ground, model.bodies["other"], 100.0, at=(3, 0, 0))
    model.add_bushing("mount", model.ground, body, [1e3, 2e3, 3e3, 50, 60, 1e-3], at=(0, 0, 0))
    with pytest.raises(
        ConvergenceError,
        match=r"bushing 'mount' is turned by 3\.1\d* rad.*axis of rotation be 0.*torsion spring",
    ):
        simulate(model, 1.0, 0.02)


def twisted(element="se3", closed=False):
    """A rod of 4 elements, and an undeformed one next to it."""
    section = Section.circular(0.02, Material(E=1e6, nu=0.3, density=1000))
    model = Model("rods")
    model.add_rod("calm", [(0, 1, 0), (1, 1, 0)], section, 4)
    rod = model.add_rod("thin", [(0, 0, 0), (1, 0, 0)], section, 4, element=element, mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    return model, rod


@pytest.mark.parametrize("element", ["se3", "lagrange(2)"])
def test_element_rotated_past_pi_is_named_with_rod_position_and_angle(element):
    model, rod = twisted(element)
    model.add_moment("wring", rod.at(0.5), (2.0, 0, 0))
    with pytest.raises(ConvergenceError) as failure:
        simulate(model, 2.0, 0.005)
    assert "of 4 of rod 'thin' (from " in str(failure.value)
    assert "more elements" in str(failure.value)


def tilted(angle, stiffness=(1e3, 2e3, 3e3, 50, 60, 0), rotation=3.0):
    """Tilt a bushing, with any rotation about its axis."""
    built = body_on_bushing(list(stiffness)).build()
    both = quaternions.from_rotation_vector(np.array([[angle, 0, 0], [0, 0, rotation]]))
    quat = np.stack([built.state.quat[0], quaternions.multiply(*both)])
    return built, built.state._replace(quat=quat)


def bent(angle, node=2):
    built = twisted()[0].build()
    quat = built.state.quat.copy()
    quat[built.layout.rods[1].frames[node:]] = quaternions.from_rotation_vector([angle, 0, 0])
    return built, built.state._replace(quat=quat)


def ring(angle):
    """A ring whose last node is rotated by 1/6 of a turn less than the one before it, and by as much more than the first."""
    section = Section.circular(0.02, Material(E=1e6, nu=0.3, density=1000))
    model = Model("ring")
    circle = lambda s: (np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0)  # noqa: E731
    model.add_rod("ring", circle, section, 6, closed=True, up=(0, 0, 1))
    built = model.build()
    quat, last = built.state.quat.copy(), built.layout.rods[0].frames[-1]
    quat[last] = quaternions.multiply(quaternions.from_rotation_vector([0, 0, -angle]), quat[last])
    return built, built.state._replace(quat=quat)


NEAR_LIMITS = [
    (tilted, (2.5,), "bushing 'mount' is tilted by 2.5 rad"),
    (tilted, (1.9,), ""),
    (tilted, (np.pi, (1e3, 1e3, 1e3, 0, 0, 0), 0.0), ""),  # all rotations are free
    (bent, (2.5,), "element 2 of 4 .*from 0.25 m.* 2.5 rad"),
    (bent, (1.9,), ""),
    (ring, (1.2,), r"element 6 of 6 of rod 'ring' \(from .* 2.25 rad"),
]


@pytest.mark.parametrize(("make", "arguments", "words"), NEAR_LIMITS)
def test_rotation_near_its_limit_is_reported(make, arguments, words):
    built, state = make(*arguments)
    assert re.fullmatch(f"{words}.*" if words else "", describe_largest_rotation(built, state), re.DOTALL)
    assert make is tilted or "element" in describe_largest_rotation(built, state, folded=True)


FLY_LINE = """
gravity: [0, 0, -9.81]
materials:
  carbon: {E: 6.0e9, nu: 0.3, density: 1600, damping_time: 5.0e-4}
  line: {E: 5.0e7, nu: 0.45, density: 900, damping_time: 0.002}
rods:
  - name: rod
    curve: [[0, 0, 1], [0, 0, 3.7]]
    section: {type: circular, radius: 0.006, material: carbon}
    n_elements: 16
    up: [1, 0, 0]
  - name: line
    curve: [[0, 0, 3.7], [-3, 0, 3.2], [-8, 0, 3.0]]
    section: {type: circular, radius: 0.0008, material: line}
    n_elements: 60
driven:
  - {name: hand, position: [0, 0, 1], turn: {function: smooth step, value: 1.2, t_start: 0, t_end: 0.4}, axis: [0, 1, 0]}
joints:
  - {name: grip, kind: weld, a: hand, b: {rod: rod, s: 0}}
  - {name: tiptop, kind: spherical, a: {rod: rod, s: 1}, b: {rod: line, s: 0}}
mass_dampings: [{name: air, on: line, rate: 0.5}]
run: {t_end: 1.5, dt: 0.002}
"""


def test_folded_fly_line_element_is_reported_with_the_required_mesh(tmp_path):
    """The rod tip has a bending radius of 2 cm, the element a length of 13 cm; with 377 elements the run reaches its end."""
    scene = tmp_path / "line.yaml"
    scene.write_text(FLY_LINE)
    with pytest.raises(ConvergenceError) as failure:
        simulate(Model.load(scene), 1.5, 0.002)
    message = str(failure.value)
    match = re.search(r"element (\d+) of 60 of rod 'line' \(from ([\d.]+) m on\) .* by (3\.\d+) rad", message)
    number, start, angle = match.groups()
    elements = int(re.search(r"give the rod about (\d+) elements", message)[1])
    # which element folds depends on round-off: the line whips
    length = np.hypot(3.0, 0.5) + np.hypot(5.0, 0.2)
    assert float(start) == pytest.approx((int(number) - 1) * length / 60, rel=0.02, abs=1e-3)
    assert abs(elements - 60 * float(angle) / 0.5) < 1.0
    assert 300 < elements < 400


def test_equilibrium_names_an_element_that_would_pass_pi():
    """Each element in front of the moment is twisted to pi."""
    model, rod = twisted()
    # M L/(4 GJ) = pi at load factor 0.5
    GJ = 1e6 / 2.6 * np.pi * 0.02**4 / 2
    model.add_joint("hold", "clamp", model.rods["calm"].start)
    model.add_moment("wring", rod.at(0.5), (2 * np.pi * 4 * GJ, 0, 0))
    with pytest.raises(
        ConvergenceError, match=r"element [12] of 4 of rod 'thin' .* rad from one end to the other"
    ):
        equilibrium(model)


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_tilt_past_pi_ends_the_run(integrator):
    """Passing pi exactly would continue on the shorter way with another force. Close to that point the motion is smooth, and a
    short enough step continues.
    """
    model = Model("thrown")
    body = model.add_body("body", BRICK, angular_velocity=(0.0, 9.0, 0.0))
    model.add_bushing("mount", model.ground, body, [1e3, 2e3, 3e3, 0.05, 0.06, 0], at=(0, 0, 0))
    with pytest.raises(ConvergenceError, match=r"bushing 'mount' is tilted by 3\.\d* rad.*limit"):
        simulate(model, 1.0, 0.02, integrator)
