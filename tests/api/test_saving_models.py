"""A model saved as a scene and loaded again is bit-identical; what a scene cannot state is rejected before."""

from pathlib import Path

import numpy as np
import pytest

import rodsim
from rodsim import (
    Box,
    MassProperties,
    Material,
    Model,
    ModelError,
    Section,
    SpringLaw,
    controllers,
    measures,
    signals,
    simulate,
)
from rodsim.scenes.model_to_scene import differences
from tests.support.completeness import MODELS

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.ModelWarning")

SCENES = sorted((Path(__file__).parents[2] / "examples" / "scenes").glob("*.yaml"))
# models of completeness.py with Python functions, and the part named by the error
NOT_IN_SCENES = {
    "pressed": "rod 'ring': cannot be saved as a scene: its curve is a Python function",
    "kinds": "cannot be saved as a scene: its kind is a Python function",
    "driven": "interaction 'motor': cannot be saved as a scene: its kind is a Python function",
    "sensed": "interaction 'sole': cannot be saved as a scene: its kind is a Python function",
    "sliding": "interaction 'sole': cannot be saved as a scene: its kind is a Python function",
}
RUBBER = Material(E=1e6, nu=0.4, density=1000.0, damping_time=0.1)


def saved_and_loaded(model, folder):
    path = model.save(folder / "saved.yaml")
    assert path == folder / "saved.yaml"
    return Model.load(path)


def check_equal(a, b):
    """Compare descriptions, states, and all arrays of the systems."""
    a, b = a.build(), b.build()
    assert a.layout.description == b.layout.description
    assert list(differences(a, b)) == []


@pytest.mark.parametrize("name", NOT_IN_SCENES)
def test_saving_python_functions_is_rejected_and_keeps_the_file(name, tmp_path):
    file = tmp_path / "saved.yaml"
    file.write_text("name: before\n")
    with pytest.raises(ModelError, match=NOT_IN_SCENES[name]):
        MODELS[name]().save(file)
    assert file.read_text() == "name: before\n"
    assert list(tmp_path.iterdir()) == [file]


SHAPES = {
    "box": Box(0.1, 0.2, 0.3, density=123.4),
    "box of whole numbers": Box(1, 2, 3, density=500),
    "box by mass": Box(0.1, 0.2, 0.3, mass=1 / 3),
    "sphere": rodsim.Sphere(0.1, mass=0.7),
    "fine sphere": rodsim.Sphere(0.1, density=1.3, surface="fine"),
    "cylinder": rodsim.Cylinder(0.1, 0.7, density=1.3),
    "fine cylinder": rodsim.Cylinder(0.1, 0.7, mass=1.3, surface="fine"),
    "capsule": rodsim.Capsule(0.1, 0.7, density=1.3),
    "cone": rodsim.Cone(0.1, 0.7, density=1.3, surface="fine"),
    "point": rodsim.PointMass(0.3),
    "numbers": MassProperties(1.1, [0.3, 0.2, 0.4], (0.1, 0.2, 0.3)),
    "matrix": MassProperties(1.1, [[0.3, 0.01, 0.0], [0.01, 0.2, 0.0], [0.0, 0.0, 0.4]]),
    "line": MassProperties(1.1, [0.3, 0.3, 0.0]),
    "drawn": MassProperties(1.1, [0.3, 0.2, 0.4], vertices=[(0, 0, 0), (1, 0, 0), (0, 1, 0)], faces=[(0, 1, 2)]),
    "mesh": rodsim.Mesh(([(0, 0, 0), (1.1, 0, 0), (0, 1.3, 0), (0, 0, 1.7)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]), 1.3),
}  # fmt: skip


FULL = np.diag([90.0, 80.0, 70.0, 6.0, 5.0, 4.0]) + 1.0
STIFF = Section.from_stiffness(EA=60, GA=(40, 30), GJ=3, EI=(2, 4), mass_per_length=2, inertia_per_length=0.3)
SECTIONS = {
    "circular": Section.circular(0.1, RUBBER),
    "tube": Section.tube(0.1, 0.07, Material(E=1e6, G=3e5, density=1000)),
    "rectangle": Section.rectangle(0.1, 0.2, RUBBER).with_relaxation(0.05, fraction=0.5).with_centers((0.01, 0.0)),
    "stiffness": STIFF,
    "polygon": Section.from_polygon(
        [(0, 0), (0.3, 0), (0.1, 0.2)], [[(0.1, 0.02), (0.15, 0.02), (0.1, 0.05)]], material=RUBBER, origin=(0.1, 0.1),
        torsion_constant=1e-4, shear_areas=[[0.02, 0.001], [0.001, 0.03]]).with_relaxation(0.05, fraction=0.5),
    "mass matrix": Section.from_matrices(FULL, Section.from_polygon([(0, 0), (0.3, 0), (0.1, 0.2)], material=RUBBER,
        torsion_constant=1e-4).mass_per_length * np.diag([1, 1, 1, 0.3, 0.1, 0.2])),
    "law": STIFF.with_law("stiffening", strain=0.2),
    "energy": STIFF.with_energy("EA*Gamma1**2/2 + GA2*Gamma2**2/2 + GA3*Gamma3**2/2 + GJ*K1**2/2 + EI2*K2**2/2 + a*K3**2", a=2.0),
    "relaxing": STIFF.with_relaxation(0.05, stiffness=0.1 * FULL),
    "matrices": Section.from_stiffness(C=FULL, D=0.01 * FULL, mass_per_length=1.5, inertia_per_length=0.3),
    "made of numbers": Section(FULL, 1.5, np.array([0.4, 0.2, 0.3]), 0.01 * FULL, 0.1),
}  # fmt: skip


def of_shape(name):
    model = Model(name, gravity=(0.1, 0.2, -9.81))
    quat = np.array([0.3, 0.1, -0.7, 0.2])
    body = model.add_body("body", SHAPES[name], (1 / 3, 0, 0), quat / np.linalg.norm(quat))
    if name in ("point", "line"):
        model.add_joint("pin", "spherical", model.ground, body, at=(1 / 3, 0, 0))
    return model


def of_section(name):
    model = Model("rod")
    model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SECTIONS[name], 2)
    return model


@pytest.mark.parametrize(
    ("make", "source"),
    [
        *((Model.load, path) for path in SCENES),
        *((lambda name: MODELS[name](), name) for name in MODELS if name not in NOT_IN_SCENES),
        *((of_shape, name) for name in SHAPES),
        *((of_section, name) for name in SECTIONS),
    ],
    ids=lambda source: getattr(source, "stem", source) if not callable(source) else source.__name__,
)
def test_saved_model_is_restored(make, source, tmp_path):
    """Examples, one model of every kind, every shape, every section."""
    model = make(source)
    check_equal(model, saved_and_loaded(model, tmp_path))


def test_saved_curves_twists_and_stress_free_shapes_are_restored(tmp_path):
    model = Model("rods")
    points = np.random.default_rng(0).normal(size=(150, 3)) + 30.0 * np.arange(150)[:, None]
    model.add_rod("long", points, STIFF, 20, up=(0.1, 0.2, 1.0), twist=0.7, velocity=(0.1, 0.2, 0.3))
    loop = [(0, 0, 9), (1, 0, 9), (1, 1, 9), (0, 1, 9.1)]
    model.add_rod("loop", loop, STIFF, 8, closed=True, twist=2 * np.pi, stress_free=[(0, 0, 0), (4, 0, 0)],
                  stress_free_closed=False, stress_free_twist=1 / 3, element="lagrange(2)", mass="lumped")  # fmt: skip
    strains = (0, 0, 0, 0.1, 0.2, 1 / 3)
    model.add_rod("bent", [(0, 9, 0), (1, 9, 0)], STIFF, 3, stress_free_up=(0, 1, 0), rest_strains=strains)
    check_equal(model, saved_and_loaded(model, tmp_path))


def test_saved_values_along_rods_are_restored(tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text(
        "name: rows\nrods:\n- name: rod\n  curve: {type: helix, radius: 0.3, pitch: 0.1, turns: 1.7, axis: [0.1, 0.2, 1]}\n"
        "  section: {type: circular, radius: 0.01, material: {E: 1e6, nu: 0.3, density: 1000}}\n"
        "  up: [[0, 0, 0.1, 1], [0.3, 0, 0.2, 1], [1, 0, 0.1, 1]]\n  twist_deg: [[0, 3.3], [1, 77.7]]\n"
        "  rest_strains: [[0, 0, 0, 0, 0, 0.1, 0], [1, 0, 0, 0, 0.2, 0.1, 0]]\n- name: arc\n"
        "  curve: {type: circle, radius: 0.3, angle_deg: 77.7, center: {at: {rod: rod, s: 1}, plus: [1, 0, 0]}}\n"
        "  section: {type: circular, radius: 0.01, material: {E: 1e6, nu: 0.3, density: 1000}}\n  twist_deg: 33.3\n"
        "run: {t_end: 0.25, dt: 0.01, events: [{distance_below: [rod@0.1, arc@0.1], distance: 0.01}]}\n"
    )
    model = Model.load(scene)
    reloaded = saved_and_loaded(model, tmp_path)
    check_equal(model, reloaded)
    assert "t_end: 0.25" in reloaded.scene
    assert "distance: 0.01" in reloaded.scene


def test_saved_entries_are_restored_in_order_with_signals_and_laws(tmp_path):
    """Alternating springs with laws, limits and bushings: the lists of a scene have another order."""
    model = Model("mixed: 'names', = 1e3", gravity=(0, 0, -1))
    bodies = [
        model.add_body(name, Box(0.1, 0.1, 0.1, mass=1), (k, 0, 0))
        for k, name in enumerate(("1e3", "on", "yes é"))
    ]
    law = SpringLaw.function(np.sin, -1.0, 1.0)
    model.add_spring("law 1", model.ground.at((0, 1, 0)), bodies[0], law=law)
    model.add_bushing("bushing", model.ground, bodies[0], 3.0, at=(0, 0, 0.1))
    model.add_spring("law 2", model.ground.at((0, 1, 0)), bodies[1], law=SpringLaw.limit(3.0, 0.1, -0.2))
    model.add_mass_damping("air", bodies[1], 0.3, ambient=(0.1, 0.2, 0.3))
    model.add_limit("stop", model.ground, bodies[2], 3.0, 0.1, upper=0.2, of="angle", axis=(0, 0, 1))
    model.add_sensor("height", measures.coordinate(bodies[0], (0, 0, 1)))
    model.add_controller(
        "pd", controllers.PID(kp=2.0, kd=1 / 3, high=5.0), ["height", "height.rate"], period=0.1
    )
    model.add_controller(
        "k", controllers.StateFeedback([[1 / 3, 2.0]], [0.1, 0.0]), ["height", "height.rate"], outputs="f"
    )
    wheel = model.add_joint("wheel", "revolute", "ground", bodies[1], at=(1, 0, 0), axis=(0, 0, 1))
    model.add_joint_force("motor", wheel, "sin(t/3)")
    model.add_joint_force("brake", wheel, signals.Table([0, 1, 2], [0, 1 / 3, 0]))
    model.add_joint_force("constant", wheel, 1 / 3)
    for name, cls in vars(signals).items():
        if isinstance(cls, type) and issubclass(cls, signals.Signal) and cls is not signals.Signal:
            factories = {"Table": lambda c: c([0, 1, 2], [0, 1 / 3, 0]), "SmoothTable": lambda c: c([0, 1, 2], [0, 1 / 3, 0]),
                    "Triangle": lambda c: c(1 / 3, 1.0, 2.0), "Constant": lambda c: c(1 / 3), "SpinUp": lambda c: c(1 / 3, 2.0),
                    "Steady": lambda c: c(1 / 3), "Sine": lambda c: c(1 / 3, 2.0, 0.1),
                    "Expression": lambda c: c("sin(t/3)"), "Output": lambda c: c("pd", "u")}  # fmt: skip
            signal = factories.get(name, lambda c: c(1 / 3, 0.0, 2.0))(cls)
            model.add_force(name, bodies[0], signal.along((0.3, 0.1, 0.7)))
    model.add_driven("hand", (1 / 3, 0, 0), displacement=[signals.Sine(0.1, 2.0).along((0, 0.6, 0.8))],
                     turn=signals.SmoothStep(1.0, 0.0, 2.0), axis=(0.1, 0.2, 0.3))  # fmt: skip
    reloaded = saved_and_loaded(model, tmp_path)
    assert list(reloaded.others) == list(model.others)
    check_equal(model, reloaded)


def test_loaded_model_runs_like_the_saved_one(tmp_path):
    model = MODELS["loaded"]()
    runs = [simulate(variant, 0.02, 0.01) for variant in (model, saved_and_loaded(model, tmp_path))]
    assert runs[0].states(slice(0, 3)).r.tobytes() == runs[1].states(slice(0, 3)).r.tobytes()
