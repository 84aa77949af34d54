"""A multibody model advanced by an integrator of mechanical systems, with the face of `stepper.Stepper`.

The model is taken in a chart; coordinates, momenta and velocities live here between calls, and every call gives the
frames' state back.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.system import System
from discretization.time.integrate import Start, Trajectory, Wound, check_fit, integrate
from discretization.time.integrators import parse
from discretization.time.quadrature import gauss
from discretization.time.scheme import Scheme
from discretization.time.stepper import Report
from rigid import mechanical, quaternions
from rigid.charts import Interactions, Weight, branches, multibody_system, torsion_angles
from rigid.errors import ConvergenceError, ModelError, Reached
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
            f"model '{name}': rods are integrated by 'em' and its kin; charts hold rigid bodies and joints"
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
        self.h = h

    def start(self, state: State) -> State:
        """`state`, the initial one, with its place in the chart."""
        q, v = self.mechanical.q0, self.mechanical.v0
        none = np.zeros(2 * self.mechanical.m)
        return state._replace(chart=np.concatenate([q, self.mechanical.momentum(q, v), v, none]))

    def advance(self, state: State, step: int, count: int) -> tuple[State, Report]:
        """`count` steps from a state of `start` or `advance`.

        Raises ConvergenceError, with `reached` and `report`, where a step fails.
        """
        n, m = self.mechanical.n, self.mechanical.m
        end, report = step + count, Report()
        while step < end:
            branches(self.mechanical)[:] = state.angle
            parts = np.split(state.chart, np.cumsum([n, n, n, m]))
            start = Start(step * self.h, *parts)
            failure = None
            try:
                run = integrate(self.mechanical, self.scheme, self.h, (end - step) * self.h, start=start)
            except ConvergenceError as error:
                run = error.trajectory
                # a spring that was wound too far is counted anew from where it stands
                failure = None if isinstance(error, Wound) and len(run.t) > 1 else error
            step += len(run.t) - 1
            iterations = run.iterations[1:]
            report = report.plus(
                Report(int(iterations.sum()), int(iterations.max(initial=0)), len(iterations))
            )
            if len(run.t) > 1:
                state = self._state(state, run)
            if failure is not None:
                failure.reached = Reached(step, state)
                failure.report = report.plus(Report(failure.iterations, failure.iterations, 1))
                raise failure
        return state, report

    def _state(self, state: State, run: Trajectory) -> State:
        v = self._velocities(run)
        r, quat, velocity, Omega = frames_of(self.mechanical, run.q, v[-1], state)
        new = State(*(array.copy() for array in state))._replace(chart=np.concatenate(run.at(-1)[1:]))
        new.r[...], new.quat[...], new.v[...], new.Omega[...] = r, quat, velocity, Omega
        new.lam[...] = run.lam[-1, self.mechanical.info["places"].internal :]
        new.totals[0] = self._add_work(state.totals[0], run, v)
        if len(new.angle):
            angles = torsion_angles(self.mechanical, run.q)
            whole = np.unwrap(angles, axis=0)
            counted = state.angle + whole[-1] - whole[0]
            # the same bits however the steps are divided into marches
            new.angle[...] = angles[-1] + 2 * np.pi * np.round((counted - angles[-1]) / (2 * np.pi))
        return new

    def _velocities(self, run: Trajectory) -> Floats:
        """At the ends of the steps; that of a variational scheme lies inside."""
        if self.scheme.singular_mass or self.mechanical.has(mechanical.SINGULAR_MASS):
            return run.v
        return np.array([self.mechanical.inverse_mass(q) @ p for q, p in zip(run.q, run.p, strict=True)])

    def _add_work(self, work: float, run: Trajectory, v: Floats) -> float:
        """`work` and that of the loads: by the midpoint rule, as schemes of order 2 have it, else on cubic interpolants."""
        if not self.mechanical.has_signal:
            return work
        q, h = run.q, self.h
        nodes, weights = gauss(3)
        for k in range(len(q) - 1):
            if self.scheme.order <= 2:
                work += float(self._force((q[k] + q[k + 1]) / 2, run.t[k] + 0.5 * h) @ (q[k + 1] - q[k]))
                continue
            slopes = h * v[k], h * v[k + 1]
            for x, weight in zip(nodes, weights, strict=True):
                place, rate = _hermite(q[k], q[k + 1], *slopes, x)
                work += weight * float(self._force(place, run.t[k] + x * h) @ rate)
        return work

    def _force(self, q: Floats, t: float) -> Floats:
        system = self.mechanical
        out = np.zeros(system.n, complex)
        signal = np.ascontiguousarray(system.signal(t), float)
        arguments = (np.ascontiguousarray(q, complex), signal, system.data, out)
        mechanical.call(system.functions.force, arguments)
        return out.real


def _hermite(a: Floats, b: Floats, da: Floats, db: Floats, x: float) -> tuple[Floats, Floats]:
    """Cubic on [0, 1] with ends a, b and slopes da, db, and its slope, at x."""
    change = b - a
    bend, twist = da - change, db - change
    place = (1 - x) * a + x * b + x * (1 - x) * ((1 - x) * bend - x * twist)
    rate = change + (1 - 2 * x) * ((1 - x) * bend - x * twist) - x * (1 - x) * (bend + twist)
    return place, rate


def frames_of(
    system: MechanicalSystem, q: Floats, v: Floats, before: State
) -> tuple[Floats, Floats, Floats, Floats]:
    """r, quat, velocity and Omega of all frames after steps q (N + 1, n) from `before`; fixed ones as they were."""
    places, chart = system.info["places"], system.info["chart"]
    r, quat, velocity, Omega = (x.copy() for x in (before.r, before.quat, before.v, before.Omega))
    for f, (at, to) in enumerate(zip(places.position, places.orientation, strict=True)):
        if at >= 0:
            r[f], velocity[f] = q[-1, at : at + 3], v[at : at + 3]
        if to < 0:
            continue
        if chart == "quaternion":
            own, rate = q[-1, to : to + 4], v[to : to + 4]
            Omega[f] = 2.0 * quaternions.multiply(quaternions.conjugate(own), rate)[1:]
        else:
            R = q[:, to : to + 9].reshape(-1, 3, 3).transpose(0, 2, 1)
            spin = R[-1].T @ v[to : to + 9].reshape(3, 3).T
            Omega[f] = 0.5 * np.array(
                [spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]
            )
            # of the two quaternions of each matrix the one near the step before
            quats = np.vstack([before.quat[f], quaternions.from_matrix(R)])
            turned = np.einsum("ij,ij->i", quats[1:], quats[:-1]) < 0.0
            own = quats[-1] if turned.sum() % 2 == 0 else -quats[-1]
        quat[f] = quaternions.normalize(own)
    return r, quat, velocity, Omega
