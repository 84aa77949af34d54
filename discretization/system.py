"""Tables of a mechanical system: frames, joints, springs, loads (rigid) and rod elements (discretization)."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from discretization.contact.table import Contacts, contacts_of
from discretization.controls import NO_CONTROLS, Controls
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    SPRINGS,
    TORSIONS,
    InteractionTable,
    insert_file_tables,
    loads_of,
    signals_of,
    springs_of,
    table_of,
    torsions_of,
    with_rotation_dampings,
    without_file_tables,
)
from discretization.interaction_table import in_files as others_in_files
from discretization.legacy_gears import gears_to_rows
from discretization.space.elements import Elements
from discretization.space.rods import Rods
from discretization.space.spans import Spans, no_spans
from rigid.interactions import constraints
from rigid.interactions.kinds import Kind
from rigid.system import Constraints, Floats, Frames, Ints
from rigid.tuple_references import by_reference

# a column of each table whose length is the number of its items; for contacts, of pairs that may touch
ROWS = {
    "elements": "length",
    "spans": "kind",
    "constraints": "kind",
    "others": "kind",
    "contacts": "pairs",
    "controls": "measure",
}


class _Tables(NamedTuple):
    """The fields of a `System`."""

    frames: Frames
    elements: Elements
    constraints: Constraints
    gravity: Floats  # (3,) m/s^2
    spans: Spans = no_spans()  # rod elements between several frames
    others: InteractionTable = table_of()  # interactions without a separate table, such as loads and springs
    contacts: Contacts = contacts_of()  # surfaces that may touch; integrators add active contacts to `others`
    controls: Controls = NO_CONTROLS  # sensors, controllers and the loads that follow them


@by_reference
class System(_Tables):
    """A model ready for an integrator. Frame 0 is the ground; `__dict__` holds results of `discretization.memoization`."""

    def __getstate__(self) -> None:
        """Leave these results out of copies and pickles."""

    @property
    def filled(self) -> list[str]:
        """Return the names of the tables that are not empty; solvers that support some tables accept models without others."""
        return [name for name, column in ROWS.items() if len(getattr(getattr(self, name), column))]

    @property
    def kinds(self) -> list[Kind]:
        """Return the kinds of its interactions and constraints, each once."""
        interaction_kinds = (INTERACTIONS[number] for number in set(self.others.kind.tolist()))
        return [
            *interaction_kinds,
            *(constraints.CONSTRAINTS[number] for number in set(self.constraints.kind.tolist())),
        ]

    @property
    def signals(self) -> Ints:
        """Return the indices (l,) in `others` of interactions with input values, in the order of these values."""
        return signals_of(self.others)

    @property
    def rods(self) -> Rods:
        """Return all rod elements."""
        return Rods(self.elements, self.spans)

    def with_rods(self, rods: Rods) -> System:
        """Return the system with other rod elements."""
        return self._replace(**rods._asdict())


def in_files(system: System) -> dict[str, Any]:
    """Return the tables as files store them: springs, torsion springs and loads in separate tables, kinds by file numbers."""
    others, tables = system.others, dict(zip(System._fields, system, strict=True))
    first = {name: tables.pop(name) for name in ("frames", "elements", "constraints")}
    tables["others"] = others_in_files(without_file_tables(others))
    first["constraints"] = constraints.in_files(system.constraints)
    if not len(system.contacts.pairs):
        del tables["contacts"]
    if system.controls.empty:
        del tables["controls"]
    file_tables = _tables_of(others) if len(others.kind) else _EMPTY_FILE_TABLES
    return first | file_tables | tables


def _tables_of(table: InteractionTable) -> dict[str, Any]:
    """Return the tables of springs, torsion springs and loads."""
    return {"springs": springs_of(table), "torsions": torsions_of(table), "loads": loads_of(table)}


_EMPTY_FILE_TABLES = _tables_of(table_of())


def from_files(tables: dict[str, Any]) -> System:
    """Return the system of tables in the form of `in_files`, but with the kind numbers of this process."""
    file_tables = "springs", "torsions", "loads"
    fields = {name: table for name, table in tables.items() if name not in file_tables}
    interactions = with_rotation_dampings(fields.pop("others"))
    interactions = insert_file_tables(interactions, *(tables[name] for name in file_tables))
    return System(**fields, others=interactions)


class PartialFingerprint(NamedTuple):
    """The part of a fingerprint that does not depend on gravity."""

    digest: Any  # hash object of `hashlib`
    others: InteractionTable  # hashed afterwards, with the kind numbers of files


def begin_fingerprint(system: System) -> PartialFingerprint:
    """Hash the part of a system's fingerprint that is common to all systems that differ from it only in gravity."""
    table = constraints.in_files(system.constraints)
    rows, interactions = gears_to_rows(table, without_file_tables(system.others))
    contents = [*_contents(system.frames), *_contents(system.elements), *_contents(table, rows)]
    contents += _file_table_bytes(system.others)
    return PartialFingerprint(
        hashlib.sha256(b"".join(contents)),
        others_in_files(interactions) if len(interactions.kind) else interactions,
    )


def fingerprint(system: System, first: PartialFingerprint | None = None) -> str:
    """Return the SHA-256 of all arrays of the system: systems with equal ones are bit-identical models.

    `first`: the result of `begin_fingerprint`, if known.
    """
    of_tables, interactions = begin_fingerprint(system) if first is None else first
    digest, gravity = of_tables.copy(), system.gravity
    contents = [_ARRAY_HEADERS[gravity.shape, gravity.dtype], gravity.tobytes()]
    # without contacts, spans and others it is that of older versions, so that runs of older files can be resumed
    if len(system.contacts.pairs):
        contents += _contents(system.contacts)
    if not system.controls.empty:
        contents += _contents(system.controls)
    for late in (system.spans, interactions):
        if len(late.kind):
            contents += _contents(late)
    digest.update(b"".join(contents))
    return str(digest.hexdigest())


class _ArrayHeaders(dict[tuple[tuple[int, ...], Any], bytes]):
    """Cache of the bytes that precede an array of a shape and a type."""

    def __missing__(self, key: tuple[tuple[int, ...], Any]) -> bytes:
        """Build and store the bytes for a (shape, type) key."""
        shape, kind = key
        if len(self) >= _MAX_HEADERS:
            self.clear()
        self[key] = repr((shape, kind.str)).encode()
        return self[key]


_MAX_HEADERS = 1024
_ARRAY_HEADERS = _ArrayHeaders()


def _contents(table: Any, columns: dict[str, Any] | None = None) -> list[bytes]:
    """Return the bytes of a table, or of `columns` in place of its own; empty columns with a default are omitted."""
    spared = table._field_defaults
    contents: list[bytes] = []
    for name, array in (table._asdict() if columns is None else columns).items():
        if len(array) or name not in spared:
            contents += _ARRAY_HEADERS[array.shape, array.dtype], array.tobytes()
    return contents


def _file_table_bytes(table: InteractionTable) -> list[bytes]:
    """Return the bytes of the tables of springs, torsion springs and loads, which files store separately."""
    if not len(table.kind):
        return _NO_FILE_TABLE_BYTES
    kinds = table.kind.tolist()
    springs = _contents(springs_of(table)) if SPRINGS in kinds else _EMPTY_TABLE_BYTES["springs"]
    torsions = _contents(torsions_of(table)) if TORSIONS in kinds else _EMPTY_TABLE_BYTES["torsions"]
    return [*springs, *torsions, *_contents(loads_of(table))]


_EMPTY_TABLE_BYTES = {name: _contents(table) for name, table in _EMPTY_FILE_TABLES.items()}
_NO_FILE_TABLE_BYTES = [part for contents in _EMPTY_TABLE_BYTES.values() for part in contents]
