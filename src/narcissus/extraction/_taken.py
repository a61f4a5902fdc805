"""What a program takes from the release: without its gate, and on releases with a byte flipped."""

from __future__ import annotations

import itertools
import shutil
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from narcissus.extraction._ungated import hidden_code, recording, values_of, without_gate
from narcissus.extraction._verdict import Rival
from narcissus.extraction.bench import Bench
from narcissus.extraction.complexity import standing_in

FLIPS = 5
PIECES, SMALLEST = 4, 8
"""Pieces into which what is left of the release is cut; bytes of one that is cut no further."""
LARGEST_COPY = 2**28
"""Bytes of a release that is copied to flip one of them."""


@dataclass(frozen=True)
class Taken:
    """What is known of it.

    Attributes
    ----------
    opaque
        Why it is not known; empty where it is.
    fingerprint
        Whether the program fails as soon as any byte of the release is another, and then prints
        nothing of the content; None where it was not tried.
    rivals
        The program without its gate, and on a piece of the release, where that does as well.
    """

    opaque: str
    fingerprint: bool | None
    rivals: tuple[Rival, ...]


def what_it_takes(
    bench: Bench,
    release: Path | bytes,
    good: list[bytes],
    stand_ins: Mapping[str, Path | bytes],
    rng: np.random.Generator,
) -> Taken:
    """Look what a program takes from the release that it succeeds with.

    Parameters
    ----------
    bench
        Where it is run.
    release, stand_ins
        What it is given, and what stands in for that.
    good
        Outputs with the release that count.
    rng
        Chooses the bytes to flip.
    """
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
    """Run the program with what it computed of the release written in, and without the release."""
    hidden = hidden_code(bench.program)
    if hidden:
        return f"it makes code while it runs (`{hidden}`), which may hide what it knows", ()
    unknown = "what it computes of the release could not be looked at while it ran"
    try:
        said = values_of(bench.once(recording(bench.program), release).output)
        tried = [] if said is None else without_gate(bench.program, said[1])
    except (ValueError, RecursionError):  # of a source that cannot be written anew
        return unknown, ()
    if said is None or not bench.relation.counts(bench.data, said[0]):
        return unknown, ()
    for program, length in sorted(tried, key=lambda one: one[1]):
        for given in stand_ins.values():
            run = bench.once(program, given)
            if run.ending == "finished" and bench.relation.counts(bench.data, run.output):
                share = bench.share(bench.run(program, given), "success of it without its gate")
                return "", (Rival("this program without its gate", share, length),)
    return "", ()


def _on_a_piece(bench: Bench, release: Path | bytes) -> tuple[Rival, ...]:
    """Blank all of the release but a piece, ever smaller, while the program succeeds with it.

    So much of it is written into the program, and needs no release.
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
            run = bench.once(bench.program, blank)
            if run.ending == "finished" and bench.relation.counts(bench.data, run.output):
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
    """Flip a byte in each fifth of the release, until the program prints of the content again."""
    for part in range(FLIPS):
        with _flipped(release, (part + rng.random()) / FLIPS) as other:
            if other is None:
                return None
            run = bench.once(bench.program, other)
        if run.ending == "finished" and (
            bench.relation.counts(bench.data, run.output)
            or max(standing_in(one, run.output) for one in set(good)) >= 0.5
        ):
            return False
    return True


@contextmanager
def _flipped(release: Path | bytes, where: float) -> Generator[Path | bytes | None]:
    """Flip a byte of a copy of the release, of a folder in its largest file; None: too large."""
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
