"""Solve the Newton system of a planar step in O(n): elimination from the leaves to the roots, then back substitution.

A frame's correction is z = (o, e), o of its position and e its angle. With the corrections of the next frame towards the root,
P:

    by an element   D z + C z_P = -R                                                                        (1)
    by a hinge      o + e J x = y - g,   y = o_P + e_P J x_P:   e is the one unknown, the impulse follows    (2)
    by other rows, or to several neighbours   `discretization.planar.multifrontal`

A block D holds the inertia of the frame and the contributions of its descendants, which are eliminated before it. x are lever
arms at the end of the step. Forces act with the mean lever arms, so the blocks are not symmetric.
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
    ROW,
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
from discretization.planar.multifrontal import (
    SMALLEST,
    adjugate,
    back_substitute_front,
    eliminate_with_rows,
    eliminate_without_rows,
    rows_of,
)
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel
from rigid.lanes import choose, lane, load4, most, store4


@internal_kernel
def eliminate_block(tables, work, s):
    """Eliminate frame s by (1), store the inverse of its block in place of the block and reduce the next frame.

    Returns the size of the determinant over the product of the diagonal, which is 0 if the block is singular.
    """
    frame, p = work.frames[s], tables.parent[s]
    b11, b22, b33 = frame[D11], frame[D22], frame[D33]
    i, det = adjugate(b11, frame[D12], frame[D13], frame[D21], b22, frame[D23], frame[D31], frame[D32], b33)
    d = 1.0 / det
    # the residual is carried along as a fourth column of the block that couples the frame with the next one
    down, up = work.down[s], work.up[s]
    x, y, z = rows_of(down)
    x, y, z = (
        choose(x, load4(frame, D11), 0, 3),
        choose(y, load4(frame, D21), 0, 3),
        choose(z, load4(frame, D31), 0, 3),
    )
    x, y, z = (
        i[0] * x + i[1] * y + i[2] * z,
        i[3] * x + i[4] * y + i[5] * z,
        i[6] * x + i[7] * y + i[8] * z,
    )
    if p < work.hinges.shape[0]:
        next_ = work.frames[p]
        for r in range(3):  # products before the factor d, whose division has a long latency
            at = D11 + ROW * r
            store4(load4(next_, at) - d * (up[r, 0] * x + up[r, 1] * y + up[r, 2] * z), next_, at)
    x, y, z = d * x, d * y, d * z
    store4(x, down, 0)
    store4(y, down, ROW)
    store4(z, down, 2 * ROW)
    frame[MX], frame[MY], frame[MPSI] = lane(x, 3), lane(y, 3), lane(z, 3)
    frame[D11], frame[D12], frame[D13] = d * i[0], d * i[1], d * i[2]
    frame[D21], frame[D22], frame[D23] = d * i[3], d * i[4], d * i[5]
    frame[D31], frame[D32], frame[D33] = d * i[6], d * i[7], d * i[8]
    return abs(det / (b11 * b22 * b33))


@inline_kernel
def add_lever_arm_stiffness(frame, growth, end, mean):
    """Add to the diagonal block of a frame a force on a lever arm that grows with the displacement of its point.

    `growth`: the matrix (2, 2) of the force, row by row. `end`, `mean`: lever arms at the end of the step and in the mean, m.
    """
    (k11, k12, k21, k22), (x1, y1), (x, y) = growth, end, mean
    e1, e2 = k12 * x1 - k11 * y1, k22 * x1 - k21 * y1
    frame[D11] += k11
    frame[D12] += k12
    frame[D21] += k21
    frame[D22] += k22
    frame[D13] += e1
    frame[D23] += e2
    frame[D31] += x * k21 - y * k11
    frame[D32] += x * k22 - y * k12
    frame[D33] += x * e2 - y * e1


@always_inline_kernel
def eliminate_hinge(frame, w, before, schur):
    """Eliminate frame `frame` with its hinge by (2).

    Returns the Schur complement at the hinge, matrix (4 numbers) and force (2 numbers), and the size of the pivot: the
    resistance to rotation about the hinge.

    `before`, `schur`: hinge of the previous frame and its Schur complement, if that frame is a child of this one; otherwise the
    frame's own hinge, and zeros.
    """
    c11, c12, c21, c22, c1, c2 = schur
    m11, m12, m21, m22, m31, m32 = frame[D11], frame[D12], frame[D21], frame[D22], frame[D31], frame[D32]
    x1, y1, x, y, g1, g2 = w[XC1], w[YC1], w[XC], w[YC], w[G1], w[G2]
    # columns of e after elimination of o, and minus the impulse at e = 0 and y = 0: of the frame alone, about its hinge
    e1, e2 = frame[D13] + (m11 * y1 - m12 * x1), frame[D23] + (m21 * y1 - m22 * x1)
    f1, f2 = frame[R1] - (m11 * g1 + m12 * g2), frame[R2] - (m21 * g1 + m22 * g2)
    k1, k2 = m31 - (x * m21 - y * m11), m32 - (x * m22 - y * m12)
    ke = (frame[D33] + (m31 * y1 - m32 * x1)) - (x * e2 - y * e1)
    k0 = (frame[R3] - (m31 * g1 + m32 * g2)) - (x * f2 - y * f1)
    # contribution of the child, by lever arms from hinge to hinge
    u, v, p1, q1 = before[XP], before[YP], before[XP1] - x1, before[YP1] - y1
    p, q = u - x, v - y
    h1, h2 = c12 * p1 - c11 * q1, c22 * p1 - c21 * q1
    i1, i2 = c1 - (c11 * g1 + c12 * g2), c2 - (c21 * g1 + c22 * g2)
    ke = ke + (p * h2 - q * h1)
    d = -1.0 / ke
    k1, k2, k0 = k1 + (p * c21 - q * c11), k2 + (p * c22 - q * c12), k0 + (p * i2 - q * i1)
    e1, e2, f1, f2 = e1 + h1, e2 + h2, f1 + i1, f2 + i2
    a11, a12, a21, a22 = m11 + c11, m12 + c12, m21 + c21, m22 + c22
    frame[D11], frame[D12], frame[D21], frame[D22] = a11, a12, a21, a22
    frame[D31], frame[D32] = m31 + (u * c21 - v * c11), m32 + (u * c22 - v * c12)
    w[FACTOR], w[E13], w[E23], w[F1], w[F2] = d, e1, e2, f1, f2
    w[K1], w[K2], w[K0] = d * k1, d * k2, d * k0
    # products before the factor d, whose division has a long latency
    b11, b12, b21, b22 = (
        a11 + d * (e1 * k1),
        a12 + d * (e1 * k2),
        a21 + d * (e2 * k1),
        a22 + d * (e2 * k2),
    )
    return (b11, b12, b21, b22, f1 + d * (e1 * k0), f2 + d * (e2 * k0)), abs(ke)


@always_inline_kernel
def resolve_hinge(frame, w, before, residual):
    """Eliminate a frame with a hinge for new residuals by stored factors; return the force left at the hinge."""
    c1, c2 = residual
    x, y, g1, g2 = w[XC], w[YC], w[G1], w[G2]
    f1, f2 = frame[R1] - (frame[D11] * g1 + frame[D12] * g2), frame[R2] - (frame[D21] * g1 + frame[D22] * g2)
    k0 = (frame[R3] - (frame[D31] * g1 + frame[D32] * g2)) - (x * f2 - y * f1)
    k0 = w[FACTOR] * (k0 + ((before[XP] - x) * c2 - (before[YP] - y) * c1))
    f1, f2 = f1 + c1, f2 + c2
    w[K0], w[F1], w[F2] = k0, f1, f2
    return f1 + w[E13] * k0, f2 + w[E23] * k0


@always_inline_kernel
def back_substitute_hinge(frame, w, impulse_correction, sign, y1, y2):
    """Compute the correction of a frame, and write that of its hinge impulse into `impulse_correction`.

    Returns the correction of the angle.

    `y1`, `y2`: displacement of the hinge point on the next frame, m.
    """
    e = (w[K1] * y1 + w[K2] * y2) + w[K0]
    frame[MX], frame[MY], frame[MPSI] = (y1 - w[G1]) + e * w[YC1], (y2 - w[G2]) - e * w[XC1], e
    impulse_correction[0] = -sign * ((w[F1] + w[E13] * e) + (frame[D11] * y1 + frame[D12] * y2))
    impulse_correction[1] = -sign * ((w[F2] + w[E23] * e) + (frame[D21] * y1 + frame[D22] * y2))
    return e


@internal_kernel
def eliminate_hinges(tables, work, s, end):
    """Eliminate consecutive frames of kind HINGE from s on, up to `end`.

    Returns the first frame that is of another kind and the smallest pivot (resistance to rotation). The Schur complement of a
    hinge is passed on directly if each frame is the parent of the one before; otherwise it is added to the block of the parent.
    """
    zero = 0.0 * tables.mass[s]
    none = (zero, zero, zero, zero, zero, zero)
    schur, last, least = none, s, zero + 1e300
    while s < end and tables.kind[s] == HINGE:
        frame, w, p = work.frames[s], work.hinges[s], tables.parent[s]
        schur, size = eliminate_hinge(frame, w, work.hinges[last], schur)
        least = -most(-least, -size)
        last = s
        s += 1
        if p == s and s < end and tables.kind[s] == HINGE:
            continue
        if p != work.hinges.shape[0]:
            b11, b12, b21, b22, b1, b2 = schur
            next_, u, v = work.frames[p], w[XP], w[YP]
            add_lever_arm_stiffness(next_, (b11, b12, b21, b22), (w[XP1], w[YP1]), (u, v))
            next_[R1] += b1
            next_[R2] += b2
            next_[R3] += u * b2 - v * b1
        schur, last = none, s
    return s, least


@internal_kernel
def resolve_hinges(tables, work, s, end):
    """Eliminate consecutive frames of kind HINGE for new residuals by stored factors.

    Returns the first frame that is of another kind.
    """
    zero = 0.0 * tables.mass[s]
    residual, last = (zero, zero), s
    while s < end and tables.kind[s] == HINGE:
        w, p = work.hinges[s], tables.parent[s]
        b1, b2 = residual = resolve_hinge(work.frames[s], w, work.hinges[last], residual)
        last = s
        s += 1
        if p == s and s < end and tables.kind[s] == HINGE:
            continue
        if p != work.hinges.shape[0]:
            next_ = work.frames[p]
            next_[R1] += b1
            next_[R2] += b2
            next_[R3] += w[XP] * b2 - w[YP] * b1
        residual, last = (zero, zero), s
    return s


@internal_kernel
def back_substitute_hinges(tables, work, s, begin):
    """Compute the corrections of consecutive frames of kind HINGE from s on, down to `begin`.

    Returns the first frame that is of another kind. If the next frame has just been solved and has a hinge itself, the
    displacement of the point on it follows from the displacement of its own hinge and from its angle.
    """
    y1 = y2 = e = 0.0 * tables.mass[s]
    last = s
    while s >= begin and tables.kind[s] == HINGE:
        w, p = work.hinges[s], tables.parent[s]
        if s < last and p == s + 1:
            after = work.hinges[p]
            y1, y2 = (
                (y1 - after[G1]) + e * (after[YC1] - w[YP1]),
                (y2 - after[G2]) - e * (after[XC1] - w[XP1]),
            )
        else:
            next_ = work.frames[p]
            e = next_[MPSI]
            y1, y2 = next_[MX] - e * w[YP1], next_[MY] + e * w[XP1]
        e = back_substitute_hinge(
            work.frames[s], w, work.impulse_correction[tables.hinge[s]], tables.sign[s], y1, y2
        )
        s -= 1
    return s


@internal_kernel
def resolve_block(tables, work, s):
    """Eliminate frame s, of kind BLOCK, for new residuals by the stored inverse."""
    frame, up, p = work.frames[s], work.up[s], tables.parent[s]
    r1, r2, r3 = frame[R1], frame[R2], frame[R3]
    z1 = frame[D11] * r1 + frame[D12] * r2 + frame[D13] * r3
    z2 = frame[D21] * r1 + frame[D22] * r2 + frame[D23] * r3
    z3 = frame[D31] * r1 + frame[D32] * r2 + frame[D33] * r3
    frame[MX], frame[MY], frame[MPSI] = z1, z2, z3
    if p != work.hinges.shape[0]:
        next_ = work.frames[p]
        next_[R1] -= up[0, 0] * z1 + up[0, 1] * z2 + up[0, 2] * z3
        next_[R2] -= up[1, 0] * z1 + up[1, 1] * z2 + up[1, 2] * z3
        next_[R3] -= up[2, 0] * z1 + up[2, 1] * z2 + up[2, 2] * z3


@internal_kernel
def solve(tables, work, reuse_factors):
    """Compute the corrections of all frames and impulses from residuals and blocks, which are overwritten.

    `reuse_factors`: True to solve for other residuals by the factors that an earlier call stored there. Returns 0, or 1 if the
    matrix is singular.
    """
    return solve_part(tables, work, 0, work.hinges.shape[0], reuse_factors)


@internal_kernel
def solve_part(tables, work, begin, end, reuse_factors):
    """Compute the corrections of the trees with the frames from `begin` to `end` - 1, as `solve` does for all frames."""
    failed, s = 0, begin
    while s < end:
        kind = tables.kind[s]
        if kind == HINGE:
            if reuse_factors:
                s = resolve_hinges(tables, work, s, end)
            else:
                s, least = eliminate_hinges(tables, work, s, end)
                failed += least == 0.0
            continue
        if kind == BLOCK:
            if reuse_factors:
                resolve_block(tables, work, s)
            else:
                failed += not eliminate_block(tables, work, s) > SMALLEST
        elif kind == ROWS:
            failed += eliminate_with_rows(tables, work, s, reuse_factors)
        else:
            failed += not eliminate_without_rows(tables, work, s, reuse_factors) > SMALLEST
        s += 1
    if failed != 0:
        return 1
    s = end - 1
    while s >= begin:  # back substitution, from the roots to the leaves
        kind = tables.kind[s]
        if kind == HINGE:
            s = back_substitute_hinges(tables, work, s, begin)
            continue
        if kind == BLOCK:
            back_substitute_block(tables, work, s)
        else:
            back_substitute_front(tables, work, s)
        s -= 1
    return 0


@internal_kernel
def back_substitute_block(tables, work, s):
    """Compute the correction of frame s, of kind BLOCK, from that of the next frame."""
    frame, p, down = work.frames[s], tables.parent[s], work.down[s]
    if p == work.hinges.shape[0]:
        frame[MX], frame[MY], frame[MPSI] = -frame[MX], -frame[MY], -frame[MPSI]
        return
    next_ = work.frames[p]
    x, y, e = next_[MX], next_[MY], next_[MPSI]
    frame[MX] = -frame[MX] - (down[0, 0] * x + down[0, 1] * y + down[0, 2] * e)
    frame[MY] = -frame[MY] - (down[1, 0] * x + down[1, 1] * y + down[1, 2] * e)
    frame[MPSI] = -frame[MPSI] - (down[2, 0] * x + down[2, 1] * y + down[2, 2] * e)
