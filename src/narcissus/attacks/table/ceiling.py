"""The ceiling: an attacker who is told everybody else's secrets.

Its Bayes decision succeeds at least as often as any attacker can, for this mechanism and this
prior: whatever another attacker knows, this one knows too (Narcissus theory 9, "Ceiling"). It is
no attack that anyone could run, and it is sampled, not proved.

**People alone.** To who is told everybody else's secrets, noisy counts are each person's own
contribution and noise: the others are subtracted. So what is believed of each has the same
distribution whether people share a release, and so its noise, or not; and if they do not, people
are independent.

**Without a list of joint values**, where few columns are tied together: given everybody else's
secrets the release says of one person a sum over tables, each of its cell: factors like those of
the prior, of the unknown columns that are in a table together. So what is believed is again a
product of factors, and the best decision is found by eliminating one column after the other: the
likeliest values of all columns by max, each column's own chances by sum. How many joint values that
looks at follows from which columns are in a table together, not from what was released: it is known
before anything is played.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats, first_largest
from narcissus.attacks.table.base import Joint, OneByOne, softmax
from narcissus.attacks.table.posterior import PAIRWISE_LIMIT, chunks, likelihood
from narcissus.attacks.table.shards import BLOCK, CellIncidence
from narcissus.errors import InputError
from narcissus.knowledge.columns import (
    FactoredInsider,
    FactoredTargets,
    Insider,
    OtherSecrets,
    Targets,
)
from narcissus.mechanisms import ProtectedCounts
from narcissus.mechanisms.noise import Counts, Noise
from narcissus.priors.elimination import elimination_order, marginals, most_likely
from narcissus.priors.factors import Factors
from narcissus.success.table import Codes, ColumnsRight

Cells = Counts | ProtectedCounts

LEAST_LOG = -1e3
"""What stands for the logarithm of 0: a prior that rules out what the release says gives way."""

WORK = 150_000_000
"""Most joint values that the steps of an elimination look at for all people of a release: some
seconds."""

HELD = 4_000_000
"""Numbers of tables and factors that are held at the same time."""


@dataclass(frozen=True)
class Ceiling(OneByOne):
    """The exact posterior of each person, given the release and all the others' secrets."""

    title = "what nobody can exceed: told everybody else's secrets"
    uses = "prior, release and all other secrets"
    informed = True
    reads = (Counts, ProtectedCounts)
    knows = OtherSecrets()

    def about(self, release: Cells, told: Insider, rng: np.random.Generator) -> Joint:
        return first_largest(insider_chances(release, told))


@lru_cache(maxsize=1)  # the ceiling decides by it, and other attempts are scored by it
def insider_chances(release: Cells, known: Insider) -> Floats:
    """Return the exact chance of each guess in the insider's eyes, shape (n, guesses)."""
    return known.targets.success.chances(kept_beliefs(release, known))


@lru_cache(maxsize=1)
def kept_beliefs(release: Cells, known: Insider) -> Floats:
    """Return `insider_beliefs`, worked out once for all that ask about a release."""
    return insider_beliefs(release, known)


def insider_beliefs(release: Cells, known: Insider) -> Floats:
    """Return everybody's exact posterior in that attacker's eyes, shape (n, values).

    It is not known where cells depend on each other.
    """
    targets = known.targets
    if isinstance(release, Counts) and targets.people > PAIRWISE_LIMIT:
        beliefs = np.empty(targets.prior.shape)
        for who, fields in _crowd_fields(release, known):
            with np.errstate(divide="ignore"):
                beliefs[who] = _believed(np.log(targets.prior[who]), fields)
        return beliefs
    of_noise = isinstance(release, Counts)
    fields = _noisy_fields(release, known) if of_noise else _protected_fields(release, known)
    return _believed(targets.log_prior, fields)


def _believed(log_prior: Floats, fields: Floats) -> Floats:
    """Return the posterior; a prior that rules out what the cells say gives way to them."""
    logits = log_prior + fields
    impossible = np.isneginf(logits).all(axis=1)  # with real rows
    logits[impossible] = fields[impossible]
    return softmax(logits)


def _noisy_fields(release: Counts, known: Insider) -> Floats:
    """Return the log likelihood of everybody's values, up to a constant each, shape (n, values)."""
    targets = known.targets
    truth = np.zeros((targets.people, 1, targets.prior.shape[1]))
    truth[np.arange(targets.people), 0, known.secrets] = 1.0
    model = likelihood(targets, release.noise, release.cells)
    model.start(truth)
    return np.concatenate(
        [model.fields(block, truth[block])[:, 0] for block in chunks(targets)], axis=0
    )


def _crowd_fields(release: Counts, known: Insider) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Yield the same for many people, some at a time: who, and the log likelihoods.

    Each cell is asked what one more person in it would change, with the asked person in it and
    without; people who are alike add these up over the same cells.
    """
    targets = known.targets
    queries, incidence = targets.queries, CellIncidence(targets)
    values, of = queries.values, incidence.types.of
    order = np.argsort(of, kind="stable")
    ends = np.concatenate([[0], np.cumsum(incidence.types.people)])
    members = [order[ends[block.start] : ends[block.stop]] for block in incidence.blocks]
    sums = incidence.nothing()
    for index, (block, who) in enumerate(zip(incidence.blocks, members, strict=True)):
        places = (of[who] - block.start) * values + known.secrets[who]
        truth = np.bincount(places, minlength=(block.stop - block.start) * values)
        incidence.scatter(
            index, sums, incidence.summed(truth.reshape(-1, values).astype(np.float64))
        )
    residual = release.cells[incidence.cells] - incidence.lowered(sums)
    lacking = incidence.raised(release.noise.gain(residual))
    presence = incidence.raised(release.noise.gain(residual + 1))
    step = max(1, BLOCK // values)
    for index, block in enumerate(incidence.blocks):
        without = incidence.gathered(index, lacking)
        within = incidence.gathered(index, presence)
        for start in range(0, len(members[index]), step):
            who = members[index][start : start + step]
            secret_columns = queries.split(known.secrets[who])
            every, kind = np.arange(len(who)), of[who] - block.start
            parts: list[Floats] = []
            for pattern, lack, hold in zip(queries.patterns, without, within, strict=True):
                part, value = lack[kind], pattern.values(secret_columns)
                part[every, value] = hold[kind, value]
                parts.append(part)
            yield who, queries.spread(parts)


def _protected_fields(release: ProtectedCounts, known: Insider) -> Floats:
    """Return the same for cells that were changed by a rule.

    Of each table only the cells that a person could fall into depend on their value: the one with
    the person in it, the others without.
    """
    if not release.cellwise:
        raise InputError(
            f"what cells that are {release.rule.title} tell an insider is not known, because they "
            "depend on each other: leave the ceiling out"
        )
    targets, rule = known.targets, release.rule
    queries = targets.queries
    secret_columns = queries.split(known.secrets)
    codes = targets.codes.copy()
    codes[:, list(queries.unknown)] = secret_columns
    counts = queries.counts(codes)
    fields: list[Floats] = []
    for block in chunks(targets):
        parts: list[Floats] = []
        bases = queries.bases(targets.codes[block])
        for pattern, base in zip(queries.patterns, bases, strict=True):
            every = np.arange(pattern.size)
            cells = base[:, :, None] + every  # people, tables, size
            others = counts[cells] - (pattern.values(secret_columns[block])[:, None, None] == every)
            published = release.cells[cells]
            without = rule.log_likelihood(published, others)
            within = rule.log_likelihood(published, others + 1)
            lacking = np.isneginf(without)  # somebody must be there
            gain = within - np.where(lacking, 0.0, without)
            gain[lacking.sum(axis=2, keepdims=True) > lacking] = -np.inf
            parts.append(gain.sum(axis=1))
        fields.append(queries.spread(parts))
    return np.concatenate(fields, axis=0)


def beliefs_alone(targets: Targets, noise: Noise, rng: np.random.Generator) -> Floats:
    """Draw an insider's exact posterior of each person by themselves, shape (n, values).

    Each person's secret is drawn from what the prior, which is taken to be right, says of them, and
    the noise on each cell that they could fall into anew: rows are independent given ``targets``.
    """
    parts = [
        replace(targets, codes=targets.codes[block], prior=targets.prior[block])
        for block in chunks(targets)
    ]
    return np.concatenate([_of_some(part, noise, rng) for part in parts])


def _of_some(targets: Targets, noise: Noise, rng: np.random.Generator) -> Floats:
    queries, n = targets.queries, targets.people
    below = np.cumsum(targets.prior, axis=1)
    drawn = rng.random(n)[:, None] * below[:, -1:]  # sums of chances are 1 but for rounding
    secret_columns = queries.split(np.minimum((drawn >= below).sum(axis=1), queries.values - 1))
    fields: list[Floats] = []
    for pattern in queries.patterns:
        mine = pattern.values(secret_columns)[:, None, None] == np.arange(pattern.size)
        shape = (n, pattern.tables, pattern.size)
        cells = noise.sample(n * pattern.tables * pattern.size, rng).reshape(shape) + mine
        fields.append(noise.gain(cells).sum(axis=1))
    return softmax(targets.log_prior + queries.spread(fields))


@dataclass(frozen=True)
class EliminatedCeiling(OneByOne):
    """Each person's exact posterior given the release and all the others' secrets."""

    title, uses = Ceiling.title, Ceiling.uses
    informed = True
    knows = OtherSecrets()

    def about(self, release: Counts, told: FactoredInsider, rng: np.random.Generator) -> Codes:
        """Return everybody's best guess, shape (n, columns)."""
        success, parts = told.targets.success, posterior_factors(release, told)
        if success.by_column:
            return np.concatenate([success.modes(marginals(part)) for part in parts])
        return np.concatenate([most_likely(part) for part in parts])


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
        block_factors = replace(factors, tables=tuple(tables)).of_rows(factors.rows[some])
        added: dict[tuple[int, ...], Floats] = {}
        for pattern, base in zip(queries.patterns, targets.bases, strict=True):
            every = np.arange(pattern.size)
            indicators = pattern.values(told.secrets[some])[:, None, None] == every
            without = residual[base[some][:, :, None] + every] + indicators
            part = pattern.spread(release.noise.gain(without).sum(axis=1))
            part = part.reshape(len(part), *(factors.shape[c] for c in pattern.columns))
            added[pattern.columns] = added.get(pattern.columns, 0.0) + part
        scopes = (*block_factors.scopes, *added)
        yield replace(block_factors, scopes=scopes, tables=(*block_factors.tables, *added.values()))


def work(targets: FactoredTargets) -> int:
    """Count the joint values that are looked at to decide about everybody in one release."""
    shape = targets.factors.shape
    scopes = [*targets.factors.scopes, *(p.columns for p in targets.queries.patterns)]
    return targets.people * sum(step.cells(shape) for step in elimination_order(shape, scopes))


def decides(success: ColumnsRight) -> bool:
    """Return whether elimination finds the best decision of somebody who knows all other secrets.

    It does where all columns must be exactly right, or each counts by itself.
    """
    return success.exact or success.by_column
