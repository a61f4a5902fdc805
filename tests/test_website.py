"""The site: links as the site has them, nothing from other hosts, each name with its docstring."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def website():
    """Give docs/website.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_website", ROOT / "docs" / "website.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("here", "text", "there"),
    [
        ("index.md", "[a](theory.md#4)", "[a](theory.md#4)"),
        ("tutorials/plan.md", "[a](../bounds.md)", "[a](../bounds.md)"),
        ("security.md", "[a](../SECURITY.md#b)", "[a](project/SECURITY.md#b)"),
        (
            "project/CONTRIBUTING.md",
            "[a](docs/develop/developing.md)",
            "[a](../develop/developing.md)",
        ),
        ("project/CONTRIBUTING.md", "[a](CHANGELOG.md)", "[a](CHANGELOG.md)"),
        ("index.md", "[a](#b) [c](https://d.example/e.md)", "[a](#b) [c](https://d.example/e.md)"),
    ],
)
def test_links_are_those_of_the_site(website, here, text, there):
    assert website.linked(text, here) == there


def test_files_from_outside_are_there(website):
    assert all((ROOT / path).is_file() for path in website.OUTSIDE)


def test_every_public_name_leads_to_its_docstring(website):
    written = website.named((ROOT / "docs" / "reference" / "names.md").read_text(encoding="utf-8"))
    assert "## [narcissus.bounds](narcissus.bounds.md)" in written
    line = next(line for line in written.splitlines() if line.startswith("| [`at_most`]"))
    assert "(narcissus.bounds.md#narcissus.bounds.at_most.at_most)" in line
    assert "\n| `" not in written


HEAD = '<meta http-equiv="Content-Security-Policy" content="default-src \'self\'">'


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (
            '<img src="a.png"><a href="https://other.example">read</a><script src="a.js"></script>',
            0,
        ),
        ('<script src="https://other.example/a.js"></script>', 1),
        ('<link rel="stylesheet" href="//other.example/a.css">', 1),
        ('<link rel="canonical" href="https://other.example/">', 0),
        ('<img srcset="https://other.example/a.png 2x">', 1),
        ("<style>@import 'https://other.example/a.css'; b { background: url(a.png) }</style>", 1),
        ('<p style="background: url(http://other.example/a)">', 1),
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(website, tmp_path, page, found):
    (tmp_path / "a.html").write_text(HEAD + page, encoding="utf-8")
    assert len(list(website.slips(tmp_path))) == found


def test_styles_and_pages_without_a_policy_are_found(website, tmp_path):
    (tmp_path / "a.html").write_text("<p>", encoding="utf-8")
    (tmp_path / "a.css").write_text("a{b:url(data:x)} c{d:url( 'https://other.example/e.woff')}")
    said = ["a.html: no Content-Security-Policy", "a.css: https://other.example/e.woff"]
    assert list(website.slips(tmp_path)) == said
