"""The best attacker of a world that can be written out, ready to play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.conversation import Conversation
from narcissus.success.relations.base import Attempts, take
from narcissus.success.relations.shipped import TablePredicate
from narcissus.worlds.base import Batch, key_of


@dataclass(frozen=True)
class Lookup:
    """An attacker given by a table: for each release (and what was told), its attempt.

    `narcissus.profile` makes it, as the optimal attacker.

    Attributes
    ----------
    guesses
        All attempts, a batch.
    table
        (what was told, release) -> number of the attempt, -1 for none; keys by
        `narcissus.worlds.base.key_of`.
    """

    guesses: Any
    table: dict[Any, int]

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Attempts:
        """Look the attempts up; a release that is not in the table gets none."""
        told = [None] * len(release) if known is None else known
        index = np.asarray(
            [
                self.table.get((key_of(k), key_of(y)), -1)
                for k, y in zip(told, release, strict=True)
            ],
            dtype=np.int64,
        )
        return Attempts(take(self.guesses, np.maximum(index, 0)), index >= 0)


@dataclass(frozen=True)
class BestPredicate:
    """For relations that add up over records: the best predicate for each release.

    Attributes
    ----------
    guesses
        Predicates of one record each.
    table
        (what was told, release) -> the records of the best predicate, shape (records,).
    """

    guesses: Any
    table: dict[Any, NDArray[np.bool_]]

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Any:
        """Put the predicates together."""
        told = [None] * len(release) if known is None else known
        nothing = np.zeros(len(self.guesses), dtype=bool)
        rows = [
            self.table.get((key_of(k), key_of(y)), nothing)
            for k, y in zip(told, release, strict=True)
        ]
        return TablePredicate(self.guesses.support, np.asarray(rows))


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
