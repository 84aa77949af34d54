"""A multibody model advanced by an integrator of mechanical systems, with the face of `stepper.Stepper`.

The model is taken in a chart; coordinates, momenta and velocities live here between calls, and every call gives the
frames' state back.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.system import System
from discretization.time.integrate import Trajectory, check_fit, integrate
from discretization.time.integrators import parse
from discretization.time.scheme import Scheme
from discretization.time.stepper import Report
from rigid import mechanical, quaternions
from rigid.charts import Interactions, Weight, multibody_system
from rigid.errors import ConvergenceError, ModelError
from rigid.mechanical import MechanicalSystem
from rigid.system import Floats, State

# chart names of models -> chart and inertia
CHARTS = {
    "quaternion": ("quaternion", "singular"),
    "quaternion-alpha": ("quaternion", "alpha"),
    "quaternion-gamma": ("quaternion", "gamma"),
    "director": ("director", "singular"),
}


def default_chart(scheme: Scheme) -> str:
    """The chart in which a scheme keeps what it promises."""
    return "quaternion" if scheme.singular_mass else "director"


def system_in_chart(
    name: str,
    system: System,
    state: State,
    chart: str,
    load_values: Callable[[Floats], Floats] | None = None,
    parameter: float | None = None,
) -> MechanicalSystem:
    """The mechanical system of a model without rods; `chart` is a key of `CHARTS`.

    load_values: times (k,) -> values of the loads (k, loads, 3). parameter: alpha or gamma (kg m^2).
    Raises ModelError for rods, damping and unknown charts.
    """
    if chart not in CHARTS:
        raise ModelError(f"chart '{chart}' is not known; choose one of {', '.join(CHARTS)}")
    if len(system.elements.length):
        raise ModelError(
            f"model '{name}': rods are integrated by 'em', 'em4' and 'em6'; charts hold rigid bodies and joints"
        )
    frames = system.frames
    weights = tuple(
        Weight(f, np.zeros(3), frames.mass[f] * system.gravity)
        for f in range(len(frames.mass))
        if not frames.fixed[f] and np.any(system.gravity)
    )
    signal = None
    if load_values is not None and len(system.loads.kind):
        values = load_values

        def signal(t: float) -> Floats:
            return values(np.array([t]))[0]

    parts = Interactions(system.constraints, system.springs, system.torsions, system.loads, weights, signal)
    kind, inertia = CHARTS[chart]
    return multibody_system(
        name, frames, state.r, state.quat, state.v, state.Omega, parts, kind, inertia, parameter
    )


class MechanicalStepper:
    """Advances the frames of a model by steps of a scheme."""

    def __init__(
        self,
        name: str,
        system: System,
        state: State,
        h: float,
        integrator: str,
        chart: str | None,
        load_values: Callable[[Floats], Floats] | None,
    ):
        self.scheme = parse(integrator)
        self.chart = default_chart(self.scheme) if chart is None else chart
        self.mechanical = system_in_chart(name, system, state, self.chart, load_values)
        check_fit(self.scheme, self.mechanical)
        self.system, self.h = system, h
        q, v = self.mechanical.q0, self.mechanical.v0
        self._now = q, self.mechanical.momentum(q, v), v

    def advance(self, state: State, step: int, count: int) -> tuple[State, Report]:
        """`count` steps from the state last returned; `state` gives what the chart does not hold."""
        start = (step * self.h, *self._now)
        try:
            run = integrate(self.mechanical, self.scheme, self.h, count * self.h, start=start)
        except ConvergenceError as error:
            run = error.trajectory
            error.reached = step + len(run.t) - 1, self._state(state, run)
            raise
        new = self._state(state, run)
        self._now = run.q[-1], run.p[-1], run.v[-1]
        counts = run.iterations[1:]
        return new, Report(int(counts.sum()), int(counts.max()), count, 0)

    def _state(self, state: State, run: Trajectory) -> State:
        q, v, lam = run.q, run.v, run.lam
        work = state.totals[0]
        if self.mechanical.has_signal:
            for k in range(len(q) - 1):
                work += self._force((q[k] + q[k + 1]) / 2, run.t[k] + 0.5 * self.h) @ (q[k + 1] - q[k])
        r, quat, velocity, Omega = frames_of(self.mechanical, q[-1], v[-1], state)
        joints = lam.shape[1] - self.mechanical.info["places"].internal
        new = State(*(array.copy() for array in state))
        new.r[...], new.quat[...], new.v[...], new.Omega[...] = r, quat, velocity, Omega
        new.lam[...] = lam[-1, lam.shape[1] - joints :]
        new.totals[0] = work
        _turn_angles(self.system, new)
        return new

    def _force(self, q: Floats, t: float) -> Floats:
        system = self.mechanical
        out = np.zeros(system.n, complex)
        signal = np.ascontiguousarray(system.signal(t), float)
        arguments = (np.ascontiguousarray(q, complex), signal, system.data, out)
        mechanical.call(system.functions.force, arguments)
        return out.real


def frames_of(
    system: MechanicalSystem, q: Floats, v: Floats, before: State
) -> tuple[Floats, Floats, Floats, Floats]:
    """r, quat, velocity and Omega of all frames at coordinates q; fixed ones as they were."""
    places, chart = system.info["places"], system.info["chart"]
    r, quat, velocity, Omega = (x.copy() for x in (before.r, before.quat, before.v, before.Omega))
    for f, (at, to) in enumerate(zip(places.position, places.orientation, strict=True)):
        if at >= 0:
            r[f], velocity[f] = q[at : at + 3], v[at : at + 3]
        if to < 0:
            continue
        if chart == "quaternion":
            own, rate = q[to : to + 4], v[to : to + 4]
            Omega[f] = 2.0 * quaternions.multiply(quaternions.conjugate(own), rate)[1:]
        else:
            R, rate = q[to : to + 9].reshape(3, 3).T, v[to : to + 9].reshape(3, 3).T
            spin = R.T @ rate
            Omega[f] = 0.5 * np.array(
                [spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]
            )
            own = quaternions.from_matrix(R)
        own = quaternions.normalize(own)
        quat[f] = own if own @ before.quat[f] >= 0.0 else -own
    return r, quat, velocity, Omega


def _turn_angles(system: System, state: State) -> None:
    """Angles of the torsion springs, counted on from those before to the nearest of the same direction."""
    torsions = system.torsions
    for k in range(len(torsions.stiffness)):
        a, b = torsions.frames[k]
        u, w = quaternions.rotate(state.quat[a], np.array([torsions.Ua[k], torsions.Wa[k]]))
        along = quaternions.rotate(state.quat[b], torsions.Ub[k])
        angle = np.arctan2(w @ along, u @ along)
        state.angle[k] = angle + 2 * np.pi * np.round((state.angle[k] - angle) / (2 * np.pi))
