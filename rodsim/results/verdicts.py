"""Judge whether each conservation law holds, within the bounds that rounding and the run's tolerance allow.

Only invariants that the integrator guarantees are judged; other measurements are only reported.
"""

from __future__ import annotations

from discretization.time.em_family import em_integrator
from rodsim.results.audit_report import Audit, Verdict

ROUND_OFF = 1e-10  # relative bound; errors of an energy-momentum step with a converged Newton are far smaller
UNIT = 1e-12  # bound of |q| - 1
POSITION_FACTOR = (
    10.0  # multiple of the model's size that sets the rounding of positions: `constraint_assembly`
)

_BALANCE = "energy balance E - E0 = W - D"
# fields of a state that follow only from the previous steps
STEP_QUANTITIES = "forces of joints, accelerations, work and memories"


def judge_run(a: Audit) -> tuple[Verdict, ...]:
    """Return the verdicts on a simulation."""
    laws = (*_judge_energies(a), *_judge_momenta(a), *_judge_residuals(a), *_integrator_remarks(a))
    return (*laws, *judge_file(a), _judge_steps(a), *_judge_model(a), *_start_remark(a))


def judge_equilibria(a: Audit, lines: list[tuple[str, str, bool | None]]) -> tuple[Verdict, ...]:
    """Return the verdicts on equilibria: `lines` on the force balance of each, quaternions and file.

    Equilibria have no conservation laws over time.
    """
    return (*(Verdict(*line) for line in lines), _judge_quaternions(a), *judge_file(a))


def _judge_energies(a: Audit) -> list[Verdict]:
    """Return the verdicts on the energy balance and on the energy while no work is done."""
    free, of = _free(a), _of(a)
    bound = ROUND_OFF + a.tolerance * a.n_steps
    allowed = bound * a.energy_scale + a.energy_rounding

    def judged(relative: float) -> bool:
        return _absolute(relative, a.energy_scale) < allowed or relative == 0.0

    formed = f" (E = {a.energy})" if a.energy else ""
    expected = ("energy", "generalised energy")
    verdicts = [
        _promised(a, expected, _BALANCE, f"{a.energy_balance:.1e} {of}{formed}", judged(a.energy_balance)),
        _promised(
            a,
            expected,
            "E + D without work",
            free if a.energy_drift is None else f"{a.energy_drift:.1e} {of}, {free}",
            None if a.energy_drift is None else judged(a.energy_drift),
        ),
    ]
    if a.other_energy_balance is not None:
        law = "the same of p . v - T(q, v) + V"
        measured = f"{a.other_energy_balance:.1e} {of}"
        verdicts.append(_promised(a, expected[1:], law, measured, judged(a.other_energy_balance)))
    return verdicts


def _judge_momenta(a: Audit) -> list[Verdict]:
    """Return the verdicts on linear and angular momentum."""
    free, bound = _free(a), ROUND_OFF + a.tolerance * a.n_steps
    verdicts = []
    for name, drift, scale, unit in (
        ("linear momentum", a.linear_momentum_drift, a.linear_momentum_scale, "kg m/s"),
        ("angular momentum", a.angular_momentum_drift, a.angular_momentum_scale, "kg m^2/s"),
    ):
        measured = (
            a.momentum_note
            if drift is None
            else f"{drift:.1e} of {scale:.4g} {unit}, {free} ({a.momentum_note})"
        )
        verdicts.append(_promised(a, (name,), name, measured, None if drift is None else drift < bound))
    if a.velocity_based is not None:
        names = ("energy", "P", "L")
        drifts = [f"{name} {x:.1e}" for name, x in zip(names, a.velocity_based, strict=True) if x is not None]
        comparison = f"T + V, P and L formed from the frames' velocities: {', '.join(drifts)}, to the order of the scheme"
        verdicts.append(Verdict("the same of velocities", comparison, None))
    return verdicts


def _judge_residuals(a: Audit) -> list[Verdict]:
    """Return the verdicts on quaternions and on position and velocity residuals of joints."""
    joints = a.constraint > 0 or a.velocity_constraint > 0
    position = (
        f"|g| <= {a.constraint:.1e}, {a.constraint_relative:.1e} of the model's size"
        if joints
        else "no joints"
    )
    conserved = a.constraint_relative < ROUND_OFF + POSITION_FACTOR * a.tolerance
    verdicts = [_judge_quaternions(a)]
    verdicts.append(_promised(a, ("position",), "joints, positions", position, conserved if joints else None))
    if not joints:
        return verdicts
    law, measured = "joints, velocities", f"|{a.rate}| <= {a.velocity_constraint:.1e}"
    if "velocity" in a.invariants:
        measured += f", velocities up to {a.velocity_scale:.3g} m/s"
        allowed = (ROUND_OFF + a.tolerance) * a.velocity_scale + a.velocity_rounding
        conserved = a.velocity_constraint < allowed or a.velocity_constraint == 0.0
        verdicts.append(_promised(a, ("velocity",), law, measured, conserved))
        return verdicts
    # `em` satisfies g = 0 at the ends of steps; G v = 0 holds for its mean velocity, at the ends to the order of the scheme
    if not a.chart:
        measured += (
            "; with em, em4, em6, em8 it falls with dt to order 2, 4, 6, 8, with em-ggl it is round-off"
        )
    verdicts.append(Verdict(law, measured, None))
    return verdicts


def _judge_quaternions(a: Audit) -> Verdict:
    return Verdict("unit quaternions", f"||q| - 1| <= {a.quat_norm:.1e}", a.quat_norm < UNIT)


def _integrator_remarks(a: Audit) -> list[Verdict]:
    """Return remarks on symplecticity, numerical dissipation and tolerance of the integrator."""
    verdicts = []
    if "symplectic" in a.invariants:
        reason = "promised; one motion does not show it (tests/laws/test_integrators.py asserts it)"
        verdicts.append(Verdict("symplectic", reason, None))
    if a.algorithmic != 0.0:
        part = _relative(a.algorithmic, a.energy_scale)
        measured = f"{a.algorithmic:.4g} J, {part:.1e} {_of(a)}: counted as D above"
        verdicts.append(Verdict(f"taken out by {a.integrator}", measured, None))
    if a.tolerance > 0.0:
        remark = f"{a.tolerance:g} was requested: every step may miss its laws by that part"
        verdicts.append(Verdict("tolerance", remark, None))
    return verdicts


def _start_remark(a: Audit) -> list[Verdict]:
    """Return a remark on initial velocities that were changed to fit the joints."""
    if not a.initial_velocity_change:
        return []
    name, (v, omega) = max(a.initial_velocity_change.items(), key=lambda item: max(item[1]))
    n_others = len(a.initial_velocity_change) - 1
    suffix = f", and those of {n_others} more parts less" if n_others else ""
    remark = f"those of {name} changed by {v:.3g} m/s and {omega:.3g} rad/s to fit the joints{suffix}"
    return [Verdict("initial velocities", remark, None)]


def judge_file(a: Audit) -> list[Verdict]:
    """Return the verdicts on the file: checksums, code of user-defined kinds, and data that must agree with the states."""
    verdicts = _judge_checksums(a)
    verdicts += [Verdict("rods through themselves", f"not seen: {bend}", None) for bend in a.bends]
    for kind, name in a.other_code.items():
        reason = f"the code of '{kind}' (of interaction '{name}') is not that of the run; import the script as it was then"
        verdicts.append(Verdict("kinds of a script", reason, False))
    old = "not recomputed: the file stores no masses and stiffnesses (of an older version)"
    for part, law, intact in (
        ("table", "table of the run", a.recomputed),
        ("elements", "strains and stresses", a.recomputed),
        ("drawing", "points and arrays drawn", a.drawing_compared),
        ("chart", "frames of the chart", a.chart_based),
        ("times", "times", False),
    ):
        differences = [str(d) for d in a.differences if d.part == part]
        if part == "chart" and a.unread:
            differences = [f"the chart of output 0 cannot be made: {a.unread}"]
        if differences:
            suffix = f"; {len(differences) - 1} more differ" if len(differences) > 1 else ""
            verdicts.append(Verdict(law, differences[0] + suffix, False))
        elif intact:
            verdicts.append(Verdict(law, "as recomputed from the states", True))
        elif part == "table":
            verdicts.append(Verdict(law, old, None))
    return verdicts


def _judge_checksums(a: Audit) -> list[Verdict]:
    """Return the verdict on the checksums of the file."""
    law = "file as it was written"
    if a.changed is None:
        reason = "not judged: the file has no checksums (of an older version)"
        return [Verdict(law, reason, None)] if a.from_file else []
    if not a.changed:
        return [
            Verdict(law, f"the checksums of the model, the picture and all {a.n_outputs} outputs fit", True)
        ]
    suffix = f"; {len(a.changed) - 1} more differ" if len(a.changed) > 1 else ""
    return [Verdict(law, f"{a.changed[0]} is not what was written{suffix}", False)]


def _judge_steps(a: Audit) -> Verdict:
    """Return the verdict on repeated steps: whether they lead from one output to the next."""
    recomputed, law = a.step_recomputation, "steps taken again"
    if recomputed.failed or recomputed.differences:
        differences = recomputed.failed or str(recomputed.differences[0])
        n_more = len(recomputed.differences) - (0 if recomputed.failed else 1)
        finding = differences + (f"; {n_more} more differ" if n_more else "")
        if recomputed.same_version:
            return Verdict(law, finding, False)
        return Verdict(law, f"not judged, the file is of another version of rodsim: {finding}", None)
    if not recomputed.steps:
        return Verdict(law, f"not judged: {recomputed.reason}; that leaves {STEP_QUANTITIES} unjudged", None)
    if recomputed.last:
        finding = f"the last one before {recomputed.steps} outputs leads to forces of joints, velocities and accelerations stored"
        return Verdict(law, f"{finding}; not judged: work, of too many steps between outputs", True)
    count = (
        f"{recomputed.steps} of {a.n_steps}" if recomputed.steps < a.n_steps else f"all {recomputed.steps}"
    )
    return Verdict(law, f"{count} lead to the states that are stored, with {STEP_QUANTITIES}", True)


def _judge_model(a: Audit) -> list[Verdict]:
    """Return the verdict on whether masses, stiffnesses and joints of the file are those that were built."""
    if a.model_fits is None or (not a.model_fits and not a.step_recomputation.same_version):
        return []
    finding = (
        "as they were built" if a.model_fits else "the file's masses, joints or stiffnesses were changed"
    )
    return [Verdict("numbers of the model", finding, a.model_fits)]


def _promised(
    a: Audit, expected: tuple[str, ...], law: str, measured: str, conserved: bool | None
) -> Verdict:
    """Return a verdict that is judged only if the integrator guarantees one of `expected`.

    Integrators in a chart conserve quantities formed from their generalised momenta; if the file does not contain these, only
    the position residual is judged. `conserved`: True if the law holds, None if there is nothing to judge.
    """
    if not set(expected) & set(a.invariants):
        return Verdict(law, f"{measured}; '{a.integrator}' need not conserve it", None)
    if expected != ("position",) and not a.chart_based and not _is_em_family(a):
        return Verdict(
            law, f"{measured}; not judged, the momenta of '{a.integrator}' are not in the file", None
        )
    return Verdict(law, measured, conserved)


def _is_em_family(a: Audit) -> bool:
    """Return True for the `em` family, whose invariants are formed from the velocities of the frames."""
    return not a.integrator or em_integrator(a.integrator) is not None


def _free(a: Audit) -> str:
    return "loads act until the end" if a.free_from is None else f"from t = {a.free_from:g} s on"


def _of(a: Audit) -> str:
    of = f"of {a.energy_scale:.4g} J"
    if a.energy_rounding > ROUND_OFF * a.energy_scale:  # rounding determines the bound
        of += f", rounding {a.energy_rounding:.1e} J"
    return of


def _absolute(relative: float, scale: float) -> float:
    """Return the value from which `_relative` was formed."""
    return relative * scale if scale > 0 else relative


def _relative(value: float, scale: float) -> float:
    """Return value / scale, or the value itself if the scale is 0."""
    return value / scale if scale > 0 else value
