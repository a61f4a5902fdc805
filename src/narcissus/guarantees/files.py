"""Guarantees from files: a privacy curve or a privacy loss distribution."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from narcissus._number_table import NumberTable, read_number_table
from narcissus.errors import InputError
from narcissus.guarantees.base import Adjacency, FloatArray, Secret
from narcissus.guarantees.curve import ProfileCurve
from narcissus.guarantees.losses import from_losses, from_losses_of_orders
from narcissus.guarantees.orders import from_orders

_ROUNDED = 1e-9  # so much, relatively, a delta may rise by how it was written


def read_profile(
    path: Path | str, *, adjacency: Adjacency = "replace-one", secret: Secret = "value"
) -> ProfileCurve:
    """Read a privacy curve whose rows are (epsilon, delta)-DP statements.

    Profiles are convex in ``exp(epsilon)``, so the chord between two points holds; after the last
    point its delta does. Points above the chord of others are redundant but harmless; see
    `ProfileCurve.implied`.

    Parameters
    ----------
    path
        CSV, or JSON by its name; see `narcissus.guarantees` in the documentation. Columns
        ``epsilon`` and ``delta``; or ``epsilon``, ``delta_add`` and ``delta_remove``, the two
        orders of an added or removed record, which are converted to a replaced one.
    adjacency
        The neighbours of a single ``delta``, in both orders.
    secret
        For a value the two orders are converted to a replaced record; for membership the worse
        holds.

    Raises
    ------
    InputError
        With the row: an epsilon below 0, a delta outside [0, 1] or rising with epsilon.
    """
    table = read_number_table(Path(path))
    found = table.columns(("epsilon", "delta"), ("epsilon", "delta_add", "delta_remove"))
    where = found.pop("epsilon")
    _refuse(
        table, "epsilon", ~(np.isfinite(where) & (where >= 0)), where,
        "must be at least 0 and finite; rows below 0 say no more than those above: leave them out",
    )  # fmt: skip
    order = np.argsort(where, kind="stable")
    for name, deltas in found.items():
        _refuse(table, name, ~((deltas >= 0) & (deltas <= 1)), deltas, "must be in [0, 1]")
        rises = np.flatnonzero(
            deltas[order][1:] > deltas[order][:-1] * (1 + _ROUNDED) + np.finfo(float).tiny
        )
        if rises.size:
            lower, upper = int(order[rises[0]]), int(order[rises[0] + 1])
            raise InputError(
                f"{table.place(upper, _number(table, name))}, must not rise with epsilon: "
                f"{deltas[lower]:g} at epsilon {where[lower]:g}, {deltas[upper]:g} at "
                f"{where[upper]:g}; are columns or rows mixed up?"
            )
    if "delta" in found:
        return ProfileCurve(
            _plain(where), _plain(found["delta"]), adjacency=adjacency, secret=secret
        )
    return from_orders(where, found["delta_add"], found["delta_remove"], secret=secret)


def read_losses(
    path: Path | str, *, adjacency: Adjacency = "replace-one", secret: Secret = "value"
) -> ProfileCurve:
    """Read a privacy loss distribution: losses and their probabilities as rows.

    Parameters
    ----------
    path
        CSV, or JSON by its name. Columns ``loss`` (``ln P/Q``; ``inf`` where only ``P`` has mass)
        and ``probability`` (under ``P``), which imply the other order; optionally
        ``probability_reversed`` (of ``ln Q/P`` under ``Q``; see `from_losses`). Or ``loss``,
        ``probability_add`` (``P`` without the record) and ``probability_remove`` (``P`` with it),
        which are converted to a replaced record.
    adjacency
        The neighbours of ``probability``.
    secret
        See `read_profile`.

    Raises
    ------
    InputError
        With the row: a probability outside [0, 1]. Also: the probabilities do not sum to 1, no two
        distributions have such losses, or one order does not follow from the other.
    """
    table = read_number_table(Path(path))
    found = table.columns(
        ("loss", "probability"),
        ("loss", "probability", "probability_reversed"),
        ("loss", "probability_add", "probability_remove"),
    )
    losses = found.pop("loss")
    for name, masses in found.items():
        wrong = ~((masses >= -1e-12) & (masses <= 1))
        _refuse(table, name, wrong, masses, "must be in [0, 1]")
        total = float(np.sort(masses).sum())
        if abs(total - 1) > 1e-6:
            raise InputError(
                f"{table.path}: column `{name}` must sum to 1, got {total:.9g}; "
                + (
                    "what is missing to 1 belongs to a row with the loss inf"
                    if total < 1
                    else "are these densities, or counts? Divide them by their sum"
                )
            )
    try:
        if "probability" in found:
            back = found.get("probability_reversed")
            one = from_losses(losses, found["probability"], adjacency=adjacency, reverse=back)
            return replace(one, secret=secret)
        orders = found["probability_add"], found["probability_remove"]
        return from_losses_of_orders(losses, *orders, secret=secret)
    except InputError as error:
        raise InputError(f"{table.path}: {error}") from error


def _refuse(
    table: NumberTable, name: str, wrong: NDArray[np.bool_], values: FloatArray, must: str
) -> None:
    """Refuse the first wrong cell of a column."""
    rows = np.flatnonzero(wrong)
    if rows.size:
        row = int(rows[0])
        place = table.place(row, _number(table, name))
        raise InputError(f"{place}, {must}, got {values[row]:g}")


def _number(table: NumberTable, name: str) -> int:
    return (table.names or ()).index(name)


def _plain(values: FloatArray) -> tuple[float, ...]:
    return tuple(values.tolist())
