"""Damaged result files are rejected by name or detected, are never resumed, and crash no command."""

import math
import shutil
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest

from discretization.interaction_table import without_file_tables
from discretization.system import in_files
from rigid.errors import DamagedFileWarning, ModelError
from rodsim import Result, audit, simulate, templates
from rodsim.cli.main import main
from rodsim.results import file_checksums, legacy_checksums
from rodsim.results import result as result_module
from rodsim.results.errors import ResultError
from rodsim.results.file_validation import check_description, check_tables
from rodsim.scenes.model_from_scene import load
from tests.support import completeness
from tests.support.damaged_files import STEPS, H, fuzz, model, run
from tests.support.results_sample import forget_digests

LIBVER = ("earliest", "v108")
CHEAP = (["info"], ["audit"], ["compare"], ["resume"])
SCENES = Path(__file__).parents[2] / "examples" / "scenes"
WRITTEN = Path(__file__).with_name("written_by_0_1_0")


@pytest.fixture(scope="module")
def sound_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "sound.vtkhdf"
    run(path)
    assert audit(Result.load(path)).ok
    return path


@pytest.fixture
def file(sound_file, tmp_path):
    path = tmp_path / "damaged.vtkhdf"
    shutil.copy(sound_file, path)
    return path


@pytest.mark.parametrize("older", [False, True], ids=["with digests", "of an older version"])
def test_commands_survive_a_damaged_file_and_the_audit_reports_it(older, sound_file, tmp_path):
    """Run a few of the cases of `python -m tests.support.damaged_files 24`, which also makes reports and pictures."""
    shutil.copy(sound_file, tmp_path / "sound.vtkhdf")
    count, seed = (8, 16) if older else (16, 0)
    assert [end for end in fuzz(count, seed, tmp_path, older, CHEAP) if end[2]] == []


def change(path, name, how):
    with h5py.File(path, "r+", libver=LIBVER, locking=False) as opened:
        opened[name][...] = how(opened[name][...])


def last_doubled(array):
    array[STEPS] *= 2.0
    return array


def last_nan(array):
    array.reshape(len(array), -1)[STEPS, -1] = np.nan
    return array


def early_doubled(array):
    array[1] *= 2.0
    return array


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((x, last_doubled) for x in ("r", "v", "lam", "acc", "totals", "time", "step")),
        *((x, last_nan) for x in ("quat", "Omega", "lam", "own", "time")),
    ],
)
def test_resume_verifies_the_stored_state(name, how, file):
    change(file, f"rodsim/{name}", how)
    before = file.read_bytes()
    with pytest.raises(
        ResultError, match=rf"'rodsim/{name}' at output {STEPS} is not what was written.*start="
    ):
        run(file, 2 * STEPS, resume=True)
    assert file.read_bytes() == before
    with pytest.raises(ModelError, match=rf"is damaged, 'rodsim/{name}' at output {STEPS}.*start_time"):
        simulate(model(), STEPS * H, H, start=Result.load(file), progress=False)
    begun = simulate(
        model(), STEPS * H, H, start=Result.load(file), start_time=(STEPS - 1) * H, progress=False
    )
    assert begun.n_outputs == STEPS + 1
    audited = audit(Result.load(file))
    assert not audited.ok
    failures = {v.law: v.measured for v in audited.verdicts if v.kept is False}
    assert f"'rodsim/{name}' at output {STEPS} is not what was written" in failures["file as it was written"]


@pytest.mark.parametrize("name", ["lam", "acc"])
def test_resume_rejects_non_finite_numbers_without_checksums(name, file):
    forget_digests(file)
    change(file, f"rodsim/{name}", last_nan)
    with pytest.raises(ResultError, match=rf"damaged: '{name}\[.*' is nan at output {STEPS}"):
        run(file, 2 * STEPS, resume=True)
    with pytest.raises(ModelError, match=rf"'{name}\[.*' is nan"):
        simulate(model(), STEPS * H, H, start=Result.load(file), progress=False)


@pytest.mark.parametrize(
    ("name", "words"), [("quat", "not a unit quaternion"), ("time", "times dt"), ("step", "times dt")]
)
def test_impossible_positions_and_times_are_rejected_without_checksums(name, words, file):
    forget_digests(file)
    change(file, f"rodsim/{name}", last_doubled)
    with pytest.raises(ResultError, match=words):
        run(file, 2 * STEPS, resume=True)


def test_damage_of_earlier_outputs_stays_detectable_after_a_resume(file):
    change(file, "rodsim/acc", early_doubled)
    run(file, 2 * STEPS, resume=True)
    changed = Result.load(file).find_damage()
    assert [(entry.what, entry.outputs) for entry in changed] == [("rodsim", (1, 1))]


def test_resume_adds_checksums_to_a_file_without_them(file, tmp_path):
    forget_digests(file)
    assert Result.load(file).find_damage() is None
    audited = audit(Result.load(file))
    assert audited.ok
    assert "not judged: the file has no checksums" in audited.text()
    run(file, 2 * STEPS, resume=True)
    assert Result.load(file).find_damage() == []
    run(tmp_path / "whole.vtkhdf", 2 * STEPS)
    for one, other in zip(
        Result.load(file).states(slice(None)),
        Result.load(tmp_path / "whole.vtkhdf").states(slice(None)),
        strict=True,
    ):
        assert np.array_equal(one, other)


def all_numbers(path):
    """Every dataset of numbers in the file, by name."""
    with h5py.File(path) as opened:
        names = []
        opened.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        return [n for n in names if opened[n].dtype.kind in "fiu" and opened[n].size]


def test_any_changed_bit_is_detected(sound_file, tmp_path):
    """Damage each array with one row for each output, and every tenth other array."""
    missed, path = [], tmp_path / "bit.vtkhdf"
    with h5py.File(sound_file) as opened:
        grown = [name for name in all_numbers(sound_file) if file_checksums.SHA in opened[name].attrs]
    assert len(grown) > 20
    other_names = sorted(set(all_numbers(sound_file)) - set(grown))
    for name in [*grown, *other_names[::10]]:
        shutil.copy(sound_file, path)
        with h5py.File(path, "r+", libver=LIBVER, locking=False) as opened:
            array = np.ascontiguousarray(opened[name][...])
            array.reshape(-1).view(np.uint8)[-1] ^= 1  # in the last output, or in the last number
            opened[name][...] = array
        try:
            if Result.load(path).find_damage() == []:
                missed.append(name)
        except ResultError:
            pass
    assert missed == []


def test_changed_attribute_is_detected(file):
    with h5py.File(file, "r+", libver=LIBVER, locking=False) as opened:
        opened["rodsim/layout"].attrs.modify("name", "another")
        opened["VTKHDF"].attrs.modify("Version", np.array([9, 9]))
    changed_names = [change.what for change in Result.load(file).find_damage()]
    assert changed_names == [
        "the model (group 'rodsim/layout')",
        "the topology of the picture (group 'VTKHDF')",
    ]


def test_changed_checksums_are_distinguished_from_changed_outputs(file):
    """With both changed consistently the outputs match their checksums, but the digest over them does not."""
    change(file, "rodsim/crc", lambda crc: crc + 1)
    n = Result.load(file).n_outputs
    changes = [(entry.what, entry.outputs) for entry in Result.load(file).find_damage()]
    assert changes == [("the checksums of the outputs", ()), ("rodsim", (0, n))]
    assert [entry.what for entry in Result.load(file).find_damage(slice(0, 1))] == [
        "the checksums of the outputs",
        "rodsim",
    ]


def test_word_checksum_of_earlier_formats_is_splitmix64():
    """The first outputs from the seed 1234567, as printed with the generator."""
    gamma = 0x9E3779B97F4A7C15
    seeds = np.array([[(1234567 + k * gamma) % 2**64] for k in range(3)], dtype=np.uint64)
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert legacy_checksums.row_checksums(seeds).tolist() == expected


def test_damage_of_an_earlier_format_is_detected(tmp_path):
    path = shutil.copy(WRITTEN / "loop.vtkhdf", tmp_path / "a.vtkhdf")
    assert Result.load(path).find_damage() == []
    change(path, "rodsim/r", early_doubled)
    change(path, "VTKHDF/Points", early_doubled)
    with pytest.warns(DamagedFileWarning):
        changes = Result.load(path).find_damage()
    assert [(entry.what, entry.outputs) for entry in changes] == [
        ("VTKHDF/Points", (0, 1)),
        ("rodsim/r", (1, 1)),
    ]


OUT_OF_RANGE = (
    ("elements/frames", 10**6),
    ("elements/frames", -1),
    ("constraints/frames", 99),
    ("constraints/kind", 99),
    ("constraints/joint", -3),
    ("springs/frames", 99),
    ("torsions/frames", -1),
    ("loads/frame", 99),
    ("loads/kind", 5),
    ("frames/fixed", 7),
    ("frames/mass", -1.0),
    ("frames/mass", math.nan),
    ("elements/length", 0.0),
    ("elements/length", math.inf),
)


@pytest.mark.parametrize(("name", "number"), OUT_OF_RANGE)
def test_indices_of_missing_parts_are_rejected_on_reading(name, number, file):
    def wrong(array):
        array.reshape(-1)[-1] = number
        return array

    change(file, f"rodsim/layout/system/{name}", wrong)
    with pytest.raises(ResultError, match=rf"damaged.vtkhdf' is damaged \('{name}' has numbers"):
        Result.load(file)


@pytest.mark.parametrize(
    "description",
    [
        [],
        {"run": {"dt": "fast"}},
        {"run": {"dt": math.nan}},
        {"run": {"output_every": 0}},
        {"run": 3},
        {"statics": {"method": "newton"}},
        {"statics": {"method": "newton", "load_factor": ["a"], "residual": [], "monitors": {}}},
        {"loads": {"push": 1}},
        {"initial_velocity_change": {"rod": [1.0]}},
    ],
)
def test_malformed_descriptions_are_rejected(description):
    with pytest.raises(ValueError, match="its description"):
        check_description(description)


def test_changed_description_is_rejected(file):
    with h5py.File(file, "r+", libver=LIBVER, locking=False) as opened:
        text = opened["rodsim/description"].asstr()[()]
        opened["rodsim/description"][()] = text.replace('"dt"', '"dx"')
    with pytest.raises(ResultError, match=r"damaged .its description is not the one that was written"):
        Result.load(file)


def test_valid_models_are_accepted():
    """Every scene and template; every kind of joint, spring, load, law and element of the audit tests."""
    scenes = [*sorted(SCENES.glob("*.yaml")), *sorted(Path(templates.__file__).parent.glob("*.yaml"))]
    assert len(scenes) > 10
    models = [load(scene).model for scene in scenes]
    for sound in (*models, *(make() for make in completeness.MODELS.values())):
        system = sound.build().system
        check_tables(in_files(system) | {"others": without_file_tables(system.others)})


OUT_OF_RANGE_SPANS = (
    ("kind", 99),
    ("frames", 999),
    ("ends", -1),
    ("law", 500),
    ("weight", -1.0),
    ("length", math.nan),
    ("length", 0.0),
)
OUT_OF_RANGE_ELEMENTS = (("kind", 999), ("frames", 999), ("first", -1))


@pytest.mark.parametrize(
    ("make", "table", "changes"),
    [
        (completeness.rods, "spans", OUT_OF_RANGE_SPANS),
        (completeness.forces, "others", OUT_OF_RANGE_ELEMENTS),
    ],
    ids=["spans", "others"],
)
def test_indices_of_missing_parts_are_rejected_in_every_table(make, table, changes):
    tables = in_files(make().build().system)
    original = tables[table]
    for name, number in changes:
        wrong = getattr(original, name).copy()
        wrong.reshape(-1)[0] = number
        with pytest.raises(ValueError, match=rf"'{table}/{name}'"):
            check_tables(tables | {table: original._replace(**{name: wrong})})
    short = original._replace(kind=original.kind[:-1])
    with pytest.raises(ValueError, match=table):
        check_tables(tables | {table: short})


COMMANDS = {
    "info": ("info", "{file}"),
    "plot": ("plot", "{file}", "-o", "{folder}/a.png"),
    "export": ("export", "{file}", "-o", "{folder}/a.xdmf"),
    "compare": ("compare", "{sound}", "{file}"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("how", [None, early_doubled])
def test_commands_report_damaged_files_only(command, how, file, sound_file, tmp_path, capsys):
    if how is not None:
        change(file, "rodsim/r", how)
    arguments = [
        argument.format(file=file, sound=sound_file, folder=tmp_path) for argument in COMMANDS[command]
    ]
    main(arguments)
    message = capsys.readouterr().err
    assert ("is damaged" in message) == (how is not None)
    assert message.count("Run the simulation again") == (how is not None)


@pytest.mark.parametrize("how", [early_doubled, last_nan])
def test_opening_a_damaged_file_reports_the_damage(how, file, sound_file):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Result.load(sound_file)
    change(file, "rodsim/r", how)
    with pytest.warns(DamagedFileWarning, match=r"is damaged: '.*r' at output"):
        Result.load(file)


def test_opening_a_large_file_checks_model_and_both_ends(file, monkeypatch):
    size = file.stat().st_size
    monkeypatch.setattr(result_module, "CHECKED_BYTES", size // 4)
    seen = []
    find_damage = Result.find_damage
    monkeypatch.setattr(
        Result, "find_damage", lambda self, part: seen.append(part) or find_damage(self, part)
    )
    n = Result.load(file).n_outputs
    (first, last) = seen
    assert first.start == 0
    assert last.stop == n
    assert 1 <= first.stop <= n // 4
    assert last.start == n - first.stop
