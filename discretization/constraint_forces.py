"""Compute the multipliers of the constraints at one instant, from the equations of motion there.

With the poses, velocities and loads of that instant, and velocities that satisfy the constraints, G v + g_t = 0,

    M a + c + G^T lam = f,   G a = -gamma,   gamma = d/dt (G v + g_t) for a = 0                          (1)

Here c contains the gyroscopic moments omega x J omega, and f the weight, the loads and all forces of interactions. The vector
gamma is the derivative of the constraints' rates along a motion with constant velocities: every frame that moves by forces has a
constant velocity and spatial angular velocity, and every driven frame moves as prescribed. It is computed by central
differences of order 8, or, if something is driven, by forward differences of order 7, since a prescribed motion may begin at
that instant. If constraints are redundant, lam is the solution of (1) with the smallest Euclidean norm.

The multipliers that an integrator stores are means over its step. Equation (1) has no step and is exact to round-off.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy  # submodules are loaded lazily

from discretization.drives import count_drives
from discretization.interaction_groups import Role, groups_of, with_load_values
from discretization.linear.blas_threads import one_thread
from discretization.linearisation import inertia, load_stiffness
from discretization.linearisation.equations import SMALL, fill_zero_diagonal
from discretization.linearisation.matrices import array, sparse
from discretization.multipliers import count_multipliers
from discretization.redundancy import constraint_jacobian, count_redundant
from discretization.relaxed_system import has_evolution_equations
from discretization.state_measures import velocity_residual
from discretization.system import System
from discretization.time.drives_in_charts import DriveValues, drive_works_in, store_drives_in_state
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.kinds import Group
from rigid.system import Floats, State

# rad, or displacement over the size of the model, of a frame between two points of the differences
ROTATION_STEP = 0.05
STEP_FRACTION = 0.125  # largest distance of the points over the time step, if something is driven
PROXIMAL = 1e-8  # softness of undetermined multipliers, relative to the mean of G M^-1 G^T
REPEATED = 8  # iterations: each reduces an error by PROXIMAL over an eigenvalue of that matrix
# points and weights of first derivatives, in units of the distance of the points
_CENTRAL = (
    np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0]),
    np.array([3.0, -32.0, 168.0, -672.0, 672.0, -168.0, 32.0, -3.0]) / 840.0,
)
_FORWARD = (
    np.arange(8.0),
    np.array([-1089.0, 2940.0, -4410.0, 4900.0, -3675.0, 1764.0, -490.0, 60.0]) / 420.0,
)


def instant_multipliers(
    system: System, state: State, loads: Floats, drive_values: DriveValues | None, t: float, dt: float
) -> Floats | None:
    """Solve (1) for the multipliers at time t.

    Parameters
    ----------
    system : System
    state : State
        Poses, velocities and internal variables at t. The velocities satisfy the constraints.
    loads : (l, 3) array
        Values of the loads at t, N or N m.
    drive_values : callable or None
        Prescribed motion: times (k,), s -> packed values, see `discretization.drives`.
    t, dt : float
        Time and length of a step, s.

    Returns
    -------
    (m,) array, or None
        In the order of `State.lam`. None if the forces at one instant are not a function of the state: internal variables with
        evolution equations (relaxing sections, states of user interactions, friction with memory).
    """
    system = with_load_values(system, loads)
    acting = groups_of(system, state)
    dissipations = [entry.group for entry in acting if entry.role is Role.DISSIPATION]
    if has_evolution_equations(system) or any(
        group.kind.condensed.update_internal is not None for group in dissipations
    ):
        return None
    moving = np.flatnonzero(system.frames.fixed == 0)
    if not len(moving):
        return None
    index = np.full(len(system.frames.fixed), -1)
    index[moving] = np.arange(len(moving))
    use = (6 * moving[:, None] + np.arange(6)).ravel()
    forces = [entry.group for entry in acting if entry.role in (Role.ENERGY, Role.WORK)]
    force = -load_stiffness.weight(system)
    for group in forces:
        _add_forces(evaluation.gradients, group, state.r, state.quat, out=force)
    for group in dissipations:
        _add_forces(evaluation.resistances, group, state, out=force)
    omega = quaternions.rotate(state.quat, state.Omega)
    momentum = np.einsum("nij,nj->ni", inertia.spatial_inertia(system, state), omega)
    force[:, 3:] += np.cross(omega, momentum)
    M = fill_zero_diagonal(sparse(inertia.mass(system, state).matrix(index)))
    G = constraint_jacobian(system, state).tocsr()[:, use]
    gamma = _rate_derivatives(system, state, drive_values, t, dt)
    return _solve(M, G, force.ravel()[use], gamma, bool(count_redundant(system, state)))


def _add_forces(evaluate: Callable[..., Floats], group: Group, *arguments: Any, out: Floats) -> None:
    """Add the forces and spatial torques of a group to those of all frames `out` (n, 6); N, N m."""
    alone = group._replace(row=np.arange(len(group.frames)))
    np.add.at(out, group.frames, evaluate([alone], *arguments))


def _rate_derivatives(
    system: System, state: State, drive_values: DriveValues | None, t: float, dt: float
) -> Floats:
    """Compute gamma (m,) of (1) by finite differences."""
    omega = quaternions.rotate(state.quat, state.Omega)
    fastest = float(np.linalg.norm(omega, axis=1).max())
    speed = float(np.linalg.norm(state.v, axis=1).max())
    drives = drive_values if count_drives(system) else None
    driven = drives is not None
    if not driven and not fastest and not speed:
        return np.zeros(count_multipliers(system))
    lever = float(np.ptp(state.r, axis=0).max()) or 1.0
    distance = ROTATION_STEP / max(fastest, speed / lever, 1e-300)
    points, weights = _FORWARD if driven else _CENTRAL
    distance = min(distance, STEP_FRACTION * dt) if driven else distance
    residuals = []
    for offset in (distance * points).tolist():
        rotation = quaternions.from_rotation_vector(offset * omega)
        quat = quaternions.multiply(rotation, state.quat)
        # the spatial angular velocity is constant, and so are its components in the axes of the rotating frame
        shifted = state._replace(r=state.r + offset * state.v, quat=quat)
        if drives is not None:
            shifted = State(*(values.copy() for values in shifted))
            packed = drives(np.array([t + offset]))[0]
            store_drives_in_state(system, packed, drive_works_in(system, shifted), shifted)
        residuals.append(velocity_residual(system, shifted))
    changes: Floats = weights @ np.array(residuals) / distance
    return changes


@one_thread()
def _solve(
    M: scipy.sparse.csr_matrix, G: scipy.sparse.csr_matrix, force: Floats, gamma: Floats, redundant: bool
) -> Floats:
    """Return lam (m,) with M a + force + G^T lam = 0 and G a = -gamma, of the smallest norm if rows of G are redundant.

    With S = G M^-1 G^T and a small delta, the iteration (S + delta) lam' = b + delta lam converges to a solution of S lam = b.
    The iteration (S + delta) z' = delta z converges to the component of z in the null space of S, which is subtracted.
    `redundant`: True if rows of G are redundant.
    """
    n, m = M.shape[0], G.shape[0]
    delta = PROXIMAL * G.multiply(G).sum() / m / float(M.diagonal().mean()) if redundant else 0.0
    saddle = scipy.sparse.bmat([[M, G.T], [G, -delta * scipy.sparse.identity(m)]], format="csc")
    solve: Callable[[Floats], Floats]
    if n + m <= SMALL:
        solve = partial(scipy.linalg.lu_solve, scipy.linalg.lu_factor(array(saddle)))
    else:
        solve = scipy.sparse.linalg.splu(saddle).solve
    lam = np.zeros(m)
    for _ in range(REPEATED if redundant else 1):
        lam = solve(np.concatenate([-force, -gamma - delta * lam]))[n:]
    if redundant:
        null_part = lam
        for _ in range(REPEATED):
            null_part = solve(np.concatenate([np.zeros(n), -delta * null_part]))[n:]
        lam = lam - null_part
    return lam
