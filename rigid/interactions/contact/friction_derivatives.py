"""Evaluate `friction_forces` and its derivatives in real arithmetic.

The derivatives are with respect to the slip, the rotation, the sum of the forces, its rate, the tangent and the bristle.

With n = f/|f|, N = |f| (1 + phi), a slip s, a rotation theta, the mean tangent t of the rod and the bristle g in the axes of
the mean pose of its frame, (1) to (3) of `friction` change by

    dn = (df - (n . df) n)/|f|,   dN = (n . df) (1 + phi) + |f| phi_w dw
    d(across(x, n)) = across(dx, n) - (x . dn) n - (x . n) dn                                                         (4)

and all other changes follow by the product rule. If Newton's method has predicted a sign, its derivative is the predicted one,
as in `friction`.
"""

import math

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.friction import (
    BACKWARD,
    CREEP,
    DRILL,
    FORWARD,
    KINETIC,
    REST,
    ROLL,
    SIDEWAYS,
    SLIDING,
    SLOWEST,
    STATIC,
    STIFFNESS,
    ZETA,
    B,
    C,
    across,
    direction_factors,
    has_expected_values,
    is_anisotropic,
    mean,
    resists_rotation,
    scaled,
)
from rigid.interactions.kinds import EXPECTED, frame, vector
from rigid.kinematics.poses import direction
from rigid.linear_algebra import cross, dot, minus, plus, real, times

STILL = 0.0, 0.0, 0.0
UPRIGHT = STILL, (0.0, 0.0)
ALL_STILL = STILL, STILL, STILL


@inline_kernel
def axis(j):
    """Return the unit vector e_j."""
    return 1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0


@inline_kernel
def across_by(x, n, dx, dn):
    """Return the change of across(x, n), (4), for changes dx and dn."""
    return minus(across(dx, n), plus(times(dot(x, dn), n), times(dot(x, n), dn)))


@inline_kernel
def _normal(X, at, lam, w):
    """Return phi of (1) of `friction` and its derivative with respect to the rate w."""
    phi, slope = X[at + C] * w, X[at + C]
    size = math.sqrt(w * w + X[at + REST] * X[at + REST])
    if size > 0.0:
        sign = w / size
        phi += X[at + B] * sign
        slope += X[at + B] * (1.0 - (lam[EXPECTED].real if has_expected_values(lam) else sign) * sign) / size
    return (phi, slope) if phi > -1.0 else (-1.0, 0.0)


@inline_kernel
def _changes_of_direction_factors(X, at, tangent, n, anisotropy, dt, dn):
    """Return the changes of `direction_factors`: of e and both factors along it; dt, dn: changes of tangent and normal."""
    square, flat = dot(tangent, tangent), across(tangent, n)
    if square == 0.0 or not is_anisotropic(X, at):
        return UPRIGHT
    e, flat_square = anisotropy[0], dot(flat, flat)
    dflat = across_by(tangent, n, dt, dn)
    dlies = 2.0 * (dot(flat, dflat) - flat_square / square * dot(tangent, dt)) / square
    de = (
        times(1.0 / math.sqrt(flat_square), minus(dflat, times(dot(e, dflat), e)))
        if flat_square > 0.0
        else STILL
    )
    return de, (dlies * (X[at + FORWARD] - X[at + SIDEWAYS]), dlies * (X[at + BACKWARD] - X[at + SIDEWAYS]))


@inline_kernel
def _root_of(x, power):
    """Return x^power for power = 1 or -1/2."""
    return x if power == 1.0 else 1.0 / math.sqrt(x)


@inline_kernel
def _scaled_by(x, dx, anisotropy, dway, of, power):
    """Return the change of `friction.scaled` for the changes dx and dway."""
    (e, (forth, back, side)), (de, (dforth, dback)) = anisotropy, dway
    forwards = dot(of, e) > 0.0
    factor, dfactor = (forth, dforth) if forwards else (back, dback)
    if factor == 1.0 and side == 1.0 and dfactor == 0.0:
        return dx
    p, q = _root_of(factor, power), _root_of(side, power)
    dp, on = power * p / factor * dfactor, dot(x, e)
    along = (p - q) * (dot(dx, e) + dot(x, de)) + dp * on
    return plus(times(q, dx), plus(times(along, e), times((p - q) * on, de)))


@inline_kernel
def _limit_of(X, at):
    """Return the coefficient of friction that applies: kinetic while the contact slides, else static."""
    return X[at + KINETIC] if X[at + SLIDING] > 0.5 else X[at + STATIC]


@inline_kernel
def _bristle_state(X, at, lam, n, N, s, tangent, g):
    """Return the state of the bristle: anisotropy, u, factor, P before it is limited, damps, resists, and if the contact slides.

    `anisotropy`: result of `direction_factors`. `factor`: ratio by which g, projected across n, is lengthened to give u.
    """
    k, damps, factor = X[at + STIFFNESS], 0.0, 1.0
    if X[at + REST] > 0.0:
        damps = lam[0].real * X[at + STATIC] / (CREEP * X[at + REST])
    zeta, u = vector(X, at + ZETA), across(g, n)
    square, reduced_square = dot(zeta, zeta), dot(u, u)
    if square > 0.0 and reduced_square > 0.0:
        factor = math.sqrt(square / reduced_square)
    u, anisotropy, resists = times(factor, u), direction_factors(tangent, n, X, at), 0.5 * k + damps * N
    P = plus(times(k, scaled(u, anisotropy, u, -0.5)), times(resists, s))
    limit = N * _limit_of(X, at)
    return anisotropy, u, factor, P, damps, resists, dot(P, P) > limit * limit


@inline_kernel
def _force(X, at, N, bristle):
    """Return T of (2) of `friction`; `bristle`: result of `_bristle_state`."""
    anisotropy, P, slides = bristle[0], bristle[3], bristle[6]
    if slides:
        P = times(N * _limit_of(X, at) / math.sqrt(dot(P, P)), P)
    return scaled(P, anisotropy, P, 1.0)


@inline_kernel
def _bristle_by(X, at, lam, base, by):
    """Return the change of T of (2) of `friction`.

    `base`: n, N, s, tangent, g, result of `_bristle_state`. `by`: changes of the first five, with the change of s across n.
    """
    (n, N, s, tangent, g, (anisotropy, u, factor, P, damps, resists, slides)), (dn, dN, ds, dt, dg) = base, by
    k, zeta, dway = (
        X[at + STIFFNESS],
        vector(X, at + ZETA),
        _changes_of_direction_factors(X, at, tangent, n, anisotropy, dt, dn),
    )
    by_force = times(damps * dN, s)
    dP = plus(times(resists, ds), by_force)
    square = dot(u, u)
    if square > 0.0:
        du = times(factor, across_by(g, n, dg, dn))
        if dot(zeta, zeta) > 0.0:
            du = minus(du, times(dot(u, du) / square, u))
        dP = plus(dP, times(k, _scaled_by(u, du, anisotropy, dway, u, -0.5)))
    if slides:
        size, mu = math.sqrt(dot(P, P)), _limit_of(X, at)
        on = times(1.0 / size, P)
        expected, dP_at_fixed_N = on, minus(dP, by_force)
        if has_expected_values(lam):
            expected = lam[EXPECTED + 1].real, lam[EXPECTED + 2].real, lam[EXPECTED + 3].real
        dP = plus(minus(dP_at_fixed_N, times(dot(on, dP_at_fixed_N), expected)), across(by_force, on))
        dP = plus(times(mu * dN, on), times(mu * N / size, dP))
        P = times(mu * N / size, P)
    return _scaled_by(P, dP, anisotropy, dway, P, 1.0)


@inline_kernel
def _sign(lam, theta, sign_index):
    """Return f of (3) of `friction`, the factor 1/sqrt in it, and the predicted sign."""
    u, at = times(lam[0].real / SLOWEST, theta), EXPECTED + 4 + 3 * sign_index
    over = 1.0 / math.sqrt(1.0 + dot(u, u))
    f = times(over, u)
    if has_expected_values(lam):
        return f, over, (lam[at].real, lam[at + 1].real, lam[at + 2].real)
    return f, over, f


@inline_kernel
def _sign_by(lam, sign, dtheta):
    """Return the change of f of `_sign` for a change of theta."""
    f, over, expected = sign
    du = times(lam[0].real / SLOWEST, dtheta)
    return times(over, minus(du, times(dot(f, du), expected)))


@inline_kernel
def _moment_by(X, at, lam, base, by):
    """Return the change of the moment M of (3) of `friction`.

    `base`: n, N, theta, results of `_sign` for drilling and rolling. `by`: changes of the first three.
    """
    (n, N, theta, drilled, rolled), (dn, dN, dtheta) = base, by
    turned = across_by(theta, n, dtheta, dn)
    d = plus(times(dN, drilled[0]), times(N, _sign_by(lam, drilled, minus(dtheta, turned))))
    r = plus(times(dN, rolled[0]), times(N, _sign_by(lam, rolled, turned)))
    return plus(times(X[at + DRILL], d), times(X[at + ROLL], r))


@inline_kernel
def friction_force_derivatives(y0, y1, X, at, lam, sums, slip, tangent, of_frame):
    """Return `friction_forces` as (phi, T, M), and its derivatives, which all rows of the tangent share.

    The derivatives follow in this order. The first is that of (phi, T, M) with respect to the rate w. Two are those of (T, M)
    with respect to the components of slip and rotation, and to the sum of the forces. The next is that of T with respect to the
    tangent. The last one, if `of_frame`, is that of T with respect to a rotation of the first frame at the end of the step,
    which carries the bristle. `sums`, `slip` (s, theta) and `tangent` are real.
    """
    Q, f, _, power = sums
    size = math.sqrt(dot(f, f))
    n = times(1.0 / size, f)
    phi, phi_w = _normal(X, at, lam, lam[0].real * power / Q)
    N, theta = size * (1.0 + phi), slip[1]
    T, M, T_w, M_w = STILL, STILL, STILL, STILL
    T_s, T_f, T_t, T_eta, M_theta, M_f = ALL_STILL, ALL_STILL, ALL_STILL, ALL_STILL, ALL_STILL, ALL_STILL
    dn = (
        times(1.0 / size, across(axis(0), n)),
        times(1.0 / size, across(axis(1), n)),
        times(1.0 / size, across(axis(2), n)),
    )
    dN = times(1.0 + phi, n)
    if X[at + STATIC] > 0.0:
        zeta, s = vector(X, at + ZETA), across(slip[0], n)
        g, end = real(direction(mean(y0, y1, 0), zeta)), real(direction(frame(y1, 0), zeta))
        bristle = _bristle_state(X, at, lam, n, N, s, tangent, g)
        base = n, N, s, tangent, g, bristle
        T = _force(X, at, N, bristle)
        T_w = _bristle_by(X, at, lam, base, (STILL, size * phi_w, STILL, STILL, STILL))
        T_s = (
            _bristle_by(X, at, lam, base, (STILL, 0.0, across(axis(0), n), STILL, STILL)),
            _bristle_by(X, at, lam, base, (STILL, 0.0, across(axis(1), n), STILL, STILL)),
            _bristle_by(X, at, lam, base, (STILL, 0.0, across(axis(2), n), STILL, STILL)),
        )
        T_f = (
            _bristle_by(X, at, lam, base, (dn[0], dN[0], across_by(slip[0], n, STILL, dn[0]), STILL, STILL)),
            _bristle_by(X, at, lam, base, (dn[1], dN[1], across_by(slip[0], n, STILL, dn[1]), STILL, STILL)),
            _bristle_by(X, at, lam, base, (dn[2], dN[2], across_by(slip[0], n, STILL, dn[2]), STILL, STILL)),
        )
        if is_anisotropic(X, at):
            T_t = (
                _bristle_by(X, at, lam, base, (STILL, 0.0, STILL, axis(0), STILL)),
                _bristle_by(X, at, lam, base, (STILL, 0.0, STILL, axis(1), STILL)),
                _bristle_by(X, at, lam, base, (STILL, 0.0, STILL, axis(2), STILL)),
            )
        if of_frame:
            T_eta = (
                _bristle_by(X, at, lam, base, (STILL, 0.0, STILL, STILL, times(0.5, cross(axis(0), end)))),
                _bristle_by(X, at, lam, base, (STILL, 0.0, STILL, STILL, times(0.5, cross(axis(1), end)))),
                _bristle_by(X, at, lam, base, (STILL, 0.0, STILL, STILL, times(0.5, cross(axis(2), end)))),
            )
    if resists_rotation(X, at):
        drilled, rolled = _sign(lam, times(dot(theta, n), n), 0), _sign(lam, across(theta, n), 1)
        rotation_terms = n, N, theta, drilled, rolled
        M = times(N, plus(times(X[at + DRILL], drilled[0]), times(X[at + ROLL], rolled[0])))
        M_w = times(size * phi_w / N if N > 0.0 else 0.0, M)
        M_theta = (
            _moment_by(X, at, lam, rotation_terms, (STILL, 0.0, axis(0))),
            _moment_by(X, at, lam, rotation_terms, (STILL, 0.0, axis(1))),
            _moment_by(X, at, lam, rotation_terms, (STILL, 0.0, axis(2))),
        )
        M_f = (
            _moment_by(X, at, lam, rotation_terms, (dn[0], dN[0], STILL)),
            _moment_by(X, at, lam, rotation_terms, (dn[1], dN[1], STILL)),
            _moment_by(X, at, lam, rotation_terms, (dn[2], dN[2], STILL)),
        )
    return (phi, T, M), (phi_w, T_w, M_w), (T_s, M_theta), (T_f, M_f), T_t, T_eta
