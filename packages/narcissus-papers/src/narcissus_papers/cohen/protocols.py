"""Appendix B.3: interactive mechanisms, against every adaptive attacker, and played."""

from __future__ import annotations

import itertools
import math

import numpy as np

from narcissus.attacks import Asks, ExhaustiveReconstruction, LinearReconstruction
from narcissus.attacks.base import Conversation
from narcissus.game import Game
from narcissus.guarantees import PureDP, optimal_composition
from narcissus.mechanisms import (
    AdaptiveComposition,
    CountQueries,
    Parallel,
    RandomizedResponse,
    SparseVector,
    through_channel,
)
from narcissus.profiles import write_out
from narcissus.profiles.proofs import from_lemmas
from narcissus.success.relations import FirstBit, Hamming, NamesSecret
from narcissus.worlds import Bits, Pairs, Secret
from narcissus_papers.base import Given, Item, Reproduced, claims, played
from narcissus_papers.cohen.cases import (
    EPSILONS,
    ROOM,
    audit_of,
    channels,
    checked,
    item,
    profile_of,
)
from narcissus_papers.cohen.cryptography import cpa

PAIR = Pairs([[[0], [1]]])


def one_question() -> list[float]:
    """Compute how far a protocol of one question is from the mechanism that it asks."""
    apart: list[float] = []
    for rows in channels(6, 2, 3):
        part = through_channel(rows.tolist())
        asked = write_out(Game(PAIR, AdaptiveComposition([part], 1), FirstBit()))
        released = write_out(Game(PAIR, part, FirstBit()))
        apart += np.abs(asked.deltas(EPSILONS) - released.deltas(EPSILONS)).tolist()
    return apart


def adapted() -> list[tuple[float, float]]:
    """Compute the gain of the best adaptive attacker, and of the best fixed list of questions."""
    found: list[tuple[float, float]] = []
    uniform = Secret([0.25] * 4)
    drawn = channels(9, 4, 2)
    for place in range(0, len(drawn) - 2, 3):
        parts = [through_channel(rows.tolist()) for rows in drawn[place : place + 3]]
        both = itertools.product(parts, repeat=2)
        asked = write_out(Game(uniform, AdaptiveComposition(parts, 2), NamesSecret(4)))
        fixed = [write_out(Game(uniform, Parallel(pair), NamesSecret(4))) for pair in both]
        found.append((asked.delta(0.0), max(one.delta(0.0) for one in fixed)))
    return found


def excess(algorithm: str, questions: int, promised: float) -> float:
    """Compute by how much the best attacker of sparse vector exceeds a promised gain."""
    mechanism = SparseVector(1.0, 1, questions, 1, algorithm)  # pyright: ignore[reportArgumentType]
    exact = write_out(Game(PAIR, mechanism, FirstBit()))
    return float((exact.deltas(EPSILONS) - PureDP(promised).profile(EPSILONS)).max())


def composed() -> list[float]:
    """Compute how far adaptively chosen randomized responses are from optimal composition."""
    parts = [RandomizedResponse(1.0), RandomizedResponse(0.5)]
    apart: list[float] = []
    for times in (1, 2, 3):
        exact = write_out(Game(PAIR, AdaptiveComposition(parts, times), FirstBit()))
        allowed = optimal_composition(1.0, times).profile(EPSILONS)
        apart += np.abs(exact.deltas(EPSILONS) - allowed).tolist()
    return apart


def named(mechanism: CountQueries, attack: Asks, n: int, trials: int) -> list[float]:
    """Play an attacker on random bits; return the share of them that it names."""
    rng = np.random.default_rng(11)
    shares: list[float] = []
    for data in Bits(n).draw(trials, rng).data:
        talk = Conversation(mechanism.answers(data, rng), mechanism.questions)
        shares.append(float((attack.converse(talk, None, rng.spawn(1)[0]) == data).mean()))
    return shares


def definition_b11(_given: Given) -> Reproduced:
    """Write conversations out, and play them. Source: Cohen et al. 2024, Definition B.11."""
    gains = adapted()
    linear, every = LinearReconstruction(n=64), ExhaustiveReconstruction(n=8)
    little = named(CountQueries(256, error=1), linear, 64, 8)
    private = named(CountQueries(256, epsilon=1.0), linear, 64, 8)
    found = named(CountQueries(255, error=1), every, 8, 8)
    bound = from_lemmas(Game(Bits(64), CountQueries(256, epsilon=1.0), Hamming(0.05)))
    return claims(
        checked(
            "a protocol of one question is the mechanism that it asks: 6 channels, against every "
            "attacker",
            max(one_question()) <= ROOM,
        ),
        checked(
            "who lets a question depend on the answers gains at least what any fixed questions "
            f"give, and often more: {len(gains)} protocols of two questions, every attacker, by "
            "backward induction",
            all(free >= fixed - ROOM for free, fixed in gains)
            and any(free > fixed + 1e-3 for free, fixed in gains),
        ),
        checked(
            "sparse vector (Lyu, Su and Li 2017, Algorithms 1 and 2) gives no attacker more than "
            "its privacy allows over a pair: five questions, each after the earlier answers",
            max(excess("standard", 5, 1.0), excess("dwork-roth", 5, 1.0)) <= ROOM,
        ),
        checked(
            "without noise on the counts, without an end, or with counts as answers (Algorithms "
            "5, 6, 3) it gives more than any (1, 0)-private mechanism does",
            min(excess("stoddard", 2, 1.0), excess("chen", 5, 1.0), excess("roth", 4, 1.0)) > 1e-4,
        ),
        checked(
            "Theorem A.4 holds for protocols: randomized responses chosen one after the other "
            "reach the delta of optimal composition (Kairouz, Oh and Viswanath 2015), and no more",
            max(composed()) <= ROOM,
        ),
        checked(
            "what fits the counts of all subsets of 8 bits, each off by one at most, has four "
            "bits wrong at most (Dinur and Nissim 2003): 8 data sets",
            min(found) >= 0.5,
        ),
        played(
            "counts of 256 random subsets of 64 bits, off by one at most, name 95 of 100 bits; "
            "with noise for epsilon 1 in all they do not, and the chance is at most "
            f"{math.inf if bound is None else bound.value:.2g} for every attacker",
            min(little) >= 0.95
            and max(private) < 0.95
            and bound is not None
            and bound.value < 1e-3,
        ),
    )


PROTOCOLS: tuple[Item, ...] = (
    item(
        "Definition B.11", "Resilience of a protocol: the attacker asks, and asks on.",
        definition_b11, profile_of("sparse-vector"), seconds=3,
    ),
    item(
        "Theorem B.12", "CPA security is resilience of a conversation.",
        cpa, audit_of("cpa-own-scheme"),
    ),
)  # fmt: skip
"""The statements about protocols."""
