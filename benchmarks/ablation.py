"""Measure the gain of each accelerator by disabling it: python -m benchmarks.ablation [--only WORD] [--pairs 5] [--cold]

The table has the number of lines of code that only this accelerator needs. It also has the ratio of the
processor time without it to that with it, for a typical case and for a case of large gain; for threads it is
wall time. Both versions run in turn, each in one process; the cases are those of
`benchmarks.version_comparison`. `--cold` also measures accelerators of the first compilation, with an empty
cache, which takes minutes.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

ROOT = Path(__file__).parents[1]
RUNS, SECONDS = 16, 0.2  # runs of `simulate_many`; length of one measurement, s


class Accelerator(NamedTuple):
    """Part of the program that makes it faster, and how to disable it."""

    code: Sequence[str]  # files, or file:function, that exist for it alone
    off: Callable[[], None]  # called at the start of a process that works without it
    typical: str
    best: str
    options: dict[str, Any] = {}  # noqa: RUF012  arguments of `simulate`, or "runs" for `simulate_many`
    options_off: dict[str, Any] = {}  # noqa: RUF012  instead of these without it
    compiled: bool = False  # without it kernels differ: the process has a separate cache
    cold: bool = False  # true if it accelerates the first compilation


def _patch(name: str, new: Any) -> None:
    """Replace an object for the rest of the process; `name`: its module and name."""
    mock.patch(name, new).start()


def _nothing() -> None:
    """Do nothing: the options switch it off."""


def _without_plane() -> None:
    _patch("discretization.time.planar_stepper.planar_model", lambda *_, **__: "switched off")


def _without_history() -> None:
    from discretization.solver_selection import select_stepper

    _patch(
        "rodsim.running.run.select_stepper",
        lambda *arguments, **options: select_stepper(*arguments, **options | {"earlier": False}),
    )


def _without_groups() -> None:
    from discretization.trees import data_layout

    grouped = data_layout.simd_body_groups
    _patch("discretization.time.tree_stepper.simd_body_groups", lambda system, tree: grouped(system, tree, 9))


def _without_lanes() -> None:
    for name in ("tree_stepper.TreeStepper", "planar_stepper.PlanarStepper"):
        _patch(f"discretization.time.{name}._batch_key", lambda _: ())


def _with_new_tangents() -> None:
    from discretization.time import newton_stopping
    from rigid.compilation.decorators import inline_kernel

    def can_reuse_tangent(size, before, arguments, bodies):  # type: ignore[no-untyped-def]
        return False

    newton_stopping.can_reuse_tangent = inline_kernel(can_reuse_tangent)


def _with_usual_garbage_collection() -> None:
    _patch("rigid.compilation.compiler_settings.WhileCompiling.EVERY", 700)


def _with_machine_code_of_each_kernel() -> None:
    _patch("rigid.compilation.decorators.inlined", lambda dispatcher: dispatcher)


TREES, TIME, PLANE = "discretization/trees", "discretization/time", "discretization/planar"
ACCELERATORS: dict[str, Accelerator] = {
    "trees: eliminate bodies one by one": Accelerator(
        [TREES, f"{TIME}/tree_march.py", f"{TIME}/tree_stepper.py", f"{TIME}/newton_stopping.py"],
        _nothing,
        "mixed tree 20",
        "oblique hinges 100",
        options_off={"solver": "general"},
    ),
    "plane: three unknowns a frame": Accelerator(
        [PLANE, *(f"{TIME}/planar_{name}.py" for name in ("march", "newton", "batch_march", "stepper"))],
        _without_plane,
        "planar cantilever 20",
        "four-bars 10",
    ),
    "predictor: history of six steps": Accelerator(
        ["discretization/assembly/predictor.py"], _without_history, "oblique hinges 20", "ball chain 20"
    ),
    "bodies of a tree in SIMD lanes": Accelerator(
        [f"{TREES}/body_lanes.py", f"{TREES}/lane_states.py"], _without_groups, "oblique hinges 20", "rod 100"
    ),
    "tangents of the last correction again": Accelerator(
        [
            f"{TREES}/elimination.py:reeliminate",
            f"{TREES}/elimination.py:reeliminate_plain",
            f"{TREES}/bodies.py:assemble_residuals",
            f"{TREES}/body_lanes.py:assemble_group_residuals",
            f"{TIME}/newton_stopping.py:can_reuse_tangent",
            f"{PLANE}/elimination.py:resolve_hinge",
            f"{PLANE}/elimination.py:resolve_hinges",
        ],
        _with_new_tangents,
        "oblique hinges 5",
        "oblique hinges 20",
        compiled=True,
    ),
    "eight runs of `simulate_many` in SIMD lanes": Accelerator(
        [
            *(f"{TREES}/{name}.py" for name in ("batch_arrays", "batch_loops")),
            *(
                f"{TIME}/{name}.py"
                for name in ("batch_march", "tree_batch_march", "planar_batch_march", "batched_runs")
            ),
            f"{PLANE}/batch_arrays.py",
        ],
        _without_lanes,
        "oblique hinges 20",
        "planar hinges 5",
        options={"runs": RUNS},
        options_off={"runs": RUNS},
    ),
    "threads of one run": Accelerator(
        ["discretization/assembly/thread_team.py"],
        _nothing,
        "rod 1000",
        "net 5040",
        options={"solver": "general", "threads": 2},
        options_off={"solver": "general"},
    ),
    "compilation: collect garbage less often": Accelerator(
        ["rigid/compilation/compiler_settings.py"],
        _with_usual_garbage_collection,
        "rod 20",
        "rod 20",
        cold=True,
    ),
    "compilation: no machine code of short kernels": Accelerator(
        ["rigid/compilation/inlined_kernels.py"],
        _with_machine_code_of_each_kernel,
        "rod 20",
        "oblique hinges 5",
        cold=True,
    ),
}


def lines_of(code: Sequence[str]) -> int:
    """Return the number of lines of code, without docstrings, comments and blank lines, of files, folders or functions."""
    count = 0
    for place in code:
        name, _, function = place.partition(":")
        path = ROOT / name
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            count += len(_lines(ast.parse(file.read_text()), function))
    return count


def _lines(tree: ast.AST, function: str) -> set[int]:
    """Return the numbers of the lines with code of a module, or of one of its functions."""
    if function:
        tree = next(
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function
        )
    line_numbers: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            continue
        if isinstance(node, ast.stmt | ast.expr):
            line_numbers |= {node.lineno, node.end_lineno or node.lineno}
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            text = node.body[0]
            line_numbers -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return line_numbers


class _Worker:
    """Process that measures cases with or without one accelerator."""

    def __init__(self, name: str, off: bool, cache: str) -> None:
        where = {"NUMBA_CACHE_DIR": cache} if cache else {}
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "ignore",
                "-m",
                "benchmarks.ablation",
                "--worker",
                name,
                *(["--off"] if off else []),
            ],
            cwd=ROOT,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | where,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, case: str, steps: int) -> float:
        """Return the processor time, s, of one measurement of a case."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([case, steps]), file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _work(name: str, off: bool) -> None:
    """Measure the cases named on standard input, one for each line."""
    accelerator = ACCELERATORS[name]
    if off:
        accelerator.off()
    # imported late: some accelerators are switched off before the kernels that use them are created
    import rodsim
    from benchmarks.version_comparison import CASES

    options = dict(accelerator.options_off if off else accelerator.options)
    runs = options.pop("runs", 0)
    clock = perf_counter if "threads" in accelerator.options else process_time
    for line in sys.stdin:
        case, steps = json.loads(line)
        make, dt, scheme = CASES[case]
        model, end = make(), steps * dt
        begun = clock()
        if runs:
            prepared = model.prepare(t_end=end, dt=dt, integrator=scheme)
            rodsim.simulate_many(
                prepared, [{"gravity": (0.0, 0.1 * k, -9.0)} for k in range(runs)], threads=1
            )
        else:
            rodsim.simulate(model, end, dt, scheme, output_every=steps, progress=False, **options)
        print(clock() - begun, flush=True)


def _ratio(name: str, case: str, pairs: int) -> float:
    """Return the median of the times without an accelerator over those with it."""
    accelerator = ACCELERATORS[name]
    with tempfile.TemporaryDirectory() as cache:
        if accelerator.cold:
            return _cold_ratio(name, case)
        workers = [_Worker(name, off, cache if off and accelerator.compiled else "") for off in (False, True)]
        try:
            for worker in workers:
                worker.ask(case, 2)
            steps = 2
            while workers[0].ask(case, steps) < SECONDS and steps < 4096:
                steps *= 2
            ratios = []
            for _ in range(pairs):
                one, other = (worker.ask(case, steps) for worker in workers)
                ratios.append(other / one)
        finally:
            for worker in workers:
                worker.end()
    return float(np.median(ratios))


def _cold_ratio(name: str, case: str) -> float:
    """Return the time of a first run with an empty cache without an accelerator over that with it."""
    times = []
    for off in (False, True):
        with tempfile.TemporaryDirectory() as cache:
            worker = _Worker(name, off, cache)
            times.append(worker.ask(case, 2))
            worker.end()
    return times[1] / times[0]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="accelerators whose name contains this")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    parser.add_argument("--off", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return _work(arguments.worker, arguments.off)
    print("| accelerator | lines | typical | best | cases |\n|---|---|---|---|---|")
    for name, accelerator in ACCELERATORS.items():
        if arguments.only not in name or (accelerator.cold and not arguments.cold):
            continue
        gains = [_ratio(name, case, arguments.pairs) for case in (accelerator.typical, accelerator.best)]
        cases = f"{accelerator.typical}, {accelerator.best}"
        print(
            f"| {name} | {lines_of(accelerator.code)} | {gains[0]:.2f} | {gains[1]:.2f} | {cases} |",
            flush=True,
        )
    return None


if __name__ == "__main__":
    main()
