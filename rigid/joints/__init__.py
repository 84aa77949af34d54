"""Joints, one file each; `JOINTS` is the list of what there is."""

from rigid.joints.base import Given, Joint, Marker, Row
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

JOINTS: dict[str, type[Joint]] = {
    joint.kind: joint
    for joint in (
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
    )
}

__all__ = ["JOINTS", "Given", "Joint", "Marker", "Row"]
