"""Write annotations on pictures: the time, a time bar, a colour bar, a legend, and the directions of the axes with a scale."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats
from rodsim.results.marks import AXES

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

INK = (70, 74, 82)
TEXT = 0.024  # height of letters, relative to the height of the picture


@cache
def _font(size: int) -> FreeTypeFont:
    """Return the font in a size in pixels."""
    import matplotlib
    from PIL import ImageFont

    # this font is part of matplotlib, so that pictures are the same on every machine
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"), size)


def write_text(picture: NDArray[np.uint8], text: str) -> NDArray[np.uint8]:
    """Write a text, such as a time, in the lower left corner."""
    return _draw(picture, lambda draw, m, font: _text(draw, picture, m, text, font))


def write_legend(
    picture: NDArray[np.uint8], names: Sequence[str], colors: Sequence[Floats]
) -> NDArray[np.uint8]:
    """Write names in the upper left corner, each after a dot of its colour (3,) in 0..1."""

    def lines(draw, margin, font):
        step = 1.7 * font.size
        for k, (name, color) in enumerate(zip(names, colors, strict=True)):
            y = margin + k * step
            box = [margin, y, margin + 0.8 * font.size, y + 0.8 * font.size]
            draw.ellipse(box, fill=_rgb(color))
            draw.text((margin + 1.4 * font.size, y + 0.4 * font.size), name, fill=INK, font=font, anchor="lm")

    return _draw(picture, lines)


def write_color_bar(
    picture: NDArray[np.uint8], label: str, low: float, high: float, colors: Floats
) -> NDArray[np.uint8]:
    """Draw a bar of colors (n, 3) for values from `low` to `high` in the lower right corner, with its label above."""

    def bar(draw, margin, font):
        height, width = picture.shape[:2]
        y, long, thick = height - margin, 0.22 * width, 0.45 * font.size
        ends = [_short(low), _short(high)]
        right = width - margin - draw.textlength(ends[1], font=font) - 0.6 * font.size
        left = right - long
        steps = round(long)
        for k in range(steps):
            color = colors[round(k / (steps - 1) * (len(colors) - 1))]
            draw.line([left + k, y - thick / 2, left + k, y + thick / 2], fill=_rgb(color))
        draw.text((left - 0.6 * font.size, y), ends[0], fill=INK, font=font, anchor="rm")
        draw.text((right + 0.6 * font.size, y), ends[1], fill=INK, font=font, anchor="lm")
        draw.text(((left + right) / 2, y - 1.2 * font.size), label, fill=INK, font=font, anchor="mm")

    return _draw(picture, bar)


def _short(x: float) -> str:
    """Return a number as text with three digits."""
    return f"{x:.3g}"


def write_time_bar(picture: NDArray[np.uint8], first: str, last: str, colors: Floats) -> NDArray[np.uint8]:
    """Draw a bar of colors (n, 3) between two texts, the first and the last time, in the lower left corner."""

    def bar(draw, margin, font):
        height, width = picture.shape[:2]
        y, long, thick = height - margin, 0.22 * width, 0.45 * font.size
        x = margin + draw.textlength(first, font=font) + 0.6 * font.size
        draw.text((margin, y), first, fill=INK, font=font, anchor="lm")
        edges = np.linspace(x, x + long, len(colors) + 1)
        for a, b, color in zip(edges[:-1], edges[1:], colors, strict=True):
            draw.rectangle([a, y - thick / 2, b, y + thick / 2], fill=_rgb(color))
        draw.text((x + long + 0.6 * font.size, y), last, fill=INK, font=font, anchor="lm")

    return _draw(picture, bar)


CORNERS = ("upper right", "middle right", "lower right", "upper left")


def axes_box(height: int, width: int, pixel: float, corner: str) -> tuple[int, int, int, int]:
    """Return the rectangle that `write_axes` covers: x and y of its upper left corner, width and height, pixels.

    `height`, `width`: size of the picture, pixels. `pixel`: size of a pixel in the scene, m. `corner`: one of `CORNERS`.
    """
    size, _, wide = _axes_sizes(height, width, pixel)
    w, h = round(wide + 1.6 * size), round(2 * (2.2 * size + size) + 5.6 * size)
    y, x = corner.split()
    top = {"upper": 0, "middle": (height - h) // 2, "lower": height - h}[y]
    return (0 if x == "left" else width - w), top, w, h


def _axes_sizes(height: int, width: int, pixel: float) -> tuple[int, float, float]:
    """Return the height of letters, pixels, the length of the scale, m, and the larger width of axes and scale, pixels."""
    size, bar = max(9, round(TEXT * height)), nice_length(0.12 * width * pixel)
    return size, bar, 2 * max(0.5 * bar / pixel, 3.2 * size)


def write_axes(
    picture: NDArray[np.uint8], axes: Floats, pixel: float, corner: str = CORNERS[0]
) -> NDArray[np.uint8]:
    """Draw the directions of x, y and z in a corner, and below them a scale whose length is 1, 2 or 5 times a power of ten.

    `axes`: (3, 3), its columns point right, up and towards the viewer. `pixel`: size of a pixel in the scene, m.
    """
    height, width = picture.shape[:2]
    layer = _axes_layer(height, width, pixel, tuple(np.round(axes, 9).ravel().tolist()))
    x, y, w, h = axes_box(height, width, pixel, corner)
    if corner.endswith("left"):
        x += round(1.6 * max(9, round(TEXT * height)))  # the margin of the layer is on its right
    x, y = max(x, 0), max(y, 0)
    out = picture.copy()
    place = out[y : y + h, x : x + w]
    layer = layer[: place.shape[0], : place.shape[1]]
    place[:] = np.round(place + layer[..., 3:] / 255.0 * (layer[..., :3] - place.astype(float)))
    return out


@lru_cache(maxsize=4)
def _axes_layer(height: int, width: int, pixel: float, axes: tuple[float, ...]) -> NDArray[np.uint8]:
    """Return the RGBA layer drawn over a corner (h, w, 4); cached, because it is the same in all frames of a movie."""
    from PIL import Image, ImageDraw

    seen = np.array(axes).reshape(3, 3)
    size, bar, wide = _axes_sizes(height, width, pixel)
    long, half = 2.2 * size, 0.5 * bar / pixel
    shape = axes_box(height, width, pixel, CORNERS[0])[2:]
    middle = np.array([wide / 2, 1.6 * size + long + size])
    fine = 4  # lines are drawn on a picture enlarged by this factor, for anti-aliasing
    layer = Image.new("RGBA", (fine * shape[0], fine * shape[1]), (*INK, 0))
    draw = ImageDraw.Draw(layer)
    words: list[tuple[Floats, str, tuple[int, int, int]]] = []
    for k in np.argsort(seen[:, 2]):  # axes that point away from the viewer are drawn first
        color = _rgb(AXES[k])
        tip = long * np.array([seen[k, 0], -seen[k, 1]])
        away = float(np.linalg.norm(tip))
        beside = tip / away if away > 0.25 * long else np.array([-0.7, 0.7])
        words.append((middle + tip + 0.7 * size * beside, "xyz"[k], color))
        _line(draw, fine, middle, middle + tip, 0.16 * size, color)
    y = float(middle[1] + long + 1.9 * size)
    ends = [np.array([middle[0] + sign * half, y]) for sign in (-1, 1)]
    tick = np.array([0.0, 0.3 * size])
    for a, b in (ends, *((end - tick, end + tick) for end in ends)):
        _line(draw, fine, a, b, 0.12 * size, INK)
    layer = layer.resize(shape, Image.Resampling.BOX)
    draw, font = ImageDraw.Draw(layer), _font(size)
    for place, word, color in words:
        draw.text(tuple(place), word, fill=(*color, 255), font=font, anchor="mm")
    draw.text((float(middle[0]), y + 0.9 * size), in_metres(bar), fill=(*INK, 255), font=font, anchor="mm")
    return np.asarray(layer)


def _line(draw, fine, a, b, width, color):
    """Draw a line from a to b, in pixels of the final picture, on the picture enlarged by `fine`."""
    draw.line([*(fine * a), *(fine * b)], fill=(*color, 255), width=max(1, round(fine * width)))


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


def _text(draw, picture, margin, text, font):
    """Draw a text in the lower left corner."""
    draw.text((margin, picture.shape[0] - margin), text, fill=INK, font=font, anchor="lm")


def _draw(picture, what):
    """Return a copy of a picture on which `what(draw, margin, font)` has drawn; the margin is in pixels."""
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    size = max(9, round(TEXT * picture.shape[0]))
    what(ImageDraw.Draw(image), 1.6 * size, _font(size))
    return np.asarray(image)


def _rgb(color: Floats) -> tuple[int, int, int]:
    """Convert a colour (3,) in 0..1 to integers 0..255."""
    r, g, b = (round(255 * float(c)) for c in color)
    return r, g, b
