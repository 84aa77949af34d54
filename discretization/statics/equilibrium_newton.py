"""Newton's method for an equilibrium at one load factor, with a tangent of predicted stresses.

    x = -J^-1 r(y),   J: the tangent at y with the stresses that x of the iteration before predicted         (1)

see `discretization.statics.strains`. Progress is judged by the next correction, not by the residual. A
slender rod that is rotated by a finite step is stretched at first, with forces EA/EI L^2 times those of its bending, and yet
nearer to the solution. A correction is taken whole unless it rotates a frame by more than LARGEST_ROTATION. If corrections grow,
the iteration fails, and the load step is cut.

Loads may be less than the round-off of the forces, eps EA: a state that is balanced to round-off is then not an equilibrium under
them. Their part of the residual is known all the same, as the difference of two residuals at one pose, whose round-off is
the same:

    x = -J^-1 (r(y, new loads) - r(y, old loads))                                                            (2)

is taken first. A motion that costs nothing is not disturbed by it, as it would be by a residual that is round-off. But the
tangent may be disturbed: if a rotation costs nothing, its stiffness is round-off, and so is x along it. The stiffness against
a rotation of a frame is known to the round-off of its moment, e_i, against a displacement to that of its force over the
model's size L, so that x is round-off if

    |x . (r(y, new loads) - r(y, old loads))| < sum_i e_i eta_i^2 + e_i dr_i^2/L                                          (3)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.assembly.workspace import NOISE_FACTOR
from discretization.interaction_table import kinds_of_signals
from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.statics.forces import SOLVED
from discretization.statics.iteration import (
    LARGEST_ROTATION,
    MAX_ITERATIONS,
    NOT_CONVERGED,
    SAFE,
    STALLED,
    WORSE,
)
from rigid.system import Floats

__all__ = [
    "MAX_ITERATIONS",
    "NOT_CONVERGED",
    "SAFE",
    "STALLED",
    "WORSE",
    "NewtonOutcome",
    "apply_correction",
    "largest_load",
    "loads_below_roundoff",
    "newton",
    "solve_by_load_direction",
    "unbalanced",
]

CLEAR = 1e-6  # fraction of the largest load: residual forces below this have no effect on any result


class NewtonOutcome(NamedTuple):
    """Outcome of Newton's method."""

    status: int  # SOLVED, or the failure: a key of `discretization.statics.equilibrium_system.FAILURE_REASONS`, or NOT_CONVERGED
    iterations: int
    level: float  # largest residual over its round-off


def newton(statics: EquilibriumSystem) -> NewtonOutcome:
    """Move `statics` to the equilibrium at its load factor. On failure its state is undefined: restore a saved one."""
    return NewtonOutcome(*statics.newton())


def apply_correction(statics: EquilibriumSystem, x: Floats) -> int:
    """Correct the state by x, shortened so that no frame rotates too far; return SOLVED or the reason of the failure.

    The next tangent has the stresses that x predicted.
    """
    return statics.correct(x)


def largest_load(statics: EquilibriumSystem) -> float:
    """Return the largest of: all forces, all moments over the model's size, all weights at this load factor, N."""
    size, frames = np.linalg.norm(statics.values, axis=1), statics.system.frames
    forces = np.array([not kind.torque for kind in kinds_of_signals(statics.system.others)], bool)
    weight = frames.mass[statics.frames].sum() * np.linalg.norm(statics.system.gravity)
    return float(max(size[forces].sum(), size[~forces].sum() / statics.length, weight))


def unbalanced(statics: EquilibriumSystem) -> float:
    """Return the largest residual force, or moment over the model's size, at the last `assemble`, N."""
    return _largest(statics, statics.residual)


def _largest(statics: EquilibriumSystem, forces: Floats) -> float:
    components = np.abs(forces[statics.unknowns])
    return float(max(components[:, :3].max(initial=0.0), components[:, 3:].max(initial=0.0) / statics.length))


def loads_below_roundoff(statics: EquilibriumSystem) -> bool:
    """Return True if loads act and the round-off of the forces is a considerable part of them."""
    load = largest_load(statics)
    return 0.0 < CLEAR * load < NOISE_FACTOR * _largest(statics, statics.work.noise)


def solve_by_load_direction(statics: EquilibriumSystem, before: Floats) -> NewtonOutcome:
    """Move `statics` by (2) to the equilibrium under its loads; return the outcome.

    before: residual (N + 6,) in this state under the loads that it balances.
    """
    statics.assemble(True)
    change = statics.residual - before
    if not statics.factorise():
        return newton(statics)
    x = statics.solve(change)
    if _is_rounding(statics, x, change):
        return newton(statics)
    if not statics.largest_rotation(x) < LARGEST_ROTATION:
        return NewtonOutcome(NOT_CONVERGED, 1, -1.0)
    status = apply_correction(statics, x)
    if status != SOLVED:
        return NewtonOutcome(status, 1, -1.0)
    outcome = newton(statics)
    return outcome._replace(iterations=outcome.iterations + 1)


def _is_rounding(statics: EquilibriumSystem, x: Floats, change: Floats) -> bool:
    """Return True if (3) holds: the loads require a motion that costs nothing."""
    unknowns = statics.unknowns
    noise_work = statics.work.noise[unknowns] * x[unknowns] ** 2
    noise_work[:, :3] /= statics.length
    return bool(abs(x[unknowns].ravel() @ change[unknowns].ravel()) < noise_work.sum())
