"""Audit equilibria by their stored states: force balance and joint residuals, with ground points at their moved positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discretization.multipliers import count_multipliers
from discretization.statics.contact_statics import equilibrium_system_of
from discretization.statics.loading import Loading
from rodsim.results.constraint_history import ConstraintHistory

if TYPE_CHECKING:
    from rodsim.results.result import Result

BALANCE_TOLERANCE = 1e-9  # allowed unbalanced force, relative to the largest force or moment in the model
ROUNDING = 1e4  # allowed unbalanced force over its round-off: forces of stiff rods are not known better
JOINT_TOLERANCE = 1e-10  # allowed joint residual, relative to the model's size


class Balance(NamedTuple):
    """Hold the largest residuals over all equilibria."""

    residual: float  # largest unbalanced force, relative to the largest force that acts; nan: not known
    rounding: float  # largest unbalanced force, in multiples of its round-off
    joints: float  # largest |g|, relative to the model's size; nan: no joints
    judged: int  # number of equilibria that were judged


def balance(result: Result) -> Balance:
    """Recompute the force balance of all equilibria from the stored states, loads and motions of ground points."""
    system, statics = result.layout.system, result.description["statics"]
    if system is None or result.n_outputs == 0:
        return Balance(np.nan, np.nan, np.nan, 0)
    history = ConstraintHistory(result.layout)
    loads = {key: np.array(statics["loads"][key], float).reshape(shape) for key, shape in _SHAPES}
    loading = Loading(
        loads["constant"],
        loads["varying"],
        loads["constant_gravity"],
        loads["varying_gravity"],
        history.motions_by_output(),
    )
    rubs = statics["method"] != "arc-length"
    equilibrium = equilibrium_system_of(system, result.state(0), loading, friction=rubs)
    continued = "start" in result.description
    residual = rounding = gap = largest = 0.0
    judged = 0
    for i, factor in enumerate(statics["load_factor"]):
        if continued and factor != 1.0:
            continue  # balanced by forces that fade as the load factor grows to 1
        judged += 1
        equilibrium.set_equilibrium(result.state(i), float(i if loading.motions else factor))
        if loading.motions:
            equilibrium.values_at(factor)
        level = equilibrium.assemble(False)
        rounding = max(rounding, level) if level >= 0.0 else np.inf
        forces = equilibrium.residual[equilibrium.unknowns]
        residual = max(residual, float(np.abs(forces[:, :3]).max(initial=0.0)))
        largest = max(largest, equilibrium.largest_force())
        one = slice(i, i + 1)
        g = history.residual(one, result.states(one))
        gap = max(gap, float(np.abs(g).max(initial=0.0)) / equilibrium.length)
    joints = gap if count_multipliers(system) else np.nan
    return Balance(residual / largest if largest > 0.0 else 0.0, rounding, joints, judged)


_SHAPES = (
    ("constant", (-1, 3)),
    ("varying", (-1, 3)),
    ("constant_gravity", (3,)),
    ("varying_gravity", (3,)),
)


def lines(result: Result) -> list[tuple[str, str, bool | None]]:
    """Return for each law its name, the measured residual, and whether the law holds (None: not judged)."""
    measured = balance(result)
    if not measured.judged:
        return [
            ("equilibrium", "not recomputed: forces that fade hold it, or the file stores no system", None)
        ]
    summary = f"{measured.residual:.1e} of the largest force, {measured.rounding:.1e} of its round-off"
    rows: list[tuple[str, str, bool | None]] = [
        (
            "equilibrium, forces",
            summary,
            measured.residual < BALANCE_TOLERANCE or measured.rounding < ROUNDING,
        )
    ]
    if np.isfinite(measured.joints):
        rows.append(
            (
                "joints, positions",
                f"|g| <= {measured.joints:.1e} of the model's size",
                measured.joints < JOINT_TOLERANCE,
            )
        )
    relaxed = result.description["statics"].get("relaxation")
    if relaxed:
        rows.append(
            (
                "relaxation",
                f"load steps ended at {relaxed['from']:.6g}: equilibria beyond were found by relaxation",
                None,
            )
        )
    return rows
