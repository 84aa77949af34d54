"""Models of one shape with other numbers, and of nearly the same shape, run in sequence:
python -m tests.support.similar_models

Prints a checksum of all stored data and messages of each run, with `backwards` in the opposite order.
"""

import hashlib
import json
import sys
import warnings
from collections.abc import Callable

import numpy as np

from rodsim import Box, Model, Section, equilibrium, simulate

DT = 0.01


def bars(kind="revolute", axis=(0.0, 1.0, 0.0), angle=0.0, last="revolute", size=1.0, spin=None) -> Model:
    """Three bars in a row, each rotated further by an angle; `last` is the joint kind of the third."""
    model = Model("bars", gravity=(0.0, 0.0, -9.81))
    shape, end, support = Box(size, 0.1, 0.1, density=1000.0), np.zeros(3), model.ground.at((0.0, 0.0, 0.0))
    for k in range(3):
        rotation, along = k * angle, size * np.array((np.cos(k * angle), 0.0, -np.sin(k * angle)))
        quat = (np.cos(0.5 * rotation), 0.0, np.sin(0.5 * rotation), 0.0)
        bar = model.add_body(f"bar {k}", shape, end + 0.5 * along, quat, angular_velocity=spin)
        joint_kind = last if k == 2 else kind
        about = None if joint_kind == "spherical" else axis
        model.add_joint(f"joint {k}", joint_kind, support, bar.at((-0.5 * size, 0.0, 0.0)), axis=about)
        end, support = end + along, bar.at((0.5 * size, 0.0, 0.0))
    return model


def frame(EA=1e5, push=(0.1, 0.0, 0.0), n=3, joint="weld", offset=0.0) -> Model:
    """Two rods at a right angle, clamped at one end."""
    section = Section.from_stiffness(
        EA=EA, GA=4e4, GJ=10.0, EI=(10.0, 15.0), mass_per_length=1.0, inertia_per_length=(2e-4, 1e-4, 1e-4)
    )
    model = Model("frame", gravity=(0.0, 0.0, -0.1))
    beam = model.add_rod("beam", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], section, 3)
    post = model.add_rod("post", [(1.0, 0.0, offset), (1.0, 1.0, offset)], section, n)
    model.add_joint("corner", joint, beam.end, post.start if offset == 0.0 else post.at(0.0, (0, 0, -offset)))
    model.add_joint("clamp", "clamp", beam.start)
    model.add_force("push", post.end, push)
    return model


MODELS: dict[str, Callable[[], Model]] = {
    "bars": bars,
    "longer": lambda: bars(size=1.1),
    "bent": lambda: bars(angle=0.3),
    "bent further": lambda: bars(angle=0.4),
    "another axis": lambda: bars(axis=(0.0, 1.0, 1e-9)),
    "an axis the other way": lambda: bars(axis=(0.0, -1.0, 0.0)),
    "askew": lambda: bars(axis=(0.3, 1.0, 0.2)),
    "pins": lambda: bars("spherical", last="spherical"),
    "one pin": lambda: bars(last="spherical"),
    "turning": lambda: bars("spherical", last="spherical", spin=(0.0, 0.0, 0.1)),
    "frame": frame,
    "softer": lambda: frame(EA=9e4),
    "the other way": lambda: frame(push=(-0.1, 0.0, 0.0)),
    "out of plane": lambda: frame(push=(0.1, 0.0, 0.05)),
    "one element more": lambda: frame(n=4),
}


def digest(name: str) -> str:
    """Checksum of a run of the model, and of its equilibrium if it has one."""
    results = [simulate(MODELS[name](), 3 * DT, DT, progress=False)]
    if "push" in MODELS[name]().loads:
        results.append(equilibrium(MODELS[name]()))
    descriptions = [
        {k: v for k, v in result.layout.description.items() if k != "provenance"} for result in results
    ]
    checksum = hashlib.sha256(json.dumps(descriptions, default=str).encode())
    for result in results:
        for array in (*result._source._arrays.values(), *result.layout.constraints):
            checksum.update(repr((array.shape, array.dtype.str)).encode() + array.tobytes())
    return checksum.hexdigest()


def digests(names: list[str]) -> dict[str, str]:
    """Checksums of all models, in sequence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: digest(name) for name in names}


if __name__ == "__main__":
    order = list(MODELS)[::-1] if "backwards" in sys.argv else list(MODELS)
    print(json.dumps(digests(order)))
