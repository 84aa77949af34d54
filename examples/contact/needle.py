"""A needle is pushed through an eyelet, off its middle.

The eyelet is a closed rubber rod, 30 mm wide and 6 mm thick, clamped at its foot. A nylon needle, 150 mm long and 3 mm thick,
held at its end, approaches 13.5 mm above the middle, so that its round tip hits the rubber from inside. It tilts the eyelet,
is bent downwards, slides into the hole and passes through by 60 mm. The needle must not penetrate the rubber, and does not at
any output: two surfaces separate their axes.
"""

from __future__ import annotations

import numpy as np

from rodsim import Material, Model, Result, Section, signals, simulate

EYELET, THICK = 0.015, 0.003  # m, radii of its circle and of its section
LENGTH, RADIUS, ABOVE = 0.15, 0.0015, 0.0135  # of the needle, m; of its axis above the middle of the eyelet
AWAY, PUSH, TIME = 0.01, 0.07, 0.7  # m before the eyelet, m, s
RUBBER = Section.circular(THICK, Material(E=3e6, nu=0.45, density=1100.0, damping_time=2e-3))
NYLON = Section.circular(RADIUS, Material(E=2e9, nu=0.4, density=1150.0, damping_time=1e-4))


def model(friction: float = 0.2, n_elements: int = 24) -> Model:
    """Return the model: the needle straight, its tip before the eyelet."""

    def circle(s: float) -> tuple[float, float, float]:
        phi = 2.0 * np.pi * s - 0.5 * np.pi
        return 0.0, EYELET * np.cos(phi), EYELET * np.sin(phi)

    made = Model("needle", gravity=(0.0, 0.0, 0.0))
    eyelet = made.add_rod("eyelet", circle, RUBBER, n_elements, closed=True)
    made.add_joint("foot", "clamp", eyelet.start)
    push = signals.SmoothStep(PUSH, 0.0, TIME).along((1, 0, 0))
    hand = made.add_driven("hand", (-AWAY - LENGTH, 0.001, ABOVE), displacement=push)
    points = [(-AWAY - LENGTH, 0.001, ABOVE), (-AWAY, 0.001, ABOVE)]
    needle = made.add_rod("needle", points, NYLON, n_elements)
    made.add_joint("held", "weld", hand, needle.start)
    made.add_contact("through", needle, eyelet, 5e5, friction=friction, damping=1.0, stations=4)
    return made


def run(
    friction: float = 0.2, dt: float = 5e-4, n_elements: int = 24, progress: bool | None = None
) -> Result:
    """Push the needle in."""
    return simulate(model(friction, n_elements), TIME, dt, output_every=20, progress=progress)


if __name__ == "__main__":
    result = run()
    tip, top = result.rod("needle").r[-1, -1], result.rod("eyelet").r[:, :, 0].max()
    print(f"its tip is {1e3 * tip[0]:.1f} mm behind the eyelet, {1e3 * tip[2]:.2f} mm above its middle")
    print(f"the eyelet gives way by {1e3 * top:.2f} mm")
    balance = result.energy["total"] + result.dissipation - result.work
    print(f"balance {np.ptp(balance):.1e} J of {result.work[-1]:.4f} J of work")
