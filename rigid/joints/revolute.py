from rigid.joints.base import Joint, JointParameters, Marker, Row, coincident, parallel


class RevoluteJoint(Joint):
    """Keep the points coincident and the axes e3 parallel: p_b - p_a = 0, e1^a . e3^b = e2^a . e3^b = 0.

    Five multipliers; the rotation about e3 stays free.
    """

    kind, n_rows, free, axis = "revolute", 5, "1 rotation", True
    coordinates = ("angle",)
    driven, rubbing = coordinates, ("turning",)

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [coincident(), *parallel(a, b)]
