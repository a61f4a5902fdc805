"""``narcissus complexity``: description length of a file, and tests of randomness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus.cli import options

if TYPE_CHECKING:
    from narcissus.evidence import RandomnessTests

HELP = """Bound from above how short FILE can be described, and say whether it looks random.

The complexity of a file is the length of the shortest program (Python with the packages installed
here) that prints it. Every compressor that is installed makes such a program; the shortest is run,
so that its length is a proved upper bound. No method proves a lower one: a file that a generator
made from a short seed looks incompressible, and passes all tests, for whoever does not know the
seed.

With --given OTHER programs may read that file: the conditional complexity. The difference of the
two, the mutual information, is approximate, since both are upper bounds.

\b
Examples:
  narcissus complexity letters.txt
  narcissus complexity letters.txt --given model.bin
  narcissus complexity noise.bin --json

\b
Keys of --json: bytes, complexity, given, mutual_information (null without --given), randomness
(p_values, adjusted for their number, p_value of the first 32,768 bytes; null below 16), compressors
(p-value by counting; null below 16 bytes).
"""

MOST = 2**15
"""Bytes whose bits are tested."""
LEAST = 16
METHODS = ("zlib", "bz2", "lzma")


@click.command(help=HELP, short_help="How short a file can be described, given another.")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@options.file("--given", "OTHER", "A file that the description may read.", exists=True)
@options.as_json("Full precision, on standard output.")
@options.quiet
def command(*, file: Path, given: Path | None, as_json: bool, quiet: bool) -> None:
    from narcissus._files import read_bytes
    from narcissus.cli.progress import progress
    from narcissus.extraction import conditional_complexity, mutual_information

    data = read_bytes(file)
    with progress(quiet=quiet) as observer:
        if given is None:
            information = None
            alone = conditional_complexity(data, observer=observer)
        else:
            information = mutual_information(data, read_bytes(given), observer=observer)
            alone = information.alone
    tests, by_counting = _random_looking(data)
    if as_json:
        found: dict[str, Any] = {
            "bytes": len(data),
            "complexity": alone.to_dict(),
            "given": None if information is None else information.given.to_dict(),
            "mutual_information": None
            if information is None
            else {
                "estimate": information.estimate,
                "at_least": 0.0,
                "at_most": information.at_most,
                "grade": information.grade,
            },
            "randomness": None if tests is None else tests.to_dict(),
            "compressors": by_counting,
        }
        click.echo(json.dumps(found))
        return
    click.echo(str(alone if information is None else information))
    if tests is None:
        click.echo(f"NOT ASSESSED: whether it looks random: fewer than {LEAST} bytes")
        return
    click.echo(_said(data, tests, by_counting))


def _random_looking(data: bytes) -> tuple[RandomnessTests | None, float | None]:
    """Test the first bits, and count how many strings compress as well."""
    import numpy as np

    from narcissus.evidence import randomness_tests
    from narcissus.extraction.verifiers import compression_p_value

    if len(data) < LEAST:
        return None, None
    first = data[:MOST]
    bits = np.unpackbits(np.frombuffer(first, np.uint8))
    return randomness_tests(bits), compression_p_value(first, 8 * len(first), METHODS)


def _said(data: bytes, tests: RandomnessTests, by_counting: float | None) -> str:
    lines = [
        *([] if len(data) <= MOST else [f"Of the first {MOST:,} bytes:"]),
        str(tests),
        f"  {', '.join(METHODS)}: {by_counting:.3g}, since few strings can be compressed",
        "That nothing is found is no proof of randomness, nor of a high complexity.",
    ]
    return "\n".join(lines)
