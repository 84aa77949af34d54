"""Sort the parts of a scene by dependency: a part is made before the parts that are placed at its points."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pydantic import BaseModel

from rodsim.parts.part_names import ENDS
from rodsim.scenes.errors import Path, SceneProblem
from rodsim.scenes.points import BodyAnchor, OrientationOf, PlaceScene, RodAnchor
from rodsim.scenes.schema import Scene

HEADS = ("bodies", "driven", "rods")
_PLACED = ("position", "orientation", "curve", "stress_free")  # keys of parts that may refer to other parts


def parts_in_order(scene: Scene) -> list[tuple[Path, Any]]:
    """Return path and data of bodies, driven frames and rods in topological order of their placement.

    The order is that of the scene if no part is placed at another. Raises SceneProblem if parts are placed in a circle.
    """
    parts = {item.name: ((head, k), item) for head in HEADS for k, item in enumerate(getattr(scene, head))}
    after = {
        name: {own for text in _spoken_of(item) for own in _possible_parts(text)} & parts.keys()
        for name, (_, item) in parts.items()
    }
    if not any(after.values()):
        return list(parts.values())
    try:
        return [parts[name] for name in TopologicalSorter(after).static_order()]
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]
        raise SceneProblem(
            parts[circle[0]][0],
            f"'{circle[0]}' is placed in a circle: {' at '.join(repr(name) for name in circle)}; give one of them "
            "in numbers",
        ) from None


def part_of(anchor: str | BodyAnchor | RodAnchor) -> str:
    """Return the name of the part of a point; for a point given as text the text itself."""
    if isinstance(anchor, str):
        return anchor
    return anchor.rod if isinstance(anchor, RodAnchor) else anchor.body


def _possible_parts(text: str) -> list[str]:
    """Return all texts that may be the part's name in a point such as "cord", "cord.end" or "cord@0.3"."""
    return [text, *(text.removesuffix(end) for end in ENDS), text.rpartition("@")[0]]


def _spoken_of(item: BaseModel) -> Iterator[str]:
    """Iterate over the names of parts, or points by name, to which the placement of a part refers."""
    for key in _PLACED:
        yield from _references(getattr(item, key, None))


def _references(value: Any) -> Iterator[str]:
    """Iterate over the names of parts, or points by name, to which a value refers."""
    if isinstance(value, PlaceScene):
        yield part_of(value.at)
    elif isinstance(value, OrientationOf):
        yield part_of(value.of)
    elif isinstance(value, BaseModel):
        for _, inside in value:
            yield from _references(inside)
    elif isinstance(value, list):
        for inside in value:
            if not isinstance(inside, float | int):
                yield from _references(inside)
