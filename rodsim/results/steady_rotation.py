"""Hold the result of `rodsim.steady_rotation`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rigid import quaternions
from rigid.system import Floats, State
from rodsim._compat import warn_of_old_name

if TYPE_CHECKING:
    from rodsim.results.layout import Layout


@dataclass(frozen=True, eq=False)
class SteadyRotation:
    """Hold the shape of a model that rotates steadily about an axis.

    Every function with a `start` argument accepts it. `modes`, `linearise` and other linear analyses then use its rotating
    axes, unless `spin` is given; `simulate` starts with the velocities of the rotation.

    Parameters
    ----------
    model : str
        Name of the model.
    state : State
        State in axes that rotate with the model: all velocities are zero.
    spin : ndarray (3,)
        Angular velocity of the axes, rad/s.
    about : ndarray (3,)
        A point on the axis of rotation, m.
    moved_ground : tuple of Layout and int, optional
        Layout and number of the output of a result whose equilibrium has moved ground points of joints; the points are still at
        these positions. By default no ground point has moved.

    See Also
    --------
    rodsim.steady_rotation : Returns it.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, modes, simulate, steady_rotation
    >>> model = Model("bar")
    >>> section = Section.circular(0.02, Material(E=1e7, nu=0.3, density=1000))
    >>> rod = model.add_rod("rod", [(-0.5, 0, 0), (0.5, 0, 0)], section, 4)
    >>> rotation = steady_rotation(model, (0, 0, 20.0))
    >>> rotation
    <SteadyRotation of 'bar': spin [0.0, 0.0, 20.0] rad/s about [0.0, 0.0, 0.0] m>
    >>> found = modes(model, 8, start=rotation)
    >>> run = simulate(model, 0.01, 0.001, start=rotation)
    """

    model: str
    state: State
    spin: Floats
    about: Floats
    moved_ground: tuple[Layout, int] | None = field(default=None, repr=False)

    @property
    def r(self) -> Floats:
        """Positions of all frames, (n, 3), m."""
        return self.state.r

    @property
    def quat(self) -> Floats:
        """Orientations of all frames, (n, 4), unit quaternions (w, x, y, z)."""
        return self.state.quat

    @property
    def moving(self) -> State:
        """State in inertial axes, with the velocities of the rotation; the ground, frame 0, is at rest."""
        state = self.state
        v = np.cross(self.spin, state.r - self.about)
        Omega = np.einsum("kji,j->ki", quaternions.to_matrix(state.quat), self.spin)
        v[0] = Omega[0] = 0.0
        return state._replace(v=v, Omega=Omega)

    def __repr__(self) -> str:
        return f"<SteadyRotation of '{self.model}': spin {self.spin.tolist()} rad/s about {self.about.tolist()} m>"

    def __getattr__(self, name: str) -> Any:
        """Return a member of the state with a deprecation warning; before 1.0 `steady_rotation` returned the state itself."""
        if name in State._fields or name in ("_replace", "_asdict", "_fields"):
            warn_of_old_name(f"steady_rotation(...).{name}", f"steady_rotation(...).state.{name}")
            return getattr(self.state, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
