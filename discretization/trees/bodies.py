"""Residuals and tangents of bodies of a tree, and the closed forms of their joints: the start of a Newton iteration.

With f, k the force and the moment (`couple`), times the step, that pass through a joint from a body to its parent at the joint's
mean lever xbar, the equations of `discretization.assembly.step_equations` are

    2 m (dr/h - v0) - h m g + ... - f + sum over children f = 0                                         (1)
    R1 J Omega1 - R0 J Omega0 + ... - xbar x f - k + sum over children (xbar_p x f + k) = 0             (2)
    p(1) = p_p(1),   k = 0 of a ball joint;   axes parallel, k . nbar = 0 of a hinge                    (3)
    axes u . w = 0, k . ubar = k . wbar = 0 of a universal joint;   triads aligned of a weld

nbar is the mean of the axis on frame b; the two multipliers of its rows of directions act perpendicular to it. u, w are the axes
of a universal joint on the body and its parent.
"""

from __future__ import annotations

from discretization.assembly.frame_formulas import balance, spin_at_end, spin_tangent
from discretization.assembly.workspace import rotation_of, store_rotation
from discretization.trees.data_layout import (
    AXIS,
    COLUMN,
    CONDITION,
    DIAGONAL_BLOCK,
    END_1,
    GAP,
    JOINT_FORCE,
    JOINT_MOMENT,
    LEVER,
    LEVER1,
    MEAN_1,
    MOMENT,
    NEXT,
    PARENT_LEVER,
    PARENT_LEVER1,
    TILT,
    TURN,
    TURNS,
)
from discretization.trees.spanning_tree import BALL, FREE, HINGE, OTHER, UNIVERSAL, WELD
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel
from rigid.kinematics.rotations import inverse_tangent, load4, rotation_matrix
from rigid.linear_algebra import (
    apply,
    average,
    cross,
    dot,
    dyad,
    hat,
    load3,
    load9,
    matrix_minus,
    minus,
    plus,
    product,
    store3,
    times,
)


@inline_kernel
def rotate_matrix(psi, R):
    """Return the rotated matrix cay(psi) R."""
    s = 1.0 / (1.0 + 0.25 * dot(psi, psi))
    a, b, c = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
    a = plus(a, times(s, cross(psi, plus(a, times(0.5, cross(psi, a))))))
    b = plus(b, times(s, cross(psi, plus(b, times(0.5, cross(psi, b))))))
    c = plus(c, times(s, cross(psi, plus(c, times(0.5, cross(psi, c))))))
    return a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]


@inline_kernel
def vector_at(x, i):
    """Return the vector stored in x[i:i + 3]."""
    return x[i], x[i + 1], x[i + 2]


@inline_kernel
def store_vector(x, i, a):
    """Store a vector: x[i:i + 3] = a."""
    x[i], x[i + 1], x[i + 2] = a


@inline_kernel
def store_matrix_rows(x, at, A):
    """Store a 3 x 3 matrix in row storage: x[at + 8 i + j] = A_ij."""
    x[at], x[at + 1], x[at + 2] = A[0], A[1], A[2]
    x[at + 8], x[at + 9], x[at + 10] = A[3], A[4], A[5]
    x[at + 16], x[at + 17], x[at + 18] = A[6], A[7], A[8]


@inline_kernel
def load_matrix_rows(x, at):
    """Return the 3 x 3 matrix A_ij = x[at + 8 i + j]."""
    return x[at], x[at + 1], x[at + 2], x[at + 8], x[at + 9], x[at + 10], x[at + 16], x[at + 17], x[at + 18]


@inline_kernel
def half_dyad(x, f):
    """Return (x f^T - x . f I)/2, the matrix of eta -> (eta x x)/2 x f."""
    return dyad(x, times(0.5, f))


@inline_kernel
def shift_tangent_to_joint(m, K, x1, x):
    """Return the tangent of a body at the point of its joint: force by rotation, moment by displacement, moment by rotation.

    m, K: mass and rotational tangent of the step equations, both over the step, about the centre; x1, x: lever to the joint at
    the end of the step and averaged over it. The force by displacement remains m I.
    """
    # a rotation eta changes the moment by K eta - x x (m eta x x1), and through the joint force f by -(eta x x1)/2 x f
    return hat(times(m, x1)), hat(times(-m, x)), matrix_minus(K, dyad(x1, times(m, x)))


@internal_kernel
def scale_rows(tree, work, h):
    """Set the scales of constraint rows as `discretization.assembly.constraint_rows` does; they are 1 for joints of closed form,
    whose multipliers are impulses.
    """
    for c in range(tree.scaled.shape[0]):
        work.scale[c] = 2.0 / abs(h) * work.facts.lightest[c] if tree.scaled[c] else 1.0


@internal_kernel
def begin_fixed_frames(tree, state, work):
    """Set rotations and positions of the frames that do not move, and rotations of those that do not rotate."""
    for f in tree.fixed_frames:
        store_rotation(work.R0, f, rotation_matrix(load4(state.quat[f])))
        store_rotation(work.R1, f, rotation_of(work.R0, f))
        store3(load3(state.r[f]), work.r1[f])


@internal_kernel
def begin_fixed_quaternions(tree, state, work):
    """Set the quaternions at the end of the step of the frames that do not move or rotate; runs in lanes have none of them."""
    for f in tree.fixed_frames:
        for k in range(4):
            work.q1[f, k] = state.quat[f, k]


@internal_kernel
def begin_tree(system, tree, state, work):
    """Compute rotations and angular momenta at the start of the step, for bodies outside SIMD groups."""
    frames = system.frames
    for k in range(tree.alone.shape[0]):
        f = tree.frame[tree.alone[k]]
        store_rotation(work.R0, f, rotation_matrix(load4(state.quat[f])))
        spin = apply(load9(frames.inertia[f]), load3(state.Omega[f]))
        store3(apply(rotation_of(work.R0, f), spin), tree.spin0[k])


@inline_kernel
def _mean(work, f, U):
    """Return a direction U fixed to frame f, averaged over the step."""
    return average(apply(rotation_of(work.R0, f), U), apply(rotation_of(work.R1, f), U))


@inline_kernel
def moment_direction(tree, work, i, j):
    """Return the direction of the moment on frame b that the multiplier of direction row j exerts, from the mean directions of
    the step.
    """
    f, partner = tree.frame[i], tree.partner[i]
    a, b = (partner, f) if tree.side[i] > 0 else (f, partner)
    return cross(
        _mean(work, a, load3(tree.D[tree.joint[i], j, 0])), _mean(work, b, load3(tree.D[tree.joint[i], j, 1]))
    )


@internal_kernel
def rotate_bodies(tree, work):
    """Compute rotations R1 at the end of the step from the increments, for bodies outside SIMD groups."""
    for i in tree.alone:
        f = tree.frame[i]
        store_rotation(work.R1, f, rotate_matrix(load3(work.psi[f]), rotation_of(work.R0, f)))


@internal_kernel
def begin_joints(tree, work):
    """Compute the joint forces f and moments k of the predicted multipliers, at the predicted end of the step; call after
    `rotate_bodies`.
    """
    for i in tree.joints_alone:
        side, slides, w = tree.side[i], tree.slides[i], tree.joint_data[tree.joint[i]]
        first, turning = tree.lam[i], tree.lam[i] + 3 - slides
        if slides == 0:
            force = times(-side, vector_at(work.lam, first))
        else:
            force = (0.0, 0.0, 0.0)
            for j in range(3 - slides):
                force = plus(force, times(-side * work.lam[first + j], _direction(tree, work, i, j)))
        couple = (0.0, 0.0, 0.0)
        for j in range(tree.turning[i]):
            couple = plus(couple, times(side * work.lam[turning + j], moment_direction(tree, work, i, j)))
        store_vector(w, JOINT_FORCE, force)
        store_vector(w, JOINT_MOMENT, couple)


@inline_kernel
def _direction(tree, work, i, j):
    """Return direction j on frame a in which the joint cannot slide, averaged over the step."""
    a = tree.partner[i] if tree.side[i] > 0 else tree.frame[i]
    return _mean(work, a, load3(tree.across[tree.joint[i], j]))


@internal_kernel
def apply_final_correction(tree, state, work):
    """Update the end of the step with the last correction; its part that is lost to rounding in the sums stays in work.rhs.

    The step adds that part to the state without this rounding.
    """
    rhs = work.rhs
    for i in tree.alone:
        f, displacement, eta = tree.frame[i], vector_at(rhs, 6 * i), vector_at(rhs, 6 * i + 3)
        dr, psi = load3(work.dr[f]), load3(work.psi[f])
        rotation = apply(inverse_tangent(psi), eta)
        dr1, psi1 = plus(dr, displacement), plus(psi, rotation)
        store_vector(rhs, 6 * i, minus(displacement, minus(dr1, dr)))
        store_vector(rhs, 6 * i + 3, minus(rotation, minus(psi1, psi)))
        store3(dr1, work.dr[f])
        store3(psi1, work.psi[f])
        store3(plus(load3(state.r[f]), dr1), work.r1[f])
        store_rotation(work.R1, f, rotate_matrix(psi1, rotation_of(work.R0, f)))


@inline_kernel
def components_in_two(one, two, k):
    """Return the two factors of k as a linear combination of two directions; the part of k perpendicular to both is ignored."""
    p, q, r = dot(one, one), dot(one, two), dot(two, two)
    x, y, d = dot(one, k), dot(two, k), 1.0 / (p * r - q * q)
    return d * (r * x - q * y), d * (p * y - q * x)


@inline_kernel
def components_in_three(one, two, three, k):
    """Return the three factors of k as a linear combination of three directions."""
    d = 1.0 / dot(one, cross(two, three))
    return d * dot(k, cross(two, three)), d * dot(k, cross(three, one)), d * dot(k, cross(one, two))


@internal_kernel
def end_joints(tree, work):
    """Compute the multipliers from the joint forces f and moments k, with the directions at the end of the iteration."""
    for i in tree.joints_alone:
        side, slides, w = tree.side[i], tree.slides[i], tree.joint_data[tree.joint[i]]
        f = vector_at(w, JOINT_FORCE)
        first, turning = tree.lam[i], tree.lam[i] + 3 - slides
        if slides == 0:
            store_vector(work.lam, first, times(-side, f))
        elif slides == 1:
            one, two = _direction(tree, work, i, 0), _direction(tree, work, i, 1)
            work.lam[first], work.lam[first + 1] = components_in_two(one, two, times(-side, f))
        elif slides == 2:
            one = _direction(tree, work, i, 0)
            work.lam[first] = -side * dot(one, f) / dot(one, one)
        k = times(side, vector_at(w, JOINT_MOMENT))
        if tree.kind[i] == HINGE:
            one, two = moment_direction(tree, work, i, 0), moment_direction(tree, work, i, 1)
            work.lam[turning], work.lam[turning + 1] = components_in_two(one, two, k)
        elif tree.kind[i] == UNIVERSAL:
            one = moment_direction(tree, work, i, 0)
            work.lam[turning] = dot(one, k) / dot(one, one)
        elif tree.kind[i] == WELD:
            one, two, three = (
                moment_direction(tree, work, i, 0),
                moment_direction(tree, work, i, 1),
                moment_direction(tree, work, i, 2),
            )
            store_vector(work.lam, turning, components_in_three(one, two, three, k))


@internal_kernel
def assemble_bodies(system, tree, state, work, h):
    """Assemble bodies outside SIMD groups: inertia and weight of (1), (2), their tangents, and their joints of closed form.

    The tangents are expressed at the points of these joints. Parents come first; bodies of groups must already be at the end of
    the step.
    """
    for k in range(tree.alone.shape[0]):
        _assemble_body(system, tree, state, work, h, k, True)


@internal_kernel
def assemble_residuals(system, tree, state, work, h):
    """Assemble residuals and joints of bodies outside SIMD groups without tangents; all joints must be of closed form."""
    for k in range(tree.alone.shape[0]):
        _assemble_body(system, tree, state, work, h, k, False)


@always_inline_kernel
def _assemble_body(system, tree, state, work, h, k, tangents):
    """Assemble body `tree.alone[k]`: residual of inertia and weight, its joint, and, if `tangents`, its diagonal block."""
    frames, gravity, values, residual = system.frames, load3(system.gravity), work.values, work.residual
    i = tree.alone[k]
    f = tree.frame[i]
    R0, psi, mass, J = (
        rotation_of(work.R0, f),
        load3(work.psi[f]),
        frames.mass[f],
        load9(frames.inertia[f]),
    )
    R1, dr = rotate_matrix(psi, R0), load3(work.dr[f])
    RJ = product(R1, J)
    L1 = apply(RJ, spin_at_end(R0, load3(state.Omega[f]), psi, h))
    store_rotation(work.R1, f, R1)
    store3(plus(load3(state.r[f]), dr), work.r1[f])
    store_vector(residual, 6 * i, balance(mass, load3(state.v[f]), dr, gravity, h))
    store_vector(residual, 6 * i + 3, minus(L1, load3(tree.spin0[k])))
    at_centre = tree.kind[i] <= OTHER or tree.slides[i] > 0
    if not at_centre:
        update_joint(tree, work, i)
    if tangents:
        m, w = 2.0 * mass / h, tree.joint_data[tree.joint[i]]
        K = spin_tangent(RJ, R0, R1, psi, L1, h)
        if tree.kind[i] == FREE:
            _put_in_columns(values, DIAGONAL_BLOCK * i, m, K)
            return
        x1, x = vector_at(w, LEVER1), vector_at(w, LEVER)
        if at_centre:
            x1 = x = (0.0, 0.0, 0.0)
        put_inertia(values, DIAGONAL_BLOCK * i, m, shift_tangent_to_joint(m, K, x1, x))


@inline_kernel
def _put_in_columns(values, at, m, K):
    """Store the diagonal block of a body without a joint, column by column: mass m, rotational inertia K."""
    for c in range(3):
        for r in range(3):
            values[at + COLUMN * c + r] = m if r == c else 0.0
            values[at + COLUMN * c + 3 + r] = values[at + COLUMN * (3 + c) + r] = 0.0
            values[at + COLUMN * (3 + c) + 3 + r] = K[3 * r + c]


@inline_kernel
def put_inertia(values, at, m, parts):
    """Store the diagonal block of a body: m I and the three other 3 x 3 parts, as `shift_tangent_to_joint` returns them."""
    fe, ky, ke = parts
    store_matrix_rows(values, at, (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m))
    store_matrix_rows(values, at + TURN, fe)
    store_matrix_rows(values, at + MOMENT, ky)
    store_matrix_rows(values, at + MOMENT + TURN, ke)


@internal_kernel
def update_sliding_joints(tree, work):
    """Compute levers, directions and gaps of all joints that slide (`update_sliding_joint`).

    Also express the blocks of their bodies at the joints instead of the centres.

    dr and r1 must be stored frame by frame.
    """
    values = work.values
    for i in tree.sliding:
        update_sliding_joint(tree, work, i)
        w, at = tree.joint_data[tree.joint[i]], DIAGONAL_BLOCK * i
        K = load_matrix_rows(values, at + MOMENT + TURN)
        moved = shift_tangent_to_joint(values[at], K, vector_at(w, LEVER1), vector_at(w, LEVER))
        put_inertia(values, at, values[at], moved)


@inline_kernel
def levers(R1, P1, X, Xp, X0, Xp0, r, rp):
    """Return the levers of body and parent, each at the end of and averaged over the step, and the gap.

    X, Xp: points of the joint in body axes; X0, Xp0: R0 X, P0 Xp; r, rp: positions at the end of the step.
    """
    x1, y1 = apply(R1, X), apply(P1, Xp)
    return x1, average(X0, x1), y1, average(Xp0, y1), plus(minus(r, rp), minus(x1, y1))


@inline_kernel
def tilt_between_axes(u1, w1):
    """Return the rotation vector, to first order, that makes axis u1 perpendicular to axis w1."""
    n = cross(u1, w1)
    return times(-dot(u1, w1) / dot(n, n), n)


@inline_kernel
def update_joint(tree, work, i):
    """Compute and store levers, axes, gap and tilt of a joint that does not slide."""
    w, f, partner = tree.joint_data[tree.joint[i]], tree.frame[i], tree.partner[i]
    R0, R1 = rotation_of(work.R0, f), rotation_of(work.R1, f)
    P0, P1 = rotation_of(work.R0, partner), rotation_of(work.R1, partner)
    X, Xp = load3(tree.X[tree.joint[i], 0]), load3(tree.X[tree.joint[i], 1])
    r, rp = load3(work.r1[f]), load3(work.r1[partner])
    _put_levers(w, *levers(R1, P1, X, Xp, apply(R0, X), apply(P0, Xp), r, rp))
    _place_axes(tree, i, R0, R1, P0, P1)


@inline_kernel
def _put_levers(w, x1, x, y1, y, gap):
    """Store the levers and the gap of a joint."""
    store_vector(w, LEVER1, x1)
    store_vector(w, LEVER, x)
    store_vector(w, PARENT_LEVER1, y1)
    store_vector(w, PARENT_LEVER, y)
    store_vector(w, GAP, gap)


@inline_kernel
def update_sliding_joint(tree, work, i):
    """Compute and store levers, directions, axes and gap of a joint that slides.

    Its point is the one on frame b; the lever to this point from frame a changes.
    """
    w, of_b = tree.joint_data[tree.joint[i]], tree.side[i] > 0
    f, partner = tree.frame[i], tree.partner[i]
    a, b = (partner, f) if of_b else (f, partner)
    A0, A1 = rotation_of(work.R0, a), rotation_of(work.R1, a)
    B0, B1 = rotation_of(work.R0, b), rotation_of(work.R1, b)
    X, Xp = load3(tree.X[tree.joint[i], 0]), load3(tree.X[tree.joint[i], 1])
    Xa, Xb = (Xp, X) if of_b else (X, Xp)
    xa1, xb0, xb1 = apply(A1, Xa), apply(B0, Xb), apply(B1, Xb)
    offset = minus(load3(work.r1[b]), load3(work.r1[a]))
    to_b0 = plus(minus(offset, minus(load3(work.dr[b]), load3(work.dr[a]))), xb0)
    to_b1 = plus(offset, xb1)
    from_point, gap = minus(to_b1, xa1), (0.0, 0.0, 0.0)
    for j in range(3 - tree.slides[i] if tree.slides[i] < 3 else 0):
        d0, d1 = (
            apply(A0, load3(tree.across[tree.joint[i], j])),
            apply(A1, load3(tree.across[tree.joint[i], j])),
        )
        gap = plus(gap, times(dot(d1, from_point), d1))
        store_vector(w, END_1 + 3 * j, d1)
        store_vector(w, MEAN_1 + 3 * j, average(d0, d1))
    if of_b:
        _put_levers(w, xb1, average(xb0, xb1), to_b1, average(to_b0, to_b1), gap)
        _place_axes(tree, i, B0, B1, A0, A1)
    else:
        _put_levers(w, to_b1, average(to_b0, to_b1), xb1, average(xb0, xb1), times(-1.0, gap))
        _place_axes(tree, i, A0, A1, B0, B1)


@inline_kernel
def _place_axes(tree, i, R0, R1, P0, P1):
    """Compute and store axes and tilt of a joint; R0, R1, P0, P1: rotations of the body and of its parent at both ends of the
    step.
    """
    w, kind = tree.joint_data[tree.joint[i]], tree.kind[i]
    if kind == WELD:
        tilt = (0.0, 0.0, 0.0)
        for j in range(3):
            u1, w1 = (
                apply(R1, load3(tree.U[tree.joint[i], j, 0])),
                apply(P1, load3(tree.U[tree.joint[i], j, 1])),
            )
            tilt = plus(tilt, times(0.5, cross(u1, w1)))
        store_vector(w, TILT, tilt)
    elif kind != BALL:
        U, Up = load3(tree.U[tree.joint[i], 0, 0]), load3(tree.U[tree.joint[i], 0, 1])
        u1, w1 = apply(R1, U), apply(P1, Up)
        of_body, of_parent = average(apply(R0, U), u1), average(apply(P0, Up), w1)
        store_vector(w, AXIS, u1)
        if kind == UNIVERSAL:
            store_vector(w, TILT, tilt_between_axes(u1, w1))
            store_vector(w, CONDITION, of_body)
            store_vector(w, TURNS, u1)
            store_vector(w, AXIS + NEXT, w1)
            store_vector(w, CONDITION + NEXT, of_parent)
            store_vector(w, TURNS + NEXT, w1)
        else:
            on_body = tree.side[i] > 0
            store_vector(w, TILT, cross(u1, w1))
            store_vector(w, CONDITION, of_body if on_body else of_parent)
            store_vector(w, TURNS, u1 if on_body else w1)
