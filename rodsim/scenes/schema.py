"""Define the schema of scenes as pydantic models; `Scene.model_json_schema()` is the published schema."""

from __future__ import annotations

import importlib
import types
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from rigid.errors import ModelError
from rodsim.components.base import COMPONENT_TYPES, Component
from rodsim.expressions import name_fault
from rodsim.scenes.components import schema_of
from rodsim.scenes.parts import BodyScene, DrivenScene, RodScene
from rodsim.scenes.schema_equilibrium import EquilibriumScene
from rodsim.scenes.schema_types import (
    Name,
    Number,
    Part,
    Positive,
    Vector,
    made,
)
from rodsim.scenes.sections import MaterialScene, SectionScene


def _check_parameter_name(text: str) -> str:
    """Raise ValueError unless a text may be the name of a parameter."""
    fault = name_fault(text)
    if fault:
        raise ValueError(f"it {fault}")
    return text


ParameterName = Annotated[Name, AfterValidator(_check_parameter_name)]


def _known_integrator(name: str) -> str:
    """Raise ValueError unless a text is the name of an integrator."""
    from rodsim.running.plan import check_integrator

    try:
        check_integrator(name)
    except ModelError as error:
        raise ValueError(str(error)) from None
    return name


Integrator = Annotated[str, AfterValidator(_known_integrator)]


class EventScene(Part):
    """An event that ends a run before t_end: the start of a contact, or a distance."""

    contact_begins: list[str] | None = None
    """names of contacts: the event is that one of them begins to act; []: any contact"""
    distance_below: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """instead: names of two spheres, solids, planes, rods or bodies, or points NAME@0.3 of a rod, NAME@X,Y,Z of a body"""
    distance: Annotated[float, Field(ge=0.0)] = 0.0
    """distance of these two [m]"""

    @model_validator(mode="after")
    def _is_one(self) -> EventScene:
        """Raise ValueError unless exactly one kind of event is given."""
        if (self.contact_begins is None) == (self.distance_below is None):
            raise ValueError("give one of contact_begins and distance_below")
        return self


class RunScene(Part):
    """Settings of the simulation."""

    t_end: Positive
    """end time [s]"""
    dt: Positive | None = None
    """step; give it or error [s]"""
    error: Annotated[float, Field(ge=1e-12, le=0.1)] | None = None
    """in place of dt: error of the motion, relative to the size of the model, by which the em family chooses its steps [1]"""
    output_dt: Positive | None = None
    """with error, time between outputs; default: t_end/100, for em4 t_end/50, for em6 and em8 t_end/25 [s]"""
    max_dt: Positive | None = None
    """with error, the longest step; default: half of output_dt [s]"""
    integrator: Integrator = "em"
    """em, em-ggl, their compositions, or any other by its name: EML-kappa, mG(3) ..."""
    output_every: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """steps between outputs; default: about 500 outputs [1]"""
    chart: Literal["quaternion", "quaternion-alpha", "quaternion-gamma", "director"] | None = None
    """coordinates of integrators other than em"""
    tolerance: Annotated[float, Field(ge=0.0, le=1e-3)] = 0.0
    """relative tolerance of the equations of a step; 0: round-off [1]"""
    solver: Literal["auto", "general"] = "auto"
    """auto: em and its compositions use a faster solver for trees of bodies and planar models; general: they do not"""
    events: list[EventScene] = []
    """the first of these ends the run before t_end"""

    @model_validator(mode="after")
    def _has_steps(self) -> RunScene:
        """Raise ValueError unless either dt or error is given."""
        if (self.dt is None) == (self.error is None):
            raise ValueError("give one of dt and error")
        return self


class Parts(Part):
    """A model with the settings of its simulation, or of its equilibrium."""

    name: Name = "scene"
    """name of the model"""
    include: Name | list[Name] | None = None
    """other scene files, relative to this one, whose parts are added; this file's name, run and equilibrium replace theirs"""
    parameters: dict[ParameterName, Number] = {}
    """numbers by name for expressions: any number can be written as a text that begins with =, as `=L/2 + 0.01` [any]"""
    gravity: Vector = [0.0, 0.0, 0.0]
    """acceleration [m/s^2]"""
    materials: dict[str, MaterialScene] = {}
    """by name, for sections"""
    sections: dict[str, SectionScene] = {}
    """by name, for rods"""
    rods: list[RodScene] = []
    """geometrically exact rods"""
    bodies: list[BodyScene] = []
    """rigid bodies"""
    driven: list[DrivenScene] = []
    """frames whose motion is given"""

    @model_validator(mode="before")
    @classmethod
    def _without_run(cls, data: Any) -> Any:
        """Set `run` to None in a scene with `equilibrium` and without `run`."""
        if isinstance(data, dict) and data.get("equilibrium") is not None and "run" not in data:
            return {**data, "run": None}
        return data


@cache
def _scene(entries: tuple[type[Component], ...]) -> type[Part]:
    """Return the schema of scenes, with a list for each kind of entry."""
    lists: dict[str, tuple[Any, ...]] = {
        kind.key: (types.GenericAlias(list, schema_of(kind)), kind.list_description, [])  # type: ignore[arg-type]
        for kind in entries
    }
    ends: dict[str, tuple[Any, ...]] = {
        "order": (
            list[Name],
            "names of bushings, springs with laws, dampings and others in the order in which they act; default: that of the "
            "lists, which is nearly always sufficient",
            [],
        ),
        "equilibrium": (EquilibriumScene | None, "settings of the equilibrium", None),
        "run": (RunScene | None, "settings of the simulation; optional if equilibrium is given"),
    }
    return made("Scene", Parts, Parts.__doc__, {**lists, **ends})


if TYPE_CHECKING:

    class Scene(Parts):
        """Schema of scenes for type checkers; at run time it has a list for each kind of entry."""

        order: list[str]
        equilibrium: EquilibriumScene | None
        run: RunScene | None

else:

    def __getattr__(name: str) -> Any:
        """Return `Scene`, made from the kinds of entries that are registered at the first access."""
        if name == "Scene":
            importlib.import_module("rodsim.model")  # registers its kinds of entries
            return _scene(tuple(COMPONENT_TYPES.values()))
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
