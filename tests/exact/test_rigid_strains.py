"""Rods that do not stretch or shear against exact results: elastica, frequencies, invariants of schemes; what they refuse."""

import math
from pathlib import Path

import numpy as np
import pytest
import scipy

import rodsim
from discretization.state_measures import momenta
from rodsim import Material, Model, Section, audit, equilibrium, modes, simulate

STIFF = {"EA": 300.0, "GA": 200.0, "GJ": 0.5, "EI": (2.0, 1.0)}
MASS = {"mass_per_length": 0.5, "inertia_per_length": (0.02, 0.008, 0.012)}
RIGID = {
    "stretch": {"EA": "rigid"},
    "shear": {"GA": math.inf},
    "both": {"EA": math.inf, "GA": "rigid"},
}
ZERO = {"stretch": [0], "shear": [1, 2], "both": [0, 1, 2]}
ELASTICA = Section.from_stiffness(
    EA="rigid", GA="rigid", GJ=1.0, EI=2.0, mass_per_length=1.0, inertia_per_length=1e-7
)


def section(name: str, **more: float) -> Section:
    return Section.from_stiffness(**STIFF | RIGID[name] | MASS | more)


def cantilever(of: Section = ELASTICA, n_elements: int = 8, **gravity: tuple[float, float, float]) -> Model:
    model = Model("cantilever", **gravity)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], of, n_elements)
    model.add_joint("clamp", "clamp", rod.start)
    return model


def flying(of: Section, mass: str = "mean") -> Model:
    """A bent and twisted rod in free flight that is pushed for a while."""
    model = Model("flying")
    curve = lambda s: (s, 0.3 * np.sin(3 * s), 0.2 * s * s)  # noqa: E731
    rod = model.add_rod("rod", curve, of, 6, mass=mass, twist=0.5)
    push = rodsim.signals.Pulse(3.0, 0.0, 0.1)
    model.add_force("push", rod.at(0.0), push.along((0.3, 1.0, -0.5)))
    model.add_force("pull", rod.at(0.5), push.along((0.3, -0.6, -0.8)))
    return model


@pytest.mark.parametrize(
    ("integrator", "mass", "chart"),
    [
        ("em", "mean", None),
        ("em", "lumped", None),
        ("em-ggl", "mean", None),
        ("em4", "consistent", None),
        ("em6", "lumped", None),
        ("GGL-EM", "lumped", "quaternion-gamma"),
    ],
)
@pytest.mark.parametrize("name", RIGID)
def test_free_rods_conserve_energy_and_momenta_and_keep_their_strains(
    name: str, integrator: str, mass: str, chart: str | None
) -> None:
    result = simulate(flying(section(name), mass), 0.3, 0.01, integrator, chart=chart, progress=False)
    after = 15  # outputs, when the push has ended
    energy = result.energy["total"][after:]
    assert np.ptp(energy) <= 5e-12 * np.abs(energy).max()
    for momentum in momenta(result.layout.system, result.states(slice(after, None))):
        assert np.abs(momentum - momentum[0]).max() <= 5e-12 * np.abs(momentum).max()
    strains = np.concatenate([result.rod("rod").Gamma, result.rod("rod").K], axis=-1)
    assert np.abs(strains - strains[0])[..., ZERO[name]].max() < 1e-10
    assert np.abs(strains - strains[0])[-1].max() > 0.1
    assert audit(result).ok, audit(result).text()


@pytest.mark.parametrize("integrator", ["EML", "MPL", "em-d(0.8)"])
def test_audits_of_other_schemes_are_kept(integrator: str) -> None:
    result = simulate(flying(section("both")), 0.1, 0.01, integrator, progress=False)
    assert audit(result).ok, audit(result).text()


def test_the_local_audit_says_that_it_does_not_cover_rigid_strains() -> None:
    result = simulate(flying(section("shear")), 0.1, 0.01, output_every=1, progress=False)
    assert "a rod element without shear acts" in rodsim.local_audit(result).text()


@pytest.mark.parametrize("name", RIGID)
def test_rigid_strains_are_the_limit_of_great_stiffness(name: str) -> None:
    """The motion differs by a multiple of the compliance."""
    of_limit = simulate(flying(section(name)), 0.1, 0.01, progress=False).rod("rod")
    apart = []
    for stiffness in (1e5, 1e6):
        stiff = Section.from_stiffness(**STIFF | dict.fromkeys(RIGID[name], stiffness) | MASS)
        r = simulate(flying(stiff), 0.1, 0.01, progress=False).rod("rod").r[-1]
        apart.append(np.abs(r - of_limit.r[-1]).max())
    assert apart[1] < 0.2 * apart[0] < 1e-3


def test_a_moment_rolls_an_inextensible_rod_into_a_circle_on_any_mesh() -> None:
    for n in (4, 7):
        model = cantilever(n_elements=n)
        model.add_moment("roll", model.rods["rod"].end, (0, 0, 2 * np.pi * 2.0))
        tip = equilibrium(model, method=rodsim.Newton(first_step=0.05)).rod("rod").r[-1, -1]
        assert np.abs(tip).max() < 1e-10


def elastica_tip(load: float) -> tuple[float, float]:
    """Return the tip of a clamped elastica of length 1 under a transverse end load over EI: theta'' = -load cos(theta)."""
    x = np.linspace(0, 1, 40)
    solved = scipy.integrate.solve_bvp(
        lambda s, y: (y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])),
        lambda a, b: (a[0], b[1], a[2], a[3]),
        x,
        np.array([x, 1 - x, x, 0.5 * x]),
        tol=1e-10,
        max_nodes=20000,
    )
    return float(solved.y[2, -1]), float(solved.y[3, -1])


def test_a_cantilever_is_eulers_elastica_to_second_order() -> None:
    exact, errors = elastica_tip(5.0), []
    for n in (10, 20, 40):
        model = cantilever(n_elements=n)
        model.add_force("tip", model.rods["rod"].end, (0, 10.0, 0))
        state = equilibrium(model)
        errors.append(np.linalg.norm(state.rod("rod").r[-1, -1, :2] - exact))
    assert errors[0] < 2e-3
    assert 3.8 < errors[0] / errors[1] < 4.2
    assert 3.8 < errors[1] / errors[2] < 4.2


def test_normal_and_shear_forces_of_rigid_strains_are_those_of_equilibrium() -> None:
    """A hanging rod carries the weight below, a stiff cantilever the weight beside each of its points."""
    hanging = Model("hanging", gravity=(9.81, 0, 0))
    rod = hanging.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section("both"), 8, mass="lumped")
    hanging.add_joint("clamp", "clamp", rod.start)
    N = equilibrium(hanging).rod("rod").N[-1]
    middles = (np.arange(8) + 0.5) / 8
    np.testing.assert_allclose(N[:, 0], 0.5 * 9.81 * (1 - middles), rtol=1e-10)
    beside = cantilever(section("both", EI=1e6), gravity=(0, 0, -9.81))
    V = equilibrium(beside).rod("rod").N[-1]
    np.testing.assert_allclose(np.linalg.norm(V[:, 1:], axis=1), 0.5 * 9.81 * (1 - middles), rtol=1e-5)


def test_frequencies_converge_to_those_of_euler_and_bernoulli() -> None:
    exact = np.array([1.87510407, 4.69409113, 7.85475744]) ** 2 * np.sqrt(2.0) / (2 * np.pi)
    errors = []
    for n in (16, 32):
        errors.append(modes(cantilever(n_elements=n)).frequency[:6:2] / exact - 1)
    assert np.abs(errors[1]).max() < 4e-3
    assert np.all((errors[0] / errors[1] > 3.6) & (errors[0] / errors[1] < 4.4))


def test_a_column_buckles_under_eulers_load_to_second_order() -> None:
    errors = []
    for n in (10, 20):
        model = cantilever(n_elements=n)
        model.add_force("weight", model.rods["rod"].end, (-1.0, 0, 0))
        errors.append(rodsim.buckling(model).factors[0] / (np.pi**2 / 4 * 2.0) - 1)
    assert 0.0 < errors[1] < 1e-3
    assert 3.8 < errors[0] / errors[1] < 4.2


def test_an_inextensible_clamped_rod_has_one_undetermined_force() -> None:
    model = cantilever(section("stretch"))
    model.add_joint("other", "clamp", model.rods["rod"].end)
    with pytest.warns(
        rodsim.RedundantJointsWarning, match="1 equation of the joints 'clamp', 'other', 'rod' repeat"
    ):
        frequency = modes(model).frequency[0]
    free = cantilever(Section.from_stiffness(**STIFF | MASS))
    free.add_joint("other", "clamp", free.rods["rod"].end)
    assert frequency == pytest.approx(modes(free).frequency[0], rel=1e-9)


def test_laws_of_bending_and_relaxation_go_with_rigid_stretch() -> None:
    for changed in (
        section("both").with_law("softening", moment=2.0),
        section("both").with_relaxation(0.1, fraction=0.5),
        section("stretch", damping_time=0.02),
    ):
        model = cantilever(changed, gravity=(0, 0.5, -9.81))
        result = simulate(model, 0.1, 0.01, progress=False)
        assert np.abs(result.rod("rod").Gamma[-1, :, 0]).max() < 1e-10
        assert audit(result).ok, audit(result).text()


def test_checks_of_materials_know_that_a_stiffness_is_infinite(tmp_path: Path) -> None:
    """The density follows from the area, which is not known without EA; tables say that EA is rigid."""
    model = Model("steel")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, STEEL).with_rigid("stretch"), 4)
    model.add_joint("clamp", "clamp", rod.start)
    with np.errstate(all="raise"):
        result = simulate(model, 0.01, 0.01, progress=False)
    assert ">rigid<" in rod.section._repr_html_()
    page = result.report(tmp_path / "report.html").read_text()
    assert ">rigid<" in page


STEEL = Material(E=2e11, nu=0.3, density=7800.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Section.circular(0.01, STEEL).with_rigid("bending"),
            "'bending' cannot be rigid; choose from stretch, shear",
        ),
        (lambda: Section.circular(0.01, STEEL).with_rigid(), "name strains, stretch or shear"),
        (lambda: Section.string(EA=1.0, mass_per_length=1.0).with_rigid("stretch"), "EA='inextensible'"),
        (lambda: section("stretch").with_law("stiffening", strain=0.1), "'stiffening' is one of stretch"),
        (
            lambda: Section.circular(0.01, STEEL).with_law("slack").with_rigid("stretch"),
            "law depends on a strain",
        ),
        (lambda: section("shear").with_energy("EA/2*Gamma1**2"), "shear is rigid"),
        (lambda: section("shear").with_centers(stiffness=(0.1, 0.0)), "must coincide"),
        (
            lambda: Section.circular(0.01, STEEL).with_centers(stiffness=(0.01, 0.0)).with_rigid("stretch"),
            "centres are on the curve",
        ),
    ],
)
def test_impossible_rigid_strains_are_refused(make, message: str) -> None:
    with pytest.raises(rodsim.ModelError, match=message):
        make()


def test_models_with_impossible_rigid_strains_are_refused_by_name() -> None:
    model = Model("wrong")
    model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section("both"), 4, element="lagrange(2)")
    with pytest.raises(rodsim.ModelError, match=r"'rod'.*element='se3'"):
        model.build()
    model = Model("partly")
    model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], lambda s: section("both" if s < 0.5 else "shear"), 4)
    with pytest.raises(rodsim.ModelError, match=r"'rod'.*in some places only"):
        model.build()
    model = Model("stretched")
    model.add_rod("rod", [(0, 0, 0), (1.1, 0, 0)], section("stretch"), 4, stress_free=[(0, 0, 0), (1, 0, 0)])
    with pytest.raises(rodsim.ModelError, match=r"'rod'"):
        model.build()
    model = cantilever(section("stretch"))
    model.add_actuation("grows", "rod", "Gamma1", 0.1)
    with pytest.raises(rodsim.ModelError, match=r"'grows': Gamma1 of rod 'rod' is rigid"):
        model.build()
