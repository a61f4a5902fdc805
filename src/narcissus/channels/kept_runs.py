"""Runs of a program with secrets drawn from a prior, kept in a file as they come.

The file is a table of samples like any other; beside it stands what was run, so that the same
command goes on where it stopped, and another one is refused.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._files import parsing, put, read_bytes
from narcissus._pandas import pd
from narcissus._random import child
from narcissus._visible import csv_text, unmarked
from narcissus.channels.programs import Program, Run
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer


@dataclass
class KeptRuns:
    """A sampler of a program, as `narcissus.channels.estimate` takes it.

    Attributes
    ----------
    program, run
        What is run, and how.
    path
        The file of runs: CSV with a column ``secret``.
    seed
        Draws the secrets: run number i has the same secret whenever it is run.
    observer
        Hears of every run.
    rows
        All runs so far: secret first, then what was observed.
    """

    program: Program
    run: Run
    path: Path | str
    seed: int
    observer: Observer = SILENT
    rows: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def __post_init__(self) -> None:
        """Take up the runs that are there."""
        self._file = Path(self.path)
        self._given = 0
        self._limits = np.cumsum(self.program.weights)
        self._random = child(self.seed)
        self._drawn = np.zeros(0, dtype=np.intp)
        self._told = {
            "command": list(self.program.command),
            "given": self.program.given,
            "observe": self.program.observe,
            "secrets": list(self.program.secrets),
            "prior": self.program.weights.tolist(),
            "seed": self.seed,
        }
        if not self._file.exists():
            return
        self._same(self._told)
        self.rows = self._read()
        for number, row in enumerate(self.rows):
            if row[0] != self._secret(number):
                raise InputError(
                    f"{self._file} was changed: run {number + 1} has the secret {row[0]!r} where "
                    f"{self._secret(number)!r} was drawn; keep new runs in another file"
                )

    def __call__(self, size: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return the next runs, from the file and then from the program."""
        end = self._given + size
        self.observer.start("runs", end, min(len(self.rows), end))
        if not self.rows:
            put(self._beside, json.dumps(self._told, indent=1) + "\n")
        with self._file.open("a", newline="", encoding="utf-8") as file:
            while len(self.rows) < end:
                row = self._next()
                if not self.rows:
                    file.write(csv_text([self._header(len(row) - 1)], exact=True))
                file.write(csv_text([row], exact=True))
                file.flush()
                self.rows.append(row)
                self.observer.advance()
        self.observer.finish()
        part, self._given = self.rows[self._given : end], end
        outputs = pd.DataFrame([row[1:] for row in self.rows[:end]])
        try:
            values = outputs.astype(np.float64).to_numpy()
        except ValueError:
            values = outputs.to_numpy()
            self._all_words(values)
        return [row[0] for row in part], values[end - size :]

    def all(self) -> tuple[list[str], Any]:
        """Return all runs that were asked for, in their order."""
        size, self._given = self._given, 0
        return self(size, np.random.default_rng(0))

    def _secret(self, number: int) -> str:
        while number >= len(self._drawn):
            more = np.searchsorted(self._limits, self._random.random(1024), side="right")
            more = np.minimum(more, len(self.program.secrets) - 1)
            self._drawn = np.concatenate([self._drawn, more])
        return self.program.secrets[int(self._drawn[number])]

    def _next(self) -> tuple[str, ...]:
        secret = self._secret(len(self.rows))
        row = (secret, *self.run(secret))
        if self.rows and len(row) != len(self.rows[0]):
            raise InputError(
                f"the program `{self.program.name}` printed {len(row) - 1} values with the secret "
                f"{secret!r}, but {len(self.rows[0]) - 1} before: print as many each time (fill up "
                "with zeros)"
            )
        if not all(row):
            raise InputError(
                f"the program `{self.program.name}` printed an empty value with the secret "
                f"{secret!r}: print a number or a word for it"
            )
        return row

    def _header(self, columns: int) -> list[str]:
        name = self.program.columns
        names = [name] if columns == 1 else [f"{name}_{i + 1}" for i in range(columns)]
        return ["secret", *names]

    def _all_words(self, values: Any) -> None:
        """Refuse numbers that have become words: they would not be compared alike."""
        for column in values.T:
            numbers = pd.to_numeric(pd.Series(column), errors="coerce").notna()
            if numbers.any() and not numbers.all():
                word = column[int(np.argmin(numbers.to_numpy()))]
                raise InputError(
                    f"the program `{self.program.name}` prints numbers mostly, but {word!r} in run "
                    f"{int(np.argmin(numbers.to_numpy())) + 1}: print numbers always, or words"
                )

    @property
    def _beside(self) -> Path:
        return self._file.with_name(self._file.name + ".json")

    def _same(self, told: dict[str, Any]) -> None:
        beside, remedy = self._beside, "keep the new runs in another file, or remove it"
        if not beside.exists():
            raise InputError(f"{self._file} is there, and is no file of runs: {remedy}")
        with parsing(beside, f"what runs leave there, but damaged ({remedy})"):
            before: Any = json.loads(read_bytes(beside))
            differ = [key for key in told if before.get(key) != told[key]]
        if differ:
            raise InputError(
                f"{self._file} holds runs of another command ({', '.join(differ)}): {remedy}"
            )

    def _read(self) -> list[tuple[str, ...]]:
        content = read_bytes(self._file)
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):  # the last run was cut off while it was written
            with self._file.open("r+b") as file:
                file.truncate(len(whole))
        with parsing(self._file, "a file of runs"):
            lines = io.StringIO(whole.decode(), newline="")
            rows = [tuple(map(unmarked, row)) for row in csv.reader(lines)]
        for number, row in enumerate(rows):
            if len(row) != len(rows[0]) or not row:
                raise InputError(f"{self._file} was changed: run {number} has {len(row)} cells")
        return rows[1:]
