"""A few small models that together contain every kind of interaction, for `tests/laws/test_completeness.py`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.space.rod_elements import WORDS, order_of
from rigid.joints import JOINTS
from rodsim import (
    Box,
    Cylinder,
    Drum,
    Friction,
    Model,
    Pulley,
    Section,
    SpringLaw,
    controllers,
    curves,
    fluids,
    measures,
    signals,
)
from tests.support.driven_kinds import actuated, driven
from tests.support.jenkins_elements import JENKINS
from tests.support.user_kinds import kinds, texts

T_END, DT = 0.06, 0.01  # s, of a run; a driven frame has returned to its start by then
NUMBERS: dict = {
    "EA": 60.0,
    "GA": 40.0,
    "GJ": 3.0,
    "EI": (2.0, 4.0),
    "mass_per_length": 1.5,
    "inertia_per_length": (0.4, 0.2, 0.3),
}
SOFT = Section.from_stiffness(**NUMBERS)
VISCOUS = Section.from_stiffness(**NUMBERS, damping_time=0.01)
BRICK = Box(0.5, 0.3, 0.2, density=100.0)
OBLIQUE = (1.0, -2.0, -9.0)


def _brick(model: Model, name: str, k: int, moving: bool = True):
    """A body one metre from the previous one."""
    return model.add_body(
        name,
        BRICK,
        position=(0.1, float(k), 0.2),
        angular_velocity=(0.3, -0.2, 0.4) if moving else None,
    )


def joints() -> Model:
    """A body on each joint kind, supported by a spring and a bushing."""
    model = Model("joints", gravity=OBLIQUE)
    for k, (kind, joint) in enumerate(JOINTS.items()):
        body = model.add_body(kind, BRICK, position=(0.1, float(k), 0.2))
        options: dict = {}
        if joint.axis:
            options["axis"] = (0.6, 0.0, 0.8)
        if joint.second_axis == "perpendicular":
            options["second_axis"] = (0.0, 1.0, 0.0)
        elif joint.second_axis:
            options["second_axis"] = (0.8, 0.0, 0.6)
        if "pitch" in joint.takes:
            options["pitch"] = 0.1
        if "locked" in joint.takes:
            options["locked"] = ("x", "rz")
        if joint.apart:
            model.add_joint(f"on {kind}", kind, model.ground.at((0, k, 1)), body.at((0.1, 0, 0.1)), **options)
        elif joint.to_ground:
            model.add_joint(f"on {kind}", kind, body, at=(0, k, 0), **options)
        else:
            model.add_joint(f"on {kind}", kind, model.ground, body, at=(0, k, 0), **options)
        model.add_bushing(f"under {kind}", model.ground, body, 200.0, at=(0.1, k, 0.1))
    return model


def forces() -> Model:
    """Bodies on springs and dampers of each kind; a free one on two more, with air drag."""
    model = Model("forces", gravity=OBLIQUE)
    ground, stiff = model.ground, SpringLaw.polynomial([0.0, 80.0, 5.0, 30.0], reach=4.0)
    lossy = SpringLaw.polynomial([0.0, 2.0, 0.0, 0.1], reach=50.0)
    full = np.diag([90.0, 80.0, 70.0, 6.0, 5.0, 4.0]) + 1.0
    for k in range(4):
        body = _brick(model, f"body {k}", k)
        model.add_bushing(f"bushing {k}", ground, body, full, 0.02 * full, at=(0, k, 0))
        corner = body.at((0.2, 0.1, 0.1))
        if k == 0:
            model.add_spring("spring", ground.at((1, k, 1)), corner, 50.0, 0.7, damping=0.5)
            model.add_spring(
                "coil", ground, body, 3.0, damping=0.1, along="rotation", axis=(0, 0.6, 0.8), angle=0.2
            )
        elif k == 1:
            model.add_spring("length", ground.at((1, k, 1)), corner, law=stiff, damping=lossy)
            model.add_spring(
                "way",
                ground.at((1, k, 1)),
                corner,
                law=stiff,
                damping=lossy,
                along="axis",
                axis=(0, 0.6, 0.8),
            )
            model.add_spring(
                "turn",
                ground,
                body,
                law=SpringLaw.polynomial([0, 3.0]),
                damping=lossy,
                along="rotation",
                axis=(0.6, 0, 0.8),
            )
        elif k == 2:
            model.add_limit("stop", ground, body, 20.0, 0.01, -0.02, 0.01, "angle", (0, 0, 1))
            model.add_mass_damping("air", body, 0.5, 0.3)
            model.add_bushing("bearing", ground, body, [9.0, 8.0, 7.0, 3.0, 0.0, 2.0], 0.1, at=(0.1, k, 0.1))
        else:
            model.add_joint("pin", "revolute", ground, body, at=(0, k, 0), axis=(0, 0.6, 0.8))
            model.add_joint_damping("friction", "pin", turning=0.2)
            tube = model.add_body("tube", Box(0.3, 0.2, 0.1, mass=1.0), position=(0.4, k + 0.2, 0.1))
            model.add_joint("sleeve", "cylindrical", body, tube, at=(0.2, k + 0.1, 0), axis=(0.6, 0.8, 0))
            model.add_joint_damping("oil", "sleeve", turning=0.1, sliding=0.3)
            model.add_bushing("seat", body, tube, [5.0, 5.0, 5.0, 2.0, 2.0, 2.0], 0.0, at=(0.2, k + 0.1, 0))
    return model


def rods() -> Model:
    """A clamped viscous rod of each element that provides its strains, the default one with a body at its end."""
    return _clamped(
        "rods",
        [
            element
            for element in WORDS
            if element not in ("midpoint", "string") and not element.startswith("cayley")
        ],
    )


def midpoints() -> Model:
    """Rods of the elements that do not provide their strains."""
    return _clamped("midpoints", ["midpoint", "cayley(2)", "cayley(4)"])


def _clamped(name: str, words: list[str]) -> Model:
    model = Model(name, gravity=(0.1, -0.2, -0.9))
    for k, element in enumerate(words):
        n = 2 * order_of(element) if order_of(element) < 3 else order_of(element)
        rod = model.add_rod(
            element, [(0, k, 0), (1, k + 0.2, 0.1)], VISCOUS, n, element=element, mass="lumped"
        )
        model.add_joint(f"clamp of {element}", "clamp", rod.start)
    tip = model.add_body("tip", BRICK, position=(1.2, 0.2, 0.1))
    model.add_joint("held", "weld", model.rods[words[0]].end, tip, at=(1, 0.2, 0.1))
    law = VISCOUS.with_law("softening", moment=3.0)
    bent = model.add_rod("law", [(0, -1, 0), (1, -1, 0)], law, 2, mass="lumped")
    model.add_joint("clamp of law", "clamp", bent.start)
    return model


def pressed() -> Model:
    """A ring under pressure, on three springs."""
    model = Model("pressed", gravity=(0.0, 0.0, 0.0))
    ring = model.add_rod("ring", _circle, SOFT, 6, closed=True, up=(0, 0, 1))
    model.add_pressure("water", ring, 0.4, (0, 0, 1))
    for k in range(3):
        model.add_bushing(f"foot {k}", model.ground, ring.at(k / 3), 20.0, at=_circle(k / 3))
    model.add_mass_damping("air", ring, 0.2)
    return model


def whirling() -> Model:
    """A rod and a body that rotate in bearings with cross-coupled stiffness and damping, one on a support that moves."""
    model = Model("whirling", gravity=OBLIQUE)
    cross = np.array([[60.0, 9.0], [-4.0, 50.0]])
    shaft = model.add_rod(
        "shaft", [(0, 0, 0), (1, 0, 0)], SOFT, 3, angular_velocity=(2.0, 0, 0), mass="lumped"
    )
    support = _brick(model, "support", 2, moving=False)
    model.add_bushing("foot", model.ground, support, 200.0, at=(0.1, 2, 0.2))
    disc = _brick(model, "disc", 3)
    full = np.diag([50.0, 60.0, 70.0, 0.0, 4.0, 5.0])
    full[1:3, 1:3], full[4, 5], full[1, 4] = cross, 0.5, 0.7
    model.add_bearing("left", "ground", shaft.start, full, 0.01 * full, "general")
    model.add_bearing("right", "ground", shaft.end, [cross, 2 * cross], 0.5, speeds=[0.0, 4.0])
    model.add_bearing(
        "seal", support, disc.at((0, -1, 0)), cross, [[0.3, 0.1], [-0.1, 0.3]], axis=(0.6, 0, 0.8)
    )
    model.add_bearing("thrust", "ground", disc, 40.0, 0.2, "axial", axis=(0, 0, 1))
    model.add_bushing("soft", model.ground, disc, 80.0, at=(0.1, 3, 0.2))
    return model


def _circle(s: float) -> tuple[float, float, float]:
    return float(np.cos(2 * np.pi * s)), float(np.sin(2 * np.pi * s)), 0.0


def relaxing() -> Model:
    """A clamped rod whose branches relax."""
    model = Model("relaxing", gravity=OBLIQUE)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT.with_relaxation(0.05, fraction=0.5), 3)
    model.add_joint("clamp", "clamp", rod.start)
    return model


def drives() -> Model:
    """Driven hinges and sliders, each carrying a body on a spring, and a body on a rope that is wound up."""
    model = Model("drives", gravity=OBLIQUE)
    for k, kind in enumerate(("revolute", "prismatic")):
        body = _brick(model, f"body {k}", k, moving=False)
        model.add_joint(f"joint {k}", kind, model.ground, body, at=(0, k, 0), axis=(0, 0.6, 0.8))
        model.add_drive(f"motor {k}", f"joint {k}", signals.Steady(0.4))
        load = _brick(model, f"load {k}", k + 2, moving=False)
        model.add_bushing(f"coupling {k}", body, load, 60.0)
    hung = _brick(model, "hung", 4, moving=False)
    model.add_joint("rope", "distance", "ground@0,4,2", hung.at((0.1, 0.1, 0.0)))
    model.add_drive("winch", "rope", signals.Steady(0.4))
    model.add_bushing("guide", model.ground, hung, 60.0, at=(0.1, 4, 0.2))
    return model


def shaken() -> Model:
    """A shaken frame, with a body on a spherical joint and on a spring."""
    model = Model("shaken", gravity=OBLIQUE)
    shaker = model.add_driven("shaker", displacement=signals.Sine(0.02, 1.0 / T_END).along((0, 0.6, 0.8)))
    body = _brick(model, "body", 0, moving=False)
    model.add_joint("ball", "spherical", shaker, body, at=(0, 0, 0))
    model.add_spring("spring", shaker.at((1, 0, 1)), body.at((0.2, 0.1, 0.1)), 50.0)
    model.add_bushing("soft", model.ground, body, 30.0, at=(0.1, 0, 0.2))
    return model


def geared() -> Model:
    """Two wheels and a rack, coupled by gears, on a coil."""
    model = Model("geared", gravity=OBLIQUE)
    for k, kind in enumerate(("revolute", "revolute", "prismatic")):
        body = _brick(model, f"body {k}", k, moving=False)
        model.add_joint(f"joint {k}", kind, model.ground, body, at=(0.1, k, 0.2), axis=(0, 0, 1))
    model.add_gear("wheels", ["joint 0", "joint 1"], [2.0, -1.0])
    model.add_gear("rack", ["joint 1", "joint 2"], [0.3, 1.0])
    model.add_spring("coil", model.ground, model.bodies["body 0"], 3.0, along="rotation", axis=(0, 0, 1))
    return model


def loaded() -> Model:
    """A clamped rod and a body on a bushing under loads of each kind."""
    model = Model("loaded", gravity=OBLIQUE)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4)
    model.add_joint("clamp", "clamp", rod.start)
    body = _brick(model, "body", 2, moving=False)
    model.add_bushing("soft", model.ground, body, 80.0, at=(0.1, 2, 0.2))
    for following in (False, True):
        how = "following" if following else "dead"
        model.add_force(f"{how} force", body.at((0.1, 0.2, 0.1)), (1.0, 2.0, -1.0), following)
        model.add_moment(f"{how} moment", rod.end, (0.02, 0.01, 0.03), following)
    model.add_distributed_load("snow", rod, (0.0, 0.1, -0.4))
    return model


def inertial() -> Model:
    """Joints with reflected inertia and inerters of each measure, on bodies and a rod; rates that the joints leave free."""
    model = Model("inertial", gravity=OBLIQUE)
    arm = model.add_body("arm", BRICK, position=(0.1, 0, 0.2), angular_velocity=(0, 0, 1.5))
    model.add_joint("hinge", "revolute", "ground", arm, at=(0.1, 0, 0.2), axis=(0, 0, 1), inertia=0.02)
    slider = _brick(model, "slider", 1, moving=False)
    model.add_joint("slide", "prismatic", "ground", slider, at=(0, 1, 0), axis=(0, 0.6, 0.8), inertia=0.3)
    model.add_spring("return", "ground@0,1,1", slider, 40.0)
    model.add_spring("coil", "ground", arm, 3.0, along="rotation", axis=(0, 0, 1))
    rod = model.add_rod("rod", [(0, 2, 0), (1, 2, 0)], SOFT, 3, mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    model.add_inerter("strut", measures.distance(arm, slider), 0.05)
    model.add_inerter("rail", measures.displacement(rod.end, slider, axis=(1, 0, 0)), 0.1)
    model.add_inerter("flywheel", measures.angle(arm, rod.end, axis=(0, 0, 1)), 0.01)
    return model


def sampled() -> Model:
    """A clamped rod and a body on a hinge, with a sensor of each measure, and loads that follow controllers."""
    model = Model("sampled", gravity=OBLIQUE)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4)
    model.add_joint("clamp", "clamp", rod.start)
    body = _brick(model, "body", 2)
    model.add_joint("hinge", "revolute", "ground", body, at=(0.1, 2, 0.2), axis=(0, 0, 1))
    model.add_sensor("angle", measures.angle("ground", body, axis=(0, 0, 1)))
    model.add_sensor("height", measures.coordinate(rod.end, axis=(0, 0, 1)))
    model.add_sensor("distance", measures.distance(rod.end, body))
    model.add_sensor("strain", measures.strain(rod.start, rod.end, length=0.9))
    model.add_sensor("offset", measures.displacement(body, rod.end, axis=(0, 1, 0)))
    model.add_sensor("cosine", measures.cosine(body, (1, 0, 0), rod.end, (1, 0, 0)))
    law = controllers.PID(kp=0.5, ki=2.0, kd=0.1, target=0.2, low=-3.0, high=3.0)
    motor = model.add_controller("motor", law, ["angle", "angle.rate"], period=2.0 * DT)
    gains = [[1.0, 0.1, 0.2, 0.3, 0.4]]
    inputs = ["height", "height.rate", "distance", "strain.rate", "cosine"]
    jack = model.add_controller("jack", controllers.StateFeedback(gains), inputs, outputs="f", period=DT)
    wave = model.add_controller(
        "wave", controllers.Formula("0.1*cos(3*angle_rate) - 0.2*angle_rate"), ["angle.rate"], period=DT
    )
    hand = model.add_controller("hand", controllers.External([0.05, -0.02]), outputs=["a", "b"])
    model.add_joint_force("ripple", "hinge", wave.output())
    speed = controllers.Table([-1.0, 0.0, 0.5], [0.2, 0.0, -0.1])
    friction = model.add_controller("friction", speed, ["angle.rate"], period=DT)
    model.add_joint_force("drag", "hinge", friction.output())
    model.add_joint_force("held", "hinge", hand.output("a"))
    model.add_joint_force("steady", "hinge", 0.2)
    model.add_moment("torque", body, motor.output().along((0, 0, 1)))
    model.add_force("lift", rod.end, jack.output("f").along((0, 0, -1)), following=True)
    model.add_distributed_load("wind", rod, motor.output().along((0, 0.1, 0)))
    model.add_force("pull", rod.end, hand.output("b").along((0, 1, 0)))
    return model


def sensed() -> Model:
    """A clamped rod and balls in contact: controllers read forces, energies and a state, with noise and delays."""
    model = Model("sensed", gravity=OBLIQUE)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4)
    model.add_joint("clamp", "clamp", rod.start)
    body = _brick(model, "body", 2)
    model.add_joint("hinge", "revolute", "ground", body, at=(0.1, 2, 0.2), axis=(0, 0, 1))
    model.add_interaction("sole", JENKINS[1], rod.end, body, k=5.0, limit=0.5, z=[0.002])
    lower, upper = (model.add_body(f"ball {k}", BRICK, position=(3.0, 0.0, 0.195 * k)) for k in range(2))
    for k, ball in enumerate((lower, upper)):
        model.add_bushing(f"soft {k}", model.ground, ball, 80.0, at=(3.0, 0.0, 0.195 * k))
    skins = [model.add_sphere(f"skin {k}", ball, 0.1) for k, ball in enumerate((lower, upper))]
    floor = model.add_plane("floor", model.ground.at((0, 0, -0.099)), (0, 0, 1))
    model.add_contact("between", *skins, stiffness=400.0, friction=0.3)
    model.add_contact("on floor", skins[0], floor, stiffness=400.0)
    model.add_sensor("bending", measures.section_force(rod.at(0.4), "M2"), noise=0.01, seed=3)
    model.add_sensor("reaction", measures.joint_force("clamp", "force", axis=(0, 0, 1)), delay=2.0 * DT)
    model.add_sensor("bearing", measures.joint_force("hinge", "moment"))
    model.add_sensor("pressing", measures.contact_force("between"))
    model.add_sensor("lift", measures.contact_force("on floor", axis=(0, 0, 1)))
    model.add_sensor("energy", measures.energy(), noise=0.01)
    model.add_sensor("motion", measures.energy("kinetic", body))
    model.add_sensor("bristle", measures.state("sole", "z"))
    angle = measures.angle("ground", body, axis=(0, 0, 1))
    model.add_sensor("angle", angle, noise=(0.001, 0.01), delay=DT)
    law = controllers.Formula(
        "0.1*bending - 0.01*reaction + bearing - 0.01*pressing + 0.01*lift - 10*bristle"
    )
    jack = model.add_controller("jack", law, [*list(model.sensors)[:5], "bristle"], period=DT)
    gains = [[0.01, 0.1, 0.2, 0.1]]
    inputs = ["energy", "motion", "angle", "angle.rate"]
    motor = model.add_controller("motor", controllers.StateFeedback(gains), inputs, period=DT)
    model.add_joint_force("torque", "hinge", motor.output())
    model.add_force("lift", rod.end, jack.output().along((0, 0, -1)))
    return model


def varying() -> Model:
    """Clamped actuated rods, two bodies on bushings, and a force on each measure; springs, pressure and gravity that vary."""
    model = Model("varying", gravity=(0.1, -0.2, -0.9))
    one = signals.Constant(1.0)  # a function of time, but in equilibrium
    for k, element in enumerate(("se3", "relative(2)", "lagrange(1)")):
        rod = model.add_rod(element, [(0, k, 0), (1, k, 0)], SOFT, 4, element=element, mass="lumped")
        model.add_joint(f"clamp of {element}", "clamp", rod.start)
        model.add_actuation(f"muscle of {element}", rod, "K2", one, shape=[(0, 1), (1, 0)])
        model.add_actuation(f"growth of {element}", rod, "Gamma1", 0.01)
    model.add_pressure("water", model.rods["se3"], one, (0, 1, 0))
    bodies = [_brick(model, f"body {k}", k + 3) for k in range(2)]
    for k, body in enumerate(bodies):
        model.add_bushing(f"soft {k}", model.ground, body, 80.0, at=(0.1, k + 3, 0.2))
    a, b = bodies
    for name, measure in (
        ("distance", measures.distance(a, b.at((0.1, 0.1, 0.1)))),
        ("displacement", measures.displacement(a, b, axis=(0.6, 0, 0.8))),
        ("cosine", measures.cosine(a, (1, 0, 0), b, (0, 0, 1))),
        ("angle", measures.angle(a, b, axis=(0, 0, 1))),
        ("strain", measures.strain("se3.end", a)),
    ):
        model.add_measure_force(name, measure, one)
    model.add_spring("winch", "ground@0,3,2", a, stiffness=20.0, length=one)
    model.add_spring("tuned", "ground@0,4,2", b, stiffness=one)
    model.add_spring("wound", a, b, stiffness=one, along="rotation", axis=(0, 0, 1), angle=0.2)
    model.add_gravity("quake", one.along((0.5, 0, 0)))
    return model


def tendons() -> Model:
    """A clamped rod and a body on a bushing, with tendons between them and along the rod, with friction and without."""
    model = Model("tendons", gravity=(0.1, -0.2, -0.9))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4, up=(0, 0, 1), mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    body = _brick(model, "body", 2)
    model.add_bushing("soft", model.ground, body, 80.0, at=(0.1, 2, 0.2))
    one, corners = signals.Constant(1.0), [body.at((0.2, 0.1, 0.1)), body.at((-0.2, 0.1, 0.1))]
    model.add_tendon("along", [rod.at(k / 4, (0, 0.1, 0.02)) for k in range(5)], one)
    model.add_tendon("across", ["ground@0,3,0", *corners, rod.at(0.5, (0, -0.1, 0)), rod.end], 0.5)
    points = ["ground@1,1,1", rod.at(0.75, (0, 0.1, 0)), corners[0], "ground@0.2,2,1"]
    model.add_tendon("rubbing", points, one, friction=0.3, slip_rate=0.05)
    return model


def roped() -> Model:
    """A clamped rod and two bodies on bushings, with inextensible and elastic tendons, one twice through a body."""
    model = Model("roped", gravity=(0.1, -0.2, -0.9))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4, up=(0, 0, 1), mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    bodies = [_brick(model, f"body {k}", k + 2, moving=False) for k in range(2)]
    for k, body in enumerate(bodies):
        model.add_bushing(f"soft {k}", model.ground, body, 80.0, at=(0.1, k + 2, 0.2))
    a, b = bodies
    rope = [
        "ground@0,3,1",
        a.at((0, 0.1, 0.1)),
        "ground@0.2,3,1",
        a.at((0.1, 0.1, 0.1)),
        "ground@1,2,1",
        rod.end,
    ]
    model.add_tendon("tackle", rope)
    eyelets = [rod.at(k / 4, (0, -0.1, 0)) for k in range(1, 5)]
    model.add_tendon(
        "elastic", [*eyelets, b.at((0, 0.1, 0)), b.at((0, 0.1, 0.1)), "ground@0,4,1"], stiffness=8.0
    )
    points = ["ground@0,0,1", rod.at(0.25), rod.at(0.75), a]
    model.add_tendon("winch", points, stiffness=5.0, length=signals.Constant(3.2))
    return model


def inflated() -> Model:
    """A clamped rod and two bodies on bushings, with chambers of each filling along them."""
    model = Model("inflated", gravity=(0.1, -0.2, -0.9))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4, up=(0, 0, 1), mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    a, b = (_brick(model, f"body {k}", k + 2, moving=False) for k in range(2))
    for k, body in enumerate((a, b)):
        model.add_bushing(f"soft {k}", model.ground, body, 80.0, at=(0.1, k + 2, 0.2))
    along = [[rod.at(k / 4, (0, y, 0)) for k in range(5)] for y in (0.1, -0.1)]
    model.add_chamber("blown", along[0], 0.2, pressure=signals.Constant(4.0))
    model.add_chamber(
        "sealed", [*along[1], "ground@2,0,1"], 0.2, gas_pressure=9.0, ambient=8.0, dead_volume=0.1
    )
    model.add_chamber("isothermal", [a, "ground@0,3,2"], 0.5, gas_pressure=8.0, ambient=5.0, exponent=1.0)
    model.add_chamber("filled", [a.at((0, 0.1, 0.1)), b, b.at((0, 0.1, 0)), rod.end], 0.1, bulk_modulus=300.0)
    model.add_chamber("full", [b.at((0, 0, 0.1)), "ground@0,4,1"], 0.3)
    pumped = {"volume": signals.Constant(0.16), "bulk_modulus": 90.0}
    model.add_chamber("pumped", [rod.at(0.5), a], 0.1, dead_volume=0.01, **pumped)
    return model


def strung() -> Model:
    """Hanging strings: damped and pulled, relaxing and contracting, inextensible with a body on a tendon, one on the floor."""
    model = Model("strung", gravity=OBLIQUE)
    body = model.add_body("body", BRICK, position=(0.5, 2.0, -0.8))
    numbers: dict = {"EA": 60.0, "mass_per_length": 1.5}
    sections = {
        "relaxing": Section.string(**numbers, slack=False).with_relaxation(0.05, 0.5),
        "damped": Section.string(**numbers, damping_time=0.02),
        "inextensible": Section.string(**numbers | {"EA": "inextensible"}),
        "lying": Section.string(**numbers, radius=0.05),
    }
    for k, (name, section) in enumerate(sections.items()):
        rod = model.add_rod(name, curves.catenary((0, k, 0), (1, k, 0), 1.3), section, 4)
        model.add_joint(f"start of {name}", "spherical", model.ground, rod.start)
        model.add_joint(f"end of {name}", "spherical", model.ground, rod.end)
    strings = model.rods
    model.add_force("pull", strings["damped"].at(0.5), (0.1, 0.2, 0.3))
    model.add_distributed_load("wind", strings["damped"], (0, 0.2, 0))
    model.add_moving_force("climber", strings["damped"], 0.4, (0, 0, -0.3))
    model.add_actuation("contracting", strings["relaxing"], "Gamma1", signals.Constant(-0.01))
    model.add_mass_damping("air", strings["relaxing"], 0.3)
    model.add_tendon("sling", ["ground@0,2,0", strings["inextensible"].at(0.5), body], stiffness=30.0)
    model.add_spring("hook", strings["inextensible"].at(0.5), body, 80.0)
    model.add_contact(
        "rubbing",
        strings["lying"],
        model.add_plane("floor", model.ground.at((0, 0, -0.415)), (0, 0, 1)),
        300.0,
        friction=0.5,
    )
    return model


def kirchhoff() -> Model:
    """Clamped rods that do not stretch, do not shear or do neither, one with a body at its end, one with a law."""
    model = Model("kirchhoff", gravity=OBLIQUE)
    numbers: dict = {"EA": 60.0, "GA": 50.0, "GJ": 0.3, "EI": (0.5, 0.4), "damping_time": 0.02}
    masses = {"mass_per_length": 1.5, "inertia_per_length": (0.02, 0.01, 0.015)}
    rigid = {"stretch": {"EA": "rigid"}, "shear": {"GA": "rigid"}, "neither": {"EA": "rigid", "GA": "rigid"}}
    for k, (name, stiffness) in enumerate(rigid.items()):
        section = Section.from_stiffness(**numbers | stiffness | masses)
        section = section.with_law("softening", moment=0.5) if name == "shear" else section
        rod = model.add_rod(name, [(0, k, 0), (0.4, k + 0.1, 0.1), (1, k, 0)], section, 4, mass="lumped")
        model.add_joint(f"clamp of {name}", "clamp", rod.start)
    body = model.add_body("body", BRICK, position=(1.1, 2.0, 0.0))
    model.add_joint("weld", "weld", model.rods["neither"].end, body)
    model.add_spring("hook", model.rods["stretch"].end, body, 3.0)
    return model


def reeved() -> Model:
    """A clamped rod, two bodies on bushings and a drum on a hinge, with tendons over pulleys of each kind, one of them off."""
    model = Model("reeved", gravity=(0.1, -0.2, -0.9))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4, up=(0, 0, 1), mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    a, b = (_brick(model, f"body {k}", k + 2, moving=False) for k in range(2))
    for k, body in enumerate((a, b)):
        model.add_bushing(f"soft {k}", model.ground, body, 80.0, at=(0.1, k + 2, 0.2))
    drum = _brick(model, "drum", 6, moving=False)
    model.add_joint("hinge", "revolute", "ground", drum, at=(0.1, 6, 0.2), axis=(1, 0, 0))
    model.add_spring("coil", "ground", drum, 3.0, along="rotation", axis=(1, 0, 0))
    x = (1, 0, 0)
    model.add_tendon("hoist", [a, Pulley("ground@0.1,2.5,2", x, 0.2, -1), b.at((0, 0, 0.1))])
    over = [Pulley(b.at((0, 0, 0.2)), x, 0.1, -1), Pulley("ground@0.1,5,1.5", x, 0.2, -1)]
    model.add_tendon("sling", [a.at((0, 0, 0.1)), *over, Drum(drum, x, 0.1, -1)], stiffness=9.0)
    wheels = [Drum(drum, x, 0.1), Drum("ground@0.1,5,0.4", x, 0.2, -1)]
    model.add_belt("belt", wheels, EA=4.0, pretension=0.2)
    off = [rod.end, Pulley("ground@1,0.5,-0.4", x, 0.2, -1), "ground@1,1,0.5"]
    model.add_tendon("off", off, signals.Constant(0.4))
    winch = [rod.at(0.5), Pulley("ground@0.5,0.5,1", x, 0.1, -1), "ground@0.5,2,0.2"]
    model.add_tendon("winch", winch, stiffness=5.0, length=signals.Constant(2.4))
    return model


def sliding() -> Model:
    """Two bodies on bushings, one sliding on the ground, both on each other: bristles that stick and slide."""
    model = Model("sliding", gravity=OBLIQUE)
    bodies = [_brick(model, f"body {k}", k) for k in range(2)]
    for k, body in enumerate(bodies):
        model.add_bushing(f"soft {k}", model.ground, body, 80.0, at=(0.1, k, 0.2))
    model.add_interaction("sole", JENKINS[1], model.ground, bodies[0], k=50.0, limit=0.5, z=[0.002])
    model.add_interaction("rubbing", JENKINS[3], *bodies, k=90.0, limit=0.8, z=[0.0, 0.0, -0.001])
    return model


def on_planes() -> Model:
    """A clamped rod and a body on a bushing, both on the floor with sliding and rolling friction."""
    model = Model("on_planes", gravity=OBLIQUE)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 3)
    model.add_joint("clamp", "clamp", rod.start)
    body = _brick(model, "body", 2, moving=False)
    model.add_bushing("soft", model.ground, body, 80.0, at=(0.1, 2, 0.2))
    floor = model.add_plane("floor", model.ground.at((0, 0, -0.1)), (0, 0, 1))
    foot = model.add_sphere("foot", body.at((0, 0, -0.2)), 0.1)
    disc = model.add_body("disc", Cylinder(0.3, 0.1, density=100.0), (2, 2, -0.054))
    model.add_bushing("loose", model.ground, disc, 80.0, at=(2, 2, -0.054))
    model.add_contact("standing", model.add_solid("disc", disc), floor, 2000.0, friction=0.3, restitution=0.9)
    model.add_contact("rubbing", rod, floor, stiffness=300.0, radius=0.1, friction=0.5)
    model.add_contact(
        "rolling", foot, floor, stiffness=2000.0, restitution=0.9, friction=Friction(0.4, rolling=0.01)
    )
    return model


def touching() -> Model:
    """Clamped crossing rods, a ball on one of them and a body next to the ball, all with friction; capsules, boxes and a tray
    with
    parts in a separate place.
    """
    model = Model("touching", gravity=OBLIQUE)
    rods = []
    for name, ends in (("low", [(0, 0, 0), (1, 0, 0)]), ("high", [(0.5, -0.5, 0.195), (0.5, 0.5, 0.195)])):
        rods.append(model.add_rod(name, ends, SOFT, 3))
        model.add_joint(f"clamp of {name}", "clamp", rods[-1].start)
    spheres = []
    for k, place in enumerate(((0.2, 0.0, 0.195), (0.2, 0.0, 0.39))):
        body = model.add_body(f"body {k}", BRICK, position=place)
        model.add_bushing(f"soft {k}", model.ground, body, 80.0, at=place)
        spheres.append(model.add_sphere(f"ball {k}", body, 0.1))
    rubbing = {"friction": 0.3, "restitution": 0.9}
    model.add_contact("rods", rods, stiffness=2000.0, radius=0.1, stations=4, **rubbing)
    model.add_contact("balls", spheres, stiffness=400.0, **rubbing)
    model.add_contact("ball on rod", spheres[0], rods[0], stiffness=300.0, radius=0.1, **rubbing)
    capsules, axis = [], [(0, 0, -0.1), (0, 0, 0.1)]
    for k, place in enumerate(((0.8, 0.0, 0.295), (0.8, 0.195, 0.3))):
        body = model.add_body(f"long {k}", BRICK, position=place)
        model.add_bushing(f"round {k}", model.ground, body, 80.0, at=place)
        capsules.append(model.add_solid(f"capsule {k}", body.at((0, 0, 0)), axis, 0.1))
    post = model.add_solid("post", model.ground.at((0.2, 0.195, 0.39)), axis, 0.1)
    model.add_contact("capsules", capsules, stiffness=400.0, **rubbing)
    model.add_contact("capsule on rod", capsules[0], rods[0], stiffness=2000.0, radius=0.1, stations=4)
    model.add_contact("ball on capsule", spheres[1], post, stiffness=300.0)
    boxes = []
    for k, place in enumerate(((2.0, 0.0, 0.0), (2.03, 0.02, 0.196))):
        body = model.add_body(f"block {k}", Box(0.2, 0.2, 0.2, mass=8.0), position=place)
        model.add_bushing(f"about {k}", model.ground, body, 80.0, at=place)
        boxes.append(model.add_solid(f"block {k}", body, radius=0.05))
    aside = model.add_sphere("aside", model.ground.at((2.0, -0.196, 0.01)), 0.1)
    model.add_contact("boxes", boxes, stiffness=400.0, **rubbing)
    model.add_contact("ball on box", boxes[0], aside, stiffness=300.0, **rubbing)
    pin = model.add_rod("pin", [(2.133, -0.3, 0.05), (2.133, 0.3, 0.05)], SOFT, 2)
    model.add_joint("clamp of pin", "clamp", pin.start)
    model.add_contact("pin on box", boxes[0], pin, stiffness=2000.0, radius=0.035, stations=4, **rubbing)
    corners = [(2.5, -0.5, -0.1), (3.5, -0.5, -0.1), (3.5, 0.5, -0.1), (2.5, 0.5, -0.06)]
    tray = model.add_mesh(
        "tray", model.ground.at((0, 0, 0)), vertices=corners, triangles=[(0, 1, 2), (0, 2, 3)]
    )
    marble = model.add_body("marble", BRICK, position=(2.9, 0.1, 0.003))
    model.add_bushing("about marble", model.ground, marble, 80.0, at=(2.9, 0.1, 0.003))
    model.add_contact(
        "marble on tray", model.add_sphere("marble", marble, 0.1), tray, stiffness=300.0, **rubbing
    )
    needle = model.add_rod("needle", [(2.6, -0.2, -0.059), (3.4, -0.2, -0.066)], SOFT, 2)
    model.add_joint("clamp of needle", "clamp", needle.start)
    model.add_contact("needle on tray", tray, needle, stiffness=2000.0, radius=0.035, stations=4, **rubbing)
    things = []
    for name, shape, x, quat in (
        ("crate", Box(0.2, 0.2, 0.2, mass=8.0), 3.25, (1, 0, 0, 0)),
        ("can", Cylinder(0.1, 0.2, mass=8.0), 3.054, (0.5**0.5, 0.5**0.5, 0, 0)),
    ):
        body = model.add_body(name, shape, (x, -0.15, -0.004), quat)
        model.add_bushing(f"about {name}", model.ground, body, 80.0, at=(x, -0.15, -0.004))
        things.append(model.add_solid(name, body, radius=0.05))
    model.add_contact("things on tray", things, tray, stiffness=4000.0, **rubbing)
    model.add_contact("can at crate", *things, stiffness=4000.0, **rubbing)
    sheet = [(-0.1, 0, -0.1), (0.1, 0, -0.1), (0.1, 0, 0.1), (-0.1, 0, 0.1)]
    sheets, faces, half = [], [(0, 1, 2), (0, 2, 3)], 0.5**0.5
    for k, (z, quat) in enumerate(((0.0, (1, 0, 0, 0)), (0.2385, (half, 0, 0, half)))):
        body = model.add_body(f"sheet {k}", BRICK, (4.5 + 0.02 * k, 0.01, z), quat)
        model.add_bushing(f"about sheet {k}", model.ground, body, 80.0, at=(4.5, 0, z))
        sheets.append(model.add_mesh(f"sheet {k}", body, vertices=sheet, triangles=faces, radius=0.02))
    model.add_contact("sheets", sheets, stiffness=4000.0, **rubbing)
    cube = [(x, y, z) for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05)]
    hull = model.add_solid("hull", model.bodies["block 0"].at((0, 0, 0)), cube, 0.05)
    model.add_contact("hull", hull, [boxes[1], aside], stiffness=100.0, **rubbing)
    model.add_contact("pin on hull", hull, pin, stiffness=500.0, radius=0.035, stations=4, **rubbing)
    return model


def switching() -> Model:
    """A rod that lets go, an arm that is caught and released, a rope that becomes taut; loads that are switched off."""
    model = Model("switching", gravity=OBLIQUE)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 3)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_joint("pin", "spherical", model.ground, rod.end)
    arm = _brick(model, "arm", 2, moving=False)
    model.add_joint("hinge", "revolute", "ground", arm, at=(0.4, 2, 0.2), axis=(0, 1, 0))
    model.add_drive("catch", "hinge", signals.Constant(0.0))
    hung = _brick(model, "hung", 4, moving=False)
    model.add_bushing("soft", model.ground, hung, 80.0, at=(0.1, 4, 0.2))
    model.add_joint("rope", "distance", "ground@0.1,4,0.7", hung.at((0.0, 0.0, 0.1)))
    hand = model.add_controller("hand", controllers.External(0.5))
    model.add_force("push", hung, hand.output().along((1, 0, 0)))
    model.add_sensor("phi", measures.angle("ground", arm, axis=(0, 1, 0)))
    model.add_sensor("pull", measures.joint_force("pin", "force", axis=(0, 0, 1)))
    model.add_sensor("way", measures.coordinate(hung, axis=(0, 0, 1)))
    model.add_event("let go", f"t >= {2.3 * DT}", release="pin")
    model.add_event("breaks", "pull > 100", release="pin")
    model.add_event("slack", f"t >= {1.6 * DT}", release="rope", set={"hand.u": 0.0})
    model.add_event("caught", "abs(phi) > 0.02", engage="catch")
    model.add_event("loose", f"t >= {5.2 * DT}", release="catch")
    return model


def submerged() -> Model:
    """A clamped rod and bodies on bushings in a fluid at rest and in a current."""
    model = Model("submerged", gravity=OBLIQUE)
    flow = fluids.Profile([-1.0, 0.5, 2.0], [[0.5, 0.1, 0.0], [1.0, -0.2, 0.3], [0.4, 0.6, 0.1]])
    pool, stream = model.add_fluid("pool", 30.0), model.add_fluid("stream", 20.0, flow, factor=1.1)
    for k, fluid in enumerate((pool, stream)):
        rod = model.add_rod(f"reed {k}", [(0, 3.0 * k, 0), (1, 3.0 * k, 0.2)], SOFT, 3, mass="lumped")
        model.add_joint(f"clamp {k}", "clamp", rod.start)
        model.add_submerged_rod(
            f"wet reed {k}", rod, fluid, 0.3, tangential_drag=0.1, tangential_added_mass=0.2
        )
        angles = np.linspace(-180.0, 180.0, 25)
        polar = fluids.Polar(angles, np.sin(np.radians(2 * angles)), 0.1 + np.abs(np.sin(np.radians(angles))))
        model.add_airfoil(
            f"vane {k}", rod, fluid, polar, [(0, 0.2), (1, 0.1)], twist=20.0, centre=0.25, between=(0.1, 0.9)
        )
        for j, added in enumerate(([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 0.1, 0.2, 0.3])):
            body = _brick(model, f"block {k}{j}", 3 * k + j + 1)
            model.add_bushing(f"mooring {k}{j}", "ground", body, 80.0, at=(0.1, 3 * k + j + 1, 0.2))
            at, volume = body.at((0.0, 0.0, 0.05 * j)), 0.03
            model.add_submerged_body(
                f"wet block {k}{j}", at, fluid, volume=volume, drag_area=(0.1, 0.2, 0.3), added_mass=added
            )
    return model


MODELS: dict[str, Callable[[], Model]] = {
    make.__name__: make
    for make in (
        joints,
        forces,
        rods,
        midpoints,
        pressed,
        relaxing,
        drives,
        shaken,
        geared,
        loaded,
        sampled,
        inertial,
        sensed,
        varying,
        tendons,
        roped,
        inflated,
        strung,
        kirchhoff,
        reeved,
        kinds,
        texts,
        driven,
        actuated,
        sliding,
        on_planes,
        touching,
        switching,
        submerged,
        whirling,
    )
}
