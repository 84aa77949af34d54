"""Build the arrays of a planar model: frames in elimination order, elements, joints and loads with components in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from discretization.assembly.stress_rounding import largest_entries
from discretization.assembly.workspace import EPS, NOISE_FACTOR
from discretization.interaction_table import loads_of
from discretization.planar.arrays import ElementLanes, Tables
from discretization.planar.element_lanes import N_PLACES
from discretization.planar.elimination_order import MAX_COUPLINGS, TOO_MANY_COUPLINGS, coupled_trees
from discretization.planar.joint_redundancy import REDUNDANT_JOINTS, has_independent_joints
from discretization.planar.joint_rows import Row
from discretization.planar.layout import Layout, symbolic_layout
from discretization.planar.mirror_symmetry import compute_plane_directions
from discretization.planar.parameter_arrays import (
    ARM,
    REACH,
    SIZE,
    UA,
    UB,
    XA,
    XB,
    aligned,
    frame_parameters,
    hinge_levers,
    row_parameters,
)
from discretization.planar.spring_arrays import build_spring_arrays
from discretization.planar.symmetry_plane import (
    Actuations,
    SymmetryPlane,
    actuation_in_plane,
    actuations_of,
    axes_of,
    rotate_section_matrices,
)
from discretization.space.elements import Elements
from discretization.system import System
from rigid.lanes import WIDTH
from rigid.system import MOMENT, Floats, Ints, State

_IN_PLANE = (0, 1, 5)  # strains in the plane: stretch, shear and bending


def build_tables(system: System, state: State, plane: SymmetryPlane, tolerance: float = 0.0) -> Tables | str:
    """Return the arrays of a planar model, or, as text, why the elimination does not support it."""
    frames, elements, c, planar_rows = system.frames, system.elements, system.constraints, plane.rows
    if np.any(frames.mass[frames.fixed == 0] == 0.0):
        return "a part has no mass"
    layout = symbolic_layout(system, planar_rows)
    if isinstance(layout, str):
        return layout
    order, joined, closing = layout.order, layout.joined, layout.order.closing
    if (len(closing) or c.repeats.any()) and not has_independent_joints(system, state, plane):
        return REDUNDANT_JOINTS
    frame = layout.frame
    n, count, j = len(frames.mass), len(frame), len(planar_rows)
    across, half = np.empty((count, 3, 3)), np.empty((count, 8))
    compute_plane_directions(state.quat, plane.basis, elements.frames, np.empty((n, 3)), frame, across, half)
    in_plane = np.ascontiguousarray(across[:, :2])
    springs, between = build_spring_arrays(system, layout.elimination_index, in_plane, 2 * len(closing))
    coupled = _NO_PAIRS
    if len(closing) or len(between):
        coupled = np.concatenate([np.repeat(joined[closing], 2, axis=0), between])
    if len(coupled) > MAX_COUPLINGS:
        return TOO_MANY_COUPLINGS
    X, lengths, factors = np.empty((4, j, 2)), np.empty((3, j)), _multiplier_factors(planar_rows)
    directions = [
        np.array([getattr(row, name) for row in planar_rows]).reshape(-1, 3) for name in ("Ua", "Ub")
    ]
    rows = layout.constraint, layout.sort, joined
    row_parameters(rows, (c.Xa, c.Xb), tuple(directions), c.value, across, X, lengths)
    mass, inertia, gyration = np.empty((3, count - 1))
    frame_parameters(frame, frames.mass, frames.inertia, across, mass, inertia, gyration)
    sign, lever = np.empty(count - 1), np.empty((count - 1, 4))
    hinge_levers((layout.hinge_frames, layout.frame_hinges, layout.is_b), X, sign, lever)
    loads = _loads(system, layout.elimination_index, in_plane)
    actuations = actuations_of(system)
    actuated, actuation = _stresses_of(actuations, axes_of(across[layout.ends[:, 0], 2]))
    return Tables(
        basis=plane.basis,
        frame=frame,
        parent=order.parent,
        kind=layout.kind,
        first_next=order.first_next,
        beyond=order.beyond,
        first_pair=layout.first_pair,
        pair=layout.pair,
        mass=mass,
        inertia=inertia,
        gyration=gyration,
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
        trees=coupled_trees(order, coupled) if len(coupled) else layout.trees,
        sort=layout.sort,
        joined=joined,
        between=layout.between,
        lam=layout.lam,
        factors=factors,
        Xa=X[XA],
        Xb=X[XB],
        Ua=X[UA],
        Ub=X[UB],
        value=np.array([row.value for row in planar_rows]),
        reach=lengths[REACH],
        arm=lengths[ARM],
        size=lengths[SIZE],
        **loads._asdict(),
        actuated=actuated,
        actuation=actuation,
        **springs._asdict(),
        driven=layout.driven,
        drives=layout.drives,
        signals=layout.signals,
        is_open_chain=layout.hinged and not (len(coupled) or len(springs.spring)),
        aligned=aligned(plane.basis, half, across, factors),
        accounts=bool(
            elements.damping.any() or len(loads.load) or len(layout.driven) or len(actuations.value)
        ),
        solved=max(NOISE_FACTOR, tolerance / EPS),
    )


_NO_PAIRS = np.zeros((0, 2), np.int64)
_ROUNDING = 1e-14  # of a stress, in components that are zero but for the rotation to the axes of the plane


def _stresses_of(actuations: Actuations, axes: Floats) -> tuple[Ints, Floats]:
    """Return places and sizes (a,) of the stresses that are not zero, as in `Tables`; axes (m, 3, 3): those of the elements."""
    stress = actuation_in_plane(actuations, axes)[:, _IN_PLANE]
    size = np.abs(stress).max(axis=1, keepdims=True, initial=0.0)
    k, i = np.nonzero(np.abs(stress) > _ROUNDING * size)
    element = actuations.element[k]
    return np.column_stack([actuations.value[k], element // WIDTH, i, element % WIDTH]), stress[k, i]


_ONE = (1.0,)


def _multiplier_factors(rows: Sequence[Row]) -> Floats:
    """Return the ratios (j, 3) of the multipliers of each row to the multiplier of the planar row."""
    factors = np.zeros((len(rows), 3))
    factors[:, 0] = 1.0
    for j, row in enumerate(rows):
        if row.factors != _ONE:
            factors[j, : len(row.factors)] = row.factors
    return factors


_NO_ELEMENTS = ElementLanes(
    np.zeros((N_PLACES, 0), np.int64), np.zeros((0, 2), np.int64), np.zeros(0), np.zeros((0, 3, 3)), np.zeros((0, 3, 3)),
    np.zeros((0, 3)), np.zeros(0), np.zeros((0, 4)), False, False
)  # fmt: skip


def _elements(elements: Elements, layout: Layout, across: Floats) -> ElementLanes:
    """Return the element arrays with components in the plane; across (k + 1, 3, 3): directions and normal of each frame."""
    m = len(elements.length)
    if not m:
        return _NO_ELEMENTS
    T = axes_of(across[layout.ends[:, 0], 2])
    in_plane = np.ix_(range(m), _IN_PLANE, _IN_PLANE)
    stiffness, damping = (
        rotate_section_matrices(matrices, T)[in_plane] for matrices in (elements.stiffness, elements.damping)
    )
    strain0 = np.concatenate(
        [np.einsum("mij,mj->mi", T, x) for x in (elements.strain0[:, :3], elements.strain0[:, 3:])], 1
    )
    return ElementLanes(
        offsets=layout.elements,
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
    """Arrays of l loads; for the meaning see `arrays.Tables`."""

    load: Ints  # (l,) number in the system
    on: Ints  # (l,) elimination index of the frame
    at: Floats  # (l, 2) point of application, m
    moment: Ints  # (l,) 1 if it is a moment
    following: Ints  # (l,) 1 if it rotates with its frame


_NO = np.zeros(0, np.int64)
_NO_LOADS = _Loads(_NO, _NO, np.zeros((0, 2)), _NO, _NO)


def _loads(system: System, index: Ints, in_plane: Floats) -> _Loads:
    """Return the load arrays.

    index (n,): elimination index of each frame; in_plane (k + 1, 2, 3): directions of the components.
    """
    if not len(system.others.kind):
        return _NO_LOADS
    loads = loads_of(system.others)
    on = index[loads.frame]
    at = np.einsum("lab,lb->la", in_plane[on], loads.X)
    moment = (loads.kind == MOMENT).astype(np.int64)
    return _Loads(np.arange(len(on)), on, at, moment, loads.following.astype(np.int64))
