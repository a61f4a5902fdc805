"""The documentation and the program agree: links lead somewhere, commands and options exist."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import click
import pytest

from narcissus.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
CALL = re.compile(r"(?:^|[\s`/])narcissus ([a-z][^`\n#|>]*)")


def commands(text):
    """Yield the words after `narcissus` wherever a page shows a command."""
    shown = re.findall(r"`narcissus [^`\n]+`", text)
    for block in re.findall(r"```(?:console|bash|sh)\n(.*?)```", text, flags=re.S):
        shown += block.splitlines()
    shown += [line for line in text.splitlines() if line.startswith("    narcissus ")]
    for line in shown:
        for call in CALL.findall(line):
            yield shlex.split(call)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    targets = [t for t in LINK.findall(page.read_text(encoding="utf-8")) if ":" not in t]
    missing = {t for t in targets if not (page.parent / t).exists()}
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_and_options_exist(page):
    for name, *words in commands(page.read_text(encoding="utf-8")):
        assert name in COMMANDS, name
        command = import_module(COMMANDS[name][0]).command
        options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
        for word in words:
            if word.startswith("--") and word != "--help":
                assert word.partition("=")[0] in options, f"{name} {word}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_with_an_example(name):
    command = import_module(COMMANDS[name][0]).command
    text = command.get_help(click.Context(command, info_name=f"narcissus {name}"))
    assert f"narcissus {name} " in text.partition("\n")[2]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
