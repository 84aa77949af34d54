"""Render surfaces in software, with a depth buffer, smooth shading and anti-aliased edges; the same pictures on every machine.

No graphics hardware is needed; a frame of a movie takes a few hundredths of a second. The kernels are in `rodsim.results.raster`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats
from rodsim.results.camera import Camera
from rodsim.results.raster import SAMPLES, Lights, Samples, Triangles, fill, resolve
from rodsim.results.scene import Surface

Lines = list[tuple[Floats, tuple[int, int, int]]]

SUPERSAMPLING = 3  # enlargement of the picture on which lines are drawn
# directions of the lights in the camera's axes (right, up, towards the viewer), and their strengths
LIGHTS = ((np.array([-0.45, 0.65, 0.6]), 0.55), (np.array([0.75, -0.1, 0.65]), 0.28))
AMBIENT, DIFFUSE = 0.45, 0.9
SHINE, GLOSS = 0.2, 24  # the exponent GLOSS is hard-coded in the kernel
# used if colours represent values: the shaded colours are nearer to those of the colour bar
EVEN_AMBIENT, EVEN_DIFFUSE, EVEN_SHINE = 0.72, 0.42, 0.05


class Painter:
    """Render pictures from one camera, as for the frames of a movie."""

    def __init__(
        self, camera: Camera, width: int, height: int, lines: Lines | None = None, even: bool = False
    ) -> None:
        """Prepare the background, the sample buffers and the lights.

        `width`, `height`: pixels. `lines`: pairs of end points (2, 3) and a colour 0..255, drawn behind all surfaces. `even`:
        True for little shading.
        """
        self._camera = camera
        self._background = _background(camera, width, height, lines or [])
        self._samples = Samples(
            np.zeros((height, width, SAMPLES), np.float32),
            np.zeros((height, width, SAMPLES, 3), np.uint8),
            np.zeros((height, width), np.uint8),
        )
        directions = np.array([direction / np.linalg.norm(direction) for direction, _ in LIGHTS])
        strengths = np.array([strength for _, strength in LIGHTS])
        halves = directions + np.array([0.0, 0.0, 1.0])  # half vectors, for a viewer at infinity
        self._lights = Lights(
            directions,
            halves / np.linalg.norm(halves, axis=1, keepdims=True),
            (EVEN_DIFFUSE if even else DIFFUSE) * strengths,
            (EVEN_SHINE if even else SHINE) * strengths,
            EVEN_AMBIENT if even else AMBIENT,
        )

    def draw(self, surface: Surface, colors: Floats) -> NDArray[np.uint8]:
        """Render a surface with colors (n, 3) in 0..1 at its vertices on white; return the picture (height, width, 3)."""
        height, width = self._samples.touched.shape
        pixels, depth = self._camera.project(surface.vertices, width, height)
        normals = np.ascontiguousarray(surface.normals @ self._camera.axes)
        triangles = Triangles(surface.faces, pixels, depth, normals, np.ascontiguousarray(colors))
        fill(triangles, self._lights, self._samples)
        picture = self._background.copy()
        resolve(self._samples, picture)
        return picture


def _background(camera: Camera, width: int, height: int, lines: Lines) -> NDArray[np.uint8]:
    """Return a white picture with the lines (height, width, 3)."""
    if not lines:
        return np.full((height, width, 3), 255, np.uint8)
    from PIL import Image, ImageDraw

    w, h = width * SUPERSAMPLING, height * SUPERSAMPLING
    image = Image.new("RGB", (w, h), "white")
    draw = ImageDraw.Draw(image)
    for ends, color in lines:
        pixels, _ = camera.project(ends, w, h)
        draw.line([tuple(p) for p in pixels], fill=color, width=SUPERSAMPLING)
    return np.asarray(image.resize((width, height), Image.Resampling.LANCZOS), dtype=np.uint8).copy()
