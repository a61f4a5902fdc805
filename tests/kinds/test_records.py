"""Records of rows: read as they were written, and refused where their judgement is another."""

import contextlib
import json
from collections import Counter
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from pydantic import ValidationError

from narcissus.cli.studies import record_schema
from narcissus.errors import InputError
from narcissus.kinds.memorization.language.kind import DocumentAttack
from narcissus.membership.reported import RocCurve
from narcissus.results import GRADES, Status
from narcissus.rows import StudyCriterion
from narcissus.study.kinds import study_kind
from narcissus.study.reading import read_record
from narcissus.study.record import SCHEMA, digest_of
from narcissus.study.registry import loaded

STUDY = Path(__file__).parents[1] / "study"
KEPT = [
    path for folder in ("kept", "records/last") for path in sorted((STUDY / folder).glob("*.json"))
]


@pytest.fixture(params=KEPT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def kept(request):
    return request.param


@pytest.fixture
def record(kept):
    return read_record(kept)


@pytest.fixture
def said(record, tmp_path):
    """Seal a record with a change anew, and tell why it is refused; '' if it is read."""

    def read(**changes):
        data = {**record.to_dict(), **changes}
        data = {key: value for key, value in data.items() if key != "portable_digest"}
        data["digest"] = digest_of(data)
        (tmp_path / "record.json").write_text(json.dumps(data))
        try:
            read_record(tmp_path)
        except InputError as error:
            return str(error)
        return ""

    return read


def test_a_record_is_read_as_it_was_written(kept, record, tmp_path):
    assert record.schema_ == SCHEMA
    assert json.loads(kept.read_text()) == record.to_dict()
    (tmp_path / "record.json").write_text(record.to_json())
    assert read_record(tmp_path).to_dict() == record.to_dict()


def test_another_status_or_grade_is_refused(record, said):
    assert said() == ""
    for status in set(get_args(Status)) - {record.status}:
        assert "status" in said(status=status)
    own = {record.grade, study_kind(record.kind).judged(record).grade}
    for grade in set(GRADES) - own:
        assert f"the grade is {grade!r}" in said(grade=grade)


def test_assumptions_and_contradictions_follow_from_the_rows(record, said):
    if record.grade != "not assessed":  # as some of format 1
        assert "assumptions" in said(assumptions=[*record.assumptions, "it is so"])
    assert "contradict" in said(contradictions=[*record.contradictions, "a and b"])


def optional_fields(record):
    fields = type(record.result).model_fields
    return {name for name, field in fields.items() if not field.is_required()}


def test_a_key_that_is_unknown_or_missing_is_refused(record, said):
    found = record.to_dict()
    for key in found["result"]:
        less = {name: value for name, value in found["result"].items() if name != key}
        assert said(result=less) != "" or key in optional_fields(record)
    assert "rows: Extra" in said(rows=[])
    assert "result.more" in said(result={**found["result"], "more": 1})
    assert "no criterion decides" in said(criteria=[])
    assert "results: Extra" in said(results=None)
    assert "reads narcissus/record/1 alone" in said(schema="narcissus/record/2")


def parts(value, path=()):
    """Yield each dictionary of a record with its place."""
    if isinstance(value, dict):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, dict | list):
            yield from parts(inner, (*path, key))


NAMES = {
    "at",
    "attack_counts",
    "merged",
    "tried",
    "estimators",
    "complexity",
    "endings",
    "stand_ins",
    "measures",
    "labels",
    "readings",
}  # their keys are no keys of ours
BY_NAME = "attacks", "columns"  # likewise, but what stands below has keys of ours


def refused(model, data):
    try:
        model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError:
        return True
    return False


@pytest.mark.repeats(1, 10**6, "of_each")
def test_a_misspelt_key_and_a_number_of_another_type_are_refused(record, of_each):
    """By day, of the parts of a list that have the same keys, one: one model checks them all."""
    found, tried = record.to_dict(), Counter()
    wholes = [(StudyCriterion, one) for one in found["criteria"][:1]]
    wholes.append((study_kind(record.kind).result, found["result"]))
    for model, whole in wholes:
        assert not refused(model, whole)
        for path, part in parts(whole):
            if NAMES & {*path} or {*path[-1:]} & {*BY_NAME}:
                continue
            like = *("" if isinstance(key, int) else key for key in path), *sorted(part)
            tried[like] += 1
            if tried[like] > of_each:
                continue
            for name, value in list(part.items()):
                part[f"{name}_"] = part.pop(name)
                assert refused(model, whole), (path, name)
                part[name] = part.pop(f"{name}_")
                if isinstance(value, int | float) and not isinstance(value, bool):
                    part[name] = "1"
                    assert refused(model, whole), (path, name)
                    part[name] = value


def test_the_schema_of_its_kind_accepts_it_and_nothing_misspelt(record):
    schema = record_schema(record.kind)
    whole = {**record.to_dict(), "portable_digest": f"sha256:{'0' * 64}"}
    jsonschema.validate(whole, schema)
    wrong = {**whole, "criteria": [{**whole["criteria"][0], "more": 1}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**whole, "result": {**whole["result"], "more": 1}}, schema)


def test_the_level_of_limits_of_a_trained_model_follows_from_their_number(record, said):
    result = record.to_dict()["result"]
    if "by_chance" not in result:
        pytest.skip("of trained models")
    assert "another level" in said(result={**result, "claims": result["claims"] + 1})


def numbers(value, place=()):
    """Yield the places of all numbers of a record."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, (*place, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place


def changed(value, place, leaf):
    """Return a copy of plain values with another one at a place."""
    if not place:
        return leaf
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = changed(value[place[0]], place[1:], leaf)
    return copy


@pytest.mark.one_in(4)
def test_numbers_that_nothing_computes_with_are_refused_in_plain_words(record, said):
    """Each kind of place once: the same key elsewhere is of the same type."""
    for part in ("result", "criteria"):
        plain = record.to_dict()[part]
        places = {tuple(key for key in p if isinstance(key, str)): p for p in numbers(plain)}
        for place in places.values():
            words = said(**{part: changed(plain, place, 10**400)})
            assert f".{part}" in words
            assert "a number of at most 10^300 in size is needed" in words


def test_counts_of_a_record_have_a_largest(said, record, kept):
    if record.kind not in ("language-model", "classifier", "image-model"):
        return
    result = record.to_dict()["result"]
    assert "less than or equal to" in said(result={**result, "parameters": 2**63})


CURVE = {"fpr": [0.1, 1.0], "tpr": [0.2, 1.0], "low": [0.1, 0.9], "high": [0.3, 1.0]}


@pytest.mark.parametrize(
    "change",
    [
        *({name: CURVE[name][:1]} for name in CURVE),
        *({name: []} for name in CURVE),
        {name: [] for name in CURVE},
        {"fpr": [0.0, 1.0]},
        {"fpr": [1.0, 0.1]},
        {"tpr": [0.05, 1.0]},
        {"high": [0.3, 0.95]},
    ],
)
def test_points_of_a_curve_belong_together(change):
    """They are drawn in one line: what lacks some was a traceback of what draws."""
    facts = {"name": "loss", "grade": "sampled", **CURVE}
    lists = {"fpr", "tpr", "low", "high"}
    as_read = {key: tuple(value) if key in lists else value for key, value in facts.items()}
    assert RocCurve(**as_read).fpr == (0.1, 1.0)
    with pytest.raises(ValidationError, match=r"same points|must be above 0|within its limits"):
        RocCurve(**{**as_read, **{key: tuple(value) for key, value in change.items()}})


@pytest.mark.parametrize(
    ("by_shadows", "says"),
    [((0, 1), ""), ((0,), "as many shadow models for each group"), ((0, 3), "than there are")],
)
def test_shadow_models_are_the_same_for_each_group(by_shadows, says):
    group = {"total": 2, "recovered": 1}
    groups = [{**group, "by_shadows": (1, 2)}, {**group, "copies": (1,), "by_shadows": by_shadows}]
    facts = {"name": "generation", "rule": "a stretch of it", "groups": groups}
    with pytest.raises(ValidationError, match=says) if says else contextlib.nullcontext():
        DocumentAttack.model_validate(facts, strict=False)


DERIVED = ("title", "status", "grade", "assumptions", "contradictions", "assessed", "not_assessed")


def derived_leaves(value, place=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from derived_leaves(inner, (*place, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from derived_leaves(inner, (*place, at))
    else:
        yield place


def of_the_run_alone(record):
    """Texts that nothing in a record gives a second time: what only the run knew."""
    layout = loaded(study_kind(record.kind).layout)
    case = study_kind(record.kind).judged(record)
    lines = layout.assessed(case)
    gaps = {gap.quantity for gap in layout.not_assessed(case)}
    yield from (("assessed", at) for at, x in enumerate(record.assessed) if x not in lines)
    for at, remark in enumerate(record.not_assessed):
        if remark.quantity not in gaps:
            yield from (("not_assessed", at, name) for name in type(remark).model_fields)
    if not record.study.get("title"):
        yield ("title",)


def test_a_changed_text_that_follows_from_the_record_is_refused(record, said):
    """A sentence in favour was read that the rows do not give."""
    of_the_run = set(of_the_run_alone(record))
    data = record.to_dict()
    places = [place for place in derived_leaves({name: data[name] for name in DERIVED})]
    for place in places:
        if place in of_the_run:
            continue
        changed = json.loads(json.dumps(data[place[0]]))
        if place[1:]:
            inner = changed
            for key in place[1:-1]:
                inner = inner[key]
            inner[place[-1]] = f"not {inner[place[-1]]}"
        else:
            changed = f"not {changed}"
        assert said(**{place[0]: changed}), place
    for name in ("assumptions", "assessed", "not_assessed"):
        if {place for place in places if place[0] == name} - of_the_run:
            assert said(**{name: []}), name


@pytest.mark.parametrize("name", ["verdict", "first", "reach", "summary", "not_covered", "brief"])
def test_a_record_keeps_no_sentence_that_its_rows_give(said, name):
    assert "Extra inputs are not permitted" in said(**{name: "Met: nothing is given away."})
