"""Show a result in a window with a time slider, a play key, and colours by part or by a quantity along the rods."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rodsim.results import opengl, overlay
from rodsim.results.errors import NoOpenGL
from rodsim.results.fields import names
from rodsim.results.result import Result, ResultLike, opened
from rodsim.results.stage import Stage

SIZE = (1280, 800)
FRAME = 30  # ms between frames during playback
SHORTEST, LONGEST = 2.0, 20.0  # s: runs of these lengths play in real time, others in USUAL
USUAL = 10.0  # s, playback time of other runs
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
        self._canvas = opengl.Canvas(stage.look, *SIZE, even=color is not None, window=title)
        self._plotter = self._canvas.plotter
        self._decorate()
        self._colors_named()
        self.show(self.t)

    @property
    def _span(self) -> tuple[float, float]:
        return float(self._result.t[0]), float(self._result.t[-1])

    @property
    def speed(self) -> float:
        """Time of the result that passes per second of playback."""
        whole = self._span[1] - self._span[0]
        return whole / (whole if SHORTEST <= whole <= LONGEST else USUAL)

    def show(self, t: float) -> None:
        """Draw the state at time `t`, limited to the run."""
        first, last = self._span
        self.t = min(max(float(t), first), last)
        surface = self._stage.surface(self._stage.states.between(self.t))
        self._canvas.place(surface, self._stage.colors(surface, self.t, 0.0, overlaid=False))
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
        self._color = name
        self._canvas.shade(even=name is not None)
        self._colors_named()
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

    def _stage_of(self, color: str | None) -> _Looked:
        return _Looked(self._result, color, self._camera)

    def _decorate(self) -> None:
        plotter = self._plotter
        first, last = self._span
        statics = "statics" in self._result.description
        if last > first:
            self._slider = plotter.add_slider_widget(
                self._slid,
                (first, last),
                value=first,
                title="load factor or path" if statics else "t (s)",
                pointa=(0.08, 0.09),
                pointb=(0.92, 0.09),
                interaction_event="always",
                style="modern",
                color=INK,
                fmt=f"{{0:.{overlay.digits_for((last - first) / 1000)}f}}",
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

    def _slid(self, t: float) -> None:
        if abs(t - self.t) > 1e-12 * abs(self._span[1] - self._span[0]):
            self.playing = False
            self.show(t)

    def _colors_named(self) -> None:
        """Draw a colour bar, or a legend with the names of the parts."""
        from vtkmodules.vtkRenderingAnnotation import vtkScalarBarActor

        plotter = self._plotter
        for name in ("bar", "names"):
            plotter.remove_actor(name, render=False)
        plotter.remove_legend(render=False)
        scale = self._stage.scale
        if scale is None:
            if 1 < len(self._stage.legend) <= 6:
                labels = [[name, tuple(float(c) for c in color)] for name, color in self._stage.legend]
                height = 0.035 * len(labels)
                plotter.add_legend(
                    labels, bcolor=None, face="circle", size=(0.18, height), loc="upper left", border=False
                )
            return
        import pyvista

        field, limits, shades = scale
        rgba = np.concatenate([255 * shades, np.full((len(shades), 1), 255)], axis=1).astype(np.uint8)
        bar = vtkScalarBarActor()
        bar.SetLookupTable(pyvista.LookupTable(values=rgba, scalar_range=limits))
        bar.SetTitle(field.label)
        bar.SetNumberOfLabels(5)
        bar.SetPosition(0.91, 0.25)
        bar.SetPosition2(0.07, 0.6)
        bar.UnconstrainedFontSizeOn()
        for words in (bar.GetTitleTextProperty(), bar.GetLabelTextProperty()):
            words.SetColor(*pyvista.Color(INK).float_rgb)
            words.SetFontSize(15)
            words.SetShadow(False)
            words.SetItalic(False)
            words.SetBold(False)
        plotter.add_actor(bar, name="bar", render=False, reset_camera=False)


class _Looked(Stage):
    """Stage with the camera that sees everything at all outputs."""

    def __init__(self, result: Result, color: str | None, view: ArrayLike | str | None) -> None:
        super().__init__(result, SIZE, view, None, False, color)
        self.look = self.camera(range(result.n_outputs))
