"""Models with rod elements of several nodes: in `em`, in the charts, in files and scenes."""

import warnings
from functools import cache

import numpy as np
import pytest

from discretization.space.laws import LAWS
from discretization.space.rod_elements import BY_NUMBER, number_of
from discretization.state_measures import element_states, energies, momenta
from discretization.system import fingerprint
from discretization.time.stepper import Stepper
from rodsim import Box, Material, Model, ModelError, Result, Section, audit, simulate
from rodsim.building.meshing import node_fractions
from rodsim.scenes.model_from_scene import load
from rodsim.warnings import InitialVelocityWarning
from tests.support.rods import SECTION, SPANS, free_rod, soft


@pytest.mark.parametrize("mass", ["lumped", "mean"])
@pytest.mark.parametrize("element", SPANS)
def test_em_conserves_energy_and_momenta(element, mass):
    result = simulate(free_rod(element, mass=mass), 0.4, 0.01, progress=False)
    E = result.audit_column("total")
    assert np.ptp(E) < 1e-13 * np.abs(E).max()
    for name in ("Px", "Py", "Pz", "Lx", "Ly", "Lz"):
        assert np.ptp(result.audit_column(name)) < 1e-12
    assert result.audit_column("newton_mean")[1:].mean() < 6
    assert np.ptp(result.audit_column("elastic")) > 0.1 * E.max()


@pytest.mark.parametrize("element", SPANS)
def test_viscous_rod_dissipation_equals_its_energy_loss(element):
    result = simulate(free_rod(element, section=soft(0.01)), 0.3, 0.01, progress=False)
    E, lost = result.audit_column("total"), result.audit_column("dissipation")
    assert np.abs(E + lost - E[0]).max() < 1e-12 * E[0]
    assert np.all(np.diff(lost) > 0.0)
    assert lost[-1] > 0.05 * E[0]


@cache
def coarse_end(element, integrator, h, chart=None):
    rod = simulate(free_rod(element, 4, "lumped"), 0.02, h, integrator, chart=chart, progress=False).rod(
        "rod"
    )
    return rod.r[-1]


@pytest.mark.parametrize(
    ("integrator", "chart"), [("EML-kappa", None), ("GGL-EM", "director"), ("EM-G", "director")]
)
@pytest.mark.parametrize("element", SPANS)
def test_chart_schemes_compute_the_same_rod_motion(element, integrator, chart):
    """Results differ from `em` by the step error: a fourth with half of the step."""
    exact = coarse_end(element, "em6", 0.001)
    errors = [np.abs(coarse_end(element, integrator, h, chart) - exact).max() for h in (0.002, 0.001)]
    assert 3.0 < errors[0] / errors[1] < 5.0


@pytest.mark.parametrize("element", ["lagrange(3)", "relative(2)"])
def test_viscous_rod_motion_is_equal_in_the_charts(element):
    model = free_rod(element, 4, "lumped", soft(0.01))
    ends = [
        simulate(model, 0.1, h, name, progress=False).rod("rod").r[-1]
        for h, name in ((0.0025, "em"), (0.0025, "EML-kappa"))
    ]
    assert np.abs(ends[0] - ends[1]).max() < 2e-5


@pytest.mark.parametrize("element", SPANS)
def test_file_contains_everything_its_audit_needs(element, tmp_path):
    model = free_rod(element)
    simulate(model, 0.1, 0.01, output=tmp_path / "rod.rodsim.vtkhdf", progress=False)
    result = Result.load(tmp_path / "rod.rodsim.vtkhdf")
    assert audit(result).ok
    assert result.layout.system.spans.kind[0] == number_of("rod", element)
    assert fingerprint(result.layout.system) == fingerprint(model.build().system)
    assert result.rod("rod").K.shape[1] == len(result.rod("rod").arclength) - 1


@pytest.mark.parametrize("element", ["lagrange(2)", "relative(4)"])
def test_strains_and_energy_are_those_of_the_quadrature_points(element):
    model = free_rod(element, stress_free=[(0, 0, 0), (1.2, 0, 0)])
    built = model.build()
    strain, stress = element_states(built.system, built.state)
    points = built.system.rods.points
    assert points.weight.sum() == pytest.approx(model.rods["rod"].stress_free.length, rel=1e-14)
    elastic = 0.5 * np.sum(points.weight * np.sum(strain * stress, axis=1))
    assert energies(built.system, built.state).elastic == pytest.approx(elastic, rel=1e-13)
    assert stress == pytest.approx(strain * [3e3, 2e3, 2e3, 50, 80, 60], rel=1e-13)


EXCESS = {"lumped": 2.0, "mean": 1.0, "consistent": 0.0}


@pytest.mark.parametrize("n_elements", [4, 12])
@pytest.mark.parametrize("mass", EXCESS)
@pytest.mark.parametrize("element", ["se3", *SPANS])
def test_rotary_inertia_of_a_straight_rod_is_exact_except_lumped_two_node(element, mass, n_elements):
    """Lumped two-node rods have m L^2/12 (1 + excess/n^2), here for 2 kg/m and 3 m; the inertia of the sections is exact."""
    excess = EXCESS[mass] if element in ("se3", "lagrange(1)", "midpoint") else 0.0
    section = Section.from_stiffness(
        EA=1, GA=1, GJ=1, EI=1, mass_per_length=2, inertia_per_length=(0.3, 0.1, 0.2)
    )
    model = Model("rod")
    motion = {"velocity": lambda s: (0, 3 * s - 1.5, 0), "angular_velocity": (0, 0, 1)}
    ends = [(-1.5, 0, 0), (1.5, 0, 0)]
    model.add_rod("rod", ends, section, n_elements, mass=mass, element=element, **motion)
    built = model.build()
    _, momentum = momenta(built.system, built.state)
    inertia = 2 * 3**3 / 12 * (1 + excess / n_elements**2) + 0.2 * 3
    assert momentum == pytest.approx([0, 0, inertia], abs=1e-12)
    assert energies(built.system, built.state).kinetic == pytest.approx(momentum[2] / 2, rel=1e-13)


@pytest.mark.parametrize(
    ("n_elements", "order", "nodes"), [(20, 2, 21), (21, 2, 23), (1, 4, 5), (8, 4, 9), (10, 3, 13)]
)
def test_n_elements_counts_intervals_between_nodes(n_elements, order, nodes):
    assert len(node_fractions(n_elements, [], False, order)) == nodes


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_anchors_lie_at_element_ends(order):
    fractions = node_fractions(12, [0.3, 0.31], False, order)
    assert {0.0, 0.3, 0.31, 1.0} <= set(fractions[::order])
    assert np.all(np.diff(fractions) > 0)


@pytest.mark.parametrize("element", SPANS)
def test_stress_free_closed_rod_stays_at_rest(element):
    def circle(s):
        return np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0

    model = Model("ring")
    model.add_rod("rod", circle, SECTION, 8, closed=True, element=element)
    result = simulate(model, 0.05, 0.01, progress=False)
    assert np.abs(result.rod("rod").r[-1] - result.rod("rod").r[0]).max() < 1e-12
    assert np.abs(result.rod("rod").K).max() < 1e-11


def test_unknown_element_is_rejected_by_name():
    with pytest.raises(
        ModelError, match=r"rod 'rod': element = 'cubic' is not known; choose one of se3, lagrange\(1\)"
    ):
        free_rod("cubic")


def test_section_leaving_a_node_massless_is_rejected_with_a_remedy():
    def section(s):
        return Section.from_stiffness(
            EA=1, GA=1, GJ=1, EI=1, mass_per_length=1e-3 + s**6, inertia_per_length=1.0
        )

    with pytest.raises(ModelError, match="a node has no mass; give more elements"):
        free_rod("relative(2)", 2, section=section).build()


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em4-ggl"])
@pytest.mark.parametrize("element", ["lagrange(3)", "relative(2)"])
def test_jointed_rods_with_consistent_masses_keep_the_invariants(element, integrator):
    model = free_rod(element, 4)
    body = model.add_body("ball", Box(0.2, 0.3, 0.4, density=50), position=(-0.3, 0.1, 0.2))
    model.add_joint("hip", "spherical", model.rods["rod"].start, body, at=(0, 0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InitialVelocityWarning)
        result = simulate(model, 0.2, 0.01, integrator, progress=False)
    E = result.audit_column("total")
    assert np.ptp(E) < 1e-12 * np.abs(E).max()
    for name in ("Px", "Py", "Pz", "Lx", "Ly", "Lz"):
        assert np.ptp(result.audit_column(name)) < 1e-11
    assert result.audit_column("constraint").max() < 1e-13
    if integrator != "em":
        assert result.audit_column("velocity_constraint").max() < 1e-12


def test_scene_selects_the_rod_element(tmp_path):
    text = """
name: rod
rods:
  - name: rod
    curve: [[0, 0, 0], [1, 0, 0]]
    section: {type: circular, radius: 0.01, material: {E: 1e7, nu: 0.3, density: 1000}, law: {type: softening, moment: 0.2}}
    n_elements: 6
    element: relative(2)
run: {t_end: 0.1, dt: 0.01}
"""
    path = tmp_path / "rod.yaml"
    path.write_text(text)
    spans = load(path).model.build().system.spans
    assert len(spans.kind) == 3
    assert BY_NUMBER[spans.kind[0]].word == "relative(2)"
    assert LAWS[spans.law[0]].word == "softening"
    assert spans.parameters[0, 0] == 0.2


@cache
def tip_after_fall(element, slenderness, n_elements):
    """Tip of a cantilever of radius `slenderness` that has fallen for 0.3 s; the ratio of its weight and bending stiffness is
    fixed.
    """
    material = Material(E=1e7 * (0.01 / slenderness) ** 2, nu=0.3, density=1000.0)
    model = Model("cantilever", gravity=(0, 0, -9.81))
    rod = model.add_rod(
        "rod", [(0, 0, 0), (1, 0, 0)], Section.circular(slenderness, material), n_elements, element=element
    )
    model.add_joint("clamp", "clamp", rod.start)
    return simulate(model, 0.3, 0.005, progress=False).rod("rod").r[-1, -1]


@pytest.mark.parametrize(
    ("element", "n_elements"),
    [
        ("lagrange(1)", 40),
        ("lagrange(2)", 20),
        ("lagrange(3)", 12),
        ("lagrange(4)", 12),
        ("relative(2)", 10),
        ("relative(4)", 8),
    ],
)
def test_thin_rods_do_not_lock(element, n_elements):
    errors = []
    for slenderness in (1e-2, 1e-3, 1e-5):
        exact = tip_after_fall("relative(4)", slenderness, 32)
        errors.append(np.linalg.norm(tip_after_fall(element, slenderness, n_elements) - exact))
    assert max(errors) < 3e-3
    assert max(errors[1:]) < 1.5 * errors[0]


@cache
def flexible_rod_positions(element, order, h):
    """Positions of a very flexible rod after 0.4 s."""
    limp = Section.from_stiffness(
        EA=30, GA=20, GJ=0.5, EI=(0.8, 0.6), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
    )
    built = free_rod(element, 4, section=limp).build()
    return Stepper(built.system, h, order).advance(built.state, 0, round(0.4 / h))[0].r


@pytest.mark.parametrize(("order", "h"), [(2, 1 / 200), (4, 1 / 100), (6, 1 / 50)])
@pytest.mark.parametrize("element", ["lagrange(3)", "relative(2)", "relative(4)"])
def test_em_and_its_compositions_have_their_declared_order(element, order, h):
    exact = flexible_rod_positions(element, 6, 1 / 400)
    errors = [np.abs(flexible_rod_positions(element, order, step) - exact).max() for step in (h, h / 2)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
@pytest.mark.parametrize("mass", ["lumped", "mean"])
def test_elastic_lumped_rods_are_stored_as_in_older_files(element, mass):
    for damped in (0.0, 1e-3):
        rods = free_rod(element, 4, mass, soft(damped)).build().system.rods
        for tables, name, had in (
            (rods.undamped(), "damping", damped),
            (rods.lumped(), "coupling", mass == "mean"),
        ):
            assert (tables is rods) == (not had)
            for table in tables:
                assert not getattr(table, name).any()
