"""Run stacked boxes and a cable in a tube with rodsim and with MuJoCo (benchmarks/README.md).

    python -m benchmarks.stacks

The tables have the displacement of resting boxes from the first second to the tenth, the difference of the
cable from a pendulum's angle, and the change of its energy. The processor time (s) is that of a whole call,
for a second of motion.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from scipy.special import ellipj

from benchmarks.cases import Floats
from rodsim import Box, Model, Section, simulate

G, STIFFNESS, ROUNDING, MU, TILT = 9.81, 1e6, 0.005, 0.3, 0.25  # tan(tilt) = 0.255 < mu
CUBE, FLAT = (0.1, 0.1, 0.1), (0.1, 0.1, 0.04)  # m, of 1 kg
TUBE, SIDES, CABLE, LENGTH, LINKS, MASS, EI = 0.05, 96, 0.005, 0.5, 10, 0.1, 1e-3
GAP, ASIDE = 1e-3, 2e-3  # m, of cubes that are dropped
ANGLE, SWING = 0.8, 0.88  # rad; s, two periods


def stack(n: int, size: tuple[float, float, float], tilt: float, mu: float) -> Model:
    """Boxes on a plane, with the contact depth of their weight."""
    model, z, solids = Model("stack", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt))), 0.0, []
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    for k in range(n):
        z += 0.5 * size[2] - (n - k) * G * np.cos(tilt) / STIFFNESS
        body = model.add_body(f"it {k}", Box(*size, mass=1.0), (0, 0, z))
        solids.append(model.add_solid(f"it {k}", body, radius=ROUNDING))
        z += 0.5 * size[2]
    losses = {"friction": mu, "damping": 10.0} if mu else {}
    model.add_contact("floor", solids, floor, STIFFNESS, **losses)
    model.add_contact("stack", solids, stiffness=STIFFNESS, **losses)
    return model


def dropped(n: int, mu: float = MU) -> Model:
    """Cubes of 1 kg with gaps of 1 mm and alternating offsets of 2 mm: they fall, collide and settle."""
    model, solids = Model("dropped", gravity=(0, 0, -G)), []
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    for k, at in enumerate(dropped_centres(n)):
        body = model.add_body(f"it {k}", Box(*CUBE, mass=1.0), at)
        solids.append(model.add_solid(f"it {k}", body, radius=ROUNDING))
    losses = {"friction": mu, "damping": 10.0}
    model.add_contact("floor", solids, floor, STIFFNESS, **losses)
    model.add_contact("stack", solids, stiffness=STIFFNESS, **losses)
    return model


def dropped_centres(n: int) -> list[tuple[float, float, float]]:
    """Return the n start positions (x, y, z) of the cubes of `dropped`, m."""
    return [(ASIDE * (k % 2), 0.0, (k + 0.5) * CUBE[2] + (k + 1) * GAP) for k in range(n)]


def dropped_by_rodsim(n: int, h: float, t_end: float) -> tuple[float, float]:
    """Return the largest speed at the end, m/s, and the processor time of the whole call, s."""
    begun = process_time()
    result = simulate(dropped(n), t_end, h, output_every=10, progress=False)
    seconds = process_time() - begun
    return max(float(np.abs(result.body(f"it {k}").v[-1]).max()) for k in range(n)), seconds


def of_rodsim(
    n: int, size: tuple[float, float, float], tilt: float, mu: float, h: float, t_end: float
) -> tuple[Floats, Floats, float]:
    """Times, positions (t, n, 3), and seconds for a second of motion."""
    begun = process_time()
    result = simulate(stack(n, size, tilt, mu), t_end, h, output_every=round(0.1 / h), progress=False)
    seconds = (process_time() - begun) / t_end
    return result.t, np.stack([result.body(f"it {k}").r for k in range(n)], axis=1), seconds


def moved(t: Floats, positions: Floats) -> float:
    """Largest displacement of any box after the first second, m."""
    late = positions[t > 0.95]
    return float(np.linalg.norm(late - late[0], axis=2).max())


def cable() -> Model:
    """A straight cable along a tube of planes, displaced by `ANGLE`; the first facet is below."""
    model, turns = Model("cable", gravity=(0, 0, -G)), 2.0 * np.pi * (np.arange(SIDES) + 0.5) / SIDES
    section = Section.from_stiffness(
        EA=1e4,
        GA=4e3,
        GJ=EI,
        EI=EI,
        mass_per_length=MASS / LENGTH,
        inertia_per_length=0.25 * MASS / LENGTH * CABLE**2,
        radius=CABLE,
    )
    at = (TUBE - CABLE) * np.array([0.0, np.sin(ANGLE), -np.cos(ANGLE)])
    rod = model.add_rod("cable", [at, at + np.array([LENGTH, 0.0, 0.0])], section, LINKS, mass="lumped")
    planes = []
    for k, angle in enumerate(turns):
        out = np.array([0.0, np.sin(angle), -np.cos(angle)])
        planes.append(model.add_plane(f"side {k}", model.ground.at(TUBE * out), -out))
    model.add_contact("tube", rod, planes, stiffness=4e4)
    return model


def cable_of_rodsim(h: float) -> tuple[Floats, Floats, Floats, float]:
    """Times, angles, energies, and seconds for a second of motion."""
    begun = process_time()
    result = simulate(cable(), SWING, h, output_every=max(round(5e-3 / h), 1), progress=False)
    seconds = (process_time() - begun) / SWING
    r = result.rod("cable").r[:, 1:-1].mean(axis=1)
    return result.t, np.arctan2(r[:, 1], -r[:, 2]), result.energy["total"], seconds


def swings(t: Floats) -> Floats:
    """Angle of a pendulum whose length is the distance of the axes of a round tube and of the cable, rad."""
    k, omega = np.sin(0.5 * ANGLE), np.sqrt(G / (TUBE - CABLE))
    _, cn, dn, _ = ellipj(omega * t, k * k)
    return 2.0 * np.arcsin(k * cn / dn)


def line(name: str, h: float, *numbers: float) -> None:
    """Return a line of a table."""
    print(f"{name:28s} {h:9.1e}" + "".join(f"{number:11.1e}" for number in numbers), flush=True)


def main() -> None:
    """Print the tables."""
    from benchmarks.peers import mujoco_contacts as peer

    stacks = {
        "ten cubes": (10, CUBE, 0.0, 0.0),
        "ten cubes, friction": (10, CUBE, 0.0, MU),
        "three on an incline": (3, FLAT, TILT, MU),
    }
    for name, case in stacks.items():
        print(f"{name:28s}      step   moved m   s for 1 s")
        of_rodsim(*case, 1e-3, 0.1)
        for h in (1e-3, 5e-3):
            *motion, seconds = of_rodsim(*case, h, 10.0)
            line("rodsim", h, moved(*motion), seconds)
        for label, settings in peer.SETTINGS.items():
            for h in (1e-3, 5e-3):
                *motion, seconds = peer.stack(*case, h, 10.0, **settings)
                line(f"MuJoCo, {label}", h, moved(*motion), seconds)
    print("cubes dropped, 0.5 s by 1 ms      step  speed m/s       s")
    dropped_by_rodsim(2, 1e-3, 0.02)
    for n in (2, 5, 10):
        line(f"rodsim, {n}", 1e-3, *dropped_by_rodsim(n, 1e-3, 0.5))
        runs = [peer.dropped(dropped_centres(n), CUBE, MU, 1e-3, 0.5) for _ in range(3)]
        line(f"MuJoCo, {n}", 1e-3, *min(runs, key=lambda run: run[1]))
    print("cable in a tube                   step  error rad  energy/mgR   s for 1 s")
    for h in (4e-3, 2e-3, 1e-3, 5e-4):
        t, angles, energies, seconds = cable_of_rodsim(h)
        line("rodsim", h, abs(angles - swings(t)).max(), np.ptp(energies) / (MASS * G * TUBE), seconds)
    for h in (4e-3, 2e-3, 1e-3, 2e-4, 5e-5):
        t, angles, energies, seconds = peer.cable(
            LINKS, LENGTH, CABLE, TUBE, SIDES, ANGLE, MASS, EI, h, SWING
        )
        line("MuJoCo", h, abs(angles - swings(t)).max(), np.ptp(energies) / (MASS * G * TUBE), seconds)


if __name__ == "__main__":
    main()
