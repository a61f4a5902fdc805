"""Pages of samples and of groups: limits turned round, the worst group, what is not assessed."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus._outwards import upper
from narcissus.report import Figure, Grid
from narcissus.report.html import page_html
from narcissus.report.leakage import Asked, estimate_page, groups_page
from narcissus.report.leakage.sampled_pages import success
from narcissus.report.text import page_text
from narcissus.results import Estimate

ASKED = Asked("narcissus estimate s.csv", MappingProxyType({}), 3)


def draw(size, rate, rng, noise=0.0):
    secret = rng.integers(2, size=size)
    shown = np.where(rng.random(size) < rate, secret, 1 - secret)
    return secret, shown + noise * rng.normal(size=size)


def blocks(page, kind):
    return [b for section in page.sections for b in section.blocks if isinstance(b, kind)]


@pytest.mark.parametrize(
    ("quantity", "expected"), [("bayes_risk", (0.7, 0.6, 0.8)), ("beta_star", (0.85, 0.8, 0.9))]
)
def test_an_error_is_a_success_with_its_limits_turned_round(quantity, expected):
    found = success(Estimate(0.3, 0.2, 0.4, 0.95, 10), quantity)
    assert (found.share, found.low, found.high) == pytest.approx(expected)
    assert success(Estimate(0.3, None, 0.4, 0.95, 10), quantity).high is None


def test_the_numbers_of_samples():
    found = ch.estimate(*draw(2000, 0.8, np.random.default_rng(1)), rng=1)
    page = estimate_page(found, "s.csv", ASKED)
    assert [n[3] for n in page.verdict.numbers] == ["sampled", "sampled", "approximate"]
    assert page.verdict.assumptions
    table = blocks(page, Figure)[0].table
    assert table.rows[0][1] == found.beta_star.value
    assert "Seed" in page_text(page)
    assert "Not assessed" not in page_html(page)


def test_a_missing_limit_is_not_assessed():
    found = ch.estimate(*draw(600, 0.9, np.random.default_rng(2), noise=0.1), rng=1)
    text = page_text(estimate_page(found, "s.csv", ASKED))
    assert "Not assessed, so it may be unsafe" in text
    assert "How low the Bayes security may be" in text


def test_all_that_was_asked_about_the_samples_is_on_the_page():
    rng = np.random.default_rng(6)
    secret, shown = draw(1500, 0.8, rng)
    secret, shown = np.r_[secret, 2], np.r_[shown, 0]  # one sample of a third secret
    found = ch.estimate(secret, shown, rng=1, symmetric=True)
    others = ch.sampled_leakage(secret, shown, rng=1)
    test = ch.no_leakage_test(secret, shown, permutations=49, rng=1)
    page = estimate_page(found, "s.csv", ASKED, others, test)
    table = next(g for g in blocks(page, Grid) if g.caption.startswith("Other measures"))
    assert [row[:2] for row in table.rows] == [[n, e.value] for n, e in others.measures.items()]
    assert set(table.grades) == {"sampled"}
    text = page_text(page)
    assert upper(others["shannon-capacity"].high, places=4) in text
    assert "at most 0.02, sampled" in text
    assert "in randomised response" in " ".join(text.split())  # what the lower limits rest on
    assert "too few samples of '2' (1)" in text
    plain = page_text(estimate_page(found, "s.csv", ASKED))
    assert "Other measures" not in plain
    assert "Does it leak at all" not in plain


def test_measures_without_a_limit_and_a_test_that_finds_nothing_are_no_comfort():
    rng = np.random.default_rng(7)
    secret, shown = rng.integers(2, size=400), rng.normal(size=400)
    found = ch.estimate(secret, shown, rng=1)
    others = ch.sampled_leakage(secret, shown, measures=["capacity", "bayes-risk"], rng=1)
    test = ch.no_leakage_test(secret, shown, permutations=19, rng=2)
    assert test.p_value > 0.05
    text = page_text(estimate_page(found, "s.csv", ASKED, others, test))
    assert "capacity, upper limit" in text
    assert "bayes-risk, lower limit" in text
    assert "Not to be read as safe" in text
    assert "though there may be some" in text


def test_groups_stand_beside_each_other_with_their_differences():
    rng = np.random.default_rng(5)
    parts = [draw(1500, rate, rng) for rate in (0.6, 0.9)]
    secret, shown = (np.concatenate(p) for p in zip(*parts, strict=True))
    group = np.repeat(["north", "south"], 1500)
    small = np.r_[np.arange(3000), np.arange(6)]
    group = np.r_[group, np.full(6, "tiny")]
    found = ch.estimate_groups(secret[small], shown[small], group, rng=1)
    page = groups_page(found, "s.csv", ASKED)
    assert "'south'" in page.verdict.headline
    assert "do not settle" in page.verdict.headline  # one group is missing
    assert page.verdict.numbers[0][0] == "Worst two secrets told apart: group south"
    assert "the group 'tiny'" in page_text(page)
    apart = blocks(page, Grid)[0]
    assert apart.rows[0][:2] == ["north", "south"]
    assert apart.rows[0][4] == "yes"
    assert "<svg" in page_html(page)


def test_exact_groups_have_no_limits():
    c = ch.channel([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]], secrets=list("abcd"))
    found = ch.analyse_groups(c, {"a": "old", "b": "old", "c": "young", "d": "young"})
    page = groups_page(found, "c.csv", ASKED)
    assert page.verdict.headline == "The group that gives most away is 'old'."
    assert page.verdict.rests_on == "proved"
    assert "Limits" not in blocks(page, Figure)[0].table.columns
    assert "Limits" not in blocks(page, Grid)[0].columns
