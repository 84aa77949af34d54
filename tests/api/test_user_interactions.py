"""Interactions defined by a user: their effect, and the checks when they are added to a model.

Models of `tests/support/user_kinds.py` are also run by `tests/laws/test_completeness.py` through all stages.
"""

import numpy as np
import pytest

import rodsim
from discretization.interaction_kinds import INTERACTIONS
from rigid.errors import ModelError
from rodsim import Model, PointMass, audit, measures
from rodsim.interactions import average, kernel_calls, minus, norm, push, times
from tests.support import user_kinds
from tests.support.user_kinds import (
    DT,
    Spring,
    Triangle,
    bodies,
    bodies_with_kinds,
    kinds,
    pair,
    poses,
    run,
    texts,
)


@pytest.mark.parametrize("how", ["kind", "text"])
def test_user_spring_moves_like_the_built_in_spring(how):
    one, other = (run(pair(kind), t_end=1.0).states(slice(None)) for kind in (how, "ours"))
    assert np.abs(one.r - other.r).max() < 1e-13
    assert np.abs(one.quat - other.quat).max() < 1e-13


@pytest.mark.parametrize("make", [bodies_with_kinds, user_kinds.bodies_with_expressions])
def test_em_conserves_energy_and_momenta_of_user_interactions(make):
    """The bodies are free; energies of a few joules."""
    result = run(make(), t_end=0.5)
    assert np.ptp(result.energy["spring"]) > 0.01
    assert np.ptp(result.energy["total"]) < 1e-13
    assert np.ptp(result.linear_momentum, axis=0).max() < 1e-13
    assert np.ptp(result.angular_momentum, axis=0).max() < 1e-13


def test_higher_order_scheme_accepts_text_interactions():
    """The substeps of `em4` go back in time."""
    audited = audit(run(texts(), "em4"))
    assert audited.ok, audited.text()


def test_a_kind_may_be_registered_again():
    """Repeated registration, as in a notebook: interactions created before keep their kind by name."""
    model = pair("kind")
    registered_again = rodsim.interaction("linear spring", 2, ("k", "l0"))(
        type("Again", (), {"value": spring_value, "dual": spring_dual})
    )
    assert registered_again.kind in INTERACTIONS
    other = bodies(2)
    a, b = (
        body.at(x) for body, x in zip(other.bodies.values(), ((0.2, 0.1, 0), (0, -0.1, 0.1)), strict=True)
    )
    other.add_interaction("spring", registered_again, a, b, k=50.0, l0=0.6)
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


def test_dissipation_equals_the_energy_balance():
    result = run(kinds())
    lost = result.dissipation
    assert lost[-1] > 1e-5
    assert np.diff(lost).min() >= 0.0
    assert audit(result).energy_balance < 1e-12


@pytest.mark.parametrize("make", [kinds, texts])
def test_rigid_twin_starts_with_the_same_energy(make):
    """Directions in section axes become directions of the body; interactions inside the rod are omitted."""
    model = make()
    twin = model.as_rigid()
    assert set(twin.others) == set(model.others)
    one, other = run(model, t_end=DT), run(twin, t_end=DT)
    assert one.energy["spring"][0] == pytest.approx(other.energy["spring"][0], rel=1e-12)
    assert audit(other).ok


def oblique():
    """A rod oblique to all axes, a body next to it, and a kind with a direction in the rod's section."""
    model = Model("oblique")
    rod = model.add_rod("rod", [(0, 0, 0), (0.6, 0.8, 0.3)], user_kinds.SOFT, 2, up=(0.3, 0, 1))
    a, b = (model.add_body(name, user_kinds.BRICK, (1.2, y, 0.1)) for name, y in (("a", 0.6), ("b", -0.5)))
    model.add_interaction("triangle", Triangle, rod.at(0.5, (0, 0.1, 0)), a, b, k=3.0, u=(0.2, 0.9, 0.4))
    model.add_interaction("within", Spring, rod.at(0.5), rod.end, k=3.0, l0=0.1)
    return model


def test_rigid_twin_keeps_section_directions_but_not_internal_interactions():
    model = oblique()
    twin = model.as_rigid()
    assert [words for words in twin.left_out if "within" in words] == [
        "interaction 'within' joins two points of rod 'rod', which do not move relative to each other here: left out"
    ]
    del model.others["within"]
    one, other = (run(variant, t_end=DT).energy["spring"][0] for variant in (model, twin))
    assert one == pytest.approx(other, rel=1e-12)
    assert one > 0.1


def test_force_scale_determines_the_round_off():
    """At least the initial forces, and those of a displacement of one metre; dissipative forces are small
    compared with inertia.
    """
    force, moment = pair("kind").build().system.others.size[0]
    assert 50.0 < force < 1e4
    assert 0.1 < moment < 1e4
    built = kinds().build()
    sizes = dict(zip(built.interaction_names, built.system.others.size.tolist(), strict=True))
    assert sizes["interaction 'gust'"] == [0.0, 0.0]


def test_dual_is_proportional_to_its_multiplier():
    rng = np.random.default_rng(6)
    y0, y1 = poses(rng, 2), poses(rng, 2)
    lever = np.concatenate([[0.1, 0.2, 0.3], np.eye(3).ravel()])
    X = np.concatenate([lever, lever, [3.0, 0.5]])
    once, twice = (kernel_calls.dual(Spring.kind, y0, y1, X, lam) for lam in (1.0, 2.0))
    assert np.array_equal(twice, 2.0 * once)


@pytest.mark.parametrize("by_kind", [True, False])
def test_point_mass_accepts_moment_free_interactions(by_kind):
    model = Model("masses")
    a, b = (model.add_body(name, PointMass(1.0), (x, 0, 0)) for name, x in (("a", 0), ("b", 1)))
    if by_kind:
        model.add_interaction("spring", Spring, a, b, k=9.0, l0=0.8)
    else:
        model.add_energy("spring", "4.5*(d - 0.8)**2", {"d": measures.distance(a, b)})
    result = run(model, t_end=0.5)
    assert np.ptp(result.energy["total"]) < 1e-14
    model.add_energy("turns", "w**2", {"w": measures.cosine(a, (1, 0, 0), b, (1, 0, 0))})
    with pytest.raises(ModelError, match="turns"):
        model.build()


def test_interaction_has_a_description():
    model = bodies_with_kinds()
    assert repr(Spring) == "<interaction 'linear spring': energy of 2 frames>"
    description = model.others["triangle"].described()
    assert description["kind"] == "triangle"
    assert description["numbers"] == {"k": 3.0, "u": [0.0, 1.0, 0.5]}
    assert "interactions of your own" in model._repr_html_()
