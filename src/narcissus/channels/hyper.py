"""The hyper-distribution of a channel: its posteriors, and how likely each is; the reduced channel.

Source: Alvim et al. 2020, chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.channels.channel import Channel, channel, prior_for

Floats = NDArray[np.float64]

SAME = 1e-12
"""Largest difference of two posteriors that are one but for rounding."""


@dataclass(frozen=True, eq=False)
class Hyper:
    """What an attacker may come to believe.

    Attributes
    ----------
    outer
        Chance of each posterior, descending, shape (k,).
    inner
        The posteriors, shape (k, secrets).
    """

    outer: Floats
    inner: Floats


def hyper(matrix: Any, prior: Any = None) -> Hyper:
    """Return the posteriors of a channel under a prior, equal ones joined.

    Parameters
    ----------
    matrix
        A channel.
    prior
        Uniform if left out.

    Notes
    -----
    Source: Alvim et al. 2020, definition 4.6.
    """
    c = channel(matrix)
    joint = (prior_for(c, prior)[:, None] * c.dense).T
    chance = joint.sum(axis=1)
    joint, chance = joint[chance > 0], chance[chance > 0]
    groups = _groups(joint / chance[:, None])
    outer = np.array([chance[g].sum() for g in groups])
    inner = np.array([joint[g].sum(axis=0) for g in groups]) / outer[:, None]
    order = np.argsort(-outer, kind="stable")
    return Hyper(outer[order], inner[order])


def reduced(matrix: Any) -> Channel:
    """Join the outputs that tell the same, and leave out those that never come.

    Any attacker does as well with what is left (Alvim et al. 2020, definition 4.9).
    """
    c = channel(matrix)
    columns = c.dense.T
    total = columns.sum(axis=1)
    there = np.flatnonzero(total > 0)
    groups = _groups(columns[there] / total[there, None])
    values = np.stack([columns[there[g]].sum(axis=0) for g in groups], axis=1)
    names = ["+".join(c.outputs[there[i]] for i in g) for g in groups]
    return channel(values, secrets=c.secrets, outputs=names)


def _groups(rows: Floats) -> list[list[int]]:
    """Return the positions of equal rows, in the order of the first of each."""
    found: list[list[int]] = []
    for i, row in enumerate(rows):
        for group in found:
            if np.abs(rows[group[0]] - row).max() <= SAME:
                group.append(i)
                break
        else:
            found.append([i])
    return found
