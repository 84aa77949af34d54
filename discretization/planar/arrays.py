"""A planar model as arrays for the compiled step, in the order in which its frames are eliminated: from the tips to the roots.

A place is the number of a moving frame in this order; behind the last one stands the ground. What joins a frame to the next
one towards the root decides how it is eliminated (`discretization.planar.elimination`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.planar.element import START
from rigid.lanes import WIDTH
from rigid.references import by_reference
from rigid.system import Floats, Ints

# by a rod element or nothing, by points in one place alone, by other rows or more than these; before several others
BLOCK, HINGE, ROWS, NET = 0, 1, 2, 3
COINCIDENT, ANGLE, ALONG, DISTANCE = 0, 1, 2, 3  # rows of joints that are left in the plane
LEFT = 12  # column of `Work.rows` and `Work.columns`: what is left of the row

# columns of `Work.frames`
C0, S0, C1, S1, PSI, DX, DY, W0, Z0, RX, RY, VX, VY, OM = range(14)
AX, AY, AOM, AWAY = range(14, 18)  # acceleration in the step before; distance from the origin, m
N1, N2 = range(18, 20)  # round-off levels of the residual
# its block of the matrix, and the residual of the forces and of the moment: row by row
D11, D12, D13, R1, D21, D22, D23, R2, D31, D32, D33, R3 = range(20, 32)
ROW = 4  # from a row to the next one
MX, MY, MPSI = range(32, 35)  # the correction: dx, dy and the angle
N_FRAME = 36  # rows of blocks begin at multiples of four numbers

# columns of `Work.hinges`: lever at the end, in the mean and at the start, of the frame and of the next; what is left of the rows
XC1, YC1, XC, YC, XP1, YP1, XP, YP, G1, G2, NG = range(11)
E13, E23, K1, K2, K0, F1, F2, FACTOR = range(11, 19)  # of the elimination
X0, Y0, XP0, YP0, FINE = range(19, 24)  # FINE: 1 over the round-off level of its rows
N_HINGE = 24


IN_PLANE = 3  # numbers of a frame: x, y and its turn


def numbers_of(frames: int) -> int:
    """Of so many frames, with zeros behind them: they go eight at a time."""
    return -(-IN_PLANE * frames // WIDTH) * WIDTH


class ElementLanes(NamedTuple):
    """Eight of m elements after eight, for `discretization.planar.element_lanes`; vectors have components in the plane."""

    places: Ints  # (N_PLACES, 8 groups): `element_lanes.places_of`
    ends: Ints  # (m, 2) places of both ends
    length: Floats  # (m,)
    stiffness: Floats  # (m, 3, 3)
    damping: Floats  # (m, 3, 3)
    strain0: Floats  # (m, 3)
    coupling: Floats  # (m,)
    scale: Floats  # (m, 4) of `largest_entries`
    viscous: bool
    couples: bool  # some element has coupling inertia


@by_reference
class Tables(NamedTuple):
    """Of k moving frames, m elements, j items that bring rows, l loads; vectors have components in the plane."""

    basis: Floats  # (3, 3) two directions of the plane and its normal
    frame: Ints  # (k + 1,) numbers of the frames in the system
    parent: Ints  # (k,) place of the next frame towards the root; k: the ground or nothing
    kind: Ints  # (k,) BLOCK, HINGE, ROWS or NET
    first_next: Ints  # (k + 1,) where what else is next to a frame of a net begins in `beyond`
    beyond: Ints  # (b,) places, behind that of the parent
    first_pair: Ints  # (k + 1,) where its pairs begin in `pair`
    pair: Ints  # blocks of each two that are next to it, first by first
    mass: Floats  # (k,)
    inertia: Floats  # (k,) about the normal
    gyration: Floats  # (k,) m
    half: Floats  # (k + 1, 8) w and z of half the turn in the plane are these by the quaternion
    normal: Floats  # (k + 1, 3) of the plane, body-fixed
    across: (
        Floats  # (k + 1, 2, 3) body-fixed, the directions that the components of vectors on a frame are along
    )
    gravity: Floats  # (2,)
    offset: float  # m, of the plane from the origin
    elements: ElementLanes
    hinge: Ints  # (k,) item of a frame that hangs on a hinge
    sign: Floats  # (k,) 1: the impulse of this acts on the frame, -1: on the next one
    lever: Floats  # (k, 4) of its points, on the frame and on the next one
    first: Ints  # (k + 1,) where the items of a frame that hangs on rows begin in `items`
    items: Ints  # items of these
    closing: Ints  # (l,) hinges that close loops
    coupled: (
        Ints  # (c, 2) two impulses of each of these, then those of springs: places that an impulse pulls on
    )
    trees: Ints  # (c + 1, 2, 2) first place and end of the trees that it moves; of the last row, of all
    sort: Ints  # (j,) COINCIDENT ...
    joined: Ints  # (j, 2) places of a and b
    between: Ints  # (j,) blocks of these two; any, where the ground is one
    lam: Ints  # (j, 3) places in `State.lam` of its multipliers, of points in one place of the first
    share: Floats  # (j, 3) of the multiplier of a row that each of these is
    Xa: Floats  # (j, 2)
    Xb: Floats  # (j, 2)
    Ua: Floats  # (j, 2)
    Ub: Floats  # (j, 2)
    value: Floats  # (j,)
    reach: Floats  # (j,) m
    arm: Floats  # (j,) m
    size: Floats  # (j,)
    load: Ints  # (l,) number in the system
    on: Ints  # (l,) place
    at: Floats  # (l, 2)
    moment: Ints  # (l,) 1: a moment
    following: Ints  # (l,) 1: turns with its frame
    spring: Ints  # (q, 2) places of a and b
    counted: Ints  # (q,) of a torsion spring: place of its angle in `State.own`; -1: between points
    column: Ints  # (q,) first of its impulses; -1: it holds a frame to the ground
    law: Floats  # (q, 3) stiffness, damping, length or angle at rest
    arms: Floats  # (q, 3, 2) Xa, Xb, none; Ua, Wa, Ub
    rounding: Floats  # (q, 2) sizes of its force and moment
    driven: Ints  # (d,) item of each drive
    drives: int  # where their numbers begin in `State.own`
    signals: int  # rows of what is given for a step before theirs
    hung: bool  # all frames hang on a hinge alone, and nothing acts but weights and loads
    aligned: bool  # numbers of the plane are those of the state, to the bit, but for signs and places
    accounts: bool
    solved: float  # residual/noise


@by_reference
class Work(NamedTuple):
    """Arrays of a step, allocated once; the last row of frames is the ground's."""

    frames: Floats  # (k + 1, N_FRAME)
    # blocks have a fourth column: what of the row's residual the elimination makes
    blocks: Floats  # (2 (k + b) + 1, 3, 4) those of the next two; the last one is read by nobody
    up: Floats  # (k + b, 3, 4) rows of the next frame, columns of this one; of its parent, then of those beyond
    down: (
        Floats  # (k + b, 3, 4) rows of this one, columns of the next; after the factors its inverse by these
    )
    pulls: Floats  # (k + b, 3, 4) of frames on rows: what corrections of the next do to their multipliers
    rest: Floats  # (k, 3) and these without it, which `pulls` has as a fourth column
    starts: Floats  # (groups, START, 8) of elements, eight side by side
    strain1: Floats  # (groups, 3, 8) strains at the end of the step
    hinges: Floats  # (k, N_HINGE)
    rows: Floats  # (j, 2, 14) of items: gradients at the end (a, b), in the mean (a, b), residual, noise
    pull: Floats  # (j, 2) forces at the start of the step
    lam: Floats  # (j, 2) impulses
    end: Floats  # (j, 2) direction on a at the end of the step: Ua, or as it is driven
    mean: Floats  # (j, 2) and the mean of those at both ends
    value: Floats  # (j,) at the end of the step
    change: Floats  # (d, 3) of a drive in the step: of the direction, of the value
    more: Floats  # (j, 2) their correction
    matrix: Floats  # (6, 7 + 3 of each that is next to a frame)
    kept: Floats  # (k, 5) where there are columns: R1 to R3, G1, G2 of all frames
    kept_rows: Floats  # (items, 2) and of their rows
    columns: Floats  # (c, 13) of impulses beside the trees, as `rows`
    loops: Floats  # (c, c) what these impulses do to each other, its factors
    size: Floats  # (c,) factors of its rows
    exchanged: Ints  # (c,) rows exchanged
    impulse: Floats  # (c,) these impulses
    foretold: Floats  # (numbers_of(k),) rates of the next step
    latest: Floats  # (numbers_of(k),) and of the last one
    measured: Floats  # (q,) of springs: length at the end, angle at the start of the step


@by_reference
class Advancing(NamedTuple):
    """What a march works with."""

    tables: Tables
    work: Work
    weights: Floats  # (k, 8) of `mean_velocities`; steps that are not composed: (0, 8)


def work_of(tables: Tables) -> Work:
    """Room for a step."""
    k, g, j = len(tables.parent), tables.elements.places.shape[1] // WIDTH, len(tables.sort)
    c, q, b = len(tables.coupled), len(tables.spring), len(tables.beyond)
    most = 1 + (int(np.diff(tables.first_next).max()) if b else 0)
    shapes: dict[str, Any] = {
        "frames": (k + 1, N_FRAME),
        "blocks": (2 * (k + b) + 1, 3, 4),
        "pulls": (k + b, 3, 4),
        "rest": (k, 3),
        "starts": (g, START, WIDTH),
        "strain1": (g, 3, WIDTH),
        "hinges": (k, N_HINGE),
        "rows": (j, 2, 14),
        "pull": (j, 2),
        "lam": (j, 2),
        "change": (len(tables.driven), 3),
        "more": (j, 2),
        "matrix": (6, 7 + 3 * most),
        "kept": (k if c else 0, 5),
        "kept_rows": (len(tables.items) if c else 0, 2),
        "columns": (c, LEFT + 1),
        "loops": (c, c),
        "size": (c,),
        "impulse": (c,),
        "foretold": (numbers_of(k),),
        "latest": (numbers_of(k),),
        "measured": (q,),
    }
    arrays: dict[str, Any] = {name: np.zeros(shape) for name, shape in shapes.items()}
    arrays |= {"up": arrays["blocks"][: k + b], "down": arrays["blocks"][k + b : -1]}
    arrays |= {"end": tables.Ua.copy(), "mean": tables.Ua.copy(), "value": tables.value.copy()}
    return Work(**arrays, exchanged=np.zeros(c, np.int64))
