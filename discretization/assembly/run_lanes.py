"""Eight runs of a model side by side, lane by lane a run (`rigid.lanes`): the numbers, and how they are read and added to.

Each run has the bits that it has alone, where elements are eight at a time (`discretization.assembly.element_lanes`): what is
added up is added in the same order, and the strain functions take as many terms as the largest angle asks for of the eight
elements that would stand together. A run in which something unusual happens leaves the others: it is to take the step alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from discretization.linear.block_band import SIZE
from rigid.compilation.decorators import flat_kernel
from rigid.lanes import WIDTH, load, store
from rigid.linear_algebra import plus
from rigid.references import by_reference
from rigid.system import Floats, Ints, State

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
    scale: Floats  # (m, 4, 8) of `largest_entries`
    viscous: bool
    gravity: Floats  # (3, 8)
    state: State  # of all runs: the arrays r0, q0, v0, Omega0, `Joints.before`, rate and totals
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
    solution: Floats  # (2, n, 3, 8) dr and psi without the last corrections
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
