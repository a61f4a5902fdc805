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
from narcissus.attacks.table.ceiling import insider_chances
from narcissus.game.block import Round, Turn
from narcissus.game.scoring import score
from narcissus.knowledge import OtherSecrets
from narcissus.mechanisms.marginals import Counts
from narcissus.study.table.enclosure import around
from narcissus.study.table.groups import Groups
from narcissus.study.table.proved import proved
from narcissus.study.table.settings import Setting
from narcissus.study.table.streams import TrialStreams

Floats = NDArray[np.float64]
Found = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Kept:
    """The measure of a table study at one setting."""

    setting: Setting
    points: tuple[float, ...]
    """For each confidence level, the epsilon of the domination bound."""
    groups: Groups
    exact: bool
    """Whether the prior is right about the people; else there are decoys."""
    chances: bool
    """Whether the chance of each guess given all other secrets is known; else hits are counted."""
    streams: TrialStreams

    def __call__(self, played: Round) -> Found:
        """Give the arrays that are kept of a trial."""
        truth = Truth.of(played, self.groups, chances=self.chances)
        found = truth.without_release()
        [release] = played.release
        if truth.exact is not None and isinstance(release, Counts):
            rng = self.streams.alone(played.number)
            found |= around(truth.targets, truth.exact, release.noise, rng)
        for name, turn in played.turns.items():
            found |= truth.of_attack(name, turn)
        if not self.exact:
            found |= decoys(played, self.streams)
        if self.setting.guarantee is not None:
            found |= proved(truth.targets, truth.masks, self.setting, self.points)
        return found


@dataclass(frozen=True)
class Truth:
    """The truth behind a release, and what is known of every guess about it."""

    targets: Targets
    secrets: NDArray[np.int64]
    """Joint values, shape (n,)."""
    masks: Floats
    """Who belongs to each group, shape (groups, n), as 0 and 1."""
    by_secret: NDArray[np.bool_]
    """For each group, whether it is told by the secrets, shape (groups,)."""
    exact: Floats | None
    """Chance of each guess given the release and all other secrets, shape (n, guesses); None
    where it is not known: the prior may be wrong about the people, or the mechanism has none."""

    @classmethod
    def of(cls, played: Round, groups: Groups, *, chances: bool) -> Truth:
        """Work out what scoring needs; nothing of it is random."""
        [people], [targets], [release] = played.draw.data, played.known, played.release
        [insider] = played.told(OtherSecrets())
        masks = groups.masks(people, targets, insider.secrets).astype(np.float64)
        by_secret = groups.by_secret(targets.queries.unknown)
        known = insider_chances(release, insider) if chances else None
        return cls(targets, insider.secrets, masks, by_secret, known)

    def without_release(self) -> Found:
        """Give what the best guess without the release scores: its chance, and really."""
        people, chances = np.arange(self.targets.people), self.targets.chances
        attempt = chances.argmax(axis=1)
        guess = chances[people, attempt]
        hits = self.targets.success.score(self.secrets, attempt).astype(np.float64)
        found: Found = {
            "groups": self.masks.sum(axis=1),
            "guess": np.array([guess.sum(), (guess**2).sum()]),
            "guessed": np.array(hits.mean()),
            # Count hits where chances say nothing: in a group that is told by the secrets, and
            # on people about whom the prior may be wrong.
            "group_guess": self._by_group(hits if self.exact is None else guess, hits),
        }
        if self.exact is not None:
            known = self.exact[people, attempt]
            # of mean 0: a release moves the chance of a guess that ignores it, but not on average
            found["control"] = np.array((known - guess).mean())
        return found

    def of_attack(self, name: str, turn: Turn) -> Found:
        """Score one attack's guesses."""
        success = self.targets.success
        [attempt], [hits], [chance] = turn.attempts.values, turn.success, turn.baseline
        hits = hits.astype(np.float64)
        share = hits
        if self.exact is not None:
            share = self.exact[np.arange(self.targets.people), attempt]
        columns = success.column_chances(self.targets.prior, attempt)
        return {
            f"{name}/hits": np.array(int(hits.sum())),
            f"{name}/share": np.array(share.mean()),
            f"{name}/fresh": np.array(chance.mean()),
            f"{name}/columns": success.columns_right(self.secrets, attempt).mean(axis=0),
            f"{name}/columns_fresh": columns.mean(axis=0),
            f"{name}/group_share": self._by_group(share, hits),
            f"{name}/group_fresh": self.masks @ chance,
        }

    def _by_group(self, share: Floats, hits: Floats) -> Floats:
        """Sum over the members of each group; hits where membership is told by the secrets."""
        return np.where(self.by_secret, self.masks @ hits, self.masks @ share)


def decoys(played: Round, streams: TrialStreams) -> Found:
    """Show every attack a release of other secrets, and score it on the true ones.

    The decoy's secrets are drawn from the prior given the same known columns, so it tells nothing
    about the true ones: what an attack recovers here it owes to what it knows, and not to the
    release. If the prior is right, that is what the prior says of its attempts.
    """
    game, sources = played.seat.game, streams.decoy(played.number, played.place)
    data = game.side.fresh(game.world, played.draw, played.known, sources.world)
    found: Found = {}
    for name, attempts in played.again(data, sources).items():
        hits = score(game.relation, played.draw.data, attempts, sources.world)
        chance = game.relation.chance(played.known, attempts.values)
        found[f"{name}/decoy"] = np.array([hits.mean(), chance.mean()])
    return found
