from rigid.joints.base import Joint, JointParameters, Marker, Row, in_plane


class PointOnPlaneJoint(Joint):
    """Keep p_b in the plane of a with the normal e3: e3^a . (p_b - p_a) = 0.

    One multiplier; two translations and all rotations stay free.
    """

    kind, n_rows, free, axis = "point_on_plane", 1, "2 translations, 3 rotations", True

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [in_plane(a, 3)]
