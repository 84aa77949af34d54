"""Build the constraints of joints: their markers and rows, their layout in results, and the detection of redundant joints."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.interaction_table import Interaction
from discretization.multipliers import multipliers_of
from discretization.redundancy import redundancy, with_redundancy_marked
from discretization.space.strain_constraints import STRAIN_CONSTRAINTS
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError, RedundantJointsWarning
from rigid.interactions.constraints import numbers_of
from rigid.interactions.gear import ANGLE, DISPLACEMENT, Coordinate, gear
from rigid.joints import JOINTS, JointParameters, Marker, Row
from rigid.joints.base import NONE, at_distance
from rigid.system import Constraints, Floats, Ints, State
from rigid.user_warnings import warn_user
from rigid.vectors import cross, norm
from rodsim.building.drive_values import DrivenRow, driven_row
from rodsim.building.joint_loops import AxisMisalignment, find_misalignment, links_of, loop_closed_by
from rodsim.building.joint_markers import markers
from rodsim.building.placement import Placed, Placement
from rodsim.components.base import perpendicular_to
from rodsim.components.joints import DISTANCE, Gear, JointComponent
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Anchor, section_at
from rodsim.components.part_lookup import ErrorContext, quote_names
from rodsim.results.gear_history import GEAR
from rodsim.results.layout import JointLayout

ASSEMBLED = 1e-9  # points of a joint closer than this fraction of the model's size coincide
DRIVE = "drive"  # the kind of a drive in results


class JointMarkers(NamedTuple):
    """Hold a joint between two markers."""

    a: Marker
    b: Marker
    parameters: JointParameters  # length, pitch and locked state that the user gave
    points: Floats  # (2, 3) m, points of both markers, frame axes
    axes: Floats  # (2, 3, 3) triads of both markers, frame axes, columns e1, e2, e3


class JointConstraints(NamedTuple):
    """Hold the constraints and interactions made from joints, drives and gears."""

    constraints: Constraints  # rows of all joints, then of all drives
    joined: list[JointMarkers]  # markers of each joint, drive and gear; a gear has those of its first joint
    driven: list[DrivenRow]  # driven constraints of the drives
    gears: list[Interaction]


def constraints_of(model: ModelData, placement: Placement) -> JointConstraints:
    """Build the constraint rows of all joints and drives of a model, and the interactions of its gears."""
    rows: list[tuple[int, Marker, Marker, Row]] = []
    joined = _joint_markers(model, placement)
    of_joint: dict[str, JointMarkers] = dict(zip(model.joints, joined, strict=True))
    replaced = _driven_distances(model)
    for number, entry in enumerate(model.joints.values()):
        if entry.name in replaced:
            continue
        a, b, parameters = joined[number][:3]
        with ErrorContext("joint", entry.name):
            rows += [(number, a, b, row) for row in JOINTS[entry.kind].rows(a, b, parameters)]
    driven = []
    for number, drive in enumerate(model.drives.values(), start=len(model.joints)):
        of_drive = of_joint[drive.joint.name]
        joined.append(of_drive)
        driven.append(driven_row(drive, of_drive.a, of_drive.b, of_drive.parameters.length))
        rows.append((number, of_drive.a, of_drive.b, driven[-1].row))
    rows += _string_rows(model, placement)
    joined += [of_joint[entry.terms[0].joint.name] for entry in model.gears.values()]
    frames = np.array([(a.frame, b.frame) for _, a, b, _ in rows], dtype=np.int64).reshape(-1, 2)

    def vectors(column: list[Floats]) -> Floats:
        return np.concatenate(column).reshape(-1, 3) if column else np.zeros((0, 3))

    constraints = Constraints(
        kind=numbers_of([row.kind for *_, row in rows]),
        frames=frames,
        Xa=vectors([a.X for _, a, _, _ in rows]),
        Xb=vectors([b.X for _, _, b, _ in rows]),
        Ua=vectors([row.Ua for _, _, _, row in rows]),
        Ub=vectors([row.Ub for _, _, _, row in rows]),
        value=np.array([row.value for _, _, _, row in rows], dtype=float),
        joint=np.array([number for number, _, _, _ in rows], dtype=np.int64),
    )
    if any(row.Wa is not NONE or row.Wb is not NONE for *_, row in rows):
        Wa, Wb = vectors([row.Wa for *_, row in rows]), vectors([row.Wb for *_, row in rows])
        if np.any(Wa) or np.any(Wb):
            constraints = constraints._replace(Wa=Wa, Wb=Wb)
    return JointConstraints(
        constraints, joined, driven, [_gear(entry, of_joint) for entry in model.gears.values()]
    )


def _string_rows(model: ModelData, placement: Placement) -> list[tuple[int, Marker, Marker, Row]]:
    """Return the rows that keep the lengths of the elements of strings that do not stretch; each element has its own number."""
    rows: list[tuple[int, Marker, Marker, Row]] = []
    first_number = len(model.constraint_names)
    for name, rod in model.inextensible_rods.items():
        spans, first = placement.meshes[name].spans, placement.first[name]
        if np.any(spans.stiffness):
            raise ModelError(
                f"{rod}: its section stretches in some places, but not at s = 0; give all of it EA = inf, or none"
            )
        lengths_of_elements = spans.length * (1.0 + spans.strain0[:, 0])
        for (a, b), length in zip(
            (first + spans.frames[:, :2]).tolist(), lengths_of_elements.tolist(), strict=True
        ):
            markers_of_element = Marker(a, np.zeros(3), np.eye(3)), Marker(b, np.zeros(3), np.eye(3))
            rows.append((first_number + len(rows), *markers_of_element, at_distance(length)))
    return rows


def strain_constraints(model: ModelData, placement: Placement) -> tuple[list[Interaction], list[str]]:
    """Return the constraints of rods that do not stretch or shear, one for each element, and the name of each."""
    made: list[Interaction] = []
    names: list[str] = []
    for name, rod in model.rods.items():
        rigid = section_at(rod, 0.0).rigid_strains
        if not rigid:
            continue
        mesh, first = placement.meshes[name], placement.first[name]
        elements = mesh.elements if len(mesh.elements.length) else mesh.spans
        for (a, b), length, strain0 in zip(
            elements.frames[:, :2].tolist(), elements.length.tolist(), elements.strain0, strict=True
        ):
            numbers = np.concatenate([[length], strain0[:3]])
            made.append(
                Interaction(STRAIN_CONSTRAINTS[rigid], (first + a, first + b), numbers, (1.0, length))
            )
        names += [str(rod)] * (len(made) - len(names))
    return made, names


def _gear(entry: Gear, of_joint: dict[str, JointMarkers]) -> Interaction:
    """Build the interaction of a gear; the length of the axis of each coordinate is its ratio."""
    terms, none = [], np.zeros(3)
    for part in entry.terms:
        a, b = of_joint[part.joint.name][:2]
        sort, W, U = ANGLE, a.axes[:, 0], b.axes[:, 0]
        if part.of != "angle":
            sort, W, U = DISPLACEMENT, none, none
        terms.append(Coordinate(sort, (a.frame, b.frame), a.X, b.X, part.ratio * a.axes[:, 2], W, U))
    with ErrorContext("gear", entry.name):
        return Interaction(*gear(terms, f"gear '{entry.name}'"))


def joint_layouts(model: ModelData, placement: Placement, joined: list[JointMarkers]) -> list[JointLayout]:
    """Return the layouts of joints, drives and gears for results: their rows of `State.lam` and their markers."""
    layouts, first, replaced = [], 0, _driven_distances(model)
    kinds = [(entry.name, entry.kind) for entry in model.joints.values()]
    kinds += [(name, DRIVE) for name in model.drives] + [(name, GEAR) for name in model.gears]
    n_strings = sum(len(placement.meshes[name].spans.kind) for name in model.inextensible_rods)
    for (name, kind), (a, b, parameters, points, axes) in zip(kinds, joined, strict=True):
        if kind == GEAR and n_strings:  # the rows of gears follow those of the table of constraints
            first, n_strings = first + n_strings, 0
        count = 1 if kind in (DRIVE, GEAR) else JOINTS[kind].count(parameters)
        last = first + (0 if kind not in (DRIVE, GEAR) and name in replaced else count)
        layouts.append(JointLayout(name, kind, (first, last), (a.frame, b.frame), points, axes))
        first = last
    number = {layout.name: k for k, layout in enumerate(layouts)}
    for joint, drive in replaced.items():  # the row of the drive is that of the joint
        layouts[number[joint]] = dataclasses.replace(layouts[number[joint]], rows=layouts[number[drive]].rows)
    return layouts


def _driven_distances(model: ModelData) -> dict[str, str]:
    """Return the names of distance joints whose distance is driven, and of their drives."""
    return {drive.joint.name: name for name, drive in model.drives.items() if drive.of == DISTANCE}


class WorldMarkers(NamedTuple):
    """Hold points and axes of the two sides of a joint in the world."""

    frames: tuple[int, int]
    points: tuple[Floats, Floats]  # (3,) m, in the world
    axes: tuple[Floats, Floats]  # (3, 3) in the world, columns e1, e2, e3
    parameters: JointParameters


def _joint_markers(model: ModelData, placement: Placement) -> list[JointMarkers]:
    """Return the two markers of each joint and its given values, computed for all joints at once."""
    entries, world_markers = list(model.joints.values()), []
    if not entries:
        return []
    sides = [side for entry in entries for side in (entry.a, entry.b)]
    positions = iter(placement.placed([side for side in sides if isinstance(side, Anchor)]))
    placed = [next(positions) if isinstance(side, Anchor) else None for side in sides]
    for k, entry in enumerate(entries):
        with ErrorContext("joint", entry.name):
            world_markers.append(_world_markers(entry, placed[2 * k : 2 * k + 2], placement, model))
    frames = np.array([world.frames for world in world_markers]).ravel()
    points = np.array([world.points for world in world_markers]).reshape(-1, 3)
    triads = np.array([world.axes for world in world_markers]).reshape(-1, 3, 3)
    X, axes = np.empty((len(world_markers), 2, 3)), np.empty((len(world_markers), 2, 3, 3))
    poses = placement.r, placement.quat
    markers(frames, points, triads, poses, X.reshape(-1, 3), axes.reshape(-1, 3, 3))
    return [
        JointMarkers(
            Marker(world.frames[0], x[0], e[0]), Marker(world.frames[1], x[1], e[1]), world.parameters, x, e
        )
        for world, x, e in zip(world_markers, X, axes, strict=True)
    ]


def _world_markers(
    entry: JointComponent, placed: Sequence[Placed | None], placement: Placement, model: ModelData
) -> WorldMarkers:
    """Return points and axes of the two sides of one joint; `placed`: the positions of its sides that are anchors, else None.

    Raises ModelError if no point is given, if points that should coincide do not, or if both sides are one frame.
    """
    owner = f"{entry.kind} joint '{entry.name}'"
    sides = entry.a, entry.b
    points: list[tuple[Any, Floats]] = [
        (x, position.world) for x, position in zip(sides, placed, strict=True) if position is not None
    ]
    if entry.at is not None:
        points.insert(0, ("at", entry.at))
    if not points:
        raise ModelError(f"{owner}: has no point; give `at=` or a point of a part")
    apart = JOINTS[entry.kind].apart
    length = _length(owner, entry, points[1][1] - points[0][1], placement.size, model) if apart else 0.0
    for name, point in points[1:] if not apart else ():
        gap = norm(point - points[0][1])
        # a single body at the origin has no size here: compare with the distance of the points from the origin too
        far = gap > ASSEMBLED * placement.size
        if far and gap > ASSEMBLED * max(np.abs(point).max(), np.abs(points[0][1]).max()):
            raise ModelError(_describe_gap(owner, model, entry, points[0], (name, point)))
    a, b = (
        placement.frame_of(x) if position is None else position.frame
        for x, position in zip(sides, placed, strict=True)
    )
    if a == b:
        raise ModelError(
            f"{owner}: joins {entry.a} to {entry.b}, which is the same node; give two points apart"
        )
    # both lever arms from one world point: the joint begins with g = 0 to round-off
    ends = (points[0][1], points[1][1] if apart else points[0][1])
    parameters = JointParameters(length, entry.pitch or 0.0, entry.locked)
    return WorldMarkers((a, b), ends, _triads(entry, placement.quat[a]), parameters)


def _triads(entry: JointComponent, quat: Floats) -> tuple[Floats, Floats]:
    """Return the world axes e1, e2, e3 of both markers as columns (3, 3); `quat`: orientation of frame a."""
    if entry.axis is None:
        triad = quaternions.to_matrix(quat) if "locked" in JOINTS[entry.kind].takes else np.eye(3)
        return triad, triad
    e3 = entry.axis
    square = JOINTS[entry.kind].second_axis == "perpendicular"
    first = _triad(
        e3.tobytes(), entry.second_axis.tobytes() if square and entry.second_axis is not None else b""
    )
    if entry.second_axis is None or square:
        return first, first
    # the smallest rotation from one shaft to the other
    axis = cross(e3, entry.second_axis)
    sine = float(np.linalg.norm(axis))
    angle = np.arctan2(sine, float(e3 @ entry.second_axis))
    bent = quaternions.from_rotation_vector(axis * (angle / sine if sine > 0.0 else 1.0))
    return first, quaternions.rotate(bent, first.T).T


@functools.lru_cache(maxsize=256)
def _triad(e3: bytes, e1: bytes) -> Floats:
    """Return columns e1, e2, e3 (3, 3) from an axis e3 and a direction e1 across it, both as bytes; e1 may be empty.

    The results are cached, since most joints of a model have the same axes: building a chain of hinges takes half the time.
    """
    along = np.frombuffer(e3)
    first = np.frombuffer(e1) if e1 else perpendicular_to(along)
    triad: Floats = np.array([first, cross(along, first), along]).T
    triad.flags.writeable = False
    return triad


def _describe_gap(
    owner: str, model: ModelData, entry: JointComponent, one: tuple[Any, Floats], other: tuple[Any, Floats]
) -> str:
    """Describe a joint whose points do not coincide: which points, how far apart, and the loop that does not close."""
    d = other[1] - one[1]
    text = f"{owner}: |g| = {np.linalg.norm(d):.3g} m at t = 0 between {one[0]} and {other[0]}; "
    loop = loop_closed_by(links_of(model.joints.values()), entry.name) if one[0] != "at" else None
    if loop is None:
        return f"{text}move one of them or name one point only"
    difference = ", ".join(f"{x:.6g}" for x in d)
    return (
        f"{text}{loop} does not close: from the one point to the other ({difference}) m are missing; move one of them, place or "
        "size the parts between so that they meet, or name one point only"
    )


def _length(owner: str, entry: JointComponent, d: Floats, size: float, model: ModelData) -> float:
    """Return the distance of the points of a joint at t = 0, m.

    Raises ModelError if the points coincide or if the distance differs from the given `length`.
    """
    distance = float(np.linalg.norm(d))
    if distance <= ASSEMBLED * size:
        raise ModelError(f"{owner}: its points {entry.a} and {entry.b} coincide; use 'spherical'")
    if entry.length is not None and abs(distance - entry.length) > ASSEMBLED * size:
        loop = loop_closed_by(links_of(model.joints.values()), entry.name)
        closes = f"{loop} does not close; " if loop else ""
        raise ModelError(
            f"{owner}: length = {entry.length:.6g} m, but {entry.a} and {entry.b} are {distance:.6g} m apart at t = 0; "
            f"{closes}move one of them or remove `length=`"
        )
    return distance


def owner_of_rows(
    joints: Sequence[tuple[str, str]], rods: Iterable[tuple[str, Ints]], system: System, index: int
) -> tuple[str, str]:
    """Return kind and name of the joint, drive or string that has the constraint `index`.

    `joints`: kinds and names of joints and drives; `rods`: names and frames of rods.
    """
    number = int(system.constraints.joint[index])
    if number < len(joints):
        return joints[number]
    frame = system.constraints.frames[index, 0]
    return "rod", next(name for name, frames in rods if frame in frames)


def names_of_constraints(
    joints: Sequence[str], rods: Sequence[tuple[str, Ints]], interaction_names: Sequence[str], system: System
) -> list[str]:
    """Return the names of all constraints, in the order of the numbers in `MultiplierItems.joint`.

    `joints`: names of joints and drives; `rods`: names and frames of rods, whose strings may have rows.
    """
    numbers = system.constraints.joint
    count = int(numbers.max(initial=-1)) + 1
    names = list(joints)[:count]
    for index in np.searchsorted(numbers, range(len(names), count)).tolist():
        names.append(owner_of_rows((), rods, system, index)[1])
    behind = (interaction_names[k] for k in multipliers_of(system).other)
    plain = "gear '", "rod '"
    return [*names, *(name.split("'")[1] if name.startswith(plain) else name for name in behind)]


def most_violated(system: System, residual: Floats, interaction_names: Sequence[str]) -> tuple[int, str]:
    """Return the constraint with the largest residual, and the name of the interaction that it belongs to.

    The number is that in `MultiplierItems`; the name is "" for joints and drives, whose constraints come first.
    """
    multipliers = multipliers_of(system)
    worst, first = int(multipliers.per_row[int(np.argmax(np.abs(residual)))]), len(system.constraints.kind)
    return worst, interaction_names[multipliers.other[worst - first]] if worst >= first else ""


def soften_redundant_joints(
    model: ModelData,
    system: System,
    state: State,
    rods: Sequence[tuple[str, Ints]] = (),
    interaction_names: Sequence[str] = (),
) -> tuple[System, list[list[str]]]:
    """Return the system with redundant joints marked, and the names of these joints, loop by loop.

    Warns (RedundantJointsWarning) if there are any: not all of their forces and moments are determined.
    """
    redundant = redundancy(system, state)
    if redundant is None:
        return system, []
    joints = [name for _, name in model.constraint_names]
    names = names_of_constraints(joints, rods, interaction_names, system)
    loops = [list(dict.fromkeys(names[joint] for joint in loop)) for loop in redundant.loops]
    many = "1 equation" if redundant.excess == 1 else f"{redundant.excess} equations"
    of_loops = " and of ".join(quote_names(loop) for loop in loops[:3])
    off = [
        misalignment
        for misalignment in (_misalignment_of(model, loop) for loop in loops)
        if misalignment is not None
    ]
    jams = f"; {off[0]}, so that they jam or cannot follow each other: {_ALIGNMENT_ADVICE}" if off else ""
    warn_user(
        f"model '{model.name}': {many} of the joints {of_loops}{' and of other loops' if len(loops) > 3 else ''} "
        "repeat what the others fix already: the motion is determined, the forces and moments of these joints only in "
        f"part; leave some of them more motion (a spherical joint in place of a revolute one) to have them all{jams}",
        RedundantJointsWarning,
    )
    return with_redundancy_marked(system, redundant), loops


_ALIGNMENT_ADVICE = "make them so, or give one of the joints of this loop more motion"


def _misalignment_of(model: ModelData, names: Sequence[str]) -> AxisMisalignment | None:
    """Return the largest unintended misalignment of axes among the names that are joints; None if there is none."""
    return find_misalignment([model.joints[name] for name in names if name in model.joints])


def describe_loop(model: ModelData, joint: str) -> str:
    """Describe the loop that a joint closes, and misaligned axes in it; return "" if it closes none.

    `joint`: name of a joint, of a drive (its joint counts) or of a gear (its first joint counts).
    """
    if joint in model.gears:
        joint = model.gears[joint].terms[0].joint.name
    elif joint in model.drives:
        joint = model.drives[joint].joint.name
    loop = loop_closed_by(links_of(model.joints.values()), joint)
    if loop is None:
        return ""
    off = _misalignment_of(model, loop.joints)
    return f"{loop}: {off}, {_ALIGNMENT_ADVICE}" if off else str(loop)
