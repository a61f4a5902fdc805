"""What a release says near a person: votes of the nearest rows, and numbers to learn from.

Released rows are compared by how many known columns differ (Hamming distance). All rows at the
least distance vote for their values; ties go to the prior.

Features are numbers for each value that the person may have. They are made of what everybody may
know: the prior, the release and the people's known columns. Each table is asked what it says of the
person when everybody else is as the prior has them (`TableFactor.message`); what the tables say is
added up by how many people share the cell.

Conditional logit (McFadden 1974): chances of alternatives from numbers that describe each.

    Pr[person i has value u] = exp(w . x_iu) / sum_v exp(w . x_iv)

The log likelihood is concave in ``w``; with a ridge it has one maximum, found by Newton's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._options import FilledIn
from narcissus._validation import positive
from narcissus.attacks.table.base import (
    ByBeliefs,
    Joint,
    ReleaseByRelease,
    Simulated,
    View,
    softmax,
    view_of,
)
from narcissus.attacks.table.posterior import MeanField
from narcissus.attacks.table.propagation import USUAL_SCALE, reader_of, table_factors
from narcissus.errors import InputError
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import Counts, Microdata, ProtectedCounts

BLOCK = 4_000_000  # pairs of a person and a row at a time
FURTHEST = 3
"""The largest distance at which matches are counted one by one."""
LEAST = -15.0  # of a log prior: what is less likely is as good as impossible
CROWDS = (1, 3, 10, 50)  # people of a group: up to one, three, ...
SURE = 6.0  # log odds above which a table settles a value
STEPS = 50  # of Newton's method
ENTRIES = 8_000_000  # numbers that are learned from, at most


@dataclass(frozen=True, eq=False)
class Votes:
    """The values of the rows that are like a person."""

    # How many rows at each distance from 0 to `FURTHEST` have a value, (distances, n, values)
    at: Floats
    nearest: Floats  # How many of the rows at the least distance have it, shape (n, values)


def votes_of(targets: Targets, rows: NDArray[np.int32]) -> Votes:
    """Count the values of the rows that are like each person."""
    queries = targets.queries
    known = list(queries.known)
    sizes = [queries.sizes[c] for c in known]
    people, others = (_indicators(x[:, known], sizes) for x in (targets.codes, rows))
    holds = _indicators(queries.joint(rows)[:, None], [queries.values])
    shape = (targets.people, queries.values)
    at, nearest = np.zeros((FURTHEST + 1, *shape)), np.zeros(shape)
    step = max(1, BLOCK // max(1, len(rows)))
    for a in range(0, targets.people if len(rows) else 0, step):
        block = slice(a, a + step)
        distance = len(known) - people[block] @ others.T
        for d in range(FURTHEST + 1):
            at[d, block] = (distance == d).astype(np.float32) @ holds
        shortest_distance = distance.min(axis=1, keepdims=True)
        nearest[block] = (distance == shortest_distance).astype(np.float32) @ holds
    return Votes(at, nearest)


def _indicators(codes: NDArray[np.integer], sizes: list[int]) -> NDArray[np.float32]:
    """Return a one for each value that a row has, shape (rows, sum of sizes)."""
    indicators = np.zeros((len(codes), sum(sizes)), dtype=np.float32)
    starts = np.cumsum([0, *sizes[:-1]])
    indicators[np.arange(len(codes))[:, None], codes + starts] = 1
    return indicators


@dataclass(frozen=True)
class NearestRecord(ReleaseByRelease):
    """The value that most of the released rows have that are most like the person."""

    title = "the nearest released record"
    uses = "prior and release"
    reads = (Microdata,)

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        votes = votes_of(view.targets, view.release.rows).nearest
        beliefs = votes + view.targets.prior / 2  # less than a vote: it decides ties alone
        return view.targets.success.decide(beliefs / beliefs.sum(axis=1, keepdims=True))


def features_of(view: View) -> Floats:
    """Return the numbers of each value of each person, shape (n, values, features)."""
    targets = view.targets
    parts = [np.maximum(targets.log_prior, LEAST)[None], cell_sums(view)]
    if isinstance(view.release, Microdata):
        parts.append(row_scores(targets, votes_of(targets, view.release.rows)))
    return np.moveaxis(np.concatenate(parts), 0, -1)


def cell_sums(view: View) -> Floats:
    """Add up what the tables say, shape (8, n, values).

    Five sums by the size of the group, one of the tables' votes, whatever their strength, and
    the numbers of tables that settle for a value and against it.
    """
    targets = view.targets
    sums = np.zeros((len(CROWDS) + 4, *targets.prior.shape))
    for table in table_factors(targets, reader_of(view, USUAL_SCALE)):
        message = table.message(table.pattern.sum_to(targets.prior), 1.0)
        message -= message.mean(axis=1, keepdims=True)
        crowd = np.searchsorted(CROWDS, table.people)[table.group]
        sums[crowd, np.arange(targets.people)] += table.whole(message)
        sums[-3] += table.whole(np.tanh(message))
        sums[-2] += table.whole((message > SURE).astype(np.float64))
        sums[-1] += table.whole((message < -SURE).astype(np.float64))
    return sums


def row_scores(targets: Targets, votes: Votes) -> Floats:
    """Return how much commoner a value is among the rows like a person, shape (5, n, values).

    Logarithms of shares relative to the prior at each distance, one prior row added; and the
    value's share of the nearest rows.
    """
    prior = np.maximum(targets.prior, np.exp(LEAST))
    scores = [
        np.log((at + prior) / ((at.sum(axis=1, keepdims=True) + 1) * prior)) for at in votes.at
    ]
    total = np.maximum(votes.nearest.sum(axis=1, keepdims=True), 1)
    return np.stack([*scores, votes.nearest / total])


@dataclass(frozen=True, eq=False)
class ConditionalLogit:
    """A fitted conditional logit."""

    weights: Floats  # One for each feature, shape (features,)

    @classmethod
    def fit(cls, features: Floats, chosen: Joint, ridge: float) -> ConditionalLogit:
        """Find the weights of the largest log likelihood less the ridge.

        Features have shape (n, alternatives, features). The ridge is what half the square of a
        weight costs, the feature in units of its deviation among a person's alternatives.
        """
        centred = features - features.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=(0, 1)))
        scaled = centred / np.where(deviation > 0, deviation, 1.0)
        truth = scaled[np.arange(len(chosen)), chosen].sum(axis=0)
        weights = np.zeros(features.shape[2])
        value = -np.inf
        step = weights
        for _ in range(STEPS):
            tried = weights + step
            logits = scaled @ tried
            top = logits.max(axis=1)
            logs = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
            likelihood = float(truth @ tried - logs.sum() - ridge / 2 * tried @ tried)
            if likelihood < value:  # too far
                step = step / 2
                continue
            gained, weights, value = likelihood - value, tried, likelihood
            if gained < 1e-9 * max(1.0, abs(value)):
                break
            chances = softmax(logits)
            mean = np.einsum("nv,nvf->nf", chances, scaled)
            slope = truth - mean.sum(axis=0) - ridge * weights
            weighted = (scaled * chances[:, :, None]).reshape(-1, weights.size)
            second = weighted.T @ scaled.reshape(-1, weights.size) - mean.T @ mean
            step = np.linalg.solve(second + ridge * np.eye(weights.size), slope)
        return cls(weights / np.where(deviation > 0, deviation, 1.0))

    def chances(self, features: Floats) -> Floats:
        """Return the chance of each alternative, shape (n, alternatives)."""
        return softmax(features @ self.weights)


@dataclass(frozen=True)
class Learned(ByBeliefs):
    """A conditional logit over each person's values, on what the release says near them.

    ridge: How much half the square of a weight costs, above 0.
    logit: What was learned.
    """

    ridge: float = 1.0
    logit: Annotated[ConditionalLogit | None, FilledIn()] = None
    title = "learned from simulated releases"
    uses = "prior and release"
    reads = learns_from = (Counts, ProtectedCounts, Microdata)

    def __post_init__(self) -> None:
        positive("ridge", self.ridge)

    def features(self, view: View, *, rng: np.random.Generator) -> Floats:
        """Return what the logit is told, shape (n, values, features)."""
        return features_of(view)

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> Self:
        """Fit the logit; of many people, to some."""
        if not simulated:
            raise InputError("the attacks `learned` and `stack` need at least one training release")
        features: list[Floats] = []
        chosen: list[Joint] = []
        for simulation in simulated:
            release_features = self.features(
                view_of(simulation.targets, simulation.release), rng=rng
            )
            limit = max(1, ENTRIES // (len(simulated) * release_features[0].size))
            some = np.arange(len(release_features))
            if len(release_features) > limit:
                some = rng.choice(len(release_features), limit, replace=False)
            features.append(release_features[some])
            chosen.append(simulation.secrets[some])
        logit = ConditionalLogit.fit(np.concatenate(features), np.concatenate(chosen), self.ridge)
        return replace(self, logit=logit)

    def beliefs(self, view: View, *, rng: np.random.Generator) -> Floats:
        """Return everybody's chances, shape (n, values); refuse to before training."""
        if self.logit is None:
            raise InputError(
                "this attack learns from simulated releases: `train` it before it guesses"
            )
        return self.logit.chances(self.features(view, rng=rng))


@dataclass(frozen=True)
class Stack(Learned):
    """See what `Learned` sees, and what the posterior believes (stacking; Wolpert 1992).

    posterior: The attack whose beliefs are used.
    """

    posterior: Annotated[MeanField, FilledIn()] = field(default_factory=MeanField)
    title = "all attacks together, learned from simulated releases"

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> Self:
        """Train the posterior, then the logit on top of it."""
        trained = replace(self, posterior=self.posterior.train(simulated, rng))
        return super(Stack, trained).train(simulated, rng)

    def features(self, view: View, *, rng: np.random.Generator) -> Floats:
        beliefs = self.posterior.beliefs(view, rng=rng)
        # The belief besides its logarithm: where the posterior is too sure of itself, that one
        # alone would be weighted down until it hardly counted.
        columns = np.stack([np.log(np.maximum(beliefs, np.exp(LEAST))), beliefs], axis=2)
        return np.concatenate([super().features(view, rng=rng), columns], axis=2)
