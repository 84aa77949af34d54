"""Prepare the contents of pictures: states between outputs, colours of objects and quantities, camera, ground, names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rigid.checks import direction
from rigid.quaternions import normalize
from rigid.system import Floats, State
from rodsim.results import color_fields, contact_surfaces, labels, support_symbols, tendon_shapes
from rodsim.results.camera import (
    Camera,
    fit,
    named_view,
    plane_of_motion,
    side_front,
    upward,
    view_direction,
)
from rodsim.results.canvases import Canvas
from rodsim.results.drawing import Drawing
from rodsim.results.equilibrium_text import OutputLabels
from rodsim.results.errors import ResultError
from rodsim.results.output_choice import evenly_spaced
from rodsim.results.result import Result
from rodsim.results.scene import scene
from rodsim.results.tendon_shapes import SceneShape

RODS = np.array([[222, 98, 50], [28, 130, 140], [135, 90, 165], [205, 155, 30], [75, 145, 90]]) / 255
BODIES = np.array([[66, 104, 160], [110, 115, 128], [160, 130, 100], [90, 140, 130]]) / 255
ALTERNATE_WHITE = 0.35  # part of white added to the colour of every second member of a family
TIMES = np.array([[250, 205, 100], [235, 130, 75], [190, 65, 95], [110, 35, 105], [45, 25, 75]]) / 255
FIRST_WHITE = 0.8  # part of white in the colour of the first of several times
PLANE_SAMPLES = 12  # outputs compared to find a plane of motion
CAMERA_SAMPLES = 80  # outputs used to place the camera
MAX_LEGEND = 6  # largest number of names in a legend


class _DrawnOutput(NamedTuple):
    """Hold the data drawn of one output."""

    state: State
    values: Floats  # (n_points,) values of the quantity shown by colour; empty if there is none


class InterpolatedStates:
    """Read outputs and interpolate states between them; the last two outputs read are cached for the frames between."""

    def __init__(self, result: Result, drawing: Drawing, field: color_fields.Field | None) -> None:
        self._result, self._drawing, self._field = result, drawing, field
        self._t = result.t
        self._cache: dict[int, _DrawnOutput] = {}

    def at(self, i: int) -> _DrawnOutput:
        """Return output number i."""
        if i not in self._cache:
            state = self._result.state(i)
            values: Floats = np.zeros(0)
            if self._field is not None:
                strains, stresses = self._result.strains(i), self._result.stresses(i)
                values = color_fields.values(self._field, self._drawing, state, strains, stresses)
            self._cache = {**dict(list(self._cache.items())[-1:]), i: _DrawnOutput(state, values)}
        return self._cache[i]

    def between(self, now: float) -> State:
        """Interpolate the state at the time `now`, for drawing: cubic in positions, normalised means of quaternions."""
        i, x = self._locate(now)
        a = self.at(i).state
        if x == 0.0:
            return a
        b, h = self.at(i + 1).state, float(self._t[i + 1] - self._t[i])
        r = (1 + 2 * x) * (1 - x) ** 2 * a.r + x * (1 - x) ** 2 * h * a.v
        r = r + x**2 * (3 - 2 * x) * b.r + x**2 * (x - 1) * h * b.v
        nearest_quat = np.where(np.sum(a.quat * b.quat, axis=1, keepdims=True) < 0, -b.quat, b.quat)
        return a._replace(r=r, quat=normalize((1 - x) * a.quat + x * nearest_quat))

    def values_between(self, now: float) -> Floats:
        """Interpolate the values (n_points,) of the quantity shown by colour, linearly between outputs."""
        i, x = self._locate(now)
        return self.at(i).values if x == 0.0 else (1 - x) * self.at(i).values + x * self.at(i + 1).values

    def _locate(self, now: float) -> tuple[int, float]:
        """Return the number of the output before `now`, and the fraction (0 to 1) of the way from there to the next."""
        t = self._t
        i = int(np.clip(np.searchsorted(t, now, side="right") - 1, 0, max(0, len(t) - 2)))
        if len(t) == 1 or now <= t[i]:
            return i, 0.0
        return i, (now - float(t[i])) / float(t[i + 1] - t[i])


class ViewSetup:
    """Hold everything that does not change from picture to picture: colours, limits, marks, camera, surfaces."""

    def __init__(
        self,
        result: Result,
        size: tuple[int, int],
        view: ArrayLike | str | None,
        up: ArrayLike | None,
        ground: bool,
        color: str | None,
        outputs: Sequence[int] | None = None,  # outputs to draw; None: all
    ) -> None:
        layout = result.layout
        self.result = result
        self._drawing = Drawing(layout)
        self.clock = OutputLabels.of(layout, result.t)
        self._size, self._ground = size, ground
        self._view = view if view is None or isinstance(view, str) else direction("render", "view", view)
        self._up = upward(layout.gravity) if up is None else direction("render", "up", up)
        self._field = None if color is None else color_fields.field_of(color, self._drawing)
        self.states = InterpolatedStates(result, self._drawing, self._field)
        rods, self.legend = palette([rod.name for rod in layout.rods], RODS)
        bodies, names = palette([body.name for body in layout.bodies], BODIES)
        self.legend += names  # names of families of objects, and their colours
        self._parts = len(rods) + len(bodies)
        marks = support_symbols.COLORS, contact_surfaces.COLORS, tendon_shapes.COLORS
        self._palette = np.concatenate([rods, bodies, *marks])
        candidates = np.arange(result.n_outputs) if outputs is None else np.asarray(outputs)
        looked_at = {
            int(i): result.state(int(i)) for i in candidates[evenly_spaced(len(candidates), CAMERA_SAMPLES)]
        }
        without_surface = [body.frame for body in layout.bodies if not len(body.faces)]
        clouds = {
            i: np.concatenate([self._drawing.points(state), state.r[without_surface]])
            for i, state in looked_at.items()
        }
        self._clouds = {i: points for i, points in clouds.items() if np.all(np.isfinite(points))}
        if not self._clouds:
            raise ResultError(f"render: model '{layout.name}' has no output with finite positions")
        self._shown = [looked_at[i] for i in self._clouds]
        extents = [np.ptp(points, axis=0) for points in self._clouds.values()]
        travel = np.linalg.norm(np.ptp(np.concatenate(list(self._clouds.values())), axis=0))
        self._scene_size = max(float(np.linalg.norm(extents[0])), 0.5 * float(travel)) or 1.0
        self._build()
        # the quantity shown by colour, its limits and its colours (256, 3); None if parts have their family's colours
        self.scale: tuple[color_fields.Field, tuple[float, float], Floats] | None = None
        if self._field is not None:
            samples = [self.states.at(int(i)).values for i in candidates]
            limits = color_fields.limits(self._field, np.concatenate(samples))
            self.scale = self._field, limits, color_fields.color_map(self._field, *limits)

    def _build(self, pixel: float = 0.0) -> None:
        """Prepare the shapes of all objects; `pixel`: length that a pixel shows, m; 0 if not known."""
        layout, size = self.result.layout, self._scene_size
        fixed = scene(layout, size, self._up, self._shown, pixel)
        self.shape = SceneShape.of(fixed, layout, size, pixel, len(self._palette) - 1)

    def draw(self, canvas: Canvas, now: float) -> None:
        """Set the scene at time `now` on the canvas."""
        vertices = self.shape.place(self.states.between(now))
        canvas.draw(vertices, self.shape.faces, self.shape.owner, self.colors(now, 0.0, overlaid=False))

    def camera(self, outputs: Sequence[int] | range) -> Camera:
        """Return a camera that sees everything at these outputs, and refine the surfaces to its pixels from now on."""
        # few outputs: all surfaces; many: the points collected before
        if len(outputs) <= CAMERA_SAMPLES:
            clouds = [self.shape.place(self.result.state(i)) for i in outputs]
        else:
            clouds = list(self._clouds.values())
        points = np.concatenate(clouds)
        return self.camera_of(points[np.all(np.isfinite(points), axis=1)])

    def camera_of(self, points: Floats) -> Camera:
        """Return a camera that sees these points (n, 3), m, and refine the surfaces to its pixels from now on."""
        self._seen = points
        view, up = view_direction(points, self._up, self._plane_of_motion())
        if isinstance(self._view, str):
            view, up = named_view(self._view, self._up)
        elif self._view is not None:
            view, up = self._view, self._up
        points = np.concatenate([points, self.grid().reshape(-1, 3)])
        camera = fit(points, view, up, self._size[0] / self._size[1])
        self._build(camera.pixel(self._size[1]))
        self._camera, self._corner = camera, self._free_corner(camera, points)
        return camera

    def _plane_of_motion(self) -> Floats | None:
        """Return the normal (3,) of the plane in which everything moves over the whole result; None if there is none."""
        count = self.result.n_outputs
        states = [self.result.state(int(i)) for i in evenly_spaced(count, PLANE_SAMPLES)]
        finite = [
            state for state in states if np.all(np.isfinite(state.r)) and np.all(np.isfinite(state.quat))
        ]
        return plane_of_motion(
            np.array([state.r for state in finite]), np.array([state.quat for state in finite])
        )

    def _free_corner(self, camera: Camera, points: Floats) -> str:
        """Return the corner in which axes and scale cover the fewest points.

        The upper left is taken by names, the lower right by the colour bar.
        """
        width, height = self._size
        pixels, _ = camera.project(points, width, height)
        corners = ["upper right", "middle right"]
        corners += ["lower right"] if self._field is None else []
        corners += [] if self._has_legend else ["upper left"]

        def covered(corner: str) -> int:
            x, y, w, h = labels.axes_box(height, width, camera.pixel(height), corner)
            inside = (pixels >= (x, y)) & (pixels <= (x + w, y + h))
            return int(inside.all(axis=1).sum())

        return min(corners, key=covered)

    def grid(self) -> Floats:
        """Return the ends (n, 2, 3), m, of the grid lines of the ground, below the lowest point; none unless requested."""
        if not self._ground:
            return np.zeros((0, 2, 3))
        side, front = side_front(self._up)
        axes = np.stack([side, -front, self._up], axis=1)
        seen = self._seen @ axes
        low, high = seen.min(axis=0), seen.max(axis=0)
        size = float((high - low).max())
        pitch = labels.nice_length(size / 4) if size > 0 else 1.0
        height = low[2] - 0.02 * size
        start, stop = np.floor(low[:2] / pitch - 0.3), np.ceil(high[:2] / pitch + 0.3)
        lines = []
        for axis in (0, 1):
            for k in np.arange(start[axis], stop[axis] + 1):
                ends = np.full((2, 3), height)
                ends[:, axis] = k * pitch
                ends[:, 1 - axis] = pitch * np.array([start[1 - axis], stop[1 - axis]])
                lines.append(ends @ axes.T)
        return np.array(lines)

    def colors(self, now: float, age: float, overlaid: bool) -> Floats:
        """Return the colours (n, 3) of the vertices at time `now`.

        `age`: 1 for the first, 0 for the last of several times; `overlaid`: True if several times are drawn.
        """
        colors, part_colored = self._palette[self.shape.owner], self.shape.owner < self._parts
        if self.scale is not None:
            _, limits, shades = self.scale
            valued = self.shape.before >= 0
            values = self.shape.spread(self.states.values_between(now))
            colors[valued] = color_fields.colors(values[valued], *limits, shades)
            part_colored = part_colored & ~valued  # bodies without a surface
        if overlaid and self._is_single_part:
            colors[part_colored] = time_colors(np.array([1 - age]))
        else:
            colors[part_colored] += (1 - colors[part_colored]) * FIRST_WHITE * age**0.8
        tendons = self.shape.owner == len(self._palette) - 1
        colors[tendons] += (1 - colors[tendons]) * FIRST_WHITE * age**0.8
        return colors

    def label(self, canvas: Canvas, times: Floats) -> None:
        """Write names, and the time or the range of times, on the canvas."""
        self.name(canvas)
        clock = self.clock
        if len(times) == 1:
            labels.write_text(canvas, clock.words(float(times[0]), labels.digits_for(self._output_step)))
            return
        ends = (float(times[0]), float(times[-1]))
        digits = labels.digits_for(abs(clock.at(ends[1]) - clock.at(ends[0])) / 10)
        if self.scale is not None:
            labels.write_text(canvas, clock.span(*ends, digits))
            return
        x, base = np.linspace(0, 1, 120), self._palette[0]
        bar = (
            time_colors(x)
            if self._is_single_part
            else base + (1 - base) * FIRST_WHITE * (1 - x[:, None]) ** 0.8
        )
        last = f"{clock.at(ends[1]):.{digits}f}{clock.unit}"
        labels.write_bar(canvas, bar, (clock.words(ends[0], digits), last))

    def name(self, canvas: Canvas) -> None:
        """Write axes and a scale on the canvas, and the colour bar or the names of 2 to LEGEND families of objects."""
        if self._camera is not None:
            labels.write_axes(canvas, self._camera.axes, self._camera.pixel(self._size[1]), self._corner)
        self.name_colors(canvas)

    def name_colors(self, canvas: Canvas) -> None:
        """Write the colour bar or the names of 2 to LEGEND families of objects on the canvas."""
        if self.scale is not None:
            field, (low, high), shades = self.scale
            labels.write_bar(canvas, shades, (f"{low:.3g}", f"{high:.3g}"), field.label, left=False)
        elif self._has_legend:
            labels.write_legend(canvas, *zip(*self.legend, strict=True))

    @property
    def _has_legend(self) -> bool:
        return self._field is None and 1 < len(self.legend) <= MAX_LEGEND

    @property
    def _is_single_part(self) -> bool:
        return len(self._drawing.names) == 1

    @property
    def _output_step(self) -> float:
        t = self.result.t
        return float(t[-1] - t[0]) / max(1, len(t) - 1)


def family(name: str) -> str:
    """Return the name of a family of objects: 'bar 1', 'bar 2', ... are bars."""
    return re.sub(r"[\s_.-]*\d+$", "", name) or name


def palette(names: Sequence[str], hues: Floats) -> tuple[Floats, list[tuple[str, Floats]]]:
    """Return the colours (n, 3) of objects, and name and colour of every family; 'bar 1', 'bar 2', ... are a family."""
    families: dict[str, list[str]] = {}
    colors = np.zeros((len(names), 3))
    for i, name in enumerate(names):
        stem = family(name)
        members = families.setdefault(stem, [])
        hue = hues[list(families).index(stem) % len(hues)]
        colors[i] = hue + (1 - hue) * ALTERNATE_WHITE * (len(members) % 2)
        members.append(name)
    legend = [
        (members[0] if len(members) == 1 else f"{stem} ({len(members)})", hues[k % len(hues)])
        for k, (stem, members) in enumerate(families.items())
    ]
    return colors, legend


def time_colors(x: Floats) -> Floats:
    """Return the colours (n, 3) for x (n,) from 0 (early, light) to 1 (late, dark)."""
    positions = np.linspace(0, 1, len(TIMES))
    return np.stack([np.interp(x, positions, TIMES[:, i]) for i in range(3)], axis=1)
