"""Every scheme conserves its declared invariants with every joint kind, in every chart it supports."""

from functools import cache

import numpy as np
import pytest

from discretization.consistent_velocities import project_velocities
from discretization.time.integrate import integrate
from discretization.time.integrators import parse
from discretization.time.invariants import INVARIANTS, declared_invariants
from discretization.time.mechanical_stepper import system_in_chart
from discretization.time.symplecticity import symplectic_defect
from rigid.joints import JOINTS
from rodsim import Box, audit, simulate
from rodsim.papers import joined_bodies
from rodsim.papers.scheme_properties import CHARTS
from tests.support.mechanisms import joined

H = 0.005  # variational schemes have no solution beyond some step
STEPS = 4  # an invariant that is not conserved changes by more than this with each joint
TOLERANCE = 5e-12  # round-off of this many steps, which EML's reductions divide by the step
SLOW = ("order=", "mG(2", "GL-SPARK(3)", "GL-SPARK(2)", "Lobatto-IIIA-B")


def two_tumbling_bodies(kind):
    """Two joined tumbling bodies with a spring next to the joint; with a clamp the second body is attached to the first."""
    model = joined(kind)
    a = model.bodies["a"]
    if kind == "clamp":
        r = np.add(a.position, (0.5, 0.1, 0.2))
        b = model.add_body("b", Box(0.5, 0.2, 0.3, density=200), position=r, angular_velocity=(1, -2, 3))
        model.add_joint("ball", "spherical", a, b, at=a.position)
    b = model.bodies["b"]
    model.add_spring("cord", a.at((0.4, 0.1, 0.2)), b.at((0.3, -0.2, 0.4)), stiffness=300.0, length=0.5)
    return model


@cache
def chart_system(kind, chart):
    system, state, *_ = two_tumbling_bodies(kind).build()
    return system_in_chart(kind, system, project_velocities(system, state)[0], CHARTS.get(chart, chart))


def invariant_errors(kind, integrator, chart, steps=STEPS):
    """Return for each declared invariant: relative changes of energies and momenta, the two-form, residuals g (m) and G v
    (m/s).
    """
    system, scheme = chart_system(kind, chart), parse(integrator)
    run = integrate(system, scheme, H, steps * H)
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.005
    size = run.kinetic()[0]

    def drift(values, size):
        return float(np.abs(values - values[0]).max() / size)

    def of_momentum(letter):
        maps = [run.momentum(s) for s in system.symmetries if s.name[0] == letter]
        return max((drift(J, np.abs(maps).max()) for J in maps), default=0.0)

    defects = {
        "generalised energy": drift(run.generalised_energy(), size),
        "linear momentum": of_momentum("P"),
        "angular momentum": of_momentum("L"),
        "position": float(run.position_residual().max()),
    }
    promised = declared_invariants(integrator, CHARTS.get(chart, chart), curved=kind == "screw")
    if chart != "singular":
        defects["energy"] = drift(run.hamiltonian(), size)
        defects["velocity"] = float(run.velocity_residual()[1:].max())
    if "symplectic" in promised:
        defects["symplectic"] = symplectic_defect(system, scheme, H, steps=1, count=3)
    if kind == "clamp":  # it connects them to the ground
        promised = promised - {"linear momentum", "angular momentum"}
    return defects, promised


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize(
    ("integrator", "chart"),
    [
        pytest.param(*row[:2], marks=pytest.mark.slow if any(word in row[0] for word in SLOW) else ())
        for row in joined_bodies.ROWS
    ],
)
def test_declared_invariants_are_conserved_with_every_joint(integrator, chart, kind):
    defects, promised = invariant_errors(kind, integrator, chart)
    assert promised <= set(INVARIANTS)
    assert not {
        invariant: defects[invariant] for invariant in promised if not defects[invariant] <= TOLERANCE
    }


@pytest.mark.parametrize("integrator", ["mG(1)", "mG(2, 2)"])
def test_quadrature_does_not_satisfy_a_screw_constraint(integrator):
    """The constraint of a screw is not polynomial; the same scheme satisfies a slider. The error is small and grows with the
    motion.
    """
    of_screw, _ = invariant_errors("screw", integrator, "director", steps=20)
    of_slider, _ = invariant_errors("cylindrical", integrator, "director", steps=20)
    assert of_screw["velocity"] > 10 * TOLERANCE > 10 * of_slider["velocity"]


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize(
    "integrator", ["em", "em4", "em6", "em8", "em-ggl", "em4-ggl", "em8-ggl", "em-d(0.5)"]
)
def test_em_family_conserves_its_declared_invariants_with_every_joint(integrator, kind):
    audit_report = audit(
        simulate(two_tumbling_bodies(kind), STEPS * H, H, integrator, output_every=1, progress=False)
    )
    assert set(audit_report.invariants) == declared_invariants(integrator)
    assert audit_report.ok, audit_report.text()
    assert audit_report.energy_balance < TOLERANCE
    assert audit_report.constraint < TOLERANCE
    if "ggl" in integrator:
        assert audit_report.velocity_constraint < 10 * TOLERANCE


def geared_bodies():
    """A third body on the second, rotating with it."""
    model = two_tumbling_bodies("revolute")
    b = model.bodies["b"]
    c = model.add_body("c", Box(0.3, 0.2, 0.3, density=200), position=np.add(b.position, (0.4, 0.2, 0.1)))
    turning = model.add_joint(
        "turning", "revolute", b, c, at=np.add(b.position, (0.2, 0, 0)), axis=(0.6, 0, 0.8)
    )
    model.add_gear("gear", (next(iter(model.joints)), turning), (2.0, 1.0))
    return model


@pytest.mark.parametrize(("curved", "plain"), [("screw", "cylindrical"), ("gear", "revolute")])
def test_audit_of_models_with_angles_judges_their_invariants(curved, plain):
    """The constraints are not polynomial, so a quadrature does not satisfy them."""
    audits = {
        kind: audit(
            simulate(
                geared_bodies() if kind == "gear" else two_tumbling_bodies(kind),
                0.1,
                0.02,
                "mG(1)",
                chart="director",
                output_every=1,
            )
        )
        for kind in (curved, plain)
    }
    assert audits[curved].ok, audits[curved].text()
    assert audits[plain].ok
    assert set(audits[plain].invariants) - set(audits[curved].invariants) == {"position", "velocity"}
