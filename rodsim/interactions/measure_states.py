"""Faster functions of a kind whose states and force depend on one measure q of two anchors alone.

The change of q over a step is computed once; the equations of the states x1 are then solved without poses,

    evolve_at(q, x0, x1, h) = 0,    dual = -F(q, x0, x1, h) dq,    q = (q0, q1, q1 - q0)                         (1)

with the discrete derivative dq of the measure. For an angle the derivative of (1) has a closed form: with F' = dF/dq1, where x1
follows q1, that of a torsion spring with the moment -F and the slope -F' (`rigid.interactions.torsion_spring.torque_of_moment`).
F' is one complex step of q1.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from rigid.compilation.decorators import compiled_in_folder, inline_kernel
from rigid.interactions.kinds import COMPLEX_STEP, DUAL, TANGENT, Kind
from rigid.interactions.torsion_spring import torque_of_moment, write_tangent
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
# the function that solves for x1, and the force
STATES = 0
MEASURE: Any = None
PUSH: Any = None
SOLVE: Any = None
FORCE: Any = None
_FIRST = 2 * ANCHOR  # number of parameters before those of the equations


@inline_kernel
def real_axis(p, k, i):
    """Return the real part of axis i of anchor k."""
    return p[k, i, 0].real, p[k, i, 1].real, p[k, i, 2].real


def _dual(y0, y1, X, lam, out):
    """Evaluate the dual (1) of a step of length 1/lam, s."""
    p0, p1 = np.empty((2, 4, 3), np.complex128), np.empty((2, 4, 3), np.complex128)
    f, x1 = np.zeros((2, 4, 3), np.complex128), np.empty(STATES, np.complex128)
    last, h = X.shape[0] - STATES, 1.0 / lam[0].real
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    q = MEASURE(p0, p1, 0, 1)
    SOLVE(q, q, X[last:], X[last:], h, X[_FIRST:last], x1)
    PUSH(f, p0, p1, 0, 1, -FORCE(q, X[last:], x1, h, X[_FIRST:last]))
    pull_back(f, X, 1.0, out)


def _updated_states(y0, y1, X, lam, out):
    """Compute the states x1 at the end of a step of length 1/lam, s."""
    p0, p1 = np.empty((2, 4, 3), np.complex128), np.empty((2, 4, 3), np.complex128)
    x1, last = np.empty(STATES, np.complex128), X.shape[0] - STATES
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    q = MEASURE(p0, p1, 0, 1)
    SOLVE(q, q, X[last:], X[last:], 1.0 / lam[0].real, X[_FIRST:last], x1)
    flat = out.reshape(out.size)
    for i in range(STATES):
        flat[i] = x1[i].real


def _tangent_of_angle(y0, y1, X, lam, out, K):
    """Write the derivative of the moment of a step of length 1/lam, s, on an angle."""
    p0, p1 = np.empty((2, 4, 3), np.complex128), np.empty((2, 4, 3), np.complex128)
    x1, last, h = np.empty(STATES, np.complex128), X.shape[0] - STATES, 1.0 / lam[0].real
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    q0, q1, change = MEASURE(p0, p1, 0, 1)
    step = COMPLEX_STEP * 1j
    q = q0, q1 + step, change + step
    SOLVE(q, q, X[last:], X[last:], h, X[_FIRST:last], x1)
    F = FORCE(q, X[last:], x1, h, X[_FIRST:last])
    start = real_axis(p0, 0, 1), real_axis(p0, 0, 2), real_axis(p0, 1, 1)
    end = real_axis(p1, 0, 1), real_axis(p1, 0, 2), real_axis(p1, 1, 1)
    _, to_a, to_b = torque_of_moment(-F.real, -F.imag / COMPLEX_STEP, change.real, start, end)
    write_tangent(K, to_a, to_b)


def solved_on_the_measure(kind: Kind, module: ModuleType, coordinate: str, digest: str) -> Kind:
    """Return the kind of state equations with the functions of this module.

    module: generated module with `evolve_at`, `force_at` and the functions of the measure `coordinate`.
    """
    known: dict[FunctionType, Any] = {}
    folder = folder_of(digest)
    namespace = {
        **globals(),
        "STATES": kind.n_internal,
        "MEASURE": getattr(module, coordinate),
        "PUSH": getattr(module, f"push_{coordinate}"),
        "FORCE": make_compilable(module.force_at, digest, known),
        "SOLVE": solve_for_states(make_compilable(module.evolve_at, digest, known), digest),
    }

    def made(function: Any, signature: Any) -> Any:
        return compiled_in_folder(signature, _named(function, namespace, digest), folder)

    condensed = kind.condensed._replace(update_internal=made(_updated_states, DUAL))
    tangent = made(_tangent_of_angle, TANGENT) if coordinate == "angle" else None
    return kind._replace(dual=made(_dual, DUAL), condensed=condensed, tangent=tangent)


def _named(function: Any, namespace: dict[str, Any], digest: str) -> FunctionType:
    """Return a copy of a function of this module with other globals and a name that is unique to the digest."""
    return give_unique_name(
        FunctionType(function.__code__, namespace), f"{function.__name__}_of_measure", digest
    )
