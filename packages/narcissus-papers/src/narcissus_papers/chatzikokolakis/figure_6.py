"""Figure 6 of Chatzikokolakis et al. 2023: Bayes security against epsilon, of three mechanisms.

With the numbers that section VI prints.
"""

from __future__ import annotations

import numpy as np

from narcissus import channels as ch
from narcissus_papers.base import Given, Held, Item, Line, Panel, Printed, Quote, Reproduced

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


def guessed(beta_star: float) -> float:
    return 1 - beta_star / 2


def make_a(_given: Given) -> Reproduced:
    """Draw randomized response. Source: Chatzikokolakis et al. 2023, Figure 6, Equation 7."""
    curves = {n: [response(n, float(e)) for e in EPSILONS] for n in SIZES}
    million, ten = response(10**6, 10), response(10**7, 10)
    rising = np.diff([curves[n] for n in SIZES], axis=0)
    return Reproduced(
        panels=(
            Panel(
                "Randomized response",
                "epsilon",
                "Bayes security",
                [Line(f"{n:,} values", EPSILONS.tolist(), curves[n]) for n in SIZES],
                log_x=True,
            ),
        ),
        printed=(
            Printed("beta* at epsilon 10, a million values", MILLION, million),
            Printed("how often the two are told apart there", MILLION_TOLD, guessed(million)),
            Printed("beta* at epsilon 10, ten million values", TEN, ten),
            Printed("how often the two are told apart there", TEN_TOLD, guessed(ten)),
        ),
        held=(
            Held(
                "beta* falls with epsilon and rises with the number of values",
                all(falls(curve) for curve in curves.values()) and bool((rising >= 0).all()),
                "checked",
            ),
        ),
        notes=(
            "The paper calls n the number of data records; equation 7 takes the number of values "
            "that one record can have, which is what is drawn.",
        ),
    )


def make_b(_given: Given) -> Reproduced:
    """Draw the Laplace mechanism. Source: Chatzikokolakis et al. 2023, Figure 6, Proposition 3."""
    values = [ch.Laplace(1.0, 1 / float(e)).beta_star for e in EPSILONS]
    low = [ch.from_local_dp(float(e)).value for e in EPSILONS]
    tenth = ch.Laplace(1.0, 10.0).beta_star
    return Reproduced(
        panels=(
            Panel(
                "Laplace mechanism",
                "epsilon",
                "Bayes security",
                [
                    Line("Laplace", EPSILONS.tolist(), values),
                    Line("the least that epsilon implies", EPSILONS.tolist(), low, "dashed"),
                ],
                log_x=True,
            ),
        ),
        printed=(
            Printed("beta* at epsilon .1", LAPLACE, tenth),
            Printed("how often the two are told apart there", LAPLACE_TOLD, guessed(tenth)),
        ),
        held=(
            Held(
                "beta* falls with epsilon and lies above what epsilon implies",
                falls(values) and all(a >= b for a, b in zip(values, low, strict=True)),
                "checked",
            ),
        ),
    )


def make_c(_given: Given) -> Reproduced:
    """Draw the Gaussian mechanism. Source: Chatzikokolakis et al. 2023, Figure 6, Proposition 4."""
    curves = {n: [gaussian(float(e), n) for e in EPSILONS] for n in RECORDS}
    one, tenth = gaussian(1.0, 1_000), gaussian(0.1, 1_000)
    return Reproduced(
        panels=(
            Panel(
                "Gaussian mechanism",
                "epsilon",
                "Bayes security",
                [
                    Line(f"{n:,} records, delta {n**-2:.0e}", EPSILONS.tolist(), curves[n])
                    for n in RECORDS
                ],
                log_x=True,
            ),
        ),
        printed=(
            Printed("beta* at epsilon 1, delta 1e-6", GAUSS, one),
            Printed("how often the two are told apart there", GAUSS_TOLD, guessed(one)),
            Printed("beta* at epsilon .1, delta 1e-6", GAUSS_STRICT, tenth),
        ),
        held=(
            Held(
                "beta* falls with epsilon and rises as delta falls",
                all(falls(curve) for curve in curves.values())
                and bool((np.diff([curves[n] for n in RECORDS], axis=0) > 0).all()),
                "checked",
            ),
        ),
        notes=(
            "The noise is calibrated by the classical formula, proved for epsilon below 1 only; "
            "above it the curve is that of the noise, not of an (epsilon, delta) guarantee.",
        ),
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
