"""The ceiling: an attacker who is told everybody else's secrets.

Its Bayes decision succeeds at least as often as any attacker can, for this mechanism and this
prior: whatever another attacker knows, this one knows too (Narcissus theory 9, "Ceiling"). It is
no attack that anyone could run, and it is sampled, not proved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus.attacks.table.base import Floats, Joint, View
from narcissus.attacks.table.posterior import exact_fields
from narcissus.errors import InputError


@dataclass(frozen=True)
class Ceiling:
    """The exact posterior of each person, given the release and all the others' secrets."""

    title = "what nobody can exceed: told everybody else's secrets"
    uses = "prior, release and all other secrets"
    informed = True

    def beliefs(self, view: View, *, rng: np.random.Generator) -> Floats:
        """Give everybody's exact posterior in that attacker's eyes, shape (n, values)."""
        if view.secrets is None:
            raise InputError("the ceiling must be told the secrets: `view.secrets` is None")
        fields = exact_fields(view, view.secrets)
        logits = view.targets.log_prior + fields
        # A prior that rules out what exact counts say (real rows) gives way to them.
        impossible = np.isneginf(logits).all(axis=1)
        logits[impossible] = fields[impossible]
        top = logits.max(axis=1, keepdims=True)
        weights = np.exp(logits - top)
        return weights / weights.sum(axis=1, keepdims=True)

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Decide by the posterior."""
        return view.targets.success.decide(self.beliefs(view, rng=rng))
