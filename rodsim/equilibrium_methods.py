"""Define the methods of `equilibrium`, `Newton` and `ArcLength`, and convert names, scene settings and old arguments to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from rigid import checks
from rigid.errors import ModelError

__all__ = ["ArcLength", "Newton"]


@dataclass(frozen=True)
class Newton:
    """Find equilibria at load factors from 0 to 1, for ``equilibrium(model, method=Newton(...))``; "newton" is `Newton()`.

    Values are checked when `equilibrium` is called.

    Parameters
    ----------
    factors : array_like, default (1.0,)
        Increasing load factors, above 0 and at most 1: an equilibrium is computed at each, the last one is the end. One call
        can thus visit all angles that a joint is to be moved to.
    first_step : float, default 1.0
        Longest first step of the load factor.
    relaxation : bool, default True
        If load steps fail before factor 1, whether to go to the equilibrium to which a damped motion under the full load
        creeps; ``statics["relaxation"]`` says from which factor.

    Examples
    --------
    >>> from rodsim import Material, Model, Newton, Section, equilibrium
    >>> model = Model("cantilever", gravity=(0, 0, -9.81))
    >>> section = Section.circular(0.01, Material(E=2e9, nu=0.3, density=1000))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 8)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> halves = equilibrium(model, method=Newton(factors=(0.5, 1.0)))
    >>> bool((halves.load_factor == 0.5).any())
    True
    """

    factors: ArrayLike = (1.0,)
    first_step: float = 1.0
    relaxation: bool = True


@dataclass(frozen=True)
class ArcLength:
    """Follow the path of equilibria from load factor 0 on, through limit and turning points, until a stop.

    For ``equilibrium(model, method=ArcLength(...))``; "arc-length" is `ArcLength()`. `t` of the result is the length of the
    path, its `load_factor` goes up and down, and its `events` are limits of the load, turning points of the monitors and
    bifurcations. Values are checked when `equilibrium` is called.

    Parameters
    ----------
    stop : mapping of str to tuple of float, optional
        "load_factor" or a monitor -> (lowest, highest) value at which the path ends, located exactly. Default: the load
        factor stays within -1 and 1.
    branch : int, default 0
        Number k of a bifurcation at which to leave the path, to one side (k) or the other (-k). A branch that leads back to
        there ends: ``statics["stopped"]`` is then "closed".
    most_points : int, default 500
        Largest number of equilibria on the path.
    first_step : float, default 1.0
        Longest first step, of the norm of the path.

    Examples
    --------
    >>> from rodsim import ArcLength, Material, Model, Section, equilibrium
    >>> model = Model("cantilever", gravity=(0, 0, -9.81))
    >>> section = Section.circular(0.01, Material(E=2e9, nu=0.3, density=1000))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 8)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> path = equilibrium(model, method=ArcLength(stop={"load_factor": (-0.5, 0.5)}))
    >>> round(float(path.load_factor[-1]), 6)
    0.5
    """

    stop: Mapping[str, tuple[float, float]] | None = None
    branch: int = 0
    most_points: int = 500
    first_step: float = 1.0


MethodName = Literal["newton", "arc-length"]
METHODS: dict[str, type[Newton] | type[ArcLength]] = {"newton": Newton, "arc-length": ArcLength}


def method_of(method: Any) -> Newton | ArcLength:
    """Return the method for a name or a method; raise ModelError for anything else."""
    if isinstance(method, Newton | ArcLength):
        return method
    if not isinstance(method, str) or method not in METHODS:
        raise ModelError(
            f"equilibrium: method = {checks.shown(method)} is not known; choose {' or '.join(METHODS)}"
        )
    return METHODS[method]()


def merged_method(field: str, value: Any, current: Any) -> Newton | ArcLength:
    """Return a method with one field changed that was an argument of `equilibrium` before."""
    method = method_of("newton" if current is None else current)
    if field in {field_of_method.name for field_of_method in fields(method)}:
        return replace(method, **{field: value})
    if field in ("stop", "branch") and (value is not None if field == "stop" else value):
        raise ModelError(
            f"equilibrium: {field} belongs to a path; give method=ArcLength({field}=...), or remove it"
        )
    if field == "factors" and list(value) != [1.0]:
        raise ModelError(
            "equilibrium: factors belong to method='newton'; the end of an arc-length path is set by `stop`"
        )
    return method  # the field has no effect on this method


def with_method(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of `equilibrium` for the settings of a scene, in which fields of methods are keys next to `method`."""
    arguments = {name: value for name, value in settings.items() if name not in _FIELDS}
    for name in _FIELDS:
        if name in settings:
            arguments["method"] = merged_method(name, settings[name], arguments.get("method"))
    return arguments


_FIELDS = tuple(dict.fromkeys(field.name for kind in METHODS.values() for field in fields(kind)))
