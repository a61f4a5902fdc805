"""A channel as a mechanism: the output for a secret is drawn from its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from narcissus.channels import Channel, channel, local_dp_epsilon
from narcissus.mechanisms.base import ReleaseChannel
from narcissus.worlds.base import Array


@dataclass(frozen=True, eq=False)
class ThroughChannel:
    """Release the number of an output of a channel, for a data set that is one secret's number.

    Parameters
    ----------
    matrix
        The channel, made by `narcissus.channels.channel`.
    """

    matrix: Channel

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return numbers of outputs, shape (trials,), for secrets, (trials,) or (trials, 1)."""
        secrets = data.reshape(len(data))
        outputs = np.empty(len(data), dtype=np.intp)
        for secret in np.unique(secrets):
            who = secrets == secret
            # Rows sum to one within the channel's tolerance; the sampler wants it exactly.
            cumulative = np.cumsum(self.matrix.row(int(secret)))
            coins = rng.random(int(who.sum()))
            outputs[who] = np.searchsorted(cumulative / cumulative[-1], coins, "right")
        return np.minimum(outputs, self.matrix.shape[1] - 1)

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out for a list of secrets."""
        rows = sparse.csr_array(self.matrix.matrix)
        return ReleaseChannel(np.arange(self.matrix.shape[1]), rows[data.reshape(len(data))])

    def privacy(self, data: Array) -> tuple[float, float]:
        """Return (epsilon, delta): the channel's own local epsilon, and 0."""
        return local_dp_epsilon(self.matrix), 0.0


def through_channel(matrix: Sequence[Sequence[float]]) -> ThroughChannel:
    """Release an output of a channel for a secret, by the row of the secret.

    Parameters
    ----------
    matrix
        Chances of the outputs: a row for each secret, which sums to 1.

    Examples
    --------
    >>> through_channel([[0.9, 0.1], [0.2, 0.8]]).matrix.shape
    (2, 2)
    """
    return ThroughChannel(channel(matrix))
