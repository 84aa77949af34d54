"""Measure the equilibrium of 10,000 rod elements with 100 bodies, and its parts.

    python -m benchmarks.statics

A garland of 101 rods with a ball between each two, clamped at both ends, sagging under its weight from a
circular arc. Times depend on the machine; the ratio to a step of `em` of the same model, measured in the same
process, does not.
"""

from __future__ import annotations

import time

import numpy as np

from discretization.time.stepper import Stepper
from rodsim import Material, Model, Section, Sphere, equilibrium


def garland(n_bodies: int = 100, elements: int = 99, element: str = "se3") -> Model:
    """Rods of this number of elements each, welded to balls between them."""
    model = Model("garland", gravity=(0.0, 0.0, -9.81))
    section = Section.circular(0.02, Material(E=1e9, nu=0.3, density=1000.0))

    def arc(s: float) -> np.ndarray:
        return 60.0 * np.array([np.sin(0.8 * (2 * s - 1)), 0.0, np.cos(0.8) - np.cos(0.8 * (2 * s - 1))])

    before = None
    for k in range(n_bodies + 1):
        first, last = k / (n_bodies + 1), (k + 1) / (n_bodies + 1)
        rod = model.add_rod(
            f"rod {k}",
            lambda s, first=first, last=last: arc(first + s * (last - first)),  # type: ignore[misc]
            section,
            elements,
            up=(0, 1, 0),
            element=element,
        )
        if before is None:
            model.add_joint("first", "clamp", rod.start)
        else:
            model.add_joint(f"from {k}", "weld", before, rod.start)
        if k < n_bodies:
            before = model.add_body(f"ball {k}", Sphere(0.05, density=2000.0), position=arc(last))
            model.add_joint(f"to {k}", "weld", rod.end, before)
    model.add_joint("last", "clamp", rod.end)
    return model


def main() -> None:
    """Print the table."""
    equilibrium(garland(2, 4))  # compiles
    for element in ("se3", "relative(2)"):
        equilibrium(garland(2, 4, element))
        model = garland(element=element)
        began = time.perf_counter()
        built = model.build()
        build = time.perf_counter() - began
        began = time.perf_counter()
        result = equilibrium(model)
        total = time.perf_counter() - began
        stepper = Stepper(built.system, 1e-4, load_values=built.load_values)
        state, _ = stepper.advance(built.state, 0, 1)
        began = time.perf_counter()
        stepper.advance(state, 1, 10)
        step = (time.perf_counter() - began) / 10
        iterations = int(result.newton_iterations.sum())
        n = len(built.system.elements.length) + len(built.system.spans.weight)
        print(
            f"{element}: {n} elements, {len(model.bodies)} bodies: build {build:.2f} s, equilibrium {total:.2f} s with it, "
            f"{result.n_outputs - 1} load steps, {iterations} iterations; a step of em {1e3 * step:.1f} ms, "
            f"equilibrium without building = {(total - build) / step:.0f} steps"
        )


if __name__ == "__main__":
    main()
