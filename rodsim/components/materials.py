"""Define `Material`, a linear elastic, Kelvin-Voigt viscous material."""

from __future__ import annotations

from dataclasses import dataclass

from rigid.checks import number
from rigid.errors import ModelError

_NOT_GIVEN = float("nan")


@dataclass(frozen=True)
class Material:
    """Describe a linear elastic, Kelvin-Voigt viscous material.

    Parameters
    ----------
    E : float
        Young's modulus, Pa.
    nu : float, optional
        Poisson's ratio, in (-1, 0.5]. Give either `nu` or `G`.
    density : float
        Density, kg/m^3; 0 for rods without mass, in equilibria and modes.
    G : float, optional
        Shear modulus, Pa.
    shear_factor : float, default 5/6
        Shear correction factor, multiplies G A.
    damping_time : float, default 0.0
        Ratio of viscosity to stiffness, D = damping_time C, s.

    Raises
    ------
    ModelError
        If a number is outside its bounds, the density is not given, or both or neither of `nu` and `G` are given.

    Examples
    --------
    >>> from rodsim import Material
    >>> Material(E=2e11, nu=0.3, density=7800.0).shear_modulus
    76923076923.07692
    """

    E: float
    nu: float | None = None
    density: float = _NOT_GIVEN
    G: float | None = None
    shear_factor: float = 5 / 6
    damping_time: float = 0.0

    def __post_init__(self) -> None:
        for what in ("E", "shear_factor"):
            self._set(what, number("Material", what, getattr(self, what), positive=True))
        if self.density is _NOT_GIVEN:
            raise ModelError("Material: density is not given; give it, or 0 for rods without mass")
        density = number("Material", "density", self.density, at_least=0.0)
        self._set("density", number("Material", "density", density, positive=density > 0.0))
        self._set("damping_time", number("Material", "damping_time", self.damping_time, at_least=0.0))
        if (self.nu is None) == (self.G is None):
            raise ModelError(
                f"Material: give either nu or G, not {'both' if self.G is not None else 'neither'}"
            )
        if self.nu is not None:
            self._set("nu", number("Material", "nu", self.nu))
            if not -1.0 < self.nu <= 0.5:
                raise ModelError(f"Material: nu = {self.nu} is outside (-1, 0.5]; give a ratio within")
        if self.G is not None:
            self._set("G", number("Material", "G", self.G, positive=True))

    def _set(self, what: str, value: float) -> None:
        object.__setattr__(self, what, value)

    @property
    def shear_modulus(self) -> float:
        """Shear modulus G, Pa."""
        return self.G if self.G is not None else self.E / (2.0 * (1.0 + (self.nu or 0.0)))
