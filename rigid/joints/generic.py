from rigid.joints.base import (
    Joint,
    JointParameters,
    Marker,
    Row,
    aligned,
    coincident,
    in_plane,
    perpendicular,
)

TRANSLATIONS, ROTATIONS = ("x", "y", "z"), ("rx", "ry", "rz")


class GenericJoint(Joint):
    """Lock any of x, y, z, rx, ry, rz in the axes e1, e2, e3 of part a.

    A `locked` translation i is e_i^a . (p_b - p_a) = 0; the equations of the rotations depend on how many are locked:

        all three     the triads stay aligned
        two, i and j  e_k of both stay parallel, so that b rotates about it
        one, i        e_j^a . e_k^b = 0: j stays with a and k with b, as in a universal joint

    One multiplier for each.
    """

    kind, free, takes = "generic", "what is not locked", ("locked",)

    @staticmethod
    def count(parameters: JointParameters) -> int:
        return len(parameters.locked)

    @staticmethod
    def rows(a: Marker, b: Marker, parameters: JointParameters) -> list[Row]:
        along = [i + 1 for i, name in enumerate(TRANSLATIONS) if name in parameters.locked]
        about = [i + 1 for i, name in enumerate(ROTATIONS) if name in parameters.locked]
        rows = [coincident()] if len(along) == 3 else [in_plane(a, i) for i in along]
        if len(about) == 3:
            return rows + aligned(a, b)
        if len(about) == 2:
            k = 6 - sum(about)
            return rows + [perpendicular(a, i, b, k) for i in about]
        return rows + [perpendicular(a, i % 3 + 1, b, (i + 1) % 3 + 1) for i in about]
