"""The exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from narcissus._validation import integer, non_negative, positive
from narcissus.channels.channel import Channel, channel
from narcissus.channels.closed_forms.base import OfMatrix, check_size, numbered
from narcissus.errors import InputError


@dataclass(frozen=True, eq=False)
class Exponential(OfMatrix):
    """Exponential mechanism: output ``o`` with weight ``exp(epsilon u(s, o) / (2 sensitivity))``.

    Attributes
    ----------
    utility
        Shape (secrets, outputs), finite.
    epsilon
        Guarantee.
    sensitivity
        Largest change of the utility of an output between two secrets; None computes it over all
        pairs, so that the channel is epsilon-LDP.
    """

    utility: Any
    epsilon: float
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.utility, dtype=np.float64)
        if values.ndim != 2 or values.shape[0] < 2 or not np.isfinite(values).all():
            raise InputError("`utility` must be finite, a row per secret (two at least)")
        check_size(*values.shape)
        object.__setattr__(self, "utility", values)
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))
        widest = float(np.ptp(values, axis=0).max())
        given = widest if self.sensitivity is None else positive("sensitivity", self.sensitivity)
        object.__setattr__(self, "sensitivity", given or 1.0)

    @classmethod
    def on_a_line(cls, values: int, epsilon: float) -> Exponential:
        """Return the mechanism on ``0 .. values - 1`` with utility minus the distance."""
        n = integer("values", values, low=2)
        check_size(n, n)
        return cls(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float), epsilon)

    @property
    def secrets(self) -> int:
        """Number of secrets."""
        return self.utility.shape[0]

    def channel(self) -> Channel:
        """Return the channel; its entries keep their relative accuracy however small."""
        assert self.sensitivity is not None
        logs = self.epsilon * self.utility / (2 * self.sensitivity)
        matrix = special.softmax(logs, axis=1)
        n, m = matrix.shape
        return channel(matrix, secrets=numbered(n), outputs=numbered(m))
