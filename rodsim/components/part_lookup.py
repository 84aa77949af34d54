"""Find parts and points of a model by name: "block", "cord.start", "cord@0.3", "block@0.1,0,0"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rigid.errors import ModelError, PartName
from rodsim.components.model_parts import Anchor, Body, Driven, Ground, Rod
from rodsim.components.point_syntax import parse_point

ENDS = ".start", ".end"  # suffixes of the ends of a rod


def find_part_or_point(owner: str, model: Any, text: str) -> Anchor | Body | Rod | Ground | Driven:
    """Return the part or point of a model that a text names.

    Parameters
    ----------
    owner : str
        Object that refers to it, for messages.
    model : Contents
    text : str
        Name of a body, rod, driven frame or "ground" for the whole part. Point of a rod: "cord.start", "cord.end" or "cord@0.3"
        (fraction of the stress-free length). Point of a body or driven frame in its axes, m, or of the world for "ground":
        "block@0.1,0,0". A part whose name is the whole text takes precedence.

    Raises
    ------
    ModelError
        If there is no such part, or the text names no valid point on it.
    """
    parts: dict[str, Body | Rod | Ground | Driven]
    parts = {**model.bodies, **model.rods, **model.driven, model.ground.name: model.ground}
    if text in parts:
        return parts[text]
    for end in ENDS:
        rod = parts.get(text.removesuffix(end)) if text.endswith(end) else None
        if isinstance(rod, Rod):
            return rod.start if end == ENDS[0] else rod.end
    point = parse_point(text, parts)
    name, part, place = point.part, parts.get(point.part), point.position or ()
    if part is None:
        raise ModelError(
            f"{owner}: there is no body, rod or driven frame '{name}'. {_advice(list(parts))}",
            choices=list(parts),
        )
    if isinstance(part, Rod):
        if len(place) != 1:
            raise ModelError(
                f"{owner}: '{text}' is not a point of rod '{name}'. Give a fraction of its length, as '{name}@0.5'."
            )
        return part.at(place[0])
    if len(place) != 3:
        raise ModelError(
            f"{owner}: '{text}' is not a point of {part}. Give x, y and z in m, as '{name}@0.1,0,0'."
        )
    return part.at(place)


def find_point(owner: str, model: Any, value: Any) -> Any:
    """Return the point that a text or a part denotes; anything else unchanged.

    A body or a driven frame denotes its reference point. Raises ModelError if a text names no part of the model.
    """
    point = find_part_or_point(owner, model, value) if isinstance(value, str) else value
    return point.at((0.0, 0.0, 0.0)) if isinstance(point, Body | Driven) else point


def find_surface(owner: str, model: Any, text: str) -> Any:
    """Return the sphere, solid, plane, mesh or rod of a model with this name; ModelError if there is none or two."""
    tables: dict[str, Mapping[str, Any]] = {
        "sphere": model.spheres,
        "solid": model.solids,
        "plane": model.planes,
        "mesh": model.meshes,
        "rod": model.rods,
    }
    matches = {word: table[text] for word, table in tables.items() if text in table}
    if len(matches) > 1:
        raise ModelError(
            f"{owner}: '{text}' is a {' and a '.join(matches)}. Give the object, or rename one of them."
        )
    if not matches:
        known = [name for table in tables.values() for name in table]
        raise ModelError(f"{owner}: there is no surface '{text}'. {_advice(known)}", choices=known)
    return next(iter(matches.values()))


def quote_names(names: Sequence[str], most: int = 12) -> str:
    """Return the first names in quotes, and how many more there are."""
    remainder = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(f"'{name}'" for name in names[:most]) + remainder


def _advice(names: Sequence[str]) -> str:
    """Return advice that lists the known names."""
    return f"Use one of {quote_names(names)}." if names else "Add it first."


def check_known(owner: str, what: str, name: str, names: Sequence[str]) -> None:
    """Raise ModelError, which lists the known names, if `name` is not in `names`; `what`: word for one, as "load"."""
    if name not in names:
        known = f"the {what}s are {', '.join(names)}" if names else f"the model has no {what}s"
        raise ModelError(f"{owner}: there is no {what} '{name}'; {known}")


class ErrorContext:
    """Add a part's kind and name to each ModelError that is raised inside this context."""

    __slots__ = "kind", "name"

    def __init__(self, kind: str, name: str):
        self.kind, self.name = kind, name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ModelError):
            error.about = error.about or (PartName(self.kind, self.name),)
