import math

from rigid.interactions.screw import SCREWED_POINTS
from rigid.joints.base import Joint, JointParameters, Marker, Row, in_plane, parallel


class ScrewJoint(Joint):
    """Cylindrical joint whose part b moves along e3 by the pitch for every revolution about e3, counted from t = 0.

    Five multipliers; the screw motion stays free. The screw is right-handed if the pitch is positive.
    """

    kind, n_rows, free, axis, takes = "screw", 5, "1 screw motion", True, ("pitch",)
    coordinates = ("angle", "displacement")

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        lead = parameters.pitch / (2.0 * math.pi)
        screw_row = Row(SCREWED_POINTS, a.axes[:, 2], b.axes[:, 0], lead, Wa=a.axes[:, 0])
        return [in_plane(a, 1), in_plane(a, 2), *parallel(a, b), screw_row]
