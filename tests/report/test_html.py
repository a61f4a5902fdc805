"""Pages as HTML: accessible, self-contained, small, the same each time."""

import itertools
import re
from html import unescape
from html.parser import HTMLParser

import pytest

from narcissus.report import (
    Facts,
    Figure,
    Grid,
    Items,
    Page,
    Section,
    Text,
    Verdict,
    render_html,
    render_text,
)
from narcissus.report.format import STATUS
from narcissus.report.html import page_html

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
    for landmark in ("header", "main", "footer"):
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


def without_pictures(html):
    """Drop what matplotlib draws: its paths differ by version; titles and tables stay."""
    return re.sub(r"(</desc>).*?(</svg>)", r"\1\2", html, flags=re.S)


def test_html(table_record, golden):
    html = without_pictures(render_html(table_record(1)))
    assert html.count("<svg") == html.count("</svg>") >= 4
    golden("single.html", html)


@pytest.mark.parametrize("status", ["met", "exceeded", "inconclusive", "not assessed"])
def test_status_in_words_and_sign_and_colour(table_record, status):
    record = table_record(1).model_copy(update={"status": status})
    html = render_html(record)
    word = STATUS[status][1]
    assert f'class="verdict tone-{word.lower().replace(" ", "-")}"' in html
    head = re.search(r'<h2 id="verdict-title">(.*?)</h2>', html)[1]
    assert 'class="sign" aria-hidden="true">' in head
    assert word in head
    assert "estimated</span>" in head


@pytest.mark.parametrize("status", ["met", "exceeded", "contradicted", "too few trials"])
@pytest.mark.parametrize(
    "weak",
    [{"grade": "approximate"}, {"grade": "proved if"}, {"assumptions": ["the prior is right"]}],
    ids=str,
)
@pytest.mark.one_in(3)
def test_what_is_weak_or_assumed_has_a_broken_edge_and_says_so(table_record, status, weak):
    record = table_record(1).model_copy(update={"status": status, **weak})
    html, text = render_html(record), render_text(record)
    tone = STATUS[status][1].lower().replace(" ", "-")
    assert f'class="verdict tone-{tone} unsure"' in html
    grade = weak.get("grade", "estimated")
    assert grade in re.search(r'<h2 id="verdict-title">(.*?)</h2>', html)[1]
    assert f"[{grade}]" in text.split("\n\n")[1]
    if "assumptions" in weak:
        for said in (read_aloud(html), text):
            assert "Assumes that the prior is right" in said
            assert re.search(r"holds only if:[\s-]+the prior is right", said)


def read_aloud(html):
    """Give the text of a page without its markup, as long as no word is asked what it means."""
    html = re.sub(r"<span [^>]*popover.*?</span>", "", html.partition("</head>")[2])
    return unescape(re.sub(r"<[^>]+>", "", html))


def html_of(*blocks, **verdict):
    shown = Verdict("met", "So it is.", **{"rests_on": "proved", **verdict})
    return page_html(Page("A & B", "", shown, [Section("Part", blocks)]), digest="sha256:1")


def test_blocks_are_escaped_and_cells_shown_by_their_kind():
    grid = Grid("<caption>", ("A", "Share"), [("<b>", 0.5), ("c–d", None)], percent=("Share",))
    html = html_of(Text(["<i>"]), Facts([("<t>", "<d>")]), Items("<l>", ["<x>"]), grid)
    assert not re.findall("<(caption>&|i>|t>|d>|l>|x>|b>)", html)
    for escaped in ("&lt;i&gt;", "&lt;t&gt;", "&lt;d&gt;", "&lt;l&gt;", "&lt;x&gt;", "&lt;b&gt;"):
        assert escaped in html
    assert "50.0%" in html
    assert "c–\N{WORD JOINER}d" in html  # a browser would break the line after the dash
    assert "A &amp; B" in html


def test_pictures_are_numbered_so_that_their_ids_differ():
    def picture(canvas):
        canvas.subplots().plot([0, 1], [0, 1])

    one = Figure("It rises.", "A line.", picture, Grid("Behind", ("A",), [("x",)]))
    html = html_of(one, one)
    assert re.findall(r'<title id="([^"]+)">', html) == ["figure-1-title", "figure-2-title"]


@pytest.mark.parametrize(
    ("verdict", "tone"),
    [
        ({}, "met"),
        ({"rests_on": "sampled"}, "met"),
        ({"rests_on": "proved if"}, "met unsure"),
        ({"rests_on": "approximate"}, "met unsure"),
        ({"assumptions": ["the prior is right"]}, "met unsure"),
    ],
)
def test_only_a_sure_status_without_assumptions_has_a_whole_edge(verdict, tone):
    assert f'class="verdict tone-{tone}"' in html_of(**verdict)


PRIOR = "the epsilon, and the epsilon again"


def test_a_word_is_asked_where_it_stands_once_in_each_part_and_told_on_paper_once_a_page():
    shown = Verdict("met", PRIOR, rests_on="proved")
    page = Page(
        "T", "", shown, [Section("A", [Text([PRIOR])]), Section("B", [Facts([("a", PRIOR)])])]
    )
    html = page_html(page)
    asked = re.findall(r'<button type="button" popovertarget="([^"]+)">epsilon</button>', html)
    assert len(asked) == 3
    assert re.findall(r'<span id="([^"]+)" popover class="meaning"><b>epsilon</b>', html) == asked
    assert len(re.findall(r'<p class="on-paper"><b>epsilon</b>: the factor', html)) == 1
    assert read_aloud(html).count(PRIOR) == 3


def test_what_is_folded_away_explains_its_words_itself_and_takes_them_from_nobody():
    folded = Grid("t", ("Epsilon",), [("x",)], folded=True)
    html = html_of(folded, Text([PRIOR]))
    assert html.count('">Epsilon</button>') == html.count('">epsilon</button>') == 1


def test_a_command_can_be_copied():
    assert "<dd>narcissus bound --epsilon 1</dd>" in html_of(
        Facts([("Command", "narcissus bound --epsilon 1")])
    )


def test_tables_of_many_columns_are_stacked_on_a_phone_under_their_columns():
    wide = Grid("t", ("A", "B & C", "D"), [("x", 1, 2)], grades=["proved"])
    html = html_of(wide, Grid("t", ("A", "B"), [("x", 1)]))
    assert html.count(' stacks"') == 1
    assert '<td data-column="B &amp; C" class="number">1</td>' in html
    assert '<td data-column="How sure">' in html
