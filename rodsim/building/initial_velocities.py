"""Make initial velocities consistent with the joints.

Velocities that the user left out follow from the joints. A warning names given velocities that had to be changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.characteristic_length import extent
from discretization.consistent_velocities import prescribed_velocity_changes, project_velocities
from discretization.initial_rates import with_initial_rates
from rigid.errors import InitialVelocityWarning
from rigid.system import State
from rigid.user_warnings import warn_user
from rodsim.building.build import Built

REPORTED_CHANGE = 1e-9  # changes below this fraction of the model's speed are round-off


class FittedVelocities(NamedTuple):
    """Hold a state whose velocities are consistent with the joints."""

    state: State
    change: float  # largest change of a given velocity, m/s or rad/s
    # parts whose given velocities were changed: largest changes, m/s and rad/s
    parts: dict[str, tuple[float, float]]


def fit_velocities(built: Built, warn: bool = True) -> FittedVelocities:
    """Return the initial state of a model with velocities that its joints allow, see `discretization.consistent_velocities`.

    Warns (InitialVelocityWarning) if given velocities had to be changed. `warn`: False suppresses the warning.
    """
    state, change = project_velocities(built.system, built.state, built.prescribed_velocities)
    if state is built.state:
        return FittedVelocities(state, change, {})
    state = with_initial_rates(built.system, state)
    layout = built.layout
    by_frame = prescribed_velocity_changes(built.prescribed_velocities, built.state, state)
    size = extent(state.r)
    speed, rate = (float(np.linalg.norm(x, axis=1).max()) for x in (built.state.v, built.state.Omega))
    least = REPORTED_CHANGE * np.array([speed + rate * size, rate + speed / size])
    frames = {f"body '{body.name}'": np.array([body.frame]) for body in layout.bodies}
    frames |= {f"rod '{rod.name}'": rod.frames for rod in layout.rods}
    largest = {name: by_frame[of_part].max(axis=0) for name, of_part in frames.items()}
    parts = {name: (float(x[0]), float(x[1])) for name, x in largest.items() if (x > least).any()}
    if parts and warn:
        # the warning points at the call of `simulate`
        warn_user(_warning_text(layout.name, parts), InitialVelocityWarning)
    return FittedVelocities(state, change, parts)


def _warning_text(model: str, parts: dict[str, tuple[float, float]]) -> str:
    """Return the text of the warning: the parts with the largest changes first."""
    ordered = sorted(parts.items(), key=lambda item: -max(item[1]))
    descriptions = [f"{name} by {v:.3g} m/s and {omega:.3g} rad/s" for name, (v, omega) in ordered[:5]]
    remainder = f", and {len(ordered) - 5} parts more" if len(ordered) > 5 else ""
    return (
        f"model '{model}': initial velocities do not fit the joints and were changed: {', '.join(descriptions)}{remainder}; "
        "remove those that should follow from the joints"
    )
