"""Exact envelopes around every attack, release by release and averaged over people.

Given the release and everybody else's secrets, each guess about a person has a known chance to
count. So any attack's share of a release lies between the mean of each person's smallest and
largest chance. What the release adds, compared with the same guesses scored on fresh people, lies
between the largest fall and rise of a chance. The means of these are estimated from other people,
each in a separate release (`beliefs_alone`), who are therefore independent. So are those of them
who belong to a group, if nobody else decides who does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats, first_largest
from narcissus.attacks.table import Targets
from narcissus.attacks.table.ceiling import beliefs_alone
from narcissus.evidence import Envelope, PeopleSums
from narcissus.kinds.table.population import TrialPopulation
from narcissus.mechanisms.noise import Noise
from narcissus.success import ColumnsRight

Trial = Mapping[str, NDArray[Any]]

# The largest and the smallest chance of a guess; the largest rise and fall of one by the release;
# the smallest and the largest chance before it; the chance before it of the guess that has the
# largest after it, and what that has gained: of who is told all other secrets, and nobody else.
MOST, LEAST, RISE, FALL, UNLIKELIEST, LIKELIEST, LEFT, GAINED = range(8)

# People of a trial, besides those in its release, who are each in one of their own. They cost
# little: nobody attacks those releases.
FEWEST, MOST_PEOPLE = 500, 2000
_VALUES = 1_000_000  # chances that are held at once


def people_alone(targets: int, values: int) -> int:
    """Return how many people of a trial are in separate releases, given the size of its release."""
    return max(1, min(max(FEWEST, 2 * targets), MOST_PEOPLE, _VALUES // values))


def attack_envelope(
    population: TrialPopulation,
    chances: Floats,
    beliefs: Floats | None,
    noise: Noise,
    rng: np.random.Generator,
) -> dict[str, Floats]:
    """Compute what a trial keeps of its envelopes.

    The prior is right about the people of ``population``, and others like them. ``chances`` are
    those of each guess given the release and everybody else's secrets, shape (n, guesses).
    ``beliefs`` are those of each joint value, shape (n, values); None if one unknown column is all
    that is asked. ``noise`` is on each cell; ``rng`` is for the separate releases.
    """
    others = population.others
    assert others is not None
    people, success = others.targets, population.targets.success
    assert isinstance(people, Targets)
    assert isinstance(population.targets, Targets)
    assert isinstance(success, ColumnsRight)
    alone = beliefs_alone(people, noise, rng)
    x, g = _ends(success.chances(alone), people.chances), people.chances.max(axis=1)
    moments = np.stack([x, x**2, *np.broadcast_to([[g], [g**2]], (2, *x.shape)), x * g])
    masks = np.zeros((len(population.groups.names), people.people))
    other_masks = others.members.masks()
    masks[: len(other_masks)] = other_masks
    grouped = masks @ moments.reshape(-1, people.people).T
    before, by_group = population.targets.chances, 0.0
    means: list[Floats] = []
    for block in _blocks(chances):  # to save memory
        ends = _ends(chances[block], before[block])
        means.append(ends.sum(axis=1))
        by_group = by_group + population.members.masks(block).astype(np.float64) @ ends.T
    envelopes = {
        "ends": np.sum(means, axis=0) / len(chances),
        "group_ends": np.asarray(by_group),
        "alone": moments.sum(axis=2).T,
        "alone_people": np.array(float(people.people)),
        "group_alone": grouped.reshape(-1, *moments.shape[:2]).swapaxes(1, 2),
        "group_alone_people": masks.sum(axis=1),
    }
    if beliefs is not None:
        each = success.column_ends(alone)
        sums = [success.column_ends(beliefs[block]).sum(axis=0) for block in _blocks(beliefs)]
        envelopes["column_ends"] = np.sum(sums, axis=0) / len(beliefs)
        envelopes["column_alone"] = np.stack([each.sum(axis=0), (each**2).sum(axis=0)], axis=-1)
    return envelopes


def _blocks(values: Floats) -> list[slice]:
    step = max(1, _VALUES // values.shape[1])
    return [slice(a, a + step) for a in range(0, len(values), step)]


def _ends(chances: Floats, before: Floats) -> Floats:
    change, everybody = chances - before, np.arange(len(chances))
    maxima, best = chances.max(axis=1), first_largest(chances)
    left = before[everybody, best]
    rise, fall = change.max(axis=1), -change.min(axis=1)
    ends = [chances.min(axis=1), rise, fall, before.min(axis=1), before.max(axis=1)]
    return np.stack([maxima, *ends, left, maxima - left])


@dataclass(frozen=True)
class Enclosure:
    """Envelopes around every attack in the trials of one setting, for everybody or a group."""

    # means over the people of each trial, shape (trials, 8); of a column the first two
    ends: Floats
    guesses: Floats  # score of the best guess without the release by the prior, shape (trials,)
    # sums of x, x^2, g, g^2, x g over people in separate releases, with x one of the eight
    # and g the best guess, shape (trials, 8, 5); there may be more trials than above
    alone: Floats
    counts: Floats  # the number of these people, shape (trials,)

    @classmethod
    def of(cls, trials: Sequence[Trial], people: int) -> Enclosure | None:
        """Load it from trials; None if such chances are not known."""
        if "alone" not in trials[0]:
            return None
        return cls(
            np.array([t["ends"] for t in trials]),
            np.array([t["guess"][0] for t in trials]) / people,
            np.array([t["alone"] for t in trials]),
            np.array([float(t["alone_people"]) for t in trials]),
        )

    @classmethod
    def of_group(cls, trials: Sequence[Trial], group: int) -> Enclosure | None:
        """Load that of a group whose members are drawn independently, and are known beforehand.

        Trials without members are left out of ``ends`` and ``guesses``.
        """
        if "group_alone" not in trials[0]:
            return None
        counts = np.array([t["group_alone_people"][group] for t in trials])
        if not counts.any():
            return None
        members = np.array([t["groups"][group] for t in trials])
        some = members > 0
        ends = np.array([t["group_ends"][group] for t in trials])
        guesses = np.array([t["group_guess"][group] for t in trials])
        return cls(
            ends[some] / members[some, None],
            guesses[some] / members[some],
            np.array([t["group_alone"][group] for t in trials]),
            counts,
        )

    @classmethod
    def of_column(cls, trials: Sequence[Trial], column: int) -> Enclosure | None:
        """Load that of one of several unknown columns, by itself; it has no guess."""
        if "column_alone" not in trials[0]:
            return None
        sums = np.array([t["column_alone"][column] for t in trials])
        none = np.zeros((*sums.shape[:2], 3))
        return cls(
            np.array([t["column_ends"][column] for t in trials]),
            np.zeros(len(trials)),
            np.concatenate([sums, none], axis=2),
            np.array([float(t["alone_people"]) for t in trials]),
        )

    def envelope(
        self, end: int, *, sign: int = 1, less: float = 0.0, allowed: float = 0.0
    ) -> Envelope:
        """Return ``sign end - less guess - allowed``, in each trial and over people."""
        moments = self.alone[:, end] * [sign, 1, 1, 1, sign]
        sums = PeopleSums.of_moments(moments, self.counts, less=less, allowed=allowed)
        if sign < 0:
            sums = PeopleSums(sums.totals, sums.squares, sums.counts, -1 - less - allowed, -allowed)
        return Envelope(sign * self.ends[:, end] - less * self.guesses - allowed, sums)
