"""Laws of actuators in scenes: schemas, reading and writing of the classes in `ACTUATOR_LAWS`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rodsim.components.actuator_laws import ACTUATOR_LAWS, ActuatorLaw
from rodsim.scenes.round_trip import plain
from rodsim.scenes.schema_types import Name, NotNegative, Number, Positive, numbers, schemas, union

_ROWS = list[list[Number]]
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "equations": (
        dict[Name, str],
        "rate of each state as a text, of states, q, q_rate, inputs and parameters",
    ),
    "force": (str, "force or moment as a text [N or N m]"),
    "energy": (str, "energy that the states store, as a text [J]", ""),
    "parameters": (dict[Name, Number], "values of parameters in the texts [any]", {}),
    "resistance": (NotNegative, "resistance [ohm]"),
    "inductance": (Positive, "inductance [H]"),
    "constant": (Positive, "moment per current [N m/A]"),
    "gear": (Positive, "rotations of the shaft per rotation of the joint [1]", 1.0),
    "area": (Positive, "area of the piston [m^2]"),
    "rod_area": (Positive, "area of the ring on the side of the rod [m^2]"),
    "volume": (Positive, "volume of oil on the side of the piston at t = 0 [m^3]"),
    "rod_volume": (Positive, "volume of oil on the side of the rod at t = 0 [m^3]"),
    "bulk_modulus": (Positive, "bulk modulus of the oil [Pa]"),
    "valve": (Positive, "flow at the opening 1 [m^3/s/sqrt(Pa)]"),
    "supply": (Number, "pressure of the supply [Pa]"),
    "tank": (Number, "pressure of the tank [Pa]", 0.0),
    "laminar": (Positive, "pressure difference below which the flow is linear [Pa]", 1e4),
    "underlap": (Positive, "opening of the closed valve [1]", 1e-3),
    "A": (_ROWS, "matrix of the states, a row for each [any]"),
    "B": (_ROWS, "matrix of q, q_rate and the inputs, a row for each state [any]"),
    "C": (numbers(1), "force for each state [any]"),
    "D": (Number | numbers(2), "force for each of q, q_rate and the inputs [any]", 0.0),
    "time": (Positive, "time constant [s]"),
    "gain": (Number, "force at rest for the input 1 [any]", 1.0),
}

if TYPE_CHECKING:
    ActuatorLawScene = Any
else:
    ActuatorLawScene = union("type", schemas("ActuatorLaw", "type", ACTUATOR_LAWS, _ARGUMENTS))


def actuator_law_of(data: Any) -> ActuatorLaw:
    """Return the law that scene data describe."""
    law: ActuatorLaw = ACTUATOR_LAWS[data.type](**data.model_dump(exclude={"type"}))
    return law


def actuator_law_data(law: ActuatorLaw) -> dict[str, Any]:
    """Return a law as scene data."""
    word = next(word for word, kind in ACTUATOR_LAWS.items() if type(law) is kind)
    return {"type": word, **plain({entry.name: getattr(law, entry.name) for entry in fields(law)})}
