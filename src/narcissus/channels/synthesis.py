"""Least leaky mechanisms at a given loss, best answers, and losses that Bayes security limits.

Leakage is Bayes security, the vulnerability of a gain, or information in bits. Mechanisms are
designed by linear programs over all that say one of the answers for each secret, with a local
epsilon or a metric's distances kept if wished; those of least information by iteration. The risk of
a loss with the output is at least a share of the risk without it: the sum of the smallest entry of
each column for every loss and prior, ``beta*`` itself for the families here.
Source: Narcissus theory 6.5, 6.6, 6.13; Chatzikokolakis et al. 2017 (optimal remapping); Blahut
1972 and Berger 1971 (least information, and its lower limit).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from narcissus._arrays import Floats, first_largest
from narcissus._validation import between, integer, non_negative
from narcissus.channels.bayes_security import beta_star
from narcissus.channels.channel import Channel, Matrix, ProvedResult, channel, prior_for
from narcissus.channels.from_guarantees import SecurityBound
from narcissus.channels.measures import (
    MOST_STEPS,
    distances,
    g_vulnerability,
    guess_table,
    l_risk,
    least_cost,
    shannon_leakage,
)
from narcissus.errors import InputError, NarcissusError, TooLargeError

if TYPE_CHECKING:
    from narcissus.channels.channel import ChannelLike, PriorLike

MOST_VARIABLES = 40_000
"""Largest program: secrets squared times answers, halved; it takes some half a minute."""
WITHIN = 1e-6
"""How far the certified limit may lie from the mechanism's own value, else the program failed."""


Measure = Literal["beta_star", "vulnerability", "information", "loss"]
NAMES: dict[Measure, str] = {
    "beta_star": "Bayes security",
    "vulnerability": "vulnerability",
    "information": "information in bits",
    "loss": "loss",
}


@dataclass(frozen=True)
class Design(ProvedResult):
    """A mechanism, with what it guarantees and what it costs."""

    channel: Channel  # The mechanism: a row a secret, a column an answer
    beta_star: float  # Its Bayes security, computed from it
    loss: float
    # What was asked for: of largest Bayes security, what no mechanism at that loss exceeds; of
    # the others, what no mechanism falls below that meets the limits. By the program's
    # multipliers, whatever the solver's tolerance.
    limit: float
    wanted: Measure  # What was optimised
    # The measure that was optimised or limited beside the loss, of this mechanism, if it is
    # neither of the two above; None otherwise
    leakage: float | None = None

    def __str__(self) -> str:
        direction = "at most" if self.wanted == "beta_star" else "at least"
        name = NAMES[self.wanted]
        leaks = "" if self.leakage is None else f", {self.measured} {self.leakage:.6g}"
        return (
            f"A mechanism with Bayes security {self.beta_star:.6g}{leaks} and expected loss "
            f"{self.loss:.6g}\n  no other does better: {name} {direction} {self.limit:.6g}"
        )

    @property
    def measured(self) -> str:
        """The name of what `leakage` is, in words."""
        return NAMES["information" if self.wanted == "information" else "vulnerability"]


def most_secure(
    loss: ArrayLike,
    most_loss: float,
    *,
    prior: PriorLike | None = None,
    epsilon: float | None = None,
    distance: ArrayLike | None = None,
    secrets: Sequence[str] | None = None,
    answers: Sequence[str] | None = None,
    most_at_once: float = math.inf,
) -> Design:
    """Find the mechanism with the largest ``beta*`` whose expected loss is at most ``most_loss``.

    loss: Of each answer for each secret, at least 0, shape (secrets, answers).
    epsilon: No answer becomes likelier by more than ``e^(epsilon distance)`` from secret to secret.
    distance: Of secrets, for that, shape (secrets, secrets); all 1 if left out (local DP).
    most_at_once: No answer is ever given for a secret at a larger loss than this.

    Without an epsilon the optimum's is usually infinite. Source: Narcissus theory 6.5.

    >>> found = most_secure(1 - np.eye(3), 0.4)  # say anything at loss 2/3, the truth at 0
    >>> round(found.beta_star, 6)
    0.6
    """
    program = _Mechanisms(loss, prior, epsilon, distance, secrets, answers, most_at_once)
    return program.within(non_negative("most_loss", most_loss))


def least_loss(
    loss: ArrayLike,
    beta_star: float = 0.0,
    *,
    vulnerability: float | None = None,
    gain: ArrayLike | None = None,
    prior: PriorLike | None = None,
    epsilon: float | None = None,
    distance: ArrayLike | None = None,
    secrets: Sequence[str] | None = None,
    answers: Sequence[str] | None = None,
    most_at_once: float = math.inf,
) -> Design:
    """Find the mechanism with the least expected loss whose ``beta*`` is at least ``beta_star``.

    vulnerability: Of the gain, at most; in place of ``beta_star``.

    Other parameters are those of `most_secure` and `least_vulnerable`.

    Source: Narcissus theory 6.5.

    >>> round(least_loss(1 - np.eye(3), 0.6).loss, 6)
    0.4
    """
    wanted = between("beta_star", beta_star, 0, 1)
    how = (prior, epsilon, distance, secrets, answers, most_at_once)
    if vulnerability is None:
        if gain is not None:
            raise InputError("`gain` is that of a `vulnerability`: give both, or neither")
        return _Mechanisms(loss, *how).least_loss(-wanted)
    if wanted:
        raise InputError("`vulnerability` and `beta_star` exclude each other; give one")
    program = _Mechanisms(loss, *how, gain=_gain(gain, loss))
    design = program.least_leaky(program.dearest)
    if vulnerability < design.limit:
        raise InputError(
            f"`vulnerability` is {vulnerability:g}, and that of no mechanism is below "
            f"{design.limit:.6g}"
        )
    return program.least_loss(vulnerability)


def least_vulnerable(
    loss: ArrayLike,
    most_loss: float = math.inf,
    *,
    gain: ArrayLike | None = None,
    prior: PriorLike | None = None,
    epsilon: float | None = None,
    distance: ArrayLike | None = None,
    secrets: Sequence[str] | None = None,
    answers: Sequence[str] | None = None,
    most_at_once: float = math.inf,
) -> Design:
    """Find the mechanism of the least vulnerability whose expected loss is at most ``most_loss``.

    gain: Of the attacker's guesses, finite, shape (guesses, secrets); by default 1 for the secret
        itself (Bayes vulnerability, one minus the Bayes risk). For an attacker's loss, its
        negative: the largest risk.

    Other parameters are those of `most_secure`. Source: Narcissus theory 6.5.

    >>> found = least_vulnerable(1 - np.eye(3), 0.4)
    >>> round(found.leakage, 6)
    0.6
    """
    how = (prior, epsilon, distance, secrets, answers, most_at_once)
    program = _Mechanisms(loss, *how, gain=_gain(gain, loss))
    return program.within(non_negative("most_loss", most_loss, allow_infinite=True))


def least_informative(
    loss: ArrayLike,
    most_loss: float,
    *,
    prior: PriorLike | None = None,
    secrets: Sequence[str] | None = None,
    answers: Sequence[str] | None = None,
) -> Design:
    """Find the mechanism that tells the fewest bits at an expected loss of at most ``most_loss``.

    Parameters are those of `most_secure`. It is the rate-distortion problem: Blahut's iteration
    gives the mechanism, Berger's theorem a lower limit for all others; `NarcissusError` where the
    two are apart by more than a millionth of a bit.

    >>> found = least_informative(1 - np.eye(2), 0.25)
    >>> round(found.leakage, 6)  # 1 - h(1/4)
    0.188722
    """
    values = _losses(loss)
    shell = _shell(values, secrets, answers)
    weights = prior_for(shell, prior)
    wanted = non_negative("most_loss", most_loss)
    lowest_loss = float(weights @ values.min(axis=1))
    if wanted < lowest_loss:
        raise InputError(
            f"`most_loss` is {wanted:g}, and no mechanism has a loss below {lowest_loss:.6g}"
        )
    made, limit = _least_information(values, weights, wanted)
    mechanism = channel(made, secrets=shell.secrets, outputs=shell.outputs)
    leakage = shannon_leakage(mechanism, weights)
    if leakage - limit > WITHIN:
        raise NarcissusError("the iteration did not reach its tolerance; take a larger loss")
    cost = float(weights @ (made * values).sum(axis=1))
    return Design(mechanism, beta_star(mechanism).value, cost, limit, "information", leakage)


def trade_off(
    loss: ArrayLike,
    points: int = 21,
    *,
    prior: PriorLike | None = None,
    epsilon: float | None = None,
) -> tuple[Floats, Floats]:
    """Return the largest ``beta*`` at evenly spaced losses, from the least one to that of nothing.

    loss, prior, epsilon: As in `most_secure`.
    points: How many, at least 2.

    Both have shape (points,); the second is concave in the first.
    """
    program = _Mechanisms(loss, prior, epsilon)
    count = integer("points", points, low=2)
    lowest_loss = program.least_loss().loss
    losses = np.linspace(lowest_loss, max(lowest_loss, loss_of_nothing(loss, prior)), count)
    # the least loss itself is met within the solver's tolerance only
    designs = [program.least_leaky(max(float(point), lowest_loss + WITHIN)) for point in losses]
    return losses, np.array([point.beta_star for point in designs])


def loss_of_nothing(loss: ArrayLike, prior: PriorLike | None = None) -> float:
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


def _gain(gain: ArrayLike | None, loss: ArrayLike) -> Floats:
    secrets = len(_losses(loss))
    return np.eye(secrets) if gain is None else guess_table("gain", gain, secrets)


class _Mechanisms:
    """Variables: the channel's entries, row by row, and those of the measure of leakage.

    These are ``u`` for pairs and answers and ``t`` of Bayes security, or the gain of each answer.
    """

    def __init__(
        self,
        loss: ArrayLike,
        prior: PriorLike | None,
        epsilon: float | None = None,
        distance: ArrayLike | None = None,
        secrets: Sequence[str] | None = None,
        answers: Sequence[str] | None = None,
        most_at_once: float = math.inf,
        *,
        gain: Floats | None = None,
    ) -> None:
        values = _losses(loss)
        n, m = values.shape
        if n * n * m / 2 > MOST_VARIABLES:
            raise TooLargeError(
                f"{n} secrets and {m} answers make a program of {n * n * m // 2:,} variables, at "
                f"most {MOST_VARIABLES:,} are solved; take fewer answers, or coarser secrets"
            )
        self.shell, self.gain = _shell(values, secrets, answers), gain
        self.prior = prior_for(self.shell, prior)
        self.weight: Floats = (self.prior[:, None] * values).ravel()
        first, second = np.triu_indices(n, 1)
        added = first.size * m + 1 if gain is None else m
        size = n * m + added
        self.leak = np.zeros(size)  # what is least where least leaks, as a row over all variables
        self.scale, self.most_leak = 1.0, 0.0
        low = np.zeros(size)
        if gain is None:
            self.leak[-1] = -1.0
            parts = [_overlaps(first, second, n, m)]
        else:
            self.scale = max(float(np.abs(gain).max()), 1e-300)
            self.leak[n * m :] = self.most_leak = self.scale
            low[n * m :] = -1.0
            # sum_s pi_s g_ws C_so <= v_o
            over = sparse.kron(
                sparse.csr_array(self.prior * gain / self.scale), sparse.eye_array(m)
            )
            taken = sparse.kron(np.ones((len(gain), 1)), sparse.eye_array(m))
            parts = [sparse.hstack([over, -taken], format="csr")]
        if epsilon is not None:
            far = np.ones((n, n)) if distance is None else distances(distance, n)
            parts.append(_near(non_negative("epsilon", epsilon), far, (n, m), size))
        elif distance is not None:
            raise InputError("`distance` is that of an `epsilon`: give both, or neither")
        self.upper = sparse.vstack(parts, format="csr")
        allowed = values <= non_negative("most_at_once", most_at_once, allow_infinite=True)
        if not allowed.any(axis=1).all():
            name = self.shell.secrets[int(allowed.any(axis=1).argmin())]
            raise InputError(f"`most_at_once` is {most_at_once:g}: no answer is left for {name!r}")
        high = np.concatenate([allowed.ravel().astype(np.float64), np.ones(added)])
        self.bounds = np.column_stack([low, high])
        self.sums = sparse.csr_array(
            (np.ones(n * m), (np.repeat(np.arange(n), m), np.arange(n * m))), shape=(n, size)
        )
        self.loss = np.concatenate([self.weight, np.zeros(added)])
        self.dearest = float(values.max())

    def within(self, most_loss: float) -> Design:
        """Return the least leaky one within a loss; refuse a loss that none has."""
        base = self.least_loss()
        if most_loss < base.limit:
            raise InputError(
                f"`most_loss` is {most_loss:g}, and no mechanism has a loss below {base.limit:.6g}"
            )
        return self.least_leaky(min(most_loss, self.dearest))

    def least_leaky(self, most_loss: float) -> Design:
        """Minimise what leaks within a loss."""
        made, limit = self._solve(self.leak, self.loss, most_loss)
        wanted: Measure = "beta_star" if self.gain is None else "vulnerability"
        return self._design(made, -limit if self.gain is None else limit, wanted)

    def least_loss(self, most_leak: float | None = None) -> Design:
        """Minimise the loss with at most so much leakage, minus ``t`` or the vulnerability."""
        leak_limit = self.most_leak if most_leak is None else most_leak
        made, limit = self._solve(self.loss, self.leak, leak_limit)
        return self._design(made, limit, "loss")

    def _design(self, made: Channel, limit: float, wanted: Measure) -> Design:
        loss = float(self.weight @ made.dense.ravel())
        leaks = None if self.gain is None else g_vulnerability(made, self.gain, self.prior)
        return Design(made, beta_star(made).value, loss, limit, wanted, leaks)

    def _solve(self, cost: Floats, row: Floats, limit: float) -> tuple[Channel, float]:
        """Return the mechanism, and what no feasible point falls below (weak duality)."""
        upper = sparse.vstack([self.upper, sparse.csr_array(row[None])], format="csr")
        upper_limits = np.zeros(upper.shape[0])
        upper_limits[-1] = limit
        n, m = self.shell.shape
        solution = least_cost(
            cost, A_ub=upper, b_ub=upper_limits, A_eq=self.sums, b_eq=np.ones(n), bounds=self.bounds
        )
        prices = np.minimum(np.asarray(solution.ineqlin.marginals), 0.0)
        sums = np.asarray(solution.eqlin.marginals)
        left = cost - upper.T @ prices - self.sums.T @ sums
        bound = float(
            prices @ upper_limits + sums.sum() + (left[:, None] * self.bounds).min(axis=1).sum()
        )
        if solution.fun - bound > WITHIN * max(1.0, self.scale):
            raise NarcissusError("the linear program was not solved to its tolerance")
        entries = np.maximum(solution.x[: n * m].reshape(n, m), 0.0)
        entries /= entries.sum(axis=1, keepdims=True)
        return channel(entries, secrets=self.shell.secrets, outputs=self.shell.outputs), bound


def _least_information(values: Floats, prior: Floats, most: float) -> tuple[Floats, float]:
    """Return the channel that tells least at a loss, and a lower limit of that in bits.

    Each price of the loss has a channel; those of the prices around the loss are mixed.
    """

    def cost(made: Floats) -> float:
        return float(prior @ (made * values).sum(axis=1))

    above, price, best = np.zeros(values.shape), 1.0 / float(values.max()), 0.0
    above[:, int((prior @ values).argmin())] = 1.0  # says nothing
    if cost(above) <= most:
        return above, 0.0
    below, low, high = above, 0.0, math.inf
    law = np.full(values.shape[1], 1 / values.shape[1])
    while True:
        made, law, limit = _at_price(values, prior, price, most, law)
        best = max(best, limit)
        if cost(made) > most:
            above, low = made, price
        else:
            below, high = made, price
        share = (cost(above) - most) / max(cost(above) - cost(below), 1e-300)
        mixed = min(1.0, share) * below + (1 - min(1.0, share)) * above
        leakage = 0.0 if math.isinf(high) else shannon_leakage(mixed, prior)
        if (
            low >= (1 - 1e-13) * high
            or price * values.max() > 1e7
            or 0 < leakage < best + WITHIN / 2
        ):
            return mixed, best
        price = 2 * low if math.isinf(high) else (low + high) / 2


def _at_price(
    values: Floats, prior: Floats, price: float, most: float, law: Floats
) -> tuple[Floats, Floats, float]:
    """Return the channel of least ``bits + price loss``, its law of answers, and Berger's limit.

    law: To start from, of all answers.
    """
    lowest_losses = values.min(axis=1)
    kernel = np.exp(-price * (values - lowest_losses[:, None]))
    law, step = 0.999 * law + 0.001 / law.size, 1.0
    spent, known = price * (most - float(prior @ lowest_losses)), -math.inf
    for _ in range(MOST_STEPS):
        likely = kernel @ law
        grow = (prior / likely) @ kernel
        log_likelihood = float(prior @ np.log(likely))
        step = min(step * 1.2, 50.0) if log_likelihood > known else 1.0
        known, excess = log_likelihood, math.log(float(grow.max()))
        if excess <= WITHIN / 5:
            break
        law = law * grow**step
        law /= law.sum()
    likely = kernel @ law
    excess = math.log(float(((prior / likely) @ kernel).max()))
    limit = (-float(prior @ np.log(likely)) - spent - excess) / math.log(2)
    return law * kernel / likely[:, None], law, limit


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


def _near(epsilon: float, distance: Floats, shape: tuple[int, int], size: int) -> Any:
    """``C_ao <= e^(epsilon d_ab) C_bo`` for all ordered pairs and answers."""
    n, m = shape
    a, b = np.nonzero(~np.eye(n, dtype=bool))
    each, answers = np.arange(a.size * m), np.tile(np.arange(m), a.size)
    grow = np.exp(np.minimum(epsilon * distance[a, b], 700.0))
    rows = np.concatenate([each, each])
    columns = np.concatenate([np.repeat(a, m) * m + answers, np.repeat(b, m) * m + answers])
    scale = np.repeat(1 / grow, m)  # divided by the factor: entries of at most 1
    entries = np.concatenate([scale, -np.ones(each.size)])
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
    matrix: ChannelLike,
    loss: ArrayLike,
    prior: PriorLike | None = None,
    *,
    answers: list[str] | None = None,
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
    largest_losses = values.max(axis=0)
    if ((largest_losses - values).sum(axis=0) <= largest_losses).all():
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


def l_beta_bound(matrix: ChannelLike, loss: ArrayLike | None = None) -> SecurityBound:
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
            for_all,
            "beta_l, for every prior and loss",
            "Narcissus theory 6.13",
            ("the loss is at least 0",),
            tight=True,
        )
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


def least_l_beta(
    loss: ArrayLike, beta_star: float, prior: PriorLike | None = None
) -> SecurityBound:
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
    design = least_loss(values.T, wanted, prior=prior)
    return SecurityBound(
        min(1.0, max(0.0, design.limit / before)),
        "beta_l for this prior and loss",
        "Narcissus theory 6.13, by linear programming",
        (f"beta* is at least {wanted:g}",),
        tight=True,
    )
