from rigid.joints.base import Joint, JointParameters, Marker, Row, in_plane


class PointOnLineJoint(Joint):
    """Keep p_b on the line along e3 of a: e1^a . (p_b - p_a) = e2^a . (p_b - p_a) = 0.

    Two multipliers; the translation along e3 and all rotations stay free.
    """

    kind, n_rows, free, axis = "point_on_line", 2, "1 translation, 3 rotations", True
    coordinates = ("displacement",)

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [in_plane(a, 1), in_plane(a, 2)]
