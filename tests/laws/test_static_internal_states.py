"""Internal states of user kinds and relaxing sections in statics: equilibria, small motions, compositions."""

import itertools

import numpy as np
import pytest

import rodsim
from discretization.linearisation import eigen
from discretization.linearisation.internal_states import Slopes, condense_states
from rigid.errors import ModelError
from rodsim import Model, Section, actuators, audit, buckling, equilibrium, linearise, modes, simulate
from rodsim.interactions import minus, norm, push, times
from rodsim.linear import ForceInput, JointForceOutput, MotionOutput, frequency_response, state_space
from rodsim.mechanics import integrate
from tests.support.completeness import NUMBERS
from tests.support.state_kind_models import (
    BRICK,
    BY_LAG,
    BY_SERVO,
    MASS,
    NO_WEIGHT,
    REST,
    TAU,
    H,
    I,
    K,
    P,
    spinning,
)
from tests.support.state_kinds import BEAD, LAG, SERVO, length, pull, settled

pytestmark = pytest.mark.filterwarnings(
    "ignore::rigid.errors.InitialVelocityWarning",
    "ignore::rodsim.components.model_warnings.ModelCheckWarning",
)
SPRING = 40.0
PULL = 2.0  # N/kg, along the rail


@rodsim.interaction("Maxwell branch", frames=2, numbers=("k", "tau"), states=("q",))
class MAXWELL:
    """A spring k and a dashpot k tau in series, q the elastic change of length: q' = l' - q/tau."""

    def value(y, q, X):
        return 0.5 * X[0] * q[0] * q[0]

    def evolve(y0, y1, q0, q1, h, X, out):
        l0, l1 = norm(minus(y0[1, 0], y0[0, 0])), norm(minus(y1[1, 0], y1[0, 0]))
        out[0] = (q1[0] - q0[0] - (l1 - l0)) / h + 0.5 * (q0[0] + q1[0]) / X[1]

    def step_dual(y0, y1, q0, q1, h, X, out):
        pull(y0, y1, X[0] * 0.5 * (q0[0] + q1[0]), out)


@rodsim.interaction("oscillator", frames=2, numbers=("k", "rest"), states={"x": 2})
class OSCILLATOR:
    """A mass of 1 kg on the line between both anchors, on a spring of 7 N/m, and on a second one of stiffness k to the far
    anchor.
    """

    def evolve(y0, y1, x0, x1, h, X, out):
        x, p = 0.5 * (x0[0] + x1[0]), 0.5 * (x0[1] + x1[1])
        out[0] = (x1[0] - x0[0]) - h * p
        out[1] = (x1[1] - x0[1]) - h * (X[0] * (length(y0, y1) - X[1] - x) - 7.0 * x)

    def step_dual(y0, y1, x0, x1, h, X, out):
        pull(y0, y1, X[0] * (length(y0, y1) - X[1] - 0.5 * (x0[0] + x1[0])), out)


def body_on_rail(kind, spring: float = 0.0, **numbers) -> Model:
    """A body on a rail along x that is connected to a point at the origin; spring: a parallel one, N/m."""
    model = Model("railed", gravity=(PULL, 0, 0))
    body = model.add_body("body", BRICK, position=(REST, 0, 0))
    model.add_joint("rail", "prismatic", model.ground, body, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_interaction("hold", kind, model.ground, body, **numbers)
    if spring:
        model.add_spring("spring", model.ground.at((0, 0, 0)), body.at((0, 0, 0)), spring, REST)
    return model


WEIGHT = PULL * MASS
# models, the equilibrium position and the states
RESTING = {
    "filter": (lambda: body_on_rail(LAG, k=K, tau=TAU, rest=1.6, x=0.3), 1.6 + WEIGHT / K, [WEIGHT / K]),
    "branch": (lambda: body_on_rail(MAXWELL, SPRING, k=30.0, tau=0.3, q=0.1), REST + WEIGHT / SPRING, [0.0]),
    "oscillator": (
        lambda: body_on_rail(OSCILLATOR, k=21.0, rest=1.0, x=[0.2, -0.4]),
        1.0 + WEIGHT / 21.0 + WEIGHT / 7.0,
        [WEIGHT / 7.0, 0.0],
    ),
}


@pytest.mark.parametrize("which", RESTING)
def test_equilibrium_of_internal_states_has_zero_rates(which):
    make, place, states = RESTING[which]
    static_solution = equilibrium(make())
    assert static_solution.state().r[1] == pytest.approx([place, 0, 0], abs=1e-12)
    assert settled(static_solution)[-1] == pytest.approx(states, abs=1e-12)
    checked = audit(static_solution)
    assert checked.ok, checked.text()
    result = simulate(make(), 0.2, H, start=static_solution, output_every=1, progress=False)
    assert np.abs(result.states(slice(None)).r[:, 1] - static_solution.state().r[1]).max() < 1e-13
    assert np.abs(settled(result) - states).max() < 1e-13


def test_undetermined_static_state_is_named():
    make = lambda: body_on_rail(SERVO, P=P, I=I, target=REST, x=0.0)  # noqa: E731
    for ask in (equilibrium, buckling):
        with pytest.raises(ModelError, match="interaction 'hold': at rest its state 'x' is not determined"):
            ask(make())


def maxwell_eigenvalues(mass, spring, k, tau):
    """Eigenvalues of a mass on a spring with a parallel Maxwell branch: (m s^2 + c)(1 + s tau) + k s tau = 0."""
    return np.roots([mass * tau, mass, (spring + k) * tau, spring])


def one_of_each_pair(values):
    """One of each conjugate pair, sorted by size."""
    values = np.asarray(values)
    values = values[values.imag > -1e-9]
    return values[np.argsort(np.abs(values))]


SMALL = {
    "filter": (lambda: body_on_rail(LAG, k=K, tau=TAU, rest=1.6, x=0.0), np.linalg.eigvals(BY_LAG)),
    "control": (
        lambda: body_on_rail(SERVO, P=P, I=I, target=REST, x=WEIGHT / I),
        np.linalg.eigvals(BY_SERVO),
    ),
    "branch": (
        lambda: body_on_rail(MAXWELL, SPRING, k=30.0, tau=0.3, q=0.0),
        maxwell_eigenvalues(MASS, SPRING, 30.0, 0.3),
    ),
    "oscillator": (
        lambda: body_on_rail(OSCILLATOR, k=21.0, rest=1.0, x=[0.0, 0.0]),
        np.linalg.eigvals([[0, 1, 0, 0], [-21 / MASS, 0, 21 / MASS, 0], [0, 0, 0, 1], [21.0, 0, -28.0, 0]]),
    ),
}


@pytest.mark.parametrize("which", SMALL)
def test_small_motions_have_the_eigenvalues_of_the_states(which):
    make, expected = SMALL[which]
    state = None if which == "control" else equilibrium(make()).state()
    eigenvalues = modes(make(), 4, state).values
    assert one_of_each_pair(eigenvalues) == pytest.approx(one_of_each_pair(expected), rel=1e-9, abs=1e-9)
    model = make()
    along = model.bodies["body"].at((0, 0, 0)), (1.0, 0.0, 0.0)
    space = state_space(model, [ForceInput(*along)], [MotionOutput(*along)], state)
    assert one_of_each_pair(np.linalg.eigvals(space.A)) == pytest.approx(
        one_of_each_pair(expected), rel=1e-9, abs=1e-9
    )
    w = 2.7
    response = frequency_response(model, [ForceInput(*along)], [MotionOutput(*along)], [w], state)[0, 0, 0]
    of_space = space.C @ np.linalg.solve(1j * w * np.eye(len(space.A)) - space.A, space.B)
    assert response == pytest.approx(of_space[0, 0], rel=1e-10)
    if which == "branch":
        assert response == pytest.approx(
            1.0 / (SPRING - MASS * w * w + 30.0 * 0.3j * w / (1 + 0.3j * w)), rel=1e-10
        )


def test_mode_matches_the_simulated_small_motion():
    """Decay and frequency of the mode by the midpoint rule, (1 + s h/2)/(1 - s h/2) per step."""
    make = SMALL["branch"][0]
    static_solution = equilibrium(make())
    s = one_of_each_pair(modes(make(), 3, static_solution.state()).values)
    model = make()
    model.gravity = np.array([PULL * 1.001, 0.0, 0.0])  # displaced from the equilibrium
    result = simulate(model, 0.6, H, start=static_solution, output_every=1, progress=False)
    x = result.states(slice(None)).r[:, 1, 0]
    x = x - equilibrium(model).state().r[1, 0]
    factors = (1 + 0.5 * H * s) / (1 - 0.5 * H * s)
    basis = np.array([[f**n for f in (*factors, *factors[factors.imag > 0].conj())] for n in range(len(x))])
    amplitudes = np.linalg.lstsq(basis, x, rcond=None)[0]
    assert np.abs(x).max() > 1e-5
    assert np.abs(basis @ amplitudes - x).max() < 1e-5 * np.abs(x).max()


def test_bead_oscillates_across_its_line_and_is_free_along_it():
    model = Model("bead", gravity=NO_WEIGHT)
    body = model.add_body("body", BRICK, position=(0.4, 0, 0))
    model.add_interaction("line", BEAD, model.ground, body, k=200.0, s=0.1)
    computed_modes = modes(model, 6)
    assert sorted(computed_modes.kinds) == ["oscillates"] * 2 + ["rigid"] * 4
    assert computed_modes.omega[-2:] == pytest.approx([np.sqrt(200.0 / MASS)] * 2, rel=1e-10)


def cantilever(section, **options) -> Model:
    model = Model("cantilever", gravity=NO_WEIGHT)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 3, **options)
    model.add_joint("clamp", "clamp", rod.start)
    return model


LASTING = Section.from_stiffness(**NUMBERS)
RELAXING = LASTING.with_relaxation(0.2, fraction=0.5)


@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_modes_of_a_relaxing_rod_are_those_of_a_standard_linear_solid(damping):
    """Each elastic mode w with a proportional branch, ratio c: (s^2 + d w^2 s + w^2)(1 + s tau) + c w^2 s tau = 0."""
    section = Section.from_stiffness(**NUMBERS, damping_time=damping) if damping else LASTING
    relaxing = section.with_relaxation(0.2, fraction=0.5)
    elastic = modes(cantilever(LASTING), 3).omega
    spans = cantilever(relaxing).build().system.spans
    ratio = spans.branch[0, 0, 0] / spans.stiffness[0, 0, 0]
    viscous = spans.damping[0, 0, 0] / spans.stiffness[0, 0, 0]
    own_values = modes(cantilever(relaxing), 40).values
    assert ratio > 0.1
    for w in elastic:
        polynomial = np.polyadd(
            np.polymul([1.0, viscous * w * w, w * w], [0.2, 1.0]), [ratio * w * w * 0.2, 0.0]
        )
        for value in one_of_each_pair(np.roots(polynomial)):
            assert np.abs(own_values - value).min() < 1e-8 * abs(value)
    undamped = modes(cantilever(relaxing), 3, undamped=True)
    assert undamped.omega == pytest.approx(elastic, rel=1e-9)


def test_relaxing_rod_statics_equal_those_of_the_long_term_stiffness():
    results = []
    for section in (LASTING, RELAXING):
        model = cantilever(section)
        rod = model.rods["rod"]
        model.add_force("tip", rod.end, (-0.5, 0.0, 0.02))
        static_solution = equilibrium(model)
        results.append((static_solution.state(), buckling(model, 1, nonlinear=False).factors))
        if section is RELAXING:
            branch = static_solution.layout.internal.part(static_solution.state().internal, "branch")
            assert branch.size
            assert not branch.any()
            assert linearise(model, buckling(model, 1, nonlinear=False).states[0]).states is not None
    assert results[1][0].r == pytest.approx(results[0][0].r, abs=1e-12)
    assert results[1][1] == pytest.approx(results[0][1], rel=1e-10)


@pytest.mark.parametrize("integrator", ["em4", "em4-ggl"])
def test_compositions_with_a_bead_have_their_order_and_conserve_energy(integrator):
    ends = []
    for h in (0.025, 0.0125, 0.00625):
        result = simulate(spinning(), 0.1, h, integrator, output_every=1, progress=False)
        assert np.abs(result.energy["total"] - result.energy["total"][0]).max() < 1e-12
        assert np.abs(result.dissipation).max() < 1e-12
        ends.append(np.concatenate([result.state(-1).r.ravel(), settled(result)[-1]]))
    errors = [np.abs(a - b).max() for a, b in itertools.pairwise(ends)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)


def test_bead_step_is_reversible_and_filter_step_is_not():
    equations = {kind.name: kind.kind.state_equations for kind in (BEAD, LAG, SERVO, MAXWELL, OSCILLATOR)}
    flags = {name: (of_kind.conserves, of_kind.reverses) for name, of_kind in equations.items()}
    expected = dict.fromkeys(flags, (False, False)) | {"bead": (True, True)}
    assert flags == expected


def test_non_gradient_force_is_named_and_makes_stiffness_unsymmetric():
    @rodsim.interaction("crossed", frames=2, numbers=("k",), states=("s",), free=False)
    class Crossed:
        """A force k s along the second axis of the ground, with s the position along the first."""

        def evolve(y0, y1, s0, s1, h, X, out):
            out[0] = s0[0] + s1[0] - y0[1, 0, 0] + y0[0, 0, 0] - y1[1, 0, 0] + y1[0, 0, 0]

        def step_dual(y0, y1, s0, s1, h, X, out):
            push(out, 1, times(X[0] * 0.5 * (s0[0] + s1[0]), (0.0, 1.0, 0.0)))

    model = Model("crossed", gravity=NO_WEIGHT)
    body = model.add_body("body", BRICK)
    model.add_bushing("soft", model.ground, body, 60.0, at=(0, 0, 0))
    model.add_interaction("crossed", Crossed, model.ground, body, k=11.0, s=0.0)
    linear_model = linearise(model)
    assert linear_model.unsymmetric == ("crossed",)
    K = linear_model.K.toarray()
    assert (K - K.T)[1, 0] == pytest.approx(11.0, rel=1e-12)


def test_instantaneous_states_are_eliminated_exactly():
    """Eigenvalues of the pencil (1) with a singular E equal those of the reduced system."""
    rng = np.random.default_rng(4)
    a, s = 1, 4
    E = rng.normal(size=(s, 2)) @ rng.normal(size=(2, s))
    A, Ay, Az, Fx, Fy, Fz = (
        rng.normal(size=shape) for shape in ((s, s), (s, 6), (s, 6), (6, s), (6, 6), (6, 6))
    )
    Fw = rng.normal(size=(6, s))
    condensed = condense_states(Slopes(np.zeros(6 * a), np.zeros(s), E, A, Ay, Az, Fx, Fw, Fy, Fz), "some")
    x = rng.normal(size=(6, 1)) + 1j * rng.normal(size=(6, 1))
    for value in (0.7 + 0.3j, -2.0 + 1.0j):
        states = -np.linalg.solve(value * E + A, (Ay + value * Az) @ x)
        force = (Fx + value * Fw) @ states + (Fy + value * Fz) @ x
        m = len(condensed.L)
        assert m == 2
        left = -np.linalg.solve(value * np.eye(m) + condensed.L, (condensed.Ly + value * condensed.Lz) @ x)
        of_motion = condensed.K + value * condensed.C + value**2 * condensed.M
        assert condensed.H @ left + of_motion @ x == pytest.approx(force, rel=1e-9)


def test_undetermined_states_are_rejected_by_name():
    zero = np.zeros((1, 1))
    side, forces = np.zeros((1, 6)), np.zeros((6, 6))
    with pytest.raises(ModelError, match="kind 'some': no row of `evolve` determines"):
        condense_states(
            Slopes(np.zeros(6), np.zeros(1), zero, zero, side, side, side.T, side.T, forces, forces), "some"
        )


def test_joint_forces_with_many_states_agree_in_both_solvers(monkeypatch):
    """State space and frequency response with a clamp's force; full matrices and Arnoldi's iteration."""
    model = cantilever(RELAXING)
    tip = model.rods["rod"].at(0.99), (0.0, 1.0, 0.0)
    ports = (
        [ForceInput(*tip)],
        [MotionOutput(*tip), MotionOutput(*tip, "velocity"), JointForceOutput("clamp", (0, 1, 0))],
    )
    space, w = state_space(model, *ports), 1.3
    response = frequency_response(model, *ports, [w])[0, :, 0]
    inner = np.linalg.solve(1j * w * np.eye(len(space.A)) - space.A, space.B)
    assert (space.C @ inner + space.D)[:, 0] == pytest.approx(response, rel=1e-9)
    assert abs(response[0].imag) > 1e-3 * abs(response[0])
    linear_model = linearise(cantilever(RELAXING, mass="lumped"))
    all_of_them = eigen.general_spectrum(linear_model, 4).values
    monkeypatch.setattr(eigen, "DENSE", 0)
    assert eigen.general_spectrum(linear_model, 4).values == pytest.approx(all_of_them, rel=1e-7)


@pytest.mark.parametrize("scheme", ["MPH(order=4)", "em6"])
def test_other_compositions_accept_a_bead_and_reject_a_filter(scheme):
    def run(model):
        if "em" in scheme:
            return simulate(model, 0.1, 0.05, scheme, progress=False)
        return integrate(model.mechanical_system("director"), scheme, 0.05, 0.1)

    model = Model("bead", gravity=NO_WEIGHT)
    body = model.add_body("body", BRICK, position=(0.4, 0, 0), velocity=(0.7, 0.5, 0))
    model.add_interaction("line", BEAD, model.ground, body, k=200.0, s=0.4)
    result, w = run(model), np.sqrt(200.0 / MASS)
    r = result.states(slice(None)).r[-1, 1] if "em" in scheme else result.q[-1, :3]
    assert r[:2] == pytest.approx([0.47, 0.5 / w * np.sin(0.1 * w)], abs=1e-5)
    with pytest.raises(ModelError, match="takes negative substeps"):
        run(body_on_rail(LAG, k=K, tau=TAU, rest=1.6, x=0.0))


FOLLOWER = {"c": 3.0, "T": 0.1}  # force x along a slide, x' = (c times the rate - x)/T


def _with_follower(model, joint):
    equations = actuators.Equations({"x": "(c*q_rate - x)/T"}, "-x", parameters=FOLLOWER)
    model.add_actuator("follower", equations, joint)
    return model


def _exact_values(stiffness, mass):
    """Return eigenvalues of a displacement with this stiffness and mass, and the force of the follower."""
    c, T = FOLLOWER.values()
    return np.linalg.eigvals([[0, 1, 0], [-stiffness / mass, 0, -1 / mass], [0, c / T, -1 / T]])


def _differ(values, exact):
    """Return the largest distance of exact eigenvalues from those computed, which have positive imaginary parts."""
    return max(np.abs(values - x).min() for x in exact if x.imag >= 0.0)


@pytest.mark.parametrize("spin", [0.0, 3.0])
def test_states_of_a_radial_slide_in_rotating_axes(spin):
    """The ground rotates: the stiffness of the radial displacement is k - m W^2."""
    model, k = Model("radial", gravity=NO_WEIGHT), 50.0
    body = model.add_body("body", BRICK, position=(1.0, 0, 0))
    slide = model.add_joint("slide", "prismatic", model.ground, body, at=(1.0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", model.ground.at((0, 0, 0)), body, k, length=1.0)
    rotation = rodsim.steady_rotation(_with_follower(model, slide), (0, 0, spin))
    assert rotation.state.r[1, 0] == pytest.approx(k / (k - MASS * spin**2), rel=1e-12)
    assert _differ(modes(model, 5, start=rotation).values, _exact_values(k - MASS * spin**2, MASS)) < 1e-9


def test_states_of_a_pair_that_rotates_freely():
    """Two bodies on a slide; their spin w = L/J, J = mu d^2 + 2 I, changes with the distance d."""
    model, w, d, rest = Model("pair", gravity=NO_WEIGHT), 3.0, 1.5, 0.8
    mu, k = MASS / 2, MASS / 2 * w**2 * d / (d - rest)
    a, b = (
        model.add_body(name, BRICK, position=(x, 0, 0), velocity=(0, x * w, 0), angular_velocity=(0, 0, w))
        for name, x in (("a", -d / 2), ("b", d / 2))
    )
    slide = model.add_joint("slide", "prismatic", a, b, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", a, b, k, length=rest)
    J = mu * d**2 + 2 * a.properties.inertia[2, 2]
    values = modes(_with_follower(model, slide)).values
    assert _differ(values, _exact_values(k - mu * w**2 * (1 - 4 * mu * d**2 / J), mu)) < 1e-6


def test_modes_about_a_rotation_name_parts_that_spin():
    model = Model("rotor", gravity=NO_WEIGHT)
    rotor = model.add_body("rotor", rodsim.Cylinder(0.1, 0.2, mass=1.0), angular_velocity=(0, 0, 5.0))
    hinge = model.add_joint("hinge", "revolute", model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_actuator(
        "motor", actuators.DCMotor(resistance=1.0, inductance=0.05, constant=0.5), hinge, U=2.0
    )
    with pytest.raises(ModelError, match="acts on body 'rotor', which moves in axes that rotate"):
        linearise(model)


def test_modes_of_a_free_rotation_name_states_between_the_ground_and_a_part():
    model = Model("body", gravity=NO_WEIGHT)
    body = model.add_body("body", BRICK, angular_velocity=(0, 0, 2.0), position=(0, 0, 0))
    other = model.add_body("other", BRICK, angular_velocity=(0, 0, 2.0), position=(0, 0, 0.5))
    model.add_joint("glue", "weld", body, other, at=(0, 0, 0.2))
    model.add_interaction("line", LAG, model.ground.at((0, 0, 5.0)), body, k=K, tau=TAU, rest=5.0, x=0.0)
    with pytest.raises(ModelError, match="with internal states acts on the ground, which moves in axes"):
        linearise(model)


@rodsim.interaction("absolute drag of a test", frames=1, numbers=("c",), works=True, linear=False, free=False)
class ABSOLUTE_DRAG:
    """A force -c v |v| of still air."""

    def step_dual(y0, y1, h, X, out):
        v = times(1.0 / h, minus(y1[0, 0], y0[0, 0]))
        push(out, 0, times(X[0] * norm(v), v))

    def rate_dual(y, z, X, out):
        push(out, 0, times(X[0] * norm(z[0, 0]), z[0, 0]))


def test_modes_about_a_rotation_name_laws_of_absolute_motions():
    model = Model("blade", gravity=NO_WEIGHT)
    body = model.add_body("body", BRICK, position=(1.0, 0, 0))
    model.add_joint("slide", "prismatic", model.ground, body, at=(1.0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", model.ground.at((0, 0, 0)), body, 50.0, length=1.0)
    model.add_interaction("drag", ABSOLUTE_DRAG, body, c=0.5)
    with pytest.raises(ModelError, match="'absolute drag of a test' changes if all its parts rotate"):
        linearise(model, spin=(0, 0, 1.0))


def test_relaxing_sections_in_rotating_axes():
    """A rod of one element with a branch of stiffness C1 as the spring of a radial slide: the states are its strains."""
    length, EA, fraction, tau, w = 1.0, 40.0, 0.5, 0.2, 2.0
    section = Section.from_stiffness(
        EA=EA, GA=1e3, GJ=1e3, EI=1e3, mass_per_length=1e-5, inertia_per_length=1e-5
    )
    model = Model("blade", gravity=NO_WEIGHT)
    rod = model.add_rod(
        "rod", [(0, 0, 0), (length, 0, 0)], section.with_relaxation(tau, fraction=fraction), 1
    )
    model.add_joint("root", "clamp", rod.start)
    body = model.add_body("body", BRICK, position=(length, 0, 0))
    model.add_joint("tip", "weld", body, rod.end)
    model.add_joint("slide", "prismatic", model.ground, body, at=(length, 0, 0), axis=(1, 0, 0))
    rotation = rodsim.steady_rotation(model, (0, 0, w))
    k, k1 = EA / length, fraction * EA / length
    exact = np.linalg.eigvals([[0, 1, 0], [w**2 - k / MASS, 0, -k1 / MASS], [0, 1, -1 / tau]])
    assert _differ(modes(model, 12, start=rotation).values, exact) < 1e-4
