"""A walk along a path by arc-length: steps of a length that suits it, events located, stops kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from discretization.statics.arc import (
    BIFURCATION,
    LIMIT,
    SMALLEST_STEP,
    WANTED,
    Arc,
    Event,
    Kept,
    Search,
)
from discretization.statics.forces import SOLVED
from discretization.statics.newton_at_rest import Solved, newton
from discretization.statics.rest import JUMPS, Stand

LOAD_FACTOR = "load_factor"
APART = 1e-2  # of a step: critical points nearer to each other count as one
PART = 0.1  # of the range of a stop, most that one step covers
# of the model's size and rad, and of the load factor: a critical point as near as this to where a branch began is that one
NEAR_POSE, NEAR_FACTOR = 1e-3, 1e-6
CUT, HALF = 0.25, 0.5  # of a step that did not converge, and of one that left the path
LEAST_LOOSE = 1e-3  # in the norm of `Rest`: shortest step across paths that are nearly one
UNSURE = 1e3  # times the round-off of the eigenvalue nearest to zero: below, the number of negative ones may be wrong by it
MOVES = 1e-6  # of the model's size, rate of a monitor that counts


class Tour(NamedTuple):
    """How a walk along a path ended."""

    events: list[Event]
    stopped: str  # what ended it: "load_factor", a monitor, "points", "closed"; "": it failed
    failure: Solved | None
    crossed: int  # bifurcations that a branch may be left at
    waits: bool  # for one more of them, the branch asked for


class Passed(NamedTuple):
    """What a step passed."""

    events: list[Event]
    places: list[Kept]  # of these, and of some that count as one
    bifurcation: Kept | None  # the place of the first among them
    complete: (
        bool  # whether every change between the ends was located; if not, the end may be on another path
    )


def tour(
    arc: Arc,
    stops: Mapping[str, tuple[float, float]],
    most_points: int,
    first: float,
    found: Callable[[int], None],
    branch: tuple[int, float] | None = None,
) -> Tour:
    """Follow the path until a stop is met; `found` is told of every equilibrium, events among them.

    stops: load_factor or a monitor -> bounds at which the walk ends; first: length of the first step; branch: number of the
    bifurcation, from 1, where to leave the path, and to which side. A branch that comes back to where it began ends there.
    """
    left: Stand | None = None  # where the branch began
    events: list[Event] = []
    anchor: Kept | None = None  # before the first step that left the path, until steps are long again
    ds, points, crossed = first, 0, 0
    while points < most_points:
        start, ds = arc.here(), min(ds, arc.longest(), _longest(arc, stops))
        moved = arc.step(ds)
        passed, stop = None, ""
        if moved.status == SOLVED:
            end, length = arc.here(), ds
            stop = _first_stop(arc, stops, start, ds)
            if stop:
                if stop == LOAD_FACTOR:
                    arc.rest.load_at(min(stops[stop], key=lambda bound: abs(bound - arc.rest.factor)))
                    newton(arc.rest)
                end, length = arc.here(), arc.located
            end = _counted(start, end)
            passed = _events(arc, start, length, end)
        if passed is None or not passed.complete:
            arc.go_back(start)
            if passed is not None and anchor is None:
                anchor = start
            ds *= CUT if passed is None else HALF
            if ds >= (LEAST_LOOSE if arc.loose else SMALLEST_STEP):
                continue
            if moved.status != SOLVED and arc.lighten():
                arc.loose, anchor, ds = False, None, first
                continue
            if arc.loose or anchor is None:
                failure = moved._replace(status=JUMPS) if moved.status == SOLVED else moved
                return Tour(events, "", failure, crossed, branch is not None)
            # a structure that is perfect but for round-off: its two paths are nearer to each other than any arc
            arc.go_back(anchor)
            arc.loose, ds = True, first
            continue
        if arc.loose or ds > first:
            anchor = None
        arc.loose = False
        events += passed.events
        for place in passed.places:
            arc.go_back(place)
            found(moved.iterations)
        again = [place for place in passed.places if left is not None and _same(arc, left, place[0])]
        if again:
            arc.go_back(again[0])
            return Tour(events, "closed", None, crossed, branch is not None)
        if passed.bifurcation is not None:
            crossed += 1
            if branch is not None and crossed == branch[0]:
                arc.go_back(passed.bifurcation)
                left = arc.rest.keep()
                if not arc.switch(start[1], branch[1]):
                    return Tour(events, "", moved, crossed, False)
                found(moved.iterations)
                points, ds, branch = points + 1, 0.1 * ds, None
                continue
        arc.go_back(end)
        found(moved.iterations)
        if stop:
            return Tour(events, stop, None, crossed, branch is not None)
        points += 1
        ds *= min(2.0, max(0.5, 2.0 ** (0.5 * (WANTED - moved.iterations))))
    return Tour(events, "points", None, crossed, branch is not None)


def _same(arc: Arc, a: Stand, b: Stand) -> bool:
    """Whether two equilibria are one."""
    frames = arc.rest.frames
    here, there = arc.rest.state_of(a), arc.rest.state_of(b)
    moved = np.abs(here.r[frames] - there.r[frames]).max() / arc.rest.length
    cosines = np.abs((here.quat[frames] * there.quat[frames]).sum(axis=1))  # of half angles
    turned = np.sqrt(8.0 * max(1.0 - cosines.min(), 0.0))
    near = max(moved, turned) < NEAR_POSE
    return bool(near and abs(a[1] - b[1]) < NEAR_FACTOR * max(1.0, abs(a[1])))


def _longest(arc: Arc, stops: Mapping[str, tuple[float, float]]) -> float:
    """Step that takes no more than a part of the range in which load factor and monitors may go."""
    longest = np.inf
    for name, (low, high) in {LOAD_FACTOR: (-1.0, 1.0), **stops}.items():
        rate = abs(arc.tangent.factor if name == LOAD_FACTOR else arc.tangent.rates[name])
        longest = min(longest, PART * (high - low) / max(rate, 1e-300))
    return float(longest)


def _value(arc: Arc, name: str) -> float:
    return arc.rest.factor if name == LOAD_FACTOR else arc.measured()[name]


def _first_stop(arc: Arc, stops: Mapping[str, tuple[float, float]], start: Kept, ds: float) -> str:
    """The stop that is met within the step, moved to; "" where there is none."""
    end = arc.here()
    for name, (low, high) in stops.items():
        value = _value(arc, name)
        if low <= value <= high:
            continue
        bound = low if value < low else high
        if (
            arc.locate(start, ds, lambda name=name, bound=bound: _value(arc, name) - bound)  # type: ignore[misc]
            != Search.FOUND
        ):
            arc.go_back(end)
        return name
    return ""


def _counted(start: Kept, end: Kept) -> Kept:
    """The end of a step with as many negative eigenvalues as at its start, where one more or less contradicts the determinant and
    the eigenvalue nearest to zero is too small to have a sign: of two that pass zero together, one would be lost there.
    """
    before, after = start[1], end[1]
    known = min(before.down, after.down) >= 0 and before.sign == after.sign
    if known and (after.down - before.down) % 2 and after.stiffness < UNSURE * after.noise:
        return end[0], after._replace(down=before.down)
    return end


def _events(arc: Arc, start: Kept, ds: float, end: Kept) -> Passed:
    """What lies between two equilibria of the path; `arc` is at `end` afterwards."""
    before, after = start[1], end[1]
    events: list[Event] = []
    places: list[Kept] = []
    turned = before.factor * after.factor < 0.0
    complete = True

    def note(kind: str, value: Callable[[], float], certain: bool = True) -> Kept | None:
        """Locate an event; certain: the step is not accepted if there is none."""
        nonlocal complete
        search = arc.locate(start, ds, value)
        place = arc.here() if search == Search.FOUND else None
        if place is not None:
            events.append(Event(kind, arc.factor, arc.measured()))
            places.append(place)
        elif certain or search == Search.JUMPED:
            complete = False
        arc.go_back(end)
        return place

    if turned:
        note(LIMIT, lambda: arc.tangent.factor)
    for name in arc.monitors:
        rates = before.rates[name], after.rates[name]
        # what does not move at all turns back by rounding
        if complete and rates[0] * rates[1] < 0.0 and max(map(abs, rates)) > MOVES * arc.rest.length:
            note(f"turning {name}", lambda name=name: arc.tangent.rates[name], False)  # type: ignore[misc]
    # an eigenvalue that is zero but for round-off has neither a sign nor a place in the count
    blurred = min(before.stiffness - before.noise, after.stiffness - after.noise) < 0.0
    simple = before.sign * before.factor * after.sign * after.factor < 0.0 and not blurred
    # a count that contradicts the determinant is rounding of an eigenvalue that is nearly zero
    crossed = abs(after.down - before.down) if min(before.down, after.down) >= 0 else 0
    several = crossed > int(turned) and (blurred or crossed % 2 == int(before.sign != after.sign))
    place = None
    # the eigenvalue nearest to zero leads there fast, but where the load turns in the same step it leads to the limit
    size = (lambda: 1.0) if turned or blurred else (lambda: arc.tangent.stiffness)
    if not complete:
        pass
    elif crossed > 1 and several and not turned:
        up = 1 if after.down > before.down else -1
        last = -np.inf
        for k in range(before.down, after.down, up):
            # the k-th of them: on this side of it there are not yet so many
            here = note(BIFURCATION, lambda k=k: -1.0 if up * (arc.tangent.down - k) > 0 else 1.0)  # type: ignore[misc]
            if here is None:
                break
            if arc.located - last < APART * ds:
                events.pop()  # two modes at one point
            last = arc.located
            place = place or here
    elif simple:
        sign = before.sign * before.factor
        place = note(BIFURCATION, lambda: size() * np.sign(sign * arc.tangent.sign * arc.tangent.factor))
    elif several:
        place = note(BIFURCATION, lambda: size() * (1.0 if arc.tangent.down == before.down else -1.0))
    return Passed(events, places, place, complete)
