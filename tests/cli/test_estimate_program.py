"""What the options say of a program and of measures."""

import pytest

from narcissus.channels import MEASURES
from narcissus.cli.estimate_program import gain_from, program_from, wanted_measures
from narcissus.errors import InputError

HOW = {"given": "argument", "observe": "time", "seconds": 3.0}


def test_secrets_come_from_the_line_a_file_or_the_prior(tmp_path):
    made = program_from("echo 'a b' {secret}", "x, y", None, **HOW)
    assert list(made.command) == ["echo", "a b", "{secret}"]
    assert list(made.secrets) == ["x", "y"]
    assert (made.observe, made.seconds) == ("time", 3.0)
    file = tmp_path / "s.txt"
    file.write_text("one, with a comma\n\ntwo\n")
    assert list(program_from("echo", f"@{file}", None, **HOW).secrets) == [
        "one, with a comma",
        "two",
    ]
    made = program_from("echo", None, {"x": 0.9, "y": 0.1}, **HOW)
    assert made.weights.tolist() == [0.9, 0.1]
    file.write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match="UTF-8"):
        program_from("echo", f"@{file}", None, **HOW)


def test_a_gain_has_a_column_per_secret(tmp_path):
    (tmp_path / "gain.csv").write_text("secret,hit,pass\na,1,.5\nb,0,.5\n")
    gain = gain_from(tmp_path / "gain.csv")
    assert gain.loc["hit", "a"] == 1
    assert gain.shape == (2, 2)
    assert gain_from(None) is None


def test_all_measures_are_those_that_can_be_had():
    assert wanted_measures((), everything=False, gain=True) == []
    assert wanted_measures(("capacity",), everything=True, gain=True) == ["capacity"]
    assert wanted_measures(("all",), everything=False, gain=True) == list(MEASURES)
    without = wanted_measures((), everything=True, gain=False)
    assert set(MEASURES) - set(without) == {"g-leakage", "g-vulnerability", "additive-g-leakage"}
