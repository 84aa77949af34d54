"""Equilibria of first-order theory: `LinearEquilibrium`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.space import rods as rod_elements
from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.building.build import Built
from rodsim.components.model_parts import Anchor, Body, Driven, Ground
from rodsim.components.parameter_changes import GRAVITY
from rodsim.components.part_lookup import find_point
from rodsim.model import Model
from rodsim.results.errors import UnknownName
from rodsim.results.layout import RodLayout
from rodsim.results.outputs import stacked
from rodsim.results.result import Result
from rodsim.results.rod_interpolation import element_arc_lengths
from rodsim.results.tabulate import tabulate
from rodsim.results.writer import MemoryWriter
from rodsim.statics.first_order import FirstOrder, Response
from rodsim.statics.reactions import Reaction, Reactions
from rodsim.statics.section_forces import SectionForces, along_rod


class LinearRod(NamedTuple):
    """One rod in first-order theory.

    Attributes
    ----------
    s : ndarray (n,)
        Stress-free arc lengths of the nodes, m.
    r : ndarray (n, 3)
        Positions of the nodes at the start, m.
    displacement : ndarray (n, 3)
        Displacements of the nodes, inertial axes, m.
    rotation : ndarray (n, 3)
        Rotations of the sections about the inertial axes, rad.
    s_element : ndarray (g,)
        Arc lengths at which N and M are given, m.
    N : ndarray (g, 3)
        Normal force and shear forces in section axes, N.
    M : ndarray (g, 3)
        Torque and bending moments in section axes, N m.
    """

    s: Floats
    r: Floats
    displacement: Floats
    rotation: Floats
    s_element: Floats
    N: Floats
    M: Floats


class JointForce(NamedTuple):
    """Force and moment of a joint on its part b, in inertial axes.

    Attributes
    ----------
    force : ndarray (3,)
        Force, N.
    moment : ndarray (3,)
        Moment about the joint's point on b, N m.
    """

    force: Floats
    moment: Floats


class LinearEquilibrium:
    """An equilibrium of first-order theory, as `equilibrium(model, linear=True)` returns it.

    Results of one model may be added and multiplied by numbers: ``1.35 * dead + 1.5 * live``.

    Parameters
    ----------
    solver : FirstOrder
        The factorised equations of the model.
    response : Response
        Displacements, multipliers of joints, and stresses.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, equilibrium
    >>> model = Model("cantilever")
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4, element="relative(4)")
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> load = model.add_force("load", rod.end, (0, 0, -10.0))
    >>> solved = equilibrium(model, linear=True)
    >>> solved.joint("root").force.round(6).tolist()
    [0.0, 0.0, 10.0]
    >>> float(solved.section_forces("rod").M[0, 1].round(6))
    10.0
    """

    def __init__(self, solver: FirstOrder, response: Response) -> None:
        self._solver, self._response = solver, response
        self.layout = solver.built.layout

    def __add__(self, other: LinearEquilibrium) -> LinearEquilibrium:
        """Return the sum of two results of one model."""
        if not isinstance(other, LinearEquilibrium):
            return NotImplemented
        if other._solver is not self._solver:
            raise ModelError("LinearEquilibrium: only results of one call of `load_cases` can be added")
        return LinearEquilibrium(self._solver, self._response.plus(other._response))

    def __mul__(self, factor: float) -> LinearEquilibrium:
        """Return this result times a number."""
        number = checks.number("LinearEquilibrium", "factor", factor)
        return LinearEquilibrium(self._solver, Response(*(number * x for x in self._response)))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"<LinearEquilibrium of '{self.layout.name}': rods {', '.join(self.rods) or 'none'}>"

    @property
    def rods(self) -> list[str]:
        """Names of the rods."""
        return [rod.name for rod in self.layout.rods]

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return [joint.name for joint in self.layout.joints]

    def rod(self, name: str) -> LinearRod:
        """Return displacements and section forces of a rod.

        Parameters
        ----------
        name : str
            Name of the rod.

        Returns
        -------
        LinearRod

        Raises
        ------
        UnknownName
            If there is no such rod.
        """
        rod, x = self._rod_layout(name), self._response.x
        stress = self._response.stress[rod.elements]
        return LinearRod(
            rod.arclength,
            self._solver.state.r[rod.frames],
            x[rod.frames, :3],
            x[rod.frames, 3:],
            element_arc_lengths(self.layout, rod),
            stress[:, :3],
            stress[:, 3:],
        )

    def joint(self, name: str) -> JointForce:
        """Return the force and the moment of a joint on its part b.

        Parameters
        ----------
        name : str
            Name of the joint.

        Returns
        -------
        JointForce

        Raises
        ------
        UnknownName
            If there is no such joint.
        """
        known = [joint for joint in self.joints if self._solver.has_constraints(joint)]
        if name not in known:
            raise UnknownName(f"no joint '{name}'; there are {', '.join(known) or 'none'}")
        return JointForce(*self._solver.joint_wrench(name, self._response.lam)[:2])

    def displacement(self, point: Anchor | str) -> Floats:
        """Return the displacement (3,) of a point of a rod or body, m.

        Parameters
        ----------
        point : Anchor or str
            A point, or its name such as "beam@0.5", "beam.end" or "block". Of a rod, the nearest node.

        Returns
        -------
        ndarray (3,)

        Raises
        ------
        ModelError
            If there is no such point.
        """
        anchor = find_point("displacement", self._solver.model, point)
        if not isinstance(anchor, Anchor) or isinstance(anchor.part, Ground | Driven):
            raise ModelError(
                f"displacement: {checks.shown(point)} is not a point of a body or a rod; name one, such as 'beam@0.5'"
            )
        if isinstance(anchor.part, Body):
            frame = next(body.frame for body in self.layout.bodies if body.name == anchor.part.name)
        else:
            rod = self._rod_layout(anchor.part.name)
            place = anchor.s * anchor.part.stress_free.length
            frame = int(rod.frames[np.argmin(np.abs(rod.arclength - place))])
        arm = anchor.position - self._solver.state.r[frame]
        x = self._response.x[frame]
        moved: Floats = x[:3] + np.cross(x[3:], arm)
        return moved

    @property
    def reactions(self) -> Reactions:
        """Forces and moments that joints, springs and bushings to the ground exert on the structure, by name."""
        table = Reactions()
        for joint in self.layout.joints:
            if joint.frames is None or not any(self._solver.lin.place[f] < 0 for f in joint.frames):
                continue
            if not self._solver.has_constraints(joint.name):
                continue
            force, moment, point = self._solver.joint_wrench(joint.name, self._response.lam)
            sign = 1.0 if self._solver.lin.place[joint.frames[1]] >= 0 else -1.0
            table[joint.name] = Reaction(sign * force + 0.0, sign * moment + 0.0, point)
        for name, wrench in self._solver.spring_wrenches(self._response.x).items():
            table[name] = Reaction(*wrench)
        return table

    def section_forces(self, rod: str) -> SectionForces:
        """Return section forces along a rod, also at the ends of its elements.

        Parameters
        ----------
        rod : str
            Name of the rod.

        Returns
        -------
        SectionForces
            Arc lengths (k,), N and M (k, 3) in section axes.

        Raises
        ------
        UnknownName
            If there is no such rod.
        """
        of_rod, solver = self._rod_layout(rod), self._solver
        all_rods = solver.system.rods
        strain = rod_elements.strains(all_rods, solver.state.r, solver.state.quat) + all_rods.points.strain0
        return along_rod(self.layout, of_rod, strain[of_rod.elements], self._response.stress[of_rod.elements])

    def nodes(self, rod: str) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the nodes of a rod.

        Parameters
        ----------
        rod : str
            Name of the rod.

        Returns
        -------
        tuple of ndarray
            Arc lengths (n,), m, positions (n, 3), m, and quaternions (n, 4) at the start, and displacements (n, 3), m.

        Raises
        ------
        UnknownName
            If there is no such rod.
        """
        of_rod, state = self._rod_layout(rod), self._solver.state
        return (
            of_rod.arclength,
            state.r[of_rod.frames],
            state.quat[of_rod.frames],
            self._response.x[of_rod.frames, :3],
        )

    @property
    def start_positions(self) -> Floats:
        """Positions of all frames at the start, (n, 3), m."""
        return self._solver.state.r

    def deformed(self, scale: float = 1.0) -> Result:
        """Return the displaced model as a result, for pictures and files.

        Its strains and energies are those of the displaced shape; forces of first-order theory are those of this object.

        Parameters
        ----------
        scale : float, default 1.0
            Factor of the displacements.

        Returns
        -------
        Result
            Two outputs: the start, and the displaced model.
        """
        factor = checks.number("deformed", "scale", scale)
        solver, layout = self._solver, self.layout.copied()
        layout.description["run"] = {"integrator": "first-order theory", "dt": 1.0, "output_every": 1}
        writer = MemoryWriter(layout)
        states = [solver.displaced(self._response.x, k * factor) for k in (0.0, 1.0)]
        writer.extend(tabulate(solver.built.system, 1.0, np.arange(2), stacked(states), np.zeros((2, 3))))
        writer.close()
        return writer.result()

    def _rod_layout(self, name: str) -> RodLayout:
        """Return the layout of a rod; UnknownName if there is none."""
        for rod in self.layout.rods:
            if rod.name == name:
                return rod
        raise UnknownName(f"no rod '{name}'; there are {', '.join(self.rods) or 'none'}")


def linear_equilibrium(
    model: Model,
    built: Built,
    loads: Mapping[str, ArrayLike] | None,
    load_time: float,
    motions: Mapping[str, Mapping[str, Any]] | None,
    factors: Mapping[str, float] | None,
) -> LinearEquilibrium:
    """Return the equilibrium of first-order theory under all loads; arguments as in `equilibrium`."""
    solver = FirstOrder(model, built, loads, load_time)
    names = [*solver.load_rows, GRAVITY]
    acting = dict.fromkeys(names, 1.0) if factors is None else dict(factors)
    response = solver.initial().plus(solver.response(acting, motions))
    return LinearEquilibrium(solver, response)
