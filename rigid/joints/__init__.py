"""Joints, one file each; `JOINTS` maps the name of each kind of joint to its class."""

import numpy as np

from rigid.interactions import constraints
from rigid.interactions.coincident_points import COINCIDENT_POINTS
from rigid.joints.base import Joint, JointParameters, Marker, Row
from rigid.joints.clamp import ClampJoint
from rigid.joints.constant_velocity import ConstantVelocityJoint
from rigid.joints.cylindrical import CylindricalJoint
from rigid.joints.distance import DistanceJoint
from rigid.joints.generic import GenericJoint
from rigid.joints.planar import PlanarJoint
from rigid.joints.point_on_line import PointOnLineJoint
from rigid.joints.point_on_plane import PointOnPlaneJoint
from rigid.joints.prismatic import PrismaticJoint
from rigid.joints.revolute import RevoluteJoint
from rigid.joints.screw import ScrewJoint
from rigid.joints.spherical import SphericalJoint
from rigid.joints.universal import UniversalJoint
from rigid.joints.weld import WeldJoint

JOINTS: dict[str, type[Joint]] = {}


def register(joint: type[Joint]) -> type[Joint]:
    """Add a joint to `JOINTS`, and register the kinds of constraints in its `new_kinds`."""
    for kind in joint.new_kinds:
        constraints.register(kind)
    JOINTS[joint.kind] = joint
    return joint


for _joint in (
    ClampJoint,
    WeldJoint,
    SphericalJoint,
    RevoluteJoint,
    PrismaticJoint,
    DistanceJoint,
    UniversalJoint,
    CylindricalJoint,
    PlanarJoint,
    PointOnLineJoint,
    PointOnPlaneJoint,
    ConstantVelocityJoint,
    ScrewJoint,
    GenericJoint,
):
    register(_joint)

_MARKER = Marker(0, np.zeros(3), np.eye(3))


def holds_all(kind: str) -> bool:
    """Return True if joints of this kind leave no motion free; False for a name that is not a joint, such as a drive."""
    return kind in JOINTS and JOINTS[kind].count(JointParameters()) == 6


def holds_points(kind: str) -> bool:
    """Return True if joints of this kind hold a point of one part at a point of the other."""
    return kind in JOINTS and any(
        row.kind is COINCIDENT_POINTS for row in JOINTS[kind].rows(_MARKER, _MARKER, JointParameters())
    )


__all__ = ["JOINTS", "Joint", "JointParameters", "Marker", "Row", "holds_all", "holds_points", "register"]
