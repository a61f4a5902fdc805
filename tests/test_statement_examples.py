"""The program that writes a study for each statement: what it refuses, and what it counts."""

import importlib.util
import itertools
import math
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import narcissus
from narcissus.report.about import verdict_of

PATH = Path(__file__).resolve().parents[1] / "examples" / "statements" / "write.py"
SPEC = importlib.util.spec_from_file_location("write", PATH)
write = sys.modules["write"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(write)
SMALL = {
    "D.2": (60, 151), "D.3": (400, 1159), "D.4": (200, 1723), "D.5": (500, 9278),
    "D.6": (500, 9301), "D.10": (10, 11), "D.11": (200, 410), "D.12": (200, 410),
    "D.4.2": (64, 130), "footnote-8": (8192, 342_126), "3.1": (5, 14), "4.1": (5, 9),
}  # fmt: skip


def defaults(name):
    return {key: value for key, (value, _, _) in write.STATEMENTS[name][1].items()} | {"seed": 1}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.nightly] if name == "footnote-8" else [])
    for name in SMALL
])  # fmt: skip
def test_what_says_nothing_is_refused_with_the_least_that_does(name, capsys, tmp_path):
    small, least = SMALL[name]
    first = next(iter(write.STATEMENTS[name][1]))
    assert write.main([name, f"--{first}", str(small), "--out", str(tmp_path / "none")]) == 2
    assert f"it says something from {least:,} on" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
    for value in (least, least + 1, 2 * least):
        assert not write.made(name, {**defaults(name), first: value}).why
    assert write.made(name, {**defaults(name), first: least - 1}).why


@pytest.mark.parametrize("name", SMALL)
def test_a_study_is_ready_to_be_played(name, capsys, tmp_path):
    assert write.main([name, "--out", str(tmp_path)]) == 0
    assert "narcissus" in capsys.readouterr().out
    if name != "D.4.2":
        narcissus.load_study(tmp_path / "study.toml")


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("D.4", "no extraction"),
        ("D.5", "evidence"),
        ("D.12", "evidence"),
        ("D.11", "no extraction"),
    ],
)
@pytest.mark.nightly
def test_a_study_ends_as_its_statement_says(name, ends, tmp_path):
    write.main([name, "--out", str(tmp_path)])
    record = narcissus.run(narcissus.load_study(tmp_path / "study.toml")).record
    assert verdict_of(record).lower().startswith(f"no threshold: {ends}")


@pytest.mark.parametrize("share", [0.0, 0.25, 0.4])
@pytest.mark.parametrize(("lines", "strings"), [(1, 1), (20, 1), (20, 50)])
def test_no_more_than_one_in_a_thousand_needs_less(share, lines, strings):
    """Exactly, by the volume of a ball: fewer than 2^k programs, each right two times in three."""
    for d in (60, 101, 400):
        volume = sum(math.comb(d, i) for i in range(math.floor(share * d) + 1))
        k = math.floor(write.counted(d, share, lines, strings))
        covered = Fraction(3 * lines * strings * volume, 2 * 2**d)
        assert k < 0 or 2**k * covered <= Fraction(1, 1000)


def test_the_limit_of_definition_3_1_is_the_binomial_tail():
    """In fractions: n Pr[Bin(d, q) <= gamma d], q the mean share of the rarer bit of a column."""
    n, gamma = 40, Fraction(4, 100)
    q = sum(Fraction(min(m, n - m), n) for m in range(n + 1)) / (n + 1)
    for d in itertools.chain(range(8, 20), range(20, 60, 7)):
        tail = sum(
            math.comb(d, i) * q**i * (1 - q) ** (d - i) for i in range(math.floor(gamma * d) + 1)
        )
        says = not write.made("3.1", {**defaults("3.1"), "d": d}).why
        assert says == (n * tail < 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["4.1", "--known", "39"], "no value is enough"),
        (["4.1", "--known", "40"], "`known` must be at least 0 and at most 39"),
        (["3.1", "--N", "3"], "--N must be at least the 40 rows"),
        (["D.5", "--bits", "x"], "a whole number from 2 to 1,048,576, got 'x'"),
        (["D.10", "--seed-bits", "0"], "a whole number from 1 to 256"),
    ],
)
def test_what_is_wrong_is_said(words, said, capsys):
    try:
        code = write.main(words)
    except SystemExit as left:
        code = left.code
    assert code == 2
    assert said in capsys.readouterr().err
