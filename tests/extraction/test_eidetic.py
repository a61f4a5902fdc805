"""k-eidetic counts against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.extraction import eidetic
from narcissus.extraction.eidetic import eidetic_counts

ab = st.binary(max_size=60).map(lambda b: bytes(97 + x % 2 for x in b))


def by_hand(strings, documents):
    def at(s, d):
        return sum(d.startswith(s, i) for i in range(len(d)))

    occurrences = [sum(at(s, d) for d in documents) for s in strings]
    return occurrences, [sum(s in d for d in documents) for s in strings]


@given(st.lists(ab.filter(len), min_size=1, max_size=12), st.lists(ab, min_size=1, max_size=6))
def test_against_counting_by_hand(strings, documents):
    found = eidetic_counts(strings, documents)
    assert (found.occurrences.tolist(), found.documents.tolist()) == by_hand(strings, documents)


@given(st.binary(min_size=1, max_size=300), st.data())
def test_substrings_of_any_bytes(text, data):
    spans = data.draw(
        st.lists(
            st.tuples(st.integers(0, len(text) - 1), st.integers(1, 40)), min_size=1, max_size=9
        )
    )
    strings = [text[a : a + n] for a, n in spans]
    found = eidetic_counts(strings, text)
    assert found.occurrences.tolist() == by_hand(strings, [text])[0]


def test_documents_that_span_chunks(monkeypatch):
    monkeypatch.setattr(eidetic, "_CHUNK", 16)
    rng = np.random.default_rng(1)
    documents = [
        bytes(rng.integers(97, 99, n, dtype=np.uint8)) for n in (3, 100, 0, 1, 50, 64, 2, 40)
    ]
    strings = sorted({d[i : i + n] for d in documents for i in range(0, len(d), 7)
                      for n in (1, 3, 8, 9, 17, 33)} - {b""})  # fmt: skip
    found = eidetic_counts(strings, documents)
    assert (found.occurrences.tolist(), found.documents.tolist()) == by_hand(strings, documents)


def test_zeros_at_the_end_are_not_text():
    assert eidetic_counts([b"a\0", b"\0"], b"xa").occurrences.tolist() == [0, 0]


def test_repetition_is_bounded():
    """A text of one letter, the worst case, ends with the right counts."""
    found = eidetic_counts([b"a" * n for n in (1, 7, 8, 64, 100)], b"a" * 100_000)
    assert found.occurrences.tolist() == [100_001 - n for n in (1, 7, 8, 64, 100)]


def test_starts():
    found = eidetic_counts(["ab"], "abab", starts=[0, 1])
    assert found.occurrences.tolist() == [1]
    with pytest.raises(InputError, match="ascend"):
        eidetic_counts(["ab"], "abab", starts=[1])
    with pytest.raises(InputError, match="empty"):
        eidetic_counts([""], "abab")
