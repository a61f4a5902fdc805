"""An attack's scores on a group of people: limits by the same methods as for everybody.

Where chances are known and nobody else decides who is a member, members are independent, and
estimate the envelopes of the group. In a group defined by the secrets any attack could get nobody
or all: always naming a rare value gets everyone who has it. In one defined by who else is drawn,
only trials are independent. The method that limits a group is fixed by what is known before the
first trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import TableAttack
from narcissus.evidence import PeopleSums, clopper_pearson, mean_limits
from narcissus.results import Estimate
from narcissus.study.table.enclosure import LIKELIEST, Enclosure, people_alone
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.limits import OVER_PEOPLE, AttackScores, always_of

FEW = 2
"""Members expected in releases of their own in a trial, below which trials tell more of a mean."""
SOME, MORE = 10, 30
"""Likewise of an attack of which only the ends are known, which have a part of the error: of two
guesses, and of more, where hardly more than nothing is known of the lower end."""

Trial = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GroupScores:
    """One attack's scores on a group, in the trials that had members."""

    scores: AttackScores  # mean shares of its members, and of the same attempts on fresh people
    guess: Floats  # score of the best guess without the release, shape (trials with members,)
    some: NDArray[np.bool_]  # which of the attack's trials these are, shape (trials,)
    people: int  # number of members in all trials


def enclosure_of_group(
    experiment: Experiment, trials: Sequence[Trial], group: int
) -> Enclosure | None:
    """Return the envelopes of a group; None if they are not known, or no help."""
    by_secret = experiment.groups.by_secret(experiment.queries.unknown)
    if by_secret[group] or expected_members(experiment, group) < FEW:
        return None
    return Enclosure.of_group(trials, group)


def expected_members(experiment: Experiment, group: int) -> float:
    """Return the expected members of a trial in separate releases, by the table; 0 if unknown."""
    people = people_alone(experiment.targets, experiment.queries.values)
    return people * float(experiment.groups.parts(experiment.table)[group])


def group_scores(
    experiment: Experiment,
    name: str,
    attack: TableAttack,
    trials: Sequence[Trial],
    group: int,
    around: Enclosure | None,
) -> GroupScores | None:
    """Return an attack's scores on a group; None if it met no member.

    ``trials`` are the attack's, in order; ``around`` the envelopes of at least these
    (`enclosure_of_group`).
    """
    members = _sums(trials, "groups", group)
    some = members > 0
    if not some.any():
        return None
    among = members[some]
    shares = np.clip(_sums(trials, f"{name}/group_share", group)[some] / among, 0, 1)
    fresh = np.clip(_sums(trials, f"{name}/group_fresh", group)[some] / among, 0, 1)
    guess = np.clip(_sums(trials, "group_guess", group)[some] / among, 0, 1)
    always = always_of(attack)
    enough = SOME if experiment.success.guesses == 2 else MORE
    if always is None and expected_members(experiment, group) < enough:
        around = None
    scores = AttackScores(
        shares,
        fresh,
        experiment.targets,  # at most; gamblers bet well on a mean over fewer people too
        around,
        experiment.success.guesses,
        None if around is None else always,
    )
    return GroupScores(scores, guess, some, int(members.sum()))


def guess_of_group(
    experiment: Experiment,
    trials: Sequence[Trial],
    group: int,
    around: Enclosure | None,
    level: float,
) -> Estimate:
    """Bound the score of the best guess without the release on a group that had members.

    It does not depend on others, so members count one by one, if nobody else decides who they are.
    They do so too where rows are drawn without replacement: hits are then a sum of independent
    ones, and less spread than of as many that are alike (Hoeffding 1956, Theorem 4).
    """
    members = _sums(trials, "groups", group)
    some = members > 0
    guessed = _sums(trials, "group_guess", group)
    shares = np.clip(guessed[some] / members[some], 0, 1)
    value = float(shares.mean())
    if experiment.everybody:  # the people played are the population
        return Estimate(value, value, value, level, shares.size, method="all people")
    by_secret = experiment.groups.by_secret(experiment.queries.unknown)[group]
    counted = by_secret or not experiment.knows_guess
    if experiment.groups.by_others[group] or (counted and experiment.success.by_column):
        return mean_limits(shares, confidence=level, people=experiment.targets)
    if counted:
        found = clopper_pearson(round(guessed.sum()), int(members.sum()), confidence=level)
        assert found.low is not None
        assert found.high is not None
        return replace(found, value=value, low=min(value, found.low), high=max(value, found.high))
    people = PeopleSums(guessed, _sums(trials, "group_guess_squares", group), members)
    if around is not None:
        people = around.envelope(LIKELIEST).people or people
    elif experiment.knows_chances:  # few members
        return mean_limits(shares, confidence=level, people=experiment.targets)
    error = (1 - level) / 2
    low, high = min(value, people.lower(error)), max(value, people.upper(error))
    return Estimate(value, low, high, level, shares.size, method=OVER_PEOPLE)


def _sums(trials: Sequence[Trial], key: str, group: int) -> Floats:
    return np.array([float(t[key][group]) for t in trials])
