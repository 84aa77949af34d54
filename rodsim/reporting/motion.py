"""The motion of a page: poses at some outputs, and the plotly traces and the layout that `static/motion.js` moves with them.

The shapes are those of pictures (`rodsim.results.shapes`), with the kept nodes of rods only. The Q drawn frames are the kept
nodes of all rods, one rod after the other, then the bodies, then other frames with shapes.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.interaction_table import springs_of
from rigid.quaternions import rotate
from rigid.system import Floats, Ints, State
from rodsim.reporting.embedded_data import packed
from rodsim.reporting.surfaces import coarse_bodies
from rodsim.reporting.thinning import MOST_MARKS, Thinning
from rodsim.results import contact_surfaces, support_symbols
from rodsim.results.camera import upward, view_direction
from rodsim.results.constraint_history import ConstraintHistory
from rodsim.results.drawing import Drawing
from rodsim.results.layout import JointLayout, Layout, RodLayout
from rodsim.results.output_choice import evenly_spaced
from rodsim.results.result import Result
from rodsim.results.scene import scene
from rodsim.results.shapes import UNIT_CORNERS, Shape, half_sides, with_normals
from rodsim.results.string_frames import with_string_directions
from rodsim.results.tendon_paths import paths_of
from rodsim.results.view_setup import BODIES, RODS, family, palette

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
FOLLOW_RATIO = 3.0  # ratio of travel to size above which the view follows the model
NEGLIGIBLE = 1e-9  # components below this fraction of the largest of their kind are not offered
HEIGHT = 600  # pixels of the picture for which shapes are made
ROUNDED = 20_000  # largest number of triangles of smooth bodies, refined
ASPECT = 1.6  # of the picture, width over height
ANGLE, FILLED_FRACTION = np.pi / 4, 0.87  # plotly's angle of view; part of the picture that the box takes
LIGHTING = {"ambient": 0.62, "diffuse": 0.6, "specular": 0.08, "roughness": 0.7, "fresnel": 0.05}
LIGHTING |= {"facenormalsepsilon": 0, "vertexnormalsepsilon": 1e-30}
# matplotlib's coolwarm, as in pictures and movies, its middle darker: the walls behind are light
BOTH_SIGNS = [[0, "#3b4cc0"], [0.25, "#8db0fe"], [0.5, "#c3c8ce"], [0.75, "#f49a7b"], [1, "#b40426"]]
# names of the colours of `support_symbols` and `contact_surfaces`
MARKS = ("supports", *["driven frames"] * 3, "planes", "spheres that touch")
SIZE_SAMPLES = 40  # outputs from which the size of the scene is computed
LINES = {
    "springs": {"color": "#7a9a3c", "width": 5, "dash": "dot"},
    "tendons": {"color": "#3c3428", "width": 5},
    "bodies without a surface": {"color": "#6b7686", "width": 6},
}
JOINT = {"size": 3.5, "color": "rgba(90, 98, 112, 0.9)", "line": {"color": "#fff", "width": 1}}


class Motion(NamedTuple):
    """Arrays of the F kept outputs, and the shapes that move."""

    t: Floats  # (F,) times, s
    r: Floats  # (F, Q, 3) positions of the drawn frames, m
    quat: Floats  # (F, Q, 4) quaternions of the drawn frames
    joints: Floats  # (F, J, 3) points of the joints between parts on their part a, m
    springs: Floats  # (F, S, 2, 3) ends of springs, m
    tendons: Floats  # (F, S, 2, 3) segments of tendons and belts, m
    sticks: Floats  # (F, L, 2, 3) lines from bodies without surface to their joints and springs, m
    low: Floats  # (F, 3) lower corner of the bounding box, m
    high: Floats  # (F, 3) upper corner of the bounding box, m
    fields: dict[str, Floats]  # name -> (F, P) values at the P kept nodes of rods
    joint_names: list[str]
    shape: Shape  # with numbers of drawn frames

    @property
    def size(self) -> float:
        """Return the largest extent of the model at any output, m."""
        return float(np.max(self.high - self.low, initial=0.0))

    @property
    def follows(self) -> bool:
        """Return whether the view follows the model, which would be a dot in a view of its whole path."""
        return _travels_far(self.low, self.high)


def motion(result: Result, thin: Thinning) -> Motion:
    """Read the kept outputs, one at a time, because states of a long rod are large."""
    layout, drawing, history = result.layout, Drawing(result.layout), ConstraintHistory(result.layout)
    starts = np.cumsum([0] + [len(rod.frames) for rod in layout.rods])
    points_of_rods = [start + nodes for start, nodes in zip(starts, thin.nodes, strict=False)]
    points, bodies = (
        np.concatenate([np.zeros(0, np.int64), *points_of_rods]),
        [body.frame for body in layout.bodies],
    )
    joints = [
        joint
        for joint in layout.joints[:MOST_MARKS]
        if joint.frames is not None and (0 not in joint.frames or joint.name in history.motions)
    ]
    shape, frames = _shape(result, thin, drawing)
    fields: dict[str, list[NDArray[Any]]] = {}
    rows = []
    for i in thin.outputs.tolist():
        state = result.state(i)
        everything, arrays = drawing.arrays(state, result.strains(i), result.stresses(i))
        extra_points = [
            _points(history, joints, i, state),
            _spring_ends(layout, state),
            _tendon_segments(layout, state),
            _connecting_lines(history, i, state),
        ]
        seen = np.concatenate([everything, state.r[bodies], *(ends.reshape(-1, 3) for ends in extra_points)])
        finite = np.isfinite(seen).all(axis=1)
        seen = seen[finite] if finite.any() else np.zeros((1, 3))
        quat = with_string_directions(result.layout, state).quat[frames]
        rows.append((state.r[frames], quat, *extra_points, seen.min(axis=0), seen.max(axis=0)))
        if layout.rods:
            for name, array, k, _, _ in COMPONENTS:
                fields.setdefault(name, []).append(arrays[array][points, k])
            fields.setdefault("speed", []).append(np.linalg.norm(arrays["velocity"][points], axis=1))
    names = [f"{joint.kind} joint '{joint.name}'" for joint in joints]
    r, quat, points, springs, tendons, sticks, low, high = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    values = {name: np.array(arrays_of_field) for name, arrays_of_field in fields.items()}
    t = result.t[thin.outputs]
    return Motion(t, r, quat, points, springs, tendons, sticks, low, high, values, names, shape)


def _shape(result: Result, thin: Thinning, drawing: Drawing) -> tuple[Shape, Ints]:
    """Return the shapes of all objects, and the drawn frames (Q,) by whose numbers they refer to frames.

    Vertices at sharp edges are doubled, because plotly averages the normals of faces at a vertex.
    """
    layout = copy.copy(result.layout)
    samples = thin.outputs[evenly_spaced(len(thin.outputs), SIZE_SAMPLES)].tolist()
    states = [state for state in map(result.state, samples) if np.isfinite(state.r).all()]
    bodies = [body.frame for body in layout.bodies]
    clouds = [np.concatenate([drawing.points(state), state.r[bodies]]) for state in states]
    clouds = clouds or [np.zeros((1, 3))]
    size = _scene_size(
        np.array([points.min(axis=0) for points in clouds]),
        np.array([points.max(axis=0) for points in clouds]),
    )
    layout.rods = [_thinned(rod, nodes) for rod, nodes in zip(layout.rods, thin.nodes, strict=True)]
    layout.bodies = coarse_bodies(layout.bodies)
    full_shape = scene(layout, size, upward(layout.gravity), states, size / HEIGHT, ROUNDED)
    first = np.concatenate(
        [np.zeros(0, np.int64), *(rod.frames for rod in layout.rods), [body.frame for body in layout.bodies]]
    ).astype(np.int64)
    frames = np.concatenate([first, np.setdiff1d(np.concatenate([full_shape.a, full_shape.b]), first)])
    number = np.zeros(layout.n_frames, np.int64)
    number[frames[::-1]] = np.arange(len(frames))[::-1]
    at = full_shape.place(with_string_directions(result.layout, states[0] if states else result.state(0)))
    mesh = with_normals(np.nan_to_num(at), full_shape.faces, vertex=np.arange(len(at)))
    original_vertex = mesh.point_data["vertex"]
    split = {
        name: getattr(full_shape, name)[original_vertex] for name in ("station", "offset", "upright", "owner")
    }
    return full_shape._replace(
        a=number[full_shape.a], b=number[full_shape.b], faces=mesh.regular_faces, **split
    ), frames


def _thinned(rod: RodLayout, nodes: Ints) -> RodLayout:
    """Return a rod with some of its nodes."""
    arrays = {name: getattr(rod, name)[nodes] for name in ("frames", "arclength", "radius", "sides")}
    return replace(rod, elements=np.arange(len(nodes) - (not rod.closed)), **arrays)


def _scene_size(low: Floats, high: Floats) -> float:
    """Return the size of the scene, m, by which thin rods and marks are drawn, from bounding boxes (F, 3)."""
    travel = 0.0 if _travels_far(low, high) else float(np.max(high.max(axis=0) - low.min(axis=0)))
    return max(float(np.max(high - low)), 0.5 * travel) or 1.0


def _travels_far(low: Floats, high: Floats) -> bool:
    """Return whether a model with bounding boxes from `low` (F, 3) to `high` (F, 3) travels far for its size."""
    return bool(np.max(high.max(axis=0) - low.min(axis=0)) > FOLLOW_RATIO * np.max(high - low) > 0)


def motion_data(result: Result, thin: Thinning, drawn: Motion, labels: list[str]) -> dict[str, Any]:
    """Return the data of the motion for `static/motion.js`; `labels`: text for each kept output."""
    layout, shape = result.layout, drawn.shape
    up = upward(layout.gravity)
    view, up = _view(drawn, up)
    lines = {"springs": drawn.springs, "tendons": drawn.tendons, "bodies without a surface": drawn.sticks}
    return {
        "labels": labels,
        "t": drawn.t.tolist(),
        "r": packed(drawn.r),
        "quat": packed(drawn.quat),
        "rods": [
            {"name": rod.name, "count": len(nodes), "s": packed(rod.arclength[nodes])}
            for rod, nodes in zip(layout.rods, thin.nodes, strict=True)
        ],
        "a": packed(shape.a, "i4"),
        "b": packed(shape.b, "i4"),
        "x": packed(shape.x),
        "meshes": _meshes(layout, shape, view + 0.9 * up),
        "lines": [
            {
                "ends": packed(ends),
                "trace": {"type": "scatter3d", "mode": "lines", "name": name, "line": LINES[name], "hoverinfo": "name"},
            }
            for name, ends in lines.items() if ends.size
        ],
        "joints": packed(drawn.joints),
        "joint_trace": {
            "type": "scatter3d", "mode": "markers", "name": "joints", "marker": JOINT, "hoverinfo": "text",
            "text": [escape(name, False) for name in drawn.joint_names],
        },
        "fields": _fields(drawn.fields),
        "low": packed(drawn.low),
        "high": packed(drawn.high),
        "size": drawn.size or 1.0,
        "follow": drawn.follows,
        "layout": _layout(drawn, view, up, len(layout.rods) + len(layout.bodies)),
    }  # fmt: skip


def _meshes(layout: Layout, shape: Shape, light: Floats) -> list[dict[str, Any]]:
    """Return a mesh for each colour and family of names: its plotly trace, and what its vertices are fixed to."""
    import plotly.graph_objects as go

    rods, _ = palette([rod.name for rod in layout.rods], RODS)
    bodies, _ = palette([body.name for body in layout.bodies], BODIES)
    names = [rod.name for rod in layout.rods] + [body.name for body in layout.bodies]
    stems = [family(name) for name in names]
    kinds = ["rod"] * len(layout.rods) + ["body"] * len(layout.bodies)
    groups: dict[tuple[str, str, str], list[int]] = {}
    for owner, (kind, stem, color) in enumerate(
        zip(kinds, stems, np.concatenate([rods, bodies]), strict=True)
    ):
        groups.setdefault((kind, stem, _css(color)), []).append(owner)
    for k, (name, color) in enumerate(
        zip(MARKS, [*support_symbols.COLORS, *contact_surfaces.COLORS], strict=True)
    ):
        groups["mark", name, _css(color)] = [len(names) + k]
    traces, shown = [], set()
    for (kind, stem, color), owners in groups.items():
        vertices = np.flatnonzero(np.isin(shape.owner, owners))
        if not len(vertices):
            continue
        trace_vertex = np.full(len(shape.owner), -1)
        trace_vertex[vertices] = np.arange(len(vertices))
        faces = trace_vertex[shape.faces[np.isin(shape.owner[shape.faces[:, 0]], owners)]].T
        several = kind != "mark" and stems.count(stem) > 1
        name = f"{stem} ({stems.count(stem)})" if several else stem if kind == "mark" else names[owners[0]]
        name = escape(name, False)
        trace = go.Mesh3d(
            name=name, color=color, flatshading=False, showlegend=stem not in shown, legendgroup=escape(stem, False),
            lighting=LIGHTING, lightposition=_xyz(1e4 * light),
            hovertemplate=f"<b>{name}</b><br>(%{{x:.4g}}, %{{y:.4g}}, %{{z:.4g}}) m<extra></extra>",
        )  # fmt: skip
        shown.add(stem)
        upright = shape.upright[vertices]
        traces.append(
            {
                "trace": trace.to_plotly_json(),
                "faces": [packed(corners, "i4") for corners in faces],
                "rods": kind == "rod",
                "station": packed(shape.station[vertices], "i4"),
                "offset": packed(shape.offset[vertices]),
                "upright": packed(upright) if np.any(upright) else None,
            }
        )
    return traces


def _layout(drawn: Motion, view: Floats, up: Floats, parts: int) -> dict[str, Any]:
    """Return the layout of the motion: axes, whose ranges the script sets, legend and camera."""
    import plotly.graph_objects as go

    low, high = drawn.low.min(axis=0), drawn.high.max(axis=0)
    sides = np.full(3, 1.0) if drawn.follows else np.maximum(high - low, 0.22 * float((high - low).max()))
    ratio = np.where(sides > 0, sides, 1.0) / (sides.max() or 1.0)
    axes = {
        f"{axis}axis": {
            "title": {"text": f"{axis} (m)", "font": {"size": 12}}, "autorange": False,
            "showspikes": False, "nticks": 6, "backgroundcolor": "#f6f7f9", "gridcolor": "#dfe3e8", "zerolinecolor": "#c8ced6",
            "showbackground": True, "tickfont": {"size": 10, "color": "#66707c"}, "exponentformat": "power",
        }
        for axis in "xyz"
    }  # fmt: skip
    right = np.cross(up, view) / np.linalg.norm(np.cross(up, view))
    upward = np.cross(view, right)
    corners = (UNIT_CORNERS - 0.5) * ratio
    across = np.maximum(np.abs(corners @ upward), np.abs(corners @ right) / ASPECT)
    away = float(
        (corners @ view + across / (FILLED_FRACTION * np.tan(ANGLE / 2))).max()
    )  # as near as all corners of the box allow
    camera = {"eye": _xyz(away * view), "up": _xyz(up), "projection": {"type": "perspective"}}
    legend = {
        "orientation": "h",
        "x": 0,
        "y": 1,
        "yanchor": "top",
        "bgcolor": "rgba(255,255,255,0.75)",
        "itemsizing": "constant",
    }
    layout = go.Layout(
        margin={"l": 0, "r": 0, "t": 0, "b": 0}, paper_bgcolor="#fff", uirevision="kept", showlegend=parts > 1, legend=legend,
        scene={**axes, "aspectmode": "manual", "aspectratio": _xyz(ratio), "uirevision": "kept", "camera": camera},
    )  # fmt: skip
    return dict(layout.to_plotly_json())


def _xyz(values: Floats) -> dict[str, float]:
    """Return a vector as plotly writes it."""
    return dict(zip("xyz", np.asarray(values, float).tolist(), strict=True))


def thicken_rods(result: Result, drawn: Motion) -> list[str]:
    """Return the names of the rods that are drawn thicker than they are."""
    size = _scene_size(drawn.low, drawn.high)
    names = []
    for rod in result.layout.rods:
        half = 0.5 * rod.sides if np.all(rod.sides > 0) else rod.radius[:, None]
        if np.any(half_sides(rod, size, size / HEIGHT) > half * (1 + 1e-9)):
            names.append(rod.name)
    return names


def _fields(fields: dict[str, Floats]) -> dict[str, Any]:
    """Return the fields that are not zero, with their limits: symmetric about zero if there are both signs."""
    largest = dict.fromkeys(("Gamma", "K", "N", "M"), 0.0)
    for name, kind, *_ in COMPONENTS:
        if name in fields:
            largest[kind] = max(largest[kind], float(np.nanmax(np.abs(fields[name]), initial=0.0)))
    offered = {}
    for name, kind, _, description, unit in COMPONENTS:
        if name in fields and np.nanmax(np.abs(fields[name]), initial=0.0) > NEGLIGIBLE * largest[kind] > 0:
            offered[name] = _field(fields[name], description, unit)
    if "speed" in fields and np.nanmax(fields["speed"], initial=0.0) > 0:
        offered["speed"] = _field(fields["speed"], "speed", "m/s")
    return offered


def _field(values: Floats, description: str, unit: str) -> dict[str, Any]:
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
    symbol = description.split(" ")[-1] + (f" ({unit})" if unit else "")
    bar = {
        "title": {"text": symbol, "side": "top", "font": {"size": 12}}, "thickness": 14, "len": 0.85, "x": 0.99,
        "xanchor": "right", "tickfont": {"size": 10}, "exponentformat": "power", "bgcolor": "rgba(255,255,255,0.75)",
    }  # fmt: skip
    scale = BOTH_SIGNS if both else "Viridis"
    axis = {"cmin": low, "cmax": high if high > low else low + 1, "colorscale": scale, "colorbar": bar}
    return {
        "words": description,
        "unit": unit,
        "low": low,
        "high": high,
        "values": packed(values),
        "coloraxis": axis,
    }


def _points(history: ConstraintHistory, joints: list[JointLayout], i: int, state: State) -> Floats:
    """Return the points of joints on their part a (J, 3), m, at output `i`."""
    frames = np.array([joint.frames[0] for joint in joints if joint.frames is not None], np.int64)
    X = np.array([history.sides(joint, slice(i, i + 1)).points[0, 0] for joint in joints]).reshape(-1, 3)
    return state.r[frames] + rotate(state.quat[frames], X)


def _spring_ends(layout: Layout, state: State) -> Floats:
    """Return the ends of the first springs (S, 2, 3), m."""
    if layout.system is None or not len((springs := springs_of(layout.system.others)).stiffness):
        return np.zeros((0, 2, 3))
    frames, X = springs.frames[:MOST_MARKS], np.stack([springs.Xa, springs.Xb], axis=1)[:MOST_MARKS]
    return state.r[frames] + rotate(state.quat[frames], X)


def _tendon_segments(layout: Layout, state: State) -> Floats:
    """Return the segments of tendons and belts (S, 2, 3), m."""
    points = [path.points(layout, state) for path in paths_of(layout)]
    return np.concatenate([np.zeros((0, 2, 3)), *(np.stack([p[:-1], p[1:]], axis=1) for p in points)])


def _connecting_lines(history: ConstraintHistory, i: int, state: State) -> Floats:
    """Return lines from bodies without surface to their joints and springs (L, 2, 3), m, at output `i`."""
    layout = history.layout
    without_surface = {body.frame for body in layout.bodies if not len(body.faces)}
    sides = [
        (frame, history.sides(joint, slice(i, i + 1)).points[side, 0])
        for joint in layout.joints
        if joint.frames is not None
        for side, frame in enumerate(joint.frames)
        if frame in without_surface
    ]
    if layout.system is not None:
        springs = springs_of(layout.system.others)
        ends = ((springs.frames[:, 0], springs.Xa), (springs.frames[:, 1], springs.Xb))
        sides += [
            (int(f), X)
            for frames, Xs in ends
            for f, X in zip(frames, Xs, strict=True)
            if int(f) in without_surface
        ]
    sides = sides[:MOST_MARKS]
    if not sides:
        return np.zeros((0, 2, 3))
    frames, X = np.array([frame for frame, _ in sides]), np.array([x for _, x in sides])
    middles = state.r[frames]
    return np.stack([middles, middles + rotate(state.quat[frames], X)], axis=1)


def _view(drawn: Motion, up: Floats) -> tuple[Floats, Floats]:
    """Return the view direction that shows most, and the upward direction.

    If the view follows the model, positions relative to the middle of the model are used.
    """
    points = drawn.r
    if drawn.follows:
        points = points - 0.5 * (drawn.low + drawn.high)[:, None]
    points = points.reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2 or not np.ptp(points, axis=0).max() > 0:
        return np.array([0.5, -0.8, 0.4]), up
    return view_direction(points, up)


def _css(color: Floats) -> str:
    """Return a colour (3,), 0 to 1, as "#rrggbb"."""
    return "#" + "".join(f"{round(255 * float(c)):02x}" for c in color)
