"""Shared models and helpers: step-end derivatives."""

import numpy as np

from rigid import quaternions
from rigid.interactions.blocks import blocks, number_blocks, value_numbers
from rigid.interactions.evaluation import values
from rigid.interactions.kinds import Group
from rigid.system import State

EPS = 1e-5  # of a parameter


def moved(state: State, displacements) -> State:
    """Move the state by (dr, rotation vector) (n, 6)."""
    turns = quaternions.from_rotation_vector(displacements[:, 3:])
    return state._replace(r=state.r + displacements[:, :3], quat=quaternions.multiply(turns, state.quat))


def close(one, other, tolerance):
    assert np.abs(one - other).max() <= tolerance * max(np.abs(other).max(), 1e-3)


def perturbed_parameters(group: Group, step: float) -> Group:
    """Repeat the first interaction once per parameter, each copy with another parameter increased."""
    width = group.numbers.shape[1]
    numbers = group.numbers[0] + step * np.eye(width)
    return group._replace(
        frames=np.repeat(group.frames[:1], width, axis=0), numbers=numbers, row=np.arange(width)
    )


def number_derivatives_hold(group, start, end, lam):
    """Assert that derivatives of forces and values equal central differences; return the derivatives of the values."""
    lam = lam[:1] if np.ndim(lam) else lam
    first = group._replace(frames=group.frames[:1], numbers=group.numbers[:1], row=group.row[:1])
    exact = number_blocks(first, start, end, lam)[0]
    every = np.repeat(lam, group.numbers.shape[1], axis=0) if np.ndim(lam) else lam
    plus, minus = (perturbed_parameters(group, s * EPS) for s in (1, -1))
    difference = blocks(plus, start, end, every).force - blocks(minus, start, end, every).force
    close(np.moveaxis(difference, 0, -1) / (2 * EPS), exact, 1e-6)
    exact, rows = value_numbers(first, end)[0], max(group.kind.rows, 1)
    apart = [x._replace(row=rows * x.row) for x in (plus, minus)]
    difference = values([apart[0]], end.r, end.quat) - values([apart[1]], end.r, end.quat)
    close(difference.reshape(-1, rows).T / (2 * EPS), exact, 1e-6)
    return exact
