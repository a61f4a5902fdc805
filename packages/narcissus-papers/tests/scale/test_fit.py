"""Directions, exponents and conclusions of curves, from their limits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from narcissus.evidence import clopper_pearson
from narcissus.kinds.game.numbers import bound_of
from narcissus.results import Bound
from narcissus_papers.scale import Parameter, Sweep, scale
from narcissus_papers.scale.fit import (
    EVERYBODY,
    NEAR,
    Known,
    SizeCurve,
    at_least,
    curves_of,
    direction,
    exponents,
    feasible,
    headline,
    named,
    places,
    sentence,
    told,
)


def known(size, low, high, value=None):
    return Known(size, (low + high) / 2 if value is None else value, low, high)


def test_an_exact_law_is_found_with_its_exponent_and_the_other_refused(exact):
    by_two, by_power = exponents(exact(lambda n: 3 * 2 ** (-0.7 * n), range(1, 9)))
    assert by_two.fits
    assert not by_power.fits
    assert by_two.low <= 0.7 <= by_two.high
    assert by_two.high - by_two.low < 1e-8
    assert by_two.off == pytest.approx(1)
    by_two, by_power = exponents(exact(lambda n: 3 / n**1.5, [1, 2, 4, 8, 16, 32]))
    assert by_power.fits
    assert not by_two.fits
    assert by_power.value == pytest.approx(1.5)


def test_exact_limits_are_the_steps_between_neighbours(exact):
    """The central binomial share falls like n^(-1/2), by steps that come nearer to it."""
    sizes = [2, 4, 8, 16, 32, 64]
    points = exact(lambda n: math.comb(n, n // 2) / 2**n, sizes)
    found = exponents(points)[1]
    steps = [math.log2(a.value / b.value) for a, b in itertools.pairwise(points)]
    assert (found.low, found.high) == pytest.approx((min(steps), max(steps)))
    assert found.low <= found.value <= found.high < 0.5


def test_sampled_limits_are_those_of_the_line_through_any_true_values():
    """All corners of the intervals, and values between: the slope of least squares stays within."""
    rng = np.random.default_rng(1)
    points = [known(s, 0.3 / s, 0.5 / s) for s in (1, 2, 3, 5)]
    by_two, by_power = exponents(points)
    for one in (by_two, by_power):
        x = places(one.law, [p.size for p in points])
        corners = [
            -np.polyfit(x, np.log2(ends), 1)[0]
            for ends in itertools.product(*((p.low, p.high) for p in points))
        ]
        assert (one.low, one.high) == pytest.approx((min(corners), max(corners)))
        inside = [rng.uniform(p.low, p.high) for p in points]
        assert one.low <= -np.polyfit(x, np.log2(inside), 1)[0] <= one.high


@pytest.mark.parametrize("seed", range(30))
def test_feasible_exponents_are_those_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    sizes = np.sort(rng.choice(np.arange(1, 30), 5, replace=False))
    middle = rng.uniform(0.5, 2) * 2.0 ** (-0.2 * sizes) * rng.uniform(0.7, 1.4, 5)
    low = np.where(rng.random(5) < 0.2, 0.0, middle * rng.uniform(0.6, 1, 5))
    high = middle * rng.uniform(1, 1.6, 5)
    points = [known(*p) for p in zip(sizes.tolist(), low, high, strict=True)]
    above = low > 0
    # b - a x between the logarithms, with an upper limit only where the lower one is 0
    rows = np.vstack([np.c_[np.ones(5), -sizes], np.c_[-np.ones(above.sum()), sizes[above]]])
    room = math.log2(NEAR)
    limits = np.r_[np.log2(high) + room, -np.log2(low[above]) + room]
    ends = [
        optimize.linprog([0, sign], rows, limits, bounds=[(None, None)] * 2) for sign in (1, -1)
    ]
    found = feasible("2^(-a x)", points)
    if ends[0].status == 2:
        assert found is None
    elif above.sum() > 1:
        assert found == pytest.approx((ends[0].fun, -ends[1].fun), abs=1e-7)


def test_a_certain_zero_lies_on_no_curve():
    assert feasible("2^(-a x)", [known(1, 0.4, 0.5), known(2, 0, 0)]) is None


def test_limits_hold_the_true_exponent(within):
    """Success 2^-n of 2,000 trials at five sizes: missed by at most one sweep in twenty."""
    rng, sizes, sweeps = np.random.default_rng(5), range(1, 6), 300
    missed = 0
    for _ in range(sweeps):
        points = []
        for size in sizes:
            hits = int(rng.binomial(2000, 2.0**-size))
            one = clopper_pearson(hits, 2000, confidence=1 - 0.05 / len(sizes))
            points.append(Known(size, one.value, one.low, one.high))
        one = exponents(points)[0]
        missed += not one.low <= 1 <= one.high
        assert direction(points) == "falls"
    assert missed <= stats.binom.ppf(1 - 1e-6, sweeps, 0.05)


def test_zeros_count_by_their_upper_limits_only():
    points = [known(8, 0.2, 0.3), known(16, 0.0, 0.01, 0.0), known(24, 0.0, 0.01, 0.0)]
    assert direction(points) == "falls"
    assert exponents(points) == []
    first, last, rate = at_least(points, "2^(-a x)")
    assert (first, last) == (8, 16)
    assert rate == pytest.approx(math.log2(0.2 / 0.01) / 8)
    assert at_least([known(1, 0, 0.1), known(2, 0, 0.1)], "2^(-a x)") is None
    # the upper limits refute a law that the others allow
    told = [known(1, 0.49, 0.51), known(2, 0.48, 0.52), known(9, 0.0, 0.01)]
    assert [one.fits for one in exponents(told)] == [False, False]


@pytest.mark.parametrize(
    ("limits", "way"),
    [
        ([(0.4, 0.5), (0.2, 0.3)], "falls"),
        ([(0.2, 0.3), (0.4, 0.5)], "rises"),
        ([(0.2, 0.3), (0.4, 0.5), (0.2, 0.3)], "goes up and down"),
        ([(0.50, 0.52), (0.51, 0.54)], "stays"),
        ([(0.2, 0.5), (0.1, 0.4)], "cannot be told"),
        ([(0.50, 0.52), (0.51, 0.56)], "cannot be told"),
        ([(0.0, 0.1), (0.0, 0.1)], "cannot be told"),
        ([(0.5, 0.6)], "cannot be told"),
    ],
)
def test_directions_are_certain_or_not_told(limits, way):
    assert direction([known(n, *ends) for n, ends in enumerate(limits)]) == way


def test_exact_zeros_are_zero(exact):
    assert direction(exact(lambda _: 0.0, (1, 2))) == "is zero"
    assert exponents(exact(lambda _: 0.0, (1, 2))) == []


def test_no_power_of_a_size_that_is_zero(exact):
    assert [e.law for e in exponents(exact(lambda n: 2.0**-n, range(4)))] == ["2^(-a x)"]


def test_a_fall_by_many_orders_may_drift_by_a_little(exact):
    """Within a twentieth in the exponent, though not in the value; not more."""
    sizes = [100, 200, 400, 800]
    for drift, fits in ((0.03, True), (0.12, False)):
        points = [
            Known(n, v, v, v, exact=True)
            for n in sizes
            for v in [2 ** (-0.2 * n ** (1 + drift / 3))]
        ]
        assert exponents(points)[0].fits == fits


def curve(scaled, whose, quantity):
    return next(c for c in scaled.curves if (c.whose, c.quantity) == (whose, quantity))


def test_exact_values_are_those_of_every_attacker(drawn):
    right = 1 / (1 + math.exp(-0.5))
    for quantity, formula in (
        ("success", lambda k: right**k),
        ("baseline", lambda k: 2.0**-k),
        ("gain", lambda k: right**k - 2.0**-k),
    ):
        found = curve(drawn, EVERYBODY, quantity)
        assert [p.size for p in found.points] == [1, 2, 3]
        for point in found.points:
            assert point.exact
            assert point.value == pytest.approx(formula(point.size), abs=1e-12)
            assert point.low <= formula(point.size) <= point.high
        assert found.grade == "proved"


def test_sampled_values_are_those_of_the_records_with_the_narrower_limits(drawn):
    found = curve(drawn, "released-places", "gain")
    assert found.grade == "sampled"
    for point, one in zip(found.points, drawn.each, strict=True):
        of = next(a for a in one.found.attackers if a.name == "released-places")
        won, lost, gap = of.success, of.fresh, of.gap
        assert point.value == won.value - lost.value
        assert point.low == max(gap.low, won.low - lost.high)
        assert point.high == min(gap.high, won.high - lost.low)
        assert won.confidence >= 1 - 0.05 / 6


def statement_of(one, **changes):
    return one.record.result.statement.model_copy(update=changes)


def gains(one):
    return [c.points for c in curves_of([(1.0, one.found)]) if c.quantity == "gain"]


def attackers_with(one, **changes):
    """Return what was played, with a change of each attacker."""
    play = one.record.result.play
    attackers = tuple(attacker.model_copy(update=changes) for attacker in play.attackers)
    return play.model_copy(update={"attackers": attackers})


def test_the_factor_on_the_baseline_is_that_of_the_statement(drawn, changed):
    first = drawn.each[0]
    statement = statement_of(first, epsilon=1.0)
    other = changed(first, play=attackers_with(first, gap=None), exact=None, statement=statement)
    gain = gains(other)[0][0]
    won, lost = first.found.attackers[0].success, first.found.attackers[0].fresh
    assert gain.value == won.value - math.e * lost.value
    assert gain.low == won.low - math.e * lost.high
    assert gain.high == won.high - math.e * lost.low


def test_the_epsilon_of_a_threshold_is_no_factor(drawn, changed):
    first = drawn.each[0]
    said = statement_of(first, name="threshold", epsilon=0.5)
    assert gains(changed(first, statement=said)) == gains(first)


@pytest.mark.parametrize("kept", [True, False])
def test_of_every_rate_only_limits_are_known(rows, kept):
    """The worst of all rates of a count of n bits at epsilon 1 is found by looking at 20,000."""
    study = {
        **rows,
        "attack": [],
        "run": {},
        "mechanism": {"name": "counting-query"},
        "family": {"kind": "rates", "from": 0.0, "to": 1.0, "points": 3, "tolerance": 1e-3},
        "statement": {"name": "narcissus", "epsilon": 1.0, "delta": 0.01},
    }
    if not kept:  # what one is told depends on the rate, so nothing is known between the rates
        study |= {"side-information": {"name": "rows", "rows": 1}}
    scaled = scale(study, Sweep(Parameter("world.n", (4, 8))), rng=1)
    (found,) = (c for c in scaled.curves if c.whose == EVERYBODY)
    assert (found.quantity, found.grade) == ("gain", "proved")
    p = np.linspace(0, 1, 20_001)
    for point in found.points:
        n = int(point.size)
        ones = np.arange(n + 1)
        gains = np.maximum.reduce([
            np.zeros((n + 1, p.size)),
            ones[:, None] / n - math.e * p,
            1 - ones[:, None] / n - math.e * (1 - p),
        ])  # fmt: skip
        worst = (stats.binom.pmf(ones[:, None], n, p) * gains).sum(axis=0).max()
        assert not point.exact
        if kept:
            assert point.low <= worst <= point.high <= point.value + 1e-3 + 1e-9
        else:
            assert point.high >= 1


def test_who_makes_no_attempt_has_no_success(drawn, changed):
    exact = drawn.each[0].record.result.exact
    points = tuple(point.model_copy(update={"delta": 0.0}) for point in exact.profile)
    none = exact.model_copy(update={"success": 0.0, "baseline": 0.0, "profile": points})
    found = changed(drawn.each[0], exact=none, bounds=(), play=None).found
    assert [(c.quantity, c.direction) for c in curves_of([(1.0, found), (2.0, found)])] == [
        ("gain", "is zero")
    ]


def test_an_attacker_that_always_failed_says_nothing(drawn, changed):
    first = drawn.each[0]
    broken = attackers_with(first, failed=first.record.result.play.trials)
    assert curves_of([(1.0, changed(first, play=broken, exact=None, bounds=()).found)]) == []


def test_bounds_are_named_by_their_theorem_and_graded_by_the_weakest(drawn, changed):
    name = "Theorem 1 (the mechanism is (1, 0)-private)"

    def with_bound(value, given):
        bound = bound_of(Bound(value, "delta", name, given, id="x"), "delta")
        return changed(drawn.each[0], bounds=(bound,), play=None, exact=None).found

    (found,) = curves_of([(1.0, with_bound(0.5, ())), (2.0, with_bound(0.2, ("it is so",)))])
    assert (found.whose, found.quantity, found.limits) == ("Theorem 1", "bound", "gain")
    assert found.grade == "proved if"
    assert [p.value for p in found.points] == [0.5, 0.2]


def made_curve(points, whose="x", quantity="gain", grade="sampled"):
    return SizeCurve(whose, quantity, tuple(points), grade)


def sampled(*limits):
    return [Known(n, (a + b) / 2, a, b) for n, (a, b) in enumerate(limits, start=1)]


def test_an_exact_law_is_named_with_its_exponent(exact):
    said = told(made_curve(exact(lambda n: 2.0**-n, range(1, 6)), EVERYBODY, grade="proved"))
    assert said.words == "falls like 2^-n (exponent 1)"
    assert said.grade == "approximate"
    assert said.is_told
    said = told(made_curve(exact(lambda n: 1 / n, (1, 2, 4, 8))))
    assert said.words == "falls like 1/n (exponent 1)"


def test_a_sampled_law_is_named_with_limits():
    points = [Known(n, 2.0**-n, 2.0**-n * 0.99, 2.0**-n * 1.01) for n in range(1, 9)]
    said = told(made_curve(points))
    assert said.words.startswith("falls like 2^-n (exponent 0.99")
    assert said.grade == "approximate"


def test_limits_are_rounded_outwards():
    points = [Known(n, 2.0**-n, 2.0**-n * 0.99, 2.0**-n * 1.01) for n in range(1, 9)]
    one = made_curve(points).exponents[0]
    low, high = told(made_curve(points)).words.rpartition("exponent ")[2].rstrip(")").split(" to ")
    assert float(low) <= one.low < one.high <= float(high)


@pytest.mark.parametrize(
    ("points", "words", "is_told"),
    [
        (sampled((0.2, 0.3), (0.6, 0.7)), "does not fall: it rises", True),
        (sampled((0.51, 0.53), (0.5, 0.52)), "does not fall: it stays between 0.5 and 0.53", True),
        (sampled((0.2, 0.5), (0.2, 0.4)), "cannot be told: the limits allow", False),
        (sampled((0, 0.1), (0, 0.2)), "cannot be told: nowhere certainly above 0, at most", False),
        (sampled((0.2, 0.5)), "cannot be told from one value", False),
        (sampled((0.4, 0.5), (0.1, 0.2)), "falls; 3 values or more tell by which law", True),
        (sampled((0.4, 0.5), (0.2, 0.3), (0.1, 0.2)), "falls, and these values cannot tell", True),
        (sampled((0.4, 0.5), (0, 0.01)), "falls, from 1 to 2 at least like 2^(-5.32 n)", True),
        (sampled((0.01, 0.1), (-0.2, -0.1)), "falls below 0", True),
    ],
)  # fmt: skip
def test_words_follow_what_is_certain(points, words, is_told):
    said = told(made_curve(points))
    assert said.words.startswith(words)
    assert said.is_told == is_told
    assert said.grade == "sampled"


def test_a_later_law_is_told_from_where_it_holds(exact):
    """Saturated at first: who tries 64 of 2^k inputs."""
    points = exact(lambda k: 1 - (1 - 2.0**-k) ** 64, (4, 6, 8, 10, 12, 14))
    said = told(made_curve(points))
    assert said.words.startswith("falls, from 8 on like 2^(-0.9")
    assert said.grade == "approximate"


def test_a_peak_is_named_and_what_comes_after(exact):
    said = told(made_curve(exact(lambda n: n * 2.0**-n if n > 1 else 0.1, range(1, 7))))
    assert said.words.startswith("goes up and down, with its largest value, 0.5, at 2; from there")


def test_neither_law_is_named_where_neither_fits(exact):
    said = told(made_curve(exact(lambda n: 0.5 + 2.0 ** -(n * n), range(1, 4))))
    assert said.words.startswith("falls, like neither law")
    assert said.grade == "sampled"


def test_a_zero_is_said_to_be_one_up_to_rounding(exact):
    said = told(made_curve(exact(lambda _: 0.0, (1, 2)), EVERYBODY, grade="proved"))
    assert said.words == "is zero, or below 1e-12, where rounding is lost"
    assert said.grade == "proved"


def test_the_exact_gain_is_the_verdict_where_it_is_known_often_enough(exact):
    few = made_curve(exact(lambda n: 2.0**-n, (1, 2)), EVERYBODY)
    many = made_curve(exact(lambda n: 2.0**-n, (1, 2, 3)), EVERYBODY)
    weak = made_curve(sampled(*[(0.1, 0.2)] * 5), "weak")
    strong = made_curve(sampled(*[(0.3, 0.4)] * 5), "strong")
    other = made_curve(sampled(*[(0.8, 0.9)] * 5), "strong", "success")
    assert headline([few, weak, strong, other]) is strong
    assert headline([many, weak, strong]) is many
    assert headline([few]) is few
    assert headline([other]) is None


def test_a_sentence_names_whose_and_the_values_drawn(exact):
    gain = made_curve(exact(lambda n: 2.0**-n, (2, 3, 4)), EVERYBODY)
    assert sentence(told(gain), "world.n") == (
        "For world.n = 2 to 4, the largest gain of any attacker falls like 2^-n (exponent 1)."
    )
    bound = SizeCurve("Lemma 1", "bound", gain.points, "proved", "success")
    form = SizeCurve("raw", "closed form", gain.points, "proved", "success")
    best = made_curve(gain.points, EVERYBODY, "success")
    assert [named(c) for c in (bound, form, best)] == [
        "the bound on success by Lemma 1",
        "the success of raw by its closed form",
        "the success of the attacker who gains most",
    ]
