"""Pages as text: made-up records word for word, and blocks by hand."""

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
    page_of,
    render_text,
)
from narcissus.report.text import first_text, page_text


@pytest.mark.parametrize(("name", "settings"), [("sweep", 5), ("single", 1)])
def test_text(table_record, golden, name, settings):
    golden(f"{name}.txt", render_text(table_record(settings)))


@pytest.mark.parametrize("status", ["exceeded", "inconclusive", "not assessed", "no threshold"])
def test_verdicts(table_record, golden, status):
    threshold = None if status == "no threshold" else 0.55
    record = table_record(5, status=status, threshold=threshold)
    golden(f"verdict-{status.replace(' ', '-')}.txt", first_text(page_of(record)))


def test_text_fits_a_terminal(table_record):
    for settings in (1, 5):
        lines = render_text(table_record(settings)).splitlines()
        assert [line for line in lines if len(line) > 80] == []


def page_with(*blocks, **verdict):
    return Page("A title", "", Verdict("met", "So it is.", **verdict), [Section("Part", blocks)])


def lines_of(*blocks):
    text = page_text(page_with(*blocks))
    return text.partition("----\n\n")[2].rstrip("\n").split("\n")


def test_a_table_stands_in_columns_with_its_grades():
    grid = Grid("Shares", ("Who", "Share"), [("me", 0.25), ("you", None)], ["proved", "sampled"],
                percent=("Share",))  # fmt: skip
    assert lines_of(grid) == [
        "Shares",
        "  Who  Share  How sure",
        "  ---  -----  -----------",
        "  me   25.0%  ■ proved",
        "  you  —      ◐ estimated",
    ]
    assert lines_of(Grid("Empty", ("A",), [])) == ["Empty", "  (no rows)"]


def test_a_table_that_is_too_wide_becomes_lists_of_terms():
    words = "a cell of many words, " * 10
    found = lines_of(Grid("Wide", ("Name", "What it is", "More"), [("x", words.strip(), words)]))
    assert found[1] == "  x"
    assert found[2].startswith("    What it is  a cell of many words")
    assert all(len(line) <= 80 for line in found)
    joined = " ".join(" ".join(found[2:]).split())
    assert joined.count("a cell of many words") == 20


def test_long_terms_and_digests_have_lines_of_their_own():
    digest = "sha256:" + "1" * 64
    found = lines_of(Facts([("Digest", digest), ("A term that is longer than its column", "x")]))
    assert found == [
        "Digest",
        "    " + digest,
        "A term that is longer than its column",
        " " * 26 + "x",
    ]
    assert lines_of(Facts([("Seed", "7")])) == ["Seed".ljust(26) + "7"]


def test_paragraphs_items_and_figures():
    assert lines_of(Text(["One.", "Two."])) == ["One.", "", "Two."]
    for tone, mark in (("plain", "-"), ("for", "+"), ("against", "-"), ("warning", "!")):
        assert lines_of(Items("List", ["a", "b"], tone)) == ["List:", f"  {mark} a", f"  {mark} b"]
    picture = Figure("It rises.", "A line.", lambda canvas: None, Grid("Behind", ("A",), [("x",)]))
    assert lines_of(picture) == ["It rises.", "", "Behind", "  A", "  -", "  x"]


def test_a_verdict_says_what_it_rests_on_and_assumes():
    verdict = {
        "rests_on": "proved if", "assumptions": ["a is", "b is"],
        "numbers": [("Guessed", "50%", "", "sampled"), ("Proved", "9%", "of all", "proved")],
        "where": "at ε = 1",
    }  # fmt: skip
    text = page_text(page_with(**verdict)).partition("\n\n\nPart")[0] + "\n"
    assert (
        text
        == """A title
=======

✓ MET at ε = 1  △ proved if

So it is.

This holds only if:
  - a is
  - b is

  Guessed  50%  ◐ estimated
  Proved    9%  ■ proved
      of all
"""
    )


def test_contradictions_come_before_the_headline():
    text = page_text(page_with(contradictions=["x and y", "u and v"]))
    assert text.index("x and y 1 more pair") < text.index("So it is.")


def test_words_of_the_page_are_explained_at_its_end():
    text = page_text(page_with(Text(["At ε = 1 the ceiling is near."])))
    _, words = text.split("\nWords\n-----\n")
    assert [line.split()[0] for line in words.splitlines() if line[:1].strip()] == [
        "ceiling", "epsilon",
    ]  # fmt: skip
