"""Shared models and helpers: closed forms of rod spans."""

import numpy as np

from discretization.assembly.numbering import number_unknowns
from discretization.assembly.rod_spans import span_dissipation
from discretization.assembly.workspace import workspace
from rodsim import Section
from tests.support.newton_iterations import iterate
from tests.support.rods import free_rod

H = 0.01


def full_section(damping):
    rng = np.random.default_rng(0)
    B = rng.normal(size=(6, 6))
    C = 1e4 * (B @ B.T + 3 * np.eye(6))  # far more than the masses contribute
    return Section.from_stiffness(
        C=C, mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7), D=0.01 * C if damping else None
    )


def assembled(element, closed, damping=False, size=0.3, seed=1, section=None):
    """Residual, matrix and dissipation of a step of random increments."""
    section = full_section(damping) if section is None else section
    model = free_rod(element, 4, section=section, stress_free=[(0, 0, 0), (1.2, 0, 0)])
    built = model.build()
    system, state = built.system, built.state
    numbering = number_unknowns(system)
    work = workspace(system, numbering, closed)
    rng = np.random.default_rng(seed)
    for array in (work.dr, work.psi):
        array[1:] = size * rng.normal(size=(len(array) - 1, 3))
    iterate(system, numbering, state, work, H)
    n = numbering.size
    lost = span_dissipation(system, state, work, H) if damping else 0.0
    return work.residual[:n].copy(), work.values[: numbering.n_values].copy(), lost
