"""Collect equilibria and present them as a result, `Equilibrium`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discretization.characteristic_length import extent
from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.statics.loading import Loading
from rigid import checks
from rigid.quaternions import rotate
from rigid.system import Floats, State
from rodsim.building.build import Built
from rodsim.building.model_checks import warn_of_strains
from rodsim.progress_bar import progress_bar
from rodsim.results.constraint_history import ConstraintHistory
from rodsim.results.errors import UnknownName
from rodsim.results.lazy_columns import LazyColumns
from rodsim.results.outputs import stacked
from rodsim.results.result import Result
from rodsim.results.tabulate import tabulate
from rodsim.results.writer import MemoryWriter, ResultWriter
from rodsim.statics.reactions import Reaction, Reactions
from rodsim.statics.section_forces import SectionForces, last_section_forces


class Equilibrium(Result):
    """Equilibria along a path, as `equilibrium` returns them.

    An `Equilibrium` is a `Result` whose outputs are equilibria. `t` is the load factor; with `method="arc-length"`,
    where the load factor can decrease, it is the length of the path.

    Parameters
    ----------
    source : Source
        Storage of the arrays: a file or memory. Use `Equilibrium.load` to open a file.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, equilibrium
    >>> model = Model("cantilever", gravity=(0, 0, -9.81))
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> found = equilibrium(model)
    >>> float(found.load_factor[-1])
    1.0
    >>> found.rod("rod").r[-1].shape
    (5, 3)
    """

    @property
    def statics(self) -> dict[str, Any]:
        """Settings and record of the path: method, settings, notes, events."""
        return dict(self.description["statics"])

    @property
    def load_factor(self) -> Floats:
        """(T,) load factors of the equilibria"""
        return np.array(self.description["statics"]["load_factor"])

    def monitor(self, name: str) -> Floats:
        """Return the values of one monitor along the path.

        Parameters
        ----------
        name : str
            Name of the monitor.

        Returns
        -------
        ndarray (T,)
            Values at the outputs, m.

        Raises
        ------
        UnknownName
            If there is no such monitor; the message lists the names.
        """
        monitors = self.description["statics"]["monitors"]
        if name not in monitors:
            raise UnknownName(f"no monitor '{name}'; there are {', '.join(monitors) or 'none'}")
        return np.array(monitors[name])

    @property
    def events(self) -> list[dict[str, Any]]:
        """Events of a path by arc-length: limit points, turning points and bifurcations, in the order of the path.

        Each is a dict with kind, load_factor and monitors.
        """
        return list(self.description["statics"].get("events", []))

    @property
    def reactions(self) -> Reactions:
        """Forces and moments that joints to the ground exert on the structure in the last equilibrium, by name."""
        table, state = Reactions(), self.state()
        for layout in self.layout.joints:
            if layout.frames is None or 0 not in layout.frames:
                continue
            joint, b = self.joint(layout.name), layout.frames[1]
            sign = -1.0 if b == 0 else 1.0
            point = state.r[b] + rotate(
                state.quat[b], ConstraintHistory(self.layout).sides(layout, slice(-1, None)).points[1][-1]
            )
            table[layout.name] = Reaction(sign * joint.force[-1] + 0.0, sign * joint.moment[-1] + 0.0, point)
        return table

    def section_forces(self, rod: str) -> SectionForces:
        """Return section forces along a rod in the last equilibrium, also at the ends of its elements.

        Parameters
        ----------
        rod : str
            Name of the rod.

        Returns
        -------
        SectionForces
            Arc lengths (k,), N and M (k, 3) in section axes.

        Raises
        ------
        UnknownName
            If there is no such rod.
        """
        return last_section_forces(self, rod)

    @property
    def residual(self) -> Floats:
        """(T,) largest residual force or moment of each equilibrium, relative to its round-off"""
        return np.array(self.description["statics"]["residual"])


class ProgressLine:
    """A line with the number of equilibria, the load factor reached and the iterations of Newton's method.

    It is cleared at the end, so that messages begin on a new line.
    """

    def __init__(self, show: bool | None) -> None:
        """Prepare the line; `show`: whether to show it, None: if stderr is a terminal."""
        if show is not None:
            checks.flag("equilibrium", "progress", show)
        self._show = show
        self._count = 0
        self._bar: Any = None

    def reached(self, factor: float, iterations: int) -> None:
        """Count one more equilibrium; the line appears with the first."""
        self._count += 1
        if self._bar is None:
            self._bar = progress_bar(self._show, unit=" equilibria", leave=False, initial=self._count - 1)
        if self._bar is None:
            return
        self._bar.set_postfix_str(f"load factor {factor:.6g}, Newton {iterations}", refresh=False)
        self._bar.update(1)

    def close(self) -> None:
        """Clear the line; another equilibrium would show it again."""
        if self._bar is not None:
            self._bar.refresh()  # the last updates may have come faster than the line is drawn
            self._bar.close()
            self._bar = None


class Record:
    """Collect equilibria and write them at the end, because the description of a file is written when the file is created."""

    def __init__(
        self,
        built: Built,
        loading: Loading,
        settings: dict[str, Any],
        monitors: Mapping[str, Callable[[State], float]] | None = None,
        progress: ProgressLine | None = None,
    ):
        """Begin without equilibria; `progress` is updated with each equilibrium and cleared before the result is written."""
        self._built, self._loading = built, loading
        self._progress = ProgressLine(False) if progress is None else progress
        self.settings = settings
        self.check: Callable[[EquilibriumSystem], None] | None = (
            None  # called before an equilibrium is added; may raise
        )
        self.states: list[State] = []
        self.factors: list[float] = []
        self.monitors = dict(monitors or {})
        self.measured: dict[str, list[float]] = {name: [] for name in self.monitors}
        self.residuals: list[float] = []
        self.iterations: list[int] = []

    def add(self, factor: float, statics: EquilibriumSystem, iterations: int) -> None:
        """Add the current equilibrium of `statics`."""
        if self.check is not None:
            self.check(statics)
        statics.settle_friction()
        self.states.append(statics.state_for_motion)
        self.factors.append(float(factor))
        for name, monitor in self.monitors.items():
            self.measured[name].append(float(monitor(statics.state)))
        self.residuals.append(max(statics.assemble(False), 0.0))
        self.iterations.append(iterations)
        self._progress.reached(factor, iterations)

    def _times(self) -> Floats:
        """Return the times of the outputs (T,): load factors, or for an arc the length of the path.

        The length is measured by positions relative to the model's size and load factors.
        """
        factors = np.array(self.factors)
        if self.settings["method"] == "newton":
            return factors
        r = np.array([state.r for state in self.states])
        size = extent(r[0])
        moved = np.sqrt((np.diff(r, axis=0) ** 2).sum(axis=2).mean(axis=1)) / size
        return np.concatenate([[0.0], np.cumsum(np.hypot(moved, np.diff(factors)))])

    def write(self, output: str | Path | None) -> Equilibrium:
        """Return the result, in memory or in a file; without any equilibrium no file is written."""
        self._progress.close()
        layout, system = self._built.layout, self._built.system
        if self.states:
            warn_of_strains(layout, system, self.states[-1])
        names = [joint.name for joint in layout.joints]
        layout.description["statics"] = {
            **self.settings,
            "load_factor": self.factors,
            "residual": self.residuals,
            "monitors": self.measured,
            "loads": {
                "constant": self._loading.constant_values.tolist(),
                "varying": self._loading.varying_values.tolist(),
                "constant_gravity": self._loading.constant_gravity.tolist(),
                "varying_gravity": self._loading.varying_gravity.tolist(),
            },
            "motions": {
                names[motion.joint]: {
                    "about": motion.center.tolist(),
                    "path": [[np.asarray(x).tolist() for x in motion.path(f)] for f in self.factors],
                }
                for motion in self._loading.motions
            },
        }
        writer: ResultWriter | MemoryWriter
        n = len(self.states)
        if output is None or not n:  # without an equilibrium there is no file
            writer = MemoryWriter(layout)
        else:
            writer = ResultWriter.create(output, layout, n)
        if n:
            newton = np.zeros((n, 3))
            newton[:, 0] = newton[:, 1] = self.iterations
            steps, states, history = np.arange(n), stacked(self.states), ConstraintHistory(layout)
            if isinstance(writer, MemoryWriter):
                lazy = LazyColumns(system, 1.0, history)
                writer.extend_lazily(self._times(), steps, states, newton, lazy)
            else:
                outputs = tabulate(system, 1.0, steps, states, newton, history)
                writer.extend(outputs._replace(t=self._times()))
        writer.close()
        result = writer.result()
        return Equilibrium(result._source)
