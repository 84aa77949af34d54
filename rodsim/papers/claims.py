"""What the study of a published example is: claims of the paper beside what was measured, and panels of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats


class Claim(NamedTuple):
    """One statement of a paper, and what was measured here."""

    source: str  # paper, figure or equation: "002 Fig. 28"
    statement: str  # what the paper says
    measured: str  # what was found, with figures
    holds: bool
    reason: str = ""  # why it differs, where it does

    @property
    def verdict(self) -> str:
        """PASS or DIFFERS."""
        return "PASS" if self.holds else "DIFFERS"


class Line(NamedTuple):
    """A curve of a panel."""

    label: str
    x: ArrayLike
    y: ArrayLike
    style: str = "-"


class Panel(NamedTuple):
    """Axes of a picture; scale: "linear", "log" (both axes) or "semilog" (y)."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    scale: str = "linear"


@dataclass
class Study:
    """A published example, run."""

    name: str
    title: str
    source: str
    claims: list[Claim] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)

    def claim(self, source: str, statement: str, measured: str, holds: bool, reason: str = "") -> None:
        """Note a statement of the paper beside what was measured; the reason is kept where it differs."""
        self.claims.append(Claim(source, statement, measured, bool(holds), "" if holds else reason))

    def draw(self, path: str | Path) -> Path:
        """Write the picture (PNG, SVG or PDF by suffix)."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import NullFormatter

        columns = min(len(self.panels), 2)
        rows = -(-len(self.panels) // columns)
        figure = Figure(figsize=(6.4 * columns, 4.2 * rows), layout="constrained")
        FigureCanvasAgg(figure)
        for k, panel in enumerate(self.panels):
            axes = figure.add_subplot(rows, columns, k + 1)
            for line in panel.lines:
                axes.plot(np.asarray(line.x), np.asarray(line.y), line.style, label=line.label)
            if panel.scale == "log":
                axes.set_xscale("log")
                if np.ptp(np.log10(axes.get_xlim())) > 0.7:
                    # labels of less than whole decades would overlap
                    axes.xaxis.set_minor_formatter(NullFormatter())
            if panel.scale in ("log", "semilog"):
                axes.set_yscale("log")
            axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
            axes.grid(alpha=0.3)
            if any(line.label for line in panel.lines):
                axes.legend(fontsize=8)
        figure.suptitle(f"{self.title} ({self.source})")
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(target, dpi=120)
        return target


def observed_order(steps: ArrayLike, errors: ArrayLike) -> float:
    """Slope of log(error) over log(h), by least squares."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def sweep(steps: Sequence[float], error: Callable[[float], float]) -> tuple[Floats, Floats, float]:
    """Steps, the error of each, and the observed order."""
    errors = np.array([error(h) for h in steps])
    return np.array(steps), errors, observed_order(steps, errors)


def listed(values: Iterable[float]) -> str:
    """Figures with two digits, for a measurement's text."""
    return ", ".join(f"{value:.1e}" for value in values)


def drift(values: Floats) -> float:
    """Largest deviation from the first value."""
    return float(np.abs(values - values[0]).max())
