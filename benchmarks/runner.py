"""Time of `Runner.advance` besides that of a step in a march, interleaved: python -m benchmarks.runner."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from rodsim import Box, Material, Model, Section, controllers, measures

DT, STEPS, REPEATS = 1e-3, 1000, 15


def body(model: Model) -> object:
    """Add a free body that spins."""
    return model.add_body("body", Box(0.3, 0.2, 0.1, mass=1.0), angular_velocity=(1, 2, 3))


def bars(model: Model, axis: tuple[float, float, float]) -> object:
    """Add 20 bars on hinges; return the first one."""
    before: object = "ground"
    for k in range(20):
        bar = model.add_body(f"bar {k}", Box(1.0, 0.1, 0.1, mass=1.0), position=(k + 0.5, 0, 0))
        model.add_joint(f"hinge {k}", "revolute", before, bar, at=(k, 0, 0), axis=axis)
        before = bar
    return model.bodies["bar 0"]


def cord(model: Model) -> object:
    """Add a clamped rod of 20 elements; return its end."""
    section = Section.circular(0.01, Material(E=1e7, nu=0.3, density=1100.0))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 20)
    model.add_joint("clamp", "clamp", rod.start)
    return rod.end


MODELS: dict[str, tuple[Callable[[Model], object], str]] = {
    "one body": (body, "auto"),
    "20 bars in a plane": (lambda model: bars(model, (0, 0, 1)), "auto"),
    "20 bars in space": (lambda model: bars(model, (0, 0.6, 0.8)), "auto"),
    "rod of 20 elements": (cord, "general"),
}


def seconds(call: Callable[[], object], count: int) -> float:
    """Return the time of one of `count` calls, s."""
    begun = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begun) / count


def measured(name: str) -> list[float]:
    """Return the least times, s: of a step in a march, of `advance` without and with a control, of state and sensors."""
    make, solver = MODELS[name]
    model = Model(name, gravity=(0, -9.81, 0))
    part = make(model)
    hand = model.add_controller("hand", controllers.External())
    model.add_moment("torque", part, hand.output().along((0, 0, 0.01)))
    model.add_sensor("x", measures.coordinate(part, axis=(1, 0, 0)))
    runner = model.prepare(dt=DT).runner(solver=solver)
    calls: list[tuple[Callable[[], object], int]] = [
        (lambda: runner.advance(STEPS), 1),
        (runner.advance, STEPS),
        (lambda: runner.advance(controls={"hand.u": 0.0}), STEPS),
        (lambda: runner.state, STEPS),
        (lambda: runner.sensors, STEPS),
    ]
    times = []
    for _ in range(REPEATS):
        row = []
        for call, count in calls:
            runner.reset()
            row.append(seconds(call, count))
        row[0] /= STEPS
        times.append(row)
    return np.min(times, axis=0).tolist()


def main() -> None:
    """Print the times of all models, us."""
    print("us; advance and control: besides the step")
    print(f"{'':20s}{'step':>8s}{'advance':>9s}{'control':>9s}{'state':>8s}{'sensors':>9s}")
    for name in MODELS:
        step, plain, control, state, sensors = (1e6 * x for x in measured(name))
        print(f"{name:20s}{step:8.2f}{plain - step:9.2f}{control - step:9.2f}{state:8.2f}{sensors:9.2f}")


if __name__ == "__main__":
    main()
