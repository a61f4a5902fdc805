"""What an insider sees of people each of whom is in a release of their own.

To who is told everybody else's secrets, noisy counts are each person's own contribution and noise:
the others are subtracted. So what is believed of each has the same distribution whether people
share a release, and so its noise, or not; and if they do not, people are independent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from narcissus.attacks.table.base import Floats, softmax
from narcissus.attacks.table.likelihood import chunks
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms.noise import Noise


def beliefs_alone(targets: Targets, noise: Noise, rng: np.random.Generator) -> Floats:
    """Draw an insider's exact posterior of each person by themselves.

    Each person's secret is drawn from what the prior says of them, and the noise on each cell that
    they could fall into anew for each person.

    targets: people as known beforehand, whom the prior is right about.
    noise: on every cell.
    rng: source of secrets and noise.
    Returns ndarray: probabilities of the joint values, shape (n, values); rows are independent
        given ``targets``.
    """
    return np.concatenate(
        [_of_some(part, noise, rng) for part in (first(targets, one) for one in chunks(targets))]
    )


def first(targets: Targets, block: slice) -> Targets:
    """Return some of the people by themselves."""
    return replace(targets, codes=targets.codes[block], prior=targets.prior[block])


def _of_some(targets: Targets, noise: Noise, rng: np.random.Generator) -> Floats:
    queries, n = targets.queries, targets.people
    below = np.cumsum(targets.prior, axis=1)
    drawn = rng.random(n)[:, None] * below[:, -1:]  # sums of chances are 1 but for rounding
    own = queries.split(np.minimum((drawn >= below).sum(axis=1), queries.values - 1))
    fields: list[Floats] = []
    for pattern in queries.patterns:
        mine = pattern.values(own)[:, None, None] == np.arange(pattern.size)
        shape = (n, pattern.tables, pattern.size)
        cells = noise.sample(n * pattern.tables * pattern.size, rng).reshape(shape) + mine
        fields.append(noise.gain(cells).sum(axis=1))
    return softmax(targets.log_prior + queries.spread(fields))
