"""Every shipped study: what comes out, what it shows, that all parts are in one."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import tomllib

import pytest

import narcissus
from narcissus import load_study, run
from narcissus.errors import InputError
from narcissus.kinds.game.judgement import game_of
from narcissus.kinds.game.kind import KIND
from narcissus.kinds.table.kind import KIND as KIND_OF_TABLES
from narcissus.report import page_of
from narcissus.report.about import numbers_of
from narcissus.report.format import STATUS
from narcissus.report.page import Figure, Grid
from narcissus.study.registry import ROOMS
from narcissus.study.shipped import shipped_studies, shipped_study
from narcissus.success.statements import FixedBaseline, Resilience, prepared

GAMES = [study for study in shipped_studies() if study.kind == "game"]
NAMES = [study.name for study in GAMES]


def fewer_trials(study, most):
    how = study.settings.run
    how = how.model_copy(update={"trials": min(how.trials, most)})
    return dataclasses.replace(study, settings=study.settings.model_copy(update={"run": how}))


def headline_is_of_who_decides(audit, study):
    """Whoever stands in the headline of a violation breaks the statement by his own numbers."""
    case = game_of(KIND.judged(audit.record))
    if not case.attackers:
        return
    one = case.decisive
    first = page_of(audit.record).first
    if case.exact is None:
        assert f"attempts of {one.name} succeed" in first.sentences[0][0]
        assert abs(first.with_it - 100 * one.success.value) <= 0.5
    assert first.word == STATUS[audit.status][1]
    labels = [label for label, *_ in numbers_of(audit.record)[:2]]
    assert [f"the attack {one.name}" in label for label in labels] == [True, False]
    game = next(iter(study.settings.build().game.members().values()))
    statement = prepared(study.settings.build().statement, game)
    if case.decided is None or not isinstance(statement, FixedBaseline | Resilience):
        return
    fixed = isinstance(statement, FixedBaseline)
    baseline = statement.best if fixed else one.fresh.value
    assert one.success.value > math.exp(statement.epsilon) * baseline + statement.delta


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_verdict_is_the_same_for_every_seed(name):
    """Twenty seeds, all trials: a reader plays it once, with a seed of his own."""
    study = load_study(shipped_study(name).path)
    audits = [run(study, rng=seed) for seed in range(1, 21)]
    assert (
        len({(game_of(KIND.judged(audit.record)).outcome, audit.status) for audit in audits}) == 1
    )
    for audit in audits:
        headline_is_of_who_decides(audit, study)


def test_no_title_promises_more_than_that_some_attackers_failed():
    """Where no violation was found nothing is shown: no title says who is safe, and from whom."""
    promises = re.compile(
        r"\b(can ?not|cannot|nobody|no attacker|hides?|safe|resilient|secure|private(?! key)|"
        r"violates? nothing|does not violate|is no reconstruction)\b"
    )
    open_ended = [study for study in GAMES if study.expected == "no violation found"]
    assert len(open_ended) >= 8
    titles = [load_study(study.path).settings.title for study in open_ended]
    assert [title for title in titles if promises.search(title)] == []
    assert promises.search("Who knows the rates still cannot name a row")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.one_in(4)
def test_shipped_study_comes_out_as_its_source_says(fit, name):
    """Seeded; few trials do, since the outcomes are far apart. Also drawn as a report."""
    shipped = shipped_study(name)
    study = load_study(shipped.path)
    audit = run(fewer_trials(study, 1500), rng=11)
    assert shipped.expected
    assert game_of(KIND.judged(audit.record)).outcome.startswith(shipped.expected), audit.verdict
    fit(audit.results["result"], KIND.result.model_json_schema())
    headline_is_of_who_decides(audit, study)
    page = page_of(audit.record)
    blocks = list(page.blocks)
    assert any(isinstance(block, Grid | Figure) for block in blocks)
    assert audit.verdict
    assert json.loads(audit.record.to_json())["kind"] == "game"


def test_every_statement_and_part_is_in_some_shipped_study():
    studies = [load_study(study.path).to_dict() for study in GAMES]
    used = {
        "statement": {study["statement"]["name"] for study in studies},
        "world": {study["world"]["name"] for study in studies},
        "mechanism": {study["mechanism"]["name"] for study in studies},
        "attack": {part["name"] for study in studies for part in study["attack"]},
        "relation": {study["success"]["name"] for study in studies},
        "side-information": {
            study["side-information"]["name"] for study in studies if study["side-information"]
        },
    }
    used["relation"] |= {"exact", "hamming-ball", "strings"}  # in the tests of the kind
    for room, named in used.items():
        assert named == set(ROOMS[room].parts), room


def test_shipped_studies_say_what_they_show_and_where_it_is_from():
    for study in GAMES:
        assert study.about.endswith(".")
        assert study.source
    with pytest.raises(InputError, match="did you mean `counting-query`"):
        shipped_study("counting-querry")


def test_what_the_singling_out_study_says_of_itself_is_what_comes_out():
    """Three records of four values, their average exactly: 3/4 less 27/64."""
    audit = run(load_study(shipped_study("singling-out-exact").path), rng=1)
    assert game_of(KIND.judged(audit.record)).exact.least == pytest.approx(0.75 - 27 / 64)
    assert str(0.75 - 27 / 64) in audit.record.study["about"]


def test_the_study_of_a_table_needs_nothing_but_the_package():
    """Few people of few settings; the levels are far apart."""
    shipped = shipped_study("audit-a-table")
    assert shipped.kind == "table"
    assert [table.name for table in shipped.tables] == ["invented_people.csv"]
    study = tomllib.loads(shipped.path.read_text(encoding="utf-8"))
    threshold = {**study["threshold"], "at": 1.0}
    audit = narcissus.audit(
        shipped.tables[0],
        bins=study["data"]["bins"],
        unknown=study["threat"]["unknown"],
        targets=20,
        mechanism={**study["mechanism"], "epsilon": [1.0, float("inf")]},
        threshold=threshold,
        trials=4,
        workers=1,
        rng=1,
    )
    planned, bare = KIND_OF_TABLES.judged(audit.record).each
    assert planned.share_bound.at_most < planned.guess.share + 0.02
    assert bare.best_attack.share > bare.guess.share + 0.2
