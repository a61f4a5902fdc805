"""Attacks on tables with many unknown columns, whose joint values are never listed.

The posterior is sampled by chains that draw column by column (`narcissus.attacks.table.chains`) and
decided by the criterion: the likeliest of the values that chains visited where all columns must be
right, the guess that counts for most draws where some must, the likeliest value of each column
where each counts by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import between, integer
from narcissus.attacks.base import Answers
from narcissus.attacks.table.base import OwnTableAttack, TableAttack, softmax
from narcissus.attacks.table.ceiling import Ceiling
from narcissus.attacks.table.chains import ColumnChains, LonelyChains, schedule
from narcissus.attacks.table.exact_columns import witnesses
from narcissus.attacks.table.factored_own import factored_own
from narcissus.attacks.table.places import ColumnSteps
from narcissus.attacks.table.posterior import GibbsSampling, MeanField
from narcissus.attacks.table.prior import PriorGuess
from narcissus.attacks.table.rap import FactoredProjection, RelaxedProjection
from narcissus.knowledge.columns import CANDIDATES, FactoredInsider, FactoredTargets, OtherSecrets
from narcissus.mechanisms.marginals import Counts
from narcissus.mechanisms.noise import GaussianNoise
from narcissus.priors.elimination import sample
from narcissus.success.table import Codes

Floats = NDArray[np.float64]
Fields = Callable[[int, NDArray[np.integer]], Floats]


WITNESSES = 4
"""Solutions of exact counts that a guess is taken from."""

SHARP = GaussianNoise(0.3)
"""Stands for no noise, where all secrets but one are known: a count is right or off by one."""


@dataclass(frozen=True)
class FactoredGuess:
    """The best guess found from the prior alone, of any number of unknown columns."""

    title = "the best guess without the release"
    uses = "prior"
    informed = False
    reads = (object,)

    def attempt(
        self, release: Sequence[Any], known: Sequence[FactoredTargets], rng: np.random.Generator
    ) -> Codes:
        """Ignore the release, shape (trials, n, columns)."""
        return np.stack([told.best_guess for told in known])


@dataclass(frozen=True)
class Searched(Answers):
    """Guesses from exact counts, and how far the values that were found agree with them."""

    residual: Floats
    """By how many people all counts together are off, shape (trials,); 0 where they agree."""


@dataclass(frozen=True)
class ChainBeliefs:
    """What chains say of everybody's unknown columns."""

    # For each column the chances of its values, shape (n, size): averages of the chances that
    # they were drawn from, not of the draws (Rao-Blackwell)
    marginals: tuple[Floats, ...]
    draws: Codes  # What was drawn, shape (n, draws, columns)


@dataclass(frozen=True)
class FactoredGibbs:
    """Gibbs sampling column by column, of any number of unknown columns.

    Exact counts have no density: there values that agree with all of them are searched
    (`narcissus.attacks.table.exact_columns`).
    """

    sweeps: int = 40  # Passes of each chain over all people and columns
    chains: int = 16  # Chains side by side
    # Share of the passes in which the release gains its weight, from .01 to 1, and which are
    # thrown away; in [0, 1)
    burn: float = 0.4
    title = "the posterior by Gibbs sampling, column by column"
    uses = "prior and release"
    informed = False
    reads = (Counts,)

    def __post_init__(self) -> None:
        """Refuse numbers out of their ranges."""
        integer("sweeps", self.sweeps, low=1)
        integer("chains", self.chains, low=1)
        between("burn", self.burn, 0, 1, open_high=True)

    def attempt(
        self, release: Sequence[Counts], known: Sequence[FactoredTargets], rng: np.random.Generator
    ) -> Codes | Searched:
        """Decide by the posterior, shape (trials, n, columns); of exact counts `Searched`."""
        pairs = list(zip(release, known, strict=True))
        if release and release[0].noise.scale == 0:
            found = [searched(counts, told) for counts, told in pairs]
            values = np.stack([guess for guess, _ in found])
            residual = np.array([left for _, left in found])
            return Searched(values, np.ones(len(pairs), dtype=bool), [], residual)
        return np.stack([self._one(counts, told, rng) for counts, told in pairs])

    def _one(self, release: Counts, targets: FactoredTargets, rng: np.random.Generator) -> Codes:
        chains, beliefs = self.run(release, targets, rng)
        modes = targets.success.modes(beliefs.marginals)
        fields = chains.fields if targets.success.all else None
        people = range(targets.people)
        return np.stack([decide(targets, i, modes[i], beliefs.draws[i], fields) for i in people])

    def run(
        self, release: Counts, targets: FactoredTargets, rng: np.random.Generator
    ) -> tuple[ColumnChains, ChainBeliefs]:
        """Run the chains; give them as they end, and what they said on the way."""
        factors = targets.factors
        steps = ColumnSteps(targets.queries, targets.bases, release.cells)
        start = sample(factors, self.chains, rng=rng)
        chains = ColumnChains(factors, steps, release.noise, start)
        tally = tuple(np.zeros((targets.people, size)) for size in factors.shape)
        draws: list[Codes] = []
        for weight in schedule(self.sweeps, self.burn):
            kept = weight >= 1
            chains.sweep(rng, weight, tally if kept else None)
            if kept:
                draws.append(chains.values.astype(np.int32))
        marginals = tuple(t / t.sum(axis=1, keepdims=True) for t in tally)
        return chains, ChainBeliefs(marginals, np.concatenate(draws, axis=1))


@dataclass(frozen=True)
class FactoredCeiling:
    """Each person's posterior, given the release and all the others' secrets, by sampling.

    No exact posterior over so many joint values is at hand: a better decision from the same
    knowledge may exist, so this is an estimate of the ceiling, and no limit.
    """

    # sweeps, chains, burn: As in `FactoredGibbs`
    sweeps: int = 60
    chains: int = 16
    burn: float = 0.4
    title = "told everybody else's secrets: what nobody should exceed, by sampling"
    uses = "prior, release and all other secrets"
    informed = True
    reads = (Counts,)
    knows = OtherSecrets()

    def attempt(
        self, release: Sequence[Counts], known: Sequence[FactoredInsider], rng: np.random.Generator
    ) -> Codes:
        """Decide by the posterior, shape (trials, n, columns)."""
        pairs = zip(release, known, strict=True)
        return np.stack([self._one(counts, told, rng) for counts, told in pairs])

    def _one(self, release: Counts, told: FactoredInsider, rng: np.random.Generator) -> Codes:
        targets = told.targets
        factors, n = targets.factors, targets.people
        steps = ColumnSteps(targets.queries, targets.bases, release.cells)
        noise = release.noise if release.noise.scale > 0 else SHARP
        chains = LonelyChains(factors, steps, noise, told.secrets)
        tally = tuple(np.zeros((n, size)) for size in factors.shape)
        start = sample(factors, self.chains, rng=rng)
        weights = schedule(self.sweeps, self.burn)
        draws = [chains.run(i, start[i], weights, rng, tally) for i in range(n)]
        modes = targets.success.modes([t / t.sum(axis=1, keepdims=True) for t in tally])
        fields = chains.fields if targets.success.all else None
        return np.stack([decide(targets, i, modes[i], draws[i], fields) for i in range(n)])


def searched(release: Counts, targets: FactoredTargets) -> tuple[Codes, float]:
    """Guess from values that agree with exact counts, or nearly; give the residual beside it."""
    steps = ColumnSteps(targets.queries, targets.bases, release.cells)
    known = targets.codes[:, list(targets.queries.known)]
    draws, residual = witnesses(steps, targets.marginals, known, WITNESSES)
    found: list[Codes] = []
    for i, own in enumerate(draws):
        shares = [
            np.bincount(own[:, c], minlength=size)[None] / len(own)
            for c, size in enumerate(targets.factors.shape)
        ]
        found.append(decide(targets, i, targets.success.modes(shares)[0], own, None))
    return np.stack(found), residual


def decide(
    targets: FactoredTargets, i: int, mode: Codes, draws: Codes, fields: Fields | None
) -> Codes:
    """Return the guess about one person that is likeliest to count, as far as draws tell.

    targets: the people.
    i: whom the guess is about.
    mode: every column's likeliest guess, shape (columns,).
    draws: from the person's posterior, shape (draws, columns).
    fields: log likelihood of the person's values in some states of the others. Where all columns
        must be right the values drawn are hardly ever drawn twice: they are weighed by the
        posterior among them, averaged over the states. None: draws are counted.
    """
    success = targets.success
    if success.by_column:
        return mode
    others = np.stack([targets.best_guess[i], mode])
    if fields is None:
        some = draws[:: max(1, len(draws) // CANDIDATES)]
        return success.least_risk(draws, np.ones(len(draws)), np.concatenate([others, some]))
    if success.columns.exact:  # these guesses name values
        draws = np.concatenate([draws, others])
    values, times = np.unique(draws, axis=0, return_counts=True)
    kept = np.argsort(-times, kind="stable")[:CANDIDATES]
    values = values[kept]
    if success.columns.exact:
        values = np.unique(np.concatenate([values, others]), axis=0)
    alone = replace(targets.factors, rows=np.full(len(values), targets.factors.rows[i]))
    logits = alone.log_weights(values) + fields(i, values)
    weights = softmax(logits).mean(axis=0)
    return success.least_risk(values, weights, np.concatenate([values, others]))


def factored_attack(attack: TableAttack) -> TableAttack | None:
    """Return the attack of the same name that lists no joint value; None where there is none."""
    if isinstance(attack, PriorGuess):
        return FactoredGuess()
    if isinstance(attack, RelaxedProjection):
        return FactoredProjection(attack)
    if isinstance(attack, OwnTableAttack):
        return factored_own(attack)
    if isinstance(attack, MeanField):
        return FactoredGibbs()
    if isinstance(attack, GibbsSampling):
        passes = -(-attack.sweeps // attack.chains)
        return FactoredGibbs(passes, attack.chains, attack.burn)
    return FactoredCeiling() if isinstance(attack, Ceiling) else None
