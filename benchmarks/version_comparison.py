"""Compare this version with another checkout: python -m benchmarks.version_comparison OTHER [--only WORD] [--pairs 9]

OTHER is the folder of another checkout of this project. For each case both versions take the same number of
steps in turn, each in one process. If the other version fails or begins to halve its steps, the run is repeated
with fewer steps. The table has the median and the quartiles of the ratios of processor time (this version over
the other) and the Newton iterations of both. A version compared with itself gives 0.97 to 1.01 with nine pairs,
up to 1.09 with two. `--memory` prints bytes per element of long rods, `--cold` the processor time of a first
script, from the start of Python with an empty cache of compiled kernels.

Only `Model` and `simulate` are used, which both versions have.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from rodsim import Box, MassProperties, Material, Model, Section, simulate

GRAVITY = (0.0, 0.0, -9.81)
SECONDS = 0.2  # duration of one measurement, s
HALVED = 1.5  # relative to a step in a shorter run: above this the run halves steps
RUBBER = Section.circular(0.02, Material(E=1e7, nu=0.3, density=1000.0))
BAR = Box(1.0, 0.1, 0.1, density=1000.0)
HINGES = ("revolute",)
MIXED = ("revolute", "prismatic", "cylindrical", "spherical", "universal")
Case = tuple[Callable[[], Model], float, str]  # model, step in s, scheme


def chain(n: int, kinds: tuple[str, ...], planar: bool = False) -> Model:
    """Bars of 1 m in a line, fixed at one end, on joints of these kinds in turn; axes differ from joint to
    joint, or all lie along the normal of the plane of motion.
    """
    rng, model = np.random.default_rng(1), Model("chain", gravity=GRAVITY if planar else (1.0, 2.0, -9.0))
    last = model.ground.at((0.0, 0.0, 0.0))
    for k in range(n):
        kind, bar = kinds[k % len(kinds)], model.add_body(f"bar {k}", BAR, position=(k + 0.5, 0.0, 0.0))
        axis = (0.0, 1.0, 0.0) if planar else rng.standard_normal(3)
        axes = {} if kind == "spherical" else {"axis": axis}
        if kind == "universal":
            axes["second_axis"] = np.cross(axis, (1.0, 0.0, 0.0))
        model.add_joint(f"joint {k}", kind, last, bar.at((-0.5, 0.0, 0.0)), **axes)
        last = bar.at((0.5, 0.0, 0.0))
    return model


def sprung(n: int) -> Model:
    """A planar chain with a spring from its first to its last bar."""
    model = chain(n, HINGES, True)
    bars = list(model.bodies.values())
    model.add_spring("spring", bars[0].at((0, 0, 0)), bars[-1].at((0, 0, 0)), stiffness=1e4)
    return model


def four_bars(n: int) -> Model:
    """Four-bars in a row, all cranks upright."""
    model, bar = (
        Model("four-bars", gravity=(0.0, -9.81, 0.0)),
        MassProperties(1.0, np.diag([1e-4, 1 / 12, 1 / 12])),
    )
    upright, moving = (
        (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)),
        {"velocity": (0.5, 0, 0), "angular_velocity": (0, 0, -1)},
    )
    cranks = [model.add_body(f"crank {k}", bar, (k, 0.5, 0), upright, **moving) for k in range(n + 1)]
    joined: list[Any] = [(f"foot {k}", model.ground, crank, (k, 0, 0)) for k, crank in enumerate(cranks)]
    for k in range(n):
        coupler = model.add_body(f"coupler {k}", bar, (k + 0.5, 1, 0), velocity=(1, 0, 0))
        joined += [
            (f"left {k}", cranks[k], coupler, (k, 1, 0)),
            (f"right {k}", coupler, cranks[k + 1], (k + 1, 1, 0)),
        ]
    for name, a, b, at in joined:
        model.add_joint(name, "revolute", a, b, at=at, axis=(0, 0, 1))
    return model


def squeezer() -> Model:
    """Andrews' squeezer."""
    from rodsim.validation.squeezer import squeezer as made

    return made()


def cantilever(n: int, planar: bool = False) -> Model:
    """A rod clamped at one end; one in space is pushed out of the plane in which it would fall."""
    model = Model("cantilever", gravity=GRAVITY if planar else (1.0, 2.0, -9.0))
    rod = model.add_rod("rod", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], RUBBER, n)
    model.add_joint("clamp", "clamp", rod.start)
    if not planar:
        model.add_force("push", rod.end, (0.0, 0.09, 0.02))
    return model


def net(rods: int, elements: int, planar: bool = False) -> Model:
    """Rods at distances of 1 m in both directions, welded at their crossings, clamped at their ends."""
    model, n, size = Model("net", gravity=GRAVITY), (rods + 1) * elements, float(rods + 1)
    for k in range(rods):
        for name, ends in (
            ("along", [(0, k + 1, 0), (size, k + 1, 0)]),
            ("across", [(k + 1, 0, 0), (k + 1, size, 0)]),
        ):
            if planar:
                ends = [(x, 0, y) for x, y, _ in ends]
            rod = model.add_rod(
                f"{name}{k}", ends, RUBBER, n_elements=n, up=(0, 1, 0) if planar else (0, 0, 1)
            )
            model.add_joint(f"start of {name}{k}", "clamp", rod.start)
            model.add_joint(f"end of {name}{k}", "clamp", rod.end)
    for i in range(rods):
        for j in range(rods):
            one, other = model.rods[f"along{i}"], model.rods[f"across{j}"]
            model.add_joint(f"crossing {i} {j}", "weld", one.at((j + 1) / size), other.at((i + 1) / size))
    return model


def frame() -> Model:
    """A portal of three rods of 20 elements under a force."""
    model = Model("portal", gravity=GRAVITY)
    left = model.add_rod("left", [(0, 0, 0), (0, 0, 1)], RUBBER, 20)
    beam = model.add_rod("beam", [(0, 0, 1), (1, 0, 1)], RUBBER, 20)
    right = model.add_rod("right", [(1, 0, 1), (1, 0, 0)], RUBBER, 20)
    for name, kind, points in (
        ("foot", "clamp", (left.start,)), ("other foot", "clamp", (right.end,)),
        ("corner", "weld", (left.end, beam.start)), ("other corner", "weld", (beam.end, right.start)),
    ):  # fmt: skip
        model.add_joint(name, kind, *points)
    model.add_force("push", beam.end, (0.5, 1.0, 0.0))
    return model


def top() -> Model:
    """A heavy top on a ball joint."""
    model, inertia = Model("top", gravity=GRAVITY), MassProperties(1.0, np.diag([4e-3, 4e-3, 1e-3]))
    quat = (np.cos(0.3), 0.0, np.sin(0.3), 0.0)
    place = 0.1 * np.array((np.sin(0.6), 0.0, np.cos(0.6)))
    body = model.add_body("top", inertia, place, quat, angular_velocity=(0, 0, 100.0))
    model.add_joint("tip", "spherical", model.ground.at((0, 0, 0)), body.at((0, 0, -0.1)))
    return model


def balls(n: int) -> Model:
    """Balls that lie on each other in an open box."""
    from rodsim import Sphere

    model, rng, surfaces = Model("balls", gravity=GRAVITY), np.random.default_rng(1), []
    for k in range(n):
        x, y, z = (k % 3) * 0.2, (k // 3 % 3) * 0.2, (k // 9) * 0.2 + 0.1
        body = model.add_body(f"ball {k}", Sphere(0.1, density=1000.0), (*(x, y) + 1e-2 * rng.random(2), z))
        surfaces.append(model.add_sphere(f"ball {k}", body, 0.1))
    model.add_contact("balls", surfaces, stiffness=1e5)
    for k, (place, normal) in enumerate(
        [((0, 0, 0), (0, 0, 1)), ((-0.1, 0, 0), (1, 0, 0)), ((0.52, 0, 0), (-1, 0, 0)),
         ((0, -0.1, 0), (0, 1, 0)), ((0, 0.52, 0), (0, -1, 0))]
    ):  # fmt: skip
        wall = model.add_plane(f"wall {k}", model.ground.at(place), normal)
        for j, surface in enumerate(surfaces):
            model.add_contact(f"wall {k} {j}", surface, wall, stiffness=1e5)
    return model


CASES: dict[str, Case] = {
    **{f"oblique hinges {n}": (partial(chain, n, HINGES), 0.002, "em") for n in (5, 20, 100)},
    **{f"planar hinges {n}": (partial(chain, n, HINGES, True), 0.01, "em") for n in (5, 100)},
    **{f"ball chain {n}": (partial(chain, n, ("spherical",)), 0.01, "em") for n in (5, 20)},
    "mixed tree 20": (partial(chain, 20, MIXED), 0.002, "em"),
    "prismatic chain 5": (partial(chain, 5, ("prismatic",)), 0.002, "em"),
    "heavy top": (top, 1e-3, "em"),
    **{f"four-bars {n}": (partial(four_bars, n), 0.01, "em") for n in (1, 10)},
    "squeezer": (squeezer, 1e-4, "em"),
    **{f"planar cantilever {n}": (partial(cantilever, n, True), 1e-3, "em") for n in (20, 100)},
    "planar net": (partial(net, 3, 3, True), 1e-2, "em"),
    "planar springs": (partial(sprung, 20), 0.01, "em"),
    **{f"rod {n}": (partial(cantilever, n), 1e-3, "em") for n in (20, 100, 1000, 10000)},
    "portal": (frame, 1e-2, "em"),
    "net 5040": (partial(net, 20, 6), 1e-2, "em"),
    "balls 18": (partial(balls, 18), 1e-3, "em"),
    **{
        f"{name} {scheme}": (partial(made, 20, *kind), 2e-3, scheme)
        for scheme in ("em-ggl", "em-d(0.5)", "em4", "em8")
        for name, made, kind in (("hinges 20", chain, (HINGES,)), ("rod 20", cantilever, ()))
    },
}
FAMILIES = {
    "em": "rod 20",
    "hinges": "oblique hinges 5",
    "planar rod": "planar cantilever 20",
    "balls": "balls 18",
}


class _Versions:
    """Keep a process of each version, which waits for cases."""

    def __init__(self, folders: list[Path]) -> None:
        self.workers = [
            subprocess.Popen(
                [sys.executable, "-c", f"import runpy; runpy.run_path({__file__!r}, run_name='worker')"],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for folder in folders
        ]

    def ask(self, version: int, **words: Any) -> Any:
        """Send a question to one version and return its answer."""
        worker = self.workers[version]
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(words) + "\n")
        worker.stdin.flush()
        return json.loads(worker.stdout.readline())


def _work() -> None:
    """Run the cases given on standard input, one for each line, until the input ends."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        words = json.loads(line)
        make, dt, scheme = CASES[words["case"]]
        model, steps = make(), words["steps"]
        begun = process_time()
        try:
            for _ in range(words.get("repeats", 1)):
                run = simulate(model, steps * dt, dt, scheme, output_every=steps, progress=False)
        except RuntimeError as error:
            print(json.dumps(str(error)), flush=True)
            continue
        elapsed = process_time() - begun
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps([elapsed, float(run.newton_iterations[-1]), memory]), flush=True)


def _length(case: str, versions: _Versions) -> tuple[int, int, float]:
    """Return the number of steps of one measurement of a case, its repeats, and the time of a step, s."""
    steps, before, a_step = 2, 2, np.inf
    while True:
        answer = versions.ask(1, case=case, steps=steps)
        fails = isinstance(answer, str)
        if fails or answer[0] / steps > HALVED * a_step:
            return before, max(1, int(SECONDS / (before * a_step))), a_step
        elapsed = answer[0]
        before, a_step = steps, elapsed / steps
        if elapsed >= 0.5 * SECONDS:
            return steps, 1, a_step
        steps = max(2 * steps, int(steps * min(SECONDS / max(elapsed, 1e-4), 4.0)))


def compare(case: str, versions: _Versions, pairs: int) -> str:
    """Return the row of a case: ratios of processor time, iterations of both, steps."""
    for version in (0, 1):
        versions.ask(version, case=case, steps=2)
    steps, repeats, elapsed = _length(case, versions)
    if steps * elapsed > SECONDS:
        steps = max(1, int(SECONDS / elapsed))
    request = {"case": case, "steps": steps, "repeats": repeats}
    ratios, iterations = [], [0.0, 0.0]
    for _ in range(pairs):
        answers = [versions.ask(version, **request) for version in (0, 1)]
        if failed := [answer for answer in answers if isinstance(answer, str)]:
            return f"| {case} | fails: {failed[0]} | | | | {steps} |"
        ratios.append(answers[0][0] / answers[1][0])
        iterations = [answer[1] for answer in answers]
    low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
    return f"| {case} | {middle:.2f} | {low:.2f} to {high:.2f} | {iterations[0]:.2f} | {iterations[1]:.2f} | {steps} |"


def cold(folder: Path, case: str) -> float:
    """Return the processor time, s, of a first script with an empty cache."""
    code = (
        f"import runpy; m = runpy.run_path({__file__!r}, run_name='cold'); make, dt, scheme = m['CASES'][{case!r}]; "
        "m['simulate'](make(), 10 * dt, dt, scheme, progress=False)"
    )
    with tempfile.TemporaryDirectory() as cache:
        where = {"PYTHONPATH": str(folder), "XDG_CACHE_HOME": cache, "HOME": cache, "NUMBA_CACHE_DIR": cache}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], cwd=folder, env=os.environ | where, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def memory(folder: Path) -> float:
    """Return bytes per element, from the largest memory of processes that step rods of 2,000 and of 20,000 elements."""
    code = (
        f"import runpy, sys; m = runpy.run_path({__file__!r}, run_name='memory'); "
        "m['simulate'](m['cantilever'](int(sys.argv[1])), 4e-3, 1e-3, output_every=4, progress=False); "
        "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    most = [
        int(
            subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code, str(n)], cwd=folder, check=True, capture_output=True,
                env=os.environ | {"PYTHONPATH": str(folder)}, text=True,
            ).stdout
        )
        for n in (2000, 20000)
    ]  # fmt: skip
    return 1024.0 * (most[1] - most[0]) / 18000.0


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    folders = [Path(__file__).parents[1], arguments.other.resolve()]
    if arguments.memory:
        print("bytes an element: {:.0f}, {:.0f} of the other version".format(*map(memory, folders)))
    elif arguments.cold:
        for family, case in FAMILIES.items():
            times = [[cold(folder, case) for folder in folders] for _ in range(3)]
            print("| {} | {:.1f} s | {:.1f} s |".format(family, *np.median(times, axis=0)), flush=True)
    else:
        versions = _Versions(folders)
        print(
            "| case | this over the other | quartiles | iterations | of the other | steps |\n|---|---|---|---|---|---|"
        )
        for case in CASES:
            if arguments.only in case:
                print(compare(case, versions, arguments.pairs), flush=True)


if __name__ == "worker":
    _work()
elif __name__ == "__main__":
    main()
