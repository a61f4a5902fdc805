"""Rows as numbers."""

import numpy as np

from narcissus.synthetic.files import keys_of


def test_rows_have_one_number_if_and_only_if_they_are_equal():
    rng = np.random.default_rng(1)
    for width, high in ((1, 3), (4, 3), (30, 2**20)):  # the last overflows 64 bits many times
        codes = rng.integers(0, high, (200, width))
        codes = codes[rng.integers(0, 100, 300)]
        numbers: dict[int, tuple[int, ...]] = {}
        for key, row in zip(keys_of(codes).tolist(), map(tuple, codes.tolist()), strict=True):
            assert numbers.setdefault(key, row) == row
        assert len(numbers) == len({tuple(row) for row in codes.tolist()})
        assert set(numbers) == set(range(len(numbers)))
