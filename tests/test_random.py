"""A seed becomes a generator in one place, and the parts of a run have streams of their own."""

import numpy as np
import pytest

from narcissus._random import child, entropy_of, generator
from narcissus.errors import InputError


def draws(rng):
    return rng.integers(0, 2**63, 4).tolist()


def test_a_seed_repeats_and_a_generator_is_used_as_it_is():
    assert draws(generator(3)) == draws(generator(np.int64(3))) == draws(np.random.default_rng(3))
    own = np.random.default_rng(1)
    assert generator(own) is own
    assert draws(generator()) != draws(generator())


def test_the_entropy_reproduces_a_run():
    assert entropy_of(7) == 7
    assert entropy_of(np.random.default_rng(1)) == entropy_of(np.random.default_rng(1))
    assert entropy_of() != entropy_of()
    assert entropy_of() > 2**64  # 128 bits: chance of a false alarm 2^-64


def test_every_part_of_a_run_has_a_stream_of_its_own():
    keys = [(), (0,), (1,), (0, 0), (0, 1), (1, 0)]
    streams = {tuple(draws(child(5, *key))) for key in keys} | {tuple(draws(child(6)))}
    assert len(streams) == len(keys) + 1
    assert draws(child(5, 1, 2)) == draws(child(5, 1, 2))


@pytest.mark.parametrize("rng", [-1, True, 0.5, "1", np.bool_(1)])
@pytest.mark.parametrize("resolve", [generator, entropy_of])
def test_anything_else_is_refused(rng, resolve):
    with pytest.raises(InputError, match=r"`rng` must be a numpy\.random\.Generator"):
        resolve(rng)
