"""The memory of a process of an audit, estimated from sizes before anything is allocated."""

from __future__ import annotations

from collections.abc import Sequence

from narcissus.attacks.table import Ceiling, MeanField, TableAttack
from narcissus.attacks.table.posterior import PAIRWISE_LIMIT
from narcissus.errors import TooLargeError
from narcissus.mechanisms import TableQueries
from narcissus.mechanisms.noise import Counts
from narcissus.study.work import machine_memory
from narcissus.success import ColumnsRight

BASE = 250_000_000
"""Bytes of a process before it holds anything of the study."""

NUMBERS = 300
"""Bytes of single numbers of a person: chances, limits, membership, keys, types."""


def falls(queries: TableQueries, people: int) -> int:
    """Count the cells that an attack looks at for ``people``, in all tables at once."""
    if people <= PAIRWISE_LIMIT:  # there every value's cell is looked up at once
        return people * sum(p.tables * p.size for p in queries.patterns)
    return people * queries.tables


def room(
    queries: TableQueries,
    success: ColumnsRight,
    people: int,
    attacks: Sequence[TableAttack],
    releases: type = Counts,
    *,
    factored: bool = False,
) -> int:
    """Estimate the bytes that the people of a trial take in a process.

    An attack that uses only the prior takes next to nothing. ``releases`` is the type that attacks
    read; ``factored`` if the unknown columns have too many joint values to be listed.
    """
    if factored:
        chains = max((getattr(attack, "chains", 1) for attack in attacks), default=1)
        tables = sum(pattern.tables for pattern in queries.patterns)
        return (8 * people * tables + 16 * queries.cells) * chains + 40 * people * tables
    codes = 4 * people * len(queries.sizes)
    beliefs = 8 * people * success.guesses  # at least as many as values
    total = 3 * codes + NUMBERS * people + 2 * beliefs + 24 * queries.cells
    if any(attack.uses != "prior" for attack in attacks):
        total += 2 * beliefs
    if any(_lays_out(attack, releases) for attack in attacks):
        total += 2 * beliefs + 32 * falls(queries, people)
    return total


def _lays_out(attack: TableAttack, releases: type) -> bool:
    """Whether an attack holds everybody's cells; noisy counts are read type by type."""
    by_types = issubclass(releases, Counts) and isinstance(attack, MeanField | Ceiling)
    return attack.uses != "prior" and not by_types


def require_room(
    queries: TableQueries,
    success: ColumnsRight,
    people: int,
    attacks: Sequence[TableAttack],
    releases: type = Counts,
    *,
    factored: bool = False,
) -> None:
    """Refuse people, values or tables that do not fit into one process's memory.

    Raises TooLargeError if they need more memory than the machine has.
    """
    there = machine_memory()
    needed = BASE + room(queries, success, people, attacks, releases, factored=factored)
    if needed > there:
        raise TooLargeError(
            f"{people:,} people with {success.guesses:,} joint values of the unknown columns, in "
            f"{queries.tables:,} tables, need about {needed / 1e9:.1f} GB, and there are "
            f"{there / 1e9:.1f} GB: take fewer targets, fewer unknown columns or coarser bins, or "
            "a smaller k"
        )
