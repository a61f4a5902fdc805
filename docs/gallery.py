"""Write docs/gallery.md: every shipped example with its command and its first screen.

The program runs each example in an empty folder, on one core, and copies what the command prints.
An example that takes more than a minute of computing, or that needs PyTorch, is listed without a
screen.

    python docs/gallery.py              # run all examples and write the page
    python docs/gallery.py NAME NAME    # run these again; keep the screens of the others
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import signal
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "gallery.md"
SECONDS = 60
DIGEST = re.compile(r"^.*\brecord [0-9a-f]{8}$", flags=re.M)
SECTION = re.compile(r"^### ([\w-]+)\n.*?```console\n(\$ .*?)```", flags=re.M | re.S)
TITLES = {
    "table": "Tables of people",
    "published-tables": "Published tables",
    "language-model": "Language models",
    "game": "Games",
}
HEAD = """# Gallery

This page shows every shipped example with the first screen of its report.
`narcissus init --example` lists the examples, too. With a name it writes the study and the files
that the study reads.

A line `...` stands for the line that names the record. `make gallery` writes this page.
"""


def load_sessions() -> ModuleType:
    """Return docs/sessions.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_sessions", DOCS / "sessions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sessions = load_sessions()


def list_examples() -> list[dict[str, Any]]:
    """Return what the command says of each shipped example: name, kind, sentence, source."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        sessions.ran("narcissus", ["init", "--example", "--json"])
    examples = json.loads(output.getvalue())
    return sorted(examples, key=lambda e: (list(TITLES).index(e["kind"]), e["name"]))


def commands_of(example: dict[str, Any]) -> tuple[str, str]:
    """Return the command that writes an example and the command that runs it."""
    quick = " --quick" if example["kind"] == "table" else ""
    name = example["name"]
    return f"narcissus init --example {name}", f"narcissus audit {name}.toml{quick}"


def read_sessions(page: str) -> dict[str, str]:
    """Return the session of each example that the page shows, by name."""
    sections = re.split(r"^(?=### )", page, flags=re.M)
    return {m[1]: m[2] for m in map(SECTION.match, sections) if m}


def run_example(example: dict[str, Any]) -> str:
    """Run an example in an empty folder; return its session, empty if it takes too long."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, stop)
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        mock.patch.object(sessions.os, "sched_getaffinity", return_value={0}, create=True),
    ):
        session = ""
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            for command in commands_of(example):
                output = io.StringIO()
                with contextlib.redirect_stdout(output):
                    code = sessions.ran("narcissus", command.split()[1:])
                if code not in (0, 1, 3):
                    return ""
                lines = (line.rstrip() for line in output.getvalue().splitlines())
                session += f"$ {command}\n" + "".join(f"{line}\n" for line in lines)
        except KeyboardInterrupt:
            return ""
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
    return DIGEST.sub("...", session)


def write_page(examples: list[dict[str, Any]], shown: dict[str, str]) -> str:
    """Return the page: a section for each example, in the order of kinds and names."""
    text, kind = HEAD, ""
    for example in examples:
        if example["kind"] != kind:
            kind = example["kind"]
            text += f"\n## {TITLES[kind]}\n"
        text += f"\n### {example['name']}\n\n{example['about']}"
        text += f" Source: {example['source']}.\n\n" if example["source"] else "\n\n"
        if session := shown.get(example["name"]):
            text += f"```console\n{session}```\n"
        else:
            commands = "".join(f"$ {command}\n" for command in commands_of(example))
            text += "This example takes more than a minute or needs PyTorch, so the page shows no "
            text += f"screen.\n\n```bash\n{commands}```\n"
    return text


def main() -> int:
    """Run the examples that the command line names, or all, and write the page."""
    examples = list_examples()
    names = sys.argv[1:] or [example["name"] for example in examples]
    shown = read_sessions(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    for example in examples:
        if example["name"] in names:
            shown[example["name"]] = run_example(example)
            PAGE.write_text(write_page(examples, shown), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
