"""Appendix B: one-way functions and encryption, on all functions and messages of two bits."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.mechanisms import Cipher, Sha256
from narcissus.profiles import WrittenFamily, WrittenOut
from narcissus.success.relations import SameImage
from narcissus_papers.cohen import cryptography


@pytest.mark.states("Cohen et al. 2024", "Definition B.1", "Remark B.2", "Definition B.3",
                    "Definition B.4", "Theorem B.5", "Definition B.6", "Definition B.7",
                    "Theorem B.8", "Definition B.9", "Definition B.10")  # fmt: skip
def test_all_claims_hold(says):
    for item in cryptography.CRYPTOGRAPHY:
        says(item.number)


WRONG = [
    ("Definition B.1", WrittenOut, "delta", lambda f: lambda *a: 0.5 * f(*a)),
    ("Remark B.2", SameImage, "holds", lambda f: lambda *a: ~f(*a)),
    ("Definition B.3", Sha256, "release", lambda f: lambda s, d, r: f(s, d // 2, r)),
    ("Definition B.4", cryptography, "spread", lambda f: lambda labels: f(labels[:3])),
    ("Theorem B.5", WrittenOut, "delta", lambda f: lambda *a: 0.99 * f(*a)),
    ("Theorem B.5", cryptography, "spread", lambda f: lambda labels: 0.9 * f(labels)),
    ("Definition B.6", Cipher, "decrypt", lambda f: lambda *a: 0 * f(*a)),
    ("Theorem B.8", WrittenFamily, "delta", lambda f: lambda *a: 0.99 * f(*a)),
    ("Definition B.9", cryptography, "KEYS", lambda keys: (*keys, (33, 3, 3))),
    ("Theorem B.12", WrittenOut, "delta", lambda f: lambda *a: 0.99 * f(*a)),
]


@pytest.mark.parametrize(("number", "owner", "name", "wrong"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(spoiled, monkeypatch, number, owner, name, wrong):
    assert spoiled(monkeypatch, number, owner, name, wrong)


def test_ciphertexts_that_meet_tell_less():
    """RSA with the exponent of a function that is not 1-1 merges messages."""
    rows = cryptography.conversations(2)[0]
    assert rows.sum(axis=1) == pytest.approx(1)
    assert (np.minimum(*rows) == 0).all()


def test_a_scheme_whose_ciphertexts_meet_is_not_broken(spoiled, monkeypatch):
    def wrong(right):
        return lambda coins: [np.vstack([rows[0], rows.mean(axis=0)]) for rows in right(coins)]

    assert len(spoiled(monkeypatch, "Theorem B.12", cryptography, "conversations", wrong)) == 2
