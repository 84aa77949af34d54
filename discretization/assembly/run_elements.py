"""SE(3) elements of eight runs side by side (`discretization.assembly.run_lanes`): forces and tangent of a step."""

from __future__ import annotations

from discretization.assembly.element_lanes import (
    COUPLING,
    E0,
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
from discretization.assembly.run_lanes import (
    BLOCK,
    add3_at,
    add_part,
    load3_at,
    load4_at,
    load9_at,
    store3_at,
    store9_at,
)
from discretization.assembly.stress_rounding import stress_rounding
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
from rigid.lanes import WIDTH, load, store, where_less
from rigid.linear_algebra import minus, plus, plus_identity, times


@flat_kernel
def _put_part(block, at, row, column, factor, A):
    """The same of one where nothing is yet, which is added to zero."""
    k = at + SIZE * column + row
    store3_at((0.0 + factor * A[0], 0.0 + factor * A[3], 0.0 + factor * A[6]), block, k)
    store3_at((0.0 + factor * A[1], 0.0 + factor * A[4], 0.0 + factor * A[7]), block, k + SIZE)
    store3_at((0.0 + factor * A[2], 0.0 + factor * A[5], 0.0 + factor * A[8]), block, k + 2 * SIZE)


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
    force, moment = stress_rounding(load4_at(own.scale, 4 * m), L, h)
    for f in own.frames[m]:
        if own.block[f] >= 0:
            add3_at((force, force, force), own.noise, own.place[f])
            add3_at((moment, moment, moment), own.noise, own.place[f] + 3)


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
            found = _at_end(own, m)
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
def put_end_strains_of_runs(own):
    """As of `discretization.assembly.element_lanes`."""
    count, start = own.frames.shape[0], own.start
    for group in range(own.diagonal.shape[0]):
        first, end = group * WIDTH, min((group + 1) * WIDTH, count)
        most = 0.0 * load(own.gravity, 0)
        for m in range(first, end):
            u = _at_end(own, m)[3]
            most = where_less(most, u, u, most)
        store(most, own.most, 0)
        found = terms_of_runs(own.most, own.terms)
        for k in range(first, end):
            m = own.order[k]
            y1, k1, s1, u, _ = _at_end(own, m)
            L = load(start, (m * START + LENGTH) * WIDTH)
            functions = functions_of_runs(u, u, own.most, own.terms, found)
            Gamma, K = strains_of(y1, k1, s1, u, functions[0], functions[5], L)
            store3_at(Gamma, own.strain1, m * 6)
            store3_at(K, own.strain1, m * 6 + 3)


@inner_kernel
def _at_end(own, m):
    """`invariants`."""
    (A, B, qa, qb, e), _ = _poses(own, m)
    return invariants(A, B, qa, qb, e, load(own.start, (m * START + LENGTH) * WIDTH))


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
