"""Shared models and helpers: linearisation."""

from rodsim import Box, Model, Section

SECTION = Section.from_stiffness(
    EA=3e3,
    GA=(2e3, 1.5e3),
    GJ=50,
    EI=(80, 60),
    mass_per_length=2.0,
    inertia_per_length=(0.5, 0.6, 0.7),
    damping_time=0.01,
)


def everything(element="se3"):
    """A bent rod with a body, joints of all kinds, springs, dampers, and dead and follower loads."""
    model = Model("everything", gravity=(0.3, 0.1, -9.81))
    rod = model.add_rod(
        "rod",
        lambda s: (s, 0.2 * s * s, 0.1 * s**3),
        SECTION,
        n_elements=4,
        element=element,
        mass="consistent",
    )
    body = model.add_body("body", Box(0.3, 0.2, 0.1, density=100), position=(1.1, 0.3, 0.1))
    other = model.add_body("other", Box(0.2, 0.2, 0.3, density=200), position=(1.4, 0.5, 0.0))
    model.add_joint("pin", "revolute", rod.end, body, axis=(0, 1, 0.5))
    model.add_joint("rail", "prismatic", body, other, at=(1.2, 0.4, 0.05), axis=(1, 1, 0))
    model.add_joint("bar", "distance", model.ground.at((2, 0, 0)), other.at((0.1, 0, 0)))
    model.add_spring(
        "string", model.ground.at((0, 1, 0)), body.at((0, 0.1, 0)), stiffness=40.0, length=0.5, damping=3.0
    )
    model.add_spring("coil", body, rod.at(0.5), 7.0, damping=0.4, along="rotation", axis=(0, 0, 1), angle=0.3)
    model.add_force("push", rod.at(0.5, (0, 0.1, 0.05)), (5.0, 1.0, 2.0))
    model.add_force("jet", other.at((0.1, 0.05, 0)), (3.0, -2.0, 1.0), following=True)
    model.add_moment("twist", rod.end, (1.0, 2.0, -1.0))
    model.add_moment("motor", body, (0.5, 0.2, 1.0), following=True)
    return model
