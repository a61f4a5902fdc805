"""Canaries that are planted before a training elsewhere: drawn by a key, written, read again."""

import csv
import hashlib
import hmac
import io
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.errors import InputError
from narcissus.extraction.canaries import CanaryPlan, canary_table, read_canaries, to_plant

PLAN = CanaryPlan(each=3, copies=(1, 4), digits=5)


def test_a_key_draws_the_same_canaries_again_and_another_key_others():
    drawn = PLAN.keyed(b"one")
    assert drawn == PLAN.keyed(b"one")
    assert not {a.secret for a in drawn} & {b.secret for b in PLAN.keyed(b"two")}
    mac = hmac.new(b"one", b"2", hashlib.sha512).hexdigest()
    assert drawn[1].secret == str(int(mac, 16))[-5:]
    assert [one.copies for one in drawn] == [1, 1, 1, 4, 4, 4]
    assert drawn[3].text() == f"The code of safe 4 is {drawn[3].secret}."


def test_digits_are_uniform():
    """At a declared false-alarm rate of 1e-6; leading zeros are kept."""
    drawn = CanaryPlan(each=2000, copies=(1,), digits=3).keyed(b"key")
    assert {len(one.secret) for one in drawn} == {3}
    for place in range(3):
        counts = np.bincount([int(one.secret[place]) for one in drawn], minlength=10)
        assert stats.chisquare(counts).pvalue > 1e-6 / 3


def test_documents_to_plant_are_the_copies_and_the_table_is_read_again(tmp_path):
    drawn = PLAN.keyed(b"one")
    lines = to_plant(drawn, b"one").splitlines()
    assert Counter(lines) == {one.text(): one.copies for one in drawn}
    assert lines != sorted(lines)
    path = tmp_path / "canaries.csv"
    path.write_text(canary_table(drawn))
    assert read_canaries(path) == drawn
    odd = CanaryPlan(1, (1,), 2, 'safe, "{number}" opens at {secret}, {secret}').keyed(b"one")
    path.write_text(canary_table(odd))
    assert read_canaries(path) == odd


@given(
    st.sampled_from(
        ["=cmd|' /C calc'!A1", "+1", "-x", "@SUM(A1)", "\t=1", "\r=1", "'=1", ";=1", '"=1']
    ),
    st.sampled_from(["", "'", "''", " "]),
)
def test_no_text_of_a_canary_is_a_formula_and_each_is_read_again(start, before):
    """Whoever opens the table in a spreadsheet, the user too, computes nothing."""
    drawn = CanaryPlan(1, (2,), 3, f"{before}{start} {{number}} {{secret}}").keyed(b"one")
    table = canary_table(drawn)
    for row in csv.reader(io.StringIO(table, newline="")):
        for cell in row:
            assert cell[:1] not in {"\t", "\r"}
            assert cell.strip()[:1] not in {*"=+-@"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "canaries.csv")
        path.write_text(table, newline="")
        assert read_canaries(path) == drawn


ROWS = ["copies,text,secret", "1,a {secret}.,123", "4,b {secret}.,456"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no table of canaries"),
        (ROWS[:1], "no table of canaries"),
        (["copies,secret", "1,123"], "must begin with the line copies,text,secret"),
        ([*ROWS, "1,c {secret}"], "line 4"),
        ([*ROWS, "0,c {secret},123"], "line 4"),
        ([*ROWS, "-1,c {secret},123"], "line 4"),
        ([*ROWS, "99999999999999,c {secret},123"], "line 4"),
        ([*ROWS, "1,c {secret},12"], "line 4"),
        ([*ROWS, "1,c {secret},1x3"], "line 4"),
        ([*ROWS, "1,{secret},123"], "line 4"),
        ([*ROWS, "1,c,123"], "line 4"),
        ([*ROWS, ROWS[1]], "twice"),
        ([*ROWS, '1,"c'], "is not a table of canaries"),
        (["\0"], "binary"),
    ],
)
def test_tables_that_are_none(tmp_path, rows, said):
    path = tmp_path / "canaries.csv"
    path.write_text("\n".join(rows))
    with pytest.raises(InputError, match=said):
        read_canaries(path)
