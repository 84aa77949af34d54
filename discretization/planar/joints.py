"""Joints in the plane: rows g(1) = 0 with gradients, impulses, and their contributions to residual and matrix.

With d = p_b - p_a, u = R U, bars for means over the step, as `rigid.interactions`:

    COINCIDENT   g = d                        ANGLE      g = u_a . u_b - value
    ALONG        g = u_a . d - value          DISTANCE   g = d . d/2 - value

The closed forms are those of space, evaluated with the structural zero (`rigid.structural_zero`) as third component of all
vectors.
"""

from typing import Any

from discretization.assembly.workspace import EPS
from discretization.planar.arrays import (
    ANGLE,
    AWAY,
    C0,
    C1,
    COINCIDENT,
    D11,
    D33,
    DX,
    DY,
    FINE,
    G1,
    G2,
    HINGE,
    LEFT,
    N1,
    N2,
    R1,
    R2,
    R3,
    ROW,
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
from rigid.compilation.decorators import (
    always_inline_kernel,
    inline_kernel,
    internal_kernel,
    named_internal_kernel,
)
from rigid.interactions.closed_forms import dispatch_by_number
from rigid.interactions.coincident_points import COINCIDENT_POINTS
from rigid.interactions.direction_angle import PERPENDICULAR_DIRECTIONS
from rigid.interactions.distance import POINTS_AT_DISTANCE
from rigid.interactions.kinds import Kind
from rigid.interactions.point_on_plane import POINT_ALONG_DIRECTION
from rigid.linear_algebra import average, minus, plus
from rigid.structural_zero import ZERO

_IN_SPACE = 0, 1, 5  # unknowns in the plane among the six of a frame in space


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
def at_both_ends(frame, X):
    """Return R0 X, R1 X and their mean, as vectors of space without a third component; X (2,)."""
    x0 = frame[C0] * X[0] - frame[S0] * X[1], frame[S0] * X[0] + frame[C0] * X[1], ZERO
    x1 = frame[C1] * X[0] - frame[S1] * X[1], frame[S1] * X[0] + frame[C1] * X[1], ZERO
    return x0, x1, average(x0, x1)


@inline_kernel
def points_at_both_ends(a, b, Xa, Xb):
    """Return d at the start of the step, and x_a, x_b, d in the mean and at the end."""
    (xa0, xa1, xa), (xb0, xb1, xb) = at_both_ends(a, Xa), at_both_ends(b, Xb)
    e = b[RX] - a[RX], b[RY] - a[RY], ZERO
    # differences first: this keeps the digits far from the origin
    d0 = plus(e, minus(xb0, xa0))
    d1 = plus(plus(e, (b[DX] - a[DX], b[DY] - a[DY], ZERO)), minus(xb1, xa1))
    return d0, (xa, xb, average(d0, d1)), (xa1, xb1, d1)


@inline_kernel
def add_impulses(a, b, impulses):
    """Add an impulse on b, its opposite on a, and the torques on a and b to the residuals of both frames."""
    f, on_a, on_b = impulses
    a[R1] -= f[0]
    a[R2] -= f[1]
    a[R3] += on_a[2]
    b[R1] += f[0]
    b[R2] += f[1]
    b[R3] += on_b[2]


@inline_kernel
def write_gradients(end, mean, row):
    """Write the gradients of a row at the end and in the mean: its unit impulse on b, and its torques on a and b."""
    _write_gradient(end, row, 0)
    _write_gradient(mean, row, 6)


@inline_kernel
def _write_gradient(impulses, row, at):
    """Write one gradient into columns `at` to `at` + 5 of a row."""
    f, on_a, on_b = impulses
    row[at], row[at + 1], row[at + 2] = -f[0], -f[1], on_a[2]
    row[at + 3], row[at + 4], row[at + 5] = f[0], f[1], on_b[2]


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
def _add_tangent(tables, work, j):
    """Add the entries of a tangent in space that belong to the plane to the blocks of the two frames of a joint."""
    a, b, K, block = tables.joined[j, 0], tables.joined[j, 1], work.tangent, tables.between[j]
    rows_of_a, rows_of_b = (work.down, work.up) if a < b else (work.up, work.down)
    for i in range(3):
        for c in range(3):
            at = _IN_SPACE[i] + 12 * _IN_SPACE[c]
            work.frames[a, D11 + ROW * i + c] += K[at]
            work.frames[b, D11 + ROW * i + c] += K[at + 78]
            if max(a, b) < work.hinges.shape[0]:
                rows_of_a[block, i, c] += K[at + 72]
                rows_of_b[block, i, c] += K[at + 6]


def _adder(sort: int, kind: Kind) -> Any:
    """Generate the kernel that adds a joint row of this sort, with the closed forms of its kind in space compiled into it."""
    closed = kind.closed
    assert closed is not None
    value, pull, add_tangent, rows = closed.value, closed.pull, closed.add_tangent, min(kind.rows, 2)

    def add(tables: Any, work: Any, j: Any, tangent: Any) -> None:
        a, b = work.frames[tables.joined[j, 0]], work.frames[tables.joined[j, 1]]
        lam = work.lam[j, 0], work.lam[j, 1], ZERO
        _, (xa, xb, d), (xa1, xb1, d1) = points_at_both_ends(a, b, tables.Xa[j], tables.Xb[j])
        _, ua1, _ = at_both_ends(a, work.end[j])
        _, mean1, ua = at_both_ends(a, work.mean[j])
        _, ub1, ub = at_both_ends(b, tables.Ub[j])
        mean, end = (ua, ub, xa, xb, d), (ua1, ub1, xa1, xb1, d1)
        g, row = value(end, work.value[j]), work.rows[j]
        row[0, LEFT] = g[0]
        write_gradients(pull((1.0, 0.0, ZERO), end), pull((1.0, 0.0, ZERO), mean), row[0])
        if rows == 2:
            row[1, LEFT] = g[1]
            write_gradients(pull((0.0, 1.0, ZERO), end), pull((0.0, 1.0, ZERO), mean), row[1])
        add_impulses(a, b, pull(lam, mean))
        if tangent:
            work.tangent[:] = 0.0
            add_tangent(lam, mean, (mean1, ub1, xa1, xb1, d1), (work.tangent, (0, 72, 6, 78), 12, 12))
            _add_tangent(tables, work, j)

    return named_internal_kernel(f"add_joint_row_{sort}", add)


_add_row = dispatch_by_number(
    "add_joint_row",
    [
        _adder(sort, kind)
        for sort, kind in enumerate(
            (COINCIDENT_POINTS, PERPENDICULAR_DIRECTIONS, POINT_ALONG_DIRECTION, POINTS_AT_DISTANCE)
        )
    ],
)


@internal_kernel
def add_joints(tables, work, tangent):
    """Add residual and, if `tangent`, matrix of all joints except the hinges of kind HINGE."""
    for k in range(tables.items.shape[0]):
        _add_row(tables.sort[tables.items[k]], tables, work, tables.items[k], tangent)
    for k in range(tables.closing.shape[0]):
        _add_row(COINCIDENT, tables, work, tables.closing[k], tangent)


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
