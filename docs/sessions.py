"""Run the commands that the pages show, and compare what they print with what is shown.

A session is a block of code that begins with `$ `: commands, each followed by what it prints on
standard output. `cat FILE` shows a file that the reader makes, and makes it; `echo $?` gives the
exit code of the command before; the rest are `narcissus`, `narcissus-papers` and `python`. A line
`...` stands for lines that are left out, which is all that is ever hidden. A tutorial is one
session from its top to its end, in an empty folder, without any extra that would change what is
printed.

    python docs/sessions.py            # write into tutorials what their commands print now
    python docs/sessions.py NAME NAME  # into these alone
    python docs/sessions.py --check    # exit 1 if a tutorial shows something else
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

DOCS = Path(__file__).resolve().parent
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
SESSION = re.compile(r"```(?:console)?\n(\$ .*?)```", flags=re.S)
EXTRAS = ("brotli", "pyppmd", "zstandard")


def steps(session: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a session with what is shown below it."""
    for part in re.split(r"^\$ ", session, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def played(session: str) -> Iterator[tuple[str, str, str]]:
    """Run a session in the present folder; yield command, what is shown, what it printed."""
    code = 0
    for command, shown in steps(session):
        name, *words = shlex.split(command)
        out = io.StringIO()
        if name == "cat":
            Path(words[0]).parent.mkdir(parents=True, exist_ok=True)
            Path(words[0]).write_text(shown.strip() + "\n", encoding="utf-8")
            continue
        if name == "echo":
            out.write(f"{code}\n")
        else:
            with contextlib.redirect_stdout(out):
                code = ran(name, words)
        yield command, shown, out.getvalue()


def ran(name: str, words: list[str]) -> int:
    """Run a command in this process; give its exit code."""
    from narcissus.cli.main import main

    try:
        if name == "narcissus":
            main(words)
        elif name == "narcissus-papers":
            from narcissus_papers.main import main as of_papers

            of_papers(words)
        elif name == "python":
            with mock.patch.object(sys, "argv", words):
                runpy.run_path(words[0], run_name="__main__")
        else:
            raise ValueError(f"a session runs no {name}")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def difference(shown: str, printed: str) -> str:
    """Say in what the lines that are shown differ from those printed; empty if in nothing."""
    lines = [line.rstrip() for line in printed.splitlines()]
    place, loose = 0, False
    for line in filter(None, map(str.rstrip, shown.splitlines())):
        if line == "...":
            loose = True
            continue
        rest = [i for i, other in enumerate(lines[place:], place) if other]
        found = next((i for i in rest if lines[i] == line), None)
        if found is None:
            return f"does not print {line!r}"
        if not loose and found != rest[0]:
            return f"prints {lines[rest[0]]!r} first"
        place, loose = found + 1, False
    return "prints more than is shown" if not loose and any(lines[place:]) else ""


def tutorial(page: Path) -> Iterator[tuple[str, str, str]]:
    """Run a tutorial in the present folder, as `played`, on one core and without extras."""
    before = {name: sys.modules.get(name) for name in EXTRAS}
    sys.modules.update(dict.fromkeys(EXTRAS))  # importing them is an error
    try:
        with mock.patch.object(os, "sched_getaffinity", return_value={0}, create=True):
            yield from played("".join(SESSION.findall(page.read_text(encoding="utf-8"))))
    finally:
        for name, module in before.items():
            sys.modules.pop(name)
            sys.modules.update({name: module} if module else {})


def main() -> int:
    """Run all tutorials, and write or compare."""
    differ = False
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    for page in TUTORIALS:
        if names and page.stem not in names:
            continue
        text, place = page.read_text(encoding="utf-8"), 0
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for command, shown, printed in tutorial(page):
                step = f"$ {command}\n"
                place = text.index(step + shown, place) + len(step)
                if said := difference(shown, printed):
                    differ = True
                    print(f"{page.name}: {command}: {said}")
                    full = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
                    text = text[:place] + full + text[place + len(shown) :]
        if "--check" not in sys.argv:
            page.write_text(text, encoding="utf-8")
    return int(differ and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
