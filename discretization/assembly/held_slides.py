"""What slides one way where Newton's method begins, and the other way after its first correction, sticks in the next one.

Friction is nearly a sign of the slip s, T = mu N s/|s|, steep only where it sticks. Where it slides the tangent knows nothing of
that: a correction of a contact that should come to rest goes past it, to a slide the other way, and the next one back. Between
the two the contact sticks. So for one iteration it is linear there, T = k z0 + (k/2 + d/h) s, (2) of
`rigid.interactions.contact.friction`: its solution has the force that rest takes, and where that is above the limit the contact
slides with it afterwards. It is Newton's method on the other branch of T; the solution of a step stays what it was.

Source: active sets of stick and slip: Alart and Curnier, Computer Methods in Applied Mechanics and Engineering 92 (1991) 353.
"""

from __future__ import annotations

from discretization.assembly.by_duals import put_ends
from rigid.compilation.decorators import inner_kernel
from rigid.interactions.kinds import HELD, dual_at

BRISTLE = 3  # own variables before the one that says whether it slides


@inner_kernel
def may_slide(work):
    """Whether something settles: bristles of friction."""
    kinds = work.by_duals.interacting.kinds
    for which in range(kinds.size):  # noqa: SIM110  numba compiles loops
        if kinds[which].settle != 0:
            return True
    return False


@inner_kernel
def note_slides(state, work, h, hold):
    """Keep which way all slides at the iterate of `work`; on demand hold what slides against the way kept before; how many."""
    own, held = work.by_duals, 0
    interacting, y0, y1, dual = own.interacting, own.start, own.end, own.dual
    own.lam[0] = 1.0 / h
    for which in range(interacting.kinds.size):
        kind = interacting.kinds[which]
        settle = dual_at(kind.settle)
        for e in range(kind.first, kind.last if kind.slides != 0 else kind.first):
            entry = interacting.each[e]
            first, slides = entry.last - kind.own, entry.last - 1
            put_ends(own, entry, kind.arity, state.r, work)
            settle(y0, y1, interacting.numbers[entry.first : entry.last], own.lam, dual)
            along = 0.0
            for i in range(BRISTLE):
                along += dual[0, 0, i].real * own.at_end[first + i]
                own.at_end[first + i] = dual[0, 0, i].real
            turned = dual[0, 1, 0].real > 0.5 and own.at_end[slides] > 0.5 and along < 0.0
            own.at_end[slides] = dual[0, 1, 0].real
            if hold and turned:
                interacting.numbers[slides] += HELD
                held += 1
    return held


@inner_kernel
def let_slide(work):
    """Hold nothing."""
    interacting = work.by_duals.interacting
    for which in range(interacting.kinds.size):
        kind = interacting.kinds[which]
        for e in range(kind.first, kind.last if kind.slides != 0 else kind.first):
            slides = interacting.each[e].last - 1
            if interacting.numbers[slides] >= HELD:
                interacting.numbers[slides] -= HELD
