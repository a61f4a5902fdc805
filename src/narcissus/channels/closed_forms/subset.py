"""The k-subset mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from narcissus._validation import integer
from narcissus.channels.channel import Channel, channel
from narcissus.channels.closed_forms.base import check_size, numbered
from narcissus.channels.closed_forms.symmetric import SymmetricForm


@dataclass(frozen=True)
class Subset(SymmetricForm):
    """k-subset mechanism: a set of ``size`` values, likelier if it holds the secret.

    Sets with the secret have ``e^epsilon`` times the probability of sets without.

    Source: Ye and Barg 2018; ``beta*`` by counting sets (Narcissus theory 6).
    """

    values: int
    size: int
    epsilon: float

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "size", integer("size", self.size, low=1, high=self.values - 1))

    @property
    def _weights(self) -> tuple[float, float]:
        """Probabilities that the set holds the secret, and that it does not."""
        n, k = self.values, self.size
        out = (n - k) / k * math.exp(-self.epsilon)
        return 1 / (1 + out), out / (1 + out)

    @property
    def beta_star(self) -> float:
        """Overlap of two values, from the sets with both, one or none of them."""
        n, k = self.values, self.size
        holds, misses = self._weights
        both = holds * (k - 1) / (n - 1)
        none = misses * (n - 1 - k) / (n - 1)
        # A set with exactly one counts with the weight of a set that misses the secret.
        one = 2 * misses * k / (n - 1)
        return min(1.0, both + none + one)

    @property
    def capacity(self) -> float:
        """Every set at its likeliest: ``n / k`` times the chance to hold the secret."""
        return self.values / self.size * self._weights[0]

    @property
    def bayes_risk(self) -> float:
        """For a uniform prior: the attacker names one of the set."""
        holds, misses = self._weights
        return misses + holds * (self.size - 1) / self.size

    @property
    def _telling(self) -> float:
        """Mass of the sets with the one value and without the other."""
        return self._weights[0] * (self.values - self.size) / (self.values - 1)

    def channel(self) -> Channel:
        """Return the channel, an output per set."""
        import itertools

        n, k = self.values, self.size
        # As a float: the exact number may have any length.
        check_size(n, float(special.comb(float(n), float(k))))
        count = math.comb(n, k)
        sets = np.array(list(itertools.combinations(range(n), k)))
        member = np.zeros((n, count), dtype=bool)
        member[sets.T, np.arange(count)] = True
        holds, misses = self._weights
        matrix = np.where(member, holds / math.comb(n - 1, k - 1), misses / math.comb(n - 1, k))
        names = ["{" + " ".join(str(i + 1) for i in s) + "}" for s in sets.tolist()]
        return channel(matrix, secrets=numbered(n), outputs=names)
