"""Study of spinning symmetrical tops with alpha- and gamma-type inertia under IMS, EMS and SPARK methods: 004.

Only the abstract and the appendix of 004 are open; its claims are tested on the two tops of `rodsim.papers.top_measures`.
Xu and Zhong (2016) are reported to say that the mean of the moments is a good gamma; their text was not at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats
from rodsim.papers.claims import Line, Panel, Study, drift, observed_order
from rodsim.papers.spark_coefficients import (
    gauss_lobatto_residual,
    lobatto_residual,
    printed_tables,
    table_difference,
)
from rodsim.papers.top_measures import (
    AT_MEAN,
    BY_GAUSS,
    BY_LOBATTO,
    COARSE_SCAN,
    EXACT,
    FAST,
    FIRST_STEP,
    GROWTH,
    METHODS,
    NUTATING,
    SCAN,
    STEPS,
    TYPES,
    VERTICAL,
    Scan,
    Top,
    angle_between,
    best_factor,
    exact_quaternion,
    largest_stable_step,
    mean_iterations,
    run_of,
    scan_of,
)

NAME = "symmetrical-top"


def study() -> Study:
    """Check the claims of the abstract of 004, and its coefficients."""
    result = Study(NAME, "Symmetrical tops, alpha and gamma", "004")
    _tableaux(result)
    _orders(result)
    _energy(result)
    _equivalence(result)
    scans = {top.name: scan_of(top) for top in (NUTATING, FAST)}
    _features(result, scans)
    _superior(result, scans)
    _good_gamma(result, scans)
    _convergence(result)
    _stability(result)
    return result


def _tableaux(result: Study) -> None:
    """Check the coefficients of 004 appendix A."""
    differences = {
        what: table_difference(ours, printed) for what, (printed, ours) in printed_tables().items()
    }
    result.claim(
        "004 A.2",
        "the coefficients of the methods of 1 to 3 stages are those printed",
        "largest difference: " + ", ".join(f"{what} {value:.0e}" for what, value in differences.items()),
        max(differences.values()) < 1e-14,
    )
    gauss, lobatto_3 = max(map(gauss_lobatto_residual, range(1, 6))), max(map(lobatto_residual, range(2, 6)))
    result.claim(
        "004 (A.8)-(A.16)",
        "the conditions hold up to 5 stages; Ctilde(s - 2) of (A.16) counts as (A.11) does, k = 1..s - 1",
        f"largest residual: GL-SPARK {gauss:.0e}, Lobatto IIIA-B {lobatto_3:.0e}",
        max(gauss, lobatto_3) < 1e-14,
    )


def _orders(result: Study) -> None:
    """Check the orders of 004 sec. 4 against the exact nutation at t = 2."""
    exact = exact_quaternion(*EXACT[1][1:])
    lines = []
    for method in METHODS:
        steps = (160, 320, 640) if method.order == 2 else (20, 40, 80)
        found = {}
        for inertia, factor in (("alpha", 1.5), ("gamma", 1.0)):
            runs = [run_of(NUTATING, method, inertia, factor, 2.0 / n, 2.0) for n in steps]
            errors = np.array([float(angle_between(run.q[-1], exact)) for run in runs])
            found[inertia] = observed_order([2.0 / n for n in steps], list(errors))
            if inertia == "gamma":
                lines.append(
                    Line(f"{method.label} ({found[inertia]:.2f})", 2.0 / np.array(steps), errors, "o-")
                )
        result.claim(
            "004 sec. 4, A.1",
            f"{method.label} has order {method.order}",
            f"alpha-type {found['alpha']:.2f}, gamma-type {found['gamma']:.2f}",
            max(abs(order - method.order) for order in found.values()) < 0.1,
        )
    result.panels.append(
        Panel("Orientation at t = 2, gamma = mean moment", "h", "angle to the exact", lines, "log")
    )


def _energy(result: Study) -> None:
    """Check that EMS conserves the energy, which its name promises."""
    found = []
    for top in (NUTATING, FAST):
        for inertia in TYPES:
            run = run_of(top, METHODS[1], inertia, 1.0, top.h, 200 * top.h)
            energy, momentum = run.energy(), run.momentum(run.system.symmetries[VERTICAL])
            found.append((drift(energy) / energy[0], drift(momentum) / abs(momentum[0])))
    energy, momentum = (max(values) for values in zip(*found, strict=True))
    result.claim(
        "004 (61)",
        "EMS keeps energy and angular momentum, with either type",
        f"200 steps: energy {energy:.1e}, momentum about the vertical {momentum:.1e} (relative)",
        energy < 1e-12 and momentum < 1e-12,
    )


def _equivalence(result: Study) -> None:
    """Check the premise of 004, that the added energy vanishes on |q| = 1."""
    energies = []
    for inertia in TYPES:
        for factor in (0.1, 1.0, 10.0):
            system = NUTATING.system(inertia, factor * NUTATING.mean)
            energies.append(system.kinetic(system.q0, system.v0))
    exact = 0.5 * float(np.array(NUTATING.J) @ np.array(NUTATING.Omega) ** 2)
    away = max(abs(energy / exact - 1.0) for energy in energies)
    spread = 0.0
    fine = [
        run_of(NUTATING, METHODS[4], inertia, factor, 0.005, 1.0).q[-1]
        for inertia in TYPES
        for factor in (0.5, 2.0)
    ]
    for q in fine:
        spread = max(spread, float(angle_between(q, exact_quaternion(*EXACT[0][1:]))))
    result.claim(
        "004 abstract",
        "the types and their parameters are equivalent where |q| = 1",
        f"T differs by {away:.0e} for parameters of 0.1 to 10 times the mean; all tend to the exact motion: "
        f"GL-SPARK(3), h = 0.005, within {spread:.0e} rad",
        away < 1e-14 and spread < 1e-12,
    )


def by_type(labels: Sequence[str], x: Floats, found: Mapping[tuple[str, str], ArrayLike]) -> list[Line]:
    """Return the curves of a panel: one colour per method, dashed for alpha, solid for gamma."""
    return [
        Line(f"{label}, {inertia}", x, found[inertia, label], f"C{k}{style}")
        for k, label in enumerate(labels)
        for inertia, style in (("alpha", "o--"), ("gamma", ".-"))
    ]


def _features(result: Study, scans: Mapping[str, Scan]) -> None:
    """Measure how the errors depend on alpha and gamma, and draw the scans."""

    def spread(top: Top, inertia: str, label: str) -> float:
        """Return the ratio of the largest to the smallest error of a scan."""
        errors = scans[top.name][inertia, label]
        return float(errors.max() / errors.min())

    labels = [method.label for method in METHODS if method.label not in BY_LOBATTO]
    alpha = {label: max(spread(top, "alpha", label) for top in (NUTATING, FAST)) for label in labels}
    gamma = {label: min(spread(top, "gamma", label) for top in (NUTATING, FAST)) for label in labels}
    result.claim(
        "004 abstract",
        "the types differ entirely in their numerical features (IMS, EMS, GL-SPARK)",
        "largest over smallest error of the scan: "
        + ", ".join(f"{label} alpha {alpha[label]:.2f}, gamma {gamma[label]:.1f}" for label in labels),
        max(alpha.values()) < 1.05 and min(gamma.values()) > 2.0,
    )
    apart = max(
        float(np.abs(scans[top.name]["alpha", label] / scans[top.name]["gamma", label] - 1.0).max())
        for top in (NUTATING, FAST)
        for label in BY_LOBATTO
    )
    result.claim(
        "004 abstract",
        "the types differ entirely in their numerical features (Lobatto IIIA-B)",
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
        lines = by_type(shown, SCAN, scans[top.name])
        title = f"{top.name}, h = {top.h}: {what}"
        result.panels.append(
            Panel(title, "alpha, gamma / mean moment", "largest angle to the reference", lines, "log")
        )


def _superior(result: Study, scans: Mapping[str, Scan]) -> None:
    """Compare the smallest error over gamma with the smallest over alpha."""

    def gains(labels: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Return the smallest error with alpha over the smallest with gamma, for both tops, by method."""
        return {
            label: (
                float(
                    scans[NUTATING.name]["alpha", label].min() / scans[NUTATING.name]["gamma", label].min()
                ),
                float(scans[FAST.name]["alpha", label].min() / scans[FAST.name]["gamma", label].min()),
            )
            for label in labels
        }

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
    for who, labels, reason in cases:
        found = gains(labels)
        result.claim(
            "004 abstract",
            f"gamma-type integrations are superior to alpha-type: {who}",
            "smallest error with alpha over smallest with gamma, nutating and fast top: "
            + ", ".join(f"{label} {a:.3g}, {b:.3g}" for label, (a, b) in found.items()),
            min(min(pair) for pair in found.values()) > 1.1,
            reason=reason,
        )


def _good_gamma(result: Study, scans: Mapping[str, Scan]) -> None:
    """Check whether an optimal gamma exists, and where it lies."""
    with_optimum = (*BY_GAUSS, "Lobatto-IIIA-B(2)", "Lobatto-IIIA-B(4)")
    middle = len(SCAN) // 2
    inside, where, gains, beside = [], [], [], []
    for label in with_optimum:
        pair = [scans[top.name]["gamma", label] for top in (NUTATING, FAST)]
        best = [best_factor(errors) for errors in pair]
        inside += [SCAN[0] < x < SCAN[-1] for x in best]
        axial = [x * top.mean / top.J[2] for x, top in zip(best, (NUTATING, FAST), strict=True)]
        where.append(f"{label} {best[0]:.2f}, {best[1]:.2f} ({axial[0]:.1f}, {axial[1]:.1f})")
        beside += axial
        gains.append([float(e.max() / e.min()) for e in pair])
    result.claim(
        "004 abstract",
        "gamma can be optimised: a best value exists (IMS, GL-SPARK, Lobatto IIIA-B with 2 and 4 stages)",
        "best gamma over the mean moment, nutating and fast top (over the axial moment): " + "; ".join(where),
        all(inside) and min(min(pair) for pair in gains) > 2.0,
    )
    others = {
        label: [scans[top.name]["gamma", label] for top in (NUTATING, FAST)]
        for label in ("EMS", "Lobatto-IIIA-B(3)")
    }
    found = {label: [best_factor(errors) for errors in pair] for label, pair in others.items()}
    result.claim(
        "004 abstract",
        "the same of EMS and of Lobatto IIIA-B with 3 stages",
        "; ".join(
            f"{label}: best at {found[label][0]:.2g}, {found[label][1]:.2g}, where the error is "
            f"{pair[0].min() / pair[0][middle]:.2f}, {pair[1].min() / pair[1][middle]:.2f} of that at the mean"
            for label, pair in others.items()
        ),
        all(SCAN[0] < x < SCAN[-1] for pair in found.values() for x in pair),
        reason="Their errors fall with gamma through most of the scan or all of it; for Lobatto IIIA-B(3) it hardly "
        "matters below the mean moment.",
    )
    at_mean = {
        label: [
            float(scans[top.name]["alpha", label].min() / scans[top.name]["gamma", label][middle])
            for top in (NUTATING, FAST)
        ]
        for label in BY_GAUSS
    }
    result.claim(
        "Xu and Zhong 2016, as reported",
        "the mean of the principal moments is a good gamma: better than any alpha (IMS, GL-SPARK)",
        "smallest error with alpha over that with gamma = mean, nutating and fast top: "
        + ", ".join(f"{label} {a:.2f}, {b:.2f}" for label, (a, b) in at_mean.items()),
        min(min(pair) for pair in at_mean.values()) > 1.1,
    )
    worst = {
        label: float(scans[FAST.name]["gamma", label][middle] / scans[FAST.name]["gamma", label].min())
        for label in BY_GAUSS
    }
    result.claim(
        "Xu and Zhong 2016, as reported",
        "the mean of the principal moments is near the best gamma, for the fast top too",
        "error at the mean over the smallest of the scan: "
        + ", ".join(f"{k} {x:.1f}" for k, x in worst.items()),
        max(worst.values()) < 1.5,
        reason=f"The best gamma is {min(beside):.1f} to {max(beside):.1f} times the moment about the axis of the fast "
        "spin, for both tops. The mean is near that only where the moments are alike; here it is six times the axial moment.",
    )


def _convergence(result: Study) -> None:
    """Compare the numbers of Newton iterations with alpha and gamma."""
    counts = {
        inertia: {
            method.label: [mean_iterations(method, inertia, x) for x in COARSE_SCAN] for method in METHODS
        }
        for inertia in TYPES
    }
    least = {inertia: {label: min(values) for label, values in counts[inertia].items()} for inertia in TYPES}
    at_mean = {label: values[AT_MEAN] for label, values in counts["gamma"].items()}
    result.claim(
        "004 abstract",
        "a good gamma speeds up Newton's method",
        "least mean iterations with alpha, with gamma, with gamma = mean: "
        + ", ".join(
            f"{k} {least['alpha'][k]:.2f}, {least['gamma'][k]:.2f}, {at_mean[k]:.2f}" for k in at_mean
        ),
        all(max(least["gamma"][k], at_mean[k]) < least["alpha"][k] for k in at_mean),
    )
    flat = {(inertia, label): counts[inertia][label] for inertia in TYPES for label in counts[inertia]}
    lines = by_type(("IMS", "GL-SPARK(2)", "Lobatto-IIIA-B(4)"), COARSE_SCAN, flat)
    result.panels.append(
        Panel("Newton iterations, |r| < 1e-9", "alpha, gamma / mean moment", "mean a step", lines)
    )


def _stability(result: Study) -> None:
    """Compare the largest stable steps with alpha and gamma."""
    found = {
        inertia: {
            method.label: [largest_stable_step(method, inertia, x) for x in COARSE_SCAN] for method in METHODS
        }
        for inertia in TYPES
    }
    steps = {inertia: {k: [x.h for x in row] for k, row in rows.items()} for inertia, rows in found.items()}
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
    for who, labels, reason in cases:
        pairs = {label: (max(steps["alpha"][label]), max(steps["gamma"][label])) for label in labels}
        ends = [
            why for inertia in TYPES for label in labels for why in (x.end for x in found[inertia][label])
        ]
        result.claim(
            "004 abstract",
            f"a good gamma makes integrations more stable than any alpha: {who}",
            f"largest h of {STEPS} steps of the nutating top, from {FIRST_STEP} by factors of {GROWTH}, "
            "best alpha, best gamma (gamma = mean): "
            + ", ".join(
                f"{k} {a:.2f}, {b:.2f} ({steps['gamma'][k][AT_MEAN]:.2f})" for k, (a, b) in pairs.items()
            )
            + f"; beyond, Newton's method fails {ends.count('fails')} times, {ends.count('blows up')} runs blow up",
            all(b > a for a, b in pairs.values()),
            reason=reason,
        )
    flat = {(inertia, label): steps[inertia][label] for inertia in TYPES for label in steps[inertia]}
    lines = by_type(("IMS", "EMS", "GL-SPARK(1)", "GL-SPARK(2)"), COARSE_SCAN, flat)
    result.panels.append(
        Panel(f"Largest stable h of {STEPS} steps", "alpha, gamma / mean moment", "h", lines)
    )


if __name__ == "__main__":
    from rodsim.papers.claims_report import main

    main(NAME)
