"""What a program leaks: it is run again and again with random secrets, and each run is kept.

It runs with the rights of whoever runs Narcissus: nothing is walled off. Next to the file of runs
is what was run, so that the same command goes on where it stopped, and another one is refused.
The models are LeakWatch (Chothia et al. 2014) and dudect (Reparaz et al. 2017).
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import parsing, put, read_bytes
from narcissus._json import read_json
from narcissus._pandas import pd
from narcissus._random import child
from narcissus._validation import between, distribution, duration, integer, one_of
from narcissus._visible import csv_text, unmarked
from narcissus.channels.estimate import LeakageEstimate, estimate
from narcissus.channels.no_leakage import LeakageEvidence, evidence_of_leakage
from narcissus.channels.sampled_leakage import SampledLeakage, sampled_leakage
from narcissus.channels.samples import SampledResult
from narcissus.errors import InputError, LongWorkError
from narcissus.observer import SILENT, Observer

if TYPE_CHECKING:
    from narcissus.channels.channel import PriorLike

Run = Callable[[str], tuple[str, ...]]
"""Run once with a secret; give what was observed, a text per column."""

PLACE = "{secret}"
LONGEST = 2**20  # Bytes that one run may print
SAID = 5  # Lines of what a program said last that an error shows


@dataclass(frozen=True)
class Program:
    """A program to be run."""

    command: Sequence[str]  # The program and its arguments, without a shell
    secrets: Sequence[str]  # What it is told, two different ones at least, without line ends
    prior: PriorLike | None = (
        None  # Probability of each secret, in their order or by name; uniform if left out
    )
    # How it is told the secret: "argument" in the place of ``{secret}``, or as its last argument;
    # "stdin", a line on its standard input, which then ends; "lines": it is started once and goes
    # on, answering each line on its standard input by one line
    given: str = "argument"
    # "output", the line that it prints, with commas between columns; "time", the nanoseconds of the
    # wall clock from start to end (in lines: from question to answer); "cpu", the microseconds of
    # processor time that it took
    observe: str = "output"
    seconds: float = 10.0  # That one run may take

    def __post_init__(self) -> None:
        one_of("given", self.given, ("argument", "stdin", "lines"))
        one_of("observe", self.observe, ("output", "time", "cpu"))
        duration("seconds", self.seconds)
        if isinstance(self.command, str) or not self.command:
            raise InputError("`command` must be the program and its arguments, a list of texts")
        if shutil.which(self.command[0]) is None:
            raise InputError(
                f"there is no program {self.command[0]!r}; give its path, or what is on the PATH"
            )
        self._check_secrets()
        if self.given == "lines" and self.observe == "cpu":
            raise InputError("the processor time of single answers is not known: observe time")
        if self.given != "argument" and any(PLACE in part for part in self.command):
            raise InputError(f"the command holds {PLACE}, but the secret is given by {self.given}")

    def _check_secrets(self) -> None:
        secrets = self.secrets
        if len(set(secrets)) < len(secrets):
            twice = next(s for i, s in enumerate(secrets) if s in secrets[:i])
            raise InputError(f"the secret {twice!r} appears there twice")
        if len(secrets) < 2:
            raise InputError("give two secrets at least: with one there is nothing to tell apart")
        if any(not s or any(c in s for c in "\r\n\0") for s in secrets):
            raise InputError("secrets must not be empty nor hold line ends")
        _ = self.weights  # refuses a prior that does not fit

    def fault(self, words: str, errors: IO[bytes] | None = None) -> InputError:
        """Return the error of what the program did, with what it said last."""
        if errors is not None:
            errors.seek(0, os.SEEK_END)
            errors.seek(max(0, errors.tell() - 4096))
            lines = [t for t in errors.read().decode("utf-8", "replace").splitlines() if t.strip()]
            words += ". It said last:\n  " + "\n  ".join(lines[-SAID:]) if lines else ""
        return InputError(f"the program `{self.name}` {words}")

    @property
    def name(self) -> str:
        line = " ".join(shlex.join(self.command).split())
        return line if len(line) <= 60 else line[:57] + "..."

    @property
    def weights(self) -> NDArray[np.float64]:
        """Probability of each secret, shape (secrets,)."""
        if self.prior is None:
            return np.full(len(self.secrets), 1 / len(self.secrets))
        values = self.prior
        if isinstance(values, Mapping):
            differ = sorted({str(name) for name in values} ^ set(self.secrets))
            if differ:
                raise InputError(f"`prior` and the secrets differ at {differ[0]!r}")
            values = [values[name] for name in self.secrets]
        weights = distribution("prior", values)
        if len(weights) != len(self.secrets):
            raise InputError(
                f"`prior` has {len(weights)} probabilities for {len(self.secrets)} secrets"
            )
        return weights

    @property
    def columns(self) -> str:
        return {"output": "output", "time": "nanoseconds", "cpu": "microseconds"}[self.observe]


@contextmanager
def runs(program: Program) -> Generator[Run]:
    """Yield a function that runs the program; nothing of it is left in the end."""
    if os.name != "posix":
        raise InputError("programs are run on Unix systems; not here")
    with tempfile.TemporaryFile() as errors:
        if program.given != "lines":
            yield lambda secret: _once(program, secret, errors)
            return
        process = _started(program, list(program.command), errors, subprocess.PIPE)
        try:
            yield lambda secret: _asked(program, process, secret, errors)
        finally:
            _end(process)


def _started(
    program: Program, command: list[str], errors: IO[bytes], stdin: int
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
    except (OSError, ValueError) as error:  # a ValueError: a zero byte in an argument
        reason = getattr(error, "strerror", None) or error
        raise program.fault(f"cannot be started: {reason}") from error


@contextmanager
def _deadline(process: subprocess.Popen[bytes], seconds: float) -> Generator[threading.Event]:
    """End the program when its time is over, and say so by the event."""
    over = threading.Event()

    def end() -> None:
        over.set()
        _kill(process)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield over
    finally:
        timer.cancel()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and what it has started (it leads a separate session)."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    _kill(process)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


def _tell(process: subprocess.Popen[bytes], secret: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it need not read it
        process.stdin.write(secret.encode() + b"\n")
        process.stdin.flush()


def _once(program: Program, secret: str, errors: IO[bytes]) -> tuple[str, ...]:
    command = list(program.command)
    stdin = subprocess.DEVNULL
    if program.given == "stdin":
        stdin = subprocess.PIPE
    elif any(PLACE in part for part in command):
        command = [part.replace(PLACE, secret) for part in command]
    else:
        command.append(secret)
    errors.seek(0)
    errors.truncate()
    began = time.perf_counter_ns()
    process = _started(program, command, errors, stdin)
    try:
        with _deadline(process, program.seconds) as over:
            if process.stdin is not None:
                _tell(process, secret)
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
            assert process.stdout is not None
            printed = process.stdout.read(LONGEST + 1)
            if len(printed) > LONGEST:
                raise program.fault(
                    f"prints more than {LONGEST:,} bytes with the secret {secret!r}"
                )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            took = time.perf_counter_ns() - began
    finally:
        _end(process)
    _check_end(program, secret, errors, process.returncode, over)
    if program.observe == "time":
        return (str(took),)
    if program.observe == "cpu":
        return (str(round(1e6 * (usage.ru_utime + usage.ru_stime))),)
    return _fields(program, secret, printed)


def _asked(
    program: Program, process: subprocess.Popen[bytes], secret: str, errors: IO[bytes]
) -> tuple[str, ...]:
    assert process.stdout is not None
    with _deadline(process, program.seconds) as over:
        began = time.perf_counter_ns()
        _tell(process, secret)
        line = process.stdout.readline(LONGEST + 1)
        took = time.perf_counter_ns() - began
    _check_end(program, secret, errors, 0, over)
    if not line.endswith(b"\n"):
        if len(line) > LONGEST:
            raise program.fault("prints a line without an end")
        raise _failed(program, secret, process.wait(), errors, " instead of an answer")
    return (str(took),) if program.observe == "time" else _fields(program, secret, line)


def _check_end(
    program: Program, secret: str, errors: IO[bytes], code: int, over: threading.Event
) -> None:
    """Refuse a run that was ended, or failed."""
    if over.is_set():
        words = f"did not end within {program.seconds:g} s with the secret {secret!r}"
        raise program.fault(f"{words}: give it more with the time limit", errors)
    if code != 0:
        raise _failed(program, secret, code, errors)


def _fields(program: Program, secret: str, printed: bytes) -> tuple[str, ...]:
    lines = printed.decode("utf-8", "replace").strip().splitlines()
    if len(lines) != 1:
        raise program.fault(
            f"printed {len(lines)} lines with the secret {secret!r}: print one, with commas "
            "between columns, or observe the time"
        )
    return tuple(field.strip() for field in next(csv.reader(lines)))


def _failed(
    program: Program, secret: str, code: int, errors: IO[bytes], instead: str = ""
) -> InputError:
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return program.fault(f"{how} with the secret {secret!r}{instead}", errors)


@dataclass
class KeptRuns:
    """A sampler of a program, as `narcissus.channels.estimate` takes it."""

    program: Program
    run: Run
    path: Path | str  # The file of runs: CSV with a column ``secret``
    seed: int  # Draws the secrets: run number i has the same secret whenever it is run
    observer: Observer = SILENT
    # All runs so far: secret first, then what was observed
    rows: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def __post_init__(self) -> None:
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
        end = self._given + size
        self.observer.start("runs", end, min(len(self.rows), end))
        if not self.rows:
            put(self._beside, json.dumps(self._told, indent=1) + "\n")
        with self._file.open("a", newline="", encoding="utf-8") as file:
            while len(self.rows) < end:
                row = self._next()
                if not self.rows:
                    name, count = self.program.columns, len(row) - 1
                    names = [name] if count == 1 else [f"{name}_{i + 1}" for i in range(count)]
                    file.write(csv_text([["secret", *names]], exact=True))
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
            draws = np.searchsorted(self._limits, self._random.random(1024), side="right")
            draws = np.minimum(draws, len(self.program.secrets) - 1)
            self._drawn = np.concatenate([self._drawn, draws])
        return self.program.secrets[int(self._drawn[number])]

    def _next(self) -> tuple[str, ...]:
        secret = self._secret(len(self.rows))
        row = (secret, *self.run(secret))
        if self.rows and len(row) != len(self.rows[0]):
            raise self.program.fault(
                f"printed {len(row) - 1} values with the secret {secret!r}, but "
                f"{len(self.rows[0]) - 1} before: print as many each time (fill up with zeros)"
            )
        if not all(row):
            raise self.program.fault(
                f"printed an empty value with the secret {secret!r}: print a number or a word for "
                "it"
            )
        return row

    def _all_words(self, values: Any) -> None:
        """Refuse numbers that have become words: they would not be compared alike."""
        for column in values.T:
            numbers = pd.to_numeric(pd.Series(column), errors="coerce").notna()
            if numbers.any() and not numbers.all():
                place = int(np.argmin(numbers.to_numpy()))
                raise self.program.fault(
                    f"prints numbers mostly, but {column[place]!r} in run {place + 1}: print "
                    "numbers always, or words"
                )

    @property
    def _beside(self) -> Path:
        return self._file.with_name(self._file.name + ".json")

    def _same(self, told: dict[str, Any]) -> None:
        beside, remedy = self._beside, "keep the new runs in another file, or remove it"
        if not beside.exists():
            raise InputError(f"{self._file} is there, and is no file of runs: {remedy}")
        damaged = f"what runs leave there, but damaged ({remedy})"
        with parsing(beside, damaged, AttributeError):  # JSON that is no object
            before: Any = read_json(read_bytes(beside))
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


TRIED = 3  # Runs to see that it works, and as many to see how long they take; these do not count


@dataclass(frozen=True)
class StopWhen:
    """When to stop running a program."""

    # As `until` of `narcissus.channels.estimate`: when both intervals are this narrow (where
    # outputs are continuous, the upper limits this near the estimates)
    width: float = 0.1
    confidence: float = 0.95  # Of each interval
    # Runs at most; looks are at 50 runs a secret (200 at least) and ever twice as many, so that the
    # last look may be at fewer
    most: int = 20_000
    hours: float | None = None  # Longest time that all runs may take; None is any

    def __post_init__(self) -> None:
        between("width", self.width, 0, 1, open_low=True)
        between("confidence", self.confidence, 0, 1, open_low=True, open_high=True)
        integer("most", self.most, low=1)

    def looks(self, secrets: int) -> tuple[int, int]:
        """Return the first and the last number of runs at which to look."""
        first = last = max(200, 50 * secrets)
        if self.most < first:
            raise InputError(
                f"`most` is {self.most:,}, but {secrets} secrets need {first:,} runs at least"
            )
        while 2 * last <= self.most:
            last *= 2
        return first, last


@dataclass(frozen=True)
class ProgramLeakage(SampledResult):
    """What a program leaks."""

    program: str
    # Bayes security and Bayes risk; their limits hold although it was stopped when they were narrow
    # enough
    estimate: LeakageEstimate
    evidence: LeakageEvidence  # Whether it leaks at all
    leakage: SampledLeakage | None  # Other measures, if asked for; they hold likewise
    runs: Path  # The file of runs
    width: float  # How narrow it was to become

    @property
    def slack(self) -> float:
        """How far the wider of both limits leaves its quantity open."""
        return self.estimate.slack

    @property
    def parts(self) -> list[LeakageEstimate | SampledLeakage | LeakageEvidence]:
        """What was found, one after the other."""
        return [self.estimate, *([self.leakage] if self.leakage else []), self.evidence]

    def to_dict(self) -> dict[str, Any]:
        return {
            "program": self.program,
            **self.estimate.to_dict(),
            "no_leakage": {"p_value": self.evidence.p_value},
            **({"leakage": self.leakage.to_dict()} if self.leakage else {}),
            "runs": str(self.runs),
        }

    def __str__(self) -> str:
        reached = (
            "narrow enough"
            if self.slack <= self.width
            else f"not as narrow as asked ({self.width:g}): allow more runs, the same command goes "
            "on where this stopped"
        )
        head = f"{self.program}: {self.estimate.samples} runs, {reached}"
        return "\n\n".join([head, *map(str, self.parts)])


def program_leakage(
    program: Program,
    *,
    path: Path | str,
    stop: StopWhen = StopWhen(),
    measures: Sequence[str] = (),
    gain: Any = None,
    estimators: Any = None,
    kind: str = "auto",
    rng: int = 0,
    observer: Observer = SILENT,
) -> ProgramLeakage:
    """Run a program with random secrets until its leakage is known well enough.

    program: What to run, with the rights of this process, and the secrets that it is told.
    path: Where runs are kept; runs of the same program that are there are taken up.
    stop: How narrow limits must get, at which confidence, and after how many runs to give up.
    measures, gain: Of `sampled_leakage`; none if left out.
    estimators, kind, observer: As in `narcissus.channels.estimate`.
    rng: Seed of the secrets and of the split.

    Look ``t`` spends ``(1 - confidence) / (t (t + 1))`` of the chance to miss, at a number of runs
    fixed beforehand: the limits of all looks hold together with the confidence, whichever is the
    last, also where another call goes on with more runs.
    """
    first, last = stop.looks(len(program.secrets))
    place = Path(path)
    if not place.resolve().parent.is_dir():
        raise InputError(f"the folder of {place} does not exist; make it first")
    with runs(program) as run:
        store = KeptRuns(program, run, place, rng, observer)
        if len(store.rows) < last:
            _announce(program, run, last, len(store.rows), stop.hours, observer)
        leakage = estimate(
            store,
            confidence=stop.confidence,
            estimators=estimators,
            kind=kind,
            until=stop.width,
            first=first,
            most=last,
            rng=rng,
        )
    secret, output = store.all()
    by_name = dict(zip(program.secrets, program.weights.tolist(), strict=True))
    looks = len(leakage.history)
    others = None
    if measures:
        others = sampled_leakage(
            secret,
            output,
            measures=measures,
            prior=by_name,
            gain=gain,
            estimators=estimators,
            confidence=1 - (1 - stop.confidence) / (looks * (looks + 1)),
            kind=kind,
            rng=rng,
        ).said_at(stop.confidence)
    evidence = evidence_of_leakage(secret, output, by_name, estimators=estimators)
    return ProgramLeakage(program.name, leakage, evidence, others, place, stop.width)


def _announce(
    program: Program, run: Run, last: int, done: int, hours: float | None, observer: Observer
) -> None:
    """Try the program, and say how long all runs may take; these do not count."""
    for secret in program.secrets[:TRIED]:  # the first of all may have to load a good deal
        run(secret)
    began = time.monotonic()
    for _ in range(TRIED):
        run(program.secrets[0])
    each = (time.monotonic() - began) / TRIED
    seconds = each * (last - done)
    remark = f" ({done:,} are there already)" if done else ""
    message = (
        f"`{program.name}`: at most {last:,} runs{remark}, about {seconds:,.0f} s at "
        f"{1000 * each:.3g} ms a run"
    )
    if hours is not None and seconds > 3600 * hours:
        raise LongWorkError(f"{message}. Start it all the same with --yes, or allow fewer runs")
    observer.note(message)
