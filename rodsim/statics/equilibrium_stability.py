"""What is said of an equilibrium that was found: the ways down from it, and how well its forces are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.linearisation import applied, eigen
from discretization.statics.dynamic_relaxation import relax
from discretization.statics.forces import SOLVED
from discretization.statics.newton_at_rest import CLEAR, largest_load, unbalanced
from discretization.statics.rest import Rest
from discretization.statics.stability import negative_count
from rigid.errors import ModelError, RoundedForcesWarning, UnstableEquilibriumWarning
from rigid.system import Floats
from rigid.user_warnings import warn_user
from rodsim.building.build import Built
from rodsim.small_motions.free_motions import MOST, worded
from rodsim.small_motions.linear_equations import frame_names
from rodsim.statics.equilibrium_results import Record
from rodsim.statics.motions_at_rest import about_equilibrium

MOST_LEFT = 3  # equilibria that are left for a next one, which may be unstable as well
PUSH = 1e-2  # of the model's size, or rad: so far down


class WaysDown(NamedTuple):
    """Motions that lower the energy."""

    pivots: int  # negative ones of the stiffness, on the motions that the joints allow
    words: str  # what moves along one of them
    shape: Floats  # (n, 6) displacements and turns of the frames, the same


def ways_down(built: Built, rest: Rest) -> WaysDown | None:
    """At the equilibrium where `rest` is; None: there are none, or it cannot be told, as under follower loads.

    The pivots count; where there are negative ones, or one that is zero, as of bodies that nothing but joints holds, the
    eigenvalues say whether they are more than rounding.
    """
    system = rest.of_model
    if applied.without_potential(system, rest.values) or applied.open_edges(system):
        return None
    rest.assemble(True)
    count = negative_count(rest)
    if count == 0:
        return None
    try:
        lin = about_equilibrium(built, rest)
        if lin.unsymmetric or lin.free <= 0:
            return None
        most, few = min(max(count, 0) + MOST, lin.free), MOST
        while True:
            # those nearest to zero, a few at a time: one negative eigenvalue is enough
            mu, phi, zero = eigen.conservative(lin, min(few, most))
            down = (mu < 0.0) & ~np.asarray(zero, bool)
            if down.any() or few >= most:
                break
            few *= 2
    except (ModelError, eigen.Floppy):
        return None
    if not down.any():
        return None
    shape = lin.of_frames(phi[np.argmin(mu)])
    _, words = worded(shape, rest.length, frame_names(built.layout))
    return WaysDown(max(count - int(np.sum(zero)), int(down.sum())), words, shape)


def leave(built: Built, rest: Rest, record: Record) -> None:
    """From an unstable equilibrium, where `rest` is, to a stable one under the same loads: a push down one of the ways, and
    the damped motion from there, into the record.
    """
    for _ in range(MOST_LEFT):
        ways = ways_down(built, rest)
        if ways is None:
            return
        kept, size = (
            rest.keep(),
            rest.length * np.abs(ways.shape[:, 3:]).max() + np.abs(ways.shape[:, :3]).max(),
        )
        x = np.zeros(rest.size)
        x[rest.unknowns] = PUSH * rest.length / size * ways.shape[rest.frames]
        pushed = rest.advance(x)
        relaxed = relax(rest, every_way=True) if pushed == SOLVED else None
        if relaxed is None or relaxed.status != SOLVED:
            rest.back_to(kept)
            return
        record.settings["left"] = record.settings.get("left", 0) + relaxed.iterations
        record.add(rest.factor, rest, relaxed.iterations)


class Unstable(Exception):
    """An equilibrium that is unstable was reached, and `unstable="stop"` ends the path before it."""

    def __init__(self, factor: float, ways: WaysDown) -> None:
        super().__init__(factor)
        self.factor, self.ways = factor, ways


def refuse_unstable(built: Built, rest: Rest) -> None:
    """Raise Unstable if the equilibrium where `rest` is has ways down."""
    ways = ways_down(built, rest)
    if ways is not None:
        raise Unstable(float(rest.factor), ways)


def judge(built: Built, rest: Rest, record: Record, warn: bool) -> None:
    """Note in the record, and on demand warn, where its last equilibrium, that of `rest`, is unstable or drowned in rounding."""
    model = f"model '{built.layout.name}'"
    ways = ways_down(built, rest)
    if ways is not None:
        first = _first_unstable(built, rest, record)
        record.settings["unstable"] = {"pivots": ways.pivots, "from": first}
        if warn:
            plural = "s" if ways.pivots > 1 else ""
            warn_user(
                f"{model}: the equilibrium found is unstable, as are those from load factor {first:.6g} on: its stiffness has "
                f"{ways.pivots} negative pivot{plural}, along one way down {ways.words}; unstable='leave' goes on "
                "from there to a stable one, method=ArcLength(branch=1) leaves the path where it became unstable",
                UnstableEquilibriumWarning,
            )
    rest.assemble(False)
    left, load = unbalanced(rest), largest_load(rest)
    if left > CLEAR * load > 0.0:
        record.settings["unbalanced"] = left / load
        if warn:
            warn_user(
                f"{model}: {left:.3g} N are left unbalanced, {left / load:.2g} of its loads together ({load:.3g} N): these are "
                "so small against its stiffness that rounding hides them; displacements along what is soft are right, "
                "forces along what is stiff are not: give such parts less stiffness, or join them by rigid bodies",
                RoundedForcesWarning,
            )


def _first_unstable(built: Built, rest: Rest, record: Record) -> float:
    """Load factor of the first equilibrium of those at the end of the path that all have ways down, as the last has."""
    kept, first = rest.keep(), record.factors[-1]
    for state, factor in zip(record.states[-2::-1], record.factors[-2::-1], strict=True):
        rest.stand(state, factor)
        if ways_down(built, rest) is None:
            break
        first = factor
    rest.back_to(kept)
    return float(first)
