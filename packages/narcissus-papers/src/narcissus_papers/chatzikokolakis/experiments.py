"""Figures 6 to 8, Tables I and II and Appendix H of Chatzikokolakis et al. 2023.

Figure 6 of Chatzikokolakis et al. 2023: Bayes security against epsilon, of three mechanisms. With
the numbers that section VI prints.

The Census table of Appendix H, from a user's file of it: no other table stands in for it.

Figure 7 and Appendix H of Chatzikokolakis et al. 2023: randomized response on the Census.

Figure 8 of Chatzikokolakis et al. 2023: quick lower limits of beta*, on randomized response.

Tables I and II of Chatzikokolakis et al. 2023: notation, and three metrics compared.

Source: Chatzikokolakis et al. 2023, Appendix H.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus import channels as ch
from narcissus.errors import InputError
from narcissus.mechanisms import RandomizedResponse
from narcissus.report.panels import Line, Panel
from narcissus.tables import read_table
from narcissus_papers.base import (
    Given,
    Held,
    Item,
    Needed,
    Printed,
    Quote,
    Reproduced,
    Told,
    checked,
    played,
    yields,
)
from narcissus_papers.chatzikokolakis.cases import CHANNEL, NAMED, ROOM, Matrix, channels, systems

EPSILONS = np.geomspace(0.01, 20.0, 121)
SIZES = (2, 10, 100, 1_000, 10_000, 100_000, 10**6, 10**7)
RECORDS = (100, 1_000, 10_000, 10**6)
"""Sizes of a table; delta is one over their square."""

MILLION = Quote("0.978", "having a dataset of ... gives ... 0.978", "section VI-A")
MILLION_TOLD = Quote("0.511", "the adversary guesses correctly is 0.511", "section VI-A")
TEN = Quote("0.998", "a practically perfect Bayes security of 0.998", "section VI-A")
TEN_TOLD = Quote("0.501", "(Bayes vulnerability for a uniform prior: 0.501)", "section VI-A")
LAPLACE = Quote("0.95", "a relatively strong DP level of ... we get ... 0.95", "section VI-B")
LAPLACE_TOLD = Quote("0.525", "distinguishes between them is roughly 0.525", "section VI-B")
GAUSS = Quote("0.925", "For a relatively secure setting ... we have ... 0.925", "section VI-C")
GAUSS_TOLD = Quote(
    "0.538", "the two most vulnerable secrets with probability 0.538", "section VI-C"
)
GAUSS_STRICT = Quote("0.992", "a strong guarantee against the attack ... 0.992", "section VI-C")


def falls(values: list[float]) -> bool:
    """Whether a curve falls all along, as far as doubles distinguish values from one."""
    steps = np.diff(values)
    return bool((steps <= 0).all() and values[0] > values[-1])


def _security(title: str, lines: list[Line]) -> Panel:
    return Panel(title, "epsilon", "Bayes security", lines, log_x=True)


def guessed(beta_star: float) -> float:
    return 1 - beta_star / 2


@yields
def make_a(_given: Given) -> Told:
    """Draw randomized response. Source: Chatzikokolakis et al. 2023, Figure 6, Equation 7."""
    curves = {n: [response(n, float(e)) for e in EPSILONS] for n in SIZES}
    million, ten = response(10**6, 10), response(10**7, 10)
    rising = np.diff([curves[n] for n in SIZES], axis=0)
    lines = [Line(f"{n:,} values", EPSILONS.tolist(), curves[n]) for n in SIZES]
    yield _security("Randomized response", lines)
    yield Printed("beta* at epsilon 10, a million values", MILLION, million)
    yield Printed("how often the two are told apart there", MILLION_TOLD, guessed(million))
    yield Printed("beta* at epsilon 10, ten million values", TEN, ten)
    yield Printed("how often the two are told apart there", TEN_TOLD, guessed(ten))
    yield checked(
        "beta* falls with epsilon and rises with the number of values",
        all(falls(curve) for curve in curves.values()) and bool((rising >= 0).all()),
    )
    yield (
        "The paper calls n the number of data records; equation 7 takes the number of values "
        "that one record can have, which is what is drawn."
    )


@yields
def make_b(_given: Given) -> Told:
    """Draw the Laplace mechanism. Source: Chatzikokolakis et al. 2023, Figure 6, Proposition 3."""
    values = [ch.Laplace(1.0, 1 / float(e)).beta_star for e in EPSILONS]
    low = [ch.from_local_dp(float(e)).value for e in EPSILONS]
    tenth = ch.Laplace(1.0, 10.0).beta_star
    yield _security(
        "Laplace mechanism",
        [
            Line("Laplace", EPSILONS.tolist(), values),
            Line("the least that epsilon implies", EPSILONS.tolist(), low, "dashed"),
        ],
    )
    yield Printed("beta* at epsilon .1", LAPLACE, tenth)
    yield Printed("how often the two are told apart there", LAPLACE_TOLD, guessed(tenth))
    yield checked(
        "beta* falls with epsilon and lies above what epsilon implies",
        falls(values) and all(a >= b for a, b in zip(values, low, strict=True)),
    )


@yields
def make_c(_given: Given) -> Told:
    """Draw the Gaussian mechanism. Source: Chatzikokolakis et al. 2023, Figure 6, Proposition 4."""
    curves = {n: [gaussian(float(e), n) for e in EPSILONS] for n in RECORDS}
    one, tenth = gaussian(1.0, 1_000), gaussian(0.1, 1_000)
    yield _security(
        "Gaussian mechanism",
        [Line(f"{n:,} records, delta {n**-2:.0e}", EPSILONS.tolist(), curves[n]) for n in RECORDS],
    )
    yield Printed("beta* at epsilon 1, delta 1e-6", GAUSS, one)
    yield Printed("how often the two are told apart there", GAUSS_TOLD, guessed(one))
    yield Printed("beta* at epsilon .1, delta 1e-6", GAUSS_STRICT, tenth)
    yield checked(
        "beta* falls with epsilon and rises as delta falls",
        all(falls(curve) for curve in curves.values())
        and bool((np.diff([curves[n] for n in RECORDS], axis=0) > 0).all()),
    )
    yield (
        "The noise is calibrated by the classical formula, proved for epsilon below 1 only; "
        "above it the curve is that of the noise, not of an (epsilon, delta) guarantee."
    )


def response(values: int, epsilon: float) -> float:
    return ch.KaryRandomizedResponse(values, epsilon).beta_star


def gaussian(epsilon: float, records: int) -> float:
    """Compute beta* of the Gaussian mechanism with the paper's delta, 1 / records^2."""
    return ch.Gaussian.classical(epsilon, records**-2.0).beta_star


FIGURE_6A = Item(
    "002", "figure", "6a", "Bayes security of randomized response", 1.0, make_a,
    command="narcissus channel --mechanism randomized-response:values=1000000,epsilon=10",
)  # fmt: skip
FIGURE_6B = Item(
    "002", "figure", "6b", "Bayes security of the Laplace mechanism", 1.0, make_b,
    command="narcissus channel --mechanism laplace:epsilon=0.1",
)  # fmt: skip
FIGURE_6C = Item(
    "002", "figure", "6c", "Bayes security of the Gaussian mechanism", 1.0, make_c,
    command="narcissus channel --mechanism gaussian:epsilon=1,delta=1e-6",
)  # fmt: skip


PRINTED_RECORDS = Quote("2,458,285", "(Census1990) comprises 2,458,285 records", "Appendix H")
CENSUS_RECORDS = int(PRINTED_RECORDS.value)
VALUES = {"dAge": 8, "dIncome1": 5, "iMarital": 5, "iSex": 2}
"""Columns of the file, and how many values each has."""


@lru_cache(maxsize=1)
def read(path: Path) -> NDArray[np.int64]:
    """Read the Census, and count how many of its records have each of 400 values.

    A missing column, a wrong number of values in one, or a wrong number of records raises
    InputError.
    """
    table = read_table(path, columns=list(VALUES))
    sizes = tuple(VALUES.values())
    records = len(table.records) if table.counts is None else int(table.counts.sum())
    if tuple(table.sizes) != sizes or records != CENSUS_RECORDS:
        wanted = ", ".join(f"{name} {most}" for name, most in VALUES.items())
        have = ", ".join(f"{name} {n}" for name, n in zip(VALUES, table.sizes, strict=True))
        raise InputError(
            f"{path} is not the Census of the paper: it has {records:,} records with {have} "
            f"values, and should have {CENSUS_RECORDS:,} with {wanted}; fetch it from {FILE.source}"
        )
    places = np.ravel_multi_index(tuple(table.records.T), sizes)
    return np.bincount(places, weights=table.counts, minlength=400).astype(np.int64)


FILE = Needed(
    "USCensus1990.data.txt",
    "",
    "US Census Data (1990) of the UCI Machine Learning Repository, USCensus1990.data.txt; of its "
    "columns dAge, dIncome1, iMarital and iSex are read",
    read,
)


def counts(given: Given) -> NDArray[np.int64] | None:
    path = None if given.data is None else given.data / FILE.name
    return None if path is None or not path.exists() else read(path)


KINDS = int(np.prod(list(VALUES.values())))
EPSILONS_7 = (
    0.01, 0.03, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 2.5, 3.0, 3.3, 3.7, 4.2, 4.8, 5.4, 6.0, 7.0, 8.0,
    9.0, 10.0,
)  # fmt: skip
REPEATS = 10
SAMPLES = 100_000
CONFIDENCE = 0.999

_EQUATION_7 = "( ... 0.99999 ... from Equation 7)"
_ANALYTIC = "( ... 0.99995 ... analytic value)"
SECURITY = {
    3.3: Quote("0.99999", _EQUATION_7, "Appendix H"),
    4.8: Quote("0.99995", _ANALYTIC, "Appendix H"),
}
UTILITY = {
    3.3: Quote("95%", "utility reaches 95% for", "Appendix H"),
    4.8: Quote("99%", "which yields utility of 99%", "Appendix H"),
}
ESTIMATED = Quote("0.96", "we obtain ... 0.96 ... fbleau estimate", "Appendix H")

READINGS = {
    "nearest": "the nearest distribution",
    "cut": "shares cut at 0 and scaled",
    "raw": "shares as estimated",
}


def utilities(shown: Matrix, true: Matrix, mechanism: RandomizedResponse) -> dict[str, float]:
    """Return one minus the distance of the estimated shares to the true ones, in three readings.

    The estimate undoes the channel. As it comes out, shares may be negative (and the utility below
    0); they are cut at 0 and scaled, or all lowered alike until what is above 0 sums to one, which
    is the nearest distribution.
    """
    other = (1 - mechanism.keep) / (mechanism.values - 1)
    raw = (shown - other) / (mechanism.keep - other)
    cut = np.maximum(raw, 0.0)
    falling = np.sort(raw)[::-1]
    level = (np.cumsum(falling) - 1) / np.arange(1, mechanism.values + 1)
    nearest = np.maximum(raw - level[np.flatnonzero(falling > level)[-1]], 0.0)
    found = {"nearest": nearest, "cut": cut / cut.sum(), "raw": raw}
    return {key: 1 - float(np.abs(one - true).sum() / 2) for key, one in found.items()}


def play(epsilon: float, given: Given, *, repeats: int = REPEATS) -> dict[str, Any]:
    """Release the Census under randomized response, estimate its shares; estimate beta* as well.

    The result holds the utility of each release by the names of `READINGS`, none without the
    Census; ``estimate``, ``low``, ``high`` of beta* from samples of one pair of values.
    """
    return released(RandomizedResponse(epsilon, KINDS), counts(given), repeats)


def released(
    mechanism: RandomizedResponse, held: NDArray[np.int64] | None, repeats: int
) -> dict[str, Any]:
    """Play one mechanism on a table given by its counts, as `play` does."""
    rng = np.random.default_rng([round(100 * mechanism.epsilon), 2023])
    found = [] if held is None else [_released(mechanism, held, rng) for _ in range(repeats)]
    secret = rng.integers(2, size=(SAMPLES, 1), dtype=np.int32)
    output = mechanism.release(secret, rng)
    black_box = ch.estimate(
        secret.ravel(), output.ravel(), estimators=["frequentist"], confidence=CONFIDENCE, rng=rng
    ).beta_star
    return {
        **{key: [one[key] for one in found] for key in READINGS},
        "estimate": black_box.value,
        "low": black_box.low,
        "high": black_box.high,
    }


def _released(
    mechanism: RandomizedResponse, held: NDArray[np.int64], rng: np.random.Generator
) -> dict[str, float]:
    """Release a table given by its counts, and return the utilities of the result."""
    people = np.repeat(np.arange(len(held), dtype=np.int32), held)[:, None]
    released = mechanism.release(people, rng)
    shown = np.bincount(released.ravel(), minlength=len(held)) / len(people)
    return utilities(shown, held / held.sum(), mechanism)


def make(given: Given) -> Reproduced:
    """Draw utility and Bayes security against epsilon.

    Source: Chatzikokolakis et al. 2023, Figure 7, Appendix H.
    """
    found = [given.answers[f"epsilon {e:g}"] for e in EPSILONS_7]
    exact = [ch.KaryRandomizedResponse(KINDS, e).beta_star for e in EPSILONS_7]
    printed = [ch.KaryRandomizedResponse(CENSUS_RECORDS, e).beta_star for e in EPSILONS_7]
    read = bool(found[0]["raw"])
    utility = {
        key: [float(np.mean(one[key])) for one in found] for key in (READINGS if read else ())
    }
    lines = [
        *(
            Line(f"utility, {READINGS[key]}", EPSILONS_7, np.maximum(values, 0.0).tolist())
            for key, values in utility.items()
        ),
        Line("beta*, 400 values", EPSILONS_7, exact, "dashed"),
        Line("beta*, number of records taken for n", EPSILONS_7, printed, "dotted"),
        Line(
            "beta* estimated from samples", EPSILONS_7, [one["estimate"] for one in found], "points"
        ),
    ]
    return Reproduced(
        panels=(Panel("Randomized response on the Census", "epsilon", "share", lines),),
        printed=_printed(utility, dict(zip(EPSILONS_7, found, strict=True))),
        held=tuple(_held(utility, found, exact)),
        notes=(
            f"The table is the user's `{FILE.name}`: {REPEATS} releases at each epsilon; utility "
            "is one minus the total variation distance to the true shares. The paper does not say "
            "what was done about negative estimates: three ways are drawn; a utility below 0 is "
            "drawn as 0."
            if read
            else f"Utility (95% and 99% in print) is not compared: it needs the Census, "
            f"{CENSUS_RECORDS:,} records, as `{FILE.name}` in a folder named with --data.",
            f"beta* is estimated from {SAMPLES:,} samples of two values by counting, as limits of "
            "the package; the paper used F-BLEAU and does not say with how many samples.",
        ),
    )


_RECORDS = "the print takes the number of records for n; equation 7 takes the number of values, 400"
_CHOSEN = "which n was put in is not said: the number of records was taken because it agrees"
_TOOL = (
    "an estimate by a tool whose samples are not printed, from above; the exact value for 400 "
    "values is ours"
)
_TREATED = "the paper may have treated negative estimates otherwise"


def _printed(utility: dict[str, list[float]], found: dict[float, Any]) -> tuple[Printed, ...]:
    made: list[Printed] = []
    for epsilon, security in SECURITY.items():
        at = f"at epsilon {epsilon:g}"
        for n, what, fitted in (
            (KINDS, "the number of values for n", ""),
            (CENSUS_RECORDS, "the number of records for n", _CHOSEN),
        ):
            ours = ch.KaryRandomizedResponse(n, epsilon).beta_star
            made.append(Printed(f"beta* {at}, {what}", security, ours, _RECORDS, fitted))
        for key, values in utility.items():
            ours = values[EPSILONS_7.index(epsilon)]
            what = f"utility {at}, {READINGS[key]}"
            made.append(Printed(what, UTILITY[epsilon], ours, _TREATED))
    ours = found[3.3]["estimate"]
    made.append(Printed("beta* at epsilon 3.3, from samples", ESTIMATED, ours, _TOOL))
    return tuple(made)


def _held(utility: dict[str, list[float]], found: Any, exact: list[float]) -> Iterator[Held]:
    inside = [one["low"] <= e <= one["high"] for one, e in zip(found, exact, strict=True)]
    at = exact[EPSILONS_7.index(4.8)]
    yield from _of_utility(utility)
    yield played(
        f"limits of beta* from samples hold the exact value at all {len(EPSILONS_7)} epsilons",
        all(inside),
    )
    yield Held(
        "at epsilon 4.8 beta* is above .9 (400 values)",
        at > 0.9,
        "proved",
        f"equation 7 with 400 values gives {at:.4f}; estimates by attacks that miss "
        "something lie above it",
        Quote("0.9", "is above 0.9", "Appendix H"),
    )


def _of_utility(utility: dict[str, list[float]]) -> tuple[Held, ...]:
    """Check what the text claims of utility, if there is a table to measure it on."""
    if not utility:
        return ()
    low = [u for u, e in zip(utility["nearest"], EPSILONS_7, strict=True) if e < 2]
    rises = all(bool((np.diff(one) > -0.01).all()) for one in utility.values())
    return (
        played("utility rises with epsilon", rises),
        played(
            f"utility is low for epsilon below 2 (at most {max(low):.2f})",
            max(low) < 0.9,
            quote=Quote("", "We observe that utility is low for values", "Appendix H"),
        ),
    )


FIGURE_7 = Item(
    "002",
    "figure",
    "7",
    "Randomized response on the Census: utility and Bayes security",
    10.0,
    make,
    pieces={f"epsilon {e:g}": partial(play, e) for e in EPSILONS_7},
    small={"repeats": 1},
    needs=(FILE,),
    command="narcissus channel --mechanism randomized-response:values=400,epsilon=3.3",
)


VALUES_8 = 10
EPSILONS_8 = np.linspace(0.0, 5.0, 51)
EPSILON = 0.5
SIZES_8 = tuple(range(2, 21)) + tuple(range(25, 101, 5))
NAMES = ("beta*", "mean row", "any row", "Euclidean diameter")


def limits(values: int, epsilon: float) -> tuple[float, float, float, float]:
    """Compute beta* and its lower limits from the mean row, from any row, from the L2 diameter.

    Those of Proposition 5 are ``1 - d``; `quick_bounds` gives ``1 - d / 2`` as its upper limit, and
    as its lower one the better of ``1 - d`` and the column minima, which the paper does not have.
    """
    matrix = ch.KaryRandomizedResponse(values, epsilon).channel()
    from_rows: list[float] = []
    for reference in ("centroid", matrix.row(0)):
        high = ch.quick_bounds(matrix, reference).high
        assert high is not None
        from_rows.append(max(0.0, 2 * high - 1))
    exact = ch.beta_star(matrix).value
    return exact, from_rows[0], from_rows[1], ch.l2_bounds(matrix).low


@yields
def make_8(_given: Given) -> Told:
    """Draw the limits against epsilon and against the number of values.

    Source: Chatzikokolakis et al. 2023, Figure 8.
    """
    left = np.array([limits(VALUES_8, float(e)) for e in EPSILONS_8])
    right = np.array([limits(n, EPSILON) for n in SIZES_8])
    minima = [
        ch.quick_bounds(ch.KaryRandomizedResponse(VALUES_8, float(e)).channel()).low
        for e in EPSILONS_8
    ]
    room = 1e-6  # the Euclidean limit leaves as much for rounding
    ahead = right[:, 1] >= right[:, 2:].max(axis=1) - room
    behind = [n for n, best in zip(SIZES_8, ahead, strict=True) if not best]
    yield Panel(
        f"{VALUES_8} values",
        "epsilon",
        "Bayes security",
        [
            *_lines(EPSILONS_8.tolist(), left),
            Line("column minima (not in the paper)", EPSILONS_8.tolist(), minima, "points"),
        ],
    )
    yield Panel(f"epsilon {EPSILON:g}", "values", "Bayes security", _lines(list(SIZES_8), right))
    yield checked(
        "all three limits lie below beta*, at every point of both pictures",
        bool((left[:, 1:] <= left[:, :1] + 1e-12).all())
        and bool((right[:, 1:] <= right[:, :1] + 1e-12).all()),
    )
    yield checked(
        "the mean row gives the best of them, left (10 values)",
        bool((left[:, 1] >= left[:, 2:].max(axis=1) - room).all()),
    )
    yield checked(
        "the mean row gives the best of them, right (from 6 values on)",
        bool(ahead[np.array(SIZES_8) >= 6].all()),
    )
    yield (
        "The text calls the mean row the most accurate; from how many values on the right "
        "picture is drawn it does not say. Ours begins at 2: with "
        f"{', '.join(map(str, behind))} values the Euclidean diameter gives more, as its "
        "factor sqrt(n / 2) is below 2 (n - 1) / n there."
    )
    yield (
        "The column minima, sum_o min_s C_so, are exact for randomized response: dots on the "
        "curve of beta*."
    )


def _lines(x: list[float] | list[int], values: np.ndarray) -> list[Line]:
    styles = ("line", "dashed", "dotted", "dotted")
    return [
        Line(name, x, values[:, i].tolist(), style)
        for i, (name, style) in enumerate(zip(NAMES, styles, strict=True))
    ]


FIGURE_8 = Item(
    "002",
    "figure",
    "8",
    "Quick lower limits of Bayes security, on randomized response",
    1.0,
    make_8,
    command="narcissus channel --mechanism randomized-response:values=10,epsilon=0.5",
)


NAMES_TABLES: tuple[tuple[str, str, str], ...] = (
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
    ("computed by", "`channels.local_dp_epsilon`", "`channels.capacity`", "`channels.beta_star`"),
)


def make_1(_given: Given) -> Reproduced:
    """List what each symbol is called here. Source: Chatzikokolakis et al. 2023, Table I."""
    return Reproduced(table=NAMES_TABLES, cannot="it defines symbols, and prints no number")


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
    "002", "table", "II", "Local DP, capacity and Bayes security next to each other", 1.0, make_2,
    command=f"{CHANNEL} --json --all",
)  # fmt: skip
