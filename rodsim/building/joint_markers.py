"""Compute the markers of all joints in the axes of their frames. For a few joints numpy takes ten times as long."""

from rigid.compilation.decorators import kernel
from rigid.kinematics.rotations import load4, rotated
from rigid.linear_algebra import load3, minus, store3


@kernel
def markers(frames, points, triads, poses, X, axes):
    """Compute points X (k, 3), m, and triads `axes` (k, 3, 3), columns e1, e2, e3, in the axes of their frames (k,).

    `points` (k, 3), m, and `triads` (k, 3, 3) are given in world axes; `poses`: r, quat of all frames. X is relative to the
    origin of the frame.
    """
    r, quat = poses
    for k in range(len(frames)):
        f = frames[k]
        w, x, y, z = load4(quat[f])
        back = w, -x, -y, -z
        store3(rotated(back, minus(load3(points[k]), load3(r[f]))), X[k])
        for i in range(3):
            store3(rotated(back, load3(triads[k, :, i])), axes[k, :, i])
