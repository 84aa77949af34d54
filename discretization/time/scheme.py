"""What an integrator of mechanical systems is: a residual, an update, and the facts declared about them.

A scheme turns one step into equations r(x) = 0. `residual(functions, data, step, work, x, r)` evaluates them
for complex x, so that Newton's matrix is a complex-step derivative; `update` brings x to the state at the end
of the step. `blocks` says what the unknowns are, which gives the initial guess and the scale of corrections. `account` adds
the work of the loads and the dissipation of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numba import types

from rigid.compilation.decorators import compiled
from rigid.mechanics.mechanical import C1, C2, DATA, F1, F2, FUNCTIONS, QUATERNIONS, MechanicalSystem
from rigid.references import Reference, by_reference
from rigid.system import Floats

# Kinds of unknown blocks: coordinates, momenta, velocities, forces (guess 0), the multipliers of g, of G v, and
# increments of coordinates (guess 0), the multipliers of joints alone, and multipliers of g that no coordinate or
# momentum among the unknowns shows: only the state at the end of the step does.
Q, P, V, FORCES, LAMBDA, GAMMA, INCREMENT, JOINTS, IMPULSES = range(9)


@by_reference
class Step(NamedTuple):
    """What is known at the start of a step."""

    h: float
    q0: Any  # (n,) complex
    p0: Any
    v0: Any
    signal: Floats  # (k, s) values of the time signals at the nodes of the scheme, then at those of driven constraints
    options: Floats  # parameters of the scheme: theta, tableaux ...


@by_reference
class Work(NamedTuple):
    """Scratch of a residual; who has which vectors: `discretization.time.scratch`."""

    vector: Any  # (vectors, max(n, m)) complex
    jacobian: Any  # (m, n)
    other: Any  # (m, n)
    square: Any  # (n, n)


STEP = Reference(types.NamedTuple([types.float64, C1, C1, C1, F2, F1], Step))
WORK = Reference(types.NamedUniTuple(C2, 4, Work))  # what numba makes of equal fields
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
    """Unknowns of one kind at the node c of the step."""

    kind: int
    c: float = 1.0
    constant: bool = False  # the residual is linear in it, with coefficients that depend on h alone


class Energies(NamedTuple):
    """Where a residual has the gradient of V, see `discretization.time.energies`: e evaluations, in terms of the blocks."""

    between: bool  # discrete derivatives between q0 and q_e; else gradients at q_e
    start: Any  # (e,)
    of: Any  # (e, b)
    into: Any  # (e, a)
    of_power: int = 0  # `of` is multiplied by this power of h
    into_power: int = 1


class Joined(NamedTuple):
    """What a scheme keeps of bodies joined with each other, by chart."""

    quaternions: frozenset[str]
    directors: frozenset[str]


NOTHING_PROMISED = Joined(frozenset(), frozenset())


@dataclass(frozen=True)
class Scheme:
    """An integrator of mechanical systems and what is known about it.

    symmetric: a composition raises its order, of two halves of every substep where it is `reversing`.
    promises: what it conserves of any system without joints whose symmetries its discrete derivatives respect, which those
    of sympy potentials not in `Part`s do not: "energy" T* + V, "generalised energy" p . v - T + V, "momentum", "symplectic",
    "position" (g = 0) and "velocity" (G W p = 0).
    joined: the same for bodies with joints and springs, with "linear momentum" and "angular momentum" told apart.
    by_quadrature: what it keeps of them where g is a polynomial in the coordinates, which that of a screw is not.
    needs: flags of the systems it takes; prepare: what is done to a system before it is marched; `fitted` does both.
    account: adds (work, dissipation) of a step to its last argument; dissipates: takes viscous forces, see `forcing`.
    driven: where numbers of driven constraints are read besides the nodes, the start and the end of a step by default; drives:
    adds what each drive does, see `rheonomic`.
    ends: its multipliers are forces at the end of the step; else they are means over it, in its middle.
    caution: the cure where Newton's method fails, if it is not a smaller step.
    """

    name: str
    source: str  # paper and equation
    residual: Any
    update: Any
    blocks: tuple[Block, ...]  # the unknowns
    order: int
    nodes: tuple[float, ...] = (0.5,)  # where time signals are read
    symmetric: bool = False
    reversing: bool = False  # a step of length 0 reverses p - M v, or momenta normal to g = 0
    promises: frozenset[str] = frozenset()
    joined: Joined = NOTHING_PROMISED
    by_quadrature: frozenset[str] = frozenset()
    singular_mass: bool = False
    needs_inverse: bool = True  # of the mass, which is not local where neighbours share mass
    account: Any = None
    dissipates: bool = False
    driven: tuple[float, ...] = (0.0, 1.0)
    drives: Any = None
    needs: int = 0
    options: Floats = field(default_factory=lambda: np.zeros(1))
    fractions: tuple[float, ...] = (1.0,)
    ends: bool = False
    caution: str = ""
    prepare: Callable[[Any], Any] | None = None  # a system to the one that is marched
    in_quaternions: Scheme | None = None  # the form it takes of frames in quaternions, if it is another one
    energies: Energies | None = None  # None: V is found by colours with the rest of Newton's matrix

    def fitted(self, system: MechanicalSystem) -> tuple[Scheme, MechanicalSystem]:
        """The form of the scheme for a system, and the system that is marched."""
        scheme = self
        if self.in_quaternions is not None and system.has(QUATERNIONS):
            scheme = replace(self.in_quaternions, name=self.name, fractions=self.fractions)
        return scheme, system if scheme.prepare is None else scheme.prepare(system)

    def block_sizes(self, n: int, m: int, joints: int, increments: int) -> list[int]:
        """Number of unknowns in each block; joints: constraints but the internal ones."""
        sizes = {Q: n, P: n, V: n, FORCES: n, LAMBDA: m, GAMMA: m, INCREMENT: increments, JOINTS: joints}
        sizes[IMPULSES] = m
        return [sizes[block.kind] for block in self.blocks]
