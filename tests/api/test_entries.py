"""Every kind of entry passes through all stages.

Schema, scene, checks, description, tables, rigid twin, nodes, system.

The values follow from the types of the fields, so that a new kind is tested without a change here, as is the
kind that this file registers.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
from dataclasses import MISSING
from typing import Any

import numpy as np
import pytest
import yaml

from discretization.interaction_table import Interaction
from discretization.system import fingerprint
from rigid.errors import ModelError
from rigid.interactions.drag import DRAG
from rigid.system import Floats
from rodsim import Friction, Model, SceneError
from rodsim.cli.main import main
from rodsim.components.base import (
    COMPONENT_TYPES,
    DIRECTION,
    NOT_NEGATIVE,
    POINT,
    CheckContext,
    Component,
    InteractionComponent,
    Poses,
    add,
    choice,
    component,
    parameter,
    register,
)
from rodsim.components.model_parts import Anchor
from rodsim.results.distances import SURFACES
from rodsim.scenes import schema


@component
class BrakeEntry(InteractionComponent):
    """A drag on the frame of a point, along or across a direction."""

    key, word, list_description = "test_brakes", "test brake", "what slows points"
    on: Anchor = parameter(POINT, "where it slows")
    rate: float = parameter(NOT_NEGATIVE, "force over velocity [N s/m]")
    along: Floats = parameter(DIRECTION, "world direction of the axle [1]", (1.0, 0.0, 0.0))
    turn: float | None = parameter(NOT_NEGATIVE, "moment over rate; left out: none [N m s]", None)
    side: str = parameter(choice("both", "left"), "where its shoes are", "both")

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        if values["rate"] == 0.0:
            raise ModelError(f"{context.owner}: slows nothing; give a rate above 0")

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        frame = poses.frame_of(self.on)
        axis = poses.local(frame, self.along)
        numbers = np.concatenate([[self.rate], ((self.turn or 0.0) * np.outer(axis, axis)).ravel()])
        return [Interaction(DRAG, [frame], numbers, (0.0, 0.0))]


# a sphere or a plane alone
pytestmark = pytest.mark.filterwarnings("ignore:.*collides with nothing:rodsim.warnings.ModelCheckWarning")

KINDS = [*COMPONENT_TYPES, BrakeEntry.key]  # ENTRIES is full: `Model` has been imported

PARTS: dict[str, Any] = yaml.safe_load("""
materials: {m: {E: 1.0e+6, nu: 0.3, density: 1000}}
rods:
  - {name: wire, curve: [[0, 0, 0], [1, 0, 0]], section: {type: circular, radius: 0.02, material: m}, n_elements: 3}
bodies:
  - {name: one, shape: {type: box, size: [0.1, 0.2, 0.3], mass: 1}, position: [0, 1, 0]}
  - {name: two, shape: {type: box, size: [0.1, 0.2, 0.3], mass: 1}, position: [0, 2, 0]}
  - {name: three, shape: {type: box, size: [0.1, 0.2, 0.3], mass: 1}, position: [0, 3, 0]}
joints:
  - {name: of two, kind: revolute, a: ground, b: two, at: [0, 2, 0], axis: [0, 0, 1]}
  - {name: of three, kind: revolute, a: ground, b: three, at: [0, 3, 0], axis: [0, 0, 1]}
planes: [{name: table, "on": {ground: [0, 0, -3]}, normal: [0, 0, 1]}]
fluids: [{name: brook, density: 1000}]
sensors: [{name: seen, measure: {of: coordinate, b: one, axis: [0, 0, 1]}}]
run: {t_end: 0.02, dt: 0.01}
""")
ON_ROD = {"rod": "wire", "s": 0.4}  # where every node has one
VALUES = {  # by the word of a value type
    "point": ON_ROD,
    "points of parts": [ON_ROD, "one", {"body": "two", "at": [0.1, 0.0, 0.0]}],
    "drums": [
        {"drum": "two", "axis": [0.0, 0.0, 1.0], "radius": 0.1},
        {"drum": "three", "axis": [0.0, 0.0, 1.0], "radius": 0.2, "side": -1},
    ],
    "rod": "wire",
    "part": "wire",
    "joint": "of two",
    "joints": ["of two", "of three"],
    "ratios": [2.0, -3.0],
    "number": 0.5,
    "positive": 0.7,
    "not negative": 1.5,
    "vector": [0.0, 0.6, 0.8],
    "place": [0.4, 0.0, 0.0],
    "pair": [0.25, 0.6],
    "points": [[0.0, 0.0, 0.1], [0.2, 0.0, 0.0]],
    "six": [0.01, 0.0, 0.0, 0.02, 0.0, 0.0],
    "matrix": [9.0, 8.0, 7.0, 3.0, 2.0, 1.0],
    "axes": [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
    "bearing matrix": [[[9.0, 2.0], [-3.0, 8.0]], [[7.0, 1.0], [-1.0, 5.0]]],
    "speeds": [0.0, 10.0],
    "flag": True,
    "varying": [0.0, 0.0, 2.0],
    "motion": {"function": "sine", "amplitude": 0.2, "frequency": 1.0},
    "law": {"type": "polynomial", "coefficients": [0.0, 3.0]},
    "coordinates": ["angle", None],
    "text": "k*d**2",
    "varying scalar": 2.0,
    "varying, not negative": 1.5,
    "shape along a rod": [[0.0, 1.0], [1.0, 0.5]],
    "measure": {"of": "distance", "a": ON_ROD, "b": "one"},
    "control law": {"type": "pid", "kp": 2.0},
    "actuator law": {"type": "first-order lag", "time": 0.1},
    "varying scalars": {"u": 2.0},
    "inputs": ["seen"],
    "output names": ["u"],
    "measures": {"d": {"of": "distance", "a": ON_ROD, "b": "one"}},
    "parameters": {"k": 2.0},
    "condition": "seen > 0.5",
    "joints or drives": "of two",
    "count": 3,
    "friction": [0.5, 0.4],
    "fluid": "brook",
    "current": {"law": "power law", "velocity": [1.0, 0.0, 0.0], "height": 10.0},
    "waves": [{"height": 1.0, "period": 5.0}],
    "one or three numbers": [0.1, 0.2, 0.3],
    "added mass": [1.0, 2.0, 3.0],
    "polar": {
        "angle": [-180, 0, 180],
        "lift": [0.0, 0.5, 0.0],
        "drag": [0.1, 0.2, 0.1],
        "moment": [0.0, 0.1, 0.0],
    },
    "number or table along a rod": [[0.0, 0.2], [1.0, 0.1]],
}
NOTHING = ("length", "axis", "second_axis", "pitch", "locked", "inertia")
FITTING: dict[str, dict[str, Any]] = {  # for fields that depend on each other
    "joints": {"kind": "weld", **dict.fromkeys(NOTHING)},
    "drives": {"of": "angle"},
    "tendons": {"stiffness": None, "length": None},
    "belts": {"EA": None, "stiffness": 50.0},
    "chambers": {"pressure": None, "gas_pressure": None},
    "joint_forces": {"of": "angle"},
    "actuators": {"of": "angle", "initial": {"x": 1.0}, "measure": None},
    "law_springs": {"of": "displacement"},
    "limits": {"of": "displacement", "lower": -0.5},
    "joint_dampings": {"sliding": 0.0},
    "meshes": yaml.safe_load("""
vertices: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
"""),
    "submerged_bodies": {"on": "one"},
    "moving_forces": {"length": 0.2},
    "bearings": {"a": "ground", "b": ON_ROD, "kind": "radial", "axis": [1.0, 0.0, 0.0], "y": [0.0, 0.6, 0.8]},
    "controllers": {"memory": None},  # PID has its own
    "events": {"engage": "of three"},
    "contacts": yaml.safe_load("""
{a: [wire], b: [table], law: power, exponent: 1.0, reach: null, restitution: 0.8, anisotropy: [1.0, 2.0, 3.0], itself: false,
 ignore: null}
"""),
}


@pytest.fixture(autouse=True)
def _brakes():
    register(BrakeEntry)
    yield
    del COMPONENT_TYPES[BrakeEntry.key]


def item(kind: type[Component]) -> dict[str, Any]:
    """An entry with all fields, as written in a scene."""
    values: dict[str, Any] = {"name": "it"}
    for field in kind.fields().values():
        value = (
            field.value_type.choices[-1]
            if field.value_type.word == "choice"
            else VALUES.get(field.value_type.word)
        )
        values[field.key] = {"a": ON_ROD, "b": "one"}.get(field.key, value)
    values |= FITTING.get(kind.key, {})
    return {key: value for key, value in values.items() if value is not None}


def scene(key: str, **other: Any) -> dict[str, Any]:
    """A scene of parts with one entry, some of its keys replaced."""
    data = copy.deepcopy(PARTS)
    values = {k: v for k, v in (item(COMPONENT_TYPES[key]) | other).items() if v is not KeyError}
    data[key] = [*data.get(key, []), values]
    return data


def loaded(tmp_path, data: dict[str, Any]) -> Model:
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return Model.load(path)


@pytest.mark.parametrize("key", KINDS)
def test_schema_documents_every_entry_completely(key):
    published = schema.Scene.model_json_schema()
    kind, definition = (
        COMPONENT_TYPES[key],
        published["$defs"][published["properties"][key]["items"]["$ref"].split("/")[-1]],
    )
    assert published["properties"][key]["description"] == kind.list_description
    assert definition["description"] == inspect.getdoc(kind)
    fields = {field.key: field for field in kind.fields().values()}
    assert list(definition["properties"]) == ["name", *fields]
    assert {name: definition["properties"][name]["description"] for name in fields} == {
        name: field.words for name, field in fields.items()
    }
    assert set(definition["required"]) == {
        "name",
        *(key for key, x in fields.items() if x.default is MISSING),
    }


@pytest.mark.parametrize("key", KINDS)
def test_scene_entry_acts_and_is_described_and_listed(tmp_path, key):
    kind = COMPONENT_TYPES[key]
    model = loaded(tmp_path, scene(key))
    entry = getattr(model, kind.table)["it"]
    assert type(entry) is kind
    assert repr(entry).startswith("<")
    without, built = loaded(tmp_path, PARTS).build(), model.build()
    t = np.array([0.0, 0.1])
    assert (
        key == "fluids"  # acts by the parts in it
        or fingerprint(built.system) != fingerprint(without.system)
        or not np.array_equal(built.load_values(t), without.load_values(t))
    )
    assert isinstance(model._repr_html_(), str)
    assert kind.plural in model._repr_html_() or kind.table == "joints"
    nodes = built.layout.rods[0].arclength
    assert [s for s in entry.required_nodes(model.rods["wire"]) if np.abs(nodes - s).min() > 1e-12] == []
    if ON_ROD in item(kind).values():
        assert 0.4 in entry.required_nodes(model.rods["wire"])
    described = json.loads(json.dumps(built.layout.description))
    (description,) = [
        table["it"]
        for name, table in described.items()
        if isinstance(table, dict) and "it" in table and name != SURFACES
    ]
    if isinstance(description, dict):
        words = {field.key: field.result_key for field in kind.fields().values()}
        assert {words[key] for key in item(kind).keys() - {"name"}} <= description.keys()
    assert str(entry.name) == "it"


@pytest.mark.parametrize("key", KINDS)
def test_rigid_twin_keeps_an_entry_or_reports_why_not(tmp_path, key):
    model = loaded(tmp_path, scene(key))
    entry = getattr(model, COMPONENT_TYPES[key].table)["it"]
    twin = model.as_rigid("wire")
    moved = getattr(twin, COMPONENT_TYPES[key].table).get("it")
    along = any(x is model.rods["wire"] for x in entry.references)
    assert (moved is None) == along
    assert any(f"{COMPONENT_TYPES[key].word} 'it'" in words for words in twin.left_out) == along
    if moved is not None:
        assert model.rods["wire"] not in [getattr(x, "part", x) for x in moved.references]
        twin.build()


@pytest.mark.parametrize("key", KINDS)
def test_invalid_entries_are_reported_with_their_line(tmp_path, key):
    kind = COMPONENT_TYPES[key]
    for field in kind.fields().values():
        if field.default is MISSING:
            with pytest.raises(SceneError, match=rf":\d+: {kind.word} 'it': '{field.key}' is missing"):
                loaded(tmp_path, scene(key, **{field.key: KeyError}))
        with pytest.raises(SceneError, match=rf":\d+: {kind.word} 'it': ({field.key}|.*'nonsense')"):
            loaded(tmp_path, scene(key, **{field.key: {"nonsense": 1}}))
    last = list(kind.fields().values())[-1].key
    with pytest.raises(
        SceneError, match=rf":\d+: {kind.word} 'it': the key '{last}_' is not known.*'{last}'"
    ):
        loaded(tmp_path, scene(key, **{f"{last}_": "it"}))


@pytest.mark.parametrize("key", KINDS)
def test_names_are_unique_among_entries_that_could_be_confused(tmp_path, key):
    kind = COMPONENT_TYPES[key]
    for other in COMPONENT_TYPES.values():
        data = scene(key)
        data[other.key] = [*data.get(other.key, []), item(other)]
        if other.table in (kind.table, *kind.tables_without_namesakes):
            assert kind.table in (other.table, *other.tables_without_namesakes)
            with pytest.raises(SceneError, match=r":\d+: .* 'it': there is already a .* 'it'"):
                loaded(tmp_path, data)
            model = loaded(tmp_path, scene(key))
            with pytest.raises(ModelError, match=f"there is already a {kind.word} 'it'"):
                add(model, other, "it")


OF_OTHER_ARGUMENTS = (
    "loads",
    "energies",
    "actuators",
    "springs",
    "torsion_springs",
    "law_springs",
    BrakeEntry.key,
)


@pytest.mark.parametrize("key", [key for key in KINDS if key not in OF_OTHER_ARGUMENTS])
def test_model_method_has_the_arguments_of_the_entry(key):
    """The method is found by its return type. Loads have two methods, whose kind is their name; parameters of
    energies and inputs of actuators are keywords; all springs have one method (tests/api/test_springs.py).
    """
    kind = COMPONENT_TYPES[key]
    (method,) = [
        value
        for name, value in vars(Model).items()
        if name.startswith("add_") and inspect.signature(value).return_annotation == kind.__name__
    ]
    defaults = {name: x.default for name, x in inspect.signature(method).parameters.items()}
    stated_there = {
        field.key: inspect.Parameter.empty if field.required else field.default
        for field in kind.fields().values()
        if key != "contacts" or field.key not in dataclasses.asdict(Friction(0.0))
    }
    assert defaults == {"self": inspect.Parameter.empty, "name": inspect.Parameter.empty, **stated_there}


def test_kind_registered_in_a_test_runs_from_a_scene(tmp_path, capsys):
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(scene(BrakeEntry.key, on="one")))
    assert main(["check", str(path)]) == 0
    assert main(["run", str(path), "-o", str(tmp_path / "out.vtkhdf")]) == 0
    path.write_text(yaml.safe_dump(scene(BrakeEntry.key, rate=0.0)))
    assert main(["check", str(path)]) == 2
    assert "test brake 'it': slows nothing; give a rate above 0" in capsys.readouterr().err
    with pytest.raises(ModelError, match="another key"):
        register(
            component(type("Twice", (InteractionComponent,), {"key": BrakeEntry.key, "__annotations__": {}}))
        )


def test_unregistered_kind_is_unknown_to_scenes(tmp_path):
    data = scene(BrakeEntry.key)
    del COMPONENT_TYPES[BrakeEntry.key]
    with pytest.raises(SceneError, match="the key 'test_brakes' is not known here"):
        loaded(tmp_path, data)
    register(BrakeEntry)
    assert "it" in loaded(tmp_path, data).others
