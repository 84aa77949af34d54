"""Prepare the contents of pictures: states between outputs, colours of objects and quantities, camera, ground, names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rigid.checks import direction
from rigid.quaternions import normalize
from rigid.system import Floats, State
from rodsim.results import contact_surfaces, fields, marks, overlay
from rodsim.results.bare_bodies import BareBodies
from rodsim.results.camera import Camera, fit, named_view, plane_of_motion, upward, view_direction
from rodsim.results.drawing import Drawing
from rodsim.results.errors import ResultError
from rodsim.results.result import Result
from rodsim.results.scene import SceneBuilder, Surface, merge
from rodsim.results.static_words import Clock

Picture = NDArray[np.uint8]
Lines = list[tuple[Floats, tuple[int, int, int]]]

RODS = np.array([[222, 98, 50], [28, 130, 140], [135, 90, 165], [205, 155, 30], [75, 145, 90]]) / 255
BODIES = np.array([[66, 104, 160], [110, 115, 128], [160, 130, 100], [90, 140, 130]]) / 255
NEXT = 0.35  # part of white added to the colour of every second member of a family
TIMES = np.array([[250, 205, 100], [235, 130, 75], [190, 65, 95], [110, 35, 105], [45, 25, 75]]) / 255
GRID = (218, 221, 226)
FADE = 0.8  # part of white in the colour of the first of several times
COMPARED = 12  # outputs compared to find a plane of motion
LOOKED_AT = 80  # outputs used to place the camera
LEGEND = 6  # largest number of names in a legend


class _Output(NamedTuple):
    """Hold the data drawn of one output."""

    state: State
    values: Floats  # (n_points,) values of the quantity shown by colour; empty if there is none


class States:
    """Read outputs and interpolate states between them; the last two outputs read are cached for the frames between."""

    def __init__(self, result: Result, drawing: Drawing, field: fields.Field | None) -> None:
        self._result, self._drawing, self._field = result, drawing, field
        self._t = result.t
        self._kept: dict[int, _Output] = {}

    def at(self, i: int) -> _Output:
        """Return output number i."""
        if i not in self._kept:
            state = self._result.state(i)
            found: Floats = np.zeros(0)
            if self._field is not None:
                strains, stresses = self._result.strains(i), self._result.stresses(i)
                found = fields.values(self._field, self._drawing, state, strains, stresses)
            self._kept = {**dict(list(self._kept.items())[-1:]), i: _Output(state, found)}
        return self._kept[i]

    def between(self, now: float) -> State:
        """Interpolate the state at the time `now`, for drawing: cubic in positions, normalised means of quaternions."""
        i, x = self._place(now)
        a = self.at(i).state
        if x == 0.0:
            return a
        b, h = self.at(i + 1).state, float(self._t[i + 1] - self._t[i])
        r = (1 + 2 * x) * (1 - x) ** 2 * a.r + x * (1 - x) ** 2 * h * a.v
        r = r + x**2 * (3 - 2 * x) * b.r + x**2 * (x - 1) * h * b.v
        near = np.where(np.sum(a.quat * b.quat, axis=1, keepdims=True) < 0, -b.quat, b.quat)
        return a._replace(r=r, quat=normalize((1 - x) * a.quat + x * near))

    def values_between(self, now: float) -> Floats:
        """Interpolate the values (n_points,) of the quantity shown by colour, linearly between outputs."""
        i, x = self._place(now)
        return self.at(i).values if x == 0.0 else (1 - x) * self.at(i).values + x * self.at(i + 1).values

    def _place(self, now: float) -> tuple[int, float]:
        """Return the number of the output before `now`, and the fraction (0 to 1) of the way from there to the next."""
        t = self._t
        i = int(np.clip(np.searchsorted(t, now, side="right") - 1, 0, max(0, len(t) - 2)))
        if len(t) == 1 or now <= t[i]:
            return i, 0.0
        return i, (now - float(t[i])) / float(t[i + 1] - t[i])


class Stage:
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
        self.clock = Clock.of(layout, result.t)
        self._size, self._ground = size, ground
        self._view = view if view is None or isinstance(view, str) else direction("render", "view", view)
        self._up = upward(layout.gravity) if up is None else direction("render", "up", up)
        self._field = None if color is None else fields.field_of(color, self._drawing)
        self.states = States(result, self._drawing, self._field)
        rods, self._legend = palette([rod.name for rod in layout.rods], RODS)
        bodies, names = palette([body.name for body in layout.bodies], BODIES)
        self._parts = len(rods) + len(bodies)
        self._first_bare = self._parts + len(marks.COLORS) + len(contact_surfaces.COLORS)
        bare = BareBodies(layout, 1.0, self._first_bare)
        self._palette = np.concatenate(
            [rods, bodies, marks.COLORS, contact_surfaces.COLORS, bodies[bare.numbers]]
        )
        self._legend += names
        candidates = np.arange(result.n_outputs) if outputs is None else np.asarray(outputs)
        chosen = candidates[
            np.unique(np.linspace(0, len(candidates) - 1, min(LOOKED_AT, len(candidates))).astype(int))
        ]
        looked_at = {int(i): result.state(int(i)) for i in chosen}
        clouds = {
            i: np.concatenate([self._drawing.points(state), bare.points(state)])
            for i, state in looked_at.items()
        }
        self._clouds = {i: points for i, points in clouds.items() if np.all(np.isfinite(points))}
        if not self._clouds:
            raise ResultError(f"render: model '{layout.name}' has no output with finite positions")
        extents = [points.max(axis=0) - points.min(axis=0) for points in self._clouds.values()]
        everything = np.concatenate(list(self._clouds.values()))
        whole = np.linalg.norm(everything.max(axis=0) - everything.min(axis=0))
        self._scene_size = max(float(np.linalg.norm(extents[0])), 0.5 * float(whole)) or 1.0
        self.builder = SceneBuilder(layout, self._scene_size)
        self._bare = BareBodies(layout, self._scene_size, self._first_bare)
        self._marks = marks.Marks(layout, self._scene_size, self._up, self._parts)
        self._touched = contact_surfaces.ContactSurfaces(
            layout,
            self._scene_size,
            [looked_at[i] for i in self._clouds],
            self._parts + len(marks.COLORS),
        )
        self._camera: Camera | None = None
        self._corner = overlay.CORNERS[0]
        if self._field is not None:
            found = [self.states.at(int(i)).values for i in candidates]
            self._limits = fields.limits(self._field, np.concatenate(found))
            self._shades = fields.color_map(self._field, *self._limits)

    @property
    def legend(self) -> list[tuple[str, Floats]]:
        """Return the names of families of objects, and their colours."""
        return self._legend

    @property
    def scale(self) -> tuple[fields.Field, tuple[float, float], Floats] | None:
        """Return the quantity shown by colour, its limits and its colours (256, 3); None if parts have their family's colours."""
        return None if self._field is None else (self._field, self._limits, self._shades)

    def surface(self, state: State) -> Surface:
        """Return the surfaces of all objects, supports and contact surfaces at `state`."""
        each = (self.builder, self._marks, self._touched, self._bare)
        return merge([own.surface(state) for own in each])

    def camera(self, outputs: Sequence[int] | range) -> Camera:
        """Return a camera that sees everything at these outputs, and refine the surfaces to its pixels from now on."""
        # few outputs: all surfaces; many: the points collected before
        if len(outputs) <= LOOKED_AT:
            clouds = [self.surface(self.result.state(i)).vertices for i in outputs]
        else:
            clouds = list(self._clouds.values())
        points = np.concatenate(clouds)
        points = points[np.all(np.isfinite(points), axis=1)]
        self._seen = points
        view, up = view_direction(points, self._up, self._plane_of_motion())
        if isinstance(self._view, str):
            view, up = named_view(self._view, self._up)
        elif self._view is not None:
            view, up = self._view, self._up
        points = np.concatenate([points, *(ends for ends, _ in self.grid())])
        camera = fit(points, view, up, self._size[0] / self._size[1])
        self.builder = SceneBuilder(self.result.layout, self._scene_size, camera.pixel(self._size[1]))
        self._camera, self._corner = camera, self._free_corner(camera, points)
        return camera

    def _plane_of_motion(self) -> Floats | None:
        """Return the normal (3,) of the plane in which everything moves over the whole result; None if there is none."""
        count = self.result.n_outputs
        chosen = np.unique(np.linspace(0, count - 1, min(COMPARED, count)).astype(int))
        states = [self.result.state(int(i)) for i in chosen]
        finite = [own for own in states if np.all(np.isfinite(own.r)) and np.all(np.isfinite(own.quat))]
        return plane_of_motion(np.array([own.r for own in finite]), np.array([own.quat for own in finite]))

    def _free_corner(self, camera: Camera, points: Floats) -> str:
        """Return the corner in which axes and scale cover the fewest points.

        The upper left is taken by names, the lower right by the colour bar.
        """
        width, height = self._size
        pixels, _ = camera.project(points, width, height)
        corners = ["upper right", "middle right"]
        corners += ["lower right"] if self._field is None else []
        corners += [] if self._field is None and 1 < len(self._legend) <= LEGEND else ["upper left"]

        def covered(corner: str) -> int:
            x, y, w, h = overlay.axes_box(height, width, camera.pixel(height), corner)
            inside = (pixels >= (x, y)) & (pixels <= (x + w, y + h))
            return int(inside.all(axis=1).sum())

        return min(corners, key=covered)

    def grid(self) -> Lines:
        """Return the grid lines of the ground, below the lowest point; [] unless the ground is requested."""
        if not self._ground:
            return []
        up = self._up
        side = np.array([1.0, 0, 0]) if abs(up[0]) < 0.9 else np.array([0, 1.0, 0])
        side = side - (side @ up) * up
        side /= np.linalg.norm(side)
        other = np.cross(up, side)
        axes = np.stack([side, other, up], axis=1)
        seen = self._seen @ axes
        low, high = seen.min(axis=0), seen.max(axis=0)
        size = float((high - low).max())
        pitch = 10 ** np.floor(np.log10(size / 4)) if size > 0 else 1.0
        pitch *= max(k for k in (1, 2, 5) if k * pitch <= size / 4 or k == 1)
        height = low[2] - 0.02 * size
        start, stop = np.floor(low[:2] / pitch - 0.3), np.ceil(high[:2] / pitch + 0.3)
        lines: Lines = []
        for axis in (0, 1):
            for k in np.arange(start[axis], stop[axis] + 1):
                ends = np.full((2, 3), height)
                ends[:, axis] = k * pitch
                ends[:, 1 - axis] = pitch * np.array([start[1 - axis], stop[1 - axis]])
                lines.append((ends @ axes.T, GRID))
        return lines

    def colors(self, surface: Surface, now: float, age: float, overlaid: bool) -> Floats:
        """Return the colours (n, 3) of the vertices at time `now`.

        `age`: 1 for the first, 0 for the last of several times; `overlaid`: True if several times are drawn.
        """
        colors = self._palette[surface.owner]
        of_parts = surface.owner < self._parts
        faded = of_parts | (surface.owner >= self._first_bare)
        if self._field is not None:
            found = self.builder.spread(self.states.values_between(now))
            colors[of_parts] = fields.colors(found, *self._limits, self._shades)
        elif overlaid and self._alone:
            colors[faded] = time_color(1 - age)
        else:
            colors[faded] += (1 - colors[faded]) * FADE * age**0.8
        return colors

    def label(self, picture: Picture, times: Floats) -> Picture:
        """Write names, and the time or the range of times, into the picture."""
        picture = self.name(picture)
        if len(times) == 1:
            digits = overlay.digits_for(self._output_step)
            return overlay.write_text(picture, self.clock.words(float(times[0]), digits))
        x = np.linspace(0, 1, 120)
        if self._alone:
            bar = np.array([time_color(k) for k in x])
        else:
            base = self._palette[0]
            bar = base + (1 - base) * FADE * (1 - x[:, None]) ** 0.8
        ends, clock = (float(times[0]), float(times[-1])), self.clock
        digits = overlay.digits_for(abs(clock.at(ends[1]) - clock.at(ends[0])) / 10)
        if self._field is not None:
            return overlay.write_text(picture, clock.span(*ends, digits))
        last = f"{clock.at(ends[1]):.{digits}f}{clock.unit}"
        return overlay.write_time_bar(picture, clock.words(ends[0], digits), last, bar)

    def name(self, picture: Picture) -> Picture:
        """Write axes and a scale into the picture, and the colour bar or the names of 2 to LEGEND families of objects."""
        if self._camera is not None:
            pixel = self._camera.pixel(self._size[1])
            picture = overlay.write_axes(picture, self._camera.axes, pixel, self._corner)
        if self._field is not None:
            return overlay.write_color_bar(picture, self._field.label, *self._limits, self._shades)
        if not 1 < len(self._legend) <= LEGEND:
            return picture
        return overlay.write_legend(picture, *zip(*self._legend, strict=True))

    @property
    def _alone(self) -> bool:
        return len(self._drawing.names) == 1

    @property
    def _output_step(self) -> float:
        t = self.result.t
        return float(t[-1] - t[0]) / max(1, len(t) - 1)


def palette(names: Sequence[str], hues: Floats) -> tuple[Floats, list[tuple[str, Floats]]]:
    """Return the colours (n, 3) of objects, and name and colour of every family; 'bar 1', 'bar 2', ... are a family."""
    families: dict[str, list[str]] = {}
    colors = np.zeros((len(names), 3))
    for i, name in enumerate(names):
        stem = re.sub(r"[\s_.-]*\d+$", "", name) or name
        members = families.setdefault(stem, [])
        hue = hues[list(families).index(stem) % len(hues)]
        colors[i] = hue + (1 - hue) * NEXT * (len(members) % 2)
        members.append(name)
    legend = [
        (members[0] if len(members) == 1 else f"{stem} ({len(members)})", hues[k % len(hues)])
        for k, (stem, members) in enumerate(families.items())
    ]
    return colors, legend


def time_color(x: float) -> Floats:
    """Return the colour (3,) for x from 0 (early, light) to 1 (late, dark)."""
    places = np.linspace(0, 1, len(TIMES))
    return np.array([np.interp(x, places, TIMES[:, i]) for i in range(3)])
