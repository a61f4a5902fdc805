"""Relations of text: the whole data set, rare strings."""

import numpy as np

from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import Strings, Verbatim


def test_verbatim():
    data = DataSet(b"one\ntwo\n")
    assert Verbatim().counts(data, b"one\ntwo")
    assert not Verbatim().counts(data, b"one\ntwo ")
    assert list(Verbatim().cheap_members(data)) == [b"one\ntwo"]


def test_strings_relation():
    """Relation (a): rare, complex lines count; common and simple ones do not."""
    rng = np.random.default_rng(34)
    secret = "".join(map(str, rng.integers(0, 10, 60)))
    records = ["hello world"] * 5 + [secret, "aaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
    data = DataSet("\n".join(records).encode())
    relation = Strings(at_least=1, k=2, bytes_each=20)
    assert relation.counts(data, f"noise\n{secret[3:58]}\n".encode())
    assert not relation.counts(data, b"hello world")  # five times is too common
    assert not relation.counts(data, b"aaaaaaaaaaaaaaaaaaaaaaaaaaaa")  # too simple
    assert not relation.counts(data, secret[:20].encode()[::-1])
    assert not relation.counts(data, b"\xff")
    assert all(relation.counts(data, m) for m in relation.cheap_members(data))
