"""The table of what touches what, in the documentation, is what the program does."""

from itertools import product
from pathlib import Path

import pytest

from rodsim import Box, Capsule, Cone, Cylinder, Model, ModelError, Section, Sphere

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "contact.md"
SHAPES = {
    "capsule": Capsule(0.1, 0.3, mass=1.0),
    "box": Box(0.2, 0.2, 0.2, mass=1.0),
    "cylinder": Cylinder(0.1, 0.3, mass=1.0),
    "cone": Cone(0.1, 0.3, mass=1.0),
}
SECTION = Section.from_stiffness(
    EA=1e4, GA=1e4, GJ=10.0, EI=10.0, mass_per_length=1.0, inertia_per_length=(0.02, 0.01, 0.01), radius=0.1
)


def table() -> dict[tuple[str, str], str]:
    """What it says of each pair, by its row and its column."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("| | plane |"))
    last = next(k for k in range(first, len(lines)) if not lines[k].startswith("|"))
    columns, _, *rows = ([word.strip() for word in line.split("|")[1:-1]] for line in lines[first:last])
    return {
        (name, other): said
        for names, *words in rows
        for column, said in zip(columns[1:], words, strict=True)
        for name, other in product(names.split(", "), column.split(", "))
    }


TABLE = table()


def surface(model: Model, kind: str, name: str, x: float):
    """One at x along a line, 5 m from the next."""
    if kind == "plane":
        return model.add_plane(name, model.ground.at((0, 0, -3)), (0, 0, 1))
    if kind == "rod":
        return model.add_rod(name, [(x, 0, 0), (x, 1, 0)], SECTION, 2)
    if kind == "hull":
        body = model.add_body(name, SHAPES["box"], (x, 0, 0))
        return model.add_solid(
            name, body.at((0, 0, 0)), [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)], 0.01
        )
    if kind == "mesh":
        corners = [(-1, -1, 0), (1, -1, 0), (0, 1, 0)]
        body = model.add_body(name, SHAPES["box"], (x, 0, 0))
        return model.add_mesh(name, body, vertices=corners, triangles=[(0, 1, 2)], radius=0.01)
    if kind == "sphere":
        body = model.add_body(name, Sphere(0.1, mass=1.0), (x, 0, 0))
        return model.add_sphere(name, body.at((0, 0, 0)), 0.1)
    return model.add_solid(
        name, model.add_body(name, SHAPES[kind], (x, 0, 0)), radius=0.01 * (kind != "capsule")
    )


def touches(row: str, column: str, **losses: float) -> str:
    """The program's words against it, or none."""
    model = Model("two", gravity=(0, 0, -9.81))
    try:
        model.add_contact(
            "meet", surface(model, row, "one", 0.0), surface(model, column, "other", 5.0), 1e4, **losses
        )
        model.build()
    except ModelError as refused:
        return str(refused)
    return ""


def test_the_table_has_all_shapes():
    kinds = {name for pair in TABLE for name in pair}
    assert kinds == {"plane", "sphere", "rod", "hull", "mesh", *SHAPES}


@pytest.mark.parametrize(("row", "column"), TABLE)
def test_what_the_table_says_of_two_surfaces_is_so(row, column):
    assert TABLE[row, column].split(",")[0] == "losses"
    for losses in ({}, {"friction": 0.3}, {"restitution": 0.5}):
        assert not touches(row, column, **losses)
