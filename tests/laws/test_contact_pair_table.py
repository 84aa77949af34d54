"""The table of contact pairs in the documentation matches the program."""

from itertools import product
from pathlib import Path

import pytest

from rodsim import Model, ModelError
from tests.support.solids import add

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "contact.md"
KINDS = {"hull": "hull cube", "mesh": "rounded cube"}


def table() -> dict[tuple[str, str], str]:
    """Return the entry of the table for each pair, by row and column."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("| | plane |"))
    last = next(k for k in range(first, len(lines)) if not lines[k].startswith("|"))
    columns, _, *rows = ([word.strip() for word in line.split("|")[1:-1]] for line in lines[first:last])
    return {
        (name, other): entry
        for names, *words in rows
        for column, entry in zip(columns[1:], words, strict=True)
        for name, other in product(names.split(", "), column.split(", "))
    }


TABLE = table()


def surface(model: Model, kind: str, name: str, x: float):
    """Add a surface at x on a line."""
    place = {"plane": (0, 0, -3), "rod": [(x, 0, 0), (x, 1, 0)]}.get(kind, (x, 0, 0))
    return add(model, KINDS.get(kind, kind), name, place)


def program_entry(row: str, column: str, **losses: float) -> str:
    """Return the program's entry for the pair, or None."""
    model = Model("two", gravity=(0, 0, -9.81))
    try:
        one, other = surface(model, row, "one", 0.0), surface(model, column, "other", 5.0)
        model.add_contact("meet", one, other, 1e5, **losses)
        model.build()
    except ModelError as refused:
        return str(refused)
    return ""


def test_contact_pair_table_has_all_shapes():
    kinds = {name for pair in TABLE for name in pair}
    assert kinds == {"plane", "sphere", "rod", "hull", "mesh", "capsule", "box", "cylinder", "cone"}


@pytest.mark.parametrize(("row", "column"), TABLE)
def test_contact_pair_table_matches_the_program(row, column):
    assert TABLE[row, column].split(",")[0] == "losses"
    for losses in ({}, {"friction": 0.3}, {"restitution": 0.5}):
        assert not program_entry(row, column, **losses)
