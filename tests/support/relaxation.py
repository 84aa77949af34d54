"""Shared models and helpers: relaxation."""

from rodsim import Model, Section

TAU, FRACTION = 0.2, 0.5


def bar(stretch, fixed, mass=2.0, element="se3", n_elements=1):
    """A straight bar of length 1, clamped at its start, stretched at t = 0, with its end fixed or free."""
    section = Section.from_stiffness(
        EA=1e3, GA=1e3, GJ=50, EI=60, mass_per_length=mass, inertia_per_length=1e-3 * mass
    ).with_relaxation(TAU, fraction=FRACTION)
    model = Model("bar")
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (stretch, 0, 0)],
        section,
        n_elements,
        stress_free=[(0, 0, 0), (1, 0, 0)],
        mass="lumped",
        element=element,
    )
    model.add_joint("start", "clamp", rod.start)
    if fixed:
        model.add_joint("end", "clamp", rod.end)
    return model, rod
