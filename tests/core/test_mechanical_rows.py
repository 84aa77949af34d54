"""Functions of a mechanical system at many states equal those at one state, in every kind of system."""

import numpy as np
import pytest
import sympy as sp

from rigid.mechanics import mechanical_rows
from rigid.symbolic.systems import symbolic_system
from rodsim.papers import joined_bodies

X, Y = sp.symbols("x y")


def bead():
    """A mass that depends on q, and a constraint: matrices, no products."""
    M = [[2 + X**2, X * Y / 2], [X * Y / 2, 3 + Y**2]]
    return symbolic_system("bead", [X, Y], [1.0, 0.0], [0.0, 1.0], M=M, V=X**3 * Y, g=[X**2 + Y**2 - 1])


SYSTEMS = {
    "matrices": bead,
    "products": lambda: joined_bodies.system("gamma"),
    "singular mass": lambda: joined_bodies.system("singular"),
}
SINGLE = {
    "momenta": lambda s, q, x: s.momentum(q, x),
    "kinetic_energies": lambda s, q, x: s.kinetic(q, x),
    "potentials": lambda s, q, x: s.potential(q),
    "constraints": lambda s, q, x: s.constraints(q),
    "rates": lambda s, q, x: s.rate(q, x),
    "velocities": lambda s, q, x: s.velocity(q, x),
    "hamiltonians": lambda s, q, x: s.hamiltonian(q, x),
}


CASES = [
    (kind, name)
    for kind in SYSTEMS
    for name in SINGLE
    if kind != "singular mass" or name not in ("velocities", "hamiltonians")
]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_batch_rows_equal_single_state_evaluations(kind, name, monkeypatch):
    system = SYSTEMS[kind]()
    monkeypatch.setattr(mechanical_rows, "_BLOCK", 3)  # several blocks, the last one not full
    rng = np.random.default_rng(1)
    q = system.q0 + 0.1 * rng.standard_normal((7, system.n))
    x = rng.standard_normal((7, system.n))
    arguments = (q,) if name in ("potentials", "constraints") else (q, x)
    actual = getattr(mechanical_rows, name)(system, *arguments)
    single = np.array([SINGLE[name](system, a, b) for a, b in zip(q, x, strict=True)])
    assert np.abs(actual - single).max() <= 1e-13 * np.abs(single).max()
    assert np.ptp(single, axis=0).max() > 0.0
