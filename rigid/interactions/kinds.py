"""Define interactions: the physics of a few frames, written once, for every chart and every integrator.

An interaction maps the poses of its frames at both ends of a step to *duals* (generalized forces, discrete gradients). A pose is
y = (r, d1, d2, d3); a dual (f, f1, f2, f3) is work-conjugate to it, f . dr + sum f_k . dd_k. A chart only pulls duals back to its
coordinates.

    value(y, X, out)            V, or the rows of g
    dual(y0, y1, X, lam, out)   discrete derivative of lam . value: out . (y1 - y0) = lam . (value(y1) - value(y0))
                                exactly; where both poses are the same it is the gradient
    bend(y, z, X, lam, out)     change of the gradient of lam . value along z, for constraints

A constraint that is more than quadratic in the poses has one more function, for its rate between two states; z are the rates of
the poses (for all other constraints the middle of both states is exact):

    hidden(y0, z0, y1, z1, X, lam, on_y, on_z)   discrete derivative of lam . rate, on_y . (y1 - y0) + on_z . (z1 - z0) exactly;
                                it suffices that the rate is right where the other rows of the joint hold; without this
                                function the kind must be declared `steep`

A dissipation (`dissipation`) has no value; its duals resist a motion:

    step_dual(y0, y1, X, lam, out)   to the change of the strains times lam = 1/h: out . (y1 - y0) is what a step dissipates
    rate_dual(y, z, X, lam, out)     to the rate z of the poses, lam = 1: out . z is the power that is lost; linear in z

An energy V(e) of few scalar strains e(y) may declare them (`StrainEnergy`): code that computes prestress or the dissipation of a
strain then needs no kind by name.

Internal variables (`Kind.n_internal`) are the last of the numbers of an interaction, with their values at the start of the
step; a state stores them (`discretization.internal_variables`). Condensed ones (`Condensed`), such as the strain of a branch
that relaxes, follow from the strains alone and are not unknowns of the step. Those with an update
(`Condensed.update_internal`), such as a bristle of friction, are written at the end of a step that is accepted. Counted ones
(`count`), such as an angle through several revolutions, are functions of the poses up to whole revolutions, and are recomputed
at the end of a step.

Poses and duals are arrays (arity, 4, 3) of complex numbers, so that Newton's matrix follows from complex steps; X are the numbers
of one interaction; lam is (1,) and 1 for an energy. X are plain data and real, except where derivatives with respect to them are
taken: then the same functions are compiled for complex X (`pack_groups_for_complex_numbers`), by complex steps again. Whole
numbers among X, such as orders and counts, are read by `whole`; comparisons use real parts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from rigid.compilation.decorators import (
    address_of,
    allocating_kernel,
    compiled,
    complex_signature,
    function_at,
    inline_kernel,
    with_complex_numbers,
)
from rigid.compilation.function_tables import take_complex_numbers
from rigid.system import Floats, Ints

C1, F1 = types.complex128[::1], types.float64[::1]
POSES = types.complex128[:, :, ::1]

VALUE = types.void(POSES, F1, C1)
DUAL = types.void(POSES, POSES, F1, C1, POSES)
STRESS = types.void(C1, F1, C1)
HIDDEN = types.void(POSES, POSES, POSES, POSES, F1, C1, POSES, POSES)
TANGENT = types.void(POSES, POSES, F1, C1, POSES, types.float64[:, ::1])

# largest number of frames, rows, internal variables and strains of one interaction
MAX_FRAMES, MAX_ROWS, MAX_INTERNAL_VARIABLES, MAX_STRAINS = 64, 3, 8, 6
MAX_FRAMES_OF_CONTACT = 12  # of one contact or its friction: a longer patch of a rod is divided
EXPECTED, SEEN, WITH_SEEN = 1, 11, 24  # offsets in lam, after 1/h, and their end: see `Condensed`
UNKNOWN, RATE = 2.0, SEEN
LINE_DRAGS, ADDED_MASSES = 1, 2  # see `Kind.real_loop`
COMPLEX_STEP = 1e-60  # step of all derivatives: its square underflows, nothing is subtracted

value_at, dual_at, stress_at = function_at(VALUE), function_at(DUAL), function_at(STRESS)
hidden_at, tangent_at = function_at(HIDDEN), function_at(TANGENT)
# function types of interactions `pack_groups_for_complex_numbers`
value_of_complex_at, dual_of_complex_at = (
    function_at(complex_signature(VALUE)),
    function_at(complex_signature(DUAL)),
)


class ClosedForms(NamedTuple):
    """Real closed forms of a constraint between two frames, small kernels, with which `em` is faster.

    With x = R X, u = R U, d = p_b - p_a, a *pair* is (u_a, u_b, x_a, x_b, d), at one end of the step or averaged over it;
    lam has three components, of which the first `rows` count. A derivative along a displacement and a spatial rotation of
    both frames is (force on b, torque on a, torque on b), the force on a being minus that on b.

        value(pair, value)               the rows, three components
        pull(lam, pair)                  the dual, pulled back: of averaged pairs the discrete derivative of lam . g
        add_tangent(lam, mean, end, block)   matrix += derivative of pull(lam, mean) along the end of the step; half of
                                         every averaged factor rotates with it: delta ubar = eta x u1/2. block: values, base
                                         (blocks aa, ab, ba, bb), strides of a and b
        add_rows(scale, mean, end, block)  if there are many zeros: matrix += rows and columns of the multipliers of scale
                                         times the rows; block: values, base (the four above, a-lam, b-lam, lam-a,
                                         lam-b), strides of a, b and the multipliers. By default from `pull`
        hidden_value(parameters, end), hidden_derivative(gam, parameters, end0, end1)
                                         of `rigid.interactions.hidden_constraints`; parameters: U_a, U_b, X_a, X_b, W_a, W_b,
                                         value

    A kind without `value`, `pull` and `add_tangent` is assembled from its duals, and only `em-ggl` uses its hidden forms.
    """

    value: Any = None
    pull: Any = None
    add_tangent: Any = None
    hidden_value: Any = None
    hidden_derivative: Any = None
    add_rows: Any = None


@dataclass(frozen=True)
class StrainEnergy:
    """Declaration of an energy V(e) of few strains e(y): e, their discrete derivative, the stress dV/de.

        strains(y, X, e)            a value function: e (count,)
        dual(y0, y1, X, lam, out)   a dual function: of lam . e, lam (count,)
        law(e, X, out)              a stress function: dV/de (count,)
        shifted(X, de, dstress)     numbers (k, w) of interactions with the same stiffness, with C de = dstress (k, count) added
                                    to the stress. If C is singular, rest strains cannot produce an arbitrary stress, but they can
                                    produce this one; a kind with a force law may add it as a constant force

    The methods evaluate many interactions at once: X (k, w), e and de (k, count).
    """

    count: int
    strains: Any
    dual: Any
    law: Any
    shifted: Callable[[Floats, Floats, Floats], Floats]
    # period of strains that a pose determines up to multiples of it: 2 pi for angles; 0: none
    period: float = 0.0

    def stress(self, X: Floats, e: Floats) -> Floats:
        """Return the stresses dV/de (k, count)."""
        return self._of_law(X, np.asarray(e, complex)).real

    def stiffness(self, X: Floats, e: Floats) -> Floats:
        """Return the tangent C (k, count, count), the derivatives of the stresses (rows) to the strains (columns)."""
        C = np.zeros((len(X), self.count, self.count))
        for j in range(self.count):
            step = np.asarray(e, complex).copy()
            step[:, j] += COMPLEX_STEP * 1j
            C[:, :, j] = self._of_law(X, step).imag / COMPLEX_STEP
        return C

    def prestressed(self, X: Floats, e: Floats, de: Floats) -> Floats:
        """Return the numbers (k, w) of interactions with the same stiffness C at e, whose stress is greater by C de."""
        X = np.array(X, float)
        return self.shifted(X, de, np.einsum("kij,kj->ki", self.stiffness(X, e), de)) if len(X) else X

    def _of_law(self, X: Floats, e: Any) -> Any:
        """Return the results (k, count), complex, of `law` at the complex strains e."""
        out = np.zeros((len(X), self.count), complex)
        _evaluate_laws(
            address_of(self.law), np.ascontiguousarray(X, float), np.ascontiguousarray(e, complex), out
        )
        return out


@allocating_kernel
def _evaluate_laws(address, X, e, out):
    """Write the stresses of every row of strains e and numbers X into out (k, count)."""
    law = stress_at(address)
    for k in range(out.shape[0]):
        law(e[k], X[k], out[k])


class Condensed(NamedTuple):
    """Functions that update the condensed internal variables x of a dissipation.

    They solve an equation dx/dt = f(x, de/dt) in its strains e.

        strains(y, X, e)        a value function: e (count_of_strains,)
        begin(h, X, out)        a stress function: from x0, last in X, writes into X what else the duals read in a step of length
                                h (1,); out (1,): the energy stored in x0, J
        evolve(change, X, out)  a stress function, at the end of that step: replaces x0 by x1, where the strains have changed
                                by `change`; out (1,): the gain of the energy

    The dual between the ends of the step does the work of that energy and of the losses, which are never negative.

    Internal variables with an update have no such equation: the dual reads them as they were at the start, and

        update_internal(y0, y1, X, lam, out)   a dual function: these at the end of the step, out.ravel()[:n_internal], of X and
                                               lam = 1/h as the dual had them
        stored_energy(y, X, out)               a value function: the energy that is stored in them, J

    With `returns_work`, `update_internal` also writes the work dual . (y1 - y0) of the step, J, to out[1, 0, 0]: for kinds that
    know both from one evaluation.

    Again dual . (y1 - y0) less the gain of `stored_energy` is lost, never negative. `bend` of such a kind is the force that it
    holds at the poses y; of a kind that slides this is the dual between y and y. Where a scheme evaluates forces at one instant
    of a step, at y with the rates z, the dual is that between y - h z/2 and y + h z/2.

    A dissipation that may drive (`Kind.works`), such as drag in a current, may tell what part of the work of its dual is lost:

        lost(y0, y1, X, lam, out)   a dual function: the energy that the step dissipates, J, to out[0, 0, 0]; the rest is work

    `slides` declares forces that are nearly a sign. Then the dual writes into lam[SEEN:WITH_SEEN], if lam is that long, a rate w,
    its smoothed sign and 1/sqrt(w^2 + v^2), the force (3) that would hold, and its limit. If it resists rotation, the rates of
    drilling and of rolling (3 each) over the rest rate follow. The derivatives of these signs are taken at the expected values
    in lam[EXPECTED:SEEN], 1 and 3, 3, 3 numbers, unless the first is UNKNOWN (`discretization.assembly.regularised_forces`).
    """

    strains: Any = None
    begin: Any = None
    evolve: Any = None
    count_of_strains: int = 0
    update_internal: Any = None
    stored_energy: Any = None
    slides: bool = False
    lost: Any = None
    returns_work: bool = False


class InternalStateEquations(NamedTuple):
    """Additional functions of internal variables x that have equations of motion and are updated by `update_internal`.

    Over a step the equations are r(y0, y1, x0, x1, h) = 0.

        at_rest   the interaction after a long rest, r(y, y, x, x) = 0: an energy, or a force that does work, without internal
                  variables; its numbers hold x at its usual position, from which the resting x is searched
        states    a value function: this x (n_internal,)
        step      a dual function of lam = (h, x0, x1): the dual over that step into out[:arity], r into out[arity:].ravel(),
                  evaluated at the given x1, solved or not
    """

    at_rest: Kind
    states: Any
    step: Any
    conserves: bool = False  # True if nothing is lost and no work is done
    reverses: bool = False  # True if x1 is not x0 even with h = 0
    # a value function: a measure of the poses, whose rate at the start of a run is the initial value of the one variable; None:
    # the initial values are among the numbers
    rate_of: Any = None
    # a dual function of the poses and their rates z: the initial values, out.ravel()[:n_internal]; None: see `rate_of`
    initial: Any = None


class Kind(NamedTuple):
    """One kind of interaction: its functions, and the number of frames and rows that one interaction has."""

    name: str
    arity: int
    rows: int  # number of multipliers; 0: an energy
    value: Any
    dual: Any
    bend: Any
    constant: bool = False  # the dual does not depend on the poses, which are then not computed for it
    columns: tuple[str, ...] = ()  # fields of the model's arrays (`rigid.system`) that are its numbers
    turns: bool = False  # a constraint of directions alone: scaled by inertia, independent of positions
    quadratic: bool = False  # g is half a square less `value`: its gradient grows with that square's root
    # closed forms of a constraint; without them `em` takes complex steps of the dual
    closed: ClosedForms | None = None
    # Ua and value are functions of time (`rigid.interactions.driven_constraints`): `em` uses the dual
    driven: bool = False
    # an energy without a value, or a dissipation that may drive: the work of its duals is that of a load
    works: bool = False
    strain_energy: StrainEnergy | None = None  # strains of an energy that depends on strains
    # discrete derivative of the rate of a constraint that is more than quadratic in the poses
    hidden: Any = None
    # more than quadratic in the poses, without `hidden`: `rigid.interactions.hidden_rates` (4)
    steep: bool = False
    n_internal: int = 0  # number of internal variables, the last of its numbers: see `count` and `condensed`
    # a value function: the internal variables at the poses y, the values nearest to those in X
    count: Any = None
    # for an energy with a parallel damper: the kind of that dissipation, with the same frames and numbers, and the index of the
    # number that is 0 without a damper
    parallel_damper: tuple[Any, int] | None = None
    # number of `em`'s loop with its real closed form (`discretization.assembly.spring_forces`); 0: uses duals
    loop: int = 0
    condensed: Condensed = Condensed()
    one_sided: bool = False  # the tangent is zero where the dual is zero: it acts on contact alone
    state_equations: InternalStateEquations | None = (
        None  # functions of internal variables that have their own equations of motion
    )
    # number of first frames whose rotations matter; of later frames only the positions matter
    turning: int = MAX_FRAMES
    # offset of three of its numbers that come from outside, at the middle of each step; -1: there are none
    signal: int = -1
    torque: bool = False  # the dual is a torque alone, which does work along the rotations of each chart
    # the dual is a torque on one of two frames and its reaction on the other, and depends on their relative rotation alone
    couple: bool = False
    # forces against accelerations: the sizes of their rounding error in the table are theirs times the square of the step length
    inertial: bool = False
    # tangent function (y0, y1, X, lam, out, K), if cheaper than columns of the dual. If only positions matter (turning = 0),
    # row 3 k + j of K (3 arity, 3 arity) is the change of all forces with the position of frame k along j at the end; else row
    # 6 k + j of K (6 arity, 6 arity) is that of forces and torques with (dr, eta). `out` is scratch; on return out[k, 3, 0] is
    # zero if frame k has no entry in K. For a `couple`, K has entries of torques and rotations alone, and row 12 of K is the
    # torques themselves
    tangent: Any = None
    # number of a loop of real numbers that `em` uses in place of dual and tangent (`discretization.assembly.fluid_forces`)
    real_loop: int = 0
    potential: bool = (
        False  # a load whose dual depends on the poses, but has a potential while its value is constant
    )

    @property
    def directed(self) -> bool:
        """True if the kind has a direction on frame a."""
        return "Ua" in self.columns


def has_closed_forms(kind: Kind) -> bool:
    """Return True if `em` assembles the kind from closed forms instead of its duals."""
    return kind.closed is not None and kind.closed.value is not None


def has_hidden_forms(kind: Kind) -> bool:
    """Return True if `em-ggl` can enforce the kind at velocity level."""
    return kind.closed is not None and kind.closed.hidden_value is not None


class Group(NamedTuple):
    """All interactions of one kind in a system."""

    kind: Kind
    frames: Ints  # (k, arity) frame numbers
    numbers: Floats  # (k, :) numbers X
    row: Ints  # (k,) first row among the constraints


KIND = np.dtype(
    [
        (name, np.int64)
        for name in (
            *("value", "dual", "bend", "hidden", "count", "tangent"),
            *("strains", "begin", "evolve", "update_internal", "stored_energy", "lost"),
            *("arity", "rows", "constant", "steep", "n_internal", "strained", "slides"),
            *("one_sided", "turning", "works", "signal", "torque", "couple", "inertial", "real_loop"),
            "returns_work",
            *("first", "last"),
        )
    ],
    align=True,
)  # addresses of the functions (0: there is none) and facts; interactions first .. last - 1 are of this kind
ENTRY = np.dtype(
    [("row", np.int64), ("first", np.int64), ("last", np.int64), ("frames", np.int64, (MAX_FRAMES,))],
    align=True,
)  # `row`: first row among the constraints; its numbers are first .. last - 1


class InteractionArrays(NamedTuple):
    """All groups of a system in the layout that compiled code reads; interactions of one kind are contiguous."""

    kinds: Any  # (k,) records KIND
    entries: Any  # (e,) records ENTRY, one for each interaction
    numbers: Any  # numbers of all interactions, one after the other


INTERACTION_ARRAYS = types.NamedTuple(
    [types.Array(from_dtype(KIND), 1, "C"), types.Array(from_dtype(ENTRY), 1, "C"), F1], InteractionArrays
)


def value_function(function: Callable[..., Any]) -> Any:
    """Compile a function as the `value` of a kind (decorator)."""
    return compiled(VALUE)(function)


def dual_function(function: Callable[..., Any]) -> Any:
    """Compile a function as the `dual` or the `bend` of a kind (decorator)."""
    return compiled(DUAL)(function)


def hidden_function(function: Callable[..., Any]) -> Any:
    """Compile a function as the `hidden` of a kind (decorator)."""
    return compiled(HIDDEN)(function)


def tangent_function(function: Callable[..., Any]) -> Any:
    """Compile a function as the `tangent` of a kind (decorator)."""
    return compiled(TANGENT)(function)


def stress_function(function: Callable[..., Any]) -> Any:
    """Compile a function as the `law` of a `StrainEnergy` (decorator)."""
    return compiled(STRESS)(function)


@value_function
def no_value(y, X, out):
    """Write zero, the value of a dissipation."""
    out[0] = 0.0


def dissipation(name: str, arity: int, step_dual: Any, rate_dual: Any) -> Kind:
    """Return a kind without a value, with `step_dual` as its discrete derivative and `rate_dual` as its `bend`."""
    return Kind(name, arity, 0, no_value, step_dual, rate_dual)


@inline_kernel
def frame(y, k):
    """Return the pose (r, d1, d2, d3) of frame k as tuples."""
    a = y[k]
    return (
        (a[0, 0], a[0, 1], a[0, 2]),
        (a[1, 0], a[1, 1], a[1, 2]),
        (a[2, 0], a[2, 1], a[2, 2]),
        (a[3, 0], a[3, 1], a[3, 2]),
    )


@inline_kernel
def store(dual, out, k):
    """Write the dual (f, f1, f2, f3) of frame k into `out`."""
    a = out[k]
    for i in range(3):
        a[0, i], a[1, i], a[2, i], a[3, i] = dual[0][i], dual[1][i], dual[2][i], dual[3][i]


@inline_kernel
def add_dual(f, out, k):
    """Add the dual f to that of frame k: out[k] += f."""
    for j in range(4):
        for i in range(3):
            out[k, j, i] += f[j][i]


@inline_kernel
def vector(X, i):
    """Return the vector X[i:i + 3]."""
    return X[i], X[i + 1], X[i + 2]


@inline_kernel
def whole(x):
    """Return a whole number that is stored among X as a float."""
    return int(x.real + 0.5)


@dual_function
def no_bend(y, z, X, lam, out):
    """Write zero, the `bend` of an energy, or of a constraint linear in the poses."""
    out[:] = 0.0


def group(kind: Kind, frames: Ints, numbers: Floats, row: Ints | None = None) -> Group:
    """Return a group of this kind: frames (k, arity), numbers (k, :), for constraints the first row (k,) of each."""
    frames = np.ascontiguousarray(frames, np.int64).reshape(-1, kind.arity)
    numbers = np.atleast_2d(np.ascontiguousarray(numbers, float))
    return Group(kind, frames, numbers, np.zeros(len(frames), np.int64) if row is None else row)


def group_from_columns(kind: Kind, arrays: Any, use: Any = slice(None), row: Ints | None = None) -> Group:
    """Return the group of the interactions `use` of a named tuple of `rigid.system`, all of this kind."""
    numbers = [np.asarray(getattr(arrays, name))[use] for name in kind.columns]
    return group(kind, arrays.frames[use], np.column_stack(numbers), row)


def pack_groups(groups: Sequence[Group] = ()) -> InteractionArrays:
    """Return the groups in the layout that compiled code reads."""
    return _pack(groups, _row_of, np.float64)


def pack_groups_for_complex_numbers(groups: Sequence[Group], *functions: str) -> InteractionArrays:
    """Return the groups in the layout that compiled code reads, with complex numbers, for derivatives to numbers.

    Only the named functions ("value", "dual", "bend", "hidden") are available, compiled for complex numbers. Kernels call them by
    `value_of_complex_at` and `dual_of_complex_at`.
    """
    take_complex_numbers()

    def address(name: str, function: Any) -> int:
        return address_of(with_complex_numbers(function)) if name in functions else 0

    return _pack(groups, lambda kind: _row_by(kind, address), np.complex128)


MAX_CACHED_ROWS = 64  # largest number of cached kinds
_rows: OrderedDict[int, tuple[Kind, tuple[Any, ...]]] = OrderedDict()


def _row_of(kind: Kind) -> tuple[Any, ...]:
    """Return the fields of KIND without `first` and `last`; those of recently used kinds are cached."""
    cached = _rows.get(id(kind))
    if cached is None:
        _rows[id(kind)] = cached = kind, _row_by(kind, lambda _, function: address_of(function))
        while len(_rows) > MAX_CACHED_ROWS:
            _rows.popitem(last=False)
    return cached[1]


def _row_by(kind: Kind, address: Callable[[str, Any], int]) -> tuple[Any, ...]:
    """Return the fields of KIND without `first` and `last`, with function addresses from `address`."""
    function_names = "value", "dual", "bend", "hidden", "count", "tangent"
    functions = {name: getattr(kind, name) for name in function_names}
    functions |= kind.condensed._asdict()
    strained, slides, returns_work = (
        functions.pop(name) for name in ("count_of_strains", "slides", "returns_work")
    )
    addresses = [0 if f is None else address(name, f) for name, f in functions.items()]
    facts: tuple[Any, ...] = (
        kind.arity,
        kind.rows,
        kind.constant,
        kind.steep,
        kind.n_internal,
        strained,
        slides,
    )
    facts += kind.one_sided, kind.turning, kind.works, kind.signal, kind.torque, kind.couple, kind.inertial
    facts += kind.real_loop, returns_work
    return (*addresses, *facts)


# types of records: arrays of these types are viewed as record arrays at less cost
_KINDS, _ENTRIES = (np.dtype((np.record, fields)) for fields in (KIND, ENTRY))


def _pack(
    groups: Sequence[Group], row_of: Callable[[Kind], tuple[Any, ...]], dtype: Any
) -> InteractionArrays:
    """Return the groups in the layout that compiled code reads, with numbers of type `dtype`; `row_of`: fields of a kind."""
    kinds = np.zeros(len(groups), _KINDS)
    entries = np.zeros(sum(len(group.row) for group in groups), _ENTRIES)
    at = number = 0
    for k, group in enumerate(groups):
        count, width = group.numbers.shape
        kinds[k] = (*row_of(group.kind), at, at + count)
        records = entries[at : at + count]
        records["row"], records["frames"][:, : group.kind.arity] = group.row, group.frames
        records["first"] = number + width * np.arange(count)
        records["last"] = records["first"] + width
        at, number = at + count, number + count * width
    numbers = np.concatenate([np.zeros(0), *(group.numbers.ravel() for group in groups)]).astype(
        dtype, copy=False
    )
    return InteractionArrays(kinds.view(np.recarray), entries.view(np.recarray), numbers)
