"""Joints, one file each; `JOINTS` is the list of what there is."""

from rigid.joints.base import Joint, Marker, Row
from rigid.joints.clamp import ClampJoint
from rigid.joints.distance import DistanceJoint
from rigid.joints.prismatic import PrismaticJoint
from rigid.joints.revolute import RevoluteJoint
from rigid.joints.spherical import SphericalJoint
from rigid.joints.weld import WeldJoint

JOINTS: dict[str, type[Joint]] = {
    joint.kind: joint
    for joint in (ClampJoint, WeldJoint, SphericalJoint, RevoluteJoint, PrismaticJoint, DistanceJoint)
}

__all__ = [
    "JOINTS",
    "ClampJoint",
    "DistanceJoint",
    "Joint",
    "Marker",
    "PrismaticJoint",
    "RevoluteJoint",
    "Row",
    "SphericalJoint",
    "WeldJoint",
]
