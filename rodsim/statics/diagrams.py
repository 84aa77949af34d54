"""Draw diagrams of section forces and deflections of plane frames: `diagram`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rigid import checks, quaternions
from rigid.errors import ModelError
from rigid.joints import holds_all
from rigid.system import Floats
from rodsim.results.atomic_write import atomic_file
from rodsim.results.errors import ResultError, check_path
from rodsim.results.result import Result
from rodsim.statics.linear_equilibria import LinearEquilibrium
from rodsim.statics.section_forces import SectionForces, last_section_forces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUANTITIES = {
    "N": ("normal force", "N"),
    "V": ("shear force", "N"),
    "M": ("bending moment", "N m"),
    "T": ("torque", "N m"),
    "deflection": ("deflection", "m"),
}
VIEWS = {"xz": (0, 2), "xy": (0, 1), "yz": (1, 2)}  # axes to the right and upwards; the first is preferred
_PREFIXES = (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9))
_HEIGHT = 0.15  # of the largest value, relative to the size of the frame
_LABELLED = 0.02  # relative to the largest value: smaller extremes have no label


class _Rod(NamedTuple):
    """Nodes and section forces of one rod."""

    s: Floats  # (n,) m, of the nodes
    r: Floats  # (n, 3) positions at the start, m
    quat: Floats  # (n, 4)
    displacement: Floats  # (n, 3) m
    forces: SectionForces


def diagram(
    result: LinearEquilibrium | Result,
    quantity: str = "M",
    path: Path | str | None = None,
    *,
    view: str | None = None,
    scale: float | None = None,
    labels: bool = True,
    ax: Axes | None = None,
) -> Figure:
    """Draw a diagram of section forces, or of the deflection, on the frame in its shape at the start.

    Parameters
    ----------
    result : LinearEquilibrium, Equilibrium or Result
        First-order theory, or an exact result, of which the last output is drawn.
    quantity : {"M", "N", "V", "T", "deflection"}, default "M"
        "M": bending moment about the normal of the picture, drawn on the side in tension; positive if it is counterclockwise on
        the end of the rod. "V": shear force dM/ds. "N": normal force, positive in tension. "T": torque. Positive values of
        these are drawn to the left of the rod's direction.
    path : Path or str, optional
        File to write, .png, .pdf or .svg. Default: no file is written.
    view : {"xz", "xy", "yz"}, optional
        Axes of the picture, to the right and upwards. Default: the plane in which the frame is largest.
    scale : float, optional
        Metres in the picture for a unit of the quantity; of the deflection its magnification. Default: the largest value is 0.15
        of the size of the frame.
    labels : bool, default True
        Whether values are written at the extremes of each rod.
    ax : matplotlib.axes.Axes, optional
        Axes to draw in. Default: those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, which can be modified.

    Raises
    ------
    ModelError
        If `quantity` or `view` is not known, or the model has no rods.
    ResultError
        If the ending of `path` is not known.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, diagram, equilibrium
    >>> model = Model("cantilever", gravity=(0, 0, -10.0))
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> figure = diagram(equilibrium(model, linear=True), "M")
    >>> figure.axes[0].get_title()
    'bending moment (N m)'
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not isinstance(result, LinearEquilibrium | Result):
        raise ModelError(
            f"diagram: expected a result of `equilibrium`, such as a LinearEquilibrium, got {checks.shown(result)}"
        )
    word = checks.word("diagram", "quantity", quantity, QUANTITIES)
    rods = _rods_of(result)
    if not rods:
        raise ModelError("diagram: the model has no rods, along which a diagram could be drawn")
    positions = np.concatenate([rod.r for rod in rods])
    extents = np.ptp(positions, axis=0)
    plane = checks.word("diagram", "view", _view(extents) if view is None else view, VIEWS)
    if path is not None:
        path = check_path("diagram", path)
    if ax is None:
        figure = Figure(figsize=(8, 6), layout="constrained", dpi=150)
        FigureCanvasAgg(figure)
        ax = figure.subplots()
    figure = ax.figure  # type: ignore[assignment]
    endings = figure.canvas.get_supported_filetypes()
    if path is not None and Path(path).suffix.lstrip(".").lower() not in endings:
        raise ResultError(
            f"diagram to '{path}': no format '{Path(path).suffix}'; end it in .png, .pdf or .svg"
        )
    right, up = VIEWS[plane]
    drawn = [_values(rod, word, right, up) for rod in rods]
    largest = max(float(np.abs(values).max(initial=0.0)) for _, _, values in drawn)
    title, unit = QUANTITIES[word]
    prefix, size = next((p, x) for p, x in _PREFIXES if largest < 1e4 * x or p == "G")
    if word == "deflection" and largest < 0.1:
        prefix, size = "m", 1e-3
    ax.set(
        title=f"{title} ({prefix}{unit})",
        aspect="equal",
        xlabel=f"{'xyz'[right]} (m)",
        ylabel=f"{'xyz'[up]} (m)",
    )
    given = None if scale is None else checks.number("diagram", "scale", scale, positive=True)
    factor = given or (_HEIGHT * float(extents.max()) / largest if largest > 0.0 else 0.0)
    for rod, (line, offsets, values) in zip(rods, drawn, strict=True):
        ax.plot(rod.r[:, right], rod.r[:, up], color="black", linewidth=1.5)
        curve = line + factor * offsets
        ax.plot(*curve.T, color="tab:red", linewidth=1.2)
        if word != "deflection":
            both = np.concatenate([curve, line[::-1]])
            ax.fill(*both.T, color="tab:red", alpha=0.2, linewidth=0)
        if labels:
            _label(ax, curve, values / size, largest / size)
    _draw_supports(ax, result, right, up)
    ax.margins(0.15)
    if path is not None:
        result_path = result.path if isinstance(result, Result) else None
        with atomic_file(path, result_path) as file:
            figure.savefig(file)
    return figure


def _rods_of(result: LinearEquilibrium | Result) -> list[_Rod]:
    """Return the rods of a result with their section forces."""
    if isinstance(result, LinearEquilibrium):
        return [_Rod(*result.nodes(name), result.section_forces(name)) for name in result.rods]
    rods = []
    for layout in result.layout.rods:
        history = result.rod(layout.name)
        forces = last_section_forces(result, layout.name)
        moved = history.r[-1] - history.r[0]
        rods.append(_Rod(layout.arclength, history.r[0], history.quat[0], moved, forces))
    return rods


def _view(extents: Floats) -> str:
    """Return the plane in which a frame is largest."""
    normal = min((1, 2, 0), key=lambda axis: extents[axis])
    return next(name for name, axes in VIEWS.items() if normal not in axes)


def _values(rod: _Rod, quantity: str, right: int, up: int) -> tuple[Floats, Floats, Floats]:
    """Return the axis of a rod (k, 2), offsets of the diagram (k, 2) per unit, and values (k,)."""
    s = rod.s if quantity == "deflection" else rod.forces.s
    line = np.stack([np.interp(s, rod.s, rod.r[:, axis]) for axis in (right, up)], axis=1)
    if quantity == "deflection":
        offsets = rod.displacement[:, [right, up]]
        return line, offsets, np.hypot(*offsets.T)
    matrices = quaternions.to_matrix(rod.quat)
    R = np.stack([[np.interp(s, rod.s, matrices[:, i, j]) for j in range(3)] for i in range(3)])
    N, M = (np.einsum("ijk,kj->ki", R, vectors) for vectors in (rod.forces.N, rod.forces.M))
    tangent = R[:, 0].T[:, [right, up]]
    tangent = tangent / np.maximum(np.hypot(*tangent.T), 1e-12)[:, None]
    left = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    normal = np.zeros(3)
    normal[[k for k in range(3) if k not in (right, up)]] = -1.0 if (right, up) == (0, 2) else 1.0
    if quantity == "M":
        values = M @ normal
        return line, -values[:, None] * left, values
    if quantity == "V":
        values = -np.sum(N[:, [right, up]] * left, axis=1)  # M' = -e1 x N
    else:
        values = rod.forces.N[:, 0] if quantity == "N" else rod.forces.M[:, 0]
    return line, values[:, None] * left, values


def _label(ax: Axes, curve: Floats, values: Floats, largest: float) -> None:
    """Write the greatest and the least value of a rod at their places, and those at its ends."""
    places = {int(np.argmax(values)), int(np.argmin(values)), 0, len(values) - 1}
    written: list[float] = []
    for k in sorted(places, key=lambda k: -abs(values[k])):
        near = any(abs(values[k] - x) <= _LABELLED * largest for x in written)
        if abs(values[k]) > _LABELLED * largest and not near:
            written.append(float(values[k]))
            ax.annotate(
                f"{values[k]:.4g}", curve[k], textcoords="offset points", xytext=(4, 4), fontsize="small"
            )


def _draw_supports(ax: Axes, result: Any, right: int, up: int) -> None:
    """Draw a mark at each joint to the ground."""
    r = result.start_positions if isinstance(result, LinearEquilibrium) else result.state(0).r
    for joint in result.layout.joints:
        if joint.frames is None or 0 not in joint.frames:
            continue
        frame = max(joint.frames)
        mark = "s" if holds_all(joint.kind) else "^"
        ax.plot(r[frame, right], r[frame, up], mark, color="tab:gray", markersize=9, zorder=0, clip_on=False)
