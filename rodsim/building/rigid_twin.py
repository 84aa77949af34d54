"""Replace each rod of a model by a rigid body of the same mass, centre of mass and inertia: the rigid twin of the model.

Mass properties are those of the discretised rod, computed from its momenta: velocities e_k give m e_k and L = m c x e_k,
rotation rates e_k about c give the columns of J. A mass matrix that is not diagonal is included, so that energy and momenta of
twin and model are equal at t = 0 if the rod begins without stress and moves as a rigid body.

Every point of the rod keeps its name: an anchor at s becomes the point where this section is at t = 0. Directions of following
loads and offsets refer to the axes of that section.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from discretization.state_measures import energies, momenta
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError, PartName
from rigid.inertia import MassProperties
from rigid.signals import Signal, VectorSignal
from rigid.system import Floats, Ints, State
from rigid.vectors import cross
from rodsim.building.build import Built
from rodsim.building.initial_velocities import fit_velocities
from rodsim.building.placement import Placement
from rodsim.components.base import Component
from rodsim.components.contacts import Contact
from rodsim.components.controllers import Controller, Sensor, outputs_in
from rodsim.components.events import ModelEvent
from rodsim.components.joints import JointComponent
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Anchor, Body, ReplacedRod, Rod
from rodsim.components.user_interactions import AnchoredInteraction
from rodsim.results.part_energies import stored_energies

N_CORNERS = 12  # corners of a round section in drawings
DRAWN_SLENDERNESS = 200.0  # ratio of length to drawn radius for a rod without a radius
RELATIVE_TOLERANCE = 1e-9  # relative difference of equal numbers
REST_RATE = 1e-6  # 1/s, speed over length: a slower rod is at rest


class _Twin(NamedTuple):
    """Hold the body that replaces a rod, and what was lost. Its axes are the world's at t = 0."""

    body: Body
    quat: Floats  # (n, 4) orientations of the sections at t = 0
    fractions: Floats  # (n,) fractions of the rod's length
    lost: list[str]  # messages on what was not carried over

    def section_at(self, s: float) -> Floats:
        """Return the quaternion (4,) of the section at the fraction s of an anchor."""
        turned: Floats = self.quat[int(np.argmin(np.abs(self.fractions - s)))]
        return turned


def fill_twin(twin: ModelData, model: ModelData, built: Built, names: Iterable[str]) -> list[str]:
    """Fill the empty `twin` with everything of `model`, the rods `names` as bodies; return what could not be carried over."""
    state = fit_velocities(built, warn=False).state
    by_name: dict[str, _Twin] = {}
    twin.ground = model.ground
    for layout in built.layout.rods:
        if layout.name in names:
            by_name[layout.name] = _body_of(model.rods[layout.name], built, state, layout.frames)
    twin.bodies.update(model.bodies)
    twin.bodies.update({name: replaced.body for name, replaced in by_name.items()})
    twin.rods.update({name: rod for name, rod in model.rods.items() if name not in by_name})
    lost = [message for replaced in by_name.values() for message in replaced.lost]
    mover = _TwinConverter(Placement(model), by_name, twin)
    twin.driven.update(model.driven)
    for what, entries in model.tables.items():
        for name, entry in entries.items():
            moved = mover.moved(entry)
            if isinstance(moved, str):
                lost.append(f"{entry.word} '{name}' {moved}")
            else:
                getattr(twin, what)[name] = moved
    return lost


class _TwinConverter(NamedTuple):
    """Convert entries of the model to entries of its twin."""

    placement: Placement  # frames of the model
    twins: dict[str, _Twin]  # bodies that replace rods, by name
    to: ModelData  # the twin

    def moved(self, entry: Component) -> Any:
        """Return the entry with its anchors on bodies, or a text that says why this is not possible."""
        changed: dict[str, Any] = {}
        rods_held = []
        if isinstance(entry, Controller | Sensor | ModelEvent) and (lacks := entry.what_it_lacks(self.to)):
            return lacks
        for value in vars(entry).values():
            for output in outputs_in(value) if isinstance(value, Signal | VectorSignal) else ():
                if output.controller not in self.to.controllers:
                    return f"follows controller '{output.controller}', which is left out"
        for what, value in {field.name: getattr(entry, field.name) for field in fields(entry)}.items():
            several = value if isinstance(value, tuple) else (value,)
            for joint in (item for item in several if isinstance(item, JointComponent)):
                if joint.name not in self.to.joints:
                    return f"belongs to joint '{joint.name}', which is left out"
            if isinstance(value, Anchor) and self._is_twin(value.part):
                changed[what] = self._anchor(value)
                rods_held.append(value.part.name)
            elif self._is_twin(value):
                return f"acts along rod '{value.name}', which is a body here: left out"
            elif isinstance(entry, Contact) and what in ("a", "b", "ignore") and value is not None:
                nested = [x for item in value for x in (item if isinstance(item, tuple) else (item,))]
                rod = next((item for item in nested if self._is_twin(item)), None)
                if rod is not None:
                    return f"uses the surface of rod '{rod.name}', which is a body here: left out"
                changed[what] = tuple(map(self._surface, value))
            elif isinstance(value, JointComponent):
                changed[what] = self.to.joints[value.name]
            elif isinstance(entry, AnchoredInteraction) and what == "anchors":
                on = [x.part for x in value if self._is_twin(x.part)]
                for a, b in entry.anchor_pairs():
                    part = value[a].part
                    if part is value[b].part and part in on:
                        return f"joins two points of {part}, which do not move relative to each other here: left out"
                if on:
                    changed[what] = tuple(self._anchor(x) if x.part in on else x for x in value)
            elif value is several and any(isinstance(item, JointComponent) for item in several):
                changed[what] = tuple(self.to.joints[item.name] for item in several)
        if len(rods_held) == 2 and rods_held[0] == rods_held[1]:
            return f"joins two points of rod '{rods_held[0]}', which do not move relative to each other here: left out"
        converted = entry.with_rigid_rods(changed, self._section) if changed else entry
        return (
            "is between points that do not move relative to each other here: left out"
            if converted is None
            else converted
        )

    def _surface(self, surface: Any) -> Any:
        """Return the surface of the twin with the same name, or a pair of surfaces for a pair."""
        if isinstance(surface, tuple):
            return tuple(map(self._surface, surface))
        return surface if isinstance(surface, Rod) else getattr(self.to, surface.table)[surface.name]

    def _section(self, anchor: Anchor) -> Floats:
        """Return the quaternion (4,) of the section at an anchor on a replaced rod."""
        return self.twins[anchor.part.name].section_at(anchor.s)

    def _is_twin(self, part: Any) -> bool:
        return isinstance(part, Rod) and part.name in self.twins

    def _anchor(self, anchor: Anchor) -> Anchor:
        """Return the anchor on the body at the same world position."""
        body = self.twins[anchor.part.name].body
        return Anchor(body, self.placement.place(anchor).world - body.position)


def _body_of(rod: Rod, built: Built, state: State, frames: Ints) -> _Twin:
    """Return the rigid body that replaces a rod with these frames."""
    system = built.system
    mass, center, inertia = mass_of(system, state, frames)
    r, quat = state.r[frames], state.quat[frames]
    velocity, omega, deviation = _rigid_motion(system, state, frames, mass, center, inertia)
    layout = next(layout_of_rod for layout_of_rod in built.layout.rods if layout_of_rod.name == rod.name)
    fractions = layout.arclength / rod.stress_free.length
    offsets = r - center
    replaced = ReplacedRod(fractions, offsets, quat)
    if rod.closed:
        replaced = ReplacedRod(
            np.append(fractions, 1.0), np.append(offsets, offsets[:1], 0), np.append(quat, quat[:1], 0)
        )
    vertices, faces = _surface(offsets, quat, layout.radius, layout.sides, rod.closed)
    try:
        properties = MassProperties(mass, inertia, np.zeros(3), vertices, faces)
    except ModelError as error:
        raise ModelError(f"{rod} as a rigid body: {error}", about=[PartName("rod", rod.name)]) from None
    lost = [f"{rod}: strains, section law and elastic waves"]
    energy, first = stored_energies(system, state)
    stored = float(energy[np.isin(first, frames)].sum())
    if stored > RELATIVE_TOLERANCE * max(1.0, float(energies(system, state).kinetic)):
        lost.append(f"{rod}: the elastic energy it begins with, {stored:.6g} J")
    if _has_viscosity(system, frames):
        lost.append(f"{rod}: its viscosity")
    speed = np.linalg.norm(state.v[frames], axis=1).max()
    if deviation > RELATIVE_TOLERANCE * max(speed, REST_RATE * np.ptp(r, axis=0).max()):
        lost.append(f"{rod}: up to {deviation:.3g} m/s of its initial velocities, which no rigid body has")
    body = Body(rod.name, properties, center, quaternions.IDENTITY.copy(), velocity, omega, replaced)
    return _Twin(body, quat, fractions, lost)


def mass_of(system: System, state: State, frames: Ints) -> tuple[float, Floats, Floats]:
    """Return mass (kg), centre of mass (3,) (m) and inertia about it (3, 3) (kg m^2) of the parts at `frames`, world axes.

    They are computed from the momenta of the discretised parts.
    """
    zero = np.zeros(3)
    push = [
        momenta(system, _with_velocities(state, frames, axis + 0.0 * state.r, zero)) for axis in np.eye(3)
    ]
    mass = push[0][0][0]
    # L = c x m e_k: for e_x (0, m c_z, -m c_y), for e_y (-m c_z, 0, m c_x)
    center = np.array([push[1][1][2], -push[0][1][2], push[0][1][1]]) / mass
    J = np.empty((3, 3))
    for k, axis in enumerate(np.eye(3)):
        moved = _with_velocities(state, frames, cross(axis, state.r - center), axis)
        J[:, k] = momenta(system, moved)[1]  # P = 0: L is the same about any point
    return float(mass), center, 0.5 * (J + J.T)


def _with_velocities(state: State, frames: Ints, v: Floats, omega: Floats) -> State:
    """Return `state` with these velocities (n, 3), m/s and rad/s in world axes, at `frames` and zero elsewhere."""
    only = np.zeros((len(state.r), 1))
    only[frames] = 1.0
    spin = quaternions.rotate(quaternions.conjugate(state.quat), omega)
    return state._replace(v=only * v, Omega=only * spin)


def _rigid_motion(
    system: System, state: State, frames: Ints, mass: float, center: Floats, inertia: Floats
) -> tuple[Floats, Floats, float]:
    """Return velocity and angular velocity (3,) of a rigid body with the momenta of the rod, and the largest deviation, m/s.

    The velocity is that of the centre of mass; the deviation is that from the velocities of the rod's nodes.
    """
    only = np.zeros((len(state.r), 1))
    only[frames] = 1.0
    only_rod = state._replace(v=only * state.v, Omega=only * state.Omega)
    P, L = momenta(system, only_rod)
    velocity = P / mass
    omega = np.linalg.solve(inertia, L - cross(center, P))
    gap = state.v[frames] - velocity - cross(omega, state.r[frames] - center)
    return velocity, omega, float(np.linalg.norm(gap, axis=1).max())


def _has_viscosity(system: System, frames: Ints) -> bool:
    """Return True if the rod with these frames has viscosity."""
    points = system.rods.points
    return bool(np.any(points.damping[np.isin(points.frames[:, 0], frames)]))


def _surface(
    positions: Floats, quat: Floats, radius: Floats, sides: Floats, closed: bool
) -> tuple[Floats, Ints]:
    """Return vertices (v, 3), m, and triangles (t, 3) of the drawn rod: a ring of corners at each node."""
    if np.all(sides > 0.0):
        corners = 0.5 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])[None] * sides[:, None]
    else:
        shown = np.where(radius > 0.0, radius, np.ptp(positions, axis=0).max() / DRAWN_SLENDERNESS)
        angle = 2 * np.pi * np.arange(N_CORNERS) / N_CORNERS
        corners = shown[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    n, k = corners.shape[:2]
    offsets = np.concatenate([np.zeros((n, k, 1)), corners], axis=2)
    vertices = positions[:, None] + quaternions.rotate(quat[:, None], offsets)
    ring = np.arange(n if closed else n - 1)[:, None]
    here, following = k * ring, k * ((ring + 1) % n)
    one, two = np.arange(k), (np.arange(k) + 1) % k
    a, b, c, d = here + one, here + two, following + two, following + one
    walls = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    lids = np.zeros((0, 3), np.int64)
    if not closed:
        fan = np.stack([np.zeros(k - 2, np.int64), np.arange(1, k - 1), np.arange(2, k)], axis=1)
        lids = np.concatenate([fan[:, ::-1], fan + k * (n - 1)])
    return vertices.reshape(-1, 3), np.concatenate([walls, lids]).astype(np.int64)
