"""What a scene says of external damping and of friction in joints."""

from __future__ import annotations

from rodsim.scenes.schema_types import Name, NotNegative, Number, Part, Vector


class ExternalDampingScene(Part):
    """A force -rate m (v - ambient) and a moment -rotation J omega on every body or section of a part."""

    name: Name
    """by which it is known"""
    part: Name
    """name of a body or a rod"""
    rate: NotNegative
    """force -rate m v [1/s]"""
    rotation: NotNegative | None = None
    """moment -rotation J omega; left out: as rate [1/s]"""
    ambient: Vector | None = None
    """velocity of what is around [m/s]"""


class PressureScene(Part):
    """A force per current length of a rod, across it in the plane with this normal."""

    name: Name
    """by which it is known"""
    rod: Name
    """name of the rod"""
    pressure: Number
    """force per current length, towards normal x tangent [N/m]"""
    normal: Vector
    """of the plane, in world axes [1]"""


class JointFrictionScene(Part):
    """A moment against the relative turn of a joint, a force against its sliding."""

    name: Name
    """by which it is known"""
    joint: Name
    """name of a joint"""
    turning: NotNegative = 0.0
    """moment over relative turning rate [N m s]"""
    sliding: NotNegative = 0.0
    """force over sliding rate [N s/m]"""
