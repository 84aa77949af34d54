"""Strings against exact results: invariants of every scheme, waves, hanging chains, catenaries; what they refuse."""

import math

import numpy as np
import pytest
import scipy

import rodsim
from discretization.state_measures import momenta
from rodsim import Model, Section, audit, curves, equilibrium, modes, simulate

ELASTIC = {"EA": 200.0, "mass_per_length": 0.5}
SECTIONS = {
    "slack": Section.string(**ELASTIC),
    "stiff in compression": Section.string(**ELASTIC, slack=False),
    "inextensible": Section.string(EA="inextensible", mass_per_length=0.5),
}


def whirling(section: Section, mass: str = "mean") -> Model:
    """A bent string in free flight, whose parts have different velocities."""
    model = Model("string")
    rod = model.add_rod(
        "rod",
        lambda s: (s, 0.3 * np.sin(3 * s), 0.2 * s * s),
        section,
        6,
        velocity=None if section.is_inextensible else lambda s: (0.2, 3 * s * s - 1, math.cos(4 * s)),
        mass=mass,
    )
    if section.is_inextensible:
        model.add_force("push", rod.at(0.0), rodsim.signals.Pulse(3.0, 0.0, 0.1).along((0.3, 1.0, -0.5)))
    return model


@pytest.mark.parametrize(
    ("integrator", "mass"),
    [
        ("em", "lumped"),
        ("em", "mean"),
        ("em", "consistent"),
        ("em-ggl", "mean"),
        ("em4", "mean"),
        ("em6", "lumped"),
        ("EML-kappa", "lumped"),
        ("GGL-EM", "lumped"),
    ],
)
@pytest.mark.parametrize("name", SECTIONS)
def test_free_strings_conserve_energy_and_momenta(name: str, integrator: str, mass: str) -> None:
    model = whirling(SECTIONS[name], mass)
    result = simulate(model, 0.6, 0.01, integrator, output_every=1, progress=False)
    after = 15  # outputs, when the push has ended
    energy = result.energy["total"][after:]
    assert np.ptp(energy) <= 2e-12 * np.abs(energy).max()
    for momentum in momenta(result.layout.system, result.states(slice(after, None))):
        assert np.abs(momentum - momentum[0]).max() <= 2e-12 * np.abs(momentum).max()
    assert audit(result).ok, audit(result).text()
    lengths = np.linalg.norm(np.diff(result.rod("rod").r, axis=1), axis=2)
    stretches = np.abs(lengths / lengths[0] - 1.0).max()
    assert stretches < 1e-12 if name == "inextensible" else stretches > 1e-2


def test_mass_matrix_of_a_string_is_that_of_a_rod() -> None:
    """In one step along its axis a string gains the velocities of a rod of the same stretching stiffness."""
    for mass in ("lumped", "mean", "consistent"):
        velocities = []
        for section in (
            Section.string(**ELASTIC, slack=False),
            Section.from_stiffness(
                EA=ELASTIC["EA"], GA=1e-9, GJ=1e-9, EI=1e-9, mass_per_length=0.5, inertia_per_length=1.0
            ),
        ):
            model = Model("bar")
            rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4, mass=mass)
            model.add_force("pull", rod.end, (0.5, 0, 0))
            result = simulate(model, 0.05, 0.05, solver="general", progress=False)
            velocities.append(result.rod("rod").v[-1])
            iterations = result.newton_iterations[-1]
        assert velocities[0] == pytest.approx(velocities[1], abs=1e-6)
        assert iterations < 8


def hanging(
    section: Section, n: int, curve, length: float | None = None, ends: int = 2, mass="lumped"
) -> Model:
    model = Model("hanging", gravity=(0, 0, -9.81))
    free = None if length is None else [(0, 0, 0), (length, 0, 0)]
    rod = model.add_rod("rod", curve, section, n, stress_free=free, mass=mass)
    for k, end in enumerate((rod.start, rod.end)[:ends]):
        model.add_joint(f"end {k}", "spherical", model.ground, end)
    return model


def test_taut_string_has_the_frequencies_of_its_lattice() -> None:
    """w = 2 (T/(m d))^(1/2) sin(k pi/(2 n)) of n elements of the length d with lumped masses, two motions each."""
    n, stretch = 8, 1.05
    model = Model("taut")
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (stretch, 0, 0)],
        Section.string(**ELASTIC),
        n,
        stress_free=[(0, 0, 0), (1, 0, 0)],
        mass="lumped",
    )
    for k, end in enumerate((rod.start, rod.end)):
        model.add_joint(f"end {k}", "spherical", model.ground, end)
    tension, d, m = ELASTIC["EA"] * (stretch - 1.0), stretch / n, ELASTIC["mass_per_length"] / n
    k = np.repeat(np.arange(1, n), 2)
    transverse = 2.0 * np.sqrt(tension / (m * d)) * np.sin(k * np.pi / (2 * n))
    along = 2.0 * np.sqrt(ELASTIC["EA"] * n / m) * np.sin(np.arange(1, n) * np.pi / (2 * n))
    expected = np.sort(np.concatenate([transverse, along]))
    computed = np.abs(modes(model, len(expected), equilibrium(model).state()).omega)
    assert np.sort(computed) == pytest.approx(expected, rel=1e-9)


def test_hanging_chain_has_the_frequencies_of_bessel() -> None:
    """w = z/2 (g/L)^(1/2) with the zeros z of J0, to second order."""
    exact = 0.5 * scipy.special.jn_zeros(0, 2) * np.sqrt(9.81 / 1.5)
    errors = []
    for n in (10, 20):
        model = hanging(SECTIONS["inextensible"], n, [(0, 0, 0), (0, 0, -1.5)], ends=1)
        errors.append(np.abs(np.sort(np.abs(modes(model, 4).omega))[::2] / exact - 1.0))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)
    assert errors[1].max() < 1e-2


def elastic_catenary(
    length: float, EA: float, weight: float, across: float, up: float
) -> tuple[float, float]:
    """Horizontal and vertical force at the upper end; Irvine, Cable Structures (1981), ch. 1."""

    def misfit(forces):
        H, V = np.exp(forces[0]), forces[1]
        low = V - weight * length
        x = H / EA * length + H / weight * (np.arcsinh(V / H) - np.arcsinh(low / H))
        z = (V**2 - low**2) / (2 * EA * weight) + (np.hypot(H, V) - np.hypot(H, low)) / weight
        return x - across, z - up

    logarithm, V = scipy.optimize.fsolve(
        misfit, (np.log(0.5 * weight * length), 0.5 * weight * length), xtol=1e-13
    )
    return np.exp(logarithm), V


@pytest.mark.parametrize("start", ["straight", "parabola", "catenary"])
def test_elastic_catenary_is_found_from_any_start_to_second_order(start: str) -> None:
    length, across, up = 1.3, 1.0, 0.3
    shapes = {
        "straight": [(0, 0, 0), (across, 0, up)],
        "parabola": lambda s: (across * s, 0, up * s * s),
        "catenary": curves.catenary((0, 0, 0), (across, 0, up), length),
    }
    H, V = elastic_catenary(length, ELASTIC["EA"], 9.81 * ELASTIC["mass_per_length"], across, up)
    errors = []
    for n in (10, 20):
        rest = equilibrium(hanging(Section.string(**ELASTIC), n, shapes[start], length))
        assert audit(rest).ok, audit(rest).text()
        force = np.abs(rest.joint("end 1").force[-1])
        errors.append(np.abs(force[[0, 2]] - (H, V)).max() / np.hypot(H, V))
        assert force[1] < 1e-10
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    assert errors[1] < 2e-3


def test_slack_string_carries_no_compression_and_a_stiff_one_does() -> None:
    for slack, expected in ((True, 0.0), (False, 0.1 * ELASTIC["EA"])):
        model = Model("pushed")
        section = Section.string(**ELASTIC, slack=slack)
        model.add_rod("rod", [(0, 0, 0), (0.9, 0, 0)], section, 2, stress_free=[(0, 0, 0), (1, 0, 0)])
        result = simulate(model, 0.001, 0.001, progress=False)
        assert result.rod("rod").N[0, :, 0] == pytest.approx(-expected, abs=1e-9)


def test_driven_end_moves_a_string_without_rotating_it() -> None:
    model = Model("towed")
    ship = model.add_driven("ship", (0, 0, 0), displacement=rodsim.signals.Steady(2.0).along((1, 0, 0)))
    rod = model.add_rod("rod", [(0, 0, 0), (-1, 0, 0)], Section.string(**ELASTIC), 5)
    model.add_joint("tow", "spherical", ship, rod.start)
    result = simulate(model, 0.1, 0.01, progress=False)
    assert result.rod("rod").v[0] == pytest.approx(np.tile((2.0, 0, 0), (6, 1)), abs=1e-12)
    assert np.all(result.rod("rod").quat == (1, 0, 0, 0))


def refused(**changes):
    section = changes.pop("section", Section.string(**ELASTIC))
    return Model("m").add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, **changes)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Section.string(EA=0.0, mass_per_length=1.0), "EA = 0.0 is not positive"),
        (lambda: Section.string(EA="rigid", mass_per_length=1.0), "EA = 'rigid' is not a number"),
        (lambda: Section.string(EA=1.0, mass_per_length=0.0), "mass_per_length = 0.0 is not positive"),
        (
            lambda: Section.string(EA=math.inf, mass_per_length=1.0, damping_time=0.1),
            "does not stretch; give 0",
        ),
        (lambda: SECTIONS["slack"].with_energy("EA/2*Gamma1**2"), "a string has stretch alone"),
        (lambda: SECTIONS["slack"].with_law("softening", moment=1.0), "one of bending"),
        (lambda: SECTIONS["slack"].with_centers(mass=(0.1, 0)), "no section axes"),
        (lambda: refused(element="relative(2)"), "has bending, but the section is that of a string"),
        (lambda: refused(up=(0, 0, 1)), "no rotations; leave up out"),
        (lambda: refused(twist=0.1), "leave twist out"),
        (lambda: refused(angular_velocity=(0, 0, 1)), "leave angular_velocity out"),
        (lambda: refused(rest_strains=(0, 0, 0, 0, 1, 0)), "only the first of rest_strains"),
        (
            lambda: refused(
                section=Section.circular(0.1, rodsim.Material(E=1.0, nu=0.3, density=1.0)), element="string"
            ),
            "needs the section",
        ),
    ],
)
def test_what_a_string_does_not_have_is_refused(make, text: str) -> None:
    with pytest.raises(rodsim.ModelError, match=text):
        make()


@pytest.mark.parametrize(
    ("add", "text"),
    [
        (lambda m, r: m.add_joint("hold", "clamp", r.start), "clamp joint 'hold'|joint 'hold' needs them"),
        (lambda m, r: m.add_moment("turn", r.end, (0, 0, 1)), "load 'turn' needs them"),
        (lambda m, r: m.add_force("push", r.end, (0, 0, 1), following=True), "load 'push' needs them"),
        (
            lambda m, r: m.add_spring("off", m.ground.at((0, 0, 1)), r.at(0.5, (0, 0.1, 0)), 1.0),
            "spring 'off' needs them",
        ),
    ],
)
def test_what_needs_directions_of_a_string_is_refused_by_name(add, text: str) -> None:
    model = Model("m")
    add(model, model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], Section.string(**ELASTIC), 4))
    with pytest.raises(
        rodsim.ModelError, match="rod 'rod' is a string, whose nodes have no directions, but .*" + text
    ):
        model.build()


def test_inextensible_string_must_fit_its_length() -> None:
    model = hanging(SECTIONS["inextensible"], 4, [(0, 0, 0), (0.9, 0, 0)], 1.0)
    with pytest.raises(rodsim.ModelError, match="rod 'rod': does not stretch, but its drawn elements"):
        model.build()


@pytest.mark.parametrize("name", SECTIONS)
def test_tension_of_a_hanging_chain_is_the_weight_below(name: str) -> None:
    n, weight = 6, 9.81 * 0.5 * 1.5
    model = hanging(SECTIONS[name], n, [(0, 0, 0), (0, 0, -1.5)], ends=1)
    rest = equilibrium(model)
    below = weight * (np.arange(n, 0, -1) - 0.5) / n
    assert rest.rod("rod").N[-1, :, 0] == pytest.approx(below, rel=1e-9)
    assert rest.joint("end 0").force[-1, 2] == pytest.approx(weight, rel=1e-9)
    result = simulate(model, 0.05, 0.01, start=rest, progress=False)
    assert result.rod("rod").N[-1, :, 0] == pytest.approx(below, rel=1e-6)
    assert result.rod("rod").r[-1] == pytest.approx(rest.rod("rod").r[-1], abs=1e-9)


def test_gears_and_joints_keep_their_forces_beside_an_inextensible_string() -> None:
    """Two wheels geared 2 to 1, one of them driven by a string: the force of the gear is that of the wheels' inertia."""
    results = []
    for with_string in (False, True):
        model = Model("geared")
        shape = rodsim.Box(0.5, 0.3, 0.2, density=100.0)
        for k in range(2):
            wheel = model.add_body(f"wheel {k}", shape, position=(k, 0, 0))
            model.add_joint(f"hinge {k}", "revolute", model.ground, wheel, at=(k, 0, 0), axis=(0, 0, 1))
        model.add_moment("drive", model.bodies["wheel 0"], (0, 0, 1.5))
        model.add_gear("gear", ["hinge 0", "hinge 1"], [1.0, 2.0])
        if with_string:
            model.add_rod("string", [(0, 2, 0), (1, 2, 0)], SECTIONS["inextensible"], 3)
        result = simulate(model, 0.2, 0.01, progress=False)
        results.append((result.joint("gear").on("hinge 0")[-1], result.joint("hinge 1").force[-1]))
        assert audit(result).ok
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-9)
    assert abs(results[0][0]) > 0.1
    assert results[0][1] == pytest.approx(results[1][1], abs=1e-9)


def test_string_is_drawn_as_a_rod_of_the_same_shape(tmp_path) -> None:
    """Compare pictures: nodes of a string do not rotate, but sections are drawn across it, to the left as to the right."""
    pyvista = pytest.importorskip("pyvista")
    for number, (start, end) in enumerate((((0, 0, 0), (1, 0, 0.3)), ((1, 0, 0.3), (0, 0, 0)))):
        pictures = []
        for section in (
            Section.string(EA=1e4, mass_per_length=0.2, radius=0.03),
            Section.from_stiffness(
                EA=1e4, GA=1e4, GJ=1, EI=1, mass_per_length=0.2, inertia_per_length=1e-4, radius=0.03
            ),
        ):
            model = hanging(section, 16, curves.catenary(start, end, 2.0))
            result = simulate(model, 1e-6, 1e-6, progress=False)
            path = tmp_path / f"{number}{len(pictures)}.png"
            rodsim.render(result, path, 0.0, size=(400, 250))
            pictures.append(np.asarray(pyvista.read(path).point_data.active_scalars, float))
        differ = np.abs(pictures[0] - pictures[1]).max(axis=1) > 60.0
        drawn_pixels = np.abs(pictures[1] - pictures[1][0]).max(axis=1) > 60.0
        assert differ.sum() < 0.05 * drawn_pixels.sum()


def test_string_on_a_rotating_frame_follows_without_rotating() -> None:
    model = Model("sling")
    arm = model.add_driven("arm", (0, 0, 0), turn=rodsim.signals.Steady(3.0), axis=(0, 0, 1))
    rod = model.add_rod("rod", [(1, 0, 0), (2, 0, 0)], Section.string(**ELASTIC), 5)
    model.add_joint("eye", "spherical", arm.at((1, 0, 0)), rod.start)
    result = simulate(model, 0.05, 0.01, progress=False)
    assert result.rod("rod").v[0, 0] == pytest.approx((0, 3, 0), abs=1e-9)
    assert np.all(result.rod("rod").omega == 0.0)
    assert np.all(result.rod("rod").quat == (1, 0, 0, 0))


def test_local_audit_names_joints_and_elements_that_do_not_stretch() -> None:
    model = hanging(SECTIONS["inextensible"], 8, curves.catenary((0, 0, 0), (1, 0, 0), 1.3))
    middle = model.rods["rod"].at(0.5)
    weight = model.add_body("weight", rodsim.Box(0.1, 0.1, 0.1, mass=0.2), position=middle.position)
    model.add_joint("hook", "spherical", middle, weight)
    report = rodsim.local_audit(simulate(model, 0.05, 0.01, output_every=1, progress=False))
    notes = " ".join(report.not_covered)
    assert "whose elements do not stretch" in notes
    assert "where joint 'hook' holds it" in notes
