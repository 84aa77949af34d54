"""Validation cases of loops of revolute joints with redundant constraints: N four-bars, Bricard's mechanism."""

from __future__ import annotations

import itertools
import warnings
from functools import partial
from typing import Any

import numpy as np

from rigid import quaternions
from rigid.errors import RedundantJointsWarning
from rigid.inertia import Box, MassProperties
from rodsim.model import Model
from rodsim.results.result import Result
from rodsim.simulation import simulate
from rodsim.validation.case import Case, Meshes, Values, reference_values_at, values_at

# IFToMM A02, N loops: t -> end of the first crank; at 1.5 s the positions in which all bars lie in one line are passed
FOUR_BARS = {
    1: {
        0.5: (0.70151267891047682, 0.71265697311388615),
        1.0: (-0.26071267518365036, -0.96541643915907317),
        1.5: (-0.55407459194279042, 0.83246702430993042),
        2.0: (0.077085471792867077, 0.99702448818395183),
        4.0: (0.15895550425711777, 0.98728574772776165),
        5.0: (-0.94490818604295389, -0.32733548531898346),
        10.0: (0.47838505776097056, 0.87815017879120930),
    },
    40: {
        0.5: (0.68792597079077263, 0.72578086135663087),
        1.0: (-0.11535688063210990, -0.99332411130045019),
        2.0: (0.034466307300407162, 0.99940586032956296),
    },
}
# IFToMM A04: t -> the corner P3
BRICARD = {
    0.5: (0.968283679107, -1.22462515943, 0.75014660944),
    1.0: (0.510501461186, -1.6491675994, 0.140123114552),
    2.0: (-0.969340344775, -1.22124689496, 0.754278010771),
}
BAR = MassProperties(1.0, np.diag([1e-4, 1 / 12, 1 / 12]))  # along x; about z as a thin bar of 1 m
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]


def _simulated(model: Model, level: int, t_end: float = 2.0) -> Result:
    """Simulate a model without the warning about redundant joints, since redundancy is the subject of these cases."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantJointsWarning)
        return simulate(model, t_end, (0.02, 0.01)[level], "em4-ggl", output_every=1)


def four_bars(n: int, level: int) -> Values:
    """Simulate n four-bars; all cranks start upright, their ends with 1 m/s; every loop has three redundant equations."""
    model = Model(f"{n} four-bars", gravity=(0.0, -9.81, 0.0))
    upright = quaternions.from_rotation_vector([0.0, 0.0, np.pi / 2])
    cranks = [
        model.add_body(
            f"crank {k}", BAR, (k, 0.5, 0), upright, velocity=(0.5, 0, 0), angular_velocity=(0, 0, -1)
        )
        for k in range(n + 1)
    ]
    joined: list[Any] = [(f"foot {k}", model.ground, crank, (k, 0, 0)) for k, crank in enumerate(cranks)]
    for k, (left, right) in enumerate(itertools.pairwise(cranks)):
        coupler = model.add_body(f"coupler {k}", BAR, (k + 0.5, 1, 0), velocity=(1, 0, 0))
        joined += [(f"left {k}", left, coupler, (k, 1, 0)), (f"right {k}", coupler, right, (k + 1, 1, 0))]
    for name, a, b, at in joined:
        model.add_joint(name, "revolute", a, b, at=at, axis=(0, 0, 1))
    run = _simulated(model, level, max(FOUR_BARS[n]))
    end = run.body("crank 0").point(np.array([0.5, 0.0, 0.0]))
    return values_at("end", FOUR_BARS[n], run, end[:, :2])


def bricard(level: int) -> Values:
    """Simulate five bars and six axes at right angles, from rest under gravity, with one redundant equation."""
    model = Model("Bricard", gravity=(0.0, -9.81, 0.0))
    parts: list[Any] = [model.ground]
    for k, (start, end) in enumerate(itertools.pairwise(CORNERS)):
        x, y, z = np.where(np.abs(end - start) > 0.5, 1.0, 0.1)
        parts.append(model.add_body(f"bar {k + 1}", Box(x, y, z, mass=1.0), (start + end) / 2))
    for k, (at, axis) in enumerate(zip(CORNERS, AXES, strict=True)):
        model.add_joint(f"P{k}", "revolute", parts[k], [*parts, model.ground][k + 1], at=at, axis=axis)
    run = _simulated(model, level)
    P3 = run.body("bar 3").point(np.array([0.0, 0.0, 0.5]))
    return values_at("P3", BRICARD, run, P3)


MESHES = Meshes("em4-ggl, h = 0.02", "em4-ggl, h = 0.01", 4, 1e-4)
CASES = (
    *(
        Case(
            f"four-bars-{n}",
            f"IFToMM A02: {n} four-bar{'s' * (n > 1)} through their singular positions",
            "exact, one coordinate, 17 digits",
            reference_values_at("end", table, 1e-15, 1.0),
            partial(four_bars, n),
            MESHES,
            slow=n > 1,
        )
        for n, table in FOUR_BARS.items()
    ),
    Case(
        "bricard",
        "IFToMM A04: Bricard's mechanism of six revolute joints",
        "minimal coordinates, 1e-10",
        reference_values_at("P3", BRICARD, 1e-9, 1.0),
        bricard,
        MESHES,
    ),
)
