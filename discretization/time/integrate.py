"""`integrate`: a mechanical system, an integrator, a step: the trajectory with everything it conserves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from discretization.linear.condensed import factors_for
from discretization.time import implicit
from discretization.time.integrators import parse
from discretization.time.pattern import Pattern, dense_pattern, pattern_of
from discretization.time.scheme import ROWS, Scheme, Work
from rigid import mechanical, mechanical_rows
from rigid.charts import branches, torsion_angles
from rigid.errors import ConvergenceError, ModelError
from rigid.mechanical import MechanicalSystem, Symmetry
from rigid.system import Floats, Ints

MAX_ITERATIONS = 40
LEAST_BAND = 80  # unknowns from which a band is tried
_MOST_BYTES = 8 * 2**30


class Start(NamedTuple):
    """Where a run begins or goes on: time, coordinates, momenta, velocities, and multipliers of the step before."""

    t: float
    q: Floats
    p: Floats
    v: Floats
    lam: Floats
    gam: Floats


@dataclass
class Trajectory:
    """States at the ends of the steps.

    Attributes: system, scheme, h; t (N + 1,); q, p, v (N + 1, n); lam, gam (N + 1, m), row k belongs to the step that
    ends there; iterations (N + 1,) of Newton's method.
    """

    system: MechanicalSystem
    scheme: Scheme
    h: float
    t: Floats
    q: Floats
    p: Floats
    v: Floats
    lam: Floats
    gam: Floats
    iterations: Ints

    def kinetic(self) -> Floats:
        """T(q, v) (N + 1,)."""
        return mechanical_rows.kinetic_energies(self.system, self.q, self.v)

    def potential(self) -> Floats:
        """V(q) (N + 1,)."""
        return mechanical_rows.potentials(self.system, self.q)

    def generalised_energy(self) -> Floats:
        """p . v - T(q, v) + V(q): 000 (74)."""
        return np.einsum("ij,ij->i", self.p, self.v) - self.kinetic() + self.potential()

    def total_energy(self) -> Floats:
        """T(q, v) + V(q): 000 (80)."""
        return self.kinetic() + self.potential()

    def hamiltonian(self) -> Floats:
        """T*(q, p) + V(q); needs a regular mass."""
        return mechanical_rows.hamiltonians(self.system, self.q, self.p)

    def energy(self) -> Floats:
        """The energy the scheme is about: generalised for Livens' schemes, T* + V for the others."""
        if self.system.has(mechanical.LAGRANGE_TOP):
            mass = self.system.mass(self.q[0])[0, 0]
            return np.einsum("ij,ij->i", self.p, self.p) / (2.0 * mass) + self.potential()
        if "generalised energy" in self.scheme.promises or self.system.has(mechanical.SINGULAR_MASS):
            return self.generalised_energy()
        return self.hamiltonian()

    def momentum(self, symmetry: Symmetry) -> Floats:
        """The momentum map of a symmetry (N + 1,)."""
        return symmetry(self.q, self.p)

    def position_residual(self) -> Floats:
        """max |g(q)| (N + 1,)."""
        return np.abs(mechanical_rows.constraints(self.system, self.q)).max(axis=1, initial=0.0)

    def velocity_residual(self) -> Floats:
        """max |G(q) W(q) p| (N + 1,), or of G(q) v where the mass is singular."""
        singular = self.system.has(mechanical.SINGULAR_MASS)
        velocities = self.v if singular else mechanical_rows.velocities(self.system, self.q, self.p)
        return np.abs(mechanical_rows.rates(self.system, self.q, velocities)).max(axis=1, initial=0.0)

    def at(self, k: int) -> Start:
        """Step k, to go on from: `integrate(..., start=run.at(-1))` gives the same bits as one longer run."""
        return Start(
            float(self.t[k]), *(rows[k].copy() for rows in (self.q, self.p, self.v, self.lam, self.gam))
        )

    def part(self, last: int) -> Trajectory:
        """The first `last` steps."""
        cut = slice(last + 1)
        return replace(
            self,
            t=self.t[cut],
            q=self.q[cut],
            p=self.p[cut],
            v=self.v[cut],
            lam=self.lam[cut],
            gam=self.gam[cut],
            iterations=self.iterations[cut],
        )


def integrate(
    system: MechanicalSystem,
    integrator: str | Scheme,
    h: float,
    t_end: float,
    guess: str = "advanced",
    tolerance: float = 0.0,
    start: Start | None = None,
    **parameters: float,
) -> Trajectory:
    """March `system` from its initial state to `t_end` with steps h.

    Parameters
    ----------
    integrator: a name of `integrators.FAMILIES` with its parameters, "mG(3)" or "mG" and k=3, order=4; or a Scheme.
    guess: "simple" (the state at the start) or "advanced" (q0 + h v0), 002 Table 2.
    tolerance: Newton ends where the norm of the residual is below it; 0: where it is round-off.
    start: what to go on from (`Trajectory.at`), in place of the system's initial state at t = 0; `t_end` counts from
    there.

    Raises
    ------
    ModelError: the integrator does not fit the system, or an argument cannot be used.
    ConvergenceError: a step failed; `error.trajectory` holds the steps before it.
    """
    chosen = _chosen(integrator, parameters)
    check_fit(chosen, system)
    steps = number_of_steps(h, t_end)
    if guess not in ("simple", "advanced"):
        raise ModelError(f"guess = '{guess}'; choose 'simple' or 'advanced'")
    if not (np.isfinite(tolerance) and tolerance >= 0.0):
        raise ModelError(f"tolerance = {tolerance}; give 0 for round-off, or a bound of |r|")
    run = _allocate(system, chosen, h, steps)
    if start is not None:
        _check_start(system, start)
        # the same times, to the bit, as those of a run from t = 0
        first = round(start.t / h)
        run.t = h * np.arange(first, first + steps + 1) if first * h == start.t else start.t + run.t
        run.q[0], run.p[0], run.v[0], run.lam[0], run.gam[0] = start[1:]
    form, marched = chosen.fitted(system)
    solver, work = solver_for(form, marched, tolerance, guess == "advanced")
    fractions = np.array(form.fractions)
    state = [np.zeros(system.n, complex) for _ in range(3)] + [np.zeros(system.m, complex) for _ in range(2)]
    status, reached, norm, count, damped = implicit.march(
        form.residual,
        form.update,
        marched.functions,
        marched.data,
        work,
        solver,
        float(h),
        fractions,
        signals_at(marched, form, run.t[:-1], h),
        form.options,
        run.q,
        run.p,
        run.v,
        run.lam,
        run.gam,
        run.iterations,
        *state,
    )
    if status != implicit.SOLVED:
        t = run.t[reached]
        tried = f"{count} iterations"
        if damped:
            tried += f" and {damped} with damping from {implicit.ATTEMPTS} starts"
        raise ConvergenceError(
            t,
            h,
            count + damped,
            norm,
            f"{chosen.name} on '{system.name}' at t = {t:.6g} with h = {h:.3g}: {implicit.REASONS[status]} "
            f"(|r| = {norm:.3g} after {tried}); {chosen.caution or 'try a smaller h'}",
            trajectory=run.part(reached),
        )
    if system.info.get("torsions") is not None:
        _check_windings(run)
    return run


class Wound(ConvergenceError):
    """A torsion spring turned beyond half a turn from where it began, where its potential is no function of q."""


def _check_windings(run: Trajectory) -> None:
    """Raise `Wound` with the steps before a torsion spring left the half turns about `charts.branches`."""
    system, start = run.system, branches(run.system)
    angles = np.unwrap(torsion_angles(system, run.q), axis=0) - start
    turned = np.abs(angles - 2 * np.pi * np.round(angles[0] / (2 * np.pi)))
    beyond = np.flatnonzero((turned >= np.pi).any(axis=1))
    if len(beyond):
        last = max(int(beyond[0]) - 1, 0)
        k = int(np.argmax(turned[beyond[0]]))
        raise Wound(
            run.t[last],
            run.h,
            0,
            0.0,
            f"torsion spring {k} of '{system.name}' is wound by more than half a turn after t = {run.t[last]:.6g}; "
            "`simulate` counts its turns",
            trajectory=run.part(last),
        )


def _chosen(integrator: str | Scheme, parameters: dict[str, float]) -> Scheme:
    if isinstance(integrator, str):
        return parse(integrator, **parameters)
    if not isinstance(integrator, Scheme):
        raise ModelError(f"integrator = {integrator!r}; give a name such as 'GGL-EM', or a Scheme")
    if parameters:
        raise ModelError(
            f"{integrator.name} is made already; give {', '.join(parameters)} where it is made, by `parse`"
        )
    return integrator


def _check_start(system: MechanicalSystem, start: Start) -> None:
    shapes = {"q": system.n, "p": system.n, "v": system.n, "lam": system.m, "gam": system.m}
    for what, size in shapes.items():
        value = np.asarray(getattr(start, what), float)
        if value.shape != (size,) or not np.all(np.isfinite(value)):
            raise ModelError(f"start: {what} = {value} for '{system.name}'; give {size} finite numbers")


def check_fit(scheme: Scheme, system: MechanicalSystem) -> None:
    """Raise ModelError where the scheme cannot integrate the system, saying which can."""
    flags = system.data.flags
    if flags & mechanical.LAGRANGE_TOP and not scheme.needs & mechanical.LAGRANGE_TOP:
        raise ModelError(
            f"{scheme.name} does not fit '{system.name}', a top in (d3, angular momentum); use BS99, or "
            "`rigid.charts.rotating_body`, which fits all integrators"
        )
    if scheme.needs & ~flags:
        what = (
            "a top in (d3, angular momentum), `rigid.charts.lagrange_top`"
            if scheme.needs == mechanical.LAGRANGE_TOP
            else "a quaternion chart, chart='quaternion'"
        )
        raise ModelError(f"{scheme.name} needs {what}; '{system.name}' has none")
    if flags & mechanical.SHARED_MASS and scheme.needs_inverse:
        raise ModelError(
            f"{scheme.name} needs the inverse of the mass, which couples all nodes of the rods of '{system.name}'; make "
            "them with mass='lumped', or use EML-kappa, EML or em"
        )
    if flags & mechanical.SINGULAR_MASS and not scheme.singular_mass:
        raise ModelError(
            f"{scheme.name} needs a regular mass and that of '{system.name}' is singular; {_regular(system)}"
        )


def _regular(system: MechanicalSystem) -> str:
    """What to do about a singular mass: another chart, or a scheme that takes it."""
    chart = system.info.get("chart")
    if chart == "director":
        return "a flat body has none in directors: use quaternion-alpha or quaternion-gamma, or EML or MPL"
    if chart == "quaternion":
        directors = "" if system.info["flat"] else ", director"
        return f"use EML, MPL or EML-kappa, or a chart with regular mass: quaternion-alpha, quaternion-gamma{directors}"
    return "use EML or MPL"


def number_of_steps(h: float, t_end: float) -> int:
    if not (np.isfinite(h) and h > 0.0 and np.isfinite(t_end) and t_end > 0.0):
        raise ModelError(f"h = {h}, t_end = {t_end}; give positive numbers")
    steps = round(t_end / h)
    if steps < 1 or abs(steps * h - t_end) > 1e-9 * t_end:
        raise ModelError(
            f"t_end = {t_end} is not a multiple of h = {h}; use h = {t_end / max(steps, 1):.12g}"
        )
    return steps


def _allocate(system: MechanicalSystem, scheme: Scheme, h: float, steps: int) -> Trajectory:
    n, m = system.n, system.m
    size = 8.0 * (steps + 1) * (3 * n + 2 * m + 2)
    if size > _MOST_BYTES:
        raise ModelError(
            f"{steps} steps of '{system.name}' take {size / 2**30:.3g} GiB; run it in parts, with `start=`"
        )
    q, p, v = (np.zeros((steps + 1, n)) for _ in range(3))
    q[0], v[0] = system.q0, system.v0
    p[0] = system.momentum(system.q0, system.v0) if system.p0 is None else system.p0
    lam, gam = (np.zeros((steps + 1, m)) for _ in range(2))
    t = h * np.arange(steps + 1)
    return Trajectory(system, scheme, h, t, q, p, v, lam, gam, np.zeros(steps + 1, np.int64))


def signals_at(system: MechanicalSystem, scheme: Scheme, starts: Floats, h: float) -> Floats:
    """Signals (steps, substeps, nodes, s) at the nodes of all substeps."""
    fractions = np.array(scheme.fractions)
    begins = np.concatenate([[0.0], np.cumsum(fractions)[:-1]])
    places = begins[:, None] + fractions[:, None] * np.array(scheme.nodes)
    times = starts[:, None, None] + h * places
    size = system.signal_size
    if not system.has_signal:
        return np.zeros((*times.shape, size))
    values = [np.atleast_1d(system.signal(float(t))) for t in times.ravel()]
    return np.array(values, float).reshape(*times.shape, size)


def solver_for(
    scheme: Scheme, system: MechanicalSystem, tolerance: float = 0.0, advanced: bool = True
) -> tuple[implicit.Solver, Work]:
    """Arrays of Newton's method and scratch of the residual."""
    n, m = system.n, system.m
    joints = increments = 0
    if system.has(mechanical.QUATERNIONS):
        frames = system.data.frames.each
        turning = int((frames.orientation >= 0).sum())
        increments, joints = 3 * (turning + int((frames.position >= 0).sum())), m - turning
    sizes = scheme.block_sizes(n, m, joints, increments)
    firsts = np.concatenate([[0], np.cumsum(sizes)])
    total = int(firsts[-1])
    blocks = np.array(
        [
            (block.kind, first, size, block.constant)
            for block, first, size in zip(scheme.blocks, firsts, sizes, strict=False)
        ],
        np.int64,
    )
    width = max(n, m, 1)
    rows, columns = (0, 0) if system.has(mechanical.PRODUCTS) else (m, n)
    work = Work(
        np.zeros((ROWS, width), complex),
        np.zeros((rows, columns), complex),
        np.zeros((rows, columns), complex),
        np.zeros((columns, columns), complex),
    )
    pattern = _pattern(scheme, system, work) if total >= LEAST_BAND else dense_pattern()
    dense = total if pattern.band < 0 else 0
    solver = implicit.Solver(
        x=np.zeros(total, complex),
        r=np.zeros(total, complex),
        matrix=np.zeros((dense, dense)),
        constant=np.zeros((dense, dense)),
        pattern=pattern,
        values=np.zeros(len(pattern.rows)),
        factors=factors_for(pattern.panels),
        terms=np.zeros(total),
        scale=np.zeros(total),
        pivots=np.zeros(total, np.int64),
        rhs=np.zeros(total),
        kept=np.zeros(total),
        blocks=blocks,
        nodes=np.array([block.c for block in scheme.blocks]),
        tolerance=float(tolerance),
        limit=MAX_ITERATIONS,
        advanced=int(advanced),
        slope=_slope(system),
    )
    return solver, work


def _pattern(scheme: Scheme, system: MechanicalSystem, work: Work) -> Pattern:
    """The pattern of Newton's matrix, found once for a system and a scheme; that of a full matrix where it is no chart."""
    if not system.has(mechanical.PRODUCTS):
        return dense_pattern()
    found: dict[str, Pattern] = system.info.setdefault("patterns", {})
    if scheme.name not in found:
        found[scheme.name] = pattern_of(scheme, system, work)
    return found[scheme.name]


def _slope(system: MechanicalSystem) -> float:
    """About the largest entry of G(q0)."""
    if not system.m:
        return 1.0
    signs = (-1.0) ** np.arange(system.m)
    return float(max(np.abs(system.pull(system.q0, lam)).max() for lam in (signs, np.abs(signs)))) or 1.0
