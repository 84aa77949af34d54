"""Buckling loads against Euler's, Engesser's and Greenhill's, and what modes say of the same loads."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import brentq
from scipy.special import jv

from discretization.groups import energies_of
from discretization.linearisation import prestress, saddle, tangents
from rodsim import Box, Model, ModelError, Section
from rodsim.papers.claims import observed_order
from rodsim.small_motions.bordered import Bordered
from rodsim.small_motions.modal_analysis import GROWS, modes
from rodsim.statics.growing_loads import Loaded
from rodsim.statics.linear_buckling import buckling
from rodsim.warnings import DoubtfulModelWarning
from tests.support.buckling import LENGTH, column, critical, links

# stiff as Euler's (round-off of EA = 3e8 would be 1e-6 of the load); with shear as Engesser's; with shear and compression
STIFFNESS = [(3e7, 3e7), (3e8, 40.0), (200.0, 60.0), (400.0, 4e5)]


@pytest.mark.parametrize(("EA", "GA"), STIFFNESS)
@pytest.mark.parametrize(("end", "half_waves"), [("free", 0.5), ("guided", 2.0)])
def test_columns_buckle_at_the_exact_load(EA, GA, end, half_waves):
    if end == "guided" and EA == 200.0:
        EA, GA = 800.0, 240.0
    wanted = critical(EA, GA, half_waves * np.pi / LENGTH)
    found = buckling(column(EA, GA, end))
    assert found.factors[0] == pytest.approx(wanted, rel=1e-6)
    if EA == GA:
        assert wanted == pytest.approx((half_waves * np.pi / LENGTH) ** 2 * 3.0, rel=1e-6)  # Euler's
        assert found.linear[0] == pytest.approx(wanted, rel=5e-6)  # EA is 1e7 EI/L^2


def test_linear_buckling_leaves_out_what_the_load_did_before():
    """K(0) + f K' misses the shortening: it is off by about P/EA; shear is in it."""
    found = buckling(column(200.0, 3e5))
    P = (np.pi / 2 / LENGTH) ** 2 * 3.0
    assert found.linear[0] == pytest.approx(P, rel=1e-4)
    sheared = buckling(column(3e8, 40.0), nonlinear=False).linear[0]
    assert sheared == pytest.approx(critical(3e8, 40.0, np.pi / 2 / LENGTH), rel=1e-3)
    assert found.factors[0] == pytest.approx(critical(200.0, 3e5, np.pi / 2 / LENGTH), rel=1e-6)
    assert abs(found.linear[0] / found.factors[0] - 1) == pytest.approx(P / 200.0, rel=0.1)


def test_the_states_of_a_column_are_those_of_the_compressed_one():
    found = buckling(column(200.0, 60.0))
    tip = found.states[0].r[-1]
    assert tip == pytest.approx([LENGTH * (1 - found.factors[0] / 200.0), 0, 0], abs=1e-6)
    shape = found.shapes[0][1:, 1:3]
    x = found.states[0].r[1:, 0] / tip[0]
    wave = np.linalg.norm(shape, axis=1) / np.linalg.norm(shape[-1])
    assert wave == pytest.approx(1 - np.cos(np.pi / 2 * x), abs=1e-6)


@pytest.mark.parametrize(
    ("element", "order", "numbers"),
    [("se3", 2, (8, 16, 32)), ("relative(2)", 4, (4, 8, 16)), ("lagrange(3)", 6, (3, 6, 9))],
)
def test_buckling_loads_have_the_order_of_the_element(element, order, numbers):
    wanted = critical(200.0, 60.0, np.pi / 2 / LENGTH)
    errors = [abs(buckling(column(200.0, 60.0, n=n, element=element)).factors[0] - wanted) for n in numbers]
    assert observed_order([1 / n for n in numbers], errors) == pytest.approx(order, abs=0.3)


def test_a_column_buckles_under_its_own_weight_at_greenhills_load():
    """m g L^3/EI = (9/4) j^2, j the first zero of the Bessel function of order -1/3 (Greenhill 1881)."""
    j = brentq(lambda x: jv(-1 / 3, x), 1.0, 2.5, xtol=1e-14)
    wanted = 9 / 4 * j * j * 3.0 / (1.5 * LENGTH**3)
    assert wanted == pytest.approx(7.8373474 * 3.0 / (1.5 * LENGTH**3), rel=1e-7)
    # lumped weights of order 8 in the mesh
    assert buckling(column(3e7, 3e7, load=0.0, gravity=1.0)).factors[0] == pytest.approx(wanted, rel=2e-6)
    alone = buckling(column(3e7, 3e7)).factors[0]
    pressed = buckling(column(3e7, 3e7, load=0.5 * alone, gravity=1.0), constant=["press"]).factors[0]
    assert 0.4 * wanted < pressed < 0.55 * wanted
    # the same pair of loads, the weight being held
    again = buckling(column(3e7, 3e7, gravity=pressed), constant="gravity").factors[0]
    assert again == pytest.approx(0.5 * alone, rel=1e-6)


def test_a_narrow_cantilever_tips_over_at_prandtls_load():
    """4.0126 sqrt(EI GJ)/L^2 (Prandtl 1899) where bending in the plane of the load costs much more."""
    section = Section.from_stiffness(
        EA=1e7, GA=1e7, GJ=2.0, EI=(1e6, 3.0), mass_per_length=1.0, inertia_per_length=0.01
    )
    model = Model("strip")
    rod = model.add_rod("rod", [(0, 0, 0), (LENGTH, 0, 0)], section, 24, element="relative(4)", up=(0, 0, 1))
    model.add_joint("root", "clamp", rod.start)
    model.add_force("load", rod.end, (0, 0, -1.0))
    assert buckling(model).factors[0] == pytest.approx(4.0126 * np.sqrt(6.0) / LENGTH**2, rel=5e-5)


def test_modes_grow_beyond_the_buckling_load_and_swing_before():
    EA, GA = 200.0, 60.0
    factor = buckling(column(EA, GA)).factors[0]

    def kinds(part):
        load = part * factor
        model = column(EA, GA, load=load, pressed=load)
        return modes(model, 3)

    assert kinds(0.999).stable
    beyond = kinds(1.001)
    assert beyond.kinds[:2] == (GROWS, GROWS)  # both planes
    # frequencies go to zero as the load does to its critical value: w^2 falls linearly there
    low = [kinds(part).omega[0] ** 2 for part in (0.99, 0.995)]
    assert low[0] / low[1] == pytest.approx(2.0, rel=0.02)


def test_follower_loads_and_models_without_loads_are_refused():
    model = column(200.0, 60.0, load=0.0)
    with pytest.raises(ModelError, match="no load grows"):
        buckling(model)
    model.add_force("jet", model.rods["rod"].end, (-1.0, 0, 0), following=True)
    with pytest.raises(ModelError, match="load 'jet' has no potential"):
        buckling(model)
    with pytest.raises(ModelError, match="there is no load 'pull'"):
        buckling(model, constant=["pull"])


def test_a_rod_that_is_pulled_buckles_where_shear_does_at_once():
    """Reissner's rod in tension: not below GA, where the shear of a turned section outweighs its stiffness."""
    assert buckling(column(2e3, 600.0, load=-1.0), nonlinear=False).factors[0] > 600.0


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_stresses_of_linear_buckling_are_those_of_the_linear_response(element):
    """In the shape without stress they pull as K does along the displacement: rods, springs, torsion springs."""
    section = Section.from_stiffness(
        EA=3e3, GA=2e3, GJ=50, EI=80, mass_per_length=2.0, inertia_per_length=(0.5, 0.3, 0.3)
    )
    model = Model("parts")
    rod = model.add_rod("rod", lambda s: (s, 0.2 * s * s, 0.1 * s), section, n_elements=4, element=element)
    body = model.add_body("body", Box(0.3, 0.2, 0.1, density=100), position=(1.1, 0.3, 0.1))
    model.add_spring("string", model.ground.at((0, 1, 0)), body.at((0, 0.1, 0)), stiffness=40.0)
    model.add_spring("coil", body, rod.at(0.5), 7.0, along="rotation", axis=(0.6, 0, 0.8))
    built = model.build()
    x = np.random.default_rng(2).standard_normal((len(built.state.r), 6))
    x[0] = 0.0
    both = prestress.stressed(built.system, built.state, x, 1e-3)
    after, before = (tangents.forces(own, built.state, np.zeros(0)) for own in (both.after, both.before))
    pulled = after - before
    K = tangents.stiffness(energies_of(built.system, built.state), built.state, np.zeros(0))
    assert pulled == pytest.approx(K.times(x), abs=1e-8 * np.abs(pulled).max())


@pytest.mark.parametrize("n", [1, 2, 40])
def test_rigid_links_on_springs_buckle_at_the_closed_form(n):
    """P = 4 k/L sin^2(pi/(2 (2n + 1)) (2j - 1)): joints alone carry the load, and one link has one freedom."""
    many = min(n, 2)
    exact = [16.0 * np.sin(np.pi * (2 * j - 1) / (2 * (2 * n + 1))) ** 2 for j in range(1, many + 1)]
    found = buckling(links(n), many)
    assert found.linear == pytest.approx(exact, rel=1e-9)
    assert found.factors == pytest.approx(exact, rel=1e-9)


def test_loads_that_change_no_stiffness_are_said_to_make_nothing_buckle():
    model = links(1)
    model.loads.clear()
    model.add_force("across", model.bodies["bar 0"].at((0, 0, 0)), (0, 0, -1.0))  # along the hinge
    with pytest.raises(ModelError, match="its loads change no stiffness"):
        buckling(model)
    with pytest.raises(ModelError, match="n = 2 of a model with 1 freedoms; give at most 1"):
        buckling(links(1), 2)


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_the_stress_of_a_law_is_that_of_its_tangent_where_the_rod_stands(element):
    """Along a straight rod that is stretched already nothing but the law resists: K is its tangent there."""
    section = Section.from_stiffness(
        EA=3e3, GA=2e3, GJ=50, EI=80, mass_per_length=2.0, inertia_per_length=(0.5, 0.3, 0.3)
    ).with_law("stiffening", strain=0.2)
    model = Model("stretched")
    ends = [(0, 0, 0), (1.2, 0, 0)]
    model.add_rod("rod", ends, section, 4, element=element, stress_free=[(0, 0, 0), (1, 0, 0)])
    built = model.build()
    x = np.zeros((len(built.state.r), 6))
    x[1:, 0] = 1e-3 * np.random.default_rng(2).standard_normal(len(x) - 1)
    both = prestress.stressed(built.system, built.state, x, 1e-3)
    after, before = (tangents.forces(own, built.state, np.zeros(0)) for own in (both.after, both.before))
    K = tangents.stiffness(energies_of(built.system, built.state), built.state, np.zeros(0)).times(x)
    assert after - before == pytest.approx(K, abs=1e-7 * np.abs(K).max())
    # not that of the unstretched rod: N = EA Gamma (1 + (Gamma/strain)^2)
    stretch = np.diff(x[1:3, 0])[0] * 4.0
    if element == "se3":
        assert (before - after)[1, 0] == pytest.approx(3e3 * (1 + 3 * (0.2 / 0.2) ** 2) * stretch, rel=1e-7)


def loosely(kind):
    """Models that have no equilibrium from which their loads could make them buckle."""
    model = Model(kind, gravity=(0, 0, -9.81 * (kind == "upright")))
    if kind in ("hanging loose", "adrift"):
        model = column(2e3, 600.0, n=8)
        model.joints.clear()
        if kind == "hanging loose":
            model.add_joint("foot", "spherical", model.ground, model.rods["rod"].start)
        return model
    if kind == "too heavy":
        return column(2e5, 2e5, gravity=30.0)
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


@pytest.mark.parametrize("nonlinear", [True, False])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "rail",
            r"no stiffness holds: body 'block' moves along \(1, 0, 0\); hold it by a joint, a spring or a drive",
        ),
        (
            "hanging loose",
            r"there are 3 motions that no joint and no stiffness holds: of rod 'rod', node .*; hold it by",
        ),
        (
            "adrift",
            r"rod 'rod': nothing joins it to the ground, and load 'press' acts on it.*; hold it by a joint",
        ),
        (
            "upright",
            r"unstable before its loads grow: body 'bar' turns about \(0, 1, 0\).*leave out what is `constant`",
        ),
        (
            "too heavy",
            r"model 'column' is unstable before its loads grow: rod 'rod', node \d+ .*hold it there",
        ),
    ],
)
def test_what_cannot_buckle_as_it_stands_is_told_with_the_part_and_the_cure(kind, words, nonlinear):
    with pytest.raises(ModelError, match=words):
        buckling(loosely(kind), constant=["gravity"], nonlinear=nonlinear)


@pytest.mark.parametrize("nonlinear", [True, False])
def test_loads_that_pull_are_told_to_make_nothing_buckle(nonlinear, monkeypatch):
    """Links have no shear that could give way, a rod with much of it takes no factor that could be reached: not looked for."""
    model = links(3)
    model.loads.clear()
    model.add_force("pull", model.bodies["bar 2"].at((0.25, 0, 0)), (1.0, 0, 0))
    with pytest.raises(
        ModelError, match="load 'pull' do not make it buckle, only minus these might: they pull; turn"
    ):
        buckling(model, nonlinear=nonlinear)
    pulled = column(2e3, 1e5, load=-1.0, n=4)
    if nonlinear:
        linearised, linear = [], Loaded.linear
        monkeypatch.setattr(Loaded, "linear", lambda self, *at: linearised.append(at) or linear(self, *at))
        with pytest.warns(
            UserWarning,
            match="linear buckling alone; on the path from load factor zero no critical point is near there, where the "
            "linear path has moved by 50 times",
        ):
            buckling(pulled)
        assert len(linearised) < 10


def test_the_fill_of_buckling_grows_with_the_number_of_elements(monkeypatch):
    """Shapes that are held have full rows; as pivots these would fill the factors: 16 times at 4 times the elements."""
    fill = []

    def counting(matrix, **options):
        factors = sparse_lu(matrix, **options)
        fill.append(factors.nnz)
        return factors

    sparse_lu, most = saddle.sparse_lu, []
    monkeypatch.setattr(saddle, "sparse_lu", counting)
    for n in (60, 240):
        fill.clear()
        found = buckling(column(200.0, 60.0, n=n, element="se3"))
        assert found.factors[0] == pytest.approx(critical(200.0, 60.0, np.pi / 2 / LENGTH), rel=1.0 / n**2)
        most.append(max(fill))
    assert most[1] < 5.0 * most[0]


@pytest.mark.parametrize("stiffness", [0.0, 1e-13, 1e-6, 1.0])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_equations_with_full_rows_are_solved_next_to_where_the_rest_is_singular(k, stiffness):
    """K has k motions of this stiffness, and the full rows hold them; three other unknowns are tied."""
    rng, n, m = np.random.default_rng(k), 40, 3
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    G, motions = np.zeros((m, n)), np.zeros((k, n))
    G[:, n // 2 :], motions[:, : n // 2] = rng.standard_normal((m, n // 2)), rng.standard_normal((k, n // 2))
    motions = np.linalg.qr(motions.T)[0].T
    onto = np.eye(n) - motions.T @ motions
    K = onto @ Q @ np.diag(np.linspace(1e3, 1e5, n)) @ Q.T @ onto + stiffness * motions.T @ motions
    B = motions * np.linspace(1.0, 3.0, n)
    matrix = np.zeros((n + m + k, n + m + k))
    matrix[:n, :n], matrix[n:, :n] = K, np.vstack([G, B])
    matrix[:n, n:] = matrix[n:, :n].T
    right = rng.standard_normal((n + m + k, 2))
    right[:n] *= 1e3
    exact = np.linalg.solve(matrix, right)
    own = Bordered(scipy.sparse.csr_matrix(K), scipy.sparse.csr_matrix(G), B, motions)
    found = np.concatenate(own.refined(right[:n], right[n:]))
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-9 * np.abs(exact).max())
    one = own.solve(right[:n, 0], right[n:, 0])
    assert one == pytest.approx(exact[:n, 0], rel=1e-6, abs=1e-8 * np.abs(exact[:n, 0]).max())
    rough = Bordered(1.0001 * own._A, own._G, B, motions)  # a factorisation with an error of 1e-4
    rough._A = own._A
    errors = [
        np.abs(np.concatenate(solve(right[:n], right[n:])) - exact).max()
        for solve in (rough.reactions, rough.refined)
    ]
    assert errors[1] < 1e-3 * errors[0] + 1e-9 * np.abs(exact).max()
    alone = own.solve(right[:n])
    assert np.abs(np.vstack([G, B]) @ alone).max() < 1e-9 * np.abs(alone).max()


def test_equations_whose_full_rows_leave_a_motion_free_are_refused():
    """K does not resist motion 0, and the row is of motion 1."""
    K = scipy.sparse.diags_array(np.arange(6.0)).tocsr()
    row, motion = np.eye(6)[[1]], np.eye(6)[[0]]
    with pytest.raises(ModelError, match="the matrix is singular"):
        Bordered(K, scipy.sparse.csr_matrix((0, 6)), row, motion)


@pytest.mark.parametrize("nonlinear", [True, False])
def test_a_bar_in_tension_is_said_to_be_pulled(nonlinear):
    """Its factor is near GA, or where the linear path has long left the model."""
    with pytest.warns(DoubtfulModelWarning, match=r"the loads stretch its rods: the factor .* near GA"):
        found = buckling(column(2e4, 1e4, load=-1.0, n=8, element="se3"), nonlinear=nonlinear)
    assert found.factors[0] > 1e4


def test_a_bar_in_tension_is_said_to_be_pulled_however_little_it_is_strained():
    """GA is a twentieth of EA: 5 % are no doubt of their own."""
    with pytest.warns(DoubtfulModelWarning, match="the loads stretch its rods") as told:
        buckling(column(2e5, 1e4, load=-1.0, n=8, element="se3"), nonlinear=False)
    assert len(told) == 1
    assert "stretch and shear come to" not in str(told[0].message)


def doubts(model, **more):
    """What is said of strains at the factors of a model."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = buckling(model, **more)
    return found, [str(own.message) for own in told if own.category is DoubtfulModelWarning]


def test_loads_that_press_one_rod_and_pull_another_are_not_said_to_pull():
    model = column(3e3, 1e5, n=8)
    other = model.add_rod("other", [(0, 1, 0), (LENGTH, 1, 0)], model.rods["rod"].section, 8)
    model.add_joint("other root", "clamp", other.start)
    model.add_force("pull", other.end, (5.0, 0, 0))
    assert doubts(model)[1] == []


def test_higher_factors_are_doubted_too_but_only_the_first_is_told():
    """Of 1.85, 16.7 and 46.3, in either plane, over an EA of 25."""
    found, told = doubts(column(25.0, 1e4, n=12), n=5, nonlinear=False)
    assert len(told) == 1
    first = next(factor for factor in found.factors if factor > 2.5)
    assert f"at the factor {first:.6g}" in told[0]


def test_rods_whose_law_is_for_large_strains_are_not_doubted():
    section = Section.from_stiffness(
        EA=16.0, GA=1e4, GJ=2.0, EI=3.0, mass_per_length=1.5, inertia_per_length=0.01
    )
    model = Model("soft column")
    own = section.with_law("stiffening", strain=0.2)
    rod = model.add_rod("rod", [(0, 0, 0), (LENGTH, 0, 0)], own, 12)
    model.add_joint("foot", "clamp", rod.start)
    model.add_force("press", rod.end, (-1.0, 0, 0))
    found, told = doubts(model, nonlinear=False)
    assert found.factors[0] > 1.6
    assert told == []


def test_strains_of_constant_loads_count_with_those_of_the_factor():
    """Half of Euler's load is there before: of 11.6 % at the factor it adds 5.8 %."""
    model = column(16.0, 1e4, n=12)
    model.add_force("before", model.rods["rod"].end, (-0.925, 0, 0))
    told = doubts(model, constant=["before"], nonlinear=False)[1]
    assert len(told) == 1
    assert "stretch and shear come to 0.1" in told[0]


@pytest.mark.parametrize("nonlinear", [True, False])
@pytest.mark.parametrize(("EA", "warns"), [(25.0, False), (16.0, True)])
def test_a_factor_that_strains_rods_by_more_than_a_tenth_is_doubted(EA, warns, nonlinear):
    """Euler's load of this column is 1.85: it is compressed by 7.4 % and 11.6 %, linearly."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        buckling(column(EA, 1e4, n=12), nonlinear=nonlinear)
    doubts = [str(own.message) for own in told if own.category is DoubtfulModelWarning]
    assert [("at the factor" in own and "stretch and shear come to 0.1" in own) for own in doubts] == [
        True
    ] * warns


def test_a_strip_that_tips_over_is_not_said_to_be_pulled():
    """Its load bends it; along it there is tension only where it is bent already."""
    section = Section.from_stiffness(
        EA=1e7, GA=1e7, GJ=2.0, EI=(1e6, 3.0), mass_per_length=1.0, inertia_per_length=0.01
    )
    model = Model("strip")
    rod = model.add_rod("rod", [(0, 0, 0), (LENGTH, 0, 0)], section, 8, up=(0, 0, 1))
    model.add_joint("root", "clamp", rod.start)
    model.add_force("load", rod.end, (0, 0, -1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        buckling(model)
