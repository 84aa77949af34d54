"""Make a `Model` from a checked scene, with one method for each kind of object."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are imported on first access

from rigid import quaternions
from rigid.checks import direction, unit_quaternion
from rigid.errors import ModelError
from rodsim.interactions import measures
from rodsim.interactions.measures import Measure
from rodsim.model import Model
from rodsim.orientations import align, quaternion_of
from rodsim.parts.entry import ENTRIES, Entry, Stated, add
from rodsim.parts.model_parts import Anchor, Body, Driven, Ground
from rodsim.parts.part_names import ENDS, part_named
from rodsim.parts.sections import Section
from rodsim.parts.surface_entries import SURFACES_ON_PARTS
from rodsim.scenes import schema, schema_types
from rodsim.scenes.errors import Path, SceneError, SceneProblem, look_up
from rodsim.scenes.functions import displacements_of, law_of, motion_of, value_of
from rodsim.scenes.named_curves import curve_of, table_along
from rodsim.scenes.places import part_of, parts_in_order
from rodsim.scenes.reading import read
from rodsim.scenes.repeats import repeated
from rodsim.scenes.scene_checks import check, name_object, objects
from rodsim.scenes.schema import AngleInRadians
from rodsim.scenes.schema_entries import MeasureScene
from rodsim.scenes.sections import section_of
from rodsim.scenes.shapes import shape_of
from rodsim.scenes.yaml_data import Source


class Loaded(NamedTuple):
    """A scene that was read, checked and made into a model."""

    source: Source
    scene: schema.Scene
    model: Model
    monitors: dict[str, tuple[Anchor, list[float]]]  # for equilibria: name -> (point, direction)


def load(path: str | FilePath) -> Loaded:
    """Read, check and build the scene file `path`.

    Raises SceneError, with file, line, object, value and remedy, for any error in the scene.
    """
    return loaded_from(read(path), FilePath(path).parent)


def loaded_from(source: Source, folder: FilePath, built: bool = True) -> Loaded:
    """Check a scene that has been read and make its model; mesh files are searched in `folder`.

    `built`: True to build the model once as a check; False if the caller builds it.
    """
    source = repeated(source)
    scene = check(source)
    try:
        loader = _Loader(scene, folder)
        model, monitors = loader.model(), loader.monitors()
        model.scene = source.text
    except SceneProblem as problem:
        raise source.located(problem) from None
    try:
        if built:
            model.build()
    except ModelError as error:
        raise translate(source, error) from None
    return Loaded(source, scene, model, monitors)


def translate(source: Source, error: ModelError) -> SceneError:
    """Return a SceneError with the text of `error` at the line of the first object that it is about."""
    heads = {kind: head for head, kind in objects().items()}
    for kind, name in error.about:
        for k, item in enumerate(source.data.get(heads[kind]) or []):
            if item.get("name") == name:
                return source.error((heads[kind], k), str(error))
    return source.error((), str(error))


class _Loader:
    """Make a model from a checked scene; `folder`: where mesh files are searched."""

    def __init__(self, scene: schema.Scene, folder: FilePath):
        self._scene, self._folder = scene, folder
        self._model = Model(scene.name, scene.gravity)

    def model(self) -> Model:
        """Return the model with all parts and entries of the scene; errors are reported at the path of the object."""
        scene = self._scene
        self._unique_names()
        add: dict[str, Callable[[Path, Any], None]] = {
            "bodies": self._body,
            "driven": self._driven,
            "rods": self._rod,
        }
        for path, item in parts_in_order(scene):
            self._guard(path, lambda path=path, item=item: add[str(path[0])](path, item))
        for head in add:  # numbered in the order of the scene, not in the order in which they were made
            made = getattr(self._model, head)
            given = {item.name: made[item.name] for item in getattr(scene, head)}
            made.clear()
            made.update(given)
        for head, kind in ENTRIES.items():
            for k, item in enumerate(getattr(scene, head)):
                path = (head, k)
                self._guard(path, lambda path=path, kind=kind, item=item: self._entry(path, kind, item))
        self._in_order()
        for name in scene.sections:
            self._guard(("sections", name), lambda name=name: self._section(("sections", name), name))
        return self._model

    def _in_order(self) -> None:
        """Sort the entries without a table for their kind by the key `order` of the scene."""
        others = self._model.others
        given = [name for name in self._scene.order if name in others]
        for name in given:
            others[name] = others.pop(name)

    def monitors(self) -> dict[str, tuple[Anchor, list[float]]]:
        """Return the points and directions of the monitors under `equilibrium`, by name."""
        given = self._scene.equilibrium.monitors if self._scene.equilibrium else []
        return {
            item.name: (self._point(("equilibrium", "monitors", k, "point"), item.point), item.direction)
            for k, item in enumerate(given)
        }

    def _unique_names(self) -> None:
        """Raise SceneProblem if two parts, or two entries whose tables share names, have the same name."""
        tables = {frozenset((kind.table, *kind.namesakes)) for kind in ENTRIES.values()}
        lists = [[head for head, kind in ENTRIES.items() if kind.table in own] for own in tables]
        for heads in (["bodies", "rods", "driven"], *lists):
            seen: dict[str, tuple[str, Path]] = {}
            for head in heads:
                for k, item in enumerate(getattr(self._scene, head)):
                    who = name_object({head: [{"name": item.name}]}, (head, 0))
                    if item.name in seen:
                        raise SceneProblem(
                            (head, k, "name"),
                            f"{who}: there is already a {seen[item.name][0]}; choose another name",
                            seen[item.name][1],
                        )
                    seen[item.name] = who, (head, k, "name")

    def _guard(self, path: Path, action: Any) -> None:
        """Run `action`; convert a ModelError to a SceneProblem at the path of the object."""
        try:
            action()
        except ModelError as error:
            text = str(error)
            who = name_object(self._plain(path), path)
            name = who.split(" '")[-1].rstrip("'")
            raise SceneProblem(path, text if name in text else f"{who}: {text}") from None

    def _plain(self, path: Path) -> dict[str, Any]:
        """Return the names under the first key of a path as plain data, for `name_object`."""
        items = getattr(self._scene, str(path[0]))
        return {
            str(path[0]): [{"name": item.name} for item in items] if isinstance(items, list) else dict(items)
        }

    # --- parts

    def _body(self, path: Path, item: schema.BodyScene) -> None:
        """Add a body of the scene to the model."""
        quat = self._orientation(path, f"body '{item.name}'", item.orientation)
        position = self._place((*path, "position"), item.position)
        self._model.add_body(
            item.name,
            shape_of(item.shape, self._folder),
            position,
            quat,
            item.velocity,
            item.angular_velocity,
        )

    def _place(self, path: Path, given: Any) -> Any:
        """Return world coordinates (3,), m, given as numbers or as a point of another part."""
        if not isinstance(given, schema_types.PlaceScene):
            return given
        return self._point_of_part((*path, "at"), given.at).position + np.array(given.plus)

    def _orientation(self, path: Path, owner: str, given: Any) -> Any:
        """Return the quaternion (w, x, y, z) of an orientation in any of its forms."""
        if isinstance(given, schema_types.AxisAngle):
            axis = direction(owner, "orientation.axis", given.axis)
            return quaternions.from_axis_angle(axis, np.radians(given.angle_deg))
        if isinstance(given, schema_types.EulerAngles):
            rotation = scipy.spatial.transform.Rotation.from_euler(
                given.euler, given.angles_deg, degrees=True
            )
            return quaternion_of(owner, "orientation", rotation)
        if isinstance(given, schema_types.Aligned):
            return align(given.align, getattr(given, "with"))
        if not isinstance(given, schema_types.OrientationOf):
            return given
        quat = self._point_of_part((*path, "orientation", "of"), given.of).orientation
        if given.turned is None:
            return quat
        turned = unit_quaternion(owner, "turned", self._orientation(path, owner, given.turned))
        return quaternions.multiply(quat, turned)

    def _point_of_part(self, path: Path, given: Any) -> Anchor:
        """Return a point of a part that exists already, owing to `parts_in_order`."""
        if isinstance(given, str) and (point := self._point_by_name(given, path)) is not None:
            return point
        heads = ("rods",) if isinstance(given, schema_types.RodAnchor) else ("bodies", "driven")
        what, name = ("rod" if heads == ("rods",) else "body"), part_of(given)
        if not (isinstance(given, str) and name in self._model.rods):  # handled in `_anchor`
            look_up(
                path, what, name, {item.name: item for head in heads for item in getattr(self._scene, head)}
            )
        return self._point(path, given)

    def _rod(self, path: Path, item: schema.RodScene) -> None:
        """Add a rod of the scene to the model."""
        owner = f"rod '{item.name}'"

        def curve(given: Any) -> Any:
            """Return a curve as points or as a callable."""
            where = (*path, "curve")
            if isinstance(given, list):
                return [self._place((*where, k), point) for k, point in enumerate(given)]
            return curve_of(
                owner, given, np.array(self._place((*where, "center"), given.center), dtype=float)
            )

        def along(what: str, given: Any) -> Any:
            """Return a value, or the piecewise linear function of rows of s and a value."""
            rows = given is not None and isinstance(given[0], list)
            return table_along(owner, what, given) if rows else given

        def twist(what: str, given: Any) -> Any:
            """Return a twist in radians, as a number or a function of s."""
            if isinstance(given, AngleInRadians):
                return given.rad
            if not isinstance(given, list):
                return None if given is None else np.radians(given)
            return table_along(owner, what, [[s, np.radians(angle)] for s, angle in given], given)

        self._model.add_rod(
            item.name,
            curve(item.curve),
            self._section((*path, "section"), item.section),
            item.n_elements,
            item.closed,
            along("up", item.up),
            None if item.stress_free is None else curve(item.stress_free),
            item.velocity,
            item.angular_velocity,
            item.mass,
            twist=twist("twist_deg", item.twist_deg),
            stress_free_up=along("stress_free_up", item.stress_free_up),
            stress_free_twist=twist("stress_free_twist_deg", item.stress_free_twist_deg),
            stress_free_closed=item.stress_free_closed,
            element=item.element,
            rest_strains=along("rest_strains", item.rest_strains),
        )

    def _section(self, path: Path, given: Any) -> Section:
        """Return a section that is given by name or in place."""
        if isinstance(given, str):
            given = look_up(path, "section", given, self._scene.sections)
        material = getattr(given, "material", None)
        if isinstance(material, str):
            material = look_up(path, "material", material, self._scene.materials)
        return section_of(given, material)

    # --- what joins and loads them

    def _anchor(self, path: Path, given: Any) -> Anchor | Body | Ground | Driven:
        """Return the point, body, driven frame or ground that an anchor of the scene names."""
        if isinstance(given, schema_types.GroundAnchor):
            return self._model.ground.at(self._place((*path, "ground"), given.ground))
        if given == "ground":
            return self._model.ground
        if isinstance(given, schema_types.RodAnchor):
            return look_up(path, "rod", given.rod, self._model.rods).at(given.s, given.offset)
        name = given if isinstance(given, str) else given.body
        if isinstance(given, str) and name in self._model.rods:
            raise SceneProblem(
                path,
                f"'{name}' is a rod: say where on it, for example '{name}.end' or {{rod: {name}, s: 1.0}}",
            )
        if isinstance(given, str) and (point := self._point_by_name(given, path)) is not None:
            return point
        body: Body | Driven = look_up(path, "body", name, {**self._model.bodies, **self._model.driven})
        if isinstance(given, str):
            return body
        if given.at is not None and given.at_world is not None:
            raise SceneProblem(path, f"body '{name}': both 'at' and 'at_world' are given; give one")
        if given.at_world is not None:
            return body.at_world(given.at_world)
        return body if given.at is None else body.at(given.at)

    def _point_by_name(self, text: str, path: Path) -> Anchor | None:
        """Return the point that "cord.end", "cord@0.3" or "block@0.1,0,0" names; None if `text` has no such form."""
        model = self._model
        parts = {**model.bodies, **model.driven, **model.rods, "ground": model.ground}
        cut = [text.rpartition("@")[0], *(text.removesuffix(end) for end in ENDS if text.endswith(end))]
        if text in parts or not any(name in parts for name in cut):
            return None
        try:
            found = part_named(self._who(path).removesuffix(": ") or "scene", model, text)
        except ModelError as error:
            raise SceneProblem(path, str(error)) from None
        return found if isinstance(found, Anchor) else None

    def _entry(self, path: Path, kind: type[Entry], item: Any) -> None:
        """Convert the fields of an entry, each according to its type, and add the entry to the model."""
        fields = kind.fields()
        plain = kind.canonical({field: getattr(item, own.key) for field, own in fields.items()})
        points = kind.points(plain)
        given = {
            field: None
            if value is None
            else self._value((*path, fields[field].key), fields[field], value, points)
            for field, value in plain.items()
        }
        add(self._model, kind, item.name, **given)

    def _value(self, path: Path, own: Stated, value: Any, points: bool) -> Any:
        """Convert the value of a field; `points`: True if ends of the entry must be points."""
        word, model = own.sort.word, self._model
        if word == "part":
            return look_up(path, word, value, {**model.bodies, **model.rods})
        if word in ("rod", "joint"):
            return look_up(path, word, value, model.rods if word == "rod" else model.joints)
        if word == "joints":
            return [look_up((*path, k), "joint", name, model.joints) for k, name in enumerate(value)]
        if word == "surfaces":
            several = value if isinstance(value, list) else [value]
            return [self._surface((*path, k), name) for k, name in enumerate(several)]
        if word == "surface pairs":
            return [[self._surface((*path, k), name) for name in pair] for k, pair in enumerate(value)]
        if word == "point" or (word == "end" and points):
            return self._point(path, value)
        if word == "mesh file":
            return str(self._folder / value)
        if word == "motion":
            return motion_of(path, value)
        if word == "measures":
            return {name: self._measure((*path, name), given) for name, given in value.items()}
        if word in ("end", "place"):
            return (self._anchor if word == "end" else self._place)(path, value)
        return {"varying": value_of, "law": law_of}.get(word, lambda given: given)(value)

    def _surface(self, path: Path, name: str) -> Any:
        """Return the sphere, solid, plane, mesh or rod with this name; SceneProblem if there is none or two."""
        model = self._model
        tables: dict[str, dict[str, Any]]
        tables = {"rod": model.rods} | {kind.word: getattr(model, kind.table) for kind in SURFACES_ON_PARTS}
        of_name = [word for word, table in tables.items() if name in table]
        if len(of_name) > 1:
            raise SceneProblem(path, f"'{name}' is a {' and a '.join(of_name)}; rename one of them")
        return look_up(path, "surface", name, {k: x for table in tables.values() for k, x in table.items()})

    def _measure(self, path: Path, given: MeasureScene) -> Measure:
        """Make a measure with the function of `rodsim.interactions.measures` that has its name."""
        function: Callable[..., Measure] = getattr(measures, given.of)
        who = f"measure '{path[-1]}'"
        takes = signature(function).parameters
        ends = {"a": given.a, "point" if given.of == "coordinate" else "b": given.b}
        found: dict[str, Any] = {
            what: None if end is None else self._anchor((*path, what), end) for what, end in ends.items()
        }
        found |= {what: getattr(given, what) for what in ("axis", "direction_a", "direction_b", "length")}
        found = {what: value for what, value in found.items() if value is not None}
        for what in found:
            if what not in takes:
                raise SceneProblem(path, f"{who}: '{given.of}' has no '{what}'; leave it out")
        for what, own in takes.items():
            if what not in found and own.default is own.empty:
                raise SceneProblem(path, f"{who}: '{given.of}' lacks '{what}'; give it")
        return function(**found)

    def _point(self, path: Path, given: Any) -> Anchor:
        """Return the point that an anchor of the scene names; a body or driven frame stands for its origin."""
        thing = self._anchor(path, given)
        if isinstance(thing, Ground):
            raise SceneProblem(
                path, f"{self._who(path)}'ground' alone is no point; give {{ground: [x, y, z]}}"
            )
        return thing.at((0.0, 0.0, 0.0)) if isinstance(thing, Body | Driven) else thing

    def _who(self, path: Path) -> str:
        """Return kind and name of the object at a path, for the start of a message; an empty text if it has no name."""
        head, k = path[:2]
        if head not in objects():
            return ""
        return f"{objects()[str(head)]} '{getattr(self._scene, str(head))[k].name}': "

    def _driven(self, path: Path, item: schema.DrivenScene) -> None:
        """Add a driven frame of the scene to the model."""
        quat = self._orientation(path, f"driven '{item.name}'", item.orientation)
        position = self._place((*path, "position"), item.position)
        along = displacements_of((*path, "displacement"), item.displacement)
        turn = None if item.turn is None else motion_of((*path, "turn"), item.turn)
        self._model.add_driven(item.name, position, quat, along, turn, item.axis)
