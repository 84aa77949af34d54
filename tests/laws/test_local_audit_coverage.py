"""Coverage of the local audit: for each interaction of rods residuals fall with order 2, or it is reported as not covered."""

from functools import cache

import numpy as np
import pytest

from discretization.interaction_groups import groups_of, registered_kinds
from discretization.interaction_table import loads_of, torsions_of
from discretization.internal_variables import part, with_part
from discretization.state_measures import elastic_densities, element_states, energies
from rigid.joints import JOINTS
from rigid.system import FORCE, MOMENT
from rodsim import Box, Model, Pulley, Section, SpringLaw, fluids, local_audit, measures, signals, simulate
from rodsim.results.node_forces import sources

SECTION = {
    "EA": 60.0,
    "GA": 40.0,
    "GJ": 3.0,
    "EI": (2.0, 4.0),
    "mass_per_length": 1.5,
    "inertia_per_length": (0.5, 0.2, 0.3),
}
SIZES, TIME = (16, 32), 0.32
LAWS = ("energy", "momentum", "angular_momentum")
SMOOTH = signals.SmoothStep(1.0, 0.0, 0.3)
LINEAR = SpringLaw.polynomial([0.0, 8.0], 5.0)  # a damper


def point_above_middle(model):
    """A ground point one metre above the middle of the rod."""
    return model.ground.at((1.0, 0.0, 1.0))


def law_spring(of, axis=None):
    """Unstressed at the start, as is the middle of the rod: forces at a point begin smoothly."""
    law = SpringLaw.polynomial([-60.0, 50.0, 0.0, 10.0] if of == "length" else [0.0, 50.0, 0.0, 90.0], 3.0)

    def add(model, rod):
        a = point_above_middle(model) if of == "length" else model.ground.at((1.0, 0.0, 0.0))
        along = {"length": "distance", "displacement": "axis", "angle": "rotation"}[of]
        model.add_spring("spring", a, rod.at(0.5), law=law, damping=LINEAR, along=along, axis=axis)

    return add


def box(model, rod):
    return model.add_body("box", Box(0.2, 0.2, 0.2, density=200.0), (1.0, 0.0, 0.0))


def with_friction(model, rod):
    model.add_joint("hinge", "revolute", rod.at(0.5), box(model, rod), axis=(0, 0, 1))
    model.add_joint_damping("friction", "hinge", turning=2.0)


def with_sliding_friction(model, rod):
    model.add_joint("sleeve", "cylindrical", rod.at(0.5), box(model, rod), axis=(0, 0, 1))
    model.add_joint_damping("friction", "sleeve", turning=2.0, sliding=30.0)


def limit(model, rod):
    model.add_limit("limit", point_above_middle(model), rod.at(0.5), 300.0, 0.5, lower=1.0, of="length")


def forces_on_measures(model, rod):
    middle, above = rod.at(0.5), point_above_middle(model)
    for name, measure in (
        ("distance", measures.distance(above, middle)),
        ("displacement", measures.displacement(model.ground.at((1.0, 0.0, 0.0)), middle, axis=(0, 0.6, 0.8))),
        ("cosine", measures.cosine(model.ground, (0, 1, 0), middle, (0, 0.6, 0.8))),
        ("angle", measures.angle(model.ground, middle, axis=(1, 0, 0))),
    ):
        model.add_measure_force(name, measure, SMOOTH)


def varying_springs(model, rod):
    """Springs without force at the start, as above."""
    middle, above = rod.at(0.5), point_above_middle(model)
    model.add_spring("winch", above, middle, 50.0, length="1 - 2*t**3")
    model.add_spring("tuned", model.ground.at((1.0, 1.0, 0.0)), middle, "50 + 900*t**2")
    model.add_spring("wound", model.ground, middle, "5 + 90*t**2", along="rotation", axis=(1, 0, 0))


def submerged(model, rod):
    sea = model.add_fluid("sea", 8.0, (0.3, 0.2, -0.1))
    model.add_submerged_rod("wet", rod, sea, 0.2, tangential_drag=0.3, added_mass=0.0)
    model.add_airfoil("vane", rod, sea, fluids.Polar([-180, 0, 180], [0.3, -0.2, 0.3], [0.2, 0.1, 0.2]), 0.1)


# interactions on a rod whose middle is at rest at the start: name -> (model, rod) -> None
ACTING = {
    "nothing": lambda model, rod: None,
    "external damping": lambda model, rod: model.add_mass_damping("air", rod, rate=5.0, rotation=3.0),
    "moving force": lambda model, rod: model.add_moving_force(
        "train", rod, 0.5 * rod.stress_free.length, (0.1, 0, -0.5), rod.stress_free.length
    ),
    "pressure": lambda model, rod: model.add_pressure("pressure", rod, 5.0, (0, 0, 1)),
    "bushing": lambda model, rod: model.add_bushing(
        "bushing", model.ground, rod.at(0.5), 40.0, 4.0, at=(1.0, 0.1, 0.2)
    ),
    "bushing with a free axis": lambda model, rod: model.add_bushing(
        "bushing", model.ground, rod.at(0.5), [40, 40, 40, 40, 0, 40], 4.0, at=(1.0, 0.1, 0.2)
    ),
    "bearing": lambda model, rod: model.add_bearing(
        "bearing", "ground", rod.at(0.5), [[40, 20], [-10, 40]], [[4, 1], [-1, 4]]
    ),
    "law spring of a length": law_spring("length"),
    "law spring of a displacement": law_spring("displacement", (0, 0.6, 0.8)),
    "law spring of an angle": law_spring("angle", (1, 0, 0)),
    "limit": limit,
    "spring": lambda model, rod: model.add_spring(
        "spring", point_above_middle(model), rod.at(0.5), 50.0, damping=5.0
    ),
    "torsion spring": lambda model, rod: model.add_spring(
        "spring", model.ground, rod.at(0.5), 50.0, damping=5.0, along="rotation", axis=(1, 0, 0)
    ),
    "force": lambda model, rod: model.add_force("load", rod.at(0.5, (0, 0.2, 0.1)), SMOOTH.along((3, 1, -2))),
    "moment": lambda model, rod: model.add_moment(
        "load", rod.at(0.5), SMOOTH.along((1, 2, -1)), following=True
    ),
    "load along it": lambda model, rod: model.add_distributed_load("load", rod, (3, 1, -2), following=True),
    "moment along it": lambda model, rod: model.add_distributed_load(
        "load", rod, SMOOTH.along((3, 1, -2)), kind="moment"
    ),
    "forces on measures": forces_on_measures,
    "springs that vary": varying_springs,
    "tendon": lambda model, rod: model.add_tendon(
        "tendon",
        [point_above_middle(model), rod.at(0.5, (0, 0.1, 0)), rod.end],
        SMOOTH,
        friction=0.2,
        slip_rate=1.0,
    ),
    "chamber": lambda model, rod: model.add_chamber(
        "chamber", [point_above_middle(model), rod.at(0.5, (0, 0.1, 0)), rod.end], 0.1, pressure=SMOOTH
    ),
    "tendon over a pulley": lambda model, rod: model.add_tendon(
        "hoist", [rod.at(0.5), Pulley("ground@1.5,0,1", (0, 1, 0), 0.2), "ground@2,0,0"], SMOOTH
    ),
    "pressure that varies": lambda model, rod: model.add_pressure("pressure", rod, "5 + 20*t**2", (0, 0, 1)),
    "actuation": lambda model, rod: model.add_actuation("muscle", rod, "K2", SMOOTH),
    "inerter": lambda model, rod: model.add_inerter(
        "inerter", measures.distance(point_above_middle(model), rod.at(0.5)), 0.3
    ),
    "fluid": submerged,
    "joint with friction": with_friction,
    "sliding joint with friction": with_sliding_friction,
    "load of a function": lambda model, rod: model.add_force("load", rod.at(0.5), lambda t: (0, 0, 4 * t**3)),
}
NAMED = {
    "inerter": "where a distance inerter acts",
    "joint with friction": "joint 'hinge'",
    "sliding joint with friction": "joint 'sleeve'",
    "load of a function": "load 'load'",
}


def changing(s):
    x = 1.0 + 0.3 * np.sin(2 * np.pi * s)
    stiffnesses = {"EA": 60.0 * x, "mass_per_length": 1.5 * x, "inertia_per_length": (0.5, 0.2 * x, 0.3)}
    return Section.from_stiffness(**SECTION | stiffnesses)


# effects of a material: name -> section
MATERIALS = {
    "viscous": lambda: Section.from_stiffness(**SECTION, damping_time=0.02),
    "relaxing": lambda: Section.from_stiffness(**SECTION).with_relaxation(time=0.1, fraction=0.8),
    "changing": lambda: changing,
    "stiffening": lambda: Section.from_stiffness(**SECTION).with_law("stiffening", strain=0.25),
    "expression": lambda: Section.from_stiffness(**SECTION).with_energy(
        "EA*Gamma1**2/2 + GA2*Gamma2**2/2 + GA3*Gamma3**2/2 + GJ*K1**2/2 + EI2*K2**2/2 + EI3*K3**2/2 + a*Gamma1**4 + b*K3**4",
        a=200.0,
        b=2.0,
    ),
}


def push(s):
    """Zero at the ends and in the middle, to the third derivative."""
    return np.sin(2 * np.pi * s) ** 4 * np.array([0.8, -0.5, 1.0])


def spin(s):
    return np.sin(2 * np.pi * s) ** 4 * np.array([1.0, 0.7, -0.4])


def model_with(case, n, element="se3"):
    model = Model("acting")
    section = MATERIALS.get(case, lambda: Section.from_stiffness(**SECTION))()
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (2, 0, 0)],
        section,
        n,
        velocity=push,
        angular_velocity=spin,
        mass="lumped",
        element=element,
    )
    if case in ACTING:
        ACTING[case](model, rod)
    return model


@cache
def run(case, n, element="se3"):
    return simulate(model_with(case, n, element), TIME, TIME / (2 * n), output_every=1, progress=False)


def residual_ratios(case, element="se3", sizes=SIZES):
    """Relative residual of each law, divided by the one with half the elements and twice the output interval."""
    coarse, fine = (local_audit(run(case, n, element)).rod("rod") for n in sizes)
    return {law: coarse.law(law).relative / fine.law(law).relative for law in LAWS}


@pytest.mark.parametrize("case", [*ACTING, *MATERIALS])
def test_residuals_converge_with_order_2_for_every_interaction(case):
    ratios = residual_ratios(case)
    for law in LAWS:
        assert ratios[law] > 3.0, ratios
    notes = "\n".join(local_audit(run(case, SIZES[0])).not_covered)
    assert (NAMED[case] in notes) if case in NAMED else ("box " not in notes)
    unheard = case in ("nothing", "stiffening", "expression", *NAMED)
    assert ("material momentum" in notes) == (not unheard)


def test_torsion_spring_moment_uses_the_counted_angle():
    """The angle within half a turn is not used; compare two states, wound by one turn and by three."""
    result = run("torsion spring", 16)
    system, state = result.layout.system, result.states(slice(-2, None))
    node = torsions_of(system.others).frames[0, 1]
    counted = part(system, state, "angle")
    wound = [
        sources(
            system, [], result.t[-2:], with_part(system, state, "angle", counted + 2 * np.pi * turns), node
        )
        for turns in (np.zeros((2, 1)), np.array([[1.0], [3.0]]))
    ]
    extra_moment = (wound[1].moment - wound[0].moment)[:, node]
    assert np.linalg.norm(extra_moment, axis=1) == pytest.approx(
        50.0 * 2 * np.pi * np.array([1.0, 3.0]), rel=1e-3
    )


@pytest.mark.parametrize("case", ["external damping", "viscous", "load along it"])
@pytest.mark.parametrize("element", ["relative(2)", "lagrange(3)"])
def test_residuals_of_higher_order_rods_converge(case, element):
    ratios = residual_ratios(case, element, (36, 72))
    for law in LAWS:
        assert ratios[law] > 3.0, ratios


def built(case):
    return model_with(case, 12).build()


def kinds_on_inner_nodes(case):
    result = built(case)
    inner = result.layout.rods[0].frames[1:-1]
    return {
        acting.group.kind.name
        for acting in groups_of(result.system)
        if np.isin(inner, acting.group.frames).any()
    }


def test_every_kind_acting_on_rod_nodes_is_covered():
    """A new kind needs an entry in ACTING, which tests its residuals, or a name among the reported ones."""
    covered = set().union(*(kinds_on_inner_nodes(case) for case in [*ACTING, "viscous"]))
    expected = {
        kind.name
        for kind in registered_kinds()["others"]
        if not (kind.one_sided or kind.inertial or kind.rows)
    }
    expected -= {"drag of a body"}  # acts on bodies alone
    assert expected <= covered, expected - covered
    assert {kind for case in ACTING for kind in loads_of(built(case).system.others).kind} == {FORCE, MOMENT}


def audit_two_steps(model):
    """Return the local audit of two steps."""
    return local_audit(simulate(model, 0.002, 0.001, output_every=1, progress=False))


@pytest.mark.filterwarnings("ignore::rodsim.warnings.InitialVelocityWarning")
@pytest.mark.parametrize("kind", sorted(JOINTS))
def test_boxes_at_joints_of_every_kind_are_excluded_and_named(kind):
    model = model_with("nothing", 12)
    rod = next(iter(model.rods.values()))
    joint = JOINTS[kind]
    options = {"axis": (0, 0, 1)} if joint.axis else {}
    options |= {"second_axis": (1, 0, 0)} if joint.second_axis == "perpendicular" else {}
    options |= {"screw": {"pitch": 0.1}, "generic": {"locked": ["x", "rz"]}}.get(kind, {})
    sides = [rod.at(0.5)]
    if not joint.to_ground:
        body = model.add_body("box", Box(0.2, 0.2, 0.2, density=200.0), (1.0, 0.0, 0.5))
        sides.append(body.at((0.0, 0.0, 0.1)) if joint.apart else body)
    model.add_joint("held", kind, *sides, **options)
    report = audit_two_steps(model)
    excluded = np.isnan(report.rod("rod").law("momentum").values)
    assert np.flatnonzero(excluded.all(axis=0)).tolist() == [5]
    assert excluded.sum() == len(excluded)
    assert any("joint 'held'" in note for note in report.not_covered)


@pytest.mark.parametrize("other", ["floor", "itself"])
def test_rods_with_contacts_are_excluded_and_named(other):
    model = model_with("nothing", 12)
    rod = next(iter(model.rods.values()))
    floor = model.add_plane("floor", model.ground.at((0, 0, -9)), (0, 0, 1))
    model.add_contact(
        "touch", rod, floor if other == "floor" else None, stiffness=10.0, friction=0.3, radius=0.02
    )
    report = audit_two_steps(model)
    assert report.rod("rod").laws == ()
    words = "a contact of a plane and a rod acts" if other == "floor" else "surfaces may touch"
    assert any(words in note for note in report.not_covered)


def test_wind_loads_are_excluded_and_named():
    """The file stores the damping but not the wind."""
    model = model_with("nothing", 12)
    model.add_mass_damping("air", next(iter(model.rods.values())), 3.0, ambient=(1.0, 0.0, 0.0))
    report = local_audit(simulate(model, 0.02, 0.01, output_every=1, progress=False))
    assert any("the 11 boxes of a load along it, or a wind" in note for note in report.not_covered)
    assert report.rod("rod").laws == ()


@pytest.mark.parametrize(
    ("case", "boxes"),
    [
        *((case, 5) for case in ("external damping", "viscous", "load along it")),
        *(
            (case, 11)
            for case in ("nothing", "spring", "force", "joint with friction", "relaxing", "stiffening")
        ),
    ],
)
def test_boxes_span_whole_elements_under_distributed_loads(case, boxes):
    """Otherwise the boxes are half elements."""
    assert len(audit_two_steps(model_with(case, 12, "relative(2)")).rod("rod").S) == boxes


def test_material_momentum_of_a_relaxing_rod_is_excluded():
    laws = local_audit(run("relaxing", SIZES[0])).rod("rod").laws
    assert [law.law for law in laws] == list(LAWS)
    assert local_audit(run("nothing", SIZES[0])).rod("rod").law("material_momentum").relative < 0.1


def test_closed_rod_is_covered_all_around():
    """This includes the closing point: what acts on its first two nodes acts in its last boxes."""
    results = []
    for n in (16, 32):
        model = Model("ring")
        ring = lambda s: (np.cos(2 * np.pi * s) / 3, np.sin(2 * np.pi * s) / 3, 0.0)  # noqa: E731
        rod = model.add_rod(
            "rod",
            ring,
            Section.from_stiffness(**SECTION),
            n,
            closed=True,
            mass="lumped",
            velocity=(0.3, 0.1, 0.2),
        )
        model.add_mass_damping("air", rod, rate=5.0)
        model.add_pressure("pressure", rod, 5.0, (0, 0, 1))
        result = simulate(model, 0.1, 0.8 / n / 8, output_every=1, progress=False)
        results.append(local_audit(result).rod("rod").law("momentum"))
    assert results[0].values.shape[1] == 16
    for law in results:
        assert np.isfinite(law.values).all()
        across = law.values / np.sqrt(np.mean(law.values**2))
        assert across.max() < 5.0
    assert results[0].relative > 3.0 * results[1].relative


@pytest.mark.parametrize("element", ["se3", "relative(2)", "lagrange(3)"])
@pytest.mark.parametrize("case", ["nothing", *MATERIALS])
def test_energy_densities_sum_to_the_elastic_energy(case, element):
    state, system = run(case, 24, element).state(), run(case, 24, element).layout.system
    strain, _ = element_states(system, state)
    weight = system.rods.points.weight
    total = energies(system, state).elastic
    assert total > 1e-3
    assert weight @ elastic_densities(system, state, strain) == pytest.approx(total, rel=1e-12)
