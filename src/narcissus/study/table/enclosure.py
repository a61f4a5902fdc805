"""What no attack is beyond, release by release, and what that is worth on average over people.

Given the release and everybody else's secrets, each guess about a person counts with a known
chance. Whatever attacks guess, their share of a release is between the mean of each person's
smallest and largest chance, and what the release adds to what the same guesses score on fresh
people between the largest fall and rise of a chance. What these are worth on average is told by
people who are each in a release of their own (`chances_alone`), and so are independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import Targets
from narcissus.attacks.table.alone import chances_alone, first
from narcissus.evidence import Envelope, PeopleSums
from narcissus.mechanisms.noise import Noise

Floats = NDArray[np.float64]

MOST, LEAST, RISE, FALL, UNLIKELIEST, LIKELIEST, LEFT, GAINED = range(8)
"""The largest and the smallest chance of a guess; the largest rise and fall of one by the release;
the smallest and the largest chance before it; the chance before it of the guess that has the
largest after it, and what that has gained: of who is told all other secrets, and nobody else."""

DRAWS = 4
"""Releases of their own that each person is in; people, not releases, are what is counted."""
ENOUGH = 1000  # people of a trial; more would tell little else
_VALUES = 1_000_000  # chances that are held at once


def around(
    targets: Targets, chances: Floats, noise: Noise, rng: np.random.Generator
) -> dict[str, Floats]:
    """Give what a trial keeps of what no attack is beyond.

    Parameters
    ----------
    targets
        Its people, whom the prior is right about.
    chances
        Of each guess given the release and everybody else's secrets, shape (n, guesses).
    noise
        On each cell.
    rng
        For releases of their own.
    """
    some = max(1, min(targets.people, ENOUGH, _VALUES // targets.prior.shape[1]))
    people = first(targets, slice(some))
    draws = [_ends(chances_alone(people, noise, rng), people.chances) for _ in range(DRAWS)]
    x, g = np.mean(draws, axis=0), people.chances.max(axis=1)
    moments = [x, x**2, np.broadcast_to(g, x.shape), np.broadcast_to(g**2, x.shape), x * g]
    return {
        "ends": _means(chances, targets.chances),
        "alone": np.stack([m.sum(axis=1) for m in moments], axis=1),
        "alone_people": np.array(float(some)),
    }


def _means(chances: Floats, before: Floats) -> Floats:
    """Give their means over people, so many at a time that little memory is held."""
    step = max(1, _VALUES // chances.shape[1])
    starts = range(0, len(chances), step)
    sums = [_ends(chances[a : a + step], before[a : a + step]).sum(axis=1) for a in starts]
    return np.sum(sums, axis=0) / len(chances)


def _ends(chances: Floats, before: Floats) -> Floats:
    """Give the eight numbers of each person, shape (8, n)."""
    change, everybody = chances - before, np.arange(len(chances))
    most, best = chances.max(axis=1), chances.argmax(axis=1)
    left = before[everybody, best]
    rise, fall = change.max(axis=1), -change.min(axis=1)
    ends = [chances.min(axis=1), rise, fall, before.min(axis=1), before.max(axis=1)]
    return np.stack([most, *ends, left, most - left])


@dataclass(frozen=True)
class Enclosure:
    """What no attack was beyond in the trials of one setting.

    Attributes
    ----------
    ends
        Means over the people of each trial, shape (trials, 8).
    guesses
        What the best guess without the release scores by the prior, shape (trials,).
    alone
        Sums of x, x^2, g, g^2, x g over people in releases of their own, x one of the eight and g
        the best guess, shape (trials, 8, 5).
    counts
        How many these are, shape (trials,).
    """

    ends: Floats
    guesses: Floats
    alone: Floats
    counts: Floats

    @classmethod
    def of(cls, trials: Sequence[Mapping[str, NDArray[Any]]], people: int) -> Enclosure | None:
        """Take it from what was kept; None where such chances are not known."""
        if "alone" not in trials[0]:
            return None
        return cls(
            np.array([t["ends"] for t in trials]),
            np.array([t["guess"][0] for t in trials]) / people,
            np.array([t["alone"] for t in trials]),
            np.array([float(t["alone_people"]) for t in trials]),
        )

    def envelope(
        self, end: int, *, sign: int = 1, less: float = 0.0, allowed: float = 0.0
    ) -> Envelope:
        """Give ``sign end - less guess - allowed``, in each trial and over people."""
        moments = self.alone[:, end] * [sign, 1, 1, 1, sign]
        sums = PeopleSums.of_moments(moments, self.counts, less=less, allowed=allowed)
        if sign < 0:
            sums = PeopleSums(sums.totals, sums.squares, sums.counts, -1 - less - allowed, -allowed)
        return Envelope(sign * self.ends[:, end] - less * self.guesses - allowed, sums)
