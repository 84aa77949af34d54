"""Linear equations against differences of forces, energies and runs."""

import numpy as np
import pytest
from scipy.sparse import issparse
from scipy.spatial.transform import Rotation

from discretization.interaction_groups import constraints_of, dissipations_of, energies_of
from discretization.interaction_table import springs_of, torsions_of
from discretization.linearisation import equations, inertia, load_stiffness, tangents
from discretization.state_measures import constraint_residual, energies
from rigid import quaternions
from rodsim import linearise
from tests.support.linearise import everything


def perturbed_state(built, seed=3, size=0.05):
    """A state far from the initial one, with stress everywhere."""
    rng = np.random.default_rng(seed)
    return moved(built.state, size * rng.standard_normal((len(built.state.r), 6)), built.system)


def moved(state, x, system):
    """The state with every moving frame displaced and rotated by x (n, 6)."""
    x = np.where(system.frames.fixed[:, None] != 0, 0.0, x)
    quat = quaternions.multiply(quaternions.from_rotation_vector(x[:, 3:]), state.quat)
    return state._replace(r=state.r + x[:, :3], quat=quat)


def slope(function, state, system, h=1e-5):
    """Derivatives of an array by (dr, rotation) of all frames, (values, 6 n), of fourth order in h."""
    n = 6 * len(state.r)
    columns = []
    for j in range(n):
        x = np.zeros(n)
        x[j] = h
        at = [np.ravel(function(moved(state, (k * x).reshape(-1, 6), system))) for k in (-2, -1, 1, 2)]
        columns.append((at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h))
    return np.array(columns).T


def test_dense_and_sparse_matrices_are_equal(monkeypatch):
    model = everything()
    small = linearise(model)
    assert not issparse(small.stored("K"))
    monkeypatch.setattr(equations, "SMALL", 0)
    large = linearise(model)
    assert issparse(large.stored("K"))
    for name in ("M", "C", "gyroscopic", "K", "G"):
        for lin in (small, large):
            assert issparse(getattr(lin, name))
            assert (lin.full(name) == getattr(lin, name).toarray()).all()
        close(small.full(name), large.full(name), 1e-13)
        assert small.has(name) == large.has(name) == (name != "gyroscopic")
    close(small.changed(K=small.symmetric_stiffness).K, 0.5 * (large.K + large.K.T), 1e-13)


def close(actual, expected, tolerance=1e-8):
    assert np.abs(actual - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("element", ["se3", "lagrange(2)", "relative(2)", "lagrange(3)"])
def test_stiffness_is_the_derivative_of_all_forces(element):
    built = everything(element).build()
    system, state = built.system, perturbed_state(built)
    lam = np.random.default_rng(1).standard_normal(len(state.lam))
    loads = built.load_values(np.zeros(1))[0]

    def forces(x):
        total = tangents.forces(energies_of(system, x), x, np.zeros(0))
        return (
            total
            + tangents.forces(constraints_of(system, state), x, lam)
            - load_stiffness.applied_forces(system, x, loads)
        )

    place = np.arange(len(state.r))
    K = sum(
        part.matrix(place)
        for part in (
            tangents.stiffness(energies_of(system, state), state, np.zeros(0)),
            tangents.stiffness(constraints_of(system, state), state, lam),
            load_stiffness.stiffness(system, state, loads),
        )
    ).toarray()
    free = np.repeat(system.frames.fixed == 0, 6)
    close(K[:, free], slope(forces, state, system)[:, free])


def test_forces_are_the_gradient_of_the_energies_and_of_the_joints():
    built = everything().build()
    system, state = built.system, perturbed_state(built)
    lam = np.random.default_rng(1).standard_normal(len(state.lam))
    energy = slope(lambda x: energies(system, x).elastic + energies(system, x).spring, state, system)
    coil = 7.0 * 0.5 * slope(lambda x: _angle(built, x) ** 2, state, system)
    of_joints = slope(lambda x: lam @ constraint_residual(system, x), state, system)
    free = np.repeat(system.frames.fixed == 0, 6)
    forces = tangents.forces(energies_of(system, state), state, np.zeros(0)).ravel()
    close(forces[free], (energy + coil)[0][free])
    close(tangents.forces(constraints_of(system, state), state, lam).ravel()[free], of_joints[0][free])


def _angle(built, state):
    """Angle of the torsion spring minus its unstressed one, less than half a turn."""
    t = torsions_of(built.system.others)
    a, b = t.frames[0]
    Ra, Rb = (quaternions.to_matrix(state.quat[k]) for k in (a, b))
    along = Rb @ t.Ub[0]
    return np.arctan2(Ra @ t.Wa[0] @ along, Ra @ t.Ua[0] @ along) - 0.3


def test_damping_matrix_gives_the_dissipated_power():
    built = everything().build()
    system, state = built.system, perturbed_state(built)
    n = len(state.r)
    _, C, K = tangents.damping(dissipations_of(system), state, np.zeros((n, 3)))
    C = C.matrix(np.arange(n)).toarray()
    close(C, C.T, 1e-12)
    assert np.abs(K.values).max() == 0.0  # at rest there is no damping force, for any positions
    # the damping of a viscous section is its stiffness times the given time
    rate = np.random.default_rng(2).standard_normal((n, 6)) * (system.frames.fixed[:, None] == 0)
    h = 1e-6
    ends = [moved(state, k * h * rate, system) for k in (-0.5, 0.5)]
    power = _dissipated_power(built, ends, h)
    assert rate.ravel() @ C @ rate.ravel() == pytest.approx(power, rel=1e-7)


def _dissipated_power(built, ends, h):
    """Power dissipated by the rod and the dampers of the spring and the coil between two states, W."""
    from discretization.state_measures import element_states

    system = built.system
    strain = [element_states(system, x)[0] for x in ends]
    rate = (strain[1] - strain[0]) / h
    rod = 0.01 * np.sum(
        system.elements.length[:, None] * rate * np.einsum("kij,kj->ki", system.elements.stiffness, rate)
    )
    s = springs_of(system.others)
    a, b = s.frames[0]
    length = [
        np.linalg.norm(
            x.r[b] + quaternions.rotate(x.quat[b], s.Xb[0]) - x.r[a] - quaternions.rotate(x.quat[a], s.Xa[0])
        )
        for x in ends
    ]
    spring = 3.0 * ((length[1] - length[0]) / h) ** 2
    return rod + spring + 0.4 * ((_angle(built, ends[1]) - _angle(built, ends[0])) / h) ** 2


def spinning_momenta(system, state, x, rate, motion, t):
    """Momenta (n, 6) in axes that rotate with W, of frames displaced by x (n, 6) there, whose x changes by rate."""
    W, n = motion.W, len(state.r)
    h = 1e-5

    def pose(dt):
        """Inertial positions and rotations dt later; the frames' own spin rotates them relative to x."""
        y = x + dt * rate
        axes = Rotation.from_rotvec(W * (t + dt))
        spin = Rotation.from_rotvec(motion.spin * (t + dt))
        R = axes * Rotation.from_rotvec(y[:, 3:]) * spin * Rotation.from_quat(np.roll(state.quat, -1, axis=1))
        return axes.apply(state.r - motion.center + y[:, :3]), R

    (r0, R0), (r1, R1), (_, Rm) = pose(-h), pose(h), pose(0.0)
    v = (r1 - r0) / (2 * h)
    omega = (R1 * R0.inv()).as_rotvec() / (2 * h)
    Rm = Rm.as_matrix()
    spins = np.einsum("nij,njk,nlk,nl->ni", Rm, system.frames.inertia, Rm, omega)
    rows, columns, m = inertia.translational(system)
    p = np.zeros((n, 3))
    np.add.at(p, rows, m[:, None] * v[columns])
    return p, spins


def test_inertia_in_rotating_axes_is_the_rate_of_momenta():
    """Coriolis, gyroscopic and centrifugal terms against rates of inertial momenta of moved frames."""
    built = everything().build()
    system, state = built.system, perturbed_state(built)
    rng = np.random.default_rng(5)
    n = len(state.r)
    W = np.array([0.4, -0.7, 1.1])
    round_one = np.diag([3.0, 3.0, 1.0])
    system = system._replace(frames=system.frames._replace(inertia=np.tile(round_one, (n, 1, 1))))
    spin = 2.0 * quaternions.rotate(state.quat, np.array([0.0, 0.0, 1.0]))
    motion = inertia.SteadyMotion(W, np.array([0.1, 0.2, -0.3]), spin, True)
    x, u, a = rng.standard_normal((3, n, 6))
    place = np.arange(n)
    M, D, K = (
        part.matrix(place)
        for part in (
            inertia.mass(system, state),
            inertia.gyroscopic(system, state, motion),
            inertia.centrifugal(system, state, motion),
        )
    )
    close(D.toarray(), -D.toarray().T, 1e-14)

    def balance(eps):
        """d/dt of the inertial momenta at t = 0, along eps (x + t u + t^2 a/2)."""
        h = 1e-3
        at = [
            spinning_momenta(system, state, eps * (x + t * u + t * t / 2 * a), eps * (u + t * a), motion, t)
            for t in (-h, h)
        ]
        return np.concatenate([(at[1][k] - at[0][k]) / (2 * h) for k in (0, 1)], axis=1)

    eps = 1e-4
    change = (balance(eps) - balance(-eps)) / (2 * eps)
    expected = (M @ a.ravel() + D @ u.ravel() + K @ x.ravel()).reshape(n, 6)
    assert np.abs(change - expected).max() < 1e-4 * np.abs(expected).max()  # differences of differences
    steady = inertia.steady_inertia_forces(system, state, motion)
    free = system.frames.fixed == 0
    assert np.abs(balance(0.0) - steady)[free].max() < 1e-5 * np.abs(steady).max()
