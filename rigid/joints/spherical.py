from rigid.joints.base import Given, Joint, Marker, Row, coincident


class SphericalJoint(Joint):
    """Keep the points coincident: p_b - p_a = 0.

    Three multipliers (the force on b, inertial axes); all rotations stay free.
    """

    kind, n_rows, free = "spherical", 3, "3 rotations"
    rubbing = ("turning",)

    @staticmethod
    def rows(a: Marker, b: Marker, given: Given) -> list[Row]:
        return [coincident()]
