"""Shared models and helpers: solvers."""

from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.time.stepper import Stepper
from rodsim import Material, Model, Section
from rodsim.statics.load_factors import loading_of


def solver_of(kind):
    """A `Stepper` or `EquilibriumSystem` of a short rod."""
    model = Model("small", gravity=(0, 0, -9.81))
    rubber = Material(E=2e6, nu=0.45, density=1100)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], Section.circular(0.02, rubber), n_elements=3)
    model.add_joint("wall", "clamp", rod.start)
    built = model.build()
    if kind == "Stepper":
        return Stepper(built.system, 1e-3)
    return EquilibriumSystem(built.system, built.state, loading_of(model, built, {}, (), 0.0, {}))
