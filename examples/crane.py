"""A crane: a drum with a motor lifts a load over a block with a pulley and a pulley at the top; a belt drives the drum.

The motor turns a small wheel, a belt without slip turns the drum, which winds the rope. Two parts of the rope carry the block.
With the rate omega of the motor, the radii r1 and r2 of the belt and R of the drum, the load rises at

    v = omega r1/r2 R/2

The work of the motor becomes kinetic, potential and elastic energy, to round-off.

    python -m examples.crane
"""

from __future__ import annotations

import numpy as np

from rodsim import Box, Cylinder, Drum, Model, Pulley, Result, audit, equilibrium, simulate

AXIS, UPRIGHT = (
    (0, 1, 0),
    (np.sqrt(0.5), np.sqrt(0.5), 0, 0),
)  # of all wheels; takes the axis of a cylinder to it
WHEELS = {"motor": (0.08, 2.2, -1.0, 4.0), "drum": (0.25, 1.4, -1.4, 12.0)}  # radius, x, z, m, and mass, kg
WINDING = 0.12  # m, radius at which the rope is wound
MASS, SPEED = 50.0, 12.0  # kg, rad/s at full speed


def crane() -> Model:
    """Return the crane with ropes that do not carry the load yet."""
    model = Model("crane", gravity=(0, 0, -9.81))
    load = model.add_body("load", Box(0.4, 0.3, 0.3, mass=MASS), position=(0, 0, -2.0))
    wheels = {}
    for name, (radius, x, z, mass) in WHEELS.items():
        wheels[name] = model.add_body(name, Cylinder(radius, 0.08, mass=mass), (x, 0, z), UPRIGHT)
        model.add_joint(f"axle of the {name}", "revolute", "ground", wheels[name], at=(x, 0, z), axis=AXIS)
    model.add_drive("speed", "axle of the motor", f"{SPEED}*(t - (1 - exp(-3*t))/3)")
    block = Pulley(load.at((0, 0, 0.25)), AXIS, 0.1, -1)
    top = Pulley("ground@0.3,0,0", AXIS, 0.2)
    rope = ["ground@-0.1,0,0", block, top, Drum(wheels["drum"], AXIS, WINDING)]
    model.add_tendon("rope", rope, stiffness=1e5)
    belt = [Drum(wheels[name], AXIS, WHEELS[name][0]) for name in ("motor", "drum")]
    model.add_belt("belt", belt, EA=5e4, pretension=300.0)
    return model


def run(t_end: float = 4.0, progress: bool = False) -> Result:
    """Integrate from rest while the motor gathers speed and the load rises."""
    model = crane()
    rest = equilibrium(model)
    return simulate(model, t_end, 0.002, output_every=25, start=rest, progress=progress)


def speed(result: Result) -> float:
    """Return the mean speed of the load in the last second, m/s."""
    t, z = result.t, result.body("load").r[:, 2]
    last = t >= t[-1] - 1.0
    return float((z[last][-1] - z[last][0]) / (t[last][-1] - t[last][0]))


if __name__ == "__main__":
    result = run()
    expected = SPEED * WHEELS["motor"][0] / WHEELS["drum"][0] * WINDING / 2.0
    print(f"the load rises at {speed(result):.5f} m/s, the ratio of the radii gives {expected:.5f} m/s")
    rope, belt = result.tendon("rope"), result.belt("belt")
    print(f"tension of the rope {rope.tension[-1]:.1f} N, of the belt {belt.tension[-1].round(1)} N")
    print(f"turns on the drum: {rope.wrap[-1, 2] / (2.0 * np.pi):.2f}")
    print(audit(result).text())
