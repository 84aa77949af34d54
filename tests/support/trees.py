"""Runs of models with the tree solver, compared with the general solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from rigid.system import State
from rodsim import Model, Result, simulate

CLOSE = {
    "r": 1e-12,
    "quat": 1e-12,
    "v": 2e-10,
    "Omega": 2e-9,
    "lam": 1e-9,
    "internal": 1e-12,
    "totals": 1e-11,
}


def run(
    model: Model, steps: int, h: float, integrator: str = "em", solver: str = "auto", **options: Any
) -> Result:
    """Simulate with one output; assert which solver took the steps."""
    settings: dict[str, Any] = {"output_every": steps, "progress": False} | options
    result = simulate(model, steps * h, h, integrator, solver=solver, **settings)
    used_solver = result.description["run"].get("solver", "general")
    assert used_solver.split(",")[0] == ("tree" if solver == "auto" else "general"), used_solver
    return result


def same(one: State, other: State, tolerance: dict[str, float]) -> None:
    """Assert that two states agree, forces relative to the largest."""
    for name, x, y in zip(one._fields, one, other, strict=True):
        if name != "memory":
            size = max(1.0, np.abs(y).max(initial=0.0))
            assert np.abs(x - y).max(initial=0.0) <= tolerance[name] * size, name
