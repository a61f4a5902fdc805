"""The documentation and the program agree: links lead somewhere, commands and options exist."""

import doctest
import importlib.util
import re
import shlex
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import click
import pytest

from narcissus.cli.main import COMMANDS, main
from narcissus.reproduce import Held, Item, Printed, Reproduced

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted({*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md")} - {PAGES[0]})
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


SESSION = re.compile(r"```(?:console)?\n(\$ .*?)```", flags=re.S)
SHOWN = [
    (page, session)
    for page in PAGES[1:]
    for session in SESSION.findall(page.read_text(encoding="utf-8"))
    if "samples.csv" not in session  # the page does not give the file
]


@pytest.mark.parametrize(
    ("page", "session"), SHOWN, ids=[f"{p.stem}-{s.splitlines()[0][2:40]}" for p, s in SHOWN]
)
def test_commands_print_what_the_page_shows(page, session, tmp_path, monkeypatch, capsys):
    """Run a session from the top; `...` stands for lines that are left out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for part in session.split("$ ")[1:]:
        command, _, shown = part.partition("\n")
        if command.startswith("cat "):
            Path(command[4:]).write_text(shown.strip() + "\n", encoding="utf-8")
            continue
        with pytest.raises(SystemExit):
            main(shlex.split(command)[1:])
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        place, loose = 0, False
        for line in filter(None, map(str.rstrip, shown.splitlines())):
            if line == "...":
                loose = True
                continue
            rest = [i for i, other in enumerate(printed[place:], place) if other]
            found = next((i for i in rest if printed[i] == line), None)
            assert found is not None, f"{command}: does not print {line!r}"
            assert loose or found == rest[0], f"{command}: prints {printed[rest[0]]!r} first"
            place, loose = found + 1, False
        assert loose or not any(printed[place:]), f"{command}: prints more than {page.name} shows"


BLOCK = re.compile(r"```python\n(>>> .*?)```", flags=re.S)
TAUGHT = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", TAUGHT, ids=lambda p: p.stem)
def test_examples_in_python_give_what_the_page_shows(page, tmp_path, monkeypatch):
    """Run the blocks of a page in order, each going on where the one before ended."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    examples = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_with_an_example(name):
    command = import_module(COMMANDS[name][0]).command
    text = command.get_help(click.Context(command, info_name=f"narcissus {name}"))
    assert f"narcissus {name} " in text.partition("\n")[2]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


@pytest.fixture(scope="module")
def build():
    """Give docs/build.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Source: Swanberg et al. 2025, Theorem 3.2.", ["Theorem 3.2"]),
        ("(Cohen et al. 2024, Definitions 1.13, D.7 and D.8, Claim D.9)",
         ["Definition 1.13", "Definition D.7", "Definition D.8", "Claim D.9"]),
        ("Narcissus theory 4.4 and 4.6.", ["4.4", "4.6"]),
        ("Source: Narcissus theory, end of 4.4.", []),
        ("Dong, Roth and Su 2022, Theorem 2.14 (Gaussian); see 3 more", ["Theorem 2.14"]),
        ("Mironov 2017. The profile is another.", []),
        ("Chatzikokolakis et al. 2023, sections V-B and V-C", ["section V-B", "section V-C"]),
    ],
)  # fmt: skip
def test_citations_are_read_from_text(build, text, found):
    assert [place for _, place in build.places(text)] == found


def test_the_page_of_statements_says_what_holds_what_fails_and_what_tests_it(build, monkeypatch):
    held = (
        Held("it is so", holds=True, shown="proved"),
        Held("always", holds=False, shown="checked", because="not at | 3"),
    )
    said = Reproduced(printed=(Printed("x", 1.0, 1.0, 0.1),), held=held)

    def item(number, **more):
        return Item("002", "statement", number, "Says.", 1.0, lambda _given: said, **more)

    items = (
        item("Theorem 1 (first half)", command="narcissus channel a.csv"),
        item("Lemma 99"),
        item("Theorem 98", pieces={"a": said}),
        replace(item("Figure 97"), kind="figure"),
    )
    monkeypatch.setattr("narcissus.reproduce.ITEMS", {one.name: one for one in items})
    rows = [line for line in build.statements().splitlines() if "Says." in line]
    assert len(rows) == 3
    assert "1 proved, 1 of 1 printed numbers agree<br>" in rows[0]
    assert "<br>[**fails**](errata.md): always: not at \\| 3" in rows[0]
    assert "`narcissus channel a.csv`" in rows[0]
    assert "tests/channels/test_bayes_security.py::test_beta_star_is_the_least_beta" in rows[0]
    assert "`narcissus reproduce 002 --statement 'Lemma 99'` | not tested" in rows[1]
    assert "takes long" in rows[2]


def test_a_statement_is_tested_only_where_a_test_says_so(build):
    """Words that happen to match are no test; a mark of what nothing cites is a slip."""
    assert build.unknown_marks() == []
    marked = build.marked_tests()
    for row in build.citations().splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) != 4 or cells[0] in ("source", "---"):
            continue
        tests = marked.get((cells[0], cells[1]), [])
        assert cells[3] == ("<br>".join(f"`{t}`" for t in tests) or "not tested")
        for test in tests:
            file, name = test.split("::")
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
