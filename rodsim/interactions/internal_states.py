"""Internal states of a user's kind: variables x with equations of motion, as of a controller, or a bead's position on its line.

    evolve(y0, y1, x0, x1, h, X, out)      as many rows as x has numbers: zero for the x1 at the end of a step of length h
    step_dual(y0, y1, x0, x1, h, X, out)   the dual over that step

States act on their own interaction alone, so that their columns of Newton's matrix are eliminated when the interaction is
evaluated: Newton's method solves for x1 at given poses, to round-off, and the dual of the interaction is

    dual(y0, y1) = step_dual(y0, y1, x0, x1(y0, y1)),   evolve(y0, y1, x0, x1(y0, y1)) = 0                             (1)

Complex poses make x1 complex: the last iteration, whose matrix is that at the solution, then gives the derivative of (1), the
Schur complement of those columns. The bandwidth is the same as without states. States are updated at the end of a step
(`rigid.interactions.kinds.Condensed.update_internal`): x0 is stored last among the parameters X, and an accepted step writes x1.

After a long rest x is that of a step without motion (`rigid.interactions.kinds.InternalStateEquations`),

    evolve(y, y, x, x) = 0,   force step_dual(y, y, x, x)                                                  (2)

with a step of 1 s; the quantities that are divided by it are zero. Between two poses the force is that at their mean: each end
contributes half of its derivative, as in every discrete derivative (`discretization.statics.forces`).
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from rigid.compilation.decorators import compiled_in_folder, inline_kernel, internal_kernel_in_folder
from rigid.interactions.kinds import (
    COMPLEX_STEP,
    DUAL,
    VALUE,
    Condensed,
    InternalStateEquations,
    Kind,
    dissipation,
    no_bend,
)
from rigid.interactions.pressure import nothing
from rodsim.interactions.user_functions import (
    ANCHOR,
    anchor_poses,
    folder_of,
    give_unique_name,
    make_compilable,
    pull_back,
)

# replaced for each kind: number of frames, number of parameters before the user's, number of states, the user's functions, and
# the function that solves for x1
FRAMES, FIRST_NUMBER, STATES = 0, 0, 0
EVOLVE: Any = None
FORCES: Any = None
STORED_ENERGY: Any = None
SOLVE: Any = None
AFFINE = False  # the equations are known to be affine in the states
_MOST = 30  # largest number of iterations
_EPS = 2.220446049250313e-16


@inline_kernel
def _eliminate(J, r):
    """Replace r by J^-1 r, using Gaussian elimination with pivots; return False if J, real (n, n), is singular."""
    n = r.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(J[i, k]) > abs(J[p, k]):
                p = i
        if not abs(J[p, k]) > 0.0:
            return False
        for j in range(n):
            J[k, j], J[p, j] = J[p, j], J[k, j]
        r[k], r[p] = r[p], r[k]
        for i in range(k + 1, n):
            factor = J[i, k] / J[k, k]
            for j in range(k, n):
                J[i, j] -= factor * J[k, j]
            r[i] -= factor * r[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            r[k] -= J[k, j] * r[j]
        r[k] /= J[k, k]
    return True


def _solve(y0, y1, x0, start, h, X, x1):
    """Solve (1) for x1 from the guess `start`, or (2) if x0 is the array x1 itself; x1 is nan if Newton's method fails."""
    n = x1.shape[0]
    r, s, J = np.zeros(n, np.complex128), np.zeros(n, np.complex128), np.zeros((n, n))
    scale, before = 0.0, np.inf
    for i in range(n):
        x1[i] = start[i]
        scale = max(scale, abs(start[i].real))
    for _ in range(_MOST):
        for i in range(n):
            r[i] = 0.0
        EVOLVE(y0, y1, x0, x1, h, X, r)
        for j in range(n):
            unperturbed = x1[j]
            x1[j] = unperturbed + COMPLEX_STEP * 1j
            for i in range(n):
                s[i] = 0.0
            EVOLVE(y0, y1, x0, x1, h, X, s)
            x1[j] = unperturbed
            for i in range(n):
                J[i, j] = (s[i] - r[i]).imag / COMPLEX_STEP
        if not _eliminate(J, r):
            break
        change = 0.0
        for i in range(n):
            x1[i] -= r[i]
            scale, change = max(scale, abs(x1[i].real)), max(change, abs(r[i].real))
        if AFFINE or change <= 4.0 * _EPS * scale or (change <= 1e-10 * scale and change >= 0.25 * before):
            return
        before = change
    for i in range(n):
        x1[i] = np.nan


def _dual(y0, y1, X, lam, out):
    """Evaluate the dual (1) of a step of length 1/lam, s."""
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    f, x1 = np.zeros((FRAMES, 4, 3), np.complex128), np.zeros(STATES, np.complex128)
    last, h = X.shape[0] - STATES, 1.0 / lam[0].real
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    SOLVE(p0, p1, X[last:], X[last:], h, X[FIRST_NUMBER:last], x1)
    FORCES(p0, p1, X[last:], x1, h, X[FIRST_NUMBER:last], f)
    pull_back(f, X, 1.0, out)


def _dual_at_fixed_states(y, z, X, lam, out):
    """Evaluate the dual at the poses y, with the states as they are."""
    p, f = np.empty((FRAMES, 4, 3), np.complex128), np.zeros((FRAMES, 4, 3), np.complex128)
    last, x1 = X.shape[0] - STATES, np.zeros(STATES, np.complex128)
    for i in range(STATES):
        x1[i] = X[last + i]
    anchor_poses(y, X, p)
    FORCES(p, p, X[last:], x1, np.inf, X[FIRST_NUMBER:last], f)
    pull_back(f, X, 1.0, out)


def _updated_states(y0, y1, X, lam, out):
    """Compute the states x1 at the end of a step of length 1/lam, s."""
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    x1, last = np.zeros(STATES, np.complex128), X.shape[0] - STATES
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    SOLVE(p0, p1, X[last:], X[last:], 1.0 / lam[0].real, X[FIRST_NUMBER:last], x1)
    flat = out.reshape(out.size)
    for i in range(STATES):
        flat[i] = x1[i].real


def _stored_energy(y, X, out):
    """Evaluate the stored energy at the poses y, with the states as they are."""
    p, last = np.empty((FRAMES, 4, 3), np.complex128), X.shape[0] - STATES
    anchor_poses(y, X, p)
    out[0] = STORED_ENERGY(p, X[last:], X[FIRST_NUMBER:last])


def _no_stored_energy(y, X, out):
    """Return zero, the stored energy of a kind without `value`."""
    out[0] = 0.0


def _dual_at_rest(y0, y1, X, lam, out):
    """Evaluate the force (2) at the mean of two poses."""
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    f, x = np.zeros((FRAMES, 4, 3), np.complex128), np.zeros(STATES, np.complex128)
    last = X.shape[0] - STATES
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    for k in range(FRAMES):
        for j in range(4):
            for i in range(3):
                p0[k, j, i] = 0.5 * (p0[k, j, i] + p1[k, j, i])
    SOLVE(p0, p0, x, X[last:], 1.0, X[FIRST_NUMBER:last], x)
    FORCES(p0, p0, x, x, 1.0, X[FIRST_NUMBER:last], f)
    pull_back(f, X, lam[0], out)


def _states_at_rest(y, X, out):
    """Compute the states (2) after a long rest at the poses y."""
    p, x, last = np.empty((FRAMES, 4, 3), np.complex128), np.zeros(STATES, np.complex128), X.shape[0] - STATES
    anchor_poses(y, X, p)
    SOLVE(p, p, x, X[last:], 1.0, X[FIRST_NUMBER:last], x)
    for i in range(STATES):
        out[i] = x[i]


def _stored_energy_at_rest(y, X, out):
    """Evaluate the stored energy after a long rest at the poses y."""
    p, x, last = np.empty((FRAMES, 4, 3), np.complex128), np.zeros(STATES, np.complex128), X.shape[0] - STATES
    anchor_poses(y, X, p)
    SOLVE(p, p, x, X[last:], 1.0, X[FIRST_NUMBER:last], x)
    out[0] = STORED_ENERGY(p, x, X[FIRST_NUMBER:last])


def _step(y0, y1, X, lam, out):
    """Evaluate the dual of a step of length lam[0], s, with states lam[1:] at its ends, and the residuals of their equations."""
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    f, r = np.zeros((FRAMES, 4, 3), np.complex128), np.zeros(STATES, np.complex128)
    last, h = X.shape[0] - STATES, lam[0].real
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    x0, x1 = lam[1 : 1 + STATES], lam[1 + STATES : 1 + 2 * STATES]
    EVOLVE(p0, p1, x0, x1, h, X[FIRST_NUMBER:last], r)
    FORCES(p0, p1, x0, x1, h, X[FIRST_NUMBER:last], f)
    pull_back(f, X, 1.0, out)
    flat = out.reshape(out.size)
    for i in range(STATES):
        flat[12 * FRAMES + i] = r[i]


def _force_without_states(y0, y1, X, lam, out):
    """Evaluate the dual of a step of length lam[0], s."""
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    f = np.zeros((FRAMES, 4, 3), np.complex128)
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    FORCES(p0, p1, lam[0].real, X[FIRST_NUMBER:], f)
    pull_back(f, X, 1.0, out)


def _force_without_rates(y0, y1, X, lam, out):
    """Evaluate the force at rest, at the mean of two poses."""
    p0, p1 = np.empty((FRAMES, 4, 3), np.complex128), np.empty((FRAMES, 4, 3), np.complex128)
    f = np.zeros((FRAMES, 4, 3), np.complex128)
    anchor_poses(y0, X, p0)
    anchor_poses(y1, X, p1)
    for k in range(FRAMES):
        for j in range(4):
            for i in range(3):
                p0[k, j, i] = 0.5 * (p0[k, j, i] + p1[k, j, i])
                p1[k, j, i] = 0.0
    EVOLVE(p0, p1, X[FIRST_NUMBER:], f)
    pull_back(f, X, lam[0], out)


def force_at_rest(
    name: str, frames: int, functions: dict[str, FunctionType], digest: str
) -> InternalStateEquations:
    """Return what equilibria and linear models need of a kind without states that may do work: `step_dual`, `rate_dual`."""
    known: dict[FunctionType, Any] = {}
    namespace = {
        **globals(),
        "FRAMES": frames,
        "FIRST_NUMBER": ANCHOR * frames,
        "FORCES": make_compilable(functions["step_dual"], digest, known),
        "EVOLVE": make_compilable(functions["rate_dual"], digest, known),
    }

    def made(function: Any) -> Any:
        return compiled_in_folder(DUAL, _with(function, namespace, digest), folder_of(digest))

    at_rest = Kind(f"{name}, at rest", frames, 0, nothing, made(_force_without_rates), no_bend, works=True)
    return InternalStateEquations(at_rest, nothing, made(_force_without_states))


def solve_for_states(evolve: Any, digest: str, affine: bool = False) -> Any:
    """Return the function that solves for x1, of the equations `evolve` of any two ends of a step.

    affine: the equations are affine in the states, so that one iteration solves them.
    """
    known = {**globals(), "EVOLVE": evolve, "AFFINE": affine}
    function = give_unique_name(FunctionType(_solve.__code__, known), "_solve_at", digest)
    return internal_kernel_in_folder(function, folder_of(digest))


def kind_with_states(
    name: str, frames: int, states: int, functions: dict[str, FunctionType], digest: str, drives: bool = False
) -> Kind:
    """Return the kind made of the user's `evolve`, `step_dual` and, if it stores an energy, `value(y, x, X)`.

    Without `value`, or with `drives`, what the interaction does not store counts as external work.
    """
    has_energy = "value" in functions
    known: dict[FunctionType, Any] = {}
    of_user = {role: make_compilable(function, digest, known) for role, function in functions.items()}
    namespace = {
        **globals(),
        "FRAMES": frames,
        "FIRST_NUMBER": ANCHOR * frames,
        "STATES": states,
        "EVOLVE": of_user["evolve"],
        "FORCES": of_user["step_dual"],
        "STORED_ENERGY": of_user.get("value"),
    }
    namespace["SOLVE"] = internal_kernel_in_folder(_with(_solve, namespace, digest), folder_of(digest))

    def made(function: Any, signature: Any) -> Any:
        return compiled_in_folder(signature, _with(function, namespace, digest), folder_of(digest))

    condensed = Condensed(
        update_internal=made(_updated_states, DUAL),
        stored_energy=made(_stored_energy if has_energy else _no_stored_energy, VALUE),
    )
    kind = dissipation(name, frames, made(_dual, DUAL), made(_dual_at_fixed_states, DUAL))
    works = drives or not has_energy
    value = nothing if works else made(_stored_energy_at_rest, VALUE)
    at_rest = Kind(f"{name}, at rest", frames, 0, value, made(_dual_at_rest, DUAL), no_bend, works=works)
    state_equations = InternalStateEquations(at_rest, made(_states_at_rest, VALUE), made(_step, DUAL))
    return kind._replace(n_internal=states, condensed=condensed, works=works, state_equations=state_equations)


def _with(function: Any, known: dict[str, Any], digest: str) -> FunctionType:
    """Return a copy of a function of this module with other globals and a name that is unique to the digest."""
    return give_unique_name(FunctionType(function.__code__, known), function.__name__, digest)
