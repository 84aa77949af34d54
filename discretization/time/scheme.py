"""Define an integrator of mechanical systems: a residual, an update, and the declared facts about them.

A scheme turns one step into equations r(x) = 0. `residual(functions, data, step, work, x, r)` evaluates them
for complex x, so that Newton's matrix is a complex-step derivative. `update` computes the state at the end of the step from x.
`blocks` describes the unknowns, which determines the initial guess and the scale of corrections. `account` adds the work of
the loads and the dissipation of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numba import types

from rigid.compilation.decorators import compiled
from rigid.mechanics.mechanical_system import C1, C2, DATA, F1, F2, FUNCTIONS, QUATERNIONS, MechanicalSystem
from rigid.system import Floats
from rigid.tuple_references import Reference, by_reference

# Kinds of unknown blocks: coordinates, momenta, velocities, forces (guess 0), the multipliers of g, of G v,
# increments of coordinates (guess 0), the multipliers of joints alone, and multipliers of g that do not affect any coordinate
# or momentum among the unknowns, but only the state at the end of the step.
Q, P, V, FORCES, LAMBDA, GAMMA, INCREMENT, JOINTS, IMPULSES = range(9)


@by_reference
class Step(NamedTuple):
    """Data known at the start of a step."""

    h: float
    q0: Any  # (n,) complex coordinates
    p0: Any
    v0: Any
    signal: Floats  # (k, s) values of the time signals at the nodes of the scheme, then at those of driven constraints
    options: Floats  # parameters of the scheme: theta, tableaux ...


@by_reference
class Work(NamedTuple):
    """Scratch of a residual; its vectors are named in `discretization.time.scratch_vectors`."""

    vector: Any  # (vectors, max(n, m)) complex
    jacobian: Any  # (m, n)
    other: Any  # (m, n)
    square: Any  # (n, n)


STEP = Reference(types.NamedTuple([types.float64, C1, C1, C1, F2, F1], Step))
WORK = Reference(types.NamedUniTuple(C2, 4, Work))  # numba type of equal fields
RESIDUAL_SIGNATURE = types.void(FUNCTIONS, DATA, STEP, WORK, C1, C1)
UPDATE_SIGNATURE = types.void(FUNCTIONS, DATA, STEP, WORK, C1, C1, C1, C1, C1, C1)
ACCOUNT_SIGNATURE = types.void(FUNCTIONS, DATA, STEP, WORK, C1, C1, C1, C1)
DRIVES_SIGNATURE = types.void(FUNCTIONS, DATA, STEP, WORK, C1, C1, C1, C1, C1, C1)
RESIDUAL, UPDATE = types.FunctionType(RESIDUAL_SIGNATURE), types.FunctionType(UPDATE_SIGNATURE)
ACCOUNT, DRIVES = types.FunctionType(ACCOUNT_SIGNATURE), types.FunctionType(DRIVES_SIGNATURE)

residual = compiled(RESIDUAL_SIGNATURE)
update = compiled(UPDATE_SIGNATURE)
account = compiled(ACCOUNT_SIGNATURE)  # (fn, D, S, W, x, q1, v1, totals)
drives = compiled(DRIVES_SIGNATURE)  # (fn, D, S, W, x, q1, p1, lam, gam, works)


class Block(NamedTuple):
    """Block of unknowns of one kind at the node c of the step."""

    kind: int
    c: float = 1.0
    constant: bool = False  # the residual is linear in it, with coefficients that depend on h alone


class Energies(NamedTuple):
    """Terms of a residual with the gradient of V, as e evaluations in terms of the blocks, see
    `discretization.time.energy_tangents`.
    """

    between: bool  # True: discrete derivatives between q0 and q_e; False: gradients at q_e
    start: Any  # (e,) coefficients of q0 in q_e
    of: Any  # (e, b) coefficients of the unknowns in q_e
    into: Any  # (e, a) coefficients of the gradients in the equations
    of_power: int = 0  # `of` is multiplied by this power of h
    into_power: int = 1


class Joined(NamedTuple):
    """Quantities that a scheme conserves for jointed bodies, by chart."""

    quaternions: frozenset[str]
    directors: frozenset[str]


NO_INVARIANTS = Joined(frozenset(), frozenset())


@dataclass(frozen=True)
class Scheme:
    """An integrator of mechanical systems and the declared facts about it.

    symmetric: a composition raises its order; if it is `reflects_velocities`, every substep is taken in two halves.

    invariants: quantities that it conserves for any system without joints whose symmetries its discrete derivatives respect.
    Those of sympy potentials that are not in `Part`s do not respect them. The quantities are "energy" T* + V, "generalised
    energy" p . v - T + V, "momentum", "symplectic", "position" (g = 0) and "velocity" (G W p = 0).

    joined: quantities that it conserves for bodies with joints and springs; "linear momentum" and "angular momentum" are
    distinguished.

    quadrature_invariants: quantities that it conserves for jointed bodies if g is a polynomial in the coordinates; that of a
    screw
    is not a polynomial.

    needs: flags that a system must have. prepare: function that is applied to a system before integration. `fitted` does both.

    account: adds (work, dissipation) of a step to its last argument. dissipates: it accepts viscous forces, see `forcing`.

    driven: times, in addition to the nodes, at which parameters of driven constraints are read; the start and the end of a step
    by default. drives: adds the work of each drive, see `rheonomic`.

    ends: its multipliers are forces at the end of the step; else they are means over it, in its middle.

    advice: advice if Newton's method fails, if it is not a smaller step.
    """

    name: str
    source: str  # reference: paper and equation
    residual: Any
    update: Any
    blocks: tuple[Block, ...]  # blocks of unknowns
    order: int
    nodes: tuple[float, ...] = (0.5,)  # nodes of the step at which time signals are read
    symmetric: bool = False
    reflects_velocities: bool = False  # a step of length 0 reverses p - M v, or momenta normal to g = 0
    invariants: frozenset[str] = frozenset()
    joined: Joined = NO_INVARIANTS
    quadrature_invariants: frozenset[str] = frozenset()
    singular_mass: bool = False
    needs_inverse: bool = True  # needs the inverse of the mass, which is not local if neighbours share mass
    account: Any = None
    dissipates: bool = False
    driven: tuple[float, ...] = (0.0, 1.0)
    drives: Any = None
    needs: int = 0
    options: Floats = field(default_factory=lambda: np.zeros(1))
    fractions: tuple[float, ...] = (1.0,)
    ends: bool = False
    advice: str = ""
    prepare: Callable[[Any], Any] | None = None  # maps a system to the one that is integrated
    in_quaternions: Scheme | None = None  # form of the scheme for frames in quaternions, if it differs
    energies: Energies | None = None  # None: V is differentiated by colours with the rest of Newton's matrix

    def fitted(self, system: MechanicalSystem) -> tuple[Scheme, MechanicalSystem]:
        """Return the form of the scheme for a system, and the system that is integrated."""
        scheme = self
        if self.in_quaternions is not None and system.has(QUATERNIONS):
            scheme = replace(self.in_quaternions, name=self.name, fractions=self.fractions)
        return scheme, system if scheme.prepare is None else scheme.prepare(system)

    def block_sizes(self, n: int, m: int, joints: int, increments: int) -> list[int]:
        """Return the number of unknowns in each block; joints: number of constraints without the internal ones."""
        sizes = {Q: n, P: n, V: n, FORCES: n, LAMBDA: m, GAMMA: m, INCREMENT: increments, JOINTS: joints}
        sizes[IMPULSES] = m
        return [sizes[block.kind] for block in self.blocks]
