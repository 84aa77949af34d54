"""States of wrong shapes at every entry to compiled code, run in a separate process, which they might crash.

Prints a line for each one that was not rejected by a ModelError that names the field, and the number of attempts.
"""

from __future__ import annotations

import faulthandler
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from discretization import rod_matrices
from discretization import state_measures as measures
from discretization.linearisation import tangents
from discretization.redundancy import constraint_jacobian
from discretization.state_checks import OF_SYSTEMS, POSES
from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.statics.loading import Loading
from discretization.time.em_family import em_integrator
from discretization.time.mechanical_stepper import MechanicalStepper
from discretization.time.stepper import Stepper
from discretization.time.stepper_base import copy_state
from rigid import signals
from rigid.errors import ModelError
from rigid.interactions import evaluation
from rigid.interactions.constraints import groups_of
from rigid.mechanics import mechanical_rows
from rigid.system import State
from rodsim import Box, Model, Section, equilibrium, linearise, modes, simulate, steady_rotation
from rodsim.building.build import Built

H = 1e-3
Door = Callable[[State], Any]


def rich() -> Model:
    """A model whose states have every field: a relaxing rod, a torsion spring, a drive, a load."""
    model = Model("rich", gravity=(0, 0, -9.81))
    section = Section.from_stiffness(
        EA=1e3, GA=1e3, GJ=50, EI=60, mass_per_length=2.0, inertia_per_length=2e-3
    ).with_relaxation(0.2, fraction=0.5)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 2, mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    body = model.add_body("body", Box(0.3, 0.2, 0.1, density=100), position=(0, 1, 0))
    model.add_joint("pin", "revolute", model.ground, body, at=(0, 1, 0), axis=(0, 1, 0))
    model.add_drive("motor", "pin", signals.Sine(0.5, 0.5))
    model.add_spring("coil", rod.end, body, 20.0, along="rotation", axis=(0, 1, 0))
    model.add_force("push", rod.end, (0, 0, 1))
    return model


def bars() -> Model:
    """A model that every chart supports."""
    model = Model("bars", gravity=(0, 0, -9.81))
    body = model.add_body("body", Box(0.3, 0.2, 0.1, density=100), position=(0.15, 0, 0))
    model.add_joint("pin", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_spring("coil", model.ground, body, 20.0, along="rotation", axis=(0, 1, 0))
    model.add_force("push", body.at((0.15, 0, 0)), (0, 0, 1))
    return model


def entries() -> Iterator[tuple[str, State, Door, tuple[str, ...], bool]]:
    """Entry name, an accepted state, the entry, the fields it reads, whether it accepts other number types and memory orders."""
    built, plain = rich().build(), bars().build()
    system, start = built.system, built.state
    for name in ("em", "em-ggl", "em-d(0.5)"):
        em_scheme = em_integrator(name)
        assert em_scheme is not None
        stepper = Stepper(
            system,
            H,
            em_scheme.order,
            built.load_values,
            hidden=em_scheme.hidden,
            rho=em_scheme.rho,
            drive_values=built.drive_values,
        )
        yield from _stepper_entries(name, stepper, stepper.start(start))
    of_chart = MechanicalStepper("bars", plain.system, plain.state, H, "EML", None, plain.load_values)
    yield from _stepper_entries("EML", of_chart, of_chart.start(plain.state))
    yield (
        "EML, made",
        plain.state,
        lambda s: MechanicalStepper("bars", plain.system, s, H, "EML", None, plain.load_values),
        OF_SYSTEMS,
        False,
    )
    values = plain.load_values(np.zeros(1))[0]
    loading = Loading(0 * values, values, np.zeros(3), plain.system.gravity)
    yield "Rest", plain.state, lambda s: EquilibriumSystem(plain.system, s, loading), OF_SYSTEMS, False
    statics = EquilibriumSystem(plain.system, plain.state, loading)
    yield "Rest.stand", plain.state, lambda s: statics.set_equilibrium(s, 1.0), OF_SYSTEMS, False
    known: tuple[tuple[str, Door, tuple[str, ...]], ...] = (
        ("element_states", lambda s: measures.element_states(system, s), (*POSES, "internal")),
        ("energies", lambda s: measures.energies(system, s), (*POSES, "v", "Omega", "internal")),
        ("momenta", lambda s: measures.momenta(system, s), (*POSES, "v", "Omega")),
        ("g", lambda s: measures.constraint_residual(system, s), (*POSES, "internal")),
        ("dg/dt", lambda s: measures.velocity_residual(system, s), (*POSES, "v", "Omega", "internal")),
        ("G", lambda s: constraint_jacobian(system, s), POSES),
        ("K", lambda s: rod_matrices.stiffness_matrix(system, s), POSES),
    )
    for field, door, fields in known:
        yield field, start, door, fields, True
    yield "linearise", plain.state, lambda s: linearise(plain, s), OF_SYSTEMS, True
    for entry in (
        ("simulate", lambda s: simulate(bars(), H, H, start=s)),
        ("equilibrium", lambda s: equilibrium(bars(), start=s)),
        ("steady_rotation", lambda s: steady_rotation(bars(), (0, 0, 0), start=s)),
    ):
        yield entry[0], plain.state, entry[1], OF_SYSTEMS, True
    yield "modes", plain.state, lambda s: modes(bars(), 1, s, anyway=True), OF_SYSTEMS, True


def _stepper_entries(
    name: str, stepper: Any, state: State
) -> Iterator[tuple[str, State, Door, tuple[str, ...], bool]]:
    every = tuple(State._fields)
    yield f"{name}.start", state, stepper.start, OF_SYSTEMS, False
    yield f"{name}.march", state, lambda s: stepper.march(s, H, np.zeros(1)), every, False
    yield f"{name}.advance", state, lambda s: stepper.advance(s, 0, 1), every, False
    if isinstance(stepper, Stepper):
        yield f"{name}.record", state, lambda s: stepper.record(s, 0, 1, 2), every, False


def invalid_arrays(array: np.ndarray, converted: bool) -> Iterator[tuple[str, Any]]:
    """Invalid replacements of a field; converted: other number types are accepted, too."""
    yield "no rows", array[:0]
    yield "a row less", array[:-1]
    yield "a row more", np.concatenate([array, np.zeros((1, *array.shape[1:]))])
    yield "many", np.tile(array, (3, *[1] * array.ndim))
    yield "flat", array.ravel() if array.ndim > 1 else array[:, None]
    if array.ndim > 1:
        yield "narrow", np.ascontiguousarray(array[:, :-1])
        yield "one row for all", np.ones(array.shape[1:])
    if converted:
        return
    yield "float32", array.astype(np.float32)
    yield "whole numbers", array.astype(np.int64)
    yield "complex", array.astype(complex)
    yield "a list", array.tolist()
    yield "nothing", None
    if array.ndim > 1 and len(array) > 1:
        yield "columns first", np.asfortranarray(array)
    if len(array) > 1:
        yield "every second", np.repeat(array, 2, axis=0)[::2]


def rejection(name: str, field: str, call: Callable[[], Any]) -> str:
    """Empty if rejected, otherwise what happened."""
    try:
        call()
    except ModelError as error:
        return "" if field in str(error) else f"{name}: {error}"
    except Exception as error:
        return f"{name}: {type(error).__name__}: {error}"
    return f"{name}: taken"


def state_cases() -> Iterator[str]:
    """Every wrong array of every field at every entry."""
    filled = set()
    for name, state, door, fields, converted in entries():
        door(copy_state(state))  # the unchanged state is accepted
        for field in fields:
            array_of_state = getattr(state, field)
            filled |= {field} if array_of_state.size else set()
            for how, array in invalid_arrays(array_of_state, converted):
                if not array_of_state.size and (
                    (np.size(array) == 0 and converted) or _alike(array, array_of_state)
                ):
                    continue  # an empty array cannot be too short
                invalid = copy_state(state)._replace(**{field: array})
                yield rejection(
                    f"{name}, {field}: {how}",
                    "State." if converted else f"State.{field}",
                    partial(door, invalid),
                )
    assert filled == set(State._fields)


def _alike(array: Any, reference: np.ndarray) -> bool:
    return isinstance(array, np.ndarray) and (array.shape, array.dtype) == (reference.shape, reference.dtype)


def value_cases() -> Iterator[str]:
    """Values of loads and drives whose number does not match that of the loads and drives."""
    built, plain = rich().build(), bars().build()
    assert built.drive_values is not None
    changes: dict[str, Callable[[np.ndarray], Any]] = {
        "one less": lambda x: x[:, :-1],
        "one more": lambda x: np.concatenate([x, x[:, :1]], axis=1),
        "another width": lambda x: x[..., :2],
        "of one time": lambda x: x[0],
        "of too many times": lambda x: np.concatenate([x, x]),
        "text": lambda x: "none",
        "nothing": lambda x: None,
    }
    for how, change in changes.items():
        for which in ("load_values", "drive_values"):
            functions = {"load_values": built.load_values, "drive_values": built.drive_values}
            functions[which] = lambda t, f=functions[which], change=change: change(f(t))
            for name in ("em", "em-d(0.5)"):
                stepper = Stepper(built.system, H, rho=0.5 if "-d" in name else None, **functions)  # type: ignore[arg-type]
                state = stepper.start(copy_state(built.state))
                yield rejection(
                    f"{name}, {which}: {how}", which, partial(stepper.march, state, H, np.zeros(2))
                )
        yield rejection(f"EML, load_values: {how}", "load_values", partial(_marched, plain, change))
    right = plain.load_values(np.zeros(1))[0]
    for k, field in enumerate(("constant_values", "varying_values", "constant_gravity", "varying_gravity")):
        loads = [0 * right, right, np.zeros(3), np.zeros(3)]
        loads[k] = loads[k][:-1]
        yield rejection(
            f"Loading.{field}", field, partial(EquilibriumSystem, plain.system, plain.state, Loading(*loads))
        )


def _marched(built: Built, change: Callable[[np.ndarray], Any]) -> None:
    values = lambda t: change(built.load_values(t))  # noqa: E731
    stepper = MechanicalStepper("bars", built.system, built.state, H, "EML", None, values)
    stepper.march(stepper.start(built.state), H, np.zeros(1))


def mechanical_system_cases() -> Iterator[str]:
    """Coordinates, velocities, multipliers and signals of systems in charts; interactions without a system."""
    system, built = bars().mechanical_system("quaternion"), bars().build()
    n, m = system.n, system.m
    short, q = np.zeros(n - 1), np.zeros(n)
    for field in ("mass", "potential", "gradient", "constraints", "jacobian"):
        yield rejection(field, field, partial(getattr(system, field), short))
    for field in ("rate", "momentum"):
        for pair in ((short, q), (q, short)):
            yield rejection(field, "shape", partial(getattr(system, field), *pair))
    yield rejection("pull", "pull", partial(system.pull, q, np.zeros(m - 1)))
    for field in ("potentials", "constraints"):
        yield rejection(
            f"rows of {field}", "rows", partial(getattr(mechanical_rows, field), system, np.zeros((3, n - 1)))
        )
    two, three = np.zeros((2, n)), np.zeros((3, n))
    yield rejection("rows of pairs", "rows", partial(mechanical_rows.momenta, system, three, two))
    system.signal = lambda t: np.zeros(1 + round(t))
    yield rejection("signals", "signal", partial(system.signals, np.array([0.0, 2.0])))
    groups, state = groups_of(built.system.constraints), built.state
    yield rejection("values", "frame", partial(evaluation.values, groups, state.r[:1], state.quat[:1]))
    yield rejection("values", "quat", partial(evaluation.values, groups, state.r, state.quat[:1]))
    for function in (tangents.stiffness, tangents.forces):
        yield rejection(function.__name__, "multipliers", partial(function, groups, state, state.lam[:-1]))


if __name__ == "__main__":
    faulthandler.enable()
    said = [*state_cases(), *value_cases(), *mechanical_system_cases()]
    print("\n".join(filter(None, said)), file=sys.stderr)
    print(len(said))
