"""Find the integrator that meets an error in the least time (`cheapest_scheme`), each with mesh and step chosen by `converge`.

The cost of a run is estimated from the runs made: the shortest time per element and step, times the elements and steps of the
choice. So one-time costs of a process, such as loading machine code, are not attributed to any integrator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discretization.time.em_names import KIN, em_integrator
from rigid.errors import ModelError
from rodsim.studies.convergence import Convergence, Wanted, converged, scene_of
from rodsim.studies.errors import StudyError
from rodsim.studies.measures import Measure
from rodsim.studies.plain_json import dumps
from rodsim.studies.refined_runs import plan_of
from rodsim.studies.workers import open_workers

ALIKE = 1.2  # ratio of times below which two integrators count as equally fast


@dataclass(frozen=True)
class SchemeChoice:
    """Hold the refinements of several integrators, which `cheapest_scheme` returns.

    Parameters
    ----------
    scene : str
        Name of the scene file.
    error : float
        Requested relative error.
    found : dict of str to Convergence
        Refinement of each integrator.
    refused : dict of str to str
        Error message of each integrator that cannot run this model, or not with so coarse a step.

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
        """Return the integrator whose choice meets the error in the least time; None if none does."""
        times = {name: found.seconds for name, found in self.found.items() if found.ok}
        return min(times, key=lambda name: times[name]) if times else None

    @property
    def ok(self) -> bool:
        """Return whether an integrator meets the error."""
        return self.best is not None

    def text(self) -> str:
        """Return a table with a line for each integrator, and the cheapest one, as text.

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
        """Return the line on the cheapest integrator, and on those that are about as fast."""
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
    """Return the line of the table for an integrator, without its name."""
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
    """Return the integrator and its variants of other orders: em, em4, em6, em8, or these with -ggl.

    Raises StudyError for an integrator without such variants.
    """
    own = em_integrator(integrator)
    if own is None or not own.of_substeps:
        raise StudyError(
            f"cheapest_scheme: '{integrator}' has no variants of other orders; give the schemes to choose from"
        )
    return tuple(name for name in KIN if _is_kin(name, own.hidden))


def _is_kin(name: str, hidden: bool) -> bool:
    """Return whether an integrator is composed of steps of `em`, or of `em-ggl` if `hidden`."""
    try:
        found = em_integrator(name)
    except ModelError:  # a pattern for many integrators, which needs a parameter
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
    scheduler: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> SchemeChoice:
    """Refine a scene with each of several integrators, and find the one that meets an error in the least time.

    Parameters
    ----------
    scene : str, Path or mapping
        File or data of a scene, as in `converge`. Its step is the coarsest of the sequences; a choice may have steps that are up
        to four times as long.
    schemes : sequence of str, optional
        Names of integrators. By default that of the scene and its variants of other orders (`schemes_beside`): "em",
        "em4", "em6" and "em8", or these with "-ggl".
    measures : mapping of str to str or callable, or sequence of str, optional
        Measures as in `converge`; by default the motion.
    error : float, default 1e-3
        Relative error that the choices must meet.
    levels : int, default 4
        Number of levels of each refinement, 3 or more.
    t_end : float, optional
        End time, s. By default that of the scene.
    dt : float, optional
        Coarsest step of the sequences, s. By default that of the scene.
    folder : Path or str, optional
        Folder with a subfolder for each integrator. By default everything stays in memory.
    scheduler : str or distributed.Client, optional
        Dask scheduler: its address, or a client that is connected to it. By default processes of this machine.
    workers : int, optional
        Number of processes of this machine, by default one for each core. 0: run the cases in this process, one after the other.
    progress : bool, optional
        Show a progress bar on stderr, by default if that is a terminal. False: no messages at all.

    Returns
    -------
    SchemeChoice
        `best` is the name of the cheapest integrator, `found` contains the refinement of each.

    Raises
    ------
    StudyError, SceneError
        If the scene cannot be run with any of the integrators, has no run, or `schemes` is empty.
    StudyStopped
        If the scheduler is gone for good; the finished cases are in the folder.

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
    with open_workers(scheduler, workers) as opened:
        for name in names:
            of_scheme = None if folder is None else Path(folder) / name
            how = {"folder": of_scheme, "progress": progress, "workers": opened}
            try:
                found[name] = converged(bases[name], plans[name], wanted, how)
            except ModelError as words:  # the integrator cannot run this model, or not with so coarse a step
                refused[name] = str(words)
    if not found:
        told = "; ".join(f"{name}: {words}" for name, words in refused.items())
        raise StudyError(f"cheapest_scheme: no scheme runs: {told}")
    return SchemeChoice(bases[names[0]].file, error, found, refused)
