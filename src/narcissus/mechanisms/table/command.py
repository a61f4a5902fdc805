"""Rows from a program: CSV in, CSV out, with a seed; the way to generators in any language."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np

from narcissus._files import read_bytes
from narcissus._guarded import GuardedRun, run_guarded
from narcissus._options import FilledIn, Level, RunsProgram
from narcissus._pandas import pd
from narcissus._scratch import scratch_folder
from narcissus._validation import positive
from narcissus.errors import InputError, NarcissusError
from narcissus.mechanisms.marginals import Codes
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.declared import DeclaredRows
from narcissus.mechanisms.table.own import rows_of

SAID = 5
"""Lines of what a program said last that an error shows."""
LONGEST_PRINT = 2**30  # bytes; what it prints is not kept, but for its end
SEEDS = 2**31  # they are below: any language takes them


@dataclass(frozen=True)
class Command(DeclaredRows):
    """Rows that a program of your own makes: it reads a CSV of the people and writes one of rows.

    Parameters
    ----------
    command
        The program and its arguments, without a shell, such as `["python", "synth.py", "{input}",
        "{output}", "{seed}"]`. In any argument `{input}` and `{output}` become the paths of the
        two files, `{seed}` a whole number below 2^31, `{epsilon}` and `{delta}` the declared
        level. An argument that is a file beside the study means that file; the program runs in an
        empty folder.
    time_limit
        Seconds that one release may take; then the program is ended with all that it has started.
    epsilon
        Privacy level that the program is declared to keep; nothing is declared if left out.
    delta
        Of the declared level; 0 if left out.
    adjacency
        Which neighbours the declared level is about; converted to a replaced record.
    deterministic
        Whether it is meant to give the same rows for the same people; otherwise two equal releases
        are taken for a fixed seed, and refused.
    """

    command: Annotated[Sequence[str], RunsProgram()]
    time_limit: float = 60.0
    folder: Annotated[str, FilledIn()] = "."
    epsilon: Level | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse a command that cannot be run, or that does not say where the files are."""
        super().__post_init__()
        if not self.command or not all(isinstance(part, str) for part in self.command):  # pyright: ignore[reportUnnecessaryIsInstance] (from Python it may be anything)
            raise InputError(f"`command` must be a list of texts, got {self.command!r}")
        if isinstance(self.command, str):
            raise InputError("`command` must be a list of texts, the program and its arguments")
        positive("time_limit", self.time_limit)
        for name, why in (("input", "is read from"), ("output", "is written to")):
            if not any(f"{{{name}}}" in part for part in self.command):
                raise InputError(f"`command` must hold {{{name}}}, the file that {why}")
        for name in ("epsilon", "delta"):
            if any(f"{{{name}}}" in p for p in self.command) and getattr(self, name) is None:
                raise InputError(f"`command` holds {{{name}}}: give `{name}`, too")
        _ = self._argv

    @property
    def name(self) -> str:
        """The program by its command, without the placeholders."""
        return f"the program `{command_name(self.command)}`"

    @property
    def _argv(self) -> tuple[str, ...]:
        """The command with the full paths of the program and of the files that are named."""
        files = named_files(self.command, Path(self.folder))
        argv = [str(files.get(place, part)) for place, part in enumerate(self.command)]
        if 0 not in files:
            found = shutil.which(argv[0])
            if found is None or os.sep in argv[0]:
                where = f"in {self.folder}" if os.sep in argv[0] else "on the PATH"
                raise InputError(f"`command` names the program {argv[0]!r}, which is not {where}")
            argv[0] = found
        return tuple(argv)

    def maker(self, columns: Columns) -> Callable[[Codes, np.random.Generator], Codes]:
        """Run the program once for each release."""
        levels = {"epsilon": self.epsilon, "delta": self.delta}
        told = {name: repr(level) for name, level in levels.items() if level is not None}
        return _Runner(self._argv, columns, self.time_limit, self.name, told)


def command_name(command: Sequence[str]) -> str:
    """Return a command without its placeholders, at most 60 characters."""
    plain = " ".join(part for part in command if not (part.startswith("{") and part.endswith("}")))
    return plain if len(plain) <= 60 else plain[:57] + "..."


def named_files(command: Sequence[str], folder: Path) -> dict[int, Path]:
    """Return the files that a command names, by their place in it.

    A bare first word is a program on the PATH, whatever file of that name there is.
    """
    found: dict[int, Path] = {}
    for place, part in enumerate(command):
        with contextlib.suppress(OSError, ValueError):  # a name too long for a file, a NUL
            path = folder / part
            if (place > 0 or os.sep in part) and path.is_file():
                found[place] = path.resolve()
    return found


@dataclass(frozen=True)
class _Runner:
    """Makes rows of rows."""

    command: tuple[str, ...]  # The program and its arguments, placeholders included
    columns: Columns  # Of the table
    seconds: float  # That one run may take
    name: str  # Of the program, for messages
    told: Mapping[str, str]  # The declared level, by its placeholder

    def __call__(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Run the program once."""
        seed = str(int(rng.integers(SEEDS)))
        if os.name != "posix":
            raise NarcissusError("programs are run on Unix systems; not here")
        with scratch_folder() as folder:
            given, written = folder / "in.csv", folder / "out.csv"
            work, temporary = folder / "work", folder / "tmp"
            values = {"input": str(given), "output": str(written), "seed": seed, **self.told}
            output: list[bytes] = []

            def fill() -> None:
                work.mkdir()
                temporary.mkdir()
                self.columns.frame(codes).to_csv(given, index=False)

            def collect() -> None:
                if written.exists():
                    output.append(read_bytes(written))

            run = run_guarded(
                {
                    "method": "none",
                    "jail": str(Path(__file__).with_name("_launch.py")),
                    "folder": str(folder),
                    "stdin": os.devnull,
                    "watch_folder": False,
                    "work": str(work),
                    "command": [_filled(part, values) for part in self.command],
                },
                fill,
                seconds=self.seconds,
                output=LONGEST_PRINT,
                environment={**os.environ, "TMPDIR": str(temporary)},
                collect=collect,
            )
        self._require_success(run)
        if not output:
            raise InputError(f"{self.name} wrote no file {{output}}{_last_lines(run)}")
        return self._rows(output[0])

    def _require_success(self, run: GuardedRun) -> None:
        if run.stopped == "timeout" or run.seconds >= self.seconds:
            raise InputError(
                f"{self.name} did not end within {self.seconds:g} s: give it more with "
                f"`time_limit`{_last_lines(run)}"
            )
        code = int(run.report.rpartition(b"\n")[2] or b"1")
        if code != 0:
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise InputError(f"{self.name} {how}{_last_lines(run)}")

    def _rows(self, content: bytes) -> Codes:
        of = f"what {self.name} wrote"
        try:
            text = io.StringIO(content.decode("utf-8-sig"), newline="")
            lines = [line for line in csv.reader(text, strict=True) if line]
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{of} is not a CSV in UTF-8: {error}") from error
        if not lines:
            raise InputError(f"{of} is empty")
        head, *rows = lines
        for number, row in enumerate(rows, start=2):
            if len(row) != len(head):
                raise InputError(
                    f"{of} has {len(row)} cells in line {number}, but {len(head)} in the first"
                )
        return rows_of(
            pd.DataFrame(rows, columns=[name.strip() for name in head], dtype=str),
            self.columns,
            of=of,
        )


def _filled(part: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        part = part.replace(f"{{{name}}}", value)
    return part


def _last_lines(run: GuardedRun) -> str:
    lines = [line for line in run.error.decode("utf-8", "replace").splitlines() if line.strip()]
    return ". It said last:\n  " + "\n  ".join(lines[-SAID:]) if lines else ""
