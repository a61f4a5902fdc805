"""The best answer for each output: a post-processing that costs least and tells no more.

Source: Chatzikokolakis et al. 2017 (optimal remapping); Narcissus theory 6.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from narcissus._arrays import first_largest
from narcissus.channels.channel import Channel, channel, prior_for
from narcissus.channels.gain import l_risk, loss_table
from narcissus.results import Grade, Result


@dataclass(frozen=True, eq=False)
class Remapped(Result):
    """A channel whose outputs are turned into answers.

    Attributes
    ----------
    channel
        A row a secret, a column an answer that is given.
    by
        The answer to each output: a channel without coins.
    loss
        Expected loss, the least of all post-processings.
    """

    channel: Channel
    by: Channel
    loss: float

    @property
    def grade(self) -> Grade:
        """Always 'proved'."""
        return "proved"

    def __str__(self) -> str:
        return f"Expected loss {self.loss:.6g}, and no answers made of these outputs cost less"


def remap(
    matrix: Any, loss: ArrayLike, prior: Any = None, *, answers: list[str] | None = None
) -> Remapped:
    """Turn each output into the answer with the least expected loss given it.

    Post-processing: the result tells nobody more than the channel does.

    Parameters
    ----------
    matrix
        The channel.
    loss
        Of each answer for each secret, shape (secrets, answers), as `most_secure` takes it.
    prior
        Uniform if left out.
    answers
        Their names.

    Notes
    -----
    Of answers that cost the same the first is taken. Source: Chatzikokolakis et al. 2017.

    Examples
    --------
    >>> far = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    >>> round(remap([[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]], far).loss, 6)
    0.666667
    """
    c = channel(matrix)
    table = loss_table(np.asarray(loss, dtype=np.float64).T, c.shape[0])
    costs = np.asarray(table @ c.scaled(prior_for(c, prior)))
    chosen = first_largest(-costs, axis=0)
    used = np.unique(chosen)
    names = [f"a{i + 1}" for i in range(len(table))] if answers is None else answers
    rows = (chosen[:, None] == used).astype(np.float64)
    by = channel(rows, secrets=c.outputs, outputs=[names[i] for i in used])
    made = channel(np.minimum(c.matrix @ by.dense, 1.0), secrets=c.secrets, outputs=by.outputs)
    return Remapped(made, by, l_risk(c, table, prior))
