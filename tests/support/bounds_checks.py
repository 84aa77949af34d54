"""Load and store lanes and rows inside an array and just outside of it, with NUMBA_BOUNDSCHECK; print what is wrong.

`tests/core/test_simd_lanes.py` runs it in a separate process, since the switch is read when numba is imported.
"""

from __future__ import annotations

import re

import numpy as np

from rigid import lanes, stiffness_rows
from rigid.compilation.decorators import kernel

SIZE = 1000
ITEMS = np.arange(8)

# access of a memory function at a position of an array, by its name without its number; {x}: as many lanes
LANES = {
    "load": "lanes.store(lanes.{name}(array, place), room, 0)",
    "store": "lanes.{name}(lanes.load(room, 0), array, place)",
    "rows": "lanes.store(lanes.{name}(array, items, 0)[0], room, 0)",
    "numbers": "lanes.store(lanes.{name}(array, items, 0, 0)[0], room, 0)",
    "add_rows": "lanes.{name}({x}, array, items, items, 0, 0, 0)",
    "put_rows": "lanes.{name}({x}, array, items, 0)",
    "put": "lanes.{name}({x}, array, items, 0)",
}
ROWS = {
    "row_at": "stiffness_rows.put_row(stiffness_rows.row_at(array, place), room, 0)",
    "put_row": "stiffness_rows.put_row(stiffness_rows.row_at(room, 0), array, place)",
}


def functions() -> dict[str, str]:
    """Source of kernels (array, place, items, room), by the names of the functions that they call."""
    sources = {name: f"    {body}" for name, body in ROWS.items()}
    for name in vars(lanes):
        match = re.fullmatch("(load|store|rows|numbers|add_rows|put_rows|put)([0-9]*)", name)
        if match:
            same = int(match[2] or 1) * "lanes.load(room, 0), "
            sources[name] = f"    {LANES[match[1]].format(name=name, x=f'({same})')}"
    return sources


def compiled(name: str, body: str):
    space = {"lanes": lanes, "stiffness_rows": stiffness_rows}
    exec(f"def of_{name}(array, place, items, room):\n{body}\n", space)
    return kernel(space[f"of_{name}"])


def outside_positions(name: str) -> list[int]:
    """Positions of which at least one number is not in the array."""
    by_row = name.startswith(("rows", "put_rows"))
    return [-1 - ITEMS[-1], SIZE if not by_row else SIZE // int(re.sub("[a-z_]*", "", name))]


def wrong_accesses() -> list[str]:
    """Return accesses that were wrongly accepted or rejected."""
    names = []
    for name, body in functions().items():
        call, workspace = compiled(name, body), np.zeros(64)
        call(np.zeros(SIZE), 0, ITEMS, workspace)
        for place in outside_positions(name):
            try:
                call(np.zeros(SIZE), place, ITEMS + place, workspace)
            except IndexError:
                continue
            names.append(f"{name} at {place}")
    return names


if __name__ == "__main__":
    assert len(functions()) > 30
    print(wrong_accesses())
