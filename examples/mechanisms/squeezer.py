"""Andrews' squeezer (IFToMM benchmark A03, Test Set for IVP Solvers): seven bodies in a plane, driven by a constant torque.

Ten revolute joints, all about z, form three loops with nine redundant equations. The drive reaches 1000 rad/s
within 0.03 s. The model is that of `rodsim validate squeezer`, in rodsim/validation/squeezer.py.

At t = 0.03 s the point F is at (-6.96303942622e-3, -7.18388438694e-4) m and G at (-3.47152190499e-2, 1.77580938723e-2) m.
"""

import numpy as np

from rodsim import simulate
from rodsim.validation.squeezer import RA, RR, TA, TB, ZT, squeezer


def points(result, index: int = -1) -> dict[str, np.ndarray]:
    """Return the positions of F and G (2,), m, at one output."""
    at = {"F": result.body("K1").point(np.array([RR - RA, 0, 0]))}
    at["G"] = result.body("K5").point(np.array([ZT - TA, -TB, 0]))
    return {name: r[index, :2] for name, r in at.items()}


def main() -> None:
    result = simulate(squeezer(), 0.03, 1e-4, "em4", output_every=300)
    for name, r in points(result).items():
        print(f"{name} at t = 0.03 s: {r}")


if __name__ == "__main__":
    main()
