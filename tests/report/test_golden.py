"""Text and HTML of made-up records, word for word. Set UPDATE_GOLDEN=1 to write them anew."""

import os
import re
from pathlib import Path

import pytest

from narcissus.report import render_html, render_text
from narcissus.report.kinds import page_of
from narcissus.report.text import verdict_text

GOLDEN = Path(__file__).parent / "golden"


def compare(name, text):
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def without_pictures(html):
    """Drop what matplotlib draws: its paths differ by version; titles and tables stay."""
    return re.sub(r"(</desc>).*?(</svg>)", r"\1\2", html, flags=re.S)


@pytest.mark.parametrize(("name", "settings"), [("sweep", 5), ("single", 1)])
def test_text(table_record, name, settings):
    compare(f"{name}.txt", render_text(table_record(settings)))


def test_html(table_record):
    html = without_pictures(render_html(table_record(1)))
    assert html.count("<svg") == html.count("</svg>") >= 4
    compare("single.html", html)


@pytest.mark.parametrize("status", ["exceeded", "inconclusive", "not assessed", "no threshold"])
def test_verdicts(table_record, status):
    threshold = None if status == "no threshold" else 0.55
    record = table_record(5, status=status, threshold=threshold, verdict=f"It is {status}.")
    compare(f"verdict-{status.replace(' ', '-')}.txt", verdict_text(page_of(record)))
