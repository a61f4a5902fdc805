"""Appendix B: one-way functions and encryption, on all functions and messages of two bits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from narcissus.extraction import StatisticalVerifier
from narcissus.mechanisms import Cipher, CountQueries, Sha256, SparseVector
from narcissus.mechanisms.noise import TwoSidedGeometric
from narcissus.profiles import WrittenFamily, WrittenOut
from narcissus.profiles.write_out import Tree
from narcissus.success.relations import SameImage
from narcissus_papers import ITEMS, Given
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


@pytest.mark.states("Cohen et al. 2024", "Definition B.11", "Theorem B.12")
def test_all_claims_hold_of_protocols(says):
    for item in cryptography.PROTOCOLS:
        says(item.number)


WRONG_PROTOCOLS = [
    # every question asked at once, which no attacker can
    (Tree, "best_leaves", lambda f: lambda tree, gain: np.ones(len(gain), dtype=bool), 2),
    (SparseVector, "on_answers", lambda f: TwoSidedGeometric(0.5), 1),
    (CountQueries, "_noisy", lambda f: lambda self, count, most, rng: most - count, 2),
]


@pytest.mark.parametrize(("owner", "name", "wrong", "fail"), WRONG_PROTOCOLS)
@pytest.mark.one_in(3)
def test_a_claim_fails_where_the_package_is_wrong_of_protocols(
    spoiled, monkeypatch, owner, name, wrong, fail
):
    assert len(spoiled(monkeypatch, "Definition B.11", owner, name, wrong)) >= fail


def test_adaptive_attackers_are_not_worse_than_fixed_ones_and_some_are_better():
    gains = cryptography.adapted()
    assert len(gains) >= 2
    assert all(free >= fixed - 1e-12 for free, fixed in gains)
    assert max(free - fixed for free, fixed in gains) > 1e-3


FIGURE = ITEMS["003/figure-verifiers"]


@pytest.mark.states("Cohen et al. 2024", "Algorithm D.12")
def test_the_triples_are_not_told_apart(says):
    says("Algorithm D.12")


@dataclasses.dataclass(frozen=True)
class Oracle:
    """Says of each string whether its first 64 bits are those of a seed."""

    seeds: frozenset[bytes]

    def attempt(self, release, known, rng):
        return np.array([int(row[:64].tobytes() in self.seeds) for row in release])


def test_a_verifier_who_knows_the_seeds_is_noticed(monkeypatch, spoiled):
    fakes, _ = cryptography._strings(True)
    seen = Oracle(frozenset(row[:64].tobytes() for row in fakes))
    found = spoiled(
        monkeypatch, "Algorithm D.12", cryptography, "StatisticalVerifier", lambda _f: lambda: seen
    )
    assert [what[:19] for what in found] == ["tests say which it "]


def test_a_triple_that_does_not_hold_its_string_is_noticed(monkeypatch, spoiled):
    assert spoiled(
        monkeypatch, "Algorithm D.12", cryptography, "prg_example",
        lambda f: lambda **g: dataclasses.replace(f(**g), release=b""),
    )  # fmt: skip


def test_a_generator_of_fewer_strings_is_noticed(monkeypatch, spoiled):
    assert spoiled(
        monkeypatch, "Algorithm D.12", cryptography, "Stretched", lambda f: lambda *_a: f(1, 16)
    )


def test_strings_of_a_seed_are_those_of_the_example():
    assert cryptography._strings(True)[0].shape == (cryptography.TRIPLES, cryptography.BITS)
    assert StatisticalVerifier().attempt(cryptography._strings(False)[0], None, None).mean() < 0.1


@pytest.mark.nightly
@pytest.mark.states("Cohen et al. 2024", "Definition D.10", "Lemma D.11")
def test_all_claims_of_the_figure_hold():
    found = FIGURE.make(Given())
    assert found.verdict == "agrees"
    assert len(found.held) == 5


@pytest.mark.nightly
@pytest.mark.parametrize("size", ["STRONG", "REGISTER", "LINEAR"])
def test_a_claim_fails_for_other_seeds(monkeypatch, size):
    """ChaCha20 with few seeds is learned; a register of 32 bits is no more caught at 5."""
    others = {"STRONG": (4, 5), "REGISTER": (20, 24, 28), "LINEAR": (8, 16, 24, 48)}
    monkeypatch.setattr(cryptography, size, others[size])
    if size == "LINEAR":
        right = cryptography.swept
        monkeypatch.setattr(
            cryptography,
            "swept",
            lambda study, *rest: right(study.replace("congruential", "fooled"), *rest),
        )
    assert FIGURE.make(Given()).verdict == "differs"
