"""Springs and dampers with laws and limits: compared with known solutions, and invariants of a run."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from discretization.system import fingerprint
from rigid.interactions.laws import law_force, law_numbers, law_quotient, law_value, steepest
from rodsim import Box, Model, ModelError, SpringLaw, audit, simulate

EXACT = 1e-11  # of an energy balance, relative to the energy exchanged


def laws():
    x = np.array([-2.0, -0.5, 0.0, 0.3, 1.1, 3.0])
    force = np.array([-3.0, 1.0, 0.0, -2.0, 4.0, 4.5])  # not monotonic
    return {
        "monotone": SpringLaw.table(x, force),
        "smooth": SpringLaw.table(x, force, "smooth"),
        "straight": SpringLaw.table(x, force, "straight"),
        "function": SpringLaw.function(lambda x: np.sin(3 * x) + x**3, -1.0, 1.5, 1e-8),
        "polynomial": SpringLaw.polynomial([1.0, -2.0, 0.0, 0.5]),
        "limit": SpringLaw.limit(40.0, 0.2, -0.7, 0.9),
        "upper": SpringLaw.limit(40.0, 0.2, upper=0.9),
    }


@pytest.mark.parametrize("name", laws())
def test_law_potential_is_the_integral_of_its_force(name):
    """Also beyond the table; the quotient is their ratio to the last digit of the sum."""
    law = laws()[name]
    numbers = law_numbers(name, law.pieces)
    for x0, x1 in ((-0.6, 1.2), (-2.5, 3.5), (1.0, -4.0), (0.2, 0.21), (5.0, 5.5)):
        change = law_value(numbers, 0, x1 + 0j) - law_value(numbers, 0, x0 + 0j)
        inside = [x for x in law.pieces.x if min(x0, x1) < x < max(x0, x1)]
        integral = quad(law, x0, x1, points=inside or None, epsabs=1e-12, limit=400)[0]
        assert change.real == pytest.approx(integral, rel=1e-10, abs=1e-9 * steepest(numbers))
        assert (law_quotient(numbers, 0, x0 + 0j, x1 + 0j) * (x1 - x0)).real == pytest.approx(
            integral, rel=1e-10, abs=1e-9
        )


@pytest.mark.parametrize("name", laws())
def test_quotient_of_a_short_step_is_the_force(name):
    """Without loss of precision, also across knots."""
    law = laws()[name]
    numbers = law_numbers(name, law.pieces)
    knots = law.pieces.x[:: 1 + len(law.pieces.x) // 40]  # of a finely sampled function not all
    for x in (*knots, law.pieces.x[-1], 0.123, -7.0, 7.0):
        for step in (0.0, 1e-15, -1e-13, 1e-9):
            force = law_quotient(numbers, 0, x + 0j, x + step + 0j).real
            size = 1.0 + abs(law(x))
            assert force == pytest.approx(float(law(x)), abs=(1e-13 + abs(step) * steepest(numbers)) * size)
        assert law_force(numbers, 0, x + 0j).real == pytest.approx(float(law(x)), rel=1e-13, abs=1e-12)


def test_sampled_function_meets_its_stated_accuracy():
    law = SpringLaw.function(np.sin, -2.0, 2.0, 1e-7)
    x = np.linspace(-2.0, 2.0, 999)
    assert 0.0 < law.error < 1e-7
    assert np.abs(law(x) - np.sin(x)).max() < 1.5 * law.error


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SpringLaw.function(np.sign, -1.0, 1.3), r"4096 cubics.*give its pieces as tables"),
        (lambda: SpringLaw.table([0.0, 0.0], [1.0, 2.0]), r"x = 0 follows 0; let x increase"),
        (lambda: SpringLaw.table([0.0], [1.0]), r"1 values of x and 1 forces; give two or more"),
        (lambda: SpringLaw.limit(1.0, 0.1), r"neither lower nor upper"),
        (lambda: SpringLaw.limit(1.0, 0.1, 2.0, 1.0), r"lower = 2 is not below upper = 1"),
        (lambda: SpringLaw.polynomial([1, 2, 3, 4, 5]), r"5 coefficients; give one to four"),
    ],
)
def test_invalid_spring_law_is_rejected(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_damper_law_with_negative_damping_is_rejected():
    model = Model("pushed")
    body = model.add_body("body", Box(1, 1, 1, mass=1.0))
    with pytest.raises(ModelError, match=r"spring 'd': at the rate .* its damper pushes along"):
        model.add_spring("d", model.ground.at((2, 0, 0)), body, damping=SpringLaw.polynomial([0.0, -1.0]))
    with pytest.raises(ModelError, match=r"spring 'd': its damper has the force 1 at rest"):
        model.add_spring(
            "d", model.ground.at((2, 0, 0)), body, damping=SpringLaw.polynomial([1.0, 0, 0, 0.0])
        )


def pendulum(add):
    model = Model("pendulum", gravity=(0, -9.81, 0))
    body = model.add_body(
        "body", Box(0.2, 1.0, 0.1, density=300), position=(0, -0.5, 0), angular_velocity=(0, 0, 5.0)
    )
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    add(model, body)
    return model


HARD = SpringLaw.table([-1.5, -0.5, 0.0, 0.5, 1.5], [-300.0, -20.0, 0.0, 20.0, 300.0])
GRIP = SpringLaw.table([-8.0, -1.0, 0.0, 1.0, 8.0], [-4.0, -2.0, 0.0, 2.0, 4.0])

KINDS = {
    "angle": {"along": "rotation", "axis": (0, 0, 1)},
    "displacement": {"along": "axis", "axis": (1, 0, 0)},
    "length": {},
}


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("coordinate", KINDS)
@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_springs_and_dampers_with_laws_keep_the_energy_balance(integrator, coordinate, damped):
    def add(model, body):
        model.add_spring(
            "spring",
            model.ground.at((0.3, -1.2, 0)),
            body.at((0, -0.5, 0)),
            law=HARD,
            damping=GRIP if damped else 0.0,
            **KINDS[coordinate],
        )

    result = simulate(pendulum(add), 2.0, 0.01, integrator)
    audit_report = audit(result)
    assert audit_report.ok
    assert audit_report.energy_balance < EXACT
    assert (result.dissipation[-1] > 1e-2 * audit_report.energy_scale) == damped
    assert np.all(np.diff(result.dissipation) >= 0.0)
    assert np.ptp(result.energy["spring"]) > 1e-2 * audit_report.energy_scale


def test_pendulum_with_hinge_laws_solves_its_equation():
    """Compare with scipy, to order 2."""

    def add(model, body):
        model.add_spring(
            "spring", model.ground, body, law=HARD, damping=GRIP, along="rotation", axis=(0, 0, 1)
        )

    m, J = 6.0, 6.0 * (0.2**2 + 1.0) / 12 + 6.0 * 0.25

    def rate(t, y):
        return [y[1], (-m * 9.81 * 0.5 * np.sin(y[0]) - HARD(y[0]) - GRIP(y[1])) / J]

    exact = solve_ivp(rate, (0, 1), [0.0, 5.0], rtol=1e-11, atol=1e-12, max_step=0.01).y[0, -1]
    errors = []
    for h in (0.02, 0.01, 0.005):
        x, y, _ = simulate(pendulum(add), 1.0, h).body("body").r[-1]
        errors.append(abs(np.arctan2(x, -y) - exact))
    assert errors[-1] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.15)


LINEAR = {"angle": {"along": "rotation", "axis": (0, 0, 1), "angle": 0.3}, "length": {"length": 0.3}}


@pytest.mark.parametrize("coordinate", LINEAR)
def test_linear_law_equals_a_linear_spring(coordinate):
    straight, damper = SpringLaw.polynomial([-30.0, 100.0]), SpringLaw.polynomial([0.0, 2.0])
    ends = []
    for options in (
        {"law": straight, "damping": damper, **KINDS[coordinate]},
        {"stiffness": 100.0, "damping": 2.0, **LINEAR[coordinate]},
    ):

        def add(model, body, arguments=options):
            a, b = model.ground, body
            if coordinate == "length":
                a, b = model.ground.at((0.3, -1.2, 0)), body.at((0, -0.5, 0))
            model.add_spring("spring", a, b, **arguments)

        ends.append(simulate(pendulum(add), 1.0, 0.01).body("body").r)
    assert np.abs(ends[0] - ends[1]).max() < 1e-10


def test_limit_stops_reverse_a_pendulum_and_conserve_energy():
    """The pendulum swings freely between the stops, which stop it within the range of its energy and without loss."""

    def add(model, body):
        model.add_limit("stop", model.ground, body, 2e4, 0.01, -0.3, 0.4, axis=(0, 0, 1))

    result = simulate(pendulum(add), 3.0, 2e-3, output_every=1)
    x, y, _ = result.body("body").r.T
    angle = np.arctan2(x, -y)
    energy = result.energy
    free = (angle > -0.3) & (angle < 0.4)
    assert audit(result).energy_balance < EXACT
    assert np.all(energy["spring"][free] == 0.0)
    assert energy["spring"].max() > 0.8 * energy["kinetic"].max()
    reach = np.sqrt(2 * energy["kinetic"].max() / 2e4) + 0.01
    assert -0.3 - reach < angle.min() < -0.3 < 0.4 < angle.max() < 0.4 + reach
    assert (np.diff(np.sign(np.diff(angle))) != 0).sum() > 5


def test_system_without_interactions_keeps_its_older_fingerprint():
    """Runs of older files can be resumed: new fields count only if they are present."""

    def add(model, body):
        model.add_limit("stop", model.ground, body, 2e4, 0.01, -0.3, 0.4, axis=(0, 0, 1))

    bare, stopped = (pendulum(f).build().system for f in (lambda model, body: None, add))
    assert fingerprint(bare) == "5a10465e58886013b274fed239279a3ae1c44b1e191ca36706751704ea08e3d6"
    assert fingerprint(stopped) != fingerprint(bare)
