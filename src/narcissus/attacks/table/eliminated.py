"""The exact ceiling without a list of joint values, where few columns are tied together.

Given everybody else's secrets the release says of one person a sum over tables, each of its cell:
factors like those of the prior, of the unknown columns that are in a table together. So what an
attacker who is told all other secrets believes is again a product of factors, and the best decision
is found by eliminating one column after the other: the likeliest values of all columns by max, each
column's own chances by sum. How many joint values that looks at follows from which columns are in
a table together, not from what was released: it is known before anything is played.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table.chains import LEAST_LOG
from narcissus.knowledge.columns import FactoredInsider, FactoredTargets, OtherSecrets
from narcissus.mechanisms.marginals import Counts
from narcissus.priors.elimination import elimination_order, marginals, most_likely
from narcissus.priors.factors import Factors
from narcissus.success.table import Codes, ColumnsRight

Floats = NDArray[np.float64]

WORK = 150_000_000
"""Most joint values that the steps of an elimination look at for all people of a release: some
seconds."""

HELD = 4_000_000
"""Numbers of tables and factors that are held at once."""


@dataclass(frozen=True)
class EliminatedCeiling:
    """Each person's exact posterior given the release and all the others' secrets."""

    title = "what nobody can exceed: told everybody else's secrets"
    uses = "prior, release and all other secrets"
    informed = True
    reads = (Counts,)
    knows = OtherSecrets()

    def attempt(
        self, release: Sequence[Counts], known: Sequence[FactoredInsider], rng: np.random.Generator
    ) -> Codes:
        """Return everybody's best guess, shape (trials, n, columns)."""
        pairs = zip(release, known, strict=True)
        return np.stack([self._one(counts, told) for counts, told in pairs])

    def _one(self, release: Counts, told: FactoredInsider) -> Codes:
        success = told.targets.success
        decide = _likeliest_columns if success.by_column else _likeliest
        return np.concatenate([decide(told, part) for part in posterior_factors(release, told)])


def _likeliest(told: FactoredInsider, factors: Factors) -> Codes:
    del told
    return most_likely(factors)


def _likeliest_columns(told: FactoredInsider, factors: Factors) -> Codes:
    return told.targets.success.modes(marginals(factors))


def posterior_factors(release: Counts, told: FactoredInsider) -> Iterator[Factors]:
    """Yield what an insider believes of some people after others, one row of factors a person.

    Without noise, a prior that rules out what the counts say gives way to them.
    """
    targets = told.targets
    queries, factors, people = targets.queries, targets.factors, targets.people
    codes = targets.codes.copy()
    codes[:, list(queries.unknown)] = told.secrets
    residual = release.cells - queries.counts(codes)
    exact = release.noise.scale == 0
    tables = [np.maximum(t, LEAST_LOG) if exact else t for t in factors.tables]
    width = sum(p.size * (2 + p.tables) for p in queries.patterns)
    width += sum(t[0].size for t in tables)
    step = max(1, HELD // width)
    for start in range(0, people, step):
        some = slice(start, start + step)
        found = replace(factors, tables=tuple(tables)).of_rows(factors.rows[some])
        added: dict[tuple[int, ...], Floats] = {}
        for pattern, base in zip(queries.patterns, targets.bases, strict=True):
            every = np.arange(pattern.size)
            own = pattern.values(told.secrets[some])[:, None, None] == every
            without = residual[base[some][:, :, None] + every] + own
            part = pattern.spread(release.noise.gain(without).sum(axis=1))
            part = part.reshape(len(part), *(factors.shape[c] for c in pattern.columns))
            added[pattern.columns] = added.get(pattern.columns, 0.0) + part
        scopes = (*found.scopes, *added)
        yield replace(found, scopes=scopes, tables=(*found.tables, *added.values()))


def work(targets: FactoredTargets) -> int:
    """Count the joint values that are looked at to decide about everybody in one release.
    Raises TooLargeError: more than `elimination_order` takes in one step.
    """
    shape = targets.factors.shape
    scopes = [*targets.factors.scopes, *(p.columns for p in targets.queries.patterns)]
    return targets.people * sum(step.cells(shape) for step in elimination_order(shape, scopes))


def decides(success: ColumnsRight) -> bool:
    """Return whether elimination finds the best decision of somebody who knows all other secrets.

    It does where all columns must be exactly right, or each counts by itself.
    """
    return success.exact or success.by_column
