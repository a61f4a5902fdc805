"""Records of version 0.1 are read and drawn; what they do not hold is called not assessed."""

import json
import re

import pytest

from narcissus.errors import InputError
from narcissus.report import page_of, render_html, render_text
from narcissus.study.earlier import FORMAT_1
from narcissus.study.kinds import study_kind
from narcissus.study.reading import read_record
from narcissus.study.record import SCHEMA, digest_of


@pytest.mark.one_in(3)
def test_every_record_of_format_1_is_read_and_drawn(any_old_record):
    data = json.loads(any_old_record.read_text())
    assert data["schema"] == "narcissus/record/1"
    record = read_record(any_old_record)
    assert record.schema_ == SCHEMA
    assert (record.status, record.verdict) == (data["status"], data["verdict"])
    assert record.provenance.digests[FORMAT_1] == data["digest"]
    assert record.not_assessed[-1].quantity == "what records of format 1 do not hold"
    # groups of few real people, which nobody merged then, are for internal use
    for drawn in (render_html(record, internal=True), render_text(record, internal=True)):
        assert "None" not in drawn
        assert data["title"][:30] in drawn.replace("&#39;", "'")


def numbers(value, place=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from numbers(inner, f"{place}[{number}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, value


# what was said twice, or stands in the study as well
TWICE = (".exact.secrets", ".estimated.secrets", ".threshold.at", ".w_max", ".points", ".share")
FOLLOWS = (".needed", ".margin_bytes", ".extractable_bits")


@pytest.mark.one_in(3)
def test_no_number_is_lost_or_changed(any_old_record):
    old = dict(numbers(json.loads(any_old_record.read_text())["results"]))
    record = read_record(any_old_record)
    found = record.to_dict()  # each stands elsewhere; statements are made anew
    kept = {v for key in ("criteria", "rows", "detail") for _, v in numbers(found[key])}
    stated = {place: v for place, v in old.items() if ".findings" not in place}
    lost = {place for place, number in stated.items() if number not in kept | {1.0}}
    assert {place for place in lost if not place.endswith(TWICE + FOLLOWS)} == set()


@pytest.mark.one_in(3)
def test_an_upgraded_record_is_one_of_today(any_old_record, tmp_path):
    record = read_record(any_old_record)
    (tmp_path / "again.json").write_text(record.to_json())
    assert read_record(tmp_path / "again.json") == record


def test_what_was_not_recorded_has_no_grade(old_record):
    record = read_record(old_record("first", "table"))
    assert record.grade == "not assessed"
    assert re.search('class="verdict tone-[a-z-]+ unsure"', render_html(record, internal=True))
    [setting] = study_kind("table").judged(record).settings
    assert setting.detail.prior_is_exact is False
    assert {bound.grade for bound in setting.bounds} == {"proved if"}
    rows = read_record(old_record("first", "game")).rows
    assert {row.quantity.grade for row in rows if row.of == "delta"} == {"not assessed"}
    assert not [row for row in rows if row.of == "gap"]
    assert read_record(old_record("first", "extraction")).detail.verdict_grade == "not assessed"
    samples = read_record(old_record("first", "samples"))
    assert page_of(samples).verdict.numbers[0][3] == "not assessed"


@pytest.mark.parametrize("key", ["results", "study", "provenance", "kind"])
def test_a_broken_record_of_format_1_is_refused_in_our_words(old_record, tmp_path, key):
    data = json.loads(old_record("first", "table").read_text())
    for wrong in (None, 5, [], {"a": 1}):
        data[key] = wrong
        data["digest"] = digest_of(data)
        (tmp_path / "r.json").write_text(json.dumps(data))
        with pytest.raises(InputError, match=r"r\.json"):
            read_record(tmp_path / "r.json")
