"""Every example scene runs by the command and passes the audit."""

import json

import pytest

from rodsim.cli.main import main
from tests.support.pages import ROOT

SCENES = ROOT / "examples" / "scenes"
# a crank that starts at rest: after 0.1 s its energy is small compared with the work of its joint forces over 1e-15 m, the
# round-off of positions (1e-10 of it); after 0.3 s that is 1e-12
T_END = {"slider_crank": "0.3", "bolt": "0.02"}


@pytest.mark.parametrize("scene", sorted(file.stem for file in SCENES.glob("*.yaml")))
def test_every_example_scene_runs_and_passes_the_audit(scene, tmp_path, capsys):
    out = tmp_path / "out.vtkhdf"
    options = ("--t-end", T_END.get(scene, "0.1"))
    assert main(["run", str(SCENES / f"{scene}.yaml"), "-o", str(out), "--quiet", *options]) == 0
    assert main(["audit", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["energy_balance"] < 1e-11
    assert report["constraint_relative"] < 1e-12
