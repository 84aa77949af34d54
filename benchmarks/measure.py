"""All runs of one case: warm-up, interleaved repeats, medians.

A user changes a number between two calls; so does every measured call, by far less than the compared errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from statistics import median
from typing import Any

from benchmarks.cases import ChainCase, TopCase
from benchmarks.measurement import Measurement
from benchmarks.mechanisms import Mechanism
from benchmarks.programs import PROGRAMS, Runner
from benchmarks.registry import Case
from benchmarks.sweeps import QUICK, SWEEPS

_CALLS = count(1)


def vary(case: Case, relative: float) -> Case:
    """Return `case` with one of its numbers changed by a relative amount.

    The density of bodies (which does not change a motion under gravity), the mass of a mechanism's first
    body, otherwise the axial stiffness of the rods.
    """
    factor = 1.0 + relative
    if isinstance(case, ChainCase | TopCase):
        return replace(case, density=factor * case.density)
    if isinstance(case, Mechanism):
        first, *remaining = case.bodies
        return replace(case, bodies=(replace(first, mass=factor * first.mass), *remaining))
    EA, *remaining = case.stiffness
    return replace(case, stiffness=(factor * EA, *remaining))


@dataclass
class _Task:
    """One run of one program, repeated."""

    program: str
    case: Case
    runner: Runner
    resolution: int
    h: float
    options: dict[str, Any]
    measured: list[Measurement] = field(default_factory=list)
    broken: bool = False

    def once(self) -> Measurement:
        case = vary(self.case, 1e-12 * next(_CALLS))
        return self.runner(case, self.resolution, self.h, **self.options)


def measure(
    case: Case, only: Sequence[str] | None, repeats: int, quick: bool
) -> tuple[list[Measurement], list[str]]:
    """Return the runs of every installed program with their median times, and remarks on failures or missing
    programs.

    The repeats go round all programs in turn, so that a slow period of the machine affects all alike.
    """
    tasks, remarks = _tasks(case, only, quick)
    warm: set[str] = set()  # programs with their options, as these may compile additional code
    for _ in range(repeats):
        for task in tasks:
            if task.broken:
                continue
            try:
                kind = f"{task.program} {task.options}"
                if kind not in warm:  # compiles, loads caches
                    task.once()
                    warm.add(kind)
                task.measured.append(task.once())
            except RuntimeError as error:
                task.broken = True
                remarks.append(f"{task.program}, resolution {task.resolution}, h = {task.h:g}: {error}")
    measured_tasks = [t.measured for t in tasks if t.measured]
    return [_median(ms) for ms in measured_tasks], remarks


def _median(measured: list[Measurement]) -> Measurement:
    """The first measurement, with the median times of all."""
    times = {of: median(getattr(m, of) for m in measured) for of in ("wall_s", "whole_s")}
    return replace(measured[0], **times)


def _tasks(case: Case, only: Sequence[str] | None, quick: bool) -> tuple[list[_Task], list[str]]:
    tasks: list[_Task] = []
    remarks: list[str] = []
    for program in PROGRAMS:
        sweep = SWEEPS[case.name].get(program.name, [])
        if not sweep or (only and program.name not in ("rodsim", *only)):
            continue
        if program.version() is None:
            remarks.append(
                f"{program.name} is not installed, skipped. Install the peers with pip install '.[bench]'"
            )
            continue
        for n, h, options in sweep[:QUICK] if quick else sweep:
            settings = dict(options)
            try:
                runner = program.runner(case, settings.pop("module", None))
            except ImportError as error:
                remarks.append(f"{program.name} cannot be imported, skipped: {error}")
                break
            tasks.append(_Task(program.name, case, runner, n, h, settings))
    return tasks, remarks
