"""The columns of the audit table: what every output says about its own quality, in this order."""

from __future__ import annotations

ENERGIES = ("kinetic", "elastic", "gravity", "spring", "total")  # J
LINEAR_MOMENTUM = ("Px", "Py", "Pz")  # kg m/s
ANGULAR_MOMENTUM = ("Lx", "Ly", "Lz")  # kg m^2/s, about the origin

COLUMNS = (
    *ENERGIES,
    "work",  # J, done by the loads since t = 0
    "dissipation",  # J, lost in dampers and viscous rods since t = 0
    *LINEAR_MOMENTUM,
    *ANGULAR_MOMENTUM,
    "constraint",  # max |g|
    "velocity_constraint",  # max |G v|
    "quat_norm",  # max ||q| - 1|
    "newton_mean",  # Newton iterations a solve (of a substep, failed attempts too), mean since the last output
    "newton_max",  # the same, largest
    "halvings",  # step halvings since the last output
)

ALGORITHMIC = "algorithmic"  # J, beside the table, from the states: what the integrator took out, see `Result.algorithmic`
