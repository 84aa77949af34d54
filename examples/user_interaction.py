"""Two user-defined interactions: magnets, as a kind with value and dual, and a snapping flap, as an energy given as text.

Two compass needles stand on pins in a row, D = 0.1 m apart. With the dipoles m_a, m_b in their axes and d between them,

    V = C [(m_a . m_b)/d^3 - 3 (m_a . d)(m_b . d)/d^5],   C = mu_0/(4 pi)                                   (1)

so that about their rest position, in line, they oscillate against each other and together with

    omega^2 = C m^2/(D^3 J) (1, 3)                                                                          (2)

A flap on a hinge has two stable angles, -W and W, with the energy barrier H between them: V = H ((a/W)^2 - 1)^2. Released just
beside the top it swings through one well without end; with a push it passes the barrier. The picture shows (1) over both
angles of the needles with the path of a run, and the flap's energy with its kinetic part on top, whose sum is constant to
round-off.

    python -m examples.user_interaction
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rodsim
from rodsim import Box, Model, Result, measures, simulate
from rodsim.interactions import along, average, dot, minus, plus, push, real, slopes, times, turn

C, MOMENT, D = 1e-7, 2.0, 0.1  # T m/A, A m^2, m
NEEDLE = Box(0.06, 0.01, 0.004, density=7800.0)
H, W = 0.05, 0.6  # J, rad
FLAP = Box(0.2, 0.1, 0.01, density=1000.0)


@rodsim.interaction("dipoles", frames=2, numbers={"strength": 0, "m_a": 3, "m_b": 3})
class Dipoles:
    """Interaction (1) of dipoles in the axes of their parts; `strength`: mu_0/(4 pi), N/A^2."""

    def value(y, X):
        u, w, d = along(y, 0, X[1:4]), along(y, 1, X[4:7]), minus(y[1, 0], y[0, 0])
        s = dot(d, d)
        near = 3.0 * dot(u, d) * dot(w, d) * real.power(s, -2.5 + 0j)
        return X[0] * (dot(u, w) * real.power(s, -1.5 + 0j) - near)

    def dual(y0, y1, X, out):
        u0, w0, d0 = along(y0, 0, X[1:4]), along(y0, 1, X[4:7]), minus(y0[1, 0], y0[0, 0])
        u1, w1, d1 = along(y1, 0, X[1:4]), along(y1, 1, X[4:7]), minus(y1[1, 0], y1[0, 0])
        u, w, d = average(u0, u1), average(w0, w1), average(d0, d1)
        s0, s1 = dot(d0, d0), dot(d1, d1)
        p = 0.5 * (real.power(s0, -1.5 + 0j) + real.power(s1, -1.5 + 0j))
        q = 0.5 * (real.power(s0, -2.5 + 0j) + real.power(s1, -2.5 + 0j))
        a = 0.5 * (dot(u0, w0) + dot(u1, w1))
        b, c = 0.5 * (dot(u0, d0) + dot(u1, d1)), 0.5 * (dot(w0, d0) + dot(w1, d1))
        bc = 0.5 * (dot(u0, d0) * dot(w0, d0) + dot(u1, d1) * dot(w1, d1))
        on_s = 2.0 * (a * slopes.power(s0, s1, -1.5) - 3.0 * bc * slopes.power(s0, s1, -2.5))
        f = times(X[0], minus(times(on_s, d), times(3.0 * q, plus(times(c, u), times(b, w)))))
        push(out, 1, f)
        push(out, 0, times(-1.0, f))
        turn(out, 0, X[1:4], times(X[0], minus(times(p, w), times(3.0 * q * c, d))))
        turn(out, 1, X[4:7], times(X[0], minus(times(p, u), times(3.0 * q * b, d))))


def needles(angles: tuple[float, float] = (0.0, 0.0)) -> Model:
    """Return both needles, rotated by `angles` (rad) from their line."""
    model = Model("needles")
    for k, angle in enumerate(angles):
        turned = (np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle))
        needle = model.add_body(f"needle {k}", NEEDLE, (D * k, 0.0, 0.0), turned)
        model.add_joint(f"pin {k}", "revolute", model.ground, needle, at=(D * k, 0, 0), axis=(0, 0, 1))
    first, second = model.bodies.values()
    moment = (MOMENT, 0.0, 0.0)
    model.add_interaction("field", Dipoles, first, second, strength=C, m_a=moment, m_b=moment)
    return model


def frequencies() -> NDArray[np.float64]:
    """Return the angular frequencies (2), rad/s."""
    omega: NDArray[np.float64] = np.sqrt(C * MOMENT**2 / (D**3 * NEEDLE.inertia[2, 2]) * np.array([1.0, 3.0]))
    return omega


def flap(angle: float = 0.01, speed: float = 0.0) -> Model:
    """Return the flap at an angle (rad) from the top of the barrier, with an angular velocity (rad/s)."""
    model = Model("flap")
    turned = (np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0)
    body = model.add_body("flap", FLAP, (0, 0, 0), turned, angular_velocity=(0.0, speed, 0.0))
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    rotation = measures.angle(model.ground, body, axis=(0, 1, 0))  # relative to the pose at t = 0
    model.add_energy("snap", "H*(((a + start)/W)**2 - 1)**2", {"a": rotation}, H=H, W=W, start=angle)
    return model


def run(model: Model, t_end: float, dt: float = 0.005) -> Result:
    """Simulate the model with `em`."""
    return simulate(model, t_end, dt, output_every=1, progress=False)


def angles_of(result: Result, axis: int) -> NDArray[np.float64]:
    """Return the angles (T, bodies), rad, of each body about a world axis."""
    quat = result.states(slice(None)).quat[:, 1:]
    angle: NDArray[np.float64] = 2.0 * np.arctan2(quat[..., 1 + axis], quat[..., 0])
    return angle


def picture(path: Path) -> Path:
    """Draw the energy of the needles over their angles, and the energy of the flap, each with a run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained", dpi=130)
    left, right = figure.subplots(1, 2)
    x = np.linspace(-np.pi, np.pi, 121)
    a, b = np.meshgrid(x, x)
    V = C * MOMENT**2 / D**3 * (np.sin(a) * np.sin(b) - 2.0 * np.cos(a) * np.cos(b))
    shown = left.contourf(a, b, 1e3 * V, 20, cmap="cividis")
    figure.colorbar(shown, label="energy (mJ)")
    left.plot(*angles_of(run(needles((0.9, 0.2)), 2.0), 2).T, color="white", linewidth=0.8)
    left.set_xlabel("angle of the first needle (rad)")
    left.set_ylabel("of the second (rad)")
    result = run(flap(), 3.0)
    turned = angles_of(result, 1)[:, 0]
    x = np.linspace(-1.5 * W, 1.5 * W, 200)
    right.plot(
        x, 1e3 * H * ((x / W) ** 2 - 1) ** 2, color="#999999", linewidth=3, label="energy of the hinge"
    )
    right.plot(
        turned, 1e3 * result.energy["total"], ".", color="#e07a3f", markersize=3, label="with the kinetic"
    )
    right.set_xlabel("angle of the flap (rad)")
    right.set_ylabel("energy (mJ)")
    right.legend(frameon=False, fontsize="small")
    figure.savefig(path)
    return path


if __name__ == "__main__":
    print("needles swing with", ", ".join(f"{omega:.3f}" for omega in frequencies()), "rad/s")
    print(f"wrote {picture(Path('own_interaction.png'))}")
