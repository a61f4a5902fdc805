"""Repeated runs of a program on a release: its success rate, and what it takes from the release.

A program may know the content and print it only for the expected release: a branch on a hash, or a
key made of one, is enough to fail with every stand-in. It then takes only a few bytes from the
release. So the program is run once with the release, and the values of its expressions are
recorded. Short values that never changed replace their expressions in the source. If the result
succeeds without the release, the release contributed nothing but these values. It is also run on
pieces of the release, and on the release with a byte flipped.

Source: Cohen et al. 2024, Definition D.8; Narcissus theory 7 **[new]**.
"""

from __future__ import annotations

import ast
import itertools
import json
import shutil
import zlib
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction.complexity import standing_in
from narcissus.extraction.evidence import MARGIN, Rival
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import OutputRelation
from narcissus.extraction.sandbox import (
    Isolation,
    Limits,
    ProgramRun,
    Stop,
    run_program,
    run_programs,
)
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate

LONGEST = 64
"""Bytes of a value, as it is written, that may be written in."""
MARK = "narcissus-saw:"
_HIDING = frozenset({"exec", "eval", "compile", "__import__", "__builtins__", "globals"})
_HIDING_MODULES = frozenset({"marshal", "ctypes", "runpy", "importlib", "builtins", "code", "cffi"})
_WRITES = frozenset({"print", "write", "writelines"})
_PRELUDE = f"""
import os
_narcissus, _narcissus_out = {{}}, os.dup(1)
def _narcissus_saw(i, v, _s=_narcissus):
    def short(x):
        return (type(x) in (int, str, bytes, bool, float)
                or type(x) in (tuple, list) and len(x) <= {LONGEST} and all(map(short, x)))
    t = ''
    if short(v) and not (type(v) is not float and hasattr(v, '__len__') and len(v) > {LONGEST}):
        if type(v) is not int or v.bit_length() <= {8 * LONGEST}:
            t = repr(v)
    _s[i] = t if _s.get(i, t) == t and len(t) <= {LONGEST} else ''
    return v
"""
_REPORT = f"""
import json, os, sys
try:
    sys.stdout.flush()
except ValueError:
    pass
_narcissus = json.dumps({{i: t for i, t in _narcissus.items() if t}})
os.write(_narcissus_out, ('{MARK}' + _narcissus).encode())
"""
_KINDS = (
    ast.Call,
    ast.Compare,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.Subscript,
    ast.Attribute,
    ast.Name,
    ast.IfExp,
    ast.NamedExpr,
    ast.JoinedStr,
)


@dataclass(frozen=True)
class Tried:
    """Runs of a program on one release, in the order of their start."""

    runs: list[ProgramRun]
    good: list[bool]  # whether each ended by itself with an output that counts

    @property
    def good_outputs(self) -> list[bytes]:
        return [run.output for run, good in zip(self.runs, self.good, strict=True) if good]

    def refuse_silence(self) -> None:
        """Refuse a program that never printed readable output, and report how it ended."""

        def is_text(output: bytes) -> bool:
            return output.decode("utf-8", "ignore").encode() == output

        runs = self.runs
        if any(self.good) or any(
            r.output.strip() and r.ending == "finished" and is_text(r.output) for r in runs
        ):
            return
        last = runs[-1]
        error = last.error.strip().splitlines()[-1] if last.error.strip() else ""
        if last.ending != "finished":
            reason = {
                "crashed": f"it crashed ({error or 'no message'})",
                "timeout": f"it was stopped at its time limit after {last.seconds:.1f} s",
                "output limit": f"it was stopped at its output limit of {len(last.output)} bytes",
            }[last.ending]
        elif last.output.strip():
            reason = "it printed bytes that are not UTF-8 text"
        else:
            reason = "it printed nothing"
        raise InputError(f"the program gave no usable output in any of {len(runs)} runs: {reason}")


@dataclass(frozen=True)
class Bench:
    """Settings under which every program runs: the same number of runs, limits and walls."""

    data: DataSet
    relation: OutputRelation
    program: bytes
    runs: int  # of each program
    confidence: float
    quality_needed: float
    limits: Limits
    isolation: Isolation
    reference: bytes | None = None  # public text that programs find as the file ``reference``
    workers: int = 1  # parallel runs
    served: bool = False  # whether a worker forks its runs from one process (`run_programs`)
    observer: Observer = SILENT
    stop: Stop = field(default_factory=Stop)
    margin: int = MARGIN  # bytes by which the program must be shorter than its rivals

    def run(self, program: bytes, release: Path | bytes) -> Tried:
        beside = {} if self.reference is None else {"reference": self.reference}

        def alone() -> ProgramRun:
            return run_program(
                program,
                release,
                self.limits,
                beside=beside,
                isolation=self.isolation,
                stop=self.stop,
            )

        def some(runs: int) -> list[ProgramRun]:
            if self.served:
                done = run_programs(
                    program, release, self.limits, runs, beside=beside, stop=self.stop
                )
            else:
                done = [alone() for _ in range(runs)]
            self.observer.advance(runs)
            return done

        # one by one, or evenly among servers
        each, rest = divmod(self.runs, self.workers)
        among = [each + (i < rest) for i in range(self.workers)]
        shares = list(filter(None, among)) if self.served else [1] * self.runs
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                done = [run for batch in pool.map(some, shares) for run in batch]
            except BaseException:
                self.stop.end()  # or the pool would wait until all that run have ended
                raise
        return self.against(self.data, done)

    def once(self, program: bytes, release: Path | bytes) -> ProgramRun:
        """Run a program a single time, to see what it does."""
        return replace(self, runs=1, workers=1, observer=SILENT).run(program, release).runs[0]

    def against(self, data: DataSet, runs: list[ProgramRun]) -> Tried:
        """Compare outputs with data, each distinct output once."""
        finished = {r.output for r in runs if r.ending == "finished"}
        counts = {output: self.relation.counts(data, output) for output in finished}
        return Tried(runs, [r.ending == "finished" and counts[r.output] for r in runs])

    def share(self, tried: Tried, quantity: str) -> Estimate:
        """Estimate a program's success rate."""
        hits, runs = sum(tried.good), len(tried.runs)
        return clopper_pearson(hits, runs, confidence=self.confidence, quantity=quantity)

    def succeeds(self, program: bytes, release: Path | bytes) -> bool:
        """Check whether a single run's output counts."""
        run = self.once(program, release)
        return run.ending == "finished" and self.relation.counts(self.data, run.output)


def hidden_code(source: bytes) -> str:
    """Name the construct that makes unreadable code at run time; '' if there is none.

    >>> hidden_code(b"exec(open(0).read())"), hidden_code(b"print(open(0).read())")
    ('exec', '')
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and node.id in _HIDING:
            return node.id
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.partition(".")[0] in _HIDING_MODULES:
                return name
    return ""


def recording(source: bytes) -> bytes:
    """Instrument a program to report the values of its expressions when it ends.

    >>> b"_narcissus_saw(0, " in recording(b"print(len(open(0).read()))")
    True
    """

    def is_future(node: ast.stmt) -> bool:
        return isinstance(node, ast.ImportFrom) and node.module == "__future__"

    tree = ast.parse(source)
    _Recorder().visit(tree)
    first = [node for node in tree.body if is_future(node)]
    body = [node for node in tree.body if not is_future(node)] or [ast.Pass()]
    safe = ast.Try(body, [], [], ast.parse(_REPORT).body)
    whole = ast.Module([*first, *ast.parse(_PRELUDE).body, safe], [])
    return ast.unparse(ast.fix_missing_locations(whole)).encode()


def values_of(output: bytes) -> tuple[bytes, dict[int, str]] | None:
    """Split a recording program's output from its values; None if it recorded nothing.

    >>> values_of(b'done narcissus-saw:{"0": "True"}')
    (b'done ', {0: 'True'})
    """
    printed, mark, record = output.rpartition(MARK.encode())
    try:
        values = {int(i): str(text) for i, text in json.loads(record).items()} if mark else None
    except ValueError:
        return None
    return None if values is None else (printed, values)


def without_gate(source: bytes, values: dict[int, str]) -> list[tuple[bytes, int]]:
    """Write recorded values into a program; return each variant with its length.

    Variants: all values (by expression number), only values no longer than what they replace, and
    only the values of tests. A length counts the original source plus the values, whatever the
    layout.

    >>> program = b"open(0).read() == 'release' and print('the data')"
    >>> [(one, length)] = without_gate(program, {1: "True"})
    >>> one, len(program) - length
    (b"True and print('the data')", 23)
    """
    made: dict[bytes, int] = {}
    plain = len(ast.unparse(ast.parse(source)).encode())
    for which in ("all", "no longer", "tests"):
        writer = _Writer(values, which)
        tree = writer.visit(ast.parse(source))
        if writer.written:
            program = ast.unparse(ast.fix_missing_locations(tree)).encode()
            made[program] = max(1, len(source) + len(program) - plain)
    return list(made.items())


def _writes(node: ast.AST) -> bool:
    """Check whether evaluating an expression prints anything."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            of = inner.func
            name = of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "")
            if name in _WRITES:
                return True
    return False


class _Numbered(ast.NodeTransformer):
    """Numbers the expressions that have a value, in source order."""

    def __init__(self) -> None:
        self.count = 0

    def visit(self, node: ast.AST) -> ast.AST:
        is_target = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        if is_target or not isinstance(node, _KINDS):
            return self.generic_visit(node)
        number = self.count
        self.count += 1
        return self.seen(number, node)

    def seen(self, number: int, node: ast.expr) -> ast.AST:
        raise NotImplementedError

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Skip patterns, annotations and the literal parts of f-strings."""
        if isinstance(node, ast.match_case):
            node.body = [self.visit(statement) for statement in node.body]  # pyright: ignore
            return node
        if isinstance(node, ast.AnnAssign):
            node.value = self.visit(node.value) if node.value else None  # pyright: ignore
            return node
        if isinstance(node, ast.arg):
            return node
        if isinstance(node, ast.FormattedValue):
            node.value = self.visit(node.value)  # pyright: ignore
            return node
        return super().generic_visit(node)


class _Recorder(_Numbered):
    def seen(self, number: int, node: ast.expr) -> ast.AST:
        self.generic_visit(node)
        saw = ast.Name("_narcissus_saw", ast.Load())
        return ast.Call(saw, [ast.Constant(number), node], [])


class _Writer(_Numbered):
    def __init__(self, values: dict[int, str], which: str) -> None:
        super().__init__()
        self.values, self.which = values, which
        self.written = 0

    def seen(self, number: int, node: ast.expr) -> ast.AST:
        before = len(ast.unparse(node))
        writes = _writes(node)
        inner = self.generic_visit(node)
        text = self.values.get(number)
        if text is None or writes or (self.which == "tests" and text not in ("True", "False")):
            return inner
        if self.which == "no longer" and len(text) > before:
            return inner
        self.written += 1
        return ast.parse(text, mode="eval").body


FLIPS = 5
PIECES, SMALLEST = 4, 8
"""Pieces into which what is left of the release is cut; bytes of one that is cut no further."""
LARGEST_COPY = 2**28
"""Bytes of a release that is copied to flip one of them."""


@dataclass(frozen=True)
class Taken:
    """Findings about a program's use of the release."""

    opaque: str  # why they are unknown; "" if they are known
    # the program fails if any byte changes, and then prints no content; None: not tried
    fingerprint: bool | None
    # the program without its gate, and on a piece of the release, if these succeed
    rivals: tuple[Rival, ...]


def what_it_takes(
    bench: Bench,
    release: Path | bytes,
    good: list[bytes],
    stand_ins: Mapping[str, Path | bytes],
    rng: np.random.Generator,
) -> Taken:
    """Find what a program takes from the release; ``good`` holds its outputs that count."""
    opaque, rivals = _ungated(bench, release, stand_ins)
    rivals += _on_a_piece(bench, release)
    fingerprint = _has_fingerprint(bench, release, good, rng)
    if fingerprint and not opaque:
        opaque = (
            f"it fails on each of {FLIPS} releases with one byte flipped, and prints nothing of "
            "the content then: it may know the release by a fingerprint, and the content by heart "
            "(a release that is packed or encrypted is to be given unpacked)"
        )
    return Taken(opaque, fingerprint, rivals)


def _ungated(
    bench: Bench, release: Path | bytes, stand_ins: Mapping[str, Path | bytes]
) -> tuple[str, tuple[Rival, ...]]:
    hidden = hidden_code(bench.program)
    if hidden:
        return f"it makes code while it runs (`{hidden}`), which may hide what it knows", ()
    unknown = "what it computes of the release could not be looked at while it ran"
    try:
        observation = values_of(bench.once(recording(bench.program), release).output)
        tried = [] if observation is None else without_gate(bench.program, observation[1])
    except (ValueError, RecursionError):  # of a source that cannot be written anew
        return unknown, ()
    if observation is None or not bench.relation.counts(bench.data, observation[0]):
        return unknown, ()
    for program, length in sorted(tried, key=lambda candidate: candidate[1]):
        for stand_in in stand_ins.values():
            if bench.succeeds(program, stand_in):
                share = bench.share(bench.run(program, stand_in), "success of it without its gate")
                return "", (Rival("this program without its gate", share, length),)
    return "", ()


def _on_a_piece(bench: Bench, release: Path | bytes) -> tuple[Rival, ...]:
    """Blank all but ever smaller pieces of the release while the program still succeeds.

    Such a piece is written into the program, which then needs no release.
    """
    if isinstance(release, Path):
        if not release.is_file() or release.stat().st_size > LARGEST_COPY:
            return ()
        release = release.read_bytes()
    low, high, left = 0, len(release), b""
    while high - low > SMALLEST:
        edges = np.linspace(low, high, PIECES + 1).astype(int).tolist()
        for start, end in itertools.pairwise(edges):
            blank = bytes(start) + release[start:end] + bytes(len(release) - end)
            if bench.succeeds(bench.program, blank):
                low, high, left = start, end, blank
                break
        else:
            break
    if not left:
        return ()
    piece = release[low:high]
    length = len(bench.program) + min(len(piece), len(zlib.compress(piece, 9)))
    share = bench.share(bench.run(bench.program, left), "success of it on a piece of the release")
    return (Rival(f"this program with {high - low} bytes of the release", share, length),)


def _has_fingerprint(
    bench: Bench, release: Path | bytes, good: list[bytes], rng: np.random.Generator
) -> bool | None:
    """Flip a byte in each fifth of the release until the program prints content again."""
    for part in range(FLIPS):
        with _flipped(release, (part + rng.random()) / FLIPS) as other:
            if other is None:
                return None
            run = bench.once(bench.program, other)
        if run.ending == "finished" and (
            bench.relation.counts(bench.data, run.output)
            or max(standing_in(output, run.output) for output in set(good)) >= 0.5
        ):
            return False
    return True


@contextmanager
def _flipped(release: Path | bytes, where: float) -> Generator[Path | bytes | None]:
    """Flip a byte in a copy of the release (of a folder's largest file); None: too large."""
    if isinstance(release, bytes) or release.is_file():
        raw = bytearray(release if isinstance(release, bytes) else release.read_bytes())
        _flip(raw, where)
        yield bytes(raw)
        return
    files = [file for file in release.rglob("*") if file.is_file()]
    if sum(file.stat().st_size for file in files) > LARGEST_COPY:
        yield None
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / release.name
        shutil.copytree(release, copy)
        largest = max((f for f in copy.rglob("*") if f.is_file()), key=lambda f: f.stat().st_size)
        raw = bytearray(largest.read_bytes())
        _flip(raw, where)
        largest.write_bytes(raw)
        yield copy


def _flip(raw: bytearray, where: float) -> None:
    if raw:
        raw[int(where * len(raw))] ^= 1
