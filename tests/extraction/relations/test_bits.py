"""The Hamming relation; the paper's examples are in `tests/papers`."""

import numpy as np

from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import HammingBall


def bits(rng, d):
    return "".join(map(str, rng.integers(0, 2, d)))


def test_hamming_members_count():
    rng = np.random.default_rng(9)
    data = DataSet("\n".join(bits(rng, 64) for _ in range(3)).encode())
    relation = HammingBall(0.25)
    members = list(relation.cheap_members(data))
    assert all(relation.counts(data, m) for m in members)
    assert not relation.counts(data, b"01\n" * 101)
