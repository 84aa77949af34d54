from rigid.joints.base import Given, Joint, Marker, Row, aligned, coincident


class WeldJoint(Joint):
    """Keep the points coincident and the triads aligned. Six multipliers; nothing stays free."""

    kind, n_rows, free = "weld", 6, "nothing"

    @staticmethod
    def rows(a: Marker, b: Marker, given: Given) -> list[Row]:
        return [coincident(), *aligned(a, b)]
