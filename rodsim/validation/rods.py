"""Validation cases of rods in large motion: flying spaghetti, right-angle cantilever, falling cantilever."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rigid import signals
from rodsim.components.materials import Material
from rodsim.components.sections import Section
from rodsim.model import Model
from rodsim.simulation import simulate
from rodsim.validation.case import (
    Case,
    Meshes,
    ReferenceValue,
    Values,
    column,
    reference_values_at,
    values_at,
)

REFERENCE = "spectral elements p = 12, two discretisations"
# Simo and Vu-Quoc 1988, 3D, J = (20, 10, 10): t -> loaded end, free end, kinetic and elastic energy
SPAGHETTI = {
    2.5: ((3.6068318, 0.044700102, -0.42725823), (3.9817601, 8.5317153, -0.54046836), 136.3738, 167.9935),
    5.0: ((19.213602, 1.6255553, -2.1272407), (12.953001, 6.809428, 3.0287719), 692.633, 31.80308),
    10.0: ((42.832147, 3.6926775, -4.3862873), (38.31212, 5.1981688, 4.2515371), 676.4077, 48.02836),
}
# quantity, accuracy and size
SPAGHETTI_COLUMNS = (
    ("loaded end", 2e-5, 10.0),
    ("free end", 2e-5, 10.0),
    ("T", 2e-3, 700.0),
    ("V", 2e-3, 700.0),
)
SPAGHETTI_ENERGY = 724.4361  # energy for t >= 5
# Simo and Vu-Quoc 1988, J = (20, 10, 10): t -> displacements of elbow and tip
ELBOW = {
    1.0: ((-0.054196085, 0.022881567, 0.95131434), (-0.0030170755, -0.023388601, 0.054031843)),
    2.0: ((-1.0111139, 0.26738907, 4.1152458), (0.10626069, -0.69215, 0.069263766)),
    4.0: ((-1.5643935, -0.42765792, 4.6420699), (0.44198191, -0.70624119, 3.5089344)),
    6.0: ((-0.57896504, -0.77834608, 2.5406899), (-1.2236489, -1.8183602, 6.9133549)),
    10.0: ((-0.77236618, 1.6287934, -3.0959686), (0.004320501, -1.9702775, 4.4631198)),
}
ELBOW_ENERGY = 114.880345264  # energy for t >= 2
# Simo and Vu-Quoc 1988, but with J = (10, 10, 10): t -> u_z of elbow, tip
ELBOW_ROUND = {
    2.0: (4.302492, -0.02571446),
    5.0: (4.367855, 6.16966),
    10.0: (-2.992624, 2.512818),
}
# Simo and Vu-Quoc 1986, 2D: EI -> energy after the pull, which begins suddenly, and its accuracy
PLANE = {100.0: (379.5, 0.4), 500.0: (90.2, 0.1)}
RUBBER = (-0.09920, 0.0, -0.94008)  # end of PyElastica's FlexibleSwingingPendulumCase at t = 1
CANTILEVER = {0.5: (-0.0101, -0.9206), 1.0: (-0.3140, -0.5264)}  # tip x, z


def spaghetti(level: int) -> Values:
    """Simulate a free rod loaded at one end."""
    section = Section.from_stiffness(
        EA=1e4, GA=1e4, GJ=500, EI=500, mass_per_length=1.0, inertia_per_length=(20.0, 10.0, 10.0)
    )
    model = Model("flying spaghetti")
    rod = model.add_rod("rod", [(6, 0, 0), (0, 8, 0)], section, (40, 80)[level], mass="consistent")
    kick = signals.Triangle(peak=200.0, t_peak=2.5, t_end=5.0)
    model.add_force("pull", rod.start, kick.along((0.1, 0.0, 0.0)))
    model.add_moment("twist", rod.start, kick.along((0.0, -0.5, -1.0)))
    run = simulate(model, 10.0, (0.02, 0.01)[level], output_every=(5, 10)[level])
    r, energy = run.rod("rod").r, run.energy
    histories = (r[:, 0], r[:, -1], energy["kinetic"], energy["elastic"])
    quantities: dict[str, Any] = {"T + V(10)": energy["total"][-1]}
    for (what, _, _), history in zip(SPAGHETTI_COLUMNS, histories, strict=True):
        quantities |= values_at(what, SPAGHETTI, run, history)
    return quantities


def plane_spaghetti(level: int) -> Values:
    """Simulate a free rod in a plane, loaded at one end by a force and a moment until t = 2.5.

    The momentum is then (20, 0, 0); the centre moves to (3 + 0.4 t^2, 4) during the pull, and with 2 m/s afterwards.
    """
    quantities: dict[str, Any] = {}
    for EI in PLANE:
        section = Section.from_stiffness(
            EA=1e4, GA=1e4, GJ=EI, EI=EI, mass_per_length=1.0, inertia_per_length=10.0
        )
        model = Model("flying spaghetti, 2D")
        rod = model.add_rod("rod", [(6, 0, 0), (0, 8, 0)], section, (40, 80)[level], mass="consistent")
        on = signals.Table([0.0, 2.5, 2.5 + 1e-9], [1.0, 1.0, 0.0])
        model.add_force("pull", rod.start, on.along((8.0, 0.0, 0.0)))
        model.add_moment("turn", rod.start, on.along((0.0, 0.0, -80.0)))
        run = simulate(model, 5.0, (0.02, 0.01)[level], output_every=(5, 10)[level])
        energy, r = run.energy["total"], run.rod("rod").r
        ends = 0.5 * (r[:, 1:] + r[:, :-1]).mean(axis=1)  # centres of intervals of equal mass
        quantities[f"E({EI:g})"] = energy[-1]
        quantities[f"P({EI:g})"] = run.linear_momentum[-1]
        quantities[f"centre({EI:g})"] = ends[-1]
        after = energy[run.t > 2.55]
        quantities[f"change of E({EI:g})"] = np.ptp(after) / after[0]
    return quantities


def rubber_model(n: int) -> Model:
    """Return a rod of 1 m, 1 cm thick, E = 5 MPa, that swings on a hinge from horizontal; n elements."""
    radius, density, E = 0.005, 1100.0, 5e6
    A, inertia, G = np.pi * radius**2, np.pi * radius**4 / 4, 5e6 / 1.5
    section = Section.from_stiffness(
        EA=E * A,
        GA=27 / 28 * G * A,
        GJ=2 * G * inertia,
        EI=E * inertia,
        mass_per_length=density * A,
        inertia_per_length=[density * inertia * k for k in (2.0, 1.0, 1.0)],
    )
    model = Model("swinging rubber rod", gravity=(-9.80665, 0.0, 0.0))
    rod = model.add_rod("rod", [(0, 0, 0), (0, 0, 1)], section, n, up=(0, 1, 0))
    model.add_joint("hinge", "spherical", rod.start, model.ground)
    return model


def rubber(level: int) -> Values:
    """Simulate the first second of the rubber rod."""
    run = simulate(rubber_model((40, 80)[level]), 1.0, (0.005, 0.0025)[level], output_every=(10, 20)[level])
    return {"end(1)": run.rod("rod").r[-1, -1], "change of E": np.ptp(run.energy["total"])}


def elbow(J: tuple[float, float, float], level: int) -> Values:
    """Simulate two legs at right angles, clamped at one end, with the elbow pulled out of the plane."""
    section = Section.from_stiffness(
        EA=1e6, GA=1e6, GJ=1e3, EI=1e3, mass_per_length=1.0, inertia_per_length=J
    )
    model = Model("right-angle cantilever")
    n = (10, 20)[level]
    one = model.add_rod("one", [(0, 0, 0), (10, 0, 0)], section, n)
    two = model.add_rod("two", [(10, 0, 0), (10, 10, 0)], section, n)
    model.add_joint("wall", "clamp", one.start)
    model.add_joint("elbow", "weld", one.end, two.start)
    pull = signals.Triangle(peak=50.0, t_peak=1.0, t_end=2.0)
    model.add_force("pull", one.end, pull.along((0.0, 0.0, 1.0)))
    run = simulate(model, 10.0, (0.02, 0.01)[level], output_every=(50, 100)[level])
    u = np.stack([run.rod("one").r[:, -1] - [10, 0, 0], run.rod("two").r[:, -1] - [10, 10, 0]], axis=1)
    return {
        **values_at("elbow", ELBOW, run, u[:, 0]),
        **values_at("tip", ELBOW, run, u[:, 1]),
        **values_at("u_z", ELBOW_ROUND, run, u[:, :, 2]),
        "T + V(10)": run.energy["total"][-1],
    }


def cantilever(level: int) -> Values:
    """Simulate a soft rod that falls from horizontal."""
    silicone = Material(E=1e7, nu=0.3, density=1000.0)
    model = Model("falling cantilever", gravity=(0.0, 0.0, -9.81))
    rod = model.add_rod(
        "rod", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, silicone), (40, 80)[level], mass="lumped"
    )
    model.add_joint("wall", "clamp", rod.start)
    run = simulate(model, 1.0, (0.005, 0.0025)[level], output_every=(10, 20)[level])
    return values_at("tip", CANTILEVER, run, run.rod("rod").r[:, -1, [0, 2]])


MESHES = Meshes("20 elements, h = 0.02", "40 elements, h = 0.01", 2)
FINER = Meshes("40 elements, h = 0.02", "80 elements, h = 0.01", 2)
FINEST = Meshes("40 elements, h = 0.005", "80 elements, h = 0.0025", 2)
CASES = (
    Case(
        "flying-spaghetti",
        "Flying spaghetti 3D, Simo and Vu-Quoc 1988",
        REFERENCE,
        {"T + V(10)": ReferenceValue(SPAGHETTI_ENERGY, 1e-3, 700.0)}
        | {
            name: known
            for k, (what, accuracy, size) in enumerate(SPAGHETTI_COLUMNS)
            for name, known in reference_values_at(what, column(SPAGHETTI, k), accuracy, size).items()
        },
        spaghetti,
        FINER,
    ),
    Case(
        "flying-spaghetti-2d",
        "Flying spaghetti 2D, Simo and Vu-Quoc 1986, EI = 100 and 500",
        "momentum exact; energy by spectral elements p = 12, to 0.1 %: a sudden pull makes fronts",
        {f"E({EI:g})": ReferenceValue(energy, accuracy, energy) for EI, (energy, accuracy) in PLANE.items()}
        | {f"P({EI:g})": ReferenceValue((20.0, 0.0, 0.0), 0.0, 20.0) for EI in PLANE}
        | {f"centre({EI:g})": ReferenceValue((10.5, 4.0, 0.0), 0.0, 10.0) for EI in PLANE}
        | {f"change of E({EI:g})": ReferenceValue(0.0, 0.0, 1.0) for EI in PLANE},
        plane_spaghetti,
        FINER,
    ),
    Case(
        "rubber-rod",
        "Rubber rod swings on a hinge, PyElastica's FlexibleSwingingPendulumCase",
        "elements of order 4 on two meshes, 4 digits; PyElastica's meshes go there",
        {"end(1)": ReferenceValue(RUBBER, 2e-5, 1.0), "change of E": ReferenceValue(0.0, 1e-13, 1.0)},
        rubber,
        FINEST,
    ),
    Case(
        "right-angle",
        "Right-angle cantilever, Simo and Vu-Quoc 1988, J = (20, 10, 10)",
        REFERENCE,
        reference_values_at("elbow", column(ELBOW, 0), 3e-6, 10.0)
        | reference_values_at("tip", column(ELBOW, 1), 3e-6, 10.0)
        | {"T + V(10)": ReferenceValue(ELBOW_ENERGY, 1e-6, ELBOW_ENERGY)},
        partial(elbow, (20.0, 10.0, 10.0)),
        MESHES,
    ),
    Case(
        "right-angle-round",
        "Right-angle cantilever, J = (10, 10, 10)",
        REFERENCE,
        reference_values_at("u_z", ELBOW_ROUND, 3e-6, 10.0),
        partial(elbow, (10.0, 10.0, 10.0)),
        MESHES,
    ),
    Case(
        "falling-cantilever",
        "Soft cantilever falls from horizontal",
        "converged, two programs, 4 digits",
        reference_values_at("tip", CANTILEVER, 1e-4, 1.0),
        cantilever,
        FINEST,
    ),
)
