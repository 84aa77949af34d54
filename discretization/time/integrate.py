"""Integrate a mechanical system with a given integrator and step: `integrate` returns the trajectory and its invariants."""

from __future__ import annotations

import numpy as np

from discretization.linear.static_condensation import factors_for
from discretization.time import forcing, implicit, implicit_march, rheonomic
from discretization.time.integrators import parse
from discretization.time.scheme import Scheme, Work
from discretization.time.scratch_vectors import new_work
from discretization.time.sparsity_pattern import (
    Pattern,
    dense_pattern,
    diagonal_of,
    pattern_of,
    regularised_diagonal,
)
from discretization.time.step_splitting import NEAR
from discretization.time.stepper_base import Failure
from discretization.time.trajectory import Start, Trajectory
from rigid.charts.multibody import branches, counted
from rigid.checks import number
from rigid.compilation.compile_notices import announce
from rigid.errors import ConvergenceError, ModelError
from rigid.mechanics import mechanical_system
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.system import Floats

MAX_ITERATIONS = 40
LEAST_BAND = 80  # number of unknowns from which a band matrix is tried
_MOST_BYTES = 8 * 2**30


def integrate(
    system: MechanicalSystem,
    integrator: str | Scheme,
    dt: float,
    t_end: float,
    guess: str = "advanced",
    tolerance: float = 0.0,
    start: Start | None = None,
    **parameters: float,
) -> Trajectory:
    """Integrate a mechanical system from its initial state to `t_end` with steps `dt`.

    Parameters
    ----------
    system : MechanicalSystem
        System to integrate.
    integrator : str or Scheme
        Name of an integrator with its parameters, "mG(3)", or "mG" and k=3, order=4.
    dt : float
        Step, s.
    t_end : float
        Duration from the start, s.
    guess : {"advanced", "simple"}, default "advanced"
        Initial guess of Newton's method: q0 + h v0, or the state at the start of the step (002, Table 2).
    tolerance : float, default 0.0
        Newton's method ends if the norm of the residual is below this value; 0: if the residual is at round-off.
    start : Start, optional
        State to continue from (`Trajectory.at`). Default: the initial state of the system at t = 0.
    **parameters : float
        Parameters of the integrator that the name does not contain.

    Returns
    -------
    Trajectory
        States at the ends of the steps.

    Raises
    ------
    ModelError
        If the integrator does not fit the system, or an argument cannot be used.
    ConvergenceError
        If a step failed; `error.trajectory` holds the steps before it.

    Examples
    --------
    >>> import sympy as sp
    >>> from rodsim.mechanics import integrate, symbolic_system
    >>> x = sp.Symbol("x")
    >>> system = symbolic_system("spring", x, [1.0], [0.0], M=[[2]], V=8 * x**2)
    >>> run = integrate(system, "EML", 0.1, 1.0)
    >>> bool(abs(run.energy() - 8.0).max() < 1e-12)
    True
    """
    chosen = _chosen(integrator, parameters)
    check_compatibility(chosen, system)
    steps, dt = number_of_steps("integrate", "dt", dt, t_end), float(dt)
    if guess not in ("simple", "advanced"):
        raise ModelError(f"guess = '{guess}'; choose 'simple' or 'advanced'")
    if not (np.isfinite(tolerance) and tolerance >= 0.0):
        raise ModelError(f"tolerance = {tolerance}; give 0 for round-off, or a bound of |r|")
    _check_memory(system, steps)
    t = dt * np.arange(steps + 1)
    announce()
    if start is None:
        start = initial(system)
    else:
        _check_start(system, start)
        # times bit-identical to those of a run from t = 0
        first = round(start.t / dt)
        t = dt * np.arange(first, first + steps + 1) if first * dt == start.t else start.t + t
    run, failure = March(system, chosen, tolerance, guess == "advanced").run(dt, t, start)
    if failure is not None:
        reached = run.t[-1]
        raise ConvergenceError(
            reached,
            dt,
            failure.iterations,
            failure.residual,
            f"{failure.owner} at t = {reached:.6g} with dt = {dt:.3g}: {failure.reason}; {failure.advice}",
            trajectory=run,
            singular=failure.singular,
        )
    return run


def initial(system: MechanicalSystem) -> Start:
    """Return the initial state of a system."""
    q, v = system.q0, system.v0
    p = system.momentum(q, v) if system.p0 is None else system.p0
    return Start(0.0, q, p, v, np.zeros(system.m), np.zeros(system.m), system.books)


class March:
    """Prepared integration of a system with a scheme, with the arrays of Newton's method; `run` can be called repeatedly.

    attempts: number of damped restarts, from other initial guesses, if Newton's method fails.

    Raises ModelError if the scheme does not fit the system.
    """

    def __init__(
        self,
        system: MechanicalSystem,
        scheme: Scheme,
        tolerance: float = 0.0,
        advanced: bool = True,
        attempts: int = implicit.ATTEMPTS,
    ):
        check_compatibility(scheme, system)
        self.system, self.scheme = system, scheme
        self._form, self._marched = scheme.fitted(system)
        self._solver, self._work = solver_for(self._form, self._marched, tolerance, advanced)
        self._attempts = attempts
        self._ends = implicit_march.ends_for(system)
        self.method = compiled_method(self._form)

    @property
    def matrices(self) -> int:
        """Return the number of Newton matrices that were computed so far."""
        return int(self._solver.evaluated[0])

    def run(
        self, h: float, t: Floats, start: Start, inside: bool = False
    ) -> tuple[Trajectory, Failure | None]:
        """Take steps of length h between the times t (N + 1,) as far as they can be solved; return the reason if they cannot.

        inside: as in `signals_at`.
        """
        system, scheme = self.system, self.scheme
        run = _allocate(system, scheme, h, t)
        run.q[0], run.p[0], run.v[0], run.lam[0], run.gam[0], run.totals[0] = start[1:]
        substeps = substeps_of(self._marched, self._form, t[:-1], h, inside)
        substeps = substeps._replace(attempts=self._attempts)
        rows = implicit_march.Rows(run.q, run.p, run.v, run.lam, run.gam, run.totals, run.iterations)
        functions, data = self._marched.functions, self._marched.data
        keeping, variables = system.condensed, system.books[2 + system.n_drives :]
        progress = implicit_march.march(
            self.method, functions, data, self._work, self._solver, substeps, rows, self._ends
        )
        system.drive_to(system.drives)  # restore the drives
        data.dissipating.numbers[keeping] = variables
        failure = None
        if progress.status != implicit.SOLVED:
            run = run.part(progress.steps)
            tried = f"{progress.iterations} iterations"
            if progress.damped:
                tried += f" and {progress.damped} with damping from {self._attempts} starts"
            failure = Failure(
                f"{implicit.REASONS[progress.status]} (|r| = {progress.norm:.3g} after {tried})",
                scheme.advice or "try a smaller h",
                progress.iterations + progress.damped,
                progress.norm,
                f"{scheme.name} on '{system.name}'",
                progress.status == implicit.SINGULAR,
            )
        return self._unwound(run, failure)

    def _unwound(self, run: Trajectory, failure: Failure | None) -> tuple[Trajectory, Failure | None]:
        """Return the steps before a counted angle left the half revolutions about `multibody.branches`.

        Beyond them its potential is not a function of q.
        """
        if not len(branches(self.system)):
            return run, failure
        turned = np.abs(counted(self.system, run.q) - branches(self.system))
        beyond = np.flatnonzero((turned >= np.pi).any(axis=1))
        if not len(beyond):
            return run, failure
        k, run = int(np.argmax(turned[beyond[0]])), run.part(max(int(beyond[0]) - 1, 0))
        return run, Failure(
            f"{self.system.info['counting'].names[k]} is wound by more than half a turn after t = {run.t[-1]:.6g}",
            "use `simulate`, which counts revolutions",
            owner=f"{self.scheme.name} on '{self.system.name}'",
            passing=True,
        )


def compiled_method(scheme: Scheme) -> implicit_march.Method:
    """Return the functions of a scheme; by default work is that of forces between the ends of a step."""
    account = forcing.account_ends if scheme.account is None else scheme.account
    drives = rheonomic.drives_between if scheme.drives is None else scheme.drives
    return implicit_march.Method(scheme.residual, scheme.update, account, drives, scheme.options)


def substeps_of(
    system: MechanicalSystem, scheme: Scheme, starts: Floats, h: float, inside: bool = False
) -> implicit_march.Substeps:
    """Return the substeps of the steps of length h that begin at `starts`; inside: as in `signals_at`."""
    lengths = h * np.array(scheme.fractions)
    accounts = system.has_signal or system.has(mechanical_system.VISCOUS) or len(system.data.working.entries)
    return implicit_march.Substeps(lengths, signals_at(system, scheme, starts, h, inside), int(accounts), 0)


def _chosen(integrator: str | Scheme, parameters: dict[str, float]) -> Scheme:
    if isinstance(integrator, str):
        return parse(integrator, **parameters)
    if not isinstance(integrator, Scheme):
        raise ModelError(f"integrator = {integrator!r}; give a name such as 'GGL-EM', or a Scheme")
    if parameters:
        raise ModelError(
            f"{integrator.name} is already a scheme; give {', '.join(parameters)} where it is created, by `parse`"
        )
    return integrator


def _check_start(system: MechanicalSystem, start: Start) -> None:
    shapes = {"q": system.n, "p": system.n, "v": system.n, "lam": system.m, "gam": system.m}
    shapes["totals"] = len(system.books)
    for name, size in shapes.items():
        value = np.asarray(getattr(start, name), float)
        if value.shape != (size,) or not np.all(np.isfinite(value)):
            raise ModelError(f"start: {name} = {value} for '{system.name}'; give {size} finite numbers")


def check_compatibility(scheme: Scheme, system: MechanicalSystem) -> None:
    """Raise ModelError if the scheme cannot integrate the system; the message names schemes that can."""
    flags = system.data.flags
    if flags & mechanical_system.LAGRANGE_TOP and not scheme.needs & mechanical_system.LAGRANGE_TOP:
        raise ModelError(
            f"{scheme.name} does not fit '{system.name}', a top in (d3, angular momentum); use BS99, or "
            "`rigid.charts.multibody.rotating_body`, which fits all integrators"
        )
    if scheme.needs & ~flags:
        property_name = (
            "a top in (d3, angular momentum), `rigid.symbolic.lagrange_top.lagrange_top`"
            if scheme.needs == mechanical_system.LAGRANGE_TOP
            else "a quaternion chart, chart='quaternion'"
        )
        raise ModelError(f"{scheme.name} needs {property_name}; '{system.name}' has none")
    if flags & mechanical_system.SHARED_MASS and scheme.needs_inverse:
        raise ModelError(
            f"{scheme.name} needs the inverse of the mass, which couples all nodes of the rods of '{system.name}'; make "
            "them with mass='lumped', or use EML-kappa, EML or em"
        )
    if flags & mechanical_system.VISCOUS and not scheme.dissipates:
        raise ModelError(
            f"{scheme.name} is variational: it does not support the dampers and viscous rods of '{system.name}'; use "
            "GGL-EM, EML-kappa, mG or em, or remove the damping"
        )
    loses = flags & mechanical_system.VISCOUS and not flags & mechanical_system.LOSSLESS
    if loses and min(scheme.fractions) < 0.0:
        raise ModelError(
            f"{scheme.name} takes negative substeps, which the dampers and viscous rods of '{system.name}' do not allow; "
            "use mG(2) or GL-SPARK(2) for order 4, or order 2"
        )
    if flags & mechanical_system.CONDENSED and len(scheme.nodes) > 1:
        raise ModelError(
            f"{scheme.name} evaluates forces at {len(scheme.nodes)} points of a step, but an element that relaxes, or sticks and "
            f"slides, in '{system.name}' is updated once per step; use GGL-EM, EML-kappa, MPH or em, or mG(1, 1)"
        )
    if flags & mechanical_system.SINGULAR_MASS and not scheme.singular_mass:
        raise ModelError(
            f"{scheme.name} needs a regular mass and that of '{system.name}' is singular; {_regular(system)}"
        )


def _regular(system: MechanicalSystem) -> str:
    """Return advice for a singular mass: another chart, or a scheme that accepts it."""
    chart = system.info.get("chart")
    if chart == "director":
        return "directors give a flat body a singular mass: use quaternion-alpha or quaternion-gamma, or EML or MPL"
    if chart == "quaternion":
        directors = "" if system.info["flat"] else ", director"
        return f"use EML, MPL or EML-kappa, or a chart with regular mass: quaternion-alpha, quaternion-gamma{directors}"
    return "use EML or MPL"


def number_of_steps(owner: str, step: str, dt: float, t_end: float) -> int:
    """Return how many steps lead to t_end; step: name of the step length in messages of `owner`."""
    dt, t_end = number(owner, step, dt, positive=True), number(owner, "t_end", t_end, positive=True)
    steps = round(t_end / dt)
    if steps < 1 or abs(steps * dt - t_end) > 1e-9 * t_end:
        raise ModelError(
            f"{owner}: t_end = {t_end} is not a multiple of {step} = {dt}; use {step} = {t_end / max(steps, 1):.12g}"
        )
    return steps


def _check_memory(system: MechanicalSystem, steps: int) -> None:
    size = 8.0 * (steps + 1) * (3 * system.n + 2 * system.m + 4)
    if size > _MOST_BYTES:
        raise ModelError(
            f"{steps} steps of '{system.name}' take {size / 2**30:.3g} GiB; run it in parts, with `start=`"
        )


def _allocate(system: MechanicalSystem, scheme: Scheme, h: float, t: Floats) -> Trajectory:
    n, m, count, books = system.n, system.m, len(t), len(system.books)
    q, p, v, lam, gam, totals = (np.zeros((count, width)) for width in (n, n, n, m, m, books))
    return Trajectory(system, scheme, h, t, q, p, v, lam, gam, totals, np.zeros(count, np.int64))


def nodes_of(system: MechanicalSystem, scheme: Scheme) -> tuple[float, ...]:
    """Return the points in a step at which the signals are evaluated, as fractions of it."""
    return scheme.nodes + scheme.driven if len(system.drives) else scheme.nodes


def signals_at(
    system: MechanicalSystem, scheme: Scheme, starts: Floats, h: float, inside: bool = False
) -> Floats:
    """Return the signals (steps, substeps, nodes, s) at the nodes of all substeps and at the points of driven constraints.

    inside: True to move nodes at the ends of a step into the step by a fraction `NEAR` of it, if loads jump at these ends.
    """
    fractions = np.array(scheme.fractions)
    begins = np.concatenate([[0.0], np.cumsum(fractions)[:-1]])
    nodes = begins[:, None] + fractions[:, None] * np.array(nodes_of(system, scheme))
    if inside:
        of_loads = nodes[:, : len(scheme.nodes)]
        of_loads[...] = np.clip(of_loads, NEAR, 1.0 - NEAR)
    times = starts[:, None, None] + h * nodes
    size = system.signal_size
    if not system.has_signal:
        return np.zeros((*times.shape, size))
    return system.signals(times.ravel()).reshape(*times.shape, size)


def solver_for(
    scheme: Scheme, system: MechanicalSystem, tolerance: float = 0.0, advanced: bool = True
) -> tuple[implicit.Solver, Work]:
    """Return the arrays of Newton's method and the scratch of the residual."""
    n, m = system.n, system.m
    joints = increments = 0
    if system.has(mechanical_system.QUATERNIONS):
        frames = system.data.frames.entries
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
    soft = np.zeros(total)
    if system.info.get("repeats") is not None:
        block_sizes = zip(scheme.blocks, sizes, strict=False)
        soft = np.concatenate(
            [regularised_diagonal(block.kind, size, system.info["repeats"]) for block, size in block_sizes]
        )
    of_soft = np.flatnonzero(soft)
    work = new_work(n, m, matrices=not system.has(mechanical_system.PRODUCTS))
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
        saved=np.zeros(total),
        blocks=blocks,
        nodes=np.array([block.c for block in scheme.blocks]),
        tolerance=float(tolerance),
        limit=MAX_ITERATIONS,
        advanced=int(advanced),
        slope=_slope(system),
        corrections_per_matrix=_worth(pattern, total),
        evaluated=np.zeros(1, np.int64),
        redundant=np.column_stack([of_soft, diagonal_of(pattern, of_soft)]),
        regularisation=soft[of_soft],
    )
    return solver, work


def _pattern(scheme: Scheme, system: MechanicalSystem, work: Work) -> Pattern:
    """Return the pattern of Newton's matrix, cached per system and scheme; a dense pattern if the system is not a chart."""
    if not system.has(mechanical_system.PRODUCTS):
        return dense_pattern()
    patterns: dict[str, Pattern] = system.info.setdefault("patterns", {})
    if scheme.name not in patterns:
        patterns[scheme.name] = pattern_of(scheme, system, work)
    return patterns[scheme.name]


def _worth(pattern: Pattern, unknowns: int) -> int:
    """Return the number of corrections that cost as much as a new matrix.

    A matrix with its factors costs, to about a third, as much as half as many residuals as it has colours. The number is limited
    so that an iteration leaves room for another matrix.
    """
    colours = unknowns if pattern.band < 0 else len(pattern.colours.start) - 1
    return int(np.clip(colours // 2, 8, MAX_ITERATIONS // 2))


def _slope(system: MechanicalSystem) -> float:
    """Return an estimate of the largest entry of G(q0)."""
    if not system.m:
        return 1.0
    signs = (-1.0) ** np.arange(system.m)
    return float(max(np.abs(system.pull(system.q0, lam)).max() for lam in (signs, np.abs(signs)))) or 1.0
