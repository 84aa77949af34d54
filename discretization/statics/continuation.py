"""Follow a path by arc-length continuation: choose step lengths, locate events, and stop at bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from discretization.statics.arc_length import (
    BIFURCATION,
    LIMIT,
    SMALLEST_STEP,
    TARGET_ITERATIONS,
    ArcLengthPath,
    Event,
    SavedPoint,
    Search,
)
from discretization.statics.equilibrium_newton import NewtonOutcome, newton
from discretization.statics.equilibrium_system import JUMP_STATUS, SavedEquilibrium
from discretization.statics.forces import SOLVED

LOAD_FACTOR = "load_factor"
DISTINCT = 1e-2  # fraction of a step: critical points nearer to each other count as one
PART = 0.1  # fraction of the range of a stop, largest part that one step covers
# relative pose (model's size, rad) and load factor: a critical point as near as this to the start of a branch is the same point
NEAR_POSE, NEAR_FACTOR = 1e-3, 1e-6
CUT, HALF = 0.25, 0.5  # factors for a step that did not converge, and for one that left the path
LEAST_LOOSE = 1e-3  # shortest step across paths that are nearly one, in the norm of `EquilibriumSystem`
# times the round-off of the eigenvalue nearest to zero: below it, the count of negative eigenvalues may be wrong by one
UNRELIABLE_COUNT = 1e3
MOVES = 1e-6  # smallest rate of a monitor that counts, relative to the model's size


class PathOutcome(NamedTuple):
    """Outcome of following a path."""

    events: list[Event]
    stopped: str  # reason of the end: "load_factor", a monitor, "points", "closed"; "": it failed
    failure: NewtonOutcome | None
    crossed: int  # number of bifurcations passed, at each of which a branch may be followed
    waits: bool  # True if the requested branch has not been reached yet


class StepEvents(NamedTuple):
    """Events within a step."""

    events: list[Event]
    points: list[SavedPoint]  # equilibria of the events, and of some that count as one
    bifurcation: SavedPoint | None  # equilibrium of the first bifurcation among them
    complete: (
        bool  # True if every change between the ends was located; if not, the end may be on another path
    )


def follow_path(
    arc: ArcLengthPath,
    stops: Mapping[str, tuple[float, float]],
    most_points: int,
    first: float,
    report: Callable[[int], None],
    branch: tuple[int, float] | None = None,
) -> PathOutcome:
    """Follow the path until a stop is met; call `report` at every equilibrium, including events.

    stops: load_factor or a monitor -> bounds at which the path ends. most_points: largest number of equilibria. first: length of
    the first step. branch: number of the bifurcation, from 1, at which to leave the path, and to which side.

    A branch that returns to its start ends there.
    """
    branch_start: SavedEquilibrium | None = None  # start of the branch
    events: list[Event] = []
    anchor: SavedPoint | None = None  # start of the first step that left the path, until steps are long again
    ds, points, n_bifurcations = first, 0, 0
    while points < most_points:
        start, ds = arc.current_equilibrium(), min(ds, arc.longest(), _longest(arc, stops))
        outcome = arc.step(ds)
        step_events, stop = None, ""
        if outcome.status == SOLVED:
            end, length = arc.current_equilibrium(), ds
            stop = _first_stop(arc, stops, start, ds)
            if stop:
                if stop == LOAD_FACTOR:
                    arc.statics.load_at(min(stops[stop], key=lambda bound: abs(bound - arc.statics.factor)))
                    newton(arc.statics)
                end, length = arc.current_equilibrium(), arc.located
            end = _with_counts(start, end)
            step_events = _events(arc, start, length, end)
        if step_events is None or not step_events.complete:
            arc.restore(start)
            if step_events is not None and anchor is None:
                anchor = start
            ds *= CUT if step_events is None else HALF
            if ds >= (LEAST_LOOSE if arc.loose else SMALLEST_STEP):
                continue
            if outcome.status != SOLVED and arc.weigh_by_compliance():
                arc.loose, anchor, ds = False, None, first
                continue
            if arc.loose or anchor is None:
                failure = outcome._replace(status=JUMP_STATUS) if outcome.status == SOLVED else outcome
                return PathOutcome(events, "", failure, n_bifurcations, branch is not None)
            # a structure that is perfect but for round-off: its two paths are nearer to each other than any arc
            arc.restore(anchor)
            arc.loose, ds = True, first
            continue
        if arc.loose or ds > first:
            anchor = None
        arc.loose = False
        events += step_events.events
        for point in step_events.points:
            arc.restore(point)
            report(outcome.iterations)
        repeated = [
            point
            for point in step_events.points
            if branch_start is not None and _same(arc, branch_start, point[0])
        ]
        if repeated:
            arc.restore(repeated[0])
            return PathOutcome(events, "closed", None, n_bifurcations, branch is not None)
        if step_events.bifurcation is not None:
            n_bifurcations += 1
            if branch is not None and n_bifurcations == branch[0]:
                arc.restore(step_events.bifurcation)
                branch_start = arc.statics.save()
                if not arc.switch(start[1], branch[1]):
                    return PathOutcome(events, "", outcome, n_bifurcations, False)
                report(outcome.iterations)
                points, ds, branch = points + 1, 0.1 * ds, None
                continue
        arc.restore(end)
        report(outcome.iterations)
        if stop:
            return PathOutcome(events, stop, None, n_bifurcations, branch is not None)
        points += 1
        ds *= min(2.0, max(0.5, 2.0 ** (0.5 * (TARGET_ITERATIONS - outcome.iterations))))
    return PathOutcome(events, "points", None, n_bifurcations, branch is not None)


def _same(arc: ArcLengthPath, a: SavedEquilibrium, b: SavedEquilibrium) -> bool:
    """Return True if two equilibria are the same."""
    frames = arc.statics.frames
    state_a, state_b = arc.statics.state_of(a), arc.statics.state_of(b)
    displacement = np.abs(state_a.r[frames] - state_b.r[frames]).max() / arc.statics.length
    cosines = np.abs((state_a.quat[frames] * state_b.quat[frames]).sum(axis=1))  # cosines of half angles
    rotation = np.sqrt(8.0 * max(1.0 - cosines.min(), 0.0))
    near = max(displacement, rotation) < NEAR_POSE
    return bool(near and abs(a[1] - b[1]) < NEAR_FACTOR * max(1.0, abs(a[1])))


def _longest(arc: ArcLengthPath, stops: Mapping[str, tuple[float, float]]) -> float:
    """Return the longest step that covers no more than a fraction PART of the range of load factor and monitors."""
    longest = np.inf
    for name, (low, high) in {LOAD_FACTOR: (-1.0, 1.0), **stops}.items():
        rate = abs(arc.tangent.factor if name == LOAD_FACTOR else arc.tangent.rates[name])
        longest = min(longest, PART * (high - low) / max(rate, 1e-300))
    return float(longest)


def _value(arc: ArcLengthPath, name: str) -> float:
    return arc.statics.factor if name == LOAD_FACTOR else arc.monitor_values()[name]


def _first_stop(
    arc: ArcLengthPath, stops: Mapping[str, tuple[float, float]], start: SavedPoint, ds: float
) -> str:
    """Return the stop that is met within the step, after moving to it; "" if there is none."""
    end = arc.current_equilibrium()
    for name, (low, high) in stops.items():
        value = _value(arc, name)
        if low <= value <= high:
            continue
        bound = low if value < low else high
        if (
            arc.locate(start, ds, lambda name=name, bound=bound: _value(arc, name) - bound)  # type: ignore[misc]
            != Search.FOUND
        ):
            arc.restore(end)
        return name
    return ""


def _with_counts(start: SavedPoint, end: SavedPoint) -> SavedPoint:
    """Return the end of a step, with the number of negative eigenvalues at its start if the number at its end is unreliable.

    It is unreliable if a change by one contradicts the determinant and the eigenvalue nearest to zero is too small to have a
    sign: if two eigenvalues pass zero together, one would be lost there.
    """
    before, after = start[1], end[1]
    reliable = min(before.down, after.down) >= 0 and before.sign == after.sign
    if reliable and (after.down - before.down) % 2 and after.stiffness < UNRELIABLE_COUNT * after.noise:
        return end[0], after._replace(down=before.down)
    return end


def _events(arc: ArcLengthPath, start: SavedPoint, ds: float, end: SavedPoint) -> StepEvents:
    """Return the events between two equilibria of the path; `arc` is at `end` afterwards."""
    before, after = start[1], end[1]
    events: list[Event] = []
    points: list[SavedPoint] = []
    passes_limit = before.factor * after.factor < 0.0
    complete = True

    def note(kind: str, value: Callable[[], float], required: bool = True) -> SavedPoint | None:
        """Locate an event; required: True to reject the step if there is none."""
        nonlocal complete
        search = arc.locate(start, ds, value)
        point = arc.current_equilibrium() if search == Search.FOUND else None
        if point is not None:
            events.append(Event(kind, arc.factor, arc.monitor_values()))
            points.append(point)
        elif required or search == Search.JUMPED:
            complete = False
        arc.restore(end)
        return point

    if passes_limit:
        note(LIMIT, lambda: arc.tangent.factor)
    for name in arc.monitors:
        rates = before.rates[name], after.rates[name]
        # the rate of a monitor that does not move changes its sign by rounding
        if complete and rates[0] * rates[1] < 0.0 and max(map(abs, rates)) > MOVES * arc.statics.length:
            note(f"turning {name}", lambda name=name: arc.tangent.rates[name], False)  # type: ignore[misc]
    # an eigenvalue that is zero but for round-off has neither a sign nor a reliable count
    is_uncertain = min(before.stiffness - before.noise, after.stiffness - after.noise) < 0.0
    is_simple = before.sign * before.factor * after.sign * after.factor < 0.0 and not is_uncertain
    # a count that contradicts the determinant is rounding of an eigenvalue that is nearly zero
    n_crossed = abs(after.down - before.down) if min(before.down, after.down) >= 0 else 0
    has_several = n_crossed > int(passes_limit) and (
        is_uncertain or n_crossed % 2 == int(before.sign != after.sign)
    )
    bifurcation = None
    # the eigenvalue nearest to zero speeds up the search, but if the load turns in the same step it leads to the limit point
    size = (lambda: 1.0) if passes_limit or is_uncertain else (lambda: arc.tangent.stiffness)
    if not complete:
        pass
    elif n_crossed > 1 and has_several and not passes_limit:
        up = 1 if after.down > before.down else -1
        last = -np.inf
        for k in range(before.down, after.down, up):
            # the k-th bifurcation: on this side of it the count is still smaller
            crossing = note(BIFURCATION, lambda k=k: -1.0 if up * (arc.tangent.down - k) > 0 else 1.0)  # type: ignore[misc]
            if crossing is None:
                break
            if arc.located - last < DISTINCT * ds:
                events.pop()  # two modes at one point
            last = arc.located
            bifurcation = bifurcation or crossing
    elif is_simple:
        sign = before.sign * before.factor
        bifurcation = note(
            BIFURCATION, lambda: size() * np.sign(sign * arc.tangent.sign * arc.tangent.factor)
        )
    elif has_several:
        bifurcation = note(BIFURCATION, lambda: size() * (1.0 if arc.tangent.down == before.down else -1.0))
    return StepEvents(events, points, bifurcation, complete)
