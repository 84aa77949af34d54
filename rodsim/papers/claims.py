"""Record of a study: claims of a paper compared with measurements, panels of a picture, and the measures that studies share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from discretization.time.integrate import Trajectory
from rigid.system import Floats

ORDER_TOLERANCE = 0.1
_Run = TypeVar("_Run")


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

    def claim(self, text: str, measured: str, holds: bool, reason: str = "") -> None:
        """Append a claim, "source: statement", with its measurement; the reason is stored only if the claim does not hold."""
        source, _, statement = text.partition(": ")
        self.claims.append(Claim(source, statement, measured, bool(holds), "" if holds else reason))

    def claim_below(
        self, text: str, values: Mapping[str, float], bound: float, label: str = "", end: str = ""
    ) -> None:
        """Append a claim that holds if all values by name are below `bound`; the measurement is `label`, the values, `end`."""
        self.claim(text, f"{label}{named(values)}{end}", all(value < bound for value in values.values()))

    def claim_orders(
        self, text: str, orders: Mapping[str, float], expected: float, measured: str = ""
    ) -> None:
        """Append a claim that holds if all observed orders by name are within 0.1 of the expected one."""
        holds = all(abs(order - expected) < ORDER_TOLERANCE for order in orders.values())
        self.claim(text, measured or named(orders, ".3f"), holds)

    def panel(self, title: str, x: str, y: str, lines: Sequence[Line], scale: str = "linear") -> None:
        """Append a panel to the picture."""
        self.panels.append(Panel(title, x, y, lines, scale))

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


class Convergence(NamedTuple):
    """Errors of a method over its steps."""

    h: Floats
    errors: Floats
    order: float  # observed

    def line(self, label: str, style: str = "o-") -> Line:
        """Return the curve of the errors; its label includes the order."""
        return Line(f"{label} ({self.order:.2f})", self.h, self.errors, style)


def sweep(steps: ArrayLike, error: Callable[..., float], *arguments: Any) -> Convergence:
    """Evaluate `error` at every step h, as error(h, *more)."""
    h = np.asarray(steps, float)
    errors = np.array([error(float(step), *arguments) for step in h])
    return Convergence(h, errors, observed_order(h, errors))


def sweep_runs(runs: Mapping[float, _Run], error: Callable[[_Run], float]) -> Convergence:
    """Evaluate `error` for runs by their step."""
    return sweep(list(runs), lambda h: error(runs[h]))


def halved(h: float, times: Iterable[int]) -> list[float]:
    """Return the steps h/2^k for each k of `times`."""
    return [h / 2**k for k in times]


def listed(values: Iterable[float], form: str = ".1e") -> str:
    """Format numbers, separated by commas, for the text of a measurement."""
    return ", ".join(f"{value:{form}}" for value in values)


def named(values: Mapping[str, float], form: str = ".1e", unit: str = "") -> str:
    """Format numbers after their names, separated by commas, for the text of a measurement."""
    return ", ".join(f"{name} {value:{form}}{unit}" for name, value in values.items())


def drift(values: Floats) -> float:
    """Return the largest deviation of `values` from the first one."""
    return float(np.abs(values - values[0]).max())


def relative_drift(values: Floats) -> float:
    """Return the largest deviation of `values` from the first one, relative to its size."""
    return drift(values) / abs(float(values[0]))


def largest(values: ArrayLike) -> float:
    """Return the largest absolute value."""
    return float(np.abs(values).max())


def curves(
    runs: Mapping[str, Trajectory], of: Callable[[Trajectory], Floats], part: slice = slice(None)
) -> list[Line]:
    """Return a curve over time for each run by name; `of` gives its values (N + 1,), `part` the steps to draw."""
    return [Line(name, run.t[part], of(run)[part]) for name, run in runs.items()]


def scheme_velocity_constraints(run: Trajectory) -> Floats:
    """Return G(q) v (N, m) at the ends of the steps, with the velocity v of the scheme; `velocity_residual` uses M^-1 p."""
    return np.array([run.system.rate(q, v) for q, v in zip(run.q[1:], run.v[1:], strict=True)])


def momentum_constraints(run: Trajectory) -> Floats:
    """Return G M^-1 p (N + 1, m) at the ends of the steps: the velocity constraints, with the velocity of the momenta."""
    system = run.system
    return np.array(
        [system.jacobian(q) @ system.inverse_mass(q) @ p for q, p in zip(run.q, run.p, strict=True)]
    )
