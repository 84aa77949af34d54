"""Evaluate, draw and export the velocity of a fluid: its current and its waves, as the parts in it feel them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rigid import checks
from rigid.checks import number, vector
from rigid.errors import ModelError
from rigid.interactions.flow_fields import FACTOR, TIME, velocities
from rigid.system import Floats
from rodsim.components.joint_forces import scalar_function
from rodsim.components.model_data import ModelData
from rodsim.components.submerged_parts import Fluid

_MOST_PLACES = 10**6  # of a grid


def flow_velocity(model: ModelData, fluid: Fluid | str, places: ArrayLike, t: float = 0.0) -> Floats:
    """Return the velocity of a fluid, current and waves together.

    Parameters
    ----------
    model : Model
        The model, whose gravity says where up is.
    fluid : Fluid or str
        Its fluid.
    places : array_like, shape (..., 3)
        Places, m.
    t : float, default 0.0
        Time, s.

    Returns
    -------
    array, shape (..., 3)
        Velocities, m/s.

    Raises
    ------
    ModelError
        If the model has no such fluid, or a number is not finite.

    Examples
    --------
    >>> from rodsim import Model, fluids
    >>> model = Model("sea", gravity=(0, 0, -9.81))
    >>> water = model.add_fluid("water", 1025.0, fluids.Profile([-100, 0], [[0, 0, 0], [1, 0, 0]]))
    >>> fluids.flow_velocity(model, "water", [0.0, 0.0, -25.0]).tolist()
    [0.75, 0.0, 0.0]
    """
    owner = "flow_velocity"
    entry = _fluid_of(owner, model, fluid)
    time = number(owner, "t", t)
    points = checks.numbers(places)
    if points is None or points.ndim < 1 or points.shape[-1] != 3 or not np.isfinite(points).all():
        raise ModelError(f"{owner}: places = {checks.shown(places)}; give finite places (x, y, z), m")
    X = np.array(entry.flow_numbers(SimpleNamespace(gravity=model.gravity)), float)
    X[FACTOR] = float(scalar_function(f"fluid '{entry.name}'", entry.factor)(np.array([time]))[0])
    X[TIME] = time
    out = np.empty(points.shape)
    velocities(np.ascontiguousarray(points.reshape(-1, 3)), X, out.reshape(-1, 3))
    return out


def export_flow(
    model: ModelData,
    fluid: Fluid | str,
    path: Path | str,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: tuple[int, int, int] = (21, 1, 21),
    t: float = 0.0,
) -> Path:
    """Write the velocity of a fluid on a grid for ParaView: an image file (.vti) with the vectors `velocity`.

    Parameters
    ----------
    model : Model
        The model.
    fluid : Fluid or str
        Its fluid.
    path : Path or str
        File to write, .vti.
    lower, upper : array_like, shape (3,)
        Opposite corners of the grid, m.
    shape : tuple of int, default (21, 1, 21)
        Number of points along x, y and z.
    t : float, default 0.0
        Time, s.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ModelError
        If the corners are not in order, there are more than a million points, or the file does not end in .vti.

    Examples
    --------
    >>> from rodsim import Model, fluids
    >>> model = Model("sea", gravity=(0, 0, -9.81))
    >>> water = model.add_fluid("water", 1025.0, (1, 0, 0))
    >>> fluids.export_flow(model, water, "flow.vti", (0, 0, -10), (10, 0, 0)).name
    'flow.vti'
    """
    owner = "export_flow"
    file = Path(path)
    if file.suffix != ".vti":
        raise ModelError(f"{owner}: path = '{file}' does not end in .vti; give a name that does")
    low, high = vector(owner, "lower", lower), vector(owner, "upper", upper)
    counts = [checks.count(owner, f"shape[{k}]", n) for k, n in enumerate(shape)]
    if len(counts) != 3 or np.prod(counts) > _MOST_PLACES:
        raise ModelError(
            f"{owner}: shape = {checks.shown(shape)}; give three numbers of points, together at most 1e6"
        )
    if np.any(high < low):
        raise ModelError(f"{owner}: upper = {high.tolist()} is below lower = {low.tolist()}; exchange them")
    import pyvista

    spacing = [(b - a) / (n - 1) if n > 1 else 1.0 for a, b, n in zip(low, high, counts, strict=True)]
    grid = pyvista.ImageData(dimensions=counts, spacing=[x or 1.0 for x in spacing], origin=low)
    grid.point_data["velocity"] = flow_velocity(model, fluid, np.asarray(grid.points, float), t)
    grid.save(file)
    return file


def draw_flow(
    model: ModelData,
    fluid: Fluid | str,
    path: Path | str,
    start: ArrayLike,
    end: ArrayLike,
    t: float = 0.0,
    shape: tuple[int, int] = (25, 15),
) -> Path:
    """Draw the velocity of a fluid as arrows in a vertical plane.

    Parameters
    ----------
    model : Model
        The model.
    fluid : Fluid or str
        Its fluid.
    path : Path or str
        File to write, .png, .pdf or .svg.
    start, end : array_like, shape (3,)
        Opposite corners of the plane, at different heights and different horizontal places, m.
    t : float, default 0.0
        Time, s.
    shape : tuple of int, default (25, 15)
        Number of arrows along and up.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ModelError
        If the corners are above each other or at one height, or the format is not known.

    Examples
    --------
    >>> from rodsim import Model, fluids
    >>> model = Model("sea", gravity=(0, 0, -9.81))
    >>> water = model.add_fluid("water", 1025.0, waves=fluids.AiryWave(height=2.0, period=6.0))
    >>> fluids.draw_flow(model, "water", "waves.png", (0, 0, -20), (80, 0, 0)).name
    'waves.png'
    """
    owner = "draw_flow"
    entry, file = _fluid_of(owner, model, fluid), Path(path)
    a, b = vector(owner, "start", start), vector(owner, "end", end)
    g = float(np.linalg.norm(model.gravity))
    up = -model.gravity / g if g > 0.0 else np.array([0.0, 0.0, 1.0])
    rise = float((b - a) @ up)
    across = (b - a) - rise * up
    length = float(np.linalg.norm(across))
    if length == 0.0 or rise == 0.0:
        raise ModelError(
            f"{owner}: start = {a.tolist()} and end = {b.tolist()} are above each other or at one height; give opposite corners "
            "of a vertical plane"
        )
    columns, rows = (checks.count(owner, f"shape[{k}]", n) for k, n in enumerate(shape))
    along, height = np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows))
    places = a + along[..., None] * across + (height * rise)[..., None] * up
    u = flow_velocity(model, entry, places, t)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(8, 4.5), layout="constrained", dpi=130)
    canvas = FigureCanvasAgg(figure)
    if file.suffix.lstrip(".").lower() not in canvas.get_supported_filetypes():
        raise ModelError(
            f"{owner}: path = '{file}' has no format that is known; end it in .png, .pdf or .svg"
        )
    axes = figure.subplots()
    speed = np.linalg.norm(u, axis=-1)
    arrows = axes.quiver(
        along * length, places @ up, u @ (across / length), u @ up, speed, angles="xy", cmap="viridis"
    )
    figure.colorbar(arrows, label="speed (m/s)")
    axes.set_xlabel("horizontal distance (m)")
    axes.set_ylabel("height (m)")
    axes.set_title(f"{entry.name} at t = {t:g} s")
    figure.savefig(file)
    return file


def _fluid_of(owner: str, model: ModelData, fluid: Fluid | str) -> Fluid:
    """Return a fluid of the model by its name."""
    known = {name: entry for name, entry in model.others.items() if isinstance(entry, Fluid)}
    name = fluid.name if isinstance(fluid, Fluid) else fluid
    if name not in known:
        raise ModelError(
            f"{owner}: there is no fluid {checks.shown(name)}; there are: {', '.join(known) or 'none'}",
            choices=list(known),
        )
    return known[name]
