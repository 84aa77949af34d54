"""A compressor rotor: two discs on a shaft, plain bearings whose coefficients depend on the speed, and a labyrinth seal.

Run `python -m examples.rotor [PICTURE]`: it prints critical speeds and the stability limit, and draws the Campbell diagram.
"""

from __future__ import annotations

import sys

import numpy as np

from rodsim import Cylinder, Material, Model, Section, align, campbell
from rodsim.linear import Unbalance
from rodsim.small_motions.rotor_results import Campbell

STEEL = Material(E=2.1e11, nu=0.3, density=7850.0)
RPM = np.pi / 30.0
SPEEDS = np.array([0.0, 2000.0, 4000.0, 8000.0]) * RPM  # of the table of the bearings
DIRECT = [4e6, 6e6, 7e6, 8e6]  # N/m
CROSS = [0.0, 4e5, 9e5, 2.0e6]  # N/m, grows with the speed: oil that is carried around
DAMPING = [8e3, 7e3, 5e3, 3e3]  # N s/m


def rotor(n: int = 12) -> Model:
    """Return the model of the rotor along x; n: elements of the shaft."""
    model = Model("compressor")
    shaft = model.add_rod(
        "shaft", [(0, 0, 0), (1.2, 0, 0)], Section.circular(0.03, STEEL), n, element="relative(2)"
    )
    for name, s, radius in (("impeller 1", 1 / 3, 0.16), ("impeller 2", 2 / 3, 0.13)):
        wheel = model.add_body(
            name,
            Cylinder(radius, 0.05, density=STEEL.density),
            shaft.at(s).position,
            align((0, 0, 1), (1, 0, 0)),
        )
        model.add_joint(f"fit of {name}", "weld", shaft.at(s), wheel)
    film = [[[k, c], [-c, 1.2 * k]] for k, c in zip(DIRECT, CROSS, strict=True)]
    for name, s in (("left bearing", 1 / 12), ("right bearing", 11 / 12)):
        model.add_bearing(
            name, "ground", shaft.at(s), film, [[[c, 0], [0, c]] for c in DAMPING], speeds=SPEEDS
        )
    model.add_bearing("labyrinth", "ground", shaft.at(0.5), [[0, 5e4], [-5e4, 0]], 50.0)
    model.add_joint("thrust", "axial bearing", "ground", shaft.start, axis=(1, 0, 0))
    return model


def diagram(n: int = 12, count: int = 33) -> Campbell:
    """Return whirl, stability and unbalance response from 0 to 8000 rpm."""
    speeds = np.linspace(0.0, 8000.0, count) * RPM
    return campbell(
        rotor(n), speeds, 6, unbalance=[Unbalance("impeller 1", 5e-4), Unbalance("impeller 2", 2e-4, np.pi)]
    )


if __name__ == "__main__":
    result = diagram(count=81)
    print(result.text())
    if len(sys.argv) > 1:
        print(result.plot(sys.argv[1]))
