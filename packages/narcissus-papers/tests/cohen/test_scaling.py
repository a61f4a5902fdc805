"""Examples against their security parameter: claims hold, and fail where something is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.cohen import scaling
from narcissus_papers.cohen.complexity import near
from narcissus_papers.scale import Known, SizeCurve


def made(number):
    return ITEMS[f"003/figure-{number}"].make(Given())


QUICK = ["composition", "pinned-bits", "generator"]
LONG = [pytest.param(n, marks=pytest.mark.nightly) for n in ("one-wayness", "encryption")]


@pytest.mark.parametrize("number", [*QUICK, *LONG])
def test_all_claims_hold(number):
    found = made(number)
    assert found.verdict == "agrees"
    assert found.panels
    for panel in found.panels:
        assert all(len(line.x) == len(line.y) > 1 for line in panel.lines)


def test_every_item_says_what_a_user_runs():
    for item in scaling.SCALING:
        assert item.command.startswith("narcissus-papers scale ")
        assert " --over " in item.command


IDENTITY = {"name": "identity"}
WRONG = [
    ("composition", "silent", lambda f: lambda name: f("xor-half-alone")),
    (
        "pinned-bits",
        "silent",
        lambda f: lambda name: {**f(name), "mechanism": IDENTITY},
    ),
    ("generator", "found_of", lambda f: lambda budget: f(2 * budget)),
]


@pytest.mark.parametrize(("number", "name", "wrong"), WRONG)
def test_a_claim_fails_where_something_is_wrong(monkeypatch, number, name, wrong):
    monkeypatch.setattr(scaling, name, wrong(getattr(scaling, name)))
    assert made(number).verdict == "differs"


def test_a_formula_is_held_against_exact_values_and_limits():
    points = tuple(Known(n, 1 / n, 0.9 / n, 1.1 / n) for n in (1, 2, 3))
    curve = SizeCurve("x", "gain", points, "sampled")
    assert scaling.holds(curve, lambda n: 1.05 / n)
    assert not scaling.holds(curve, lambda n: 1.2 / n)
    assert not scaling.is_exactly(curve, lambda n: 1 / n)
    exact = SizeCurve(
        "x", "gain", tuple(Known(n, 1 / n, 1 / n, 1 / n, exact=True) for n in (1, 2)), "proved"
    )
    assert scaling.is_exactly(exact, lambda n: 1 / n)
    assert not scaling.is_exactly(exact, lambda n: 1.1 / n)


def test_what_is_missed_is_that_of_the_images():
    """One bit: its images share 1,024 strings nearly evenly, by count."""
    assert 0.49 < scaling.missed(1) < 0.5
    assert scaling.tabled(64)(1) == 1
    assert 0.5 < scaling.tabled(64)(6) < 0.8
    assert scaling.tabled(64)(14) == 64 / 2**14


NUMBER = "Appendix A"


@pytest.mark.states("Cohen et al. 2025", "Appendix A")
def test_all_claims_hold_but_for_two_remarks(says):
    says(NUMBER, "cutting the edges is necessary", "n >= 4 (gamma^2", paper="000")


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_slope_bound_covers_all_rates(epsilon):
    """Rates between the coarse grid's are below the bound, and it is not far above."""
    limit = scaling.at_most(30, epsilon, 40)
    fine = max(scaling.uncut(30, p, epsilon) for p in np.linspace(0, 1, 1001))
    assert fine <= limit
    step = 1e-4
    slopes = [
        abs(scaling.uncut(30, p + step, epsilon) - scaling.uncut(30, p, epsilon)) / step
        for p in np.linspace(0, 1 - step, 400)
    ]
    assert max(slopes) <= 1 + math.exp(epsilon)
    assert limit <= fine + (1 + math.exp(epsilon)) / 80 + 1e-12


def test_the_formula_is_the_exact_profile():
    for rate in (0.01, 0.3, 0.5):
        assert scaling.uncut(50, rate, 1.0) == pytest.approx(
            scaling.exact(50, rate, 0.0), abs=1e-12
        )


WRONG_COUNTING = [
    ("uncut", lambda f: lambda *a: 3 * f(*a)),
    ("exact", lambda f: lambda *a: f(*a) + 1e-3),
    ("published_cut", lambda f: lambda e, d, n: (f(e, d, n)[0], 0.01)),
    ("at_most", lambda f: lambda *a: f(*a) + 0.2),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG_COUNTING)
@pytest.mark.one_in(2)
def test_a_claim_fails_where_something_is_wrong_of_counting(spoiled, monkeypatch, name, wrong):
    monkeypatch.setattr(scaling, "SETTINGS", [(1.0, 0.01)])
    monkeypatch.setattr(scaling, "for_every_rate", list)
    assert spoiled(monkeypatch, NUMBER, scaling, name, wrong, paper="000")


MISTAKEN = [
    ("every_rate", lambda f: lambda tau, **k: f(tau + 0.01, **k)),
    ("beyond_two_values", lambda f: lambda cases: f(1) + 1e-9),
]


@pytest.mark.parametrize(("name", "wrong"), MISTAKEN)
@pytest.mark.one_in(2)
def test_a_claim_about_every_rate_fails_where_something_is_wrong(monkeypatch, name, wrong):
    monkeypatch.setattr(scaling, name, wrong(getattr(scaling, name)))
    assert not all(one.holds for one in scaling.for_every_rate())


ITEM = ITEMS["003/figure-covering"]


@pytest.mark.states("Cohen et al. 2024", "Example D.5", "Example D.6")
def test_all_claims_hold_of_covering():
    found = ITEM.make(Given())
    assert (found.verdict, len(found.held), len(found.panels)) == ("agrees", 7, 3)
    for panel in found.panels:
        assert all(len(line.x) == len(line.y) > 1 for line in panel.lines)
    assert ITEM.command.startswith("narcissus-papers scale ")


WRONG_COVERING = [
    ("near", lambda f: lambda d, share: f(d, share) * 1.01),
    ("entropy", lambda f: lambda share: f(share) * 0.9),
    ("sizes", lambda f: lambda d: (0, d / 2)),
    ("greedy_code", lambda f: lambda d: 3 * f(d)),
    ("first_near", lambda f: lambda d, strings: 4 * f(d, strings)),
    ("listed_program", lambda f: lambda d, number: f(d, number + 1)),
    ("expected_bits", lambda f: lambda chance: 1.1 * f(chance)),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG_COVERING)
@pytest.mark.one_in(4)
def test_a_claim_fails_where_something_is_wrong_of_covering(monkeypatch, name, wrong):
    monkeypatch.setattr(scaling, name, wrong(getattr(scaling, name)))
    assert ITEM.make(Given()).verdict == "differs"


def test_a_program_as_long_as_half_of_the_bits_is_noticed(monkeypatch):
    monkeypatch.setattr(
        scaling.HammingBall, "covering_program_size", lambda self, d: math.ceil(d / 16)
    )
    assert ITEM.make(Given()).verdict == "differs"


def test_greedy_codes_cover_every_string_and_start_at_nought():
    for d in (4, 6, 8):
        words = scaling.greedy_code(d)
        assert words[0] == 0
        assert all(min((x ^ word).bit_count() for word in words) <= d // 4 for x in range(2**d))
        assert not all(
            min((x ^ word).bit_count() for word in words[:-1]) <= d // 4 for x in range(2**d)
        )


def test_the_first_word_that_is_near_is_found():
    strings = np.array([3, 40_000, 2**16 - 1], dtype=np.uint64)
    for string, number in zip(strings, scaling.first_near(16, strings), strict=True):
        apart = [(scaling.listed_word(16, n) ^ int(string)).bit_count() for n in range(number + 1)]
        assert apart[-1] <= 4
        assert min(apart[:-1], default=16) > 4


def test_the_expected_bits_are_those_of_a_geometric_number():
    drawn = np.log2(np.random.default_rng(1).geometric(0.01, 40_000))
    assert scaling.expected_bits(0.01) == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 200)


def test_the_slope_is_what_is_left_of_a_constant_and_half_a_logarithm():
    d = np.array([100.0, 200.0, 400.0])
    assert scaling.slope_of(d, 7 + 0.3 * d + np.log2(d) / 2) == pytest.approx((0.3, 7))
    long = np.array([1000.0, 2000.0, 4000.0])
    bits = np.array([-math.log2(near(int(x), 0.25)) for x in long])
    a, c = scaling.slope_of(long, bits)
    assert a == pytest.approx(0.18872, abs=1e-5)
    assert c == pytest.approx(math.log2(math.sqrt(2 * math.pi * 3 / 16) / 1.5), abs=0.01)
