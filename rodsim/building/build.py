"""Build the arrays of a `Model`: frames of bodies and rods, constraint rows of joints, springs, loads, the initial state
and the layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from discretization.consistent_velocities import PrescribedVelocities
from discretization.contact.table import contact_frames
from discretization.initial_rates import with_initial_rates
from discretization.interaction_groups import Role, externally_supported_frames, groups_of, is_load
from discretization.interaction_table import (
    Interaction,
    InteractionTable,
    history_variable_counts,
    history_variable_values,
    insert_file_tables,
    springs_of,
    table_of,
    torsions_of,
)
from discretization.internal_variables import internal_variables, with_counted_angles, with_part
from discretization.memoization import memoized, per_structure
from discretization.multipliers import multipliers_of
from discretization.state_measures import constraint_residual, element_states
from discretization.state_shapes import sizes_of, state_shapes
from discretization.system import System
from rigid.compilation.compile_notices import announce
from rigid.errors import ModelError, PartName
from rigid.system import Floats, Springs, State, TorsionSprings
from rodsim.building.contact_surfaces import describe_surfaces
from rodsim.building.contact_tables import contact_table, plane_contacts
from rodsim.building.controls import controls_of
from rodsim.building.discontinuity_times import NO_DISCONTINUITIES, Discontinuities, discontinuities_of_model
from rodsim.building.display_shapes import add_contact_shapes
from rodsim.building.drive_values import DriveValues, check_drives
from rodsim.building.joint_rows import (
    ASSEMBLED,
    constraints_of,
    joint_layouts,
    most_violated,
    owner_of_rows,
    soften_redundant_joints,
    strain_constraints,
)
from rodsim.building.load_arrays import (
    LineLoad,
    LoadValues,
    entry_inputs,
    line_loads,
    load_arrays,
    load_directions,
    load_names,
    load_values,
)
from rodsim.building.meshing import RodMesh, concatenate_meshes
from rodsim.building.model_checks import warn_of_probable_mistakes
from rodsim.building.placement import Placement
from rodsim.building.point_masses import check_rotations, massless_axes
from rodsim.components.airfoils import Airfoil
from rodsim.components.base import angle_directions
from rodsim.components.belts import Belt
from rodsim.components.chambers import Chamber
from rodsim.components.control_laws import law_function
from rodsim.components.events import switches_of
from rodsim.components.inerters import reflected_inertia
from rodsim.components.model_argument import model_argument_error
from rodsim.components.model_data import ModelData, TorsionSpring
from rodsim.components.model_description import description
from rodsim.components.part_lookup import ErrorContext
from rodsim.components.submerged_parts import SubmergedBody, SubmergedRod
from rodsim.components.tendons import Tendon
from rodsim.results.distances import SURFACES
from rodsim.results.layout import BodyLayout, JointLayout, Layout, RodLayout


class Built(NamedTuple):
    """Hold a model as arrays: its system, initial state, the layout that a result needs, and the loads as a function
    of times.
    """

    system: System
    state: State
    layout: Layout
    load_values: LoadValues
    prescribed_velocities: PrescribedVelocities  # which velocities the user gave
    drive_values: DriveValues | None = None  # values of prescribed motions, see `discretization.drives`
    # frame -> (3, 3) projection on its axes without inertia
    idle: Mapping[int, Floats] = MappingProxyType({})
    # (loads, 3) unit vectors along which they act at all times; nan: not known
    load_directions: Floats = np.zeros((0, 3))
    interaction_names: tuple[str, ...] = ()  # "bushing 'mount'" ...: names of the rows of `system.others`
    laws: Mapping[str, Any] = MappingProxyType({})  # functions of the controllers by name
    corners: Discontinuities = NO_DISCONTINUITIES  # times at which its functions of time jump or bend


def build(model: ModelData, meshed: Mapping[str, RodMesh] = MappingProxyType({})) -> Built:
    """Build the arrays of a model, see `Model.build`; `meshed`: meshes of rods that exist already."""
    placement = Placement(model, meshed)
    meshes = list(placement.meshes.values())
    elements, spans = concatenate_meshes(meshes, np.array(list(placement.first.values()), dtype=np.int64))
    constraints, joined_by, driven, gears = constraints_of(model, placement)
    lines = line_loads(model, placement, joined_by)
    interactions, interaction_names, of_a = _interaction_table(model, placement, gears, lines)
    contacts, of_pairs = contact_table(model, placement)
    inputs = entry_inputs(model, placement)
    controls = controls_of(model, placement, lines, inputs, interactions, interaction_names, constraints)
    system = System(
        placement.frames,
        elements,
        constraints,
        model.gravity.copy(),
        spans,
        interactions,
        contacts,
        controls,
    )
    shapes = state_shapes(sizes_of(system))
    drives = DriveValues.of(model, driven)
    state = State(
        placement.r,
        placement.quat,
        placement.v,
        placement.Omega,
        np.zeros(shapes["lam"]),
        internal_variables(system).joined(
            drive=0.0 if drives is None else drives.first(),
            settled=history_variable_values(system.others),
            sampled=controls.start(),
        ),
        np.zeros(shapes["memory"]),
        np.zeros(shapes["totals"]),
    )
    if np.any(spans.relaxation):  # relaxing branches begin as if the rod had been strained at this moment
        strain, _ = element_states(system, state)
        branch = strain[len(elements.length) :] * (spans.relaxation > 0.0)[:, None]
        state = with_part(system, state, "branch", branch)
    state = with_initial_rates(system, with_counted_angles(system, state))
    _check_assembled(model, placement, system, state, interaction_names)
    check_rotations(model, system, state, placement, interaction_names)
    undetermined: list[list[str]] = []
    if all(switches_of(model.events).values()):  # else some of the joints and drives never act together
        check_drives(model, system, state)
        system, undetermined = soften_redundant_joints(
            model, system, state, placement.frames_of_rods(), interaction_names
        )
    layout = _layout(model, placement, system, joint_layouts(model, placement, joined_by))
    layout.description["undetermined"] = undetermined
    for line in lines:
        if (
            line.entry.name in model.joint_forces and line.directions is not None
        ):  # read by `rodsim.results.node_loads`
            layout.description["joint_forces"][line.entry.name]["directions"] = line.directions.tolist()
    if inputs:  # read by `rodsim.results.node_loads`
        layout.description["inputs"] = [
            {"of": f"{entry.kind} '{entry.name}'", "count": values.interactions, **(values.described or {})}
            for entry, values in inputs
        ]
    for name, contact in layout.description.get("contacts", {}).items():
        # interactions with planes, and pairs without planes: read by `rodsim.results.contact_history`
        contact["interactions"] = interaction_names.count(f"contact '{name}'")
        contact["planes_of_a"] = of_a.count(f"contact '{name}'")
        contact["pairs"] = of_pairs.count(f"contact '{name}'")
    first_state = np.cumsum(history_variable_counts(system.others)) - history_variable_counts(system.others)
    for other in model.others.values():
        if other.states:  # read by `rodsim.results.interaction_history`
            index = interaction_names.index(f"{other.kind} '{other.name}'")
            layout.description["others"][other.name] |= {
                "states": other.states,
                "first_state": int(first_state[index]),
            }
    for other in model.others.values():
        if isinstance(other, Tendon | Belt | Chamber):  # read by `rodsim.results.tendon_history`
            layout.description["others"][other.name] |= {
                "first_interaction": interaction_names.index(f"{other.kind} '{other.name}'"),
                **other.layout(placement),
            }
        if isinstance(
            other, SubmergedRod | SubmergedBody | Airfoil
        ):  # read by `rodsim.results.fluid_history`
            owner = f"{other.kind} '{other.name}'"
            layout.description["others"][other.name] |= {
                "first_interaction": interaction_names.index(owner),
                "interactions": interaction_names.count(owner),
            }
    surfaces = describe_surfaces(model, placement)
    if surfaces:
        layout.description[SURFACES] = surfaces
        layout.bodies = add_contact_shapes(layout.bodies, surfaces.values())
    warn_of_probable_mistakes(model, placement, layout, system, state)
    return Built(
        system,
        state,
        layout,
        load_values(model, lines, inputs),
        placement.prescribed_velocities,
        drives,
        massless_axes(model, placement),
        load_directions(model, lines),
        interaction_names,
        {
            name: law_function(controller.law, controller.inputs)
            for name, controller in model.controllers.items()
        },
        discontinuities_of_model(model),
    )


def built_from(owner: str, model: object) -> Built:
    """Build a model, or return `model` itself if it is a `Built`; ModelError for anything else."""
    if isinstance(model, Built):
        return model
    if not isinstance(model, ModelData):
        raise model_argument_error(owner, model)
    announce()
    built: Built = model.build()  # type: ignore[attr-defined]
    return built


_NO_OTHERS = table_of()
_NO_SPRINGS, _NO_TORSIONS = springs_of(_NO_OTHERS), torsions_of(_NO_OTHERS)


def _springs(model: ModelData, placement: Placement) -> Springs:
    """Return the table of linear springs; a spring without a length has its distance at t = 0."""
    entries = list(model.springs.values())
    if not entries:
        return _NO_SPRINGS
    a, b = (placement.placed([getattr(entry, side) for entry in entries]) for side in "ab")
    length = [
        np.linalg.norm(pb.world - pa.world) if entry.fixed.free is None else entry.fixed.free
        for entry, pa, pb in zip(entries, a, b, strict=True)
    ]
    return Springs(
        np.array([(pa.frame, pb.frame) for pa, pb in zip(a, b, strict=True)], dtype=np.int64),
        np.array([p.X for p in a]),
        np.array([p.X for p in b]),
        np.array([entry.fixed.stiffness for entry in entries], dtype=float),
        np.array([entry.damping for entry in entries], dtype=float),
        np.array(length, dtype=float),
    )


def _torsions(model: ModelData, placement: Placement) -> TorsionSprings:
    """Return the table of torsion springs, with directions across each axis in the axes of both frames."""
    entries: list[TorsionSpring] = list(model.torsions.values())
    if not entries:
        return _NO_TORSIONS
    frames = np.array(
        [[placement.frame_of(x) for x in (spring.a, spring.b)] for spring in entries], dtype=np.int64
    )
    directions_of_springs = [
        angle_directions(placement, a, b, entry.axis) for (a, b), entry in zip(frames, entries, strict=True)
    ]
    Ua, Wa, Ub = (np.array(directions) for directions in zip(*directions_of_springs, strict=True))
    return TorsionSprings(
        frames,
        Ua,
        Wa,
        Ub,
        np.array([entry.fixed.stiffness for entry in entries], dtype=float),
        np.array([entry.damping for entry in entries], dtype=float),
        np.array([entry.fixed.free or 0.0 for entry in entries], dtype=float),
    )


def _interaction_table(
    model: ModelData, placement: Placement, gears: list[Interaction], lines: list[LineLoad]
) -> tuple[InteractionTable, tuple[str, ...], list[str]]:
    """Return the table of all interactions, the name of each, and the names of contacts whose planes are on their side `a`.

    The last list has one name for each interaction with such a plane.
    """
    interactions, names = [*gears], [f"gear '{name}'" for name in model.gears]
    for entry in model.interactions:
        with ErrorContext(entry.kind, entry.name):
            made = entry.make_interactions(placement)
        interactions += made
        names += [f"{entry.kind} '{entry.name}'"] * len(made)
    with_inertia = [joint for joint in model.joints.values() if joint.inertia is not None]
    interactions += [reflected_inertia(joint, placement) for joint in with_inertia]
    names += [f"inertia of joint '{joint.name}'" for joint in with_inertia]
    with_planes, of_contacts, of_a = plane_contacts(model, placement)
    interactions, names = interactions + with_planes, names + of_contacts
    of_rods, rod_names = strain_constraints(model, placement)
    interactions, names = interactions + of_rods, names + rod_names
    sprung = [
        f"{entry.word} '{name}'" for of in (model.springs, model.torsions) for name, entry in of.items()
    ]
    loads = load_arrays(model, placement, lines)
    loading = [f"load '{name}'" for name in load_names(model, lines)]
    table = table_of(interactions) if interactions else _NO_OTHERS
    all_interactions = insert_file_tables(
        table, _springs(model, placement), _torsions(model, placement), loads
    )
    return all_interactions, (*loading, *sprung, *names), of_a


def _check_assembled(
    model: ModelData, placement: Placement, system: System, state: State, interaction_names: tuple[str, ...]
) -> None:
    """Raise ModelError if a constraint is violated at t = 0."""
    g = np.abs(constraint_residual(system, state))
    if not len(g) or g.max() <= ASSEMBLED * max(placement.size, 1.0):
        return
    worst, interaction_name = most_violated(system, g, interaction_names)
    if worst >= len(system.constraints.kind):
        about = [PartName("gear", name) for name in model.gears if interaction_name == f"gear '{name}'"]
        raise ModelError(
            f"{interaction_name}: |g| = {g.max():.3g} at t = 0; place its parts so that they fit it", about
        )
    what, name = owner_of_rows(model.constraint_names, placement.frames_of_rods(), system, worst)
    about = [PartName(what, name)]
    if what == "rod":
        raise ModelError(
            f"rod '{name}': does not stretch, but its drawn elements are not as long as the stress-free ones "
            f"(|g| = {g.max():.3g}); leave stress_free out, or draw elements of these lengths",
            about,
        )
    if what != "joint":
        raise ModelError(
            f"{what} '{name}': |g| = {g.max():.3g} at t = 0; place its joints so that they fit it", about
        )
    entry = model.joints[name]
    raise ModelError(
        f"{entry.kind} joint '{name}': |g| = {g.max():.3g} at t = 0; move {entry.b} or give `at=`", about
    )


def _layout(model: ModelData, placement: Placement, system: System, joints: list[JointLayout]) -> Layout:
    """Return the layout of the state arrays: frames, elements and multipliers of each part, sizes and descriptions."""
    rods, first_element, first_point = [], 0, system.rods.first
    for rod in model.rods.values():
        mesh, first = placement.meshes[rod.name], placement.first[rod.name]
        # strains are evaluated in two-frame elements, numbered first, and at the Gauss points of spans
        numbers = first_element + np.arange(len(mesh.elements.length))
        if len(mesh.spans.weight):
            numbers = first_point + np.arange(len(mesh.spans.weight))
        rods.append(
            RodLayout(
                name=rod.name,
                frames=first + np.arange(len(mesh.mass)),
                elements=numbers,
                arclength=mesh.arclength,
                radius=mesh.radius,
                closed=rod.closed,
                sides=mesh.sides,
            )
        )
        first_element += len(mesh.elements.length)
        first_point += len(mesh.spans.weight)
    bodies = _body_layouts(model, placement)
    sizes = sizes_of(system)
    return Layout(
        name=model.name,
        rods=rods,
        bodies=bodies,
        joints=joints,
        description=description(model, system),
        n_frames=sizes.frames,
        n_elements=system.rods.n_points,
        n_multipliers=sizes.multipliers,
        n_torsions=sizes.internal.angle,
        n_branch=sizes.internal.branch,
        n_settled=sizes.internal.settled,
        n_bristles=sizes.internal.bristle,
        n_sampled=sizes.internal.sampled,
        system=system,
        grounded=_is_supported(system),
        drives=[*model.drives, *model.driven],
    )


def _body_layouts(model: ModelData, placement: Placement) -> list[BodyLayout]:
    """Return the layouts of the bodies; bodies of one shape share its arrays."""
    first: dict[int, BodyLayout] = {}
    layouts = []
    for name, body in model.bodies.items():
        properties, frame = body.properties, placement.body_frame[name]
        if id(properties) not in first:
            first[id(properties)] = BodyLayout(
                name, frame, -properties.center, properties.vertices - properties.center, properties.faces
            )
        layouts.append(first[id(properties)].alike(name, frame))
    return layouts


@memoized(per_structure)
def _is_supported(system: System) -> bool:
    """Return True if something outside holds the model: the ground, a prescribed motion, the air, a pressure."""
    fixed, multiplier_frames = system.frames.fixed != 0, multipliers_of(system).frames
    if fixed[multiplier_frames[multiplier_frames >= 0]].any():
        return True
    if fixed[contact_frames(system.contacts)].any():
        return True
    acting = [group for group in groups_of(system) if not is_load(group)]
    holds = any(fixed[group.group.frames].any() or group.role is Role.WORK for group in acting)
    return bool(holds or len(externally_supported_frames(acting)))
