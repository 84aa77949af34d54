"""Draws surfaces in software, the same on every machine: with depth, smooth shading and soft edges.

Needs no graphics; a frame of a movie takes a few hundredths of a second. Kernels: `rodsim.results.raster`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats
from rodsim.results.camera import Camera
from rodsim.results.raster import SAMPLES, fill, resolve
from rodsim.results.scene import Surface

Lines = list[tuple[Floats, tuple[int, int, int]]]

SUPERSAMPLING = 3  # of lines
# directions of light in the camera's axes (right, up, towards the viewer), and their strengths
LIGHTS = ((np.array([-0.45, 0.65, 0.6]), 0.55), (np.array([0.75, -0.1, 0.65]), 0.28))
AMBIENT, DIFFUSE = 0.45, 0.9
SHINE, GLOSS = 0.2, 24  # the exponent is written out in the kernel
# where colours mean numbers: nearer to those of the colour bar
EVEN_AMBIENT, EVEN_DIFFUSE, EVEN_SHINE = 0.72, 0.42, 0.05


class Painter:
    """Draws pictures from one camera: the frames of a movie."""

    def __init__(
        self, camera: Camera, width: int, height: int, lines: Lines | None = None, even: bool = False
    ) -> None:
        """lines: pairs of end points (2, 3) and a colour, drawn behind everything; even: little shading."""
        self._camera = camera
        self._background = _background(camera, width, height, lines or [])
        self._near = np.zeros((height, width, SAMPLES), np.float32)
        self._ink = np.zeros((height, width, SAMPLES, 3), np.uint8)
        self._touched = np.zeros((height, width), np.uint8)
        self._lights = np.array([direction / np.linalg.norm(direction) for direction, _ in LIGHTS])
        self._ambient = EVEN_AMBIENT if even else AMBIENT
        strengths = np.array([strength for _, strength in LIGHTS])
        self._diffuse = (EVEN_DIFFUSE if even else DIFFUSE) * strengths
        self._shine = (EVEN_SHINE if even else SHINE) * strengths
        halves = self._lights + np.array([0.0, 0.0, 1.0])  # the viewer is far away
        self._halves = halves / np.linalg.norm(halves, axis=1, keepdims=True)

    def draw(self, surface: Surface, colors: Floats) -> NDArray[np.uint8]:
        """The picture (height, width, 3) of a surface with colors (n, 3) in 0..1 at its vertices, on white."""
        height, width = self._touched.shape
        pixels, depth = self._camera.project(surface.vertices, width, height)
        fill(
            surface.faces,
            pixels,
            depth,
            np.ascontiguousarray(surface.normals @ self._camera.axes),
            np.ascontiguousarray(colors),
            self._lights,
            self._halves,
            self._diffuse,
            self._shine,
            self._ambient,
            self._near,
            self._ink,
            self._touched,
        )
        picture = self._background.copy()
        resolve(self._near, self._ink, self._touched, picture)
        return picture


def _background(camera: Camera, width: int, height: int, lines: Lines) -> NDArray[np.uint8]:
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
