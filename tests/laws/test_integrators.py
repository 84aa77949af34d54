"""Every integrator: order, declared invariants, requirements, and failures."""

import numpy as np
import pytest
import sympy as sp

from discretization.time.integrators import FAMILIES, parse
from discretization.time.symplecticity import OneStep, newton_matrix, symplectic_defect
from rigid.errors import ConvergenceError, ModelError
from rodsim.mechanics import Start, integrate, rotating_body, symbolic_system
from rodsim.papers import property_tables
from rodsim.papers.property_tables import ROWS, top

DECLARED = {
    "energy": lambda row: row.energy,
    "generalised energy": lambda row: row.energy,
    "momentum": lambda row: row.momentum,
    "symplectic": lambda row: row.symplectic,
    "position": lambda row: row.position,
    "velocity": lambda row: row.momentum_constraint,
}
XY = sp.symbols("x y")
# round-off of a hundred steps whose residuals are solved to a few units in the last place; mG sums many residuals
ROUND_OFF = 5e-13


@pytest.fixture(scope="module", params=ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def measured(request):
    integrator, chart, steps = request.param
    return parse(integrator), property_tables.measure(integrator, chart, steps[:2], timed=False)


def test_observed_order_is_the_declared_one(measured):
    scheme, row = measured
    assert row.order == pytest.approx(scheme.order, abs=0.1)


def test_declared_invariants_are_conserved_to_round_off(measured):
    scheme, row = measured
    broken = {
        invariant: DECLARED[invariant](row)
        for invariant in scheme.invariants
        if not DECLARED[invariant](row) < ROUND_OFF
    }
    assert not broken


@pytest.mark.parametrize("name", ["EML", "MPH", "EM-G", "GGL-EM", "mG(2)"])
def test_schemes_not_declared_symplectic_are_not(name):
    """The test can fail."""
    scheme = parse(name)
    chart = "singular" if scheme.singular_mass else "director"
    assert symplectic_defect(top(chart if name != "MPH" else "alpha"), scheme, 0.05) > 1e-8


@pytest.mark.parametrize(
    ("name", "theta", "vartheta", "factor"),
    [("VI-A", 0.6, None, 0.6 / 0.4), ("VI-B", 0.5, 0.6, 0.6 / 0.4), ("VI-B", 0.2, 0.4, 0.4 / 0.6)],
)
def test_theta_schemes_amplify_constraint_violations_by_their_factor(name, theta, vartheta, factor):
    """A momentum normal to g = 0 is multiplied by -theta/(1 - theta) (A), by -vartheta/(1 - vartheta) (B)."""
    parameters = {"theta": theta} if vartheta is None else {"theta": theta, "vartheta": vartheta}
    system = top("alpha")
    normal = 1e-9 * system.q0
    p0 = system.momentum(system.q0, system.v0)
    h, products = 1e-5, []
    for p in (p0, p0 + normal):
        start = Start(0.0, system.q0, p, system.v0, np.zeros(1), np.zeros(1))
        run = integrate(system, name, h, 4 * h, start=start, **parameters)
        products.append(np.einsum("ij,ij->i", run.q, run.p))
    grown = products[1] - products[0]
    assert grown[1:] / grown[:-1] == pytest.approx(-factor, rel=1e-2)


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"BS99"}))
def test_newton_matrix_is_the_derivative_of_the_residual(name):
    """Compare complex steps with central differences, at the solution of a step."""
    scheme = parse(name)
    scheme, system = scheme.fitted(top("singular" if scheme.singular_mass else "gamma"))
    one = OneStep(system, scheme, 0.05, np.zeros((len(scheme.nodes), 1)))
    state = (system.q0, system.momentum(system.q0, system.v0), system.v0)
    x = one.solve(*state)
    matrix = newton_matrix(system, scheme, 0.05)
    e = 1e-6 * np.eye(len(x))
    differences = np.array(
        [(one.residual(x + d, state) - one.residual(x - d, state)).real / 2e-6 for d in e]
    ).T
    assert np.abs(matrix - differences).max() < 1e-6 * np.abs(matrix).max()


@pytest.mark.parametrize("guess", ["simple", "advanced"])
@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"BS99"}))
def test_both_initial_guesses_lead_to_the_same_step(name, guess):
    scheme = parse(name)
    system = top("singular" if scheme.singular_mass else "alpha")
    run = integrate(system, scheme, 0.02, 0.2, guess=guess)
    other = integrate(system, scheme, 0.02, 0.2)
    assert np.abs(run.q - other.q).max() < 1e-12


@pytest.mark.parametrize(
    "name", sorted(name for name in FAMILIES if any(b.constant for b in parse(name).blocks))
)
def test_reused_matrix_columns_are_constant(name):
    scheme = parse(name)
    matrices = []
    for Omega in ((0.0, 0.3, 5.0), (1.0, -2.0, 0.7)):
        system = rotating_body("body", np.array([1.0, 2.0, 2.5]), np.array(Omega))
        matrices.append(newton_matrix(system, scheme, 0.05))
    sizes = scheme.block_sizes(4, 1, 0, 3)
    constant = np.repeat([block.constant for block in scheme.blocks], sizes)
    assert constant.any()
    change = np.abs(matrices[0] - matrices[1]).max(axis=0)
    assert np.all(change[constant] == 0.0)
    assert np.any(change[~constant] > 1e-3)


# Conserved momenta of two free bars on a spherical joint: scheme, chart, whether linear and angular momentum.
def test_failing_theta_schemes_name_a_remedy():
    with pytest.raises(ConvergenceError, match=r"grow with every step unless theta = 0\.5"):
        integrate(top("alpha"), "VI-A(0.3)", 0.02, 5.0)
    assert integrate(top("alpha"), "VI-A(0.5)", 0.02, 5.0).position_residual().max() < 1e-2


def free(**options):
    return rotating_body("b", np.ones(3), np.array([0.0, 0.0, 1.0]), **options)


def start_with(**changes):
    system = top("alpha")
    fields = {"q": system.q0, "p": system.q0, "v": system.v0, "lam": np.zeros(1), "gam": np.zeros(1)}
    return lambda: integrate(system, "EMH", 0.1, 1.0, start=Start(t=0.0, **(fields | changes)))


REFUSED = {
    "start: q = .*give 4 finite numbers": start_with(q=np.zeros(3)),
    "start: p = .*give 4 finite numbers": start_with(p=np.full(4, np.nan)),
    "tolerance = -1": lambda: integrate(top("alpha"), "EMH", 0.1, 1.0, tolerance=-1.0),
    "EML is already a scheme; give order": lambda: integrate(free(), parse("EML"), 0.1, 1.0, order=4),
    "integrator = None": lambda: integrate(free(), None, 0.1, 1.0),
    "run it in parts": lambda: integrate(free(), "EML", 1e-9, 1.0),
    "give at least k = 3 Gauss points": lambda: parse("mG(3, 2)"),
    "'vartheta=0.4' is given twice": lambda: parse("VI-B(0.3, 0.4, vartheta=0.4)"),
    "'0.4' is given twice": lambda: parse("VI-B(vartheta=0.3, 0.4)"),
    "'' cannot be read": lambda: parse("VI-B(, 0.4)"),
    "no parameter s; it has k, gauss, order": lambda: parse("mG", s=3),
    "k = 1.5; give a whole number": lambda: parse("mG", k=1.5),
    "k = True; give a number": lambda: parse("mG", k=True),
    "break the triangle inequality": lambda: rotating_body("b", np.array([1.0, 1.0, 3.0]), np.zeros(3)),
    "frame 0: .* not all positive": lambda: rotating_body("b", np.array([1.0, 1.0, -1.0]), np.zeros(3)),
    "directors give a flat body a singular mass: use quaternion-alpha": lambda: integrate(
        rotating_body("disc", np.array([1.0, 1.0, 2.0]), np.ones(3), chart="director"), "EM-G", 0.1, 1.0
    ),
    r"g2 are implied by the other": lambda: symbolic_system(
        "twice", XY, [1, 0], [0, 0], M=sp.eye(2), g=[XY[0] ** 2 + XY[1] ** 2 - 1, XY[0] ** 2 + XY[1] ** 2 - 1]
    ),
    r"give initial velocities with G\(q0\) v0 = 0": lambda: symbolic_system(
        "circle", XY, [1, 0], [1, 1], M=sp.eye(2), g=[XY[0] ** 2 + XY[1] ** 2 - 1]
    ),
    "needs a regular mass": lambda: integrate(top("singular"), "GGL-EM", 0.1, 1.0),
    "needs a quaternion chart": lambda: integrate(top("director"), "EML-kappa", 0.1, 1.0),
    "is not known": lambda: integrate(top("singular"), "RK4", 0.1, 1.0),
    "use BS99": lambda: integrate(top("axis"), "EMH", 0.1, 1.0),
    "needs a top": lambda: integrate(top("alpha"), "BS99", 0.1, 1.0),
    "not a multiple": lambda: integrate(top("singular"), "EML", 0.3, 1.0),
    "integrate: dt = -0.1 is not positive": lambda: integrate(top("singular"), "EML", -0.1, 1.0),
    "guess": lambda: integrate(top("singular"), "EML", 0.1, 1.0, guess="lucky"),
    "theta = 0": lambda: parse("VI-A(0)"),
    "vartheta = 2": lambda: parse("VI-B(1, 2)"),
    "k = 0": lambda: parse("mG(0)"),
    "s = 1": lambda: parse("Lobatto-IIIA-B(1)"),
    "at most 11": lambda: parse("GL-SPARK(12)"),
    "cannot be composed": lambda: parse("VI-S(order=4)"),
    "of order 4 cannot be composed to 8; choose 6": lambda: parse("GL-SPARK(2, order=8)"),
    "choose 4, 6 or 8": lambda: parse("EML(order=10)"),
    "cannot be read": lambda: parse("mG(three)"),
    "no parameter theta; it has order": lambda: parse("EML(theta=0.5)"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_integrators_reject_invalid_arguments(message):
    with pytest.raises(ModelError, match=message):
        REFUSED[message]()
