"""Section V-E of Chatzikokolakis et al. 2023, with appendix F: multiplicative leakage."""

from __future__ import annotations

import numpy as np

from narcissus import channels as ch
from narcissus_papers.base import Given, Held, Reproduced, Statements, checked, claims
from narcissus_papers.chatzikokolakis.cases import (
    CHANNEL,
    NAMED,
    ROOM,
    WITH_PRIOR,
    Matrix,
    channels,
    pairs_of_channels,
    proved,
    systems,
)
from narcissus_papers.chatzikokolakis.composition import chains

RULED_OUT = np.eye(3)
"""Losses of an attacker who rules one secret out: 1 where that is the secret."""
ONE_OUT = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
"""Each output rules one secret out."""


def by_outputs(rows: Matrix, prior: Matrix) -> tuple[float, float]:
    """Compute vulnerability and error of guessing, averaged over what each output leaves."""
    joint = rows * prior[:, None]
    mass = joint.sum(axis=0)
    left = [(m, column / m) for m, column in zip(mass, joint.T, strict=True) if m > 0]
    return sum(m * c.max() for m, c in left), sum(m * ch.guessing_error(c) for m, c in left)


LEAKAGE = Statements("002", 0.2, CHANNEL)


@LEAKAGE(
    "section V-E",
    "Capacity and beta* limit the risk for every prior.",
    f"{WITH_PRIOR} --json --all",
)
def section_5e(_given: Given) -> Reproduced:
    same, additive, implied, most = [], [], [], []
    for rows, prior in systems():
        vulnerability, error = by_outputs(rows, prior)
        risk = ch.bayes_risk(rows, prior)
        same.append(abs(error - risk) <= ROOM and abs(vulnerability - (1 - risk)) <= ROOM)
        gain = ch.bayes_vulnerability(rows, prior) - prior.max()
        additive.append(abs(gain - (ch.guessing_error(prior) - risk)) <= ROOM)
        found = ch.implied_bayes_risk(ch.beta_star(rows).value, ch.capacity(rows), prior)
        implied.append(max(found.by_bayes_security, found.by_capacity) <= risk + ROOM)
        most.append(ch.multiplicative_leakage(rows, prior) <= ch.capacity(rows) + ROOM)
    uniform = [abs(ch.capacity(r) - ch.multiplicative_leakage(r)) <= 1e-11 for r in channels()]
    return claims(
        proved(
            "posterior vulnerability and risk are averages of the prior ones over the outputs "
            f"({len(same)} priors)",
            all(same),
        ),
        proved("additive leakage is the guessing error less the risk", all(additive)),
        proved(
            "the leakage is largest at the uniform prior: the capacity, sum_o max_s C_so",
            all(most) and all(uniform),
        ),
        *_composed(),
        proved(
            "the risk is at least beta* G and at least 1 - capacity V, for every prior",
            all(implied),
        ),
        *_deterministic(),
        *_guesses(),
    )


def _composed() -> tuple[Held, ...]:
    beside = [
        ch.capacity(ch.parallel(a, b)) <= ch.capacity(a) * ch.capacity(b) + ROOM
        for a, b in pairs_of_channels()
    ]
    after = [
        ch.capacity(ch.cascade(a, b)) <= min(ch.capacity(a), ch.capacity(b)) + ROOM
        for a, b in chains()
    ]
    return (
        proved(f"capacities multiply at most, in parallel: {len(beside)} pairs", all(beside)),
        proved(f"a cascade has at most the smaller capacity: {len(after)} pairs", all(after)),
    )


def _deterministic() -> tuple[Held, ...]:
    rng = np.random.default_rng(4)
    right: list[bool] = []
    for _ in range(30):
        n, m = (int(k) for k in rng.integers(2, 6, 2))
        told = rng.integers(0, m, n)
        right.append(ch.beta_star(np.eye(m)[told]).value == (1.0 if np.ptp(told) == 0 else 0.0))
    return (
        proved(
            "beta* of a deterministic program is 0, and 1 if its output never depends on the "
            "secret: 30 programs",
            all(right),
        ),
    )


def _guesses() -> tuple[Held, ...]:
    """Check the miracle theorem, and show that there is none for losses."""
    rng = np.random.default_rng(5)
    right = [
        ch.g_leakage(rows, gain, prior) <= ch.miracle_bound(rows).value * (1 + ROOM)
        for rows, prior in systems()
        for gain in (rng.random((4, len(rows))), rng.random((2, len(rows))) ** 8)
    ]
    ratio, worst = ch.l_beta(ONE_OUT, RULED_OUT), ch.beta_star(ONE_OUT).value
    return (
        proved(
            "no gain that is not negative makes the leakage larger than the capacity (the miracle "
            f"theorem): {len(right)} gains and priors on {NAMED}",
            all(right),
        ),
        checked(
            "nothing like it holds for losses in [0, 1]: where each of three outputs rules one "
            f"secret out, ruling one out has beta_l 0, and beta* is {worst:g}",
            ratio <= ROOM < worst,
        ),
    )


@LEAKAGE(
    "Appendix F",
    "Guessing the secret is one gain and one loss of many.",
    f"{WITH_PRIOR} --json --all",
)
def appendix_f(_given: Given) -> Reproduced:
    gain, loss = [], []
    for rows, prior in systems():
        one = np.eye(len(rows))
        gain.append(abs(ch.g_leakage(rows, one, prior) - ch.multiplicative_leakage(rows, prior)))
        loss.append(abs(ch.l_beta(rows, 1 - one, prior) - ch.beta(rows, prior)))
    return claims(
        proved(
            f"with a gain of 1 for the secret the g-leakage is the leakage: {len(gain)} priors",
            max(gain) <= 1e-11,
        ),
        proved(
            f"with a loss of 1 for any other beta_l is beta: {len(loss)} priors",
            max(loss) <= 1e-10,
        ),
    )
