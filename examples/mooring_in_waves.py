"""A mooring line in a current and waves: its upper end follows a floating body on the waves.

A rope of 85 m hangs from a body at the surface to an anchor 50 m below. A current pushes it aside; then waves of 3 m height and
8 s period move the water around the rope, and its upper end on the circle of the water at the surface. Drag and added mass resist
the motion of the rope, so that its tension changes more than it would if the rope were moved slowly.

    python -m examples.mooring_in_waves
"""

from __future__ import annotations

import numpy as np

from rodsim import Equilibrium, Model, Result, Section, equilibrium, fluids, simulate

DEPTH, HEIGHT, PERIOD = 50.0, 3.0, 8.0  # m, m, s
ROPE = Section.from_stiffness(
    EA=4e6, GA=1e6, GJ=200.0, EI=200.0, mass_per_length=12.0, inertia_per_length=0.02, damping_time=0.02
)
BUILD_UP = 8.0  # s


def mooring(n_elements: int = 40) -> Model:
    """Return the rope, drawn as a sagging curve, in the sea."""
    model = Model("mooring", gravity=(0, 0, -9.81))
    shape = [(0, 0, -DEPTH), (22, 0, -43), (45, 0, -25), (60, 0, 0)]
    rope = model.add_rod("rope", shape, ROPE, n_elements, up=(0, 1, 0))
    frequency = 2 * np.pi / PERIOD
    waves = fluids.AiryWave(HEIGHT, PERIOD)
    grown = f"{HEIGHT / 2}*(1 - exp(-(2*t/{BUILD_UP})**2))"
    phase = f"({60.0 * waves.wave_number(9.81, DEPTH)} - {frequency}*t)"
    float_ = model.add_driven(
        "float", (60, 0, 0), displacement=[f"-{grown}*sin{phase}", 0.0, f"{grown}*cos{phase}"]
    )
    model.add_joint("anchor", "spherical", "ground", rope.start)
    model.add_joint("fairlead", "spherical", float_, rope.end)
    current = fluids.Profile([-DEPTH, 0.0], [[0.0, 0.2, 0.0], [0.0, 0.8, 0.0]])
    sea = model.add_fluid("sea", 1025.0, current, waves=waves, depth=DEPTH, build_up=BUILD_UP)
    model.add_submerged_rod("wet rope", rope, sea, diameter=0.1, tangential_drag=0.02)
    return model


def at_rest(n_elements: int = 40) -> Equilibrium:
    """Return the rope at rest in the current."""
    return equilibrium(mooring(n_elements))


def run(n_elements: int = 40, t_end: float = 40.0, progress: bool = False) -> Result:
    """Simulate the rope from rest in the current."""
    model = mooring(n_elements)
    return simulate(model, t_end, 0.02, start=equilibrium(model), output_every=10, progress=progress)


def tension(result: Result) -> np.ndarray:
    """Return the tension at the fairlead at all outputs, N."""
    return np.linalg.norm(result.joint("fairlead").force, axis=1)


if __name__ == "__main__":
    still, result = at_rest(), run(progress=True)
    static, moving = tension(still)[-1], tension(result)[result.t > 16.0]
    print(
        f"static tension {static / 1e3:.2f} kN, in waves {moving.min() / 1e3:.2f} to {moving.max() / 1e3:.2f} kN"
    )
    sway = still.rod("rope").r[-1, :, 1].max()
    print(f"the current pushes the rope aside by {sway:.2f} m")
    print(f"drag took {result.dissipation[-1] / 1e3:.1f} kJ")
