"""Derivatives of the `contact_sums` with respect to the positions of all nodes at the end of a step, in real arithmetic.

The contribution of a station x and a segment from a to b depends on w1 = x1 - a1 and e1 = b1 - a1 alone at the end of the
step. With the names of `gaps`, n = d1/D1, ebar the mean of e0 and e1, and the force f d, f = 2 Q/(D0 + D1),

    dD1 = n . (dw - t1 de),   dQ = Q' dD1,   df = f' dD1,   f' = (2 Q' - f)/(D0 + D1)
    dt = g_w . dw + g_e . de,   g_w = kappa e1,   g_e = kappa (d1 - t1 e1) + 2 t_E e1                                 (1)
    dd = (dw - t de)/2 - dt ebar

Here t_E is the derivative of t with respect to |e1|^2. kappa is its derivative with respect to t1, divided by |e1|^2, if the
nearest point is an inner point, else its derivative with respect to c1 = e1 . d1. These, and Q', are complex steps of scalar
functions. A vertex is the end of a segment with constant t = t1 = 1.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.contact_sums import N, P, add, along, origin, passing
from rigid.interactions.contact.gaps import ENDLESS, RHO, mean_contact_parameter, nearest
from rigid.interactions.contact.normal_laws import reach_of, resistance
from rigid.interactions.kinds import COMPLEX_STEP, frame, vector
from rigid.kinematics.poses import direction, point
from rigid.linear_algebra import average, dot, minus, plus, real, times

A_STEP = 1.0 / COMPLEX_STEP
STEP = COMPLEX_STEP * 1j
HERE = 0.0, 0.0, 0.0
NO_SUMS = 0.0, HERE, HERE, 0.0
NO_PIECE = 0.0, 0.0, 0.0, 0.0, 0.0, HERE, HERE, HERE, 0.0, 0.0, (HERE, HERE)


@inline_kernel
def piece_of(X, w, e, parameters, slopes):
    """Return the contribution Q, Q', f, f', closed distance, d, ebar, n, t, t1, (g_w, g_e) of a station and a segment.

    w, e: their values at both ends of the step. `parameters`: t0, t1, t. `slopes`: (g_w, g_e).
    """
    t0, t1, t = parameters
    d0, d1, ebar = minus(w[0], times(t0, e[0])), minus(w[1], times(t1, e[1])), average(e[0], e[1])
    D0, D1 = dot(d0, d0) ** 0.5, dot(d1, d1) ** 0.5
    d, rho = minus(average(w[0], w[1]), times(t, ebar)), X[RHO].real
    complex_Q = resistance(X, D0 - rho + 0j, D1 - rho + STEP)
    if complex_Q.real == 0.0 or D1 == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, d, ebar, HERE, t, t1, slopes
    Q, by_D = complex_Q.real, A_STEP * complex_Q.imag
    f = 2.0 * Q / (D0 + D1)
    slope = (2.0 * by_D - f) / (D0 + D1)
    return Q, by_D, f, slope, D0 - D1, d, ebar, times(1.0 / D1, d1), t, t1, slopes


@inline_kernel
def segment_piece(X, w, e, low, high):
    """Return the contribution (see `piece_of`) of the segment a + t e, low <= t <= high."""
    (t0, _, c0), (t1, d1, c1) = nearest(w[0], HERE, e[0], low, high), nearest(w[1], HERE, e[1], low, high)
    t0, t1, c0, c1 = t0 + 0j, t1 + 0j, c0 + 0j, c1 + 0j
    E0, E1, d1 = dot(e[0], e[0]) + 0j, dot(e[1], e[1]) + 0j, real(d1)
    by_E = mean_contact_parameter(t0, t1, c0, c1, E0, E1 + STEP)
    if low < t1.real < high:
        kappa = A_STEP * mean_contact_parameter(t0, t1 + STEP, c0, c1, E0, E1).imag / E1.real
    else:
        kappa = A_STEP * mean_contact_parameter(t0, t1, c0, c1 + STEP, E0, E1).imag
    by_e = plus(times(kappa, minus(d1, times(t1.real, e[1]))), times(2.0 * A_STEP * by_E.imag, e[1]))
    return piece_of(X, w, e, (t0.real, t1.real, by_E.real), (times(kappa, e[1]), by_e))


@inline_kernel
def pieces(X, x, y0, y1, j, shared):
    """Return the contributions of a station x and the segment of frames j, j + 1: their number, the segment's and the
    vertex's.

    x: station at both ends of the step. `shared`: True if there is a vertex contribution, which is subtracted.
    """
    a0, b0, a1, b1 = (
        real(origin(y0, j)),
        real(origin(y0, j + 1)),
        real(origin(y1, j)),
        real(origin(y1, j + 1)),
    )
    acts, passes = passing(x[0], x[1], a0, b0, a1, b1, X[RHO].real + reach_of(X), shared)
    w, e = (minus(x[0], a0), minus(x[1], a1)), (minus(b0, a0), minus(b1, a1))
    vertex = piece_of(X, w, e, (1.0, 1.0, 1.0), (HERE, HERE)) if acts and shared and not passes else NO_PIECE
    if not acts:
        return 0, vertex, vertex
    first = segment_piece(X, w, e, 0.0, ENDLESS if passes else 1.0)
    if passes:
        vertex = segment_piece(X, w, e, 1.0, ENDLESS)
    return 2 if shared else 1, first, vertex


@inline_kernel
def moved(piece, on_w, on_e, m):
    """Return the changes dQ, dt, dD1, dd and of the force if w1 moves by on_w, and e1 by on_e, along the axis m."""
    _, by_D, f, slope, _, d, ebar, n, t, t1, (g_w, g_e) = piece
    dD, dt = (on_w - t1 * on_e) * n[m], on_w * g_w[m] + on_e * g_e[m]
    dd = minus(along_axis(m, 0.5 * (on_w - t * on_e)), times(dt, ebar))
    return by_D * dD, dt, dD, dd, plus(times(f, dd), times(slope * dD, d))


@inline_kernel
def along_axis(m, x):
    """Return the vector x e_m."""
    return x if m == 0 else 0.0, x if m == 1 else 0.0, x if m == 2 else 0.0


@inline_kernel
def add_forces(K, row, columns, station, weight, piece, dt, dforce):
    """Add the change of the forces on all four nodes to a row of K.

    `columns`: first column of the station's first node, of the segment's first node, and columns from node to node. `station`:
    s.
    """
    (of_station, of_segment, to_next), s, t, force = columns, station, piece[8], times(piece[2], piece[5])
    for i in range(3):
        K[row, of_station + i] -= weight * (1.0 - s) * dforce[i]
        K[row, of_station + to_next + i] -= weight * s * dforce[i]
        K[row, of_segment + i] += weight * ((1.0 - t) * dforce[i] - dt * force[i])
        K[row, of_segment + to_next + i] += weight * (t * dforce[i] + dt * force[i])


# Layout of K for dissipative forces: row 6 k + m belongs to the axis m of node k. Until `finish_rows` completes them, the columns
# 6 l .. of this row hold the changes of force and weight of frame l as in `out` (see `contact_sums`), and row 6 k + 3 + m holds
# the changes of the contact sums.


@inline_kernel
def add_sums(K, row, weight, dQ, dforce, dplace, dpower):
    """Add the changes of Q, force, place and power to the row of K that holds the changes of the contact sums."""
    K[row + 3, 0] += weight * dQ
    K[row + 3, 7] += weight * dpower
    for i in range(3):
        K[row + 3, 1 + i] += weight * dforce[i]
        K[row + 3, 4 + i] += weight * dplace[i]


@inline_kernel
def add_piece(K, j, s, weight, piece, c, fraction, out):
    """Add a contribution to forces and weights in `out`, and its changes to K; return its part of the contact sums.

    The station s is on frames 0 and 1, the segment on frames j and j + 1. c: contact point, x - fraction d.
    """
    Q, _, _, _, closed, _, _, _, t, _, _ = piece
    force = times(piece[2], piece[5])
    for k in range(4 if Q != 0.0 else 0):
        frame = k if k < 2 else j + k - 2
        node_weight = 1.0 - s if k == 0 else (s if k == 1 else (1.0 - t if k == 2 else t))
        sign = 1.0 if k < 2 else -1.0
        out[frame, 3, 0] = 1.0
        out[frame, 1, 0] += sign * weight * node_weight * Q
        for i in range(3):
            out[frame, 0, i] -= sign * weight * node_weight * force[i]
        on_w = 1.0 - s if k == 0 else (s if k == 1 else (-1.0 if k == 2 else 0.0))
        on_e = 1.0 if k == 3 else (-1.0 if k == 2 else 0.0)
        for m in range(3):
            row = 6 * frame + m
            dQ, dt, dD, dd, dforce = moved(piece, on_w, on_e, m)
            dc = minus(along_axis(m, 0.5 * on_w if k < 2 else 0.0), times(fraction, dd))
            add_forces(K, row, (0, 6 * j, 6), s, weight, piece, dt, dforce)
            K[row, 3] += weight * (1.0 - s) * dQ
            K[row, 9] += weight * s * dQ
            K[row, 6 * j + 3] -= weight * ((1.0 - t) * dQ - dt * Q)
            K[row, 6 * j + 9] -= weight * (t * dQ + dt * Q)
            add_sums(K, row, weight, dQ, dforce, plus(times(dQ, c), times(Q, dc)), dQ * closed - Q * dD)
    return weight * Q, times(weight, force), times(weight * Q, c), weight * Q * closed


@inline_kernel
def add_station(X, y0, y1, nodes, s, weight, fraction, K, out):
    """Add a station s of frames 0 and 1 against the polyline of the nodes behind them; return its part of the contact sums."""
    x = real(along(y0, 0, s)), real(along(y1, 0, s))
    middle, sums = average(x[0], x[1]), NO_SUMS
    for j in range(2, nodes + 1):
        count, first, second = pieces(X, x, y0, y1, j, j < nodes)
        if count > 0:
            c = minus(middle, times(fraction, first[5]))
            sums = add(sums, add_piece(K, j, s, weight, first, c, fraction, out))
        if count > 1:
            c = minus(middle, times(fraction, second[5]))
            sums = add(sums, add_piece(K, j, s, -weight, second, c, fraction, out))
    return sums


@inline_kernel
def add_station_on_plane(X, y0, y1, s, weight, K, out):
    """Add a station s of frames 1 and 2 against a fixed plane of frame 0; return its part of the contact sums.

    `out` receives nothing for the plane.
    """
    p, q, x0, x1 = frame(y0, 0), frame(y1, 0), real(along(y0, 1, s)), real(along(y1, 1, s))
    n0, n1 = real(direction(p, vector(X, N))), real(direction(q, vector(X, N)))
    d0, d1 = minus(x0, real(point(p, vector(X, P)))), minus(x1, real(point(q, vector(X, P))))
    g0, g1, n, d = dot(n0, d0) - X[RHO].real, dot(n1, d1) - X[RHO].real, average(n0, n1), average(d0, d1)
    complex_Q = resistance(X, g0 + 0j, g1 + STEP)
    Q, by_g, closed, across = complex_Q.real, A_STEP * complex_Q.imag, g0 - g1, 1.0 / dot(n, n)
    c = minus(average(x0, x1), times(across * dot(n, d), n))
    for k in range(1, 3 if Q != 0.0 else 0):
        node_weight = 1.0 - s if k == 1 else s
        out[k, 3, 0] = 1.0
        out[k, 1, 0] += weight * node_weight * Q
        for i in range(3):
            out[k, 0, i] -= weight * node_weight * Q * n[i]
        for m in range(3):
            row, dg = 6 * k + m, node_weight * n1[m]
            dQ = by_g * dg
            dc = minus(along_axis(m, 0.5 * node_weight), times(0.5 * node_weight * across * n[m], n))
            K[row, 3] -= weight * dQ
            for l in range(1, 3):
                part = weight * (1.0 - s if l == 1 else s) * dQ
                K[row, 6 * l + 3] += part
                for i in range(3):
                    K[row, 6 * l + i] -= part * n[i]
            add_sums(K, row, weight, dQ, times(dQ, n), plus(times(dQ, c), times(Q, dc)), dQ * closed - Q * dg)
    return weight * Q, times(weight * Q, n), times(weight * Q, c), weight * Q * closed
