"""An exception in a compiled function fails the step in which it is raised; nothing of that step is kept."""

import numpy as np
import pytest
from numba import types

from rigid.compilation.decorators import address_of, allocating_kernel, compiled, function_at
from rigid.compilation.raised_exceptions import RAISED
from rigid.interactions.kinds import (
    Condensed,
    Kind,
    dissipation,
    dual_function,
    no_bend,
    tangent_function,
    value_function,
)
from rodsim import Box, ConvergenceError, Model, equilibrium, simulate
from tests.support.jenkins_elements import K, _registered, add_tension, displacement

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

DT, LIMIT = 0.01, 0.1
BRICK = Box(0.5, 0.3, 0.2, density=100.0)
LEVEL = 24  # behind the parameters of two anchors
F1, C1 = types.float64[::1], types.complex128[::1]


def raising_kind(where):
    """A constant force -1 N on frame b along the third space axis; if b is not above a by `level` the dual, or only its
    tangent, divides by a complex zero.
    """

    @value_function
    def value(y, X, out):
        out[0] = y[1, 0, 2] - y[0, 0, 2]

    @dual_function
    def dual(y0, y1, X, lam, out):
        out[:2] = 0.0
        out[0, 0, 2], out[1, 0, 2] = -lam[0], lam[0]
        height = y1[1, 0, 2] - y1[0, 0, 2]
        if where == "dual" and height.real < X[LEVEL]:
            out[0, 0, 0] = 1.0 / (0.0 * height)

    @tangent_function
    def tangent(y0, y1, X, lam, out, K):
        K[:12, :12] = 0.0
        height = y1[1, 0, 2] - y1[0, 0, 2]
        if height.real < X[LEVEL]:
            K[0, 0] = (1.0 / (0.0 * height)).real

    kind = Kind(f"raising in its {where}", 2, 0, value, dual, no_bend)
    return _registered(kind._replace(tangent=tangent) if where == "tangent" else kind, (("level", 0),))


def raising_at_the_end_kind(where):
    """A spring k along the first axis of a; if it is stretched by more than LIMIT its internal variable cannot be computed."""

    @dual_function
    def dual(y0, y1, X, lam, out):
        out[:2] = 0.0
        add_tension(0.5 * X[K] * (displacement(y0, 0) + displacement(y1, 0)), 0, y0, y1, out)

    @dual_function
    def update_internal(y0, y1, X, lam, out):
        out[0, 0, 0] = displacement(y1, 0)
        if where == "settle" and displacement(y1, 0).real > LIMIT:
            raise ValueError("too long")

    @value_function
    def stored_energy(y, X, out):
        out[0] = 0.5 * X[K] * displacement(y, 0) ** 2
        if where == "kept" and displacement(y, 0).real > LIMIT:
            raise ValueError("too long")

    kind = dissipation(f"raising in {where}", 2, dual, dual)._replace(
        n_internal=1, condensed=Condensed(update_internal=update_internal, stored_energy=stored_energy)
    )
    return _registered(kind, (("k", 0), ("limit", 0), ("z", 1)))


RAISING = {where: raising_kind(where) for where in ("dual", "tangent")}
AT_THE_END = {where: raising_at_the_end_kind(where) for where in ("settle", "kept")}


def falling(where, turning=(1, 2, 3)):
    """A body that reaches height 0 after 0.1 s. If it rotates, steps take iterations; otherwise each step equals its
    prediction.
    """
    model = Model("falling", gravity=(0, 0, -9.81))
    body = model.add_body("body", BRICK, position=(0, 0, 0.05), angular_velocity=turning)
    model.add_interaction("raising", RAISING[where], model.ground, body, level=0.0)
    return model


def failed_run(model, integrator):
    """Return the error of a failing run."""
    with pytest.raises(ConvergenceError, match="not a finite number") as caught:
        simulate(model, 0.2, DT, integrator=integrator)
    return caught.value


@pytest.mark.parametrize("turning", [(1, 2, 3), (0, 0, 0)])
@pytest.mark.parametrize("integrator", ["em", "GGL-EM"])
@pytest.mark.parametrize("where", RAISING)
def test_exception_in_a_dual_or_tangent_fails_the_step(where, integrator, turning):
    if (where, integrator) == ("tangent", "GGL-EM"):
        pytest.skip("charts take derivatives of the dual")
    error = failed_run(falling(where, turning), integrator)
    force, mass = 1.0, 100.0 * 0.5 * 0.3 * 0.2
    t = np.sqrt(2 * 0.05 / (9.81 + force / mass))  # reached when the height is 0
    assert error.t <= t < error.t + DT
    assert "exception printed above" in str(error) or integrator != "em"
    assert all(np.isfinite(array).all() for array in error.reached.state)


@pytest.mark.parametrize("integrator", ["em", "em-d(0.5)", "GGL-EM"])
@pytest.mark.parametrize("where", AT_THE_END)
def test_exception_at_the_end_of_a_step_discards_the_step(where, integrator):
    """In the reached state work, dissipation and internal variables are those of the completed steps."""
    model = Model("stretched", gravity=(0, 0, 0))
    body = model.add_body("body", BRICK, position=(0.05, 0, 0), velocity=(1.0, 0, 0))
    model.add_interaction("raising", AT_THE_END[where], model.ground, body, k=1.0, limit=0.0, z=[0.05])
    error = failed_run(model, integrator)
    steps = round(error.t / DT)
    assert 2 <= steps < 6  # the length of 0.1 m is reached after 0.05 s
    before = simulate(model, steps * DT, DT, integrator=integrator).state(-1)
    for field, reached, expected in zip(before._fields, error.reached.state, before, strict=True):
        assert np.array_equal(reached, expected), field


def test_exception_in_a_force_fails_the_equilibrium():
    """A plate on three bearings that lowers itself by 3 cm, past the height where its force cannot be computed."""
    model = Model("resting", gravity=(0, 0, -9.81))
    body = model.add_body("body", BRICK, position=(0, 0, 0.05))
    for i in range(6):
        a, b = 2.0 * i, 2.0 * i + 1.0
        foot = model.ground.at((np.cos(a), np.sin(a), -1.0))
        model.add_spring(f"leg {i}", foot, body.at((0.2 * np.cos(b), 0.1 * np.sin(b), 0.02 * i)), 300.0)
    assert equilibrium(model).body("body").r[-1, 2] < 0.02
    model.add_interaction("raising", RAISING["dual"], model.ground, body, level=0.03)
    with pytest.raises(ConvergenceError, match="not finite"):
        equilibrium(model)


def _number(x):
    if x[0] == 0.0:
        raise ValueError("zero")
    return 2.0 * x[0]


def whole_function(x):
    if x[0] == 0.0:
        raise ValueError("zero")
    return 0


def _pair(x):
    if x[0] == 0.0:
        raise ValueError("zero")
    return x[0] + 1j, x[0]


def _filling(x, out):
    out[0] = x[0]
    if x[0] == 0.0:
        raise ValueError("zero")


@pytest.mark.parametrize(
    ("function", "result", "failed"),
    [
        (_number, types.float64, np.nan),
        (whole_function, types.int64, RAISED),
        (_pair, types.Tuple([types.complex128, types.float64]), (complex(np.nan, np.nan), np.nan)),
    ],
)
def test_raising_compiled_function_returns_nan(function, result, failed):
    signature = result(F1)
    at = function_at(signature)

    @allocating_kernel
    def call(address, x):
        return at(address)(x)

    address = address_of(compiled(signature)(function))
    assert np.array_equal(call(address, np.array([1.0])), function(np.array([1.0])))
    assert np.array_equal(call(address, np.array([0.0])), failed, equal_nan=True)


@pytest.mark.parametrize("numbers", [F1, C1])
def test_raising_compiled_function_fills_its_last_array_with_nan(numbers):
    """The input is not changed."""
    signature = types.void(numbers, numbers)
    at = function_at(signature)

    @allocating_kernel
    def call(address, x, out):
        at(address)(x, out)

    sort = float if numbers is F1 else complex
    address, out = address_of(compiled(signature)(_filling)), np.zeros(3, sort)
    call(address, np.ones(1, sort), out)
    assert np.array_equal(out, [1, 0, 0])
    x = np.zeros(1, sort)
    call(address, x, out)
    assert np.isnan(out.real).all()
    assert numbers is F1 or np.isnan(out.imag).all()
    assert x[0] == 0
