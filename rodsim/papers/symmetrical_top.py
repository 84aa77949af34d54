"""Study of spinning symmetrical tops with alpha- and gamma-type inertia under IMS, EMS and SPARK methods: 004.

Only the abstract and the appendix of 004 are open; its claims are tested on the two tops of `rodsim.papers.top_measures`.
Xu and Zhong (2016) are reported to say that the mean of the moments is a good gamma; their text was not at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from discretization.time.integrators import parse
from rigid.system import Floats
from rodsim.papers import top_measures as tops
from rodsim.papers.claims import Line, Study, listed, named, relative_drift, sweep
from rodsim.papers.spark_coefficients import (
    gauss_lobatto_residual,
    lobatto_residual,
    printed_tables,
    table_difference,
)
from rodsim.papers.top_measures import (
    ACCURATE,
    BY_GAUSS,
    BY_LOBATTO,
    FAST,
    METHODS,
    NUTATING,
    SCAN,
    TOPS,
    TYPES,
    angle_between,
    exact_quaternion,
    run_of,
    scan_of,
)

NAME = "symmetrical-top"
MIDDLE = len(SCAN) // 2  # index of gamma = mean in a scan
FACTOR = "alpha, gamma / mean moment"


def study() -> Study:
    """Check the claims of the abstract of 004, and its coefficients."""
    result = Study(NAME, "Symmetrical tops, alpha and gamma", "004")
    _tableaux(result)
    _orders(result)
    _energy(result)
    _equivalence(result)
    _features(result)
    _superior(result)
    _good_gamma(result)
    _convergence(result)
    _stability(result)
    return result


def _tableaux(result: Study) -> None:
    """Check the coefficients of 004 appendix A."""
    differences = {
        what: table_difference(ours, printed) for what, (printed, ours) in printed_tables().items()
    }
    result.claim(
        "004 A.2: the coefficients of the methods of 1 to 3 stages are those printed",
        f"largest difference: {named(differences, '.0e')}",
        max(differences.values()) < 1e-14,
    )
    gauss, lobatto_3 = max(map(gauss_lobatto_residual, range(1, 6))), max(map(lobatto_residual, range(2, 6)))
    result.claim(
        "004 (A.8)-(A.16): the conditions hold up to 5 stages; Ctilde(s - 2) of (A.16) counts as (A.11) does, k = 1..s - 1",
        f"largest residual: GL-SPARK {gauss:.0e}, Lobatto IIIA-B {lobatto_3:.0e}",
        max(gauss, lobatto_3) < 1e-14,
    )


def _orders(result: Study) -> None:
    """Check the orders of 004 sec. 4 against the exact nutation at t = 2."""
    exact, lines = exact_quaternion(*tops.EXACT[1][1:]), []

    def error(h: float, method: str, inertia: str, factor: float) -> float:
        """Return the angle to the exact orientation at t = 2."""
        return float(angle_between(run_of(NUTATING, method, inertia, factor, h, 2.0).q[-1], exact))

    for method in METHODS:
        order = parse(method).order
        steps = [2.0 / n for n in ((160, 320, 640) if order == 2 else (20, 40, 80))]
        alpha, gamma = (sweep(steps, error, method, *inertia) for inertia in (("alpha", 1.5), ("gamma", 1.0)))
        lines.append(gamma.line(method))
        result.claim_orders(
            f"004 sec. 4, A.1: {method} has order {order}",
            {"alpha": alpha.order, "gamma": gamma.order},
            order,
            f"alpha-type {alpha.order:.2f}, gamma-type {gamma.order:.2f}",
        )
    result.panel("Orientation at t = 2, gamma = mean moment", "h", "angle to the exact", lines, "log")


def _energy(result: Study) -> None:
    """Check that EMS conserves the energy, which its name promises."""
    runs = [run_of(top, "EMS", inertia, 1.0, top.h, 200 * top.h) for top in TOPS for inertia in TYPES]
    result.claim_below(
        "004 (61): EMS conserves energy and angular momentum, with either type",
        {
            "energy": max(relative_drift(run.energy()) for run in runs),
            "momentum about the vertical": max(
                relative_drift(run.momentum(run.system.symmetries[tops.VERTICAL])) for run in runs
            ),
        },
        1e-12,
        "200 steps: ",
        " (relative)",
    )


def _equivalence(result: Study) -> None:
    """Check the premise of 004, that the added energy vanishes on |q| = 1."""
    factors = (0.1, 1.0, 10.0)
    systems = [NUTATING.system(inertia, factor * NUTATING.mean) for inertia in TYPES for factor in factors]
    exact = 0.5 * float(np.array(NUTATING.J) @ np.array(NUTATING.Omega) ** 2)
    deviation = max(abs(system.kinetic(system.q0, system.v0) / exact - 1.0) for system in systems)
    end = exact_quaternion(*tops.EXACT[0][1:])
    runs = [
        run_of(NUTATING, ACCURATE, inertia, factor, 0.005, 1.0) for inertia in TYPES for factor in (0.5, 2.0)
    ]
    spread = max(float(angle_between(run.q[-1], end)) for run in runs)
    result.claim(
        "004 abstract: the types and their parameters are equivalent where |q| = 1",
        f"T differs by {deviation:.0e} for parameters of 0.1 to 10 times the mean; all tend to the exact motion: "
        f"GL-SPARK(3), h = 0.005, within {spread:.0e} rad",
        deviation < 1e-14 and spread < 1e-12,
    )


def by_type(methods: Sequence[str], x: Floats, values: Mapping[tuple[str, str], ArrayLike]) -> list[Line]:
    """Return the curves of a panel: one colour per method, dashed for alpha, solid for gamma."""
    return [
        Line(f"{method}, {inertia}", x, values[inertia, method], f"C{k}{style}")
        for k, method in enumerate(methods)
        for inertia, style in (("alpha", "o--"), ("gamma", ".-"))
    ]


def _spread(inertia: str, method: str) -> list[float]:
    """Return the ratio of the largest to the smallest error of a scan, for both tops."""
    return [float(errors.max() / errors.min()) for errors in (scan_of(top)[inertia, method] for top in TOPS)]


def _features(result: Study) -> None:
    """Measure how the errors depend on alpha and gamma, and draw the scans."""
    methods = [method for method in METHODS if method not in BY_LOBATTO]
    alpha = {method: max(_spread("alpha", method)) for method in methods}
    gamma = {method: min(_spread("gamma", method)) for method in methods}
    ratios = [f"{method} alpha {alpha[method]:.2f}, gamma {gamma[method]:.1f}" for method in methods]
    result.claim(
        "004 abstract: the types differ entirely in their numerical features (IMS, EMS, GL-SPARK)",
        f"largest over smallest error of the scan: {', '.join(ratios)}",
        max(alpha.values()) < 1.05 and min(gamma.values()) > 2.0,
    )
    apart = max(
        float(np.abs(scan_of(top)["alpha", method] / scan_of(top)["gamma", method] - 1.0).max())
        for top in TOPS
        for method in BY_LOBATTO
    )
    result.claim(
        "004 abstract: the types differ entirely in their numerical features (Lobatto IIIA-B)",
        f"the errors of alpha and gamma = alpha differ by {apart:.0e} of themselves",
        apart > 0.05,
        reason="All stages of Lobatto IIIA-B satisfy |q| = 1, where the two co-energies are equal and their gradients "
        "differ along q only, which the multiplier takes up: both types are one method, and alpha acts like gamma.",
    )
    order_2 = ("IMS", "EMS", "GL-SPARK(1)", "Lobatto-IIIA-B(2)")
    higher = ("GL-SPARK(2)", "GL-SPARK(3)", "Lobatto-IIIA-B(3)", "Lobatto-IIIA-B(4)")
    for top, shown, what in (
        (NUTATING, order_2, "methods of order 2"),
        (FAST, order_2, "methods of order 2"),
        (NUTATING, higher, "higher orders"),
    ):
        lines = by_type(shown, SCAN, scan_of(top))
        title = f"{top.name}, h = {top.h}: {what}"
        result.panel(title, FACTOR, "largest angle to the reference", lines, "log")


def _gains(method: str, gamma_error: Callable[[Floats], float]) -> list[float]:
    """Return the smallest error with alpha over an error with gamma, for both tops."""
    return [
        float(scan["alpha", method].min() / gamma_error(scan["gamma", method])) for scan in map(scan_of, TOPS)
    ]


def _superior(result: Study) -> None:
    """Compare the smallest error over gamma with the smallest over alpha."""
    cases: tuple[tuple[str, Sequence[str], str], ...] = (
        ("IMS and GL-SPARK", BY_GAUSS, ""),
        (
            "EMS",
            ("EMS",),
            "The error falls with growing gamma to that of the alpha-type, or a few per cent below it: what a "
            "small gamma adds has the sign of the error that is there, and does not cancel it.",
        ),
        ("Lobatto IIIA-B", BY_LOBATTO, "Here the two types are one method, see above."),
    )
    for label, methods, reason in cases:
        gains = {method: _gains(method, np.min) for method in methods}
        result.claim(
            f"004 abstract: gamma-type integrations are superior to alpha-type: {label}",
            "smallest error with alpha over smallest with gamma, nutating and fast top: "
            + ", ".join(f"{method} {a:.3g}, {b:.3g}" for method, (a, b) in gains.items()),
            min(map(min, gains.values())) > 1.1,
            reason=reason,
        )


def _good_gamma(result: Study) -> None:
    """Check whether an optimal gamma exists, and where it lies."""
    best = {method: [tops.best_factor(scan_of(top)["gamma", method]) for top in TOPS] for method in METHODS}
    with_optimum = (*BY_GAUSS, "Lobatto-IIIA-B(2)", "Lobatto-IIIA-B(4)")
    axial = {
        method: [x * top.mean / top.J[2] for x, top in zip(best[method], TOPS, strict=True)]
        for method in with_optimum
    }
    where = [f"{k} {best[k][0]:.2f}, {best[k][1]:.2f} ({a:.1f}, {b:.1f})" for k, (a, b) in axial.items()]
    result.claim(
        "004 abstract: gamma can be optimised: a best value exists (IMS, GL-SPARK, Lobatto IIIA-B with 2 and 4 stages)",
        f"best gamma over the mean moment, nutating and fast top (over the axial moment): {'; '.join(where)}",
        all(map(_inside, (best[method] for method in with_optimum)))
        and min(min(_spread("gamma", method)) for method in with_optimum) > 2.0,
    )
    ratios = {
        method: [
            float(errors.min() / errors[MIDDLE]) for errors in (scan_of(top)["gamma", method] for top in TOPS)
        ]
        for method in ("EMS", "Lobatto-IIIA-B(3)")
    }
    result.claim(
        "004 abstract: the same of EMS and of Lobatto IIIA-B with 3 stages",
        "; ".join(
            f"{k}: best at {best[k][0]:.2g}, {best[k][1]:.2g}, where the error is {a:.2f}, {b:.2f} of that at the mean"
            for k, (a, b) in ratios.items()
        ),
        all(_inside(best[method]) for method in ratios),
        reason="Their errors fall with gamma through most of the scan or all of it; for Lobatto IIIA-B(3) it hardly "
        "matters below the mean moment.",
    )
    at_mean = {method: _gains(method, lambda errors: errors[MIDDLE]) for method in BY_GAUSS}
    result.claim(
        "Xu and Zhong 2016, as reported: the mean of the principal moments is a good gamma: better than any alpha "
        "(IMS, GL-SPARK)",
        "smallest error with alpha over that with gamma = mean, nutating and fast top: "
        + ", ".join(f"{method} {a:.2f}, {b:.2f}" for method, (a, b) in at_mean.items()),
        min(map(min, at_mean.values())) > 1.1,
    )
    fast = {method: scan_of(FAST)["gamma", method] for method in BY_GAUSS}
    worst = {method: float(errors[MIDDLE] / errors.min()) for method, errors in fast.items()}
    axial_factors = [x for pair in axial.values() for x in pair]
    result.claim(
        "Xu and Zhong 2016, as reported: the mean of the principal moments is near the best gamma, for the fast top too",
        f"error at the mean over the smallest of the scan: {named(worst, '.1f')}",
        max(worst.values()) < 1.5,
        reason=f"The best gamma is {min(axial_factors):.1f} to {max(axial_factors):.1f} times the moment about the axis of "
        "the fast spin, for both tops. The mean is near that only where the moments are alike; "
        "here it is six times the axial moment.",
    )


def _inside(factors: Sequence[float]) -> bool:
    """Return True if all factors are inside the scan, not at its ends."""
    return all(SCAN[0] < x < SCAN[-1] for x in factors)


def _convergence(result: Study) -> None:
    """Compare the numbers of Newton iterations with alpha and gamma."""
    counts = {
        (inertia, method): [tops.mean_iterations(method, inertia, x) for x in tops.COARSE_SCAN]
        for inertia in TYPES
        for method in METHODS
    }
    figures = {
        method: (
            min(counts["alpha", method]),
            min(counts["gamma", method]),
            counts["gamma", method][tops.AT_MEAN],
        )
        for method in METHODS
    }
    result.claim(
        "004 abstract: a good gamma speeds up Newton's method",
        "least mean iterations with alpha, with gamma, with gamma = mean: "
        + ", ".join(f"{method} {listed(values, '.2f')}" for method, values in figures.items()),
        all(max(gamma, at_mean) < alpha for alpha, gamma, at_mean in figures.values()),
    )
    lines = by_type(("IMS", "GL-SPARK(2)", "Lobatto-IIIA-B(4)"), tops.COARSE_SCAN, counts)
    result.panel("Newton iterations, |r| < 1e-9", FACTOR, "mean a step", lines)


def _stability(result: Study) -> None:
    """Compare the largest stable steps with alpha and gamma."""
    stability_by_case = {
        (inertia, method): [tops.largest_stable_step(method, inertia, x) for x in tops.COARSE_SCAN]
        for inertia in TYPES
        for method in METHODS
    }
    steps = {key: [stability.h for stability in row] for key, row in stability_by_case.items()}
    cases: tuple[tuple[str, Sequence[str], str], ...] = (
        ("IMS", ("IMS",), "Newton's method fails sooner than with the best alpha."),
        (
            "EMS",
            ("EMS",),
            "The energy changes by its own size, or Newton's method fails, sooner than with the best alpha.",
        ),
        (
            "GL-SPARK",
            ("GL-SPARK(1)", "GL-SPARK(2)", "GL-SPARK(3)"),
            "Where a run ends it is Newton's method that fails, but for one that blows up, and with gamma-type inertia it "
            "fails sooner in GL-SPARK(1) and (2), most of all for small gamma; in GL-SPARK(3) later.",
        ),
        (
            "Lobatto IIIA-B",
            BY_LOBATTO,
            "The two types have the same solutions here. Only the way of Newton's iteration differs, and with it the h at "
            "which it fails.",
        ),
    )
    for label, methods, reason in cases:
        pairs = {method: (max(steps["alpha", method]), max(steps["gamma", method])) for method in methods}
        ends = [
            stability.end
            for method in methods
            for inertia in TYPES
            for stability in stability_by_case[inertia, method]
        ]
        best = [
            f"{k} {a:.2f}, {b:.2f} ({steps['gamma', k][tops.AT_MEAN]:.2f})" for k, (a, b) in pairs.items()
        ]
        result.claim(
            f"004 abstract: a good gamma makes integrations more stable than any alpha: {label}",
            f"largest h of {tops.STEPS} steps of the nutating top, from {tops.FIRST_STEP} by factors of {tops.GROWTH}, "
            f"best alpha, best gamma (gamma = mean): {', '.join(best)}; beyond, Newton's method fails {ends.count('fails')} "
            f"times, {ends.count('blows up')} runs blow up",
            all(b > a for a, b in pairs.values()),
            reason=reason,
        )
    lines = by_type(("IMS", "EMS", "GL-SPARK(1)", "GL-SPARK(2)"), tops.COARSE_SCAN, steps)
    result.panel(f"Largest stable h of {tops.STEPS} steps", FACTOR, "h", lines)
