"""Equilibria: the tangent, closed forms, the orders of the elements, slender rods, errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from discretization.linearisation import equations
from discretization.linearisation.eigen import null_space
from discretization.statics import tangent as statics_tangent
from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.statics.load_steps import follow_load_steps
from discretization.statics.loading import Loading
from rigid import quaternions
from rodsim import (
    Box,
    ConvergenceError,
    MassProperties,
    Model,
    ModelError,
    Result,
    Section,
    equilibrium,
    simulate,
)
from rodsim.small_motions.zero_energy_motions import at_rest
from rodsim.statics.equilibrium_stability import about_equilibrium
from tests.support.statics_models import cantilever, section, square


def tip(result: Result) -> np.ndarray:
    return result.state().r[-1]


def displacement(result: Result) -> np.ndarray:
    return result.state().r[-1] - result.state(0).r[-1]


def everything(element: str) -> Model:
    """All interactions at once, rotated and strained: body, joints, springs, dead and following loads, weights."""
    model = Model("everything", gravity=(0.3, -0.2, -9.81))
    cross_section = section(EA=900.0, GA=700.0, GJ=30.0, EI=40.0)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.3, 0), (2, 0.0, 0.4)], cross_section, 8, element=element)
    body = model.add_body("body", Box(0.4, 0.2, 0.3, density=50.0), position=(2.5, 0.1, 0.4))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_joint("hinge", "revolute", rod.end, body, at=(2.0, 0.0, 0.4), axis=(0.1, 1.0, 0.2))
    model.add_spring("spring", body.at((0.1, 0.0, 0.1)), model.ground.at((3.0, 1.0, 2.0)), 70.0, length=0.9)
    model.add_spring("coil", rod.end, body, 20.0, along="rotation", axis=(0.1, 1.0, 0.2), angle=0.3)
    model.add_joint("rope", "distance", body.at((0.0, 0.1, 0.0)), model.ground.at((3.0, -1.0, 1.0)))
    model.add_force("dead", rod.at(0.5), (3.0, -4.0, 5.0))
    model.add_force("following", body.at((0.1, 0.1, 0.2)), (2.0, 3.0, -4.0), following=True)
    model.add_moment("moment", body.at((0, 0, 0)), (0.4, -0.3, 0.2))
    model.add_moment("follower", rod.at(0.5), (0.5, -0.2, 0.1), following=True)
    return model


def strained(element: str) -> EquilibriumSystem:
    built = everything(element).build()
    values = built.load_values(np.zeros(1))[0]
    statics = EquilibriumSystem(
        built.system, built.state, Loading(np.zeros_like(values), values, np.zeros(3), built.system.gravity)
    )
    statics.load_at(0.7)
    random = np.random.default_rng(3)
    statics.advance(0.1 * random.standard_normal(statics.size))
    statics.state.lam[:] = random.standard_normal(len(statics.state.lam))
    return statics


@pytest.mark.parametrize("sparse", [False, True])
def test_column_matrices_equal_the_dense_one_and_its_symmetric_part(sparse: bool) -> None:
    statics = strained("se3")
    statics.assemble(True)
    if sparse:
        full, statics.numbering = statics.dense(), statics.numbering._replace(band=-1)
        matrix = scipy.sparse.csc_matrix(full)
        statics.work.values[: matrix.nnz] = matrix.data
        statics.numbering = statics.numbering._replace(
            n_values=matrix.nnz, indices=matrix.indices, indptr=matrix.indptr
        )
    full = statics.dense()
    assert np.abs(full - full.T).max() > 1.0  # under following loads
    assert (statics.matrix().toarray() == full).all()
    matrix = statics.symmetric()
    assert (matrix.toarray() == 0.5 * (full + full.T)).all()
    assert matrix.has_canonical_format


@pytest.mark.parametrize("small", [250, 0])
@pytest.mark.parametrize("closed", [True, False])
def test_small_motions_about_an_equilibrium_are_those_of_its_linear_equations(
    closed: bool, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """closed: without forces that have no potential."""
    for module in (statics_tangent, equations):
        monkeypatch.setattr(module, "SMALL", small)
    model = everything("se3")
    bob = model.add_body("bob", MassProperties(2.0, np.zeros((3, 3))), position=(2.5, 0.4, 0.4))
    model.add_joint("ball", "spherical", model.bodies["body"], bob, at=(2.5, 0.4, 0.4))
    built = model.build()
    assert len(built.idle) == 1
    values = built.load_values(np.zeros(1))[0]
    if closed:
        values[1:] = 0.0
    statics = EquilibriumSystem(
        built.system,
        built.state,
        Loading(np.zeros_like(values), values, np.zeros(3), built.system.gravity),
        idle=built.idle,
    )
    assert follow_load_steps(statics, 0.0, 1.0, 1.0, lambda _: None).failure is None
    statics.assemble(True)
    linear, expected = about_equilibrium(built, statics), at_rest(built, statics)
    assert scipy.sparse.issparse(linear.stored("K")) == (small == 0)
    assert bool(linear.unsymmetric) == bool(expected.unsymmetric) == (not closed)
    for name in ("M", "G"):
        np.testing.assert_allclose(linear.full(name), expected.full(name), atol=1e-13)
    if closed:
        Z = null_space(
            expected.full("G")
        )  # about axes that are fixed by G a substitute replaces the stiffness
        stiff, full = (Z.T @ lin.full("K") @ Z for lin in (linear, expected))
        np.testing.assert_allclose(stiff, full, atol=1e-11 * np.abs(full).max())
    np.testing.assert_allclose(
        linear.lam, expected.lam[: len(linear.lam)], atol=1e-9 * np.abs(expected.lam).max()
    )
    assert linear.free == expected.free


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_an_equilibrium_balances_all_forces_and_is_found_by_newtons_method(element: str) -> None:
    """Five steps suffice only if the tangent of every interaction is right."""
    result = equilibrium(everything(element))
    assert result.t[-1] == 1.0
    assert result.newton_iterations.sum() <= 5
    assert "relaxation" not in result.statics
    assert result.residual.max() < 1e4  # in units of round-off
    assert result.constraint_residual.max() < 1e-12


def test_roll_up_by_a_rotated_clamp_needs_the_moment_of_the_circle() -> None:
    model = Model("strip")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section(EA=1e4, GA=5e3, GJ=2.0, EI=2.0), 10)
    model.add_joint("left", "clamp", rod.start)
    model.add_joint("right", "clamp", rod.end)

    def way(factor: float) -> np.ndarray:
        a = 2.0 * np.pi * factor
        return np.array([np.sinc(a / np.pi) - 1.0, (1.0 - np.cos(a)) / a if a else 0.0, 0.0])

    result = equilibrium(model, motions={"right": {"displacement": way, "rotation": (0, 0, 2 * np.pi)}})
    np.testing.assert_allclose(tip(result), np.zeros(3), atol=1e-12)
    assert result.energy["elastic"][-1] == pytest.approx((4 * np.pi) ** 2 / 4, rel=1e-10)
    assert np.ptp(result.energy["elastic"] - (4 * np.pi * result.t) ** 2 / 4) < 1e-9


# lambda = P L^2/EI, x/L, y/L, tip angle of the inextensible elastica
ELASTICA = (
    (1.0, 0.94356676371662312, 0.30172077379981353, 0.46135194971187896),
    (10.0, 0.44500440224624873, 0.81060902488029645, 1.4302855388038575),
    (20.0, 0.31611443243352486, 0.86869589828543780, 1.5329349562970412),
)


def deflected(cross_section: Section, load: float, n: int, element: str) -> tuple[np.ndarray, float]:
    """Tip and tip angle of a cantilever of length 1 under a dead load."""
    model, _, end = cantilever(cross_section, 1.0, n, element)
    model.add_force("load", end, (0.0, load, 0.0))
    state = equilibrium(model).state()
    rotation = quaternions.rotate(
        state.quat[-1], quaternions.rotate(quaternions.conjugate(state.quat[1]), [1.0, 0, 0])
    )
    return state.r[-1], float(np.arctan2(rotation[1], rotation[0]))


@pytest.mark.slow
@pytest.mark.parametrize(("load", "x", "y", "angle"), ELASTICA)
def test_elastica(load: float, x: float, y: float, angle: float) -> None:
    cross_section = section(EA=1e10, GA=1e10, GJ=1.0, EI=1.0)
    tip, turned = deflected(cross_section, load, 32, "relative(4)")
    np.testing.assert_allclose([*tip[:2], turned], [x, y, angle], atol=3e-8)


# EI, EA, GA, load, tip of a rod that stretches and shears, exact
REISSNER = (
    (10.0, 1e8, 500.0, 10.0, 0.93868436592755603, 0.31781389331495499, 0.45840955130755884),
    (10.0, 1e8, 10.0, 10.0, 0.74786340903965135, 1.1670958872603833, 0.34282321233314281),
    (1.0, 100.0, 40.0, 1.0, 0.93990076379891843, 0.32378455039487035, 0.45914273034247317),
    (1.0, 100.0, 40.0, 10.0, 0.42708247600914994, 0.94245368883403949, 1.3957770840496543),
)


@pytest.mark.parametrize(("EI", "EA", "GA", "load", "x", "y", "angle"), REISSNER)
def test_reissner_beam_converges(
    EI: float, EA: float, GA: float, load: float, x: float, y: float, angle: float
) -> None:
    cross_section = section(EA=EA, GA=GA, GJ=EI, EI=EI)
    errors = []
    for n in (16, 32):
        tip, turned = deflected(cross_section, load, n, "se3")
        errors.append(np.linalg.norm(np.array([*tip[:2], turned]) - [x, y, angle]))
    assert errors[1] < 3e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_prestressed_rod_relaxes_to_its_own_shape() -> None:
    """A straight rod whose stress-free shape is an arc takes that shape if only a clamp holds it."""
    model = Model("bow")

    def arc(s: float) -> np.ndarray:
        return np.array([np.sin(1.2 * s), 0.0, 1.0 - np.cos(1.2 * s)]) / 1.2

    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (1, 0, 0)],
        square(0.05),
        6,
        stress_free=arc,
        up=(0, 1, 0),
        stress_free_up=(0, 1, 0),
    )
    model.add_joint("clamp", "clamp", rod.start)
    result = equilibrium(model)
    # the polygon of nodes consists of chords of its own arc: the last node lies on the circle
    np.testing.assert_allclose(tip(result), arc(1.0), atol=1e-9)
    assert result.energy["elastic"][0] < 1e-20


def test_unsupported_part_is_named_with_its_load() -> None:
    model = Model("free")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], square(0.1), 4)
    model.add_force("push", rod.end, (1.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="rod 'rod': nothing joins it to the ground, and load 'push'"):
        equilibrium(model)


def test_failed_mechanism_reports_its_load_factor_and_partial_result() -> None:
    model = Model("slider")
    body = model.add_body("block", Box(1, 1, 1, density=1.0))
    model.add_joint("rail", "prismatic", body, model.ground, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_force("push", body.at((0, 0, 0)), (1.0, 0.0, 0.0))
    with pytest.raises(ConvergenceError, match="load factor 0") as caught:
        equilibrium(model)
    assert caught.value.result.n_outputs == 1
    assert caught.value.t == 0.0


def test_unknown_names_are_rejected() -> None:
    model, _, end = cantilever(square(0.1), 1.0, 4)
    model.add_force("load", end, (0, 1, 0))
    with pytest.raises(ModelError, match="no load 'lod'; the loads are load"):
        equilibrium(model, loads={"lod": (0, 0, 1)})
    with pytest.raises(ModelError, match="no joint 'clmp'"):
        equilibrium(model, motions={"clmp": {"displacement": (0, 0, 1)}})
    with pytest.raises(ModelError, match=r"displacement\(0\)"):
        equilibrium(model, motions={"clamp": {"displacement": lambda factor: (1.0, 0, 0)}})


@pytest.mark.parametrize("n", [1, 4])
def test_slack_chain_is_relaxed_and_reported(n: int) -> None:
    model, before = Model("chain", gravity=(0, 0, -9.81)), None
    for k in range(n):
        body = model.add_body(f"bar {k}", Box(1.0, 0.1, 0.1, density=1000.0), position=(k + 0.5, 0, 0))
        start = body.at((-0.5, 0, 0))
        model.add_joint(f"joint {k}", "spherical", start, model.ground if before is None else before)
        before = body.at((0.5, 0, 0))
    result = equilibrium(model)
    assert result.statics["relaxation"]["from"] == 0.0
    np.testing.assert_allclose(result.state().r[1:, 2], -(np.arange(n) + 0.5), atol=1e-9)
    np.testing.assert_allclose(
        result.joint("joint 0").force[-1], [0, 0, -98.1 * n], atol=1e-9
    )  # on the ground


@pytest.mark.parametrize("tilt", [1e-6, 0.02, 0.3])
def test_nearly_upright_bar_relaxes_to_the_hanging_state(tilt: float) -> None:
    """The upright equilibrium is nearer, but the way there climbs."""
    model = Model("bar", gravity=(0, 0, -9.81))
    quat = quaternions.from_rotation_vector([0.0, tilt - np.pi / 2, 0.0])
    centre = 0.5 * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    body = model.add_body("bar", Box(1.0, 0.1, 0.1, density=1000.0), centre, quat)
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    result = equilibrium(model)
    assert "relaxation" in result.statics
    np.testing.assert_allclose(result.state().r[1], [0.0, 0.0, -0.5], atol=1e-9)


def test_run_from_an_equilibrium_stays_at_rest() -> None:
    model, _, end = cantilever(square(0.05, E=1e6, G=5e5), 1.0, 10)
    model.gravity[:] = (0, 0, -9.81)
    model.add_force("load", end, (0, 0.2, 0.1))
    result = equilibrium(model)
    run = simulate(model, 0.5, 0.01, start=result)
    states = run.states(slice(0, None))
    assert np.abs(states.r - result.state().r).max() < 1e-11
    assert np.abs(states.v).max() < 1e-9
    assert run.description["start"]["changes"] == []


def test_restart_reports_changes() -> None:
    def model(load: float, gravity: float, E: float) -> Model:
        beam, _, end = cantilever(square(0.05, E=E), 1.0, 6)
        beam.gravity[2] = gravity
        beam.add_force("load", end, (0, load, 0))
        beam.add_distributed_load("wind", beam.rods["rod"], (0, load, 0))
        return beam

    first = equilibrium(model(0.2, -9.81, 1e6))
    run = simulate(model(0.4, 0.0, 2e6), 0.02, 0.01, start=first)
    changes = " ".join(run.description["start"]["changes"])
    assert "gravity [0.0, 0.0, -9.81] -> [0.0, 0.0, 0.0]" in changes
    assert "load 'load': value [0.0, 0.2, 0.0] -> [0.0, 0.4, 0.0]" in changes
    assert "line load 'wind': value [0.0, 0.2, 0.0] -> [0.0, 0.4, 0.0]" in changes
    assert "rod 'rod': other stiffness" in changes
    second = equilibrium(model(0.4, 0.0, 2e6), start=first)
    direct = equilibrium(model(0.4, 0.0, 2e6))
    np.testing.assert_allclose(tip(second), tip(direct), atol=1e-10)
    np.testing.assert_allclose(second.state(0).r, first.state().r, atol=0.0)


def test_restart_rejects_other_parts() -> None:
    first = equilibrium(cantilever(square(0.05), 1.0, 6)[0])
    with pytest.raises(ModelError, match=r"has 7 nodes, that of model .* has 8"):
        simulate(cantilever(square(0.05), 1.0, 7)[0], 0.02, 0.01, start=first)
