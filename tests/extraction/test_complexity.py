"""Every estimate is a program, and every program prints its string."""

import subprocess
import sys

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.complexity import COMPRESSORS, complexity, python_string, self_extracting

RNG = np.random.default_rng(6)
WORDS = " ".join(f"w{n}" for n in RNG.integers(0, 500, 3000)).encode()
STRINGS = {
    "empty": b"",
    "repetition": b"34" * 1000,
    "every byte": bytes(range(256)) * 3,
    "noise": RNG.bytes(3000),
    "quotes": b"'\"\\\n\r\0'" * 40,
    "text": WORDS,
    "digits": "".join(map(str, RNG.integers(0, 10, 2000))).encode(),
}


def execute(source, tmp_path):
    (tmp_path / "p.py").write_bytes(source)
    done = subprocess.run([sys.executable, "p.py"], cwd=tmp_path, capture_output=True, check=True)
    return done.stdout


@pytest.mark.states("Cohen et al. 2024", "Definition 1.12")
@pytest.mark.parametrize("name", STRINGS)
def test_programs_print_their_string(name, tmp_path):
    sources = [self_extracting(STRINGS[name], method) for method in COMPRESSORS]
    for method, source in zip(COMPRESSORS, sources, strict=True):
        if source is None:
            assert (method, name == "repetition") == ("repeat", False)
            continue
        assert execute(source, tmp_path) == STRINGS[name], method


@pytest.mark.parametrize("method", ["zlib", "lzma", "zstd", "ppm"])
def test_programs_with_a_reference(method, tmp_path):
    reference, data = WORDS[:9000], WORDS[2000:6000] + b"and more" + WORDS[9000:10000]
    (tmp_path / "reference").write_bytes(reference)
    source = self_extracting(data, method, reference=reference)
    assert execute(source, tmp_path) == data
    assert len(source) < len(self_extracting(data, method))


def test_a_string_that_is_the_reference_costs_next_to_nothing():
    found = complexity(WORDS[:5000], reference=WORDS)
    assert found.best < 200
    assert found.method.endswith("+reference")


def test_noise_is_not_compressed():
    noise = STRINGS["noise"]
    assert complexity(noise).best >= len(noise)


def test_repetition_is():
    assert complexity(b"34" * 1000).best == len("print(end='34'*1000)")


@pytest.mark.parametrize("data", [bytes(range(256)), b"'", b'"', b"\0" + b"1", b"\\x00", b"''\""])
def test_string_literals(data):
    source = b"#coding:L1\nx = " + python_string(data)
    space = {}
    exec(compile(source, "x", "exec"), space)
    assert space["x"].encode("latin-1") == data


def test_a_missing_compressor_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyppmd", None)
    found = complexity(b"abc")
    assert [m.quantity for m in found.missing] == ["complexity by ppm"]
    assert "narcissus[compress]" in found.missing[0].remedy


def test_too_long_is_refused():
    with pytest.raises(InputError, match="at most"):
        complexity(bytes(2**26 + 1))
