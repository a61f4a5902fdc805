"""The people of a trial, before anything is released: the same at every setting of a sweep.

What is known, proved and guessed of them does not depend on the release, so it is computed once;
where every release is about the whole table, once for all trials.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import Targets
from narcissus.game.block import Deal
from narcissus.guarantees import ApproximateDP, Guarantee, PureDP
from narcissus.knowledge import FactoredTargets
from narcissus.study.table import column_proofs, counts, factored_proofs, proofs
from narcissus.study.table.groups import Groups, Members
from narcissus.study.table.settings import Setting
from narcissus.study.table.tails import packed


def proved(
    targets: Targets | FactoredTargets,
    members: Members,
    setting: Setting,
    points: tuple[float, ...],
) -> dict[str, NDArray[Any]]:
    """Compute the arrays kept of what is proved.

    ``setting`` has a guarantee; ``points`` are the epsilons of the profile for the domination
    bound, one for each confidence level.
    """
    assert setting.guarantee is not None
    theory: Any = factored_proofs if isinstance(targets, FactoredTargets) else proofs
    by_column = targets.success.by_column
    if by_column:
        theory = column_proofs
    # of a guess that can be made: what a bound leaves above it must not come out too small
    guess = targets.best_chance
    shares = theory.shares(targets, setting.guarantee)
    moments = np.stack([shares, shares**2, guess, guess**2, shares * guess], axis=1)
    gains = theory.gains(targets, setting.guarantee, shares)
    none = np.zeros_like(gains)  # a gain is relative to no guess
    gained = np.stack([gains, gains**2, none, none, none], axis=1)
    found: dict[str, NDArray[Any]] = {
        "bound": moments.sum(axis=0),
        "group_bound": members.sums(moments),
        "gain_bound": gained.sum(axis=0),
        "group_gain_bound": members.sums(gained),
    }
    if setting.single is not None:
        found["share_single"] = np.array(theory.shares(targets, setting.single).mean())
    if by_column:  # a mean says nothing of how many fall
        return found
    found |= _counts(targets, setting.guarantee, points, theory)
    for name, table in theory.other_tails(targets, setting.guarantee).items():
        found |= packed(f"tails/{name}", table)
    if isinstance(targets, FactoredTargets):
        of_columns = factored_proofs.columns_share(targets, setting.guarantee)
        if of_columns is not None:
            found["columns_bound"] = np.array(of_columns)
    if setting.single is not None:
        epsilon, delta = _point(setting.single)
        most = theory.best_chances(targets)
        table = proofs.output_tail_table(most, epsilon, targets.people * delta)
        found |= packed("published", table)
    return found


def _counts(
    targets: Targets | FactoredTargets, guarantee: Guarantee, points: tuple[float, ...], theory: Any
) -> dict[str, NDArray[Any]]:
    """Compute the bounds on the number recovered at once, and what some mechanism attains."""
    found: dict[str, NDArray[Any]] = {}
    for place, point in enumerate(points):
        delta = float(guarantee.profile(point))
        o, theta = theory.single_success(targets, point, delta)
        cost = theory.costs(targets, guarantee, point, theta)
        tails = counts.count_tails(targets, guarantee, point, o, cost)
        found |= packed(f"tails/{place}", tails)
        # in [0, 1], so that a mean over people is limited as nearly as that of o
        part = cost / delta if delta > 0 else np.zeros_like(cost)
        found[f"single/{place}"] = np.array([o.sum(), (o**2).sum(), part.sum(), (part**2).sum()])
    floor = counts.reached(targets, guarantee)
    if floor is not None:
        found["reached"] = floor
    even = counts.evenness(targets)
    if even is not None:
        found["evenness"] = even
    return found


def _point(single: Guarantee) -> tuple[float, float]:
    if isinstance(single, PureDP):
        return single.epsilon, 0.0
    assert isinstance(single, ApproximateDP)
    return single.epsilon, single.delta


Kept = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Crowd:
    """The people of a trial."""

    deal: Deal  # who they are, and what the attacker is told of them
    groups: Groups  # the groups of them that are reported
    # more people like them, in no release of theirs; None if nothing needs them
    others: Crowd | None = None
    _proved: dict[int, Kept] = field(default_factory=dict[int, Kept], init=False)

    @property
    def targets(self) -> Targets | FactoredTargets:
        [targets] = self.deal.known
        return targets

    @cached_property
    def secrets(self) -> NDArray[np.integer]:
        """Their joint values, shape (n,); of many unknown columns their codes, (n, columns)."""
        return self.targets.secrets(self.deal.draw.data[0])

    @cached_property
    def members(self) -> Members:
        return self.groups.members(self.deal.draw.data[0], self.targets, self.secrets)

    @cached_property
    def by_secret(self) -> NDArray[np.bool_]:
        """For each group, whether secrets define it, shape (groups,)."""
        return self.groups.by_secret(self.targets.queries.unknown)

    def proved(self, place: int, setting: Setting, points: tuple[float, ...]) -> Kept:
        """Return what is proved of them at a setting, given by its place in the sweep."""
        if place not in self._proved:
            self._proved[place] = proved(self.targets, self.members, setting, points)
        return self._proved[place]
