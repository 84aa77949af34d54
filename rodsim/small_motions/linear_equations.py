"""`linearise`: the linear equations of a model's small motions about a state, an equilibrium or a steady rotation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from discretization.linearisation import equations
from discretization.linearisation.equations import Linearised
from discretization.linearisation.inertia import SteadyMotion
from discretization.linearisation.steady import steady_motion
from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats, State
from rodsim.building.build import Built
from rodsim.building.initial_velocities import fit_velocities
from rodsim.building.kept_builds import built_of
from rodsim.building.restart import state_about
from rodsim.building.starting_states import StartLike, check_start_time
from rodsim.model import Model
from rodsim.old_names import accept_old_arguments
from rodsim.results.layout import Layout


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
    """Linear equations M x'' + (C + gyroscopic) x' + K x + G^T dlam = B u, G x = 0 about a state of the model.

    start: of a result, a run or an equilibrium; by default the initial one. Its velocities may be those of a steady
    rotation, of rotors in their places or of everything about one axis. The multipliers of the joints are found anew.
    spin (3,), rad/s: of axes through the point `about` with which everything turns, fixed parts too, whatever the
    velocities: a blade that is clamped to the ground turns with it.
    load_time: when loads are evaluated; loads: name of a load -> its value (3,) instead.

    Raises ModelError where the velocities are those of no steady motion, or coefficients would change with time.
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
    """`linearise` for a function of that name, and the model with ground points of joints as `start` has them."""
    built = built_of(model) if isinstance(model, Model) else model
    checks.by_name(owner, "loads", loads, "{name of a load: (3,)}")
    check_start_time(owner, start, start_time)
    axis = None if spin is None else checks.vector(owner, "spin", spin)
    point = checks.vector(owner, "about", about)
    if start is None:
        state = fit_velocities(built).state
    else:
        given = state_about(owner, built, start, start_time)
        built, state = given.built, given.state
        if axis is None and given.spin is not None and given.about is not None and given.spin.any():
            axis, point = given.spin, given.about
    motion = steady_motion(built.system, state, axis, point, frame_names(built.layout))
    values = built.load_values(np.array([checks.number(owner, "load_time", load_time)]))[0]
    known = list(built.layout.description["loads"])
    for name, value in (loads or {}).items():
        if name not in known:
            raise ModelError(
                f"{owner}: there is no load '{name}'; the loads are {', '.join(known) or 'none'}"
            )
        values[known.index(name)] = checks.vector(f"load '{name}'", "value", value)
    return built, under(built, state, values, motion)


def under(built: Built, state: State, values: Floats, motion: SteadyMotion) -> Linearised:
    """About a state of a model, in a steady motion, under loads of these values (l, 3)."""
    names = frame_names(built.layout)
    return _with_names(
        equations.linearise(built.system, state, values, motion, names, built.idle), built.layout
    )


def frame_names(layout: Layout) -> Callable[[int], str]:
    """Frame number -> body or node, in words."""

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


def _with_names(found: Linearised, layout: Layout) -> Linearised:
    """Reasons with the names of loads."""
    if not found.unsymmetric:
        return found
    names = list(layout.description["loads"])

    def worded(reason: str) -> str:
        if not reason.startswith("load "):
            return reason
        number = int(reason.split()[1])  # behind those at points there are those of nodes
        return f"load '{names[number]}'" if number < len(names) else "a distributed load"

    words = tuple(dict.fromkeys(map(worded, found.unsymmetric)))
    return found.changed(unsymmetric=words)
