"""The programs that can be measured: where their cases are coded and which package they need."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.cases import Case, RodCase
from benchmarks.measurement import Measurement

Runner = Callable[..., Measurement]


@dataclass(frozen=True)
class Program:
    """One program; `rods`, `bodies` name the modules that `run` rods and rigid bodies, "" if it cannot."""

    name: str
    package: str
    rods: str = ""
    bodies: str = ""

    def runner(self, case: Case) -> Runner:
        """`run` for this kind of case."""
        run: Runner = importlib.import_module(self.rods if isinstance(case, RodCase) else self.bodies).run
        return run

    def version(self) -> str | None:
        """The installed version, None where it is not installed."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None


PROGRAMS = (
    Program("rodsim", "rodsim", "benchmarks.rodsim_cases", "benchmarks.rodsim_cases"),
    Program("Exudyn", "exudyn", "benchmarks.peers.exudyn_rods", "benchmarks.peers.exudyn_bodies"),
    Program("PyElastica", "pyelastica", rods="benchmarks.peers.pyelastica_rods"),
    Program("MuJoCo", "mujoco", bodies="benchmarks.peers.mujoco_bodies"),
)
