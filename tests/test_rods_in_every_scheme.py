"""Rods under every integrator: what a scheme keeps of joined bodies it keeps of rods, and all converge to one motion."""

import numpy as np
import pytest

from discretization.time import integrate as marching
from discretization.time.implicit import evaluate_matrix
from discretization.time.integrators import parse
from discretization.time.pattern import pattern_of
from discretization.time.scheme import Step
from discretization.time.symplecticity import OneStep
from rodsim import Box, Model, ModelError, Section, integrate, simulate

# integrator, chart, whether the mass of the rod may couple its nodes
SCHEMES = [
    ("EML", "quaternion", True),
    ("REML", "quaternion", True),
    ("Null-EML", "quaternion", True),
    ("EML-kappa", "quaternion", True),
    ("MPL", "quaternion", True),
    ("EML", "director", True),
    ("IMS", "quaternion-gamma", False),
    ("EMS", "quaternion-gamma", False),
    ("EM-G", "director", False),
    ("VI-S", "director", False),
    ("VI-A(0.5)", "quaternion-gamma", False),
    ("VI-B(0.5, 0.5)", "director", False),
    ("GGL-EM", "director", False),
    ("GGL-EM", "quaternion-gamma", False),
    ("mG(1)", "director", False),
    ("mG(2, 2)", "director", False),
    ("GL-SPARK(1)", "quaternion-gamma", False),
    ("GL-SPARK(2)", "director", False),
    ("Lobatto-IIIA-B(3)", "quaternion-alpha", False),
    ("EML-kappa(order=4)", "quaternion", True),
]
T_END = 0.16
ROUND_OFF = 5e-12  # of some dozen steps of rods whose stiffness is 1e4 times what moves them
LOST = 1e-11  # what is not kept changes by more


def limb(mass="lumped"):
    """A free bent rod with a body welded to its end and another hanging on a joint off its axis; no loads."""
    model = Model("limb")
    section = Section.from_stiffness(
        EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
    )
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (0.7, 0.2, 0.1), (1.0, 0.9, 0)],
        section,
        n_elements=3,
        mass=mass,
        velocity=lambda s: (0.3 * s, -0.2, 1.5 * s * s),
        angular_velocity=(0.2, 0.5, -1.0),
    )
    foot = model.add_body("foot", Box(0.3, 0.2, 0.1, density=100), position=(1.1, 1.0, 0.1))
    model.add_joint("ankle", "weld", rod.end, foot)
    ball = model.add_body("ball", Box(0.2, 0.3, 0.4, density=50), position=(-0.3, 0.1, 0.2))
    model.add_joint("hip", "spherical", rod.start, ball, at=(0, 0, 0))
    model.add_spring("string", foot.at((0, 0.1, 0)), ball.at((0.1, 0, 0)), stiffness=40.0, length=1.0)
    return model


def kept(name, chart):
    """Whether energy and momenta stayed, by what the scheme promises of joined bodies."""
    run = integrate(limb().mechanical_system(chart), name, 0.01, T_END)
    moved = {s.name: np.ptp(run.momentum(s)) for s in run.system.symmetries}
    size = max(np.abs(run.momentum(s)).max() for s in run.system.symmetries)
    energy = run.generalised_energy()
    return {
        "linear momentum": max(moved[f"P{axis}"] for axis in "xyz") / size,
        "angular momentum": max(moved[f"L{axis}"] for axis in "xyz") / size,
        "generalised energy": np.ptp(energy) / energy[0],
        "position": run.position_residual().max(),
        "velocity": run.velocity_residual()[1:].max(),
    }


@pytest.mark.parametrize(("name", "chart", "coupled"), SCHEMES)
def test_a_scheme_keeps_of_rods_what_it_keeps_of_joined_bodies(name, chart, coupled):
    joined = parse(name).joined
    promised = joined.directors if chart == "director" else joined.quaternions
    found = kept(name, chart)
    for law, value in found.items():
        if law in promised:
            assert value < ROUND_OFF, law
        elif law in ("generalised energy", "angular momentum"):
            assert value > LOST, law


@pytest.fixture(scope="module")
def exact():
    """The foot's place by em6 with a small step, of both masses."""
    return {mass: end_of(simulate(limb(mass), T_END, 4e-3, "em6")) for mass in ("lumped", "mean")}


def end_of(result):
    return np.concatenate([result.rod("rod").r[-1].ravel(), result.body("foot").center_of_mass[-1]])


@pytest.mark.parametrize(("name", "chart", "coupled"), SCHEMES)
def test_all_schemes_converge_to_the_motion_of_em(name, chart, coupled, exact):
    """At their order: errors fall by at least 0.8 of it where h is halved."""
    mass = "mean" if coupled else "lumped"
    errors = [
        np.abs(end_of(simulate(limb(mass), T_END, h, name, chart=chart)) - exact[mass]).max()
        for h in (0.005, 0.0025)
    ]
    assert errors[1] < 1e-3
    assert errors[1] < errors[0] / 2 ** (0.8 * parse(name).order) or errors[1] < 1e-10


def matrix_of(system, scheme, pattern, one, x, state):
    """Entries of Newton's matrix as the march finds them."""
    q, p, v = (np.ascontiguousarray(part, complex) for part in state)
    step = Step(one.h, q, p, v, one.signal, scheme.options)
    solver = one.solver._replace(
        x=np.ascontiguousarray(x, complex), pattern=pattern, values=np.zeros(len(pattern.rows))
    )
    evaluate_matrix(scheme.residual, system.functions, system.data, step, one.work, solver, False)
    return solver.values


@pytest.mark.parametrize(("name", "chart", "coupled"), SCHEMES)
def test_no_entry_of_newtons_matrix_is_missed_by_its_colours(name, chart, coupled, monkeypatch):
    """Against all columns one by one; and with the band a step is the same."""
    system, scheme = limb().mechanical_system(chart), parse(name)
    scheme, marched = scheme.fitted(system)
    monkeypatch.setattr(marching, "LEAST_BAND", 10**9)
    signal = marching.signals_at(marched, scheme, np.zeros(1), 0.01)[0, 0]
    one = OneStep(marched, scheme, 0.01, signal)
    state = (system.q0, system.momentum(system.q0, system.v0), system.v0)
    x = one.solve(*state)
    matrix = one.derivative(x, state)
    pattern = pattern_of(scheme, marched, one.work)
    columns = np.repeat(np.arange(len(x)), np.diff(pattern.first))
    found = np.zeros(matrix.shape)
    banded = matrix_of(marched, scheme, pattern, one, x, state)
    found[pattern.rows, columns] = banded
    size = np.abs(matrix).max(axis=1, keepdims=True)
    assert np.abs((found - matrix) / size).max() < 1e-13
    monkeypatch.setattr(marching, "LEAST_BAND", 1)
    banded = OneStep(marched, scheme, 0.01, signal).solve(*state)
    assert banded == pytest.approx(x, rel=1e-9, abs=1e-9 * np.abs(x).max())


@pytest.mark.parametrize(("name", "chart", "coupled"), SCHEMES)
def test_colours_and_band_do_not_grow_with_the_rod(name, chart, coupled, monkeypatch):
    monkeypatch.setattr(marching, "LEAST_BAND", 1)
    sizes = []
    for n_elements in (12, 24):
        model = Model("rod")
        section = Section.from_stiffness(
            EA=1e3, GA=1e3, GJ=10, EI=10, mass_per_length=1.0, inertia_per_length=(0.2, 0.2, 0.2)
        )
        model.add_rod("rod", [(0, 0, 0), (3, 1, 0)], section, n_elements, mass="lumped")
        system, scheme = model.mechanical_system(chart), parse(name)
        scheme, marched = scheme.fitted(system)
        found = marching.solver_for(scheme, marched)[0].pattern
        sizes.append((len(found.colours.start), found.band))
    assert sizes[1][0] <= sizes[0][0] + 2
    assert sizes[1][1] <= 1.1 * sizes[0][1]


def test_a_scheme_that_divides_by_a_coupled_mass_says_what_to_do():
    with pytest.raises(ModelError, match=r"couples all nodes of the rods.*mass='lumped', or use EML-kappa"):
        simulate(limb("mean"), 0.1, 0.01, "GGL-EM", chart="director")
