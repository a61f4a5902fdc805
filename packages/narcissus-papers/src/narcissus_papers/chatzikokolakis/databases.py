"""Section V-D of Chatzikokolakis et al. 2023: differential privacy of databases."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy import optimize, sparse

from narcissus import channels as ch
from narcissus_papers.base import Given, Reproduced, Statements, checked, claims
from narcissus_papers.chatzikokolakis.cases import (
    CHANNEL,
    ROOM,
    WITH_PRIOR,
    Matrix,
    channels,
    priors,
    proved,
    systems,
)
from narcissus_papers.chatzikokolakis.local_privacy import EPSILONS, LOOSE, ldp_rows

BOUND = "narcissus bound --epsilon 1 --prior 0.5 --success exact"


def most_capacity(records: int, values: int, epsilon: float) -> float:
    """Compute the largest capacity of an epsilon-DP mechanism on databases, by a linear program.

    Outputs that the same database makes likeliest can be merged without loss, so one output for
    each database is enough; the capacity is then the sum of the diagonal.
    """
    bases = list(itertools.product(range(values), repeat=records))
    n, ratio = len(bases), math.exp(epsilon)
    near = [
        (i, j)
        for i, a in enumerate(bases)
        for j, b in enumerate(bases)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    ]
    below = sparse.lil_array((len(near) * n, n * n))
    for place, ((i, j), o) in enumerate(itertools.product(near, range(n))):
        below[place, i * n + o], below[place, j * n + o] = 1.0, -ratio
    sums: Any = sparse.kron(sparse.eye_array(n), np.ones((1, n)))
    limits: Any = sparse.csr_array(below)
    gain = -np.eye(n).ravel()
    found = optimize.linprog(gain, limits, np.zeros(len(near) * n), sums, np.ones(n))
    assert found.fun is not None
    return -float(found.fun)


def whole(records: int, values: int, epsilon: float) -> Matrix:
    """Return randomized response on each record, as a channel of whole databases."""
    one = ch.KaryRandomizedResponse(values, epsilon).channel().dense
    made = one
    for _ in range(records - 1):
        made = np.asarray(np.kron(made, one), dtype=np.float64)
    return made


DATABASES = Statements("002", 0.2, CHANNEL)


@DATABASES("Equation 4", "beta from the leakage and the prior.", WITH_PRIOR)
def equation_4(_given: Given) -> Reproduced:
    apart = [
        abs(
            ch.beta(rows, prior)
            - (1 - prior.max() * ch.multiplicative_leakage(rows, prior)) / (1 - prior.max())
        )
        for rows, prior in systems()
    ]
    return claims(
        proved(
            "beta is (1 - top leakage) / (1 - top), top the largest mass of the prior: "
            f"{len(apart)} priors",
            max(apart) <= 1e-10,
        ),
    )


SIZES = ((1, 2), (1, 4), (2, 2), (2, 3), (3, 2))
"""Numbers of records, and of values of each, of the databases that are written out."""


@DATABASES("Theorem 6", "epsilon-DP limits the leakage of whole databases.", WITH_PRIOR)
def theorem_6(_given: Given) -> Reproduced:
    programs, reached = [], []
    for (n, v), epsilon in itertools.product(SIZES, (0.5, 1.5)):
        limit = ch.database_capacity(epsilon, n, v).value
        programs.append(abs(most_capacity(n, v, epsilon) - limit) <= LOOSE * limit)
        leakage = ch.multiplicative_leakage(whole(n, v, epsilon))
        reached.append(abs(leakage - limit) <= 1e-10 * limit)
    sizes = "1 to 3 records of 2 to 4 values, epsilon .5 and 1.5"
    return claims(
        proved(
            "epsilon-DP limits the leakage by (v e^epsilon / (v - 1 + e^epsilon))^n; linear "
            f"programs over all mechanisms find this limit: {sizes}",
            all(programs),
        ),
        proved(
            f"randomized response of each record reaches it at the uniform prior: {sizes}",
            all(reached),
        ),
    )


@DATABASES("Corollary 1", "epsilon-DP limits beta of whole databases.", WITH_PRIOR)
def corollary_1(_given: Given) -> Reproduced:
    holds, reached = [], []
    for (n, v), epsilon in itertools.product(SIZES, (0.5, 1.5)):
        rows = whole(n, v, epsilon)
        bound = ch.from_database_dp(epsilon, n, v, prior="uniform").value
        reached.append(abs(ch.beta(rows) - bound) <= 1e-10)
        for prior in priors(len(rows)):
            found = ch.from_database_dp(epsilon, n, v, prior=float(prior.max()))
            holds.append(ch.beta(rows, prior) >= found.value - ROOM)
    return Reproduced(
        held=(
            proved(
                "epsilon-DP limits beta of whole databases from below, by the largest mass of the "
                f"prior: {len(holds)} priors",
                all(holds),
            ),
            proved(
                "randomized response of each record reaches it at the uniform prior: "
                f"{len(reached)} sizes",
                all(reached),
            ),
        ),
        notes=("For beta* itself another limit says more: Narcissus theory 6.1.",),
    )


@DATABASES(
    "Corollary 2", "epsilon-DP gives beta of at least 2 / (1 + e^epsilon) for neighbours.", BOUND
)
def corollary_2(_given: Given) -> Reproduced:
    holds = [
        ch.beta(rows, prior) >= ch.from_local_dp(ch.local_dp_epsilon(rows)).value - ROOM
        for rows in channels(40, secrets=2)
        if math.isfinite(ch.local_dp_epsilon(rows))
        for prior in priors(2)
    ]
    programs = [abs(ldp_rows(3, e) - ch.from_local_dp(e).value) <= LOOSE for e in EPSILONS]
    reached = [
        abs(ch.KaryRandomizedResponse(2, e).beta_star - ch.from_local_dp(e).value) <= ROOM
        for e in EPSILONS
    ]
    return claims(
        proved(
            "of two neighbouring databases beta is at least 2 / (1 + e^epsilon) for every "
            f"prior: {len(holds)} priors and channels",
            all(holds),
        ),
        checked(
            "no epsilon-DP mechanism with three outputs is below it (linear programs), at "
            "epsilon .1, .5, 1, 2, 4",
            all(programs),
        ),
        proved("randomized response reaches it, at the same", all(reached)),
    )


@DATABASES("Equation 6", "So beta is at least 2 - e^epsilon.", BOUND)
@DATABASES("Equation 5", "Yeom et al.: the advantage is at most e^epsilon - 1.", BOUND)
def yeom(_given: Given) -> Reproduced:
    grid = np.linspace(0.0, 5.0, 101)
    ours = np.array([1 - ldp_rows(2, float(e)) for e in EPSILONS])
    by_yeom = np.array([ch.yeom_bound(float(e)).value for e in grid])
    sharp = np.array([ch.from_local_dp(float(e)).value for e in grid])
    return claims(
        proved(
            "the advantage is at most e^epsilon - 1 (Equation 5): the largest of all "
            "mechanisms with two outputs, by linear programs, is below",
            bool((ours <= np.expm1(EPSILONS) + LOOSE).all()),
        ),
        proved(
            "so beta is at least 2 - e^epsilon (Equation 6), and never better than Corollary 2",
            bool((by_yeom <= sharp + ROOM).all())
            and np.allclose(by_yeom, np.maximum(0.0, 2 - np.exp(grid)), atol=ROOM),
        ),
    )


@DATABASES("section V-D", "The advantage is at most (e^epsilon - 1) / (e^epsilon + 1).", BOUND)
def section_5d(_given: Given) -> Reproduced:
    most = [1 - ldp_rows(2, e) for e in EPSILONS]
    exact = np.tanh(np.array(EPSILONS) / 2)
    rows = [[0.999, 0.001], [1.0, 0.0]]
    return claims(
        proved(
            "the advantage is at most (e^epsilon - 1) / (e^epsilon + 1), and linear programs "
            "reach it: epsilon .1, .5, 1, 2, 4",
            np.allclose(most, exact, rtol=0, atol=LOOSE),
        ),
        checked(
            "no beta* below 1 implies an epsilon: [[.999, .001], [1, 0]] has beta* .999 and "
            "no epsilon",
            abs(ch.beta_star(rows).value - 0.999) <= ROOM and math.isinf(ch.local_dp_epsilon(rows)),
        ),
    )
