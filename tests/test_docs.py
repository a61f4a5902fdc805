"""The documentation and the program agree: links lead somewhere, commands and options exist."""

import doctest
import importlib.util
import re
import shlex
from dataclasses import replace
from pathlib import Path

import click
import pytest

from narcissus.cli.main import COMMANDS, LazyGroup, cli

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted({*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md")} - {PAGES[0]})
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
CALL = re.compile(r"(?:^|[\s`/])(narcissus(?:-papers)? [a-z][^`\n#|>&]*)")


def commands(text):
    """Yield the words of each command of ours that a page shows."""
    shown = re.findall(r"`narcissus(?:-papers)? [^`\n]+`", text)
    for block in re.findall(r"```(?:console|bash|sh)\n(.*?)```", text, flags=re.S):
        shown += block.splitlines()
    shown += [line for line in text.splitlines() if re.match("    narcissus(-papers)? ", line)]
    for line in shown:
        for call in CALL.findall(line):
            yield shlex.split(call)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    targets = [t for t in LINK.findall(page.read_text(encoding="utf-8")) if ":" not in t]
    missing = {t for t in targets if not (page.parent / t).exists()}
    assert not missing


# generated: long examples go on in a second line, and sentences begin as commands do
NAMING = [page for page in PAGES if page.name not in ("commands.md", "gallery.md")]


@pytest.mark.parametrize("page", NAMING, ids=lambda p: p.name)
def test_commands_and_options_exist(page):
    for program, name, *words in commands(page.read_text(encoding="utf-8")):
        if (group := group_of(program)) is None:
            continue
        if re.fullmatch(r"[\w-]+\.(csv|toml|json)", name) and group.starts:  # a file for a command
            command = group.load(group.starts, "start")
        else:
            assert name in group.list_commands(None), name
            command = group.get_command(None, name)
        options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
        for word in words:
            if word.startswith("--") and word != "--help":
                assert word.partition("=")[0] in options, f"{name} {word}"


def group_of(program) -> LazyGroup | None:
    """Give the commands of a program; None: its package is not installed."""
    if program == "narcissus":
        return cli
    try:
        from narcissus_papers.main import cli as of_papers
    except ModuleNotFoundError:
        return None
    return of_papers


def tool(name):
    """Give a program of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sessions = tool("sessions")
SHOWN = [  # what plays a study, by night
    pytest.param(page, session, marks=[pytest.mark.nightly] * ("narcissus audit" in session))
    for page in PAGES[1:]
    if page not in sessions.TUTORIALS and page.name != "gallery.md"  # tests/test_gallery.py
    for session in sessions.SESSION.findall(page.read_text(encoding="utf-8"))
    if "samples.csv" not in session  # the page does not give the file
]


@pytest.mark.parametrize(
    ("page", "session"),
    SHOWN,
    ids=lambda shown: shown.stem if isinstance(shown, Path) else shown.splitlines()[0][2:40],
)
@pytest.mark.one_in(3)
def test_commands_print_what_the_page_shows(page, session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    if "$ narcissus-papers" in session:
        pytest.importorskip("narcissus_papers")
    for command, shown, printed in sessions.played(session):
        assert not sessions.difference(shown, printed), f"{page.name}: {command}"


@pytest.mark.parametrize("page", sessions.TUTORIALS, ids=lambda p: p.stem)
@pytest.mark.one_in(4)
def test_a_tutorial_prints_what_it_shows_in_an_empty_folder(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    played = list(sessions.tutorial(page))
    assert len(played) > 3
    for command, shown, printed in played:
        assert not sessions.difference(shown, printed), f"{command}: run docs/sessions.py"
        assert printed.strip() or command.startswith("python "), command


def test_rates_on_the_page_about_sureness_are_those_that_were_measured():
    page = (ROOT / "docs" / "explanation" / "sureness.md").read_text(encoding="utf-8")
    measured = (ROOT / "docs" / "reference" / "error-rates.md").read_text(encoding="utf-8")
    rates = re.findall(r"\| (\d+ \| 0\.\d{4} \(.*?\)) \|", page)
    assert len(rates) == 7
    assert not [rate for rate in rates if f"| {rate} |" not in measured]
    broken = re.findall(r"\| (0\.\d{4}) \| (0\.\d+) \|", page)
    assert len(broken) == 5
    for rate, declared in broken:
        assert re.search(rf"beyond what .* {rate} \(.*\| {declared} \|", measured)


def test_tutorials_are_listed_and_need_only_what_is_installed():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert len(sessions.TUTORIALS) == 4
    for page in sessions.TUTORIALS:
        assert f"(tutorials/{page.name})" in index
        assert not re.search(r"^\$.* examples/", page.read_text(encoding="utf-8"), flags=re.M)


@pytest.mark.parametrize(
    ("shown", "printed", "said"),
    [
        ("one\n\ntwo\n", "\none  \ntwo\n", ""),
        ("one\n...\nthree\n", "one\ntwo\nthree\n", ""),
        ("one\n...\n", "one\ntwo\n", ""),
        ("one\n", "one\ntwo\n", "prints more than is shown"),
        ("two\n", "one\ntwo\n", "prints 'one' first"),
        ("one\n2 s\n", "one\n3 s\n", "does not print '2 s'"),
        ("one\n...\none\n", "one\ntwo\n", "does not print 'one'"),
    ],
)
def test_what_differs_is_noticed(shown, printed, said):
    assert sessions.difference(shown, printed) == said


def test_a_session_makes_files_runs_programs_and_gives_exit_codes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = (
        "$ cat it.py\nimport sys\n\nprint(sys.argv[1])\nsys.exit(3)\n\n"
        "$ python it.py --now\n--now\n$ echo $?\n3\n"
    )
    found = list(sessions.played(session))
    assert [one[0] for one in found] == ["python it.py --now", "echo $?"]
    assert all(shown == printed for _, shown, printed in found)


def test_a_tutorial_is_written_anew_where_it_shows_something_else(tmp_path, monkeypatch, capsys):
    page = tmp_path / "new.md"
    program = "$ cat a.py\nprint(1)\n\n$ python a.py\n"
    text = (
        f"```console\n{program}{{0}}```\nand\n```console\n$ python a.py\n{{0}}$ echo $?\n0\n```\n"
    )
    page.write_text(text.format("2\n"))
    monkeypatch.setattr(sessions, "TUTORIALS", [page])
    monkeypatch.setattr(sessions.sys, "argv", ["sessions.py", "--check"])
    assert sessions.main() == 1
    assert page.read_text() == text.format("2\n")
    monkeypatch.setattr(sessions.sys, "argv", ["sessions.py"])
    assert sessions.main() == 0
    assert page.read_text() == text.format("1\n")
    assert "new.md: python a.py: does not print '2'" in capsys.readouterr().out


BLOCK = re.compile(r"```python\n(>>> .*?)```", flags=re.S)
TAUGHT = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", TAUGHT, ids=lambda p: p.stem)
@pytest.mark.one_in(3)
def test_examples_in_python_give_what_the_page_shows(page, tmp_path, monkeypatch):
    """Run the blocks of a page in order, each going on where the one before ended."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    examples = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)


HELPED = [("narcissus", name) for name in COMMANDS]
HELPED += [("narcissus-papers", name) for name in ("reproduce", "scale")]


@pytest.mark.parametrize(("program", "name"), HELPED)
def test_every_command_helps_with_an_example(program, name):
    if (group := group_of(program)) is None:
        pytest.skip("the package is not installed")
    command = group.get_command(None, name)
    text = command.get_help(click.Context(command, info_name=f"{program} {name}"))
    assert f"{program} {name} " in text.partition("\n")[2]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


@pytest.fixture(scope="module")
def build():
    """Give docs/build.py as a module."""
    return tool("build")


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
    pytest.importorskip("narcissus_papers")
    from narcissus_papers import Held, Item, Printed, Quote, Reproduced

    held = (
        Held("it is so", holds=True, shown="proved"),
        Held("always", holds=False, shown="checked", because="not at | 3"),
    )
    quote = Quote("1.0", "it is 1.0", "section 1")
    apart = Reproduced(printed=(Printed("x", quote, 2.0, "it has 4"),))
    said = Reproduced(printed=(Printed("x", quote, 1.0),), held=held)

    def item(number, **more):
        return Item("002", "statement", number, "Says.", 1.0, lambda _given: said, **more)

    items = (
        item("Theorem 1 (first half)", command="narcissus channel a.csv"),
        item("Lemma 99"),
        item("Theorem 98", pieces={"a": said}),
        replace(item("sizes"), kind="figure"),  # ours, and no figure of the paper's
        replace(item("97a"), kind="figure", make=lambda _given: apart),
    )
    monkeypatch.setattr("narcissus_papers.ITEMS", {one.name: one for one in items})
    fitted = Printed("y", quote, 1.0, fitted="chosen so")
    chosen = replace(item("1"), make=lambda _given: Reproduced(printed=(fitted,)))
    assert build.claims(chosen) == (
        "0 of 1 printed numbers agree, 1 fitted<br>**fitted**: chosen so"
    )
    rows = [line for line in build.statements().splitlines() if "Says." in line]
    assert len(rows) == 4
    assert "1 proved, 1 of 1 printed numbers agree<br>" in rows[0]
    assert "<br>[**fails**](../explanation/errata.md): always: not at \\| 3" in rows[0]
    assert "`narcissus channel a.csv`" in rows[0]
    assert "tests/channels/test_bayes_security.py::test_beta_star_is_the_least_beta" in rows[0]
    assert "`narcissus-papers reproduce 002 --statement 'Lemma 99'` | not tested" in rows[1]
    assert "not computed for this page (some 1 s)" in rows[2]
    assert rows[3].startswith("| Figure 97a |")
    assert "0 of 1 printed numbers agree<br>**differs**: it has 4" in rows[3]
    assert "`narcissus-papers reproduce 002 --figure 97a`" in rows[3]


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
