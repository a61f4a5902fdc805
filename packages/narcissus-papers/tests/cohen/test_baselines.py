"""Section 1.1: the three definitions, and what their examples show."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from narcissus.profiles import WrittenOut
from narcissus.success.statements import SinglingOut
from narcissus_papers.cohen import baselines


@pytest.mark.states("Cohen et al. 2024", "Definition 1.4", "Definition 1.5", "Definition 1.6",
                    "Example 1.7", "Example 1.8")  # fmt: skip
def test_all_claims_hold(says):
    for item in baselines.BASELINES:
        says(item.number)


WRONG = [
    ("Definition 1.4", "robust", lambda f: lambda s, e: (f(s, e)[0] + 0.1, f(s, e)[1])),
    ("Definition 1.5", "beyond", lambda f: lambda s, tau: f(s, tau + 0.01)),
    ("Definition 1.6", "delta", lambda f: lambda s, e: f(s, e) * 0.99),
    ("Example 1.7", "delta", lambda f: lambda s, e: f(s, e) / 9),
    ("Example 1.8", "delta", lambda f: lambda s, e: f(s, e) * 1.01),
]


@pytest.mark.parametrize(("number", "name", "wrong"), WRONG)
def test_a_claim_fails_where_the_exact_answer_is_wrong(spoiled, monkeypatch, number, name, wrong):
    assert spoiled(monkeypatch, number, WrittenOut, name, wrong)


def test_what_is_reached_by_a_release_is_not_without(spoiled, monkeypatch):
    wrong = lambda _f: baselines.Constant  # noqa: E731
    assert len(spoiled(monkeypatch, "Example 1.7", baselines, "Identity", wrong)) == 2


@pytest.mark.states("Cohen et al. 2024", "Definition 2.1", "Definition 2.2", "Theorem 2.3",
                    "Definition 2.4", "Definition 2.5")  # fmt: skip
def test_all_claims_hold_of_predicates(says):
    for number in ("Theorem 2.3", "Definition 2.4", "Definition 2.5"):
        says(number)


def test_membership_by_hand():
    """Two fair bits (of three values): both released, or nothing; half of the fresh are inside."""
    law = (0.5, 0.5, 0.0)
    assert baselines.membership(law, (0,) * 9) == 0
    # 00 and 11 tell for certain: fresh 1/2 against inside 1, with chance 1/2
    assert baselines.membership(law, tuple(range(9))) == pytest.approx(0.25)


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_singling_out_by_all_attackers(epsilon):
    """Each of the 5^3 attackers of a count of two bits, silent ones too, and each weight."""
    law, labels = (0.3, 0.7), (0, 1, 1, 2)
    data = list(product((0, 1), repeat=2))
    chance = [law[a] * law[b] for a, b in data]
    kinds = list(product((0, 1), repeat=2))
    weight = [p[0] * law[0] + p[1] * law[1] for p in kinds]
    npso = pso = 0.0
    for attacker in product(range(4), repeat=3):

        def right(s, label, attacker=attacker):
            return sum(kinds[attacker[label]][x] for x in s) == 1

        success = sum(c * right(s, y) for s, c, y in zip(data, chance, labels, strict=True))
        baseline = sum(c * d * right(t, y) for c, y in zip(chance, labels, strict=True)
                       for t, d in zip(data, chance, strict=True))  # fmt: skip
        npso = max(npso, success - np.exp(epsilon) * baseline)
        for w in weight:
            light = sum(c * right(s, y) * (weight[attacker[y]] <= w + 1e-12)
                        for s, c, y in zip(data, chance, labels, strict=True))  # fmt: skip
            best = max(2 * v * (1 - v) for v in weight if v <= w + 1e-12)
            pso = max(pso, light - np.exp(epsilon) * best)
    found = baselines.singled_out(2, law, labels, epsilon)
    assert found.npso == pytest.approx(npso, abs=1e-12)
    assert found.pso == pytest.approx(pso, abs=1e-12)


@pytest.mark.parametrize("number", ["Theorem 2.3", "Definition 2.5"])
def test_a_claim_fails_where_the_answer_is_wrong_of_predicates(spoiled, monkeypatch, number):
    wrong = lambda f: lambda self, e: f(self, e) * 0.99  # noqa: E731
    assert spoiled(monkeypatch, number, WrittenOut, "delta", wrong)


def test_a_claim_fails_where_the_curve_is_wrong(spoiled, monkeypatch):
    wrong = lambda f: lambda self, w: 0.9 * f(self, w)  # noqa: E731
    assert spoiled(monkeypatch, "Definition 2.4", SinglingOut, "_isolates", wrong)


def test_the_implication_fails_for_a_wrong_baseline(spoiled, monkeypatch):
    def wrong(right):
        return lambda *a: baselines.SingledOut(right(*a).npso + 0.01, right(*a).npso)

    assert spoiled(monkeypatch, "Definition 2.5", baselines, "singled_out", wrong)
