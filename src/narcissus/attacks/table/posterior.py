"""The posterior attack: prior times likelihood, by mean field or by Gibbs sampling.

Both approximate each person's posterior over the joint values of the unknown columns, and decide
by it (attack (b) of Narcissus theory 9). The mean field corrects for people's own part in the
counts (`narcissus.attacks.table.cavity`); Gibbs sampling starts from the plain one. Exact counts
have no density; there both hand over to `narcissus.attacks.table.consistent`. Rounded and withheld
cells, and released rows, which are counted, are read by `narcissus.attacks.table.propagation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from narcissus._validation import between, integer, positive
from narcissus.attacks.table.base import Floats, Joint, ReleaseByRelease, View, softmax
from narcissus.attacks.table.cavity import cavity_beliefs
from narcissus.attacks.table.consistent import consistent_beliefs
from narcissus.attacks.table.likelihood import Likelihood, chunks, likelihood
from narcissus.attacks.table.propagation import (
    USUAL_SCALE,
    learned_overlap,
    learned_scale,
    propagated_beliefs,
    usual_overlap,
)
from narcissus.attacks.table.training import Simulated
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import Counts, Microdata, ProtectedCounts
from narcissus.mechanisms.noise import GaussianNoise, Noise


def _surrogate(noise: Noise) -> GaussianNoise:
    """Give the Gaussian noise of the same variance: Gibbs sampling only starts from there."""
    if isinstance(noise, GaussianNoise):
        return noise
    return GaussianNoise(float(np.sqrt(2)) * noise.scale)


ENOUGH = 4_000
"""People of simulated releases from whom the posterior learns."""

MOST = 10
"""Releases from which it learns: what it learns are two numbers."""


@dataclass(frozen=True)
class MeanField(ReleaseByRelease):
    """Mean-field variational Bayes: everybody's beliefs independent, people's own part taken out.

    Attributes
    ----------
    sweeps
        At most so many passes over the people each time that the beliefs are solved for.
    tolerance
        Stop when a pass wins less than this, in nats a person.
    overlap
        Of any release but noisy counts: by what factor the variance of a count is widened because
        tables repeat each other, at least 1. Learned from simulated releases if left out.
    scale
        Of released rows: the standard deviation of a cell when they are counted, in counts.
        Learned from simulated releases if left out.
    """

    sweeps: int = 40
    tolerance: float = 1e-6
    overlap: float | None = None
    scale: float | None = None
    title = "the posterior by mean-field variational Bayes"
    uses = "prior and release"
    reads = (Counts, ProtectedCounts, Microdata)
    learns_from = (ProtectedCounts, Microdata)

    def __post_init__(self) -> None:
        """Refuse numbers out of their ranges."""
        integer("sweeps", self.sweeps, low=1)
        positive("tolerance", self.tolerance)
        if self.overlap is not None:
            between("overlap", self.overlap, 1, np.inf)
        if self.scale is not None:
            positive("scale", self.scale)

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> MeanField:
        """Give the attack with what is left out learned; noisy counts leave nothing to learn."""
        if not simulated or isinstance(simulated[0].release, Counts):
            return self
        some = simulated[: max(1, min(MOST, ENOUGH // max(1, simulated[0].targets.people)))]
        scale, overlap = self.scale, self.overlap
        if scale is None and isinstance(some[0].release, Microdata):
            scale = learned_scale(some)
        if overlap is None:
            overlap, _ = learned_overlap(some, scale or USUAL_SCALE)
        return replace(self, scale=scale, overlap=overlap)

    def beliefs(self, view: View, *, rng: np.random.Generator) -> Floats:
        """Give everybody's approximate posterior, shape (n, values)."""
        targets = view.targets
        if view.noise is None:
            overlap = usual_overlap(targets) if self.overlap is None else self.overlap
            return propagated_beliefs(view, overlap, self.scale or USUAL_SCALE)
        if view.noise.scale == 0:
            return consistent_beliefs(targets, view.release)
        return cavity_beliefs(targets, view.noise, view.release, self.sweeps, self.tolerance)

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Decide by the posterior."""
        return view.targets.success.decide(self.beliefs(view, rng=rng))


def mean_field(targets: Targets, model: Likelihood, sweeps: int, tolerance: float) -> Floats:
    """Run the plain coordinate ascent, which takes out too much of people's own part.

    Shape (n, values). People are updated a block at a time; at low noise a block is one person.
    The likelihood enters with a growing weight over the first passes, so that early beliefs do not
    freeze the rest.
    """
    n = targets.people
    q = targets.prior[:, None, :].copy()
    model.start(q)
    coupling = model.coupling
    strength = coupling * n
    weights = np.geomspace(1 / strength, 1, 6)[:-1] if 1 < strength < np.inf else np.empty(0)
    for sweep in range(sweeps):
        weight = float(weights[sweep]) if sweep < weights.size else 1.0
        moved = 0.0
        for block in _blocks(n, weight * coupling):
            old = q[block]
            new = softmax(targets.log_prior[block, None] + weight * model.fields(block, old))
            change = new - old
            model.move(block, change)
            q[block] = new
            moved = max(moved, float(np.abs(change).max()))
        if sweep >= weights.size and moved < tolerance:
            break
    return q[:, 0]


def _blocks(n: int, coupling: float) -> list[slice]:
    """Split ``n`` people into blocks within which parallel updates are stable.

    A probability moves by at most a quarter of what its field moves, so that members whose
    couplings sum to two still contract by a half.
    """
    size = min(1 + int(min(2 / max(coupling, 1e-12), n)), n // 3 + 1)
    return [slice(a, min(a + size, n)) for a in range(0, n, size)]


@dataclass(frozen=True)
class GibbsSampling(ReleaseByRelease):
    """Gibbs sampling: draw each person's value in turn from its exact conditional.

    Several chains run side by side from draws of the mean field; beliefs are averages of the
    conditionals, not of the draws (Rao-Blackwell).

    Attributes
    ----------
    sweeps
        Passes over the people, all chains together.
    chains
        Independent chains.
    burn
        Share of each chain's passes that is thrown away, in [0, 1).
    """

    sweeps: int = 200
    chains: int = 8
    burn: float = 0.2
    title = "the posterior by Gibbs sampling"
    uses = "prior and release"

    def __post_init__(self) -> None:
        """Refuse numbers out of their ranges."""
        integer("sweeps", self.sweeps, low=1)
        integer("chains", self.chains, low=1)
        between("burn", self.burn, 0, 1, open_high=True)

    def beliefs(self, view: View, *, rng: np.random.Generator) -> Floats:
        """Give everybody's approximate posterior, shape (n, values)."""
        assert view.noise is not None
        if view.noise.scale == 0:
            return consistent_beliefs(view.targets, view.release)
        targets = view.targets
        n, values = targets.prior.shape
        start = mean_field(
            targets, likelihood(targets, _surrogate(view.noise), view.release), 20, 1e-2
        )
        model = likelihood(targets, view.noise, view.release)
        ladder = start.cumsum(axis=1)
        state = np.stack(
            [(ladder < rng.random((n, 1))).sum(axis=1) for _ in range(self.chains)], axis=1
        )
        state = np.minimum(state, values - 1)
        every = np.arange(values)

        def certain(block: slice) -> Floats:
            """Give the present values of some people as beliefs: (block, chains, values)."""
            return (state[block][:, :, None] == every).astype(np.float64)

        # Beliefs are built as they are needed: all at once they would not fit for many people.
        model.clear(self.chains)
        for block in chunks(targets, self.chains):
            model.move(block, certain(block))
        passes = -(-self.sweeps // self.chains)
        skipped = int(self.burn * passes)
        total = np.zeros((n, values))
        for sweep in range(passes):
            for i in range(n):
                block = slice(i, i + 1)
                old = certain(block)
                logits = (targets.log_prior[i] + model.fields(block, old))[0]
                state[i] = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
                model.move(block, certain(block) - old)
                if sweep >= skipped:
                    total[i] += softmax(logits).sum(axis=0)
        return total / total.sum(axis=1, keepdims=True)

    def guess(self, view: View, *, rng: np.random.Generator) -> Joint:
        """Decide by the posterior."""
        return view.targets.success.decide(self.beliefs(view, rng=rng))
