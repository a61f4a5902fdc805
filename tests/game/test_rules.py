"""Parts of a game that cannot be are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import (
    Cipher,
    CountingQuery,
    KAnonymity,
    MultiplyHash,
    Parallel,
    Parity,
    RandomizedResponse,
    Sha256,
    XorHalf,
)
from narcissus.success.relations import (
    Hamming,
    SameImage,
)
from narcissus.worlds import (
    Bits,
    Finite,
    Pairs,
    Records,
    Superset,
    Tardos,
)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Bits(0), "`n` must be at least 1"),
        (lambda: Bits(3, 1.5), "`rate` must be probabilities"),
        (lambda: Bits(3, [0.1, 0.2]), "3 of them"),
        (lambda: Records(3), "give `probabilities`"),
        (lambda: Records(3, [0.5, 0.4]), "sum to 1"),
        (lambda: Records(2, [0.5, 0.5], [1, 2, 3]), "equally many"),
        (lambda: Records(3, [[0.5, 0.5]]), "one list for each"),
        (lambda: Tardos(5, 2, 6), "at most `N`"),
        (lambda: Finite([[1], [2, 3]]), "one shape"),
        (lambda: Finite([[1], [2]], [0.5, 0.25, 0.25]), "each of 2 data sets"),
        (lambda: Pairs([[[1], [2], [3]]]), "two data sets each"),
        (lambda: Superset(2, 3, 0), "`size`"),
        (lambda: CountingQuery(0.6), "`tau` must be in"),
        (lambda: Hamming(1.5), "`gamma`"),
        (lambda: RandomizedResponse(-1), "`epsilon`"),
        (lambda: KAnonymity(1), "`k`"),
        (lambda: Cipher("rot13"), "`scheme` must be one of"),
        (lambda: XorHalf("first"), "`part` must be one of"),
        (lambda: Parallel([]), "at least one"),
        (lambda: Parity().release(np.zeros((1, 2, 3)), np.random.default_rng(0)), "even number"),
        (lambda: MultiplyHash().release(np.zeros((1, 8)), np.random.default_rng(0)), "64 bits"),
        (lambda: Hamming(0.1).guesses(np.zeros((1, 2, 30))), "2\\^30"),
        (lambda: SameImage(Sha256()).function.bits + Sha256(0).bits, "`bits`"),
    ],
)
def test_bad_parameters_are_named(make, match):
    with pytest.raises(InputError, match=match):
        make()
