"""Beam test models of Exudyn with the parameters of its repository.

Their limits are those of refined meshes.

Where `reached` is given, rodsim with elements of order 4 on two meshes agrees with Exudyn's extrapolated
sequence.
"""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, sin, sqrt

from benchmarks.frames import Beam, Frame, rectangle
from benchmarks.mechanisms import Triple

_ORIGIN = (0.0, 0.0, 0.0)


def _shear(nu: float) -> float:
    return 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)


def _cantilever() -> Frame:
    h, tip = 0.5, (2.0, 0.0, 0.0)
    k = _shear(0.3)
    return Frame(
        "EX-cantilever",
        "geometricallyExactBeamTest, Cantilever2011: tip under a force, error / length",
        (Beam(_ORIGIN, tip),),
        rectangle(2.07e11, 0.3, h, 0.1, (1.0, k, k)),  # type: ignore[arg-type]
        clamps=(_ORIGIN,),
        forces=((tip, (0.0, 5e8 * h**3, 0.0)),),
        moments=(),
        watched=tip,
        reached=(1.849028855760, 0.710568597856, 0.0),
        scale=2.0,
        floor=1e-9,
    )


def _general_bending() -> Frame:
    tip = (2.0, 0.0, 0.0)
    return Frame(
        "EX-generalBending",
        "geometricallyExactBeamTest, GeneralBending2013: tip under two moments, error / length",
        (Beam(_ORIGIN, tip),),
        rectangle(2.07e11, 0.3, 0.2, 0.4, (0.5768, 0.8331, 0.7961)),  # type: ignore[arg-type]
        clamps=(_ORIGIN,),
        forces=(),
        moments=((tip, (0.5e6, 2e6, 0.0)),),
        watched=tip,
        reached=(1.999890562014, -0.000186436456, -0.018117402744),
        scale=2.0,
        floor=1e-11,
    )


def _princeton() -> Frame:
    tip, force, angle = (0.508, 0.0, 0.0), 13.345, pi / 4.0
    return Frame(
        "EX-princeton",
        "geometricallyExactBeamTest, PrincetonBeamF3 at 45 degrees: tip, error / length",
        (Beam(_ORIGIN, tip),),
        rectangle(71.7e9, 0.31, 12.3777e-3, 3.2024e-3, (0.198, 1.0, 1.0)),  # type: ignore[arg-type]
        clamps=(_ORIGIN,),
        forces=((tip, (0.0, -force * cos(angle), force * sin(angle))),),
        moments=(),
        watched=tip,
        reached=(0.477547065304, -0.015621149906, 0.156774617721),
        scale=0.508,
        floor=1e-9,
    )


def _planar_section(
    E: float, G: float, b: float, h: float
) -> tuple[float, float, float, float, float, float]:
    shear = _shear(0.3) * G * b * h
    EI = E * b * h**3 / 12.0
    return E * b * h, shear, shear, EI, EI, EI  # only EA, GA2 and EI3 act in the plane


def _planar_beam() -> Frame:
    h = 0.5
    tip = (sqrt(2.0), sqrt(2.0), 0.0)
    force = 5e8 * h**3 * sqrt(0.5)
    return Frame(
        "EX-beam2D",
        "geometricallyExactBeam2Dtest: tip under force and moment, error / length",
        (Beam(_ORIGIN, tip),),
        _planar_section(2.07e11, 7.9615e10, 0.1, h),
        clamps=(_ORIGIN,),
        forces=((tip, (force, -force, 0.0)),),
        moments=((tip, (0.0, 0.0, -5e8)),),
        watched=tip,
        reached=(0.216839493376, -0.795194884087, 0.0),
        scale=2.0,
        floor=1e-9,
        planar=True,
    )


def _angle() -> Frame:
    corner, tip = (1.0, 0.0, 0.0), (1.0, 1.0, 0.0)
    return Frame(
        "EX-LShape",
        "LShapeGeomExactBeam2D: tip under a force, error / leg",
        (Beam(_ORIGIN, corner), Beam(corner, tip)),
        _planar_section(2.1e11, 2.1e11 / 2.6, 0.1, 0.05),
        clamps=(_ORIGIN,),
        forces=((tip, (1e6, 0.0, 0.0)),),
        moments=(),
        watched=tip,
        reached=(1.859228475382, 0.085947950335, 0.0),
        scale=1.0,
        floor=1e-9,
        planar=True,
    )


def _grid() -> Frame:
    """Four rows of 15 fields, joined across every fourth node; clamped on the left, pulled down on the right at t = 0."""
    a, E, h = 0.5, 2.1e10, 0.1
    rows = [Beam((0.0, a * j, 0.0), (15 * a, a * j, 0.0), 15) for j in range(4)]
    posts = [Beam((a * i, a * j, 0.0), (a * i, a * (j + 1), 0.0)) for j in range(3) for i in (3, 7, 11, 15)]
    ends: list[Triple] = [(15 * a, a * j, 0.0) for j in range(4)]
    mass = 7800.0 * h * h
    return Frame(
        "EX-grid",
        "gridGeomExactBeam2D: upper right corner at t = 0.1, error / field",
        (*rows, *posts),
        _planar_section(E, E / 2.6, h, h),
        clamps=tuple((0.0, a * j, 0.0) for j in range(4)),
        forces=tuple((end, (0.0, -1e5, 0.0)) for end in ends),
        moments=(),
        watched=ends[-1],
        reached=(7.288549, -0.254937, 0.0),
        scale=a,
        floor=1e-7,
        mass_per_length=mass,
        inertia_per_length=(mass * h**2 / 6.0, mass * h**2 / 12.0, mass * h**2 / 12.0),
        t_end=0.1,
        planar=True,
    )


def _vibrating() -> Frame:
    """The beam of the general bending, ten lowest modes; its rotary inertia is rho (I2 + I3) about all axes,
    as in Exudyn's model.
    """
    h, w, density = 0.2, 0.4, 100.0
    inertia = density * (h * w**3 + w * h**3) / 12.0
    bent = _general_bending()
    return replace(
        bent,
        name="EX-eigenmodes",
        title="geometricallyExactBeamTest, its section, clamped: ten lowest frequencies, greatest relative error",
        moments=(),
        mass_per_length=density * h * w,
        inertia_per_length=(inertia, inertia, inertia),
        frequencies=(
            *(2273.6930374, 4465.92823836, 13117.5398996, 16830.6545421, 23780.3746276),
            *(33118.6315453, 35733.4586822, 50491.9636264, 56189.7264042, 57785.5572906),
        ),
        floor=1e-8,
    )


FRAMES = (_cantilever(), _general_bending(), _princeton(), _planar_beam(), _angle(), _grid(), _vibrating())
