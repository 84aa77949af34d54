"""User kinds of a script: derivatives with respect to their parameters, and messages if a function does not compile."""

import importlib.util
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from rigid.errors import ModelError
from rigid.interactions.kinds import Group
from tests.support.step_endpoints import number_derivatives_hold
from tests.support.user_kinds import Damper, Spring


@pytest.mark.parametrize("of_user", [Spring, Damper], ids=["Spring", "Damper"])
def test_user_kind_parameter_derivatives_are_those_of_forces_and_values(of_user):
    kind, random = of_user.kind, np.random.default_rng(1)
    count = sum(max(size, 1) for _, size in of_user.numbers)
    numbers = np.concatenate([random.normal(size=12 * kind.arity), random.uniform(1.0, 2.0, count)])
    group = Group(kind, np.arange(kind.arity)[None], numbers[None], np.zeros(1, np.int64))

    def poses():
        quat = random.normal(size=(kind.arity, 4))
        return SimpleNamespace(
            r=random.normal(size=(kind.arity, 3)), quat=quat / np.linalg.norm(quat, axis=1, keepdims=True)
        )

    number_derivatives_hold(group, poses(), poses(), 10.0 if of_user.dissipates else 1.0)


KIND = """
import rodsim, numpy as np
from rodsim.interactions import minus, norm, push, times
@rodsim.interaction("wrong", frames=2, numbers=("k",))
class Kind:
    def dual(y0, y1, X, out):
        push(out, 1, times(X[0], minus(y1[1, 0], y1[0, 0])))
    def value(y, X):
        {}
"""
WRONG = {
    "return X[0] * (minus(y[1, 0], y[0, 0]) + 1.0)": (
        "tuple of 3 numbers + number is not possible (line 9 of wrong_kind.py: return X[0] * (minus"
    ),
    "return X[0] * norm(y[1, 0, 0])": "an index 0 of a number is not possible",
    "return X[0] * missing(y)": "name 'missing' is not defined",
    "return np.linalg.missing(y)": "module 'numpy.linalg' has no attribute 'missing'",
    "return X[0] + object()": "'object' cannot be used in a compiled function (line 9 of wrong_kind.py",
    "return X[0] * y[1, 0]": "it returns array with 1 index, not a number",
    "return (X[0] if len(X) > 1 else (X[0], X[0]))[0]": "a value is number in one place and tuple of 2 numbers in another",
    "return X[0] if X[0] > y[0, 0, 0] else 2 * X[0]": "number > number is not possible for complex numbers",
}


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("body", WRONG)
def test_function_that_does_not_compile_is_explained(body, tmp_path):
    path = tmp_path / "wrong_kind.py"
    path.write_text(KIND.format(body))
    spec = importlib.util.spec_from_file_location("wrong_kind", path)
    with pytest.raises(ModelError) as error:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert f"interaction 'wrong': `value` does not compile: {WRONG[body]}" in str(error.value)
    for raw in ("nopython", "complex128", "Overload", "Dispatcher", "preparing.py"):
        assert raw not in str(error.value)
