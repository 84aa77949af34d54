"""`integrate` of `rodsim.mechanics`: that of `discretization.time.integrate`, which takes arguments by their old names too."""

from __future__ import annotations

from discretization.time.integrate import integrate as integrate_system
from rodsim.old_names import accept_old_arguments

integrate = accept_old_arguments(integrate_system)
