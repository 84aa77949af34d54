"""From checked scenes to prescribed motions and laws."""

from __future__ import annotations

from typing import Any

from rigid import signals
from rodsim.parts.spring_laws import Law
from rodsim.scenes import schema_motion
from rodsim.scenes.errors import Path, SceneProblem

_SIGNALS = {
    "constant": signals.Constant,
    "sine": signals.Sine,
    "steady": signals.Steady,
    "smooth step": signals.SmoothStep,
    "spin-up": signals.SpinUp,
    "smooth table": signals.SmoothTable,
}


def motion_of(path: Path, given: Any) -> signals.Signal:
    """Of a coordinate."""
    if given.direction is not None:
        raise SceneProblem(path, "a turn and a coordinate of a joint have no direction; leave it out")
    return _signal(given)


def displacements_of(path: Path, given: list[Any]) -> list[signals.VectorSignal] | None:
    """Along their directions."""
    for k, item in enumerate(given):
        if item.direction is None:
            raise SceneProblem((*path, k), "a displacement needs a direction; give `direction: [x, y, z]`")
    return [_signal(item).along(item.direction) for item in given] or None


_LOADS = {
    "constant": signals.Constant,
    "table": signals.Table,
    "ramp": signals.Ramp,
    "triangle": signals.Triangle,
    "sine": signals.Sine,
    "pulse": signals.Pulse,
}


def value_of(given: Any) -> Any:
    """Of a load: a constant vector, or a function of time along its direction."""
    if isinstance(given, list):
        return given
    fields = given.model_dump(exclude={"function", "direction"})
    return _LOADS[given.function](**fields).along(given.direction)


def _signal(given: Any) -> signals.Signal:
    return _SIGNALS[given.function](**given.model_dump(exclude={"function", "direction"}))


def law_of(given: Any) -> Law | None:
    """Of a spring or a damper."""
    if given is None:
        return None
    if isinstance(given, schema_motion.TableLaw):
        return Law.table(given.x, given.force, given.interpolation)
    return Law.polynomial(given.coefficients, given.reach)
