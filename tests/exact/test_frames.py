"""Frames in first-order theory against hand calculations (force method, with shear and stretch), load cases, diagrams."""

import csv
from itertools import pairwise

import numpy as np
import pytest

from rodsim import (
    ArcLength,
    Box,
    LinearEquilibrium,
    Model,
    ModelError,
    Section,
    diagram,
    equilibrium,
    load_cases,
)

EA, GA, EI = 3e7, 4e6, 2e5
SECTION = Section.from_stiffness(
    EA=EA, GA=GA, GJ=1e5, EI=EI, mass_per_length=12.0, inertia_per_length=(0.2, 0.1, 0.1)
)
ELEMENTS = ["relative(2)", "relative(4)", "lagrange(2)", "lagrange(4)"]
H, L, Q = 4.0, 6.0, 1000.0


def line(model, name, a, b, element="relative(2)", n=8, section=SECTION):
    up = (-1, 0, 0) if a[0] == b[0] else (0, 0, 1)
    return model.add_rod(name, [a, b], section, n, element=element, up=up)


def hinge(model, name, a, b):
    return model.add_joint(name, "revolute", a, b, axis=(0, 1, 0))


def roller(model, name, point):
    return model.add_joint(name, "generic", model.ground, point, locked=["y", "z", "rx", "rz"])


def portal(element="relative(2)", middle=False):
    """Two columns on hinges and a beam; `middle`: a hinge in the middle of the beam, too."""
    model = Model("portal", gravity=(0, 0, -9.81))
    left = line(model, "left", (0, 0, 0), (0, 0, H), element)
    right = line(model, "right", (L, 0, 0), (L, 0, H), element)
    ends = [(0, 0, H), (L / 2, 0, H), (L, 0, H)] if middle else [(0, 0, H), (L, 0, H)]
    beams = [line(model, f"beam {k}", a, b, element) for k, (a, b) in enumerate(pairwise(ends))]
    model.add_joint("corner 1", "weld", left.end, beams[0].start)
    model.add_joint("corner 2", "weld", beams[-1].end, right.end)
    if middle:
        hinge(model, "middle", beams[0].end, beams[1].start)
    hinge(model, "A", model.ground, left.start)
    hinge(model, "B", model.ground, right.start)
    for beam in beams:
        model.add_distributed_load(f"q {beam.name}", beam, (0, 0, -Q))
    model.add_force("wind", left.end, (500.0, 0, 0))
    return model


def snow(model):
    return [name for name in model.line_loads if name.startswith("q ")]


@pytest.mark.parametrize("element", ELEMENTS)
def test_portal_frame_on_two_hinges(element):
    """Thrust X = delta10/delta11: unit thrusts give M = y in columns, H in the beam, and N = 1 in the beam."""
    model = portal(element)
    result = load_cases(model, {"snow": snow(model), "wind": ["wind"]})
    delta11 = 2 * H**3 / (3 * EI) + H**2 * L / EI + L / EA + 2 * H / GA
    X = Q * L**3 / 12 * H / EI / delta11
    A, B = (result["snow"].reactions[name] for name in "AB")
    assert A.force == pytest.approx([X, 0, Q * L / 2], rel=1e-9, abs=1e-6)
    assert B.force == pytest.approx([-X, 0, Q * L / 2], rel=1e-9, abs=1e-6)
    assert A.moment == pytest.approx(np.zeros(3), abs=1e-6)
    beam = result["snow"].section_forces("beam 0")
    assert beam.N[:, 0] == pytest.approx(-X, rel=1e-7)
    exact = Q * beam.s * (L - beam.s) / 2 - X * H  # sagging is positive about -y
    assert -beam.M[:, 1] == pytest.approx(exact, rel=1e-7, abs=1e-5 * Q)
    # wind on one corner: both columns take half but for the stretch of the beam
    wind = result["wind"].reactions
    half = 500 * (H**3 / (3 * EI) + H**2 * L / (2 * EI) + H / GA) / delta11
    assert wind["B"].force[0] == pytest.approx(-half, rel=1e-9)
    assert wind["A"].force == pytest.approx([half - 500, 0, -500 * H / L], rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("element", [*ELEMENTS, "se3"])
def test_frame_with_three_hinges_is_determinate(element):
    """Thrust q L^2/(8 H), no moment in the hinge, q L^2/8 in the corners; also between frames of lowest order."""
    model = portal(element, middle=True)
    result = load_cases(model, {"snow": snow(model)})["snow"]
    X = Q * L**2 / (8 * H)
    assert result.reactions["A"].force == pytest.approx([X, 0, Q * L / 2], rel=1e-9)
    assert result.joint("middle").moment[1] == pytest.approx(0.0, abs=1e-6)
    assert result.joint("middle").force == pytest.approx([X, 0, 0], rel=1e-9, abs=1e-6)
    column = result.section_forces("left")
    assert np.abs(column.M[:, 1]) == pytest.approx(X * column.s, rel=1e-8, abs=1e-4)
    exact = 0.0 if element != "se3" else 0.02  # of lowest order the diagram has the load at nodes
    corner = result.section_forces("beam 0").M[0, 1]
    assert corner == pytest.approx(Q * L**2 / 8, rel=1e-8 + exact)


def two_spans():
    model = Model("two spans")
    beam = line(model, "beam", (0, 0, 0), (2 * L, 0, 0), "relative(4)", 16)
    hinge(model, "left", model.ground, beam.start)
    roller(model, "middle", beam.at(0.5))
    roller(model, "right", beam.end)
    return model


def test_support_of_two_spans_settles():
    """The middle force R bends a beam of length 2 L: R ((2 L)^3/(48 EI) + 2 L/(4 GA)) = settlement."""
    d = 0.02
    R = d / ((2 * L) ** 3 / (48 * EI) + 2 * L / (4 * GA))
    model = two_spans()
    result = equilibrium(model, linear=True, motions={"middle": {"displacement": (0, 0, -d)}})
    assert result.reactions["middle"].force[2] == pytest.approx(-R, rel=1e-9)
    assert result.reactions["left"].force[2] == pytest.approx(R / 2, rel=1e-9)
    assert result.displacement("beam@0.5") == pytest.approx([0, 0, -d], rel=1e-9, abs=1e-12)
    assert result.section_forces("beam").M[:, 1].min() == pytest.approx(-R / 2 * L, rel=1e-8)
    assert result.reactions.total[0] == pytest.approx(np.zeros(3), abs=1e-6)


def test_rotated_support_of_a_clamped_beam():
    """Moment (4 + p)/(1 + p) EI phi/L at that end, p = 12 EI/(GA L^2), also about another point."""
    model = Model("beam")
    beam = line(model, "beam", (0, 0, 0), (L, 0, 0))
    model.add_joint("near", "clamp", beam.start)
    model.add_joint("far", "clamp", beam.end)
    phi, p = 1e-3, 12 * EI / (GA * L**2)
    result = load_cases(
        model,
        {},
        settlements={
            "turn": {"near": {"rotation": (0, phi, 0)}},
            "about": {"near": {"rotation": (0, phi, 0), "about": (0, 0, 1.0)}},
        },
    )
    assert result["turn"].reactions["near"].moment[1] == pytest.approx((4 + p) / (1 + p) * EI * phi / L)
    assert result["turn"].reactions["far"].moment[1] == pytest.approx((2 - p) / (1 + p) * EI * phi / L)
    assert result["about"].rod("beam").displacement[0] == pytest.approx([-phi, 0, 0], abs=1e-12)
    assert result["about"].reactions["near"].force[0] == pytest.approx(-EA * phi / L)


@pytest.mark.parametrize("kind", ["spring", "bushing"])
def test_spring_under_a_beam(kind):
    """R = deflection without it / (L^3/(3 EI) + L/GA + 1/k)."""
    k, model = 3e4, Model("propped")
    beam = line(model, "beam", (0, 0, 0), (L, 0, 0))
    model.add_joint("wall", "clamp", beam.start)
    if kind == "spring":
        model.add_spring("prop", model.ground.at((L, 0, -1.0)), beam.end, k)
    else:
        model.add_bushing("prop", model.ground.at((L, 0, 0)), beam.end, stiffness=(0, 0, k, 0, 0, 0))
    model.add_distributed_load("q", beam, (0, 0, -Q))
    result = equilibrium(model, linear=True)
    R = Q * (L**4 / (8 * EI) + L**2 / (2 * GA)) / (L**3 / (3 * EI) + L / GA + 1 / k)
    assert result.reactions[f"{kind} 'prop'"].force == pytest.approx([0, 0, R], rel=1e-9, abs=1e-6)
    assert result.displacement(beam.end)[2] == pytest.approx(-R / k, rel=1e-9)
    assert result.reactions.total[0] == pytest.approx([0, 0, Q * L], rel=1e-9, abs=1e-6)
    assert result.reactions.total[1] == pytest.approx([0, -Q * L**2 / 2, 0], rel=1e-9, abs=1e-5)


@pytest.mark.parametrize("element", ["relative(2)", "relative(4)", "lagrange(4)", "se3"])
def test_without_shear_the_beam_is_eulers(element):
    """GA = 1e4 EA: deflection P L^3/(3 EI), no locking; of lowest order with an error of order 2."""
    stiff = Section.from_stiffness(
        EA=EA, GA=1e4 * EA, GJ=1e5, EI=EI, mass_per_length=1.0, inertia_per_length=1e-3
    )
    model = Model("cantilever")
    beam = line(model, "beam", (0, 0, 0), (L, 0, 0), element, 16, stiff)
    model.add_joint("wall", "clamp", beam.start)
    model.add_force("P", beam.end, (0, 0, -Q))
    w = -equilibrium(model, linear=True).displacement("beam.end")[2]
    assert w == pytest.approx(Q * L**3 / (3 * EI), rel=1.1 / (4 * 16**2) if element == "se3" else 1e-6)


@pytest.mark.parametrize("n", [8, 16])
def test_rod_that_cannot_shear_is_eulers_beam(n):
    """Infinite EA and GA: deflection P L^3/(3 EI) with an error of order 2, and shear force by the multipliers."""
    rigid = Section.from_stiffness(
        EA=np.inf, GA=np.inf, GJ=1e5, EI=EI, mass_per_length=1.0, inertia_per_length=1e-3
    )
    model = Model("cantilever")
    beam = line(model, "beam", (0, 0, 0), (L, 0, 0), "se3", n, rigid)
    model.add_joint("wall", "clamp", beam.start)
    model.add_force("P", beam.end, (0, 0, -Q))
    result = equilibrium(model, linear=True)
    w = -result.displacement("beam.end")[2]
    assert w == pytest.approx(Q * L**3 / (3 * EI), rel=0.26 / n**2)
    assert result.section_forces("beam").N[:, 2] == pytest.approx(-Q, rel=1e-9)
    assert result.section_forces("beam").M[0, 1] == pytest.approx(Q * L, rel=1e-9)


def test_combinations_are_sums_of_cases():
    model = portal()
    result = load_cases(
        model,
        {"dead": ["gravity"], "snow": snow(model), "both": {"gravity": 2.0, "wind": -1.0}, "wind": ["wind"]},
        {"ULS": {"dead": 1.35, "snow": 1.5, "wind": 0.9}, "none": {}},
        settlements={"sunk": {"B": {"displacement": (0, 0, -0.01)}}},
    )
    assert result.cases == ("dead", "snow", "both", "wind", "sunk")
    assert result.combinations == ("ULS", "none")
    by_hand = 1.35 * result["dead"] + result["snow"] * 1.5 + 0.9 * result["wind"]
    assert pytest.approx(by_hand.rod("left").M) == result["ULS"].rod("left").M
    assert result["ULS"].reactions["A"].force == pytest.approx(by_hand.reactions["A"].force)
    doubled = 2 * result["dead"] + -1 * result["wind"]
    assert result["both"].rod("right").displacement == pytest.approx(doubled.rod("right").displacement)
    assert np.abs(result["none"].rod("left").M).max() == 0.0
    low, high = result.envelope("left")
    assert high.M[:, 1] == pytest.approx(np.maximum(result["ULS"].section_forces("left").M[:, 1], 0.0))
    assert np.all(low.M <= high.M)
    weight = 12.0 * (2 * H + L) * 9.81
    assert result["dead"].reactions.total[0] == pytest.approx([0, 0, weight], rel=1e-9, abs=1e-6)


def test_exact_load_cases_approach_those_of_first_order():
    """With loads times x, displacements differ by order x^2 from the linear ones."""
    model = portal()
    cases, names = {"snow": snow(model), "wind": ["wind"]}, {}
    sinking = {"sunk": {"B": {"displacement": (0, 0, -0.02)}}}
    errors = []
    for x in (1e-1, 1e-2):
        mixed = {"all": {"snow": x, "wind": 2 * x, "sunk": x}}
        linear = load_cases(model, cases, mixed, settlements=sinking)["all"]
        exact = load_cases(model, cases, mixed, settlements=sinking, linear=False)["all"]
        moved = exact.rod("beam 0").r[-1] - portal().rods["beam 0"].initial_frames(np.linspace(0, 1, 9))[0]
        errors.append(np.abs(moved - linear.rod("beam 0").displacement).max())
        names = exact.reactions
        assert names["A"].force == pytest.approx(linear.reactions["A"].force, abs=200 * x**2)
        assert names["A"].point == pytest.approx(np.zeros(3), abs=1e-12)
        assert exact.section_forces("left").M[:, 1] == pytest.approx(
            linear.section_forces("left").M[:, 1], abs=400 * x**2
        )
    assert errors[1] < 0.02 * errors[0]


def curved(stretched=False):
    model = Model("arch")
    rod = model.add_rod(
        "arch",
        lambda s: (np.cos(2 * s), np.sin(2 * s), 0.3 * s),
        SECTION.with_law("stiffening", strain=0.05) if stretched else SECTION,
        6,
        rest_strains=(1e-3, 0, 0, 0.01, 0.02, 0) if stretched else None,
        element="lagrange(2)" if stretched else "se3",
    )
    model.add_joint("A", "clamp", rod.start)
    model.add_joint("B", "spherical", model.ground, rod.end)
    block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=3.0), position=rod.at(0.5).position)
    model.add_bushing("mount", rod.at(0.5), block, stiffness=(1e4, 2e4, 3e4, 1e3, 2e3, 3e3))
    model.add_force("push", block.at((0.05, 0.02, 0.0)), (1.0, -2.0, 3.0))
    return model, rod, block


def test_first_order_is_the_derivative_of_exact_theory():
    """A curved rod with a bushing and a body: displacements, stresses and reactions of small loads."""
    model, _, block = curved()
    linear = equilibrium(model, {"push": (1.0, -2.0, 3.0)}, linear=True)
    x = 1e-3
    ahead, behind = (equilibrium(model, {"push": (s * x, -2 * s * x, 3 * s * x)}) for s in (1, -1))
    moved = (ahead.rod("arch").r[-1] - behind.rod("arch").r[-1]) / (2 * x)
    assert linear.rod("arch").displacement == pytest.approx(moved, rel=1e-5, abs=1e-10)
    M = (ahead.rod("arch").M[-1] - behind.rod("arch").M[-1]) / (2 * x)
    assert pytest.approx(M, rel=1e-5, abs=1e-6) == linear.rod("arch").M
    force = (ahead.joint("B").force[-1] - behind.joint("B").force[-1]) / (2 * x)
    assert linear.joint("B").force == pytest.approx(force, rel=1e-5, abs=1e-6)
    point = (ahead.body("block").r[-1] - behind.body("block").r[-1]) / (2 * x)
    assert linear.displacement(block) == pytest.approx(point, rel=1e-5, abs=1e-10)
    swing = linear.displacement(block.at((0, 0, 1))) - linear.displacement(block)  # rotation x e3
    turned = (ahead.body("block").quat[-1] - behind.body("block").quat[-1])[1:] / x
    assert swing == pytest.approx(np.cross(turned, (0, 0, 1)), rel=1e-5, abs=1e-10)
    assert linear.reactions.total[0] == pytest.approx([-1.0, 2.0, -3.0])


def test_stress_at_the_start_belongs_to_every_case():
    """Rest strains strain the clamped arch; without loads its first-order forces are theirs, loads add to them."""
    model, _, _ = curved(stretched=True)
    result = load_cases(model, {"push": ["push"], "pull": {"push": -1.0}}, {"half": {"push": 0.5}})
    start = equilibrium(model, linear=True, load_factors={})
    assert np.abs(start.rod("arch").N).max() > 100.0
    mean = 0.5 * (result["push"].rod("arch").N + result["pull"].rod("arch").N)
    assert mean == pytest.approx(start.rod("arch").N)
    between = 0.75 * result["push"].rod("arch").N + 0.25 * result["pull"].rod("arch").N
    assert pytest.approx(between) == result["half"].rod("arch").N
    assert start.reactions.total[0] == pytest.approx(np.zeros(3), abs=1e-6)


def heated_bar(free=False, law=False, element="relative(2)"):
    """A straight rod whose stress-free length is 1 + 1e-3 times its length."""
    model = Model("bar")
    section = SECTION.with_law("stiffening", strain=2e-3) if law else SECTION
    bar = model.add_rod(
        "bar", [(0, 0, 0), (L, 0, 0)], section, 8, rest_strains=(1e-3, 0, 0, 0, 0, 0), element=element
    )
    model.add_joint("left", "clamp", bar.start)
    if not free:
        model.add_joint("right", "clamp", bar.end)
    model.add_force("P", bar.at(0.5), (100.0, 0, 0))
    return model


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_heated_bar_is_compressed_where_it_is_held(element):
    held = load_cases(heated_bar(element=element), {"P": ["P"]}, {"none": {}})
    assert held["none"].rod("bar").N[:, 0] == pytest.approx(-EA * 1e-3)
    assert held["P"].rod("bar").N[[0, -1], 0] == pytest.approx([50 - EA * 1e-3, -50 - EA * 1e-3])
    free = equilibrium(heated_bar(free=True, element=element), linear=True, load_factors={})
    assert pytest.approx(np.zeros((8, 3)), abs=1e-6) == free.rod("bar").N
    assert free.displacement("bar.end")[0] == pytest.approx(1e-3 * L)


def test_law_acts_with_its_tangent_at_the_start():
    """N1 = EA Gamma (1 + (Gamma/0.002)^2) at Gamma = -0.001: stress and tangent of the law."""
    result = load_cases(heated_bar(law=True), {"P": ["P"]}, {"none": {}})
    assert result["none"].rod("bar").N[:, 0] == pytest.approx(-EA * 1e-3 * 1.25)
    change = result["P"].rod("bar").N[:, 0] - result["none"].rod("bar").N[:, 0]
    assert change[[0, -1]] == pytest.approx([50.0, -50.0], rel=1e-6)
    moved = result["P"].displacement("bar@0.5") - result["none"].displacement("bar@0.5")
    assert moved[0] == pytest.approx(100 * (L / 2) / (2 * EA * 1.75), rel=1e-6)


def test_tensioned_spring_is_part_of_every_case():
    """A spring of 1 m, 0.9 m without force, pulls the end down by F = k (0.1 - w)."""
    k, model = 3e4, Model("propped")
    beam = line(model, "beam", (0, 0, 0), (L, 0, 0))
    model.add_joint("wall", "clamp", beam.start)
    model.add_spring("prop", model.ground.at((L, 0, -1.0)), beam.end, k, length=0.9)
    F = 0.1 * k / (1 + k * (L**3 / (3 * EI) + L / GA))
    result = equilibrium(model, linear=True)
    assert result.reactions["spring 'prop'"].force == pytest.approx([0, 0, -F], rel=1e-9, abs=1e-6)
    assert result.reactions["wall"].force == pytest.approx([0, 0, F], rel=1e-9, abs=1e-6)


def test_inextensible_string_holds_a_beam():
    """The tension of a string is the reaction of a rigid support; two kinds of elements stand side by side."""
    model = Model("hung")
    beam = line(model, "beam", (0, 0, 0), (L, 0, 0))
    model.add_joint("wall", "clamp", beam.start)
    cord = model.add_rod(
        "cord", [(L, 0, 0), (L, 0, 2.0)], Section.string(EA="inextensible", mass_per_length=0.1), 1
    )
    model.add_joint("eye", "spherical", beam.end, cord.start)
    model.add_joint("hook", "spherical", model.ground, cord.end)
    other = line(model, "other", (0, 3, 0), (L, 3, 0), "se3")
    model.add_joint("other wall", "clamp", other.start)
    model.add_distributed_load("q", beam, (0, 0, -Q))
    model.add_force("P", other.end, (0, 0, -Q))
    result = equilibrium(model, linear=True)
    R = Q * (L**4 / (8 * EI) + L**2 / (2 * GA)) / (L**3 / (3 * EI) + L / GA)
    assert result.rod("cord").N[0, 0] == pytest.approx(R, rel=1e-9)
    assert result.reactions["hook"].force == pytest.approx([0, 0, R], rel=1e-9, abs=1e-6)
    assert result.rod("other").N[:, 2] == pytest.approx(-Q, rel=1e-9)
    assert result.section_forces("beam").M[0, 1] == pytest.approx(Q * L**2 / 2 - R * L, rel=1e-9)


@pytest.mark.parametrize("linear", [True, False])
def test_section_forces_of_a_curved_rod(linear):
    """A quarter of a circle under a force at its end: statics gives N and M everywhere; between frames to order 2."""
    R, F = 2.0, np.array([3.0, -2.0, 1.0])
    model = Model("bow")
    rod = model.add_rod(
        "bow", lambda s: (R * np.sin(np.pi / 2 * s), R * (1 - np.cos(np.pi / 2 * s)), 0), SECTION, 12
    )
    model.add_joint("wall", "clamp", rod.start)
    model.add_force("F", rod.end, F)
    forces = equilibrium(model, linear=linear).section_forces("bow")
    angle = forces.s / forces.s[-1] * np.pi / 2
    r = np.stack([R * np.sin(angle), R * (1 - np.cos(angle)), 0 * angle], axis=1)
    zero, one = np.zeros_like(angle), np.ones_like(angle)
    axes = np.stack(
        [
            np.stack([np.cos(angle), np.sin(angle), zero], axis=1),
            np.stack([-np.sin(angle), np.cos(angle), zero], axis=1),
            np.stack([zero, zero, one], axis=1),
        ],
        axis=1,
    )
    assert pytest.approx(np.einsum("kij,j->ki", axes, F), abs=0.02) == forces.N
    M = np.cross(r[-1] - r, F)
    assert pytest.approx(np.einsum("kij,kj->ki", axes, M), abs=0.05) == forces.M


@pytest.mark.filterwarnings("ignore::rodsim.ModelWarning")
def test_section_forces_of_a_stretched_rod():
    """A soft cantilever under tension, stretched by a fifth: M of its first end is that of the clamp."""
    soft = Section.from_stiffness(
        EA=100.0, GA=100.0, GJ=1.0, EI=1.0, mass_per_length=1.0, inertia_per_length=1e-3
    )
    model = Model("soft")
    rod = line(model, "rod", (0, 0, 0), (1, 0, 0), "relative(2)", 4, soft)
    model.add_joint("wall", "clamp", rod.start)
    model.add_force("pull", rod.end, (20.0, 0, 0.1))
    result = equilibrium(model)
    assert result.section_forces("rod").M[0] == pytest.approx(
        -result.reactions["wall"].moment, rel=1e-10, abs=1e-12
    )


def test_exact_cases_add_loads_and_settlements():
    """Two cases of a combination share a load and a moved support, which turns about another point."""
    model = two_spans()
    model.add_force("P", "beam@0.25", (0, 0, -1.0))
    about = {"left": {"rotation": (0, 1e-5, 0), "about": (0, 0, 2.0)}}
    cases = {"one": {"P": 1.0}, "two": {"P": 2.0}}
    both = [
        load_cases(
            model,
            cases,
            {"sum": {"one": 1.0, "two": 1.5, "turn": 2.0}},
            settlements={"turn": about},
            linear=x,
        )["sum"]
        for x in (True, False)
    ]
    assert both[1].reactions["middle"].force[2] == pytest.approx(
        both[0].reactions["middle"].force[2], rel=1e-4
    )
    assert both[0].displacement("beam.start")[0] == pytest.approx(-2 * 2e-5)
    moved = both[1].rod("beam").r[-1, 0, 0]
    assert moved == pytest.approx(-2 * 2e-5, rel=1e-3)


def test_exact_reactions_of_clamps_are_those_on_the_structure():
    model = Model("cantilever", gravity=(0, 0, -9.81))
    beam = line(model, "beam", (0, 0, 0), (L, 0, 0))
    model.add_joint("wall", "clamp", beam.start)
    for linear in (True, False):
        reaction = equilibrium(model, linear=linear).reactions["wall"]
        assert reaction.force[2] == pytest.approx(12.0 * L * 9.81, rel=1e-6)
        assert reaction.moment[1] == pytest.approx(-12.0 * L**2 / 2 * 9.81, rel=1e-3)


def test_load_factors_scale_loads_of_exact_equilibria():
    model = portal()
    alone = equilibrium(model, load_factors={"wind": 0.5})
    half = equilibrium(model, {"wind": (250.0, 0, 0)}, load_factors={"wind": 1.0})
    assert alone.rod("left").r[-1].tobytes() == half.rod("left").r[-1].tobytes()
    assert alone.reactions.total[0] == pytest.approx([-250.0, 0, 0], abs=1e-5)
    assert equilibrium(model, load_factors={"gravity": 2.0}).reactions.total[0][2] == pytest.approx(
        2 * 12.0 * (2 * H + L) * 9.81
    )


def test_standing_moving_force_is_a_load_case():
    model = two_spans()
    model.add_moving_force("train", "beam", 3.0, (0, 0, -Q * 2.0), length=2.0)
    model.add_distributed_load("same", "beam", (0, 0, -Q), between=(1 / 6, 1 / 3))
    result = load_cases(model, {"train": ["train"], "same": ["same"]})
    assert result["train"].reactions["middle"].force == pytest.approx(
        result["same"].reactions["middle"].force, rel=1e-9, abs=1e-6
    )


def test_tables_of_reactions_are_written(tmp_path):
    model = portal()
    result = load_cases(model, {"snow": snow(model), "wind": ["wind"]})
    with result.reactions_to_csv(tmp_path / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["case"], row["support"]) for row in rows] == [
        ("snow", "A"),
        ("snow", "B"),
        ("wind", "A"),
        ("wind", "B"),
    ]
    assert float(rows[1]["Fz"]) == result["snow"].reactions["B"].force[2]
    assert float(rows[1]["x"]) == L
    with result["snow"].reactions.to_csv(tmp_path / "one.csv").open() as file:
        assert next(csv.reader(file)) == ["support", "x", "y", "z", "Fx", "Fy", "Fz", "Mx", "My", "Mz"]
    pytest.importorskip("xarray")
    table = result.reactions_to_xarray()
    assert (
        float(table.sel(case="wind", support="A", component="Fx")) == result["wind"].reactions["A"].force[0]
    )


def curves(figure):
    """Polygons of the filled diagrams in a figure, (corners, 2) each."""
    return [patch.get_xy() for patch in figure.axes[0].patches]


@pytest.mark.parametrize("linear", [True, False])
def test_moment_diagram_is_on_the_side_in_tension(linear, tmp_path):
    """Sagging beams have their diagram below, with the scale that is given; columns under thrust outside."""
    model = portal()
    result = equilibrium(model, linear=linear, load_factors=dict.fromkeys(snow(model), 0.01))
    beam = curves(diagram(result, "M", tmp_path / "M.png", scale=1e-2))[2]
    M = result.section_forces("beam 0").M[:, 1]
    assert beam[:, 1].min() == pytest.approx(H + 1e-2 * M.min(), rel=1e-3)
    assert beam[:, 1].max() == pytest.approx(H + 1e-2 * M.max(), rel=1e-3)
    left, right = curves(diagram(result, "M"))[:2]
    assert left[:, 0].min() < -0.1 * H
    assert right[:, 0].max() > L + 0.1 * H
    assert (tmp_path / "M.png").stat().st_size > 10000


def test_other_diagrams():
    model = portal()
    result = load_cases(model, {"snow": snow(model)})["snow"]
    shear = curves(diagram(result, "V", scale=1e-4))[2]
    assert shear[0] == pytest.approx([0, H + 1e-4 * Q * L / 2])  # dM/ds > 0 where the beam begins
    normal = curves(diagram(result, "N", scale=1e-4))[0]
    assert normal[:, 0].max() == pytest.approx(1e-4 * Q * L / 2)  # compression, to the right of a rod upwards
    deflected = diagram(result, "deflection", scale=10.0)
    middle = deflected.axes[0].lines[5].get_xydata()[4]
    assert middle[1] == pytest.approx(H + 10 * result.rod("beam 0").displacement[4, 2])
    assert diagram(result, "T").axes[0].get_title() == "torque (N m)"
    assert diagram(result, "deflection").axes[0].get_title() == "deflection (mm)"
    large = diagram(100 * result, "V").axes[0]
    assert large.get_title() == "shear force (kN)"
    assert any(text.get_text() == "300" for text in large.texts)
    assert diagram(result, "N").axes[0].get_title() == "normal force (N)"
    assert any("3000" in text.get_text() for text in diagram(result, "V").axes[0].texts)
    assert not diagram(result, "V", labels=False).axes[0].texts
    flat = diagram(result, "M", view="xy")
    assert flat.axes[0].get_ylabel() == "y (m)"


def test_deformed_model_is_a_result():
    result = equilibrium(portal(), linear=True)
    shown = result.deformed(20.0)
    moved = shown.rod("left").r[1] - shown.rod("left").r[0]
    assert moved == pytest.approx(20 * result.rod("left").displacement)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("load case 'dead': there is no load 'roof'", lambda m: load_cases(m, {"dead": ["roof"]})),
        ("load case 'x': .* joint 'C'", lambda m: load_cases(m, {}, settlements={"x": {"C": {}}})),
        ("combination 'ULS': there is no load case 'live'",
         lambda m: load_cases(m, {"dead": ["gravity"]}, {"ULS": {"live": 1.5}})),
        ("combination 'dead': a load case has this name",
         lambda m: load_cases(m, {"dead": ["gravity"]}, {"dead": {"dead": 1.0}})),
        ("load case 'dead': 'gravity' is not a list", lambda m: load_cases(m, {"dead": "gravity"})),
        ("load case 'dead': has no loads and no settlements", lambda m: load_cases(m, {"dead": []})),
        ("factor of 'wind' = 'a' is not a number", lambda m: load_cases(m, {"w": {"wind": "a"}})),
        ("cases = .* has no names", lambda m: load_cases(m, ["gravity"])),
        ("expected a Model", lambda m: load_cases("m", {"dead": ["gravity"]})),
        ("there is no load 'roof'", lambda m: equilibrium(m, linear=True, load_factors={"roof": 1.0})),
        ("linear=True .* has no method", lambda m: equilibrium(m, linear=True, method=ArcLength())),
        ("linear=True .* has no constant", lambda m: equilibrium(m, linear=True, constant=["wind"])),
        ("quantity = 'Q' is not known", lambda m: diagram(equilibrium(m, linear=True), "Q")),
        ("view = 'zx' is not known", lambda m: diagram(equilibrium(m, linear=True), view="zx")),
        ("expected a result of `equilibrium`", lambda m: diagram("M")),
        ("no rod 'x'", lambda m: equilibrium(m, linear=True).rod("x")),
        ("no joint 'x'", lambda m: equilibrium(m, linear=True).joint("x")),
        ("is not a point of a body or a rod", lambda m: equilibrium(m, linear=True).displacement("ground")),
        ("only results of one call",
         lambda m: equilibrium(m, linear=True) + equilibrium(m, linear=True)),
    ],
)  # fmt: skip
def test_invalid_input_is_refused(message, call):
    with pytest.raises((ModelError, ValueError, TypeError), match=message):
        call(portal())


def test_mechanisms_are_refused():
    model = Model("mechanism")
    beam = line(model, "beam", (0, 0, 0), (L, 0, 0))
    hinge(model, "pin", model.ground, beam.start)
    model.add_force("P", beam.end, (0, 0, -Q))
    with pytest.raises(ModelError, match=r"singular at the start.*'beam'.*hold it by a joint"):
        equilibrium(model, linear=True)


def test_tables_have_no_negative_zeros():
    clamped = Model("cantilever")
    rod = line(clamped, "beam", (0, 0, 0), (L, 0, 0))
    clamped.add_joint("wall", "clamp", rod.start)
    for model in (two_spans(), clamped):
        model.add_force("P", "beam@0.25", (0, 0, -Q))
        for linear in (True, False):
            for reaction in equilibrium(model, linear=linear).reactions.values():
                values = np.concatenate([reaction.force, reaction.moment])
                assert not np.any(np.signbit(values) & (values == 0.0))


def test_result_names_its_parts():
    result = equilibrium(portal(), linear=True)
    assert isinstance(result, LinearEquilibrium)
    assert result.rods == ["left", "right", "beam 0"]
    assert result.joints == ["corner 1", "corner 2", "A", "B"]
    assert repr(result) == "<LinearEquilibrium of 'portal': rods left, right, beam 0>"
    assert repr(result.reactions["A"]).startswith("<Reaction: force (")
