"""A rubber rod is dropped across two others, which are clamped at their ends.

All three have the same section. The rod hits its rails after 0.11 s, bends over them, bounces and slides. The energy
dissipated by restitution and friction is recorded: energy plus dissipation is the initial energy to round-off.

The picture shows how far the rails deflect.
"""

from __future__ import annotations

from rodsim import Material, Model, Result, Section, simulate

RADIUS, HEIGHT = 0.01, 0.06  # m; the height of the rod above the surfaces of its rails


def model(n_elements: int = 8) -> Model:
    """Return the model; the rails lie along y, 0.4 m apart."""
    made = Model("rod on rails", gravity=(0.0, 0.0, -9.81))
    section = Section.circular(RADIUS, Material(E=1e6, nu=0.45, density=1000.0))
    rails = []
    for k, x in enumerate((-0.2, 0.2)):
        rails.append(made.add_rod(f"rail {k + 1}", [(x, -0.15, 0.0), (x, 0.15, 0.0)], section, 4))
        made.add_joint(f"left {k + 1}", "clamp", rails[k].start)
        made.add_joint(f"right {k + 1}", "clamp", rails[k].end)
    z = HEIGHT + 2 * RADIUS
    rod = made.add_rod("rod", [(-0.4, 0.0, z), (0.4, 0.03, z)], section, n_elements)
    made.add_contact(
        "touch", rod, rails, stiffness=1e5, restitution=0.5, friction=0.4, stations=8, rest_speed=0.02
    )
    return made


def run(t_end: float = 0.4, dt: float = 1e-3, progress: bool | None = None) -> Result:
    """Simulate the fall."""
    return simulate(model(), t_end, dt, output_every=5, progress=progress)


if __name__ == "__main__":
    result = run()
    print(f"lost {result.dissipation[-1]:.4f} J of {result.energy['total'][0]:.4f} J")
