"""Linear elastic, Kelvin-Voigt viscous materials."""

from __future__ import annotations

from dataclasses import dataclass

from rigid.checks import number
from rigid.errors import ModelError


@dataclass(frozen=True)
class Material:
    """Young's modulus E (Pa), Poisson's ratio nu or shear modulus G (Pa), density (kg/m^3).

    `shear_factor` multiplies G A; `damping_time` (s) is the ratio of viscosity to stiffness, D =
    damping_time C.
    """

    E: float
    nu: float | None = None
    density: float = 0.0
    G: float | None = None
    shear_factor: float = 5 / 6
    damping_time: float = 0.0

    def __post_init__(self) -> None:
        number("Material", "E", self.E, positive=True)
        number("Material", "density", self.density, positive=True)
        number("Material", "shear_factor", self.shear_factor, positive=True)
        number("Material", "damping_time", self.damping_time, at_least=0.0)
        if (self.nu is None) == (self.G is None):
            raise ModelError(
                f"Material: give either nu or G, not {'both' if self.G is not None else 'neither'}"
            )
        if self.nu is not None and not -1.0 < number("Material", "nu", self.nu) <= 0.5:
            raise ModelError(f"Material: nu = {self.nu} is outside (-1, 0.5]")
        if self.G is not None:
            number("Material", "G", self.G, positive=True)

    @property
    def shear_modulus(self) -> float:
        """G, Pa."""
        return self.G if self.G is not None else self.E / (2.0 * (1.0 + (self.nu or 0.0)))
