"""What an attack offers, and the conversation in which it may question a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import arity
from narcissus.errors import InputError, NarcissusError
from narcissus.knowledge.base import MoreKnowledge
from narcissus.success.relations.base import Attempts
from narcissus.worlds.base import Batch

SHOWN = 8
"""Questions of a conversation that are written down."""
LONGEST = 100
"""Characters of a message that are."""


class ConversationOverError(NarcissusError):
    """The mechanism answers no more questions."""


class BrokenMechanismError(InputError):
    """The mechanism raised something else than a refusal of a question."""


def written(message: Any) -> str:
    """Write a message in a line; what is long is cut off.

    Bytes are written as text where they are text, else as hexadecimal digits; an array of 0 and 1
    as its digits, with ``+ . -`` for 1, 0 and -1 where there is a -1.
    """
    if isinstance(message, bytes | bytearray):
        some = bytes(message[: LONGEST + 1])
        readable = some.isascii() and some.decode("latin-1").isprintable()
        text = some.decode() if readable else some.hex()
    elif isinstance(message, np.ndarray):
        text = _array(message.ravel()[: LONGEST + 1]) if message.ndim else str(message.item())
    elif isinstance(message, list | tuple):
        text = f"({', '.join(map(written, message[: LONGEST + 1]))})"
    else:
        text = "nothing" if message is None else str(message)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _array(values: np.ndarray[Any, Any]) -> str:
    if values.dtype.kind not in "biu" or np.abs(values.astype(np.int64)).max(initial=0) > 1:
        return str(values.tolist())
    signs = ".+-" if values.min(initial=0) < 0 else "01"
    return "".join(signs[int(value)] for value in values)


@dataclass(frozen=True)
class Transcript:
    """What was said in one trial, as text."""

    trial: int  # Number of the trial in the run, from 0
    greeting: str  # What the mechanism said before the first question; empty where it said nothing
    exchanges: tuple[tuple[str, str], ...]  # The first questions, each with its answer
    questions: int  # How many were answered in all
    attempt: str  # What the attacker came to


class Conversation:
    """The attacker's side of an interactive mechanism.

    talk: The mechanism's side: it gives a greeting (None for none), then an answer for each
        question that it is sent, and returns where it answers no more.
    limit: Most questions that are answered; None leaves that to the mechanism.

    greeting: What the mechanism says unasked: a public key; None where it says nothing.
    questions: How many were answered so far.
    """

    def __init__(self, talk: Generator[Any, Any, Any], limit: int | None = None) -> None:
        self._talk, self._limit = talk, limit
        self._exchanges: list[tuple[str, str]] = []
        self.questions = 0
        try:
            self.greeting: Any = self._said(None)
        except ImportError:
            raise
        except (NarcissusError, ValueError) as error:  # no question is to blame
            raise BrokenMechanismError(f"the mechanism cannot begin: {error}") from error

    @property
    def left(self) -> int | None:
        """How many more questions may be asked; None where the mechanism has no fixed number."""
        return None if self._limit is None else self._limit - self.questions

    def ask(self, question: Any) -> Any:
        """Send a question, and return the answer.

        ConversationOverError: The mechanism answers no more questions.
        NarcissusError, ValueError: It refuses this one.
        """
        if self.left == 0:
            raise ConversationOverError(f"the mechanism answers {self._limit} questions, no more")
        answer = self._said(question)
        self.questions += 1
        if len(self._exchanges) < SHOWN:
            self._exchanges.append((written(question), written(answer)))
        return answer

    def _said(self, question: Any) -> Any:
        """Send a question on; what the mechanism raises, but for a refusal, is its own fault."""
        try:
            return self._talk.send(question)
        except StopIteration:
            raise ConversationOverError(
                f"the mechanism ended the conversation after {self.questions} questions"
            ) from None
        except (NarcissusError, ValueError):
            raise
        except Exception as error:
            raise BrokenMechanismError(
                f"the mechanism raised {type(error).__name__} in a conversation: {error}; one that "
                "refuses a question raises ValueError"
            ) from error

    def transcript(self, trial: int, attempt: Any) -> Transcript:
        """Return what was said, with the outcome."""
        greeting = "" if self.greeting is None else written(self.greeting)
        exchanges = tuple(self._exchanges)
        return Transcript(trial, greeting, exchanges, self.questions, written(attempt))

    def close(self) -> None:
        self._talk.close()


@runtime_checkable
class Attack(Protocol):
    """Turns releases (and what the attacker was told) into attempts.

    It may also be `Preparable`, and `NeedsSideInformation`. Attempts may be wrapped in
    `narcissus.success.relations.Attempts` where some were not made.
    """

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Any:
        """Make one attempt for each trial of a batch."""
        ...


@runtime_checkable
class Asks(Protocol):
    """An attack on mechanisms that are talked with."""

    def converse(self, conversation: Conversation, known: Any, rng: np.random.Generator) -> Any:
        """Ask as much as it likes about one data set; return an attempt of any type, or None."""
        ...


@runtime_checkable
class Preparable(Protocol):
    """An attack that needs to know the world or the mechanism before it is played."""

    def prepare(self, game: Any) -> Attack: ...


@runtime_checkable
class NeedsSideInformation(Protocol):
    """An attack that is told more than the game tells: a limit on those that are not."""

    @property
    def knows(self) -> MoreKnowledge: ...


@dataclass(frozen=True)
class Failure:
    """An attack that raised: where, with which seed, and what it said."""

    trial: int  # Number of the trial in the run, from 0
    seed: int  # Of the generator that the attack was given
    error: str  # Type and text of the exception


@dataclass(frozen=True)
class Answers(Attempts):
    """Attempts, with the trials at which none was made because something raised.

    Of conversations, also what was said in the first of them.
    """

    failures: list[Failure]
    transcripts: list[Transcript] = field(default_factory=list[Transcript], kw_only=True)


def one_by_one(
    seeds: NDArray[np.int64],
    call: Callable[[int, np.random.Generator], Any],
    passing: tuple[type[Exception], ...] = (),
) -> Answers:
    """Call something for each trial, with a separate generator; None is no attempt.

    An error loses its trial, but for those of the kinds in ``passing``.
    """
    values: list[Any] = [None] * len(seeds)
    failures: list[Failure] = []
    for trial, seed in enumerate(seeds):
        try:
            values[trial] = call(trial, np.random.default_rng(int(seed)))
        except passing:
            raise
        except Exception as error:
            failures.append(Failure(trial, int(seed), f"{type(error).__name__}: {error}"))
    return Answers(values, np.array([value is not None for value in values], dtype=bool), failures)


@dataclass(frozen=True)
class OwnAttack:
    """An attack given by a Python function, called once a trial.

    function: ``function(release)``, ``function(release, known)`` or ``function(release, known,
        rng)``; gives an attempt, or None for no attempt. Where the mechanism is talked with, it
        gets the `Conversation` in place of a release. If it raises, the trial counts as a failure
        of the attack, is reported with its seed, and the run goes on.
    """

    function: Callable[..., Any]

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Answers:
        """Call the function for each trial."""
        count = arity(self.function, 3)

        def call(trial: int, own: np.random.Generator) -> Any:
            side_information = None if known is None else known[trial]
            return self.function(*(release[trial], side_information, own)[:count])

        return one_by_one(rng.integers(0, 2**63, len(release), dtype=np.int64), call)

    def converse(self, conversation: Conversation, known: Any, rng: np.random.Generator) -> Any:
        """Call the function with a conversation."""
        return self.function(*(conversation, known, rng)[: arity(self.function, 3)])
