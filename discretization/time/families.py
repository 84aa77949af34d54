"""Registry of the integrator families: for each the functions of its residual and the declared facts about it.

The invariants declared for a scheme are asserted in tests/laws/test_integrators.py and similar tests. Residuals are imported,
and compiled, with the first scheme of a family.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from discretization.time.scheme import (
    FORCES,
    GAMMA,
    IMPULSES,
    INCREMENT,
    JOINTS,
    LAMBDA,
    Block,
    Energies,
    Joined,
    P,
    Q,
    Scheme,
    V,
)
from rigid.errors import ModelError
from rigid.mechanics.mechanical_system import LAGRANGE_TOP, QUATERNIONS, MechanicalSystem

_ENERGY_MOMENTUM = frozenset({"energy", "momentum", "position"})
_LIVENS = frozenset({"generalised energy", "momentum", "position"})
_MOMENTA = frozenset({"linear momentum", "angular momentum"})
# advice for the user if Newton's method fails
_PARASITIC = (
    "try a smaller h, or EMH with quaternion-alpha: it has no part p - M v that can grow with the steps"
)
_TURNS_BACK = "try a smaller h: beyond some h the equations of variational schemes have no solution"
_FULL = (Block(Q), Block(P, constant=True), Block(V), Block(LAMBDA))
_HAMILTONIAN = (Block(Q), Block(P), Block(LAMBDA))
_GGL = (Block(Q), Block(P), Block(V), Block(LAMBDA), Block(GAMMA))


# h D V(q0, q1) in the residuals of the second block; q1 is the first block
_BETWEEN_ENDS = Energies(True, np.zeros(1), np.ones((1, 1)), np.array([[0.0, 1.0]]))


def _at(theta: float) -> Energies:
    """Describe h grad V((1 - theta) q0 + theta q1) in the residuals of the second block."""
    return Energies(False, np.array([1.0 - theta]), np.array([[theta]]), np.array([[0.0, 1.0]]))


def _joined(*invariants: str, directors: tuple[str, ...] = ()) -> Joined:
    """Return the invariants of jointed bodies: `invariants` in both charts, `directors` in the director chart only."""
    return Joined(frozenset(invariants), frozenset((*invariants, *directors)))


def _livens(name: str) -> Scheme:
    from discretization.time import forcing
    from discretization.time import livens as f

    conserved = ("generalised energy", "linear momentum", "position")
    joined = _joined(*conserved, directors=("energy", "angular momentum"))

    def full(residual: Any, source: str, energies: Energies = _BETWEEN_ENDS, **facts: Any) -> Scheme:
        return Scheme(
            name,
            source,
            residual,
            f.full_update,
            _FULL,
            2,
            symmetric=True,
            singular_mass=True,
            needs_inverse=False,
            reflects_velocities=True,
            dissipates=True,
            advice=_PARASITIC,
            energies=energies,
            **{"account": forcing.account_velocities} | facts,
        )

    if name == "EML":
        return full(f.eml_residual, "000 (72), (86)", invariants=_LIVENS, joined=joined)
    if name == "MPL":
        joined = _joined("linear momentum", "position", directors=("angular momentum",))
        invariants, account = frozenset({"position"}), forcing.account_middle
        return full(
            f.mpl_residual,
            "000 (132)",
            invariants=invariants,
            joined=joined,
            account=account,
            energies=_at(0.5),
        )
    if name == "EML-kappa":
        return full(
            f.kappa_residual,
            "design of rodsim",
            invariants=_LIVENS,
            joined=_joined(*conserved, "angular momentum"),
            needs=QUATERNIONS,
            prepare=_by_torque,
        )
    scheme = full(f.eml_residual, "000 (103)", invariants=_LIVENS, joined=joined)
    if name == "REML":
        return replace(
            scheme,
            residual=f.reml_residual,
            update=f.reml_update,
            blocks=(Block(Q), Block(LAMBDA)),
            energies=_BETWEEN_ENDS._replace(into=np.ones((1, 1))),
        )
    return replace(
        scheme,
        source="000 remark 4.11",
        residual=f.null_residual,
        update=f.null_update,
        blocks=(Block(INCREMENT), Block(JOINTS)),
        needs=QUATERNIONS,
        energies=None,
    )


def _by_torque(system: MechanicalSystem) -> MechanicalSystem:
    """Return `system` in the chart whose discrete derivatives act by torques in averaged directors."""
    frames = system.data.frames._replace(by_torque=1)
    return replace(system, data=system.data._replace(frames=frames))


def _hamiltonian(name: str) -> Scheme:
    from discretization.time import forcing
    from discretization.time import hamiltonian_schemes as f

    sources = {
        "MPH": "000 (133)",
        "IMS": "004 (53)",
        "EMH": "000 (146)",
        "EMS": "004 (61)",
        "EM-G": "Gonzalez 1999; 002 sec. 6.3",
    }
    if name in ("MPH", "IMS"):
        residual, invariants, account = f.midpoint_residual, frozenset({"position"}), forcing.account_middle
        joined = _joined("linear momentum", "position", directors=("angular momentum",))
    else:
        residual, invariants, account = f.energy_momentum_residual, _ENERGY_MOMENTUM, forcing.account_ends
        conserved = ("energy", "generalised energy", "linear momentum", "position")
        joined = _joined(*conserved, directors=("angular momentum",))
    return Scheme(
        name,
        sources[name],
        residual,
        f.hamiltonian_update,
        _HAMILTONIAN,
        2,
        symmetric=True,
        reflects_velocities=True,
        account=account,
        dissipates=True,
        invariants=invariants,
        joined=joined,
        energies=_at(0.5) if name in ("MPH", "IMS") else _BETWEEN_ENDS,
    )


def _ggl(name: str) -> Scheme:
    from discretization.time import forcing
    from discretization.time import ggl as f

    if name == "VI-S":
        invariants = frozenset({"symplectic", "momentum", "position"})
        return Scheme(
            name,
            "002 (55)",
            f.vis_residual,
            f.ggl_update,
            _GGL,
            1,
            nodes=(0.0,),
            energies=_at(0.0),
            account=f.variational_account,
            invariants=invariants,
            joined=_joined("symplectic", "position", *_MOMENTA),
            advice=_TURNS_BACK,
        )
    from discretization.time import ggl_quaternions

    invariants = _LIVENS | {"velocity"}
    return Scheme(
        name,
        "002 (84)",
        f.ggl_em_residual,
        f.ggl_update,
        _GGL,
        2,
        symmetric=True,
        energies=_BETWEEN_ENDS,
        account=forcing.account_ends,
        drives=f.ggl_em_drives,
        dissipates=True,
        invariants=invariants,
        joined=_joined("energy", "generalised energy", "position", "velocity", *_MOMENTA),
        in_quaternions=Scheme(
            name,
            "002 (33), (84); design of rodsim",
            ggl_quaternions.ggl_em_residual,
            ggl_quaternions.ggl_em_update,
            (Block(Q), Block(P), Block(LAMBDA), Block(GAMMA)),
            2,
            needs=QUATERNIONS,
            prepare=_by_torque,
            account=ggl_quaternions.ggl_em_account,
            drives=ggl_quaternions.ggl_em_drives,
            energies=_BETWEEN_ENDS,
            dissipates=True,
        ),
    )


def _option_a(name: str, theta: float = 0.5) -> Scheme:
    return _variational(name, theta, 0.5)


def _option_b(name: str, theta: float = 1.0, vartheta: float = 0.5) -> Scheme:
    return _variational(name, theta, vartheta)


def _variational(name: str, theta: float, vartheta: float) -> Scheme:
    from discretization.time import ggl as f

    option = f.OPTION_A if name == "VI-A" else f.OPTION_B
    inside = 0.0 < theta < 1.0 if name == "VI-A" else 0.0 <= theta <= 1.0
    if not inside:
        raise ModelError(f"{name}: theta = {theta}; give a number in {'(0, 1)' if option == 0 else '[0, 1]'}")
    if not 0.0 < vartheta <= 1.0:
        raise ModelError(f"{name}: vartheta = {vartheta}; give a number in (0, 1]")
    symmetric = theta == 0.5 and (name == "VI-A" or vartheta == 0.5)
    advice = _TURNS_BACK
    if name == "VI-A" and theta != 0.5:
        advice = "violations of the constraints grow with every step unless theta = 0.5"
    elif name == "VI-B" and vartheta > 0.5:
        advice = "momenta normal to the constraints grow with every step unless vartheta <= 0.5"
    conserved = {"symplectic", "momentum"}
    if name == "VI-B":
        conserved.add("position")
    label = f"VI-A({theta:g})" if name == "VI-A" else f"VI-B({theta:g}, {vartheta:g})"
    return Scheme(
        label,
        "002 (79)" if name == "VI-A" else "002 (82)",
        f.theta_residual,
        f.ggl_update,
        _GGL,
        2 if symmetric else 1,
        nodes=(theta,),
        symmetric=symmetric,
        reflects_velocities=True,
        account=f.variational_account,
        invariants=frozenset(conserved),
        joined=_joined(*(conserved - {"momentum"}), *_MOMENTA),
        options=np.array([theta, vartheta, option]),
        energies=_at(theta),
        advice=advice,
    )


def _galerkin(name: str, k: int = 1, gauss: int | None = None) -> Scheme:
    from discretization.time import galerkin as f
    from discretization.time.quadrature import gauss as rule

    if k < 1 or k != int(k):
        raise ModelError(f"mG: k = {k}; give a polynomial degree of at least 1")
    points = 2 * k if gauss is None else gauss
    if points < k or points != int(points):
        raise ModelError(
            f"mG({k}): gauss = {gauss}; give at least k = {k} Gauss points, fewer leave it singular"
        )
    blocks = [block for I in range(k) for block in (Block(Q, (I + 1) / k), Block(P, (I + 1) / k))]
    blocks += [Block(LAMBDA)] * k + [Block(GAMMA)] * k
    # constraints are quadratic in directors, up to quartic in quaternions; G W p is bilinear in directors only
    conserved = ["position"] if points >= 2 * k else []
    directors = ["position", "velocity", *(["angular momentum"] if points == k else [])]
    return Scheme(
        f"mG({k})" if gauss is None else f"mG({k}, {points})",
        "001 (14)",
        f.mg_residual,
        f.mg_update,
        tuple(blocks),
        2 * k,
        ends=k > 1,
        nodes=tuple(rule(points)[0]),
        symmetric=True,
        account=f.mg_account,
        drives=f.mg_drives,
        dissipates=True,
        invariants=frozenset(),
        joined=_joined("linear momentum", *conserved, directors=tuple(directors)),
        quadrature_invariants=frozenset({"position", "velocity"}),
        options=np.concatenate([f.shape_table(k, points, k - 1), f.slopes_between(points).ravel()]),
        energies=_at_gauss_points(k, points),
    )


def _at_gauss_points(k: int, points: int) -> Energies:
    """Describe h w_g M_J grad V(sum N_I q_I): the unknowns q_I and the equations of p alternate with the others, node by node."""
    from discretization.time.galerkin import shapes

    weights, N, M = shapes(k, points, k - 1)
    of, into = np.zeros((points, 2 * k)), np.zeros((points, 2 * k))
    of[:, ::2], into[:, 1::2] = N[:, 1:], weights[:, None] * M
    return Energies(False, N[:, 0], of, into)


def _spark(name: str, s: int = 2) -> Scheme:
    from discretization.time import spark as f
    from discretization.time import tableaux

    if s > f.MOST_STAGES:
        raise ModelError(f"{name}: s = {s} stages; give at most {f.MOST_STAGES}")
    table = tableaux.gauss_lobatto(s) if name == "GL-SPARK" else tableaux.lobatto_3a_3b(s)
    stages = len(table.b_tilde)
    blocks = (*([Block(V)] * s), *([Block(FORCES)] * s), *([Block(IMPULSES)] * stages))
    return Scheme(
        f"{name}({s})",
        "004 (A.1)-(A.6)",
        f.spark_residual,
        f.spark_update,
        blocks,
        2 * s if name == "GL-SPARK" else 2 * s - 2,
        ends=True,
        nodes=tuple(table.c),
        symmetric=True,
        account=f.spark_account,
        driven=(*table.A_bar.sum(axis=1)[:-1], 1.0),
        drives=f.spark_drives,
        dissipates=True,
        invariants=frozenset({"symplectic", "momentum", "position", "velocity"}),
        joined=_joined("symplectic", "position", "velocity", *_MOMENTA),
        options=table.options(),
        energies=Energies(False, np.ones(s), table.A.copy(), np.eye(s, 2 * s, s), of_power=1, into_power=0),
    )


def _lagrange_top(name: str) -> Scheme:
    from discretization.time import bobenko_suris as f

    return Scheme(
        name,
        "Bobenko, Suris 1999; 002 (166)",
        f.bs99_residual,
        f.bs99_update,
        (Block(Q), Block(P)),
        1,
        invariants=frozenset({"momentum", "position"}),
        needs=LAGRANGE_TOP,
    )


class Family(NamedTuple):
    """Factory of the schemes of one name, and what is known before a scheme is made."""

    make: Callable[..., Scheme]  # function of the name and of the parameters in brackets, "VI-B(1, 0.5)"
    handles_redundancy: bool = False  # True if it was measured with redundant joints

    @property
    def parameters(self) -> dict[str, bool]:
        """Return the names of the parameters in brackets, in their order, each with True if it is a whole number."""
        arguments = [*inspect.signature(self.make).parameters.values()][1:]
        return {parameter.name: str(parameter.annotation).startswith("int") for parameter in arguments}


FAMILIES: dict[str, Family] = {
    "EML": Family(_livens, handles_redundancy=True),
    "REML": Family(_livens),
    "Null-EML": Family(_livens),
    "EML-kappa": Family(_livens, handles_redundancy=True),
    "MPL": Family(_livens),
    **dict.fromkeys(("MPH", "IMS", "EMH", "EMS"), Family(_hamiltonian)),
    "EM-G": Family(_hamiltonian, handles_redundancy=True),
    "VI-S": Family(_ggl),
    "VI-A": Family(_option_a),
    "VI-B": Family(_option_b),
    "GGL-EM": Family(_ggl, handles_redundancy=True),
    "mG": Family(_galerkin, handles_redundancy=True),
    **dict.fromkeys(("GL-SPARK", "Lobatto-IIIA-B"), Family(_spark)),
    "BS99": Family(_lagrange_top),
}
