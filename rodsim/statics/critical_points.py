"""Compute critical points of a path of equilibria x(f), bifurcations and limit points, with state, factor and shape.

At a critical point the stiffness is singular:

    r(x, f) = 0,   K(x, f) phi + G^T y = 0,   G phi = 0,   phi M phi = 1                                      (1)

This is solved in two ways. If the load does no work in phi, the point is a bifurcation: the path does not go along phi. The
amplitude of phi is held, so that equilibria are computed with a regular matrix (`proportional_loading`), and secants in f bring
the eigenvalue of phi to zero. If several critical points coincide or are close to each other, all their shapes are held. Else
the point is a limit point: the load has an extremum there, amplitude a and factor are both unknown. With the residual m along
phi and the eigenvalue s = phi K phi

    m + m_f df - s a = 0,     s + s_f df + s_a a = 0,     x = x_0 + df x_f + a phi                            (2)

The responses to -r and -dr/df with phi held are x_0, m and x_f, m_f. s_f and s_a are the changes of s along x_f and phi, from
finite differences of K. They affect how fast (2) converges, not to which solution. (2) is regular if dr/df does work in phi and
s_a is not zero.

Sources: Moore and Spence, SIAM J. Numer. Anal. 17 (1980) 567; Werner and Spence, ibid. 21 (1984) 388 (symmetry);
Wriggers and Simo, Int. J. Numer. Meth. Engng 30 (1990) 155.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily

from discretization.characteristic_length import extent
from discretization.linearisation.equations import Linearised, fill_zero_diagonal
from discretization.linearisation.perturbed_state import perturb_state
from rigid.errors import ConvergenceError, ModelError
from rigid.system import Floats, State
from rodsim.small_motions.linear_equations import largest
from rodsim.small_motions.modal_analysis import rounding
from rodsim.statics.proportional_loading import (
    CONVERGED,
    HOVERING,
    ITERATIONS,
    NO_WORK,
    ProportionallyLoadedModel,
    ShapeConstrainedEquilibrium,
    is_last,
    work_scale,
)

BIFURCATION, LIMIT = "bifurcation", "limit point"
DEPENDENT = 1e-3  # norm of a unit shape orthogonal to the others below which it depends on them
ZERO_WORK = 1e-6  # relative to load times displacement: smaller work may be zero
APPROACH_STEPS = 16  # number of steps to a linear factor if the point is not next to it
CLUSTER_RATIO = 1.5  # times a linear factor: shapes with factors below are held together
HALVINGS = 8  # halvings of the way to a factor if Newton's method does not converge there at once
SAME_EIGENVALUE = 1e-6  # relative to an eigenvalue without loads: closer eigenvalues count as equal
ZERO = 1e-4  # relative to an eigenvalue without loads: upper bound of the eigenvalue at a critical point
FACTOR_ROUNDING = (
    1e-9  # relative to the factor: a smaller change is the last one if the eigenvalue is round-off
)
START_RATIO = 0.3  # relative to the eigenvalue without loads: below this, (2) starts
STEPS = 100  # largest number of arc-length steps to a limit point
MAX_LINEAR_MOTION = 10.0  # relative to the model's size: above, the linear path does not predict the real one
MIN_FACTOR, MAX_FACTOR = 0.01, 3.0  # times the linear factor: bounds of the search for a point
MIN_TANGENT_COSINE = 0.8  # least cosine between consecutive tangents
STEP = 1e-4  # relative to the model's size, or the factor: displacements of the finite differences of K
MAX_CORRECTION = 0.2  # relative to the model's size, and the factor: largest correction of (2)


# exceptions that end one search; points computed before are kept
FAILURES = (ConvergenceError, ModelError, np.linalg.LinAlgError)
SINGULAR = (
    "the path from load factor zero reached a singular stiffness and could not be followed further; "
    'follow it by equilibrium(method="arc-length")'
)


class CriticalPoint(NamedTuple):
    """A solution of (1): a critical point."""

    kind: str
    factor: float
    state: State
    shape: Floats  # (size,) shape phi of (1)


class NoCriticalPoint(Exception):
    """Report that there is no critical point, with the reason in words."""


def critical_point(
    loaded: ProportionallyLoadedModel, lin: Linearised, factors: Floats, shapes: Floats, number: int
) -> CriticalPoint:
    """Return the critical point next to a factor of linear buckling.

    `factors`, `shapes` (k, size): results of linear buckling, of which number `number` is used. `lin`: linear equations about
    the equilibrium at factor zero. Raises NoCriticalPoint.
    """
    state, M, load = lin.state, fill_zero_diagonal(lin.M), loaded.rate(lin)
    close_ones = [
        number,
        *(k for k in range(len(factors)) if k != number and factors[k] <= CLUSTER_RATIO * factors[number]),
    ]
    unit = _orthonormal(shapes[close_ones], M)
    # one step of inverse iteration, which removes the round-off of stiff motions
    first = loaded.with_fixed_shapes(state, 0.0, unit, M)
    tolerance = SAME_EIGENVALUE * float(np.abs(first.squares).max())
    phi, factor = _along(unit[0], first, tolerance)[0], float(factors[number])
    size = extent(state.r)
    moves = factor * largest(lin.of_frames(first.saddle.solve(load)), size)
    if moves > MAX_LINEAR_MOTION * size:  # for instance a rod that is pulled to a multiple of its length
        raise NoCriticalPoint(
            "on the path from load factor zero no critical point is near there, where the linear path has moved by "
            f"{moves / size:.3g} times the size of the model"
        )
    # coarse, as linear shapes have the round-off of K'; forces at the end show whether the path moves along held shapes
    if abs(phi @ load) <= ZERO_WORK * work_scale(phi[None], load)[0]:
        idle = np.abs(first.shapes @ load) <= ZERO_WORK * work_scale(first.shapes, load)
        shapes = first.shapes if idle.all() else first.shapes[idle]
        for fixed_shapes, parts in ((shapes, 1), (phi[None], 1), (shapes, APPROACH_STEPS)):
            with suppress(*FAILURES):
                current = (
                    first
                    if fixed_shapes is first.shapes
                    else loaded.with_fixed_shapes(state, 0.0, fixed_shapes, M)
                )
                critical = _bifurcation(current, factor, phi, parts)
                if critical is not None:
                    return critical
    try:
        return _limit(loaded.with_fixed_shapes(state, 0.0, phi[None], M), factor)
    except ConvergenceError as error:
        raise NoCriticalPoint(error.message) from error
    except (ModelError, np.linalg.LinAlgError) as error:
        raise NoCriticalPoint(SINGULAR) from error


def _orthonormal(shapes: Floats, M: scipy.sparse.csr_matrix) -> Floats:
    """Return the shapes orthonormalised one after the other in the product of M; omit those that depend on earlier ones."""
    basis = np.zeros((0, shapes.shape[1]))
    for phi in shapes:
        phi = phi / np.sqrt(phi @ (M @ phi))
        phi = phi - (basis @ (M @ phi)) @ basis
        norm = np.sqrt(phi @ (M @ phi))
        if norm > DEPENDENT:
            basis = np.vstack([basis, phi / norm])
    return basis


def _along(phi: Floats, constrained: ShapeConstrainedEquilibrium, tolerance: float) -> tuple[Floats, float]:
    """Return the part of phi in the held eigenvectors, and its eigenvalue.

    Of eigenvectors with (nearly) equal eigenvalues, the projection of phi onto their span is used; `tolerance`: of the
    eigenvalues.
    """
    overlap = constrained.shapes @ (constrained.M @ phi)
    best = int(np.argmax(np.abs(overlap)))
    use = np.abs(constrained.squares - constrained.squares[best]) <= tolerance + constrained.noise
    coefficients = np.where(use, overlap, 0.0) / np.linalg.norm(overlap[use])
    return coefficients @ constrained.shapes, float(coefficients**2 @ constrained.squares)


def _bifurcation(
    current: ShapeConstrainedEquilibrium, factor: float, phi: Floats, parts: int
) -> CriticalPoint | None:
    """Return the bifurcation next to a factor by secants, from factor zero with shapes held; None if the path moves along one.

    `parts`: number of initial steps to the factor; they end when the eigenvalue changes its sign.
    """
    first = float(np.abs(current.squares).max())
    phi, square = _along(phi, current, SAME_EIGENVALUE * first)
    start, before, last = factor, 0.0, np.inf
    for part in range(1, parts + 1):
        before, square_before, factor = current.factor, square, start * part / parts
        current = _equilibrium_at(current, before, factor)
        phi, square = _along(phi, current, SAME_EIGENVALUE * first)
        if square <= 0.0:
            break
    for _ in range(ITERATIONS):
        step = -square * (factor - before) / (square - square_before) if square != square_before else 0.0
        rounded = abs(square) <= current.noise and abs(step) <= FACTOR_ROUNDING * factor
        small = abs(step) < 1e-4 * factor and abs(step) > 0.5 * last
        if abs(step) <= CONVERGED * factor or rounded or small:
            if abs(square) > ZERO * first:
                break
            unbalanced = np.any(np.abs(current.holding_forces) > _holding_force_tolerance(current, factor))
            return None if unbalanced else CriticalPoint(BIFURCATION, factor, current.state, phi)
        before, square_before, last = factor, square, abs(step)
        factor = max(factor + step, 0.1 * factor)
        if not MIN_FACTOR * start < factor < MAX_FACTOR * start:
            break
        current = _equilibrium_at(current, before, factor)
        phi, square = _along(phi, current, SAME_EIGENVALUE * first)
    raise _search_error(factor, last / factor)


def _equilibrium_at(
    current: ShapeConstrainedEquilibrium, start: float, factor: float
) -> ShapeConstrainedEquilibrium:
    """Return the equilibrium at `factor`, from that at `start`, in as many steps as are needed."""
    fraction_done, part, last_residual = 0.0, 1.0, np.inf
    drift_bound = HOVERING * extent(current.state.r)
    while fraction_done < 1.0:
        try:
            target = start + (factor - start) * min(fraction_done + part, 1.0)
            current = current.loaded.equilibrium_at(current.state, target, current.shapes, current.M)
        except ConvergenceError as error:
            part *= 0.5
            # if corrections do not shrink with the step, a shorter step does not help
            futile = 0.5 * last_residual < error.residual < drift_bound
            last_residual = error.residual
            if part < 0.5**HALVINGS or futile:
                raise
        else:
            fraction_done += part
    return current


def _holding_force_tolerance(current: ShapeConstrainedEquilibrium, factor: float) -> Floats:
    """Return the forces (k,) above which what holds a shape is more than round-off."""
    applied = current.loaded.applied(current.lin, factor)
    return NO_WORK * work_scale(current.shapes, applied) + rounding(current.lin, current.shapes)


def _search_error(factor: float, residual: float) -> ConvergenceError:
    """Return the ConvergenceError of a search that did not end."""
    message = f"on the path from load factor zero no critical point was found, up to {factor:.6g}"
    return ConvergenceError(t=factor, h=0.0, iterations=ITERATIONS, residual=residual, message=message)


def _limit(start: ShapeConstrainedEquilibrium, factor: float) -> CriticalPoint:
    """Return the limit point on the path from factor zero, at which the eigenvalue of the held shape goes to zero."""
    tried = np.inf
    for current in _points_towards_limit(start, factor):
        if abs(current.squares[0]) > 0.5 * tried:
            continue
        critical, tried = _refine_limit_point(current), abs(current.squares[0])
        if critical is not None:
            return critical
    raise _search_error(current.factor, 1.0)


def _refine_limit_point(current: ShapeConstrainedEquilibrium) -> CriticalPoint | None:
    """Return the limit point by Newton's method on (2), from a nearby point; None if the iteration leads away."""
    state, f, size, change = current.state, current.factor, extent(current.state.r), np.inf
    for _ in range(ITERATIONS):
        phi, square, rate = current.shapes[0], float(current.squares[0]), current.rate
        x_f = current.saddle.solve(rate)
        correction = _correction(
            current, rate, x_f, [_change(current, x_f, 1.0), _change(current, phi, 0.0)], -square
        )
        if correction is None:
            return None
        by_frame, df = correction
        before, change = change, largest(by_frame, size)
        if (
            not change <= MAX_CORRECTION * size
            or not abs(df) <= MAX_CORRECTION * current.factor
            or f + df <= 0.0
        ):
            return None
        state, f = perturb_state(current.loaded.built.system, state, by_frame), f + df
        current = current.loaded.with_fixed_shapes(state, f, phi[None], current.M)
        if (
            is_last(change, before, size) and abs(df) <= 1e-9 * f
        ):  # an error of the state enters the factor squared
            return CriticalPoint(LIMIT, f, state, current.shapes[0])
    return None


def _correction(
    current: ShapeConstrainedEquilibrium, rate: Floats, x_f: Floats, row: list[float], right: float
) -> tuple[Floats, float] | None:
    """Solve the first equation of (2) and the equation row . (df, a) = right; None if they are singular.

    Return the corrections of all frames (n, 6) and of the factor; `rate`: growing loads, `x_f`: response to them.
    """
    phi = current.shapes[0]
    try:
        df, a = np.linalg.solve(
            np.array([[phi @ rate, -current.squares[0]], row]), [-current.holding_forces[0], right]
        )
    except np.linalg.LinAlgError:
        return None
    return current.lin.of_frames(current.x + df * x_f + a * phi), float(df)


def _points_towards_limit(
    current: ShapeConstrainedEquilibrium, factor: float
) -> Iterator[ShapeConstrainedEquilibrium]:
    """Yield points of the path closer and closer to where the eigenvalue of phi changes its sign, by arc-length.

    In x = x_0 + df x_f + a phi the path goes along (df, a) = (s, m_f), which is regular where s is zero. Lengths are measured
    by x over the model's size, and f over the linear factor.
    """
    M = current.M
    weight = M.diagonal().sum() * extent(current.state.r) ** 2
    tangent, first, ds = _tangent(current, weight, factor, None), float(current.squares[0]), 0.05
    between, most = False, 0.0
    for _ in range(STEPS):
        following = _arc_step(current, weight, factor, tangent, ds)
        if following is None:
            ds *= 0.5
            continue
        after = _tangent(following, weight, factor, tangent)
        if (
            tangent[0] @ (M @ after[0]) / weight + tangent[1] * after[1] / factor**2 < MIN_TANGENT_COSINE
            and ds > 1e-6
        ):
            ds *= 0.5
            continue
        if following.squares[0] <= 0.0:
            between = True
            if following.squares[0] >= -START_RATIO * first:
                yield following
            ds *= 0.5
            continue
        current, tangent, most = following, after, max(most, following.factor)
        if current.squares[0] <= START_RATIO * first:
            yield current
        if current.factor > MAX_FACTOR * factor or current.factor < 0.0:
            break
        ds *= 1.0 if between else 1.5
    raise _search_error(most, float(current.squares[0]) / first)


Tangent = tuple[Floats, float]  # components for x (size,) and for the factor


def _tangent(
    current: ShapeConstrainedEquilibrium, weight: float, factor: float, before: Tangent | None
) -> Tangent:
    """Return the unit tangent of the path, continuing `before`; if that is None, towards larger factors."""
    phi, rate, M = current.shapes[0], current.rate, current.M
    df, a = float(current.squares[0]), float(phi @ rate)
    x = df * current.saddle.solve(rate) + a * phi
    length = np.sqrt(x @ (M @ x) / weight + df**2 / factor**2)
    along = df if before is None else before[0] @ (M @ x) / weight + before[1] * df / factor**2
    length = np.copysign(length, along)
    return x / length, float(df / length)


def _arc_step(
    current: ShapeConstrainedEquilibrium, weight: float, factor: float, tangent: Tangent, ds: float
) -> ShapeConstrainedEquilibrium | None:
    """Return the equilibrium after a step of length ds, in the plane perpendicular to the tangent.

    None if Newton's method does not converge.
    """
    system, size, change = current.loaded.built.system, extent(current.state.r), np.inf
    state = perturb_state(system, current.state, current.lin.of_frames(ds * tangent[0]))
    f, across = current.factor + ds * tangent[1], current.M @ tangent[0] / weight
    for _ in range(ITERATIONS):
        current = current.at(state, f)
        rate = current.rate
        x_f = current.saddle.solve(rate)
        row = [across @ x_f + tangent[1] / factor**2, across @ current.shapes[0]]
        correction = _correction(current, rate, x_f, row, -across @ current.x)
        if correction is None:
            return None
        by_frame, df = correction
        before, change = change, max(largest(by_frame, size), size * abs(df) / factor)
        if not change <= size:
            return None
        state, f = perturb_state(system, state, by_frame), f + df
        if is_last(change, before, size):
            return current.at(state, f)
    return None


def _change(current: ShapeConstrainedEquilibrium, x: Floats, df: float) -> float:
    """Return the change of the eigenvalue of the single held shape along x, with the factor changing by df.

    It is phi K' phi + 2 y G' phi, y of (1).
    """
    phi, by_frame, system = current.shapes[0], current.lin.of_frames(x), current.loaded.built.system
    size = extent(current.state.r)
    eps = STEP / max(largest(by_frame, size) / size, abs(df / current.factor), 1e-300)
    ends = [
        current.loaded.linear(perturb_state(system, current.state, e * by_frame), current.factor + e * df)
        for e in (eps, -eps)
    ]
    K, G = ends[0].K - ends[1].K, ends[0].G - ends[1].G
    return float(phi @ (K @ phi) + 2.0 * current.pull[0] @ (G @ phi)) / (2.0 * eps)
