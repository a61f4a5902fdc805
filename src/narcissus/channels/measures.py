"""What a channel leaks to an attacker with a prior: Bayes risk, vulnerability, leakage, capacity.

Source: Chatzikokolakis et al. 2023, sections II and V-E (Narcissus theory 6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from narcissus._outwards import lower
from narcissus.channels.channel import (
    Channel,
    Matrix,
    channel,
    formula_of,
    prior_for,
    require_two,
)
from narcissus.results import Grade, Result


def _joint_max(c: Channel, prior: Matrix) -> float:
    """Return ``sum_o max_s prior_s C_so``."""
    if c.is_sparse:
        return math.fsum(c.scaled(prior).max(axis=0).toarray().ravel())
    best = np.zeros(c.shape[1])
    step = max(1, 2**21 // c.shape[1])  # 16 MB at a time
    for low in range(0, c.shape[0], step):
        block = c.matrix[low : low + step] * prior[low : low + step, None]
        np.maximum(best, block.max(axis=0), out=best)
    return math.fsum(best)


def guessing_error(prior: ArrayLike) -> float:
    """Return ``G(pi) = 1 - max_s pi_s``: the error of an attacker who sees no output."""
    values = np.asarray(prior, dtype=np.float64)
    top = int(np.argmax(values))
    # The sum of the others, not 1 - max: exact where one secret has nearly all the mass.
    return math.fsum(np.delete(values, top))


def bayes_vulnerability(matrix: Any, prior: Any = None) -> float:
    """Get ``sum_o max_s pi_s C_so``: how often the best attacker names the secret in one guess."""
    c = channel(matrix)
    return min(1.0, _joint_max(c, prior_for(c, prior)))


def bayes_risk(matrix: Any, prior: Any = None) -> float:
    """Return ``R*(pi, C) = 1 - sum_o max_s pi_s C_so``: the error of the best attacker.

    Computed as the mass that is not the largest of its column, so that a risk near zero keeps
    its relative accuracy.

    Source: Chatzikokolakis et al. 2023, section II.

    Parameters
    ----------
    matrix
        The channel: a `Channel` or what `channel` takes.
    prior
        Probability of each secret; None is uniform.

    Examples
    --------
    >>> bayes_risk([[0.75, 0.25], [0.25, 0.75]])
    0.25
    """
    if prior is None and (form := formula_of(matrix)) is not None:
        return form.bayes_risk
    c = channel(matrix)
    weights = prior_for(c, prior)
    if c.is_sparse:
        joint = c.scaled(weights).tocsc()
        top = joint.max(axis=0).toarray().ravel()
        hit = joint.data == np.repeat(top, np.diff(joint.indptr))
        # Drop one largest entry of each column; what remains are the attacker's errors.
        columns = np.repeat(np.arange(c.shape[1]), np.diff(joint.indptr))
        first = np.unique(columns[hit], return_index=True)[1]
        keep = np.ones(joint.data.size, dtype=bool)
        keep[np.flatnonzero(hit)[first]] = False
        return math.fsum(joint.data[keep])
    lost = 0.0
    step = max(1, 2**21 // c.shape[0])
    for low in range(0, c.shape[1], step):
        block = c.matrix[:, low : low + step] * weights[:, None]
        block[np.argmax(block, axis=0), np.arange(block.shape[1])] = 0.0
        lost += float(block.sum())
    return lost


def beta(matrix: Any, prior: Any = None) -> float:
    """Return ``beta(pi, C) = R*(pi, C) / G(pi)`` in [0, 1]; 1 means that the output tells nothing.

    It is 1 for a channel of one secret.

    Raises
    ------
    InputError
        The prior puts all mass on one secret.

    Source: Chatzikokolakis et al. 2023, section II.
    """
    c = channel(matrix)
    weights = prior_for(c, prior)
    if c.shape[0] == 1:
        return 1.0
    require_two(weights, c.secrets)
    return min(1.0, bayes_risk(c, weights) / guessing_error(weights))


def advantage(matrix: Any, prior: Any = None) -> float:
    """Return ``1 - beta(pi, C)``; for two secrets and a uniform prior the cryptographic advantage.

    Source: Chatzikokolakis et al. 2023, Equation 1.
    """
    return 1 - beta(matrix, prior)


def capacity(matrix: Any) -> float:
    """Return the multiplicative capacity ``sum_o max_s C_so``, in [1, number of secrets].

    Source: Chatzikokolakis et al. 2023, section V-E (Braun et al. 2009).
    """
    if (form := formula_of(matrix)) is not None:
        return form.capacity
    return math.fsum(channel(matrix).column_max())


def additive_capacity(matrix: Any) -> float:
    """Return ``1 - sum_o min_s C_so``: the largest additive leakage, over priors and gains.

    Over all gains whose g-vulnerabilities lie in [0, 1]; over fewer gains, such as those in which
    each guess gains at most 1 under the prior, it is smaller.

    Source: Alvim et al. 2020, section 7.2 (Narcissus theory 6.6).
    """
    return max(0.0, 1.0 - math.fsum(channel(matrix).column_min()))


def additive_capacity_for(matrix: Any, prior: Any = None) -> float:
    """Return the largest additive leakage for one prior, over gains that are 1-spanning.

    These are the gains of which each guess gains at most 1 more for one secret than for another;
    it is half of what the output moves the joint law from independence,
    ``sum_so pi_s |C_so - p_o| / 2``.

    Source: Alvim et al. 2020, section 7.2 (Narcissus theory 6.6).
    """
    c = channel(matrix)
    weights = prior_for(c, prior)
    away = np.abs(c.dense - weights @ c.dense)
    return math.fsum((weights[:, None] * away).ravel()) / 2


def prior_guessing_entropy(prior: ArrayLike) -> float:
    """Return how many guesses, one after the other, the secret takes on average; at least 1."""
    values = np.sort(np.asarray(prior, dtype=np.float64))[::-1]
    return math.fsum(values * np.arange(1, values.size + 1))


def guessing_entropy(matrix: Any, prior: Any = None) -> float:
    """Return how many guesses the secret takes on average once the output is seen.

    Source: Massey 1994; Alvim et al. 2020, section 3.2.
    """
    c = channel(matrix)
    joint = np.sort(prior_for(c, prior)[:, None] * c.dense, axis=0)[::-1]
    return math.fsum(joint.sum(axis=1) * np.arange(1, len(joint) + 1))


def multiplicative_leakage(matrix: Any, prior: Any = None) -> float:
    """Return ``V(pi, C) / V(pi)``: how many times likelier the output makes the right guess."""
    c = channel(matrix)
    weights = prior_for(c, prior)
    return max(1.0, bayes_vulnerability(c, weights) / float(weights.max()))


def additive_leakage(matrix: Any, prior: Any = None) -> float:
    """Return ``V(pi, C) - V(pi)``: what the output adds to the chance of the right guess."""
    c = channel(matrix)
    weights = prior_for(c, prior)
    return max(0.0, bayes_vulnerability(c, weights) - float(weights.max()))


def min_entropy_leakage(matrix: Any, prior: Any = None) -> float:
    """Return ``log2`` of the multiplicative leakage, in bits (Smith 2009)."""
    return math.log2(multiplicative_leakage(matrix, prior))


def shannon_leakage(matrix: Any, prior: Any = None) -> float:
    """Return the mutual information of secret and output, in bits."""
    c = channel(matrix)
    weights = prior_for(c, prior)
    if c.is_sparse:
        output = np.asarray(c.matrix.T @ weights).ravel()
        entries = c.matrix.tocoo()
        share, (_, o) = weights[entries.coords[0]], entries.coords
        used = share > 0
        terms = share[used] * special.rel_entr(entries.data[used], output[o[used]])
        return max(0.0, float(terms.sum()) / math.log(2))
    output = weights @ c.matrix
    total = 0.0
    step = max(1, 2**21 // c.shape[1])
    for low in range(0, c.shape[0], step):
        share = weights[low : low + step]
        used = share > 0
        terms = special.rel_entr(c.matrix[low : low + step][used], output)
        total += float(share[used] @ terms.sum(axis=1))
    return max(0.0, total / math.log(2))


@dataclass(frozen=True)
class ImpliedRisk(Result):
    """Lower limits of the Bayes risk that follow from prior-free numbers alone.

    Attributes
    ----------
    by_bayes_security
        ``beta* G(pi)``.
    by_capacity
        ``1 - capacity V(pi)``, at least 0.
    tighter
        Which of them says more: "Bayes security", "capacity", or "equal".
    """

    by_bayes_security: float
    by_capacity: float
    tighter: str

    @property
    def grade(self) -> Grade:
        """Always 'proved'."""
        return "proved"

    @property
    def value(self) -> float:
        """The larger of the two."""
        return max(self.by_bayes_security, self.by_capacity)

    def __str__(self) -> str:
        return (
            f"PROVED: Bayes risk at least {lower(self.value)} "
            f"(Bayes security {lower(self.by_bayes_security)}, capacity {lower(self.by_capacity)})"
        )


def implied_bayes_risk(beta_star: float, capacity: float, prior: ArrayLike) -> ImpliedRisk:
    """Limit the Bayes risk for a prior of interest from ``beta*`` and the capacity.

    Source: Chatzikokolakis et al. 2023, section V-E: ``R* >= beta* G(pi)`` and
    ``R* >= 1 - ML V(pi)``.
    """
    values = np.asarray(prior, dtype=np.float64)
    by_beta = beta_star * guessing_error(values)
    by_capacity = max(0.0, 1 - capacity * float(values.max()))
    if by_beta == by_capacity:
        tighter = "equal"
    else:
        tighter = "Bayes security" if by_beta > by_capacity else "capacity"
    return ImpliedRisk(by_beta, by_capacity, tighter)
