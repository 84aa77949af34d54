"""Draw the picture of a rotor over its speed: Campbell diagram, logarithmic decrements, response to unbalance."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from rodsim.results.atomic_write import atomic_file
from rodsim.results.errors import ResultError
from rodsim.results.plot import COLORS

RPM = 30.0 / np.pi
STYLES = {"forward": "-", "backward": "--", "planar": ":", "axial": "-.", "torsional": (0, (1, 3))}


def draw(diagram: Any, path: Path, multiples: list[float]) -> Path:
    """Write the picture of a `Campbell` to a file (.png, .pdf, .svg); multiples: of the speed, whose lines are drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 10 if diagram.points else 7.5), layout="constrained", dpi=130)
    canvas = FigureCanvasAgg(figure)
    if path.suffix.lstrip(".").lower() not in canvas.get_supported_filetypes():
        raise ResultError(f"plot: '{path}': no format '{path.suffix}'; end it in .png, .pdf or .svg")
    axes = figure.subplots(3 if diagram.points else 2, 1, sharex=True)
    draw_frequencies(axes[0], diagram, multiples)
    _draw_decrements(axes[1], diagram)
    if diagram.points:
        _draw_response(axes[2], diagram)
    axes[-1].set_xlabel("speed (rpm)")
    figure.suptitle(f"{diagram.rotor.model.name}: {_verdict(diagram)}", fontsize="medium")
    with atomic_file(path) as file:
        figure.savefig(file)
    return path


def draw_frequencies(ax: Any, diagram: Any, multiples: list[float]) -> None:
    """Plot the whirl frequencies over the speed, lines of the multiples, and the critical speeds on them."""
    rpm = diagram.speeds * RPM
    words = np.array(diagram.directions)
    for k in range(diagram.values.shape[1]):
        looks = [(str(words[s, k]), bool(diagram.grows[s, k])) for s in range(1, len(rpm))]
        first = 0
        for look, together in groupby(
            looks
        ):  # one line for all neighbours that look alike: dashes need length
            last = first + len(list(together))
            color = "tab:red" if look[1] else COLORS[k % len(COLORS)]
            ax.plot(
                rpm[first : last + 1],
                diagram.frequency[first : last + 1, k],
                linestyle=STYLES[look[0]],
                color=color,
                linewidth=1.4,
            )
            first = last
    for word in [word for word in STYLES if word in words[1:]]:
        ax.plot([], [], linestyle=STYLES[word], color="black", linewidth=1.4, label=word)
    if diagram.grows.any():
        ax.plot([], [], color="tab:red", linewidth=1.4, label="unstable")
    top = 1.2 * float(diagram.frequency.max())
    for multiple in multiples:
        ax.plot(rpm, multiple * rpm / 60.0, color="0.5", linewidth=0.8)
        for critical in diagram.critical_speeds(multiple):
            x = critical.speed * RPM
            ax.plot([x], [multiple * x / 60.0], "o", color="black", markersize=4)
            if critical.whirl in ("forward", "planar"):
                place = (x, multiple * x / 60.0)
                ax.annotate(f"{x:.0f}", place, (4, -10), textcoords="offset points", fontsize=8)
    ax.set_ylim(0.0, top)
    ax.set_ylabel("whirl frequency (Hz)")
    ax.legend(fontsize=8, loc="upper right")
    ax.grid(alpha=0.3)


def _draw_decrements(ax: Any, diagram: Any) -> None:
    """Plot the logarithmic decrements; below zero a mode grows."""
    rpm = diagram.speeds * RPM
    for k in range(diagram.values.shape[1]):
        shown = np.where(np.isfinite(diagram.log_decrement[:, k]), diagram.log_decrement[:, k], np.nan)
        ax.plot(rpm, shown, color=COLORS[k % len(COLORS)], linewidth=1.4, label=f"mode {k + 1}")
    ax.axhline(0.0, color="tab:red", linewidth=0.8)
    limit = diagram.stability_limit
    if np.isfinite(limit):
        ax.axvspan(limit * RPM, rpm[-1], color="tab:red", alpha=0.1)
    ax.set_ylabel("logarithmic decrement (1)")
    ax.legend(fontsize=8, ncols=2)
    ax.grid(alpha=0.3)


def _draw_response(ax: Any, diagram: Any) -> None:
    """Plot amplitude and phase of the response to unbalance."""
    rpm = diagram.speeds * RPM
    other = ax.twinx()
    for j, point in enumerate(diagram.points):
        color = COLORS[j % len(COLORS)]
        use = diagram.amplitude[:, j] > 0.0
        ax.semilogy(rpm[use], diagram.amplitude[use, j], color=color, linewidth=1.4, label=point)
        phase = np.degrees(np.unwrap(diagram.phase[use, j]))
        other.plot(rpm[use], phase, ":", color=color, linewidth=1.0)
    ax.set_ylabel("unbalance: amplitude (m)")
    other.set_ylabel("phase (degrees, dotted)")
    ax.legend(fontsize=8)
    ax.grid(alpha=0.3)


def _verdict(diagram: Any) -> str:
    """Return the critical speeds and the stability limit in words."""
    critical = [f"{x.speed * RPM:.0f}" for x in diagram.critical_speeds() if x.whirl in ("forward", "planar")]
    limit = diagram.stability_limit
    stable = "stable" if np.isinf(limit) else f"unstable from {limit * RPM:.0f} rpm"
    return f"critical speeds {', '.join(critical) or 'none'} rpm; {stable}" if critical else stable
