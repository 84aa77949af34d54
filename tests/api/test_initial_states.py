"""Every function with `start` accepts a result, a state, a steady rotation and the path of a result file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rodsim
from rodsim import Model, ModelError, equilibrium, linearise, modes, simulate, simulate_many, steady_rotation
from rodsim.linear import ForceInput, MotionOutput, frequency_response, mode_shapes, state_space
from rodsim.results.equilibrium_text import describe_origin

SPIN = (0.0, 0.0, 20.0)


def flat(name: str, E: float, ends: Any, n: int, gravity: float = 0.0) -> Model:
    """A rod of a flat section from one end to the other."""
    model = Model(name, gravity=(0.0, 0.0, -gravity))
    section = rodsim.Section.rectangle(0.04, 0.02, rodsim.Material(E=E, nu=0.3, density=1000.0))
    model.add_rod("rod", ends, section, n)
    return model


def beam() -> Model:
    """A cantilever that bends under its weight."""
    model = flat("beam", 1e8, [(0, 0, 0), (1, 0, 0)], 3, 9.81)
    model.add_joint("root", "weld", "ground", "rod.start")
    return model


def spinner() -> Model:
    """Bars joined by a rod that may rotate freely."""
    return flat("spinner", 1e7, [(-0.5, 0, 0), (0.5, 0, 0)], 4)


def response_function(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """A function of a model and `start`, with a push and a probe at the end of its rod."""

    def respond(model: Model, **start: Any) -> Any:
        end = model.rods["rod"].end
        return function(
            model, [ForceInput(end, (0, 0, 1))], [MotionOutput(end, (0, 0, 1))], *arguments, **start
        )

    return respond


SHORT: dict[str, float] = {"t_end": 0.02, "dt": 0.01}


def initial_positions(result: Any) -> np.ndarray:
    """Positions at the first output."""
    return result.state(0).r


# function of a model and `start`, and a function that reads its return value
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    "simulate": (lambda model, **start: simulate(model, **SHORT, **start), initial_positions),
    "prepare": (lambda model, **start: model.prepare(**SHORT, **start).run(), initial_positions),
    "run": (lambda model, **start: model.prepare(**SHORT).run(**start), initial_positions),
    "simulate_many": (
        lambda model, **start: simulate_many(model.prepare(**SHORT), [{}], **start)[0],
        initial_positions,
    ),
    "equilibrium": (equilibrium, initial_positions),
    "modes": (lambda model, **start: modes(model, 3, anyway=True, **start), lambda spectrum: spectrum.omega),
    "linearise": (linearise, lambda lin: lin.K.toarray()),
    "steady_rotation": (
        lambda model, **start: steady_rotation(model, (0, 0, 1), **start),
        lambda equilibria: equilibria.r,
    ),
    "state_space": (response_function(state_space), lambda matrices: matrices.A),
    "frequency_response": (response_function(frequency_response, [10.0]), lambda response: response),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_kinds_of_initial_states_are_equivalent(name: str, tmp_path: Any) -> None:
    function, read = FUNCTIONS[name]
    file = tmp_path / "bent.vtkhdf"
    bent = equilibrium(beam(), output=file)
    kinds = {"result": bent, "path": file, "text": str(file), "state": bent.state()}
    first_values = {kind: np.asarray(read(function(beam(), start=start))) for kind, start in kinds.items()}
    for values in first_values.values():
        assert np.array_equal(values, first_values["result"])
    if name != "steady_rotation":  # it converges to the same equilibrium from any start
        assert not np.allclose(
            first_values["result"], np.asarray(read(function(beam()))), rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_start_time_selects_a_stored_state(name: str) -> None:
    function, read = FUNCTIONS[name]
    path = equilibrium(beam(), method=rodsim.Newton(first_step=0.3))
    assert path.n_outputs > 2
    early = np.asarray(read(function(beam(), start=path, start_time=path.t[1])))
    assert np.array_equal(early, np.asarray(read(function(beam(), start=path.state(1)))))
    with pytest.raises(ModelError, match=r"start_time = 0\.5 has no meaning without start\. Give start"):
        function(beam(), start_time=0.5)
    with pytest.raises(ModelError, match=r"start_time = 0\.5, but start is a State, which has no times"):
        function(beam(), start=path.state(), start_time=0.5)
    with pytest.raises(ModelError, match="start_time = 7 is not within the times of 'beam', 0 to 1"):
        function(beam(), start=path, start_time=7.0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_invalid_initial_states_are_rejected(name: str, tmp_path: Any) -> None:
    function, _ = FUNCTIONS[name]
    other = simulate(spinner(), 0.02, 0.01)
    with pytest.raises(
        ModelError,
        match=r"start: (the result of 'spinner' has rods|rod 'rod' of the result of 'spinner' has 5)",
    ):
        function(beam(), start=other)
    shape = beam().build().state.r.shape
    words = rf"model 'beam': start: State\.r has shape {other.state().r.shape}, this system needs {shape}"
    with pytest.raises(ModelError, match=re.escape(words).replace(r"\\", "\\").replace("\\\\.", "\\.")):
        function(beam(), start=other.state())
    several = simulate(beam(), 0.02, 0.01)
    words = re.escape(
        f"start: State.r has shape {(several.n_outputs, *shape)}, expected {shape}. Give one state"
    )
    with pytest.raises(ModelError, match=words):
        function(beam(), start=several.states(slice(0, several.n_outputs)))
    state = several.state()
    state.r[2, 1] = np.nan
    with pytest.raises(ModelError, match=r"model 'beam': start: 'r\[2, 1\]' is nan"):
        function(beam(), start=state)
    with pytest.raises(ModelError, match=r"start: State\.v is of type complex128, expected float64"):
        function(beam(), start=several.state()._replace(v=several.state().v + 1j))
    with pytest.raises(ModelError, match=r"start = 3\. Expected a Result, an Equilibrium, the path"):
        function(beam(), start=3)
    with pytest.raises(FileNotFoundError):
        function(beam(), start=tmp_path / "missing.vtkhdf")


def test_prepared_models_accept_old_names() -> None:
    path = equilibrium(beam(), method=rodsim.Newton(first_step=0.3))
    first = path.t[1]
    prepared = beam().prepare(t_end=0.02, dt=0.01, start=path)
    expected = prepared.run(start_time=first).state().r
    with pytest.warns(DeprecationWarning, match="start_time="):
        assert np.array_equal(prepared.run(at=first).state().r, expected)
    with pytest.warns(DeprecationWarning, match="start_time="):
        assert np.array_equal(simulate_many(prepared, [{}], at=first)[0].state().r, expected)
    with pytest.warns(DeprecationWarning, match="start_time="):
        by_old_name = beam().prepare(t_end=0.02, dt=0.01, start=path, at=first)
    assert np.array_equal(by_old_name.run().state().r, expected)
    with pytest.warns(DeprecationWarning, match="start_time="):
        later = prepared.equilibrium(start=path, start_at=first)
    assert np.array_equal(later.state(0).r, path.state(1).r)


def test_description_of_a_run_names_its_initial_state(tmp_path: Any) -> None:
    bent = equilibrium(beam())
    run = simulate(beam(), 0.02, 0.01, start=bent.state())
    page = tmp_path / "page.html"
    rodsim.report(run, page)
    assert "a state of &#x27;beam&#x27;" in page.read_text() or "a state of 'beam'" in page.read_text()
    assert describe_origin(run.description)[:2] == ["began with a state of 'beam'", "  nothing changed"]
    assert np.abs(run.state().r - bent.state().r).max() < 1e-9


def strip(end: tuple[float, float, float]) -> Model:
    """A rod with clamped ends."""
    model = flat("strip", 1e7, [(0, 0, 0), end], 6)
    model.add_joint("left", "weld", "ground", "rod.start")
    model.add_joint("right", "weld", "ground", "rod.end")
    return model


def test_joints_moved_by_an_equilibrium_stay_there() -> None:
    """Also in a steady rotation that starts from the equilibrium, and in functions that start from the
    rotation.
    """
    moved = equilibrium(strip((1, 0, 0)), motions={"right": {"displacement": (0.0, 0.05, 0.0)}})
    repeated = equilibrium(strip((1, 0, 0)), start=moved)
    assert np.abs(repeated.state().r - moved.state().r).max() < 1e-9
    lin = linearise(strip((1, 0, 0)), moved)
    assert np.abs(lin.force).max() < 1e-6
    rotation = steady_rotation(strip((1, 0, 0)), (0, 0, 0), start=moved)
    assert np.abs(rotation.r - moved.state().r).max() < 1e-9
    spectrum = modes(strip((1, 0, 0)), 2, start=moved)
    assert modes(strip((1, 0, 0)), 2, start=rotation).omega == pytest.approx(spectrum.omega, rel=1e-9)
    shapes = mode_shapes(spectrum)
    assert shapes.description["start"]["moved"] == ["right"]


def test_modes_about_a_steady_rotation_use_its_axes() -> None:
    rotation = steady_rotation(spinner(), SPIN)
    spectrum = modes(spinner(), 8, start=rotation)
    assert spectrum.omega == pytest.approx(modes(spinner(), 8, rotation.state, spin=SPIN).omega, rel=1e-12)
    lin = linearise(spinner(), rotation)
    assert np.array_equal(lin.K.toarray(), linearise(spinner(), rotation.state, spin=SPIN).K.toarray())
    assert (
        repr(rotation) == "<SteadyRotation of 'spinner': spin [0.0, 0.0, 20.0] rad/s about [0.0, 0.0, 0.0] m>"
    )


def test_run_started_with_a_rotation_continues_it() -> None:
    rotation = steady_rotation(spinner(), SPIN)
    run = simulate(spinner(), 0.05, 0.001, start=rotation)
    distances = np.linalg.norm(run.rod("rod").r[:, -1] - run.rod("rod").r[:, 0], axis=1)
    assert distances[0] > 1.0 + 1e-4  # stretched by its spin
    assert np.abs(distances - distances[0]).max() < 1e-3 * (distances[0] - 1.0)
    assert run.state().Omega == pytest.approx(np.r_[[(0, 0, 0)], np.tile(SPIN, (5, 1))], abs=1e-3)
    assert (
        describe_origin(run.description)[0]
        == "began with a steady rotation of 'spinner' with (0, 0, 20) rad/s"
    )


def hub(kind: str, rate: float | None = None) -> Model:
    """A rod on a body held by a joint of this kind; `rate`: of a drive of the joint, rad/s."""
    model = flat("hub", 1e8, [(0, 0, 0), (1, 0, 0)], 3)
    body = model.add_body("body", rodsim.Box(0.1, 0.1, 0.1, mass=1.0))
    model.add_joint("blade root", "weld", body, "rod.start", at=(0, 0, 0))
    axis = {"axis": (0, 0, 1)} if kind == "revolute" else {}
    model.add_joint("bearing", kind, model.ground, body, at=(0, 0, 0), **axis)  # type: ignore[arg-type]
    if rate is not None:
        model.add_drive("motor", "bearing", lambda t: rate * t)
    return model


@pytest.mark.parametrize("rate", [None, 20.0])
def test_free_hub_continues_its_rotation(rate: float | None) -> None:
    rotation = steady_rotation(hub("revolute", rate), SPIN)
    run = simulate(hub("revolute", rate), 0.01, 0.001, start=rotation)
    assert run.state().Omega[1:, 2] == pytest.approx(20.0, abs=1e-2)
    assert not run.state().Omega[0].any()
    assert np.linalg.norm(run.state().r[-1]) == pytest.approx(np.linalg.norm(rotation.r[-1]), abs=1e-7)


@pytest.mark.parametrize(
    ("kind", "rate", "support"), [("weld", None, "weld joint 'bearing'"), ("revolute", 10.0, "drive 'motor'")]
)
def test_supported_model_does_not_continue_a_rotation(kind: str, rate: float | None, support: str) -> None:
    rotation = steady_rotation(hub(kind, rate), SPIN)
    words = rf"start: {support} does not let the model rotate with \[0.0, 0.0, 20.0\] rad/s\. Drive "
    with pytest.raises(ModelError, match=words):
        simulate(hub(kind, rate), 0.01, 0.001, start=rotation)


def test_deprecated_members_of_the_returned_state_warn() -> None:
    rotation = steady_rotation(spinner(), SPIN)
    with pytest.warns(DeprecationWarning, match=r"steady_rotation\(\.\.\.\)\.state\._replace"):
        changed = rotation._replace(v=rotation.state.v + 1.0)
    assert np.array_equal(changed.r, rotation.state.r)
    with pytest.raises(AttributeError, match="has no attribute 'speed'"):
        _ = rotation.speed
