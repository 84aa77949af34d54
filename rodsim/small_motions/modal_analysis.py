"""Compute frequencies, damping and shapes of the n small motions with eigenvalues nearest to zero: `modes`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import ArrayLike, NDArray

from discretization.characteristic_length import extent
from discretization.linearisation import eigen
from discretization.linearisation.equations import Linearised
from discretization.linearisation.saddle_point import SaddlePointSolver
from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim._compat import accept_old_arguments, accept_old_methods
from rodsim.building.build import Built, built_from
from rodsim.building.equilibrium_checks import part_at
from rodsim.building.starting_states import StartLike
from rodsim.html_tables import page, table
from rodsim.model import Model
from rodsim.provenance import provenance
from rodsim.small_motions.linear_equations import frame_names, linear_about
from rodsim.small_motions.zero_energy_motions import describe_shape

RIGID, OSCILLATES, GROWS, DECAYS = "rigid", "oscillates", "grows", "decays"
AWAY = 1e-5  # largest distance from equilibrium relative to the model's size
ALIKE = 1e-9  # relative difference below which motions count as equally large
NOISE = 50.0  # factor of the round-off of positions in forces along a shape


@accept_old_methods
@dataclass(frozen=True, eq=False)
class Modes:
    """The k motions exp(lambda t) phi, one of each pair of conjugate or opposite eigenvalues.

    Attributes
    ----------
    values : ndarray (k,)
        Eigenvalues lambda, 1/s; complex.
    shapes : ndarray (k, n, 6)
        Displacement and spatial rotation of every frame; phi M phi = 1.
    kinds : tuple of str
        "rigid" (costs no energy), "oscillates", "grows" (unstable) or "decays".
    linear : Linearised
        The equations of the small motions, with the state.
    built : Built
        The model.

    See Also
    --------
    rodsim.modes : Computes modes.
    """

    values: NDArray
    shapes: NDArray
    kinds: tuple[str, ...]
    linear: Linearised
    built: Built

    @property
    def omega(self) -> Floats:
        """Angular frequencies of the damped motions (k,), rad/s."""
        return np.abs(self.values.imag)

    @property
    def frequency(self) -> Floats:
        """Frequencies of the damped motions (k,), Hz."""
        return self.omega / (2 * np.pi)

    @property
    def growth(self) -> Floats:
        """Growth rates (k,), 1/s: positive if the motion grows."""
        return np.asarray(self.values.real)

    @property
    def damping(self) -> Floats:
        """Damping ratios -Re/|lambda| (k,); zero for rigid modes."""
        size = np.abs(self.values)
        return np.where(size > 0, -self.values.real / np.where(size > 0, size, 1.0), 0.0) + 0.0  # no -0

    @property
    def stable(self) -> bool:
        """Whether no mode grows."""
        return GROWS not in self.kinds

    def largest_part(self, k: int) -> str:
        """Return the body, or node of a rod, that mode k moves most.

        A rotation counts as a displacement of 0.1 times the model's size per rad. Of frames with equal motion up to round-off,
        the first is returned.
        """
        move, rotations = (
            np.linalg.norm(self.shapes[k][:, part], axis=1) for part in (slice(0, 3), slice(3, 6))
        )
        size = extent(self.linear.state.r)
        moves = np.maximum(move, 0.1 * size * rotations)
        return frame_names(self.built.layout)(int(np.argmax(moves >= (1.0 - ALIKE) * moves.max())))

    def _repr_html_(self) -> str:
        """Return the table of modes as HTML, for notebooks."""
        header = ("mode", "Hz", "rad/s", "damping", "growth 1/s", "kind", "moves most")
        columns = (self.frequency, self.omega, self.damping, self.growth, self.kinds)
        rows = [(k + 1, *row, self.largest_part(k)) for k, row in enumerate(zip(*columns, strict=True))]
        return page(f"Modes of '{self.built.layout.name}'", table(header, rows, most=len(rows)))

    def text(self) -> str:
        """Return the modes as a table in text."""
        lines = [
            f"{'mode':>4}  {'Hz':>13}  {'rad/s':>13}  {'damping':>10}  {'growth 1/s':>12}  kind        moves most"
        ]
        for k, kind in enumerate(self.kinds):
            lines.append(
                f"{k + 1:4d}  {self.frequency[k]:13.7g}  {self.omega[k]:13.7g}  {self.damping[k]:10.3g}  "
                f"{self.growth[k]:12.5g}  {kind:10s}  {self.largest_part(k)}"
            )
        if self.linear.unsymmetric:
            lines.append(f"the stiffness is not symmetric, because of {', '.join(self.linear.unsymmetric)}")
        return "\n".join(lines)


@accept_old_arguments
def modes(
    model: Model | Built,
    n: int = 10,
    start: StartLike | None = None,
    *,
    spin: ArrayLike | None = None,
    about: ArrayLike = (0.0, 0.0, 0.0),
    load_time: float = 0.0,
    loads: Mapping[str, ArrayLike] | None = None,
    undamped: bool = False,
    anyway: bool = False,
    start_time: float | None = None,
) -> Modes:
    """Compute the `n` modes of a model whose eigenvalues are nearest to zero.

    Modes are small motions exp(lambda t) phi about the state `start`. Rigid motions of free models and motions of
    mechanisms come first, with frequency zero. With damping, spin or a follower load, the general (quadratic) eigenvalue
    problem is solved. An unstable state has modes that grow. Parts without mass follow the others quasi-statically and add no
    modes.

    Parameters
    ----------
    model : Model or Built
        The model, or the return value of `Model.build`.
    n : int, default 10
        Number of modes; fewer are returned if the model has fewer.
    start : Result, Equilibrium, State, SteadyRotation, str or Path, optional
        State to linearise about: the last state of a result or of a result file (its path), or a State. Default: the initial
        state. If it is a `SteadyRotation`, its `spin` and `about` are used, unless `spin` is given.
    spin : array_like (3,), optional
        Angular velocity of rotating axes, in which fixed parts rotate too, rad/s. Default: inertial axes.
    about : array_like (3,), default (0, 0, 0)
        A point of the axis of `spin`, m.
    load_time : float, default 0.0
        Time at which the loads are evaluated, s.
    loads : mapping of str to array_like (3,), optional
        Name of a load -> its value in place of that at `load_time`, N or N m.
    undamped : bool, default False
        Whether to leave out dampers, viscosity and relaxation.

    Returns
    -------
    Modes
        Eigenvalues (1/s), frequencies (Hz), damping ratios and shapes.

    Other Parameters
    ----------------
    anyway : bool, default False
        Whether to accept a state that is not an equilibrium. The stiffness is then the Hessian along the rotations of the
        frames.
    start_time : float, optional
        Time of a stored state of the result `start`, s; the nearest output is used. Default: the last.

    Raises
    ------
    ModelError
        If the state is not an equilibrium (the message says what would start to move), nothing can move, or as `linearise` does.

    See Also
    --------
    rodsim.linear.mode_shapes : Writes the shapes as a result, for pictures.
    buckling : Computes load factors at which the lowest frequency becomes zero.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, modes
    >>> model = Model("beam")
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 8)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> found = modes(model, 4)
    >>> print(found.text())  # doctest: +SKIP
    """
    built = built_from("modes", model)
    built.layout.description["provenance"] = provenance(model.scene if isinstance(model, Model) else None)
    n = checks.count("modes", "n", n)
    built, lin = linear_about("modes", built, start, spin, about, load_time, loads, start_time)
    if checks.flag("modes", "undamped", undamped):
        lin = lin.changed(C=None, states=lin.states and lin.states.without_branches)
    free = eigen.count_finite_eigenvalues(lin)
    if free <= 0:
        massless_unknowns = " that has mass" if len(eigen.massless_unknowns(lin)) else ""
        raise ModelError(
            f"model '{built.layout.name}': its joints leave nothing that moves{massless_unknowns}; there are no modes"
        )
    try:
        if lin.conservative:
            n = min(n, free)
            mu, phi, zero = eigen.conservative(lin, n)
            values = np.where(mu < 0, np.sqrt(np.abs(mu)), 1j * np.sqrt(np.abs(mu)))
            noise: Floats = np.zeros(len(mu))  # the signs are exact
        else:
            values, phi, zero, noise = eigen.general_spectrum(lin, n)
            norms = np.array([np.vdot(x, lin.M @ x).real for x in phi])
            phi = phi / np.sqrt(np.where(norms > 0.0, norms, 1.0))[:, None]  # zero norm: internal states only
    except eigen.UnstiffenedMotionError as floppy:
        raise ModelError(
            f"model '{built.layout.name}': {frame_names(built.layout)(floppy.frame)} has no mass, and no joint and no "
            "stiffness holds it; hold it, or give it mass"
        ) from None
    values = np.where(zero, 0.0, values)
    kinds = tuple(
        _kind(*quantities) for quantities in zip(values.tolist(), zero.tolist(), noise.tolist(), strict=True)
    )
    if not checks.flag("modes", "anyway", anyway):
        _check_equilibrium(lin, built, eigen.Spectrum(values, phi, zero, noise))
    return Modes(values, lin.of_frames(phi), kinds, lin, built)


def _kind(value: complex, zero: bool, noise: float) -> str:
    """Return the kind of a mode; noise: round-off of |value|^2, 1/s^2."""
    if zero:
        return RIGID
    # double eigenvalues are accurate to the square root of round-off
    if value.real > max(1e-6 * abs(value), noise / abs(value)):
        return GROWS
    return OSCILLATES if abs(value.imag) > 0 else DECAYS


def rounding(lin: Linearised, shapes: NDArray) -> Floats:
    """Return the round-off (k,) of the work of forces in shapes (k, size): round-off of positions times K."""
    size = max(extent(lin.state.r), float(np.abs(lin.state.r).max()))
    squares = eigen.stiffness_squares(lin) @ np.ones(lin.size)
    return np.asarray(NOISE * eigen.EPS * size * np.sqrt(np.abs(shapes) ** 2 @ squares))


def _check_equilibrium(lin: Linearised, built: Built, spectrum: eigen.Spectrum) -> None:
    """Raise ModelError if unbalanced forces would move a frame further than AWAY along the computed modes.

    Forces below their round-off are ignored.
    """
    if not np.any(lin.force):
        return
    values, phi, zero, _ = spectrum
    squares = np.abs(values) ** 2
    some = squares[squares > 0]
    # a force on a rigid mode would move it without bound: assume the stiffness of the softest other mode
    squares = np.where(squares > 0, squares, some.min() if len(some) else 1.0)
    push = phi.conj() @ lin.force
    push = push * np.maximum(1.0 - rounding(lin, phi) / np.maximum(np.abs(push), 1e-300), 0.0)
    shift = np.abs(lin.of_frames(phi * (push / squares)[:, None]))
    light = eigen.massless_unknowns(lin)
    if len(light):  # frames without mass move as far as their stiffness allows
        light_motion = np.zeros((1, lin.size))
        constraint_rows = lin.G[:, light]
        constraint_rows = scipy.sparse.csr_matrix(constraint_rows[np.diff(constraint_rows.indptr) > 0])
        light_motion[0, light] = SaddlePointSolver(
            scipy.sparse.csr_matrix(lin.K[light][:, light]), constraint_rows
        ).solve(lin.force[light])
        shift = np.concatenate([shift, np.abs(lin.of_frames(light_motion))])
    size = extent(lin.state.r)
    far = np.maximum(shift[..., :3].max(axis=2), size * shift[..., 3:].max(axis=2))
    if far.max() <= AWAY * size:
        return
    which, worst = np.unravel_index(int(np.argmax(far)), far.shape)
    names = frame_names(built.layout)
    is_unheld = which < len(zero) and bool(zero[which])
    raise ModelError(
        f"model '{built.layout.name}' is not in equilibrium: {_describe_unbalanced_force(lin, built, int(worst))} "
        + (
            f"along a motion that no joint and no stiffness holds "
            f"({describe_shape(lin.of_frames(phi[which].real), size, names)[1]}); "
            "begin with an equilibrium (start=equilibrium(model), --equilibrium), hold it by a joint or a spring, or "
            "anyway=True"
            if is_unheld
            else f"and would {_describe_distance(float(far.max()), size)}; begin with an equilibrium "
            "(start=equilibrium(model), --equilibrium), or anyway=True"
        ),
        about=[part_at(built.layout, int(worst))],
    )


def _describe_unbalanced_force(lin: Linearised, built: Built, worst: int) -> str:
    """Return in words the unbalanced force or moment on the part of frame `worst`, and the loads that act."""
    part = part_at(built.layout, worst)
    of_part = [k for k, frame in enumerate(lin.frames) if part_at(built.layout, int(frame)) == part]
    left = lin.force.reshape(-1, 6)[of_part]
    force, moment = (np.linalg.norm(left[:, axes].sum(axis=0)) for axes in (slice(0, 3), slice(3, 6)))
    what = f"{force:.3g} N" if force * extent(lin.state.r) >= moment else f"{moment:.3g} N m"
    names = list(built.layout.description["loads"])
    acting = [f"load '{name}'" for name, value in zip(names, lin.loads, strict=False) if np.any(value)]
    acting = ["gravity"] * bool(np.any(lin.system.gravity)) + acting
    by = f" under {' and '.join(acting)}" if acting else ""
    return f"{part.kind} '{part.name}' is pushed by {what}{by} that nothing balances,"


def _describe_distance(far: float, size: float) -> str:
    """Return the distance of the motion in words."""
    return (
        f"move by about {far:.3g} m" if far < size else f"move further than the model is large ({size:.3g} m)"
    )
