"""Calls to an attacker for its attempts; occasional failures do not end the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.base import Answers, Asks, one_by_one
from narcissus.attacks.conversation import BrokenMechanismError, Conversation, Transcript
from narcissus.errors import InputError, NarcissusError
from narcissus.mechanisms.base import Interactive
from narcissus.success.relations.base import Attempts, Weighted, take
from narcissus.worlds.base import Array, Batch, Draw, gather, stacked

Result = TypeVar("Result")


def guarded(what: str, part: Any, call: Callable[[], Result]) -> Result:
    """Call a method of a part of the game; an error becomes an `InputError` that names the part."""
    try:
        return call()
    except NarcissusError:
        raise
    except Exception as error:
        raise InputError(
            f"the {what} {type(part).__name__} raised {type(error).__name__}: {error}"
        ) from error


def ask(
    attack: Any,
    release: Batch,
    known: Batch,
    size: int,
    rng: np.random.Generator,
    *,
    strict: bool = False,
) -> Answers:
    """Request the attempts of a batch.

    An attack that raises is called again for one trial at a time, each with a seed of its own, so
    that only the trials at which it fails are lost; if ``strict``, its exception ends the run.
    """
    # Drawn before the attack draws anything, and not at all where they are never used.
    seeds = np.empty(0, np.int64) if strict else rng.integers(0, 2**63, size, dtype=np.int64)
    try:
        answer = attack.attempt(release, known, rng)
    except NarcissusError:
        raise
    except Exception:
        if strict:
            raise
        return _again(attack, release, known, seeds)
    if isinstance(answer, Answers):
        return answer
    if isinstance(answer, Attempts):
        return Answers(answer.values, answer.made, [])
    return Answers(answer, np.ones(size, dtype=bool), [])


def _again(attack: Any, release: Batch, known: Batch, seeds: NDArray[np.int64]) -> Answers:
    made = np.zeros(len(seeds), dtype=bool)

    def call(trial: int, rng: np.random.Generator) -> Any:
        only = np.array([trial])
        told = None if known is None else gather(known, only)
        answer = attack.attempt(gather(release, only), told, rng)
        wrapped = isinstance(answer, Attempts)
        made[trial] = bool(answer.made[0]) if wrapped else True
        return answer.values if wrapped else answer

    found = one_by_one(seeds, call, (NarcissusError,))
    if any(callable(value) for value in found.values):
        return Answers(JoinedPredicates(found.values), made, found.failures)
    values = [None if value is None else value[0] for value in found.values]
    return Answers(values, made, found.failures)


@dataclass(frozen=True)
class JoinedPredicates:
    """Predicates of single trials joined into one batch; a missing one holds nowhere."""

    parts: list[Any]
    exact = False

    def __call__(self, rows: Array) -> NDArray[np.float64]:
        said = np.zeros(rows.shape[:2])
        for trial, part in enumerate(self.parts):
            if part is not None:
                said[trial] = part(rows[trial : trial + 1])[0]
        return said

    def __len__(self) -> int:
        return len(self.parts)

    def take(self, index: Array) -> JoinedPredicates:
        return JoinedPredicates(take(self.parts, index))

    def weight(self, world: Any) -> NDArray[np.float64]:
        """Return the weights of the parts that know them; NaN for the others."""
        weights = np.full(len(self.parts), np.nan)
        for trial, part in enumerate(self.parts):
            known = part.weight(world) if isinstance(part, Weighted) else None
            if known is not None:
                weights[trial] = known[0]
        return weights


KEPT = 3
"""Conversations of a block of which it is kept what was said."""


def converse(
    mechanism: Interactive,
    draw: Draw,
    known: Batch,
    attack: Asks,
    rng: np.random.Generator,
    *,
    kept: int = KEPT,
) -> Answers:
    """Let the mechanism and the attacker exchange messages, one trial after the other.

    An attempt is a number, an array or a predicate; None where the attacker makes none. Mechanism
    and attacker have separate generators. The first ``kept`` conversations are recorded.
    """
    seeds = rng.integers(0, 2**63, draw.trials, dtype=np.int64)
    transcripts: list[Transcript] = []

    def call(trial: int, own: np.random.Generator) -> Any:
        theirs = own.spawn(1)[0]
        talk = mechanism.answers(draw.data[trial], own)
        conversation = Conversation(talk, getattr(mechanism, "questions", None))
        attempt: Any = None
        try:
            told = None if known is None else known[trial]
            attempt = attack.converse(conversation, told, theirs)
        finally:
            conversation.close()
            if trial < kept:
                transcripts.append(conversation.transcript(trial, attempt))
        return attempt

    found = one_by_one(seeds, call, (ImportError, BrokenMechanismError))
    return replace(found, values=_together(found), transcripts=transcripts)


def _together(found: Answers) -> Any:
    """Stack attempts of one shape into an array, with another one for each not made."""
    made = [value for value in found.values if value is not None]
    if not made:
        return found.values
    return stacked([made[0] if value is None else value for value in found.values])
