"""The first screen is the row that decided: sentence, picture, interval, threshold; every status.

Records of each kind are taken to each status that its judge knows, by their rows and criteria.
"""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from narcissus._visible import plain_markdown
from narcissus.judgement import StudyJudgement, cases_of, judge
from narcissus.kinds.game.judgement import game_of
from narcissus.membership.blind import MEMBERS, OUTSIDERS, BlindBaseline
from narcissus.report import page_of, render_html
from narcissus.report.first_screen import GUESSED, MORE, REST, first_screen, markdown
from narcissus.report.reach import counted_in, three
from narcissus.report.statement import statement_docx, statement_markdown, statement_of
from narcissus.report.text import first_text, page_text
from narcissus.results import Status
from narcissus.rows import Conflict, Findings, Quantity, StudyCriterion, StudyRow, Unaccounted
from narcissus.study.kinds import KINDS, OF_PAPERS, study_kind
from narcissus.study.reading import read_record
from narcissus.study.registry import loaded

STUDY = Path(__file__).parents[1] / "study"
FILES = [
    path
    for folder in ("kept", "records/last")
    for path in sorted((STUDY / folder).glob("*.json"))
    if path.stem not in OF_PAPERS.keys() - KINDS.keys()
]
REFUTED = (Conflict("Refuted: that it rains (a says 1, b says 2).", "sampled"),)


def moved(result, by):
    """Move every excess, as another threshold of a table's audit does."""

    def beyond(excess):
        ends = {
            key: None if value is None else min(1.0, max(-1.0, value + by))
            for key in ("value", "low", "high")
            for value in [getattr(excess.quantity, key)]
        }
        quantity = excess.quantity.model_copy(update=ends)
        return excess.model_copy(update={"quantity": quantity, "low_apart": None})

    settings = tuple(
        setting.model_copy(update={"excesses": tuple(map(beyond, setting.excesses))})
        for setting in result.settings
    )
    return result.model_copy(update={"settings": settings})


def held_to(criteria, at_most, at_least):
    """Hold what is asked to other limits, each on the side that it has."""
    return tuple(
        one.model_copy(update={"at_least": at_least} if "least" in side else {"at_most": at_most})
        for one in criteria
        for side in ["least" if one.of in ("measure", "estimate") else "most"]
    )


def void_of(result, compared):
    """Say that points alone tell members from others."""
    if not hasattr(result, "blind"):
        return None
    blind = BlindBaseline(compared=compared, auc=0.9, points=40, p_value=1e-9, level=0.05)
    return result.model_copy(update={"blind": (blind,)})


def with_more(result):
    """Bring in something that is not accounted for."""
    more = Unaccounted(subject="column `note`", reason="It may name people.",
                       declaration="`--irrelevant note`")  # fmt: skip
    return result.model_copy(update={"unaccounted": (more,)})


def variants(record):
    """Yield findings that lead to other statuses, by a name."""
    kind = study_kind(record.kind)
    own = kind.judged(record).findings

    def found(criteria=own.criteria, result=own.result):
        return kind.found(criteria, result)

    yield "as it is", own
    if record.kind == "table":
        for by in (-1.0, -0.2, -0.05, 0.05, 0.2, 1.0):
            yield f"moved by {by}", found(result=moved(own.result, by))
        yield "no threshold", found(held_to(own.criteria, None, None))
        yield "undeclared", found(result=with_more(moved(own.result, -1.0)))
        return
    if record.kind == "game":
        alone = own.result.model_copy(update={"exact": None, "bounds": ()})
        yield "attacks alone", found(held_to(own.criteria, 1.0, None), result=alone)
    for at_most, at_least in ((0.0, 1.0), (0.01, 0.99), (0.3, 0.7), (0.6, 0.45), (1.0, 0.0),
                              (None, None)):  # fmt: skip
        yield f"at most {at_most}", found(held_to(own.criteria, at_most, at_least))
    rates = tuple(one for one in own.criteria if one.of != "epsilon")
    decide = tuple(one.model_copy(update={"decides": True, "at_most": 1.0}) for one in rates)
    if record.kind == "membership":
        yield "rates alone", found(decide)
        yield "rates alone, undeclared", found(decide, result=with_more(own.result))
    yield "contradicted", replace(found(held_to(own.criteria, 1.0, 0.0)), refuted=REFUTED)
    yield "undeclared", found(held_to(own.criteria, 1.0, 0.0), result=with_more(own.result))
    yield "void", replace(found(held_to(own.criteria, 0.3, 0.7)), undecided="not assessed")
    yield "left open", replace(own, undecided="too few trials")
    for compared in (MEMBERS, OUTSIDERS):
        if (result := void_of(own.result, compared)) is not None:
            yield f"{compared} told", found(result=result)


def as_record(record, case):
    """Write a judgement as a record of its study."""
    layout = loaded(study_kind(record.kind).layout)
    return record.model_copy(
        update={
            "criteria": case.findings.criteria,
            "result": case.findings.result,
            "status": case.status,
            "grade": case.grade,
            "assumptions": list(case.assumptions),
            "contradictions": list(case.contradictions),
            "verdict": layout.verdict(case),
        }
    )


@pytest.fixture(scope="module")
def every_case():
    """Give every record at every status that its rows and criteria can have."""
    cases = []
    for path in FILES:
        record = read_record(path)
        kind = study_kind(record.kind)
        for name, findings in variants(record):
            case = kind.conclude(findings)
            cases.append((f"{path.parent.name}/{path.stem}, {name}", case, as_record(record, case)))
    return cases


def first_of(case, record):
    return first_screen(record, case, loaded(study_kind(record.kind).layout).glance(case))


def test_every_status_of_every_kind_is_drawn_in_every_form(every_case):
    reached = {}
    for name, case, record in every_case:
        layout = loaded(study_kind(record.kind).layout)
        reached.setdefault(record.kind, set()).add(case.status)
        first = first_of(case, record)
        page = replace(layout.page(record, case), first=first)
        assert first.answer in page_text(page).replace("\n  ", " ").replace("\n", " "), name
        assert plain_markdown(first.answer) in markdown(first), name
        assert json.loads(json.dumps(first.to_dict()))["answer"] == first.answer, name
        assert layout.subject(record, case), name
        assert "{}" not in " ".join([first.answer, first.key, *map(str, first.sentences)]), name
        assert "  " not in first.answer, name
        assert ",," not in first.answer, name
        assert ".." not in first.answer, name
    usual = {"met", "exceeded", "no threshold", "undeclared"}
    least = {"table": usual, "game": {"met", "exceeded", "inconclusive"}, "channel": usual,
             "secrets": usual, "membership": usual}  # fmt: skip
    for kind in KINDS:
        others = {"exceeded", "no threshold", "contradicted", "not assessed"}
        missing = least.get(kind, others) - reached[kind]
        assert not missing, (kind, missing)


TO_SHOW = [path for path in FILES if path.parent.name in ("kept", "last")]
"""Records that may be shown: earlier ones hold groups of few."""


@pytest.mark.parametrize("path", TO_SHOW, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_record_of_every_status_is_drawn_as_html_and_as_a_statement(path):
    record = read_record(path)
    case = study_kind(record.kind).judged(record)
    for status in set(get_args(Status)) - {"undeclared"}:
        changes = {"status": status}
        if status == "contradicted":
            changes["contradictions"] = [conflict.text for conflict in REFUTED]
        changed = record.model_copy(update=changes)
        html = render_html(changed, internal=True)
        first = page_of(changed, internal=True).first
        assert first.answer.split(",")[0].split("'")[0] in html
        statement = statement_of(changed, internal=True)
        assert statement_markdown(statement)
        assert statement_docx(statement)
        assert first.decided_by is None or first.decided_by.name == case.decided_by.name


def test_the_screen_names_the_row_of_the_judge_with_its_numbers_and_its_threshold(every_case):
    named = 0
    for name, case, record in every_case:
        first, row = first_of(case, record), case.decided_by
        if row is None:
            assert first.decided_by is None, name
            continue
        named += 1
        said = first.decided_by
        place = (said.of, said.name, said.role, said.at)
        assert place == (row.of, row.name, row.role, dict(row.at)), name
        assert row in case.findings.rows, name
        own = row.quantity
        assert (said.value, said.low, said.high) == (own.value, own.low, own.high), name
        limit = case.decision.limit
        if record.kind in ("channel", "secrets", "membership", "synthetic", "copyright"):
            asked = [one for one in case.deciding if one.label == case.decision.label]
            limits = {one.at_most for one in asked} | {one.criterion.at_least for one in asked}
            assert limit is None or limit in limits, name
    assert named > 150


def shares_of(row):
    """Return the numbers that a sentence may hold of a row, as it is or as success."""
    found = row.quantity
    ends = [v for v in (found.value, found.high, row.baseline) if v is not None]
    return [*ends, *(1 - v for v in ends), *(1 - v / 2 for v in ends)]


def test_sentence_interval_and_threshold_hold_the_number_of_that_row(every_case):
    checked = {"sentence": 0, "interval": 0, "threshold": 0}
    for name, case, record in every_case:
        row = case.decided_by
        if row is None or record.kind == "published-tables":
            continue
        first = first_of(case, record)
        said = first.decided_by
        sentences = " ".join([first.answer, *(text for text, _ in first.sentences)])
        if "more than 99" in said.shown:
            continue  # a limit that limits nobody is not said
        if row.role in ("attack", "bound", "measure") and said.shown and not record.contradictions:
            assert said.shown in sentences or "exact" in sentences, (name, said.shown, sentences)
            checked["sentence"] += 1
        if said.between and row.role != "bound" and row.quantity.grade == "sampled":
            full = [text for text in first.rests_on if said.between in text]
            # a bound's own number stands in its sentence: beside it stands how sure it is
            is_bound = any(text.startswith("The bound on every") for text in first.rests_on)
            assert full or is_bound or record.contradictions or len(first.rests_on) == 3, name
            checked["interval"] += bool(full)
        limit = case.decision.limit
        numbers = [
            float(n.replace(",", "")) for n in re.findall(r"[\d,]*\d(?:\.\d+)?", said.accepted)
        ]
        if limit is not None and said.accepted and record.kind != "table":
            near = [limit, 100 * limit, 100 * (1 - limit), 100 * (1 - limit / 2)]
            pairs = [(number, other) for number in numbers for other in near]
            is_near = any(math.isclose(*pair, rel_tol=6e-3, abs_tol=1e-9) for pair in pairs)
            assert is_near, (name, said.accepted, limit)
            checked["threshold"] += 1
    assert min(checked.values()) > 20, checked


def test_a_picture_is_of_the_row_that_decided_or_of_one_beside_it(every_case):
    for name, case, record in every_case:
        row = case.decided_by
        if row is None or record.kind == "published-tables":
            continue
        first = first_of(case, record)
        squares = first.squares
        assert len(squares) == first.total <= 100, name
        assert set(squares) <= {GUESSED, MORE, REST}, name
        if row.role == "attack" and first.with_it is not None:
            counted = counted_in(row)
            expected = counted[0] if counted and counted[1] < 100 else round(100 * row.value)
            assert first.with_it == expected, name


def test_what_limits_do_not_exclude_from_0_has_no_orange_square(every_case):
    seen = set()
    for name, case, record in every_case:
        row = case.decided_by
        if row is None or record.kind in ("table", "published-tables"):
            continue
        first = first_of(case, record)
        if row.role == "excess":
            low = row.quantity.low
            is_shown = (row.value if low is None else low) > 0
            assert first.is_shown == is_shown, name
        if MORE in first.squares:
            assert first.is_shown, name
        seen.add(first.is_shown)
        assert ("nothing is shown" in first.key) == (not first.is_shown), name
    assert seen == {True, False}


def test_counts_stand_as_they_were_observed_and_are_graded_so(every_case):
    counted = 0
    for name, case, record in every_case:
        if record.kind not in ("classifier", "image-model", "language-model"):
            continue
        first = first_of(case, record)
        for row in case.findings.select(role="attack"):
            if row.of != case.result.counted or row.name != (case.decided_by or row).name:
                continue
            text = f"{row.about.recovered:,} of {row.about.total:,}"
            if any(text in said and "trained on" in said for said, _ in first.sentences):
                counted += 1
        for text, grade in first.sentences:
            assert grade != "proved", (name, text)
            if "of 100" in text:
                assert re.search(r"\b100\b", str(case.findings.rows)), (name, text)
    assert counted > 10


def row(role, value, low=None, high=None, *, name="a", of="x", grade="sampled", **at):
    quantity = Quantity(value=value, low=low, high=high, grade=grade)
    return StudyRow(role=role, of=of, name=name, quantity=quantity, at=at)


def judged(rows, fails="inconclusive", **limits):
    criterion = StudyCriterion(of="x", **limits)
    found = Findings((criterion,), tuple(rows), None)
    return judge(found, cases_of(found, fails=fails))


def test_the_judge_returns_the_row_that_decided():
    sure, large = row("attack", 0.5, 0.45, 0.55, name="sure"), row("attack", 0.6, 0.2, 0.9)
    bound = row("bound", 0.7, high=0.7, grade="proved")
    assert judged([large, sure, bound], at_most=0.4).decided_by == sure
    assert judged([large, sure, bound], at_most=0.7).decided_by == bound
    assert judged([large, sure], at_most=0.65).decided_by == large
    assert judged([large, sure], at_most=0.55).status == "too few trials"
    assert judged([large, sure], at_most=0.55).decided_by == large
    assert judged([large, sure]).decided_by == large
    assert judged([bound], at_most=0.1).decided_by == bound
    assert judged([]).decided_by is None


def test_of_excesses_that_are_open_it_is_the_one_nearest_to_be_shown():
    """Ten copies beside none of a control decide, and not a guess of which little is known."""
    copies = row("excess", 0.13, -0.03, 0.30, name="copies")
    links = row("excess", 0.12, -0.14, 0.38, name="links")
    assert judged([copies, links], fails="not shown", at_most=0.0).decided_by == copies
    criteria = tuple(StudyCriterion(of="x", name=name, at_most=0.0) for name in ("links", "copies"))
    found = Findings(criteria, (links, copies), None)
    assert judge(found, cases_of(found, fails="not shown")).decided_by == copies


def test_where_no_estimate_is_beyond_it_is_the_excess_that_may_be_largest():
    copies = row("excess", 0.0, -0.02, 0.01, name="copies")
    links = row("excess", -0.01, -0.14, 0.30, name="links")
    assert judged([copies, links], fails="not shown", at_most=0.0).decided_by == links


def test_an_excess_that_is_accepted_leaves_nothing_open():
    near, wide = row("excess", 0.0, -0.01, 0.01, name="near"), row("excess", -0.01, -0.06, 0.053)
    case = judged([near, wide], fails="not shown", at_most=0.02)
    assert case.status == "not shown"
    assert case.decided_by == wide
    criteria = tuple(StudyCriterion(of="x", name=name, at_most=0.02) for name in ("near", "a"))
    found = Findings(criteria, (near, wide), None)
    case = judge(found, cases_of(found, fails="not shown"))
    assert case.decided_by == wide


def test_of_measures_it_is_the_one_beyond_or_nearest():
    low, high = row("measure", 0.2, 0.1, 0.3), row("measure", 0.8, 0.75, 0.85)
    assert judged([low, high], at_most=0.5).decided_by == high
    assert judged([low, high], at_least=0.5).decided_by == low
    assert judged([low, high], at_least=0.01, at_most=0.9).decided_by == high
    assert judged([low, high], at_least=0.15, at_most=0.99).decided_by == low


def test_a_gain_that_is_not_known_is_nobody_s_number():
    unknown = row("excess", None, grade="not assessed")
    known = row("excess", 0.0, -0.1, 0.1)
    assert judged([unknown, known], at_most=0.2).decided_by == known
    assert judged([unknown], at_most=0.2).status == "not assessed"
    assert isinstance(judged([unknown], at_most=0.2), StudyJudgement)


@pytest.mark.parametrize(
    ("value", "text"),
    [(43.5801, "43.6"), (100.0, "100"), (19.0, "19"), (0.5, "0.5"), (1234.0, "1,230"), (0.0, "0")],
)
def test_numbers_for_readers_have_three_digits_at_most(value, text):
    assert three(value) == text


def test_the_terminal_and_the_page_draw_the_same_squares(every_case):
    for name, case, record in every_case[::7]:
        layout = loaded(study_kind(record.kind).layout)
        first = first_of(case, record)
        if first.without is None and first.with_it is None:
            continue
        page = replace(layout.page(record, case), first=first)
        text = first_text(page)
        for sign in (GUESSED, MORE):
            said = first.key.count(sign)
            assert text.count(sign) == first.squares.count(sign) + said, name


def kept(name):
    return read_record(STUDY / "kept" / f"{name}.json")


def test_of_several_thresholds_the_one_of_the_row_that_decided_is_said():
    record = kept("secrets")
    kind = study_kind(record.kind)
    own = kind.judged(record)
    limits = [0.19, 0.2801, 0.435801, *[0.1] * 9]
    criteria = tuple(
        one.criterion.model_copy(update={"at_most": limit, "decides": True})
        for one, limit in zip(own.each, limits, strict=False)
    )
    case = kind.conclude(kind.found(criteria, own.result))
    first = first_of(case, as_record(record, case))
    assert case.status == "exceeded"
    limit = case.worst.at_most
    assert f"Your threshold, {three(100 * limit)} of 100 secrets" in first.answer
    assert case.worst.label in first.answer or len(own.each) == 1
    assert str(limit)[2:] not in first.answer or len(str(limit)) <= 4


def test_a_language_model_exceeded_by_its_program_shows_the_quality():
    record = kept("language-model")
    program = read_record(STUDY / "records" / "last" / "extraction.json")
    kind = study_kind(record.kind)
    result = record.result.model_copy(update={"program": program.result})
    found = kind.found(kind.criteria(1.0, 0.5), result)
    case = kind.conclude(found)
    first = first_of(case, as_record(record, case))
    assert case.status == "exceeded"
    assert (first.decided_by.of, first.decided_by.value) == ("quality", program.result.quality)
    assert "a quality of 0.5" in first.answer
    assert "The quality of the extraction is 0.991" in first.sentences[2][0]
    assert "20 of 20" in first.sentences[1][0]


def test_a_channel_judged_by_pairs_shows_the_pair_and_its_exact_number_once():
    record = read_record(STUDY / "records" / "last" / "mechanism.json")
    case = study_kind(record.kind).judged(record)
    first = first_of(case, record)
    assert case.decided_by.name == "beta_star"
    assert (first.without, first.with_it, first.most) == (50, 62, None)
    assert "65 of 100" in first.answer
    assert "it is exact" in first.sentences[2][0]


def test_a_game_that_is_met_names_its_statement_and_what_is_allowed():
    record = kept("game")
    case = study_kind(record.kind).judged(record)
    first = first_of(case, record)
    assert first.status == "met"
    assert f"The {case.result.statement.name} statement" in first.answer
    game = game_of(case)
    most = math.exp(case.result.statement.epsilon) * game.exact.baseline + game.limit
    assert f"allows {round(100 * most)} of 100" in first.sentences[1][0]


def test_a_given_file_that_is_open_shows_the_risk_that_is_open():
    record = kept("synthetic")
    kind = study_kind(record.kind)
    own = kind.judged(record)
    criteria = tuple(one.model_copy(update={"at_most": 1.0}) for one in own.findings.criteria)
    case = kind.conclude(kind.found(criteria, own.result))
    first = first_of(case, as_record(record, case))
    assert case.status == "not shown"
    asked = [one for criterion in case.deciding for one in criterion.attacks]
    most = max(asked, key=lambda one: one.quantity.high)
    assert case.decided_by == most
    assert first.decided_by.name == most.name
    assert most.name in first.rests_on[0]
