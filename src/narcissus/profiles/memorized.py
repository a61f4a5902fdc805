"""Memorized information: what a release reveals about the data beyond the distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from narcissus.errors import InputError, TooLargeError
from narcissus.profiles.write_out import LIMIT, amount
from narcissus.worlds.base import members


def memorized_information(world: Any, mechanism: Any, *, limit: int = LIMIT) -> float:
    """Compute ``I(S; M(S) | Nature)`` in bits, exactly.

    Parameters
    ----------
    world, mechanism
        Ones that can be written out.
    limit
        Largest number of data sets.

    Raises
    ------
    TooLargeError
        The world is too large.
    InputError
        The world is a family.

    Notes
    -----
    Source: Brown et al. 2021; Kaplan et al. 2025, Definition 1.1.

    Examples
    --------
    The parity release of ``n`` rows of ``d`` bits memorizes ``n d / 2`` bits (Example 1.3):

    >>> from narcissus.mechanisms import Parity
    >>> from narcissus.worlds import Uniform
    >>> round(float(memorized_information(Uniform(2, 4), Parity())), 12)
    4.0
    """
    if "" not in members(world):
        raise InputError("memorized information is of one distribution, and the world is a family")
    size = world.count()
    if size > limit:
        raise TooLargeError(
            f"the world has {amount(size)} data sets; memorized information is computed for at "
            f"most {limit:,}"
        )
    written = world.enumerate()
    matrix = mechanism.channel(written.data).matrix
    # I(S; Y | v) = sum_s P(s|v) sum_y C(y|s) log2( C(y|s) / P(y|v) )
    total = 0.0
    coo = sparse.coo_array(matrix)
    keep = coo.data > 0
    rows, columns, values = coo.row[keep], coo.col[keep], coo.data[keep]
    for weight, sample in zip(written.weight, written.sample, strict=True):
        released = np.asarray(sample @ matrix)
        mass = sample[rows] * values
        used = mass > 0
        ratio = values[used] / released[columns[used]]
        total += weight * float(mass[used] @ np.log2(ratio))
    return total
