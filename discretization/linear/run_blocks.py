"""LU of block tridiagonal matrices of eight runs side by side (`rigid.lanes`).

Lane by lane what `discretization.linear.block_band` finds for one, to the bit.

The blocks of a run, column by column, stand in three arrays: D its own, B that below and C that to the right,

    D = L U,   B <- B U^-1,   C <- L^-1 C,   E <- E - B C                                             (1)

with E the next own one. Where a pivot of a run is below a thousandth of what stands under it, both in units of one kind as
`discretization.linear.block_band` (2) compares them, the run leaves.
"""

import numpy as np

from discretization.linear.block_band import _MOST, SIZE
from rigid.compilation.decorators import flat_kernel, inner_kernel
from rigid.lanes import WIDTH, larger, load, store, where_less

BLOCK = SIZE * SIZE
_BEYOND = float(np.nextafter(_MOST, np.inf))  # the least multiplier that is too large


@flat_kernel
def _column(x, at):
    return (
        load(x, at),
        load(x, at + WIDTH),
        load(x, at + 2 * WIDTH),
        load(x, at + 3 * WIDTH),
        load(x, at + 4 * WIDTH),
        load(x, at + 5 * WIDTH),
    )


@flat_kernel
def _put_column(c, x, at):
    store(c[0], x, at)
    store(c[1], x, at + WIDTH)
    store(c[2], x, at + 2 * WIDTH)
    store(c[3], x, at + 3 * WIDTH)
    store(c[4], x, at + 4 * WIDTH)
    store(c[5], x, at + 5 * WIDTH)


@flat_kernel
def _less(x, l, u):
    """x - l u."""
    return (
        x[0] - l[0] * u,
        x[1] - l[1] * u,
        x[2] - l[2] * u,
        x[3] - l[3] * u,
        x[4] - l[4] * u,
        x[5] - l[5] * u,
    )


@flat_kernel
def _three(x, at):
    """Sum of sizes of three numbers of a diagonal."""
    step = (SIZE + 1) * WIDTH
    return abs(load(x, at)) + abs(load(x, at + step)) + abs(load(x, at + 2 * step))


@flat_kernel
def _turning(own, at, before):
    """rho^2 of the block that begins at `at`; `before`: that of a block without diagonal."""
    places, turns = _three(own, at), _three(own, at + 3 * (SIZE + 1) * WIDTH)
    ratio = turns / where_less(0.0, places, places, 1.0)
    return where_less(0.0, places, where_less(0.0, turns, ratio, before), before)


@flat_kernel
def _largest3(x, y, z, most):
    """Of sizes."""
    return larger(larger(x, y), larger(z, most))


@flat_kernel
def _larger_square(x, factor, worst):
    """x x factor, or what was largest."""
    return larger(x * x * factor, worst)


@flat_kernel
def _eliminated(d, x, at):
    """A column less those of the multipliers in D times what stands in it."""
    x0, x1, x2, x3, x4, x5 = x
    step = SIZE * WIDTH
    x1, x2, x3 = (
        x1 - load(d, at + WIDTH) * x0,
        x2 - load(d, at + 2 * WIDTH) * x0,
        x3 - load(d, at + 3 * WIDTH) * x0,
    )
    x4, x5 = x4 - load(d, at + 4 * WIDTH) * x0, x5 - load(d, at + 5 * WIDTH) * x0
    at += step
    x2, x3 = x2 - load(d, at + 2 * WIDTH) * x1, x3 - load(d, at + 3 * WIDTH) * x1
    x4, x5 = x4 - load(d, at + 4 * WIDTH) * x1, x5 - load(d, at + 5 * WIDTH) * x1
    at += step
    x3, x4, x5 = (
        x3 - load(d, at + 3 * WIDTH) * x2,
        x4 - load(d, at + 4 * WIDTH) * x2,
        x5 - load(d, at + 5 * WIDTH) * x2,
    )
    at += step
    x4, x5 = x4 - load(d, at + 4 * WIDTH) * x3, x5 - load(d, at + 5 * WIDTH) * x3
    at += step
    x5 = x5 - load(d, at + 5 * WIDTH) * x4
    return x0, x1, x2, x3, x4, x5


@inner_kernel
def factor_runs(own, below, beside, left):
    """(1) in place of the blocks (k, 36, 8)."""
    blocks, step = own.shape[0], SIZE * WIDTH
    worst, gone = 0.0 * load(left, 0), load(left, 0)
    rho = _turning(own, 0, worst + 1.0)
    for k in range(blocks):
        d0 = k * BLOCK * WIDTH
        ahead = _turning(own, d0 + BLOCK * WIDTH, rho) if k + 1 < blocks else rho
        for j in range(SIZE):
            at = d0 + j * step
            for i in range(j):  # columns on the left
                u = load(own, at + i * WIDTH)
                first = d0 + i * step
                for row in range(i + 1, SIZE):
                    place = at + row * WIDTH
                    store(load(own, place) - load(own, first + row * WIDTH) * u, own, place)
                _put_column(_less(_column(below, at), _column(below, first), u), below, at)
            pivot = load(own, at + j * WIDTH)
            size = larger(pivot, pivot)
            gone = where_less(0.0, size, gone, 1.0)
            scale = 1.0 / where_less(0.0, size, pivot, 1.0)
            forces, moments = 0.0 * size, 0.0 * size
            for row in range(j + 1, SIZE):
                l = load(own, at + row * WIDTH) * scale
                if row < 3:
                    forces = larger(forces, l)
                else:
                    moments = larger(moments, l)
                store(l, own, at + row * WIDTH)
            of_forces = 1.0 / rho if j < 3 else 0.0 * rho + 1.0
            worst = _larger_square(moments, of_forces, _larger_square(forces, 1.0, worst))
            b = _column(below, at)
            b = b[0] * scale, b[1] * scale, b[2] * scale, b[3] * scale, b[4] * scale, b[5] * scale
            forces, moments = _largest3(b[0], b[1], b[2], 0.0 * size), _largest3(b[3], b[4], b[5], 0.0 * size)
            if j < 3:
                worst = _larger_square(forces, 1.0, worst)
                worst = _larger_square(moments, 1.0 / ahead, worst)
            else:
                worst = _larger_square(forces, rho, worst)
                worst = _larger_square(moments, rho / ahead, worst)
            _put_column(b, below, at)
        rho = ahead
        if k + 1 == blocks:
            break
        for j in range(SIZE):
            at = d0 + j * step
            c = _eliminated(own, _column(beside, at), d0)
            _put_column(c, beside, at)
            e = _column(own, at + BLOCK * WIDTH)
            e = _less(e, _column(below, d0), c[0])
            e = _less(e, _column(below, d0 + step), c[1])
            e = _less(e, _column(below, d0 + 2 * step), c[2])
            e = _less(e, _column(below, d0 + 3 * step), c[3])
            e = _less(e, _column(below, d0 + 4 * step), c[4])
            e = _less(e, _column(below, d0 + 5 * step), c[5])
            _put_column(e, own, at + BLOCK * WIDTH)
    store(where_less(worst, _BEYOND, gone, 1.0), left, 0)


@inner_kernel
def solve_runs(own, below, beside, rhs):
    """Solve in place of rhs (6 k, 8)."""
    blocks, step = own.shape[0], SIZE * WIDTH
    for k in range(blocks):
        d0, at = k * BLOCK * WIDTH, k * step
        r = _eliminated(own, _column(rhs, at), d0)
        _put_column(r, rhs, at)
        if k + 1 < blocks:
            a = _column(rhs, at + step)
            a = _less(a, _column(below, d0), r[0])
            a = _less(a, _column(below, d0 + step), r[1])
            a = _less(a, _column(below, d0 + 2 * step), r[2])
            a = _less(a, _column(below, d0 + 3 * step), r[3])
            a = _less(a, _column(below, d0 + 4 * step), r[4])
            a = _less(a, _column(below, d0 + 5 * step), r[5])
            _put_column(a, rhs, at + step)
    for k in range(blocks - 1, -1, -1):
        d0, at = k * BLOCK * WIDTH, k * step
        x0, x1, x2, x3, x4, x5 = _column(rhs, at)
        p = d0 + 5 * step
        x5 = x5 * (1.0 / load(own, p + 5 * WIDTH))
        x4, x3, x2 = (
            x4 - load(own, p + 4 * WIDTH) * x5,
            x3 - load(own, p + 3 * WIDTH) * x5,
            x2 - load(own, p + 2 * WIDTH) * x5,
        )
        x1, x0 = x1 - load(own, p + WIDTH) * x5, x0 - load(own, p) * x5
        p -= step
        x4 = x4 * (1.0 / load(own, p + 4 * WIDTH))
        x3, x2 = x3 - load(own, p + 3 * WIDTH) * x4, x2 - load(own, p + 2 * WIDTH) * x4
        x1, x0 = x1 - load(own, p + WIDTH) * x4, x0 - load(own, p) * x4
        p -= step
        x3 = x3 * (1.0 / load(own, p + 3 * WIDTH))
        x2, x1, x0 = (
            x2 - load(own, p + 2 * WIDTH) * x3,
            x1 - load(own, p + WIDTH) * x3,
            x0 - load(own, p) * x3,
        )
        p -= step
        x2 = x2 * (1.0 / load(own, p + 2 * WIDTH))
        x1, x0 = x1 - load(own, p + WIDTH) * x2, x0 - load(own, p) * x2
        p -= step
        x1 = x1 * (1.0 / load(own, p + WIDTH))
        x0 = x0 - load(own, p) * x1
        p -= step
        x0 = x0 * (1.0 / load(own, p))
        _put_column((x0, x1, x2, x3, x4, x5), rhs, at)
        if k > 0:
            p = d0 - BLOCK * WIDTH
            b = _column(rhs, at - step)
            b = _less(b, _column(beside, p + 5 * step), x5)
            b = _less(b, _column(beside, p + 4 * step), x4)
            b = _less(b, _column(beside, p + 3 * step), x3)
            b = _less(b, _column(beside, p + 2 * step), x2)
            b = _less(b, _column(beside, p + step), x1)
            b = _less(b, _column(beside, p), x0)
            _put_column(b, rhs, at - step)
