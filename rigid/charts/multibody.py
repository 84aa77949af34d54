"""Make mechanical systems of multibody models, in the director chart or the quaternion chart.

| chart | coordinates of a frame | mass | internal constraints |
|---|---|---|---|
| director | (r, d1, d2, d3) | constant, regular | 6 |
| quaternion, singular | (r, q) | 4 G^T J G (000 (46)) | 1 |
| quaternion, alpha | (r, q) | 4 L diag(alpha, J) L^T (000 (139), 004) | 1 |
| quaternion, gamma | (r, q) | 4 gamma I + 4 G^T (J - gamma I) G (004) | 1 |

A frame that only rotates about a fixed point has no r among its coordinates; its inertia is then about that point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rigid import quaternions
from rigid.charts.coordinate_layout import CoordinateLayout
from rigid.charts.prescribed_motion import Motion, offsets_of_motion
from rigid.errors import ModelError
from rigid.inertia import MassProperties
from rigid.interactions import evaluation
from rigid.interactions.constraints import groups_of, rows_of
from rigid.interactions.kinds import Group, InteractionArrays, group, pack_groups
from rigid.interactions.weight import WEIGHT
from rigid.kinematics.chart_frames import (
    ALPHA,
    DIRECTORS,
    FRAME,
    GAMMA,
    QUATERNION,
    SHARED,
    SINGULAR,
    ChartFrames,
    new_scratch,
    no_drives,
    table,
)
from rigid.mechanics import mechanical_system
from rigid.mechanics.mechanical_system import Data, Functions, MechanicalSystem
from rigid.system import Constraints, Floats, Frames, Ints

CHARTS = {"director": DIRECTORS, "quaternion": QUATERNION}
INERTIAS = {"singular": SINGULAR, "alpha": ALPHA, "gamma": GAMMA}


class Weight(NamedTuple):
    """A constant force on a point of a frame, an interaction with a potential.

    `frame`: index of the frame; `X`: body-fixed point (3,), m; `force`: (3,), N.
    """

    frame: int
    X: Floats
    force: Floats


class Interactions(NamedTuple):
    """Interactions between the frames of a system; empty by default."""

    constraints: Constraints | None = None
    weights: tuple[Weight, ...] = ()
    signal: Callable[[float], Floats] | None = None  # t -> (l, 3) values of the loads
    energies: tuple[Group, ...] = ()  # groups of other energies
    dissipating: tuple[Group, ...] = ()  # groups of dissipations, between frames of the above
    shared: Ints = np.zeros(
        (0, 2), np.int64
    )  # (k, 2) pairs of frames that share mass, with kinetic energy - coupling |v_b - v_a|^2/2
    coupling: Floats = np.zeros(0)  # (k,) shared masses, kg
    # groups with duals but no value, between frames of the above or others; the rows of loads are rows of `signal`
    working: tuple[Group, ...] = ()
    motion: Motion | None = None
    # groups of constraints of other kinds; their rows are numbered behind those of `constraints`
    holding: tuple[Group, ...] = ()


def multibody_system(
    name: str,
    frames: Frames,
    r: Floats,
    quat: Floats,
    v: Floats,
    Omega: Floats,
    interactions: Interactions,
    *,
    chart: str = "quaternion",
    inertia: str = "singular",
    parameter: float | None = None,
    orientation_only: Sequence[int] = (),
) -> MechanicalSystem:
    """Make a mechanical system of frames and interactions in a chart.

    Parameters
    ----------
    name : str
        Name of the system, for messages.
    frames : Frames
        Mass, inertia and fixed flag of each frame.
    r, quat, v, Omega : array, shape (n, 3), (n, 4), (n, 3), (n, 3)
        Initial positions (m), unit quaternions, velocities (m/s) and body-fixed angular velocities (rad/s) of all frames; fixed
        frames keep their poses.
    interactions : Interactions
        Interactions between the frames.
    chart : {"quaternion", "director"}, default "quaternion"
        Coordinates of the frames.
    inertia : {"singular", "alpha", "gamma"}, default "singular"
        Mass matrix of the quaternion chart.
    parameter : float, optional
        alpha or gamma for all frames, kg m^2. Default: half (alpha) or a third (gamma) of the sum of the principal moments.
    orientation_only : sequence of int, default ()
        Frames whose position is fixed: they only rotate, and their inertia is about that point.

    Returns
    -------
    MechanicalSystem
        The system, for `integrate`.

    Raises
    ------
    ModelError
        If an inertia is not that of a physical body, or a parameter is not positive.

    Examples
    --------
    >>> from rodsim import Box, Model
    >>> model = Model("box")
    >>> body = model.add_body("box", Box(0.1, 0.2, 0.3, mass=1.0))
    >>> model.mechanical_system(chart="director").n  # calls multibody_system
    12
    """
    _check(name, interactions, chart, inertia, parameter)
    _check_inertia(name, frames)
    layout = CoordinateLayout(frames, chart, orientation_only)
    is_quaternion = chart == "quaternion"
    constraints = interactions.constraints
    n_joint_rows = 0 if constraints is None else int(rows_of(constraints).sum())
    n_joint_rows += sum(group.kind.rows * len(group.frames) for group in interactions.holding)
    groups = _groups(interactions, layout.internal)
    flags = (
        mechanical_system.DISCRETE_POTENTIAL
        | mechanical_system.DISCRETE_CONSTRAINTS
        | mechanical_system.DISCRETE_KINETIC
    )
    flags |= mechanical_system.PRODUCTS | mechanical_system.DISCRETE_FORCE
    dissipating = [group for group in interactions.dissipating if len(group.frames)]
    if dissipating:
        flags |= mechanical_system.VISCOUS
    if all(
        group.kind.state_equations is not None and group.kind.state_equations.conserves
        for group in dissipating
    ):
        flags |= mechanical_system.LOSSLESS
    if any(group.kind.n_internal or group.kind.works for group in dissipating):
        flags |= mechanical_system.CONDENSED
    flat = any(_is_flat(J) for J in frames.inertia[frames.fixed == 0])
    if not is_quaternion:
        flags |= mechanical_system.CONSTANT_MASS | mechanical_system.INVERSE_MASS
        if flat:
            flags |= mechanical_system.SINGULAR_MASS
    elif inertia == "singular":
        flags |= mechanical_system.QUATERNIONS | mechanical_system.SINGULAR_MASS
    else:
        flags |= mechanical_system.QUATERNIONS | mechanical_system.INVERSE_MASS
    if np.any(interactions.coupling):
        flags = (flags | mechanical_system.SHARED_MASS) & ~mechanical_system.INVERSE_MASS
    chart_frames = _chart_frames(frames, r, quat, interactions, layout, chart, inertia, parameter)
    working = [group for group in interactions.working if len(group.frames)]
    loads = sum(len(group.frames) for group in (*working, *dissipating) if group.kind.signal >= 0)
    interaction_arrays, motion = pack_groups(groups), interactions.motion
    data = Data(
        layout.n,
        layout.internal + n_joint_rows,
        flags,
        chart_frames,
        interaction_arrays,
        new_scratch(),
        pack_groups(dissipating),
        pack_groups(working),
        no_drives()
        if motion is None
        else offsets_of_motion(motion, interactions.constraints, interaction_arrays, layout, 3 * loads),
    )
    system = MechanicalSystem(
        name,
        functions(),
        data,
        layout.coordinates(r, quat, chart),
        layout.velocities(quat, v, Omega, chart),
        names=layout.names(chart),
        symmetries=layout.symmetries(chart, r),
        info={
            "chart": chart,
            "places": layout,
            "counting": _counted_variables(groups, interaction_arrays),
            "r": r.copy(),
            "quat": quat.copy(),
            "flat": flat,
        },
        drives=np.zeros((0, mechanical_system.DRIVE_NUMBERS)) if motion is None else motion.numbers,
    )
    system.signal = _signal(system, interactions, loads) or system.signal
    return system


def _signal(
    system: MechanicalSystem, interactions: Interactions, count: int
) -> Callable[[float], Floats] | None:
    """Return the time signal t -> values of `count` loads, then parameters of driven constraints; None if there is neither."""
    values, motion = interactions.signal, interactions.motion
    driven = None if motion is None else motion.values
    if values is None and not count and driven is None:
        return None

    def signal(t: float) -> Floats:
        """Return the values of the loads and the parameters of driven constraints at time t, s."""
        load_values = np.zeros((count, 3)) if values is None else np.ascontiguousarray(values(t), float)
        if load_values.size != 3 * count:
            raise ModelError(
                f"system '{system.name}': signal at t = {t:g} s has shape {load_values.shape}; of {count} loads give {(count, 3)}"
            )
        return (
            load_values.ravel()
            if driven is None
            else np.concatenate([load_values.ravel(), driven(t).ravel()])
        )

    return signal


class CountedVariables(NamedTuple):
    """Counted internal variables, such as angles through whole revolutions, in the order of the compiled data.

    See `rigid.interactions.kinds`.
    """

    groups: list[Group]  # kinds whose values are the counted variables; row: index of the first one
    offsets: Ints  # (k,) offsets of the reference values among the parameters of the compiled data
    names: list[str]  # (k,) names of the counting interactions


def _counted_variables(groups: list[Group], interaction_arrays: InteractionArrays) -> CountedVariables:
    """Collect the counted internal variables of all groups."""
    counted_groups: list[Group] = []
    offsets: list[Ints] = [np.zeros(0, np.int64)]
    names: list[str] = []
    for members, kind in zip(groups, interaction_arrays.kinds, strict=True):
        if members.kind.n_internal:
            last = interaction_arrays.entries.last[kind.first : kind.last, None]
            row = len(names) + members.kind.n_internal * np.arange(len(last))
            counted_groups.append(
                members._replace(
                    kind=members.kind._replace(value=members.kind.count, rows=members.kind.n_internal),
                    row=row,
                )
            )
            offsets.append((last + np.arange(-members.kind.n_internal, 0)).ravel())
            names += [
                f"{members.kind.name} {k}" for k in range(len(last)) for _ in range(members.kind.n_internal)
            ]
    return CountedVariables(counted_groups, np.concatenate(offsets), names)


def branches(system: MechanicalSystem) -> Floats:
    """Return the reference values (k,) of counted variables, rad; potentials know angles within half a revolution of these."""
    counting = system.info.get("counting")  # systems that are not made by a chart have none
    references: Floats = system.data.interaction_arrays.numbers[counting.offsets] if counting else np.zeros(0)
    return references


def counted(system: MechanicalSystem, q: Floats) -> Floats:
    """Return the counted variables (N, k) at coordinates q (N, n) of one motion.

    The first row is unwrapped to be closest to `branches`, every other row to be closest to the row before it.
    """
    groups, layout = system.info["counting"].groups, system.info["places"]
    r, quat = (np.tile(system.info[name], (len(q), 1, 1)) for name in ("r", "quat"))
    for f in np.unique(np.concatenate([members.frames.ravel() for members in groups])):
        if layout.position[f] >= 0:
            r[:, f] = q[:, layout.position[f] : layout.position[f] + 3]
        quat[:, f] = quaternions.from_matrix(rotations(system, q, f))
    angles = evaluation.values(groups, r, quat)
    on = np.unwrap(np.concatenate([branches(system)[None], angles]), axis=0)[1:]
    # add whole revolutions to the angles of the poses: bit-identical however a motion is divided
    unwrapped: Floats = angles + 2 * np.pi * np.round((on - angles) / (2 * np.pi))
    return unwrapped


def rotations(system: MechanicalSystem, q: Floats, frame: int) -> Floats:
    """Return the rotation matrices (N, 3, 3) of a frame at coordinates q (N, n)."""
    to = system.info["places"].orientation[frame]
    if to < 0:
        return np.broadcast_to(quaternions.to_matrix(system.info["quat"][frame]), (len(q), 3, 3))
    if system.info["chart"] == "quaternion":
        return quaternions.to_matrix(quaternions.normalize(q[:, to : to + 4]))
    return q[:, to : to + 9].reshape(-1, 3, 3).transpose(0, 2, 1)


def rotating_body(
    name: str,
    J: Floats,
    Omega: Floats,
    quat: Floats = quaternions.IDENTITY,
    weights: Sequence[tuple[Floats, Floats]] = (),
    chart: str = "quaternion",
    inertia: str = "singular",
    parameter: float | None = None,
) -> MechanicalSystem:
    """Make a rigid body that rotates about a fixed point at the origin, or freely about its centre of mass.

    Parameters
    ----------
    name : str
        Name of the system, for messages.
    J : array, shape (3,) or (3, 3)
        Inertia about that point, kg m^2.
    Omega : array, shape (3,)
        Initial body-fixed angular velocity, rad/s.
    quat : array, shape (4,), default (1, 0, 0, 0)
        Initial orientation, unit quaternion (w, x, y, z).
    weights : sequence of (array, array), default ()
        Pairs of a body-fixed point X (3,), m, and a constant force f (3,), N: V = -sum f . R X. The heavy top has
        ``[((0, 0, l), (0, 0, -m * g))]``.
    chart, inertia : str
        As in `multibody_system`.
    parameter : float, optional
        As in `multibody_system`.

    Returns
    -------
    MechanicalSystem
        The system, for `integrate`.

    Raises
    ------
    ModelError
        If an inertia is not that of a physical body, or a parameter is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from rodsim.mechanics import rotating_body
    >>> rotating_body("body", np.array([1.0, 2.0, 2.5]), np.array([0.0, 0.0, 3.0])).n
    4
    """
    J = np.asarray(J, float)
    J = np.diag(J) if J.shape == (3,) else J
    frames = Frames(np.ones(1), J[None], np.zeros(1, np.uint8))
    entries = tuple(Weight(0, np.asarray(X, float), np.asarray(f, float)) for X, f in weights)
    zero = np.zeros((1, 3))
    quat = np.asarray(quat, float)[None]
    Omegas = np.asarray(Omega, float)[None]
    return multibody_system(
        name,
        frames,
        zero,
        quat,
        zero,
        Omegas,
        Interactions(weights=entries),
        chart=chart,
        inertia=inertia,
        parameter=parameter,
        orientation_only=(0,),
    )


def _is_flat(J: Floats) -> bool:
    """Return True if a body has no extension along one axis, so that its Euler tensor and the director mass are singular."""
    moments = np.linalg.eigvalsh(J)
    return bool(moments[0] + moments[1] - moments[2] <= 1e-12 * moments[2])


def _check_inertia(name: str, frames: Frames) -> None:
    """Raise ModelError if the inertia of a moving frame is not that of a physical body."""
    for f in np.flatnonzero(np.asarray(frames.fixed) == 0):
        try:
            MassProperties(float(frames.mass[f]), frames.inertia[f])
        except ModelError as error:
            raise ModelError(f"system '{name}', frame {f}: {error}") from None


def functions() -> Functions:
    """Return the compiled functions of the charts; they are compiled, or loaded, at the first call."""
    from rigid.charts import forces as chart_forces
    from rigid.charts import inertia as chart_inertia
    from rigid.charts import interactions as chart_interactions

    return Functions(
        mass=chart_inertia.mass,
        mass_gradient=chart_inertia.mass_gradient,
        inverse_mass=chart_inertia.inverse_mass,
        inverse_mass_gradient=chart_inertia.inverse_mass_gradient,
        potential=chart_interactions.potential,
        gradient=chart_interactions.gradient,
        constraints=chart_interactions.constraints,
        jacobian=chart_interactions.jacobian,
        curvature=chart_interactions.curvature,
        force=chart_forces.force,
        discrete_gradient=chart_interactions.discrete_gradient,
        discrete_jacobian=chart_interactions.discrete_jacobian,
        discrete_kinetic=chart_inertia.discrete_kinetic,
        discrete_coenergy=chart_inertia.discrete_coenergy,
        mass_product=chart_inertia.mass_product,
        mass_solve=chart_inertia.mass_solve,
        inverse_mass_product=chart_inertia.inverse_mass_product,
        rate=chart_interactions.constraint_rate,
        pull=chart_interactions.pull,
        second=chart_interactions.second,
        inverse_mass_rate=chart_inertia.inverse_mass_rate,
        discrete_pull=chart_interactions.discrete_pull,
        discrete_force=chart_forces.discrete_force,
        resistance=chart_forces.resistance,
        discrete_resistance=chart_forces.discrete_resistance,
    )


def _check(name: str, interactions: Interactions, chart: str, inertia: str, parameter: float | None) -> None:
    """Raise ModelError if chart, inertia, parameter or a weight is invalid."""
    if chart not in CHARTS:
        raise ModelError(f"system '{name}': chart '{chart}' is not known; choose one of {', '.join(CHARTS)}")
    if inertia not in INERTIAS:
        raise ModelError(
            f"system '{name}': inertia '{inertia}' is not known; choose one of {', '.join(INERTIAS)}"
        )
    if parameter is not None and not (np.isfinite(parameter) and parameter > 0.0):
        raise ModelError(f"system '{name}': {inertia} = {parameter}; give a positive number (kg m^2)")
    for weight in interactions.weights:
        if not np.all(np.isfinite([*weight.X, *weight.force])):
            raise ModelError(f"system '{name}': weight {weight.force} at {weight.X}; give finite numbers")


def _chart_frames(
    frames: Frames,
    r: Floats,
    quat: Floats,
    interactions: Interactions,
    layout: CoordinateLayout,
    chart: str,
    inertia: str,
    parameter: float | None,
) -> ChartFrames:
    """Make the table of frames of a chart: offsets, masses, inertias and initial poses."""
    J = np.ascontiguousarray(frames.inertia, float)
    parameters = np.trace(J, axis1=1, axis2=2) / (2 if inertia == "alpha" else 3)
    if parameter is not None:
        parameters = np.full(len(J), float(parameter))
    frame_table = table(FRAME, len(J))
    frame_table.position, frame_table.orientation = layout.position, layout.orientation
    frame_table.mass, frame_table.inertia, frame_table.parameter = frames.mass, J.reshape(-1, 9), parameters
    frame_table.r, frame_table.directors = r, np.swapaxes(quaternions.to_matrix(quat), 1, 2).reshape(-1, 9)
    use = interactions.coupling != 0.0
    shared = table(SHARED, int(use.sum()))
    shared.a, shared.b = interactions.shared[use].T
    shared.coupling = interactions.coupling[use]
    return ChartFrames(CHARTS[chart], INERTIAS[inertia], 0, frame_table, shared)


def _groups(interactions: Interactions, first_row: int) -> list[Group]:
    """Return the interactions grouped by kind; constraint rows keep their order and start at `first_row`."""
    c, weights = interactions.constraints, interactions.weights
    groups = [] if c is None else groups_of(c, first_row)
    if weights:
        frames = np.array([weight.frame for weight in weights])
        groups.append(group(WEIGHT, frames, np.array([[*weight.X, *weight.force] for weight in weights])))
    groups += interactions.energies
    groups += [
        interaction_group._replace(row=first_row + interaction_group.row)
        for interaction_group in interactions.holding
    ]
    return [interaction_group for interaction_group in groups if len(interaction_group.frames)]
