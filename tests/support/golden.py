"""Store the results of the program for many models, and compare them after a change of the program.

    python -m tests.support.golden store FOLDER      # before the change
    python -m tests.support.golden compare FOLDER    # after it: a table, exit code 1 if a rule is broken

A case is a model with a scheme and a solver: 100 steps, or its equilibrium and natural frequencies. All data that users read
from a result are stored twice, for the model as it is and with gravity changed by one ulp of 9.81 m/s^2. The distance of the
two is the effect of round-off on this model, its spread. The rules for the results after the change:

- positions differ by at most 1e-12 of the model's size, or 100 times their spread;
- all else differs by at most 100 times its spread, which counts as at least 1e-13 of its largest value;
- Newton's method takes at most a tenth more iterations, and halves no step that it did not halve.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rodsim import ConvergenceError, Model, ModelError, Result, ResultError, equilibrium, modes, simulate
from rodsim.scenes import read_scene
from tests.support.completeness import DT, MODELS
from tests.support.golden_models import SHAPES

ROOT = Path(__file__).parents[2]
SCENES = sorted((ROOT / "examples" / "scenes").glob("*.yaml"))
STEPS = 100
ULP = 1.8e-15  # m/s^2, of 9.81 m/s^2
SCHEMES = ("em", "em4", "em-ggl", "em-d(0.5)")
NEAR, SPREADS, LEAST = 1e-12, 100.0, 1e-13
COUNTED = ("iterations", "halvings")
Fields = dict[str, np.ndarray]


class Case(NamedTuple):
    """A model with the scheme and the solver that advance it."""

    model: str
    scheme: str  # or "rest"
    solver: str

    @property
    def file(self) -> str:
        """Name of the file with its fields."""
        return " ".join(self).replace("/", "-") + ".npz"


def model_of_case(name: str) -> tuple[Model, float, str]:
    """Return the model of this name, its step, s, and its scheme."""
    if name in MODELS:
        return MODELS[name](), DT, "em"
    if name in SHAPES:
        return (*SHAPES[name](), "em")
    path = next(scene for scene in SCENES if scene.stem == name)
    run = read_scene(path).get("run", {})
    return Model.load(path), run.get("dt", 0.01), run.get("integrator", "em")


def cases() -> Iterator[Case]:
    """Yield each case of the table."""
    for name in (*MODELS, *SHAPES):
        for solver in ("auto", "general"):
            yield from (Case(name, scheme, solver) for scheme in SCHEMES)
        yield Case(name, "rest", "auto")
    for path in SCENES:
        yield Case(path.stem, model_of_case(path.stem)[2], "auto")


def _fields_of_result(result: Result) -> Fields:
    """Return the fields that users read from a result, at each output."""
    states = result.states(slice(None))
    quantities = {name: getattr(states, name) for name in ("r", "quat", "v", "Omega", "internal", "totals")}
    quantities["own"] = quantities.pop("internal")
    quantities |= {f"energy {name}": result.energy[name] for name in result.energy.dtype.names or ()}
    quantities |= {"linear momentum": result.linear_momentum, "angular momentum": result.angular_momentum}
    for name in result.joints:
        with contextlib.suppress(ResultError):  # a gear acts on several joints
            joint = result.joint(name)
            quantities |= {f"force {name}": joint.force, f"moment {name}": joint.moment}
    quantities["strains"] = result.strains()
    return quantities


def compute(case: Case, gravity: float) -> Fields:
    """Compute the fields of a case with this change of gravity, m/s^2; "error" contains the type of a rejection."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, dt, _ = model_of_case(case.model)
        model.gravity = model.gravity + gravity  # each component
        try:
            if case.scheme == "rest":
                static_solution = equilibrium(model)
                quantities = _fields_of_result(static_solution)
                return quantities | {"frequencies": modes(model, 10, start=static_solution).frequency}
            run = simulate(
                model, STEPS * dt, dt, case.scheme, solver=case.solver, output_every=1, progress=False
            )
        except ConvergenceError as error:
            if error.result is None:
                return {"error": np.array(type(error).__name__)}
            run = error.result
        except (ModelError, ResultError) as error:
            return {"error": np.array(type(error).__name__)}
        counts = {"iterations": run.newton_iterations.sum(), "halvings": run.halvings.sum()}
        return _fields_of_result(run) | {name: np.asarray(count) for name, count in counts.items()}


def _store(folder: Path, case: Case) -> str:
    both = [compute(case, gravity) for gravity in (0.0, ULP)]
    stored = {f"{k} {name}": value for k, fields in enumerate(both) for name, value in fields.items()}
    np.savez_compressed(folder / case.file, **stored)  # type: ignore[arg-type]
    return str(both[0].get("error", "stored"))


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference; inf if the shapes differ."""
    if one.shape != other.shape:
        return np.inf
    return float(np.abs(np.nan_to_num(one) - np.nan_to_num(other)).max(initial=0.0))


def broken(new: Fields, old: Fields, other: Fields) -> dict[str, tuple[float, float]]:
    """Return the fields that break a rule, with their difference and its limit; `other` was stored with the changed gravity."""
    if "error" in new or "error" in old:
        same = str(new.get("error")) == str(old.get("error"))
        return {} if same else {f"{new.get('error')} instead of {old.get('error')}": (np.inf, 0.0)}
    violations = {}
    for name in old:
        if name in COUNTED:
            most = max(float(old[name]), float(other[name]))
            if float(new[name]) > (1.1 if name == "iterations" else 1.0) * most:
                violations[name] = float(new[name]), most
            continue
        if name not in new:
            violations[name] = np.inf, 0.0
            continue
        largest = np.abs(np.nan_to_num(old[name])).max(initial=0.0)
        spread = (
            _distance(old[name], other[name]) if name in other else 0.0
        )  # modes are found with one gravity alone
        allowed = SPREADS * max(spread, LEAST * largest)
        if name == "r":
            size = float(np.ptp(old["r"].reshape(-1, 3), axis=0).max(initial=0.0))
            allowed = max(NEAR * size, SPREADS * spread)
        distance = _distance(new[name], old[name])
        if distance > allowed:
            violations[name] = distance, allowed
    return violations


def _compare(folder: Path, case: Case) -> list[tuple[str, float, float]]:
    with np.load(folder / case.file) as stored:
        old, other = ({name[2:]: stored[name] for name in stored.files if name[0] == which} for which in "01")
    return [(name, *numbers) for name, numbers in broken(compute(case, 0.0), old, other).items()]


def spreads(folder: Path) -> list[Mapping[str, Any]]:
    """Return a row for each stored case: iterations, halved steps, and spreads relative to the largest value of a field."""
    rows = []
    for case in cases():
        with np.load(folder / case.file) as stored:
            row: dict[str, Any] = case._asdict()
            if "0 error" in stored.files:
                rows.append(row | {"error": str(stored["0 error"])})
                continue
            row |= {
                name: f"{float(stored[f'0 {name}']):.6g}" for name in COUNTED if f"0 {name}" in stored.files
            }
            for title, start in (
                ("positions", "r"),
                ("velocities", "v"),
                ("energies", "energy"),
                ("forces", "force"),
            ):
                ratios = [
                    _distance(stored[name], stored["1" + name[1:]])
                    / max(np.abs(np.nan_to_num(stored[name])).max(), 1e-300)
                    for name in stored.files
                    if name[0] == "0" and name[2:].split(" ")[0] == start and stored[name].size
                ]
                row[title] = f"{max(ratios, default=0.0):.1e}"
            rows.append(row)
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("act", choices=("store", "compare", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=2)
    settings = parser.parse_args(arguments)
    settings.folder.mkdir(parents=True, exist_ok=True)
    if settings.act == "table":
        titles = [*Case._fields, *COUNTED, "positions", "velocities", "energies", "forces", "error"]
        with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
            table = csv.DictWriter(file, titles, lineterminator="\n")
            table.writeheader()
            table.writerows(spreads(settings.folder))
        return 0
    chosen = [case for case in cases() if settings.only in " ".join(case)]
    if settings.act == "compare":  # cases that are newer than the stored ones
        new = [case for case in chosen if not (settings.folder / case.file).exists()]
        chosen = [case for case in chosen if case not in new]
        print(f"{len(new)} cases are not stored: {', '.join(sorted({case[0] for case in new})) or 'none'}")
    work: Callable[[Case], Any] = partial(_store if settings.act == "store" else _compare, settings.folder)
    failed = 0
    with ProcessPoolExecutor(settings.jobs, get_context("spawn")) as pool:
        for case, outcome in zip(chosen, pool.map(work, chosen), strict=True):
            if isinstance(outcome, str):
                print(f"{' '.join(case):60} {outcome}", flush=True)
            for name, distance, allowed in outcome if isinstance(outcome, list) else ():
                failed += 1
                print(f"{' '.join(case):60} {name:24} {distance:9.2e} allowed {allowed:9.2e}", flush=True)
    print(f"{len(chosen)} cases" + (f", {failed} rules broken" if settings.act == "compare" else ""))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
