"""The settings of a sweep: one for each level of protection, with its guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP
from narcissus.mechanisms import Columns, Prepared, TableMechanism


@dataclass(frozen=True)
class Setting:
    """One level of the sweep."""

    label: str  # for tables and figures
    title: str  # the release, in words
    strength: float | None  # grows with protection; None if nothing orders the settings
    mechanism: Prepared  # ready to release
    guarantee: Guarantee | None  # None if there is none
    epsilon: float | None = None  # as a number, where it exists; so are ``delta`` and ``mu``
    delta: float | None = None
    mu: float | None = None
    # the single point (epsilon, delta) as a guarantee, for comparison
    single: Guarantee | None = None


def settings_of(planned: Sequence[TableMechanism], columns: Columns) -> tuple[Setting, ...]:
    """Prepare each level of a sweep for a table.

    A level that cannot release anything of this table, or releases other tables than the first,
    raises InputError.
    """
    settings = tuple(_setting(one, columns) for one in planned)
    first = settings[0].mechanism
    for setting in settings[1:]:
        if setting.mechanism.queries != first.queries:
            raise InputError(
                f"at '{setting.label}' other tables are released than at '{settings[0].label}': "
                "audit them in studies of their own"
            )
    return settings


def _setting(planned: TableMechanism, columns: Columns) -> Setting:
    mechanism = planned.prepare(columns)
    guarantee = mechanism.guarantee
    known = (planned.label, planned.title, planned.strength, mechanism, guarantee)
    if guarantee is None:
        return Setting(*known)
    if isinstance(guarantee, PureDP):
        return Setting(*known, guarantee.epsilon, 0.0, None, guarantee)
    epsilon, delta = planned.point(guarantee)
    single = None if epsilon is None else ApproximateDP(epsilon, delta)
    mu = guarantee.mu if isinstance(guarantee, GaussianDP) else None
    return Setting(*known, epsilon, delta, mu, single)
