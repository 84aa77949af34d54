"""Measure a step of sagging nets of welded rods with clamped edges by the number of threads.

python -m benchmarks.nets [--rods 20] [--elements 6] [--threads 1 2] [--steps 2] [--rounds 8]

`--rods` is the number of rods in each direction, `--elements` that of elements between two crossings: 5040
elements and 400 crossings by default. The least of interleaved rounds counts: wall time, processor time, and
processor time of the first thread, which includes all serial parts. On a busy machine only the last one shows
the gain of two threads.
"""

from __future__ import annotations

import argparse
from time import perf_counter, process_time, thread_time

import numpy as np

from discretization.time.stepper import Stepper
from rodsim import Material, Model, Section

H = 1e-2
SECTION = Section.circular(0.02, Material(E=1e9, nu=0.3, density=1000.0))


def net(rods: int, elements: int) -> Model:
    """Net of rods at a distance of 1 m."""
    model, n, size = Model("net", gravity=(0.0, 0.0, -9.81)), (rods + 1) * elements, float(rods + 1)
    for k in range(rods):
        for name, ends in (
            ("along", [(0.0, k + 1.0, 0.0), (size, k + 1.0, 0.0)]),
            ("across", [(k + 1.0, 0.0, 0.0), (k + 1.0, size, 0.0)]),
        ):
            rod = model.add_rod(f"{name}{k}", ends, SECTION, n_elements=n, up=(0, 0, 1))
            model.add_joint(f"start of {name}{k}", "clamp", rod.start)
            model.add_joint(f"end of {name}{k}", "clamp", rod.end)
    for i in range(rods):
        for j in range(rods):
            one, other = model.rods[f"along{i}"], model.rods[f"across{j}"]
            model.add_joint(f"crossing {i} {j}", "weld", one.at((j + 1) / size), other.at((i + 1) / size))
    return model


Times = tuple[float, float, float]  # by the clock, processor time, that of the first thread


def times(rods: int, elements: int, threads: list[int], steps: int, rounds: int) -> dict[int, Times]:
    """Times of a step by number of threads, ms."""
    built = net(rods, elements).build()
    steppers = {n: Stepper(built.system, H, load_values=built.load_values, threads=n) for n in threads}
    states = {n: stepper.advance(stepper.start(built.state), 0, 1)[0] for n, stepper in steppers.items()}
    least_times: dict[int, Times] = dict.fromkeys(threads, (np.inf, np.inf, np.inf))
    for _ in range(rounds):
        for n, stepper in steppers.items():
            wall, busy, first = perf_counter(), process_time(), thread_time()
            stepper.advance(states[n], 1, steps)
            elapsed = perf_counter() - wall, process_time() - busy, thread_time() - first
            least = [min(x, y / steps * 1e3) for x, y in zip(least_times[n], elapsed, strict=True)]
            least_times[n] = least[0], least[1], least[2]
    return least_times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rods", type=int, default=20)
    parser.add_argument("--elements", type=int, default=6)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    arguments = parser.parse_args()
    least_times = times(
        arguments.rods, arguments.elements, arguments.threads, arguments.steps, arguments.rounds
    )
    print(f"{2 * arguments.rods * (arguments.rods + 1) * arguments.elements} elements, ms a step")
    for n, (wall, busy, first) in least_times.items():
        print(
            f"{n} threads: {wall:.1f} by the clock, {busy:.1f} of processor time, {first:.1f} of the first thread's"
        )


if __name__ == "__main__":
    main()
