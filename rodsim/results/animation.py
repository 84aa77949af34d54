"""Show the motion of a result in a plotly figure with play button and slider: rods, tendons as lines, bodies as surfaces."""

from __future__ import annotations

import io
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rigid.checks import count
from rigid.system import Floats
from rodsim.extras import extra
from rodsim.results.drawing import Drawing
from rodsim.results.errors import ResultError
from rodsim.results.output_choice import evenly_spaced
from rodsim.results.tendon_paths import paths_of

if TYPE_CHECKING:
    from rodsim.results.result import Result

MOST_NODES = 2000  # largest number of nodes drawn, all rods together; if there are more, only some are drawn
MOST_FRAMES = 2000
BOX_DIAGONAL = 1.8  # diagonal of the box in plotly's units; with this value it fills the picture
_CORNER = {"x": 0, "y": 0, "xanchor": "left", "yanchor": "top"}
PNG = "image/png"
TIMES = 6  # largest number of overlaid times of the still picture
SIZE = (960, 600)  # width and height of the still picture, pixels
ROD, BODY, ROPE = "rgb(222,98,50)", "rgb(66,104,160)", "rgb(60,52,40)"


def figure(result: Result, frames: int, height: int) -> Any:
    """Return the figure with `frames` outputs, `height` pixels high. Raise ResultError if there is nothing to draw."""
    frames = count("animate", "frames", frames, at_most=MOST_FRAMES)
    height = count("animate", "height", height, at_least=100, at_most=10_000)
    go = extra("plotly.graph_objects", "notebook", "animate")
    drawing = Drawing(result.layout)
    if result.n_outputs < 1 or drawing.n_points == 0:
        what = "no output yet" if drawing.n_points else "no rods and no surfaces to draw"
        raise ResultError(f"animate: the result of '{result.layout.name}' holds {what}")
    chosen = evenly_spaced(result.n_outputs, frames).tolist()
    with result.keep_open():
        t = result.t[chosen]
        # single precision, as in plotly: this halves the size of the page
        points = np.array([drawing.points(result.state(i)) for i in chosen], dtype=np.float32)
        ropes = np.array([_ropes(result, i) for i in chosen], dtype=np.float32)
    lines, n = _lines(drawing), drawing.n_rod_points
    triangles = drawing.triangles - n
    shown = [points[:, lines] if lines.size else None, points[:, n:] if len(triangles) else None]
    shown.append(ropes if ropes.size else None)
    if shown[0] is not None:
        shown[0][:, lines < 0] = np.nan  # a gap between two rods

    def moving(k: int) -> list[Any]:
        kinds = ((go.Scatter3d, shown[0]), (go.Mesh3d, shown[1]), (go.Scatter3d, shown[2]))
        return [kind(**dict(zip("xyz", x[k].T, strict=True))) for kind, x in kinds if x is not None]

    first = moving(0)
    if shown[0] is not None:
        first[0].update(mode="lines", line={"color": ROD, "width": 6}, name="rods", hoverinfo="skip")
    if shown[1] is not None:
        i, j, k = triangles.T
        body = first[1 if shown[0] is not None else 0]
        body.update(i=i, j=j, k=k, color=BODY, flatshading=True, name="bodies", hoverinfo="skip")
    if shown[2] is not None:
        first[-1].update(mode="lines", line={"color": ROPE, "width": 4}, name="tendons", hoverinfo="skip")
    names = [f"{time:.6g}" for time in t]
    traces = list(range(len(first)))
    moved = [go.Frame(data=moving(k), name=name, traces=traces) for k, name in enumerate(names)]
    widget = _with_picture(go)(data=first, frames=moved, layout=_layout(result, points, names, t, height))
    widget._result = result
    return widget


@cache
def _with_picture(go: Any) -> Any:
    """Return a subclass of plotly's figure that also contains a PNG image.

    Notebooks shown on a web site or converted to a document can only show the image.
    """

    class Figure(go.Figure):
        _result: Result

        def _repr_mimebundle_(
            self, include: Any = None, exclude: Any = None, **options: Any
        ) -> dict[str, Any]:
            bundle = super()._repr_mimebundle_(include, exclude, **options)
            return {**bundle, PNG: b64encode(_still(self._result)).decode()}

        def _ipython_display_(self) -> None:
            import plotly.io as pio
            from IPython.display import display

            bundle = self._repr_mimebundle_()
            if len(bundle) > 1 and pio.renderers.render_on_display:
                display(bundle, raw=True)
            else:  # the figure is shown in a browser window
                super()._ipython_display_()

    return Figure


def _still(result: Result) -> bytes:
    """Return a PNG picture of a few times, drawn over each other."""
    from PIL import Image

    from rodsim.results.render import render  # which imports Result

    times = result.t[evenly_spaced(result.n_outputs, TIMES)]
    file = io.BytesIO()
    Image.fromarray(render(result, None, times.tolist(), size=SIZE)).save(file, "PNG")
    return file.getvalue()


def _ropes(result: Result, output: int) -> Floats:
    """Return the points (n, 3), m, of all tendons and belts as one line, with nan between two of them."""
    gap, state = np.full((1, 3), np.nan), result.state(output)
    paths = [part for path in paths_of(result.layout) for part in (path.points(result.layout, state), gap)]
    return np.concatenate([np.zeros((0, 3)), *paths])


def _lines(drawing: Drawing) -> NDArray[np.int64]:
    """Return the point indices of all rods as one line; -1 is a gap. Both ends of each rod are always included."""
    nodes = sum(len(line) for line in drawing.lines)
    step = max(1, -(-nodes // MOST_NODES))
    parts = [np.append(line[:-1:step], [line[-1], -1]) for line in drawing.lines]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _layout(result: Result, points: NDArray[Any], names: list[str], t: Floats, height: int) -> dict[str, Any]:
    """Return plotly's layout: axes with one scale that contain the whole motion, play and stop buttons, and a slider.

    The motion is played in real time if it lasts 2 to 20 s, otherwise in the nearest of these times.
    """
    low, high = np.nanmin(points, axis=(0, 1)).astype(float), np.nanmax(points, axis=(0, 1)).astype(float)
    size = float((high - low).max()) or 1.0
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 0.1 * size) * 1.05
    axes = {
        f"{axis}axis": {"range": [middle[i] - half[i], middle[i] + half[i]], "title": {"text": f"{axis} (m)"}}
        for i, axis in enumerate("xyz")
    }
    ratio = dict(zip("xyz", (half * BOX_DIAGONAL / np.linalg.norm(half)).tolist(), strict=True))
    pause = 1e3 * float(np.clip(t[-1] - t[0], 2.0, 20.0)) / len(t)
    now = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    play = {**now, "fromcurrent": True, "frame": {"duration": pause, "redraw": True}}
    steps = [{"label": name, "method": "animate", "args": [[name], now]} for name in names]
    buttons = [
        {"label": "play", "method": "animate", "args": [None, play]},
        {"label": "stop", "method": "animate", "args": [[None], now]},
    ]
    statics = result.layout.description.get("statics")
    name, unit = ("t", " s") if not statics else ("load factor", "")
    if statics and statics["method"] != "newton":
        name = "length of the path"
    return {
        "title": {"text": result.layout.name},
        "height": height,
        "showlegend": False,
        "scene": {**axes, "aspectmode": "manual", "aspectratio": ratio},
        "updatemenus": [{"type": "buttons", "direction": "left", **_CORNER, "buttons": buttons}],
        "sliders": [
            {"steps": steps, "x": 0.2, "len": 0.8, "currentvalue": {"prefix": f"{name} = ", "suffix": unit}}
        ],
        "margin": {"l": 0, "r": 0, "t": 40, "b": 0},
    }
