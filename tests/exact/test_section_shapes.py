"""Sections from outlines: exact areas and moments, tabulated torsion and shear constants, shear centres, rejected input."""

import numpy as np
import pytest

from rodsim import Material, ModelError, Section

UNIT = Material(E=1.0, G=1.0, density=1.0)
STEEL = Material(E=2.1e11, nu=0.3, density=7850.0, damping_time=1e-4)
SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]
ANGLE = np.array([(0, 0), (0.1, 0), (0.1, 0.01), (0.01, 0.01), (0.01, 0.15), (0, 0.15)])
TRIANGLE = np.array([(0, 0), (1, 0), (0.5, np.sqrt(3) / 2)])
ELLIPSE_ANGLES = 2 * np.pi * np.arange(200) / 200
ELLIPSE = np.stack([0.3 * np.cos(ELLIPSE_ANGLES), 0.2 * np.sin(ELLIPSE_ANGLES)], axis=1)
CIRCLE = np.stack([np.cos(ELLIPSE_ANGLES), np.sin(ELLIPSE_ANGLES)], axis=1)
GIVEN = {"torsion_constant": 1.0, "material": UNIT}


def constants(section):
    """(A, J, I2, I3) of a section with unit moduli."""
    return np.diag(section.stiffness)[[0, 3, 4, 5]]


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def test_rectangle_of_corners_is_the_rectangle():
    of_corners = Section.from_polygon(
        [(-1, 3), (1, 3), (1, 9), (-1, 9)], material=STEEL, torsion_constant=2.0
    )
    rectangle = Section.rectangle(2.0, 6.0, STEEL)
    expected = rectangle.stiffness.copy()
    expected[3, 3] = STEEL.shear_modulus * 2.0
    assert of_corners.stiffness == pytest.approx(expected, rel=1e-13)
    assert of_corners.damping == pytest.approx(1e-4 * expected, rel=1e-13)
    assert of_corners.inertia_per_length == pytest.approx(rectangle.inertia_per_length, rel=1e-13)
    assert of_corners.mass_per_length == pytest.approx(rectangle.mass_per_length, rel=1e-13)
    assert of_corners.center == (0.0, 0.0)


def test_either_sense_and_a_repeated_corner_give_the_same_section():
    first = Section.from_polygon(ANGLE, **GIVEN)
    for points in (ANGLE[::-1], [*ANGLE, ANGLE[0]]):
        assert Section.from_polygon(points, **GIVEN).stiffness == pytest.approx(first.stiffness, abs=1e-16)


def test_holes_are_subtracted():
    hollow = Section.from_polygon(SQUARE, [[(0.2, 0.2), (0.4, 0.2), (0.4, 0.4), (0.2, 0.4)]], **GIVEN)
    A, c = 1 - 0.04, np.array([0.5 - 0.04 * 0.3, 0.5 - 0.04 * 0.3]) / 0.96
    I = 1 / 12 + (0.5 - c[0]) ** 2 - (0.2**4 / 12 + 0.04 * (0.3 - c[0]) ** 2)
    assert constants(hollow)[[0, 2, 3]] == pytest.approx([A, I, I], rel=1e-13)
    product = (0.5 - c[0]) * (0.5 - c[1]) - 0.04 * (0.3 - c[0]) * (0.3 - c[1])
    assert hollow.stiffness[4, 5] == pytest.approx(-product, rel=1e-12)
    assert hollow.product_of_inertia == pytest.approx(-product, rel=1e-12)


def test_oblique_bending_follows_the_principal_axes():
    """A strip along the direction e: bending about e costs its small moment, about the normal its large one."""
    strip = np.array([(-1.0, -0.05), (1.0, -0.05), (1.0, 0.05), (-1.0, 0.05)]) @ rotation(0.4).T
    section = Section.from_polygon(strip, **GIVEN)
    along, across = rotation(0.4).T
    bending = section.stiffness[4:, 4:]
    assert along @ bending @ along == pytest.approx(2 * 0.1**3 / 12, rel=1e-12)
    assert across @ bending @ across == pytest.approx(0.1 * 2**3 / 12, rel=1e-12)


def test_origin_and_centres_are_those_of_a_moved_section():
    """A rod whose curve runs through another point: the strains, and so the energy, are those of the moved line."""
    at, center = np.array([0.2, -0.1]), np.array([0.5, 0.5])
    moved = Section.from_polygon(SQUARE, origin=at, shear_center=(0.7, 0.4), shear_areas=(0.8, 0.9), **GIVEN)
    assert moved.center == pytest.approx(tuple(center - at))
    rng = np.random.default_rng(1)
    strain = rng.normal(size=6)  # of the line of centres
    shear = strain[:3] + np.cross(strain[3:], [0.0, 0.2, -0.1])
    energy = strain[0] ** 2 + 0.8 * shear[1] ** 2 + 0.9 * shear[2] ** 2 + strain[3] ** 2
    energy += (strain[4] ** 2 + strain[5] ** 2) / 12
    assert strain @ moved.stiffness @ strain == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize(
    ("points", "J", "areas"),
    [
        (SQUARE, 0.1405770, (5 / 6, 5 / 6)),
        ([(0, 0), (2, 0), (2, 1), (0, 1)], 0.4573651, (5 / 3, 5 / 3)),
        (TRIANGLE, np.sqrt(3) / 80, None),
        (CIRCLE, np.pi / 2, (6 / 7 * np.pi,) * 2),
        (ELLIPSE, np.pi * 0.3**3 * 0.2**3 / (0.3**2 + 0.2**2), None),
    ],
    ids=["square", "rectangle", "triangle", "circle", "ellipse"],
)
def test_torsion_and_shear_are_the_exact_ones(points, J, areas):
    """Timoshenko & Goodier, Theory of elasticity, sec. 104 to 109; shear of nu = 0: 5/6 and 6/7 (Cowper 1966)."""
    pytest.importorskip("sectionproperties")
    polygonal = 6e-4 if len(points) > 4 else 0.0  # the area of 200 corners is 1.6e-4 below that of the circle
    section = Section.from_polygon(points, material=UNIT)
    assert section.stiffness[3, 3] == pytest.approx(J, rel=1e-5 + polygonal)
    if areas is not None:
        assert np.diag(section.stiffness)[1:3] == pytest.approx(areas, rel=1e-5 + polygonal)


def test_shear_centre_of_a_channel_is_behind_its_web():
    """Thin walls: e = 3 b^2 / (h + 6 b) from the middle of the web."""
    pytest.importorskip("sectionproperties")
    t, b, h = 0.001, 0.1, 0.2  # b and h between middles of walls
    x = np.array([-t / 2, b, b, t / 2, t / 2, b, b, -t / 2])
    y = np.array([-t / 2, -t / 2, t / 2, t / 2, h - t / 2, h - t / 2, h + t / 2, h + t / 2])
    section = Section.from_polygon(np.stack([x, y], axis=1), material=UNIT, origin=(0.0, h / 2))
    about_curve = np.eye(6)
    about_curve[:3, 3:] = -np.array([[0, -0, section.center[0]], [0, 0, 0], [-section.center[0], 0, 0]])
    C = about_curve.T @ section.stiffness @ about_curve
    assert C[2, 3] / C[2, 2] == pytest.approx(-3 * b**2 / (h + 6 * b), rel=0.01)
    assert C[3, 3] - C[2, 3] ** 2 / C[2, 2] == pytest.approx((2 * b + h) * t**3 / 3, rel=0.01)


def test_rotated_outline_gives_the_rotated_section():
    pytest.importorskip("sectionproperties")
    R, Q = rotation(0.3), np.eye(6)
    Q[1:3, 1:3] = Q[4:, 4:] = R
    upright, turned = (Section.from_polygon(p, material=UNIT) for p in (ANGLE, ANGLE @ R.T))
    size = np.sqrt(np.outer(np.diag(upright.stiffness), np.diag(upright.stiffness)))
    assert np.abs((turned.stiffness - Q @ upright.stiffness @ Q.T) / size).max() < 1e-4
    assert np.abs(upright.stiffness[1, 2]) > 0.02 * upright.stiffness[1, 1]  # the flanges couple both shears


def test_computed_constants_are_stored():
    pytest.importorskip("sectionproperties")
    made = Section.from_polygon(ANGLE, material=STEEL)
    again = made.with_numbers({"material.E": 7e10})
    assert again.stiffness == pytest.approx(7e10 / 2.1e11 * made.stiffness, rel=1e-12)
    given = {**made.given[0].named}
    assert Section.from_polygon(**given).stiffness.tobytes() == made.stiffness.tobytes()


def test_rolled_profile_has_its_tabulated_constants():
    """IPE 200, EN 10365: A = 28.5 cm^2, Iy = 1943 cm^4, Iz = 142 cm^4, It = 6.98 cm^4, 22.4 kg/m."""
    library = pytest.importorskip("sectionproperties.pre.library")
    profile = library.i_section(d=200, b=100, t_f=8.5, t_w=5.6, r=12, n_r=12)
    section = Section.from_sectionproperties(profile, material=STEEL, unit=1e-3)
    EA, _, _, GJ, EI2, EI3 = np.diag(section.stiffness)
    assert pytest.approx(28.5, abs=0.05) == 1e4 * EA / STEEL.E
    assert pytest.approx(1943, rel=2e-3) == 1e8 * EI2 / STEEL.E
    assert pytest.approx(142.4, rel=1e-3) == 1e8 * EI3 / STEEL.E
    assert 1e8 * GJ / STEEL.shear_modulus == pytest.approx(6.98, rel=0.02)  # tables have a formula for it
    assert section.mass_per_length == pytest.approx(22.4, abs=0.04)
    assert section.damping == pytest.approx(1e-4 * section.stiffness)
    assert profile.mesh is None  # the geometry of the user is not changed


def test_composite_section_weighs_its_parts():
    """A square of two layers, the upper one twice as stiff and three times as dense."""
    pre = pytest.importorskip("sectionproperties.pre")
    library = pytest.importorskip("sectionproperties.pre.library")
    lower = pre.Material("lower", 1e4, 0.2, 1.0, 1e-6, "r")  # N/mm^2, kg/mm^3
    upper = pre.Material("upper", 2e4, 0.2, 1.0, 3e-6, "b")
    layers = library.rectangular_section(d=50, b=100, material=lower)
    layers = layers + library.rectangular_section(d=50, b=100, material=upper).shift_section(0, 50)
    section = Section.from_sectionproperties(layers, unit=1e-3, origin=(50, 0))
    assert section.mass_per_length == pytest.approx(0.005 * 1000 + 0.005 * 3000)
    assert section.center == pytest.approx((0.0, 0.0625))  # (25 + 3 * 75) / 4 mm
    EA, c = 0.005 * 1e10 + 0.005 * 2e10, (25 + 2 * 75) / 3e3 - 0.0625
    assert section.stiffness[0, 0] == pytest.approx(EA)
    assert section.stiffness[0, 4] == pytest.approx(EA * c)
    layer, d = 0.1 * 0.05**3 / 12, 0.005
    about = 1e10 * (layer + d * (0.0625 - 0.025) ** 2) + 2e10 * (layer + d * (0.075 - 0.0625) ** 2)
    assert section.stiffness[4, 4] == pytest.approx(about)
    J2 = 1000 * (layer + d * (0.0625 - 0.025) ** 2) + 3000 * (layer + d * (0.075 - 0.0625) ** 2)
    assert section.inertia_per_length[1] == pytest.approx(J2)
    with pytest.raises(ModelError, match="materials of its own"):
        Section.from_sectionproperties(layers, material=STEEL)


def test_one_material_in_two_regions_is_homogeneous():
    pre = pytest.importorskip("sectionproperties.pre")
    library = pytest.importorskip("sectionproperties.pre.library")
    parts = [pre.Material(name, 1e4, 0.2, 1.0, 1e-6, "r") for name in "ab"]
    halves = library.rectangular_section(d=50, b=100, material=parts[0])
    halves = halves + library.rectangular_section(d=50, b=100, material=parts[1]).shift_section(0, 50)
    section = Section.from_sectionproperties(halves, unit=1e-3)
    square = Section.rectangle(0.1, 0.1, Material(E=1e10, nu=0.2, density=1000))
    ratio = np.diag(section.stiffness) / np.diag(square.stiffness)
    assert ratio[[0, 3, 4, 5]] == pytest.approx(1.0, rel=1e-5)
    assert ratio[1:3] == pytest.approx(1.0, rel=5e-3)  # shear with nu = 0.2


def test_without_the_library_the_constants_are_asked_for(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sectionproperties", None)
    monkeypatch.setitem(__import__("sys").modules, "sectionproperties.analysis", None)
    with pytest.raises(
        (ModelError, ImportError),
        match=r"without torsion_constant needs sectionproperties.*rodsim\[sections\]",
    ):
        Section.from_polygon(SQUARE, material=UNIT)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("has 2 different corners", {"points": [(0, 0), (1, 0), (0, 0)]}),
        ("crosses or touches itself at its sides 0 and 2", {"points": [(0, 0), (1, 1), (1, 0), (0, 1)]}),
        ("crosses or touches itself", {"points": [(0, 0), (1, 0), (2, 0)]}),
        ("crosses or touches itself", {"points": [(0, 0), (1, 0), (1, 1), (0.5, 0), (0, 1)]}),
        ("the corner .* twice in a row", {"points": [(0, 0), (1, 0), (1, 0), (1, 1)]}),
        ("hole 0 is not inside", {"points": SQUARE, "holes": [[(0.5, 0.5), (2, 0.5), (2, 0.7)]]}),
        ("hole 0 is not inside", {"points": SQUARE, "holes": [[(2, 2), (3, 2), (3, 3)]]}),
        ("hole 0 is not inside", {"points": ANGLE, "holes": [[(0.005, 0.1), (0.05, 0.005), (0.005, 0.005)]]}),
        (
            "holes 0 and 1 overlap",
            {
                "points": SQUARE,
                "holes": [[(0.2, 0.2), (0.6, 0.2), (0.4, 0.6)], [(0.3, 0.3), (0.5, 0.3), (0.4, 0.4)]],
            },
        ),
        ("points has shape", {"points": [(0, 0, 0), (1, 0, 0), (1, 1, 0)]}),
        ("torsion_constant = 0 is not positive", {"points": SQUARE, "torsion_constant": 0}),
        ("shear_areas = .* is not positive definite", {"points": SQUARE, "shear_areas": [[1, 2], [2, 1]]}),
        ("needs torsion_constant", {"points": SQUARE, "shear_areas": (1, 1), "torsion_constant": None}),
        ("is not a Material", {"points": SQUARE, "material": 3}),
    ],
)
def test_invalid_outlines_are_refused(message, arguments):
    with pytest.raises(ModelError, match=message):
        Section.from_polygon(**{**GIVEN, **arguments})
