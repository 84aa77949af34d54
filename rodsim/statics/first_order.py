"""Equilibria of first-order theory: displacements are linear in the loads, equilibrium holds in the shape at the start.

With the stiffness K and the rows G of the joints at the start, without loads and weights,

    K x + G^T lam = F,   G x = d                                                                              (1)

F are loads, weights and the forces of stresses at the start, d displacements of the ground sides of joints (settlements). The
multipliers lam give the joint forces in the shape at the start. Strains change by their derivative along x,

    de = (de/dy) x,   stresses by C de,                                                                       (2)

exactly, not by differences. Without stress at the start, section forces, reactions and loads are therefore in equilibrium
to round-off, and results of several load cases may be added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.characteristic_length import extent
from discretization.constrained_strains import add_constraint_forces
from discretization.interaction_groups import Role
from discretization.interaction_groups import groups_of as interaction_groups
from discretization.linearisation import eigen, equations, load_stiffness, tangents
from discretization.linearisation.perturbed_state import perturb_state
from discretization.linearisation.saddle_point import SaddlePointSolver
from discretization.linearisation.steady_rotation import steady_motion
from discretization.space import rods as rod_elements
from discretization.space.rod_elements import SE3_SPAN
from discretization.space.spans import MOST_FRAMES, Spans, no_spans, strains_of
from discretization.state_measures import element_states
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions import evaluation
from rigid.interactions.constraints import first_rows, groups_of
from rigid.system import Constraints, Floats, Ints, State
from rodsim.building.build import Built
from rodsim.building.equilibrium_checks import at_rest, check_determined, check_supported
from rodsim.components.parameter_changes import GRAVITY
from rodsim.model import Model
from rodsim.small_motions.linear_equations import frame_names, given_loads
from rodsim.small_motions.zero_energy_motions import describe_loose_motions
from rodsim.statics.load_factors import joint_motion, load_rows
from rodsim.statics.strain_changes import strain_changes

_SOLVED = 1e-6  # residual of (1), relative to the loads, above which K is singular
_SETTLED = 1e-3  # part of stiffness times settlement that counts as a load in this comparison
_LAW_STEP = 1e-6  # strain of the differences for the tangent of a law


class Response(NamedTuple):
    """Solution of (1) and (2) for some loads; sums and multiples are those of the loads."""

    x: Floats  # (n, 6) displacements and rotations of all frames
    lam: Floats  # (m,) multipliers of the joints
    stress: Floats  # (g, 6) at all points of rods

    def plus(self, other: Response, factor: float = 1.0) -> Response:
        """Return this response plus a multiple of another one."""
        return Response(*(a + factor * b for a, b in zip(self, other, strict=True)))


class FirstOrder:
    """Factorised equations (1) of a model, and their solutions."""

    def __init__(self, model: Model, built: Built, loads: Mapping[str, ArrayLike] | None, load_time: float):
        """Linearise a model about its initial state; `loads`, `load_time`: as in `equilibrium`."""
        self.model = model
        self.values = given_loads("equilibrium", built, load_time, loads)
        check_determined(built)
        check_supported(built)
        still = np.zeros_like(built.state.v)
        built = built._replace(state=built.state._replace(v=still, Omega=still))
        self.built = built = at_rest(built)
        self.load_rows = load_rows(built)
        self._free_values = self.values.copy()  # inputs of other interactions remain
        for rows in self.load_rows.values():
            self._free_values[rows] = 0.0
        self.system: System = built.system._replace(gravity=np.zeros(3))
        names = frame_names(built.layout)
        motion = steady_motion(self.system, built.state, None, np.zeros(3), names)
        self.lin = lin = equations.linearise(
            self.system, built.state, self._free_values, motion, names, built.idle
        )
        self.state: State = lin.state
        try:
            self._solver = SaddlePointSolver(lin.K, lin.G)
        except ModelError:
            raise self._singular() from None
        self._strains = _strain_groups(self.system)
        self._no_load = load_stiffness.applied_forces(self.system, self.state, self._free_values)
        self.start_stress: Floats = element_states(self.system, self.state)[1]

    def initial(self) -> Response:
        """Return the response to stresses at the start and to other interactions than loads, with these stresses."""
        unbalanced = self.lin.force - self.lin.G.T @ self.lin.lam
        response = self._solve(-unbalanced, np.zeros(len(self.lin.lam)))
        return response._replace(stress=response.stress + self.start_stress)

    def response(
        self, factors: Mapping[str, float], motions: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Response:
        """Return the response to loads, by name, times factors, and to moved joints; without `initial`."""
        values, gravity = self._free_values.copy(), np.zeros(3)
        for name, factor in factors.items():
            if name == GRAVITY:
                gravity = gravity + factor * self.built.system.gravity
            if name in self.load_rows:
                rows = self.load_rows[name]
                values[rows] += factor * self.values[rows]
        loaded = self.system._replace(gravity=gravity)
        forces = load_stiffness.applied_forces(loaded, self.state, values) - self._no_load
        below = np.zeros(len(self.lin.lam))
        for name, motion in (motions or {}).items():
            rows, gap = self._settled(name, motion)
            below[rows] -= gap
        return self._solve(forces[self.lin.frames].ravel(), below)

    def has_constraints(self, joint: str) -> bool:
        """Return whether a joint has forces of its own; a gear has not."""
        return len(self._constraints_of(joint)[1]) > 0

    def joint_wrench(self, joint: str, lam: Floats) -> tuple[Floats, Floats, Floats]:
        """Return force and moment on side b of a joint about its point on b, N and N m, and this point (3,), m."""
        constraints, rows = self._constraints_of(joint)
        on_frames = -tangents.forces(groups_of(constraints), self.state, np.ascontiguousarray(lam[rows]))
        b = int(constraints.frames[0, 1])
        origin, force = self.state.r[b], on_frames[b, :3]
        point = origin + quaternions.rotate(self.state.quat[b], constraints.Xb[0])
        moment = on_frames[b, 3:] - np.cross(point - origin, force)
        return force + 0.0, moment + 0.0, point  # + 0.0: no negative zeros in tables

    def spring_wrenches(self, x: Floats) -> dict[str, tuple[Floats, Floats, Floats]]:
        """Return force, N, moment, N m, and point, m, of what holds a frame to the ground elastically; by name.

        The moment is about the point where the ground is held: of interactions other than springs the origin of the frame.
        """
        wrenches: dict[str, tuple[Floats, Floats, Floats]] = {}
        for interaction in interaction_groups(self.system, self.state, Role.ENERGY):
            if interaction.table != "others":
                continue
            for k, number in enumerate(interaction.use):
                frames = interaction.group.frames[k]
                held = [int(f) for f in frames if self.lin.place[f] >= 0]
                if len(held) != 1 or len(held) == len(frames):
                    continue
                one = [
                    interaction.group._replace(
                        frames=interaction.group.frames[[k]],
                        numbers=interaction.group.numbers[[k]],
                        row=interaction.group.row[[k]],
                    )
                ]
                change = tangents.stiffness(one, self.state, np.zeros(0)).times(x)[held[0]]
                wrench = -tangents.forces(one, self.state, np.zeros(0))[held[0]] - change
                name = self.built.interaction_names[int(number)]
                force, moment, point = wrench[:3], wrench[3:], self.state.r[held[0]]
                if name in wrenches:
                    force, moment = force + wrenches[name][0], moment + wrenches[name][1]
                wrenches[name] = (force, moment, point)
        return wrenches

    def displaced(self, x: Floats, scale: float) -> State:
        """Return the state at the start displaced by a multiple of x (n, 6), for pictures."""
        return perturb_state(self.system, self.state, scale * x)

    def _solve(self, force: Floats, below: Floats) -> Response:
        """Return the response to forces (6 k,) of the moving frames and right sides (m,) of the joints."""
        lin = self.lin
        x, lam = self._solver.reactions(force, below)
        left, gap = force - lin.K @ x - lin.G.T @ lam, below - lin.G @ x
        dx, dlam = self._solver.reactions(left, gap)  # one step of iterative refinement
        x, lam = x + dx, lam + dlam
        residual = np.abs(lin.K @ x + lin.G.T @ lam - force).max(initial=0.0)
        held = float(abs(lin.K).max()) * np.abs(below).max(initial=0.0)
        size = max(np.abs(force).max(initial=0.0), _SETTLED * held)
        changed = np.abs(dx).max(initial=0.0) > _SOLVED * np.abs(x).max(initial=0.0)
        if not np.all(np.isfinite(x)) or residual > _SOLVED * size or changed:
            raise self._singular()
        motion = lin.of_frames(x)
        of_joint = lam[: len(self.state.lam)]
        return Response(motion, of_joint, self._stress(motion, of_joint))

    def _singular(self) -> ModelError:
        """Return the error that the stiffness is singular, with the motion that nothing resists."""
        layout, lin = self.built.layout, self.lin
        try:
            free = describe_loose_motions(lin, extent(lin.state.r), frame_names(layout))
        except (ModelError, eigen.UnstiffenedMotionError):
            free = ""
        return ModelError(
            f"model '{layout.name}': its stiffness is singular at the start, so that first-order theory has no solution"
            f"{f': {free}' if free else '. Hold the part that moves by a joint or a spring'}, or take linear=False"
        )

    def _stress(self, x: Floats, lam: Floats) -> Floats:
        """Return the change of stresses (g, 6) of displacements x (n, 6), by (2)."""
        system = self.system
        strain = strain_changes(self._strains, self.state, x).reshape(-1, 6)
        all_rods = system.rods
        stress: Floats = np.sum(all_rods.points.stiffness * strain[:, None, :], axis=-1)
        if not all_rods.linear.all():
            start = element_states(system, self.state)[0]
            step = _LAW_STEP / max(np.abs(strain).max(), 1e-300)
            none = np.zeros((0, 6))
            ahead, behind = (
                rod_elements.stresses(all_rods, start + sign * step * strain, none) for sign in (1, -1)
            )
            stress = np.where(all_rods.linear[:, None], stress, (ahead - behind) / (2.0 * step))
        return add_constraint_forces(system, lam, stress)

    def _constraints_of(self, joint: str) -> tuple[Constraints, Ints]:
        """Return the constraints of a joint, and their rows; none for a gear."""
        constraints = self.system.constraints
        layout = next(x for x in self.built.layout.joints if x.name == joint)
        first = first_rows(constraints)
        chosen = np.flatnonzero((first >= layout.rows[0]) & (first < layout.rows[1]))
        return constraints.chosen(chosen), np.arange(*(layout.rows if len(chosen) else (0, 0)))

    def _settled(self, joint: str, motion: Mapping[str, Any]) -> tuple[Ints, Floats]:
        """Return the rows of a joint to the ground, and the change of their g if its ground side moves."""
        displacement, rotation, center = joint_motion(self.model, self.built, joint, motion)
        of_joint, rows = self._constraints_of(joint)
        v, Omega = np.zeros_like(self.state.v), np.zeros_like(self.state.v)
        v[0], Omega[0] = displacement - np.cross(rotation, center), rotation
        return rows, evaluation.rates(groups_of(of_joint), self.state._replace(v=v, Omega=Omega))


def _strain_groups(system: System) -> list[Any]:
    """Return groups whose rows are the strains of all points of rods, two-frame elements first."""
    elements = system.elements
    m = len(elements.length)
    groups = []
    if m:
        frames = np.full((m, MOST_FRAMES), -1, np.int64)
        frames[:, :2] = elements.frames
        as_spans: Spans = no_spans()._replace(
            kind=np.full(m, SE3_SPAN),
            frames=frames,
            length=elements.length,
            coupling=np.zeros(m),
            ends=elements.frames,
            weight=elements.length,
            stiffness=elements.stiffness,
            damping=elements.damping,
            strain0=elements.strain0,
            law=np.full(m, -1),
            parameters=np.zeros((m, 0)),
            branch=np.zeros((m, 6, 6)),
            relaxation=np.zeros(m),
        )
        groups += strains_of(as_spans)
    if len(system.spans.kind):
        groups += [group._replace(row=group.row + 6 * m) for group in strains_of(system.spans)]
    return groups
