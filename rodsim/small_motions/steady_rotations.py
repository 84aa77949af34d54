"""Compute the shape of a model that rotates steadily about one axis, as a state: `steady_rotation`.

Newton's method solves the balance of forces in rotating axes (`discretization.linearisation.inertia`), with the matrices of the
linear equations. The square of the spin grows linearly under all loads and weights; if no shape is found from the initial shape
in this way, loads and weights grow with it. Steps in which Newton's method fails are halved.

If joints and forces allow a model to rotate about the axis, or to slide along it, its shape is the same at all such positions.
These motions are held,

    K x + G^T y + B m = -r,   G x = -g,   B^T x = 0,   B = M (axis x (r - c), axis), M (axis, 0)               (1)

since otherwise round-off would decide how far a correction goes along them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import ArrayLike

from discretization.characteristic_length import extent
from discretization.linearisation import eigen
from discretization.linearisation.equations import Linearised
from discretization.linearisation.perturbed_state import perturb_state
from discretization.linearisation.saddle_point import SaddlePointSolver
from discretization.relaxed_system import relaxed_state, unrelaxed_state
from discretization.state_measures import constraint_residual
from rigid import checks, quaternions
from rigid.errors import ConvergenceError, ModelError
from rigid.system import Floats, State
from rodsim._compat import accept_old_arguments
from rodsim.building.build import Built, built_from
from rodsim.building.controls import refuse_controllers
from rodsim.building.equilibrium_checks import at_rest
from rodsim.building.phases import refuse_released
from rodsim.building.restart import linearisation_point
from rodsim.building.starting_states import StartLike, check_start_time
from rodsim.model import Model
from rodsim.results.steady_rotation import SteadyRotation
from rodsim.small_motions.linear_equations import largest, under

ITERATIONS = 25  # largest number of Newton iterations
MAX_GROWING = 5  # consecutive corrections no smaller than the smallest, after which the step is halved
CONVERGED = 1e-11  # last correction relative to the model's size
STAGNATION = 1e-9  # relative to the model's size: smaller corrections that do not halve are round-off
FREE = 1e-12  # relative to the square of the highest frequency: stiffness assigned to motions that cost no energy
LARGEST = 0.5  # largest correction, rad or relative to the model's size
SHORTEST = 1e-4  # shortest step, relative to the whole way
MIN_FRACTION_UNHELD = 0.1  # shortest step relative to the longest one if nothing holds the model
AWAY = 0.4  # rad, and relative to the model's size: displacement at which forces are evaluated again
ROUNDING = 1e3  # times eps times stiffness times size: smaller forces count as zero


class UnheldMotion(ModelError):
    """Report a motion in the rotating axes that nothing holds."""


class RotatingModel(NamedTuple):
    """A model with the loads and the spin that it is to have at the end of the way."""

    built: Built
    loads: Floats  # (l, 3) full loads, N or N m
    spin: Floats  # (3,) full spin, rad/s
    about: Floats  # (3,) point of the axis, m
    grows: bool  # whether loads and weights grow with the spin

    def linear(self, state: State, part: float) -> Linearised:
        """Return the linear equations about a state, at the fraction `part` of the way."""
        system, fraction = self.built.system, part if self.grows else 1.0
        built = self.built._replace(system=system._replace(gravity=fraction * system.gravity))
        return under(built, state, fraction * self.loads, np.sqrt(part) * self.spin, self.about)


@accept_old_arguments
def steady_rotation(
    model: Model | Built,
    spin: ArrayLike,
    about: ArrayLike = (0.0, 0.0, 0.0),
    steps: int = 4,
    start: StartLike | None = None,
    *,
    start_time: float | None = None,
) -> SteadyRotation:
    """Find the shape of a model that rotates steadily about an axis.

    The whole model rotates, including fixed parts: a blade that is clamped to the ground rotates with it. Newton's method
    solves the balance of all forces in rotating axes. The square of the spin grows in `steps` equal parts under all loads and
    weights; if no shape is found in this way from the initial state, loads and weights grow with it.

    Parameters
    ----------
    model : Model or Built
        The model, or the return value of `Model.build`.
    spin : array_like (3,)
        Angular velocity, rad/s.
    about : array_like (3,), default (0, 0, 0)
        A point of the axis of rotation, m.
    steps : int, default 4
        Number of equal steps, which are halved as needed.
    start : Result, Equilibrium, State, SteadyRotation, str or Path, optional
        Initial state: an equilibrium, or a rotation with another spin. Default: that of the model.

    Returns
    -------
    SteadyRotation
        The state with `spin` and `about`; its velocities, relative to the rotating axes, are zero. Pass it as `start` to `modes`,
        `linearise`, `simulate` and other functions.

    Other Parameters
    ----------------
    start_time : float, optional
        Time of a stored state of the result `start`, s; the nearest output is used. Default: the last.

    Raises
    ------
    ConvergenceError
        If no such shape is found; its `t` is the fraction of the way that was reached.
    ModelError
        If nothing holds the model in the rotating axes, loads push it along a free motion, or `start` does not fit the model.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, modes, steady_rotation
    >>> model = Model("blade")
    >>> section = Section.rectangle(0.1, 0.01, Material(E=7e10, nu=0.3, density=2700))
    >>> rod = model.add_rod("blade", [(0.2, 0, 0), (2.2, 0, 0)], section, 8)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> rotation = steady_rotation(model, (0, 0, 30.0))
    >>> stiffened = modes(model, 3, start=rotation)
    """
    built = built_from("steady_rotation", model)
    refuse_released("steady_rotation", built)
    refuse_controllers("steady_rotation", built)
    full = checks.vector("steady_rotation", "spin", spin)
    steps = checks.count("steady_rotation", "steps", steps)
    check_start_time("steady_rotation", start, start_time)
    initial, ground = built.state, None
    if start is not None:
        point = linearisation_point("steady_rotation", built, start, start_time, at_rest=True)
        built, initial, ground = point.built, point.state, point.moved_ground
    moving, built = built, at_rest(built)

    def of_motion(rotated: State) -> SteadyRotation:
        """Return the steady rotation for a resting state in the rotating axes."""
        state = unrelaxed_state(moving.system, built.system, initial, rotated)
        return SteadyRotation(built.layout.name, state, full, center, ground)

    values, center = built.load_values(np.zeros(1))[0], checks.vector("steady_rotation", "about", about)
    here = relaxed_state(moving.system, built.system, initial)
    zero = np.zeros_like(here.v)
    here = here._replace(v=zero, Omega=zero)
    turning = RotatingModel(built, values, full, center, grows=False)
    held = _free_along(turning, here)
    if start is None:
        # full weight first: a model held by its weight alone has no shape without it; soft models need growing loads instead
        with suppress(ConvergenceError, UnheldMotion):
            return of_motion(_continue_rotation(turning, here, held, steps, 1.0 / steps, ITERATIONS))
        turning = turning._replace(grows=True)
    return of_motion(_continue_rotation(turning, here, held, steps, SHORTEST, MAX_GROWING))


def _continue_rotation(
    turning: RotatingModel, state: State, held: tuple[bool, bool], steps: int, shortest: float, patience: int
) -> State:
    """Return the state at the end of the way, in steps no shorter than `shortest`.

    `held`: whether rotation about and displacement along the axis are held; `patience`: number of corrections that may grow.
    """
    done, longest = 0.0, 1.0 / steps
    part = longest
    while done < 1.0:
        to = 1.0 if done + part > 1.0 - SHORTEST else done + part
        try:
            state = _steady_shape(turning, state, to, held, patience)
        except (ConvergenceError, UnheldMotion) as error:
            part *= 0.5
            if part < (MIN_FRACTION_UNHELD * longest if isinstance(error, UnheldMotion) else shortest):
                raise
        else:
            done, part = to, min(2.0 * part, longest)
    return state


def _steady_shape(
    turning: RotatingModel, state: State, part: float, held: tuple[bool, bool], patience: int
) -> State:
    """Return the shape at the fraction `part` of the way, by Newton's method from a state."""
    size, change, smallest, worse = extent(state.r), np.inf, np.inf, 0
    for _ in range(ITERATIONS):
        before, (state, change) = change, _newton(turning, state, part, held)
        if change <= CONVERGED * size or STAGNATION * size > change > 0.5 * before:
            return state
        worse = worse + 1 if change >= smallest else 0
        smallest = min(smallest, change)
        if worse == patience or not np.isfinite(change):
            break
    raise ConvergenceError(
        t=part,
        h=0.0,
        iterations=ITERATIONS,
        residual=change,
        message=(
            f"model '{turning.built.layout.name}': no shape found that rotates with {np.sqrt(part) * turning.spin} rad/s"
            f"{f', under {part:.4g} of its loads' if turning.grows else ''}: the last correction was {change:.3g} m; there may "
            "be none near by: give `start=`, an equilibrium or a rotation with less spin"
        ),
    )


def _newton(
    turning: RotatingModel, state: State, part: float, held: tuple[bool, bool]
) -> tuple[State, float]:
    """Apply one Newton correction; return the state and the size of the correction, m."""
    built = turning.built
    lin = turning.linear(state, part)
    B = [row for row, holds in zip(_constraint_rows(turning, lin), held, strict=True) if holds]
    rows = scipy.sparse.vstack([lin.G, scipy.sparse.csr_matrix(np.array(B))], format="csr") if B else lin.G
    below = np.append(lin.below(constraint_residual(built.system, state)), np.zeros(len(B)))
    # K is singular if a motion costs no energy and no force acts along it, such as the rotation of a bar about its axis
    shift = FREE * float(eigen.squared_frequencies(lin).reshape(-1, 6)[:, :3].max())
    try:
        x = SaddlePointSolver(scipy.sparse.csr_matrix(lin.K + shift * lin.M), rows).solve(-lin.force, -below)
    except ModelError:
        raise UnheldMotion(
            f"model '{built.layout.name}': nothing holds it in axes that turn with {turning.spin} rad/s; join it to the ground"
        ) from None
    by_frame = lin.of_frames(x)
    size = extent(state.r)
    change = largest(by_frame, size)
    by_frame *= min(1.0, LARGEST * size / change) if change > 0.0 else 1.0
    return perturb_state(built.system, state, by_frame), change


def _axis(turning: RotatingModel) -> Floats:
    """Return the unit vector of the spin (3,); zero without spin."""
    return turning.spin / (np.linalg.norm(turning.spin) or 1.0)


def _constraint_rows(turning: RotatingModel, lin: Linearised) -> tuple[Floats, Floats]:
    """Return the rows B^T of (1), normalised: rotation about the axis, and displacement along it."""
    axis, arms = _axis(turning), lin.state.r[lin.frames] - turning.about
    axes = np.tile(axis, (len(arms), 1))
    rows = [
        lin.M @ np.concatenate(both, axis=1).ravel()
        for both in ((np.cross(axis, arms), axes), (axes, 0.0 * axes))
    ]
    rotation, shift = (row / (np.linalg.norm(row) or 1.0) for row in rows)
    return rotation, shift


def _free_along(turning: RotatingModel, state: State) -> tuple[bool, bool]:
    """Return whether the model may rotate about the axis, and slide along it, at no cost.

    This is so if joints that hold here also hold at another position on that way, and the forces there are those here,
    rotated.
    """
    axis, size, system = _axis(turning), extent(state.r), turning.built.system
    if not np.any(axis) or not np.any(system.frames.fixed == 0):
        return False, False
    g, free_motions = constraint_residual(system, state), []
    for rotation, shift in ((AWAY, 0.0), (0.0, AWAY * size)):
        w = np.zeros((len(state.r), 6))
        w[:, 3:] = rotation * axis
        R = quaternions.to_matrix(quaternions.from_rotation_vector(rotation * axis))
        w[:, :3] = (state.r - turning.about) @ (R - np.eye(3)).T + shift * axis
        w[system.frames.fixed != 0] = 0.0
        displaced_state = perturb_state(system, state, w)
        gap = np.abs(constraint_residual(system, displaced_state) - g).max(initial=0.0)
        if gap > eigen.EPS * ROUNDING * max(size, 1.0):
            free_motions.append(False)
            continue
        here = turning.linear(state, 1.0)
        force, rounding = here.force.reshape(-1, 2, 3), ROUNDING * eigen.EPS * float(abs(here.K).max()) * size
        off = np.abs(turning.linear(displaced_state, 1.0).force.reshape(-1, 2, 3) - force @ R.T)
        free = bool(max(off[:, 0].max(), off[:, 1].max() / size) <= rounding)
        # internal forces and joints do no work in this motion
        axes = _constraint_rows(turning, replace(here, M=scipy.sparse.identity(here.size, format="csr")))
        push = float(np.abs(axes[bool(shift)] @ here.force))
        if free and push > rounding * len(force):
            raise UnheldMotion(
                f"model '{turning.built.layout.name}': nothing keeps it from {'sliding along' if shift else 'turning about'} the "
                "axis, and its loads push it there; hold it by a joint or a spring, or remove these loads"
            )
        free_motions.append(free)
    return free_motions[0], free_motions[1]
