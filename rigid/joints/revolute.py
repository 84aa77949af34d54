from rigid.joints.base import Joint, Marker, Row, coincident, perpendicular


class RevoluteJoint(Joint):
    """The points coincide and the axes e3 are parallel: p_b - p_a = 0, e1^a . e3^b = e2^a . e3^b = 0.

    Five multipliers; the rotation about e3 stays free.
    """

    kind, n_rows, free, axis = "revolute", 5, "1 rotation", True

    @staticmethod
    def rows(a: Marker, b: Marker, length: float) -> list[Row]:
        return [coincident(), perpendicular(a, 1, b, 3), perpendicular(a, 2, b, 3)]
