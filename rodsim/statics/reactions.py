"""Tables of reactions: forces and moments that supports exert on a structure."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rigid.system import Floats
from rodsim.extras import extra
from rodsim.results.atomic_write import atomic_file
from rodsim.results.errors import check_path

COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


class Reaction(NamedTuple):
    """Force and moment of a support on the structure.

    Attributes
    ----------
    force : ndarray (3,)
        Force in inertial axes, N.
    moment : ndarray (3,)
        Moment about `point` in inertial axes, N m.
    point : ndarray (3,)
        Point of the support, m.
    """

    force: Floats
    moment: Floats
    point: Floats

    def __repr__(self) -> str:
        force, moment = (", ".join(f"{x:.6g}" for x in vector) for vector in (self.force, self.moment))
        return f"<Reaction: force ({force}) N, moment ({moment}) N m>"


class Reactions(dict[str, Reaction]):
    """Reactions of one load case by the name of the support.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, equilibrium
    >>> model = Model("cantilever", gravity=(0, 0, -10.0))
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> reactions = equilibrium(model, linear=True).reactions
    >>> float(reactions["root"].force[2].round(3))
    24.504
    """

    @property
    def total(self) -> tuple[Floats, Floats]:
        """Sum of the forces (3,), N, and of the moments about the origin (3,), N m."""
        forces = np.sum([x.force for x in self.values()], axis=0) if self else np.zeros(3)
        moments = [x.moment + np.cross(x.point, x.force) for x in self.values()]
        return forces, np.sum(moments, axis=0) if self else np.zeros(3)

    def to_csv(self, path: Path | str) -> Path:
        """Write the table as text: support, its point in m, forces in N, moments in N m.

        Parameters
        ----------
        path : Path or str
            File to write, .csv.

        Returns
        -------
        Path
            The file.
        """
        return write_csv(path, {"": self})


def write_csv(path: Path | str, cases: Mapping[str, Reactions]) -> Path:
    """Write reactions of load cases as a table; without a column for the case if its name is empty."""
    target = check_path("reactions", path)
    named = any(cases)
    header = [*(["case"] if named else []), "support", "x", "y", "z", *COMPONENTS]
    with atomic_file(target, None) as file, Path(file).open("w", newline="", encoding="utf-8") as text:
        writer = csv.writer(text)
        writer.writerow(header)
        for case, reactions in cases.items():
            for name, reaction in reactions.items():
                numbers = [*reaction.point, *reaction.force, *reaction.moment]
                writer.writerow([*([case] if named else []), name, *(repr(float(x)) for x in numbers)])
    return target


def as_xarray(cases: Mapping[str, Reactions]) -> Any:
    """Return reactions as a DataArray with the dimensions case, support and component, N and N m."""
    xr = extra("xarray", "notebook", "to_xarray")
    names = list(dict.fromkeys(name for reactions in cases.values() for name in reactions))
    values = np.full((len(cases), len(names), 6), np.nan)
    for i, reactions in enumerate(cases.values()):
        for name, reaction in reactions.items():
            values[i, names.index(name)] = [*reaction.force, *reaction.moment]
    coordinates = {"case": list(cases), "support": names, "component": list(COMPONENTS)}
    return xr.DataArray(values, coordinates, ("case", "support", "component"), "reactions")
