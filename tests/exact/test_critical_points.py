"""Bifurcations and limit points: state, factor and shape are consistent; every part that carries a load
contributes its stress.
"""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

from discretization.interaction_groups import Role, groups_of, registered_kinds
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import is_dissipation
from discretization.linearisation.saddle_point import SaddlePointSolver
from rodsim import Box, Model, Section, SpringLaw, buckling, measures
from rodsim.validation.buckling_loads import FRAME, frame
from rodsim.warnings import LinearFactorWarning
from tests.support.buckling import LENGTH, critical, links
from tests.support.user_kinds import Spring

STIFF, SIDE, HIGH = 1e5, 100.0, 1.0


def half_spring(model, name, a, b, k=STIFF / 2, l0=HIGH):
    model.add_spring(name, a, b, k, l0)


def user_kind_spring(model, name, a, b, k=STIFF / 2, l0=HIGH):
    """A spring as a user-defined kind: only its value and dual are known."""
    model.add_interaction(name, Spring, a, b, k=k, l0=l0)


def expression_spring(model, name, a, b, k=STIFF / 2, l0=HIGH):
    model.add_energy(name, "k*(l - l0)**2/2", {"l": measures.distance(a, b)}, k=k, l0=l0)


def half_law(model, name, a, b):
    law = SpringLaw.polynomial([-STIFF / 2 * HIGH, STIFF / 2], reach=5.0)
    model.add_spring(name, a, b, law=law)


def half_displacement(model, name, a, b):
    law = SpringLaw.polynomial([-STIFF / 2 * HIGH, STIFF / 2], reach=5.0)
    model.add_spring(name, a, b, law=law, along="axis", axis=(0, 0, 1))


def half_bushing(model, name, a, b):
    along, rest = np.zeros(6), np.zeros(6)
    along[2], rest[2] = STIFF / 2, HIGH
    model.add_bushing(name, a, b, stiffness=along, rest=rest)


def half_coil(model, name, a, b):
    model.add_spring(name, a, b, STIFF / 2, along="rotation", axis=(0, 1, 0))


def half_angle(model, name, a, b):
    model.add_spring(
        name, a, b, law=SpringLaw.polynomial([0.0, STIFF / 2], reach=1.0), along="rotation", axis=(0, 1, 0)
    )


def half_turning_bushing(model, name, a, b):
    about = np.zeros(6)
    about[4] = STIFF / 2
    model.add_bushing(name, a, b, stiffness=about, at=(0, 0, 0))


ALONG = (half_spring, half_law, half_displacement, half_bushing)
ABOUT = (half_coil, half_angle, half_turning_bushing)


def strut(halves):
    """Two parts that slide in each other, upright on a hinge, with a side spring and the load at the top.

    halves: functions that add the two springs between the parts.
    """
    model = Model("strut")
    foot = model.add_body("foot", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, 0))
    head = model.add_body("head", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, HIGH))
    model.add_joint("hinge", "revolute", model.ground, foot, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("slide", "prismatic", foot, head, at=(0, 0, HIGH), axis=(0, 0, 1))
    for number, half in enumerate(halves):
        half(model, f"half {number}", foot.at((0, 0, 0)), head.at((0, 0, 0)))
    model.add_spring("side", model.ground.at((-50, 0, HIGH)), head.at((0, 0, 0)), stiffness=SIDE)
    model.add_force("push", head.at((0, 0, 0)), (0, 0, -1.0))
    return model


def crank(halves):
    """A bar on a hinge with springs against its rotation; the load at its end is oblique, so that they carry
    part of it.
    """
    model = Model("crank")
    bar = model.add_body("bar", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
    model.add_joint("hinge", "revolute", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    for number, half in enumerate(halves):
        half(model, f"half {number}", model.ground.at((0, 0, 0)), bar.at((-0.5, 0, 0)))
    model.add_force("push", bar.at((0.5, 0, 0)), (-0.8, 0, -0.6))
    return model


def pairs(halves):
    return [(first, second) for k, first in enumerate(halves) for second in halves[k:]]


def named(value):
    return "-".join(half.__name__.removeprefix("half_") for half in value)


@pytest.mark.parametrize(
    "halves",
    [
        *pairs(ALONG),
        (user_kind_spring, half_spring),
        (user_kind_spring, user_kind_spring),
        (user_kind_spring, expression_spring),
    ],
    ids=named,
)
def test_strut_of_two_springs_buckles_at_one_load_for_all_kinds(halves):
    """P = k_side L."""
    assert buckling(strut(halves), nonlinear=False).linear[0] == pytest.approx(SIDE * HIGH, rel=1e-9)


def test_strut_buckles_at_the_load_of_its_shortened_length():
    """P = k_side (L - P/k), up to (P/k)^2/100, which is due to the pull of the side spring."""
    result = buckling(strut([half_spring, half_law]))
    assert result.factors[0] == pytest.approx(SIDE * HIGH / (1 + SIDE * HIGH / STIFF), rel=1e-4)
    assert result.linear[0] == pytest.approx(SIDE * HIGH, rel=1e-9)
    # the side spring pulls it along the critical shape: the straight state is not an equilibrium, so there is no bifurcation
    assert result.kinds == ("limit point",)


@pytest.mark.parametrize("halves", pairs(ABOUT), ids=named)
def test_crank_joint_carries_the_load_left_by_springs_of_all_kinds(halves):
    """K(f) = k - 0.8 f L; if the stress of a spring is neglected, the joint carries its moment, and K' is wrong."""
    assert buckling(crank(halves), nonlinear=False).linear[0] == pytest.approx(STIFF / 0.8, rel=1e-9)


def test_struts_and_cranks_cover_all_strain_energies():
    kinds = {
        element.group.kind.name
        for model in (strut(ALONG), crank(ABOUT))
        for element in groups_of(model.build().system, None, Role.ENERGY)
    }
    energies = [
        kind
        for kind in registered_kinds()["others"]
        if not (is_dissipation(kind) or kind.works or kind.one_sided or kind.rows)
    ]
    assert kinds == {kind.name for kind in energies}


def test_inactive_limit_carries_no_load():
    model = strut([half_spring, half_spring])
    parts = model.bodies["foot"].at((0, 0, 0)), model.bodies["head"].at((0, 0, 0))
    model.add_limit("stop", *parts, stiffness=1e7, width=1e-3, lower=0.5, of="length")
    assert buckling(model, nonlinear=False).linear[0] == pytest.approx(SIDE * HIGH, rel=1e-9)


@pytest.mark.parametrize("halves", [*pairs(ALONG[1:])[::3], *pairs(ABOUT[1:])], ids=named)
def test_the_stress_of_an_energy_follows_from_its_dual(halves, monkeypatch):
    """Kinds of the package without their declared strains: on the strut, or with a joint that carries the rest."""
    from discretization import interaction_table

    make, expected = (strut, SIDE * HIGH) if halves[0] in ALONG else (crank, STIFF / 0.8)
    built = make(halves).build()
    monkeypatch.setattr(
        interaction_table, "INTERACTIONS", tuple(kind._replace(strain_energy=None) for kind in INTERACTIONS)
    )
    assert buckling(built, nonlinear=False).linear[0] == pytest.approx(expected, rel=1e-9)


def truss(high, stiffness=1e4, bar=half_spring):
    """Two bars that meet at a head above their feet, 1 m to both sides; the head sinks."""
    model = Model("truss")
    head = model.add_body("head", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, high))
    model.add_joint("guide", "prismatic", model.ground, head, at=(0, 0, high), axis=(0, 0, 1))
    for side in (-1, 1):
        ends = model.ground.at((side, 0, 0)), head.at((0, 0, 0))
        bar(model, f"bar {side}", *ends, stiffness, np.hypot(1.0, high))
    model.add_force("push", head.at((0, 0, 0)), (0, 0, -1.0))
    return model


@pytest.mark.parametrize(
    ("high", "bar"),
    [*((high, half_spring) for high in (0.01, 0.2, 1.5)), (0.2, user_kind_spring), (0.2, expression_spring)],
)
def test_a_truss_snaps_through_at_the_exact_limit_load(high, bar):
    """P = 2 k z (l0/l - 1), dP/dz = 0 where l^3 = l0 (von Mises 1923); linear buckling errs by a factor of
    five or more.
    """
    result = buckling(truss(high, bar=bar))
    l0 = np.hypot(1.0, high)
    z = np.sqrt(l0 ** (2 / 3) - 1.0)
    assert result.kinds == ("limit point",)
    # bars of 1 m are as long as round-off says: 1e-16 over the change of their length, high^2/2
    assert result.factors[0] == pytest.approx(2e4 * z * (l0 ** (2 / 3) - 1.0), rel=1e-10)
    assert result.states[0].r[1, 2] == pytest.approx(z, rel=1e-7)  # the load is flat there: root of round-off
    assert result.linear[0] > 5 * result.factors[0]
    assert result.linear[0] == pytest.approx(2e4 * high**3, rel=1e-8)  # bars of constant direction


def test_two_linear_factors_to_one_point_are_reported_once():
    from rodsim.statics import linear_buckling as stability

    built = truss(0.2).build()
    loaded = stability._loaded(built, (), 0.0)
    lin = loaded.linear(built.state, 0.0)
    saddle = SaddlePointSolver(lin.K, lin.G)
    direction = lin.of_frames(saddle.solve(loaded.rate(lin)))
    factors, shapes = stability._linear(loaded, lin, saddle, direction, 1)
    twice = np.append(factors, 1.1 * factors), np.concatenate([shapes, -2.0 * shapes])
    points, led = stability._refined(loaded, lin, *twice, 2)
    assert [point.kind for point in points] == ["limit point"]
    assert led == pytest.approx(factors)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0.3, 0.5, -0.7)])
@pytest.mark.parametrize(("EA", "GA"), [(3e6, 3e6), (200.0, 60.0)])
def test_double_bifurcations_are_reported_twice_with_two_shapes(axis, EA, GA):
    """In an oblique column round-off of EA excites both shapes at once."""
    axis, foot = np.array(axis) / np.linalg.norm(axis), np.array([3.0, -2.0, 1.0])
    section = Section.from_stiffness(
        EA=EA, GA=GA, GJ=2.0, EI=3.0, mass_per_length=1.5, inertia_per_length=(0.02, 0.01, 0.01)
    )
    model = Model("column")
    rod = model.add_rod(
        "rod", [foot, foot + LENGTH * axis], section, 24, element="relative(4)", mass="lumped"
    )
    model.add_joint("foot", "clamp", rod.start)
    model.add_force("press", rod.end, -axis)
    result = buckling(model, 2)
    assert result.kinds == ("bifurcation", "bifurcation")
    assert result.factors == pytest.approx(2 * [critical(EA, GA, np.pi / 2 / LENGTH)], rel=1e-6)
    tips = result.shapes[:, -1, :3] / np.linalg.norm(result.shapes[:, -1, :3], axis=1)[:, None]
    assert abs(tips[0] @ tips[1]) < 0.1
    assert np.abs(tips @ axis).max() < 1e-3


def test_buckling_load_of_a_frame_does_not_depend_on_round_off():
    """At the factors the path is singular: a plain iteration there would follow round-off."""
    from rodsim.validation import buckling_loads as stability

    expected = frame(0)
    model = {}

    def perturbed_buckling(built_model, n):
        built = built_model.build()
        noise = 1.0 + 1e-15 * np.random.default_rng(len(model)).standard_normal(built.state.r.shape)
        model[built_model.name, len(model)] = buckling(
            built._replace(state=built.state._replace(r=built.state.r * noise)), n
        )
        return list(model.values())[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stability, "buckling", perturbed_buckling)
        for _ in range(2):
            assert frame(0) == pytest.approx(expected, rel=1e-7)  # EA/EI = 3e7/L^2
    assert list(expected.values()) == pytest.approx(list(FRAME.values()), rel=5e-4)  # of second order


def test_linear_factor_is_reported_if_there_is_no_critical_point():
    """A column under a side load bends from the start: its links carry more and more load."""
    model = links(2)
    model.add_force("side", model.bodies["bar 1"].at((0, 0, 0)), (0, 0.5, 0))
    with pytest.warns(LinearFactorWarning, match="is that of linear buckling alone; on the path"):
        result = buckling(model, 2)
    exact = [16.0 * np.sin(np.pi * (2 * j - 1) / 10) ** 2 for j in (1, 2)]
    assert result.linear == pytest.approx(exact, rel=1e-9)
    assert result.factors[0] == result.linear[0]
    assert result.kinds[0].startswith("linear: on the path from load factor zero no critical point was found")


def test_distributed_loads_grow_with_the_load_factor():
    """Greenhill's column, 7.8373474 EI/(q L^3), of second order."""
    section = Section.from_stiffness(
        EA=1e5, GA=1e5, GJ=1.0, EI=1.0, mass_per_length=1.0, inertia_per_length=1.0
    )
    model = Model("stack")
    rod = model.add_rod("rod", [(0, 0, 0), (2, 0, 0)], section, 16)
    model.add_joint("foot", "clamp", rod.start)
    model.add_distributed_load("weight", rod, (-1.0, 0, 0))
    assert buckling(model).factors[0] == pytest.approx(7.8373474 / 8, rel=1e-3)


def test_redundant_rows_do_not_change_the_solution():
    rng = np.random.default_rng(4)
    A = rng.standard_normal((12, 12))
    A, G = csr_matrix(A @ A.T + np.eye(12)), csr_matrix(rng.standard_normal((3, 12)))
    b = rng.standard_normal(12)
    once, twice = (
        SaddlePointSolver(A, G).solve(b),
        SaddlePointSolver(A, vstack([G, G[:2], G[1:]]).tocsr()).solve(b),
    )
    assert np.abs(G @ once).max() < 1e-13
    assert twice == pytest.approx(once, abs=1e-6)
