"""Every report: accessible, self-contained, small, the same each time."""

import itertools
import re
from html.parser import HTMLParser

import pytest

from narcissus.report import render_html, render_text
from narcissus.report.kinds import PAGES
from narcissus.study.kinds import KINDS

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Tree(HTMLParser):
    """What the checks need of a document: tags with attributes, in order, and nesting."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.broken = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.broken.append(tag)


@pytest.fixture(scope="module")
def pages():
    return {}


@pytest.fixture(params=[5, 1])
def page(request, table_record, pages):
    """Give the HTML of a sweep, and of a single setting; each is drawn once."""
    if request.param not in pages:
        pages[request.param] = render_html(table_record(request.param))
    return pages[request.param]


def test_document_is_well_formed(page):
    tree = Tree(page)
    assert not tree.broken
    assert not tree.open


def test_ids_are_unique_and_references_lead_somewhere(page):
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    targets = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)
    named = [name for pair in targets for name in pair if name]
    for value in re.findall(r'aria-labelledby="([^"]+)"', page):
        named += value.split()
    assert named
    assert set(named) <= set(ids)


def test_nothing_from_outside_and_no_script(page):
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page
    assert "javascript:" not in page
    assert "@import" not in page
    assert not [tag for tag, _ in Tree(page).tags if tag in {"link", "img", "iframe", "object"}]
    for _, attributes in Tree(page).tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("href", "src"):
            assert attributes.get(name, "#").startswith("#")


def test_small(page):
    assert len(page.encode()) < 300 * 1024


def test_headings_in_order(page):
    levels = [int(tag[1]) for tag, _ in Tree(page).tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    for before, after in itertools.pairwise(levels):
        assert after <= before + 1


def test_landmarks_and_language(page):
    tags = Tree(page).tags
    assert ("html", {"lang": "en"}) in tags
    for landmark in ("header", "main", "footer", "nav"):
        assert [tag for tag, _ in tags].count(landmark) == 1


def test_pictures_have_title_description_and_table(page):
    pictures = page.split("<figure>")[1:]
    assert len(pictures) >= 4
    for picture in pictures:
        inside = picture.partition("</figure>")[0]
        assert 'role="img"' in inside
        assert re.search(r"<title id=\"[^\"]+\">[^<]{20,}</title>", inside)
        assert re.search(r"<desc id=\"[^\"]+\">[^<]{80,}</desc>", inside)
        assert "<table>" in inside


def test_tables_have_captions_and_scopes(page):
    assert page.count("<table>") == page.count("<caption")
    assert not re.findall(r"<th(?! scope=)[ >]", page)


def test_same_record_same_bytes(table_record):
    record = table_record(1)
    assert render_html(record) == render_html(record)
    assert render_text(record) == render_text(record)


def test_what_a_record_says_is_escaped(table_record):
    record = table_record(1, title="<script>alert(1)</script> & 'so'")
    html = render_html(record)
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp;" in html


def test_every_kind_of_study_has_a_page():
    assert PAGES.keys() == KINDS.keys()


def test_text_fits_a_terminal(table_record):
    for settings in (1, 5):
        lines = render_text(table_record(settings)).splitlines()
        assert [line for line in lines if len(line) > 80] == []
