"""The gallery shows every shipped example, with commands that exist and print what it shows."""

import importlib.util
import re
from pathlib import Path

import click
import pytest

from narcissus.cli.main import cli

ROOT = Path(__file__).resolve().parents[1]


def load_gallery():
    """Return docs/gallery.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_gallery", ROOT / "docs" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gallery = load_gallery()
PAGE = gallery.PAGE.read_text(encoding="utf-8")
SHOWN = gallery.read_sessions(PAGE)
EXAMPLES = gallery.list_examples()


def test_the_gallery_shows_every_shipped_example_and_no_other():
    headings = re.findall(r"^### (.*)$", PAGE, flags=re.M)
    assert headings == [example["name"] for example in EXAMPLES]
    assert gallery.write_page(EXAMPLES, SHOWN) == PAGE


def test_most_examples_have_a_screen():
    assert len(SHOWN) >= 0.9 * len(EXAMPLES)


@pytest.mark.parametrize("name", ["init", "audit"])
def test_its_commands_exist(name):
    command = cli.get_command(None, name)
    options = {o for p in command.params if isinstance(p, click.Option) for o in p.opts}
    lines = re.findall(rf"^\$ narcissus {name} (.*)$", PAGE, flags=re.M)
    assert len(lines) == len(EXAMPLES)
    for line in lines:
        assert {word for word in line.split() if word.startswith("--")} <= options


def test_a_page_is_read_as_it_was_written():
    examples = [
        {"name": name, "kind": "game", "about": "About.", "source": source}
        for name, source in (("one", ""), ("two", "Example 2026"), ("three", ""))
    ]
    shown = {"one": "$ narcissus one\n1\n", "three": "$ narcissus three\n3\n"}
    assert gallery.read_sessions(gallery.write_page(examples, shown)) == shown


@pytest.mark.nightly
@pytest.mark.parametrize("example", EXAMPLES[::6], ids=lambda e: e["name"])
def test_an_example_prints_what_the_gallery_shows(example):
    assert gallery.run_example(example) == SHOWN.get(example["name"], "")
