"""Joints in the plane: rows g(1) = 0 with gradients, impulses, and their contributions to residual and matrix.

With d = p_b - p_a, u = R U, bars for means over the step, as `rigid.interactions`:

    COINCIDENT   g = d                        ANGLE      g = u_a . u_b - value
    ALONG        g = u_a . d - value          DISTANCE   g = d . d/2 - value
"""

from discretization.assembly.workspace import EPS
from discretization.planar.arrays import (
    ALONG,
    ANGLE,
    AWAY,
    C0,
    C1,
    COINCIDENT,
    D11,
    D21,
    D31,
    D33,
    DX,
    DY,
    FINE,
    G1,
    G2,
    HINGE,
    N1,
    N2,
    R1,
    R2,
    R3,
    RX,
    RY,
    S0,
    S1,
    X0,
    XC,
    XC1,
    XP,
    XP0,
    XP1,
    Y0,
    YC,
    YC1,
    YP,
    YP0,
    YP1,
)
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel


@inline_kernel
def end_rotation(frame, psi):
    """Return cosine and sine of a frame's angle at the end of a step with Cayley number psi, and psi^2/4."""
    u = 0.25 * psi * psi
    scale = 1.0 / (1.0 + u)
    c, z = (1.0 - u) * scale, psi * scale
    return c * frame[C0] - z * frame[S0], z * frame[C0] + c * frame[S0], u


@internal_kernel
def set_end_rotation(frame, psi):
    """Write cosine and sine of a frame's angle at the end of a step with Cayley number psi into the frame's row."""
    frame[C1], frame[S1], _ = end_rotation(frame, psi)


@inline_kernel
def levers(frame, X, Y):
    """Return R1 X and the mean of R0 X and R1 X."""
    x1, y1 = frame[C1] * X - frame[S1] * Y, frame[S1] * X + frame[C1] * Y
    x0, y0 = frame[C0] * X - frame[S0] * Y, frame[S0] * X + frame[C0] * Y
    return x1, y1, 0.5 * (x0 + x1), 0.5 * (y0 + y1)


@internal_kernel
def constraint_forces_from_state(tables, lam, pull):
    """Convert the multipliers of a state into constraint forces in the plane, `pull` (j, 2)."""
    basis = tables.basis
    for j in range(tables.sort.shape[0]):
        first = tables.lam[j, 0]
        if tables.sort[j] == COINCIDENT:
            x, y, z = lam[first], lam[first + 1], lam[first + 2]
            pull[j, 0] = basis[0, 0] * x + basis[0, 1] * y + basis[0, 2] * z
            pull[j, 1] = basis[1, 0] * x + basis[1, 1] * y + basis[1, 2] * z
        else:
            total = size = 0.0
            for i in range(3):
                total += tables.factors[j, i] * lam[tables.lam[j, i]]
                size += tables.factors[j, i] * tables.factors[j, i]
            pull[j, 0] = total / size


@internal_kernel
def constraint_forces_to_state(tables, lam, pull):
    """Convert constraint forces in the plane into the multipliers of a state; those of rows that the mirror reverses are 0."""
    e, g = tables.basis[0], tables.basis[1]
    for i in range(lam.shape[0]):
        lam[i] = 0.0
    for j in range(tables.sort.shape[0]):
        first, x, y = tables.lam[j, 0], pull[j, 0], pull[j, 1]
        if tables.sort[j] == COINCIDENT:
            for i in range(3):
                lam[first + i] = e[i] * x + g[i] * y
        else:
            for i in range(3):
                lam[tables.lam[j, i]] += tables.factors[j, i] * x


@internal_kernel
def begin_joints(tables, work, h, extent):
    """Compute initial impulses and the round-off levels of the rows; extent: size of the model, m."""
    for j in range(tables.sort.shape[0]):
        work.lam[j, 0], work.lam[j, 1] = h * work.pull[j, 0], h * work.pull[j, 1]
        reach = 1.0
        if tables.sort[j] != ANGLE:
            reach = 0.1 * extent + tables.reach[j]
            for k in range(2):
                reach += work.frames[tables.joined[j, k], AWAY]
        work.rows[j, 0, 13] = work.rows[j, 1, 13] = 2.0 * EPS * reach * tables.size[j]
    for s in range(tables.kind.shape[0]):
        if tables.kind[s] == HINGE:
            work.hinges[s, FINE] = 1.0 / work.rows[tables.hinge[s], 0, 13]


@internal_kernel
def begin_hinges(tables, work):
    """Compute the lever arms at the start of the step of all hinges of kind HINGE."""
    for s in range(tables.kind.shape[0]):
        if tables.kind[s] == HINGE:
            frame, next_, w, X = (
                work.frames[s],
                work.frames[tables.parent[s]],
                work.hinges[s],
                tables.lever[s],
            )
            w[X0], w[Y0] = frame[C0] * X[0] - frame[S0] * X[1], frame[S0] * X[0] + frame[C0] * X[1]
            w[XP0], w[YP0] = next_[C0] * X[2] - next_[S0] * X[3], next_[S0] * X[2] + next_[C0] * X[3]


@internal_kernel
def raise_joint_roundoff(tables, work, fraction):
    """Raise the round-off levels by the fraction `fraction` of the rounding of the present impulses."""
    for j in range(tables.sort.shape[0]):
        impulse = fraction * EPS * tables.size[j] * (abs(work.lam[j, 0]) + abs(work.lam[j, 1]))
        for k in range(2):
            frame = work.frames[tables.joined[j, k]]
            frame[N1] += impulse
            frame[N2] += tables.arm[j] * impulse


@internal_kernel
def add_joints(tables, work, tangent):
    """Add residual and, if `tangent`, matrix of all joints except the hinges of kind HINGE."""
    for k in range(tables.items.shape[0]):
        j = tables.items[k]
        if tables.sort[j] == ANGLE:
            _add_angle(tables, work, j, tangent)
        else:
            _add_force(tables, work, j, tangent)
    for k in range(tables.closing.shape[0]):
        _add_force(tables, work, tables.closing[k], tangent)


@always_inline_kernel
def evaluate_hinge(next_, w, X, impulse, pose, tangent):
    """Evaluate the hinge between a frame and the next one towards the root.

    Returns the force on the frame (2 numbers), its torque, and the derivative of the torque with respect to the frame's angle.
    The force on the next frame is added to its residual. pose: c and s at the end, position at the start and its change in the
    step.
    """
    c, z, rx, ry, dx, dy = pose
    x1, y1 = c * X[0] - z * X[1], z * X[0] + c * X[1]
    u1, v1 = next_[C1] * X[2] - next_[S1] * X[3], next_[S1] * X[2] + next_[C1] * X[3]
    x, y, u, v = 0.5 * (w[X0] + x1), 0.5 * (w[Y0] + y1), 0.5 * (w[XP0] + u1), 0.5 * (w[YP0] + v1)
    fx, fy = impulse
    # differences first: this keeps the digits far from the origin
    g1 = (rx - next_[RX]) + (dx - next_[DX]) + (x1 - u1)
    g2 = (ry - next_[RY]) + (dy - next_[DY]) + (y1 - v1)
    w[XC1], w[YC1], w[XC], w[YC], w[XP1], w[YP1], w[XP], w[YP] = x1, y1, x, y, u1, v1, u, v
    w[G1], w[G2] = g1, g2
    next_[R1] -= fx
    next_[R2] -= fy
    next_[R3] -= u * fy - v * fx
    if tangent:
        next_[D33] += 0.5 * (u1 * fx + v1 * fy)
    return fx, fy, x * fy - y * fx, -0.5 * (x1 * fx + y1 * fy)


@internal_kernel
def _add_angle(tables, work, j, tangent):
    """Add a row that holds the angle between two frames."""
    a, b = tables.joined[j, 0], tables.joined[j, 1]
    own_a, own_b, row, lam = work.frames[a], work.frames[b], work.rows[j, 0], work.lam[j, 0]
    ux1, uy1, _, _ = levers(own_a, work.end[j, 0], work.end[j, 1])
    ax1, ay1, ax, ay = levers(own_a, work.mean[j, 0], work.mean[j, 1])
    bx1, by1, bx, by = levers(own_b, tables.Ub[j, 0], tables.Ub[j, 1])
    for c in range(12):
        row[c] = 0.0
    row[2], row[8] = ux1 * by1 - uy1 * bx1, ax * by - ay * bx
    row[5], row[11] = -row[2], -row[8]
    row[12] = ux1 * bx1 + uy1 * by1 - work.value[j]
    own_a[R3] += lam * row[8]
    own_b[R3] -= lam * row[8]
    if not tangent:
        return
    of_a, of_b = -0.5 * lam * (ax1 * bx + ay1 * by), 0.5 * lam * (ax * bx1 + ay * by1)
    own_a[D33] += of_a
    own_b[D33] -= of_b
    _add_between(tables, work, j, 2, 2, of_b, -of_a)


@internal_kernel
def _add_between(tables, work, j, i, c, ab, ba):
    """Add an entry of row i of a and column c of b, and one of row i of b and column c of a, to the coupling blocks."""
    a, b, block = tables.joined[j, 0], tables.joined[j, 1], tables.between[j]
    if max(a, b) == work.hinges.shape[0]:
        return
    if a < b:
        work.down[block, i, c] += ab
        work.up[block, i, c] += ba
    else:
        work.up[block, i, c] += ab
        work.down[block, i, c] += ba


@internal_kernel
def _add_force(tables, work, j, tangent):
    """Add a row whose multiplier is a force f on b at p_b, with its opposite on a."""
    a, b, sort = tables.joined[j, 0], tables.joined[j, 1], tables.sort[j]
    own_a, own_b, row, lam = work.frames[a], work.frames[b], work.rows[j, 0], work.lam[j]
    ax1, ay1, ax, ay = levers(own_a, tables.Xa[j, 0], tables.Xa[j, 1])
    bx1, by1, bx, by = levers(own_b, tables.Xb[j, 0], tables.Xb[j, 1])
    ex, ey = own_b[RX] - own_a[RX], own_b[RY] - own_a[RY]
    dx1, dy1 = ex + (own_b[DX] - own_a[DX]) + (bx1 - ax1), ey + (own_b[DY] - own_a[DY]) + (by1 - ay1)
    ux1 = uy1 = fx = fy = ux = uy = 0.0
    if sort == COINCIDENT:
        second = work.rows[j, 1]
        for gradient, lever_x, lever_y in ((row, 1.0, 0.0), (second, 0.0, 1.0)):
            gradient[0], gradient[1], gradient[2] = -lever_x, -lever_y, lever_x * ay1 - lever_y * ax1
            gradient[3], gradient[4], gradient[5] = lever_x, lever_y, lever_y * bx1 - lever_x * by1
            gradient[6], gradient[7], gradient[8] = -lever_x, -lever_y, lever_x * ay - lever_y * ax
            gradient[9], gradient[10], gradient[11] = lever_x, lever_y, lever_y * bx - lever_x * by
        row[12], second[12] = dx1, dy1
        fx, fy = lam[0], lam[1]
    else:
        # d at the start of the step, for the mean
        dx0 = ex + (own_b[C0] * tables.Xb[j, 0] - own_b[S0] * tables.Xb[j, 1])
        dy0 = ey + (own_b[S0] * tables.Xb[j, 0] + own_b[C0] * tables.Xb[j, 1])
        dx0 -= own_a[C0] * tables.Xa[j, 0] - own_a[S0] * tables.Xa[j, 1]
        dy0 -= own_a[S0] * tables.Xa[j, 0] + own_a[C0] * tables.Xa[j, 1]
        dx, dy = 0.5 * (dx0 + dx1), 0.5 * (dy0 + dy1)
        wx1, wy1 = ax1, ay1
        if sort == ALONG:
            ux1, uy1, ux, uy = levers(own_a, tables.Ua[j, 0], tables.Ua[j, 1])
            ax, ay, wx1, wy1 = ax + dx, ay + dy, ax1 + dx1, ay1 + dy1  # the force on a acts at p_b
            row[12] = ux1 * dx1 + uy1 * dy1 - work.value[j]
        else:
            ux1, uy1, ux, uy = dx1, dy1, dx, dy
            row[12] = 0.5 * (dx1 * dx1 + dy1 * dy1) - tables.value[j]
        row[0], row[1], row[2] = -ux1, -uy1, ux1 * wy1 - uy1 * wx1
        row[3], row[4], row[5] = ux1, uy1, bx1 * uy1 - by1 * ux1
        row[6], row[7], row[8] = -ux, -uy, ux * ay - uy * ax
        row[9], row[10], row[11] = ux, uy, bx * uy - by * ux
        fx, fy = lam[0] * ux, lam[0] * uy
    own_a[R1] -= fx
    own_a[R2] -= fy
    own_a[R3] += fx * ay - fy * ax
    own_b[R1] += fx
    own_b[R2] += fy
    own_b[R3] += bx * fy - by * fx
    if not tangent:
        return
    if sort == COINCIDENT:  # the force is the multiplier: only the lever arms rotate
        own_a[D33] += 0.5 * (ax1 * fx + ay1 * fy)
        own_b[D33] -= 0.5 * (bx1 * fx + by1 * fy)
        return
    half = 0.5 * lam[0]
    for column in range(6):  # unknowns of a, then of b: variations of both at the end
        oxa, oya, ea = 1.0 * (column == 0), 1.0 * (column == 1), 1.0 * (column == 2)
        oxb, oyb, eb = 1.0 * (column == 3), 1.0 * (column == 4), 1.0 * (column == 5)
        # variations of the force and of both lever arms
        dfx = dfy = dax = day = 0.0
        dbx, dby = -0.5 * eb * by1, 0.5 * eb * bx1
        if sort == ALONG:
            dfx, dfy = -half * ea * uy1, half * ea * ux1
            dax, day = 0.5 * (oxb - eb * by1 - oxa), 0.5 * (oyb + eb * bx1 - oya)
        else:
            dax, day = -0.5 * ea * ay1, 0.5 * ea * ax1
            dfx = half * (oxb - eb * by1 - oxa + ea * ay1)
            dfy = half * (oyb + eb * bx1 - oya - ea * ax1)
        ta = dfx * ay - dfy * ax + fx * day - fy * dax
        tb = bx * dfy - by * dfx + dbx * fy - dby * fx
        _add_column(tables, work, j, column, dfx, dfy, ta, tb)


@internal_kernel
def _add_column(tables, work, j, column, dfx, dfy, ta, tb):
    """Add one column of the matrix of a force and its torques: derivatives with respect to unknown `column` of (a, b)."""
    a, b = tables.joined[j, 0], tables.joined[j, 1]
    if column < 3:
        _add_to_diagonal(work.frames[a], column, -dfx, -dfy, ta)
        _add_between(tables, work, j, 0, column, 0.0, dfx)
        _add_between(tables, work, j, 1, column, 0.0, dfy)
        _add_between(tables, work, j, 2, column, 0.0, tb)
    else:
        _add_to_diagonal(work.frames[b], column - 3, dfx, dfy, tb)
        _add_between(tables, work, j, 0, column - 3, -dfx, 0.0)
        _add_between(tables, work, j, 1, column - 3, -dfy, 0.0)
        _add_between(tables, work, j, 2, column - 3, ta, 0.0)


@internal_kernel
def _add_to_diagonal(frame, column, x, y, torque):
    """Add derivatives of force and torque to one column of the diagonal block of a frame."""
    frame[D11 + column] += x
    frame[D21 + column] += y
    frame[D31 + column] += torque
