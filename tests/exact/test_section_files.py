"""Sections of VABS and BeamDyn files: order of axes from energies of fibres, units, a bent blade, damaged files."""

import numpy as np
import pytest

from rodsim import Material, Model, ModelError, Section, SectionStations, equilibrium

# fibres (x2, x3), m, with Young's modulus, shear modulus and density times area
FIBRES = np.array([(0.3, 0.1), (-0.2, 0.25), (0.1, -0.4), (0.5, 0.2), (-0.1, -0.05)])
EA, GA, RHO = (
    np.array([3.0, 1.0, 2.0, 5.0, 4.0]),
    np.array([1.0, 0.4, 0.9, 2.0, 1.5]),
    np.array([2.0, 3, 1, 4, 2]),
)


def hessian(weights, rates):
    """6 x 6 matrix of the energy sum weights |rates|^2 / 2, where rates(i) are those of the unit vector i, (fibres, 3)."""
    columns = [rates(unit) for unit in np.eye(6)]
    return np.array([[np.sum(weights * a * b) for b in columns] for a in columns])


def matrices(across, along):
    """Stiffness and mass of the fibres in axes where `along` is the number of the axis along the rod, 0 or 2.

    Strains and velocities of a fibre at x: gamma + kappa x x, v + omega x x.
    """
    x = np.zeros((len(across), 3))
    x[:, [k for k in range(3) if k != along]] = across

    def rates(unit):
        return unit[:3] + np.cross(unit[3:], x)

    moduli = np.repeat(GA[:, None], 3, axis=1)
    moduli[:, along] = EA
    return hessian(moduli, rates), hessian(RHO[:, None], rates)


def rows(matrix):
    return "\n".join("".join(f"{x:18.10E}" for x in row) for row in matrix)


def vabs_text(stiffness, mass):
    """A result file of VABS, with the headings that it has."""
    line = 56 * "="
    return f"""
 The 6X6 Mass Matrix
 {line}

{rows(mass)}

 The Mass Center of the Cross Section
 {line}

 Xm2 =   1.0
 Xm3 =   2.0

 The 6X6 Mass Matrix at the Mass Center
 {line}

{rows(7.0 * mass)}

 Classical Stiffness Matrix (1-extension; 2-twist; 3,4-bending)
 {line}

{rows(stiffness[:4, :4])}

 Timoshenko Stiffness Matrix (1-extension; 2,3-shear, 4-twist; 5,6-bending)
 {line}

{rows(stiffness)}

 Timoshenko Compliance Matrix (1-extension; 2,3-shear, 4-twist; 5,6-bending)
 {line}

{rows(np.linalg.inv(stiffness))}
"""


def beamdyn_text(stations, damping=(0.0,) * 6):
    """A blade file of BeamDyn; stations: (fraction, stiffness, mass)."""
    blocks = "\n\n".join(f"{s:10.6f}\n{rows(K)}\n\n{rows(M)}" for s, K, M in stations)
    return f"""------- BEAMDYN V1.00.* INDIVIDUAL BLADE INPUT FILE --------------------------
Made up for a test
---------------------- BLADE PARAMETERS --------------------------------------
{len(stations)}   station_total    - Number of blade input stations (-)
{int(any(damping))}   damp_type        - Damping type: 0: no damping; 1: damped
---------------------- DAMPING COEFFICIENT------------------------------------
   mu1        mu2        mu3        mu4        mu5        mu6
   (-)        (-)        (-)        (-)        (-)        (-)
{" ".join(map(str, damping))}
---------------------- DISTRIBUTED PROPERTIES---------------------------------
{blocks}
"""


def written(tmp_path, text):
    path = tmp_path / "section.dat"
    path.write_text(text)
    return path


def expected():
    """The section of the fibres, from the strains of each in the axes of `Section`."""
    return Section.from_matrices(*matrices(FIBRES, 0))


def same(a, b):
    assert a.stiffness == pytest.approx(b.stiffness, rel=1e-9, abs=1e-9)
    assert a.rotary_inertia == pytest.approx(b.rotary_inertia, rel=1e-9, abs=1e-9)
    assert (a.mass_per_length, *a.center) == pytest.approx((b.mass_per_length, *b.center))


def test_matrices_of_fibres_give_their_centre_and_inertia():
    section = expected()
    center = RHO @ FIBRES / RHO.sum()
    x = FIBRES - center
    assert section.mass_per_length == pytest.approx(RHO.sum())
    assert section.center == pytest.approx(tuple(center))
    J2, J3, J23 = RHO @ x[:, 1] ** 2, RHO @ x[:, 0] ** 2, -RHO @ (x[:, 0] * x[:, 1])
    assert section.rotary_inertia == pytest.approx(
        np.array([[J2 + J3, 0, 0], [0, J2, J23], [0, J23, J3]]), abs=1e-13
    )
    axial = EA @ np.column_stack([np.ones(5), x[:, 1], -x[:, 0]])  # N1 = EA (Gamma1 + K2 x3 - K3 x2)
    assert section.stiffness[0, [0, 4, 5]] == pytest.approx(axial)


def test_vabs_has_the_order_of_sections(tmp_path):
    same(Section.from_vabs(written(tmp_path, vabs_text(*matrices(FIBRES, 0)))), expected())


def test_vabs_matrix_about_the_centre_of_mass_is_passed_over(tmp_path):
    """The headings of both matrices, of which one is 7 times the other, are exchanged, so that it comes first."""
    stiffness, mass = matrices(FIBRES, 0)
    plain, centred = "The 6X6 Mass Matrix", "The 6X6 Mass Matrix at the Mass Center"
    text = vabs_text(stiffness, mass / 7).replace(f"{centred}\n", "swapped\n")
    text = text.replace(f"{plain}\n", f"{centred}\n").replace("swapped\n", f"{plain}\n")
    same(Section.from_vabs(written(tmp_path, text)), expected())


def test_vabs_units_are_converted(tmp_path):
    """One section, in SI units and in kN, mm and t."""
    stiffness, mass = matrices(FIBRES, 0)
    scale = np.repeat([1.0, 1e3], 3)
    text = vabs_text(1e-3 * stiffness * np.outer(scale, scale), 1e-3 / 1e3 * mass * np.outer(scale, scale))
    same(Section.from_vabs(written(tmp_path, text), units=(1e3, 1e-3, 1e3)), expected())


def test_beamdyn_axes_are_exchanged(tmp_path):
    """z of BeamDyn is d1, x is d2, y is d3; its file is written from strains of fibres in its own axes."""
    stiffness, mass = matrices(FIBRES, 2)
    text = beamdyn_text([(0.0, stiffness, mass), (1.0, 2 * stiffness, 2 * mass)])
    stations = SectionStations.from_beamdyn(written(tmp_path, text))
    same(stations(0.0), expected())
    assert stations(0.25).stiffness == pytest.approx(1.25 * expected().stiffness, rel=1e-9, abs=1e-9)
    assert stations(0.5).mass_per_length == pytest.approx(1.5 * RHO.sum())
    assert list(stations.fractions) == [0.0, 1.0]


def test_beamdyn_damping_is_per_strain(tmp_path):
    stiffness, mass = matrices(FIBRES, 2)
    times = (0.02, 0.03, 0.01, 0.05, 0.06, 0.04)  # x, y, z of the file
    path = written(tmp_path, beamdyn_text([(0.0, stiffness, mass), (1.0, stiffness, mass)], times))
    section = SectionStations.from_beamdyn(path)(0.3)
    at_curve = Section.from_matrices(*matrices(FIBRES, 0), damping=expected_damping())
    assert section.damping == pytest.approx(at_curve.damping, rel=1e-8, abs=1e-10)


def expected_damping():
    times = np.sqrt([0.01, 0.02, 0.03, 0.04, 0.05, 0.06])
    return matrices(FIBRES, 0)[0] * np.outer(times, times)


def test_blade_bends_about_the_right_axes(tmp_path):
    """A tapered strip along z: a force along x bends it about y, and its tip goes P/E times the integral of (L - z)^2/I."""
    E, G, L, P = 1e7, 4e6, 2.0, 0.3
    strip = Material(E=E, G=G, density=1000.0)

    def station(s):
        width, height = 0.1 * (1 - 0.5 * s), 0.02  # along x and y
        made = Section.rectangle(width, height, strip)
        order = np.array([1, 2, 0, 4, 5, 3])  # x, y, z from d2, d3, d1
        mass = np.diag([*(3 * [made.mass_per_length]), *made.inertia_per_length])
        return s, made.stiffness[np.ix_(order, order)], mass[np.ix_(order, order)]

    path = written(tmp_path, beamdyn_text([station(s) for s in np.linspace(0, 1, 41)]))
    stations = SectionStations.from_beamdyn(path)
    s = (np.arange(4000) + 0.5) / 4000
    for axis, inertia in (
        (0, 0.02 * (0.1 * (1 - 0.5 * s)) ** 3 / 12),
        (1, 0.1 * (1 - 0.5 * s) * 0.02**3 / 12),
    ):
        model = Model("blade")
        blade = model.add_rod(
            "blade", [(0, 0, 0), (0, 0, L)], stations, 40, up=(0, 1, 0), element="lagrange(2)"
        )
        model.add_joint("hub", "clamp", blade.start)
        force = np.zeros(3)
        force[axis] = 1e-3 * P
        model.add_force("push", blade.end, force)
        tip = equilibrium(model).rod("blade").r[-1, -1, axis]
        shear = np.mean(1e-3 * P * L / (5 / 6 * G * 0.02 * 0.1 * (1 - 0.5 * s)))
        assert tip == pytest.approx(1e-3 * P / E * L**3 * np.mean((1 - s) ** 2 / inertia) + shear, rel=1e-3)


def test_blade_whose_centre_of_mass_moves_is_built(tmp_path):
    """Stations with other centres of mass: the weight turns the root by the moments of all stations."""
    g, L = 10.0, 3.0
    root, tip = matrices(FIBRES, 2), matrices(FIBRES + np.array([0.1, -0.2]), 2)
    path = written(tmp_path, beamdyn_text([(0.0, *root), (1.0, *tip)]))
    model = Model("blade", gravity=(-g, 0, 0))
    rod = model.add_rod("blade", [(0, 0, 0), (0, 0, L)], SectionStations.from_beamdyn(path), 20, up=(0, 1, 0))
    model.add_joint("hub", "weld", model.ground, rod.start)
    reaction = equilibrium(model, linear=True).reactions["hub"]
    y = (RHO @ (FIBRES[:, 1] - 0.1)) / RHO.sum()  # mean of root and tip
    middle = SectionStations.from_beamdyn(path)(0.5)
    means = [0.5 * (a + b) for a, b in zip(root, tip, strict=True)]  # about the curve, not about the centres
    order = np.ix_((2, 0, 1, 5, 3, 4), (2, 0, 1, 5, 3, 4))
    same(middle, Section.from_matrices(*(x[order] for x in means)))
    assert reaction.force == pytest.approx([RHO.sum() * g * L, 0, 0], rel=1e-9, abs=1e-9)
    assert reaction.moment[2] == pytest.approx(-RHO.sum() * g * L * y, rel=1e-6)
    assert reaction.moment[1] == pytest.approx(RHO.sum() * g * L * L / 2, rel=1e-6)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("no Timoshenko stiffness matrix, only the classical one", ("Timoshenko Stiffness", "Other")),
        ("no 6 x 6 mass matrix", ("Mass Matrix", "Other")),
    ],
)
def test_incomplete_vabs_files_are_refused(message, change, tmp_path):
    text = vabs_text(*matrices(FIBRES, 0)).replace(*change)
    with pytest.raises(ModelError, match=message):
        Section.from_vabs(written(tmp_path, text))


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("announces 3 stations, but does not have", ("2   station_total", "3   station_total")),
        ("do not grow from 0 to 1", ("  1.000000\n", "  0.900000\n")),
        ("has no station_total", ("station_total", "stations")),
        ("no 'DISTRIBUTED PROPERTIES'", ("DISTRIBUTED", "OTHER")),
        ("no six damping coefficients", ("0.1 0.1 0.1 0.1 0.1 0.1", "0.1")),
    ],
)
def test_incomplete_blade_files_are_refused(message, change, tmp_path):
    text = beamdyn_text([(0.0, *matrices(FIBRES, 2)), (1.0, *matrices(FIBRES, 2))], (0.1,) * 6)
    assert change[0] in text
    with pytest.raises(ModelError, match=message):
        SectionStations.from_beamdyn(written(tmp_path, text.replace(*change)))


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(
    ("entry", "value"), [((0, 4), 9.0), ((0, 1), 1.0), ((3, 5), 1.0), ((2, 2), 1.0), ((3, 1), 0.0)]
)
def test_mass_matrix_of_another_form_is_refused(entry, value, symmetric):
    stiffness, mass = matrices(FIBRES, 0)
    mass[entry] = value
    if symmetric:
        mass[entry[::-1]] = value
    with pytest.raises(
        ModelError, match=r"entry \(\d, \d\) = .* of the mass matrix is not that of a section"
    ):
        Section.from_matrices(stiffness, mass)


def test_unsymmetric_inertia_is_refused():
    stiffness, mass = matrices(FIBRES, 0)
    mass[4, 5] = 3.0
    with pytest.raises(ModelError, match=r"entry \(\d, \d\) = .* is not that of a section"):
        Section.from_matrices(stiffness, mass)


def test_stations_are_checked():
    tube = Section.tube(0.1, 0.08, Material(E=1e9, nu=0.3, density=1000))
    for message, fractions, sections in (
        ("do not grow from 0 to 1", [0, 0.5], [tube, tube]),
        ("do not grow from 0 to 1", [0, 0.6, 0.5, 1], 4 * [tube]),
        ("has 2 fractions and 3 sections", [0, 1], 3 * [tube]),
        (r"sections\[1\] = 3 is not a Section", [0, 1], [tube, 3]),
        ("or has a law", [0, 1], [tube, tube.with_law("thinning")]),
    ):
        with pytest.raises(ModelError, match=message):
            SectionStations(fractions, sections)
