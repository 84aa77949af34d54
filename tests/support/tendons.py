"""A model with tendons of unknown tension."""

from __future__ import annotations

from rodsim import Box, Model
from tests.support.completeness import SOFT


def ropes() -> Model:
    """A clamped rod and two bodies, with inextensible and elastic tendons along the rod and over the bodies, some slack."""
    model = Model("ropes", gravity=(0.1, -0.3, -0.9))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 6, up=(0, 0, 1))
    model.add_joint("clamp", "clamp", rod.start)
    bodies = [
        model.add_body(f"body {k}", Box(0.2, 0.3, 0.1, density=50.0), position=(0.3 * k, 1.0, 0.2))
        for k in range(2)
    ]
    a, b = bodies
    eyelets = [rod.at(k / 6, (0, 0.1, 0.02)) for k in range(7)]
    model.add_tendon("tight", [*eyelets, a.at((0.1, 0.1, 0)), a.at((0.1, -0.1, 0)), "ground@0,2,1"])
    model.add_tendon("over", ["ground@1,2,0", b.at((0, 0.1, 0)), a, b.at((0.1, 0, 0))])
    model.add_tendon("elastic", [rod.at(k / 6, (0, -0.1, 0)) for k in range(7)], stiffness=30.0, length=0.9)
    model.add_tendon("slack", ["ground@0,0,1", b, rod.end], stiffness=20.0, length=9.0)
    for k, end in enumerate(
        ("ground@0,1,5.2", "ground@0,1,-4.8")
    ):  # a step makes some of them taut, others slack
        for longer in (1e-4, -1e-4):
            model.add_tendon(f"limit {k}, {longer}", [end, a], stiffness=20.0, length=5.0 + longer)
    return model
