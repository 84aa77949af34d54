"""Shared models and helpers: rods."""

import numpy as np

from discretization.space.rod_elements import BY_NUMBER, SE3
from rodsim import Model, Section

SPANS = [
    element.word for element in BY_NUMBER if element.word != SE3 and element.rotates
]  # it has spans if its material is nonlinear


def soft(damping_time=0.0):
    """The section of these rods."""
    return Section.from_stiffness(
        EA=3e3,
        GA=2e3,
        GJ=50,
        EI=(80, 60),
        mass_per_length=2.0,
        inertia_per_length=(0.5, 0.6, 0.7),
        damping_time=damping_time,
    )


SECTION = soft()
BENT = [(s, 0.4 * np.sin(3 * s), 0.3 * s * s) for s in np.linspace(0.0, 1.0, 9)]


def free_rod(element, n_elements=8, mass="mean", section=SECTION, **options):
    """A bent rod in free flight."""
    model = Model("rod")
    model.add_rod(
        "rod",
        BENT,
        section,
        n_elements,
        mass=mass,
        velocity=lambda s: (0.3, 8.0 * (s - 0.4) ** 2, 6.0 * s - 5.0 * s * s),
        angular_velocity=(0.4, -0.3, -1.0),
        element=element,
        **options,
    )
    return model


INERTIA = np.array([[2.0, 0.3, -0.1], [0.3, 1.5, 0.2], [-0.1, 0.2, 1.2]])


def full(seed, size):
    B = np.random.default_rng(seed).standard_normal((6, 6))
    return size * (B @ B.T + 0.1 * np.eye(6))


def held_rod(element):
    """A rod of several elements with joints at both ends and a branch, with consistent masses."""
    model = free_rod(element, 12, mass="consistent")
    rod = model.rods["rod"]
    model.add_joint("pin", "spherical", model.ground, rod.start)
    model.add_joint("hinge", "revolute", model.ground, rod.end, axis=(1, 0, 0))
    return model
