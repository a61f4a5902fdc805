"""The page of a refinement: both directions, their witnesses, and the weaker grade."""

from __future__ import annotations

from narcissus import channels as ch
from narcissus.report import Figure, Grid
from narcissus.report.html import page_html
from narcissus.report.leakage import Asked, Direction, refinement_page
from narcissus.results import NotAssessed

SECRETS = ("x", "y", "z")
A = ch.channel([[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]], secrets=SECRETS)
B = ch.channel([[0.7, 0.3], [0.4, 0.6], [0.45, 0.55]], secrets=SECRETS)
ASKED = Asked("narcissus refine a.csv b.csv")


def blocks(page, kind):
    return [b for section in page.sections for b in section.blocks if isinstance(b, kind)]


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
