"""The ceiling: an attacker who is told everybody else's secrets.

Its Bayes decision succeeds at least as often as any attacker can, for this mechanism and this
prior: whatever another attacker knows, this one knows too (Narcissus theory 9, "Ceiling"). It is
no attack that anyone could run, and it is sampled, not proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from narcissus.attacks.table.base import Floats, Joint, softmax
from narcissus.attacks.table.likelihood import chunks, likelihood
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
        return np.stack([insider_chances(counts, told).argmax(axis=1) for counts, told in pairs])


@lru_cache(maxsize=1)  # the ceiling decides by it, and other attempts are scored by it
def insider_chances(release: Cells, known: Insider) -> Floats:
    """Give the exact chance of each guess in the insider's eyes, shape (n, guesses)."""
    return known.targets.success.chances(insider_beliefs(release, known))


def insider_beliefs(release: Cells, known: Insider) -> Floats:
    """Give everybody's exact posterior in that attacker's eyes, shape (n, values).

    Raises
    ------
    InputError
        The cells depend on each other: their chance is not known.
    """
    targets = known.targets
    of_noise = isinstance(release, Counts)
    fields = _noisy_fields(release, known) if of_noise else _protected_fields(release, known)
    logits = targets.log_prior + fields
    # A prior that rules out what the cells say (real rows) gives way to them.
    impossible = np.isneginf(logits).all(axis=1)
    logits[impossible] = fields[impossible]
    return softmax(logits)


def _noisy_fields(release: Counts, known: Insider) -> Floats:
    """Give the log likelihood of everybody's values, up to a constant each, shape (n, values)."""
    targets = known.targets
    truth = np.zeros((targets.people, 1, targets.prior.shape[1]))
    truth[np.arange(targets.people), 0, known.secrets] = 1.0
    model = likelihood(targets, release.noise, release.cells)
    model.start(truth)
    return np.concatenate(
        [model.fields(block, truth[block])[:, 0] for block in chunks(targets)], axis=0
    )


def _protected_fields(release: ProtectedCounts, known: Insider) -> Floats:
    """Give the same for cells that were changed by a rule.

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
        for pattern, base in zip(queries.patterns, targets.bases, strict=True):
            every = np.arange(pattern.size)
            cells = base[block][:, :, None] + every  # people, tables, size
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
