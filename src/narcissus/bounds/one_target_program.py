"""One target: the exact optimum under a whole profile, by a linear program with constraint
generation.

Source: Narcissus theory 4.6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from narcissus.bounds.linear_program import Sparse, maximise
from narcissus.bounds.rows import prior_rows, success_matrix
from narcissus.bounds.single_guess import single_guess_constraints
from narcissus.bounds.theorem import Needs, Theorem
from narcissus.errors import TooLargeError
from narcissus.guarantees import Guarantee, require_replace_one

FloatArray = NDArray[np.float64]

_ROUNDS = 60
_TOLERANCE = 1e-7
_LARGEST_SOLVED = 20  # values up to which a question is answered by the program


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
    exact for the points used within 1e-6.

    Source: Narcissus theory 4.6. `narcissus.bounds.optimum` is nearly as sharp and far faster.

    Parameters
    ----------
    priors
        The target's distribution, one per row, shape (m, V) or (V,).
    guarantee
        About replace-one neighbours.
    success
        None for exact match, else a 0/1 matrix of shape (V, Z).
    epsilons
        Points of the profile; default 100 tangents. Finitely many can only raise the optimum.

    Examples
    --------
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
        # Sorted, different priors need much the same events.
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
    half-way to the best known channel with the guarantee, which is a lower bound on the optimum
    too.
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
        reached = least = float((gain * inner).sum())
        best = 1.0
        for _ in range(_ROUNDS):
            found = maximise(padded, *self._constraints(), self.sums, np.ones(self.values))
            if found is None:
                break
            best = min(best, found.bound)
            corner = found.x[: self.values * self.guesses].reshape(self.values, self.guesses)
            added = self._add_violated(corner)
            inner = self._feasible(inner, corner)
            reached = max(reached, float((gain * inner).sum()))
            if not added or best - reached < _TOLERANCE:
                break
            self._add_violated((inner + corner) / 2)
        return max(best, least)

    def _constraints(self) -> tuple[Sparse, FloatArray]:
        if not self.limits:
            return self.start, self.start_limits
        events = sparse.csr_array(
            (
                np.concatenate(self.data),
                (np.concatenate(self.rows), np.concatenate(self.columns)),
            ),
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
    dear=True,
    own=True,
)
