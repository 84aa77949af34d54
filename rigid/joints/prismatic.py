from rigid.joints.base import Joint, JointParameters, Marker, Row, aligned, in_plane


class PrismaticJoint(Joint):
    """Keep p_b on the axis e3 of a and the triads aligned: e1^a . (p_b - p_a) = e2^a . (p_b - p_a) = 0.

    Five multipliers; the translation along e3 stays free.
    """

    kind, n_rows, free, axis = "prismatic", 5, "1 translation", True
    coordinates = ("displacement",)
    driven, rubbing = coordinates, ("sliding",)

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [in_plane(a, 1), in_plane(a, 2), *aligned(a, b)]
