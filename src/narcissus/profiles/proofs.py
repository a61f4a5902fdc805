"""Proofs of resilience without a list of data sets: from privacy, and from the papers' lemmas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from narcissus._validation import non_negative, probability
from narcissus.bounds import best, bounds_on, threat
from narcissus.bounds.binomial import lower_tail
from narcissus.game import Game
from narcissus.game.rules import is_own
from narcissus.guarantees import Guarantee
from narcissus.guarantees.base import DECLARED
from narcissus.knowledge.base import KnownRows
from narcissus.mechanisms.plain import ExactAverage, NoisyAverage, Parity
from narcissus.profiles.closed_forms.average import (
    LEAST,
    limit_given_rows,
    log2_delta,
    places,
    two_criteria_limit,
)
from narcissus.results import Bound
from narcissus.success.relations.shipped import Hamming, Member
from narcissus.worlds.base import Array
from narcissus.worlds.finite import Finite, Pairs, RandomNeighbours
from narcissus.worlds.products import Bits, Uniform
from narcissus.worlds.tardos import Tardos


def private_delta(epsilon: float, privacy: tuple[float, float]) -> float:
    """Compute the delta at ``epsilon`` that (eps_0, delta_0)-differential privacy implies.

    The profile of the worst mechanism with that guarantee:
    ``delta_0 + (1 - delta_0) max(0, (e^eps_0 - e^epsilon) / (1 + e^eps_0))``.
    """
    promised, failure = non_negative("epsilon", privacy[0]), probability("delta", privacy[1])
    gap = max(0.0, -math.expm1(epsilon - promised)) / (1 + math.exp(-promised))
    return failure + (1 - failure) * gap


def _neighbours(left: Array, right: Array) -> bool:
    return int((left != right).reshape(len(left), -1).any(axis=1).sum()) <= 1


def _promise(game: Game, data: Array) -> tuple[float, float] | Guarantee | None:
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

    The world must be one of pairs that differ in one record (Theorem A.4), or of two such data sets
    (Theorem E.1), with nothing told to the attacker. ``privacy`` is replace-one (epsilon, delta),
    an assumption; by default the mechanism's own promise, an assumption if the mechanism is the
    user's.

    Source: Cohen et al. 2024, Theorems A.4 and E.1. Theorem A.4 is about each pair by itself; it
    holds for a distribution over pairs as well, since both sides are averages over them.
    """
    if game.side is not None or game.looser is not None:
        return None
    return _worst([_one_world(part, epsilon, privacy) for part in game.members().values()])


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
        premise = f"the mechanism has {promised.describe()}"
        delta = float(promised.profile(non_negative("epsilon", epsilon)))
    else:
        premise = f"the mechanism is ({promised[0]:g}, {promised[1]:g})-differentially private"
        delta = private_delta(epsilon, promised)
    if privacy is not None:
        assumed = (f"{premise}, replace-one, as [privacy] says", *DECLARED)
    elif is_own(game.mechanism):
        assumed = (f"{premise}, replace-one, as it promises itself", *DECLARED)
    else:
        assumed = ()
    return Bound(
        delta,
        f"delta at epsilon {epsilon:g}, against every attacker",
        theorem if assumed else f"{theorem} ({premise})",
        assumed,
        id=name,
    )


def all_bits_limit(game: Game) -> Bound | None:
    """Bound the success of naming nearly all of many bits, by the mechanism's guarantee.

    Each bit is a person with two values, and naming all except ``gamma n`` is a count of right
    answers: the sharpest of the package's theorems on that count applies.

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
    right = world.n - places(relation.gamma, world.n)
    if guarantee is None or right < 1 or not 0 < rate < 1:
        return None
    bits = threat(values=[1 - rate, rate], targets=world.n)
    bound = best(bounds_on(bits, guarantee, right, expensive=False))
    premise = f"the mechanism has {guarantee.describe()}"
    is_custom = is_own(game.mechanism)
    return Bound(
        max(LEAST, bound.value),
        "success of any attacker, and so delta at every epsilon",
        f"{bound.theorem}, for {right} of {world.n} bits" + ("" if is_custom else f" ({premise})"),
        (f"{premise}, as it promises itself", *guarantee.required) if is_custom else (),
        id=bound.id,
    )


def parity_limit(n: int, d: int, gamma: float) -> float:
    """Bound the success of any attacker of the parity release of uniform rows, for ``R_gamma``.

    Given the parities, each pair of bits is one of two, by a fair coin. A pair of the attempt with
    the right parity is off by 0 or 2 places, one with the wrong parity by 1. The best number of
    right parities is searched for, and the rows are summed over.

    Source: Kaplan et al. 2025, Example 1.3, with its tail computed.
    """
    half, allowed = d // 2, places(gamma, d)
    # Of `right` pairs with the right parity, how many may be off.
    room = ((right, (allowed - (half - right)) // 2) for right in range(half + 1))
    tail = max(float(lower_tail(right, min(off, right), 0.0)) for right, off in room if off >= 0)
    return min(1.0, n * max(tail, LEAST))


def from_lemmas(game: Game) -> Bound | None:
    """Bound delta by a bound on success alone, where a lemma of the papers has one.

    For a family, the largest bound. The attacker knows the prior and what the game tells; nothing
    more is assumed. With side information the lemmas are about surprisal.
    """
    return _worst([_one_lemma(part) for part in game.members().values()])


def from_comparison(game: Game) -> Bound | None:
    """Bound delta, at every epsilon, by what fresh data have in common with the data.

    For a family, the largest bound; no bound on success. Two criteria (Kaplan et al. 2025,
    Lemma 3.7), and known rows (Definition 4.1), which fresh data hold as well.
    """
    return _worst([_one_comparison(part) for part in game.members().values()])


def from_advantage(
    game: Game, advantage: float, uses: int = 1, *, fixed: bool = False, ideal: bool = False
) -> float | None:
    """Bound delta at every epsilon for a class of attackers, by their advantage in one use.

    The advantage is the most by which an attacker's chance of a yes differs between releases of
    two data sets; ``ideal``: between a release and one that depends on no data. It adds up over
    uses. ``fixed`` is for the best fixed guess in place of the own baseline. The class must hold
    who runs such an attacker and checks its attempt. None: the game has a second relation, or
    counts surprisal, or tells what a fixed guess does not know.

    Source: Narcissus theory 2.4.
    """
    if game.looser is not None or game.kept is not None or (fixed and game.side is not None):
        return None
    return min(1.0, advantage * uses * (2 if ideal and not fixed else 1))


def _worst(bounds: list[Bound | None]) -> Bound | None:
    known = [bound for bound in bounds if bound is not None]
    return max(known, key=lambda bound: bound.value) if len(known) == len(bounds) else None


def _gamma(relation: Any) -> float | None:
    """Return the share of places that may differ; None for all other relations."""
    if is_own(relation):
        return None
    if isinstance(relation, Member):
        return 0.0
    return relation.gamma if isinstance(relation, Hamming) else None


def _one_lemma(game: Game) -> Bound | None:
    gamma = _gamma(game.relation)
    if gamma is None or is_own(game.world):
        return None
    world: Any = game.world
    if isinstance(world, Bits):
        return all_bits_limit(game)
    if is_own(game.mechanism):  # a class derived from the lemma's mechanism may release more
        return None
    if game.side is not None:
        return _with_surprisal(game, gamma)
    if isinstance(world, Tardos) and isinstance(game.mechanism, ExactAverage | NoisyAverage):
        limit = limit_given_rows(world.n, world.d, gamma)
        theorem, name = "Kaplan et al. 2025, Lemma 3.5, with its tail computed", "kaplan-3.5"
    elif isinstance(world, Uniform) and world.levels == 2 and isinstance(game.mechanism, Parity):
        limit = parity_limit(world.n, world.d, gamma)
        theorem, name = "Kaplan et al. 2025, Example 1.3, with its tail computed", "kaplan-1.3"
    else:
        return None
    limited = "success of any attacker, and so delta at every epsilon"
    return Bound(limit, limited, theorem, id=name)


def _with_surprisal(game: Game, gamma: float) -> Bound | None:
    """Bound the recovery of rows that keep their surprisal, for all side information."""
    world, mechanism = game.world, game.mechanism
    if game.kept is None or not (isinstance(world, Tardos) and isinstance(mechanism, NoisyAverage)):
        return None
    share, bits, apart = game.kept.share, game.kept.bits, places(gamma, world.d)
    logarithm = log2_delta(world.n, world.d, mechanism.epsilon, share, places=apart, bits=bits)
    is_member = isinstance(game.relation, Member)
    how = "with its constants computed" if is_member else "computed for Definition 4.11"
    limit = max(LEAST, 2.0 ** max(logarithm, -1100.0))
    limited = (
        "success of any attacker at rows that count, whatever is told, and so delta at every "
        "epsilon"
    )
    premise = "the user's side information says truly how surprising a row still is"
    assumptions = (premise,) if is_own(game.side) else ()
    return Bound(
        limit, limited, f"Kaplan et al. 2025, Lemma 4.8, {how}", assumptions, id="kaplan-4.8"
    )


def _one_comparison(game: Game) -> Bound | None:
    world: Any = game.world
    gamma, looser = _gamma(game.relation), _gamma(game.looser or game.relation)
    if (
        gamma is None
        or looser is None
        or any(is_own(part) for part in (game.world, game.mechanism, game.side))
        or looser < gamma
        or (game.kept is not None and game.kept.of_fresh is not None)
        or not isinstance(world, Tardos)
        or not isinstance(game.mechanism, ExactAverage | NoisyAverage)
    ):
        return None
    limited = "delta at every epsilon, against every attacker"
    if isinstance(game.side, KnownRows):
        if game.side.rows >= world.n - 1:  # no other row, or its average
            return None
        limit = limit_given_rows(world.n, world.d, gamma, game.side.rows)
        limited = f"{limited} who is told {game.side.rows} row(s)"
        theorem = "Kaplan et al. 2025, Lemma 3.5, with the tail computed for the rows not told"
        return Bound(limit, limited, theorem, id="kaplan-4.1")
    if game.side is not None or game.looser is None:
        return None
    limit = two_criteria_limit(world.n, world.d, places(gamma, world.d), places(looser, world.d))
    theorem = "Kaplan et al. 2025, Lemma 3.7, with its constants computed"
    return Bound(limit, limited, theorem, id="kaplan-3.7")
