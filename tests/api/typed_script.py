"""A user's script for type checkers: tests/api/test_typing.py runs it, and mypy and pyright on it."""

import sys
from pathlib import Path

import numpy as np

import rodsim
from rodsim import Box, Material, Model, ModelError, Result, Section, audit, equilibrium, simulate
from rodsim.linear import ForceInput, MotionOutput, frequency_response
from rodsim.signals import Sine


def build() -> Model:
    """A cord with a block on its end."""
    rubber = Material(E=2e6, nu=0.45, density=1100)
    model = Model("pendulum", gravity=(0, 0, -9.81))
    cord = model.add_rod("cord", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, rubber), n_elements=4)
    block = model.add_body("block", Box(0.1, 0.1, 0.1, density=50), position=(1.05, 0, 0))
    model.add_joint("pin", "spherical", model.ground, cord.start)
    model.add_joint("glue", "weld", cord.end, block)
    model.add_force("push", block.at((0, 0, 0)), Sine(0.1, 2.0).along((0, 1, 0)))
    return model


def main(folder: Path) -> float:
    """Simulate, read, export; return the greatest height of the block."""
    model = build()
    model.save(folder / "pendulum.yaml")
    result: Result = simulate(Model.load(folder / "pendulum.yaml"), 0.05, 0.01, output=folder / "run.vtkhdf")
    block = result.body("block")
    heights = block.r[:, 2]
    force = np.linalg.norm(result.joint("pin").force, axis=1)
    print(f"{result.t[-1]:.2f} s, {float(force.max()):.3f} N, {result.rod('cord').N.shape}")
    print(result.energy["total"][-1], audit(result).ok, rodsim.audit(folder / "run.vtkhdf").text())
    result.plot("energy", folder / "energy.png")
    files: list[Path] = result.export(folder / "run.pvd")
    print(len(files))
    statics = equilibrium(model, {"push": (0, 0, 0)})
    print(statics.residual[-1], statics.n_outputs)
    try:
        simulate(model, -1.0, dt=0.01)
    except ModelError as error:
        print(error)
    return float(heights.max())


def response(model: Model) -> float:
    """Largest response of the block to a force on it."""
    block = model.bodies["block"].at((0, 0, 0))
    response_array = frequency_response(
        model, [ForceInput(block, (0, 1, 0))], [MotionOutput(block, (0, 1, 0))], np.array([1.0, 2.0])
    )
    return float(abs(np.asarray(response_array)).max())


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
