"""Linearise a model about a state, an equilibrium or a steady rotation: `linearise`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from discretization.linearisation import equations
from discretization.linearisation.equations import Linearised
from discretization.linearisation.steady_rotation import steady_motion
from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats, State
from rodsim._compat import accept_old_arguments
from rodsim.building.build import Built, built_from
from rodsim.building.controls import refuse_controllers
from rodsim.building.initial_velocities import fit_velocities
from rodsim.building.phases import refuse_released
from rodsim.building.restart import linearisation_point
from rodsim.building.starting_states import StartLike, check_start_time
from rodsim.components.part_lookup import check_known
from rodsim.model import Model
from rodsim.results.layout import Layout
from rodsim.results.node_loads import node_loads

_ORIGIN = np.zeros(3)


@accept_old_arguments
def linearise(
    model: Model | Built,
    start: StartLike | None = None,
    *,
    spin: ArrayLike | None = None,
    about: ArrayLike = (0.0, 0.0, 0.0),
    load_time: float = 0.0,
    loads: Mapping[str, ArrayLike] | None = None,
    start_time: float | None = None,
) -> Linearised:
    """Return the linear equations of small motions of a model about a state.

    They are M x'' + (C + gyroscopic) x' + K x + G^T dlam = B u, G x = 0, where x are displacements and rotations of the
    frames, dlam changes of the multipliers of the joints, and u changes of the loads.

    The velocities of the state may be those of a steady rotation: of rotors about fixed axes, or of the whole model about one
    axis. The multipliers of the joints are computed from the state.

    Parameters
    ----------
    model : Model or Built
        The model, or the return value of `Model.build`.
    start : Result, Equilibrium, State, SteadyRotation, str or Path, optional
        State to linearise about: the last state of a result or of a result file (its path), or a State. Default: the initial
        state. If it is a `SteadyRotation`, its `spin` and `about` are used, unless `spin` is given.
    spin : array_like (3,), optional
        Angular velocity of rotating axes, in which fixed parts rotate too, rad/s. Default: inertial axes.
    about : array_like (3,), default (0, 0, 0)
        A point of the axis of `spin`, m.
    load_time : float, default 0.0
        Time at which the loads are evaluated, s.
    loads : mapping of str to array_like (3,), optional
        Name of a load -> its value in place of that at `load_time`, N or N m.

    Returns
    -------
    Linearised
        The matrices M, C, K, G and B, the state, and the unbalanced forces in this state.

    Other Parameters
    ----------------
    start_time : float, optional
        Time of a stored state of the result `start`, s; the nearest output is used. Default: the last.

    Raises
    ------
    ModelError
        If the velocities are not those of a steady motion, coefficients would change with time, or `start` does not fit the
        model.

    See Also
    --------
    modes : Computes frequencies and shapes of these equations.
    rodsim.linear.state_space : Returns matrices of these equations for control.

    Examples
    --------
    >>> from rodsim import Box, Model, linearise
    >>> model = Model("oscillator")
    >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0))
    >>> coil = model.add_bushing("coil", model.ground.at((0, 0, 0)), block, stiffness=(8, 8, 8, 1, 1, 1))
    >>> linear = linearise(model)
    >>> round(float(linear.K[0, 0]), 6)
    8.0
    """
    return linear_about("linearise", model, start, spin, about, load_time, loads, start_time)[1]


def linear_about(
    owner: str,
    model: Model | Built,
    start: StartLike | None,
    spin: ArrayLike | None,
    about: ArrayLike,
    load_time: float,
    loads: Mapping[str, ArrayLike] | None,
    start_time: float | None,
) -> tuple[Built, Linearised]:
    """Linearise for the function `owner`; return the model and its linear equations.

    Ground points of joints in the model are those of `start`.
    """
    built = built_from(owner, model)
    checks.by_name(owner, "loads", loads, "{name of a load: (3,)}")
    check_start_time(owner, start, start_time)
    axis = None if spin is None else checks.vector(owner, "spin", spin)
    point = checks.vector(owner, "about", about)
    if start is None:
        state = fit_velocities(built).state
    else:
        point_of_start = linearisation_point(owner, built, start, start_time)
        built, state, rotation = point_of_start.built, point_of_start.state, point_of_start.rotation
        if axis is None and rotation is not None and rotation.spin.any():
            axis, point = rotation.spin, rotation.about
    return built, under(built, state, given_loads(owner, built, load_time, loads), axis, point)


def given_loads(
    owner: str, built: Built, load_time: float, loads: Mapping[str, ArrayLike] | None = None
) -> Floats:
    """Return the checked values (l, 3) of all loads at a time, s, with those of `loads` in place of the model's, N or N m."""
    refuse_released(owner, built)
    refuse_controllers(owner, built, loads or {})
    values: Floats = built.load_values(np.array([checks.number(owner, "load_time", load_time)]))[0]
    names = list(built.layout.description["loads"])
    interactions = {function.name for function in built.load_values.functions} - set(names)
    for name, value in (loads or {}).items():
        if name in interactions:
            raise ModelError(
                f"{owner}: '{name}' has no single vector as its value. Its values are those at load_time=; loads are scaled by "
                "load_factors="
            )
        check_known(owner, "load", name, names)
        values[names.index(name)] = checks.vector(f"load '{name}'", "value", value)
    return values


def under(
    built: Built, state: State, values: Floats, spin: Floats | None = None, about: Floats = _ORIGIN
) -> Linearised:
    """Return the linear equations about a state under loads (l, 3), in axes that rotate with `spin` about the point `about`."""
    names = frame_names(built.layout)
    motion = steady_motion(built.system, state, spin, about, names)
    return _with_names(
        equations.linearise(built.system, state, values, motion, names, built.idle), built.layout
    )


def largest(by_frame: Floats, size: float) -> float:
    """Return the largest displacement (m), or rotation times the size of the model (m), of the rows (n, 6)."""
    return max(float(np.abs(by_frame[:, :3]).max()), size * float(np.abs(by_frame[:, 3:]).max()))


def frame_names(layout: Layout) -> Callable[[int], str]:
    """Return a function that gives the body or node of a frame number in words."""

    def name(frame: int) -> str:
        for body in layout.bodies:
            if body.frame == frame:
                return f"body '{body.name}'"
        for rod in layout.rods:
            at = np.flatnonzero(rod.frames == frame)
            if len(at):
                return f"rod '{rod.name}', node {at[0]}"
        return "the ground"

    return name


def _with_names(equations: Linearised, layout: Layout) -> Linearised:
    """Return the linear equations with load numbers in the reasons of asymmetry replaced by names."""
    if not equations.unsymmetric:
        return equations
    loads = node_loads(layout)

    def described(reason: str) -> str:
        return loads[int(reason.split()[1])].name if reason.startswith("load ") else reason

    words = tuple(dict.fromkeys(map(described, equations.unsymmetric)))
    return equations.changed(unsymmetric=words)
