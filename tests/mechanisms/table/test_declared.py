"""A declared guarantee is what was declared, about a replaced record, and assumed."""

import pytest

from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, PureDP
from narcissus.mechanisms import OwnSynthesizer


def plan(**declared):
    return OwnSynthesizer(lambda frame: frame, **declared)


@pytest.mark.parametrize(
    ("declared", "guarantee"),
    [
        ({}, None),
        ({"epsilon": 2.0}, PureDP(2.0)),
        ({"epsilon": 2.0, "delta": 0.0}, PureDP(2.0)),
        ({"epsilon": 2.0, "delta": 1e-6}, ApproximateDP(2.0, 1e-6)),
        ({"epsilon": 0.0, "delta": 0.1}, ApproximateDP(0.0, 0.1)),
        ({"epsilon": 1.0, "adjacency": "add-remove"}, PureDP(2.0)),
    ],
)
def test_it_is_taken_as_it_is_and_assumed(columns, declared, guarantee):
    prepared = plan(**declared).prepare(columns)
    assert prepared.guarantee == guarantee
    assert len(prepared.assumes) == (guarantee is not None)
    if guarantee is not None:
        assert guarantee.describe().split(" neighbours")[0] in prepared.assumes[0]
        assert prepared.assumes[0].startswith("the function `<lambda>` keeps")
    assert prepared.must_vary


def test_adding_and_removing_is_converted_with_its_delta(columns):
    prepared = plan(epsilon=1.0, delta=1e-6, adjacency="add-remove").prepare(columns)
    assert prepared.guarantee.epsilon == 2.0
    assert prepared.guarantee.delta == pytest.approx(1e-6 * (1 + 2.718281828459045))
    said = "from approximate DP with epsilon 1 and delta 1e-06 (add-remove neighbours)"
    assert prepared.assumes[0].endswith(f"one removed and one added: {said})")


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"delta": 1e-5}, "give both or neither"),
        ({"epsilon": -1.0}, "`epsilon` must be at least 0"),
        ({"epsilon": float("inf")}, "finite"),
        ({"epsilon": 1.0, "delta": 1.5}, "`delta` must be in"),
        ({"epsilon": 1.0, "deterministic": True}, "leave one out"),
        ({"epsilon": 1.0, "adjacency": "friends"}, "`adjacency` must be one of"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(columns, declared, said):
    with pytest.raises(InputError, match=said):
        plan(**declared).prepare(columns)


def test_levels_are_ordered_by_protection():
    assert plan().strength is None
    assert [plan(epsilon=e).strength for e in (0.5, 2.0)] == [2.0, 0.5]
    assert plan(epsilon=0.5).label == "ε = 0.5"
