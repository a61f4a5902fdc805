"""What every page of a result says: what is open, and how to make it again."""

from __future__ import annotations

from narcissus.report import Facts, Items
from narcissus.report.leakage.sheet import Asked, assessed, graded, method, sheet
from narcissus.results import NotAssessed


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
