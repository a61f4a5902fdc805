"""Results say their grade, never look alike, and hold nothing that JSON cannot."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from narcissus.results import (
    GRADES,
    Approximate,
    Bound,
    Estimate,
    NotAssessed,
    Result,
)

BOUND = Bound(0.25, "success of one target", "Swanberg et al. 2025, Theorem 3.2", ("prior 0.1",))
ESTIMATE = Estimate(0.2, 0.1, 0.3, 0.95, 100, "share recovered", "Clopper-Pearson")
APPROXIMATE = Approximate(0.2, 0.1, 0.3, 0.95, 100, "share recovered", "Student's t")
MISSING = NotAssessed("share recovered", "no trials were played", "play some")


@pytest.mark.parametrize(
    ("result", "grade", "text"),
    [
        (
            BOUND,
            "proved",
            "PROVED: success of one target at most 0.25\n"
            "  by Swanberg et al. 2025, Theorem 3.2\n  assuming prior 0.1",
        ),
        (
            ESTIMATE,
            "sampled",
            "ESTIMATED: share recovered 0.2, 95% limits 0.1 to 0.3 (100 trials, Clopper-Pearson)",
        ),
        (
            APPROXIMATE,
            "approximate",
            "APPROXIMATE: share recovered 0.2, about 0.1 to 0.3 at 95% (100 trials, Student's t)",
        ),
        (
            MISSING,
            "not assessed",
            "NOT ASSESSED: share recovered: no trials were played\n  remedy: play some",
        ),
    ],
)
def test_each_kind_says_its_grade_first(result, grade, text):
    assert result.grade == grade
    assert grade in GRADES
    assert str(result) == text
    assert result._repr_html_().startswith(f"<pre>{text.partition(':')[0]}")


def test_a_formula_that_does_not_hold_is_no_bound():
    wrong = Bound(0.25, "success", "a published formula", valid=False)
    assert wrong.grade == "not assessed"
    assert str(wrong).startswith("NOT A BOUND (shown for comparison only): success at most 0.25")
    assert wrong.to_dict()["grade"] == "not assessed"
    assert BOUND.to_dict()["grade"] == "proved"


def test_what_is_taken_as_given_weakens_a_proof():
    given = Bound(0.25, "success", "a theorem", takes_as_given=("the prior is the true one",))
    assert given.grade == given.to_dict()["grade"] == "proved if"
    assert str(given) == (
        "PROVED IF: success at most 0.25\n  by a theorem\n  assumed: the prior is the true one"
    )


def test_a_missing_limit_is_said_with_the_reason():
    one_sided = Estimate(0.2, None, 0.3, 0.9, 5, why="the baseline is unknown")
    assert str(one_sided) == (
        "ESTIMATED: estimate 0.2, 90% limits none to 0.3 (5 trials)\n  the baseline is unknown"
    )


def test_html_is_escaped():
    assert "&lt;b&gt;" in NotAssessed("<b>", "no")._repr_html_()


@dataclass(frozen=True)
class Point:
    """Something of a user's inside a result."""

    place: np.ndarray


@dataclass(frozen=True)
class Holder(Result):
    """A result that holds everything that may be held."""

    values: object

    @property
    def grade(self):
        return "proved"


def test_everything_becomes_json():
    held = {
        1: np.float64(0.5),
        "array": np.array([1.0, np.inf]),
        "set": {3},
        "nan": float("nan"),
        "result": ESTIMATE,
        "point": Point(np.array([1, 2])),
    }
    told = Holder(held).to_dict()["values"]
    assert json.loads(json.dumps(told, allow_nan=False)) == {
        "1": 0.5,
        "array": [1.0, None],
        "set": [3],
        "nan": None,
        "result": ESTIMATE.to_dict(),
        "point": {"place": [1, 2]},
    }


def test_a_frame_has_one_row():
    frame = ESTIMATE.to_frame()
    assert frame.shape == (1, 8)
    assert frame.loc[0, "low"] == 0.1


def results_with_one_number():
    """Results of public functions that are named after a number, and that number."""
    from narcissus import channels, extraction, guarantees
    from narcissus.evidence import clopper_pearson

    matrix = [[0.9, 0.1], [0.3, 0.7]]
    return [
        (channels.beta_star(matrix), 0.4),
        (channels.beta_star(channels.Laplace(1, 4)), np.exp(-1 / 8)),
        (channels.capacity(matrix), 1.6),
        (channels.implied_bayes_risk(0.4, 1.6, [0.5, 0.5]), 0.2),
        (channels.repeated_security(matrix, 1), 0.4),
        (channels.from_guarantee(guarantees.PureDP(1.0)), 1 - np.tanh(0.5)),
        (channels.shannon_capacity([[0.5, 0.5], [0.5, 0.5]]), 0.0),
        (channels.shannon_capacity(np.eye(4)), 2.0),
        (clopper_pearson(3, 10), 0.3),
        (extraction.mutual_information(b"", b""), 0.0),
    ]


def test_a_result_that_is_one_number_is_one():
    for found, wanted in results_with_one_number():
        assert float(found) == pytest.approx(wanted, abs=1e-8), found
        assert np.float64(found) == float(found)


def test_a_result_that_is_several_numbers_says_which():
    from narcissus import channels

    for found in (channels.quick_bounds([[0.9, 0.1], [0.3, 0.7]]), NotAssessed("a", "b", "c")):
        with pytest.raises(TypeError, match="is not one number: take one of"):
            float(found)


def test_what_is_asked_is_the_truth_of_the_answer():
    """`if refines(a, b)` is no trap, nor is any other result that says whether something holds."""
    from narcissus import channels

    fine, coarse = np.eye(2), [[0.5, 0.5], [0.5, 0.5]]
    assert channels.refines(fine, coarse)
    assert not channels.refines(coarse, fine)
    assert channels.refines_exactly([[1, 0], [0, 1]], [["1/2", "1/2"]] * 2)
    assert not channels.refines_exactly([["1/2", "1/2"]] * 2, [[1, 0], [0, 1]])
    assert NotAssessed("a", "b", "c")
    assert channels.beta_star(np.eye(2))  # 0, and found
