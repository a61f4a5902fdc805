"""Mechanisms of most Bayes security at a given loss, best answers, and losses that it limits.

Mechanisms are designed by linear programs over all that say one of the answers for each secret,
with a local epsilon or a metric's distances kept if wished. The risk of a loss with the output is
at least a share of the risk without it: the sum of the smallest entry of each column for every loss
and prior, ``beta*`` itself for the families here.
Source: Narcissus theory 6.5, 6.6, 6.13; Chatzikokolakis et al. 2017 (optimal remapping).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from narcissus._arrays import first_largest
from narcissus._validation import between, integer, non_negative
from narcissus.channels.bayes_security import beta_star
from narcissus.channels.channel import Channel, Matrix, ProvedResult, channel, prior_for
from narcissus.channels.from_guarantees import SecurityBound
from narcissus.channels.measures import guess_table, l_risk, least_cost
from narcissus.errors import InputError, NarcissusError, TooLargeError

Floats = NDArray[np.float64]

MOST_VARIABLES = 40_000
"""Largest program: secrets squared times answers, halved; it takes some half a minute."""
WITHIN = 1e-6
"""How far the certified limit may lie from the mechanism's own value, else the program failed."""


@dataclass(frozen=True)
class Design(ProvedResult):
    """A mechanism, with what it guarantees and what it costs."""

    channel: Channel  # The mechanism: a row a secret, a column an answer
    beta_star: float  # Its Bayes security, computed from it
    loss: float
    # What was asked for: of largest Bayes security, what no mechanism at that loss exceeds; of
    # least loss, what none with that Bayes security falls below. By the program's multipliers,
    # whatever the solver's tolerance.
    limit: float
    wanted: str  # "beta_star" or "loss": which of the two was optimised

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

    loss: Of each answer for each secret, at least 0, shape (secrets, answers).
    epsilon: No answer becomes likelier by more than ``e^(epsilon distance)`` from secret to secret.
    distance: Of secrets, for that, shape (secrets, secrets); all 1 if left out (local DP).

    Without an epsilon the optimum's is usually infinite. Source: Narcissus theory 6.5.

    >>> found = most_secure(1 - np.eye(3), 0.4)  # say anything at loss 2/3, the truth at 0
    >>> round(found.beta_star, 6)
    0.6
    """
    program = _Mechanisms(loss, prior, epsilon, distance, secrets, answers)
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

    Source: Narcissus theory 6.5.

    >>> round(least_loss(1 - np.eye(3), 0.6).loss, 6)
    0.4
    """
    wanted = between("beta_star", beta_star, 0, 1)
    return _Mechanisms(loss, prior, epsilon, distance, secrets, answers).least_loss(wanted)


def trade_off(
    loss: ArrayLike, points: int = 21, *, prior: Any = None, epsilon: float | None = None
) -> tuple[Floats, Floats]:
    """Return the largest ``beta*`` at evenly spaced losses, from the least one to that of nothing.

    loss, prior, epsilon: As in `most_secure`.
    points: How many, at least 2.

    Both have shape (points,); the second is concave in the first.
    """
    program = _Mechanisms(loss, prior, epsilon)
    count = integer("points", points, low=2)
    least = program.least_loss(0.0).loss
    losses = np.linspace(least, max(least, loss_of_nothing(loss, prior)), count)
    # the least loss itself is met within the solver's tolerance only
    found = [program.most_secure(max(float(one), least + WITHIN)) for one in losses]
    return losses, np.array([one.beta_star for one in found])


def loss_of_nothing(loss: ArrayLike, prior: Any = None) -> float:
    """Return the least expected loss of an answer that says nothing, ``L0``.

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


class _Mechanisms:
    """Variables: the channel's entries, row by row; ``u`` for pairs and answers; ``t``."""

    def __init__(
        self,
        loss: ArrayLike,
        prior: Any,
        epsilon: float | None = None,
        distance: ArrayLike | None = None,
        secrets: Sequence[str] | None = None,
        answers: Sequence[str] | None = None,
    ) -> None:
        values = _losses(loss)
        n, m = values.shape
        if n * n * m / 2 > MOST_VARIABLES:
            raise TooLargeError(
                f"{n} secrets and {m} answers make a program of {n * n * m // 2:,} variables, at "
                f"most {MOST_VARIABLES:,} are solved; take fewer answers, or coarser secrets"
            )
        self.shell = _shell(values, secrets, answers)
        self.weight: Floats = (prior_for(self.shell, prior)[:, None] * values).ravel()
        first, second = np.triu_indices(n, 1)
        parts = [_overlaps(first, second, n, m)]
        if epsilon is not None:
            parts.append(_near(non_negative("epsilon", epsilon), _distances(distance, n), n, m))
        elif distance is not None:
            raise InputError("`distance` is that of an `epsilon`: give both, or neither")
        self.upper = sparse.vstack(parts, format="csr")
        size = n * m + first.size * m + 1
        self.sums = sparse.csr_array(
            (np.ones(n * m), (np.repeat(np.arange(n), m), np.arange(n * m))), shape=(n, size)
        )
        # The loss and ``t``, as rows over all variables.
        self.loss = np.concatenate([self.weight, np.zeros(size - self.weight.size)])
        self.security = np.append(np.zeros(size - 1), 1.0)

    def most_secure(self, most_loss: float) -> Design:
        """Maximise ``t`` within a loss."""
        made, limit = self._solve(-self.security, self.loss, most_loss)
        return self._design(made, -limit, "beta_star")

    def least_loss(self, security: float) -> Design:
        """Minimise the loss with ``t`` at least so much."""
        made, limit = self._solve(self.loss, -self.security, -security)
        return self._design(made, limit, "loss")

    def _design(self, made: Channel, limit: float, wanted: str) -> Design:
        loss = float(self.weight @ made.dense.ravel())
        return Design(made, beta_star(made).value, loss, limit, wanted)

    def _solve(self, cost: Floats, row: Floats, limit: float) -> tuple[Channel, float]:
        """Return the mechanism, and what no feasible point falls below (weak duality)."""
        upper = sparse.vstack([self.upper, sparse.csr_array(row[None])], format="csr")
        most = np.zeros(upper.shape[0])
        most[-1] = limit
        n, m = self.shell.shape
        found = least_cost(
            cost, A_ub=upper, b_ub=most, A_eq=self.sums, b_eq=np.ones(n), bounds=(0, 1)
        )
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
    a, b = np.nonzero(~np.eye(n, dtype=bool))
    each, answers = np.arange(a.size * m), np.tile(np.arange(m), a.size)
    grow = np.exp(np.minimum(epsilon * distance[a, b], 700.0))
    rows = np.concatenate([each, each])
    columns = np.concatenate([np.repeat(a, m) * m + answers, np.repeat(b, m) * m + answers])
    scale = np.repeat(1 / grow, m)  # divided by the factor: entries of at most 1
    entries = np.concatenate([scale, -np.ones(each.size)])
    size = n * m + n * (n - 1) // 2 * m + 1
    return sparse.csr_array((entries, (rows, columns)), shape=(each.size, size))


@dataclass(frozen=True, eq=False)
class Remapped(ProvedResult):
    """A channel whose outputs are turned into answers."""

    channel: Channel  # A row a secret, a column an answer that is given
    by: Channel  # The answer to each output: a channel without coins
    loss: float  # Expected loss, the least of all post-processings

    def __str__(self) -> str:
        return f"Expected loss {self.loss:.6g}, and no answers made of these outputs cost less"


def remap(
    matrix: Any, loss: ArrayLike, prior: Any = None, *, answers: list[str] | None = None
) -> Remapped:
    """Turn each output into the answer with the least expected loss given it.

    Post-processing: the result tells nobody more than the channel does.

    loss: Of each answer for each secret, shape (secrets, answers), as `most_secure` takes it.

    Of answers that cost the same the first is taken. Source: Chatzikokolakis et al. 2017.

    >>> far = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    >>> round(remap([[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]], far).loss, 6)
    0.666667
    """
    c = channel(matrix)
    table = guess_table("loss", np.asarray(loss, dtype=np.float64).T, c.shape[0])
    costs = np.asarray(table @ c.scaled(prior_for(c, prior)))
    chosen = first_largest(-costs, axis=0)
    used = np.unique(chosen)
    names = [f"a{i + 1}" for i in range(len(table))] if answers is None else answers
    rows = (chosen[:, None] == used).astype(np.float64)
    by = channel(rows, secrets=c.outputs, outputs=[names[i] for i in used])
    made = channel(np.minimum(c.matrix @ by.dense, 1.0), secrets=c.secrets, outputs=by.outputs)
    return Remapped(made, by, l_risk(c, table, prior))


LossFamily = Literal["two secrets", "competing guesses", "tree", ""]
"""Losses that `beta*` limits, by the reason; "" for a loss of which nothing is known."""
ROUNDING = 1e-12
"""Share of the largest loss by which a tree's distances may differ from sums along its paths."""


def _guesses(loss: ArrayLike) -> Matrix:
    values = np.asarray(loss, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < 2:
        raise InputError(
            "`loss` must have a row per guess and a column per secret, at least two secrets; "
            f"got shape {values.shape}"
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise InputError("`loss` must be finite and at least 0")
    return values


def loss_family(loss: ArrayLike) -> LossFamily:
    """Explain why `beta*` limits the risk of a loss, or "" if no reason is known.

    loss: ``loss[w, s]`` of the guess ``w`` when the secret is ``s``, at least 0, shape (guesses,
        secrets).

    Reasons are "two secrets"; "competing guesses": for each secret, what the guesses save of the
    largest loss sums to no more than that loss (so 0-1 loss with any cost of each secret, and any
    loss with two guesses); "tree": the distance in a tree whose vertices are the guesses and the
    secrets, both in the same order (so ``|i - j|`` on a line).

    More is known than is recognised: sums of such losses whose guesses are made one by one, such
    as the number of wrong attributes. Source: Narcissus theory 6.13.

    >>> loss_family(1 - np.eye(3)), loss_family([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    ('competing guesses', 'tree')
    >>> loss_family([[1, 0, 0], [0, 1, 0], [0, 0, 1]])  # name a secret that it is not
    ''
    """
    values = _guesses(loss)
    if values.shape[1] == 2:
        return "two secrets"
    most = values.max(axis=0)
    if ((most - values).sum(axis=0) <= most).all():
        return "competing guesses"
    return "tree" if _is_tree(values) else ""


def _is_tree(values: Matrix) -> bool:
    """Return whether these are distances along the paths of the least spanning tree."""
    n = len(values)
    if values.shape != (n, n) or np.diag(values).any() or (values != values.T).any():
        return False
    if not (values + np.eye(n)).all():  # two vertices in one place
        return False
    tree = csgraph.minimum_spanning_tree(values)
    along = csgraph.shortest_path(tree, directed=False)
    return bool(np.abs(along - values).max() <= ROUNDING * values.max())


def l_beta_bound(matrix: Any, loss: ArrayLike | None = None) -> SecurityBound:
    """Limit ``beta_l(pi, C)`` from below for every prior, for one loss or for all.

    loss: As in `loss_family`; None for all losses of at least 0.

    It is ``beta*`` where the loss is of a family that this limits; else ``sum_o min_s C_so``, which
    the uniform prior reaches with the loss "name a secret that it is not".

    Source: Narcissus theory 6.13; the counterpart, for risk, of the miracle theorem of Alvim et al.
    2012, which Chatzikokolakis et al. 2023, section V-E, ask for.

    >>> rows = [[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]]
    >>> l_beta_bound(rows).value, l_beta_bound(rows, 1 - np.eye(3)).value
    (0.0, 0.5)
    """
    c = channel(matrix)
    for_all = min(1.0, math.fsum(c.column_min()))
    if loss is None:
        return SecurityBound(
            for_all, "beta_l, for every prior and loss", "Narcissus theory 6.13",
            ("the loss is at least 0",), tight=True,
        )  # fmt: skip
    values = _guesses(loss)
    if values.shape[1] != c.shape[0]:
        raise InputError(
            f"`loss` must have a column for each of the {c.shape[0]} secrets, got "
            f"{values.shape[1]} columns"
        )
    family = loss_family(values)
    if not family:
        return SecurityBound(
            for_all, "beta_l, for every prior", "Narcissus theory 6.13, for every loss"
        )
    return SecurityBound(
        min(1.0, beta_star(c).value), "beta_l, for every prior", f"Narcissus theory 6.13: {family}"
    )


def least_l_beta(loss: ArrayLike, beta_star: float, prior: Any = None) -> SecurityBound:
    """Return the least ``beta_l(pi, C)`` of all channels with such a ``beta*``, for one prior.

    Exactly, by a linear program, whatever the loss: an attacker's best guesses are a
    post-processing, which does not lower ``beta*``, so that channels whose outputs are the guesses
    are enough.

    loss: As in `loss_family`.

    Source: Narcissus theory 6.13.

    >>> exclude = np.eye(3)  # the loss of "name a secret that it is not"
    >>> least_l_beta(exclude, 0.5).value < 1e-6, round(least_l_beta(1 - exclude, 0.5).value, 6)
    (True, 0.5)
    """
    values = _guesses(loss)
    wanted = between("beta_star", beta_star, 0, 1)
    before = loss_of_nothing(values.T, prior)
    if before <= 0:
        raise InputError("the loss without the output is 0; the ratio needs it above 0")
    found = least_loss(values.T, wanted, prior=prior)
    return SecurityBound(
        min(1.0, max(0.0, found.limit / before)),
        "beta_l for this prior and loss",
        "Narcissus theory 6.13, by linear programming",
        (f"beta* is at least {wanted:g}",),
        tight=True,
    )
