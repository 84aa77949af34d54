"""Write the converged positions of B1, B2, B3 to `reference_paths.py`: `python -m benchmarks.references`.

Rods: elements of order 4 and em4 or em6, refined until half the mesh moves them by less than 1e-5 of the
length. Planar bars: the equations of N pendulums in their angles, by a Runge-Kutta method of order 8; in
space em6.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.cases import ChainCase, Floats, RodCase, steps_a_part
from benchmarks.registry import CASES
from benchmarks.rodsim_cases import build, watched
from discretization.time.stepper import Stepper

# case -> elements, step, order in time
MESHES = {
    "B1": (160, 0.025, 6),
    "B2": (320, 0.00125, 4),
    "B2-space": (320, 0.00125, 4),
    "B3-5-space": (5, 0.001, 6),
    "B3-5-oblique": (5, 0.001, 6),
    "B3-20-oblique": (20, 0.001, 6),
    "B3-100-oblique": (100, 0.0025, 6),
}
PENDULUMS = "B3-5", "B3-20", "B3-100"
DIGITS = 9


def by_steps(case: RodCase | ChainCase, n: int, h: float, order: int) -> Floats:
    """Watched points (points, instants, 3) by `em` of an order, rods of elements of order 4."""
    built = build(case, n, "relative(2)")
    stepper, state = Stepper(built.system, h, order, built.load_values), built.state
    steps, outputs = steps_a_part(case.t_end, h, case.instants), []
    for part in range(case.instants):
        state, _ = stepper.advance(state, part * steps, steps)
        outputs.append(watched(case, state))
    return np.array(outputs).transpose(1, 0, 2)


def by_angles(case: ChainCase) -> Floats:
    """Free end (instants, 3) of a chain that falls in its plane.

    With angles th_i and the arms c_ki of bar i at the centre of bar k,

        (m sum_k c_ki c_kj cos(th_i - th_j) + I delta_ij) th_j''
            = -m sum_k c_ki c_kj sin(th_i - th_j) th_j'^2 - m g sum_k c_ki cos th_i.
    """
    n, length = case.n_bars, case.bar_length
    arms = length * (np.tril(np.ones((n, n)), -1) + 0.5 * np.eye(n))
    A, pull = case.mass * arms.T @ arms, case.mass * case.gravity * arms.sum(axis=0)

    def rates(t: float, y: Floats) -> Floats:
        angle, rate = y[:n], y[n:]
        difference = angle[:, None] - angle
        forces = -(A * np.sin(difference)) @ rate**2 - pull * np.cos(angle)
        return np.append(rate, np.linalg.solve(A * np.cos(difference) + case.inertia[1] * np.eye(n), forces))

    at = case.t_end * np.arange(1, case.instants + 1) / case.instants
    run = solve_ivp(
        rates, (0, case.t_end), np.zeros(2 * n), method="DOP853", t_eval=at, rtol=1e-12, atol=1e-12
    )
    angles = run.y[:n]
    return length * np.column_stack(
        [np.cos(angles).sum(axis=0), np.zeros(case.instants), np.sin(angles).sum(axis=0)]
    )


def main() -> None:
    """Write the table."""
    lines = []
    for name in (*MESHES, *PENDULUMS):
        case = CASES[name]
        if name in PENDULUMS:
            assert isinstance(case, ChainCase)
            ends = {"end": by_angles(case)}
        else:
            assert isinstance(case, RodCase | ChainCase)
            paths = by_steps(case, *MESHES[name])
            ends = dict(zip(("start", "end"), paths, strict=True)) if len(paths) == 2 else {"end": paths[0]}
            if isinstance(case, RodCase) and case.clamped:
                del ends["start"]
        lines.append(f'    "{name}": {{')
        for end, path in ends.items():
            lines.append(f'        "{end}": (')
            lines += [f"            ({', '.join(f'{x + 0.0:.{DIGITS}f}' for x in r)})," for r in path]
            lines.append("        ),")
        lines.append("    },")
    page = Path(__file__).with_name("reference_paths.py")
    head = page.read_text(encoding="utf-8").partition("PATHS:")[0]
    page.write_text(head + "PATHS: dict[str, dict[str, Path]] = {\n" + "\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
