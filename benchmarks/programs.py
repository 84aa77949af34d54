"""Programs that can be measured, the modules of their cases and the package that they need."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.cases import ChainCase, RodCase, TopCase
from benchmarks.frames import Frame
from benchmarks.measurement import Measurement
from benchmarks.mechanisms import Mechanism
from benchmarks.registry import Case
from benchmarks.slender import Slender

Runner = Callable[..., Measurement]


@dataclass(frozen=True)
class Program:
    """One program; `modules` maps each supported kind of case to the module whose `run` computes it."""

    name: str
    package: str
    modules: Mapping[type, str] = field(default_factory=dict)

    def runner(self, case: Case, module: str | None = None) -> Runner:
        """Return `run` for this kind of case, or that of another `module`."""
        run: Runner = importlib.import_module(module or self.modules[type(case)]).run
        return run

    def version(self) -> str | None:
        """Return the installed version, or None if it is not installed."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None


def _rodsim() -> dict[type, str]:
    modules = dict.fromkeys((RodCase, ChainCase, TopCase), "benchmarks.rodsim_cases")
    return {
        **modules,
        Mechanism: "benchmarks.rodsim_mechanisms",
        Frame: "benchmarks.rodsim_frames",
        Slender: "benchmarks.rodsim_slender",
    }


PROGRAMS = (
    Program("rodsim", "rodsim", _rodsim()),
    Program(
        "Exudyn",
        "exudyn",
        {
            RodCase: "benchmarks.peers.exudyn_rods",
            **dict.fromkeys((ChainCase, TopCase), "benchmarks.peers.exudyn_bodies"),
            Mechanism: "benchmarks.peers.exudyn_mechanisms",
            Frame: "benchmarks.peers.exudyn_frames",
        },
    ),
    Program(
        "PyElastica",
        "pyelastica",
        {RodCase: "benchmarks.peers.pyelastica_rods", Slender: "benchmarks.peers.pyelastica_slender"},
    ),
    Program("MuJoCo", "mujoco", dict.fromkeys((ChainCase, TopCase), "benchmarks.peers.mujoco_bodies")),
    Program("Pinocchio", "pin", dict.fromkeys((ChainCase, TopCase), "benchmarks.peers.pinocchio_bodies")),
)
