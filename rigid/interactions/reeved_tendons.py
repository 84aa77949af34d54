"""Tendons over pulleys and drums: circles in frames, on which a rope lies without slip across them or slides without friction.

A tendon passes n stops, each in a frame k with the centre c_k = r + R C and the signed radius R_k. A point has R_k = 0, a circle
about the unit axis n_k = R A has R_k > 0 if the tendon goes around it by the right-hand rule, else R_k < 0. The span from stop a
to stop b, with d = c_b - c_a and D = R_b - R_a, is tangent to both circles in the projection along the axes,

    s = sqrt(|d|^2 - D^2),   t = sqrt(|d|^2 - z_a z_b - D^2),   z_k = n_k . d                                      (1)
    beta_k = atan2(v_k . d, w_k . d) - delta,   delta = atan2(D, t),   w_k = R W,   v_k = n_k x w_k               (2)

s is its length, beta_k the angle of its projection about n_k from a direction w_k that is fixed in frame k. With the angles of
the spans that leave a circle (out) and reach it (in), the length of the tendon is

    l = sum s + sum R_k (beta_k_out - beta_k_in),   phi_k = (R_k/|R_k|)(beta_k_out - beta_k_in)                    (3)

A circle at an end is a drum, on which the tendon is fixed: only one of its angles exists, the other is zero. All other circles
are pulleys, phi_k is their angle of wrap. If it is negative, the tendon has come off and passes the pulley straight. l and its
gradient are continuous, since the span and the tangents coincide where phi_k = 0. Wraps and angles of drums are counted.

*Discrete derivative.* d, z_k, w_k . d, v_k . d are linear or bilinear in the poses, and so are |d|^2, z_a z_b: averages of the
factors give their changes exactly, with zero total force and moment. Chain rules of one variable are exact,

    s1 - s0 = (s1^2 - s0^2)/(s0 + s1),   delta1 - delta0 = atan(x),   x = D (t0 - t1)/(t0 t1 + D^2)                (4)

and the change of an angle is that of `torsion_spring`. Let l_S be the length along the stops S for any wraps. If the tendon
passes the sets S0 and S1 of stops at both ends of a step, the derivative is the mean of those of l_S0 and l_S1. What is missing,

    r = (E(y0) + E(y1))/2,   E = l_S1 - l_S0                                                                      (5)

of third order in the wraps, is added along the changes of the |d|^2/2 of all spans of S0 and S1.

Numbers: C, A, W, R of each stop, L, k, three from outside whose sum is u, and the counted angles in the order of the circles, as
many as stops, at most 8. Energies and constraints are those of `tendon_length`, with L + u in place of L; a given tension -u does
the work u (l1 - l0).
"""

from __future__ import annotations

import cmath
import math
from typing import Any

from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions import measures
from rigid.interactions.blocks import move_along, move_back, pulled, put_imaginary
from rigid.interactions.kinds import (
    COMPLEX_STEP,
    MAX_INTERNAL_VARIABLES,
    Kind,
    dual_function,
    frame,
    no_bend,
    tangent_function,
    value_function,
    vector,
)
from rigid.interactions.measure_forces import force_of
from rigid.interactions.pressure import nothing
from rigid.interactions.tendon_length import slope_of_tension, tension_of_step
from rigid.interactions.torsion_spring import argument, rotation_over_step
from rigid.kinematics.poses import direction, point
from rigid.linear_algebra import average, cross, dot, minus, plus, times

PER_STOP = 10  # numbers of each stop: C, A, W, R
MAX_STOPS, MAX_CIRCLES = 32, MAX_INTERNAL_VARIABLES
_AXIS, _ZERO, _RADIUS = 3, 6, 9  # offsets of A, W, R
_OTHERS = 5  # numbers behind those of the stops, before the counted angles: L, k, three from outside
_ROUND_OFF = 1e-15  # part of the length that (5) may be without being corrected


def count_of_angles(stops: int) -> int:
    """Return the number of counted angles of a tendon over this many stops."""
    return min(stops, MAX_CIRCLES)


@inline_kernel
def count_of_stops(X):
    """Return the number of stops."""
    size = X.shape[0] - _OTHERS
    few = size // (PER_STOP + 1)
    return few if few <= MAX_CIRCLES else (size - MAX_CIRCLES) // PER_STOP


@inline_kernel
def _radius(X, k):
    """Return R_k."""
    return X[PER_STOP * k + _RADIUS]


@inline_kernel
def _is_circle(X, k):
    """Return whether stop k is a circle."""
    return X[PER_STOP * k + _RADIUS].real != 0.0


@inline_kernel
def _next(stops, k):
    """Return the stop after k among those in the bit set `stops`."""
    k += 1
    while (stops >> k) & 1 == 0:
        k += 1
    return k


@inline_kernel
def _before(stops, k):
    """Return the stop before k among those in the bit set `stops`."""
    k -= 1
    while (stops >> k) & 1 == 0:
        k -= 1
    return k


@inline_kernel
def _between(y, X, a, b):
    """Return d, from the centre of stop a to that of stop b."""
    p = point(frame(y, b), vector(X, PER_STOP * b))
    return minus(p, point(frame(y, a), vector(X, PER_STOP * a)))


@inline_kernel
def _axis(y, X, k):
    """Return n_k."""
    return direction(frame(y, k), vector(X, PER_STOP * k + _AXIS))


@inline_kernel
def _owners(X, a, b):
    """Return the stops whose axes z_a and z_b of (1) belong to: that of the circle if the other one is a point."""
    return (a if _is_circle(X, a) else b), (b if _is_circle(X, b) else a)


@inline_kernel
def _square_of_t(y, X, a, b, d):
    """Return t^2 of (1); not a number if it is not positive: then one stop lies inside the other's circle."""
    i, j = _owners(X, a, b)
    D = _radius(X, b) - _radius(X, a)
    square = dot(d, d) - dot(_axis(y, X, i), d) * dot(_axis(y, X, j), d) - D * D
    return square if square.real > 0.0 else square + math.nan


@inline_kernel
def _plane(y, X, k, d):
    """Return w_k . d, v_k . d, w_k, v_k and d."""
    pose, at = frame(y, k), PER_STOP * k
    W = vector(X, at + _ZERO)
    w, v = direction(pose, W), direction(pose, cross(vector(X, at + _AXIS), W))
    return dot(w, d), dot(v, d), w, v, d


@inline_kernel
def _angle(y, X, k, a, b):
    """Return beta_k (2) of the span from a to b, between -2 pi and 2 pi."""
    d = _between(y, X, a, b)
    c, s, _, _, _ = _plane(y, X, k, d)
    D = _radius(X, b) - _radius(X, a)
    t = cmath.sqrt(_square_of_t(y, X, a, b, d))
    return argument(c, s) - argument(t, D + 0.0 * t)


@inline_kernel
def _wrap(y, X, k, n, stops, branch):
    """Return phi_k (3) nearest to the branch, the spans being those between the stops before and after k."""
    total = 0j
    if k < n - 1:
        total += _angle(y, X, k, k, _next(stops, k))
    if k > 0:
        total -= _angle(y, X, k, _before(stops, k), k)
    if _radius(X, k).real < 0.0:
        total = -total
    return total + 2.0 * math.pi * round((branch.real - total.real) / (2.0 * math.pi))


@inline_kernel
def _first_angle(X, n):
    """Return the offset of the counted angles."""
    return PER_STOP * n + _OTHERS


@internal_kernel
def stops_passed(y, X):
    """Return the bit set of the stops that the tendon touches: all but the pulleys that it has come off."""
    n = count_of_stops(X)
    stops, k, at = (1 << n) - 1, 0, _first_angle(X, n)
    while k < n:
        if _is_circle(X, k):
            inside = 0 < k < n - 1 and (stops >> k) & 1 == 1
            if inside and _wrap(y, X, k, n, stops, X[at]).real < 0.0:
                stops, k, at = stops ^ (1 << k), 0, _first_angle(X, n) + _is_circle(X, 0)
            else:
                at += 1
        k += 1
    return stops


@internal_kernel
def length_along(y, X, stops):
    """Return l (3) along the stops in a bit set, for any wraps."""
    n = count_of_stops(X)
    total, at, a = 0j, _first_angle(X, n), 0
    while a < n - 1:
        b = _next(stops, a)
        d, D = _between(y, X, a, b), _radius(X, b) - _radius(X, a)
        total += cmath.sqrt(dot(d, d) - D * D)
        a = b
    for k in range(n):
        if _is_circle(X, k):
            if (stops >> k) & 1:
                R = _radius(X, k)
                total += (R if R.real > 0.0 else -R) * _wrap(y, X, k, n, stops, X[at])
            at += 1
    return total


@inline_kernel
def _pull(out, X, a, b, f):
    """Add f, work-conjugate to d, to the dual `out`."""
    measures.add_force(out, b, X, PER_STOP * b, f)
    measures.add_force(out, a, X, PER_STOP * a, times(-1.0, f))


@inline_kernel
def _spread_square(out, X, a, b, on, weight):
    """Add weight times a dual on d, n_i and n_j, `on`."""
    i, j = _owners(X, a, b)
    _pull(out, X, a, b, times(weight, on[0]))
    measures.add_on_direction(out, i, X, PER_STOP * i + _AXIS, times(weight, on[1]))
    measures.add_on_direction(out, j, X, PER_STOP * j + _AXIS, times(weight, on[2]))


@inline_kernel
def _gradient_of_square(d, ni, nj, zi, zj):
    """Return the derivatives of t^2 to d, n_i and n_j."""
    on_d = minus(times(2.0, d), plus(times(zj, ni), times(zi, nj)))
    return on_d, times(-zj, d), times(-zi, d)


@inline_kernel
def _add_on_directions(out, X, k, parts, weight):
    """Add weight (c d . dv_k - s d . dw_k)."""
    c, s, d = parts
    W = vector(X, PER_STOP * k + _ZERO)
    V = cross(vector(X, PER_STOP * k + _AXIS), W)
    on_w, on_v = times(-weight * s, d), times(weight * c, d)
    for l in range(3):
        for i in range(3):
            out[k, 1 + i, l] += W[i] * on_w[l] + V[i] * on_v[l]


@inline_kernel
def _add_on_plane(out, X, k, a, b, parts, weight):
    """Add weight (c ds - s dc), with c = w_k . d, s = v_k . d."""
    c, s, w, v, d = parts
    _pull(out, X, a, b, times(weight, minus(times(c, v), times(s, w))))
    _add_on_directions(out, X, k, (c, s, d), weight)


@inline_kernel
def _add_span(y0, y1, X, a, b, weight, out):
    """Add weight times the discrete derivative of what the span from a to b adds to l; return the change of that."""
    d0, d1 = _between(y0, X, a, b), _between(y1, X, a, b)
    D, d = _radius(X, b) - _radius(X, a), average(d0, d1)
    mean = 0.5 * (cmath.sqrt(dot(d0, d0) - D * D) + cmath.sqrt(dot(d1, d1) - D * D))
    change = dot(d, minus(d1, d0)) / mean
    _pull(out, X, a, b, times(weight / mean, d))
    if not (_is_circle(X, a) or _is_circle(X, b)):
        return change
    for k in (a, b):
        if _is_circle(X, k):
            R = _radius(X, k) if k == a else -_radius(X, k)
            delta, ratio, _, _, parts = rotation_over_step(_plane(y0, X, k, d0), _plane(y1, X, k, d1))
            change += R * delta
            _add_on_plane(out, X, k, a, b, parts, weight * R * ratio)
    t0, t1 = cmath.sqrt(_square_of_t(y0, X, a, b, d0)), cmath.sqrt(_square_of_t(y1, X, a, b, d1))
    square = t0 * t1 + D * D
    x = D * (t0 - t1) / square
    delta = argument(square, D * (t0 - t1))  # (4)
    ratio = 1.0 - x * x / 3.0 if abs(x.real) < 1e-4 else delta / x
    i, j = _owners(X, a, b)
    i0, j0, i1, j1 = _axis(y0, X, i), _axis(y0, X, j), _axis(y1, X, i), _axis(y1, X, j)
    zi, zj = 0.5 * (dot(i0, d0) + dot(i1, d1)), 0.5 * (dot(j0, d0) + dot(j1, d1))
    on = _gradient_of_square(d, average(i0, i1), average(j0, j1), zi, zj)
    _spread_square(out, X, a, b, on, -weight * D * D * ratio / (square * (t0 + t1)))
    return change + D * delta


@inline_kernel
def _add_bend_of_span(y, z, X, a, b, weight, out):
    """Add the change along z of weight times the gradient of what the span from a to b adds to l."""
    d, e = _between(y, X, a, b), _between(z, X, a, b)
    D = _radius(X, b) - _radius(X, a)
    square = dot(d, d) - D * D
    _pull(out, X, a, b, times(weight / cmath.sqrt(square), minus(e, times(dot(d, e) / square, d))))
    if not (_is_circle(X, a) or _is_circle(X, b)):
        return
    for k in (a, b):
        if _is_circle(X, k):
            R = _radius(X, k) if k == a else -_radius(X, k)
            c, s, w, v, _ = _plane(y, X, k, d)
            _, _, w1, v1, _ = _plane(z, X, k, e)
            dc, ds = dot(w1, d) + dot(w, e), dot(v1, d) + dot(v, e)
            square = c * c + s * s
            moment, turned = weight * R / square, -2.0 * (c * dc + s * ds) / square
            _add_on_plane(out, X, k, a, b, (dc + turned * c, ds + turned * s, w, v, d), moment)
            _add_on_plane(out, X, k, a, b, (c, s, w1, v1, d), moment)
            # the product of w, v with d: the change of d pulls the directions, that of the directions pulls d
            _add_on_directions(out, X, k, (c, s, e), moment)
            _add_on_directions(out, X, k, (-c, -s, d), moment)
    i, j = _owners(X, a, b)
    ni, nj, mi, mj = _axis(y, X, i), _axis(y, X, j), _axis(z, X, i), _axis(z, X, j)
    zi, zj, ui, uj = dot(ni, d), dot(nj, d), dot(mi, d) + dot(ni, e), dot(mj, d) + dot(nj, e)
    square = _square_of_t(y, X, a, b, d)
    t, both = cmath.sqrt(square), square + D * D
    slope = -0.5 * D * D / (t * both)  # D times the derivative of delta to t^2
    change = D * D * (3.0 * square + D * D) / (4.0 * square * t * both * both)
    along = 2.0 * dot(d, e) - ui * zj - zi * uj
    _spread_square(out, X, a, b, _gradient_of_square(d, ni, nj, zi, zj), weight * change * along)
    on_d = minus(times(2.0, e), plus(plus(times(uj, ni), times(ui, nj)), plus(times(zj, mi), times(zi, mj))))
    on_i = times(-1.0, plus(times(uj, d), times(zj, e)))
    on_j = times(-1.0, plus(times(ui, d), times(zi, e)))
    _spread_square(out, X, a, b, (on_d, on_i, on_j), weight * slope)


@internal_kernel
def _add_length(y0, y1, X, stops, weight, out):
    """Add weight times the discrete derivative of the length along the stops in a bit set; return its change."""
    n, change, a = count_of_stops(X), 0j, 0
    while a < n - 1:
        b = _next(stops, a)
        change += _add_span(y0, y1, X, a, b, weight, out)
        a = b
    return change


@internal_kernel
def _missing(y0, y1, X, stops0, stops1):
    """Return r (5), and the sum of the squares of the changes of |d|^2/2 of all spans."""
    lengths = length_along(y0, X, stops1), length_along(y1, X, stops0)
    r = 0.5 * (lengths[0] - length_along(y0, X, stops0) + length_along(y1, X, stops1) - lengths[1])
    if abs(r.real) < _ROUND_OFF * abs(lengths[0].real):
        return 0j, 1.0 + 0j
    size = 0j
    for stops in (stops0, stops1):
        a = 0
        while a < count_of_stops(X) - 1:
            b = _next(stops, a)
            d0, d1 = _between(y0, X, a, b), _between(y1, X, a, b)
            change = dot(average(d0, d1), minus(d1, d0))
            size += change * change
            a = b
    return (r, size) if size.real > 0.0 else (0j, 1.0 + 0j)


@internal_kernel
def _add_missing(y0, y1, X, stops, weight, out):
    """Add weight times the sum of the changes of |d|^2/2 of all spans of the stops, times their derivatives."""
    a = 0
    while a < count_of_stops(X) - 1:
        b = _next(stops, a)
        d0, d1 = _between(y0, X, a, b), _between(y1, X, a, b)
        d = average(d0, d1)
        _pull(out, X, a, b, times(weight * dot(d, minus(d1, d0)), d))
        a = b


@internal_kernel
def _write_length(y0, y1, X, weight, out):
    """Write weight times the discrete derivative of the length; return the change of the length."""
    measures.clear_duals(out, count_of_stops(X))
    stops0, stops1 = stops_passed(y0, X), stops_passed(y1, X)
    if stops0 == stops1:
        return _add_length(y0, y1, X, stops0, weight, out)
    change = _add_length(y0, y1, X, stops0, 0.5 * weight, out)
    change = 0.5 * (change + _add_length(y0, y1, X, stops1, 0.5 * weight, out))
    r, size = _missing(y0, y1, X, stops0, stops1)
    _add_missing(y0, y1, X, stops0, weight * r / size, out)
    _add_missing(y0, y1, X, stops1, weight * r / size, out)
    return change + r


@internal_kernel
def _length(y, X):
    """Return the length l."""
    return length_along(y, X, stops_passed(y, X))


@value_function
def residual(y, X, out):
    """Write the constraint l - L."""
    out[0] = _length(y, X) - X[PER_STOP * count_of_stops(X)]


@value_function
def wraps(y, X, out):
    """Write the angles of wrap, that of a pulley that the tendon has come off between the stops before and after it."""
    n = count_of_stops(X)
    first, stops, i = _first_angle(X, n), stops_passed(y, X), 0
    for k in range(n):
        if _is_circle(X, k):
            out[i] = _wrap(y, X, k, n, stops, X[first + i])
            i += 1
    for k in range(i, X.shape[0] - first):
        out[k] = 0.0


@dual_function
def length_dual(y0, y1, X, lam, out):
    """Write the dual of lam l."""
    _write_length(y0, y1, X, lam[0], out)


@dual_function
def length_bend(y, z, X, lam, out):
    """Write the change of the gradient of lam l along z."""
    n, a = count_of_stops(X), 0
    measures.clear_duals(out, n)
    stops = stops_passed(y, X)
    while a < n - 1:
        b = _next(stops, a)
        _add_bend_of_span(y, z, X, a, b, lam[0], out)
        a = b


@value_function
def elastic_energy(y, X, out):
    """Write the energy k <l - L>^2/2."""
    at = PER_STOP * count_of_stops(X)
    stretch = _length(y, X) - X[at]
    out[0] = 0.5 * X[at + 1] * stretch * stretch if stretch.real > 0.0 else 0.0 * stretch


@inline_kernel
def _write_elastic(y0, y1, X, lam, L, out):
    """Write the discrete derivative of lam k <l - L>^2/2."""
    change = _write_length(y0, y1, X, 0j, out)
    tension = tension_of_step(X[PER_STOP * count_of_stops(X) + 1], _length(y0, X) - L, change)
    _write_length(y0, y1, X, lam * tension, out)


@internal_kernel
def _write_columns(y0, y1, X, law, free, out, K):
    """Write the tangent of `write_tangent` by columns of the whole dual, for a step in which the set of stops changes."""
    n, (factor, stiffness, L) = count_of_stops(X), law
    for k in range(n):
        for j in range(6 if (free >> k) & 1 else 0):
            move_along(y1, k, j)
            if stiffness > 0.0:
                _write_elastic(y0, y1, X, factor, L, out)
            else:
                _write_length(y0, y1, X, factor + 0j, out)
            put_imaginary(out, y0, y1, n, K, 6 * k + j)
            move_back(y1, k)


@internal_kernel
def _write_products(y0, y1, X, slope, rows, out, K):
    """Write slope times the dual `out` into the rows of K of the stops in the bit set `rows`."""
    n = count_of_stops(X)
    for l in range(n):
        force, torque = pulled(out, y0, y1, l)
        for k in range(n):
            for j in range(6 if (rows >> k) & 1 else 0):
                for i in range(3):
                    K[6 * k + j, 6 * l + i] = slope * force[i].real
                    K[6 * k + j, 6 * l + 3 + i] = slope * torque[i].real


@internal_kernel
def _add_row(y0, y1, X, stops, k, j, tension, out, K):
    """Multiply row j of stop k by the derivative of the change of the length; add those of the two spans at the stop."""
    n, along = count_of_stops(X), 0.0
    a, b = _before(stops, k) if k > 0 else k, _next(stops, k) if k < n - 1 else k
    for f in (a, k, b):
        for i in range(4):
            for l in range(3):
                out[f, i, l] = 0.0
    move_along(y1, k, j)
    if a < k:
        along += _add_span(y0, y1, X, a, k, tension, out).imag / COMPLEX_STEP
    if b > k:
        along += _add_span(y0, y1, X, k, b, tension, out).imag / COMPLEX_STEP
    row = 6 * k + j
    for i in range(6 * n):
        K[row, i] *= along
    for f in (a, k, b):
        force, torque = pulled(out, y0, y1, f)
        for i in range(3):
            K[row, 6 * f + i] += force[i].imag / COMPLEX_STEP
            K[row, 6 * f + 3 + i] += torque[i].imag / COMPLEX_STEP
        for i in range(4):  # a stop at an end is its own neighbour
            for l in range(3):
                out[f, i, l] = 0.0
    move_back(y1, k)


@internal_kernel
def write_tangent(y0, y1, X, law, out, K):
    """Write the derivatives of the forces to the poses at the end, as `Kind.tangent` does.

    With the discrete derivative m of l and the tension T, T dm/dy_1 couples the stops of a span only. Elastic tendons also have
    dT/dl_1 (dl_1/dy_1) m^T. law: factor of T, stiffness (0: the factor is T), and the length without tension.
    """
    n, free, (factor, stiffness, L) = count_of_stops(X), 0, law
    for k in range(n):
        if out[k, 3, 0].real != 0.0:
            free |= 1 << k
    stops, rows = stops_passed(y0, X), free
    if stops != stops_passed(y1, X):
        _write_columns(y0, y1, X, law, free, out, K)
    else:
        rows &= stops
        measures.clear_duals(out, n)
        change = _add_length(y0, y1, X, stops, 1.0 + 0j, out).real
        tension, slope = factor, 0.0
        if stiffness > 0.0:
            stretch = length_along(y0, X, stops).real - L
            tension = factor * tension_of_step(stiffness, stretch, change)
            slope = factor * slope_of_tension(stiffness, stretch, change)
        _write_products(y0, y1, X, slope, rows, out, K)
        for k in range(n):
            for j in range(6 if (rows >> k) & 1 else 0):
                _add_row(y0, y1, X, stops, k, j, tension, out, K)
    for k in range(n):
        out[k, 3, 0] = 1.0 if (rows >> k) & 1 else 0.0


@tangent_function
def length_tangent(y0, y1, X, lam, out, K):
    """Write the tangent of lam l."""
    write_tangent(y0, y1, X, (lam[0].real, 0.0, 0.0), out, K)


@tangent_function
def tension_tangent(y0, y1, X, lam, out, K):
    """Write the tangent of a given tension."""
    tension = -lam[0].real * force_of(X, PER_STOP * count_of_stops(X) + 2)
    write_tangent(y0, y1, X, (tension, 0.0, 0.0), out, K)


@tangent_function
def elastic_tangent(y0, y1, X, lam, out, K):
    """Write the tangent of the energy."""
    at = PER_STOP * count_of_stops(X)
    write_tangent(y0, y1, X, (lam[0].real, X[at + 1], X[at]), out, K)


@tangent_function
def varying_tangent(y0, y1, X, lam, out, K):
    """Write the tangent of the energy with the length L + u."""
    at = PER_STOP * count_of_stops(X)
    write_tangent(y0, y1, X, (lam[0].real, X[at + 1], X[at] + force_of(X, at + 2)), out, K)


@dual_function
def elastic_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of the energy."""
    _write_elastic(y0, y1, X, lam[0], X[PER_STOP * count_of_stops(X)], out)


@dual_function
def varying_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of the energy with the length L + u that holds in this step."""
    at = PER_STOP * count_of_stops(X)
    _write_elastic(y0, y1, X, lam[0], X[at] + force_of(X, at + 2), out)


@dual_function
def tension_dual(y0, y1, X, lam, out):
    """Write the dual of a given tension -u."""
    _write_length(y0, y1, X, -lam[0] * force_of(X, PER_STOP * count_of_stops(X) + 2), out)


def _family(
    name: str, rows: int, functions: tuple[Any, Any, Any], tangent: Any, works: bool = False
) -> dict[int, Kind]:
    """Return the kinds of reeved tendons by their number of stops; functions: value, dual, bend."""
    kinds = {}
    for n in range(2, MAX_STOPS + 1):
        kind = Kind(f"{name} over {n} stops", n, rows, *functions)
        kinds[n] = kind._replace(
            steep=rows > 0,
            n_internal=count_of_angles(n),
            count=wraps,
            works=works,
            signal=PER_STOP * n + 2 if works else -1,
            potential=works,
            tangent=tangent,
        )
    return kinds


# kinds by their number of stops
REEVED_LENGTHS = _family(
    "inextensible reeved tendon", 1, (residual, length_dual, length_bend), length_tangent
)
REEVED_ELASTIC = _family("elastic reeved tendon", 0, (elastic_energy, elastic_dual, no_bend), elastic_tangent)
REEVED_VARYING = _family(
    "reeved tendon of varying length", 0, (nothing, varying_dual, no_bend), varying_tangent, works=True
)
REEVED_TENSIONS = _family(
    "reeved tendon of given tension", 0, (nothing, tension_dual, no_bend), tension_tangent, works=True
)
REEVED = (REEVED_LENGTHS, REEVED_ELASTIC, REEVED_VARYING, REEVED_TENSIONS)
