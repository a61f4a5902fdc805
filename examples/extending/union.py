"""A theorem: it bounds what any attacker reaches."""

import math

import numpy as np

from narcissus.bounds import Needs, Theorem
from narcissus.guarantees import ApproximateDP, PureDP


def union_of_people(priors, guarantee, success):
    """Say the same of people with a prior each, for every count up to all and one more."""
    guesses = priors if success is None else priors @ success
    delta = guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
    mean = (guesses.max(axis=1) * math.exp(guarantee.epsilon) + delta).sum()
    return mean / np.maximum(np.arange(len(priors) + 2), 1e-9)


UNION = Theorem(
    id="union",
    source="Example 2026, Theorem 1",
    says="The mean number of right guesses over the count (Markov's inequality).",
    about=("tail",),
    limit=lambda q: q.r * (q.p * math.exp(q.epsilon) + q.delta) / q.v,
    needs=Needs(guarantee=(PureDP, ApproximateDP)),
    independent=False,
    tails=union_of_people,
)
