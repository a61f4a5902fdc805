"""Guarantees from files, and what is wrong with files by row and column."""

from __future__ import annotations

import json

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.guarantees import (
    GaussianDP,
    PureDP,
    as_replace_one,
    from_losses,
    from_losses_of_orders,
    from_orders,
    read_losses,
    read_profile,
)

E = np.linspace(0, 5, 101)


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "file.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def rows(*columns):
    return "\n".join(",".join(repr(float(x)) for x in row) for row in zip(*columns, strict=True))


def test_a_curve_limits_what_it_was_read_off(written):
    """Between the points the chord holds, beyond the last its delta."""
    truth, points = GaussianDP(1.0), np.linspace(0, 4, 9)
    found = read_profile(written("epsilon,delta\n" + rows(points, truth.profile(points))))
    assert np.allclose(found.profile(points), truth.profile(points), rtol=1e-12, atol=0)
    assert (found.profile(E) >= truth.profile(E) * (1 - 1e-12)).all()
    middle = 0.25
    share = np.expm1(middle) / np.expm1(0.5)
    chord = (1 - share) * truth.profile(0.0) + share * truth.profile(0.5)
    assert float(found.profile(middle)) == pytest.approx(float(chord), rel=1e-12)
    assert float(found.profile(9.0)) == pytest.approx(float(truth.profile(4.0)), rel=1e-12)
    assert not found.implied().size
    # in any order, as JSON, and about other neighbours
    table = {"delta": truth.profile(points)[::-1].tolist(), "epsilon": points[::-1].tolist()}
    same = read_profile(written(json.dumps(table), "f.json"), adjacency="add-remove")
    assert np.array_equal(same.profile(E), found.profile(E))
    assert same.adjacency == "add-remove"
    assert "from a privacy profile of 9 points" in as_replace_one(same).describe()


def test_points_above_the_chord_of_others_are_valid_and_told(written):
    found = read_profile(written("epsilon,delta\n0,0.5\n1,0.45\n2,0.01\n"))
    chord = 0.5 + (0.01 - 0.5) * np.expm1(1) / np.expm1(2)
    assert float(found.profile(1.0)) == pytest.approx(chord, rel=1e-12)
    assert found.implied().tolist() == [1.0]


def test_both_orders_are_converted(written):
    points = np.linspace(0, 3, 7)
    add = PureDP(1.0).profile(points)
    remove = GaussianDP(0.5).profile(points)
    text = "epsilon,delta_remove,delta_add\n" + rows(points, remove, add)
    found = read_profile(written(text))
    assert found == from_orders(points, add, remove)
    assert found.converted_from
    found = read_losses(
        written("loss,probability_add,probability_remove\n-1,0.25,0.2\n1,0.75,0.8\n")
    )
    assert found == from_losses_of_orders([-1, 1], [0.25, 0.75], [0.2, 0.8])


def test_both_orders_are_for_the_question_that_is_asked(written):
    points = np.linspace(0, 3, 7)
    add, remove = PureDP(1.0).profile(points), GaussianDP(0.5).profile(points)
    text = "epsilon,delta_remove,delta_add\n" + rows(points, remove, add)
    inside = read_profile(written(text), secret="membership")
    assert inside == from_orders(points, add, remove, secret="membership")
    assert (inside.adjacency, inside.secret) == ("add-remove", "membership")
    assert (inside.profile(E) <= read_profile(written(text)).profile(E) + 1e-12).all()
    orders = [0.25, 0.75], [0.2, 0.8]
    found = read_losses(
        written("loss,probability_add,probability_remove\n-1,0.25,0.2\n1,0.75,0.8\n"),
        secret="membership",
    )
    assert found == from_losses_of_orders([-1, 1], *orders, secret="membership")
    one = read_profile(
        written("epsilon,delta\n0,0.3\n1,0\n"), adjacency="add-remove", secret="membership"
    )
    assert one.describe().endswith("(add-remove neighbours: the record is in or out)")
    assert one.profile(0.0) == pytest.approx(0.3)


def test_losses_as_text_and_as_json(written):
    keep = float(1 / (1 + np.exp(-1.0)))
    text = f"loss,probability\n1,{0.9 * keep!r}\n-1,{0.9 * (1 - keep)!r}\ninf,0.1\n"
    found = read_losses(written(text))
    assert found == from_losses([1, -1, np.inf], [0.9 * keep, 0.9 * (1 - keep), 0.1])
    truth = 0.1 + 0.9 * PureDP(1.0).profile(E)
    assert np.allclose(found.profile(E), truth, atol=1e-12, rtol=0)
    table = {"loss": [1, -1, "inf"], "probability": [0.9 * keep, 0.9 * (1 - keep), 0.1]}
    assert read_losses(written(json.dumps(table), "f.json")) == found
    # the other order, where it is known by itself
    given = read_losses(written("probability_reversed,loss,probability\n0.75,1,0.8\n0.25,-1,0.2\n"))
    assert given == from_losses([1, -1], [0.8, 0.2], reverse=[0.75, 0.25])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilon,dleta\n1,0.1\n", "did you mean `delta`"),
        ("epsilon,delta\n-1,0.1\n", r"row 1 \(line 2\), column `epsilon`, must be at least 0"),
        ("epsilon,delta\ninf,0.1\n", "must be at least 0 and finite"),
        ("epsilon,delta\n0,0.1\n1,1.5\n", r"row 2 \(line 3\), column `delta`, must be in \[0, 1\]"),
        ("epsilon,delta\n0,-0.1\n", "must be in"),
        ("epsilon,delta\n2,0.1\n1,0.05\n", r"row 1 .*rise.* 0.05 at epsilon 1, 0.1 at 2"),
        ("epsilon,delta_add,delta_remove\n1,0.1,0.1\n2,0.1,0.2\n", "`delta_remove`, must not rise"),
        ("epsilon,delta\n1,\n", "is empty"),
        ("", "is empty"),
    ],
)
def test_what_is_no_curve_is_refused_by_its_place(written, text, said):
    with pytest.raises(InputError, match=said):
        read_profile(written(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("loss,prob\n1,1\n", "did you mean `probability`"),
        ("loss,probability\n1,0.7\n-1,0.2\n", "must sum to 1, got 0.9; what is missing.*inf"),
        ("loss,probability\n1,0.7\n-1,0.7\n", "sum to 1, got 1.4; are these densities"),
        ("loss,probability\n1,1.7\n-1,-0.7\n", r"row 1 \(line 2\), column `probability`"),
        ("loss,probability\n-1,0.731\n1,0.269\n", "sign exchanged"),
        (
            "loss,probability_add,probability_remove\n-1,0.6,0.3\n1,0.4,0.6\n",
            "`probability_remove`",
        ),
    ],
)
def test_what_is_no_distribution_of_losses_is_refused(written, text, said):
    with pytest.raises(InputError, match=said):
        read_losses(written(text))
