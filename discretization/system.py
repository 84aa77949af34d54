"""The whole mechanical system: frames, joints, springs, loads (rigid) and rod elements (discretization)."""

from __future__ import annotations

import functools
import hashlib
from typing import Any, NamedTuple

from discretization.contact.table import Contacts, contacts_of
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    InteractionTable,
    loads_of,
    signals_of,
    springs_of,
    table_of,
    torsions_of,
    with_tables,
    without_tables,
)
from discretization.interaction_table import in_files as others_in_files
from discretization.older_gears import as_rows
from discretization.space.elements import Elements
from discretization.space.rods import Rods
from discretization.space.spans import Spans, no_spans
from rigid.interactions import constraints
from rigid.interactions.kinds import Kind
from rigid.references import by_reference
from rigid.system import Constraints, Floats, Frames, Ints

# a column with a row for each of what stands in a table; of contacts, for each pair that may touch
ROWS = {"elements": "length", "spans": "kind", "constraints": "kind", "others": "kind", "contacts": "pairs"}


@by_reference
class System(NamedTuple):
    """A model ready for an integrator; frame 0 is the ground."""

    frames: Frames
    elements: Elements
    constraints: Constraints
    gravity: Floats  # (3,) m/s^2
    spans: Spans = no_spans()  # rod elements between several frames
    others: InteractionTable = table_of()  # loads, springs, bushings: what has no table of its own
    contacts: Contacts = contacts_of()  # what may touch; an integrator puts what does among the others

    @property
    def filled(self) -> list[str]:
        """Its tables in which something stands: who takes some of them alone takes a model that has no other."""
        return [name for name, column in ROWS.items() if len(getattr(getattr(self, name), column))]

    @property
    def kinds(self) -> list[Kind]:
        """Of its interactions and constraints, each once."""
        others = (INTERACTIONS[number] for number in set(self.others.kind.tolist()))
        return [*others, *(constraints.CONSTRAINTS[number] for number in set(self.constraints.kind.tolist()))]

    @property
    def signals(self) -> Ints:
        """(l,) those of its others whose values come from outside, in the order of these values."""
        return signals_of(self.others)

    @property
    def rods(self) -> Rods:
        """All rod elements."""
        return Rods(self.elements, self.spans)

    def with_rods(self, rods: Rods) -> System:
        """With other rod elements."""
        return self._replace(**rods._asdict())


def in_files(system: System) -> dict[str, Any]:
    """Its tables as files have them: springs, torsion springs and loads in tables of their own, kinds in the numbers of files."""
    return _in_files(system, without_tables(system.others))


def _in_files(system: System, others: InteractionTable) -> dict[str, Any]:
    """others: those that are in no table of their own there."""
    own, tables = system.others, dict(zip(System._fields, system, strict=True))
    first = {name: tables.pop(name) for name in ("frames", "elements", "constraints")}
    tables["others"] = others_in_files(others)
    first["constraints"] = constraints.in_files(system.constraints)
    if not len(system.contacts.pairs):
        del tables["contacts"]
    apart = _tables_of(own) if len(own.kind) else _NONE_APART
    return first | apart | tables


def _tables_of(own: InteractionTable) -> dict[str, Any]:
    return {"springs": springs_of(own), "torsions": torsions_of(own), "loads": loads_of(own)}


_NONE_APART = _tables_of(table_of())


def from_files(tables: dict[str, Any]) -> System:
    """Of such tables, kinds in the numbers of this process."""
    apart = "springs", "torsions", "loads"
    own = {name: table for name, table in tables.items() if name not in apart}
    others = with_tables(own.pop("others"), *(tables[name] for name in apart))
    return System(**own, others=others)


def fingerprint(system: System) -> str:
    """SHA-256 of all arrays of the system: two equal ones are the same model to the bit."""
    digest, without = hashlib.sha256(), without_tables(system.others)
    tables = _in_files(system, without)
    rows, others = as_rows(tables["constraints"], without)
    if others is not without:
        tables["others"] = others_in_files(others)
    # without spans and others, and with gears, what it was before there were any: runs of older files go on
    late = [part for part in (tables.pop("spans"), tables.pop("others")) if len(part.kind)]
    for part in (*tables.values(), *late):
        # and without columns that the model does not need
        columns = part._asdict() if hasattr(part, "_asdict") else {"": part}
        defaults = getattr(part, "_field_defaults", {})
        columns = rows if part is tables["constraints"] else columns
        contents: list[bytes] = []
        for name, array in columns.items():
            if len(array) or name not in defaults:
                contents += _head(array.shape, array.dtype.str), array.tobytes()
        digest.update(b"".join(contents))
    return digest.hexdigest()


@functools.lru_cache(maxsize=1024)
def _head(shape: tuple[int, ...], word: str) -> bytes:
    return repr((shape, word)).encode()
