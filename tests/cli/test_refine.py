"""``narcissus refine``: each relation, witnesses in files, and what a user gets wrong."""

from __future__ import annotations

import csv
import json
from fractions import Fraction

import numpy as np
import pytest

from narcissus import channels as ch

A = "secret,x,y\na,0.8,0.2\nb,0.2,0.8\nc,0.5,0.5\n"
B = "secret,u,v\na,0.7,0.3\nb,0.4,0.6\nc,0.45,0.55\n"
LESS = "secret,u,v\na,0.65,0.35\nb,0.35,0.65\nc,1/2,1/2\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.csv", A), ("b.csv", B), ("less.csv", LESS)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_post_processing_is_written(narcissus, files):
    code, out, _ = narcissus("refine", "a.csv", "less.csv", "--out", "r.csv", "--back", "g.csv")
    assert code == 0
    assert "a.csv tells more than less.csv" in out
    by = ch.read_channel(files / "r.csv")
    assert (by.secrets, by.outputs) == (("x", "y"), ("u", "v"))
    first, second = (ch.read_channel(files / f) for f in ("a.csv", "less.csv"))
    assert first.dense @ by.dense == pytest.approx(second.dense, abs=1e-12)
    rows = list(csv.reader((files / "g.csv").read_text().splitlines()))
    assert rows[0] == ["guess", "a", "b", "c"]
    gain = np.array([[float(x) for x in row[1:]] for row in rows[1:]])
    assert ch.g_vulnerability(first, gain) > ch.g_vulnerability(second, gain)


def test_incomparable_ones_have_both_witnesses(narcissus, files):
    code, out, _ = narcissus("refine", "a.csv", "b.csv", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["relation"], found["grade"]) == ("incomparable", "proved")
    assert found["names"] == ["a.csv", "b.csv"]
    for way, pair in (("forwards", ("a.csv", "b.csv")), ("backwards", ("b.csv", "a.csv"))):
        told = [ch.g_vulnerability(ch.read_channel(f), found[way]["gain"]) for f in pair]
        assert told == pytest.approx([found[way]["first"], found[way]["second"]])
        assert told[1] > told[0]
    assert "cannot be compared" in narcissus("refine", "a.csv", "b.csv")[1]


def test_in_fractions(narcissus, files):
    code, out, _ = narcissus("refine", "a.csv", "less.csv", "--exact", "--json", "--out", "r.csv")
    assert code == 0
    found = json.loads(out)
    assert (found["relation"], found["grade"]) == ("first", "proved")
    assert found["forwards"]["by"] == [["3/4", "1/4"], ["1/4", "3/4"]]
    assert ch.read_rational(files / "r.csv").rows[0] == (Fraction(3, 4), Fraction(1, 4))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "no such file"),
        ("", "empty"),
        ("secret,u\na,1\nb,1\n", "3 and 2 secrets"),
        ("secret,u\na,1\nb,1\nd,1\n", "stands where 'd' does"),
        ("secret,u,v\na,0.5,0.4\n", "sums to 0.9"),
    ],
)
def test_what_is_wrong_is_said(narcissus, files, text, says):
    if text is not None:
        (files / "c.csv").write_text(text)
    code, out, err = narcissus("refine", "a.csv", "c.csv")
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


def test_numpy_files_and_help(narcissus, files):
    np.save(files / "a.npy", ch.read_channel(files / "a.csv").dense)
    np.savez(files / "b.npz", ch.read_channel(files / "b.csv").dense)
    assert json.loads(narcissus("refine", "a.npy", "b.npz", "--json")[1])["relation"] == (
        "incomparable"
    )
    assert "Examples" in narcissus("refine", "--help")[1]
    assert narcissus("refine", "a.csv", "b.csv", "--out", "no/where.csv")[0] == 2


@pytest.mark.parametrize("exact", [(), ("--exact",)])
def test_a_page_shows_both_directions(narcissus, files, exact):
    code, out, _ = narcissus("refine", "a.csv", "less.csv", "--report", "page.html", *exact)
    assert code == 0
    assert "page.html" in out
    page = (files / "page.html").read_text()
    assert "Which tells more: a.csv or less.csv?" in page
    assert "What each guess gains for each secret" in page
    assert ("How a.csv is made into less.csv" in page) == (not exact)
    assert narcissus("refine", "a.csv", "b.csv", "--report", "page.txt")[0] == 2
