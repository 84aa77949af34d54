"""Rotors over their speed against closed forms and against ROSS: whirl, critical speeds, stability, response to unbalance.

Complex lateral displacements are q = y + i z, positive frequencies are forward whirl for a rotation from y to z.
"""

import numpy as np
import pytest
from scipy.linalg import expm

import rodsim
from rigid.quaternions import to_matrix
from rodsim import (
    Box,
    MassProperties,
    Model,
    ModelError,
    Section,
    audit,
    buckling,
    campbell,
    equilibrium,
    modes,
    simulate,
)
from rodsim.interactions import minus, push
from rodsim.linear import Unbalance

M, IP, ID = 2.0, 0.02, 0.013  # kg, kg m^2
K, C = 1e4, 6.0  # N/m, N s/m
W0 = np.sqrt(K / M)  # rad/s
X = (1.0, 0.0, 0.0)


def disc_model(tilt=500.0, **settings):
    """A disc that is held along x and against tilt about y and z."""
    model = Model("disc")
    disc = model.add_body("disc", MassProperties(M, np.diag([IP, ID, ID])), **settings)
    model.add_bearing("tilt", "ground", disc, [3e5, 0, 0, 0, tilt, tilt], 0.0, "general", axis=X)
    return model, disc


def jeffcott(stiffness=K, damping=C, **bearing):
    model, disc = disc_model()
    model.add_bearing("film", "ground", disc, stiffness, damping, axis=X, **bearing)
    return model


def test_unbalance_moves_a_jeffcott_rotor_by_the_closed_form():
    speeds = np.array([10.0, 60.0, W0, 90.0, 300.0])
    diagram = campbell(jeffcott(), speeds, 2, rotors="disc", unbalance=Unbalance("disc", 1e-4, 0.3))
    q = 1e-4 * np.exp(0.3j) * speeds**2 / (K - M * speeds**2 + 1j * C * speeds)
    assert diagram.response[:, 0] == pytest.approx(np.outer(q, [1.0, -1.0j]), rel=1e-9)
    assert diagram.amplitude[:, 0] == pytest.approx(np.abs(q), rel=1e-9)
    assert diagram.phase[:, 0] == pytest.approx(np.angle(q), rel=1e-9)
    assert diagram.phase[2, 0] == pytest.approx(0.3 - np.pi / 2, rel=1e-9)
    assert diagram.critical_speeds()[0].speed == pytest.approx(np.sqrt(K / M - (C / M / 2) ** 2), rel=1e-9)
    assert diagram.log_decrement[:, 0] == pytest.approx(
        2 * np.pi * C / np.sqrt(4 * K * M - C * C) * np.ones(5), rel=1e-9
    )
    assert diagram.damping[0, 0] == pytest.approx(C / (2 * np.sqrt(K * M)), rel=1e-9)
    assert diagram.stability_limit == np.inf


def test_a_backward_rotating_unbalance_moves_the_disc_backwards():
    diagram = campbell(
        jeffcott(), [50.0, 100.0], 2, rotors={"disc": -1.0}, unbalance=Unbalance("disc", 1e-4, 0.3)
    )
    q = 1e-4 * np.exp(-0.3j) * 50.0**2 / (K - M * 50.0**2 + 1j * C * 50.0)
    assert diagram.response[0, 0] == pytest.approx(q * np.array([1.0, 1.0j]), rel=1e-9)


def overhung(EI=800.0, L=0.4):
    """A disc on the end of a massless cantilever along x, whose stiffness is that of a bearing."""
    k11, k12, k22 = 12 * EI / L**3, 6 * EI / L**2, 4 * EI / L
    full = np.diag([1e7, k11, k11, 0.0, k22, k22])
    full[1, 5] = full[5, 1] = -k12  # y and the rotation about z
    full[2, 4] = full[4, 2] = k12
    model = Model("overhung")
    disc = model.add_body("disc", MassProperties(M, np.diag([IP, ID, ID])))
    model.add_bearing("shaft", "ground", disc, full, 0.0, "general", axis=X)
    return model, (k11, k12, k22)


def test_gyroscopic_moments_split_the_whirl_of_an_overhung_disc():
    """(k11 - M w^2)(k22 + Ip W w - Id w^2) = k12^2 has two forward (w > 0) and two backward frequencies."""
    model, (k11, k12, k22) = overhung()
    speeds = np.array([0.0, 150.0, 400.0, 900.0])
    diagram = campbell(model, speeds, 4, rotors="disc")
    for s, W in enumerate(speeds):
        roots = np.roots(np.polysub(np.polymul([-M, 0, k11], [-ID, IP * W, k22]), [k12**2])).real
        assert np.sort(diagram.omega[s]) == pytest.approx(np.sort(np.abs(roots)), rel=1e-8)
        if W > 0.0:
            sign = {"forward": 1.0, "backward": -1.0}
            signed = [sign[x] * w for x, w in zip(diagram.directions[s], diagram.omega[s], strict=True)]
            assert np.sort(signed) == pytest.approx(np.sort(roots), rel=1e-8)
            assert np.abs(diagram.whirl[s]) == pytest.approx(np.ones(4), abs=1e-6)
    assert set(diagram.directions[0]) == {"planar"}
    for k in range(4):  # a column is one mode
        slope = 1.0 if diagram.directions[-1][k] == "forward" else -1.0
        assert {row[k] for row in diagram.directions[1:]} == {diagram.directions[-1][k]}
        assert np.all(slope * np.diff(diagram.omega[:, k]) > 0.0)
    # forward whirl at the speed: (k11 - M W^2)(k22 - (Id - Ip) W^2) = k12^2 has one root, since the disc is flat
    square = np.roots(np.polysub(np.polymul([-M, k11], [IP - ID, k22]), [k12**2]))
    expected = np.sqrt(square[square > 0.0])
    forward = [x.speed for x in diagram.critical_speeds() if x.whirl == "forward"]
    assert len(expected) == 1
    assert forward == pytest.approx(expected, rel=1e-8)
    # twice per revolution
    twice = [x.speed for x in diagram.critical_speeds(2.0) if x.whirl == "backward"]
    for W in twice:
        assert (k11 - M * (2 * W) ** 2) * (k22 - (ID + 0.5 * IP) * (2 * W) ** 2) == pytest.approx(
            k12**2, rel=1e-6
        )
    assert twice


@pytest.mark.parametrize(("ratio", "stable"), [(0.99, True), (1.01, False)])
def test_cross_coupling_is_unstable_beyond_damping_times_frequency(ratio, stable):
    cross = ratio * C * W0
    result = modes(jeffcott([[K, cross], [-cross, K]]), 8)
    assert result.stable == stable
    exact = np.roots([M, C, K - 1j * cross])  # M s^2 + C s + K - i k' = 0 for q = y + i z
    forward = exact[np.argmax(exact.real)]
    assert np.abs(result.values - forward).min() < 1e-9 * abs(forward)
    assert "circulation of a bearing" in result.text()


def test_cross_coupling_that_grows_with_the_speed_is_unstable_at_twice_the_frequency():
    """In a plain bearing k' = C W/2: the whirl becomes unstable at W = 2 w (oil whip), forward, with the frequency w."""
    speeds = np.array([0.0, 400.0])
    table = [[[K, C * W / 2], [-C * W / 2, K]] for W in speeds]
    diagram = campbell(jeffcott(table, [C, C], speeds=speeds), np.linspace(0, 400, 9), 2, rotors="disc")
    assert diagram.stability_limit == pytest.approx(2 * W0, rel=1e-8)
    s, k = np.argwhere(diagram.grows)[0]
    assert diagram.directions[s][k] == "forward"
    assert diagram.critical_speeds()[0].speed == pytest.approx(W0, rel=1e-3)


def test_antisymmetric_damping_turns_the_whirl_and_does_no_work():
    model = jeffcott(K, [[C, 40.0], [-40.0, C]])
    result = modes(model, 8)
    exact = np.roots([M, C - 40.0j, K])
    assert sorted(np.abs(exact.imag)) == pytest.approx(
        sorted(w for w, x in zip(result.omega, result.growth, strict=True) if x < -0.1), rel=1e-6
    )
    assert result.stable


def shaft_model(n=8, damping_time=0.0, ends="radial bearing", **settings):
    """A slender uniform shaft on two rigid radial bearings, almost without rotary inertia."""
    section = Section.from_stiffness(
        EA=3e5, GA=2e5, GJ=50, EI=80, mass_per_length=2.0, inertia_per_length=(2e-7, 1e-7, 1e-7),
        damping_time=damping_time,
    )  # fmt: skip
    model = Model("shaft")
    rod = model.add_rod(
        "shaft", [(0, 0, 0), (2, 0, 0)], section, n, element="relative(2)", mass="lumped", **settings
    )
    for name, end in (("left", rod.start), ("right", rod.end)):
        model.add_joint(name, ends, "ground", end, axis=X)
    model.add_joint("thrust", "axial bearing", "ground", rod.start, axis=X)
    return model


def test_internal_damping_is_unstable_above_the_critical_speed_plus_external_damping():
    """Stable up to w (1 + c_e/c_i), with c_e = rate m outside and c_i = time k in the rotating material."""
    time, rate = 2e-3, 0.4
    model = shaft_model(damping_time=time)
    model.add_mass_damping("oil", "shaft", rate, 0.0)
    diagram = campbell(model, np.linspace(0.0, 60.0, 5), 2)
    omega = modes(shaft_model(), 3).omega
    w = float(omega[omega > 1.0][0])
    assert diagram.stability_limit == pytest.approx(w * (1 + rate / (time * w * w)), rel=1e-5)
    assert diagram.directions[-1][int(np.argmax(diagram.growth[-1]))] == "forward"


def test_unequal_bearings_have_two_critical_speeds_and_backward_whirl_between():
    ky, kz = K, 1.44 * K
    model = jeffcott([ky, kz], 0.0)
    W = np.array([50.0, 78.0, 200.0])
    diagram = campbell(model, W, 2, rotors="disc", unbalance=Unbalance("disc", 1e-4))
    critical = diagram.critical_speeds()
    assert [x.speed for x in critical] == pytest.approx([W0, 1.2 * W0], rel=1e-9)
    assert {x.whirl for x in critical} == {"planar"}
    y, z = 1e-4 * W**2 / (ky - M * W**2), -1j * 1e-4 * W**2 / (kz - M * W**2)
    assert diagram.response[:, 0] == pytest.approx(np.stack([y, z], axis=1), rel=1e-9)
    assert diagram.amplitude[:, 0] == pytest.approx(np.maximum(np.abs(y), np.abs(z)), rel=1e-9)
    backward = np.abs(y + 1j * z) < np.abs(y - 1j * z)
    assert backward.tolist() == [False, True, False]  # between both critical speeds
    turned = jeffcott([ky, kz], 0.0, y=(0, 0.6, 0.8))
    assert modes(turned, 8).omega == pytest.approx(modes(model, 8).omega, rel=1e-9)


def test_a_support_with_mass_adds_a_critical_speed():
    model, disc = disc_model()
    support = model.add_body("support", Box(0.1, 0.1, 0.1, mass=3.0))
    model.add_bushing("foot", "ground@0,0,0", support, [1e7, 4e4, 4e4, 1e5, 1e5, 1e5])
    model.add_bearing("film", support, disc, K, 0.0, axis=X)
    diagram = campbell(model, np.linspace(10, 200, 6), 4, rotors="disc")
    squares = np.linalg.eigvals(np.array([[K / M, -K / M], [-K / 3.0, (K + 4e4) / 3.0]]))
    lateral = [x.speed for x in diagram.critical_speeds() if x.mode in (0, 1)]
    assert lateral == pytest.approx(np.repeat(np.sqrt(squares.min()), 2), rel=1e-8)
    assert any(abs(w / np.sqrt(squares.max()) - 1) < 1e-8 for w in modes(model, 14).omega)


def test_rotors_of_two_speeds_have_the_gyroscopic_terms_of_their_own():
    model = Model("spools")
    for name in ("inner", "outer"):
        body = model.add_body(name, MassProperties(M, np.diag([IP, ID, ID])))
        model.add_bearing(f"of {name}", "ground", body, [3e5, 1e7, 1e7, 0, 500, 500], 0.0, "general", axis=X)
    diagram = campbell(model, [100.0, 200.0], 4, rotors={"inner": 1.0, "outer": -1.5})
    expected = np.concatenate([np.abs(np.roots([-ID, IP * x * 200.0, 500.0])) for x in (1.0, -1.5)])
    assert np.sort(diagram.omega[-1]) == pytest.approx(np.sort(expected), rel=1e-8)
    slow = diagram.directions[-1][int(np.argmin(diagram.omega[-1]))]
    assert slow == "forward"  # backward against the faster rotor, which rotates backwards


# The rotor of the first tutorial of ROSS 2.3.0 (ross-rotordynamics, PyPI), with cross-coupled bearings: a steel shaft of 1.5 m
# and 50 mm in 24 elements (Timoshenko, Cowper's shear coefficient), discs of 280 mm x 70 mm at a third and at two thirds,
# kxx = 1e6, kyy = 0.8e6, kxy = -kyx = 3e4 N/m, cxx = cyy = 200 N s/m. Eigenvalues from `Rotor.run_modal(speed)`, 1/s, and the
# displacements x and y, m, at the first disc from `run_unbalance_response(node=[8], unbalance_magnitude=[1e-4])`.
ROSS_VALUES = {
    0.0: (-0.47777216 + 91.91937198j, -0.37321886 + 96.20342582j, -6.7226881 + 275.1808669j, -5.8348361 + 296.1076319j),
    300.0: (-0.63415092 + 91.8199095j, -0.18184399 + 96.2797318j, -8.7817214 + 270.9341545j, -3.8303462 + 300.2262854j),
    600.0: (-0.7470801 + 91.5480121j, -0.03323697 + 96.4770823j, -9.1458015 + 262.7187698j, -3.4608344 + 308.0968977j),
    1200.0: (-0.84434159 + 90.6509391j, 0.13736015 + 97.077127j, -8.8858652 + 243.8834648j, -3.537019 + 325.6648566j),
}  # fmt: skip
ROSS_SPEEDS = (50.0, 120.0, 310.0, 900.0)
ROSS_RESPONSE = (
    (4.7442072e-07 + 7.26475e-09j, 5.55563e-09 - 5.3960953e-07j),
    (-3.2445191e-06 + 1.605314e-08j, 1.607245e-08 + 2.7206249e-06j),
    (-1.69978468e-05 - 6.7236574e-06j, -2.4574262e-06 + 1.03853872e-05j),
    (-2.1773096e-06 - 4.667010e-07j, -5.8752080e-07 + 1.9058067e-06j),
)


def two_discs(n=24):
    E, G, rho, R = 211e9, 81.2e9, 7810.0, 0.025
    A, I = np.pi * R**2, np.pi * R**4 / 4
    nu = E / G / 2 - 1
    cowper = 6 * (1 + nu) / (7 + 6 * nu)
    section = Section.from_stiffness(
        EA=E * A, GA=cowper * G * A, GJ=2 * G * I, EI=E * I, mass_per_length=rho * A,
        inertia_per_length=(2 * rho * I, rho * I, rho * I),
    )  # fmt: skip
    model = Model("two discs")
    shaft = model.add_rod("shaft", [(0, 0, 0), (1.5, 0, 0)], section, n, element="relative(2)")
    m = rho * np.pi * (0.14**2 - R**2) * 0.07
    Ip, Id = m * (0.14**2 + R**2) / 2, m * (3 * (0.14**2 + R**2) + 0.07**2) / 12
    for k in (1, 2):
        disc = model.add_body(f"disc {k}", MassProperties(m, np.diag([Ip, Id, Id])), (0.5 * k, 0, 0))
        model.add_joint(f"weld {k}", "weld", shaft.at(k / 3), disc)
    for name, end in (("left", shaft.start), ("right", shaft.end)):
        model.add_bearing(name, "ground", end, [[1e6, 3e4], [-3e4, 0.8e6]], 200.0)
    model.add_joint("thrust", "axial bearing", "ground", shaft.start, axis=X)
    return model


def test_a_rotor_with_two_discs_agrees_with_ross():
    model = two_discs()
    diagram = campbell(model, list(ROSS_VALUES), 4)
    for s, expected in enumerate(ROSS_VALUES.values()):
        values = diagram.values[s][np.argsort(diagram.omega[s])]
        assert np.abs(values.imag / np.imag(expected) - 1).max() < 3e-5
        assert np.abs(values.real - np.real(expected)).max() < 1e-4
    assert diagram.directions[-1] == ("backward", "forward", "backward", "forward")
    assert 600.0 < diagram.stability_limit < 1200.0
    moved = campbell(model, ROSS_SPEEDS, 4, unbalance=Unbalance("disc 1", 1e-4))
    error = np.abs(moved.response[:, 0] - ROSS_RESPONSE).max(axis=1)
    assert np.all(error < 2e-4 * np.abs(ROSS_RESPONSE).max(axis=1)), error


@pytest.mark.parametrize(
    ("method", "damping"), [("em", C), ("em4", 0.0), ("em-ggl", C), ("em-d(0.9)", C), ("EML-kappa", C)]
)
def test_circulation_does_its_work_and_moves_the_disc_as_the_exact_solution(method, damping):
    """The work of a step of `em` is -(x1 - x0) . A (x0 + x1)/2 with the antisymmetric part A of the stiffness."""
    cross, dt = 1.5 * C * W0, 4e-4

    def model(**moving):
        made, disc = disc_model(**moving)
        made.add_bearing("film", "ground", disc, [[K, cross + 100.0], [100.0 - cross, K]], damping, axis=X)
        return made

    run = simulate(
        model(velocity=(0, 0.3, 0), angular_velocity=(30.0, 0, 0)),
        0.4,
        dt,
        method,
        output_every=1,
        progress=False,
    )
    assert audit(run).ok, audit(run).text()
    x = run.body("disc").center_of_mass[:, 1:]
    A = cross * np.array([[0.0, 1.0], [-1.0, 0.0]])
    steps = -np.einsum("ti,ij,tj->t", np.diff(x, axis=0), A, 0.5 * (x[1:] + x[:-1]))
    exact = method in ("em", "em-ggl")
    assert run.work[1:] == pytest.approx(np.cumsum(steps), abs=1e-12 if exact else 3e-3 * run.work[-1])
    assert run.work[-1] > 0.01
    stiffness = np.array([[K, cross + 100.0], [100.0 - cross, K]])
    rates = np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness / M, -damping / M * np.eye(2)]])
    exact_motion = np.array([expm(rates * t) @ [0.0, 0.0, 0.3, 0.0] for t in run.t[::100]])[:, :2]
    assert x[::100] == pytest.approx(exact_motion, abs=4e-3 * np.abs(x).max())
    assert modes(model(), 8).growth.max() == pytest.approx(np.linalg.eigvals(rates).real.max(), rel=1e-6)


def test_equilibrium_under_weight_has_the_displacement_across_it_and_is_a_start():
    cross = 2000.0
    model, disc = disc_model()
    model.gravity = np.array([0.0, 0.0, -9.81])
    model.add_bearing("film", "ground", disc, [[K, cross], [-cross, K]], C, axis=X)
    with pytest.raises(ModelError, match="not in equilibrium"):
        campbell(model, [10.0, 20.0], 2, rotors="disc")
    model.add_joint("brake", "generic", "ground", disc, locked=["rx"], at=(0, 0, 0))
    rest = equilibrium(model)
    expected = np.linalg.solve([[K, cross], [-cross, K]], [0.0, -9.81 * M])
    assert rest.body("disc").center_of_mass[-1, 1:] == pytest.approx(expected, rel=1e-9)


def test_a_sagging_shaft_whirls_about_its_equilibrium():
    model = shaft_model(angular_velocity=None)
    model.gravity = np.array([0.0, 0.0, -0.5])
    start = equilibrium(model)
    assert start.rod("shaft").r[-1, :, 2].min() < -1e-3
    about = campbell(model, [5.0, 10.0], 2, start=start)
    straight = shaft_model()
    assert about.omega == pytest.approx(campbell(straight, [5.0, 10.0], 2).omega, rel=0.05)


def test_rigid_bearings_are_joints_under_the_names_of_rotors():
    model = shaft_model()
    assert [joint.kind for joint in model.joints.values()] == [
        "point_on_line",
        "point_on_line",
        "point_on_plane",
    ]
    assert model.add_joint("ball", "self-aligning bearing", "ground", "shaft.end").kind == "spherical"


def test_results_are_tables_and_one_picture(tmp_path):
    diagram = campbell(
        jeffcott(), [10.0, 60.0, 100.0], 3, rotors="disc", unbalance=Unbalance("disc", 1e-4), points=["disc"]
    )
    assert list(diagram.frame["direction"][-3:]) == list(diagram.directions[-1])
    assert diagram.frame["frequency"].to_numpy() == pytest.approx(diagram.frequency.ravel())
    data = diagram.to_xarray()
    assert data["amplitude"].sel(point="disc").values == pytest.approx(diagram.amplitude[:, 0])
    assert data["growth"].attrs["units"] == "1/s"
    assert diagram.plot(tmp_path / "campbell.png", multiples=[1, 2]).stat().st_size > 20_000
    text = diagram.text()
    assert f"critical speed {diagram.critical_speeds()[0].speed:.6g} rad/s" in text
    assert "stable up to 954.93 rpm" in text
    with pytest.raises(Exception, match="no format"):
        diagram.plot(tmp_path / "campbell.nonsense")


@pytest.mark.parametrize(
    ("kind", "stiffness", "expected"),
    [
        ("radial", 5.0, np.diag([0, 5, 5, 0, 0, 0])),
        ("radial", [[4.0, 2.0], [3.0, 5.0]], np.pad([[4, 2], [3, 5]], (1, 3))),
        ("axial", 5.0, np.diag([5, 0, 0, 0, 0, 0])),
        ("self-aligning", [1.0, 2.0, 3.0], np.diag([1, 2, 3, 0, 0, 0])),
        ("general", 5.0, np.diag([5, 5, 5, 0, 5, 5])),
        ("general", [1, 2, 3, 0, 4, 5], np.diag([1, 2, 3, 0, 4, 5])),
    ],
)
def test_the_kind_of_a_bearing_says_what_its_numbers_resist(kind, stiffness, expected):
    model, disc = disc_model()
    bearing = model.add_bearing("film", "ground", disc, stiffness, stiffness, kind, axis=X)
    assert np.array_equal(bearing.K[0], expected)
    assert np.array_equal(bearing.C[0], expected)


def test_directions_of_a_bearing_do_not_depend_on_the_axes_of_shaft_and_support():
    full = np.diag([3e5, K, 2 * K, 0.0, 500.0, 700.0])
    full[1, 5], full[5, 1], full[2, 1] = 40.0, 20.0, 900.0

    def frequencies(*turned):
        model = Model("turned")
        support = model.add_body("support", Box(0.1, 0.1, 0.1, mass=1.0), orientation=turned[0])
        model.add_joint("foot", "clamp", support, at=(0, 0, 0))
        R = to_matrix(turned[1])
        inertia = R.T @ np.diag([IP, ID, ID]) @ R
        disc = model.add_body("disc", MassProperties(M, inertia), orientation=turned[1])
        model.add_bearing("film", support, disc, full, 1e-5 * np.diag(np.diag(full)), "general", axis=X)
        return modes(model, 6).values

    still = frequencies((1, 0, 0, 0), (1, 0, 0, 0))
    assert frequencies((0.8, 0.36, 0.0, 0.48), (0.6, 0.0, 0.64, -0.48)) == pytest.approx(still, rel=1e-6)
    tilt = np.array([[700.0, 20.0], [40.0, K]])  # tilt about z and y
    squares = np.linalg.eigvals(np.diag([1 / ID, 1 / M]) @ tilt)
    assert np.abs(np.sort(still.imag)[:, None] / np.sqrt(squares.real) - 1).min(axis=0).max() < 1e-4


def test_tilt_damping_alone_resists_the_tilt():
    model = Model("damped")
    disc = model.add_body("disc", MassProperties(M, np.diag([IP, ID, ID])))
    model.add_bearing("film", "ground", disc, [1e4] * 3 + [0] * 3, [0] * 4 + [0.13, 0.26], "general", axis=X)
    growth = modes(model, 6).growth
    for c in (0.13, 0.26):
        assert np.abs(growth + c / ID).min() < 1e-6


def test_a_table_is_read_at_the_speed_of_the_shaft_in_its_support():
    """The axis of the bearing is opposite to that of the rotor: its speed is -(1 - 1.5) W = W/2."""

    def model(**velocities):
        made, inner = disc_model(angular_velocity=velocities.get("inner"))
        outer = made.add_body(
            "outer", MassProperties(3.0, np.diag([IP, ID, ID])), angular_velocity=velocities.get("outer")
        )
        made.add_bearing("outside", "ground", outer, [3e5, 4e4, 4e4, 0, 500, 500], 0.0, "general", axis=X)
        made.add_bearing("between", outer, inner, [K, 3 * K], axis=(-1, 0, 0), speeds=[0.0, 100.0])
        return made

    k = 2 * K  # at 50 rad/s
    expected = np.sqrt(np.linalg.eigvals(np.array([[k / M, -k / M], [-k / 3.0, (k + 4e4) / 3.0]])).min())
    given = model()
    diagram = campbell(given, [50.0, 100.0], 4, rotors={"disc": 1.0, "outer": 1.5}, axis=X)
    assert np.abs(diagram.omega[-1] / expected - 1).min() < 1e-8
    assert given.others["between"].speed is None  # the model is not changed
    turning = model(inner=(100.0, 0, 0), outer=(150.0, 0, 0))
    assert np.abs(modes(turning, 12).omega / expected - 1).min() < 1e-8
    by_velocities = campbell(turning, [50.0, 100.0], 4)
    assert by_velocities.omega == pytest.approx(diagram.omega, rel=1e-9)


def test_axial_and_torsional_motions_are_named():
    model, disc = disc_model()
    other = model.add_body("other", MassProperties(M, np.diag([IP, ID, ID])))
    model.add_bushing("coupling", disc.at((0, 0, 0)), other, [1e6, 1e7, 1e7, 20.0, 1e4, 1e4])
    model.add_bearing("film", "ground", disc, 5e4, axis=X)
    diagram = campbell(model, [10.0, 20.0], 8, rotors=["disc", "other"])
    named = dict(zip(diagram.directions[-1], diagram.omega[-1], strict=True))
    assert named["torsional"] == pytest.approx(np.sqrt(2 * 20.0 / IP), rel=1e-8)
    squares = np.linalg.eigvals(np.array([[1.3e6, -1e6], [-1e6, 1e6]]) / M)
    axial = [w for word, w in zip(diagram.directions[-1], diagram.omega[-1], strict=True) if word == "axial"]
    assert axial[0] == pytest.approx(np.sqrt(squares.min()), rel=1e-8)


def test_equal_frequencies_have_no_direction_of_whirl():
    assert campbell(jeffcott(), [0.0, 1.0], 2, rotors="disc").directions[0] == ("planar",) * 2
    assert campbell(shaft_model(damping_time=1e-3), [0.0, 1.0], 4).directions[0] == ("planar",) * 4


def test_unbalance_of_a_faster_rotor_has_its_frequency_and_two_speeds_none_in_common():
    model, disc = disc_model()
    other = model.add_body("other", MassProperties(M, np.diag([IP, ID, ID])))
    for body in (disc, other):
        model.add_bearing(f"of {body.name}", "ground", body, K, C, axis=X)
    model.add_bearing("held", "ground", other, [3e5, 0, 0, 0, 500, 500], kind="general", axis=X)
    rotors = {"disc": 1.0, "other": 2.0}
    diagram = campbell(model, [20.0, 50.0], 4, rotors=rotors, unbalance=Unbalance("other", 1e-4))
    assert diagram.amplitude[1, 0] == pytest.approx(1e-4 * 1e4 / abs(K - M * 1e4 + 1j * C * 100.0), rel=1e-9)
    both = [Unbalance("other", 1e-4), Unbalance("disc", 1e-4)]
    with pytest.raises(ModelError, match="different speeds have no common frequency"):
        campbell(model, [20.0, 50.0], 4, rotors=rotors, unbalance=both)


def test_the_amplitude_is_the_largest_distance_on_the_orbit():
    model = jeffcott([[K, 3000.0], [500.0, 1.5 * K]], [20.0, 60.0])
    diagram = campbell(model, [60.0, 80.0], 2, rotors="disc", unbalance=Unbalance("disc", 1e-4))
    turns = np.exp(1j * np.linspace(0, 2 * np.pi, 20001))
    for amplitudes, largest in zip(diagram.response[:, 0], diagram.amplitude[:, 0], strict=True):
        orbit = np.hypot(*(np.real(x * turns) for x in amplitudes))
        assert largest == pytest.approx(orbit.max(), rel=1e-7)


def test_the_limit_is_the_lowest_of_several_and_the_last_speed_without_growth():
    speeds = np.array([0.0, 400.0])
    model, _ = disc_model()
    model.add_body("other", MassProperties(M, np.diag([IP, ID, ID])))
    model.add_bearing("held", "ground", "other", [3e5, 0, 0, 0, 500, 500], kind="general", axis=X)
    for name, k in (("disc", 1.3 * K), ("other", K)):
        table = [[[k, C * W / 2], [-C * W / 2, k]] for W in speeds]
        model.add_bearing(f"of {name}", "ground", name, table, [C, C], axis=X, speeds=speeds)
    diagram = campbell(model, [10.0, 200.0], 4, rotors=["disc", "other"], axis=X)
    assert diagram.grows[-1].sum() == 2
    assert diagram.stability_limit == pytest.approx(2 * W0, rel=1e-8)
    undamped = jeffcott([[[K, x], [-x, K]] for x in (0.0, 0.0, 900.0)], 0.0, speeds=[0.0, 100.0, 200.0])
    diagram = campbell(undamped, [50.0, 100.0, 150.0], 2, rotors="disc")
    assert diagram.stability_limit == pytest.approx(100.0, rel=1e-4)
    assert campbell(undamped, [150.0, 160.0], 2, rotors="disc").stability_limit == 150.0


def test_cross_coupling_has_no_potential_for_buckling():
    model = shaft_model()
    rod = model.rods["shaft"]
    model.add_joint("brake", "generic", "ground", rod.start, locked=["rx"])
    model.add_force("push", rod.end, (-1.0, 0, 0))
    model.add_bearing("seal", "ground", rod.at(0.5), [[K, 30.0], [-30.0, K]])
    with pytest.raises(ModelError, match="circulation of a bearing has no potential"):
        buckling(model, 1)


BAD = {
    "shape (3,).*Give one number, 2 numbers, or 2 x 2": {"stiffness": [1.0, 2.0, 3.0]},
    "no stiffness and no damping": {"stiffness": 0.0},
    "not numbers. Give one number, a diagonal": {"stiffness": [[1.0, float("nan")], [0.0, 1.0]]},
    "resists the rotation about its axis": {"stiffness": [1.0] * 6, "kind": "general"},
    r"resists the rotation about its axis \(row or column 4\)": {
        "stiffness": np.eye(6, k=3),
        "kind": "general",
    },
    "eigenvalue -2.*create energy": {"stiffness": K, "damping": [[1.0, 3.0], [3.0, 1.0]]},
    "has 3 speeds, but stiffness has 2 entries": {"stiffness": [K, K], "speeds": [0.0, 1.0, 2.0]},
    "two or more increasing speeds": {"stiffness": [K, K], "speeds": [2.0, 1.0]},
    "Give two or more increasing": {"stiffness": [K, K], "speeds": [0.0, float("inf")]},
    "has a speed, but no table": {"stiffness": K, "speed": 3.0},
    "has no axis. Give axis": {"stiffness": K, "axis": None},
    "not perpendicular to the axis": {"stiffness": K, "y": (1, 1, 0)},
    "'both' is not known": {"stiffness": K, "kind": "both"},
}


@pytest.mark.parametrize("message", BAD)
def test_a_bearing_refuses(message):
    model, disc = disc_model()
    with pytest.raises(ModelError, match=message.replace("(3,)", r"\(3,\)")) as error:
        model.add_bearing("film", "ground", disc, **({"axis": X} | BAD[message]))
    assert "bearing 'film'" in str(error.value)


def test_a_bearing_away_from_the_shaft_and_a_table_that_ends_too_soon_are_refused():
    model, disc = disc_model(angular_velocity=(30.0, 0, 0))
    model.add_bearing("apart", model.ground.at((0, 0, 0.1)), disc, K, axis=X)
    with pytest.raises(ModelError, match=r"bearing 'apart'.*0\.1 m apart"):
        model.build()
    table = jeffcott([K, K], [C, C], speeds=[0.0, 50.0])
    with pytest.raises(ModelError, match=r"bearing 'film': the shaft rotates with 60 rad/s.*covers 0 to 50"):
        campbell(table, [10.0, 60.0], 2, rotors="disc")


def test_a_table_is_read_at_the_speed_of_the_shaft_or_at_the_given_one():
    def stiffness(W, **given):
        model, disc = disc_model(angular_velocity=(W, 0, 0))
        model.add_bearing("film", "ground", disc, [K, 3 * K], axis=X, speeds=[0.0, 100.0], **given)
        return M * modes(model, 8).omega ** 2

    assert np.abs(stiffness(25.0) / (1.5 * K) - 1).min() < 1e-9
    assert np.abs(stiffness(25.0, speed=100.0) / (3 * K) - 1).min() < 1e-9


def test_campbell_names_rotors_that_are_not_round_and_bearings_that_brake():
    def flat(I2, I3):
        section = Section.from_stiffness(
            EA=3e5, GA=2e5, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(I2 + I3, I2, I3)
        )
        model = Model("flat")
        rod = model.add_rod("shaft", [(0, 0, 0), (2, 0, 0)], section, 4)
        for name, end in (("left", rod.start), ("right", rod.end)):
            model.add_bearing(name, "ground", end, 1e5)
        return model

    with pytest.raises(ModelError, match=r"a rotor of model 'flat' is not round"):
        campbell(flat(1e-4, 2e-4), [1.0, 2.0], 2)
    with pytest.raises(ModelError, match=r"rod 'shaft', node 1: its stiffness changes during the motion"):
        campbell(flat(1e-4, 1e-4), [1.0, 2.0], 2)
    braked = shaft_model()
    braked.add_bearing("brake", "ground", "shaft.start", 0.0, [0, 0, 0, 1.0, 0, 0], "general")
    with pytest.raises(ModelError, match=r"not in equilibrium"):
        campbell(braked, [1.0, 2.0], 2)


def test_an_unsymmetric_bushing_and_a_force_that_does_work_point_to_the_bearing():
    model, disc = disc_model(angular_velocity=(30.0, 0, 0))
    with pytest.raises(ModelError, match=r"stiffness is not symmetric.*add_bearing"):
        model.add_bushing("mount", "ground@0,0,0", disc, np.diag([1.0] * 5, 1))
    model.add_interaction("pull", propeller(), disc, k=1.0)
    with pytest.raises(
        ModelError, match=r"of kind 'side force' that does work acts on body 'disc'.*add_bearing"
    ):
        modes(model, 3)


def propeller():
    """A force that is perpendicular to the velocity of a point."""

    @rodsim.interaction("side force", frames=1, numbers=("k",), works=True, free=False)
    class SideForce:
        def step_dual(y0, y1, h, X, out):
            d = minus(y1[0, 0], y0[0, 0])
            push(out, 0, (0.0 * d[0], -X[0] * d[2] / h, X[0] * d[1] / h))

        def rate_dual(y, z, X, out):
            push(out, 0, (0.0 * z[0, 0, 0], -X[0] * z[0, 0, 2], X[0] * z[0, 0, 1]))

    return SideForce


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"speeds": [1.0]}, "two or more increasing speeds"),
        ({"speeds": [2.0, 1.0]}, "two or more increasing speeds"),
        ({"speeds": [-1.0, 1.0]}, "not negative"),
        ({"speeds": [0.0, float("inf")]}, "increasing speeds"),
        ({"n": 0}, "n = 0"),
        ({"axis": (0, 0, 0)}, "axis"),
        ({"rotors": {"disc": "fast"}}, "ratio of 'disc' = 'fast' is not a number"),
        ({"unbalance": Unbalance("disc", "much")}, "size = 'much' is not a number"),
        ({"rotors": "wheel"}, "no body or rod 'wheel'; there are 'disc'"),
        ({"rotors": None}, "nothing rotates. Give rotors="),
        ({"points": ["disc"]}, "has points, but no unbalance"),
        ({"unbalance": Unbalance("ground@0,0,0", 1.0)}, "does not rotate"),
    ],
)
def test_campbell_refuses(arguments, message):
    with pytest.raises(ModelError, match=message):
        campbell(**({"model": jeffcott(), "speeds": [1.0, 2.0], "n": 2, "rotors": "disc"} | arguments))
