"""The people of a trial, before anything is released: the same at every setting of a sweep.

What is known, proved and guessed of them does not depend on the release, so that it is worked out
once; where every release is about the whole table, once for all trials.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import Targets
from narcissus.game.block import Deal
from narcissus.knowledge import FactoredTargets
from narcissus.study.table.groups import Groups, Members
from narcissus.study.table.proved import proved
from narcissus.study.table.settings import Setting

Kept = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Crowd:
    """The people of a trial.

    Attributes
    ----------
    deal
        Who they are, and what is told of them.
    groups
        Which groups of them are looked at.
    others
        More people like them, who are in no release of theirs; None where nobody asks for any.
    """

    deal: Deal
    groups: Groups
    others: Crowd | None = None
    _proved: dict[int, Kept] = field(default_factory=dict[int, Kept], init=False)

    @property
    def targets(self) -> Targets | FactoredTargets:
        """What an attacker knows of them."""
        [targets] = self.deal.known
        return targets

    @cached_property
    def secrets(self) -> NDArray[np.integer]:
        """Their joint values, shape (n,); of many unknown columns their codes, (n, columns)."""
        return self.targets.secrets(self.deal.draw.data[0])

    @cached_property
    def members(self) -> Members:
        """Who belongs to which group."""
        return self.groups.members(self.deal.draw.data[0], self.targets, self.secrets)

    @cached_property
    def by_secret(self) -> NDArray[np.bool_]:
        """For each group, whether it is told by the secrets, shape (groups,)."""
        return self.groups.by_secret(self.targets.queries.unknown)

    def proved(self, place: int, setting: Setting, points: tuple[float, ...]) -> Kept:
        """Give what is proved of them at a setting, by its place in the sweep.

        See `narcissus.study.table.proved`.
        """
        if place not in self._proved:
            self._proved[place] = proved(self.targets, self.members, setting, points)
        return self._proved[place]
