"""Published theorems, for comparison; false ones are marked.

Source: Narcissus theory 4.2 and 4.7, which explains why those are false.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._validation import non_negative, probability
from narcissus.bounds.binomial import upper_tail
from narcissus.bounds.theorem import ONE_POINT, Needs, Question, Theorem
from narcissus.guarantees import ApproximateDP, BayesSecurity, PureDP, RenyiDP
from narcissus.guarantees.parametric import largest_rate

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
    """Return the largest rate within the divergence."""
    assert isinstance(q.guarantee, RenyiDP)
    alpha, gamma = q.guarantee.alpha, q.guarantee.gamma
    return float(largest_rate(np.asarray(q.p), alpha, gamma, both=False))


def _stock(q: Question) -> float:
    """``(p e^gamma)^((alpha - 1) / alpha)``"""
    assert isinstance(q.guarantee, RenyiDP)
    alpha = q.guarantee.alpha
    log_p = math.log(q.p) if q.p > 0 else -math.inf
    return math.exp(min(0.0, (alpha - 1) / alpha * (log_p + q.guarantee.gamma)))


def _bayes_risk(q: Question) -> float:
    """``1 - beta* (1 - p)``"""
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
