"""Tables printed by `benchmarks.run`."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import replace

from benchmarks.cases import ChainCase, TopCase
from benchmarks.measurement import Measurement
from benchmarks.mechanisms import Mechanism
from benchmarks.pareto_fronts import front, time_at_error
from benchmarks.registry import Case


def kernels(rows: Iterable[tuple[str, float, str]]) -> None:
    """Print rodsim's ratios, one a line: what, value, goal."""
    print("\nrodsim alone")
    for label, value, goal in rows:
        print(f"  {label:<72} {value:>9.3g}   {goal}")


def head(versions: dict[str, str | None]) -> None:
    """Print versions of the programs, and how to read the tables."""
    installed = ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
    print(f"{installed}; Python {platform.python_version()}, one thread")
    print("time: the time loop after warm-up; whole: the call of a user, with the model and its set-up")
    print("rodsim, faster: its time at the peer's error, and the ratio")


def table(case: Case, runs: list[Measurement], remarks: list[str]) -> None:
    """Print one case: every run, then the factors by which rodsim is faster, at equal error and for each
    step.
    """
    unit = (
        "bars"
        if isinstance(case, ChainCase)
        else "bodies"
        if isinstance(case, TopCase | Mechanism)
        else "elements"
    )
    print(f"\n{case.name}  {case.title}")
    columns = f"{'h':>10}{'steps':>8}{'time, s':>10}{'whole, s':>10}{'us/step':>10}{'error':>10}{'energy':>10}{'rodsim':>10}"
    print(f"  {'program':<18}{unit:>9}{columns}{'faster':>9}")
    rodsim_front = front(m for m in runs if is_ours(m))
    for m in runs:
        numbers = (
            f"{m.h:>10g}{m.steps:>8}{m.wall_s:>10.4f}{m.whole_s:>10.4f}{m.us_per_step:>10.1f}{m.error:>10.1e}"
        )
        print(
            f"  {m.program:<18}{m.resolution:>9}{numbers}{m.energy_drift:>10.0e}{_compared(case, m, rodsim_front)}"
        )
    for line in remarks:
        print(f"  {line}")
    for label, of in (("time", "wall_s"), ("whole", "whole_s")):
        _equal_error(case, [replace(m, wall_s=getattr(m, of)) for m in runs], label)
    if isinstance(case, (ChainCase, TopCase)):
        _per_step(runs)


def _compared(case: Case, m: Measurement, rodsim_front: list[Measurement]) -> str:
    """Rodsim's time at the error of a peer's run, and the ratio; ">" if rodsim is more accurate in every run."""
    at = None if is_ours(m) or not m.error < 1.0 else time_at_error(rodsim_front, max(m.error, case.floor))
    if at is None:
        return ""
    return f"{at.wall_s:>10.4f}{('>' if at.bound else '') + f'{m.wall_s / at.wall_s:.1f}':>9}"


def _equal_error(case: Case, runs: list[Measurement], attribute: str) -> None:
    """Least and largest factor along the front of all models of a peer, where both programs reach the error."""
    rodsim_front = front(m for m in runs if is_ours(m))
    for peer in dict.fromkeys(family(m) for m in runs if not is_ours(m)):
        factors = []
        for m in front(x for x in runs if family(x) == peer):
            at = time_at_error(rodsim_front, max(m.error, case.floor))
            if at is not None:
                factors.append((m.wall_s / at.wall_s, at.bound))
        if factors:
            (low, _), (high, bound) = min(factors), max(factors)
            span = f"{_ratio(low)} to {_ratio(high)}" if len(factors) > 1 else _ratio(low)
            print(
                f"  {attribute} at equal error: rodsim is {span}{' or more' if bound else ''} times as fast as {peer}"
            )


def _ratio(factor: float) -> str:
    """The ratio with one digit behind the point, below 1 with two digits."""
    return f"{factor:.2g}" if factor < 0.95 else f"{factor:.1f}"


def _per_step(runs: list[Measurement]) -> None:
    """Time of a step over that of rodsim's `em`, each at its first step size."""
    rodsim_run = next((m for m in runs if m.program == "rodsim"), None)
    if rodsim_run is None:
        return
    for peer in _peers(runs):
        other = next(m for m in runs if m.program == peer)
        print(
            f"  a step of {peer} takes {other.us_per_step / rodsim_run.us_per_step:.2f} times a step of rodsim"
        )


def _peers(runs: list[Measurement]) -> list[str]:
    return list(dict.fromkeys(m.program for m in runs if not is_ours(m)))


def family(m: Measurement) -> str:
    """Name of the program, without its model."""
    return m.program.split()[0]


def is_ours(m: Measurement) -> bool:
    """True for a run of rodsim by any scheme."""
    return m.program.startswith("rodsim")
