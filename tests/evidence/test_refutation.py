"""Refutation from counts: exactness, bad input, coverage; priors known from samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from narcissus.bounds import (
    THEOREMS,
    Question,
    Theorem,
    f_dp_one_run_p_value,
    swap_program,
    swap_tail,
    threat,
)
from narcissus.errors import InputError
from narcissus.evidence import refute, refute_runs
from narcissus.evidence.refutation import _tests, closed_p_value, largest_refuted, refuted_by_runs
from narcissus.guarantees import ApproximateDP, GaussianDP

FALSE_ALARM = 1e-6


def test_ours_refutes_more_than_the_published_methods():
    found = refute(1000, 100, 75, delta=1e-4)
    methods = {method.id: method for method in found.methods}
    assert set(methods) == {"swap", "one-run", "f-dp-one-run"}
    assert methods["one-run"].epsilon == pytest.approx(0.673, abs=1e-3)
    assert not methods["one-run"].valid
    assert methods["swap"].epsilon == found.epsilon
    for method in found.methods:
        assert method.epsilon <= found.epsilon
        assert method.p_value >= found.p_value


def test_the_refuted_epsilon_is_where_the_bound_crosses_the_level():
    found = refute(400, 400, 300, delta=1e-5, confidence=0.99, values=4)
    at = float(swap_tail(400, 0.25, found.epsilon, 1e-5, 300, inseparable=0.25))
    above = float(swap_tail(400, 0.25, found.epsilon + 1e-6, 1e-5, 300, inseparable=0.25))
    assert at <= 0.01 < above


def test_guesses_chosen_after_the_release_are_tested_at_half_the_level():
    before = refute(1000, 100, 75, delta=1e-4)
    after = refute(1000, 100, 75, delta=1e-4, guesses_chosen="after")
    at = float(swap_tail(1000, 0.5, after.epsilon, 1e-4, 75, guesses=100, inseparable=0.5))
    assert at == pytest.approx(0.025, rel=1e-6)
    assert after.p_value == 2 * before.p_value
    assert after.mu < before.mu
    assert [m.p_value for m in after.methods] == [min(1, 2 * m.p_value) for m in before.methods]
    assert refute(10, 10, 5, delta=1e-4, guesses_chosen="after").p_value == 1
    pure = refute(1000, 100, 75, guesses_chosen="after")
    assert pure.epsilon == refute(1000, 100, 75).epsilon
    assert 0 < pure.mu < refute(1000, 100, 75).mu


def late_choice(counts: list[tuple[int, int]], m: int, epsilon: float, delta: float) -> float:
    """The largest chance that one of the numbers of guesses is made and reached, by program.

    For every ``r`` the distribution of right guesses, with (*) of theory 4.3 and one delta for all.
    """
    size = [r + 1 for r, _ in counts]
    start = np.concatenate([[0], np.cumsum(size)])
    slack = np.concatenate([[0], np.cumsum([r for r, _ in counts])]) + start[-1]
    width = int(slack[-1])
    gain, rows, total = np.zeros(width), [], np.zeros(width)
    for (r, v), at, free in zip(counts, start, slack, strict=False):
        gain[at + v : at + r + 1] = 1
        for j in range(r):
            row = np.zeros(width)
            row[at + j + 1], row[at + j] = (j + 1) / 2, -np.exp(epsilon) * (r - j) / 2
            row[free + j] = -1
            rows.append(row)
        total[free : free + r] = 1
    one = (np.arange(width) < start[-1]).astype(float)[None]
    found = optimize.linprog(
        -gain,
        A_ub=np.vstack([*rows, total]),
        b_ub=np.append(np.zeros(len(rows)), m * delta / 2),
        A_eq=one,
        b_eq=[1],
    )
    return -found.fun


def test_a_late_choice_of_the_number_exceeds_the_level_but_never_twice():
    worst = {}
    for delta in (0.0, 1e-3, 5e-3):
        for m, epsilon, numbers in [(30, 0.0, (5, 30)), (30, 0.5, (6, 12, 30)), (60, 0.2, (5, 40))]:
            for level in (0.02, 0.05, 0.1):
                counts = [
                    (r, v)
                    for r in numbers
                    for v in range(1, r + 1)
                    if closed_p_value(m, r, v, epsilon, delta) <= level
                    and closed_p_value(m, r, v - 1, epsilon, delta) > level
                ]
                single = max(late_choice([c], m, epsilon, delta) for c in counts)
                assert single <= level + 1e-9
                chance = late_choice(counts, m, epsilon, delta)
                assert chance <= level * (2 if delta else 1) + 1e-9
                worst[delta] = max(worst.get(delta, 0), chance / level)
    assert worst[0.0] <= 1 + 1e-9
    assert max(worst.values()) > 1.1  # so that the whole level would not hold


def test_nothing_is_refuted_by_chance_results():
    found = refute(100, 100, 52)
    assert found.epsilon == 0
    assert found.mu == 0
    assert found.noise == math.inf
    assert "NOTHING REFUTED" in str(found)
    assert refute(10, 0, 0).epsilon == 0


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        ((10, 20, 5), {}, "guesses"),
        ((10, 5, 6), {}, "correct"),
        ((0, 0, 0), {}, "canaries"),
        ((10, 5, -1), {}, "correct"),
        ((10, 5.5, 1), {}, "guesses"),
        ((10, 10, 8), {"delta": 1.0}, "delta"),
        ((10, 10, 8), {"delta": -1}, "delta"),
        ((10, 10, 8), {"confidence": 1.0}, "confidence"),
        ((10, 10, 8), {"values": 1}, "values"),
        ((10, 10, 8), {"claimed": -1}, "claimed"),
        ((10, 10, 8), {"guesses_chosen": "later"}, "guesses_chosen"),
    ],
)
def test_impossible_counts_are_refused(arguments, options, name):
    with pytest.raises(InputError, match=name):
        refute(*arguments, **options)
    for runs in ((PRIOR, 0, 0), (PRIOR, 10, 11), ([0.5, 0.4], 10, 5)):
        with pytest.raises(InputError):
            refuted_by_runs(*runs)


def at_most_alpha(misses: int, trials: int, alpha: float) -> bool:
    """One-sided: refuse only what happens with probability 1e-6 if the level holds."""
    return misses <= stats.binom.isf(FALSE_ALARM, trials, alpha)


@pytest.mark.states("Narcissus theory", "4.3")
@pytest.mark.coverage_claim
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (2.0, 0.0), (1.0, 2e-3)])
def test_what_holds_is_refuted_at_most_at_the_level(epsilon, delta):
    # Randomised response on each canary; with probability 0.04 all of delta's failures strike at
    # once. False-alarm rate 1e-6.
    rng = np.random.default_rng(17)
    m, r, trials, alpha = 200, 150, 5000, 0.05
    q = 1 / (1 + np.exp(-epsilon))
    struck = rng.random(trials) < 0.04
    known = rng.binomial(r, min(1.0, delta / 0.04), trials) * struck
    correct = known + rng.binomial(r - known, q)
    p = {v: closed_p_value(m, r, int(v), epsilon, delta) for v in np.unique(correct)}
    misses = sum(p[v] <= alpha for v in correct)
    assert at_most_alpha(misses, trials, alpha)
    # With 5,000 trials a level of 0.07 in place of 0.05 is found with power above 0.9.
    assert stats.binom.sf(stats.binom.isf(FALSE_ALARM, trials, 0.05), trials, 0.07) > 0.9


def test_the_search_returns_the_refuted_end():
    assert largest_refuted(lambda _: 1.0, 0.05, 1e-9) == 0
    assert largest_refuted(lambda _: 0.0, 0.05, 1e-9, largest=100) == 100


@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_a_late_choice_refutes_mu_by_one_point_of_its_profile(delta):
    found = refute(1000, 100, 75, delta=delta, confidence=0.9, guesses_chosen="after")
    point = delta or 0.1 / 2000
    for mu, refuted in ((found.mu * (1 - 1e-5), True), (found.mu * (1 + 1e-5), False)):
        profile = GaussianDP(mu).profile
        epsilon = optimize.brentq(lambda e, f=profile: float(f(e)) - point, 0.0, 20.0, xtol=1e-13)
        chance = float(swap_tail(1000, 0.5, epsilon, point, 75, guesses=100, inseparable=0.5))
        assert (chance <= 0.05) is refuted


def test_programs_are_solved_for_up_to_300_guesses():
    for guesses, asked in ((300, True), (301, False)):
        danger = threat(prior=0.5, exact_match=True, targets=400, guesses=guesses)
        by = _tests(Question(danger, GaussianDP(1.0), 200))
        assert ("swap-program" in {theorem.id for theorem in by}) is asked
        assert [theorem.expensive for theorem in by] == sorted(theorem.expensive for theorem in by)
    # about one point it has nothing to add
    danger = threat(prior=0.5, exact_match=True, targets=40)
    ids = {theorem.id for theorem in _tests(Question(danger, ApproximateDP(1.0, 1e-3), 20))}
    assert ids == {"swap", "one-run", "f-dp-one-run"}


def test_mu_is_refuted_up_to_where_the_program_crosses_the_level():
    found = refute(60, 60, 48, confidence=0.9)
    danger = threat(prior=0.5, exact_match=True, targets=60)
    tails = {
        mu: min(
            swap_program(danger, GaussianDP(mu), 48),
            f_dp_one_run_p_value(60, 60, 48, GaussianDP(mu)),
        )
        for mu in (found.mu, found.mu + 3e-3)
    }
    assert tails[found.mu] <= 0.1 < tails[found.mu + 3e-3]


def test_what_was_found_is_told():
    found = refute(60, 40, 30, delta=1e-4, claimed=0.2, confidence=0.9, values=3)
    counted = (found.canaries, found.guesses, found.correct, found.values)
    assert counted == (60, 40, 30, 3)
    assert (found.claimed, found.delta, found.confidence) == (0.2, 1e-4, 0.9)
    assert (found.grade, found.guesses_chosen) == ("sampled", "before")
    assert found.p_value == pytest.approx(closed_p_value(60, 40, 30, 0.2, 1e-4, values=3))
    assert "30 of 40 guesses about 60 canaries with 3 values were right" in str(found)
    assert 1.27316 <= found.epsilon < 1.27317
    assert "90% confidence the mechanism is not (1.27316, 0.0001)-DP" in str(found)
    assert str(found).count("assuming") == len(found.assumptions) == 4
    rests = {
        (chosen, delta): refute(9, 9, 9, delta=delta, guesses_chosen=chosen).assumptions[2]
        for chosen in ("before", "after")
        for delta in (0.0, 1e-3)
    }
    assert "fixed before" in rests["before", 0.0] == rests["before", 1e-3]
    assert "at delta 0 it may be late" in rests["after", 0.0]
    assert "half the level" in rests["after", 1e-3]


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
@pytest.mark.parametrize("edge", [0.1, 0.25, 3.0, 77.0])
def test_the_search_ends_within_its_tolerance(edge, tolerance):
    asked = []

    def p_value(e):
        asked.append(e)
        return e / (20 * edge)

    found = largest_refuted(p_value, 0.05, tolerance)
    assert edge - tolerance * max(1.0, edge) <= found <= edge
    assert len(asked) <= 60
    # from a start that is refuted it goes on, from one that is not it stays
    assert edge - 1e-9 * max(1.0, edge) <= largest_refuted(p_value, 0.05, 1e-9, start=0.05) <= edge
    assert largest_refuted(p_value, 0.05, 1e-9, start=2 * edge) == 2 * edge


def test_a_theorem_that_does_not_hold_refutes_nothing(monkeypatch):
    before = refute(40, 40, 30)
    wrong = Theorem(
        id="wrong",
        source="Nobody 2026, Theorem 1",
        says="Nothing is ever right.",
        about=("tail",),
        limit=lambda q: 0.0,
        holds=None,
        why="Guesses are right by chance.",
        audits=True,
    )
    monkeypatch.setitem(THEOREMS, "wrong", wrong)
    after = refute(40, 40, 30)
    assert (after.epsilon, after.mu, after.p_value) == (before.epsilon, before.mu, before.p_value)
    (shown,) = (method for method in after.methods if method.id == "wrong")
    assert (shown.epsilon, shown.p_value, shown.valid) == (1e4, 0.0, False)


def test_what_was_guessed_says_whom_it_is_about_and_how_far_a_record_reaches():
    found = refute(1000, 1000, 640)
    inside = found.asked("membership")
    assert (found.secret, inside.secret) == ("value", "membership")
    assert inside.noise == pytest.approx(1 / inside.mu)
    assert inside.asked("value") == found
    assert "replaced" in found.question
    assert "added and removed" in inside.question
    assert refute(10, 5, 3).asked("membership").noise == math.inf
    with pytest.raises(InputError, match="`values` must be 2 for membership"):
        refute(1000, 1000, 240, values=10).asked("membership")


PRIOR = np.array([0.4, 0.3, 0.2, 0.1])


def most(epsilon, delta=0.0):
    """Give the success of the best attacker by the closed form of one target."""
    sums, k = np.cumsum(PRIOR), np.arange(1, 5)
    best = (math.exp(epsilon) * sums / (math.exp(epsilon) + k - 1)).max()
    return delta + (1 - delta) * best


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_the_refuted_epsilon_is_where_the_binomial_tail_crosses_the_level(delta):
    found = refuted_by_runs(PRIOR, 300, 190, delta=delta)[0]
    tails = [stats.binom.sf(189, 300, most(e, delta)) for e in (found, found + 1e-4)]
    assert tails[0] <= 0.05 < tails[1]


def test_mu_of_two_even_values_is_the_gaussian_test():
    found = refuted_by_runs([0.5, 0.5], 400, 300, confidence=0.9)[1]
    tails = [stats.binom.sf(299, 400, special.ndtr(m / 2)) for m in (found, found + 1e-3)]
    assert tails[0] <= 0.1 < tails[1]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_mechanism_that_keeps_epsilon_is_refuted_no_more_often_than_allowed(epsilon):
    runs, share = 60, most(epsilon)
    first = next(k for k in range(runs + 1) if stats.binom.sf(k - 1, runs, share) <= 0.05)
    assert stats.binom.sf(first - 1, runs, share) > 0.005
    refuted = [refuted_by_runs(PRIOR, runs, k)[0] for k in (first - 1, first, first + 1)]
    assert refuted[0] < epsilon < refuted[1] < refuted[2]


def test_the_prior_itself_refutes_nothing():
    assert refuted_by_runs(PRIOR, 1000, 400) == (0.0, 0.0)
    assert refuted_by_runs(PRIOR, 1000, 0)[0] == 0
    # an even secret that is named as often refutes much
    assert refuted_by_runs(np.full(4, 0.25), 1000, 400)[0] > 0.5


def test_a_single_run_with_the_canary_counts():
    """One of one is called in, of 2,000 without it none: no small epsilon explains that."""
    scores, members = np.append(np.zeros(2000), 5.0), np.append(np.zeros(2000), 1)
    assert refute_runs(scores, members, threshold=1.0).epsilon > 1.0
