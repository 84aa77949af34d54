"""Arrays of a planar model for the compiled step, in the elimination order of its frames: from the leaves to the roots.

The elimination index of a moving frame is its position in this order; the ground has the index after the last one. The
kind of a frame says how it is connected to the next frame towards the root, and so how it is eliminated
(`discretization.planar.elimination`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.planar.element import START
from rigid.lanes import WIDTH
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference

# Kind of a frame. BLOCK: connected to the next frame by a rod element or by nothing; HINGE: only by one coincident-points
# constraint; ROWS: by other or more constraint rows; NET: has no rows, but several neighbours when it is eliminated.
BLOCK, HINGE, ROWS, NET = 0, 1, 2, 3
COINCIDENT, ANGLE, ALONG, DISTANCE = 0, 1, 2, 3  # sorts of joint rows that remain in the plane
LEFT = 12  # column of `Work.rows` and `Work.columns`: residual of the row

# Columns of `Work.frames`: cosine and sine at the start and at the end, Cayley number psi and displacement of the step, half
# the angle at the start (its cosine and sine), position, velocity, angular velocity.
C0, S0, C1, S1, PSI, DX, DY, W0, Z0, RX, RY, VX, VY, OM = range(14)
AX, AY, AOM, AWAY = range(14, 18)  # accelerations of the previous step; distance from the origin, m
N1, N2 = range(18, 20)  # round-off levels of the residual: forces, moment
# diagonal block of the matrix with the residual of forces and moment as its fourth column, row by row
D11, D12, D13, R1, D21, D22, D23, R2, D31, D32, D33, R3 = range(20, 32)
ROW = 4  # stride from one row of a block to the next
MX, MY, MPSI = range(32, 35)  # Newton correction: dx, dy (m) and the angle
N_FRAME = 36  # number of columns; rows of blocks begin at multiples of four numbers

# Columns of `Work.hinges`: lever arms of the frame and of the next one at the end (XC1 to YC1, XP1, YP1), in the mean (XC, YC,
# XP, YP) and at the start (X0 to YP0); residuals G1, G2 of the rows.
XC1, YC1, XC, YC, XP1, YP1, XP, YP, G1, G2, NG = range(11)
E13, E23, K1, K2, K0, F1, F2, FACTOR = range(11, 19)  # factors and right-hand sides of the elimination
X0, Y0, XP0, YP0, FINE = range(19, 24)  # FINE: reciprocal of the round-off level of the rows
N_HINGE = 24


IN_PLANE = 3  # unknowns of a frame: x, y and its rotation


class ElementLanes(NamedTuple):
    """Arrays of m rod elements, in groups of eight SIMD lanes, for `discretization.planar.element_lanes`.

    Vectors have their components in the plane.
    """

    offsets: Ints  # (N_PLACES, 8 groups) offsets, see `element_lanes.element_offsets`
    ends: Ints  # (m, 2) elimination indices of both end frames
    length: Floats  # (m,) rest length, m
    stiffness: Floats  # (m, 3, 3) section stiffness of stretch, shear and bending
    damping: Floats  # (m, 3, 3) section damping
    strain0: Floats  # (m, 3) rest strains
    coupling: Floats  # (m,) coupling inertia of both ends, kg
    scale: Floats  # (m, 4) largest entries of stiffness and damping, see `largest_entries`
    viscous: bool  # True if some element has damping
    couples: bool  # True if some element has coupling inertia


@by_reference
class Tables(NamedTuple):
    """Constant arrays of a planar model: k moving frames, m elements, j items that bring constraint rows, l loads.

    Vectors have their components in the plane. Elimination indices are those of `frame`.
    """

    basis: Floats  # (3, 3) rows: two directions of the plane, then its normal
    frame: Ints  # (k + 1,) frame numbers in the system in elimination order, then the ground
    parent: Ints  # (k,) elimination index of the next frame towards the root; k if that is the ground or there is none
    kind: Ints  # (k,) BLOCK, HINGE, ROWS or NET
    first_next: (
        Ints  # (k + 1,) offset in `beyond` of the neighbours of each frame of a net other than its parent
    )
    beyond: Ints  # (b,) elimination indices of these neighbours
    first_pair: Ints  # (k + 1,) offset in `pair` of the pairs of neighbours of each frame
    pair: Ints  # number of the block of each pair of its neighbours, ordered by the first of them
    mass: Floats  # (k,) kg
    inertia: Floats  # (k,) moment of inertia about the normal, kg m^2
    gyration: Floats  # (k,) radius of gyration, m
    half: Floats  # (k + 1, 8) w and z of half the rotation in the plane are products of these with the quaternion
    normal: Floats  # (k + 1, 3) normal of the plane, body-fixed
    across: (
        Floats  # (k + 1, 2, 3) body-fixed directions, along which vectors on a frame have their components
    )
    gravity: Floats  # (2,) m/s^2
    offset: float  # distance of the plane from the origin along the normal, m
    elements: ElementLanes
    hinge: Ints  # (k,) item of the hinge of a frame of kind HINGE
    sign: Floats  # (k,) 1: the hinge impulse acts on the frame, -1: on the next one
    lever: Floats  # (k, 4) points of the hinge, on the frame and on the next one, m
    first: Ints  # (k + 1,) offset in `items` of the items of each frame of kind ROWS
    items: Ints  # the items of these frames
    closing: Ints  # (number of cut joints,) items of the cut hinges, which close loops
    # (c, 2) elimination indices of the frames that an impulse acts on: two impulses per closing hinge, then those of springs
    coupled: Ints
    trees: Ints  # (c + 1, 2, 2) first elimination index and end of the trees that an impulse moves; last row: all frames
    sort: Ints  # (j,) COINCIDENT, ANGLE, ALONG or DISTANCE
    joined: Ints  # (j, 2) elimination indices of frames a and b
    between: Ints  # (j,) number of the block of these two frames; arbitrary if one is the ground
    lam: Ints  # (j, 3) offsets in `State.lam` of its multipliers; COINCIDENT: that of the first one
    factors: Floats  # (j, 3) ratio of each of these multipliers to the multiplier of the planar row
    Xa: Floats  # (j, 2) point on a, m
    Xb: Floats  # (j, 2) point on b, m
    Ua: Floats  # (j, 2) direction on a
    Ub: Floats  # (j, 2) direction on b
    value: Floats  # (j,) prescribed value of the row
    reach: Floats  # (j,) characteristic length of the row, m
    arm: Floats  # (j,) lever arm of the impulse, m
    size: Floats  # (j,) size of the gradient of the row
    load: Ints  # (l,) number of the load in the system
    on: Ints  # (l,) elimination index of the loaded frame
    at: Floats  # (l, 2) point of application on the frame, m
    moment: Ints  # (l,) 1 if the load is a moment
    following: Ints  # (l,) 1 if the load rotates with its frame
    actuated: Ints  # (a, 4) of each stress of an actuation: row of `values`; group, component and lane of its element
    actuation: Floats  # (a,) these stresses for the value 1, N or N m
    spring: Ints  # (q, 2) elimination indices of frames a and b of a spring
    counted: Ints  # (q,) torsion spring: offset of its angle in `State.internal`; spring between points: -1
    column: Ints  # (q,) column of its first impulse; -1 if it connects a frame to the ground
    law: Floats  # (q, 3) stiffness, damping, rest length or rest angle
    arms: Floats  # (q, 3, 2) spring: Xa, Xb, unused; torsion spring: Ua, Wa, Ub
    rounding: Floats  # (q, 2) sizes of its force and moment, for round-off levels
    driven: Ints  # (d,) item of each drive
    drives: int  # offset of the numbers of the drives in `State.internal`
    signals: int  # number of rows of `values` (prescribed for a step) before those of the drives
    is_open_chain: bool  # True if every frame is connected only by one hinge, and only weights and loads act
    aligned: bool  # True if planar numbers are bit-identical to those of the state, except for sign and order
    accounts: bool  # True if work or dissipation has to be recorded
    solved: float  # convergence tolerance: residual over round-off level


@by_reference
class Work(NamedTuple):
    """Work arrays of a step, allocated once; the last row of `frames` is that of the ground."""

    frames: Floats  # (k + 1, N_FRAME)
    # Blocks have a fourth column: the residual of the row, carried along by the elimination.
    blocks: Floats  # (2 (k + b) + 1, 3, 4) storage of `up` and `down`; the last block is a dummy that is never read
    up: Floats  # (k + b, 3, 4) rows of the next frame, columns of this one: for the parent, then for those beyond
    down: (
        Floats  # (k + b, 3, 4) rows of this frame, columns of the next; after factorisation D^-1 times these
    )
    pulls: Floats  # (k + b, 3, 4) kind ROWS: multiplier corrections per correction of the next frame
    particular: (
        Floats  # (k, 3) multiplier corrections if those of the next frames are 0; fourth column of `pulls`
    )
    starts: Floats  # (groups, START, 8) start values of elements in eight SIMD lanes
    strain1: Floats  # (groups, 3, 8) element strains at the end of the step
    hinges: Floats  # (k, N_HINGE) hinge data, see the columns above
    rows: Floats  # (j, 2, 14) of each item: gradients at the end (a, b), in the mean (a, b), residual, round-off level
    pull: Floats  # (j, 2) constraint forces at the start of the step, N or N m
    lam: Floats  # (j, 2) impulses of the constraints
    end: Floats  # (j, 2) direction on a at the end of the step: Ua, or the driven direction
    mean: Floats  # (j, 2) mean of the directions at both ends of the step
    value: Floats  # (j,) prescribed value at the end of the step
    change: Floats  # (d, 3) change over the step of the direction (2) and of the value (1) of a drive
    impulse_correction: Floats  # (j, 2) Newton correction of the impulses `lam`
    tangent: Floats  # (144,) tangent of one joint in space, column by column
    matrix: Floats  # (6, 7 + 3 per neighbour) dense matrix of one frame
    saved_residuals: Floats  # (k, 5) saved R1 to R3, G1, G2 of all frames, if there are columns
    saved_rows: Floats  # (items, 2) saved residuals of their rows
    columns: Floats  # (c, 13) gradients and residual of each impulse outside the trees, as in `rows`
    loops: Floats  # (c, c) Schur complement of these impulses, then its LU factors
    size: Floats  # (c,) scale factors of its rows
    exchanged: Ints  # (c,) row exchanges of its LU factors
    impulse: Floats  # (c,) values of these impulses
    measured: Floats  # (q,) spring: length at the end of the step, m; torsion spring: angle at its start
    actuated: Floats  # (groups + 1, 3, 8) stresses of actuations in the step, N and N m; the last group is scratch; empty without
    strain0: Floats  # (groups, 3, 8) strains at the start of the step, if there are actuations


@by_reference
class StepContext(NamedTuple):
    """Arguments of the compiled time loop: constant arrays, work arrays and predictor weights."""

    tables: Tables
    work: Work
    weights: Floats  # (6 + k, 6) weights of the predictor (`discretization.assembly.predictor`); (0, 6) without history


def allocate_work(tables: Tables) -> Work:
    """Allocate the work arrays of a step for the model `tables`."""
    k, g, j = len(tables.parent), tables.elements.offsets.shape[1] // WIDTH, len(tables.sort)
    c, q, b = len(tables.coupled), len(tables.spring), len(tables.beyond)
    most = 1 + (int(np.diff(tables.first_next).max()) if b else 0)
    acted = g if len(tables.actuated) else 0
    shapes: dict[str, Any] = {
        "frames": (k + 1, N_FRAME),
        "blocks": (2 * (k + b) + 1, 3, 4),
        "pulls": (k + b, 3, 4),
        "particular": (k, 3),
        "starts": (g, START, WIDTH),
        "strain1": (g, 3, WIDTH),
        "hinges": (k, N_HINGE),
        "rows": (j, 2, 14),
        "pull": (j, 2),
        "lam": (j, 2),
        "change": (len(tables.driven), 3),
        "impulse_correction": (j, 2),
        "tangent": (144,),
        "matrix": (6, 7 + 3 * most),
        "saved_residuals": (k if c else 0, 5),
        "saved_rows": (len(tables.items) if c else 0, 2),
        "columns": (c, LEFT + 1),
        "loops": (c, c),
        "size": (c,),
        "impulse": (c,),
        "measured": (q,),
        "actuated": (acted + 1, 3, WIDTH),
        "strain0": (acted, 3, WIDTH),
    }
    arrays: dict[str, Any] = {name: np.zeros(shape) for name, shape in shapes.items()}
    arrays |= {"up": arrays["blocks"][: k + b], "down": arrays["blocks"][k + b : -1]}
    arrays |= {"end": tables.Ua.copy(), "mean": tables.Ua.copy(), "value": tables.value.copy()}
    return Work(**arrays, exchanged=np.zeros(c, np.int64))
