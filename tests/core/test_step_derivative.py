"""The derivative of a step of `em` by its start and by parameters, forward and backward, against differences."""

import numpy as np
import pytest

from discretization.interaction_groups import Role, groups_of
from discretization.linearisation.step_derivative import StateChange, StepDerivative
from discretization.time.stepper import Stepper
from rigid import quaternions
from rigid.errors import ModelError
from rodsim import Box, Model, Section
from tests.support.step_endpoints import moved

H, EPS = 0.02, 1e-5
SECTION = Section.from_stiffness(
    EA=600,
    GA=400,
    GJ=3,
    EI=(2, 4),
    mass_per_length=1.5,
    inertia_per_length=(0.4, 0.2, 0.3),
    damping_time=0.01,
)


def swinging(element="se3", mass="lumped"):
    """A pinned rod with a body on a ball joint, a spring and a dead force."""
    model = Model("swinging", gravity=(0.0, 0.0, -9.81))
    n = 4 if element == "se3" else 2
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SECTION, n, element=element, mass=mass)
    body = model.add_body("body", Box(0.1, 0.2, 0.1, density=500), position=(1.05, 0, 0))
    model.add_joint("pin", "spherical", model.ground, rod.start)
    model.add_joint("ball", "spherical", rod.end, body, at=(1, 0, 0))
    model.add_spring("spring", model.ground.at((0, 1, 1)), body.at((0.05, 0, 0)), 30.0, 0.8, damping=0.5)
    model.add_bushing("bush", model.ground, body, 5.0, at=(1.0, 0.1, 0))
    model.add_force("push", body.at((0, 0.1, 0)), (1.0, 2.0, 3.0))
    built = model.build()
    start, _ = Stepper(built.system, H, load_values=built.load_values).advance(built.state, 0, 5)
    return built, start


def step(built, state, system=None):
    return Stepper(system or built.system, H, load_values=built.load_values).advance(state, 0, 1)[0]


def derivative(built, start):
    loads = np.asarray(built.load_values(np.array([0.5 * H])))[0]
    return StepDerivative(built.system, start, step(built, start), H, loads)


def changed(state, change, size):
    increments = size * np.column_stack([change.r, change.rotation])
    state = moved(state, increments)
    return state._replace(v=state.v + size * change.v, Omega=state.Omega + size * change.Omega)


def difference(plus, less):
    rotation = quaternions.to_rotation_vector(
        quaternions.multiply(plus.quat, quaternions.conjugate(less.quat))
    )
    both = StateChange(plus.r - less.r, rotation, plus.v - less.v, plus.Omega - less.Omega)
    return [x / (2 * EPS) for x in (*both, plus.lam - less.lam)]


def agree(actual, expected):
    for one, other in zip((*actual[0], actual[1]), expected, strict=True):
        assert np.abs(one - other).max() < 1e-7 * max(1.0, np.abs(other).max())


def random_change(n, seed):
    x = np.random.default_rng(seed).normal(size=(4, n, 3))
    x[:, 0] = 0.0  # the ground
    return StateChange(*x)


@pytest.mark.parametrize(
    ("element", "mass"), [("se3", "lumped"), ("se3", "mean"), ("relative(2)", "consistent")]
)
def test_step_derivative_to_the_start_matches_differences(element, mass):
    built, start = swinging(element, mass)
    linear_step = derivative(built, start)
    for seed in range(3):
        change = random_change(len(start.r), seed)
        ends = (step(built, changed(start, change, s * EPS)) for s in (1, -1))
        agree(linear_step.forward(change), difference(*ends))


def with_numbers(system, field, column, k, size):
    table = getattr(system, field)
    if field == "others":
        numbers = table.numbers.copy()
        numbers[table.first[k] + column] += size
        return system._replace(others=table._replace(numbers=numbers))
    values = getattr(table, column).copy()
    values[(k, *(0,) * (values.ndim - 1))] += size
    return system._replace(**{field: table._replace(**{column: values})})


@pytest.mark.parametrize(
    ("kind", "field", "column", "place"),
    [
        ("spring", "others", 6, 6),
        ("spring", "others", 7, 7),
        ("spring", "others", 3, 3),
        ("damper", "others", 8, 8),
        ("coincident points", "constraints", "Xa", 0),
        ("SE(3) rod element", "elements", "stiffness", 1),
        ("SE(3) rod element", "elements", "strain0", 37),
        ("viscous SE(3) rod element", "elements", "damping", 1),
    ],
)
def test_parameter_derivative_of_a_step_matches_differences(kind, field, column, place):
    built, start = swinging()
    linear_step, k = derivative(built, start), 0
    (acting,) = [a for a in groups_of(built.system, start) if a.group.kind.name == kind]
    numbers = np.zeros_like(acting.group.numbers)
    numbers[k, place] = 1.0
    residual = linear_step.of_parameters(acting, numbers)
    if kind == "spring" and place == 3:  # the damper of the spring has this point too
        (damper,) = [a for a in groups_of(built.system, start) if a.group.kind.name == "damper"]
        direction = np.zeros_like(damper.group.numbers)
        direction[k, place] = 1.0
        residual += linear_step.of_parameters(damper, direction)
    ends = (
        step(built, start, with_numbers(built.system, field, column, acting.use[k], s * EPS)) for s in (1, -1)
    )
    none = StateChange(*np.zeros((4, len(start.r), 3)))
    changes = linear_step.forward(none, residual)
    assert max(np.abs(x).max() for x in changes[0]) > 1e-9
    agree(changes, difference(*ends))


def test_backward_is_forward_transposed():
    """g . (D x) = (D^T g) . x, for any number of parameters with one solution."""
    built, start = swinging()
    step, n = derivative(built, start), len(start.r)
    gradient, change = random_change(n, 5), random_change(n, 6)
    to_start, w = step.backward(gradient)
    for acting in groups_of(built.system, start, Role.ENERGY, Role.CONSTRAINT):
        numbers = np.random.default_rng(7).normal(size=acting.group.numbers.shape)
        residual = step.of_parameters(acting, numbers)
        end, _ = step.forward(change, residual)
        forward_product = sum(np.sum(a * b) for a, b in zip(gradient, end, strict=True))
        backward_product = sum(np.sum(a * b) for a, b in zip(to_start, change, strict=True)) + w @ residual
        assert abs(w @ residual) > 1e-12
        assert forward_product == pytest.approx(backward_product, rel=1e-9)


def test_step_derivative_rejects_models_with_history():
    model = Model("coil")
    body = model.add_body("body", Box(0.1, 0.2, 0.1, density=500))
    model.add_spring("coil", model.ground, body, 3.0, along="rotation", axis=(0, 0, 1))
    built = model.build()
    with pytest.raises(
        ModelError, match=r"internal variables or prescribed motion \(angle\).*take differences of runs"
    ):
        StepDerivative(built.system, built.state, built.state, H)
