"""A bolt in a nut: a motor rotates it, and it descends by one pitch per turn, carried by the flanks of its thread alone.

Both threads are helical meshes with flanks of 30 degrees: crests and roots on helices, with PIECES straight pieces per turn.
The bolt slides without friction on the shaft of the motor; its weight presses it on the flanks of the nut. Because of the
facets its path ripples by a few hundredths of the pitch. After a whole number of pieces the same facets are in contact again,
at a lower height. The number is the descent in the last half turn over half of the pitch.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats, Ints
from rodsim import Cylinder, Model, Result, signals, simulate

PITCH, INNER, DEEP = (
    2e-3,
    5e-3,
    1.2e-3,
)  # m: of the thread, radius of the roots of the bolt, from root to crest
PIECES = 12  # of a turn
SPARE, ROUNDING = 2.5e-4, 5e-5  # m: by which the nut is wider than the bolt, radius of both meshes
MASS, TURN, G = 0.02, 0.2, 9.81  # kg, s for a turn, m/s^2


def thread(turns: float, radius: float, below: float) -> tuple[Floats, Ints]:
    """Return vertices (n, 3), m, and triangles of a thread.

    The roots are at `radius`, the crests outside of them and half a pitch higher; the height of the first root is `below`.
    """
    n = round(turns * PIECES)
    phi = 2.0 * np.pi * np.arange(n + 1) / PIECES
    rise = below + PITCH * phi / (2.0 * np.pi)
    root = np.stack([radius * np.cos(phi), radius * np.sin(phi), rise], axis=1)
    crest = np.stack(
        [(radius + DEEP) * np.cos(phi), (radius + DEEP) * np.sin(phi), rise + 0.5 * PITCH], axis=1
    )
    k = np.arange(n)
    lower = [(k, n + 1 + k, n + 2 + k), (k, n + 2 + k, k + 1)]
    k = np.arange(n - PIECES)  # the next turn of the root
    upper = [(n + 1 + k, k + PIECES, k + PIECES + 1), (n + 1 + k, k + PIECES + 1, n + 2 + k)]
    return np.concatenate([root, crest]), np.concatenate(
        [np.stack(corners, axis=1) for corners in lower + upper]
    )


def model() -> Model:
    """Return the model, with the bolt slightly above the flanks of the nut."""
    made = Model("bolt", gravity=(0.0, 0.0, -G))
    motor = made.add_driven("motor", turn=signals.Steady(-2.0 * np.pi / TURN), axis=(0, 0, 1))
    bolt = made.add_body("bolt", Cylinder(INNER, 6 * PITCH, mass=MASS))
    made.add_joint("shaft", "prismatic", motor, bolt, at=(0, 0, 0), axis=(0, 0, 1))
    nut, clear = made.ground.at((0.0, 0.0, 0.0)), SPARE + 2.0 * ROUNDING
    for name, on, mesh in (
        ("bolt thread", bolt, thread(4.0, INNER, -1.0 * PITCH)),
        ("nut thread", nut, thread(2.0, INNER + clear, 0.0)),
    ):
        made.add_mesh(name, on, vertices=mesh[0], triangles=mesh[1], radius=ROUNDING)
    made.add_contact("flanks", *made.meshes.values(), stiffness=5e3)
    made.add_joint_damping("grease", "shaft", sliding=8.0)
    return made


def run(turns: float = 0.6, dt: float = 5e-4, progress: bool | None = None) -> Result:
    """Rotate the bolt by `turns` turns."""
    return simulate(model(), turns * TURN, dt, output_every=5, progress=progress)


def fallen(result: Result) -> float:
    """Return the descent in the last half turn over half of the pitch."""
    z, half = result.body("bolt").r[:, 2], round(0.5 * TURN / (result.t[1] - result.t[0]))
    return float((z[-1 - half] - z[-1]) / (0.5 * PITCH))


if __name__ == "__main__":
    result = run()
    print(f"{fallen(result):.4f} of half its pitch in half a turn")
    print(f"the flanks carry {result.contact('flanks').normal_force.mean():.4f} N")
