"""Runs of the peers' models; the steps of Exudyn's mechanisms include those of its files (`in_own_file`)."""

from __future__ import annotations

from typing import Any

Run = tuple[int, float, dict[str, Any]]


def _steps(n: int, t_end: float, counts: tuple[int, ...], order: int = 2) -> list[Run]:
    options = {} if order == 2 else {"order": order}
    return [(n, t_end / k, options) for k in counts]


def _mechanism(
    n: int,
    t_end: float,
    em: tuple[int, ...],
    em4: tuple[int, ...],
    em6: tuple[int, ...],
    in_own_file: int,
    further: tuple[int, ...],
) -> dict[str, list[Run]]:
    """Numbers of steps of `em` and its compositions, of Exudyn in its own file, and further ones of Exudyn."""
    rodsim = _steps(n, t_end, em) + _steps(n, t_end, em4, 4) + _steps(n, t_end, em6, 6)
    return {"rodsim": rodsim, "Exudyn": _steps(n, t_end, (in_own_file, *further))}


def _meshes(element: str, *meshes: int, h: float = 1.0) -> list[Run]:
    return [(n, h, {} if element == "se3" else {"element": element}) for n in meshes]


def _rests(
    rodsim: tuple[int, ...], fine: tuple[int, ...], exudyn: tuple[int, ...], h: float
) -> dict[str, list[Run]]:
    """Meshes of the default element and of that of order 4; Exudyn's with its fastest load steps."""
    rodsim_runs = _meshes("se3", *rodsim) + _meshes("relative(4)", *fine)
    return {"rodsim": rodsim_runs, "Exudyn": _meshes("se3", *exudyn, h=h)}


_TREE = {"module": "benchmarks.peers.exudyn_tree"}

PEER_SWEEPS: dict[str, dict[str, list[Run]]] = {
    "EX-heavyTop": _mechanism(1, 0.2, (500, 2000), (200, 400), (100, 200, 400), 2000, (500, 8000)),
    "EX-fourBars": _mechanism(5, 4.0, (125, 250, 500, 1000), (50, 100), (50, 100), 400, (1000, 4000, 8000)),
    "EX-governor": {
        "rodsim": _steps(4, 5.0, (500, 1000, 2000, 4000, 10000)),
        "Exudyn": [
            *_steps(4, 5.0, (1000, 2000, 4000)),
            *[(n, h, _TREE) for n, h, _ in _steps(4, 5.0, (10000, 1000, 4000))],
        ],
    },
    "EX-pointPendulum": _mechanism(
        1, 10.0, (250, 500, 1000), (50, 100, 200), (50, 100), 12500, (500, 2000, 50000)
    ),
    "EX-rigidPendulum": _mechanism(
        1, 10.0, (250, 500, 1000), (50, 100, 200), (50, 100), 5000, (500, 2000, 20000)
    ),
    "EX-sliderCrank": _mechanism(3, 5.0, (500, 1000, 2000), (200, 400), (200, 400), 50000, (2000, 8000)),
    "EX-bricard": _mechanism(5, 1.0, (50, 125, 250), (10, 25), (10,), 1000, (250, 4000)),
    "EX-sphericalChain": _mechanism(4, 1.0, (50, 125, 250), (10, 25), (10,), 1000, (250, 4000)),
    "EX-cantilever": _rests((8, 16, 32, 64, 128), (8, 16), (8, 16, 32, 64, 128), 1.0),
    "EX-generalBending": _rests((2, 4, 8, 16), (4,), (2, 8, 32), 1.0),
    "EX-princeton": _rests((8, 16, 32, 64, 128), (4, 8), (8, 16, 32, 64, 128), 0.2),
    "EX-beam2D": _rests((8, 16, 32, 64, 128), (16, 32), (16, 32, 64, 128), 0.2),
    "EX-LShape": _rests((4, 8, 16, 32, 64, 128), (4, 8), (4, 8, 16, 32, 64), 0.2),
    "EX-grid": {
        "rodsim": [
            *_steps(1, 0.1, (12, 15, 20)),
            *[(n, 0.1 / k, {}) for n, k in ((2, 15), (2, 30), (4, 20), (8, 50), (8, 100))],
            *[(1, 0.1 / k, {"element": "relative(2)"}) for k in (10, 20, 50)],
            (1, 0.1 / 50, {"element": "relative(4)"}),
        ],
        "Exudyn": [
            *_steps(1, 0.1, (25, 15, 12)),
            *[(n, 0.1 / k, {}) for n, k in ((2, 25), (4, 50), (8, 100))],
        ],
    },
    "EX-eigenmodes": {
        # each with its best mass, and Exudyn with the faster solver on each mesh
        "rodsim": [
            *[(n, 1.0, {"mass": "lumped"}) for n in (6, 8, 10, 16)],
            *[(n, 1.0, {"mass": "lumped", "element": "lagrange(4)"}) for n in (8, 12, 16, 20)],
        ],
        "Exudyn": [(n, 1.0, {"dense": True}) for n in (16, 32)] + _meshes("se3", 32, 64, 128),
    },
    "PE-pendulum": {
        "rodsim": [
            *[(n, h, {}) for n, h in ((10, 0.02), (20, 0.01), (20, 0.005), (40, 0.0025))],
            *[(n, h, {"order": 4}) for n, h in ((40, 0.01), (80, 0.01))],
        ],
        "PyElastica": [(10, 7e-5, {}), (20, 3.5e-5, {}), (40, 1.75e-5, {})],
    },
    "PE-cantilever": {
        "rodsim": [(n, h, {}) for n, h in ((5, 1.0), (10, 0.5), (20, 0.25), (40, 0.1))],
        "PyElastica": [(25, 2e-3, {}), (50, 1e-3, {})],
    },
    "PE-stretch": {
        "rodsim": _meshes("se3", 1, 2, 19),
        "PyElastica": [(19, 2e-3, {}), (19, 5e-4, {})],
    },
    "PE-timoshenko": {
        "rodsim": _meshes("se3", 2, 4, 8, 16, 32),
        "PyElastica": [(20, 2e-3, {}), (50, 6e-4, {})],
    },
    "PE-bend45": {
        "rodsim": _meshes("se3", 4, 8, 16, 32),
        "PyElastica": [(25, 6e-6, {}), (12, 1e-5, {})],
    },
    "PE-distributed": {
        "rodsim": _meshes("se3", 4, 8, 16, 32),
        "PyElastica": [(25, 4e-5, {}), (50, 2e-5, {})],
    },
}
