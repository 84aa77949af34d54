"""N four-bar linkages side by side (IFToMM benchmark A02): 2 N + 1 hinged bars of 1 m and 1 kg, hinged to the ground.

All cranks are upright and their ends start with 1 m/s; gravity is 9.81 m/s^2. The bars pass through positions in which all
of them are in one line, where the mechanism could branch off. Since all axes are parallel, each loop of revolute joints
has three redundant equations.

The crank's end is at (sin phi, cos phi); for t = 2 s that is (0.0770854718, 0.9970244882) with N = 1 and
(0.0344663073, 0.9994058603) with N = 40, the motion of a pendulum of the same inertia.
"""

import itertools

import numpy as np

from rigid import quaternions
from rodsim import MassProperties, Model, simulate

AXIS = (0, 0, 1)
BAR = MassProperties(1.0, np.diag([1e-4, 1 / 12, 1 / 12]))  # along x; about z as a thin bar of 1 m
UPRIGHT = quaternions.from_rotation_vector([0, 0, np.pi / 2])


def four_bars(n: int) -> Model:
    """Return the model of `n` loops; "crank 0" is the first crank."""
    model = Model(f"{n} four-bars", gravity=(0, -9.81, 0))
    cranks = [
        model.add_body(
            f"crank {k}", BAR, (k, 0.5, 0), UPRIGHT, velocity=(0.5, 0, 0), angular_velocity=(0, 0, -1)
        )
        for k in range(n + 1)
    ]
    for k, crank in enumerate(cranks):
        model.add_joint(f"foot {k}", "revolute", model.ground, crank, at=(k, 0, 0), axis=AXIS)
    for k, (left, right) in enumerate(itertools.pairwise(cranks)):
        coupler = model.add_body(f"coupler {k}", BAR, (k + 0.5, 1, 0), velocity=(1, 0, 0))
        model.add_joint(f"left {k}", "revolute", left, coupler, at=(k, 1, 0), axis=AXIS)
        model.add_joint(f"right {k}", "revolute", coupler, right, at=(k + 1, 1, 0), axis=AXIS)
    return model


def main() -> None:
    for n in (1, 40):
        for integrator, dt in (("em", 0.005), ("em4-ggl", 0.02)):
            r = simulate(four_bars(n), 2.0, dt, integrator).body("crank 0").point(np.array([0.5, 0, 0]))[-1]
            print(f"N = {n:2d}  {integrator:8s} dt = {dt:g} s: end of the first crank {r[:2]}")


if __name__ == "__main__":
    main()
