"""A table attack: it guesses the unknown columns of everybody in a release."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class EverybodyAlike:
    """Say the same of everybody: what is most likely on average.

    Parameters
    ----------
    value
        Joint value of the unknown columns to say instead.
    """

    value: int | None = None
    title = "the same guess for everybody"
    uses = "prior"
    informed = False

    def guess(self, view, *, rng):
        targets = view.targets
        beliefs = np.tile(targets.prior.mean(axis=0), (targets.people, 1))
        if self.value is not None:
            beliefs = np.eye(beliefs.shape[1])[np.full(targets.people, self.value)]
        return targets.success.decide(beliefs)
