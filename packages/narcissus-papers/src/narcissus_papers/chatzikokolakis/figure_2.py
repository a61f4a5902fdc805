"""Figure 2 of Chatzikokolakis et al. 2023: the games IND-MINBAY and IND-LDP, played."""

from __future__ import annotations

from typing import Any

import numpy as np

from narcissus import channels as ch
from narcissus.game import (
    epsilon_of_success,
    play_ind_bay,
    play_ind_ldp,
    play_ind_minbay,
)
from narcissus.game.indistinguishability import Indistinguishability
from narcissus_papers.base import Given, Held, Item, Line, Panel, Reproduced

VALUES = 10
EPSILONS = np.linspace(0.25, 4.0, 16)
PLAYED = (0.5, 1.0, 2.0, 3.0)
TRIALS = 20_000
CONFIDENCE = 1 - 1e-6
"""Of each interval: in all, one run in some 80,000 would miss."""


def play(epsilon: float) -> tuple[Indistinguishability, ...]:
    """Play the three games on randomized response on ten values."""
    matrix = ch.KaryRandomizedResponse(VALUES, epsilon).channel()
    how: dict[str, Any] = {"trials": TRIALS, "confidence": CONFIDENCE, "rng": round(100 * epsilon)}
    return (
        play_ind_bay(matrix, **how),
        play_ind_minbay(matrix, **how),
        play_ind_ldp(matrix, **how),
    )


def best(epsilon: float) -> tuple[float, float, float]:
    """Compute the success of the best attacker in the three games, exactly."""
    response = ch.KaryRandomizedResponse(VALUES, epsilon)
    chosen = 1 / (1 + np.exp(-response.local_epsilon))
    return 1 - response.bayes_risk, 1 - response.beta_star / 2, float(chosen)


def make(_given: Given) -> Reproduced:
    """Draw the success in each game against epsilon, exactly and played.

    Source: Chatzikokolakis et al. 2023, Figure 2.
    """
    exact = np.array([best(float(e)) for e in EPSILONS])
    games = [play(e) for e in PLAYED]
    names = (
        "IND-BAY: all ten values alike",
        "IND-MINBAY: two secrets chosen",
        "IND-LDP: the output chosen as well",
    )
    lines = [
        Line(f"{name}, the best attacker", EPSILONS.tolist(), exact[:, i].tolist())
        for i, name in enumerate(names)
    ]
    lines += [
        Line(f"{name}, played", list(PLAYED), [game[i].wins.value for game in games], "points")
        for i, name in enumerate(names)
    ]
    return Reproduced(
        panels=(Panel("Success in three games", "epsilon", "success", lines),),
        held=_held(games),
        notes=(
            "The paper prints the games, line by line, and no numbers. They are played on "
            f"randomized response on {VALUES} values, {TRIALS:,} times each.",
        ),
    )


def _held(games: list[tuple[Indistinguishability, ...]]) -> tuple[Held, ...]:
    def within(value: float, game: Indistinguishability) -> bool:
        low, high = game.wins.low, game.wins.high
        assert low is not None
        assert high is not None
        return low <= value <= high and abs(game.best - value) < 1e-9

    right = [
        all(within(best(e)[i], game[i]) for e, game in zip(PLAYED, games, strict=True))
        for i in range(3)
    ]
    back = [epsilon_of_success(game[2].best) for game in games]
    return (
        Held("IND-BAY is won with one minus the Bayes risk", right[0], "played"),
        Held("IND-MINBAY is won with 1 - beta*/2: its advantage is 1 - beta*", right[1], "played"),
        Held("IND-LDP is won with e^epsilon / (1 + e^epsilon)", right[2], "played"),
        Held(
            "epsilon is ln(V / (1 - V)) of the best success V in IND-LDP (footnote 2)",
            bool(np.allclose(back, PLAYED, rtol=1e-9)),
            "checked",
        ),
        Held(
            "who chooses more wins more: IND-BAY, IND-MINBAY, IND-LDP in this order, at every "
            "epsilon drawn",
            all(bool((np.diff(best(float(e))) > 0).all()) for e in EPSILONS),
            "checked",
        ),
    )


FIGURE_2 = Item(
    "002",
    "figure",
    "2",
    "The games of Bayes security and of local differential privacy, played",
    2.0,
    make,
    command="narcissus examples ind-bay",
)
