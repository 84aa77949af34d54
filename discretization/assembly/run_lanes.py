"""Eight runs of a model side by side: what a step of `em` makes of frames and SE(3) elements, lane by lane a run (`rigid.lanes`).

Each run has the bits that it has alone, where elements are eight at a time (`discretization.assembly.element_lanes`): what is
added up is added in the same order, and the strain functions take as many terms as the largest angle asks for of the eight
elements that would stand together. A run in which something unusual happens leaves the others: it is to take the step alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.element_lanes import (
    COUPLING,
    E0,
    EPS,
    HALF0,
    K0,
    LENGTH,
    POSITION0,
    RATE0,
    S0,
    START,
    STRESS0,
    U0,
    Y0,
    C,
)
from discretization.linear.block_band import SIZE
from discretization.space.se3_element import (
    AtStart,
    forces_between,
    invariants,
    linear_part,
    strains_of,
    tangent_over_step,
    with_damping,
)
from discretization.space.strain_functions import functions_of_runs, terms_of_runs
from rigid.compilation.decorators import flat_kernel, inner_kernel
from rigid.kinematics.rotations import cayley_turn, inverse_tangent, rotation_matrix
from rigid.lanes import WIDTH, load, root, store, where_less
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    dot,
    hat,
    matrix_minus,
    matrix_times,
    minus,
    plus,
    plus_identity,
    product,
    times,
    trace,
    transposed_product,
)
from rigid.references import by_reference
from rigid.system import Floats, Ints

BLOCK = SIZE * SIZE


class Joints(NamedTuple):
    """Constraints, as of `rigid.system.Constraints` and `discretization.assembly.workspace.ConstraintFacts`."""

    closed: Ints  # (c,) in the order in which they are taken
    kind: Ints  # (c,)
    frames: Ints  # (c, 2)
    rows: Ints  # (c,)
    row: Ints  # (c,)
    lam: Ints  # (c,)
    Xa: Floats  # (c, 3, 8)
    Xb: Floats
    Ua: Floats
    Ub: Floats
    value: Floats  # (c, 8)
    lightest: Floats
    reach: Floats
    arm: Floats
    size: Floats
    scale: Floats  # (c, 8)
    before: Floats  # (m, 8) as of `State.lam`
    impulse: Floats  # (m, 8) scaled


class LoadsOfRuns(NamedTuple):
    """As of `rigid.system.Loads`."""

    kind: Ints
    frame: Ints
    following: Any
    X: Floats  # (l, 3, 8)
    value: Floats  # (l, 3, 8)


@by_reference
class Lanes(NamedTuple):
    """Numbers of eight runs; the last axis counts these."""

    block: Ints  # (n,) of a frame in the band, -1: fixed
    place: Ints  # (n,) first unknown of a frame
    frames: Ints  # (m, 2) of elements
    order: Ints  # (m,) of elements in which they are taken, group by group
    diagonal: Any  # (groups,) bool
    couples: bool
    mass: Floats  # (n, 8)
    inertia: Floats  # (n, 9, 8)
    length: Floats  # (m, 8)
    stiffness: Floats  # (m, 36, 8)
    damping: Floats  # (m, 36, 8)
    strain0: Floats  # (m, 6, 8)
    coupling: Floats  # (m, 8)
    scale: Floats  # (m, 2, 8) largest stiffness of force and of moment
    viscous: bool
    gravity: Floats  # (3, 8)
    r0: Floats  # (n, 3, 8)
    q0: Floats  # (n, 4, 8)
    v0: Floats  # (n, 3, 8)
    Omega0: Floats  # (n, 3, 8)
    rate: Floats  # (n, 6, 8) accelerations of the last step
    R0: Floats  # (n, 9, 8)
    dr: Floats  # (n, 3, 8)
    psi: Floats  # (n, 3, 8)
    r1: Floats  # (n, 3, 8)
    q1: Floats  # (n, 4, 8)
    R1: Floats  # (n, 9, 8)
    start: Floats  # (m, START, 8) as of `ElementLanes`
    strain1: Floats  # (m, 6, 8)
    residual: Floats  # (N + 6, 8)
    noise: Floats  # (N + 6, 8)
    rhs: Floats  # (N + 6, 8)
    last: Floats  # (N + 6, 8) last corrections
    size: int  # N
    matrix: Floats  # (3, blocks, 36, 8): the three next ones
    own: Floats  # (blocks, 36, 8) diagonal blocks, column by column
    below: Floats  # (blocks, 36, 8)
    beside: Floats  # (blocks, 36, 8)
    most: Floats  # (8,) of a group of elements the largest u
    terms: Floats  # (8,) scratch
    extent: Floats  # (8,) m
    totals: Floats  # (2, 8)
    cleared: Ints  # (k,) first entries of blocks of the matrix that are added to
    joints: Joints
    loads: LoadsOfRuns
    left: Floats  # (8,) 1: the run goes on alone
    level: Floats  # (8,) residual/noise
    before: Floats  # (8,) the same before the last correction
    takes: Floats  # (8,) 1: takes the correction
    at: Ints  # (8,) what a run is at
    looked: Ints  # (8,) 1: its residual is looked at
    iteration: Ints  # (8,)
    fresh: Ints  # (8,) 1: the last correction was by factors of its own
    factored: Ints  # (8,) how many there were


@flat_kernel
def load3_at(x, k):
    """Vector from place k on."""
    at = k * WIDTH
    return load(x, at), load(x, at + WIDTH), load(x, at + 2 * WIDTH)


@flat_kernel
def load4_at(x, k):
    """Quaternion from place k on."""
    at = k * WIDTH
    return load(x, at), load(x, at + WIDTH), load(x, at + 2 * WIDTH), load(x, at + 3 * WIDTH)


@flat_kernel
def load9_at(x, k):
    """Matrix from place k on."""
    a, b, c = load3_at(x, k), load3_at(x, k + 3), load3_at(x, k + 6)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@flat_kernel
def store3_at(v, x, k):
    """Vector to place k and on."""
    at = k * WIDTH
    store(v[0], x, at)
    store(v[1], x, at + WIDTH)
    store(v[2], x, at + 2 * WIDTH)


@flat_kernel
def store9_at(A, x, k):
    """Matrix to place k and on."""
    store3_at((A[0], A[1], A[2]), x, k)
    store3_at((A[3], A[4], A[5]), x, k + 3)
    store3_at((A[6], A[7], A[8]), x, k + 6)


@flat_kernel
def add3_at(v, x, k):
    """x[k:] += v."""
    store3_at(plus(load3_at(x, k), v), x, k)


@flat_kernel
def add_part(block, at, row, column, factor, A):
    """3 x 3 part of a block that begins at this place."""
    k = at + SIZE * column + row
    add3_at((factor * A[0], factor * A[3], factor * A[6]), block, k)
    add3_at((factor * A[1], factor * A[4], factor * A[7]), block, k + SIZE)
    add3_at((factor * A[2], factor * A[5], factor * A[8]), block, k + 2 * SIZE)


@flat_kernel
def _put_part(block, at, row, column, factor, A):
    """The same of one where nothing is yet, which is added to zero."""
    k = at + SIZE * column + row
    store3_at((0.0 + factor * A[0], 0.0 + factor * A[3], 0.0 + factor * A[6]), block, k)
    store3_at((0.0 + factor * A[1], 0.0 + factor * A[4], 0.0 + factor * A[7]), block, k + SIZE)
    store3_at((0.0 + factor * A[2], 0.0 + factor * A[5], 0.0 + factor * A[8]), block, k + 2 * SIZE)


@inner_kernel
def begin_frames(own, h):
    """Rotations, noise levels and extents of runs, and their predictions."""
    gravity = load3_at(own.gravity, 0)
    weight = root(dot(gravity, gravity))
    extent = 0.0 * weight
    for i in range(own.noise.shape[0]):
        store(0.0 * weight, own.noise, i * WIDTH)
    for f in range(own.block.shape[0]):
        R0, r, v, Omega = (
            rotation_matrix(load4_at(own.q0, 4 * f)),
            load3_at(own.r0, 3 * f),
            load3_at(own.v0, 3 * f),
            load3_at(own.Omega0, 3 * f),
        )
        store9_at(R0, own.R0, 9 * f)
        far = root(dot(r, r))
        extent = where_less(extent, far, far, extent)
        if own.block[f] < 0:
            continue
        at, mass, J = own.place[f], load(own.mass, f * WIDTH), load9_at(own.inertia, 9 * f)
        spin = apply(J, Omega)
        force = EPS * mass * (4.0 * root(dot(v, v)) + abs(h) * weight)
        moment = 2.0 * EPS * root(dot(spin, spin)) + force * root(trace(J) / mass)
        store3_at((force, force, force), own.noise, at)
        store3_at((moment, moment, moment), own.noise, at + 3)
        turn = times(h, plus(apply(R0, Omega), times(0.5 * h, load3_at(own.rate, 6 * f + 3))))
        store(root(dot(turn, turn)), own.terms, 0)
        for run in range(WIDTH):
            angle = own.terms[run]
            # a turn by that angle has the Cayley vector of length 2 tan(angle/2)
            own.terms[run] = 2.0 * np.tan(0.5 * angle) / angle if 1e-8 < angle < 3.0 else 1.0
        store3_at(times(h, plus(v, times(0.5 * h, load3_at(own.rate, 6 * f)))), own.dr, 3 * f)
        store3_at(times(load(own.terms, 0), turn), own.psi, 3 * f)
    store(extent, own.extent, 0)


@flat_kernel
def _corner(x, k):
    """3 x 3 block of a matrix (6, 6) with its first number at place k."""
    a, b, c = load3_at(x, k), load3_at(x, k + 6), load3_at(x, k + 12)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@flat_kernel
def _corners(x, m):
    """Blocks of matrix m."""
    k = 36 * m
    return _corner(x, k), _corner(x, k + 3), _corner(x, k + 18), _corner(x, k + 21)


@inner_kernel
def begin_elements_of_runs(own, h):
    """As of `discretization.assembly.element_lanes`."""
    count, start = own.frames.shape[0], own.start
    for group in range(own.diagonal.shape[0]):
        first, end = group * WIDTH, min((group + 1) * WIDTH, count)
        most = 0.0 * load(own.gravity, 0)
        for m in range(first, end):
            a, b, s = own.frames[m, 0], own.frames[m, 1], m * START
            A, B = load9_at(own.R0, 9 * a), load9_at(own.R0, 9 * b)
            e = minus(load3_at(own.r0, 3 * b), load3_at(own.r0, 3 * a))
            L = load(own.length, m * WIDTH)
            y, k, along, u, half = invariants(A, B, load4_at(own.q0, 4 * a), load4_at(own.q0, 4 * b), e, L)
            most = where_less(most, u, u, most)
            store3_at(y, start, s + Y0)
            store3_at(k, start, s + K0)
            store(along, start, (s + S0) * WIDTH)
            store(u, start, (s + U0) * WIDTH)
            store(half, start, (s + HALF0) * WIDTH)
            store3_at(e, start, s + POSITION0)
            store(L, start, (s + LENGTH) * WIDTH)
            if own.couples:
                store(2.0 / h * load(own.coupling, m * WIDTH), start, (s + COUPLING) * WIDTH)
                store3_at(minus(load3_at(own.v0, 3 * b), load3_at(own.v0, 3 * a)), start, s + RATE0)
        store(most, own.most, 0)
        found = terms_of_runs(own.most, own.terms)
        for k in range(first, end):
            _begin_element(own, own.order[k], own.diagonal[group], found, h)


@inner_kernel
def _begin_element(own, m, diagonal, series, h):
    start, s = own.start, m * START
    u, L = load(start, (s + U0) * WIDTH), load(own.length, m * WIDTH)
    functions = functions_of_runs(u, u, own.most, own.terms, series)
    Gamma, K = strains_of(
        load3_at(start, s + Y0),
        load3_at(start, s + K0),
        load(start, (s + S0) * WIDTH),
        u,
        functions[0],
        functions[5],
        L,
    )
    strain0 = load3_at(own.strain0, 6 * m), load3_at(own.strain0, 6 * m + 3)
    w_N, w_M, C0 = linear_part((Gamma, K), strain0, _corners(own.stiffness, m))
    if own.viscous:
        w_N, w_M, C0 = with_damping((w_N, w_M, C0), (Gamma, K), _corners(own.damping, m), h)
    store3_at(w_N, start, s + STRESS0)
    store3_at(w_M, start, s + STRESS0 + 3)
    store3_at(Gamma, start, s + E0)
    store3_at(K, start, s + E0 + 3)
    store9_at(C0[0], start, s + C)
    store9_at(C0[3], start, s + C + 27)
    if not diagonal:
        store9_at(C0[1], start, s + C + 9)
        store9_at(C0[2], start, s + C + 18)
    force = EPS * abs(h) * load(own.scale, 2 * m * WIDTH)
    moment = force * L + EPS * abs(h) * load(own.scale, (2 * m + 1) * WIDTH) / L
    for f in own.frames[m]:
        if own.block[f] >= 0:
            add3_at((force, force, force), own.noise, own.place[f])
            add3_at((moment, moment, moment), own.noise, own.place[f] + 3)


@flat_kernel
def commit_at(left, x, of, k):
    """of[k] = x of the runs that have not left."""
    store(where_less(left, 0.5, x, load(of, k * WIDTH)), of, k * WIDTH)


@flat_kernel
def _commit3(left, v, x, k):
    commit_at(left, v[0], x, k)
    commit_at(left, v[1], x, k + 1)
    commit_at(left, v[2], x, k + 2)


@inner_kernel
def commit_runs(own, h):
    """As of `discretization.time.em`, of the runs that go along; the others stay where they are."""
    left = load(own.left, 0)
    for f in range(own.block.shape[0]):
        if own.block[f] < 0:
            continue
        at, R0, psi = own.place[f], load9_at(own.R0, 9 * f), load3_at(own.psi, 3 * f)
        more, turn = load3_at(own.last, at), apply(inverse_tangent(psi), load3_at(own.last, at + 3))
        rate, spin = times(1.0 / h, load3_at(own.dr, 3 * f)), times(1.0 / h, apply_transposed(R0, psi))
        faster, quicker = more, apply_transposed(R0, turn)
        v0, Omega0 = load3_at(own.v0, 3 * f), load3_at(own.Omega0, 3 * f)
        dv = times(2.0, plus(minus(rate, v0), times(1.0 / h, faster)))
        dOmega = times(2.0, plus(minus(spin, Omega0), times(1.0 / h, quicker)))
        turned = plus(apply(R0, dOmega), apply(load9_at(own.R1, 9 * f), dOmega))
        r1 = plus(load3_at(own.r0, 3 * f), plus(load3_at(own.dr, 3 * f), more))
        q1 = cayley_turn(plus(psi, turn), load4_at(own.q0, 4 * f))
        _commit3(left, times(1.0 / h, dv), own.rate, 6 * f)
        _commit3(left, times(0.5 / h, turned), own.rate, 6 * f + 3)
        _commit3(left, plus(v0, dv), own.v0, 3 * f)
        _commit3(left, plus(Omega0, dOmega), own.Omega0, 3 * f)
        _commit3(left, r1, own.r0, 3 * f)
        _commit3(left, (q1[0], q1[1], q1[2]), own.q0, 4 * f)
        commit_at(left, q1[3], own.q0, 4 * f + 3)


@flat_kernel
def _store4_at(q, x, k):
    at = k * WIDTH
    store(q[0], x, at)
    store(q[1], x, at + WIDTH)
    store(q[2], x, at + 2 * WIDTH)
    store(q[3], x, at + 3 * WIDTH)


@inner_kernel
def move_runs(own):
    """r1, q1, R1 of the increments."""
    for f in range(own.block.shape[0]):
        store3_at(plus(load3_at(own.r0, 3 * f), load3_at(own.dr, 3 * f)), own.r1, 3 * f)
        q = cayley_turn(load3_at(own.psi, 3 * f), load4_at(own.q0, 4 * f))
        _store4_at(q, own.q1, 4 * f)
        store9_at(rotation_matrix(q), own.R1, 9 * f)


@inner_kernel
def clear_runs(own, tangent):
    """Residual and, on demand, matrix."""
    none = 0.0 * load(own.gravity, 0)
    for i in range(own.residual.shape[0]):
        store(none, own.residual, i * WIDTH)
    if tangent:
        for k in range(own.cleared.shape[0]):
            for i in range(own.cleared[k], own.cleared[k] + BLOCK):
                store(none, own.matrix, i * WIDTH)


@inner_kernel
def inertia_of_runs(own, h, tangent):
    """As of `discretization.assembly.step_equations`."""
    gravity = load3_at(own.gravity, 0)
    for f in range(own.block.shape[0]):
        if own.block[f] < 0:
            continue
        at, mass, J = own.place[f], load(own.mass, f * WIDTH), load9_at(own.inertia, 9 * f)
        R0, R1, psi = load9_at(own.R0, 9 * f), load9_at(own.R1, 9 * f), load3_at(own.psi, 3 * f)
        Omega0 = load3_at(own.Omega0, 3 * f)
        Omega1 = minus(times(2.0 / h, apply_transposed(R0, psi)), Omega0)
        L1 = apply(R1, apply(J, Omega1))
        momentum = minus(times(1.0 / h, load3_at(own.dr, 3 * f)), load3_at(own.v0, 3 * f))
        add3_at(minus(times(2.0 * mass, momentum), times(h * mass, gravity)), own.residual, at)
        add3_at(minus(L1, apply(R0, apply(J, Omega0))), own.residual, at + 3)
        if tangent:
            base = own.block[f] * BLOCK
            for j in range(3):
                place = (base + j + j * SIZE) * WIDTH
                store(load(own.own, place) + 2.0 * mass / h, own.own, place)
            K = product(product(R1, J), transposed_product(R0, inverse_tangent(psi)))
            add_part(own.own, base, 3, 3, 1.0, matrix_minus(matrix_times(2.0 / h, K), hat(L1)))


@flat_kernel
def _blocks_of(start, s, diagonal):
    """dw/d(strains at the end)."""
    NN, MM = load9_at(start, s + C), load9_at(start, s + C + 27)
    if diagonal:
        none = 0.0 * NN[0]
        nothing = none, none, none, none, none, none, none, none, none
        return NN, nothing, nothing, MM
    return NN, load9_at(start, s + C + 9), load9_at(start, s + C + 18), MM


@flat_kernel
def _poses(own, m):
    """A, B, quaternions and e of element m at the end of the step, and how e changed."""
    a, b = own.frames[m, 0], own.frames[m, 1]
    moved = minus(load3_at(own.dr, 3 * b), load3_at(own.dr, 3 * a))
    e1 = plus(load3_at(own.start, m * START + POSITION0), moved)
    return (
        load9_at(own.R1, 9 * a),
        load9_at(own.R1, 9 * b),
        load4_at(own.q1, 4 * a),
        load4_at(own.q1, 4 * b),
        e1,
    ), moved


@inner_kernel
def elements_of_runs(own, h, tangent):
    """Residual and, on demand, matrix; runs in which the relative rotation of two frames passed pi leave."""
    count, start = own.frames.shape[0], own.start
    for group in range(own.diagonal.shape[0]):
        first, end = group * WIDTH, min((group + 1) * WIDTH, count)
        most = 0.0 * load(own.gravity, 0)
        for m in range(first, end):
            poses1, _ = _poses(own, m)
            found = invariants(
                poses1[0],
                poses1[1],
                poses1[2],
                poses1[3],
                poses1[4],
                load(start, (m * START + LENGTH) * WIDTH),
            )
            u0 = load(start, (m * START + U0) * WIDTH)
            most = where_less(most, u0, u0, most)
            most = where_less(most, found[3], found[3], most)
        store(most, own.most, 0)
        found = terms_of_runs(own.most, own.terms)
        for k in range(first, end):
            if tangent:
                _element(own, own.order[k], own.diagonal[group], found, h, True)
            else:
                _element(own, own.order[k], own.diagonal[group], found, h, None)


@inner_kernel
def _element(own, m, diagonal, series, h, tangent):
    start, s = own.start, m * START
    a, b = own.frames[m, 0], own.frames[m, 1]
    poses1, moved = _poses(own, m)
    poses0 = load9_at(own.R0, 9 * a), load9_at(own.R0, 9 * b), load3_at(start, s + POSITION0)
    half0, L = load(start, (s + HALF0) * WIDTH), load(start, (s + LENGTH) * WIDTH)
    at_start = AtStart(
        load3_at(start, s + Y0),
        load3_at(start, s + K0),
        load(start, (s + S0) * WIDTH),
        load(start, (s + U0) * WIDTH),
        half0,
        load3_at(start, s + STRESS0),
        load3_at(start, s + STRESS0 + 3),
    )
    stiffness = _blocks_of(start, s, diagonal)
    at_end = invariants(poses1[0], poses1[1], poses1[2], poses1[3], poses1[4], L)
    functions = functions_of_runs(at_start.u, at_end[3], own.most, own.terms, series)
    half1, strains1, forces, found = forces_between(
        poses0, poses1, at_start, at_end, functions, L, stiffness, diagonal
    )
    store(where_less(0.0, half0 * half1, load(own.left, 0), 1.0), own.left, 0)
    store3_at(strains1[0], own.strain1, m * 6)
    store3_at(strains1[1], own.strain1, m * 6 + 3)
    n, torque_a, torque_b = forces
    if own.couples:
        rate = minus(times(1.0 / h, moved), load3_at(start, s + RATE0))
        n = minus(n, times(load(start, (s + COUPLING) * WIDTH), rate))
    at, bt = own.place[a], own.place[b]
    add3_at((-h * n[0], -h * n[1], -h * n[2]), own.residual, at)
    add3_at((h * torque_a[0], h * torque_a[1], h * torque_a[2]), own.residual, at + 3)
    add3_at((h * n[0], h * n[1], h * n[2]), own.residual, bt)
    add3_at((h * torque_b[0], h * torque_b[1], h * torque_b[2]), own.residual, bt + 3)
    if tangent is None:
        return
    ne, na, nb, te, ta, tb, ue, ua, ub = tangent_over_step(poses1, found, L, stiffness, diagonal)
    if own.couples:
        ne = plus_identity(ne, load(start, (s + COUPLING) * WIDTH) * (-1.0 / h))
    i, j = own.block[a], own.block[b]
    if i >= 0:
        at = i * BLOCK
        add_part(own.own, at, 0, 0, h, ne)
        add_part(own.own, at, 3, 0, -h, te)
        add_part(own.own, at, 0, 3, -h, na)
        add_part(own.own, at, 3, 3, h, ta)
    if j >= 0:
        at = j * BLOCK
        add_part(own.own, at, 0, 0, h, ne)
        add_part(own.own, at, 3, 0, h, ue)
        add_part(own.own, at, 0, 3, h, nb)
        add_part(own.own, at, 3, 3, h, ub)
    if i >= 0 and j >= 0:
        first = min(i, j) * BLOCK
        ab, ba = (own.beside, own.below) if i < j else (own.below, own.beside)
        _put_part(ba, first, 0, 0, -h, ne)
        _put_part(ba, first, 3, 0, -h, ue)
        _put_part(ba, first, 0, 3, h, na)
        _put_part(ba, first, 3, 3, h, ua)
        _put_part(ab, first, 0, 0, -h, ne)
        _put_part(ab, first, 3, 0, h, te)
        _put_part(ab, first, 0, 3, -h, nb)
        _put_part(ab, first, 3, 3, h, tb)
