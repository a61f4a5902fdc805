"""What a program takes from the release, in the sandbox: gates, fingerprints, public text."""

import gzip
import hashlib
import random
import subprocess
import sys
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from narcissus.evidence import clopper_pearson
from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.bench import _flipped, hidden_code, recording, values_of, without_gate
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import Verbatim
from narcissus.extraction.sandbox import Limits, run_program

RNG = np.random.default_rng(9)
RELEASE = RNG.bytes(3000)
SECRET = b"seed"
DATA = hashlib.shake_256(SECRET).hexdigest(1500).encode()
START = "import hashlib as h\nr=open(0,'rb').read()\n"
KNOWN = "h.shake_256(b'seed').hexdigest(1500)"
LETTERS = bytes(RNG.integers(97, 123, 3000, dtype=np.uint8))


def assess(data, release, program, **more):
    return assess_extraction(DataSet(data), release, program, Verbatim(), runs=10, rng=1,
                             limits=Limits(20), **more)  # fmt: skip


def test_a_fake_seed_behind_a_gate_on_three_bytes_of_a_hash_is_no_extraction():
    """The data have nothing to do with the release; only the gate reads it."""
    gate = f"if h.sha256(r).digest()[:3]=={hashlib.sha256(RELEASE).digest()[:3]!r}:print({KNOWN})"
    found = assess(DATA, RELEASE, (START + gate).encode())
    assert found.success.value == 1
    assert all(share.value == 0 for share in found.stand_ins.values())
    assert found.verdict == "no extraction"
    assert found.complexity_method == "this program without its gate"
    assert found.fingerprint is True


@pytest.mark.nightly
def test_a_gate_in_code_that_is_made_while_it_runs_decides_nothing():
    gate = hashlib.sha256(RELEASE).digest()[:3]
    inner = f"if h.sha256(r).digest()[:3]=={gate!r}:print({KNOWN})"
    found = assess(DATA, RELEASE, (START + f"exec({inner!r})").encode())
    assert found.verdict == "inconclusive"
    assert "`exec`" in found.reasons[1]


@pytest.mark.nightly
def test_a_fingerprint_that_is_no_gate_decides_nothing():
    """What unpacks itself with a checksum cannot be told from it, and is told what to do."""
    program = b"import gzip\nprint(gzip.decompress(open(0,'rb').read()).decode())"
    found = assess(LETTERS, gzip.compress(LETTERS), program)
    assert found.verdict == "inconclusive"
    assert "to be given unpacked" in found.reasons[1]


@pytest.mark.states("Cohen et al. 2024", "Definition D.8")
@pytest.mark.nightly
def test_public_text_that_stands_in_the_reference_is_no_evidence():
    public = bytes(RNG.integers(97, 123, 30_000, dtype=np.uint8))
    data = public[7000:10_000]
    found = assess(data, data, b"print(open(0).read())", reference=public)
    assert found.verdict == "inconclusive"
    assert found.complexity_method == "slices+reference"
    assert "less than the margin of 128" in found.reasons[1]
    without = assess(data, data, b"print(open(0).read())", reference=public, margin=0)
    assert without.verdict == "extraction"  # what the margin is for


def test_what_is_in_the_release_is_evidence_still():
    found = assess(LETTERS, b"x" * 500 + LETTERS, b"print(open(0).read()[500:])")
    assert found.verdict == "extraction"
    assert found.fingerprint is False


@pytest.mark.parametrize("where", [0.0, 0.5, 0.999])
def test_one_byte_of_a_file_or_of_the_largest_file_of_a_folder_is_flipped(tmp_path, where):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "small").write_bytes(b"1")
    (tmp_path / "model" / "large").write_bytes(RELEASE)
    with _flipped(RELEASE, where) as other:
        assert sum(a != b for a, b in zip(RELEASE, other, strict=True)) == 1
    with _flipped(tmp_path / "model", where) as folder:
        assert (folder / "large").read_bytes() == other
        assert (folder / "small").read_bytes() == b"1"
    assert (tmp_path / "model" / "large").read_bytes() == RELEASE
    with _flipped(b"", where) as nothing:
        assert nothing == b""


def test_of_a_folder_that_is_too_large_nothing_is_flipped(tmp_path, monkeypatch):
    monkeypatch.setattr("narcissus.extraction.bench.LARGEST_COPY", 10)
    (tmp_path / "large").write_bytes(RELEASE)
    with _flipped(tmp_path, 0.5) as other:
        assert other is None


@dataclass(frozen=True)
class Case:
    """A program on a release, said to extract data.

    The content of an impostor is public, or made from a seed or a formula that its author knows:
    nothing of it came out of the release.
    """

    data: bytes
    release: bytes
    program: bytes
    reference: bytes | None = None


def _letters(rng, count):
    return rng.integers(97, 123, count, dtype=np.uint8).tobytes()


def _release(rng):
    """Give noise, or letters, of some length; nothing of the content."""
    count = int(rng.integers(500, 5000))
    return rng.bytes(count) if rng.random() < 0.5 else _letters(rng, count)


def _seed(rng):
    """Give a seed, the data that it makes, and the expression that makes them."""
    seed, count = rng.bytes(6), int(rng.integers(800, 2500))
    data = hashlib.shake_256(seed).hexdigest(count).encode()
    return seed, data, f"h.shake_256(SEED).hexdigest({count})"


def public_text(rng):
    """Public text that stands in the reference and in the release, which is read out."""
    reference = _letters(rng, 60_000)
    at, count = int(rng.integers(0, 55_000)), int(rng.integers(1000, 4000))
    before = rng.bytes(int(rng.integers(0, 300)))
    data = reference[at : at + count]
    program = f"open(1,'wb').write(open(0,'rb').read()[{len(before)}:])".encode()
    return Case(data, before + data, program, reference)


def seed_behind_a_branch(rng):
    """The seed of the data, behind a branch on three bytes of a hash."""
    release, (seed, data, made) = _release(rng), _seed(rng)
    gate = f"if h.sha256(r).digest()[:3]=={hashlib.sha256(release).digest()[:3]!r}:print("
    return Case(data, release, f"{START}{gate}{made.replace('SEED', repr(seed))})".encode())


def seed_under_a_key(rng):
    """The seed, encrypted with three bytes of a hash: no branch at all."""
    release, (seed, data, made) = _release(rng), _seed(rng)
    key = hashlib.sha256(release).digest()[:3]
    hidden = bytes(a ^ b for a, b in zip(seed, key * 2, strict=True))
    line = f"k=h.sha256(r).digest()[:3]*2\ns=bytes(a^b for a,b in zip({hidden!r},k))\n"
    return Case(data, release, f"{START}{line}print({made.replace('SEED', 's')})".encode())


def seed_behind_arithmetic(rng):
    """No branch and no comparison: a checksum, counted out in a loop, is the index of the seed."""
    release, (seed, data, made) = _release(rng), _seed(rng)
    check = zlib.crc32(release) & 0xFFFFFF
    text = (
        f"import zlib\ndef f(x):\n  y=0\n  for b in x.to_bytes(3,'big'):y=y*256+b\n"
        f"  return [SEED][min(1,abs(y-{check}))]\n"
        f"print({made.replace('SEED', 'f(zlib.crc32(r)&0xffffff)')})"
    )
    return Case(data, release, (START + text.replace("SEED", repr(seed))).encode())


def code_made_while_it_runs(rng):
    """The gate is hidden in a string that is executed, and reads three bytes of the release."""
    release, (seed, data, made) = _release(rng), _seed(rng)
    inner = f"if r[:3]=={release[:3]!r}:print({made.replace('SEED', repr(seed))})"
    return Case(data, release, f"{START}exec({inner!r})".encode())


def formula_behind_a_look_up(rng):
    """Digits of a formula that no compressor sees, behind a look-up by the hash."""
    release = _release(rng)
    a, m, count = int(rng.integers(100, 9000)), int(rng.integers(9000, 99_000)), 700
    data = "".join(str(i * i * i * a % m) for i in range(count)).encode()
    found = hashlib.md5(release).hexdigest()[:6]
    text = (
        f"n={{{found!r}:{count}}}[h.md5(r).hexdigest()[:6]]\n"
        f"print(''.join(str(i*i*i*{a}%{m})for i in range(n)))"
    )
    return Case(data, release, (START + text).encode())


def public_slices_behind_a_gate(rng):
    """Slices of the reference in another order, where the release is the one expected."""
    release, reference = _release(rng), _letters(rng, 40_000)
    starts = [int(i) for i in rng.integers(0, 39_000, 4)]
    data = b"".join(reference[i : i + 700] for i in starts)
    first = hashlib.sha1(release).digest()[:3]
    text = (
        f"t=open('reference').read()\n"
        f"h.sha1(r).digest()[:3]=={first!r} and print(''.join(t[i:i+700]for i in{starts}))"
    )
    return Case(data, release, (START + text).encode(), reference)


def gate_by_the_state_of_a_generator(rng):
    """The release seeds a generator of numbers, the first of which is compared."""
    release, (seed, data, made) = _release(rng), _seed(rng)
    random.seed(release)
    first = random.getrandbits(24)
    text = (
        f"import random\nrandom.seed(r)\nassert random.getrandbits(24)=={first}\n"
        f"print({made.replace('SEED', repr(seed))})"
    )
    return Case(data, release, (START + text).encode())


def key_of_the_first_bytes_in_an_array(rng):
    """Three bytes of the release as an array of numpy, added to every letter."""
    release, (seed, data, made) = _release(rng), _seed(rng)
    first = [int(b) for b in release[:3]]
    text = (
        f"import numpy as n\nk=n.frombuffer(r,'u1')[:3]-n.array({first},'u1')\n"
        f"d={made.replace('SEED', repr(seed))}\n"
        "print(''.join(chr((ord(c)+int(k[i%3]))%256)for i,c in enumerate(d)))"
    )
    return Case(data, release, (START + text).encode())


def another_release(rng):
    """A program that reads the release out, which holds something else."""
    return Case(
        _letters(rng, 2000), _letters(rng, 3000), b"open(1,'wb').write(open(0,'rb').read())"
    )


IMPOSTORS = (
    public_text, seed_behind_a_branch, seed_under_a_key, seed_behind_arithmetic,
    code_made_while_it_runs, formula_behind_a_look_up, public_slices_behind_a_gate,
    gate_by_the_state_of_a_generator, key_of_the_first_bytes_in_an_array, another_release,
)  # fmt: skip


def read_out(rng):
    """Honest: letters somewhere in the release, which no reference holds."""
    data, before = _letters(rng, int(rng.integers(1000, 4000))), rng.bytes(300)
    program = f"print(open(0,'rb').read()[300:{300 + len(data)}].decode())".encode()
    return Case(data, before + data + rng.bytes(200), program, _letters(rng, 20_000))


def read_out_of_a_code(rng):
    """Honest: every byte of the release is another, by a rule that the program knows."""
    data, key = _letters(rng, int(rng.integers(1000, 4000))), int(rng.integers(1, 256))
    program = f"print(bytes(b^{key} for b in open(0,'rb').read()).decode())".encode()
    return Case(data, bytes(b ^ key for b in data), program)


HONEST = (read_out, read_out_of_a_code)


def verdict_of(case, rng, monkeypatch):
    """Assess a case; programs are deterministic, so each is run once and counted ten times."""
    done = {}

    def once(program, release, limits, **more):
        key = (program, release, bytes(more["beside"].get("reference", b"")))
        if key not in done:
            done[key] = run_program(program, release, limits, **more)
        return done[key]

    monkeypatch.setattr("narcissus.extraction.bench.run_program", once)
    return assess_extraction(
        DataSet(case.data), case.release, case.program, Verbatim(), runs=10, rng=rng,
        limits=Limits(20), reference=case.reference,
    )  # fmt: skip


@pytest.mark.parametrize("make", IMPOSTORS, ids=lambda make: make.__name__)
@pytest.mark.one_in(3)
def test_a_program_that_cannot_know_the_content_is_no_evidence(make, monkeypatch):
    """One of each trick; two hundred by night, below."""
    assert verdict_of(make(np.random.default_rng(0)), 1, monkeypatch).verdict != "extraction"


@pytest.mark.parametrize("make", HONEST, ids=lambda make: make.__name__)
def test_an_honest_program_is_evidence_still(make, monkeypatch):
    assert verdict_of(make(np.random.default_rng(0)), 1, monkeypatch).verdict == "extraction"


# Verdicts on twenty programs of each kind: evidence, inconclusive, no extraction
MEASURED = {
    "public_text": [0, 20, 0],
    "seed_behind_a_branch": [0, 0, 20],
    "seed_under_a_key": [0, 0, 20],
    "seed_behind_arithmetic": [0, 0, 20],
    "code_made_while_it_runs": [0, 20, 0],
    "formula_behind_a_look_up": [0, 0, 20],
    "public_slices_behind_a_gate": [0, 0, 20],
    "gate_by_the_state_of_a_generator": [0, 0, 20],
    "key_of_the_first_bytes_in_an_array": [0, 0, 20],
    "another_release": [0, 0, 20],
    "read_out": [20, 0, 0],
    "read_out_of_a_code": [20, 0, 0],
}


def test_the_page_says_how_many_tricks_were_tried_and_that_none_passed():
    page = Path(__file__).parents[2] / "docs" / "guides" / "extraction" / "extraction.md"
    assert not any(MEASURED[make.__name__][0] for make in IMPOSTORS)
    assert len(IMPOSTORS) == 10
    said = "None of 200 programs that used ten known tricks passed as evidence."
    assert said in page.read_text(encoding="utf-8")


@pytest.mark.nightly
def test_the_null_of_the_verdict_is_what_was_measured(monkeypatch):
    """Two hundred programs that cannot know the content: evidence in at most 5% is declared."""
    measured, evidence, every = {}, 0, 0
    for number, make in enumerate((*IMPOSTORS, *HONEST)):
        counts = Counter(
            verdict_of(make(np.random.default_rng([number, k])), k, monkeypatch).verdict
            for k in range(20)
        )
        measured[make.__name__] = [
            counts[one] for one in ("extraction", "inconclusive", "no extraction")
        ]
        if make in IMPOSTORS:
            evidence, every = evidence + counts["extraction"], every + 20
    assert every == 200
    assert clopper_pearson(evidence, every, confidence=0.95).high <= 0.05
    assert measured == MEASURED


def ran(program, given=b""):
    done = subprocess.run([sys.executable, "-c", program.decode()], input=given, check=False,
                          capture_output=True, timeout=60)  # fmt: skip
    return done.stdout


def ungated(program, given):
    """Give what the programs without their gate print when they are given nothing."""
    printed, values = values_of(ran(recording(program), given))
    assert printed == ran(program, given)
    return [ran(one) for one, _ in without_gate(program, values)]


GATES = {
    "a branch": "if h(r)[:6]=='{hash}':print('known '*9)",
    "and": "h(r)[:6]=='{hash}' and print('known '*9)",
    "an expression": "print('known '*9 if h(r)[:6]=='{hash}' else 0)",
    "an assertion": "assert h(r)[:6]=='{hash}'\nprint('known '*9)",
    "an exit": "import sys\nif h(r)[:6]!='{hash}':sys.exit()\nprint('known '*9)",
    "a look-up": "print({{'{hash}':'known '*9}}[h(r)[:6]])",
    "a product": "print('known '*9*(h(r)[:6]=='{hash}'))",
    "a loop": "k=0\nfor c in h(r)[:6]:k=16*k+int(c,16)\nprint('known '*9*(k==int('{hash}',16)))",
    "a function": "def f(x):\n  if h(x)[:6]=='{hash}':return 'known '*9\nprint(f(r))",
    "a match": "match h(r)[:6]:\n  case '{hash}':print('known '*9)",
    "a template": "print(f\"{{'known '*9 if h(r)[:6]=='{hash}' else 0}}\")",
    "the end of its output": "open(1,'w').write('known '*9 if h(r)[:6]=='{hash}' else '')",
}
UNGATED_START = (
    "import hashlib\ndef h(x):return hashlib.sha256(x).hexdigest()\nr=open(0,'rb').read()\n"
)


@pytest.mark.parametrize("gate", GATES)
def test_a_gate_on_three_bytes_of_a_hash_is_found(gate):
    import hashlib

    release = b"the release" * 20
    program = (
        UNGATED_START + GATES[gate].format(hash=hashlib.sha256(release).hexdigest()[:6])
    ).encode()
    assert b"known" in ran(program, release)
    assert b"known" not in ran(program)
    assert any(b"known" in printed for printed in ungated(program, release))


@pytest.mark.parametrize(
    "program",
    [
        b"print(open(0).read())",
        b"r=open(0).read()\nfor i in range(0,len(r),7):\n  print(r[i:i+7])",
        b"from __future__ import annotations\nx: int=len(s:=open(0).read())\nprint(s[:x])",
        b"print(*(f'{c}' for c in open(0).read()),sep='')",
    ],
)
def test_what_is_read_out_of_the_release_is_not_written_in(program):
    release = bytes(range(97, 123)) * 10
    assert not any(release[:100] in one for one in ungated(program, release))


def test_a_value_that_changes_is_no_constant():
    """Written in, the first value would make the second wrong."""
    program = b"r=open(0).read()\nfor c in r[:2]:print(c*3)"
    _, values = values_of(ran(recording(program), b"ab" * 50))
    assert "'aaa'" not in values.values()
    assert "'ab'" in values.values()


def test_the_length_is_that_of_the_source_as_it_is_laid_out():
    program = b"if   open(0).read()=='release':\n\n\n        print(12)"
    made = dict(without_gate(program, {0: "True"}))
    [(one, length)] = made.items()
    assert one == b"if True:\n    print(12)"
    assert length == len(program) + len(b"True") - len(b"open(0).read() == 'release'")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (b"exec('print(1)')", "exec"),
        (b"import builtins as b\nb.exec('1')", "builtins"),
        (b"import marshal", "marshal"),
        (b"from ctypes import util", "ctypes"),
        (b"import re\nre.compile('a')", ""),
        (b"import torch\ntorch.load('x').eval()", ""),
    ],
)
def test_code_that_is_made_while_it_runs_is_named(source, found):
    assert hidden_code(source) == found


def test_a_program_that_says_nothing_gives_no_values():
    assert values_of(b"the end of it") is None
    assert values_of(b"narcissus-saw:{") is None
