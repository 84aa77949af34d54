"""Arrays of a step of `em`, allocated once for a model, and the helpers that read and fill them."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from discretization.assembly.dissipation_arrays import Dissipation, no_dissipation
from discretization.assembly.drive_arrays import DriveWork, drive_work
from discretization.assembly.element_lanes import ElementLanes, element_lanes, with_material_of
from discretization.assembly.generic_assembly import (
    DISSIPATES,
    LOOPS_DISSIPATE,
    GenericAssembly,
    generic_groups,
    with_parameters_of,
)
from discretization.assembly.numbering import Numbering
from discretization.assembly.rod_spans import SpanWork, span_work
from discretization.assembly.thread_team import alone
from discretization.drives import DRIVEN, count_drives
from discretization.internal_variables import InternalOffsets, internal_offsets
from discretization.linear.bordered_band import scratch_of_border
from discretization.linear.multifrontal import scratch_length
from discretization.linear.narrow_band import narrow_scratch
from discretization.memoization import memoized, per_structure
from discretization.multipliers import multipliers_of
from discretization.relative_rotations import RotationWork, rotation_work
from discretization.system import System
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.constraints import CONSTRAINTS, facts
from rigid.interactions.kinds import has_closed_forms
from rigid.lanes import root
from rigid.linear_algebra import add3, apply, average, times
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference
from rigid.vectors import lengths

EPS = 2.220446049250313e-16
NOISE_FACTOR = 4.0  # residual/noise of a step solved to round-off
NEAREST = 1e-9  # m, reach of joints with all frames and points at the origin: their round-off is not zero


class ConstraintData(NamedTuple):
    """Data of the constraints apart from their formulas, by constraint; the other interactions with rows follow those of the
    table.
    """

    closed: Ints  # (k,) constraints with closed forms, kind by kind; the others use their duals
    first: Ints  # (kinds + 1,) first entry of a kind in `closed`
    turns: np.ndarray  # (c + e,) uint8, 1: constrains directions alone
    lightest: Floats  # (c + e,) mass (inertia if only directions are constrained) of the lighter moving frame
    reach: Floats  # (c + e,) |Xa| + |Xb|, m
    arm: Floats  # (c + e,) lever arm of the constraint force, m
    size: Floats  # (c + e,) size of the gradient with respect to positions


class Impulses(NamedTuple):
    """Addresses of the multipliers of a step; those of a constraint are consecutive."""

    unknown: Ints  # (m,) index of the unknown
    constraint: Ints  # (m,) constraint, whose scale applies


@by_reference
class Workspace(NamedTuple):
    """All arrays a step needs, allocated once for a model."""

    dr: Floats  # (n, 3) displacements of the step, m
    psi: Floats  # (n, 3) Cayley vectors of the step
    lam: Floats  # (m,) scaled multipliers
    r1: Floats  # (n, 3) positions at the end, m
    q1: Floats  # (n, 4) quaternions at the end
    R0: Floats  # (n, 3, 3) rotation matrices at the start
    R1: Floats  # (n, 3, 3) rotation matrices at the end
    solution: Floats  # (2, n, 3) dr and psi without the final correction
    alone: Ints  # (k,) moving frames treated one by one; of trees all but those of `BodyLanes`
    prescribed: Ints  # (k,) frames that are fixed, or whose motion is prescribed
    elements: ElementLanes
    viscous: bool  # True if some element dissipates
    accounts: bool  # True if something does work, dissipates or counts its angle
    loses: bool  # True if something dissipates
    solved: float  # convergence tolerance of residual/noise
    scale: Floats  # (c + e,) scale of constraint rows
    facts: ConstraintData
    impulses: Impulses
    internal_offsets: InternalOffsets
    generic_groups: GenericAssembly
    drives: DriveWork
    spans: SpanWork
    turns: RotationWork
    dissipation: Dissipation
    residual: Floats  # (N + 6 + 6 d,) equations, then rows of fixed frames, then of each driven frame
    noise: Floats  # (N + 6 + 6 d,) round-off level of each residual
    rhs: Floats  # (N,) right-hand side, then solution
    values: Floats  # (n_values + n_trash,) matrix entries, then trash entries
    panels: Floats  # panels of fronts; of far blocks the band before factorisation; of a border its factors
    outer: Floats  # contributions of fronts to other fronts in a solution
    team: Ints  # words of the threads that share a step; empty: single thread
    blocks: Ints  # far blocks that are not zero; row exchanges of a border
    rows: Ints  # first unknowns of the rows of these far blocks
    counts: Ints  # (2,) numbers of entries used in `blocks` and `rows`
    pivots: np.ndarray  # (N,) int32 pivot rows
    integers: np.ndarray  # (1,) int32, 1 if the factors are those of fronts
    done: Ints  # (k, 2) part of each block run eliminated by blocks: first unknown, number of blocks
    solved_without_matrix: Ints  # (1,) 1 if the last solve needed no matrix
    first: np.ndarray  # (N,) int32 first row of each column of U
    multipliers: Floats  # (narrow_scratch(band),) or, if larger, the scratch of fronts


def workspace(system: System, numbering: Numbering, closed: bool = True, tolerance: float = 0.0) -> Workspace:
    """Allocate the arrays of a step for `system`.

    `closed`: True to use closed forms of constraints if available. `tolerance`: relative tolerance of the equations of the step,
    0: round-off.
    """
    arrays = _structure_workspace(
        system, numbering._replace(handle=0), closed
    )  # it does not depend on the handle
    return with_parameters(arrays, system, numbering, closed, tolerance)


@memoized(per_structure, copies=True)
def _structure_workspace(system: System, numbering: Numbering, closed: bool) -> Workspace:
    return allocate_workspace(system, numbering, closed)


def with_parameters(
    arrays: Workspace, system: System, numbering: Numbering, closed: bool, tolerance: float
) -> Workspace:
    """Return `arrays`, the workspace of a system of the same structure, with the numerical data of `system`."""
    viscous, which = system.rods.viscous, _by_duals(system, closed)
    duals = (
        generic_groups(system, numbering, which)
        if which.any()
        else with_parameters_of(arrays.generic_groups, system)
    )
    return arrays._replace(
        elements=with_material_of(arrays.elements, system.elements),
        viscous=viscous,
        accounts=viscous or bool(duals.takes.any() or count_drives(system)),
        loses=viscous or bool((duals.takes & (DISSIPATES | LOOPS_DISSIPATE)).any()),
        solved=max(NOISE_FACTOR, tolerance / EPS),
        facts=_facts(system, arrays.facts),
        generic_groups=duals,
        drives=drive_work(system, duals),
        spans=span_work(system, numbering, closed) if len(system.spans.kind) else arrays.spans,
        turns=rotation_work(system),
    )


def _by_duals(system: System, closed: bool) -> np.ndarray:
    """Return which constraints of the table are assembled from their duals ((c,) bool)."""
    which: np.ndarray = _kinds_by_duals(closed, len(CONSTRAINTS))[system.constraints.kind]
    return which


@functools.cache
def _kinds_by_duals(closed: bool, count: int) -> np.ndarray:
    """Return which kinds of constraints are assembled from their duals ((kinds,) bool)."""
    return np.array([not closed or not has_closed_forms(kind) or kind.driven for kind in CONSTRAINTS])


def allocate_workspace(system: System, numbering: Numbering, closed: bool) -> Workspace:
    """Allocate the workspace of the structure of a system; `with_parameters` sets what depends on numerical data."""
    n, which = len(system.frames.mass), _by_duals(system, closed)
    duals = generic_groups(system, numbering, which)
    n_driven = int((system.frames.fixed == DRIVEN).sum())
    return Workspace(
        dr=np.zeros((n, 3)),
        psi=np.zeros((n, 3)),
        lam=np.zeros(int(numbering.rows.sum())),
        r1=np.zeros((n, 3)),
        q1=np.zeros((n, 4)),
        R0=np.zeros((n, 3, 3)),
        R1=np.zeros((n, 3, 3)),
        solution=np.zeros((2, n, 3)),
        alone=np.flatnonzero(system.frames.fixed == 0),
        prescribed=np.flatnonzero(system.frames.fixed != 0),
        elements=element_lanes(system.elements, numbering),
        viscous=False,
        accounts=False,
        loses=False,
        solved=NOISE_FACTOR,
        scale=np.ones(len(numbering.row)),
        facts=_of_kinds(system, ~which),
        impulses=impulses_of(numbering),
        internal_offsets=internal_offsets(system),
        generic_groups=duals,
        drives=drive_work(system, duals),
        spans=span_work(system, numbering, closed),
        turns=rotation_work(system),
        dissipation=no_dissipation(),
        residual=np.zeros(numbering.size + 6 + 6 * n_driven),
        noise=np.zeros(numbering.size + 6 + 6 * n_driven),
        rhs=np.zeros(numbering.size),
        values=np.zeros(numbering.n_values + numbering.n_trash),
        panels=np.zeros(_panels(numbering)),
        outer=np.zeros(int(numbering.fronts.first[-1])),
        team=alone(),
        blocks=np.zeros(max(len(numbering.far.row), numbering.border.rows), np.int64),
        rows=np.zeros(len(numbering.far.row), np.int64),
        counts=np.zeros(2, np.int64),
        pivots=np.zeros(numbering.size, dtype=np.int32),
        integers=np.zeros(1, dtype=np.int32),
        done=np.zeros((len(numbering.runs), 2), np.int64),
        solved_without_matrix=np.zeros(1, np.int64),
        first=np.zeros(numbering.size, dtype=np.int32),
        multipliers=np.zeros(
            max(
                narrow_scratch(numbering.band),
                scratch_length(numbering.fronts) + 8,
            )
        ),
    )


def impulses_of(numbering: Numbering) -> Impulses:
    """Return the addresses of the multipliers of all constraints."""
    constraint = np.repeat(np.arange(len(numbering.rows)), numbering.rows)
    within = np.arange(len(constraint)) - numbering.lam[constraint]
    return Impulses(unknown=numbering.row[constraint] + within, constraint=constraint)


def _panels(numbering: Numbering) -> int:
    """Return the length of `Workspace.panels`."""
    if len(numbering.far.row):
        return numbering.size * (3 * numbering.band + 1)
    if numbering.border.rows:
        return scratch_of_border(numbering.border.rows, numbering.size)
    return int(numbering.fronts.start[-1]) + 8


def _of_kinds(system: System, has_forms: np.ndarray) -> ConstraintData:
    """Return the constraint data that depend on kinds alone; the other arrays are zero."""
    kind, multipliers = system.constraints.kind, multipliers_of(system)
    by_kind = [np.flatnonzero(has_forms & (kind == k)) for k in range(len(CONSTRAINTS))]
    turns = np.concatenate([facts(kind, "turns"), multipliers.size[:, 0] == 0.0])
    none = np.zeros(len(turns))
    return ConstraintData(
        closed=np.concatenate(by_kind),
        first=np.cumsum([0, *(len(constraints) for constraints in by_kind)]),
        turns=turns.astype(np.uint8),
        lightest=none,
        reach=none,
        arm=none,
        size=none,
    )


def _facts(system: System, data: ConstraintData) -> ConstraintData:
    """Return the constraint data with the numbers of a system."""
    constraints, multipliers = system.constraints, multipliers_of(system)
    kind = constraints.kind
    reach = lengths(constraints.Xa) + lengths(constraints.Xb)
    arm = reach + np.where(facts(kind, "constant"), 0.0, 1.0)
    size = np.where(facts(kind, "quadratic"), np.sqrt(2.0 * np.abs(constraints.value)), 1.0)
    if len(multipliers.size):
        # sizes of the other gradients with respect to positions and rotations; the arm is their ratio
        to_place, to_turn = multipliers.size.T
        larger = np.where(to_place == 0.0, 1.0, to_turn / np.where(to_place == 0.0, 1.0, to_place))
        reach, arm = np.concatenate([reach, larger]), np.concatenate([arm, larger])
        size = np.concatenate([size, np.where(to_place == 0.0, to_turn, to_place)])
    masses = lightest(system, data.turns > 0)
    return data._replace(
        lightest=scale_to_multipliers(system, masses), reach=np.maximum(reach, NEAREST), arm=arm, size=size
    )


def lightest(system: System, rotates: np.ndarray) -> Floats:
    """Return the inertia (c + e,) of the lightest moving frame of each item with multipliers; frames without it do not count.

    An item without a frame that counts has the smallest inertia of all.

    It is the mass, kg, or the trace of the inertia tensor, kg m2, if the constraint is of directions alone (`rotates`).
    """
    frames, ends = system.frames, multipliers_of(system).frames
    inertia = np.add.reduce(np.diagonal(frames.inertia, axis1=1, axis2=2), axis=1)
    size = np.where(rotates[:, None], inertia[ends], frames.mass[ends])
    counts = (ends >= 0) & (frames.fixed[ends] == 0) & (size > 0.0)
    smallest = np.where(counts, size, np.inf).min(axis=1, initial=np.inf)
    least = np.min(size, where=counts, initial=np.inf)  # for items that hold nothing but frames without mass
    return np.where(np.isfinite(smallest), smallest, least if np.isfinite(least) else 0.0)


def scale_to_multipliers(system: System, sizes: Floats) -> Floats:
    """Return masses or stiffnesses (c + e,) as multipliers see them: divided by the squares of the constraint gradients."""
    multipliers = multipliers_of(system)
    if not len(multipliers.size):
        return sizes
    c, (to_place, to_turn) = len(multipliers.frames) - len(multipliers.size), multipliers.size.T
    gradient = np.where(to_place == 0.0, to_turn, to_place)
    return np.concatenate([sizes[:c], sizes[c:] / gradient**2])


@inline_kernel
def norm(x):
    """Return |x|."""
    return root(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


@inline_kernel
def three(x, first, rows, factor):
    """Return up to three numbers of an array, times a factor, as a vector."""
    if rows == 3:
        return factor * x[first], factor * x[first + 1], factor * x[first + 2]
    return factor * x[first], 0.0, 0.0


@inline_kernel
def unit_vector(i, size):
    """Return the vector of length `size` along axis i."""
    return (size if i == 0 else 0.0), (size if i == 1 else 0.0), (size if i == 2 else 0.0)


@inline_kernel
def rotation_of(R, f):
    """Return the rotation matrix of frame f as a tuple (9), from an array (n, 3, 3)."""
    return (
        R[f, 0, 0], R[f, 0, 1], R[f, 0, 2], R[f, 1, 0], R[f, 1, 1], R[f, 1, 2], R[f, 2, 0], R[f, 2, 1], R[f, 2, 2]
    )  # fmt: skip


@inline_kernel
def store_rotation(R, f, A):
    """Store the rotation matrix of frame f."""
    R[f, 0, 0], R[f, 0, 1], R[f, 0, 2] = A[0], A[1], A[2]
    R[f, 1, 0], R[f, 1, 1], R[f, 1, 2] = A[3], A[4], A[5]
    R[f, 2, 0], R[f, 2, 1], R[f, 2, 2] = A[6], A[7], A[8]


@internal_kernel
def copy(x, y):
    """Copy all numbers of x to the start of y; numpy's assignment would be compiled with its checks and messages."""
    for i in range(x.shape[0]):
        y[i] = x[i]


@internal_kernel
def rotate_at_both_ends(work, f, X):
    """Return R0 X, R1 X and their mean."""
    x0, x1 = apply(rotation_of(work.R0, f), X), apply(rotation_of(work.R1, f), X)
    return x0, x1, average(x0, x1)


@inline_kernel
def add_pair_forces(residual, at, bt, force, torque_a, torque_b):
    """Add a force on b, its opposite on a, and a torque on each to the residual."""
    add3(times(-1.0, force), residual[at : at + 3])
    add3(torque_a, residual[at + 3 : at + 6])
    add3(force, residual[bt : bt + 3])
    add3(torque_b, residual[bt + 3 : bt + 6])
