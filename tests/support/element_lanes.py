"""Shared models and helpers: element lanes."""

from rodsim import Section

SECTION = Section.from_stiffness(
    EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
)
