"""Writing out a function, and telling mechanisms that are talked with from those that release."""

import numpy as np

from narcissus.mechanisms import Identity, PublicKey
from narcissus.mechanisms.base import deterministic, is_interactive


def test_a_function_is_written_out_with_each_release_once():
    releases = np.array([[1, 0], [0, 2], [1, 0], [0, 2], [3, 3]])
    written = deterministic(releases)
    assert sorted(written.releases.tolist()) == [[0, 2], [1, 0], [3, 3]]
    full = written.matrix.toarray()
    assert set(np.unique(full)) == {0, 1}
    assert (full.sum(axis=1) == 1).all()
    assert (written.releases[full.argmax(axis=1)] == releases).all()


def test_only_what_says_so_is_talked_with():
    class Quiet(PublicKey):
        interactive = False

    assert is_interactive(PublicKey())
    assert not is_interactive(Quiet())
    assert not is_interactive(Identity())
