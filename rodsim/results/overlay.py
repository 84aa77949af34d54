"""Words on a picture: the time, a bar of times, the names of what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

INK = (70, 74, 82)
TEXT = 0.024  # height of letters, as part of the height of the picture


@cache
def _font(size: int) -> FreeTypeFont:
    import matplotlib
    from PIL import ImageFont

    # a font that comes with matplotlib: the same on every machine
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"), size)


def write_time(picture: NDArray[np.uint8], t: float, digits: int) -> NDArray[np.uint8]:
    """The time t (s) in the lower left corner."""
    return _draw(picture, lambda draw, m, font: _text(draw, picture, m, f"t = {t:.{digits}f} s", font))


def write_legend(
    picture: NDArray[np.uint8], names: Sequence[str], colors: Sequence[Floats]
) -> NDArray[np.uint8]:
    """Names in the upper left corner, each after a dot of its colour (3,) in 0..1."""

    def lines(draw, margin, font):
        step = 1.7 * font.size
        for k, (name, color) in enumerate(zip(names, colors, strict=True)):
            y = margin + k * step
            box = [margin, y, margin + 0.8 * font.size, y + 0.8 * font.size]
            draw.ellipse(box, fill=_rgb(color))
            draw.text((margin + 1.4 * font.size, y + 0.4 * font.size), name, fill=INK, font=font, anchor="lm")

    return _draw(picture, lines)


def write_times(picture: NDArray[np.uint8], t0: float, t1: float, digits: int) -> NDArray[np.uint8]:
    """The range of times from t0 to t1 (s) in the lower left corner."""
    words = f"t = {t0:.{digits}f} to {t1:.{digits}f} s"
    return _draw(picture, lambda draw, m, font: _text(draw, picture, m, words, font))


def write_color_bar(
    picture: NDArray[np.uint8], label: str, low: float, high: float, colors: Floats
) -> NDArray[np.uint8]:
    """A bar of colors (n, 3) from low to high in the lower right corner, with its label above."""

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
    return f"{x:.3g}"


def write_time_bar(
    picture: NDArray[np.uint8], t0: float, t1: float, digits: int, colors: Floats
) -> NDArray[np.uint8]:
    """A bar of colors (n, 3) from t0 to t1 (s) in the lower left corner."""

    def bar(draw, margin, font):
        height, width = picture.shape[:2]
        y, long, thick = height - margin, 0.22 * width, 0.45 * font.size
        left = f"t = {t0:.{digits}f} s"
        x = margin + draw.textlength(left, font=font) + 0.6 * font.size
        draw.text((margin, y), left, fill=INK, font=font, anchor="lm")
        edges = np.linspace(x, x + long, len(colors) + 1)
        for a, b, color in zip(edges[:-1], edges[1:], colors, strict=True):
            draw.rectangle([a, y - thick / 2, b, y + thick / 2], fill=_rgb(color))
        draw.text((x + long + 0.6 * font.size, y), f"{t1:.{digits}f} s", fill=INK, font=font, anchor="lm")

    return _draw(picture, bar)


def digits_for(step: float) -> int:
    """Decimals that tell times `step` (s) apart."""
    return int(np.clip(np.ceil(-np.log10(step)), 0, 6)) if step > 0 else 2


def _text(draw, picture, margin, text, font):
    draw.text((margin, picture.shape[0] - margin), text, fill=INK, font=font, anchor="lm")


def _draw(picture, what):
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    size = max(9, round(TEXT * picture.shape[0]))
    what(ImageDraw.Draw(image), 1.6 * size, _font(size))
    return np.asarray(image)


def _rgb(color: Floats) -> tuple[int, int, int]:
    r, g, b = (round(255 * float(c)) for c in color)
    return r, g, b
