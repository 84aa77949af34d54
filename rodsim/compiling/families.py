"""Tasks of `rodsim compile`: small models that are computed once, so that all kernels that they need are compiled and cached.

A task is named after what its kernels compute. Tasks that share many kernels are one task, since two processes would compile
these kernels twice. The functions import what they need when they are called: the command line needs only their names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rigid.inertia import MassProperties
    from rodsim import Model, Section
    from rodsim.components.model_parts import Body

DT, T_END = 1e-3, 2e-3  # two steps, s


def schemes() -> None:
    """Take steps in quaternions and directors with each scheme that accepts a model of any shape."""
    from discretization.time.families import FAMILIES
    from rodsim import ModelError, simulate

    for name, family in FAMILIES.items():
        numbers = ", ".join("2" if is_integer else "0.5" for is_integer in family.parameters.values())
        with contextlib.suppress(ModelError):
            simulate(_arm(), T_END, DT, f"{name}({numbers})" if numbers else name, progress=False)


def em() -> None:
    """Take steps of `em` with the general solver."""
    _general("em")


def em_ggl() -> None:
    """Take steps of `em-ggl`."""
    _general("em-ggl")


def em_d() -> None:
    """Take steps of `em-d`."""
    _general("em-d(0.8)")


def planar() -> None:
    """Take steps of bodies and rods in a plane."""
    from rodsim import simulate

    simulate(_pendulum(turned=0.0)[0], T_END, DT, progress=False)
    simulate(_cantilever(), T_END, DT, progress=False)


def trees() -> None:
    """Take steps of trees: bodies, then with rods, springs and loops of joints."""
    from rodsim import simulate

    simulate(_pendulum()[0], T_END, DT, progress=False)
    simulate(_arm(), T_END, DT, progress=False)
    model, upper = _pendulum()
    lower = model.add_body("lower", _box(), position=(1.0, 0, 0))
    model.add_joint("elbow", "revolute", upper, lower, axis=(0, 1, 0.2), at=(0.7, 0, 0))
    model.add_joint("bar", "distance", model.ground.at((1, 1, 1)), lower)
    model.add_spring("string", model.ground.at((1, 1, 0)), lower, stiffness=40.0, damping=1.0)
    simulate(model, T_END, DT, progress=False)


def contact() -> None:
    """Take steps of balls and a rod on the ground."""
    from rodsim import Model, Sphere, simulate

    model = Model("compiled", gravity=(0, 0, -9.81))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    lower, upper = (
        model.add_sphere(name, model.add_body(f"{name} ball", Sphere(0.1, density=1000), position=place), 0.1)
        for name, place in (("lower", (0, 0, 0.1)), ("upper", (0.05, 0, 0.29)))
    )
    model.add_contact("below", lower, floor, stiffness=1e5)
    model.add_contact("between", lower, upper, stiffness=1e5)
    simulate(model, T_END, DT, progress=False)
    model = Model("compiled", gravity=(0, 0, -9.81))
    floor = model.add_plane("floor", model.ground.at((0, 0, -0.019)), (0, 0, 1))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], _section(), n_elements=3)
    model.add_contact("below", rod, floor, stiffness=1e5, friction=0.3, radius=0.02)
    simulate(model, T_END, DT, progress=False)


def many_runs() -> None:
    """Take steps of eight models side by side."""
    from rodsim import simulate_many

    for turned in (0.5, 0.0):
        prepared = _pendulum(turned)[0].prepare(t_end=T_END, dt=DT, progress=False)
        simulate_many(prepared, [{}] * 8)


def statics() -> None:
    """Find equilibria, by load steps and along a path, and buckling loads."""
    from rodsim import ArcLength, equilibrium

    equilibrium(_arm(), progress=False)
    path = ArcLength(stop={"load_factor": (-0.5, 0.5)})
    equilibrium(_arm(), method=path, progress=False)


def modes() -> None:
    """Find an equilibrium and the modes about it."""
    from rodsim import equilibrium
    from rodsim import modes as modes_of

    model = _arm()
    modes_of(model, 3, start=equilibrium(model, progress=False))


def audits() -> None:
    """Audit a run of a rod and a body."""
    from rodsim import audit, simulate

    audit(simulate(_arm(), T_END, DT, progress=False))


# tasks by the names of their functions, those that take longest first
FAMILIES: dict[str, Callable[[], None]] = {
    task.__name__.replace("_", "-"): task
    for task in (schemes, em, planar, trees, contact, many_runs, em_ggl, em_d, statics, modes, audits)
}


def _general(integrator: str) -> None:
    """Take steps of a rod, a body and a spring with the general solver."""
    from rodsim import simulate

    simulate(_arm(), T_END, DT, integrator, solver="general", progress=False)


def _box() -> MassProperties:
    """Return the shape of the bodies."""
    from rodsim import Box

    return Box(0.3, 0.2, 0.1, density=100)


def _section() -> Section:
    """Return the section of the rods."""
    from rodsim import Section

    return Section.from_stiffness(
        EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
    )


def _pendulum(turned: float = 0.5) -> tuple[Model, Body]:
    """Return a body on a hinge and its model; planar if `turned`, the component of the axis out of the plane, is zero."""
    from rodsim import Model

    model = Model("compiled", gravity=(0, 0, -9.81))
    body = model.add_body("body", _box(), position=(0.5, 0, 0))
    model.add_joint("pin", "revolute", model.ground, body, axis=(0, 1, turned), at=(0, 0, 0))
    return model, body


def _cantilever() -> Model:
    """Return a clamped rod, which is planar."""
    from rodsim import Model

    model = Model("compiled", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], _section(), n_elements=3)
    model.add_joint("clamp", "clamp", rod.start)
    return model


def _arm() -> Model:
    """Return a clamped rod with a body, a spring and loads, which is not planar."""
    from rodsim import Model

    model = Model("compiled", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.2, 0.1)], _section(), n_elements=3, mass="lumped")
    body = model.add_body("body", _box(), position=(1.1, 0.3, 0.1))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_joint("pin", "revolute", rod.end, body, axis=(0, 1, 0))
    model.add_spring("string", model.ground.at((0, 1, 0)), body.at((0, 0.1, 0)), stiffness=40.0)
    model.add_force("push", rod.end, (0, 1, 0))
    model.add_moment("twist", rod.end, (0.1, 0, 0))
    return model
