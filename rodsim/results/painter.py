"""Draws surfaces without OpenGL, far triangles first: pictures on machines that have no graphics at all.

Shading is that of `rodsim.results.opengl` as near as triangles of one colour can come.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats
from rodsim.results.camera import Camera
from rodsim.results.scene import Surface

SUPERSAMPLING = 3
# directions of light in the camera's axes (right, up, towards the viewer), and their strengths
LIGHTS = ((np.array([-0.45, 0.65, 0.6]), 0.55), (np.array([0.75, -0.1, 0.65]), 0.28))
AMBIENT = 0.45
SHINE, GLOSS = 0.2, 24


def paint(
    surface: Surface,
    colors: Floats,
    camera: Camera,
    width: int,
    height: int,
    lines: list[tuple[Floats, tuple[int, int, int]]] | None = None,
) -> NDArray[np.uint8]:
    """The picture (height, width, 3) of a surface with colors (n, 3) in 0..1 at its vertices, on white.

    lines: pairs of end points (2, 3) and a colour, drawn behind everything.
    """
    from PIL import Image, ImageDraw

    w, h = width * SUPERSAMPLING, height * SUPERSAMPLING
    image = Image.new("RGB", (w, h), "white")
    draw = ImageDraw.Draw(image)
    for ends, color in lines or []:
        pixels, _ = camera.project(ends, w, h)
        draw.line([tuple(p) for p in pixels], fill=color, width=SUPERSAMPLING)
    pixels, depth = camera.project(surface.vertices, w, h)
    faces = surface.faces
    corners = pixels[faces]
    edge1, edge2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    # pictures count y downwards: triangles that face the viewer turn the other way
    front = edge1[:, 0] * edge2[:, 1] - edge1[:, 1] * edge2[:, 0] < 0
    faces, corners = faces[front], corners[front]
    shaded = _shade(surface.normals[faces].mean(axis=1), colors[faces].mean(axis=1), camera)
    for i in np.argsort(-depth[faces].mean(axis=1)):
        red, green, blue = (int(c) for c in shaded[i])
        # the outline of the same colour closes the seams between triangles
        ink = (red, green, blue)
        draw.polygon([tuple(p) for p in corners[i]], fill=ink, outline=ink)
    small = image.resize((width, height), Image.Resampling.LANCZOS)
    return np.asarray(small, dtype=np.uint8).copy()


def _shade(normals: Floats, colors: Floats, camera: Camera) -> NDArray[np.uint8]:
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    seen = normals / np.where(length > 0, length, 1.0) @ camera.axes
    light = np.full(len(seen), AMBIENT)
    gloss = np.zeros(len(seen))
    for direction, strength in LIGHTS:
        to_light = direction / np.linalg.norm(direction)
        light += strength * np.clip(seen @ to_light, 0, None)
        half = to_light + np.array([0.0, 0.0, 1.0])  # the viewer is far away
        gloss += SHINE * np.clip(seen @ (half / np.linalg.norm(half)), 0, None) ** GLOSS
    rgb = colors * light[:, None] + gloss[:, None]
    return (255 * np.clip(rgb, 0, 1)).astype(np.uint8)
