"""The arrays of a planar model: its frames ordered from the tips to the roots, what acts on them with components in the plane."""

from __future__ import annotations

import numpy as np

from discretization.assembly.workspace import AT_NOISE, EPS, NEAREST
from discretization.drives import driven_rows
from discretization.interaction_table import loads_of
from discretization.own_variables import own_variables
from discretization.planar import arrays
from discretization.planar.arrays import Tables
from discretization.planar.element_lanes import element_lanes
from discretization.planar.layout import Layout, layout_of
from discretization.planar.order import MANY, MOST_COUPLED, trees_of
from discretization.planar.plane import Plane, axes_of, turned_matrices
from discretization.planar.repeats import REPEATED, independent
from discretization.planar.spring_tables import spring_tables
from discretization.system import System
from rigid import quaternions
from rigid.system import MOMENT, Floats, Ints, State
from rigid.vectors import cross


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
    across = _across(system, state, plane, elements.frames)[frame]
    half = _halves(plane, across)
    in_plane = across[:, :2]
    springs, between = spring_tables(system, place, in_plane, 2 * len(closing))
    coupled = np.concatenate([np.repeat(joined[closing], 2, axis=0), between])
    if len(coupled) > MOST_COUPLED:
        return MANY
    vectors = {"Xa": c.Xa[even], "Xb": c.Xb[even]}
    vectors |= {name: np.array([getattr(row, name) for row in own]).reshape(-1, 3) for name in ("Ua", "Ub")}
    X = {
        name: np.einsum("jab,jb->ja", in_plane[joined[:, int(name[1] == "b")]], x)
        for name, x in vectors.items()
    }
    lam, share = np.zeros((len(own), 3), np.int64), np.zeros((len(own), 3))
    for j, row in enumerate(own):
        lam[j], share[j] = row.lam[0], 0.0
        lam[j, : len(row.lam)], share[j, : len(row.lam)] = row.lam, row.share
    T = axes_of(across[ends[:, 0], 2])
    kept = np.ix_(range(len(ends)), (0, 1, 5), (0, 1, 5))
    stiffness = turned_matrices(elements.stiffness, T)[kept]
    damping = turned_matrices(elements.damping, T)[kept]
    strain0 = np.concatenate(
        [np.einsum("mij,mj->mi", T, x) for x in (elements.strain0[:, :3], elements.strain0[:, 3:])], 1
    )
    reach = np.linalg.norm(c.Xa[even], axis=1) + np.linalg.norm(c.Xb[even], axis=1)
    sign, lever = _levers(layout, X["Xa"], X["Xb"])
    loads, moving = loads_of(system.others), frame[:k]
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
        across=np.ascontiguousarray(in_plane),
        gravity=plane.basis[:2] @ system.gravity,
        offset=plane.offset,
        elements=element_lanes(elements, layout.elements, ends, stiffness, damping, strain0[:, (0, 1, 5)]),
        hinge=layout.hinge,
        sign=sign,
        lever=lever,
        first=layout.first,
        items=layout.items,
        closing=closing,
        coupled=coupled,
        trees=trees_of(order, coupled),
        sort=sort,
        joined=joined,
        between=layout.between,
        lam=lam,
        share=share,
        **X,
        value=np.array([row.value for row in own]),
        reach=np.maximum(reach, NEAREST),
        arm=reach + np.where(sort == arrays.COINCIDENT, 0.0, 1.0),
        size=np.where(sort == arrays.DISTANCE, np.sqrt(2.0 * np.abs(c.value[even])), 1.0),
        load=np.arange(len(loads.kind)),
        on=place[loads.frame],
        at=np.einsum("lab,lb->la", in_plane[place[loads.frame]], loads.X),
        moment=(loads.kind == MOMENT).astype(np.int64),
        following=loads.following.astype(np.int64),
        **springs._asdict(),
        driven=driven,
        drives=own_variables(system).first("drive"),
        signals=len(system.signals),
        hung=bool(np.all(layout.kind == arrays.HINGE))
        and not (len(ends) or len(coupled) or len(springs.spring)),
        aligned=_is_aligned(plane.basis, half, across, share),
        accounts=bool(elements.damping.any() or len(loads.kind) or len(driven)),
        solved=max(AT_NOISE, tolerance / EPS),
    )


def _is_aligned(*of: Floats) -> bool:
    """Whether all these numbers are 0, 1 or -1, and no direction has two of them; shares of multipliers, too."""
    numbers = np.concatenate([each.ravel() for each in of])
    return bool(np.isin(numbers, (-1.0, 0.0, 1.0)).all())


def _levers(layout: Layout, Xa: Floats, Xb: Floats) -> tuple[Floats, Floats]:
    """Signs and points, with components in the plane, of the hinges that frames hang on; items have them in any order."""
    hung = np.flatnonzero(layout.kind == arrays.HINGE)
    items = layout.hinge[hung]
    own_b = layout.joined[items, 1] == hung
    sign, lever = np.ones(len(layout.kind)), np.zeros((len(layout.kind), 4))
    sign[hung] = np.where(own_b, 1.0, -1.0)
    lever[hung] = np.where(own_b[:, None], np.hstack([Xb, Xa])[items], np.hstack([Xa, Xb])[items])
    return sign, lever


def _across(system: System, state: State, plane: Plane, pairs: Ints) -> Floats:
    """(n, 3, 3) body-fixed directions that the components of vectors on each frame are along, and the normal.

    Frames of one rod have the same, so that the turn from one to the next is that of its elements.
    """
    normals = quaternions.rotate(quaternions.conjugate(state.quat), plane.normal)
    normals = np.where(np.abs(normals) < 1e-14, 0.0, normals)
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    for a, b in pairs.tolist():
        normals[b] = normals[a]
    leaning = np.abs(normals[:, 0]) > 0.9  # not of frames of rods
    first = np.where(leaning[:, None], np.eye(3)[1], np.eye(3)[0])
    first = first - np.einsum("ni,ni->n", first, normals)[:, None] * normals
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, cross(normals, first), normals], axis=1)


def _halves(plane: Plane, across: Floats) -> Floats:
    """(k, 8): w and z of p, where quat = p o that of the turn from `across` to the plane's own directions."""
    base = quaternions.from_matrix(np.einsum("ai,naj->nij", plane.basis, across))
    base = quaternions.normalize(base)
    turned = quaternions.multiply(np.append(0.0, plane.normal), base)
    return np.concatenate([base, turned], axis=1)
