"""Annotations of pictures: the time, bars of times and of colours, a legend, and the directions of the axes with a scale.

A canvas (`rodsim.results.canvases`) draws them from texts and lines. Positions are pixels from the upper left corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from rigid.system import Floats
from rodsim.results.support_symbols import AXES

INK = np.array([70, 74, 82]) / 255
TEXT = 0.024  # height of letters, relative to the height of the picture
BAR = 0.22  # length of a bar, relative to the width of the picture
CORNERS = ("upper right", "middle right", "lower right", "upper left")


class Canvas(Protocol):
    """Picture of `width` times `height` pixels to write on."""

    width: int
    height: int

    def text(self, name: str, x: float, y: float, text: str, color: Floats = ..., align: str = ...) -> None:
        """Write a text at its vertical middle; `name`: of the text that it replaces, `align`: "left", "center" or "right"."""

    def lines(self, name: str, ends: Floats, colors: Floats, width: float) -> None:
        """Draw lines over the picture; ends (n, 2, 2), colors (n, 3) in 0..1, width in pixels."""


def letter_size(height: int) -> int:
    """Return the height of letters, pixels, in a picture of this height."""
    return max(9, round(TEXT * height))


def write_text(canvas: Canvas, text: str) -> None:
    """Write a text, such as a time, in the lower left corner."""
    margin = 1.6 * letter_size(canvas.height)
    canvas.text("time", margin, canvas.height - margin, text)


def write_legend(canvas: Canvas, names: Sequence[str], colors: Sequence[Floats]) -> None:
    """Write names in the upper left corner, each after a square of its colour (3,) in 0..1."""
    size = letter_size(canvas.height)
    y = 1.6 * size + 1.7 * size * np.arange(len(names))
    dots = np.array([[(1.6 * size, k), (2.4 * size, k)] for k in y])
    canvas.lines("legend", dots, np.array(colors), 0.8 * size)
    for k, name in enumerate(names):
        canvas.text(f"legend {k}", 3.0 * size, y[k], name)


def write_bar(
    canvas: Canvas, colors: Floats, ends: tuple[str, str], title: str = "", left: bool = True
) -> None:
    """Draw a bar of colors (n, 3) in the lower left or right corner, with the texts of its ends, and a title above."""
    size = letter_size(canvas.height)
    long, y = BAR * canvas.width, canvas.height - 1.4 * size
    x = 1.6 * size if left else canvas.width - long - 1.6 * size
    edges = np.linspace(x, x + long, len(colors) + 1)
    parts = np.stack([np.stack([edges[:-1], edges[1:]], axis=1), np.full((len(colors), 2), y)], axis=-1)
    name = "times" if left else "colours"
    canvas.lines(name, parts, colors, 0.45 * size)
    canvas.text(f"{name} first", x, y - 1.1 * size, ends[0])
    canvas.text(f"{name} last", x + long, y - 1.1 * size, ends[1], align="right")
    canvas.text(f"{name} title", x + 0.5 * long, y - 2.5 * size, title, align="center")


def axes_box(height: int, width: int, pixel: float, corner: str) -> tuple[int, int, int, int]:
    """Return the rectangle that `write_axes` covers: x and y of its upper left corner, width and height, pixels.

    `height`, `width`: size of the picture, pixels. `pixel`: size of a pixel in the scene, m. `corner`: one of `CORNERS`.
    """
    size, bar = letter_size(height), nice_length(0.12 * width * pixel) / pixel
    w, h = round(max(bar, 6.4 * size) + 3.2 * size), round(12 * size)
    y, x = corner.split()
    top = {"upper": 0, "middle": (height - h) // 2, "lower": height - h}[y]
    return (0 if x == "left" else width - w), top, w, h


def write_axes(canvas: Canvas, axes: Floats, pixel: float, corner: str = CORNERS[0]) -> None:
    """Draw the directions of x, y and z in a corner, and below them a scale whose length is 1, 2 or 5 times a power of ten.

    `axes`: (3, 3), its columns point right, up and towards the viewer. `pixel`: size of a pixel in the scene, m.
    """
    size, bar = letter_size(canvas.height), nice_length(0.12 * canvas.width * pixel)
    left, top, width, _ = axes_box(canvas.height, canvas.width, pixel, corner)
    long, half = 2.2 * size, 0.5 * bar / pixel
    middle = np.array([left + width / 2, top + 2.6 * size + long])
    order = np.argsort(axes[:, 2])  # axes that point away from the viewer are drawn first
    tips = long * np.stack([axes[:, 0], -axes[:, 1]], axis=1)
    canvas.lines("axes", np.array([(middle, middle + tips[k]) for k in order]), AXES[order], 0.16 * size)
    for k, tip in enumerate(tips):
        away = float(np.linalg.norm(tip))
        offset = tip / away if away > 0.25 * long else np.array([-0.7, 0.7])
        x, y = middle + tip + 0.7 * size * offset
        canvas.text("xyz"[k], x, y, "xyz"[k], color=AXES[k], align="center")
    y = float(middle[1] + long + 1.9 * size)
    a, b, tick = np.array([middle[0] - half, y]), np.array([middle[0] + half, y]), np.array([0, 0.3 * size])
    scale = np.array([(a, b), (a - tick, a + tick), (b - tick, b + tick)])
    canvas.lines("scale", scale, np.tile(INK, (3, 1)), 0.12 * size)
    canvas.text("length", middle[0], y + 0.9 * size, in_metres(bar), align="center")


def nice_length(most: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is not above `most`."""
    power = 10.0 ** np.floor(np.log10(most))
    return float(max((k * power for k in (1.0, 2.0, 5.0) if k * power <= most), default=power))


def in_metres(length: float) -> str:
    """Return a length, m, as text with a unit: mm, m or km."""
    factor, unit = (1e3, "km") if length >= 1e3 else (1.0, "m") if length >= 0.01 else (1e-3, "mm")
    return f"{length / factor:.4g} {unit}"


def digits_for(step: float) -> int:
    """Return the number of decimals that distinguish times `step` (s) apart, 0 to 6; 2 if `step` is not positive."""
    return int(np.clip(np.ceil(-np.log10(step)), 0, 6)) if step > 0 else 2
