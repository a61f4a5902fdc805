"""Figure 5 of Chatzikokolakis et al. 2023: how near both prior-free limits are, by sparsity.

Two channels from 10 secrets to 1,000 outputs, 1,000 priors a level as in the paper. How a channel
is "sampled at random", and where the geometric one has its secrets, can be read in two ways.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from narcissus import channels as ch
from narcissus_papers.base import Given, Held, Item, Line, Panel, Reproduced
from narcissus_papers.chatzikokolakis.cases import CHANNEL, Matrix

SECRETS, OUTPUTS = 10, 1_000
NOISE = 0.1
REPEATS = 1_000
LEVELS = tuple(range(SECRETS - 1))
"""Secrets that the prior rules out: at most so many that two are left."""
SURE = 5.0
"""Standard errors by which means differ where we say that they do."""

SIMPLEX = "rows uniform on the simplex"
SCALED = "uniform entries scaled"
SPREAD = "secrets spread over the outputs"
BESIDE = "secrets side by side"


def rows_of(name: str) -> Matrix:
    rng = np.random.default_rng(5)
    if name == SIMPLEX:
        return rng.dirichlet(np.ones(OUTPUTS), SECRETS)
    if name == SCALED:
        weights = rng.random((SECRETS, OUTPUTS))
    else:
        step = OUTPUTS // SECRETS if name == SPREAD else 1
        far = np.abs(np.arange(OUTPUTS) - step * np.arange(SECRETS)[:, None])
        weights = np.exp(-NOISE * far)
    return weights / weights.sum(axis=1, keepdims=True)


def gaps(name: str, _given: Given, *, repeats: int = REPEATS) -> dict[str, Any]:
    """Compute the distances of leakage and beta from their limits, for priors of each sparsity.

    The result holds ``capacity`` and ``beta_star`` of the channel; ``leakage`` and ``beta`` are
    lists of mean and standard error, one pair a level.
    """
    matrix = ch.channel(rows_of(name))
    capacity, worst = ch.capacity(matrix), ch.beta_star(matrix).value
    rng = np.random.default_rng(2023)
    found: dict[str, Any] = {"capacity": capacity, "beta_star": worst, "leakage": [], "beta": []}
    for level in LEVELS:
        apart = np.empty((repeats, 2))
        for trial in range(repeats):
            prior = np.zeros(SECRETS)
            kept = rng.permutation(SECRETS)[level:]
            prior[kept] = rng.dirichlet(np.ones(kept.size))
            apart[trial] = (
                capacity - ch.multiplicative_leakage(matrix, prior),
                ch.beta(matrix, prior) - worst,
            )
        error = apart.std(axis=0, ddof=1) / np.sqrt(repeats)
        for key, mean, spread in zip(("leakage", "beta"), apart.mean(axis=0), error, strict=True):
            found[key].append([float(mean), float(spread)])
    return found


def make(given: Given) -> Reproduced:
    """Draw the mean distances against the sparsity.

    Source: Chatzikokolakis et al. 2023, Figure 5.
    """
    found = given.answers
    panels = tuple(
        Panel(
            title,
            "secrets that the prior rules out",
            "mean distance from the limit",
            [line for name, style in styles.items() for line in _lines(name, found[name], style)],
            log_y=True,
        )
        for title, styles in (
            ("Random", {SIMPLEX: "line", SCALED: "dashed"}),
            ("Geometric, spread", {SPREAD: "line"}),
            ("Geometric, side by side", {BESIDE: "line"}),
        )
    )
    return Reproduced(
        panels=panels,
        held=_held(found),
        notes=(
            f"{REPEATS:,} priors a level, as in the paper; each is uniform on the simplex of the "
            "secrets that are left.",
            "The random channel is drawn in two ways; the geometric one has its ten secrets every "
            "hundred outputs (as in Cherubin et al. 2019, which the paper names), or side by side.",
            "The paper does not print where its secrets lie. What it says of the geometric channel "
            "belongs to secrets side by side: spread, both beta and beta* are nearly 0, and beta* "
            f"is near at every sparsity ({open_share(found[SPREAD]):.3f} of 1 - beta* open).",
        ),
    )


def _lines(name: str, found: dict[str, Any], style: Any) -> list[Line]:
    return [
        Line(f"{what}: {name}", LEVELS, [mean for mean, _ in found[key]], style)
        for key, what in (("leakage", "capacity - leakage"), ("beta", "beta - beta*"))
    ]


def less(first: list[float], second: list[float]) -> bool:
    """Whether one mean is below another by more than chance explains."""
    return second[0] - first[0] > SURE * float(np.hypot(first[1], second[1]))


def open_share(found: dict[str, Any]) -> float:
    """Return the mean distance of beta from beta* at the sparsest level, of the largest one."""
    return found["beta"][-1][0] / (1 - found["beta_star"])


def _held(found: Any) -> tuple[Held, ...]:
    denser = [less(one["leakage"][0], one["leakage"][-1]) for one in found.values()]
    sparser = [less(found[name]["beta"][-1], found[name]["beta"][0]) for name in found]
    random = max(open_share(found[SIMPLEX]), open_share(found[SCALED]))
    beside = open_share(found[BESIDE])
    shares = f"open at two secrets: random at most {random:.2f}"
    return (
        Held(
            "the capacity is nearer the leakage where the prior is less sparse (all four channels)",
            all(denser),
            "played",
        ),
        Held(
            "beta* is nearer beta where the prior is sparser (random in both readings, and "
            "geometric with its secrets spread)",
            all(ok for name, ok in zip(found, sparser, strict=True) if name != BESIDE),
            "played",
        ),
        Held(
            "for the geometric channel beta* is loose at high sparsity, less so for the random "
            f"one: secrets side by side ({shares}, geometric {beside:.2f} of 1 - beta*)",
            beside > random,
            "played",
        ),
    )


FIGURE_5 = Item(
    "002",
    "figure",
    "5",
    "How near capacity and beta* are to the truth, by the sparsity of the prior",
    5.0,
    make,
    pieces={name: partial(gaps, name) for name in (SIMPLEX, SCALED, SPREAD, BESIDE)},
    command=f"{CHANNEL} --prior prior.csv",
)
