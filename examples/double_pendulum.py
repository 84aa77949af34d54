"""A double pendulum written in sympy, simulated by every integrator; those that do not support it report the reason."""

import sympy as sp

from discretization.time.families import FAMILIES
from rodsim import ModelError
from rodsim.mechanics import integrate, symbolic_system

q, v = sp.symbols("phi1 phi2"), sp.symbols("w1 w2")
T = v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * sp.cos(q[0] - q[1])  # two bobs of mass 1 on rods of length 1
V = -9.81 * (2 * sp.cos(q[0]) + sp.cos(q[1]))


def main() -> None:
    system = symbolic_system("double pendulum", q, q0=[2.0, 1.0], v0=[0.0, 0.0], T=T, V=V, v=v)
    for name in (*FAMILIES, "mG(3)", "GL-SPARK(3)", "EML(order=6)"):
        try:
            run = integrate(system, name, dt=0.005, t_end=3.0)
        except ModelError as error:
            print(f"{name:17s} {error}")
            continue
        print(
            f"{name:17s} energy {abs(run.energy() - run.energy()[0]).max():7.1e}, angles {run.q[-1].round(6)}"
        )


if __name__ == "__main__":
    main()
