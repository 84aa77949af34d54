"""The table of docs/integrators.md that says which integrators take which models is what they do."""

import re

import numpy as np
import pytest
from pages import DOCS

from discretization.time.em_names import em_integrator
from discretization.time.mechanical_stepper import MechanicalStepper
from discretization.time.stepper import Stepper
from rigid.errors import ModelError
from rodsim import Box, Model, Section
from rodsim.building.initial_velocities import fit_velocities
from tests import completeness

SOFT = Section.from_stiffness(
    EA=60.0, GA=40.0, GJ=3.0, EI=2.0, mass_per_length=1.5, inertia_per_length=(0.4, 0.2, 0.3)
)


def rod(mass):
    """Clamped, without viscosity, under its weight and a following force."""
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
    """A clamped rod that is viscous."""
    model = Model("viscous")
    own = Section.from_stiffness(
        EA=60.0,
        GA=40.0,
        GJ=3.0,
        EI=2.0,
        mass_per_length=1.5,
        inertia_per_length=(0.4, 0.2, 0.3),
        damping_time=0.01,
    )
    part = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], own, 2, mass="lumped")
    model.add_joint("clamp", "clamp", part.start)
    return model


def relaxing():
    """A clamped rod that relaxes."""
    model = Model("relaxing")
    own = SOFT.with_relaxation(0.05, fraction=0.5)
    part = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], own, 2, mass="lumped")
    model.add_joint("clamp", "clamp", part.start)
    return model


def pressed():
    """A clamped rod under pressure from one side, which has no potential."""
    model = Model("pressed")
    part = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 2, mass="lumped")
    model.add_joint("clamp", "clamp", part.start)
    model.add_pressure("wind", part, 0.1, (0, 0, 1))
    return model


def repeating():
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


MODELS = {
    "bodies on joints of each kind, springs, bushings": completeness.joints,
    'rods with `mass="lumped"`, dead and following loads': lambda: rod("lumped"),
    'rods with `mass="mean"` (the default) or `"consistent"`': lambda: rod("mean"),
    "dampers, friction, external damping, limits that dissipate": damped,
    "viscous rods": viscous,
    "joints that repeat each other": repeating,
    "drives": completeness.drives,
    "driven frames": completeness.shaken,
    "gears": completeness.geared,
    "pressure": pressed,
    "sections that relax": relaxing,
}
TABLE = re.search(
    r"## Which takes what\n.*?\n(\|.*?)\n\n", (DOCS / "integrators.md").read_text("utf-8"), re.DOTALL
)


def cells():
    """(model, integrator, what the table says)."""
    assert TABLE is not None
    head, _, *rows = (
        [c.strip() for c in line.strip("|").split(" | ")] for line in TABLE.group(1).splitlines()
    )
    for what, *said in rows:
        for names, word in zip(head[1:], said, strict=True):
            for name in re.findall(r"`([^`]+)`", names):
                yield pytest.param(what, name, word, id=f"{name}: {what}")


def taken(model, integrator):
    """Whether a run could begin."""
    built = model.build()
    own = em_integrator(integrator)
    try:
        if own is not None:
            Stepper(
                built.system,
                0.01,
                own.order,
                built.load_values,
                hidden=own.hidden,
                drive_values=built.drive_values,
                rho=own.rho,
            ).start(built.state)
        else:
            alpha = (
                None if integrator in ("EML", "REML", "Null-EML", "EML-kappa", "MPL") else "quaternion-alpha"
            )
            state = fit_velocities(built).state
            MechanicalStepper(
                "model",
                built.system,
                state,
                0.01,
                integrator,
                alpha,
                built.load_values,
                built.drive_values,
            ).start(state)
    except ModelError:
        return False
    return True


@pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")
@pytest.mark.parametrize(("what", "integrator", "said"), cells() if TABLE else [])
def test_a_model_is_taken_or_refused_as_the_table_says(what, integrator, said):
    assert said in ("yes", "no")
    assert taken(MODELS[what](), integrator) == (said == "yes")


def test_the_table_has_every_row():
    assert {param.values[0] for param in cells()} == set(MODELS)
