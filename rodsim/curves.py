"""Curves for rods: the catenary, and any curve as a function of its arc length."""

from rodsim.components.catenaries import catenary as catenary
from rodsim.components.space_curves import by_length as by_length

__all__ = ["by_length", "catenary"]
