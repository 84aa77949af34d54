"""Shared models and helpers: heaps of rods in contact."""

from __future__ import annotations

from discretization.assembly.numbering import Numbering
from discretization.time.contact_stepper import ContactStepper
from discretization.time.stepper import Stepper
from rodsim import Material, Model, Section
from rodsim.building.build import Built

RADIUS, H, HALF = 0.01, 5e-4, 11


def lattice(n: int = 2) -> Model:
    """Four free rods above four others, across, which fall on them at 0.5 m/s and move along at 0.2 m/s."""
    model = Model("lattice")
    section = Section.circular(RADIUS, Material(E=1e6, nu=0.3, density=1000.0))
    for k in range(4):
        at = 0.05 * k + 0.003 * k * k
        model.add_rod(f"low {k}", [(at, -0.1, 0.0), (at + 0.02, 0.25, 0.0)], section, n)
        ends = [(-0.1, at, 2.4 * RADIUS), (0.25, at + 0.01, 2.6 * RADIUS)]
        model.add_rod(f"high {k}", ends, section, n, velocity=(0.2, 0.0, -0.5))
    model.add_contact("all", list(model.rods.values()), stiffness=3e6, stations=4)
    return model


def listed(model: Model, h: float) -> tuple[Built, Numbering]:
    """The built model, the initial list of pairs, and the numbering of its steps."""
    built = model.build()
    stepper = ContactStepper(built.system, h, lambda system: Stepper(system, h))
    inner = stepper._list_of(stepper.start(built.state)).stepper
    return built._replace(system=inner.system), inner.numbering
