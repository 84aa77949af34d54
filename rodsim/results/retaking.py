"""Steps of a run taken once more, from one output to the next: whatever a state holds must come out again.

A state is everything that is needed to go on to the last bit, so that the steps from an output to the next one give that
again, with whatever it holds: multipliers, accelerations, momenta of a chart, the work of drives, memories, and the length
of the steps. On the processor of the run they come out to the bit. Elsewhere they differ by rounding, and how far that goes
is found by the steps themselves: they are taken a third time from a start that is moved by a part `MOVED` of the size of its
numbers, each up or down, which moves the end by d. Rounding is a part eps of them, and Newton's residual counts as solved
within some rounding levels (SAME), so

    SAME (eps/MOVED |d| + eps |x|)                                                                          (1)

is what an end x may differ by; a run with a tolerance misses every equation by tolerance/eps levels instead of NEWTON.

Of long runs a part is taken again, evenly chosen: `SHARE` of their steps, or `FEW`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discretization.drives import (
    count_drives,
    driven_frames,
    driven_rows,
    pack_constraint,
    pack_frame,
)
from discretization.time.em_names import em_integrator
from rigid.errors import ConvergenceError, ModelError
from rigid.system import Floats, Ints, State
from rodsim.results.layout import Layout
from rodsim.results.node_loads import node_loads
from rodsim.results.recomputed import EPS, NEWTON, SAME, Difference, tolerance_of

if TYPE_CHECKING:
    from discretization.time.advance import StepperBase
    from rodsim.results.result import Result

MOVED = (
    2.0**-26
)  # of the numbers at the start of a step: moves its end by more than rounding, and hardly bends it
FEW, SHARE = 64, 1 / 20  # steps that are taken again at most: so many, or that part of the run
# numbers of a state that are of one kind, hence of one size: columns where they are fields, parts where they are in a row
_COLUMNS = {
    "acc": (3,),
    "drive": (3, 4, 7, 8),
    "totals": (1,),
    "algorithmic": (1,),
    "branch": (3,),
    "memory": (3,),
}
_CHART = ("q", "p", "v", "lam", "gam")


@dataclass(frozen=True)
class Retaken:
    """What became of it."""

    steps: int = 0  # taken again
    reason: str = ""  # why none were, or why not all kinds of intervals could be
    failed: str = ""  # the first of them that could not be taken, and why
    differences: tuple[Difference, ...] = ()
    same_version: bool = True  # the file is of this version of rodsim


class _Unknown(Exception):
    """Something that acted is not known."""


def take_again(result: Result) -> Retaken:
    """Steps between outputs, taken again, and compared with what is stored."""
    from rodsim import __version__

    versions = result.description.get("provenance", {}).get("versions", {})
    same = versions.get("rodsim", __version__) == __version__
    steps = result.step
    chosen = list(_chosen(steps))
    if not chosen:
        gap = int(np.diff(steps).max(initial=0))
        reason = f"{gap} steps from one output to the next" if gap else "there is one output alone"
        return Retaken(reason=reason, same_version=same)
    try:
        run = _Run(result)
    except _Unknown as unknown:
        return Retaken(reason=str(unknown), same_version=same)
    except ModelError as error:
        return Retaken(failed=f"the run cannot begin: {error}", same_version=same)
    found: dict[str, Difference] = {}
    done, reason, failed = 0, "", ""
    for k in chosen:
        try:
            differences = run.differences(k)
        except _Unknown as unknown:
            reason = str(unknown)
            continue
        except (ConvergenceError, ModelError) as error:
            failed = failed or f"from output {k} (t = {result.t[k]:g} s): {error}"
            continue
        done += int(steps[k + 1] - steps[k])
        for each in differences:
            earlier = found.get(each.what)
            count = 1 + (earlier.outputs if earlier else 0)
            found[each.what] = Difference(**{**vars(earlier or each), "outputs": count})
    return Retaken(done, reason, failed, tuple(found.values()), same)


def _chosen(steps: Ints) -> Iterator[int]:
    """Numbers of outputs from which the steps to the next one are taken again, evenly and within bounds, the last one first of
    all.
    """
    gaps = np.diff(steps)
    n, most = len(gaps), max(FEW, int(SHARE * (steps[-1] - steps[0])) if len(steps) else 0)
    if n == 0 or gaps.min() < 1:
        return
    count = max(1, min(n, int(most // max(1.0, float(np.mean(gaps))))))
    wanted = np.unique(np.linspace(n - 1, 0, count).round().astype(int))[::-1]
    for k in wanted:
        most -= int(gaps[k])
        if most >= 0:
            yield int(k)


class _Run:
    """A run that can go on from each of its outputs."""

    def __init__(self, result: Result) -> None:
        self._result, layout = result, result.layout
        settings = result.description.get("run", {})
        if layout.system is None or "dt" not in settings or "integrator" not in settings:
            raise _Unknown("the file does not say how it was run (of an older version)")
        self._system, self._h = layout.system, float(settings["dt"])
        integrator = str(settings["integrator"])
        self._loads = _load_values(layout)
        self._ends: Floats | None = None  # of the drives, at the end of the step at hand
        self._driven = bool(count_drives(self._system))
        given = layout.functions is not None and layout.functions.drives is not None
        self._from_states = self._driven and not given
        own = em_integrator(integrator)
        self._single = own is not None and own.order == 2
        self._stepper = self._advancing(integrator, settings, result)

    def _advancing(self, integrator: str, settings: dict[str, Any], result: Result) -> StepperBase:
        layout, own = result.layout, em_integrator(integrator)
        if own is None:
            from discretization.time.mechanical_stepper import MechanicalStepper

            chart = str(settings["chart"]) if "chart" in settings else None
            return MechanicalStepper(
                layout.name, self._system, result.state(0), self._h, integrator, chart, self._loads
            )
        from discretization.time.stepper import Stepper

        functions = layout.functions
        return Stepper(
            self._system,
            self._h,
            own.order,
            self._loads,
            hidden=own.hidden,
            tolerance=tolerance_of(result),
            drive_values=self._drive_values if self._from_states else functions and functions.drives,
            rho=own.rho,
            spared=result.description.get("without_inertia", []),
        )

    def _drive_values(self, times: Floats) -> Floats:
        """What the drives give at the end of the one step that is taken."""
        if self._ends is None or len(times) != 1:
            raise _Unknown(_DRIVES)
        return self._ends

    def differences(self, k: int) -> list[Difference]:
        """Between output k + 1 and what the steps from output k lead to."""
        result, steps = self._result, self._result.step
        start, end = result.state(k), result.state(k + 1)
        first, count = int(steps[k]), int(steps[k + 1] - steps[k])
        if self._from_states:
            if count > 1 or not self._single or result.halvings[k + 1] > 0:
                raise _Unknown(_DRIVES)
            self._ends = _packed(self._system, end)
        again, _ = self._stepper.advance(start, first, count)
        moved: dict[str, float] = {}
        out = []
        for name, stored, new in self._parts(end, again):
            if np.array_equal(stored, new):
                continue
            if not moved:
                shifted, _ = self._stepper.advance(self._moved(start), first, count)
                moved = {what: float(np.abs(x - y).max()) for what, x, y in self._parts(shifted, again)}
            missed = max(1.0, tolerance_of(result) / (NEWTON * EPS))
            allowed = SAME * EPS * missed * (moved[name] / MOVED + np.abs(new).max())
            off = np.nan_to_num(np.abs(stored - new), nan=np.inf)
            if off.max() > allowed:
                worst = np.unravel_index(np.argmax(off), off.shape)
                numbers = float(stored[worst]), float(new[worst])
                out.append(Difference("steps", name, 1, k + 1, float(result.t[k + 1]), *numbers))
        return out

    def _parts(self, a: State, b: State) -> Iterator[tuple[str, Floats, Floats]]:
        """The numbers of two states side by side, those of one size together, by name."""
        for field, x, y in zip(State._fields, a, b, strict=True):
            if x.size == 0:
                continue
            if field == "chart":
                at = np.cumsum(self._chart_sizes())[:-1]
                pairs = zip(_CHART, np.split(x, at), np.split(y, at), strict=True)
            elif field in _COLUMNS:
                at = np.array(_COLUMNS[field])
                whole = zip(np.split(x, at, axis=-1), np.split(y, at, axis=-1), strict=True)
                pairs = ((_words(field, i), *pair) for i, pair in enumerate(whole))
            else:
                pairs = iter([("", x, y)])
            for part, u, w in pairs:
                if u.size:
                    yield f"{field} {part}".strip(), u, w

    def _chart_sizes(self) -> tuple[int, ...]:
        mechanical = self._stepper.mechanical  # type: ignore[attr-defined]
        n, m = mechanical.n, mechanical.m
        return n, n, n, m, m

    def _moved(self, state: State) -> State:
        """The start with all its numbers moved by `MOVED` of their size, up or down."""
        way = np.random.default_rng(0)

        def moved(x: Floats, size: float) -> Floats:
            return x + MOVED * size * way.choice([-1.0, 1.0], x.shape)

        def largest(x: Floats) -> float:
            return float(np.abs(x).max(initial=0.0))

        free = self._system.frames.fixed == 0
        gained = largest(state.acc[:, :3]) + largest(self._system.gravity)
        speeds = (
            largest(state.v) + self._h * gained,
            largest(state.Omega) + self._h * largest(state.acc[:, 3:]),
        )
        new = {field: x.copy() for field, x in state._asdict().items()}
        new["r"][free] = moved(state.r[free], largest(state.r))
        new["v"][free] = moved(state.v[free], speeds[0])
        new["Omega"][free] = moved(state.Omega[free], speeds[1])
        quat = moved(state.quat[free], 1.0)
        new["quat"][free] = quat / np.linalg.norm(quat, axis=-1, keepdims=True)
        for field in ("angle", "branch", "memory"):
            new[field] = moved(new[field], largest(new[field]))
        if state.chart.size:
            q, p, v, lam, gam = np.split(state.chart, np.cumsum(self._chart_sizes())[:-1])
            new["chart"] = np.concatenate([*(moved(x, largest(x)) for x in (q, p, v)), lam, gam])
        return State(**new)


_DRIVES = "drives whose motion a file does not keep, and more than one step from one output to the next"
_PARTS = {
    "acc": ("of velocities", "of turns"),
    "drive": ("directions", "values", "rates of directions", "rates of values", "work"),
    "totals": ("work", "dissipation"),
    "algorithmic": ("in memory", "dissipated"),
    "branch": ("Gamma", "K"),
    "memory": ("first", "second"),
}


def _words(field: str, part: int) -> str:
    return _PARTS[field][part]


def _packed(system: Any, state: State) -> Floats:
    """What drives give at the end of a step, from the state there: (1, rows, 3), as `discretization.drives` packs it."""
    rows, frames = driven_rows(system.constraints), driven_frames(system.frames.fixed)
    parts = [
        pack_constraint(own[None, :3], own[None, 3], own[None, 4:7], own[None, 7])
        for own in state.drive[: len(rows)]
    ]
    parts += [pack_frame(*(x[None, f] for x in (state.r, state.quat, state.v, state.Omega))) for f in frames]
    return np.concatenate(parts, axis=1)


def _load_values(layout: Layout) -> Any:
    """Of all loads at times (k,), (k, loads, 3); None where there are none."""
    if layout.functions is not None:
        return layout.functions.loads
    loads = node_loads(layout)
    unknown = [load.name for load in loads if load.value is None]
    if unknown:
        raise _Unknown(f"a file does not keep the values of load '{unknown[0]}'")

    def values(times: Floats) -> Floats:
        return (
            np.stack([load.value(times) for load in loads], axis=1) if loads else np.zeros((len(times), 0, 3))
        )

    return values
