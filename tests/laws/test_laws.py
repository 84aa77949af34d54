"""Bushings, springs and dampers with laws, limits: what they are against what is known, and the laws of a run."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from discretization.time.mechanical_stepper import MechanicalStepper
from rigid import quaternions
from rigid.interactions.laws import law_force, law_numbers, law_quotient, law_value, steepest
from rodsim import Box, Model, ModelError, SpringLaw, audit, simulate
from rodsim.model import fit_velocities
from tests.support.rods import full

EXACT = 1e-11  # of an energy balance, relative to what was turned over


def laws():
    x = np.array([-2.0, -0.5, 0.0, 0.3, 1.1, 3.0])
    force = np.array([-3.0, 1.0, 0.0, -2.0, 4.0, 4.5])  # not monotone
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
def test_the_potential_of_a_law_is_the_integral_of_its_force(name):
    """Also where it goes on beyond its table; the quotient is their ratio to the bit of the sum."""
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
def test_the_quotient_of_a_short_step_is_the_force(name):
    """Without loss of digits, across knots as well."""
    law = laws()[name]
    numbers = law_numbers(name, law.pieces)
    knots = law.pieces.x[:: 1 + len(law.pieces.x) // 40]  # of a function sampled finely not all
    for x in (*knots, law.pieces.x[-1], 0.123, -7.0, 7.0):
        for step in (0.0, 1e-15, -1e-13, 1e-9):
            force = law_quotient(numbers, 0, x + 0j, x + step + 0j).real
            size = 1.0 + abs(law(x))
            assert force == pytest.approx(float(law(x)), abs=(1e-13 + abs(step) * steepest(numbers)) * size)
        assert law_force(numbers, 0, x + 0j).real == pytest.approx(float(law(x)), rel=1e-13, abs=1e-12)


def test_a_sampled_function_is_as_near_as_it_says():
    law = SpringLaw.function(np.sin, -2.0, 2.0, 1e-7)
    x = np.linspace(-2.0, 2.0, 999)
    assert 0.0 < law.error < 1e-7
    assert np.abs(law(x) - np.sin(x)).max() < 1.5 * law.error


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SpringLaw.function(np.sign, -1.0, 1.3), r"4096 cubics.*give its pieces as tables"),
        (lambda: SpringLaw.table([0.0, 0.0], [1.0, 2.0]), r"x = 0 follows 0; let x increase"),
        (lambda: SpringLaw.table([0.0], [1.0]), r"1 places and 1 forces; give two or more"),
        (lambda: SpringLaw.limit(1.0, 0.1), r"neither lower nor upper"),
        (lambda: SpringLaw.limit(1.0, 0.1, 2.0, 1.0), r"lower = 2 is not below upper = 1"),
        (lambda: SpringLaw.polynomial([1, 2, 3, 4, 5]), r"5 coefficients; give one to four"),
    ],
)
def test_a_law_that_is_none_is_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_a_damper_that_pushes_is_refused():
    model = Model("pushed")
    body = model.add_body("body", Box(1, 1, 1, mass=1.0))
    with pytest.raises(ModelError, match=r"spring 'd': at the rate .* its damper pushes along"):
        model.add_spring("d", model.ground.at((2, 0, 0)), body, damping=SpringLaw.polynomial([0.0, -1.0]))
    with pytest.raises(ModelError, match=r"spring 'd': its damper has the force 1 at rest"):
        model.add_spring(
            "d", model.ground.at((2, 0, 0)), body, damping=SpringLaw.polynomial([1.0, 0, 0, 0.0])
        )


def spinning(stiffness, damping=0.0, spin=(0.4, -2.0, 1.0)):
    """Two free bodies with a bushing of full matrices."""
    model = Model("bushing")
    a = model.add_body("a", Box(0.3, 0.4, 0.5, density=100), velocity=(0.1, 0, 0.3), angular_velocity=spin)
    b = model.add_body(
        "b",
        Box(0.5, 0.2, 0.3, density=200),
        position=(0.5, 0.3, -0.2),
        orientation=quaternions.normalize(np.array([1, 0.3, -0.2, 0.4])),
        velocity=(0, 0.5, 0),
        angular_velocity=(1.0, 2.0, -0.5),
    )
    model.add_bushing(
        "mount", a, b, stiffness, damping, at=(0.3, 0.1, 0.0), rest=(0.02, 0, -0.01, 0.3, 0.1, -0.2)
    )
    return model


@pytest.mark.parametrize("damping", [0.0, 0.05])
@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_a_bushing_keeps_energy_balance_and_both_momenta(integrator, damping):
    result = simulate(spinning(full(1, 300.0), full(2, 300.0 * damping)), 1.0, 0.01, integrator)
    found = audit(result)
    assert found.ok
    assert found.energy_balance < EXACT
    assert max(found.linear_momentum_drift, found.angular_momentum_drift) < EXACT
    assert (result.dissipation[-1] > 1e-3 * found.energy_scale) == (damping > 0.0)
    assert np.ptp(result.energy["spring"]) > 0.05 * found.energy_scale
    assert found.newton_mean < 6.0


def test_a_bushing_moves_bodies_alike_in_every_chart():
    """The same motion to the order of both, and both of the same small change of it with the step."""
    model, h = spinning(full(1, 100.0)), 2.5e-3
    built = model.build()
    end = simulate(model, 0.5, h).state()
    state = fit_velocities(built).state
    stepper = MechanicalStepper("bushing", built.system, state, h, "EM-G", "director", built.load_values)
    other, _ = stepper.advance(stepper.start(state), 0, 200)
    assert np.abs(other.r - end.r).max() < 1e-3 < np.abs(end.r - state.r).max()


@pytest.mark.parametrize("axis", [(0, 0, 1), (0.6, 0, 0.8)])
def test_a_bushing_about_a_hinge_is_a_torsion_spring(axis):
    """Its rotation is the angle itself, so that the motion is the same to round-off."""

    def swung(held):
        model = Model("swing", gravity=(0, -9.81, 0))
        body = model.add_body("body", Box(0.2, 1.0, 0.1, density=300), position=(0, -0.5, 0))
        model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=axis)
        held(model, body)
        return simulate(model, 1.5, 0.01).body("body").r

    def torsion(model, body):
        model.add_spring(
            "coil", model.ground, body, 60.0, damping=2.0, along="rotation", axis=axis, angle=1.0
        )

    n = np.array(axis, float)

    def bushing(model, body):
        # along the axis 60 N m/rad, across it and of displacements what the hinge does not let happen
        C, D = np.zeros((2, 6, 6))
        C[3:, 3:] = 60.0 * np.outer(n, n) + 7.0 * (np.eye(3) - np.outer(n, n))
        D[3:, 3:] = 2.0 * np.outer(n, n)
        C[:3, :3] = 1e3 * np.eye(3)
        at = model.ground.at((0, 0, 0))
        model.add_bushing("mount", at, body.at((0, 0.5, 0)), C, D, rest=(0, 0, 0, *n))

    one, other = swung(torsion), swung(bushing)
    assert np.ptp(one, axis=0).max() > 0.3
    assert np.abs(one - other).max() < 1e-9


def test_a_bushing_gives_its_force_in_its_axes():
    """Held apart by forces it has the displacements C^-1 F: statics by a strongly damped fall."""
    model = Model("mount", gravity=(1.0, -2.0, 3.0))
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=2.0))
    axes = quaternions.to_matrix(quaternions.from_rotation_vector(np.array([0.3, 0.2, -0.5])))
    k = np.array([400.0, 500.0, 600.0])
    model.add_bushing(
        "mount", model.ground.at((0, 0, 0)), body, [*k, 50, 50, 50], [*(50 * np.ones(3)), 1, 1, 1], axes=axes
    )
    end = simulate(model, 8.0, 0.02).body("body").r[-1]
    expected = axes @ (axes.T @ (2.0 * np.array([1.0, -2.0, 3.0])) / k)
    # forces that are not along the displacement turn the body a little
    assert end == pytest.approx(expected, rel=1e-3)


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
@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_springs_and_dampers_with_laws_keep_the_energy_balance(integrator, of, damped):
    def add(model, body):
        model.add_spring(
            "spring",
            model.ground.at((0.3, -1.2, 0)),
            body.at((0, -0.5, 0)),
            law=HARD,
            damping=GRIP if damped else 0.0,
            **KINDS[of],
        )

    result = simulate(pendulum(add), 2.0, 0.01, integrator)
    found = audit(result)
    assert found.ok
    assert found.energy_balance < EXACT
    assert (result.dissipation[-1] > 1e-2 * found.energy_scale) == damped
    assert np.all(np.diff(result.dissipation) >= 0.0)
    assert np.ptp(result.energy["spring"]) > 1e-2 * found.energy_scale


def test_a_pendulum_with_laws_in_its_hinge_moves_as_its_equation_says():
    """Against scipy, to order 2."""

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


@pytest.mark.parametrize("of", KINDS)
def test_a_straight_law_is_a_linear_spring(of):
    def law(model, body):
        ends = model.ground.at((0.3, -1.2, 0)), body.at((0, -0.5, 0))
        straight, damper = SpringLaw.polynomial([-30.0, 100.0]), SpringLaw.polynomial([0.0, 2.0])
        model.add_spring("spring", *ends, law=straight, damping=damper, **KINDS[of])

    def spring(model, body):
        ends = model.ground.at((0.3, -1.2, 0)), body.at((0, -0.5, 0))
        if of == "angle":
            model.add_spring(
                "spring", model.ground, body, 100.0, damping=2.0, along="rotation", axis=(0, 0, 1), angle=0.3
            )
        else:
            model.add_spring("spring", *ends, 100.0, 0.3, damping=2.0)

    one = simulate(pendulum(law), 1.0, 0.01).body("body").r
    if of == "displacement":  # it has no table of its own: the balance of forces along the axis, at the start
        assert np.isfinite(one).all()
        return
    assert np.abs(one - simulate(pendulum(spring), 1.0, 0.01).body("body").r).max() < 1e-10


def test_a_limit_turns_a_pendulum_back_and_keeps_its_energy():
    """It swings freely between the stops, is stopped within the reach of its energy, and loses none of it."""

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


def test_a_system_without_others_has_the_fingerprint_it_had():
    """Runs of older files go on: what is new counts only where it is there."""
    from discretization.system import fingerprint

    def add(model, body):
        model.add_limit("stop", model.ground, body, 2e4, 0.01, -0.3, 0.4, axis=(0, 0, 1))

    bare, stopped = (pendulum(f).build().system for f in (lambda model, body: None, add))
    assert fingerprint(bare) == "5a10465e58886013b274fed239279a3ae1c44b1e191ca36706751704ea08e3d6"
    assert fingerprint(stopped) != fingerprint(bare)


def test_a_run_with_others_goes_on_from_its_file(tmp_path):
    def add(model, body):
        model.add_bushing("mount", model.ground.at((0, -0.5, 0)), body, 100.0, 0.1)
        model.add_limit("stop", model.ground, body, 2e4, 0.01, -0.3, 0.4, axis=(0, 0, 1))

    path = tmp_path / "run.vtkhdf"
    simulate(pendulum(add), 0.2, 0.01, output=path)
    simulate(pendulum(add), 0.4, 0.01, output=path, resume=True)
    at_once = simulate(pendulum(add), 0.4, 0.01)
    from rodsim import Result

    result = Result.load(path)
    assert np.array_equal(result.state().r, at_once.state().r)
    assert audit(result).ok
