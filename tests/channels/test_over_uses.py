"""Bayes security after so many outputs: the same numbers as one by one, sources in their order."""

from __future__ import annotations

import pytest

from narcissus import channels as ch
from narcissus.errors import InputError

ROWS = [[0.9, 0.1], [0.3, 0.7]]
OTHER = [[0.8, 0.2], [0.35, 0.65]]


def test_each_number_of_outputs_is_that_of_the_repeated_channel():
    found = ch.security_over_uses([(ROWS, 30)], points=5)
    assert [one.outputs for one in found] == [1, 2, 5, 13, 30]
    for one in found:
        truth = ch.repeated_security(ROWS, one.outputs).beta_star
        assert one.security.beta_star == pytest.approx(truth, rel=1e-9)


def test_the_outputs_of_the_second_source_come_after_those_of_the_first():
    found = {
        o.outputs: o.security for o in ch.security_over_uses([(ROWS, 2), (OTHER, 6)], points=9)
    }
    assert found[1].beta_star == pytest.approx(ch.beta_star(ROWS).value)
    both = ch.parallel(ch.repeat(ROWS, 2), OTHER)
    assert found[3].beta_star == pytest.approx(ch.beta_star(both).value)
    assert max(found) == 8


def test_refusals():
    with pytest.raises(InputError, match="at least one"):
        ch.security_over_uses([])
    with pytest.raises(InputError, match="points"):
        ch.security_over_uses([(ROWS, 2)], points=1)
