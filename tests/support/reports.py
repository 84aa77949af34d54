"""Shared models and helpers: reports."""

from rodsim import Box, Model, Section, signals

NASTY = "</script><img src=x onerror=alert(1)> & \"quoted\" 'b'"


def model(name="hung box", rod_name="cord"):
    """A cord suspended from the ground, a box at its end, a spring and a force."""
    made = Model(name, gravity=(0, 0, -9.81))
    section = Section.from_stiffness(
        EA=3e3, GA=2e3, GJ=5.0, EI=(8.0, 6.0), mass_per_length=0.5, inertia_per_length=0.01, radius=0.02
    )
    rod = made.add_rod(rod_name, [(0, 0, 0), (1, 0, 0)], section, n_elements=5)
    box = made.add_body("box", Box(0.2, 0.1, 0.1, density=500), position=(1.1, 0, 0))
    made.add_joint("pin", "spherical", made.ground, rod.start)
    made.add_joint("hinge", "revolute", rod.end, box, axis=(0, 1, 0))
    made.add_spring("string", made.ground.at((1, 0.4, 0.3)), box.at((0, 0, 0)), stiffness=40.0, damping=1.0)
    push = signals.Triangle(peak=1.0, t_peak=0.02, t_end=0.04)
    made.add_force("push", rod.end, push.along((0, 2, 0)))
    return made
