"""What is kept of a trial: what was recovered, by whom, of which group, and without the release.

An attack that sees the release and nothing else can be scored by more than its hits. Given the
release and everybody else's secrets, the chance that a guess about a person counts is known
exactly; its mean over trials is the share that the attack recovers, with less noise in it, and it
is never above the ceiling's, release by release. This needs the prior to be right about the
people, and a mechanism that changes each cell by itself; else hits are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import Targets
from narcissus.attacks.table.ceiling import insider_chances, kept_beliefs
from narcissus.attacks.table.factored import Searched
from narcissus.game.block import Round, Turn
from narcissus.game.scoring import score
from narcissus.knowledge import FactoredTargets, OtherSecrets
from narcissus.mechanisms.marginals import Counts
from narcissus.study.table.crowd import Crowd
from narcissus.study.table.enclosure import around
from narcissus.study.table.groups import Groups
from narcissus.study.table.settings import Setting
from narcissus.study.table.streams import TrialStreams
from narcissus.success import ColumnsRight

Floats = NDArray[np.float64]
Found = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Kept:
    """The measure of a table study at one setting."""

    setting: Setting
    points: tuple[float, ...]
    """For each confidence level, the epsilon of the domination bound."""
    crowd: Crowd
    """The people who are played."""
    exact: bool
    """Whether the prior is right about the people; else there are decoys."""
    chances: bool
    """Whether the chance of each guess given all other secrets is known; else hits are counted."""
    streams: TrialStreams

    def __call__(self, played: Round) -> Found:
        """Give the arrays that are kept of a trial."""
        truth = Truth.of(played, self.crowd, chances=self.chances, right=self.exact)
        found = truth.without_release()
        [release] = played.release
        targets = truth.targets
        if isinstance(targets, Targets) and truth.exact is not None and isinstance(release, Counts):
            rng = self.streams.alone(played.number)
            found |= around(self.crowd, truth.exact, truth.beliefs, release.noise, rng)
        for name, turn in played.turns.items():
            found |= truth.of_attack(name, turn)
        if not self.exact:
            found |= decoys(played, truth, self.streams)
        elif self.crowd.by_secret.any():
            found |= strangers(played, self.crowd.groups, self.streams)
        if self.setting.guarantee is not None:
            found |= self.crowd.proved(played.place, self.setting, self.points)
        return found


@dataclass(frozen=True)
class Truth:
    """The truth behind a release, and what is known of every guess about it."""

    crowd: Crowd
    exact: Floats | None
    """Chance of each guess given the release and all other secrets, shape (n, guesses); None
    where it is not known: the prior may be wrong about the people, the mechanism has none, or no
    joint values are listed."""
    beliefs: Floats | None
    """Likewise of each joint value, shape (n, values), where there are several unknown columns."""
    trusted: bool
    """Whether the guess is scored by its chance by the prior, and not by its hits."""

    @classmethod
    def of(cls, played: Round, crowd: Crowd, *, chances: bool, right: bool) -> Truth:
        """Work out what scoring needs; nothing of it is random."""
        trusted = chances or (right and isinstance(crowd.targets, FactoredTargets))
        if not chances:
            return cls(crowd, None, None, trusted)
        [release], [insider] = played.release, played.told(OtherSecrets())
        several = len(crowd.targets.queries.unknown) > 1
        beliefs = kept_beliefs(release, insider) if several else None
        return cls(crowd, insider_chances(release, insider), beliefs, trusted)

    @property
    def targets(self) -> Targets | FactoredTargets:
        """What an attacker knows of the people."""
        return self.crowd.targets

    def without_release(self) -> Found:
        """Give what the best guess without the release scores: its chance, and really."""
        attempt, guess = self.targets.best_guess, self.targets.best_chance
        hits = self.targets.success.score(self.crowd.secrets, attempt).astype(np.float64)
        found: Found = {
            "groups": self.crowd.members.sums(np.ones(self.crowd.targets.people)),
            "guess": np.array([guess.sum(), (guess**2).sum()]),
            "guessed": np.array(hits.mean()),
            # Count hits where chances say nothing: in a group that is told by the secrets, and
            # on people about whom the prior may be wrong.
            "group_guess": self._by_group(guess if self.trusted else hits, hits),
            "group_guess_squares": self._by_group(guess**2 if self.trusted else hits, hits),
        }
        if not self.trusted:
            found["guessed_chance"] = np.array(hits @ guess)
        if isinstance(self.targets, FactoredTargets):
            each = enumerate(self.targets.marginals)
            sums = [self.targets.success.window_sums(m, c).max(axis=1).mean() for c, m in each]
            found["guess_columns"] = np.array(sums)
            limit = self.targets.best_limit
            found["guess_limit"] = np.array([limit.mean(), (limit > guess).mean()])
        if self.exact is not None:
            known = self.exact[np.arange(self.targets.people), attempt]
            # of mean 0: a release moves the chance of a guess that ignores it, but not on average
            found["control"] = np.array((known - guess).mean())
        return found

    def of_attack(self, name: str, turn: Turn) -> Found:
        """Score one attack's guesses."""
        [attempt], [hits], [chance] = turn.attempts.values, turn.success, turn.baseline
        hits = hits.astype(np.float64)
        share = hits
        if self.exact is not None:
            share = self.exact[np.arange(self.targets.people), attempt]
        columns, by_column = self.targets.column_chances(attempt), self.targets.success.by_column
        found: Found = {}
        if isinstance(turn.attempts, Searched):
            found[f"{name}/residual"] = turn.attempts.residual[0]
        return found | {
            f"{name}/hits": np.array(hits.sum() if by_column else int(hits.sum())),
            f"{name}/share": np.array(share.mean()),
            f"{name}/fresh": np.array(chance.mean()),
            f"{name}/columns": self._columns(attempt, share),
            f"{name}/columns_fresh": columns.mean(axis=0),
            f"{name}/group_share": self._by_group(share, hits),
            f"{name}/group_fresh": self.crowd.members.sums(chance),
        }

    def _columns(self, attempt: NDArray[np.int64], share: Floats) -> Floats:
        """Give the mean share of each column that is right, or its chance where that is known."""
        success = self.targets.success
        if self.beliefs is not None and isinstance(success, ColumnsRight):
            return success.column_chances(self.beliefs, attempt).mean(axis=0)
        if self.exact is not None:  # of one column
            return share.mean(keepdims=True)
        return success.columns_right(self.crowd.secrets, attempt).mean(axis=0)

    def _by_group(self, share: Floats, hits: Floats) -> Floats:
        """Sum over the members of each group; hits where membership is told by the secrets."""
        return np.where(
            self.crowd.by_secret, self.crowd.members.sums(hits), self.crowd.members.sums(share)
        )


def decoys(played: Round, truth: Truth, streams: TrialStreams) -> Found:
    """Show every attack a release of other secrets, and score it on the true ones.

    The decoy's secrets are drawn from the prior given the same known columns, so it tells nothing
    about the true ones: what an attack recovers here it owes to what it knows, and not to the
    release. If the prior is right, that is what the prior says of its attempts.
    """
    game, sources = played.seat.game, streams.decoy(played.number, played.place)
    data = game.side.fresh(game.world, played.draw, played.known, sources.world)
    members = truth.crowd.members
    found: Found = {"strangers": members.sums(np.ones(members.people))}
    for name, attempts in played.again(data, sources).items():
        hits = score(game.relation, played.draw.data, attempts, sources.world)
        chance = game.relation.chance(played.known, attempts.values)
        found[f"{name}/decoy"] = np.array([hits.mean(), chance.mean()])
        found[f"{name}/group_decoy"] = members.sums(hits[0].astype(np.float64))
    return found


def strangers(played: Round, groups: Groups, streams: TrialStreams) -> Found:
    """Score the same attempts on fresh people, in the groups that these belong to.

    What an attack that names rare values gets right of people with rare secrets is no news: it
    gets as much of strangers. True and fresh people can be exchanged given what is known, so the
    difference is due to the release. Needs the prior to be right about the people.
    """
    game, sources = played.seat.game, streams.decoy(played.number, played.place)
    data = game.side.fresh(game.world, played.draw, played.known, sources.world)
    [people], [targets] = data, played.known
    members = groups.members(people, targets, targets.secrets(people))
    found: Found = {"strangers": members.sums(np.ones(members.people))}
    for name, turn in played.turns.items():
        [hits] = score(game.relation, data, turn.attempts, sources.world)
        found[f"{name}/group_decoy"] = members.sums(hits.astype(np.float64))
    return found
