"""The arrays of a planar model: its frames ordered from the tips to the roots, what acts on them with components in the plane."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.assembly.stress_rounding import largest_entries
from discretization.assembly.workspace import AT_NOISE, EPS, NEAREST
from discretization.drives import driven_rows
from discretization.interaction_table import loads_of
from discretization.own_variables import own_variables
from discretization.planar import arrays
from discretization.planar.arrays import ElementLanes, Tables
from discretization.planar.element_lanes import N_PLACES
from discretization.planar.layout import Layout, layout_of
from discretization.planar.mirror import directions_of_frames
from discretization.planar.order import MANY, MOST_COUPLED, trees_of
from discretization.planar.plane import Plane, axes_of, turned_matrices
from discretization.planar.repeats import REPEATED, independent
from discretization.planar.spring_tables import spring_tables
from discretization.space.elements import Elements
from discretization.system import System
from rigid.system import MOMENT, Floats, Ints, State
from rigid.vectors import lengths

_IN_PLANE = (0, 1, 5)  # stretch, shear and bending


def tables_of(system: System, state: State, plane: Plane, tolerance: float = 0.0) -> Tables | str:
    """The arrays, or why the elimination from the tips does not take the model."""
    frames, elements, c, own = system.frames, system.elements, system.constraints, plane.rows
    even = np.array([row.constraint for row in own], np.int64)
    sort = np.array([row.sort for row in own], np.int64)
    layout = layout_of(system, even, sort)
    if isinstance(layout, str):
        return layout
    order, place, joined, ends = layout[:4]
    frame, parent, closing = order[:3]
    if (len(closing) or np.any(c.repeats)) and not independent(system, state, plane):
        return REPEATED
    k = len(frame)
    driven = np.array([even.tolist().index(row) for row in driven_rows(c)], np.int64)
    frame = np.append(frame, 0)
    n, count = len(frames.mass), k + 1
    across, half = np.empty((count, 3, 3)), np.empty((count, 8))
    directions_of_frames(state.quat, plane.basis, elements.frames, np.empty((n, 3)), frame, across, half)
    in_plane = np.ascontiguousarray(across[:, :2])
    springs, between = spring_tables(system, place, in_plane, 2 * len(closing))
    coupled = np.concatenate([np.repeat(joined[closing], 2, axis=0), between])
    if len(coupled) > MOST_COUPLED:
        return MANY
    a, b = joined.T
    directed = [np.array([getattr(row, name) for row in own]).reshape(-1, 3) for name in ("Ua", "Ub")]
    vectors = np.concatenate([c.Xa[even], c.Xb[even], *directed])
    X = np.einsum("jab,jb->ja", in_plane[np.concatenate([a, b, a, b])], vectors).reshape(4, -1, 2)
    lam = np.array([(*row.lam, *row.lam[:1] * 2)[:3] for row in own], np.int64).reshape(-1, 3)
    share = np.array([(*row.share, 0.0, 0.0)[:3] for row in own]).reshape(-1, 3)
    reach = lengths(c.Xa[even]) + lengths(c.Xb[even])
    sign, lever = _levers(layout, X[0], X[1])
    moving = frame[:k]
    loads = _loads(system, place, in_plane)
    J = np.einsum("ni,nij,nj->n", across[:k, 2], frames.inertia[moving], across[:k, 2])
    return Tables(
        basis=plane.basis,
        frame=frame,
        parent=parent,
        kind=layout.kind,
        first_next=order.first_next,
        beyond=order.beyond,
        first_pair=layout.first_pair,
        pair=layout.pair,
        mass=frames.mass[moving],
        inertia=J,
        gyration=np.sqrt(np.trace(frames.inertia[moving], axis1=1, axis2=2) / frames.mass[moving]),
        half=half,
        normal=np.ascontiguousarray(across[:, 2]),
        across=in_plane,
        gravity=plane.basis[:2] @ system.gravity,
        offset=plane.offset,
        elements=_elements(elements, layout, across),
        hinge=layout.hinge,
        sign=sign,
        lever=lever,
        first=layout.first,
        items=layout.items,
        closing=closing,
        coupled=coupled,
        trees=trees_of(order, coupled) if len(coupled) else layout.trees,
        sort=sort,
        joined=joined,
        between=layout.between,
        lam=lam,
        share=share,
        **dict(zip(("Xa", "Xb", "Ua", "Ub"), X, strict=True)),
        value=np.array([row.value for row in own]),
        reach=np.maximum(reach, NEAREST),
        arm=reach + np.where(sort == arrays.COINCIDENT, 0.0, 1.0),
        size=np.where(sort == arrays.DISTANCE, np.sqrt(2.0 * np.abs(c.value[even])), 1.0),
        **loads._asdict(),
        **springs._asdict(),
        driven=driven,
        drives=own_variables(system).first("drive"),
        signals=len(system.signals),
        hung=bool(np.all(layout.kind == arrays.HINGE))
        and not (len(ends) or len(coupled) or len(springs.spring)),
        aligned=_is_aligned(plane.basis, half, across, share),
        accounts=bool(elements.damping.any() or len(loads.load) or len(driven)),
        solved=max(AT_NOISE, tolerance / EPS),
    )


_NO_ELEMENTS = ElementLanes(
    np.zeros((N_PLACES, 0), np.int64), np.zeros((0, 2), np.int64), np.zeros(0), np.zeros((0, 3, 3)), np.zeros((0, 3, 3)),
    np.zeros((0, 3)), np.zeros(0), np.zeros((0, 4)), False, False
)  # fmt: skip


def _elements(elements: Elements, layout: Layout, across: Floats) -> ElementLanes:
    """Elements with numbers in the plane; across (k + 1, 3, 3): of places."""
    m = len(elements.length)
    if not m:
        return _NO_ELEMENTS
    T = axes_of(across[layout.ends[:, 0], 2])
    kept = np.ix_(range(m), _IN_PLANE, _IN_PLANE)
    stiffness, damping = (turned_matrices(own, T)[kept] for own in (elements.stiffness, elements.damping))
    strain0 = np.concatenate(
        [np.einsum("mij,mj->mi", T, x) for x in (elements.strain0[:, :3], elements.strain0[:, 3:])], 1
    )
    return ElementLanes(
        places=layout.elements,
        ends=layout.ends,
        length=elements.length,
        stiffness=np.ascontiguousarray(stiffness),
        damping=np.ascontiguousarray(damping),
        strain0=np.ascontiguousarray(strain0[:, _IN_PLANE]),
        coupling=elements.coupling,
        scale=largest_entries(elements.stiffness, elements.damping),
        viscous=bool(elements.damping.any()),
        couples=bool(elements.coupling.any()),
    )


class _Loads(NamedTuple):
    """Of l loads: see `arrays.Tables`."""

    load: Ints
    on: Ints
    at: Floats
    moment: Ints
    following: Ints


_NO = np.zeros(0, np.int64)
_NO_LOADS = _Loads(_NO, _NO, np.zeros((0, 2)), _NO, _NO)


def _loads(system: System, place: Ints, in_plane: Floats) -> _Loads:
    if not len(system.others.kind):
        return _NO_LOADS
    loads = loads_of(system.others)
    on = place[loads.frame]
    at = np.einsum("lab,lb->la", in_plane[on], loads.X)
    moment = (loads.kind == MOMENT).astype(np.int64)
    return _Loads(np.arange(len(on)), on, at, moment, loads.following.astype(np.int64))


def _is_aligned(*of: Floats) -> bool:
    """Whether all these numbers are 0, 1 or -1, and no direction has two of them; shares of multipliers, too."""
    numbers = np.abs(np.concatenate([each.ravel() for each in of]))
    return bool(((numbers == 0.0) | (numbers == 1.0)).all())


def _levers(layout: Layout, Xa: Floats, Xb: Floats) -> tuple[Floats, Floats]:
    """Signs and points, with components in the plane, of the hinges that frames hang on; items have them in any order."""
    hung, items, is_b = layout.hung, layout.of_hung, layout.is_b
    sign, lever = np.ones(len(layout.kind)), np.zeros((len(layout.kind), 4))
    sign[hung] = np.where(is_b, 1.0, -1.0)
    a, b = Xa[items], Xb[items]
    lever[hung, :2], lever[hung, 2:] = np.where(is_b[:, None], b, a), np.where(is_b[:, None], a, b)
    return sign, lever
