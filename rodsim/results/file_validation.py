"""Validate the tables and the description of a model that are read from a file.

The check is needed because kernels do not check their indices, and keys and names of the description are used as they are.
Floating-point values are not restricted, except masses and lengths, which must be finite and not negative. Whether the values
are those of the run is checked by checksums (`rodsim.results.file_checksums`) and by the audit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discretization.contact.table import BOTH, KINDS, LAW, LOSS, Contacts
from discretization.controls import NUMBERS, Controls
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import FRAMES, InteractionTable
from discretization.space.interpolation import MOST
from discretization.space.laws import EXPRESSIONS, LAWS
from discretization.space.laws.expressions import law_of
from discretization.space.rod_elements import BY_NUMBER
from discretization.space.spans import Spans
from rigid.checks import LARGEST
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.kinds import MAX_FRAMES
from rigid.system import FORCE, MOMENT, Constraints

_INTEGER_KINDS = "iu"  # kinds of the dtypes of indices, counts and flags
_MOST_NUMBERS = 1_000_000  # largest count of numbers of a controller
SMALLEST = 1e-300  # m, smallest length of an element
# shape of a row and kind of the dtype, by name of the column; a column not listed has one floating-point number per row
_SHAPES: dict[str, tuple[tuple[int, ...], str]] = {
    "inertia": ((3, 3), "f"),
    "fixed": ((), _INTEGER_KINDS),
    "frames": ((2,), _INTEGER_KINDS),
    "kind": ((), _INTEGER_KINDS),
    "joint": ((), _INTEGER_KINDS),
    "repeats": ((), _INTEGER_KINDS),
    "frame": ((), _INTEGER_KINDS),
    "following": ((), _INTEGER_KINDS),
    **dict.fromkeys(("Xa", "Xb", "Ua", "Ub", "Wa", "Wb", "X"), ((3,), "f")),
}
# shape of a row and kind of the dtype of the columns of rod elements
_ROD_SHAPES: dict[str, tuple[tuple[int, ...], str]] = {
    **dict.fromkeys(("stiffness", "damping", "branch"), ((6, 6), "f")),
    "strain0": ((6,), "f"),
    "ends": ((2,), _INTEGER_KINDS),
    "law": ((), _INTEGER_KINDS),
}
_TABLE_SHAPES = {"elements": _ROD_SHAPES}  # by table: columns that have other shapes than in `_SHAPES`
# by table and column: indices must be below this count
_COUNTS = {
    ("frames", "fixed"): 3,
    ("loads", "kind"): 1 + max(FORCE, MOMENT),
}
# by table and column: smallest value
_LOWER_BOUNDS = {("frames", "mass"): 0.0, ("elements", "length"): SMALLEST}


def check_tables(tables: Mapping[str, Any]) -> None:
    """Raise ValueError if a table of a system has wrong shapes, or refers to a frame, a kind or a law that does not exist."""
    n = len(tables["frames"].mass)
    for name, table in tables.items():
        if isinstance(table, tuple):
            _TABLE_CHECKS.get(name, _check_table)(name, table, n)
    _check_shape("system", "gravity", tables["gravity"], (3,), "f")


def check_constraints(name: str, constraints: Constraints, n: int) -> None:
    """Raise ValueError if the table of constraints between n frames has wrong shapes or indices out of range."""
    _check_table(name, constraints, n)
    _check_indices(name, "joint", constraints.joint, max(1, len(constraints.kind)))


def _check_table(name: str, table: Any, n: int) -> None:
    """Raise ValueError unless every column has as many rows as the first; optional columns may also have none."""
    rows, counts = len(table[0]), _COUNTS | {("constraints", "kind"): len(CONSTRAINTS)}
    for column, values in table._asdict().items():
        tail, kind = _TABLE_SHAPES.get(name, {}).get(column) or _SHAPES.get(column, ((), "f"))
        omitted = column in table._field_defaults and len(values) == 0
        _check_shape(name, column, values, (0 if omitted else rows, *tail), kind)
        if column in ("frames", "frame"):
            _check_indices(name, column, values, n)
        elif (name, column) in counts:
            _check_indices(name, column, values, counts[name, column])
        elif (name, column) in _LOWER_BOUNDS:
            _check_lower_bound(name, column, values, _LOWER_BOUNDS[name, column])


def _check_spans(name: str, spans: Spans, n: int) -> None:
    """Raise ValueError if the table of higher-order beam elements has wrong shapes, indices, lengths or laws."""
    m, g = len(spans.kind), len(spans.weight)
    _check_indices(name, "kind", spans.kind, len(BY_NUMBER))
    span_shapes = {"kind": (), "frames": (MOST + 1,), "length": (), "coupling": ()}
    most = max((len(LAWS[k].parameters) for k in set(spans.law.tolist()) if 0 <= k < len(LAWS)), default=0)
    for column, values in spans._asdict().items():
        if column == "expressions":
            _check_shape(name, column, values, (len(values),), _INTEGER_KINDS)
        elif column == "parameters":
            width = max(most, *values.shape[1:2], 0)
            _check_shape(name, column, values, (g if width else len(values), width), "f")
        elif column in span_shapes:
            dtype_kind = _INTEGER_KINDS if column in ("kind", "frames") else "f"
            _check_shape(name, column, values, (m, *span_shapes[column]), dtype_kind)
        else:
            tail, kind = _ROD_SHAPES.get(column, ((), "f"))
            _check_shape(name, column, values, (g, *tail), kind)
    if int(spans.order.sum()) != g:
        raise ValueError(f"'spans' have {g} points, those of their elements are {int(spans.order.sum())}")
    _check_lower_bound(name, "length", spans.length, SMALLEST)
    _check_lower_bound(name, "weight", spans.weight, SMALLEST)
    counts = np.arange(MOST + 1) <= spans.order[:, None]
    _check_indices(name, "frames", spans.frames[counts], n)
    _check_indices(name, "ends", spans.ends, n)
    texts = spans.texts
    known = (spans.law >= -1) & (spans.law < len(LAWS))
    written = (spans.law >= EXPRESSIONS) & (spans.law < EXPRESSIONS + len(texts))
    if not np.all(known | written):
        raise ValueError(f"'spans/law' names law {int(spans.law[~(known | written)][0])}, which is not there")
    for text in texts:
        law_of(text)


def _check_interactions(name: str, interactions: InteractionTable, n: int) -> None:
    """Raise ValueError if the table of generic interactions has wrong shapes or indices."""
    e = len(interactions.kind)
    width = min(max(FRAMES, *interactions.frames.shape[1:2], 0), MAX_FRAMES)
    _check_indices(name, "kind", interactions.kind, len(INTERACTIONS))
    for column, shape, kind in (
        ("kind", (e,), _INTEGER_KINDS),
        ("frames", (e, width), _INTEGER_KINDS),
        ("first", (e + 1,), _INTEGER_KINDS),
        ("numbers", (len(interactions.numbers),), "f"),
        ("size", (e, 2), "f"),
        ("repeats", (e if len(interactions.repeats) else 0,), _INTEGER_KINDS),
    ):
        _check_shape(name, column, getattr(interactions, column), shape, kind)
    arity = np.array([kind.arity for kind in INTERACTIONS])[interactions.kind]
    _check_indices(name, "frames", interactions.frames[np.arange(width) < arity[:, None]], n)
    if (
        interactions.first[0] != 0
        or np.any(np.diff(interactions.first) < 0)
        or interactions.first[-1] != len(interactions.numbers)
    ):
        raise ValueError("'others/first' does not count their numbers")


def _check_contacts(name: str, contacts: Contacts, n: int) -> None:
    """Raise ValueError if the contact tables have wrong shapes, indices, radii or lengths."""
    s, k, p = len(contacts.kind), len(contacts.frames), len(contacts.pairs)
    v, t = len(contacts.vertices), len(contacts.triangles)
    integer_columns, shapes = (
        ("kind", "first", "frames", "pairs", "stations", "side", "apart", "triangles", "meshed"),
        (
            ("kind", (s,)),
            ("first", (s + 1,)),
            ("radius", (s,)),
            ("X", (k, 3)),
            ("length", (k,)),
            ("pairs", (p, 2)),
            ("law", (p, LAW)),
            ("loss", (p, LOSS)),
            ("stations", (p,)),
            ("side", (p,)),
            ("apart", (len(contacts.apart), 2)),
            ("vertices", (v, 3)),
            ("triangles", (t, 3)),
            ("meshed", (t,)),
        ),
    )
    for column, shape in shapes:
        _check_shape(
            name,
            column,
            getattr(contacts, column),
            shape,
            _INTEGER_KINDS if column in integer_columns else "f",
        )
    for column, count in (
        ("kind", len(KINDS)),
        ("frames", n),
        ("pairs", s),
        ("side", 1 + BOTH),
        ("apart", k),
        ("triangles", v),
        ("meshed", s),
    ):
        _check_indices(name, column, getattr(contacts, column), count)
    _check_lower_bound(name, "radius", contacts.radius)
    _check_lower_bound(name, "length", contacts.length)
    _check_lower_bound(name, "stations", contacts.stations, 1)
    if contacts.first[0] != 0 or np.any(np.diff(contacts.first) < 1) or contacts.first[-1] != k:
        raise ValueError("'contacts/first' does not count their points")


def _check_controls(name: str, controls: Controls, n: int) -> None:
    """Raise ValueError if the table of sensors and controllers has wrong shapes, counts or indices."""
    s, c, a = len(controls.measure), len(controls.period), len(controls.load)
    counts = {"first": s, "inputs": c, "parameters": c}
    ends = {"first": "numbers", "inputs": "sensor", "parameters": "values"}
    for column, count in counts.items():
        offsets = getattr(controls, column)
        _check_shape(name, column, offsets, (count + 1,), _INTEGER_KINDS)
        if (
            offsets[0] != 0
            or np.any(np.diff(offsets) < 0)
            or offsets[-1] != len(getattr(controls, ends[column]))
        ):
            raise ValueError(f"'{name}/{column}' does not count its numbers")
    for column in ("memory", "outputs"):
        _check_shape(name, column, getattr(controls, column), (c,), _INTEGER_KINDS)
        _check_indices(name, column, getattr(controls, column), _MOST_NUMBERS)
    shapes: tuple[tuple[str, tuple[int, ...], str], ...] = (
        ("measure", (s,), _INTEGER_KINDS),
        ("frames", (s, 2), _INTEGER_KINDS),
        ("numbers", (len(controls.numbers),), "f"),
        ("period", (c,), "f"),
        ("sensor", (len(controls.sensor), 2), _INTEGER_KINDS),
        ("initial", (int(controls.memory.sum()),), "f"),
        ("values", (len(controls.values),), "f"),
        ("load", (a,), _INTEGER_KINDS),
        ("output", (a,), _INTEGER_KINDS),
        ("direction", (a, 3), "f"),
        ("noise", (s, 2), "f"),
        ("key", (s, 2), _INTEGER_KINDS),
        ("slots", (s,), _INTEGER_KINDS),
        ("on", (len(controls.on),), _INTEGER_KINDS),
        ("switch", (len(controls.switch),), _INTEGER_KINDS),
        ("means", (len(controls.means),), _INTEGER_KINDS),
    )
    for column, shape, kind in shapes:
        _check_shape(name, column, getattr(controls, column), shape, kind)
    widths = np.array(list(NUMBERS.values()))
    _check_indices(name, "measure", controls.measure, len(widths))
    _check_indices(name, "slots", controls.slots, _MOST_NUMBERS)
    if not np.array_equal(np.diff(controls.first), widths[controls.measure]):
        raise ValueError(f"'{name}/first' does not fit the measures")
    _check_indices(name, "frames", controls.frames, n)
    _check_indices(name, "sensor", controls.sensor[:, 0], s)
    _check_indices(name, "sensor", controls.sensor[:, 1], 2)
    _check_indices(name, "output", controls.output, int(controls.outputs.sum()))
    _check_lower_bound(name, "period", controls.period)
    _check_indices(name, "switch", controls.switch + 1, len(controls.on) + 1)


def _check_shape(name: str, column: str, values: NDArray[Any], shape: tuple[int, ...], kind: str) -> None:
    """Raise ValueError unless a column has this shape and kind of dtype."""
    if values.size == 0 and 0 in shape:
        return
    fits = values.dtype == np.float64 if kind == "f" else values.dtype in (np.int64, np.uint8)
    if values.shape != shape or not fits:
        raise ValueError(f"'{name}/{column}' has the shape {values.shape} of {values.dtype}, not {shape}")


def _check_indices(name: str, column: str, numbers: NDArray[Any], count: int) -> None:
    """Raise ValueError unless all numbers of a column are indices from 0 to count - 1."""
    if numbers.size and (
        numbers.dtype.kind not in _INTEGER_KINDS or not 0 <= numbers.min() <= numbers.max() < count
    ):
        raise ValueError(
            f"'{name}/{column}' has numbers from {numbers.min()} to {numbers.max()}, there are {count}"
        )


def _check_lower_bound(name: str, column: str, values: NDArray[Any], least: float = 0.0) -> None:
    """Raise ValueError unless all values of a column lie between `least` and `LARGEST`."""
    if values.size and not least <= values.min() <= values.max() <= LARGEST:
        raise ValueError(f"'{name}/{column}' has numbers from {values.min()} to {values.max()}")


_TABLE_CHECKS: dict[str, Callable[[str, Any, int], None]] = {
    "constraints": check_constraints,
    "spans": _check_spans,
    "others": _check_interactions,
    "contacts": _check_contacts,
    "controls": _check_controls,
}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _positive(value: Any) -> bool:
    return _number(value) and value > 0


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(x, int | float) for x in value)


def _map(value: Any) -> bool:
    return isinstance(value, dict)


def _maps(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(x, dict) for x in value.values())


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _count(value: Any) -> bool:
    return isinstance(value, int) and value >= 1


_RUN: dict[str, Callable[[Any], bool]] = {
    "dt": _positive,
    "t_end": _positive,
    "integrator": _text,
    "chart": _text,
    "solver": _text,
    "output_every": _count,
    "threads": _count,
    "plane": lambda value: _numbers(value) and len(value) == 3,
    "tolerance": lambda value: _number(value) and value >= 0,
    "halves": lambda value: isinstance(value, bool),
    "multipliers_after": lambda value: isinstance(value, bool),
    "error": _positive,
    "error_size": _positive,
    "error_time": _positive,
    "error_growth": lambda value: isinstance(value, bool),
    "load_samples": _count,
    "max_dt": _positive,
    "dt_given": _positive,
    "corners": lambda value: _numbers(value) and list(value) == sorted(value),
}
_STATICS: dict[str, Callable[[Any], bool]] = {
    "method": _text,
    "load_factor": _numbers,
    "residual": _numbers,
    "monitors": _map,
    "loads": _map,
    "motions": _maps,
    "events": _list,
}
_REQUIRED = ("method", "load_factor", "residual", "monitors")  # required keys of "statics"
_DESCRIPTION: dict[str, Callable[[Any], bool]] = {
    "name": _text,
    "fingerprint": _text,
    "run": _map,
    "statics": _map,
    "start": _map,
    "rods": lambda value: _maps(value) or not _map(value),
    "bodies": lambda value: _maps(value) or not _map(value),
    "loads": _maps,
    "line_loads": _maps,
    "undetermined": _list,
    "provenance": _map,
    "rigid_twin": _list,
    "without_inertia": _numbers,
    "initial_velocity_change": lambda value: (
        _map(value) and all(_numbers(x) and len(x) == 2 for x in value.values())
    ),
}


def check_description(description: Any) -> None:
    """Raise ValueError if the description of a model or of its run does not have the form that readers rely on."""
    if not isinstance(description, dict):
        raise ValueError(f"its description is a {type(description).__name__}")
    _check_entries("", description, _DESCRIPTION)
    _check_entries("run.", description.get("run", {}), _RUN)
    statics = description.get("statics")
    if statics is not None:
        _check_entries("statics.", statics, _STATICS)
        missing = [name for name in _REQUIRED if name not in statics]
        if missing:
            raise ValueError(f"its description has no 'statics.{missing[0]}'")


def _check_entries(head: str, entries: Mapping[str, Any], forms: Mapping[str, Callable[[Any], bool]]) -> None:
    """Raise ValueError if an entry does not pass the check of its name; `head`: prefix of the names in the message."""
    for name, fits in forms.items():
        if name in entries and not fits(entries[name]):
            raise ValueError(f"its description has '{head}{name}' = {entries[name]!r:.60}")
