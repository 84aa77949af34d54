from rigid.joints.base import Joint, Marker, Row, aligned, coincident


class WeldJoint(Joint):
    """The points coincide and the triads stay aligned. Six multipliers; nothing stays free."""

    kind, n_rows, free = "weld", 6, "nothing"

    @staticmethod
    def rows(a: Marker, b: Marker, length: float) -> list[Row]:
        return [coincident(), *aligned(a, b)]
