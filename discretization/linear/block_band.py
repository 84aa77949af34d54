"""LU of block tridiagonal bands: blocks of six unknowns, each coupled to its neighbours alone, as the frames of a rod are.

The storage and the factors are those of `discretization.linear.narrow` where no row is exchanged. The six rows of a block are
lanes (`rigid.lanes`), and its columns stay in registers until all is done with them: with D, B, C and E its own block, that
below, that to the right and the next one,

    D = L U,   B <- B U^-1,   C <- L^-1 C,   E <- E - B C                                             (1)

column by column. Rows are not exchanged: where a pivot is below a thousandth of what stands under it, the elimination ends
before that block, and what is left is for `narrow_columns`, which finds everything where it expects it.

The first three rows of a block are forces, the others moments. What is compared is of one unit: with the length rho of a block,

    rho^2 = (sum of the diagonal of turns)/(sum of that of places),   l_ij <- l_ij s_i/s_j,                  (2)

s = 1 for forces and 1/rho for moments, before anything is eliminated from it; a block without diagonal, of multipliers, takes
the length of the block before it. So whether rows are exchanged does not hang on the unit of lengths.
"""

from rigid.compilation.decorators import flat_kernel, inner_kernel
from rigid.lanes import choose, lane, larger, largest, load, load6, spread_lane, store, store6

SIZE = 6
BAND = 2 * SIZE - 1  # half bandwidth of a band of blocks alone
_MOST = 1e6  # of a multiplier (2), squared


@flat_kernel
def _columns(values, at, step):
    """Six columns of a block, `step` apart, the first row of the first one at `at`; two more rows than it has."""
    return (
        load(values, at),
        load(values, at + step),
        load(values, at + 2 * step),
        load(values, at + 3 * step),
        load(values, at + 4 * step),
        load(values, at + 5 * step),
    )


@flat_kernel
def _keep(x, values, at, step):
    """What `_columns` gave, back to its place."""
    store(x[0], values, at)
    store(x[1], values, at + step)
    store(x[2], values, at + 2 * step)
    store(x[3], values, at + 3 * step)
    store(x[4], values, at + 4 * step)
    store(x[5], values, at + 5 * step)


@flat_kernel
def _rows(x):
    """A column without what follows its six rows."""
    return choose(x, 0.0, 0, SIZE)


@flat_kernel
def _divided(d, b, j):
    """Column j with its multipliers: those in its own block alone, the column with them in place, those below; 1/pivot."""
    pivot = lane(d, j)
    scale = 1.0 / pivot if pivot != 0.0 else 0.0  # it is told of in the end
    x = d * scale
    return choose(x, 0.0, j + 1, SIZE), choose(x, d, j + 1, SIZE), b * scale


@flat_kernel
def _less(d, b, j, l, m):
    """A column to the right: less row j times the multipliers l in its own block, m below."""
    u = spread_lane(d, j)
    return d - l * u, b - m * u


@flat_kernel
def _all_less(c, e, j, l, m):
    """The same of all columns of the next block."""
    c0, e0 = _beyond(c[0], e[0], j, l, m)
    c1, e1 = _beyond(c[1], e[1], j, l, m)
    c2, e2 = _beyond(c[2], e[2], j, l, m)
    c3, e3 = _beyond(c[3], e[3], j, l, m)
    c4, e4 = _beyond(c[4], e[4], j, l, m)
    c5, e5 = _beyond(c[5], e[5], j, l, m)
    return (c0, c1, c2, c3, c4, c5), (e0, e1, e2, e3, e4, e5)


@flat_kernel
def _beyond(c, e, j, l, m):
    u = spread_lane(c, j)
    return c - l * u, e - m * u


@flat_kernel
def _smallest_pivot(d0, d1, d2, d3, d4, d5):
    """Size of the smallest pivot; not a number where one is not."""
    least = abs(lane(d0, 0))
    least = least if least <= abs(lane(d1, 1)) else abs(lane(d1, 1))
    least = least if least <= abs(lane(d2, 2)) else abs(lane(d2, 2))
    least = least if least <= abs(lane(d3, 3)) else abs(lane(d3, 3))
    least = least if least <= abs(lane(d4, 4)) else abs(lane(d4, 4))
    return least if least <= abs(lane(d5, 5)) else abs(lane(d5, 5))


@flat_kernel
def _turning(values, at, step, before):
    """rho^2 of (2) of the block whose diagonal begins at `at`, `step` from one to the next; `before`: of a block without one."""
    places = abs(values[at]) + abs(values[at + step]) + abs(values[at + 2 * step])
    turns = abs(values[at + 3 * step]) + abs(values[at + 4 * step]) + abs(values[at + 5 * step])
    return turns / places if places > 0.0 and turns > 0.0 else before


@flat_kernel
def _most_of(x0, x1, x2, forces, moments):
    """Largest square of three columns of multipliers, those of forces and of moments times these numbers."""
    x = larger(larger(x0, x1), x2)
    return largest(x * x * choose(forces, moments, 0, 3))


@inner_kernel
def block_factor(values, size, band, start, blocks, filled, pivots, first):
    """Number of blocks whose columns are eliminated, from column `start` on; where they are not all `narrow_columns` goes on.

    values: as `narrow_columns` takes them, with a block of slack behind; filled: the last column that rows above reach; pivots,
    first (size,) int32 receive what it finds. No row of a block reaches beyond the next six columns, none above beyond the first
    block, and behind the last one are six columns at least, or none.
    """
    step = 3 * band
    block, origin = SIZE * (step + 1), start * (step + 1) + 2 * band
    d, rho = _columns(values, origin, step), _turning(values, origin, step + 1, 1.0)
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
        ahead = rho if last else _turning(values, at + block, step + 1, rho)
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
            _keep(d, values, at, step)
            return k
        _keep((d0, d1, d2, d3, d4, d5), values, at, step)
        _keep((b0, b1, b2, b3, b4, b5), values, at + SIZE, step)
        if not last:
            _keep(c, values, at + SIZE * step, step)
        rho = ahead
        d = e  # the last two rows of C stand where E had its first: those are in `e`
    behind = start + SIZE * blocks
    if behind < size:
        _keep(d, values, origin + blocks * block, step)
        for i in range(max(behind, filled + 1), behind + SIZE):
            first[i] = behind - SIZE
    return blocks


@flat_kernel
def _forth(r, ahead, d, b, j):
    """Right-hand sides of a block and of the next one, less row j times its multipliers."""
    x = spread_lane(r, j)
    return r - choose(d, 0.0, j + 1, SIZE) * x, ahead - b * x


@flat_kernel
def _back(r, behind, d, c, j):
    """Unknown j in its place, taken out of the rows above it."""
    x = spread_lane(r, j) * (1.0 / lane(d, j))
    return choose(x, r - choose(d, 0.0, 0, j) * x, j, j + 1), behind - c * x


@inner_kernel
def blocks_forth(values, size, band, start, blocks, rhs):
    """rhs (size,) <- L^-1 rhs in the rows of so many blocks from `start` on, and what they take from the six behind them.

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


@inner_kernel
def blocks_back(values, band, start, blocks, rhs):
    """rhs (size,) <- U^-1 rhs in the rows of so many blocks from `start` on, taken out of the six before them, if there are any.

    What is behind them is solved and taken out of their rows already.
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
