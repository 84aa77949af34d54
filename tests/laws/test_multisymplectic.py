"""Multisymplectic box schemes of a rod: conservation properties of every scheme, and admissible boundary conditions."""

import numpy as np
import pytest

from benchmarks.multisymplectic_boxes import ENDS, ROD, SCHEMES, bent, first_step, straight
from discretization.continuum.quaternions import inner, product
from discretization.multisymplectic.euler_box import EulerBox
from discretization.multisymplectic.grid import grid
from discretization.multisymplectic.implicit_step import take_step
from discretization.multisymplectic.preissmann import LEVELS, MIDDLE, PreissmannBox
from discretization.multisymplectic.spectra import matrix_rank, step_spectrum
from discretization.multisymplectic.time_integration import integrate, propagate_tangents, tangent_vectors
from discretization.multisymplectic.variational_box import VariationalBox
from rigid.errors import ConvergenceError, ModelError
from rodsim.papers.smooth_fields import gradient

H = 0.02
REGULAR = [name for name in ENDS if name != "held, held"]
WELL_POSED = list(SCHEMES)[1:]  # all but the midpoint constraint


def twisted(n, ends=("periodic", "periodic")):
    """A straight rod with one full turn of twist: q at its ends has opposite signs."""
    s = np.linspace(0, 1, n + 1)
    none = np.zeros((n + 1, 3))
    q = np.stack([np.cos(np.pi * s), np.sin(np.pi * s), 0 * s, 0 * s], -1)
    q[-1] = -q[0]
    wave = np.sin(2 * np.pi * s)[:, None]
    spin = np.concatenate([0 * wave, wave * [0.3, 0.5, -0.2]], axis=-1)
    return grid(
        ROD, 1.0, none + s[:, None] * [1, 0, 0], q, wave * [0.1, 0.2, 0.3], product(spin, q) / 2, ends
    )


def run_scheme(name, make=bent, n=5, ends=("free", "free"), steps=4, h=H):
    scheme = SCHEMES[name](make(n, ends))
    return scheme, integrate(scheme, scheme.start(), h, steps)


# --- the steps ---


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("ends", [*ENDS, "twisted"])
def test_newton_matrix_is_the_derivative_of_the_residual(name, ends):
    g = twisted(5) if ends == "twisted" else bent(5, ENDS[ends])
    scheme = SCHEMES[name](g)
    rng = np.random.default_rng(0)
    start = scheme.start()
    x = scheme.guess(start, H) + 0.1 * rng.standard_normal(scheme.size)
    differences = gradient(lambda y: np.moveaxis([scheme.residual(z, start, H) for z in y], -1, 0), x[None])
    matrix = scheme.matrix(x, start, H).toarray()
    assert np.abs(matrix - differences.reshape(matrix.shape)).max() < 1e-10 * np.abs(matrix).max()


@pytest.mark.parametrize("name", SCHEMES)
def test_tangent_solutions_are_derivatives_of_solutions(name):
    scheme, run = run_scheme(name, ends=("clamped", "free"))
    v = tangent_vectors(scheme, run.states[0], 1)
    moved = propagate_tangents(scheme, run, H, v).states[-1, 0]
    eps = 1e-6
    ends = [integrate(scheme, run.states[0] + s * eps * v[0], H, 4).states[-1] for s in (1, -1)]
    assert (ends[0] - ends[1]) / (2 * eps) == pytest.approx(moved, abs=1e-5 * np.abs(moved).max())


@pytest.mark.parametrize("name", WELL_POSED)
@pytest.mark.parametrize("ends", REGULAR)
def test_constraints_and_boundary_conditions_hold_after_every_step(name, ends):
    scheme, run = run_scheme(name, ends=ENDS[ends], steps=3)
    g = scheme.grid
    for state in run.states:
        u, _ = scheme.parts(state)
        assert np.abs(scheme.constraints(state)).max() < 1e-12
        for k, kind in ((0, g.ends[0]), (-1, g.ends[1])):
            if kind in ("pinned", "clamped", "held"):
                assert np.abs(u[k, :3] - g.u[k, :3]).max() < 1e-14
            if kind in ("clamped", "held"):
                along_q = u[k, 3:] @ g.u[k, 3:]
                assert np.abs(u[k, 3:] - along_q * g.u[k, 3:]).max() < 1e-13
    assert np.abs(run.states[-1] - run.states[0]).max() > 1e-3


@pytest.mark.parametrize("name", SCHEMES)
def test_straight_rod_at_rest_stays(name):
    _, run = run_scheme(name, straight, ends=("free", "pinned"), steps=3)
    assert np.abs(run.states - run.states[0]).max() < 1e-14


def reversed_states(y):
    """States (n + 1, 7) rotated by pi about e2, last node first; sections too, so that d1 points along the rod."""
    about = np.tile([0.0, 0.0, 1.0, 0.0], (len(y), 1))
    turned = product(product(about, y[::-1, 3:]), -about)
    return np.concatenate([y[::-1, :3] * [-1, 1, -1], turned], axis=-1)


def difference_between_directions(name, n, ends):
    """Largest distance between the end states of a run and of the same run seen from the other end."""
    g, directors = bent(n, ends), []
    u, u_t = reversed_states(g.u), reversed_states(g.u_t)
    other = grid(ROD, 1.0, u[:, :3], u[:, 3:], u_t[:, :3], u_t[:, 3:], ends[::-1])
    for y in (g, other):
        scheme = SCHEMES[name](y)
        directors.append(scheme.parts(integrate(scheme, scheme.start(), 0.12 / n, n).states[-1])[0])
    return np.abs(reversed_states(directors[0]) - directors[1])[:, :3].max()


@pytest.mark.parametrize("ends", [("free", "pinned"), ("pinned", "clamped")])
@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "Euler box"])
def test_rod_ends_may_be_exchanged(name, ends):
    assert difference_between_directions(name, 6, ends) < 1e-12


def test_euler_box_is_asymmetric_at_order_1():
    gaps = [difference_between_directions("Euler box", n, ("free", "pinned")) for n in (16, 32)]
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(1, abs=0.2)


def test_gradients_of_the_discrete_lagrangian_are_exact():
    scheme = VariationalBox(bent(4, ("free", "free")))
    start, end = np.random.default_rng(0).standard_normal((2, 4, 14))
    before, after = scheme._gradients(start, end, H)
    for computed, derivative_of, x in (
        (before, lambda y: scheme.action(y, end, H), start),
        (after, lambda y: scheme.action(start, y, H), end),
    ):
        right = gradient(derivative_of, x)
        assert computed == pytest.approx(right, abs=1e-12 * np.abs(right).max())


def test_discrete_lagrangian_converges_with_order_2():
    from discretization.continuum import lagrangian
    from rodsim.papers.smooth_fields import random_motion

    motion, errors = random_motion(1), []
    for size in (0.1, 0.05, 0.025):
        scheme = VariationalBox(bent(2, ("free", "free")))
        scheme.grid = scheme.grid._replace(d=size)
        s, t = np.array([0.4 - size / 2, 0.4 + size / 2]), np.array([0.3 - size / 2, 0.3 + size / 2])
        S, T = np.meshgrid(s, t)
        u = np.concatenate([motion.phi(S, T).value, motion.q(S, T).value], -1)
        action = scheme.action(u[0].reshape(1, 14), u[1].reshape(1, 14), size)[0] / size**2
        phi, q = motion.phi(np.array(0.4), np.array(0.3)), motion.q(np.array(0.4), np.array(0.3))
        right = lagrangian.lagrangian(ROD, q.value, phi.t, q.t, phi.S, q.S, 0.0)
        errors.append(abs(action - right))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([2, 2], abs=0.1)


# --- conservation ---


@pytest.mark.parametrize("name", WELL_POSED)
@pytest.mark.parametrize("ends", [*REGULAR, "twisted"])
def test_discrete_two_form_is_conserved_in_every_box(name, ends):
    scheme = SCHEMES[name](twisted(5) if ends == "twisted" else bent(5, ENDS[ends]))
    run = integrate(scheme, scheme.start(), H, 4)
    tangent = propagate_tangents(scheme, run, H, tangent_vectors(scheme, run.states[0]))
    assert np.abs(scheme.two_form_residual(run, tangent, H)).max() < 1e-11
    # a variation that is not a solution violates the law
    broken = tangent._replace(
        x=1.01 * tangent.x, states=tangent.states * np.linspace(1, 1.1, 5)[:, None, None]
    )
    assert np.abs(scheme.two_form_residual(run, broken, H)).max() > 1e-3


def test_preissmann_with_midpoint_constraint_conserves_the_two_form():
    scheme, run = run_scheme("Preissmann, middle")
    tangent = propagate_tangents(scheme, run, H, tangent_vectors(scheme, run.states[0]))
    size = np.abs(tangent.states).max() ** 2 / H  # variations of p along q grow
    assert np.abs(scheme.two_form_residual(run, tangent, H)).max() < 1e-14 * size


@pytest.mark.parametrize("name", WELL_POSED)
def test_free_rods_conserve_linear_and_angular_momentum(name):
    scheme, run = run_scheme(name, steps=10)
    totals = np.array([scheme.totals(state) for state in run.states])
    assert np.abs(totals - totals[0]).max() < 1e-13
    assert np.abs(totals[0, 1:]).min() > 1e-2


@pytest.mark.parametrize("constraint", [MIDDLE, LEVELS])
@pytest.mark.parametrize("ends", ["free, free", "clamped, free", "periodic"])
def test_preissmann_conserves_momenta_in_every_box(constraint, ends):
    scheme = PreissmannBox(bent(5, ENDS[ends]), constraint)
    run = integrate(scheme, scheme.start(), H, 5)
    assert np.abs(scheme.momentum_residual(run, H)).max() < 1e-11
    last = run.steps[-1]
    wrong = run._replace(steps=[last._replace(x=1.001 * last.x)])
    assert np.abs(scheme.momentum_residual(wrong, H)).max() > 1e-4


def test_scheme_momenta_are_those_of_the_rod():
    """All three agree, to their order, with the integral of rho_A phi_t and phi x rho_A phi_t + I_rho w over the bump."""
    schemes = [SCHEMES[name](bent(64, ("free", "free"))) for name in WELL_POSED]
    totals = np.array([scheme.totals(scheme.start()) for scheme in schemes])
    assert np.abs(totals - totals[0]).max() < 2e-3 * np.abs(totals).max()
    assert totals[2][:3] == pytest.approx(
        [0, 0.1, 0.15], rel=1e-10
    )  # half of 0.2 and 0.3, the mean of the bump


@pytest.mark.parametrize("name", WELL_POSED)
@pytest.mark.parametrize("ends", [("free", "free"), ("periodic", "periodic")])
def test_flying_rod_has_the_momentum_of_its_mass(name, ends):
    g = straight(5, ends)
    scheme = SCHEMES[name](g._replace(u_t=g.u_t + np.array([0.3, -0.4, 0.2, 0, 0, 0, 0])))
    assert scheme.totals(scheme.start())[:3] == pytest.approx([0.3, -0.4, 0.2])


# --- well-posed ends ---


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("label", [*ENDS, "periodic, even"])
def test_steps_are_regular_except_for_preissmann_with_held_or_paired_lengths(name, label):
    ends, n = (ENDS["periodic"], 6) if label == "periodic, even" else (ENDS[label], 5)
    singular = name.startswith("Preissmann") and label in ("held, held", "periodic, even")
    rank = matrix_rank(*first_step(name, straight, n, ends, H), H)
    assert rank.deficiency == (1 if singular else 0)
    assert singular or rank.least > 1e-3
    if singular:  # bent, regular up to the remaining residual
        assert 1e-8 < matrix_rank(*first_step(name, bent, n, ends, H), H).least < 1e-3


def test_null_vector_of_held_ends_is_a_zigzag_of_velocities():
    scheme, step = first_step("Preissmann, levels", straight, 5, ENDS["held, held"], H)
    null = scheme.unknowns(matrix_rank(scheme, step, H).null[0])
    zigzag = null.v[:, 3]
    assert zigzag[1:] == pytest.approx(-zigzag[:-1], abs=1e-9)
    assert np.abs(zigzag[0]) > 1e-2
    assert np.abs(null.lam).min() > 1e-2
    for block in (null.u, null.v[:, :3], null.v[:, 4:]):
        assert np.abs(block).max() < 1e-9


@pytest.mark.parametrize(
    "label", ["free, free", "pinned, pinned", "clamped, free", "clamped, clamped", "periodic"]
)
def test_only_midpoint_constraint_has_double_roots_at_minus_one(label):
    """There is one for every element: |q| and the part of p along q. With the constraint at the levels there is none."""
    spectra = {name: step_spectrum(*first_step(name, straight, 5, ENDS[label], H), H) for name in SCHEMES}
    assert spectra["Preissmann, middle"].growing == 5
    for name in WELL_POSED:
        assert spectra[name].growing == 0
        assert (
            spectra[name].largest < 1 + 1e-6
        )  # stable; double roots at 1 of rigid motions are accurate to 1e-8
    for name in ("Euler box", "variational box"):
        assert spectra[name].turned == 0
    zigzags = {"free, free": 7, "pinned, pinned": 7, "clamped, free": 1, "clamped, clamped": 7, "periodic": 0}
    assert spectra["Preissmann, levels"].turned == zigzags[label]


def test_only_midpoint_multiplier_grows_linearly():
    largest = {}
    for name in ("Preissmann, middle", "Preissmann, levels"):
        scheme, run = run_scheme(name, steps=60)
        largest[name] = np.array([np.abs(scheme.unknowns(step.x).lam).max() for step in run.steps])
    grown = [largest["Preissmann, middle"][k : k + 10].max() for k in (20, 50)]
    assert grown[1] / grown[0] == pytest.approx(2, abs=0.5)
    assert largest["Preissmann, levels"][10:].max() < 1.2 * largest["Preissmann, levels"][:10].max()


@pytest.mark.parametrize(
    ("name", "courant", "stable"),
    [
        ("Euler box", 0.9, True),
        ("Euler box", 1.3, False),
        ("Preissmann, levels", 3.0, True),
        ("variational box", 3.0, True),
    ],
)
def test_explicit_boxes_are_stable_below_the_cfl_limit_and_implicit_ones_beyond(name, courant, stable):
    fastest = np.sqrt(0.4 / 0.05)  # of bending, EI/J
    h = courant * 0.2 / fastest
    radius = step_spectrum(*first_step(name, straight, 5, ENDS["clamped, free"], h), h).largest
    assert (radius < 1 + 1e-6) == stable


# --- rejected input ---


def _open_ring():
    g = bent(4, ("free", "free"))
    q = g.u[:, 3:].copy()
    q[-1] = q[2]
    return grid(ROD, 1.0, g.u[:, :3], q, g.u_t[:, :3], g.u_t[:, 3:], ENDS["periodic"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PreissmannBox(bent(6, ENDS["periodic"])), "odd number"),
        (lambda: PreissmannBox(bent(5, ENDS["held, held"])), "clamp one"),
        (lambda: PreissmannBox(bent(5, ENDS["free, free"]), "corners"), "constraint 'corners'"),
        (lambda: bent(5, ("free", "glued")), "glued"),
        (lambda: bent(5, ("free", "periodic")), "periodic for both or none"),
        (
            lambda: grid(ROD, 1.0, np.zeros((3, 3)), np.ones((3, 4)), np.zeros((3, 3)), np.zeros((3, 4))),
            "unit q",
        ),
        (
            lambda: grid(ROD, 1.0, np.zeros((2, 3)), np.ones((2, 4)), np.zeros((2, 3)), np.zeros((2, 4))),
            "two elements",
        ),
        (_open_ring, "periodic ends differ"),
    ],
)
def test_invalid_arguments_are_rejected(make, message):
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize("name", WELL_POSED)
def test_failed_step_reports_time_and_residual(name):
    scheme = SCHEMES[name](bent(4, ("free", "free")))
    with pytest.raises(ConvergenceError, match="take a smaller step") as raised:
        take_step(scheme, scheme.start(), 50.0, t=2.5)
    assert (raised.value.t, raised.value.h) == (2.5, 50.0)


def test_singular_step_raises_an_error():
    scheme = PreissmannBox(straight(5, ENDS["held, held"]), singular=True)
    start = scheme.start() + 1e-3
    with pytest.raises(ConvergenceError):
        take_step(scheme, start, H)


def test_lengths_of_q_at_the_start_give_means_of_length_1():
    scheme = PreissmannBox(bent(8, ("clamped", "free")))
    u, p = scheme.parts(scheme.start())
    mean = 0.5 * (u[1:, 3:] + u[:-1, 3:])
    assert np.abs(inner(mean, mean) - 1).max() < 1e-15 * 8
    assert np.abs(inner(mean, p[:, 3:])).max() < 1e-15 * 8
    assert np.abs(inner(u[:, 3:], u[:, 3:]) - 1).max() < 0.02


def test_held_entries_stay_zero_in_variations_of_the_euler_box():
    scheme = EulerBox(bent(4, ("clamped", "free")))
    v = tangent_vectors(scheme, scheme.start())
    assert all(np.abs(part[0]).max() < 1e-13 for y in v for part in scheme.parts(y))
