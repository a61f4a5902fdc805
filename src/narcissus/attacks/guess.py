"""Attackers who name a row, a bit or a secret: without looking, by averages, or by tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._options import FilledIn
from narcissus._validation import non_negative
from narcissus.attacks.base import Conversation
from narcissus.errors import InputError
from narcissus.mechanisms import ThroughChannel
from narcissus.success.relations.base import Attempts, take
from narcissus.success.relations.shipped import TablePredicate
from narcissus.worlds.base import Array, Batch, key_of
from narcissus.worlds.finite import Secret
from narcissus.worlds.products import Bits


@dataclass(frozen=True)
class FixedGuess:
    """Always the same attempt, such as the Mona Lisa.

    guess: The attempt: a number, a row, or an array that the relation understands.
    """

    guess: float | Sequence[Any]

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Array:
        guess = np.asarray(self.guess)
        return np.broadcast_to(guess, (len(release), *guess.shape)).copy()


@dataclass(frozen=True)
class ReleasedRow:
    """Name a row that was released: the first one, or the release itself.

    row: Which row of the release, from 0; "all" for the whole release, as a list of guesses.
    """

    row: int | Literal["all"] = 0

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Array:
        table = np.asarray(release)
        return table if self.row == "all" else table[:, self.row]


@dataclass(frozen=True)
class RareRow:
    """Name the first released row that is not all zeros: somebody, not the Mona Lisa."""

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Look for such a row; where there is none, name the row of zeros."""
        somebody = release.any(axis=2)
        return release[np.arange(len(release)), somebody.argmax(axis=1)]


@dataclass(frozen=True)
class ReleasedPlaces:
    """Pin the first ``k`` places as a release of all entries shows them.

    k: Places to name.
    """

    k: int = 1

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        places = np.broadcast_to(np.arange(self.k), (len(release), self.k))
        return np.stack([places, release[:, : self.k]], axis=1)


@dataclass(frozen=True)
class Majority:
    """Round the average of each attribute: the row that is closest to the rows on average."""

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        return (release >= 0.5).astype(np.uint8)


@dataclass(frozen=True)
class Posterior:
    """Name one place of a vector of bits and its likelier entry, judged against the baseline.

    Given the share ``m`` of ones, a place is one with probability ``m``; the attempt made is the
    one with the larger ``posterior - e^epsilon prior``, none if both are negative. For an exact
    counting query on bits that are alike this is the best attack there is.

    epsilon: The ``epsilon`` of the statement that is attacked.
    rate: Prior probability of a one; taken from the world where not given.
    """

    epsilon: float = 0.0
    rate: float | None = None

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)

    def prepare(self, game: Any) -> Posterior:
        if self.rate is not None:
            return self
        if not isinstance(game.world, Bits):
            raise InputError("the attack `posterior` needs a world of bits, or its own `rate`")
        return replace(self, rate=float(game.world.rates[0]))

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Attempts:
        """Name place 0 and an entry; where nothing was released, the prior is the posterior."""
        rate = 0.5 if self.rate is None else self.rate
        share = np.where(np.isnan(release), rate, release)
        factor = math.exp(self.epsilon)
        gain_one, zero = share - factor * rate, (1 - share) - factor * (1 - rate)
        entry = (gain_one > zero).astype(np.int64)
        attempt = np.stack([np.zeros_like(entry), entry], axis=1)[..., None]
        return Attempts(attempt, np.maximum(gain_one, zero) > 0)


@dataclass(frozen=True, eq=False)
class BayesGuess:
    """Name the likeliest secret given the output.

    guesses: The secret named for each output, shape (outputs,); `prepare` finds them.

    Source: Chatzikokolakis et al. 2023, section II.
    """

    guesses: Annotated[NDArray[np.intp] | None, FilledIn()] = None

    def prepare(self, game: Any) -> BayesGuess:
        """Find the likeliest secret for every output."""
        if not (isinstance(game.world, Secret) and isinstance(game.mechanism, ThroughChannel)):
            raise InputError(
                "the Bayes guess needs the world `Secret` and the mechanism `ThroughChannel`"
            )
        joint = game.mechanism.matrix.scaled(game.world.chances)
        return BayesGuess(np.asarray(joint.argmax(axis=0)).ravel())

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        if self.guesses is None:
            raise InputError("call `prepare` first: the attack needs the prior and the channel")
        return self.guesses[release]


def _found(table: dict[Any, Any], release: Batch, known: Batch, missing: Any) -> list[Any]:
    """Look up each trial's (what was told, release) by `narcissus.worlds.base.key_of`."""
    side_information = [None] * len(release) if known is None else known
    pairs = zip(side_information, release, strict=True)
    return [table.get((key_of(k), key_of(y)), missing) for k, y in pairs]


@dataclass(frozen=True)
class Lookup:
    """An attacker given by a table: for each release (and what was told), its attempt.

    `narcissus.profile` makes it, as the optimal attacker.
    """

    guesses: Any  # All attempts, a batch
    # (what was told, release), by `narcissus.worlds.base.key_of`, to the number of the
    # attempt, -1 for none
    table: dict[Any, int]

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Attempts:
        """Look the attempts up; a release that is not in the table gets none."""
        index = np.asarray(_found(self.table, release, known, -1), dtype=np.int64)
        return Attempts(take(self.guesses, np.maximum(index, 0)), index >= 0)


@dataclass(frozen=True)
class BestPredicate:
    """For relations that add up over records: the best predicate for each release."""

    guesses: Any  # Predicates of one record each
    table: dict[Any, NDArray[np.bool_]]  # To the records of the best predicate, shape (records,)

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Any:
        rows = _found(self.table, release, known, np.zeros(len(self.guesses), dtype=bool))
        return TablePredicate(self.guesses.support, np.asarray(rows, dtype=bool))


@dataclass(frozen=True)
class Plan:
    """What to ask after what was heard, and what to try in the end."""

    question: Any  # The question; None where the conversation is over
    # What to do after each answer, by `narcissus.worlds.base.key_of` of it
    after: dict[Any, Plan]
    guess: int = -1  # Number of the attempt, -1 for none


@dataclass(frozen=True)
class BestQuestions:
    """An attacker of a conversation given by a plan for each thing that it may be told.

    `narcissus.profile` makes it, as the optimal attacker of a mechanism that is talked with.
    """

    guesses: Any  # All attempts, a batch
    plans: dict[Any, Plan]  # What was told, by `narcissus.worlds.base.key_of`, to the plan

    def converse(self, conversation: Conversation, known: Any, rng: np.random.Generator) -> Any:
        """Ask as planned; an answer that is not in the plan ends it without an attempt."""
        plan = self.plans.get(key_of(known))
        while plan is not None and plan.question is not None:
            plan = plan.after.get(key_of(conversation.ask(plan.question)))
        return None if plan is None or plan.guess < 0 else self.guesses[plan.guess]
