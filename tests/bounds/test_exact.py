"""The exact optimum over all mechanisms, and bounds held against it."""

from __future__ import annotations

import pytest

from narcissus.bounds import certify
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import PureDP


def test_certify_says_what_it_found():
    good = certify(0.9, [0.7, 0.3], PureDP(0.0))
    assert good.holds
    assert not good.exact
    assert "valid, not tight" in str(good)
    assert "VIOLATED" in str(certify(0.5, [0.7, 0.3], PureDP(0.0)))
    assert "exact" in str(certify(0.7, [0.7, 0.3], PureDP(0.0)))


def test_what_does_not_fit_is_refused():
    with pytest.raises(TooLargeError, match="fewer targets"):
        certify(0.5, [[0.25] * 4] * 5, PureDP(1))
    with pytest.raises(InputError, match="guesses"):
        certify(0.5, [[0.5, 0.5]] * 2, PureDP(1), 1, guesses=1, shared=True)
