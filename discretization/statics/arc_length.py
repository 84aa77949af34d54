"""Arc-length continuation: follow a path of equilibria through limit and turning points, its events, and branches.

Along a path (y(s), f(s)) with tangent (t, f'), |t|^2 + w^2 f'^2 = 1 in the norm of `EquilibriumSystem`:

    x_f = -J^-1 dr/df,   f' = +-1/sqrt(|x_f|^2 + w^2),   t = f' x_f                                     (1)
    predictor: (y, f) + ds (t, f');   corrections (x, df) with J x + r + df dr/df = 0,  t . x + w^2 f' df = 0      (2)

The sign of (1) is that of the previous tangent; (2) stays in the plane normal to the tangent (Riks). Both unknowns of (2)
come from two solutions with the factors of J, whose stresses are predicted (`discretization.statics.strains`).

Events: if f' changes its sign, the event is a limit of the load; if the rate of a monitor does, a turning point. If the
tangent is singular although f' does not change its sign, it is a bifurcation. Then det J f' changes its sign (a simple
bifurcation), or the number of negative eigenvalues changes by more than at a limit (also a double one,
`discretization.statics.stability`). Each event is located on the path by regula falsi in ds.

A step is accepted only if it stays on one path. Next to a bifurcation of the perfect structure an imperfect one has two paths
that are close to each other, and (2) can end on the other one. Three tests detect this: the tangents at both ends are nearly
parallel; their mean is nearly parallel to the chord; if an event is located, the two ends of the bracket approach each other
as the bracket shrinks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import NamedTuple

import numpy as np

from discretization.linearisation.load_stiffness import loads_without_potential
from discretization.statics.equilibrium_newton import (
    MAX_ITERATIONS,
    NOT_CONVERGED,
    SAFE,
    STALLED,
    WORSE,
    NewtonOutcome,
    apply_correction,
)
from discretization.statics.equilibrium_system import EquilibriumSystem, SavedEquilibrium
from discretization.statics.forces import SINGULAR, SOLVED
from discretization.statics.stability import negative_count, negative_real_count, smallest_stiffness
from rigid import quaternions
from rigid.system import Floats, State

TARGET_ITERATIONS = 6  # desired number of iterations per step
SMALLEST_STEP = 1e-7
LARGEST_STEP = 0.5  # largest step, in the norm of `EquilibriumSystem`
PREDICTOR_ROTATION = 0.35  # rad, largest rotation of a frame in a predictor
STRAIGHT = 0.8  # least cosine between consecutive tangents
BRANCH_OFFSET = (
    0.2  # largest part of a chord, relative, that is not a combination of the tangents at its ends
)
NOISE = 1e-7  # round-off of this part, in the norm of `EquilibriumSystem`
FINE = 1e-5  # fraction of a step: between closer points near a bifurcation, round-off may reach JUMP
JUMP = 1e-4  # round-off in that case, in the norm of `EquilibriumSystem`
LOOSE = 1e-2  # value used as round-off if no shorter arc helps, in the norm of `EquilibriumSystem`
EPS = 2.220446049250313e-16
ROUNDED = 16.0  # round-off of eigenvalues, in units of the round-off of a diagonal entry
RANGE = (
    # range of eigenvalues of unsymmetric tangents that are followed, over the smallest stiffness at the start
    1e6
)
CLOSE = 1e-11  # fraction of a step: accuracy of the location of an event
NEAR = 1e-3  # accuracy if the tangent is singular at the event and steps to it do not converge
LOAD_WEIGHT = 0.1  # w^2 over |x_f|^2 at the start
LEAST_LOAD_WEIGHT = 1.0  # least w^2, also if the structure hardly moves at the start, as a slender column

LIMIT, BIFURCATION = "limit", "bifurcation"

Monitor = Callable[[State], float]


class Tangent(NamedTuple):
    """Direction of the path at an equilibrium, and the indicators that distinguish events there."""

    x: Floats
    factor: float
    sign: int  # sign of det J
    down: int  # number of negative eigenvalues of K on the motions allowed, beyond round-off; -1: not known
    stiffness: float  # size of the eigenvalue nearest to zero
    noise: float  # round-off of this eigenvalue
    rates: dict[str, float]  # rates of the monitors


class Search(Enum):
    """Outcome of the search for an event."""

    FOUND = "found"
    NOT_FOUND = "not found"
    JUMPED = "jumped"  # the value changes its sign between two paths, not on one


class Event(NamedTuple):
    """Critical point of the path: its kind, load factor and monitors."""

    kind: str  # LIMIT, BIFURCATION, or "turning <monitor>", "stop <what>"
    factor: float
    monitors: dict[str, float]


SavedPoint = tuple[SavedEquilibrium, Tangent]  # an equilibrium of the path that can be restored


class ArcLengthPath:
    """Arc-length stepper that follows the path of `statics` from an equilibrium of it."""

    def __init__(self, statics: EquilibriumSystem, monitors: Mapping[str, Monitor], forward: bool = True):
        self.statics, self.monitors = statics, dict(monitors)
        random = np.random.default_rng(0)  # any fixed vector
        self._probe = np.zeros(len(statics.work.residual))
        self._probe[statics.unknowns] = random.standard_normal(statics.unknowns.shape) * np.sqrt(
            statics.weight[statics.unknowns]
        )
        self._weight, self._range, self._noise, self._down = 0.0, 0.0, 0.0, -1
        self._has_potential = not loads_without_potential(
            statics.system_for_linearisation, statics.loading.values(1.0)
        )
        self.located = 0.0  # step length found by the last `locate`
        self.loose = False  # True if paths nearer to each other than LOOSE count as one
        self.factor = statics.factor  # load factor at which `locate` found zero
        x = self._rate()
        self._lightest = LOAD_WEIGHT * max(statics.norm(x) ** 2, 1e-12)
        self._weight = max(self._lightest, LEAST_LOAD_WEIGHT)
        self.tangent = self._tangent(x, None, 1.0 if forward else -1.0)

    def weigh_by_compliance(self) -> bool:
        """Weigh the load factor by the compliance alone from here on; return False if it is weighed so already.

        If the motion is small compared with the model, as for a truss with a far anchor, w^2 = 1 makes an arc a load step, which
        does not pass a limit of the load.
        """
        if self._weight <= self._lightest:
            return False
        self._weight = self._lightest
        self.tangent = self._tangent(self._rate(), self.tangent, 1.0)
        return True

    def _rate(self) -> Floats:
        """Return x_f at the present equilibrium; its tangent is assembled and factorised."""
        statics = self.statics
        statics.assemble(True)
        self._diagonal = statics.stiffness_diagonal()
        if self._has_potential:
            self._down = negative_count(statics, self._noise)
        if not statics.factorise():
            raise SingularTangent
        if not self._has_potential:
            self._range = self._range or RANGE * smallest_stiffness(statics).size
            self._down = negative_real_count(statics, self._noise, self._range)
        x = statics.solve(statics.load_rate())
        if not np.isfinite(statics.norm(x)):
            raise SingularTangent
        return x

    def _tangent(self, x: Floats, before: Tangent | None, sign: float) -> Tangent:
        statics = self.statics
        rate = sign / np.sqrt(statics.norm(x) ** 2 + self._weight)
        if before is not None:
            along = np.dot(statics.weight * before.x, x) + self._weight * before.factor
            rate = np.copysign(abs(rate), along)
        direction = rate * x
        smallest = smallest_stiffness(statics)
        frames = smallest.motion[statics.unknowns]
        self._noise = ROUNDED * EPS * float(np.sum(self._diagonal * frames**2))
        rates = {name: self._monitor_rate(monitor, direction) for name, monitor in self.monitors.items()}
        return Tangent(
            x=direction,
            factor=float(rate),
            sign=statics.determinant_sign(),
            down=self._down,
            stiffness=smallest.size,
            noise=self._noise,
            rates=rates,
        )

    def _monitor_rate(self, monitor: Monitor, x: Floats) -> float:
        small = 1e-5 / max(self.statics.norm(x), 1e-300)
        saved, ends = self.statics.save(), []
        for t in (small, -small):
            self.statics.advance(x, t)
            ends.append(monitor(self.statics.state))
            self.statics.restore_saved(saved)
        return (ends[0] - ends[1]) / (2.0 * small)

    def monitor_values(self) -> dict[str, float]:
        """Return the values of the monitors at the present equilibrium."""
        return {name: float(monitor(self.statics.state)) for name, monitor in self.monitors.items()}

    def longest(self) -> float:
        """Return the longest step whose predictor rotates no frame too far."""
        angle = self.statics.largest_rotation(self.tangent.x)
        return min(LARGEST_STEP, PREDICTOR_ROTATION / max(angle, 1e-300))

    def step(self, ds: float) -> NewtonOutcome:
        """Take one step of (2) from the present equilibrium and update the tangent. On failure nothing has moved."""
        saved, before = self.statics.save(), self.tangent
        outcome = self._correct(ds)
        if outcome.status == SOLVED:
            try:
                self.tangent = self._tangent(self._rate(), before, 1.0)
            except SingularTangent:
                outcome = outcome._replace(status=SINGULAR)
        if outcome.status == SOLVED and not self._smooth(saved, before):
            outcome = outcome._replace(status=NOT_CONVERGED)
        if outcome.status != SOLVED:
            self.statics.restore_saved(saved)
            self.tangent = before
        return outcome

    def _smooth(self, start: SavedEquilibrium, before: Tangent) -> bool:
        """Return True if the step from `start` stays on one path: its tangents and its chord are nearly parallel."""
        after = self.tangent
        if self._product(before.x, before.factor, after.x, after.factor) < STRAIGHT:
            return False
        return self._connected(
            (start, before), self.current_equilibrium(), 1.0, LOOSE if self.loose else NOISE
        )

    def _connected(self, a: SavedPoint, b: SavedPoint, fraction: float, noise: float) -> bool:
        """Return True if the chord between two equilibria is a combination of their tangents.

        This holds on a path with or without a kink.

        fraction: length of the chord as a fraction of a whole step; on a smooth path the remainder is of higher order in it.
        noise: round-off of the chord.
        """
        x, change = self._chord(a[0], b[0])
        (x0, f0), (x1, f1) = ((tangent.x, tangent.factor) for tangent in (a[1], b[1]))
        length = np.sqrt(self._product(x, change, x, change))
        if length <= noise:
            return True  # round-off may reverse it
        mean, rate = 0.5 * (x0 + x1), 0.5 * (f0 + f1)
        along = self._product(x, change, mean, rate) / self._product(mean, rate, mean, rate)
        x, change = x - along * mean, change - along * rate
        bend, bend_factor = along * (x1 - x0), along * (f1 - f0)
        square = self._product(bend, bend_factor, bend, bend_factor)
        part = (
            np.clip(self._product(x, change, bend, bend_factor) / square, -0.5, 0.5) if square > 0.0 else 0.0
        )
        x, change = x - part * bend, change - part * bend_factor
        distance = np.sqrt(self._product(x, change, x, change))
        return bool(along > 0.0 and distance <= BRANCH_OFFSET * fraction * length + noise)

    def _product(self, x: Floats, f: float, y: Floats, g: float) -> float:
        """Return the product of two directions (x, f) and (y, g)."""
        return float(np.dot(self.statics.weight * x, y) + self._weight * f * g)

    def _chord(self, a: SavedEquilibrium, b: SavedEquilibrium) -> tuple[Floats, float]:
        """Return the chord from equilibrium a to equilibrium b.

        It consists of displacements and rotations (size,), m and rad, and the change of the load factor.
        """
        statics = self.statics
        state_a, state_b = statics.state_of(a), statics.state_of(b)
        rotations = quaternions.multiply(
            state_b.quat[statics.frames], quaternions.conjugate(state_a.quat[statics.frames])
        )
        x = np.zeros(statics.size)
        x[statics.unknowns[:, :3]] = state_b.r[statics.frames] - state_a.r[statics.frames]
        x[statics.unknowns[:, 3:]] = quaternions.to_rotation_vector(rotations)
        return x, b[1] - a[1]

    def _correct(self, ds: float, from_bifurcation: bool = False) -> NewtonOutcome:
        """Take one step of (2) without a test of where it ends.

        At a bifurcation (2) is singular, because dr/df has no part along the null vector t. The first correction keeps the load
        factor constant; a force along t, which the next correction removes, enforces the plane normal to t.
        """
        statics, t, rate = self.statics, self.tangent.x, self.tangent.factor
        status = apply_correction(statics, ds * t)
        if status != SOLVED:
            return NewtonOutcome(status, 0, -1.0)
        statics.load_at(statics.factor + ds * rate)
        smallest, n_worse, before = float("inf"), 0, float("inf")
        for iteration in range(MAX_ITERATIONS):
            level = statics.assemble(False)
            if level < 0.0:
                return NewtonOutcome(NOT_CONVERGED, iteration, level)
            if level <= statics.convergence_level() and iteration:
                return NewtonOutcome(SOLVED, iteration, level)
            statics.assemble_predicted_tangent()
            if not statics.factorise():
                return NewtonOutcome(SINGULAR, iteration, level)
            residual = statics.residual.copy()
            without_load = statics.solve(residual)
            if from_bifurcation and not iteration:
                response = statics.solve(self._force_along(t))
                change = 0.0
                x = (
                    without_load
                    - np.dot(statics.weight * t, without_load)
                    / np.dot(statics.weight * t, response)
                    * response
                )
            else:
                of_load = statics.solve(statics.load_rate())
                across = np.dot(statics.weight * t, of_load) + self._weight * rate
                change = -np.dot(statics.weight * t, without_load) / across
                x = without_load + change * of_load
            size = np.hypot(statics.norm(x), np.sqrt(self._weight) * change)
            if not size < 1e6:
                return NewtonOutcome(NOT_CONVERGED, iteration, level)
            if (
                level <= SAFE
                and iteration > 1
                and ((size < STALLED and level > 0.3 * before) or size < 1e-13)
            ):
                return NewtonOutcome(SOLVED, iteration, level)
            n_worse = n_worse + 1 if size > 0.9 * smallest else 0
            if n_worse > WORSE or size > 3.0 * abs(ds) + 1e-12:
                return NewtonOutcome(NOT_CONVERGED, iteration, level)
            smallest, before = min(smallest, size), level
            status = apply_correction(statics, x)
            if status != SOLVED:
                return NewtonOutcome(status, iteration, level)
            statics.load_at(statics.factor + change)
        return NewtonOutcome(NOT_CONVERGED, MAX_ITERATIONS, level)

    def locate(self, start: SavedPoint, ds: float, value: Callable[[], float]) -> Search:
        """Move to the point within the step ds from `start` at which value() passes zero."""
        self.restore(start)
        low, at_low, low_end = 0.0, value(), start
        measured = {low: (self.statics.factor, at_low)}  # load factor and value by step
        self.located, self.factor = low, self.statics.factor
        if at_low == 0.0:
            return Search.FOUND
        if self.step(ds).status != SOLVED:
            return Search.NOT_FOUND
        high, at_high, high_end = ds, value(), self.current_equilibrium()
        measured[high] = self.statics.factor, at_high
        if at_low * at_high > 0.0:
            return Search.NOT_FOUND
        side, failed = 0, 0
        for _ in range(60):
            fraction = abs((high - low) / ds)
            ends = (low_end, high_end) if low < high else (high_end, low_end)
            if not self._connected(
                *ends, fraction, LOOSE if self.loose else JUMP if fraction < FINE else NOISE
            ):
                return Search.JUMPED
            middle = (low * at_high - high * at_low) / (at_high - at_low)
            if failed or not min(low, high) < middle < max(low, high):
                # no step converges to a point with a singular tangent; steps to points next to it may
                middle = low + (high - low) * (0.5, 0.25, 0.75)[failed % 3]
            self.restore(start)
            if self.step(middle).status != SOLVED:
                failed += 1
                if failed == 3:
                    self.located, self.factor = low, _zero_between(*measured[low], *measured[high])
                    self.restore(start)
                    near = abs(high - low) < NEAR * abs(ds) and self.step(self.located).status == SOLVED
                    return Search.FOUND if near else Search.NOT_FOUND
                continue
            self.located, failed = middle, 0
            at_middle = value()
            measured[middle], self.factor = (self.statics.factor, at_middle), self.statics.factor
            if at_middle == 0.0 or abs(high - low) < CLOSE * abs(ds):
                return Search.FOUND
            if at_middle * at_high > 0.0:
                if abs(middle - high) < CLOSE * abs(ds):
                    return Search.FOUND
                high, at_high, high_end = middle, at_middle, self.current_equilibrium()
                at_low, side = (0.5 * at_low if side == 1 else at_low), 1
            else:
                if abs(middle - low) < CLOSE * abs(ds):
                    return Search.FOUND
                low, at_low, low_end = middle, at_middle, self.current_equilibrium()
                at_high, side = (0.5 * at_high if side == -1 else at_high), -1
        return Search.FOUND

    def current_equilibrium(self) -> SavedPoint:
        """Return the present equilibrium, so that it can be restored by `restore`."""
        return self.statics.save(), self.tangent

    def restore(self, start: SavedPoint) -> None:
        """Restore the equilibrium returned by `current_equilibrium`."""
        self.statics.restore_saved(start[0])
        self.tangent = start[1]

    def null_vector(self, along: Tangent) -> Floats:
        """Return the null vector of the tangent at a bifurcation, normal to the path, of norm 1, by inverse iteration.

        along: tangent of the path next to the bifurcation; at it, round-off over an eigenvalue of zero makes (1) the null vector.
        """
        statics = self.statics
        statics.assemble(True)
        statics.factorise()
        residual: Floats = self._probe.copy()
        x: Floats = np.zeros(statics.size)
        for _ in range(4):
            x = statics.solve(-residual)
            x /= statics.norm(x)
            t = along.x / max(statics.norm(along.x), 1e-300)
            x = x - np.dot(statics.weight * t, x) * t
            x /= statics.norm(x)
            residual = self._force_along(x)
        return x

    def _force_along(self, x: Floats) -> Floats:
        """Return a residual (N + 6,) that pulls every frame along x; the rows of joints are zero."""
        statics = self.statics
        residual = np.zeros(len(statics.work.residual))
        residual[: statics.size] = np.where(statics.is_row, 0.0, statics.weight * x)
        return residual

    def switch(self, along: Tangent, sign: float = 1.0) -> bool:
        """Move from a bifurcation onto the branch along the null vector; return True if a step on it was found.

        along: tangent of the path next to the bifurcation. sign: side of the branch.
        """
        start = self.current_equilibrium()
        null = sign * self.null_vector(along)
        ds = min(0.05, PREDICTOR_ROTATION / max(self.statics.largest_rotation(null), 1e-300))
        while ds > 1e-4:
            self.tangent = start[1]._replace(x=null, factor=0.0)
            outcome = self._correct(ds, from_bifurcation=True)
            if outcome.status == SOLVED:
                try:
                    guess = start[1]._replace(x=null, factor=0.0)
                    self.tangent = self._tangent(self._rate(), guess, 1.0)
                    return True
                except SingularTangent:
                    pass
            self.restore(start)
            ds *= 0.5
        return False


def _zero_between(f0: float, v0: float, f1: float, v1: float) -> float:
    return (f0 * v1 - f1 * v0) / (v1 - v0)


class SingularTangent(Exception):
    """The tangent has no factors, so that a path cannot begin there."""
