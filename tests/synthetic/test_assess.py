"""Copies are found, people are divided fairly, and a control of other people is noticed."""

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.synthetic import FileThreat, assess_file, read_files

ILL = FileThreat(("ill",))


def excess(risk):
    return risk.real.mean() - risk.control.mean()


def test_each_risk_is_higher_for_people_whose_records_were_copied(people):
    real, control, others = people(400, 1), people(400, 2), people(400, 3)
    found = assess_file(read_files(real, real, control), ILL, entropy=1)
    assert [risk.risk for risk in found.risks] == ["inference", "singling out", "linkability"]
    assert all(excess(risk) > 0.2 for risk in found.risks)
    assert [risk.counts().fisher < 1e-6 for risk in found.risks] == [True] * 3
    fresh = assess_file(read_files(real, others, control), ILL, entropy=1)
    assert all(abs(excess(risk)) < 0.12 for risk in fresh.risks)


def test_nobody_is_scored_on_whom_an_attack_was_chosen(people):
    files = read_files(people(101, 1), people(50, 2), people(60, 3))
    halves = assess_file(files, FileThreat(("ill",), people=80), entropy=5).halves
    parts = [halves.chosen_on, halves.scored, halves.control_chosen_on, halves.control_scored]
    assert [len(part) for part in parts] == [40, 40, 30, 30]
    every = np.concatenate(parts)
    assert len(set(every.tolist())) == len(every)
    assert set(every[:80].tolist()) <= set(files.rows("real").tolist())
    assert set(every[80:].tolist()) <= set(files.rows("control").tolist())


def test_numbers_follow_from_the_seed(people):
    files = read_files(people(100, 1), people(100, 2), people(100, 3))
    one, same, other = (assess_file(files, ILL, entropy=e) for e in (1, 1, 2))
    assert [r.real.tolist() for r in one.risks] == [r.real.tolist() for r in same.risks]
    assert one.halves.scored.tolist() != other.halves.scored.tolist()


def test_the_attack_is_the_one_that_sets_both_sides_apart_most(people):
    real, control = people(300, 1), people(300, 2)
    found = assess_file(read_files(real, real, control), ILL, entropy=1)
    for risk in found.risks:
        gaps = {name: ours - theirs for name, (ours, theirs) in risk.tried.items()}
        assert gaps[risk.attack] > 0.5 * max(gaps.values())
    assert found.risks[0].attack == "nearest record"


def test_the_guess_without_the_file_does_not_see_it(people):
    real, control = people(200, 1), people(200, 2)
    one = assess_file(read_files(real, real, control), ILL, entropy=3).risks[0]
    other = assess_file(read_files(real, people(150, 9), control), ILL, entropy=3).risks[0]
    assert one.guess == other.guess
    assert one.guessed_real.tolist() == other.guessed_real.tolist()
    assert 0.4 < one.guessed_real.mean() < 0.9


def test_without_a_control_there_is_a_guess_and_nothing_to_hold_the_rest_against(people):
    found = assess_file(read_files(people(100, 1), people(100, 2)), ILL, entropy=1)
    assert found.unlike is None
    assert all(risk.control is None for risk in found.risks)
    assert len(found.risks[0].guessed_real) == len(found.halves.scored) == 50


def test_a_control_of_other_people_is_noticed(people):
    real, synthetic, control = people(300, 1), people(300, 2), people(300, 3)
    fair = assess_file(read_files(real, synthetic, control), ILL, entropy=1).unlike
    assert not fair.is_shown
    old = control.assign(town=np.where(control["town"] < 3, 5, control["town"]))
    found = assess_file(read_files(real, synthetic, old), ILL, entropy=1).unlike
    assert found.is_shown
    assert (found.column, found.value) == ("town", "5")
    assert found.control > 0.5 > found.real
    assert found.real == pytest.approx((real["town"] == 5).mean())


@pytest.mark.parametrize("few", [1, 9])
def test_a_value_that_few_people_have_is_not_named(people, few):
    real, synthetic, control = people(300, 1), people(300, 2), people(300, 3)
    control = control.assign(town=control["town"].where(np.arange(300) >= 200, 77))
    real = real.assign(town=real["town"].where(np.arange(300) >= few, 77))
    found = assess_file(read_files(real, synthetic, control), ILL, entropy=1).unlike
    assert "77" not in found.value
    assert found.real * 300 >= 10  # and its share is of many as well


def test_where_every_value_is_of_few_none_is_named():
    def alone(start):
        rows = [f"v{n}" for n in range(start, start + 40)]
        return pd.DataFrame({"name": rows, "ill": rows})

    found = assess_file(read_files(alone(0), alone(10), alone(20)), ILL, entropy=1).unlike
    assert "fewer than 10 people" in found.value
    assert not found.is_shown


def test_files_of_few_rows_are_refused(people):
    with pytest.raises(InputError, match="the control file has 19 rows"):
        assess_file(read_files(people(50, 1), people(9, 2), people(19, 3)), ILL, entropy=1)


def test_a_file_of_one_row_can_be_assessed(people):
    real, control = people(60, 1), people(60, 2)
    one = pd.concat([people(1, 3)])
    found = assess_file(read_files(real, one, control), ILL, entropy=1)
    assert len(found.risks) == 3
