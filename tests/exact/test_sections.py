"""Sections and materials: closed forms, limits, rejected input."""

import numpy as np
import pytest

from rodsim import Material, Model, ModelError, Section

STEEL = Material(E=2.1e11, nu=0.3, density=7850.0, damping_time=1e-4)


def properties(section):
    """(EA, GA2, GA3, GJ, EI2, EI3)."""
    return np.diag(section.stiffness)


def test_circle_has_its_closed_forms():
    r, G = 0.01, 2.1e11 / 2.6
    A, I = np.pi * r**2, np.pi * r**4 / 4
    section = Section.circular(r, STEEL)
    assert properties(section) == pytest.approx(
        [2.1e11 * A, 5 / 6 * G * A, 5 / 6 * G * A, 2 * G * I, 2.1e11 * I, 2.1e11 * I]
    )
    assert section.mass_per_length == pytest.approx(7850 * A)
    assert section.inertia_per_length == pytest.approx([2 * 7850 * I, 7850 * I, 7850 * I])
    assert np.abs(section.damping - 1e-4 * section.stiffness).max() == 0


def test_a_circle_is_a_tube_and_its_core():
    core, tube, full = (
        Section.circular(0.01, STEEL),
        Section.tube(0.02, 0.01, STEEL),
        Section.circular(0.02, STEEL),
    )
    assert properties(core) + properties(tube) == pytest.approx(properties(full))
    assert core.inertia_per_length + tube.inertia_per_length == pytest.approx(full.inertia_per_length)


def test_a_rectangle_is_stiffer_across_its_height():
    """Width 1 along d2, height 3 along d3: bending about d2 displaces material at height 3."""
    values = properties(Section.rectangle(1, 3, Material(E=12.0, G=1.0, density=12.0)))
    assert values[[0, 4, 5]] == pytest.approx([36, 27, 3])


def test_torsion_of_rectangles_is_saint_venants():
    """Timoshenko & Goodier, Theory of elasticity, table of a b^3 factors: 0.1406 for a square, 1/3 for a strip."""
    material = Material(E=1.0, G=1.0, density=1.0)
    assert properties(Section.rectangle(1, 1, material))[3] == pytest.approx(0.1406, abs=5e-5)
    assert properties(Section.rectangle(2, 1, material))[3] == pytest.approx(2 * 0.229, abs=1e-3)
    assert properties(Section.rectangle(1, 1e4, material))[3] == pytest.approx(1e4 / 3, rel=1e-4)
    assert (
        properties(Section.rectangle(1, 2, material))[3] == properties(Section.rectangle(2, 1, material))[3]
    )


def test_shear_modulus_comes_from_poissons_ratio_or_as_given():
    assert Material(E=2.6, nu=0.3, density=1).shear_modulus == pytest.approx(1)
    assert Material(E=2.6, G=5, density=1).shear_modulus == 5


def test_single_number_applies_to_both_axes():
    one = Section.from_stiffness(EA=1, GA=2, GJ=3, EI=4, mass_per_length=1, inertia_per_length=5)
    two = Section.from_stiffness(
        EA=1, GA=(2, 2), GJ=3, EI=(4, 4), mass_per_length=1, inertia_per_length=(5, 5, 5)
    )
    assert np.array_equal(one.stiffness, two.stiffness)
    assert np.array_equal(one.inertia_per_length, two.inertia_per_length)


def stiffness_section(**changes):
    values = {"EA": 1, "GA": 1, "GJ": 1, "EI": 1, "mass_per_length": 1, "inertia_per_length": 1}
    return lambda: Section.from_stiffness(**{**values, **changes})


NO = {"EA": None, "GA": None, "GJ": None, "EI": None}
REFUSED = [
    ("GA = .* 2 finite", stiffness_section(GA=(1, 2, 3))),
    ("GA = 'x'", stiffness_section(GA="x")),
    ("EI3 = -1", stiffness_section(EI=(1, -1))),
    ("3 of the four and no C", stiffness_section(EA=None)),
    ("1 of the four and C", stiffness_section(**{**NO, "EA": 1.0}, C=np.eye(6))),
    ("C has shape", stiffness_section(**NO, C=np.eye(3))),
    ("C = 'stiff' contains", stiffness_section(**NO, C="stiff")),
    ("not symmetric", stiffness_section(**NO, C=np.eye(6) + np.eye(6, k=1))),
    ("positive definite", stiffness_section(**NO, C=np.diag([1, 1, 1, 1, 1, -1]))),
    ("positive definite", stiffness_section(**NO, C=np.eye(6) + 2.0 * np.eye(6)[::-1])),
    ("not symmetric", stiffness_section(**NO, C=np.diag([1.0] * 6) + 1e-3 * np.eye(6, k=-5))),
    ("positive semidefinite", stiffness_section(D=-np.eye(6))),
    ("positive semidefinite", stiffness_section(D=np.eye(6) - 2.0 * np.eye(6)[::-1])),
    ("inertia_per_length", stiffness_section(inertia_per_length=(1, 2))),
    ("inertia_per_length", stiffness_section(inertia_per_length=0)),
    ("mass_per_length = 0", stiffness_section(mass_per_length=0)),
    ("inner_radius", lambda: Section.tube(1, 1, STEEL)),
    ("nu = 0.6", lambda: Material(E=1, nu=0.6, density=1)),
    ("either nu or G", lambda: Material(E=1, density=1)),
    ("E = 0", lambda: Material(E=0, nu=0.3, density=1)),
]


@pytest.mark.parametrize(("words", "make"), REFUSED)
def test_impossible_sections_are_rejected_with_advice(words, make):
    with pytest.raises(ModelError, match=words):
        make()


def test_sides_of_a_rectangle_reach_the_layout_that_is_drawn():
    """Width along d2, height along d3; if two sections meet the larger is drawn; round ones have no sides."""
    flat, thin = Section.rectangle(0.3, 0.1, STEEL), Section.rectangle(0.2, 0.05, STEEL)
    model = Model()
    model.add_rod("beam", [(0, 0, 0), (1, 0, 0)], lambda s: thin if s < 0.5 else flat, n_elements=4)
    model.add_rod("shaft", [(0, 1, 0), (1, 1, 0)], Section.tube(0.2, 0.1, STEEL), n_elements=2)
    beam, shaft = model.build().layout.rods
    assert np.array_equal(beam.sides, 2 * [[0.2, 0.05]] + 3 * [[0.3, 0.1]])
    assert np.array_equal(shaft.sides, np.zeros((3, 2)))
    assert np.array_equal(shaft.radius, [0.2, 0.2, 0.2])
