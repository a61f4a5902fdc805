"""Conditional complexity and mutual information: proved by running, approximate by difference."""

import numpy as np
import pytest

from narcissus.errors import InputError, NarcissusError
from narcissus.extraction import complexity, conditional_complexity, information, mutual_information

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
    right = information.self_extracting
    monkeypatch.setattr(
        information,
        "self_extracting",
        lambda data, method, reference=None: (
            b"print(end='34'*999)" if method == "repeat" else right(data, method)
        ),
    )
    data = b"34" * 1000
    found = conditional_complexity(data)
    assert 8 * complexity(data).best < found.value < 8 * 200
    monkeypatch.setattr(information, "self_extracting", lambda *_a, **_k: b"1/0")
    with pytest.raises(NarcissusError, match="no program"):
        conditional_complexity(b"abc")


def test_nothing_given_is_no_condition():
    assert conditional_complexity(b"abc", b"") == conditional_complexity(b"abc")
    with pytest.raises(InputError, match="at most"):
        conditional_complexity(bytes(2**26 + 1))
