"""One coordinate of a gear: g = |U| alpha, alpha the angle of b about u_a = R_a U, counted through turns.

alpha is that from w_a to u_b about u_a; U is as long as the coordinate counts in the gear, against its axis where it counts
negative. Several constraints that share a row (`rigid.system.Constraints.shares`) add up to that of a gear, r1 q1 + r2 q2 = 0;
displacements among them are `along` with U of that length, since u . d is linear in it.

alpha is the value nearest to `value`, the angle where the step began: whoever marches keeps it up (`discretization.gears`).

The discrete derivative is the change of the angle over a step, exactly, as in `torsion_spring`: sums of them vanish where the
sum of the coordinates does not change, so that a gear does no work, and each is a pair of opposite torques.
Hidden, where the joint keeps its axes parallel: |U| dalpha/dt = U . B Omega_b - U . Omega_a, B = Ra^T Rb  (1)
"""

import numpy as np

from rigid.compilation import small_kernel
from rigid.interactions.kinds import (
    ClosedForms,
    Kind,
    dual_function,
    frame,
    store,
    value_function,
    vector,
)
from rigid.interactions.torsion_spring import angle_of, turning_between
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    average,
    cross,
    dot,
    matrix_average,
    minus,
    times,
    transposed_product,
)
from rigid.poses import add_duals, direction, on_direction

BRANCH = 9  # where the counted angle stands among the numbers


@small_kernel
def size_and_third(X):
    """|U| and u x W, with W the plane of the turn."""
    U = vector(X, 0)
    size = np.sqrt(dot(U, U))
    return size, cross(times(1.0 / size, U), vector(X, 3))


@small_kernel
def turned(y, X, V):
    """c, s, w_a, v_a, u_b: cosine and sine of alpha, and what they are made of."""
    a, b = frame(y, 0), frame(y, 1)
    w, v, beta = direction(a, vector(X, 3)), direction(a, V), direction(b, vector(X, 6))
    return dot(w, beta), dot(v, beta), w, v, beta


@small_kernel
def of_turn(moment, factors, X, V):
    """Duals of moment (c ds - s dc) on a and b."""
    c, s, w, v, beta = factors
    on_w, on_v = (
        on_direction(times(-moment * s, beta), vector(X, 3)),
        on_direction(times(moment * c, beta), V),
    )
    on_b = on_direction(times(moment, minus(times(c, v), times(s, w))), vector(X, 6))
    return add_duals(on_w, on_v), on_b


@value_function
def value(y, X, out):
    """|U| alpha."""
    size, V = size_and_third(X)
    c, s, _, _, _ = turned(y, X, V)
    out[0] = size * angle_of(c, s, X[BRANCH])


@dual_function
def dual(y0, y1, X, lam, out):
    """The angle by its change."""
    size, V = size_and_third(X)
    _, ratio, _, _, factors = turning_between(turned(y0, X, V), turned(y1, X, V))
    on_a, on_b = of_turn(lam[0] * size * ratio, factors, X, V)
    store(on_a, out, 0)
    store(on_b, out, 1)


@dual_function
def bend(y, z, X, lam, out):
    """Of (c ds - s dc)/(c^2 + s^2) all three factors change."""
    size, V = size_and_third(X)
    c, s, w, v, beta = turned(y, X, V)
    _, _, dw, dv, dbeta = turned(z, X, V)
    dc, ds = dot(dw, beta) + dot(w, dbeta), dot(dv, beta) + dot(v, dbeta)
    square, moment = c * c + s * s, size * lam[0]
    change = -2.0 * (c * dc + s * ds) / (square * square)
    first = of_turn(moment / square, (dc, ds, w, v, beta), X, V)
    second = of_turn(moment / square, (c, s, dw, dv, dbeta), X, V)
    last = of_turn(moment * change, (c, s, w, v, beta), X, V)
    store(add_duals(first[0], add_duals(second[0], last[0])), out, 0)
    store(add_duals(first[1], add_duals(second[1], last[1])), out, 1)


@small_kernel
def hidden_value(places, end):
    """(1)."""
    Ua = places[0]
    _, _, Ra, Rb, Omega_a, Omega_b = end
    return dot(apply(Ra, Ua), apply(Rb, Omega_b)) - dot(Ua, Omega_a), 0.0, 0.0


@small_kernel
def hidden_derivative(gam, places, end0, end1):
    """By the product rule: B averaged."""
    B = matrix_average(transposed_product(end0[2], end0[3]), transposed_product(end1[2], end1[3]))
    Ra, Rb = matrix_average(end0[2], end1[2]), matrix_average(end0[3], end1[3])
    on_turn = times(gam[0], places[0])
    torque = cross(apply(Ra, on_turn), apply(Rb, average(end0[5], end1[5])))
    none = (0.0, 0.0, 0.0)
    return (
        none,
        times(-1.0, on_turn),
        apply_transposed(B, on_turn),
        none,
        torque,
        times(-1.0, torque),
    )


GEARED_ANGLE = Kind(
    "geared angle",
    2,
    1,
    value,
    dual,
    bend,
    columns=("Ua", "Wa", "Ub", "value"),
    turns=True,
    closed=ClosedForms(hidden_value=hidden_value, hidden_derivative=hidden_derivative),
    counted=True,
)
