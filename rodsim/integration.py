"""Provide `integrate` of `rodsim.mechanics`: `discretization.time.integrate`, which also accepts arguments by their old names."""

from __future__ import annotations

from discretization.time.integrate import integrate as integrate_system
from rodsim._compat import accept_old_arguments

integrate = accept_old_arguments(integrate_system)
