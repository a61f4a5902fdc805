"""Programs without coins as channels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from narcissus.channels.channel import Channel, channel
from narcissus.errors import InputError


def of_program(program: Callable[[Any], Hashable], secrets: Iterable[Any]) -> Channel:
    """Return the channel of a program without coins.

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
