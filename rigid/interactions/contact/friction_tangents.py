"""Rows of the tangent matrix of dissipative contact forces (`friction`), along positions and rotations of all frames.

phi, T and M depend on a slip s, a rotation theta, the sum f of the normal forces, the rate w and the rotation eta of the bristle
with the first frame. If mu depends on the direction, they also depend on the tangent t of the rod. They are differentiated with
respect to these once (`friction_force_derivatives`). Each row then follows from the changes of its contact sums
(`contact_sum_derivatives`). All is evaluated in real arithmetic:

    dT = T_s ds + T_f df + T_w dw + T_t dt + T_eta deta,   dM = M_theta dtheta + M_f df + M_w dw,   dphi = phi_w dw
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.contact_sum_derivatives import HERE, along_axis
from rigid.interactions.contact.contact_sums import origin
from rigid.interactions.contact.friction import change, mean, rotation_by
from rigid.interactions.kinds import frame
from rigid.kinematics.rotations import inverse_tangent
from rigid.linear_algebra import apply, average, cross, load3, minus, plus, real, times


@inline_kernel
def write_rotations(y0, y1, arity, out):
    """Write the Cayley vectors of the rotations of all frames with a contribution to out[k, 2], as `finish_rows` requires."""
    p, q = y0.real, y1.real
    for k in range(arity):
        psi = rotation_by(mean(p, q, k), change(p, q, k)) if out[k, 3, 0] != 0.0 else HERE
        for i in range(3):
            out[k, 2, i] = psi[i]


@inline_kernel
def _sum_of(by, x):
    """Return the sum of x_j by_j over j = 0 .. 2."""
    return plus(times(x[0], by[0]), plus(times(x[1], by[1]), times(x[2], by[2])))


@inline_kernel
def slip_terms(y0, y1, sides, sums, out):
    """Return c, the arms, the weighted rotations of both sides, a sign, and (s, theta); in real arithmetic.

    The sign is 1 if the weights of the first side are positive and those of the second negative, else -1. s and theta belong
    to poses that rotate by the Cayley vectors of `write_rotations`.
    """
    n_first, arity = sides
    one, other, psi_one, psi_other, total, inverse_Q = HERE, HERE, HERE, HERE, 0.0, 1.0 / sums[0]
    for k in range(arity):
        weight = inverse_Q * out[k, 1, 0].real
        if weight != 0.0:
            r, psi = average(real(origin(y0, k)), real(origin(y1, k))), real(frame(out, k)[2])
            if k < n_first:
                one, psi_one = plus(one, times(weight, r)), plus(psi_one, times(weight, psi))
                total += weight
            else:
                other, psi_other = plus(other, times(weight, r)), plus(psi_other, times(weight, psi))
    c, sign = times(inverse_Q, sums[2]), 1.0 if total > 0.0 else -1.0
    arm = minus(c, times(sign, one)), plus(c, times(sign, other))
    s = plus(cross(psi_one, arm[0]), cross(psi_other, arm[1]))
    for k in range(arity):
        s = plus(s, times(inverse_Q * out[k, 1, 0].real, minus(real(origin(y1, k)), real(origin(y0, k)))))
    return c, arm, (psi_one, psi_other), sign, (s, plus(psi_one, psi_other))


@inline_kernel
def finish_rows(y0, y1, lam, sides, sums, carried, first, by, out, K):
    """Complete the rows of K along the positions of all frames with a contribution: derivatives of forces and torques of
    `write_dissipative_duals`.

    The poses rotate as rigid frames. On entry K holds the changes of the contact sums (`contact_sum_derivatives`).
    `sums`: real contact sums. `carried`: result of `slip_terms`. `first`: first frame of the rod at the stations. `by`: result of
    `friction_force_derivatives`.
    """
    for k in range(sides[1]):
        for m in range(3 if out[k, 3, 0] != 0.0 else 0):
            _finish_row(y0, y1, lam, sides, sums, carried, by, out, K, (k, m, first))


@inline_kernel
def _finish_row(y0, y1, lam, sides, sums, carried, by, out, K, indices):
    """Complete one row of K, see `finish_rows`; `indices`: frame, axis, and first frame of the rod at the stations."""
    n_first, arity = sides
    c, arm, rotations, sign, _ = carried
    k, m, first = indices
    row, inverse_Q = 6 * k + m, 1.0 / sums[0]
    dQ, df, dplace = K[row + 3, 0], load3(K[row + 3, 1:4]), load3(K[row + 3, 4:7])
    dw = lam[0].real * inverse_Q * (K[row + 3, 7] - sums[3] * inverse_Q * dQ)
    for i in range(8):
        K[row + 3, i] = 0.0
    unit, slip = along_axis(m, 1.0), inverse_Q * out[k, 1, 0].real
    dc = times(inverse_Q, minus(dplace, times(dQ, c)))
    ds, dtheta, one, other = times(slip, unit), HERE, HERE, HERE
    if k < n_first:
        one = times(0.5 * slip, unit)
    else:
        other = times(0.5 * slip, unit)
    for l in range(arity):
        change = inverse_Q * (K[row, 6 * l + 3] - inverse_Q * out[l, 1, 0].real * dQ)
        K[row, 6 * l + 3] = change
        if change != 0.0:
            r0, r1, psi = real(origin(y0, l)), real(origin(y1, l)), real(frame(out, l)[2])
            on = arm[0] if l < n_first else arm[1]
            ds = plus(ds, times(change, plus(minus(r1, r0), cross(psi, on))))
            dtheta = plus(dtheta, times(change, psi))
            if l < n_first:
                one = plus(one, times(change, average(r0, r1)))
            else:
                other = plus(other, times(change, average(r0, r1)))
    one, other = minus(dc, times(sign, one)), plus(dc, times(sign, other))
    ds = plus(ds, plus(cross(rotations[0], one), cross(rotations[1], other)))
    dt = times(0.5 if k == first + 1 else (-0.5 if k == first else 0.0), unit)
    phi, T, M = by[0]
    dphi = dw * by[1][0]
    dT, dM = _force_changes(dw, ds, dtheta, df, dt, by)
    on_one, on_other = plus(cross(arm[0], T), M), plus(cross(arm[1], T), M)
    by_one = plus(plus(cross(one, T), cross(arm[0], dT)), dM)
    by_other = plus(plus(cross(other, T), cross(arm[1], dT)), dM)
    for l in range(arity):
        if out[l, 3, 0] != 0.0:
            weight, change, force = inverse_Q * out[l, 1, 0].real, K[row, 6 * l + 3], real(origin(out, l))
            on, torque_change = (on_one, by_one) if l < n_first else (on_other, by_other)
            for i in range(3):
                K[row, 6 * l + i] = dphi * force[i] + phi * K[row, 6 * l + i] + change * T[i] + weight * dT[i]
                K[row, 6 * l + 3 + i] = change * on[i] + weight * torque_change[i]


@inline_kernel
def _force_changes(dw, ds, dtheta, df, dt, by):
    """Return the changes of T and M from the derivatives of `friction_forces` and the changes of its arguments."""
    _, (_, T_w, M_w), (T_s, M_theta), (T_f, M_f), T_t, _ = by
    T = plus(plus(times(dw, T_w), _sum_of(T_s, ds)), plus(_sum_of(T_f, df), _sum_of(T_t, dt)))
    return T, plus(plus(times(dw, M_w), _sum_of(M_theta, dtheta)), _sum_of(M_f, df))


@inline_kernel
def add_rotation_rows(sides, Q, arm, by, out, K):
    """Add the rows of K along the rotations of all frames with a contribution, which change s and theta.

    A rotation of the first frame also rotates its bristle. `Q`: sum of the resistances. `arm`: arms of `slip_terms`.
    """
    (n_first, arity), (one, other), (by_s, by_theta), of_turn = sides, arm, by[2], by[5]
    for k in range(arity):
        weight = out[k, 1, 0].real / Q
        if out[k, 3, 0] == 0.0 or (weight == 0.0 and k > 0):
            continue
        along = inverse_tangent((out[k, 2, 0].real, out[k, 2, 1].real, out[k, 2, 2].real))
        for j in range(3):
            e = weight if j == 0 else 0.0, weight if j == 1 else 0.0, weight if j == 2 else 0.0
            psi = apply(along, e)
            T, M = _sum_of(by_s, cross(psi, one if k < n_first else other)), _sum_of(by_theta, psi)
            if k == 0:
                T = plus(T, of_turn[j])
            on_one, on_other = plus(cross(one, T), M), plus(cross(other, T), M)
            for l in range(arity):
                fraction = out[l, 1, 0].real / Q
                if fraction != 0.0:
                    for i in range(3):
                        K[6 * k + 3 + j, 6 * l + i] = fraction * T[i]
                        K[6 * k + 3 + j, 6 * l + 3 + i] = fraction * (
                            on_one[i] if l < n_first else on_other[i]
                        )
