from rigid.joints.base import Joint, JointParameters, Marker, Row, in_plane, parallel


class PlanarJoint(Joint):
    """Keep p_b in a plane of a, whose normal e3 both parts share: e3^a . (p_b - p_a) = 0, e1^a . e3^b = e2^a . e3^b = 0.

    Three multipliers; two translations in the plane and the rotation about its normal stay free.
    """

    kind, n_rows, free, axis = "planar", 3, "2 translations, 1 rotation", True
    coordinates = ("angle",)

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [in_plane(a, 3), *parallel(a, b)]
