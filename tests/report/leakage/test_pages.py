"""Pages of exact results: they say what was found, with its grade, and ask for nothing outside."""

from __future__ import annotations

import re

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus import guarantees as gu
from narcissus.report import Facts, Figure, Grid, Page
from narcissus.report.html import page_html
from narcissus.report.leakage import (
    Asked,
    channel_page,
    compose_page,
    design_page,
    guarantee_page,
)
from narcissus.report.text import page_text

ASKED = Asked("narcissus channel c.csv", {"the channel": "c.csv"})
A = ch.channel([[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]], secrets=["x", "y", "z"])
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
    assert "80.0 are right" in page.verdict.headline
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
