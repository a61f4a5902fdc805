"""The domination theorem: tails for any priors and any success criterion, exact under pure DP.

At one point of a profile, with all flows open (their cost is counted afterwards), its linear
program needs no flow variables: a few rows per target, many targets solved at the same time.

Source: Narcissus theory 4.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from narcissus._validation import integer, non_negative
from narcissus.bounds.binomial import PoissonBinomial, upper_tail
from narcissus.bounds.exact import constraints, maximise
from narcissus.bounds.theorem import Needs, Theorem, points_of
from narcissus.bounds.threat import likeliest_first, prior_kinds, prior_rows, success_matrix
from narcissus.guarantees import Guarantee, require_replace_one
from narcissus.results import Bound

FloatArray = NDArray[np.float64]

_ROUNDS = 200


def dominate(
    prior: FloatArray, success: FloatArray, epsilons: FloatArray, deltas: FloatArray, rate: float
) -> tuple[float, float]:
    """Find a feasible ``(mu, theta)`` of small ``sum mu + rate * sum_k delta_k Theta_k``.

    ``prior`` has shape (V,), ``success`` is a 0/1 matrix (V, Z), the profile's points have shape
    (K,), and ``rate`` is the price of the work. Returned are ``o = sum mu`` and the work of one
    pair that is feasible within rounding, whatever the solver's tolerance: its flows are repaired
    and ``mu`` recomputed.
    """
    inside = prior > 0
    prior, success = prior[inside], np.unique(success[inside], axis=1)
    values = prior.size
    pairs = np.array([(x, y) for x in range(values) for y in range(values) if x != y])
    if not pairs.size:
        return 1.0 if success.any() else 0.0, 0.0
    flows = _flows(prior, success, epsilons, deltas, rate=rate, pairs=pairs)
    if flows is None:
        return 1.0, 0.0
    shrink = np.exp(-epsilons)
    need = _repair(flows, prior, success, shrink, pairs)
    mu = np.maximum(need.max(axis=1), 0.0)
    if (mu > prior * (1 + 1e-13) + 1e-300).any():
        return 1.0, 0.0  # mu = prior, no flows: always feasible
    theta = flows.max(axis=2).sum(axis=1) * shrink
    return min(1.0, float(mu.sum())), float(deltas @ theta)


def _flows(
    prior: FloatArray,
    success: FloatArray,
    epsilons: FloatArray,
    deltas: FloatArray,
    *,
    rate: float,
    pairs: NDArray[np.int64],
) -> FloatArray | None:
    """Solve for the flows on arrival, shape (K, pairs, Z); None if the solver fails.

    Variables, all in [0, 1]: ``mu`` (V), ``theta`` (K x pairs), flows (K x pairs x Z). A flow is
    counted on arrival, after its multiplication by ``exp(eps)``, so it stays below 1.
    """
    values, guesses = success.shape
    count, k = pairs.shape[0], epsilons.size
    mu = np.arange(values)
    theta = values + np.arange(k * count).reshape(k, count, 1)
    flow = values + k * count + np.arange(k * count * guesses).reshape(k, count, guesses)
    need = np.arange(values * guesses).reshape(values, guesses)
    shared = need.size + np.arange(flow.size).reshape(flow.shape)
    within = need.size + flow.size + mu
    # D(x) [x in S] - mu_x - sum (out) e^-eps flow + sum (in) flow <= 0, one row a value and guess;
    # flow <= theta; mu <= D
    entries = [
        (need, mu[:, None], -1.0),
        (need[pairs[:, 0]], flow, -np.exp(-epsilons)[:, None, None]),
        (need[pairs[:, 1]], flow, 1.0),
        (shared, theta, -1.0),
        (shared, flow, 1.0),
        (within, mu, 1.0),
    ]
    size = values + k * count + k * count * guesses
    gain = np.zeros(size)
    gain[:values] = -1.0
    gain[values : values + k * count] = -rate * np.repeat(deltas * np.exp(-epsilons), count)
    solution = maximise(
        gain,
        constraints(entries, (need.size + flow.size + values, size)),
        np.concatenate([-(prior[:, None] * success).ravel(), np.zeros(flow.size), prior]),
        sparse.csr_array((0, size)),
        np.zeros(0),
    )
    if solution is None:
        return None
    return np.maximum(solution.x[values + k * count :].reshape(k, count, guesses), 0.0)


def _repair(
    flows: FloatArray,
    prior: FloatArray,
    success: FloatArray,
    shrink: FloatArray,
    pairs: NDArray[np.int64],
) -> FloatArray:
    """Cut inflows in place until no value needs more than its prior; return the needs, (V, Z).

    A cut takes from the sender only ``exp(-eps)`` of the receiver's share, so the violations die
    out.
    """
    into, outof = pairs[:, 1], pairs[:, 0]
    need = prior[:, None] * success
    for _ in range(_ROUNDS):
        received = np.zeros(success.shape)
        sent = np.zeros(success.shape)
        np.add.at(received, into, flows.sum(axis=0))
        np.add.at(sent, outof, np.einsum("k,kpz->pz", shrink, flows))
        need = prior[:, None] * success - sent + received
        over = np.maximum(need - prior[:, None], 0.0)
        if not over.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            keep = np.where(over > 0, np.clip(1.0 - over / received, 0.0, 1.0), 1.0)
        flows *= keep[into][None, :, :]
    return need


def exact_match_optimum(
    priors: ArrayLike, epsilon: float, counts: ArrayLike | None = None
) -> FloatArray:
    """Return the success of the best attacker on the best epsilon-DP mechanism, exact match.

    ``max_k e^eps S_k / (e^eps + k - 1)`` with ``S_k`` the mass of the ``k`` likeliest values: one
    number for each row of ``priors``, shape (m, V); ``epsilon`` may be infinite. ``counts``, shaped
    alike, is the number of values with each probability, not necessarily whole.

    Source: Narcissus theory 4.4 and 4.6. The number of successes among independent targets is
    stochastically at most a sum of Bernoulli(o_i).

    >>> exact_match_optimum([0.7, 0.2, 0.1], 3.0).round(5)
    array([0.90944])
    """
    level = non_negative("epsilon", epsilon, allow_infinite=True)
    rows = prior_rows("priors", priors, counts)
    rows, many = likeliest_first(rows, counts)
    others: FloatArray | None = None
    if many is not None:
        rows, others = rows * many, np.cumsum(many, axis=1) - 1.0
    return optimum_of_heads(np.cumsum(rows, axis=1), np.full(rows.shape[0], level), others)


def optimum_of_heads(
    heads: FloatArray, epsilon: FloatArray, others: FloatArray | None = None
) -> FloatArray:
    """Compute the closed form from ``heads``, the masses of the k likeliest values, shape (m, V).

    ``epsilon`` has shape (m,); ``others`` holds ``k - 1``, shaped as ``heads``, default 0, 1, 2 ...
    Written as ``S_k / (1 + (k - 1) e^-eps)``, so nothing overflows.
    """
    fewer = np.arange(heads.shape[1]) if others is None else others
    values = heads / (1.0 + fewer * np.exp(-epsilon)[:, None])
    return np.minimum(values.max(axis=1), 1.0)


def domination(
    priors: ArrayLike,
    guarantee: Guarantee,
    at_least: int,
    success: ArrayLike | None = None,
    *,
    repeats: ArrayLike | None = None,
    epsilons: ArrayLike | None = None,
) -> Bound:
    """Bound the probability that at least ``at_least`` independent targets are reconstructed.

    ``Pr[L >= v] <= Pr[sum_i Bernoulli(o_i) >= v] + sum_k delta_k Theta_k`` for every dominating
    ``(o_i)`` and its work ``Theta_k`` at the points of the profile.

    Source: Narcissus theory 4.4. Under pure DP it is the exact optimum.

    priors: One distribution per row, shape (m, V), for ``repeats`` targets each; zeros pad.
    success: None for exact match; else a 0/1 matrix, shape (V, Z): whether guess ``z`` is right for
        value ``x``, the same for all targets. Costs one linear program per distinct prior.
    epsilons: Points of the profile; default the guarantee's tangents. Exact match uses the best
        single one in closed form; the linear program shares the work among several (at most 8, for
        up to 6 values and 20 distinct priors) if that is smaller.

    >>> from narcissus.guarantees import PureDP
    >>> round(domination([[0.7, 0.3]] * 12, PureDP(1.0), 9).value, 6)
    0.589582
    """
    require_replace_one(guarantee)
    different, counts = prior_kinds(priors, repeats)
    v = integer("at_least", at_least)
    points = guarantee.tangents() if epsilons is None else np.atleast_1d(np.asarray(epsilons))
    larger = points_of(guarantee, larger=100) if epsilons is None else points
    value = _tail_by_domination(
        different, counts, guarantee, v, success=success, points=points, larger=larger
    )
    return DOMINATION.claim(
        value,
        f"probability that at least {v} of {int(counts.sum())} targets are reconstructed",
        (*guarantee.assumed, "the targets' values are independent given what the attacker knows"),
    )


def _tail_by_domination(
    rows: FloatArray,
    repeats: NDArray[np.int64],
    guarantee: Guarantee,
    v: int,
    *,
    success: ArrayLike | None,
    points: FloatArray,
    larger: FloatArray,
) -> float:
    """Return the smaller of the closed form and the program, where each applies."""
    n = int(repeats.sum())
    if v <= 0 or v > n:
        return float(v <= 0)
    best = 1.0
    if success is None:
        heads = np.cumsum(-np.sort(-rows, axis=1), axis=1)
        for epsilon in larger:
            optima = optimum_of_heads(heads, np.full(rows.shape[0], epsilon))
            spent = float(guarantee.profile(epsilon)) * float((1.0 - optima) @ repeats)
            if spent < best:
                best = min(best, _sum_tail(optima, repeats, v) + spent)
    small = rows.shape[1] <= 6 and rows.shape[0] <= 20
    if success is None and (points.size == 1 or not small):
        return best
    matrix = np.eye(rows.shape[1]) if success is None else success_matrix(success, rows.shape[1])
    chosen = _few(points, guarantee, n)
    deltas = guarantee.profile(chosen)
    # The exchange rate between work and success: what a target's success adds to the tail.
    rate = 1.0
    for _ in range(4):
        solutions = [dominate(row, matrix, chosen, deltas, rate) for row in rows]
        optima = np.array([o for o, _ in solutions])
        spent = float(np.array([work for _, work in solutions]) @ repeats)
        tail = _sum_tail(optima, repeats, v)
        best = min(best, tail + spent)
        if not deltas.any():
            break
        nudged = _sum_tail(np.minimum(optima + 1e-4, 1.0), repeats, v)
        rate = n * 1e-4 / max(nudged - tail, 1e-300)
    return best


def _sum_tail(chances: FloatArray, repeats: NDArray[np.int64], v: int) -> float:
    """Return ``Pr[sum of Bernoullis >= v]``, ``1 <= v <= n``; binomial if all are equal."""
    n, first = int(repeats.sum()), float(chances[0])
    if n > 64 and (chances == first).all():
        return float(upper_tail(n, v, special.logit(first)))
    return PoissonBinomial(np.repeat(chances, repeats)).tail(v)


def _few(points: FloatArray, guarantee: Guarantee, n: int) -> FloatArray:
    """Return at most 8 points, spread over those whose delta matters to ``n`` targets."""
    if points.size <= 8:
        return points
    useful = points[n * guarantee.profile(points) > 1e-6]
    useful = useful if useful.size else points[-1:]
    return useful[np.unique(np.linspace(0, useful.size - 1, 8).round().astype(int))]


_LARGEST_CONVOLUTION = 10**7  # most targets for computing the distribution of their sum


DOMINATION = Theorem(
    id="domination",
    source="Narcissus theory 4.4",
    title="domination",
    says="A tail for any priors and any success; the exact optimum under pure DP.",
    about=("tail",),
    limit=lambda q: domination(*q.of_values, repeats=[q.n]).value,
    needs=Needs(values=True, most_targets=_LARGEST_CONVOLUTION),
    own=True,
)


_BLOCK = 20_000  # entries of the success matrices in one program


def dominate_point(
    priors: ArrayLike, success: ArrayLike, epsilon: float
) -> tuple[FloatArray, FloatArray]:
    """Find for each target a feasible ``mu`` of least sum at one epsilon, and its work.

    ``priors`` has shape (m, V) or (V,), ``success`` is a 0/1 matrix (V, Z), and ``epsilon`` may be
    infinite. Returned are ``mu`` (m, V), ``mu_x`` in ``[0, D(x)]`` with sum ``o``, and the work
    ``Theta`` (m,), to be multiplied by ``delta(epsilon)``; feasible within rounding.

    Source: Narcissus theory 4.4, with the proof: ``D(S) - mu(S) <= e^-eps mu(not S)`` for every
    success set ``S``; the flows ``(D(x) - mu_x) mu_y / mu(not S)`` meet it, and ``theta_xy`` is the
    largest of them over the sets that hold ``x`` and not ``y``.

    >>> mu, theta = dominate_point([0.7, 0.3], np.eye(2), 1.0)
    >>> float(mu.sum().round(6)), float(theta[0].round(6))
    (0.731059, 0.268941)
    """
    rows = prior_rows("priors", priors)
    matrix = success_matrix(success, rows.shape[1])
    shrink = float(np.exp(-non_negative("epsilon", epsilon, allow_infinite=True)))
    each = max(1, _BLOCK // matrix.size)
    parts = [
        _least_multipliers(rows[a : a + each], matrix, shrink)
        for a in range(0, rows.shape[0], each)
    ]
    mu = np.concatenate(parts)
    return mu, _work(rows, mu, matrix)


def _least_multipliers(rows: FloatArray, success: FloatArray, shrink: float) -> FloatArray:
    """Solve the programs of several targets as one.

    If the solver fails they are split, so that no target suffers from another's tiny masses; for a
    single one ``mu = D`` where some guess is right, which fills every success set.
    """
    count, values = rows.shape
    weights = success.T + shrink * (1 - success.T)
    # mu = D u with u in [0, 1], so that the bounds of the solver are those of the program.
    scaled = sparse.block_diag([sparse.csr_array(weights * row) for row in rows])
    solution = maximise(
        -rows.ravel(),
        -sparse.csr_array(scaled),
        -(rows @ success).ravel(),
        sparse.csr_array((0, count * values)),
        np.zeros(0),
    )
    if solution is None and count > 1:
        halves = rows[: count // 2], rows[count // 2 :]
        return np.concatenate([_least_multipliers(half, success, shrink) for half in halves])
    if solution is None:
        return rows * success.any(axis=1)
    mu = rows * np.clip(solution.x.reshape(count, values), 0.0, 1.0)
    # What the tolerance of the solver leaves open: more of mu only helps, so that each set takes
    # what it is short of from its own values, and no other set is hurt.
    short = np.maximum(rows @ success - mu @ weights.T, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(short > 0, short / ((rows - mu) @ success), 0.0).clip(0.0, 1.0)
    step = (success[None] * part[:, None, :]).max(axis=2)
    return mu + step * (rows - mu)


def _work(rows: FloatArray, mu: FloatArray, success: FloatArray) -> FloatArray:
    """Return ``Theta``, the sum over pairs of the largest flow, shape (m,)."""
    outside = mu @ (1 - success)
    with np.errstate(divide="ignore"):
        rate = np.where(outside > 0, 1.0 / outside, 0.0)
    theta = np.empty(rows.shape[0])
    for i, (need, give) in enumerate(zip(rows - mu, mu, strict=True)):
        # rate of the pair (x, y): the largest over the sets with x and without y
        pair = np.zeros((rows.shape[1], rows.shape[1]))
        for inside, r in zip(success.T > 0, rate[i], strict=True):
            block = np.ix_(inside, ~inside)
            pair[block] = np.maximum(pair[block], r)
        theta[i] = need @ pair @ give
    return theta
