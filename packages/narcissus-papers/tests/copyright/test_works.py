"""Works, their passages, and when what a model says is substantially alike."""

import re

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.recovered import edit_distance
from narcissus_papers.copyright.works import (
    Alike,
    Passage,
    WrittenWork,
    common_runs,
    passages_of,
    read_work,
    read_works,
    runs_of,
    words_of,
)


def longest(one, other):
    """Find the longest run of words of both by trying all."""
    return max(
        (
            size
            for size in range(1, len(one) + 1)
            for i in range(len(one) - size + 1)
            for j in range(len(other) - size + 1)
            if one[i : i + size] == other[j : j + size]
        ),
        default=0,
    )


@pytest.mark.parametrize("seed", range(30))
def test_a_passage_comes_back_by_words_in_a_row_or_few_edits(seed):
    rng = np.random.default_rng(seed)
    said, true = (" ".join(rng.choice(["Ab", "ab,", "c", "d"], 9)) for _ in range(2))
    passage = Passage(f"x {true}", 1)
    assert passage.follows == f" {true}"
    most = longest(words_of(said), words_of(true))
    assert Alike().words_in_a_row(said, passage) == most
    for words in range(1, 10):
        assert Alike(words).holds(said, passage) == (most >= words)
        share = edit_distance(said, passage.follows) / len(passage.follows)
        assert Alike(10, share + 1e-9).holds(said, passage)
        assert not Alike(10, share - 1e-9).holds(said, passage)


@pytest.mark.parametrize("seed", range(10))
def test_passages_are_stretches_of_a_paragraph_in_order(seed):
    rng = np.random.default_rng(seed)
    known, window = (int(one) for one in rng.integers(1, 5, 2))
    text = "".join(f"{w}{rng.choice([' ', '  ', chr(10)])}" for w in rng.choice([*"abc"], 30))
    found = passages_of(text, known, window)
    assert len(found) == 30 // (known + window)
    place = 0
    for one in found:
        place = text.index(one.text, place)
        assert [len(part.split()) for part in (one.text[: one.known], one.follows)] == [
            known, window,
        ]  # fmt: skip
        place += len(one.text)


def test_words_that_another_text_holds_count_for_nobody():
    refrain = "and so say all of us"
    works = [WrittenWork(t, (t,), ()) for t in (f"one two {refrain} three", f"four {refrain} five")]
    common = common_runs(works, ["six one two SEVEN"], 2)
    assert common == runs_of(refrain, 2) | {("one", "two")}
    passage, rule = Passage(f"zero {refrain} three four", 4), Alike(2)
    assert rule.holds(refrain, passage)
    rule = Alike(2, common=common)
    assert not rule.holds(refrain, passage)
    assert rule.holds("us, three", passage)
    only = WrittenWork("", (), (passage, Passage(f"zero {refrain}", 4)))
    assert rule.own(only) == [passage]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda f: read_work(f / "none.txt", known=2, window=2), "no such file"),
        (lambda f: read_work(f / "short.txt", known=2, window=2), "no paragraph of 4 words"),
        (lambda f: read_work(f / "latin.txt", known=2, window=2), "not UTF-8"),
        (lambda f: read_works(f / "short.txt", known=1, window=1), "(it is a file)"),
        (lambda f: read_works(f / "none", known=1, window=1), "(it does not exist)"),
        (lambda f: read_works(f / "empty", known=1, window=1), "1 to 10,000 works"),
    ],
)
def test_what_is_no_work_is_refused(tmp_path, made, said):
    (tmp_path / "short.txt").write_text("one two three\n\nfour five six\n")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=re.escape(said)):
        made(tmp_path)
