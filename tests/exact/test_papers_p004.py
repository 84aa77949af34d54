"""The tops of 004 (alpha- and gamma-type inertia): claims, coefficients, and the figures behind them."""

import pytest

from rodsim.papers import symmetrical_top
from rodsim.papers import top_measures as tops
from tests.support.studies import is_drawn, unconfirmed_statements

# Claims that do not hold, each with its reason in the report.
KNOWN = {
    ("004 abstract", "the types differ entirely in their numerical features (Lobatto IIIA-B)"),
    ("004 abstract", "gamma-type integrations are superior to alpha-type: EMS"),
    ("004 abstract", "gamma-type integrations are superior to alpha-type: Lobatto IIIA-B"),
    ("004 abstract", "the same of EMS and of Lobatto IIIA-B with 3 stages"),
    (
        "Xu and Zhong 2016, as reported",
        "the mean of the principal moments is near the best gamma, for the fast top too",
    ),
    ("004 abstract", "a good gamma makes integrations more stable than any alpha: IMS"),
    ("004 abstract", "a good gamma makes integrations more stable than any alpha: GL-SPARK"),
    ("004 abstract", "a good gamma makes integrations more stable than any alpha: Lobatto IIIA-B"),
}


@pytest.fixture(scope="module", autouse=True)
def coarse_scans():
    """Fewer step sizes than in the study, over the same range, and 20 steps of each: the same claims hold."""
    cached = (tops.mean_iterations, tops.largest_stable_step)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tops, "GROWTH", tops.GROWTH**2)
        patch.setattr(tops, "STEPS", 20)
        patch.setattr(tops, "ITERATION_STEPS", tops.ITERATION_STEPS[::2])
        for function in cached:
            function.cache_clear()
        yield
    for function in cached:
        function.cache_clear()


@pytest.fixture(scope="module")
def study(coarse_scans):
    return symmetrical_top.study()


@pytest.fixture(scope="module")
def scan():
    """Errors of the nutating and the fast top over the scans of alpha and gamma, by top, type and method."""
    return {
        (top.name, *key): errors
        for top in (tops.NUTATING, tops.FAST)
        for key, errors in tops.scan_of(top).items()
    }


@pytest.mark.slow
def test_every_claim_of_the_tops_holds_except_known_differences(study):
    assert unconfirmed_statements(study) == KNOWN


@pytest.mark.slow
def test_the_picture_of_the_tops_is_drawn(study, tmp_path):
    assert is_drawn(study, tmp_path / "picture.png")


@pytest.mark.parametrize(("t", "angles"), [(row[0], row[1:]) for row in tops.EXACT])
@pytest.mark.parametrize("inertia", tops.TYPES)
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_exact_nutation_does_not_depend_on_the_inertia(t, angles, inertia, factor):
    q = tops.run_of(tops.NUTATING, tops.ACCURATE, inertia, factor, 0.005, t).q[-1]
    assert tops.angle_between(q, tops.exact_quaternion(*angles)) < 1e-13


def test_fast_top_is_in_steady_precession():
    run = tops.run_of(tops.FAST, tops.ACCURATE, "gamma", 1.0, 1.25e-4, 0.1)
    assert tops.angle_between(run.q[-1], tops.precessing_quaternion(0.1)) < 1e-13
    published = [0.47023439052574838, 0.49999746345668761, 0.0015926508965691195, 0.72724110030090981]
    assert run.q[-1] == pytest.approx(published, abs=1e-13)


@pytest.mark.parametrize("label", ["IMS", "EMS", "GL-SPARK(1)"])
@pytest.mark.parametrize("top", ["nutating top", "fast top"])
def test_midpoint_methods_do_not_depend_on_alpha(scan, top, label):
    errors = scan[top, "alpha", label]
    assert errors == pytest.approx(errors[0], rel=1e-9)


@pytest.mark.parametrize("label", tops.BY_LOBATTO)
@pytest.mark.parametrize("top", ["nutating top", "fast top"])
def test_lobatto_pairs_make_no_difference_of_alpha_and_gamma(scan, top, label):
    alpha, gamma = (scan[top, inertia, label] for inertia in tops.TYPES)
    assert alpha == pytest.approx(gamma, rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("label", tops.BY_GAUSS)
def test_best_gamma_is_near_the_moment_about_the_axis_of_a_fast_spin(scan, label):
    for top in (tops.NUTATING, tops.FAST):
        best = tops.best_factor(scan[top.name, "gamma", label]) * top.mean / top.J[2]
        assert 0.7 < best < 2.0


@pytest.mark.slow
def test_midpoint_spark_runs_with_larger_steps_on_alpha_than_on_gamma():
    alpha, gamma = (tops.largest_stable_step("GL-SPARK(1)", inertia, 1.0) for inertia in tops.TYPES)
    assert gamma.end == "fails"
    assert alpha.h > 2 * gamma.h > 0


@pytest.mark.parametrize("factor", tops.COARSE_SCAN)
@pytest.mark.parametrize("inertia", tops.TYPES)
@pytest.mark.parametrize("method", tops.METHODS[:2])
def test_stability_scan_ends_at_the_first_failing_step(method, inertia, factor):
    limit = tops.largest_stable_step(method, inertia, factor)
    assert limit.end in ("fails", "blows up")
    assert tops.outcome(method, inertia, factor, limit.h) == "stable"
    assert tops.outcome(method, inertia, factor, tops.GROWTH * limit.h) == limit.end
