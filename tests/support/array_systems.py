"""Systems written as plain arrays, for tests below the level of `rodsim.Model`."""

from __future__ import annotations

import numpy as np

from discretization.interaction_groups import Role, groups_of
from discretization.interaction_table import Interaction, InteractionTable, insert_file_tables, table_of
from discretization.internal_variables import internal_variables
from discretization.space.bushing import BUSHING, BUSHING_DAMPER, bushing_numbers, damper_numbers
from discretization.space.elements import Elements
from discretization.space.free_bushing import FREE_BUSHING, FREE_BUSHING_DAMPER, free_numbers
from discretization.system import System
from rigid import quaternions
from rigid.interactions.constraints import rows_of
from rigid.interactions.kinds import Group
from rigid.interactions.law_springs import LENGTH_SPRING
from rigid.interactions.laws import law_numbers
from rigid.system import Constraints, Frames, Loads, Springs, State, TorsionSprings
from rodsim.components.spring_laws import SpringLaw

zeros = np.zeros


def make_system(
    mass,
    inertia,
    elements: Elements | None = None,
    constraints: Constraints | None = None,
    springs: Springs | None = None,
    torsions: TorsionSprings | None = None,
    loads: Loads | None = None,
    gravity=(0.0, 0.0, 0.0),
    interactions: InteractionTable | None = None,
) -> System:
    """A system of moving frames (the ground is added first); omitted arguments are empty."""
    n = len(mass) + 1
    fixed = zeros(n, np.uint8)
    fixed[0] = 1
    none, pair, vector = zeros(0), zeros((0, 2), np.int64), zeros((0, 3))
    return System(
        Frames(np.concatenate([[1.0], mass]), np.concatenate([[np.eye(3)], inertia]), fixed),
        elements or Elements(pair, none, zeros((0, 6, 6)), zeros((0, 6, 6)), zeros((0, 6)), none),
        constraints
        or Constraints(zeros(0, np.int64), pair, vector, vector, vector, vector, none, zeros(0, np.int64)),
        np.array(gravity, dtype=float),
        others=insert_file_tables(
            interactions or table_of(),
            springs or Springs(pair, vector, vector, none, none, none),
            torsions or TorsionSprings(pair, vector, vector, vector, none, none, none),
            loads or Loads(zeros(0, np.int64), zeros(0, np.int64), vector, zeros(0, np.uint8)),
        ),
    )


def acting(
    springs: Springs | None = None, torsions: TorsionSprings | None = None, loads: Loads | None = None
) -> dict[str, tuple[Group, ...]]:
    """The groups of springs and of the dampers and loads, as `rigid.charts.multibody.Interactions` takes them."""
    groups = groups_of(
        make_system(zeros(0), zeros((0, 3, 3)), springs=springs, torsions=torsions, loads=loads)
    )
    return {
        name: tuple(acting.group for acting in groups if acting.role is role)
        for name, role in (
            ("more", Role.ENERGY),
            ("dissipating", Role.DISSIPATION),
            ("working", Role.WORK),
        )
    }


def make_state(system: System, r, quat=None, v=None, Omega=None, angle=()) -> State:
    """A state of the moving frames; the ground is added first."""
    n = len(system.frames.mass)

    def all_frames(values, ground):
        return (
            np.concatenate([[ground], values])
            if values is not None
            else np.tile(ground, (n, 1)).astype(float)
        )

    return State(
        all_frames(np.asarray(r, float), [0.0, 0.0, 0.0]),
        all_frames(quat, [1.0, 0.0, 0.0, 0.0]),
        all_frames(v, [0.0, 0.0, 0.0]),
        all_frames(Omega, [0.0, 0.0, 0.0]),
        zeros(int(rows_of(system.constraints).sum())),
        internal_variables(system).joined(angle=angle if len(angle) else 0.0),
        zeros(6 * n),
        zeros(2),
    )


def free_rod(n: int = 6, curved: bool = True, consistent: float = 1.0) -> tuple[System, State]:
    """A free elastic rod, stress-free in a bent shape, with some motion; node k has unequal moments of inertia."""
    rng = np.random.default_rng(4)
    length = np.full(n, 1.0 / n)
    C = np.tile(np.diag([200.0, 100.0, 100.0, 2.0, 3.0, 4.0]), (n, 1, 1))
    C[:, 0, 4] = C[:, 4, 0] = 3.0  # stretch coupled with bending
    strain0 = np.tile([0.0, 0.0, 0.0, 0.3, 0.5, 0.0], (n, 1)) if curved else zeros((n, 6))
    frames = np.stack([np.arange(1, n + 1), np.arange(2, n + 2)], axis=1)
    mass = np.full(n + 1, 1.0 / n)
    inertia = mass[:, None, None] * np.diag([0.02, 0.03, 0.015])
    system = make_system(mass, inertia, Elements(frames, length, C, 0 * C, strain0, consistent * length / 6))
    r = np.linspace([0, 0, 0], [1, 0, 0], n + 1)
    quat = quaternions.from_rotation_vector(0.05 * rng.standard_normal((n + 1, 3)))
    v = np.array([1.0, 0.5, 0.0]) + np.cross([0.0, 1.0, 2.0], r)
    return system, make_state(system, r, quat, v, np.tile([0.0, 1.0, 2.0], (n + 1, 1)))


def asymmetric_top() -> tuple[System, State]:
    """The free body J = diag(6, 8, 3), Omega0 = (10, 20, 20) with an exact solution in Jacobi's functions."""
    system = make_system(np.array([1.0]), np.array([np.diag([6.0, 8.0, 3.0])]))
    return system, make_state(system, [[0.0, 0.0, 0.0]], Omega=np.array([[10.0, 20.0, 20.0]]))


def bushings() -> list[Interaction]:
    """A bushing with a damper between frames 1 and 3, one with a free axis between 2 and 4, a spring with a law between the
    ground and frame 2.
    """
    rng = np.random.default_rng(6)
    markers = []
    for rotation in 0.3 * rng.standard_normal((2, 3)):
        axes = quaternions.to_matrix(quaternions.from_rotation_vector(rotation))
        markers += [rng.standard_normal(3), axes.ravel()]
    both, (B, D) = np.concatenate(markers), rng.standard_normal((2, 6, 6))
    law = law_numbers("law", SpringLaw.table([0.0, 1.0, 2.0, 4.0], [-1.0, 0.0, 2.0, 3.0]).pieces)
    return [
        Interaction(
            BUSHING, (1, 3), bushing_numbers(both, B @ B.T, 0.1 * rng.standard_normal(6)), (1.0, 1.0)
        ),
        Interaction(BUSHING_DAMPER, (1, 3), damper_numbers(both, 0.1 * D @ D.T), (0.0, 0.0)),
        Interaction(FREE_BUSHING, (2, 4), free_numbers(both, B @ B.T, 0.1 * np.ones(6), True), (1.0, 1.0)),
        Interaction(
            FREE_BUSHING_DAMPER, (2, 4), free_numbers(both, 0.1 * D @ D.T, np.zeros(6), True), (0.0, 0.0)
        ),
        Interaction(LENGTH_SPRING, (0, 2), np.concatenate([rng.standard_normal(6), law]), (1.0, 1.0)),
    ]


def everything() -> tuple[System, State]:
    """Five frames and the ground with every kind of interaction; not assembled, only for derivatives."""
    rng = np.random.default_rng(0)

    def vectors(k):
        return rng.standard_normal((k, 3))

    def units(k):
        x = vectors(k)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [0, 4]])
    ua = units(2)
    wa = np.cross(ua, units(2))
    wa /= np.linalg.norm(wa, axis=1, keepdims=True)
    eye, strain0 = np.tile(np.eye(6), (3, 1, 1)), 0.1 * rng.standard_normal((3, 6))
    system = make_system(
        rng.uniform(1, 2, 5),
        np.tile(np.diag([1.0, 2.0, 2.5]) + 0.1, (5, 1, 1)),
        Elements(np.array([[1, 2], [2, 3], [0, 3]]), np.array([1.0, 2, 1.5]), eye, 0.1 * eye, strain0, np.array([0.1, 0.0, 0.2])),
        Constraints(
            np.array([0, 1, 2, 3, 0, 2]), pairs, vectors(6), vectors(6), units(6), units(6), rng.standard_normal(6),
            np.array([0, 1, 1, 2, 3, 4]),
        ),
        Springs(
            np.array([[0, 1], [2, 5]]), vectors(2), vectors(2), np.array([3.0, 4.0]), np.array([0.5, 0.2]), np.array([1.0, 0.3])
        ),
        TorsionSprings(
            np.array([[1, 3], [0, 2]]), ua, wa, units(2), np.array([3.0, 4.0]), np.array([0.5, 0.2]), np.array([0.1, 0.3])
        ),
        Loads(np.array([0, 0, 1, 1]), np.array([1, 2, 3, 4]), vectors(4), np.array([0, 1, 0, 1], dtype=np.uint8)),
        gravity=(0.0, 0.0, -9.81),
        interactions=table_of(bushings()),
    )  # fmt: skip
    quat = quaternions.normalize(0.3 * rng.standard_normal((5, 4)) + [1, 0, 0, 0])
    return system, make_state(system, vectors(5), quat, vectors(5), vectors(5), angle=[0.1, 0.1])
