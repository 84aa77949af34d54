"""Bricard's mechanism (IFToMM benchmark A04): five bars of 1 m, closed by the ground, with six revolute joints at right angles.

Only its geometry gives it one degree of freedom: by a count of equations it should not move, since one of them is redundant.
Bars of 1 kg with square sections of 0.1 m start at rest under gravity (0, -9.81, 0).

The corner P3 is at (0.510501461, -1.649167599, 0.140123115) at t = 1 s; the energy stays at -29.43 J.
"""

import itertools

import numpy as np

from rodsim import Box, Model, simulate

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]  # y, z, x, y, z, x


def bricard() -> Model:
    """Return the model: bars "bar 1" to "bar 5" between the corners, joints "P0" to "P5"."""
    model = Model("Bricard", gravity=(0, -9.81, 0))
    bars = []
    for k, (start, end) in enumerate(itertools.pairwise(CORNERS)):
        size = np.where(np.abs(end - start) > 0.5, 1.0, 0.1)
        bars.append(model.add_body(f"bar {k + 1}", Box(*size, mass=1.0), (start + end) / 2))
    parts = [model.ground, *bars, model.ground]
    for k, (at, axis) in enumerate(zip(CORNERS, AXES, strict=True)):
        model.add_joint(f"P{k}", "revolute", parts[k], parts[k + 1], at=at, axis=axis)
    return model


def corner(result):
    """Return the positions (T, 3), m, of P3, the end of the third bar."""
    return result.body("bar 3").point(np.array([0, 0, 0.5]))


def main() -> None:
    result = simulate(bricard(), 1.0, 0.01, "em4-ggl")
    print(f"P3 at t = 1 s: {corner(result)[-1]}")


if __name__ == "__main__":
    main()
