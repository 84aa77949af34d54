"""Check the loads, gravity and joint motions given to `equilibrium`, and convert them to functions of the load factor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discretization.memoization import copied
from discretization.statics.loading import GroundMotion, Loading, moved_points, rigid_placement
from rigid import checks, quaternions
from rigid.errors import ModelError
from rigid.system import Constraints, Floats, Ints
from rodsim.building.build import Built
from rodsim.components.parameter_changes import GRAVITY
from rodsim.components.part_lookup import check_known
from rodsim.model import Model
from rodsim.small_motions.linear_equations import given_loads

POSITION_TOLERANCE = 1e-9  # tolerance for the position (m) or direction of a joint at which a motion begins
_LOAD_INPUTS = ("moving force", "gravity", "measure force")
_MOVED = ("Xa", "Xb", "Ua", "Ub")

LoadFactorFunction = Callable[[float], Floats]


def loading_of(
    model: Model,
    built: Built,
    loads: Mapping[str, ArrayLike] | None,
    constant: Sequence[str],
    load_time: float,
    motions: Mapping[str, Mapping[str, Any]] | None,
    unmoved: Constraints | None = None,
    factors: Mapping[str, float] | None = None,
) -> Loading:
    """Return checked loads, weights and joint motions by load factor.

    `factors`: name of a load, or "gravity" -> factor; loads that are not named do not act. None: all act. `unmoved`: constraints
    as the model has them, if the ground sides of joints in `built` were moved before.
    """
    values = given_loads("equilibrium", built, load_time, loads)
    weight = built.system.gravity.copy()
    if factors is not None:
        for name, rows in load_rows(built).items():
            values[rows] *= factors.get(name, 0.0)
        weight *= factors.get(GRAVITY, 0.0)
    gravity: Floats = np.zeros(3)
    fixed = np.zeros_like(values)
    if isinstance(constant, str):
        constant = (constant,)
    rows_by_name = value_rows(built)
    for name in constant:
        if name == GRAVITY:
            gravity = weight.copy()
        else:
            check_known("equilibrium", "load", name, [*rows_by_name, GRAVITY])
            fixed[rows_by_name[name]] = values[rows_by_name[name]]
    before = built.system.constraints if unmoved is None else unmoved
    moved = [_motion(model, built, name, motion, before) for name, motion in (motions or {}).items()]
    return Loading(fixed, values - fixed, gravity, weight - gravity, moved)


def load_rows(built: Built) -> dict[str, Ints]:
    """Return the numbers of the values of each load, by name: loads at points and along rods, joint forces, moving forces.

    Values of interactions that are not loads, such as varying stiffnesses, belong to no name.
    """
    return value_rows(built, _LOAD_INPUTS)


def value_rows(built: Built, words: tuple[str, ...] = ("",)) -> dict[str, Ints]:
    """Return the numbers of the values of each load, and of each entry whose numbers vary, by name.

    words: with which the descriptions of such entries begin, as "spring"; by default all.
    """
    rows: dict[str, Ints] = {}
    functions = built.load_values.functions
    inputs = [entry["of"] for entry in built.layout.description.get("inputs", ())]
    first, first_input = 0, len(functions) - len(inputs)
    for k, function in enumerate(functions):
        numbers = first + np.arange(function.n_loads)
        first += function.n_loads
        if k < first_input or inputs[k - first_input].startswith(words):
            rows[function.name] = np.concatenate([rows.get(function.name, numbers[:0]), numbers])
    return rows


def check_factors(owner: str, built: Built, factors: Mapping[str, float] | None) -> dict[str, float] | None:
    """Return checked factors of loads by name; ModelError if a name is not that of a load or "gravity"."""
    if factors is None:
        return None
    checks.by_name(owner, "load_factors", factors, "{name of a load: factor}")
    known = [*load_rows(built), GRAVITY]
    for name in factors:
        check_known(owner, "load", name, known)
    return {name: checks.number(owner, f"factor of '{name}'", factor) for name, factor in factors.items()}


def joint_motion(
    model: Model, built: Built, name: str, motion: Mapping[str, Any]
) -> tuple[Floats, Floats, Floats]:
    """Return displacement, rotation vector and centre (3,) each of the ground side of a joint at load factor 1."""
    checked = _motion(model, built, name, motion, built.system.constraints)
    displacement, rotation = checked.path(1.0)
    return np.asarray(displacement), np.asarray(rotation), checked.center


def stations(factors: ArrayLike) -> Floats:
    """Return the checked load factors (k,) at which equilibria are requested."""
    checked = np.atleast_1d(checks.array("equilibrium", "factors", np.atleast_1d(factors), (None,)))
    if not len(checked) or checked[0] <= 0.0 or checked[-1] > 1.0 or np.any(np.diff(checked) <= 0.0):
        raise ModelError(
            f"equilibrium: factors = {checks.shown(factors)}; give load factors that increase, from above 0 to 1 at most"
        )
    return checked


def _motion(
    model: Model, built: Built, name: str, motion: Mapping[str, Any], unmoved: Constraints
) -> GroundMotion:
    """Return the checked motion of the ground side of a joint by load factor."""
    joints = list(model.joints)
    check_known("equilibrium", "joint", name, joints)
    number = joints.index(name)
    owner = f"motion of joint '{name}'"
    checks.by_name(owner, "what is given", motion, "{'displacement': (3,), 'rotation': (3,)}")
    constraints = built.system.constraints
    rows = constraints.joint == number
    if not (constraints.frames[rows] == 0).any():
        raise ModelError(f"{owner}: joins two moving parts; only the ground side of a joint can be moved")
    unknown = sorted(set(motion) - {"displacement", "rotation", "about"})
    if unknown:
        raise ModelError(f"{owner}: '{unknown[0]}' is not known; give displacement, rotation, about")
    d, rotation = (
        _load_factor_function(owner, key, motion.get(key, np.zeros(3)))
        for key in ("displacement", "rotation")
    )
    begins = bool(np.any(d(0.0)) or np.any(rotation(0.0)))
    table = unmoved if begins else constraints
    on_ground = np.where(table.frames[rows, :1] == 0, table.Xa[rows], table.Xb[rows])
    center = np.asarray(checks.vector(owner, "about", motion["about"]) if "about" in motion else on_ground[0])
    if not begins:
        return GroundMotion(number, lambda factor: (d(factor), rotation(factor)), center)
    moved = copied(unmoved)
    moved_points(unmoved, moved, number, rigid_placement(center, d(0.0), rotation(0.0)))
    distance = max(
        float(np.abs(getattr(moved, column)[rows] - getattr(constraints, column)[rows]).max())
        for column in _MOVED
    )
    if distance > POSITION_TOLERANCE * max(1.0, float(np.abs(center).max())):
        raise ModelError(
            f"{owner}: displacement(0) = {d(0.0)}, rotation(0) = {rotation(0.0)} must be zero, or where the result given as "
            f"`start` has moved the joint; it is {distance:.3g} m (or of a direction) from there"
        )
    return GroundMotion(number, _onward(center, d, rotation), center)


def _onward(
    center: Floats, d: LoadFactorFunction, rotation: LoadFactorFunction
) -> Callable[[float], tuple[Floats, Floats]]:
    """Return the remaining motion after that at load factor 0: X -> c + R (X - c) + d after undoing (d0, R0)."""
    d0, turn0 = d(0.0), rotation(0.0)
    inverse = quaternions.conjugate(quaternions.from_rotation_vector(turn0))

    def path(factor: float) -> tuple[Floats, Floats]:
        total = rotation(factor)
        rotation_vector: Floats = np.zeros(3)
        if np.abs(np.cross(total, turn0)).max() <= 1e-12 * np.abs(total).max() * np.abs(turn0).max():
            rotation_vector = total - turn0  # about one axis: whole turns are preserved
        else:
            relative = quaternions.multiply(quaternions.from_rotation_vector(total), inverse)
            rotation_vector = quaternions.to_rotation_vector(relative)
        back_rotated = quaternions.rotate(quaternions.from_rotation_vector(rotation_vector), d0)
        return d(factor) - back_rotated, rotation_vector

    return path


def _load_factor_function(owner: str, what: str, value: Any) -> LoadFactorFunction:
    """Return a displacement or rotation as a function of the load factor: the callable itself, or linear up to the value."""
    if callable(value):
        checks.vector(owner, f"{what}(0)", value(0.0))
        return lambda factor: checks.vector(owner, what, value(factor))
    end = checks.vector(owner, what, value)
    return lambda factor: factor * end
