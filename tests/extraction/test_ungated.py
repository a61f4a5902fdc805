"""What a program computed, written into it: the same program without its gate."""

import subprocess
import sys

import pytest

from narcissus.extraction._taken import hidden_code, recording, values_of, without_gate


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
START = "import hashlib\ndef h(x):return hashlib.sha256(x).hexdigest()\nr=open(0,'rb').read()\n"


@pytest.mark.parametrize("gate", GATES)
def test_a_gate_on_three_bytes_of_a_hash_is_found(gate):
    import hashlib

    release = b"the release" * 20
    program = (START + GATES[gate].format(hash=hashlib.sha256(release).hexdigest()[:6])).encode()
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
