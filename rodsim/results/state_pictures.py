"""Draw states of a model one after the other from one camera, as a loop that advances the model needs them."""

from __future__ import annotations

import contextlib

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import State
from rodsim.results.canvases import Canvas, Picture
from rodsim.results.render import canvas_of, check_pictures
from rodsim.results.result import Result
from rodsim.results.view_setup import ViewSetup

ROOM = 0.5  # distance around the first state that the camera sees, in sizes of that state


class StatePictures:
    """Pictures of states of one model.

    The camera sees the first state and some room around it. It is moved back when a state would leave the picture.
    """

    def __init__(self, start: Result, size: tuple[int, int], view: ArrayLike | str | None = None) -> None:
        """Prepare pictures of `size` pixels, width and height; `start`: a result whose first state is the first state.

        `view`: as in `render`.
        """
        self._size = check_pictures(size)
        self._view = ViewSetup(start, self._size, view, None, ground=True, color=None, outputs=[0])
        points = self._view.shape.place(start.state(0))
        low, high = points.min(axis=0), points.max(axis=0)
        room = ROOM * float(np.linalg.norm(high - low))
        self._stack = contextlib.ExitStack()
        self._place_camera(np.stack([low - room, high + room]))

    def _place_camera(self, ends: np.ndarray) -> None:
        """Begin a canvas whose camera sees a box with these ends (2, 3), m."""
        self._stack.close()
        corners = np.array(np.meshgrid(*ends.T)).reshape(3, -1).T
        self._ends, camera = ends, self._view.camera_of(corners)
        self._canvas: Canvas = canvas_of("auto", self._view, camera, self._size)
        self._stack.enter_context(self._canvas)

    def picture(self, state: State) -> Picture:
        """Return the picture (height, width, 3) of a state."""
        vertices = self._view.shape.place(state)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        if np.any(low < self._ends[0]) or np.any(high > self._ends[1]):
            room = 0.5 * ROOM * float(np.linalg.norm(self._ends[1] - self._ends[0]))
            self._place_camera(
                np.stack([np.minimum(self._ends[0], low - room), np.maximum(self._ends[1], high + room)])
            )
            vertices = self._view.shape.place(state)
        shape = self._view.shape
        self._canvas.draw(vertices, shape.faces, shape.owner, self._view.colors(0.0, 0.0, overlaid=False))
        return self._canvas.picture()

    def close(self) -> None:
        """Free the canvas."""
        self._stack.close()
