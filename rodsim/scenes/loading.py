"""From a checked scene to a `Model`: one function for each kind of thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

from rigid import quaternions
from rigid.checks import direction, unit_quaternion
from rigid.errors import ModelError
from rigid.inertia import Box, Cone, Cylinder, MassProperties, PointMass, Sphere
from rigid.joints import JOINTS
from rigid.surface import Mesh
from rodsim.model import Model
from rodsim.parts.materials import Material
from rodsim.parts.model_parts import Anchor, Body, Driven, Ground
from rodsim.parts.sections import Section
from rodsim.scenes import schema, schema_motion, schema_types
from rodsim.scenes.checking import OBJECTS, check, name_object
from rodsim.scenes.errors import Path, SceneError, SceneProblem, look_up
from rodsim.scenes.motions import displacements_of, law_of, motion_of, value_of
from rodsim.scenes.named_curves import curve_of, table_along
from rodsim.scenes.places import part_of, parts_in_order
from rodsim.scenes.reading import Source, read


class Loaded(NamedTuple):
    """A scene ready to run."""

    source: Source
    scene: schema.Scene
    model: Model
    monitors: dict[str, tuple[Anchor, list[float]]]  # of its equilibria


def load(path: str | FilePath) -> Loaded:
    """Read, check and build the scene file `path`.

    Raises SceneError, with file, line, object, value and cure, for whatever is wrong with it.
    """
    return loaded_from(read(path), FilePath(path).parent)


def loaded_from(source: Source, folder: FilePath, built: bool = True) -> Loaded:
    """The same from data that has been read; meshes are looked for in `folder`.

    built: build the model once to check it; False leaves that to who runs it.
    """
    scene = check(source)
    try:
        loader = _Loader(scene, folder)
        model, monitors = loader.model(), loader.monitors()
        model.scene = source.text
    except SceneProblem as problem:
        raise source.error(problem.path, str(problem)) from None
    try:
        if built:
            model.build()
    except ModelError as error:
        raise translate(source, error) from None
    return Loaded(source, scene, model, monitors)


def translate(source: Source, error: ModelError) -> SceneError:
    """A SceneError at the line of the first part that `error` is about."""
    heads = {kind: head for head, kind in OBJECTS.items()}
    for kind, name in error.about:
        for k, item in enumerate(source.data.get(heads[kind]) or []):
            if item.get("name") == name:
                return source.error((heads[kind], k), str(error))
    return source.error((), str(error))


class _Loader:
    def __init__(self, scene: schema.Scene, folder: FilePath):
        self._scene, self._folder = scene, folder
        self._model = Model(scene.name, scene.gravity)

    def model(self) -> Model:
        """All parts, each under the path it stands at."""
        scene = self._scene
        self._unique_names()
        add: dict[str, Callable[[Path, Any], None]] = {
            "bodies": self._body,
            "driven": self._driven,
            "rods": self._rod,
        }
        for path, item in parts_in_order(scene):
            self._guard(path, lambda path=path, item=item: add[str(path[0])](path, item))
        for head in add:  # numbered as they stand in the scene, whichever was made first
            made = getattr(self._model, head)
            given = {item.name: made[item.name] for item in getattr(scene, head)}
            made.clear()
            made.update(given)
        self._each("joints", scene.joints, self._joint)
        self._each("springs", scene.springs, self._spring)
        self._each("torsion_springs", scene.torsion_springs, self._torsion)
        self._each("loads", scene.loads, self._load)
        self._each("bushings", scene.bushings, self._bushing)
        self._each("law_springs", scene.law_springs, self._law_spring)
        self._each("limits", scene.limits, self._limit)
        self._each("drives", scene.drives, self._drive)
        self._each("gears", scene.gears, self._gear)
        self._each("distributed_loads", scene.distributed_loads, self._distributed_load)
        self._each("pressures", scene.pressures, self._pressure)
        self._each("external_dampings", scene.external_dampings, self._external_damping)
        self._each("joint_frictions", scene.joint_frictions, self._joint_friction)
        for name in scene.sections:
            self._guard(("sections", name), lambda name=name: self._section(("sections", name), name))
        return self._model

    def monitors(self) -> dict[str, tuple[Anchor, list[float]]]:
        """Points and directions under `static`."""
        given = self._scene.static.monitors if self._scene.static else []
        return {
            item.name: (self._point(("static", "monitors", k, "point"), item.point), item.direction)
            for k, item in enumerate(given)
        }

    def _unique_names(self) -> None:
        for heads in (
            ("bodies", "rods", "driven"),
            ("joints", "drives", "gears"),
            ("springs",),
            ("torsion_springs",),
            ("loads", "distributed_loads"),
            ("bushings", "law_springs", "limits", "pressures", "external_dampings", "joint_frictions"),
        ):
            seen: dict[str, str] = {}
            for head in heads:
                for k, item in enumerate(getattr(self._scene, head)):
                    who = name_object({head: [{"name": item.name}]}, (head, 0))
                    if item.name in seen:
                        raise SceneProblem(
                            (head, k, "name"),
                            f"{who}: there is already a {seen[item.name]}; choose another name",
                        )
                    seen[item.name] = who

    def _each(self, head: str, items: Iterable[Any], add: Any) -> None:
        for k, item in enumerate(items):
            self._guard((head, k), lambda item=item, k=k: add((head, k), item))

    def _guard(self, path: Path, action: Any) -> None:
        """Run `action`; what it complains of gets the path of the object."""
        try:
            action()
        except ModelError as error:
            text = str(error)
            who = name_object(self._plain(path), path)
            name = who.split(" '")[-1].rstrip("'")
            raise SceneProblem(path, text if name in text else f"{who}: {text}") from None

    def _plain(self, path: Path) -> dict[str, Any]:
        items = getattr(self._scene, str(path[0]))
        return {
            str(path[0]): [{"name": item.name} for item in items] if isinstance(items, list) else dict(items)
        }

    # --- parts

    def _body(self, path: Path, item: schema.BodyScene) -> None:
        quat = self._orientation(path, f"body '{item.name}'", item.orientation)
        position = self._place((*path, "position"), item.position)
        self._model.add_body(
            item.name, self._shape(item.shape), position, quat, item.velocity, item.angular_velocity
        )

    def _place(self, path: Path, given: Any) -> Any:
        """World coordinates (3,), given or those of a point of another part."""
        if not isinstance(given, schema_types.PlaceScene):
            return given
        return self._point_of_part((*path, "at"), given.at).position + np.array(given.plus)

    def _orientation(self, path: Path, owner: str, given: Any) -> Any:
        """The quaternion."""
        if isinstance(given, schema_types.AxisAngle):
            axis = direction(owner, "orientation.axis", given.axis)
            return quaternions.from_axis_angle(axis, np.radians(given.angle_deg))
        if not isinstance(given, schema_types.OrientationOf):
            return given
        quat = self._point_of_part((*path, "orientation", "of"), given.of).orientation
        if given.turned is None:
            return quat
        turned = unit_quaternion(owner, "turned", self._orientation(path, owner, given.turned))
        return quaternions.multiply(quat, turned)

    def _point_of_part(self, path: Path, given: Any) -> Anchor:
        """Of a part that is there: `parts_in_order` has seen to it."""
        heads = ("rods",) if isinstance(given, schema_types.RodAnchor) else ("bodies", "driven")
        what, name = ("rod" if heads == ("rods",) else "body"), part_of(given)
        if not (isinstance(given, str) and name in self._model.rods):  # which has words of its own
            look_up(
                path, what, name, {item.name: item for head in heads for item in getattr(self._scene, head)}
            )
        return self._point(path, given)

    def _shape(self, shape: Any) -> MassProperties:
        if isinstance(shape, schema.GivenShape):
            return MassProperties(shape.mass, shape.inertia, shape.center)  # type: ignore[arg-type]
        if isinstance(shape, schema.PointShape):
            return PointMass(shape.mass)
        given = {"density": shape.density, "mass": shape.mass}
        if isinstance(shape, schema.BoxShape):
            return Box(*shape.size, **given)
        if isinstance(shape, schema.SphereShape):
            return Sphere(shape.radius, surface=shape.surface, **given)
        if isinstance(shape, schema.MeshShape):
            return Mesh(self._folder / shape.file, scale=shape.scale, **given)
        make = Cylinder if isinstance(shape, schema.CylinderShape) else Cone
        return make(shape.radius, shape.height, surface=shape.surface, **given)

    def _rod(self, path: Path, item: schema.RodScene) -> None:
        owner = f"rod '{item.name}'"

        def curve(given: Any) -> Any:
            where = (*path, "curve")
            if isinstance(given, list):
                return [self._place((*where, k), point) for k, point in enumerate(given)]
            return curve_of(
                owner, given, np.array(self._place((*where, "center"), given.center), dtype=float)
            )

        def up(what: str, given: Any) -> Any:
            rows = given is not None and isinstance(given[0], list)
            return table_along(owner, what, given) if rows else given

        def twist(what: str, given: Any) -> Any:
            if not isinstance(given, list):
                return None if given is None else np.radians(given)
            return table_along(owner, what, [[s, np.radians(angle)] for s, angle in given])

        self._model.add_rod(
            item.name,
            curve(item.curve),
            self._section((*path, "section"), item.section),
            item.n_elements,
            item.closed,
            up("up", item.up),
            None if item.stress_free is None else curve(item.stress_free),
            item.velocity,
            item.angular_velocity,
            item.mass,
            twist=twist("twist_deg", item.twist_deg),
            stress_free_up=up("stress_free_up", item.stress_free_up),
            stress_free_twist=twist("stress_free_twist_deg", item.stress_free_twist_deg),
            stress_free_closed=item.stress_free_closed,
            element=item.element,
            rest_strains=self._rest_strains(owner, item.rest_strains),
        )

    @staticmethod
    def _rest_strains(owner: str, given: Any) -> Any:
        """Six numbers, or rows of s and six numbers: straight lines between them."""
        rows = given is not None and isinstance(given[0], list)
        return table_along(owner, "rest_strains", given) if rows else given

    def _section(self, path: Path, given: Any) -> Section:
        if isinstance(given, str):
            given = look_up(path, "section", given, self._scene.sections)
        section, law = self._linear_section(path, given), given.law
        if isinstance(law, schema.ExpressionLaw):
            section = section.with_energy(law.expression, **law.parameters)
        elif law is not None:
            section = section.with_law(law.type, **law.model_dump(exclude={"type"}))
        if given.relaxation is not None:
            section = section.with_relaxation(**given.relaxation.model_dump())
        if given.centers is not None:
            section = section.with_centers(**given.centers.model_dump())
        return section

    def _linear_section(self, path: Path, given: Any) -> Section:
        if isinstance(given, schema.StiffnessSection):
            return Section.from_stiffness(
                **given.model_dump(exclude={"type", "law", "relaxation", "centers"})
            )
        material = given.material
        if isinstance(material, str):
            material = look_up(path, "material", material, self._scene.materials)
        stuff = Material(**material.model_dump())
        if isinstance(given, schema.CircularSection):
            return Section.circular(given.radius, stuff)
        if isinstance(given, schema.TubeSection):
            return Section.tube(given.outer_radius, given.inner_radius, stuff)
        return Section.rectangle(given.width, given.height, stuff)

    # --- what joins and loads them

    def _anchor(self, path: Path, given: Any) -> Anchor | Body | Ground | Driven:
        if isinstance(given, schema_types.GroundAnchor):
            return self._model.ground.at(self._place((*path, "ground"), given.ground))
        if given == "ground":
            return self._model.ground
        if isinstance(given, schema_types.RodAnchor):
            return look_up(path, "rod", given.rod, self._model.rods).at(given.s, given.offset)
        name = given if isinstance(given, str) else given.body
        if isinstance(given, str) and name in self._model.rods:
            raise SceneProblem(
                path, f"'{name}' is a rod: say where on it, for example {{rod: {name}, s: 1.0}}"
            )
        body: Body | Driven = look_up(path, "body", name, {**self._model.bodies, **self._model.driven})
        if isinstance(given, str):
            return body
        if given.at is not None and given.at_world is not None:
            raise SceneProblem(path, f"body '{name}': both 'at' and 'at_world' are given; give one")
        if given.at_world is not None:
            return body.at_world(given.at_world)
        return body if given.at is None else body.at(given.at)

    def _joint(self, path: Path, item: schema.JointScene) -> None:
        held = self._point if JOINTS[item.kind].apart else self._anchor
        a = held((*path, "a"), item.a)
        b = None if item.b is None else held((*path, "b"), item.b)
        self._model.add_joint(
            item.name,
            item.kind,
            a,
            b,
            self._place((*path, "at"), item.at),
            item.axis,
            item.length,
            second_axis=item.second_axis,
            pitch=item.pitch,
            locked=item.locked,
        )

    def _spring(self, path: Path, item: schema.SpringScene) -> None:
        a, b = (self._point((*path, side), given) for side, given in (("a", item.a), ("b", item.b)))
        self._model.add_spring(item.name, a, b, item.stiffness, item.length, item.damping)

    def _point(self, path: Path, given: Any) -> Anchor:
        thing = self._anchor(path, given)
        if isinstance(thing, Ground):
            raise SceneProblem(
                path, f"{self._who(path)}'ground' alone is no point; give {{ground: [x, y, z]}}"
            )
        return thing.at((0.0, 0.0, 0.0)) if isinstance(thing, Body | Driven) else thing

    def _who(self, path: Path) -> str:
        """The object at a path, for the beginning of a message; nothing for what has no name."""
        head, k = path[:2]
        if head not in OBJECTS:
            return ""
        return f"{OBJECTS[str(head)]} '{getattr(self._scene, str(head))[k].name}': "

    def _torsion(self, path: Path, item: schema.TorsionSpringScene) -> None:
        a, b = (self._anchor((*path, side), given) for side, given in (("a", item.a), ("b", item.b)))
        self._model.add_torsion_spring(item.name, a, b, item.axis, item.stiffness, item.damping, item.angle)

    def _load(self, path: Path, item: schema.LoadScene) -> None:
        add = self._model.add_force if item.kind == "force" else self._model.add_moment
        add(item.name, self._point((*path, "on"), item.on), value_of(item.value), item.following)

    def _pair(self, path: Path, item: Any, points: bool) -> Any:
        held = self._point if points else self._anchor
        return (held((*path, side), given) for side, given in (("a", item.a), ("b", item.b)))

    def _bushing(self, path: Path, item: schema_motion.BushingScene) -> None:
        a, b = self._pair(path, item, points=item.at is None)
        given = item.stiffness, item.damping, self._place((*path, "at"), item.at), item.axes, item.rest
        self._model.add_bushing(item.name, a, b, *given)

    def _law_spring(self, path: Path, item: schema_motion.LawSpringScene) -> None:
        a, b = self._pair(path, item, points=item.of != "angle")
        self._model.add_law_spring(
            item.name, a, b, law_of(item.law), law_of(item.damping), item.of, item.axis
        )

    def _limit(self, path: Path, item: schema_motion.LimitScene) -> None:
        a, b = self._pair(path, item, points=item.of != "angle")
        given = item.stiffness, item.width, item.lower, item.upper, item.of, item.axis
        self._model.add_limit(item.name, a, b, *given)

    def _driven(self, path: Path, item: schema_motion.DrivenScene) -> None:
        quat = self._orientation(path, f"driven '{item.name}'", item.orientation)
        position = self._place((*path, "position"), item.position)
        along = displacements_of((*path, "displacement"), item.displacement)
        turn = None if item.turn is None else motion_of((*path, "turn"), item.turn)
        self._model.add_driven(item.name, position, quat, along, turn, item.axis)

    def _pressure(self, path: Path, item: schema.PressureScene) -> None:
        rod = look_up((*path, "rod"), "rod", item.rod, self._model.rods)
        self._model.add_pressure(item.name, rod, item.pressure, item.normal)

    def _external_damping(self, path: Path, item: schema.ExternalDampingScene) -> None:
        part = look_up((*path, "part"), "part", item.part, {**self._model.bodies, **self._model.rods})
        self._model.add_external_damping(item.name, part, item.rate, item.rotation, item.ambient)

    def _joint_friction(self, path: Path, item: schema.JointFrictionScene) -> None:
        joint = look_up((*path, "joint"), "joint", item.joint, self._model.joints)
        self._model.add_joint_friction(item.name, joint, item.turning, item.sliding)

    def _drive(self, path: Path, item: schema_motion.DriveScene) -> None:
        look_up((*path, "joint"), "joint", item.joint, self._model.joints)
        self._model.add_drive(item.name, item.joint, motion_of((*path, "value"), item.value), item.of)

    def _gear(self, path: Path, item: schema_motion.GearScene) -> None:
        for k, joint in enumerate(item.joints):
            look_up((*path, "joints", k), "joint", joint, self._model.joints)
        self._model.add_gear(item.name, item.joints, item.ratios, item.of)

    def _distributed_load(self, path: Path, item: schema_motion.DistributedLoadScene) -> None:
        rod = look_up((*path, "rod"), "rod", item.rod, self._model.rods)
        value = value_of(item.value)
        self._model.add_distributed_load(item.name, rod, value, item.kind, item.following, item.between)
