"""Programs without coins: their channel, and what two of them both tell."""

from __future__ import annotations

import pytest

from narcissus import channels as ch
from narcissus.errors import InputError


def test_a_program_s_channel():
    made = ch.of_program(lambda pin: pin % 3 == 0, range(5))
    assert made.secrets == ("0", "1", "2", "3", "4")
    assert made.outputs == ("True", "False")
    assert made.dense[:, 0].tolist() == [1, 0, 0, 1, 0]
    with pytest.raises(InputError, match="empty"):
        ch.of_program(len, [])


def test_what_both_tell_is_the_finest_that_either_refines():
    a = ch.of_program(lambda x: x // 2, range(8))  # pairs
    b = ch.of_program(lambda x: (x + 1) // 2 if x < 4 else 9, range(8))
    both = ch.finest_below(a, b)
    # 0 1 | 2 3 | 4..7 by way of 1-2: 0..3 are one; 4..7 are one
    assert both.shape[1] == 2
    assert both.dense[:, 0].tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    for finer in (a, b):
        assert ch.refines(finer, both).holds
    with pytest.raises(InputError, match="without coins"):
        ch.finest_below([[0.5, 0.5], [1, 0]], [[1.0], [1.0]])
    with pytest.raises(InputError, match="same secrets"):
        ch.finest_below(a, ch.of_program(abs, range(3)))
