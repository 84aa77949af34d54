"""Compiled code releases every array it receives: no run retains the arrays of its model, and memory does not grow."""

import copy
import gc
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from discretization.time.stepper import Stepper
from discretization.time.stepper_base import copy_state
from rigid.bound_arguments import bind_tuple
from rigid.compilation.decorators import allocating_kernel, kernel
from rigid.system import State
from rigid.tuple_references import by_reference
from rodsim import Box, Model, Section, equilibrium, linearise, modes, simulate


@kernel
def first_numbers(one, other):
    return one.r[0, 0] + 10.0 * other.quat[0]


class Rotated(NamedTuple):
    """A named tuple of another type."""

    quat: Any
    extra: Any


by_reference(Rotated)


def test_frozen_tuple_equals_the_tuple_in_kernels():
    """Kernels read the current values of a bound tuple, distinguish its type, and a copy has its own arrays."""
    state = State(*(np.full((2, 3), float(k)) for k in range(len(State._fields))))
    turned = Rotated(np.full(4, 7.0), np.zeros((2, 2), np.int64))
    one, other = bind_tuple(state), bind_tuple(turned)
    assert first_numbers(one, other) == first_numbers(state, turned) == state.r[0, 0] + 70.0
    copied = copy.deepcopy(other)
    turned.quat[:] = 8.0
    state.r[:] = 3.0
    for reference in (one, state):
        assert first_numbers(reference, other) == first_numbers(reference, turned) == 83.0
        assert first_numbers(reference, copied) == 73.0
    with pytest.raises((AttributeError, numba.TypingError)):
        first_numbers(other, one)


@allocating_kernel
def push_state(state, x):
    """Move a state by x, with an allocated array, and return the sum of its positions and first
    quaternion components.
    """
    step, s = np.full(3, x), 0.0
    for f in range(state.r.shape[0]):
        for i in range(3):
            state.r[f, i] += step[i]
            s += state.r[f, i]
        s += state.quat[f, 0]
    return s


def some_state(n):
    zero = np.zeros((n, 3))
    return State(
        zero + 1.0, np.ones((n, 4)), zero, zero, np.zeros(0), np.zeros(0), np.zeros(6 * n), np.zeros(2)
    )


def test_bound_arguments_keep_their_arrays_and_show_changes():
    values = [some_state(2), some_state(3)]
    bound, other = map(bind_tuple, values)
    r, quat = values[0].r, values[0].quat
    del values
    for x in (1.0, 2.0):
        before = r.copy()
        assert push_state(bound, x) == pytest.approx((before + x).sum() + 2.0)
        assert r == pytest.approx(before + x)
    quat[:] = 5.0
    assert push_state(bound, 0.0) == pytest.approx(r.sum() + 10.0)
    gc.collect()
    assert push_state(other, 0.0) == 12.0


@pytest.fixture(autouse=True)
def _searched_from_here():
    """Limit garbage collection to objects of the test: collecting those left by the compiler takes a second."""
    gc.collect()
    gc.freeze()


H = 1e-3
RESIDENT = Path("/proc/self/statm")
MIB = 2.0**20


def arm(n_elements=2):
    """A rod, a hinged body, a spring and a load: a model with most parts and an equilibrium."""
    model = Model("arm", gravity=(0, 0, -9.81))
    section = Section.from_stiffness(
        EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
    )
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.2, 0.1)], section, n_elements, mass="lumped")
    body = model.add_body("body", Box(0.3, 0.2, 0.1, density=100), position=(1.1, 0.3, 0.1))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_joint("pin", "revolute", rod.end, body, axis=(0, 1, 0))
    model.add_spring("string", model.ground.at((0, 1, 0)), body.at((0, 0.1, 0)), stiffness=40.0)
    model.add_force("push", rod.end, (0, 1, 0))
    return model


def counts(*tuples):
    """Count the references to each array of nested tuples, by its path, after a garbage collection."""
    gc.collect()
    references = {}

    def visit(value_tuple, place):
        for name in getattr(value_tuple, "_fields", ()):
            value = getattr(value_tuple, name)
            if isinstance(value, np.ndarray):
                references[f"{place}.{name}"] = sys.getrefcount(value)
            visit(value, f"{place}.{name}")

    for k, value_tuple in enumerate(tuples):
        visit(value_tuple, f"{k}")
    assert len(references) > 20
    return references


def test_sparse_solver_retains_no_array():
    """The sparse solver passes its matrix to Python and receives its solution from there."""
    built = arm(4).build()
    stepper = Stepper(built.system, H, load_values=built.load_values, band_limit=0)
    assert stepper.numbering.band < 0
    fronts = stepper.numbering.fronts
    stepper.numbering = stepper.numbering._replace(fronts=fronts._replace(inner=fronts.inner[:0]))
    state = copy_state(built.state)
    stepper.march(state, H, np.zeros(1))
    before = counts(state, stepper.numbering, stepper.work)
    for k in range(3):
        assert stepper.march(state, H, np.array([H * k])).failure is None
    assert counts(state, stepper.numbering, stepper.work) == before


MARCHES = ("em", "em4", "em-ggl", "em-d(0.5)", "EML", "GGL-EM", "VI-B(0.5, 0.5)", "GL-SPARK(2)", "mG(2)")
ASKED = {
    **{name: lambda model, name=name: simulate(model, 4 * H, H, name) for name in MARCHES},
    "equilibrium": equilibrium,
    "linearise": linearise,
    "modes": lambda model: modes(model, 2, anyway=True),
}


@pytest.mark.parametrize("name", ASKED)
def test_model_functions_retain_no_array(name, monkeypatch):
    model, function = arm(), ASKED[name]
    built = model.build()
    monkeypatch.setattr(Model, "build", lambda self: built)
    function(model)  # modules loaded here stay loaded and are not searched below
    gc.collect()
    gc.freeze()
    references = []
    for _ in range(3):
        function(model)
        gc.collect()
        references.append(counts(built.system, built.state))
    assert references[1] == references[0]
    assert references[2] == references[0]


@allocating_kernel
def first_of(state, n):
    """Read a state by reference, and allocate."""
    return state.r[0, 0] + np.zeros(n)[0]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="numba's part")
def test_invalid_arguments_are_reported_and_not_cached():
    """Call the machine code directly: it is compiled for one type and may receive another."""
    z = np.zeros((2, 3))
    state = State(z, np.zeros((2, 4)), z, z, np.zeros(0), np.zeros(0), np.zeros(12), np.zeros(2))
    assert first_of(state, 1) == 0.0
    direct = first_of.overloads[first_of.signatures[0]].entry_point
    invalid = state._replace(quat="no array"), state._replace(memory=np.zeros(12, np.float32))
    before = [counts_of_arrays(state_like) for state_like in invalid]
    for _ in range(3):
        for state_like in invalid:
            with pytest.raises(TypeError, match="can't unbox array"):
                direct(state_like, 1)
        for no_state in (None, np.zeros(3), (), (0.0, 0.0)):
            with pytest.raises(TypeError, match="can't unbox array"):
                direct(no_state, 1)
        with pytest.raises(TypeError):
            direct(state, None)  # the argument after the state
    assert [counts_of_arrays(state_like) for state_like in invalid] == before


def counts_of_arrays(state):
    """Count the references to each array of a state."""
    return [sys.getrefcount(x) for x in state if isinstance(x, np.ndarray)]


def memory_growth(action, times):
    """Growth of the process memory (MiB) in so many calls, after a tenth as many warm-up calls."""
    for _ in range(max(1, times // 10)):
        action()
    gc.collect()
    before = resident()
    for _ in range(times):
        action()
    gc.collect()
    return resident() - before


def resident():
    """Resident memory of this process, MiB."""
    return int(RESIDENT.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MIB


@pytest.mark.skipif(not RESIDENT.exists(), reason="reads the size of the process from Linux")
def test_memory_does_not_grow_with_the_number_of_runs():
    """A run of this model has 0.3 MiB of arrays: if they were retained, 250 runs would take 75 MiB."""
    built = arm(20).build()

    def run():
        stepper = Stepper(built.system, H, load_values=built.load_values)
        stepper.march(copy_state(built.state), H, np.zeros(1))

    assert memory_growth(run, 250) < 8.0


@pytest.mark.skipif(not RESIDENT.exists(), reason="reads the size of the process from Linux")
def test_memory_does_not_grow_with_the_number_of_outputs():
    """The references of one call take 75 kB in numba: if they were retained, 2000 calls would take 140 MiB."""
    built = arm().build()
    stepper = Stepper(built.system, H, load_values=built.load_values)
    state = stepper.start(copy_state(built.state))

    def output():
        nonlocal state
        state, _ = stepper.advance(state, 0, 1)

    assert memory_growth(output, 2000) < 8.0
