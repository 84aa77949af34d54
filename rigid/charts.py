"""Multibody models as mechanical systems: the director chart and the quaternion chart.

| chart | coordinates of a frame | mass | internal constraints |
|---|---|---|---|
| director | (r, d1, d2, d3) | constant, regular | 6 |
| quaternion, singular | (r, q) | 4 G^T J G (000 (46)) | 1 |
| quaternion, alpha | (r, q) | 4 L diag(alpha, J) L^T (000 (139), 004) | 1 |
| quaternion, gamma | (r, q) | 4 gamma I + 4 G^T (J - gamma I) G (004) | 1 |

A frame that only turns about a fixed point has no r among its coordinates; its inertia is then about that point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rigid import mechanical, quaternions
from rigid.chart_frames import (
    ALPHA,
    DIRECTORS,
    DRIVEN_FRAME,
    DRIVEN_ROW,
    FRAME,
    GAMMA,
    LOAD,
    QUATERNION,
    SHARED,
    SINGULAR,
    ChartFrames,
    Driven,
    new_scratch,
    no_drives,
    table,
)
from rigid.chart_places import Places
from rigid.compilation import address_of
from rigid.errors import ModelError
from rigid.inertia import MassProperties
from rigid.interactions import torsion_spring
from rigid.interactions.constraints import CONSTRAINTS, first_rows, groups_of, rows_of
from rigid.interactions.kinds import Group, Interacting, gathered, group, of_columns
from rigid.interactions.spring import DAMPER, SPRING
from rigid.interactions.weight import WEIGHT
from rigid.mechanical import Data, Functions, MechanicalSystem
from rigid.system import Constraints, Floats, Frames, Ints, Loads, Springs, TorsionSprings

CHARTS = {"director": DIRECTORS, "quaternion": QUATERNION}
INERTIAS = {"singular": SINGULAR, "alpha": ALPHA, "gamma": GAMMA}


class Weight(NamedTuple):
    """A constant force (3,) on the point X (3,) of a frame: a potential."""

    frame: int
    X: Floats
    force: Floats


class Motion(NamedTuple):
    """What is driven: constraints whose numbers are functions of time, and frames that such constraints hold alone.

    Each has one work; of a frame it is without the change of its own kinetic energy, as if it had no mass.
    """

    numbers: Floats  # (d, DRIVE_NUMBERS) at the start: U, value, dU/dt, dvalue/dt
    values: Callable[[float], Floats] | None  # t -> the same; None: states are read, no steps are made
    rows: Ints  # (d,) numbers of the constraints
    drive: Ints  # (d,) which drive each belongs to
    frames: Ints  # (k,) frames that are driven
    drive_of_frame: Ints  # (k,)


class Interactions(NamedTuple):
    """What acts between the frames; empty by default."""

    constraints: Constraints | None = None
    springs: Springs | None = None
    torsions: TorsionSprings | None = None
    loads: Loads | None = None
    weights: tuple[Weight, ...] = ()
    signal: Callable[[float], Floats] | None = None  # t -> (l, 3) values of the loads
    more: tuple[Group, ...] = ()  # energies of other kinds
    dissipating: tuple[Group, ...] = ()  # dissipations of other kinds, between frames of the above
    shared: Ints = np.zeros(
        (0, 2), np.int64
    )  # (k, 2) pairs of frames with kinetic energy - coupling |v_b - v_a|^2/2
    coupling: Floats = np.zeros(0)  # (k,) kg
    working: tuple[Group, ...] = ()  # duals without a value, between frames of the above or others
    motion: Motion | None = None
    # constraints of other kinds; their rows are numbered behind those of `constraints`
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
    held: Sequence[int] = (),
) -> MechanicalSystem:
    """The mechanical system of frames and interactions in a chart.

    Parameters
    ----------
    name: of the system. frames: inertia and loads of each. interactions: what acts between them.
    r (n, 3), quat (n, 4), v (n, 3), Omega (n, 3): initial state of all frames; fixed ones stay there.
    chart: "quaternion" or "director". inertia: "singular", "alpha" or "gamma", of the quaternion chart.
    parameter: alpha or gamma for all frames (kg m^2); by default half and a third of the sum of the principal moments.
    held: frames whose position is fixed; they only turn, and their inertia is about that point.

    Raises ModelError for an inertia no body has, or a parameter that is not positive.
    """
    _check(name, interactions, chart, inertia, parameter)
    _check_inertia(name, frames)
    places = Places(frames, chart, held)
    is_quaternion = chart == "quaternion"
    constraints = interactions.constraints
    n_joint_rows = 0 if constraints is None else int(rows_of(constraints).sum())
    n_joint_rows += sum(own.kind.rows * len(own.frames) for own in interactions.holding)
    groups = _groups(interactions, places.internal)
    flags = mechanical.DISCRETE_POTENTIAL | mechanical.DISCRETE_CONSTRAINTS | mechanical.DISCRETE_KINETIC
    flags |= mechanical.PRODUCTS | mechanical.DISCRETE_FORCE
    dissipating = _dissipating(interactions)
    if dissipating:
        flags |= mechanical.VISCOUS
    flat = any(_is_flat(J) for J in frames.inertia[frames.fixed == 0])
    if not is_quaternion:
        flags |= mechanical.CONSTANT_MASS | mechanical.INVERSE_MASS
        if flat:
            flags |= mechanical.SINGULAR_MASS
    elif inertia == "singular":
        flags |= mechanical.QUATERNIONS | mechanical.SINGULAR_MASS
    else:
        flags |= mechanical.QUATERNIONS | mechanical.INVERSE_MASS
    if np.any(interactions.coupling):
        flags = (flags | mechanical.SHARED_MASS) & ~mechanical.INVERSE_MASS
    chart_frames = _chart_frames(frames, r, quat, interactions, places, chart, inertia, parameter)
    loads = table(LOAD) if interactions.loads is None else _chart_loads(interactions.loads)
    interacting, motion = gathered(groups), interactions.motion
    data = Data(
        places.n,
        places.internal + n_joint_rows,
        flags,
        chart_frames,
        loads,
        interacting,
        new_scratch(),
        gathered(dissipating),
        gathered([own for own in interactions.working if len(own.frames)]),
        no_drives() if motion is None else _driven(motion, interactions, interacting, places, 3 * len(loads)),
    )
    system = MechanicalSystem(
        name,
        functions(),
        data,
        places.coordinates(r, quat, chart),
        places.velocities(quat, v, Omega, chart),
        names=places.names(chart),
        symmetries=places.symmetries(chart, r),
        info={
            "chart": chart,
            "places": places,
            "torsions": interactions.torsions,
            "quat": quat.copy(),
            "flat": flat,
        },
        drives=np.zeros((0, mechanical.DRIVE_NUMBERS)) if motion is None else motion.numbers,
    )
    if interactions.torsions is not None:
        branches(system)[:] = torsion_angles(system, system.q0[None])[0]
    system.signal = _signal(system, interactions, len(loads)) or system.signal
    return system


def _signal(
    system: MechanicalSystem, interactions: Interactions, count: int
) -> Callable[[float], Floats] | None:
    """Values of the loads, then the numbers of what is driven; None where there is neither."""
    values, motion = interactions.signal, interactions.motion
    driven = None if motion is None else motion.values
    if values is None and not count and driven is None:
        return None

    def signal(t: float) -> Floats:
        found = np.zeros((count, 3)) if values is None else np.ascontiguousarray(values(t), float)
        if found.size != 3 * count:
            raise ModelError(
                f"system '{system.name}': signal at t = {t:g} s has shape {found.shape}; of {count} loads give {(count, 3)}"
            )
        return found.ravel() if driven is None else np.concatenate([found.ravel(), driven(t).ravel()])

    return signal


_WIDTHS = {"value": 1}  # of a column of `Constraints`; 3 of every other


def _driven(
    motion: Motion, interactions: Interactions, interacting: Interacting, places: Places, signal: int
) -> Driven:
    """Where compiled code finds what is driven; `signal`: numbers of the loads before it."""
    constraints = interactions.constraints
    assert constraints is not None
    first, rows = places.internal + first_rows(constraints), table(DRIVEN_ROW, len(motion.rows))
    for k, c in enumerate(motion.rows):
        which, entry = _entry(interacting, first[c])
        at, here = interacting.each[entry].first, {}
        for name in CONSTRAINTS[constraints.kind[c]].columns:
            here[name] = at
            at += _WIDTHS.get(name, 3)
        rows[k] = first[c], which, entry, here["Ua"], here["value"], motion.drive[k]
    frames = table(DRIVEN_FRAME, len(motion.frames))
    for k, f in enumerate(motion.frames):
        frames[k] = places.position[f], places.orientation[f] + places.size, motion.drive_of_frame[k]
    drives = int(max([*motion.drive, *motion.drive_of_frame], default=-1)) + 1
    return Driven(drives, signal, rows, frames)


def _entry(interacting: Interacting, row: int) -> tuple[int, int]:
    """Kind and number of the constraint whose row of g this is."""
    for which, kind in enumerate(interacting.kinds):
        if kind.rows:
            found = np.flatnonzero(interacting.each.row[kind.first : kind.last] == row)
            if len(found):
                return which, int(kind.first + found[0])
    raise AssertionError(f"no constraint has row {row}")


def branches(system: MechanicalSystem) -> Floats:
    """Angles (s,) of the torsion springs, a view: their potential counts angles within half a turn from these."""
    own: Interacting = system.data.interacting
    mine = (own.kinds.value == address_of(torsion_spring.TORSION_SPRING.value)) & (own.kinds.own == 0)
    for kind in own.kinds[mine]:
        each = own.each[kind.first : kind.last]
        numbers: Floats = own.numbers[each.first[0] : each.last[-1]].reshape(len(each), -1)
        return numbers[:, torsion_spring.BRANCH]
    return np.zeros(0)


def torsion_angles(system: MechanicalSystem, q: Floats) -> Floats:
    """Angles (N, s) in (-pi, pi] of the torsion springs at coordinates (N, n)."""
    springs: TorsionSprings = system.info["torsions"]
    angles = np.empty((len(q), len(springs.stiffness)))
    for k, (a, b) in enumerate(springs.frames):
        Ra, Rb = rotations(system, q, a), rotations(system, q, b)
        along = Rb @ springs.Ub[k]
        c, s = (np.einsum("ij,ij->i", Ra @ U, along) for U in (springs.Ua[k], springs.Wa[k]))
        angles[:, k] = np.arctan2(s, c)
    return angles


def rotations(system: MechanicalSystem, q: Floats, frame: int) -> Floats:
    """Rotation matrices (N, 3, 3) of a frame at coordinates (N, n)."""
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
    """A rigid body that turns about a fixed point at the origin, or freely about its centre of mass.

    name: of the system. J (3,) or (3, 3): about that point, kg m^2; Omega (3,): initial, body-fixed, rad/s; quat
    (4,): initial
    orientation; weights: pairs of a body-fixed point X (3,), m, and a constant force (3,), N: V = -sum f . R X. The heavy top
    is `weights=[((0, 0, l), (0, 0, -m g))]`. chart, inertia, parameter: as in `multibody_system`.

    Raises ModelError for an inertia no body has, or a parameter that is not positive.
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
        held=(0,),
    )


def _is_flat(J: Floats) -> bool:
    """Whether a body has no extension along one of its axes: its Euler tensor, and the mass of directors, is singular."""
    moments = np.linalg.eigvalsh(J)
    return bool(moments[0] + moments[1] - moments[2] <= 1e-12 * moments[2])


def _check_inertia(name: str, frames: Frames) -> None:
    for f in np.flatnonzero(np.asarray(frames.fixed) == 0):
        try:
            MassProperties(float(frames.mass[f]), frames.inertia[f])
        except ModelError as error:
            raise ModelError(f"system '{name}', frame {f}: {error}") from None


def functions() -> Functions:
    """The compiled functions of the charts; compiled, or loaded, at the first call."""
    from rigid import chart_forces, chart_inertia, chart_interactions

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
    places: Places,
    chart: str,
    inertia: str,
    parameter: float | None,
) -> ChartFrames:
    J = np.ascontiguousarray(frames.inertia, float)
    own = np.trace(J, axis1=1, axis2=2) / (2 if inertia == "alpha" else 3)
    if parameter is not None:
        own = np.full(len(J), float(parameter))
    each = table(FRAME, len(J))
    each.position, each.orientation = places.position, places.orientation
    each.mass, each.inertia, each.parameter = frames.mass, J.reshape(-1, 9), own
    each.r, each.directors = r, np.swapaxes(quaternions.to_matrix(quat), 1, 2).reshape(-1, 9)
    use = interactions.coupling != 0.0
    shared = table(SHARED, int(use.sum()))
    shared.a, shared.b = interactions.shared[use].T
    shared.coupling = interactions.coupling[use]
    return ChartFrames(CHARTS[chart], INERTIAS[inertia], 0, each, shared)


def _chart_loads(loads: Loads) -> np.ndarray:
    out = table(LOAD, len(loads.kind))
    out.kind, out.frame, out.following, out.X = loads.kind, loads.frame, loads.following, loads.X
    return out


def _groups(interactions: Interactions, first_row: int) -> list[Group]:
    """The interactions by kind; rows of constraints in their order, from `first_row` on."""
    c, s, t, weights = (
        interactions.constraints,
        interactions.springs,
        interactions.torsions,
        interactions.weights,
    )
    groups = [] if c is None else groups_of(c, first_row)
    if s is not None:
        groups.append(of_columns(SPRING, s))
    if t is not None:
        none = np.zeros(len(t.stiffness))
        numbers = np.column_stack([t.Ua, t.Wa, t.Ub, t.stiffness, t.angle0, none])
        groups.append(group(torsion_spring.TORSION_SPRING, t.frames, numbers))
    if weights:
        frames = np.array([weight.frame for weight in weights])
        groups.append(group(WEIGHT, frames, np.array([[*weight.X, *weight.force] for weight in weights])))
    groups += interactions.more
    groups += [own._replace(row=first_row + own.row) for own in interactions.holding]
    return [own for own in groups if len(own.frames)]


def _dissipating(interactions: Interactions) -> list[Group]:
    """Dampers, of the springs that have damping, and other dissipations."""
    groups, s, t = list(interactions.dissipating), interactions.springs, interactions.torsions
    if s is not None:
        use = s.damping != 0.0
        groups.append(group(DAMPER, s.frames[use], np.column_stack([s.Xa, s.Xb, s.damping])[use]))
    if t is not None:
        use = t.damping != 0.0
        numbers = np.column_stack([t.Ua, t.Wa, t.Ub, t.damping])[use]
        groups.append(group(torsion_spring.TORSION_DAMPER, t.frames[use], numbers))
    return [own for own in groups if len(own.frames)]
