"""Warn about bodies that rotate far in one step.

In a step of length h, `em`, `em-ggl` and `em-d` rotate a body with the angular velocity omega by

    2 atan(theta/2),   theta = h omega,                                                                  (1)

which lags behind theta by a relative part of about theta^2/12: 0.75 % at 0.3 rad, 3 % at 0.6 rad. Energy and momenta are
exact nevertheless, so that no other check detects the error. Compositions have a smaller error, and adaptive steps control it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discretization.time.em_family import em_integrator

if TYPE_CHECKING:
    from rodsim.results.result import Result

LARGEST = 0.3  # rad per step
_OUTPUTS = 1000  # largest number of outputs that are read, evenly spaced


def describe_coarse_rotation(result: Result) -> str:
    """Return a sentence about the body that rotates furthest in a step; "" if its rotation is at most `LARGEST`."""
    layout, run = result.layout, result.description.get("run", {})
    scheme = em_integrator(str(run.get("integrator", "")))
    if scheme is None or scheme.order > 2 or "error" in run or not layout.bodies or not result.n_outputs:
        return ""
    every = -(-result.n_outputs // _OUTPUTS)
    frames = [body.frame for body in layout.bodies]
    spins = result._source.read("Omega", slice(0, result.n_outputs, every))[:, frames]
    fastest = np.linalg.norm(spins, axis=-1).max(axis=0)
    k, dt = int(np.argmax(fastest)), float(run["dt"])
    theta = dt * float(fastest[k])
    if not theta > LARGEST:
        return ""
    lag = 1.0 - 2.0 * np.arctan(theta / 2.0) / theta
    return (
        f"body '{layout.bodies[k].name}' rotates by up to {theta:.3g} rad in a step, of which '{run['integrator']}' "
        f"misses {100 * lag:.2g} %. Use dt = {dt * LARGEST / theta:.2g} s or less, integrator 'em4', or Adaptive steps"
    )
