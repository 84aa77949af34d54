"""What is asked of a kind of interaction where it is registered, and what its code is."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rodsim
from rigid.errors import ModelError
from rodsim.interactions import average, cross, dot, minus, norm, push, registering, times, turn


def linear(value=None, dual=None, **more):
    """Register a spring of rest length zero, or what is wrong with it."""

    def right_value(y, X):
        d = minus(y[1, 0], y[0, 0])
        return 0.5 * X[0] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])

    def right_dual(y0, y1, X, out):
        f = times(X[0], average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])))
        push(out, 1, f)
        push(out, 0, times(-1.0, f))

    described = type("Wrong", (), {"value": value or right_value, "dual": dual or right_dual})
    return rodsim.interaction("wrong", **{"frames": 2, "numbers": ("k",), **more})(described)


def of_the_end(y0, y1, X, out):
    f = times(X[0], minus(y1[1, 0], y1[0, 0]))
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def one_sided(y0, y1, X, out):
    push(out, 1, times(X[0], average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0]))))


def by_norm(y, X):
    d = minus(y[1, 0], y[0, 0])
    return 0.5 * X[0] * (abs(d[0]) ** 2 + abs(d[1]) ** 2 + abs(d[2]) ** 2)


def real_dual(y0, y1, X, out):
    d = average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0]))
    f = (X[0] * d[0].real, X[0] * d[1].real, X[0] * d[2].real)
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def placed(y, X):
    return X[0] * y[1, 0, 0]


def on_place(y0, y1, X, out):
    push(out, 1, (X[0], 0.0, 0.0))


def crossed_value(y, X):
    n = cross(y[0, 3], y[1, 3])
    return 0.5 * X[0] * (n[0] * n[0] + n[1] * n[1] + n[2] * n[2])


def crossed_dual(y0, y1, X, out):
    """Does its work exactly, and has a moment: n is averaged, and stands across neither mean axis."""
    n = times(X[0], average(cross(y0[0, 3], y0[1, 3]), cross(y1[0, 3], y1[1, 3])))
    turn(out, 0, (0.0, 0.0, 1.0), cross(average(y0[1, 3], y1[1, 3]), n))
    turn(out, 1, (0.0, 0.0, 1.0), cross(n, average(y0[0, 3], y1[0, 3])))


def uneven(y0, y1, X, out):
    """Exact work; across the change it has what changes its sign with the ends."""
    d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
    f, g = times(X[0], average(d0, d1)), times(0.1 * X[0], cross(d0, d1))
    push(out, 1, (f[0] + g[0], f[1] + g[1], f[2] + g[2]))
    push(out, 0, (-f[0] - g[0], -f[1] - g[1], -f[2] - g[2]))


MISSES = {
    "work": (
        {"dual": of_the_end},
        r"out \. \(y1 - y0\) = value\(y1\) - value\(y0\)",
    ),
    "reality": ({"value": by_norm}, r"value` of real poses|gradient of value|is not real"),
    "reaction": ({"dual": one_sided}, r"gradient of value|out \. \(y1 - y0\)"),
    "complex step": ({"dual": real_dual}, r"a complex step of `dual` is its derivative"),
    "place": ({"value": placed, "dual": on_place}, "a common displacement leaves its value"),
    "moment": ({"value": crossed_value, "dual": crossed_dual}, "the sum of its moments is zero"),
    "evenness": ({"dual": uneven}, r"dual\(y1, y0\) = dual\(y0, y1\)"),
}


@pytest.mark.parametrize("case", MISSES)
def test_a_kind_that_misses_a_law_is_refused_by_name(case, uncompiled):
    assert re.search(rf"interaction 'wrong': .*({MISSES[case][1]})", uncompiled[case])
    assert not uncompiled[case].endswith("and is kept")


def test_machine_code_that_misses_a_law_is_refused_and_leaves_nothing():
    wrong, law = MISSES["work"]
    with pytest.raises(ModelError, match=rf"interaction 'wrong': .*({law})"):
        linear(**wrong)
    assert "wrong" not in registering.KINDS


def test_one_that_is_not_free_may_have_a_moment():
    assert linear(value=crossed_value, dual=crossed_dual, free=False).name == "wrong"
    registering.KINDS.pop("wrong")


def drop(y0, y1, h, X, out):
    f = times(X[0] / h, minus(minus(y1[1, 0], y1[0, 0]), minus(y0[1, 0], y0[0, 0])))
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def lose(y, z, X, out):
    f = times(X[0], minus(z[1, 0], z[0, 0]))
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def scaled_drop(scale, rate):
    """Wrong but for ones."""

    def step_dual(y0, y1, h, X, out):
        drop(y0, y1, h / scale, X, out)

    def rate_dual(y, z, X, out):
        lose(y, rate * z, X, out)

    return step_dual, rate_dual


def test_a_dissipation_that_is_said_to_be_free_has_no_force_left_over():
    described = type("Wrong", (), {"step_dual": gust_step, "rate_dual": gust_rate})
    with pytest.raises(ModelError, match=r"interaction 'wrong': .*the sum of its forces is zero.*free=False"):
        rodsim.interaction("wrong", 1, ("c",))(described)


def end_step(y0, y1, h, X, out):
    d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
    s = dot(d1, minus(d1, d0)) / dot(d1, d1)
    f = times(X[0] / h * s, d1)
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def end_rate(y, z, X, out):
    d = minus(y[1, 0], y[0, 0])
    f = times(X[0] * dot(d, minus(z[1, 0], z[0, 0])) / dot(d, d), d)
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def cubic_step(y0, y1, h, X, out):
    e = minus(minus(y1[1, 0], y1[0, 0]), minus(y0[1, 0], y0[0, 0]))
    f = times(X[0] * dot(e, e) / (h * h * h), e)
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def cubic_rate(y, z, X, out):
    e = minus(z[1, 0], z[0, 0])
    f = times(X[0] * dot(e, e), e)
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


DISSIPATIONS_MISS = {
    "loss": (*scaled_drop(-1.0, 1.0), r"out \. \(y1 - y0\) >= 0"),
    "rate": (*scaled_drop(1.0, 2.0), r"is rate_dual\(y, z\) for short steps"),
    "oddness": (end_step, end_rate, r"step_dual\(y1, y0\) = -step_dual\(y0, y1\)"),
    "linearity": (cubic_step, cubic_rate, "rate_dual is linear in z"),
}


@pytest.mark.parametrize("case", DISSIPATIONS_MISS)
def test_a_dissipation_that_misses_a_law_is_refused(case, uncompiled):
    assert re.search(rf"interaction 'wrong': .*{DISSIPATIONS_MISS[case][-1]}", uncompiled[case])


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
    f = times(x1[0], y1[0, 1])
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def drives(y0, y1, x0, x1, h, X, out):
    f = minus(y0[1, 0], y0[0, 0])
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def half_square(y, x, X):
    d = minus(y[1, 0], y[0, 0])
    return 0.5 * dot(d, d)


def of_real_parts(y0, y1, x0, x1, h, X, out):
    f = times(x1[0].real, minus(y1[1, 0], y1[0, 0]))
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


STATES_MISS = {
    "solution": ({"evolve": without_x1, "step_dual": rests}, "`evolve` has no solution at poses drawn at random"),
    "states": ({"evolve": follows_a_place, "step_dual": rests}, "a common displacement leaves its dual and its states"),
    "force": ({"evolve": follows, "step_dual": on_one}, "the sum of its forces is zero"),
    "torque": ({"evolve": follows, "step_dual": across}, "the sum of its moments is zero"),
    "gain": ({"evolve": follows, "step_dual": drives, "value": half_square}, r"out \. \(y1 - y0\) >= the change of value"),
    "derivative": ({"evolve": follows, "step_dual": of_real_parts}, "a complex step of `step_dual` is its derivative"),
}  # fmt: skip


@pytest.mark.parametrize("case", STATES_MISS)
def test_a_kind_with_states_that_misses_a_law_is_refused(case, uncompiled):
    assert re.search(rf"interaction 'wrong': .*{STATES_MISS[case][-1]}", uncompiled[f"states: {case}"])


@pytest.mark.parametrize(
    ("says", "states", "why"),
    [
        ({"step_dual": rests}, ("x",), "says step_dual; decorate a class with def evolve"),
        ({"evolve": follows, "step_dual": rests}, {"x": 9}, "has 9 states; there may be 8"),
        ({"evolve": follows, "step_dual": rests}, ("k",), "'k' is a number and a state"),
        ({"evolve": follows, "step_dual": rests}, (), "`step_dual` is no function of y0, y1, h, X, out"),
        ({"evolve": follows, "step_dual": drop}, ("x",), "`step_dual` is no function of y0, y1, x0, x1, h, X, out"),
    ],
)  # fmt: skip
def test_states_that_do_not_fit_are_refused(says, states, why):
    with pytest.raises(ModelError, match=why):
        rodsim.interaction("wrong", frames=2, numbers=("k",), states=states)(type("Wrong", (), says))


def say_refusals():
    """What is said of each kind that misses a law, for a process without the compiler."""
    said = {}
    for case, (wrong, _) in MISSES.items():
        said[case] = refusal(linear, **wrong)
    for case, (step_dual, rate_dual, _) in DISSIPATIONS_MISS.items():
        described = type("Wrong", (), {"step_dual": step_dual, "rate_dual": rate_dual})
        said[case] = refusal(rodsim.interaction("wrong", 2, ("c",)), described)
    for case, (wrong, _) in STATES_MISS.items():
        described = type("Wrong", (), wrong)
        said[f"states: {case}"] = refusal(rodsim.interaction("wrong", 2, states=("x",)), described)
    print(json.dumps(said))


def refusal(register, *given, **more):
    """What is said where it is registered, which leaves nothing."""
    try:
        register(*given, **more)
    except ModelError as error:
        return f"{error}{' and is kept' if 'wrong' in registering.KINDS else ''}"
    registering.KINDS.pop("wrong")
    return "taken"


@pytest.fixture(scope="module")
def uncompiled():
    """What a process without the compiler says: to compile what is refused took ten times as long."""
    code = f"from tests.api.{Path(__file__).stem} import say_refusals; say_refusals()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def gust_step(y0, y1, h, X, out):
    push(out, 0, times(X[0] / h, minus(y1[0, 0], y0[0, 0])))


def gust_rate(y, z, X, out):
    push(out, 0, times(X[0], z[0, 0]))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rows": 1}, "constraints of a script are not taken yet"),
        ({"frames": 9}, "frames = 9"),
        ({"numbers": ("k", "k")}, "two numbers 'k'"),
        ({"numbers": "k"}, "give a list of names"),
        ({"numbers": ("k l",)}, "cannot name a number"),
        ({"value": 3}, "`value` is no function of y, X"),
    ],
)
def test_what_is_no_kind_is_refused(given, words):
    with pytest.raises(ModelError, match=rf"interaction 'wrong'.*{words}"):
        linear(**given)


def test_a_name_of_ours_is_not_taken():
    with pytest.raises(ModelError, match="interaction 'bushing': is the name of one of ours"):
        rodsim.interaction("bushing", 2, ("k",))(linear_class())


def linear_class():
    class Right:
        def value(y, X):
            d = minus(y[1, 0], y[0, 0])
            return 0.5 * X[0] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])

        def dual(y0, y1, X, out):
            f = times(X[0], average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])))
            push(out, 1, f)
            push(out, 0, times(-1.0, f))

    return Right


def scaled(factor):
    """A function that reads a constant of where it stands."""

    def value(y, X):
        return factor * X[0]

    return value


def told(factor):
    """The same, with words."""

    def value(y, X):
        """A constant."""
        # which is this
        return factor * X[0]

    return value


def calling_it(function):
    """One that calls another."""

    def value(y, X):
        return function(y, X)

    return value


def test_what_a_kind_calls_is_part_of_its_code():
    """Another constant, or another function that it calls, is another kind; other words are not."""

    def digest(value):
        return registering.digest_of(2, {"value": value, "dual": one_sided})

    assert digest(scaled(1.0)) == digest(told(1.0))
    assert digest(scaled(1.0)) != digest(scaled(2.0))
    assert digest(calling_it(scaled(1.0))) == digest(calling_it(told(1.0)))
    assert digest(calling_it(scaled(1.0))) != digest(calling_it(scaled(2.0)))
    assert registering.digest_of(2, {"value": by_norm}) != registering.digest_of(3, {"value": by_norm})
