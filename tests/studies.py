"""Whether the picture of a study shows what the study found."""

from __future__ import annotations

import numpy as np
from PIL import Image


def is_drawn(study, path) -> bool:
    """Whether every curve has numbers that its axes can show, and the picture has their colours (all else is grey)."""
    for panel in study.panels:
        for line in panel.lines:
            x, y = np.asarray(line.x, float), np.asarray(line.y, float)
            shown = np.isfinite(x) & np.isfinite(y)
            if panel.scale in ("log", "semilog"):
                shown &= y > 0.0
            if panel.scale == "log":
                shown &= x > 0.0
            assert shown.sum() > 1, (panel.title, line.label)
    assert all(panel.lines for panel in study.panels)
    return coloured(study.draw(path)) > 300 * len(study.panels) > 0


def coloured(path) -> int:
    """Pixels of a picture that are not grey."""
    pixels = np.asarray(Image.open(path).convert("RGB"), int)
    return int((np.ptp(pixels, axis=2) > 60).sum())
