"""Evaluate driven constraints (`rigid.interactions.driven_constraints`) in a chart at the times of a step; compiled.

The functions of a constraint read U and value from its parameters. A row of time signals holds, behind the loads, U (3), value,
dU/dt (3), dvalue/dt of every driven constraint. A residual copies those of one time, or the means of two times, to the parameters
before it evaluates g and its derivatives. Since U and value enter linearly, g evaluated with rates in their place satisfies

    dg/dt = G v + g(q; dX/dt),   g(q1; X1) - g(q0; X0) = D g(Xbar) . (q1 - q0) + (g(q0; dX) + g(q1; dX))/2      (1)
"""

from rigid.charts.interactions import put_poses
from rigid.compilation.decorators import internal_kernel
from rigid.interactions.kinds import dual_at, frame, value_at
from rigid.kinematics.chart_frames import DUAL, ROWS, START
from rigid.kinematics.poses import add_pulled
from rigid.mechanics.mechanical_system import DRIVE_NUMBERS


@internal_kernel
def place_sum(D, a, first, b, second, at):
    """Set U and value of every driven constraint to a first + b second, two rows of signals.

    `at`: 0 to use U and value of the rows, 4 to use their rates.
    """
    G, X = D.driven, D.interaction_arrays.numbers
    for k in range(G.rows.size):
        driven, offset = G.rows[k], G.signal + DRIVE_NUMBERS * k + at
        for i in range(3):
            X[driven.direction + i] = a * first[offset + i] + b * second[offset + i]
        X[driven.value] = a * first[offset + 3] + b * second[offset + 3]


@internal_kernel
def place(D, signal):
    """Set U and value of every driven constraint to those of one time, a row of signals."""
    place_sum(D, 1.0, signal, 0.0, signal, 0)


@internal_kernel
def place_rates(D, signal):
    """Set U and value of every driven constraint to their rates at one time, a row of signals."""
    place_sum(D, 1.0, signal, 0.0, signal, 4)


@internal_kernel
def place_weighted_rates(D, weights, at, signals):
    """Set U and value of every driven constraint to sum_j weights[at + j] times the rates in row j of the signals."""
    G, X = D.driven, D.interaction_arrays.numbers
    for k in range(G.rows.size):
        driven, offset = G.rows[k], G.signal + DRIVE_NUMBERS * k + 4
        for i in range(4):
            total = 0.0
            for j in range(signals.shape[0]):
                total += weights[at + j] * signals[j, offset + i]
            if i < 3:
                X[driven.direction + i] = total
            else:
                X[driven.value] = total


@internal_kernel
def value_of(D, driven, q):
    """Return g at q of the driven constraint `driven`, with its present parameters."""
    S, I = D.scratch, D.interaction_arrays
    kind, entry = I.kinds[driven.kind], I.entries[driven.entry]
    put_poses(q, D, entry, kind.arity, S[START])
    value = value_at(kind.value)
    value(S[START], I.numbers[entry.first : entry.last], S[ROWS, 0, 0])
    return S[ROWS, 0, 0, 0]


@internal_kernel
def add_values(D, q, factor, out):
    """Add factor times g(q) to the driven rows of out (m,)."""
    for k in range(D.driven.rows.size):
        driven = D.driven.rows[k]
        out[driven.row] += factor * value_of(D, driven, q)


@internal_kernel
def add_works(D, q, factor, lam, works):
    """Add factor lam g(q) of every driven row to works (drives,), J.

    The parameters of the driven constraints must have been replaced by their changes.
    """
    for k in range(D.driven.rows.size):
        driven = D.driven.rows[k]
        works[driven.drive] += factor * lam[driven.row] * value_of(D, driven, q)


@internal_kernel
def add_driven_pull(D, q, factor, lam, out):
    """Add factor times the gradient of lam . g of the driven rows alone to out (n,)."""
    S, I = D.scratch, D.interaction_arrays
    for k in range(D.driven.rows.size):
        driven = D.driven.rows[k]
        kind, entry = I.kinds[driven.kind], I.entries[driven.entry]
        put_poses(q, D, entry, kind.arity, S[START])
        S[ROWS, 0, 0, 0] = factor * lam[driven.row]
        dual = dual_at(kind.dual)
        dual(S[START], S[START], I.numbers[entry.first : entry.last], S[ROWS, 0, 0], S[DUAL])
        for a in range(kind.arity):
            add_pulled(frame(S[DUAL], a), q, D.frames, entry.frames[a], 1.0, out)
