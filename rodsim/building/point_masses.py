"""Reject interactions that need a rotation for which a frame has no inertia: of point masses, thin bars and nodes of strings.

Whether an interaction needs it is found by trial: at random poses of all frames, it must not have a moment about an axis without
inertia, and its forces must not change if the frame rotates about this axis. Positions and rotations of all frames are random,
so that no spring is at rest and no joint fits by accident. Frames without inertia have no angular velocity: what resists their
own rotation alone, such as the air, is accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discretization.interaction_groups import InteractionGroup, Role, groups_of, with_load_values
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError, PartName
from rigid.interactions import evaluation
from rigid.system import Floats, State
from rodsim.building.joint_rows import owner_of_rows
from rodsim.building.placement import Placement
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Body

NEAR = 1e-9  # a moment below this fraction of the force times the model's size is rounding
_PROBES = 2  # number of random states
_DISPLACED, _ROTATED = 0.05, 0.3  # of the model's size; rad
_SEED = 1


def massless_axes(model: ModelData, placement: Placement) -> dict[int, Floats]:
    """Return, for each frame with axes without inertia, the projection (3, 3) on them; rotations about them have no meaning."""
    axes = {
        placement.body_frame[name]: body.properties.without_inertia
        for name, body in model.bodies.items()
        if body.properties.without_inertia.any()
    }
    strings = [rod for rod in model.rods.values() if rod.is_string]
    return axes | {int(frame): np.eye(3) for rod in strings for frame in placement.frames_of(rod)}


def check_rotations(
    model: ModelData, system: System, state: State, placement: Placement, interaction_names: Sequence[str]
) -> None:
    """Raise ModelError if something needs a rotation for which a frame has no inertia."""
    thin = massless_axes(model, placement)
    if not thin:
        return
    check_spins(model)
    moment = _find_moment(system, state, thin, placement.size)
    if moment is None:
        return
    acting, index, frame = moment
    what = _name_of(model, system, placement, acting, index, interaction_names)
    bodies = list(model.bodies.values())
    if frame <= len(bodies):  # bodies have the first frames after the ground
        body = bodies[frame - 1]
        raise ModelError(
            f"{body} has no moment of inertia{_axis_in_words(thin[frame])}, but {what} needs its rotation; hold it "
            "by its centre of mass with spherical or distance joints and springs, or give it an inertia",
            about=[PartName("body", body.name)],
        )
    rod = next(rod for rod in model.rods.values() if frame in placement.frames_of(rod))
    raise ModelError(
        f"{rod} is a string, whose nodes have no directions, but {what} needs them; hold it by points on its axis, "
        "with spherical or distance joints, springs or forces, or give it a section with bending",
        about=[PartName("rod", rod.name)],
    )


def check_spins(model: ModelData) -> None:
    """Raise ModelError if a body has an initial angular velocity about an axis without inertia."""
    for body in model.bodies.values():
        _check_spin(body)


def _find_moment(
    system: System, state: State, thin: Mapping[int, Floats], size: float
) -> tuple[InteractionGroup, int, int] | None:
    """Return the first group with a moment about an axis without inertia, the number in the group and the frame; None: none."""
    axes = np.zeros((len(system.frames.mass), 3, 3))
    axes[list(thin)] = list(thin.values())
    rng = np.random.default_rng(_SEED)
    loaded = with_load_values(system, rng.normal(size=(len(system.signals), 3)))
    acting = [entry for entry in groups_of(loaded, state) if entry.table in ("others", "constraints")]
    acting = [entry for entry in acting if np.any(axes[entry.group.frames])]
    for _ in range(_PROBES):
        probe = _random_state(state, axes, size, rng)
        turned = _rotated_about(axes, probe, rng)
        R = quaternions.to_matrix(probe.quat)
        for entry in acting:
            group, m = entry.group, len(entry.group.row)
            rows = max(group.kind.rows, 1)
            alone = [group._replace(row=rows * np.arange(m))]
            at_probe, at_turned = (
                evaluation.resistances(alone, x)
                if entry.role is Role.DISSIPATION
                else evaluation.gradients(alone, x.r, x.quat)
                for x in (probe, turned)
            )
            wrench = at_probe.reshape(m, rows, group.kind.arity, 6)
            change = (at_turned.reshape(wrench.shape) - wrench)[..., :3]
            frames = group.frames[:, : group.kind.arity]
            moment = np.einsum("makl,majl,mraj->mrak", axes[frames], R[frames], wrench[..., 3:])
            excess = np.linalg.norm(moment, axis=-1) > NEAR * (
                size * np.linalg.norm(wrench[..., :3], axis=-1) + np.linalg.norm(wrench[..., 3:], axis=-1)
            )
            changes = np.linalg.norm(change, axis=-1).max(axis=2) > NEAR * np.linalg.norm(
                wrench[..., :3], axis=-1
            ).max(axis=2)
            excess |= changes[..., None] & np.any(axes[frames], axis=(2, 3))[:, None]
            where = np.argwhere(excess.any(axis=1))
            if len(where):
                index, side = where[0]
                return entry, int(index), int(frames[index, side])
    return None


def _random_state(state: State, axes: Floats, size: float, rng: np.random.Generator) -> State:
    """Return a state with random poses near those of `state`, and random rates; frames without inertia do not rotate."""
    n = len(state.r)
    turns = np.concatenate([np.ones((n, 1)), 0.5 * _ROTATED * rng.normal(size=(n, 3))], axis=1)
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    Omega = rng.normal(size=(n, 3))
    Omega -= np.einsum("nij,nj->ni", axes, Omega)
    return state._replace(
        r=state.r + _DISPLACED * size * rng.normal(size=(n, 3)),
        quat=quaternions.multiply(turns, state.quat),
        v=size * rng.normal(size=(n, 3)),
        Omega=Omega,
    )


def _rotated_about(axes: Floats, state: State, rng: np.random.Generator) -> State:
    """Return the state with frames rotated about their axes without inertia, by random angles."""
    turns = np.ones((len(state.r), 4))
    turns[:, 1:] = 0.5 * np.einsum("nij,nj->ni", axes, rng.normal(size=(len(state.r), 3)))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    return state._replace(quat=quaternions.multiply(state.quat, turns))


def _name_of(
    model: ModelData,
    system: System,
    placement: Placement,
    acting: InteractionGroup,
    index: int,
    interaction_names: Sequence[str],
) -> str:
    """Return kind and name of an interaction of a group, for messages."""
    if acting.table == "others":
        return interaction_names[acting.use[index]]
    what, name = owner_of_rows(
        model.constraint_names, placement.frames_of_rods(), system, int(acting.use[index])
    )
    return f"{what} '{name}'"


def _axis_in_words(axes: Floats) -> str:
    """Name the axis without inertia, for messages; "" if there are several."""
    if np.trace(axes) > 2.0:
        return ""
    axis = axes[:, np.argmax(np.diag(axes))]
    x, y, z = axis / np.linalg.norm(axis)
    return f" about ({x:.3g}, {y:.3g}, {z:.3g})"


def _check_spin(body: Body) -> None:
    """Raise ModelError if the initial angular velocity of a body is about an axis without inertia."""
    if body.angular_velocity is None or not body.properties.without_inertia.any():
        return
    omega = quaternions.rotate(quaternions.conjugate(body.orientation), body.angular_velocity)
    spin = np.linalg.norm(body.properties.without_inertia @ omega)
    if spin > 1e-12 * np.linalg.norm(omega):
        raise ModelError(
            f"{body} has no moment of inertia{_axis_in_words(body.properties.without_inertia)}, but spins about it at {spin:.3g} "
            "rad/s; set this part of angular_velocity to zero",
            about=[PartName("body", body.name)],
        )
