"""Equilibria as a result: what is kept of each, and the face of the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from discretization.statics.loading import Loading
from discretization.statics.rest import Rest
from discretization.time.advance import copy_of
from rigid.system import Floats, State
from rodsim.building import Built
from rodsim.results.outputs import stacked
from rodsim.results.result import Result
from rodsim.results.tabulate import tabulate
from rodsim.results.writer import MemoryWriter, ResultWriter


class Equilibrium(Result):
    """Equilibria along a path; `t` is the load factor, or where it turns back (arc-length) the length of the path."""

    @property
    def statics(self) -> dict[str, Any]:
        """How the path was followed: method, settings, notes, events."""
        return dict(self.description["statics"])

    @property
    def load_factor(self) -> Floats:
        """(T,)"""
        return np.array(self.description["statics"]["load_factor"])

    @property
    def residual(self) -> Floats:
        """(T,) largest residual force or moment over its round-off"""
        return np.array(self.description["statics"]["residual"])


class Record:
    """Gathers equilibria, then writes them at once: the description of a file is written when it is made."""

    def __init__(self, built: Built, loading: Loading, settings: dict[str, Any]):
        self._built, self._loading = built, loading
        self.settings = settings
        self.states: list[State] = []
        self.factors: list[float] = []
        self.times: list[float] | None = None
        self.residuals: list[float] = []
        self.iterations: list[int] = []

    def add(self, factor: float, rest: Rest, iterations: int) -> None:
        """The equilibrium where `rest` is."""
        self.states.append(copy_of(rest.state))
        self.factors.append(float(factor))
        self.residuals.append(max(rest.assemble(False), 0.0))
        self.iterations.append(iterations)

    def write(self, output: str | Path | None) -> Equilibrium:
        """The result, in memory or in a file."""
        layout, system = self._built.layout, self._built.system
        names = [joint.name for joint in layout.joints]
        layout.description["statics"] = {
            **self.settings,
            "load_factor": self.factors,
            "residual": self.residuals,
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
        writer = MemoryWriter(layout) if output is None else ResultWriter.create(output, layout, max(n, 1))
        if n:
            newton = np.zeros((n, 3))
            newton[:, 0] = newton[:, 1] = self.iterations
            outputs = tabulate(system, 1.0, np.arange(n), stacked(self.states), newton)
            writer.extend(outputs._replace(t=np.array(self.factors if self.times is None else self.times)))
        writer.close()
        result = writer.result()
        return Equilibrium(result._source)
