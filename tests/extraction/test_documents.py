"""Documents: how they are read, counted and divided."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.documents import Division, TextDocument, counted, divide, read_documents


def test_units_and_copies(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"one\r\ntwo\r\n\r\none\r\n")
    assert read_documents(path) == (TextDocument("one", 2), TextDocument("two"))
    assert read_documents(path, "paragraph") == (TextDocument("one\ntwo"), TextDocument("one"))


@pytest.mark.parametrize(("content", "said"), [(b"\n \n", "no documents"), (b"\xff", "UTF-8")])
def test_files_without_documents(tmp_path, content, said):
    path = tmp_path / "texts.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_documents(path)


def test_a_division_is_by_chance_and_complete():
    documents = counted([str(i % 40) for i in range(60)])
    found = divide(documents, np.random.default_rng(1))
    parts = (found.trained, found.fresh, found.reference)
    assert sorted(one.text for part in parts for one in part) == sorted(d.text for d in documents)
    assert [len(part) for part in parts] == [13, 13, 14]
    assert found.by_chance
    assert divide(documents, np.random.default_rng(2)).trained != found.trained
    with pytest.raises(InputError, match="at least 3"):
        divide(documents[:2], np.random.default_rng(1))


def test_every_document_is_trained_on_alike_often():
    documents = counted("abc")
    rng = np.random.default_rng(3)
    hits = sum(divide(documents, rng).trained[0].text == "a" for _ in range(3000))
    assert 850 < hits < 1150  # six standard deviations


def test_a_document_has_one_side():
    a, b = TextDocument("a"), TextDocument("b")
    with pytest.raises(InputError, match="among the fresh ones"):
        Division((a,), (b, a))
    with pytest.raises(InputError, match="among the reference ones"):
        Division((a,), (b,), (b,))
    with pytest.raises(InputError, match="no fresh"):
        Division((a,), ())
    with pytest.raises(InputError, match="copies"):
        TextDocument("a", 0)
