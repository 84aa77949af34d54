"""Define mechanical systems with holonomic constraints (`MechanicalSystem`), the input of integrators.

    T = v . M(q) v / 2,   V(q),   g(q) = 0,   generalised forces F(q, s) - R(q, v)

F are loads driven by time functions s, R viscous resistance, linear in v, and v . R >= 0 the power it dissipates.

A `MechanicalSystem` is a set of compiled functions (`Functions`) of complex arguments, so that a derivative is one evaluation
at q + i eps, together with the data they read (`Data`). Symbolic expressions (`rigid.symbolic.systems`), multibody models
(`rigid.charts.multibody`) and special systems are all converted to a `MechanicalSystem`, and every integrator of
`discretization.time` accepts it.

Compiled functions are passed as `numba.cfunc`s of fixed signature: integrators are compiled once, not once for every system.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access
from numba import types
from numba.experimental import function_type  # noqa: F401  numba needs it for the function arguments of `call`
from numba.extending import typeof_impl

from rigid.compilation.decorators import allocating_kernel, compiled
from rigid.errors import ModelError
from rigid.interactions.kinds import INTERACTION_ARRAYS, InteractionArrays, pack_groups
from rigid.kinematics.chart_frames import (
    DRIVEN,
    FRAMES,
    SCRATCH,
    ChartFrames,
    Driven,
    new_scratch,
    no_drives,
    no_frames,
)
from rigid.system import Floats, Ints
from rigid.tuple_references import Reference, by_reference

C1, C2 = types.complex128[::1], types.complex128[:, ::1]
F1, F2, I1, I2 = types.float64[::1], types.float64[:, ::1], types.int64[::1], types.int64[:, ::1]


@by_reference
class Data(NamedTuple):
    """Data that the functions of a system read besides their arguments."""

    n: int  # number of coordinates
    m: int  # number of constraints
    flags: int  # bitwise sum of the flags below
    frames: ChartFrames = no_frames()
    interaction_arrays: InteractionArrays = pack_groups()
    scratch: Any = new_scratch()
    dissipating: InteractionArrays = (
        pack_groups()
    )  # dissipations, between frames that `interaction_arrays` connects as well
    working: InteractionArrays = (
        pack_groups()
    )  # duals without a value: pressure, and loads, whose parameters `force` sets
    driven: Driven = no_drives()


DISCRETE_POTENTIAL = 1  # the system has a discrete derivative of V
DISCRETE_CONSTRAINTS = 2  # the system has a discrete derivative of g
DISCRETE_KINETIC = 4  # the system has discrete derivatives of T(q, v) and of the co-energy T*(q, p)
CONSTANT_MASS = 8  # M does not depend on q
INVERSE_MASS = 16  # the system has W(q), the matrix of the co-energy T* = p . W(q) p / 2
SINGULAR_MASS = 32  # M is singular
QUATERNIONS = 64  # orientations are quaternions
PRODUCTS = 256  # products with M, W, G and G^T at the cost of the interactions; otherwise matrices are used
SHARED_MASS = 512  # neighbours share mass: M v is a product, M^-1 couples everything
VISCOUS = 1024  # the system has viscous resistance R
DISCRETE_FORCE = 2048  # the system has loads over a step between two configurations
CONDENSED = 8192  # some dissipations have condensed internal variables
LOSSLESS = 16384  # dissipations store all energy they take: steps can also go backwards
WITHOUT_POTENTIAL = 4096  # V is taken as zero, because its part of Newton's matrix is computed otherwise
LAGRANGE_TOP = 128  # q = d3, p = angular momentum: a Lie-Poisson system, not a canonical one

DATA = Reference(
    types.NamedTuple(
        [
            *(types.int64, types.int64, types.int64, FRAMES, INTERACTION_ARRAYS, SCRATCH),
            *(INTERACTION_ARRAYS, INTERACTION_ARRAYS, DRIVEN),
        ],
        Data,
    )
)

DRIVE_NUMBERS = 8  # entries per driven constraint in a row of time signals: U (3), value and their rates


_VECTOR = types.void(C1, DATA, C1)
_MATRIX = types.void(C1, DATA, C2)


class Functions(NamedTuple):
    """Compiled functions of a system; each writes to its last argument. Sizes: n coordinates, m constraints."""

    mass: Any  # (q, D, out (n, n)): M(q)
    mass_gradient: Any  # (q, a, b, D, out (n,)): gradient of a . M(q) b
    inverse_mass: Any  # (q, D, out (n, n)): W(q)
    inverse_mass_gradient: Any  # (q, a, b, D, out (n,)): gradient of a . W(q) b
    potential: Any  # (q, D, out (1,)): V(q)
    gradient: Any  # (q, D, out (n,)): gradient of V
    constraints: Any  # (q, D, out (m,)): g(q)
    jacobian: Any  # (q, D, out (m, n)): G
    curvature: Any  # (q, w, lam, D, out (n,)): gradient of lam . G(q) w
    force: Any  # (q, signal, D, out (n,)): F(q, s)
    discrete_gradient: Any  # (q0, q1, D, out (n,)): discrete derivative of V
    discrete_jacobian: Any  # (q0, q1, D, out (m, n)): discrete derivative of g
    discrete_kinetic: Any  # (q0, v0, q1, v1, D, out_q (n,), out_v (n,)): discrete derivatives of T(q, v)
    discrete_coenergy: Any  # (q0, p0, q1, p1, D, out_q (n,), out_p (n,)): discrete derivatives of T*(q, p)
    # products, available if the flag PRODUCTS is set
    mass_product: Any  # (q, v, D, out (n,)): M(q) v
    mass_solve: Any  # (q, p, D, out (n,)): M(q)^-1 p
    inverse_mass_product: Any  # (q, p, D, out (n,)): W(q) p
    rate: Any  # (q, w, D, out (m,)): G(q) w
    pull: Any  # (q, lam, D, out (n,)): G(q)^T lam
    second: Any  # (q, w, z, D, out (m,)): g''(q) (w, z), the change of G(q) w along z
    inverse_mass_rate: Any  # (q, z, p, D, out (n,)): change of W(q) p along z
    discrete_pull: Any  # (q0, q1, lam, D, out (n,)): discrete derivative of g, transposed, times lam
    # available if the flag DISCRETE_FORCE (loads) or VISCOUS (resistance) is set
    discrete_force: Any  # (q0, q1, signal, D, out (n,)): loads whose work over the step is out . (q1 - q0)
    resistance: Any  # (q, w, D, out (n,)): R(q, w)
    discrete_resistance: (
        Any  # (q0, q1, rate (1,), D, out (n,)): R of the change of the strains times rate = 1/h
    )


_CONTRACTED = types.void(C1, C1, C1, DATA, C1)
_PRODUCT = types.void(C1, C1, DATA, C1)
_PARTITIONED = types.void(C1, C1, C1, C1, DATA, C1, C1)

SIGNATURES = Functions(
    mass=_MATRIX,
    mass_gradient=_CONTRACTED,
    inverse_mass=_MATRIX,
    inverse_mass_gradient=_CONTRACTED,
    potential=_VECTOR,
    gradient=_VECTOR,
    constraints=_VECTOR,
    jacobian=_MATRIX,
    curvature=_CONTRACTED,
    force=types.void(C1, F1, DATA, C1),
    discrete_gradient=types.void(C1, C1, DATA, C1),
    discrete_jacobian=types.void(C1, C1, DATA, C2),
    discrete_kinetic=_PARTITIONED,
    discrete_coenergy=_PARTITIONED,
    mass_product=_PRODUCT,
    mass_solve=_PRODUCT,
    inverse_mass_product=_PRODUCT,
    rate=_PRODUCT,
    pull=_PRODUCT,
    second=_CONTRACTED,
    inverse_mass_rate=_CONTRACTED,
    discrete_pull=_CONTRACTED,
    discrete_force=types.void(C1, C1, F1, DATA, C1),
    resistance=_PRODUCT,
    discrete_resistance=_CONTRACTED,
)
FUNCTIONS = Reference(types.NamedTuple([types.FunctionType(s) for s in SIGNATURES], Functions))


@typeof_impl.register(Functions)
def _type_of_functions(functions: Functions, context: Any) -> Any:
    """Return the numba type of `Functions`, by reference, which is the same for every system.

    Inferring it from each function again took longer than many calls.
    """
    return FUNCTIONS


def system_function(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function with the signature of the field `name` of `Functions`."""
    return compiled(getattr(SIGNATURES, name))


class Symmetry(NamedTuple):
    """Momentum map J = p . (Xi q + tau) of the one-parameter group with generator Xi q + tau.

    Parameters
    ----------
    name : str
        Name of the conserved quantity.
    Xi : array or sparse matrix, shape (n, n)
        Linear part of the generator.
    tau : array, shape (n,)
        Constant part of the generator.

    Examples
    --------
    >>> import numpy as np
    >>> from rodsim.mechanics import Symmetry
    >>> turn = Symmetry("angular momentum", np.array([[0.0, -1.0], [1.0, 0.0]]), np.zeros(2))
    >>> float(turn(np.array([2.0, 0.0]), np.array([0.0, 3.0])))
    6.0
    """

    name: str
    Xi: Any  # (n, n) array or sparse matrix, linear part of the generator
    tau: Floats  # (n,) constant part of the generator

    def __call__(self, q: Floats, p: Floats) -> Floats:
        """Return J (...) at q and p of shape (..., n)."""
        return np.einsum("...i,...i->...", p, q @ self.Xi.T + self.tau)


def _no_signal(t: float) -> Floats:
    """Return a zero, (1,), for a system without time functions.

    Parameters
    ----------
    t : float
        Time, s.

    Returns
    -------
    array, shape (1,)
    """
    return np.zeros(1)


@dataclass
class MechanicalSystem:
    """Constrained mechanical system with its initial state.

    It is created by `symbolic_system`, `system_from_object`, `multibody_system`, `rotating_body` or `Model.mechanical_system`.

    Parameters
    ----------
    name : str
        Name of the system, for messages.
    functions : Functions
        Compiled functions of the system.
    data : Data
        Data that the functions read.
    q0, v0 : array, shape (n,)
        Initial coordinates and velocities, with g(q0) = 0 and G(q0) v0 = 0.
    names : tuple of str, optional
        Names of the coordinates. Default: q1, q2 ...
    symmetries : tuple of Symmetry, optional
        Momentum maps that the exact motion conserves.
    signal : callable, optional
        t -> (k,), the time functions that `force` reads, then the parameters of driven constraints.
    p0 : array, shape (n,), optional
        Initial momenta, if they are not M(q0) v0.
    info : dict, optional
        Data that a chart needs to convert coordinates to poses of frames.
    drives : array, shape (d, DRIVE_NUMBERS), optional
        Parameters of driven constraints at the start: direction, value and their rates.

    Examples
    --------
    >>> import sympy as sp
    >>> from rodsim.mechanics import symbolic_system
    >>> x = sp.Symbol("x")
    >>> system = symbolic_system("spring", x, [1.0], [0.0], M=[[2]], V=8 * x**2)
    >>> float(system.potential(system.q0))
    8.0
    """

    name: str
    functions: Functions
    data: Data
    q0: Floats
    v0: Floats
    names: tuple[str, ...] = ()
    symmetries: tuple[Symmetry, ...] = ()
    signal: Callable[[float], Floats] = _no_signal
    p0: Floats | None = None
    info: dict[str, Any] = field(default_factory=dict)
    drives: Floats = field(default_factory=lambda: np.zeros((0, DRIVE_NUMBERS)))

    def __post_init__(self) -> None:
        """Convert the initial state to arrays and check it against the constraints."""
        self.q0, self.v0 = np.array(self.q0, float), np.array(self.v0, float)
        for what, value in (("q0", self.q0), ("v0", self.v0)):
            if value.shape != (self.n,) or not np.all(np.isfinite(value)):
                raise ModelError(f"system '{self.name}': {what} = {value}; give {self.n} finite numbers")
        if not self.names:
            self.names = tuple(f"q{i + 1}" for i in range(self.n))
        self.drive_to(self.drives)
        residual = np.abs(self.constraints(self.q0)).max(initial=0.0)
        if residual > 1e-8 * (1.0 + np.abs(self.q0).max()):
            k = int(np.argmax(np.abs(self.constraints(self.q0))))
            raise ModelError(
                f"system '{self.name}': |g{k + 1}(q0)| = {residual:.3g}; give initial coordinates that satisfy g = 0"
            )
        if self.m and not self.has(PRODUCTS):  # redundant joints in loops are checked when a model is built
            self._check_independence()
        if self.m:
            self._check_rate()

    def _check_independence(self) -> None:
        """Raise ModelError if rows of G(q0) are linearly dependent."""
        G = self.jacobian(self.q0)
        R, order = scipy.linalg.qr(G.T, mode="r", pivoting=True)
        size = np.zeros(self.m)
        size[: min(G.shape)] = np.abs(np.diag(R))
        dependent = np.sort(order[size <= 1e-12 * max(size[0], 1e-300)])
        if len(dependent):
            rows = ", ".join(f"g{k + 1}" for k in dependent)
            raise ModelError(
                f"system '{self.name}': at q0 {rows} are implied by the other constraints; remove them"
            )

    def _check_rate(self) -> None:
        """Raise ModelError if v0 violates dg/dt = G v0 + (explicit rate of driven constraints) = 0."""
        rate = np.abs(self.rate(self.q0, self.v0) + self.explicit_rate(self.q0, self.drives))
        k = int(np.argmax(rate))
        row = np.zeros(self.m)
        row[k] = 1.0
        size = np.abs(self.pull(self.q0, row)).max()
        if rate[k] > 1e-8 * (1e-300 + size * np.abs(self.v0).max()):
            raise ModelError(
                f"system '{self.name}': d(g{k + 1})/dt = {rate[k]:.3g} at the start; give initial velocities with G(q0) v0 = 0"
            )

    n = property(lambda self: self.data.n, doc="Number of coordinates.")
    m = property(lambda self: self.data.m, doc="Number of constraints.")

    @property
    def n_drives(self) -> int:
        """Number of drives; their works follow work and dissipation in the energy record (`books`)."""
        return int(self.data.driven.drives)

    @property
    def condensed(self) -> Ints:
        """Offsets of condensed internal variables among the parameters of dissipations, interaction by interaction."""
        dissipating: InteractionArrays = self.data.dissipating
        condensed_kinds = [kind for kind in dissipating.kinds if kind.n_internal]
        lasts = [
            (last, kind.n_internal)
            for kind in condensed_kinds
            for last in dissipating.entries.last[kind.first : kind.last]
        ]
        return np.concatenate([np.zeros(0, np.int64), *(np.arange(last - k, last) for last, k in lasts)])

    @property
    def books(self) -> Floats:
        """Initial energy record of a time loop: zeros for work, dissipation and each drive's work, then internal variables."""
        return np.append(np.zeros(2 + self.n_drives), self.data.dissipating.numbers[self.condensed])

    def has(self, flag: int) -> bool:
        """Return whether a flag of the system is set.

        Parameters
        ----------
        flag : int
            A flag of `rigid.mechanics.mechanical_system`.

        Returns
        -------
        bool
        """
        return bool(self.data.flags & flag)

    def drive_to(self, numbers: Floats) -> None:
        """Set the parameters of driven constraints that the functions read.

        Parameters
        ----------
        numbers : array, shape (d, DRIVE_NUMBERS) or (d, 4)
            Direction and value of each driven constraint, with or without their rates.
        """
        rows, X = self.data.driven.rows, self.data.interaction_arrays.numbers
        X[rows.direction[:, None] + np.arange(3)] = numbers[:, :3]
        X[rows.value] = numbers[:, 3]

    def driven_at(self, times: Floats) -> Floats:
        """Return the parameters of driven constraints at many times.

        Parameters
        ----------
        times : array, shape (k,)
            Times, s.

        Returns
        -------
        array, shape (k, d, DRIVE_NUMBERS)
            Direction, value and their rates.
        """
        count, first = len(self.drives), self.data.driven.signal
        if not count:
            return np.zeros((len(times), 0, DRIVE_NUMBERS))
        rows = self.signals(times)[:, first : first + DRIVE_NUMBERS * count]
        return rows.reshape(len(times), count, DRIVE_NUMBERS)

    def explicit_rate(self, q: Floats, numbers: Floats) -> Floats:
        """Return the part of dg/dt that does not depend on velocities, due to the rates of driven constraints.

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.
        numbers : array, shape (d, DRIVE_NUMBERS)
            Parameters of the driven constraints.

        Returns
        -------
        array, shape (m,)
        """
        out = np.zeros(self.m)
        if len(numbers):
            rows = self.data.driven.rows.row
            self.drive_to(numbers[:, 4:])
            out[rows] = self.constraints(q)[rows]
            self.drive_to(numbers)
        return out

    def _call(self, name: str, shape: tuple[int, ...], *arguments: Floats) -> Floats:
        """Return the value of the function `name` at real arguments of shape (n,); the last one of `pull` has shape (m,)."""
        for k, a in enumerate(arguments):
            size = self.m if name == "pull" and k else self.n
            if np.shape(a) != (size,):
                raise ModelError(
                    f"system '{self.name}': {name} of numbers of shape {np.shape(a)}; give ({size},)"
                )
        out = np.zeros(shape, complex)
        inputs = (np.ascontiguousarray(a, complex) for a in arguments)
        call(getattr(self.functions, name), (*inputs, self.data, out))
        return out.real

    def mass(self, q: Floats) -> Floats:
        """Return the mass matrix M(q).

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.

        Returns
        -------
        array, shape (n, n)
        """
        return self._call("mass", (self.n, self.n), q)

    def inverse_mass(self, q: Floats) -> Floats:
        """Return the matrix W(q) of the co-energy p . W p / 2, the inverse of M(q) if M is regular.

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.

        Returns
        -------
        array, shape (n, n)
        """
        if self.has(INVERSE_MASS):
            return self._call("inverse_mass", (self.n, self.n), q)
        return np.linalg.inv(self.mass(q))

    def potential(self, q: Floats) -> float:
        """Return the potential V(q).

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.

        Returns
        -------
        float
            Energy, J.
        """
        return float(self._call("potential", (1,), q)[0])

    def gradient(self, q: Floats) -> Floats:
        """Return the gradient of the potential V at q.

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.

        Returns
        -------
        array, shape (n,)
        """
        return self._call("gradient", (self.n,), q)

    def constraints(self, q: Floats) -> Floats:
        """Return the constraints g(q).

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.

        Returns
        -------
        array, shape (m,)
            Zero if q satisfies them.
        """
        return self._call("constraints", (self.m,), q)

    def jacobian(self, q: Floats) -> Floats:
        """Return the Jacobian G(q) of the constraints.

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.

        Returns
        -------
        array, shape (m, n)
        """
        return self._call("jacobian", (self.m, self.n), q)

    def pull(self, q: Floats, lam: Floats) -> Floats:
        """Return the constraint forces G(q)^T lam.

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.
        lam : array, shape (m,)
            Multipliers.

        Returns
        -------
        array, shape (n,)
        """
        if self.has(PRODUCTS):
            return self._call("pull", (self.n,), q, lam)
        return self.jacobian(q).T @ lam

    def rate(self, q: Floats, w: Floats) -> Floats:
        """Return the rate G(q) w of the constraints along w.

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.
        w : array, shape (n,)
            Direction, as a velocity.

        Returns
        -------
        array, shape (m,)
        """
        if self.has(PRODUCTS):
            return self._call("rate", (self.m,), q, w)
        return self.jacobian(q) @ w

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """Return the momenta p = M(q) v.

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.
        v : array, shape (n,)
            Velocities.

        Returns
        -------
        array, shape (n,)
        """
        if self.has(PRODUCTS):
            return self._call("mass_product", (self.n,), q, v)
        return self.mass(q) @ v

    def velocity(self, q: Floats, p: Floats) -> Floats:
        """Return the velocities W(q) p.

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.
        p : array, shape (n,)
            Momenta.

        Returns
        -------
        array, shape (n,)
        """
        if self.has(PRODUCTS) and self.has(INVERSE_MASS):
            return self._call("inverse_mass_product", (self.n,), q, p)
        return self.inverse_mass(q) @ p

    def kinetic(self, q: Floats, v: Floats) -> float:
        """Return the kinetic energy T(q, v).

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.
        v : array, shape (n,)
            Velocities.

        Returns
        -------
        float
            Energy, J.
        """
        return 0.5 * float(v @ self.momentum(q, v))

    def hamiltonian(self, q: Floats, p: Floats) -> float:
        """Return the Hamiltonian T*(q, p) + V(q).

        Parameters
        ----------
        q : array, shape (n,)
            Coordinates.
        p : array, shape (n,)
            Momenta.

        Returns
        -------
        float
            Energy, J.
        """
        return 0.5 * float(p @ self.velocity(q, p)) + self.potential(q)

    @property
    def has_signal(self) -> bool:
        """True if `force` depends on time."""
        return self.signal is not _no_signal

    @property
    def signal_size(self) -> int:
        """Number of values that `signal` returns."""
        return len(np.atleast_1d(self.signal(0.0)))

    def signals(self, times: Floats) -> Floats:
        """Return the time functions at many times.

        Parameters
        ----------
        times : array, shape (k,)
            Times, s.

        Returns
        -------
        array, shape (k, s)

        Raises
        ------
        ModelError
            If their number changes with time.
        """
        size, values = self.signal_size, [np.atleast_1d(self.signal(float(t))) for t in times]
        for t, value in zip(times, values, strict=True):
            if value.shape != (size,):
                raise ModelError(
                    f"system '{self.name}': signal at t = {t:g} s has shape {value.shape}; give ({size},), as at t = 0"
                )
        return np.array(values, float).reshape(len(times), size)


@allocating_kernel
def call(function, arguments):
    """Call a compiled function with the tuple `arguments`, from Python through compiled code."""
    function(*arguments)
