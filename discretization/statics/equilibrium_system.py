"""Model at rest: its forces, their tangent, corrections. Used by Newton's method, load paths and dynamic relaxation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy  # its subpackages are loaded on first access

from discretization import interaction_table
from discretization.assembly.numbering import BAND_LIMIT, Numbering, new_handle, number_unknowns
from discretization.assembly.workspace import NOISE_FACTOR, Workspace, scale_to_multipliers, workspace
from discretization.characteristic_length import extent
from discretization.drives import count_drives, with_driven_parameters
from discretization.internal_variables import part
from discretization.linear import sparse
from discretization.median import median
from discretization.memoization import memoized, per_tables
from discretization.relaxed_system import has_evolution_equations, relaxed_system, with_stationary_states
from discretization.state_checks import OF_SYSTEMS, check_arrays
from discretization.state_shapes import Shapes, sizes_of, state_shapes
from discretization.statics.forces import FOLDED, NOT_FINITE, SINGULAR, SOLVED, forces_of
from discretization.statics.iteration import (
    ADVANCE,
    CORRECT,
    FACTOR,
    FACTORISATIONS,
    FORCES,
    ITERATIONS,
    LEVEL,
    LOADS,
    MASS,
    NEWTON,
    PREDICTED_TANGENT,
    RATES,
    SOLVE,
    SUMMED_ROTATION,
    TANGENT,
    EquilibriumData,
    IterationData,
    at_rest,
)
from discretization.statics.loading import Loading
from discretization.statics.resting_friction import RestingFriction
from discretization.statics.strains import prediction
from discretization.system import System
from discretization.time.newton import has_blocks_beyond_band
from rigid.bound_arguments import bind_tuple, specialized
from rigid.system import Floats, State

SavedEquilibrium = tuple[Floats, float]  # a state, as flat numbers, and its load factor

JUMP_STATUS = 5  # continues the status codes after NOT_CONVERGED of `discretization.statics.iteration`

FAILURE_REASONS = {
    JUMP_STATUS: "even the shortest step ends on another path: the stiffness has another number of negative pivots, "
    "and no singular "
    "point was found between",
    FOLDED: "the relative rotation of the two ends of a rod element passed pi",
    NOT_FINITE: "the forces are not finite numbers",
    SINGULAR: "the tangent is singular",
}


NOTHING = 1e-300  # kg, mass of massless frames; the noise of em's equations is divided by it


def static_system(system: System, state: State) -> System:
    """Return the system as statics sees it.

    It has no dampers and no shared masses; drives have their values in `state`, internal state equations are at rest, and
    viscoelastic branches are relaxed. Arrays that statics changes are copies.
    """
    return _moving(_without_dampers(_with_values_of(state, system)))


def _with_values_of(state: State, system: System) -> System:
    """Return the system with the drives and the internal states that it has in a state."""
    if not (count_drives(system) or has_evolution_equations(system)):
        return system
    drives = part(system, state, "drive")
    system = relaxed_system(system, state)
    return system._replace(constraints=with_driven_parameters(system.constraints, drives))


_MOVED = ("Xa", "Xb", "Ua", "Ub")


def _moving(system: System) -> System:
    """Return `system` with copies of the arrays that statics changes: stress-free strains, points of joints, gravity."""
    elements, constraints = system.elements, system.constraints
    return system._replace(
        elements=elements._replace(strain0=elements.strain0.copy()),
        constraints=constraints._replace(**{k: getattr(constraints, k).copy() for k in _MOVED}),
        gravity=system.gravity.copy(),
    )


@memoized(per_tables, copies=True)
def _prepare(system: System, band_limit: int) -> tuple[System, Numbering, Workspace]:
    """Return the system without dampers and shared masses, its numbering and its work arrays."""
    resting = _without_dampers(system)
    numbering = number_unknowns(resting, band_limit)
    return resting, numbering, workspace(resting, numbering)


def _without_dampers(system: System) -> System:
    frames = system.frames
    if not frames.mass.min() >= NOTHING:
        frames = frames._replace(mass=np.maximum(frames.mass, NOTHING))
    interactions = interaction_table.at_rest(system.others)
    return system.with_rods(system.rods.lumped().undamped())._replace(others=interactions, frames=frames)


class EquilibriumSystem:
    """Equations (1), (2) of `discretization.statics.forces` for one system at one state, under a load factor.

    Vectors are in the order of `numbering`: 6 entries per moving frame (dr, spatial rotation), then or between them the
    multipliers.

    idle: frame -> projection (3, 3) on its axes without inertia, about which nothing acts on it. It does not rotate about them.
    shapes: shapes of the state arrays, if a state has more than the system requires.
    friction: friction of contacts with planes; None: there is none.
    """

    def __init__(
        self,
        system: System,
        state: State,
        loading: Loading,
        band_limit: int = BAND_LIMIT,
        idle: Mapping[int, Floats] | None = None,
        shapes: Shapes | None = None,
        friction: RestingFriction | None = None,
    ):
        if len(system.contacts.pairs):
            raise ValueError(
                "a system with contacts between surfaces: take `discretization.statics.contact_statics.equilibrium_system_of`"
            )
        self.shapes = state_shapes(sizes_of(system)) if shapes is None else shapes
        self._moving = system
        placed = _with_values_of(check_arrays(state, self.shapes, *OF_SYSTEMS), system)
        self.friction = friction
        if friction is not None:
            placed = friction.on(placed)
        # determinant and matrix comprise all unknowns
        resting, numbering, self.work = _prepare(placed, band_limit)
        self.system = _moving(resting._replace(gravity=placed.gravity))
        self.loading = loading.of(self.system)
        self.numbering = numbering._replace(handle=new_handle())
        self._forget = sparse.release_with(self, self.numbering.handle)
        self._all, self.state = _contiguous_copy(state)
        self.state.v[:] = 0.0
        self.state.Omega[:] = 0.0
        self.state.memory[:] = 0.0
        part(system, self.state, "settled")[:] = 0.0  # bristles of other friction are released
        if friction is not None:
            friction.store(self.state)
        self.size = self.numbering.size
        self.is_row = np.zeros(self.size, dtype=np.bool_)
        if len(self.numbering.row):
            rows = [np.arange(i, i + k) for i, k in zip(self.numbering.row, self.numbering.rows, strict=True)]
            self.is_row[np.concatenate(rows)] = True
        moving = self.system.frames.fixed == 0
        self.unknowns = self.numbering.frame[moving][:, None] + np.arange(6)  # (moving frames, 6) unknowns
        self.frames = np.flatnonzero(moving)
        self.length = extent(state.r[self._seen()], self._levers())
        weight = np.zeros(self.size)
        weight[self.unknowns] = np.array([self.length**-2] * 3 + [1.0] * 3) / max(1, len(self.frames))
        self.weight = weight
        self._iteration_data = IterationData(
            is_row=self.is_row,
            turns=np.ascontiguousarray(self.unknowns[:, 3:]),
            weight=weight,
            offset=np.zeros_like(self.work.residual),
            x=np.zeros(self.size),
            residual=np.zeros_like(self.work.residual),
            statistics=np.zeros(4),
            strains=prediction(self.system, self.work),
            idle=np.array(list(idle), np.int64) if idle else np.zeros(0, np.int64),
            massless_axis_stiffness=np.array(list(idle.values())) if idle else np.zeros((0, 3, 3)),
        )
        rates, gravity_rate = self.loading.rates()
        self._data = EquilibriumData(
            self.system,
            self.numbering,
            self.state,
            self.work,
            values=np.zeros_like(rates),
            loads=self.loading.values(0.0),
            rates=rates,
            gravity=self.loading.gravity(0.0),
            gravity_rate=gravity_rate,
            iteration_data=self._iteration_data,
        )
        self._bound_data = bind_tuple(self._data)
        self._forces = forces_of(*self._data[:4], getattr(self._bound_data, "kind", None))
        self.idle = idle or {}
        self._beyond = has_blocks_beyond_band(self.numbering)
        self._at_rest = specialized(at_rest, self._bound_data, self._forces, self._beyond, FORCES, 1.0)
        self.fading_forces: Floats | None = (
            None  # (1 - load factor) times this is the offset: see `hold_by_fading_forces`
        )
        self.factor = 0.0
        self.n_factorisations = 0
        self.max_rotation = np.inf  # rad, trust radius: largest rotation of a frame in a load step
        self.max_shift = np.inf  # m, largest displacement of a frame in a step of relaxation
        self.load_at(0.0)
        self._hold_idle()
        self._scale_rows()

    @property
    def state_for_motion(self) -> State:
        """Return a copy of the state with internal state equations at rest, from which a motion may begin."""
        copied = State(*(array.copy() for array in self.state))
        return with_stationary_states(self._moving, copied)

    @property
    def system_for_linearisation(self) -> System:
        """Return the system for a linearisation about the state."""
        return self.system

    @property
    def offset(self) -> Floats:
        """Return the forces (N + 6,) that hold the model in its state."""
        return self._iteration_data.offset

    def _hold_idle(self) -> None:
        """Scale the stiffness about idle axes to the resistance of the stiffest frame to a rotation of the model."""
        if self.idle:
            self.assemble(True)
            stiff = np.abs(self.matrix().diagonal()[self.unknowns[:, :3]]).max()
            self._iteration_data.massless_axis_stiffness[:] *= self.length**2 * stiff if stiff > 0.0 else 1.0

    def _levers(self) -> float:
        """Return the size of a model whose frames are all in one place, m: that of the lever arms of its joints and springs."""
        levers, interactions = [self.system.constraints.Xa, self.system.constraints.Xb], self.system.others
        if len(interactions.kind):
            springs = interaction_table.springs_of(interactions)
            levers += springs.Xa, springs.Xb
        return max((float(np.abs(X).max(initial=0.0)) for X in levers), default=0.0) or 1.0

    def _seen(self) -> np.ndarray:
        """Return a mask of the frames that determine the size of the model.

        They are the moving frames, and the ground if something is constrained to it.
        """
        mask = self.system.frames.fixed == 0
        mask[0] = bool((self.numbering.row_frames == 0).any())
        return mask

    def _scale_rows(self) -> None:
        """Scale the constraint rows by the stiffness of the frames they constrain, so that the pivots are of one size.

        Their rounding is that of positions in a model of this size.
        """
        frames, turns = self.numbering.row_frames, self.work.facts.turns
        if not len(frames):
            return
        self.work.facts.reach[:] = np.maximum(self.work.facts.reach, self.length)
        self.work.facts.lightest[:] = 0.5
        self.assemble(True)
        diagonal = np.zeros((len(self.system.frames.mass), 6))
        diagonal[self.frames] = self.stiffness_diagonal()
        stiffness = np.stack([diagonal[:, :3].max(axis=1), diagonal[:, 3:].max(axis=1)], axis=1)
        stiffness_of_frames = np.where(frames >= 0, stiffness[frames, turns[:, None].astype(int)], 0.0)
        size = stiffness_of_frames.max(axis=1, initial=0.0)
        load = np.abs(self.loading.values(1.0)).max(initial=0.0) / self.length
        typical = max(median(size[size > 0.0]) if (size > 0.0).any() else 0.0, load)
        size = 0.5 * np.where(size > 0.0, size, typical or 1.0)
        self.work.facts.lightest[:] = scale_to_multipliers(self.system, size)

    def stiffness_diagonal(self) -> Floats:
        """Return the absolute diagonal (moving frames, 6) of the assembled K/2, before it is factorised."""
        base, stride = self.numbering.frame_base[self.frames], self.numbering.frame_stride[self.frames]
        indices = base[:, None] + np.arange(6) * (1 + stride[:, None])
        return np.abs(self.work.values[indices])

    def load_at(self, factor: float) -> None:
        """Set loads, weights and moved ground points to those at this load factor."""
        self.factor = factor
        self.values_at(factor)
        self.loading.move(self.system, self.work, factor)
        if self.fading_forces is not None:
            self.offset[:] = (1.0 - factor) * self.fading_forces

    def values_at(self, factor: float) -> None:
        """Set loads and weights alone to those at this load factor."""
        self._execute(LOADS, factor)

    @property
    def values(self) -> Floats:
        """Return the values (l, 3) of the loads at this load factor."""
        return self._data.values

    def largest_force(self) -> float:
        """Return the largest force on a frame (load, weight, or joint force), N, or moment, N m."""
        weights = self.system.frames.mass[self.frames].max(initial=0.0) * np.linalg.norm(self.system.gravity)
        parts = (np.abs(self.values).max(initial=0.0), weights, np.abs(self.state.lam).max(initial=0.0))
        return float(max(parts))

    def hold_by_fading_forces(self) -> None:
        """Hold the present state by forces that fade as the load factor grows to 1.

        The loads that they balance thus act little by little.
        """
        self.assemble(False)
        self.fading_forces = self.residual.copy()
        self.load_at(self.factor)

    def assemble(self, tangent: bool = True) -> float:
        """Assemble forces and, if `tangent`, the tangent.

        Return the largest residual over its round-off; negative if an element is folded or a force is not finite.
        """
        return self._execute(TANGENT if tangent else FORCES)

    def _execute(self, task: int, factor: float = 1.0) -> float:
        return float(self._at_rest(self._bound_data, self._forces, self._beyond, task, float(factor)))

    def newton(self) -> tuple[int, int, float]:
        """Solve for the equilibrium by Newton's method; return status, iterations, residual over its round-off."""
        status, statistics = self._execute(NEWTON), self._iteration_data.statistics
        self.n_factorisations += int(statistics[FACTORISATIONS])
        return int(status), int(statistics[ITERATIONS]), float(statistics[LEVEL])

    @property
    def summed_rotation(self) -> float:
        """Return the bound on the rotation of any frame in the last `newton`, rad."""
        return float(self._iteration_data.statistics[SUMMED_ROTATION])

    def correct(self, x: Floats) -> int:
        """Correct the state by x: see `discretization.statics.equilibrium_newton.apply_correction`."""
        self._iteration_data.x[:] = x
        return int(self._execute(CORRECT))

    @property
    def residual(self) -> Floats:
        """Return the residual (N + 6,) of the last `assemble`."""
        return self.work.residual

    def factorise(self) -> bool:
        """Factorise the assembled tangent (LU); return False if it is singular."""
        self.n_factorisations += 1
        return self._execute(FACTOR) == SOLVED

    def solve(self, residual: Floats) -> Floats:
        """Return the correction (N,) that removes a residual (N + 6,)."""
        self._iteration_data.residual[:] = residual
        self._execute(SOLVE)
        return self._iteration_data.x.copy()

    def advance(self, x: Floats, factor: float = 1.0) -> int:
        """Move the state by factor x; return SOLVED, or the reason why the state is unchanged."""
        self._iteration_data.x[:] = x
        return int(self._execute(ADVANCE, factor))

    def add_mass(self, factor: float) -> None:
        """Add factor M to the assembled tangent K, that is, half of it to K/2."""
        self._execute(MASS, 0.5 * factor)

    def load_rate(self) -> Floats:
        """Return the derivative (N + 6,) of the residual with respect to the load factor, at the poses of the last `assemble`."""
        self._execute(RATES)
        out = -self._iteration_data.residual
        if self.loading.moves:
            # moved ground points: by differences of the residual alone, which is left at its value for this factor
            change, factor = 1e-6, self.factor
            ends = []
            for end in (factor + change, factor - change):
                self.loading.move(self.system, self.work, end)
                self.assemble(False)
                ends.append(self.work.residual.copy())
            self.loading.move(self.system, self.work, factor)
            self.assemble(False)
            out += (ends[0] - ends[1]) / (2.0 * change)
        if self.fading_forces is not None:
            out += self.fading_forces
        out[self.size :] = 0.0
        return out

    def assemble_predicted_tangent(self) -> None:
        """Assemble the tangent alone, with the stresses that the last `correct` predicted; the residual is not changed."""
        self._execute(PREDICTED_TANGENT)

    @property
    def excess(self) -> Floats:
        """Return the strains (points, 6) minus those that the last `correct` predicted."""
        return self._iteration_data.strains.excess

    def largest_rotation(self, x: Floats) -> float:
        """Return the largest rotation of a frame in a correction, rad."""
        if not len(self.frames):
            return 0.0
        return float(np.sqrt((x[self.unknowns[:, 3:]] ** 2).sum(axis=1).max()))

    def norm(self, x: Floats) -> float:
        """Return the root mean square of dr/L and rotation over all frames."""
        return float(np.sqrt(np.dot(self.weight * x, x)))

    def save(self) -> SavedEquilibrium:
        """Return the state and load factor, so that they can be restored by `restore_saved`."""
        return self._all.copy(), self.factor

    def state_of(self, saved: SavedEquilibrium) -> State:
        """Return the state saved by `save`, not copied."""
        return _views(saved[0], self.state)

    def restore_saved(self, saved: SavedEquilibrium) -> None:
        """Restore the state and load factor saved by `save`."""
        self._all[:] = saved[0]
        self.load_at(saved[1])

    def set_equilibrium(self, state: State, factor: float) -> None:
        """Set a state and a load factor that come from another source; friction begins there, with the bristles of the state."""
        check_arrays(state, self.shapes, *OF_SYSTEMS)
        for array, new in zip(self.state, state, strict=True):
            array[...] = new
        if self.friction is not None:
            self.friction.begin_at(self.work, self.system, self.state)
        self.load_at(factor)

    def let_friction_act(self, acts: bool, slides: bool = True) -> None:
        """Leave friction out, or let it act against the slip since the last equilibrium; slides: False: without limit."""
        if self.friction is not None:
            self.friction.acts, self.friction.slides = acts, slides
            self.friction.write(self.work, self.system)

    def settle_friction(self) -> None:
        """Take the present state, an equilibrium, as the one from which sticking points move on."""
        if self.friction is not None:
            self.friction.settle(self.work, self.system, self.state)

    def determinant_sign(self) -> int:
        """Return the sign of the determinant of the factorised matrix."""
        numbering, work = self.numbering, self.work
        if numbering.band < 0:
            return _sparse_sign(sparse.factors_of(numbering.handle))
        diagonal = work.values[: numbering.n_values].reshape(self.size, -1)[:, 2 * numbering.band]
        return 1 - 2 * int((np.count_nonzero(diagonal < 0.0) + np.count_nonzero(work.pivots)) % 2)

    def matrix(self) -> scipy.sparse.csc_matrix:
        """Return the assembled [K/2 G^T; G 0], rows and columns in the order of `numbering`, constraint rows scaled."""
        numbering, values = self.numbering, self.work.values
        if numbering.band < 0:
            return scipy.sparse.csc_matrix(
                (values[: numbering.n_values].copy(), numbering.indices, numbering.indptr),
                shape=(self.size, self.size),
            )
        band, width = numbering.band, 3 * numbering.band + 1
        table = values[: numbering.n_values].reshape(self.size, width)
        return _of_columns(table, 2 * band)

    def symmetric(self) -> scipy.sparse.csc_matrix:
        """Return half of the sum of `matrix` and its transpose."""
        numbering, band = self.numbering, self.numbering.band
        if band < 0:
            matrix = self.matrix()
            return 0.5 * (matrix + matrix.T)
        table = self.work.values[: numbering.n_values].reshape(self.size, 3 * band + 1)[:, band:]
        # column j has row j + d in position band + d; the transposed entry is in column j + d, in position band - d
        d = np.arange(-band, band + 1)
        across = np.arange(self.size)[:, None] + d
        inside = (across >= 0) & (across < self.size)
        other = np.where(inside, table[np.where(inside, across, 0), band - d], 0.0)
        return _of_columns(0.5 * (table + other), band)

    def dense(self) -> Floats:
        """Return the assembled [K/2 G^T; G 0] as a full matrix (N, N)."""
        numbering, values = self.numbering, self.work.values
        if numbering.band < 0:
            matrix: Floats = self.matrix().toarray()
            return matrix
        band, width = numbering.band, 3 * numbering.band + 1
        # columns one after the other, each one position further on
        buffer = np.zeros((self.size, self.size + width))
        along, across = buffer.strides
        columns: Floats = np.ndarray((self.size, width), float, buffer, 0, (along + across, across))
        columns[:] = values[: numbering.n_values].reshape(self.size, width)
        return buffer[:, 2 * band : 2 * band + self.size].T

    def convergence_level(self) -> float:
        """Return the residual over round-off that counts as solved."""
        return NOISE_FACTOR


def _of_columns(table: Floats, diagonal: int) -> scipy.sparse.csc_matrix:
    """Return the matrix with the columns table[j], whose entries in position `diagonal` are in row j."""
    column, position = np.nonzero(table)
    starts = np.searchsorted(column, np.arange(len(table) + 1))
    return scipy.sparse.csc_matrix(
        (table[column, position], column + position - diagonal, starts), shape=(len(table), len(table))
    )


def _contiguous_copy(state: State) -> tuple[Floats, State]:
    """Copy a state into one contiguous array, so that it is saved and restored as a whole; return the array and the state."""
    buffer = np.concatenate([array.ravel() for array in state])
    return buffer, _views(buffer, state)


def _views(buffer: Floats, like: State) -> State:
    parts, first = [], 0
    for array in like:
        parts.append(buffer[first : first + array.size].reshape(array.shape))
        first += array.size
    return State(*parts)


def _sparse_sign(factors: object) -> int:
    """Return the sign of the determinant of SuperLU's factors: signs of the diagonal of U, parities of both permutations."""
    negative = np.count_nonzero(factors.U.diagonal() < 0.0)  # type: ignore[attr-defined]
    odd = negative + _parity(factors.perm_r) + _parity(factors.perm_c)  # type: ignore[attr-defined]
    return 1 - 2 * int(odd % 2)


def _parity(permutation: np.ndarray) -> int:
    """Return 0 for an even permutation, 1 for an odd one: the parity of its length minus its number of cycles."""
    n = len(permutation)
    graph = scipy.sparse.coo_matrix((np.ones(n), (np.arange(n), permutation)), shape=(n, n))
    return int((n - scipy.sparse.csgraph.connected_components(graph, directed=False)[0]) % 2)
