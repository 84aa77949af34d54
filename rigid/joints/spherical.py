from rigid.joints.base import Joint, JointParameters, Marker, Row, coincident


class SphericalJoint(Joint):
    """Keep the points coincident: p_b - p_a = 0.

    Three multipliers (the force on b, inertial axes); all rotations stay free.
    """

    kind, n_rows, free = "spherical", 3, "3 rotations"
    rubbing = ("turning",)

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [coincident()]
