"""A conversation with a mechanism: questions are counted, and the first are written down."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus.errors import InputError, NarcissusError

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
    elif message is None:
        text = "nothing"
    else:
        text = str(message)
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

    Parameters
    ----------
    talk
        The mechanism's side: it gives a greeting (None for none), then an answer for each question
        that it is sent, and returns where it answers no more.
    limit
        Most questions that are answered; None leaves that to the mechanism.

    Attributes
    ----------
    greeting
        What the mechanism says unasked: a public key; None where it says nothing.
    questions
        How many were answered so far.
    """

    def __init__(self, talk: Generator[Any, Any, Any], limit: int | None = None) -> None:
        self._talk, self._limit = talk, limit
        self._exchanges: list[tuple[str, str]] = []
        self.questions = 0
        self.greeting: Any = self._greeted()

    @property
    def left(self) -> int | None:
        """How many more questions may be asked; None where the mechanism has no fixed number."""
        return None if self._limit is None else self._limit - self.questions

    def ask(self, question: Any) -> Any:
        """Ask, and give the answer.

        Raises
        ------
        ConversationOverError
            The mechanism answers no more questions.
        NarcissusError, ValueError
            It refuses this one.
        """
        if self.left == 0:
            raise ConversationOverError(f"the mechanism answers {self._limit} questions, no more")
        answer = self._said(question)
        self.questions += 1
        if len(self._exchanges) < SHOWN:
            self._exchanges.append((written(question), written(answer)))
        return answer

    def _greeted(self) -> Any:
        """Start the mechanism: whatever it raises now, no question is to blame."""
        try:
            return self._said(None)
        except ImportError:
            raise
        except (NarcissusError, ValueError) as error:
            raise BrokenMechanismError(f"the mechanism cannot begin: {error}") from error

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
        """Return what was said, with what came of it."""
        greeting = "" if self.greeting is None else written(self.greeting)
        exchanges = tuple(self._exchanges)
        return Transcript(trial, greeting, exchanges, self.questions, written(attempt))

    def close(self) -> None:
        """End it."""
        self._talk.close()
