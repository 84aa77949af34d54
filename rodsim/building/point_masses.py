"""Reject interactions that need the rotation of a body about an axis without moment of inertia.

A point X of a body, or a direction U, needs the rotation about an axis a if this rotation moves it: a x X != 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import loads_of, springs_of, torsions_of, without_file_tables
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError, PartName
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.gear import DISPLACEMENT, coordinates_of
from rigid.interactions.law_springs import (
    DISPLACEMENT_DAMPER,
    DISPLACEMENT_SPRING,
    LENGTH_DAMPER,
    LENGTH_SPRING,
)
from rigid.interactions.measure_forces import MEASURE_FORCES
from rigid.system import FORCE, Floats
from rodsim.building.placement import Placement
from rodsim.components.joints import Gear
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Body
from rodsim.components.user_interactions import AnchoredInteraction

# kinds that act on points of both frames, and those that act on a point of the second one
_LENGTHS = LENGTH_SPRING, LENGTH_DAMPER, MEASURE_FORCES["distance"], MEASURE_FORCES["stretch"]
_DISPLACEMENTS = DISPLACEMENT_SPRING, DISPLACEMENT_DAMPER, MEASURE_FORCES["displacement"]
NEAR = 1e-9  # a point closer to the axis than this fraction of the model's size is on it
EVERY_ROTATION = np.full(3, np.nan)  # marks an interaction that needs every rotation


def massless_axes(model: ModelData, placement: Placement) -> dict[int, Floats]:
    """Return, for each frame with axes without inertia, the projection (3, 3) on them; rotations about them have no meaning."""
    return {
        placement.body_frame[name]: body.properties.without_inertia
        for name, body in model.bodies.items()
        if body.properties.without_inertia.any()
    }


def check_rotations(model: ModelData, system: System, placement: Placement) -> None:
    """Raise ModelError if something needs a rotation for which a body has no inertia."""
    thin, bodies = massless_axes(model, placement), list(model.bodies.values())
    for frame in thin:
        _check_spin(bodies[frame - 1])
    for kind, name, frame, X, length in _rotation_needs(model, system, placement) if thin else ():
        if frame not in thin:
            continue
        axes = thin[frame]
        moved = np.abs(np.cross(axes.T, X)).max() if np.isfinite(X).all() else np.inf
        if moved > NEAR * (placement.size if length else 1.0):
            body = bodies[frame - 1]  # bodies have the first frames after the ground
            raise ModelError(
                f"{body} has no moment of inertia{_axis_in_words(axes)}, but {kind} '{name}' needs its rotation; hold it "
                "by its centre of mass with spherical or distance joints and springs, or give it an inertia",
                about=[PartName("body", body.name)],
            )


def _axis_in_words(axes: Floats) -> str:
    """Name the axis without inertia, for messages; "" if there are several."""
    if np.trace(axes) > 2.0:
        return ""
    axis = axes[:, np.argmax(np.diag(axes))]
    x, y, z = axis / np.linalg.norm(axis)
    return f" about ({x:.3g}, {y:.3g}, {z:.3g})"


def _check_spin(body: Body) -> None:
    """Raise ModelError if the initial angular velocity of a body is about an axis without inertia."""
    if body.angular_velocity is None:
        return
    omega = quaternions.rotate(quaternions.conjugate(body.orientation), body.angular_velocity)
    spin = np.linalg.norm(body.properties.without_inertia @ omega)
    if spin > 1e-12 * np.linalg.norm(omega):
        raise ModelError(
            f"{body} has no moment of inertia{_axis_in_words(body.properties.without_inertia)}, but spins about it at {spin:.3g} "
            "rad/s; set this part of angular_velocity to zero",
            about=[PartName("body", body.name)],
        )


# kind and name of the interaction that needs a rotation, frame, point or direction there, 1 for points and 0 for directions
Need = tuple[str, str, int, Floats, float]


def _rotation_needs(model: ModelData, system: System, placement: Placement) -> Iterator[Need]:
    """Yield the points and directions of all constraints, springs, loads and other interactions."""
    yield from _constraint_needs(model, system)
    springs, torsions = springs_of(system.others), torsions_of(system.others)
    for side, column in enumerate(("Xa", "Xb")):
        for name, frames, X in zip(model.springs, springs.frames, getattr(springs, column), strict=True):
            yield "spring", name, int(frames[side]), X, 1.0
        for name, frames in zip(model.torsions, torsions.frames, strict=True):
            yield "torsion spring", name, int(frames[side]), EVERY_ROTATION, 0.0
    loads = loads_of(system.others)
    names = [*model.loads, *[""] * (len(loads.kind) - len(model.loads))]
    for k, name in enumerate(names):
        turns = loads.kind[k] != FORCE or loads.following[k] != 0
        yield "load", name, int(loads.frame[k]), EVERY_ROTATION if turns else loads.X[k], 1.0
    yield from _interaction_needs(model, system, placement)


def _constraint_needs(model: ModelData, system: System) -> Iterator[Need]:
    """Yield the points and directions of the constraint rows of joints and drives."""
    constraints = system.constraints
    names = model.constraint_names
    for c, number in enumerate(constraints.kind):
        columns = CONSTRAINTS[number].columns
        for side, (X, U) in enumerate((("Xa", "Ua"), ("Xb", "Ub"))):
            for column, length in ((X, 1.0), (U, 0.0)):
                if column in columns:
                    value = getattr(constraints, column)[c]
                    yield *names[constraints.joint[c]], int(constraints.frames[c, side]), value, length


def _interaction_needs(model: ModelData, system: System, placement: Placement) -> Iterator[Need]:
    """Yield the points and directions of gears, user-defined interactions, bushings and springs with a law."""
    table = without_file_tables(system.others)
    entries: list[Any] = [entry for entry in model.interactions for _ in entry.make_interactions(placement)]
    entries = [*model.gears.values(), *entries]
    for e, (entry, number) in enumerate(zip(entries, table.kind, strict=True)):
        X, name = table.numbers[table.first[e] : table.first[e + 1]], entry.name
        if isinstance(entry, Gear):
            for q in coordinates_of(table.frames[e], X):
                points = ((0, q.Ua, 0.0), (1, q.Ub, 0.0), (0, q.Xa, 1.0), (1, q.Xb, 1.0))
                for side, place, length in points if q.sort == DISPLACEMENT else points[:2]:
                    yield "gear", name, q.frames[side], place, length
            continue
        if isinstance(entry, AnchoredInteraction):
            for frame, lever in zip(table.frames[e].tolist(), entry.levers(X), strict=False):
                yield "interaction", name, frame, EVERY_ROTATION if lever is None else lever, 1.0
            continue
        lengths = INTERACTIONS[number] in _LENGTHS
        along_axis = INTERACTIONS[number] in _DISPLACEMENTS
        yield "spring or bushing", name, int(table.frames[e, 0]), X[:3] if lengths else EVERY_ROTATION, 1.0
        yield (
            "spring or bushing",
            name,
            int(table.frames[e, 1]),
            X[3:6] if lengths or along_axis else EVERY_ROTATION,
            1.0,
        )
