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
    """Hold the refinements of several integrators, which `cheapest_scheme` returns.

    Parameters
    ----------
    scene : str
        Name of the scene file.
    error : float
        Relative error asked for.
    found : dict of str to Convergence
        For each integrator its refinement.
    refused : dict of str to str
        For each integrator that does not run this model, or not with so coarse a step, the message.

    Examples
    --------
    >>> from rodsim.studies import cheapest_scheme
    >>> pin = {"name": "pin", "kind": "spherical", "a": {"ground": [0, 0, 0]}, "b": "bob"}
    >>> box = {"type": "box", "size": [0.1, 0.1, 0.1], "mass": 1}
    >>> scene = {"bodies": [{"name": "bob", "shape": box, "position": [1, 0, 0]}], "joints": [pin]}
    >>> scene |= {"gravity": [0, 0, -10], "run": {"t_end": 0.4, "dt": 0.02}}
    >>> choice = cheapest_scheme(scene, ["em", "em4"], levels=3, workers=0, progress=False)
    >>> choice.ok, sorted(choice.found)
    (True, ['em', 'em4'])
    """

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
        """Return a line for each integrator, and the cheapest, as text.

        Returns
        -------
        str
            Elements, step, error, order and time of each integrator, or why it has none.
        """
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
        """Return the choices of all integrators as JSON.

        Returns
        -------
        str
            An object with the keys "scene", "error", "best", "schemes" and "refused".
        """
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
    """The scheme and its variants of other orders: em, em4, em6, em8, or these with -ggl.

    Raises StudyError for one that has no such kin.
    """
    own = em_integrator(integrator)
    if own is None or not own.of_substeps:
        raise StudyError(
            f"cheapest_scheme: '{integrator}' has no variants of other orders; give the schemes to choose from"
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
    """Refine a scene with each of several integrators, and find the one that keeps to an error in the least time.

    Parameters
    ----------
    scene : str, Path or mapping
        File or data of a scene, as of `converge`. Its step is the coarsest of the sequences; a choice has at most four times as
        long ones.
    schemes : sequence of str, optional
        Names of integrators. By default that of the scene and those of other orders in its family (`schemes_beside`): "em",
        "em4", "em6" and "em8", or these with "-ggl".
    measures : mapping of str to str or callable, or sequence of str, optional
        As of `converge`; by default the motion.
    error : float, default 1e-3
        Relative error that the choices must keep to.
    levels : int, default 4
        Number of levels of each refinement, 3 or more.
    t_end : float, optional
        End time, s. By default that of the scene.
    dt : float, optional
        Coarsest step of the sequences, s. By default that of the scene.
    folder : Path or str, optional
        Each integrator has a folder of its own in it. By default everything stays in memory.
    scheduler : str, optional
        Address of a Dask scheduler. By default a cluster on this machine.
    workers : int, optional
        Number of processes of the cluster on this machine, by default one for each core. 0: in this process, one case after
        the other, without Dask.
    progress : bool, optional
        Show a progress bar on stderr, by default if that is a terminal. False: no messages at all.

    Returns
    -------
    SchemeChoice
        `best` is the name of the cheapest integrator, `found` has the refinement of each.

    Raises
    ------
    StudyError, SceneError
        If the scene cannot be run with any of them, has no run, or `schemes` is empty.
    StudyStopped
        If the scheduler is gone for good; what was done is in the folder.

    Examples
    --------
    >>> from rodsim.studies import cheapest_scheme
    >>> pin = {"name": "pin", "kind": "spherical", "a": {"ground": [0, 0, 0]}, "b": "bob"}
    >>> box = {"type": "box", "size": [0.1, 0.1, 0.1], "mass": 1}
    >>> scene = {"bodies": [{"name": "bob", "shape": box, "position": [1, 0, 0]}], "joints": [pin]}
    >>> scene |= {"gravity": [0, 0, -10], "run": {"t_end": 0.4, "dt": 0.02}}
    >>> choice = cheapest_scheme(scene, ["em", "em4"], levels=3, workers=0, progress=False)
    >>> choice.found["em4"].choice.dt
    0.02
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
