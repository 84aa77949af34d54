"""Rows of the tangent of what a contact loses: derivatives of `friction` to places and turns of all frames.

What resists, phi, T and M, depends on a slip s, a turn theta, the sum of the normal forces, the rate w and, where mu has ways,
the tangent of the rod. So it is differentiated to these by complex steps, once, and each row follows from the imaginary parts of
its own sums:

    dT = T_s ds + T_f df + T_w dw + T_t dt,   dM = M_theta dtheta + M_f df + M_w dw,   dphi = phi_w dw
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.blocks import move_along, move_back
from rigid.interactions.contact.friction import SIZE, answer, arms, change, knows_ways, mean, turned_by
from rigid.interactions.contact.touching import imaginary, origin, real
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.kinematics.poses import ZERO
from rigid.kinematics.rotations import inverse_tangent
from rigid.linear_algebra import apply, cross, minus, plus, times

A_STEP = 1.0 / COMPLEX_STEP


@small_kernel
def put_turns(y0, y1, arity, out):
    """For `add_row`: out[k, 2] is the Cayley vector of the turn of a frame that has a part."""
    for k in range(arity):
        psi = turned_by(mean(y0, y1, k), change(y0, y1, k)) if out[k, 3, 0] != 0.0 else ZERO
        for i in range(3):
            out[k, 2, i] = psi[i]


@small_kernel
def turn_along(y1, j, step, out):
    """An imaginary step of the first frame along the axis j of its turn: of its Cayley vector, and of the pose that has the
    bristle.
    """
    psi = out[0, 2, 0].real, out[0, 2, 1].real, out[0, 2, 2].real
    by = step * 1j
    eta = by if j == 0 else 0j, by if j == 1 else 0j, by if j == 2 else 0j
    moved = apply(inverse_tangent(psi), eta)
    for i in range(3):
        out[0, 2, i] = psi[i] + moved[i]
    if step > 0.0:
        move_along(y1, 0, 3 + j)
    else:
        move_back(y1, 0)


@small_kernel
def _slip(y0, y1, sides, found, arm, out):
    """s and theta of poses that turn by the Cayley vectors of `put_turns`; arm: of both sides."""
    of_one, arity = sides
    s, theta, each = ZERO, ZERO, 1.0 / found[0]
    for k in range(arity):
        weight = each * out[k, 1, 0]
        if weight != 0.0:
            psi = out[k, 2, 0], out[k, 2, 1], out[k, 2, 2]
            moved = plus(minus(origin(y1, k), origin(y0, k)), cross(psi, arm[0] if k < of_one else arm[1]))
            s, theta = plus(s, times(weight, moved)), plus(theta, times(weight, psi))
    return s, theta


@small_kernel
def add_row(y0, y1, lam, sides, found, tangent, out, K, row, by):
    """Imaginary parts of forces and torques of all frames into a row of K, as `resist` has them of poses that turn as rotations
    do: with the Cayley vectors psi of `put_turns` the change of what has the arm a is dr + psi x a, its torque a x T + M.

    by: `slopes_of_answer`, where the first frame does not turn.
    """
    arm = arms(y0, y1, sides[0], sides[1], found, out)
    s, theta = _slip(y0, y1, sides, found, arm, out)
    _put_row(sides, found, arm, followed(lam, found, s, theta, tangent, by), out, K, row)


@small_kernel
def add_row_of_turn(y0, y1, X, lam, sides, found, tangent, out, K, row):
    """The same where the first frame turns, which has the bristle."""
    arm = arms(y0, y1, sides[0], sides[1], found, out)
    s, theta = _slip(y0, y1, sides, found, arm, out)
    phi, T, M, _, _ = answer(X, X.shape[0] - SIZE, lam, mean(y0, y1, 0), found, s, theta, tangent)
    _put_row(sides, found, arm, (phi, T, M), out, K, row)


@small_kernel
def _put_row(sides, found, arm, answered, out, K, row):
    of_one, arity = sides
    phi, T, M = answered
    on_one, on_other = plus(cross(arm[0], T), M), plus(cross(arm[1], T), M)
    each = 1.0 / found[0]
    for k in range(arity):
        weight = each * out[k, 1, 0]
        if weight != 0.0:
            force = plus(times(phi, origin(out, k)), times(weight, T))
            torque = times(weight, on_one if k < of_one else on_other)
            for i in range(3):
                K[row, 6 * k + i] = A_STEP * force[i].imag
                K[row, 6 * k + 3 + i] = A_STEP * torque[i].imag


@small_kernel
def _axis(j):
    """An imaginary step."""
    by = COMPLEX_STEP * 1j
    return by if j == 0 else 0j, by if j == 1 else 0j, by if j == 2 else 0j


@small_kernel
def _slope(x):
    """Of what has taken such a step."""
    return times(A_STEP, imaginary(x))


@small_kernel
def _of_slip(X, lam, first, found, s, theta, tangent, j):
    """Derivatives of T along s and of M along theta, both along axis j: neither depends on the other."""
    e, at = _axis(j), X.shape[0] - SIZE
    _, T, M, _, _ = answer(X, at, lam, first, found, plus(s, e), plus(theta, e), tangent)
    return _slope(T), _slope(M)


@small_kernel
def _of_force(X, lam, first, found, s, theta, tangent, j):
    """Derivatives of T and M along the sum of the forces."""
    Q, force, place, power = found
    moved = Q, plus(force, _axis(j)), place, power
    _, T, M, _, _ = answer(X, X.shape[0] - SIZE, lam, first, moved, s, theta, tangent)
    return _slope(T), _slope(M)


@small_kernel
def _of_tangent(X, lam, first, found, s, theta, tangent, j):
    """The same along the tangent, where mu has ways."""
    if not knows_ways(X, X.shape[0] - SIZE):
        return 0.0, 0.0, 0.0
    _, T, _, _, _ = answer(X, X.shape[0] - SIZE, lam, first, found, s, theta, plus(tangent, _axis(j)))
    return _slope(T)


@small_kernel
def _of_power(X, lam, first, found, s, theta, tangent):
    """phi, T, M, and their derivatives along the rate w."""
    Q, force, place, power = found
    moved = Q, force, place, power + Q * (COMPLEX_STEP * 1j) / lam[0]
    phi, T, M, _, _ = answer(X, X.shape[0] - SIZE, lam, first, moved, s, theta, tangent)
    return (phi.real, real(T), real(M)), (A_STEP * phi.imag, _slope(T), _slope(M))


@small_kernel
def slopes_of_answer(y0, y1, X, lam, sides, found, tangent, out):
    """`answer` and its derivatives: to slip and turn, to the force, to the rate w, to the tangent. They are few, and serve all
    rows.
    """
    arm, first = arms(y0, y1, sides[0], sides[1], found, out), mean(y0, y1, 0)
    s, theta = _slip(y0, y1, sides, found, arm, out)
    of_slip = (
        _of_slip(X, lam, first, found, s, theta, tangent, 0),
        _of_slip(X, lam, first, found, s, theta, tangent, 1),
        _of_slip(X, lam, first, found, s, theta, tangent, 2),
    )
    of_force = (
        _of_force(X, lam, first, found, s, theta, tangent, 0),
        _of_force(X, lam, first, found, s, theta, tangent, 1),
        _of_force(X, lam, first, found, s, theta, tangent, 2),
    )
    of_tangent = (
        _of_tangent(X, lam, first, found, s, theta, tangent, 0),
        _of_tangent(X, lam, first, found, s, theta, tangent, 1),
        _of_tangent(X, lam, first, found, s, theta, tangent, 2),
    )
    at_rest, of_power = _of_power(X, lam, first, found, s, theta, tangent)
    return at_rest, of_power, of_slip, of_force, of_tangent


@small_kernel
def _sum_of(by, x):
    """x_j by_j."""
    return plus(times(x[0], by[0]), plus(times(x[1], by[1]), times(x[2], by[2])))


@small_kernel
def followed(lam, found, s, theta, tangent, by):
    """phi, T and M as `answer` has them for imaginary parts of the sums, of slip and turn: from its derivatives."""
    (phi, T, M), (by_phi, by_T, by_M), of_slip, of_force, of_tangent = by
    w = (lam[0] * found[3] / found[0]).imag
    ds, dtheta, df, dt = imaginary(s), imaginary(theta), imaginary(found[1]), imaginary(tangent)
    on_T = plus(times(w, by_T), _sum_of((of_slip[0][0], of_slip[1][0], of_slip[2][0]), ds))
    on_T = plus(on_T, _sum_of((of_force[0][0], of_force[1][0], of_force[2][0]), df))
    on_T = plus(on_T, _sum_of(of_tangent, dt))
    on_M = plus(times(w, by_M), _sum_of((of_slip[0][1], of_slip[1][1], of_slip[2][1]), dtheta))
    on_M = plus(on_M, _sum_of((of_force[0][1], of_force[1][1], of_force[2][1]), df))
    return phi + 1j * w * by_phi, plus(T, times(1j, on_T)), plus(M, times(1j, on_M))


@small_kernel
def add_turns(y0, y1, sides, found, by, out, K):
    """Rows of K along the turns of all frames behind the first, which has the bristle: these go into s and theta alone."""
    of_one, arity = sides
    arm = arms(y0, y1, of_one, arity, found, out)
    one, other = real(arm[0]), real(arm[1])
    of_slip, Q = by[2], found[0].real
    by_s, by_theta = (
        (of_slip[0][0], of_slip[1][0], of_slip[2][0]),
        (of_slip[0][1], of_slip[1][1], of_slip[2][1]),
    )
    for k in range(1, arity):
        weight = out[k, 1, 0].real / Q
        if weight == 0.0:
            continue
        along = inverse_tangent((out[k, 2, 0].real, out[k, 2, 1].real, out[k, 2, 2].real))
        for j in range(3):
            e = weight if j == 0 else 0.0, weight if j == 1 else 0.0, weight if j == 2 else 0.0
            psi = apply(along, e)
            T, M = _sum_of(by_s, cross(psi, one if k < of_one else other)), _sum_of(by_theta, psi)
            on_one, on_other = plus(cross(one, T), M), plus(cross(other, T), M)
            for l in range(arity):
                share = out[l, 1, 0].real / Q
                if share != 0.0:
                    for i in range(3):
                        K[6 * k + 3 + j, 6 * l + i] = share * T[i]
                        K[6 * k + 3 + j, 6 * l + 3 + i] = share * (on_one[i] if l < of_one else on_other[i])
