"""An overhand knot in a rubber rod is pulled tight: bending, and friction where its strands slide along each other.

A loop of the radius R in a rod of the radius h and the bending stiffness B, whose strands wind around each other by one and a
half turns, has the tension

    T = B/(2 R^2) + mu sigma B/(h^(1/2) R^(3/2)),    sigma = 0.492                                            (1)

in the limit epsilon = (h/R)^(1/2) -> 0: the bending of a circle, and mu times the total force P between the strands. Source:
B. Audoly, N. Clauvelin, S. Neukirch, Elastic knots, Phys. Rev. Lett. 99, 164301, 2007. `benchmarks/knots.py` computes this
limit.

In a tight knot both parts are measured. Surfaces without friction push perpendicular to the axis of a rod. So n . t + B
kappa^2/2, with the force n and the curvature kappa of the rod, is constant along it. Friction changes it by mu P between an
end and the far side of the loop:

    T - (n . t + B kappa^2/2)(far side) = mu P                                                                (2)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.system import Floats
from rodsim import Material, Model, Result, Section, equilibrium, signals, simulate

RADIUS = 0.005  # m
RUBBER = Material(E=1e6, nu=0.45, density=1000.0, damping_time=0.01)
B = RUBBER.E * 0.25 * np.pi * RADIUS**4  # N m^2
TAIL = 4.0  # length of the tails, in radii of the loop: their bending decays over sqrt(2) of these


def path(loop: float, tail: float = TAIL, wide: float = 2.5) -> Floats:
    """Return points of a circle of the radius `loop` (m) between straight tails along x; strands wind around each other.

    `wide`: width of the braid in units of (h R)^(1/2), which scales its length.
    """
    half, width = np.pi * loop, wide * np.sqrt(loop * RADIUS)
    s = np.linspace(-half - tail * loop, half + tail * loop, 4000)
    along_loop = (np.clip(s, -half, half) + half) / loop
    x = loop * np.sin(along_loop) + np.minimum(s + half, 0.0) + np.maximum(s - half, 0.0)
    across = loop * (1.0 - np.cos(along_loop)) + 0j  # y + i z
    for sign, at in ((0.5, s + half), (-0.5, s - half)):
        far = at**2 / (2.0 * loop)  # from strand to strand, if they lay in the plane
        distance = far + 2.1 * RADIUS * np.exp(-((at / width) ** 2))
        angle = 1.5 * np.pi * (1.0 + np.tanh(at / width))
        across += np.where(abs(at) < half, sign * (-distance * np.exp(1j * angle) - np.sign(at) * far), 0.0)
    return np.transpose([x, across.real, across.imag])


def model(loop: float = 12.0, n_elements: int = 90, friction: float = 0.0, speed: float = 0.0) -> Model:
    """Return a loop of `loop` radii of the rod, whose ends move apart with `speed`, m/s."""
    made = Model("knot")
    points = path(loop * RADIUS)
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    rod = made.add_rod(
        "rod",
        points,
        Section.circular(RADIUS, RUBBER),
        n_elements,
        stress_free=[(0, 0, 0), (length, 0, 0)],
    )
    for name, kind, end, at, half_sign in (
        ("left", "weld", rod.start, points[0], -0.5),
        ("right", "spherical", rod.end, points[-1], 0.5),
    ):
        hand = made.add_driven(
            f"{name} hand", at, displacement=signals.SpinUp(speed * half_sign, 0.5).along((1, 0, 0))
        )
        made.add_joint(name, kind, hand, end, at=at)
    made.add_contact("braid", rod, stiffness=3e5, stations=4, friction=friction)
    return made


def run(
    friction: float = 0.1,
    speed: float = 0.05,
    t_end: float = 0.8,
    dt: float = 0.02,
    loop: float = 12.0,
    n_elements: int = 90,
    progress: bool | None = None,
) -> Result:
    """Pull the ends, starting from the equilibrium without friction."""
    start = equilibrium(model(loop, n_elements, friction))
    pulled = model(loop, n_elements, friction, speed)
    return simulate(pulled, t_end, dt, output_every=2, start=start, progress=progress)


class Pull(NamedTuple):
    epsilon: (
        Floats  # (radius of the rod over that of the loop)^(1/2), from the curvature across from the braid
    )
    end: Floats  # N, T at the end
    loop: Floats  # N, n . t + B kappa^2/2 across from the braid
    pressing: Floats  # N, P between the strands


def pull(result: Result) -> Pull:
    """Return the measured forces at all outputs, (k,) each."""
    rod = result.rod("rod")
    middle = slice(rod.K.shape[1] // 2 - 1, rod.K.shape[1] // 2 + 1)
    curvature = np.linalg.norm(rod.K[:, middle, 1:], axis=2).mean(axis=1)
    loop = rod.N[:, middle, 0].mean(axis=1) + 0.5 * B * curvature**2
    pressing = result.contact("braid").normal_force
    return Pull(np.sqrt(RADIUS * curvature), result.joint("right").force[:, 0], loop, pressing)


def friction_over_pressing(result: Result) -> float:
    """Return the coefficient of friction by (2), mean over the second half of the run."""
    pulled = pull(result)
    late = slice(result.n_outputs // 2, None)
    return float(np.mean(((pulled.end - pulled.loop) / pulled.pressing)[late]))


if __name__ == "__main__":
    for mu in (0.0, 0.1):
        result = run(mu)
        pulled = pull(result)
        print(
            f"mu {mu}: epsilon {pulled.epsilon[-1]:.3f}, pulled with {pulled.end[-1]:.4f} N, of these {pulled.loop[-1]:.4f} N "
            f"beyond the braid, {friction_over_pressing(result):.4f} of what presses is lost there"
        )
