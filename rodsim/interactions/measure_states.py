"""Faster functions of a kind whose states and force depend on one measure q of two anchors alone.

The change of q over a step is computed once; the equations of the states x1 are then solved without poses,

    evolve_at(q, x0, x1, h) = 0,    dual = -F(q, x0, x1, h) dq,    q = (q0, q1, q1 - q0)                         (1)

with the discrete derivative dq of the measure. For an angle the derivative of (1) has a closed form: with F' = dF/dq1, where x1
follows q1, that of a torsion spring with the moment -F and the slope -F' (`rigid.interactions.torsion_spring.torque_of_moment`).
F' is one complex step of q1.
"""

from __future__ import annotations

import math
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from rigid.compilation.decorators import compiled_in_folder, inline_kernel, internal_kernel_in_folder
from rigid.interactions.kinds import COMPLEX_STEP, DUAL, TANGENT, VALUE, Kind
from rigid.interactions.torsion_spring import change_of_angle, torque_of_moment, write_couple
from rigid.linear_algebra import dot
from rodsim.interactions.internal_states import solve_for_states
from rodsim.interactions.user_functions import (
    ANCHOR,
    anchor_poses,
    folder_of,
    give_unique_name,
    make_compilable,
    pull_back,
)

# replaced for each kind: number of states, function of the change of the measure, function that adds its discrete derivative,
# the function that solves for x1, its iteration, the force, the rates of the states, the energy that they store, and `_write_end`
STATES = 0
MEASURE: Any = None
PUSH: Any = None
SOLVE: Any = None
ITERATE: Any = None
FORCE: Any = None
RATES: Any = None
STORED_ENERGY: Any = None
_FIRST = 2 * ANCHOR  # number of parameters before those of the equations


@inline_kernel
def _axis(y, X, k, i):
    """Return axis i of anchor k at the real poses y."""
    at = ANCHOR * k + 3 + i
    a, b, c = X[at], X[at + 3], X[at + 6]
    return (
        a * y[k, 1, 0].real + b * y[k, 2, 0].real + c * y[k, 3, 0].real,
        a * y[k, 1, 1].real + b * y[k, 2, 1].real + c * y[k, 3, 1].real,
        a * y[k, 1, 2].real + b * y[k, 2, 2].real + c * y[k, 3, 2].real,
    )


@inline_kernel
def _angle_over_step(y0, y1, X):
    """Return the angle at both ends of a step, its change, and the first and second axis of a and the first of b at both ends."""
    start = _axis(y0, X, 0, 0), _axis(y0, X, 0, 1), _axis(y0, X, 1, 0)
    end = _axis(y1, X, 0, 0), _axis(y1, X, 0, 1), _axis(y1, X, 1, 0)
    before, change = math.atan2(dot(start[1], start[2]), dot(start[0], start[2])), change_of_angle(start, end)
    return before, before + change, change, start, end


def _solve_affine(q, x0, h, X):
    """Return the one state x1, whose rate is an affine function of it, without scratch arrays."""
    real, at = (q[0].real + 0j, q[1].real + 0j, q[2].real + 0j), x0[0] + 0j
    slope = RATES(real, x0, (at + COMPLEX_STEP * 1j,), h, X)[0].imag / COMPLEX_STEP
    return (at + RATES(q, x0, (at,), h, X)[0] / (1.0 / h - slope),)


def _solve(q, x0, h, X):
    """Return the states x1."""
    x1 = np.empty(STATES, np.complex128)
    ITERATE(q, q, x0, x0, h, X, x1)
    return x1


def _dual(y0, y1, X, lam, out):
    """Evaluate the dual (1) of a step of length 1/lam, s."""
    p0, p1 = np.empty((2, 4, 3), np.complex128), np.empty((2, 4, 3), np.complex128)
    f = np.zeros((2, 4, 3), np.complex128)
    last, h = X.shape[0] - STATES, 1.0 / lam[0].real
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    q = MEASURE(p0, p1, 0, 1)
    x1 = SOLVE(q, X[last:], h, X[_FIRST:last])
    PUSH(f, p0, p1, 0, 1, -FORCE(q, X[last:], x1, h, X[_FIRST:last]))
    pull_back(f, X, 1.0, out)


def _updated_states(y0, y1, X, lam, out):
    """Compute the states x1 at the end of a step of length 1/lam, s, and the work of the step."""
    p0, p1 = np.empty((2, 4, 3), np.complex128), np.empty((2, 4, 3), np.complex128)
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    _write_end(MEASURE(p0, p1, 0, 1), X, lam, out)


def _states_of_angle(y0, y1, X, lam, out):
    """Compute the states x1 at the end of a step of length 1/lam, s, from the angle at real poses, and the work of the step."""
    q0, q1, change, _, _ = _angle_over_step(y0, y1, X)
    _write_end((q0 + 0j, q1 + 0j, change + 0j), X, lam, out)


def _write_end(q, X, lam, out):
    """Write the states x1 at the end of a step of length 1/lam, s, and the work -F (q1 - q0) of the dual."""
    last, h = X.shape[0] - STATES, 1.0 / lam[0].real
    x1 = SOLVE(q, X[last:], h, X[_FIRST:last])
    for i in range(STATES):
        out[0, i // 3, i % 3] = x1[i].real
    out[1, 0, 0] = -FORCE(q, X[last:], x1, h, X[_FIRST:last]).real * q[2].real


def _tangent_of_angle(y0, y1, X, lam, out, K):
    """Write the torques of a step of length 1/lam, s, on an angle, and their derivatives."""
    last, h = X.shape[0] - STATES, 1.0 / lam[0].real
    q0, q1, change, start, end = _angle_over_step(y0, y1, X)
    step = COMPLEX_STEP * 1j
    q = q0 + 0j, q1 + step, change + step
    F = FORCE(q, X[last:], SOLVE(q, X[last:], h, X[_FIRST:last]), h, X[_FIRST:last])
    torque, to_a, to_b = torque_of_moment(-F.real, -F.imag / COMPLEX_STEP, change, start, end)
    write_couple(K, torque, to_a, to_b)


def _stored_energy(y, X, out):
    """Evaluate the energy that the states store."""
    last = X.shape[0] - STATES
    out[0] = STORED_ENERGY(X[last:], X[_FIRST:last])


def solved_on_the_measure(
    kind: Kind, module: ModuleType, coordinate: str, digest: str, affine: bool = False
) -> Kind:
    """Return the kind of state equations with the functions of this module.

    module: generated module with `evolve_at`, `force_at` and the functions of the measure `coordinate`; affine: the rates are
    affine functions of the states.
    """
    known: dict[FunctionType, Any] = {}
    folder = folder_of(digest)
    namespace = {
        **globals(),
        "STATES": kind.n_internal,
        "MEASURE": getattr(module, coordinate),
        "PUSH": getattr(module, f"push_{coordinate}"),
        "FORCE": make_compilable(module.force_at, digest, known),
        "RATES": make_compilable(module.rates_at, digest, known),
    }
    simple = affine and kind.n_internal == 1
    if not simple:
        evolve = make_compilable(module.evolve_at, digest, known)
        namespace["ITERATE"] = solve_for_states(evolve, digest, affine)
    solve = _named(_solve_affine if simple else _solve, namespace, digest)
    namespace["SOLVE"] = internal_kernel_in_folder(solve, folder)
    namespace["_write_end"] = internal_kernel_in_folder(_named(_write_end, namespace, digest), folder)

    def made(function: Any, signature: Any) -> Any:
        return compiled_in_folder(signature, _named(function, namespace, digest), folder)

    couple = coordinate == "angle"
    updated = _states_of_angle if couple else _updated_states
    condensed = kind.condensed._replace(update_internal=made(updated, DUAL), returns_work=True)
    if hasattr(module, "stored_at"):
        namespace["STORED_ENERGY"] = make_compilable(module.stored_at, digest, known)
        condensed = condensed._replace(stored_energy=made(_stored_energy, VALUE))
    tangent = made(_tangent_of_angle, TANGENT) if couple else None
    return kind._replace(dual=made(_dual, DUAL), condensed=condensed, tangent=tangent, couple=couple)


def _named(function: Any, namespace: dict[str, Any], digest: str) -> FunctionType:
    """Return a copy of a function of this module with other globals and a name that is unique to the digest."""
    return give_unique_name(
        FunctionType(function.__code__, namespace), f"{function.__name__}_of_measure", digest
    )
