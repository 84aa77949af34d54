"""Names and order of the columns of the audit table: energies, momenta, residuals and Newton statistics of each output."""

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
    # a solve is that of a step or substep; failed attempts are counted, too
    "newton_mean",  # mean number of Newton iterations per solve since the last output
    "newton_max",  # largest number of Newton iterations of a solve since the last output
    "halvings",  # step halvings since the last output
)

# J, energy removed by the integrator; computed from the states, no column of the table, see `Result.algorithmic`
ALGORITHMIC = "algorithmic"
