from rigid.joints.base import Joint, JointParameters, Marker, Row, coincident, perpendicular


class UniversalJoint(Joint):
    """Keep the points coincident and the axis e3 of a perpendicular to the axis e1 of b: p_b - p_a = 0, e3^a . e1^b = 0.

    Four multipliers; the rotations about both axes of the cross stay free.
    """

    kind, n_rows, free, axis, second_axis = "universal", 4, "2 rotations", True, "perpendicular"
    coordinates = ("angles",)
    rubbing = ("turning",)

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [coincident(), perpendicular(a, 3, b, 1)]
