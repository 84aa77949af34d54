"""Initial values of internal variables that are rates of measures, from the velocities of a state.

The rate of a measure m of the poses y with rates z is the imaginary part of m(y + i e z)/e
(`rigid.interactions.kinds.InternalStateEquations.rate_of`).
"""

from __future__ import annotations

import numpy as np

from discretization.interaction_table import groups_of, history_variable_counts
from discretization.internal_variables import first_history_variable
from discretization.system import System
from rigid import quaternions
from rigid.compilation.decorators import address_of, allocating_kernel
from rigid.interactions.kinds import COMPLEX_STEP, value_at
from rigid.system import State


@allocating_kernel
def _rates(address, y, numbers, out):
    """Write the rates of the values of a kind at complex poses y (k, arity, 4, 3) to out (k,)."""
    function, value = value_at(address), np.zeros(1, np.complex128)
    for k in range(out.shape[0]):
        function(y[k], numbers[k], value)
        out[k] = value[0].imag / COMPLEX_STEP


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
        if equations is not None and equations.rate_of is not None:
            rates = np.zeros(len(group.row))
            _rates(address_of(equations.rate_of), y[group.frames], group.numbers, rates)
            internal[first[group.row]] = rates
    return state._replace(internal=internal)
