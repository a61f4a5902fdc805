"""What the runs of an extraction may take, told before the first of them counts."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from narcissus.errors import TooLargeError
from narcissus.extraction.sandbox import Limits, run_program
from narcissus.study.kinds import RunOptions
from narcissus.study.work import PATIENCE, agree, machine_memory


def check(
    program: bytes, release: Path, limits: Limits, runs: int, *, workers: int, options: RunOptions
) -> None:
    """Refuse what does not fit into this machine, or takes longer than was agreed to.

    A program may use all that it is given, so that counts; of its time, what its first run takes,
    where all that it is given would be too long.

    program, release, limits: as for `narcissus.extraction.sandbox.run_program`; the release of
        known size.
    runs: runs with all releases together.
    workers: runs at the same time.
    options: what was agreed to, and who hears of it.
    Raises TooLargeError: memory or the temporary folder do not suffice.
    Raises LongWorkError: it takes longer than was agreed to.
    """
    once = min(workers, runs)
    _fits(
        "memory",
        once * (limits.memory + limits.disk) + runs * limits.output,
        machine_memory(),
        "fewer workers or runs, or a smaller `limits.memory`, `limits.disk` or `limits.output`",
    )
    _fits(
        "space in the temporary folder",
        once * (limits.disk + _size(release)),
        shutil.disk_usage(tempfile.gettempdir()).free,
        "fewer workers, a smaller `limits.disk`, or another folder in TMPDIR",
    )
    if options.hours is None or runs * limits.seconds <= 3600 * options.hours * once:
        return
    first = run_program(program, release, replace(limits, seconds=min(limits.seconds, PATIENCE)))
    seconds = limits.seconds if first.ending == "timeout" else first.seconds
    agree(
        runs * seconds / once,
        f"{runs:,} runs of {seconds:.3g} s each, {once} at a time",
        hours=options.hours,
        observer=options.observer,
    )


def _fits(what: str, needed: int, there: int, remedy: str) -> None:
    if needed > there:
        raise TooLargeError(
            f"the programs may use {needed / 1e9:.1f} GB of {what}, and there are "
            f"{there / 1e9:.1f} GB: take {remedy}"
        )


def _size(release: Path) -> int:
    files = release.rglob("*") if release.is_dir() else [release]
    return sum(file.stat().st_size for file in files if file.is_file())
