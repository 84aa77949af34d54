"""Validation cases of rods at rest under large loads: roll-up, elastica, bent cantilevers, follower loads, Lee's frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rigid.errors import ModelError
from rodsim.components.sections import Section
from rodsim.equilibrium_methods import ArcLength
from rodsim.model import Model
from rodsim.statics.equilibria import equilibrium
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values, column, reference_values_at

EXACT = "exact, 16 digits"
# name -> (EA, GA, EI, P, tip) of a cantilever of length 1 under a dead end load P across
REISSNER = {
    "GA = 500": (1e8, 500.0, 10.0, 10.0, (0.93868436592755603, 0.31781389331495499)),
    "GA = 10": (1e8, 10.0, 10.0, 10.0, (0.74786340903965135, 1.1670958872603833)),
    "P = 1": (100.0, 40.0, 1.0, 1.0, (0.93990076379891843, 0.32378455039487035)),
    "P = 10": (100.0, 40.0, 1.0, 10.0, (0.42708247600914994, 0.94245368883403949)),
}
# without stretch and shear: load P L^2/EI -> tip
ELASTICA = {
    1.0: (0.94356676371662312, 0.30172077379981353),
    5.0: (0.61237163927557013, 0.71379152361191273),
    10.0: (0.44500440224624873, 0.81060902488029645),
}
# 45 degrees of a circle of radius 100, square section of side 100/slenderness: (force, tip displacement)
BEND = {
    10: (6e6, (-23.6450124765, -13.6320739122, 54.0950270112)),
    100: (600.0, (-23.560239545, -13.6045213473, 53.4748587918)),
    1000: (0.06, (-23.5593922766, -13.6042464954, 53.4686610454)),
    10000: (6e-6, (-23.5593838039, -13.6042437469, 53.4685990684)),
}
# cantilever of length 100 under a tip load that stays across the rod: force -> displacement
FOLLOWER = {
    10000.0: (-41.68750261842, 71.10702988095),
    20000.0: (-92.02014061194, 75.39187088834),
    40000.0: (-106.9941870205, 50.39582032606),
    60000.0: (-85.76819229197, 40.09634414981),
    80000.0: (-60.35224816583, 21.67586527918),
    100000.0: (-50.70349134878, -11.59590955173),
    120000.0: (-64.89943497535, -40.41704916233),
    130000.0: (-75.86181250442, -47.85867040596),
}
# Lee's frame, shear rigid, dead load: (quantity with a turning point, load, u, v of the loaded point), in path order
LEE = (
    ("limit", 18556.727538, 26.88057374, -48.73513725),
    ("turning v", 11944.104188, 61.74747037, -61.00297885),
    ("turning v", -4380.4802166, 81.22900758, -50.74625136),
    ("limit", -9414.4315556, 90.19567354, -58.21681533),
    ("turning u", -6858.5788959, 94.35976441, -71.37390084),
    ("turning u", 19231.75857, 85.91095641, -92.63706819),
)
LEE_LOAD = 20000.0  # load at load factor 1
ELEMENTS = (20, 40)


def section(EA: float, GA: float, EI: float | Sequence[float], GJ: float | None = None) -> Section:
    """Return a section by its stiffnesses, GJ = EI by default; its inertia has no effect at rest."""
    torsion = float(np.max(EI)) if GJ is None else GJ
    return Section.from_stiffness(
        EA=EA, GA=GA, GJ=torsion, EI=EI, mass_per_length=1.0, inertia_per_length=1.0
    )


def cantilever(of: Section, length: float, n_elements: int) -> tuple[Model, Any]:
    """Return a cantilever along x, clamped at the origin, and its rod."""
    model = Model("cantilever")
    rod = model.add_rod("rod", [(0, 0, 0), (length, 0, 0)], of, n_elements)
    model.add_joint("wall", "clamp", rod.start)
    return model, rod


def roll_up(level: int) -> Values:
    """Apply an end moment of 2 pi EI/L and of 4 pi EI/L: one and two whole turns."""
    quantities: dict[str, Any] = {}
    for turns, length, EI in ((1, 10.0, 100.0), (2, 1.0, 2.0)):
        model, rod = cantilever(section(1e4, 1e4, EI), length, 10)
        model.add_moment("end", rod.end, (0.0, 0.0, 2 * np.pi * turns * EI / length))
        run = equilibrium(model)
        quantities[f"tip({turns})"] = run.rod("rod").r[-1, -1]
        quantities[f"energy({turns})"] = run.energy["elastic"][-1]
    return quantities


def reissner(level: int) -> Values:
    """Compute the tips of cantilevers with stretch and shear."""
    quantities = {}
    for name, (EA, GA, EI, P, _) in REISSNER.items():
        model, rod = cantilever(section(EA, GA, EI), 1.0, ELEMENTS[level])
        model.add_force("end", rod.end, (0.0, P, 0.0))
        quantities[f"tip, {name}"] = equilibrium(model).rod("rod").r[-1, -1, :2]
    return quantities


def elastica(level: int) -> Values:
    """Compute the tips of cantilevers with negligible stretch and shear, a fraction 1e-7 of the bending."""
    quantities = {}
    for load in ELASTICA:
        model, rod = cantilever(section(1e7, 1e7, 1.0), 1.0, ELEMENTS[level])
        model.add_force("end", rod.end, (0.0, load, 0.0))
        quantities[f"tip({load:g})"] = equilibrium(model).rod("rod").r[-1, -1, :2]
    return quantities


def bend(level: int) -> Values:
    """Compute the 45-degree bend; its shape is equal for all slendernesses, and elements that lock would be too stiff."""
    quantities = {}
    for slenderness, (force, _) in BEND.items():
        w = 100.0 / slenderness
        I = w**4 / 12
        model = Model("45 degrees")
        rod = model.add_rod(
            "rod",
            lambda s: (100 * np.sin(np.pi / 4 * s), 100 * (1 - np.cos(np.pi / 4 * s)), 0.0),
            section(1e7 * w**2, 5e6 * w**2, 1e7 * I, 1e7 * I),
            (8, 16)[level],
        )
        model.add_joint("wall", "clamp", rod.start)
        model.add_force("end", rod.end, (0.0, 0.0, force))
        r = equilibrium(model).rod("rod").r
        quantities[f"u({slenderness})"] = r[-1, -1] - r[0, -1]
    return quantities


def follower(level: int) -> Values:
    """Compute a cantilever under an end load that rotates with the tip."""
    quantities = {}
    for force in FOLLOWER:
        model, rod = cantilever(section(4.2e10, 1.61538e10, 3.5e7), 100.0, ELEMENTS[level])
        model.add_force("end", rod.end, (0.0, 0.0, force), following=True)
        r = equilibrium(model).rod("rod").r
        quantities[f"u({force:g})"] = (r[-1, -1] - r[0, -1])[[0, 2]]
    return quantities


def lee(level: int) -> Values:
    """Trace the whole path of Lee's frame by arc-length continuation.

    Column and beam are hinged at both far ends, and loaded at a fifth of the beam.
    """
    model = Model("Lee's frame")
    of = section(4.32e7, 4.32e7 * 1e5, 1.44e7)
    column = model.add_rod("column", [(0, 0, 0), (0, 120, 0)], of, ELEMENTS[level])
    beam = model.add_rod("beam", [(0, 120, 0), (120, 120, 0)], of, ELEMENTS[level])
    model.add_joint("foot", "revolute", model.ground, column.start, axis=(0, 0, 1))
    model.add_joint("corner", "weld", column.end, beam.start)
    model.add_joint("far end", "revolute", model.ground, beam.end, axis=(0, 0, 1))
    model.add_force("load", beam.at(0.2), (0.0, -LEE_LOAD, 0.0))
    monitors = {"u": (beam.at(0.2), (1, 0, 0)), "v": (beam.at(0.2), (0, 1, 0))}
    run = equilibrium(model, method=ArcLength(stop={"load_factor": (-1.0, 1.3)}), monitors=monitors)
    kinds = [kind for kind, *_ in LEE]
    events = [event for event in run.events if event["kind"] in kinds]
    if [event["kind"] for event in events] != kinds:
        raise ModelError(f"Lee's frame: the path has {[event['kind'] for event in events]}, not {kinds}")
    quantities: dict[str, Any] = {}
    for k, event in enumerate(events):
        quantities[f"P({k + 1})"] = event["load_factor"] * LEE_LOAD
        quantities[f"(u, v)({k + 1})"] = [event["monitors"]["u"], event["monitors"]["v"]]
    return quantities


def _known_lee() -> dict[str, ReferenceValue]:
    """Return the reference values of Lee's frame by quantity."""
    known = {}
    for k, (_, P, u, v) in enumerate(LEE):
        # remaining shear: 1e-3 of the load with GA = EA/2.6, so 4e-9 here
        known[f"P({k + 1})"], known[f"(u, v)({k + 1})"] = (
            ReferenceValue(P, 1e-3, 20000.0),
            ReferenceValue((u, v), 1e-5, 120.0),
        )
    return known


STATIC_MESHES = Meshes("20 elements", "40 elements", 2)
CASES = (
    Case(
        "roll-up",
        "Cantilever rolled up by an end moment, one and two revolutions",
        "exact, circle",
        {
            "tip(1)": ReferenceValue((0.0, 0.0, 0.0), 1e-9, 10.0),
            "energy(1)": ReferenceValue(197.39208802178717, 1e-9, 197.4),
            "tip(2)": ReferenceValue((0.0, 0.0, 0.0), 1e-10, 1.0),
            "energy(2)": ReferenceValue(157.91367041742974, 1e-9, 157.9),
        },
        roll_up,
        Meshes("", "10 elements: constant strain is exact in each, round-off", None),
    ),
    Case(
        "reissner",
        "Cantilever with stretch and shear, dead end load",
        EXACT,
        {f"tip, {name}": ReferenceValue(data[4], 1e-15, 1.0) for name, data in REISSNER.items()},
        reissner,
        STATIC_MESHES,
    ),
    Case(
        "elastica",
        "Elastica, dead end load",
        "exact, elliptic integrals, 17 digits",
        # remaining stretch and shear: of the order of P/EA and P/GA
        {f"tip({load:g})": ReferenceValue(tip, 2e-7 * load, 1.0) for load, tip in ELASTICA.items()},
        elastica,
        STATIC_MESHES,
    ),
    Case(
        "bend-45",
        "45-degree bend, Bathe and Bolourchi 1979, slenderness 10 to 10,000",
        "multiple shooting, 11 digits",
        reference_values_at("u", column(BEND, 1), 1e-9, 60.0),
        bend,
        Meshes("8 elements", "16 elements", 2),
    ),
    Case(
        "lee-frame",
        "Lee's frame through all its limits and turning points",
        "multiple shooting, 8 to 10 digits",
        _known_lee(),
        lee,
        Meshes("20 elements a member", "40 elements a member", 2),
        slow=True,
    ),
    Case(
        "follower",
        "Cantilever under a follower end load, Simo and Vu-Quoc 1986",
        "shooting from the loaded end, 12 digits (tests/support/shooting.py)",
        reference_values_at("u", FOLLOWER, 1e-9, 100.0),
        follower,
        STATIC_MESHES,
    ),
)
