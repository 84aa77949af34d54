"""Going on from a stored state of a result, with the same parts but other loads, weights or parameters; what changed is said."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.measures import constraint_residual
from discretization.system import System, fingerprint
from rigid import checks, quaternions
from rigid.errors import ModelError, PartName
from rigid.interactions.constraints import rows_of
from rigid.joints import JOINTS
from rigid.system import PERPENDICULAR, Floats, State
from rodsim.building import Built
from rodsim.loops import Link, loop_closed_by
from rodsim.results.layout import Layout
from rodsim.results.result import Result
from rodsim.results.standing import Standing
from rodsim.static_checks import part_at

_FITS = 1e-7  # of the model's size: gaps of joints at the stored state


class Restart(NamedTuple):
    """Where a run begins instead of at the initial state of its model."""

    state: State
    told: dict[str, Any]  # for the description: from what, which output, what changed


def restarted(built: Built, start: Result, at: float | None) -> Restart:
    """The state of `start` at its time `at`, by default the last, as a start of the model `built`.

    Ground points that an equilibrium has moved are moved in `built`, in place. Raises ModelError where the parts differ.
    """
    if not isinstance(start, Result):
        raise ModelError(
            f"start = {checks.shown(start)} is no result; give what `equilibrium` or `simulate` returns"
        )
    if start.n_outputs < 1:
        raise ModelError("start: the result holds no output")
    old, new = start.layout, built.layout
    _check_same_parts(old, new)
    index = start.n_outputs - 1 if at is None else start.index_at(at)
    stored = start.state(index)
    state = State(
        r=stored.r.copy(),
        quat=stored.quat.copy(),
        v=stored.v.copy(),
        Omega=stored.Omega.copy(),
        lam=stored.lam.copy(),
        angle=stored.angle.copy(),
        acc=stored.acc.copy(),
        totals=np.zeros(2),
    )
    for before, body in zip(old.bodies, new.bodies, strict=True):
        # the reference point stays, wherever the centre of mass is now
        shift = before.reference - body.reference
        if np.any(shift):
            k = body.frame
            state.r[k] += quaternions.rotate(state.quat[k], shift)
            state.v[k] += quaternions.rotate(state.quat[k], np.cross(state.Omega[k], shift))
    moved = _move_ground(built, old, index)
    _check_joints(built, state)
    told = {
        "model": old.name,
        "output": index,
        "t": float(start.t[index]),
        "changes": [
            *_changes(old, new),
            *(
                f"the ground side of joint '{name}' stays where the equilibrium has moved it"
                for name in moved
            ),
        ],
        "moved": moved,
    }
    return Restart(state, told)


def _check_same_parts(old: Layout, new: Layout) -> None:
    for what, before, after in (
        (
            "rods",
            [(rod.name, len(rod.frames)) for rod in old.rods],
            [(rod.name, len(rod.frames)) for rod in new.rods],
        ),
        ("bodies", [body.name for body in old.bodies], [body.name for body in new.bodies]),
        (
            "joints",
            [(joint.name, joint.kind) for joint in old.joints],
            [(joint.name, joint.kind) for joint in new.joints],
        ),
        ("torsion springs", old.n_torsions, new.n_torsions),
    ):
        if before != after:
            raise ModelError(
                f"start: the result of '{old.name}' has {what} {before}, model '{new.name}' has {after}; a run goes on with "
                "the same parts, only loads, gravity and parameters may change"
            )


def _move_ground(built: Built, old: Layout, index: int) -> list[str]:
    """Move the ground points of joints as equilibria had them: the names of the joints that were moved."""
    standing = Standing(old)
    moved = list(dict.fromkeys([*standing.moved_before, *standing.motions]))
    for name in moved:
        standing.move(index, name, built.system.constraints, built.layout)
    if moved:
        built.layout.description["fingerprint"] = fingerprint(built.system)
    return moved


def _check_joints(built: Built, state: State) -> None:
    constraints = built.system.constraints
    g = np.abs(constraint_residual(built.system, state))
    size = float(np.ptp(state.r, axis=0).max()) or 1.0
    if not len(g) or g.max() <= _FITS * max(size, 1.0):
        return
    worst = int(np.repeat(np.arange(len(constraints.kind)), rows_of(constraints))[np.argmax(g)])
    layout = built.layout
    joint = layout.joints[int(constraints.joint[worst])]
    links = [
        Link(own.name, *(part_at(layout, frame).name for frame in own.frames or ()))
        for own in layout.joints
        if own.kind in JOINTS
    ]
    loop = loop_closed_by(links, joint.name)
    of_axes = bool(constraints.kind[worst] == PERPENDICULAR)
    gap = (
        f"its axes are {np.degrees(np.arcsin(min(g.max(), 1.0))):.3g} degrees apart"
        if of_axes
        else f"|g| = {g.max():.3g}"
    )
    raise ModelError(
        f"{joint.kind} joint '{joint.name}': {gap} at the stored state{f', {loop} does not close' if loop else ''}; it is "
        "where it was not in the model of that result, leave its place and its axes as they were",
        about=[PartName("joint", joint.name)],
    )


def _changes(old: Layout, new: Layout) -> list[str]:
    """What is not as it was, part by part, in words."""
    said: list[str] = []
    a, b = old.description, new.description
    if a.get("gravity") != b.get("gravity"):
        said.append(f"gravity {a.get('gravity')} -> {b.get('gravity')}")
    for kind in ("loads", "line_loads", "drives", "springs", "torsion_springs"):
        before, after = a.get(kind, {}), b.get(kind, {})
        what = kind[:-1].replace("_", " ")
        said += [f"{what} '{name}' is new" for name in after if name not in before]
        said += [f"{what} '{name}' is gone" for name in before if name not in after]
        both = [name for name in after if name in before and before[name] != after[name]]
        for name in both:
            # older files do not say all of it
            keys = [key for key, own in after[name].items() if before[name].get(key, own) != own]
            said += [f"{what} '{name}': {key} {before[name][key]} -> {after[name][key]}" for key in keys]
    if old.system is not None and new.system is not None:
        said += _changed_parts(new, old.system, new.system)
    return said


def _changed_parts(layout: Layout, a: System, b: System) -> list[str]:
    said = []
    for body in layout.bodies:
        k = body.frame
        for what in ("mass", "inertia"):
            x, y = getattr(a.frames, what)[k], getattr(b.frames, what)[k]
            if not np.array_equal(x, y):
                said.append(f"body '{body.name}': {what} {_words(x)} -> {_words(y)}")
    for rod in layout.rods:
        if not np.array_equal(a.frames.mass[rod.frames], b.frames.mass[rod.frames]):
            total = [float(system.frames.mass[rod.frames].sum()) for system in (a, b)]
            said.append(f"rod '{rod.name}': mass {total[0]:.6g} -> {total[1]:.6g} kg")
        for what in ("stiffness", "damping", "strain0"):
            own = [np.concatenate([getattr(x.elements, what), getattr(x.spans, what)]) for x in (a, b)]
            if len(own[0]) == len(own[1]) and not np.array_equal(own[0][rod.elements], own[1][rod.elements]):
                name = {"strain0": "stress-free shape"}.get(what, what)
                said.append(f"rod '{rod.name}': other {name}")
    return said


def _words(x: Floats) -> str:
    return f"{float(x):.6g}" if np.ndim(x) == 0 else str(np.asarray(x).tolist())
