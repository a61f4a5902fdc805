"""Pages of exact results: they say what was found, with its grade, and ask for nothing outside."""

from __future__ import annotations

import re

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus import guarantees as gu
from narcissus.report import Facts, Figure, Grid, Items, Page
from narcissus.report.html import page_html
from narcissus.report.leakage import (
    Asked,
    Direction,
    channel_page,
    compose_page,
    design_page,
    guarantee_page,
    refinement_page,
)
from narcissus.report.leakage.sheet import assessed, graded, method, sheet
from narcissus.report.text import page_text
from narcissus.results import NotAssessed

ASKED = Asked("narcissus channel c.csv", {"the channel": "c.csv"})
SECRETS = ("x", "y", "z")
A = ch.channel([[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]], secrets=SECRETS)
LOSS = 1 - np.eye(3)


def blocks(page: Page, kind):
    return [b for section in page.sections for b in section.blocks if isinstance(b, kind)]


def exact():
    return channel_page(ch.analyse(A, name="a.csv"), ASKED)


def composed():
    uses = [(A, 40)]
    return compose_page(ch.mixed_security(uses), ch.security_over_uses(uses, points=4), ASKED)


def designed():
    made, curve = ch.most_secure(LOSS, 0.4), ch.trade_off(LOSS, 3)
    return design_page(made, curve, ch.loss_of_nothing(LOSS), ASKED)


def guaranteed():
    guarantee = gu.GaussianDP(1.0)
    reached = ch.dp_sgd_reached(2.0, 1.0, 1)
    return guarantee_page(ch.from_guarantee(guarantee), guarantee, reached, ASKED)


PAGES = [exact, composed, designed, guaranteed]


@pytest.mark.parametrize("make", PAGES, ids=lambda f: f.__name__)
def test_a_page_is_whole_small_and_asks_for_nothing(make):
    page = make()
    html = page_html(page)
    assert len(html) < 300 * 1024
    assert not re.search(r"<script|<img|https?://(?!www.w3.org)|@import|url\((?!#)", html)
    assert "narcissus channel c.csv" in html
    assert "the channel (c.csv)" in page_text(page)
    assert "sha256:" not in html
    assert "proved" in html
    assert page_text(page)
    if make is composed:
        assert page_html(make()) == html


@pytest.mark.parametrize("make", PAGES, ids=lambda f: f.__name__)
def test_figures_have_names_of_their_own_and_tables_their_grades(make):
    page = make()
    figures = blocks(page, Figure)
    assert len({f.name for f in figures}) == len(figures)
    for table in [*blocks(page, Grid), *(f.table for f in figures)]:
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_numbers_of_a_channel():
    page = exact()
    assert [n[1] for n in page.verdict.numbers] == ["33.3%", "53.3%", "80.0%"]
    assert "80.0 of 100 attempts are right" in page.verdict.headline
    test, beliefs, pairs = blocks(page, Figure)
    assert test.title == "The best test of x from y is right 80.0% of the time at even odds"
    assert (
        beliefs.title == "The best guess is right 53.3% of the time with the output, 33.3% without"
    )
    assert pairs.name == "pairs"


def test_a_channel_of_many_secrets_or_without_a_matrix_has_fewer_pictures():
    many = ch.KaryRandomizedResponse(40, 1.0)
    page = channel_page(ch.analyse(many, name="many"), ASKED)
    assert [f.name for f in blocks(page, Figure)] == ["test"]
    assert not blocks(channel_page(ch.analyse(ch.Laplace(1.0, 2.0)), ASKED), Figure)


def test_the_losses_of_an_attacker():
    loss = {"risk": 0.3, "prior_risk": 0.5, "beta_l": 0.6, "at_least": 0.4}
    page = channel_page(ch.analyse(A), ASKED, None, {**loss, "family": "", "theorem": "T"})
    table = blocks(page, Grid)[1]
    assert [row[1] for row in table.rows] == [0.3, 0.5, 0.6, 0.4]


def test_limits_of_a_composition_are_rounded_outwards():
    found = ch.ComposedSecurity(0.23457, 2.0, False, "T", 0.23461)
    curve = [ch.AfterOutputs(7, found)]
    page = compose_page(found, curve, ASKED)
    assert page.verdict.numbers[0][1] == "88.3%"
    assert "88.3 are right" in page.verdict.headline
    assert page.verdict.numbers[1][1] == "at least 0.2345"
    assert "at least 0.23457, at most 0.23461" in page.verdict.numbers[1][2]


def test_a_design_alone_or_with_a_mechanism():
    page = designed()
    assert [n[1] for n in page.verdict.numbers] == ["70.0%", "0.6", "0.4"]
    assert [f.name for f in blocks(page, Figure)] == ["trade-off", "mechanism"]
    alone = design_page(None, ch.trade_off(LOSS, 3), 2 / 3, ASKED)
    assert not alone.verdict.numbers
    assert "Saying nothing about the secret costs 0.6667" in alone.verdict.headline


def test_a_guarantee_says_which_direction_it_proves():
    page = guaranteed()
    assert page.verdict.numbers[0][1] == "at least 0.617"
    assert page.verdict.numbers[1][1].startswith("at most 0.617")
    assert "limits Bayes security from below" in page_text(page)
    assert any("Gaussian DP" in text for _, text in blocks(page, Facts)[0].rows)
    assert "No test of two neighbours is right more than 69.2%" in page_text(page)


B = ch.channel([[0.7, 0.3], [0.4, 0.6], [0.45, 0.55]], secrets=SECRETS)


def both(a, b):
    there, back = ch.refines(a, b), ch.refines(b, a)
    sides = [Direction("a", "b", there, there.by), Direction("b", "a", back, back.by)]
    return refinement_page(sides, SECRETS, ASKED)


def test_channels_that_cannot_be_compared_have_two_gains():
    page = both(A, B)
    assert page.verdict.rests_on == "proved"
    assert not blocks(page, Figure)
    gains = blocks(page, Grid)
    assert [g.columns for g in gains] == [("Guess", *SECRETS)] * 2
    assert "b is not a, post-processed" in page.verdict.headline
    assert "a is not b, post-processed" in page.verdict.headline
    found = ch.refines(A, B)
    assert f"{found.second:.6g} with b and {found.first:.6g} with a" in page.verdict.headline


def test_what_is_post_processed_is_drawn_and_is_approximate():
    page = both(A, ch.cascade(A, [[0.9, 0.1], [0.2, 0.8]]))
    assert page.verdict.rests_on == "approximate"
    [drawn] = blocks(page, Figure)
    assert drawn.title == "How a is made into b"
    assert "but for the solver's tolerance" in page.verdict.headline
    assert page_html(page).count("<svg") == 1


def test_what_was_not_decided_is_not_assessed():
    left = NotAssessed("b to a", "too large", "take fewer outputs")
    page = refinement_page([Direction("b", "a", left)], SECRETS, ASKED)
    assert page.verdict.rests_on == "not assessed"
    assert "was not decided" in page.verdict.headline
    assert "too large" in page_html(page)


def made(**more):
    verdict = assessed("It is so.", "proved", contradictions=more.pop("contradictions", ()))
    asked = Asked("narcissus channel c.csv", {"the channel": "c.csv"}, more.pop("seed", None))
    return sheet(verdict, [method("Thus.")], asked, title="T", subtitle="S", **more)


def test_what_is_open_is_said():
    left = [NotAssessed("the third", "there is none", "make one")]
    page = made(not_assessed=left, contradictions=("a and b",))
    items = [b for s in page.sections for b in s.blocks if isinstance(b, Items)]
    assert [i.tone for i in items] == ["against", "warning", "warning"]
    assert items[1].items == ["the third: there is none. Remedy: make one."]
    assert [s.title for s in made(not_covered=()).sections] == [
        "Method",
        "What this page gives away",
        "Provenance",
    ]


def test_provenance_has_the_command_the_files_and_the_seed_if_any():
    rows = dict(next(b for b in made(seed=4).sections[-1].blocks if isinstance(b, Facts)).rows)
    assert rows["Command"] == "narcissus channel c.csv"
    assert "Digest of the channel" not in rows
    assert rows["Seed"] == "4"
    rows = dict(next(b for b in made().sections[-1].blocks if isinstance(b, Facts)).rows)
    assert "Seed" not in rows


def test_one_grade_for_all_rows():
    assert graded("sampled", [1, 2]) == ["sampled", "sampled"]
