"""Games at every prior near one: the worst decides, and what is played is of the given one."""

from __future__ import annotations

import json

import numpy as np
import pytest

from narcissus import load_study, run
from narcissus.errors import NarcissusError
from narcissus.report import render_html, render_text
from narcissus.report.statement import statement_markdown, statement_of
from narcissus.study.reading import read_record

from .conftest import case_of


def study(allowed, statement="narcissus", epsilon=0.5, far=("prior_factor", 1.2), **more):
    """Make a study of one of four answers under noise; the given prior needs .0429 of delta."""
    made = {
        "kind": "game",
        "world": {
            "name": "finite", "data": [[0], [1], [2], [3]],
            "probabilities": [0.4, 0.3, 0.2, 0.1],
        },
        "family": {"kind": "near", far[0]: far[1]},
        "mechanism": {"name": "randomized-response", "epsilon": 1.0, "values": 4},
        "success": {"name": "prefix"},
    }  # fmt: skip
    given = {**made, **more}
    if isinstance(statement, str):
        statement = {"name": statement, "epsilon": epsilon, "delta": allowed}
    given["statement"] = statement
    return load_study(given)


PLAYED = {"attack": [{"name": "bayes"}], "run": {"trials": 2000}}
EVERY = "every prior within a factor of 1.2 of the given one"


@pytest.mark.parametrize(
    ("allowed", "status", "grade", "said"),
    [
        (0.07, "met", "proved", f"for {EVERY}, a delta of 0.0628 is enough"),
        (0.055, "inconclusive", "not assessed", f"This is not shown for {EVERY}"),
        (
            0.045,
            "exceeded",
            "proved",
            "No more is needed than at a near prior, of the priors looked at",
        ),
        (0.04, "exceeded", "proved", "the best attacker does better than allowed"),
    ],
)
def test_the_worst_near_prior_decides(allowed, status, grade, said):
    audit = run(study(allowed, **PLAYED), rng=1)
    assert (audit.record.status, audit.record.grade) == (status, grade)
    assert said.lower() in audit.verdict.lower()
    case, page = case_of(audit), render_text(audit.record)
    assert case.exact.least == pytest.approx(0.0497331, abs=1e-6)
    assert "Attacks are played at the given prior." in " ".join(page.split())
    assert case.member == "the given prior"
    assert len(render_html(audit.record)) > 1000


@pytest.mark.parametrize("statement", ["narcissus", "fixed-baseline"])
@pytest.mark.parametrize("far", [("prior_factor", 1.0), ("prior_distance", 0.0)])
@pytest.mark.parametrize("seed", range(3))
def test_no_other_prior_is_the_plain_study_to_the_last_digit(statement, far, seed):
    chances = np.random.default_rng(seed).dirichlet(np.ones(4)).tolist()
    world = {"name": "finite", "data": [[0], [1], [2], [3]], "probabilities": chances}
    near, plain = (
        run(study(0.02, statement, far=far, world=world, **more), rng=1).record
        for more in ({}, {"family": None})
    )
    assert [row.quantity for row in near.rows] == [row.quantity for row in plain.rows]
    assert (near.status, near.grade) == (plain.status, plain.grade)


def test_no_row_limits_all_near_priors_by_those_that_were_looked_at():
    """Between the worst prior found and the limit nothing is known, at no epsilon."""
    audit = run(study(0.07), rng=1)
    case = case_of(audit)
    assert case.exact.needed.high > case.exact.least
    assert {row.quantity.high for row in case.findings.select(of="delta")} == {None}
    said = statement_markdown(statement_of(audit.record)).partition("## Criteria")[2]
    assert "a delta of 0.0628 is enough" in said
    assert "0.0497331" not in said


def test_a_gain_at_the_given_prior_is_compared_with_the_baseline_at_that_prior():
    """At a near prior a fixed guess gets .45: played success is still held against .4."""
    allowed = study(0.02, "fixed-baseline", 0.0, ("prior_distance", 0.05), **PLAYED)
    audit = run(allowed, rng=1)
    case = case_of(audit)
    assert audit.record.status == "exceeded"
    assert case.decided is not None
    assert not case.contradictions
    assert "0.4 (best fixed guess)" in case.play.breaks
    # the statement is about each near prior, so its words hold the guess of none of them
    assert case.result.statement.words == "success <= e^0 x best fixed guess + 0.02"


def test_what_is_played_breaks_the_statement_for_all_near_priors_and_says_where():
    """A gain at the given prior refutes "for every near prior", which it is one of."""
    audit = run(study(0.005, **PLAYED, exact={"when": "auto"}), rng=1)
    assert audit.record.status == "exceeded"
    stated = statement_markdown(statement_of(audit.record))
    assert "Three numbers; what was played is for the given prior" in stated
    text = " ".join(render_text(audit.record).split())
    assert "Success and own baseline in 2,000 trials at the given prior" in text


def test_lemmas_about_the_given_prior_are_left_out_and_privacy_is_not():
    """Theorem E.1 is about two data sets with any chances, so it holds for all near priors."""
    two = {"name": "finite", "data": [[0], [1]], "probabilities": [0.7, 0.3]}
    mechanism = {"name": "randomized-response", "epsilon": 1.0}
    audit = run(study(0.4, "bayesian", 0.0, world=two, mechanism=mechanism), rng=1)
    [bound] = case_of(audit).bounds
    assert bound.limit.id == "cohen-e.1"
    assert case_of(audit).exact.needed.high <= bound.value


def test_a_record_is_read_again_and_a_changed_one_is_refused(tmp_path):
    audit = run(study(0.07, **PLAYED), rng=1)
    (tmp_path / "r.json").write_text(audit.record.to_json(), encoding="utf-8")
    assert read_record(tmp_path / "r.json").result.near == EVERY
    changed = json.loads(audit.record.to_json())
    changed["result"]["exact"]["needed"]["high"] = 0.08
    (tmp_path / "r.json").write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(NarcissusError):
        read_record(tmp_path / "r.json")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"family": {"kind": "near"}}, "give `prior_factor` or `prior_distance`"),
        ({"family": {"kind": "near", "prior_factor": 0.9}}, "must be at least 1"),
        ({"exact": {"when": "never"}, **PLAYED}, "near priors are looked at in games that are"),
        ({"world": {"name": "pairs", "pairs": [[[0], [1]]]}}, "no single prior"),
        ({"world": {"name": "pairs", "pairs": [[[0], [1]], [[1], [2]]]}}, "has several"),
        (
            {"statement": {"name": "threshold", "epsilon": 0.5, "tau": 0.4}},
            "neither the attacker's",
        ),
        (
            {"statement": {"name": "fixed-baseline", "delta": 0.1, "best": 0.5}},
            "`statement.best` is about one prior",
        ),
        ({"side-information": {"name": "listed", "chances": [[1, 0]] * 4}}, "told besides"),
    ],
)
def test_a_game_that_cannot_have_it_is_refused(changes, said):
    with pytest.raises(NarcissusError, match=said):
        run(study(0.07, **changes), rng=1)


@pytest.mark.parametrize("played", [{}, PLAYED])
@pytest.mark.parametrize("allowed", [0.07, 0.055, 0.045, 0.04])
def test_the_first_screen_says_that_it_holds_where_it_is_met_and_nowhere_else(allowed, played):
    audit = run(study(allowed, **played), rng=1)
    first = render_text(audit.record)
    assert (
        f"The statement holds against every attacker, for {EVERY}" in " ".join(first.split())
    ) == (audit.record.status == "met")
    assert "Nothing was written out" not in first


def test_a_family_of_rates_that_is_not_decided_does_not_hold_by_enumeration():
    audit = run(load_study({
        "kind": "game", "world": {"name": "bits", "n": 100},
        "family": {"kind": "rates", "from": 0.0, "to": 1.0, "budget": 10},
        "mechanism": {"name": "counting-query", "tau": 0.0},
        "success": {"name": "pinned", "k": 1},
        "statement": {"name": "narcissus", "epsilon": 1.0, "delta": 0.00102},
    }), rng=1)  # fmt: skip
    assert audit.record.status == "inconclusive"
    text = " ".join(render_text(audit.record).split())
    assert "It holds at the rates that were looked at" in text
    assert "by enumeration" not in text


@pytest.mark.parametrize("allowed", [0.055, 0.045, 0.04])
def test_what_limits_every_attacker_at_the_priors_looked_at_is_not_left_out(allowed):
    """The best success at the worst prior is exact, so an attack that always succeeds is not."""
    from narcissus.report.reach import of_100

    audit = run(study(allowed, **PLAYED), rng=1)
    largest = case_of(audit).exact.largest
    assert largest < 1
    text = " ".join(render_text(audit.record).split())
    assert "nothing here limits all of them" not in text
    assert f"no attacker succeeds more than {of_100(largest, 'up')} times" in text
