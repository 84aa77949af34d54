"""Buckling loads against Euler's, Engesser's and Greenhill's, and modes at these loads."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import brentq
from scipy.special import jv

from discretization.linearisation import saddle_point
from rodsim import Box, Model, ModelError, Section, buckling, modes
from rodsim.small_motions.bordered_systems import BorderedMatrix
from rodsim.statics.proportional_loading import ProportionallyLoadedModel
from rodsim.warnings import ModelCheckWarning
from tests.support.buckling import LENGTH, column, critical, links
from tests.support.orders import observed_order

# stiff as Euler's (round-off of EA = 3e8 would be 1e-6 of the load); with shear as Engesser's; with shear and compression
STIFFNESS = [(3e7, 3e7), (3e8, 40.0), (200.0, 60.0), (400.0, 4e5)]


@pytest.mark.parametrize(("EA", "GA"), STIFFNESS)
@pytest.mark.parametrize(("end", "half_waves"), [("free", 0.5), ("guided", 2.0)])
def test_columns_buckle_at_the_exact_load(EA, GA, end, half_waves):
    if end == "guided" and EA == 200.0:
        EA, GA = 800.0, 240.0
    expected = critical(EA, GA, half_waves * np.pi / LENGTH)
    result = buckling(column(EA, GA, end))
    assert result.factors[0] == pytest.approx(expected, rel=1e-6)
    if EA == GA:
        assert expected == pytest.approx((half_waves * np.pi / LENGTH) ** 2 * 3.0, rel=1e-6)  # Euler's
        assert result.linear[0] == pytest.approx(expected, rel=5e-6)  # EA is 1e7 EI/L^2


def test_a_buckling_load_does_not_depend_on_masses():
    """Not even for a column that oscillates as slowly as once in three minutes."""
    model = column(3e7, 3e7)
    mass = model.add_body("mass", Box(0.01, 0.01, 0.01, mass=1e3), position=(LENGTH, 0, 0))
    model.add_joint("weld", "weld", model.rods["rod"].end, mass)
    assert modes(model, 1).omega[0] < 0.04
    assert buckling(model).factors[0] == pytest.approx(buckling(column(3e7, 3e7)).factors[0], rel=1e-6)


def test_linear_buckling_neglects_the_shortening_before():
    """K(0) + f K' neglects the shortening: its error is about P/EA; shear is included."""
    result = buckling(column(200.0, 3e5))
    P = (np.pi / 2 / LENGTH) ** 2 * 3.0
    assert result.linear[0] == pytest.approx(P, rel=1e-4)
    sheared = buckling(column(3e8, 40.0), nonlinear=False).linear[0]
    assert sheared == pytest.approx(critical(3e8, 40.0, np.pi / 2 / LENGTH), rel=1e-3)
    assert result.factors[0] == pytest.approx(critical(200.0, 3e5, np.pi / 2 / LENGTH), rel=1e-6)
    assert abs(result.linear[0] / result.factors[0] - 1) == pytest.approx(P / 200.0, rel=0.1)


def test_critical_states_are_those_of_the_compressed_column():
    result = buckling(column(200.0, 60.0))
    tip = result.states[0].r[-1]
    assert tip == pytest.approx([LENGTH * (1 - result.factors[0] / 200.0), 0, 0], abs=1e-6)
    shape = result.shapes[0][1:, 1:3]
    x = result.states[0].r[1:, 0] / tip[0]
    wave = np.linalg.norm(shape, axis=1) / np.linalg.norm(shape[-1])
    assert wave == pytest.approx(1 - np.cos(np.pi / 2 * x), abs=1e-6)


@pytest.mark.parametrize(
    ("element", "order", "numbers"),
    [("se3", 2, (8, 16, 32)), ("relative(2)", 4, (4, 8, 16)), ("lagrange(3)", 6, (3, 6, 9))],
)
def test_buckling_loads_have_the_order_of_the_element(element, order, numbers):
    expected = critical(200.0, 60.0, np.pi / 2 / LENGTH)
    results = [buckling(column(200.0, 60.0, n=n, element=element)) for n in numbers]
    errors = [abs(result.factors[0] - expected) for result in results]
    assert observed_order([1 / n for n in numbers], errors) == pytest.approx(order, abs=0.3)
    assert results[-1].linear[0] == pytest.approx(expected, rel=0.02)


def test_a_column_buckles_under_its_own_weight_at_greenhills_load():
    """m g L^3/EI = (9/4) j^2, j the first zero of the Bessel function of order -1/3 (Greenhill 1881)."""
    j = brentq(lambda x: jv(-1 / 3, x), 1.0, 2.5, xtol=1e-14)
    expected = 9 / 4 * j * j * 3.0 / (1.5 * LENGTH**3)
    assert expected == pytest.approx(7.8373474 * 3.0 / (1.5 * LENGTH**3), rel=1e-7)
    # lumped weights of order 8 in the mesh
    assert buckling(column(3e7, 3e7, load=0.0, gravity=1.0)).factors[0] == pytest.approx(expected, rel=2e-6)
    load_factor = buckling(column(3e7, 3e7)).factors[0]
    weight_factor = buckling(
        column(3e7, 3e7, load=0.5 * load_factor, gravity=1.0), constant=["press"]
    ).factors[0]
    assert 0.4 * expected < weight_factor < 0.55 * expected
    # the same pair of loads, the weight being held
    factor = buckling(column(3e7, 3e7, gravity=weight_factor), constant="gravity").factors[0]
    assert factor == pytest.approx(0.5 * load_factor, rel=1e-6)


def test_a_distributed_load_may_be_held():
    """A column carries the weight of its length, as a distributed load that is held, and half its buckling load."""
    held = 0.5 * buckling(column(3e7, 3e7)).factors[0]
    weight = buckling(column(3e7, 3e7, load=held, gravity=1.0), constant=["press"]).factors[0]
    model = column(3e7, 3e7)
    model.add_distributed_load("weight", "rod", (-1.5 * weight, 0, 0))
    assert buckling(model, constant=["weight"]).factors[0] == pytest.approx(held, rel=1e-5)


def strip(n, element="relative(4)"):
    """A cantilever with a transverse load in its stiff bending plane."""
    section = Section.from_stiffness(
        EA=1e7, GA=1e7, GJ=2.0, EI=(1e6, 3.0), mass_per_length=1.0, inertia_per_length=0.01
    )
    model = Model("strip")
    rod = model.add_rod("rod", [(0, 0, 0), (LENGTH, 0, 0)], section, n, element=element, up=(0, 0, 1))
    model.add_joint("root", "clamp", rod.start)
    model.add_force("load", rod.end, (0, 0, -1.0))
    return model


def test_narrow_cantilever_buckles_laterally_at_prandtls_load():
    """4.0126 sqrt(EI GJ)/L^2 (Prandtl 1899)."""
    assert buckling(strip(24)).factors[0] == pytest.approx(4.0126 * np.sqrt(6.0) / LENGTH**2, rel=5e-5)


def test_modes_oscillate_below_the_buckling_load_and_grow_above():
    EA, GA = 200.0, 60.0
    factor = buckling(column(EA, GA)).factors[0]

    def kinds(part):
        load = part * factor
        model = column(EA, GA, load=load, pressed=load)
        return modes(model, 3)

    assert kinds(0.999).stable
    beyond = kinds(1.001)
    assert beyond.kinds[:2] == ("grows", "grows")  # both planes
    # frequencies go to zero as the load does to its critical value: w^2 falls linearly there
    low = [kinds(part).omega[0] ** 2 for part in (0.99, 0.995)]
    assert low[0] / low[1] == pytest.approx(2.0, rel=0.02)


def test_rod_in_tension_buckles_by_shear():
    """Reissner's rod in tension: not below GA, where the shear of a rotated section outweighs its stiffness."""
    assert buckling(column(2e3, 600.0, load=-1.0), nonlinear=False).factors[0] > 600.0


@pytest.mark.parametrize("n", [1, 2, 40])
def test_rigid_links_on_springs_buckle_at_the_closed_form(n):
    """P = 4 k/L sin^2(pi/(2 (2n + 1)) (2j - 1)): joints alone carry the load, and one link has one degree of
    freedom.
    """
    n_factors = min(n, 2)
    exact = [16.0 * np.sin(np.pi * (2 * j - 1) / (2 * (2 * n + 1))) ** 2 for j in range(1, n_factors + 1)]
    result = buckling(links(n), n_factors)
    assert result.linear == pytest.approx(exact, rel=1e-9)
    assert result.factors == pytest.approx(exact, rel=1e-9)


def unsupported(kind):
    """Models without an equilibrium from which their loads could make them buckle."""
    model = Model(kind, gravity=(0, 0, -9.81 * (kind == "upright")))
    if kind in ("hanging loose", "adrift"):
        model = column(2e3, 600.0, n=8)
        model.joints.clear()
        if kind == "hanging loose":
            model.add_joint("foot", "spherical", model.ground, model.rods["rod"].start)
        return model
    if kind == "rail":
        block = model.add_body("block", Box(1, 1, 1, mass=1.0))
        model.add_joint("rail", "prismatic", block, model.ground, at=(0, 0, 0), axis=(1, 0, 0))
        model.add_force("push", block.at((0, 0, 0)), (1.0, 0, 0))
        return model
    bar = model.add_body("bar", Box(0.05, 0.05, 1, mass=1.0), position=(0, 0, 0.5))
    model.add_joint("hinge", "revolute", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_spring("spring", model.ground, bar, 2.0, along="rotation", axis=(0, 1, 0))
    model.add_force("press", bar.at((0, 0, 0.5)), (0, 0, -1.0))
    return model


def with_single_load(model, part, force, following=False):
    """The model with this load alone, on the end of a rod or in the middle of a body."""
    model.loads.clear()
    point = model.rods[part].end if part in model.rods else model.bodies[part].at((0, 0, 0))
    model.add_force("load", point, force, following=following)
    return model


# model, arguments in addition to `constant=["gravity"]`, message
REFUSED = [
    (lambda: column(200.0, 60.0, load=0.0), {}, "no load grows"),
    (
        lambda: with_single_load(column(200.0, 60.0), "rod", (-1.0, 0, 0), True),
        {},
        "load 'load' has no potential",
    ),
    (lambda: column(200.0, 60.0), {"constant": ["pull"]}, "there is no load 'pull'"),
    # along the hinge
    (lambda: with_single_load(links(1), "bar 0", (0, 0, -1.0)), {}, "its loads change no stiffness"),
    (lambda: links(1), {"n": 2}, "n = 2 of a model with 1 freedoms; give at most 1"),
    (
        lambda: unsupported("rail"),
        {},
        r"no stiffness holds: body 'block' moves along \(1, 0, 0\); hold it by a joint, a spring or a drive",
    ),
    (
        lambda: unsupported("hanging loose"),
        {},
        r"there are 3 motions that no joint and no stiffness holds: of rod 'rod', node .*; hold it by",
    ),
    (
        lambda: unsupported("adrift"),
        {},
        r"rod 'rod': nothing joins it to the ground, and load 'press' acts on it.*; hold it by a joint",
    ),
    (
        lambda: unsupported("upright"),
        {},
        r"unstable before its loads grow: body 'bar' turns about \(0, 1, 0\).*remove what is `constant`",
    ),
    (
        lambda: column(2e5, 2e5, gravity=30.0),
        {},
        r"model 'column' is unstable before its loads grow: rod 'rod', node \d+ .*support it",
    ),
    # links have no shear deformation
    (
        lambda: with_single_load(links(3), "bar 2", (1.0, 0, 0)),
        {},
        "load 'load' do not make it buckle, only reversed they might, because they pull; reverse",
    ),
]


@pytest.mark.parametrize("nonlinear", [True, False])
@pytest.mark.parametrize(("model", "settings", "words"), REFUSED, ids=range(len(REFUSED)))
def test_models_that_cannot_buckle_are_rejected_with_part_and_advice(model, settings, words, nonlinear):
    with pytest.raises(ModelError, match=words):
        buckling(model(), **{"constant": ["gravity"], **settings}, nonlinear=nonlinear)


def test_factors_far_beyond_the_linear_path_are_not_searched(monkeypatch):
    """A rod in tension with high shear stiffness."""
    linearised, linear = [], ProportionallyLoadedModel.linear
    monkeypatch.setattr(
        ProportionallyLoadedModel, "linear", lambda self, *at: linearised.append(at) or linear(self, *at)
    )
    with pytest.warns(
        UserWarning,
        match="linear buckling alone; on the path from load factor zero no critical point is near there, where the "
        "linear path has moved by 50 times",
    ):
        buckling(column(2e3, 1e5, load=-1.0, n=4))
    assert len(linearised) < 10


def test_buckling_fill_in_is_proportional_to_the_number_of_elements(monkeypatch):
    """Constraints on shapes are full rows; as pivots they would fill the factors: 16 times at 4 times the elements."""
    fill = []

    def counting(matrix, **options):
        factors = sparse_lu(matrix, **options)
        fill.append(factors.nnz)
        return factors

    sparse_lu, largest = saddle_point.sparse_lu, []
    monkeypatch.setattr(saddle_point, "sparse_lu", counting)
    for n in (60, 240):
        fill.clear()
        result = buckling(column(200.0, 60.0, n=n, element="se3"))
        assert result.factors[0] == pytest.approx(critical(200.0, 60.0, np.pi / 2 / LENGTH), rel=1.0 / n**2)
        largest.append(max(fill))
    assert largest[1] < 5.0 * largest[0]


def pressed_and_pulled():
    """Two rods, one under each load."""
    model = column(3e3, 1e5, n=8)
    other = model.add_rod("other", [(0, 1, 0), (LENGTH, 1, 0)], model.rods["rod"].section, 8)
    model.add_joint("other root", "clamp", other.start)
    model.add_force("pull", other.end, (5.0, 0, 0))
    return model


def nonlinear_column(strain=0.2, before=0.0, element="se3"):
    section = Section.from_stiffness(
        EA=16.0, GA=1e4, GJ=2.0, EI=3.0, mass_per_length=1.5, inertia_per_length=0.01
    )
    model = Model("soft column")
    nonlinear_section = section.with_law("stiffening", strain=strain)
    rod = model.add_rod("rod", [(0, 0, 0), (LENGTH, 0, 0)], nonlinear_section, 12, element=element)
    model.add_joint("foot", "clamp", rod.start)
    model.add_force("press", rod.end, (-1.0, 0, 0))
    if before:
        model.add_force("before", rod.end, (-before, 0, 0))
    return model


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_linear_factors_use_the_tangent_at_the_current_strain(element):
    """Near Euler's load the law is four times as stiff along the rod as without strain."""
    model = nonlinear_column(0.05, 1.6, element)
    result = buckling(model, constant=["before"])
    assert 1.8 < 1.6 + result.factors[0] < 2.2
    assert result.linear[0] == pytest.approx(result.factors[0], rel=0.1)


def half_pressed_before():
    """Half of Euler's load acts before: of 11.6 % strain at the factor the growing load adds 5.8 %."""
    model = column(16.0, 1e4, n=12)
    model.add_force("before", model.rods["rod"].end, (-0.925, 0, 0))
    return model


STRAINED = "at the factor .* stretch and shear come to 0.1"
PULLED = "the loads stretch its rods: the factor .* near GA"
LINEAR = {"nonlinear": False}
# model, arguments, least first factor, warning about strains
DOUBTS = {
    "pulled": (lambda: column(2e4, 1e4, load=-1.0, n=8, element="se3"), {}, 1e4, PULLED),
    "pulled, linear": (lambda: column(2e4, 1e4, load=-1.0, n=8, element="se3"), LINEAR, 1e4, PULLED),
    # GA is a twentieth of EA: 5 % alone cause no warning
    "pulled by 5 %": (lambda: column(2e5, 1e4, load=-1.0, n=8, element="se3"), LINEAR, 0, PULLED),
    "pressed and pulled": (pressed_and_pulled, {}, 0, None),
    # Euler's load of this column is 1.85, the next ones are 16.6 and 46.3, in either plane; compressed by 7.4 %, 11.6 %
    "pressed by 7 %": (lambda: column(25.0, 1e4, n=12), {}, 0, None),
    "pressed by 7 %, linear": (lambda: column(25.0, 1e4, n=12), LINEAR, 0, None),
    "pressed by 12 %": (lambda: column(16.0, 1e4, n=12), {}, 0, STRAINED),
    "pressed by 12 %, linear": (lambda: column(16.0, 1e4, n=12), LINEAR, 0, STRAINED),
    "higher factors": (lambda: column(25.0, 1e4, n=12), {"n": 5, **LINEAR}, 0, "at the factor 16.6"),
    "law": (nonlinear_column, LINEAR, 1.6, None),
    "constant": (half_pressed_before, {"constant": ["before"], **LINEAR}, 0, STRAINED),
    # its load bends it; there is axial tension only where it is already bent
    "strip": (lambda: strip(8, "se3"), {}, 0, None),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_buckling_factors_with_large_strains_warn(name):
    model, arguments, least, words = DOUBTS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert buckling(model(), **arguments).factors[0] > least
    messages = [str(warning.message) for warning in caught if warning.category is ModelCheckWarning]
    assert len(messages) == bool(words), messages
    assert not words or re.search(words, messages[0])
    assert words is not PULLED or "stretch and shear come to" not in messages[0] or "5 %" not in name


def test_equations_with_a_free_motion_are_rejected():
    """K does not resist motion 0, and the row is of motion 1."""
    K = scipy.sparse.diags_array(np.arange(6.0)).tocsr()
    row, motion = np.eye(6)[[1]], np.eye(6)[[0]]
    with pytest.raises(ModelError, match="the matrix is singular"):
        BorderedMatrix(K, scipy.sparse.csr_matrix((0, 6)), row, motion)
