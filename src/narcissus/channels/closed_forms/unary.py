"""Unary encoding, as in RAPPOR, symmetric or optimised."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from narcissus.channels.channel import Channel, Matrix, channel
from narcissus.channels.closed_forms.base import check_size, numbered
from narcissus.channels.closed_forms.symmetric import SymmetricForm


@dataclass(frozen=True)
class UnaryEncoding(SymmetricForm):
    """RAPPOR-style unary encoding: one bit per value, each kept or flipped on its own.

    A bit that is one is reported as one with probability ``p``, a zero with probability ``q``.
    ``optimized`` false: ``p = e^(epsilon/2) / (1 + e^(epsilon/2))``, ``q = 1 - p`` (basic RAPPOR);
    true: ``p = 1/2``, ``q = 1 / (1 + e^epsilon)`` (Wang et al. 2017).
    """

    values: int
    epsilon: float
    optimized: bool = False

    def __post_init__(self) -> None:
        self._check()

    @property
    def _rates(self) -> tuple[float, float, float, float]:
        """``p, 1 - p, q, 1 - q``, each computed on its own."""
        if self.optimized:
            return 0.5, 0.5, special.expit(-self.epsilon).item(), special.expit(self.epsilon).item()
        keep, flip = special.expit(self.epsilon / 2).item(), special.expit(-self.epsilon / 2).item()
        return keep, flip, flip, keep

    @property
    def beta_star(self) -> float:
        """``1 - p + q``: only the two bits of the pair differ."""
        _, not_p, q, _ = self._rates
        return min(1.0, not_p + q)

    @property
    def capacity(self) -> float:
        """``n`` times the chance that the attacker, guessing a reported one, is right."""
        return self.values * (1 - self.bayes_risk)

    @property
    def bayes_risk(self) -> float:
        """For a uniform prior: the attacker names one of the reported ones, or any value if none.

        With ``j`` of the other bits reported as ones (binomial), the secret's own bit wins with
        ``1 / (j + 1)``; without any one all values are alike.
        """
        p, not_p, q, not_q = self._rates
        n = self.values
        return p * _lost(n, q) + not_p * (1 - not_q ** (n - 1) / n)

    @property
    def _telling(self) -> float:
        """Mass of the secret's bit alone: reports of both bits, or of neither, tell nothing."""
        p, _, _, not_q = self._rates
        return p * not_q

    def channel(self) -> Channel:
        """Return the channel, an output per string of bits."""
        n = self.values
        check_size(n, 2.0**n if n < 1024 else math.inf)
        p, not_p, q, not_q = self._rates
        bits = (np.arange(2**n)[:, None] >> np.arange(n - 1, -1, -1)) & 1
        zeros = np.where(bits == 1, q, not_q)
        rows: list[Matrix] = []
        for i in range(n):
            factors = zeros.copy()
            factors[:, i] = np.where(bits[:, i] == 1, p, not_p)
            rows.append(factors.prod(axis=1))
        names = [format(i, f"0{n}b") for i in range(2**n)]
        return channel(np.array(rows), secrets=numbered(n), outputs=names)


def _lost(n: int, q: float) -> float:
    """Return ``1 - E[1 / (1 + J)]``, ``J`` binomial(n - 1, q): ``1 - (1 - (1 - q)^n) / (n q)``.

    For few other ones it is a difference of numbers near 1; its series in ``q`` has none.
    """
    if n * q > 0.5:
        return 1 + math.expm1(n * math.log1p(-q)) / (n * q)
    total, k, term = 0.0, 2, (n - 1) * q / 2
    while abs(term) > 1e-17 * total:
        total += term
        term *= -(n - k) * q / (k + 1)
        k += 1
    return total
