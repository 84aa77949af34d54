"""Validation cases of rods in closed form: standing waves of stretch and of twist, the breathing ring, steady rotation."""

from __future__ import annotations

from functools import partial

import numpy as np

from rigid import quaternions
from rodsim.components.sections import Section
from rodsim.model import Model
from rodsim.simulation import simulate
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values

EXACT = "exact, closed form"
L, EA, GJ, RHO, SPIN_INERTIA = 10.0, 1e4, 500.0, 1.0, 20.0
AMPLITUDE = 0.5  # m, rad
T_STRETCH, T_TWIST, T_RING = 0.45, 5.0, 0.7
RING, START, RING_EA = 1.0, 1.1, 100.0  # radius without stress, radius at t = 0, m; N
OMEGA = 4.0  # rad/s, of the free rod about its middle
ELEMENTS = (20, 40)


def section(stretch: float = EA) -> Section:
    """Return a round section, that of the flying spaghetti except for EA = `stretch`."""
    return Section.from_stiffness(
        EA=stretch, GA=1e4, GJ=GJ, EI=500, mass_per_length=RHO, inertia_per_length=(SPIN_INERTIA, 10.0, 10.0)
    )


def stretch(level: int) -> Values:
    """Compute u = A sin(pi x/2L) cos(omega t), omega = pi c/2L, c^2 = EA/rho A: linear at any amplitude."""
    model = Model("standing wave of stretch")
    rod = model.add_rod(
        "rod",
        lambda s: (L * s + AMPLITUDE * np.sin(np.pi * s / 2), 0.0, 0.0),
        section(),
        ELEMENTS[level],
        stress_free=lambda s: (L * s, 0.0, 0.0),
        up=(0.0, 0.0, 1.0),
    )
    model.add_joint("wall", "clamp", rod.start)
    run = simulate(model, T_STRETCH, (0.005, 0.0025)[level])
    return {"u(L)": run.rod("rod").r[-1, -1, 0] - L}


def twist(level: int) -> Values:
    """Compute theta = A sin(pi x/2L) cos(omega t), omega = pi c/2L, c^2 = GJ/rho J."""
    model = Model("standing wave of twist")
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (L, 0, 0)],
        section(),
        ELEMENTS[level],
        twist=lambda s: AMPLITUDE * np.sin(np.pi * s / 2),
        stress_free_twist=0.0,
    )
    model.add_joint("wall", "clamp", rod.start)
    run = simulate(model, T_TWIST, (0.1, 0.05)[level])
    quat = run.rod("rod").quat
    untwisted = quaternions.conjugate(quat[0, 0])  # the clamp: no twist at s = 0
    return {"theta(L)": quaternions.to_rotation_vector(quaternions.multiply(quat[-1, -1], untwisted))[0]}


def ring(level: int) -> Values:
    """Compute r = R + (r0 - R) cos(w t), w^2 = EA/(rho A R^2): bending does not change."""

    def circle(s: float, radius: float) -> np.ndarray:
        """Return a point of the circle of a radius."""
        return radius * np.array([np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0])

    model = Model("breathing ring")
    drawn, free = (partial(circle, radius=radius) for radius in (START, RING))
    model.add_rod("ring", drawn, section(RING_EA), ELEMENTS[level], True, stress_free=free)
    run = simulate(model, T_RING, (0.01, 0.005)[level])
    r = np.linalg.norm(run.rod("ring").r[-1], axis=1)
    return {"radius": r.mean(), "out of round": np.ptp(r)}


def rotation(level: int) -> Values:
    """Compute a free rod in steady rotation about its middle: r(x) = sin(k x)/(k cos(k L/2)), k = Omega sqrt(rho A/EA)."""
    k = OMEGA * np.sqrt(RHO / EA)

    def stretched(s: float) -> tuple[float, float, float]:
        """Return the exact stretched position at s, at t = 0."""
        return float(np.sin(k * L * (s - 0.5)) / (k * np.cos(k * L / 2))), 0.0, 0.0

    model = Model("rotating rod")
    model.add_rod(
        "rod",
        stretched,
        section(),
        ELEMENTS[level],
        stress_free=lambda s: (L * (s - 0.5), 0.0, 0.0),
        up=(0.0, 0.0, 1.0),
        velocity=lambda s: (0.0, OMEGA * stretched(s)[0], 0.0),
        angular_velocity=(0.0, 0.0, OMEGA),
    )
    run = simulate(model, 2.0, (0.01, 0.005)[level])
    return {"end(2)": run.rod("rod").r[-1, -1]}


def _end() -> np.ndarray:
    """Return the exact end (3,) of the rotating rod at t = 2, m."""
    k = OMEGA * np.sqrt(RHO / EA)
    return np.tan(k * L / 2) / k * np.array([np.cos(2 * OMEGA), np.sin(2 * OMEGA), 0.0])


W_STRETCH = np.pi * np.sqrt(EA / RHO) / (2 * L)
W_TWIST = np.pi * np.sqrt(GJ / SPIN_INERTIA) / (2 * L)
W_RING = np.sqrt(RING_EA / RHO) / RING
CASES = (
    Case(
        "stretch-wave",
        "Standing wave of stretch, clamped and free, amplitude 5 %",
        EXACT,
        {"u(L)": ReferenceValue(AMPLITUDE * np.cos(W_STRETCH * T_STRETCH), 0.0, AMPLITUDE)},
        stretch,
        Meshes("20 elements, h = 0.005", "40 elements, h = 0.0025", 2),
    ),
    Case(
        "twist-wave",
        "Standing wave of twist, clamped and free",
        EXACT,
        {"theta(L)": ReferenceValue(AMPLITUDE * np.cos(W_TWIST * T_TWIST), 0.0, AMPLITUDE)},
        twist,
        Meshes("20 elements, h = 0.1", "40 elements, h = 0.05", 2),
    ),
    Case(
        "breathing-ring",
        "Breathing ring, amplitude 10 %",
        EXACT,
        {
            "radius": ReferenceValue(RING + (START - RING) * np.cos(W_RING * T_RING), 0.0, START - RING),
            "out of round": ReferenceValue(0.0, 1e-9, RING),
        },
        ring,
        Meshes("20 elements, h = 0.01", "40 elements, h = 0.005", 2, 3e-2),
    ),
    Case(
        "rotating-rod",
        "Free rod in steady rotation, stretched",
        EXACT,
        {"end(2)": ReferenceValue(_end(), 0.0, L / 2)},
        rotation,
        Meshes("20 elements, h = 0.01", "40 elements, h = 0.005", 2),
    ),
)
