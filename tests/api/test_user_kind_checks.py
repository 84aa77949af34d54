"""Checks of a kind of interaction at its registration, and the hash of its code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit

import rodsim
from rigid.errors import ModelError
from rodsim.interactions import average, cross, dot, minus, norm, push, registration, times, turn


def right_value(y, X):
    d = minus(y[1, 0], y[0, 0])
    return 0.5 * X[0] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])


def right_dual(y0, y1, X, out):
    pull(out, times(X[0], average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0]))))


@njit
def pull(out, f):
    """Add a force to the second frame, and its reaction to the first."""
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def of_the_end(y0, y1, X, out):
    pull(out, times(X[0], minus(y1[1, 0], y1[0, 0])))


def one_sided(y0, y1, X, out):
    push(out, 1, times(X[0], average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0]))))


def by_norm(y, X):
    d = minus(y[1, 0], y[0, 0])
    return 0.5 * X[0] * (abs(d[0]) ** 2 + abs(d[1]) ** 2 + abs(d[2]) ** 2)


def real_dual(y0, y1, X, out):
    d = average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0]))
    pull(out, (X[0] * d[0].real, X[0] * d[1].real, X[0] * d[2].real))


def placed(y, X):
    return X[0] * y[1, 0, 0]


def on_place(y0, y1, X, out):
    push(out, 1, (X[0], 0.0, 0.0))


def crossed_value(y, X):
    n = cross(y[0, 3], y[1, 3])
    return 0.5 * X[0] * (n[0] * n[0] + n[1] * n[1] + n[2] * n[2])


def crossed_dual(y0, y1, X, out):
    """Exact work, but with a moment: n is averaged, and is perpendicular to neither mean axis."""
    n = times(X[0], average(cross(y0[0, 3], y0[1, 3]), cross(y1[0, 3], y1[1, 3])))
    turn(out, 0, (0.0, 0.0, 1.0), cross(average(y0[1, 3], y1[1, 3]), n))
    turn(out, 1, (0.0, 0.0, 1.0), cross(n, average(y0[0, 3], y1[0, 3])))


def uneven(y0, y1, X, out):
    """Exact work; a force perpendicular to the change whose sign depends on the order of the ends."""
    d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
    f, g = times(X[0], average(d0, d1)), times(0.1 * X[0], cross(d0, d1))
    push(out, 1, (f[0] + g[0], f[1] + g[1], f[2] + g[2]))
    push(out, 0, (-f[0] - g[0], -f[1] - g[1], -f[2] - g[2]))


def drop(y0, y1, h, X, out):
    pull(out, times(X[0] / h, minus(minus(y1[1, 0], y1[0, 0]), minus(y0[1, 0], y0[0, 0]))))


def lose(y, z, X, out):
    pull(out, times(X[0], minus(z[1, 0], z[0, 0])))


def scaled_drop(scale, rate):
    """Wrong unless all numbers are 1."""

    def step_dual(y0, y1, h, X, out):
        drop(y0, y1, h / scale, X, out)

    def rate_dual(y, z, X, out):
        lose(y, rate * z, X, out)

    return step_dual, rate_dual


def end_step(y0, y1, h, X, out):
    d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
    s = dot(d1, minus(d1, d0)) / dot(d1, d1)
    pull(out, times(X[0] / h * s, d1))


def end_rate(y, z, X, out):
    d = minus(y[1, 0], y[0, 0])
    pull(out, times(X[0] * dot(d, minus(z[1, 0], z[0, 0])) / dot(d, d), d))


def cubic_step(y0, y1, h, X, out):
    e = minus(minus(y1[1, 0], y1[0, 0]), minus(y0[1, 0], y0[0, 0]))
    pull(out, times(X[0] * dot(e, e) / (h * h * h), e))


def cubic_rate(y, z, X, out):
    e = minus(z[1, 0], z[0, 0])
    pull(out, times(X[0] * dot(e, e), e))


def follows(y0, y1, x0, x1, h, X, out):
    out[0] = (x1[0] - x0[0]) / h - norm(minus(y1[1, 0], y1[0, 0]))


def without_x1(y0, y1, x0, x1, h, X, out):
    out[0] = x0[0] - norm(minus(y1[1, 0], y1[0, 0]))


def follows_a_place(y0, y1, x0, x1, h, X, out):
    out[0] = x1[0] - y1[0, 0, 0]


def rests(y0, y1, x0, x1, h, X, out):
    pass


def on_one(y0, y1, x0, x1, h, X, out):
    push(out, 0, times(x1[0], y1[1, 1]))


def across(y0, y1, x0, x1, h, X, out):
    pull(out, times(x1[0], y1[0, 1]))


def drives(y0, y1, x0, x1, h, X, out):
    pull(out, minus(y0[1, 0], y0[0, 0]))


def half_square(y, x, X):
    d = minus(y[1, 0], y[0, 0])
    return 0.5 * dot(d, d)


def of_real_parts(y0, y1, x0, x1, h, X, out):
    pull(out, times(x1[0].real, minus(y1[1, 0], y1[0, 0])))


def gust_step(y0, y1, h, X, out):
    push(out, 0, times(X[0] / h, minus(y1[0, 0], y0[0, 0])))


def gust_rate(y, z, X, out):
    push(out, 0, times(X[0], z[0, 0]))


RIGHT = {"value": right_value, "dual": right_dual}
SPRING, DAMPER, WITH_STATES = (
    {"frames": 2, **options} for options in ({"numbers": ("k",)}, {"numbers": ("c",)}, {"states": ("x",)})
)


def damping(step_dual, rate_dual):
    return {"step_dual": step_dual, "rate_dual": rate_dual}


def remembering(step_dual, evolve=follows, **attributes):
    return {"evolve": evolve, "step_dual": step_dual, **attributes}


LAWS = {  # law: registration arguments, functions of the kind, message about the violated law
    "work": (SPRING, {**RIGHT, "dual": of_the_end}, r"out \. \(y1 - y0\) = value\(y1\) - value\(y0\)"),
    "reality": (SPRING, {**RIGHT, "value": by_norm}, "value` of real poses|gradient of value|is not real"),
    "reaction": (SPRING, {**RIGHT, "dual": one_sided}, r"gradient of value|out \. \(y1 - y0\)"),
    "complex step": (SPRING, {**RIGHT, "dual": real_dual}, "a complex step of `dual` is its derivative"),
    "place": (SPRING, {"value": placed, "dual": on_place}, "a common displacement leaves its value"),
    "moment": (SPRING, {"value": crossed_value, "dual": crossed_dual}, "the sum of its moments is zero"),
    "evenness": (SPRING, {**RIGHT, "dual": uneven}, r"dual\(y1, y0\) = dual\(y0, y1\)"),
    "loss": (DAMPER, damping(*scaled_drop(-1.0, 1.0)), r"out \. \(y1 - y0\) >= 0"),
    "rate": (DAMPER, damping(*scaled_drop(1.0, 2.0)), r"is rate_dual\(y, z\) for short steps"),
    "oddness": (DAMPER, damping(end_step, end_rate), r"step_dual\(y1, y0\) = -step_dual\(y0, y1\)"),
    "linearity": (DAMPER, damping(cubic_step, cubic_rate), "rate_dual is linear in z"),
    "solution": (WITH_STATES, remembering(rests, without_x1), "`evolve` has no solution at poses drawn at random"),
    "states": (WITH_STATES, remembering(rests, follows_a_place), "a common displacement leaves its dual and its states"),
    "force": (WITH_STATES, remembering(on_one), "the sum of its forces is zero"),
    "torque": (WITH_STATES, remembering(across), "the sum of its moments is zero"),
    "gain": (WITH_STATES, remembering(drives, value=half_square), r"out \. \(y1 - y0\) >= the change of value"),
    "derivative": (WITH_STATES, remembering(of_real_parts), "a complex step of `step_dual` is its derivative"),
}  # fmt: skip


def registered(options, functions, name="wrong"):
    """Register a kind with these functions."""
    return rodsim.interaction(name, **options)(type("Wrong", (), functions))


def print_refusals():
    """Print the message for each kind that violates a law, in a process without the compiler."""
    messages = {}
    for case, (options, functions, _) in LAWS.items():
        try:
            registered(options, functions)
        except ModelError as error:
            messages[case] = f"{error}{' and is kept' if 'wrong' in registration.KINDS else ''}"
    print(json.dumps(messages))


@pytest.fixture(scope="module")
def uncompiled():
    """Messages of a process without the compiler: compiling the rejected kinds took ten times as long."""
    code = f"from tests.api.{Path(__file__).stem} import print_refusals; print_refusals()"
    completed = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(completed.stdout)


@pytest.mark.parametrize("case", LAWS)
def test_kind_that_violates_a_law_is_rejected_and_not_registered(case, uncompiled):
    assert re.search(rf"interaction 'wrong': .*({LAWS[case][-1]})", uncompiled[case])
    assert not uncompiled[case].endswith("and is kept")


def test_machine_code_that_violates_a_law_is_rejected_and_removed():
    *wrong, law = LAWS["work"]
    with pytest.raises(ModelError, match=rf"interaction 'wrong': .*({law})"):
        registered(*wrong)
    assert "wrong" not in registration.KINDS


def test_grounded_kind_may_have_a_moment():
    assert registered({**SPRING, "free": False}, LAWS["moment"][1]).name == "wrong"
    registration.KINDS.pop("wrong")


NON_KINDS = [  # message
    ({**SPRING, "rows": 1}, RIGHT, "constraints of a script are not supported"),
    ({**SPRING, "frames": 65}, RIGHT, "frames = 65"),
    ({**SPRING, "numbers": ("k", "k")}, RIGHT, "two numbers 'k'"),
    ({**SPRING, "numbers": "k"}, RIGHT, "give a list of names"),
    ({**SPRING, "numbers": ("k l",)}, RIGHT, "cannot name a number"),
    (SPRING, {**RIGHT, "value": 3}, "`value` is not a function of y, X"),
    ({"frames": 1, "numbers": ("c",)}, damping(gust_step, gust_rate), "the sum of its forces is zero.*free=False"),
    ({**SPRING, "states": ("x",)}, {"step_dual": rests}, "says step_dual; decorate a class with def evolve"),
    ({**SPRING, "states": {"x": 9}}, remembering(rests), "has 9 states; there may be 8"),
    ({**SPRING, "states": ("k",)}, remembering(rests), "'k' is a number and a state"),
    ({**SPRING, "states": ()}, remembering(rests), "`step_dual` is not a function of y0, y1, h, X, out"),
    ({**SPRING, "states": ("x",)}, remembering(drop), "`step_dual` is not a function of y0, y1, x0, x1, h, X, out"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "functions", "words"), NON_KINDS)
def test_non_kinds_are_rejected(options, functions, words):
    with pytest.raises(ModelError, match=rf"interaction 'wrong'.*{words}"):
        registered(options, functions)


def test_built_in_kind_names_are_reserved():
    with pytest.raises(ModelError, match="interaction 'bushing': is the name of a built-in kind"):
        registered(SPRING, RIGHT, name="bushing")


def without_comment(factor):
    """A function that reads a constant of its closure."""

    def value(y, X):
        return factor * X[0]

    return value


def with_comment(factor):
    """Function equal to that without a comment, with a docstring and a comment."""

    def value(y, X):
        """A constant."""
        # which is this
        return factor * X[0]

    return value


def calling_it(function):
    """A function that calls another one."""

    def value(y, X):
        return function(y, X)

    return value


def test_called_functions_are_part_of_the_kind_code():
    """Another constant or another called function gives another kind; other comments do not."""

    def digest(value):
        return registration.digest_of(2, {"value": value, "dual": one_sided})

    assert digest(without_comment(1.0)) == digest(with_comment(1.0))
    assert digest(without_comment(1.0)) != digest(without_comment(2.0))
    assert digest(calling_it(without_comment(1.0))) == digest(calling_it(with_comment(1.0)))
    assert digest(calling_it(without_comment(1.0))) != digest(calling_it(without_comment(2.0)))
    assert registration.digest_of(2, {"value": by_norm}) != registration.digest_of(3, {"value": by_norm})
