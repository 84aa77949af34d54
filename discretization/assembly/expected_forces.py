"""What Newton's method expects of forces that are nearly a sign: of friction, and of a restitution where contacts close and open.

Such a force is T = f(w), in units of its limit, with f = w/sqrt(w^2 + v^2) of the rate w at which a gap closes, or f = P/|P| of
the force P that would hold a contact, where |P| is above the limit. It is steep next to rest alone. Elsewhere its tangent is next
to nothing: a contact that should come to rest is moved past it, to the other sign, and from there back, for ever, and where many
contacts share a heap some always do. So T is an unknown of its own, of the equation that has no corner,

    T sqrt(w^2 + v^2) = w,   T |P| = P                                                                                (1)

Newton's method on (1) gives for a change of w or P, with the T that was expected at the place where it stands,

    dT = (1 - T f) dw/sqrt(w^2 + v^2),   dT = (dP - T (f . dP))/|P|,   expected next: f + dT, at most of length 1       (2)

T is eliminated: the equations stay what they are, with f itself; their tangent alone takes (2). Where T = f it is that of f, and
so it is when the iteration ends. Where the sign has just turned, T = -f, it is a secant, 2/|w|, which leads to rest.

Source: a step of Newton's method for a dual and a primal unknown: Chan, Golub and Mulet, SIAM Journal on Scientific Computing 20
(1999) 1964; for Coulomb's friction: Hueeber, Stadler and Wohlmuth, ibid. 30 (2008) 572.
"""

from __future__ import annotations

from rigid.compilation.decorators import inner_kernel
from rigid.interactions.kinds import EXPECTED, RATE, SEEN, WITH_SEEN
from rigid.linear_algebra import dot, minus, plus, times

NEAR = 0.2  # |T - f| of friction below which the derivative is taken as it is: a heap at rest needs fewer iterations so
KNOWN = 0  # place of a row: whether something was seen in this step
WAY, OVER, HOLDING, LIMIT = SEEN + 1, SEEN + 2, SEEN + 3, SEEN + 6


@inner_kernel
def expect(row, lam):
    """(2), into `lam`, of what its dual sees there (`rigid.interactions.kinds.Condensed`) and of the row of the last tangent."""
    P, limit = (lam[HOLDING].real, lam[HOLDING + 1].real, lam[HOLDING + 2].real), lam[LIMIT].real
    s, T = lam[WAY].real, times(1.0 / max(dot(P, P) ** 0.5, limit, 1e-300), P)
    if row[KNOWN] > 0.5:
        s = row[WAY] + (1.0 - row[EXPECTED] * row[WAY]) * row[OVER] * (lam[RATE].real - row[RATE])
        s = min(1.0, max(-1.0, s))
        before = row[HOLDING], row[HOLDING + 1], row[HOLDING + 2]
        size = dot(before, before) ** 0.5
        if size > row[LIMIT]:
            way, change = times(1.0 / size, before), minus(P, before)
            was = row[EXPECTED + 1], row[EXPECTED + 2], row[EXPECTED + 3]
            T = plus(way, times(1.0 / size, minus(change, times(dot(way, change), was))))
            T = times(1.0 / max(1.0, dot(T, T) ** 0.5), T)
            now = times(1.0 / max(dot(P, P) ** 0.5, 1e-300), P)
            off = minus(T, now)
            if dot(off, off) < NEAR * NEAR:
                T = now
    lam[EXPECTED], lam[EXPECTED + 1], lam[EXPECTED + 2], lam[EXPECTED + 3] = s, T[0], T[1], T[2]
    row[KNOWN] = 1.0
    for i in range(EXPECTED, WITH_SEEN):
        row[i] = lam[i].real
