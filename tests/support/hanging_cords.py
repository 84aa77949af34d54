"""Shared models and helpers: cords."""

from rodsim import Material, Model, Section


def hanging(E):
    model = Model("m", gravity=(0, 0, -9.81))
    section = Section.circular(0.01, Material(E=E, nu=0.4, density=1000))
    rod = model.add_rod("a.cord", [(0, 0, 0), (1, 0, 0)], section, 2)
    model.add_joint("root", "clamp", rod.start)
    return model
