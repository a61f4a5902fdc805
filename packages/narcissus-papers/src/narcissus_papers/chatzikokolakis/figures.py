"""Figures 1 to 5 of Chatzikokolakis et al. 2023.

Figure 1 of Chatzikokolakis et al. 2023: five secrets under Laplace noise in the plane. The secrets'
places and the noise are not printed; ours stand in.

Figure 2 of Chatzikokolakis et al. 2023: the games IND-MINBAY and IND-LDP, played.

Figure 3 of Chatzikokolakis et al. 2023: two channels said to reach Theorem 5, as printed. Neither
does in general. In the first the rows sum to one only where half of the outputs are on each side;
in the second the rows below the first two make it no epsilon-LDP channel at all.

Figure 4 of Chatzikokolakis et al. 2023: what epsilon implies, and the bound of Yeom et al.

Figure 5 of Chatzikokolakis et al. 2023: how near both prior-free limits are, by sparsity. Two
channels from 10 secrets to 1,000 outputs, 1,000 priors a level as in the paper. How a channel is
"sampled at random", and where the geometric one has its secrets, can be read in two ways.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import integrate, special

from narcissus import channels as ch
from narcissus.errors import InputError
from narcissus.game import epsilon_of_success, play_ind_bay, play_ind_ldp, play_ind_minbay
from narcissus.game.indistinguishability import Indistinguishability
from narcissus.report.panels import Line, Panel
from narcissus_papers.base import (
    Given,
    Held,
    Item,
    Quote,
    Reproduced,
    Told,
    checked,
    played,
    yields,
)
from narcissus_papers.chatzikokolakis.cases import CHANNEL, ROOM, Matrix

PLACES = np.array([(-1.5, -0.9), (-0.6, 0.9), (0.2, -0.4), (1.0, 0.6), (1.7, 1.1)])
RATE = 1.0
"""Of the noise: its density falls by a factor e over a distance of one."""
STEP = 0.05
REACH = 14.0


def posteriors() -> ch.Channel:
    """Return the channel from the five secrets to the cells of a fine grid."""
    line = np.arange(-REACH, REACH, STEP) + STEP / 2
    x, y = np.meshgrid(line, line)
    far = np.hypot(x.ravel() - PLACES[:, :1], y.ravel() - PLACES[:, 1:])
    weights = np.exp(-RATE * far)
    return ch.channel(weights / weights.sum(axis=1, keepdims=True))


def overlap(distance: float) -> float:
    """Compute the Bayes security of two points at a distance, by an integral.

    The noise across the line between them is ``RATE^2 / pi |x| K_1(RATE |x|)``, and each point is
    mistaken for the other beyond the middle.
    """

    def across(x: float) -> float:
        return RATE**2 / math.pi * x * float(special.k1(RATE * x))

    return 2 * float(integrate.quad(across, distance / 2, np.inf)[0])


def make(_given: Given) -> Reproduced:
    """Draw the secrets' posteriors, and the pair that is easiest to distinguish.

    Source: Chatzikokolakis et al. 2023, Figure 1.
    """
    channel = posteriors()
    worst = ch.beta_star(channel)
    a, b = worst.indices
    apart = np.hypot(*(PLACES[:, None] - PLACES[None, :]).transpose(2, 0, 1))
    farthest = np.unravel_index(int(np.argmax(apart)), apart.shape)
    distance = float(apart[a, b])
    same = float(np.abs(channel.row(a) - channel.row(b)).sum() / 2)
    exact = overlap(distance)
    return Reproduced(
        panels=(
            Panel("Where the density is half of its top", "x", "y", _plan((a, b))),
            Panel("Along the line of the two", "place on the line", "density", _cut(distance)),
        ),
        held=(
            checked(
                f"the least Bayes security is that of the two farthest apart, {worst.value:.4f}",
                sorted(farthest) == [a, b],
            ),
            checked(
                "it is the complement of the total variation distance of their posteriors",
                abs(worst.value - (1 - same)) < 1e-9,
            ),
            checked(
                f"the grid agrees with the integral over the plane, {exact:.4f}, to .0005",
                abs(worst.value - exact) < 5e-4,
            ),
        ),
        cannot="the secrets' places and the noise are not printed",
        notes=(
            "The paper prints neither the places of the secrets nor the noise: ours are five "
            "points and noise that falls by a factor e over a distance of one.",
        ),
    )


def _plan(pair: tuple[int, int]) -> list[Line]:
    """Draw where each secret's density is half of its top; full lines for the pair."""
    turn = np.linspace(0, 2 * math.pi, 73)
    radius = math.log(2) / RATE
    lines: list[Line] = []
    for secret, (x, y) in enumerate(PLACES):
        told = secret in pair
        label = f"secret {secret + 1}{', told apart best' if told else ''}"
        ring = (x + radius * np.cos(turn)).tolist(), (y + radius * np.sin(turn)).tolist()
        lines.append(Line(label, *ring, "line" if told else "dotted"))
    return [*lines, Line("places", PLACES[:, 0].tolist(), PLACES[:, 1].tolist(), "points")]


def _cut(distance: float) -> list[Line]:
    """Draw the two posteriors along the line through the pair, and where they overlap."""
    line = np.linspace(-2.5, distance + 2.5, 400)
    scale = RATE**2 / (2 * math.pi)
    both: list[Matrix] = [
        scale * np.exp(-RATE * np.abs(line - middle)) for middle in (0.0, distance)
    ]
    return [
        Line("one of the two", line.tolist(), both[0].tolist()),
        Line("the other", line.tolist(), both[1].tolist()),
        Line("the smaller of both", line.tolist(), np.minimum(*both).tolist(), "dashed"),
    ]


FIGURE_1 = Item("002", "figure", "1", "Five secrets under noise in the plane", 2.0, make)


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


@yields
def make_2(_given: Given) -> Told:
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
    yield Panel("Success in three games", "epsilon", "success", lines)
    yield from _held(games)
    yield (
        "The paper prints the games, line by line, and no numbers. They are played on "
        f"randomized response on {VALUES} values, {TRIALS:,} times each."
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
        played("IND-BAY is won with one minus the Bayes risk", right[0]),
        played("IND-MINBAY is won with 1 - beta*/2: its advantage is 1 - beta*", right[1]),
        played("IND-LDP is won with e^epsilon / (1 + e^epsilon)", right[2]),
        checked(
            "epsilon is ln(V / (1 - V)) of the best success V in IND-LDP (footnote 2)",
            bool(np.allclose(back, PLAYED, rtol=1e-9)),
        ),
        checked(
            "who chooses more wins more: IND-BAY, IND-MINBAY, IND-LDP in this order, at every "
            "epsilon drawn",
            all(bool((np.diff(best(float(e))) > 0).all()) for e in EPSILONS),
        ),
    )


FIGURE_2 = Item(
    "002",
    "figure",
    "2",
    "The games of Bayes security and of local differential privacy, played",
    2.0,
    make_2,
    command="narcissus init --example ind-bay",
)


EPSILONS_3 = (0.1, 1.0, 4.0)
CAPTION = Quote("", "Two examples of ... matrices ... which achieve minimum", "Figure 3")


def first(n: int, m: int, k: int, epsilon: float) -> Matrix:
    """Return the first matrix as printed: ``a``, ``b`` on ``k`` and ``m - k`` outputs, or ``c``."""
    e = math.exp(epsilon)
    a, b = e / (k * (1 + e)), 1 / ((m - k) * (1 + e))
    rows = np.full((n, m), 1 / m)
    rows[0], rows[1] = [a] * k + [b] * (m - k), [b] * k + [a] * (m - k)
    return rows


def second(n: int, m: int, epsilon: float) -> Matrix:
    """Return the second matrix as printed: below two rows of ``d``, ``e`` one output only."""
    d = math.exp(epsilon) / (1 + math.exp(epsilon))
    rows = np.zeros((n, m))
    rows[:, 0] = 1.0
    rows[0, :2], rows[1, :2] = (d, 1 - d), (1 - d, d)
    return rows


def mended(n: int, m: int, epsilon: float) -> Matrix:
    """Return the second matrix with its other rows half on each of the first two outputs."""
    rows = second(n, m, epsilon)
    rows[2:, :2] = 0.5
    return rows


def reaches(rows: Matrix, epsilon: float) -> bool:
    """Whether it is an epsilon-LDP channel whose beta* is ``2 / (1 + e^epsilon)``."""
    try:
        matrix = ch.channel(rows)
    except InputError:
        return False
    local = ch.local_dp_epsilon(matrix) <= epsilon + ROOM
    return local and abs(ch.beta_star(matrix).value - ch.from_local_dp(epsilon).value) <= ROOM


def _row(name: str, rows: Matrix, k: int | str, epsilon: float) -> tuple[str | float, ...]:
    n, m = rows.shape
    size: tuple[str | float, ...] = (name, n, m, k, epsilon)
    bound = ch.from_local_dp(epsilon).value
    try:
        matrix = ch.channel(rows)
    except InputError:
        sums = ", ".join(f"{s:.4g}" for s in sorted(set(rows.sum(axis=1).round(12))))
        return (*size, f"no channel: rows sum to {sums}", "", "", bound)
    local, worst = ch.local_dp_epsilon(matrix), ch.beta_star(matrix).value
    return (*size, "one", local if math.isfinite(local) else "none", worst, bound)


def make_3(_given: Given) -> Reproduced:
    """Compute what both matrices are, in several sizes.

    Source: Chatzikokolakis et al. 2023, Figure 3.
    """
    sizes = [(n, m, k) for n in (2, 3, 5) for m in (2, 4, 7) for k in range(1, m)]
    halves = [(n, m, k) for n, m, k in sizes if m == 2 * k]
    others = [(n, m, k) for n, m, k in sizes if m != 2 * k]
    epsilon = 1.0
    table = [
        ("matrix", "n", "m", "k", "epsilon", "rows sum to", "LDP epsilon", "beta*", "2/(1+e^eps)"),
        *(
            _row("first, as printed", first(n, m, k, epsilon), k, epsilon)
            for n, m, k in ((2, 4, 2), (5, 4, 2), (5, 7, 3))
        ),
        *(
            _row(f"second, {what}", make_3(n, 4, epsilon), "", epsilon)
            for what, make_3 in (("as printed", second), ("other rows halved", mended))
            for n in (2, 5)
        ),
    ]

    def all_reach(found: list[Matrix], epsilon: float) -> bool:
        return all(reaches(rows, epsilon) for rows in found)

    shapes = [(n, m) for n in (2, 3, 5) for m in (2, 4, 7)]
    where = "at epsilon .1, 1 and 4, n up to 5, m up to 7"
    return Reproduced(
        table=tuple(table),
        held=(
            checked(
                f"the first matrix reaches Theorem 5 where m = 2k ({where})",
                all(all_reach([first(*size, e) for size in halves], e) for e in EPSILONS_3),
            ),
            checked(
                f"the first matrix reaches Theorem 5 for every k below m ({where})",
                all(all_reach([first(*size, e) for size in others], e) for e in EPSILONS_3),
                "its second row sums to k / ((m - k)(1 + e^eps)) + (m - k) e^eps / (k (1 + e^eps)),"
                " which is one only where m = 2k",
                CAPTION,
            ),
            checked(
                f"the second matrix reaches Theorem 5 for two secrets ({where})",
                all(all_reach([second(2, m, e) for _, m in shapes], e) for e in EPSILONS_3),
            ),
            checked(
                f"the second matrix reaches Theorem 5 for every n ({where})",
                all(all_reach([second(n, m, e) for n, m in shapes], e) for e in EPSILONS_3),
                "its rows from the third on give the second output never, the first two do: no "
                "epsilon-LDP, and beta* is 1 / (1 + e^eps), half of what is said",
                CAPTION,
            ),
            checked(
                "with the other rows halved between the first two outputs it does, for every n "
                f"and m, as Theorem 5 says that some channel does ({where})",
                all(all_reach([mended(n, m, e) for n, m in shapes], e) for e in EPSILONS_3),
            ),
        ),
    )


FIGURE_3 = Item(
    "002",
    "figure",
    "3",
    "Two channels that are to reach the least Bayes security of epsilon-LDP",
    1.0,
    make_3,
    command="narcissus channel channel.csv",
)


EPSILONS_4 = np.linspace(0.0, 5.0, 201)


@yields
def make_4(_given: Given) -> Told:
    """Draw both lower limits of Bayes security against epsilon.

    Source: Chatzikokolakis et al. 2023, Figure 4.
    """
    ours = [ch.from_local_dp(float(e)).value for e in EPSILONS_4]
    yeom = [ch.yeom_bound(float(e)).value for e in EPSILONS_4]
    lines = [
        Line("Corollary 2: 2 / (1 + e^epsilon)", EPSILONS_4.tolist(), ours),
        Line("from Yeom et al.: 2 - e^epsilon", EPSILONS_4.tolist(), yeom, "dashed"),
    ]
    reached = [ch.KaryRandomizedResponse(2, float(e)).beta_star for e in EPSILONS_4]
    yield Panel("What epsilon implies", "epsilon", "Bayes security at least", lines)
    yield checked(
        "Corollary 2 lies above the bound of Yeom et al. wherever epsilon is above 0, and "
        "both are 1 at 0",
        all(a > b for a, b in zip(ours[1:], yeom[1:], strict=True)) and ours[0] == yeom[0] == 1.0,
    )
    yield checked(
        "that of Yeom et al. says nothing from epsilon ln 2 on",
        all((y == 0) == (e >= np.log(2)) for e, y in zip(EPSILONS_4, yeom, strict=True)),
    )
    yield checked(
        "randomized response on two values reaches Corollary 2 at every epsilon drawn",
        bool(np.allclose(ours, reached, rtol=1e-12)),
    )
    yield "Where 2 - e^epsilon is below 0 it is drawn as 0, which says nothing."


FIGURE_4 = Item(
    "002", "figure", "4", "What epsilon implies for Bayes security", 1.0, make_4,
    command="narcissus bound --epsilon 1 --prior 0.5 --success exact",
)  # fmt: skip


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


def make_5(given: Given) -> Reproduced:
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
        held=tuple(_held_5(found)),
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


def _held_5(found: Any) -> Iterator[Held]:
    denser = [less(one["leakage"][0], one["leakage"][-1]) for one in found.values()]
    sparser = [less(found[name]["beta"][-1], found[name]["beta"][0]) for name in found]
    random = max(open_share(found[SIMPLEX]), open_share(found[SCALED]))
    beside = open_share(found[BESIDE])
    shares = f"open at two secrets: random at most {random:.2f}"
    yield played(
        "the capacity is nearer the leakage where the prior is less sparse (all four channels)",
        all(denser),
    )
    yield played(
        "beta* is nearer beta where the prior is sparser (random in both readings, and "
        "geometric with its secrets spread)",
        all(ok for name, ok in zip(found, sparser, strict=True) if name != BESIDE),
    )
    yield played(
        "for the geometric channel beta* is loose at high sparsity, less so for the random "
        f"one: secrets side by side ({shares}, geometric {beside:.2f} of 1 - beta*)",
        beside > random,
    )


FIGURE_5 = Item(
    "002",
    "figure",
    "5",
    "How near capacity and beta* are to the truth, by the sparsity of the prior",
    5.0,
    make_5,
    pieces={name: partial(gaps, name) for name in (SIMPLEX, SCALED, SPREAD, BESIDE)},
    small={"repeats": 2},
    command=f"{CHANNEL} --prior prior.csv",
)
