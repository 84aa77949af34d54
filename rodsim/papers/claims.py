"""Record of the study of a published example: claims of the paper compared with measurements, and panels of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats


class Claim(NamedTuple):
    """A statement of a paper with the corresponding measurement."""

    source: str  # paper, figure or equation: "002 Fig. 28"
    statement: str  # claim of the paper, in words
    measured: str  # result of this program, with figures
    holds: bool
    reason: str = ""  # why the measurement differs from the statement, if it does

    @property
    def verdict(self) -> str:
        """PASS if the claim holds, else DIFFERS."""
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
    """A published example with its claims and the panels of its picture."""

    name: str
    title: str
    source: str
    claims: list[Claim] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)

    def claim(self, source: str, statement: str, measured: str, holds: bool, reason: str = "") -> None:
        """Append a statement of the paper with its measurement; the reason is stored only if the claim does not hold."""
        self.claims.append(Claim(source, statement, measured, bool(holds), "" if holds else reason))

    def draw(self, path: str | Path) -> Path:
        """Write the picture (PNG, SVG or PDF by suffix) and return its path."""
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
                    # labels of minor ticks would overlap
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
    """Return the slope of log(error) over log(h), by least squares."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def sweep(steps: Sequence[float], error: Callable[[float], float]) -> tuple[Floats, Floats, float]:
    """Evaluate `error` at every step; return the steps, the errors and the observed order."""
    errors = np.array([error(h) for h in steps])
    return np.array(steps), errors, observed_order(steps, errors)


def listed(values: Iterable[float]) -> str:
    """Format numbers with two digits, separated by commas, for the text of a measurement."""
    return ", ".join(f"{value:.1e}" for value in values)


def drift(values: Floats) -> float:
    """Return the largest deviation of `values` from the first one."""
    return float(np.abs(values - values[0]).max())
