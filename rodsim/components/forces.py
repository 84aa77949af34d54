"""Entries that exert forces: bushings, springs and dampers with nonlinear laws, limits, damping, and pressure along a rod.

An entry makes its rows of `discretization.interaction_table` when the model is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from discretization.interaction_table import Interaction
from discretization.space.bushing import BUSHING, BUSHING_DAMPER, bushing_numbers, damper_numbers
from discretization.space.free_bushing import (
    FREE,
    FREE_BUSHING,
    FREE_BUSHING_DAMPER,
    free_axis,
    free_numbers,
    with_axis,
)
from rigid import quaternions
from rigid.checks import array, number, shown, vector
from rigid.errors import ModelError
from rigid.interactions import law_springs
from rigid.interactions.drag import DRAG
from rigid.interactions.joint_friction import JOINT_FRICTION, ROTATION_DAMPING
from rigid.interactions.laws import law_numbers, steepest
from rigid.interactions.measure_forces import MEASURE_FORCES
from rigid.interactions.pressure import PRESSED_EDGE, VARYING_PRESSED_EDGE
from rigid.joints import JOINTS
from rigid.signals import VectorFunction, vector_function
from rigid.system import Floats, Ints
from rodsim.components.base import (
    DIRECTION,
    END,
    JOINT,
    NEGLIGIBLE,
    NOT_NEGATIVE,
    NUMBER,
    PART,
    PLACE,
    POSITIVE,
    ROD,
    SIX,
    VARYING,
    Attachment,
    CheckContext,
    ExternalValues,
    InteractionComponent,
    ParameterType,
    Poses,
    angle_directions,
    choice,
    component,
    distinct_frames,
    parameter,
)
from rodsim.components.joint_forces import SCALAR
from rodsim.components.joints import JointComponent
from rodsim.components.model_parts import Anchor, Body, Rod
from rodsim.components.sections import lowest_eigenvalue
from rodsim.components.spring_laws import SpringLaw, check_resists
from rodsim.components.varying_values import scaled_input

COORDINATES = ("length", "displacement", "angle")


def _check_matrix(context: CheckContext, what: str, value: ArrayLike) -> Floats:
    """Return a symmetric positive semidefinite matrix (6, 6) from the matrix, its diagonal (6,), or one number."""
    owner, given_shape = context.owner, np.asarray(value, dtype=object)
    if given_shape.ndim == 0:
        matrix = np.diag(np.full(6, number(owner, what, value)))
    elif given_shape.ndim == 1:
        matrix = np.diag(vector(owner, what, value, 6))
    else:
        matrix = array(owner, what, value, (6, 6))
        if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
            raise ModelError(
                f"{owner}: {what} is not symmetric. Give a symmetric matrix, or use add_bearing for one with cross coupling"
            )
    lowest = lowest_eigenvalue(owner, what, matrix)
    if lowest < -1e-12 * np.abs(matrix).max():
        raise ModelError(f"{owner}: {what} has the eigenvalue {lowest:.3g}; it must not be negative")
    return 0.5 * (matrix + matrix.T)


def _check_rotation_axes(context: CheckContext, what: str, value: ArrayLike) -> Floats:
    """Return the rotation matrix (3, 3) nearest to right-handed axes; ModelError if the axes are not right-handed."""
    axes = array(context.owner, what, value, (3, 3))
    if np.abs(axes.T @ axes - np.eye(3)).max() > 1e-6 or np.linalg.det(axes) < 0.0:
        raise ModelError(
            f"{context.owner}: {what} are not a right-handed set of unit vectors; give such a set as columns"
        )
    left, _, right = np.linalg.svd(axes)
    return left @ right


def _check_law(context: CheckContext, what: str, value: Any) -> SpringLaw:
    """Check that the value is a SpringLaw."""
    if not isinstance(value, SpringLaw):
        raise ModelError(
            f"{context.owner}: {what}: expected a SpringLaw, got {shown(value)}. Give SpringLaw.table(...) or another law."
        )
    return value


MATRIX, LAW = ParameterType("matrix", _check_matrix), ParameterType("law", _check_law)


@component
class Bushing(InteractionComponent):
    """A spring-damper in six directions between two markers."""

    key, word, list_description = "bushings", "bushing", "spring-dampers in six directions"
    a: Attachment = parameter(END, "first point or part")
    b: Attachment = parameter(END, "second point or part")
    stiffness: Floats = parameter(
        MATRIX, "one number, 6, or 6 x 6: three displacements, three rotations [N/m, N m/rad]"
    )
    damping: Floats = parameter(MATRIX, "damping of their rates, in the same forms [N s/m, N m s/rad]", 0.0)
    at: Floats | None = parameter(
        PLACE,
        "world point of both markers at t = 0, or {at: point of a part}; default: each at its anchor [m]",
        None,
    )
    axes: Floats = parameter(
        ParameterType("axes", _check_rotation_axes),
        "rows of a right-handed rotation matrix whose columns are the directions; default: the world's [1]",
        None,
    )
    rest: Floats = parameter(SIX, "coordinates without force [m, rad]", (0.0,) * 6)

    @classmethod
    def needs_points(cls, arguments: Mapping[str, Any]) -> bool:
        return arguments["at"] is None

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        values["axes"] = np.eye(3) if values["axes"] is None else values["axes"]

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        ends = [poses.place(cast(Anchor, x)).world if self.at is None else self.at for x in (self.a, self.b)]
        frames = distinct_frames(poses, f"bushing '{self.name}'", self.a, self.b)
        free = free_axis(self.stiffness, self.damping)
        P = np.eye(3) if free is None else with_axis(free)
        axes = self.axes @ P
        markers, arm = [], 0.0
        for frame, point in zip(frames, ends, strict=True):
            back = quaternions.conjugate(poses.quat[frame])
            X = quaternions.rotate(back, point - poses.r[frame])
            Q = quaternions.rotate(back, axes.T).T
            markers += [X, Q.ravel()]
            arm += float(np.linalg.norm(X))
        C = np.abs(self.stiffness)
        force = C[:3].max(initial=0.0) * (1.0 + arm)
        moment = C[3:].max(initial=0.0) + force * arm
        both, size = np.concatenate(markers), (force, moment)
        if free is None:
            interactions = [
                Interaction(BUSHING, frames, bushing_numbers(both, self.stiffness, self.rest), size)
            ]
            if np.any(self.damping):
                interactions.append(
                    Interaction(BUSHING_DAMPER, frames, damper_numbers(both, self.damping), NEGLIGIBLE)
                )
            return interactions
        stiffness, damping, reference = (
            _rotated(P, self.stiffness),
            _rotated(P, self.damping),
            self.rest.copy(),
        )
        stiffness[FREE], stiffness[:, FREE] = 0.0, 0.0  # zero up to rounding
        reference[:3], reference[3:] = P.T @ reference[:3], P.T @ reference[3:]
        reference[FREE] = 0.0
        resisted = bool(np.any(stiffness[3:]) or np.any(damping[3:]))
        interactions = [
            Interaction(FREE_BUSHING, frames, free_numbers(both, stiffness, reference, resisted), size)
        ]
        if np.any(self.damping):
            numbers = free_numbers(both, damping, np.zeros(6), resisted)
            interactions.append(Interaction(FREE_BUSHING_DAMPER, frames, numbers, NEGLIGIBLE))
        return interactions


@component
class CoordinateForce(InteractionComponent):
    """Base class of entries with a law of a length, a displacement or an angle, and a law of its rate."""

    a: Attachment = parameter(END, "first point or part")
    b: Attachment = parameter(END, "second point or part")
    of: str = parameter(choice(*COORDINATES), "the coordinate x")
    axis: Floats | None = parameter(
        DIRECTION, "world direction at t = 0 of a displacement or an angle, fixed to a [1]", None
    )
    law: SpringLaw | None
    damping: SpringLaw | None

    @classmethod
    def needs_points(cls, arguments: Mapping[str, Any]) -> bool:
        return bool(arguments["of"] != "angle")

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        of, axis = values["of"], values["axis"]
        if (of == "length") != (axis is None):
            raise ModelError(
                f"{context.owner}: of = '{of}' {'has no axis; remove it' if axis is not None else 'needs `axis=`'}"
            )

    def described(self) -> dict[str, Any]:
        return super().described() | {"kind": f"law of {self.of}"}

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        owner = self.owner(self.name, {})
        frames = distinct_frames(poses, owner, self.a, self.b)
        if self.of == "angle":
            head, reach, arm = self._angle(owner, poses, frames), 1.0, 1.0
            kinds = law_springs.ANGLE_SPRING, law_springs.ANGLE_DAMPER
        else:
            placed = [poses.place(cast(Anchor, x)) for x in (self.a, self.b)]
            head = np.concatenate([place.X for place in placed])
            arm = float(sum(np.linalg.norm(place.X) for place in placed))
            reach = 1.0 + float(np.linalg.norm(placed[1].world - placed[0].world))
            kinds = law_springs.LENGTH_SPRING, law_springs.LENGTH_DAMPER
            if self.axis is not None:
                head = np.concatenate([head, poses.local(frames[0], self.axis)])
                kinds = law_springs.DISPLACEMENT_SPRING, law_springs.DISPLACEMENT_DAMPER
                arm += reach
        interactions = []
        for kind, law in zip(kinds, (self.law, self.damping), strict=True):
            if law is not None:
                numbers = law_numbers(owner, law.pieces)
                force = steepest(numbers) * reach
                interactions.append(
                    Interaction(kind, frames, np.concatenate([head, numbers]), (force, force * arm))
                )
        return interactions

    def _angle(self, owner: str, poses: Poses, frames: list[int]) -> Floats:
        """Return the parameters (10,) of an angle: unit vectors U_a, W_a, U_b in frame axes, and the middle angle (rad)."""
        assert self.axis is not None
        middle = 0.0
        if self.law is not None:
            first, last = self.law.pieces.x[[0, -1]]
            if last - first > 2 * np.pi:
                raise ModelError(
                    f"{owner}: its law reaches over {last - first:.3g} rad; an angle is known within one turn, 2 pi"
                )
            middle = 0.5 * (first + last)
        a, b = frames
        return np.concatenate([*angle_directions(poses, a, b, self.axis), [middle]])


@component
class NonlinearSpring(CoordinateForce):
    """A spring with a law of a length, a displacement or an angle, and a damper with a law of its rate."""

    key, word, list_description = "law_springs", "spring with a law", "springs and dampers with laws"
    plural = "springs with laws"
    of: str = parameter(choice(*COORDINATES), "the coordinate x", "length")
    law: SpringLaw | None = parameter(LAW, "force against x", None)
    damping: SpringLaw | None = parameter(LAW, "force against dx/dt", None)
    length: Any = parameter(
        SCALAR, "displacement without force of a linear law, if it varies in time [m]", None
    )

    @classmethod
    def owner(cls, name: str, arguments: Mapping[str, Any]) -> str:
        return f"spring '{name}'"

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        super().complete(context, values)
        if values["law"] is None and values["damping"] is None:
            raise ModelError(f"{context.owner}: has neither law nor damping. Give at least one of them.")
        if values["damping"] is not None:
            check_resists(context.owner, values["damping"])
        if values["length"] is not None and (values["of"] != "displacement" or not _is_linear(values["law"])):
            raise ModelError(
                f"{context.owner}: length = {shown(values['length'])} belongs to a linear law of a displacement. Remove it"
            )

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        made = super().make_interactions(poses)
        if self.length is None:
            return made
        force, kind = made[0], MEASURE_FORCES["displacement"]
        numbers = np.concatenate([force.numbers[: kind.signal], np.zeros(3)])
        reach = float(force.size[1] / force.size[0]) if force.size[0] else 1.0
        return [*made, Interaction(kind, force.frames, numbers, (1.0, reach))]

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        """Return the force k (L(t) - l0), which is added to the law k (x - l0)."""
        if self.length is None:
            return ()
        assert self.law is not None
        slope, at_zero = float(self.law.pieces.c[-2, 0]), float(self.law(0.0))
        return [scaled_input(self.owner(self.name, {}), self.length, (slope, 0.0, 0.0), (0.0, at_zero, 0.0))]


def _is_linear(law: SpringLaw | None) -> bool:
    """Return whether a law is a linear function."""
    if law is None:
        return False
    coefficients = law.pieces.c
    return not np.any(coefficients[:-2]) and bool(np.all(coefficients[-2] == coefficients[-2, 0]))


@component
class Limit(CoordinateForce):
    """A limit of a length, a displacement or an angle, at one or both ends."""

    key, word, list_description = "limits", "limit", "limits of lengths, displacements and angles"
    of: str = parameter(choice(*COORDINATES), "limited coordinate", "angle")
    stiffness: float = parameter(POSITIVE, "stiffness beyond the limit [N/m or N m/rad]")
    width: float = parameter(
        POSITIVE, "gap over which the force begins, as stiffness gap^2/(2 width) [m or rad]"
    )
    lower: float | None = parameter(NUMBER, "lower limit [m or rad]", None)
    upper: float | None = parameter(NUMBER, "upper limit [m or rad]", None)
    law: SpringLaw | None
    damping: SpringLaw | None = None

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        super().complete(context, values)
        values["law"] = SpringLaw.limit(*(values[name] for name in ("stiffness", "width", "lower", "upper")))


@component
class MassDamping(InteractionComponent):
    """A force -rate m (v - ambient) and a moment -rotation J omega on every body or section of a part."""

    key, word, list_description = "mass_dampings", "mass damping", "damping in proportion to mass"
    kind_described = "external damping"
    on: Body | Rod = parameter(PART, "name of a body or a rod", result_key="part")
    rate: float = parameter(NOT_NEGATIVE, "damping rate of the translation: force -rate m v [1/s]")
    rotation: float = parameter(
        NOT_NEGATIVE, "damping rate of the rotation: moment -rotation J omega; default: rate [1/s]", None
    )
    ambient: VectorFunction | None = parameter(
        ParameterType(
            "vector",
            lambda context, what, value: vector_function(context.owner, value),
            lambda wind: wind(np.zeros(1))[0].tolist(),
        ),
        "velocity of the surrounding medium [m/s]",
        None,
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        if values["rotation"] is None:
            values["rotation"] = values["rate"]

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        interactions = []
        for f in poses.frames_of(self.on):
            J = poses.frames.inertia[f]
            tensor = self.rotation * (0.5 * np.trace(J) * np.eye(3) - J)
            numbers = np.concatenate([[self.rate * poses.frames.mass[f]], tensor.ravel()])
            interactions.append(Interaction(DRAG, [f], numbers, NEGLIGIBLE))
        return interactions


@component
class Pressure(InteractionComponent):
    """A force per current length of a rod, perpendicular to it, in the plane with this normal."""

    key, word, list_description = "pressures", "pressure", "pressures on rods in a plane"
    on: Rod = parameter(ROD, "name of the rod", result_key="rod")
    pressure: Any = parameter(
        SCALAR, "force per current length, towards normal x tangent; may be a function of time [N/m]"
    )
    normal: Floats = parameter(DIRECTION, "normal of the plane, in world axes [1]")

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        varies, edges = callable(self.pressure), self._edges(poses)
        kind, pressure = (VARYING_PRESSED_EDGE, 1.0) if varies else (PRESSED_EDGE, float(self.pressure))
        sizes = abs(pressure) * np.linalg.norm(poses.r[edges[:, 1]] - poses.r[edges[:, 0]], axis=1)
        return [
            Interaction(kind, edge, pressure * self.normal, (size, 0.0))
            for edge, size in zip(edges.tolist(), sizes, strict=True)
        ]

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        if not callable(self.pressure):
            return ()
        count = len(self._edges(poses))
        return [scaled_input(f"pressure '{self.name}'", self.pressure, self.normal.tolist(), count=count)]

    def _edges(self, poses: Poses) -> Ints:
        """Return the pairs (k, 2) of neighbouring nodes of the rod."""
        nodes = poses.frames_of(self.on)
        return np.stack([nodes, np.roll(nodes, -1)], axis=1)[: len(nodes) if self.on.closed else -1]


@component
class Gravity(InteractionComponent):
    """A uniform acceleration of all moving masses that varies in time, in addition to the gravity of the model."""

    key, word, list_description = "gravities", "gravity", "uniform accelerations that vary in time"
    value: Any = parameter(
        VARYING, "acceleration: constant vector, or a function of time along a direction [m/s^2]"
    )
    function: VectorFunction  # times (k,), s -> accelerations (k, 3), m/s^2

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        values["function"] = vector_function(context.owner, values["value"])

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        return []  # a load on each frame: `rodsim.building.load_arrays`

    def __repr__(self) -> str:
        return f"<gravity '{self.name}'>"


@component
class JointDamping(InteractionComponent):
    """A moment against the relative rotation of a joint, and a force against its sliding."""

    key, word, list_description = "joint_dampings", "joint damping", "viscous resistance in joints"
    kind_described = "joint friction"
    joint: JointComponent = parameter(JOINT, "name of a joint")
    turning: float = parameter(NOT_NEGATIVE, "moment over relative angular velocity [N m s]", 0.0)
    sliding: float = parameter(NOT_NEGATIVE, "force over sliding rate [N s/m]", 0.0)

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, joint = context.owner, values["joint"]
        rotational, slide = values["turning"], values["sliding"]
        for what, value in (("turning", rotational), ("sliding", slide)):
            if value > 0.0 and what not in JOINTS[joint.kind].rubbing:
                kinds = [kind for kind, joint_kind in JOINTS.items() if what in joint_kind.rubbing]
                raise ModelError(
                    f"{owner}: {what} = {value:g}, but the {joint.kind} joint '{joint.name}' does not allow that motion; "
                    f"remove it, or use a joint of kind {', '.join(kinds)}"
                )
        if rotational == slide == 0.0:
            raise ModelError(f"{owner}: resists nothing; give turning= or sliding=")

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        frames = [poses.frame_of(x) for x in (self.joint.a, self.joint.b)]
        # a sliding joint fixes the directions across its axis, so any two points measure the displacement along it
        points: Floats = np.zeros(6)
        axis = np.zeros(3) if self.joint.axis is None else poses.local(frames[0], self.joint.axis)
        numbers = np.concatenate([points, axis, [self.turning, self.sliding]])
        kind = JOINT_FRICTION if self.sliding > 0.0 else ROTATION_DAMPING
        return [Interaction(kind, frames, numbers, NEGLIGIBLE)]


def _rotated(P: Floats, matrix: Floats) -> Floats:
    """Return a matrix (6, 6) of displacements and rotations, transformed to the axes P (3, 3)."""
    both = np.kron(np.eye(2), P)
    rotated: Floats = both.T @ matrix @ both
    return rotated
