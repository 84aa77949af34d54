"""Validation cases with limit points and bifurcations: deep arches, right-angle frames, twisted and deployed rings."""

from __future__ import annotations

from typing import Any

import numpy as np

from rigid.errors import ModelError
from rodsim.components.sections import Section
from rodsim.equilibrium_methods import ArcLength
from rodsim.model import Model
from rodsim.statics.equilibria import equilibrium
from rodsim.statics.linear_buckling import buckling
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values
from rodsim.validation.rods_at_rest import section

# arch of 215 degrees, radius 100, EI = 1e6, EA = GA = 1e8: load and downward displacement of the crown at the limit
ARCH = {"dead": (897.2891339, 113.7307457), "following": (886.2207452, 114.3827570)}
# frame of two legs 240 x 30 x 0.6 mm: the load along the first leg at the end of the second, by its sign
FRAME = {"pull": 1.08751793774621, "push": 0.680427409356817}
# the same legs as a symmetric frame, moments at both feet, closing and opening the corner
FRAME_MOMENTS = {"closing": 622.221663721, "opening": 622.221858525}
LEG, YOUNG, POISSON, HIGH, THICK = 240.0, 71240.0, 0.31, 30.0, 0.6
RING_STIFFNESS = (1.0, 1.3)  # GJ of the twisted rings, EI = 1


def first(run: Any, kind: str) -> Any:
    """Return the first event of a kind on the path; raise `ModelError` if there is none."""
    for event in run.events:
        if event["kind"] == kind:
            return event
    raise ModelError(f"{kind}: there is none on the path, only {[event['kind'] for event in run.events]}")


def arch(level: int) -> Values:
    """Load an arch at its crown to the limit, by a dead or a following force; one end is clamped, the other on a hinge."""
    half, quantities = np.deg2rad(215.0) / 2, dict[str, Any]()
    for name in ARCH:
        model = Model("deep arch")
        rod = model.add_rod(
            "arch",
            lambda s: 100.0 * np.array([np.sin(half * (2 * s - 1)), np.cos(half * (2 * s - 1)), 0.0]),
            section(1e8, 1e8, 1e6),
            (40, 80)[level],
            up=(0, 0, 1),
        )
        model.add_joint("clamp", "clamp", rod.start)
        model.add_joint("hinge", "revolute", rod.end, model.ground, axis=(0, 0, 1))
        model.add_force("load", rod.at(0.5), (0.0, -1000.0, 0.0), following=name == "following")
        monitors = {"v": (rod.at(0.5), (0, -1, 0))}
        run = equilibrium(model, method=ArcLength(stop={"v": (-1.0, 116.0)}), monitors=monitors)
        limit = first(run, "limit")
        quantities[f"P({name})"] = 1000.0 * limit["load_factor"]
        quantities[f"v({name})"] = limit["monitors"]["v"]
    return quantities


def thin() -> Section:
    """Return the section of the legs of the frames."""
    G = YOUNG / 2 / (1 + POISSON)
    A, weak, strong = HIGH * THICK, HIGH * THICK**3 / 12, THICK * HIGH**3 / 12
    # d3 is in the plane of the frame
    return section(YOUNG * A, G * A, [YOUNG * strong, YOUNG * weak], G * HIGH * THICK**3 / 3)


def frame(level: int) -> Values:
    """Compute the loads at which the frame buckles out of its plane."""
    quantities = {}
    for name, sign in (("pull", 1.0), ("push", -1.0)):
        model, n = Model("right-angle frame"), (20, 40)[level]
        a = model.add_rod("a", [(0, 0, 0), (LEG, 0, 0)], thin(), n, up=(0, 1, 0))
        b = model.add_rod("b", [(LEG, 0, 0), (LEG, -LEG, 0)], thin(), n, up=(1, 0, 0))
        model.add_joint("clamp", "clamp", a.start)
        model.add_joint("corner", "weld", a.end, b.start)
        model.add_force("load", b.end, (sign, 0.0, 0.0))
        quantities[f"P({name})"] = buckling(model, 1).factors[0]
    return quantities


def frame_moments(level: int) -> Values:
    """Compute the moments at which the symmetric frame bifurcates, on one half of it.

    The foot slides along the base and rotates in the plane; the apex stays on the plane of symmetry.
    """
    quantities, side, most = {}, np.sqrt(0.5) * LEG, 700.0
    for name, sign in (("closing", 1.0), ("opening", -1.0)):
        model = Model("right-angle frame, half")
        leg = model.add_rod("leg", [(-side, 0, 0), (0, side, 0)], thin(), (20, 40)[level], up=(1, -1, 0))
        model.add_joint("foot", "generic", model.ground, leg.start, locked=("y", "z", "rx", "ry"))
        model.add_joint("apex", "generic", model.ground, leg.end, locked=("x", "ry", "rz"))
        model.add_moment("moment", leg.start, (0.0, 0.0, sign * most))
        run = equilibrium(model, method=ArcLength(stop={"load_factor": (0.0, 1.0)}))
        quantities[f"M({name})"] = most * first(run, "bifurcation")["load_factor"]
    return quantities


def twisted_rings(level: int) -> Values:
    """Bend a straight rod to a ring, rotate its end about its tangent, and return the rotation at which it leaves its plane."""
    quantities = {}
    for GJ in RING_STIFFNESS:
        model, twist = Model("twisted ring"), 14.0 / GJ
        ring = model.add_rod(
            "ring",
            lambda s: np.array([np.sin(2 * np.pi * s), 1.0 - np.cos(2 * np.pi * s), 0.0]) / (2 * np.pi),
            section(1e6, 1e6, 1.0, GJ),
            (20, 40)[level],
            up=(0, 0, 1),
            stress_free=[(0, 0, 0), (1, 0, 0)],
            stress_free_up=(0, 0, 1),
        )
        model.add_joint("start", "clamp", ring.start)
        model.add_joint("end", "clamp", ring.end)
        # a round ring rotates freely about its tangent at the clamp: hold the point opposite to it in the plane
        model.add_spring("plane", ring.at(0.5), model.ground.at((0, 1 / np.pi, 50.0)), 1.0)
        motion = {"end": {"rotation": (-twist, 0, 0)}}
        run = equilibrium(model, motions=motion, method=ArcLength(stop={"load_factor": (0, 1)}))
        quantities[f"twist(GJ = {GJ:g})"] = twist * first(run, "bifurcation")["load_factor"]
    return quantities


def deployed_ring(level: int) -> Values:
    """Fold a ring made of a strip into three coils, computed on one half of it.

    One end is fixed; the other is rotated by one turn about the diameter on which it slides.
    """
    model = Model("deployable ring")
    strip = section(4e4, 2e4, [200.0, 1.0], 1.0)
    ring = model.add_rod(
        "ring", lambda s: (-np.cos(np.pi * s), np.sin(np.pi * s), 0.0), strip, 20, up=(0, 0, 1)
    )
    model.add_joint("held", "clamp", ring.start)
    model.add_joint("rail", "prismatic", model.ground, ring.end, axis=(1, 0, 0))
    run = equilibrium(
        model,
        motions={"rail": {"rotation": (2 * np.pi, 0, 0)}},
        method=ArcLength(stop={"load_factor": (-1, 1)}),
    )
    r = run.rod("ring").r[-1]
    return {"r(pi R)": r[-1] - r[0], "energy": run.energy["elastic"][-1]}


CASES = (
    Case(
        "deep-arch",
        "Arch of 215 degrees, clamped and hinged, DaDeppo and Schmidt 1975 (897 where it does not stretch)",
        "shooting, 10 digits (tests/support/shooting.py)",
        {f"P({name})": ReferenceValue(P, 1e-7, 897.0) for name, (P, _) in ARCH.items()}
        | {f"v({name})": ReferenceValue(v, 1e-7, 100.0) for name, (_, v) in ARCH.items()},
        arch,
        Meshes("40 elements", "80 elements", 2),
    ),
    Case(
        "right-angle-frame",
        "Frame of two thin legs leaves its plane, Argyris et al. 1979 (1.088)",
        "shooting, 12 digits (tests/support/shooting.py)",
        {f"P({name})": ReferenceValue(P, 1e-11, P) for name, P in FRAME.items()},
        frame,
        Meshes("20 elements a leg", "40 elements a leg", 2),
    ),
    Case(
        "frame-moments",
        "Frame of two thin legs under moments at its feet, Argyris et al. 1979 (622.2)",
        "exact, pi sqrt(EI GJ)/L with the bend in its plane (tests/exact/test_validation_sources.py)",
        # bifurcations are located to 1e-6 of the load
        {f"M({name})": ReferenceValue(M, 1e-3, M) for name, M in FRAME_MOMENTS.items()},
        frame_moments,
        Meshes("20 elements", "40 elements", 2),
    ),
    Case(
        "twisted-ring",
        "Twisted ring leaves its plane, Michell 1889",
        "exact, 2 pi sqrt(3) EI/GJ (Goriely, J. Elasticity 84, 2006)",
        # remaining stretch and shear, (2 pi EI)^2/EA, and the accuracy to which a double bifurcation is located
        {
            f"twist(GJ = {GJ:g})": ReferenceValue(2 * np.pi * np.sqrt(3) / GJ, 1e-4 * 10.88, 10.88)
            for GJ in RING_STIFFNESS
        },
        twisted_rings,
        Meshes("20 elements", "40 elements", 2),
        slow=True,
    ),
    Case(
        "deployable-ring",
        "Ring of a strip, folded by one revolution into three coils",
        "exact, circle of a third of the radius",
        {
            "r(pi R)": ReferenceValue((2 / 3, 0.0, 0.0), 1e-9, 2.0),
            "energy": ReferenceValue(2 * np.pi, 1e-8, 2 * np.pi),
        },
        deployed_ring,
        Meshes("", "20 elements: constant strain is exact in each, round-off", None),
    ),
)
