"""Loads of a result as forces and moments of its states, where the file knows their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rigid import quaternions, signals
from rigid.errors import ModelError
from rigid.system import FORCE, Floats, State
from rodsim.results.layout import Layout


class NodeLoad(NamedTuple):
    """A load on a frame; value: t (T,) -> (T, 3), None: not known, for it was a function of the user's."""

    name: str
    kind: int
    frame: int
    X: Floats  # (3,)
    following: bool
    value: Callable[[Floats], Floats] | None


class Acting(NamedTuple):
    """What a load does to its frame at every output."""

    force: Floats  # (T, 3) N
    moment: Floats  # (T, 3) N m, about the origin
    power: Floats  # (T,) W


def node_loads(layout: Layout) -> list[NodeLoad]:
    """All loads of a model, in its order."""
    loads, described = layout.system.loads if layout.system else None, layout.description.get("loads", {})
    if loads is None:
        return []
    # loads at points come first, then those of the nodes of distributed ones
    names = [*described, *(str(k) for k in range(len(described), len(loads.frame)))]
    return [
        NodeLoad(
            name,
            int(loads.kind[k]),
            int(loads.frame[k]),
            loads.X[k],
            bool(loads.following[k]),
            _function(described[name]["value"]) if name in described else None,
        )
        for k, name in enumerate(names)
    ]


def _function(value: Any) -> Callable[[Floats], Floats] | None:
    """The function of time that a description tells."""
    if isinstance(value, dict):
        kind = getattr(signals, str(value.get("signal")), None)
        if not (isinstance(kind, type) and issubclass(kind, signals.Signal)):
            return None
        given = {key: x for key, x in value.items() if key not in ("signal", "direction")}
        try:
            return kind(**given).along(value["direction"])
        except (ModelError, TypeError):
            return None
    if isinstance(value, list) and len(value) == 3:
        constant = np.asarray(value, float)
        return lambda t: np.broadcast_to(constant, (len(t), 3))
    return None


def acting(load: NodeLoad, t: Floats, state: State) -> Acting:
    """Of a load whose value is known, at the outputs `state` with the times t (T,)."""
    assert load.value is not None
    quat, Omega = state.quat[:, load.frame], state.Omega[:, load.frame]
    value = np.asarray(load.value(t), float)
    if load.following:
        value = quaternions.rotate(quat, value)
    omega = quaternions.rotate(quat, Omega)
    if load.kind != FORCE:
        return Acting(np.zeros_like(value), value, np.sum(value * omega, axis=1))
    arm = quaternions.rotate(quat, np.broadcast_to(load.X, value.shape))
    velocity = state.v[:, load.frame] + np.cross(omega, arm)
    return Acting(value, np.cross(state.r[:, load.frame] + arm, value), np.sum(value * velocity, axis=1))
