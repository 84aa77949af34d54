"""Initial values of internal variables that are rates of measures, from the velocities of a state.

The rate of a measure m of the poses y with rates z is the imaginary part of m(y + i e z)/e
(`rigid.interactions.kinds.InternalStateEquations.rate_of`). Other initial values are a function of y and z (`initial`).
"""

from __future__ import annotations

import numpy as np

from discretization.interaction_table import groups_of, history_variable_counts
from discretization.internal_variables import first_history_variable
from discretization.system import System
from rigid import quaternions
from rigid.compilation.decorators import address_of, allocating_kernel
from rigid.interactions.kinds import COMPLEX_STEP, dual_at, value_at
from rigid.system import State


@allocating_kernel
def _rates(address, y, numbers, out):
    """Write the rates of the values of a kind at complex poses y (k, arity, 4, 3) to out (k,)."""
    function, value = value_at(address), np.zeros(1, np.complex128)
    for k in range(out.shape[0]):
        function(y[k], numbers[k], value)
        out[k] = value[0].imag / COMPLEX_STEP


@allocating_kernel
def _initial_values(address, y, z, numbers, out):
    """Write the initial values of internal variables at poses y (k, arity, 4, 3) with rates z to out (k, n)."""
    function, lam, values = dual_at(address), np.ones(1, np.complex128), np.zeros_like(y[0])
    flat = values.reshape(values.size)
    for k in range(out.shape[0]):
        function(y[k], z[k], numbers[k], lam, values)
        for i in range(out.shape[1]):
            out[k, i] = flat[i].real


def with_initial_rates(system: System, state: State) -> State:
    """Return the state whose internal variables that are rates of measures fit its velocities."""
    if not history_variable_counts(system.others).any():
        return state
    first, internal = first_history_variable(system), state.internal.copy()
    y = np.zeros((len(state.r), 4, 3), complex)
    directors = quaternions.to_matrix(state.quat).swapaxes(1, 2)
    omega = quaternions.rotate(state.quat, state.Omega)
    y[:, 0] = state.r + COMPLEX_STEP * 1j * state.v
    y[:, 1:] = directors + COMPLEX_STEP * 1j * np.cross(omega[:, None], directors)
    for group in groups_of(system.others, np.flatnonzero(history_variable_counts(system.others))):
        equations = group.kind.state_equations
        if equations is not None and equations.initial is not None:
            variables = np.zeros((len(group.row), group.kind.n_internal))
            z = np.ascontiguousarray(y.imag / COMPLEX_STEP, complex)
            function, at = address_of(equations.initial), group.frames
            _initial_values(function, y.real[at].astype(complex), z[at], group.numbers, variables)
            internal[first[group.row][:, None] + np.arange(group.kind.n_internal)] = variables
        elif equations is not None and equations.rate_of is not None:
            rates = np.zeros(len(group.row))
            _rates(address_of(equations.rate_of), y[group.frames], group.numbers, rates)
            internal[first[group.row]] = rates
    return state._replace(internal=internal)
