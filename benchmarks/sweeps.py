"""Runs of each program for each case: (number of elements or bars, step h, options of `run`).

The pairs lie near each program's front of error against time: mesh and step are refined together. The first
`QUICK` entries of a sweep are the quick ones; times of a step are compared at its first entry.
"""

from __future__ import annotations

from typing import Any

from benchmarks.peer_sweeps import PEER_SWEEPS

Run = tuple[int, float, dict[str, Any]]
QUICK = 2

# each peer's best model of a motion in a plane
PLANAR = {"module": "benchmarks.peers.exudyn_planar"}
HINGES = {"module": "benchmarks.peers.exudyn_hinges"}


DENSE = {**PLANAR, "sparse": False, "radius": 0.7}  # quicker on coarse meshes


def _pinocchio(n: int, rk4: tuple[float, ...], rk8: tuple[float, ...], hinges: bool = True) -> list[Run]:
    """Steps of the classical Runge-Kutta method and of that of order 8."""
    model = {"hinges": True} if hinges else {}
    return [(n, h, model) for h in rk4] + [(n, h, {**model, "order": 8}) for h in rk8]


def _plain(*runs: tuple[int, float]) -> list[Run]:
    return [(n, h, {}) for n, h in runs]


SWEEPS: dict[str, dict[str, list[Run]]] = {
    "B1": {
        "rodsim": [
            *_plain((20, 0.05), (20, 0.025), (10, 0.05), (10, 0.1)),
            *[(n, h, {"order": 4}) for n, h in ((10, 0.25), (20, 0.25), (20, 0.125), (40, 0.1), (80, 0.1))],
            *[
                (n, h, {"order": order, "element": "relative(2)"})
                for n, h, order in ((20, 0.25, 4), (20, 0.125, 4), (40, 0.125, 6))
            ],
        ],
        "Exudyn": _plain((20, 0.05), (20, 0.1), (20, 0.02), (40, 0.02), (40, 0.01), (80, 0.02)),
        "PyElastica": _plain((20, 2e-3), (40, 1e-3), (20, 5e-4), (20, 2e-4), (40, 1e-4)),
    },
    "B2": {
        "rodsim": [
            *_plain((10, 0.02), (14, 0.01), (16, 0.01), (20, 0.005), (40, 0.005), (5, 0.02)),
            *[(n, h, {"order": 4}) for n, h in ((16, 0.04), (28, 0.025))],
            *[(n, h, {"order": 4, "element": "relative(2)"}) for n, h in ((20, 0.04), (40, 0.025))],
        ],
        "Exudyn": [
            *[
                (n, h, {**DENSE, "element": element})
                for element, meshes in (
                    ("beam", ((6, 0.05), (8, 0.04), (8, 0.02), (12, 0.02), (12, 0.01), (16, 0.01))),
                    ("cable", ((4, 0.05), (5, 0.04), (6, 0.04), (6, 0.02), (10, 0.02), (10, 0.01))),
                )
                for n, h in meshes
            ],
            *[
                (n, h, PLANAR)
                for n, h in (
                    (8, 0.02),
                    (12, 0.01),
                    (16, 0.01),
                    (16, 0.005),
                    (24, 0.005),
                    (40, 0.0025),
                    (80, 0.00125),
                )
            ],
            *[
                (n, h, {**PLANAR, "element": "cable"})
                for n, h in (
                    (6, 0.02),
                    (10, 0.02),
                    (10, 0.01),
                    (16, 0.01),
                    (24, 0.01),
                    (24, 0.005),
                    (48, 0.0025),
                )
            ],
            *_plain((10, 0.02), (20, 0.01), (40, 0.005)),
        ],
        "PyElastica": _plain((20, 1e-4), (50, 1e-4), (100, 5e-5), (200, 2.5e-5)),
    },
    "B2-space": {
        "rodsim": [
            *_plain((10, 0.02), (14, 0.01), (16, 0.01), (20, 0.005), (40, 0.005), (80, 0.0025)),
            *[(n, h, {"order": 4}) for n, h in ((16, 0.04), (28, 0.025))],
            *[(n, h, {"order": 4, "element": "relative(2)"}) for n, h in ((20, 0.04), (40, 0.025))],
        ],
        "Exudyn": _plain((10, 0.02), (10, 0.01), (20, 0.01), (20, 0.005), (40, 0.005), (80, 0.0025)),
    },
    "B3-5": {
        "rodsim": [
            *_plain((5, 0.02), (5, 0.01), (5, 0.4 / 15), (5, 0.005), (5, 0.0025)),
            *[(5, h, {"order": 4}) for h in (0.4 / 3, 0.1, 0.08, 0.4 / 6, 0.04, 0.02, 0.01)],
            *[(5, h, {"order": 6}) for h in (0.08, 0.4 / 7, 0.04, 0.02)],
        ],
        "Exudyn": [
            *[(5, h, HINGES) for h in (0.02, 0.01, 0.04, 0.005, 0.0025)],
            *_plain((5, 0.01), (5, 0.0025)),
        ],
        "MuJoCo": [
            *[(5, h, {"hinges": True}) for h in (0.02, 0.01, 0.04, 0.005, 0.0025)],
            *_plain((5, 0.02), (5, 0.01)),
        ],
        "Pinocchio": _pinocchio(
            5, (0.08, 0.04, 0.02, 0.01), (0.08, 0.4 / 6, 0.4 / 7, 0.05, 0.04, 0.4 / 12, 0.02, 0.01)
        ),
    },
    "B3-5-space": {
        "rodsim": [
            *_plain((5, 0.02), (5, 0.01), (5, 0.005), (5, 0.0025)),
            *[(5, h, {"order": 4}) for h in (0.2, 0.4 / 3, 0.1, 0.08, 0.4 / 6, 0.04, 0.02, 0.01)],
            *[(5, h, {"order": 6}) for h in (0.08, 0.05, 0.04, 0.02)],
        ],
        "Exudyn": _plain((5, 0.01), (5, 0.005), (5, 0.0025), (5, 0.001)),
        "MuJoCo": _plain((5, 0.02), (5, 0.01), (5, 0.04), (5, 0.005)),
        "Pinocchio": _pinocchio(
            5, (0.1, 0.08, 0.04, 0.02, 0.01), (0.2, 0.4 / 3, 0.1, 0.08, 0.05, 0.04, 0.02, 0.01), hinges=False
        ),
    },
    "B3-5-oblique": {
        "rodsim": [
            *_plain((5, 0.02), (5, 0.01), (5, 0.4 / 15), (5, 0.005), (5, 0.0025)),
            *[(5, h, {"order": 4}) for h in (0.2, 0.1, 0.08, 0.4 / 6, 0.05, 0.04, 0.025, 0.02, 0.01)],
            *[(5, h, {"order": 6}) for h in (0.08, 0.05, 0.04, 0.4 / 12, 0.4 / 14, 0.02)],
            *[(5, h, {"order": 8}) for h in (0.05, 0.4 / 9, 0.04)],
        ],
        "MuJoCo": [(5, h, {"hinges": True}) for h in (0.02, 0.01, 0.04, 0.005, 0.0025, 0.4 / 182)],
        "Pinocchio": _pinocchio(
            5, (0.08, 0.04, 0.02, 0.01), (0.1, 0.08, 0.4 / 6, 0.4 / 7, 0.05, 0.04, 0.4 / 12, 0.02, 0.01)
        ),
    },
    "B3-20": {
        "rodsim": [
            *_plain((20, 0.02), (20, 0.04), (20, 0.05), (20, 0.1), (20, 0.2), (20, 0.01)),
            *[(20, h, {"order": 4}) for h in (0.2, 0.4 / 3, 0.1, 0.08, 0.05, 0.04)],
            *[(20, h, {"order": 6}) for h in (0.2, 0.4 / 3, 0.1, 0.08, 0.05)],
            *[(20, h, {"order": 8}) for h in (0.2, 0.4 / 3, 0.1)],
        ],
        "MuJoCo": [(20, h, {"hinges": True}) for h in (0.04, 0.02, 0.1, 0.08, 0.05, 0.01)],
        "Pinocchio": _pinocchio(20, (0.2, 0.1, 0.08, 0.05, 0.04, 0.02), (0.2, 0.4 / 3, 0.1, 0.08, 0.05)),
    },
    "B3-20-oblique": {
        "rodsim": [
            *_plain((20, 0.02), (20, 0.04), (20, 0.05), (20, 0.1), (20, 0.2), (20, 0.01)),
            *[(20, h, {"order": 4}) for h in (0.2, 0.4 / 3, 0.1, 0.08, 0.05, 0.04)],
            *[(20, h, {"order": 6}) for h in (0.2, 0.4 / 3, 0.1, 0.08, 0.05)],
            *[(20, h, {"order": 8}) for h in (0.2, 0.4 / 3, 0.1)],
        ],
        "MuJoCo": [(20, h, {"hinges": True}) for h in (0.04, 0.02, 0.1, 0.08, 0.05, 0.01)],
        "Pinocchio": _pinocchio(20, (0.2, 0.1, 0.08, 0.05, 0.04, 0.02), (0.2, 0.4 / 3, 0.1, 0.08, 0.05)),
    },
    "B3-100-oblique": {
        "rodsim": [
            *_plain(
                (100, 0.01), (100, 0.02), (100, 0.1), (100, 0.05), (100, 0.1 / 3), (100, 0.005), (100, 0.0025)
            ),
            *[(100, h, {"order": 4}) for h in (0.1, 0.05, 0.02, 0.01, 0.005)],
        ],
        "MuJoCo": [(100, h, {"hinges": True}) for h in (0.01, 0.005, 0.02, 0.0025)],
        "Pinocchio": _pinocchio(100, (0.1, 0.05, 0.02, 0.01, 0.005, 0.0025), (0.1, 0.05, 0.1 / 3, 0.02)),
    },
    "B3-100": {
        "rodsim": [
            *_plain((100, 0.01), (100, 0.02), (100, 0.05), (100, 0.1 / 3), (100, 0.005), (100, 0.0025)),
            *[(100, h, {"order": 4}) for h in (0.1, 0.05, 0.02, 0.01)],
        ],
        "Exudyn": [
            *_plain((100, 0.01)),
            *[(100, h, HINGES) for h in (0.02, 0.01, 0.005)],
        ],
        "MuJoCo": [
            *[(100, h, {"hinges": True}) for h in (0.02, 0.01, 0.005)],
            (100, 0.01, {}),
            (100, 0.01, {"integrator": "Euler"}),
        ],
        "Pinocchio": _pinocchio(100, (0.1, 0.05, 0.02, 0.01, 0.005), (0.1, 0.05, 0.1 / 3, 0.02)),
    },
    "B3-500": {
        "rodsim": _plain((500, 0.01)),
        "Exudyn": _plain((500, 0.01)),
        "MuJoCo": [
            (500, 0.05, {}),
            (500, 0.05, {"integrator": "Euler"}),
        ],  # a step of N = 500 takes 0.1 to 0.4 s
    },
    "B4": {
        "rodsim": [
            *_plain((1, 0.01), (1, 0.002), (1, 0.0005)),
            *[(1, h, {"order": 4}) for h in (0.01, 0.005, 0.002)],
            *[(1, h, {"order": 6}) for h in (0.01, 0.005, 0.002)],
        ],
        "Exudyn": _plain((1, 0.01), (1, 0.002), (1, 0.0005)),
        "MuJoCo": _plain((1, 0.01), (1, 0.002), (1, 0.001), (1, 0.0005)),
        "Pinocchio": _pinocchio(
            1, (0.002, 0.001, 0.0005), (0.01, 0.2 / 25, 0.2 / 30, 0.005, 0.002), hinges=False
        ),
    },
    **PEER_SWEEPS,
}
