"""Published theorems, p-values and estimates, for comparison; false ones are marked.

The DP-SGD estimates are not bounds; the profile of `narcissus.guarantees.dp_sgd` yields bounds. The
p-values of auditing in one run compare with ours in `narcissus.bounds.swap`.

Source: Narcissus theory 4.2 and 4.7, which explains why the false ones are; Narcissus theory 4.1
and the end of 4.4 for the bounds from the attempts an attack actually makes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._random import RandomSource, generator
from narcissus._validation import (
    between,
    integer,
    non_negative,
    positive,
    probabilities,
    probability,
)
from narcissus.bounds.binomial import PoissonBinomial, upper_tail
from narcissus.bounds.domination import DOMINATION
from narcissus.bounds.theorem import ONE_POINT, Needs, Question, Theorem, posterior
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    Guarantee,
    PureDP,
    RenyiDP,
    require_replace_one,
)
from narcissus.guarantees.parametric import largest_rate
from narcissus.results import Bound

FloatArray = NDArray[np.float64]

_MOST_TAILS = 10_000  # counts up to which the tails at all counts below are compared
_FAIR = "membership of a fair coin: success is (1 + advantage) / 2"
_TAIL_ONLY = (
    "Its failures are independent of the successes, which mechanisms need not obey: below the "
    "mean, and for many values above it, some mechanism exceeds it (Narcissus theory 4.2)."
)


def _grown(q: Question) -> float:
    """``min(1, e^epsilon p)``"""
    log_p = math.log(q.p) if q.p > 0 else -math.inf
    return math.exp(min(0.0, log_p + q.epsilon))


def _tail(q: Question) -> float:
    """``Pr[Bin(r, beta) >= v]``"""
    return float(upper_tail(q.r, q.v, q.odds))


def _tails(q: Question) -> FloatArray:
    """``Pr[Bin(r, beta) >= j]`` for ``j = 0 .. v``"""
    return upper_tail(q.r, np.arange(q.v + 1), q.odds)


def _renyi(q: Question) -> float:
    assert isinstance(q.guarantee, RenyiDP)
    alpha, gamma = q.guarantee.alpha, q.guarantee.gamma
    return float(largest_rate(np.asarray(q.p), alpha, gamma, both=False))


def _stock(q: Question) -> float:
    assert isinstance(q.guarantee, RenyiDP)
    alpha = q.guarantee.alpha
    log_p = math.log(q.p) if q.p > 0 else -math.inf
    return math.exp(min(0.0, (alpha - 1) / alpha * (log_p + q.guarantee.gamma)))


def _bayes_risk(q: Question) -> float:
    assert isinstance(q.guarantee, BayesSecurity)
    return 1.0 - q.guarantee.beta_star * (1.0 - q.p)


def humphries_advantage(epsilon: float, delta: float = 0.0) -> float:
    """Return ``(e^epsilon - 1 + 2 delta) / (e^epsilon + 1)``, the largest membership advantage.

    Source: Humphries et al. 2023; the total variation under (epsilon, delta)-DP (theory 6).
    """
    e, d = non_negative("epsilon", epsilon), probability("delta", delta)
    return math.tanh(e / 2) + 2.0 * d * float(special.expit(-e))


def _steepest(tails: FloatArray) -> float:
    """Return ``max_j (tail_{v-j} - tail_v) / j`` from the tails at ``0..v``."""
    if tails.size < 2:
        return 0.0
    drop = tails[:-1][::-1] - tails[-1]
    return float((drop / np.arange(1, tails.size)).max())


def _failure_envelope(tails: FloatArray, mean: float) -> float:
    """Return the largest ``E[tail_{v-F}]`` over ``F`` with that mean; tails at ``0..v``."""
    heights = tails[::-1]  # at F = 0, 1, ..., v
    if mean >= heights.size - 1:
        return 1.0
    best = float(heights[0])
    for i in range(math.floor(mean) + 1):
        j = np.arange(math.floor(mean) + 1, heights.size)
        best = max(
            best, float((heights[i] + (heights[j] - heights[i]) * (mean - i) / (j - i)).max())
        )
    return best


RENYI = Theorem(
    id="renyi",
    source="Narcissus theory 4.6",
    title="Renyi divergence",
    says="The success on one target within a Renyi divergence of the best guess's.",
    about=("success",),
    limit=_renyi,
    needs=Needs(guarantee=(RenyiDP,)),
    own=True,
)
STOCK = Theorem(
    id="stock",
    source="Stock et al. 2022",
    title="Renyi reconstruction",
    says="(p e^gamma)^((alpha - 1) / alpha) under Renyi DP.",
    about=("success",),
    limit=_stock,
    needs=Needs(guarantee=(RenyiDP,)),
)
DISTRIBUTIONAL = Theorem(
    id="distributional",
    source="distributional reconstruction robustness",
    title="one guess",
    says="n (e^epsilon p + delta): reconstruction robustness summed over the targets, which holds "
    "for one guess at all of them too. Our form of what theory 4.7 names without a formula.",
    about=("tail",),
    limit=lambda q: q.n * (_grown(q) + q.delta),
    needs=Needs(guarantee=ONE_POINT, at_least=1),
    independent=False,
)
THEOREM_3_2 = Theorem(
    id="swanberg-3.2",
    source="Swanberg et al. 2025, Theorem 3.2",
    says="Pure DP multiplies the odds of every attempt by at most e^epsilon, given any release.",
    about=("success", "tail"),
    limit=_tail,
    needs=Needs(guarantee=(PureDP,)),
)
BALLE = Theorem(
    id="balle",
    source="Balle et al. 2022",
    title="reconstruction robustness",
    says="e^epsilon p + delta, p the success of the best guess.",
    about=("success",),
    limit=lambda q: _grown(q) + q.delta,
    needs=Needs(guarantee=ONE_POINT),
)
COHEN = Theorem(
    id="cohen-f.1",
    source="Cohen et al. 2025, Theorem F.1",
    says="e^epsilon p + delta, p the prior success of the attempt made.",
    about=("success",),
    limit=lambda q: _grown(q) + q.delta,
    needs=Needs(guarantee=ONE_POINT),
)
COROLLARY_3_4 = Theorem(
    id="swanberg-3.4",
    source="Swanberg et al. 2025, Corollary 3.4",
    says="The tail of Theorem 3.2, averaged over releases, and n delta.",
    about=("success", "tail"),
    limit=lambda q: _tail(q) + q.n * q.delta,
    needs=Needs(guarantee=(ApproximateDP,)),
)
HUMPHRIES = Theorem(
    id="humphries",
    source="Humphries et al. 2023",
    title="total variation",
    says="Membership advantage at most the total variation under (epsilon, delta)-DP.",
    about=("success",),
    limit=lambda q: 0.5 + humphries_advantage(q.epsilon, q.delta) / 2,
    # Guesses that cover half of many values have a prior success of 1/2 too, and are no fair
    # bit: there two draws are told apart more often than not, and delta adds more.
    needs=Needs(guarantee=ONE_POINT, prior=0.5, inseparable=0.5),
    also=(_FAIR,),
)
YEOM = Theorem(
    id="yeom",
    source="Yeom et al. 2018, Theorem 1",
    says="Membership advantage at most e^epsilon - 1.",
    about=("success",),
    limit=lambda q: 0.5 + math.expm1(min(q.epsilon, 1.0)) / 2,
    needs=Needs(guarantee=(PureDP,), prior=0.5),
    also=(_FAIR,),
)
HAYES = Theorem(
    id="hayes",
    source="Hayes et al. 2023",
    title="1 - f(prior)",
    says="The power of the trade-off function at the success of the best guess.",
    about=("success",),
    limit=lambda q: float(q.guarantee.power(q.p)),
)
BAYES_RISK = Theorem(
    id="chatzikokolakis-1",
    source="Chatzikokolakis et al., Theorem 1",
    title="Bayes risk",
    says="Bayes risk at least beta* times the error of the best guess.",
    about=("success",),
    limit=_bayes_risk,
    needs=Needs(guarantee=(BayesSecurity,)),
    holds=Needs(exact_match=True),
    why="It is about naming the very value; guesses that cover several exceed it (theory 4.7).",
    also=("success means naming the very value",),
)
THEOREM_3_3 = Theorem(
    id="swanberg-3.3",
    source="Swanberg et al. 2025, Theorem 3.3",
    says="The tail of F + Bin(r, beta), F of mean n delta and independent.",
    about=("tail",),
    limit=lambda q: _failure_envelope(_tails(q), q.n * q.delta),
    needs=Needs(guarantee=(ApproximateDP,), most_at_least=_MOST_TAILS),
    holds=None,
    why=_TAIL_ONLY,
)
THEOREM_3_5 = Theorem(
    id="swanberg-3.5",
    source="Swanberg et al. 2025, Theorem 3.5",
    says="The tail of Bin(r, beta) and its steepest rise below the count times n delta.",
    about=("tail",),
    limit=lambda q: _tail(q) + _steepest(_tails(q)) * q.n * q.delta,
    needs=Needs(guarantee=(ApproximateDP,), most_at_least=_MOST_TAILS),
    holds=None,
    why=_TAIL_ONLY,
)


_INDEPENDENT = "the targets' values are independent given what the attacker knows"


def given_output(prior_success: ArrayLike, epsilon: float, at_least: int) -> Bound:
    """Bound the tail *given the observed release*, under pure DP.

    ``prior_success`` is that of the attempt on each target, shape (n,). Averaged over releases,
    `narcissus.bounds.domination` is never worse and often far sharper.

    Source: Swanberg et al. 2025, Theorem 3.2 (Narcissus theory 4.1).
    """
    e, v = non_negative("epsilon", epsilon), integer("at_least", at_least)
    beta = np.atleast_1d(posterior(probabilities("prior_success", prior_success), e))
    return THEOREM_3_2.claim(
        PoissonBinomial(beta).tail(v),
        f"probability, given the release, that at least {v} of {beta.size} targets "
        "are reconstructed",
        (f"pure DP with epsilon {e:g} (replace-one neighbours)", _INDEPENDENT),
    )


def leaked_bits(epsilon: float, confidence: float) -> Bound:
    """Bound the bits leaked about one uniform target, with a confidence, under pure DP.

    ``log2(e^epsilon (1/alpha - 1) + 1)`` with ``alpha = 1 - confidence``.

    Source: Swanberg et al. 2025, section 3 (Narcissus theory 4.1).
    """
    e = non_negative("epsilon", epsilon)
    level = between("confidence", confidence, 0, 1, open_high=True)
    odds = math.log(level) - math.log1p(-level) if level > 0 else -math.inf
    bits = float(np.logaddexp(0.0, e + odds)) / math.log(2)
    return THEOREM_3_2.claim(
        bits,
        f"bits leaked with confidence {level:g}",
        (f"pure DP with epsilon {e:g} (replace-one neighbours)", "one target, uniform a priori"),
    )


def leak_probability(epsilon: float, bits: float) -> Bound:
    """Bound the probability that ``bits`` bits leak: ``e^epsilon / (e^epsilon - 1 + 2^bits)``.

    Source: Swanberg et al. 2025, section 3 (Narcissus theory 4.1).
    """
    e, d = non_negative("epsilon", epsilon), non_negative("bits", bits)
    log_others = float(np.log(np.expm1(d * math.log(2)))) if 0 < d < 1000 else d * math.log(2)
    value = float(special.expit(e - log_others)) if d > 0 else 1.0
    return THEOREM_3_2.claim(
        value,
        f"probability that {d:g} bits leak",
        (f"pure DP with epsilon {e:g} (replace-one neighbours)", "one target, uniform a priori"),
    )


def follow_attempts(
    prior_success: ArrayLike,
    epsilon: float,
    delta: float,
    at_least: int,
    *,
    least: ArrayLike = 0.0,
    inseparable: ArrayLike = 0.0,
    worst: bool = False,
) -> Bound:
    """Bound the tail by a formula in the prior successes of the attempts, without a linear program.

    ``E_a[tail_v(beta(A(a)))] + delta sum_i (1 - kappa_i) / (1 + p_i^min (e^epsilon - 1))``.

    Source: Narcissus theory 4.4, "a simpler bound"; it implies Swanberg et al. 2025, Corollary 3.4.

    prior_success: Prior success of each attempt on each target, shape (attempts, n): one row per
        run of the attack, or (with ``worst``) per joint attempt available to it.
    least: ``p_i^min``, the smallest prior success available to the attack on target ``i``; 0 is
        always valid, as for ``inseparable``, ``kappa_i``. Both broadcast to (n,).
    worst: Use the largest tail over the rows, not their mean. A mean over finitely many runs is
        only an estimate; the maximum over all attempts is not.
    """
    rows = np.atleast_2d(probabilities("prior_success", prior_success))
    if rows.ndim != 2 or rows.size == 0:
        raise InputError(f"`prior_success` must have shape (attempts, n), got {rows.shape}")
    e, d = non_negative("epsilon", epsilon), probability("delta", delta)
    v = integer("at_least", at_least)
    n = rows.shape[1]
    kappa = np.broadcast_to(probabilities("inseparable", inseparable), (n,))
    floor = np.broadcast_to(probabilities("least", least), (n,))
    if (floor > rows.min(axis=0)).any():
        raise InputError("`least` must be at most every prior success of its target")
    tails = np.array([PoissonBinomial(np.atleast_1d(posterior(row, e))).tail(v) for row in rows])
    tail = float(tails.max() if worst else tails.mean())
    # 1 / (1 + p (e^eps - 1)) without an overflow
    factors = np.exp(-np.logaddexp(_log(1.0 - floor), _log(floor) + e))
    return DOMINATION.by("following the attempts").claim(
        min(1.0, tail + d * float(((1.0 - kappa) * factors).sum())),
        f"probability that at least {v} of {n} targets are reconstructed",
        (
            f"(epsilon, delta)-DP with epsilon {e:g}, delta {d:g} (replace-one neighbours)",
            _INDEPENDENT,
            "the attack can make no other attempts" if worst else "the runs stand for all runs",
        ),
    )


def _log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(values)


def counts(canaries: int, guesses: int, correct: int, values: int = 2) -> tuple[int, int, int, int]:
    """Check the counts of an audit and return ``(m, r, v, k)``."""
    m = integer("canaries", canaries, low=1, high=10**10)
    r = integer("guesses", guesses, low=0)
    if r > m:
        raise InputError(f"`guesses` must be at most the {m} canaries, got {r}")
    v = integer("correct", correct, low=0)
    if v > r:
        raise InputError(f"`correct` must be at most the {r} guesses, got {v}")
    return m, r, v, integer("values", values, low=2)


def one_run_p_value(
    canaries: int, guesses: int, correct: int, epsilon: float, delta: float = 0.0
) -> float:
    """Compute the published p-value against (epsilon, delta)-DP; membership only.

    ``Pr[Bin(r, q) >= v] + 2 m delta max_i Pr[v - i <= Bin(r, q) < v] / i``.

    Source: Steinke, Nasr and Jagielski 2023, Theorem 5.2, as in Narcissus theory 4.7. Not valid
    for ``v`` below the mean; valid in all tail cases tried.

    >>> round(one_run_p_value(1000, 100, 75, 0.673, 1e-4), 4)
    0.05
    """
    m, r, v, _ = counts(canaries, guesses, correct)
    e, d = non_negative("epsilon", epsilon), probability("delta", delta)
    if v == 0:
        return 1.0
    q = float(special.expit(e))
    tail = float(upper_tail(r, v, e))
    if d == 0:
        return tail
    # From where the range covers all that matters on, (1 - tail) / i only falls.
    reach = v - r * q + 12 * math.sqrt(r * q * (1 - q)) + 60
    i = np.arange(1, min(v, max(1, math.ceil(reach))) + 1)
    below = upper_tail(r, v - i, e)
    return min(1.0, tail + 2.0 * m * d * float(((below - tail) / i).max()))


def f_dp_one_run_p_value(
    canaries: int, guesses: int, correct: int, guarantee: Guarantee, values: int = 2
) -> float:
    """Compute the published p-value of f-DP auditing in one run; exact match on uniform values.

    The recursion over correct guesses runs for many levels at the same time; the p-value is the
    largest level not rejected, to four digits and rounded up.

    Source: Mahloujifar, Melis and Chaudhuri 2024, as in Narcissus theory 4.7. The linear program
    of 4.3 is sharper.

    >>> from narcissus.guarantees import GaussianDP
    >>> round(f_dp_one_run_p_value(100, 100, 80, GaussianDP(1.0)), 4)
    0.4709
    """
    require_replace_one(guarantee)
    m, r, v, k = counts(canaries, guesses, correct, values)
    if v == 0:
        return 1.0
    low, high = math.log(1e-300), 0.0
    for _ in range(4):
        levels = np.linspace(low, high, 129)
        rejected = _rejected(m, r, v, k, guarantee=guarantee, levels=np.exp(levels))
        if not rejected.any():
            return 1.0
        if rejected.all():
            return math.exp(low)
        first = int(np.flatnonzero(rejected)[0])
        low, high = levels[max(first - 1, 0)], levels[first]
    return min(1.0, math.exp(high))


def _rejected(
    m: int, r: int, v: int, k: int, *, guarantee: Guarantee, levels: FloatArray
) -> NDArray[np.bool_]:
    right = levels * (v / m)
    wrong = levels * ((r - v) / m)
    for i in range(v - 1, -1, -1):
        needed = np.maximum(wrong, (k - 1) * guarantee.least_alpha(np.minimum(right, 1.0)))
        right = np.minimum(1.0, right + i / (r - i) * (needed - wrong))
        wrong = needed
    return right + wrong > r / m


ONE_RUN = Theorem(
    id="one-run",
    source="Steinke et al. 2023, Theorem 5.2",
    title="one run, 2 m delta",
    says="A tail of right guesses about fair coins, as audits in one run test by it.",
    about=("tail",),
    limit=lambda q: one_run_p_value(q.n, q.r, q.v, q.epsilon, q.delta),
    needs=Needs(guarantee=ONE_POINT, prior=0.5),
    holds=Needs(guarantee=(PureDP,)),
    why="With a delta a mechanism exceeds it for counts below the mean (Narcissus theory 4.2).",
    audits=True,
)
F_DP_ONE_RUN = Theorem(
    id="f-dp-one-run",
    source="Mahloujifar et al. 2024",
    title="f-DP in one run",
    says="A tail of right guesses about equally likely values, by the whole trade-off function.",
    about=("tail",),
    limit=lambda q: f_dp_one_run_p_value(q.n, q.r, q.v, q.guarantee, round(1 / q.p)),
    needs=Needs(uniform=True, formula=True, most_at_least=500),
    inseparable=True,
    expensive=True,
    audits=True,
)


def cherubin(noise: float, rate: float, steps: int) -> Bound:
    """Approximate the membership advantage of DP-SGD by Cherubin et al.; not a bound.

    ``erf(rate sqrt(steps) / (sqrt(2) noise))``, replace-one. At noise 0.5, rate 0.002 and 10^4
    steps it is 0.311; the exact value is 0.598.

    Source: Cherubin et al. 2024, as quoted in Narcissus theory 4.7.
    """
    sigma, q = positive("noise", noise), probability("rate", rate)
    value = math.erf(q * math.sqrt(integer("steps", steps, low=1)) / (math.sqrt(2) * sigma))
    return Bound(
        value,
        "membership advantage under DP-SGD",
        "Cherubin et al. 2024 (an approximation)",
        ("a large noise and many steps",),
        valid=False,
    )


def sampled_reconstruction(
    noise: float,
    rate: float,
    steps: int,
    prior: float,
    *,
    samples: int = 10_000,
    rng: RandomSource = None,
) -> Bound:
    """Estimate the reconstruction success under DP-SGD by sampling; noisy, not a bound.

    The sum of the largest ``ceil(prior N)`` of ``N`` sampled likelihood ratios, over ``N``.

    Source: Hayes et al. 2023, as quoted in Narcissus theory 4.7. The profile of
    `narcissus.guarantees.dp_sgd` yields a bound.
    """
    sigma, q, p = positive("noise", noise), probability("rate", rate), probability("prior", prior)
    times, count = integer("steps", steps, low=1), integer("samples", samples, low=1)
    source = generator(rng)
    log_ratio = np.zeros(count)
    for _ in range(times):
        w = source.normal(0.0, sigma, count)
        with np.errstate(divide="ignore"):
            log_ratio += np.logaddexp(np.log1p(-q), np.log(q) + (2 * w - 1) / (2 * sigma**2))
    top = np.sort(log_ratio)[::-1][: math.ceil(p * count)]
    return Bound(
        min(1.0, float(np.exp(top).sum()) / count),
        "success on one target under DP-SGD",
        "Hayes et al. 2023, Algorithm 2 (sampled)",
        ("the samples happen to represent the tail",),
        valid=False,
    )
