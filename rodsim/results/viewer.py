"""Show a result in a window with a time slider, a play key, and colours by part or by a quantity along the rods."""

from __future__ import annotations

import time
from typing import Any

from numpy.typing import ArrayLike

from rodsim.results import opengl
from rodsim.results.canvases import VtkCanvas
from rodsim.results.color_fields import names
from rodsim.results.errors import NoOpenGL
from rodsim.results.labels import digits_for
from rodsim.results.result import ResultLike, opened
from rodsim.results.view_setup import ViewSetup

SIZE = (1280, 800)
FRAME = 30  # ms between frames during playback
SHORTEST, LONGEST = 2.0, 20.0  # s: runs of these lengths play in real time, others in DEFAULT_PLAYBACK
DEFAULT_PLAYBACK = 10.0  # s, playback time of other runs
HELP = "space: play    left, right: output by output    c: next colours    r: whole scene    q: close"
INK = "#464a52"


def view(result: ResultLike, color: str | None = None, camera: ArrayLike | str | None = None) -> None:
    """Show a result in a window until the window is closed.

    Parameters
    ----------
    result : Result, Path or str
        A result, or the path of a result file.
    color : str, optional
        Quantity to colour by, see `color` of `render`.
    camera : (3,) array or str, optional
        Viewpoint, see `view` of `render`.

    Raises
    ------
    NoOpenGL
        If no window can be opened on this machine; the message says how to fix it.
    ResultError
        If the colour or view is unknown, or there is nothing to draw.

    Examples
    --------
    >>> from rodsim import view
    >>> view("run.vtkhdf", color="speed")  # doctest: +SKIP
    """
    with Viewer(result, color, camera) as viewer:
        viewer.run()


class Viewer:
    """Manage the window that shows a result; a context manager."""

    def __init__(
        self, result: ResultLike, color: str | None = None, camera: ArrayLike | str | None = None
    ) -> None:
        result = opened("view", result)
        self._result, self._camera, self._color = result, camera, color
        stage = self._stage_of(color)  # first: checks the arguments before a window is opened
        look = stage.camera(range(result.n_outputs))
        why = opengl.no_window()
        if why is not None:
            raise NoOpenGL(f"view: {why}")
        self.t = float(result.t[0])
        self.playing = False
        self._clock = 0.0
        self._timer: int | None = None
        self._slider: Any = None
        self._stage = stage
        title = f"rodsim – {result.layout.name}"
        self._canvas = VtkCanvas(look, *SIZE, even=color is not None, window=title)
        self._plotter = self._canvas.plotter
        self._decorate()
        self._stage.name_colors(self._canvas)
        self.show(self.t)

    @property
    def _span(self) -> tuple[float, float]:
        return float(self._result.t[0]), float(self._result.t[-1])

    @property
    def speed(self) -> float:
        """Time of the result that passes per second of playback."""
        duration = self._span[1] - self._span[0]
        return duration / (duration if SHORTEST <= duration <= LONGEST else DEFAULT_PLAYBACK)

    def show(self, t: float) -> None:
        """Draw the state at time `t`, limited to the run."""
        first, last = self._span
        self.t = min(max(float(t), first), last)
        self._stage.draw(self._canvas, self.t)
        if self._slider is not None:
            self._slider.GetRepresentation().SetValue(self.t)
        self._plotter.render()

    def toggle(self) -> None:
        """Start or pause playback; at the end of the run restart from its beginning."""
        self.playing = not self.playing
        if self.playing and self.t >= self._span[1]:
            self.show(self._span[0])
        self._clock = time.perf_counter()
        if self.playing and self._timer is None and self._plotter.iren is not None:
            self._timer = self._plotter.iren.create_timer(FRAME)

    def tick(self) -> None:
        """Advance playback by the time that has passed since the last frame."""
        if not self.playing:
            return
        now = time.perf_counter()
        t = self.t + (now - self._clock) * self.speed
        self._clock = now
        self.playing = t < self._span[1]
        self.show(t)

    def step(self, by: int) -> None:
        """Pause, and move by `by` outputs from the nearest one."""
        self.playing = False
        i = self._result.index_at(self.t) + by
        self.show(float(self._result.t[min(max(i, 0), self._result.n_outputs - 1)]))

    def next_color(self) -> None:
        """Switch to the next colouring: by part, then by each available quantity."""
        known = [None, *names(self._result.layout)]
        self.color(known[(known.index(self._color) + 1) % len(known)])

    def color(self, name: str | None) -> None:
        """Colour by a quantity, or by part (None)."""
        self._stage = self._stage_of(name)
        self._stage.camera(range(self._result.n_outputs))  # refines the surfaces
        self._color = name
        self._canvas.shade(even=name is not None)
        self._canvas.erase("legend", "colours")
        self._stage.name_colors(self._canvas)
        self.show(self.t)

    def picture(self) -> Any:
        """Return the contents of the window, (height, width, 3)."""
        return self._canvas.picture()

    def open(self) -> None:
        """Show the window and return immediately."""
        self._plotter.show(interactive=False, auto_close=False, interactive_update=True)

    def run(self) -> None:
        """Show the window until it is closed."""
        self._plotter.show(auto_close=False)

    def close(self) -> None:
        """Close the window."""
        self._canvas.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _stage_of(self, color: str | None) -> ViewSetup:
        return ViewSetup(self._result, SIZE, self._camera, None, False, color)

    def _decorate(self) -> None:
        plotter = self._plotter
        first, last = self._span
        statics = "statics" in self._result.description
        if last > first:
            self._slider = plotter.add_slider_widget(
                self._on_slider,
                (first, last),
                value=first,
                title="load factor or path" if statics else "t (s)",
                pointa=(0.08, 0.09),
                pointb=(0.7, 0.09),
                interaction_event="always",
                style="modern",
                color=INK,
                fmt=f"{{0:.{digits_for((last - first) / 1000)}f}}",
                title_height=0.022,
                slider_width=0.025,
                tube_width=0.008,
            )
        plotter.add_text(HELP, position=(12, 8), font_size=8, color=INK)
        plotter.add_axes(color=INK, viewport=(0.0, 0.12, 0.12, 0.3))
        for key, action in (
            ("space", self.toggle),
            ("Right", lambda: self.step(1)),
            ("Left", lambda: self.step(-1)),
            ("c", self.next_color),
        ):
            plotter.add_key_event(key, action)
        plotter.iren.add_observer("TimerEvent", lambda *_: self.tick())

    def _on_slider(self, t: float) -> None:
        if abs(t - self.t) > 1e-12 * abs(self._span[1] - self._span[0]):
            self.playing = False
            self.show(t)
