"""``narcissus complexity``: a file alone, given another, and whether it looks random."""

from __future__ import annotations

import json

import numpy as np
import pytest

NOISE = np.random.default_rng(9).bytes(2000)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "noise").write_bytes(NOISE)
    (tmp_path / "part").write_bytes(NOISE[200:1800])
    (tmp_path / "text").write_bytes(b"to be or not to be " * 40)
    (tmp_path / "empty").write_bytes(b"")
    return tmp_path


def test_alone(narcissus, files):
    code, out, _ = narcissus("complexity", "text", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["bytes"], found["given"], found["mutual_information"]) == (760, None, None)
    assert found["complexity"]["value"] < 8 * 100
    assert found["complexity"]["grade"] == "proved"
    assert 0 < found["randomness"]["p_value"] < 1e-50
    assert 0 < found["compressors"] < 1e-200
    assert set(found["randomness"]["p_values"]) == set(found["randomness"]["adjusted"])


def test_given_another(narcissus, files):
    code, out, _ = narcissus("complexity", "part", "--given", "noise", "--json")
    found = json.loads(out)
    information = found["mutual_information"]
    assert code == 0
    assert information["estimate"] == found["complexity"]["value"] - found["given"]["value"]
    assert information["estimate"] > 8 * 1300
    assert (information["at_least"], information["grade"]) == (0, "approximate")
    assert found["randomness"]["p_value"] > 1e-4
    assert found["compressors"] == 1
    code, out, _ = narcissus("complexity", "part", "--given", "noise")
    assert code == 0
    assert out.count("PROVED") == 3
    assert "APPROXIMATE: mutual information" in out
    assert "no proof of randomness" in out


def test_long_files_are_tested_in_part(narcissus, files):
    (files / "long").write_bytes(b"\0" + NOISE * 20)
    _, out, _ = narcissus("complexity", "long")
    assert "Of the first 32,768 bytes:" in out


def test_an_empty_file_is_described_and_not_tested(narcissus, files):
    code, out, _ = narcissus("complexity", "empty")
    assert (code, "NOT ASSESSED: whether it looks random" in out) == (0, True)
    _, out, _ = narcissus("complexity", "empty", "--json")
    assert json.loads(out)["randomness"] is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothere"], "does not exist"),
        (["text", "--given", "nothere"], "does not exist"),
        (["text", "--givn", "noise"], "Did you mean --given?"),
    ],
)
def test_what_is_wrong_is_said(narcissus, files, words, says):
    code, _, err = narcissus("complexity", *words)
    assert code == 2
    assert says in err.replace("'", "")  # Click quotes it since 8.5
