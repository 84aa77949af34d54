"""Regularise the tangent of nearly discontinuous forces, which are close to a sign function.

These are friction, restitution as contacts close and open, and moments against drilling and rolling.

Such a force is T = f, in units of its limit. For the rate w at which a gap closes, f = w/sqrt(w^2 + v^2); for a moment, w is a
rotation rate, a vector. For the force P that would hold a contact, f = P/|P| if |P| is above the limit. f is steep near rest
only. Elsewhere its tangent almost vanishes: a contact that should come to rest is moved past it, to the other sign, and back
again, forever. If many contacts form a heap, some always do this. So T is treated as an unknown of the smooth equation

    T sqrt(w^2 + v^2) = w,   T |P| = P                                                                                (1)

Newton's method on (1) gives for a change of w or P, with the T that was expected at the previous iterate,

    dT = (dw - T (f . dw))/sqrt(w^2 + v^2),   dT = (dP - T (f . dP))/|P|,   expected next: f + dT, at most of length 1       (2)

T is eliminated: the equations are unchanged and use f itself; only their tangent uses (2). If T = f it is the derivative of f, as
it is when the iteration ends. If the sign has just changed, T = -f, it is a secant, 2/|w|, which leads to rest.

Source: a step of Newton's method for a dual and a primal unknown: Chan, Golub and Mulet, SIAM Journal on Scientific Computing 20
(1999) 1964; for Coulomb's friction: Hueeber, Stadler and Wohlmuth, ibid. 30 (2008) 572.
"""

from __future__ import annotations

from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.kinds import EXPECTED, RATE, SEEN, WITH_SEEN
from rigid.linear_algebra import dot, minus, plus, times

NEAR_STEP = 0.2  # |T - f| of friction below which the exact derivative is used: this saves iterations for a heap at rest
DATA_OFFSET = 0  # index in a row: 1 if a tangent was evaluated in this step
WAY, OVER, HOLDING, LIMIT, TURNING = SEEN + 1, SEEN + 2, SEEN + 3, SEEN + 6, SEEN + 7
MOMENTS = EXPECTED + 4


@inline_kernel
def _three(x, at):
    """Return the real parts of three numbers of x as a vector."""
    return x[at].real, x[at + 1].real, x[at + 2].real


@internal_kernel
def regularise_moment(row, lam, which):
    """Write the expected T of a moment by (2) to `lam`; its rates w/v begin at TURNING + which."""
    w = _three(lam, TURNING + which)
    T = times(1.0 / (1.0 + dot(w, w)) ** 0.5, w)
    if row[DATA_OFFSET] > 0.5:
        before, moment = _three(row, TURNING + which), _three(row, MOMENTS + which)
        factor = 1.0 / (1.0 + dot(before, before)) ** 0.5
        f, change = times(factor, before), minus(w, before)
        T = plus(f, times(factor, minus(change, times(dot(f, change), moment))))
        T = times(1.0 / max(1.0, dot(T, T) ** 0.5), T)
    for i in range(3):
        lam[MOMENTS + which + i] = T[i]


@internal_kernel
def regularise_force(row, lam):
    """Write the expected T by (2) to `lam`, and the new data of the interaction to `row`.

    `lam`: rates, forces and limits that the dual has written (`rigid.interactions.kinds.Condensed`). `row`: data of the last
    tangent.
    """
    P, limit = _three(lam, HOLDING), lam[LIMIT].real
    s, T = lam[WAY].real, times(1.0 / max(dot(P, P) ** 0.5, limit, 1e-300), P)
    if row[DATA_OFFSET] > 0.5:
        s = row[WAY] + (1.0 - row[EXPECTED] * row[WAY]) * row[OVER] * (lam[RATE].real - row[RATE])
        s = min(1.0, max(-1.0, s))
        before = _three(row, HOLDING)
        size = dot(before, before) ** 0.5
        if size > row[LIMIT]:
            direction, change = times(1.0 / size, before), minus(P, before)
            force = _three(row, EXPECTED + 1)
            T = plus(direction, times(1.0 / size, minus(change, times(dot(direction, change), force))))
            T = times(1.0 / max(1.0, dot(T, T) ** 0.5), T)
            axis = times(1.0 / max(dot(P, P) ** 0.5, 1e-300), P)
            difference = minus(T, axis)
            if dot(difference, difference) < NEAR_STEP * NEAR_STEP:
                T = axis
    lam[EXPECTED], lam[EXPECTED + 1], lam[EXPECTED + 2], lam[EXPECTED + 3] = s, T[0], T[1], T[2]
    regularise_moment(row, lam, 0)
    regularise_moment(row, lam, 3)
    row[DATA_OFFSET] = 1.0
    for i in range(EXPECTED, WITH_SEEN):
        row[i] = lam[i].real
