"""Convert a result to a Dataset of xarray, with dimensions, units and meaning of each array.

The dimensions are t; xyz, the inertial axes; wxyz, the components of unit quaternions; axis, the axes 1 to 3 of a section
(d1, d2, d3) or of a body; and body, joint and drive, by name. A rod called cord has its nodes at `cord.s` and its elements at
`cord.s_element`, both stress-free arc lengths in m.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rodsim
from discretization.drives import WORK
from rigid.system import Floats
from rodsim.extras import extra
from rodsim.results import native_format
from rodsim.results.array_sources import Source
from rodsim.results.audit_columns import ALGORITHMIC, COLUMNS, ENERGIES
from rodsim.results.contact_history import ContactHistory, contact_names
from rodsim.results.errors import ResultError, UnknownName
from rodsim.results.event_history import UNITS as EVENT_UNITS
from rodsim.results.event_history import EventHistory
from rodsim.results.gear_history import GearHistory, history_of
from rodsim.results.histories import BodyHistory, RodHistory
from rodsim.results.joint_history import JointHistory
from rodsim.results.sensor_history import ControllerHistory, SensorHistory

XYZ, WXYZ, AXES = ("x", "y", "z"), ("w", "x", "y", "z"), (1, 2, 3)


class Variable(NamedTuple):
    """Array of the dataset, with its dimensions, units and meaning."""

    name: str
    dims: tuple[str, ...]
    values: NDArray[Any]
    units: str
    meaning: str


# field of a history: its last dimension (after time and node, element or name), units, meaning
_NODE_VARIABLES = {
    "r": ("xyz", "m", "position"),
    "quat": ("wxyz", "1", "unit quaternion, section to inertial axes"),
    "v": ("xyz", "m/s", "velocity, inertial axes"),
    "Omega": ("axis", "rad/s", "angular velocity, section axes"),
    "omega": ("xyz", "rad/s", "angular velocity, inertial axes"),
}
_ELEMENT_VARIABLES = {
    "Gamma": ("axis", "1", "stretch and shear, section axes"),
    "K": ("axis", "1/m", "twist and bending, section axes"),
    "N": ("axis", "N", "normal and shear forces, section axes"),
    "M": ("axis", "N m", "torque and bending moments, section axes"),
}
_BODY_VARIABLES = {
    "r": ("xyz", "m", "position of the reference point"),
    "center_of_mass": ("xyz", "m", "position of the centre of mass"),
    "quat": ("wxyz", "1", "unit quaternion, body to inertial axes"),
    "v": ("xyz", "m/s", "velocity of the reference point, inertial axes"),
    "Omega": ("axis", "rad/s", "angular velocity, body axes"),
    "omega": ("xyz", "rad/s", "angular velocity, inertial axes"),
}
_JOINT_VARIABLES = {
    "force": ("xyz", "N", "force on the second part, inertial axes"),
    "moment": ("xyz", "N m", "moment on the second part about the joint's point on it, inertial axes"),
}
_COLUMNS = {
    **{name: (f"energy_{name}", "J", f"{name} energy") for name in ENERGIES},
    "work": ("work", "J", "work of loads and drives since t = 0"),
    "dissipation": ("dissipation", "J", "energy lost in dampers and viscous rods since t = 0"),
    "constraint": ("constraint_residual", "1", "largest |g| of all joints"),
    "velocity_constraint": ("velocity_residual", "1", "largest |G v| of all joints"),
    "quat_norm": ("quat_norm_error", "1", "largest ||q| - 1| of all frames"),
    "newton_mean": ("newton_iterations", "1", "Newton iterations a solve, mean since the previous output"),
    "newton_max": ("newton_iterations_max", "1", "the same, largest"),
    "halvings": ("halvings", "1", "step halvings since the previous output"),
}


def dataset(source: Source, parts: Collection[str] | None, momenta: tuple[Floats, Floats]) -> Any:
    """Return the Dataset.

    `parts`: names of the rods, bodies, joints, contacts, sensors, controllers and events to include; None: all. `momenta`:
    linear and angular momentum, (T, 3) each, from the result: an integrator in a chart conserves other momenta than those of the
    audit table, which are computed from velocities. Raise UnknownName if a part does not exist.
    """
    xr = extra("xarray", "notebook", "to_xarray")
    layout = source.layout
    known = {part.name for things in (layout.rods, layout.bodies, layout.joints) for part in things}
    known |= {
        *contact_names(source),
        *layout.description.get("sensors", ()),
        *layout.description.get("controllers", ()),
        *layout.description.get("events", ()),
    }
    unknown = sorted(set(parts or ()) - known)
    if unknown:
        names = ", ".join(sorted(known)) or "nothing"
        raise UnknownName(f"to_xarray: there is no '{unknown[0]}' in the result; it has {names}")
    with source.keep_open():
        variables = list(_variables(source, known if parts is None else set(parts), momenta))
        coordinates = list(_coordinates(source))
    used = {dim for variable in variables for dim in variable.dims}
    index = {"xyz": XYZ, "wxyz": WXYZ, "axis": AXES, "drive": layout.drives}
    coords: dict[str, Any] = {dim: (dim, np.array(index[dim])) for dim in index if dim in used}
    coords |= {x.name: _to_xarray(x) for x in variables if x.name in used}  # nodes, elements, names
    arrays = {x.name: _to_xarray(x) for x in variables if x.name not in used}
    return xr.Dataset(arrays, coords | {x.name: _to_xarray(x) for x in coordinates}, _attributes(source))


def _to_xarray(x: Variable) -> tuple[tuple[str, ...], NDArray[Any], dict[str, str]]:
    """Return a variable in the form that xarray accepts: dimensions, values, attributes."""
    return (
        x.dims,
        x.values,
        {"units": x.units, "long_name": x.meaning} if x.units else {"long_name": x.meaning},
    )


def _coordinates(source: Source) -> Iterator[Variable]:
    """Yield the coordinates along t: time (or load factor, or length of the path) and number of steps."""
    t, statics = source.read(native_format.TIME), source.layout.description.get("statics")
    if statics is None:
        yield Variable("t", ("t",), t, "s", "time")
    else:
        along = "load factor" if statics["method"] == "newton" else "length of the path of equilibria"
        yield Variable("t", ("t",), t, "1", along)
        yield Variable("load_factor", ("t",), np.array(statics["load_factor"]), "1", "load factor")
    yield Variable("step", ("t",), source.read(native_format.STEP), "1", "number of steps since t = 0")


def _variables(source: Source, parts: Collection[str], momenta: tuple[Floats, Floats]) -> Iterator[Variable]:
    """Yield the variables of the whole model, and of the parts with these names."""
    yield from _model_variables(source, momenta)
    for rod in source.layout.rods:
        if rod.name in parts:
            yield from _rod(RodHistory(source, rod))
    bodies = [BodyHistory(source, body) for body in source.layout.bodies if body.name in parts]
    if bodies:
        yield _names("body", bodies)
        yield from _stacked("body", _BODY_VARIABLES, bodies)
    every = [history_of(source, joint) for joint in source.layout.joints if joint.name in parts]
    joints = [joint for joint in every if not isinstance(joint, GearHistory)]
    if joints:
        yield _names("joint", joints)
        determined = np.array([joint.determined for joint in joints])
        yield Variable(
            "joint_determined", ("joint",), determined, "", "whether the equations determine its force"
        )
        with contextlib.suppress(ResultError):  # older files have no forces of joints
            yield from _stacked("joint", _JOINT_VARIABLES, joints)
            for joint in joints:
                yield from _joint(joint)
    for name in contact_names(source):
        if name in parts:
            yield from _contact(ContactHistory(source, name))
    for gear in every:
        if isinstance(gear, GearHistory):
            yield from _gear(gear)
    yield from _signals(source, parts)


def _model_variables(source: Source, momenta: tuple[Floats, Floats]) -> Iterator[Variable]:
    """Yield the variables of the whole model: audit table, momenta, work of drives, monitors."""
    table = source.read(native_format.AUDIT)
    for column, (name, units, meaning) in _COLUMNS.items():
        yield Variable(name, ("t",), table[:, COLUMNS.index(column)], units, meaning)
    linear, angular = momenta
    yield Variable("linear_momentum", ("t", "xyz"), linear, "kg m/s", "linear momentum")
    yield Variable("angular_momentum", ("t", "xyz"), angular, "kg m^2/s", "angular momentum about the origin")
    if source.layout.n_memory:
        dissipated = source.read(ALGORITHMIC).sum(axis=1)
        yield Variable(ALGORITHMIC, ("t",), dissipated, "J", "energy taken out by the integrator since t = 0")
    if source.layout.drives:
        work = source.layout.internal.part(source.read("own"), "drive")[..., WORK]
        yield Variable("drive_work", ("t", "drive"), work, "J", "work of the drive since t = 0")
    statics: Mapping[str, Any] = source.layout.description.get("statics", {})
    for name, values in statics.get("monitors", {}).items():
        yield Variable(
            f"{_netcdf_name(name)}.monitor", ("t",), np.array(values), "m", "displacement, a monitor"
        )


def _rod(rod: RodHistory) -> Iterator[Variable]:
    """Yield the variables of a rod at its nodes and elements."""
    name, s = _netcdf_name(rod.name), rod.arclength
    nodes, elements = f"{name}.s", f"{name}.s_element"
    yield Variable(nodes, (nodes,), s, "m", f"arc length of rod '{rod.name}' without stress")
    for field, (dim, units, meaning) in _NODE_VARIABLES.items():
        yield Variable(f"{name}.{field}", ("t", nodes, dim), getattr(rod, field), units, meaning)
    words = f"where strains of rod '{rod.name}' are known: middles of its elements, of order p Gauss points"
    yield Variable(elements, (elements,), rod.s_element, "m", words)
    for field, (dim, units, meaning) in _ELEMENT_VARIABLES.items():
        yield Variable(f"{name}.{field}", ("t", elements, dim), getattr(rod, field), units, meaning)


def _joint(joint: JointHistory) -> Iterator[Variable]:
    """Yield the coordinates of a joint and their rates; by kind of joint an angle, a displacement, or several of them."""
    for name, values in joint.table().items():
        if not name.startswith(("force_", "moment_")):
            unit = "m" if name.startswith("displacement") else "rad"
            units, meaning = f"{unit}/s" if "_rate" in name else unit, name.replace("_", " ")
            meaning = f"{meaning} of {joint.kind} joint '{joint.name}'"
            yield Variable(f"{_netcdf_name(joint.name)}.{name}", ("t",), values, units, meaning)


def _gear(gear: GearHistory) -> Iterator[Variable]:
    """Yield the force or torque of a gear on each of the joints that it couples."""
    for name, values in gear.table().items():
        units = "N m" if name.startswith("torque") else "N"
        meaning = f"{name.replace('_', ' ', 2)}, of gear '{gear.name}'"
        yield Variable(_netcdf_name(f"{gear.name}.{name}"), ("t",), values, units, meaning)


def _contact(contact: ContactHistory) -> Iterator[Variable]:
    """Yield gap, forces and energy of a contact, and the variables of friction if it has friction."""
    units = {"gap": "m", "energy": "J", "touching": "1", "sliding": "1", "slip_rate": "m/s"}
    for name, values in contact.table().items():
        meaning = f"{name.replace('_', ' ')} of contact '{contact.name}'"
        yield Variable(_netcdf_name(f"{contact.name}.{name}"), ("t",), values, units.get(name, "N"), meaning)


def _signals(source: Source, parts: Collection[str]) -> Iterator[Variable]:
    """Yield the columns of sensors and events, and the outputs of controllers."""
    for name in source.layout.description.get("sensors", ()):
        sensor = SensorHistory(source, name)
        for column, values in sensor.table().items() if name in parts else ():
            meaning = f"{column.replace('_', ' ')} of sensor '{name}'"
            yield Variable(
                _netcdf_name(f"{name}.{column}"), ("t",), values, sensor.units[column] or "1", meaning
            )
    for name in source.layout.description.get("controllers", ()):
        for output, values in ControllerHistory(source, name).table().items() if name in parts else ():
            meaning = f"output '{output}' of controller '{name}'"
            yield Variable(_netcdf_name(f"{name}.{output}"), ("t",), values, "1", meaning)
    for name in source.layout.description.get("events", ()):
        for column, values in EventHistory(source, name).table().items() if name in parts else ():
            meaning = f"{column} of event '{name}'"
            yield Variable(
                _netcdf_name(f"{name}.{column}"), ("t",), values, EVENT_UNITS[column] or "1", meaning
            )


def _names(dim: str, histories: list[Any]) -> Variable:
    return Variable(dim, (dim,), np.array([history.name for history in histories]), "", f"name of the {dim}")


def _stacked(
    dim: str, fields: Mapping[str, tuple[str, str, str]], histories: list[Any]
) -> Iterator[Variable]:
    """Yield these fields of several histories, stacked along the dimension `dim`."""
    for field, (last, units, meaning) in fields.items():
        values = np.stack([getattr(history, field) for history in histories], axis=1)
        yield Variable(f"{dim}_{field}", ("t", dim, last), values, units, meaning)


def _netcdf_name(name: str) -> str:
    """Return a name that netCDF accepts."""
    return name.replace("/", "|")


def _attributes(source: Source) -> dict[str, Any]:
    """Return the attributes of the dataset: its provenance and the description of the run."""
    description = source.layout.description
    return {
        "title": source.layout.name,
        "source": f"rodsim {rodsim.__version__}",
        "file": "" if source.path is None else str(source.path),
        "fingerprint": str(description.get("fingerprint", "")),
        "run": json.dumps(description.get("run", {})),
        "description": json.dumps(description),
    }
