from rigid.joints.weld import WeldJoint


class ClampJoint(WeldJoint):
    """Weld a part to the ground. Six multipliers; nothing stays free."""

    kind, to_ground = "clamp", True
