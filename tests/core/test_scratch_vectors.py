"""Named scratch vectors of residuals are views of declared rows, which no called kernel shares."""

from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from discretization.time import scratch_vectors as scratch_module
from discretization.time.scratch_vectors import PerConstraint, PerCoordinate, Rows, new_work, rows_of, scratch
from rigid.compilation.decorators import internal_kernel
from rigid.mechanics.mechanical_system import Data

FOLDER = Path(scratch_module.__file__).parent
MODULES = [path.stem for path in sorted(FOLDER.glob("*.py")) if "= scratch(" in path.read_text()]


class Low(NamedTuple):
    q: PerCoordinate
    g: PerConstraint


class High(NamedTuple):
    many: Annotated[Any, Rows(2)]
    lam: PerConstraint


low = scratch(Low)
high = scratch(High, above=(Low,))


@internal_kernel
def fill(W, D):
    """Fill every vector with a number of its own."""
    a, b = low(W, D), high(W, D)
    a.q[:], a.g[:], b.lam[:] = 1.0, 2.0, 5.0
    b.many[0, :], b.many[1, :] = 3.0, 4.0


def test_vectors_are_views_of_the_declared_rows():
    W = new_work(3, 2, matrices=False)
    fill(W, Data(3, 2, 0))
    expected = [[1, 1, 1], [2, 2, 0], [3, 3, 3], [4, 4, 4], [5, 5, 0]]
    assert np.array_equal(W.vector[:5], expected)
    assert not W.vector[5:].any()
    assert (rows_of(Low), rows_of(High)) == (range(2), range(2, 5))


def source(kernel):
    """The Python function of a kernel, however it is compiled."""
    return getattr(kernel, "py_func", getattr(kernel, "__wrapped__", kernel))


def named_objects(kernel):
    """Objects that the code of a kernel names."""
    function = source(kernel)
    return [function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__]


def declarations_of(kernel):
    """Declarations whose vectors a kernel requests."""
    return {value.names for value in named_objects(kernel) if isinstance(getattr(value, "names", None), type)}


@cache
def declarations_of_callees(kernel):
    """Declarations requested by all kernels that it calls."""
    below = set()
    for called in named_objects(kernel):
        if isinstance(source(called), FunctionType) and called is not kernel:
            below |= declarations_of(called) | declarations_of_callees(called)
    return below


def kernels_of(module):
    namespace = vars(import_module(f"discretization.time.{module}"))
    functions = {name: source(value) for name, value in namespace.items()}
    return {
        name: f
        for name, f in functions.items()
        if isinstance(f, FunctionType) and f.__module__ == namespace["__name__"]
    }


def overlaps(kernel):
    """Pairs of declarations, of a kernel and of its callees, that share rows."""
    return [
        (declared.__name__, used_below.__name__)
        for declared in declarations_of(kernel)
        for used_below in declarations_of_callees(kernel) - {declared}
        if set(rows_of(declared)) & set(rows_of(used_below))
    ]


@pytest.mark.parametrize("module", MODULES)
def test_kernels_do_not_share_rows_with_those_they_call(module):
    assert not {name: overlaps(kernel) for name, kernel in kernels_of(module).items() if overlaps(kernel)}


def beneath(W, D):
    return low(W, D)


def above(W, D):
    beneath(W, D)
    return high(W, D)


apart = scratch(Apart := NamedTuple("Apart", [("q", PerCoordinate)]))


def overlapping(W, D):
    beneath(W, D)
    return apart(W, D)


def test_shared_rows_are_detected():
    assert (declarations_of(above), declarations_of_callees(above)) == ({High}, {Low})
    assert overlaps(above) == []
    assert overlaps(overlapping) == [("Apart", "Low")]


def test_every_residual_requests_vectors():
    """Otherwise the test above would check nothing."""
    assert {"livens", "ggl", "galerkin", "spark", "hamiltonian_schemes", "bubnov_elements", "forcing"} <= set(
        MODULES
    )
    residuals = [
        kernel
        for module in MODULES
        for name, kernel in kernels_of(module).items()
        if name.endswith("_residual")
    ]
    assert len(residuals) >= 13
    assert all(declarations_of(kernel) for kernel in residuals)
