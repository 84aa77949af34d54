"""PyElastica's examples of joints, constraints, rigid bodies, free and closed rods with the parameters of
their files.

Also cardillo's joints on a moving axis.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from rigid.quaternions import to_matrix
from rodsim import Cylinder, MassProperties, Model, audit, simulate
from tests.support.sections import round_section

LENGTH = 0.2  # m, of the rods on joints


def turning_force(t):
    """5 mN: along -y for 0.2 s, doubled, then rotating in the plane across the rods, once in 4 s."""
    if t < 0.2:
        return np.array([0.0, -1e-2, 0.0])
    angle = 0.5 * np.pi * (t - 0.2)
    return 5e-3 * np.array([-np.cos(angle), np.sin(angle), 0.0])


def two_rods(joint, n):
    """The first is clamped at its start, the second is on a joint at its end; each is pushed at its free end."""
    section = round_section(0.007, 1750.0, 3e7)
    model = Model(joint)
    first = model.add_rod("first", [(0, 0, 0), (0, 0, LENGTH)], section, n, up=(0, 1, 0))
    second = model.add_rod("second", [(0, 0, LENGTH), (0, 0, 2 * LENGTH)], section, n, up=(0, 1, 0))
    model.add_joint("clamp", "clamp", first.start)
    axis = {"axis": (1, 0, 0)} if joint == "revolute" else {}
    model.add_joint("between", joint, first.end, second.start, **axis)
    model.add_force("push", second.end, turning_force)
    for rod in (first, second):
        model.add_mass_damping(f"air {rod.name}", rod, 4e-3)
    return model


@pytest.mark.parametrize(("joint", "reach"), [("weld", 0.002), ("revolute", 0.1), ("spherical", 0.2)])
def test_pyelastica_rods_on_joints_move_in_their_free_directions(joint, reach):
    """PE/JointCases: 10 elements each, 5 s; joints at round-off, energy equals the force's work; half steps
    change little.
    """
    runs = [simulate(two_rods(joint, n), 5.0, dt, progress=False) for n, dt in ((10, 0.01), (20, 0.005))]
    assert audit(runs[0]).ok
    ends = [run.rod("second").r[:: len(run.t) // 10, -1] for run in runs]
    assert np.ptp(ends[0], axis=0)[:2].max() > reach
    if joint != "spherical":  # moves with the first rod out of the plane of its hinge
        assert np.abs(ends[0][:, 0]).max() < 0.01
    assert np.abs(ends[0] - ends[1]).max() < 0.1 * max(reach, np.ptp(ends[0], axis=0).max())


def test_pyelastica_rod_that_may_only_yaw_turns_about_its_axis():
    """PE/BoundaryConditionsCases/general_constraint_allow_yaw: 1 N each way at the end, 1 mN m along it, damped."""
    section = round_section(0.007, 1750.0, 3e7)
    model = Model("yaw")
    rod = model.add_rod("rod", [(0, 0, 0), (0, 0, LENGTH)], section, 10, up=(0, 1, 0))
    model.add_joint("held", "generic", model.ground, rod.start, locked=("x", "y", "z", "rx", "ry"))
    model.add_force("pull", rod.end, lambda t: min(t / 0.5, 1.0) * np.ones(3))
    model.add_distributed_load("torque", rod, (0, 0, 1e-3 / LENGTH), kind="moment")
    model.add_mass_damping("air", rod, 0.4)
    result = simulate(model, 2.0, 0.01, progress=False)
    assert audit(result).ok
    root = result.rod("rod").quat[:, 0]
    R = to_matrix(root) @ to_matrix(root[0]).T
    assert np.abs(R[:, 2, 2] - 1).max() < 1e-12  # no tilt
    yaw = np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    assert np.ptp(yaw) > 1.0


@pytest.mark.parametrize("size", [-10.1, 0.5, 10.5])
def test_pyelastica_rigid_cylinder_has_the_energy_of_its_push(size):
    """PE/RigidBodyCases: 1 m, 5 cm, 1000 kg/m3, pushed or rotated for 0.25 s."""
    t_end, mass = 0.25, np.pi * 0.05**2 * 1000.0
    cylinder = Cylinder(radius=0.05, height=1.0, density=1000.0)
    pushed, turned = Model("pushed"), Model("turned")
    pushed.add_force("push", pushed.add_body("cylinder", cylinder), (size, 0, 0))
    turned.add_moment("turn", turned.add_body("cylinder", cylinder), (0, 0, size))
    energies = [simulate(m, t_end, 0.025, progress=False).energy["kinetic"][-1] for m in (pushed, turned)]
    exact = np.array([0.5 * (size * t_end) ** 2 / mass, (size * t_end) ** 2 / (mass * 0.05**2)])
    assert np.array(energies) == pytest.approx(exact, rel=1e-12)


def test_pyelastica_butterfly_flaps_symmetrically_with_its_energy():
    """PE/ButterflyCase: a bar of 3 m bent to a roof on 4 elements, released; 40 s."""
    h = 1.5 * np.sqrt(0.5)
    model = Model("butterfly")
    model.add_rod(
        "rod",
        [(0, 0, 0), (h, 0, h), (0, 0, 2 * h)],
        round_section(0.25, 5000.0, 1e4, shear=4 / 3),
        4,
        up=(0, 1, 0),
        stress_free=[(0, 0, 0), (0, 0, 3.0)],
    )
    result = simulate(model, 40.0, 0.05, progress=False)
    r = result.rod("rod").r
    assert audit(result).ok
    assert np.abs(r[..., 0] - r[:, ::-1, 0]).max() < 1e-7
    assert np.abs(r[..., 2] + r[:, ::-1, 2] - 2 * h).max() < 1e-7
    assert np.ptp(r[:, 2, 0] - r[:, 0, 0]) > h  # it bends the other way
    assert np.abs(result.linear_momentum).max() < 1e-9 * 5000


def test_pyelastica_ring_falls_symmetrically_about_its_clamp():
    """PE/RingRodCase: 0.35 m of a straight rod, 3.85 mm thick, E = 2e5, closed to a level ring, clamped at
    one section.
    """
    length, radius = 0.35, 0.35 * 0.011
    around = length / (2 * np.pi)

    def ring(s):
        return around * np.array([-np.cos(2 * np.pi * s), 0.0, np.sin(2 * np.pi * s)])

    model = Model("ring", gravity=(0, -9.80665, 0))
    rod = model.add_rod(
        "ring",
        ring,
        round_section(radius, 1000.0, 2e5),
        50,
        closed=True,
        up=(0, 1, 0),
        stress_free=[(0, 0, 0), (0, 0, length)],
        stress_free_closed=False,
    )
    model.add_joint("clamp", "clamp", rod.at(0.0))
    model.add_mass_damping("air", rod, 4e-3)
    result = simulate(model, 1.5, 0.0025, progress=False)
    assert audit(result).ok
    r = result.rod("ring").r[:, :50]
    mirrored = r[:, (-np.arange(50)) % 50] * (1, 1, -1)
    early = result.t < 0.5
    assert np.abs(r - mirrored)[early].max() < 1e-6
    assert r[..., 1].min() < -0.1


# --- CA/test/test_cylindrical_prismatic: its two directions are drawn at random; these are two such

SHAKEN, TURNED = np.array([0.3, 0.8, 0.5]), np.array([0.6, 0.2, 0.9])
ROD, MASS, WEIGHT = 10.0, 1.0, 9.81
MOMENTS = MASS * np.array([0.02, 0.01 + ROD**2 / 12, 0.01 + ROD**2 / 12])
STIFFNESS = DAMPING = 10.0


def axis_at(t):
    """Frame of the axis: shaken by 1 m once a second, rotated by the rotation vector cos(t/2) TURNED."""
    return np.cos(2 * np.pi * t) * SHAKEN, Rotation.from_rotvec(np.cos(0.5 * t) * TURNED)


def on_a_moving_axis(joint):
    """A rod of 10 m across the moving axis, on a spring and a damper along it; it may rotate about it at 2
    rad/s at first.
    """
    place, frame = axis_at(0.0)
    R, spin = frame.as_matrix(), 2.0 * (joint == "cylindrical")
    model = Model(joint, gravity=(0, 0, -WEIGHT))
    quat = np.roll(frame.as_quat(), 1)
    axis = model.add_driven(
        "axis",
        orientation=quat,
        displacement=lambda t: axis_at(t)[0],
        attitude=lambda t: np.roll(axis_at(t)[1].as_quat(canonical=False), 1),
    )
    rod = model.add_body(
        "rod",
        MassProperties(MASS, np.diag(MOMENTS)),
        position=place + R @ (0.5 * ROD, 0, 0),
        orientation=quat,
        velocity=R @ (0, 0.5 * ROD * spin, 0) if spin else None,
        angular_velocity=R @ (0, 0, spin) if spin else None,
    )
    model.add_joint("joint", joint, axis, rod, at=place, axis=R[:, 2])
    along = np.array([0, 0, 1.0, 0, 0, 0])
    model.add_bushing("spring", axis, rod, STIFFNESS * along, DAMPING * along, at=place, axes=R)
    return model


def moving_axis_reference(joint, t_end):
    """(displacement along the axis, angle) at the end: Lagrange's equations with time differences of the
    frame's motion.
    """
    h = 1e-3

    def acceleration(t, z, alpha, dz, da):
        """Acceleration of the centre, angular velocity and its rate at constant rates of both coordinates.

        Then the rotation matrix of the axis and the angle alpha.
        """

        def pose(tau):
            place, frame = axis_at(t + tau)
            a = alpha + da * tau
            turned = frame * Rotation.from_rotvec([0, 0, a])
            arm = np.array([0.5 * ROD * np.cos(a), 0.5 * ROD * np.sin(a), z + dz * tau])
            return place + frame.apply(arm), turned

        steps = [pose(k * h) for k in (-2, -1, 0, 1, 2)]
        r = np.array([p for p, _ in steps])
        vs = (np.array([-1, 16, -30, 16, -1]) @ r) / (12 * h**2)
        spins = [  # in the body's axes, at the four midpoints
            (a[1].inv() * b[1]).as_rotvec() / h for a, b in pairwise(steps)
        ]
        omega = (-spins[0] + 9 * spins[1] + 9 * spins[2] - spins[3]) / 16
        rate = (spins[0] - 27 * spins[1] + 27 * spins[2] - spins[3]) / (24 * h)
        return vs, omega, rate, axis_at(t)[1].as_matrix(), alpha

    def rates(t, y):
        z, alpha, dz, da = y
        vs, omega, rate, R, alpha = acceleration(t, z, alpha, dz, da)
        ez = R[:, 2]
        across = 0.5 * ROD * (np.cos(alpha) * R[:, 1] - np.sin(alpha) * R[:, 0])
        force = -MASS * (vs + WEIGHT * np.array([0, 0, 1.0]))
        moment = -(MOMENTS * rate + np.cross(omega, MOMENTS * omega))[2]
        ddz = (ez @ force - STIFFNESS * z - DAMPING * dz) / MASS
        dda = (across @ force + moment) / (MOMENTS[2] + MASS * ROD**2 / 4)
        return np.array([dz, da, ddz, dda * (joint == "cylindrical")])

    start = np.array([0, 0, 0, 2.0 * (joint == "cylindrical")])
    return solve_ivp(rates, (0, t_end), start, rtol=1e-6, atol=1e-8).y[:2, -1]


@pytest.mark.parametrize("joint", ["cylindrical", "prismatic"])
def test_cardillo_rod_on_a_moving_axis_follows_lagranges_equations(joint):
    t_end, errors = 0.6, []
    exact = moving_axis_reference(joint, t_end)
    for dt in (0.01, 0.005):
        result = simulate(on_a_moving_axis(joint), t_end, dt, progress=False)
        assert audit(result).ok
        place, frame = axis_at(t_end)
        rod = result.body("rod")
        arm = frame.inv().apply(rod.r[-1] - place)
        pose = np.array([arm[2], np.arctan2(arm[1], arm[0])])
        gap = pose - exact
        errors.append(np.abs([gap[0], np.angle(np.exp(1j * gap[1]))]).max())
        assert np.hypot(*arm[:2]) == pytest.approx(0.5 * ROD, abs=1e-9)
    assert errors[1] < 1e-2
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)
