"""Rods under every integrator: each conserves exactly its declared invariants for three models; order and matrix."""

from functools import cache

import numpy as np
import pytest

from discretization.time import integrate as marching
from discretization.time.integrators import parse
from rodsim import Model, ModelError, Section, simulate
from rodsim.papers import rod_invariants as rods
from rodsim.papers.scheme_properties import CHARTS, COLUMNS, declared_order
from rodsim.papers.scheme_properties import promised as promises
from tests.support.newton_matrices import matrix_twice

CONSERVED_TOLERANCE = (
    1e-11  # round-off of about a dozen steps of rods whose stiffness is 1e4 times the driving forces
)
CHANGED_TOLERANCE = 2e-11  # other quantities change by more
SLOW = ("order=", "VI-S director", "VI-B(0.5", "mG", "GL-SPARK(2) director", "Lobatto", "GL-SPARK(3)")
SCHEMES = [(name, chart) for name, chart, _ in rods.ROWS if chart != "cayley"]
MIDPOINT = ("MPL", "IMS")  # conserve quadratic invariants of unconstrained systems
SINGULAR = [name for name, chart in SCHEMES if chart == "singular"]


def marked(*values, name):
    slow = any(name_part in name for name_part in SLOW)
    return pytest.param(*values, id=name, marks=pytest.mark.slow if slow else ())


def rows():
    for model in rods.MODELS:
        for integrator, chart, _ in rods.ROWS:
            yield marked(model, integrator, chart, name=f"{model} {integrator} {chart}")


@pytest.mark.parametrize(("model", "integrator", "chart"), list(rows()))
def test_scheme_conserves_exactly_its_declared_invariants_of_rods(model, integrator, chart):
    measured = rods.measure(model, integrator, chart)
    promised = promises(integrator, chart)
    values = {invariant: getattr(measured, column) for invariant, column in COLUMNS.items()}
    assert not {
        invariant: values[invariant] for invariant in promised if values[invariant] > CONSERVED_TOLERANCE
    }
    unpromised = set(values) - promised
    if model == "spaghetti":  # no joints
        unpromised -= {"position", "velocity"} | ({"angular momentum"} if integrator in MIDPOINT else set())
    assert not {
        invariant: values[invariant] for invariant in unpromised if values[invariant] < CHANGED_TOLERANCE
    }


@pytest.mark.slow
@pytest.mark.parametrize("k", rods.GLOBAL)
def test_bg_conserves_only_linear_momentum_of_rods_and_converges(k):
    measured = rods.measure_global("spaghetti", k, (1 / 100, 1 / 200))
    assert measured.linear < CONSERVED_TOLERANCE
    assert min(measured.hamiltonian, measured.angular, measured.position) > CHANGED_TOLERANCE
    assert measured.order == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize(
    ("integrator", "chart", "steps"),
    [marked(*row, name=f"{row[0]} {row[1]}") for row in rods.ROWS],
)
def test_all_schemes_converge_to_one_rod_motion_at_their_order(integrator, chart, steps):
    """Positions and velocities are compared."""
    orders = rods.observed_orders("chain", integrator, chart, steps[1:])
    assert orders == pytest.approx([declared_order(integrator)] * 2, abs=0.12)


@cache
def end_state(integrator, h, chart=None):
    """The chain whose rod has a mass that couples its nodes, after 0.08 s."""
    return rods.positions(simulate(rods.chain(mass="mean"), 0.08, h, integrator, chart=chart))


@pytest.mark.parametrize("integrator", SINGULAR)
def test_schemes_not_inverting_the_mass_accept_consistent_masses(integrator):
    scheme = parse(integrator)
    errors = [
        np.abs(end_state(integrator, h, "quaternion") - end_state("em6-ggl", 0.0005)).max()
        for h in (0.005, 0.0025)
    ]
    assert 2 ** (0.8 * scheme.order) < errors[0] / errors[1] < 2 ** (1.2 * scheme.order)


@pytest.mark.parametrize(("integrator", "chart"), SCHEMES)
def test_colouring_covers_every_entry_of_the_newton_matrix(integrator, chart, monkeypatch):
    """Compare with all columns one by one; with the band a step is the same."""
    scheme, system = parse(integrator).fitted(rods.chain().mechanical_system(CHARTS.get(chart, chart)))
    coloured, matrix, x, step = matrix_twice(scheme, system, monkeypatch)
    size = np.abs(matrix).max(axis=1, keepdims=True)
    assert np.abs((coloured - matrix) / size).max() < 1e-13
    monkeypatch.setattr(marching, "LEAST_BAND", 1)
    banded = step().solve(system.q0, system.momentum(system.q0, system.v0), system.v0)
    assert banded == pytest.approx(x, rel=1e-9, abs=1e-9 * np.abs(x).max())


@cache
def free_rod(n_elements, chart):
    """A free rod in a chart."""
    model = Model("rod")
    section = Section.from_stiffness(
        EA=1e3, GA=1e3, GJ=10, EI=10, mass_per_length=1.0, inertia_per_length=(0.2, 0.2, 0.2)
    )
    model.add_rod("rod", [(0, 0, 0), (3, 1, 0)], section, n_elements, mass="lumped")
    return model.mechanical_system(CHARTS.get(chart, chart))


@pytest.mark.parametrize(("integrator", "chart"), SCHEMES)
def test_number_of_colours_and_bandwidth_do_not_grow_with_the_rod(integrator, chart, monkeypatch):
    monkeypatch.setattr(marching, "LEAST_BAND", 1)
    sizes = []
    for n_elements in (12, 24):
        pattern = marching.solver_for(*parse(integrator).fitted(free_rod(n_elements, chart)))[0].pattern
        sizes.append((len(pattern.colours.start), pattern.band))
    assert sizes[1][0] <= sizes[0][0] + 2
    assert sizes[1][1] <= 1.1 * sizes[0][1]


def test_scheme_inverting_a_consistent_mass_is_rejected_with_a_remedy():
    with pytest.raises(ModelError, match=r"couples all nodes of the rods.*mass='lumped', or use EML-kappa"):
        simulate(rods.chain(mass="mean"), 0.1, 0.01, "GGL-EM", chart="director")
