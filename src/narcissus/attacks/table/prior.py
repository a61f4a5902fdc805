"""The guesser without the release: each person's most promising value given what is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus._arrays import first_largest
from narcissus.attacks.table.base import Joint, ReleaseByRelease, View


@dataclass(frozen=True)
class PriorGuess(ReleaseByRelease):
    """The Bayes decision from the prior alone (attack (a) of Narcissus theory 9)."""

    title = "the best guess without the release"
    uses = "prior"
    reads = (object,)

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Ignore the release."""
        return first_largest(view.targets.chances)
