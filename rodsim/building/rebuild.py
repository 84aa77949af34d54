"""Rebuild a model with other numbers and reuse what does not depend on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from discretization.memoization import cache_by_tables, copied, with_gravity
from discretization.system import PartialFingerprint, begin_fingerprint, fingerprint
from rodsim.building.build import Built, build
from rodsim.building.discontinuity_times import discontinuities_of_model
from rodsim.building.load_arrays import entry_inputs, line_loads, load_directions, load_values
from rodsim.building.placement import Placement
from rodsim.building.point_masses import check_spins
from rodsim.components.model_data import ModelData
from rodsim.components.model_description import describe_components
from rodsim.components.model_parts import Rod
from rodsim.components.parameter_changes import GRAVITY, OF_BODIES


class ReusableBuild(NamedTuple):
    """Hold a built model, for bit-identical reuse, and the placement of its frames."""

    built: Built
    placement: Placement
    fingerprint: PartialFingerprint
    rods: dict[str, Rod]  # rods from which the meshes were made


def build_for_reuse(model: ModelData) -> ReusableBuild:
    """Build a model that will be built again with other numbers."""
    built: Built = model.build()  # type: ignore[attr-defined]
    cache_by_tables(built.system)
    return ReusableBuild(built, Placement(model), begin_fingerprint(built.system), model.rods)


def rebuild(reusable: ReusableBuild, model: ModelData, changed: Iterable[str]) -> Built:
    """Return the same arrays as `build(model)`, bit-identical, for a model whose numbers at the paths `changed` differ.

    New loads, gravity and velocities of bodies are put into the existing arrays. Any other change builds the model again with
    the existing meshes of rods that have not changed. A model with contacts is always built again, since its warnings depend on
    all numbers, and so is one with controllers, events or joint forces.
    """
    paths = list(changed)
    if (
        model.contacts
        or model.controllers
        or model.events
        or model.joint_forces
        or not all(_is_read_late(path) for path in paths)
    ):
        meshes = reusable.placement.meshes.items()
        return build(model, {name: mesh for name, mesh in meshes if model.rods[name] is reusable.rods[name]})
    built, placement, fingerprint_begun, _ = reusable
    moving = [path for path in paths if path.endswith(OF_BODIES[:2])]
    if moving:
        placement = Placement(model, placement.meshes)
        check_spins(model)
    system = built.system  # shared: code that changes its arrays in place, such as statics, copies them first
    state = copied(built.state)._replace(v=placement.v.copy(), Omega=placement.Omega.copy())
    layout = built.layout.copied()
    if GRAVITY in paths:
        system = with_gravity(system, model.gravity.copy())
        layout.description["fingerprint"] = fingerprint(system, fingerprint_begun)
        layout.description["gravity"] = model.gravity.tolist()
    layout.description |= describe_components(model, ("loads", "line_loads"))
    layout.system, layout.constraints, layout.gravity = system, system.constraints, system.gravity
    lines = line_loads(model, placement, ())
    return built._replace(
        system=system,
        state=state,
        layout=layout,
        load_values=load_values(model, lines, entry_inputs(model, placement)),
        load_directions=load_directions(model, lines),
        prescribed_velocities=copied(placement.prescribed_velocities),
        corners=discontinuities_of_model(model),
    )


def _is_read_late(path: str) -> bool:
    """Return True if the number at this path can be changed without building the model again."""
    key, _, field = path.partition(".")
    late = key in (GRAVITY, "loads", "distributed_loads")
    return late or (key == "bodies" and field.endswith(OF_BODIES[:2]))
