"""LU of block tridiagonal bands: blocks of six unknowns, each coupled only to its neighbours, as the frames of a rod are.

Storage and factors are those of `discretization.linear.narrow_band` without row exchanges. The six rows of a block are SIMD lanes
(`rigid.lanes`), and its columns stay in registers until they are complete. With the diagonal block D, the block B below, the
block C to the right and the next diagonal block E,

    D = L U,   B <- B U^-1,   C <- L^-1 C,   E <- E - B C                                             (1)

column by column. Rows are not exchanged: if a pivot is below a thousandth of the entries under it, the elimination ends before
that block, and the remaining columns are left to `narrow_columns`, in the storage that it expects.

The first three rows of a block are forces, the others moments. Entries are compared in one unit: with the length rho of a
block,

    rho^2 = (diagonal sum of rotations)/(diagonal sum of translations),   l_ij <- l_ij s_i/s_j,                  (2)

s = 1 for forces and 1/rho for moments, before anything is eliminated from it. Rotations are the last three unknowns of the
block, translations the first three. A block of multipliers, which has no diagonal, uses the length of the block before it. So
the decision to exchange rows does not depend on the unit of length.
"""

from rigid.compilation.decorators import always_inline_kernel, internal_kernel
from rigid.lanes import choose, lane, larger, largest, load, load6, spread_lane, store, store6

SIZE = 6
BAND = 2 * SIZE - 1  # half bandwidth of a block tridiagonal band
_MOST = 1e6  # limit of the square of a multiplier, in the units of (2)


@always_inline_kernel
def _columns(values, at, step):
    """Load six columns of a block, `step` apart, the first entry at `at`; each has two more rows than the block."""
    return (
        load(values, at),
        load(values, at + step),
        load(values, at + 2 * step),
        load(values, at + 3 * step),
        load(values, at + 4 * step),
        load(values, at + 5 * step),
    )


@always_inline_kernel
def _store_block(x, values, at, step):
    """Store columns that `_columns` loaded."""
    store(x[0], values, at)
    store(x[1], values, at + step)
    store(x[2], values, at + 2 * step)
    store(x[3], values, at + 3 * step)
    store(x[4], values, at + 4 * step)
    store(x[5], values, at + 5 * step)


@always_inline_kernel
def _rows(x):
    """Return the six rows of a column; the two lanes behind them are set to 0."""
    return choose(x, 0.0, 0, SIZE)


@always_inline_kernel
def _divided(d, b, j):
    """Divide column j by its pivot.

    Returns the multipliers in the diagonal block alone, the column with the multipliers in place, and the multipliers below.
    """
    pivot = lane(d, j)
    scale = 1.0 / pivot if pivot != 0.0 else 0.0  # `block_factor` detects a zero pivot
    x = d * scale
    return choose(x, 0.0, j + 1, SIZE), choose(x, d, j + 1, SIZE), b * scale


@always_inline_kernel
def _less(d, b, j, l, m):
    """Subtract row j times the multipliers l in the diagonal block and m below from a column to the right."""
    u = spread_lane(d, j)
    return d - l * u, b - m * u


@always_inline_kernel
def _all_less(c, e, j, l, m):
    """Subtract row j times the multipliers l in the diagonal block and m below from all six columns of the next block."""
    c0, e0 = _beyond(c[0], e[0], j, l, m)
    c1, e1 = _beyond(c[1], e[1], j, l, m)
    c2, e2 = _beyond(c[2], e[2], j, l, m)
    c3, e3 = _beyond(c[3], e[3], j, l, m)
    c4, e4 = _beyond(c[4], e[4], j, l, m)
    c5, e5 = _beyond(c[5], e[5], j, l, m)
    return (c0, c1, c2, c3, c4, c5), (e0, e1, e2, e3, e4, e5)


@always_inline_kernel
def _beyond(c, e, j, l, m):
    """Subtract row j times the multipliers from one column of C and of E."""
    u = spread_lane(c, j)
    return c - l * u, e - m * u


@always_inline_kernel
def _smallest_pivot(d0, d1, d2, d3, d4, d5):
    """Return the size of the smallest pivot, or NaN if a pivot is NaN."""
    smallest = abs(lane(d0, 0))
    smallest = smallest if smallest <= abs(lane(d1, 1)) else abs(lane(d1, 1))
    smallest = smallest if smallest <= abs(lane(d2, 2)) else abs(lane(d2, 2))
    smallest = smallest if smallest <= abs(lane(d3, 3)) else abs(lane(d3, 3))
    smallest = smallest if smallest <= abs(lane(d4, 4)) else abs(lane(d4, 4))
    return smallest if smallest <= abs(lane(d5, 5)) else abs(lane(d5, 5))


@always_inline_kernel
def _rotation_scale(values, at, step, before):
    """Return rho^2 of (2) of the block whose diagonal begins at `at`, `step` from one entry to the next.

    `before`: result for a block without a diagonal.
    """
    translations = abs(values[at]) + abs(values[at + step]) + abs(values[at + 2 * step])
    rotations = abs(values[at + 3 * step]) + abs(values[at + 4 * step]) + abs(values[at + 5 * step])
    return rotations / translations if translations > 0.0 and rotations > 0.0 else before


@always_inline_kernel
def _most_of(x0, x1, x2, forces, moments):
    """Return the largest square of three columns of multipliers, with force and moment rows weighted by these numbers."""
    x = larger(larger(x0, x1), x2)
    return largest(x * x * choose(forces, moments, 0, 3))


@internal_kernel
def block_factor(values, size, band, start, blocks, filled, pivots, first):
    """Eliminate up to `blocks` blocks from column `start` on; return how many are eliminated.

    If they are not all, `narrow_columns` continues.

    values: storage of `narrow_columns`, with a block of slack behind; filled: the last column that rows above reach; pivots,
    first (size,) int32 receive its results. No row of a block may reach beyond the next six columns, none above beyond the
    first block, and behind the last one there must be at least six columns, or none.
    """
    step = 3 * band
    block, origin = SIZE * (step + 1), start * (step + 1) + 2 * band
    d, rho = _columns(values, origin, step), _rotation_scale(values, origin, step + 1, 1.0)
    for k in range(blocks):
        at, column = origin + k * block, start + SIZE * k
        last = column + SIZE >= size
        for i in range(column, column + SIZE):
            pivots[i] = 0
            if i > filled:
                first[i] = column - SIZE if k > 0 else column
        below = _columns(values, at + SIZE, step)
        b0, b1, b2 = _rows(below[0]), _rows(below[1]), _rows(below[2])
        b3, b4, b5 = _rows(below[3]), _rows(below[4]), _rows(below[5])
        c, e = _columns(values, at + SIZE * step, step), _columns(values, at + block, step)
        ahead = rho if last else _rotation_scale(values, at + block, step + 1, rho)
        d0, d1, d2, d3, d4, d5 = d
        l0, d0, b0 = _divided(d0, b0, 0)
        d1, b1 = _less(d1, b1, 0, l0, b0)
        d2, b2 = _less(d2, b2, 0, l0, b0)
        d3, b3 = _less(d3, b3, 0, l0, b0)
        d4, b4 = _less(d4, b4, 0, l0, b0)
        d5, b5 = _less(d5, b5, 0, l0, b0)
        c, e = _all_less(c, e, 0, l0, b0)
        l1, d1, b1 = _divided(d1, b1, 1)
        d2, b2 = _less(d2, b2, 1, l1, b1)
        d3, b3 = _less(d3, b3, 1, l1, b1)
        d4, b4 = _less(d4, b4, 1, l1, b1)
        d5, b5 = _less(d5, b5, 1, l1, b1)
        c, e = _all_less(c, e, 1, l1, b1)
        l2, d2, b2 = _divided(d2, b2, 2)
        d3, b3 = _less(d3, b3, 2, l2, b2)
        d4, b4 = _less(d4, b4, 2, l2, b2)
        d5, b5 = _less(d5, b5, 2, l2, b2)
        c, e = _all_less(c, e, 2, l2, b2)
        l3, d3, b3 = _divided(d3, b3, 3)
        d4, b4 = _less(d4, b4, 3, l3, b3)
        d5, b5 = _less(d5, b5, 3, l3, b3)
        c, e = _all_less(c, e, 3, l3, b3)
        l4, d4, b4 = _divided(d4, b4, 4)
        d5, b5 = _less(d5, b5, 4, l4, b4)
        c, e = _all_less(c, e, 4, l4, b4)
        l5, d5, b5 = _divided(d5, b5, 5)
        c, e = _all_less(c, e, 5, l5, b5)
        worst = max(_most_of(l0, l1, l2, 1.0, 1.0 / rho), _most_of(l3, l4, l5, 1.0, 1.0))
        worst = max(worst, _most_of(b0, b1, b2, 1.0, 1.0 / ahead), _most_of(b3, b4, b5, rho, rho / ahead))
        if not (_smallest_pivot(d0, d1, d2, d3, d4, d5) > 0.0 and worst <= _MOST):
            _store_block(d, values, at, step)
            return k
        _store_block((d0, d1, d2, d3, d4, d5), values, at, step)
        _store_block((b0, b1, b2, b3, b4, b5), values, at + SIZE, step)
        if not last:
            _store_block(c, values, at + SIZE * step, step)
        rho = ahead
        d = e  # the last two rows of C overwrite the first two of E in the storage: those are in `e`
    behind = start + SIZE * blocks
    if behind < size:
        _store_block(d, values, origin + blocks * block, step)
        for i in range(max(behind, filled + 1), behind + SIZE):
            first[i] = behind - SIZE
    return blocks


@always_inline_kernel
def _forth(r, ahead, d, b, j):
    """Subtract row j times its multipliers from the right-hand sides of a block and of the next one."""
    x = spread_lane(r, j)
    return r - choose(d, 0.0, j + 1, SIZE) * x, ahead - b * x


@always_inline_kernel
def _back(r, behind, d, c, j):
    """Compute unknown j of a block and subtract its contribution from the rows above it, here and in the block before."""
    x = spread_lane(r, j) * (1.0 / lane(d, j))
    return choose(x, r - choose(d, 0.0, 0, j) * x, j, j + 1), behind - c * x


@internal_kernel
def block_forward(values, size, band, start, blocks, rhs):
    """Compute rhs (size,) <- L^-1 rhs in the rows of `blocks` blocks from `start` on, and update the six rows behind them.

    values, size, band: as of `block_factor`, which eliminated these blocks.
    """
    step = 3 * band
    block, origin = SIZE * (step + 1), start * (step + 1) + 2 * band
    r = load6(rhs, start)
    for k in range(blocks):
        at, row = origin + k * block, start + SIZE * k
        last = row + SIZE >= size
        ahead = r if last else load6(rhs, row + SIZE)
        d, b = _columns(values, at, step), _columns(values, at + SIZE, step)
        r, ahead = _forth(r, ahead, d[0], b[0], 0)
        r, ahead = _forth(r, ahead, d[1], b[1], 1)
        r, ahead = _forth(r, ahead, d[2], b[2], 2)
        r, ahead = _forth(r, ahead, d[3], b[3], 3)
        r, ahead = _forth(r, ahead, d[4], b[4], 4)
        r, ahead = _forth(r, ahead, d[5], b[5], 5)
        store6(r, rhs, row)
        if not last:
            r = ahead
    if start + SIZE * blocks < size:
        store6(r, rhs, start + SIZE * blocks)


@internal_kernel
def block_backward(values, band, start, blocks, rhs):
    """Compute rhs (size,) <- U^-1 rhs in the rows of `blocks` blocks from `start` on, and update the six rows before them.

    Unknowns behind these blocks must be solved and subtracted from their rows already.
    """
    step = 3 * band
    block, origin = SIZE * (step + 1), start * (step + 1) + 2 * band
    row = start + SIZE * (blocks - 1)
    r = load6(rhs, row)
    for k in range(blocks - 1, -1, -1):
        at = origin + k * block
        behind = load6(rhs, max(row - SIZE, 0))
        d, c = _columns(values, at, step), _columns(values, at - SIZE, step)
        r, behind = _back(r, behind, d[5], c[5], 5)
        r, behind = _back(r, behind, d[4], c[4], 4)
        r, behind = _back(r, behind, d[3], c[3], 3)
        r, behind = _back(r, behind, d[2], c[2], 2)
        r, behind = _back(r, behind, d[1], c[1], 1)
        r, behind = _back(r, behind, d[0], c[0], 0)
        store6(r, rhs, row)
        r, row = behind, row - SIZE
    if row >= 0:
        store6(r, rhs, row)
