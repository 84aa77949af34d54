"""Points given as text, "cord@0.5" and "block@0.1,0,0", as parsed throughout rodsim."""

import pytest

from rodsim.components.point_syntax import leading_position, parse_point


@pytest.mark.parametrize(
    ("text", "part", "position", "fraction"),
    [
        ("block", "block", (), None),
        ("block@0.1, 0,-2e-1", "block", (0.1, 0.0, -0.2), None),
        ("cord@0.5", "cord", (0.5,), 0.5),
        ("cord@1.5", "cord", (1.5,), None),
        ("cord@", "cord", (), None),
        ("cord@x", "cord", None, None),
        ("block@nan,0,0", "block", None, None),
        ("a@b", "a@b", (), None),  # a name may contain @
        ("a@b@1", "a@b", (1.0,), 1.0),
        ("@1", "@1", (), None),
    ],
)
def test_point_text_is_a_part_and_finite_numbers(text, part, position, fraction):
    point = parse_point(text, {"a@b", "block", "cord"})
    assert (point.part, point.position, point.fraction) == (part, position, fraction)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("@0.1,0,0.r.z", ("0.1,0,0", ".r.z")),
        ("@0.5.v.norm", ("0.5", ".v.norm")),
        ("@1.r.z", ("1", ".r.z")),
        ("@1e-1.K[1]", ("1e-1", ".K[1]")),
        ("@x.r.z", ("", "@x.r.z")),
        (".end.r.z", ("", ".end.r.z")),
    ],
)
def test_position_text_ends_before_the_field(text, parts):
    assert leading_position(text) == parts
