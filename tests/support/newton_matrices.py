"""Newton's matrix of a step by the pattern of its scheme, and by all columns one by one."""

import numpy as np

from discretization.time import integrate as marching
from discretization.time.implicit import evaluate_matrix
from discretization.time.scheme import Step
from discretization.time.sparsity_pattern import pattern_of
from discretization.time.symplecticity import OneStep

H = 0.01


def matrix_twice(scheme, system, monkeypatch):
    """Coloured and full matrix at the solution x of the first step; x, and the function of such a step."""

    def step():
        signal = marching.signals_at(system, scheme, np.zeros(1), H)[0, 0]
        return OneStep(system, scheme, H, signal)

    monkeypatch.setattr(marching, "LEAST_BAND", 10**9)
    one = step()
    state = (system.q0, system.momentum(system.q0, system.v0), system.v0)
    x = one.solve(*state)
    matrix = one.derivative(x, state)
    pattern = pattern_of(scheme, system, one.work)
    q, p, v = (part.astype(complex) for part in state)
    start = Step(H, q, p, v, one.signal, scheme.options)
    solver = one.solver._replace(x=x.astype(complex), pattern=pattern, values=np.zeros(len(pattern.rows)))
    evaluate_matrix(scheme.residual, system.functions, system.data, start, one.work, solver, False)
    coloured = np.zeros(matrix.shape)
    coloured[pattern.rows, np.repeat(np.arange(len(x)), np.diff(pattern.first))] = solver.values
    return coloured, matrix, x, step
