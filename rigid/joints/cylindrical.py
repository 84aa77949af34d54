from rigid.joints.base import Joint, JointParameters, Marker, Row, in_plane, parallel


class CylindricalJoint(Joint):
    """Keep p_b on the axis e3 of a and the axes parallel: e1^a . d = e2^a . d = 0, e1^a . e3^b = e2^a . e3^b = 0, d = p_b - p_a.

    Four multipliers; the translation along e3 and the rotation about it stay free.
    """

    kind, n_rows, free, axis = "cylindrical", 4, "1 translation, 1 rotation", True
    coordinates = ("angle", "displacement")
    driven, rubbing = coordinates, ("turning", "sliding")

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [in_plane(a, 1), in_plane(a, 2), *parallel(a, b)]
