"""Arc-length: a path of equilibria through limit and turning points, its events, and branches.

Along a path (y(s), f(s)) with tangent (t, f'), |t|^2 + w^2 f'^2 = 1 in the norm of `Rest`:

    x_f = -J^-1 dr/df,   f' = +-1/sqrt(|x_f|^2 + w^2),   t = f' x_f                                     (1)
    predictor: (y, f) + ds (t, f');   corrections (x, df) with J x + r + df dr/df = 0,  t . x + w^2 f' df = 0      (2)

the sign of (1) is that of the tangent before; (2) keeps to the plane across the tangent (Riks). Both unknowns of (2)
come from two solutions with the factors of J, whose stresses are predicted (`discretization.statics.strains`).

Events: f' changes its sign, a limit of the load; the rate of a monitor does, a turning point; the tangent is singular although
the load does not turn, a bifurcation: det J f' changes its sign (a simple one), or the number of negative eigenvalues by
more than a limit takes (also a double one, `discretization.statics.stability`). Each is located
on the path by regula falsi in ds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from discretization.statics.forces import SINGULAR, SOLVED
from discretization.statics.newton_at_rest import MOST, NOT_CONVERGED, SAFE, STALLED, WORSE, Solved, take
from discretization.statics.rest import Rest, Stand
from discretization.statics.stability import negative_count, smallest_stiffness
from rigid.system import Floats, State

WANTED = 6  # iterations a step
SMALLEST_STEP = 1e-7
LARGEST_STEP = 0.5  # in the norm of `Rest`
TURN = 0.35  # rad, most that a frame turns in a predictor
STRAIGHT = 0.8  # least cosine between tangents that follow each other
CLOSE = 1e-11  # of a step: where an event is located
NEAR = 1e-3  # the same where the tangent is singular there and steps to it do not end
LOAD_WEIGHT = 0.1  # w^2 over |x_f|^2 at the start

LIMIT, BIFURCATION = "limit", "bifurcation"

Monitor = Callable[[State], float]


class Tangent(NamedTuple):
    """Direction of the path at an equilibrium, and what tells events apart there."""

    x: Floats
    factor: float
    sign: int  # of det J
    down: int  # negative eigenvalues of K on the motions allowed, -1: not known
    stiffness: float  # of the eigenvalue nearest to zero
    rates: dict[str, float]  # of the monitors


class Event(NamedTuple):
    """A point of the path with something special."""

    kind: str  # LIMIT, BIFURCATION, or "turning <monitor>", "stop <what>"
    factor: float
    monitors: dict[str, float]


class Arc:
    """Follows the path of `rest`, from an equilibrium of it."""

    def __init__(self, rest: Rest, monitors: Mapping[str, Monitor], forward: bool = True):
        self.rest, self.monitors = rest, dict(monitors)
        random = np.random.default_rng(0)  # any fixed vector
        self._probe = np.zeros(len(rest.work.residual))
        self._probe[rest.unknowns] = random.standard_normal(rest.unknowns.shape) * np.sqrt(
            rest.weight[rest.unknowns]
        )
        self._weight, self._down = 0.0, -1
        self.located = 0.0  # step of the last `locate`
        self.factor = rest.factor  # load factor where it found zero
        x = self._rate()
        self._weight = LOAD_WEIGHT * max(rest.norm(x) ** 2, 1e-12)
        self.tangent = self._tangent(x, None, 1.0 if forward else -1.0)

    def _rate(self) -> Floats:
        """x_f at the present equilibrium; its tangent is assembled and factored."""
        rest = self.rest
        rest.assemble(True)
        self._down = negative_count(rest)
        if not rest.factorise():
            raise SingularTangent
        x = rest.solve(rest.load_rate())
        if not np.isfinite(rest.norm(x)):
            raise SingularTangent
        return x

    def _tangent(self, x: Floats, before: Tangent | None, sign: float) -> Tangent:
        rest = self.rest
        rate = sign / np.sqrt(rest.norm(x) ** 2 + self._weight)
        if before is not None:
            along = np.dot(rest.weight * before.x, x) + self._weight * before.factor
            rate = np.copysign(abs(rate), along)
        direction = rate * x
        stiffness = smallest_stiffness(rest)
        rates = {name: self._monitor_rate(monitor, direction) for name, monitor in self.monitors.items()}
        return Tangent(direction, float(rate), rest.determinant_sign(), self._down, stiffness, rates)

    def _monitor_rate(self, monitor: Monitor, x: Floats) -> float:
        small = 1e-5 / max(self.rest.norm(x), 1e-300)
        kept, ends = self.rest.keep(), []
        for t in (small, -small):
            self.rest.advance(x, t)
            ends.append(monitor(self.rest.state))
            self.rest.back_to(kept)
        return (ends[0] - ends[1]) / (2.0 * small)

    def measured(self) -> dict[str, float]:
        """The monitors' values."""
        return {name: float(monitor(self.rest.state)) for name, monitor in self.monitors.items()}

    def longest(self) -> float:
        """Step whose predictor turns no frame too far."""
        turn = self.rest.largest_turn(self.tangent.x)
        return min(LARGEST_STEP, TURN / max(turn, 1e-300))

    def step(self, ds: float) -> Solved:
        """One step of (2) from the present equilibrium; its tangent is renewed. On failure nothing has moved."""
        kept, before = self.rest.keep(), self.tangent
        found = self._corrected(ds)
        if found.status == SOLVED:
            try:
                self.tangent = self._tangent(self._rate(), before, 1.0)
            except SingularTangent:
                found = found._replace(status=SINGULAR)
        if found.status == SOLVED and self._cosine(before) < STRAIGHT:
            found = found._replace(status=NOT_CONVERGED)
        if found.status != SOLVED:
            self.rest.back_to(kept)
            self.tangent = before
        return found

    def _cosine(self, before: Tangent) -> float:
        own = self.tangent
        product = np.dot(self.rest.weight * before.x, own.x) + self._weight * before.factor * own.factor
        return float(product)

    def _corrected(self, ds: float) -> Solved:
        rest, t, rate = self.rest, self.tangent.x, self.tangent.factor
        status = take(rest, ds * t)
        if status != SOLVED:
            return Solved(status, 0, -1.0)
        rest.load_at(rest.factor + ds * rate)
        smallest, worse, before = float("inf"), 0, float("inf")
        for iteration in range(MOST):
            level = rest.assemble(False)
            if level < 0.0:
                return Solved(NOT_CONVERGED, iteration, level)
            if level <= rest.solved_at() and iteration:
                return Solved(SOLVED, iteration, level)
            rest.foreseen_tangent()
            if not rest.factorise():
                return Solved(SINGULAR, iteration, level)
            residual = rest.residual.copy()
            free, of_load = rest.solve(residual), rest.solve(rest.load_rate())
            across = np.dot(rest.weight * t, of_load) + self._weight * rate
            change = -np.dot(rest.weight * t, free) / across
            x = free + change * of_load
            size = np.hypot(rest.norm(x), np.sqrt(self._weight) * change)
            if not size < 1e6:
                return Solved(NOT_CONVERGED, iteration, level)
            if (
                level <= SAFE
                and iteration > 1
                and ((size < STALLED and level > 0.3 * before) or size < 1e-13)
            ):
                return Solved(SOLVED, iteration, level)
            worse = worse + 1 if size > 0.9 * smallest else 0
            if worse > WORSE or size > 3.0 * abs(ds) + 1e-12:
                return Solved(NOT_CONVERGED, iteration, level)
            smallest, before = min(smallest, size), level
            status = take(rest, x)
            if status != SOLVED:
                return Solved(status, iteration, level)
            rest.load_at(rest.factor + change)
        return Solved(NOT_CONVERGED, MOST, level)

    def locate(self, start: tuple[Stand, Tangent], ds: float, value: Callable[[], float]) -> bool:
        """Move to where value() passes zero within the step ds from `start`; whether it was found."""
        self.go_back(start)
        low, at_low = 0.0, value()
        measured = {low: (self.rest.factor, at_low)}  # load factor and value by step
        self.located, self.factor = low, self.rest.factor
        if at_low == 0.0:
            return True
        if self.step(ds).status != SOLVED:
            return False
        high, at_high = ds, value()
        measured[high] = self.rest.factor, at_high
        if at_low * at_high > 0.0:
            return False
        side, failed = 0, 0
        for _ in range(60):
            middle = (low * at_high - high * at_low) / (at_high - at_low)
            if failed or not min(low, high) < middle < max(low, high):
                # where the tangent is singular no step ends: beside it some do
                middle = low + (high - low) * (0.5, 0.25, 0.75)[failed % 3]
            self.go_back(start)
            if self.step(middle).status != SOLVED:
                failed += 1
                if failed == 3:
                    self.located, self.factor = low, _zero_between(*measured[low], *measured[high])
                    self.go_back(start)
                    return abs(high - low) < NEAR * abs(ds) and self.step(self.located).status == SOLVED
                continue
            self.located, failed = middle, 0
            at_middle = value()
            measured[middle], self.factor = (self.rest.factor, at_middle), self.rest.factor
            if at_middle == 0.0 or abs(high - low) < CLOSE * abs(ds):
                return True
            if at_middle * at_high > 0.0:
                if abs(middle - high) < CLOSE * abs(ds):
                    return True
                high, at_high = middle, at_middle
                at_low, side = (0.5 * at_low if side == 1 else at_low), 1
            else:
                if abs(middle - low) < CLOSE * abs(ds):
                    return True
                low, at_low = middle, at_middle
                at_high, side = (0.5 * at_high if side == -1 else at_high), -1
        return True

    def here(self) -> tuple[Stand, Tangent]:
        """The present equilibrium, to come back to."""
        return self.rest.keep(), self.tangent

    def go_back(self, start: tuple[Stand, Tangent]) -> None:
        """To what `here` gave."""
        self.rest.back_to(start[0])
        self.tangent = start[1]

    def null_vector(self) -> Floats:
        """Of the tangent at a bifurcation, across the path, of norm 1: by inverse iteration."""
        rest = self.rest
        rest.assemble(True)
        rest.factorise()
        residual = self._probe.copy()
        x: Floats = np.zeros(rest.size)
        for _ in range(4):
            x = rest.solve(-residual)
            x /= rest.norm(x)
            t = self.tangent.x / max(rest.norm(self.tangent.x), 1e-300)
            x = x - np.dot(rest.weight * t, x) * t
            x /= rest.norm(x)
            residual[: rest.size] = np.where(rest.is_row, 0.0, rest.weight * x)
        return x

    def switch(self, sign: float = 1.0) -> bool:
        """From a bifurcation onto the branch along the null vector; whether a step on it was found."""
        start = self.here()
        null = sign * self.null_vector()
        ds = min(0.05, TURN / max(self.rest.largest_turn(null), 1e-300))
        while ds > 1e-4:
            self.tangent = start[1]._replace(x=null, factor=0.0)
            moved = self._corrected(ds)
            if moved.status == SOLVED:
                try:
                    guess = start[1]._replace(x=null, factor=0.0)
                    self.tangent = self._tangent(self._rate(), guess, 1.0)
                    return True
                except SingularTangent:
                    pass
            self.go_back(start)
            ds *= 0.5
        return False


def _zero_between(f0: float, v0: float, f1: float, v1: float) -> float:
    return (f0 * v1 - f1 * v0) / (v1 - v0)


class SingularTangent(Exception):
    """The tangent has no factors, so that a path cannot begin there."""
