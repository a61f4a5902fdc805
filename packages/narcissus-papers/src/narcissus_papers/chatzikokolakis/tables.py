"""Tables I and II of Chatzikokolakis et al. 2023: notation, and three metrics compared."""

from __future__ import annotations

import math

import numpy as np

from narcissus import channels as ch
from narcissus_papers.base import Given, Item, Reproduced, checked
from narcissus_papers.chatzikokolakis.cases import CHANNEL, NAMED, ROOM, channels, systems

NAMES: tuple[tuple[str, str, str], ...] = (
    ("symbol", "description", "here"),
    ("S = {1, ..., n}", "the secret space", "`Channel.secrets`"),
    ("O = {1, ..., m}", "the output space", "`Channel.outputs`"),
    ("C_s,o", "a channel matrix, P(o | s)", "`Channel.matrix`, made by `channels.channel`"),
    ("C_s", "a row of it", "`Channel.row`"),
    ("pi", "prior probabilities of the secrets", "an array, a dictionary; `channels.prior_for`"),
    ("pi_ij", "a prior on two secrets", "an array with two entries that are not 0"),
    ("upsilon", "the uniform prior", "`prior=None`"),
    ("R*(pi, C)", "the Bayes risk", "`channels.bayes_risk`"),
    ("G(pi)", "the random guessing error", "`channels.guessing_error`"),
    ("beta(pi, C)", "Bayes security for a prior", "`channels.beta`"),
    ("beta*(C)", "min Bayes security", "`channels.beta_star`"),
)

METRICS: tuple[tuple[str, str, str, str], ...] = (
    ("property", "local DP (epsilon)", "multiplicative leakage capacity", "beta*"),
    ("range", "[0, infinity), smaller is more secure", "[1, n], smaller", "[0, 1], larger"),
    ("attacks", "any", "concrete", "concrete"),
    (
        "guarantee",
        "worst case, two leakiest secrets",
        "expected risk, all secrets",
        "expected risk, two leakiest secrets",
    ),
    (
        "quantitative intuition",
        "none in general",
        "k times likelier to guess the secret",
        "1 - beta*/2 is the chance of a right guess",
    ),
    (
        "computed by",
        "`channels.local_dp_epsilon`",
        "`channels.capacity`",
        "`channels.beta_star`",
    ),
)


def make_1(_given: Given) -> Reproduced:
    """List what each symbol is called here. Source: Chatzikokolakis et al. 2023, Table I."""
    return Reproduced(table=NAMES, cannot="it defines symbols, and prints no number")


def make_2(_given: Given) -> Reproduced:
    """Compare three metrics. Source: Chatzikokolakis et al. 2023, Table II."""
    ranges: list[bool] = []
    for rows in channels():
        worst, most = ch.beta_star(rows).value, ch.capacity(rows)
        ranges.append(
            0 <= worst <= 1
            and 1 - ROOM <= most <= len(rows) + ROOM
            and ch.local_dp_epsilon(rows) >= 0
        )
    ends = [
        (ch.beta_star(rows).value, ch.capacity(rows), ch.local_dp_epsilon(rows))
        for rows in (np.eye(3), np.full((3, 2), 0.5))
    ]
    worst_of = [ch.beta_star(rows) for rows in channels()]
    chance = [
        ch.bayes_vulnerability(rows[list(worst.indices)]) - (1 - worst.value / 2)
        for rows, worst in zip(channels(), worst_of, strict=True)
    ]
    times = [
        ch.bayes_vulnerability(rows, prior) <= ch.capacity(rows) * prior.max() + ROOM
        for rows, prior in systems()
    ]
    return Reproduced(
        table=METRICS,
        held=(
            checked(f"all three lie in their ranges: {NAMED}", all(ranges)),
            checked(
                "the identity on three secrets and a channel that tells nothing are at their ends",
                ends == [(0.0, 3.0, math.inf), (1.0, 1.0, 0.0)],
            ),
            checked(
                f"1 - beta*/2 is the chance of a right guess of the two leakiest: {NAMED}",
                max(map(abs, chance)) <= ROOM,
            ),
            checked(
                "a capacity of k makes a right guess at most k times likelier: "
                f"{len(times)} priors",
                all(times),
            ),
        ),
        notes=(
            "That all three compose, hold for every prior, and which can be estimated "
            "consistently, are the statements of sections IV, V-E and VII-D.",
        ),
    )


TABLE_1 = Item("002", "table", "I", "Notation, and what it is called here", 1.0, make_1)
TABLE_2 = Item(
    "002", "table", "II", "Local DP, capacity and Bayes security beside each other", 1.0, make_2,
    command=f"{CHANNEL} --json --all",
)  # fmt: skip
