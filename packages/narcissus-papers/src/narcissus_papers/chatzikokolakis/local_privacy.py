"""Section V of Chatzikokolakis et al. 2023, A to C, with appendix E: local privacy."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import optimize

from narcissus import channels as ch
from narcissus_papers.base import Given, Quote, Reproduced, Statements, checked, claims
from narcissus_papers.chatzikokolakis.cases import (
    CHANNEL,
    NAMED,
    ROOM,
    WITH_PRIOR,
    channels,
    priors,
    proved,
    systems,
)
from narcissus_papers.chatzikokolakis.figure_3 import mended, reaches

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
_PROOF = "proof of Theorem 5"
LOOSE = 1e-7
"""How far linear programs may be off."""


def ldp_rows(outputs: int, epsilon: float) -> float:
    """Minimise the overlap of two rows under epsilon-LDP over all such rows: linear programs.

    The first row is the likelier one on the first ``k`` outputs, for some ``k``.
    """
    m, ratio = outputs, math.exp(epsilon)
    one, other = np.eye(2 * m)[:m], np.eye(2 * m)[m:]
    limits = np.vstack([one - ratio * other, other - ratio * one])
    sums = np.vstack([one.sum(axis=0), other.sum(axis=0)])
    best = 1.0
    for k in range(1, m):
        gain = (one - other)[:k].sum(axis=0)
        found = optimize.linprog(-gain, limits, np.zeros(2 * m), sums, np.ones(2))
        assert found.fun is not None
        best = min(best, 1 + float(found.fun))
    return best


LOCAL_PRIVACY = Statements("002", 0.2, CHANNEL)


@LOCAL_PRIVACY("Equation 1", "For two secrets alike, beta is one minus the advantage.")
def equation_1(_given: Given) -> Reproduced:
    right: list[bool] = []
    for rows in channels(40, secrets=2):
        tests = np.array(list(itertools.product((0, 1), repeat=rows.shape[1])))
        best = float(np.abs(tests @ rows[1] - tests @ rows[0]).max())
        right.append(
            abs(ch.beta(rows) - (1 - best)) <= ROOM
            and abs(ch.beta(rows) - (1 - 2 * abs(ch.bayes_risk(rows) - 0.5))) <= ROOM
        )
    return claims(
        proved(
            "for two secrets alike beta is one minus the advantage of the best test: all "
            f"tests, {len(right)} channels from two secrets",
            all(right),
        ),
    )


@LOCAL_PRIVACY("Equation 2", "Local DP: no output is e^epsilon times likelier.")
def equation_2(_given: Given) -> Reproduced:
    right: list[bool] = []
    for rows in channels():
        worst = 0.0
        for a, b in itertools.permutations(rows, 2):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(a > 0, np.log(a) - np.log(b), -np.inf)
            worst = max(worst, float(ratio.max()))
        found = ch.local_dp_epsilon(rows)
        right.append(found == worst if math.isinf(worst) else abs(found - worst) <= ROOM)
    return claims(
        checked(
            "the epsilon that is given is the least with C_so <= e^epsilon C_to for all "
            f"secrets and outputs, none where an entry is 0 and another is not: {NAMED}",
            all(right),
        ),
    )


@LOCAL_PRIVACY("Equation 3", "Approximate local DP: but for delta.")
def equation_3(_given: Given) -> Reproduced:
    right: list[bool] = []
    for rows, epsilon in itertools.product(channels(20), (0.0, 0.5, 2.0)):
        sets = np.array(list(itertools.product((0, 1), repeat=rows.shape[1])))
        worst = max(
            float((sets @ (a - math.exp(epsilon) * b)).max())
            for a, b in itertools.permutations(rows, 2)
        )
        right.append(abs(ch.local_dp_delta(rows, epsilon) - worst) <= ROOM)
    return claims(
        checked(
            "the delta that is given is the least over all sets of outputs and pairs of "
            "secrets: 20 channels at epsilon 0, .5 and 2",
            all(right),
        ),
    )


@LOCAL_PRIVACY("section V-B", "beta is 0 where every output tells the secret.", WITH_PRIOR)
def section_5b(_given: Given) -> Reproduced:
    full = [
        (ch.beta(rows, prior) == 0) == bool(((rows > 0).sum(axis=0) <= 1).all())
        for rows, prior in [*systems(), *((np.eye(n), p) for n in (2, 3, 4) for p in priors(n))]
        if (prior > 0).all()
    ]
    told, shared = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), [[0.6, 0.4], [0.3, 0.7]]
    sparse_prior = [0.5, 0.5, 0.0]
    nearly = [1 - 1e-9, 1e-9]
    return claims(
        proved(
            "where every secret has some mass, beta is 0 exactly if no output is possible for "
            f"two secrets: {len(full)} priors",
            all(full),
        ),
        checked(
            "the same for every prior with two secrets or more (as printed)",
            (ch.beta(told, sparse_prior) == 0) == bool(((told > 0).sum(axis=0) <= 1).all()),
            "[[1, 0], [0, 1], [.5, .5]] has beta 0 at the prior (.5, .5, 0): only the secrets "
            "that have mass count",
            Quote("", "if and only if the channel contains at most one", "section V-B"),
        ),
        checked(
            "as a prior comes near a single secret, beta tends to 1 (footnote 3), for "
            "[[.6, .4], [.3, .7]]",
            ch.beta(shared, nearly) > 1 - 1e-6,
        ),
        checked(
            "the same for every channel (footnote 3)",
            ch.beta(np.eye(2), nearly) > 1 - 1e-6,
            "it tends to 1 only where that secret can give every output: for the identity it "
            "is 0 all the way",
            Quote("", "is undefined. However also", "footnote 3"),
        ),
    )


@LOCAL_PRIVACY("Theorem 5", "epsilon-LDP gives beta of at least 2 / (1 + e^epsilon).")
def theorem_5(_given: Given) -> Reproduced:
    holds: list[bool] = []
    for rows, prior in systems():
        epsilon = ch.local_dp_epsilon(rows)
        if math.isfinite(epsilon):
            holds.append(ch.beta(rows, prior) >= ch.from_local_dp(epsilon).value - ROOM)
    programs = [
        abs(ldp_rows(m, e) - ch.from_local_dp(e).value) <= LOOSE
        for m in (2, 3, 4)
        for e in EPSILONS
    ]
    reached = [
        reaches(mended(n, m, e), e) for n in (2, 3, 4, 6) for m in (2, 3, 5) for e in EPSILONS
    ]
    return Reproduced(
        held=(
            proved(
                "epsilon-LDP gives beta of at least 2 / (1 + e^epsilon) for every prior: "
                f"{len(holds)} priors and channels",
                all(holds),
            ),
            checked(
                "it is the least over all epsilon-LDP channels with 2 to 4 outputs, by linear "
                "programs, at epsilon .1, .5, 1, 2, 4",
                all(programs),
            ),
            proved(
                "for every n and m a channel reaches it: randomized response on two outputs for "
                f"two secrets, halves for the others; {len(reached)} sizes",
                all(reached),
            ),
        ),
        notes=("The examples of Figure 3 do not reach it in general: see there.",),
    )


RATIOS = [(x, y) for x in (1.0, 1.5, 2.0, 7.0) for y in (1.2, 2.0, 5.0)]
"""Of the larger to the smaller mass on either side, in the proof of Theorem 5."""
AT_RATIOS = "x = 1, 1.5, 2, 7 and y = 1.2, 2, 5"


def masses(x: float, y: float) -> tuple[float, float]:
    """Return ``a`` and ``b`` of the proof from their ratios to the other secret's masses."""
    return (x * y - x) / (x * y - 1), (x * y - y) / (x * y - 1)


@LOCAL_PRIVACY("Equation 16", "Two masses from their ratios, in the proof of Theorem 5.")
def equation_16(_given: Given) -> Reproduced:
    found = [(x, y, *masses(x, y)) for x, y in RATIOS]
    return claims(
        proved(
            f"a and b solve a = x (1 - b), b = y (1 - a): {AT_RATIOS}",
            all(
                abs(a - x * (1 - b)) <= ROOM and abs(b - y * (1 - a)) <= ROOM
                for x, y, a, b in found
            ),
        ),
    )


@LOCAL_PRIVACY("Equation 20", "The risk from these ratios, in the same proof.")
def equation_20(_given: Given) -> Reproduced:
    risks, slopes = [], []
    for x, y in RATIOS:
        a, b = masses(x, y)
        risk = ch.bayes_risk([[a, 1 - a], [1 - b, b]])
        risks.append(abs(risk - ((x + y) / 2 - 1) / (x * y - 1)) <= ROOM)
        slopes.append((-((y - 1) ** 2) / 2, -((x - 1) ** 2) / 2))
    return claims(
        proved(
            f"the Bayes risk is ((x + y) / 2 - 1) / (x y - 1), from Equation 17: {AT_RATIOS}",
            all(risks),
        ),
        checked(
            f"both its partial derivatives are negative (as printed): {AT_RATIOS}",
            all(max(slope) < 0 for slope in slopes),
            "at x = 1 that by y is 0; neither is ever positive, which is enough",
            Quote("", "we can easily see that both partial derivatives are negative", _PROOF),
        ),
    )


@LOCAL_PRIVACY("Equation 21", "The least risk of two secrets under epsilon-LDP.")
def equation_21(_given: Given) -> Reproduced:
    risks = [ch.bayes_risk(mended(2, 2, e)) for e in EPSILONS]
    program = [ldp_rows(2, e) / 2 for e in EPSILONS]
    exact = [1 / (math.exp(e) + 1) for e in EPSILONS]
    printed = [1 / (math.exp(e) - 1) for e in EPSILONS]
    return claims(
        proved(
            "the least Bayes risk of two secrets alike is 1 / (e^epsilon + 1), at epsilon .1, "
            ".5, 1, 2, 4, by linear programs as well",
            np.allclose(risks, exact, rtol=0, atol=ROOM)
            and np.allclose(program, exact, rtol=0, atol=LOOSE),
        ),
        checked(
            "it is 1 / (e^epsilon - 1) (as printed), at epsilon .1, .5, 1, 2, 4",
            np.allclose(risks, printed, rtol=0, atol=ROOM),
            "(e^eps - 1) / (e^(2 eps) - 1) is 1 / (e^eps + 1), from which the text goes on; "
            "the printed value is above 1 for epsilon below ln 2",
            Quote("", r"\frac{1}{\exp(\epsilon)-1}", _PROOF),
        ),
    )


@LOCAL_PRIVACY("Proposition 2", "beta* is (0, 1 - beta*)-LDP.")
def proposition_2(_given: Given) -> Reproduced:
    apart = [
        abs(ch.local_dp_delta(rows, 0.0) - ch.to_approximate_dp(ch.beta_star(rows).value)[1])
        for rows in channels()
    ]
    return Reproduced(
        held=(proved(f"the least delta at epsilon 0 is 1 - beta*: {NAMED}", max(apart) <= ROOM),)
    )
