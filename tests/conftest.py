"""Shared test set-up: with several processes (`make test`), compile order and order of the files; fixtures of
all tests.
"""

import contextlib
import functools
import gc
import importlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest

# test files whose kinds are compiled at registration: each worker imports all files
REGISTERING = (
    "support.user_kinds",
    "laws.test_static_internal_states",
    "laws.test_integrators",
    "laws.test_energy_expressions",
    "laws.test_energy_laws",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Disable the garbage collection, which would take a fifth of the time; objects that exist then live to
    the end.
    """
    gc.disable()
    try:
        _import_in_turns(session.config)
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.callbacks.append(_freeze)


def _freeze(phase, info):
    """Exclude objects that survived a full collection from later ones: their number grows with the compiled
    code, and they stay.
    """
    if phase == "stop" and info["generation"] == 2:
        gc.freeze()


def _import_in_turns(config):
    """Let each worker first import its part of all test files; afterwards it finds those of the others in
    Python's cache.

    In a fresh clone pytest rewrites the assertions of each file, which takes longer than everything else
    before the first test.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # the collection reports the failure
            if str(file.parent) not in sys.path:  # as pytest does
                sys.path.insert(0, str(file.parent))
            importlib.import_module(file.stem)


def pytest_configure(config):
    """RODSIM_TESTS_PERTURBED=1e-15: perturb initial positions, rotations and velocities of every model by
    this relative amount.

    A test that then fails depends on round-off; tests marked `exact` are deselected.
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
    """Compile what most tests need before workers start: each of them would compile the same code."""
    config = session.config
    if hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", None):
        return
    from rodsim.compiling.ahead_of_time import compile_ahead

    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        for outcome in compile_ahead(also={"kinds": register_kinds}).failed:  # each worker compiles it
            print(f"not compiled before the tests: {outcome.family}: {outcome.fault}", file=sys.stderr)


def register_kinds():
    """Import kinds that many files of tests use."""
    sys.path.append(str(Path(__file__).parents[1]))
    for module in REGISTERING:
        importlib.import_module(f"tests.{module}")


def pytest_collection_modifyitems(config, items):
    """Order files with slow tests first, so that no worker is left with a long one at the end."""
    if float(os.environ.get("RODSIM_TESTS_PERTURBED", "0")):
        exact = [item for item in items if item.get_closest_marker("exact")]
        config.hook.pytest_deselected(items=exact)
        items[:] = [item for item in items if item not in exact]
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
