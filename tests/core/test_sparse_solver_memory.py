"""Sparse factors live as long as their solver."""

import gc

import numpy as np
import pytest
import scipy

from discretization.linear import sparse
from tests.support.processes import ended
from tests.support.solvers import solver_of


@pytest.mark.parametrize("kind", ["Stepper", "Rest"])
def test_factors_are_released_with_their_solver(kind):
    solver, other = solver_of(kind), solver_of(kind)
    handles = [owner.numbering.handle for owner in (solver, other)]
    for handle in handles:
        sparse._factors[handle] = object()
    del solver
    gc.collect()
    assert [handle in sparse._factors for handle in handles] == [False, True]
    del other
    gc.collect()
    assert not set(handles) & set(sparse._factors)


AT_EXIT = """
import atexit, builtins, sys
from tests.support.solvers import solver_of
from discretization.linear import sparse
from discretization.statics import equilibrium_system
from discretization.time import stepper
builtins.kept = [solver_of("Stepper"), solver_of("Rest")]
for module in (sparse, stepper, equilibrium_system):  # as the end of Python does
    atexit.register(vars(module).clear)
"""


def test_solvers_print_nothing_at_interpreter_exit():
    assert ended("-c", AT_EXIT).stderr == ""


@pytest.mark.parametrize("lines", ["row", "column"])
def test_matrix_with_a_zero_line_is_rejected_before_superlu(lines, monkeypatch):
    """SuperLU can otherwise pass wrong sizes to the BLAS, which prints to stdout."""
    dense = np.eye(4) + 1.0
    matrix = scipy.sparse.csc_matrix(dense)
    dense[(1, slice(None)) if lines == "row" else (slice(None), 1)] = 0.0
    matrix.data[:] = dense.T.ravel()  # stored zeros
    monkeypatch.setattr(scipy.sparse.linalg, "splu", None)
    with pytest.raises(RuntimeError, match="singular"):
        sparse.sparse_lu(matrix)
