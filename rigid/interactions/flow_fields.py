"""Velocity and acceleration of a fluid at a place and time: a current and regular waves, from numbers of an interaction.

With the height z = up . x, the current is c(t) U(z). U is uniform, a power law ((z - base)/height)^exponent above its base, or a
table over z, linear between its heights and constant beyond the first and the last; or it is U(x, t) of three formulas
(`rigid.interactions.formula_programs`). Each wave of amplitude A that travels along a
horizontal direction e adds (Airy; Dean and Dalrymple, Water Wave Mechanics, ch. 3)

    u = A w (C cos q e + S sin q up),   q = k s - w t + phase,   s = e . x                                 (1)
    C = (E + D/E)/(1 - D),   S = (E - D/E)/(1 - D),   E = exp(k z'),   D = exp(-2 k depth)                  (2)

where z' is the height above the mean level, at most 0 (above it the velocity is that at the level) and at least -depth. The
surface is at A cos q. Waves grow as m(t/T), m(x) = 3 x^2 - 2 x^3, over the time T at the beginning. The acceleration of waves
is du/dt at a fixed place, as in linear theory. That of formulas is c dU/dt + c^2 (U . grad) U, the derivative along (c U, 1) in
place and time, times c; the rate of the factor c is neglected. Other currents have no acceleration.
"""

import numpy as np

from rigid.compilation.decorators import inline_kernel, internal_kernel, kernel
from rigid.compilation.real_functions import made_of
from rigid.interactions.formula_programs import run, slope_along
from rigid.interactions.kinds import COMPLEX_STEP, vector, whole
from rigid.linear_algebra import dot, matrix_times, outer, plus, times

# offsets from the numbers from outside, which are first: the factor of the current, the time, and that of the waves
FACTOR, TIME, WAVE_FACTOR, UP, LAW, ROWS, FIRST_ROW = 0, 1, 2, 3, 6, 7, 8
UNIFORM, POWER_LAW, TABLE, FORMULA = 0, 1, 2, 3
ROW, WAVE_ROW = 4, 9  # numbers of a row of a current: z and U; of a wave: e, k, w, A, phase, depth, T
# the rows of a formula hold one number after the other: three programs, then zeros


@internal_kernel
def _current(z, X, at):
    """Return U and dU/dz at the height z."""
    law, count, first = whole(X[at + LAW]), whole(X[at + ROWS]), at + FIRST_ROW
    one = 1.0 + 0.0 * z
    if law == POWER_LAW:
        exponent, U = X[first], vector(X, first + 1)
        above = z - X[first + ROW]
        if above.real <= 0.0:
            return times(0.0 * one, U), times(0.0 * one, U)
        f = one * (above / X[first + ROW + 1]) ** exponent
        return times(f, U), times(exponent * f / above, U)
    last = first + ROW * (count - 1)
    if law == UNIFORM or z.real <= X[first].real:
        return times(one, vector(X, first + 1)), times(0.0 * one, vector(X, first + 1))
    if z.real >= X[last].real:
        return times(one, vector(X, last + 1)), times(0.0 * one, vector(X, last + 1))
    while z.real >= X[first + ROW].real:
        first += ROW
    width = X[first + ROW] - X[first]
    share, U0, U1 = (z - X[first]) / width, vector(X, first + 1), vector(X, first + ROW + 1)
    slope = (U1[0] - U0[0]) / width, (U1[1] - U0[1]) / width, (U1[2] - U0[2]) / width
    return plus(times(1.0 - share, U0), times(share, U1)), times(one, slope)


@internal_kernel
def _formula(x, X, at):
    """Return U at the place x of complex numbers, at the time of the step."""
    variables, program = (x[0], x[1], x[2], complex(X[at + TIME].real, 0.0)), at + FIRST_ROW
    u = run(X, program, variables)
    program += 1 + whole(X[program])
    v = run(X, program, variables)
    program += 1 + whole(X[program])
    return u, v, run(X, program, variables)


@internal_kernel
def _formula_acceleration(x, U, X, at, rate):
    """Return c dU/dt times `rate`, plus c^2 (U . grad) U, where U is the value of `_formula` at the place x."""
    c = X[at + FACTOR].real
    variables, program = (x[0], x[1], x[2], complex(X[at + TIME].real, 0.0)), at + FIRST_ROW
    along = c * U[0], c * U[1], c * U[2], complex(rate, 0.0)
    a = slope_along(X, program, variables, along)
    program += 1 + whole(X[program])
    b = slope_along(X, program, variables, along)
    program += 1 + whole(X[program])
    return c * a, c * b, c * slope_along(X, program, variables, along)


@inline_kernel
def _columns(a, b, c):
    """Return the derivatives (9) with respect to x, y, z from three complex steps."""
    scale = 1.0 / COMPLEX_STEP
    return (
        scale * a[0].imag, scale * b[0].imag, scale * c[0].imag,
        scale * a[1].imag, scale * b[1].imag, scale * c[1].imag,
        scale * a[2].imag, scale * b[2].imag, scale * c[2].imag,
    )  # fmt: skip


@inline_kernel
def _formula_and_slopes(x, X, at):
    """Return U and the acceleration at a real place x, each with its derivatives with respect to x (9), by complex steps."""
    step, place = COMPLEX_STEP * 1j, (x[0] + 0j, x[1] + 0j, x[2] + 0j)
    xa, xb, xc = (
        (place[0] + step, place[1], place[2]),
        (place[0], place[1] + step, place[2]),
        (place[0], place[1], place[2] + step),
    )
    a, b, c = _formula(xa, X, at), _formula(xb, X, at), _formula(xc, X, at)
    da = _formula_acceleration(xa, a, X, at, 1.0)
    db = _formula_acceleration(xb, b, X, at, 1.0)
    dc = _formula_acceleration(xc, c, X, at, 1.0)
    U, A = (a[0].real, a[1].real, a[2].real), (da[0].real, da[1].real, da[2].real)
    return U, _columns(a, b, c), A, _columns(da, db, dc)


@inline_kernel
def end_of_flow(X, at):
    """Return the offset behind the numbers of a flow."""
    level = at + FIRST_ROW + ROW * whole(X[at + ROWS])
    return level + 2 + WAVE_ROW * whole(X[level + 1])


@inline_kernel
def has_waves(X, at):
    """Return whether there are waves."""
    return X[at + FIRST_ROW + ROW * whole(X[at + ROWS]) + 1].real > 0.0


@inline_kernel
def _growth(t, T):
    """Return m(t/T) and its rate."""
    m, rate = 1.0, 0.0
    if t < T:
        share = max(t / T, 0.0)
        m, rate = (3.0 - 2.0 * share) * share * share, 6.0 * share * (1.0 - share) / T
    return m, rate


@internal_kernel
def _waves(x, X, at):
    """Return velocity and acceleration of all waves at x."""
    level = at + FIRST_ROW + ROW * whole(X[at + ROWS])
    up, t = vector(X, at + UP), X[at + TIME].real
    u = 0.0 * x[0], 0.0 * x[1], 0.0 * x[2]
    a = u
    for j in range(whole(X[level + 1])):
        row = level + 2 + WAVE_ROW * j
        e, k, w, depth, T = vector(X, row), X[row + 3], X[row + 4], X[row + 7].real, X[row + 8].real
        z, q = dot(up, x) - X[level], k * dot(e, x) - w * t + X[row + 6]
        if z.real > 0.0:
            z = 0.0 * z
        elif z.real < -depth:
            z = 0.0 * z - depth
        D, E = np.exp(-2.0 * k * depth), np.exp(k * z)
        C, S = (E + D / E) / (1.0 - D), (E - D / E) / (1.0 - D)
        m, rate = _growth(t, T)
        size = X[at + WAVE_FACTOR] * X[row + 5] * w
        along, upwards = size * C * np.cos(q), size * S * np.sin(q)
        u = plus(u, plus(times(m * along, e), times(m * upwards, up)))
        along = rate * along + m * w * size * C * np.sin(q)
        upwards = rate * upwards - m * w * size * S * np.cos(q)
        a = plus(a, plus(times(along, e), times(upwards, up)))
    return u, a


@inline_kernel
def current(x, X, at):
    """Return the velocity of the current alone, which acts on what rests."""
    U = plus(times(0.0, x), vector(X, at + FIRST_ROW + 1))
    if X[at + LAW].real == FORMULA:
        V = _formula((x[0] + 0j, x[1] + 0j, x[2] + 0j), X, at)
        U = made_of(V[0], U[0]), made_of(V[1], U[1]), made_of(V[2], U[2])
    elif X[at + LAW].real != UNIFORM:
        U, _ = _current(dot(vector(X, at + UP), x), X, at)
    return times(X[at + FACTOR], U)


@inline_kernel
def _acceleration(x, X, at, rate):
    """Return the acceleration of the current, with `rate` times its derivative in time, in the type of x."""
    a = times(0.0, x)
    if X[at + LAW].real == FORMULA:
        place = x[0] + 0j, x[1] + 0j, x[2] + 0j
        A = _formula_acceleration(place, _formula(place, X, at), X, at, rate)
        a = made_of(A[0], a[0]), made_of(A[1], a[1]), made_of(A[2], a[2])
    return a


@inline_kernel
def steady_acceleration(x, X, at):
    """Return the acceleration along the streamlines of the current alone, which acts on what rests."""
    return _acceleration(x, X, at, 0.0)


@inline_kernel
def flow(x, X, at):
    """Return the velocity and the acceleration of the fluid at the place x; `at`: offset of its numbers."""
    a = _acceleration(x, X, at, 1.0)
    u = plus(current(x, X, at), times(0.0, x))
    if has_waves(X, at):
        of_waves, a_of_waves = _waves(x, X, at)
        u, a = plus(u, of_waves), plus(a, a_of_waves)
    return u, a


@kernel
def velocities(places, X, out):
    """Write the velocities of the fluid at the places (k, 3) to out (k, 3)."""
    for k in range(places.shape[0]):
        u, _ = flow((places[k, 0], places[k, 1], places[k, 2]), X, 0)
        for i in range(3):
            out[k, i] = u[i]


@inline_kernel
def moves_in_place(X, at):
    """Return whether the velocity depends on the place."""
    return X[at + LAW].real != UNIFORM or has_waves(X, at)


@internal_kernel
def _waves_and_slopes(x, X, at):
    """Return velocity and acceleration of all waves at a real place x, and their derivatives with respect to x."""
    level = at + FIRST_ROW + ROW * whole(X[at + ROWS])
    up, t = vector(X, at + UP), X[at + TIME]
    u, a = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    du = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    da = du
    for j in range(whole(X[level + 1])):
        row = level + 2 + WAVE_ROW * j
        e, k, w, depth, T = vector(X, row), X[row + 3], X[row + 4], X[row + 7], X[row + 8]
        z, q = dot(up, x) - X[level], k * dot(e, x) - w * t + X[row + 6]
        varies = 1.0 if -depth <= z <= 0.0 else 0.0
        z = min(max(z, -depth), 0.0)
        D, E = np.exp(-2.0 * k * depth), np.exp(k * z)
        size = X[at + WAVE_FACTOR] * X[row + 5] * w / (1.0 - D)
        C, S = size * (E + D / E), size * (E - D / E)
        cosine, sine = np.cos(q), np.sin(q)
        m, rate = _growth(t, T)
        along, upwards = times(C, e), times(S, up)
        of_z, up_of_z = times(varies * k * S, e), times(varies * k * C, up)
        v, v_s = (
            plus(times(cosine, along), times(sine, upwards)),
            _swing(along, upwards, -k * sine, k * cosine),
        )
        v_z = _swing(of_z, up_of_z, cosine, sine)
        b, b_s = _swing(along, upwards, sine, -cosine), _swing(along, upwards, k * cosine, k * sine)
        b_z = _swing(of_z, up_of_z, sine, -cosine)
        u = plus(u, times(m, v))
        a = plus(a, _swing(v, b, rate, m * w))
        du = _sum(du, _sum(outer(times(m, v_s), e), outer(times(m, v_z), up)))
        da = _sum(da, _sum(outer(_swing(v_s, b_s, rate, m * w), e), outer(_swing(v_z, b_z, rate, m * w), up)))
    return u, a, du, da


@inline_kernel
def _swing(a, b, p, q):
    """Return p a + q b."""
    return p * a[0] + q * b[0], p * a[1] + q * b[1], p * a[2] + q * b[2]


@inline_kernel
def flow_and_slopes(x, X, at):
    """Return velocity and acceleration at a real place x, and their derivatives with respect to x (9 components each)."""
    none = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    a, da = (0.0, 0.0, 0.0), none
    if X[at + LAW] == UNIFORM:
        u, du = times(X[at + FACTOR], vector(X, at + FIRST_ROW + 1)), none
    elif X[at + LAW] == FORMULA:
        U, slopes, a, da = _formula_and_slopes(x, X, at)
        u, du = times(X[at + FACTOR], U), matrix_times(X[at + FACTOR], slopes)
    else:
        up = vector(X, at + UP)
        U, slope = _current(dot(up, x), X, at)
        u, du = times(X[at + FACTOR], U), outer(times(X[at + FACTOR], slope), up)
    if has_waves(X, at):
        v, b, dv, db = _waves_and_slopes(x, X, at)
        u, du, a, da = plus(u, v), _sum(du, dv), plus(a, b), _sum(da, db)
    return u, a, du, da


@inline_kernel
def _sum(A, B):
    """Return A + B."""
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4],
        A[5] + B[5], A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip
