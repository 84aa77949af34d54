"""Where a path of equilibria x(f) has a singular stiffness: bifurcations and limit points, state, factor and shape together.

    r(x, f) = 0,   K(x, f) phi + G^T y = 0,   G phi = 0,   phi M phi = 1                                      (1)

is solved in two ways. Where the load does no work in phi it is a bifurcation: the path does not go along phi, whose amplitude
is held, so that equilibria are found by a regular matrix (`growing_loads`), and the eigenvalue of phi becomes zero by secants
in f. At several critical points that are near to each other, or one, all their shapes are held. Else it is a limit point:
the load turns there, amplitude a and factor are both unknown. With r along phi and the eigenvalue s = phi K phi

    m + m_f df - s a = 0,     s + s_f df + s_a a = 0,     x = x_0 + df x_f + a phi                            (2)

x_0, m and x_f, m_f are the answers to -r and -dr/df with phi held; s_f, s_a the changes of s along x_f and phi, from differences
of K: they decide how fast (2) converges, not to what. Regular where dr/df works in phi and s_a is not zero.

Sources: Moore and Spence, SIAM J. Numer. Anal. 17 (1980) 567; Werner and Spence, ibid. 21 (1984) 388 (symmetry);
Wriggers and Simo, Int. J. Numer. Meth. Engng 30 (1990) 155.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for

from discretization.linearisation.equations import Linearised, filled
from discretization.linearisation.moving import moved
from rigid.errors import ConvergenceError, ModelError
from rigid.system import Floats, State
from rodsim.small_motions.modal_analysis import model_size, rounding
from rodsim.statics.growing_loads import (
    CONVERGED,
    HOVERING,
    IDLE,
    ITERATIONS,
    STALLED,
    Held,
    Loaded,
    largest,
    work_scale,
)

BIFURCATION, LIMIT = "bifurcation", "limit point"
DEPENDENT = 1e-3  # what is left of a shape that others have in them
SCARCELY = 1e-6  # of load times displacement: work below may be none
PARTS = 16  # of the way to a linear factor, where the point is not next to it
NEAR = 1.5  # times a linear factor: below, shapes are held beside that of this factor
HALVINGS = 8  # of the way to a factor, where Newton's method does not go there at once
DOUBLE = 1e-6  # of an eigenvalue without loads: nearer ones are one
ZERO = 1e-4  # of the same: no more is left of it at a critical point
SETTLED = 1e-9  # of a factor: a change below it is the last one, if the eigenvalue is round-off
CLOSE = 0.3  # of the same: so near to a limit point (2) starts
STEPS = 100  # of a walk to a limit point
BEYOND = 10.0  # of the model's size: so far along the linear path that it says nothing of the real one
LEAST, FAR = 0.01, 3.0  # times the linear factor: where no point is looked for any more
STRAIGHT = 0.8  # least cosine between tangents that follow each other
STEP = 1e-4  # of the model's size, or of the factor: displacements of the differences of K
FARTHEST = 0.2  # of the model's size, and of the factor: one correction of (2)


FAILURES = (ConvergenceError, ModelError, np.linalg.LinAlgError)  # of a search; what was found before stays
SINGULAR = (
    "the path from load factor zero came to where the stiffness is singular, and on from there it could not be followed; "
    'follow it by equilibrium(method="arc-length")'
)


class Critical(NamedTuple):
    """A solution of (1)."""

    kind: str
    factor: float
    state: State
    shape: Floats  # (size,)


class NoCriticalPoint(Exception):
    """There is no such point, in words."""


def critical_point(loaded: Loaded, lin: Linearised, factors: Floats, shapes: Floats, which: int) -> Critical:
    """That next to a factor of linear buckling, number `which` of those with these shapes (k, size); lin: about the
    equilibrium at factor zero. Raises NoCriticalPoint.
    """
    state, M, load = lin.state, filled(lin.M), loaded.rate(lin)
    near = [which, *(k for k in range(len(factors)) if k != which and factors[k] <= NEAR * factors[which])]
    unit = _orthonormal(shapes[near], M)
    # a step of inverse iteration: without the round-off of what is stiff
    first = loaded.held(state, 0.0, unit, M)
    alike = DOUBLE * float(np.abs(first.squares).max())
    phi, factor = _along(unit[0], first, M, alike)[0], float(factors[which])
    size = model_size(state)
    moves = factor * largest(lin.of_frames(first.saddle.solve(load)), size)
    if moves > BEYOND * size:  # as of a rod that is pulled to a multiple of its length
        raise NoCriticalPoint(
            "on the path from load factor zero no critical point is near there, where the linear path has moved by "
            f"{moves / size:.3g} times the size of the model"
        )
    # coarse, for linear shapes have the round-off of K'; where the path goes along what is held shows at its end
    if abs(phi @ load) <= SCARCELY * work_scale(phi[None], load)[0]:
        idle = np.abs(first.shapes @ load) <= SCARCELY * work_scale(first.shapes, load)
        shapes = first.shapes if idle.all() else first.shapes[idle]
        for held, parts in ((shapes, 1), (phi[None], 1), (shapes, PARTS)):
            with suppress(*FAILURES):
                here = first if held is first.shapes else loaded.held(state, 0.0, held, M)
                found = _bifurcation(loaded, here, factor, phi, M, parts)
                if found is not None:
                    return found
    try:
        return _limit(loaded, state, factor, phi, M)
    except ConvergenceError as error:
        raise NoCriticalPoint(error.message) from error
    except (ModelError, np.linalg.LinAlgError) as error:
        raise NoCriticalPoint(SINGULAR) from error


def _orthonormal(shapes: Floats, M: scipy.sparse.csr_matrix) -> Floats:
    """In the product of M, by turns; without those that the ones before have in them."""
    found = np.zeros((0, shapes.shape[1]))
    for phi in shapes:
        phi = phi / np.sqrt(phi @ (M @ phi))
        phi = phi - (found @ (M @ phi)) @ found
        norm = np.sqrt(phi @ (M @ phi))
        if norm > DEPENDENT:
            found = np.vstack([found, phi / norm])
    return found


def _along(phi: Floats, held: Held, M: scipy.sparse.csr_matrix, alike: float) -> tuple[Floats, float]:
    """phi among the eigenvectors held, and its eigenvalue; of those whose eigenvalues are alike, its part in their span."""
    overlap = held.shapes @ (M @ phi)
    best = int(np.argmax(np.abs(overlap)))
    use = np.abs(held.squares - held.squares[best]) <= alike + held.noise
    share = np.where(use, overlap, 0.0) / np.linalg.norm(overlap[use])
    return share @ held.shapes, float(share**2 @ held.squares)


def _bifurcation(
    loaded: Loaded, here: Held, factor: float, phi: Floats, M: scipy.sparse.csr_matrix, parts: int
) -> Critical | None:
    """Next to a factor, by secants, from factor zero with shapes held; None where the path goes along one of them.

    parts: of the way to the factor at first; it ends where the eigenvalue changes its sign.
    """
    first = float(np.abs(here.squares).max())
    phi, square = _along(phi, here, M, DOUBLE * first)
    start, before, last = factor, 0.0, np.inf
    for part in range(1, parts + 1):
        before, square_before, factor = here.factor, square, start * part / parts
        here = _reached(loaded, here, before, factor, M)
        phi, square = _along(phi, here, M, DOUBLE * first)
        if square <= 0.0:
            break
    for _ in range(ITERATIONS):
        step = -square * (factor - before) / (square - square_before) if square != square_before else 0.0
        rounded = abs(square) <= here.noise and abs(step) <= SETTLED * factor
        small = abs(step) < 1e-4 * factor and abs(step) > 0.5 * last
        if abs(step) <= CONVERGED * factor or rounded or small:
            if abs(square) > ZERO * first:
                break
            loose = np.any(np.abs(here.left) > _loose(loaded, here, factor))
            return None if loose else Critical(BIFURCATION, factor, here.state, phi)
        before, square_before, last = factor, square, abs(step)
        factor = max(factor + step, 0.1 * factor)
        if not LEAST * start < factor < FAR * start:
            break
        here = _reached(loaded, here, before, factor, M)
        phi, square = _along(phi, here, M, DOUBLE * first)
    raise _no_end(factor, last / factor)


def _reached(loaded: Loaded, here: Held, start: float, factor: float, M: scipy.sparse.csr_matrix) -> Held:
    """The equilibrium at a factor from that at another, in as many parts of the way as it takes."""
    done, part, left = 0.0, 1.0, np.inf
    hovering = HOVERING * model_size(here.state)
    while done < 1.0:
        try:
            then = start + (factor - start) * min(done + part, 1.0)
            here = loaded.settled(here.state, then, here.shapes, M)
        except ConvergenceError as error:
            part *= 0.5
            # corrections that do not follow the step are not cured by a shorter one
            in_vain = 0.5 * left < error.residual < hovering
            left = error.residual
            if part < 0.5**HALVINGS or in_vain:
                raise
        else:
            done += part
    return here


def _loose(loaded: Loaded, here: Held, factor: float) -> Floats:
    """(k,) forces that hold a shape above this are no round-off."""
    return IDLE * work_scale(here.shapes, loaded.applied(here.lin, factor)) + rounding(here.lin, here.shapes)


def _no_end(factor: float, residual: float) -> ConvergenceError:
    message = f"on the path from load factor zero no critical point was found, up to {factor:.6g}"
    return ConvergenceError(t=factor, h=0.0, iterations=ITERATIONS, residual=residual, message=message)


def _limit(loaded: Loaded, state: State, factor: float, phi: Floats, M: scipy.sparse.csr_matrix) -> Critical:
    """On the path from factor zero, where the eigenvalue of phi goes to zero."""
    tried = np.inf
    for here in _towards_limit(loaded, state, factor, phi, M):
        if abs(here.squares[0]) > 0.5 * tried:
            continue
        found, tried = _polished(loaded, here, M), abs(here.squares[0])
        if found is not None:
            return found
    raise _no_end(here.factor, 1.0)


def _polished(loaded: Loaded, here: Held, M: scipy.sparse.csr_matrix) -> Critical | None:
    """By (2), from a point near by; None where that leads away."""
    state, f, size, change = here.state, here.factor, model_size(here.state), np.inf
    for _ in range(ITERATIONS):
        phi, square, rate = here.shapes[0], float(here.squares[0]), loaded.rate(here.lin)
        x_f = here.saddle.solve(rate)
        changes = _change(loaded, here, x_f, 1.0), _change(loaded, here, phi, 0.0)
        try:
            df, a = np.linalg.solve(np.array([[phi @ rate, -square], changes]), [-here.left[0], -square])
        except np.linalg.LinAlgError:
            return None
        by_frame = here.lin.of_frames(here.x + df * x_f + a * phi)
        before, change = change, largest(by_frame, size)
        if not change <= FARTHEST * size or not abs(df) <= FARTHEST * here.factor or f + df <= 0.0:
            return None
        state, f = moved(loaded.built.system, state, by_frame), f + float(df)
        here = loaded.held(state, f, phi[None], M)
        settled = change <= 1e3 * CONVERGED * size or 0.5 * before < change <= STALLED * size
        if settled and abs(df) <= 1e-9 * f:  # an error of the state counts squared in the factor
            return Critical(LIMIT, f, state, here.shapes[0])
    return None


def _towards_limit(
    loaded: Loaded, state: State, factor: float, phi: Floats, M: scipy.sparse.csr_matrix
) -> Iterator[Held]:
    """Points of the path nearer and nearer to where the eigenvalue of phi changes its sign, by arc-length.

    In x = x_0 + df x_f + a phi the path goes along (df, a) = (s, m_f), regular where s is zero. Lengths are those of x over the
    model's size, and of f over that factor.
    """
    here = loaded.held(state, 0.0, phi[None], M)
    weight = M.diagonal().sum() * model_size(state) ** 2
    tangent, first, ds = _tangent(loaded, here, M, weight, factor, None), float(here.squares[0]), 0.05
    between, most = False, 0.0
    for _ in range(STEPS):
        there = _stepped(loaded, here, M, weight, factor, tangent, ds)
        if there is None:
            ds *= 0.5
            continue
        after = _tangent(loaded, there, M, weight, factor, tangent)
        if tangent[0] @ (M @ after[0]) / weight + tangent[1] * after[1] / factor**2 < STRAIGHT and ds > 1e-6:
            ds *= 0.5
            continue
        if there.squares[0] <= 0.0:
            between = True
            if there.squares[0] >= -CLOSE * first:
                yield there
            ds *= 0.5
            continue
        here, tangent, most = there, after, max(most, there.factor)
        if here.squares[0] <= CLOSE * first:
            yield here
        if here.factor > FAR * factor or here.factor < 0.0:
            break
        ds *= 1.0 if between else 1.5
    raise _no_end(most, float(here.squares[0]) / first)


Tangent = tuple[Floats, float]  # of x (size,) and of the factor


def _tangent(
    loaded: Loaded,
    here: Held,
    M: scipy.sparse.csr_matrix,
    weight: float,
    factor: float,
    before: Tangent | None,
) -> Tangent:
    """Of length 1, on from that before; the first to larger factors."""
    phi, rate = here.shapes[0], loaded.rate(here.lin)
    df, a = float(here.squares[0]), float(phi @ rate)
    x = df * here.saddle.solve(rate) + a * phi
    length = np.sqrt(x @ (M @ x) / weight + df**2 / factor**2)
    along = df if before is None else before[0] @ (M @ x) / weight + before[1] * df / factor**2
    length = np.copysign(length, along)
    return x / length, float(df / length)


def _stepped(
    loaded: Loaded,
    here: Held,
    M: scipy.sparse.csr_matrix,
    weight: float,
    factor: float,
    tangent: Tangent,
    ds: float,
) -> Held | None:
    """The equilibrium behind a step of this length, in the plane across the tangent; None: Newton's method does not end."""
    system, size, change = loaded.built.system, model_size(here.state), np.inf
    state = moved(system, here.state, here.lin.of_frames(ds * tangent[0]))
    f, across = here.factor + ds * tangent[1], M @ tangent[0] / weight
    for _ in range(ITERATIONS):
        here = loaded.held(state, f, here.shapes, M)
        phi, rate = here.shapes[0], loaded.rate(here.lin)
        x_f = here.saddle.solve(rate)
        matrix = [[phi @ rate, -here.squares[0]], [across @ x_f + tangent[1] / factor**2, across @ phi]]
        try:
            df, a = np.linalg.solve(np.array(matrix), [-here.left[0], -across @ here.x])
        except np.linalg.LinAlgError:
            return None
        by_frame = here.lin.of_frames(here.x + df * x_f + a * phi)
        before, change = change, max(largest(by_frame, size), size * abs(df) / factor)
        if not change <= size:
            return None
        state, f = moved(system, state, by_frame), f + float(df)
        if change <= 1e3 * CONVERGED * size or 0.5 * before < change <= STALLED * size:
            return loaded.held(state, f, here.shapes, M)
    return None


def _change(loaded: Loaded, here: Held, x: Floats, df: float) -> float:
    """Of the eigenvalue of the one shape held along x, the factor changing by df: phi K' phi + 2 y G' phi, y of (1)."""
    phi, by_frame, system = here.shapes[0], here.lin.of_frames(x), loaded.built.system
    size = model_size(here.state)
    eps = STEP / max(largest(by_frame, size) / size, abs(df / here.factor), 1e-300)
    ends = [loaded.linear(moved(system, here.state, e * by_frame), here.factor + e * df) for e in (eps, -eps)]
    K, G = ends[0].K - ends[1].K, ends[0].G - ends[1].G
    return float(phi @ (K @ phi) + 2.0 * here.pull[0] @ (G @ phi)) / (2.0 * eps)
