"""Proofs of resilience without a list of data sets: from privacy, and from the papers' lemmas."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from narcissus._validation import non_negative, probability
from narcissus.bounds import best, bounds_on, threat
from narcissus.bounds.binomial import lower_tail
from narcissus.game import Game
from narcissus.game.rules import is_own
from narcissus.guarantees import Guarantee
from narcissus.mechanisms.average import ExactAverage, NoisyAverage
from narcissus.mechanisms.parity import Parity
from narcissus.profiles.closed_forms.surprisal import log2_delta, log2_delta_near
from narcissus.results import Bound
from narcissus.success.relations.rows import Hamming, Member
from narcissus.worlds.base import Array
from narcissus.worlds.finite import Finite
from narcissus.worlds.pairs import Pairs, RandomNeighbours
from narcissus.worlds.products import Bits, Uniform
from narcissus.worlds.tardos import Tardos

LEAST = sys.float_info.min
"""A tail that is too small for a float is bounded by the least one: no bound is 0 by underflow."""


def private_delta(epsilon: float, privacy: tuple[float, float]) -> float:
    """Give the delta at ``epsilon`` that (eps_0, delta_0)-differential privacy promises.

    The profile of the worst mechanism with that guarantee:
    ``delta_0 + (1 - delta_0) max(0, (e^eps_0 - e^epsilon) / (1 + e^eps_0))``.
    """
    promised, failure = non_negative("epsilon", privacy[0]), probability("delta", privacy[1])
    gap = max(0.0, -math.expm1(epsilon - promised)) / (1 + math.exp(-promised))
    return failure + (1 - failure) * gap


def _neighbours(left: Array, right: Array) -> bool:
    return int((left != right).reshape(len(left), -1).any(axis=1).sum()) <= 1


def _promise(game: Game, data: Array) -> tuple[float, float] | Guarantee | None:
    """Give what the mechanism promises; of one that is talked with, of the whole conversation."""
    for name in ("promise", "privacy"):
        if hasattr(game.mechanism, name):
            promised = getattr(game.mechanism, name)(data)
            # an infinite epsilon promises nothing
            nothing = isinstance(promised, tuple) and not math.isfinite(promised[0])
            return None if nothing else promised
    return None


def from_privacy(
    game: Game, epsilon: float, privacy: tuple[float, float] | None = None
) -> Bound | None:
    """Bound delta by differential privacy, in worlds of neighbouring data sets.

    Parameters
    ----------
    game
        Its world must be one of pairs that differ in one record (Theorem A.4), or of two such
        data sets (Theorem E.1), with nothing told to the attacker.
    epsilon
        Of the statement.
    privacy
        (epsilon, delta), replace-one, which is then an assumption. Where not given, the
        mechanism's own promise: an assumption too if the mechanism is the user's.

    Notes
    -----
    Source: Cohen et al. 2024, Theorems A.4 and E.1. Theorem A.4 is about each pair by itself; it
    holds for a distribution over pairs as well, since both sides are averages over them.
    """
    if game.side is not None or game.looser is not None:
        return None
    bounds = [_one_world(part, epsilon, privacy) for part in game.members().values()]
    known = [bound for bound in bounds if bound is not None]
    return max(known, key=lambda bound: bound.value) if len(known) == len(bounds) else None


def _one_world(game: Game, epsilon: float, privacy: tuple[float, float] | None) -> Bound | None:
    world = game.world.pairs if isinstance(game.world, RandomNeighbours) else game.world
    if isinstance(world, Pairs) and all(_neighbours(a, b) for a, b in world.sets):
        theorem, name, data = "Cohen et al. 2024, Theorem A.4", "cohen-a.4", world.sets[:, 0]
    elif isinstance(world, Finite) and all(_neighbours(world.sets[0], b) for b in world.sets):
        if len(world.sets) > 2:
            return None
        theorem, name, data = "Cohen et al. 2024, Theorem E.1", "cohen-e.1", world.sets
    else:
        return None
    promised = _promise(game, data) if privacy is None else privacy
    if promised is None:
        return None
    if isinstance(promised, Guarantee):
        said = f"the mechanism has {promised.describe()}"
        delta = float(promised.profile(non_negative("epsilon", epsilon)))
    else:
        said = f"the mechanism is ({promised[0]:g}, {promised[1]:g})-differentially private"
        delta = private_delta(epsilon, promised)
    if privacy is not None:
        assumed = (f"{said}, replace-one, as [privacy] says",)
    elif is_own(game.mechanism):
        assumed = (f"{said}, replace-one, as it promises itself",)
    else:
        assumed = ()
    return Bound(
        delta,
        f"delta at epsilon {epsilon:g}, against every attacker",
        theorem if assumed else f"{theorem} ({said})",
        assumed,
        id=name,
    )


def all_bits_limit(game: Game) -> Bound | None:
    """Bound the success of naming nearly all of many bits, by what the mechanism guarantees.

    The bits are so many people with two values each, and to name all but ``gamma n`` of them is to
    have that many right: the sharpest of the package's theorems on that count.

    Notes
    -----
    Source: `narcissus.bounds`; Narcissus theory 4.
    """
    world, relation = game.world, game.relation
    known = getattr(game.mechanism, "promise", None)
    if known is None or game.side is not None or game.looser is not None:
        return None
    if not (isinstance(world, Bits) and isinstance(relation, Hamming) and world.law is not None):
        return None
    rate = float(world.rates[0])
    guarantee = known(np.zeros((1, world.n), dtype=np.uint8))
    right = world.n - math.floor(relation.gamma * world.n + 1e-9)
    if guarantee is None or right < 1 or not 0 < rate < 1:
        return None
    bits = threat(values=[1 - rate, rate], targets=world.n)
    found = best(bounds_on(bits, guarantee, right, dear=False))
    said = f"the mechanism has {guarantee.describe()}"
    own = is_own(game.mechanism)
    return Bound(
        max(LEAST, found.value),
        "success of any attacker, and so delta at every epsilon",
        f"{found.theorem}, for {right} of {world.n} bits" + ("" if own else f" ({said})"),
        (f"{said}, as it promises itself",) if own else (),
        id=found.id,
    )


def hamming_limit(n: int, d: int, gamma: float) -> float:
    """Bound the success of any attacker of an average under the Tardos prior, for ``R_gamma``.

    Given the average, the ones of each column sit at random rows, and a column with ``c`` ones
    disagrees with the attempt in a given row with probability at least ``min(c, n - c) / n``; a
    union bound over the rows does the rest. ``c`` is uniform on ``0 .. n`` and columns are
    independent, so the tail is a binomial one, where the paper has a Chernoff bound.

    Parameters
    ----------
    n, d
        Rows and attributes.
    gamma
        Share of the attributes that may differ.

    Returns
    -------
    float
        A bound on the success, in [0, 1].

    Notes
    -----
    Source: Kaplan et al. 2025, Lemma 3.5, with its tail computed. Adding noise to the average
    does not help an attacker, so the bound holds for noisy averages as well.

    Examples
    --------
    >>> hamming_limit(100, 1000, 1 / 25) < 1e-60
    True
    """
    counts = np.arange(n + 1)
    # A share of n (n + 1), counted so that its odds keep their digits.
    disagree = int(np.minimum(counts, n - counts).sum())
    if disagree == 0:  # one row: the average is the row
        return 1.0
    log_odds = math.log(disagree / (n * (n + 1) - disagree))
    tail = float(lower_tail(d, math.floor(gamma * d + 1e-9), log_odds))
    return min(1.0, n * max(tail, LEAST))


def parity_limit(n: int, d: int, gamma: float) -> float:
    """Bound the success of any attacker of the parity release of uniform rows, for ``R_gamma``.

    Given the parities, each pair of bits is one of two, by a fair coin. A pair of the attempt with
    the right parity is off by 0 or 2 places, one with the wrong parity by 1. The best number of
    right parities is searched for, and the rows are summed over.

    Notes
    -----
    Source: Kaplan et al. 2025, Example 1.3, with its tail computed.
    """
    half, allowed = d // 2, math.floor(gamma * d + 1e-9)
    # Of `right` pairs with the right parity, how many may be off.
    room = ((right, (allowed - (half - right)) // 2) for right in range(half + 1))
    tail = max(float(lower_tail(right, min(off, right), 0.0)) for right, off in room if off >= 0)
    return min(1.0, n * max(tail, LEAST))


def from_lemmas(game: Game) -> Bound | None:
    """Bound delta by a bound on success alone, where a lemma of the papers gives one.

    Of a family, the largest bound. The attacker knows the prior and what the game says: nothing
    more is assumed. With side information the lemmas are about surprisal.
    """
    bounds = [_one_lemma(part) for part in game.members().values()]
    known = [bound for bound in bounds if bound is not None]
    return max(known, key=lambda bound: bound.value) if len(known) == len(bounds) else None


def _one_lemma(game: Game) -> Bound | None:
    if not isinstance(game.relation, Hamming | Member):
        return None
    gamma = game.relation.gamma if isinstance(game.relation, Hamming) else 0.0
    world: Any = game.world
    if isinstance(world, Bits):
        return all_bits_limit(game)
    if game.side is not None:
        return _with_surprisal(game, game.relation, gamma)
    if isinstance(world, Tardos) and isinstance(game.mechanism, ExactAverage | NoisyAverage):
        limit = hamming_limit(world.n, world.d, gamma)
        theorem, name = "Kaplan et al. 2025, Lemma 3.5, with its tail computed", "kaplan-3.5"
    elif isinstance(world, Uniform) and world.levels == 2 and isinstance(game.mechanism, Parity):
        limit = parity_limit(world.n, world.d, gamma)
        theorem, name = "Kaplan et al. 2025, Example 1.3, with its tail computed", "kaplan-1.3"
    else:
        return None
    limited = "success of any attacker, and so delta at every epsilon"
    return Bound(limit, limited, theorem, id=name)


def _with_surprisal(game: Game, relation: Hamming | Member, gamma: float) -> Bound | None:
    """Bound what is recovered of rows that keep their surprisal, whatever the attacker is told."""
    world: Any = game.world
    if (
        game.surprisal is None
        or not isinstance(world, Tardos)
        or not isinstance(game.mechanism, NoisyAverage)
    ):
        return None
    noise, share = game.mechanism.epsilon, game.surprisal
    if isinstance(relation, Member):
        logarithm = log2_delta(world.n, world.d, noise, share)
        theorem = "Kaplan et al. 2025, Lemma 4.8, with its constants computed"
    else:
        places = math.floor(gamma * world.d + 1e-9)
        logarithm = log2_delta_near(world.n, world.d, noise, share, places)
        theorem = "Kaplan et al. 2025, Lemma 4.8, computed for Definition 4.11"
    limit = max(LEAST, 2.0 ** max(logarithm, -1100.0))
    limited = "success of any attacker at rows that count, and so delta at every epsilon"
    own = "the user's side information says truly how surprising a row still is"
    return Bound(limit, limited, theorem, (own,) if is_own(game.side) else (), id="kaplan-4.8")
