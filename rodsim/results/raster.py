"""Rasterise triangles with a depth buffer and multisampling: the kernels of `rodsim.results.painter`.

Every pixel has SAMPLES sample points, each with the inverse depth and the colour of the nearest triangle there. A triangle
is shaded once per pixel. After the last triangle `resolve` averages the samples of each pixel and clears them, so that
the cost of a picture depends on its drawn pixels and not on the empty ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rigid.compilation.decorators import kernel

# sample positions in a pixel: no two in one row or column, so that steep and flat edges have equally many shades
PLACES = np.array([(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)]) / 16
SAMPLES = len(PLACES)
# a face must be nearer by more than this factor to cover another: the first of coplanar faces is seen, without hatching
SAME = 1.0 + 1e-5


class Triangles(NamedTuple):
    """Hold the triangles to draw, projected by the camera."""

    faces: Any  # (m, 3) vertex indices
    pixels: Any  # (n, 2) positions of the vertices, pixels
    depth: Any  # (n,) distances from the camera plane
    normals: Any  # (n, 3) vertex normals, camera axes
    colors: Any  # (n, 3) vertex colours


class Lights(NamedTuple):
    """Hold the light sources, in camera axes."""

    directions: Any  # (k, 3) directions to the lights
    halves: Any  # (k, 3) directions half-way between light and viewer
    diffuse: Any  # (k,) diffuse intensities
    shine: Any  # (k,) specular intensities
    ambient: float  # ambient intensity


class Samples(NamedTuple):
    """Hold depth and colour of the samples of all pixels."""

    near: Any  # (h, w, SAMPLES) inverse depths, 0 if empty
    ink: Any  # (h, w, SAMPLES, 3) colours
    touched: Any  # (h, w) nonzero if a sample of the pixel is set


@kernel
def fill(triangles, light, samples):
    """Draw triangles into the samples."""
    faces, pixels, depth, normals, colors = triangles
    lights, halves, diffuse, shine, ambient = light
    near, ink, touched = samples
    height, width = touched.shape
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, bx, by = pixels[a, 0], pixels[a, 1], pixels[b, 0], pixels[b, 1]
        cx, cy = pixels[c, 0], pixels[c, 1]
        # pixel y counts downwards, which reverses the orientation of triangles that face the viewer
        area = (cx - ax) * (by - ay) - (cy - ay) * (bx - ax)
        # also false if a number is not finite
        if not (area > 1e-12 and depth[a] > 0.0 and depth[b] > 0.0 and depth[c] > 0.0):
            continue
        low_x, high_x = min(ax, bx, cx), max(ax, bx, cx)
        low_y, high_y = min(ay, by, cy), max(ay, by, cy)
        if high_x < 0.0 or high_y < 0.0 or low_x >= width or low_y >= height:
            continue
        x0, x1 = int(max(low_x, 0.0)), int(min(high_x, width - 1.0))
        y0, y1 = int(max(low_y, 0.0)), int(min(high_y, height - 1.0))
        # barycentric coordinates u, v, w of a, b, c are linear over the picture
        ux, uy = (by - cy) / -area, (cx - bx) / -area
        vx, vy = (cy - ay) / -area, (ax - cx) / -area
        wx, wy = -ux - vx, -uy - vy
        reach_u, reach_v = (abs(ux) + abs(uy)) / 2, (abs(vx) + abs(vy)) / 2
        reach_w = (abs(wx) + abs(wy)) / 2
        za, zb, zc = 1.0 / depth[a], 1.0 / depth[b], 1.0 / depth[c]
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                px, py = x + 0.5 - cx, y + 0.5 - cy
                u, v = ux * px + uy * py, vx * px + vy * py
                w = 1.0 - u - v
                if u < -reach_u or v < -reach_v or w < -reach_w:
                    continue
                shaded = False
                red = green = blue = np.uint8(0)
                for s in range(SAMPLES):
                    dx, dy = PLACES[s, 0], PLACES[s, 1]
                    us, vs = u + ux * dx + uy * dy, v + vx * dx + vy * dy
                    ws = 1.0 - us - vs
                    if us < 0.0 or vs < 0.0 or ws < 0.0:
                        continue
                    z = us * za + vs * zb + ws * zc
                    if z <= near[y, x, s] * SAME:
                        continue
                    if not shaded:
                        shaded = True
                        touched[y, x] = 1
                        nx = us * normals[a, 0] + vs * normals[b, 0] + ws * normals[c, 0]
                        ny = us * normals[a, 1] + vs * normals[b, 1] + ws * normals[c, 1]
                        nz = us * normals[a, 2] + vs * normals[b, 2] + ws * normals[c, 2]
                        length = max(np.sqrt(nx * nx + ny * ny + nz * nz), 1e-300)
                        bright, gloss = ambient, 0.0
                        for k in range(len(lights)):
                            to = (nx * lights[k, 0] + ny * lights[k, 1] + nz * lights[k, 2]) / length
                            bright += diffuse[k] * max(to, 0.0)
                            half = (nx * halves[k, 0] + ny * halves[k, 1] + nz * halves[k, 2]) / length
                            h8 = max(half, 0.0) ** 8
                            gloss += shine[k] * h8 * h8 * h8
                        red = _byte(
                            (us * colors[a, 0] + vs * colors[b, 0] + ws * colors[c, 0]) * bright + gloss
                        )
                        green = _byte(
                            (us * colors[a, 1] + vs * colors[b, 1] + ws * colors[c, 1]) * bright + gloss
                        )
                        blue = _byte(
                            (us * colors[a, 2] + vs * colors[b, 2] + ws * colors[c, 2]) * bright + gloss
                        )
                    near[y, x, s] = z
                    ink[y, x, s, 0], ink[y, x, s, 1], ink[y, x, s, 2] = red, green, blue


@kernel
def _byte(x):
    return np.uint8(min(max(255.0 * x + 0.5, 0.0), 255.0))


@kernel
def resolve(samples, picture):
    """Write the mean of the samples into `picture` (h, w, 3), which holds the background; clear the samples."""
    near, ink, touched = samples
    height, width = touched.shape
    for y in range(height):
        for x in range(width):
            if not touched[y, x]:
                continue
            touched[y, x] = 0
            for i in range(3):
                total = 0
                for s in range(SAMPLES):
                    total += int(ink[y, x, s, i] if near[y, x, s] > 0.0 else picture[y, x, i])
                picture[y, x, i] = (total + SAMPLES // 2) // SAMPLES
            for s in range(SAMPLES):
                near[y, x, s] = 0.0
