"""What a scene says of external damping and of friction in joints."""

from __future__ import annotations

from rodsim.scenes.schema_types import Name, NotNegative, Number, Part, Vector


class ExternalDampingScene(Part):
    """A force -rate m (v - ambient) and a moment -rotation J omega on every body or section of a part."""

    name: Name
    part: Name
    rate: NotNegative
    rotation: NotNegative | None = None
    ambient: Vector | None = None


class PressureScene(Part):
    """A force per current length of a rod, across it in the plane with this normal."""

    name: Name
    rod: Name
    pressure: Number
    normal: Vector


class JointFrictionScene(Part):
    """A moment against the relative turn of a joint, a force against its sliding."""

    name: Name
    joint: Name
    turning: NotNegative = 0.0
    sliding: NotNegative = 0.0
