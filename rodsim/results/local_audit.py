"""Measure the local conservation laws of the rods of a result: residuals density_t + flux_S - source in space-time boxes.

A box lies between two successive outputs.

    energy, momentum, angular momentum: e_t + f_S = source                    material momentum: i_t + g_S = 0

`discretization.continuum.local_laws` evaluates the laws on the stored states of any element and integrator. No scheme conserves
them exactly: the residuals decrease with the square of the time between outputs and of the elements' length together. They are
reported together with the size of the terms that should cancel. Stresses and energies are those of the elements at the stored
states. Sources are gravity, loads with known values, and all interactions at nodes whose forces follow from the states
(`node_forces`); the power dissipated by the material is a sink. Boxes that are not covered are left out and listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.continuum.local_laws import LocalTerms, Term, local_terms
from discretization.state_measures import branch_losses, elastic_densities, element_states
from discretization.system import System
from rigid.system import Floats, Ints, State
from rodsim.results.errors import ResultError
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.local_coverage import Coverage, acts_along, coverage
from rodsim.results.node_forces import Sources, sources
from rodsim.results.node_loads import NodeLoad, node_loads
from rodsim.results.result import Result, ResultLike, opened
from rodsim.results.rod_grid import RodGrid, rod_grid
from rodsim.results.rod_interpolation import order_of

MATERIAL = "material_momentum"
UNITS = {"energy": "W/m", "momentum": "N/m", "angular_momentum": "N", MATERIAL: "N/m"}
BLOCK = 1_000_000  # approximate count of numbers that are processed at once
COARSE = 3.0  # doubling the time between outputs makes the residual four times as large if the time step dominates it
LARGE = 1e-2  # relative residual above which a note is made


@dataclass(frozen=True)
class LawResidual:
    """Residual of one law of one rod; norms and sizes are root mean squares over all boxes."""

    law: str
    unit: str
    norm: float  # norm of the residual
    size: float  # size of the terms that should cancel: sum of the norms of density_t, flux_S and source
    largest: float  # largest absolute value of the residual
    t: float  # time of the largest residual, s
    S: float  # arc length of the largest residual, m
    every_second: float | None  # norm computed from every second output; None: too few outputs
    # (n_outputs - 1, boxes) residual, or its length for vectors; nan: the box is left out
    values: Floats = field(repr=False, compare=False)

    @property
    def relative(self) -> float:
        """Return norm / size, or 0 if the size is 0."""
        return self.norm / self.size if self.size > 0 else 0.0


@dataclass(frozen=True)
class RodAudit:
    """Residuals of the local laws of one rod on the grid of its boxes."""

    rod: str
    element: str
    n_nodes: int
    t: Floats = field(repr=False)  # (n_outputs - 1,) times at the middles between outputs, s
    S: Floats = field(repr=False)  # (boxes,) arc lengths of the boxes, m
    laws: tuple[LawResidual, ...]

    def law(self, name: str) -> LawResidual:
        """Return the residual of one law.

        `name`: 'energy', 'momentum', 'angular_momentum' or 'material_momentum'. Raises ResultError if the law was not evaluated.
        """
        for law in self.laws:
            if law.law == name:
                return law
        raise ResultError(
            f"rod '{self.rod}': no law '{name}'; there are {', '.join(x.law for x in self.laws)}"
        )


@dataclass(frozen=True)
class LocalAudit:
    """Residuals of the local laws for each rod, and notes on what was not covered."""

    model: str
    n_outputs: int
    t_start: float  # time of the first output, s
    t_end: float  # time of the last output, s
    integrator: str  # "" if the result does not name it
    rods: tuple[RodAudit, ...]
    not_covered: tuple[str, ...]

    def rod(self, name: str) -> RodAudit:
        """Return the audit of the rod `name`; raise ResultError, which lists the rods, if there is none."""
        for rod in self.rods:
            if rod.rod == name:
                return rod
        raise ResultError(
            f"local audit: no rod '{name}'; there are {', '.join(rod.rod for rod in self.rods)}"
        )

    def to_json(self) -> str:
        """Return all numbers except the residual fields as JSON; numbers that are not finite become null."""

        def plain(x: Any) -> Any:
            return None if isinstance(x, float) and not np.isfinite(x) else x

        rods = [
            {
                "rod": rod.rod,
                "element": rod.element,
                "nodes": rod.n_nodes,
                "boxes": len(rod.S),
                "laws": [
                    {k: plain(v) for k, v in {**vars(law), "relative": law.relative}.items() if k != "values"}
                    for law in rod.laws
                ],
            }
            for rod in self.rods
        ]
        head = {k: v for k, v in vars(self).items() if k not in ("rods", "not_covered")}
        return json.dumps({**head, "rods": rods, "not_covered": list(self.not_covered)}, indent=2)

    def text(self) -> str:
        """Return the audit as text for reading, with one line for each law."""
        by = f", {self.integrator}" if self.integrator else ""
        lines = [
            f"local audit of '{self.model}': {self.n_outputs} outputs, t = {self.t_start:g} to {self.t_end:g} s{by}"
        ]
        for rod in self.rods:
            lines.append(f"  rod '{rod.rod}': {rod.element}, {rod.n_nodes} nodes, {len(rod.S)} boxes")
            lines += [f"    {_describe_law(law)}" for law in rod.laws]
        lines += [f"not covered: {note}" for note in self.not_covered]
        lines.append(
            "no scheme conserves local laws exactly: their residuals fall with the square of outputs and elements together"
        )
        return "\n".join(lines)


def _describe_law(law: LawResidual) -> str:
    """Return a line of text on the residual of one law."""
    summary = (
        f"{law.law.replace('_', ' '):<17}  {law.norm:.2e} {law.unit} of {law.size:.2e}, {law.relative:.1e}; "
        f"at most {law.largest:.2e} at t = {law.t:.4g} s, S = {law.S:.4g} m"
    )
    if law.every_second is None or not law.norm > 0:
        return summary
    return f"{summary}; {law.every_second / law.norm:.1f} times with every second output"


def local_audit(result: ResultLike) -> LocalAudit:
    """Measure the local laws of all rods of a result: balances of energy and momenta between outputs.

    Parameters
    ----------
    result : Result, Path or str
        A result, or the path of a result file.

    Returns
    -------
    LocalAudit
        For each rod and each law, how large the residual is and where.

    Raises
    ------
    ResultError
        If there is nothing to measure: no rod with three nodes, only one output, or a file of an older version without masses.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> from rodsim import local_audit
    >>> local_audit("run.vtkhdf").rod("cord").law("energy").unit
    'W/m'
    """
    result = opened("local audit", result)
    layout, system = result.layout, result.layout.system
    if not layout.rods:
        raise ResultError(f"local audit: model '{layout.name}' has no rods, and local laws are those of rods")
    if result.n_outputs < 2:
        raise ResultError(
            f"local audit: '{layout.name}' has one output, and a law needs the change between two; store more outputs"
        )
    if system is None:
        raise ResultError(
            "local audit: the file stores no masses and stiffnesses (of an older version); run it again"
        )
    with result.keep_open(), np.errstate(all="ignore"):  # diverged runs are measured, not rejected
        return _measured(result, layout, system)


def _measured(result: Result, layout: Layout, system: System) -> LocalAudit:
    """Return the local audit of a result whose file is open; raise ResultError if no rod has an inner node of its grid."""
    t = result.t
    grids = {
        rod.name: rod_grid(system, rod, acts_along(layout, rod, order_of(system, rod)))
        for rod in layout.rods
        if len(rod.frames)
    }
    chosen = [rod for rod in layout.rods if len(grids[rod.name].S) > 2]
    notes = [
        f"rod '{rod.name}': it has no node between two elements; give it more elements"
        for rod in layout.rods
        if rod not in chosen
    ]
    if not chosen:
        raise ResultError(f"local audit: {'; '.join(notes)}")
    loads = node_loads(layout)
    covered = {rod.name: coverage(layout, rod, grids[rod.name]) for rod in chosen}
    sums = {name: _sums(grids[name], accumulator) for name, accumulator in covered.items()}
    frames = np.concatenate([grids[rod.name].nodes for rod in chosen])
    for outputs in _blocks(result):
        stored = _stored(system, t[outputs], result.states(outputs), loads, frames)
        for rod in chosen:
            terms = _terms(grids[rod.name], stored, layout)
            half_terms = _terms(grids[rod.name], stored, layout, 2) if len(stored.t) > 2 else None
            for accumulator in sums[rod.name]:
                accumulator.add(terms, np.diff(stored.t), half_terms)
    rods = []
    for rod in chosen:
        middles, S = 0.5 * (t[1:] + t[:-1]), grids[rod.name].S[1:-1]
        # a law whose boxes are all left out is omitted
        laws = tuple(
            accumulator.residual(middles, S, float(t[-1] - t[0]))
            for accumulator in sums[rod.name]
            if accumulator.covered > 0
        )
        audit_of_rod = RodAudit(rod.name, _element(layout, rod), len(rod.frames), middles, S, laws)
        notes += [*covered[rod.name].notes, *_slow(audit_of_rod)]
        rods.append(audit_of_rod)
    return LocalAudit(
        layout.name,
        result.n_outputs,
        float(t[0]),
        float(t[-1]),
        str(result.description.get("run", {}).get("integrator", "")),
        tuple(rods),
        tuple(notes),
    )


def _blocks(result: Result) -> Iterator[slice]:
    """Yield slices of outputs; neighbouring slices share one output.

    Their lengths are odd, except perhaps that of the last, so that every second output continues from one slice to the next.
    """
    numbers_per_output = 200 * (result.layout.n_frames + result.layout.n_elements)
    size = 2 * max(1, BLOCK // numbers_per_output)
    for start in range(0, result.n_outputs - 1, size):
        yield slice(start, min(start + size + 1, result.n_outputs))


class _Stored(NamedTuple):
    """A block of outputs with the quantities derived from their states."""

    t: Floats
    state: State
    loading: tuple[Floats, Floats, Floats]  # stress, energy and dissipated power at all points
    acting: Sources


def _stored(system: System, t: Floats, state: State, loads: list[NodeLoad], frames: Ints) -> _Stored:
    """Return the block of outputs with their stresses, energies, losses, and the sources on `frames`."""
    strain, stress = element_states(system, state)
    loading = stress, elastic_densities(system, state, strain), branch_losses(system, state)
    return _Stored(t, state, loading, sources(system, loads, t, state, frames))


def _terms(grid: RodGrid, stored: _Stored, layout: Layout, every: int = 1) -> LocalTerms:
    """Return the terms of all laws of a rod for a block of outputs; forces on nodes are sources of the boxes of the nodes.

    `every`: 2 to use every second output only.
    """
    gravity = np.zeros(3) if layout.gravity is None else layout.gravity
    state = stored.state
    r, quat, v, Omega = (x[::every, grid.frames] for x in (state.r, state.quat, state.v, state.Omega))
    loading = grid.loading(*(x[::every] for x in stored.loading))
    terms = local_terms(
        grid.rho_A, grid.J_rho, stored.t[::every], grid.S, r, quat, v, Omega, loading, gravity
    )
    laws = terms.momentum, terms.angular_momentum, terms.energy
    for term, values in zip(laws, stored.acting, strict=True):
        line_load = grid.in_boxes(values[::every])
        term.source[...] += 0.5 * (line_load[1:] + line_load[:-1])
    return terms


def _sums(grid: RodGrid, covered: Coverage) -> list[_Sum]:
    """Return an accumulator for each law of a rod; that of material momentum only if its section is uniform and elastic."""
    width = 0.5 * (grid.S[2:] - grid.S[:-2])
    laws = [law for law in UNITS if law != MATERIAL or (grid.uniform and not grid.relaxing)]
    return [
        _Sum(law, covered.unknown | (covered.loaded if law == MATERIAL else False), width) for law in laws
    ]


class _Sum:
    """Residual field and sums of squares of one law of one rod, accumulated block by block."""

    def __init__(self, law: str, omitted: NDArray[np.bool_], width: Floats) -> None:
        """Prepare the sums; `omitted` (boxes,): True if a box is not covered, `width` (boxes,): width of each, m."""
        self._law, self._omitted = law, omitted
        self._weight, self.covered = np.where(omitted, 0.0, width), float(width[~omitted].sum())  # m
        self._values: list[Floats] = []
        self._squares = np.zeros(4)  # sums of squares of residual, rate, flux, source
        self._half = np.zeros(
            2
        )  # sum of squares of the residual between every second output, number of these intervals

    def add(self, terms: LocalTerms, dt: Floats, half_terms: LocalTerms | None) -> None:
        """Add the boxes between outputs `dt` (k,), s, apart, and those between every second output."""
        term: Term = getattr(terms, self._law)
        shown = term.residual if term.residual.ndim == 2 else np.linalg.norm(term.residual, axis=2)
        self._values.append(np.where(self._omitted, np.nan, shown))
        self._squares += [self._square(x, dt) for x in (term.residual, *term)]
        if half_terms is not None:
            weights = np.ones(
                len(half_terms.t)
            )  # weights are equal: outputs are equidistant, except for the last
            self._half += [self._square(getattr(half_terms, self._law).residual, weights), len(weights)]

    def _square(self, x: Floats, dt: Floats) -> float:
        """Return the sum of squares of x over the boxes that are not left out, weighted by width and duration `dt`."""
        squares = x**2 if x.ndim == 2 else np.sum(x**2, axis=2)
        return float(dt @ squares @ self._weight)

    def residual(self, t: Floats, S: Floats, time: float) -> LawResidual:
        """Return the residual; `t`, `S`: middles of the boxes, `time`: duration of the result, s."""
        values = np.concatenate(self._values)
        norms = np.sqrt(self._squares / (time * self.covered))
        sizes = np.where(np.isnan(values), -1.0, np.abs(values))
        if not np.isfinite(norms[0]):  # for diverged runs: find the first box that is not finite
            sizes = np.where(self._omitted, -1.0, np.where(np.isfinite(values), 0.0, 1.0))
        at = np.unravel_index(np.argmax(sizes), sizes.shape)
        square, count = self._half
        return LawResidual(
            self._law,
            UNITS[self._law],
            float(norms[0]),
            float(norms[1:].sum()),
            float(np.abs(values[at])),
            float(t[at[0]]),
            float(S[at[1]]),
            float(np.sqrt(square / (count * self.covered))) if count else None,
            values,
        )


def _element(layout: Layout, rod: RodLayout) -> str:
    """Return the name of the element type of a rod; "se3", then the only one, for files that do not store it."""
    return str(layout.description.get("rods", {}).get(rod.name, {}).get("element", "se3"))


def _slow(rod: RodAudit) -> list[str]:
    """Return a note, in a list, if the time between outputs dominates the residuals; else an empty list."""
    slow = [
        law.law.replace("_", " ")
        for law in rod.laws
        if law.every_second is not None and law.every_second > COARSE * law.norm and law.relative > LARGE
    ]
    if not slow:
        return []
    advice = f"they dominate the residuals of {', '.join(slow)}; store more outputs"
    return [f"rod '{rod.rod}': motions faster than the outputs; {advice}"]
