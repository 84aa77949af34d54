"""Run a rope over a rotating drum with rodsim and with MuJoCo (benchmarks/README.md).

    python -m benchmarks.capstans

Half a revolution with friction 0.5: in the limit of a rope without bending stiffness the holding force is
4.736 times the load. The table has the mean of this ratio, its variation from step to step and from
millisecond to millisecond, its drift, and its cost.
"""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

import numpy as np

from examples.contact import capstan

T_END = 0.3  # s


class ForceRatio(NamedTuple):
    """Ratio of the holding force to the load."""

    mean: float  # over the second half
    spread: float  # its standard deviation there, from step to step
    smoothed: float  # standard deviation of means over a millisecond
    drift: float  # mean of the last quarter over that of the third, less 1
    seconds: float  # processor time, s, of a second of motion


def of_rodsim(n: int, h: float) -> ForceRatio:
    """Run once to compile, and again to measure."""
    for t_end in (2.0 * h, T_END):
        begun = process_time()
        result = capstan.run(n_elements=n, t_end=t_end, dt=h, progress=False)
        seconds = (process_time() - begun) / t_end
    force = np.linalg.norm(result.joint("held").force, axis=1)
    quarter = len(force) // 4
    late = force[-2 * quarter :]
    drift = late[quarter:].mean() / late[:quarter].mean() - 1.0
    return ForceRatio(float(late.mean()), float(late.std()), float(late.std()), float(drift), seconds)


def of_mujoco(n: int, h: float, **settings: object) -> ForceRatio:
    """Run MuJoCo with its best settings, except for the given ones."""
    from benchmarks.peers import mujoco_capstan

    outcome = mujoco_capstan.run(n, h, T_END, mujoco_capstan.Settings(**settings))  # type: ignore[arg-type]
    return ForceRatio(outcome.ratio, outcome.spread, outcome.smoothed, outcome.drift, outcome.seconds)


def line(name: str, n: int, h: float, outcome: ForceRatio) -> str:
    """Return a line of the table."""
    missing = 100.0 * (outcome.mean / capstan.limit(0.5) - 1.0)
    return (
        f"{name:28s} {n:4d} {h:8.0e} {outcome.mean:8.3f} {missing:7.1f} % {outcome.spread:9.1e} {outcome.smoothed:9.1e}"
        f" {100.0 * outcome.drift:6.1f} % {outcome.seconds:8.2f}"
    )


def main() -> None:
    """Print the table."""
    print(f"in the limit {capstan.limit(0.5):.3f}")
    print(f"{'':28s} links    step    ratio  missing    spread    1 ms     drift   s/s", flush=True)
    for n, h in ((15, 1e-3), (30, 1e-3), (60, 1e-3), (60, 3e-3)):
        print(line("rodsim", n, h, of_rodsim(n, h)), flush=True)
    try:
        import mujoco  # noqa: F401
    except ImportError:
        print("MuJoCo is not installed")
        return
    for n, h in ((30, 1e-3), (30, 2e-4), (15, 1e-4), (30, 1e-4), (60, 1e-4)):
        print(line("MuJoCo", n, h, of_mujoco(n, h)), flush=True)
    for settings in (
        {"cone": "pyramidal"},
        {"noslip": 10},
        {"time": 20.0},
        {"drum": "cylinder"},
        {"balls": True},
    ):
        name = "MuJoCo, " + ", ".join(f"{key} {value}" for key, value in settings.items())
        print(line(name, 30, 1e-4, of_mujoco(30, 1e-4, **settings)), flush=True)


if __name__ == "__main__":
    main()
