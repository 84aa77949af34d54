"""Run two simulations and write their result files, pictures and audits to one folder.

For the flying spaghetti, and for the pair of chain and rod, it writes NAME.vtkhdf (for ParaView 5.13 or later), NAME.png
(several times in one picture), NAME_plots.png (energies, momenta, residuals) and NAME_audit.txt. For the pair it also writes a
movie, NAME.mp4.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from examples import chain_and_rod, flying_spaghetti
from rodsim import Result, audit, plot, render, render_movie


def show(result: Result, folder: Path, name: str, times: list[float], **view: object) -> None:
    """Write the pictures and the audit of one result, and print the audit."""
    text = audit(result).text()
    (folder / f"{name}_audit.txt").write_text(text + "\n", encoding="utf-8")
    print(text, end="\n\n")
    plot(result, "overview", folder / f"{name}_plots.png")
    render(result, folder / f"{name}.png", times=times, **view)  # type: ignore[arg-type]


def main() -> None:
    """Run both and write everything to the folder given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    print("simulating ...", flush=True)

    spaghetti = flying_spaghetti.run(output=folder / "flying_spaghetti.vtkhdf")
    show(spaghetti, folder, "flying_spaghetti", [0, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8])
    for t in (5.0, 10.0):
        print(
            f"ends at t = {t:g}: {flying_spaghetti.end_error(spaghetti, t):.3f} from the converged positions (length 10)"
        )
    print()

    pair = chain_and_rod.run(output=folder / "chain_and_rod.vtkhdf")
    show(pair, folder, "chain_and_rod", [0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2], view=(0.35, -1.0, 0.25))
    render_movie(pair, folder / "chain_and_rod.mp4", view=(0.35, -1.0, 0.25), size=(960, 540))
    print(f"look at the pictures in {folder}/, open {folder}/*.vtkhdf in ParaView")


if __name__ == "__main__":
    main()
