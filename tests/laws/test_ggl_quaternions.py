"""GGL-EM in quaternions: its discrete derivatives at any two states, and its motion, which is that of `em-ggl`."""

import numpy as np
import pytest

from discretization.time.integrate import integrate, solver_for
from discretization.time.integrators import parse
from discretization.time.symplecticity import OneStep
from rigid import quaternions
from rigid.charts.multibody import Interactions, multibody_system, rotations
from rigid.system import ALONG, COINCIDENT, DISTANCE, PERPENDICULAR, Constraints, Frames, Springs
from rodsim import Box, Model, simulate
from tests.support.arrays import acting
from tests.support.joined_bodies import chain
from tests.support.mechanisms import flail, slider

KINDS = {"coincident": COINCIDENT, "perpendicular": PERPENDICULAR, "along": ALONG, "distance": DISTANCE}
H = 0.7


def pair(kind, inertia, rng):
    """Two frames with one constraint, which they fulfil, and a spring."""
    x = rng.standard_normal
    quat, r, (Xa, Xb, Ua, Ub) = quaternions.normalize(x((2, 4))), x((2, 3)), x((4, 3))
    if kind == COINCIDENT:
        r[1] = r[0] + quaternions.rotate(quat[0], Xa) - quaternions.rotate(quat[1], Xb)
    d = r[1] + quaternions.rotate(quat[1], Xb) - r[0] - quaternions.rotate(quat[0], Xa)
    ua, ub = quaternions.rotate(quat[0], Ua), quaternions.rotate(quat[1], Ub)
    value = {COINCIDENT: 0.0, PERPENDICULAR: ua @ ub, ALONG: ua @ d, DISTANCE: d @ d / 2}[kind]
    between = np.array([[0, 1]])
    rows = (x[None] for x in (Xa, Xb, Ua, Ub))
    constraints = Constraints(np.array([kind]), between, *rows, np.array([value]), np.zeros(1, np.int64))
    spring = Springs(between, Xb[None], Xa[None], np.full(1, 2.0), np.zeros(1), np.full(1, 0.3))
    J = np.array([np.diag([1.0, 1.3, 0.8]), np.diag([0.4, 0.7, 0.5])])
    J[1, 0, 1] = J[1, 1, 0] = 0.1
    frames = Frames(np.array([1.5, 0.8]), J, np.zeros(2, np.uint8))
    none = np.zeros((2, 3))
    joined = Interactions(constraints=constraints, **acting(spring))
    return multibody_system("pair", frames, r, quat, none, none, joined, inertia=inertia)


def random_state(system, rng):
    """Unit quaternions and momenta with q . p = 0, anything else."""
    q, p = rng.standard_normal((2, system.n))
    for to in system.info["places"].orientation:
        own = slice(to, to + 4)
        q[own] = quaternions.normalize(q[own])
        p[own] -= (q[own] @ p[own]) * q[own]
    return q, p


def augmented(system, kind, q, p, lam, gam):
    """T* + V + lam . g + gam . dg/dt, of coincident points with gam in the components of the first frame."""
    rate = system.rate(q, system.velocity(q, p))
    if kind == COINCIDENT:
        rate[2:] = rotations(system, q[None], 0)[0].T @ rate[2:]
    return system.hamiltonian(q, p) + lam @ system.constraints(q) + gam @ rate


def step_between(kind, inertia, seed, forces=1.0):
    """A system, two states of it, multipliers, and the residuals of (1) and (2) there."""
    rng = np.random.default_rng(seed)
    scheme, system = parse("GGL-EM").fitted(pair(kind, inertia, rng))
    ends = [random_state(system, rng) for _ in range(2)]
    lam, gam = rng.standard_normal((2, system.m))
    lam *= forces
    gam[:2] = 0.0  # q . p of an end is zero by itself
    one = OneStep(system, scheme, H, np.zeros((1, 1)))
    n = system.n
    r = one.residual(np.concatenate([*ends[1], lam, gam]), (*ends[0], ends[0][1])).real
    return system, ends, lam, gam, r[:n], r[n : 2 * n]


@pytest.mark.parametrize("inertia", ["alpha", "gamma"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_work_of_any_step_is_the_change_of_all_energies(kind, inertia, seed):
    """Change = sum of kappa/h (r_2 . dq - r_1 . dp) over frames: zero where the equations hold."""
    system, ((q0, p0), (q1, p1)), lam, gam, r1, r2 = step_between(kind, inertia, seed)
    stretch = np.ones(system.n)
    for to in system.info["places"].orientation:
        middle = 0.5 * (q0 + q1)[to : to + 4]
        stretch[to : to + 4] = 1.0 / (2.0 - 1.0 / (middle @ middle))
    change = augmented(system, kind, q1, p1, lam, gam) - augmented(system, kind, q0, p0, lam, gam)
    work = (stretch / H) @ (r2 * (q1 - q0) - r1 * (p1 - p0))
    assert work == pytest.approx(change, abs=1e-11 * np.abs(stretch).max())


@pytest.mark.parametrize("inertia", ["alpha", "gamma"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_any_step_keeps_momenta_but_for_what_its_equations_lack(kind, inertia):
    forces = 0.0 if kind == COINCIDENT else 1.0  # opposite ones in two places, where points do not coincide
    system, ((q0, p0), (q1, p1)), _, _, r1, r2 = step_between(kind, inertia, 5, forces)
    q, p = 0.5 * (q0 + q1), 0.5 * (p0 + p1)
    for symmetry in system.symmetries:
        change = symmetry(q1, p1) - symmetry(q0, p0)
        lacking = p @ (symmetry.Xi @ r1) + r2 @ (symmetry.Xi @ q + symmetry.tau)
        assert lacking == pytest.approx(change, abs=1e-12), symmetry.name


@pytest.mark.parametrize("build", [chain, slider, flail])
def test_the_motion_is_that_of_em_ggl(build):
    """The same equations in other unknowns: spherical, revolute, prismatic joints, a spring, a rod, gravity."""
    other = simulate(build(), 0.4, 0.02, "em-ggl")
    run = simulate(build(), 0.4, 0.02, "GGL-EM", chart="quaternion-alpha")
    for name in build().bodies:
        a, b = run.body(name), other.body(name)
        assert a.center_of_mass == pytest.approx(b.center_of_mass, abs=1e-11)
        assert a.Omega == pytest.approx(b.Omega, abs=1e-10)


def bars(count):
    """A chain of bars that hangs on ball joints."""
    model = Model("bars", gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(count):
        bar = model.add_body(f"bar {k}", Box(1, 0.2, 0.1, density=100), position=(k + 0.5, 0, 0))
        model.add_joint(f"ball {k}", "spherical", last, bar, at=(k, 0, 0))
        last = bar
    return model


def test_newtons_matrix_is_a_band_that_does_not_widen_with_the_chain():
    bands = []
    for count in (8, 32):
        fitted = parse("GGL-EM").fitted(bars(count).mechanical_system("quaternion-gamma"))
        bands.append(solver_for(*fitted)[0].pattern.band)
    assert 0 < bands[1] <= bands[0] < 60


def test_compositions_keep_what_the_step_keeps():
    run = integrate(slider().mechanical_system("quaternion-gamma"), "GGL-EM(order=4)", 0.02, 0.4)
    energy = run.hamiltonian()
    assert np.ptp(energy) < 1e-12 * energy[0]
    assert run.velocity_residual().max() < 1e-12
    for symmetry in run.system.symmetries:
        assert np.ptp(run.momentum(symmetry)) < 1e-11, symmetry.name
