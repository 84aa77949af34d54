"""PyElastica's examples of joints, constraints, rigid bodies, a free and a closed rod with the parameters of their files."""

import numpy as np
import pytest

from rigid.quaternions import to_matrix
from rodsim import Cylinder, Model, Section, audit, simulate

LENGTH = 0.2  # m, of the rods on joints


def round_section(radius, density, E, shear=27 / 28):
    """Its laws: G = E/1.5 where nu is 0.5."""
    A, inertia, G = np.pi * radius**2, np.pi * radius**4 / 4, E / 1.5
    return Section.from_stiffness(
        EA=E * A,
        GA=shear * G * A,
        GJ=2 * G * inertia,
        EI=E * inertia,
        mass_per_length=density * A,
        inertia_per_length=density * inertia * np.array([2.0, 1.0, 1.0]),
    )


def turning_force(t):
    """5 mN: along -y for 0.2 s, doubled, then round in the plane across the rods, once in 4 s."""
    if t < 0.2:
        return np.array([0.0, -1e-2, 0.0])
    angle = 0.5 * np.pi * (t - 0.2)
    return 5e-3 * np.array([-np.cos(angle), np.sin(angle), 0.0])


def two_rods(joint, n):
    """The first held at its start, the second on a joint at its end, pushed at its own."""
    own = round_section(0.007, 1750.0, 3e7)
    model = Model(joint)
    first = model.add_rod("first", [(0, 0, 0), (0, 0, LENGTH)], own, n, up=(0, 1, 0))
    second = model.add_rod("second", [(0, 0, LENGTH), (0, 0, 2 * LENGTH)], own, n, up=(0, 1, 0))
    model.add_joint("clamp", "clamp", first.start)
    axis = {"axis": (1, 0, 0)} if joint == "revolute" else {}
    model.add_joint("between", joint, first.end, second.start, **axis)
    model.add_force("push", second.end, turning_force)
    for rod in (first, second):
        model.add_external_damping(f"air {rod.name}", rod, 4e-3)
    return model


@pytest.mark.parametrize(("joint", "reach"), [("weld", 0.002), ("revolute", 0.1), ("spherical", 0.2)])
def test_pyelastica_rods_on_joints_move_by_what_is_free(joint, reach):
    """PE/JointCases: 10 elements each, 10 s; joints at round-off, energy as the force's work; halves change little."""
    runs = [simulate(two_rods(joint, n), 10.0, dt, progress=False) for n, dt in ((10, 0.01), (20, 0.005))]
    assert audit(runs[0]).ok
    ends = [run.rod("second").r[:: len(run.t) // 10, -1] for run in runs]
    assert np.ptp(ends[0], axis=0)[:2].max() > reach
    if joint != "spherical":  # stays with the first rod out of the plane of its hinge
        assert np.abs(ends[0][:, 0]).max() < 0.01
    assert np.abs(ends[0] - ends[1]).max() < 0.1 * max(reach, np.ptp(ends[0], axis=0).max())


def test_pyelastica_rod_that_may_only_yaw_turns_about_its_axis():
    """PE/BoundaryConditionsCases/general_constraint_allow_yaw: 1 N each way at the end, 1 mN m along it, damped."""
    own = round_section(0.007, 1750.0, 3e7)
    model = Model("yaw")
    rod = model.add_rod("rod", [(0, 0, 0), (0, 0, LENGTH)], own, 10, up=(0, 1, 0))
    model.add_joint("held", "generic", model.ground, rod.start, locked=("x", "y", "z", "rx", "ry"))
    model.add_force("pull", rod.end, lambda t: min(t / 0.5, 1.0) * np.ones(3))
    model.add_distributed_load("torque", rod, (0, 0, 1e-3 / LENGTH), kind="moment")
    model.add_external_damping("air", rod, 0.4)
    result = simulate(model, 3.0, 0.005, progress=False)
    assert audit(result).ok
    root = result.rod("rod").quat[:, 0]
    R = to_matrix(root) @ to_matrix(root[0]).T
    assert np.abs(R[:, 2, 2] - 1).max() < 1e-12  # no tilt
    yaw = np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    assert np.ptp(yaw) > 1.0


@pytest.mark.parametrize("size", [-10.1, 0.5, 10.5])
def test_pyelastica_rigid_cylinder_has_the_energy_of_its_push(size):
    """PE/RigidBodyCases: 1 m, 5 cm, 1000 kg/m3, pushed or turned for 0.25 s."""
    t_end, mass = 0.25, np.pi * 0.05**2 * 1000.0
    cylinder = Cylinder(radius=0.05, height=1.0, density=1000.0)
    pushed, turned = Model("pushed"), Model("turned")
    pushed.add_force("push", pushed.add_body("cylinder", cylinder), (size, 0, 0))
    turned.add_moment("turn", turned.add_body("cylinder", cylinder), (0, 0, size))
    energies = [simulate(m, t_end, 0.025, progress=False).energy["kinetic"][-1] for m in (pushed, turned)]
    exact = np.array([0.5 * (size * t_end) ** 2 / mass, (size * t_end) ** 2 / (mass * 0.05**2)])
    assert np.array(energies) == pytest.approx(exact, rel=1e-12)


def test_pyelastica_butterfly_flaps_symmetrically_with_its_energy():
    """PE/ButterflyCase: a bar of 3 m bent to a roof on 4 elements, let go; 40 s."""
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
    """PE/RingRodCase: 0.35 m of a straight rod, 3.85 mm thick, E = 2e5, closed to a level ring, held at one section."""
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
    model.add_external_damping("air", rod, 4e-3)
    result = simulate(model, 1.5, 0.0025, progress=False)
    assert audit(result).ok
    r = result.rod("ring").r[:, :50]
    mirrored = r[:, (-np.arange(50)) % 50] * (1, 1, -1)
    early = result.t < 0.5
    assert np.abs(r - mirrored)[early].max() < 1e-6
    assert r[..., 1].min() < -0.1
