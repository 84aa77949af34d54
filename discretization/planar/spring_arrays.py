"""Build the arrays of springs and torsion springs of a planar model: springs first, then torsion springs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.interaction_table import (
    SPRINGS,
    TORSIONS,
    counted_variable_counts,
    springs_of,
    torsions_of,
)
from discretization.internal_variables import internal_variables
from discretization.system import System
from rigid.system import Floats, Ints


class SpringArrays(NamedTuple):
    """Arrays of q springs and torsion springs; for the meaning see `discretization.planar.arrays.Tables`."""

    spring: Ints  # (q, 2) elimination indices of frames a and b
    counted: Ints  # (q,) offset of the angle in `State.internal`, or -1
    column: Ints  # (q,) column of the first impulse, or -1
    law: Floats  # (q, 3) stiffness, damping, rest length or angle
    arms: Floats  # (q, 3, 2) points (m) or directions on a and b
    rounding: Floats  # (q, 2) sizes of force and moment for round-off levels


_NONE = SpringArrays(
    spring=np.zeros((0, 2), np.int64),
    counted=np.zeros(0, np.int64),
    column=np.zeros(0, np.int64),
    law=np.zeros((0, 3)),
    arms=np.zeros((0, 3, 2)),
    rounding=np.zeros((0, 2)),
)


def build_spring_arrays(
    system: System, index: Ints, in_plane: Floats, first: int
) -> tuple[SpringArrays, Ints]:
    """Return the spring arrays, and the frames that the impulses of springs between moving frames act on.

    The frames (c, 2) are elimination indices. index (n,): elimination index of each frame; in_plane: (k + 1, 2, 3) body-fixed
    directions of the components; first: number of impulses before these.
    """
    table = system.others
    if not {SPRINGS, TORSIONS} & set(table.kind.tolist()):
        return _NONE, np.zeros((0, 2), np.int64)
    springs, torsions = springs_of(table), torsions_of(table)
    s, t = len(springs.stiffness), len(torsions.stiffness)
    indices = np.concatenate([np.flatnonzero(table.kind == kind) for kind in (SPRINGS, TORSIONS)])
    count = counted_variable_counts(table)
    angle = internal_variables(system).first("angle") + np.cumsum(count) - count
    spring = index[np.concatenate([springs.frames, torsions.frames])]
    vectors = np.zeros((s + t, 3, 3))
    vectors[:s, 0], vectors[:s, 1] = springs.Xa, springs.Xb
    vectors[s:] = np.stack([torsions.Ua, torsions.Wa, torsions.Ub], axis=1)
    on = np.concatenate([spring[:s][:, [0, 1, 0]], spring[s:][:, [0, 0, 1]]])
    law = [
        np.column_stack([columns.stiffness, columns.damping, rest_value])
        for columns, rest_value in ((springs, springs.length0), (torsions, torsions.angle0))
    ]
    width = np.where(np.arange(s + t) < s, 2, 1)
    width[(spring == len(in_plane) - 1).any(axis=1)] = 0
    tables = SpringArrays(
        spring=spring,
        counted=np.where(np.arange(s + t) < s, -1, angle[indices]),
        column=np.where(width > 0, first + np.cumsum(width) - width, -1),
        law=np.concatenate(law),
        arms=np.einsum("qiab,qib->qia", in_plane[on], vectors),
        rounding=table.size[indices].copy(),
    )
    return tables, np.repeat(spring, width, axis=0)
