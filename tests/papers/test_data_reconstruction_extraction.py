"""Cohen et al. 2024, appendix D: the Hamming examples, and a slip in two of them."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest

from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import HammingBall
from narcissus.extraction.sandbox import run_program


def bits(rng, d):
    return "".join(map(str, rng.integers(0, 2, d)))


@pytest.mark.states("Cohen et al. 2024", "Example D.4")
def test_example_d4_two_random_strings():
    """Two random strings succeed with probability 3/4 at share 1/2 (odd d: exactly 1/2 each)."""
    rng = np.random.default_rng(4)
    relation, d, trials = HammingBall(0.5, lines=2), 41, 4000
    data = DataSet(bits(rng, d).encode())
    hits = sum(relation.counts(data, f"{bits(rng, d)}\n{bits(rng, d)}".encode())
               for _ in range(trials))  # fmt: skip
    # 4.9 standard deviations: a false alarm once in a million
    assert abs(hits / trials - 0.75) < 4.9 * math.sqrt(0.75 * 0.25 / trials)
    assert relation.covering_program_size(1000) < 200  # O(log d), whatever the string


@pytest.mark.nightly
def test_example_d5_half_of_the_bits_suffice():
    """Given half of the bits, filling up at random succeeds half of the time (d/2 odd)."""
    rng = np.random.default_rng(5)
    relation, d = HammingBall(0.25), 82
    x = bits(rng, d)
    data = DataSet(x.encode())
    program = b"""
import random
h=input()
for _ in 1,2:print(h+''.join(random.choice('01')for _ in h))
"""
    done = [run_program(program, x[: d // 2].encode()).output for _ in range(30)]
    hits = sum(relation.counts(data, o) for o in done)
    # P[Bin(41, 1/2) <= 20] = 1/2 for each of two lines; below 10 of 30: chance 1e-7
    assert hits >= 10


@pytest.mark.parametrize("d", [6, 8])
def test_covering_program_prints_a_word_near_any_string(d, tmp_path):
    """The program behind the estimate is run: every string is near one of its words."""
    relation = HammingBall(0.25)
    words = []
    for number in itertools.count():
        (tmp_path / "p.py").write_bytes(relation.covering_program(d, number))
        done = subprocess.run([sys.executable, "p.py"], cwd=tmp_path, capture_output=True,
                              text=True, check=False)  # fmt: skip
        if done.returncode:  # nothing is left to cover
            break
        words.append(done.stdout.strip())
        if len(words) > 2**d:
            break
        covered = {x for x in range(2**d) if any((x ^ int(w, 2)).bit_count() <= d // 4
                                                for w in words)}  # fmt: skip
        if len(covered) == 2**d:
            break
    assert len(covered) == 2**d
    volume = sum(math.comb(d, i) for i in range(d // 4 + 1))
    assert len(words) <= 2**d / volume * (1 + math.log(volume))


@pytest.mark.states("Cohen et al. 2024", "Example D.6")
@pytest.mark.states("Narcissus theory", "7")
@pytest.mark.parametrize("records", [1, 5])
def test_examples_d5_and_d6_need_fewer_than_half_of_the_bits(records):
    """The paper says (1 - o(1)) d/2; a covering code needs (1 - H(1/4)) d + O(log d) = 0.19 d."""
    rng = np.random.default_rng(records)
    d = 20_000
    data = DataSet("\n".join(bits(rng, d) for _ in range(records)).encode())
    size = HammingBall(0.25).program_sizes(data)["covering code"]
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    words = (1 - entropy) * d / 8
    assert 0 < size - words * (1 + 7 / 256) < 260  # the program itself, and O(log d)
    assert 8 * size < 0.35 * d
