"""One release of one setting, and how every attack's guesses about it are scored.

An attack that sees the release and nothing else can be scored by more than its hits. Given the
release and everybody else's secrets, the chance that a guess about a person counts is known
exactly; its mean over trials is the share that the attack recovers, with less noise in it, and it
is never above the ceiling's, release by release. This needs the prior to be right about the
people; where that is an assumption, hits are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import Ceiling, Targets, View
from narcissus.study.table.settings import Setting

if TYPE_CHECKING:
    from narcissus.study.table.experiment import Experiment

Floats = NDArray[np.float64]
Scores = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Round:
    """A release, the truth behind it, and what is known of every guess about it.

    Attributes
    ----------
    targets, secrets, release, setting
        The people, their joint values, the released cells, the level of noise.
    masks
        Who belongs to each group, shape (groups, n), as 0 and 1.
    by_secret
        For each group, whether it is told by the secrets, shape (groups,).
    chances
        Chance of each guess from the prior alone, shape (n, guesses).
    exact
        Chance of each guess given the release and all other secrets, shape (n, guesses); None
        where the prior may be wrong about the people.
    """

    targets: Targets
    secrets: NDArray[np.int64]
    release: Floats
    setting: Setting
    masks: Floats
    by_secret: NDArray[np.bool_]
    chances: Floats
    exact: Floats | None

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        targets: Targets,
        people: NDArray[np.int32],
        release: Floats,
        setting: Setting,
    ) -> Round:
        """Work out what scoring needs; nothing of it is random."""
        secrets = experiment.queries.joint(people)
        for shared in (targets.codes, targets.prior):
            shared.setflags(write=False)  # one attack must not change what the next one sees
        exact = None
        if experiment.prior_is_exact:
            view = View(targets, setting.noise, release, secrets)
            unused = np.random.default_rng(0)  # there is no chance in an exact posterior
            exact = targets.success.chances(Ceiling().beliefs(view, rng=unused))
        masks = experiment.groups.masks(people, targets, secrets).astype(np.float64)
        by_secret = experiment.groups.by_secret(experiment.queries.unknown)
        chances = targets.success.chances(targets.prior)
        return cls(targets, secrets, release, setting, masks, by_secret, chances, exact)

    def chance_of(self, attempt: NDArray[np.int64]) -> Floats:
        """Give the chance of each person's guess from the prior alone, shape (n,)."""
        return self.chances[np.arange(self.targets.people), attempt]

    def without_release(self) -> Scores:
        """Give what the best guess without the release scores: its chance, and really."""
        attempt = self.chances.argmax(axis=1)
        guess = self.chance_of(attempt)
        hits = self.targets.success.score(self.secrets, attempt).astype(np.float64)
        found: Scores = {
            "groups": self.masks.sum(axis=1),
            "guess": np.array([guess.sum(), (guess**2).sum()]),
            "guessed": np.array(hits.mean()),
            # Count hits where chances say nothing: in a group that is told by the secrets, and
            # on people about whom the prior may be wrong.
            "group_guess": self._by_group(hits if self.exact is None else guess, hits),
        }
        if self.exact is not None:
            known = self.exact[np.arange(self.targets.people), attempt]
            # of mean 0: a release moves the chance of a guess that ignores it, but not on average
            found["control"] = np.array((known - guess).mean())
        return found

    def scores(self, name: str, attempt: NDArray[np.int64]) -> Scores:
        """Score one attack's guesses."""
        success = self.targets.success
        hits = success.score(self.secrets, attempt).astype(np.float64)
        score = hits
        if self.exact is not None:
            score = self.exact[np.arange(self.targets.people), attempt]
        chance = self.chance_of(attempt)
        columns = success.column_chances(self.targets.prior, attempt)
        return {
            f"{name}/hits": np.array(int(hits.sum())),
            f"{name}/share": np.array(score.mean()),
            f"{name}/fresh": np.array(chance.mean()),
            f"{name}/columns": success.columns_right(self.secrets, attempt).mean(axis=0),
            f"{name}/columns_fresh": columns.mean(axis=0),
            f"{name}/group_share": self._by_group(score, hits),
            f"{name}/group_fresh": self.masks @ chance,
        }

    def _by_group(self, score: Floats, hits: Floats) -> Floats:
        """Sum over the members of each group; hits where membership is told by the secrets."""
        return np.where(self.by_secret, self.masks @ hits, self.masks @ score)
