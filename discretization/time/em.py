"""`em`: the Cayley energy-momentum step, compiled from one output to the next.

    q1 = (1, psi/2) o q0/sqrt(1 + |psi|^2/4)                                                            (1)
    v1 = 2 dr/h - v0,   Omega1 = 2 R0^T psi/h - Omega0                                                  (2)
    balance of momenta with discrete derivatives, g(1) = 0: see `discretization.assembly`               (3)

Order 2, symmetric, implicit. Conserves: total energy (or its balance with work and dissipation), linear momentum, angular
momentum, |q| = 1, position constraints. The velocities at the ends satisfy the constraints in the mean of a step.

A composition advances by substeps of gamma_i h; since `em` is symmetric this raises the order and keeps every invariant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.assembly import begin_step, load_step, spring_ends, torsion_step
from discretization.space.se3_element import E0
from discretization.time.newton import newton
from rigid.compilation import kernel
from rigid.linear_algebra import apply, apply_transposed, dot
from rigid.springs import spring_force
from rigid.system import COINCIDENT

class March(NamedTuple):
    """What a march over several steps reports."""

    status: int  # of `discretization.time.newton`
    steps: int  # done
    iterations: int
    most_iterations: int
    factorisations: int


@kernel
def _predict(system, numbering, state, work, h):
    """Start of Newton: motion with the acceleration of the last step, multipliers of the last step."""
    frames = system.frames
    omega, acc, psi = work.V[0], state.acc, work.psi
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] != 0:
            continue
        apply(work.R0[f], state.Omega[f], omega)
        for i in range(3):
            work.dr[f, i] = h * (state.v[f, i] + 0.5 * h * acc[f, i])
            psi[f, i] = h * (omega[i] + 0.5 * h * acc[f, 3 + i])
        # a turn by |psi| has the Cayley vector 2 tan(|psi|/2)
        angle = np.sqrt(dot(psi[f], psi[f]))
        if 1e-8 < angle < 3.0:
            longer = 2.0 * np.tan(0.5 * angle) / angle
            for i in range(3):
                psi[f, i] *= longer
    for c in range(system.constraints.kind.shape[0]):
        first = numbering.lam[c]
        for i in range(3 if system.constraints.kind[c] == COINCIDENT else 1):
            work.lam[first + i] = h * state.lam[first + i] / work.scale[c]


@kernel
def _account(system, state, work, h, load_values):
    """Add the work of the loads and the dissipation of the step to state.totals; turn the torsion springs' angles on."""
    force, K6, V = work.vector[0], work.H[0], work.V
    done, lost = 0.0, 0.0
    for l in range(system.loads.kind.shape[0]):
        f = system.loads.frame[l]
        load_step(system.loads, work, load_values[l], l, force)
        for i in range(3):
            done += force[i] * work.dr[f, i] + force[3 + i] * work.psi[f, i]
    if work.viscous:
        elements, de = system.elements, work.vector[1]
        for m in range(elements.length.shape[0]):
            for i in range(6):
                de[i] = work.strain1[m, i] - work.start[m, E0 + i]
            for i in range(6):
                for j in range(6):
                    lost += elements.length[m] / h * de[i] * elements.damping[m, i, j] * de[j]
    springs = system.springs
    for s in range(springs.stiffness.shape[0]):
        if springs.damping[s] != 0.0:
            spring_ends(springs, state, work, s)
            lost += spring_force(0.0, springs.damping[s], 0.0, h, V[8], V[6], V[7])[3]
    for s in range(system.torsions.stiffness.shape[0]):
        delta, dissipated = torsion_step(system.torsions, work, state.angle[s], s, h, False, force, K6)
        state.angle[s] += delta
        lost += dissipated
    state.totals[0] += done
    state.totals[1] += lost


@kernel
def _commit(system, numbering, state, work, h):
    """Take the end of the step over into the state: (1), (2), multipliers, accelerations."""
    frames, Omega, omega0, omega1 = system.frames, work.V[0], work.V[1], work.V[2]
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] != 0:
            continue
        apply(work.R0[f], state.Omega[f], omega0)
        apply_transposed(work.R0[f], work.psi[f], Omega)
        for i in range(3):
            v1 = 2.0 * work.dr[f, i] / h - state.v[f, i]
            state.acc[f, i] = (v1 - state.v[f, i]) / h
            state.v[f, i] = v1
            state.Omega[f, i] = 2.0 * Omega[i] / h - state.Omega[f, i]
            state.r[f, i] = work.r1[f, i]
        for i in range(4):
            state.quat[f, i] = work.q1[f, i]
        apply(work.R1[f], state.Omega[f], omega1)
        for i in range(3):
            state.acc[f, 3 + i] = (omega1[i] - omega0[i]) / h
    for c in range(system.constraints.kind.shape[0]):
        first = numbering.lam[c]
        for i in range(3 if system.constraints.kind[c] == COINCIDENT else 1):
            state.lam[first + i] = work.lam[first + i] * work.scale[c] / h


@kernel
def march(system, numbering, state, work, substeps, load_values, max_iterations, statistics):
    """Advance `state` in place by len(load_values) / len(substeps) steps.

    substeps: (k,) lengths, s; load_values: (steps * k, loads, 3) at the middle of each substep; statistics: (4,) int64 receives
    substeps done, iterations, most iterations, factorisations. On failure the state is the last one reached.
    """
    count = np.zeros(2, dtype=np.int64)
    done = 0
    for step in range(load_values.shape[0]):
        h = substeps[step % substeps.shape[0]]
        count[0] = 0
        begin_step(system, numbering, state, work, h)
        _predict(system, numbering, state, work, h)
        status = newton(system, numbering, state, work, h, load_values[step], max_iterations, count)
        statistics[1] += count[0]
        statistics[2] = max(statistics[2], count[0])
        statistics[3] = count[1]
        if status != 0:
            return status
        _account(system, state, work, h, load_values[step])
        _commit(system, numbering, state, work, h)
        done += 1
        statistics[0] = done
    return 0
