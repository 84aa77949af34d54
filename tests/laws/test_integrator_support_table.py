"""docs/reference/integrators.md: its table of supported models matches the program."""

import functools
import re

import numpy as np
import pytest

from discretization.internal_variables import without_neighbour_list
from discretization.time.contact_stepper import ContactStepper
from discretization.time.em_family import em_integrator
from discretization.time.mechanical_stepper import MechanicalStepper
from discretization.time.stepper import Stepper
from rigid.errors import ModelError
from rodsim import Box, Model, Section, Sphere
from rodsim.building.initial_velocities import fit_velocities
from tests.support import completeness
from tests.support.pages import DOCS

SOFT = Section.from_stiffness(
    EA=60.0, GA=40.0, GJ=3.0, EI=2.0, mass_per_length=1.5, inertia_per_length=(0.4, 0.2, 0.3)
)


def rod(mass):
    """A clamped rod without viscosity under its weight and a follower force."""
    model = Model("rod", gravity=(0, 0, -9.81))
    part = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 2, mass=mass)
    model.add_joint("clamp", "clamp", part.start)
    model.add_force("force", part.end, (0, 0.1, 0), following=True)
    return model


def damped():
    """A body on a damper."""
    model = Model("damped")
    body = model.add_body("body", Box(0.5, 0.3, 0.2, density=100.0))
    model.add_spring("damper", model.ground.at((0, 0, 1)), body.at((0, 0, 0)), 10.0, 1.0, damping=0.5)
    return model


def viscous():
    """A clamped viscous rod."""
    model = Model("viscous")
    material = Section.from_stiffness(
        EA=60.0,
        GA=40.0,
        GJ=3.0,
        EI=2.0,
        mass_per_length=1.5,
        inertia_per_length=(0.4, 0.2, 0.3),
        damping_time=0.01,
    )
    part = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], material, 2, mass="lumped")
    model.add_joint("clamp", "clamp", part.start)
    return model


def relaxing():
    """A clamped viscoelastic (relaxing) rod."""
    model = Model("relaxing")
    material = SOFT.with_relaxation(0.05, fraction=0.5)
    part = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], material, 2, mass="lumped")
    model.add_joint("clamp", "clamp", part.start)
    return model


def rod_under_pressure():
    """A clamped rod under one-sided pressure, which has no potential."""
    model = Model("pressed")
    part = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 2, mass="lumped")
    model.add_joint("clamp", "clamp", part.start)
    model.add_pressure("wind", part, 0.1, (0, 0, 1))
    return model


def redundant_four_bar():
    """A planar four-bar with four revolute joints."""
    model = Model("four bars")
    corners = [(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)]
    last = model.ground
    for k in range(3):
        middle = np.mean(corners[k : k + 2], axis=0)
        size = (0.1, 1.0, 0.1) if k != 1 else (1.0, 0.1, 0.1)
        bar = model.add_body(f"{k}", Box(*size, density=100.0), position=middle)
        model.add_joint(f"pin {k}", "revolute", last, bar, at=corners[k], axis=(0, 0, 1))
        last = bar
    model.add_joint("pin 3", "revolute", last, model.ground, at=corners[3], axis=(0, 0, 1))
    return model


def parts_on_floor(**loses):
    """A clamped and a free rod and a ball on a floor."""
    model = Model("lying", gravity=(0, 0, -9.81))
    part = model.add_rod("rod", [(0, 0, 0.1), (1, 0, 0.1)], SOFT, 2, mass="lumped")
    ball = model.add_body("ball", Sphere(0.1, density=100.0), position=(0, 1, 0.1))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("rod", part, floor, 1e4, radius=0.1, **loses)
    model.add_contact("ball", model.add_sphere("ball", ball, 0.1), floor, 1e4, **loses)
    return model


def parts_in_contact(**loses):
    """Two rods and a ball in contact."""
    model = Model("meeting")
    one = model.add_rod("one", [(0, 0, 0), (1, 0, 0)], SOFT, 2, mass="lumped")
    other = model.add_rod("other", [(0.5, -0.5, 0.2), (0.5, 0.5, 0.2)], SOFT, 2, mass="lumped")
    balls = [model.add_body(f"ball {k}", Sphere(0.1, density=9.0), (0.2 * k, 0, 0.2)) for k in (0, 1)]
    spheres = [model.add_sphere(body.name, body, 0.1) for body in balls]
    model.add_contact("rods", one, other, 1e4, radius=0.1, stations=2, **loses)
    model.add_contact("balls", spheres, stiffness=1e4, **loses)
    model.add_contact("both", spheres[0], one, 1e4, radius=0.1, **loses)
    return model


DISSIPATIVE = {"restitution": 0.5, "damping": 0.1, "friction": 0.3}
MODELS = {
    "bodies on joints of each kind, springs, bushings": completeness.joints,
    'rods with `mass="lumped"`, dead and following loads': lambda: rod("lumped"),
    'rods with `mass="mean"` (the default) or `"consistent"`': lambda: rod("mean"),
    "dampers, friction, external damping, limits that dissipate": damped,
    "viscous rods": viscous,
    "redundant joints": redundant_four_bar,
    "drives": completeness.drives,
    "driven frames": completeness.shaken,
    "gears": completeness.geared,
    "pressure": rod_under_pressure,
    "sections with relaxation": relaxing,
    "contact with planes, without losses": parts_on_floor,
    "contact of rods and spheres, without losses": parts_in_contact,
    "contact with planes, with restitution, damping, friction": lambda: parts_on_floor(**DISSIPATIVE),
    "contact of rods and spheres, with restitution, damping, friction": lambda: parts_in_contact(
        **DISSIPATIVE
    ),
}
TABLE = re.search(
    r"## Supported models\n.*?\n(\|.*?)\n\n",
    (DOCS / "reference" / "integrators.md").read_text("utf-8"),
    re.DOTALL,
)


def cells():
    """(model, integrator, documented entry)."""
    assert TABLE is not None
    head, _, *rows = (
        [c.strip() for c in line.strip("|").split(" | ")] for line in TABLE.group(1).splitlines()
    )
    for model_name, *documented in rows:
        for names, entry in zip(head[1:], documented, strict=True):
            for name in re.findall(r"`([^`]+)`", names):
                yield pytest.param(model_name, name, entry, id=f"{name}: {model_name}")


@functools.cache
def built_model(model_name):
    """A built model, and its state with consistent velocities."""
    built = MODELS[model_name]().build()
    return built, fit_velocities(built).state


def is_accepted(model_name, integrator):
    """Return whether a run could start."""
    built, fitted = built_model(model_name)
    em_scheme = em_integrator(integrator)
    state = built.state if em_scheme is not None else fitted
    chart = None if integrator in ("EML", "REML", "Null-EML", "EML-kappa", "MPL") else "quaternion-alpha"
    values = built.load_values, built.drive_values

    def make(system):
        if em_scheme is None:
            start_state = (
                state if system is built.system else without_neighbour_list(system, built.system, state)
            )
            return MechanicalStepper("model", system, start_state, 0.01, integrator, chart, *values)
        named = {"hidden": em_scheme.hidden, "drive_values": values[1], "rho": em_scheme.rho}
        return Stepper(system, 0.01, em_scheme.order, values[0], **named)

    try:
        if len(built.system.contacts.pairs):
            stepper = ContactStepper(built.system, 0.01, make)
            stepper._list_of(stepper.start(state))  # of the pairs in contact at this time
        else:
            make(built.system).start(state)
    except ModelError:
        return False
    return True


@pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")
@pytest.mark.parametrize(("model_name", "integrator", "documented"), cells() if TABLE else [])
def test_model_is_accepted_or_rejected_as_documented(model_name, integrator, documented):
    assert documented in ("yes", "no")
    assert is_accepted(model_name, integrator) == (documented == "yes")


def test_support_table_has_every_row():
    assert {param.values[0] for param in cells()} == set(MODELS)
