"""Corners of loads and motions: signals declare them, a step ends at each, outputs are unchanged.

Rule under test: if the value or the slope of a function of time jumps inside a step, the step is split there
(`discretization.time.step_splitting`). Adaptive steps also end at knots, and sample functions without corners inside a step
(`discretization.time.load_samples`).
"""

import warnings
from itertools import pairwise

import numpy as np
import pytest

from discretization.time.adaptive import BEFORE, ERROR, STEP, SUM, AdaptiveStepper, gyration
from discretization.time.load_samples import SHARE, LoadSamples
from discretization.time.step_splitting import ends_of_parts, steps_before_corner
from discretization.time.stepper import Stepper
from discretization.time.stepper_base import Failure, MarchResult, Report, StepperBase
from rigid.signals import Signal, corners_of
from rigid.system import State
from rodsim import (
    Adaptive,
    Box,
    MassProperties,
    Material,
    Model,
    ModelError,
    Result,
    Section,
    audit,
    signals,
    simulate,
)
from rodsim.adaptive_steps import StepHistory
from rodsim.many_runs import simulate_many
from rodsim.signals import Output
from rodsim.warnings import StepWarning

Z = (0.0, 0.0, 1.0)
UP, DOWN = 0.5013, 0.5213
PULSE = signals.Pulse(50.0, UP, DOWN)  # 1 N s
DISPLACEMENT_AT_END = 1.0 - 0.5 * (UP + DOWN)  # m, displacement of 1 kg after 1 s

EXAMPLES = [
    signals.Constant(2.0),
    signals.Table([0.1, 0.2, 0.4, 0.5, 0.9], [1.0, 2.0, 4.0, 3.0, 3.0]),  # 0.2 lies on a straight line
    signals.Table([0.1, 0.3, 0.4, 0.7, 0.8], [1.0, 1.0, 0.9, 0.6, 0.6]),  # flat at first, rounded slopes
    signals.Ramp(2.0, 0.2, 0.7),
    signals.Triangle(2.0, 0.5, 0.8, 0.1),
    signals.Sine(2.0, 1.3),
    signals.Pulse(2.0, 0.3, 0.6),
    signals.Steady(2.0, 1.0),
    signals.SmoothStep(2.0, 0.2, 0.7),
    signals.SpinUp(2.0, 0.6),
    signals.SmoothTable([0.1, 0.3, 0.4, 0.8], [0.0, 1.0, -1.0, 0.5]),
    signals.Expression("2*sin(5*t) + t**3"),
]


CELL = 1e-4


def jumps(signal):
    """Times from 0 to 1, to half a cell, at which the value or the slope changes much more than elsewhere."""
    t, e = np.arange(0.0, 1.0, CELL) + 0.13 * CELL, 0.01 * CELL
    value = np.abs(signal(t + 0.5 * CELL) - signal(t - 0.5 * CELL)) > 0.1
    slope = [(signal(t + s + e) - signal(t + s - e)) / (2.0 * e) for s in (-0.49 * CELL, 0.49 * CELL)]
    return t[value | (np.abs(slope[1] - slope[0]) > 0.5)]


def test_every_signal_class_is_covered():
    # the output of a controller changes at samples: it is not a function of time alone
    assert {type(signal) for signal in EXAMPLES} == set(Signal.__subclasses__()) - {Output}


@pytest.mark.parametrize("signal", EXAMPLES, ids=lambda signal: type(signal).__name__)
def test_signals_declare_where_value_or_slope_jumps(signal):
    """Each corner is within a cell of a jump, and each jump within a cell of a corner."""
    declared, detected = np.array(signal.corners), jumps(signal)
    assert all(np.abs(detected - t).min(initial=1.0) < CELL for t in declared)
    assert all(np.abs(declared - t).min(initial=1.0) < CELL for t in detected)
    assert set(signal.corners) <= set(signal.knots)
    assert signal.along(Z).corners == signal.corners
    assert signal.along(Z).knots == signal.knots


@pytest.mark.parametrize(
    ("signal", "knots"),
    [(EXAMPLES[8], [0.2, 0.7]), (EXAMPLES[9], [0.0, 0.6]), (EXAMPLES[10], [0.1, 0.3, 0.4, 0.8])],
    ids=["SmoothStep", "SpinUp", "SmoothTable"],
)
def test_smooth_signals_have_knots_and_no_corners(signal, knots):
    assert list(signal.knots) == knots
    assert not len(signal.corners)


def test_functions_declare_corners_as_an_attribute():
    def push(t):
        return (0.0, 0.0, 1.0)

    assert corners_of("load", push) == []
    push.corners = (0.5, 0.52)
    assert corners_of("load", push) == corners_of("load", push, "knots") == [0.5, 0.52]
    push.corners = (0.5, np.nan)
    with pytest.raises(ModelError, match=r"load 'f'.*corners\[1\] = nan"):
        corners_of("load 'f'", push)


# --- where steps are split


def test_corner_within_1e_6_of_a_step_end_counts_as_that_end():
    h, starts, near = 0.1, 0.1 * np.arange(4), 1e-7
    near_corners = [
        (0.2 + 0.9 * near, 4),
        (0.3 - 0.9 * near, 4),
        (0.2 + 1.1 * near, 2),
        (0.3 - 1.1 * near, 2),
    ]
    for corner, count in (*near_corners, (0.25, 2), (0.05, 0), (0.4, 4), (-1.0, 4)):
        assert steps_before_corner(np.array([corner]), h, starts) == count
    assert steps_before_corner(np.zeros(0), h, starts) == 4
    corners = np.array([0.05, 0.21, 0.25, 0.25 + 0.5 * near, 0.26, 0.35])
    assert ends_of_parts(corners, h, 0.2).tolist() == [0.2, 0.21, 0.25, 0.26, 0.2 + h]


class RecordingStepper(StepperBase):
    """A stepper that records its intervals; it fails for steps longer than `most`."""

    h, most = 0.1, np.inf

    def __init__(self, *corners):
        self.corners, self.calls = np.array(corners), []

    def start(self, state):
        return state

    def equal_steps(self, state, h, starts):
        for completed, t in enumerate(starts.tolist()):
            if h > self.most:
                return MarchResult(state, completed, Report(solves=1), Failure("too long", "none"))
            self.calls.append((t, t + h))
            state.totals[0] += h
        return MarchResult(state, len(starts), Report(solves=len(starts)), None)


def test_steps_and_half_steps_end_at_corners():
    stepper = RecordingStepper(0.13, 0.17, 0.4)
    state = State(*(np.zeros(1) for _ in State._fields))
    end, completed, report, failure = stepper.march(state, 0.1, 0.1 * np.arange(5))
    assert (completed, report.solves, failure) == (5, 7, None)
    assert end.totals[0] == pytest.approx(0.5)
    ends = sorted({round(t, 12) for call in stepper.calls for t in call})
    assert ends == pytest.approx([0.0, 0.1, 0.13, 0.17, 0.2, 0.3, 0.4, 0.5])
    stepper.calls, stepper.most = [], 0.035  # the part from 0.13 to 0.17 fails, and the step is repeated
    end, completed, _, failure = stepper.march(
        State(*(np.zeros(1) for _ in State._fields)), 0.1, np.array([0.1])
    )
    assert (completed, failure.reason, end.totals[0]) == (0, "too long", 0.0)
    end, _, _, failure = stepper._halve(end, 0.1, 0.1, 1)
    assert failure is None
    calls = stepper.calls[1:]
    assert np.array(calls[0])[0] == 0.1
    assert end.totals[0] == pytest.approx(0.1)
    assert {0.13, 0.17} <= {round(t, 12) for call in calls for t in call}
    assert all(b == pytest.approx(c) for (_, b), (c, _) in pairwise(calls))


# --- contents of results


def pushed_body(push, hinged=False, name="pushed"):
    """A body of 1 kg pushed by a force along z; hinged: two bars, so that trees and planar models have corners, too."""
    model = Model(name)
    body = model.add_body("body", MassProperties(1.0, (1.0, 1.0, 1.0)))
    if hinged:
        other = model.add_body("other", MassProperties(1.0, (0.1, 0.1, 0.1)), position=(1, 0, 0))
        model.add_joint("pin", "revolute", body, other, at=(0.5, 0, 0), axis=(0, 1, 0))
    else:
        model.add_body("far", MassProperties(1.0, (1.0, 1.0, 1.0)), position=(1, 0, 0))
    model.add_force("push", body.at((0, 0, 0)), push)
    return model


@pytest.mark.parametrize(
    ("integrator", "options"),
    [
        ("em", {}),
        ("em", {"solver": "general"}),
        ("em4", {}),
        ("em6", {}),
        ("em8-ggl", {}),
        ("em-d(0.8)", {}),
        ("EML", {}),
        ("Lobatto-IIIA-B(2)", {}),  # evaluates loads at step ends
    ],
)
def test_every_scheme_integrates_the_full_impulse_of_a_pulse(integrator, options):
    """The force is constant in each part of a step; schemes of order 2 and more integrate it to round-off."""
    result = simulate(pushed_body(PULSE.along(Z)), 1.0, 0.03125, integrator, progress=False, **options)
    assert result.body("body").v[-1, 2] == pytest.approx(1.0, abs=1e-9)
    assert result.body("body").r[-1, 2] == pytest.approx(DISPLACEMENT_AT_END, abs=1e-9)
    assert np.array_equal(result.t, 0.03125 * np.arange(33))
    assert result.description["run"]["corners"] == [UP, DOWN]


def test_nothing_changes_if_no_corner_falls_inside_a_step(monkeypatch):
    """Bitwise comparison with a pulse that declares no corners; 0.03 and 0.07 are not multiples of 0.01 in binary numbers."""
    ends = []
    for declared in (True, False):
        if not declared:
            monkeypatch.setattr(signals.Pulse, "corners", ())
        model = pushed_body(signals.Pulse(5.0, 0.03, 0.07).along(Z), name=f"declared {declared}")
        ends.append(simulate(model, 0.1, 0.01, progress=False))
    assert ["corners" in end.description["run"] for end in ends] == [True, False]
    for one, other in zip(*(end.state(-1) for end in ends), strict=True):
        assert np.array_equal(one, other)


def swinging_rod():
    """A rod that swings on a pin under a force."""
    model = Model("swinging", gravity=(0, 0, -9.81))
    rod = model.add_rod(
        "rod", [(0, 0, 0), (0.5, 0, 0)], Section.circular(0.02, Material(E=1e6, nu=0.3, density=1000)), 3
    )
    model.add_joint("pin", "revolute", model.ground, rod.start, axis=(0, 1, 0))
    model.add_force("push", rod.end, PULSE.along(Z))
    return model


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (lambda: pushed_body(PULSE.along(Z), hinged=True), {"dt": 0.05}),
        (lambda: pushed_body(PULSE.along(Z), hinged=True), {"dt": 0.05, "integrator": "em4"}),
        (lambda: pushed_body(PULSE.along(Z), hinged=True), {"error": 1e-3, "output_dt": 0.1}),
        (swinging_rod, {"dt": 0.01, "integrator": "em-d(0.8)"}),
        (swinging_rod, {"dt": 0.01, "integrator": "em-ggl"}),
        (lambda: pushed_body(PULSE.along(Z), hinged=True), {"dt": 0.05, "integrator": "EML"}),
    ],
    ids=["em", "em4", "adaptive", "em-d", "em-ggl", "EML"],
)
def test_split_steps_are_resumed_bitwise_and_pass_the_audit(make, options, tmp_path):
    """The run ends before the corner and is extended: its file stores the corners beyond its end."""
    whole_file, parts = tmp_path / "whole.vtkhdf", tmp_path / "parts.vtkhdf"
    if "error" in options:  # an extended run keeps the budget of its first part
        simulate(make(), 0.4, output=whole_file, progress=False, **options)
        simulate(make(), 0.6, output=whole_file, progress=False, resume=True, **options)
    else:
        simulate(make(), 0.6, output=whole_file, output_every=1, progress=False, **options)
    every = {} if "error" in options else {"output_every": 1}
    for t_end in (0.4, 0.5, 0.6):
        result = simulate(
            make(), t_end, output=parts, resume=parts.exists(), progress=False, **options, **every
        )
    for one, other in zip(result.state(-1), Result.load(whole_file).state(-1), strict=True):
        assert np.array_equal(one, other)
    audit_report = audit(Result.load(parts))
    assert audit_report.ok, audit_report.text()
    assert "lead to the states that are stored" in audit_report.text()


def test_last_step_before_an_output_may_be_split(tmp_path):
    """The audit repeats it from the accelerations, which belong to its last part."""
    pulse = signals.Pulse(50.0, 0.497, 0.7)
    result = simulate(pushed_body(pulse.along(Z), hinged=True), 1.0, 0.005, output_every=100, progress=False)
    audit_report = audit(result)
    assert audit_report.ok, audit_report.text()
    assert result.n_outputs == 3


def test_many_runs_are_bitwise_single_runs():
    """The runs have different corners. Batched runs: `test_batched_runs.py`."""
    prepared = pushed_body(PULSE.along(Z), hinged=True).prepare(
        t_end=1.0, dt=0.05, output_every=2, progress=False
    )
    changes = [{"loads.push.value": signals.Pulse(20.0, 0.1 + 0.07 * k, 0.62).along(Z)} for k in range(5)]
    many = simulate_many(prepared, changes, threads=1)
    for k, change in enumerate(changes):
        alone = prepared.run(change)
        assert many[k].description["run"]["corners"] == alone.description["run"]["corners"]
        for i in range(alone.n_outputs):
            assert all(np.array_equal(x, y) for x, y in zip(many[k].state(i), alone.state(i), strict=True))


def test_many_runs_shorten_their_step_with_a_warning():
    prepared = pushed_body(Z, hinged=True).prepare(t_end=0.1, dt=0.03, progress=False)
    with pytest.warns(StepWarning, match=r"t_end = 0.1 s is not a multiple of dt = 0.03 s"):
        many = simulate_many(prepared, [{"loads.push.value": (0.0, 0.0, k)} for k in range(4)], threads=1)
    assert [result.t.tolist() for result in many] == [[0.0, 0.025, 0.05, 0.025 * 3, 0.1]] * 4


def test_prepared_models_accept_an_error():
    prepared = pushed_body(PULSE.along(Z)).prepare(t_end=1.0, error=1e-3, output_dt=0.1, progress=False)
    changes = [{}, {"loads.push.value": signals.Pulse(25.0, UP, DOWN).along(Z)}]
    many = simulate_many(prepared, changes, threads=1)
    assert many.stack(lambda result: result.body("body").v[-1, 2]) == pytest.approx([1.0, 0.5], abs=1e-12)
    assert prepared.run().body("body").r[-1, 2] == pytest.approx(DISPLACEMENT_AT_END, abs=1e-12)


# --- adaptive steps


def short(t):
    return (0.0, 0.0, 50.0 if UP < t < DOWN else 0.0)


BELL = signals.SmoothTable(
    [0.0, *(UP + 0.005 * np.arange(-8, 9)), 1.0], [0.0] * 9 + [200.0] + [0.0] * 9
)  # its overshoots decay before the long intervals
BELL_UP = BELL.along(Z)


def bell(t):
    """A smooth pulse of 1 N s in about 8 ms."""
    return (0.0, 0.0, np.exp(-(((t - UP) / 0.002) ** 2)) / (0.002 * np.sqrt(np.pi)))


@pytest.mark.parametrize(
    ("push", "middle", "error", "integrator"),
    [
        (PULSE.along(Z), 0.5 * (UP + DOWN), 1e-5, "em"),
        (PULSE.along(Z), 0.5 * (UP + DOWN), 1e-5, "em4"),
        (signals.Pulse(10.0, UP, 0.6013).along(Z), 0.5 * (UP + 0.6013), 1e-5, "em"),
        (signals.Table((0, 0.5, 0.502, 0.504, 1), (0, 0, 500.0, 0, 0)).along(Z), 0.502, 1e-3, "em"),
        (short, 0.5 * (UP + DOWN), 1e-3, "em"),
        (short, 0.5 * (UP + DOWN), 1e-5, "em"),
        (short, 0.5 * (UP + DOWN), 1e-3, "em4"),
        (bell, UP, 1e-3, "em"),
        (BELL_UP, UP, 1e-2, "em"),
    ],
    ids=[
        "pulse",
        "pulse-em4",
        "wide pulse",
        "table",
        "function",
        "exact function",
        "function-em4",
        "bell",
        "knots",
    ],
)
def test_adaptive_steps_see_short_loads(push, middle, error, integrator):
    """The position error is the requested one, for a model of 1 m and a run of 1 s."""
    times = np.linspace(0.0, 1.0, 200_001)
    impulse = 1.0 if push is not BELL_UP else float(np.sum(BELL(times)) * 5e-6)
    result = simulate(
        pushed_body(push), 1.0, Adaptive(error, output_dt=0.1), integrator=integrator, progress=False
    )
    assert result.body("body").r[-1, 2] == pytest.approx(impulse * (1.0 - middle), abs=error)
    assert result.body("body").v[-1, 2] == pytest.approx(impulse, abs=2.0 * error)
    assert result.steps.number.sum() < 2000


def test_missed_impulse_is_compared_with_its_effect():
    """f = F t^2, of which the midpoint of a step misses F h^3/12; both bars move, a moment by the radius of gyration."""
    model = pushed_body(lambda t: (0.0, 0.0, 6.0 * t**2), hinged=True)
    model.add_moment("turn", model.bodies["body"], lambda t: (0.0, 3.0 * t**2, 0.0))
    built, rate, size, h = model.build(), 1e-3, 2.0, 0.2
    middle = np.array([0.5]), np.array([1.0])
    k = gyration(built.system)

    def missed(loads):
        return LoadSamples(built.system, loads, *middle, k, size, rate).unresolved(h, np.array([0.0, 5.0]))

    force = lambda t: built.load_values(t) * np.array([1.0, 0.0])[:, None]  # noqa: E731
    moment = lambda t: built.load_values(t) * np.array([0.0, 1.0])[:, None]  # noqa: E731
    assert missed(force) == pytest.approx([6.0 * h**3 / 12.0 / (SHARE * rate * 2.0)] * 2, rel=1e-9)
    radius = max(k.max(), size / np.sqrt(12.0))
    assert missed(moment) == pytest.approx([3.0 * h**3 / 12.0 / (SHARE * rate * 2.0 * radius)] * 2, rel=1e-9)
    assert missed(built.load_values) == pytest.approx(np.maximum(missed(force), missed(moment)), rel=1e-12)
    assert 0.01 <= SHARE <= 0.1


class DriftingStepper(Stepper):
    """A stepper that moves a body by h^2 a second, which is its error; from `fails` on it rejects states further than `far`."""

    fails, far = np.inf, np.inf

    def march(self, state, h, starts):
        r = state.r.copy()
        r[1, 0] += h**2 * h * len(starts)
        failure = Failure("never", "none") if starts[0] > self.fails and r[1, 0] > self.far else None
        return MarchResult(state._replace(r=r), len(starts), Report(), failure)


@pytest.mark.parametrize("fails", [np.inf, 0.5])
def test_second_solution_measures_the_error_of_the_run(fails):
    """The second error is four times the first, their difference three. If it fails, it restarts from the first solution."""
    built = pushed_body(Z).build()
    base_stepper = DriftingStepper(built.system, 1.0)
    base_stepper.fails, base_stepper.far = fails, 4e-4
    stepper = AdaptiveStepper(base_stepper, built.system, 1.0, 2, 0.02, 1.0, 1.0, max_dt=1 / 64, growth=True)
    start_state = stepper.start(built.state)
    start_state.memory[-stepper.sizes.memory.control + STEP] = 1 / 64
    end, _ = stepper.advance(start_state, 0, 1)
    control = end.memory[-stepper.sizes.memory.control :]
    true = end.r[1, 0]
    assert control[SUM] == pytest.approx(true)
    assert control[ERROR] == pytest.approx(true)
    assert (control[BEFORE] > 0.0) == (fails < 1.0)
    repeated = stepper.advance(start_state, 0, 1)[0]
    assert all(np.array_equal(one, other) for one, other in zip(repeated, end, strict=True))


@pytest.mark.parametrize(
    ("growth", "error", "unreliable"), [(11.0, 2e-3, True), (9.0, 2e-3, False), (1e4, 0.9e-3, False)]
)
def test_estimate_is_unreliable_if_errors_grew_tenfold(growth, error, unreliable):
    one = np.ones(2)
    steps = StepHistory(one, one, one, error * one, growth * one, 1e-3)
    assert steps.unreliable == unreliable
    assert ("unreliable" in steps.text()) == unreliable


def test_missed_moments_are_reported_as_forces_are():
    model = Model("spun")
    body = model.add_body("body", Box(0.3, 0.2, 0.1, density=1000))
    J = body.properties.inertia[2, 2]
    model.add_moment("spin", body, lambda t: (0.0, 0.0, 50.0 * J if UP < t < DOWN else 0.0))
    result = simulate(model, 1.0, Adaptive(1e-4, output_dt=0.1), progress=False)
    assert result.body("body").omega[-1, 2] == pytest.approx(1.0, abs=1e-2)


def test_no_step_is_longer_than_max_dt():
    free = simulate(pushed_body((0, 0, 1.0)), 1.0, Adaptive(1e-2, output_dt=0.5), progress=False)
    limited = simulate(
        pushed_body((0, 0, 1.0)), 1.0, Adaptive(1e-2, output_dt=0.5, max_dt=0.004), progress=False
    )
    assert free.steps.largest.max() > 0.1
    assert 0.002 < limited.steps.largest.max() <= 0.004
    assert limited.steps.smallest[1:].min() > 0.001
    assert limited.description["run"]["max_dt"] == 0.004
    with pytest.raises(ModelError, match="max_dt"):
        simulate(pushed_body(Z), 1.0, Adaptive(1e-3, max_dt=-1.0))


def chaotic_bars():
    """Three bars that swing chaotically: errors grow about a thousandfold in 3 s."""
    model, lengths, angles = Model("thrown", gravity=(0, 0, -9.81)), (1.0, 0.8, 0.6), (1.9, 2.4, 0.3)
    up, p = model.ground, np.zeros(3)
    for k, (length, angle) in enumerate(zip(lengths, angles, strict=True)):
        q = p + length * np.array([np.sin(angle), 0.0, -np.cos(angle)])
        inertia = (0.08, length**3 / 12.0, 0.08)
        bar = model.add_body(f"bar{k}", MassProperties(length, inertia), position=(p + q) / 2)
        model.add_joint(f"pin{k}", "revolute", up, bar, at=p, axis=(0, -1, 0))
        up, p = bar, q
    return model


def test_estimated_error_is_accurate_or_reported_unreliable():
    """Within a factor of 10 with growing errors: 1.7e-2 of the size after 3 s, not the sum 5e-4 of the windows."""
    exact = simulate(chaotic_bars(), 3.0, 1e-3, "em8", output_every=1000, progress=False)
    result = simulate(chaotic_bars(), 3.0, Adaptive(1e-3, output_dt=0.5), progress=False)
    size = result.description["run"]["error_size"]
    true = [
        max(
            np.linalg.norm(result.body(name).r[2 * i] - exact.body(name).r[i])
            for name in ("bar0", "bar1", "bar2")
        )
        / size
        for i in range(4)
    ]
    assert result.steps.error[-1] == pytest.approx(true[-1], rel=9.0)
    assert result.steps.error[-1] > 0.1 * true[-1]
    assert np.all(np.diff(result.steps.error) >= 0.0)
    assert result.steps.unreliable
    assert f"unreliable: errors grow by a factor of {result.steps.growth[-1]:.2g}" in result.steps.text()
    short_run = simulate(chaotic_bars(), 0.3, Adaptive(1e-3, output_dt=0.1), progress=False)
    assert not short_run.steps.unreliable
    assert "unreliable" not in short_run.steps.text()


# --- loads that steps may have missed


def step_warnings(push, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulate(pushed_body(push), 1.0, progress=False, **({"dt": 0.1} | options))
    return [str(warning.message) for warning in caught if issubclass(warning.category, StepWarning)]


def test_load_zero_at_every_evaluation_is_named():
    """This includes a signal that is zero at the midpoint of every step; one that is known to be zero is not named."""
    flash = lambda t: (0.0, 0.0, 50.0 if 0.5013 < t < 0.5413 else 0.0)  # noqa: E731
    (message,) = step_warnings(flash)
    assert (
        "model 'pushed': a load is zero at all 10 times at which steps read it: 'push', which acts at t = 0.505 s"
        in message
    )
    assert "corners" in message
    assert not step_warnings(flash, dt=0.05)  # evaluated at 0.525 s
    (message,) = step_warnings(lambda t: (0.0, 0.0, 0.0))
    assert "at all 10 times at which steps read it: 'push'. If" in message
    (message,) = step_warnings(
        lambda t: (0.0, 0.0, 50.0 if 0.5013 < t < 0.5014 else 0.0), dt=None, error=1e-2, output_dt=0.5
    )
    assert "'push'" in message
    (message,) = step_warnings(
        signals.SmoothTable([0.5, 0.5 + 1 / 256, 0.5 + 3 / 256], [0.0, 1.0, 0.0]).along(Z)
    )
    assert "'push', which acts at t = 0.501953 s" in message  # between its first two knots
    assert not step_warnings(signals.Sine(0.0, 1.0).along(Z))
    assert not step_warnings(PULSE.along(Z))
    assert not step_warnings(signals.Pulse(1.0, 2.0, 3.0).along(Z))  # after the end of the run
    assert not step_warnings((0.0, 0.0, 0.0))


def no_event(t):
    return (0.0, 0.0, 0.0)


def test_only_loads_that_steps_may_have_missed_are_named():
    """Constant loads, loads on other nodes, declared zeros and loads active before the others are evaluated are not named."""
    model = Model("several")
    body = model.add_body("body", MassProperties(1.0, (1.0, 1.0, 1.0)))
    rod = model.add_rod(
        "rod", [(0, 0, 0), (1, 0, 0)], Section.circular(0.02, Material(E=1e6, nu=0.3, density=1000)), 4
    )
    model.add_force("nothing", body.at((0, 0, 0)), (0, 0, 0))
    model.add_force("always", body.at((0, 0, 0)), lambda t: Z)
    model.add_force("never", body.at((0, 0, 0)), no_event)
    known = lambda t: (0.0, 0.0, 0.0)  # noqa: E731
    known.corners = (0.05,)
    model.add_force("known", body.at((0, 0, 0)), known)
    model.add_distributed_load("half", rod, lambda s, t: (0.0, 0.0, 1e-3 * max(s - 0.5, 0.0)))
    model.add_distributed_load("none", rod, lambda s, t: (0.0, 0.0, 0.0))
    with pytest.warns(StepWarning) as recorded:
        simulate(model, 0.1, 0.01, progress=False)
    (message,) = [str(warning.message) for warning in recorded if warning.category is StepWarning]
    assert "read it: 'never', 'none'. If" in message
    for k in range(4):
        model.add_force(f"more{k}", body.at((0, 0, 0)), no_event)
    with pytest.warns(StepWarning, match="'more3' and 1 more. If"):
        simulate(model, 0.1, 0.01, progress=False)


def test_load_undefined_between_steps_does_not_lose_the_result():
    def push(t):
        if abs(round(200.0 * t) - 200.0 * t) > 1e-6:
            raise ValueError("no value here")
        return (0.0, 0.0, 0.0)

    with pytest.warns(StepWarning, match="read it: 'push'. If"):
        result = simulate(pushed_body(push), 0.1, 0.01, progress=False)
    assert result.t[-1] == 0.1


def with_corners(function, *corners):
    function.corners = corners
    return function


def driven_body():
    """A body rotated by a motor on a rotating hub."""
    model = Model("driven")
    hub = model.add_driven(
        "hub", turn=with_corners(lambda t: max(t - 0.013, 0.0) ** 2, 0.013), axis=(0, 0, 1)
    )
    body = model.add_body("body", MassProperties(1.0, (1.0, 1.0, 1.0)))
    model.add_joint("pin", "revolute", hub, body, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_drive("motor", "pin", with_corners(lambda t: max(t - 0.027, 0.0) ** 2, 0.027))
    return model


def model_with_all_parts():
    """A model in which every kind of part has corners."""
    model = driven_body()
    rod = model.add_rod(
        "rod", [(0, 0, 0), (1, 0, 0)], Section.circular(0.02, Material(E=1e6, nu=0.3, density=1000)), 4
    )
    model.add_mass_damping(
        "air", rod, 1.0, ambient=with_corners(lambda t: (0.0, 0.0, max(t - 0.031, 0.0)), 0.031)
    )
    row = with_corners(lambda s, t: (0.0 * s, 0.0, np.maximum(t - 0.032, 0.0)), 0.032)
    model.add_distributed_load("row", rod, signals.Field(row))
    model.add_force("pulse", rod.end, signals.Ramp(1.0, -0.1, 0.035).along(Z))
    model.add_force("step", rod.end, signals.SmoothStep(1.0, 0.036, 0.09).along(Z))
    turning = with_corners(lambda t: (0.0, 0.0, max(t - 0.041, 0.0)), 0.041)
    model.add_force("turning", rod.end, turning, following=True)
    return model


CORNERS = [0.013, 0.027, 0.031, 0.032, 0.035, 0.041]  # s, after t = 0


def test_motions_and_loads_of_all_parts_have_corners():
    """Steps of fixed length end where the slope jumps; adaptive steps also where a higher derivative does."""
    result = simulate(model_with_all_parts(), 0.1, 0.02, progress=False)
    assert result.description["run"]["corners"] == CORNERS
    result = simulate(model_with_all_parts(), 0.1, Adaptive(1e-2, output_dt=0.05), progress=False)
    assert result.description["run"]["corners"] == sorted([*CORNERS, 0.036, 0.09])


def test_rigid_twin_has_the_corners_of_following_loads():
    """Loads along the rod are omitted."""
    assert model_with_all_parts().as_rigid().build().corners.corners.tolist() == [
        0.013,
        0.027,
        0.035,
        0.041,
    ]


def test_drive_work_of_a_split_step_is_recomputed(tmp_path):
    path = tmp_path / "run.vtkhdf"
    simulate(driven_body(), 0.08, 0.02, output=path, output_every=1, progress=False)
    audit_report = audit(Result.load(path))
    assert audit_report.ok, audit_report.text()
    assert "2 of 4 lead to the states that are stored" in audit_report.text()


# --- t_end is not a multiple of dt


def test_step_is_shortened_to_hit_the_end():
    with pytest.warns(
        StepWarning,
        match=r"t_end = 0.05 s is not a multiple of dt = 0.003 s \(16.67 of them\). The run has 17 of",
    ):
        result = simulate(pushed_body(Z), 0.05, 0.003, output_every=1, progress=False)
    assert result.t[-1] == pytest.approx(0.05, rel=1e-15)
    assert len(result.t) == 18
    assert result.description["run"]["dt"] == 0.05 / 17
    assert result.description["run"]["dt_given"] == 0.003
    with pytest.warns(StepWarning, match="multiple of output_dt = 0.3 s"):
        result = simulate(pushed_body(Z), 1.0, Adaptive(1e-3, output_dt=0.3), progress=False)
    assert result.t.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    with pytest.warns(StepWarning, match="The run has 1 of dt = 0.1 s"):
        assert simulate(pushed_body(Z), 0.1, 1.0, progress=False).t.tolist() == [0.0, 0.1]


@pytest.mark.filterwarnings("error::rodsim.warnings.StepWarning")
def test_end_missed_by_1e_6_of_a_step_is_accepted():
    result = simulate(pushed_body(Z), 1.0 + 0.9e-6, 0.1, progress=False)
    assert result.t[-1] == 1.0
    assert "dt_given" not in result.description["run"]
    with pytest.raises(StepWarning):
        simulate(pushed_body(Z), 1.0 + 1.1e-6, 0.1, progress=False)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.StepWarning")
def test_resumed_run_keeps_its_step(tmp_path):
    path, options = tmp_path / "run.vtkhdf", {"dt": 0.003, "output_every": 1, "progress": False}
    simulate(pushed_body(Z), 0.05, output=path, **options)
    result = simulate(pushed_body(Z), 0.1, output=path, resume=True, **options)
    assert len(result.t) == 35
    assert result.description["run"]["dt"] == 0.05 / 17
    with pytest.raises(
        ModelError, match=r"not a multiple of the step 0.002941176471 s of the run .* Use t_end = 0.1205"
    ):
        simulate(pushed_body(Z), 0.122, output=path, resume=True, **options)
    assert len(Result.load(path).t) == 35
