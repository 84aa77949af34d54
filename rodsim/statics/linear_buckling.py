"""Compute load factors at which an equilibrium ceases to be locally unique: `buckling`.

Loads that grow with a factor f move a model along equilibria x(f), from x(0) under its constant loads. If

    K(x(f)) phi + G^T y = 0,   G phi = 0                                                                      (1)

has a solution, the model may buckle. Linear buckling takes K(f) = K(0) + f K', with K' from the stresses that the loads cause
in the shape x(0): rest strains are reduced by the strains of these stresses. Then f is computed from (1) itself
(`critical_points`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import NDArray

from discretization.characteristic_length import extent
from discretization.interaction_kinds import INTERACTIONS
from discretization.linear.blas_threads import one_thread
from discretization.linearisation import eigen, prestress
from discretization.linearisation.equations import Linearised, fill_zero_diagonal
from discretization.linearisation.perturbed_state import perturb_state
from discretization.linearisation.saddle_point import SaddlePointSolver
from discretization.relaxed_system import unrelaxed_state
from discretization.state_measures import element_strains
from discretization.statics.stability import negative_pivots
from rigid import checks
from rigid.errors import ConvergenceError, ModelError
from rigid.interactions.pressure import PRESSED_EDGE
from rigid.system import Floats, State
from rigid.user_warnings import warn_user
from rodsim._compat import accept_old_arguments
from rodsim.building.build import Built, built_from
from rodsim.building.controls import refuse_controllers
from rodsim.building.equilibrium_checks import at_rest, check_determined, check_supported, part_at
from rodsim.building.model_checks import linear_rods, strains, surface_strains
from rodsim.building.phases import refuse_released
from rodsim.components.model_warnings import LinearFactorWarning, warn_about_model
from rodsim.components.parameter_changes import GRAVITY
from rodsim.components.part_lookup import check_known
from rodsim.model import Model
from rodsim.results.layout import RodLayout
from rodsim.small_motions.linear_equations import frame_names, given_loads, largest
from rodsim.small_motions.zero_energy_motions import MOST, describe_loose_motions, describe_shape
from rodsim.statics.critical_points import BIFURCATION, LIMIT, CriticalPoint, NoCriticalPoint, critical_point
from rodsim.statics.load_factors import value_rows
from rodsim.statics.proportional_loading import ProportionallyLoadedModel

LINEAR = "linear"
SAME_FACTOR, SAME_SHAPE = 1e-6, 0.9  # relative difference, and cosine in the product of M: one point
SMALL = 100  # degrees of freedom up to which linear factors are computed with full matrices
ROUNDING = 1e-13  # relative to the change of the stiffness: smaller entries of its projection are zero
STEP = 1e-3  # relative to the model's size: displacements of the differences for strains, of order 4
_LARGE = 0.1  # strain at a factor above which the factor is doubtful
_STRAIN_STEP = (
    1e-4  # displacements of the finite differences for strains, relative to the linear ones at a factor
)
_COMPRESSED = 1e-6  # relative to the largest stretch of a rod: smaller compression is round-off


class Buckling(NamedTuple):
    """The k lowest positive buckling factors, with shapes and equilibria.

    Attributes
    ----------
    factors : ndarray (k,)
        Factors of the loads.
    linear : ndarray (k,)
        Factors of linear buckling, K(0) + f K', from which `factors` were computed.
    shapes : ndarray (k, n, 6)
        Displacement and rotation of every frame; the largest displacement is 1.
    states : list of State
        Equilibria at the factors; for linear factors the equilibrium at factor zero.
    kinds : tuple of str
        "bifurcation", "limit point", or "linear: " and why no singular point was found near it.

    See Also
    --------
    rodsim.buckling : Computes buckling factors.
    """

    factors: Floats
    linear: Floats
    shapes: NDArray
    states: list[State]
    kinds: tuple[str, ...]


@accept_old_arguments
def buckling(
    model: Model | Built,
    n: int = 1,
    *,
    constant: Sequence[str] = (),
    load_time: float = 0.0,
    nonlinear: bool = True,
) -> Buckling:
    """Compute the `n` lowest factors of the loads and weights of a model at which it buckles.

    Loads grow with the factor from the equilibrium under the `constant` loads. Linear buckling gives initial values; from each,
    the point of the path of equilibria is computed at which the stiffness is singular: a bifurcation or a limit point.

    Parameters
    ----------
    model : Model or Built
        The model, or the return value of `Model.build`.
    n : int, default 1
        Number of factors.
    constant : sequence of str, default ()
        Names of loads, of entries whose numbers vary in time, or "gravity", that act in full from the beginning and do not
        grow.
    load_time : float, default 0.0
        Time at which the loads are evaluated, s.
    nonlinear : bool, default True
        Whether to refine the factors on the path of equilibria. False: return factors of linear buckling.

    Returns
    -------
    Buckling
        Factors (k,), shapes, and the equilibria at the factors.

    Raises
    ------
    ModelError
        If a load that grows has no potential (a follower load, a moment): the model may then flutter first, use `modes`.
        Also if the model is not held, is unstable before the loads grow, or no load grows.
    ConvergenceError
        If there is no equilibrium under the constant loads.

    Warns
    -----
    LinearFactorWarning
        If a factor could not be refined; the factor of linear buckling is returned instead.

    See Also
    --------
    equilibrium : With ``method="arc-length"`` it follows the path through and beyond these points.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, buckling
    >>> model = Model("column")
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (0, 0, 1)], section, 8)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> load = model.add_force("weight", rod.end, (0, 0, -1.0))
    >>> euler = buckling(model).factors[0]  # about pi^2 E I / (4 L^2), N
    """
    built = built_from("buckling", model)
    refuse_released("buckling", built)
    refuse_controllers("buckling", built)
    n = checks.count("buckling", "n", n)
    check_determined(built)
    moving, built = built, at_rest(built)
    loaded = _loaded(built, constant, load_time)
    still = np.zeros_like(built.state.v)
    start = built.state._replace(v=still, Omega=still)
    check_supported(built)
    try:
        unloaded = loaded.equilibrium_at(start, 0.0)
    except (ConvergenceError, ModelError) as error:
        _refuse(built, loaded.linear(start, 0.0))
        raise error
    state, lin = unloaded.state, unloaded.lin
    _check_potential(loaded, state)
    if _negative_pivots(lin) > 0:
        _refuse(built, lin)
    saddle = SaddlePointSolver(lin.K, lin.G)
    direction = lin.of_frames(saddle.solve(loaded.rate(lin)))
    linear, shapes = _linear(loaded, lin, saddle, direction, n)
    if np.any(np.sum(shapes * (lin.K @ shapes.T).T, axis=1) <= eigen.noise(lin, shapes)):
        _refuse(built, lin)
    if nonlinear:
        points, factors = _refined(loaded, lin, linear, shapes, n)
    else:
        factors = [float(factor) for factor in linear[:n]]
        points = [
            CriticalPoint(LINEAR, factor, state, phi) for factor, phi in zip(factors, shapes, strict=False)
        ]
    order = np.argsort([point.factor for point in points], kind="stable")
    ordered = [points[k] for k in order]
    _warn_of_strains(built, lin, direction, ordered)
    return Buckling(
        np.array([point.factor for point in ordered]),
        np.array([factors[k] for k in order]),
        _scaled(lin, np.array([point.shape for point in ordered])),
        [unrelaxed_state(moving.system, built.system, moving.state, point.state) for point in ordered],
        tuple(point.kind for point in ordered),
    )


def _refined(
    loaded: ProportionallyLoadedModel, lin: Linearised, linear: Floats, shapes: Floats, n: int
) -> tuple[list[CriticalPoint], list[float]]:
    """Return the first n distinct points to which linear factors lead, and these factors."""
    points: list[CriticalPoint] = []
    factors: list[float] = []
    M = fill_zero_diagonal(lin.M)
    for number, factor in enumerate(linear):
        if len(points) == n:
            break
        try:
            point = critical_point(loaded, lin, linear, shapes, number)
        except NoCriticalPoint as why:
            point = CriticalPoint(f"{LINEAR}: {why}", float(factor), lin.state, shapes[number])
            warn_user(
                f"model '{loaded.built.layout.name}': factor {factor:.6g} is that of linear buckling alone; {why}",
                LinearFactorWarning,
            )
        if not any(_is_same_point(point, known, M) for known in points):
            points.append(point)
            factors.append(float(factor))
    return points, factors


def _is_same_point(a: CriticalPoint, b: CriticalPoint, M: scipy.sparse.csr_matrix) -> bool:
    """Return whether two critical points are the same; a double point has two shapes and counts twice."""
    if LINEAR in a.kind or LINEAR in b.kind or abs(a.factor - b.factor) > SAME_FACTOR * b.factor:
        return False
    products = [x @ (M @ y) for x, y in ((a.shape, b.shape), (a.shape, a.shape), (b.shape, b.shape))]
    return bool(products[0] ** 2 > SAME_SHAPE**2 * products[1] * products[2])


def _loaded(built: Built, constant: Sequence[str], load_time: float) -> ProportionallyLoadedModel:
    """Return the model with constant and growing loads; raise ModelError if no load grows."""
    values, rows_by_name = given_loads("buckling", built, load_time), value_rows(built)
    constant_names = [constant] if isinstance(constant, str) else list(constant)
    is_constant = np.zeros((len(values), 1), bool)
    for name in constant_names:
        check_known("buckling", "load", name, [*rows_by_name, GRAVITY])
        is_constant[rows_by_name.get(name, [])] = True
    g, none = built.system.gravity, np.zeros(3)
    gravity = (g, none) if GRAVITY in constant_names else (none, g)
    loaded = ProportionallyLoadedModel(
        built, np.where(is_constant, values, 0.0), np.where(is_constant, 0.0, values), gravity
    )
    if not np.any(loaded.growing) and not np.any(gravity[1]):
        pressed = np.any(built.system.others.kind == INTERACTIONS.index(PRESSED_EDGE))
        cure = (
            "pressures always act in full; use `modes` under several of them"
            if pressed
            else "add one, or gravity"
        )
        raise ModelError(f"model '{built.layout.name}': no load grows with the factor; {cure}")
    return loaded


def _refuse(built: Built, lin: Linearised) -> None:
    """Raise ModelError if there is no equilibrium from which growing loads could make the model buckle; name part and cure."""
    names, size = frame_names(built.layout), extent(lin.state.r)
    try:
        free = describe_loose_motions(lin, size, names)
        many = min(max(_negative_pivots(lin), 0) + MOST, lin.free)
        mu, phi, zero = eigen.conservative(lin, many)
    except (ModelError, eigen.UnstiffenedMotionError):
        return
    if free:
        raise ModelError(f"model '{built.layout.name}' is not fully supported: {free}")
    down = (mu < 0.0) & ~np.asarray(zero, bool)
    if not down.any():
        return
    frame, description = describe_shape(lin.of_frames(phi[np.argmin(mu)]), size, names)
    raise ModelError(
        f"model '{built.layout.name}' is unstable before its loads grow: {description} without them; begin where it is stable: "
        "support it, or remove what is `constant`",
        about=[part_at(built.layout, frame)],
    )


def _negative_pivots(lin: Linearised) -> int:
    """Return the number of negative pivots of K on the motions that the joints allow; -1 if it cannot be determined."""
    stiff = float(np.median(np.abs(lin.K.diagonal()))) or 1.0
    rows = stiff * lin.G
    matrix = (
        scipy.sparse.bmat([[lin.K, rows.T], [rows, None]], format="csc")
        if rows.shape[0]
        else scipy.sparse.csc_matrix(lin.K)
    )
    return negative_pivots(matrix, np.arange(matrix.shape[0]) >= lin.size)


def _check_potential(loaded: ProportionallyLoadedModel, state: State) -> None:
    """Raise ModelError if a growing load has no potential."""
    reasons = loaded.linear(state, 1.0).unsymmetric
    if reasons:
        raise ModelError(
            f"buckling: {' and '.join(reasons)} {'has' if len(reasons) == 1 else 'have'} no potential, so that K is not "
            "symmetric and the model may flutter before it buckles; use `modes` under growing loads, or keep it `constant`"
        )


def _linear(
    loaded: ProportionallyLoadedModel, lin: Linearised, saddle: SaddlePointSolver, direction: Floats, n: int
) -> tuple[Floats, Floats]:
    """Return factors and shapes of K(0) + f K'.

    saddle: factorised K(0) with constraints; direction (n, 6): displacements of the frames for factor one.
    """
    size = extent(lin.state.r)
    farthest = largest(direction, size)
    change = prestress.change(lin, loaded.grown(lin), direction, STEP * size / (farthest or 1.0))
    name = loaded.built.layout.name
    inverse, phi = _ratios(loaded.built, lin, saddle, change, n)
    if not np.any(inverse):
        raise ModelError(f"model '{name}': its loads change no stiffness, and cannot make it buckle")
    use = np.flatnonzero(inverse > np.maximum(_rounding(lin, phi), 1e-9 * np.abs(inverse).max()))
    if not len(use):
        raise ModelError(
            f"model '{name}': {_growing(loaded)} do not make it buckle, only reversed they might, because they pull; reverse "
            "them, or let a load that presses grow"
        )
    use = use[np.argsort(-inverse[use])]
    # more than n, because close shapes are held together, and two may lead to one point
    factors, shapes = 1.0 / inverse[use], phi.T[use]
    return factors, _orthogonalised(factors, shapes, fill_zero_diagonal(lin.M))


def _growing(loaded: ProportionallyLoadedModel) -> str:
    """Return the names of the growing loads in words."""
    names = list(loaded.built.layout.description["loads"])
    sources = [f"load '{name}'" for name, value in zip(names, loaded.growing, strict=False) if np.any(value)]
    sources += ["gravity"] * bool(np.any(loaded.gravity[1]))
    return " and ".join(sources) or "its distributed loads"


def _ratios(
    built: Built, lin: Linearised, saddle: SaddlePointSolver, change: scipy.sparse.csr_matrix, n: int
) -> tuple[Floats, Floats]:
    """Return 1/f of at least n lowest factors of K(0) + f K', and their shapes (size, k)."""
    free, name = lin.free, built.layout.name
    if n > free:
        raise ModelError(f"buckling: n = {n} of a model with {free} freedoms; give at most {free}")
    failed = f"model '{name}': no buckling factors found; linear ones are those of a model that is held, and stable without them"
    if free <= SMALL:
        Z = eigen.null_space(lin.G)
        projected = -Z.T @ (change @ Z)
        projected[np.abs(projected) <= ROUNDING * abs(change).max()] = 0.0
        try:
            with one_thread(free):
                inverse, phi = scipy.linalg.eigh(projected, Z.T @ (lin.K @ Z))
        except np.linalg.LinAlgError:
            _refuse(built, lin)
            raise ModelError(failed) from None
        return inverse, Z @ phi
    # the operator P(-K') is symmetric in the product of K(0) on the motions that the joints allow, onto which P projects
    inverted = scipy.sparse.linalg.LinearOperator(
        (lin.size, lin.size), matvec=lambda x: saddle.solve(np.ravel(x)), dtype=float
    )
    start = saddle.solve(change @ saddle.solve(np.random.default_rng(1).standard_normal(lin.size)))
    many = min(n + 4, free - 2)
    ncv = min(4 * many + 20, lin.size)
    try:
        with one_thread():
            return scipy.sparse.linalg.eigsh(
                -change, many, lin.K, which="LA", Minv=inverted, v0=start, ncv=ncv
            )
    except scipy.sparse.linalg.ArpackNoConvergence as few:  # all positive ones are zero except for round-off
        _refuse(built, lin)
        if not np.any(few.eigenvalues > 0.0):
            return np.array([-1.0]), np.ones((lin.size, 1))
        return few.eigenvalues, few.eigenvectors
    except scipy.sparse.linalg.ArpackError:
        _refuse(built, lin)
        raise ModelError(failed) from None


def _orthogonalised(factors: Floats, shapes: Floats, M: scipy.sparse.csr_matrix) -> Floats:
    """Return the shapes, made orthogonal to earlier shapes of the same factor, so that each leads to a different double point."""
    for k in range(len(factors)):
        phi = shapes[k] / np.sqrt(shapes[k] @ (M @ shapes[k]))
        for before in shapes[:k][factors[k] - factors[:k] <= SAME_FACTOR * factors[k]]:
            phi = phi - (before @ (M @ phi)) * before
        shapes[k] = phi / np.sqrt(phi @ (M @ phi))
    return shapes


def _rounding(lin: Linearised, phi: Floats) -> Floats:
    """Return the round-off (k,) of phi K' phi over phi K phi: K' is a difference of stiffnesses with rounded entries."""
    shares = np.sqrt(np.sum(phi**2 * (lin.K.power(2) @ phi**2), axis=0))
    return np.asarray(eigen.NOISE * eigen.EPS * shares / np.sum(phi * (lin.K @ phi), axis=0))


def _scaled(lin: Linearised, shapes: Floats) -> Floats:
    """Return the shapes by frame (k, n, 6), scaled so that the largest displacement is 1."""
    motions = lin.of_frames(shapes)
    largest = np.abs(motions[..., :3]).max(axis=(1, 2), keepdims=True)
    return motions / np.where(largest > 0, largest, 1.0)


def _warn_of_strains(
    built: Built, lin: Linearised, direction: Floats, points: Sequence[CriticalPoint]
) -> None:
    """Warn if a factor strains rods with a linear law by more than 10 %, or if the loads mainly stretch the rods.

    A rod in tension has a shear instability near GA, which is a property of the rod model: a section that rotates gains more
    energy from the tension than shear resists. A solid yields or breaks long before.

    lin : linear equations about the equilibrium at factor zero; direction (n, 6): linear displacements for factor one
    """
    rods = linear_rods(built.layout, built.system)
    if not rods:
        return
    step = _STRAIN_STEP * max(point.factor for point in points)
    ends = [
        element_strains(lin.system, perturb_state(lin.system, lin.state, f * direction))
        for f in (step, -step)
    ]
    rate, start = (ends[0] - ends[1]) / (2.0 * step), element_strains(lin.system, lin.state)
    pulled = _are_pulled(rods, rate)
    for point in points:
        is_linear = point.kind not in (BIFURCATION, LIMIT)
        strain = start + point.factor * rate if is_linear else element_strains(lin.system, point.state)
        cure = "yield or another failure comes first: check the loads, and the units of E, GA and sizes"
        warnings_of = list(strains(rods, strain, f"at the factor {point.factor:.6g}", cure, _LARGE))
        if pulled:
            warnings_of.insert(
                0,
                f"the loads stretch its rods: the factor {point.factor:.6g} is that of the shear instability of a rod "
                "in tension, near GA, which solids do not reach; reverse the loads, or let a load that presses grow",
            )
        if warnings_of:
            return warn_about_model(built.layout.name, warnings_of)


def _are_pulled(rods: Sequence[RodLayout], rate: Floats) -> bool:
    """Return whether loads compress no rod, and stretch rods more than they bend, twist or shear them.

    `rate`: strains per unit of the load factor.
    """
    stretch = np.concatenate([rate[rod.elements, 0] for rod in rods])
    other = max(
        max(np.abs(rate[rod.elements, 1:3]).max(), surface_strains(rod, rate[rod.elements, 3:]).max())
        for rod in rods
    )
    most = stretch.max()
    return bool(most > other and stretch.min() >= -_COMPRESSED * most)
