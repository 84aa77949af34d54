"""Make pictures and movies of a result: a still of one time or of several overlaid times, or MP4 and GIF.

They are drawn by VTK, which needs OpenGL but no display. Where VTK cannot draw, matplotlib draws them more plainly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rigid.checks import count, flag, number, numbers, shown
from rigid.errors import ModelWarning
from rigid.user_warnings import warn_user
from rodsim.results import labels as writing
from rodsim.results import opengl
from rodsim.results.camera import Camera
from rodsim.results.canvases import Canvas, FlatCanvas, Picture, VtkCanvas
from rodsim.results.errors import NoOpenGL, ResultError, check_path
from rodsim.results.picture_files import movie, picture_path, save
from rodsim.results.result import ResultLike, opened
from rodsim.results.view_setup import ViewSetup

Engine = Literal["auto", "opengl", "matplotlib", "painter"]

DEFAULT_TIMES = 10  # default number of times in a still
OVERLAY_SHIFT = 3e-4  # shift towards the camera between overlaid times, as a part of its distance
TIME_TOLERANCE = 1e-9  # part of the run's length by which a requested time may lie outside of it, as rounding
LARGEST_SIZE = 16_384  # pixels a side
MOST_FRAMES = 100_000  # largest number of frames of a movie, about an hour


def render(
    result: ResultLike,
    path: Path | str | None = None,
    times: float | Sequence[float] | None = None,
    *,
    size: tuple[int, int] = (1600, 1000),
    view: ArrayLike | str | None = None,
    up: ArrayLike | None = None,
    ground: bool = False,
    labels: bool = True,
    engine: Engine = "auto",
    color: str | None = None,
) -> Picture:
    """Make a still picture of a result.

    Parameters
    ----------
    result : Result, Path or str
        A result, or the path of a result file.
    path : Path or str, optional
        File to write, .png. By default none is written.
    times : float or sequence of float, optional
        One time (s) or several, drawn over each other, earlier ones paler. For equilibria these are load factors, or lengths
        of the path. By default times are spaced evenly over the run.
    size : pair of int, default (1600, 1000)
        Width and height in pixels.
    view : (3,) array or str, optional
        Viewpoint: a direction, or "iso", "front", "side", "top" or "azimuth/elevation" in degrees. By default the direction from
        which most is seen.
    up : (3,) array, optional
        The direction that is up in the picture. By default opposite to gravity, or z without gravity.
    ground : bool, default False
        Draw a grid below everything.
    labels : bool, default True
        Write names, times, the colour bar, axes and a scale (valid in the middle of the scene).
    engine : {"auto", "opengl", "matplotlib"}, default "auto"
        "opengl" draws with VTK, "matplotlib" more plainly and without OpenGL; "auto" takes VTK if it can draw here.
        "painter" is the former name of "matplotlib".
    color : str, optional
        Quantity to colour by, with a colour bar: "speed", or for rods "strain", "curvature", "force", "moment" or a component
        such as "K2" or "N1". By default each family of names has its own colour.

    Returns
    -------
    (height, width, 3) array of uint8
        The picture.

    Raises
    ------
    ResultError
        If there is nothing to draw, a time is outside of the run, or the ending of `path`, engine, view or quantity is unknown.
    ModelError
        If another argument is invalid.
    NoOpenGL
        If engine is "opengl" and VTK cannot draw; the message says how to install it.

    Examples
    --------
    >>> from rodsim import render
    >>> render("run.vtkhdf", "run.png", times=[0.0, 0.05], size=(160, 100)).shape
    (100, 160, 3)
    """
    result = opened("render", result)
    size = _checked(size, engine, ground, labels)
    if path is not None:
        path = picture_path(path)
    t = result.t
    if times is None:
        requested: Sequence[float] = np.linspace(t[0], t[-1], min(DEFAULT_TIMES, len(t))).tolist()
    else:
        requested = _times(times, float(t[0]), float(t[-1]), "statics" in result.description)
    outputs = sorted({result.index_at(x) for x in requested})
    stage = ViewSetup(result, size, view, up, ground, color, outputs)
    camera = stage.camera(outputs)
    vertices, colors = [], []
    for k, i in enumerate(outputs):
        # later times are drawn a little nearer: a part that does not move shows its last colour
        nearer = k * OVERLAY_SHIFT * camera.distance * camera.axes[:, 2]
        vertices.append(stage.shape.place(stage.states.at(i).state) + nearer)
        age = 1 - k / (len(outputs) - 1) if len(outputs) > 1 else 0.0
        colors.append(stage.colors(float(t[i]), age, overlaid=len(outputs) > 1))
    starts = len(vertices[0]) * np.arange(len(outputs))
    faces = (stage.shape.faces + starts[:, None, None]).reshape(-1, 3)
    owner = np.tile(stage.shape.owner, len(outputs))
    with canvas_of(engine, stage, camera, size) as canvas:
        canvas.draw(np.concatenate(vertices), faces, owner, np.concatenate(colors))
        if labels:
            stage.label(canvas, t[outputs])
        picture = canvas.picture()
    if path is not None:
        save(picture, path, result.path)
    return picture


def render_movie(
    result: ResultLike,
    path: Path | str,
    *,
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
    """Make a movie of a result.

    Parameters
    ----------
    result : Result, Path or str
        A result, or the path of a result file.
    path : Path or str
        File to write, .mp4 or .gif.
    speed : float, default 1.0
        Seconds of the run shown per second; between outputs the motion is interpolated.
    fps : int, default 25
        Pictures per second.
    size : pair of int, default (1280, 720)
        Width and height in pixels.
    view : (3,) array or str, optional
        Viewpoint: a direction, or "iso", "front", "side", "top" or "azimuth/elevation" in degrees. By default the direction from
        which most is seen.
    up : (3,) array, optional
        The direction that is up in the picture. By default opposite to gravity, or z without gravity.
    ground : bool, default False
        Draw a grid below everything.
    labels : bool, default True
        Write names, times, the colour bar, axes and a scale (valid in the middle of the scene).
    engine : {"auto", "opengl", "matplotlib"}, default "auto"
        "opengl" draws with VTK, "matplotlib" more plainly and without OpenGL; "auto" takes VTK if it can draw here.
        "painter" is the former name of "matplotlib".
    color : str, optional
        Quantity to colour by, with a colour bar: "speed", or for rods "strain", "curvature", "force", "moment" or a component
        such as "K2" or "N1". By default each family of names has its own colour.
    progress : callable, optional
        Called with (frames done, total number of frames).

    Returns
    -------
    int
        The number of frames.

    Raises
    ------
    ResultError
        If there is nothing to draw or too many frames, or the ending of `path`, engine, view or quantity is unknown.
    ModelError
        If another argument is invalid.
    NoOpenGL
        If engine is "opengl" and VTK cannot draw; the message says how to install it.

    Examples
    --------
    >>> from rodsim import render_movie
    >>> render_movie("run.vtkhdf", "run.gif", size=(160, 96), fps=40)
    3
    """
    result = opened("render", result)
    path = check_path("render", path)
    if path.suffix.lower() not in (".mp4", ".gif"):
        raise ResultError(
            f"render to '{path}': '{path.suffix}' is not a movie format; end it in .mp4 or .gif"
        )
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
    stage = ViewSetup(result, size, view, up, ground, color)
    camera = stage.camera(range(result.n_outputs))
    digits = writing.digits_for(speed / fps)
    with movie(path, result.path, fps) as add, canvas_of(engine, stage, camera, size) as canvas:
        if labels:
            stage.name(canvas)
        for k in range(n):
            now = min(float(t[0]) + k * speed / fps, float(t[-1]))
            stage.draw(canvas, now)
            if labels:
                writing.write_text(canvas, stage.clock.words(now, digits))
            add(canvas.picture())
            if progress is not None:
                progress(k + 1, n)
    return n


def check_pictures(size: object) -> tuple[int, int]:
    """Check the size of pictures and return width and height (pixels)."""
    return _checked(size, "auto", False, False)


def _checked(size: object, engine: object, ground: object, labels: object) -> tuple[int, int]:
    """Check the arguments that all pictures share, and return width and height (pixels)."""
    if not isinstance(engine, str) or engine not in get_args(Engine):
        raise ResultError(f"render: no engine {shown(engine)}; give 'auto', 'opengl' or 'matplotlib'")
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


def _times(times: object, first: float, last: float, static: bool) -> list[float]:
    """Return the requested times as a list, checked against the run from `first` to `last`; `static`: load factors."""
    unit, what = ("", "a load factor, or length of a path,") if static else (" s", "a time")
    requested = numbers(times)
    if requested is None or requested.ndim > 1 or requested.size == 0:
        raise ResultError(f"render: times = {shown(times)}: expected a time (s) or a list of times")
    slack = TIME_TOLERANCE * (last - first)
    for t in requested.reshape(-1).tolist():
        if not first - slack <= t <= last + slack:
            raise ResultError(
                f"render: t = {t:g}{unit} is not in the result, which goes from {first:g} to {last:g}{unit}; give "
                f"{what} within"
            )
    return requested.reshape(-1).tolist()


def canvas_of(engine: Engine, stage: ViewSetup, camera: Camera, size: tuple[int, int]) -> Canvas:
    """Return the canvas of an engine, with the ground."""
    even = stage.scale is not None
    canvas: Canvas
    if engine in ("matplotlib", "painter") or (engine == "auto" and _must_use_matplotlib()):
        canvas = FlatCanvas(camera, *size, even)
    elif engine == "opengl" and (why := opengl.missing()):
        raise NoOpenGL(f"render: {why}; or give engine='matplotlib'")
    else:
        canvas = VtkCanvas(camera, *size, even)
    if len(ground := stage.grid()):
        canvas.ground(ground)
    return canvas


@cache
def _must_use_matplotlib() -> bool:
    """Return whether VTK cannot draw here, with a warning that matplotlib does; only the first call asks and warns."""
    why = opengl.missing()
    if why is not None:
        warn_user(f"render: matplotlib draws pictures and movies plainly, because {why}", ModelWarning)
    return why is not None
