"""The mechanism with the largest Bayes security at a given loss, and the least loss at one given.

Both are linear programs over all mechanisms that say one of the answers for each secret, with a
local epsilon or a metric's distances kept if wished.

Source: Narcissus theory 6.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse

from narcissus._validation import between, integer, non_negative
from narcissus.channels.bayes_security import beta_star
from narcissus.channels.channel import Channel, channel, prior_for
from narcissus.errors import InputError, NarcissusError, TooLargeError
from narcissus.results import Grade, Result

Floats = NDArray[np.float64]

MOST_VARIABLES = 40_000
"""Largest program: secrets squared times answers, halved; it takes some half a minute."""
WITHIN = 1e-6
"""How far the certified limit may lie from the mechanism's own value, else the program failed."""


@dataclass(frozen=True)
class Design(Result):
    """A mechanism, with what it guarantees and what it costs.

    Attributes
    ----------
    channel
        The mechanism: a row a secret, a column an answer.
    beta_star
        Its Bayes security, computed from it.
    loss
        Its expected loss.
    limit
        What was asked for: of largest Bayes security, what no mechanism at that loss exceeds; of
        least loss, what none with that Bayes security falls below. By the program's multipliers,
        whatever the solver's tolerance.
    wanted
        "beta_star" or "loss": which of the two was optimised.
    """

    channel: Channel
    beta_star: float
    loss: float
    limit: float
    wanted: str

    @property
    def grade(self) -> Grade:
        """Always 'proved'."""
        return "proved"

    def __str__(self) -> str:
        most = "at most" if self.wanted == "beta_star" else "at least"
        name = "Bayes security" if self.wanted == "beta_star" else "loss"
        return (
            f"A mechanism with Bayes security {self.beta_star:.6g} and expected loss "
            f"{self.loss:.6g}\n  no other does better: {name} {most} {self.limit:.6g}"
        )


def most_secure(
    loss: ArrayLike,
    most_loss: float,
    *,
    prior: Any = None,
    epsilon: float | None = None,
    distance: ArrayLike | None = None,
    secrets: Sequence[str] | None = None,
    answers: Sequence[str] | None = None,
) -> Design:
    """Find the mechanism with the largest ``beta*`` whose expected loss is at most ``most_loss``.

    Parameters
    ----------
    loss
        Of each answer for each secret, at least 0, shape (secrets, answers).
    most_loss
        Expected loss under the prior.
    prior
        Uniform if left out.
    epsilon
        No answer becomes likelier by more than ``e^(epsilon distance)`` from secret to secret.
    distance
        Of secrets, for that, shape (secrets, secrets); all 1 if left out (local DP).
    secrets, answers
        Their names.

    Raises
    ------
    InputError
        No mechanism has so small a loss, with what the least is.
    TooLargeError
        More than 40,000 variables.

    Notes
    -----
    Without an epsilon the optimum's is usually infinite. Source: Narcissus theory 6.5.

    Examples
    --------
    >>> found = most_secure(1 - np.eye(3), 0.4)  # say anything at loss 2/3, the truth at 0
    >>> round(found.beta_star, 6)
    0.6
    """
    program = _Mechanisms.of(loss, prior, epsilon, distance, secrets, answers)
    least = program.least_loss(0.0)
    limit = non_negative("most_loss", most_loss)
    if limit < least.limit:
        raise InputError(
            f"`most_loss` is {limit:g}, and no mechanism has a loss below {least.limit:.6g}"
        )
    return program.most_secure(limit)


def least_loss(
    loss: ArrayLike,
    beta_star: float = 0.0,
    *,
    prior: Any = None,
    epsilon: float | None = None,
    distance: ArrayLike | None = None,
    secrets: Sequence[str] | None = None,
    answers: Sequence[str] | None = None,
) -> Design:
    """Find the mechanism with the least expected loss whose ``beta*`` is at least so much.

    Parameters are those of `most_secure`.

    Notes
    -----
    Source: Narcissus theory 6.5.

    Examples
    --------
    >>> round(least_loss(1 - np.eye(3), 0.6).loss, 6)
    0.4
    """
    wanted = between("beta_star", beta_star, 0, 1)
    return _Mechanisms.of(loss, prior, epsilon, distance, secrets, answers).least_loss(wanted)


def trade_off(
    loss: ArrayLike, points: int = 21, *, prior: Any = None, epsilon: float | None = None
) -> tuple[Floats, Floats]:
    """Return the largest ``beta*`` at evenly spaced losses, from the least one to that of nothing.

    Parameters
    ----------
    loss, prior, epsilon
        As in `most_secure`.
    points
        How many, at least 2.

    Returns
    -------
    loss, beta_star
        Shapes (points,); the second is concave in the first.
    """
    program = _Mechanisms.of(loss, prior, epsilon, None, None, None)
    count = integer("points", points, low=2)
    least = program.least_loss(0.0).loss
    losses = np.linspace(least, max(least, loss_of_nothing(loss, prior)), count)
    # the least loss itself is met within the solver's tolerance only
    found = [program.most_secure(max(float(one), least + WITHIN)) for one in losses]
    return losses, np.array([one.beta_star for one in found])


def loss_of_nothing(loss: ArrayLike, prior: Any = None) -> float:
    """Return the least expected loss of an answer that says nothing, ``L0``.

    Notes
    -----
    With a loss of 0 for some answer of each secret, "say the best answer with probability D / L0,
    else tell the secret" has ``beta* >= D / L0`` at loss D: ``max beta* >= min(1, D / L0)``.
    Source: Narcissus theory 6.5.
    """
    values = _losses(loss)
    return float((prior_for(_shell(values), prior) @ values).min())


def _losses(loss: ArrayLike) -> Floats:
    values = np.asarray(loss, dtype=np.float64)
    if values.ndim != 2 or min(values.shape) < 1:
        raise InputError(f"`loss` must have shape (secrets, answers), got {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise InputError("`loss` must be finite and at least 0")
    return values


def _shell(
    values: Floats, secrets: Sequence[str] | None = None, answers: Sequence[str] | None = None
) -> Channel:
    n, m = values.shape
    return channel(np.full((n, m), 1 / m), secrets=secrets, outputs=answers)


@dataclass(frozen=True, eq=False)
class _Mechanisms:
    """Variables: the channel's entries, row by row; ``u`` for pairs and answers; ``t``."""

    loss: Floats
    weight: Floats
    shell: Channel
    upper: Any
    sums: Any

    @classmethod
    def of(
        cls,
        loss: ArrayLike,
        prior: Any,
        epsilon: float | None,
        distance: ArrayLike | None,
        secrets: Sequence[str] | None,
        answers: Sequence[str] | None,
    ) -> _Mechanisms:
        values = _losses(loss)
        n, m = values.shape
        if n * n * m / 2 > MOST_VARIABLES:
            raise TooLargeError(
                f"{n} secrets and {m} answers make a program of {n * n * m // 2:,} variables, at "
                f"most {MOST_VARIABLES:,} are solved; take fewer answers, or coarser secrets"
            )
        shell = _shell(values, secrets, answers)
        weight = (prior_for(shell, prior)[:, None] * values).ravel()
        first, second = np.triu_indices(n, 1)
        parts = [_overlaps(first, second, n, m)]
        if epsilon is not None:
            parts.append(_near(non_negative("epsilon", epsilon), _distances(distance, n), n, m))
        elif distance is not None:
            raise InputError("`distance` is that of an `epsilon`: give both, or neither")
        size = n * m + first.size * m + 1
        sums = sparse.csr_array(
            (np.ones(n * m), (np.repeat(np.arange(n), m), np.arange(n * m))), shape=(n, size)
        )
        return cls(values, weight, shell, sparse.vstack(parts, format="csr"), sums)

    def most_secure(self, most_loss: float) -> Design:
        """Maximise ``t`` within a loss."""
        size = self.sums.shape[1]
        cost = np.zeros(size)
        cost[-1] = -1.0
        rest = np.zeros(size - self.weight.size)
        row = sparse.csr_array(np.concatenate([self.weight, rest])[None])
        made, limit = self._solve(cost, row, most_loss)
        return Design(made, beta_star(made).value, self._loss_of(made), -limit, "beta_star")

    def least_loss(self, security: float) -> Design:
        """Minimise the loss with ``t`` at least so much."""
        size = self.sums.shape[1]
        cost = np.concatenate([self.weight, np.zeros(size - self.weight.size)])
        row = sparse.csr_array((np.array([-1.0]), ([0], [size - 1])), shape=(1, size))
        made, limit = self._solve(cost, row, -security)
        return Design(made, beta_star(made).value, self._loss_of(made), limit, "loss")

    def _loss_of(self, made: Channel) -> float:
        return float(self.weight @ made.dense.ravel())

    def _solve(self, cost: Floats, row: Any, limit: float) -> tuple[Channel, float]:
        """Return the mechanism, and what no feasible point falls below (weak duality)."""
        upper = sparse.vstack([self.upper, row], format="csr")
        most = np.zeros(upper.shape[0])
        most[-1] = limit
        n, m = self.loss.shape
        solve: Any = optimize.linprog
        found = solve(
            cost, A_ub=upper, b_ub=most, A_eq=self.sums, b_eq=np.ones(n), bounds=(0, 1),
            method="highs",
        )  # fmt: skip
        if not found.success:
            raise NarcissusError(f"the linear program was not solved: {found.message}")
        prices = np.minimum(np.asarray(found.ineqlin.marginals), 0.0)
        sums = np.asarray(found.eqlin.marginals)
        left = cost - upper.T @ prices - self.sums.T @ sums
        bound = float(prices @ most + sums.sum() + np.minimum(left, 0.0).sum())
        if found.fun - bound > WITHIN:
            raise NarcissusError("the linear program was not solved to its tolerance")
        entries = np.maximum(found.x[: n * m].reshape(n, m), 0.0)
        entries /= entries.sum(axis=1, keepdims=True)
        return channel(entries, secrets=self.shell.secrets, outputs=self.shell.outputs), bound


def _overlaps(first: NDArray[np.intp], second: NDArray[np.intp], n: int, m: int) -> Any:
    """``u_abo <= C_ao``, ``u_abo <= C_bo`` and ``t <= sum_o u_abo`` for all pairs."""
    pairs = first.size
    start, size = n * m, n * m + pairs * m + 1
    each = np.arange(pairs * m)
    rows, columns, entries = [], [], []
    for number, side in enumerate((first, second)):
        place = np.repeat(side, m) * m + np.tile(np.arange(m), pairs)
        rows += [number * pairs * m + each] * 2
        columns += [start + each, place]
        entries += [np.ones(pairs * m), -np.ones(pairs * m)]
    below = 2 * pairs * m
    rows += [below + np.repeat(np.arange(pairs), m), below + np.arange(pairs)]
    columns += [start + each, np.full(pairs, size - 1)]
    entries += [-np.ones(pairs * m), np.ones(pairs)]
    return sparse.csr_array(
        (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))),
        shape=(below + pairs, size),
    )


def _distances(distance: ArrayLike | None, n: int) -> Floats:
    values = np.ones((n, n)) if distance is None else np.asarray(distance, dtype=np.float64)
    if values.shape != (n, n) or not np.isfinite(values).all() or (values < 0).any():
        raise InputError(f"`distance` must be {n} x {n} numbers of at least 0")
    return values


def _near(epsilon: float, distance: Floats, n: int, m: int) -> Any:
    """``C_ao <= e^(epsilon d_ab) C_bo`` for all ordered pairs and answers."""
    a, b = (side.ravel() for side in np.indices((n, n)))
    keep = a != b
    a, b = a[keep], b[keep]
    each, answers = np.arange(a.size * m), np.tile(np.arange(m), a.size)
    grow = np.exp(np.minimum(epsilon * distance[a, b], 700.0))
    rows = np.concatenate([each, each])
    columns = np.concatenate([np.repeat(a, m) * m + answers, np.repeat(b, m) * m + answers])
    scale = np.repeat(1 / grow, m)  # divided by the factor: entries of at most 1
    entries = np.concatenate([scale, -np.ones(each.size)])
    size = n * m + n * (n - 1) // 2 * m + 1
    return sparse.csr_array((entries, (rows, columns)), shape=(each.size, size))
