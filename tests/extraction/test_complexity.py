"""Every estimate is a program, and every program prints its string."""

import subprocess
import sys

import numpy as np
import pytest

from narcissus.errors import InputError, NarcissusError
from narcissus.extraction.complexity import (
    COMPRESSORS,
    complexity,
    conditional_complexity,
    mutual_information,
    python_string,
    self_extracting,
    standing_in,
)

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
            # without a reference there are no slices of it
            assert method == "slices" or (method, name == "repetition") == ("repeat", False)
            continue
        assert execute(source, tmp_path) == STRINGS[name], method


@pytest.mark.parametrize("method", ["zlib", "lzma", "zstd", "ppm"])
def test_programs_with_a_reference(method, tmp_path):
    reference, data = WORDS[:9000], WORDS[2000:6000] + b"and more" + WORDS[9000:10000]
    (tmp_path / "reference").write_bytes(reference)
    source = self_extracting(data, method, reference=reference)
    assert execute(source, tmp_path) == data
    assert len(source) < len(self_extracting(data, method))


PIECES = {
    "one": [WORDS[2003:6007]],
    "both ends": [b"own ", WORDS[11:400], bytes(range(256)), WORDS[30:90], b" own"],
    "short ones": [WORDS[50:75], b"#", WORDS[40:64], b"%", WORDS[:23]],
    "the same twice": [WORDS[100:200], WORDS[100:200]],
    "all of it": [WORDS],
}


@pytest.mark.parametrize("name", PIECES)
def test_slices_of_the_reference_are_found_and_what_is_between_them_is_written_out(name, tmp_path):
    data = b"".join(PIECES[name])
    (tmp_path / "reference").write_bytes(WORDS)
    source = self_extracting(data, "slices", reference=WORDS)
    assert execute(source, tmp_path) == data
    assert len(source) < 60 + 20 * len(PIECES[name]) + (400 if name == "both ends" else 0)


@pytest.mark.nightly
def test_text_that_stands_in_the_reference_costs_its_place_only():
    noise = np.random.default_rng(1).integers(97, 123, 300_000, dtype=np.uint8).tobytes()
    for start in (0, 1, 123_457, 297_000):
        found = complexity(noise[start : start + 3000], reference=noise)
        assert (found.method, found.best < 80) == ("slices+reference", True)


def test_the_share_that_stands_in_a_text():
    noise = np.random.default_rng(2).integers(97, 123, 4000, dtype=np.uint8).tobytes()
    assert standing_in(noise[:1000], noise) == 1
    assert standing_in(noise[:1000], noise[:300] + b"#" + noise[301:]) > 0.95
    assert standing_in(noise[:1000], b"") == 0
    assert standing_in(noise[:1000], noise[3000:]) == 0
    assert standing_in(b"", noise) == 0


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
    assert "'pyppmd>=" in found.missing[0].remedy


def test_too_long_is_refused():
    with pytest.raises(InputError, match="at most"):
        complexity(bytes(2**26 + 1))


NOISE = np.random.default_rng(3).bytes(3000)


@pytest.mark.states("Cohen et al. 2024", "Definition D.2")
def test_a_part_of_the_other_costs_next_to_nothing_given_it():
    found = mutual_information(NOISE[500:2500], NOISE)
    assert found.alone.value >= 8 * 2000
    assert found.given.value < 8 * 300
    assert found.estimate == found.alone.value - found.given.value > 8 * 1700
    assert found.at_most == found.alone.value
    assert (found.grade, found.alone.grade, found.given.grade) == (
        "approximate",
        "proved",
        "proved",
    )
    assert "APPROXIMATE: mutual information about" in str(found)
    assert "given the other" in found.given.quantity


def test_what_has_nothing_in_common_says_nothing():
    found = mutual_information(NOISE[:1000], NOISE[2000:])
    assert found.estimate == 0
    assert found.given.value == found.alone.value


def test_it_is_not_symmetric():
    """All of a part is in the whole, not all of the whole in the part."""
    part = NOISE[:500]
    assert mutual_information(part, NOISE).given.value < 8 * 250
    assert mutual_information(NOISE, part).given.value > 8 * 2400


def test_bounds_are_the_shortest_program_that_runs():
    data = b"34" * 1000
    assert conditional_complexity(data).value == 8 * complexity(data).best


def test_a_program_that_does_not_print_the_data_is_no_bound(monkeypatch):
    module = sys.modules["narcissus.extraction.complexity"]  # the name is the function's
    right = module.self_extracting
    monkeypatch.setattr(
        module,
        "self_extracting",
        lambda data, method, reference=None: (
            b"print(end='34'*999)" if method == "repeat" else right(data, method)
        ),
    )
    data = b"34" * 1000
    found = conditional_complexity(data)
    assert 8 * complexity(data).best < found.value < 8 * 200
    monkeypatch.setattr(module, "self_extracting", lambda *_a, **_k: b"1/0")
    with pytest.raises(NarcissusError, match="no program"):
        conditional_complexity(b"abc")


def test_nothing_given_is_no_condition():
    assert conditional_complexity(b"abc", b"") == conditional_complexity(b"abc")
    with pytest.raises(InputError, match="at most"):
        conditional_complexity(bytes(2**26 + 1))
