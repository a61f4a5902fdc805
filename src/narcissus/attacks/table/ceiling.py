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
from narcissus.knowledge.columns import Insider, OtherSecrets
from narcissus.mechanisms import ProtectedCounts
from narcissus.mechanisms.marginals import Counts


@dataclass(frozen=True)
class Ceiling:
    """The exact posterior of each person, given the release and all the others' secrets."""

    title = "what nobody can exceed: told everybody else's secrets"
    uses = "prior, release and all other secrets"
    informed = True
    reads = (Counts, ProtectedCounts)
    knows = OtherSecrets()

    def attempt(
        self, release: Sequence[Counts], known: Sequence[Insider], rng: np.random.Generator
    ) -> Joint:
        """Decide by the posterior, shape (trials, n)."""
        pairs = zip(release, known, strict=True)
        return np.stack([insider_chances(counts, told).argmax(axis=1) for counts, told in pairs])


@lru_cache(maxsize=1)  # the ceiling decides by it, and other attempts are scored by it
def insider_chances(release: Counts, known: Insider) -> Floats:
    """Give the exact chance of each guess in the insider's eyes, shape (n, guesses)."""
    return known.targets.success.chances(insider_beliefs(release, known))


def insider_beliefs(release: Counts, known: Insider) -> Floats:
    """Give everybody's exact posterior in that attacker's eyes, shape (n, values)."""
    targets = known.targets
    truth = np.zeros((targets.people, 1, targets.prior.shape[1]))
    truth[np.arange(targets.people), 0, known.secrets] = 1.0
    model = likelihood(targets, release.noise, release.cells)
    model.start(truth)
    fields = np.concatenate(
        [model.fields(block, truth[block])[:, 0] for block in chunks(targets)], axis=0
    )
    logits = targets.log_prior + fields
    # A prior that rules out what exact counts say (real rows) gives way to them.
    impossible = np.isneginf(logits).all(axis=1)
    logits[impossible] = fields[impossible]
    return softmax(logits)
