"""Evaluate interactions in a chart: V, g, their gradients and discrete derivatives, pulled back from duals; compiled.

Every function is one loop over the groups of a system. The kinds of interaction are defined in their own files. The internal
constraints of a chart, 002 (103) and 000 (30), are the first rows of g.
"""

from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.kinds import dual_at, frame, store, value_at
from rigid.kinematics.chart_frames import DUAL, END, QUATERNION, ROWS, START, load_at
from rigid.kinematics.poses import (
    add_mean_pulled,
    add_pulled,
    add_quaternion_part,
    clear,
    clear_matrix,
    load_quat,
    pose,
    rate,
)
from rigid.kinematics.quaternion_maps import quat_dot
from rigid.linear_algebra import dot, times
from rigid.mechanics.mechanical_system import WITHOUT_POTENTIAL, system_function


@inline_kernel
def pair_of(k):
    """Return the indices (i, j) of the directors in internal constraint k of the director chart: (103) of 002."""
    if k < 3:
        return k, k
    if k == 3:
        return 0, 1
    if k == 4:
        return 0, 2
    return 1, 2


@internal_kernel
def put_poses(q, D, entry, arity, out):
    """Store the poses at q of the frames of one interaction in out."""
    for k in range(arity):
        store(pose(q, D.frames, entry.frames[k]), out, k)


@internal_kernel
def put_rates(q, v, D, entry, arity, out):
    """Store the rates of the poses of the frames of one interaction in out, at q with velocities v."""
    for k in range(arity):
        store(rate(q, v, D.frames, entry.frames[k]), out, k)


@internal_kernel
def choose_row(k, rows, lam):
    """Set lam to 1 for row k and to 0 for the other rows."""
    for i in range(rows):
        lam[i] = 1.0 if i == k else 0.0


@internal_kernel
def add_duals(D, kind, e, q0, q1, lam, out):
    """Add the discrete derivative of lam . value of interaction e between q0 and q1 to out (n,)."""
    add_duals_of(D.interaction_arrays, D, kind, e, q0, q1, lam, out)


@internal_kernel
def add_duals_of(I, D, kind, e, q0, q1, lam, out):
    """Add the pulled-back dual, for multipliers lam, of interaction e of `I` between q0 and q1 to out (n,)."""
    S = D.scratch
    entry = I.entries[e]
    if kind.constant == 0:
        put_poses(q0, D, entry, kind.arity, S[START])
        put_poses(q1, D, entry, kind.arity, S[END])
    dual = dual_at(kind.dual)
    dual(S[START], S[END], I.numbers[entry.first : entry.last], lam, S[DUAL])
    for k in range(kind.arity):
        add_mean_pulled(frame(S[DUAL], k), q0, q1, D.frames, entry.frames[k], out)


@internal_kernel
def fill_discrete_gradient(q0, q1, D, out):
    """Set out (n,) to the discrete derivative of V between q0 and q1, which is the gradient if q0 equals q1."""
    clear(out)
    if D.flags & WITHOUT_POTENTIAL:
        return
    lam = D.scratch[ROWS, 0, 0]
    I = D.interaction_arrays
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        if kind.rows == 0:
            for e in range(kind.first, kind.last):
                lam[0] = 1.0
                add_duals(D, kind, e, q0, q1, lam, out)


@system_function("potential")
def potential(q, D, out):
    """Compute the potential V(q), J."""
    V, S, I = 0j, D.scratch, D.interaction_arrays
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        if kind.rows == 0:
            value = value_at(kind.value)
            for e in range(kind.first, kind.last):
                entry = I.entries[e]
                put_poses(q, D, entry, kind.arity, S[START])
                value(S[START], I.numbers[entry.first : entry.last], S[ROWS, 0, 0])
                V += S[ROWS, 0, 0, 0]
    out[0] = V


@system_function("gradient")
def gradient(q, D, out):
    """Compute the gradient (n,) of V at q."""
    fill_discrete_gradient(q, q, D, out)


@system_function("discrete_gradient")
def discrete_gradient(q0, q1, D, out):
    """Compute the discrete derivative (n,) of V: V(q1) - V(q0) = out . (q1 - q0)."""
    fill_discrete_gradient(q0, q1, D, out)


@system_function("constraints")
def constraints(q, D, out):
    """Compute the constraints g(q) (m,): internal constraints frame by frame, then joints."""
    S = D.scratch
    row = 0
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to < 0:
            continue
        if D.frames.chart == QUATERNION:
            quat = load_quat(q, to)
            out[row] = 0.5 * (quat_dot(quat, quat) - 1.0)
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                product = dot(load_at(q, to + 3 * i), load_at(q, to + 3 * j))
                out[row] = 0.5 * (product - 1.0) if i == j else product
                row += 1
    I = D.interaction_arrays
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        value = value_at(kind.value)
        for e in range(kind.first, kind.last if kind.rows > 0 else 0):
            entry = I.entries[e]
            put_poses(q, D, entry, kind.arity, S[START])
            value(S[START], I.numbers[entry.first : entry.last], S[ROWS, 0, 0])
            for k in range(kind.rows):
                out[I.entries[e].row + k] = S[ROWS, 0, 0, k]


@internal_kernel
def fill_jacobian(q0, q1, D, out):
    """Set out (m, n) to the discrete derivative of g between q0 and q1, which is the Jacobian if q0 equals q1."""
    clear_matrix(out)
    row = 0
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to < 0:
            continue
        if D.frames.chart == QUATERNION:
            for i in range(4):
                out[row, to + i] = 0.5 * (q0[to + i] + q1[to + i])
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                for l in range(3):
                    out[row, to + 3 * i + l] = 0.5 * (q0[to + 3 * j + l] + q1[to + 3 * j + l])
                    out[row, to + 3 * j + l] = 0.5 * (q0[to + 3 * i + l] + q1[to + 3 * i + l])
                row += 1
    lam = D.scratch[ROWS, 0, 0]
    I = D.interaction_arrays
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last if kind.rows > 0 else 0):
            for k in range(kind.rows):
                choose_row(k, kind.rows, lam)
                add_duals(D, kind, e, q0, q1, lam, out[I.entries[e].row + k])


@system_function("jacobian")
def jacobian(q, D, out):
    """Compute the Jacobian G(q) (m, n) of the constraints."""
    fill_jacobian(q, q, D, out)


@system_function("discrete_jacobian")
def discrete_jacobian(q0, q1, D, out):
    """Compute the discrete derivative (m, n) of g: g(q1) - g(q0) = out (q1 - q0)."""
    fill_jacobian(q0, q1, D, out)


@internal_kernel
def add_internal_pull(q0, q1, lam, D, out):
    """Add (discrete derivative of the internal constraints)^T lam to out (n,); it is linear in q0 + q1."""
    row = 0
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to < 0:
            continue
        if D.frames.chart == QUATERNION:
            for i in range(to, to + 4):
                out[i] += 0.5 * lam[row] * (q0[i] + q1[i])
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                for l in range(3):
                    a, b = to + 3 * i + l, to + 3 * j + l
                    if i == j:
                        out[a] += 0.5 * lam[row] * (q0[a] + q1[a])
                    else:
                        out[a] += 0.5 * lam[row] * (q0[b] + q1[b])
                        out[b] += 0.5 * lam[row] * (q0[a] + q1[a])
                row += 1


@internal_kernel
def copy_multipliers(lam, I, kind, e, out):
    """Copy the multipliers of interaction e from lam (m,) to out (kind.rows,)."""
    for k in range(kind.rows):
        out[k] = lam[I.entries[e].row + k]


@internal_kernel
def fill_pull(q0, q1, lam, D, out):
    """Set out (n,) to (discrete derivative of g between q0 and q1)^T lam."""
    clear(out)
    add_internal_pull(q0, q1, lam, D, out)
    multipliers = D.scratch[ROWS, 0, 0]
    I = D.interaction_arrays
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last if kind.rows > 0 else 0):
            copy_multipliers(lam, I, kind, e, multipliers)
            add_duals(D, kind, e, q0, q1, multipliers, out)


@system_function("pull")
def pull(q, lam, D, out):
    """Compute the constraint forces G(q)^T lam (n,)."""
    fill_pull(q, q, lam, D, out)


@system_function("discrete_pull")
def discrete_pull(q0, q1, lam, D, out):
    """Compute the transposed discrete derivative of g between q0 and q1 times lam (n,)."""
    fill_pull(q0, q1, lam, D, out)


@inline_kernel
def work_of(dual, z, count):
    """Return the sum of dual . z over `count` frames."""
    s = 0j
    for a in range(count):
        for i in range(4):
            for l in range(3):
                s += dual[a, i, l] * z[a, i, l]
    return s


@internal_kernel
def fill_internal_rate(q, w, D, out):
    """Set the rows of the internal constraints in out (m,) to G(q) w; they are bilinear and symmetric in q and w."""
    row = 0
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to < 0:
            continue
        if D.frames.chart == QUATERNION:
            out[row] = quat_dot(load_quat(q, to), load_quat(w, to))
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                out[row] = dot(load_at(q, to + 3 * i), load_at(w, to + 3 * j))
                if i != j:
                    out[row] += dot(load_at(q, to + 3 * j), load_at(w, to + 3 * i))
                row += 1


@system_function("rate")
def constraint_rate(q, w, D, out):
    """Compute the rates of the constraints G(q) w (m,)."""
    S = D.scratch
    fill_internal_rate(q, w, D, out)
    I = D.interaction_arrays
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        dual = dual_at(kind.dual)
        for e in range(kind.first, kind.last if kind.rows > 0 else 0):
            entry = I.entries[e]
            numbers = I.numbers[entry.first : entry.last]
            put_poses(q, D, entry, kind.arity, S[START])
            put_rates(q, w, D, entry, kind.arity, S[END])
            for k in range(kind.rows):
                choose_row(k, kind.rows, S[ROWS, 0, 0])
                dual(S[START], S[START], numbers, S[ROWS, 0, 0], S[DUAL])
                out[I.entries[e].row + k] = work_of(S[DUAL], S[END], kind.arity)


@internal_kernel
def bent_pose(w, z, D, f):
    """Return the second derivative of the pose of frame f along w and z (quaternion chart)."""
    r, d1, d2, d3 = rate(w, z, D.frames, f)
    return times(0j, r), d1, d2, d3


@system_function("second")
def second(q, w, z, D, out):
    """Compute the second derivative g''(q) (w, z) (m,): bend . Y'z + dual . Y''(w, z) for every row."""
    S, I = D.scratch, D.interaction_arrays
    fill_internal_rate(z, w, D, out)  # internal constraints are quadratic: G'(z) w
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        dual, bend = dual_at(kind.dual), dual_at(kind.bend)
        for e in range(kind.first, kind.last if kind.rows > 0 else 0):
            entry = I.entries[e]
            numbers = I.numbers[entry.first : entry.last]
            for k in range(kind.rows):
                choose_row(k, kind.rows, S[ROWS, 0, 0])
                put_poses(q, D, entry, kind.arity, S[START])
                put_rates(q, w, D, entry, kind.arity, S[END])
                bend(S[START], S[END], numbers, S[ROWS, 0, 0], S[DUAL])
                put_rates(q, z, D, entry, kind.arity, S[END])
                value = work_of(S[DUAL], S[END], kind.arity)
                if D.frames.chart == QUATERNION:  # directors are quadratic in quaternions
                    dual(S[START], S[START], numbers, S[ROWS, 0, 0], S[DUAL])
                    for a in range(kind.arity):
                        store(bent_pose(w, z, D, entry.frames[a]), S[END], a)
                    value += work_of(S[DUAL], S[END], kind.arity)
                out[I.entries[e].row + k] = value


@system_function("curvature")
def curvature(q, w, lam, D, out):
    """Compute the gradient (n,) of lam . G(q) w with respect to q."""
    S = D.scratch
    clear(out)
    add_internal_pull(w, w, lam, D, out)
    I = D.interaction_arrays
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        dual, bend = dual_at(kind.dual), dual_at(kind.bend)
        for e in range(kind.first, kind.last if kind.rows > 0 else 0):
            entry = I.entries[e]
            numbers = I.numbers[entry.first : entry.last]
            copy_multipliers(lam, I, kind, e, S[ROWS, 0, 0])
            put_poses(q, D, entry, kind.arity, S[START])
            put_rates(q, w, D, entry, kind.arity, S[END])
            bend(S[START], S[END], numbers, S[ROWS, 0, 0], S[DUAL])
            for k in range(kind.arity):
                add_pulled(frame(S[DUAL], k), q, D.frames, entry.frames[k], 1.0, out)
            if D.frames.chart == QUATERNION:  # the pull-back itself changes along w
                dual(S[START], S[START], numbers, S[ROWS, 0, 0], S[DUAL])
                for k in range(kind.arity):
                    to = D.frames.entries[entry.frames[k]].orientation
                    if to >= 0:
                        add_quaternion_part(frame(S[DUAL], k), load_quat(w, to), to, 1.0, out)
