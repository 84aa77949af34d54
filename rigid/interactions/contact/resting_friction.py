"""Friction of a contact with a plane in equilibria: a bristle that follows the path from one equilibrium to the next.

The numbers of a dissipation (`friction`) are followed by the poses of its frames in the last equilibrium, twelve for each frame.
With the bristle z0 of that equilibrium, the slip s of the material points of both sides at the contact point since then, without
its part along the normal, and the normal force N of the present poses,

    P* = k (z0 + s),   P = P* min(1, mu N/|P*|),   T = F P,   z1 = P/k                                     (1)

T acts on both sides at the contact point; on nodes that take no moment, as those of a string, at the nodes. mu is the static
coefficient: what rests is held up to it. (1) is the return mapping of `friction` (2) at the end of a step without rates, so that
a motion that begins there is in equilibrium, too. A contact that did not touch in the last equilibrium has no friction in this
one: it has been laid down on the way.

A force between equal poses does not tell whether its sticking point has moved, and (1) has no potential. Its dual is a force at
the mean of both poses, as other forces at rest are; K is then its derivative (`discretization.statics.forces`).
"""

from __future__ import annotations

from typing import Any

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact import circles, planes
from rigid.interactions.contact.friction import (
    SIZE,
    SLIDING,
    STATIC,
    STIFFNESS,
    ZETA,
    across,
    apply_inverse,
    arms,
    direction_factors,
    is_active,
    lever,
    mean,
    scaled,
    zero,
)
from rigid.interactions.contact.gaps import size_of
from rigid.interactions.contact.sphere_rod_dissipation import (
    PLANE_CIRCLE_DISSIPATION,
    PLANE_ROD_DISSIPATION,
    PLANE_SPHERE_DISSIPATION,
    chord_of,
    set_weight,
)
from rigid.interactions.kinds import Kind, add_dual, dual_function, no_bend, vector
from rigid.interactions.pressure import nothing
from rigid.kinematics.poses import ZERO, direction, on_point, point
from rigid.linear_algebra import dot, minus, plus, square_root, times

POSE = 12  # numbers of a pose: position and directors
TOUCHED = SLIDING  # offset in the place of the flag of sliding: 1 if it touched in the last equilibrium, 2: and has no arms


@inline_kernel
def _since(y, X, at):
    """Return the change of the pose y since the last equilibrium, whose pose is at this offset in X."""
    return (
        minus(y[0], vector(X, at)),
        minus(y[1], vector(X, at + 3)),
        minus(y[2], vector(X, at + 6)),
        minus(y[3], vector(X, at + 9)),
    )


@inline_kernel
def _write(y0, y1, X, arity, sums, tangent, out):
    """Write the friction (1) into `out`, which holds the weights of the frames; return its bristle at the end, and if it acts."""
    at = X.shape[0] - SIZE - POSE * arity
    if not is_active(sums):
        out[:] = 0.0
        return zero(sums[1]), False
    if X[at + TOUCHED].real < 0.5:
        out[:] = 0.0
        return zero(sums[1]), True
    inverse_Q, size = 1.0 / sums[0], size_of(sums[1])
    n, s, first = times(1.0 / size, sums[1]), zero(sums[1]), mean(y0, y1, 0)
    one, other = arms(y0, y1, 1, arity, sums, out)
    if X[at + TOUCHED].real > 1.5:
        other = zero(other)
    for k in range(arity):
        weight = inverse_Q * out[k, 1, 0]
        if weight != 0.0:
            y = mean(y0, y1, k)
            arm = one if k < 1 else other
            z = _since(y, X, at + SIZE + POSE * k)
            s = plus(s, times(weight, point(z, lever(y, plus(y[0], arm)))))
    s, factors = across(s, n), direction_factors(tangent, n, X, at)
    u = across(direction(first, vector(X, at + ZETA)), n)
    k_t, limit = X[at + STIFFNESS], size * X[at + STATIC]
    P = times(k_t, plus(scaled(u, factors, u, -0.5), s))
    square = dot(P, P)
    if square.real > (limit * limit).real:
        P = times(limit / square_root(square), P)
    T = scaled(P, factors, P, 1.0)
    for k in range(arity):
        weight = inverse_Q * out[k, 1, 0]
        out[k] = 0.0
        if weight != 0.0:
            y = mean(y0, y1, k)
            arm = one if k < 1 else other
            add_dual(on_point(times(weight, T), lever(y, plus(y[0], arm))), out, k)
    return scaled(times(1.0 / k_t, P), factors, P, 0.5), True


@inline_kernel
def _of_sphere(y0, y1, X, out):
    """Write the friction of a plane and a sphere; return the result of `_write`."""
    out[:] = 0.0
    sums = planes.sphere_on_plane(y0, y1, X, 1.0 + 0j, out)
    set_weight(out, 0, -sums[0])
    set_weight(out, 1, sums[0])
    return _write(y0, y1, X, 2, sums, ZERO, out)


@inline_kernel
def _of_circle(y0, y1, X, out):
    """Write the friction of a plane and a circle; return the result of `_write`."""
    out[:] = 0.0
    sums = circles.circle_on_plane(y0, y1, X, 1.0 + 0j, out)
    set_weight(out, 0, -sums[0])
    set_weight(out, 1, sums[0])
    return _write(y0, y1, X, 2, sums, ZERO, out)


@inline_kernel
def _of_rod(y0, y1, X, out):
    """Write the friction of a plane and an element of a rod; return the result of `_write`."""
    out[:] = 0.0
    count = X.shape[0] - SIZE - POSE * 3
    sums = planes.rod_on_plane(y0, y1, X, count, 1.0 + 0j, out)
    set_weight(out, 0, -sums[0])
    return _write(y0, y1, X, 3, sums, chord_of(y0, y1, 1), out)


@inline_kernel
def _store(y0, y1, result, out):
    """Store the bristle in components of the first frame in the force on it, and in that on the second 1 if the contact acts."""
    first, (end, acts) = mean(y0, y1, 0), result
    zeta = apply_inverse(first[1], first[2], first[3], end)
    out[:] = 0.0
    for i in range(3):
        out[0, 0, i] = zeta[i]
    out[1, 0, 0] = 1.0 if acts else 0.0


@dual_function
def sphere_at_rest(y0, y1, X, lam, out):
    """Write the friction of a plane and a sphere."""
    _of_sphere(y0, y1, X, out)


@dual_function
def sphere_bristle(y0, y1, X, lam, out):
    """Write the bristle of a plane and a sphere, see `_store`."""
    _store(y0, y1, _of_sphere(y0, y1, X, out), out)


@dual_function
def circle_at_rest(y0, y1, X, lam, out):
    """Write the friction of a plane and a circle."""
    _of_circle(y0, y1, X, out)


@dual_function
def circle_bristle(y0, y1, X, lam, out):
    """Write the bristle of a plane and a circle, see `_store`."""
    _store(y0, y1, _of_circle(y0, y1, X, out), out)


@dual_function
def rod_at_rest(y0, y1, X, lam, out):
    """Write the friction of a plane and an element of a rod."""
    _of_rod(y0, y1, X, out)


@dual_function
def rod_bristle(y0, y1, X, lam, out):
    """Write the bristle of a plane and an element of a rod, see `_store`."""
    _store(y0, y1, _of_rod(y0, y1, X, out), out)


def _at_rest(dissipation: Kind, force: Any) -> Kind:
    """Return the kind of the friction at rest of a dissipation, without internal variables."""
    return Kind(
        f"{dissipation.name}, at rest",
        dissipation.arity,
        0,
        nothing,
        force,
        no_bend,
        works=True,
        one_sided=True,
    )


# by dissipation: the friction at rest, and the dual of its bristle
AT_REST = {
    PLANE_SPHERE_DISSIPATION: (_at_rest(PLANE_SPHERE_DISSIPATION, sphere_at_rest), sphere_bristle),
    PLANE_CIRCLE_DISSIPATION: (_at_rest(PLANE_CIRCLE_DISSIPATION, circle_at_rest), circle_bristle),
    PLANE_ROD_DISSIPATION: (_at_rest(PLANE_ROD_DISSIPATION, rod_at_rest), rod_bristle),
}
