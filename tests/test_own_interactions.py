"""Interactions of a user's own: what is asked of a kind where it is registered, what files know of it, what it does.

Models of `tests/own_kinds.py` are among those of `tests/test_completeness.py`, which runs them through everything.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import rodsim
from discretization import registered_kinds
from discretization.others import OTHERS
from discretization.registered_kinds import OURS
from discretization.system import fingerprint
from examples import own_interaction as example
from rigid.compilation import address_of
from rigid.errors import ModelError
from rodsim import (
    Model,
    PointMass,
    Result,
    audit,
    compare,
    measures,
    modes,
    simulate,
)
from rodsim.cli.main import main
from rodsim.interactions import average, calling, cross, dot, minus, norm, push, registering, times, turn
from rodsim.results.errors import ResultError
from rodsim.scenes.errors import SceneError
from rodsim.scenes.loading import load
from tests.own_kinds import BRICK, SOFT, Spring, Triangle, bodies, kinds, of_kinds, of_texts, poses, texts

DT, T_END = 0.01, 0.1


def run(model, integrator="em", t_end=T_END, **more):
    return simulate(model, t_end, DT, integrator, output_every=1, progress=False, **more)


def pair(how):
    """Two bodies that turn, on a spring of ours, of the script's kind, or of a text."""
    model = bodies(2)
    a, b = (
        body.at(x) for body, x in zip(model.bodies.values(), ((0.2, 0.1, 0), (0, -0.1, 0.1)), strict=True)
    )
    if how == "ours":
        model.add_spring("spring", a, b, 50.0, 0.6)
    elif how == "kind":
        model.add_interaction("spring", "linear spring", a, b, k=50.0, l0=0.6)
    else:
        model.add_energy("spring", "k*(l - l0)**2/2", {"l": measures.distance(a, b)}, k=50.0, l0=0.6)
    return model


@pytest.mark.parametrize("how", ["kind", "text"])
def test_a_linear_spring_of_ones_own_moves_as_ours(how):
    one, other = (
        run(pair(how), t_end=1.0).states(slice(None)),
        run(pair("ours"), t_end=1.0).states(slice(None)),
    )
    assert np.abs(one.r - other.r).max() < 1e-13
    assert np.abs(one.quat - other.quat).max() < 1e-13


@pytest.mark.parametrize("make", [of_kinds, of_texts])
def test_em_keeps_energy_and_momenta(make):
    """Nothing holds the bodies; energies of a few joules."""
    result = run(make(), t_end=0.5)
    assert np.ptp(result.energy["spring"]) > 0.01
    assert np.ptp(result.energy["total"]) < 1e-13
    assert np.ptp(result.linear_momentum, axis=0).max() < 1e-13
    assert np.ptp(result.angular_momentum, axis=0).max() < 1e-13


def test_a_scheme_of_higher_order_takes_texts():
    """Its substeps go back in time."""
    found = audit(run(texts(), "em4"))
    assert found.ok, found.text()


def test_a_kind_may_be_registered_again():
    """As in a notebook: what was made of it before is of its name all the same."""
    model = pair("kind")
    again = rodsim.interaction("linear spring", 2, ("k", "l0"))(
        type("Again", (), {"value": spring_value, "dual": spring_dual})
    )
    assert again.kind in OTHERS
    other = bodies(2)
    a, b = (
        body.at(x) for body, x in zip(other.bodies.values(), ((0.2, 0.1, 0), (0, -0.1, 0.1)), strict=True)
    )
    other.add_interaction("spring", again, a, b, k=50.0, l0=0.6)
    for _ in range(2):
        one, two = model.build().system.others, other.build().system.others
        assert np.array_equal(one.numbers, two.numbers)
        assert np.array_equal(one.kind, two.kind)


def spring_value(y, X):
    e = norm(minus(y[1, 0], y[0, 0])) - X[1]
    return 0.5 * X[0] * e * e


def spring_dual(y0, y1, X, out):
    d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
    mean = 0.5 * (norm(d0) + norm(d1))
    f = times(X[0] * (mean - X[1]) / mean, average(d0, d1))
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def test_a_dissipation_takes_what_the_balance_says():
    result = run(kinds())
    lost = result.dissipation
    assert lost[-1] > 1e-5
    assert np.diff(lost).min() >= 0.0
    assert audit(result).energy_balance < 1e-12


@pytest.mark.parametrize("make", [kinds, texts])
def test_a_rigid_twin_begins_with_the_same_energy(make):
    """Directions in the axes of sections are those of the body then; what joins the rod to itself is none of them."""
    model = make()
    twin = model.rigidified()
    assert set(twin.others) == set(model.others)
    one, other = run(model, t_end=DT), run(twin, t_end=DT)
    assert one.energy["spring"][0] == pytest.approx(other.energy["spring"][0], rel=1e-12)
    assert audit(other).ok


def oblique():
    """A rod across all axes, a body beside it, and a kind that has a direction in the rod's section."""
    model = Model("oblique")
    rod = model.add_rod("rod", [(0, 0, 0), (0.6, 0.8, 0.3)], SOFT, 2, up=(0.3, 0, 1))
    a, b = (model.add_body(name, BRICK, (1.2, y, 0.1)) for name, y in (("a", 0.6), ("b", -0.5)))
    model.add_interaction("triangle", Triangle, rod.at(0.5, (0, 0.1, 0)), a, b, k=3.0, u=(0.2, 0.9, 0.4))
    model.add_interaction("within", Spring, rod.at(0.5), rod.end, k=3.0, l0=0.1)
    return model


def test_directions_in_a_section_stay_in_its_twin_and_what_joins_the_rod_to_itself_does_not():
    model = oblique()
    twin = model.rigidified()
    assert [words for words in twin.left_out if "within" in words] == [
        "interaction 'within' joins two places of rod 'rod', which are at rest to each other here: left out"
    ]
    del model.others["within"]
    one, other = (run(each, t_end=DT).energy["spring"][0] for each in (model, twin))
    assert one == pytest.approx(other, rel=1e-12)
    assert one > 0.1


def test_the_size_of_its_forces_tells_their_rounding():
    """At least the forces at the start, and those of a metre; a dissipation's are small beside inertia."""
    force, moment = pair("kind").build().system.others.size[0]
    assert 50.0 < force < 1e4
    assert 0.1 < moment < 1e4
    built = kinds().build()
    sizes = dict(zip(built.other_names, built.system.others.size.tolist(), strict=True))
    assert sizes["interaction 'gust'"] == [0.0, 0.0]


@pytest.fixture
def elsewhere():
    """What another process has: no kind that is not ours; afterwards all is as before."""
    before, known = OTHERS[OURS:], dict(registering.KINDS)

    def leave():
        del OTHERS[OURS:]
        registering.KINDS.clear()

    yield leave
    OTHERS[OURS:] = before
    registering.KINDS.update(known)


def test_a_file_opens_where_its_kinds_are_not_registered(elsewhere, tmp_path):
    """It is looked at, compared and exported there; its audit names the kind and the cure."""
    path, again = tmp_path / "run.vtkhdf", tmp_path / "again.vtkhdf"
    run(kinds(), output=path)
    run(kinds(), output=again)
    elsewhere()
    result = Result.open(path)
    assert result.energy["spring"][-1] > 0.0
    assert compare(result, Result.open(again)).worst() == 0.0
    assert "linear spring" in str(result.description["others"])
    assert main(["export", str(path), "-o", str(tmp_path / "run.pvd")]) == 0
    assert main(["render", str(path), "-o", str(tmp_path / "run.png")]) == 0
    with pytest.raises(ModelError, match="is not registered"):
        rodsim.report(result, tmp_path / "page.html")
    with pytest.raises(ModelError, match=r"interaction '.*' is not registered.*import the script"):
        audit(result)
    with pytest.raises(ModelError, match=r"'linear spring' is no registered interaction; there are none"):
        kinds_of_names(bodies(2))


def kinds_of_names(model):
    a, b = model.bodies.values()
    model.add_interaction("spring", "linear spring", a, b, k=1.0, l0=1.0)


def test_a_file_of_texts_is_audited_anywhere(elsewhere, tmp_path):
    path = tmp_path / "run.vtkhdf"
    run(texts(), output=path)
    elsewhere()
    found = audit(Result.open(path))
    assert found.ok, found.text()
    assert found.energy_balance < 1e-12


def test_the_command_imports_the_script_that_registers(elsewhere, tmp_path, capsys):
    path = tmp_path / "run.vtkhdf"
    run(kinds(), output=path)
    elsewhere()
    assert main(["audit", str(path)]) == 2
    assert "is not registered" in capsys.readouterr().err
    assert main(["audit", str(path), "--import", str(tmp_path / "none.py")]) == 2
    assert "none.py: is no Python file" in capsys.readouterr().err
    assert main(["audit", str(path), "--import", str(Path(__file__).parent / "own_kinds.py")]) == 0


def test_what_files_say_does_not_depend_on_what_was_registered_before(elsewhere):
    before = fingerprint(texts().build().system), fingerprint(kinds().build().system)
    mine = dict(registering.KINDS)
    elsewhere()
    registering.KINDS.update(mine)
    for own in reversed(list(mine.values())):
        registered_kinds.register(own.kind)
    assert (fingerprint(texts().build().system), fingerprint(kinds().build().system)) == before


def test_a_kind_with_other_code_does_not_go_on_with_a_file(elsewhere, tmp_path):
    path = tmp_path / "run.vtkhdf"
    model = pair("kind")
    run(model, t_end=0.05, output=path)

    @rodsim.interaction("linear spring", frames=2, numbers=("k", "l0"))
    class Twice:
        def value(y, X):
            e = norm(minus(y[1, 0], y[0, 0])) - X[1]
            return X[0] * e * e

        def dual(y0, y1, X, out):
            d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
            mean = 0.5 * (norm(d0) + norm(d1))
            f = times(2.0 * X[0] * (mean - X[1]) / mean, average(d0, d1))
            push(out, 1, f)
            push(out, 0, times(-1.0, f))

    with pytest.raises(ResultError, match=r"differs from .* in .*others"):
        run(pair("kind"), output=path, resume=True)


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


def gonzalez(y0, y1, X, out):
    """The gradient at the start, and along the change what its work lacks: exact, and of both ends unlike."""
    d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
    e = minus(d1, d0)
    square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 1e-300
    f = times(X[0], d0)
    s = 0.5 * X[0] * square / square
    f = (f[0] + s * e[0], f[1] + s * e[1], f[2] + 2.0 * s * e[2] - s * e[2])
    g = times(0.1 * X[0], cross(d0, d1))  # does no work, and changes its sign with the ends
    push(out, 1, (f[0] + g[0] * 0.0, f[1], f[2]))
    push(out, 0, times(-1.0, f))
    turn(out, 0, (1.0, 0.0, 0.0), times(0.0, g))


def uneven(y0, y1, X, out):
    """Exact work; across the change it has what changes its sign with the ends."""
    d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
    f, g = times(X[0], average(d0, d1)), times(0.1 * X[0], cross(d0, d1))
    push(out, 1, (f[0] + g[0], f[1] + g[1], f[2] + g[2]))
    push(out, 0, (-f[0] - g[0], -f[1] - g[1], -f[2] - g[2]))


@pytest.mark.parametrize(
    ("wrong", "law"),
    [
        ({"dual": of_the_end}, r"out \. \(y1 - y0\) = value\(y1\) - value\(y0\)"),
        ({"value": by_norm}, r"value` of real poses|gradient of value|is not real"),
        ({"dual": one_sided}, r"gradient of value|out \. \(y1 - y0\)"),
        ({"dual": real_dual}, r"a complex step of `dual` is its derivative"),
        ({"value": placed, "dual": on_place}, "a common displacement leaves its value"),
        ({"value": crossed_value, "dual": crossed_dual}, "the sum of its moments is zero"),
        ({"dual": uneven}, r"dual\(y1, y0\) = dual\(y0, y1\)"),
    ],
)
def test_a_kind_that_misses_a_law_is_refused_by_name(wrong, law):
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


@pytest.mark.parametrize(
    ("scale", "rate", "law"),
    [(-1.0, 1.0, r"out \. \(y1 - y0\) >= 0"), (1.0, 2.0, r"is rate_dual\(y, z\) for short steps")],
)
def test_a_dissipation_that_misses_a_law_is_refused(scale, rate, law):
    def step_dual(y0, y1, h, X, out):
        drop(y0, y1, h / scale, X, out)

    def rate_dual(y, z, X, out):
        lose(y, times_all(rate, z), X, out)

    def times_all(s, z):
        return s * z

    with pytest.raises(ModelError, match=rf"interaction 'wrong': .*{law}"):
        rodsim.interaction("wrong", 2, ("c",), free=False)(
            type("Wrong", (), {"step_dual": step_dual, "rate_dual": rate_dual})
        )


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


@pytest.mark.parametrize(
    ("step_dual", "rate_dual", "law"),
    [
        (end_step, end_rate, r"step_dual\(y1, y0\) = -step_dual\(y0, y1\)"),
        (cubic_step, cubic_rate, "rate_dual is linear in z"),
    ],
)
def test_a_dissipation_is_odd_in_its_ends_and_linear_in_rates(step_dual, rate_dual, law):
    described = type("Wrong", (), {"step_dual": step_dual, "rate_dual": rate_dual})
    with pytest.raises(ModelError, match=rf"interaction 'wrong': .*{law}"):
        rodsim.interaction("wrong", 2, ("c",))(described)


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


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"k": 1.0}, "give l0="),
        ({"k": 1.0, "l0": 1.0, "c": 2.0}, "'c' is no number of 'linear spring'; it has k, l0"),
        ({"k": "much", "l0": 1.0}, "k = 'much' is not a number"),
    ],
)
def test_numbers_of_an_interaction_are_checked(given, words):
    model = bodies(2)
    with pytest.raises(ModelError, match=f"interaction 'it': {words}"):
        model.add_interaction("it", Spring, *model.bodies.values(), **given)


def test_anchors_of_an_interaction_are_checked():
    model = bodies(3)
    a, b, _ = model.bodies.values()
    with pytest.raises(ModelError, match="'triangle' is of 3 anchors; 2 are given"):
        model.add_interaction("it", Triangle, a, b, k=1.0, u=(0, 0, 1))
    with pytest.raises(ModelError, match="two anchors on body 0"):
        model.add_interaction("it", Spring, a, a.at((0, 0, 1)), k=1.0, l0=1.0)


@pytest.mark.parametrize(
    ("text", "named", "words"),
    [
        ("k*d**2", ("d",), "give k="),
        ("d**2", ("d", "e"), "does not contain the measure 'e'"),
        ("open('x')", ("d",), "is not known in an expression"),
        ("d**2 + sin", ("d", "sin"), "'sin' cannot name a measure"),
        ("d.real", ("d",), "cannot stand in an expression"),
        ("d**", ("d",), "cannot be read"),
    ],
)
def test_a_text_is_checked(text, named, words):
    model = bodies(2)
    each = {name: measures.distance(*model.bodies.values()) for name in named}
    with pytest.raises(ModelError, match=f"energy 'it'.*{words}"):
        model.add_energy("it", text, each)


def test_an_energy_that_is_not_finite_at_the_start_is_refused():
    model = bodies(2)
    model.add_energy("it", "log(d - 100)", {"d": measures.distance(*model.bodies.values())})
    with pytest.raises(ModelError, match="energy 'it': its energy or its forces are not finite at t = 0"):
        model.build()


@pytest.mark.parametrize("near", [1.0, 1e-3, 1e-8, 0.0])
def test_the_work_of_a_text_is_the_change_of_its_energy(near):
    """To round-off, whatever the measures and however near the ends; both ends count alike."""
    rng = np.random.default_rng(4)
    system = of_texts().build().system
    for k in range(len(system.others.kind)):
        kind = OTHERS[system.others.kind[k]]
        X = system.others.numbers[system.others.first[k] : system.others.first[k + 1]].copy()
        X[-kind.straining.count :] = 0.3  # the stress that prestress gives
        y0 = poses(rng, kind.arity)
        y1 = y0 + near * 0.3 * (poses(rng, kind.arity) - y0)
        f = calling.dual(kind, y0, y1, X)
        change = calling.value(kind, y1, X) - calling.value(kind, y0, X)
        assert abs(np.sum(f * (y1 - y0)) - change) < 1e-13 * (np.abs(f).max() + abs(change) + 10.0)
        assert np.abs(calling.dual(kind, y1, y0, X) - f).max() < 1e-13 * np.abs(f).max()


def test_the_strains_of_a_text_say_its_stress_and_take_more():
    """Its forces are the stress dV/de on the gradients of its strains; prestress adds C de, and leaves C."""
    rng = np.random.default_rng(5)
    system = of_texts().build().system
    for k in range(len(system.others.kind)):
        kind = OTHERS[system.others.kind[k]]
        X = system.others.numbers[system.others.first[k] : system.others.first[k + 1]][None].copy()
        own, y = kind.straining, poses(rng, kind.arity)
        e = np.zeros(own.count, complex)
        calling._value(address_of(own.strains), y, X[0], e)
        stress, C = own.stress(X, e[None].real), own.stiffness(X, e[None].real)[0]
        out = np.zeros((kind.arity, 4, 3), complex)
        calling._dual(address_of(own.dual), y, y, X[0], stress[0].astype(complex), out)
        assert np.abs(calling.dual(kind, y, y, X[0]) - out).max() < 1e-13 * np.abs(out).max()
        de = rng.normal(size=(1, own.count))
        more = own.prestressed(X, e[None].real, de)
        assert own.stress(more, e[None].real)[0] - stress[0] == pytest.approx(
            C @ de[0], abs=1e-13 * np.abs(C).max()
        )
        assert np.array_equal(own.stiffness(more, e[None].real)[0], C)
        f = calling.dual(kind, y, y, more[0])
        calling._dual(address_of(own.dual), y, y, X[0], (stress[0] + C @ de[0]).astype(complex), out)
        assert np.abs(f - out).max() < 1e-13 * np.abs(out).max()


def test_a_dual_is_as_many_times_as_is_asked():
    rng = np.random.default_rng(6)
    y0, y1 = poses(rng, 2), poses(rng, 2)
    lever = np.concatenate([[0.1, 0.2, 0.3], np.eye(3).ravel()])
    X = np.concatenate([lever, lever, [3.0, 0.5]])
    once, twice = (calling.dual(Spring.kind, y0, y1, X, lam) for lam in (1.0, 2.0))
    assert np.array_equal(twice, 2.0 * once)


def test_an_expression_of_sympy_is_its_text():
    d, k = sp.symbols("d k")
    found = []
    for energy in (k * (d - sp.Rational(1, 3)) ** 4 / 7 + sp.exp(-d), "k*(d - 1/3)**4/7 + exp(-d)"):
        model = bodies(2)
        model.add_energy("it", energy, {"d": measures.distance(*model.bodies.values())}, k=3.0)
        found.append(run(model).state().r)
    assert np.abs(found[0] - found[1]).max() < 1e-14


def test_a_coordinate_is_of_the_world_wherever_the_part_is():
    """A weight as an energy of the height: the body falls as by gravity, also far from the origin."""
    far = np.array([1e3, -2e3, 5e2])
    falling = Model("falls")
    body = falling.add_body("body", BRICK, far, angular_velocity=(1, 2, 3))
    weight = 9.0 * body.properties.mass
    falling.add_energy("weight", "w*z", {"z": measures.coordinate(body, (0, 0, 1))}, w=weight)
    result = run(falling)
    assert result.state().r[1] - far == pytest.approx([0, 0, -0.5 * 9.0 * T_END**2], abs=1e-11)


@pytest.mark.parametrize("by_kind", [True, False])
def test_a_point_mass_takes_what_does_not_turn_it(by_kind):
    model = Model("masses")
    a, b = (model.add_body(name, PointMass(1.0), (x, 0, 0)) for name, x in (("a", 0), ("b", 1)))
    if by_kind:
        model.add_interaction("spring", Spring, a, b, k=9.0, l0=0.8)
    else:
        model.add_energy("spring", "4.5*(d - 0.8)**2", {"d": measures.distance(a, b)})
    found = run(model, t_end=0.5)
    assert np.ptp(found.energy["total"]) < 1e-14
    model.add_energy("turns", "w**2", {"w": measures.cosine(a, (1, 0, 0), b, (1, 0, 0))})
    with pytest.raises(ModelError, match="turns"):
        model.build()


OF_A_MASS = {
    "distance": lambda ground, mass: measures.distance(ground, mass),
    "displacement of it": lambda ground, mass: measures.displacement(ground, mass, (0, 0, 1)),
    "coordinate": lambda ground, mass: measures.coordinate(mass, (0, 0, 1)),
    "displacement from it": lambda ground, mass: measures.displacement(mass, ground.at((0, 1, 1)), (0, 0, 1)),
    "cosine": lambda ground, mass: measures.cosine(ground, (0, 0, 1), mass, (0, 1, 1)),
    "angle": lambda ground, mass: measures.angle(ground, mass, (0, 0, 1)),
    "distance of a lever": lambda ground, mass: measures.distance(ground, mass.at((0.1, 0, 0))),
}


@pytest.mark.parametrize("of", OF_A_MASS)
def test_a_measure_that_would_turn_a_point_mass_is_refused(of):
    model = Model("mass")
    mass = model.add_body("mass", PointMass(1.0), (1, 0, 0))
    model.add_energy("it", "e**2", {"e": OF_A_MASS[of](model.ground, mass)})
    if of in ("distance", "displacement of it", "coordinate"):
        model.build()
        return
    with pytest.raises(ModelError, match="'it'"):
        model.build()


def test_a_kind_that_would_turn_a_point_mass_is_refused():
    model = Model("mass")
    mass, body = model.add_body("mass", PointMass(1.0), (1, 0, 0)), model.add_body("body", BRICK)
    model.add_interaction("planes", "planes", body, mass, k=1.0)
    with pytest.raises(ModelError, match="'planes'"):
        model.build()


def test_only_angles_are_known_but_for_turns():
    kinds_of = {k.name.split("; ")[0]: k.straining.period for k in energies_of(of_texts())}
    assert sorted(kinds_of.values()) == [0.0, 2 * np.pi]


def energies_of(model):
    return [OTHERS[k] for k in np.unique(model.build().system.others.kind)]


def test_a_strain_is_from_the_length_that_is_given():
    """And from the initial distance where none is."""
    found = []
    for length in (None, 0.5):
        model = bodies(2)
        a, b = model.bodies.values()
        model.add_energy("it", "e**2", {"e": measures.strain(a, b, length)})
        found.append(run(model, t_end=DT).energy["spring"][0])
    gap = np.hypot(1.0, 0.2)
    assert found == pytest.approx([0.0, (gap / 0.5 - 1) ** 2], abs=1e-15)


def test_an_angle_turns_as_its_axis_says():
    model = Model("turn")
    body = model.add_body("body", BRICK, angular_velocity=(0, 0, 0.5))
    model.add_energy("it", "m*a", {"a": measures.angle(model.ground, body, (0, 0, 1))}, m=1e-3)
    found = run(model).energy["spring"]
    assert found[-1] == pytest.approx(1e-3 * 0.5 * T_END, rel=1e-2)


def test_the_needles_swing_with_the_closed_form():
    found = modes(example.needles(), 2)
    assert 2 * np.pi * found.frequency == pytest.approx(example.frequencies(), rel=1e-9)
    result = example.run(example.needles((0.9, 0.2)), 0.5)
    assert np.ptp(result.energy["total"]) < 1e-15


def test_the_flap_stays_in_its_well_or_goes_over():
    result = example.run(example.flap(0.05), 3.0)
    a = example.angles_of(result, 1)[:, 0]
    # as far up on the other side: (a/W)^2 - 1 changes its sign
    assert a.max() == pytest.approx(np.sqrt(2 * example.W**2 - 0.05**2), abs=1e-3)
    assert a.min() == pytest.approx(0.05, abs=1e-3)
    assert np.ptp(result.energy["total"]) < 1e-14
    over = example.angles_of(example.run(example.flap(0.05, -2.0), 1.0), 1)[:, 0]
    assert over.min() < -example.W


def test_the_example_draws_its_picture(tmp_path):
    assert example.picture(tmp_path / "own.png").stat().st_size > 20_000


THEIRS = "from typing import Any, NamedTuple\nclass Point(NamedTuple):\n    x: Any\n    y: Any\n    z: Any\n"
ONE = "import sys; sys.path.insert(0, {folder!r}); import theirs; from rigid.linear_algebra import dot\n"
ONE += "assert dot(theirs.Point(1.0, 2.0, 3.0), theirs.Point(1.0, 2.0, 3.0)) == 14.0\n"
OTHER = "from rigid.linear_algebra import dot\nassert dot((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)) == 14.0\n"


def test_a_script_with_types_of_its_own_breaks_our_kernels_for_no_other(tmp_path):
    """The index of a kernel holds all its signatures: one of a module that is not there, and none can be read."""
    (tmp_path / "theirs.py").write_text(THEIRS)
    where = {
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PATH": "/usr/bin",
    }
    for script in (ONE.format(folder=str(tmp_path)), OTHER):
        done = subprocess.run(
            [sys.executable, "-c", script], env=where, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]


def test_the_machine_code_of_a_kind_lies_apart():
    folder = Path(Spring.kind.value._folder)
    assert folder.parent.name == "own_kinds"
    assert any(f"_value_{Spring.digest[:16]}" in path.name for path in folder.rglob("*.nbc"))


def test_machine_code_does_not_name_the_script(elsewhere, tmp_path):
    """It would be asked for where it is read, by whatever name the script is run or imported then."""
    path = tmp_path / "kind.py"
    path.write_text(KIND)
    spec = importlib.util.spec_from_file_location("kind_that_runs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kept = list(Path(module.Kind.kind.dual._folder).rglob("*.nbc"))
    assert len(kept) == 2
    assert not any(b"kind_that_runs" in each.read_bytes() for each in kept)
    elsewhere()


KIND = """
import rodsim
from rodsim.interactions import average, dot, minus, push, times

def apart(y):
    return minus(y[1, 0], y[0, 0])

@rodsim.interaction("of a file", frames=2)
class Kind:
    def value(y, X):
        d = apart(y)
        return 1.5 * dot(d, d)

    def dual(y0, y1, X, out):
        f = times(3.0, average(apart(y0), apart(y1)))
        push(out, 1, f)
        push(out, 0, times(-1.0, f))
"""


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
    assert registering.digest_of(2, {"value": spring_value}) != registering.digest_of(
        3, {"value": spring_value}
    )


def test_an_interaction_says_what_it_is():
    model = of_kinds()
    assert repr(Spring) == "<interaction 'linear spring': energy of 2 frames>"
    said = model.others["triangle"].described()
    assert said["kind"] == "triangle"
    assert said["numbers"] == {"k": 3.0, "u": [0.0, 1.0, 0.5]}
    assert "interactions of your own" in model._repr_html_()


SCENE = """
bodies: [{name: flap, shape: {type: box, size: [0.2, 0.1, 0.01], mass: 0.2}, angular_velocity: [0, 1, 0]}]
energies:
  - name: snap
    energy: H*((a/W)**2 - 1)**2
    measures: {a: {of: angle, a: ground, b: flap, axis: [0, 1, 0]}}
    parameters: {H: 0.05, W: 0.6}
run: {t_end: 0.05, dt: 0.01}
"""


def test_a_scene_has_the_text_of_an_energy(tmp_path):
    path = tmp_path / "flap.yaml"
    path.write_text(SCENE)
    entry = load(path).model.others["snap"]
    assert entry.energy == "H * ((a / W) ** 2 - 1) ** 2"
    assert entry.parameters == {"H": 0.05, "W": 0.6}
    path.write_text(SCENE.replace("of: angle", "of: distance"))
    with pytest.raises(SceneError, match=r":6: measure 'a': 'distance' has no 'axis'; leave it out"):
        load(path)
    path.write_text(SCENE.replace(", axis: [0, 1, 0]", ""))
    with pytest.raises(SceneError, match=r":6: measure 'a': 'angle' lacks 'axis'; give it"):
        load(path)
    path.write_text(SCENE.replace("energy: H", "energy: __import__('os')*H"))
    with pytest.raises(SceneError, match="is not known in an expression"):
        load(path)
