"""Rows from somebody else's generator, a function or a program, with the guarantee declared of it.

A program reads a CSV and writes one, with a seed: the way to generators in any language.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from narcissus._files import read_bytes
from narcissus._guarded import GuardedRun, run_guarded
from narcissus._options import FilledIn, Level, RunsProgram
from narcissus._pandas import pd
from narcissus._scratch import scratch_folder
from narcissus._validation import arity, duration, non_negative, probability
from narcissus.errors import InputError, NarcissusError
from narcissus.guarantees import Adjacency, ApproximateDP, Guarantee, PureDP, as_replace_one
from narcissus.mechanisms.queries import Codes
from narcissus.mechanisms.table.base import Columns, TableMechanism
from narcissus.mechanisms.table.rows import Maker, PreparedRows
from narcissus.worlds.finite import asked

SAID = 5
"""Lines of what a program said last that an error shows."""
LONGEST_PRINT = 2**30  # bytes; what it prints is not kept, but for its end
SEEDS = 2**31  # they are below: any language takes them


@dataclass(frozen=True, kw_only=True)
class DeclaredRows(TableMechanism):
    """Rows that code of the user's makes; what is proved of them holds if the declaration does.

    A subclass gives ``name`` and ``maker``.

    epsilon: Privacy level that the generator is declared to keep; nothing is declared if left out.
    delta: Of the declared level; 0 if left out.
    adjacency: Which neighbours the declared level is about; converted to a replaced record.
    deterministic: Whether it is meant to give the same rows for the same people; otherwise two
        equal releases are taken for a fixed seed, and refused.
    """

    epsilon: float | None = None
    delta: float | None = None
    adjacency: Adjacency = "replace-one"
    deterministic: bool = False

    def __post_init__(self) -> None:
        if self.epsilon is None:
            if self.delta is not None:
                raise InputError("`delta` is declared with an `epsilon`: give both or neither")
            return
        non_negative("epsilon", self.epsilon)
        if self.delta is not None:
            probability("delta", self.delta)
        if self.deterministic:
            raise InputError(
                "`deterministic` rows that depend on the people keep no `epsilon`: leave one out"
            )

    @property
    @abstractmethod
    def name(self) -> str:
        """What the generator is called, with its kind: 'the program `python synth.py`'."""

    @abstractmethod
    def maker(self, columns: Columns) -> Maker:
        """Return what makes rows of rows, for a table of these columns."""

    @property
    def label(self) -> str:
        return self.name if self.epsilon is None else f"ε = {self.epsilon:g}"

    @property
    def title(self) -> str:
        return f"Rows of {self.name}"

    @property
    def strength(self) -> float | None:
        if self.epsilon is None:
            return None
        return np.inf if self.epsilon == 0 else 1 / self.epsilon

    @property
    def declared(self) -> Guarantee | None:
        """What is declared, about one person's record replaced."""
        if self.epsilon is None:
            return None
        if not self.delta:
            return as_replace_one(PureDP(self.epsilon, adjacency=self.adjacency))
        return as_replace_one(ApproximateDP(self.epsilon, self.delta, adjacency=self.adjacency))

    def prepare(self, columns: Columns) -> PreparedRows:
        """Take the declaration as it is, and say that it is assumed."""
        assumes, guarantee = (), self.declared
        if guarantee is not None:
            assumes = (f"{self.name} keeps what was declared of it, {guarantee.describe()}",)
        must_vary, maker = not self.deterministic, self.maker(columns)
        return PreparedRows.of(columns, maker, guarantee, assumes=assumes, must_vary=must_vary)


@dataclass(frozen=True)
class OwnSynthesizer(DeclaredRows):
    """Rows that a custom function makes of the people.

    function: ``function(frame)`` or ``function(frame, rng)``: a data frame of the people, a
        categorical column of texts each, to a data frame of rows in the same columns, with values
        that are in the data. Its coins must come from ``rng``, or the run cannot be repeated.
    epsilon: Privacy level that the function is declared to keep; nothing is declared if left out.
    """

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return f"the function `{getattr(self.function, '__name__', repr(self.function))}`"

    def maker(self, columns: Columns) -> Maker:
        return _Caller(self.function, columns, self.name)


@dataclass(frozen=True)
class _Caller:
    function: Callable[..., Any]
    columns: Columns
    name: str

    def __call__(self, codes: Codes, rng: np.random.Generator) -> Codes:
        arguments = (self.columns.frame(codes), rng)[: arity(self.function, 2)]
        frame = asked("mechanism", self.function, *arguments)
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"{self.name} must give a data frame, got {type(frame).__name__}")
        return rows_of(frame, self.columns, of=f"what {self.name} gives")


def rows_of(frame: pd.DataFrame, columns: Columns, *, of: str) -> Codes:
    """Return released rows as value numbers, shape (rows, d); none at all are refused."""
    rows = columns.codes(frame, of=of)
    if len(rows) == 0:
        raise InputError(f"{of} has no rows")
    return rows


@dataclass(frozen=True)
class Command(DeclaredRows):
    """Rows that your own program makes: it reads a CSV of the people and writes one of rows.

    command: The program and its arguments, without a shell, such as `["python", "synth.py",
        "{input}", "{output}", "{seed}"]`. In any argument `{input}` and `{output}` become the paths
        of the two files, `{seed}` a whole number below 2^31, `{epsilon}` and `{delta}` the declared
        level. An argument that is a file next to the study means that file; the program runs in an
        empty folder.
    time_limit: Seconds that one release may take; then the program is ended with all that it has
        started.
    epsilon: Privacy level that the program is declared to keep; nothing is declared if left out.
    """

    command: Annotated[Sequence[str], RunsProgram()]
    time_limit: float = 60.0
    folder: Annotated[str, FilledIn()] = "."
    epsilon: Level | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.command or not all(isinstance(part, str) for part in self.command):  # pyright: ignore[reportUnnecessaryIsInstance] (from Python it may be anything)
            raise InputError(f"`command` must be a list of texts, got {self.command!r}")
        if isinstance(self.command, str):
            raise InputError("`command` must be a list of texts, the program and its arguments")
        duration("time_limit", self.time_limit)
        for name, why in (("input", "is read from"), ("output", "is written to")):
            if not any(f"{{{name}}}" in part for part in self.command):
                raise InputError(f"`command` must hold {{{name}}}, the file that {why}")
        for name in ("epsilon", "delta"):
            if any(f"{{{name}}}" in p for p in self.command) and getattr(self, name) is None:
                raise InputError(f"`command` holds {{{name}}}: give `{name}`, too")
        _ = self._argv

    @property
    def name(self) -> str:
        """The program by its command, without the placeholders, cut to 60 characters."""
        plain = " ".join(p for p in self.command if not (p.startswith("{") and p.endswith("}")))
        return f"the program `{plain if len(plain) <= 60 else plain[:57] + '...'}`"

    @property
    def _argv(self) -> tuple[str, ...]:
        """The command with the full paths of the program and of the files that are named."""
        files = named_files(self.command, Path(self.folder))
        argv = [str(files.get(place, part)) for place, part in enumerate(self.command)]
        if 0 not in files:
            program = shutil.which(argv[0])
            if program is None or os.sep in argv[0]:
                where = f"in {self.folder}" if os.sep in argv[0] else "on the PATH"
                raise InputError(f"`command` names the program {argv[0]!r}, which is not {where}")
            argv[0] = program
        return tuple(argv)

    def maker(self, columns: Columns) -> Maker:
        levels = {"epsilon": self.epsilon, "delta": self.delta}
        parameters = {name: repr(level) for name, level in levels.items() if level is not None}
        return _ProgramCaller(self._argv, columns, self.time_limit, self.name, parameters)


def named_files(command: Sequence[str], folder: Path) -> dict[int, Path]:
    """Return the files that a command names, by their place in it.

    A bare first word is a program on the PATH, whatever file of that name there is.
    """
    files: dict[int, Path] = {}
    for place, part in enumerate(command):
        with contextlib.suppress(OSError, ValueError):  # a name too long for a file, a NUL
            path = folder / part
            if (place > 0 or os.sep in part) and path.is_file():
                files[place] = path.resolve()
    return files


@dataclass(frozen=True)
class _ProgramCaller:
    command: tuple[str, ...]  # The program and its arguments, placeholders included
    columns: Columns
    seconds: float  # That one run may take
    name: str  # Of the program, for messages
    told: Mapping[str, str]  # The declared level, by its placeholder

    def __call__(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Run the program once."""
        seed = str(int(rng.integers(SEEDS)))
        if os.name != "posix":
            raise NarcissusError("programs are run on Unix systems; not here")
        with scratch_folder() as folder:
            input_file, written = folder / "in.csv", folder / "out.csv"
            work, temporary = folder / "work", folder / "tmp"
            values = {"input": str(input_file), "output": str(written), "seed": seed, **self.told}
            output: list[bytes] = []

            def fill() -> None:
                work.mkdir()
                temporary.mkdir()
                self.columns.frame(codes).to_csv(input_file, index=False)

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
        names = [name.strip() for name in head]
        return rows_of(pd.DataFrame(rows, columns=names, dtype=str), self.columns, of=of)


def _filled(part: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        part = part.replace(f"{{{name}}}", value)
    return part


def _last_lines(run: GuardedRun) -> str:
    lines = [line for line in run.error.decode("utf-8", "replace").splitlines() if line.strip()]
    return ". It said last:\n  " + "\n  ".join(lines[-SAID:]) if lines else ""
