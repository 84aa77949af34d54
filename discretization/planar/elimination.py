"""The linear equations of a step of a planar model, frame by frame from the tips to the roots and back: O(n).

A frame's correction is z = (o, e), o of its position and e its angle. With the corrections of the next frame towards the root, P:

    by an element   D z + C z_P = -R                                                                        (1)
    by a hinge      o + e J x = y - g,   y = o_P + e_P J x_P:   e is the one unknown, the impulse follows    (2)
    by other rows, and before several others   `discretization.planar.several`

Blocks D are inertias and what hangs on the frame, which is eliminated before. x are levers at the end of the step; forces act
with those of the mean, so that the blocks are not symmetric.
"""

from discretization.planar.arrays import (
    BLOCK,
    D11,
    D12,
    D13,
    D21,
    D22,
    D23,
    D31,
    D32,
    D33,
    E13,
    E23,
    F1,
    F2,
    FACTOR,
    G1,
    G2,
    HINGE,
    K0,
    K1,
    K2,
    MPSI,
    MX,
    MY,
    R1,
    R2,
    R3,
    ROWS,
    XC,
    XC1,
    XP,
    XP1,
    YC,
    YC1,
    YP,
    YP1,
)
from discretization.planar.several import (
    SMALLEST,
    back_to_several,
    eliminate_before_several,
    eliminate_rows,
    inverse,
)
from rigid.compilation.decorators import inner_kernel, small_kernel


@inner_kernel
def eliminate_block(tables, work, s):
    """(1), with the inverse in the place of the block; how far it is from a singular one."""
    own, p = work.frames[s], tables.parent[s]
    i, size = inverse(
        own[D11], own[D12], own[D13], own[D21], own[D22], own[D23], own[D31], own[D32], own[D33]
    )
    r1, r2, r3 = own[R1], own[R2], own[R3]
    z1, z2, z3 = (
        i[0] * r1 + i[1] * r2 + i[2] * r3,
        i[3] * r1 + i[4] * r2 + i[5] * r3,
        i[6] * r1 + i[7] * r2 + i[8] * r3,
    )
    own[MX], own[MY], own[MPSI] = z1, z2, z3
    own[D11], own[D12], own[D13] = i[0], i[1], i[2]
    own[D21], own[D22], own[D23] = i[3], i[4], i[5]
    own[D31], own[D32], own[D33] = i[6], i[7], i[8]
    if p == work.hinges.shape[0]:
        return abs(size)
    next_, up, down = work.frames[p], work.up[s], work.down[s]
    for c in range(3):
        d1, d2, d3 = down[0, c], down[1, c], down[2, c]
        down[0, c] = i[0] * d1 + i[1] * d2 + i[2] * d3
        down[1, c] = i[3] * d1 + i[4] * d2 + i[5] * d3
        down[2, c] = i[6] * d1 + i[7] * d2 + i[8] * d3
    a, b, c = up[0, 0], up[0, 1], up[0, 2]
    next_[R1] -= a * z1 + b * z2 + c * z3
    next_[D11] -= a * down[0, 0] + b * down[1, 0] + c * down[2, 0]
    next_[D12] -= a * down[0, 1] + b * down[1, 1] + c * down[2, 1]
    next_[D13] -= a * down[0, 2] + b * down[1, 2] + c * down[2, 2]
    a, b, c = up[1, 0], up[1, 1], up[1, 2]
    next_[R2] -= a * z1 + b * z2 + c * z3
    next_[D21] -= a * down[0, 0] + b * down[1, 0] + c * down[2, 0]
    next_[D22] -= a * down[0, 1] + b * down[1, 1] + c * down[2, 1]
    next_[D23] -= a * down[0, 2] + b * down[1, 2] + c * down[2, 2]
    a, b, c = up[2, 0], up[2, 1], up[2, 2]
    next_[R3] -= a * z1 + b * z2 + c * z3
    next_[D31] -= a * down[0, 0] + b * down[1, 0] + c * down[2, 0]
    next_[D32] -= a * down[0, 1] + b * down[1, 1] + c * down[2, 1]
    next_[D33] -= a * down[0, 2] + b * down[1, 2] + c * down[2, 2]
    return abs(size)


@small_kernel
def add_on_lever(own, growth, end, mean):
    """To the block of a frame: a force that grows with the place of its point, row by row; levers at the end and in the mean."""
    (k11, k12, k21, k22), (x1, y1), (x, y) = growth, end, mean
    e1, e2 = k12 * x1 - k11 * y1, k22 * x1 - k21 * y1
    own[D11] += k11
    own[D12] += k12
    own[D21] += k21
    own[D22] += k22
    own[D13] += e1
    own[D23] += e2
    own[D31] += x * k21 - y * k11
    own[D32] += x * k22 - y * k12
    own[D33] += x * e2 - y * e1


@inner_kernel
def eliminate_hinge(tables, work, s):
    """(2); what resists the turn."""
    own, w, p = work.frames[s], work.hinges[s], tables.parent[s]
    a11, a12, a21, a22 = own[D11], own[D12], own[D21], own[D22]
    x1, y1, x, y, g1, g2 = w[XC1], w[YC1], w[XC], w[YC], w[G1], w[G2]
    # columns of e once o is put in, the impulse at e = 0 and y = 0 with its sign reversed
    e1, e2 = own[D13] + a11 * y1 - a12 * x1, own[D23] + a21 * y1 - a22 * x1
    f1, f2 = own[R1] - a11 * g1 - a12 * g2, own[R2] - a21 * g1 - a22 * g2
    k1, k2 = own[D31] - (x * a21 - y * a11), own[D32] - (x * a22 - y * a12)
    ke = own[D33] + own[D31] * y1 - own[D32] * x1 - (x * e2 - y * e1)
    k0 = own[R3] - own[D31] * g1 - own[D32] * g2 - (x * f2 - y * f1)
    d = -1.0 / ke
    k1, k2, k0 = d * k1, d * k2, d * k0
    w[FACTOR] = d
    w[E13], w[E23], w[K1], w[K2], w[K0], w[F1], w[F2] = e1, e2, k1, k2, k0, f1, f2
    if p == work.hinges.shape[0]:
        return abs(ke)
    next_, u1, v1, u, v = work.frames[p], w[XP1], w[YP1], w[XP], w[YP]
    b11, b12, b21, b22 = a11 + e1 * k1, a12 + e1 * k2, a21 + e2 * k1, a22 + e2 * k2
    b1, b2 = f1 + e1 * k0, f2 + e2 * k0
    add_on_lever(next_, (b11, b12, b21, b22), (u1, v1), (u, v))
    next_[R1] += b1
    next_[R2] += b2
    next_[R3] += u * b2 - v * b1
    return abs(ke)


@inner_kernel
def back_to_hinge(tables, work, s):
    """Correction of the frame and of its impulse, from that of the next one."""
    own, w, next_ = work.frames[s], work.hinges[s], work.frames[tables.parent[s]]
    e, item = next_[MPSI], tables.hinge[s]
    y1, y2 = next_[MX] - e * w[YP1], next_[MY] + e * w[XP1]
    e = w[K1] * y1 + w[K2] * y2 + w[K0]
    own[MX], own[MY], own[MPSI] = y1 - w[G1] + e * w[YC1], y2 - w[G2] - e * w[XC1], e
    sign = 1.0 if tables.joined[item, 1] == s else -1.0
    more = work.more[item]
    more[0] = -sign * (w[F1] + own[D11] * y1 + own[D12] * y2 + w[E13] * e)
    more[1] = -sign * (w[F2] + own[D21] * y1 + own[D22] * y2 + w[E23] * e)


@inner_kernel
def again_by_hinge(tables, work, s):
    own, w, p = work.frames[s], work.hinges[s], tables.parent[s]
    x, y, g1, g2 = w[XC], w[YC], w[G1], w[G2]
    f1, f2 = own[R1] - own[D11] * g1 - own[D12] * g2, own[R2] - own[D21] * g1 - own[D22] * g2
    k0 = w[FACTOR] * (own[R3] - own[D31] * g1 - own[D32] * g2 - (x * f2 - y * f1))
    w[K0], w[F1], w[F2] = k0, f1, f2
    if p != work.hinges.shape[0]:
        next_, b1, b2 = work.frames[p], f1 + w[E13] * k0, f2 + w[E23] * k0
        next_[R1] += b1
        next_[R2] += b2
        next_[R3] += w[XP] * b2 - w[YP] * b1


@inner_kernel
def again_by_block(tables, work, s):
    own, up, p = work.frames[s], work.up[s], tables.parent[s]
    r1, r2, r3 = own[R1], own[R2], own[R3]
    z1 = own[D11] * r1 + own[D12] * r2 + own[D13] * r3
    z2 = own[D21] * r1 + own[D22] * r2 + own[D23] * r3
    z3 = own[D31] * r1 + own[D32] * r2 + own[D33] * r3
    own[MX], own[MY], own[MPSI] = z1, z2, z3
    if p != work.hinges.shape[0]:
        next_ = work.frames[p]
        next_[R1] -= up[0, 0] * z1 + up[0, 1] * z2 + up[0, 2] * z3
        next_[R2] -= up[1, 0] * z1 + up[1, 1] * z2 + up[1, 2] * z3
        next_[R3] -= up[2, 0] * z1 + up[2, 1] * z2 + up[2, 2] * z3


@inner_kernel
def solve(tables, work, again):
    """Corrections of all frames and impulses from residuals and blocks, which it overwrites; again: from other residuals by the
    factors that it left there; 0, or 1: singular.
    """
    return solve_part(tables, work, 0, work.hinges.shape[0], again)


@inner_kernel
def solve_part(tables, work, begin, end, again):
    """The same of whole trees, whose frames are those from `begin` to `end`."""
    failed = 0
    for s in range(begin, end):
        kind = tables.kind[s]
        if kind == HINGE:
            if again:
                again_by_hinge(tables, work, s)
            else:
                failed += eliminate_hinge(tables, work, s) == 0.0
        elif kind == BLOCK:
            if again:
                again_by_block(tables, work, s)
            else:
                failed += not eliminate_block(tables, work, s) > SMALLEST
        elif kind == ROWS:
            failed += eliminate_rows(tables, work, s, again)
        else:
            failed += not eliminate_before_several(tables, work, s, again) > SMALLEST
    if failed != 0:
        return 1
    for s in range(end - 1, begin - 1, -1):  # from the roots to the tips
        kind = tables.kind[s]
        if kind == HINGE:
            back_to_hinge(tables, work, s)
        elif kind == BLOCK:
            back_to_block(tables, work, s)
        else:
            back_to_several(tables, work, s)
    return 0


@inner_kernel
def back_to_block(tables, work, s):
    """Correction of the frame, from that of the next one."""
    own, p, down = work.frames[s], tables.parent[s], work.down[s]
    if p == work.hinges.shape[0]:
        own[MX], own[MY], own[MPSI] = -own[MX], -own[MY], -own[MPSI]
        return
    next_ = work.frames[p]
    x, y, e = next_[MX], next_[MY], next_[MPSI]
    own[MX] = -own[MX] - (down[0, 0] * x + down[0, 1] * y + down[0, 2] * e)
    own[MY] = -own[MY] - (down[1, 0] * x + down[1, 1] * y + down[1, 2] * e)
    own[MPSI] = -own[MPSI] - (down[2, 0] * x + down[2, 1] * y + down[2, 2] * e)
