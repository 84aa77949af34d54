from rigid.interactions.twist_constraint import CROSSED_DIRECTIONS
from rigid.joints.base import Joint, JointParameters, Marker, Row, coincident


class ConstantVelocityJoint(Joint):
    """Ball joint that transmits the rotation of one shaft to the other: p_b - p_a = 0, e1^a . e2^b - e2^a . e1^b = 0.

    Four multipliers; the shafts e3 bend against each other freely, both ways. Both rotate by the same angle about their own
    axis, for any angle between them.
    """

    kind, n_rows, free, axis, second_axis = "constant_velocity", 4, "2 rotations", True, "any"

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        (e1a, e2a, _), (e1b, e2b, _) = a.axes.T, b.axes.T
        return [coincident(), Row(CROSSED_DIRECTIONS, e1a, e1b, Wa=e2a, Wb=e2b)]
