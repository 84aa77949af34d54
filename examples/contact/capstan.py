"""A rope over a rotating drum, held at one end and loaded at the other: the capstan equation.

The drum is a thick rod on a driven frame. It rotates towards the load, so that friction acts along the whole rope, which does
not move. For a thin rope without bending stiffness the holding force is exp(mu phi) times the load: 4.81 for mu = 0.5 and half
a turn, 111.3 for one and a half. For a rope of the radius r, whose axis is at R, the exponent has the factor (1 - r/R), by the
moments about the axis of the drum.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats
from rodsim import Friction, Material, Model, Result, Section, signals, simulate

DRUM, ROPE, MU, TAIL = (
    0.25,
    0.0025,
    0.5,
    0.1,
)  # radii m, coefficient of friction, length of the free ends m
REACH = DRUM + ROPE  # m, to the axis of the rope


def path(turns: float, pitch: float, radius: float) -> tuple[Floats, Floats]:
    """Return the points of a line and its last direction.

    The line goes up, around the y axis with this pitch (m per turn), and down.
    """
    phi = np.linspace(0.0, 2.0 * np.pi * turns, 400)
    helix = np.transpose([-radius * np.cos(phi), pitch * phi / (2.0 * np.pi), radius * np.sin(phi)])
    slope = pitch / (2.0 * np.pi * radius)
    first, last = np.array([0.0, slope, 1.0]), np.array([0.0, slope, -np.cos(2.0 * np.pi * (turns - 0.5))])
    first, last = first / np.linalg.norm(first), last / np.linalg.norm(last)
    return np.vstack([helix[0] - TAIL * first, helix, helix[-1] + TAIL * last]), last


def model(
    turns: float = 0.5,
    n_elements: int = 30,
    EI: float = 1e-5,
    load: float = 1.0,
    holding: float | None = None,
    speed: float = 0.4,
) -> Model:
    """Return the model.

    `speed`: angular velocity of the drum, rad/s; `holding`: load on the other end, N, in place of a support.
    """
    made = Model("capstan")
    segment = (2.0 * np.pi * REACH * turns + 2.0 * TAIL) / n_elements
    over = segment**2 / (8.0 * REACH)  # at first chords, not nodes, touch the drum
    points, down = path(turns, 4.0 * ROPE if turns > 1.0 else 0.0, REACH + over)
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    line = 0.02  # kg/m
    section = Section.from_stiffness(
        EA=1e4,
        GA=4e3,
        GJ=EI,
        EI=EI,
        mass_per_length=line,
        inertia_per_length=line * ROPE**2,
        damping_time=1e-3,
        radius=ROPE,
    )
    rope = made.add_rod("rope", points, section, n_elements, stress_free=[(0, 0, 0), (length, 0, 0)])
    motion = signals.SpinUp(speed, 0.05) if speed else None
    axle = made.add_driven("axle", turn=motion, axis=(0, 1, 0) if speed else None)
    solid = Section.circular(DRUM, Material(E=1e7, nu=0.3, density=1000.0))
    drum = made.add_rod("drum", [(0, -0.2, 0), (0, 0.2, 0)], solid, 1)
    for name, end in (("left", drum.start), ("right", drum.end)):
        made.add_joint(name, "weld", axle, end)
    made.add_contact(
        "wound", rope, drum, stiffness=1e5, friction=Friction(MU, tangential_stiffness=1e4), stations=1
    )
    made.add_force("load", rope.end, signals.SmoothStep(load, 0.0, 0.05).along(down))
    if holding is None:
        made.add_joint("held", "spherical", made.ground, rope.start)
    else:
        made.add_force(
            "held", rope.start, signals.SmoothStep(holding, 0.0, 0.05).along((points[0] - points[1]) / TAIL)
        )
    made.add_mass_damping("air", rope, 500.0)
    return made


def run(
    turns: float = 0.5,
    n_elements: int = 30,
    t_end: float = 0.6,
    dt: float = 1e-3,
    EI: float = 1e-5,
    progress: bool | None = None,
) -> Result:
    """Rotate the drum."""
    return simulate(model(turns, n_elements, EI), t_end, dt, output_every=5, progress=progress)


def limit(turns: float) -> float:
    """Return the ratio of a rope without bending stiffness.

    Friction acts on its surface, nearer to the drum's axis than its tension.
    """
    return float(np.exp(2.0 * np.pi * MU * turns * (1.0 - ROPE / REACH)))


def ratio(result: Result) -> float:
    """Return the holding force over the load, 1 N: mean over the last third of the run."""
    force = np.linalg.norm(result.joint("held").force, axis=1)
    return float(force[-result.n_outputs // 3 :].mean())


if __name__ == "__main__":
    for turns in (0.5, 1.5):
        print(f"{turns} turns: {ratio(run(turns, round(60 * turns))):.3f}, in the limit {limit(turns):.3f}")
