"""Validation cases of free bodies and tops: Jacobi's elliptic functions, steady precession, nutation."""

from __future__ import annotations

from functools import partial

import numpy as np

from rigid import quaternions
from rigid.inertia import Box, Cone, MassProperties
from rodsim.model import Model
from rodsim.papers import box_runs, free_body
from rodsim.papers.property_tables import AXIS
from rodsim.simulation import simulate
from rodsim.validation.case import Case, Meshes, Table, Values, reference_values_at, values_at

FREE = "exact, Jacobi's elliptic functions, 17 digits"
# J = (6, 8, 3), Omega(0) = (10, 20, 20), R(0) = I: t -> quaternion
ASYMMETRIC = {
    0.1: free_body.EXACT,
    1.0: (0.98246243303855346, 0.067504764125571854, 0.15270460806474528, 0.083017932786291950),
    2.0: (0.93054500301645729, 0.14095475300691028, 0.29825094072933890, 0.15894694498456642),
}
# cone of height 0.1, radius 0.05, density 2700 on its tip, precession 10 rad/s at 60 degrees: t -> centre of mass
CONE = {
    0.5: (-0.062283958662288333, -0.018424399402812514, 0.0375),
    1.0: (-0.035335207666891902, 0.054499294482934582, 0.0375),
    2.0: (0.059297533454585949, -0.026505707426934678, 0.0375),
}
# about the pivot A = 1, C = 0.5; m g l = l = 1, tilt 45 degrees, Omega(0) = (0, 0.3, 5): t -> centre of mass
NUTATING = {
    1.0: AXIS,
    2.0: (0.57917411367859920, -0.43382923577323669, 0.69018080256771737),
}


def free(shape: MassProperties, spin: tuple[float, ...], table: Table, level: int) -> Values:
    """Simulate a body without loads; the quaternions (4,) at the times of a table have the signs of the exact ones."""
    model = Model("free body")
    model.add_body("body", shape, angular_velocity=spin)
    run = simulate(model, 2.0, (0.005, 0.0025)[level], "em6", output_every=1)
    quaternions = values_at("q", table, run, run.body("body").quat)
    # q and -q are one rotation
    return {
        k: np.sign(q @ np.array(exact)) * q
        for (k, q), exact in zip(quaternions.items(), table.values(), strict=True)
    }


def cone(level: int) -> Values:
    """Simulate the top in steady precession."""
    model = Model("heavy top", gravity=(0.0, 0.0, -9.81))
    top = model.add_body(
        "top",
        Cone(0.05, 0.1, density=2700.0),
        orientation=quaternions.from_axis_angle([1.0, 0.0, 0.0], np.pi / 3),
        angular_velocity=(0.0, -117.43304475316988, 77.8),
    )
    model.add_joint("tip", "spherical", model.ground, top, at=(0.0, 0.0, 0.0))
    run = simulate(model, 2.0, (0.002, 0.001)[level], "em6", output_every=10)
    return values_at("centre", CONE, run, run.body("top").center_of_mass)


def nutating(level: int) -> Values:
    """Simulate the nutating top with m = 1/2 and g = 2, so that the moments about the centre are (1/2, 1/2, 1/2)."""
    model = Model("nutating top", gravity=(0.0, 0.0, -2.0))
    turned = quaternions.from_axis_angle([1.0, 0.0, 0.0], np.pi / 4)
    top = model.add_body(
        "top",
        MassProperties(0.5, np.array([0.5, 0.5, 0.5]), center=np.array([0.0, 0.0, 1.0])),
        orientation=turned,
        angular_velocity=quaternions.rotate(turned, (0.0, 0.3, 5.0)),
    )
    model.add_joint("tip", "spherical", model.ground, top, at=(0.0, 0.0, 0.0))
    run = simulate(model, 2.0, (0.01, 0.005)[level], "em6", output_every=10)
    return values_at("centre", NUTATING, run, run.body("top").center_of_mass)


FREE_MESHES = Meshes("em6, h = 0.005", "em6, h = 0.0025", 6, 1e-7)
CASES = (
    Case(
        "free-top",
        "Free asymmetric top, J = (6, 8, 3)",
        FREE,
        reference_values_at("q", ASYMMETRIC, 1e-15, 1.0),
        partial(free, MassProperties(1.0, np.array([6.0, 8.0, 3.0])), (10.0, 20.0, 20.0), ASYMMETRIC),
        FREE_MESHES,
    ),
    Case(
        "spinning-box",
        "Free box 5 x 2 x 1 near its middle axis",
        FREE,
        reference_values_at("q", box_runs.EXACT, 1e-15, 1.0),
        partial(free, Box(5.0, 2.0, 1.0, mass=12.0), (0.0, 5.0, 1.0), box_runs.EXACT),
        FREE_MESHES,
    ),
    Case(
        "heavy-top",
        "Cone on its tip in steady precession",
        "exact",
        reference_values_at("centre", CONE, 1e-15, 0.075),
        cone,
        Meshes("em6, h = 0.002", "em6, h = 0.001", 6, 1e-6),
    ),
    Case(
        "nutating-top",
        "Symmetrical top, nutation",
        "exact, elliptic quadrature, 17 digits",
        reference_values_at("centre", NUTATING, 1e-15, 1.0),
        nutating,
        Meshes("em6, h = 0.01", "em6, h = 0.005", 6, 1e-7),
    ),
)
