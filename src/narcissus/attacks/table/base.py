"""What an attacker of noisy marginals sees, and how its guesses become attempts.

To bring your own attack, write a class with `guess` and name it in the study as
``module:attribute``; everything that it may use is in the `View`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.base import Attack
from narcissus.errors import InputError, NarcissusError, raised_where
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms.marginals import Counts
from narcissus.mechanisms.noise import Noise

Floats = NDArray[np.float64]
Joint = NDArray[np.int64]


@dataclass(frozen=True)
class View:
    """Everything an attack may use.

    Attributes
    ----------
    targets
        The people as known beforehand.
    noise
        The noise on every cell, where there is such: the attacker knows the mechanism.
    release
        Of noisy counts the released cells, shape (cells,), in counts; of any other release the
        release itself, such as `narcissus.mechanisms.Microdata`.
    """

    targets: Targets
    noise: Noise | None
    release: Any


class Described(Protocol):
    """What a report says of an attack."""

    @property
    def title(self) -> str:
        """What the attack does, in one line."""
        ...

    @property
    def uses(self) -> str:
        """What it uses: 'prior', 'release', 'prior and release'."""
        ...

    @property
    def informed(self) -> bool:
        """Whether it is told everybody else's secrets: a ceiling, and no attack to be run."""
        ...


@runtime_checkable
class TableAttack(Attack, Described, Protocol):
    """An attack on a release about people."""

    @property
    def reads(self) -> tuple[type, ...]:
        """The kinds of release that it can read; `object` is any."""
        ...


@runtime_checkable
class MayFallBelow(Protocol):
    """An attack that does not decide by the prior, and knows how that can cost it."""

    def why_below(self, columns: int) -> str:
        """Describe how it can recover less than the best guess without the release, of so many
        columns.

        A sentence without its capital and its full stop.
        """
        ...


class Guesser(Described, Protocol):
    """A user's own attack, which is not informed: it guesses from one release at a time."""

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Guess every person's unknown columns, shape (n,), in ``[0, success.guesses)``.

        ``view.targets.success.decide`` turns beliefs into guesses, ``.guess_of`` joint values.
        """
        ...


def view_of(targets: Targets, release: Any) -> View:
    """Return what an attack sees of a release."""
    if isinstance(release, Counts):
        return View(targets, release.noise, release.cells)
    return View(targets, None, release)


class ReleaseByRelease(ABC):
    """Attempts from `guess`, asked about one release after the other."""

    informed = False
    reads: tuple[type, ...] = (Counts,)
    """The kinds of release that it can read."""

    @abstractmethod
    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Guess every person's unknown columns, shape (n,), in ``[0, success.guesses)``."""

    def attempt(
        self, release: Sequence[Any], known: Sequence[Targets], rng: np.random.Generator
    ) -> Joint:
        """Return the guesses about each release, shape (trials, n)."""
        views = [view_of(told, one) for one, told in zip(release, known, strict=True)]
        return np.stack([self.guess(view, rng=rng) for view in views])


@dataclass(frozen=True)
class OwnTableAttack(ReleaseByRelease):
    """A user's class, whose errors name it and whose guesses are checked.

    Parameters
    ----------
    name
        As in the study.
    own
        An instance of the class.
    """

    name: str
    own: Guesser
    reads = (object,)

    @property
    def title(self) -> str:
        """What the class says."""
        return self.own.title

    @property
    def uses(self) -> str:
        """What the class says."""
        return self.own.uses

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Let the class guess.

        Raises
        ------
        InputError
            It raised, or what it gave are no guesses.
        """
        attempt = self.asked(view, rng)
        people, guesses = view.targets.people, view.targets.success.guesses
        good = (
            attempt.shape == (people,)
            and np.issubdtype(attempt.dtype, np.integer)
            and attempt.min() >= 0
            and attempt.max() < guesses
        )
        if not good:
            raise InputError(
                f"attack `{self.name}` must give {people} guesses in [0, {guesses}), as integers; "
                f"got shape {attempt.shape}, type {attempt.dtype} (`view.targets.success.guess_of` "
                "turns joint values of the unknown columns into guesses)"
            )
        return attempt.astype(np.int64)

    def asked(self, view: Any, rng: np.random.Generator) -> NDArray[Any]:
        """Return what the class says of a view of any kind, not checked.

        Raises
        ------
        InputError
            It raised.
        """
        try:
            return np.asarray(self.own.guess(view, rng=rng))
        except NarcissusError:
            raise
        except Exception as error:
            raise InputError(f"attack `{self.name}` failed: {raised_where(error)}") from error


def softmax(logits: Floats) -> Floats:
    """Normalise exponentials along the last axis."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
