"""Write the study of a statement, at parameters at which it says something.

    python examples/statements/write.py D.5 --bits 20000
    narcissus extract D.5/study.toml

Statements: D.2 to D.6, D.10 to D.12, D.4.2 and footnote-8 of Cohen et al. 2024; 3.1 and 4.1 of
Kaplan et al. 2025. Parameters that make a statement vacuous are refused, with the least value of
its first parameter from which on it says something.

A program is an extractor if it is shorter than all that need no release. Of random data that holds
for sure, but for one data set in a thousand, where counting says so: a program that succeeds two
times in three covers at most 3/2 of what its outputs can hold, and fewer than 2^k programs are
shorter than k bits. With H the entropy of the share of bits that may differ, that is

    (1 - H) d - log2(3/2 lines strings) - log2(1000) bits.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narcissus.errors import InputError
from narcissus.extraction import approximate_prg_example, prg_example
from narcissus.mechanisms import Stretched
from narcissus.profiles.closed_forms.average import limit_given_rows

MARGIN = 128
"""Bytes by which a program must be shorter than all that need no release: what `extract` asks."""
MOST = 1 << 20
"""Largest value of a parameter."""


@dataclass(frozen=True)
class Study:
    """The files of a study, why it would say nothing, and the command that runs it."""

    files: dict[str, str]
    why: str  # empty where it says something
    command: str = "narcissus extract {folder}/study.toml"


def counted(bits: int, share: float = 0.0, lines: int = 1, strings: int = 1) -> float:
    """Return the bits that every program without the release needs, by counting."""
    known = 1.0
    if share:
        known += share * math.log2(share) + (1 - share) * math.log2(1 - share)
    return known * bits - math.log2(1.5 * lines * strings) - math.log2(1000)


def toml(values: dict[str, Any], **sections: dict[str, Any]) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    for name, section in sections.items():
        lines += ["", f"[{name}]", *(f"{k} = {json.dumps(v)}" for k, v in section.items())]
    return "\n".join(lines) + "\n"


def bits_of(count: int, seed: int) -> str:
    return f"{random.Random(seed).getrandbits(count):0{count}b}"


def extraction(
    title: str, data: str, release: str, program: str, needed: float, **relation: Any
) -> Study:
    """Return a study of kind extraction, where ``needed`` bits are needed without the release."""
    why = ""
    if 8 * (len(program) + MARGIN) > needed:
        why = (
            f"its program has {len(program)} bytes, and counting says only that others need "
            f"{max(0, math.floor(needed / 8))}; {MARGIN} more than its own are asked for"
        )
    top = {"kind": "extraction", "title": title, "data": "data.txt", "release": "release.txt"}
    study = toml({**top, "program": "program.py", "runs": 20}, relation=relation, run={"seed": 1})
    files = {"data.txt": data, "release.txt": release, "program.py": program, "study.toml": study}
    return Study(files, why)


def d2(bytes: int, seed: int) -> Study:
    text = random.Random(seed).randbytes(bytes).hex()
    title = "Definition D.2: what a release says about a string"
    program = "print(input()[::-1])\n"
    return extraction(title, text, text[::-1], program, counted(8 * bytes), name="exact")


def d3(bits: int, strings: int, simple: int, seed: int) -> Study:
    rows = [bits_of(bits, seed + k) for k in range(strings)]
    if simple:
        rows[0] = ("01" * bits)[:bits]
    title = "Definition D.3: a set is no more complex than its simplest member"
    how: dict[str, Any] = {"name": "hamming", "share": 0.0, "lines": 1}
    needed = counted(bits, strings=strings)
    return extraction(title, "\n".join(rows), rows[-1], "print(input())\n", needed, **how)


def d4(bits: int, seed: int) -> Study:
    program = (
        f"import random\nn=2**{bits}-1;z=random.randrange(n+1)\n"
        f"for x in z,n-z:print(f'{{x:0{bits}b}}')\n"
    )
    title = "Example D.4: of two opposite strings one agrees in half of the bits"
    how: dict[str, Any] = {"name": "hamming", "share": 0.5, "lines": 2}
    # to print the string itself takes far more than to agree with half of it
    return extraction(title, bits_of(bits, seed), "nothing", program, counted(bits), **how)


def d6(bits: int, strings: int, seed: int) -> Study:
    rows, half, lines = [bits_of(bits, seed + k) for k in range(strings)], bits // 2, 20
    program = (
        f"import random\ny=input()\nfor _ in range({lines}):"
        f"print(y+f'{{random.getrandbits({bits - half}):0{bits - half}b}}')\n"
    )
    title = f"Example D.{6 if strings > 1 else 5}: half of the bits, to agree in three quarters"
    how: dict[str, Any] = {"name": "hamming", "share": 0.25, "lines": lines}
    needed = counted(bits, 0.25, lines, strings)
    return extraction(title, "\n".join(rows), rows[-1][:half], program, needed, **how)


def d5(bits: int, seed: int) -> Study:
    return d6(bits, 1, seed)


def d10(length: int, seed_bits: int, budget: int, seed: int) -> Study:
    why = ""
    if length <= seed_bits:
        why = f"a generator stretches its {seed_bits} bits, and l(d) > d is asked for"
    Stretched(seed_bits, 2**16)  # refuses seeds that the generator does not take
    gain = min(1.0, budget / 2**seed_bits) * (1 - 2.0 ** (seed_bits - length))
    files = {"study.toml": toml(
        {"kind": "game", "title": "Definition D.10: a generator, and who tries its seeds",
         "about": f"Who tries {budget} of 2^{seed_bits} seeds gains about {gain:.4g}."},
        world={"name": "pairs", "pairs": [[[0], [1]]]},
        mechanism={"name": "stretched", "seed_bits": seed_bits, "length": length},
        success={"name": "first-bit"}, statement={"name": "pairs", "epsilon": 0.0, "delta": 0.05},
        run={"trials": 2000, "seed": seed},
    ) + f'\n[[attack]]\nname = "seed-search"\nbudget = {budget}\n'}  # fmt: skip
    return Study(files, why, "narcissus audit {folder}/study.toml")


def d12(bytes: int, by_heart: int, from_seed: int, seed: int) -> Study:
    known = min(by_heart, bytes)
    made = prg_example(pseudo_random=from_seed == 1, length=bytes, by_heart=known, rng=seed)
    title = "Algorithm D.12: a program, data and a release"
    return triple(title, made, counted(8 * bytes), name="exact")


def triple(title: str, made: Any, needed: float, **relation: Any) -> Study:
    """Return the study of a triple, with the program of the seed as a rival if there is one."""
    texts = (made.data.decode(), made.release.decode(), made.program.decode())
    found = extraction(title, *texts, needed, **relation)
    if made.short_program is None:
        return found
    study = found.files["study.toml"].replace("\n[relation]", 'rivals = ["seed.py"]\n\n[relation]')
    files = found.files | {"seed.py": made.short_program.decode(), "study.toml": study}
    return Study(files, found.why)


def footnote_8(bits: int, by_heart: int, percent: int, from_seed: int, seed: int) -> Study:
    alpha = percent / 100
    known = max(1, min(by_heart, int(2 * alpha * bits)))
    made = approximate_prg_example(
        pseudo_random=from_seed == 1, advantage=alpha, bits=bits, by_heart=known, rng=seed
    )
    title, share = f"Footnote 8: to agree in {50 + percent}% of the bits", 0.5 - alpha
    return triple(title, made, counted(bits, share), name="hamming", share=share, lines=1)


def d42(bytes: int, easy: int, seed: int) -> Study:
    text, why = "34" * bytes if easy else random.Random(seed).randbytes(bytes).hex(), ""
    if counted(8 * bytes) < 8 * MARGIN:
        why = f"a program that unpacks itself has up to {MARGIN} bytes, whatever it prints"
    return Study({"data.txt": text}, why, "narcissus complexity {folder}/data.txt")


def average(d: int, n: int, N: int, known: int, percent: int, seed: int) -> Study:
    """Return the study of Definition 3.1, or 4.1 where rows are known, by Lemma 3.5."""
    gamma, limit, why = percent / 100, limit_given_rows(n, d, percent / 100, known), ""
    if n > N:
        raise InputError(f"--N must be at least the {n} rows of the data, got {N}")
    if limit >= 1:
        why = f"the limit of Lemma 3.5 is 1 for {n - known} unknown rows at gamma = {gamma:g}"
    side = {"side-information": {"name": "rows", "rows": known}} if known else {}
    sections: dict[str, Any] = {
        "world": {"name": "tardos", "N": N, "d": d, "n": n},
        "mechanism": {"name": "exact-average"},
        **side,
        "success": {"name": "hamming", "gamma": gamma},
        "statement": {
            "name": "side-information" if known else "bayesian",
            "epsilon": 0.0,
            "delta": float(f"{limit * 1.001:.3g}"),
        },
        "run": {"trials": 300, "seed": seed},
    }
    text = toml({"kind": "game", "title": f"At most {limit:.3g} come near a row"}, **sections)
    attack = '\n[[attack]]\nname = "majority"\n'
    return Study({"study.toml": text + attack}, why, "narcissus audit {folder}/study.toml")


Options = dict[str, tuple[int, int, int]]
FLAG, SEED = (0, 0, 1), (1, 0, MOST)
AVERAGE: Options = {"d": (400, 1, 100_000), "n": (40, 1, 10_000), "N": (400, 1, 10**6)}
PERCENT: Options = {"percent": (4, 0, 49)}

# what makes the study of each statement, and its options: default, least and largest value
STATEMENTS: dict[str, tuple[Callable[..., Study], Options]] = {
    "D.2": (d2, {"bytes": (400, 1, MOST)}),
    "D.3": (d3, {"bits": (4000, 1, MOST), "strings": (20, 1, 100), "simple": FLAG}),
    "D.4": (d4, {"bits": (4000, 1, MOST)}),
    "D.5": (d5, {"bits": (20_000, 2, MOST)}),
    "D.6": (d6, {"bits": (20_000, 2, MOST), "strings": (20, 1, 100)}),
    "D.10": (d10, {"length": (64, 1, 2**16), "seed-bits": (10, 1, 256), "budget": (256, 1, MOST)}),
    "D.11": (d12, {"bytes": (4096, 64, MOST), "by-heart": (128, 48, MOST), "from-seed": (1, 0, 1)}),
    "D.12": (d12, {"bytes": (4096, 64, MOST), "by-heart": (128, 48, MOST), "from-seed": FLAG}),
    "D.4.2": (d42, {"bytes": (1024, 1, MOST), "easy": FLAG}),
    "footnote-8": (footnote_8, {"bits": (400_000, 512, MOST), "by-heart": (4096, 1, MOST),
                                "percent": (10, 1, 49), "from-seed": FLAG}),
    "3.1": (average, AVERAGE | PERCENT | {"known": (0, 0, 0)}),
    "4.1": (average, AVERAGE | PERCENT | {"known": (30, 1, 10_000)}),
}  # fmt: skip


def made(name: str, values: dict[str, int]) -> Study:
    function, _ = STATEMENTS[name]
    return function(**{key.replace("-", "_"): value for key, value in values.items()})


def least(name: str, values: dict[str, int]) -> int | None:
    """Find the least value of the first parameter from which on the study says something."""
    first, (_, low, most) = next(iter(STATEMENTS[name][1].items()))

    def says(value: int) -> bool:
        return not made(name, {**values, first: value}).why

    if not says(most):
        return None
    if says(low):
        return low
    high = max(low, 64)
    while not says(high):
        high *= 2
    if STATEMENTS[name][0] is average:  # a tail falls in steps: the last value that says nothing
        high = min(2 * high, most)
        return next((d + 1 for d in range(high, low - 1, -1) if not says(d)), low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if says(middle) else (middle, high)
    return high


def whole(low: int, high: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.removeprefix("-").isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {low:,} to {high:,}, got {text!r}"
            )
        return int(text)

    return number


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = parser.add_subparsers(dest="name", required=True, metavar="STATEMENT")
    for name, (_, options) in STATEMENTS.items():
        one = names.add_parser(name)
        for key, (value, low, high) in {**options, "seed": SEED}.items():
            kind = {"type": whole(low, high), "default": value, "help": f"[default: {value}]"}
            one.add_argument(f"--{key}", **kind)
        one.add_argument("--out", type=Path, default=Path(name), help="folder of the study")
    asked = vars(parser.parse_args(words))
    name, folder = asked.pop("name"), asked.pop("out")
    values = {key.replace("_", "-"): value for key, value in asked.items()}
    first = next(iter(STATEMENTS[name][1]))
    try:
        study = made(name, values)
        if study.why:
            enough = least(name, values)
            there = f"it says something from {enough:,} on" if enough else "no value is enough"
            raise InputError(
                f"{name} says nothing at --{first} {values[first]}: {study.why}; {there}"
            )
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in study.files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except (InputError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {', '.join(study.files)} to {folder}; run")
    print("  " + study.command.format(folder=folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
