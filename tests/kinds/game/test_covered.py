"""Families of rates: proved for every rate, or said not to be."""

from __future__ import annotations

import math
import re
import tomllib

import cloudpickle
import pytest

from narcissus import load_study, profile, run
from narcissus._outwards import upper
from narcissus.errors import InputError, LongWorkError, NarcissusError
from narcissus.game import executor
from narcissus.game.executor import Serial
from narcissus.kinds.game.covered import (
    LEAST,
    section_of,
    smallest_for_every_rate,
    text_of,
    to_toml,
    varied,
)
from narcissus.observer import SILENT
from narcissus.report import Facts, Grid, page_of, render_html, render_text
from narcissus.study.kinds import RunOptions, study_kind
from narcissus.study.ranges import LARGEST, MOST, spread
from narcissus.study.reading import disagreement, read_record
from narcissus.study.shipped import shipped_study
from narcissus.worlds import Bits, Finite, Neighbours, Records

from .conftest import case_of

STUDY = """
kind = "game"
title = "A count"
[world]
name = "bits"
n = 40
[family]
kind = "rates"
from = 0.0
to = 0.5
points = 6
[mechanism]
name = "counting-query"
[success]
name = "pinned"
[statement]
name = "narcissus"
epsilon = 1.0
delta = 0.004
"""

TOLD = """[side-information]
name = "rows"
rows = 1
[mechanism]"""


@pytest.fixture
def study(tmp_path):
    def made(*changes):
        text = STUDY
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "s.toml").write_text(text, encoding="utf-8")
        return load_study(tmp_path / "s.toml")

    return made


@pytest.mark.states("Cohen et al. 2024", "Definition 1.6")
def test_every_rate_is_proved_and_the_worst_one_named(study, tmp_path):
    audit = run(study(), rng=1)
    case, cover = case_of(audit), audit.record.result.cover
    member, needed = case.exact.member, case.exact.needed
    assert (audit.record.status, audit.record.grade) == ("met", "proved")
    assert "for every rate from 0 to 0.5" in audit.verdict
    assert case.exact.members == 7
    assert member == f"rate = {cover.rate!r}"
    assert needed.value == pytest.approx(cover.least, rel=1e-9)
    assert needed.value <= needed.high <= 0.004
    assert needed.high <= cover.least + cover.tolerance
    assert cover.tolerance == pytest.approx(0.0004)
    page, html = page_of(audit.record), render_html(audit.record)
    blocks = [block for part in page.sections for block in part.blocks]
    lines = {row[0]: row[1:] for block in blocks if isinstance(block, Grid) for row in block.rows}
    needs = f"at epsilon 1; rate {cover.rate:g} needs {cover.least:.4g}"
    label = "Delta that is enough for every rate from 0 to 0.5"
    assert lines[label] == [f"at most {upper(needed.high, 3)}", needs]
    looked_at = "also one as large, of the rates looked at"
    assert lines["Largest success of any attacker"][1] == f"at any baseline, {looked_at}"
    facts = {
        term: text for block in blocks if isinstance(block, Facts) for term, text in block.rows
    }
    term = "No more is needed, of the least delta at epsilon 1, than at"
    assert facts[term] == f"{member}, of the rates looked at"
    for drawn in (render_text(audit.record), html):
        words = " ".join(re.sub("<[^>]+>", " ", drawn).split())
        assert f"those of {member}, of the rates looked at" in words
        assert f"{term} {member}, of the rates looked at" in words
    assert "rates: from = 0.0, to = 0.5, points = 6" in html
    audit.save(tmp_path / "out")
    record = read_record(tmp_path / "out" / "record.json")
    assert disagreement(record) == ""
    assert record.result.cover == cover


def test_a_rate_that_violates_is_named_though_no_point_of_the_grid_does(study):
    audit = run(study(("delta = 0.004", "delta = 0.001")), rng=1)
    assert (audit.record.status, audit.record.grade) == ("exceeded", "proved")
    assert "Violated, proved" in audit.verdict
    rate = audit.record.result.cover.rate
    assert rate not in (0, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert f"at rate = {rate!r}" in audit.verdict


def test_what_is_not_shown_between_is_inconclusive(study):
    few = run(study(("points = 6", "points = 6\nbudget = 6")), rng=1)
    assert (few.record.status, few.record.grade) == ("inconclusive", "not assessed")
    assert "This is not shown for every rate" in few.verdict
    assert "take a larger `family.budget`" in few.verdict
    assert case_of(few).exact.needed.high > 0.004
    wide = run(study(("points = 6", "points = 6\ntolerance = 0.9")), rng=1)
    assert "take a smaller `family.tolerance`" in wide.verdict


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ([("n = 40", "n = 4"), ("[mechanism]", TOLD)], "is told depends on the rate"),
        ([('name = "narcissus"', 'name = "fixed-baseline"')], "the attacker's own baseline"),
    ],
)  # fmt: skip
def test_where_nothing_is_known_between_it_is_said(study, changes, reason):
    audit = run(study(*changes, ("delta = 0.004", "delta = 0.9")), rng=1)
    assert audit.record.status == "inconclusive"
    assert reason in audit.verdict
    assert 'kind = "grid"' in audit.verdict
    assert audit.record.result.cover is None
    assert "cover" not in audit.results["result"]


def test_the_same_points_as_a_grid_are_proved_for_these(study):
    grid = 'kind = "grid"\nover.rate = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]'
    audit = run(study(('kind = "rates"\nfrom = 0.0\nto = 0.5\npoints = 6', grid)), rng=1)
    assert audit.record.status == "met"
    assert "for each of the 6 distributions of the family" in audit.verdict
    assert audit.record.result.cover is None


def test_an_outcome_that_its_cover_does_not_show_is_refused(study):
    record = run(study(("points = 6", "points = 6\nbudget = 6")), rng=1).record
    said = disagreement(record.model_copy(update={"status": "met", "grade": "proved"}))
    assert said == "the status is 'met', and that of the rows 'inconclusive'"
    cover = record.result.cover
    with pytest.raises(ValueError, match="not in the interval"):
        type(cover)(**{**dict(cover), "rate": 0.9})


def test_long_work_is_told_before_it_starts(study, tmp_path):
    long = study(("points = 6", "points = 6\nbudget = 10000000\ntolerance = 1e-9"))
    options = RunOptions(folder=None, entropy=1, hours=0.01, observer=SILENT)
    with pytest.raises(LongWorkError, match="at most 10,000,000 intervals between rates"):
        study_kind("game").play(long.settings, tmp_path, options)


def test_the_smallest_cut_for_every_rate(study, tmp_path):
    settings = study().settings
    tried = [0.0, 0.1, 0.2, 0.3]
    found = smallest_for_every_rate(
        settings, tmp_path, "tau", tried, epsilon=1.0, delta=1e-4, limit=10**6
    )
    assert found.value == 0.3
    assert (found.tried, found.undecided) == (4, 0)
    assert found.delta <= 1e-4
    none = smallest_for_every_rate(
        settings, tmp_path, "tau", tried[:3], epsilon=1.0, delta=1e-4, limit=10**6
    )
    assert (none.value, none.undecided) == (None, 0)
    assert none.delta > 1e-4  # needed at some rate
    few = settings.family.model_copy(update={"budget": 6})
    short = smallest_for_every_rate(
        settings.model_copy(update={"family": few}), tmp_path, "tau", [0.3], epsilon=1.0,
        delta=1e-4, limit=10**6,
    )  # fmt: skip
    assert (short.value, short.undecided) == (None, 1)


class Away(Serial):
    """Plays what was sent, as another process would have it."""

    def __init__(self):
        self.sent = []

    def play(self, job, keys, observer=SILENT):
        self.sent += keys
        return super().play(cloudpickle.loads(cloudpickle.dumps(job)), keys)


def test_others_look_at_values_and_a_value_that_is_refused_matters_only_if_it_is_reached(
    study, tmp_path, monkeypatch
):
    monkeypatch.setattr(executor, "WORTH_SENDING", -1.0)
    settings, others = study().settings, Away()
    told = {"epsilon": 1.0, "delta": 1e-4, "limit": 10**6}
    tried = [0.2, 0.3, 0.9]  # cut beyond the half
    found = smallest_for_every_rate(settings, tmp_path, "tau", tried, executor=others, **told)
    assert others.sent == ["1"]
    assert found == smallest_for_every_rate(settings, tmp_path, "tau", tried[:2], **told)
    with pytest.raises(NarcissusError, match="tau"):
        smallest_for_every_rate(settings, tmp_path, "tau", [0.2, 0.9], executor=others, **told)


def test_a_statement_that_allows_nothing_has_a_tolerance(study):
    none = ("delta = 0.004", "delta = 0.0")
    audit = run(study(none, ("n = 40", "n = 4"), ("points = 6", "points = 6\nbudget = 50")), rng=1)
    assert audit.record.result.cover.tolerance == LEAST
    with pytest.raises(NarcissusError, match="tolerance"):
        study(("points = 6", "points = 6\ntolerance = 0.0"))


def read_back(tmp_path, text, **options):
    (tmp_path / "one.toml").write_text(text, encoding="utf-8")
    return load_study(tmp_path / "one.toml", **options)


@pytest.mark.parametrize(
    "name", ["counting-query-rates", "counting-query-every-rate", "neighbours-each"]
)
def test_every_member_plays_as_in_its_family(tmp_path, name):
    study = load_study(shipped_study(name).path)
    family = profile(study, [0.0, 1.0]).family
    for member in list(family.members)[:6]:
        world = family.members[member].game.world
        alone = read_back(tmp_path, text_of(study.settings, world, member))
        found = profile(alone, [0.0, 1.0])
        assert list(found.delta) == [family.members[member].delta(e) for e in (0.0, 1.0)]
        assert alone.settings.title.endswith(member)
        assert "family" not in alone.to_dict()
        assert alone.settings.statement == study.settings.statement
        assert alone.settings.attack == study.settings.attack


def test_worlds_become_their_sections():
    assert section_of(Bits(3, 0.25), "it") == {"name": "bits", "n": 3, "rate": 0.25}
    assert section_of(Records(2, [0.5, 0.5]), "it")["probabilities"] == [0.5, 0.5]
    pair = next(iter(Neighbours(2).members.values()))
    assert section_of(pair, "it")["pairs"] == [[[0, 0], [1, 0]]]
    assert section_of(Finite([[0], [1]]), "it")["data"] == [[0], [1]]

    class Mine(Bits):
        pass

    with pytest.raises(InputError, match="rate = 3 is a custom Mine"):
        section_of(Mine(2), "rate = 3")


def test_toml_is_read_back_as_it_was():
    document = {
        "kind": "game",
        "title": 'a "quoted" line\nwith \\ and é',
        "none": None,
        "yes": True,
        "tiny": 1e-300,
        "far": math.inf,
        "empty": [],
        "one": {"name": "x", "nested": {"a b": [1, 2.5, "c"], "d": {"e": False}}, "none": None},
        "several": [{"name": "a"}, {"name": "b", "lists": [[1, 2], [3]]}],
    }
    found = tomllib.loads(to_toml(document))
    wanted = {k: v for k, v in document.items() if v is not None}
    wanted["one"] = {k: v for k, v in document["one"].items() if v is not None}
    assert found == wanted


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0:0.3:0.1", [0, 0.1, 0.2, 0.3]),
        ("1:5:2", [1, 3, 5]),
        ("1:6:2", [1, 3, 5]),
        ("3:1:-1", [3, 2, 1]),
        ("2:2:1", [2]),
        (" 1, 2.5 ,4", [1, 2.5, 4]),
        ("7", [7]),
        ("0.1:0.1:5", [0.1]),
        ("1e-3:3e-3:1e-3", [0.001, 0.002, 0.003]),
        ("8:64:x2", [8, 16, 32, 64]),
        ("8:63: x2", [8, 16, 32]),
        ("1:0.1:x0.5", [1, 0.5, 0.25, 0.125]),
        ("3:3:x2", [3]),
    ],
)
def test_both_ends_are_tried_and_steps_are_decimal(text, values):
    found = spread(text)
    assert found == values
    assert [type(one) for one in found] == [type(one) for one in values]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "1:2",
        "1:2:3:4",
        "1;2",
        "1:inf:1",
        "nan",
        "1,,2",
        "1,x2",
        "x1:4:2",
        "1:4:x",
        f"1,{LARGEST}",
        f"-{LARGEST}",
    ],
)
def test_what_is_no_list_of_values_is_refused(text):
    with pytest.raises(InputError, match="`--values` must be FROM:TO:STEP"):
        spread(text)


@pytest.mark.parametrize(
    "text",
    [
        "1:2:0",
        "1:2:-1",
        "2:1:1",
        "1:2:x1",
        "1:2:x0",
        "1:2:x-2",
        "2:1:x2",
        "1:2:x0.5",
        "0:4:x2",
        "4:0:x0.5",
    ],
)
def test_steps_lead_from_one_end_to_the_other(text):
    with pytest.raises(InputError, match="never gets from"):
        spread(text)


def test_there_are_not_too_many_values():
    assert len(spread(f"0:{MOST}:1")) == MOST + 1
    with pytest.raises(InputError, match="holds more than 100,000 values"):
        spread(f"0:{MOST + 1}:1")
    assert spread(str(LARGEST - 1)) == [LARGEST - 1]
    with pytest.raises(InputError, match="`--over n` holds more than 100,000 values"):
        spread("1:1e14:x1.0001", "--over n")


STUDY_VARIED = """
kind = "game"
[world]
name = "bits"
n = 4
[mechanism]
name = "randomized-response"
epsilon = 1.0
[success]
name = "prefix"
[statement]
name = "narcissus"
"""


@pytest.fixture
def study_varied(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(STUDY_VARIED)
    return load_study(path).settings


def test_a_key_of_the_mechanism_needs_no_section(study_varied, tmp_path):
    assert varied(study_varied, tmp_path, "epsilon", 2.5).mechanism.epsilon == 2.5
    assert varied(study_varied, tmp_path, "mechanism.epsilon", 2.5).mechanism.epsilon == 2.5
    game = varied(study_varied, tmp_path, "world.n", 7)
    assert (game.world.n, game.mechanism.epsilon) == (7, 1.0)
    assert varied(study_varied, tmp_path, "success.length", 2).relation.length == 2
    assert study_varied.build().game.world.n == 4  # the study_varied is as it was


@pytest.mark.parametrize(
    ("parameter", "value", "says"),
    [
        ("worlds.n", 1, r"no section \[worlds\] of mechanism, world, success, looser"),
        ("statement.epsilon", 1, r"no section \[statement\]"),
        ("looser.length", 1, r"no section \[looser\]"),
        (
            "epsilonn",
            1,
            "it has epsilon, values; did you mean `epsilon`",
        ),
        ("epsilon", -1, "-1 is refused: .*`epsilon` must be"),
        ("world.n", 0, "0 is refused"),
    ],
)
def test_what_cannot_be_varied_is_told(study_varied, tmp_path, parameter, value, says):
    with pytest.raises(InputError, match=says):
        varied(study_varied, tmp_path, parameter, value)
