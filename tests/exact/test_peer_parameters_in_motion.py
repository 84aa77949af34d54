"""Motions, rotations and frequencies of other programs' examples with the parameters of their files.

GX: GXBeam's documentation, PE: PyElastica's examples, EX: Exudyn's test models, CA: cardillo's, CH: Chrono's FEA demos.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_bvp

from rigid import quaternions
from rodsim import (
    Box,
    MassProperties,
    Model,
    PointMass,
    Section,
    audit,
    measures,
    modes,
    signals,
    simulate,
    steady_rotation,
)


def diagonal(compliance, mass_per_length, inertia_per_length):
    EA, GA2, GA3, GJ, EI2, EI3 = 1 / np.array(compliance)
    return Section.from_stiffness(
        EA=EA,
        GA=[GA2, GA3],
        GJ=GJ,
        EI=[EI2, EI3],
        mass_per_length=mass_per_length,
        inertia_per_length=inertia_per_length,
    )


def rectangle(E, G, along2, along3, density, torsion=None, shear=5 / 6):
    """Sides along d2 and d3; the torsion constant is the polar one unless given."""
    A, I2, I3 = along2 * along3, along2 * along3**3 / 12, along3 * along2**3 / 12
    return Section.from_stiffness(
        EA=E * A,
        GA=shear * G * A,
        GJ=G * (I2 + I3 if torsion is None else torsion),
        EI=[E * I2, E * I3],
        mass_per_length=density * A,
        inertia_per_length=[density * (I2 + I3), density * I2, density * I3],
    )


# --- GX/dynamic-joined-wing and GX/wind-turbine-blade


def joined_wing(n):
    """Two beams in a V, their joint pulled along x, y (a ramp) and z (half a cosine); 10 ms."""
    compliance = 2.93944738387698e-10, 8.42991725049126e-10, 3.38313996669689e-08
    compliance += 4.69246721094557e-08, 6.79584100559513e-08, 1.37068861370898e-09
    section = diagonal(compliance, 4.86e-2, (1.0632465e-2, 2.10195e-4, 1.042227e-2))
    model = Model("wing")
    left, right = (-7.1726, -12, -3.21539), (7.1726, -12, 3.21539)
    a = model.add_rod("a", [left, (0, 0, 0)], section, n, up=(0.0, 0.258819, -0.965926))
    b = model.add_rod("b", [(0, 0, 0), right], section, n, up=(0.0, 0.258819, 0.965926))
    model.add_joint("left", "clamp", a.start)
    model.add_joint("right", "clamp", b.end)
    model.add_joint("top", "weld", a.end, b.start)
    model.add_force("along", a.end, signals.Ramp(1e4, 0.0, 0.01).along((1, 1, 0)))
    model.add_force("up", a.end, signals.Sine(5e3, 25.0, -np.pi / 2, 5e3).along((0, 0, 1)))
    return model, "a"


def blade(n):
    """60 m, full stiffness, mass off the axis, 100 kN sin(20 t) across its end; 0.1 s."""
    upper = [
        [2.389e9, 1.524e6, 6.734e6, -3.382e7, -2.627e7, -4.736e8],
        [4.334e8, -3.741e6, -2.935e5, 1.527e7, 3.835e5],
        [2.743e7, -4.592e5, -6.869e5, -4.742e6],
        [2.167e7, -6.279e5, 1.430e6],
        [1.970e7, 1.209e7],
        [4.406e8],
    ]
    C = np.zeros((6, 6))
    for i, row in enumerate(upper):
        C[i, i:] = C[i:, i] = row
    mass, x2, x3 = 258.053, 71.6871 / 258.053, 7.07839 / 258.053
    J2, J3 = 2.172 - mass * x3**2, 46.418 - mass * x2**2
    section = Section.from_stiffness(C=C, mass_per_length=mass, inertia_per_length=[J2 + J3, J2, J3])
    model = Model("blade")
    section = section.with_centers(mass=(x2, x3), product_of_inertia=mass * x2 * x3)
    rod = model.add_rod("a", [(0, 0, 0), (60, 0, 0)], section, n, up=(0, 0, 1))
    model.add_joint("root", "clamp", rod.start)
    model.add_force("tip", rod.end, signals.Sine(1e5, 10 / np.pi).along((0, 0, 1)))
    return model, "a"


@pytest.mark.parametrize(("build", "t_end", "coarse"), [(joined_wing, 0.01, 4), (blade, 0.1, 5)])
def test_gxbeam_motions_converge_and_balance_energy(build, t_end, coarse):
    """The joint, or the tip, at the end; meshes from that of the example on, 25 steps and more."""
    deflections = []
    for part in (1, 2, 4):
        model, rod = build(coarse * part * 2)
        result = simulate(model, t_end, t_end / 50 / part, progress=False)
        assert audit(result).ok
        deflections.append(result.rod(rod).r[-1, -1] - result.rod(rod).r[0, -1])
    first, second = (np.linalg.norm(b - a) for a, b in pairwise(deflections))
    assert 3.0 < first / second < 5.5
    assert second < 0.1 * np.linalg.norm(deflections[-1])


# --- GX/rotating


MEASURED = {  # Epps and Chandra: sweep in degrees -> first three flap frequencies in Hz at 0, 500, 750 rpm
    0: ((1.4, 10.2, 14.8), (10.3, 25.2, 36.1), (27.7, 47.0, 62.9)),
    15: ((1.8, 10.1, 14.4), (10.2, 25.2, 34.8), (27.2, 44.4, 55.9)),
    30: ((1.7, 10.2, 14.9), (10.4, 23.7, 30.7), (26.6, 39.3, 48.6)),
    45: ((1.6, 10.2, 14.7), (10.4, 21.6, 26.1), (24.8, 35.1, 44.8)),
}


@cache
def swept_flaps(sweep):
    """Three flap frequencies, Hz, at 0, 500, 750 rpm: modes with their largest motion normal to the plane of
    rotation.
    """
    E, nu, density, w, h = 1.06e7, 0.325, 2.51e-4, 1.0, 0.063
    G, A, I2, I3 = E / 2 / (1 + nu), w * h, w * h**3 / 12, w**3 * h / 12
    compliance = 1 / (E * A), 1.2000001839588001 / (G * A), 14.625127919304001 / (G * A)
    compliance += 65.85255016982444 / (G * (I2 + I3)), 1 / (E * I2), 1 / (E * I3)
    section = diagonal(compliance, density * A, density * np.array([I2 + I3, I2, I3]))
    model = Model("blade")
    bend = np.array([34.0, 0, 0])
    tip = bend + 6 * np.array([np.cos(sweep), -np.sin(sweep), 0])
    inner = model.add_rod("inner", [(2.5, 0, 0), bend], section, 8, up=(0, 0, 1), element="relative(2)")
    outer = model.add_rod("outer", [bend, tip], section, 2, up=(0, 0, 1), element="relative(2)")
    model.add_joint("root", "clamp", inner.start)
    model.add_joint("bend", "weld", inner.end, outer.start)
    built = model.build()
    frequencies = []
    for rpm in (0, 500, 750):
        spin = (0, 0, rpm * np.pi / 30)
        state = steady_rotation(built, spin) if rpm else None
        own_modes = modes(built, 8, state, spin=spin if rpm else None)
        moves = np.abs(own_modes.shapes).max(axis=1)
        flaps = moves[:, 2] > np.maximum(moves[:, 0], moves[:, 1])
        frequencies.append(own_modes.omega[flaps][:3] / (2 * np.pi))
    return np.array(frequencies).T


@pytest.mark.parametrize("sweep", MEASURED)
def test_gxbeam_swept_blade_has_the_measured_flap_frequencies(sweep):
    """Within 1 Hz and 10 %, as GXBeam's own test asks."""
    assert swept_flaps(np.deg2rad(sweep)) == pytest.approx(np.array(MEASURED[sweep]), abs=1.0, rel=0.1)


# --- CH/demo_FEA_beams_rotor, CH/demo_FEA_modal_analysis


def turning_blade(section, root, length, speed, pull):
    """End (radius, height) of a rod that rotates with `speed` about z under a force along z, by collocation.

    n_r' = -rho A speed^2 r, n_z' = 0, m' = dz n_r - dr n_z + rho I speed^2 sin a cos a, a the slope.
    """
    EA, GA, _, _, EI, _ = np.diag(section.stiffness)[[0, 2, 3, 3, 4, 5]]
    mass, rotary = section.mass_per_length, section.inertia_per_length[1]

    def rates(s, y):
        r, _, a, m, n = y
        N, Q = n * np.cos(a) + pull * np.sin(a), pull * np.cos(a) - n * np.sin(a)
        dr = (1 + N / EA) * np.cos(a) - Q / GA * np.sin(a)
        dz = (1 + N / EA) * np.sin(a) + Q / GA * np.cos(a)
        dm = dz * n - dr * pull + rotary * speed**2 * np.sin(a) * np.cos(a)
        return np.array([dr, dz, m / EI, dm, -mass * speed**2 * r])

    def ends(start, end):
        return np.array([start[0] - root, start[1], start[2], end[3], end[4]])

    s = length * (1 - np.cos(np.linspace(0, np.pi, 200))) / 2
    zero = np.zeros_like(s)
    y = np.array([root + s, zero, zero, zero, mass * speed**2 * (length - s) * (root + length)])
    full = pull
    for pull in np.linspace(0, full, 9)[1:]:  # noqa: B007, which `rates` reads
        solution = solve_bvp(rates, ends, s, y, tol=1e-8, max_nodes=50_000)
        assert solution.success, solution.message
        s, y = solution.x, solution.y
    return y[:2, -1]


def test_chrono_rotor_coned_by_its_tip_force():
    """CH/demo_FEA_beams_rotor: 0.2 to 6.2 m, 20 x 300 mm of E = 1e8, 400 kg/m3, 3 rad/s, -36.4 N along the axis."""
    section = rectangle(1e8, 1e8 / 2.62, 0.3, 0.02, 400.0)
    expected = turning_blade(section, 0.2, 6.0, 3.0, -36.4)
    errors = []
    for n in (24, 48):
        state = None
        for part in np.linspace(0, 1, 6):
            model = Model("rotor")
            rod = model.add_rod("blade", [(0.2, 0, 0), (6.2, 0, 0)], section, n, up=(0, 0, 1))
            model.add_joint("root", "clamp", rod.start)
            model.add_force("tip", rod.end, (0, 0, -36.4 * part))
            state = steady_rotation(model, (0, 0, 3.0), steps=1, start=state)
        errors.append(np.linalg.norm(state.r[-1][[0, 2]] - expected))
    assert expected == pytest.approx((6.028, -1.123), abs=2e-3)
    assert errors[1] < 5e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.6)


def test_chrono_cantilever_has_the_frequencies_of_its_beam():
    """CH/demo_FEA_modal_analysis: 6 m, 50 x 300 mm of E = 1e8, 500 kg/m3; bending both ways, as Euler-Bernoulli's beam."""
    E, density, length, thin, wide = 100e6, 500.0, 6.0, 0.05, 0.3
    section = rectangle(E, E / 2.62, thin, wide, density, torsion=0.2983 * wide * thin**3)
    model = Model("beam")
    rod = model.add_rod("rod", [(0, 0, 0), (length, 0, 0)], section, 24, up=(0, 0, 1), element="relative(4)")
    model.add_joint("root", "clamp", rod.start)
    result = modes(model, 8)
    omega = result.omega[np.array(result.kinds) == "oscillates"]
    first = 1.875104**2 / length**2 * np.sqrt(E * thin**2 / 12 / density)
    assert np.abs(omega / first - 1).min() < 1e-3
    assert (
        np.abs(omega / (wide / thin * first) - 1).min() < 5e-3
    )  # shear lowers the stiffness in the wide direction


# --- EX/stiffFlyballGovernor


def governor():
    """Shaft, slider and two arms with masses, on bushings, starting at 0.16 revolutions per second."""
    speed, tilt = 0.16 * 2 * np.pi, np.deg2rad(30)
    density, kj, dj = 3000.0, 2e4, 1e3
    rotational, damp = 0.05 * kj, 0.05 * dj
    model = Model("governor", gravity=(0, 0, -9.81))

    def moving(r):
        return {"velocity": np.cross((0, 0, speed), r), "angular_velocity": (0, 0, speed)}

    shaft = model.add_body(
        "shaft", Box(0.01, 0.01, 1, density=density), position=(0, 0, 0.5), **moving((0, 0, 0.5))
    )
    slider = model.add_body(
        "slider", Box(0.1, 0.1, 0.1, density=density), position=(0, 0, 0.5), **moving((0, 0, 0.5))
    )
    arm, ball = 0.3, 5.0
    shift = ball * 0.5 / (arm + ball)  # distance of the centre of mass from the middle of the arm
    across = arm / 12 * (1 + 1e-4) + arm * shift**2 + ball * (0.5 - shift) ** 2
    inertia = np.diag([arm / 12 * 2e-4, across, across])
    model.add_bushing(
        "foot",
        model.ground,
        shaft,
        np.diag([kj, kj, kj, rotational, rotational, 0]),
        np.diag([dj, dj, dj, damp, damp, 0]),
        at=(0, 0, 0),
    )
    model.add_bushing(
        "guide", shaft, slider, np.diag([kj, kj, 0, rotational, rotational, rotational]), at=(0, 0, 0.5)
    )
    for name, side in (("right", 1), ("left", -1)):
        along = np.array([side * np.cos(tilt), 0, -np.sin(tilt)])
        pin = np.array([side * 0.05, 0, 1])
        r = pin + (0.5 + shift) * along
        half = 0.5 * (tilt if side > 0 else np.pi - tilt)  # the arm's x axis points outwards
        quat = (np.cos(half), 0, np.sin(half), 0)
        body = model.add_body(
            name, MassProperties(arm + ball, inertia), position=r, orientation=quat, **moving(r)
        )
        model.add_bushing(
            f"{name} pin", shaft, body, np.diag([kj, kj, kj, rotational, 0, rotational]), at=pin
        )
        middle, edge = pin + 0.5 * along, (side * 0.05, 0, 0.5)
        model.add_spring(
            f"{name} spring", slider.at_world(edge), body.at_world(middle), 4e3, 0.5, damping=200.0
        )
    return model


def test_exudyn_compliant_governor_has_the_velocity_of_its_own_test():
    """EX/stiffFlyballGovernor: y velocity of an arm after 1 ms, which its test suite states."""
    velocities = [simulate(governor(), 1e-3, h, progress=False).body("right").v[-1, 1] for h in (2e-5, 1e-5)]
    limit = velocities[1] + (velocities[1] - velocities[0]) / 3
    assert limit == pytest.approx(0.8962488779114738, abs=1e-7)
    assert abs(velocities[1] - limit) < 1e-6


# --- PE/HelicalBucklingCase


@pytest.mark.slow
def test_pyelastica_helical_buckling_localises_as_known():
    """PE/HelicalBucklingCase: 100 m, 27 turns and 3 m of slack in 500 s, EI 1.345, GJ 0.789; van der Heijden
    and Thompson.

    The largest angle of the tangent with the axis is arccos(m^2/(2 t) - 1), with the end moment m and tension
    t (over EI/L and
    EI/L^2) of a rod of these turns and this slack. On the 100 elements of the example it is 0.71.
    """
    m, t = end_loads(SLACK / LENGTH, 2 * np.pi * TURNS, GJ / EI)
    assert (m, t) == pytest.approx((98.541496171190744, 2.900993205792131e3), rel=1e-9)  # values of its files
    coarse, fine = (np.arccos(m * m / (2 * t) - 1) - largest_tangent_angle(n) for n in (80, 120))
    assert 0.0 < fine < 0.1
    assert coarse / fine == pytest.approx(1.5**2, rel=0.15)
    assert (
        abs(fine - (coarse - fine) / (1.5**2 - 1)) < 0.03
    )  # extrapolated by the order to infinitely many elements


LENGTH, TURNS, SLACK, EI, GJ = 100.0, 27.0, 3.0, 1.345, 0.789


def largest_tangent_angle(n):
    """Angle of the tangent with the axis, at rest again after the ends have rotated and approached each other."""
    section = Section.from_stiffness(
        EA=1e5, GA=1e5, GJ=GJ, EI=EI, mass_per_length=1.0, inertia_per_length=[0.0613, 0.0306, 0.0306]
    )
    model = Model("rod")
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (0, 0, LENGTH)],
        section,
        n,
        up=(0, 1, 0),
        velocity=lambda s: (0.0, 1e-6 * (abs(s - 0.5) < 0.006), 0.0),
    )
    for name, end, z, side in (("low", rod.start, 0.0, 1), ("high", rod.end, LENGTH, -1)):
        frame = model.add_driven(
            name,
            position=(0, 0, z),
            displacement=signals.SmoothStep(side * SLACK / 2, 0.0, 500.0).along((0, 0, 1)),
            turn=signals.SmoothStep(side * np.pi * TURNS, 0.0, 500.0),
            axis=(0, 0, 1),
        )
        model.add_joint(f"at {name}", "weld", frame, end)
    model.add_mass_damping("air", rod, 0.01)
    result = simulate(model, 1200.0, 4.0, "em-d(0.5)", progress=False)
    tangents = quaternions.rotate(result.rod("rod").quat[-1], np.array([1.0, 0, 0]))
    return np.arccos(tangents[:, 2].min())


def end_loads(slack, turns, ratio):
    """(m, t) with slack = sqrt(16/t (1 - m^2/(4 t))), turns = m/ratio + 4 arccos(m/(2 sqrt(t))): their equations 14 and 15."""
    from scipy.optimize import fsolve

    def wrong(x):
        m, t = x[0], x[1] ** 2
        return (
            slack - 4 / x[1] * np.sqrt(1 - m * m / (4 * t)),
            turns - m / ratio - 4 * np.arccos(m / (2 * x[1])),
        )

    m, root = fsolve(wrong, (98.5, 53.9), xtol=1e-13)
    assert np.abs(wrong((m, root))).max() < 1e-9
    return m, root**2


# --- CA/elastic_chain_pendulum


def hanging_points(stiffness):
    """20 points of 1 kg, 1 m apart, level at first; joints of fixed length where no stiffness is given."""
    model = Model("chain", gravity=(0, 0, -10))
    last = model.ground.at((0, 0, 0))
    for k in range(20):
        point = model.add_body(f"{k}", PointMass(1.0), position=(k + 1, 0, 0))
        if stiffness is None:
            model.add_joint(f"link {k}", "distance", last, point.at((0, 0, 0)))
        else:
            model.add_spring(f"link {k}", last, point.at((0, 0, 0)), stiffness, 1.0)
        last = point.at((0, 0, 0))
    return model


def test_cardillo_elastic_chain_moves_as_one_of_fixed_lengths():
    """CA/elastic_chain_pendulum: springs of 1e8 N/m, its step of 10 ms."""
    results = [simulate(hanging_points(k), 2.0, 0.01, progress=False) for k in (1e8, None)]
    assert audit(results[0]).ok
    positions = [result.body("19").r for result in results]
    assert np.ptp(positions[1][:, 2]) > 5.0
    assert np.abs(positions[0] - positions[1]).max() < 1e-3  # of 20 m


# --- EX/computeODE2AEeigenvaluesTest


def flat_bar(model, name, middle, orientation=(1.0, 0.0, 0.0, 0.0)):
    return model.add_body(
        name, Box(0.1, 0.001, 0.01, density=5000.0), position=middle, orientation=orientation
    )


def test_exudyn_bar_on_a_hinge_and_a_spring_has_the_exact_frequency():
    """EX/computeODE2AEeigenvaluesTest, its first model: k = 10 N/m across the end of the bar."""
    model = Model("bar")
    bar = flat_bar(model, "bar", (0.05, 0, 0))
    model.add_joint("hinge", "revolute", model.ground, bar, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_bushing("spring", model.ground, bar, np.diag([0, 10.0, 0, 0, 0, 0]), at=(0.1, 0, 0))
    mass = 5000.0 * 0.1 * 0.001 * 0.01
    about = mass * ((0.1**2 + 0.001**2) / 12 + 0.05**2)
    assert modes(model, 3).omega == pytest.approx([np.sqrt(10.0 * 0.1**2 / about)], rel=1e-10)


def test_exudyn_two_bars_have_the_frequency_of_its_own_test():
    """EX/computeODE2AEeigenvaluesTest, its second model: a hinge, a universal joint, a spring each way; 38.8117 Hz there."""
    rotation = quaternions.multiply(
        (np.cos(np.pi / 8), 0, 0, -np.sin(np.pi / 8)), (np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0)
    )
    along, second = quaternions.rotate(rotation, np.eye(3)[0]), quaternions.rotate(rotation, np.eye(3)[1])
    model = Model("bars")
    first = flat_bar(model, "first", (0.05, 0, 0))
    other = flat_bar(model, "other", np.array([0.1, 0, 0]) + 0.05 * along, rotation)
    model.add_joint("hinge", "revolute", model.ground, first, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint("cross", "universal", first, other, at=(0.1, 0, 0), axis=(0, 0, 1), second_axis=second)
    tip = np.array([0.1, 0, 0]) + 0.1 * along
    model.add_bushing("spring", model.ground, other, np.diag([1e3, 1e3, 1e3, 0, 0, 0]), at=tip)
    frequencies = modes(model, 3).omega / (2 * np.pi)
    assert frequencies[0] == pytest.approx(38.811732950413347, rel=1e-6)


# --- EX/kinematicTreeTest


def kinematic_tree():
    """Return five bars of 2 m on oblique hinges, at rest along their zero angles."""
    c = np.sqrt(0.5)
    tilted, rolled = (
        np.array([(c, 0, c), (0, 1, 0), (-c, 0, c)]),
        np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)]),
    )
    model = Model("tree", gravity=(0, -10, 0))
    at, R, before = np.zeros(3), np.eye(3), "ground"
    for i, turned in enumerate((np.eye(3), rolled @ tilted, rolled @ tilted, tilted, rolled @ tilted)):
        R = R @ turned
        bar = Box(2.0, 0.1, 0.1, density=1000.0)
        model.add_body(f"bar {i}", bar, at + R[:, 0], quaternions.from_matrix(R))
        model.add_joint(f"hinge {i}", "revolute", before, f"bar {i}", at=at, axis=R[:, 2])
        model.add_sensor(f"q{i}", measures.angle(before, f"bar {i}", axis=R[:, 2]))
        at, before = at + 2.0 * R[:, 0], f"bar {i}"
    return model


def test_exudyn_kinematic_tree_has_the_angles_of_its_own_test():
    """After 1 s their sum is -1.309383960216414 there, accurate to 8 digits."""
    result = simulate(kinematic_tree(), 1.0, 0.005, "em6", progress=False)
    assert sum(result.sensor(f"q{i}").value[-1] for i in range(5)) == pytest.approx(-1.30938396, abs=1.5e-8)
    assert audit(result).ok
