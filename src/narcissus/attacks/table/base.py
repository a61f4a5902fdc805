"""What an attacker of a table's release sees, learns from and offers; how guesses become attempts.

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
from scipy import sparse

from narcissus._arrays import Floats, first_largest
from narcissus.attacks.base import Answers, Attack
from narcissus.errors import InputError, NarcissusError, raised_where
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms.noise import Counts, Noise

Joint = NDArray[np.int64]


@dataclass(frozen=True)
class View:
    """Everything an attack may use."""

    targets: Targets  # The people as known beforehand
    noise: Noise | None  # On every cell, where there is such: the attacker knows the mechanism
    # Of noisy counts the released cells, shape (cells,), in counts; of any other release the
    # release itself, such as `narcissus.mechanisms.Microdata`
    release: Any


@dataclass(frozen=True, eq=False)
class Simulated:
    """One release about people who were drawn from the prior, to learn from before the attack.

    The attacker knows the mechanism and how likely people are, so they may play the release against
    people whom they made up, and learn how it gives secrets away. Nothing that is scored is ever
    learned from.
    """

    # The people as the attacker would know them; where joint values are too many for a list, an
    # own attack gets `FactoredTargets`
    targets: Targets
    release: Any  # What was released about them
    # Everybody's joint value of the unknown columns, shape (n,); without such a list the columns'
    # values, shape (n, columns)
    secrets: NDArray[np.int64]


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


@runtime_checkable
class Trainable(Protocol):
    """An attack that learns from simulated releases before it is played."""

    @property
    def learns_from(self) -> tuple[type, ...]:
        """The kinds of release that it learns something from."""
        ...

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> TableAttack:
        """Return the attack to play; what it is depends on the arguments alone."""
        ...


class Guesser(Described, Protocol):
    """A user's own attack, which is not informed: it guesses from one release at a time."""

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Guess every person's unknown columns, shape (n,), in ``[0, success.guesses)``.

        ``view.targets.success.decide`` turns beliefs into guesses, ``.guess_of`` joint values.
        """
        ...


class Learner(Guesser, Protocol):
    """A user's own attack that learns before it guesses."""

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> Guesser:
        """Return the attack to play."""
        ...


def view_of(targets: Targets, release: Any) -> View:
    """Return what an attack sees of a release."""
    if isinstance(release, Counts):
        return View(targets, release.noise, release.cells)
    return View(targets, None, release)


class OneByOne(ABC):
    """Attempts about one release after the other."""

    informed = False
    reads: tuple[type, ...] = (Counts,)
    """The kinds of release that it can read."""

    @abstractmethod
    def about(self, release: Any, told: Any, rng: np.random.Generator) -> NDArray[Any]:
        """Guess everybody's unknown columns: one number each, or a number for each column."""

    def attempt(
        self, release: Sequence[Any], known: Sequence[Any], rng: np.random.Generator
    ) -> NDArray[Any] | Answers:
        """Return the guesses about each release, shape (trials, n) or (trials, n, columns)."""
        pairs = zip(release, known, strict=True)
        return np.stack(
            [self.about(output, side_information, rng) for output, side_information in pairs]
        )


class ReleaseByRelease(OneByOne):
    """Attempts from `guess`, asked about one release after the other."""

    @abstractmethod
    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Guess every person's unknown columns, shape (n,), in ``[0, success.guesses)``."""

    def about(self, release: Any, told: Targets, rng: np.random.Generator) -> Joint:
        return self.guess(view_of(told, release), rng=rng)


class ByBeliefs(ReleaseByRelease):
    """Guesses that are decided by beliefs about everybody's values."""

    @abstractmethod
    def beliefs(self, view: View, *, rng: np.random.Generator) -> Floats:
        """Return everybody's posterior, exact or not, shape (n, values)."""

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        return view.targets.success.decide(self.beliefs(view, rng=rng))


@dataclass(frozen=True)
class PriorGuess(ReleaseByRelease):
    """The Bayes decision from the prior alone (attack (a) of Narcissus theory 9)."""

    title = "the best guess without the release"
    uses = "prior"
    reads = (object,)

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        return first_largest(view.targets.chances)


@dataclass(frozen=True)
class OwnTableAttack(ReleaseByRelease):
    """A user's class, whose errors name it and whose guesses are checked.

    name: As in the study.
    own: An instance of the class.
    """

    name: str
    own: Guesser
    reads = (object,)

    @property
    def title(self) -> str:
        return self.own.title

    @property
    def uses(self) -> str:
        return self.own.uses

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Let the class guess; raise InputError if it raised, or gave no guesses."""
        attempt = self.asked(view, rng)
        people, guesses = view.targets.people, view.targets.success.guesses
        if attempt.shape != (people,) or not are_below(attempt, np.array(guesses)):
            raise InputError(
                f"attack `{self.name}` must give {people} guesses in [0, {guesses}), as integers; "
                f"got shape {attempt.shape}, type {attempt.dtype} (`view.targets.success.guess_of` "
                "turns joint values of the unknown columns into guesses)"
            )
        return attempt.astype(np.int64)

    def asked(self, view: Any, rng: np.random.Generator) -> NDArray[Any]:
        """Return what the class says of a view of any kind, not checked."""
        try:
            return np.asarray(self.own.guess(view, rng=rng))
        except NarcissusError:
            raise
        except Exception as error:
            raise InputError(f"attack `{self.name}` failed: {raised_where(error)}") from error


@dataclass(frozen=True)
class OwnLearner(OwnTableAttack):
    """A user's class that learns, from whatever is released; its errors name it."""

    own: Learner
    learns_from = (object,)

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> OwnTableAttack:
        """Let the class learn; its guesses are checked as before."""
        try:
            learned = self.own.train(simulated, rng)
        except NarcissusError:
            raise
        except Exception as error:
            raise InputError(
                f"attack `{self.name}` did not learn: {raised_where(error)}"
            ) from error
        if not hasattr(learned, "guess"):
            raise InputError(
                f"attack `{self.name}`: `train` must give what is to `guess`, such as "
                f"`dataclasses.replace(self, ...)`; got {type(learned).__name__}"
            )
        return OwnTableAttack(self.name, learned)


def are_below(guesses: NDArray[Any], limits: NDArray[np.integer]) -> bool:
    """Check whether guesses are whole numbers of at least 0 and below some limits."""
    whole = np.issubdtype(guesses.dtype, np.integer)
    return whole and bool(((guesses >= 0) & (guesses < limits)).all())


def within_reach(base: Joint, size: int) -> tuple[NDArray[np.intp], Joint]:
    """Return the groups of people who share a cell's known part in the tables of a pattern.

    Of each person in each table, shape of ``base``; and the cells of each group, (groups, size).
    """
    distinct, group = np.unique(base, return_inverse=True)
    return group.reshape(base.shape), distinct[:, None] + np.arange(size)


def group_members(group: NDArray[np.intp], groups: int) -> sparse.csr_array:
    """Return how often each person (n, tables) is in a group, shape (groups, n)."""
    n, tables = group.shape
    people = np.repeat(np.arange(n), tables)
    return sparse.csr_array((np.ones(people.size), (group.ravel(), people)), shape=(groups, n))


def softmax(logits: Floats) -> Floats:
    """Normalise exponentials along the last axis."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
