"""One target: upper bound on any attacker's success for a given prior.

`optimum` is fast and valid for any guarantee and many priors at the same time: a closed form
    minimised over
one number for exact match; otherwise a small linear program over single guesses, whose duals yield
a valid bound. `optimum_program` is the exact optimum under a whole profile, by constraint
generation.

Source: Narcissus theory 4.6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from narcissus.bounds.domination import dominate_point, optimum_of_heads
from narcissus.bounds.exact import Sparse, constraints, maximise
from narcissus.bounds.theorem import Needs, Theorem
from narcissus.bounds.threat import likeliest_first, prior_rows, success_matrix
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import ApproximateDP, Guarantee, PureDP, require_replace_one

FloatArray = NDArray[np.float64]


_BLOCK = 2000  # entries of the success matrices in one program


def relaxed_optimum(priors: ArrayLike, guarantee: Guarantee, success: ArrayLike) -> FloatArray:
    rows = prior_rows("priors", priors)
    matrix = success_matrix(success, rows.shape[1])
    different, back = np.unique(rows, axis=0, return_inverse=True)
    points = guarantee.tangents(20)
    points = np.unique(np.concatenate([points, -points]))
    each = max(1, _BLOCK // matrix.size)
    values: list[FloatArray] = []
    for start in range(0, different.shape[0], each):
        block = different[start : start + each]
        multipliers = _multipliers(block[:, :, None] * matrix, guarantee, points)
        values.append(multiplier_bound(block, matrix, guarantee, multipliers))
    return np.concatenate(values)[np.ravel(back)]


def optimum_at_points(
    priors: ArrayLike, guarantee: Guarantee, success: ArrayLike, count: int
) -> FloatArray:
    """Bound the success on one target by multipliers that are optimal under pure DP.

    A few hundredths above `relaxed_optimum`, and much faster with many values or targets: it tries
    the multipliers of at most ``count`` epsilons.
    """
    rows = prior_rows("priors", priors)
    matrix = success_matrix(success, rows.shape[1])
    best = np.ones(rows.shape[0])
    for epsilon in np.unique(guarantee.tangents(count)):
        multipliers, _ = dominate_point(rows, matrix, max(0.0, float(epsilon)))
        best = np.minimum(best, multiplier_bound(rows, matrix, guarantee, multipliers))
    return best


def multiplier_bound(
    rows: FloatArray, success: FloatArray, guarantee: Guarantee, multipliers: FloatArray
) -> FloatArray:
    """Return ``sum lambda + sum_z A_z delta(log(B_z / A_z))``, (m,), a bound for all multipliers.

    ``lambda = D`` yields the trivial bound.
    """
    lower_bounds = (rows @ success).max(axis=1)
    bounds = np.ones(rows.shape[0])
    for start in range(0, rows.shape[0], max(1, 10**7 // success.size)):
        part = slice(start, start + max(1, 10**7 // success.size))
        for tried in (multipliers[part], rows[part]):
            excess = rows[part, :, None] * success - tried[:, :, None]
            above = np.maximum(excess, 0.0).sum(axis=1)
            below = np.maximum(-excess, 0.0).sum(axis=1)
            paid = above > 0
            level = np.zeros(above.shape)
            with np.errstate(divide="ignore"):
                level[paid] = np.log(below[paid]) - np.log(above[paid])
            value = tried.sum(axis=1) + (above * guarantee.profile(level)).sum(axis=1)
            bounds[part] = np.minimum(bounds[part], value)
    return np.clip(bounds, lower_bounds, 1.0)


def _multipliers(gains: FloatArray, guarantee: Guarantee, points: FloatArray) -> FloatArray:
    """Solve the programs over single guesses of several targets as one; return row duals, (m, V).

    ``gains`` has shape (m, V, Z); the profile enters by its tangents at ``points``.
    """
    count, values, guesses = gains.shape
    upper, limits, sums = single_guess_constraints(
        values, guesses, points, guarantee.profile(points)
    )
    each = sparse.eye_array(count)
    padded = np.concatenate([gains.reshape(count, -1), np.zeros((count, 2 * guesses))], axis=1)
    solution = maximise(
        padded.ravel(),
        sparse.kron(each, upper),
        np.tile(limits, count),
        sparse.kron(each, sums),
        np.ones(count * values),
    )
    # A valid bound needs no solved program: fall back to trivial multipliers.
    if solution is None:
        return gains.max(axis=2)
    return solution.equal_multipliers.reshape(count, values)


def single_guess_constraints(
    values: int, guesses: int, points: FloatArray, deltas: FloatArray
) -> tuple[Sparse, FloatArray, Sparse]:
    """Return ``upper``, ``limits`` and ``equal`` of the constraints on single guesses.

    Variables: ``Q`` (V x Z, row by row), then for each guess its largest and its smallest
    probability, joined by the tangents ``high <= delta_k + e^eps_k low``. Rows of ``Q`` sum to 1.
    """
    cells = values * guesses
    q = np.arange(cells).reshape(values, guesses)
    high, low = cells + np.arange(guesses), cells + guesses + np.arange(guesses)
    tangent = 2 * cells + np.arange(points.size * guesses).reshape(points.size, guesses)
    # Steep tangents are divided by their slope, so that no coefficient exceeds 1.
    weight = np.exp(-np.maximum(points, 0.0))
    slope = np.exp(np.minimum(points, 0.0))
    entries = [
        (q, q, 1.0),
        (q, high, -1.0),
        (cells + q, q, -1.0),
        (cells + q, low, 1.0),
        (tangent, high, weight[:, None]),
        (tangent, low, -slope[:, None]),
    ]
    size = cells + 2 * guesses
    limits = np.concatenate([np.zeros(2 * cells), np.repeat(weight * deltas, guesses)])
    sums = constraints([(np.arange(values)[:, None], q, 1.0)], (values, size))
    return constraints(entries, (2 * cells + tangent.size, size)), limits, sums


_GRID = 2048  # points of the profile read by the search for the best epsilon
_FEW = 32  # points of the profile at which the optimum is computed exactly
_FINE = 256  # entries kept as they are in the search for the best epsilon
_LEAST = 1e-7  # epsilon at which multipliers keep nine digits
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


def optimum(
    priors: ArrayLike,
    guarantee: Guarantee,
    success: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> FloatArray:
    """Bound the success of any attacker on one target, for many priors at the same time.

    The result has shape (m,), each entry in [best prior guess, 1].

    priors: The target's distribution, one per row, shape (m, V) or (V,); zeros pad shorter rows.
    success: None for exact match; else a 0/1 matrix, shape (V, Z): whether guess ``z`` is right for
        value ``x``. Costs small linear programs, many priors in one.
    counts: For exact match: number of values with each probability, shaped as ``priors``, default
        one; need not be whole, see `narcissus.bounds.listed`.

    Source: Narcissus theory 4.6. *Proof.* Let ``Q_x(z)`` be the probability of guess ``z`` for
    value ``x``. We use the guarantee only for single guesses, ``Q_x(z) <= g(Q_x'(z))`` with
    ``g = 1 - trade_off``; so the largest and the smallest probability of a guess are some ``g(a)``
    and ``a``. For multipliers ``lambda_x`` of the row sums ``sum_z Q_x(z) = 1`` every success is at
    most

        sum_x lambda_x + sum_z sup_a [ A_z g(a) - B_z a ],

    ``A_z`` and ``B_z`` the sums over ``x`` of the positive and negative parts of ``D(x) l(x, z) -
    lambda_x``. The supremum is ``A_z delta(log(B_z / A_z))``, ``delta`` the profile. For exact
    match take the multipliers optimal under pure DP at some ``e``, with ``o`` that optimum,
    ``lambda_x = max(0, (e^e D(x) - o) / (e^e - 1))``: ``o + sum_z (D(z) - lambda_z) delta(max(e,
    log(o / D(z))))``, a bound for every ``e``, which is minimised. It equals the optimum of the
    whole linear program (`optimum_program`) under pure DP, for two values under every guarantee,
    and wherever events of several guesses do not bind.
    """
    require_replace_one(guarantee)
    if success is not None:
        if counts is not None:
            raise InputError("`counts` are for exact match; leave out `success`")
        if isinstance(guarantee, PureDP):
            multipliers, _ = dominate_point(priors, success, guarantee.epsilon)
            return np.minimum(multipliers.sum(axis=1), 1.0)
        return relaxed_optimum(priors, guarantee, success)
    rows = prior_rows("priors", priors, counts)
    values = _Values(*likeliest_first(rows, counts))
    if isinstance(guarantee, PureDP | ApproximateDP):
        return _at_points(values, guarantee, guarantee.tangents(1))
    best = _best_epsilons(values.fewer(), guarantee)
    base, cost = values.parts(best, guarantee)
    value = base + cost
    if rows.shape[1] <= 2 * _FINE:
        value = np.minimum(value, _at_points(values, guarantee, guarantee.tangents(_FEW)))
    return np.clip(value, values.rows[:, 0], 1.0)


def profile_multipliers(
    priors: ArrayLike, guarantee: Guarantee, epsilon: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return sorted priors, multipliers, ``o`` and cost of the bound at one epsilon; exact match.

    Priors and multipliers have shape (m, V), each row from the likeliest value on; ``o``, the sum
    of the multipliers, and the cost that the profile adds have shape (m,). Their sum is a bound for
    every epsilon of at least 0. The cost is at most ``delta(epsilon) (1 - o)``.
    """
    rows = prior_rows("priors", priors)
    values = _Values(*likeliest_first(rows, None))
    masses, level, base = values.terms(np.full(rows.shape[0], float(epsilon)))
    costs = (masses * guarantee.profile(level)).sum(axis=1)
    return values.rows, values.rows - masses, base, costs


def profile_cost(
    priors: ArrayLike, guarantee: Guarantee, epsilon: float, counts: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return ``o`` and cost as `profile_multipliers` does, with ``counts`` as in `optimum`."""
    rows = prior_rows("priors", priors, counts)
    values = _Values(*likeliest_first(rows, counts))
    return values.parts(np.full(rows.shape[0], float(epsilon)), guarantee)


class _Values:
    """Priors sorted from the likeliest value on; each entry is one value, or several."""

    def __init__(self, rows: FloatArray, counts: FloatArray | None) -> None:
        self.rows, self.counts = rows, counts
        self.heads = np.cumsum(rows if counts is None else rows * counts, axis=1)
        self.others = None if counts is None else np.cumsum(counts, axis=1) - 1.0

    def closed(self, epsilon: FloatArray) -> FloatArray:
        """Return the optimum under pure DP, one epsilon per row."""
        return optimum_of_heads(self.heads, epsilon, self.others)

    def terms(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mass, level and base of the bound ``base + sum mass * profile(level)``, by row."""
        # Below it the multipliers lose digits; a bound at a larger epsilon is valid here.
        epsilon = np.where((epsilon > 0) & (epsilon < _LEAST), _LEAST, epsilon)
        rows, base = self.rows, self.closed(epsilon)
        shrink = np.exp(-epsilon)[:, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            multiplier = (rows - shrink * base[:, None]) / -np.expm1(-epsilon)[:, None]
            level = np.log(base[:, None]) - np.log(rows)
        # At epsilon 0 the multipliers carry the one likeliest value.
        at_zero = np.zeros_like(rows)
        at_zero[:, 0] = rows[:, 0]
        if self.counts is not None:
            at_zero[:, 0] /= self.counts[:, 0]
        multiplier = np.where(epsilon[:, None] > 0, np.clip(multiplier, 0.0, rows), at_zero)
        mass = rows - multiplier
        if self.counts is not None:
            mass = mass * self.counts
        return mass, np.maximum(level, epsilon[:, None]), base

    def parts(self, epsilon: FloatArray, guarantee: Guarantee) -> tuple[FloatArray, FloatArray]:
        mass, level, base = self.terms(epsilon)
        return base, (mass * guarantee.profile(level)).sum(axis=1)

    def fewer(self) -> _Values:
        """Return coarser priors for choosing the best epsilon; any epsilon is valid."""
        size = self.rows.shape[1]
        if self.counts is None or size <= 2 * _FINE:
            return self
        later = np.geomspace(_FINE, size, _FINE).astype(np.intp)[:-1]
        starts = np.unique(np.concatenate([np.arange(_FINE), later]))
        counts = np.add.reduceat(self.counts, starts, axis=1)
        mass = np.add.reduceat(self.rows * self.counts, starts, axis=1)
        return _Values(np.divide(mass, counts, out=np.zeros_like(mass), where=counts > 0), counts)


def _at_points(values: _Values, guarantee: Guarantee, points: FloatArray) -> FloatArray:
    """Return the least of the exact optima at single points of the profile, shape (m,)."""
    bounds = np.ones(values.rows.shape[0])
    for epsilon, delta in zip(points, guarantee.profile(points), strict=True):
        pure = values.closed(np.full(bounds.shape, epsilon))
        bounds = np.minimum(bounds, delta + (1.0 - delta) * pure)
    return bounds


def _best_epsilons(values: _Values, guarantee: Guarantee) -> FloatArray:
    """Find for each row the epsilon that minimises the bound; any epsilon is valid."""
    people = values.rows.shape[0]
    grid = np.unique(np.append(guarantee.tangents(_GRID), 0.0))
    table = guarantee.profile(grid)

    def value(epsilon: FloatArray) -> FloatArray:
        mass, level, base = values.terms(epsilon)
        return base + (mass * np.interp(level, grid, table)).sum(axis=1)

    coarse = grid[:: max(1, grid.size // 32)]
    at_coarse = np.stack([value(np.full(people, e)) for e in coarse])
    nearest = at_coarse.argmin(axis=0)
    low = coarse[np.maximum(nearest - 1, 0)]
    high = coarse[np.minimum(nearest + 1, coarse.size - 1)]
    best, minima = coarse[nearest], at_coarse.min(axis=0)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(40):
        for point, at_point in ((left, at_left), (right, at_right)):
            better = at_point < minima
            best, minima = np.where(better, point, best), np.where(better, at_point, minima)
        go_left = at_left < at_right
        low, high = np.where(go_left, low, left), np.where(go_left, right, high)
        new = np.where(go_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_new = value(new)
        left, right = np.where(go_left, new, right), np.where(go_left, left, new)
        at_left, at_right = (
            np.where(go_left, at_new, at_right),
            np.where(go_left, at_left, at_new),
        )
    return best


OPTIMUM = Theorem(
    id="one-target-optimum",
    source="Narcissus theory 4.6",
    title="one-target optimum",
    says="The success on one target from the whole prior of its value.",
    about=("success",),
    limit=lambda q: float(optimum(q.threat.values or (), q.guarantee, q.threat.success)[0]),
    needs=Needs(values=True),
    own=True,
    each=optimum,
)


_ROUNDS = 60
_TOLERANCE = 1e-7
_LARGEST_SOLVED = 20  # most values for the program


def optimum_program(
    priors: ArrayLike,
    guarantee: Guarantee,
    success: ArrayLike | None = None,
    *,
    epsilons: ArrayLike | None = None,
) -> FloatArray:
    """Find the success of the best attacker on the best mechanism, one target per row.

    The channel ``Q_x(z)`` from values to guesses maximises ``sum D(x) Q_x(z) l(x, z)`` under
    ``sum_z max(0, Q_x(z) - e^eps Q_x'(z)) <= delta(eps)`` for all pairs and all points. Events are
    added when violated, so 20 values with 40 points stay small, and the events of one prior are
    reused for the next. Each of the (m,) results is a valid bound at every tolerance of the solver,
    exact for the points used (``epsilons``, by default 100 tangents) within 1e-6. ``priors`` and
    ``success`` are those of `narcissus.bounds.optimum`, nearly as sharp and far faster.

    Source: Narcissus theory 4.6.

    >>> from narcissus.guarantees import PureDP
    >>> optimum_program([0.7, 0.2, 0.1], PureDP(3.0)).round(5)
    array([0.90944])
    """
    require_replace_one(guarantee)
    rows = prior_rows("priors", priors)
    if rows.shape[1] > 64:
        raise TooLargeError(
            f"`priors` have {rows.shape[1]} values, at most 64 are solved exactly; "
            "use `optimum`, which has no limit"
        )
    points = guarantee.tangents(100) if epsilons is None else np.atleast_1d(np.asarray(epsilons))
    if success is None:
        # Once sorted, different priors need nearly the same events.
        rows = -np.sort(-rows, axis=1)
        matrix = np.eye(rows.shape[1])
    else:
        matrix = success_matrix(success, rows.shape[1])
    program = _Program(matrix, points, guarantee.profile(points))
    different, back = np.unique(rows, axis=0, return_inverse=True)
    values = np.array([program.solve(row) for row in different])
    return values[np.ravel(back)]


class _Program:
    """The events found so far, shared among priors.

    It starts from the constraints on single guesses, nearly always sufficient, and adds events of
    several guesses. Separation at corners alone converges slowly; each round therefore also looks
    half-way to the best known channel with the guarantee, a lower bound on the optimum.
    """

    def __init__(self, success: FloatArray, points: FloatArray, deltas: FloatArray) -> None:
        self.success = success
        self.values, self.guesses = success.shape
        both = np.concatenate([points, -points])
        mirrored = -np.expm1(-points) + np.exp(-points) * deltas
        self.start, self.start_limits, self.sums = single_guess_constraints(
            self.values, self.guesses, both, np.concatenate([deltas, mirrored])
        )
        self.shrink = np.exp(-points)
        self.limit = self.shrink * deltas
        self.known: set[tuple[int, int, int, bytes]] = set()
        self.rows: list[NDArray[np.int64]] = []
        self.columns: list[NDArray[np.int64]] = []
        self.data: list[FloatArray] = []
        self.limits: list[float] = []

    def solve(self, prior: FloatArray) -> float:
        """Solve, add violated events, and solve again, until lower and upper bound meet."""
        gain = prior[:, None] * self.success
        padded = np.concatenate([gain.ravel(), np.zeros(2 * self.guesses)])
        # The channel that always guesses the same has every guarantee.
        inner = np.zeros((self.values, self.guesses))
        inner[:, int(gain.sum(axis=0).argmax())] = 1.0
        reached = baseline = float((gain * inner).sum())
        best = 1.0
        for _ in range(_ROUNDS):
            solution = maximise(padded, *self._constraints(), self.sums, np.ones(self.values))
            if solution is None:
                break
            best = min(best, solution.bound)
            corner = solution.x[: self.values * self.guesses].reshape(self.values, self.guesses)
            added = self._add_violated(corner)
            inner = self._feasible(inner, corner)
            reached = max(reached, float((gain * inner).sum()))
            if not added or best - reached < _TOLERANCE:
                break
            self._add_violated((inner + corner) / 2)
        return max(best, baseline)

    def _constraints(self) -> tuple[Sparse, FloatArray]:
        if not self.limits:
            return self.start, self.start_limits
        events = sparse.csr_array(
            (np.concatenate(self.data), (np.concatenate(self.rows), np.concatenate(self.columns))),
            shape=(len(self.limits), self.start.shape[1]),
        )
        limits = np.concatenate([self.start_limits, self.limits])
        return sparse.vstack([self.start, events]), limits

    def _excess(self, q: FloatArray, x: int) -> tuple[FloatArray, FloatArray]:
        """Return the guesses' contributions, (K, V, Z), and the violations, (K, V), of row ``x``.

        Rows are divided by ``exp(eps)``, so nothing overflows.
        """
        parts = self.shrink[:, None, None] * q[x][None, None, :] - q[None, :, :]
        return parts, np.maximum(parts, 0.0).sum(axis=2) - self.limit[:, None]

    def _feasible(self, inner: FloatArray, outer: FloatArray) -> FloatArray:
        """Move from a channel with the guarantee towards one without, until the guarantee binds."""
        low, high = 0.0, 1.0
        outer = np.maximum(outer, 0.0)
        outer = outer / outer.sum(axis=1, keepdims=True)
        for _ in range(12):
            middle = (low + high) / 2
            q = inner + middle * (outer - inner)
            fine = all(self._excess(q, x)[1].max() <= 1e-12 for x in range(self.values))
            low, high = (middle, high) if fine else (low, middle)
        return inner + low * (outer - inner)

    def _add_violated(self, q: FloatArray) -> bool:
        """Add the most violated event of each pair; return whether there was any."""
        added = False
        for x in range(self.values):
            parts, over = self._excess(q, x)
            worst = over.argmax(axis=0)
            for y in range(self.values):
                k = int(worst[y])
                if y != x and over[k, y] > _TOLERANCE * self.shrink[k]:
                    added |= self._add(x, y, k, np.flatnonzero(parts[k, y] > 0))
        return added

    def _add(self, x: int, y: int, k: int, event: NDArray[np.int64]) -> bool:
        key = (x, y, k, event.tobytes())
        if key in self.known:
            return False
        self.known.add(key)
        size = event.size
        self.rows.append(np.full(2 * size, len(self.limits)))
        self.columns.append(np.concatenate([x * self.guesses + event, y * self.guesses + event]))
        self.data.append(np.repeat([self.shrink[k], -1.0], size))
        self.limits.append(float(self.limit[k]))
        return True


OPTIMUM_PROGRAM = Theorem(
    id="one-target-optimum-program",
    source="Narcissus theory 4.6",
    title="one-target optimum, linear program",
    says="The success of the best attacker on the best mechanism, one target.",
    about=("success",),
    limit=lambda q: float(optimum_program(q.threat.values or (), q.guarantee, q.threat.success)[0]),
    needs=Needs(values=True, not_pure=True, most_values=_LARGEST_SOLVED),
    expensive=True,
    own=True,
)


def column_shares(columns: Sequence[ArrayLike], guarantee: Guarantee) -> FloatArray:
    """Bound any attacker's mean share of correctly guessed unknown columns, for many targets.

    The bound is on the *mean* share, over the secret, the release and the attacker's coins; not on
    the chance that many columns are right: a release may reveal all columns or none. ``columns``
    holds for each unknown column the targets' distributions of it, given the attacker's prior
    knowledge of them, shape (m, size of the column).

    Source: Narcissus theory 4.6, with the proof: given one column the release is drawn from a
    mixture over the others, the hockey-stick divergence is jointly convex, and so the release has
    the guarantee for each column alone, however the columns depend on each other.

    >>> from narcissus.guarantees import PureDP
    >>> column_shares([[[0.7, 0.3]], [[0.5, 0.5]]], PureDP(1.0)).round(6)
    array([0.731059])
    """
    if not columns:
        raise InputError("`columns` must hold at least one column's distributions")
    return np.mean([optimum(rows, guarantee) for rows in columns], axis=0)


COLUMNS = Theorem(
    id="column-shares",
    source="Narcissus theory 4.6",
    title="mean share of columns",
    says=(
        "The mean share of a target's unknown columns, from each column's own distribution, "
        "however they depend on one another; nothing is said of the joint chance of many."
    ),
    about=("columns",),
    limit=lambda q: float(column_shares(q.threat.columns or (), q.guarantee)[0]),
    own=True,
)
