"""Define cross-sections: stiffness, viscosity, mass and rotary inertia per length, in section axes (d1 along the rod)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.space.laws import AXIAL, BENDING, LAWS
from rigid.checks import array, flag, number, numbers, shown, vector
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.components import section_files, section_shapes
from rodsim.components.materials import Material
from rodsim.components.section_energies import RIGID_STRAINS, SHEAR, STIFFNESSES, STRETCH, energy_law

if TYPE_CHECKING:
    import sympy


class Call(NamedTuple):
    """One call in the history of a section: a method of `Section` and its arguments."""

    method: str
    unnamed: tuple[Any, ...]
    named: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Section:
    """Describe the cross-section of a rod: (N, M) = C (Gamma, K) + D d(Gamma, K)/dt, and its inertia.

    Use `circular`, `tube`, `rectangle`, `from_polygon` or `from_stiffness` to make one; `from_sectionproperties`, `from_vabs` and
    `from_matrices` take sections of other programs. The methods `with_...` return a changed section.
    Axes: d1 along the rod, d2 and d3 across it.

    Parameters
    ----------
    stiffness : array_like, shape (6, 6)
        C; units N, N m and N m^2.
    mass_per_length : float
        kg/m.
    inertia_per_length : array_like, shape (3,)
        Rotary inertia about d1, d2, d3, kg m.
    damping : array_like, shape (6, 6), optional
        D; units N s, N m s and N m^2 s. By default zero.
    radius : float, default 0.0
        Radius for drawing and contact, m.
    sides : tuple of float, default (0.0, 0.0)
        Width along d2 and height along d3 of a rectangle, for drawing, m.
    law : int, default -1
        Number of a law that is added to the linear one, set by `with_law`; -1: none.
    law_parameters : tuple of float, default ()
        Parameters of the law, set by `with_law` and `with_energy`.
    law_expression : str, default ""
        Stored energy W per length as a function of all strains, set by `with_energy`.
    branch : array_like, shape (6, 6), optional
        Stiffness of the viscoelastic branch, set by `with_relaxation`; units N, N m and N m^2. By default zero.
    relaxation : float, default 0.0
        Relaxation time of the branch, s.
    center : tuple of float, default (0.0, 0.0)
        Centre of mass from the curve of the rod along d2 and d3, m, set by `with_centers`.
    product_of_inertia : float, default 0.0
        Product of inertia J23 about the centre of mass, kg m.
    modulus : float, default 0.0
        Young's modulus of the material, Pa; 0: not known.
    of_string : bool, default False
        True for the section of a string, which stretches but does nothing else: `string`.
    rigid_strains : tuple of str, default ()
        Strains that are zero, set by `with_rigid`; the stiffness and damping of these strains are 0.

    Raises
    ------
    ModelError
        If `stiffness` is not symmetric and positive definite, `damping` is not symmetric and positive semidefinite, or the
        inertia is not possible for a section.

    Examples
    --------
    >>> from rodsim import Material, Section
    >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
    >>> Section.circular(0.01, steel).mass_per_length
    2.45...
    >>> Section.tube(0.02, 0.018, steel).with_law("stiffening", strain=0.1).law_parameters
    (0.1,)
    """

    stiffness: Floats
    mass_per_length: float
    inertia_per_length: Floats
    damping: Floats = field(default_factory=lambda: np.zeros((6, 6)))
    radius: float = 0.0
    sides: tuple[float, float] = (0.0, 0.0)
    law: int = -1  # number in `discretization.space.laws.LAWS`, see `with_law`
    law_parameters: tuple[float, ...] = ()
    law_expression: str = ""  # W as a function of all strains, see `with_energy`
    branch: Floats = field(default_factory=lambda: np.zeros((6, 6)))  # see `with_relaxation`
    relaxation: float = 0.0  # relaxation time, s
    center: tuple[float, float] = (0.0, 0.0)  # centre of mass from the curve, m, see `with_centers`
    product_of_inertia: float = 0.0  # kg m, J23 about the centre of mass
    modulus: float = 0.0  # Young's modulus of the material, Pa; 0: not known
    of_string: bool = False  # see `string`
    rigid_strains: tuple[str, ...] = ()  # see `with_rigid`
    # calls that made the section, in order; empty after `dataclasses.replace` and `Section(...)`
    given: ClassVar[tuple[Call, ...]] = ()
    # left out of the keys of studies, since the fields determine the section
    NOT_IN_KEYS: ClassVar[tuple[str, ...]] = ("given",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "of_string", flag("Section", "of_string", self.of_string))
        object.__setattr__(self, "rigid_strains", _rigid_strains("Section", self.rigid_strains))
        free = self._free_strains()
        for what in ("stiffness", "damping"):
            matrix = _without_rows(array("Section", what, getattr(self, what), (6, 6)), free)
            if self.of_string:
                self._check_string(what, matrix)
                object.__setattr__(self, what, matrix)
                continue
            lowest = lowest_eigenvalue("Section", what, matrix[np.ix_(free, free)])
            if what == "stiffness" and lowest <= 0.0:
                raise ModelError(
                    f"Section: stiffness has the eigenvalue {lowest:.3g}; it must be positive definite"
                )
            if what == "damping" and lowest < -1e-12 * np.abs(matrix).max():
                raise ModelError(
                    f"Section: damping has the eigenvalue {lowest:.3g}; it must be positive semidefinite"
                )
            object.__setattr__(self, what, matrix)
        mass = number("Section", "mass_per_length", self.mass_per_length, at_least=0.0)
        number("Section", "mass_per_length", mass, positive=mass > 0.0)
        inertia = vector("Section", "inertia_per_length", self.inertia_per_length)
        if self.of_string:
            self._finish_string(mass, inertia)
            return
        if mass == 0.0 and np.any(inertia):
            raise ModelError(
                f"Section: mass_per_length = 0, but inertia_per_length = {inertia.tolist()}; give mass, or 0 for both"
            )
        for k, moment in enumerate(inertia):
            number("Section", f"inertia_per_length[{k}]", moment, positive=mass > 0.0)
        J23 = number("Section", "product_of_inertia", self.product_of_inertia)
        if inertia[1] * inertia[2] <= J23**2 and (mass > 0.0 or J23 != 0.0):
            raise ModelError(
                f"Section: product_of_inertia = {J23:.6g} is too large for the moments {inertia[1]:.6g} and {inertia[2]:.6g}; "
                "its square is below their product"
            )
        object.__setattr__(self, "product_of_inertia", J23)
        object.__setattr__(self, "mass_per_length", mass)
        object.__setattr__(self, "inertia_per_length", inertia)
        object.__setattr__(self, "radius", number("Section", "radius", self.radius, at_least=0.0))

    def _check_string(self, what: str, matrix: Floats) -> None:
        """Raise ModelError unless a matrix of a string has the entry of stretch alone."""
        if np.count_nonzero(matrix) > np.count_nonzero(matrix[0, 0]):
            raise ModelError(
                f"Section: {what} of a string has entries besides [0, 0]; a string stretches, but does nothing else"
            )
        number("Section", f"{what}[0, 0]", matrix[0, 0], at_least=0.0)

    def _finish_string(self, mass: float, inertia: Floats) -> None:
        """Check and store mass and radius of a string."""
        number("Section", "mass_per_length", mass, positive=True)
        if np.any(inertia):
            raise ModelError(
                f"Section: inertia_per_length = {inertia.tolist()} of a string, which has no rotations; give 0"
            )
        object.__setattr__(self, "mass_per_length", mass)
        object.__setattr__(self, "inertia_per_length", inertia)
        object.__setattr__(self, "radius", number("Section", "radius", self.radius, at_least=0.0))

    def _free_strains(self) -> list[int]:
        """Return the indices of the strains that the section resists with a stiffness."""
        rigid = [k for name in self.rigid_strains for k in RIGID_STRAINS[name]]
        return [k for k in range(6) if k not in rigid]

    @property
    def is_inextensible(self) -> bool:
        """True for a section that does not stretch."""
        return STRETCH in self.rigid_strains or (self.of_string and self.stiffness[0, 0] == 0.0)

    def with_rigid(self, *strains: str) -> Section:
        """Return this section without some of its strains: a rod that does not stretch or shear.

        The strains are constraints, whose multipliers are the normal and shear forces. A rod without both is the rod of
        Kirchhoff, in a plane Euler's elastica. No stiffness of these strains limits the step or the accuracy of an equilibrium.

        Parameters
        ----------
        *strains : {"stretch", "shear"}
            Strains that are zero in addition to those of the stress-free shape.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If a strain is not one of these, or the section is that of a string, has a law of these strains, or has its centre of
            stiffness off the curve.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> Section.circular(0.01, steel).with_rigid("stretch", "shear").rigid_strains
        ('stretch', 'shear')
        """
        owner = "Section.with_rigid"
        if not strains:
            raise ModelError(f"{owner}: name strains, {' or '.join(RIGID_STRAINS)}")
        if self.of_string:
            raise ModelError(
                f"{owner}: a string has no rigid strains; give Section.string(EA='inextensible', ...)"
            )
        rigid = _rigid_strains(owner, (*self.rigid_strains, *strains))
        if self.law_expression or (self.law >= 0 and LAWS[self.law].invariant == AXIAL and STRETCH in rigid):
            raise ModelError(
                f"{owner}: its law depends on a strain that would be zero; remove the law or the strain"
            )
        made = replace(self, rigid_strains=rigid)
        free = made._free_strains()
        fixed = [k for k in range(6) if k not in free]
        if np.any(self.stiffness[np.ix_(fixed, free)]):
            raise ModelError(
                f"{owner}: {' and '.join(rigid)} is coupled with other strains, and cannot be rigid; give a section whose "
                "centres are on the curve"
            )
        return made._record_call(self, Call("with_rigid", strains, {}))

    def __repr__(self) -> str:
        from rodsim.components.html_views import section_words

        if self.of_string:
            EA = "inextensible" if self.is_inextensible else f"EA {self.stiffness[0, 0]:.5g} N"
            return f"<Section: string, {section_words(self)}, {EA}>"
        EA, _, _, GJ, EI2, EI3 = np.diag(self.stiffness)
        stretch = "does not stretch" if STRETCH in self.rigid_strains else f"EA {EA:.5g} N"
        shear = ", does not shear" * (SHEAR in self.rigid_strains)
        bending = f"{EI2:.5g}" if EI2 == EI3 else f"({EI2:.5g}, {EI3:.5g})"
        return f"<Section: {section_words(self)}, {stretch}{shear}, GJ {GJ:.5g}, EI {bending} N m^2>"

    def _repr_html_(self) -> str:
        """Return tables for notebooks: stiffness, mass and other data."""
        from rodsim.components.html_views import section_html

        return section_html(self)

    def with_law(self, word: str, **parameters: float) -> Section:
        """Return this section with a law that is added to its linear one.

        Parameters
        ----------
        word : {"stiffening", "thinning", "softening", "slack"}
            "stiffening", with `strain`: N = EA Gamma (1 + (Gamma/strain)^2). "thinning": N = EA (1 - 1/e), e = 1 + Gamma, for a
            section of constant volume. "softening", with `moment` (N m): bending moments approach `moment`. "slack": no force in
            compression, N = 0 for Gamma < 0.
        **parameters : float
            `strain` (1) or `moment` (N m), as the law requires.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If the law is not known, a parameter is missing or superfluous, or the law is one of bending and bending is coupled
            with other strains.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> Section.circular(0.01, steel).with_law("softening", moment=50.0).law_parameters
        (50.0,)
        """
        words = {law.word: k for k, law in enumerate(LAWS)}
        if word not in words:
            raise ModelError(f"Section: law = {shown(word)} is not known; choose one of {', '.join(words)}")
        law = LAWS[words[word]]
        if set(parameters) != set(law.parameters):
            required = " and ".join(f"{name}=" for name in law.parameters) or "no parameters"
            raise ModelError(f"Section: law '{word}' takes {required}; give these")
        values = {name: number("Section", name, parameters[name], positive=True) for name in law.parameters}
        if law.invariant == AXIAL and STRETCH in self.rigid_strains:
            raise ModelError(f"Section: law '{word}' is one of stretch, which is rigid; remove it")
        if self.of_string and law.invariant != AXIAL:
            raise ModelError(
                f"Section: law '{word}' is one of bending, which a string does not resist; remove it"
            )
        if law.invariant == BENDING and np.any(self.stiffness[4:, :4] != 0.0) | (self.stiffness[4, 5] != 0.0):
            raise ModelError(f"Section: law '{word}' needs bending that is not coupled with other strains")
        made = replace(self, law=words[word], law_parameters=tuple(values.values()), law_expression="")
        return made._record_call(self, Call("with_law", (word,), values))

    def with_energy(self, W: str | sympy.Expr, /, **parameters: float) -> Section:
        """Return this section with the stored energy W per length, J/m, in place of its linear one.

        Parameters
        ----------
        W : str or sympy expression
            Function of Gamma1, Gamma2, Gamma3, K1, K2, K3, the strains minus the stress-free ones, in the notation of Python.
            Other names are `parameters`, or the stiffnesses EA, GA2, GA3, GJ, EI2, EI3 of this section. Functions: sqrt, exp,
            log, sin, cos, tan, sinh, cosh, tanh, atan. At rest W must be without stress and convex; its second derivatives
            there become the stiffness of the section. The damping is unchanged.
        **parameters : float
            Values of the other names in W.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If the text cannot be read, a parameter is missing or unknown, or W is not convex and without stress at rest.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> energy = "EA/2*Gamma1**2 + GA2/2*Gamma2**2 + GA3/2*Gamma3**2 + GJ/2*K1**2 + EI2/2*K2**2 + EI3/2*K3**2 + q*Gamma1**4"
        >>> Section.circular(0.01, steel).with_energy(energy, q=1e6).mass_per_length
        2.45...
        """
        if self.of_string:
            raise ModelError(
                "Section.with_energy: W depends on all six strains, but a string has stretch alone; give it `with_law`"
            )
        if self.rigid_strains:
            raise ModelError(
                f"Section.with_energy: W depends on all six strains, but {' and '.join(self.rigid_strains)} is rigid; give it "
                "`with_law`, or a section without rigid strains"
            )
        text, values, stiffness = energy_law(self.stiffness, W, parameters)
        made = replace(self, stiffness=stiffness, law=-1, law_parameters=values, law_expression=text)
        return made._record_call(self, Call("with_energy", (text,), parameters))

    def with_relaxation(
        self, time: float, fraction: float | None = None, stiffness: ArrayLike | None = None
    ) -> Section:
        """Return this section with a spring and a dashpot in series, parallel to its stiffness: the standard linear solid.

        A rod starts as if it had been strained at that moment. Requires an integrator that evaluates forces at the ends of a
        step or at one point in it, such as "em".

        Parameters
        ----------
        time : float
            Relaxation time of the branch at fixed strain, s.
        fraction : float, optional
            Ratio of the stiffness of the branch to that of the section. Give either `fraction` or `stiffness`.
        stiffness : array_like, shape (6, 6), optional
            Stiffness of the branch; units N, N m and N m^2.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If `time` is not positive, or the stiffness of the branch is not symmetric, is negative in some strain, or is zero.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> Section.circular(0.01, steel).with_relaxation(0.1, fraction=0.5).relaxation
        0.1
        """
        owner = "Section.with_relaxation"
        tau = number(owner, "time", time, positive=True)
        if (fraction is None) == (stiffness is None):
            raise ModelError(f"{owner}: give either fraction or stiffness")
        if fraction is not None:
            branch = number(owner, "fraction", fraction, positive=True) * self.stiffness
        else:
            branch = array(owner, "stiffness", stiffness, (6, 6))
            size = np.abs(branch).max()
            lowest = lowest_eigenvalue(owner, "stiffness", branch)
            if size == 0.0 or lowest < -1e-12 * size:
                raise ModelError(
                    f"{owner}: the smallest eigenvalue of stiffness is {lowest:.3g}. Expected a positive "
                    "semidefinite matrix that is not 0."
                )
        made = replace(self, branch=branch, relaxation=tau)
        return made._record_call(self, Call("with_relaxation", (time, fraction, stiffness), {}))

    @property
    def rotary_inertia(self) -> Floats:
        """Rotary inertia per length about the centre of mass, (3, 3), kg m."""
        J = np.diag(self.inertia_per_length)
        J[1, 2] = J[2, 1] = self.product_of_inertia
        return J

    def with_centers(
        self,
        mass: ArrayLike = (0.0, 0.0),
        stiffness: ArrayLike = (0.0, 0.0),
        product_of_inertia: float | None = None,
    ) -> Section:
        """Return this section with its centre of mass and its centre of stiffness and damping off the curve of the rod.

        The positions `r` of results are then those of the line of centres of mass. The strains of two lines at the distance c in
        the section are related by Gamma_c = Gamma + K x c, exactly so for a rod element of constant strain.

        Parameters
        ----------
        mass, stiffness : array_like, shape (2,), default (0, 0)
            Coordinates (x2, x3) from the curve along d2 and d3, m.
        product_of_inertia : float, optional
            Product of inertia J23 about the centre of mass, kg m. Default: that of this section.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If the section already has a law or a centre of mass off the curve.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> Section.rectangle(0.02, 0.01, steel).with_centers(mass=(0.002, 0.0)).center
        (0.002, 0.0)
        """
        if self.of_string:
            raise ModelError(
                "Section.with_centers: a string has no section axes; use a rod, or leave the centres out"
            )
        if self.law >= 0 or self.law_expression:
            raise ModelError("Section: a section with a law has its centres on the curve; give it no others")
        if self.center != (0.0, 0.0):
            raise ModelError("Section: has centres already; give both at once")
        at, of = vector("Section", "mass", mass, 2), vector("Section", "stiffness", stiffness, 2)
        if self.rigid_strains and np.any(of != at):
            raise ModelError(
                f"Section.with_centers: {' and '.join(self.rigid_strains)} is rigid, so that the centres of mass and stiffness "
                f"must coincide, got {at.tolist()} and {of.tolist()}"
            )
        _, x2, x3 = c = np.append(0.0, of - at)
        A = np.eye(6)
        A[:3, 3:] = -np.array([[0.0, -x3, x2], [x3, 0.0, -c[0]], [-x2, c[0], 0.0]])  # K x c
        J23 = self.product_of_inertia if product_of_inertia is None else product_of_inertia
        made = replace(
            self,
            stiffness=A.T @ self.stiffness @ A,
            damping=A.T @ self.damping @ A,
            branch=A.T @ self.branch @ A,
            center=(float(at[0]), float(at[1])),
            product_of_inertia=J23,
        )
        return made._record_call(self, Call("with_centers", (mass, stiffness, product_of_inertia), {}))

    @property
    def numbers(self) -> dict[str, float | Floats]:
        """Numbers from which the section was made, by their paths in scenes.

        Returns
        -------
        dict of str to float or array
            For example "radius" (m) and "material.E" (Pa) for a circular section, "EI" (N m^2) for one from stiffnesses. Empty
            if the section was made by `Section(...)` or `dataclasses.replace`.
        """
        numbers_by_path: dict[str, Any] = {}
        for name, value in self.given[0].named.items() if self.given else ():
            if isinstance(value, Material):
                of_material = {field.name: getattr(value, field.name) for field in fields(value)}
                numbers_by_path |= {f"{name}.{field}": x for field, x in of_material.items() if x is not None}
            elif value is not None and not isinstance(value, str):
                numbers_by_path[name] = value
        return numbers_by_path

    def with_numbers(self, changes: Mapping[str, ArrayLike]) -> Section:
        """Return the section with other numbers; laws, relaxation and centres are applied again as before.

        Parameters
        ----------
        changes : mapping of str to float or array
            Path -> value, such as {"radius": 0.02, "material.E": 7e10}; paths are the keys of `numbers`.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If `numbers` does not have a path, or a value is not allowed.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> Section.circular(0.01, steel).with_numbers({"radius": 0.02}).radius
        0.02
        """
        known = self.numbers
        for path in changes:
            if path not in known:
                have = ", ".join(known) or "none, since it was made of its matrices"
                raise ModelError(
                    f"Section: it has no number {shown(path)}. Its numbers: {have}", choices=list(known)
                )
        if not changes:
            return self
        first, *later_calls = self.given
        made: Section = getattr(Section, first.method)(
            **{name: _with_changes(name, value, changes) for name, value in first.named.items()}
        )
        for call in later_calls:
            made = getattr(made, call.method)(*call.unnamed, **call.named)
        return made

    def _record_constructor(self, method: str, **arguments: Any) -> Section:
        """Record the class method that made this section and its arguments; return the section."""
        object.__setattr__(self, "given", (Call(method, (), arguments),))
        return self

    def _record_call(self, before: Section, call: Call) -> Section:
        """Record that this section was made from the section `before` by the method call `call`; return the section."""
        if before.given:
            object.__setattr__(self, "given", (*before.given, call))
        return self

    @classmethod
    def _solid(
        cls,
        area: float,
        I2: float,
        I3: float,
        torsion: float,
        material: Material,
        radius: float,
        sides: tuple[float, float] = (0.0, 0.0),
    ) -> Section:
        """Make a section from area (m^2), second moments about d2 and d3 (m^4) and the torsion constant (m^4)."""
        if not isinstance(material, Material):
            raise ModelError(
                f"Section: material = {shown(material)} is not a Material; give Material(E=..., ...)"
            )
        G = material.shear_modulus
        shear = material.shear_factor * G * area
        stiffness = np.diag([material.E * area, shear, shear, G * torsion, material.E * I2, material.E * I3])
        inertia = material.density * np.array([I2 + I3, I2, I3])
        damping = material.damping_time * stiffness
        return cls(stiffness, material.density * area, inertia, damping, radius, sides, modulus=material.E)

    @classmethod
    def circular(cls, radius: float, material: Material) -> Section:
        """Return the section of a full circle.

        Parameters
        ----------
        radius : float
            Radius, m; positive.
        material : Material
            Young's modulus, Poisson's ratio, density and damping of the section.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If `radius` is not positive or `material` is not a Material.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> Section.circular(0.01, steel).radius
        0.01
        """
        r = number("Section.circular", "radius", radius, positive=True)
        I = np.pi * r**4 / 4
        made = cls._solid(np.pi * r**2, I, I, 2 * I, material, r)
        return made._record_constructor("circular", radius=radius, material=material)

    @classmethod
    def tube(cls, outer_radius: float, inner_radius: float, material: Material) -> Section:
        """Return the section of a circular tube.

        Parameters
        ----------
        outer_radius, inner_radius : float
            Radii, m; the inner one may be 0.
        material : Material
            Young's modulus, Poisson's ratio, density and damping of the section.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If `inner_radius` is negative or not smaller than `outer_radius`, or `material` is not a Material.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> Section.tube(0.02, 0.018, steel).radius
        0.02
        """
        R = number("Section.tube", "outer_radius", outer_radius, positive=True)
        r = number("Section.tube", "inner_radius", inner_radius, at_least=0.0)
        if r >= R:
            raise ModelError(f"Section.tube: inner_radius = {r} is not smaller than outer_radius = {R}")
        I = np.pi * (R**4 - r**4) / 4
        made = cls._solid(np.pi * (R**2 - r**2), I, I, 2 * I, material, R)
        return made._record_constructor(
            "tube", outer_radius=outer_radius, inner_radius=inner_radius, material=material
        )

    @classmethod
    def rectangle(cls, width: float, height: float, material: Material) -> Section:
        """Return the section of a rectangle; its torsion constant is computed from Saint-Venant's series.

        Parameters
        ----------
        width : float
            Side along d2, m; positive.
        height : float
            Side along d3, m; positive.
        material : Material
            Young's modulus, Poisson's ratio, density and damping of the section.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If a side is not positive or `material` is not a Material.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> Section.rectangle(0.02, 0.01, steel).sides
        (0.02, 0.01)
        """
        w = number("Section.rectangle", "width", width, positive=True)
        h = number("Section.rectangle", "height", height, positive=True)
        a, b = max(w, h), min(w, h)
        n = np.arange(1, 40, 2)
        torsion = (
            a * b**3 / 3 * (1 - 192 * b / (np.pi**5 * a) * np.sum(np.tanh(n * np.pi * a / (2 * b)) / n**5))
        )
        radius = float(np.sqrt(w * h / np.pi))  # circle of equal area, if no rectangle can be drawn
        made = cls._solid(w * h, w * h**3 / 12, h * w**3 / 12, float(torsion), material, radius, (w, h))
        return made._record_constructor("rectangle", width=width, height=height, material=material)

    @classmethod
    def string(
        cls,
        *,
        EA: float | str,
        mass_per_length: float,
        slack: bool = True,
        damping_time: float = 0.0,
        radius: float = 0.0,
    ) -> Section:
        """Return the section of a string: a rod that stretches, but resists neither bending nor shear nor torsion.

        The nodes of such a rod have positions alone. They can be held by points, not by directions.

        Parameters
        ----------
        EA : float or "inextensible"
            Stretching stiffness, N. A string that is "inextensible" (or whose `EA` is `math.inf`) does not stretch.
        mass_per_length : float
            Mass per length, kg/m; positive.
        slack : bool, default True
            True: the string carries no compression. False: it does, with the same stiffness, and is then unstable where
            nothing holds it sideways. A string that does not stretch carries compression, too.
        damping_time : float, default 0.0
            Ratio of viscosity to stiffness, s.
        radius : float, default 0.0
            Radius for drawing, contact and loads of a fluid, m.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If `EA` or `mass_per_length` is not positive, or a string that does not stretch has a damping time.

        Examples
        --------
        >>> from rodsim import Section
        >>> Section.string(EA=1e5, mass_per_length=0.1, radius=0.005)
        <Section: string, radius 0.005 m, 0.1 kg/m, EA 1e+05 N>
        """
        owner = "Section.string"
        rigid = EA == INEXTENSIBLE if isinstance(EA, str) else isinstance(EA, float) and np.inf == EA
        stiffness = 0.0 if rigid else number(owner, "EA", EA, positive=True)
        number(owner, "mass_per_length", mass_per_length, positive=True)
        time = number(owner, "damping_time", damping_time, at_least=0.0)
        if rigid and time > 0.0:
            raise ModelError(
                f"{owner}: damping_time = {time:g} s of a string that does not stretch; give 0, or a finite EA"
            )
        C = np.zeros((6, 6))
        C[0, 0] = stiffness
        law = _SLACK if flag(owner, "slack", slack) and not rigid else -1
        made = cls(C, mass_per_length, np.zeros(3), time * C, radius, law=law, of_string=True)
        return made._record_constructor(
            "string",
            EA=INEXTENSIBLE if rigid else EA,
            mass_per_length=mass_per_length,
            slack=slack,
            damping_time=damping_time,
            radius=radius,
        )

    @classmethod
    def from_stiffness(
        cls,
        *,
        EA: float | str | None = None,
        GA: float | Sequence[float] | str | None = None,
        GJ: float | None = None,
        EI: float | Sequence[float] | None = None,
        C: ArrayLike | None = None,
        mass_per_length: float,
        inertia_per_length: float | Sequence[float],
        damping_time: float = 0.0,
        D: ArrayLike | None = None,
        radius: float = 0.0,
    ) -> Section:
        """Return a section from its stiffnesses or stiffness matrix, and its inertia.

        Parameters
        ----------
        EA : float or "rigid", optional
            Stretching stiffness, N; "rigid" or `math.inf`: the rod does not stretch (`with_rigid`). Give either EA, GA, GJ and
            EI, or C.
        GA : float, pair of float or "rigid", optional
            Shear stiffness, one number or (GA2, GA3), N; "rigid" or `math.inf`: the rod does not shear.
        GJ : float, optional
            Torsional stiffness, N m^2.
        EI : float or pair of float, optional
            Bending stiffness, one number or (EI2, EI3), N m^2.
        C : array_like, shape (6, 6), optional
            Stiffness matrix, in place of these four; units N, N m and N m^2.
        mass_per_length : float
            Mass per length, kg/m.
        inertia_per_length : float or array_like, shape (3,)
            Rotary inertia about d1, d2, d3, or one number for all, kg m. Give 0 for mass and inertia of a rod without mass, in
            equilibria and modes.
        damping_time : float, default 0.0
            Ratio of viscosity to stiffness, D = damping_time C, s.
        D : array_like, shape (6, 6), optional
            Viscosity matrix, in place of `damping_time`; units N s, N m s and N m^2 s.
        radius : float, default 0.0
            Radius for drawing and contact, m.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If some of the four are missing, C is given as well, or both `damping_time` and D are given. If C is not symmetric
            and positive definite, or D is not symmetric and positive semidefinite.

        Examples
        --------
        >>> from rodsim import Section
        >>> numbers = {"EA": 100.0, "GA": 50.0, "GJ": 1.0, "EI": (2.0, 3.0)}
        >>> Section.from_stiffness(**numbers, mass_per_length=1.0, inertia_per_length=0.1)
        <Section: ... EA 100 N, GJ 1, EI (2, 3) N m^2>
        """
        scalars = (EA, GA, GJ, EI)
        owner = "Section.from_stiffness"
        n_given = sum(value is not None for value in scalars)
        if n_given != (4 if C is None else 0):
            raise ModelError(
                f"{owner}: give EA, GA, GJ and EI, or C, not {n_given} of the four and {'no ' * (C is None)}C"
            )
        rigid = [name for name, value in ((STRETCH, EA), (SHEAR, GA)) if _is_infinite(value)]
        if C is None:
            of_shear = (1.0, 1.0) if SHEAR in rigid else _one_or_n_numbers(owner, "GA", GA, 2)
            values = [1.0 if STRETCH in rigid else EA, *of_shear, GJ, *_one_or_n_numbers(owner, "EI", EI, 2)]
            _check_limp(owner, dict(zip(STIFFNESSES, values, strict=True)))
            given_in_order = zip(STIFFNESSES, values, strict=True)
            C = np.diag([number(owner, name, value, positive=True) for name, value in given_in_order])
        stiffness = array(owner, "C", C, (6, 6))
        time = number(owner, "damping_time", damping_time, at_least=0.0)
        if D is not None and time != 0.0:
            raise ModelError(f"{owner}: give either damping_time or D, not both")
        damping = array(owner, "D", D, (6, 6)) if D is not None else time * stiffness
        inertia = _one_or_n_numbers(owner, "inertia_per_length", inertia_per_length, 3)
        made = cls(stiffness, mass_per_length, inertia, damping, radius, rigid_strains=tuple(rigid))
        recorded = [RIGID if _is_infinite(value) else value for value in scalars]
        return made._record_constructor(
            "from_stiffness",
            **dict(zip(("EA", "GA", "GJ", "EI"), recorded, strict=True)),
            C=stiffness if EA is None else None,
            mass_per_length=mass_per_length,
            inertia_per_length=inertia_per_length,
            damping_time=damping_time,
            D=None if D is None else damping,
            radius=radius,
        )

    @classmethod
    def from_polygon(
        cls,
        points: ArrayLike,
        holes: Sequence[ArrayLike] = (),
        *,
        material: Material,
        origin: ArrayLike | None = None,
        torsion_constant: float | None = None,
        shear_areas: ArrayLike | None = None,
        shear_center: ArrayLike | None = None,
    ) -> Section:
        """Return the section of a polygon, with holes.

        Area and second moments are exact. Torsion and shear constants are computed by the library sectionproperties, which
        `pip install 'rodsim[sections]'` installs, unless `torsion_constant` is given. The section stores them, so that a saved
        scene needs no library.

        Parameters
        ----------
        points : array_like, shape (k, 2)
            Corners (x2, x3) along d2 and d3 in order, m. The last side joins the last corner with the first.
        holes : sequence of array_like, shape (k, 2), default ()
            Corners of holes, m.
        material : Material
            Young's modulus, Poisson's ratio, density and damping of the section.
        origin : array_like, shape (2,), optional
            Point through which the curve of the rod passes, in the coordinates of `points`, m. Default: the centroid.
        torsion_constant : float, optional
            Torsion constant J, m^4: the torsional stiffness is G J. Default: computed.
        shear_areas : array_like, shape (2,) or (2, 2), optional
            Areas A2 and A3 of the shear stiffnesses G A2 and G A3, m^2; or a symmetric matrix of areas. Default: computed, for a
            Poisson's ratio of 0. With `torsion_constant`: area times `shear_factor` of the material.
        shear_center : array_like, shape (2,), optional
            Shear centre in the coordinates of `points`, m. Default: computed. With `torsion_constant`: the centroid.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If the boundary crosses itself or encloses no area, a hole is not inside, or `torsion_constant` is not given and
            sectionproperties is not installed.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> steel = Material(E=2e11, nu=0.3, density=7800.0)
        >>> triangle = [(0, 0), (0.02, 0), (0.01, 0.03)]
        >>> Section.from_polygon(triangle, material=steel, torsion_constant=1.4e-8)
        <Section: ... 2.34 kg/m, EA 6e+07 N, ...>
        """
        owner = "Section.from_polygon"
        if not isinstance(material, Material):
            raise ModelError(
                f"{owner}: material = {shown(material)} is not a Material; give Material(E=..., ...)"
            )
        boundary = section_shapes.outline(owner, "points", points)
        inner = tuple(section_shapes.outline(owner, f"hole {k}", hole) for k, hole in enumerate(holes))
        section_shapes.check_holes(owner, boundary, inner)
        region = section_shapes.Region(boundary, inner, material.E, material.density)
        area = section_shapes.moments([region], "area")
        if torsion_constant is None:
            if shear_areas is not None or shear_center is not None:
                raise ModelError(
                    f"{owner}: shear_areas or shear_center needs torsion_constant; give it, too, or none of them"
                )
            torsion, areas, center = section_shapes.solved_shear(owner, boundary, inner)
        else:
            torsion = number(owner, "torsion_constant", torsion_constant, positive=True)
            areas = _shear_areas(owner, shear_areas, material.shear_factor * area.total)
            center = area.center if shear_center is None else vector(owner, "shear_center", shear_center, 2)
        at = None if origin is None else vector(owner, "origin", origin, 2)
        G = material.shear_modulus
        shear = section_shapes.Shear(G * torsion, G * areas, center)
        made = cls._of_regions([region], shear, at, material.damping_time, material.E)
        return made._record_constructor(
            "from_polygon",
            points=boundary,
            holes=inner,
            material=material,
            origin=at,
            torsion_constant=torsion,
            shear_areas=areas,
            shear_center=center,
        )

    @classmethod
    def from_sectionproperties(
        cls,
        shape: object,
        *,
        material: Material | None = None,
        unit: float = 1.0,
        origin: ArrayLike | None = None,
    ) -> Section:
        """Return the section of a geometry of the library sectionproperties: any shape, thin-walled or composite.

        The x axis of the geometry is along d2, its y axis along d3. Area, mass and second moments are those of its polygons;
        torsion constant, shear stiffnesses and shear centre are computed by the library. `pip install 'rodsim[sections]'`
        installs it.

        Parameters
        ----------
        shape : Geometry, CompoundGeometry or Section of sectionproperties
            The geometry. Without a mesh, one of about 1000 triangles is made.
        material : Material, optional
            Material of a geometry that has none.
        unit : float, default 1.0
            Metres in the unit of length of the geometry: 1e-3 if it is in millimetres. Moduli of its materials are then in N per
            square unit, and densities in kg per cubic unit.
        origin : array_like, shape (2,), optional
            Point through which the curve of the rod passes, in the coordinates of the geometry and its unit. Default: the centre
            of the axial stiffness.

        Returns
        -------
        Section
            For a composite, GJ and shear stiffnesses are exact if Poisson's ratios are equal; else the library uses their mean.

        Raises
        ------
        ModelError
            If `shape` is of another type, has materials although `material` is given, or has none without it; or if the library
            is not installed.

        Examples
        --------
        >>> from rodsim import Material, Section
        >>> from sectionproperties.pre.library import i_section  # doctest: +SKIP
        >>> profile = i_section(d=200, b=100, t_f=8.5, t_w=5.6, r=12, n_r=8)  # doctest: +SKIP
        >>> steel = Material(E=2.1e11, nu=0.3, density=7850.0)
        >>> Section.from_sectionproperties(profile, material=steel, unit=1e-3)  # doctest: +SKIP
        <Section: ...>
        """
        owner = "Section.from_sectionproperties"
        scale = number(owner, "unit", unit, positive=True)
        section = section_shapes.meshed(owner, shape)
        shear, composite = section_shapes.shear_of(section, scale)
        if composite and material is not None:
            raise ModelError(f"{owner}: the geometry has materials of its own; leave material out")
        if not composite and not isinstance(material, Material):
            raise ModelError(
                f"{owner}: the geometry has no materials, and material = {shown(material)}; give Material(E=..., ...)"
            )
        E, density = (material.E, material.density) if material is not None else (1.0, 1.0)
        regions = section_shapes.regions_of(section.geometry, scale, E, density)
        if material is not None:
            G = material.shear_modulus
            shear = section_shapes.Shear(G * shear.torsion, G * shear.areas, shear.center)
        at = None if origin is None else scale * vector(owner, "origin", origin, 2)
        made = cls._of_regions(regions, shear, at, material.damping_time if material else 0.0, 0.0)
        about_center = cls.from_stiffness(
            C=made.stiffness,
            mass_per_length=made.mass_per_length,
            inertia_per_length=made.inertia_per_length.tolist(),
            damping_time=material.damping_time if material else 0.0,
            radius=made.radius,
        )
        return about_center.with_centers(made.center, made.center, made.product_of_inertia)

    @classmethod
    def _of_regions(
        cls,
        regions: Sequence[section_shapes.Region],
        shear: section_shapes.Shear,
        origin: Floats | None,
        damping_time: float,
        modulus: float,
    ) -> Section:
        """Return the section of regions; shear: GJ, N m^2, shear stiffnesses (2, 2), N, and shear centre."""
        values = section_shapes.section_numbers(regions, shear, origin)
        radius = float(np.sqrt(section_shapes.moments(regions, "area").total / np.pi))  # circle of equal area
        return cls(
            values.stiffness,
            values.mass_per_length,
            values.inertia,
            damping_time * values.stiffness,
            radius,
            center=values.center,
            product_of_inertia=values.product_of_inertia,
            modulus=modulus,
        )

    @classmethod
    def from_matrices(
        cls, stiffness: ArrayLike, mass: ArrayLike, *, damping: ArrayLike | None = None, radius: float = 0.0
    ) -> Section:
        """Return a section from its stiffness matrix and its mass matrix, both about the curve of the rod.

        Rows and columns are along and about d1, d2, d3. The mass matrix has the form [[m I, -m hat(c)], [m hat(c), J]], with the
        centre of mass c = (0, c2, c3) and the rotary inertia J about the curve.

        Parameters
        ----------
        stiffness : array_like, shape (6, 6)
            Stiffness of (Gamma, K); units N, N m and N m^2.
        mass : array_like, shape (6, 6)
            Mass per length; units kg/m, kg and kg m.
        damping : array_like, shape (6, 6), optional
            Viscosity of (Gamma, K); units N s, N m s and N m^2 s. Default: zero.
        radius : float, default 0.0
            Radius for drawing and contact, m.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If a matrix is not symmetric, the stiffness is not positive definite, or the mass matrix is not that of a section.

        Examples
        --------
        >>> import numpy as np
        >>> from rodsim import Section
        >>> mass = np.diag([2.0, 2.0, 2.0, 0.3, 0.1, 0.2])
        >>> Section.from_matrices(np.diag([100.0, 50.0, 50.0, 1.0, 2.0, 3.0]), mass)
        <Section: ... EA 100 N, GJ 1, EI (2, 3) N m^2>
        """
        owner = "Section.from_matrices"
        m, center, J = section_files.mass_of(owner, array(owner, "mass", mass, (6, 6)))
        made = cls.from_stiffness(
            C=stiffness,
            mass_per_length=m,
            inertia_per_length=np.diag(J).tolist(),
            D=damping,
            radius=radius,
        )
        if np.any(center) or J[1, 2] != 0.0:
            return made.with_centers(center.tolist(), product_of_inertia=float(J[1, 2]))
        return made

    @classmethod
    def from_vabs(
        cls, path: Path | str, *, units: tuple[float, float, float] = (1.0, 1.0, 1.0), radius: float = 0.0
    ) -> Section:
        """Return the section of a VABS result file (.K): its Timoshenko stiffness matrix and its mass matrix.

        The axes x1 (along the rod), x2 and x3 of VABS become d1, d2 and d3; the curve of the rod is its reference line.

        Parameters
        ----------
        path : path-like
            The file.
        units : tuple of float, default (1, 1, 1)
            The file's units of force, length and mass in N, m and kg.
        radius : float, default 0.0
            Radius for drawing and contact, m.

        Returns
        -------
        Section

        Raises
        ------
        ModelError
            If the file has no Timoshenko stiffness matrix or no mass matrix, or they are not those of a section.
        OSError
            If the file cannot be read.

        See Also
        --------
        rodsim.SectionStations.from_beamdyn : Reads sections along a blade.

        Examples
        --------
        >>> from rodsim import Section
        >>> Section.from_vabs("blade.dat.K")  # doctest: +SKIP
        <Section: ...>
        """
        owner = "Section.from_vabs"
        force, length, mass = (
            number(owner, f"units[{k}]", x, positive=True)
            for k, x in enumerate(vector(owner, "units", units, 3))
        )
        matrices = section_files.read_vabs(owner, Path(path))
        scale = np.repeat([1.0, length], 3)
        return cls.from_matrices(
            force * matrices.stiffness * np.outer(scale, scale),
            mass / length * matrices.mass * np.outer(scale, scale),
            radius=radius,
        )


INEXTENSIBLE = "inextensible"  # value of EA of a string that does not stretch
RIGID = "rigid"  # value of EA or GA of a rod that does not stretch or shear
_SLACK = next(k for k, law in enumerate(LAWS) if law.word == "slack")


def _is_infinite(stiffness: Any) -> bool:
    """Return True for the value `RIGID` or infinity of a stiffness, or a pair of these."""
    if isinstance(stiffness, str):
        return stiffness == RIGID
    values = None if stiffness is None else numbers(stiffness)
    return values is not None and values.size > 0 and bool(np.all(np.isposinf(values)))


def _rigid_strains(owner: str, strains: Any) -> tuple[str, ...]:
    """Return the names of rigid strains in the order of `RIGID_STRAINS`, each once; ModelError if one is not known."""
    for name in strains:
        if name not in RIGID_STRAINS:
            raise ModelError(
                f"{owner}: {shown(name)} cannot be rigid; choose from {', '.join(RIGID_STRAINS)}"
            )
    return tuple(name for name in RIGID_STRAINS if name in strains)


def _without_rows(matrix: Floats, free: Sequence[int]) -> Floats:
    """Return a matrix (6, 6) with zeros in the rows and columns that are not in `free`."""
    if len(free) == len(matrix):
        return matrix
    reduced = np.zeros_like(matrix)
    reduced[np.ix_(free, free)] = matrix[np.ix_(free, free)]
    return reduced


def _check_limp(owner: str, values: Mapping[str, Any]) -> None:
    """Raise ModelError if a rod has no stiffness in bending or torsion, with a value that works."""
    for name in ("GJ", "EI2", "EI3"):
        if np.ndim(values[name]) == 0 and values[name] == 0.0:
            small = 1e-6 * float(number(owner, "EA", values["EA"], positive=True))
            raise ModelError(
                f"{owner}: {name} = 0, but the sections of a rod have directions, which this stiffness holds; give "
                f"Section.string(...) for a line without bending and torsion, or a small number such as {small:.3g} N m^2"
            )


def _shear_areas(owner: str, value: ArrayLike | None, default: float) -> Floats:
    """Return shear areas as a symmetric matrix (2, 2), m^2, from two numbers or the matrix."""
    if value is None:
        return default * np.eye(2)
    entries = numbers(value)
    areas = (
        np.diag(vector(owner, "shear_areas", value, 2)) if entries is not None and entries.ndim == 1 else None
    )
    if areas is None:
        areas = array(owner, "shear_areas", value, (2, 2))
    if lowest_eigenvalue(owner, "shear_areas", areas) <= 0.0:
        raise ModelError(
            f"{owner}: shear_areas = {shown(areas.tolist())} is not positive definite; give positive areas"
        )
    return areas


def lowest_eigenvalue(owner: str, what: str, matrix: Floats) -> float:
    """Return the lowest eigenvalue of a matrix (n, n); ModelError if the matrix is not symmetric."""
    if np.count_nonzero(matrix) == np.count_nonzero(matrix.diagonal()):  # diagonal, as mostly
        return float(matrix.diagonal().min())
    if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
        raise ModelError(f"{owner}: {what} is not symmetric")
    return float(np.linalg.eigvalsh(matrix)[0])


def _with_changes(name: str, value: Any, changes: Mapping[str, Any]) -> Any:
    """Return the argument `name` of a section with the changed numbers; `changes`: path -> value."""
    if not isinstance(value, Material):
        return changes.get(name, value)
    changed = {path.partition(".")[2]: x for path, x in changes.items() if path.startswith(f"{name}.")}
    return replace(value, **changed) if changed else value


def _one_or_n_numbers(owner: str, what: str, value: object, n: int) -> Floats:
    """Return n numbers (n,), from one number for all directions or from n numbers."""
    components = numbers(value)
    if components is not None and components.ndim == 0:
        return np.full(n, number(owner, what, value))
    return vector(owner, what, value, n)  # type: ignore[arg-type]
