"""The ceiling: an attacker who is told everybody else's secrets.

Its Bayes decision succeeds at least as often as any attacker can, for this mechanism and this
prior: whatever another attacker knows, this one knows too (Narcissus theory 9, "Ceiling"). It is
no attack that anyone could run, and it is sampled, not proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus.attacks.table.base import Floats, Joint, softmax
from narcissus.attacks.table.gathers import BLOCK, Gathers
from narcissus.attacks.table.likelihood import PAIRWISE_LIMIT, chunks, likelihood
from narcissus.errors import InputError
from narcissus.knowledge.columns import Insider, OtherSecrets
from narcissus.mechanisms import ProtectedCounts
from narcissus.mechanisms.marginals import Counts

Cells = Counts | ProtectedCounts


@dataclass(frozen=True)
class Ceiling:
    """The exact posterior of each person, given the release and all the others' secrets."""

    title = "what nobody can exceed: told everybody else's secrets"
    uses = "prior, release and all other secrets"
    informed = True
    reads = (Counts, ProtectedCounts)
    knows = OtherSecrets()

    def attempt(
        self, release: Sequence[Cells], known: Sequence[Insider], rng: np.random.Generator
    ) -> Joint:
        """Decide by the posterior, shape (trials, n)."""
        pairs = zip(release, known, strict=True)
        return np.stack([first_largest(insider_chances(counts, told)) for counts, told in pairs])


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
    Raises InputError: the cells depend on each other: their chance is not known.
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
    queries, gathers = targets.queries, Gathers(targets)
    values, of = queries.values, gathers.types.of
    order = np.argsort(of, kind="stable")
    ends = np.concatenate([[0], np.cumsum(gathers.types.people)])
    members = [order[ends[block.start] : ends[block.stop]] for block in gathers.blocks]
    sums = gathers.nothing()
    for index, (block, who) in enumerate(zip(gathers.blocks, members, strict=True)):
        places = (of[who] - block.start) * values + known.secrets[who]
        truth = np.bincount(places, minlength=(block.stop - block.start) * values)
        gathers.scatter(index, sums, gathers.summed(truth.reshape(-1, values).astype(np.float64)))
    residual = release.cells[gathers.cells] - gathers.lowered(sums)
    lacking = gathers.raised(release.noise.gain(residual))
    held = gathers.raised(release.noise.gain(residual + 1))
    step = max(1, BLOCK // values)
    for index, block in enumerate(gathers.blocks):
        without = gathers.gathered(index, lacking)
        within = gathers.gathered(index, held)
        for start in range(0, len(members[index]), step):
            who = members[index][start : start + step]
            own = queries.split(known.secrets[who])
            every, kind = np.arange(len(who)), of[who] - block.start
            parts: list[Floats] = []
            for pattern, lack, hold in zip(queries.patterns, without, within, strict=True):
                part, value = lack[kind], pattern.values(own)
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
    own = queries.split(known.secrets)
    codes = targets.codes.copy()
    codes[:, list(queries.unknown)] = own
    counts = queries.counts(codes)
    fields: list[Floats] = []
    for block in chunks(targets):
        parts: list[Floats] = []
        bases = queries.bases(targets.codes[block])
        for pattern, base in zip(queries.patterns, bases, strict=True):
            every = np.arange(pattern.size)
            cells = base[:, :, None] + every  # people, tables, size
            others = counts[cells] - (pattern.values(own[block])[:, None, None] == every)
            published = release.cells[cells]
            without = rule.log_likelihood(published, others)
            within = rule.log_likelihood(published, others + 1)
            lacking = np.isneginf(without)  # somebody must be there
            gain = within - np.where(lacking, 0.0, without)
            gain[lacking.sum(axis=2, keepdims=True) > lacking] = -np.inf
            parts.append(gain.sum(axis=1))
        fields.append(queries.spread(parts))
    return np.concatenate(fields, axis=0)
