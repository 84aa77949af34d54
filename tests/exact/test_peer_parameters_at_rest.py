"""Equilibria of other programs' examples with the parameters of their files, against exact, published or
their own numbers.

GX: GXBeam's documentation, BD: BeamDyn's regression tests, PE: PyElastica's examples, CA: cardillo's,
EX: Exudyn's test models.
"""

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

from rigid import quaternions
from rodsim import ArcLength, Box, Model, Section, equilibrium

STIFF = 1e12  # for a compliance that an example omits


def section(EA, GA, GJ, EI, mass=1.0):
    return Section.from_stiffness(EA=EA, GA=GA, GJ=GJ, EI=EI, mass_per_length=mass, inertia_per_length=1e-3)


def cantilever(cross_section, length, n, element="se3", **settings):
    model = Model("cantilever")
    rod = model.add_rod("rod", [(0, 0, 0), (length, 0, 0)], cross_section, n, element=element, **settings)
    model.add_joint("clamp", "clamp", rod.start)
    return model, rod


def end_of(result, rod="rod"):
    return result.rod(rod).r[-1, -1]


def elastica(load):
    """(along, across, angle) of the end of an inextensible cantilever of unit length under P L^2/EI = load across it."""

    def load_of(start):
        k2 = 0.5 / np.sin(start) ** 2
        return (ellipk(k2) - ellipkinc(start, k2)) ** 2

    start = brentq(lambda x: load_of(x) - load, np.pi / 4 + 1e-9, np.pi / 2 - 1e-9, xtol=1e-15)
    k2 = 0.5 / np.sin(start) ** 2
    angle = 2 * (np.pi / 4 - np.arccos(np.sqrt(k2)))
    across = 1 - 2 / np.sqrt(load) * (ellipe(k2) - ellipeinc(start, k2))
    return np.sqrt(2 * np.sin(angle) / load), across, angle


@pytest.mark.parametrize("load", [0.5, 2.0, 4.0, 8.0, 16.0])
def test_gxbeam_tipforce_bends_as_the_elastica(load):
    """GX/tipforce: L = 1, EI = 1e6, 16 elements, no other compliance; loads up to 16 EI/L^2."""
    EI, errors = 1e6, []
    along, across, _ = elastica(load)
    for n in (16, 32):
        model, rod = cantilever(section(STIFF, STIFF, EI, EI), 1.0, n)
        model.add_force("force", rod.end, (0, 0, load * EI))
        errors.append(np.linalg.norm(end_of(equilibrium(model)) - (along, 0, across)))
    assert errors[0] < 4e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.2)


@pytest.mark.parametrize("turns", [0.4, 0.8, 1.2, 1.6, 1.8, 2.0])
def test_gxbeam_tipmoment_rolls_up_exactly(turns):
    """GX/tipmoment: L = 12, a square inch of E = 30e6, moments up to two half turns, 16 elements."""
    length, E = 12.0, 30e6
    EI = E / 12
    model, rod = cantilever(section(E, STIFF, EI, EI), length, 16)
    model.add_moment("moment", rod.end, (0, 0, turns * np.pi * EI / length))
    angle = turns * np.pi
    exact = length / angle * np.array([np.sin(angle), 1 - np.cos(angle), 0])
    assert end_of(equilibrium(model)) == pytest.approx(exact, abs=1e-9)


def test_gxbeam_curved_bends_as_published():
    """GX/curved (Bathe and Bolourchi): 45 degrees of radius 100, a square inch of E = 1e7, 600 lb, 16 elements."""
    radius, E = 100.0, 1e7
    G, EI = E / 2, E / 12

    def curve(s):
        angle = s * np.pi / 4
        return radius * np.array([1 - np.cos(angle), np.sin(angle), 0])

    model = Model("bend")
    rod = model.add_rod("rod", curve, section(E, G, G / 6, EI), 16)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("force", rod.end, (0, 0, 600))
    moved = end_of(equilibrium(model)) - curve(1.0)
    assert np.abs(moved - (-13.4, -23.5, 53.4)).max() < 0.2  # Bathe and Bolourchi, three digits
    assert np.abs(moved - (-13.5774, -23.5453, 53.4580)).max() < 0.05  # GXBeam's 16 elements


def test_beamdyn_isotropic_rollup_is_exact():
    """BD/bd_isotropic_rollup: all of its nine digits."""
    cross_section = section(1e4, 1e4, 200.0, 100.0)
    model = Model("rollup")
    rod = model.add_rod("rod", [(0, 0, 0), (0, 0, 10)], cross_section, 10, up=(0, 1, 0))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_moment("moment", rod.end, (-12.5664, 0, 0))
    moved = end_of(equilibrium(model)) - (0, 0, 10)
    assert moved == pytest.approx((0, 5.49867743, -2.43174319), abs=1e-8)


def test_beamdyn_twisted_blade_bends_as_its_own_result():
    """BD/bd_static_twisted_with_k1: 10 m, twisted by 90 degrees, 4 MN across its end; d2 is BeamDyn's x, d3 its y."""
    cross_section = section(2.5e10, 8.2604167e9, 0.141872656e9, [0.520833e9, 0.130208333e9])
    moved = []
    for n in (20, 40):
        model = Model("blade")
        points = [(0, 0, 0), (0, 0, 10)]
        rod = model.add_rod(
            "rod", points, cross_section, n, up=(0, 1, 0), twist=-np.pi / 2, element="relative(2)"
        )
        model.add_joint("clamp", "clamp", rod.start)
        model.add_force("force", rod.end, (0, -4e6, 0))
        moved.append(end_of(equilibrium(model)) - (0, 0, 10))
    assert moved[1] == pytest.approx(moved[0], abs=1e-4)
    # the error of its single element of order 7 is 2e-4
    assert moved[1] == pytest.approx((1.71810805, -3.59245231, -1.14114462), abs=1e-3)


def catenary(EA, GA, EI, weight, length, span):
    """Lowest point of a planar rod clamped level at both ends, by collocation of one symmetric half.

    x' = (1 + N/EA) cos a - Q/GA sin a.
    z' = (1 + N/EA) sin a + Q/GA cos a.
    a' = m/EI, m' = x' V - z' H with H constant.
    V = weight (s - length/2), N = H cos a + V sin a, Q = V cos a - H sin a.
    """

    def rates(s, y, p):
        _, _, a, m = y
        H, V = p[0], weight * (s - 0.5 * length)
        N, Q = H * np.cos(a) + V * np.sin(a), V * np.cos(a) - H * np.sin(a)
        dx = (1 + N / EA) * np.cos(a) - Q / GA * np.sin(a)
        dz = (1 + N / EA) * np.sin(a) + Q / GA * np.cos(a)
        return np.array([dx, dz, m / EI, dz * H - dx * V])

    def ends(start, end, p):
        return np.array([start[0], start[1], start[2], end[0] - 0.5 * span, end[2]])

    s = 0.25 * length * (1 - np.cos(np.linspace(0, np.pi, 400)))
    sag = 0.4 * span
    guess = np.array([s, -sag * np.sin(np.pi * s / length), -np.cos(np.pi * s / length), np.zeros_like(s)])
    solution = solve_bvp(rates, ends, s, guess, p=[0.3 * weight], tol=1e-9, max_nodes=100_000)
    assert solution.success, solution.message
    return solution.y[1, -1]


def test_pyelastica_catenary_has_the_exact_sag_of_its_rod():
    """PE/CatenaryCase: 1 m, 10 mm, 0.2 kg of E = 1e4, clamped over its own length: it is stretched by half."""
    length, radius, mass, E, g = 1.0, 0.01, 0.2, 1e4, 9.80665
    A, inertia, G = np.pi * radius**2, np.pi * radius**4 / 4, E / 1.5
    EA, GA, EI = E * A, 27 / 28 * G * A, E * inertia
    lowest = catenary(EA, GA, EI, mass * g / length, length, length)
    errors = []
    for n in (100, 200):
        model = Model("catenary", gravity=(0, 0, -g))
        cross_section = section(EA, GA, 2 * G * inertia, EI, mass)
        rod = model.add_rod("rod", [(0, 0, 0), (length, 0, 0)], cross_section, n)
        model.add_joint("left", "clamp", rod.start)
        model.add_joint("right", "clamp", rod.end)
        result = equilibrium(model)
        errors.append(abs(result.rod("rod").r[-1, n // 2, 2] - lowest))
    assert lowest < -0.3
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def test_cardillo_ring_is_deployed_to_three_coils():
    """CA/Herrmann2025/04: radius 20, 1/3 x 1 of E = 2.1e7, clamped at one point, the opposite one rotated by
    a full turn.
    """
    radius, width, height, E = 20.0, 1 / 3, 1.0, 2.1e7
    G, A = E / 2.6, width * height
    cross_section = section(
        E * A, G * A, G * 9.753e-3, [E * width * height**3 / 12, E * height * width**3 / 12]
    )
    model = Model("ring")

    def half(s):
        return radius * np.array([1 - np.cos(np.pi * s), np.sin(np.pi * s), 0])

    rod = model.add_rod("ring", half, cross_section, 40, up=(0, 0, 1))
    model.add_joint("held", "clamp", rod.start)
    slide = model.add_body("slide", Box(1, 1, 1, density=1.0), position=half(1.0))
    model.add_joint("hold", "weld", rod.end, slide)
    model.add_joint("rail", "prismatic", slide, model.ground, axis=(1, 0, 0), at=half(1.0))
    turned = {"rail": {"rotation": (2 * np.pi, 0, 0)}}
    result = equilibrium(model, method=ArcLength({"load_factor": (-1, 1)}), motions=turned)
    ring = result.rod("ring").r[-1]
    assert result.load_factor[-1] == 1.0
    assert np.linalg.norm(ring[-1] - ring[0]) == pytest.approx(2 * radius / 3, rel=1e-2)


def test_gxbeam_cantilever_sags_as_the_linear_beam():
    """GX/cantilever: 1 m, EI = 1e9, 1000 N/m from 0.3 to 0.7 of it, clamped at its end, 12 elements; deflections of 1e-8 m."""
    EI, q, a, b = 1e9, 1000.0, 0.3, 0.7
    model = Model("cantilever")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section(1e13, 1e13, EI, EI), 12, element="relative(2)")
    model.add_joint("clamp", "clamp", rod.end)
    model.add_distributed_load("load", rod, (0, 0, q), between=(a, b))
    deflection = q / (24 * EI) * ((1 - a) ** 3 * (3 + a) - (1 - b) ** 3 * (3 + b))
    assert equilibrium(model).rod("rod").r[-1, 0, 2] == pytest.approx(deflection, rel=1e-3)


WING = (  # from, to, compliances: four parts of the left wing, then the right one
    (
        (-7.1726, -12, -3.21539),
        (-5.37945, -9, -2.41154),
        (1.05204e-9, 3.19659e-9, 2.13106e-8, 1.15475e-7, 1.52885e-7, 7.1672e-9),
    ),
    (
        (-5.37945, -9, -2.41154),
        (-3.5863, -6, -1.6077),
        (1.24467e-9, 3.77682e-9, 2.51788e-8, 1.90461e-7, 2.55034e-7, 1.18646e-8),
    ),
    (
        (-3.5863, -6, -1.6077),
        (-1.79315, -3, -0.803848),
        (1.60806e-9, 4.86724e-9, 3.24482e-8, 4.07637e-7, 5.57611e-7, 2.55684e-8),
    ),
    (
        (-1.79315, -3, -0.803848),
        (0, 0, 0),
        (2.56482e-9, 7.60456e-9, 5.67609e-8, 1.92171e-6, 2.8757e-6, 1.02718e-7),
    ),
    (
        (0, 0, 0),
        (7.1726, -12, 3.21539),
        (2.77393e-9, 7.60456e-9, 1.52091e-7, 1.27757e-5, 2.7835e-5, 1.26026e-7),
    ),
)


def joined_wing(n, element, following):
    """n elements in each part of the left wing, four times as many in the right one; 70 kN upwards at the joint."""
    model = Model("wing")
    parts = []
    for k, (start, end, compliance) in enumerate(WING):
        EA, GA2, GA3, GJ, EI2, EI3 = 1 / np.array(compliance)
        along = np.subtract(end, start) / np.linalg.norm(np.subtract(end, start))
        level = np.cross((0, 0, 1), along)  # GXBeam's second axis
        cross_section = section(EA, [GA2, GA3], GJ, [EI2, EI3])
        count = 4 * n if k == 4 else n
        parts.append(
            model.add_rod(
                f"{k}", [start, end], cross_section, count, up=np.cross(along, level), element=element
            )
        )
        if k:
            model.add_joint(f"weld {k}", "weld", parts[k - 1].end, parts[k].start)
    model.add_joint("left", "clamp", parts[0].start)
    model.add_joint("right", "clamp", parts[4].end)
    if following:
        first = model.build().layout.rods[4].frames[0]
        pull = quaternions.rotate(quaternions.conjugate(model.build().state.quat[first]), [0, 0, 70e3])
        model.add_force("lift", parts[4].start, pull, following=True)
    else:
        model.add_force("lift", parts[4].start, (0, 0, 70e3))
    return model


@pytest.mark.parametrize("following", [False, True])
def test_gxbeam_joined_wing_is_one_equilibrium_of_two_elements(following):
    """GX/static-joined-wing: dead and following lift of 70 kN; the default element, refined, converges to
    that of order 4.
    """
    fine = equilibrium(joined_wing(8, "relative(2)", following)).rod("4").r[-1, 0]
    errors = [
        np.linalg.norm(equilibrium(joined_wing(n, "se3", following)).rod("4").r[-1, 0] - fine)
        for n in (6, 12)
    ]
    assert np.linalg.norm(fine) > 1.0
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)


@pytest.mark.filterwarnings("ignore::rigid.errors.UnstableEquilibriumWarning")
def test_exudyn_cable_lies_on_two_circles_as_its_own_refined():
    """EX/ANCFcontactCircleTest: its tip by the same file with 64 elements of 2 segments; with its 8 it is 18
    mm lower.

    The problem is planar: the cable could roll sideways off the balls that represent the circles.
    """
    E, side, density, length = 2.07e11, 1e-3, 7800.0, 2.0
    A, EI = side**2, E * side**4 / 12
    model = Model("circles")
    rod = model.add_rod("cable", [(0, 0, 0), (length, 0, 0)], section(E * A, E * A, EI, EI), 64, up=(0, 0, 1))
    model.add_joint("held", "clamp", rod.start)
    model.add_distributed_load("weight", rod, (0, -80 * density * A, 0))
    circles = ((0.75 * length, -0.5, 0.2), (0.25 * length, -0.15, 0.1))
    for k, (x, y, radius) in enumerate(circles):
        ball = model.add_sphere(f"circle {k}", model.ground.at((x, y, 0)), radius)
        model.add_contact(f"contact {k}", ball, rod, stiffness=1e3, radius=1e-6)
    r = equilibrium(model).rod("cable").r[-1]
    assert r[-1] == pytest.approx((length - 0.10334, -0.46651, 0), abs=2e-3)
    for x, y, radius in circles:
        assert np.hypot(r[:, 0] - x, r[:, 1] - y).min() == pytest.approx(radius, abs=1e-3)
