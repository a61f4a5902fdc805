"""Sections II and III of Chatzikokolakis et al. 2023, with appendix A: what beta* is."""

from __future__ import annotations

import itertools

import numpy as np

from narcissus import channels as ch
from narcissus.game import play_ind_bay
from narcissus_papers.base import Given, Held, Reproduced, Statements, checked, claims
from narcissus_papers.chatzikokolakis.cases import (
    CHANNEL,
    NAMED,
    ROOM,
    WITH_PRIOR,
    Matrix,
    channels,
    least_beta_of_all,
    priors,
    proved,
    sets_of_secrets,
    systems,
    uniform_on,
)


def best_rule(rows: Matrix, prior: Matrix) -> float:
    """Compute the least error over all rules from outputs to secrets, by trying them."""
    n, m = rows.shape
    joint = rows * prior[:, None]
    rules = itertools.product(range(n), repeat=m)
    return 1 - max(float(joint[rule, range(m)].sum()) for rule in rules)


SECURITY = Statements("002", 0.2, CHANNEL)


@SECURITY(
    "Game 1", "IND-BAY is won with one minus the Bayes risk at best.", "narcissus examples ind-bay"
)
def game_1(_given: Given) -> Reproduced:
    small = [(rows, prior) for rows, prior in systems() if rows.size <= 12]
    exact = all(abs(best_rule(*one) - ch.bayes_risk(*one)) <= ROOM for one in small)
    rows, prior = channels()[0], priors(len(channels()[0]))[1]
    played = play_ind_bay(rows, prior, trials=20_000, confidence=1 - 1e-6, rng=1)
    low, high = played.wins.low, played.wins.high
    truth = 1 - ch.bayes_risk(rows, prior)
    return claims(
        checked(
            "no rule from outputs to guesses errs less than the Bayes risk, and one errs as "
            f"often: all rules of {len(small)} channels with a prior",
            exact,
        ),
        Held(
            "the Bayes attacker, played 20,000 times, wins as often as that",
            low is not None and high is not None and low <= truth <= high,
            "played",
        ),
    )


@SECURITY("section II", "beta is the Bayes risk over the guessing error.", WITH_PRIOR)
def section_2(_given: Given) -> Reproduced:
    found = [
        (ch.bayes_risk(*one), ch.guessing_error(one[1]), ch.beta(*one), one) for one in systems()
    ]
    alone = [ch.multiplicative_leakage(*one) for *_, one in found]
    nothing = [ch.beta(np.tile(rows[:1], (len(rows), 1)), prior) for *_, (rows, prior) in found]
    told = [ch.beta(np.eye(len(prior)), prior) for *_, (_, prior) in found]
    return Reproduced(
        held=(
            proved(
                "the Bayes risk is at most the error of guessing, and beta, their ratio, in [0, 1]",
                all(risk <= guess + ROOM and 0 <= beta <= 1 for risk, guess, beta, _ in found),
            ),
            proved(
                "beta is 1 where the output tells nothing and 0 where it tells the secret",
                max(abs(1 - b) for b in nothing) <= ROOM and max(told) == 0,
            ),
            proved(
                "the multiplicative leakage is between 1 and the number of secrets",
                all(
                    1 <= x <= len(one[1]) + ROOM for x, (*_, one) in zip(alone, found, strict=True)
                ),
            ),
        ),
        notes=("The text says [0, n] of the leakage, its Table II [1, n]; it is never below 1.",),
    )


@SECURITY("section III", "beta is not least at the uniform prior.", WITH_PRIOR)
def section_3(_given: Given) -> Reproduced:
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    worst = [
        min(ch.beta(r, uniform_on(s, len(r))) for s in sets_of_secrets(len(r))) for r in channels()
    ]
    pairs = [ch.pairwise(r).min() for r in channels()]
    return claims(
        checked(
            "with more than two secrets some prior is worse than the uniform one: of "
            "[[1, 0], [0, 1], [.5, .5]] beta is .5 for the uniform prior, beta* is 0",
            abs(ch.beta(rows) - 0.5) <= ROOM and ch.beta_star(rows).value == 0,
        ),
        proved(
            f"the n (n - 1) / 2 pairs suffice to find beta*: {NAMED}",
            np.allclose(worst, pairs, rtol=0, atol=ROOM),
        ),
    )


@SECURITY("Theorem 1", "beta is least at a uniform prior on two secrets.")
def theorem_1(_given: Given) -> Reproduced:
    small = [rows for rows in channels(8, secrets=3) if rows.shape[1] <= 3]
    programs = [abs(least_beta_of_all(r) - ch.beta_star(r).value) <= 1e-8 for r in small]
    reached, corners = [], []
    for rows in channels():
        worst = ch.beta_star(rows)
        at_pair = ch.beta(rows, uniform_on(worst.indices, len(rows)))
        reached.append(abs(at_pair - worst.value) <= ROOM)
        corners += [
            ch.beta(rows, uniform_on(s, len(rows))) - worst.value
            for s in sets_of_secrets(len(rows))
        ]
    return claims(
        proved(
            "beta is least at some uniform prior on two secrets: no corner point of the "
            f"guessing error is below, on {NAMED}",
            min(corners) >= -ROOM and all(reached),
        ),
        checked(
            "linear programs over all priors and all rules of the attacker find the same least "
            f"value, for {len(small)} channels from three secrets",
            len(small) > 0 and all(programs),
        ),
    )


@SECURITY(
    "Theorem 2",
    "beta* is one minus the largest total variation distance of two rows.",
    f"{CHANNEL} --all-pairs",
)
def theorem_2(_given: Given) -> Reproduced:
    apart = [
        abs(ch.beta_star(r).value - (1 - max(np.abs(a - b).sum() for a in r for b in r) / 2))
        for r in channels()
    ]
    return claims(
        proved(
            "beta* is one minus the largest total variation distance of two rows, half of "
            f"their L1 distance: {NAMED}",
            max(apart) <= ROOM,
        ),
    )


@SECURITY("Equation 13", "beta of two secrets is the overlap of their rows.")
@SECURITY("Equation 11", "beta of two secrets is one minus their distance.")
def pair_forms(_given: Given) -> Reproduced:
    apart = [
        np.ptp(
            [
                ch.beta(rows, uniform_on((a, b), len(rows))),
                2 - rows[[a, b]].max(axis=0).sum(),
                rows[[a, b]].min(axis=0).sum(),
                1 - np.abs(rows[a] - rows[b]).sum() / 2,
            ]
        )
        for rows in channels()
        for a, b in itertools.combinations(range(len(rows)), 2)
    ]
    return claims(
        proved(
            "for two secrets alike, beta is 2 less the sum of the larger entries, the sum of "
            f"the smaller ones, and 1 less half the L1 distance: {len(apart)} pairs",
            max(apart) <= ROOM,
        ),
    )


@SECURITY(
    "Lemma 1", "Where beta is 0 it is 0 for the uniform prior on the same secrets.", WITH_PRIOR
)
def lemma_1(_given: Given) -> Reproduced:
    zeros: list[float] = []
    for rows, prior in systems():
        if ch.beta(rows, prior) == 0:
            support = tuple(np.flatnonzero(prior).tolist())
            zeros.append(ch.beta(rows, uniform_on(support, len(prior))))
    for prior in priors(4):
        support = tuple(np.flatnonzero(prior).tolist())
        zeros.append(ch.beta(np.eye(4), uniform_on(support, 4)))
    return claims(
        proved(
            "where beta is 0 for a prior, it is 0 for the uniform one on its secrets: "
            f"{len(zeros)} such priors",
            max(zeros) == 0,
        ),
    )


@SECURITY(
    "Theorem 7",
    "If k of n secrets are told apart, beta of the uniform prior is at most (1 - k/n) / (1 - 1/n).",
    WITH_PRIOR,
)
def theorem_7(_given: Given) -> Reproduced:
    below, reached = [], []
    rng = np.random.default_rng(7)
    for n in range(2, 8):
        for k in range(2, n + 1):
            limit = (1 - k / n) / (1 - 1 / n)
            told = np.eye(k)
            rows = np.vstack([told, rng.dirichlet(np.ones(k), n - k)])
            below.append(ch.beta(rows) <= limit + ROOM)
            reached.append(abs(ch.beta(told[np.arange(n) % k]) - limit) <= ROOM)
    return claims(
        proved(
            "where k of n secrets are told apart for certain, beta of the uniform prior is at "
            "most (1 - k/n) / (1 - 1/n): n from 2 to 7",
            all(below),
        ),
        proved("a channel whose other rows are copies reaches it: n from 2 to 7", all(reached)),
    )
