"""Describe a mechanical system by named bodies, rods, joints, springs, loads and contacts: `Model`.

`Model.build` makes the arrays on which the integrators work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from rigid.checks import shown
from rigid.errors import ModelError
from rigid.inertia import MassProperties
from rigid.mechanics.mechanical_system import MechanicalSystem
from rodsim._compat import accept_old_arguments, accept_old_methods, warn_of_old_name
from rodsim.building.build import Built, build
from rodsim.building.initial_velocities import fit_velocities
from rodsim.building.rigid_twin import fill_twin
from rodsim.components.actuator_laws import ActuatorLaw
from rodsim.components.actuators import Actuator
from rodsim.components.airfoils import Airfoil
from rodsim.components.argument_types import (
    BearingKind,
    ChartName,
    DisplacementLike,
    DrivenCoordinate,
    ElementName,
    JointCoordinate,
    JointKind,
    LimitedCoordinate,
    LineLoadLike,
    LoadKind,
    LockedCoordinate,
    MeshSide,
    MotionLike,
    RodMass,
    ScalarLike,
    StrainName,
    VectorLike,
)
from rodsim.components.base import Attachable, PointLike, add, check_new_part, register
from rodsim.components.bearings import Bearing
from rodsim.components.belts import Belt
from rodsim.components.chambers import AIR, Chamber
from rodsim.components.contacts import REST_SPEED, Contact, SurfaceLike
from rodsim.components.control_laws import ControlLaw
from rodsim.components.controllers import Controller, Sensor, outputs_of_sensors
from rodsim.components.curve_frames import Twist, Up
from rodsim.components.events import ModelEvent
from rodsim.components.flows import AiryWave, Current, Polar
from rodsim.components.forces import (
    Bushing,
    Gravity,
    JointDamping,
    Limit,
    MassDamping,
    NonlinearSpring,
    Pressure,
)
from rodsim.components.friction import Friction, friction_fields
from rodsim.components.inerters import Inerter
from rodsim.components.joint_forces import JointForce
from rodsim.components.joints import Drive, Gear, JointComponent
from rodsim.components.loads import DistributedLoad, Load
from rodsim.components.measure_forces import Actuation, MeasureForce
from rodsim.components.model_data import ModelData, Spring, TorsionSpring
from rodsim.components.model_parts import Body, Driven, Rod, ShapeArguments, make_body, make_driven, make_rod
from rodsim.components.moving_forces import MovingForce
from rodsim.components.pulleys import Drum, Pulley
from rodsim.components.sections_along import SectionLike
from rodsim.components.space_curves import CurveLike
from rodsim.components.spring_laws import SpringLaw
from rodsim.components.spring_types import SpringArguments, SpringCoordinate, choose_spring_type
from rodsim.components.submerged_parts import Fluid, SubmergedBody, SubmergedRod
from rodsim.components.surfaces import MeshSurface, PlaneSurface, SolidSurface, SphereSurface
from rodsim.components.tendons import Tendon
from rodsim.components.user_interactions import EnergyInteraction, UserInteraction
from rodsim.html_tables import some
from rodsim.orientations import OrientationLike

if TYPE_CHECKING:
    import sympy

    from rodsim.interactions.measures import Measure, Quantity
    from rodsim.interactions.registration import UserKind
    from rodsim.prepared import Prepared

Switchable = JointComponent | Drive | str

# Components are made from a scene in this order.
register(
    JointComponent,
    Spring,
    TorsionSpring,
    Load,
    Bushing,
    NonlinearSpring,
    Limit,
    Drive,
    Gear,
)
register(DistributedLoad, Pressure, MassDamping, JointDamping, EnergyInteraction)
register(SphereSurface, SolidSurface, PlaneSurface, MeshSurface, Contact)
register(
    Sensor,
    Controller,
    JointForce,
    Inerter,
    MeasureForce,
    Tendon,
    Belt,
    Chamber,
    Actuation,
    Gravity,
    Actuator,
    ModelEvent,
)
register(MovingForce, Bearing)
register(Fluid, SubmergedRod, SubmergedBody, Airfoil)


@accept_old_methods
class Model(ModelData):
    """Describe a mechanical system: bodies and rods, the joints and springs between them, and the loads on them.

    All poses are in world coordinates at t = 0, all quantities in consistent units (SI: m, kg, s, N, rad). The first argument
    of every `add_...` method is the `name` by which results and messages refer to the object. Names of parts are unique, and
    so are names of joints, springs, loads and drives within their kind. Each method returns the new object, which later calls can
    refer to.

    Where an argument is a part or a point, its name can be given instead. Whole part: "block" or "ground". Point of a rod:
    "cord.start", "cord.end" or "cord@0.3" (fraction of the stress-free length). Point in the axes of a body or driven frame, m:
    "block@0.1,0,0". Point of the world, m: "ground@0,0,2".

    Parameters
    ----------
    name : str, default "model"
        Name of the model.
    gravity : array_like, shape (3,), default (0, 0, 0)
        Acceleration, m/s^2.

    Attributes
    ----------
    ground : Ground
        The fixed frame; `ground.at(point)` is a fixed point.
    gravity : ndarray, shape (3,)
        Acceleration, m/s^2; any sequence of three numbers may be assigned.
    bodies, rods, driven : dict
        Parts by name.
    joints, springs, torsions, loads, line_loads, drives, gears, contacts, others : dict
        Connections, loads and contacts by name; `others` has all other kinds, such as bushings and limits.

    Examples
    --------
    >>> from rodsim import Box, Material, Model, Section
    >>> model = Model("pendulum", gravity=(0, 0, -9.81))
    >>> rubber = Material(E=2e6, nu=0.45, density=1100.0)
    >>> cord = model.add_rod("cord", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, rubber), n_elements=10)
    >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, density=500.0), position=cord.end.position)
    >>> model.add_joint("pin", "spherical", "ground", "cord.start")
    <spherical joint 'pin' from the ground to rod 'cord', s = 0>
    >>> model.add_joint("glue", "weld", "cord.end", "block")
    <weld joint 'glue' from rod 'cord', s = 1 to body 'block'>
    >>> model
    <Model 'pendulum': rods cord; bodies block; joints pin, glue>
    """

    def __init__(self, name: str = "model", gravity: ArrayLike = (0.0, 0.0, 0.0)):
        super().__init__(name, gravity)

    @classmethod
    def load(cls, path: Path | str) -> Model:
        """Read a model from a scene file.

        Parameters
        ----------
        path : Path or str
            The scene, YAML or JSON. Mesh files are searched in its folder.

        Returns
        -------
        Model
            The model. The keys `run` and `equilibrium` of the file are used by `rodsim run` and `rodsim equilibrium`; `save`
            writes them again.

        Raises
        ------
        SceneError
            If the file is invalid; the message gives the line.

        Examples
        --------
        >>> model = Model.load("pendulum.yaml")
        >>> result = simulate(model, 2.0, 0.005)
        """
        from rodsim.scenes.model_from_scene import load

        return load(path).model

    def save(self, path: Path | str) -> Path:
        """Write the model to a scene file, from which `load` restores the same model, bitwise.

        Parameters
        ----------
        path : Path or str
            The file, .yaml; an existing file is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ModelError
            If the model contains something that a scene cannot express, such as a Python function; the message names it. The
            file is not changed then.
        OSError
            If the file cannot be written.

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
        """Add a rigid body.

        Parameters
        ----------
        name : str
            Name of the body.
        shape : MassProperties
            Mass, inertia and surface: `Box`, `Sphere`, `Cylinder`, `Capsule`, `Cone`, `Mesh`, `PointMass` or `MassProperties`.
        position : array_like, shape (3,), default (0, 0, 0)
            Position of the reference point of the shape, m.
        orientation : array_like or scipy.spatial.transform.Rotation, default (1, 0, 0, 0)
            Orientation of the axes of the shape: unit quaternion (w, x, y, z), rotation matrix (3, 3) or `Rotation`.
            `rodsim.align` computes one from two directions.
        velocity : array_like, shape (3,), optional
            Velocity of the reference point, inertial, m/s.
        angular_velocity : array_like, shape (3,), optional
            Angular velocity, inertial, rad/s. A part without given velocities is at rest if its joints allow it; otherwise it
            moves as if it were fixed to the parts that move it. Given velocities that do not satisfy the joints are changed to
            the nearest ones that do, with an `InitialVelocityWarning`; a given velocity has priority over one that is not given.

        Returns
        -------
        Body

        Raises
        ------
        ModelError
            If the name is taken, `shape` is not a `MassProperties`, or a number is not finite.

        Examples
        --------
        >>> from rodsim import Cylinder, Model
        >>> from rodsim.orientations import align
        >>> wheel = Cylinder(0.3, 0.05, mass=2.0)
        >>> Model().add_body("wheel", wheel, (0, 0, 0.3), align((0, 0, 1), (0, 1, 0)), angular_velocity=(0, 5, 0))
        <Body 'wheel': 2 kg at [0, 0, 0.3]>
        """
        check_new_part(self, name)
        body = make_body(name, shape, position, orientation, velocity, angular_velocity)
        self.bodies[name] = body
        return body

    def add_rod(
        self,
        name: str,
        curve: CurveLike,
        section: SectionLike,
        n_elements: int | None = None,
        closed: bool = False,
        up: Up | None = None,
        stress_free: CurveLike | None = None,
        velocity: ArrayLike | Callable[[float], ArrayLike] | None = None,
        angular_velocity: ArrayLike | Callable[[float], ArrayLike] | None = None,
        mass: RodMass = "mean",
        *,
        twist: Twist = 0.0,
        stress_free_up: Up | None = None,
        stress_free_twist: Twist | None = None,
        stress_free_closed: bool | None = None,
        element: ElementName = "se3",
        rest_strains: ArrayLike | Callable[[float], ArrayLike] | None = None,
        nodes: ArrayLike | None = None,
    ) -> Rod:
        """Add a rod along a curve.

        In all callables s is the fraction of the stress-free length, in [0, 1]. If both shapes are callables, their s is a common
        parameter that need not be proportional to length. The curve of a rod without `stress_free` prescribes no stretch.

        Parameters
        ----------
        name : str
            Name of the rod.
        curve : array_like, shape (k, 3), or callable
            Initial shape: points, m, two for a straight rod; or a function s -> (3,).
        section : Section, list of tuple, or callable
            Cross-section; pieces ``[(0.3, thick), (1.0, thin)]``, each up to a fraction of the length, where a node is; or a
            function s -> Section, such as `SectionStations`.
        n_elements : int, optional
            Intervals between nodes, rounded up to a multiple of the order of the element. Default: 20, or those of `nodes`.
        closed : bool, default False
            True if the last element joins the last node with the first.
        up : array_like, shape (3,), or callable, optional
            Direction of d3 at the start, transported along the rod without twist; or a function s -> (3,) for every position.
            Default: z, or x if the rod is vertical.
        stress_free : array_like or callable, optional
            Curve of the stress-free shape. Default: the initial curve.
        velocity, angular_velocity : array_like, shape (3,), or callable, optional
            Velocities of the cross-sections, inertial, m/s and rad/s; or functions s -> (3,). With `angular_velocity` alone the
            centre line rotates with the sections; with `velocity` alone they do not rotate, except if joints rotate them.
            Without both the rod rests, or follows as a rigid body.
        mass : {"mean", "lumped", "consistent"}, default "mean"
            Translational mass matrix. "lumped": masses at the nodes; most accurate if a supported rod falls or whips with large
            bends. "consistent": velocities are linear between nodes, so that a straight element has its exact rotary inertia;
            most accurate if a rod tumbles freely. "mean": the mean of both matrices; most accurate if a rod oscillates about a
            shape, and in all cases close to the best (docs/evidence/elements.md).
        twist : float or callable, default 0.0
            Angle, rad, by which the sections are rotated about the tangent at s = 1, growing linearly from s = 0; or a function
            s -> angle. On a closed rod it is a whole number of turns.
        stress_free_up, stress_free_twist, stress_free_closed : optional
            `up`, `twist` and `closed` of the stress-free shape. Default: those of the initial shape.
        element : str, default "se3"
            "se3", "lagrange(1)" to "lagrange(4)", "relative(2)", "relative(4)", "cayley(2)", "cayley(4)" or "midpoint". The
            number is the order p of an element that spans p intervals between nodes. The section of a string
            (`Section.string`) has the element "string" without saying so.
        rest_strains : array_like, shape (6,), or callable, optional
            Strains (Gamma, K) at zero stress, added to those of the stress-free shape: stretch and shears (1), twist and
            curvatures (1/m) that were built into the rod at manufacture; or a function s -> (6,).
        nodes : array_like, shape (k,), optional
            Fractions of the stress-free length at which elements end, growing from 0 to 1: a graded mesh. Anchors and ends of
            pieces of the section add nodes. With `n_elements` the longest elements are divided until their number is reached.

        Returns
        -------
        Rod

        Raises
        ------
        ModelError
            If the name is taken, a curve has no length or a shape does not fit `closed`; at `build` if a callable does not
            return finite numbers.

        Examples
        --------
        >>> from rodsim import Material, Model, Section
        >>> section = Section.rectangle(0.02, 0.01, Material(E=1e9, nu=0.3, density=1000.0))
        >>> Model().add_rod("arm", [(0, 0, 0), (0, 0, 2)], section, n_elements=8, up=(1, 0, 0))
        <Rod 'arm': 2 m, 8 se3 elements>
        """
        check_new_part(self, name)
        rod = make_rod(
            name,
            ShapeArguments(curve, up, twist, closed),
            ShapeArguments(stress_free, stress_free_up, stress_free_twist, stress_free_closed),
            section,
            n_elements,
            velocity,
            angular_velocity,
            mass,
            element,
            rest_strains=rest_strains,
            nodes=nodes,
        )
        self.rods[name] = rod
        return rod

    def add_joint(
        self,
        name: str,
        kind: JointKind,
        a: Attachable,
        b: Attachable | None = None,
        at: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        length: float | None = None,
        *,
        second_axis: ArrayLike | None = None,
        pitch: float | None = None,
        locked: Sequence[LockedCoordinate] | None = None,
        inertia: float | None = None,
    ) -> JointComponent:
        """Join two parts, or a part and the ground.

        Parameters
        ----------
        name : str
            Name of the joint.
        kind : str
            "clamp" (`a` to the ground), "weld", "spherical", "revolute", "prismatic", "distance" (a massless rod between two
            points), "universal", "cylindrical", "planar", "point_on_line", "point_on_plane", "constant_velocity", "screw" or
            "generic". Synonyms: "hinge" (revolute), "ball" (spherical), "fixed" (weld; without `b` clamp), "radial bearing"
            (point_on_line), "axial bearing" (point_on_plane), "self-aligning bearing" (spherical).
        a, b : part, point or str
            The joined parts or points; a clamp has no `b`.
        at : array_like, shape (3,), optional
            World point of the joint at t = 0, m. Default: the points `a` and `b`.
        axis : array_like, shape (3,), optional
            World direction at t = 0, fixed to `a`: of revolute, prismatic, cylindrical and screw joints; of the line of
            point_on_line; the normal of planar and point_on_plane; the first axis of universal and constant_velocity.
        length : float, optional
            Length of a distance joint at t = 0, as a check, m.
        second_axis : array_like, shape (3,), optional
            Second axis, fixed to `b`, of universal (perpendicular to the first) and constant_velocity joints.
        pitch : float, optional
            Displacement of a screw along its axis in one turn, m.
        locked : sequence of str, optional
            Coordinates that a generic joint locks: some of "x", "y", "z", "rx", "ry", "rz", in the axes of `a`.
        inertia : float, optional
            Reflected inertia, kg m^2 or kg, against the rate of the coordinate of a revolute or a prismatic joint: n^2 I of a
            rotor with the inertia I behind a gear of ratio n ("armature" in other programs).

        Returns
        -------
        JointComponent

        Raises
        ------
        ModelError
            If the kind is not known, needs another argument, or has an argument that does not belong to it, or if it joins a part
            to itself; at `build` if the points do not coincide at t = 0.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> door = model.add_body("door", Box(1, 0.05, 2, mass=20.0), position=(0.5, 0, 0))
        >>> model.add_joint("hinge", "revolute", "ground", door, at=(0, 0, 0), axis=(0, 0, 1))
        <revolute joint 'hinge' from the ground to body 'door'>
        """
        arguments = {
            "length": length,
            "second_axis": second_axis,
            "pitch": pitch,
            "locked": locked,
            "inertia": inertia,
        }
        return add(self, JointComponent, name, kind=kind, a=a, b=b, at=at, axis=axis, **arguments)

    def add_spring(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        stiffness: ScalarLike | None = None,
        length: ScalarLike | None = None,
        damping: float | SpringLaw = 0.0,
        *,
        law: SpringLaw | None = None,
        along: SpringCoordinate = "distance",
        axis: ArrayLike | None = None,
        angle: ScalarLike | None = None,
    ) -> Spring | TorsionSpring | NonlinearSpring:
        """Add a spring, a damper or both between two points or parts.

        The force, or the moment, is `law(x) + damping dx/dt` and resists a coordinate x of `b` relative to `a`; without `law`
        it is `stiffness (x - x0) + damping dx/dt`.

        Parameters
        ----------
        name : str
            Name of the spring.
        a, b : part, point or str
            The connected points, or parts for `along="rotation"`. A body alone stands for its reference point.
        stiffness : float, Signal, str or callable, optional
            Stiffness, N/m; N m/rad for a rotation. At least one of `stiffness`, `law` and `damping` is required. It and x0 may
            vary in time, along an axis x0 alone: a signal, a formula of the time t, or a function t -> number. One of them may
            be the output of a controller if the other is constant. The energy is that of the spring with the numbers at
            t = 0; what varies does work.
        length : float, Signal, str or callable, optional
            Value x0 without force, m. Default: the value at t = 0. Not for a rotation.
        damping : float or SpringLaw, default 0.0
            Damping, N s/m; N m s/rad for a rotation. Or a law of the rate dx/dt, which then needs `law` in place of `stiffness`.
        law : SpringLaw, optional
            Force (N) or moment (N m) as a function of x, in place of `stiffness`.
        along : {"distance", "axis", "rotation"}, default "distance"
            The coordinate x. "distance": the distance of the points, m. "axis": the displacement of `b` from `a` along `axis`,
            m. "rotation": the rotation of `b` relative to `a` about `axis`, rad, zero at t = 0, for parts that a joint with
            this axis connects. A law of an angle covers half a turn on both sides of its middle.
        axis : array_like, shape (3,), optional
            World direction at t = 0, fixed to `a`, for "axis" and "rotation".
        angle : float, Signal, str or callable, optional
            Value x0 for a rotation, rad. Default: 0, the pose at t = 0.

        Returns
        -------
        Spring, TorsionSpring or NonlinearSpring
            Spring: linear, of a distance. TorsionSpring: linear, of a rotation. NonlinearSpring: all others.

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
        >>> model.add_spring("winch", "ground@1,0,0", block, stiffness=100.0, length="1.0 - 0.2*sin(t)")
        <spring 'winch' of the ground, body 'block'>
        """
        arguments = SpringArguments(a, b, stiffness, length, damping, law, along, axis, angle)
        kind, fields = choose_spring_type(self, name, arguments)
        return add(self, kind, name, **fields)

    def add_torsion_spring(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        axis: ArrayLike,
        stiffness: float,
        damping: float = 0.0,
        angle: float = 0.0,
    ) -> Spring | TorsionSpring | NonlinearSpring:
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
        of: LimitedCoordinate = "length",
        axis: ArrayLike | None = None,
    ) -> NonlinearSpring:
        """Old name of `add_spring` with a law."""
        warn_of_old_name("Model.add_law_spring", "add_spring(..., law=...)")
        return add(self, NonlinearSpring, name, a=a, b=b, law=law, damping=damping, of=of, axis=axis)

    @accept_old_arguments
    def add_force(self, name: str, on: PointLike, value: VectorLike, following: bool = False) -> Load:
        """Apply a force to a point of a body or a rod.

        Parameters
        ----------
        name : str
            Name of the load.
        on : point, body or str
            Point of application.
        value : array_like, VectorSignal or callable
            Force, N: constant (3,), a signal `.along(direction)`, or a function t -> (3,).
        following : bool, default False
            True if its components are in the axes of the moving part (section axes of a rod) instead of inertial ones.

        Returns
        -------
        Load

        Raises
        ------
        ModelError
            If the point is on the ground or a driven frame, or `value` is not a vector.

        Examples
        --------
        >>> from rodsim import Box, Model, signals
        >>> model = Model()
        >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0))
        >>> model.add_force("constant", block, (0, 0, 2))
        <force 'constant' on body 'block'>
        >>> model.add_force("swelling", "block@0.05,0,0", signals.Sine(2.0, 0.5).along((0, 0, 1)))
        <force 'swelling' on body 'block'>
        """
        return add(self, Load, name, kind="force", on=on, value=value, following=following)

    @accept_old_arguments
    def add_moment(self, name: str, on: PointLike, value: VectorLike, following: bool = False) -> Load:
        """Apply a moment to a point of a body or a rod.

        Parameters
        ----------
        name : str
            Name of the load.
        on : point, body or str
            Point of application.
        value : array_like, VectorSignal or callable
            Moment, N m: constant (3,), a signal `.along(direction)`, or a function t -> (3,).
        following : bool, default False
            True if its components are in the axes of the moving part (section axes of a rod) instead of inertial ones.

        Returns
        -------
        Load

        Raises
        ------
        ModelError
            If the point is on the ground or a driven frame, or `value` is not a vector.

        Examples
        --------
        >>> from rodsim import Box, Model, signals
        >>> model = Model()
        >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0))
        >>> model.add_moment("constant", block, (0, 0, 2))
        <moment 'constant' on body 'block'>
        >>> model.add_moment("swelling", "block@0.05,0,0", signals.Sine(2.0, 0.5).along((0, 0, 1)))
        <moment 'swelling' on body 'block'>
        """
        return add(self, Load, name, kind="moment", on=on, value=value, following=following)

    add_torque = add_moment  # the same method by another usual name

    @accept_old_arguments
    def add_distributed_load(
        self,
        name: str,
        on: Rod | str,
        value: LineLoadLike,
        kind: LoadKind = "force",
        following: bool = False,
        between: ArrayLike = (0.0, 1.0),
    ) -> DistributedLoad:
        """Load a rod along its length.

        Parameters
        ----------
        name : str
            Name of the load.
        on : Rod or str
            The rod.
        value : array_like, VectorSignal, callable or signals.Field
            Force (N/m) or moment (N m/m) per stress-free length of the rod: constant (3,), a signal `.along(direction)`, or
            a function (s, t) -> (3,), s the fraction of the length. A `signals.Field` of a function that takes arrays is called
            once for the whole rod and many steps. It is integrated adaptively along each element, and resolves loads as narrow
            as about 1/30 of an element. A function of a single position is not integrated adaptively; a `ModelCheckWarning`
            reports a load that is too narrow.
        kind : {"force", "moment"}, default "force"
            Kind of the load.
        following : bool, default False
            True if components are in the axes (d1, d2, d3) of the sections, with which they rotate. Example: a pressure p on the
            +d2 side of a rod without shear is (0, -p, 0).
        between : array_like, shape (2,), default (0, 1)
            Fractions of the length at which the load begins and ends. The rod gets nodes there.

        Returns
        -------
        DistributedLoad

        Raises
        ------
        ModelError
            If `on` is not a rod of this model, or the fractions do not increase within [0, 1].

        Examples
        --------
        >>> from rodsim import Material, Model, Section
        >>> model = Model()
        >>> section = Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000.0))
        >>> rod = model.add_rod("beam", [(0, 0, 0), (1, 0, 0)], section)
        >>> model.add_distributed_load("snow", "beam", (0, 0, -5), between=(0.5, 1))
        <distributed load 'snow' of rod 'beam'>
        """
        arguments = {"kind": kind, "value": value, "following": following, "between": between}
        return add(self, DistributedLoad, name, on=on, **arguments)

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
    ) -> Bushing:
        """Connect two parts by a spring-damper in all six directions.

        Rotations are components of the rotation vector (angle times axis), accurate up to nearly pi. Displacements are those of
        the screw motion from marker a to marker b; without a rotation they are the vector from a to b
        (`discretization.space.bushing`). Both have the same sign and magnitude in the axes of a and in those of b.

        If `stiffness` is zero for the rotation about one direction (a free axis), that rotation is free through any number of
        turns. The rotation is then the smallest one that takes the free axis of a to that of b, and the displacement is that of
        marker b from marker a, both in the axes of a, the housing of the bearing. `damping` may resist the free rotation
        (`discretization.space.free_bushing`). The same holds if the stiffness of all rotations is zero.

        Parameters
        ----------
        name : str
            Name of the bushing.
        a, b : part, point or str
            The connected parts or points.
        stiffness : array_like
            Stiffness of three displacements (N/m) and three rotations (N m/rad): one number, (6,), or symmetric (6, 6).
        damping : array_like, default 0.0
            Damping of the displacement and rotation rates, N s/m and N m s/rad, in the same forms.
        at : array_like, shape (3,), optional
            World point of both markers at t = 0, m. Default: each marker is at its point.
        axes : array_like, shape (3, 3), optional
            World directions of the displacements and rotations as columns, right-handed. Default: the world axes.
        rest : array_like, shape (6,), default 0
            Displacements and rotations at zero force, m and rad; they are zero if both markers coincide.

        Returns
        -------
        Bushing

        Raises
        ------
        ModelError
            If a matrix is not symmetric or not positive semidefinite, or `axes` is not a rotation.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> engine = model.add_body("engine", Box(0.4, 0.3, 0.3, mass=80.0))
        >>> model.add_bushing("mount", "ground", engine, [2e5, 2e5, 2e5, 1e3, 1e3, 1e3], damping=10.0, at=(0, 0, -0.15))
        <bushing 'mount' of the ground, body 'engine'>
        """
        arguments = {"at": at, "axes": axes, "rest": rest}
        return add(self, Bushing, name, a=a, b=b, stiffness=stiffness, damping=damping, **arguments)

    def add_bearing(
        self,
        name: str,
        a: Attachable,
        b: PointLike,
        stiffness: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
        kind: BearingKind = "radial",
        *,
        axis: ArrayLike | None = None,
        y: ArrayLike | None = None,
        speeds: ArrayLike | None = None,
        speed: float | None = None,
    ) -> Bearing:
        """Support a rotating shaft by a bearing or a seal with full matrices of stiffness and damping.

        The force on the shaft is -K u - C du/dt, with the displacement u of its point from the support in the axes of the support
        (axis, y, z), which do not rotate with the shaft. Neither matrix need be symmetric. The shaft may rotate about the axis
        without limit. The symmetric part of K is an energy; its antisymmetric part (cross coupling) does work, which counts as
        that of a load. For a shaft that rotates from y to z, K_yz = -K_zy = k' > 0 drives the forward whirl.

        Parameters
        ----------
        name : str
            Name of the bearing.
        a : part, point or str
            The support: the ground, a body, or a point of a rod. Springs and mass of a support are those of a body.
        b : point, Body or str
            The point of the shaft that is in the bearing.
        stiffness : array_like, default 0.0
            K, N/m and N m/rad: one number, a diagonal (n,) or a matrix (n, n); with `speeds` a list of k of these.
        damping : array_like, default 0.0
            C, N s/m and N m s/rad, in the same forms. Its symmetric part must not be negative.
        kind : {"radial", "axial", "self-aligning", "general"}, default "radial"
            What the numbers resist. "radial": n = 2, displacements along y and z. "axial": n = 1, along the axis.
            "self-aligning": n = 3, along axis, y and z. "general": n = 6, these and rotations about axis, y and z, of which the
            first has no stiffness. A joint of kind "radial bearing", "axial bearing" or "self-aligning bearing" is rigid.
        axis : array_like (3,), optional
            World direction of the axis at t = 0. Default: the tangent of the rod at b.
        y : array_like (3,), optional
            World direction of y at t = 0, across the axis. Default: the world axis that follows the one nearest to `axis`: y for
            an axis along x. z completes them to a right-handed set.
        speeds : array_like (k,), optional
            Increasing rotation speeds of k entries of stiffness and damping, rad/s, between which they are linear.
        speed : float, optional
            Speed at which these are read, rad/s. Default: that of the shaft, relative to the support and about the axis, at
            t = 0. A run keeps it; `campbell` reads the table at each of its speeds.

        Returns
        -------
        Bearing

        Raises
        ------
        ModelError
            If a matrix has another shape, a table has gaps or does not cover the speed, damping would create energy, the
            stiffness resists the rotation about the axis, or the points of support and shaft differ.

        See Also
        --------
        rodsim.campbell : Whirl frequencies, critical speeds and stability over the speed.

        Examples
        --------
        >>> from rodsim import Cylinder, Model
        >>> model = Model("rotor")
        >>> disc = model.add_body("disc", Cylinder(0.2, 0.05, density=7800.0))
        >>> model.add_bearing("seal", "ground", disc, [[1e6, 1e5], [-1e5, 1e6]], 200.0, axis=(0, 0, 1))
        <bearing 'seal' of the ground, body 'disc'>
        """
        arguments = {"axis": axis, "y": y, "speeds": speeds, "speed": speed}
        return add(
            self, Bearing, name, a=a, b=b, stiffness=stiffness, damping=damping, carries=kind, **arguments
        )

    def add_limit(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        stiffness: float,
        width: float,
        lower: float | None = None,
        upper: float | None = None,
        of: LimitedCoordinate = "angle",
        axis: ArrayLike | None = None,
    ) -> Limit:
        """Limit an angle, a displacement or a length by a spring that acts only beyond the limit.

        If the coordinate exceeds the limit by x, the force is stiffness x^2/(2 width) up to x = `width`, and linear in x above.

        Parameters
        ----------
        name : str
            Name of the limit.
        a, b : part, point or str
            As in `add_spring`.
        stiffness : float
            Stiffness beyond the limit, N/m or N m/rad.
        width : float
            Range beyond the limit in which the stiffness grows from zero to its full value, m or rad.
        lower, upper : float, optional
            Limits, m or rad; one of them may be None.
        of : {"angle", "displacement", "length"}, default "angle"
            The limited coordinate: the angle of `b` relative to `a` about `axis`, its displacement along `axis`, or the distance
            of the points.
        axis : array_like, shape (3,), optional
            World direction at t = 0, fixed to `a`, of an angle or a displacement.

        Returns
        -------
        Limit

        Raises
        ------
        ModelError
            If `lower` is not below `upper`, or neither is given.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> door = model.add_body("door", Box(1, 0.05, 2, mass=20.0), position=(0.5, 0, 0))
        >>> model.add_limit("stop", "ground", door, stiffness=500.0, width=0.05, upper=1.5, axis=(0, 0, 1))
        <limit 'stop' of the ground, body 'door'>
        """
        arguments = {"stiffness": stiffness, "width": width, "lower": lower, "upper": upper}
        return add(self, Limit, name, a=a, b=b, of=of, axis=axis, **arguments)

    def add_driven(
        self,
        name: str,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: OrientationLike = (1.0, 0.0, 0.0, 0.0),
        displacement: DisplacementLike | None = None,
        turn: MotionLike | None = None,
        axis: ArrayLike | None = None,
        attitude: Callable[[float], OrientationLike] | None = None,
    ) -> Driven:
        """Add a frame with a prescribed motion: its position and orientation are functions of time.

        Joints, springs and rods attach to it as to the ground. To prescribe the motion of one point of a part, join the point to
        the frame with a spherical joint. Smooth signals are Sine, SmoothStep, SmoothTable, SpinUp, Steady and Constant. The rate
        of a Python function is computed by central differences with a step of 3e-4 s; the function is also called at t < 0.

        Parameters
        ----------
        name : str
            Name of the frame.
        position : array_like, shape (3,), default (0, 0, 0)
            Position before the displacement, m.
        orientation : array_like or scipy.spatial.transform.Rotation, default (1, 0, 0, 0)
            Orientation before the rotation, as in `add_body`.
        displacement : optional
            Displacement, m: a smooth signal `.along(direction)`, a list of signals, whose sum is taken, a function
            t -> (3,), or a pair of a function and its rate.
        turn : optional
            Rotation angle, rad, about `axis`: a smooth signal, a function t -> angle, or a pair of a function and its rate.
        axis : array_like, shape (3,), optional
            World direction of the rotation axis, through the frame.
        attitude : callable, optional
            In place of `turn`: a function t -> orientation, in the forms of `add_body`.

        Returns
        -------
        Driven
            The frame. Its pose at t = 0 is that of the functions at t = 0.

        Raises
        ------
        ModelError
            If `turn` comes without `axis` or with `attitude`, or a motion is not smooth.

        Examples
        --------
        >>> from rodsim import Model, signals
        >>> model = Model()
        >>> model.add_driven("table", displacement=signals.Sine(0.01, 2.0).along((1, 0, 0)))
        <Driven 'table' at [0, 0, 0]>
        """
        check_new_part(self, name)
        driven = make_driven(name, position, orientation, displacement, turn, axis, attitude)
        self.driven[name] = driven
        return driven

    def add_inerter(self, name: str, measure: Measure, inertance: float) -> Inerter:
        """Add an inertia against the rate of a distance, a displacement or an angle of two points or parts.

        It exerts the force -inertance d^2m/dt^2 along the measure m. Its energy inertance (dm/dt)^2/2 counts as spring energy.

        Parameters
        ----------
        name : str
            Name of the inerter.
        measure : Measure
            `measures.distance`, `measures.displacement` or `measures.angle`.
        inertance : float
            Force over acceleration, kg, or moment over angular acceleration, kg m^2.

        Returns
        -------
        Inerter

        Raises
        ------
        ModelError
            If the measure is another one, the inertance is not positive, or both points are on one body.

        Examples
        --------
        >>> from rodsim import Box, Model, measures
        >>> model = Model()
        >>> car = model.add_body("car", Box(2, 1, 0.5, mass=300.0), position=(0, 0, 0.5))
        >>> model.add_inerter("strut", measures.distance("ground", car), 20.0)
        <inerter 'strut' of the distance from the ground to body 'car'>
        """
        return add(self, Inerter, name, measure=measure, inertance=inertance)

    def add_joint_force(
        self, name: str, joint: JointComponent | str, value: ScalarLike, of: JointCoordinate | None = None
    ) -> JointForce:
        """Apply a moment about the axis of a joint, or a force along it, to `b`, and its reaction to `a`.

        Its work is that of a load.

        Parameters
        ----------
        name : str
            Name of the joint force.
        joint : JointComponent or str
            A joint with an axis: revolute, prismatic or cylindrical.
        value : float, Signal, str or callable
            Moment, N m, or force, N, on `b`: a number, a signal such as the output of a controller, a formula of the time t, or a
            function t -> number.
        of : {"angle", "displacement"}, optional
            Moment or force, for a joint that has both coordinates.

        Returns
        -------
        JointForce

        Raises
        ------
        ModelError
            If the joint has no such coordinate, or `value` is not a scalar.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
        >>> hinge = model.add_joint("hinge", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 0, 1))
        >>> model.add_joint_force("motor", hinge, "2*sin(3*t)")
        <moment about the axis of joint 'hinge' 'motor'>
        """
        return add(self, JointForce, name, joint=joint, value=value, of=of)

    def add_drive(
        self, name: str, joint: JointComponent | str, value: MotionLike, of: DrivenCoordinate | None = None
    ) -> Drive:
        """Prescribe the coordinate of a joint: it changes from its value at t = 0 by value(t) - value(0).

        Parameters
        ----------
        name : str
            Name of the drive; `result.joint(name)` has its force or moment, `result.drive_work(name)` its work.
        joint : JointComponent or str
            A joint with a coordinate.
        value : Signal, callable or pair of callables
            Angle, rad, displacement or distance, m: a smooth signal as in `add_driven`, a function t -> number, or a pair of a
            function and its rate.
        of : {"angle", "displacement", "distance"}, optional
            The coordinate, for a joint that has several. The angle is the rotation of `b` relative to `a` about the axis of the
            joint, the displacement that of `b` along it. The distance is that of the points of a distance joint: a winch, or a
            cylinder without compliance. The drive takes the place of the joint's own condition.

        Returns
        -------
        Drive

        Raises
        ------
        ModelError
            If the joint has no coordinate to drive, or `value` is not smooth enough to be a motion.

        Examples
        --------
        >>> from rodsim import Box, Model, signals
        >>> model = Model()
        >>> arm = model.add_body("arm", Box(1, 0.1, 0.1, mass=2.0), position=(0.5, 0, 0))
        >>> joint = model.add_joint("motor", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 0, 1))
        >>> model.add_drive("spins", "motor", signals.SpinUp(speed=3.0, t_end=1.0))
        <drive 'spins' of the angle of joint 'motor'>
        """
        return add(self, Drive, name, joint=joint, motion=value, of=of)

    def add_gear(
        self,
        name: str,
        joints: Sequence[JointComponent | str],
        ratios: Sequence[float],
        of: Sequence[JointCoordinate | None] | None = None,
    ) -> Gear:
        """Couple the coordinates q of joints: ratios[0] q_0 + ratios[1] q_1 + ... keeps its value at t = 0.

        Angles (rad, of `b` relative to `a` about the axis of the joint) count whole turns, displacements are in m.

        Parameters
        ----------
        name : str
            Name of the gear; `result.joint(name)` has the force or moment that it exerts in each joint.
        joints : sequence of JointComponent or str
            Two or more joints.
        ratios : sequence of float
            One ratio for each joint. Wheels of 20 and 30 teeth on parallel axes, external: (20, 30), internal: (20, -30). Rack
            and pinion of radius r: (1, -r) for displacement and angle. Differential: (1, 1, -2) for both shafts and the cage.
        of : sequence of {"angle", "displacement", None}, optional
            The coordinate of each joint, None if it has only one.

        Returns
        -------
        Gear

        Raises
        ------
        ModelError
            If a joint has no such coordinate, a ratio is zero or lost in rounding compared with the others, or another gear
            couples the same coordinates.

        Examples
        --------
        >>> from rodsim import Cylinder, Model
        >>> model = Model()
        >>> for name, x in (("small", 0.0), ("large", 0.5)):
        ...     wheel = model.add_body(name, Cylinder(0.2 + 0.2 * x, 0.02, mass=1.0), position=(x, 0, 0))
        ...     joint = model.add_joint(f"axle of {name}", "revolute", "ground", wheel, at=(x, 0, 0), axis=(0, 0, 1))
        >>> model.add_gear("teeth", ["axle of small", "axle of large"], (20, 30)).ratios
        (20.0, 30.0)
        """
        return add(self, Gear, name, joints=joints, ratios=ratios, of=of)

    @accept_old_arguments
    def add_pressure(self, name: str, on: Rod | str, pressure: ScalarLike, normal: ArrayLike) -> Pressure:
        """Apply a pressure to one side of a rod in a plane: a force per current length, pressure x (normal x tangent).

        The force stays perpendicular to the rod as it moves and grows as it is stretched. A closed rod that runs
        counter-clockwise about the normal is pressed from outside if the pressure is positive: this is a hydrostatic pressure,
        whose work is pressure times the change of the area. Between nodes the rod is replaced by its chords; if a rod leaves
        the plane, its projection counts. In an equilibrium a constant pressure acts in full from load factor 0 on, one that
        varies grows as loads do. Its work is part of `work`. Supported by em, em-ggl and their compositions.

        Parameters
        ----------
        name : str
            Name of the pressure.
        on : Rod or str
            The rod.
        pressure : float, Signal, str or callable
            Force per current length, N/m: a number, a signal such as the output of a controller, a formula of the time t, or a
            function t -> number.
        normal : array_like, shape (3,)
            World direction, the normal of the plane.

        Returns
        -------
        Pressure

        Raises
        ------
        ModelError
            If `on` is not a rod of this model, or `normal` is zero.

        Examples
        --------
        >>> from rodsim import Material, Model, Section
        >>> model = Model()
        >>> section = Section.circular(0.01, Material(E=1e7, nu=0.3, density=1000.0))
        >>> hose = model.add_rod("hose", [(0, 0, 0), (1, 0, 0)], section)
        >>> model.add_pressure("water", "hose", pressure=3.0, normal=(0, 0, 1))
        <pressure 'water' of rod 'hose'>
        """
        return add(self, Pressure, name, on=on, pressure=pressure, normal=normal)

    def add_moving_force(
        self, name: str, on: Rod | str, position: ScalarLike, force: VectorLike, length: float = 0.0
    ) -> MovingForce:
        """Add a force that moves along a rod, such as a wheel or a train on a bridge.

        Each node of the element at that place has its part of the force, by the interpolation of the element. The force does not
        act before the start and behind the end of the rod. Its work is that of a load.

        Parameters
        ----------
        name : str
            Name of the force.
        on : Rod or str
            The rod.
        position : float, signal, str or callable
            Distance from the start along the stress-free rod, m: constant, a signal, a formula of the time t, or a function of t.
        force : array_like (3,), VectorSignal or callable
            Force, N, in inertial axes: constant, a signal along a direction, or a function t -> (3,).
        length : float, default 0.0
            Length over which the force is spread evenly around `position`, m. A train of a load q per length has the force q
            times its length. It may be longer than the rod; only the load on the rod acts.

        Returns
        -------
        MovingForce

        Raises
        ------
        ModelError
            If `on` is not a rod of this model, or `length` is negative.

        Examples
        --------
        >>> from rodsim import Material, Model, Section
        >>> model = Model()
        >>> section = Section.rectangle(0.2, 0.1, Material(E=3e10, nu=0.2, density=2500.0))
        >>> beam = model.add_rod("bridge", [(0, 0, 0), (20, 0, 0)], section)
        >>> model.add_moving_force("wheel", "bridge", "30*t", (0, 0, -1e4))
        <moving force 'wheel' on rod 'bridge'>
        """
        return add(self, MovingForce, name, on=on, position=position, force=force, length=length)

    def add_gravity(self, name: str, value: VectorLike) -> Gravity:
        """Add a uniform acceleration of all moving masses, which may vary in time, to the gravity of the model.

        Each mass m is loaded by m value(t). Its work is that of a load. The negative acceleration of a vehicle or of the ground
        in an earthquake gives the motion relative to it.

        Parameters
        ----------
        name : str
            Name of the field.
        value : array_like (3,), VectorSignal or callable
            Acceleration, m/s^2: constant, a signal along a direction, three components with formulas of the time t, or a function
            t -> (3,).

        Returns
        -------
        Gravity

        Raises
        ------
        ModelError
            If the value is not an acceleration of these kinds.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model(gravity=(0, 0, -9.81))
        >>> crate = model.add_body("crate", Box(0.1, 0.1, 0.1, mass=1.0))
        >>> model.add_gravity("quake", ["2*sin(9*t)", 0.0, 0.0])
        <gravity 'quake'>
        """
        return add(self, Gravity, name, value=value)

    def add_fluid(
        self,
        name: str,
        density: float,
        current: ArrayLike | Current | None = None,
        *,
        factor: ScalarLike = 1.0,
        waves: AiryWave | Sequence[AiryWave] | None = None,
        depth: float | None = None,
        level: float = 0.0,
        build_up: float = 0.0,
    ) -> Fluid:
        """Add a fluid, such as the sea or the air, with a current and waves.

        It acts on the parts given to `add_submerged_rod` and `add_submerged_body`, everywhere: it has no surface above which
        its forces end. Up is against the gravity of the model, or along z if that is zero.

        Parameters
        ----------
        name : str
            Name of the fluid.
        density : float
            Density, kg/m^3.
        current : array_like, shape (3,), PowerLaw, Profile or Formula, optional
            Velocity of the current or wind, m/s, uniform or over the height (`rodsim.fluids`).
        factor : float, Signal, str or callable, default 1.0
            Factor of the current, or a function of time.
        waves : AiryWave or sequence of AiryWave, optional
            Regular waves, which add (`rodsim.fluids`).
        depth : float, optional
            Depth of the water, for waves, m; by default deep water.
        level : float, default 0.0
            Height of the mean surface above the origin, for waves, m.
        build_up : float, default 0.0
            Time over which waves grow from zero at the start, s.

        Returns
        -------
        Fluid

        Raises
        ------
        ModelError
            If the density is not positive, or a current or a wave is not finite.

        Examples
        --------
        >>> from rodsim import Model, fluids
        >>> model = Model(gravity=(0, 0, -9.81))
        >>> sea = model.add_fluid("sea", 1025.0, fluids.Profile([-50, 0], [[0.1, 0, 0], [0.8, 0, 0]]))
        >>> sea
        <fluid 'sea' of 1025 kg/m^3>
        """
        return add(
            self,
            Fluid,
            name,
            density=density,
            current=current,
            factor=factor,
            waves=waves,
            depth=depth,
            level=level,
            build_up=build_up,
        )

    def add_submerged_rod(
        self,
        name: str,
        rod: Rod | str,
        fluid: Fluid | str,
        diameter: float,
        *,
        drag: float = 1.2,
        tangential_drag: float = 0.0,
        added_mass: float = 1.0,
        tangential_added_mass: float | None = None,
        buoyancy: float = 1.0,
    ) -> SubmergedRod:
        """Put a rod into a fluid: buoyancy, drag (Morison) and added mass of a circular section.

        w is the velocity of a section relative to the fluid, w_n and w_t its parts across and along the rod, A = pi d^2/4. The
        forces per stress-free length are

            rho A g   upwards,   -rho d C_n |w_n| w_n/2 - rho pi d C_t |w_t| w_t/2,   rho A du/dt   in waves

        and the added mass is rho A C_a. The drag of an interval between two nodes acts on both, across and along its chord.

        Parameters
        ----------
        name : str
            Name of the submerged rod.
        rod : Rod or str
            The rod; its mass per length is its own, without the fluid.
        fluid : Fluid or str
            The fluid.
        diameter : float
            Outer diameter d, m.
        drag, tangential_drag : float, default 1.2 and 0.0
            Coefficients C_n and C_t.
        added_mass : float, default 1.0
            Coefficient C_a across the rod.
        tangential_added_mass : float, optional
            Coefficient C_a along the rod. Default: 0; for a string, whose nodes have no axis, it equals that across it.
        buoyancy : float, default 1.0
            Part of the displaced volume that lifts; 0 if the weight of the rod is that in the fluid.

        Returns
        -------
        SubmergedRod

        Raises
        ------
        ModelError
            If a number is negative, or the rod is in this fluid already.

        Examples
        --------
        >>> from rodsim import Model, Section
        >>> model = Model(gravity=(0, 0, -9.81))
        >>> steel = Section.from_stiffness(EA=1e7, GA=1e6, GJ=100.0, EI=100.0, mass_per_length=8.0, inertia_per_length=1e-3)
        >>> line = model.add_rod("line", [(0, 0, 0), (0, 0, -50)], steel, 20)
        >>> sea = model.add_fluid("sea", 1025.0, current=(0.5, 0, 0))
        >>> model.add_submerged_rod("wet line", line, sea, diameter=0.05)
        <submerged rod 'wet line' of rod 'line', fluid 'sea'>
        """
        return add(
            self,
            SubmergedRod,
            name,
            rod=rod,
            fluid=fluid,
            diameter=diameter,
            drag=drag,
            tangential_drag=tangential_drag,
            added_mass=added_mass,
            tangential_added_mass=tangential_added_mass,
            buoyancy=buoyancy,
        )

    def add_submerged_body(
        self,
        name: str,
        on: PointLike,
        fluid: Fluid | str,
        *,
        volume: float = 0.0,
        drag_area: ArrayLike = 0.0,
        added_mass: ArrayLike = 0.0,
    ) -> SubmergedBody:
        """Put a body into a fluid: buoyancy, drag and added mass at one of its points.

        With the velocity w of the point relative to the fluid the drag is -rho |w| D w/2, D the drag areas along the axes of the
        body. In waves the displaced fluid adds the force rho volume du/dt.

        Parameters
        ----------
        name : str
            Name of the submerged body.
        on : Anchor, Body or str
            Point of a body: its centre of buoyancy; a whole body stands for its reference point.
        fluid : Fluid or str
            The fluid.
        volume : float, default 0.0
            Displaced volume, m^3.
        drag_area : float or array_like, shape (3,), default 0.0
            Area times drag coefficient, m^2, the same in all directions or along the axes of the body.
        added_mass : float or array_like, shape (3,), (6,) or (6, 6), default 0.0
            Added mass in the axes of the body about the point: of translation, kg, or of translation and rotation (kg, kg m,
            kg m^2).

        Returns
        -------
        SubmergedBody

        Raises
        ------
        ModelError
            If a number is negative, all are zero, the added mass is not symmetric and positive semidefinite, or the point is not
            on a body.

        Examples
        --------
        >>> from rodsim import Model, Sphere
        >>> model = Model(gravity=(0, 0, -9.81))
        >>> buoy = model.add_body("buoy", Sphere(0.5, density=500.0))
        >>> sea = model.add_fluid("sea", 1025.0)
        >>> model.add_submerged_body("wet buoy", buoy, sea, volume=0.52, drag_area=0.37, added_mass=268.0)
        <submerged body 'wet buoy' of body 'buoy', fluid 'sea'>
        """
        return add(
            self,
            SubmergedBody,
            name,
            on=on,
            fluid=fluid,
            volume=volume,
            drag_area=drag_area,
            added_mass=added_mass,
        )

    def add_airfoil(
        self,
        name: str,
        rod: Rod | str,
        fluid: Fluid | str,
        polar: Polar,
        chord: ArrayLike,
        *,
        twist: ArrayLike = 0.0,
        centre: float = 0.0,
        between: ArrayLike = (0.0, 1.0),
    ) -> Airfoil:
        """Let the wind act on a rod as on a blade or a wing: lift, drag and moment of strips by a polar.

        At each node the velocity w of the air relative to the section has a part across the rod, with an angle of attack to the
        chord. The polar gives the force and the moment per length, rho w^2/2 chord C and rho w^2/2 chord^2 C_m.

        Parameters
        ----------
        name : str
            Name of the airfoil.
        rod : Rod or str
            The rod.
        fluid : Fluid or str
            The air, see `add_fluid`.
        polar : Polar
            Coefficients over the angle of attack (`rodsim.fluids`).
        chord : float or array_like, shape (n, 2)
            Chord, m: one number, or rows (s, chord) along the rod, linear between them.
        twist : float or array_like, shape (n, 2), default 0.0
            Angle of the chord, degrees: the leading edge is at d2 of the section, rotated by it towards d3. The upper side is
            that of d3, rotated likewise.
        centre : float, default 0.0
            Distance of the point at which forces act from the rod's nodes towards the leading edge, in chords.
        between : array_like, shape (2,), default (0, 1)
            Fractions of the rod's length between which the wind acts.

        Returns
        -------
        Airfoil

        Raises
        ------
        ModelError
            If a chord is not positive, a table does not cover the rod, or the polar does not contain an angle of attack at t = 0.

        Examples
        --------
        >>> from rodsim import Model, Section, fluids
        >>> model = Model()
        >>> section = Section.from_stiffness(EA=1e8, GA=1e7, GJ=1e5, EI=1e5, mass_per_length=5.0, inertia_per_length=0.1)
        >>> wing = model.add_rod("wing", [(0, 0, 0), (0, 5, 0)], section, 10, up=(0, 0, 1))
        >>> wind = model.add_fluid("wind", 1.2, current=(20, 0, 0))
        >>> polar = fluids.Polar([-180, -90, 0, 90, 180], lift=[0, 0, 0, 0, 0], drag=[0.1, 1.8, 0.1, 1.8, 0.1])
        >>> model.add_airfoil("wing in wind", wing, wind, polar, chord=0.5)
        <airfoil 'wing in wind' of rod 'wing', fluid 'wind'>
        """
        return add(
            self,
            Airfoil,
            name,
            rod=rod,
            fluid=fluid,
            polar=polar,
            chord=chord,
            twist=twist,
            centre=centre,
            between=between,
        )

    def add_measure_force(self, name: str, measure: Measure, force: ScalarLike) -> MeasureForce:
        """Apply a generalised force to a measure of two points or parts; its work is force x change of the measure.

        A hydraulic cylinder pushes on a distance; a muscle or a cable, which pulls, is a negative force on it. A moment on an
        angle acts on `b` about the axis, its reaction on `a`. The work is exact, and that of a load.

        Parameters
        ----------
        name : str
            Name of the force.
        measure : Measure
            A `rodsim.measures.distance`, `strain`, `displacement`, `coordinate`, `cosine` or `angle`.
        force : float, Signal, str or callable
            Force conjugate to the measure, N, for an angle N m; positive if it increases the measure. A number, a signal such as
            the output of a controller, a formula of the time t, or a function t -> number.

        Returns
        -------
        MeasureForce

        Raises
        ------
        ModelError
            If `measure` is not a measure of two points of this model, or `force` is not a scalar.

        Examples
        --------
        >>> from rodsim import Box, Model, measures
        >>> model = Model()
        >>> arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
        >>> model.add_measure_force("muscle", measures.distance("ground@0,0,1", arm), "-20*sin(3*t)**2")
        <measure force 'muscle' of <distance from the ground to body 'arm'>>
        """
        return add(self, MeasureForce, name, measure=measure, force=force)

    def add_tendon(
        self,
        name: str,
        points: Sequence[Attachable | Pulley | Drum],
        tension: ScalarLike | None = None,
        *,
        stiffness: float | None = None,
        length: ScalarLike | None = None,
        friction: float = 0.0,
        slip_rate: float = 1e-3,
    ) -> Tendon:
        """Add a tendon: a line of one tension through points and over pulleys of rods, bodies and the ground.

        Each segment pulls its two points towards each other. A tendon has a given tension, or a stiffness, or else it is
        inextensible. The work of a given tension is -tension x change of the length, exact, and that of a load. An elastic
        tendon is slack if it is shorter than its length without tension; an inextensible one is never slack and may push. A
        segment between two points of one body, or of one cross-section, has a fixed length and does not act. Over pulleys it
        slides without friction, on drums its ends are wound up.

        With friction, the tension falls at each inner point by the factor exp(-mu phi tanh(v/slip_rate)); phi is the angle of
        wrap, v the rate at which the tendon slips towards the first point. What is lost is never negative, and part of
        `result.dissipation`; the work is that of the tension at the first point. At rest (`equilibrium`, `modes`) the tension is
        the same everywhere.

        Parameters
        ----------
        name : str
            Name of the tendon.
        points : sequence of point, body, str, Pulley or Drum
            Two or more points in their order, such as `rod.at(0.3, (0, 0.01, 0))`, offset in section axes. A body stands for its
            reference point. A `Pulley` between them has a radius; a `Drum` may be the first or the last.
        tension : float, Signal, str or callable
            Tension at the first point, N: a number that is not negative, a signal such as the output of a controller, a formula
            of the time t, or a function t -> number. A signal that becomes negative pushes, without friction.
        stiffness : float, optional
            Tension over elongation, N/m, such as EA/length.
        length : float, Signal, str or callable, optional
            Length without tension, m. Default: that at t = 0. It may vary in time if there is a stiffness, as that of a winch;
            the energy of the tendon then counts as work. An inextensible tendon must have this length at t = 0.
        friction : float, default 0.0
            Coefficient mu of friction at the points between the first and the last. A tendon with friction has 3 to 32 points.
        slip_rate : float, default 1e-3
            Slip rate over which friction builds up, m/s; smaller values come closer to Coulomb's law.

        Returns
        -------
        Tendon

        Raises
        ------
        ModelError
            If there are less than two points, two neighbours are at one place, all points are fixed to each other, a number is
            negative, or arguments exclude each other. If a point lies inside a pulley, or neighbouring pulleys have no tangent
            or axes that are not parallel.

        Examples
        --------
        >>> from rodsim import Material, Model, Section
        >>> model = Model("finger")
        >>> soft = Section.circular(0.05, Material(E=1e5, nu=0.4, density=1000.0))
        >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], soft, 10, up=(0, 1, 0))
        >>> eyelets = [rod.at(k / 10, (0, 0.1, 0)) for k in range(11)]
        >>> model.add_tendon("flexor", eyelets, tension="5*t")
        <tendon 'flexor' through 11 points, from rod 'rod', s = 0 to rod 'rod', s = 1>
        """
        arguments = {"tension": tension, "stiffness": stiffness, "length": length}
        return add(self, Tendon, name, points=points, friction=friction, slip_rate=slip_rate, **arguments)

    def add_belt(
        self,
        name: str,
        drums: Sequence[Drum],
        *,
        stiffness: float | None = None,
        EA: float | None = None,
        pretension: float = 0.0,
    ) -> Belt:
        """Add a belt: a closed rope around two or more drums, on which it does not slip.

        Each span is elastic and has its own tension; a span is slack if it is shorter than its length without tension. The
        tension of the parts that lie on drums does not change. The belt does not come off its drums.

        Parameters
        ----------
        name : str
            Name of the belt.
        drums : sequence of Drum
            Two or more drums in the order in which the belt passes them, each on a part that rotates, such as a body on a hinge.
            `side` is the sense in which the belt goes around them in this order; drums with opposite sides are joined crosswise.
        stiffness : float, optional
            Tension of a span over its elongation, N/m. Give either `stiffness` or `EA`.
        EA : float, optional
            Axial stiffness, N: the stiffness of a span is EA over its length at t = 0.
        pretension : float, default 0.0
            Tension of all spans at t = 0, N.

        Returns
        -------
        Belt

        Raises
        ------
        ModelError
            If there are less than two drums, two neighbours are on one part, have no tangent or axes that are not parallel, or
            there is no stiffness.

        Examples
        --------
        >>> import numpy as np
        >>> from rodsim import Cylinder, Drum, Model
        >>> model, upright = Model("drive"), (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
        >>> wheels = [model.add_body(f"wheel {k}", Cylinder(0.1, 0.05, mass=1.0), (k, 0, 0), upright) for k in range(2)]
        >>> for wheel in wheels:
        ...     hinge = model.add_joint(wheel.name, "revolute", "ground", wheel, at=wheel.position, axis=(0, 1, 0))
        >>> model.add_belt("belt", [Drum(wheel, (0, 1, 0), 0.1) for wheel in wheels], EA=1e4, pretension=50.0)
        <belt 'belt' around 2 drums>
        """
        return add(self, Belt, name, drums=drums, stiffness=stiffness, EA=EA, pretension=pretension)

    def add_chamber(
        self,
        name: str,
        points: Sequence[Attachable],
        area: float,
        *,
        pressure: ScalarLike | None = None,
        volume: ScalarLike | None = None,
        bulk_modulus: float | None = None,
        gas_pressure: float | None = None,
        exponent: float = 1.4,
        ambient: float = AIR,
        dead_volume: float = 0.0,
    ) -> Chamber:
        """Add a chamber: a tube of constant cross-section along points of rods, bodies and the ground, under pressure.

        Its volume is the area times the length along its points, as of a tube that fibres keep from widening, or of a
        cylinder with its piston. Its filling pushes each two neighbouring points apart with the force area x pressure. A chamber
        has a given pressure (whose work is that of a load), or holds a gas, or a liquid that is compressible (`bulk_modulus`),
        or else one that is not.

        With the volume V, at t = 0 V_0, the pressure above that of the surroundings is

            gas       gas_pressure (V_0/V)^exponent - ambient
            liquid    bulk_modulus (volume - V)/V_0, which may become negative: there is no cavitation

        Parameters
        ----------
        name : str
            Name of the chamber.
        points : sequence of point, body or str
            Two or more points in their order, such as `rod.at(0.3, (0, 0.01, 0))`, offset in section axes. A body stands for its
            reference point.
        area : float
            Area of the cross-section, m^2.
        pressure : float, Signal, str or callable, optional
            Pressure above that of the surroundings, Pa: a number, a signal such as the output of a controller, a formula of the
            time t, or a function t -> number. A negative one is suction.
        volume : float, Signal, str or callable, optional
            Volume of a compressible liquid without pressure, m^3, as a pump or a syringe sets it. Default: that at t = 0. If it
            varies, the energy of the liquid counts as work.
        bulk_modulus : float, optional
            Bulk modulus of a compressible liquid, Pa: 2.2e9 of water; less with compliant hoses.
        gas_pressure : float, optional
            Absolute pressure of a gas at t = 0, Pa.
        exponent : float, default 1.4
            Polytropic exponent of the gas: 1 at constant temperature, 1.4 for air without heat exchange.
        ambient : float, default 101325
            Absolute pressure of the surroundings of a gas, Pa.
        dead_volume : float, default 0.0
            Volume that belongs to the chamber besides that along its points, m^3, such as that of hoses.

        Returns
        -------
        Chamber

        Raises
        ------
        ModelError
            If there are less than two points, two neighbours are at one place, all points are fixed to each other, a number is
            not positive, or arguments exclude each other.

        Examples
        --------
        >>> from rodsim import Material, Model, Section
        >>> model = Model("soft arm")
        >>> soft = Section.circular(0.02, Material(E=1e6, nu=0.45, density=1000.0))
        >>> rod = model.add_rod("rod", [(0, 0, 0), (0.2, 0, 0)], soft, 10, up=(0, 1, 0))
        >>> along = [rod.at(k / 10, (0, 0.01, 0)) for k in range(11)]
        >>> model.add_chamber("left", along, 5e-5, pressure="2e4*t")
        <chamber 'left' through 11 points, from rod 'rod', s = 0 to rod 'rod', s = 1>
        """
        arguments = {
            "pressure": pressure,
            "volume": volume,
            "bulk_modulus": bulk_modulus,
            "gas_pressure": gas_pressure,
        }
        arguments |= {"exponent": exponent, "ambient": ambient, "dead_volume": dead_volume}
        return add(self, Chamber, name, points=points, area=area, **arguments)

    def add_actuation(
        self,
        name: str,
        on: Rod | str,
        strain: StrainName,
        value: ScalarLike,
        shape: ArrayLike | Callable[[float], float] | None = None,
    ) -> Actuation:
        """Vary the rest strains of a rod in time: muscles, growth, pneumatic bending.

        The rest strain value(t) x shape(s) is added to those of the stress-free shape. It acts as the stress -C e of the
        stiffness C, whose work is exact and that of a load. Stresses and energies of a result are those of the rod without it.

        Parameters
        ----------
        name : str
            Name of the actuation.
        on : Rod or str
            The rod; its section must be linear.
        strain : {"Gamma1", "Gamma2", "Gamma3", "K1", "K2", "K3"}
            Component: stretch, two shears, twist, two bendings.
        value : float, Signal, str or callable
            Rest strain, 1 or 1/m, where the shape is 1: a number, a signal such as the output of a controller, a formula of the
            time t, or a function t -> number.
        shape : array_like (k, 2) or callable, optional
            Factor along the rod: rows of the fraction s of the length and the factor, with straight lines between, or a function
            of s, such as a spline. Default: 1.

        Returns
        -------
        Actuation

        Raises
        ------
        ModelError
            If `on` is not a rod of this model, or `value` or `shape` is not of these.

        Examples
        --------
        >>> from rodsim import Material, Model, Section
        >>> model = Model()
        >>> section = Section.circular(0.01, Material(E=1e6, nu=0.3, density=1000.0))
        >>> arm = model.add_rod("arm", [(0, 0, 0), (1, 0, 0)], section)
        >>> model.add_actuation("bends", arm, "K3", "2*sin(3*t)", shape=[(0, 1), (1, 0)])
        <actuation 'bends' of K3 of rod 'arm'>
        """
        return add(self, Actuation, name, on=on, strain=strain, value=value, shape=shape)

    @accept_old_arguments
    def add_mass_damping(
        self,
        name: str,
        on: Body | Rod | str,
        rate: float,
        rotation: float | None = None,
        ambient: VectorLike | None = None,
    ) -> MassDamping:
        """Damp a body or a rod in proportion to its mass.

        A force -rate m v acts on the centre of mass of each body or section, and a moment -rotation J omega. A free part loses
        its velocity as exp(-rate t). The momenta of the model are not conserved.

        Parameters
        ----------
        name : str
            Name of the damping.
        on : Body, Rod or str
            The damped body or rod.
        rate : float
            Damping rate of the translation, 1/s.
        rotation : float, optional
            Damping rate of the rotation, 1/s. Default: `rate`.
        ambient : array_like, VectorSignal or callable, optional
            Velocity of the surroundings, m/s: constant (3,), a signal `.along(direction)` or a function t -> (3,). The force is
            then -rate m (v - ambient): rate m ambient counts as a load, whose work is part of `work`, and -rate m v as
            dissipation.

        Returns
        -------
        MassDamping

        Raises
        ------
        ModelError
            If `on` is neither a body nor a rod of this model, or a rate is negative.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0), velocity=(1, 0, 0))
        >>> model.add_mass_damping("air", "block", rate=0.5)
        <mass damping 'air' of body 'block'>
        """
        arguments = {"rate": rate, "rotation": rotation, "ambient": ambient}
        return add(self, MassDamping, name, on=on, **arguments)

    def add_joint_damping(
        self, name: str, joint: JointComponent | str, turning: float = 0.0, sliding: float = 0.0
    ) -> JointDamping:
        """Damp a joint in proportion to its relative velocity.

        Parameters
        ----------
        name : str
            Name of the damping.
        joint : JointComponent or str
            The joint.
        turning : float, default 0.0
            Rotational damping, N m s: a moment -turning (omega_b - omega_a), for revolute, spherical, cylindrical and universal
            joints.
        sliding : float, default 0.0
            Translational damping, N s/m: a force -sliding ds/dt along the axis, for prismatic and cylindrical joints.

        Returns
        -------
        JointDamping

        Raises
        ------
        ModelError
            If the joint does not leave that motion free, or both are zero.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> door = model.add_body("door", Box(1, 0.05, 2, mass=20.0), position=(0.5, 0, 0))
        >>> joint = model.add_joint("hinge", "revolute", "ground", door, at=(0, 0, 0), axis=(0, 0, 1))
        >>> model.add_joint_damping("closer", "hinge", turning=5.0)
        <joint damping 'closer' of joint 'hinge'>
        """
        return add(self, JointDamping, name, joint=joint, turning=turning, sliding=sliding)

    def add_sphere(self, name: str, on: PointLike, radius: float) -> SphereSurface:
        """Add a spherical contact surface for `add_contact`; it has no mass.

        Parameters
        ----------
        name : str
            Name of the sphere.
        on : point, body, driven frame or str
            Its centre; for a body alone its reference point.
        radius : float
            Radius, m; 0 for a point.

        Returns
        -------
        SphereSurface

        Raises
        ------
        ModelError
            If `on` is not a point of this model or the radius is negative.

        Examples
        --------
        >>> from rodsim import Model, Sphere
        >>> model = Model()
        >>> ball = model.add_body("ball", Sphere(0.1, mass=1.0), position=(0, 0, 1))
        >>> model.add_sphere("skin", "ball", 0.1)
        <sphere 'skin' of body 'ball'>
        """
        return add(self, SphereSurface, name, on=on, radius=radius)

    def add_solid(
        self, name: str, on: PointLike, vertices: ArrayLike | None = None, radius: float = 0.0
    ) -> SolidSurface:
        """Add the shape of a body, or the convex hull of points, as a contact surface for `add_contact`; it has no mass.

        It touches planes, spheres, rods, meshes and other solids. The stiffness of a contact is that of a whole flat face, or
        of a lying cylinder or capsule. It is divided among the vertices of the face: each of n vertices has 1/n; on a rim the
        lowest and the highest point have half of it each. Boxes, hulls, cylinders and cones touch surfaces other than planes
        with their rounding (`radius`), which limits how deep they may penetrate. In contact with boxes, capsules, hulls, meshes
        and each other, cylinders and cones have 32 points on each rim, each with half of the stiffness.

        Parameters
        ----------
        name : str
            Name of the solid.
        on : body, point or str
            A body made by Box, Cylinder, Capsule, Sphere, Cone or Mesh (whose convex hull is used); or, with `vertices`, their
            origin.
        vertices : array_like, shape (n, 3), optional
            Points in the axes of the part, m.
        radius : float, default 0.0
            Radius of rounded edges, m. A shape keeps its size; vertices are the centres of balls, so that one vertex makes a
            sphere and two a capsule.

        Returns
        -------
        SolidSurface

        Raises
        ------
        ModelError
            If `on` is not a point of this model, the body has no shape, or the radius is negative or too large.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, 1))
        >>> model.add_solid("faces", "block")
        <solid 'faces' of body 'block'>
        """
        return add(self, SolidSurface, name, on=on, vertices=vertices, radius=radius)

    def add_plane(self, name: str, on: PointLike, normal: ArrayLike) -> PlaneSurface:
        """Add a half-space, bounded by a plane, as a contact surface for `add_contact`.

        Parameters
        ----------
        name : str
            Name of the plane.
        on : point, body, driven frame or str
            A point of the plane, on the ground, a body or a driven frame, with which it moves: a conveyor belt is a plane on a
            driven frame that moves along it.
        normal : array_like, shape (3,)
            World direction at t = 0, pointing out of the half-space.

        Returns
        -------
        PlaneSurface

        Raises
        ------
        ModelError
            If `on` is not a point of this model or the normal is zero.

        Examples
        --------
        >>> from rodsim import Model
        >>> Model().add_plane("floor", "ground@0,0,0", normal=(0, 0, 1))
        <plane 'floor' of the ground>
        """
        return add(self, PlaneSurface, name, on=on, normal=normal)

    def add_mesh(
        self,
        name: str,
        on: PointLike,
        file: str | Path | None = None,
        vertices: ArrayLike | None = None,
        triangles: ArrayLike | None = None,
        scale: float = 1.0,
        radius: float = 0.0,
        side: MeshSide = "both",
    ) -> MeshSurface:
        """Add a rigid surface of triangles as a contact surface for `add_contact`; it can be touched on both sides.

        Spheres, solids and rods touch it from either side. A run ends if a part is pressed through it by more than its radius and
        theirs, or is touched all around. The stiffness is that of one flat face; with rods it is per length.

        Parameters
        ----------
        name : str
            Name of the mesh.
        on : point, body, driven frame or str
            Origin of its coordinates, on the ground, a body, a rod or a driven frame; its axes are those of the part.
        file : str or path, optional
            A file that meshio reads (STL, OBJ, PLY, VTK ...; triangles and quadrilaterals).
        vertices : array_like, shape (v, 3), optional
            Vertices in place of a file, m.
        triangles : array_like of int, shape (t, 3), optional
            Vertex numbers, with `vertices`.
        scale : float, default 1.0
            Factor of the coordinates.
        radius : float, default 0.0
            Distance by which the surface is offset from its triangles, m.
        side : {"both", "inside", "outside"}, default "both"
            For a closed surface, the side on which all touching parts must begin.

        Returns
        -------
        MeshSurface

        Raises
        ------
        ModelError
            If the file cannot be read, there is no triangle, a triangle has no area, an edge belongs to three triangles, or a
            side is given for a surface that has holes or inconsistently oriented triangles.

        Examples
        --------
        >>> from rodsim import Model
        >>> corners, triangles = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)]
        >>> Model().add_mesh("table", "ground@0,0,0", vertices=corners, triangles=triangles)
        <mesh 'table' of the ground>
        """
        arguments = {"file": file, "vertices": vertices, "triangles": triangles}
        return add(self, MeshSurface, name, on=on, scale=scale, radius=radius, side=side, **arguments)

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
    ) -> Contact:
        """Add contact between surfaces.

        Spheres of the same part never touch each other. If there are several pairs, a pair of two spheres, or of a sphere and a
        plane, is left out if a joint connects their parts; a single pair is always used. A node of a rod may be joined to another
        rod, to the body of the sphere, or to the part of a plane behind which it lies. Points of the rod within an arc length of
        pi times the radius from this node are then left out. The normal force never pulls.

        Parameters
        ----------
        name : str
            Name of the contact.
        a : surface, rod, str or sequence of them
            Spheres, solids, planes, meshes (`add_sphere`, `add_solid`, `add_plane`, `add_mesh`) or rods.
        b : surface, rod, str or sequence of them, optional
            Each of `a` is paired with each of `b`. Default: all of `a` with each other; if `a` is a single rod, with itself.
        stiffness : float, optional
            Coefficient k of the law, N/m^n. For solids it is that of a flat face; for contacts of rods with rods, planes and
            meshes it is per length, N/m^(n+1). Default for rods: pi/4 E*, 1/E* = 1/E1 + 1/E2 of both materials; planes and
            meshes count as rigid.
        law : str, default "power"
            "power": force k depth^n. "barrier": V = -k (gap - reach)^2 log(gap/reach) at gaps below `reach`, which cannot be
            penetrated. Or the force as a non-decreasing polynomial of the depth, "1e4*depth + 2e6*depth**3", without a
            stiffness.
        exponent : float, default 1.0
            Exponent n of a power law: 1 linear, 1.5 Hertz.
        reach : float, optional
            Gap at which a barrier begins, m.
        restitution : float, default 1.0
            Coefficient of restitution: speed after an impact over that before it, in (0, 1], for any mass and speed.
        damping : float, default 0.0
            Coefficient c of a force c times rate of depth times normal force, s/m (Hunt and Crossley).
        rest_speed : float, default 0.01
            Impact speed, m/s; impacts far below it are elastic for any `restitution`.
        friction : float, pair of float or Friction, default 0.0
            Coefficient of Coulomb's friction, a pair (static, kinetic), or a `Friction`, which also has the tangential stiffness
            while sticking, moments against rolling and drilling (spin about the normal), and anisotropy.
        radius : float, optional
            Radius of the rods, m. Default: that of their sections; for a rectangle that of the circle of the same area.
        stations : int, optional
            Number of intervals into which an element of a rod is divided; contact is evaluated at their ends. Default: estimated
            from the depth that weight and speed at t = 0 cause. For crossing rods an interval is a tenth of the contact width,
            with at most 32 intervals; for planes it is a diameter long, with at most 8 intervals.
        itself : bool, default False
            Whether each rod can touch itself as well. Pairs of points at an arc length below pi times the radius are left out.
        ignore : sequence of pairs, optional
            Pairs of surfaces without contact.

        Returns
        -------
        Contact

        Raises
        ------
        ModelError
            If two surfaces can never touch, a surface has no partner, a number is outside of its bounds or no stiffness is known;
            at `build` if surfaces are inside each other at t = 0.

        Examples
        --------
        >>> from rodsim import Model, Sphere
        >>> model = Model(gravity=(0, 0, -9.81))
        >>> ball = model.add_body("ball", Sphere(0.1, mass=1.0), position=(0, 0, 1))
        >>> skin, floor = model.add_sphere("skin", "ball", 0.1), model.add_plane("floor", "ground@0,0,0", (0, 0, 1))
        >>> model.add_contact("bounce", "skin", "floor", stiffness=1e5, restitution=0.8, friction=0.3)
        <contact 'bounce' of sphere 'skin', plane 'floor'>
        """
        arguments = {"law": law, "exponent": exponent, "reach": reach, "restitution": restitution}
        arguments |= {"damping": damping, "rest_speed": rest_speed, "radius": radius, "stations": stations}
        arguments |= friction_fields(friction)
        return add(
            self, Contact, name, a=a, b=b, stiffness=stiffness, itself=itself, ignore=ignore, **arguments
        )

    def add_interaction(
        self,
        name: str,
        kind: UserKind | str,
        *on: PointLike,
        axis: ArrayLike | None = None,
        **numbers: ArrayLike | ScalarLike | Sensor,
    ) -> UserInteraction:
        """Add an interaction of a user-defined kind, a class registered by `rodsim.interaction`.

        Parameters
        ----------
        name : str
            Name of the interaction.
        kind : UserKind or str
            The kind, or its name.
        *on : point, body or str
            One point for each frame of the kind.
        axis : array_like, shape (3,), optional
            World direction at t = 0 of the third axis of every anchor; the axes of all anchors coincide at t = 0. By default
            the axes of an anchor are those of its part, for a rod those of the section.
        **numbers : array_like
            Parameters of the kind by name, each a number or a list as the kind declares. Vectors are in the axes of the anchor.
            An input of the kind is a number, a signal such as the output of a controller, a formula of the time t, or a function
            t -> number. It may be a sensor, whose value at the start of each step is held in the step.

        Returns
        -------
        UserInteraction

        Raises
        ------
        ModelError
            If the kind is not registered, a number is missing or unknown, or two points are on one body or at one section; at
            `build` if its energy is not finite.

        Examples
        --------
        With a kind `Spring` as in docs/howto/own_interaction.md:

        >>> model.add_interaction("s", Spring, "block", "cord.end", k=5.0)  # doctest: +SKIP
        """
        with outputs_of_sensors(self, name, numbers) as values:
            return add(self, UserInteraction, name, user_kind=kind, anchors=on, numbers=values, axis=axis)

    def add_actuator(
        self,
        name: str,
        law: ActuatorLaw,
        on: JointComponent | Measure | str,
        *,
        of: JointCoordinate | None = None,
        initial: Mapping[str, float] | None = None,
        **inputs: ScalarLike | Sensor,
    ) -> Actuator:
        """Add an actuator: a motor, a cylinder, or another force with states and inputs, between the two parts of a joint.

        Its equations are part of each step (midpoint rule), so that stiff ones are stable. What its states do not store counts as
        external work.

        Parameters
        ----------
        name : str
            Name of the actuator.
        law : DCMotor, HydraulicCylinder, StateSpace, FirstOrderLag or Equations
            Its equations, of `rodsim.actuators`.
        on : JointComponent, str or Measure
            A joint with an axis, on whose angle or displacement it acts, or a `rodsim.measures.angle`, `displacement`,
            `coordinate` or `distance`.
        of : {"angle", "displacement"}, optional
            The coordinate, for a joint that has both.
        initial : mapping of str to float, optional
            Values of the states at t = 0, by default 0.
        **inputs : float, Signal, str, callable or Sensor
            Inputs of the law by name: a number, a signal such as the output of a controller, a formula of the time t, or a
            function t -> number. It may be a sensor, whose value at the start of each step is held in the step.

        Returns
        -------
        Actuator

        Raises
        ------
        ModelError
            If the joint has no such coordinate, or an input is missing or unknown.

        Examples
        --------
        >>> from rodsim import Box, Model, actuators
        >>> model = Model()
        >>> arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
        >>> hinge = model.add_joint("hinge", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 0, 1))
        >>> motor = actuators.DCMotor(resistance=1.0, inductance=0.01, constant=0.5)
        >>> model.add_actuator("motor", motor, hinge, U="12*sin(t)")
        <actuator 'motor': DCMotor on the angle of joint 'hinge'>
        """
        from rodsim.interactions.measures import Measure

        where: dict[str, Any] = {"measure": on} if isinstance(on, Measure) else {"joint": on}
        with outputs_of_sensors(self, name, inputs) as values:
            return add(self, Actuator, name, law=law, of=of, initial=initial, inputs=values, **where)

    def add_energy(
        self, name: str, energy: str | sympy.Expr, /, measures: Mapping[str, Measure], **parameters: float
    ) -> EnergyInteraction:
        """Add an energy as a function of up to six named measures.

        The forces are exact discrete derivatives of the energy. A result file stores the energy as text, so that the file can be
        opened, audited and resumed on any machine.

        Parameters
        ----------
        name : str
            Name of the energy.
        energy : str or sympy expression
            Energy, J, as a function of the measures and of parameters with other names; as in `Section.with_energy`.
        measures : mapping of str to Measure
            Measures by name, each a `rodsim.measures.distance`, `strain`, `displacement`, `coordinate`, `cosine` or `angle`.
        **parameters : float
            Values of all other names in the energy.

        Returns
        -------
        EnergyInteraction

        Raises
        ------
        ModelError
            If the text cannot be parsed, a measure does not occur in it or is between two points of one part, or a parameter is
            missing or unknown; at `build` if the energy is not finite.

        Examples
        --------
        >>> from rodsim import Box, Model, measures
        >>> model = Model()
        >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, 1))
        >>> distance = measures.distance("ground@0,0,0", "block")
        >>> model.add_energy("well", "k*(d - 1)**4", {"d": distance}, k=20.0).energy
        'k * (d - 1) ** 4'
        """
        return add(self, EnergyInteraction, name, energy=energy, measures=measures, parameters=parameters)

    def add_sensor(
        self,
        name: str,
        measure: Measure | Quantity,
        *,
        noise: float | tuple[float, float] | None = None,
        seed: int = 0,
        delay: float | None = None,
    ) -> Sensor:
        """Add a sensor: a scalar whose value, and rate if it has one, controllers read and results record.

        Noise and delay affect what controllers read. `SensorHistory.value` is without them, `SensorHistory.reading` with them.

        Parameters
        ----------
        name : str
            Name of the sensor.
        measure : Measure or Quantity
            A `rodsim.measures.distance`, `strain`, `displacement`, `coordinate`, `cosine` or `angle`, by value and rate; an
            angle is counted through full revolutions. Or a `rodsim.measures.section_force`, `joint_force`, `contact_force`,
            `energy` or `state`, by value alone.
        noise : float or (float, float), optional
            Standard deviation of white Gaussian noise of the value, or of value and rate, in their units. Each sample of a
            controller that reads the sensor gets a new number.
        seed : int, default 0
            Seed of the noise, from 0 to 2**32 - 1. The numbers depend on it, on the name of the sensor, and on how many
            readings there were before.
        delay : float, optional
            Age of what controllers read, s: a multiple of their period. Before a sensor has given readings for so long,
            controllers read the first one.

        Returns
        -------
        Sensor

        Raises
        ------
        ModelError
            If `measure` is not a measure, what it measures is not of this model, or a number is out of its range; at `build`
            if the delay does not fit the period of a controller.

        Examples
        --------
        >>> from rodsim import Box, Model, measures
        >>> model = Model()
        >>> arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=1.0))
        >>> model.add_sensor("phi", measures.angle("ground", "arm", axis=(0, 0, 1))).rate
        'phi.rate'
        >>> model.add_sensor("motion", measures.energy("kinetic"), noise=0.1)
        <sensor 'motion': energy kinetic>
        """
        settings = {"noise": noise, "seed": seed, "delay": delay}
        return add(self, Sensor, name, measure=measure, **settings)

    def add_controller(
        self,
        name: str,
        law: ControlLaw,
        inputs: Sequence[str | Sensor] = (),
        *,
        outputs: str | Sequence[str] = ("u",),
        memory: Sequence[float] = (),
        period: float | None = None,
    ) -> Controller:
        """Add a sampled controller; loads follow its outputs.

        At the start of a step that is due, sensors are read and the law is called; its outputs are held until the next sample. A
        law is called again with the same numbers if a step has to be repeated, so that it must not remember anything but
        `memory`.

        Parameters
        ----------
        name : str
            Name of the controller.
        law : PID, StateFeedback, Formula, External or callable
            A law of `rodsim.controllers`, or a function
            (t, h, measured, memory, outputs) of Python or compiled by `numba.njit`. It gets the time, s, the time between
            samples, s, and arrays, and writes `outputs` and `memory` in place. An exception that it raises ends the run.
        inputs : sequence of str or Sensor, default ()
            What it measures: sensors, or names such as "phi" for the value and "phi.rate" for the rate of one.
        outputs : str or sequence of str, default "u"
            Names of the outputs.
        memory : sequence of float, default ()
            Initial values of what it remembers; a result stores them, so that a run can be resumed.
        period : float, optional
            Time between samples, s, a multiple of the step. By default there is one sample in each step.

        Returns
        -------
        Controller
            `controller.output()` is a signal for the value of a load.

        Raises
        ------
        ModelError
            If an input is not a sensor of this model, or the law does not fit the inputs and outputs.

        Examples
        --------
        >>> from rodsim import Box, Model, controllers, measures
        >>> model = Model()
        >>> arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=1.0))
        >>> hinge = model.add_joint("hinge", "revolute", "ground", "arm", at=(0, 0, 0), axis=(0, 0, 1))
        >>> phi = model.add_sensor("phi", measures.angle("ground", "arm", axis=(0, 0, 1)))
        >>> pd = model.add_controller("pd", controllers.PID(kp=20.0, kd=1.0, target=0.5), [phi, phi.rate])
        >>> model.add_moment("motor", arm, pd.output().along((0, 0, 1)))
        <moment 'motor' on body 'arm'>
        """
        settings = {"outputs": outputs, "memory": memory, "period": period}
        return add(self, Controller, name, law=law, inputs=inputs, **settings)

    def add_event(
        self,
        name: str,
        when: str,
        *,
        stop: bool = False,
        release: Switchable | Sequence[Switchable] | None = None,
        engage: Switchable | Sequence[Switchable] | None = None,
        set: Mapping[str, float] | None = None,
    ) -> ModelEvent:
        """Add an event: what happens in a run when a condition becomes true.

        The time is found within a step, by repeating the step with other lengths. An event happens each time its condition
        becomes true, unless nothing would change; a condition that holds at the start must become false before. Velocities
        do not change when a joint or a drive is released. When one is engaged, they jump to those that the joints then allow,
        with the least change in the metric of the kinetic energy; the energy of this change is counted as dissipation.

        Parameters
        ----------
        name : str
            Name of the event; `result.event(name)` has its times and energy losses.
        when : str
            Comparisons (<, <=, >, >=) of formulas of the time t, s, of sensors and of their rates, joined by "and" and "or":
            "t >= 0.5", "phi > 1.2 and phi.rate < 0". Sensors are read without noise and delay. Forces of
            joints and contacts, which are means of steps, are interpolated between the middles of steps.
        stop : bool, default False
            Whether the run ends. Its last output is at that time.
        release : joint, drive or name, or a sequence of them, optional
            Joints and drives that let go.
        engage : joint, drive or name, or a sequence of them, optional
            Joints and drives that begin to act. A drive begins at the present coordinate of its joint: one whose value is
            constant locks it. The points and axes of a joint must fit at that time. If the first event that names a part engages
            it, the part does not act before.
        set : mapping of str to float, optional
            Values that outputs of controllers with the law `External` have from then on, by name: {"motor.u": 0.0}.

        Returns
        -------
        ModelEvent

        Raises
        ------
        ModelError
            If the condition cannot be read, a name is unknown, or nothing happens.

        Examples
        --------
        >>> from rodsim import Box, Model, measures, signals
        >>> model = Model(gravity=(0, 0, -9.81))
        >>> arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
        >>> hinge = model.add_joint("hinge", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 1, 0))
        >>> phi = model.add_sensor("phi", measures.angle("ground", arm, axis=(0, 1, 0)))
        >>> latch = model.add_drive("latch", hinge, signals.Constant(0.0))
        >>> model.add_event("catch", "phi > 1", engage=latch)
        <event 'catch': phi > 1>
        """
        settings = {"stop": stop, "release": release, "engage": engage, "set": set}
        return add(self, ModelEvent, name, when=when, **settings)

    def __repr__(self) -> str:
        tables = (("rods", self.rods), ("bodies", self.bodies), ("joints", self.joints))
        parts = [f"{kind} {some(list(names))}" for kind, names in tables if names]
        return f"<Model '{self.name}': {'; '.join(parts) or 'empty'}>"

    def _repr_html_(self) -> str:
        """Return an overview of the model as HTML, for notebooks."""
        from rodsim.components.html_views import model_html

        return model_html(self)

    def build(self) -> Built:
        """Build the arrays of the model, its initial state and its layout.

        Returns
        -------
        Built

        Raises
        ------
        ModelError
            If the points of a joint do not coincide at t = 0, or nothing in the model can move.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, 1))
        >>> model.build().state.r[1]
        array([0., 0., 1.])
        """
        return build(self)

    def prepare(self, **settings: object) -> Prepared:
        """Build and check the model once, to run it many times with other values of its parameters.

        Parameters
        ----------
        **settings
            Arguments of `simulate` for all its runs, such as `t_end`, `dt`, `integrator`.

        Returns
        -------
        Prepared
            The prepared model. Parts that are added to the model later are not included.

        Raises
        ------
        ModelError
            As `build` does, and if a setting is not an argument of `simulate`.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0))
        >>> prepared = model.prepare(t_end=1.0, dt=0.01)
        >>> result = prepared.run({"bodies.block.velocity": (1, 0, 0)})  # doctest: +SKIP
        """
        from rodsim.prepared import prepare

        return prepare(self, **settings)

    def as_rigid(self, *rods: str) -> Model:
        """Return the rigid twin: each rod becomes a rigid body with the mass, centre and inertia of its discretisation.

        Joints, springs and loads are attached at the same points. Points of a rod keep their names, so that `compare` can compare
        both models. A rigid body has no strains, section laws or viscosity; the attribute `left_out` of the twin lists all that
        was left out. Energy and momenta at t = 0 are those of the model, except for the contributions listed there.

        Parameters
        ----------
        *rods : str
            Names of the rods to make rigid. Default: all.

        Returns
        -------
        Model

        Raises
        ------
        ModelError
            If the model has no rod, or no rod of that name.

        Examples
        --------
        >>> from rodsim import Material, Model, Section
        >>> model = Model("m")
        >>> section = Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000.0))
        >>> rod = model.add_rod("arm", [(0, 0, 0), (1, 0, 0)], section)
        >>> model.as_rigid()
        <Model 'm': bodies arm>
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
        twin.left_out = fill_twin(twin, self, self.build(), rods or tuple(self.rods))
        return twin

    def mechanical_system(
        self, chart: ChartName = "quaternion", parameter: float | None = None
    ) -> MechanicalSystem:
        """Return the model as a mechanical system for `rodsim.mechanics.integrate`.

        The system has coordinates, mass matrix, potential and constraints. It includes dampers and viscous rods, which
        `integrate` rejects with a variational scheme.

        Parameters
        ----------
        chart : {"quaternion", "quaternion-alpha", "quaternion-gamma", "director"}, default "quaternion"
            Coordinates of rotations.
        parameter : float, optional
            Parameter alpha or gamma of the chart, kg m^2.

        Returns
        -------
        MechanicalSystem

        Raises
        ------
        ModelError
            If a rod has no mass, or the chart does not exist.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model()
        >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0))
        >>> system = model.mechanical_system(chart="director")
        """
        # imported only here: its kernels take half a second to load
        from discretization.time.mechanical_stepper import system_in_chart
        from rodsim.building.controls import refuse_controllers
        from rodsim.building.massless_rods import check_mass

        built = self.build()
        check_mass(built, "mechanical_system")
        refuse_controllers("mechanical_system", built)
        state = fit_velocities(built).state
        values = built.load_values, parameter, built.drive_values
        return system_in_chart(self.name, built.system, state, chart, *values)
