"""A chain hangs folded by both ends; an event lets one end go. Its tip falls faster than a free body.

The energy of an ideal chain of length L, whose tip has fallen by x, is that of its falling part, of length (L - x)/2:

    v^2 = 2 g x (1 - x/2 L)/(1 - x/L),    t = integral of dx/v.

    python -m examples.folded_chain
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad

from rodsim import Box, Model, Result, simulate

LINKS, LENGTH, GAP = 40, 1.0, 0.01  # gap between the two halves, m
GRAVITY = 9.81
RELEASE = 0.0234  # s, within a step


def folded_chain() -> Model:
    """Return a chain of bars that hangs from the ground by its first bar, and from a hand by its last."""
    model, size = Model("folded chain", gravity=(0, 0, -GRAVITY)), LENGTH / LINKS
    half = LINKS // 2
    ends = [(0.0, -size * k) for k in range(half)] + [(0.5 * GAP, -size * half)]
    ends += [(GAP, -size * (LINKS - k)) for k in range(half + 1, LINKS + 1)]
    last = "ground"
    for k in range(LINKS):
        x = 0.0 if k < half else GAP
        z = -size * (k + 0.5) if k < half else -size * (LINKS - k - 0.5)
        name = f"link {k}"
        model.add_body(name, Box(0.006, 0.006, size, mass=1.0 / LINKS), position=(x, 0, z))
        place = (ends[k][0], 0, ends[k][1])
        model.add_joint(f"pin {k}", "revolute", last, name, at=place, axis=(0, 1, 0))
        last = name
    model.add_joint("hand", "revolute", "ground", last, at=(GAP, 0, 0), axis=(0, 1, 0))
    model.add_event("let go", f"t >= {RELEASE}", release="hand")
    return model


def run(t_end: float = 0.4, dt: float = 0.001, progress: bool | None = None) -> Result:
    """Return a run of the chain with 100 outputs."""
    return simulate(
        folded_chain(), t_end, dt, output_every=max(1, round(t_end / dt / 100)), progress=progress
    )


def fall_of_tip(result: Result) -> NDArray[np.float64]:
    """Return how far the upper end of the last bar has fallen at each output, m."""
    z = result.body(f"link {LINKS - 1}").r[:, 2]
    return z[0] - z


def ideal_time(fallen: float) -> float:
    """Return the time in which the tip of an ideal chain falls by `fallen`, s."""

    def slowness(u: float) -> float:
        # x = u^2 removes the singularity of 1/v at the start
        x = u * u / LENGTH
        return 2.0 / np.sqrt(2.0 * GRAVITY * (1.0 - 0.5 * x) / (1.0 - x))

    return float(quad(slowness, 0.0, np.sqrt(fallen))[0])


def main() -> None:
    result = run()
    for t, fallen in list(zip(result.t, fall_of_tip(result), strict=True))[10::10]:
        free = 0.5 * GRAVITY * (t - RELEASE) ** 2
        print(
            f"t = {t:.2f} s   tip has fallen {fallen:.4f} m in {t - RELEASE:.4f} s, ideal chain in {ideal_time(fallen):.4f} s; "
            f"a free body falls {free:.4f} m"
        )


if __name__ == "__main__":
    main()
