"""Describe the span of a tendon or belt that is about to lose its tangent to a pulley or drum, for messages of failed steps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rigid import quaternions
from rigid.system import State
from rodsim.results.layout import Layout
from rodsim.results.tendon_paths import TendonPath, paths_of

NEARLY = (
    1.0 / 64.0
)  # part of a step, and of a radius: a span this close to losing its tangent may be the cause


def describe_lost_tangent(layout: Layout, state: State, h: float) -> str:
    """Describe a span of a tendon or belt that loses its tangent soon at the present velocities, and the remedy; "" if none does.

    h: step, s.
    """
    soon = _moved(state, NEARLY * h)
    for path in paths_of(layout):
        for a, b in _spans(path, layout, state):
            apart, least = path.distance_of_axes(state, a, b)
            if path.distance_of_axes(soon, a, b)[0] < least and apart < (1.0 + NEARLY) * least:
                kind = layout.description["others"][path.name]["kind"]
                return _describe(f"{kind} '{path.name}'", path, (a, b), (apart, least))
    return ""


def _spans(path: TendonPath, layout: Layout, state: State) -> dict[tuple[int, int], None]:
    """Return the stops of all spans that need a tangent: between neighbours, also where the tendon has come off, and passed ones.

    The wraps of pulleys that the tendon has come off are counted on, with the spans to their neighbours.
    """
    spans: dict[tuple[int, int], None] = {}
    for stops in (np.arange(len(path.radii)), np.flatnonzero(path.touches(layout, state))):
        ends = np.append(stops, stops[0]) if path.closed else stops
        spans |= dict.fromkeys(pairwise(ends.tolist()))
    return spans


def _describe(owner: str, path: TendonPath, stops: tuple[int, int], distances: tuple[float, float]) -> str:
    """Describe the span between two stops, whose axes are at a distance that falls to the least one."""
    (a, b), (apart, least) = stops, distances
    word = "drum" if path.closed else "point"
    if path.radii[a] != 0.0 and path.radii[b] != 0.0:
        return (
            f"{owner}: the circles of {word}s {a} and {b} leave no room for a tangent: their axes are {apart:.6g} m apart, and "
            f"it needs more than {least:.6g} m. Keep them apart by a limit, or give smaller radii"
        )
    point, circle = (a, b) if path.radii[a] == 0.0 else (b, a)
    return (
        f"{owner}: point {point} enters the circle of point {circle}: it is {apart:.6g} m from its axis, with radius = "
        f"{least:.6g} m. Keep it outside by a limit or a contact, or give a smaller radius"
    )


def _moved(state: State, time: float) -> State:
    """Return a state after some time at its velocities, s."""
    turned = quaternions.from_rotation_vector(time * state.Omega)
    return state._replace(r=state.r + time * state.v, quat=quaternions.multiply(state.quat, turned))
