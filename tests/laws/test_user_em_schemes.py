"""A user scheme on frames is a file and an entry in `EM_FAMILY`: two of them, registered here, pass everything that accepts an
integrator.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from discretization.time.em_family import EM_FAMILY
from discretization.time.invariants import declared_invariants
from rigid.errors import ModelError
from rigid.system import State
from rodsim import Adaptive, Box, Model, Result, audit, simulate
from rodsim.cli.setup import _names
from rodsim.results.audit_report import Audit
from rodsim.scenes.schema import RunScene
from rodsim.waves import frequency_in_time, resonances
from tests.support.pages import DOCS
from tests.support.user_em_schemes import C

H, STEPS = 0.01, 20
BRICK = Box(0.5, 0.3, 0.2, density=100.0)
USER_SCHEMES = ("em-drag", "em4-triple")


@pytest.fixture(autouse=True)
def schemes() -> Iterator[None]:
    from tests.support.user_em_schemes import registered

    with registered():
        yield


def pair(joint: bool = False) -> Model:
    """Two bodies on a bushing, thrown and spinning."""
    model = Model("pair", gravity=(0.0, 0.0, 0.0))
    a = model.add_body("a", BRICK, velocity=(0.3, 0.1, 0.0), angular_velocity=(0.4, -0.3, 0.6))
    b = model.add_body("b", BRICK, position=(1.0, 0.1, 0.0), velocity=(-0.2, 0.4, 0.1))
    model.add_bushing("bushing", a, b, 60.0, at=(0.5, 0, 0))
    if joint:
        model.add_joint("hinge", "revolute", model.ground, a, at=(0, 0, 0), axis=(0, 0.6, 0.8))
    return model


def run(model: Model, integrator: str, h: float = H, t_end: float = H * STEPS, **options) -> Result:
    return simulate(model, t_end, h, integrator, output_every=1, progress=False, **options)


def test_user_equations_are_solved() -> None:
    model = Model("one", gravity=(0.0, 0.0, 0.0))
    model.add_body("body", BRICK, velocity=(1.0, -0.5, 0.2), angular_velocity=(0.3, 0.2, 0.1))
    v = run(model, "em-drag").states(slice(None)).v[:, 1]
    factor = (1.0 - 0.5 * C * H) / (1.0 + 0.5 * C * H)
    assert v == pytest.approx(v[0] * factor ** np.arange(STEPS + 1)[:, None], abs=1e-13)


def test_user_substeps_are_taken() -> None:
    best = run(pair(), "em8", 0.005, 0.4).state().r
    errors = [np.abs(run(pair(), "em4-triple", h, 0.4).state().r - best).max() for h in (0.01, 0.005)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)


def judged_laws(audit_report: Audit) -> set[str]:
    return {verdict.law for verdict in audit_report.verdicts if verdict.kept is not None}


@pytest.mark.parametrize("integrator", USER_SCHEMES)
def test_audit_judges_declared_invariants_and_repeats_steps(integrator: str) -> None:
    audit_report, of_em = audit(run(pair(), integrator)), audit(run(pair(), "em"))
    assert audit_report.ok, audit_report.text()
    assert declared_invariants(integrator) <= set(audit_report.invariants)
    missing = judged_laws(of_em) - judged_laws(audit_report)
    assert bool(missing) == (integrator == "em-drag")
    assert "steps taken again" in " ".join(judged_laws(audit_report))


@pytest.mark.parametrize("integrator", USER_SCHEMES)
def test_run_with_a_user_scheme_resumes_bitwise(integrator: str, tmp_path: Path) -> None:
    path, uninterrupted = tmp_path / "run.vtkhdf", run(pair(), integrator)
    for part, resume in ((0.5, False), (1.0, True)):
        run(pair(), integrator, t_end=part * H * STEPS, output=path, resume=resume)
    resumed = Result.load(path)
    for field, one, other in zip(
        State._fields, resumed.states(slice(None)), uninterrupted.states(slice(None)), strict=True
    ):
        assert np.array_equal(one, other), field
    assert audit(resumed).ok


def test_user_scheme_is_known_to_every_command() -> None:
    with pytest.raises(ModelError, match="em-drag, em4-triple, EML"):
        run(pair(), "em5")
    assert set(USER_SCHEMES) <= set(_names()["integrator"])
    assert RunScene(t_end=0.1, dt=0.01, integrator="em-drag").integrator == "em-drag"
    steps = simulate(pair(), 0.1, Adaptive(1e-5), integrator="em4-triple", progress=False)
    assert steps.steps is not None
    assert frequency_in_time(3.0, 0.1, "em4-triple") == pytest.approx(3.0, rel=1e-3)
    assert not len(resonances("em4-triple"))  # at most three quarter turns, one of them back
    with pytest.raises(ModelError, match="resonances: integrator 'em-drag'"):
        resonances("em-drag")


def test_negative_substeps_with_dissipation_are_rejected() -> None:
    model = pair()
    model.add_spring(
        "damper", model.bodies["a"].at((0, 0, 0)), model.bodies["b"].at((0, 0, 0)), 1.0, 1.0, damping=1.0
    )
    with pytest.raises(ModelError, match="integrator with these substeps takes negative substeps, which the"):
        run(model, "em4-triple")
    run(model, "em-drag", t_end=2 * H)


def test_every_listed_scheme_is_described() -> None:
    page = (DOCS / "reference" / "integrators.md").read_text()
    for name in EM_FAMILY:
        assert name in USER_SCHEMES or f"`{name}`" in page, name


@pytest.mark.parametrize("integrator", USER_SCHEMES)
def test_no_specialised_solver_takes_user_schemes(integrator: str) -> None:
    """A body on a hinge is a tree, for which `em` and its compositions have a faster solver, with their own substeps."""
    model = Model("hinged", gravity=(0.0, 0.0, -9.81))
    body = model.add_body("body", BRICK, position=(0.4, 0, 0))
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    result, general = run(model, integrator), run(model, integrator, solver="general")
    assert "solver" not in result.description["run"]
    assert np.array_equal(result.states(slice(None)).quat, general.states(slice(None)).quat)
