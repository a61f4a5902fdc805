"""What several commands take is read by all of them in the same way."""

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from typing import Annotated

import click
import pytest

import narcissus
from narcissus.cli.main import COMMANDS, cli
from narcissus.cli.options import command_of, some

NO_COMMANDS = {"--help", "--option"}  # click's own, and an example
SHARED = {
    "--allow-code": {"audit", "profile", "verify"},
    "--yes": {"audit", "extract", "verify"},
    "--quiet": {"audit", "extract", "verify"},
    "--workers": {"audit", "extract", "verify"},
    "--restart": {"audit", "extract"},
    "--records": {"audit", "extract"},
    "--plot": {"bound", "protect"},
    "--prior": {"bound", "protect"},
    "--success": {"bound", "protect"},
    "--targets": {"bound", "protect"},
}


def taken(name):
    """Give the options called so, by the command that takes them."""
    commands = {command: cli.get_command(None, command).params for command in COMMANDS}
    return {c: p for c, params in commands.items() for p in params if name in p.opts}


@pytest.mark.parametrize("name", SHARED)
def test_an_option_means_the_same_wherever_it_is_taken(name):
    found = {c: p for c, p in taken(name).items() if c in SHARED[name]}
    assert found.keys() == SHARED[name]
    read = [
        (p.name, p.is_flag, p.metavar, p.default, p.type.to_info_dict()) for p in found.values()
    ]
    assert all(one == read[0] for one in read)


def test_json_is_a_flag_everywhere():
    found = taken("--json")
    assert len(found) >= 9
    assert all(p.name == "as_json" and p.is_flag and p.help for p in found.values())


def test_a_seed_is_never_negative_and_no_work_has_no_worker():
    for name, least in (("--seed", 0), ("--workers", 1)):
        assert len(taken(name)) >= 3
        for option in taken(name).values():
            with pytest.raises(click.BadParameter):
                option.type.convert(str(least - 1), option, None)
            assert option.type.convert(str(least), option, None) == least


def test_the_options_load_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'matplotlib', 'pandas'}"
    code = f"import sys, narcissus.cli.options; sys.exit(bool({heavy} & set(sys.modules)))"
    assert run([sys.executable, "-c", code], check=False).returncode == 0


PAGE = """Do it.

---
--out FILE
    Where to.
--often N
    How often.  [1]
--workers
    How many.
---
Below.
"""


@dataclass(frozen=True)
class Shared:
    out: Path | None = None
    workers: int | None = None
    quiet: bool = False


@dataclass(frozen=True, kw_only=True)
class Own:
    out: Path | None = None
    often: int = 1
    shared: Annotated[Shared, some("workers", "quiet")]


def test_a_command_takes_what_its_types_say_and_its_page_describes():
    found = []

    def do(what: tuple[str, ...], *, own: Own) -> int:
        found.append((what, own))
        return 3

    made = command_of(do, PAGE)
    words = ["a", "b", "--workers", "2", "--out", "x"]
    assert made.main(words, standalone_mode=False) == 3
    own = Own(out=Path("x"), often=1, shared=Shared(workers=2))  # whose own `out` is not taken
    assert found == [(("a", "b"), own)]
    text = made.get_help(click.Context(made))
    assert "--out FILE         Where to." in text
    assert "--often N          How often.  [1]" in text
    assert "--quiet            No progress." in text  # in words that all commands share
    assert text.rstrip().endswith("Below.")
    with pytest.raises(KeyError):
        command_of(do, PAGE.replace("--often N\n    How often.  [1]\n", ""))


def _named_options():
    """Yield each option that a text of the sources names, with its file."""
    root = Path(narcissus.__file__).parent
    for path in set(root.rglob("*.py")) - {root / "extraction/_runs.py"}:  # of bubblewrap
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]\b(?!-)", node.value):
                    yield name, path.relative_to(root).as_posix()


def test_an_option_that_a_text_names_is_one_of_a_command():
    """Messages about published tables name options of `tables` and `rules` alone."""
    of = {name: {opt for one in cli.get_command(None, name).params
                 for opt in (*one.opts, *one.secondary_opts)}
          for name in COMMANDS}  # fmt: skip
    every = (
        set().union(*of.values()) | {opt for one in cli.params for opt in one.opts} | NO_COMMANDS
    )
    named = list(_named_options())
    assert not {(name, file) for name, file in named if name not in every}
    about_tables = {
        (name, file) for name, file in named
        if file.startswith("counts/") or file == "cli/published.py"
    }  # fmt: skip
    assert len(about_tables) > 20
    assert not {one for one in about_tables if one[0] not in of["tables"] | of["rules"]}


def test_every_whole_number_has_a_largest():
    """`tables --width` of 400 digits ended in a traceback: it is no number of a float."""
    numbers = {
        f"{name} {option.opts[0]}": option
        for name in COMMANDS
        for option in cli.get_command(None, name).params
        if isinstance(option.type, click.types.IntParamType) and option.name != "seed"
    }
    assert len(numbers) > 30
    for option in numbers.values():
        with pytest.raises(click.BadParameter):
            option.type.convert("9" * 400, option, None)
