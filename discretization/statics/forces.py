"""Evaluate forces at rest: the equations of `em` for a step without motion.

With both ends of a step at one pose y and h = 1 the discrete derivatives of `discretization.assembly.step_equations` are
gradients, and its residual is

    F(y) + G(y)^T lam = 0,   g(y) = 0,   F: forces and torques of all energies minus weights and loads       (1)

A discrete derivative is symmetric in the two ends, D(y0, y1) = D(y1, y0). Moving both ends thus has twice the effect of moving
the end alone: if the matrix of `em` is [A G^T; G 0], without the inertia,

    K = d(F + G^T lam)/d(dr, eta) = 2 A,    hence   [A G^T; G 0] [dy; dlam/2] = -[(F + G^T lam)/2; g]          (2)

eta is the spatial rotation. All physics, all elements, the numbering and the linear solvers are those of `em`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import typeof, types

from discretization.assembly.constraint_rows import add_constraint_noise, has_only_common_constraints
from discretization.assembly.generic_assembly import NOT_FINITE as IS_NOT_FINITE
from discretization.assembly.generic_assembly import (
    all_have_closed_loops,
    load_counted_variables,
    store_counted_variables,
)
from discretization.assembly.load_forces import (
    add_load_noise,
    evaluate_load,
    force_of_load,
    write_load_values,
)
from discretization.assembly.rod_spans import passed_pi
from discretization.assembly.step_equations import add_forces, begin_step, move
from discretization.assembly.workspace import Workspace, rotation_of, store_rotation
from discretization.system import System
from discretization.time.newton import factor_as, residual_over_roundoff, solve_as
from rigid.bound_arguments import type_key
from rigid.compilation.decorators import allocating_internal_kernel, compiled, internal_kernel
from rigid.kinematics.rotations import load4, relative_half, rotation_matrix
from rigid.linear_algebra import add3, add_at, dot, load3, load9, product, product_transposed, store3, times
from rigid.system import State

SOLVED, FOLDED, SINGULAR, NOT_FINITE = 0, 1, 2, 3


@internal_kernel
def _set_step_at_rest(system, numbering, state, work):
    """Set both ends of the step to the state, and scale the multipliers as in the equations of `em`."""
    for f in range(system.frames.mass.shape[0]):
        store3((0.0, 0.0, 0.0), work.dr[f])
        store3((0.0, 0.0, 0.0), work.psi[f])
    for c in range(numbering.row.shape[0]):
        first = numbering.lam[c]
        for i in range(numbering.rows[c]):
            work.lam[first + i] = state.lam[first + i] / work.scale[c]
    load_counted_variables(numbering, state, work)
    move(system, state, work)


@internal_kernel
def forces_at_rest(system, numbering, state, work, load_values, tangent, general, acted=True):
    """Compute (1) in work.residual and, if `tangent`, the matrix of (2) in work.values.

    Return the largest residual over its round-off; -1: not finite, -2: an element is folded (relative rotation beyond pi).
    general, acted: see `add_forces`.
    """
    write_load_values(work, load_values)
    begin_step(system, numbering, state, work, 1.0)
    add_load_noise(numbering, work, 1.0)
    _set_step_at_rest(system, numbering, state, work)
    for i in range(work.residual.shape[0]):
        work.residual[i] = 0.0
    if tangent:
        for i in range(numbering.n_values):
            work.values[i] = 0.0
    frames, gravity = system.frames, load3(system.gravity)
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] == 0:
            at = numbering.frame[f]
            add3(times(-frames.mass[f], gravity), work.residual[at : at + 3])
    failed = add_forces(system, numbering, state, work, 1.0, tangent, general, acted)
    if failed != 0:
        return -1.0 if failed == IS_NOT_FINITE else -2.0
    add_constraint_noise(numbering, work)
    return residual_over_roundoff(numbering, work)


def _forces(system, numbering, state, work, load_values, tangent):
    """Compute `forces_at_rest` for any model."""
    return forces_at_rest(system, numbering, state, work, load_values, tangent, True)


def _common_forces(system, numbering, state, work, load_values, tangent):
    """Compute `forces_at_rest` for models without spans and without constraints by duals."""
    return forces_at_rest(system, numbering, state, work, load_values, tangent, None)


def _bare_forces(system, numbering, state, work, load_values, tangent):
    """Compute `forces_at_rest` for models of rods, bodies and common joints only."""
    return forces_at_rest(system, numbering, state, work, load_values, tangent, None, None)


def forces_of(system: System, numbering: Any, state: State, work: Workspace, kind: Any = None) -> Any:
    """Return `forces_at_rest` of such a model as a compiled function, for `discretization.statics.iteration.at_rest`.

    Behind a pointer it is compiled once per model type, and the iteration once for all models.
    kind: key that determines the types of all four arguments, if it is known.
    """
    general = system.spans.kind.size or not all_have_closed_loops(work.generic_groups)
    plain = _bare_forces if has_only_common_constraints(system) else _common_forces
    which, models = _forces if general else plain, (system, numbering, state, work)
    # fingerprints take a fraction of the time of types
    key = which, kind or tuple(map(type_key, models))
    if key not in _known:
        _known[key] = _compiled(which, *map(typeof, models))
    return _known[key]


_known: dict[Any, Any] = {}


@functools.cache
def _compiled(forces: Any, *models: Any) -> Any:
    return compiled(types.float64(*models, types.float64[:, ::1], types.boolean))(forces)


@internal_kernel
def external_forces(system, numbering, state, work, load_values, gravity, out):
    """Compute loads and weights in out (N + 6,), at the present poses of `forces_at_rest`.

    They are minus their part of (1).
    """
    for i in range(out.shape[0]):
        out[i] = 0.0
    frames = system.frames
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] == 0:
            at = numbering.frame[f]
            add3(times(frames.mass[f], load3(gravity)), out[at : at + 3])
    write_load_values(work, load_values)
    for l in range(work.generic_groups.signals.shape[0]):
        for k in range(evaluate_load(l, state, work, 1.0)):
            f, force, torque = force_of_load(l, k, work)
            at = numbering.frame[f]
            add3(force, out[at : at + 3])
            add3(torque, out[at + 3 : at + 6])


@internal_kernel
def add_mass(system, numbering, work, factor):
    """Add factor M, M = diag(m, R J R^T), to the matrix of (2)."""
    frames = system.frames
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] != 0:
            continue
        base, stride = numbering.frame_base[f], numbering.frame_stride[f]
        for j in range(3):
            work.values[base + j + j * stride] += factor * frames.mass[f]
        R = rotation_of(work.R0, f)
        J = product_transposed(product(R, load9(frames.inertia[f])), R)
        add_at(work.values, base, stride, 1, 1, factor, J)


@allocating_internal_kernel
def factor_at_rest(beyond, numbering, work):
    """Factorise the matrix (LU) and return SOLVED or SINGULAR; beyond: `discretization.time.newton.has_blocks_beyond_band`."""
    return SINGULAR if factor_as(beyond, numbering, work) != 0 else SOLVED


@allocating_internal_kernel
def solve_at_rest(beyond, numbering, work, is_row, residual, x):
    """Solve (2) for x (N,) = (dy, dlam in the scale of the rows), given a residual (N + 6,) of (1)."""
    for i in range(numbering.size):
        work.rhs[i] = -residual[i] if is_row[i] else -0.5 * residual[i]
    solve_as(beyond, numbering, work)
    for i in range(numbering.size):
        x[i] = 2.0 * work.rhs[i] if is_row[i] else work.rhs[i]


@internal_kernel
def _passed_pi(system, state, work):
    """Return True if an element was folded on the way from the state to r1, q1."""
    pairs = system.elements.frames
    for m in range(pairs.shape[0]):
        a, b = pairs[m, 0], pairs[m, 1]
        before = relative_half(load4(state.quat[a]), load4(state.quat[b]))[0]
        if before * relative_half(load4(work.q1[a]), load4(work.q1[b]))[0] <= 0.0:
            return True
    spans = system.spans
    for m in range(spans.kind.size):  # noqa: SIM110  numba compiles loops
        if passed_pi(state, work, spans.frames[m], work.spans.order[m]):
            return True
    return False


@internal_kernel
def advance_state(system, numbering, state, work, x, factor):
    """Move the state by factor x: positions, rotations by the angles |eta|, multipliers, counted angles.

    Return SOLVED; or FOLDED or NOT_FINITE, and then the state is unchanged.
    """
    frames = system.frames
    for f in range(frames.mass.shape[0]):
        store_rotation(work.R0, f, rotation_matrix(load4(state.quat[f])))
        if frames.fixed[f] != 0:
            continue
        at = numbering.frame[f]
        rotation = times(factor, load3(x[at + 3 : at + 6]))
        angle = np.sqrt(dot(rotation, rotation))
        if not angle < 3.0:
            return NOT_FINITE
        if angle > 1e-8:
            rotation = times(2.0 * np.tan(0.5 * angle) / angle, rotation)
        store3(times(factor, load3(x[at : at + 3])), work.dr[f])
        store3(rotation, work.psi[f])
    move(system, state, work)
    if _passed_pi(system, state, work):
        return FOLDED
    load_counted_variables(numbering, state, work)
    store_counted_variables(state, work)
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] != 0:
            continue
        store3(load3(work.r1[f]), state.r[f])
        for i in range(4):
            state.quat[f, i] = work.q1[f, i]
    for c in range(numbering.row.shape[0]):
        first = numbering.lam[c]
        for i in range(numbering.rows[c]):
            state.lam[first + i] += factor * work.scale[c] * x[numbering.row[c] + i]
    return SOLVED
