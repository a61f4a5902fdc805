"""Reports of every kind in a real browser: on a phone, on paper, and to whoever cannot see them.

Skipped where there is no browser; what axe-core finds, where ``make axe`` has not fetched it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus import guarantees as gu
from narcissus.report.html import page_html, render_html
from narcissus.report.leakage import Asked, channel_page, design_page, guarantee_page
from narcissus.study.reading import read_record

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "tests" / "study"
AXE = ROOT / "build" / "axe.min.js"
KINDS = [
    *("records/last/channel", "records/last/extraction", "records/last/family"),
    *("records/last/samples", "records/last/sweep"),
    *("kept/classifier", "kept/image-model"),
    *("kept/language-model", "kept/secrets", "kept/synthetic"),
]
OF_OTHERS = ["channel", "design", "guarantee"]
PAGES = [*KINDS, *OF_OTHERS]


def page_of_other(name):
    """Draw a page that no study makes."""
    asked, rows = Asked("narcissus channel c.csv"), [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]
    loss = 1 - np.eye(3)
    if name == "channel":
        return page_html(channel_page(ch.analyse(ch.channel(rows), name="a.csv"), asked))
    if name == "design":
        made, curve = ch.most_secure(loss, 0.4), ch.trade_off(loss, 3)
        return page_html(design_page(made, curve, ch.loss_of_nothing(loss), asked))
    guarantee = gu.GaussianDP(1.0)
    return page_html(guarantee_page(ch.from_guarantee(guarantee), guarantee, None, asked))


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Give the function that draws a page once, and says where it is."""
    folder, drawn = tmp_path_factory.mktemp("pages"), {}

    def find(name):
        if name not in drawn:
            other = name in OF_OTHERS
            html = page_of_other(name) if other else render_html(
                read_record(RECORDS / f"{name}.json")
            )  # fmt: skip
            path = folder / f"{name.replace('/', '-')}.html"
            path.write_text(html, encoding="utf-8")
            drawn[name] = path.as_uri()
        return drawn[name]

    return find


@pytest.fixture
def screen(browser):
    """Give the function that sets size and looks of the screen, which are as before afterwards."""

    def set_to(width, *, scheme="light", media=""):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser("Emulation.setEmulatedMedia", media=media, features=features)
        browser(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=844, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        return browser

    yield set_to
    browser("Emulation.setEmulatedMedia", media="", features=[])
    browser("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.one_in(4)
def test_a_phone_shows_it_without_scrolling_sideways(screen, address, name):
    for width in (390, 320):
        browser = screen(width)
        browser.open(address(name))
        assert browser.js("document.documentElement.scrollWidth") <= width
        inside = "[...document.querySelectorAll('.scroll')].filter((e) => e.checkVisibility())"
        # what scrolls by itself can be reached by keyboard, and says what it is
        assert browser.js(f"{inside}.every((e) => e.tabIndex === 0 && e.ariaLabel)")
        assert browser.js(
            f"{inside}.every((e) => !e.matches('.stacks') || e.scrollWidth <= {width})"
        )


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.one_in(4)
def test_the_first_screen_of_a_phone_says_the_verdict_and_who_is_hurt_most(screen, address, name):
    browser = screen(390)
    browser.open(address(name))
    below = "document.querySelector('.worst, .odds, .headline').getBoundingClientRect()"
    assert browser.js(f"{below}.top") < 600


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.one_in(4)
def test_paper_keeps_a_heading_with_what_it_is_of(screen, address, name):
    browser = screen(680, media="print")
    browser.open(address(name))
    parted = """[...document.querySelectorAll('h2, h3, figcaption, thead')].filter(
      (e) => e.checkVisibility() && getComputedStyle(e).breakAfter !== 'avoid').length"""
    if name != "brief":  # it is one page
        assert browser.js(parted) == 0
        assert browser.js(
            "[...document.querySelectorAll('tbody tr:first-child')]"
            ".every((e) => getComputedStyle(e).breakBefore === 'avoid')"
        )


UNBROKEN = """[...document.querySelectorAll('main *')].filter(
  (e) => e.checkVisibility() && getComputedStyle(e).breakInside === 'avoid'
).map((e) => [e.className || e.tagName, e.getBoundingClientRect().height])"""


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.one_in(4)
def test_paper_has_the_numbers_behind_pictures_and_can_break_every_half_page(screen, address, name):
    browser = screen(680, media="print")  # A4 less its margins, in CSS pixels: 680 x 1010
    browser.open(address(name))
    behind = "[...document.querySelectorAll('figure details table')]"
    assert browser.js(f"{behind}.every((e) => e.checkVisibility({{contentVisibilityAuto: true}}))")
    assert [one for one in browser.js(UNBROKEN) if one[1] > 505] == []
    assert browser.js("document.documentElement.scrollWidth") <= 680
    words = "[...document.querySelectorAll('.on-paper')]"
    assert browser.js(f"{words}.every((e) => e.checkVisibility())")


def test_a_word_says_what_it_means_to_a_key_and_is_silent_again(screen, address):
    browser = screen(390)
    browser.open(address("records/last/sweep"))
    browser.js("document.querySelector('.term button').focus()")
    meaning = "document.querySelector('.meaning').checkVisibility()"
    assert not browser.js(meaning)
    browser.press("Enter", 13, "\r")
    assert browser.js(meaning)
    assert browser.js("document.documentElement.scrollWidth") <= 390
    browser.press("Escape", 27)
    assert not browser.js(meaning)


FOUND = """axe.run(document, {resultTypes: ['violations']}).then((found) =>
  found.violations.map((one) => [one.id, one.nodes.length, one.nodes[0].html]))"""


@pytest.mark.nightly
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(screen, address, name):
    if not AXE.exists():
        pytest.skip(f"no {AXE.relative_to(ROOT)}: `make axe` fetches it")
    for width, scheme in ((390, "light"), (390, "dark"), (1200, "light"), (1200, "dark")):
        browser = screen(width, scheme=scheme)
        browser.open(address(name))
        browser.js(AXE.read_text(encoding="utf-8") + "; 0")
        for step in (
            "0",
            "document.querySelectorAll('details').forEach((e) => { e.open = true; })",
        ):
            browser.js(step)
            assert browser.js(FOUND) == [], (width, scheme)
