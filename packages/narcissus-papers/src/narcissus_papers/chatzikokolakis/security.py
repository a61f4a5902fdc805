"""Sections II and III of Chatzikokolakis et al. 2023, with appendix A: what beta* is.

Appendix B of Chatzikokolakis et al. 2023: why two secrets are the worst prior.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from narcissus import channels as ch
from narcissus.game import play_ind_bay
from narcissus_papers.base import Given, Quote, Statements, Told, checked, played
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
    "Game 1",
    "IND-BAY is won with one minus the Bayes risk at best.",
    "narcissus init --example ind-bay",
)
def game_1(_given: Given) -> Told:
    small = [(rows, prior) for rows, prior in systems() if rows.size <= 12]
    exact = all(abs(best_rule(*one) - ch.bayes_risk(*one)) <= ROOM for one in small)
    rows, prior = channels()[0], priors(len(channels()[0]))[1]
    game = play_ind_bay(rows, prior, trials=20_000, confidence=1 - 1e-6, rng=1)
    low, high = game.wins.low, game.wins.high
    truth = 1 - ch.bayes_risk(rows, prior)
    yield checked(
        "no rule from outputs to guesses errs less than the Bayes risk, and one errs as "
        f"often: all rules of {len(small)} channels with a prior",
        exact,
    )
    yield played(
        "the Bayes attacker, played 20,000 times, wins as often as that",
        low is not None and high is not None and low <= truth <= high,
    )


@SECURITY("section II", "beta is the Bayes risk over the guessing error.", WITH_PRIOR)
def section_2(_given: Given) -> Told:
    found = [
        (ch.bayes_risk(*one), ch.guessing_error(one[1]), ch.beta(*one), one) for one in systems()
    ]
    alone = [ch.multiplicative_leakage(*one) for *_, one in found]
    nothing = [ch.beta(np.tile(rows[:1], (len(rows), 1)), prior) for *_, (rows, prior) in found]
    told = [ch.beta(np.eye(len(prior)), prior) for *_, (_, prior) in found]
    yield proved(
        "the Bayes risk is at most the error of guessing, and beta, their ratio, in [0, 1]",
        all(risk <= guess + ROOM and 0 <= beta <= 1 for risk, guess, beta, _ in found),
    )
    yield proved(
        "beta is 1 where the output tells nothing and 0 where it tells the secret",
        max(abs(1 - b) for b in nothing) <= ROOM and max(told) == 0,
    )
    yield proved(
        "the multiplicative leakage is between 1 and the number of secrets",
        all(1 <= x <= len(one[1]) + ROOM for x, (*_, one) in zip(alone, found, strict=True)),
    )
    yield "The text says [0, n] of the leakage, its Table II [1, n]; it is never below 1."


@SECURITY("section III", "beta is not least at the uniform prior.", WITH_PRIOR)
def section_3(_given: Given) -> Told:
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    worst = [
        min(ch.beta(r, uniform_on(s, len(r))) for s in sets_of_secrets(len(r))) for r in channels()
    ]
    pairs = [ch.pairwise(r).min() for r in channels()]
    yield checked(
        "with more than two secrets some prior is worse than the uniform one: of "
        "[[1, 0], [0, 1], [.5, .5]] beta is .5 for the uniform prior, beta* is 0",
        abs(ch.beta(rows) - 0.5) <= ROOM and ch.beta_star(rows).value == 0,
    )
    yield proved(
        f"the n (n - 1) / 2 pairs suffice to find beta*: {NAMED}",
        np.allclose(worst, pairs, rtol=0, atol=ROOM),
    )


@SECURITY("Theorem 1", "beta is least at a uniform prior on two secrets.")
def theorem_1(_given: Given) -> Told:
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
    yield proved(
        "beta is least at some uniform prior on two secrets: no corner point of the "
        f"guessing error is below, on {NAMED}",
        min(corners) >= -ROOM and all(reached),
    )
    yield checked(
        "linear programs over all priors and all rules of the attacker find the same least "
        f"value, for {len(small)} channels from three secrets",
        len(small) > 0 and all(programs),
    )


@SECURITY(
    "Theorem 2",
    "beta* is one minus the largest total variation distance of two rows.",
    f"{CHANNEL} --all-pairs",
)
def theorem_2(_given: Given) -> Told:
    apart = [
        abs(ch.beta_star(r).value - (1 - max(np.abs(a - b).sum() for a in r for b in r) / 2))
        for r in channels()
    ]
    yield proved(
        "beta* is one minus the largest total variation distance of two rows, half of "
        f"their L1 distance: {NAMED}",
        bool(max(apart) <= ROOM),
    )


@SECURITY("Equation 13", "beta of two secrets is the overlap of their rows.")
@SECURITY("Equation 11", "beta of two secrets is one minus their distance.")
def pair_forms(_given: Given) -> Told:
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
    yield proved(
        "for two secrets alike, beta is 2 less the sum of the larger entries, the sum of "
        f"the smaller ones, and 1 less half the L1 distance: {len(apart)} pairs",
        bool(max(apart) <= ROOM),
    )


@SECURITY(
    "Lemma 1", "Where beta is 0 it is 0 for the uniform prior on the same secrets.", WITH_PRIOR
)
def lemma_1(_given: Given) -> Told:
    zeros: list[float] = []
    for rows, prior in systems():
        if ch.beta(rows, prior) == 0:
            support = tuple(np.flatnonzero(prior).tolist())
            zeros.append(ch.beta(rows, uniform_on(support, len(prior))))
    for prior in priors(4):
        support = tuple(np.flatnonzero(prior).tolist())
        zeros.append(ch.beta(np.eye(4), uniform_on(support, 4)))
    yield proved(
        "where beta is 0 for a prior, it is 0 for the uniform one on its secrets: "
        f"{len(zeros)} such priors",
        max(zeros) == 0,
    )


@SECURITY(
    "Theorem 7",
    "If k of n secrets are told apart, beta of the uniform prior is at most (1 - k/n) / (1 - 1/n).",
    WITH_PRIOR,
)
def theorem_7(_given: Given) -> Told:
    below, reached = [], []
    rng = np.random.default_rng(7)
    for n in range(2, 8):
        for k in range(2, n + 1):
            limit = (1 - k / n) / (1 - 1 / n)
            told = np.eye(k)
            rows = np.vstack([told, rng.dirichlet(np.ones(k), n - k)])
            below.append(ch.beta(rows) <= limit + ROOM)
            reached.append(abs(ch.beta(told[np.arange(n) % k]) - limit) <= ROOM)
    yield proved(
        "where k of n secrets are told apart for certain, beta of the uniform prior is at "
        "most (1 - k/n) / (1 - 1/n): n from 2 to 7",
        all(below),
    )
    yield proved("a channel whose other rows are copies reaches it: n from 2 to 7", all(reached))


def layers(prior: Matrix) -> list[tuple[float, Matrix]]:
    """Decompose a prior into corner points: its likeliest secrets alike, one more a layer."""
    order = np.argsort(-prior, kind="stable")
    steps = -np.diff(np.append(prior[order], 0.0))
    return [
        (float(step) * (k + 1), uniform_on(tuple(order[: k + 1].tolist()), prior.size))
        for k, step in enumerate(steps)
        if step > 0
    ]


def tops(rows: Matrix) -> tuple[NDArray[np.intp], Matrix, Matrix]:
    """Return where each column is largest, and ``p`` and ``q`` of the proof of Theorem 1.

    Of row ``i`` these are the sums of the largest and of the second largest entries of the columns
    that it leads.
    """
    lead = rows.argmax(axis=0)
    two = np.sort(rows, axis=0)[-2:]
    n = len(rows)
    first, second = (np.bincount(lead, weights=row, minlength=n) for row in (two[1], two[0]))
    return lead, first.astype(np.float64), second.astype(np.float64)


CORNER_POINTS = Statements("002", 0.2, CHANNEL)


@CORNER_POINTS(
    "Definition 1", "Convexly generated: linear along some mixture of generators.", WITH_PRIOR
)
def definition_1(_given: Given) -> Told:
    rows, prior = ch.KaryRandomizedResponse(3, 1.0).channel().dense, np.array([0.6, 0.25, 0.15])
    corners = [uniform_on((s,), 3) for s in range(3)]
    corners += [uniform_on(s, 3) for s in sets_of_secrets(3)]

    def most(values: list[float]) -> float:
        """Return the most that a mixture of corner points with this prior as mean can reach."""
        found = optimize.linprog(
            -np.array(values), A_eq=np.array(corners).T, b_eq=prior, method="highs"
        )
        assert found.fun is not None
        return -float(found.fun)

    guess = most([ch.guessing_error(u) for u in corners])
    risk = most([ch.bayes_risk(rows, u) for u in corners])
    yield checked(
        "the guessing error of (.6, .25, .15) is that of a mixture of corner points",
        abs(guess - ch.guessing_error(prior)) <= 1e-9,
    )
    yield checked(
        "the definition asks for something: the Bayes risk of randomized response at that "
        "prior is above that of all such mixtures (a linear program)",
        risk < ch.bayes_risk(rows, prior) - 1e-3,
    )


@CORNER_POINTS(
    "Proposition 6", "The guessing error is convexly generated by the corner points.", WITH_PRIOR
)
def proposition_6(_given: Given) -> Told:
    right: list[bool] = []
    for _, prior in systems():
        parts = layers(prior)
        mixture = np.sum([c * u for c, u in parts], axis=0)
        linear = sum(c * ch.guessing_error(u) for c, u in parts)
        whole = abs(sum(c for c, _ in parts) - 1) <= ROOM
        right.append(
            whole
            and np.allclose(mixture, prior, atol=ROOM)
            and abs(linear - ch.guessing_error(prior)) <= ROOM
        )
    yield proved(
        "a prior is the mixture of the uniform ones on its k likeliest secrets, and the "
        f"guessing error is linear along it: {len(right)} priors",
        all(right),
    )


@CORNER_POINTS("Proposition 7", "The Bayes risk is concave in the prior.", WITH_PRIOR)
def proposition_7(_given: Given) -> Told:
    room = [
        ch.bayes_risk(rows, (a + 2 * b) / 3)
        - (ch.bayes_risk(rows, a) + 2 * ch.bayes_risk(rows, b)) / 3
        for rows in channels()
        for a, b in itertools.combinations(priors(len(rows)), 2)
    ]
    yield proved(
        f"the Bayes risk is concave in the prior: {len(room)} mixtures on {NAMED}",
        min(room) >= -ROOM and max(room) > 0.01,
    )


@CORNER_POINTS("Corollary 3", "beta is least at a corner point.", WITH_PRIOR)
@CORNER_POINTS(
    "Lemma 2",
    "A concave function over a convexly generated one is least at a generator.",
    WITH_PRIOR,
)
def corner_points(_given: Given) -> Told:
    room = [
        ch.beta(rows, prior)
        - min(ch.beta(rows, u) for _, u in layers(prior) if np.count_nonzero(u) > 1)
        for rows, prior in systems()
    ]
    yield proved(
        "of a concave function over one that is convexly generated, here beta, no prior is "
        f"below the corner points that it is a mixture of: {len(room)} priors on {NAMED}",
        min(room) >= -ROOM and max(room) > 0.01,
    )


@CORNER_POINTS(
    "Fact 1", "The second largest entries of a row's columns sum to at least another row's."
)
def fact_1(_given: Given) -> Told:
    meant: list[bool] = []
    for rows in channels():
        lead, _, second = tops(rows)
        for row in range(len(rows)):
            others = np.bincount(lead, rows[row], len(rows))
            rest = np.arange(len(rows)) != row
            meant.append(bool((second[rest] >= others[rest] - ROOM).all()))
    # Row 1 leads the last column only, where nothing else is; the last row has .5 elsewhere.
    rows = np.array([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0], [0.4, 0.6, 0.0]])
    lead, _, second = tops(rows)
    not_led = rows[-1][lead != len(rows) - 1]
    yield proved(
        "in the columns that a row leads, the second largest entries sum to at least those "
        f"of any one other row: {NAMED}",
        all(meant),
    )
    yield checked(
        "as printed, q_i is at least the i-th entry of the last row that is no largest "
        "([[0, 0, 1], [.5, .5, 0], [.4, .6, 0]])",
        all(q >= r for q, r in zip(second, not_led, strict=False)),
        "the print numbers q by rows and r by columns: here q_1 = 0 and r_1 = .4; what is "
        "meant is the sum of the last row's entries in the columns that row i leads",
        Quote("", r"we have ... q_{i}\geq r_{i}", "Fact 1"),
    )


@CORNER_POINTS("Equation 9", "A uniform prior can lose a secret without a larger beta.", WITH_PRIOR)
def equation_9(_given: Given) -> Told:
    step, average, form = [], [], []
    for rows in channels():
        n = len(rows)
        if n < 3:
            continue
        _, p, q = tops(rows)
        without = [
            ch.beta(rows, uniform_on(tuple(k for k in range(n) if k != s), n)) for s in range(n)
        ]
        step.append(without[int(np.argmin(p - q))] <= ch.beta(rows) + ROOM)
        average.append(np.mean(without) <= ch.beta(rows) + ROOM)
        rest = np.delete(p, last := int(np.argmin(p - q))).sum()
        form.append(((n - 1 - rest - q[last]) / (n - 1), 1 - rest / (n - 1) - q[last]))
    yield proved(
        "of the uniform prior on k > 2 secrets, one with a secret left out has no larger "
        f"beta: the one with the least p - q, and the average of all, on {NAMED}",
        all(step) and all(average),
    )
    yield checked(
        "the two forms of the Bayes risk without that secret are the same, as printed",
        all(abs(a - b) <= ROOM for a, b in form),
        "the first form has no brackets around the sum and q: 1 - (sum p + q) / n is meant",
        Quote("", r"\frac{1}{n}\sum_{i=1}^{n}p_{i}% -q_{n+1}=", "proof of Equation 9"),
    )
