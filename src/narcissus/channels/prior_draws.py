"""Samples used as if their secrets had been drawn from a prior, whatever the numbers of each.

Labels are drawn from the prior without a look at outputs, and each uses up one sample of its
secret; a label whose samples are used up counts as the worst for whatever is limited. So limits
hold for any prior, whether the numbers per secret were fixed or random, and a secret of which
there are few samples, or none, costs its share instead of a refusal.

Source: Narcissus theory 6.15.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._validation import distribution
from narcissus.channels.samples import Codes, Samples
from narcissus.errors import InputError

Floats = NDArray[np.float64]

EXHAUSTED = -1
NONE: Codes = np.arange(0)


@dataclass(frozen=True, eq=False)
class Draws:
    """Samples in the order of labels drawn from a prior."""

    spare: Codes  # Numbers of samples that were not drawn: for learning
    labels: Codes  # The labels, shape (draws,)
    # Number of the sample that each label uses up; `EXHAUSTED` where there is none left
    drawn: Codes

    def scarce(self, secrets: int) -> NDArray[np.bool_]:
        """Return which secrets lack samples for more than a tenth of their labels."""
        asked = np.bincount(self.labels, minlength=secrets)
        lacking = np.bincount(self.labels[self.drawn == EXHAUSTED], minlength=secrets)
        return lacking > 0.1 * asked


def how_many(each: Codes, prior: Floats, most: int) -> int:
    """Return how many labels to draw, from the numbers of samples alone.

    So many that the room of a limit, ``1 / sqrt(draws)``, and the share of labels that will have no
    sample are together least.
    """
    sizes = np.unique(np.geomspace(1, max(1, most), 200).astype(np.int64))[:, None]
    wanted = sizes * prior
    spread = np.sqrt(wanted * (1 - prior)) + 1e-12
    away = (each - wanted) / spread
    density = np.exp(-np.minimum(away**2, 1_400) / 2) / np.sqrt(2 * np.pi)
    lacking = (spread * (density - away * special.ndtr(-away))).sum(axis=1) / sizes[:, 0]
    return int(sizes[np.argmin(lacking + 1 / np.sqrt(sizes[:, 0])), 0])


def draw(
    data: Samples, prior: Floats, rng: np.random.Generator, *, most: int, aside: Codes = NONE
) -> Draws:
    """Draw labels from a prior and use up samples.

    data: samples.
    prior: probability of each secret, shape (secrets,).
    rng: draws, and orders samples.
    most: labels at most.
    aside: numbers of samples that are not drawn: those by which the prior was chosen.
    """
    free = np.ones(data.size, dtype=bool)
    free[aside] = False
    each = np.bincount(data.secret[free], minlength=len(data.names))
    labels = rng.choice(len(prior), how_many(each, prior, min(most, data.size)), p=prior)
    order = rng.permutation(data.size)
    order = order[free[order]]
    order = order[np.argsort(data.secret[order], kind="stable")]
    starts = np.cumsum(each) - each
    place = np.argsort(labels, kind="stable")
    asked = np.bincount(labels, minlength=len(each))
    rank = np.empty(len(labels), dtype=np.intp)
    rank[place] = np.arange(len(labels)) - np.repeat(np.cumsum(asked) - asked, asked)
    has = rank < each[labels]
    drawn = np.full(len(labels), EXHAUSTED, dtype=np.intp)
    drawn[has] = order[(starts[labels] + rank)[has]]
    unused = np.ones(data.size, dtype=bool)
    unused[drawn[has]] = False
    return Draws(rng.permutation(np.flatnonzero(unused)), labels, drawn)


def with_prior(data: Samples, prior: Any) -> tuple[Samples, Floats]:
    """Return samples and prior over the same secrets, also those without samples.

    data: samples.
    prior: by name, or in the order of the secrets.
    Raises InputError: it does not sum to one, or a secret with samples is not in it.
    """
    if not isinstance(prior, dict):
        weights = distribution("prior", prior)
        if len(weights) != len(data.names):
            raise InputError(
                f"`prior` has {len(weights)} probabilities for {len(data.names)} secrets; give "
                "them by name if some have no samples"
            )
        return data, weights
    given = {str(name): float(chance) for name, chance in prior.items()}
    unnamed = [name for name in data.names if name not in given]
    if unnamed:
        raise InputError(f"`prior` lacks the secret {unnamed[0]!r}, which has samples")
    names = (*data.names, *(name for name in given if name not in data.names))
    return replace(data, names=names), distribution("prior", [given[name] for name in names])
