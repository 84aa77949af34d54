"""`Model`: bodies, rods, joints, springs and loads by name, built into the arrays that integrators read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from discretization.space.rod_elements import DEFAULT
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.inertia import MassProperties
from rigid.mechanics.mechanical import MechanicalSystem
from rodsim.building.build import Built, build
from rodsim.building.initial_velocities import fit_velocities
from rodsim.building.rigid_twin import fill
from rodsim.html_tables import some
from rodsim.old_names import accept_old_arguments, accept_old_methods, warn_of_old_name
from rodsim.orientations import OrientationLike
from rodsim.parts.contact_entries import REST_SPEED, ContactEntry, SurfaceLike
from rodsim.parts.curve_frames import Twist, Up
from rodsim.parts.damping_entries import JointDampingEntry, MassDampingEntry, PressureEntry
from rodsim.parts.entries import Contents, SpringEntry, TorsionEntry
from rodsim.parts.entry import Attachable, PointLike, add, check_new_part, register
from rodsim.parts.force_entries import BushingEntry, LawEntry, LimitEntry
from rodsim.parts.friction import Friction, friction_fields
from rodsim.parts.gear_entries import GearEntry
from rodsim.parts.joint_entries import DriveEntry, JointEntry
from rodsim.parts.load_entries import DistributedEntry, LoadEntry
from rodsim.parts.model_parts import Body, Driven, Given, Rod, make_body, make_driven, make_rod
from rodsim.parts.own_interactions import EnergyEntry, OwnEntry
from rodsim.parts.sections import Section
from rodsim.parts.space_curves import CurveLike
from rodsim.parts.spring_laws import SpringLaw
from rodsim.parts.springs import SpringCoordinate, spring_of
from rodsim.parts.surface_entries import MeshEntry, PlaneEntry, SolidEntry, SphereEntry

if TYPE_CHECKING:
    from rodsim.prepared import Prepared

# In the order of scenes, in which they are made of one.
register(
    JointEntry,
    SpringEntry,
    TorsionEntry,
    LoadEntry,
    BushingEntry,
    LawEntry,
    LimitEntry,
    DriveEntry,
    GearEntry,
)
register(DistributedEntry, PressureEntry, MassDampingEntry, JointDampingEntry, EnergyEntry)
register(SphereEntry, SolidEntry, PlaneEntry, MeshEntry, ContactEntry)


@accept_old_methods
class Model(Contents):
    """A mechanical system. All poses are in world coordinates at t = 0, all quantities in consistent units (SI: m, kg,
    s, N, rad).

    Every `add_...` takes first the `name` by which results and messages know the thing; names of parts are unique, and
    those of joints, springs, loads and drives each among themselves. It returns the thing, to attach others to. Wherever
    a part or a point is wanted, its name does as well: "block" or "ground", "cord.start", "cord.end", "cord@0.3" (fraction of
    the length of a rod), "block@0.1,0,0" (point in the axes of a body, m).

    gravity (3,), m/s^2.
    """

    def __init__(self, name: str = "model", gravity: ArrayLike = (0.0, 0.0, 0.0)):
        super().__init__(name, gravity)

    @classmethod
    def load(cls, path: Path | str) -> Model:
        """Read a model from a scene file.

        Parameters
        ----------
        path : Path or str
            The scene, YAML or JSON. Meshes are looked for in its folder.

        Returns
        -------
        Model
            Of `run` and `equilibrium` in the file `rodsim run` and `rodsim equilibrium` make use; `save` writes them again.

        Raises
        ------
        SceneError
            For whatever is wrong with the file, with its line.

        Examples
        --------
        >>> model = Model.load("pendulum.yaml")
        >>> result = simulate(model, 2.0, 0.005)
        """
        from rodsim.scenes.model_from_scene import load

        return load(path).model

    def save(self, path: Path | str) -> Path:
        """Write the model to a scene file, from which `load` makes the same model, to the bit.

        Parameters
        ----------
        path : Path or str
            The file, .yaml; one that is there is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ModelError
            For what a scene cannot say, such as a Python function, with its name. The file is as it was then.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> model.save("pendulum.yaml")
        PosixPath('pendulum.yaml')
        """
        from rodsim.scenes.model_to_scene import save

        return save(self, path)

    def add_body(
        self,
        name: str,
        shape: MassProperties,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: OrientationLike = (1.0, 0.0, 0.0, 0.0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> Body:
        """Add a rigid body: `shape` placed with its reference point at `position` (3,), m, and axes turned by
        `orientation` (w, x, y, z).

        velocity (3,): of the reference point, m/s; angular_velocity (3,): rad/s, both in inertial axes. What is given has
        priority over what is left out. A part without a velocity rests if its joints allow that, otherwise it moves as if
        it were fixed to the parts that move it. Given velocities that do not fit the joints are changed to the nearest
        that do, with an `InitialVelocityWarning`.

        Raises ModelError where the name is taken, `shape` is no shape, or a number is not finite.
        """
        check_new_part(self, name)
        body = make_body(name, shape, position, orientation, velocity, angular_velocity)
        self.bodies[name] = body
        return body

    def add_rod(
        self,
        name: str,
        curve: CurveLike,
        section: Section | Callable[[float], Section],
        n_elements: int = 20,
        closed: bool = False,
        up: Up | None = None,
        stress_free: CurveLike | None = None,
        velocity: ArrayLike | Callable[[float], ArrayLike] | None = None,
        angular_velocity: ArrayLike | Callable[[float], ArrayLike] | None = None,
        mass: str = "mean",
        *,
        twist: Twist = 0.0,
        stress_free_up: Up | None = None,
        stress_free_twist: Twist | None = None,
        stress_free_closed: bool | None = None,
        element: str = DEFAULT,
        rest_strains: ArrayLike | Callable[[float], ArrayLike] | None = None,
    ) -> Rod:
        """Add a rod along `curve`: points (k, 3), m, two for a straight rod, or a callable s in [0, 1] -> (3,).

        s is material, the fraction of the stress-free length, in all callables. Only where both shapes are callables,
        their s is a common label that need not measure length; and the curve of a rod without `stress_free` fixes no
        stretch.

        section: one `Section`, or a callable s -> Section. n_elements: intervals between nodes, rounded up to a
        multiple of the element's order. closed: the last one joins the ends. up: direction of d3 at the start, from
        where it is carried along without twist; or a callable s -> (3,) for every place. twist: angle (rad) by which
        the sections are turned further about the tangent at s = 1, evenly on the way there; or a callable s -> angle.
        It makes whole turns on a closed rod. stress_free, stress_free_up, stress_free_twist: the shape without stress;
        what is not given is that of the initial shape. stress_free_closed: False where a closed rod is free of stress
        when it is open. velocity: of the cross-sections, m/s, (3,) or a callable s -> (3,), inertial. angular_velocity:
        the same, rad/s. With `angular_velocity` alone the centre line turns with the sections; with `velocity` alone
        they do not turn, except where joints turn them; without both the rod rests, or follows as a rigid body. mass:
        translational mass "lumped" at the nodes (best where a held rod falls or whips with large bends), "consistent"
        (velocities linear between nodes: a straight element has its exact rotary inertia, best where a rod tumbles
        freely), or the "mean" of both, best where a rod swings about a shape and never far from the best; measured in
        docs/numerics.md. element: "se3", "lagrange(1)" to "lagrange(4)", "relative(2)", "relative(4)" or "midpoint";
        the number is the order p of an element that spans p intervals between nodes, so that n_elements means about as
        many nodes with every element. rest_strains: (Gamma, K) without stress, (6,) or a callable s -> (6,), besides
        those of the stress-free shape: stretch and shear, twist and curvature (1/m) that were put into the rod when it
        was made.

        Raises ModelError where the name is taken, a curve has no length or a shape does not fit `closed`; at `build`
        where a callable gives no numbers.
        """
        check_new_part(self, name)
        rod = make_rod(
            name,
            Given(curve, up, twist, closed),
            Given(stress_free, stress_free_up, stress_free_twist, stress_free_closed),
            section,
            n_elements,
            velocity,
            angular_velocity,
            mass,
            element,
            rest_strains,
        )
        self.rods[name] = rod
        return rod

    def add_joint(
        self,
        name: str,
        kind: str,
        a: Attachable,
        b: Attachable | None = None,
        at: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        length: float | None = None,
        *,
        second_axis: ArrayLike | None = None,
        pitch: float | None = None,
        locked: Sequence[str] | None = None,
    ) -> JointEntry:
        """Join `a` and `b` (bodies, anchors, the ground) with a joint of `kind`: clamp, weld, spherical, revolute,
        prismatic, distance, universal, cylindrical, planar, point_on_line, point_on_plane, constant_velocity, screw,
        generic. Synonyms: hinge (revolute), ball (spherical), fixed (weld; without `b` clamp).

        at (3,), m: its world point at t = 0, by default that of an anchor; axis (3,): world direction, on `a`, of
        revolute, prismatic, cylindrical and screw joints, of the line of point_on_line, the normal of planar and
        point_on_plane, the first axis of universal and constant_velocity; second_axis (3,): that of `b` in the latter
        two, perpendicular to the first in a universal joint. pitch, m: how far a screw moves along its axis in a turn.
        locked: what a generic joint locks of x, y, z, rx, ry, rz, in the axes of `a`. length, m: of a distance joint at
        t = 0, as a check. A clamp joins `a` to the ground. A distance joint is a massless rod between the points `a`
        and `b`.

        Raises ModelError where the kind is not known, wants another argument or refuses one that is given, or joins a
        part to itself; at `build` where the points do not meet at t = 0.
        """
        given = {"length": length, "second_axis": second_axis, "pitch": pitch, "locked": locked}
        return add(self, JointEntry, name, kind=kind, a=a, b=b, at=at, axis=axis, **given)

    def add_spring(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        stiffness: float | None = None,
        length: float | None = None,
        damping: float | SpringLaw = 0.0,
        *,
        law: SpringLaw | None = None,
        along: SpringCoordinate = "distance",
        axis: ArrayLike | None = None,
        angle: float | None = None,
    ) -> SpringEntry | TorsionEntry | LawEntry:
        """Add a spring, a damper or both between two points or parts.

        The force, or the moment, is `law(x) + damping dx/dt` against a coordinate x of `b` relative to `a`; without `law` it is
        `stiffness (x - x0) + damping dx/dt`.

        Parameters
        ----------
        name : str
            Name of the spring.
        a, b : part, point or str
            What it acts on: points, or for `along="rotation"` parts. A body alone stands for its reference point.
        stiffness : float, optional
            N/m, along a rotation N m/rad. Give it, `law` or a damping.
        length : float, optional
            x0 without force, m. Default: the value at t = 0. Not along a rotation.
        damping : float or SpringLaw, default 0.0
            N s/m, along a rotation N m s/rad; or a law of the rate dx/dt, which then needs `law` in place of `stiffness`.
        law : SpringLaw, optional
            Force (N) or moment (N m) as a function of x, in place of `stiffness`.
        along : {"distance", "axis", "rotation"}, default "distance"
            What x is: the distance of the points, m; the displacement of `b` from `a` along `axis`, m; or the angle by which
            `b` has turned from `a` about `axis`, rad, zero at t = 0, for parts that a joint of this axis joins. Laws of an angle
            reach half a turn to both sides of their middle.
        axis : array_like, shape (3,), optional
            World direction at t = 0, fixed to `a`, for "axis" and "rotation".
        angle : float, optional
            x0 along a rotation, rad. Default: 0, the pose at t = 0.

        Returns
        -------
        SpringEntry, TorsionEntry or LawEntry
            For linear springs of a distance, linear springs of a rotation, and all others.

        Raises
        ------
        ModelError
            If a number is negative, `a` and `b` are on one part, an argument is missing or does not belong to `along`, or a
            damper adds energy.

        Examples
        --------
        >>> from rodsim import Box, Model, SpringLaw
        >>> model = Model("m")
        >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, -1))
        >>> model.add_spring("coil", "ground@0,0,0", block, stiffness=100.0, length=0.9, damping=0.5)
        <spring 'coil' of the ground, body 'block'>
        >>> hard = SpringLaw.polynomial((0.0, 50.0, 0.0, 200.0))
        >>> model.add_spring("rail", "ground@0,0,0", block, law=hard, along="axis", axis=(1, 0, 0))
        <spring with a law 'rail' of the ground, body 'block'>
        """
        coordinate = along, axis, angle
        kind, given = spring_of(self, name, a, b, stiffness, length, damping, law, *coordinate)
        return add(self, kind, name, **given)

    def add_torsion_spring(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        axis: ArrayLike,
        stiffness: float,
        damping: float = 0.0,
        angle: float = 0.0,
    ) -> SpringEntry | TorsionEntry | LawEntry:
        """Old name of `add_spring` with `along="rotation"`."""
        warn_of_old_name("Model.add_torsion_spring", "add_spring(..., along='rotation')")
        return self.add_spring(
            name, a, b, stiffness, damping=damping, along="rotation", axis=axis, angle=angle
        )

    def add_law_spring(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        law: SpringLaw | None = None,
        damping: SpringLaw | None = None,
        of: str = "length",
        axis: ArrayLike | None = None,
    ) -> LawEntry:
        """Old name of `add_spring` with a law."""
        warn_of_old_name("Model.add_law_spring", "add_spring(..., law=...)")
        return add(self, LawEntry, name, a=a, b=b, law=law, damping=damping, of=of, axis=axis)

    @accept_old_arguments
    def add_force(self, name: str, on: PointLike, value: Any, following: bool = False) -> LoadEntry:
        """Apply a force (N) to the point `on` of a body or a rod.

        value: constant (3,), a signal `.along(direction)`, or a callable t -> (3,). following: its components are those
        of the moving part (section axes of a rod), not inertial ones.

        Raises ModelError where the point is on the ground or a driven frame, or `value` is no vector.
        """
        return add(self, LoadEntry, name, kind="force", on=on, value=value, following=following)

    @accept_old_arguments
    def add_moment(self, name: str, on: PointLike, value: Any, following: bool = False) -> LoadEntry:
        """Apply a moment (N m) to the point `on` of a body or a rod.

        value: constant (3,), a signal `.along(direction)`, or a callable t -> (3,). following: its components are those
        of the moving part (section axes of a rod), not inertial ones.

        Raises ModelError where the point is on the ground or a driven frame, or `value` is no vector.
        """
        return add(self, LoadEntry, name, kind="moment", on=on, value=value, following=following)

    add_torque = add_moment

    @accept_old_arguments
    def add_distributed_load(
        self,
        name: str,
        on: Rod | str,
        value: Any,
        kind: str = "force",
        following: bool = False,
        between: ArrayLike = (0.0, 1.0),
    ) -> DistributedEntry:
        """Load the rod `on` along its length, between two fractions of it, which get nodes.

        kind: "force" (N/m) or "moment" (N m/m), per length of the rod without stress. value: a constant
        (3,), a signal `.along(direction)`, or a function (s, t) -> (3,), s the fraction of the length; where that takes
        arrays, `signals.Field(function)` calls it once for the whole rod and many steps. A Field is integrated adaptively
        along each element, down to a width of about 1/30 of it; a function of one place is not, with a
        `DoubtfulModelWarning` if it is too narrow. following: components in the axes (d1, d2, d3) of the sections, with
        which they turn: a pressure normal to a rod that is not sheared is (0, -p, 0). between: the two fractions, (2,).

        Raises ModelError where `on` is no rod of this model, or the fractions do not increase within [0, 1].
        """
        given = {"kind": kind, "value": value, "following": following, "between": between}
        return add(self, DistributedEntry, name, on=on, **given)

    def add_bushing(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        stiffness: ArrayLike,
        damping: ArrayLike = 0.0,
        at: ArrayLike | None = None,
        axes: ArrayLike | None = None,
        rest: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ) -> BushingEntry:
        """Hold `b` to `a` by a spring-damper in all six directions.

        stiffness, damping: 6 numbers, or 6 x 6, symmetric: of three displacements (N/m) and three rotations (N m/rad).
        at: world point of both markers at t = 0, m; without it each is at its anchor. axes: (3, 3), world directions of
        the displacements and rotations as columns, right-handed; by default those of the world. rest: coordinates
        without force, m and rad, counted from markers that coincide.

        Rotations are components of the rotation vector (angle times axis), right up to nearly pi; displacements those
        of the screw motion from marker a to marker b, which without a turn is the distance of the markers
        (`discretization.space.bushing`). Both have the same sign and size seen from a and from b.

        Where `stiffness` resists no turn about one direction, a free axis, that turn is free through any number of
        turns: rotations are then the shortest turn that takes the free axis of a to that of b, right up to nearly pi,
        and displacements those of marker b from marker a, both in the axes of a, the housing of the bearing; `damping`
        may resist the turn as well (`discretization.space.free_bushing`). So it is where nothing resists any turn.

        Raises ModelError where a matrix is not symmetric or negative somewhere, or `axes` is no rotation.
        """
        given = {"at": at, "axes": axes, "rest": rest}
        return add(self, BushingEntry, name, a=a, b=b, stiffness=stiffness, damping=damping, **given)

    def add_limit(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        stiffness: float,
        width: float,
        lower: float | None = None,
        upper: float | None = None,
        of: str = "angle",
        axis: ArrayLike | None = None,
    ) -> LimitEntry:
        """Stop an angle, a displacement or a length at `lower` and `upper`: a spring that is there only beyond them.

        a, b, axis: as in `add_spring`. of: what is limited. stiffness: N/m or N m/rad. width: m or rad. lower, upper: m or rad;
        one may be left out. The force begins smoothly, as stiffness gap^2/(2 width), and is linear where the gap is above
        `width`.

        Raises ModelError where lower is not below upper, or neither is given.
        """
        given = {"stiffness": stiffness, "width": width, "lower": lower, "upper": upper}
        return add(self, LimitEntry, name, a=a, b=b, of=of, axis=axis, **given)

    def add_driven(
        self,
        name: str,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: OrientationLike = (1.0, 0.0, 0.0, 0.0),
        displacement: Any = None,
        turn: Any = None,
        axis: ArrayLike | None = None,
        attitude: Any = None,
    ) -> Driven:
        """Add a frame whose whole motion is a function of time; joints, springs and rods attach to it as to the ground.

        position (3,), orientation (w, x, y, z): from which it starts. displacement: m, a smooth signal
        `.along(direction)`, a list of them that is added up, a function t -> (3,), or a pair (function, its rate).
        turn: rad, about the world direction `axis` (3,) through it: a smooth signal, a function t -> angle, or such a
        pair. attitude: in the place of turn, a function t -> unit quaternion (w, x, y, z). Its place at t = 0 is what
        they say there. To prescribe the place of one point, join it to the frame with a spherical joint.

        Smooth signals are Sine, SmoothStep, SmoothTable, SpinUp, Steady and Constant. The rate of a function is found
        by differences over 3e-4 s to both sides, also before t = 0.

        Raises ModelError where turn comes without axis or with attitude, or a motion is not smooth.
        """
        check_new_part(self, name)
        driven = make_driven(name, position, orientation, displacement, turn, axis, attitude)
        self.driven[name] = driven
        return driven

    def add_drive(self, name: str, joint: JointEntry | str, value: Any, of: str | None = None) -> DriveEntry:
        """Prescribe the coordinate of a joint: it changes from its value at t = 0 by value(t) - value(0).

        joint: a `JointEntry` or its name. value: a smooth signal, a function t -> number, or a pair (function, its
        rate); rad of revolute, m of prismatic joints. of: "angle" or "displacement", of a joint that has both. The
        angle is that by which b has turned against a about the joint's axis, the displacement that of b along it.
        `result.joint(name)` tells force and moment of the drive, `result.drive_work(name)` its work.

        Raises ModelError where the joint has no coordinate to drive, or `value` is not smooth enough to be a motion.
        """
        return add(self, DriveEntry, name, joint=joint, motion=value, of=of)

    def add_gear(
        self,
        name: str,
        joints: Sequence[JointEntry | str],
        ratios: Sequence[float],
        of: Sequence[str | None] | None = None,
    ) -> GearEntry:
        """Couple the coordinates q of two joints or more: ratios[0] q_0 + ratios[1] q_1 + ... stays what it is at t =
        0.

        Angles (rad, of b against a about the joint's axis) are counted through turns, displacements are in m. Wheels of
        20 and 30 teeth on parallel axes: ratios (20, 30); one inside the other: (20, -30); a rack on a pinion of radius
        r: (1, -r) of displacement and angle; a differential: (1, 1, -2) of both shafts and the cage. of: "angle" or
        "displacement" of each joint, None where it has one of them only. `result.joint(name)` tells what the gear does
        to each joint.

        Raises ModelError where a joint has no such coordinate, a ratio is zero or lost beside the others, or another
        gear couples the same.
        """
        return add(self, GearEntry, name, joints=joints, ratios=ratios, of=of)

    @accept_old_arguments
    def add_pressure(self, name: str, on: Rod | str, pressure: float, normal: ArrayLike) -> PressureEntry:
        """Press on the rod `on` from one side, in the plane with this world normal (3,): a force per current length, N/m,
        pressure x (normal x tangent), which stays across the rod as it moves and grows as it is stretched.

        A closed rod that runs counter-clockwise about the normal is pressed from outside where the pressure is
        positive: that is hydrostatic, and the work is pressure times the change of the area. Between nodes the rod is
        taken as its chords; of a rod that leaves the plane its projection counts. In an equilibrium it acts in full
        from load factor 0 on. Its work is part of `work`. Integrators em, em-ggl and their compositions.

        Raises ModelError where `on` is no rod of this model, or `normal` has no direction.
        """
        return add(self, PressureEntry, name, on=on, pressure=pressure, normal=normal)

    @accept_old_arguments
    def add_mass_damping(
        self, name: str, on: Body | Rod | str, rate: float, rotation: float | None = None, ambient: Any = None
    ) -> MassDampingEntry:
        """Damp the body or rod `on` in proportion to its mass: a force -rate m v on the centre of mass of each body or
        section, and a moment -rotation J omega.

        rate: 1/s. rotation: 1/s, the same as `rate` unless it is given. ambient: velocity of
        what is around, m/s, a constant (3,), a signal `.along(direction)` or a function t -> (3,): the force is then
        -rate m (v - ambient), of which rate m ambient counts as a load, whose work is part of `work`, and what -rate m
        v takes as dissipation. A free part loses its velocity as exp(-rate t). The momenta of the model are not kept.

        Raises ModelError where `on` is neither, or a rate is negative.
        """
        given = {"rate": rate, "rotation": rotation, "ambient": ambient}
        return add(self, MassDampingEntry, name, on=on, **given)

    def add_joint_damping(
        self, name: str, joint: JointEntry | str, turning: float = 0.0, sliding: float = 0.0
    ) -> JointDampingEntry:
        """Damp a joint in proportion to its relative velocity.

        joint: a `JointEntry` or its name. turning: N m s, a moment -turning (omega_b - omega_a) of what turns
        (revolute, spherical, cylindrical, universal). sliding: N s/m, a force -sliding ds/dt along the axis of what
        slides (prismatic, cylindrical).

        Raises ModelError where the joint leaves that motion no freedom, or both are zero.
        """
        return add(self, JointDampingEntry, name, joint=joint, turning=turning, sliding=sliding)

    def add_sphere(self, name: str, on: PointLike, radius: float) -> SphereEntry:
        """Put a sphere where it can touch others (`add_contact`); it has no mass of its own.

        on: its centre, a point of a body, a rod, a driven frame or the ground; of a body alone its reference point. radius:
        m; 0: a point.

        Raises ModelError where `on` is no point of this model or the radius is negative.
        """
        return add(self, SphereEntry, name, on=on, radius=radius)

    def add_solid(
        self, name: str, on: PointLike, vertices: ArrayLike | None = None, radius: float = 0.0
    ) -> SolidEntry:
        """Let a body's own shape, or the convex hull of points, touch planes, spheres, rods, meshes and others of its kind
        (`add_contact`); it has no mass of its own.

        on: a body made by Box, Cylinder, Capsule, Sphere, Cone or Mesh, of which the hull counts; or with `vertices` (n, 3), m,
        in the axes of its part, the point from which they count. radius: m, of rounded edges: a shape keeps its size, vertices
        are the centres of balls, so that one makes a sphere, two a capsule.

        The stiffness of a contact is that of a flat face, of a cylinder that lies, of a capsule that lies: its vertices share it,
        of a face of n vertices each has 1/n, of a rim the lowest and the highest point have half of it each. Boxes, hulls,
        cylinders and cones touch others than planes with what rounds them, and come no deeper. With boxes, capsules, hulls,
        meshes and each other cylinders and cones have 32 points on each rim, of half of the stiffness each.

        Raises ModelError where `on` is no point of this model, the body has no shape, or the radius is negative or too large.
        """
        return add(self, SolidEntry, name, on=on, vertices=vertices, radius=radius)

    def add_plane(self, name: str, on: PointLike, normal: ArrayLike) -> PlaneEntry:
        """Make a plane with all behind it an obstacle (`add_contact`).

        on: a point of the plane, on the ground, a body or a driven frame, with which it moves: a conveyor belt is a plane on a
        driven frame that moves along it. normal: world direction (3,) at t = 0, out of the half-space.

        Raises ModelError where `on` is no point of this model or the normal has no direction.
        """
        return add(self, PlaneEntry, name, on=on, normal=normal)

    def add_mesh(
        self,
        name: str,
        on: PointLike,
        file: str | Path | None = None,
        vertices: ArrayLike | None = None,
        triangles: ArrayLike | None = None,
        scale: float = 1.0,
        radius: float = 0.0,
        side: str = "both",
    ) -> MeshEntry:
        """Make a rigid surface of triangles an obstacle of spheres, solids and rods, on both of its sides (`add_contact`).

        on: where the origin of its coordinates is, on the ground, a body, a rod or a driven frame; its axes are those of the
        part. file: that meshio reads (STL, OBJ, PLY, VTK ...; triangles and quadrilaterals); or vertices (v, 3), m, and triangles
        (t, 3) of their numbers. scale: multiplies coordinates. radius: m, by which it is thicker than its triangles. side:
        "inside" or "outside" of a closed surface, where all that touches it has to begin; "both" takes everything.

        Spheres, solids and rods touch it from whichever side they come; what is pressed through it by more than its radius and
        theirs, or is touched all around, ends a run. The stiffness is that of one flat face; with rods it is per length.

        Raises ModelError where the file cannot be read, there is no triangle, one has no area, an edge belongs to three, or a
        side is asked of a surface with holes or with triangles that are turned.
        """
        given = {"file": file, "vertices": vertices, "triangles": triangles}
        return add(self, MeshEntry, name, on=on, scale=scale, radius=radius, side=side, **given)

    @accept_old_arguments
    def add_contact(
        self,
        name: str,
        a: SurfaceLike | Sequence[SurfaceLike],
        b: SurfaceLike | Sequence[SurfaceLike] | None = None,
        stiffness: float | None = None,
        law: str = "power",
        exponent: float = 1.0,
        reach: float | None = None,
        restitution: float = 1.0,
        damping: float = 0.0,
        rest_speed: float = REST_SPEED,
        friction: float | tuple[float, float] | Friction = 0.0,
        radius: float | None = None,
        stations: int | None = None,
        itself: bool = False,
        ignore: Sequence[tuple[SurfaceLike, SurfaceLike]] | None = None,
    ) -> ContactEntry:
        """Let surfaces resist each other where they meet: each of `a` each of `b`, or without `b` all of `a` each other; one
        rod alone itself.

        a, b: spheres, solids, planes, meshes (`add_sphere`, `add_solid`, `add_plane`, `add_mesh`), rods, or lists of them.
        stiffness: k of the force k depth^n, N/m^n, of solids that of a flat face; of rods among themselves, on planes and on
        meshes per length, N/m^(n+1). Left out, of rods: pi/4 E*, 1/E* = 1/E1 + 1/E2 of the materials of both, planes and meshes
        being rigid (`stiffness_of`). law: "power" with its `exponent` n, 1 linear, 1.5 Hertz; or "barrier",
        V = -k (gap - reach)^2 log(gap/reach) at gaps below `reach` (m), which lets nothing through; or a text, the force as a
        polynomial of the depth that falls nowhere, "1e4*depth + 2e6*depth**3", without a stiffness.

        restitution: speed after an impact over that before it, in (0, 1], whatever the mass and the speed; impacts much slower
        than `rest_speed` (m/s) lose nothing by it. damping: s/m, c of a force c times rate of depth times normal force
        (Hunt and Crossley). The normal force never pulls. friction: coefficient of Coulomb's friction, a pair (static, kinetic),
        or a `Friction`, which has moments against rolling and drilling, too.

        radius: m, of the rods, by default that of their sections, of a rectangle that of the circle of the same area. stations:
        intervals into which an element is divided, at whose ends it is looked at; by default some of the depth that weight and
        speed at t = 0 lead to: a tenth of the width of the contact of two rods that cross, at most 32, for planes as long as the
        diameter, at most 8. itself: whether the rods meet themselves as well, arc lengths below pi times the radius
        left out. ignore: pairs that do not meet.

        Spheres of the same part never meet. Of several pairs those are left out whose parts a joint joins, two spheres or a
        sphere and a plane; of one pair alone that is meant. Of rods that are joined at a node, to each other, to a body with
        the sphere or to the part of a plane behind which they are there, what is nearer to it along the rod than pi times the
        radius is left out.

        Raises ModelError where two surfaces can never meet, one meets nothing, a number is outside of its bounds or no stiffness
        is known; at `build` where surfaces are inside of each other at t = 0.
        """
        given = {"law": law, "exponent": exponent, "reach": reach, "restitution": restitution}
        given |= {"damping": damping, "rest_speed": rest_speed, "radius": radius, "stations": stations}
        given |= friction_fields(friction)
        return add(
            self, ContactEntry, name, a=a, b=b, stiffness=stiffness, itself=itself, ignore=ignore, **given
        )

    def add_interaction(self, name: str, kind: Any, *on: PointLike, **numbers: Any) -> OwnEntry:
        """Add an interaction of a kind of your own (`rodsim.interaction`), by it or by its name: `on` one point for
        each frame.

        numbers: those of the kind by name, each a number or a list as it says; vectors among them are in the axes of
        the part, of a rod in those of the section.

        Raises ModelError where the kind is not registered, a number is missing or is none of it, or two anchors are on
        one body or at one section; at `build` where its energy is not finite.
        """
        return add(self, OwnEntry, name, own=kind, anchors=on, numbers=numbers)

    def add_energy(
        self, name: str, energy: Any, /, measures: Mapping[str, Any], **parameters: float
    ) -> EnergyEntry:
        """Add an energy, J, as a function of up to six named measures.

        energy: a text, or an expression of sympy, of the measures and of parameters by any other name; as in
        `Section.with_energy`. measures: each a `rodsim.measures.distance`, `strain`, `displacement`, `coordinate`,
        `cosine` or `angle`. parameters: their numbers.

        Its forces are exact discrete derivatives; a file keeps the text, and opens, is audited and resumed anywhere.

        Raises ModelError where the text cannot be read, a measure is not in it or is between two points of one part, or
        a parameter is missing or too many; at `build` where the energy is not finite.
        """
        return add(self, EnergyEntry, name, energy=energy, measures=measures, parameters=parameters)

    def __repr__(self) -> str:
        tables = (("rods", self.rods), ("bodies", self.bodies), ("joints", self.joints))
        parts = [f"{kind} {some(list(names))}" for kind, names in tables if names]
        return f"<Model '{self.name}': {'; '.join(parts) or 'nothing in it yet'}>"

    def _repr_html_(self) -> str:
        """For notebooks: what is in it."""
        from rodsim.parts.model_html import model_html

        return model_html(self)

    def build(self) -> Built:
        """The arrays of the model, its initial state and its layout.

        Raises ModelError where parts do not fit together: joints that are not assembled at t = 0, a model without
        anything that moves.
        """
        return build(self)

    def prepare(self, **settings: Any) -> Prepared:
        """The model as it is now, built and checked once, to be run many times with other numbers: see `Prepared`.

        settings: of `simulate`, such as t_end, dt, integrator, for all its runs.

        Raises ModelError as `build`, and for a setting that is none.
        """
        from rodsim.prepared import Prepared

        return Prepared(self, settings)

    def rigidified(self, *rods: str) -> Model:
        """The rigid twin: each rod (or those named in `rods`) a rigid body with the mass, centre and inertia of its
        discretisation.

        All that joins and loads the parts is attached at the same points; places on a rod keep their names (`compare`).
        Strains, section laws and viscosity are left out, with what else a rigid body cannot have: `left_out` of the
        twin says what. Energy and momenta at t = 0 are those of the model but for what is said there.

        Raises ModelError where the model has no rod, or none of that name.
        """
        for name in rods:
            if name not in self.rods:
                known = ", ".join(f"'{rod}'" for rod in self.rods) or "none"
                raise ModelError(
                    f"model '{self.name}': no rod {shown(name)} to make rigid; there are {known}"
                )
        if not self.rods:
            raise ModelError(f"model '{self.name}': has no rod to make rigid; it is its own twin")
        twin = Model(self.name, self.gravity)
        twin.left_out = fill(twin, self, self.build(), rods or tuple(self.rods))
        return twin

    def mechanical_system(
        self, chart: str = "quaternion", parameter: float | None = None
    ) -> MechanicalSystem:
        """The model as a mechanical system for `integrate`: coordinates, mass matrix, potential and constraints.

        chart: "quaternion", "quaternion-alpha", "quaternion-gamma" or "director"; parameter: alpha or gamma, kg m^2.
        Dampers and viscous rods belong to it; a variational scheme refuses them in `integrate`.
        Raises ModelError for rods without mass, and where the chart is not known.
        """
        # imported where needed: its kernels take half a second to load
        from discretization.time.mechanical_stepper import system_in_chart
        from rodsim.building.massless_rods import check_mass

        built = self.build()
        check_mass(built, "mechanical_system")
        state = fit_velocities(built).state
        values = built.load_values, parameter, built.drive_values
        return system_in_chart(self.name, built.system, state, chart, *values)
