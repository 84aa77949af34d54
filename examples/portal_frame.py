"""A portal frame of steel profiles under its weight, snow and wind: load cases, a combination, and the moment diagram.

The columns stand on hinges and are welded to the beam. In first-order theory the thrust of the feet under a load q along the
beam is, with the height h, the span L, and k = (I_beam/I_column) h/L (Kleinlogel),

    H = q L^2 / (4 h (2 k + 3))

Stretch and shear, which this formula leaves out, change it by less than one percent.

    python -m examples.portal_frame
"""

from __future__ import annotations

from pathlib import Path

from rodsim import LoadCases, Material, Model, Section, diagram, load_cases

HEIGHT, SPAN = 4.0, 8.0  # m
SNOW, WIND = 5000.0, 6000.0  # N/m, N
STEEL = Material(E=2.1e11, nu=0.3, density=7850)
# IPE 300: corners along d2 and d3, m, without the fillets
DEPTH, WIDTH, FLANGE, WEB = 0.3, 0.15, 0.0107, 0.0071
PROFILE = [
    (-WIDTH / 2, 0), (WIDTH / 2, 0), (WIDTH / 2, FLANGE), (WEB / 2, FLANGE),
    (WEB / 2, DEPTH - FLANGE), (WIDTH / 2, DEPTH - FLANGE), (WIDTH / 2, DEPTH), (-WIDTH / 2, DEPTH),
    (-WIDTH / 2, DEPTH - FLANGE), (-WEB / 2, DEPTH - FLANGE), (-WEB / 2, FLANGE), (-WIDTH / 2, FLANGE),
]  # fmt: skip
IPE_300 = Section.from_polygon(
    PROFILE, material=STEEL, torsion_constant=2.0e-7, shear_areas=(2.7e-3, DEPTH * WEB)
)


def frame() -> Model:
    """Return the frame with its loads."""
    model = Model("portal frame", gravity=(0, 0, -9.81))
    settings = {"n_elements": 8, "element": "relative(2)"}
    left = model.add_rod("left", [(0, 0, 0), (0, 0, HEIGHT)], IPE_300, up=(-1, 0, 0), **settings)
    beam = model.add_rod("beam", [(0, 0, HEIGHT), (SPAN, 0, HEIGHT)], IPE_300, **settings)
    right = model.add_rod("right", [(SPAN, 0, 0), (SPAN, 0, HEIGHT)], IPE_300, up=(-1, 0, 0), **settings)
    model.add_joint("left corner", "weld", left.end, beam.start)
    model.add_joint("right corner", "weld", beam.end, right.end)
    for name, column in (("A", left), ("B", right)):
        model.add_joint(name, "hinge", model.ground, column.start, axis=(0, 1, 0))
    model.add_distributed_load("snow", beam, (0, 0, -SNOW))
    model.add_force("wind", left.end, (WIND, 0, 0))
    return model


def run() -> LoadCases:
    """Return three load cases and one combination."""
    return load_cases(
        frame(),
        {"dead": ["gravity"], "snow": ["snow"], "wind": ["wind"]},
        {"ULS": {"dead": 1.35, "snow": 1.5, "wind": 0.9}},
    )


def thrust() -> float:
    """Return the thrust under snow by the formula above, N."""
    return SNOW * SPAN**2 / (4 * HEIGHT * (2 * HEIGHT / SPAN + 3))


if __name__ == "__main__":
    cases = run()
    for name, reactions in cases.reactions.items():
        print(name, dict(reactions))
    force = cases["snow"].reactions["A"].force[0]
    print(f"thrust under snow {force:.0f} N, without stretch and shear {thrust():.0f} N")
    output = Path("out")
    output.mkdir(exist_ok=True)
    diagram(cases["ULS"], "M", output / "portal_frame.png")
