"""Programs without coins: their channel."""

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
