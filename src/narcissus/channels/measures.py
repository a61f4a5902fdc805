"""Leakage to an attacker with a prior: risk, vulnerability, gains, losses, capacity, distances.

``gain[w, s]`` is what the attacker gets for the guess ``w`` when the secret is ``s``.
Source: Chatzikokolakis et al. 2023, sections II and V-E (Narcissus theory 6) and appendix F; Alvim
et al. 2012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse, special

from narcissus._outwards import lower
from narcissus._validation import distribution, positive
from narcissus.channels._search import loops
from narcissus.channels.channel import (
    Channel,
    Matrix,
    ProvedResult,
    channel,
    formula_of,
    prior_for,
    require_two,
)
from narcissus.errors import InputError, NarcissusError
from narcissus.results import Bound

if TYPE_CHECKING:
    from narcissus.channels.channel import ChannelLike, PriorLike

_FEW = 2**16  # Entries of a channel up to which the compiled loop beats the calls of NumPy
_LN2 = math.log(2)


def _given(matrix: ChannelLike, prior: PriorLike | None) -> tuple[Channel, Matrix]:
    c = channel(matrix)
    return c, prior_for(c, prior)


def _loop(name: str, matrix: ChannelLike, *given: Any) -> Any:
    """Run a loop on a small channel and arrays; None for what it does not take.

    Nothing is copied or named before: small channels come in great numbers.
    """
    rows = matrix.matrix if type(matrix) is Channel else matrix
    if type(rows) is not np.ndarray or rows.size > _FEW or (loop := loops().get(name)) is None:
        return None
    try:
        return loop(rows, *given)
    except TypeError:  # not C-ordered floats
        return None


def guessing_error(prior: ArrayLike) -> float:
    """Return ``G(pi) = 1 - max_s pi_s``: the error of an attacker who sees no output."""
    values = np.asarray(prior, dtype=np.float64)
    top = int(np.argmax(values))
    # The sum of the others, not 1 - max: exact where one secret has nearly all the mass.
    return math.fsum(np.delete(values, top))


def bayes_vulnerability(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Get ``sum_o max_s pi_s C_so``: how often the best attacker names the secret in one guess."""
    c, weights = _given(matrix, prior)
    if c.is_sparse:
        return min(1.0, math.fsum(c.scaled(weights).max(axis=0).toarray().ravel()))
    best = np.zeros(c.shape[1])
    step = max(1, 2**21 // c.shape[1])  # 16 MB at a time
    for low in range(0, c.shape[0], step):
        block = c.matrix[low : low + step] * weights[low : low + step, None]
        np.maximum(best, block.max(axis=0), out=best)
    return min(1.0, math.fsum(best))


def bayes_risk(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Return ``R*(pi, C) = 1 - sum_o max_s pi_s C_so``: the error of the best attacker.

    Computed as the mass that is not the largest of its column, so that a risk near zero keeps
    its relative accuracy.

    Source: Chatzikokolakis et al. 2023, section II.

    >>> bayes_risk([[0.75, 0.25], [0.25, 0.75]])
    0.25
    """
    if prior is None and (form := formula_of(matrix)) is not None:
        return form.bayes_risk
    c, weights = _given(matrix, prior)
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


def beta(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Return ``beta(pi, C) = R*(pi, C) / G(pi)`` in [0, 1]; 1 means that the output tells nothing.

    It is 1 for a channel of one secret.

    Source: Chatzikokolakis et al. 2023, section II.
    """
    c, weights = _given(matrix, prior)
    if c.shape[0] == 1:
        return 1.0
    require_two(weights, c.secrets)
    return min(1.0, bayes_risk(c, weights) / guessing_error(weights))


def advantage(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Return ``1 - beta(pi, C)``; for two secrets and a uniform prior the cryptographic advantage.

    Source: Chatzikokolakis et al. 2023, Equation 1.
    """
    return 1 - beta(matrix, prior)


def capacity(matrix: ChannelLike) -> float:
    """Return the multiplicative capacity ``sum_o max_s C_so``, in [1, number of secrets].

    Source: Chatzikokolakis et al. 2023, section V-E (Braun et al. 2009).
    """
    if (form := formula_of(matrix)) is not None:
        return form.capacity
    return math.fsum(channel(matrix).column_max())


def additive_capacity(matrix: ChannelLike) -> float:
    """Return ``1 - sum_o min_s C_so``: the largest additive leakage, over priors and gains.

    Over all gains whose g-vulnerabilities lie in [0, 1]; over fewer gains, such as those in which
    each guess gains at most 1 under the prior, it is smaller.

    Source: Alvim et al. 2020, section 7.2 (Narcissus theory 6.6).
    """
    return max(0.0, 1.0 - math.fsum(channel(matrix).column_min()))


def additive_capacity_for(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Return the largest additive leakage for one prior, over gains that are 1-spanning.

    These are the gains of which each guess gains at most 1 more for one secret than for another;
    it is half of what the output moves the joint law from independence,
    ``sum_so pi_s |C_so - p_o| / 2``.

    Source: Alvim et al. 2020, section 7.2 (Narcissus theory 6.6).
    """
    c, weights = _given(matrix, prior)
    away = np.abs(c.dense - weights @ c.dense)
    return math.fsum((weights[:, None] * away).ravel()) / 2


def prior_guessing_entropy(prior: ArrayLike) -> float:
    """Return how many guesses, one after the other, the secret takes on average; at least 1."""
    values = np.sort(np.asarray(prior, dtype=np.float64))[::-1]
    return math.fsum(values * np.arange(1, values.size + 1))


def guessing_entropy(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Return how many guesses the secret takes on average once the output is seen.

    Source: Massey 1994; Alvim et al. 2020, section 3.2.
    """
    c = channel(matrix)
    joint = np.sort(prior_for(c, prior)[:, None] * c.dense, axis=0)[::-1]
    return math.fsum(joint.sum(axis=1) * np.arange(1, len(joint) + 1))


def multiplicative_leakage(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Return ``V(pi, C) / V(pi)``: how many times likelier the output makes the right guess."""
    c, weights = _given(matrix, prior)
    return max(1.0, bayes_vulnerability(c, weights) / float(weights.max()))


def additive_leakage(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Return ``V(pi, C) - V(pi)``: what the output adds to the chance of the right guess."""
    c, weights = _given(matrix, prior)
    return max(0.0, bayes_vulnerability(c, weights) - float(weights.max()))


def min_entropy_leakage(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Return ``log2`` of the multiplicative leakage, in bits (Smith 2009)."""
    return math.log2(multiplicative_leakage(matrix, prior))


def shannon_leakage(matrix: ChannelLike, prior: PriorLike | None = None) -> float:
    """Return the mutual information of secret and output, in bits."""
    plain = type(prior) is np.ndarray
    if plain and ((nats := _loop("information", matrix, prior)) or 0) > 0:
        return nats / _LN2
    c, weights = _given(matrix, prior)
    if not plain or c is not matrix:
        return shannon_leakage(c, weights)
    if c.is_sparse:
        output = np.asarray(c.matrix.T @ weights).ravel()
        entries = c.matrix.tocoo()
        share, (_, o) = weights[entries.coords[0]], entries.coords
        used = share > 0
        terms = share[used] * special.rel_entr(entries.data[used], output[o[used]])
        return max(0.0, float(terms.sum()) / math.log(2))
    output = weights @ c.matrix
    output[output == 0] = 1.0
    total = 0.0
    step = max(1, 2**15 // c.shape[1])  # what the cache holds
    for low in range(0, c.shape[0], step):
        rows = c.matrix[low : low + step]
        log_ratios = rows / output
        np.log(np.maximum(log_ratios, 1e-300, out=log_ratios), out=log_ratios)  # 0 log 0 is 0
        total += float(np.einsum("s,so,so->", weights[low : low + step], rows, log_ratios))
    return max(0.0, total / math.log(2))


@dataclass(frozen=True)
class ImpliedRisk(ProvedResult):
    """Lower limits of the Bayes risk that follow from prior-free numbers alone."""

    by_bayes_security: float  # ``beta* G(pi)``
    by_capacity: float  # ``1 - capacity V(pi)``, at least 0
    tighter: str  # Which of them says more: "Bayes security", "capacity", or "equal"

    @property
    def value(self) -> float:
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


def guess_table(name: str, values: ArrayLike, secrets: int) -> Matrix:
    """Return a gain or a loss as an array, shape (guesses, secrets); refuse what is not finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != secrets or array.shape[0] == 0:
        raise InputError(
            f"`{name}` must have a row per guess and a column per secret ({secrets}), "
            f"got shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError(f"`{name}` must be finite")
    return array


def _expected(c: Channel, prior: Matrix, values: Matrix, best: Any) -> float:
    """Return ``sum_o best_w sum_s pi_s C_so values[w, s]``, a block of outputs at a time."""
    joint = c.scaled(prior)
    weighted = joint.tocsc() if c.is_sparse else joint
    step = max(1, 2**22 // max(values.shape))
    total: list[float] = []
    for low in range(0, c.shape[1], step):
        total.extend(best(values @ weighted[:, low : low + step], axis=0))
    return math.fsum(total)


def prior_g_vulnerability(gain: ArrayLike, prior: ArrayLike) -> float:
    """Return ``max_w sum_s pi_s gain[w, s]``: the best expected gain without the output."""
    weights = np.asarray(prior, dtype=np.float64)
    return float((guess_table("gain", gain, weights.size) @ weights).max())


def g_vulnerability(matrix: ChannelLike, gain: ArrayLike, prior: PriorLike | None = None) -> float:
    """Return ``sum_o max_w sum_s pi_s C_so gain[w, s]``: the best expected gain with the output."""
    c = channel(matrix)
    return _expected(c, prior_for(c, prior), guess_table("gain", gain, c.shape[0]), np.max)


def g_leakage(matrix: ChannelLike, gain: ArrayLike, prior: PriorLike | None = None) -> float:
    """Return the multiplicative g-leakage: best expected gain with the output over that without."""
    c, weights = _given(matrix, prior)
    before = prior_g_vulnerability(gain, weights)
    if before <= 0:
        raise InputError(
            f"the best gain without the output is {before:g}; the ratio needs it above 0: "
            "use a non-negative gain with some success, or `additive_g_leakage`"
        )
    return g_vulnerability(c, gain, weights) / before


def additive_g_leakage(
    matrix: ChannelLike, gain: ArrayLike, prior: PriorLike | None = None
) -> float:
    """Return the additive g-leakage: what the output adds to the best expected gain."""
    c, weights = _given(matrix, prior)
    return g_vulnerability(c, gain, weights) - prior_g_vulnerability(gain, weights)


def prior_l_risk(loss: ArrayLike, prior: ArrayLike) -> float:
    """Return ``min_w sum_s pi_s loss[w, s]``: the least expected loss without the output."""
    weights = np.asarray(prior, dtype=np.float64)
    return float((guess_table("loss", loss, weights.size) @ weights).min())


def l_risk(matrix: ChannelLike, loss: ArrayLike, prior: PriorLike | None = None) -> float:
    """Get ``sum_o min_w sum_s pi_s C_so loss[w, s]``: the least expected loss with the output."""
    c = channel(matrix)
    return _expected(c, prior_for(c, prior), guess_table("loss", loss, c.shape[0]), np.min)


def l_beta(matrix: ChannelLike, loss: ArrayLike, prior: PriorLike | None = None) -> float:
    """Return ``beta_l(pi, C)``: the loss with the output over the loss without.

    There is no miracle theorem for it: `beta*` does not bound it for other losses than 0-1.
    """
    c, weights = _given(matrix, prior)
    before = prior_l_risk(loss, weights)
    if before <= 0:
        raise InputError(f"the loss without the output is {before:g}; the ratio needs it above 0")
    return l_risk(c, loss, weights) / before


def miracle_bound(matrix: ChannelLike) -> Bound:
    """Limit the multiplicative leakage for every prior and every non-negative gain function.

    Source: Alvim et al. 2012 (the "miracle" theorem), in Chatzikokolakis et al. 2023, section V-E.
    """
    return Bound(
        capacity(matrix),
        "multiplicative g-leakage, for every prior and gain",
        "Alvim et al. 2012, miracle theorem (Chatzikokolakis et al. 2023, section V-E)",
        ("the gain function is non-negative",),
    )


def metric_epsilon(matrix: ChannelLike, distance: ArrayLike) -> float:
    """Return the smallest epsilon with ``C_ao <= e^(epsilon d_ab) C_bo``; infinite if there is
    none.

    distance: Of the secrets, at least 0, shape (secrets, secrets). Secrets at distance 0 must have
        equal rows.

    Source: Chatzikokolakis et al. 2013 (d-privacy).
    """
    rows = channel(matrix).dense
    far = distances(distance, len(rows))
    worst = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rows)
        for a, row in enumerate(logs):
            gap = np.where(np.isneginf(row), -np.inf, row - logs).max(axis=1)
            rate = np.where(gap <= 0, 0.0, gap / far[a])
            worst = max(worst, float(np.delete(rate, a).max(initial=0.0)))
    return worst


def least_cost(cost: Matrix, **constraints: Any) -> Any:
    """Solve a linear program; refuse one that was not solved."""
    solve: Any = optimize.linprog
    solution = solve(cost, method="highs", **constraints)
    if not solution.success:
        raise NarcissusError(f"the linear program was not solved: {solution.message}")
    return solution


def kantorovich(first: ArrayLike, second: ArrayLike, distance: ArrayLike) -> float:
    """Return the least cost of moving one distribution into another.

    distance: Cost of moving from place to place, at least 0, shape (n, n).

    A linear program. Source: Kantorovich 1942; Villani 2009, definition 6.1.
    """
    p, q = distribution("first", first), distribution("second", second)
    if p.shape != q.shape:
        raise InputError(f"`first` and `second` have {p.size} and {q.size} places")
    n = p.size
    far = distances(distance, n)
    out = sparse.kron(sparse.eye_array(n), np.ones((1, n)))
    into = sparse.kron(np.ones((1, n)), sparse.eye_array(n))
    solution = least_cost(
        far.ravel(),
        A_eq=sparse.vstack([out, into], format="csr")[:-1],
        b_eq=np.concatenate([p, q])[:-1],
        bounds=(0, None),
    )
    return float(solution.fun)


def distances(distance: ArrayLike, n: int) -> Matrix:
    values = np.asarray(distance, dtype=np.float64)
    if values.shape != (n, n) or not np.isfinite(values).all() or (values < 0).any():
        raise InputError(f"`distance` must be {n} x {n} finite numbers of at least 0")
    return values


MOST_STEPS = 100_000


@dataclass(frozen=True, eq=False)
class ShannonCapacity(ProvedResult):
    """The most Shannon information that an output can give about the secret, over all priors."""

    # low, high: Limits, in bits
    low: float
    high: float
    prior: NDArray[np.float64]  # A prior that reaches the lower one, shape (secrets,)

    @property
    def value(self) -> float:
        return self.high

    def __str__(self) -> str:
        return f"PROVED: Shannon capacity between {self.low:.10g} and {self.high:.10g} bits"


def shannon_capacity(matrix: ChannelLike, *, tolerance: float = 1e-9) -> ShannonCapacity:
    """Find the Shannon capacity of a channel.

    tolerance: Of the two limits, in bits; after 100,000 steps what there is.

    For any prior p with output law q: ``I(p) <= capacity <= max_s KL(C_s || q)``.
    Source: Blahut 1972; Arimoto 1972.
    """
    near = positive("tolerance", tolerance)
    solution = _loop("capacity", matrix, near * _LN2, MOST_STEPS)
    if solution is not None and solution[2].size:
        low, high, best = solution
        return ShannonCapacity(min(low, high) / _LN2, high / _LN2, best)
    if (c := channel(matrix)) is not matrix:
        return shannon_capacity(c, tolerance=near)
    rows, secrets = c.matrix, c.shape[0]
    if c.is_sparse:
        entropy = rows.copy()
        entropy.data = special.entr(rows.data)
    else:
        entropy = special.entr(rows)
    sums = -np.asarray(entropy.sum(axis=1))
    prior = np.full(secrets, 1 / secrets)
    low, high, best, fallback, step = 0.0, np.inf, prior, prior, 1.0
    for _ in range(MOST_STEPS):
        law = prior @ rows
        divergences = sums - rows @ np.log(np.where(law > 0, law, 1.0))
        bits = float(prior @ divergences) / np.log(2)
        high = min(high, float(divergences.max()) / np.log(2))
        if bits < low - 4e-16 and step > 1:  # a longer step than Blahut's lost
            prior, step = fallback, max(1.0, step / 4)
            continue
        if bits > low:
            low, best = bits, prior
        if high - low <= near:
            break
        fallback = prior
        grown = prior * np.exp(step * (divergences - divergences.max()))
        prior, step = grown / grown.sum(), step * 1.3
    return ShannonCapacity(min(low, high), high, best)


@dataclass(frozen=True, eq=False)
class ExplainedPrior:
    """A prior of greatest likelihood, as near as asked."""

    prior: NDArray[np.float64]  # Shape (secrets,)
    # What the mean log likelihood of an output is short of the greatest, at most, in nats
    short: float
    steps: int  # How many it took


def explain(matrix: ChannelLike, counts: ArrayLike, *, tolerance: float = 1e-9) -> ExplainedPrior:
    """Find the prior under which the outputs of many people are likeliest.

    matrix: The channel through which everybody's secret went.
    counts: How often each output came, shape (outputs,).
    tolerance: In nats an output; after 100,000 steps what there is.

    Expectation-maximisation of a concave problem; ``max_s sum_o f_o C_so / q_o - 1`` limits what is
    missing. Source: Agrawal and Aggarwal 2001; ElSalamouny and Palamidessi 2020.
    """
    c, near = channel(matrix), positive("tolerance", tolerance)
    seen = np.asarray(counts, dtype=np.float64)
    if seen.shape != (c.shape[1],) or (seen < 0).any() or not 0 < seen.sum() < np.inf:
        raise InputError(f"`counts` must be {c.shape[1]} numbers of at least 0, not all 0")
    never = (seen > 0) & (c.dense.max(axis=0) == 0)
    if never.any():
        raise InputError(f"output {c.outputs[int(never.argmax())]!r} came, and no secret gives it")
    rows, share = c.dense[:, seen > 0], seen[seen > 0] / seen.sum()
    prior, short, steps = prior_for(c, None).copy(), np.inf, 0
    while short > near and steps < MOST_STEPS:
        grow = rows @ (share / (prior @ rows))
        short = float(grow.max()) - 1
        steps += 1
        if short > near:
            prior *= grow
            prior /= prior.sum()
    return ExplainedPrior(prior, max(0.0, short), steps)
