"""Read and write the `rodsim` group of a result file: layout, bit-identical states, strains, stresses, audit table."""

from __future__ import annotations

import functools
import io
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discretization.contact.table import Contacts
from discretization.controls import Controls
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import InteractionTable, from_files, table_of, variable_counts
from discretization.legacy_gears import gears_from_rows
from discretization.space.elements import Elements
from discretization.space.spans import Spans, no_spans
from discretization.state_shapes import StateSizes
from discretization.system import from_files as system_from_files
from discretization.system import in_files
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.constraints import from_files as constraints_from_files
from rigid.system import Constraints, Frames, Ints, Loads, Springs, TorsionSprings
from rodsim.results import file_checksums, legacy_files, stored_states
from rodsim.results.audit_columns import COLUMNS
from rodsim.results.errors import ResultError
from rodsim.results.file_validation import check_constraints, check_description, check_tables
from rodsim.results.hdf5_arrays import read_array
from rodsim.results.layout import BodyLayout, JointLayout, Layout, LegacyTables, RodLayout
from rodsim.results.storage import LIBVER, Series

if TYPE_CHECKING:
    import h5py

ROOT = "rodsim"
FORMAT = 3  # increased when an older reader would misread the file; formats 1 and 2 are read too: `rodsim.results.legacy_files`
TIME, STEP, AUDIT, INTERNAL = "time", "step", "audit", "own"
LAM_AFTER, LAM_START = "lam_after", "lam_start"  # see `rodsim.results.output_multipliers`
USER_KINDS = "own_kinds"  # names of user-defined kinds, see `rigid.interactions.kind_registry`
USER_ROWS = "own_rows"  # number of rows of the user-defined constraints
USER_VARIABLES = (
    "own_variables"  # numbers of counted and of settled variables of the other user-defined kinds
)
TABLES = {
    "frames": Frames,
    "elements": Elements,
    "constraints": Constraints,
    "springs": Springs,
    "torsions": TorsionSprings,
    "loads": Loads,
    "spans": Spans,
    "others": InteractionTable,
    "contacts": Contacts,
    "controls": Controls,
}  # tables of `discretization.system.in_files`, which also has gravity


def series(layout: Layout) -> list[Series]:
    """Return the series of a result file: the datasets that grow with each output."""
    return list(_series(layout.sizes, layout.older, layout.n_elements, layout.n_after))


def series_in_memory(layout: Layout) -> tuple[Mapping[str, Series], int]:
    """Return the series by the names that they have in memory, and the number of bytes of one output."""
    items = series(layout)
    return {item.name: item for item in items}, sum(item.nbytes for item in items)


@functools.lru_cache(maxsize=64)
def _series(sizes: StateSizes, older: LegacyTables, m: int, n_after: int) -> list[Series]:
    """Return the series of the arrays of a state, of m elements, and of n_after multipliers of the step after an output."""
    return [
        *(
            Series(f"{ROOT}/{name}", shape, np.float64)
            for name, shape in stored_states.array_shapes(sizes, older).items()
        ),
        *([Series(f"{ROOT}/{LAM_AFTER}", (n_after,), np.float64)] if n_after else []),
        Series(f"{ROOT}/strains", (m, 6), np.float64),
        Series(f"{ROOT}/stresses", (m, 6), np.float64),
        Series(f"{ROOT}/{AUDIT}", (len(COLUMNS),), np.float64),
        Series(f"{ROOT}/{TIME}", (), np.float64),
        Series(f"{ROOT}/{STEP}", (), np.int64),
    ]


def head(layout: Layout) -> bytes:
    """Return an HDF5 image of all data that do not grow with the outputs."""
    import h5py

    with h5py.File("head", "w", driver="core", backing_store=False, libver=LIBVER) as file:
        _create(file, layout)
        file.flush()
        return bytes(file.id.get_file_image())


def open_image(image: bytes) -> h5py.File:
    """Open an image of `head` for reading."""
    import h5py

    return h5py.File(io.BytesIO(image), "r")


def _create(file: h5py.File, layout: Layout) -> None:
    """Write all data that do not grow with the outputs."""
    root = file.require_group(ROOT)
    root.attrs["format"] = FORMAT
    root.attrs["audit_columns"] = ",".join(COLUMNS)
    legacy_files.mark_interpolation(root)
    # a dataset, not an attribute: attributes are limited to 64 kB
    root["description"] = description_text(layout)
    group = root.create_group("layout")
    group.attrs["name"] = layout.name
    for name in ("n_frames", "n_elements", "n_multipliers", "n_torsions", "n_chart", "n_branch", "n_memory"):
        group.attrs[name] = getattr(layout, name)
    some = "n_points", "n_settled", "n_bristles", "n_control", "n_history", "n_after", "n_sampled"
    for name in some:  # written only if they are not 0
        if getattr(layout, name):
            group.attrs[name] = getattr(layout, name)
    legacy_files.write_predictor_count(layout.older, group.attrs)
    if layout.lam_start is not None:
        group[LAM_START] = layout.lam_start
    if layout.gravity is not None:
        group.attrs["gravity"] = layout.gravity
    if layout.grounded is not None:
        group.attrs["grounded"] = bool(layout.grounded)
    rods, bodies, joints = (group.create_group(name) for name in ("rods", "bodies", "joints"))
    _names(rods, [rod.name for rod in layout.rods])
    rods["closed"] = np.array([rod.closed for rod in layout.rods], dtype=np.int8)
    for field in ("frames", "elements", "arclength", "radius"):
        _write_ragged(rods, field, [getattr(rod, field) for rod in layout.rods])
    _write_ragged(rods, "sides", [rod.sides for rod in layout.rods])
    _names(bodies, [body.name for body in layout.bodies])
    bodies["frame"] = np.array([body.frame for body in layout.bodies], dtype=np.int64)
    bodies["reference"] = np.array([body.reference for body in layout.bodies]).reshape(-1, 3)
    _write_ragged(bodies, "vertices", [body.vertices for body in layout.bodies])
    _write_ragged(bodies, "faces", [body.faces.astype(np.int32) for body in layout.bodies])
    _names(joints, [joint.name for joint in layout.joints])
    _names(joints, [joint.kind for joint in layout.joints], "kinds")
    joints["rows"] = np.array([joint.rows for joint in layout.joints], dtype=np.int64).reshape(-1, 2)
    if all(joint.frames is not None for joint in layout.joints):
        joints["frames"] = np.array([joint.frames for joint in layout.joints], dtype=np.int64).reshape(-1, 2)
        joints["points"] = np.array([joint.points for joint in layout.joints]).reshape(-1, 2, 3)
        joints["axes"] = np.array([joint.axes for joint in layout.joints]).reshape(-1, 2, 3, 3)
    if layout.drives:
        _names(group, layout.drives, "drives")
    if layout.system is not None:
        system = group.create_group("system")
        tables = in_files(layout.system)
        for name in filter(tables.__contains__, TABLES):
            _write_table(system, name, tables[name])
        if names := INTERACTIONS.names_of(layout.system.others.kind):
            _names(system["others"], names, USER_KINDS)
            system["others"][USER_VARIABLES] = variable_counts(names)
        if names := CONSTRAINTS.names_of(layout.system.constraints.kind):
            _names(system["constraints"], names, USER_KINDS)
            system["constraints"][USER_ROWS] = [kind.rows for kind in CONSTRAINTS if kind.name in names]
        system["gravity"] = layout.system.gravity
    elif layout.constraints is not None:
        _write_table(group, "constraints", layout.constraints)


def read_layout(file: h5py.File) -> Layout:
    """Return the layout that was passed to `head`, bit-identical."""
    root = file[ROOT]
    group = root["layout"]
    rods, bodies, joints = group["rods"], group["bodies"], group["joints"]
    rod_fields = [_read_ragged(rods, field) for field in ("frames", "elements", "arclength", "radius")]
    body_fields = [_read_ragged(bodies, field) for field in ("vertices", "faces")]
    # files of versions that did not draw rectangular sections have no sides
    sides = (
        _read_ragged(rods, "sides") if "sides_start" in rods else [np.zeros((0, 2)) for _ in rod_fields[0]]
    )
    system = None
    if "system" in group:  # files of older versions have only the constraints
        stored = group["system"]
        # files of versions without spans or generic interactions have no such tables
        tables = {name: _read_table(stored, name, kind) for name, kind in TABLES.items() if name in stored}
        tables.setdefault("spans", no_spans())
        tables.setdefault("others", table_of())
        if USER_KINDS in stored.get("others", ()):
            names = _read(stored["others"], USER_KINDS)
            # older files do not store these numbers
            counts = stored["others"].get(USER_VARIABLES, np.zeros((len(names), 2)))
            tables["others"] = _renumber_user_kinds(tables["others"], names, counts[...])
        if len(shares := stored["constraints"].get("shares", ())):  # older files have gears there
            both = gears_from_rows(tables["constraints"], shares[...], tables["others"])
            tables |= dict(zip(("constraints", "others"), both, strict=True))
        if USER_KINDS in stored["constraints"]:
            names, rows = _read(stored["constraints"], USER_KINDS), stored["constraints"][USER_ROWS][...]
            tables["constraints"] = constraints_from_files(tables["constraints"], names, rows)
        tables["gravity"] = stored["gravity"][...]
        check_tables(tables)
        system = system_from_files(tables)
    constraints = _read_table(group, "constraints", Constraints) if "constraints" in group else None
    if constraints is not None:
        check_constraints("constraints", constraints, int(group.attrs["n_frames"]))
    return Layout(
        name=str(group.attrs["name"]),
        rods=[
            RodLayout(name, frames, elements, arclength, radius, bool(closed), width_height)
            for name, closed, frames, elements, arclength, radius, width_height in zip(
                _read(rods), rods["closed"][...], *rod_fields, sides, strict=True
            )
        ],
        bodies=[
            BodyLayout(name, int(frame), reference, vertices, faces)
            for name, frame, reference, vertices, faces in zip(
                _read(bodies), bodies["frame"][...], bodies["reference"][...], *body_fields, strict=True
            )
        ],
        joints=[
            JointLayout(name, kind, (int(rows[0]), int(rows[1])), *marker)
            for name, kind, rows, marker in zip(
                _read(joints), _read(joints, "kinds"), joints["rows"][...], _markers(joints), strict=True
            )
        ],
        description=_description(root),
        n_frames=int(group.attrs["n_frames"]),
        n_elements=int(group.attrs["n_elements"]),
        n_multipliers=int(group.attrs["n_multipliers"]),
        n_torsions=int(group.attrs["n_torsions"]),
        n_chart=int(group.attrs.get("n_chart", 0)),
        n_branch=int(group.attrs.get("n_branch", 0)),
        n_settled=int(group.attrs.get("n_settled", 0)),
        n_memory=int(group.attrs.get("n_memory", 0)),
        n_points=int(group.attrs.get("n_points", 0)),
        n_control=int(group.attrs.get("n_control", 0)),
        n_history=int(group.attrs.get("n_history", 0)),
        older=legacy_files.predictor_arrays(group.attrs),
        n_after=int(group.attrs.get("n_after", 0)),
        lam_start=read_array(group, LAM_START) if LAM_START in group else None,
        n_bristles=int(group.attrs.get("n_bristles", 0)),
        n_sampled=int(group.attrs.get("n_sampled", 0)),
        drives=_read(group, "drives") if "drives" in group else [],
        system=system,
        constraints=constraints,
        gravity=group.attrs.get("gravity"),
        grounded=bool(group.attrs["grounded"]) if "grounded" in group.attrs else None,
    )


def _renumber_user_kinds(
    interactions: InteractionTable, names: list[str], variables: Ints
) -> InteractionTable:
    """Return the interactions with user-defined kinds renumbered as they are registered in this process.

    `names`: names of these kinds. `variables`: (k, 2) numbers of counted and of settled variables.
    """
    from rigid.interactions.kinds import Kind
    from rodsim.interactions import state_equations, text_energies

    def from_name(name: str) -> Kind | None:
        return text_energies.from_name(name) or state_equations.from_name(name)

    return from_files(interactions, names, variables, from_name)


def _description(root: h5py.Group) -> dict[str, Any]:
    """Return the stored description; raise ValueError if its checksum or its structure is wrong."""
    text = root["description"].asstr()[()]
    if not file_checksums.is_description_intact(root, text):
        raise ValueError("its description is not the one that was written")
    description = json.loads(text)
    check_description(description)
    return dict(description)


def _markers(joints: h5py.Group) -> list[tuple[Any, ...]]:
    """Return frames, points and axes of each joint; empty tuples for files of versions that did not store them."""
    if "frames" not in joints:
        return [()] * len(joints["rows"])
    columns = (joints[name][...] for name in ("frames", "points", "axes"))
    return list(zip(*columns, strict=True))


def read_rows(file: h5py.File, name: str, outputs: Any) -> NDArray[Any]:
    """Return some outputs of the series `name`; `outputs`: an int, a slice, or an array of output numbers."""
    if name == INTERNAL and legacy_files.is_legacy(file[ROOT]):
        return legacy_files.read_internal_variables(file[ROOT], outputs)
    dataset = file[f"{ROOT}/{name}"]
    if 0 in dataset.shape[1:]:  # HDF5 cannot select by numbers in an empty dataset
        return np.zeros(dataset.shape, dataset.dtype)[outputs]
    return np.asarray(dataset[outputs])


def count(file: h5py.File) -> int:
    """Return the number of outputs in the file."""
    return int(file["VTKHDF/Steps"].attrs["NSteps"])


def description_text(layout: Layout) -> str:
    """Return the model description as JSON; raise TypeError if it is not plain JSON data."""
    try:
        return json.dumps(layout.description)
    except TypeError as error:
        raise TypeError(f"model '{layout.name}': its description is not plain JSON data: {error}") from None


def check_file(file: h5py.File, path: Path) -> h5py.Group:
    """Return the `rodsim` group; raise ResultError if the file is not a result or has an unknown format."""
    root = file.get(ROOT)
    if root is None or "format" not in root.attrs:
        raise ResultError(
            f"'{path}' is an HDF5 file, but not a rodsim result: it has no group '{ROOT}'; give another file"
        )
    if root.attrs["format"] not in (1, 2, FORMAT):
        raise ResultError(
            f"'{path}' has format {root.attrs['format']}, this rodsim reads {FORMAT}; update rodsim"
        )
    return root


def _write_table(parent: h5py.Group, name: str, table: Any) -> None:
    """Write a named tuple of arrays as a group with one dataset for each field."""
    group = parent.create_group(name)
    for field, values in table._asdict().items():
        group[field] = values


def _read_table(parent: h5py.Group, name: str, kind: Any) -> Any:
    """Return a table written by `_write_table` as a named tuple of type `kind`."""
    # columns that older versions did not have take their default values
    group = parent[name]
    present = set(group)
    fields = [field for field in kind._fields if field in present or field not in kind._field_defaults]
    return kind(**{field: read_array(group, field) for field in fields})


def check_series(file: h5py.File, layout: Layout, n_outputs: int) -> None:
    """Raise ValueError if the series of the file have no room for `n_outputs` outputs, or shapes or types not of `layout`."""
    capacity = int(file[ROOT].attrs.get("capacity", n_outputs))  # earlier formats have room for more outputs
    if not 0 <= n_outputs <= capacity:
        raise ValueError(f"it says to hold {n_outputs} outputs in room for {capacity}")
    items = series(layout)
    if legacy_files.is_legacy(file[ROOT]):
        items = [item for item in items if item.path != f"{ROOT}/{INTERNAL}"]
        items += legacy_files.internal_series(ROOT, layout)
    for item in items:
        dataset = file[item.path]
        if dataset.shape != (capacity, *item.shape) or dataset.dtype != item.dtype:
            raise ValueError(
                f"'{item.path}' has the shape {dataset.shape}, not {(capacity, *item.shape)} of {np.dtype(item.dtype)}"
            )


def _names(group: h5py.Group, names: Sequence[str], field: str = "names") -> None:
    """Write strings as a dataset."""
    import h5py

    group.create_dataset(field, data=np.array(names, dtype=object), dtype=h5py.string_dtype())


def _read(group: h5py.Group, field: str = "names") -> list[str]:
    """Return the strings written by `_names`."""
    return [str(name) for name in group[field].asstr()[...]]


def _write_ragged(group: h5py.Group, field: str, arrays: Sequence[NDArray[Any]]) -> None:
    """Write arrays of different lengths as one dataset and a dataset of the offsets at which they begin."""
    # one dataset for all objects: a thousand bodies would need three thousand datasets
    if arrays:
        group[field] = np.concatenate(arrays)
    group[f"{field}_start"] = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int64)


def _read_ragged(group: h5py.Group, field: str) -> list[NDArray[Any]]:
    """Return the arrays written by `_write_ragged`."""
    start = read_array(group, f"{field}_start")
    if len(start) == 1:
        return []
    values = read_array(group, field)
    return [values[a:b] for a, b in itertools.pairwise(start)]
