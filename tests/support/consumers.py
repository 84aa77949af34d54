"""Consumers of a model: what the program can do with one, as checks for the completeness tests."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from discretization.contact.contact_patches import find_patches, loss_interactions
from discretization.contact.neighbour_search import candidates
from discretization.contact.table import points_of
from discretization.integrator_memory import MemoryLayout
from discretization.interaction_groups import groups_of
from discretization.interaction_kinds import INTERACTIONS
from rigid.errors import InitialVelocityWarning
from rigid.system import State
from rodsim import Adaptive, audit, buckling, compare, equilibrium, local_audit, modes, report, simulate
from rodsim.building.build import Built
from rodsim.results.part_energies import energies_by_part
from rodsim.results.result import Result
from tests.support.completeness import DT, MODELS, T_END


@functools.cache
def run(name: str, t_end: float = T_END, integrator: str = "em") -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InitialVelocityWarning)
        return simulate(MODELS[name](), t_end, DT, integrator, output_every=1, progress=False)


@functools.cache
def at_rest(name: str) -> Result:
    return equilibrium(MODELS[name]())


def resume(name: str, folder: Path) -> None:
    """A run that is stopped half-way and resumed is bit-identical to the uninterrupted one, field by field."""
    path = folder / "run.vtkhdf"
    for t_end, resuming in ((0.5 * T_END, False), (T_END, True)):
        simulate(MODELS[name](), t_end, DT, output=path, output_every=1, resume=resuming, progress=False)
    resumed, expected = Result.load(path).states(slice(None)), run(name).states(slice(None))
    for field, one, other in zip(State._fields, resumed, expected, strict=True):
        assert np.array_equal(one, other), field


def start_from_run(name: str, folder: Path) -> None:
    """A run started from the end of another equals the longer run: the complete state is transferred, except for the steps
    before the last one, which set where Newton's method begins.
    """
    first, uninterrupted = run(name), run(name, 2 * T_END)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InitialVelocityWarning)
        continued = simulate(MODELS[name](), T_END, DT, output_every=1, start=first, progress=False)
    middle, n = first.n_outputs - 1, continued.n_outputs
    blocks = continued.layout.internal
    for k, j in ((0, middle), (n - 1, middle + n - 1)):
        one, other = continued.state(k), uninterrupted.state(j)
        for field in State._fields:
            a, b = getattr(one, field), getattr(other, field)
            if field == "totals":
                b = b - uninterrupted.state(middle).totals
            elif field == "internal":
                a, b = a.copy(), b.copy()
                work = blocks.part(uninterrupted.state(middle).internal, "drive")[..., 8]
                blocks.part(b, "drive")[..., 8] -= work
                if not continued.layout.system.controls.empty:  # times of the next samples
                    blocks.part(b, "sampled")[continued.layout.system.controls.offsets()[0]] -= T_END
                for x in (
                    (a, b) if continued.event_names else ()
                ):  # times, energies and conditions of events begin again
                    continued.layout.system.controls.events_of(blocks.part(x, "sampled")).table[:] = 0.0
            elif field == "memory":
                a, b = (_last_step_memory(continued.layout.memory, x) for x in (a, b))
            # error of Newton's method, in forces and accelerations that stiffness and 1/h amplify
            loose = 1e-6 if field in ("lam", "memory") else 1e-9
            assert a == pytest.approx(b, abs=loose * max(1.0, np.abs(b).max(initial=0.0))), field
    assert audit(continued).ok, audit(continued).text()


def _last_step_memory(memory: MemoryLayout, x: np.ndarray) -> np.ndarray:
    parts = memory.parts(x)
    return np.concatenate([parts[name].ravel() for name in memory._replace(history=0).shapes()])


def start_from_equilibrium(name: str, folder: Path) -> None:
    """An equilibrium stays at rest in a run, except for driven parts."""
    static_solution = at_rest(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InitialVelocityWarning)
        continued = simulate(MODELS[name](), T_END, DT, output_every=1, start=static_solution, progress=False)
    audit_report = audit(continued)
    assert audit_report.ok, audit_report.text()
    assert np.array_equal(continued.state(0).r, static_solution.state().r)
    if not continued.layout.drives:
        assert np.abs(continued.states(slice(None)).r - static_solution.state().r).max() < 1e-7


def audit_run(name: str, folder: Path) -> None:
    assert audit(run(name)).ok, audit(run(name)).text()


def audit_at_rest(name: str, folder: Path) -> None:
    assert audit(at_rest(name)).ok, audit(at_rest(name)).text()


def audit_locally(name: str, folder: Path) -> None:
    report = local_audit(run(name))
    assert report.rods or report.not_covered


def buckling_loads(name: str, folder: Path) -> None:
    loads = buckling(MODELS[name](), 1, nonlinear=False)
    assert np.isfinite(loads.factors).all()


def dissipate_with_em_d(name: str, folder: Path) -> None:
    """em-d only dissipates energy, and all of it is in the balance."""
    result = run(name, T_END, "em-d(0.5)")
    assert audit(result).ok, audit(result).text()
    assert np.diff(result.algorithmic_dissipation).min() >= 0.0 < result.algorithmic_dissipation[-1]


def rigid_twin_of(name: str, folder: Path) -> None:
    """The rigid twin reports each part that it leaves out, contains all others, and runs."""
    model = MODELS[name]()
    twin = model.as_rigid()
    notes = " ".join(twin.left_out)
    for group, entries in vars(model).items():
        if isinstance(entries, dict) and group not in ("bodies", "rods"):
            for entry in entries:
                assert entry in getattr(twin, group) or f"'{entry}'" in notes, entry
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InitialVelocityWarning)
        assert audit(simulate(twin, T_END, DT, progress=False)).ok


def write_report(name: str, folder: Path) -> None:
    """A report names every named part of the model."""
    page = report(run(name), folder / "page.html").read_text()
    for group, entries in vars(MODELS[name]()).items():
        if isinstance(entries, dict):
            for entry in entries:
                assert entry in page, f"{group} '{entry}'"


def compare_runs(name: str, folder: Path) -> None:
    """A run equals itself, and its longer version where they overlap."""
    comparison = compare(run(name), run(name, 2 * T_END), names=("short", "long"))
    assert comparison.worst() == 0.0


def energies_sum_to_total(name: str, folder: Path) -> None:
    """The energies of all parts sum to the total, except for springs."""
    result = run(name)
    parts = energies_by_part(result)
    for energy_name in ("kinetic", "elastic", "gravity"):
        total = result.energy[energy_name]
        size = 1e-13 * max(np.abs(result.energy[other]).max() for other in ("kinetic", "elastic", "gravity"))
        assert sum(getattr(part, energy_name) for part in parts.values()) == pytest.approx(total, abs=size), (
            energy_name
        )


def run_in_chart(integrator: str, name: str, folder: Path) -> None:
    result = run(name, T_END, integrator)
    assert audit(result).ok, audit(result).text()


def small_motions(name: str, folder: Path) -> None:
    computed_modes = modes(MODELS[name](), 1, at_rest(name).state())
    assert np.isfinite(computed_modes.values).all()


TREES = (
    "driven",
    "actuated",
    "joints",
    "forces",
    "loaded",
    "pressed",
    "kinds",
    "texts",
    "shaken",
    "sampled",
    "controlled",  # in test_internal_states
    "inertial",
    "whirling",
    "sliding",
    "switching",
    "submerged",
)  # models with a specialised solver


def use_specialised_solver(name: str, folder: Path) -> None:
    """A specialised solver, if there is one, changes only the solver."""
    specialised = simulate(MODELS[name](), T_END, DT, output_every=1, solver="auto", progress=False)
    assert ("solver" in specialised.description["run"]) == (name in TREES)
    for field, loose in (("r", 1e-12), ("quat", 1e-12), ("v", 1e-10), ("Omega", 1e-10), ("totals", 1e-10)):
        a, b = (getattr(result.states(slice(None)), field) for result in (specialised, run(name)))
        assert np.abs(a - b).max(initial=0.0) <= loose * max(1.0, np.abs(b).max(initial=0.0)), field
    assert audit(specialised).ok, audit(specialised).text()


def use_adaptive_steps(name: str, folder: Path) -> None:
    result = simulate(MODELS[name](), T_END, Adaptive(0.1, output_dt=3 * DT), progress=False)
    assert audit(result).ok, audit(result).text()
    assert np.abs(result.states(slice(None)).r[-1] - run(name).states(slice(None)).r[-1]).max() < 0.1


def advance_step_by_step(name: str, folder: Path) -> None:
    """A runner takes the steps of a run, bit by bit."""
    expected = run(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InitialVelocityWarning)
        runner = MODELS[name]().prepare(t_end=T_END, dt=DT).runner()
    for k in range(1, expected.n_outputs):
        runner.advance()
        for field, one, other in zip(State._fields, runner.state, expected.state(k), strict=True):
            assert np.array_equal(one, other), (k, field)


CONSUMERS: dict[str, Callable[[str, Path], None]] = {
    "resume": resume,
    "start= from a run": start_from_run,
    "start= from an equilibrium": start_from_equilibrium,
    "audit": audit_run,
    "audit at rest": audit_at_rest,
    "local audit": audit_locally,
    "linear buckling": buckling_loads,
    "em-d": dissipate_with_em_d,
    "modes": small_motions,
    "rigid twin": rigid_twin_of,
    "report": write_report,
    "compare": compare_runs,
    "energies of parts": energies_sum_to_total,
    "shortcut": use_specialised_solver,
    "runner": advance_step_by_step,
    "error=": use_adaptive_steps,
    "em-ggl": functools.partial(run_in_chart, "em-ggl"),
    "EML-kappa": functools.partial(run_in_chart, "EML-kappa"),
    "GGL-EM": functools.partial(run_in_chart, "GGL-EM"),
}
_NO_RODS = ("joints", "forces", "drives", "shaken", "geared", "sliding", "driven", "actuated")
# what is not supported yet, or cannot be, and the words of the rejection
REFUSED: dict[tuple[str, str], str] = {
    **{(name, "local audit"): f"model '{name}' has no rods" for name in _NO_RODS},
    **{(name, "rigid twin"): f"model '{name}': has no rod to make rigid" for name in _NO_RODS},
    ("midpoints", "em-d"): r"the rod element '(midpoint|cayley\(2\))' does not provide its strains",
    **{
        (name, "GGL-EM"): f"the inverse of the mass, which couples all nodes of the rods of '{name}'"
        for name in ("loaded", "sampled", "sensed", "pressed", "relaxing", "strung", "on_planes", "touching")
    },
    ("loaded", "linear buckling"): "load 'dead moment' and load 'following force' .* have no potential",
    ("submerged", "linear buckling"): "submerged rod 'wet reed 1' and .* have no potential",
    ("varying", "linear buckling"): "pressure 'water' has no potential",
    ("pressed", "linear buckling"): "no load grows with the factor; pressures always act in full",
    ("strung", "linear buckling"): "is not fully supported: .* of rod 'relaxing'",
    ("geared", "linear buckling"): "its loads change no stiffness",
    ("whirling", "linear buckling"): "no joint and no stiffness holds: rod 'shaft', node . turns about",
    ("driven", "linear buckling"): "interaction 'motor' and interaction 'propeller' .* have no potential",
    ("actuated", "error="): r"controller 'brake\.u': is sampled in each step",
    ("switching", "EML-kappa"): "does not find events",
    ("switching", "GGL-EM"): "does not find events",
    **{
        ("switching", name): "'catch', which events of model 'switching' switch, does not act here"
        for name in ("start= from an equilibrium", "audit at rest", "linear buckling", "modes")
    },
    **{
        (model, name): f"load '{load}' follows a controller, whose output is known in a run only"
        for model, load in (("sampled", "torque"), ("sensed", "lift"), ("actuated", "motor"))
        for name in ("start= from an equilibrium", "audit at rest", "linear buckling", "modes")
    },
}


def acting_kinds(built: Built) -> set[str]:
    """Kinds at t = 0, with the dissipation of surfaces in contact at that time."""
    system, state = built.system, built.state
    points = np.ascontiguousarray(points_of(system.contacts, state.r, state.quat))
    lost, _ = loss_interactions(
        system.contacts, find_patches(system.contacts, candidates(system.contacts, points, 0.0))
    )
    return {acting.group.kind.name for acting in groups_of(system, state)} | {
        INTERACTIONS[k].name for k in lost.kind
    }
