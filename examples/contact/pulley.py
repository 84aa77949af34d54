"""Two loads hang on a rope over a pulley: Atwood's machine, with a groove between flanges that guide the rope.

The pulley is a drum and two larger discs on a hinge. Friction, far from its limit exp(mu pi), takes the pulley along. The
heavier load falls as if all parts were one mass: that of loads and rope, plus the pulley's moment of inertia over the square
of the radius of the rope's axis. As the rope has weight too, the motion accelerates: its displacement follows M x'' = (m1 -
m2) g + 2 w g x, w the mass per length of the rope.

If the axle is inclined by 0.2 rad (here gravity is rotated), the loads pull the rope obliquely, and it slides down along the
drum. The lower flange stops it; without flanges it slides off.
"""

from __future__ import annotations

import numpy as np

from rigid.quaternions import from_axis_angle
from rigid.system import Floats
from rodsim import Cylinder, Friction, Model, Result, Section, Sphere, simulate

DRUM, FLANGE, ROPE = 0.1, 0.118, 0.004  # radii, m
GROOVE, THICK, TAIL = (
    0.024,
    0.006,
    0.15,
)  # m: width between flanges, of a flange, length of what hangs at first
HEAVY, LIGHT, WHEEL, DISC, LINE = 0.3, 0.15, 0.2, 0.05, 0.02  # kg: loads, drum, a flange; kg/m of rope
REACH, G, MU = DRUM + ROPE, 9.81, 0.5
LENGTH = np.pi * REACH + 2.0 * TAIL


def over(s: float) -> Floats:
    """Return the position (3,), m, of the rope's axis: up on the left, over the drum and down; s goes from 0 to 1 along it."""
    x = s * LENGTH - TAIL
    phi = min(max(x / REACH, 0.0), np.pi)
    hangs = max(-x, x - np.pi * REACH, 0.0)
    return np.array([-REACH * np.cos(phi), 0.0, REACH * np.sin(phi) - hangs])


def model(lean: float = 0.0, flanges: bool = True, n_elements: int = 40) -> Model:
    """Return the model; `lean`: inclination of the axle, rad."""
    made = Model("pulley", gravity=(0.0, G * np.sin(lean), -G * np.cos(lean)))
    lying = from_axis_angle((1, 0, 0), -0.5 * np.pi)
    drum = made.add_body("drum", Cylinder(DRUM, GROOVE, mass=WHEEL, surface="fine"), orientation=lying)
    made.add_joint("axle", "revolute", made.ground, drum, at=(0, 0, 0), axis=(0, 1, 0))
    wheel = [made.add_solid("drum", drum)]
    for side, name in ((-1, "left"), (1, "right")) if flanges else ():
        centre = (0.0, 0.5 * side * (GROOVE + THICK), 0.0)
        disc = made.add_body(
            f"{name} flange", Cylinder(FLANGE, THICK, mass=DISC, surface="fine"), centre, lying
        )
        made.add_joint(name, "weld", drum, disc, at=centre)
        wheel.append(made.add_solid(f"{name} flange", disc))
    section = Section.from_stiffness(
        EA=1e4,
        GA=4e3,
        GJ=1e-4,
        EI=1e-4,
        mass_per_length=LINE,
        inertia_per_length=LINE * ROPE**2,
        damping_time=1e-3,
        radius=ROPE,
    )
    rope = made.add_rod("rope", over, section, n_elements, stress_free=[(0, 0, 0), (LENGTH, 0, 0)])
    for name, end, x, mass in (("light", rope.start, -REACH, LIGHT), ("heavy", rope.end, REACH, HEAVY)):
        load = made.add_body(name, Sphere(0.02, mass=mass), (x, 0.0, -TAIL))
        made.add_joint(f"{name} hangs", "spherical", end, load)
    made.add_contact(
        "groove",
        rope,
        wheel,
        stiffness=2e5,
        friction=Friction(MU, tangential_stiffness=2e4),
        damping=1.0,
        stations=1,
    )
    return made


def run(
    lean: float = 0.0,
    flanges: bool = True,
    t_end: float = 0.24,
    dt: float = 1e-3,
    progress: bool | None = None,
) -> Result:
    """Release the loads."""
    return simulate(model(lean, flanges), t_end, dt, output_every=5, progress=progress)


def way(t: Floats) -> Floats:
    """Return the displacement of both loads, m, with a horizontal axle and an inextensible rope."""
    turning = 0.5 * WHEEL * DRUM**2 + 2 * 0.5 * DISC * FLANGE**2
    mass = HEAVY + LIGHT + LINE * LENGTH + turning / REACH**2
    rate = np.sqrt(2.0 * LINE * G / mass)
    return (HEAVY - LIGHT) / (2.0 * LINE) * (np.cosh(rate * t) - 1.0)


def displacement_ratio(result: Result) -> float:
    """Return the mean final displacement of both loads over the exact one."""
    heavy, light = (result.body(name).r[-1, 2] + TAIL for name in ("heavy", "light"))
    return float(0.5 * (light - heavy) / way(result.t[-1]))


def aside(result: Result) -> float:
    """Return the lateral displacement of the rope's surface on the upper half of the drum over half of the groove's width."""
    r = result.rod("rope").r
    return float((abs(r[..., 1][r[..., 2] > 0.5 * REACH]).max() + ROPE) / (0.5 * GROOVE))


if __name__ == "__main__":
    result = run()
    print(f"the loads go {displacement_ratio(result):.4f} of the exact displacement, axle horizontal")
    for flanges in (True, False):
        result = run(0.2, flanges, t_end=0.15)
        print(
            f"lateral displacement over half of the groove: {aside(result):.3f}{'' if flanges else ' without flanges'}"
        )
