from rigid.joints.base import Joint, JointParameters, Marker, Row, at_distance


class DistanceJoint(Joint):
    """Connect two points by a massless rod of length l: (|p_b - p_a|^2 - l^2)/2 = 0.

    One multiplier, lam; the force on b is -lam (p_b - p_a), along the line. Five motions stay free.
    """

    kind, n_rows, free, apart = "distance", 1, "all but 1 translation", True
    takes = ("length",)
    driven = ("distance",)  # its only row: a drive takes its place

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        return [at_distance(parameters.length)]
