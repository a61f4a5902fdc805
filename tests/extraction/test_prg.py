"""The pseudo-random examples: what is where; the papers' claims are in `tests/papers`."""

import subprocess
import sys

import pytest

from narcissus.errors import InputError
from narcissus.extraction.verifiers import approximate_prg_example, prg_example


def printed(program, release=b""):
    done = subprocess.run([sys.executable, "-c", program.decode()], input=release,
                          capture_output=True, check=True)  # fmt: skip
    return done.stdout.strip()


@pytest.mark.parametrize("pseudo_random", [False, True])
def test_the_program_prints_the_data_from_the_release(pseudo_random):
    made = prg_example(pseudo_random=pseudo_random, length=128, by_heart=48, rng=1)
    assert printed(made.program, made.release) == made.data
    assert made.data.startswith(made.release)
    assert (made.short_program is None) != pseudo_random
    if made.short_program is not None:
        assert printed(made.short_program) == made.data


def test_the_approximate_example_agrees_as_far_as_it_says():
    made = approximate_prg_example(pseudo_random=True, rng=2)
    assert made.short_program is not None
    assert printed(made.short_program) == made.data
    output = printed(made.program, made.release)
    same = sum(a == b for a, b in zip(output, made.data, strict=True)) / len(made.data)
    # 1,126 bits released, 1,024 by heart, half of the other 6,042 guessed, by fresh coins of the
    # program: six standard deviations, a false alarm in 5e8 runs.
    assert abs(same - 0.6312) < 6 * 6042**0.5 / 2 / 8192
    assert same > 0.6
    with pytest.raises(InputError, match="advantage"):
        approximate_prg_example(pseudo_random=True, advantage=0.5)
