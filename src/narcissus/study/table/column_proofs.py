"""Bounds on the mean share of columns, where each unknown column counts by itself.

The theorem is `narcissus.bounds.one_target`: the release has its guarantee for each column alone,
however the columns depend on one another and whatever the attacker uses. So the bound on the
success on one column, from its own distribution, is averaged over the columns. Nothing follows for
the number of columns right at once, and nothing is proved of it here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import Targets
from narcissus.bounds import Theorem
from narcissus.bounds.one_target import COLUMNS
from narcissus.guarantees import Guarantee
from narcissus.knowledge import FactoredTargets
from narcissus.study.table import proofs
from narcissus.success import ColumnsRight

Floats = NDArray[np.float64]


def each_column(targets: Targets | FactoredTargets) -> list[Targets]:
    """Return the targets of each unknown column by itself, as if nothing else were asked for."""
    if isinstance(targets, FactoredTargets):
        success, priors = targets.success.columns, list(targets.marginals)
    else:
        success = targets.success
        columns = range(len(success.shape))
        priors = [targets.each(lambda rows, c=c: success.marginal(rows, c)) for c in columns]
    return [
        Targets(targets.queries, targets.codes, prior, success.alone(c))
        for c, prior in enumerate(priors)
    ]


def shares(targets: Targets | FactoredTargets, guarantee: Guarantee) -> Floats:
    """Bound the mean share of each person's columns that any attacker gets right, shape (n,).

    The mean is over the secret, the release and the attacker's coins, for these people.
    """
    return np.mean([proofs.shares(one, guarantee) for one in each_column(targets)], axis=0)


def gains(targets: Targets | FactoredTargets, guarantee: Guarantee, shares: Floats) -> Floats:
    """Bound what each person's release adds to the mean share of right columns, shape (n,).

    `proofs.gains` of each column: given its value the release is a mixture over those of the
    others, two such mixtures are no further apart in total variation than their parts, and a
    fresh secret's column has the same distribution.
    """
    each = [proofs.gains(one, guarantee, np.ones_like(shares)) for one in each_column(targets)]
    return np.minimum(np.mean(each, axis=0), shares)


def share_theorem(success: ColumnsRight) -> Theorem:
    if not any(success.distances):
        return COLUMNS
    return COLUMNS.by(
        "with a distance by linear programs while they are small, else from the best guess"
    )
