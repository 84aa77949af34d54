from rigid.joints.base import Joint, JointParameters, Marker, Row, aligned, coincident


class WeldJoint(Joint):
    """Keep the points coincident and the triads aligned. Six multipliers; nothing stays free."""

    kind, n_rows, free = "weld", 6, "nothing"

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [coincident(), *aligned(a, b)]
