"""The thesis of Kaplan et al. 2025 in a picture: much is memorized, and nothing can be extracted.

One release, the exact average of rows under the Tardos prior (Definitions 1.1, 3.1 and 3.3,
Lemma 3.5, section 4.2), and the noisy one against all side information (Lemma 4.8).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from narcissus.profiles.closed_forms.average import (
    average_bits,
    dimensions,
    limit_given_rows,
    log2_delta,
)
from narcissus.profiles.closed_forms.candidates import bayes_success
from narcissus.report.panels import Line, Panel
from narcissus_papers.base import Given, Item, Told, checked, yields

GAMMA, DELTA, SURE, NOISE, SHARE = 0.04, 1e-6, 0.95, 0.1, 0.5
ROW_BITS = 1 / (2 * math.log(2))
"""Entropy of one bit of a row given its rate, on average over uniform rates: .72."""


def first(good: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number that is good, if all later ones are."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return low


def membership_begins(n: int) -> int:
    """Return the first ``d`` at which the row of the data is distinguished with `SURE`."""
    return first(lambda d: bayes_success(n, d, math.inf) >= SURE, n * n // 8 + 20, 2 * n * n)


def safety_begins(n: int) -> tuple[int, int]:
    """Return the ``d`` from which on nobody comes near a row: alone, and with any knowledge."""
    limit = math.log2(DELTA)
    told = first(lambda d: log2_delta(n, d, NOISE, SHARE) <= limit, 1, 10_000)
    return dimensions(n, GAMMA, DELTA)[1], told


@yields
def make(_given: Given) -> Told:
    """Draw what one release reveals, against its attributes and its rows.

    Source: Kaplan et al. 2025, sections 1.4 and 4.2.
    """
    n = 100
    ds = np.unique(np.geomspace(30, 20_000, 40).astype(int)).tolist()
    many = [d for d in ds if d >= 100]  # of fewer the integral is long
    named = [bayes_success(n, d, math.inf) for d in many]
    near = [limit_given_rows(n, d, GAMMA) for d in ds]
    told = [2.0 ** log2_delta(n, d, NOISE, SHARE) for d in ds]
    chances = [
        Line("names the row of the data, of two", many, named),
        Line("comes within 4% of a row: at most", ds, near, "dashed"),
        Line("names a row, noise .1, any side information: at most", ds, told, "dotted"),
    ]
    sizes = [10, 20, 50, 100, 200]
    plain, knowing = zip(*(safety_begins(k) for k in sizes), strict=True)
    member = [membership_begins(k) for k in sizes]
    rows = [average_bits(k, 1) / ROW_BITS for k in sizes]
    begins = [
        Line("membership: 95 of 100", sizes, member),
        Line("safe within 4%: 1e-6", sizes, plain, "dashed"),
        Line("safe from all knowledge (noise .1): 1e-6", sizes, knowing, "dotted"),
    ]
    bits = [Line("bits of the average, in rows of data", sizes, rows)]
    d = 10_000
    extracted, success = limit_given_rows(n, d, GAMMA), bayes_success(n, d, math.inf)
    rate = np.polyfit(np.log(sizes), np.log(member), 1)[0]
    yield Panel(f"The average of {n} rows", "attributes d", "chance", chances, log_x=True)
    yield Panel("From which d on", "rows n", "attributes d", begins, log_x=True, log_y=True)
    yield Panel("What it memorizes", "rows n", "rows", bits, log_x=True)
    yield checked(
        f"at n = {n} and d = {d:,} the same exact average is safe (nobody comes within 4% "
        f"of a row, but with chance below 1e-300), holds {average_bits(n, d):,.0f} "
        f"bits of the data beyond their rates, and tells a member from another row "
        f"{100 * success:.1f} times in 100",
        extracted < 1e-300 and success > SURE and average_bits(n, d) > 5 * d * ROW_BITS,
    )
    yield checked(
        f"from d = {max(plain)} on it is safe, for all n drawn; membership begins at "
        f"d = {', '.join(map(str, member))} for n = {', '.join(map(str, sizes))}: "
        f"at most n^2, and more than n^1.5 (fitted exponent {rate:.2f})",
        max(plain) <= 129
        and all(x <= k * k for x, k in zip(member, sizes, strict=True))
        and rate > 1.5,
    )
    yield checked(
        f"what it memorizes grows with n, in rows: {', '.join(f'{x:.1f}' for x in rows)}",
        all(a < b for a, b in itertools.pairwise(rows)) and rows[0] > 3,
    )
    yield checked(
        "with noise .1 for each attribute, all side information and half of the surprisal, "
        f"it is safe from d = {', '.join(map(str, knowing))} on",
        max(knowing) <= 200,
    )
    yield (
        "Membership is the best attacker's, of two candidates of which one is in the data; "
        "bits are those for a population so large that no row is drawn twice."
    )


THESIS = Item(
    "004", "figure", "thesis", "Memorized and not extractable, by rows and attributes", 3.0, make,
    command="narcissus init --example average-is-safe",
)  # fmt: skip
