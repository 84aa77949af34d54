"""Points, pulleys and drums that a tendon passes, in scenes: their schemas, how they are read, and how they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from rodsim.components.pulleys import Drum, Pulley, Wheel
from rodsim.scenes.errors import Path
from rodsim.scenes.points import Anchor, BodyAnchor, GroundAnchor, PointReader, RodAnchor, point_data
from rodsim.scenes.schema_types import A_TEXT, Name, Part, Positive, Vector, one_form


class PulleyScene(Part):
    """A pulley over which a tendon slides without friction."""

    pulley: Anchor
    """centre of the pulley, a point of a part"""
    axis: Vector
    """world direction of the axis at t = 0; it rotates with the part [1]"""
    radius: Positive
    """distance of the tendon from the axis [m]"""
    side: Literal[1, -1] = 1
    """1: the tendon goes around the axis by the right-hand rule, -1: the other way [1]"""
    turns: Annotated[int, Field(ge=0)] = 0
    """full turns at t = 0 in addition to an angle of wrap between -90 and 270 degrees [1]"""


class DrumScene(Part):
    """A drum on which an end of a tendon is fixed and wound without slip."""

    drum: Anchor
    """centre of the drum, a point of a part"""
    axis: Vector
    """world direction of the axis at t = 0; it rotates with the part [1]"""
    radius: Positive
    """distance of the tendon from the axis [m]"""
    side: Literal[1, -1] = 1
    """1: the tendon goes around the axis by the right-hand rule, -1: the other way [1]"""


if TYPE_CHECKING:
    TendonStop = Any
else:
    TendonStop = one_form(
        {
            A_TEXT: Name,
            "pulley": PulleyScene,
            "drum": DrumScene,
            "body": BodyAnchor,
            "rod": RodAnchor,
            "ground": GroundAnchor,
        },
        "it should be a body's name, {body: name, at: [x, y, z]}, {rod: name, s: 0.5}, {ground: [x, y, z]}, "
        "{pulley: point, axis: [x, y, z], radius: 0.1} or {drum: point, axis: [x, y, z], radius: 0.1}",
    )


def tendon_stop(reader: PointReader, path: Path, data: Any) -> Any:
    """Return the point, pulley or drum of a scene."""
    if isinstance(data, PulleyScene):
        on = reader.end((*path, "pulley"), data.pulley)
        return Pulley(on, data.axis, data.radius, data.side, data.turns)
    if isinstance(data, DrumScene):
        return Drum(reader.end((*path, "drum"), data.drum), data.axis, data.radius, data.side)
    return reader.point(path, data)


def tendon_stop_data(stop: Any) -> Any:
    """Return a point, pulley or drum as data of a scene."""
    if not isinstance(stop, Wheel):
        return point_data(stop)
    word = "pulley" if isinstance(stop, Pulley) else "drum"
    data = {word: point_data(stop.on), "axis": stop.axis, "radius": stop.radius}
    data |= {"side": stop.side} if stop.side != 1 else {}
    return data | ({"turns": stop.turns} if isinstance(stop, Pulley) and stop.turns else {})
