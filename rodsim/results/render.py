"""Pictures and movies of a result: a still of one time, of several laid over each other, or MP4 and GIF.

Painted in software (`rodsim.results.painter`), the same on every machine; on demand with OpenGL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rigid.checks import count, direction, flag, number, numbers, shown
from rigid.quaternions import normalize
from rigid.system import Floats, State
from rodsim.results import fields, overlay
from rodsim.results.camera import Camera, fit, named_view, upward, view_direction
from rodsim.results.drawing import Drawing
from rodsim.results.errors import NoOpenGL, ResultError, checked_path
from rodsim.results.result import Result, check_result
from rodsim.results.scene import SceneBuilder, Surface, merge
from rodsim.results.whole_file import whole_file

Picture = NDArray[np.uint8]
Engine = Literal["auto", "opengl", "painter"]
Lines = list[tuple[Floats, tuple[int, int, int]]]

RODS = np.array([[222, 98, 50], [28, 130, 140], [135, 90, 165], [205, 155, 30], [75, 145, 90]]) / 255
BODIES = np.array([[66, 104, 160], [110, 115, 128], [160, 130, 100], [90, 140, 130]]) / 255
NEXT = 0.35  # how much paler every second one of a family is
TIMES = np.array([[250, 205, 100], [235, 130, 75], [190, 65, 95], [110, 35, 105], [45, 25, 75]]) / 255
GRID = (218, 221, 226)
FADE = 0.8  # how much of the first of several times is white
OVERLAID = 10  # times in a still, unless said otherwise
LOOKED_AT = 80  # outputs looked at to place the camera
NEARER = 3e-4  # of the distance, between times drawn over each other
LEGEND = 6  # no more names than this
BESIDE = 1e-9  # of the run: a time as little outside of it is off by rounding
LARGEST_SIZE = 16_384  # pixels a side
MOST_FRAMES = 100_000  # of a movie, about an hour


def render(
    result: Result,
    path: Path | str | None = None,
    times: float | Sequence[float] | None = None,
    size: tuple[int, int] = (1600, 1000),
    view: ArrayLike | str | None = None,
    up: ArrayLike | None = None,
    ground: bool = False,
    labels: bool = True,
    engine: Engine = "auto",
    color: str | None = None,
) -> Picture:
    """A still picture (height, width, 3); saved where `path` is given.

    Parameters
    ----------
    times : one time (s) or several, drawn over each other, the earlier the paler; default: evenly over the run
    size : width and height in pixels
    view : from where to look: a direction, or 'iso', 'front', 'side', 'top' or 'azimuth/elevation' in degrees;
        default: chosen so that most is seen
    up : the direction that is up in the picture; default: against gravity, else z
    ground : draw a grid below everything
    labels : write names, times and the colour bar
    engine : 'auto' and 'painter' paint in software, 'opengl' draws with OpenGL
    color : a quantity to colour by, with a colour bar: 'speed', and of rods 'strain', 'curvature', 'force',
        'moment' or a component such as 'K2' or 'N1'; default: a colour for each family of names

    Raises
    ------
    ResultError: nothing to draw, a time outside of the run, an unknown ending of `path`, engine, view or quantity.
    ModelError: another argument that cannot be used. NoOpenGL: engine 'opengl' without OpenGL, with the cure.
    """
    check_result("render", result)
    size = _checked(size, engine, ground, labels)
    if path is not None:
        path = _picture_path(path)
    t = result.t
    if times is None:
        wanted: Sequence[float] = np.linspace(t[0], t[-1], min(OVERLAID, len(t))).tolist()
    else:
        wanted = _times(times, float(t[0]), float(t[-1]))
    outputs = sorted({result.index_at(x) for x in wanted})
    stage = _Stage(result, size, view, up, ground, color, outputs)
    camera = stage.camera(outputs)
    parts, colors = [], []
    for k, i in enumerate(outputs):
        surface = stage.builder.surface(stage.states.at(i).state)
        # later ones a little nearer: what stays where it was shows its last colour
        surface = surface._replace(
            vertices=surface.vertices + k * NEARER * camera.distance * camera.axes[:, 2]
        )
        age = 1 - k / (len(outputs) - 1) if len(outputs) > 1 else 0.0
        parts.append(surface)
        colors.append(stage.colors(surface, float(t[i]), age, overlaid=len(outputs) > 1))
    with _drawer(camera, size, stage.grid(), engine, even=color is not None) as draw:
        picture = draw(merge(parts), np.concatenate(colors))
    if labels:
        picture = stage.label(picture, t[outputs])
    if path is not None:
        _save(picture, path, result.path)
    return picture


def render_movie(
    result: Result,
    path: Path | str,
    speed: float = 1.0,
    fps: int = 25,
    size: tuple[int, int] = (1280, 720),
    view: ArrayLike | str | None = None,
    up: ArrayLike | None = None,
    ground: bool = False,
    labels: bool = True,
    engine: Engine = "auto",
    color: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """A movie, .mp4 or .gif; returns the number of its frames. For other parameters see `render`.

    Parameters
    ----------
    speed : seconds of the run shown in a second; between outputs the motion is interpolated
    progress : called with (frames done, frames in all)
    """
    check_result("render", result)
    path = checked_path("render", path)
    if path.suffix.lower() not in (".mp4", ".gif"):
        raise ResultError(f"render to '{path}': '{path.suffix}' is no movie; end it in .mp4 or .gif")
    owner = f"render to '{path}'"
    speed = number(owner, "speed", speed, positive=True)
    fps = count(owner, "fps", fps, at_most=1000)
    size = _checked(size, engine, ground, labels)
    t = result.t
    frames = (t[-1] - t[0]) / speed * fps
    if not frames < MOST_FRAMES:
        raise ResultError(
            f"{owner}: speed = {speed:g} makes {frames:.3g} frames; give a speed of at least "
            f"{(t[-1] - t[0]) * fps / MOST_FRAMES:.3g}"
        )
    n = int(np.floor(frames)) + 1
    stage = _Stage(result, size, view, up, ground, color)
    camera = stage.camera(range(result.n_outputs))
    digits = overlay.digits_for(speed / fps)
    with (
        _movie(path, result.path, fps) as add,
        _drawer(camera, size, stage.grid(), engine, even=color is not None) as draw,
    ):
        for k in range(n):
            now = min(float(t[0]) + k * speed / fps, float(t[-1]))
            surface = stage.builder.surface(stage.states.between(now))
            picture = draw(surface, stage.colors(surface, now, 0.0, overlaid=False))
            if labels:
                picture = overlay.write_time(stage.name(picture), now, digits)
            add(picture)
            if progress is not None:
                progress(k + 1, n)
    return n


class _Output(NamedTuple):
    """What is drawn of one output."""

    state: State
    values: Floats  # (n_points,) of the quantity coloured by; empty: none


class States:
    """Outputs and states between them; the last two outputs read are kept, for the frames between them."""

    def __init__(self, result: Result, drawing: Drawing, field: fields.Field | None) -> None:
        self._result, self._drawing, self._field = result, drawing, field
        self._t = result.t
        self._kept: dict[int, _Output] = {}

    def at(self, i: int) -> _Output:
        """Output number i."""
        if i not in self._kept:
            state = self._result.state(i)
            found: Floats = np.zeros(0)
            if self._field is not None:
                strains, stresses = self._result.strains(i), self._result.stresses(i)
                found = fields.values(self._field, self._drawing, state, strains, stresses)
            self._kept = {**dict(list(self._kept.items())[-1:]), i: _Output(state, found)}
        return self._kept[i]

    def between(self, now: float) -> State:
        """The state at the time `now`, for the eye: cubic in positions, normalised means of quaternions."""
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
        """Values (n_points,) of the quantity coloured by, linear between outputs."""
        i, x = self._place(now)
        return self.at(i).values if x == 0.0 else (1 - x) * self.at(i).values + x * self.at(i + 1).values

    def _place(self, now: float) -> tuple[int, float]:
        """The output before `now`, and how far it is from there to the next: 0 to 1."""
        t = self._t
        i = int(np.clip(np.searchsorted(t, now, side="right") - 1, 0, max(0, len(t) - 2)))
        if len(t) == 1 or now <= t[i]:
            return i, 0.0
        return i, (now - float(t[i])) / float(t[i + 1] - t[i])


class _Stage:
    """What stays the same from picture to picture."""

    def __init__(
        self,
        result: Result,
        size: tuple[int, int],
        view: ArrayLike | str | None,
        up: ArrayLike | None,
        ground: bool,
        color: str | None,
        outputs: Sequence[int] | None = None,  # to be drawn; None: all
    ) -> None:
        layout = result.layout
        self.result = result
        self._drawing = Drawing(layout)
        if self._drawing.n_points == 0:
            raise ResultError(f"render: model '{layout.name}' has no rods and no surfaces to draw")
        self._size, self._ground = size, ground
        self._view = view if view is None or isinstance(view, str) else direction("render", "view", view)
        self._up = upward(layout.gravity) if up is None else direction("render", "up", up)
        self._field = None if color is None else fields.field_of(color, self._drawing)
        self.states = States(result, self._drawing, self._field)
        rods, self._legend = _palette([rod.name for rod in layout.rods], RODS)
        bodies, names = _palette([body.name for body in layout.bodies], BODIES)
        self._palette = np.concatenate([rods, bodies])
        self._legend += names
        candidates = np.arange(result.n_outputs) if outputs is None else np.asarray(outputs)
        chosen = candidates[
            np.unique(np.linspace(0, len(candidates) - 1, min(LOOKED_AT, len(candidates))).astype(int))
        ]
        clouds = {int(i): self._drawing.points(result.state(int(i))) for i in chosen}
        self._clouds = {i: points for i, points in clouds.items() if np.all(np.isfinite(points))}
        if not self._clouds:
            raise ResultError(f"render: model '{layout.name}' has no output with finite positions")
        extents = [points.max(axis=0) - points.min(axis=0) for points in self._clouds.values()]
        everything = np.concatenate(list(self._clouds.values()))
        whole = np.linalg.norm(everything.max(axis=0) - everything.min(axis=0))
        self._scene_size = max(float(np.linalg.norm(extents[0])), 0.5 * float(whole))
        self.builder = SceneBuilder(layout, self._scene_size)
        if self._field is not None:
            found = [self.states.at(int(i)).values for i in candidates]
            self._limits = fields.limits(self._field, np.concatenate(found))
            self._shades = fields.color_map(self._field, *self._limits)

    def camera(self, outputs: Sequence[int] | range) -> Camera:
        """One that sees everything at these outputs; from now on surfaces are as fine as its pixels."""
        # of the outputs to be drawn, those not looked at before
        if len(outputs) <= LOOKED_AT:
            clouds = [self.builder.surface(self.result.state(i)).vertices for i in outputs]
        else:
            clouds = list(self._clouds.values())
        points = np.concatenate(clouds)
        points = points[np.all(np.isfinite(points), axis=1)]
        self._seen = points
        view, up = view_direction(points, self._up)
        if isinstance(self._view, str):
            view, up = named_view(self._view, self._up)
        elif self._view is not None:
            view, up = self._view, self._up
        points = np.concatenate([points, *(ends for ends, _ in self.grid())])
        camera = fit(points, view, up, self._size[0] / self._size[1])
        self.builder = SceneBuilder(self.result.layout, self._scene_size, camera.pixel(self._size[1]))
        return camera

    def grid(self) -> Lines:
        """Lines of the ground, below the lowest point; none unless asked for."""
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
        """Colours (n, 3) of vertices at time `now`; age: 1 for the first, 0 for the last of several times."""
        if self._field is not None:
            found = self.builder.spread(self.states.values_between(now))
            return fields.colors(found, *self._limits, self._shades)
        if overlaid and self._alone:
            return np.broadcast_to(time_color(1 - age), (len(surface.owner), 3))
        colors = self._palette[surface.owner]
        return colors + (1 - colors) * FADE * age**0.8

    def label(self, picture: Picture, times: Floats) -> Picture:
        """Names, and the time or the range of times."""
        picture = self.name(picture)
        if len(times) == 1:
            return overlay.write_time(picture, float(times[0]), overlay.digits_for(self._output_step))
        x = np.linspace(0, 1, 120)
        if self._alone:
            bar = np.array([time_color(k) for k in x])
        else:
            base = self._palette[0]
            bar = base + (1 - base) * FADE * (1 - x[:, None]) ** 0.8
        digits = overlay.digits_for((times[-1] - times[0]) / 10)
        if self._field is not None:
            return overlay.write_times(picture, float(times[0]), float(times[-1]), digits)
        return overlay.write_time_bar(picture, float(times[0]), float(times[-1]), digits, bar)

    def name(self, picture: Picture) -> Picture:
        """The names of all families of objects, where they are few and more than one; or the colour bar."""
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


def _palette(names: Sequence[str], hues: Floats) -> tuple[Floats, list[tuple[str, Floats]]]:
    """Colours (n, 3) of objects, one hue for 'bar 1', 'bar 2', ...; name and colour of every family."""
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
    """Colour (3,) for x from 0 (early, light) to 1 (late, dark)."""
    places = np.linspace(0, 1, len(TIMES))
    return np.array([np.interp(x, places, TIMES[:, i]) for i in range(3)])


def _checked(size: object, engine: object, ground: object, labels: object) -> tuple[int, int]:
    """Width and height, where all of these can be used."""
    if not isinstance(engine, str) or engine not in ("auto", "opengl", "painter"):
        raise ResultError(f"render: no engine {shown(engine)}; give 'auto', 'opengl' or 'painter'")
    flag("render", "ground", ground)
    flag("render", "labels", labels)
    sides = size.tolist() if isinstance(size, np.ndarray) else size
    if not isinstance(sides, tuple | list) or len(sides) != 2:
        raise ResultError(f"render: size = {shown(size)}; give (width, height) in pixels")
    width, height = (
        count("render", what, x, at_least=16, at_most=LARGEST_SIZE)
        for what, x in zip(("width", "height"), sides, strict=True)
    )
    return width, height


def _times(times: object, first: float, last: float) -> list[float]:
    found = numbers(times)
    if found is None or found.ndim > 1 or found.size == 0:
        raise ResultError(f"render: times = {shown(times)}; give one time (s) or a list of them")
    beside = BESIDE * (last - first)
    for t in found.reshape(-1).tolist():
        if not first - beside <= t <= last + beside:
            raise ResultError(
                f"render: t = {t:g} s is not in the result, which goes from {first:g} to {last:g} s; "
                "give a time within"
            )
    return found.reshape(-1).tolist()


def _picture_path(path: object) -> Path:
    from PIL import Image

    checked = checked_path("render", path)
    # those that PIL can write, not only read
    endings = {end for end, format in Image.registered_extensions().items() if format in Image.SAVE}
    if checked.suffix.lower() not in endings:
        raise ResultError(
            f"render to '{checked}': no format '{checked.suffix}'; end it in .png, .mp4 or .gif"
        )
    return checked


@contextmanager
def _drawer(
    camera: Camera, size: tuple[int, int], lines: Lines, engine: Engine, even: bool
) -> Iterator[Callable[[Surface, Floats], Picture]]:
    """A function that draws a surface with its colours."""
    if engine != "opengl":
        from rodsim.results.painter import Painter

        yield Painter(camera, *size, lines=lines, even=even).draw
        return
    from rodsim.results import opengl

    why = opengl.missing()
    if why is not None:
        raise NoOpenGL(f"render: {why}; or give engine='painter'")
    with opengl.Canvas(camera, *size, even=even) as canvas:
        canvas.add_lines(lines)
        yield canvas.draw


@contextmanager
def _movie(path: Path, keep: Path | None, fps: int) -> Iterator[Callable[[Picture], Any]]:
    """A function that adds a frame to a movie."""
    import imageio.v2 as imageio

    with whole_file(path, keep) as file:
        if path.suffix.lower() == ".gif":
            gif: Any = imageio.get_writer(file, mode="I", duration=1000 / fps, loop=0)
            with gif:
                yield gif.append_data
        else:
            yield from _mp4(file, fps)


def _mp4(path: Path, fps: int) -> Iterator[Callable[[Picture], Any]]:
    """As `_movie`; OSError where ffmpeg did not write all frames, which it does not report itself."""
    import imageio.v2 as imageio
    from imageio_ffmpeg import count_frames_and_secs

    mp4: Any = imageio.get_writer(path, fps=fps, codec="libx264", quality=8, macro_block_size=2)
    frames = 0

    def add(picture: Picture) -> None:
        nonlocal frames
        mp4.append_data(picture)
        frames += 1

    try:
        with mp4:
            yield add
        whole = frames > 0 and count_frames_and_secs(str(path))[0] == frames
    except (OSError, RuntimeError) as error:
        raise OSError("ffmpeg could not write the movie; is the disk full?") from error
    if not whole:
        raise OSError("ffmpeg did not write the whole movie; is the disk full?")


def _save(picture: Picture, path: Path, keep: Path | None) -> None:
    from PIL import Image

    with whole_file(path, keep) as file:
        Image.fromarray(picture).save(file)
