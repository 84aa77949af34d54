"""Dynamic relaxation: find the equilibrium that is the limit of a motion with mass-proportional damping.

    M dy/dtau = -(F + G^T lam),   g = 0                                                                       (1)

in linearly implicit steps (M/delta + K) x + G^T dlam = -(F + G^T lam), G x = -g. Their length grows with progress: the first
steps follow the motion, the last are Newton's. The method finds equilibria that Newton's method alone does not: those
of chains and mechanisms that begin slack, whose K is singular, and the next stable one beyond a limit of the load.

Along (1) the energy falls. If the determinant of the matrix has another sign than with delta = 0, M/delta + K is not positive
on the motions the joints allow, and the step would climb: it is cut. If two eigenvalues change their sign together, as
those of a round rod do, the sign of the determinant does not change: `every_way` counts them. A step whose stresses
were predicted wrongly (`discretization.statics.strains`) does no harm: the next step corrects it.
"""

from __future__ import annotations

import numpy as np

from discretization.statics.equilibrium_newton import (
    NOT_CONVERGED,
    SAFE,
    STALLED,
    NewtonOutcome,
    apply_correction,
)
from discretization.statics.equilibrium_system import NOTHING, EquilibriumSystem
from discretization.statics.forces import SOLVED
from discretization.statics.load_steps import find_equilibrium
from discretization.statics.stability import negative_count

MAX_STEPS = 2000  # largest number of steps
STEP_ROTATION, FAR = 0.3, 0.15  # rad; fraction of the model's length: largest motion of a frame in a step
GROWTH, CUT = 2.0, 0.25


def relax(statics: EquilibriumSystem, max_steps: int = MAX_STEPS, every_way: bool = False) -> NewtonOutcome:
    """Move `statics` to an equilibrium at its load factor by (1).

    most: largest number of steps. every_way: True to prevent steps that climb along any motion, at the cost of factors that count
    the negative pivots for each step.
    """
    level = statics.assemble(True)
    if level < 0.0:
        return NewtonOutcome(NOT_CONVERGED, 0, level)
    delta = _first(statics)
    shortest = 1e-12 * delta
    statics.add_mass(1.0 / shortest)
    if not statics.factorise():
        return NewtonOutcome(NOT_CONVERGED, 0, level)
    sign = statics.determinant_sign()
    before, step = float("inf"), 0
    statics.excess[:] = 0.0
    while step < max_steps:
        step += 1
        if level <= statics.convergence_level():
            return NewtonOutcome(SOLVED, step, level)
        statics.assemble_predicted_tangent()
        statics.add_mass(1.0 / delta)
        climbs = every_way and negative_count(statics) > 0
        if climbs or not statics.factorise() or statics.determinant_sign() != sign:
            delta *= CUT
            if delta < shortest:
                break
            continue
        x = statics.solve(statics.residual)
        size = statics.norm(x)
        if (
            level <= SAFE
            and ((size < STALLED and level > 0.3 * before) or size < 1e-13)
            and delta > 1e3 * shortest
        ):
            return NewtonOutcome(SOLVED, step, level)
        relative_motion = max(
            statics.largest_rotation(x) / STEP_ROTATION,
            _largest_shift(statics, x) / min(FAR * statics.length, statics.max_shift),
        )
        if not relative_motion < 1.0:
            delta *= max(CUT, 0.5 / relative_motion) if np.isfinite(relative_motion) else CUT
            if delta < shortest:
                break
            continue
        saved = statics.save()
        excess = statics.excess.copy()
        status = apply_correction(statics, x)
        before, level = level, statics.assemble(False) if status == SOLVED else -1.0
        if level < 0.0:
            statics.restore_saved(saved)
            statics.excess[:] = excess
            level = statics.assemble(False)
            delta *= CUT
            continue
        delta *= GROWTH
    return NewtonOutcome(NOT_CONVERGED, step, level)


def relax_with_friction(
    statics: EquilibriumSystem, max_steps: int = MAX_STEPS, every_way: bool = False
) -> NewtonOutcome:
    """Move `statics` to an equilibrium at its load factor by `relax`, without friction and from there to one with friction.

    If friction alone holds a part, the relaxation runs with sticking contacts, and if that fails with sliding ones.
    """
    if statics.friction is None:
        return relax(statics, max_steps, every_way)
    saved = statics.save()
    for acts in (False, True):
        statics.let_friction_act(acts, slides=False)
        relaxed = relax(statics, max_steps, every_way)
        statics.let_friction_act(True)
        if relaxed.status == SOLVED and find_equilibrium(statics) is None:
            return relaxed
        statics.restore_saved(saved)
    return relax(statics, max_steps, every_way)


def _largest_shift(statics: EquilibriumSystem, x: np.ndarray) -> float:
    return float(np.sqrt((x[statics.unknowns[:, :3]] ** 2).sum(axis=1).max(initial=0.0)))


def _first(statics: EquilibriumSystem) -> float:
    """Return the first step length: by the forces alone no frame would move or rotate more than a step may."""
    forces = statics.residual[statics.unknowns]
    frames = statics.system.frames
    mass = frames.mass[statics.frames]
    inertia = np.linalg.eigvalsh(frames.inertia[statics.frames])[:, 0]
    # massless frames follow the other frames
    slow = np.where(mass > NOTHING, mass, np.inf)
    fastest = np.linalg.norm(forces[:, :3], axis=1) / slow / (FAR * statics.length)
    fastest_rotation = (
        np.linalg.norm(forces[:, 3:], axis=1)
        / np.where(mass > NOTHING, np.maximum(inertia, 1e-300), np.inf)
        / STEP_ROTATION
    )
    largest = max(float(fastest.max(initial=0.0)), float(fastest_rotation.max(initial=0.0)))
    return 1.0 / largest if largest > 0.0 else 1.0
