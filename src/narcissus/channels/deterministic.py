"""Programs without coins as channels, and the lattice that they form."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from narcissus.channels.channel import Channel, channel
from narcissus.errors import InputError


def of_program(program: Callable[[Any], Hashable], secrets: Iterable[Any]) -> Channel:
    """Give the channel of a program without coins.

    Parameters
    ----------
    program
        Called once with each secret; what it returns is the output.
    secrets
        All of them.

    Examples
    --------
    >>> of_program(lambda pin: pin % 3, range(7)).outputs
    ('0', '1', '2')
    """
    names = list(secrets)
    if not names:
        raise InputError("`secrets` is empty")
    said = [program(one) for one in names]
    outputs = list(dict.fromkeys(said))
    place = {one: i for i, one in enumerate(outputs)}
    values = np.zeros((len(names), len(outputs)))
    values[np.arange(len(names)), [place[one] for one in said]] = 1.0
    return channel(values, secrets=[str(n) for n in names], outputs=[str(o) for o in outputs])


def finest_below(first: Any, second: Any) -> Channel:
    """Give the most that two channels without coins both tell: their greatest lower bound.

    Secrets that either channel does not tell apart are joined, and so on. What both tell together,
    their least upper bound, is `narcissus.channels.parallel`, reduced.

    Notes
    -----
    Source: Landauer and Redmond 1993. Channels with coins have no such bounds in general.
    """
    a, b = channel(first), channel(second)
    if a.secrets != b.secrets:
        raise InputError("channels that are compared must have the same secrets in the same order")
    group = list(range(a.shape[0]))
    for c in (a, b):
        if not np.isin(c.dense, (0.0, 1.0)).all():
            raise InputError("the greatest lower bound is known of channels without coins only")
        said = c.dense.argmax(axis=1)
        for output in np.unique(said):
            same = {group[i] for i in np.flatnonzero(said == output)}
            group = [min(same) if one in same else one for one in group]
    made = of_program(lambda i: f"like {a.secrets[group[i]]}", range(len(group)))
    return channel(made.matrix, secrets=a.secrets, outputs=made.outputs)
