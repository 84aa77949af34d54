"""Compute linear models for control and measurement: state-space matrices and frequency responses of small motions.

From M x'' + D x' + K x + G^T y = B u, G x = 0 (`linear_equations`) the joints are eliminated by motions Z that satisfy them, x
= Z q: all such motions, or the lowest modes,

    q'' = (Z^T M Z)^-1 (Z^T B u - Z^T D Z q' - Z^T K Z q)                                                    (1)

Internal states of interactions and relaxing viscoelastic branches (`discretization.linearisation.internal_states` (2)) are states
here, after q and q'.

A frequency response needs no elimination: (-w^2 M + i w D + K) x + G^T y = B u is solved directly. Joint forces
(`rodsim.small_motions.linear_reactions`) follow from the same equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import ArrayLike, NDArray

from discretization.linearisation import eigen, load_stiffness, tangents
from discretization.linearisation.equations import Linearised
from discretization.linearisation.saddle_point import SaddlePointSolver
from rigid import checks, quaternions
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim._compat import accept_old_arguments
from rodsim.building.build import built_from
from rodsim.building.load_arrays import entry_inputs
from rodsim.building.massless_rods import check_mass
from rodsim.building.placement import Placement
from rodsim.building.starting_states import StartLike
from rodsim.components.model_parts import Anchor, Body, Driven
from rodsim.components.part_lookup import find_point
from rodsim.model import Model
from rodsim.small_motions.linear_equations import linear_about
from rodsim.small_motions.linear_reactions import JointForceOutput, ReactionRow, reaction_row

MAX_DEGREES_OF_FREEDOM = 2000  # largest number of degrees of freedom with all motions kept
WHAT = ("position", "velocity", "turn", "angular velocity")


Point: TypeAlias = Anchor | Body | Driven | str


@dataclass(frozen=True, init=False)
class ForceInput:
    """An input of a linear model: a force at a point along a direction, or a moment about it.

    Parameters
    ----------
    on : point, Body or str
        Point of a body or a rod, or its name: "block", "cord.end", "cord@0.3". A body stands for its reference point.
    direction : array_like, shape (3,)
        World direction; its length does not matter.
    moment : bool, default False
        True if the input is a moment (N m) instead of a force (N).

    Examples
    --------
    >>> from rodsim.linear import ForceInput
    >>> ForceInput("cord.end", (0, 0, 1)).moment
    False
    """

    on: Point
    direction: ArrayLike
    moment: bool

    @accept_old_arguments
    def __init__(self, on: Point, direction: ArrayLike, moment: bool = False) -> None:
        for name, value in (("on", on), ("direction", direction), ("moment", moment)):
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class VaryingInput:
    """An input of a linear model: the value of a measure force, of an actuation, or of another entry that varies in time.

    Parameters
    ----------
    name : str
        Name of the entry: `add_measure_force`, `add_actuation`, `add_pressure` or `add_spring` with a function of time.

    Examples
    --------
    >>> from rodsim.linear import VaryingInput
    >>> VaryingInput("cylinder").name
    'cylinder'
    """

    name: str


Input: TypeAlias = ForceInput | VaryingInput


@dataclass(frozen=True, init=False)
class MotionOutput:
    """An output of a linear model: the motion of a point along a direction.

    Parameters
    ----------
    on : point, Body or str
        Point of a body or a rod, or its name: "block", "cord.end", "cord@0.3". A body stands for its reference point.
    direction : array_like, shape (3,)
        World direction; its length does not matter.
    what : {"position", "velocity", "turn", "angular velocity"}, default "position"
        Displacement (m), velocity (m/s), rotation about the direction (rad) or its rate (rad/s).

    Examples
    --------
    >>> from rodsim.linear import MotionOutput
    >>> MotionOutput("cord.end", (0, 0, 1), "velocity").what
    'velocity'
    """

    on: Point
    direction: ArrayLike
    what: str

    @accept_old_arguments
    def __init__(self, on: Point, direction: ArrayLike, what: str = "position") -> None:
        for name, value in (("on", on), ("direction", direction), ("what", what)):
            object.__setattr__(self, name, value)


@accept_old_arguments
def state_space(
    model: Model,
    inputs: Sequence[Input],
    outputs: Sequence[MotionOutput | JointForceOutput],
    start: StartLike | None = None,
    *,
    n_modes: int | None = None,
    spin: ArrayLike | None = None,
    about: ArrayLike = (0.0, 0.0, 0.0),
    load_time: float = 0.0,
    loads: Mapping[str, ArrayLike] | None = None,
    start_time: float | None = None,
) -> scipy.signal.StateSpace:
    """Return the small motions of a model as matrices x' = A x + B u, y = C x + D u.

    The joints are eliminated: the states are those of an ordinary differential equation. They are coordinates q of all
    motions that the joints allow, or of the lowest modes, their rates, and the internal states of interactions and of
    relaxing branches.

    Parameters
    ----------
    model : Model
        The model; every moving part must have mass.
    inputs : sequence of ForceInput and VaryingInput
        Forces (N) and moments (N m) at points, and the values of measure forces, actuations and pressures.
    outputs : sequence of MotionOutput and JointForceOutput
        Changes of positions (m), velocities (m/s), rotations (rad), angular velocities (rad/s), and of forces and moments of
        joints (N, N m).
    start : Result, Equilibrium, State, SteadyRotation, str or Path, optional
        State to linearise about: the last state of a result or of a result file (its path), or a State. Default: the
        initial state. If it is a `SteadyRotation`, its `spin` and `about` are used, unless `spin` is given.
    n_modes : int, optional
        Number of lowest undamped modes to keep; required above 2000 degrees of freedom. Default: all motions.
    spin : array_like (3,), optional
        Angular velocity of rotating axes, in which fixed parts rotate too, rad/s. Default: inertial axes.
    about : array_like (3,), default (0, 0, 0)
        A point of the axis of `spin`, m.
    load_time : float, default 0.0
        Time at which the loads are evaluated, s.
    loads : mapping of str to array_like (3,), optional
        Name of a load -> its value in place of that at `load_time`, N or N m.

    Returns
    -------
    scipy.signal.StateSpace
        The matrices A, B, C and D.

    Other Parameters
    ----------------
    start_time : float, optional
        Time of a stored state of the result `start`, s; the nearest output is used. Default: the last.

    Raises
    ------
    ModelError
        If a point does not move, the model has too many degrees of freedom for full matrices, or as `linearise` does.

    See Also
    --------
    frequency_response : Computes amplitudes at given frequencies, without full matrices.

    Examples
    --------
    >>> from rodsim import Material, Model, Section
    >>> from rodsim.linear import ForceInput, MotionOutput, state_space
    >>> model = Model("beam")
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 8)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> push, probe = ForceInput(rod.end, (0, 0, 1)), MotionOutput(rod.end, (0, 0, 1))
    >>> system = state_space(model, [push], [probe], n_modes=3)
    >>> system.A.shape
    (6, 6)
    """
    check_mass(built_from("state_space", model), "state_space")
    lin = linear_about("state_space", model, start, spin, about, load_time, loads, start_time)[1]
    B, C, rates, carried = _columns(model, lin, inputs, outputs)
    Z = _motions(lin, n_modes)
    full_D = lin.C + lin.gyroscopic
    M, D, K = (Z.T @ (A @ Z) for A in (lin.M, full_D, lin.K))
    k, states = Z.shape[1], lin.states
    m = 0 if states is None else len(states.L)
    H = np.zeros((k, 0)) if states is None else Z.T @ states.H
    right = np.linalg.solve(M, np.concatenate([-K, -D, -H, Z.T @ B], axis=1))
    A = np.block([[np.zeros((k, k)), np.eye(k), np.zeros((k, m))], [right[:, : 2 * k + m]]])
    if states is not None:
        A = np.concatenate([A, np.concatenate([-(states.Ly @ Z), -(states.Lz @ Z), -states.L], axis=1)])
    none = np.zeros((m, B.shape[1]))
    of_inputs = np.concatenate([np.zeros((k, B.shape[1])), right[:, 2 * k + m :], none])
    measured = C.T @ Z
    of_states = np.concatenate(
        [measured * ~rates[:, None], measured * rates[:, None], np.zeros((len(measured), m))], axis=1
    )
    direct = np.zeros((C.shape[1], B.shape[1]))
    if carried:
        saddle = SaddlePointSolver(lin.M, lin.G)
        for j, row in carried.items():
            # dlam = L (B u - D x' - K x); L^T of_lam is the z of [M G^T; G 0] [z; .] = [0; of_lam]
            to_forces = saddle.solve(np.zeros(lin.size), below=row.multiplier_coefficients)
            to_states = np.zeros(0) if states is None else -(to_forces @ states.H)
            motion_coefficients = row.motion_coefficients @ Z - to_forces @ (lin.K @ Z)
            of_states[j] = [*motion_coefficients, *(-(to_forces @ (full_D @ Z))), *to_states]
            direct[j] = to_forces @ B
    return scipy.signal.StateSpace(A, of_inputs, of_states, direct)


@accept_old_arguments
def frequency_response(
    model: Model,
    inputs: Sequence[Input],
    outputs: Sequence[MotionOutput | JointForceOutput],
    omega: ArrayLike,
    start: StartLike | None = None,
    *,
    spin: ArrayLike | None = None,
    about: ArrayLike = (0.0, 0.0, 0.0),
    load_time: float = 0.0,
    loads: Mapping[str, ArrayLike] | None = None,
    start_time: float | None = None,
) -> NDArray:
    """Compute the complex amplitudes of outputs of a model under inputs cos(omega t).

    At each frequency the sparse equations (-w^2 M + i w D + K) x + G^T y = B u, G x = 0 are solved directly.

    Parameters
    ----------
    model : Model
        The model; rods without mass are allowed.
    inputs : sequence of ForceInput and VaryingInput
        Forces (N) and moments (N m) at points, and the values of measure forces, actuations and pressures.
    outputs : sequence of MotionOutput and JointForceOutput
        Changes of positions (m), velocities (m/s), rotations (rad), angular velocities (rad/s), and of forces and moments of
        joints (N, N m).
    omega : array_like (w,)
        Angular frequencies, rad/s.
    start : Result, Equilibrium, State, SteadyRotation, str or Path, optional
        State to linearise about: the last state of a result or of a result file (its path), or a State. Default: the
        initial state. If it is a `SteadyRotation`, its `spin` and `about` are used, unless `spin` is given.
    spin : array_like (3,), optional
        Angular velocity of rotating axes, in which fixed parts rotate too, rad/s. Default: inertial axes.
    about : array_like (3,), default (0, 0, 0)
        A point of the axis of `spin`, m.
    load_time : float, default 0.0
        Time at which the loads are evaluated, s.
    loads : mapping of str to array_like (3,), optional
        Name of a load -> its value in place of that at `load_time`, N or N m.

    Returns
    -------
    ndarray (w, outputs, inputs)
        Complex amplitudes for unit inputs, in units of the output per unit of the input.

    Other Parameters
    ----------------
    start_time : float, optional
        Time of a stored state of the result `start`, s; the nearest output is used. Default: the last.

    Raises
    ------
    ModelError
        If a point does not move, a direction is zero, nothing resists a motion at a frequency, or as `linearise` does.

    See Also
    --------
    state_space : Returns the small motions as matrices.

    Examples
    --------
    >>> from rodsim import Material, Model, Section
    >>> from rodsim.linear import ForceInput, MotionOutput, frequency_response
    >>> model = Model("beam")
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 8)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> push, probe = ForceInput(rod.end, (0, 0, 1)), MotionOutput(rod.end, (0, 0, 1))
    >>> amplitudes = frequency_response(model, [push], [probe], [10.0, 20.0])
    >>> amplitudes.shape
    (2, 1, 1)
    """
    lin = linear_about("frequency_response", model, start, spin, about, load_time, loads, start_time)[1]
    B, C, rates, carried = _columns(model, lin, inputs, outputs)
    M, D, K, G = eigen.with_states(lin, lin.C + lin.gyroscopic)
    amplitudes, size = [], lin.size
    of_inputs = np.concatenate([B, np.zeros((M.shape[0] - size, B.shape[1]))])
    for w in np.atleast_1d(np.asarray(omega, float)):
        try:
            saddle = SaddlePointSolver(scipy.sparse.csr_matrix(-w * w * M + 1j * w * D + K), G)
        except ModelError:
            raise ModelError(
                f"frequency_response: nothing resists a motion at omega = {w:g} rad/s, so that it has no amplitude; remove this "
                "frequency, hold the motion by a spring, or give it damping"
            ) from None
        x, y = saddle.reactions(of_inputs.astype(complex))
        x = x[:size]
        out = (C.T @ x) * np.where(rates, 1j * w, 1.0)[:, None]
        for j, row in carried.items():
            out[j] = row.multiplier_coefficients @ y + row.motion_coefficients @ x
        amplitudes.append(out)
    return np.array(amplitudes)


def _motions(lin: Linearised, n_modes: int | None) -> Floats:
    """Return the motions Z (size, k) that satisfy the joints: all, or the `n_modes` lowest undamped modes."""
    free = lin.free
    if n_modes is None:
        if free > MAX_DEGREES_OF_FREEDOM:
            raise ModelError(
                f"state_space: the model has {free} degrees of freedom, too many for full matrices; give n_modes="
            )
        return eigen.null_space(lin.G)
    n = min(checks.count("state_space", "n_modes", n_modes), free)
    symmetric = lin.changed(K=lin.symmetric_stiffness, states=None)
    return eigen.conservative(symmetric, n)[1].T


def _columns(
    model: Model,
    lin: Linearised,
    inputs: Sequence[Input],
    outputs: Sequence[MotionOutput | JointForceOutput],
) -> tuple[Floats, Floats, NDArray[np.bool_], dict[int, ReactionRow]]:
    """Return B (size, inputs), C^T (size, outputs), whether outputs are rates (outputs,), and the rows of joint reactions."""
    placement = Placement(model)
    B, C = np.zeros((lin.size, len(inputs))), np.zeros((lin.size, len(outputs)))
    for j, push in enumerate(inputs):
        if isinstance(push, VaryingInput):
            _put_varying(model, placement, lin, f"input {j}", push.name, B[:, j])
        else:
            _put(model, placement, lin, f"input {j}", push, push.moment, B[:, j])
    rates, carried = np.zeros(len(outputs), bool), {}
    for j, probe in enumerate(outputs):
        if isinstance(probe, JointForceOutput):
            carried[j] = reaction_row(model, lin, f"output {j}", probe)
            continue
        rates[j] = probe.what in (WHAT[1], WHAT[3])
        checks.word(f"output {j}", "what", probe.what, WHAT)
        _put(model, placement, lin, f"output {j}", probe, probe.what in WHAT[2:], C[:, j])
    return B, C, rates, carried


def _put_varying(
    model: Model, placement: Placement, lin: Linearised, owner: str, name: str, column: Floats
) -> None:
    """Add the forces of an entry for the value 1 to a column of B; ModelError if no entry of this name is actuated."""
    inputs, values = entry_inputs(model, placement), np.zeros_like(lin.loads)
    first = len(values) - sum(external.interactions for _, external in inputs)  # after the loads
    for entry, external in inputs:
        if entry.name == name and external.described is not None:
            values[first : first + external.interactions] = external.described["factor"]
        first += external.interactions
    if not values.any():
        known = sorted({entry.name for entry, external in inputs if external.described is not None})
        raise ModelError(
            f"{owner}: {checks.shown(name)} is not a measure force, an actuation, or another entry that varies. Use one of "
            f"{', '.join(known) or 'those that are to be added'}"
        )
    groups = load_stiffness.load_groups(lin.system, lin.state, values)
    forces = -tangents.forces(groups, lin.state, np.zeros(0))
    column[:] = forces[lin.frames].ravel()


def _put(
    model: Model,
    placement: Placement,
    lin: Linearised,
    owner: str,
    at: ForceInput | MotionOutput,
    turns: bool,
    column: Floats,
) -> None:
    """Add a unit force along the direction of an input or output, or a moment about it (`turns`), to a column of B.

    The column is work-conjugate to displacements and rotations (dr, turn); it also gives the output of the point. Raises
    ModelError if the point does not move.
    """
    anchor = find_point(owner, model, at.on)
    if not isinstance(anchor, Anchor):
        raise ModelError(f"{owner}: {checks.shown(anchor)} is not a point; use body.at(...) or rod.at(s)")
    placed = placement.place(anchor)
    if lin.place[placed.frame] < 0:
        raise ModelError(f"{owner}: {anchor} does not move; give a point of a body or a rod")
    direction = checks.direction(owner, "direction", at.direction)
    column_of_frame = column[lin.rows(placed.frame)]
    if turns:
        column_of_frame[3:] = direction
        return
    column_of_frame[:3] = direction
    column_of_frame[3:] = np.cross(quaternions.rotate(lin.state.quat[placed.frame], placed.X), direction)
