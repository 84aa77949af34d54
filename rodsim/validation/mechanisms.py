"""Validation cases of closed loops and mechanisms of rigid bodies."""

from __future__ import annotations

import numpy as np

from rigid import quaternions
from rigid.inertia import Box, MassProperties
from rodsim.model import Model
from rodsim.papers import closed_loop
from rodsim.simulation import simulate
from rodsim.validation.case import (
    Case,
    Meshes,
    ReferenceValue,
    Values,
    column,
    reference_values_at,
    values_at,
)

# four bars 10 x 1 x 1 in a loop, density 1, pushed for 1 s: t -> centres
LOOP = {
    2.0: closed_loop.EXACT.ravel(),
    5.0: (
        48.1461773426,
        0,
        0,
        45,
        -2.55980519585,
        1.82916079947,
        41.8538226574,
        0,
        0,
        45,
        2.55980519585,
        -1.82916079947,
    ),
}
LOOP_KINETIC = 2096.16784226673  # kinetic energy for t >= 1
# IFToMM A05, no drive torque: t -> height of the slider, rate of the shaft
GOVERNOR = {
    0.05: (0.50610089724368, 6.2350402159813),
    0.1: (0.52383647556958, 6.1037178088308),
    0.5: (0.74324942478631, 5.1034154219716),
    1.0: (0.50142092237956, 6.2711257418766),
    2.0: (0.5059092942967, 6.236223614436),
    5.0: (0.53556310372162, 6.0224964997586),
}
GOVERNOR_L = 53.868998658418434  # kg m^2/s about z


def loop(level: int) -> Values:
    """Simulate four bars in a loop: bars 1 and 3 along y, 2 and 4 along x, spherical joints at the corners."""
    model = closed_loop.loop_model()
    run = simulate(model, 5.0, (0.01, 0.005)[level], output_every=(100, 200)[level])
    ends = {
        "T(5)": run.energy["kinetic"][-1],
        "P(5)": run.linear_momentum[-1],
        "L(5)": run.angular_momentum[-1],
    }
    return ends | values_at("centres", LOOP, run, np.hstack([run.body(name).r for name in model.bodies]))


def governor(level: int) -> Values:
    """Simulate a shaft with two hinged arms with balls, and a slider on two stiff damped springs."""
    model = Model("flyball governor", gravity=(0.0, 0.0, -9.81))
    density, rate, drop = 3000.0, 2 * np.pi, np.pi / 6
    spin = {"angular_velocity": (0.0, 0.0, rate)}
    shaft = model.add_body("shaft", Box(0.01, 0.01, 1.0, density=density), (0.0, 0.0, 0.5), **spin)
    slider = model.add_body("slider", Box(0.1, 0.1, 0.1, density=density), (0.0, 0.0, 0.5), **spin)
    model.add_joint("bearing", "revolute", model.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint("guide", "prismatic", shaft, slider, at=(0, 0, 0.5), axis=(0, 0, 1))
    arm = with_point_mass(Box(1.0, 0.01, 0.01, density=density), 5.0, (0.5, 0.0, 0.0))
    for side in (1.0, -1.0):
        name = "right" if side > 0 else "left"
        hinge = np.array([0.05 * side, 0.0, 1.0])
        along = np.array([side * np.cos(drop), 0.0, -np.sin(drop)])
        angle = drop if side > 0 else np.pi - drop  # about y, from x to `along`
        middle = hinge + 0.5 * along
        body = model.add_body(
            name,
            arm,
            middle,
            quaternions.from_axis_angle([0.0, 1.0, 0.0], angle),
            velocity=np.cross([0.0, 0.0, rate], middle),
            **spin,
        )
        model.add_joint(f"hinge {name}", "revolute", shaft, body, at=hinge, axis=(0, 1, 0))
        model.add_spring(
            f"link {name}",
            slider.at((0.05 * side, 0.0, 0.0)),
            body.at((0.0, 0.0, 0.0)),
            stiffness=8e5,
            length=0.5,
            damping=4e4,
        )
    run = simulate(model, max(GOVERNOR), (1e-3, 5e-4)[level], output_every=(10, 20)[level])
    return {
        "L_z(5)": run.angular_momentum[-1, 2],
        **values_at("slider", GOVERNOR, run, run.body("slider").r[:, 2]),
        **values_at("shaft rate", GOVERNOR, run, run.body("shaft").Omega[:, 2]),
    }


def with_point_mass(shape: MassProperties, mass: float, at: tuple[float, float, float]) -> MassProperties:
    """Return the mass properties of `shape` with a point mass, kg, at `at` (3,) m in its axes; the reference point stays."""
    total = shape.mass + mass
    center = (shape.mass * shape.center + mass * np.array(at)) / total
    inertia = shape.inertia.copy()
    for m, x in ((shape.mass, shape.center - center), (mass, np.array(at) - center)):
        inertia += m * (x @ x * np.eye(3) - np.outer(x, x))
    return MassProperties(total, inertia, center, shape.vertices, shape.faces)


CASES = (
    Case(
        "closed-loop",
        "Four bars in a loop under load",
        "extrapolation in minimal coordinates, 1e-10; invariants exact",
        {
            "T(5)": ReferenceValue(LOOP_KINETIC, 1e-9, LOOP_KINETIC),
            "P(5)": ReferenceValue((400.0, 0.0, 0.0), 0.0, 400.0),
            "L(5)": ReferenceValue((300.0, 0.0, 0.0), 0.0, 300.0),
        }
        | reference_values_at("centres", LOOP, 1e-9, 10.0),
        loop,
        Meshes("em, h = 0.01", "em, h = 0.005", 2),
    ),
    Case(
        "governor",
        "IFToMM A05: flyball governor without drive",
        "minimal coordinates, 12 digits",
        {"L_z(5)": ReferenceValue(GOVERNOR_L, 1e-11, GOVERNOR_L)}
        | reference_values_at("slider", column(GOVERNOR, 0), 1e-11, 0.25)
        | reference_values_at("shaft rate", column(GOVERNOR, 1), 1e-11, 1.2),
        governor,
        Meshes("em, h = 1e-3", "em, h = 5e-4", 2),
    ),
)
