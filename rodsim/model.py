"""`Model`: bodies, rods, joints, springs and loads by name, built into the arrays that integrators read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from discretization.space.rod_elements import DEFAULT
from rigid.checks import direction, flag, number, shown, vector
from rigid.errors import ModelError
from rigid.inertia import MassProperties
from rigid.mechanical import MechanicalSystem
from rigid.signals import vector_function
from rigid.system import FORCE, MOMENT
from rodsim.building.build import Built, build
from rodsim.building.initial_velocities import fit_velocities
from rodsim.building.rigid_twin import fill
from rodsim.html_tables import some
from rodsim.model_damping import Dampings
from rodsim.parts.curve_frames import Twist, Up
from rodsim.parts.entries import Attachable, JointEntry, LoadEntry, SpringEntry, TorsionEntry
from rodsim.parts.joint_entries import check_axes, check_numbers, kind_of
from rodsim.parts.model_parts import Anchor, Body, Driven, Given, Ground, Rod, make_body, make_rod
from rodsim.parts.sections import Section
from rodsim.parts.space_curves import CurveLike


class Model(Dampings):
    """A mechanical system. All poses are in world coordinates at t = 0, all quantities in consistent units (SI: m,
    kg, s, N, rad).

    Every `add_...` takes first the `name` by which results and messages know the thing; names of parts are unique,
    and those of
    joints, springs, loads and drives each among themselves. It returns the thing, to attach others to.

    gravity (3,), m/s^2.
    """

    def __init__(self, name: str = "model", gravity: ArrayLike = (0.0, 0.0, 0.0)):
        super().__init__(name, gravity)

    def add_body(
        self,
        name: str,
        shape: MassProperties,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> Body:
        """Add a rigid body: `shape` placed with its reference point at `position` (3,), m, and axes turned by
        `orientation` (w, x, y, z).

        velocity (3,): of the reference point, m/s; angular_velocity (3,): rad/s, both in inertial axes. What is left
        out follows from
        the joints, and is zero where they leave it free. What is given and does not fit the joints is changed to the
        nearest that does, with an `InitialVelocityWarning`.

        Raises ModelError where the name is taken, `shape` is no shape, or a number is not finite.
        """
        self._new(name)
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

        s is material, the fraction of the stress-free length, in all callables. Only where both shapes are
        callables, their s is a common label that need not measure length; and the curve of a rod without
        `stress_free` fixes no stretch.

        section: one `Section`, or a callable s -> Section.
        n_elements: intervals between nodes, rounded up to a multiple of the element's order. closed: the last one
        joins the ends.
        up: direction of d3 at the start, from where it is carried along without twist; or a callable s ->
        (3,) for every place. twist: angle (rad) by which the sections are turned further about the tangent
        at s = 1, evenly on the way there; or a callable s -> angle. It makes whole turns on a closed rod.
        stress_free, stress_free_up, stress_free_twist: the shape without stress; what is not given is that
        of the initial shape. stress_free_closed: False where a closed rod is free of stress when it is open.
        velocity: of the cross-sections, m/s, (3,) or a callable s -> (3,), inertial. angular_velocity: the same, rad/s. One
        of them left out is zero; without both the rod follows its joints, as a rigid body would where they let it.
        mass: translational mass "lumped" at the nodes (best where a held rod falls or whips with large
        bends), "consistent" (velocities linear between nodes: a straight element has its exact rotary
        inertia, best where a rod tumbles freely), or the "mean" of both, best where a rod swings about a
        shape and never far from the best; measured in docs/numerics.md.
        element: "se3", "lagrange(1)" to "lagrange(4)", "relative(2)", "relative(4)" or "midpoint"; the number is the order p
        of an element that spans p intervals between nodes, so that n_elements means about as many nodes with every element.
        rest_strains: (Gamma, K) without stress, (6,) or a callable s -> (6,), besides those of the stress-free shape:
        stretch and
        shear, twist and curvature (1/m) that were put into the rod when it was made.

        Raises ModelError where the name is taken, a curve has no length or a shape does not fit `closed`; at `build` where a
        callable gives no numbers.
        """
        self._new(name)
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
        prismatic, distance, universal, cylindrical, planar, point_on_line, point_on_plane, constant_velocity, screw, generic.

        at (3,), m: its world point at t = 0, by default that of an anchor; axis (3,): world direction, on `a`, of revolute,
        prismatic, cylindrical and screw joints, of the line of point_on_line, the normal of planar and point_on_plane, the
        first axis of universal and constant_velocity; second_axis (3,): that of `b` in the latter two, perpendicular to
        the first in a universal joint. pitch, m: how far a screw moves along its axis in a turn. locked: what a generic joint
        locks of x, y, z, rx, ry, rz, in the axes of `a`. length, m: of a distance joint at t = 0, as a check.
        A clamp joins `a` to the ground. A distance joint is a massless rod between the points `a` and `b`.

        Raises ModelError where the kind is not known, wants another argument or refuses one that is given, or joins a part to
        itself; at `build` where the points do not meet at t = 0.
        """
        self._new_among(self.joints, "joint", name)
        joint = kind_of(name, kind)
        owner = f"{kind} joint '{name}'"
        if b is None:
            if not joint.to_ground:
                raise ModelError(f"{owner}: give the two parts it joins")
            b = self.ground
        elif joint.to_ground and not isinstance(b.part if isinstance(b, Anchor) else b, Ground):
            raise ModelError(f"{owner}: a {kind} holds a part to the ground; use 'weld' between two parts")
        if joint.apart and at is not None:
            raise ModelError(f"{owner}: holds two points apart; name them as a and b, and leave `at=` out")
        axes = check_axes(owner, joint, axis, second_axis)
        told = check_numbers(owner, joint, length, pitch, locked)
        held = self._anchor if joint.apart else self._holder
        first, second = held(owner, a), held(owner, b)
        self._check_apart(owner, first, second)
        where = None if at is None else vector(owner, "at", at)
        entry = JointEntry(name, kind, first, second, where, axes[0], told[0], axes[1], told[1], told[2])
        self.joints[name] = entry
        return entry

    def add_spring(
        self,
        name: str,
        a: Anchor,
        b: Anchor,
        stiffness: float,
        length: float | None = None,
        damping: float = 0.0,
    ) -> SpringEntry:
        """Add a spring-damper between two anchors, `a` and `b`.

        stiffness: N/m. length: unstretched, m (default: the initial distance). damping: N s/m.

        Raises ModelError where a number is negative, or `a` and `b` are on one part.
        """
        self._new_among(self.springs, "spring", name)
        owner = f"spring '{name}'"
        first, second = self._anchor(owner, a), self._anchor(owner, b)
        self._check_apart(owner, first, second)
        entry = SpringEntry(
            name,
            first,
            second,
            number(owner, "stiffness", stiffness, at_least=0.0),
            number(owner, "damping", damping, at_least=0.0),
            None if length is None else number(owner, "length", length, at_least=0.0),
        )
        self.springs[name] = entry
        return entry

    def add_torsion_spring(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        axis: ArrayLike,
        stiffness: float,
        damping: float = 0.0,
        angle: float = 0.0,
    ) -> TorsionEntry:
        """Add a torsion spring-damper between `a` and `b` about the world direction `axis` (3,), which is fixed to
        `a`: for parts that
        a revolute joint of the same axis joins.

        stiffness: N m/rad. damping: N m s/rad. angle: where it is unstressed, rad, from the initial pose.

        Raises ModelError where a number is negative, or `a` and `b` are one part.
        """
        self._new_among(self.torsions, "torsion spring", name)
        owner = f"torsion spring '{name}'"
        first, second = self._holder(owner, a), self._holder(owner, b)
        self._check_apart(owner, first, second)
        entry = TorsionEntry(
            name,
            first,
            second,
            direction(owner, "axis", axis),
            number(owner, "stiffness", stiffness, at_least=0.0),
            number(owner, "damping", damping, at_least=0.0),
            number(owner, "angle", angle),
        )
        self.torsions[name] = entry
        return entry

    def add_force(self, name: str, anchor: Anchor, value: Any, following: bool = False) -> LoadEntry:
        """Apply a force (N) at an anchor.

        value: constant (3,), a signal `.along(direction)`, or a callable t -> (3,). following: its components are
        those of the moving
        part (section axes of a rod), not inertial ones.

        Raises ModelError where the anchor is on the ground or a driven frame, or `value` is no vector.
        """
        return self._add_load(name, FORCE, anchor, value, following)

    def add_moment(self, name: str, anchor: Anchor, value: Any, following: bool = False) -> LoadEntry:
        """Apply a moment (N m) at an anchor.

        value: constant (3,), a signal `.along(direction)`, or a callable t -> (3,). following: its components are
        those of the moving
        part (section axes of a rod), not inertial ones.

        Raises ModelError where the anchor is on the ground or a driven frame, or `value` is no vector.
        """
        return self._add_load(name, MOMENT, anchor, value, following)

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

        Raises ModelError where parts do not fit together: joints that are not assembled at t = 0, a model
        without anything that moves.
        """
        return build(self)

    def rigidified(self, *rods: str) -> Model:
        """The rigid twin: each rod (or those named in `rods`) a rigid body with the mass, centre and inertia of its
        discretisation.

        All that joins and loads the parts is attached at the same points; places on a rod keep their names (`compare`).
        Strains, section laws and viscosity are left out, with what else a rigid body cannot have: `left_out` of the twin says
        what. Energy and momenta at t = 0 are those of the model but for what is said there.

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
        Raises ModelError for what only `em` and its kin integrate (drives, gears, pressure, rods that relax), for rods
        without mass, and where the chart is not known.
        """
        # imported where needed: its kernels take half a second to load
        from discretization.time.mechanical_stepper import system_in_chart
        from rodsim.building.massless_rods import check_mass

        built = self.build()
        check_mass(built, "mechanical_system")
        state = fit_velocities(built).state
        return system_in_chart(self.name, built.system, state, chart, built.load_values, parameter)

    def _add_load(self, name: str, kind: int, anchor: Anchor, value: Any, following: bool) -> LoadEntry:
        self._new_among(self.loads, "load", name)
        owner = f"load '{name}'"
        held = self._anchor(owner, anchor)
        if isinstance(held.part, Ground | Driven):
            raise ModelError(f"{owner}: acts on {held.part}, which no force moves; give a body or a rod")
        entry = LoadEntry(
            name, kind, held, vector_function(owner, value), flag(owner, "following", following), value
        )
        self.loads[name] = entry
        return entry
