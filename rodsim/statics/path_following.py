"""Follow paths of equilibria by arc-length for `equilibrium`: check monitors and stops, and follow the path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.statics.arc_length import ArcLengthPath, SingularTangent
from discretization.statics.continuation import LOAD_FACTOR, follow_path
from discretization.statics.equilibrium_newton import NewtonOutcome
from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.statics.forces import SINGULAR
from rigid import checks, quaternions
from rigid.errors import ModelError
from rigid.system import Floats, State
from rodsim.building.placement import Placement
from rodsim.components.model_parts import Anchor, Ground
from rodsim.components.part_lookup import find_point
from rodsim.equilibrium_methods import ArcLength
from rodsim.model import Model
from rodsim.statics.equilibrium_results import Record

FIRST_ARC = 0.02  # length of the first step, in the norm of `EquilibriumSystem`
ROUNDING = 1e-9  # tolerance relative to the range of a stop


class PathSettings(NamedTuple):
    """Checked settings of a path."""

    monitors: dict[str, Callable[[State], float]]  # name -> displacement in a state, m
    stops: dict[str, tuple[float, float]]  # monitor or load factor -> lowest and highest value
    branch: tuple[int, float] | None  # number of the bifurcation, and side (1 or -1)
    most_points: int


def path_settings(
    model: Model,
    monitors: Mapping[str, tuple[Anchor | str, ArrayLike]] | None,
    method: ArcLength,
) -> PathSettings:
    """Check the monitors and the settings of a path; return them."""
    stop, branch = method.stop, method.branch
    checks.by_name("equilibrium", "stop", stop, "{'load_factor' or a monitor: (lowest, highest)}")
    checked = {name: _monitor(model, name, monitor) for name, monitor in (monitors or {}).items()}
    stops = {LOAD_FACTOR: (-1.0, 1.0)} if stop is None else {}
    for name, bounds in (stop or {}).items():
        if name != LOAD_FACTOR and name not in checked:
            raise ModelError(
                f"equilibrium: stop at '{name}', which is not a monitor; choose {', '.join([LOAD_FACTOR, *checked])}"
            )
        low, high = checks.vector("equilibrium", f"stop of {name}", bounds, 2)
        if not low < high:
            raise ModelError(
                f"equilibrium: stop of {name} = ({low:g}, {high:g}); give the lowest value first, then a higher one"
            )
        stops[name] = (float(low), float(high))
    if isinstance(branch, bool) or not isinstance(branch, int | np.integer):
        raise ModelError(
            f"equilibrium: branch = {checks.shown(branch)}; give the number of a bifurcation, from 1"
        )
    side = (abs(int(branch)), float(np.sign(branch))) if branch else None
    return PathSettings(checked, stops, side, checks.count("equilibrium", "most_points", method.most_points))


def _monitor(model: Model, name: str, monitor: Any) -> Callable[[State], float]:
    """Return a function of the state that gives the displacement of a point along a direction, m."""
    owner = f"monitor '{name}'"
    try:
        anchor, along = monitor
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: {checks.shown(monitor)} is not (point, direction); give both") from None
    anchor = find_point(owner, model, anchor)
    if name == LOAD_FACTOR or not isinstance(anchor, Anchor) or isinstance(anchor.part, Ground):
        raise ModelError(f"{owner}: give a name of its own and a point of a body or a rod")
    direction = checks.direction(owner, "direction", along)
    point = Placement(model).place(anchor)

    def value(state: State) -> float:
        at: Floats = state.r[point.frame] + quaternions.rotate(state.quat[point.frame], point.X)
        return float(np.dot(at - point.world, direction))

    return value


def follow(
    statics: EquilibriumSystem, record: Record, settings: PathSettings, first: float
) -> NewtonOutcome | None:
    """Follow the path from the current equilibrium of `statics`; return None, or why it ended before a stop.

    Equilibria are added to the record. Raises ModelError if the path begins beyond a stop, or ends before the bifurcation at
    which it should be left.
    """
    for name, (low, high) in settings.stops.items():
        value = statics.factor if name == LOAD_FACTOR else settings.monitors[name](statics.state)
        slack = ROUNDING * (high - low)
        if not low - slack <= value <= high + slack:
            raise ModelError(
                f"equilibrium: the path begins at {name} = {value:g}, beyond its stop ({low:g}, {high:g}); give a stop around it"
            )
    try:
        arc = ArcLengthPath(statics, settings.monitors)
    except SingularTangent:
        return NewtonOutcome(SINGULAR, 0, 0.0)

    def reached(iterations: int) -> None:
        record.add(statics.factor, statics, iterations)

    ended = follow_path(arc, settings.stops, settings.most_points, first, reached, settings.branch)
    if settings.branch is not None and ended.failure is None and ended.waits:
        passed = ended.crossed
        count = f"{passed} bifurcation{'s' if passed > 1 else ''}" if passed else "no bifurcation"
        ended_by = f"stop of {ended.stopped}" if ended.stopped in settings.stops else "most_points"
        raise ModelError(
            f"equilibrium: branch = {int(settings.branch[0] * settings.branch[1])}, but the path has {count} up to load factor "
            f"{statics.factor:.6g}, where its {ended_by} ended it; give {f'at most {passed}' if passed else 'no branch'}, or let "
            "the path go further"
        )
    record.settings["stopped"] = ended.stopped
    record.settings["events"] = [
        {"kind": event.kind, "load_factor": float(event.factor), "monitors": event.monitors}
        for event in ended.events
    ]
    return ended.failure
