"""`cheapest_scheme`: the integrator that keeps to an error in the least time, each with the choice of `converge` for it.

What a run costs is told from those that were made: the least time for an element and a step, times the elements and steps of the
choice. So what a process does once, as loading machine code, counts for none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discretization.time.em_names import KIN, em_integrator
from rigid.errors import ModelError
from rodsim.studies.cluster import Cluster
from rodsim.studies.convergence import Convergence, Wanted, converged, scene_of
from rodsim.studies.errors import StudyError
from rodsim.studies.measures import Measure
from rodsim.studies.plain_json import dumps
from rodsim.studies.refined_runs import plan_of

ALIKE = 1.2  # times as long: not to be told apart by the clock


@dataclass(frozen=True)
class SchemeChoice:
    """What `cheapest_scheme` found: of each scheme its refinement, or why there is none."""

    scene: str
    error: float
    found: dict[str, Convergence]
    refused: dict[str, str]

    @property
    def best(self) -> str | None:
        """The scheme whose choice keeps to the error in the least time; None: none does."""
        times = {name: found.seconds for name, found in self.found.items() if found.ok}
        return min(times, key=lambda name: times[name]) if times else None

    @property
    def ok(self) -> bool:
        """Whether one keeps to the error."""
        return self.best is not None

    def text(self) -> str:
        """A line for each scheme, and the cheapest."""
        width = max(len(name) for name in (*self.found, *self.refused, "scheme"))
        lines = [
            f"{self.scene}: for an error of {self.error:g}",
            "",
            f"{'scheme':{width}s}  elements      dt (s)      error  order    time (s)",
        ]
        for name, found in self.found.items():
            lines.append(f"{name:{width}s}  {_row(found)}")
        lines += [f"{name:{width}s}  {words}" for name, words in self.refused.items()]
        return "\n".join([*lines, "", *self._verdict()])

    def _verdict(self) -> list[str]:
        best = self.best
        if best is None:
            return [f"none keeps to an error of {self.error:g}: `rodsim converge --integrator` says why"]
        least = self.found[best].seconds
        alike = [
            name
            for name, found in self.found.items()
            if name != best and found.ok and found.seconds < ALIKE * least
        ]
        told = f"; {', '.join(alike)} within {ALIKE - 1:.0%} of its time" if alike else ""
        return [f"cheapest: {best}, {least:.3g} s{told}"]

    def to_json(self) -> str:
        """The same for programs."""
        schemes = {
            name: {
                "ok": found.ok,
                "choice": None if found.choice is None else found.choice.plain(),
                "seconds": found.seconds if found.choice else None,
                "notes": found.notes,
            }
            for name, found in self.found.items()
        }
        told = {"scene": self.scene, "error": self.error, "best": self.best, "schemes": schemes}
        return dumps(told | {"refused": self.refused}, indent=2)


def _row(found: Convergence) -> str:
    """Of the table."""
    if found.choice is None:
        return f"no choice: {found.notes[0]}"
    order = min((step.order for step in found.step if not step.exact), default=float("nan"))
    choice, n = found.choice, sum(found.choice.elements.values())
    dt = f"{choice.dt:10.6g}" if choice.dt is not None else f"{'-':>10s}"
    return (
        f"{n or '-':>8}  {dt}  {choice.checked:9.2e}  {order:5.2f}  {found.seconds:10.3g}"
        f"{'' if choice.ok else '  MISSED'}"
    )


def schemes_beside(integrator: str) -> tuple[str, ...]:
    """The scheme and those of the same kin of other orders: em, em4, em6, em8, or these with -ggl.

    Raises StudyError for one that has no such kin.
    """
    own = em_integrator(integrator)
    if own is None or not own.of_substeps:
        raise StudyError(
            f"cheapest_scheme: '{integrator}' has no kin of other orders; give the schemes to choose from"
        )
    return tuple(name for name in KIN if _is_kin(name, own.hidden))


def _is_kin(name: str, hidden: bool) -> bool:
    """Whether a scheme is made of steps of `em`, or, where hidden, of `em-ggl`."""
    try:
        found = em_integrator(name)
    except ModelError:  # stands for many, with a number of its own
        return False
    return found is not None and found.of_substeps and found.hidden == hidden


def cheapest_scheme(
    scene: str | Path | Mapping[str, Any],
    schemes: Sequence[str] | None = None,
    measures: Mapping[str, Measure] | Sequence[str] | None = None,
    *,
    error: float = 1e-3,
    levels: int = 4,
    t_end: float | None = None,
    dt: float | None = None,
    folder: Path | str | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> SchemeChoice:
    """`converge` with each of several schemes, and which of them keeps to the error in the least time.

    Parameters
    ----------
    scene: as of `converge`; its step is the coarsest of the sequences, a choice has at most four times as long ones.
    schemes: integrators by name; by default that of the scene and its kin of other orders (`schemes_beside`).
    measures, error, levels, t_end, dt: as of `converge`.
    folder: each scheme has one of its own in it. scheduler, workers, progress: as of `sweep`.

    Raises
    ------
    StudyError, SceneError: the scene cannot be run with any of them, has no run, or no scheme was given.
    StudyStopped: as of `converge`.
    """
    wanted = Wanted.of(measures, error, levels)
    times = {"t_end": t_end, "dt": dt}
    own = scene_of(scene, times).whole.get("run")
    if own is None:
        raise StudyError("cheapest_scheme: the scene has no run; an equilibrium has no integrator")
    names = schemes_beside(own["integrator"]) if schemes is None else tuple(dict.fromkeys(schemes))
    if not names:
        raise StudyError("cheapest_scheme: schemes is empty; give one integrator or more")
    bases = {name: scene_of(scene, {**times, "integrator": name}) for name in names}
    plans = {name: plan_of(base, levels, motion=not wanted.measures) for name, base in bases.items()}
    found: dict[str, Convergence] = {}
    refused: dict[str, str] = {}
    with Cluster(scheduler, workers) as cluster:
        for name in names:
            of_scheme = None if folder is None else Path(folder) / name
            how = {"folder": of_scheme, "progress": progress, "cluster": cluster}
            try:
                found[name] = converged(bases[name], plans[name], wanted, how)
            except ModelError as words:  # this model does not run with it, or so coarse a step does not
                refused[name] = str(words)
    if not found:
        told = "; ".join(f"{name}: {words}" for name, words in refused.items())
        raise StudyError(f"cheapest_scheme: no scheme runs: {told}")
    return SchemeChoice(bases[names[0]].file, error, found, refused)
