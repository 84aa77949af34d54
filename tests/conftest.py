"""Where the tests run in several processes (`make test`): who compiles, and which files come first; what all tests share."""

import contextlib
import functools
import gc
import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

# by two processes, each of these where a kernel of its own is not there: the demo before may have left those of `em`. What takes
# longest first, and while one has `em` the other has what shares little with it: both would compile the same
COMPILED_FIRST = {
    "em": "em.general_step",
    "kinds": "",
    "planar": "planar_march.planar_step",
    "trees": "tree_march.tree_step",
    "EML-kappa": "livens.kappa_residual",
    "em-ggl": "hidden_rows.add_hidden",
    "GL-SPARK(2)": "spark.spark_residual",
    "em-d(0.8)": "newton._damped_equations",
    "mG(1)": "galerkin.mg_residual",
    "GGL-EM": "ggl.ggl_em_residual",
    "equilibrium": "iteration.at_rest",
}
# each worker imports all files of tests: those whose kinds are compiled as they are registered
REGISTERING = (
    "support.own_kinds",
    "laws.test_states_at_rest",
    "laws.test_integrators",
    "laws.test_energies_as_texts",
    "laws.test_energy_laws",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Without a collection of garbage, which would take a fifth of the time; what is there then stays to the end."""
    gc.disable()
    try:
        _import_in_turns(session.config)
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.callbacks.append(_freeze)


def _freeze(phase, found):
    """What outlives a search through all is searched no more: it grows with what is compiled, and stays."""
    if phase == "stop" and found["generation"] == 2:
        gc.freeze()


def _import_in_turns(config):
    """Of all tests each worker first imports its share of the files, and finds those of the others in Python's cache afterwards.

    In a fresh clone pytest rewrites the assertions of each file, which takes longer than all else before the first test.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # the collection tells what fails
            if str(file.parent) not in sys.path:  # as pytest does
                sys.path.insert(0, str(file.parent))
            importlib.import_module(file.stem)


def pytest_configure(config):
    """RODSIM_TESTS_PERTURBED=1e-15: initial places, turns and velocities of every model change by that part of themselves.

    What fails then hangs on round-off; tests marked `exact` are left out.
    """
    size = float(os.environ.get("RODSIM_TESTS_PERTURBED", "0"))
    if size:
        from rodsim import Model

        build = Model.build

        @functools.wraps(build)
        def perturbed(model):
            built, random = build(model), np.random.default_rng(0)
            moving = built.system.frames.fixed == 0
            changed = {}
            for name in ("r", "quat", "v", "Omega"):
                values = getattr(built.state, name).copy()
                values[moving] *= 1.0 + size * random.standard_normal(values[moving].shape)
                changed[name] = values
            changed["quat"] /= np.linalg.norm(changed["quat"], axis=1, keepdims=True)
            return built._replace(state=built.state._replace(**changed))

        Model.build = perturbed


def pytest_sessionstart(session):
    """Compile what most tests need before there are workers: each of them would compile the same."""
    config = session.config
    if hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", None):
        return
    from rigid.compilation.cache_folder import CACHE_DIRECTORY

    if not CACHE_DIRECTORY:  # each worker compiles for itself
        return
    there = Path(CACHE_DIRECTORY)
    tasks = [
        task
        for task, kernel in COMPILED_FIRST.items()
        if not kernel or not any(there.glob(f"**/{kernel}-*.nbi"))
    ]
    gc.disable()  # the compiler leaves little garbage among millions of objects: to look for it takes a tenth of its time
    try:
        _in_two_processes(iter(tasks))
    finally:
        gc.enable()


def _in_two_processes(tasks):
    """This one and another: each takes the next task when it has done one."""
    lock = threading.Lock()

    def taken():
        with lock:
            return next(tasks, None)

    with subprocess.Popen(
        [sys.executable, __file__],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as other:

        def feed():
            with contextlib.suppress(BrokenPipeError):  # what it leaves out a worker compiles
                while (task := taken()) is not None:
                    print(task, file=other.stdin, flush=True)
                    if not other.stdout.readline():
                        return
                other.stdin.close()

        feeding = threading.Thread(target=feed)
        feeding.start()
        while (task := taken()) is not None:
            _compile(task)
        feeding.join()


def _compile(task):
    """A step of a model that has everything, by the two ways of stepping, or its rest, or of one that takes a shortcut, or kinds
    that many files of tests import; what it leaves out a worker compiles.
    """
    if task == "kinds":
        sys.path.append(str(Path(__file__).parents[1]))
        for module in REGISTERING:
            importlib.import_module(f"tests.{module}")
        return
    from rodsim import Box, Model, Section, equilibrium, simulate

    model = Model("compiled", gravity=(0, 0, -9.81))
    if task in ("planar", "trees"):  # about an axis of the box it swings in a plane
        body = model.add_body("body", Box(0.3, 0.2, 0.1, density=100), position=(0.5, 0, 0))
        model.add_joint(
            "pin", "revolute", model.ground, body, axis=(0, 1, 0.5 * (task == "trees")), at=(0, 0, 0)
        )
        simulate(model, 2e-3, 1e-3)
        return
    section = Section.from_stiffness(
        EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
    )
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.2, 0.1)], section, n_elements=3, mass="lumped")
    body = model.add_body("body", Box(0.3, 0.2, 0.1, density=100), position=(1.1, 0.3, 0.1))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_joint("pin", "revolute", rod.end, body, axis=(0, 1, 0))
    model.add_spring("string", model.ground.at((0, 1, 0)), body.at((0, 0.1, 0)), stiffness=40.0)
    model.add_force("push", rod.end, (0, 1, 0))
    if task == "equilibrium":
        equilibrium(model)
    else:
        simulate(model, 2e-3, 1e-3, task)


def pytest_collection_modifyitems(config, items):
    """Files with slow tests first, so that no worker is left with a long one at the end."""
    if float(os.environ.get("RODSIM_TESTS_PERTURBED", "0")):
        exact = [item for item in items if item.get_closest_marker("exact")]
        config.hook.pytest_deselected(items=exact)
        items[:] = [item for item in items if item not in exact]
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


if __name__ == "__main__":
    gc.disable()
    for line in sys.stdin:
        _compile(line.strip())
        print("done", flush=True)
