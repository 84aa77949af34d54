"""Data with which the page shows the motion: poses of nodes and bodies at some outputs, and fields and marks drawn with them.

`static/tubes.js` makes surfaces from them: a rod is a tube around its nodes, a body its surface at its pose. The Q drawn frames
are the kept nodes of all rods, one rod after the other, then the bodies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.drives import DRIVEN
from discretization.interaction_table import springs_of
from rigid.quaternions import rotate, to_matrix
from rigid.system import Floats, Ints, State
from rodsim.reporting.embedded_data import packed
from rodsim.reporting.surfaces import body_surfaces
from rodsim.reporting.thinning import MOST_MARKS, Thinning
from rodsim.results import marks
from rodsim.results.camera import upward, view_direction
from rodsim.results.drawing import Drawing
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.result import Result
from rodsim.results.shapes import VISIBLE
from rodsim.results.stage import BODIES, RODS, palette
from rodsim.results.standing import Standing

# Components along rods: name, array of `Drawing.arrays`, component, words, unit.
COMPONENTS = (
    ("Gamma1", "Gamma", 0, "stretch Γ₁", ""),
    ("Gamma2", "Gamma", 1, "shear Γ₂", ""),
    ("Gamma3", "Gamma", 2, "shear Γ₃", ""),
    ("K1", "K", 0, "twist K₁", "1/m"),
    ("K2", "K", 1, "bending K₂", "1/m"),
    ("K3", "K", 2, "bending K₃", "1/m"),
    ("N1", "N", 0, "normal force N₁", "N"),
    ("N2", "N", 1, "shear force N₂", "N"),
    ("N3", "N", 2, "shear force N₃", "N"),
    ("M1", "M", 0, "torque M₁", "N m"),
    ("M2", "M", 1, "bending moment M₂", "N m"),
    ("M3", "M", 2, "bending moment M₃", "N m"),
)
FOLLOWED = 3.0  # ratio of travel to size above which the view follows the model
NOTHING = 1e-9  # components below this fraction of the largest of their kind are not offered


class Motion(NamedTuple):
    """Arrays of the F kept outputs."""

    t: Floats  # (F,) times, s
    r: Floats  # (F, Q, 3) positions of the drawn frames, m
    quat: Floats  # (F, Q, 4) quaternions of the drawn frames
    fields: dict[str, Floats]  # name -> (F, P) values at the P kept nodes of rods
    joints: Floats  # (F, J, 3) points of the joints on their part a, m
    springs: Floats  # (F, S, 2, 3) ends of springs, m
    sticks: Floats  # (F, L, 2, 3) lines from bodies without surface to their joints and springs, m
    driven: Floats  # (F, D, 4, 3) positions (m) and three axes of driven frames
    low: Floats  # (F, 3) lower corner of the bounding box, m
    high: Floats  # (F, 3) upper corner of the bounding box, m

    @property
    def size(self) -> float:
        """Return the largest extent of the model at any output, m."""
        return float(np.max(self.high - self.low, initial=0.0))

    @property
    def travel(self) -> float:
        """Return the largest extent of the space that the model passes through, m."""
        return float(np.max(self.high.max(axis=0) - self.low.min(axis=0), initial=0.0))

    @property
    def follows(self) -> bool:
        """Return whether the view follows the model, which would be a dot in a view of its whole path."""
        return self.travel > FOLLOWED * self.size > 0

    @property
    def least(self) -> float:
        """Return the radius below which a rod would be invisible, m."""
        return VISIBLE * max(self.size, 0.0 if self.follows else 0.5 * self.travel)


def motion(result: Result, thin: Thinning) -> Motion:
    """Read the kept outputs, one at a time, because states of a long rod are large."""
    layout, drawing = result.layout, Drawing(result.layout)
    starts = np.cumsum([0] + [len(rod.frames) for rod in layout.rods])
    kept = [start + nodes for start, nodes in zip(starts, thin.nodes, strict=False)]
    points = np.concatenate([np.zeros(0, np.int64), *kept])
    of_rods = [rod.frames[nodes] for rod, nodes in zip(layout.rods, thin.nodes, strict=True)]
    places = np.concatenate([np.zeros(0, np.int64), *of_rods, [body.frame for body in layout.bodies]]).astype(
        np.int64
    )
    standing = Standing(layout)
    r, quat, joints, springs, sticks, driven, low, high = [], [], [], [], [], [], [], []
    fields: dict[str, list[NDArray[Any]]] = {}
    for i in thin.outputs.tolist():
        state = result.state(i)
        everything, arrays = drawing.arrays(state, result.strains(i), result.stresses(i))
        r.append(state.r[places])
        quat.append(state.quat[places])
        joints.append(_joint_points(standing, i, state))
        springs.append(_spring_ends(layout, state))
        sticks.append(_sticks(standing, i, state))
        driven.append(_driven(layout, state))
        of_marks = (joints[-1], springs[-1].reshape(-1, 3), driven[-1][:, 0])
        seen = np.concatenate([everything, state.r[places], *of_marks])
        seen = seen[np.isfinite(seen).all(axis=1)] if not np.isfinite(seen).all() else seen
        low.append(seen.min(axis=0) if len(seen) else np.zeros(3))
        high.append(seen.max(axis=0) if len(seen) else np.zeros(3))
        if layout.rods:
            for name, array, k, _, _ in COMPONENTS:
                fields.setdefault(name, []).append(arrays[array][points, k])
            fields.setdefault("speed", []).append(np.linalg.norm(arrays["velocity"][points], axis=1))
    return Motion(
        result.t[thin.outputs],
        np.array(r),
        np.array(quat),
        {name: np.array(values) for name, values in fields.items()},
        np.array(joints),
        np.array(springs),
        np.array(sticks),
        np.array(driven),
        np.array(low),
        np.array(high),
    )


def motion_data(result: Result, thin: Thinning, found: Motion, labels: list[str]) -> dict[str, Any]:
    """Return the data of the motion for `static/player.js`; `labels`: text for each kept output."""
    layout = result.layout
    rods, _ = palette([rod.name for rod in layout.rods], RODS)
    bodies, _ = palette([body.name for body in layout.bodies], BODIES)
    up = upward(layout.gravity)
    direction, up = _view(found, up)
    surfaces, _ = body_surfaces(layout.bodies)
    return {
        "labels": labels,
        "t": found.t.tolist(),
        "r": packed(found.r),
        "quat": packed(found.quat),
        "rods": [
            _rod(rod, nodes, color, found.least)
            for rod, nodes, color in zip(layout.rods, thin.nodes, rods, strict=True)
        ],
        "bodies": [
            {"name": body.name, "color": _css(color)}
            for body, color in zip(layout.bodies, bodies, strict=True)
        ],
        "surfaces": surfaces,
        "fields": _fields(found.fields),
        "joints": packed(found.joints),
        "joint_names": [
            f"{joint.kind} joint '{joint.name}'" for joint in layout.joints[: found.joints.shape[1]]
        ],
        # joints to the ground are marked as supports
        "supports": [
            joint.frames is not None and 0 in joint.frames for joint in layout.joints[: found.joints.shape[1]]
        ],
        "driven": packed(_drawn_axes(found)),
        "springs": packed(found.springs),
        "sticks": packed(found.sticks),
        "low": packed(found.low),
        "high": packed(found.high),
        "follow": found.follows,
        "view": direction.tolist(),
        "up": up.tolist(),
    }


def thickened(layout: Layout, found: Motion) -> list[str]:
    """Return the names of the rods that are drawn thicker than they are."""
    return [rod.name for rod in layout.rods if _half_sides(rod, np.arange(len(rod.frames)), found.least)[1]]


def _rod(rod: RodLayout, nodes: Ints, color: Floats, least: float) -> dict[str, Any]:
    """Return the data of a rod for the page; `least`: smallest radius to draw, m."""
    half, _ = _half_sides(rod, nodes, least)
    return {
        "name": rod.name,
        "color": _css(color),
        "count": len(nodes),
        "closed": bool(rod.closed),
        "rectangle": bool(np.all(rod.sides > 0)),
        "half": packed(half),
        "s": packed(rod.arclength[nodes]),
    }


def _half_sides(rod: RodLayout, nodes: Ints, least: float) -> tuple[Floats, bool]:
    """Return half width and height, or the radius twice, as drawn (n, 2), m, and whether it is larger than in the model."""
    if np.all(rod.sides > 0):
        half = 0.5 * rod.sides[nodes]
        grown = np.maximum(1.0, least / half.max(axis=1, keepdims=True))  # keeps ratios of sides
        return np.maximum(half * grown, 0.3 * least), bool(np.any(grown > 1.0))
    radius = np.repeat(rod.radius[nodes][:, None], 2, axis=1)
    return np.maximum(radius, least), bool(np.any(radius < least))


def _fields(fields: dict[str, Floats]) -> dict[str, Any]:
    """Return the fields that are not zero, with their limits: symmetric about zero if there are both signs."""
    largest = dict.fromkeys(("Gamma", "K", "N", "M"), 0.0)
    for name, kind, *_ in COMPONENTS:
        if name in fields:
            largest[kind] = max(largest[kind], float(np.nanmax(np.abs(fields[name]), initial=0.0)))
    found = {}
    for name, kind, _, words, unit in COMPONENTS:
        if name in fields and np.nanmax(np.abs(fields[name]), initial=0.0) > NOTHING * largest[kind] > 0:
            found[name] = _field(fields[name], words, unit)
    if "speed" in fields and np.nanmax(fields["speed"], initial=0.0) > 0:
        found["speed"] = _field(fields["speed"], "speed", "m/s")
    return found


def _field(values: Floats, words: str, unit: str) -> dict[str, Any]:
    """Return the data of a field for the page: values, description, unit and limits."""
    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    both = low < 0 < high
    if both:
        high = max(high, -low)
        low = -high
    elif low >= 0:
        low = 0.0
    else:
        high = 0.0
    return {"words": words, "unit": unit, "low": low, "high": high, "both": both, "values": packed(values)}


def _joint_points(standing: Standing, i: int, state: State) -> Floats:
    """Return the points of the first joints on their part a (J, 3), m, at output `i`; empty if some are not known."""
    layout = standing.layout
    joints = [joint for joint in layout.joints[:MOST_MARKS] if joint.frames is not None]
    if not joints or len(joints) < min(MOST_MARKS, len(layout.joints)):
        return np.zeros((0, 3))
    frames = np.array([joint.frames[0] for joint in joints if joint.frames is not None])
    X = np.array([standing.sides(joint, slice(i, i + 1)).points[0, 0] for joint in joints])
    return state.r[frames] + rotate(state.quat[frames], X)


def _driven(layout: Layout, state: State) -> Floats:
    """Return positions (m) and axes of driven frames (D, 4, 3)."""
    fixed = np.zeros(0) if layout.system is None else layout.system.frames.fixed
    frames = np.flatnonzero(fixed == DRIVEN)[:MOST_MARKS]
    axes = to_matrix(state.quat[frames]).transpose(0, 2, 1)
    return np.concatenate([state.r[frames][:, None], axes], axis=1)


def _drawn_axes(found: Motion) -> Floats:
    """Return the ends of lines along the axes of driven frames (F, 3, D, 2, 3), m: lines along x, then y, then z."""
    start = found.driven[:, :, :1]
    tips = start + marks.LENGTH * found.size * found.driven[:, :, 1:]
    return np.stack([np.broadcast_to(start, tips.shape), tips], axis=3).transpose(0, 2, 1, 3, 4)


def _spring_ends(layout: Layout, state: State) -> Floats:
    """Return the ends of the first springs (S, 2, 3), m."""
    if layout.system is None or not len((springs := springs_of(layout.system.others)).stiffness):
        return np.zeros((0, 2, 3))
    frames, X = springs.frames[:MOST_MARKS], np.stack([springs.Xa, springs.Xb], axis=1)[:MOST_MARKS]
    return state.r[frames] + rotate(state.quat[frames], X)


def _sticks(standing: Standing, i: int, state: State) -> Floats:
    """Return lines from bodies without surface to their joints and springs (L, 2, 3), m, at output `i`."""
    layout = standing.layout
    bare = {body.frame for body in layout.bodies if not len(body.faces)}
    sides = [
        (frame, standing.sides(joint, slice(i, i + 1)).points[side, 0])
        for joint in layout.joints
        if joint.frames is not None
        for side, frame in enumerate(joint.frames)
        if frame in bare
    ]
    if layout.system is not None:
        springs = springs_of(layout.system.others)
        ends = ((springs.frames[:, 0], springs.Xa), (springs.frames[:, 1], springs.Xb))
        sides += [
            (int(f), X) for frames, Xs in ends for f, X in zip(frames, Xs, strict=True) if int(f) in bare
        ]
    sides = sides[:MOST_MARKS]
    if not sides:
        return np.zeros((0, 2, 3))
    frames, X = np.array([frame for frame, _ in sides]), np.array([x for _, x in sides])
    middles = state.r[frames]
    return np.stack([middles, middles + rotate(state.quat[frames], X)], axis=1)


def _view(found: Motion, up: Floats) -> tuple[Floats, Floats]:
    """Return the view direction that shows most, and the upward direction.

    If the view follows the model, positions relative to the middle of the model are used.
    """
    points = found.r
    if found.follows:
        points = points - 0.5 * (found.low + found.high)[:, None]
    points = points.reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2 or not np.ptp(points, axis=0).max() > 0:
        return np.array([0.5, -0.8, 0.4]), up
    return view_direction(points, up)


def _css(color: Floats) -> str:
    """Return a colour (3,), 0 to 1, as "#rrggbb"."""
    return "#" + "".join(f"{round(255 * float(c)):02x}" for c in color)
