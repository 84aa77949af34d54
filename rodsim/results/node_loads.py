"""List the loads on the frames of a result, with their values if the file stores them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.interaction_table import signals_of
from discretization.space.interpolation import VALUES
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim import signals
from rodsim.results.layout import Layout
from rodsim.results.rod_interpolation import order_of

Value = Callable[[Floats], Floats]  # function of times t (T,), s, that returns forces or moments (T, 3)


class NodeLoad(NamedTuple):
    """A load on a frame.

    `value`: function of times t (T,) that returns (T, 3), or None if it is not known, because it was a user's function.
    """

    name: str
    frame: int
    value: Value | None


def node_loads(layout: Layout) -> list[NodeLoad]:
    """Return all loads of a model, in the order of its table."""
    described = layout.description.get("loads", {})
    if layout.system is None:
        return []
    interactions = layout.system.others
    frames = interactions.frames[signals_of(interactions), 0]
    # loads at points come first, then the nodal loads of distributed loads
    named: list[tuple[str, Value | None]] = [
        (f"load '{name}'", _function(entry["value"])) for name, entry in described.items()
    ]
    for name, entry in layout.description.get("line_loads", {}).items():
        lengths = _tributary_lengths(layout, entry)
        if not np.array_equal(frames[len(named) : len(named) + len(lengths)], list(lengths)):
            break
        value = _function(entry["value"])
        named += [(f"load '{name}'", value and _times(x, value)) for x in lengths.values()]
    for name, entry in layout.description.get("joint_forces", {}).items():
        for direction in entry["directions"]:
            named.append((f"joint force '{name}'", _along(entry["value"], direction)))
    inputs = layout.description.get("inputs", ())
    count = sum(entry["count"] for entry in inputs)
    named += [("a load along it, or a wind", None)] * (len(frames) - len(named) - count)
    for entry in inputs:
        factors = np.broadcast_to(
            entry.get("factor", 0.0), (entry["count"], 3)
        )  # one for each, or one for all
        for factor in factors.tolist():
            value = _along(entry["value"], factor) if "value" in entry else None
            named.append((entry["of"], value and _plus(value, entry["base"])))
    return [NodeLoad(name, int(frames[k]), value) for k, (name, value) in enumerate(named)]


def _along(value: Any, direction: list[float]) -> Value | None:
    """Return the function of time of a described scalar along a direction; None if it is not known."""
    if isinstance(value, int | float):
        return _function([value * x for x in direction])
    return _function({**value, "direction": direction}) if isinstance(value, dict) else None


def _plus(value: Value, base: list[float]) -> Value:
    """Return the function `value` with three constant numbers added."""
    return lambda t: value(t) + np.array(base)


def values_at(loads: Sequence[NodeLoad], t: Floats) -> Floats:
    """Return the values of l loads at times t (T,), s, (T, l, 3); zero for loads that a file does not store."""
    none = np.zeros((len(t), 3))
    known = [none if load.value is None else np.broadcast_to(load.value(t), none.shape) for load in loads]
    return np.stack(known, axis=1) if known else np.zeros((len(t), 0, 3))


def _tributary_lengths(layout: Layout, line: dict[str, Any]) -> dict[int, float]:
    """Return, by frame, the length of rod that each node with a part of a distributed load represents, m.

    `line`: description of the distributed load (`distributed_loads`).
    """
    rod = next(rod for rod in layout.rods if rod.name == line["rod"])
    assert layout.system is not None
    p, weight = order_of(layout.system, rod), layout.system.rods.points.weight
    element_weights = weight[rod.elements].reshape(-1, p)
    length = element_weights.sum(axis=1)
    middle = (np.cumsum(length) - 0.5 * length) / length.sum()
    lengths: dict[int, float] = {}
    for e in np.flatnonzero((middle > line["between"][0]) & (middle < line["between"][1])):
        for a, x in enumerate(element_weights[e] @ VALUES[p, :p, : p + 1]):
            frame = int(rod.frames[(p * e + a) % len(rod.frames)])
            lengths[frame] = lengths.get(frame, 0.0) + float(x)
    return {frame: lengths[frame] for frame in rod.frames.tolist() if frame in lengths}


def _times(length: float, value: Value) -> Value:
    """Return the function `value` multiplied by a length, m: a nodal load."""
    return lambda t: length * np.asarray(value(t))


def _function(value: Any) -> Value | None:
    """Return the function of time that a description of a load defines; None if it defines none."""
    if isinstance(value, dict) and "components" in value:
        parts = [
            _function({**component, "direction": axis})
            for component, axis in zip(value["components"], np.eye(3), strict=True)
        ]
        known = [component for component in parts if component is not None]
        return (lambda t: np.sum([component(t) for component in known], axis=0)) if len(known) == 3 else None
    if isinstance(value, dict):
        kind = getattr(signals, str(value.get("signal")), None)
        if not (isinstance(kind, type) and issubclass(kind, signals.Signal)):
            return None
        arguments = {key: x for key, x in value.items() if key not in ("signal", "direction")}
        try:
            return kind(**arguments).along(value["direction"])
        except (ModelError, TypeError):
            return None
    if isinstance(value, list) and len(value) == 3:
        constant = np.asarray(value, float)
        return lambda t: np.broadcast_to(constant, (len(t), 3))
    return None
